//! Converts the caller's values to values of the columns, by the rules of strict SQL: a value that does not fit is
//! refused, never changed.
//!
//! A value of another kind is converted as an assignment in SQL converts it (`types::convert::store`). Integers, the
//! most frequent keys, skip that conversion.

use super::{Error, Outcome, Result};
use crate::Table;
use smallvec::SmallVec;
use std::sync::LazyLock;
use types::convert::{Problem, StoreContext, Warnings, store};
use types::{ColumnType, TypeKind, Value};

/// Values of one row, on the stack for most tables.
pub(super) type Fitted<'v> = SmallVec<[Value<'v>; 16]>;

/// The value as the column stores it.
#[inline]
pub(super) fn fit<'v>(value: &'v Value<'_>, ty: &'v ColumnType) -> std::result::Result<Value<'v>, Problem> {
    match value {
        Value::Int(number) if !ty.unsigned && fits_signed(*number, &ty.kind) => Ok(Value::Int(*number)),
        Value::UInt(number) if ty.unsigned && fits_unsigned(*number, &ty.kind) => Ok(Value::UInt(*number)),
        value => store(value, source_type(value, ty), ty, &StoreContext::strict(), &mut Warnings::new()),
    }
}

fn bits(kind: &TypeKind) -> Option<u32> {
    match kind {
        TypeKind::TinyInt => Some(8),
        TypeKind::SmallInt => Some(16),
        TypeKind::MediumInt => Some(24),
        TypeKind::Int => Some(32),
        TypeKind::BigInt => Some(64),
        _ => None,
    }
}

#[inline]
fn fits_signed(number: i64, kind: &TypeKind) -> bool {
    // The bits above the type's sign are copies of it.
    bits(kind).is_some_and(|bits| number >> (bits - 1) == number >> 63)
}

#[inline]
fn fits_unsigned(number: u64, kind: &TypeKind) -> bool {
    bits(kind).is_some_and(|bits| bits == 64 || number >> bits == 0)
}

/// The static type that a conversion takes the value to have.
fn source_type<'t>(value: &Value<'_>, column: &'t ColumnType) -> &'t ColumnType {
    static TYPES: LazyLock<[ColumnType; 8]> = LazyLock::new(|| {
        [
            ColumnType::new(TypeKind::BigInt),
            ColumnType::unsigned(TypeKind::BigInt),
            ColumnType::new(TypeKind::Double),
            ColumnType::new(TypeKind::Decimal { precision: 65, scale: 30 }),
            ColumnType::new(TypeKind::VarChar { length: 0 }),
            ColumnType::new(TypeKind::Date),
            ColumnType::new(TypeKind::Time { fsp: 6 }),
            ColumnType::new(TypeKind::DateTime { fsp: 6 }),
        ]
    });
    match value {
        Value::Null => column,
        Value::Int(_) => &TYPES[0],
        Value::UInt(_) => &TYPES[1],
        Value::Double(_) => &TYPES[2],
        Value::Decimal(_) => &TYPES[3],
        Value::Bytes(_) if column.is_string() => column,
        Value::Bytes(_) => &TYPES[4],
        Value::Date(_) => &TYPES[5],
        Value::Time(_) => &TYPES[6],
        Value::DateTime(_) => &TYPES[7],
    }
}

impl Table {
    /// One value for the column; a refusal is the row's outcome.
    pub(super) fn fit_column<'v>(&'v self, column: usize, value: &'v Value<'_>) -> std::result::Result<Value<'v>, Outcome> {
        let def = &self.def.columns[column];
        if value.is_null() && !def.nullable {
            return Err(Outcome::Null { column });
        }
        fit(value, &def.ty).map_err(|problem| Outcome::Refused { column, problem })
    }

    /// Converts a whole row. The outer result reports a wrong call, the inner one a refused row.
    pub(super) fn fit_row<'v>(&'v self, values: &'v [Value<'_>]) -> Result<std::result::Result<Fitted<'v>, Outcome>> {
        check_number(self.def.columns.len(), values.len())?;
        Ok(values.iter().enumerate().map(|(column, value)| self.fit_column(column, value)).collect())
    }

    /// Appends the clustered key of these values of the primary key's columns. `false`: no row can have it, and what was appended is
    /// no key of a row.
    #[inline]
    pub(super) fn fit_key(&self, values: &[Value<'_>], key: &mut Vec<u8>) -> Result<bool> {
        let parts = self.indexes[0].codec.parts();
        if parts.len() != values.len() {
            return Err(if parts.is_empty() { Error::NoPrimaryKey } else { wrong_number(parts.len(), values.len()) });
        }
        for (part, value) in parts.iter().zip(values) {
            let Ok(value) = fit(value, &part.ty) else { return Ok(false) };
            if value.is_null() || part.encode(&value, key).is_err() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// [`Self::fit_key`]; for values that no row can have the empty key, which is that of no row.
    #[inline]
    pub(super) fn fit_key_or_none(&self, values: &[Value<'_>], keys: &mut Vec<u8>) -> Result<()> {
        let start = keys.len();
        if !self.fit_key(values, keys)? {
            keys.truncate(start);
        }
        Ok(())
    }
}

fn check_number(expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(wrong_number(expected, found)) }
}

#[cold]
fn wrong_number(expected: usize, found: usize) -> Error {
    Error::WrongNumberOfValues { expected, found }
}
