//! Conversion to DATE, TIME, DATETIME and TIMESTAMP.

use super::number::{NumberedDate, datetime_of_number, split_micros};
use super::{Problem, StoreContext, Warnings, message_text, printable, to_f64};
use crate::temporal::{
    DateFault, MICROS_PER_SECOND, Moment, TIMESTAMP_SECONDS_MAX, TIMESTAMP_SECONDS_MIN, TimeText, parse_datetime, parse_time,
    time_from_number,
};
use crate::{ColumnType, Date, DateTime, Decimal, Time, TypeKind, Value};

/// A date and time as read, before rules and rounding.
#[derive(Clone, Copy)]
struct Read {
    value: DateTime,
    round_up: bool,
    truncated: bool,
}

impl Read {
    fn exact(value: DateTime) -> Self {
        Self { value, round_up: false, truncated: false }
    }
}

pub(super) fn store_temporal(
    value: &Value<'_>,
    from: &ColumnType,
    to: &ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'static>, Problem> {
    match to.kind {
        TypeKind::Time { fsp } => Ok(Value::Time(store_time(value, from, fsp, context, warnings)?)),
        TypeKind::Date => Ok(Value::Date(store_date(value, from, context, warnings)?)),
        TypeKind::Timestamp { fsp } => {
            let civil = store_datetime(value, from, fsp, context, warnings)?;
            Ok(Value::DateTime(to_timestamp(civil, value, from, context, warnings)?))
        }
        TypeKind::DateTime { fsp } => Ok(Value::DateTime(store_datetime(value, from, fsp, context, warnings)?)),
        _ => Ok(Value::Null),
    }
}

fn incorrect(what: &'static str, value: &Value<'_>, from: &ColumnType) -> Problem {
    Problem::IncorrectTemporal { what, text: message_text(value, from) }
}

/// `None`: no date at all.
fn read_datetime(value: &Value<'_>, context: &StoreContext<'_>) -> Option<Read> {
    match value {
        Value::Bytes(text) => {
            let parsed = parse_datetime(text)?;
            let mut value = parsed.value;
            if let Some(offset) = parsed.offset {
                let utc = value.to_utc_micros()? - i64::from(offset) * MICROS_PER_SECOND;
                value = context.zone.to_civil(utc)?;
            }
            Some(Read { value, round_up: parsed.round_up, truncated: parsed.truncated })
        }
        Value::Date(date) => Some(Read::exact(date.at_midnight())),
        Value::DateTime(value) => Some(Read::exact(*value)),
        Value::Time(time) => {
            let today = context.zone.to_civil(context.now_utc_micros)?.date.at_midnight().to_utc_micros()?;
            Some(Read::exact(DateTime::from_utc_micros(today + time.micros)?))
        }
        Value::Null => None,
        number => read_number(number),
    }
}

fn read_number(number: &Value<'_>) -> Option<Read> {
    if let Some(zero) = zero_date_with_fraction(number) {
        return Some(Read::exact(zero));
    }
    let NumberedDate { value, fraction, is_date } = datetime_of_number(number)?;
    if is_date {
        // A date has no fraction.
        return Some(Read { truncated: !fraction.is_zero(), ..Read::exact(value) });
    }
    Some(Read { round_up: fraction.round_up, ..Read::exact(DateTime { micros: fraction.whole, ..value }) })
}

/// The date and time that a number is, `20240131` or `20240131235959.5`; `None` if it is none.
pub fn number_as_datetime(number: &Value<'_>) -> Option<DateTime> {
    rounded(read_number(number)?, 6, false)
}

/// A number between zero and one is the zero date with a fraction of a second.
pub fn zero_date_with_fraction(number: &Value<'_>) -> Option<DateTime> {
    if !matches!(number, Value::Decimal(_) | Value::Double(_)) {
        return None;
    }
    let NumberedDate { value, fraction, .. } = datetime_of_number(number)?;
    let micros = fraction.rounded();
    let is_fraction = value == DateTime::ZERO && micros != 0 && micros < MICROS_PER_SECOND as u32;
    is_fraction.then_some(DateTime { micros, ..value })
}

impl DateTime {
    fn add_micros(self, micros: i64) -> Option<Self> {
        Self::from_utc_micros(self.to_utc_micros()?.checked_add(micros)?)
    }
}

