//! Numbers of a row that fit 64 bits, read without making a value of them: for sums and keys of many rows.

use super::{Kind, Raw, StoredRow, read_uint};
use crate::wide::POW10_U64;

/// A column's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShortNumber {
    Null,
    /// digits / 10^scale
    Digits(i64, u8),
    /// It is of another kind, or does not fit: to be read as a value.
    Other,
}

impl StoredRow<'_> {
    /// The number of an integer or decimal column. What is not sound is `Other`: reading the value says why.
    #[inline]
    pub fn short_number(&self, column: usize) -> ShortNumber {
        let kind = self.slots[column].kind;
        if !matches!(kind, Kind::Int { .. } | Kind::Decimal { .. }) || kind.width() > 8 {
            return ShortNumber::Other;
        }
        let bytes = match self.raw(column) {
            Ok(Raw::Null) => return ShortNumber::Null,
            Ok(Raw::Bytes { bytes, external: false }) if !bytes.is_empty() => bytes,
            _ => return ShortNumber::Other,
        };
        let shift = 64 - 8 * bytes.len() as u32;
        match kind {
            Kind::Int { unsigned: false, .. } => ShortNumber::Digits((read_uint(bytes) << shift) as i64 >> shift, 0),
            Kind::Int { .. } => i64::try_from(read_uint(bytes)).map_or(ShortNumber::Other, |n| ShortNumber::Digits(n, 0)),
            Kind::Decimal { precision, scale } => {
                // As `Decimal::decode_ordered`.
                let bits = bytes.iter().fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
                let digits = ((bits << shift) ^ 1 << 63) as i64 >> shift;
                match POW10_U64.get(usize::from(precision)) {
                    Some(limit) if digits.unsigned_abs() < *limit => ShortNumber::Digits(digits, scale),
                    _ => ShortNumber::Other,
                }
            }
            _ => ShortNumber::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::RowLayout;
    use crate::schema::ColumnDef;
    use crate::{ColumnType, Decimal, TypeKind, Value};

    fn short(ty: &ColumnType, value: &Value<'_>) -> ShortNumber {
        let layout = RowLayout::from_columns(&[ColumnDef::new("a", ty.clone(), true)]);
        let mut bytes = Vec::new();
        layout.encode(&[value.borrowed()], &mut bytes).expect("it is a value of the type");
        StoredRow::new(&layout, &bytes).expect("it was encoded").short_number(0)
    }

    #[test]
    fn numbers_are_those_of_the_values() {
        let widths = [
            (TypeKind::TinyInt, 8),
            (TypeKind::SmallInt, 16),
            (TypeKind::MediumInt, 24),
            (TypeKind::Int, 32),
            (TypeKind::BigInt, 64),
        ];
        for (kind, bits) in widths {
            let signed = ColumnType::new(kind.clone());
            let (min, max) = ((-1i128 << (bits - 1)) as i64, ((1i128 << (bits - 1)) - 1) as i64);
            for n in [min, min + 1, -1, 0, 1, max] {
                assert_eq!(short(&signed, &Value::Int(n)), ShortNumber::Digits(n, 0));
            }
            assert_eq!(short(&signed, &Value::Null), ShortNumber::Null);
            let unsigned = ColumnType { unsigned: true, ..signed };
            let most = ((1u128 << bits) - 1) as u64;
            for n in [0, 1, most / 2, most] {
                let expected = i64::try_from(n).map_or(ShortNumber::Other, |n| ShortNumber::Digits(n, 0));
                assert_eq!(short(&unsigned, &Value::UInt(n)), expected);
            }
        }
        for precision in 1..=30u8 {
            for scale in 0..=precision.min(30) {
                let ty = ColumnType::new(TypeKind::Decimal { precision, scale });
                let largest = Decimal::max_value(precision, scale, false);
                for value in
                    [largest, largest.negate(), Decimal::from_parts(1, scale, true), Decimal::from_parts(0, scale, false)]
                {
                    let expected = match value.digits_i64() {
                        Some(digits) if Decimal::ordered_bytes(precision) <= 8 => ShortNumber::Digits(digits, scale),
                        _ => ShortNumber::Other,
                    };
                    assert_eq!(short(&ty, &Value::Decimal(value)), expected, "{precision} {scale} {value}");
                }
            }
        }
        assert_eq!(short(&ColumnType::new(TypeKind::Year), &Value::Int(2024)), ShortNumber::Other);
        assert_eq!(short(&ColumnType::new(TypeKind::Double), &Value::Double(1.0)), ShortNumber::Other);
    }
}
