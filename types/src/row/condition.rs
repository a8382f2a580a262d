//! Predicates on fixed-width columns, evaluated on a row's stored bytes by comparing numbers, without decoding a value.
//!
//! The bytes of a column become a *key*, a `u64` with the order of the column's values. DECIMAL of more than 8 bytes,
//! FLOAT, DOUBLE, YEAR, TIMESTAMP (which depends on the session's zone) and types that are ordered by names or text
//! have none. A comparison with a constant is an interval of keys.
//!
//! T1: no value of a column lies between the key of a stored value and the next greater `u64`, so an exclusive bound
//!     equals the inclusive bound beside it.

use super::{Kind, Raw, RowLayout, Slot, StoredRow, read_uint};
use crate::{Decimal, Value};
use std::cmp::Ordering;

/// A predicate that is not true for NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredCondition {
    column: usize,
    with: With,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum With {
    /// The key is `low`, or at most `span` above it.
    Interval {
        low: u64,
        span: u64,
    },
    /// The key is another one.
    Not(u64),
    Never,
    /// Does the column's key compare with that of another column of the same kind in one of these orders?
    Column {
        other: usize,
        orders: Orders,
    },
}

/// The orders of a column's value against another one that meet a condition: `<=` is less or equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    pub less: bool,
    pub equal: bool,
    pub greater: bool,
}

impl Orders {
    #[inline]
    fn has(self, order: Ordering) -> bool {
        match order {
            Ordering::Less => self.less,
            Ordering::Equal => self.equal,
            Ordering::Greater => self.greater,
        }
    }
}

impl RowLayout {
    /// `column` compares with `value` in one of these orders, as exact numbers or as times. `None`: its bytes do not
    /// determine that.
    pub fn condition_on_value(&self, column: usize, orders: Orders, value: &Value<'_>) -> Option<StoredCondition> {
        let (key, nearest) = self.columns[column].nearest_key(value)?;
        // Between two keys a value is above the lower one: it equals nothing.
        let (below, above) = match nearest {
            Ordering::Equal => (key.checked_sub(1), key.checked_add(1)),
            Ordering::Less => (Some(key), key.checked_add(1)),
            Ordering::Greater => (key.checked_sub(1), Some(key)),
        };
        let equal = orders.equal && nearest == Ordering::Equal;
        let interval = |low: Option<u64>, high: Option<u64>| match (low, high) {
            (Some(low), Some(high)) if low <= high => With::Interval { low, span: high - low },
            _ => With::Never,
        };
        let with = match (orders.less, equal, orders.greater) {
            (false, false, false) => With::Never,
            (false, true, false) => interval(Some(key), Some(key)),
            (true, true, false) => interval(Some(0), Some(key)),
            (true, false, false) => interval(Some(0), below),
            (false, true, true) => interval(Some(key), Some(u64::MAX)),
            (false, false, true) => interval(above, Some(u64::MAX)),
            (true, false, true) if nearest == Ordering::Equal => With::Not(key),
            (true, _, true) => interval(Some(0), Some(u64::MAX)),
        };
        Some(StoredCondition { column, with })
    }

    /// Two columns compare in one of these orders. `None`: they are of different kinds, or their bytes do not determine
    /// that.
    pub fn condition_on_columns(&self, column: usize, orders: Orders, other: usize) -> Option<StoredCondition> {
        let (left, right) = (self.columns[column].kind, self.columns[other].kind);
        let alike = match (left, right) {
            (Kind::Int { unsigned: a, .. }, Kind::Int { unsigned: b, .. }) => a == b,
            _ => left == right,
        };
        (alike && left.has_key()).then_some(StoredCondition { column, with: With::Column { other, orders } })
    }
}

impl StoredRow<'_> {
    /// Is the predicate true? It was made from the layout of this row's table.
    #[inline]
    pub fn meets(&self, condition: &StoredCondition) -> bool {
        let Some(key) = self.key(condition.column) else { return false };
        match condition.with {
            With::Interval { low, span } => key.wrapping_sub(low) <= span,
            With::Not(other) => key != other,
            With::Never => false,
            With::Column { other, orders } => self.key(other).is_some_and(|other| orders.has(key.cmp(&other))),
        }
    }

    /// The key of a column that has one; `None` is NULL.
    #[inline]
    fn key(&self, column: usize) -> Option<u64> {
        match self.raw(column) {
            Ok(Raw::Bytes { bytes, .. }) => Some(self.slots[column].kind.key(bytes)),
            _ => None,
        }
    }
}

