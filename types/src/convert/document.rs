//! JSON documents as values of other types, for CAST and for storing into columns.

use super::{Problem, Severity, StoreContext, Warnings, is_number, store, text_to_f64, write_text};
use crate::json::Json;
use crate::{ColumnType, LobSize, TypeKind, Value};

/// The type to which a JSON document is converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentAs {
    Integer,
    Decimal,
    Double,
    Date,
    Time,
    DateTime,
}

impl DocumentAs {
    /// `None` if documents are converted to strings.
    pub fn of(ty: &ColumnType) -> Option<Self> {
        use TypeKind as K;
        Some(match ty.kind {
            K::TinyInt | K::SmallInt | K::MediumInt | K::Int | K::BigInt => Self::Integer,
            K::Decimal { .. } => Self::Decimal,
            K::Float | K::Double => Self::Double,
            K::Date => Self::Date,
            K::Time { .. } => Self::Time,
            K::DateTime { .. } | K::Timestamp { .. } => Self::DateTime,
            _ => return None,
        })
    }

    /// As messages name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "INTEGER",
            Self::Decimal => "DECIMAL",
            Self::Double => "DOUBLE",
            Self::Date => "DATE",
            Self::Time => "TIME",
            Self::DateTime => "DATETIME/TIMESTAMP",
        }
    }

    pub fn is_number(self) -> bool {
        matches!(self, Self::Integer | Self::Decimal | Self::Double)
    }

    /// Is the document a value of the kind? Of texts that are wanted as dates the text decides.
    pub fn reads(self, document: &Json) -> bool {
        match document {
            Json::Null | Json::Array(_) | Json::Object(_) | Json::Opaque(..) => false,
            Json::String(text) if self.is_number() => self.reads_text(text.trim()),
            Json::Time(_) => self == Self::Time,
            Json::Date(_) | Json::DateTime(_) => matches!(self, Self::Date | Self::DateTime),
            Json::String(_) => true,
            _ => self.is_number(),
        }
    }

    /// Is the text a number to its end?
    fn reads_text(self, text: &str) -> bool {
        match self {
            Self::Integer => text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok(),
            _ => text.parse::<f64>().is_ok_and(f64::is_finite),
        }
    }
}

/// A document in a column of another type.
pub(super) fn store_document<'v>(
    value: &'v Value<'_>,
    to: &'v ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'v>, Problem> {
    let document = match value {
        Value::Bytes(bytes) => Json::from_binary(bytes).ok(),
        _ => None,
    };
    let Some((wanted, document)) = DocumentAs::of(to).zip(document.as_ref()) else {
        return store_as_text(value, document, to, context, warnings);
    };
    let nothing = ColumnType::new(TypeKind::Null);
    let text = ColumnType::new(TypeKind::Text(LobSize::Long));
    let from = if matches!(document, Json::String(_)) { &text } else { &nothing };
    let mut plain = document.clone().into_value();
    if wanted.reads(document) {
        let mut found = Warnings::new();
        // A document gives its date as it is: no time of day that rounds up to the next one.
        if to.kind == TypeKind::Date
            && let Some(date) = super::time::to_date(&plain, from, context, &mut Warnings::new())
        {
            plain = Value::Date(date);
        }
        let stored = store(&plain, from, to, context, &mut found).map(Value::into_owned);
        let is_sound = stored.is_ok() && found.iter().all(|(severity, _)| *severity == Severity::Note);
        let is_date = wanted.is_number() || !matches!(document, Json::String(_)) || is_sound;
        if is_date {
            found.drain().for_each(|warning| warnings.list.push(warning));
            return stored;
        }
    }
    context.raise(Problem::InvalidDocument { what: wanted.name() }, warnings)?;
    Ok(match (wanted, document) {
        (DocumentAs::Date | DocumentAs::Time | DocumentAs::DateTime, _) => Value::Null,
        (_, Json::String(text)) => {
            let number = Value::Double(text_to_f64(text.as_bytes(), &mut Warnings::new()));
            store(&number, &nothing, to, context, warnings)?.into_owned()
        }
        _ => store(&Value::Int(0), &nothing, to, context, warnings)?.into_owned(),
    })
}

/// Numbers and booleans are stored in BIT as numbers; everything else is the document's text.
fn store_as_text<'v>(
    value: &'v Value<'_>,
    document: Option<Json>,
    to: &'v ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'v>, Problem> {
    if is_number(to)
        && let Some(plain) = document.map(Json::into_value)
        && !plain.is_null()
        && !matches!(plain, Value::Bytes(_))
    {
        let stored = store(&plain, &ColumnType::new(TypeKind::Null), to, context, warnings)?;
        return Ok(stored.into_owned());
    }
    let mut text = Vec::new();
    write_text(value, &ColumnType::new(TypeKind::Json), &mut text);
    let text = Value::text(&text);
    let stored = store(&text, &ColumnType::new(TypeKind::Text(LobSize::Long)), to, context, warnings)?;
    Ok(stored.into_owned())
}
