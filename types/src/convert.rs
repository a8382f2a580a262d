//! Conversion of values: into a column ([`store`]) and between types in expressions.
//!
//! Problems are data: a [`Problem`] becomes an error in strict mode and a warning otherwise. It has no column name and
//! row number, which the caller knows. The result is in the form that rows and keys encode:
//!
//! S1: the value is of the column's kind and in its range; strings are valid UTF-8 within the length, CHAR without
//!     trailing spaces, BINARY padded with zero bytes.
//! S2: ENUM and SET values are member names as the definition spells them, in its order. An invalid ENUM value is the
//!     empty text; if that is a member as well, it is the number 0.
//! S3: TIMESTAMP is a civil time in UTC, converted from the session's zone here.

mod document;
mod number;
mod string;
mod text;
mod time;

pub use document::DocumentAs;
pub use number::{round_to_integer, text_to_decimal, text_to_f64, text_to_i64, text_to_u64, to_decimal, to_f64, to_i64, to_u64};
pub use string::{invalid_text, invalid_utf8, is_valid_json};
pub use text::{write_date, write_datetime, write_f32, write_f64, write_fixed, write_short_f64, write_text, write_time};
pub use time::{number_as_datetime, to_date, to_datetime, to_time, zero_date_with_fraction};

use crate::charset::Charset;
use crate::temporal::{DateRules, TimeZone};
use crate::{ColumnType, TypeKind, Value};
use conditions::Condition;

