//! Compares an index column with a value that need not be a value of the column's type: `id = 5.5`, `tiny > 300`,
//! `day < '2024-01-02 12:00'`.
//!
//! The value is placed among the column's possible values by the rules of comparison, not of assignment: nothing is
//! rounded silently.
//!
//! | answer | `c = v` | `c < v` | `c <= v` | `c > v` | `c >= v` |
//! |---|---|---|---|---|---|
//! | Exact | key | < key | <= key | > key | >= key |
//! | Between | none | <= key | <= key | > key | > key |
//! | Below | none | none | none | all | all |
//! | Above | none | all | all | none | none |
//! | Prefix | key, check again | <= key, check again | <= key, check again | >= key, check again | >= key, check again |
//! | EqualOnly | key | scan | scan | scan | scan |
//! | Null | none | none | none | none | none |
//! | Unusable | scan | scan | scan | scan | scan |
//!
//! "All" excludes NULLs; "scan" means that this column of the index cannot restrict the comparison.

use super::KeyPart;
use crate::convert::text_to_f64;
use crate::error::Result;
use crate::temporal::{Moment, TimeZone, parse_datetime, parse_time};
use crate::{ColumnType, DateTime, Decimal, TypeKind, Value, Warnings, collation};

/// The position of a comparison value among the possible values of a column; see the table above. An encoded key is in
/// the output buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeKey {
    /// The value itself was encoded.
    Exact,
    /// The column cannot hold the value; the greatest value below it was encoded.
    Between,
    /// Less than everything the column can hold. Nothing was encoded.
    Below,
    /// Greater than everything the column can hold. Nothing was encoded.
    Above,
    /// The index holds prefixes and the value is at least as long as one: its prefix was encoded.
    Prefix,
    /// The value was encoded; the order of the index is not that of the comparison (ENUM and SET with text).
    EqualOnly,
    /// NULL: no comparison is true. Nothing was encoded.
    Null,
    /// The comparison is not by this column's order. Nothing was encoded.
    Unusable,
}

