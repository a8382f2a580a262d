//! STR_TO_DATE: DATE_FORMAT the other way round.

use super::date_format::{DAY_NAMES, MONTH_NAMES};
use super::rules::{Typed, Typing};
use crate::class::{Class, class};
use crate::coerce;
use crate::error::Error;
use crate::eval::{Env, Evaluated};
use crate::tree::{Expr, ExprKind};
use types::temporal::{self, days_in_month};
use types::{CollationId, ColumnType, Date, DateTime, Time, TypeKind, Value};

/// What has been read so far.
#[derive(Default)]
struct Found {
    year: u16,
    month: u8,
    day: u8,
    hour: u8,
    minute: u8,
    second: u8,
    micros: u32,
    afternoon: Option<bool>,
    day_of_year: Option<u16>,
    week: Option<Week>,
    /// The year of %X (`true`) or %x.
    week_year: Option<(u16, bool)>,
    /// 1 is Monday, 7 Sunday.
    weekday: Option<u8>,
    has_date: bool,
    has_time: bool,
}

/// The number of a week.
struct Week {
    number: u8,
    /// %U and %V: weeks begin on Sundays. Else they begin on Mondays, as ISO 8601 has it.
    sundays: bool,
    /// %V and %v: of the year of %X or %x. Else of that of %Y.
    has_own_year: bool,
}

pub(super) fn str_to_date<'a>(env: &Env<'a>, node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(text), Some(format)) = (env.text(&args[0])?, env.text(&args[1])?) else { return Ok(Value::Null) };
    let wrong = || -> Evaluated<'a> {
        let value = String::from_utf8_lossy(&text).into_owned();
        env.problem(Error::WrongValueForFunction { what: "datetime", value, function: "str_to_date" })?;
        Ok(Value::Null)
    };
    let Some(found) = parse(&text, &format) else { return wrong() };
    let is_time = class(&node.ty) == Class::Time;
    let Some(d) = assemble(&found, is_time, env) else { return wrong() };
    Ok(match class(&node.ty) {
        Class::Date => Value::Date(d.date),
        Class::Time => {
            let day = i64::from(d.date.day) * temporal::MICROS_PER_DAY;
            Value::Time(Time { micros: d.time().micros + day })
        }
        Class::String if !found.has_time => Value::Bytes(coerce::plain_text(&Value::Date(d.date)).into_bytes().into()),
        Class::String if !found.has_date => Value::Bytes(coerce::time_text(&d.time(), fsp(&d)).into_bytes().into()),
        Class::String => Value::Bytes(coerce::datetime_text(&d, fsp(&d)).into_bytes().into()),
        _ => Value::DateTime(d),
    })
}

fn fsp(d: &DateTime) -> u8 {
    if d.micros == 0 { 0 } else { 6 }
}

fn assemble(found: &Found, is_time: bool, env: &Env<'_>) -> Option<DateTime> {
    let mut hour = found.hour;
    if let Some(afternoon) = found.afternoon {
        if !(1..=12).contains(&hour) {
            return None;
        }
        hour = hour % 12 + if afternoon { 12 } else { 0 };
    }
    if hour > 23 || found.minute > 59 || found.second > 59 || found.month > 12 || found.day > 31 {
        return None;
    }
    let mut date = Date { year: found.year, month: found.month, day: found.day };
    if let Some(n) = found.day_of_year {
        let first = Date { year: date.year, month: 1, day: 1 }.day_number()?;
        date = Date::from_day_number(first + i64::from(n) - 1)?;
    }
    if let (Some(week), Some(weekday)) = (&found.week, found.weekday) {
        date = day_of_week(found, week, weekday)?;
    }
    let mode = &env.session().sql_mode;
    if found.has_date || !(found.has_time || is_time) {
        let zero_parts = date.has_zero_part();
        if zero_parts && (mode.no_zero_in_date || mode.no_zero_date) {
            return None;
        }
        if !zero_parts && date.day > days_in_month(date.year, date.month) && !mode.allow_invalid_dates {
            return None;
        }
    }
    let time = Time::from_parts(false, hour.into(), found.minute.into(), found.second.into(), found.micros);
    Some(DateTime::from_date_and_micros(date, time.micros.min(temporal::MICROS_PER_DAY - 1)))
}

