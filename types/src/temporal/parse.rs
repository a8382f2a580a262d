//! Dates and times from texts and numbers, in the many forms MySQL takes.
//!
//! Parsing only splits into parts and checks their ranges; whether the date exists is asked of [`Date::check`] with the session's rules.
//!
//! A DATETIME text is either numbers between punctuation (`2024-1-2 3:4:5.6`, any delimiters, `T` or spaces before the time) or one run of
//! digits (`20240102`, `240102030405`), then perhaps a fraction and an offset (`+02:00`). Two-digit years are 1970 to 2069.
//! A TIME text is `[-][days ]hours:minutes[:seconds][.fraction]`, or one run of digits HHMMSS; 12 characters or more may be a DATETIME.

use super::{MICROS_PER_SECOND, TIME_MICROS_MAX, days_in_month};
use crate::{Date, DateTime, Time};

/// Which dates are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DateRules {
    /// NO_ZERO_DATE: not `0000-00-00`.
    pub no_zero_date: bool,
    /// NO_ZERO_IN_DATE: not `2024-00-10`.
    pub no_zero_in_date: bool,
    /// ALLOW_INVALID_DATES: days up to 31 in any month.
    pub allow_invalid: bool,
}

/// Why a date is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateFault {
    /// Zero parts that the rules forbid.
    Zero,
    /// The day does not exist in the calendar.
    Range,
}

impl Date {
    pub fn check(&self, rules: DateRules) -> Result<(), DateFault> {
        if self.is_zero() {
            return if rules.no_zero_date { Err(DateFault::Zero) } else { Ok(()) };
        }
        if rules.no_zero_in_date && self.has_zero_part() {
            return Err(DateFault::Zero);
        }
        if self.year > 9999 || self.month > 12 || self.day > 31 {
            return Err(DateFault::Range);
        }
        if !rules.allow_invalid && self.month != 0 && self.day > days_in_month(self.year, self.month) {
            return Err(DateFault::Range);
        }
        Ok(())
    }
}

/// A DATETIME as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DateTimeText {
    pub value: DateTime,
    /// The seventh digit of the fraction rounds up.
    pub round_up: bool,
    /// Something follows that is not a part of it.
    pub truncated: bool,
    /// Seconds east of UTC, if the text has an offset.
    pub offset: Option<i32>,
}

/// A TIME as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeText {
    pub value: Time,
    pub round_up: bool,
    pub truncated: bool,
    /// Over 838:59:59 (`value` is cut to it), or minutes or seconds over 59 (`value` is zero).
    pub out_of_range: bool,
    /// It was a whole DATETIME, whose date is dropped.
    pub had_date: bool,
}

/// The result for a text that is not a time.
const NO_TIME: TimeText =
    TimeText { value: Time { micros: 0 }, round_up: false, truncated: true, out_of_range: true, had_date: false };

/// A larger number is not a part of a date, even of a wrong one.
const DATE_PART_MAX: u32 = 999_999;

impl TimeText {
    /// No time at all: minutes or seconds over 59, or a number with an exponent.
    pub fn is_none(&self) -> bool {
        self.out_of_range && self.value == Time::default()
    }
}

struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn peek_digit(&self) -> bool {
        self.peek().is_some_and(|b| b.is_ascii_digit())
    }

    fn skip_spaces(&mut self) {
        while self.peek().is_some_and(is_space) {
            self.at += 1;
        }
    }

    /// `e5`, `E-5`: with it a number is not a time.
    fn at_exponent(&self) -> bool {
        match &self.text[self.at..] {
            [b'e' | b'E', b'+' | b'-', digit, ..] | [b'e' | b'E', digit, ..] => digit.is_ascii_digit(),
            _ => false,
        }
    }

    fn left(&self) -> usize {
        self.text.len() - self.at
    }

    /// Up to `most` digits; their value (at most a million times too large) and count.
    fn number(&mut self, most: usize) -> (u32, usize) {
        let start = self.at;
        let mut value = 0u32;
        while self.peek_digit() && self.at - start < most {
            value = value.saturating_mul(10).saturating_add(u32::from(self.text[self.at] - b'0'));
            self.at += 1;
        }
        (value, self.at - start)
    }

    /// Digits of a fraction, all of them: microseconds, and whether the seventh digit rounds up.
    fn fraction(&mut self) -> (u32, bool) {
        let (value, digits) = self.number(6);
        let micros = value * 10u32.pow(6 - digits as u32);
        let round_up = self.peek_digit() && self.text[self.at] >= b'5';
        self.number(usize::MAX);
        (micros, round_up)
    }

    /// Is a date cut by position, being one run of digits? And how many digits are the year's?
    fn date_shape(&self) -> (bool, usize) {
        let first = &self.text[self.at..];
        let digits = first.iter().take_while(|b| b.is_ascii_digit()).count();
        let run = first.iter().take_while(|b| b.is_ascii_digit() || **b == b'T').count();
        let by_position = matches!(first.get(run), None | Some(b'.'));
        let year_digits = match run {
            _ if !by_position => digits,
            4 | 8 | 14.. => 4,
            _ => 2,
        };
        (by_position, year_digits)
    }

    /// `[+-]HH:MM` at the end, in seconds; `None`: it is out of range (over 14 hours).
    fn offset(&mut self) -> Option<Option<i32>> {
        let [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] = self.text[self.at..] else { return Some(None) };
        if ![h1, h2, m1, m2].iter().all(u8::is_ascii_digit) {
            return Some(None);
        }
        let number = |tens: u8, ones: u8| i32::from(tens - b'0') * 10 + i32::from(ones - b'0');
        let (minutes, seconds) = (number(m1, m2), number(h1, h2) * 3600 + number(m1, m2) * 60);
        let limit = if sign == b'-' { 13 * 3600 + 59 * 60 } else { 14 * 3600 };
        // There is no -00:00.
        if minutes > 59 || seconds > limit || (sign == b'-' && seconds == 0) {
            return None;
        }
        self.at = self.text.len();
        Some(Some(if sign == b'-' { -seconds } else { seconds }))
    }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// Reads a DATE or DATETIME text. `None`: it is none.
pub fn parse_datetime(text: &[u8]) -> Option<DateTimeText> {
    let mut cursor = Cursor { text, at: 0 };
    cursor.skip_spaces();
    if !cursor.peek_digit() {
        return None;
    }
    let (by_position, year_digits) = cursor.date_shape();
    parse_fields(cursor, by_position, year_digits)
}

fn parse_fields(mut cursor: Cursor<'_>, by_position: bool, year_digits: usize) -> Option<DateTimeText> {
    let mut parts = [0u32; 6];
    let mut fields = 0;
    let mut fraction = (0, false);
    for (i, part) in parts.iter_mut().enumerate() {
        if !cursor.peek_digit() {
            break;
        }
        let most = match (by_position, i) {
            (false, _) => usize::MAX,
            (true, 0) => year_digits,
            (true, _) => 2,
        };
        *part = cursor.number(most).0;
        fields += 1;
        if i == 5 {
            if cursor.peek() == Some(b'.') {
                cursor.at += 1;
                fraction = cursor.fraction();
            }
            break;
        }
        let before = cursor.at;
        if i == 2 && cursor.peek() == Some(b'T') {
            cursor.at += 1;
            continue;
        }
        while cursor.peek().is_some_and(|b| b.is_ascii_punctuation() || (i == 2 && is_space(b))) {
            cursor.at += 1;
        }
        if i != 2 && cursor.peek().is_some_and(is_space) {
            return None;
        }
        if (cursor.at == before && !by_position) || !cursor.peek_digit() {
            // The following character belongs to no field.
            cursor.at = before;
            break;
        }
    }
    finish(cursor, parts, fields, year_digits, fraction)
}