/// A comparison value in the column's type.
enum Placed {
    Exact(Value<'static>),
    Between(Value<'static>),
    Below,
    Above,
    EqualOnly(Value<'static>),
    Unusable,
}

impl KeyPart {
    /// Places a comparison value among this column's values and appends its key. `zone` is the session's: TIMESTAMP columns compare with
    /// civil times.
    pub fn encode_for_range(&self, value: &Value<'_>, zone: &TimeZone, out: &mut Vec<u8>) -> Result<RangeKey> {
        if value.is_null() {
            return Ok(RangeKey::Null);
        }
        if self.ty.is_string() || self.ty.kind == TypeKind::Json {
            return self.encode_text(value, out);
        }
        let (placed, range) = match place(value, &self.ty, zone) {
            Placed::Exact(value) => (value, RangeKey::Exact),
            Placed::Between(value) => (value, RangeKey::Between),
            Placed::EqualOnly(value) => (value, RangeKey::EqualOnly),
            Placed::Below => return Ok(RangeKey::Below),
            Placed::Above => return Ok(RangeKey::Above),
            Placed::Unusable => return Ok(RangeKey::Unusable),
        };
        self.encode(&placed, out)?;
        Ok(range)
    }

    fn encode_text(&self, value: &Value<'_>, out: &mut Vec<u8>) -> Result<RangeKey> {
        let Value::Bytes(text) = value else { return Ok(RangeKey::Unusable) };
        self.encode(value, out)?;
        let Some(prefix) = self.prefix else { return Ok(RangeKey::Exact) };
        let length = if self.ty.collation.is_binary() { text.len() } else { collation::char_count(text) };
        // A text shorter than the prefix is whole in the index, and so is every text equal to it under a collation that
        // compares character by character.
        let by_character = self.ty.collation.is_bytewise();
        Ok(if by_character && length < prefix as usize { RangeKey::Exact } else { RangeKey::Prefix })
    }
}

fn place(value: &Value<'_>, to: &ColumnType, zone: &TimeZone) -> Placed {
    match &to.kind {
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt => {
            let bits = match to.kind {
                TypeKind::TinyInt => 8,
                TypeKind::SmallInt => 16,
                TypeKind::MediumInt => 24,
                TypeKind::Int => 32,
                _ => 64,
            };
            let (low, high) =
                if to.unsigned { (0, (1i128 << bits) - 1) } else { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) };
            place_integer(
                value,
                low,
                high,
                |number| if to.unsigned { Value::UInt(number as u64) } else { Value::Int(number as i64) },
            )
        }
        TypeKind::Bit { length } => {
            let high = if *length >= 64 { u64::MAX } else { (1 << length) - 1 };
            place_integer(value, 0, i128::from(high), |number| Value::UInt(number as u64))
        }
        TypeKind::Year => place_year(value),
        TypeKind::Decimal { precision, scale } => place_decimal(value, *precision, *scale, to.unsigned),
        TypeKind::Double => place_double(value, to.unsigned),
        // A float is compared as a double; few doubles are floats.
        TypeKind::Float => Placed::Unusable,
        TypeKind::Date => place_date(value, zone),
        TypeKind::DateTime { fsp } => place_datetime(value, *fsp, zone),
        TypeKind::Timestamp { fsp } => place_timestamp(value, *fsp, zone),
        TypeKind::Time { fsp } => place_time(value, *fsp),
        TypeKind::Enum { members } => place_enum(value, members, to),
        TypeKind::Set { members } => place_set(value, members.len()),
        _ => Placed::Unusable,
    }
}

/// Greatest integer not above the number, and whether it is the number; clamped far outside every type.
fn floor_of(value: &Value<'_>) -> Option<(i128, bool)> {
    const FAR: i128 = 1 << 100;
    let of_decimal = |number: &Decimal| {
        let floor = match number.floor() {
            Ok(floor) => floor,
            Err(_) => return (-FAR, false),
        };
        let whole = match (floor.to_i64(), floor.to_u64()) {
            (Ok(whole), _) => i128::from(whole),
            (_, Ok(whole)) => i128::from(whole),
            _ if floor.is_negative() => -FAR,
            _ => FAR,
        };
        (whole, floor == *number)
    };
    Some(match value {
        Value::Int(number) => (i128::from(*number), true),
        Value::UInt(number) => (i128::from(*number), true),
        Value::Decimal(number) => of_decimal(number),
        Value::Double(number) if number.is_nan() => return None,
        // Comparisons with doubles use doubles: above 2^53 several integers equal one double.
        Value::Double(number) if number.abs() >= 9_007_199_254_740_992.0 && number.abs() < 1e20 => return None,
        Value::Double(number) => {
            let floor = number.floor();
            (floor.clamp(-1e29, 1e29) as i128, floor == *number)
        }
        Value::Bytes(text) => {
            let parsed = Decimal::parse(text);
            if parsed.overflow { (if parsed.value.is_negative() { -FAR } else { FAR }, true) } else { of_decimal(&parsed.value) }
        }
        Value::Date(date) => (i128::from(date.to_number()), true),
        Value::DateTime(value) => (i128::from(value.to_number()), value.micros == 0),
        Value::Time(time) if time.micros >= 0 => (i128::from(time.to_number()), time.microsecond() == 0),
        _ => return None,
    })
}

fn place_integer(value: &Value<'_>, low: i128, high: i128, make: impl Fn(i128) -> Value<'static>) -> Placed {
    let Some((floor, exact)) = floor_of(value) else { return Placed::Unusable };
    if floor > high || (floor == high && !exact) {
        Placed::Above
    } else if floor < low {
        Placed::Below
    } else if exact {
        Placed::Exact(make(floor))
    } else {
        Placed::Between(make(floor))
    }
}

fn place_year(value: &Value<'_>) -> Placed {
    // Two-digit years in comparisons are read as assignment reads them.
    match floor_of(value) {
        Some((year @ 1901..=2155, true)) => Placed::Exact(Value::Int(year as i64)),
        Some((year @ 1..=99, true)) => Placed::Exact(Value::Int(year as i64 + if year < 70 { 2000 } else { 1900 })),
        Some((2156.., _)) => Placed::Above,
        _ => Placed::Unusable,
    }
}

fn exact_decimal(value: &Value<'_>) -> Option<Decimal> {
    Some(match value {
        Value::Int(number) => Decimal::from_i64(*number),
        Value::UInt(number) => Decimal::from_u64(*number),
        Value::Decimal(number) => *number,
        Value::Date(date) => Decimal::from_u64(u64::from(date.to_number())),
        // Doubles and texts compare with decimals as doubles.
        _ => return None,
    })
}

fn place_decimal(value: &Value<'_>, precision: u8, scale: u8, unsigned: bool) -> Placed {
    let Some(number) = exact_decimal(value) else { return Placed::Unusable };
    if unsigned && number.is_negative() {
        return Placed::Below;
    }
    let beyond = if number.is_negative() { Placed::Below } else { Placed::Above };
    if !number.fits(precision, scale) {
        return beyond;
    }
    let Ok(cut) = number.truncate_scale(scale).and_then(|cut| cut.rescale(scale)) else { return beyond };
    if cut == number {
        return Placed::Exact(Value::Decimal(cut));
    }
    if !number.is_negative() {
        return if cut == Decimal::max_value(precision, scale, false) {
            Placed::Above
        } else {
            Placed::Between(Value::Decimal(cut))
        };
    }
    // Truncation went up: the next value below.
    let below = cut.subtract(&Decimal::from_parts(1, scale, false)).ok().filter(|below| below.fits(precision, scale));
    below.map_or(Placed::Below, |below| Placed::Between(Value::Decimal(below)))
}

fn place_double(value: &Value<'_>, unsigned: bool) -> Placed {
    let number = match value {
        Value::Double(number) => *number,
        Value::Int(number) if number.unsigned_abs() <= 1 << 53 => *number as f64,
        Value::UInt(number) if *number <= 1 << 53 => *number as f64,
        Value::Int(_) | Value::UInt(_) => return Placed::Unusable,
        Value::Decimal(number) => number.to_f64(),
        Value::Bytes(text) => text_to_f64(text, &mut Warnings::new()),
        _ => return Placed::Unusable,
    };
    match number {
        _ if number.is_nan() => Placed::Unusable,
        _ if unsigned && number < 0.0 => Placed::Below,
        _ => Placed::Exact(Value::Double(number)),
    }
}

/// The moment that a comparison value means; `None`: not a moment, compared otherwise.
fn moment_of(value: &Value<'_>, zone: &TimeZone) -> Option<DateTime> {
    match value {
        Value::Date(date) => Some(date.at_midnight()),
        Value::DateTime(value) => Some(*value),
        Value::Bytes(text) => {
            let parsed = parse_datetime(text)?;
            let fine = !parsed.truncated && !parsed.round_up && parsed.value.date.check(Default::default()).is_ok();
            let value = parsed.value;
            match parsed.offset {
                _ if !fine => None,
                None => Some(value),
                Some(offset) => zone.to_civil(value.to_utc_micros()? - i64::from(offset) * 1_000_000),
            }
        }
        Value::Int(number) => crate::temporal::datetime_from_number(u64::try_from(*number).ok()?).filter(is_possible),
        Value::UInt(number) => crate::temporal::datetime_from_number(*number).filter(is_possible),
        _ => None,
    }
}

fn is_possible(value: &DateTime) -> bool {
    value.date.check(Default::default()).is_ok()
}

fn place_date(value: &Value<'_>, zone: &TimeZone) -> Placed {
    match moment_of(value, zone) {
        None => Placed::Unusable,
        Some(moment) if moment.time_micros() == 0 => Placed::Exact(Value::Date(moment.date)),
        Some(moment) => Placed::Between(Value::Date(moment.date)),
    }
}

fn place_datetime(value: &Value<'_>, fsp: u8, zone: &TimeZone) -> Placed {
    let Some(moment) = moment_of(value, zone) else { return Placed::Unusable };
    match moment.to_fsp(fsp, true) {
        Some(cut) if cut == moment => Placed::Exact(Value::DateTime(cut)),
        Some(cut) => Placed::Between(Value::DateTime(cut)),
        None => Placed::Unusable,
    }
}

fn place_timestamp(value: &Value<'_>, fsp: u8, zone: &TimeZone) -> Placed {
    let Some(moment) = moment_of(value, zone) else { return Placed::Unusable };
    if moment.is_zero() {
        return Placed::Exact(Value::DateTime(moment));
    }
    // When the clock is set back, civil times and UTC times differ in order.
    if !matches!(zone, TimeZone::Utc | TimeZone::Fixed(_)) && !is_plain_time(moment, zone) {
        return Placed::Unusable;
    }
    let Moment::At(micros) = zone.to_utc(moment) else { return Placed::Unusable };
    let Some(utc) = DateTime::from_utc_micros(micros) else { return Placed::Unusable };
    match utc.to_fsp(fsp, true) {
        Some(cut) if cut == utc => Placed::Exact(Value::DateTime(cut)),
        Some(cut) => Placed::Between(Value::DateTime(cut)),
        None => Placed::Unusable,
    }
}

/// No change of offset within a day on either side.
fn is_plain_time(moment: DateTime, zone: &TimeZone) -> bool {
    let Moment::At(micros) = zone.to_utc(moment) else { return false };
    let day = crate::temporal::MICROS_PER_DAY;
    zone.offset_seconds(micros - day) == zone.offset_seconds(micros + day)
}

fn place_time(value: &Value<'_>, fsp: u8) -> Placed {
    let time = match value {
        Value::Time(time) => *time,
        Value::Bytes(text) => {
            let parsed = parse_time(text);
            if parsed.truncated || parsed.out_of_range || parsed.had_date || parsed.round_up {
                return Placed::Unusable;
            }
            parsed.value
        }
        _ => return Placed::Unusable,
    };
    let unit = 10i64.pow(6 - u32::from(fsp.min(6)));
    let floor = time.micros.div_euclid(unit) * unit;
    let floor_time = crate::Time { micros: floor };
    match floor_time.in_range() {
        true if floor == time.micros => Placed::Exact(Value::Time(floor_time)),
        true => Placed::Between(Value::Time(floor_time)),
        false if floor < 0 => Placed::Below,
        false => Placed::Above,
    }
}

fn place_enum(value: &Value<'_>, members: &[String], to: &ColumnType) -> Placed {
    match value {
        Value::Bytes(name) => {
            // Under the collation several members may be equal to the text.
            let mut equal = members.iter().enumerate().filter(|(_, m)| collation::equal(m.as_bytes(), name, to.collation));
            match (equal.next(), equal.next()) {
                (Some((position, _)), None) => Placed::EqualOnly(Value::UInt(position as u64 + 1)),
                _ => Placed::Unusable,
            }
        }
        value => place_integer(value, 0, members.len() as i128, |number| Value::UInt(number as u64)),
    }
}

fn place_set(value: &Value<'_>, members: usize) -> Placed {
    match value {
        Value::Bytes(_) => Placed::Unusable,
        value => place_integer(value, 0, (1i128 << members.min(64)) - 1, |number| Value::UInt(number as u64)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CollationId;

    fn placed(ty: &ColumnType, prefix: Option<u32>, value: &Value<'_>, zone: &TimeZone) -> (RangeKey, Option<Value<'static>>) {
        let part = KeyPart { column: 0, ty: ty.clone(), nullable: false, prefix, descending: false };
        let mut key = Vec::new();
        let range = part.encode_for_range(value, zone, &mut key).unwrap();
        let value = (part.is_reversible() && !key.is_empty()).then(|| part.decode(&key).unwrap().0.into_owned());
        (range, value)
    }

    #[test]
    fn integers() {
        let tiny = ColumnType::new(TypeKind::TinyInt);
        let check = |value: Value<'_>, range, key: Option<i64>| {
            assert_eq!(placed(&tiny, None, &value, &TimeZone::Utc), (range, key.map(Value::Int)), "{value:?}");
        };
        let decimal = |text| Value::Decimal(Decimal::parse_exact(text).unwrap());
        check(Value::Int(5), RangeKey::Exact, Some(5));
        check(Value::UInt(300), RangeKey::Above, None);
        check(Value::Int(-129), RangeKey::Below, None);
        check(decimal("5.5"), RangeKey::Between, Some(5));
        check(decimal("-5.5"), RangeKey::Between, Some(-6));
        check(decimal("127.5"), RangeKey::Above, None);
        check(decimal("-128.5"), RangeKey::Below, None);
        check(Value::Double(1e300), RangeKey::Above, None);
        check(Value::Double(-0.5), RangeKey::Between, Some(-1));
        check(Value::text(b"abc"), RangeKey::Exact, Some(0));
        check(Value::text(b"12"), RangeKey::Exact, Some(12));
        check(Value::Null, RangeKey::Null, None);
        let unsigned = ColumnType::unsigned(TypeKind::BigInt);
        assert_eq!(placed(&unsigned, None, &Value::Int(-1), &TimeZone::Utc).0, RangeKey::Below);
        assert_eq!(placed(&unsigned, None, &Value::UInt(u64::MAX), &TimeZone::Utc).0, RangeKey::Exact);
        assert_eq!(placed(&unsigned, None, &Value::Double(1e18), &TimeZone::Utc).0, RangeKey::Unusable);
    }

    #[test]
    fn decimals() {
        let ty = ColumnType::new(TypeKind::Decimal { precision: 4, scale: 1 });
        let check = |text: &str, range, key: Option<&str>| {
            let decimal = |text: &str| Value::Decimal(Decimal::parse_exact(text).unwrap());
            assert_eq!(placed(&ty, None, &decimal(text), &TimeZone::Utc), (range, key.map(decimal)), "{text}");
        };
        check("1.5", RangeKey::Exact, Some("1.5"));
        check("1.55", RangeKey::Between, Some("1.5"));
        check("-1.55", RangeKey::Between, Some("-1.6"));
        check("999.95", RangeKey::Above, None);
        check("-999.95", RangeKey::Below, None);
        check("1000", RangeKey::Above, None);
    }

    #[test]
    fn moments() {
        let date = ColumnType::new(TypeKind::Date);
        let day = crate::Date::new(2024, 1, 2);
        let utc = TimeZone::Utc;
        assert_eq!(placed(&date, None, &Value::text(b"2024-01-02"), &utc), (RangeKey::Exact, Some(Value::Date(day))));
        assert_eq!(placed(&date, None, &Value::text(b"2024-01-02 1:0:0"), &utc), (RangeKey::Between, Some(Value::Date(day))));
        assert_eq!(placed(&date, None, &Value::text(b"abc"), &utc).0, RangeKey::Unusable);
        assert_eq!(placed(&date, None, &Value::Int(20_240_102), &utc).0, RangeKey::Exact);
        let stamp = ColumnType::new(TypeKind::Timestamp { fsp: 0 });
        let at_one = DateTime { hour: 1, ..day.at_midnight() };
        assert_eq!(
            placed(&stamp, None, &Value::DateTime(at_one), &TimeZone::Fixed(3600)).1,
            Some(Value::DateTime(day.at_midnight()))
        );
        let half = DateTime { micros: 500_000, ..at_one };
        assert_eq!(placed(&stamp, None, &Value::DateTime(half), &utc), (RangeKey::Between, Some(Value::DateTime(at_one))));
        let time = ColumnType::new(TypeKind::Time { fsp: 0 });
        let seconds = |micros| Value::Time(crate::Time { micros });
        assert_eq!(placed(&time, None, &seconds(-1_500_000), &utc), (RangeKey::Between, Some(seconds(-2_000_000))));
    }

    #[test]
    fn texts() {
        let bin = ColumnType { collation: CollationId::UTF8MB4_BIN, ..ColumnType::new(TypeKind::VarChar { length: 9 }) };
        let check = |prefix, value: Value<'_>| placed(&bin, prefix, &value, &TimeZone::Utc).0;
        assert_eq!(check(None, Value::text(b"abc")), RangeKey::Exact);
        assert_eq!(check(Some(3), Value::text(b"ab")), RangeKey::Exact);
        assert_eq!(check(Some(3), Value::text(b"abc")), RangeKey::Prefix);
        assert_eq!(check(None, Value::Int(5)), RangeKey::Unusable);
        let members = ColumnType::new(TypeKind::Enum { members: ["b".to_string(), "a".to_string()].into() });
        assert_eq!(placed(&members, None, &Value::text(b"A"), &TimeZone::Utc), (RangeKey::EqualOnly, Some(Value::text(b"a"))));
        assert_eq!(placed(&members, None, &Value::Int(1), &TimeZone::Utc), (RangeKey::Exact, Some(Value::text(b"b"))));
        assert_eq!(placed(&members, None, &Value::text(b"z"), &TimeZone::Utc).0, RangeKey::Unusable);
    }
}
