//! Values as bytes that are equal, or ordered, as the values are: for hash tables and sorts.
//!
//! Each encoded value begins with a byte that is 0 for NULL. Two values that compare equal in the way of a [`KeyKind`] encode to
//! the same bytes, and no encoding is the beginning of another of the same kind, so encodings may be put one after the other.
//! `memcmp` orders ordered encodings as `ORDER BY` does: NULL first, strings by their collation.

use crate::class::{Class, class};
use crate::coerce;
use crate::eval::{Env, Step};
use crate::tree::CompareAs;
use conditions::Condition;
use types::{CollationId, ColumnType, TypeKind, Value};

const NULL: u8 = 0;
const PRESENT: u8 = 1;

/// The way in which values are compared, with the properties of their types that the encoding needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    Integer,
    /// With this many digits after the point.
    Decimal(u8),
    Double,
    Text(CollationId),
    /// ENUM by its members' order, SET by its bits.
    Ordinal,
    Temporal,
    Time,
    Json,
}

impl KeyKind {
    /// Of values of one static type: GROUP BY, DISTINCT, ORDER BY.
    pub fn of_type(ty: &ColumnType) -> Self {
        match class(ty) {
            Class::String if matches!(ty.kind, TypeKind::Enum { .. } | TypeKind::Set { .. }) => KeyKind::Ordinal,
            Class::Integer => KeyKind::Integer,
            Class::Decimal => KeyKind::Decimal(scale_of(ty)),
            Class::Double => KeyKind::Double,
            Class::Date | Class::DateTime => KeyKind::Temporal,
            Class::Time => KeyKind::Time,
            Class::Json => KeyKind::Json,
            Class::String | Class::Null => KeyKind::Text(ty.collation),
        }
    }

    /// Of values of two types compared in this way: IN, hash joins.
    pub fn of_comparison(by: CompareAs, left: &ColumnType, right: &ColumnType) -> Self {
        match by {
            CompareAs::Integer => KeyKind::Integer,
            CompareAs::Decimal => KeyKind::Decimal(scale_of(left).max(scale_of(right))),
            CompareAs::Double => KeyKind::Double,
            CompareAs::String(collation) => KeyKind::Text(collation),
            CompareAs::Temporal => KeyKind::Temporal,
            CompareAs::Time => KeyKind::Time,
            CompareAs::Json => KeyKind::Json,
        }
    }
}

fn scale_of(ty: &ColumnType) -> u8 {
    match ty.kind {
        TypeKind::Decimal { scale, .. } => scale,
        _ => 0,
    }
}

/// Appends a value so that equal values have equal bytes. A value that is none of the kind (a wrong date) is as NULL.
pub fn encode(env: &Env<'_>, kind: KeyKind, value: &Value<'_>, ty: &ColumnType, out: &mut Vec<u8>) -> Step<()> {
    if matches!(value, Value::Null) {
        out.push(NULL);
        return Ok(());
    }
    out.push(PRESENT);
    match kind {
        KeyKind::Integer => types::compact::push_integer(env.as_integer(value)?, out),
        KeyKind::Double => out.extend_from_slice(&ordered_double(env.as_double(value)?).to_be_bytes()),
        KeyKind::Decimal(scale) => {
            let decimal = env.as_decimal(value)?;
            types::compact::push_decimal(&decimal, scale, out);
        }
        KeyKind::Text(collation) => {
            let text = env.as_text(crate::eval::borrow(value), ty)?;
            coerce::write_sort_key(collation, &text, out);
        }
        KeyKind::Json => crate::function::document_of(value, ty).sort_key(out),
        KeyKind::Ordinal => {
            let ordinal = match ty.kind {
                TypeKind::Enum { .. } => types::row::enum_ordinal(ty, value).map(u64::from),
                _ => types::row::set_bits(ty, value),
            };
            out.extend_from_slice(&ordinal.unwrap_or(0).to_be_bytes());
        }
        KeyKind::Temporal => match env.as_compared_datetime(value, ty)? {
            Some(d) => out.extend_from_slice(&d.pack().to_be_bytes()),
            None => *out.last_mut().expect("pushed above") = NULL,
        },
        KeyKind::Time => match env.as_time(value)? {
            Some(t) => out.extend_from_slice(&t.pack().to_be_bytes()),
            None => *out.last_mut().expect("pushed above") = NULL,
        },
    }
    Ok(())
}

/// As [`encode`], of an integer, or of the digits of a decimal that has as many behind the point as its kind.
#[inline]
pub fn encode_digits(digits: i64, out: &mut Vec<u8>) {
    out.push(PRESENT);
    types::compact::push_integer(digits.into(), out);
}

/// Appends a value so that `memcmp` orders it, the other way round when `descending`.
pub fn encode_ordered(
    env: &Env<'_>,
    kind: KeyKind,
    descending: bool,
    value: &Value<'_>,
    ty: &ColumnType,
    out: &mut Vec<u8>,
) -> Step<()> {
    let start = out.len();
    encode(env, kind, value, ty, out)?;
    if kind == KeyKind::Json {
        warn_of_containers(env, value, ty);
    }
    if descending {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
    Ok(())
}

/// MySQL says once a statement that arrays and objects have no order that means something.
#[cold]
fn warn_of_containers(env: &Env<'_>, value: &Value<'_>, ty: &ColumnType) {
    if matches!(value, Value::Null) || crate::function::document_of(value, ty).is_scalar() {
        return;
    }
    let condition = crate::Error::from(Condition::NotSupportedYet { what: "sorting of non-scalar JSON values".into() });
    if !env.session().warnings.borrow().list().iter().any(|warning| warning.error == condition) {
        env.session().warn(condition);
    }
}

/// Bits that order as the numbers do; both zeros are one.
fn ordered_double(x: f64) -> u64 {
    let bits = if x == 0.0 { 0 } else { x.to_bits() };
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_ordered() {
        let numbers = [f64::MIN, -1.5, -0.0, 0.5, f64::MAX];
        assert!(numbers.windows(2).all(|w| ordered_double(w[0]) < ordered_double(w[1])));
        assert_eq!(ordered_double(0.0), ordered_double(-0.0));
    }
}