/// Reads and checks a datetime; `Ok(None)` if the lax mode stores zero.
fn checked_datetime(
    what: &'static str,
    value: &Value<'_>,
    from: &ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Option<Read>, Problem> {
    let Some(read) = read_datetime(value, context) else {
        let is_range = match value {
            Value::Bytes(text) => parse_datetime(text).is_some(),
            // More digits than a date and a time have, or below zero.
            Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_) => {
                !(0.0..1e14).contains(&to_f64(value, &mut Warnings::new()))
            }
            _ => false,
        };
        let lax = if is_range { Problem::OutOfRange } else { Problem::Truncated };
        context.raise_as(|| incorrect(what, value, from), lax, warnings)?;
        return Ok(None);
    };
    if let Err(DateFault::Zero | DateFault::Range) = read.value.date.check(context.dates) {
        let is_number = matches!(value, Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_));
        let lax = if is_number { Problem::Truncated } else { Problem::OutOfRange };
        context.raise_as(|| incorrect(what, value, from), lax, warnings)?;
        return Ok(None);
    }
    if read.truncated {
        context.raise_as(|| incorrect(what, value, from), Problem::Truncated, warnings)?;
    }
    Ok(Some(read))
}

fn store_date(
    value: &Value<'_>,
    from: &ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Date, Problem> {
    let Some(read) = checked_datetime("date", value, from, context, warnings)? else { return Ok(Date::ZERO) };
    let Some(rounded) = rounded_or_zero("date", read, 0, (value, from), context, warnings)? else { return Ok(Date::ZERO) };
    if rounded.time_micros() != 0 && !read.truncated {
        warnings.note(if context.strict { incorrect("date", value, from) } else { Problem::Truncated });
    }
    Ok(rounded.date)
}

fn store_datetime(
    value: &Value<'_>,
    from: &ColumnType,
    fsp: u8,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<DateTime, Problem> {
    let Some(read) = checked_datetime("datetime", value, from, context, warnings)? else { return Ok(DateTime::ZERO) };
    Ok(rounded_or_zero("datetime", read, fsp, (value, from), context, warnings)?.unwrap_or(DateTime::ZERO))
}

/// `Ok(None)` if the value cannot be rounded up, and the lax mode stores zero.
fn rounded_or_zero(
    what: &'static str,
    read: Read,
    fsp: u8,
    (value, from): (&Value<'_>, &ColumnType),
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Option<DateTime>, Problem> {
    let rounded = rounded(read, fsp, context.truncate_fractional);
    if rounded.is_none() {
        if read.value.to_utc_micros().is_some() {
            context.raise(Problem::TemporalOverflow { what: "datetime" }, warnings)?;
            warnings.warn(Problem::OutOfRange);
        } else {
            context.raise_as(|| incorrect(what, value, from), Problem::OutOfRange, warnings)?;
        }
    }
    Ok(rounded)
}

/// `None` if it would be rounded up out of the calendar, or if the date has zero parts.
fn rounded(read: Read, fsp: u8, truncate: bool) -> Option<DateTime> {
    let value = if read.round_up && !truncate { read.value.add_micros(1)? } else { read.value };
    value.to_fsp(fsp, truncate)
}

fn to_timestamp(
    civil: DateTime,
    value: &Value<'_>,
    from: &ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<DateTime, Problem> {
    if civil.is_zero() {
        return Ok(civil);
    }
    let utc = match context.zone.to_utc(civil) {
        Moment::At(micros) => Some(micros),
        Moment::Gap(micros) => {
            context.raise_as(|| incorrect("datetime", value, from), Problem::TimestampGap, warnings)?;
            Some(micros)
        }
        Moment::NoDate => None,
    };
    let in_range = |micros: &i64| (TIMESTAMP_SECONDS_MIN..=TIMESTAMP_SECONDS_MAX).contains(&micros.div_euclid(MICROS_PER_SECOND));
    match utc.filter(in_range).and_then(DateTime::from_utc_micros) {
        Some(utc) => Ok(utc),
        None => {
            context.raise_as(|| incorrect("datetime", value, from), Problem::OutOfRange, warnings)?;
            Ok(DateTime::ZERO)
        }
    }
}

fn read_time(value: &Value<'_>) -> TimeText {
    let plain = |value| TimeText { value, round_up: false, truncated: false, out_of_range: false, had_date: false };
    match value {
        Value::Null => plain(Time::default()),
        Value::Bytes(text) => parse_time(text),
        Value::Date(_) => plain(Time::default()),
        Value::DateTime(value) => plain(value.time()),
        Value::Time(time) => TimeText { out_of_range: !time.in_range(), ..plain(*time) },
        Value::Int(number) => time_from_number(*number),
        Value::UInt(number) => time_from_number(i64::try_from(*number).unwrap_or(i64::MAX)),
        Value::Double(number) => Decimal::from_f64(*number).map_or(time_from_number(i64::MAX), |d| time_of_decimal(&d)),
        Value::Decimal(number) => time_of_decimal(number),
    }
}

fn time_of_decimal(number: &Decimal) -> TimeText {
    let negative = number.is_negative();
    let limit = if negative { i64::MIN } else { i64::MAX };
    let Some((whole, micros)) = split_micros(number) else { return time_from_number(limit) };
    let whole = i64::try_from(whole).map_or(limit, |whole| if negative { -whole } else { whole });
    let mut read = time_from_number(whole);
    if !read.out_of_range {
        let whole = i64::from(micros.whole);
        read.value.micros += if negative { -whole } else { whole };
        read.round_up = micros.round_up;
    }
    read
}

fn store_time(
    value: &Value<'_>,
    from: &ColumnType,
    fsp: u8,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Time, Problem> {
    let read = read_time(value);
    let time = rounded_time(&read, fsp, context.truncate_fractional);
    if read.out_of_range || !time.in_range() {
        context.raise_as(|| incorrect("time", value, from), Problem::OutOfRange, warnings)?;
        return Ok(Time { micros: time.micros.clamp(Time::MIN.micros, Time::MAX.micros) });
    }
    if read.truncated {
        context.raise_as(|| incorrect("time", value, from), Problem::Truncated, warnings)?;
    } else if read.had_date {
        warnings.note(if context.strict { incorrect("time", value, from) } else { Problem::Truncated });
    }
    Ok(time)
}

fn rounded_time(read: &TimeText, fsp: u8, truncate: bool) -> Time {
    let mut time = read.value;
    if read.round_up && !truncate {
        time.micros += if time.is_negative() { -1 } else { 1 };
    }
    time.to_fsp(fsp, truncate)
}

// Expressions.

/// The value as a DATETIME with six fraction digits; `None` with a warning if it is not a datetime.
pub fn to_datetime(
    value: &Value<'_>,
    from: &ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Option<DateTime> {
    if value.is_null() {
        return None;
    }
    let read = read_datetime(value, context).filter(|read| read.value.date.check(context.dates).is_ok());
    let Some(read) = read else {
        warnings.warn(incorrect("datetime", value, from));
        return None;
    };
    if read.truncated {
        warnings.warn(Problem::TruncatedIncorrect { what: "datetime", text: message_text(value, from) });
    }
    rounded(read, 6, context.truncate_fractional)
}

/// The value as a DATE without its time of day; `None` with a warning if it is not a date.
pub fn to_date(value: &Value<'_>, from: &ColumnType, context: &StoreContext<'_>, warnings: &mut Warnings) -> Option<Date> {
    if value.is_null() {
        return None;
    }
    let read = read_datetime(value, context).filter(|read| read.value.date.check(context.dates).is_ok());
    let problem = || match value {
        Value::Bytes(text) => Problem::TruncatedIncorrect { what: "date", text: printable(text) },
        value => incorrect("datetime", value, from),
    };
    let Some(read) = read else {
        warnings.warn(problem());
        return None;
    };
    if read.truncated {
        warnings.warn(problem());
    }
    Some(read.value.date)
}

/// The value as a TIME with six fraction digits; `None` with a warning if it is not a time.
pub fn to_time(value: &Value<'_>, from: &ColumnType, context: &StoreContext<'_>, warnings: &mut Warnings) -> Option<Time> {
    if value.is_null() {
        return None;
    }
    let read = read_time(value);
    let is_none = match value {
        Value::Bytes(text) => read.truncated && !starts_like_time(text),
        _ => false,
    };
    let parts_wrong = read.out_of_range && read.value == Time::default();
    if read.truncated || read.out_of_range {
        warnings.warn(Problem::TruncatedIncorrect { what: "time", text: message_text(value, from) });
    }
    (!is_none && !parts_wrong).then(|| rounded_time(&read, 6, context.truncate_fractional))
}

fn starts_like_time(text: &[u8]) -> bool {
    let text = text.trim_ascii_start();
    let text = text.strip_prefix(b"-").unwrap_or(text);
    text.first().is_some_and(|b| b.is_ascii_digit() || matches!(b, b':' | b'.'))
}