impl Kind {
    fn has_key(self) -> bool {
        match self {
            Self::Int { .. } | Self::Date | Self::DateTime | Self::Time => true,
            Self::Decimal { .. } => self.width() <= 8,
            _ => false,
        }
    }

    /// Of the bytes of a value that is not NULL.
    #[inline]
    fn key(self, bytes: &[u8]) -> u64 {
        match self {
            Self::Int { width, unsigned: false } => {
                let shift = 64 - 8 * u32::from(width);
                ((read_uint(bytes) << shift) as i64 >> shift) as u64 ^ 1 << 63
            }
            Self::Decimal { .. } => bytes.iter().fold(0, |key, &byte| key << 8 | u64::from(byte)),
            Self::Time => read_uint(bytes) ^ 1 << 63,
            _ => read_uint(bytes),
        }
    }
}

impl Slot {
    /// The key of a possible column value that is nearest to `value`, and how it compares with `value`.
    fn nearest_key(&self, value: &Value<'_>) -> Option<(u64, Ordering)> {
        if !self.kind.has_key() {
            return None;
        }
        let (nearest, order) = match (self.kind, value) {
            (Kind::Int { width, unsigned }, Value::Int(_) | Value::UInt(_) | Value::Decimal(_)) => {
                let (whole, order) = whole_number(value)?;
                let bits = 8 * u32::from(width);
                let (min, max) = if unsigned { (0, (1 << bits) - 1) } else { (-1 << (bits - 1), (1 << (bits - 1)) - 1) };
                let clamped: i128 = whole.clamp(min, max);
                let nearest = if unsigned { Value::UInt(clamped as u64) } else { Value::Int(clamped as i64) };
                (nearest, clamped.cmp(&whole).then(order))
            }
            (Kind::Decimal { precision, scale }, Value::Int(_) | Value::UInt(_) | Value::Decimal(_)) => {
                let number = decimal(value)?;
                let mut nearest = number.rescale(scale).ok()?;
                if !nearest.fits(precision, scale) {
                    nearest = Decimal::max_value(precision, scale, number.is_negative());
                }
                (Value::Decimal(nearest), nearest.cmp(&number))
            }
            (Kind::Date, Value::Date(_)) | (Kind::DateTime, Value::DateTime(_)) | (Kind::Time, Value::Time(_)) => {
                (value.borrowed(), Ordering::Equal)
            }
            (Kind::Date, Value::DateTime(moment)) => (Value::Date(moment.date), moment.date.at_midnight().cmp(moment)),
            (Kind::DateTime, Value::Date(date)) => (Value::DateTime(date.at_midnight()), Ordering::Equal),
            _ => return None,
        };
        let mut bytes = [0; 8];
        let bytes = &mut bytes[..self.kind.width()];
        self.write_fixed(&nearest, bytes)?;
        Some((self.kind.key(bytes), order))
    }
}

fn decimal(value: &Value<'_>) -> Option<Decimal> {
    match value {
        Value::Int(n) => Some(Decimal::from_i64(*n)),
        Value::UInt(n) => Some(Decimal::from_u64(*n)),
        Value::Decimal(d) => Some(*d),
        _ => None,
    }
}

