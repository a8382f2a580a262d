//! Conversion to numbers.

use super::{Problem, StoreContext, Warnings, message_text, printable};
use crate::decimal::{Decimal, Parsed};
use crate::temporal::datetime_from_number;
use crate::{ColumnType, DateTime, Time, TypeKind, Value};

/// An integer outside i64 and u64 does not exist, so i128 holds each.
type Wide = i128;

pub(super) fn is_integer(kind: &TypeKind) -> bool {
    use TypeKind as K;
    matches!(kind, K::TinyInt | K::SmallInt | K::MediumInt | K::Int | K::BigInt)
}

pub(super) fn integer_range(to: &ColumnType) -> (Wide, Wide) {
    let bits = match to.kind {
        TypeKind::TinyInt => 8,
        TypeKind::SmallInt => 16,
        TypeKind::MediumInt => 24,
        TypeKind::Int => 32,
        _ => 64,
    };
    if to.unsigned { (0, (1 << bits) - 1) } else { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) }
}

fn integer_value(value: Wide, unsigned: bool) -> Value<'static> {
    if unsigned { Value::UInt(value as u64) } else { Value::Int(value as i64) }
}

pub(super) fn store_integer(
    value: &Value<'_>,
    from: &ColumnType,
    to: &ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'static>, Problem> {
    let (low, high) = integer_range(to);
    let number = match value {
        Value::Int(v) => Wide::from(*v),
        Value::UInt(v) => Wide::from(*v),
        // A negative decimal is out of an unsigned range, even if it rounds to zero.
        Value::Decimal(v) if to.unsigned && v.is_negative() => -1,
        Value::Bytes(text) if !matches!(from.kind, TypeKind::Bit { .. }) => {
            text_for_integer(text, |number| (low..=high).contains(&number), context, warnings)?
        }
        Value::Time(v) => Wide::from(v.to_fsp(0, context.truncate_fractional).to_number()),
        Value::DateTime(v) => Wide::from(v.to_fsp(0, context.truncate_fractional).unwrap_or(*v).to_number()),
        value => round_to_integer(value),
    };
    if number < low || number > high {
        context.raise(Problem::OutOfRange, warnings)?;
    }
    Ok(integer_value(number.clamp(low, high), to.unsigned))
}

/// Far outside every integer type.
const HUGE: Wide = 1 << 100;

