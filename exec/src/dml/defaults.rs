//! Column defaults, converted to values once for each plan.

use super::store;
use expr::{Class, Error, Expr, Result, Shared, class};
use std::sync::Arc;
use types::schema::{ColumnDef, ColumnDefault, TableDef};
use types::temporal::TimeZone;
use types::{DateTime, TypeKind, Value, convert};

/// The value of a column that the statement does not set.
pub(crate) enum Default {
    Value(Value<'static>),
    /// A TIMESTAMP's literal: its moment depends on the session's time zone.
    Text(String),
    Now,
    /// DEFAULT (expression): computed when the rest of the row is known (`rules`).
    Expression(Box<Expr>),
    /// NOT NULL without a DEFAULT clause: 1364.
    Missing,
}

/// The default of a column.
pub(crate) fn of_column(def: &Arc<TableDef>, number: usize) -> Result<Default> {
    let column = &def.columns[number];
    Ok(match &column.default {
        // It is computed after all others.
        _ if column.generated.is_some() => Default::Value(Value::Null),
        ColumnDefault::Expression(_) => Default::Expression(Box::new(super::bind_default(def, number)?)),
        ColumnDefault::CurrentTimestamp => Default::Now,
        ColumnDefault::Literal(None) => Default::Value(Value::Null),
        ColumnDefault::Literal(Some(text)) if matches!(column.ty.kind, TypeKind::Timestamp { .. }) => Default::Text(text.clone()),
        ColumnDefault::Literal(Some(text)) => Default::Value(literal(&TimeZone::Utc, text, column)?),
        ColumnDefault::None if column.nullable || column.auto_increment => Default::Value(Value::Null),
        // The default of an ENUM that cannot be NULL is its first member.
        ColumnDefault::None if matches!(column.ty.kind, TypeKind::Enum { .. }) => {
            Default::Value(store::implicit_default(&column.ty))
        }
        ColumnDefault::None | ColumnDefault::Dropped => Default::Missing,
    })
}

fn literal(zone: &TimeZone, text: &str, column: &ColumnDef) -> Result<Value<'static>> {
    let context = convert::StoreContext { zone, ..convert::StoreContext::lax() };
    // The definition checked the text against the type.
    let wrong = || Error::Storage(format!("the default of column '{}' cannot be read", column.name));
    column.default_value_in(text, &context).ok_or_else(wrong)
}

/// The value of a default for one row. `tell`: warn if there is no default.
pub(super) fn value<'d>(shared: &Shared<'_>, default: &'d Default, column: &ColumnDef, tell: bool) -> Result<Value<'d>> {
    match default {
        Default::Value(value) => Ok(value.borrowed()),
        Default::Text(text) => literal(&shared.session.time_zone, text, column),
        Default::Now => Ok(now(shared, column)),
        Default::Expression(_) => Ok(Value::Null),
        Default::Missing => {
            let error = Error::NoDefault { column: column.name.clone() };
            if shared.is_strict() {
                return Err(error);
            }
            if tell {
                shared.session.warn(error);
            }
            Ok(store::implicit_default(&column.ty))
        }
    }
}

/// CURRENT_TIMESTAMP as the column stores it, with its fractional digits.
pub(super) fn now<'v>(shared: &Shared<'_>, column: &ColumnDef) -> Value<'v> {
    let session = shared.session;
    let utc = DateTime::from_utc_micros(session.statement_start_us).unwrap_or_default();
    let (moment, fsp) = match column.ty.kind {
        TypeKind::Timestamp { fsp } => (utc, fsp),
        TypeKind::DateTime { fsp } => (session.time_zone.from_stored(utc), fsp),
        _ => (session.time_zone.from_stored(utc), 0),
    };
    let cut = moment.to_fsp(fsp, true).unwrap_or(moment);
    match class(&column.ty) {
        Class::Date => Value::Date(cut.date),
        Class::Time => Value::Time(cut.time()),
        _ => Value::DateTime(cut),
    }
}