/// An integer near a number, and how it compares with it. A number beyond the range of BIGINT and BIGINT UNSIGNED gives
/// one that is just beyond.
fn whole_number(value: &Value<'_>) -> Option<(i128, Ordering)> {
    let number = decimal(value)?;
    let nearest = number.rescale(0).ok()?;
    let whole = match (nearest.to_i64(), nearest.to_u64()) {
        (Ok(n), _) => i128::from(n),
        (_, Ok(n)) => i128::from(n),
        _ if nearest.is_negative() => return Some((i128::from(i64::MIN) - 1, Ordering::Equal)),
        _ => return Some((i128::from(u64::MAX) + 1, Ordering::Equal)),
    };
    Some((whole, nearest.cmp(&number)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::ColumnDef;
    use crate::{ColumnType, Date, DateTime, Time, TypeKind};
    use proptest::prelude::*;

    fn number(value: &Value<'_>) -> Decimal {
        decimal(value).unwrap()
    }

    fn compare(a: &Value<'_>, b: &Value<'_>) -> Ordering {
        let moment = |value: &Value<'_>| match value {
            Value::Date(d) => Some(d.at_midnight()),
            Value::DateTime(d) => Some(*d),
            _ => None,
        };
        match (a, b) {
            (Value::Time(a), Value::Time(b)) => a.cmp(b),
            _ => match (moment(a), moment(b)) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => number(a).cmp(&number(b)),
            },
        }
    }

    fn int(kind: TypeKind, unsigned: bool) -> ColumnType {
        ColumnType { unsigned, ..ColumnType::new(kind) }
    }

    /// Types with values that their columns hold.
    fn columns() -> Vec<(ColumnType, Vec<Value<'static>>)> {
        let decimals = |scale: u8, magnitudes: &[i64]| {
            let value = |&m: &i64| Value::Decimal(Decimal::from_parts(m.unsigned_abs().into(), scale, m < 0));
            magnitudes.iter().map(value).collect::<Vec<_>>()
        };
        let date = |y, m, d| Date { year: y, month: m, day: d };
        let at = |d: Date, s| DateTime { second: s, ..d.at_midnight() };
        vec![
            (int(TypeKind::TinyInt, false), [-128, -1, 0, 1, 5, 127].map(Value::Int).to_vec()),
            (int(TypeKind::MediumInt, false), [-(1 << 23), -7, 0, (1 << 23) - 1].map(Value::Int).to_vec()),
            (int(TypeKind::TinyInt, true), [0, 1, 5, 255].map(Value::UInt).to_vec()),
            (int(TypeKind::BigInt, false), [i64::MIN, -1, 0, 1, i64::MAX].map(Value::Int).to_vec()),
            (int(TypeKind::BigInt, true), [0, 1, 1 << 63, u64::MAX].map(Value::UInt).to_vec()),
            (ColumnType::new(TypeKind::Decimal { precision: 4, scale: 2 }), decimals(2, &[-9999, -5, 0, 5, 6, 500, 9999])),
            (ColumnType::new(TypeKind::Decimal { precision: 18, scale: 0 }), decimals(0, &[-999_999_999_999_999_999, 0, 5])),
            (
                ColumnType::new(TypeKind::Date),
                [Date::default(), date(2024, 0, 0), date(2024, 2, 29), date(9999, 12, 31)].map(Value::Date).to_vec(),
            ),
            (
                ColumnType::new(TypeKind::DateTime { fsp: 0 }),
                [DateTime::default(), at(date(2024, 2, 29), 0), at(date(2024, 2, 29), 1)].map(Value::DateTime).to_vec(),
            ),
            (
                ColumnType::new(TypeKind::Time { fsp: 0 }),
                [-1, 0, 1].map(|s| Value::Time(Time { micros: s * 1_000_000 })).to_vec(),
            ),
        ]
    }

    /// The comparison values: all column values, and some between or beyond them.
    fn others() -> Vec<Value<'static>> {
        let parsed = |text: &str| Value::Decimal(Decimal::parse_exact(text).unwrap());
        let between = ["0.5", "-0.5", "5.001", "-128.5", "127.4", "1e30", "-1e30", "18446744073709551615.5", "0.049", "0.055"];
        let mut all: Vec<_> = columns().into_iter().flat_map(|(_, values)| values).collect();
        all.extend(between.map(parsed));
        all
    }

    /// Under Miri only some of them are tested.
    fn rarely(step: usize) -> usize {
        if cfg!(miri) { step } else { 1 }
    }

    fn every_order() -> impl Iterator<Item = Orders> {
        (0..8).step_by(rarely(3)).map(|bits| Orders { less: bits & 1 != 0, equal: bits & 2 != 0, greater: bits & 4 != 0 })
    }

    fn same_family(a: &Value<'_>, b: &Value<'_>) -> bool {
        let family = |value: &Value<'_>| match value {
            Value::Date(_) | Value::DateTime(_) => 1,
            Value::Time(_) => 2,
            _ => 0,
        };
        family(a) == family(b)
    }

    #[test]
    fn conditions_answer_as_values_compare() {
        for (ty, values) in columns() {
            let column = |name: &str| ColumnDef::new(name, ty.clone(), true);
            let layout = RowLayout::from_columns(&[column("a"), column("b")]);
            let row = |a: &Value<'_>, b: &Value<'_>| {
                let mut bytes = Vec::new();
                layout.encode(&[a.borrowed(), b.borrowed()], &mut bytes).unwrap();
                bytes
            };
            for orders in every_order() {
                let columns = layout.condition_on_columns(0, orders, 1).unwrap();
                for a in &values {
                    for b in &values {
                        let bytes = row(a, b);
                        let met = StoredRow::new(&layout, &bytes).unwrap().meets(&columns);
                        assert_eq!(met, orders.has(compare(a, b)), "{ty:?} {a:?} {orders:?} {b:?}");
                    }
                    let bytes = row(a, &Value::Null);
                    assert!(!StoredRow::new(&layout, &bytes).unwrap().meets(&columns));
                }
                for b in others().iter().filter(|b| same_family(&values[0], b)).step_by(rarely(7)) {
                    let test = layout.condition_on_value(0, orders, b).unwrap_or_else(|| panic!("{ty:?} {b:?}"));
                    for a in &values {
                        let bytes = row(a, &Value::Null);
                        let met = StoredRow::new(&layout, &bytes).unwrap().meets(&test);
                        assert_eq!(met, orders.has(compare(a, b)), "{ty:?} {a:?} {orders:?} {b:?}");
                    }
                    let bytes = row(&Value::Null, &Value::Null);
                    assert!(!StoredRow::new(&layout, &bytes).unwrap().meets(&test));
                }
            }
        }
    }

    #[test]
    fn columns_whose_bytes_do_not_tell_have_no_condition() {
        let orders = Orders { less: true, equal: false, greater: false };
        let kinds = [
            TypeKind::Double,
            TypeKind::Year,
            TypeKind::Timestamp { fsp: 0 },
            TypeKind::Decimal { precision: 30, scale: 2 },
            TypeKind::Bit { length: 8 },
        ];
        for kind in kinds {
            let column = ColumnDef::new("a", ColumnType::new(kind), false);
            let layout = RowLayout::from_columns(&[column.clone(), column]);
            assert_eq!(layout.condition_on_value(0, orders, &Value::Int(1)), None);
            assert_eq!(layout.condition_on_columns(0, orders, 1), None);
        }
        let column = |ty| ColumnDef::new("a", ty, false);
        let layout = RowLayout::from_columns(&[
            column(int(TypeKind::Int, false)),
            column(int(TypeKind::Int, true)),
            column(int(TypeKind::BigInt, false)),
        ]);
        assert_eq!(layout.condition_on_columns(0, orders, 1), None, "one of them has no negative numbers");
        assert!(layout.condition_on_columns(0, orders, 2).is_some());
        assert_eq!(layout.condition_on_value(0, orders, &Value::Double(1.0)), None);
        assert_eq!(layout.condition_on_value(0, orders, &Value::text(b"1")), None);
    }

    proptest! {
        #[test]
        fn numbers_of_any_digits(stored in -99_999i64..100_000, magnitude in -10_000_000_000i64..10_000_000_000, scale in 0u8..8) {
            let ty = ColumnType::new(TypeKind::Decimal { precision: 5, scale: 2 });
            let layout = RowLayout::from_columns(&[ColumnDef::new("a", ty, false)]);
            let a = Value::Decimal(Decimal::from_parts(stored.unsigned_abs().into(), 2, stored < 0));
            let b = Value::Decimal(Decimal::from_parts(magnitude.unsigned_abs().into(), scale, magnitude < 0));
            let mut bytes = Vec::new();
            layout.encode(&[a.borrowed()], &mut bytes).unwrap();
            for orders in every_order() {
                let test = layout.condition_on_value(0, orders, &b).unwrap();
                prop_assert_eq!(StoredRow::new(&layout, &bytes).unwrap().meets(&test), orders.has(compare(&a, &b)));
            }
        }
    }
}