/// The date of a day of a week.
fn day_of_week(found: &Found, week: &Week, weekday: u8) -> Option<Date> {
    let year = match (week.has_own_year, found.week_year) {
        (true, Some((year, sundays))) if sundays == week.sundays => year,
        (false, None) => found.year,
        _ => return None,
    };
    let first = Date { year, month: 1, day: 1 }.day_number()?;
    // How far the first of January is into its week.
    let into = (first + if week.sundays { 6 } else { 5 }) % 7;
    let (whole, day) = if week.sundays { (into == 0, i64::from(weekday % 7)) } else { (into <= 3, i64::from(weekday) - 1) };
    let first_week = first - into + if whole { 0 } else { 7 };
    Date::from_day_number(first_week + (i64::from(week.number) - 1) * 7 + day)
}

fn parse(mut text: &[u8], mut format: &[u8]) -> Option<Found> {
    let mut found = Found::default();
    while let [first, rest @ ..] = format {
        format = rest;
        text = text.trim_ascii_start();
        // A text may end before its format: the parts that are missing stay zero.
        if text.is_empty() {
            break;
        }
        if first.is_ascii_whitespace() {
            continue;
        }
        if *first != b'%' {
            text = text.strip_prefix(std::slice::from_ref(first))?;
            continue;
        }
        let [letter, rest @ ..] = format else { return None };
        format = rest;
        text = parse_part(&mut found, *letter, text)?;
    }
    // MySQL ignores text after the format, with a warning.
    Some(found)
}

fn number(text: &[u8], digits_max: usize) -> Option<(u32, &[u8])> {
    let digits = text.iter().take(digits_max).take_while(|b| b.is_ascii_digit()).count();
    if digits == 0 {
        return None;
    }
    let n = text[..digits].iter().fold(0, |n, b| n * 10 + u32::from(b - b'0'));
    Some((n, &text[digits..]))
}

fn skip(text: &[u8], class: impl Fn(&u8) -> bool) -> &[u8] {
    &text[text.iter().take_while(|byte| class(byte)).count()..]
}

/// The place of a name: the letters that the text begins with are the name, or the beginning of no other; case does not matter.
fn name<'t>(text: &'t [u8], names: &[&str], length: Option<usize>) -> Option<(usize, &'t [u8])> {
    let rest = skip(text, u8::is_ascii_alphabetic);
    let word = &text[..text.len() - rest.len()];
    if word.is_empty() {
        return None;
    }
    let cut = |name: &&str| length.unwrap_or(name.len());
    let begins = |name: &&str| name.as_bytes()[..cut(name)].get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    let mut found = names.iter().enumerate().filter(|(_, name)| begins(name));
    let (first, whole) = found.next()?;
    (cut(whole) == word.len() || found.next().is_none()).then_some((first, rest))
}