/// The number at the beginning of a string. If it fits, a problem reports trailing characters.
fn text_for_integer(
    text: &[u8],
    fits: impl Fn(Wide) -> bool,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Wide, Problem> {
    if let Some(number) = plain_integer(text) {
        return Ok(number);
    }
    let parsed = Decimal::parse(text);
    if parsed.consumed == 0 {
        context.raise(Problem::Incorrect { what: "integer", text: printable(text) }, warnings)?;
        return Ok(0);
    }
    if parsed.overflow {
        return Ok(if parsed.value.is_negative() { -HUGE } else { HUGE });
    }
    let number = decimal_to_wide(&parsed.value);
    if fits(number) && has_garbage(text, parsed.consumed) {
        context.raise(Problem::Truncated, warnings)?;
    }
    Ok(number)
}

/// `[-]digits` and nothing else, up to 18 digits.
fn plain_integer(text: &[u8]) -> Option<Wide> {
    let (negative, digits) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if digits.is_empty() || digits.len() > 18 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = digits.iter().fold(0i64, |n, b| n * 10 + i64::from(b - b'0'));
    Some(Wide::from(if negative { -number } else { number }))
}

/// Something other than white space follows the number.
fn has_garbage(text: &[u8], consumed: usize) -> bool {
    text[consumed..].iter().any(|b| !b.is_ascii_whitespace())
}

fn decimal_to_wide(value: &Decimal) -> Wide {
    match (value.to_i64(), value.to_u64()) {
        (Ok(number), _) => Wide::from(number),
        (_, Ok(number)) => Wide::from(number),
        _ if value.is_negative() => -HUGE,
        _ => HUGE,
    }
}

fn double_to_wide(value: f64) -> Wide {
    let rounded = value.round_ties_even();
    if rounded.is_nan() { 0 } else { rounded.clamp(-1e30, 1e30) as Wide }
}

/// A number or temporal value rounded to an integer as assignment does it: doubles half to even, decimals half away from zero. Text that is no
/// number is 0.
pub fn round_to_integer(value: &Value<'_>) -> i128 {
    match value {
        Value::Null => 0,
        Value::Int(v) => Wide::from(*v),
        Value::UInt(v) => Wide::from(*v),
        Value::Double(v) => double_to_wide(*v),
        Value::Decimal(v) => decimal_to_wide(v),
        Value::Bytes(text) => match Decimal::parse(text) {
            Parsed { overflow: true, value, .. } => {
                if value.is_negative() {
                    -HUGE
                } else {
                    HUGE
                }
            }
            parsed => decimal_to_wide(&parsed.value),
        },
        Value::Date(v) => Wide::from(v.to_number()),
        Value::Time(v) => Wide::from(v.to_fsp(0, false).to_number()),
        Value::DateTime(v) => Wide::from(v.to_fsp(0, false).unwrap_or(*v).to_number()),
    }
}

pub(super) fn store_decimal(
    value: &Value<'_>,
    from: &ColumnType,
    (precision, scale, unsigned): (u8, u8, bool),
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'static>, Problem> {
    let Some(exact) = decimal_for_store(value, from, context, warnings)? else {
        context.raise(Problem::OutOfRange, warnings)?;
        let negative =
            matches!(value, Value::Double(v) if *v < 0.0) || matches!(value, Value::Bytes(t) if t.trim_ascii().starts_with(b"-"));
        let bound = if unsigned && negative { Decimal::ZERO } else { Decimal::max_value(precision, scale, negative) };
        return Ok(Value::Decimal(bound));
    };
    if unsigned && exact.is_negative() {
        context.raise(Problem::OutOfRange, warnings)?;
        return Ok(Value::Decimal(Decimal::ZERO.rescale(scale).unwrap_or(Decimal::ZERO)));
    }
    match exact.rescale(scale).ok().filter(|rounded| rounded.fits(precision, scale)) {
        Some(rounded) => {
            if exact.scale() > scale && rounded != exact {
                warnings.note(Problem::Truncated);
            }
            Ok(Value::Decimal(rounded))
        }
        None => {
            context.raise(Problem::OutOfRange, warnings)?;
            Ok(Value::Decimal(Decimal::max_value(precision, scale, exact.is_negative())))
        }
    }
}

/// `Ok(None)`: over 65 digits.
fn decimal_for_store(
    value: &Value<'_>,
    from: &ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Option<Decimal>, Problem> {
    let Value::Bytes(text) = value else { return Ok(exact_decimal(value)) };
    let parsed = Decimal::parse(text);
    let incorrect = || Problem::Incorrect { what: "decimal", text: message_text(value, from) };
    if parsed.consumed == 0 {
        context.raise(incorrect(), warnings)?;
    } else if has_garbage(text, parsed.consumed) {
        if context.strict {
            return Err(incorrect());
        }
        warnings.note(Problem::Truncated);
    }
    Ok((!parsed.overflow).then_some(parsed.value))
}

/// The number as a decimal; `None` if it has over 65 digits.
fn exact_decimal(value: &Value<'_>) -> Option<Decimal> {
    Some(match value {
        Value::Null => Decimal::ZERO,
        Value::Int(v) => Decimal::from_i64(*v),
        Value::UInt(v) => Decimal::from_u64(*v),
        Value::Double(v) => Decimal::from_f64(*v).ok()?,
        Value::Decimal(v) => *v,
        Value::Bytes(text) => Decimal::parse(text).value,
        Value::Date(v) => Decimal::from_u64(u64::from(v.to_number())),
        Value::Time(v) => time_decimal(*v),
        Value::DateTime(v) => datetime_decimal(*v),
    })
}

fn time_decimal(time: Time) -> Decimal {
    let whole = time.to_number().unsigned_abs();
    with_micros(whole, time.microsecond(), time.is_negative())
}

fn datetime_decimal(value: DateTime) -> Decimal {
    with_micros(value.to_number(), value.micros, false)
}

fn with_micros(whole: u64, micros: u32, negative: bool) -> Decimal {
    if micros == 0 {
        return Decimal::from_parts(u128::from(whole), 0, negative);
    }
    Decimal::from_parts(u128::from(whole) * 1_000_000 + u128::from(micros), 6, negative)
}

pub(super) fn store_double(
    value: &Value<'_>,
    from: &ColumnType,
    to: &ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'static>, Problem> {
    let is_float = to.kind == TypeKind::Float;
    let number = match value {
        Value::Bytes(text) => {
            let (number, consumed) = parse_f64(text);
            if number.is_finite() && (consumed == 0 || has_garbage(text, consumed)) {
                let what = if is_float { "FLOAT" } else { "DOUBLE" };
                context.raise(Problem::Incorrect { what, text: message_text(value, from) }, warnings)?;
            }
            number
        }
        value => plain_f64(value),
    };
    let mut bound = if is_float { f64::from(f32::MAX) } else { f64::MAX };
    let mut stored = number;
    if let (Some(decimals), Some(width)) = (to.float_decimals, to.display_width) {
        bound = 10f64.powi(i32::from(width) - i32::from(decimals)) - 10f64.powi(-i32::from(decimals));
        stored = round_double(number, decimals);
    }
    let low = if to.unsigned { 0.0 } else { -bound };
    let over = if is_float && to.float_decimals.is_none() {
        // Whatever rounds to a float is in range.
        (stored as f32).is_infinite() || stored < low && to.unsigned
    } else {
        stored < low || stored > bound
    };
    if stored.is_nan() || over {
        context.raise(Problem::OutOfRange, warnings)?;
        stored = if stored.is_nan() { 0.0 } else { stored.clamp(low, bound) };
    }
    Ok(Value::Double(if is_float { f64::from(stored as f32) } else { stored }))
}

/// Rounds to this number of digits after the point.
fn round_double(value: f64, decimals: u8) -> f64 {
    let factor = 10f64.powi(i32::from(decimals));
    let whole = value.trunc();
    let rounded = whole + ((value - whole) * factor).round_ties_even() / factor;
    if rounded.is_finite() { rounded } else { value }
}

pub(super) fn store_bit(
    value: &Value<'_>,
    _from: &ColumnType,
    length: u8,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'static>, Problem> {
    let limit = if length >= 64 { u64::MAX } else { (1 << length) - 1 };
    let bits = match value {
        // Text is its bytes, the last one lowest.
        Value::Bytes(bytes) => {
            let start = bytes.iter().position(|&b| b != 0).unwrap_or(bytes.len());
            let bytes = &bytes[start..];
            (bytes.len() <= 8).then(|| bytes.iter().fold(0, |bits, &b| bits << 8 | u64::from(b)))
        }
        // A negative integer is its two's complement.
        Value::Int(v) => Some(*v as u64),
        // A negative decimal is cut to zero.
        Value::Decimal(v) if v.is_negative() => {
            context.raise(Problem::OutOfRange, warnings)?;
            Some(0)
        }
        // Its fraction is cut off; beyond a BIGINT it is the nearest one.
        Value::Double(x) => Some(*x as i64 as u64),
        // The text of a time has more bytes than a BIT.
        Value::Date(_) | Value::Time(_) | Value::DateTime(_) => None,
        value => match u64::try_from(round_to_integer(value)) {
            Ok(bits) => Some(bits),
            Err(_) => {
                context.raise(Problem::OutOfRange, warnings)?;
                Some(u64::MAX)
            }
        },
    };
    match bits.filter(|&bits| bits <= limit) {
        Some(bits) => Ok(Value::UInt(bits)),
        None => {
            context.raise_as(|| Problem::TooLong, Problem::OutOfRange, warnings)?;
            Ok(Value::UInt(limit))
        }
    }
}

pub(super) fn store_year(
    value: &Value<'_>,
    _from: &ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'static>, Problem> {
    let (number, zero_is_2000) = match value {
        Value::Bytes(text) => (
            text_for_integer(text, |year| matches!(year, 0..=99 | 1901..=2155), context, warnings)?,
            text.len() < 4 && !text.is_empty(),
        ),
        Value::Date(v) => (Wide::from(v.year), false),
        Value::DateTime(v) => (Wide::from(v.date.year), false),
        Value::Time(_) => {
            let today = context.zone.to_civil(context.now_utc_micros).unwrap_or_default();
            (Wide::from(today.date.year), false)
        }
        Value::Double(v) => (double_to_wide(v.trunc()), false),
        value => (round_to_integer(value), false),
    };
    let is_digits = matches!(value, Value::Bytes(text) if text.trim_ascii().iter().all(u8::is_ascii_digit));
    Ok(Value::Int(match number {
        0 if zero_is_2000 && is_digits => 2000,
        0 => 0,
        1..=69 => number as i64 + 2000,
        70..=99 => number as i64 + 1900,
        1901..=2155 => number as i64,
        _ => {
            context.raise(Problem::OutOfRange, warnings)?;
            0
        }
    }))
}

// Expressions.

fn incorrect(what: &'static str, text: &[u8]) -> Problem {
    Problem::TruncatedIncorrect { what, text: printable(text) }
}

/// The value as a signed integer in an expression. Text gives its leading integer; numbers beyond the range the nearest bound.
pub fn to_i64(value: &Value<'_>, warnings: &mut Warnings) -> i64 {
    match value {
        Value::Int(v) => *v,
        Value::UInt(v) => *v as i64,
        Value::Bytes(text) => text_to_i64(text, warnings),
        value => round_to_integer(value).clamp(Wide::from(i64::MIN), Wide::from(i64::MAX)) as i64,
    }
}

/// The value as an unsigned integer in an expression; a negative one wraps, as MySQL's CAST does.
pub fn to_u64(value: &Value<'_>, warnings: &mut Warnings) -> u64 {
    match value {
        Value::Int(v) => *v as u64,
        Value::UInt(v) => *v,
        Value::Bytes(text) => text_to_u64(text, warnings),
        value => match round_to_integer(value) {
            number if number < 0 => number.max(Wide::from(i64::MIN)) as i64 as u64,
            number => number.min(Wide::from(u64::MAX)) as u64,
        },
    }
}

/// The leading integer of a text (no fraction, no exponent).
pub fn text_to_i64(text: &[u8], warnings: &mut Warnings) -> i64 {
    let (number, clean) = leading_integer(text);
    if !clean || number > Wide::from(u64::MAX) || number < Wide::from(i64::MIN) {
        warnings.warn(incorrect("INTEGER", text));
    }
    // Above i64 the bits of the unsigned number, as MySQL has it.
    if number > Wide::from(i64::MAX) {
        number.min(Wide::from(u64::MAX)) as u64 as i64
    } else {
        number.max(Wide::from(i64::MIN)) as i64
    }
}

pub fn text_to_u64(text: &[u8], warnings: &mut Warnings) -> u64 {
    let (number, clean) = leading_integer(text);
    if !clean || number > Wide::from(u64::MAX) || number < Wide::from(i64::MIN) {
        warnings.warn(incorrect("INTEGER", text));
    }
    if number < 0 { number.max(Wide::from(i64::MIN)) as i64 as u64 } else { number.min(Wide::from(u64::MAX)) as u64 }
}

fn leading_integer(text: &[u8]) -> (Wide, bool) {
    let trimmed = text.trim_ascii_start();
    let (negative, rest) = match trimmed.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, trimmed),
    };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let number = rest[..digits].iter().fold(0, |n: Wide, b| (n * 10 + Wide::from(b - b'0')).min(HUGE));
    (if negative { -number } else { number }, digits > 0 && rest[digits..].trim_ascii().is_empty())
}

