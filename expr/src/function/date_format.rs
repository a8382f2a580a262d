//! DATE_FORMAT and TIME_FORMAT: `%` and a letter stand for a part of the date, everything else for itself.

use super::time_names::TimeNames;
use crate::coerce;
use crate::eval::{Env, Evaluated};
use crate::tree::Expr;
use std::borrow::Cow;
use std::io::Write;
use types::json::Json;
use types::temporal::{self, WeekMode};
use types::{Date, DateTime, Time, Value};

/// What STR_TO_DATE reads, in whatever language DATE_FORMAT writes.
pub(super) const DAY_NAMES: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
pub(super) const MONTH_NAMES: [&str; 12] =
    ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];

pub(super) fn date_format<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(d), Some(format)) = (env.loose_datetime(&args[0])?, env.text(&args[1])?) else { return Ok(Value::Null) };
    Ok(format_datetime(env, &d, &format))
}

pub(super) fn time_format<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let value = clock_value(env, &args[0])?;
    let Some(format) = env.text(&args[1])? else { return Ok(Value::Null) };
    if value.is_null() {
        return Ok(Value::Null);
    }
    let time = match time_of_date_text(&value) {
        Some(time) => Some(time),
        None if is_date_number(&value) => env.as_datetime(&value)?.map(|d| d.time()),
        None => env.as_time(&value)?,
    };
    let Some(time) = time else { return Ok(Value::Null) };
    Ok(format_parts(&Parts { date: Date::default(), time, is_time: true, names: env.session().time_names }, &format))
}

/// What TIME_FORMAT shows: of documents numbers alone.
fn clock_value<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let (value, chosen) = env.operand(arg)?;
    if !coerce::is_document(&chosen.ty) {
        return env.moment(arg);
    }
    if value.is_null() {
        return Ok(Value::Null);
    }
    Ok(match super::document_of(&value, &chosen.ty) {
        number @ (Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_)) => number.into_value(),
        _ => Value::Null,
    })
}

/// The time of day of a text that is not a time but reads as a date, even if the date does not exist.
fn time_of_date_text(value: &Value<'_>) -> Option<Time> {
    let Value::Bytes(text) = value else { return None };
    let time = temporal::parse_time(text);
    let is_none = time.truncated || time.out_of_range;
    temporal::parse_datetime(text).filter(|_| is_none).map(|read| read.value.time())
}

/// Is it a number too large for a time, with the eight digits of a date?
fn is_date_number(value: &Value<'_>) -> bool {
    let n = match value {
        Value::Int(n) => *n as f64,
        // Beyond the signed range a number counts backwards.
        Value::UInt(n) => i64::try_from(*n).map_or(-1.0, |n| n as f64),
        Value::Double(x) => *x,
        Value::Decimal(d) => d.to_f64(),
        _ => return false,
    };
    n >= 10_000_101.0
}

/// Formats a moment; NULL if the format needs a part that the date does not have (the weekday of a zero date).
pub(super) fn format_datetime<'a>(env: &Env<'a>, d: &DateTime, format: &[u8]) -> Value<'a> {
    format_parts(&Parts { date: d.date, time: d.time(), is_time: false, names: env.session().time_names }, format)
}

struct Parts {
    date: Date,
    time: Time,
    is_time: bool,
    names: &'static TimeNames,
}

fn format_parts<'a>(parts: &Parts, format: &[u8]) -> Value<'a> {
    if format.is_empty() {
        return Value::Null;
    }
    let mut out = Vec::with_capacity(format.len() + 16);
    if parts.is_time && parts.time.is_negative() {
        out.push(b'-');
    }
    let mut rest = format;
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'%', [letter, after @ ..]) => {
                rest = after;
                if write_part(parts, *letter, &mut out).is_none() {
                    return Value::Null;
                }
            }
            _ => out.push(*first),
        }
    }
    Value::Bytes(Cow::Owned(out))
}

fn week(date: Date, mode: u64) -> Option<(u8, u16)> {
    temporal::week_and_year(date, WeekMode::from_number(mode))
}

/// Appends one part; `None` makes the whole result NULL.
fn write_part(parts: &Parts, letter: u8, out: &mut Vec<u8>) -> Option<()> {
    let Parts { date, time, names, .. } = parts;
    let (hour, minute, second) = (time.hours(), time.minute(), time.second());
    let hour12 = (hour % 24 + 11) % 12 + 1;
    let half = if hour % 24 < 12 { "AM" } else { "PM" };
    let weekday = || date.day_number().map(|n| usize::from(temporal::weekday(n)));
    let month = || Some(usize::from(date.month).checked_sub(1)?).filter(|month| *month < 12);
    // Writing to a vector does not fail.
    let _ = match letter {
        b'a' => write!(out, "{}", names.short_days[weekday()?]),
        b'W' => write!(out, "{}", names.days[weekday()?]),
        b'w' => write!(out, "{}", (weekday()? + 1) % 7),
        b'b' => write!(out, "{}", names.short_months[month()?]),
        b'M' => write!(out, "{}", names.months[month()?]),
        b'c' => write!(out, "{}", date.month),
        b'm' => write!(out, "{:02}", date.month),
        b'd' => write!(out, "{:02}", date.day),
        b'e' => write!(out, "{}", date.day),
        b'D' => write!(out, "{}{}", date.day, ordinal_suffix(date.day)),
        b'Y' => write!(out, "{:04}", date.year),
        b'y' => write!(out, "{:02}", date.year % 100),
        b'j' => write!(out, "{:03}", temporal::day_of_year(*date)?),
        b'U' => write!(out, "{:02}", week(*date, 0)?.0),
        b'u' => write!(out, "{:02}", week(*date, 1)?.0),
        b'V' => write!(out, "{:02}", week(*date, 2)?.0),
        b'v' => write!(out, "{:02}", week(*date, 3)?.0),
        b'X' => write!(out, "{:04}", week(*date, 2)?.1),
        b'x' => write!(out, "{:04}", week(*date, 3)?.1),
        b'H' => write!(out, "{hour:02}"),
        b'k' => write!(out, "{hour}"),
        b'h' | b'I' => write!(out, "{hour12:02}"),
        b'l' => write!(out, "{hour12}"),
        b'i' => write!(out, "{minute:02}"),
        b's' | b'S' => write!(out, "{second:02}"),
        b'f' => write!(out, "{:06}", time.microsecond()),
        b'p' => write!(out, "{half}"),
        b'r' => write!(out, "{hour12:02}:{minute:02}:{second:02} {half}"),
        b'T' => write!(out, "{hour:02}:{minute:02}:{second:02}"),
        other => {
            out.push(other);
            Ok(())
        }
    };
    Some(())
}

fn ordinal_suffix(day: u8) -> &'static str {
    match (day % 10, day / 10) {
        (_, 1) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_date() {
        let date = Date { year: 2009, month: 10, day: 4 };
        let parts = Parts { date, time: Time::from_parts(false, 22, 23, 0, 0), is_time: false, names: TimeNames::of(0) };
        let check = |format: &str, expected: &str| {
            assert_eq!(format_parts(&parts, format.as_bytes()), Value::Bytes(Cow::Borrowed(expected.as_bytes())), "{format}");
        };
        // The manual's examples.
        check("%W %M %Y", "Sunday October 2009");
        check("%H:%i:%s", "22:23:00");
        check("%D %y %a %d %m %b %j", "4th 09 Sun 04 10 Oct 277");
        check("%H %k %I %r %T %S %w", "22 22 10 10:23:00 PM 22:23:00 00 0");
        check("%X %V", "2009 40");
        check("100%", "100%");
        check("%%%q", "%q");
    }
}
