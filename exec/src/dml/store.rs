//! Conversion of values for columns. Errors name the column and the row's number.

use conditions::Condition;
use expr::{Class, Error, Result, SessionVars, Shared, class, coerce};
use types::convert::{self, Problem, Severity, Warnings};
use types::schema::ColumnDef;
use types::{ColumnType, Date, DateTime, Decimal, Time, TypeKind, Value};

/// Converts a value (not NULL) to the column's stored form.
pub(super) fn convert<'v>(
    shared: &Shared<'_>,
    value: &'v Value<'_>,
    from: &ColumnType,
    column: &'v ColumnDef,
    row: u64,
) -> Result<Value<'v>> {
    convert_to(shared.session, shared.is_strict(), value, from, &column.ty, &column.name, row)
}

/// As [`convert`], for a type and a name instead of a column.
#[inline]
pub(crate) fn convert_to<'v>(
    session: &SessionVars,
    strict: bool,
    value: &'v Value<'_>,
    from: &ColumnType,
    to: &'v ColumnType,
    name: &str,
    row: u64,
) -> Result<Value<'v>> {
    let mut warnings = Warnings::new();
    let context = coerce::store_context(session, strict);
    let stored = convert::store(value, from, to, &context, &mut warnings);
    if !warnings.is_empty() {
        for (severity, problem) in warnings.drain() {
            let error = column_error(problem, name, row);
            match severity {
                Severity::Note => session.note(error),
                Severity::Warning => session.warn(error),
            }
        }
    }
    stored.map_err(|problem| column_error(problem, name, row))
}

/// The value for a NULL in a NOT NULL column: an error if `strict`, otherwise the type's own default and a warning.
pub(super) fn not_null<'v>(shared: &Shared<'_>, column: &ColumnDef, strict: bool) -> Result<Value<'v>> {
    if column.ty.is_geometry() {
        // There is no geometry that stands for none.
        return Err(Condition::BadNullErrorNotIgnored { column: column.name.clone().into() }.into());
    }
    let error = Error::ColumnCannotBeNull { column: column.name.clone() };
    if strict {
        return Err(error);
    }
    shared.session.warn(error);
    Ok(match column.ty.kind {
        // Number 0, which stands for no member.
        TypeKind::Enum { .. } => types::row::enum_value(&column.ty, 0).expect("0 is the wrong value of every ENUM").into_owned(),
        _ => implicit_default(&column.ty),
    })
}

/// The value a column takes without strict mode when it has no default: zero, the empty text, an ENUM's first member.
pub(super) fn implicit_default<'v>(ty: &ColumnType) -> Value<'v> {
    match &ty.kind {
        TypeKind::Enum { members } => Value::Bytes(members.first().map_or_else(Vec::new, |m| m.as_bytes().to_vec()).into()),
        TypeKind::Binary { length } => Value::Bytes(vec![0; *length as usize].into()),
        TypeKind::Json => Value::Bytes(types::json::Json::Null.to_binary().into()),
        TypeKind::Decimal { scale, .. } => Value::Decimal(Decimal::ZERO.rescale(*scale).unwrap_or(Decimal::ZERO)),
        _ => match class(ty) {
            Class::Integer if coerce::is_unsigned(ty) => Value::UInt(0),
            Class::Integer => Value::Int(0),
            Class::Double => Value::Double(0.0),
            Class::Date => Value::Date(Date::default()),
            Class::Time => Value::Time(Time::default()),
            Class::DateTime => Value::DateTime(DateTime::default()),
            _ => Value::text(b""),
        },
    }
}

/// Makes the error for a problem with a column's value.
#[cold]
pub fn column_error(problem: Problem, column: &str, row: u64) -> Error {
    let column = column.to_owned();
    match problem {
        Problem::OutOfRange => Error::ColumnOutOfRange { column, row },
        Problem::Truncated => Error::DataTruncated { column, row },
        Problem::TooLong => Error::DataTooLong { column, row },
        Problem::Incorrect { what, text } => Error::WrongValueForColumn { what, value: text.into(), column, row },
        Problem::IncorrectTemporal { what, text } => Error::WrongTemporalForColumn { what, value: text.into(), column, row },
        Problem::TruncatedIncorrect { what, text } => Error::TruncatedWrongValue { what, value: text.into() },
        Problem::TemporalOverflow { what } => Error::DatetimeOverflow { what },
        Problem::TimestampGap => Error::from(Condition::WarnInvalidTimestamp { column: column.into(), row: row.into() }),
        Problem::InvalidJson { why, position } => Error::InvalidJsonForColumn { why: why.into(), position, column },
        Problem::DeepJson => expr::function::deep_json(),
        Problem::BinaryJson => expr::function::binary_json(),
        problem @ (Problem::NoGeometry | Problem::WrongSrid { .. } | Problem::NoVector { .. }) => {
            Error::from(problem.condition(&column, row))
        }
        Problem::InvalidDocument { what } => Error::InvalidDocument { what, column, row },
    }
}