/// The value as a double in an expression.
pub fn to_f64(value: &Value<'_>, warnings: &mut Warnings) -> f64 {
    match value {
        Value::Bytes(text) => text_to_f64(text, warnings),
        value => plain_f64(value),
    }
}

fn plain_f64(value: &Value<'_>) -> f64 {
    match value {
        Value::Null => 0.0,
        Value::Int(v) => *v as f64,
        Value::UInt(v) => *v as f64,
        Value::Double(v) => *v,
        Value::Decimal(v) => v.to_f64(),
        Value::Bytes(text) => parse_f64(text).0,
        Value::Date(v) => f64::from(v.to_number()),
        Value::Time(v) => time_decimal(*v).to_f64(),
        Value::DateTime(v) => datetime_decimal(*v).to_f64(),
    }
}

/// The leading number of a text as a double.
pub fn text_to_f64(text: &[u8], warnings: &mut Warnings) -> f64 {
    let (number, consumed) = parse_f64(text);
    if has_garbage(text, consumed) || number.is_infinite() {
        warnings.warn(incorrect("DOUBLE", text));
    }
    if number.is_infinite() { f64::MAX.copysign(number) } else { number }
}

/// The longest number at the front and the bytes it takes, white space before it included.
fn parse_f64(text: &[u8]) -> (f64, usize) {
    let start = text.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let digits = |from: usize| text[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = start + usize::from(matches!(text.get(start), Some(b'+' | b'-')));
    let whole = digits(at);
    at += whole;
    let mut fraction = 0;
    if text.get(at) == Some(&b'.') {
        fraction = digits(at + 1);
        at += 1 + fraction;
    }
    if whole + fraction == 0 {
        return (0.0, 0);
    }
    if matches!(text.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let exponent = if at + 1 + sign <= text.len() { digits(at + 1 + sign) } else { 0 };
        if exponent > 0 {
            at += 1 + sign + exponent;
        }
    }
    let number = std::str::from_utf8(&text[start..at]).ok().and_then(|t| t.parse().ok());
    (number.unwrap_or(0.0), at)
}

/// The value as a decimal in an expression; over 65 digits gives the nearest bound with a warning.
pub fn to_decimal(value: &Value<'_>, warnings: &mut Warnings) -> Decimal {
    match value {
        Value::Bytes(text) => text_to_decimal(text, warnings),
        value => exact_decimal(value).unwrap_or_else(|| {
            let negative = matches!(value, Value::Double(v) if *v < 0.0);
            warnings
                .warn(incorrect("DECIMAL", &message_text(value, &ColumnType::new(TypeKind::Double)).into_string().into_bytes()));
            Decimal::max_value(65, 0, negative)
        }),
    }
}

pub fn text_to_decimal(text: &[u8], warnings: &mut Warnings) -> Decimal {
    let parsed = Decimal::parse(text);
    if parsed.consumed == 0 || parsed.overflow || has_garbage(text, parsed.consumed) {
        warnings.warn(incorrect("DECIMAL", text));
    }
    parsed.value
}

/// A number that means a date or a date and time.
pub(super) struct NumberedDate {
    /// What the integer part means.
    pub value: DateTime,
    pub fraction: Micros,
    /// The integer part has a year, a month and a day only.
    pub is_date: bool,
}

/// Reads a number as a date, or as a date and time.
pub(super) fn datetime_of_number(value: &Value<'_>) -> Option<NumberedDate> {
    const DATE_MAX: u64 = 99_991_231;
    let number = exact_decimal(value)?;
    if number.is_negative() {
        return None;
    }
    let (whole, fraction) = split_micros(&number)?;
    Some(NumberedDate { value: datetime_from_number(whole)?, fraction, is_date: (1..=DATE_MAX).contains(&whole) })
}

/// A fraction of a second.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Micros {
    /// Whole microseconds.
    pub whole: u32,
    /// What is left is half a microsecond or more.
    pub round_up: bool,
}

impl Micros {
    pub(super) fn is_zero(self) -> bool {
        self.whole == 0 && !self.round_up
    }

    /// A million where it is rounded to a whole second.
    pub(super) fn rounded(self) -> u32 {
        self.whole + u32::from(self.round_up)
    }
}

/// Integer part and fraction.
pub(super) fn split_micros(number: &Decimal) -> Option<(u64, Micros)> {
    let number = number.abs();
    let whole = number.truncate(0).ok()?;
    let micros = number.subtract(&whole).ok()?.multiply(&Decimal::from_u64(1_000_000)).ok()?;
    let of = |micros: Decimal| u32::try_from(micros.to_u64().ok()?).ok();
    let (cut, rounded) = (of(micros.truncate(0).ok()?)?, of(micros)?);
    Some((whole.to_u64().ok()?, Micros { whole: cut, round_up: rounded > cut }))
}