/// A problem in a conversion. The numbers are MySQL's, for the reader; [`Problem::condition`] names the rows of the
/// catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// 1264: Out of range value for column
    OutOfRange,
    /// 1265: Data truncated for column
    Truncated,
    /// 1406: Data too long for column
    TooLong,
    /// 1366: Incorrect `what` value: 'text' for column
    Incorrect { what: &'static str, text: Box<str> },
    /// 1292: Incorrect `what` value: 'text' for column (no "for column" in an expression)
    IncorrectTemporal { what: &'static str, text: Box<str> },
    /// 1292: Truncated incorrect `what` value: 'text'; in expressions
    TruncatedIncorrect { what: &'static str, text: Box<str> },
    /// 1441: Datetime function: `what` field overflow
    TemporalOverflow { what: &'static str },
    /// 1299: Invalid TIMESTAMP value in column: the clock was put forward over it
    TimestampGap,
    /// 3140: Invalid JSON text
    InvalidJson { why: &'static str, position: usize },
    /// 3157: The JSON document exceeds the maximum depth
    DeepJson,
    /// 3144: a binary string is not a JSON text
    BinaryJson,
    /// 1416: not the bytes of a geometry, or one of another kind
    NoGeometry,
    /// 6136: not the bytes of a vector
    NoVector { kind: &'static str, bytes: usize },
    /// 3643: a geometry of another reference system than the column's
    WrongSrid { found: u32, wanted: u32 },
    /// 3156: Invalid JSON value for CAST to `what`
    InvalidDocument { what: &'static str },
}

impl Problem {
    /// The condition for a value of a column; `row` counts from 1.
    #[cold]
    pub fn condition(&self, column: &str, row: u64) -> Condition {
        match self {
            Self::OutOfRange => Condition::WarnDataOutOfRange { column: column.into(), row: row.into() },
            Self::Truncated => Condition::WarnDataTruncated { column: column.into(), row: row.into() },
            Self::TooLong => Condition::DataTooLong { column: column.into(), row: row.into() },
            Self::Incorrect { what, text } => Condition::TruncatedWrongValueForField {
                kind: what.into(),
                value: text.into(),
                column: column.into(),
                row: row.into(),
            },
            Self::IncorrectTemporal { what, text } => Condition::TruncatedWrongTemporalForField {
                kind: what.into(),
                value: text.into(),
                column: column.into(),
                row: row.into(),
            },
            Self::TruncatedIncorrect { what, text } => Condition::TruncatedWrongValue { kind: what.into(), value: text.into() },
            Self::TemporalOverflow { what } => Condition::DatetimeFunctionOverflow { what: what.into() },
            Self::TimestampGap => Condition::WarnInvalidTimestamp { column: column.into(), row: row.into() },
            Self::InvalidJson { why, position } => {
                Condition::InvalidJsonText { why: why.into(), position: position.into(), column: column.into() }
            }
            Self::DeepJson => Condition::JsonDocumentTooDeep,
            Self::InvalidDocument { what } => {
                Condition::InvalidJsonValueForCast { kind: what.into(), column: column.into(), row: row.into() }
            }
            Self::BinaryJson => Condition::InvalidJsonCharset,
            Self::NoGeometry => Condition::CantCreateGeometryObject,
            Self::NoVector { kind, bytes } => Condition::DataIncompatibleWithVector { kind: kind.into(), bytes: (*bytes).into() },
            Self::WrongSrid { found, wanted } => {
                Condition::WrongSridForColumn { column: column.into(), found: found.into(), wanted: wanted.into() }
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Note,
    Warning,
}

/// Notes and warnings of one statement (or one value, before the caller adds column and row). Empty ones cost no allocation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    list: Vec<(Severity, Problem)>,
}

impl Warnings {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn warn(&mut self, problem: Problem) {
        self.list.push((Severity::Warning, problem));
    }

    pub fn note(&mut self, problem: Problem) {
        self.list.push((Severity::Note, problem));
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Severity, Problem)> {
        self.list.iter()
    }

    /// Takes everything out.
    pub fn drain(&mut self) -> impl Iterator<Item = (Severity, Problem)> + '_ {
        self.list.drain(..)
    }
}

/// The settings of the session and the statement that conversions use.
#[derive(Clone, Copy, Debug)]
pub struct StoreContext<'a> {
    /// Problems are errors: STRICT_TRANS_TABLES or STRICT_ALL_TABLES, and no IGNORE.
    pub strict: bool,
    pub dates: DateRules,
    /// TIME_TRUNCATE_FRACTIONAL: cut fractions instead of rounding.
    pub truncate_fractional: bool,
    /// `@@time_zone`
    pub zone: &'a TimeZone,
    /// The statement's time, for converting TIME to DATETIME.
    pub now_utc_micros: i64,
}

impl StoreContext<'_> {
    /// Strict mode with MySQL's default rules, in UTC.
    pub fn strict() -> StoreContext<'static> {
        StoreContext {
            strict: true,
            dates: DateRules { no_zero_date: true, no_zero_in_date: true, allow_invalid: false },
            truncate_fractional: false,
            zone: &TimeZone::Utc,
            now_utc_micros: 0,
        }
    }

    /// No strict mode (`sql_mode = ''`, or IGNORE): everything is adjusted, with warnings.
    pub fn lax() -> StoreContext<'static> {
        StoreContext { strict: false, dates: DateRules::default(), ..Self::strict() }
    }

    /// An error in strict mode, else a warning.
    fn raise(&self, problem: Problem, warnings: &mut Warnings) -> Result<(), Problem> {
        self.raise_as(|| problem.clone(), problem.clone(), warnings)
    }

    /// One problem for strict mode, another for the warning.
    fn raise_as(&self, strict: impl FnOnce() -> Problem, lax: Problem, warnings: &mut Warnings) -> Result<(), Problem> {
        if self.strict {
            return Err(strict());
        }
        warnings.warn(lax);
        Ok(())
    }
}

/// Is it a value that the type takes without a change and a warning? It says so of most that do, which saves them all that follows.
#[inline]
pub fn fits_as_it_is(value: &Value<'_>, from: &ColumnType, to: &ColumnType) -> bool {
    let in_range = |number: i128| {
        let (low, high) = number::integer_range(to);
        (low..=high).contains(&number)
    };
    match (value, &to.kind) {
        (Value::Bytes(text), TypeKind::VarChar { length }) => text.len() <= *length as usize && is_plain(text, from, to),
        (Value::Bytes(text), TypeKind::Char { length }) => {
            text.len() <= *length as usize && text.last() != Some(&b' ') && is_plain(text, from, to)
        }
        (Value::Int(number), kind) if !to.unsigned && number::is_integer(kind) => in_range((*number).into()),
        (Value::UInt(number), kind) if to.unsigned && number::is_integer(kind) => in_range((*number).into()),
        (Value::Decimal(number), TypeKind::Decimal { precision, scale }) => {
            number.scale() == *scale && !(to.unsigned && number.is_negative()) && number.fits(*precision, *scale)
        }
        _ => false,
    }
}

/// Text of the same bytes in the sets of both types.
fn is_plain(text: &[u8], from: &ColumnType, to: &ColumnType) -> bool {
    let has_ascii = |ty: &ColumnType| Charset::of(ty.collation).has_ascii();
    let is_same = from.collation == to.collation || has_ascii(from) && has_ascii(to);
    is_same && from.kind != TypeKind::Json && text.is_ascii()
}

/// Converts a value for assignment to a column (S1-S3). NULL stays NULL: NOT NULL is the caller's to check. `from` is the value's static type.
pub fn store<'v>(
    value: &'v Value<'_>,
    from: &ColumnType,
    to: &'v ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'v>, Problem> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    if fits_as_it_is(value, from, to) {
        return Ok(value.borrowed());
    }
    if from.kind == TypeKind::Json && to.kind != TypeKind::Json {
        return document::store_document(value, to, context, warnings);
    }
    if let Some(number) = member_number(value, from)
        && is_number(to)
    {
        let number = Value::UInt(number);
        return store(&number, &ColumnType::unsigned(TypeKind::BigInt), to, context, warnings).map(Value::into_owned);
    }
    if (is_number(to) || to.kind == TypeKind::Year)
        && !matches!(to.kind, TypeKind::Bit { .. })
        && let Some(number) = literal_number(value, from)
    {
        let (is_long, told) = (number.is_none(), warnings.iter().count());
        let number = Value::UInt(number.unwrap_or(if to.unsigned { u64::MAX } else { i64::MAX as u64 }));
        let stored = store(&number, &ColumnType::unsigned(TypeKind::BigInt), to, context, warnings)?.into_owned();
        if is_long && warnings.iter().count() == told {
            context.raise(Problem::OutOfRange, warnings)?;
        }
        return Ok(stored);
    }
    match &to.kind {
        TypeKind::Null => Ok(Value::Null),
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt => {
            number::store_integer(value, from, to, context, warnings)
        }
        TypeKind::Decimal { precision, scale } => {
            number::store_decimal(value, from, (*precision, *scale, to.unsigned), context, warnings)
        }
        TypeKind::Float | TypeKind::Double => number::store_double(value, from, to, context, warnings),
        TypeKind::Bit { length } => number::store_bit(value, from, *length, context, warnings),
        TypeKind::Year => number::store_year(value, from, context, warnings),
        TypeKind::Date | TypeKind::DateTime { .. } | TypeKind::Timestamp { .. } | TypeKind::Time { .. } => {
            time::store_temporal(value, from, to, context, warnings)
        }
        TypeKind::Enum { members } => string::store_enum(value, from, to, members, context, warnings),
        TypeKind::Set { members } => string::store_set(value, from, to, members, context, warnings),
        // A string type with a length gets all digits of a FLOAT.
        TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Binary { .. } | TypeKind::VarBinary { .. }
            if from.kind == TypeKind::Float && from.float_decimals.is_none() =>
        {
            let stored = string::store_string(value, &ColumnType::new(TypeKind::Double), to, context, warnings)?;
            Ok(stored.into_owned())
        }
        _ => string::store_string(value, from, to, context, warnings),
    }
}

fn is_number(ty: &ColumnType) -> bool {
    use TypeKind as K;
    matches!(
        ty.kind,
        K::TinyInt | K::SmallInt | K::MediumInt | K::Int | K::BigInt | K::Decimal { .. } | K::Float | K::Double | K::Bit { .. }
    )
}

/// The number of an ENUM or SET value that is given as a string.
fn member_number(value: &Value<'_>, from: &ColumnType) -> Option<u64> {
    match (value, &from.kind) {
        (Value::Bytes(_), TypeKind::Enum { .. }) => crate::row::enum_ordinal(from, value).map(u64::from),
        (Value::Bytes(_), TypeKind::Set { .. }) => crate::row::set_bits(from, value),
        _ => None,
    }
}

/// A hexadecimal or bit literal (an unsigned binary string) as the number that is stored in a numeric column.
/// `Some(None)`: it has more bytes than a number.
fn literal_number(value: &Value<'_>, from: &ColumnType) -> Option<Option<u64>> {
    match value {
        Value::Bytes(bytes) if from.unsigned && matches!(from.kind, TypeKind::VarBinary { .. }) => {
            let is_long = bytes.len() > size_of::<u64>();
            Some((!is_long).then(|| bytes.iter().fold(0, |n, b| n << 8 | u64::from(*b))))
        }
        _ => None,
    }
}

/// The text of a value for a message: as it prints, bytes that are no UTF-8 as `\xNN`.
pub(crate) fn message_text(value: &Value<'_>, from: &ColumnType) -> Box<str> {
    let mut text = Vec::new();
    write_text(value, from, &mut text);
    printable(&text)
}

pub(crate) fn printable(text: &[u8]) -> Box<str> {
    let mut out = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        out.push_str(chunk.valid());
        for byte in chunk.invalid() {
            out.push_str(&format!("\\x{byte:02X}"));
        }
    }
    out.into()
}

#[cfg(test)]
mod tests;
