//! Literals: values with types.

use super::Binder;
use super::compare::{Coercibility, Derivation};
use crate::ast::{Literal, StringLiteral};
use crate::error::{Error, Result};
use expr::Expr;
use expr::typing;
use std::borrow::Cow;
use types::charset::Charset;
use types::temporal::{self, DateRules};
use types::{CollationId, ColumnType, DateTime, Decimal, TypeKind, Value};

impl Binder<'_> {
    pub(super) fn literal(&mut self, literal: &Literal<'_>) -> Result<Expr> {
        self.derivation = Derivation::NUMERIC;
        Ok(match literal {
            Literal::Null => {
                self.derivation = Derivation::IGNORABLE;
                Expr::literal(Value::Null, ColumnType::new(TypeKind::Null))
            }
            Literal::Bool(truth) => Expr::literal(Value::Int(i64::from(*truth)), typing::boolean()),
            Literal::Int(value) => integer(*value),
            Literal::Decimal(digits) => decimal(digits),
            Literal::Double(digits) => double(digits)?,
            Literal::String(string) => self.string_literal(string)?,
            Literal::Bits(bytes) => {
                self.derivation = Derivation { collation: CollationId::BINARY, level: Coercibility::Coercible };
                // The unsigned flag distinguishes it from other binary strings, see `is_bits_literal`.
                let ty = ColumnType::unsigned(TypeKind::VarBinary { length: bytes.len() as u32 });
                Expr::literal(bytes_value(bytes), ty)
            }
            Literal::Date(text) => {
                let value = self.moment(text).filter(|_| !has_time(text)).ok_or_else(|| wrong("DATE", text))?;
                Expr::literal(Value::Date(value.date), ColumnType::new(TypeKind::Date))
            }
            Literal::Time(text) => {
                let parsed = temporal::parse_time(text);
                let is_moment = temporal::parse_datetime(text).is_some() && digit_groups(text).count() > 5;
                if parsed.truncated || parsed.out_of_range || text.is_empty() || is_moment {
                    return Err(wrong("TIME", text));
                }
                // Rounded whatever the mode says, as in MySQL.
                let mut time = parsed.value;
                time.micros += if parsed.round_up { time.micros.signum() } else { 0 };
                Expr::literal(Value::Time(time), ColumnType::new(TypeKind::Time { fsp: fraction(text) }))
            }
            Literal::Timestamp(text) if has_offset(text) => {
                // Its value in the session's time zone is known at execution.
                let written = Expr::literal(bytes_value(text), typing::string(text.len() as u64, self.literal_collation()));
                super::operand::cast_to(written, ColumnType::new(TypeKind::DateTime { fsp: moment_fraction(text) }))
            }
            Literal::Timestamp(text) => {
                let value = self.moment(text).filter(|_| has_time(text)).ok_or_else(|| wrong("DATETIME", text))?;
                Expr::literal(Value::DateTime(value), ColumnType::new(TypeKind::DateTime { fsp: moment_fraction(text) }))
            }
        })
    }

    /// Parses a DATE or TIMESTAMP literal; `sql_mode` decides about zeros in the date.
    fn moment(&self, text: &[u8]) -> Option<DateTime> {
        let parsed = temporal::parse_datetime(text)?;
        let whole = !parsed.truncated && parsed.offset.is_none();
        let value = Some(parsed.value).filter(|value| whole && value.date.check(self.date_rules()).is_ok())?;
        if parsed.round_up && !self.mode.time_truncate_fractional {
            DateTime::from_utc_micros(value.to_utc_micros()? + 1)
        } else {
            Some(value)
        }
    }

    /// Which dates `sql_mode` allows.
    pub(super) fn date_rules(&self) -> DateRules {
        let (no_zero_date, no_zero_in_date) = (self.mode.no_zero_date, self.mode.no_zero_in_date);
        DateRules { no_zero_date, no_zero_in_date, allow_invalid: self.mode.allow_invalid_dates }
    }

    fn string_literal(&mut self, literal: &StringLiteral<'_>) -> Result<Expr> {
        let collation = match literal.charset {
            None => self.literal_collation(),
            Some(charset) => CollationId::of_charset(charset).ok_or_else(|| Error::UnknownCharset(charset.to_owned()))?,
        };
        self.derivation = Derivation { collation, level: Coercibility::Coercible };
        // An introducer names the character set of the bytes; the value is kept as UTF-8.
        let bytes = match literal.charset.and_then(|_| Charset::named(collation.charset())) {
            None => Cow::Borrowed(literal.bytes),
            Some(charset) => charset.decode(literal.bytes).ok_or_else(|| Error::InvalidText {
                charset: collation.charset(),
                text: types::convert::invalid_text(literal.bytes),
            })?,
        };
        let length = if collation == CollationId::BINARY { bytes.len() } else { types::collation::char_count(&bytes) };
        Ok(Expr::literal(bytes_value(&bytes), typing::string(length as u64, collation)))
    }
}

