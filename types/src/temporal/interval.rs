//! INTERVAL: its units, its texts, and adding it to dates and times.

use super::{MICROS_PER_DAY, days_in_month};
use crate::{Date, DateTime, Time};
use serde::{Deserialize, Serialize};

/// The unit of `INTERVAL x unit`, `EXTRACT(unit FROM d)`, `TIMESTAMPDIFF(unit, a, b)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum IntervalUnit {
    Microsecond,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    SecondMicrosecond,
    MinuteMicrosecond,
    MinuteSecond,
    HourMicrosecond,
    HourSecond,
    HourMinute,
    DayMicrosecond,
    DaySecond,
    DayMinute,
    DayHour,
    YearMonth,
}

use IntervalUnit as Unit;

impl IntervalUnit {
    /// The keyword, with an optional `SQL_TSI_` before it, in any case.
    pub fn parse(name: &str) -> Option<Self> {
        let upper = name.to_ascii_uppercase();
        let upper = upper.strip_prefix("SQL_TSI_").unwrap_or(&upper);
        ALL.iter().find(|unit| unit.name() == upper).copied()
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Microsecond => "MICROSECOND",
            Self::Second => "SECOND",
            Self::Minute => "MINUTE",
            Self::Hour => "HOUR",
            Self::Day => "DAY",
            Self::Week => "WEEK",
            Self::Month => "MONTH",
            Self::Quarter => "QUARTER",
            Self::Year => "YEAR",
            Self::SecondMicrosecond => "SECOND_MICROSECOND",
            Self::MinuteMicrosecond => "MINUTE_MICROSECOND",
            Self::MinuteSecond => "MINUTE_SECOND",
            Self::HourMicrosecond => "HOUR_MICROSECOND",
            Self::HourSecond => "HOUR_SECOND",
            Self::HourMinute => "HOUR_MINUTE",
            Self::DayMicrosecond => "DAY_MICROSECOND",
            Self::DaySecond => "DAY_SECOND",
            Self::DayMinute => "DAY_MINUTE",
            Self::DayHour => "DAY_HOUR",
            Self::YearMonth => "YEAR_MONTH",
        }
    }

    /// The unit counts whole days or more, so that DATE plus it stays a DATE.
    pub fn is_date_only(self) -> bool {
        matches!(self, Self::Day | Self::Week | Self::Month | Self::Quarter | Self::Year | Self::YearMonth)
    }

    /// The unit has microseconds, so that the result has six fractional digits.
    pub fn has_micros(self) -> bool {
        self == Self::Microsecond || self.fields().last() == Some(&Unit::Microsecond)
    }

    /// A compound unit takes a text of several numbers.
    pub fn is_compound(self) -> bool {
        !self.fields().is_empty()
    }

    /// The numbers of a compound unit's text, most significant first.
    fn fields(self) -> &'static [Unit] {
        const DAY_TO_MICRO: &[Unit] = &[Unit::Day, Unit::Hour, Unit::Minute, Unit::Second, Unit::Microsecond];
        match self {
            Self::YearMonth => &[Unit::Year, Unit::Month],
            Self::DayHour => &DAY_TO_MICRO[..2],
            Self::DayMinute => &DAY_TO_MICRO[..3],
            Self::DaySecond => &DAY_TO_MICRO[..4],
            Self::DayMicrosecond => DAY_TO_MICRO,
            Self::HourMinute => &DAY_TO_MICRO[1..3],
            Self::HourSecond => &DAY_TO_MICRO[1..4],
            Self::HourMicrosecond => &DAY_TO_MICRO[1..],
            Self::MinuteSecond => &DAY_TO_MICRO[2..4],
            Self::MinuteMicrosecond => &DAY_TO_MICRO[2..],
            Self::SecondMicrosecond => &DAY_TO_MICRO[3..],
            _ => &[],
        }
    }
}

const ALL: [Unit; 20] = [
    Unit::Microsecond,
    Unit::Second,
    Unit::Minute,
    Unit::Hour,
    Unit::Day,
    Unit::Week,
    Unit::Month,
    Unit::Quarter,
    Unit::Year,
    Unit::SecondMicrosecond,
    Unit::MinuteMicrosecond,
    Unit::MinuteSecond,
    Unit::HourMicrosecond,
    Unit::HourSecond,
    Unit::HourMinute,
    Unit::DayMicrosecond,
    Unit::DaySecond,
    Unit::DayMinute,
    Unit::DayHour,
    Unit::YearMonth,
];

/// A signed span: months for the calendar part, days, and microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Interval {
    pub months: i64,
    pub days: i64,
    pub micros: i128,
}

impl Interval {
    /// Does it go backwards?
    pub fn is_negative(&self) -> bool {
        self.months < 0 || self.days < 0 || self.micros < 0
    }

    /// A number of a simple unit.
    pub fn from_integer(count: i64, unit: Unit) -> Self {
        let mut interval = Self::default();
        interval.add_field(i128::from(count), unit);
        interval
    }