fn parse_part<'t>(found: &mut Found, letter: u8, text: &'t [u8]) -> Option<&'t [u8]> {
    match letter {
        b'Y' | b'y' => {
            let (n, rest) = number(text, if letter == b'Y' { 4 } else { 2 })?;
            let short = text.len() - rest.len() <= 2;
            found.year = if short { super::date::full_year(n as u16) } else { n as u16 };
            found.has_date = true;
            Some(rest)
        }
        b'm' | b'c' => {
            let (n, rest) = number(text, 2)?;
            found.month = n as u8;
            found.has_date = true;
            Some(rest)
        }
        b'M' | b'b' => {
            let (n, rest) = name(text, &MONTH_NAMES, (letter == b'b').then_some(3))?;
            found.month = n as u8 + 1;
            found.has_date = true;
            Some(rest)
        }
        b'd' | b'e' | b'D' => {
            let (n, rest) = number(text, 2)?;
            found.day = n as u8;
            found.has_date = true;
            // `4th`: the two letters are skipped.
            Some(if letter == b'D' { rest.get(2..).unwrap_or(&[]) } else { rest })
        }
        b'j' => {
            let (n, rest) = number(text, 3)?;
            found.day_of_year = (1..=366).contains(&n).then_some(n as u16);
            found.day_of_year?;
            found.has_date = true;
            Some(rest)
        }
        b'W' | b'a' => {
            let (n, rest) = name(text, &DAY_NAMES, (letter == b'a').then_some(3))?;
            found.weekday = Some(n as u8 + 1);
            found.has_date = true;
            Some(rest)
        }
        b'w' => {
            let (n, rest) = number(text, 1)?;
            found.weekday = match n {
                0 => Some(7),
                1..=6 => Some(n as u8),
                _ => return None,
            };
            found.has_date = true;
            Some(rest)
        }
        b'U' | b'u' | b'V' | b'v' => {
            let (n, rest) = number(text, 2)?;
            let has_own_year = matches!(letter, b'V' | b'v');
            if n > 53 || has_own_year && n == 0 {
                return None;
            }
            found.week = Some(Week { number: n as u8, sundays: letter.is_ascii_uppercase(), has_own_year });
            found.has_date = true;
            Some(rest)
        }
        b'X' | b'x' => {
            let (n, rest) = number(text, 4)?;
            found.week_year = Some((n as u16, letter == b'X'));
            found.has_date = true;
            Some(rest)
        }
        // Signs, letters or digits, as many as there are.
        b'.' => Some(skip(text, u8::is_ascii_punctuation)),
        b'@' => Some(skip(text, u8::is_ascii_alphabetic)),
        b'#' => Some(skip(text, u8::is_ascii_digit)),
        b'H' | b'k' | b'h' | b'I' | b'l' => {
            let (n, rest) = number(text, 2)?;
            found.hour = n as u8;
            found.has_time = true;
            if matches!(letter, b'h' | b'I' | b'l') && found.afternoon.is_none() {
                found.afternoon = Some(false);
            }
            Some(rest)
        }
        b'i' => {
            let (n, rest) = number(text, 2)?;
            found.minute = n as u8;
            found.has_time = true;
            Some(rest)
        }
        b's' | b'S' => {
            let (n, rest) = number(text, 2)?;
            found.second = n as u8;
            found.has_time = true;
            Some(rest)
        }
        b'f' => {
            let (n, rest) = number(text, 6)?;
            let digits = text.len() - rest.len();
            found.micros = n * 10u32.pow(6 - digits as u32);
            found.has_time = true;
            Some(rest)
        }
        b'p' => {
            // Only behind an hour of twelve.
            found.afternoon?;
            let (half, rest) = text.split_at_checked(2)?;
            found.afternoon = Some(match half.to_ascii_uppercase().as_slice() {
                b"AM" => false,
                b"PM" => true,
                _ => return None,
            });
            Some(rest)
        }
        b'T' => parse_parts(found, b"H:i:s", text),
        b'r' => parse_parts(found, b"I:i:s p", text),
        b'%' => text.strip_prefix(b"%"),
        _ => None,
    }
}

/// `%T` and `%r`: letters are parts, the rest stands for itself.
fn parse_parts<'t>(found: &mut Found, parts: &[u8], mut text: &'t [u8]) -> Option<&'t [u8]> {
    for part in parts {
        text = match part {
            b' ' => text.trim_ascii_start(),
            b':' => text.strip_prefix(b":")?,
            letter => parse_part(found, *letter, text)?,
        };
    }
    Some(text)
}

/// The type of STR_TO_DATE, by a constant format.
pub(super) fn result_type(_: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    let ExprKind::Literal(Value::Bytes(format)) = &args[1].kind else {
        return Ok(ColumnType::new(TypeKind::DateTime { fsp: 6 }));
    };
    let specifiers: Vec<u8> = format.windows(2).filter(|w| w[0] == b'%').map(|w| w[1]).collect();
    let has = |set: &[u8]| specifiers.iter().any(|s| set.contains(s));
    // A format with a day and a time but no year or month gives a TIME: the day counts as 24 hours.
    let date = has(b"abcjmMuUvVwWxXyY");
    let time = has(b"fHhIiklprsST");
    let fsp = if has(b"f") { 6 } else { 0 };
    Ok(ColumnType::new(match (date, time) {
        (false, true) => TypeKind::Time { fsp },
        (true, true) => TypeKind::DateTime { fsp },
        _ => TypeKind::Date,
    }))
}