fn wrong(kind: &'static str, text: &[u8]) -> Error {
    Error::WrongLiteral { kind, value: String::from_utf8_lossy(text).into_owned() }
}

/// Parses a string that is a date, with or without a time, and nothing else.
fn datetime(text: &[u8]) -> Option<DateTime> {
    datetime_by(text, DateRules::default())
}

fn datetime_by(text: &[u8], rules: DateRules) -> Option<DateTime> {
    let parsed = temporal::parse_datetime(text)?;
    let whole = !parsed.truncated && !parsed.round_up && parsed.offset.is_none();
    (whole && parsed.value.date.check(rules).is_ok()).then_some(parsed.value)
}

/// The groups of digits in a string.
fn digit_groups(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| !byte.is_ascii_digit()).filter(|group| !group.is_empty())
}

/// Does a time follow the date? A `T` alone begins one.
fn has_time(text: &[u8]) -> bool {
    // A date without separators has up to eight digits.
    let lengths: Vec<usize> = digit_groups(text).map(<[u8]>::len).collect();
    match lengths.as_slice() {
        [] => false,
        [first] => *first > 8,
        [first, ..] if *first >= 8 => true,
        groups => groups.len() > 3 || text.contains(&b'T'),
    }
}

/// Is it a date and a time with a time zone offset?
fn has_offset(text: &[u8]) -> bool {
    let Some(parsed) = temporal::parse_datetime(text) else { return false };
    let whole = !parsed.truncated && !parsed.round_up && parsed.offset.is_some();
    whole && parsed.value.date.check(DateRules::default()).is_ok()
}

/// A string constant that is compared with a date.
pub(super) fn datetime_constant(text: &[u8]) -> Option<Expr> {
    let value = datetime(text)?;
    if value.time_micros() == 0 && value.date != types::Date::ZERO {
        return Some(Expr::literal(Value::Date(value.date), ColumnType::new(TypeKind::Date)));
    }
    let fsp = if value.micros == 0 { 0 } else { 6 };
    Some(Expr::literal(Value::DateTime(value), ColumnType::new(TypeKind::DateTime { fsp })))
}

/// A string constant that is compared with a time.
pub(super) fn time_constant(text: &[u8]) -> Option<Expr> {
    let parsed = temporal::parse_time(text);
    if parsed.truncated || parsed.out_of_range || parsed.round_up || text.trim_ascii().is_empty() {
        return None;
    }
    Some(Expr::literal(Value::Time(parsed.value), ColumnType::new(TypeKind::Time { fsp: 6 })))
}

fn bytes_value(bytes: &[u8]) -> Value<'static> {
    Value::Bytes(Cow::Owned(bytes.to_vec()))
}

/// The number of fraction digits of a date with a time, at most 6.
fn moment_fraction(text: &[u8]) -> u8 {
    // The fraction follows the parts of date and time, which may be written without separators.
    let parts = match digit_groups(text).next().map_or(0, <[u8]>::len) {
        0..8 => 6,
        8 => 2,
        _ => 1,
    };
    // After a sign instead of a point comes the time zone offset.
    let end = text.iter().skip(10).position(|byte| matches!(byte, b'+' | b'-')).map_or(text.len(), |sign| sign + 10);
    digit_groups(&text[..end]).nth(parts).map_or(0, |digits| digits.len().min(6) as u8)
}

/// The number of fraction digits of a time, at most 6.
fn fraction(text: &[u8]) -> u8 {
    let digits =
        text.iter().position(|&b| b == b'.').map_or(0, |dot| text[dot + 1..].iter().take_while(|b| b.is_ascii_digit()).count());
    digits.min(6) as u8
}

pub(super) fn integer(value: u64) -> Expr {
    // The width: its digits and a sign.
    let width = value.checked_ilog10().unwrap_or(0) as u8 + 2;
    let ty = ColumnType { display_width: Some(width), ..typing::bigint(value > i64::MAX as u64) };
    match i64::try_from(value) {
        Ok(value) => Expr::literal(Value::Int(value), ty),
        Err(_) => Expr::literal(Value::UInt(value), ty),
    }
}

fn decimal(digits: &str) -> Expr {
    // A literal of too many digits is the largest value of a column.
    let value = Decimal::parse(digits.as_bytes()).value;
    // Leading zeros do not count as digits, but all digits of the scale do.
    let scale = u32::from(value.scale());
    let precision = (value.integer_digits() + scale).max(1);
    Expr::literal(Value::Decimal(value), typing::decimal(precision, scale))
}

fn double(digits: &str) -> Result<Expr> {
    let value: f64 = digits.parse().unwrap_or(f64::INFINITY);
    if !value.is_finite() {
        return Err(Error::IllegalNumber { kind: "double", value: digits.to_owned() });
    }
    Ok(Expr::literal(Value::Double(value), typing::double()))
}