    /// `INTERVAL 1.5 SECOND`: microseconds given.
    pub fn from_micros(micros: i64) -> Self {
        Self { micros: i128::from(micros), ..Self::default() }
    }

    /// A compound unit's text: numbers between anything that is not a digit. Fewer numbers than the unit has are the last ones;
    /// a microsecond field counts from the left ("1.5" is a second and a half). A simple unit takes the leading number. `None`: more numbers
    /// than a compound unit has; the sum is NULL.
    pub fn parse(text: &[u8], unit: Unit) -> Option<Self> {
        let fields = if unit.is_compound() { unit.fields() } else { std::slice::from_ref(&unit) };
        let start = text.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(text.len());
        let text = &text[start..];
        let negative = text.first() == Some(&b'-');
        let mut groups = [&b""[..]; 5];
        let mut all = text.split(|b| !b.is_ascii_digit()).filter(|group| !group.is_empty());
        let found = groups.iter_mut().take(fields.len()).zip(&mut all).map(|(slot, group)| *slot = group).count();
        if unit.is_compound() && all.next().is_some() {
            return None;
        }
        let mut interval = Self::default();
        let skipped = fields.len() - found;
        for (i, (group, &field)) in groups[..found].iter().zip(&fields[skipped..]).enumerate() {
            // The last number of a text with microseconds is a fraction, also when it is the only one.
            let is_fraction = unit.is_compound() && unit.has_micros() && i + 1 == found;
            let count = if is_fraction { fraction_micros(group) } else { number(group) };
            interval.add_field(if negative { -count } else { count }, field);
        }
        Some(interval)
    }

    #[must_use]
    pub fn negate(self) -> Self {
        Self { months: -self.months, days: -self.days, micros: -self.micros }
    }

    fn add_field(&mut self, count: i128, unit: Unit) {
        // Counts beyond this overflow every date anyway.
        const LIMIT: i128 = 1 << 62;
        let count = count.clamp(-LIMIT, LIMIT);
        let narrow = |n: i128| n.clamp(-LIMIT, LIMIT) as i64;
        match unit {
            Unit::Year => self.months = narrow(i128::from(self.months) + count * 12),
            Unit::Quarter => self.months = narrow(i128::from(self.months) + count * 3),
            Unit::Month => self.months = narrow(i128::from(self.months) + count),
            Unit::Week => self.days = narrow(i128::from(self.days) + count * 7),
            Unit::Day => self.days = narrow(i128::from(self.days) + count),
            Unit::Hour => self.micros += count * 3_600_000_000,
            Unit::Minute => self.micros += count * 60_000_000,
            Unit::Second => self.micros += count * 1_000_000,
            _ => self.micros += count,
        }
    }
}

fn number(digits: &[u8]) -> i128 {
    digits.iter().fold(0i128, |n, b| (n * 10 + i128::from(b - b'0')).min(1 << 64))
}

/// The digits after a point as microseconds: "5" is 500000. Of more than six all count.
fn fraction_micros(digits: &[u8]) -> i128 {
    let missing = 6usize.saturating_sub(digits.len());
    number(digits) * 10i128.pow(missing as u32)
}

impl DateTime {
    /// Adds; months first (the day is cut to the month's length), then days and time. `None`: out of range, or zero parts.
    pub fn add_interval(self, interval: &Interval) -> Option<Self> {
        let mut date = self.date;
        if date.has_zero_part() {
            return None;
        }
        if interval.months != 0 {
            date = add_months(date, interval.months)?;
        }
        if interval.days == 0 && interval.micros == 0 {
            return Some(Self { date, ..self });
        }
        let micros = i128::from(self.time_micros()) + interval.micros;
        let day = i128::from(date.day_number()?) + i128::from(interval.days) + micros.div_euclid(i128::from(MICROS_PER_DAY));
        let date = Date::from_day_number(i64::try_from(day).ok()?)?;
        Some(Self::from_date_and_micros(date, micros.rem_euclid(i128::from(MICROS_PER_DAY)) as i64))
    }
}

impl Date {
    /// Adds an interval of whole days or months.
    pub fn add_interval(self, interval: &Interval) -> Option<Self> {
        Some(self.at_midnight().add_interval(interval)?.date)
    }
}

impl Time {
    /// Adds days and time; `None` if the interval has months or the result leaves TIME's range.
    pub fn add_interval(self, interval: &Interval) -> Option<Self> {
        if interval.months != 0 {
            return None;
        }
        let micros = i128::from(self.micros) + i128::from(interval.days) * i128::from(MICROS_PER_DAY) + interval.micros;
        let time = Self { micros: i64::try_from(micros).ok()? };
        time.in_range().then_some(time)
    }
}

fn add_months(date: Date, months: i64) -> Option<Date> {
    let total = (i64::from(date.year) * 12 + i64::from(date.month) - 1).checked_add(months)?;
    if !(0..120_000).contains(&total) {
        return None;
    }
    let (year, month) = ((total / 12) as u16, (total % 12) as u8 + 1);
    Some(Date { year, month, day: date.day.min(days_in_month(year, month)) })
}