fn finish(
    mut cursor: Cursor<'_>,
    parts: [u32; 6],
    fields: usize,
    year_digits: usize,
    (micros, round_up): (u32, bool),
) -> Option<DateTimeText> {
    let [year, month, day, hour, minute, second] = parts;
    if fields < 3 || year > 9999 || month > 12 || day > 31 || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let all_zero = parts == [0; 6] && micros == 0;
    let year = match year_digits {
        2 if !all_zero => year + if year < 70 { 2000 } else { 1900 },
        _ => year,
    };
    let offset = if fields >= 4 { cursor.offset()? } else { None };
    cursor.skip_spaces();
    let value = DateTime {
        date: Date { year: year as u16, month: month as u8, day: day as u8 },
        hour: hour as u8,
        minute: minute as u8,
        second: second as u8,
        micros,
    };
    Some(DateTimeText { value, round_up, truncated: cursor.left() > 0, offset })
}

/// Reads a number as a date: `YYMMDD`, `YYYYMMDD`, `YYMMDDhhmmss`, `YYYYMMDDhhmmss`. `None`: it is none.
pub fn datetime_from_number(number: u64) -> Option<DateTime> {
    const DAY: u64 = 1_000_000;
    let number = match number {
        0 => 0,
        101..=691_231 => (number + 20_000_000) * DAY,
        700_101..=991_231 => (number + 19_000_000) * DAY,
        10_101..=99_991_231 if number >= 10_000_101 => number * DAY,
        101_000_000..=691_231_235_959 => number + 20_000_000_000_000,
        700_101_000_000..=991_231_235_959 => number + 19_000_000_000_000,
        10_000_101_000_000..=99_999_999_999_999 => number,
        _ => return None,
    };
    let (date, time) = (number / DAY, number % DAY);
    let value = DateTime {
        date: Date { year: (date / 10_000) as u16, month: (date / 100 % 100) as u8, day: (date % 100) as u8 },
        hour: (time / 10_000) as u8,
        minute: (time / 100 % 100) as u8,
        second: (time % 100) as u8,
        micros: 0,
    };
    let fine = value.date.month <= 12 && value.date.day <= 31 && value.hour < 24 && value.minute < 60 && value.second < 60;
    fine.then_some(value)
}

/// Parses a TIME text; a text that is not a time gives zero and `truncated`.
pub fn parse_time(text: &[u8]) -> TimeText {
    let mut cursor = Cursor { text, at: 0 };
    cursor.skip_spaces();
    if cursor.left() >= 12
        && let Some(whole) = whole_datetime(&text[cursor.at..])
    {
        return whole;
    }
    let negative = cursor.peek() == Some(b'-');
    cursor.at += usize::from(negative || cursor.peek() == Some(b'+'));
    let parts = time_parts(&mut cursor);
    let mut fraction = (0, false);
    if cursor.peek() == Some(b'.') {
        let next_is_digit = cursor.text.get(cursor.at + 1).is_some_and(u8::is_ascii_digit);
        if next_is_digit || cursor.left() == 1 {
            cursor.at += 1;
            fraction = cursor.fraction();
        }
    }
    if cursor.at_exponent() {
        return NO_TIME;
    }
    cursor.skip_spaces();
    let truncated = cursor.left() > 0;
    time_text(negative, parts, fraction, truncated)
}

/// Days, hours, minutes, seconds.
fn time_parts(cursor: &mut Cursor<'_>) -> [u64; 4] {
    let mut parts = [0u64; 4];
    let first = u64::from(cursor.number(usize::MAX).0);
    let end = cursor.at;
    cursor.skip_spaces();
    let next_is_digit = |cursor: &Cursor<'_>| cursor.text.get(cursor.at + 1).is_some_and(u8::is_ascii_digit);
    let (mut state, has_days) = if cursor.left() > 1 && cursor.at != end && cursor.peek_digit() {
        parts[0] = first;
        (1, true)
    } else if cursor.peek() == Some(b':') && next_is_digit(cursor) {
        parts[1] = first;
        cursor.at += 1;
        (2, false)
    } else {
        cursor.at = end;
        return [0, first / 10_000, first / 100 % 100, first % 100];
    };
    loop {
        parts[state] = u64::from(cursor.number(usize::MAX).0);
        state += 1;
        if state == 4 || cursor.peek() != Some(b':') || !next_is_digit(cursor) {
            break;
        }
        cursor.at += 1;
    }
    debug_assert!(has_days || state >= 3);
    parts
}

fn time_text(negative: bool, [days, hours, minutes, seconds]: [u64; 4], fraction: (u32, bool), truncated: bool) -> TimeText {
    let (micros, round_up) = fraction;
    let mut result = TimeText { value: Time::default(), round_up, truncated, out_of_range: false, had_date: false };
    if minutes > 59 || seconds > 59 {
        return TimeText { round_up: false, out_of_range: true, ..result };
    }
    let hours = days.saturating_mul(24).saturating_add(hours).min(100_000_000);
    let total = ((hours * 60 + minutes) * 60 + seconds) as i64 * MICROS_PER_SECOND + i64::from(micros);
    let mut cut = total.min(TIME_MICROS_MAX);
    if total > TIME_MICROS_MAX {
        result.out_of_range = true;
        result.round_up = false;
        cut = TIME_MICROS_MAX;
    }
    result.value = Time { micros: if negative { -cut } else { cut } };
    result
}

/// A text that is clearly a DATETIME: digits without delimiters, or with a space before the time. With delimiters and `T` it is none.
fn whole_datetime(text: &[u8]) -> Option<TimeText> {
    let date_end = text.iter().position(|b| !b.is_ascii_digit() && !b.is_ascii_punctuation());
    let has_delimiters = text.iter().any(|&b| b != b'.' && b.is_ascii_punctuation());
    if has_delimiters && !date_end.is_some_and(|at| is_space(text[at])) {
        return None;
    }
    let Some(parsed) = parse_datetime(text) else { return is_broken_datetime(text).then_some(NO_TIME) };
    if has_delimiters && parsed.value.time_micros() == 0 && !text.contains(&b':') {
        return None;
    }
    let value = parsed.value.time();
    let had_date = !parsed.value.date.is_zero();
    Some(TimeText { value, round_up: parsed.round_up, truncated: parsed.truncated, out_of_range: false, had_date })
}

/// Begins a text that is not a datetime as one, so that it is not a time either? Spaces stand behind the day, and behind other delimiters than
/// them there is one.
fn is_broken_datetime(text: &[u8]) -> bool {
    let mut cursor = Cursor { text, at: 0 };
    let (by_position, year_digits) = cursor.date_shape();
    let (mut delimiter, mut space) = (false, false);
    for place in 0..6 {
        let most = match (by_position, place) {
            (false, _) => usize::MAX,
            (true, 0) => year_digits,
            (true, _) => 2,
        };
        let (value, digits) = cursor.number(most);
        if value > DATE_PART_MAX || (place == 0 && digits == 0) {
            return false;
        }
        if digits == 0 || place == 5 {
            break;
        }
        if place == 2 && cursor.peek() == Some(b'T') {
            cursor.at += 1;
            continue;
        }
        while let Some(byte) = cursor.peek().filter(|b| b.is_ascii_punctuation() || is_space(*b)) {
            if is_space(byte) && place != 2 {
                return false;
            }
            space |= is_space(byte);
            delimiter = true;
            cursor.at += 1;
        }
    }
    space || !delimiter
}

/// Reads a number as a time: `[-]HHMMSS`, or a whole date with time. Out of range is cut to the largest time, parts over 59 too.
pub fn time_from_number(number: i64) -> TimeText {
    let magnitude = number.unsigned_abs();
    let mut result = TimeText { value: Time::default(), round_up: false, truncated: false, out_of_range: false, had_date: false };
    if magnitude > 8_385_959 {
        if magnitude >= 10_000_000_000
            && number > 0
            && let Some(value) = number_with_date(magnitude)
        {
            return TimeText { value, had_date: true, ..result };
        }
        result.out_of_range = true;
        result.value = if number < 0 { Time::MIN } else { Time::MAX };
        return result;
    }
    let parts = [0, magnitude / 10_000, magnitude / 100 % 100, magnitude % 100];
    time_text(number < 0, parts, (0, false), false)
}

fn number_with_date(number: u64) -> Option<Time> {
    datetime_from_number(number).map(|value| value.time())
}
