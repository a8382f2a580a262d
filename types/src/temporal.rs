//! Dates and times: validity, packing, day numbers, the proleptic Gregorian calendar as MySQL counts it.
//!
//! Zero parts (`0000-00-00`, `2024-00-10`) are values; [`Date::is_real`] tells which dates exist.
//! Days are counted as by `TO_DAYS`: 0000-01-01 is day 1, 1970-01-01 is day 719528.

mod interval;
mod parse;
mod week;
mod zone;

pub use interval::{Interval, IntervalUnit};
pub use parse::{
    DateFault, DateRules, DateTimeText, TimeText, datetime_from_number, parse_datetime, parse_time, time_from_number,
};
pub use week::{WeekMode, day_of_year, week_and_year, weekday};
pub use zone::{Moment, TimeZone};

use crate::{Date, DateTime, Time};

pub const MICROS_PER_SECOND: i64 = 1_000_000;
pub const SECONDS_PER_DAY: i64 = 86_400;
pub const MICROS_PER_DAY: i64 = SECONDS_PER_DAY * MICROS_PER_SECOND;
/// `838:59:59` in microseconds: the largest TIME.
pub const TIME_MICROS_MAX: i64 = ((838 * 60 + 59) * 60 + 59) * MICROS_PER_SECOND;
/// `TO_DAYS('1970-01-01')`
pub const EPOCH_DAY_NUMBER: i64 = 719_528;
/// `TO_DAYS('9999-12-31')`
pub const DAY_NUMBER_MAX: i64 = 3_652_424;
/// TIMESTAMP's range in UTC seconds: '1970-01-01 00:00:01' to '2038-01-19 03:14:07'.
pub const TIMESTAMP_SECONDS_MIN: i64 = 1;
pub const TIMESTAMP_SECONDS_MAX: i64 = i32::MAX as i64;

/// Powers of ten of microseconds: the unit of a value with this many fractional digits.
const FSP_UNIT_MICROS: [i64; 7] = [1_000_000, 100_000, 10_000, 1_000, 100, 10, 1];

/// Year 0 has no leap day, as MySQL has it.
pub fn is_leap_year(year: u16) -> bool {
    year != 0 && year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

/// Days of a month (1 to 12) in a year.
pub fn days_in_month(year: u16, month: u8) -> u8 {
    const DAYS: [u8; 13] = [31, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    if month == 2 && is_leap_year(year) { 29 } else { DAYS[usize::from(month.min(12))] }
}

/// Year, month and day of a day counted from 1970-01-01 (after H. Hinnant, "chrono-compatible low-level date algorithms").
fn civil_from_days(days: i64) -> (i64, u8, u8) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted - era * 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_index = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_index + 2) / 5 + 1) as u8;
    let month = if month_index < 10 { month_index + 3 } else { month_index - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month as u8, day)
}

impl Date {
    pub const ZERO: Self = Self { year: 0, month: 0, day: 0 };

    pub fn new(year: u16, month: u8, day: u8) -> Self {
        Self { year, month, day }
    }

    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// Month or day is zero (which the zero date is too).
    pub fn has_zero_part(&self) -> bool {
        self.month == 0 || self.day == 0
    }

    /// A day of the calendar, year 0 to 9999.
    pub fn is_real(&self) -> bool {
        self.year <= 9999 && (1..=12).contains(&self.month) && self.day >= 1 && self.day <= days_in_month(self.year, self.month)
    }

    /// `TO_DAYS`; `None` where month or day is zero.
    pub fn day_number(&self) -> Option<i64> {
        (self.month != 0 && self.day != 0).then(|| self.day_number_unchecked())
    }

    /// As MySQL counts: zero parts count backwards, year 0 has no leap day, 0000-00-00 is 0.
    pub(crate) fn day_number_unchecked(&self) -> i64 {
        if self.year == 0 && self.month == 0 {
            return 0;
        }
        let (mut year, month) = (i64::from(self.year), i64::from(self.month));
        // As if every month had 31 days; the excess of the months before (March on) is taken off.
        let mut days = 365 * year + 31 * (month - 1) + i64::from(self.day);
        if month <= 2 {
            year -= 1;
        } else {
            days -= (month * 4 + 23) / 10;
        }
        let leap_days = year / 4 - (year / 100 + 1) * 3 / 4;
        days + leap_days
    }

    /// The date of a day number; `None` outside 0000-01-01 .. 9999-12-31.
    pub fn from_day_number(number: i64) -> Option<Self> {
        if !(1..=DAY_NUMBER_MAX).contains(&number) {
            return None;
        }
        // The true calendar has a 29 February in year 0.
        let number = if number < 60 { number - 1 } else { number };
        let (year, month, day) = civil_from_days(number - EPOCH_DAY_NUMBER);
        Some(Self { year: u16::try_from(year).ok()?, month, day })
    }

    /// 24 bits that order like the date: year, month (4 bits), day (5 bits).
    pub fn pack(&self) -> u32 {
        u32::from(self.year) << 9 | u32::from(self.month) << 5 | u32::from(self.day)
    }

    /// `None` when the bits are no date, real or with zero parts.
    pub fn unpack(bits: u32) -> Option<Self> {
        let date = Self { year: (bits >> 9) as u16, month: (bits >> 5 & 15) as u8, day: (bits & 31) as u8 };
        (bits < 1 << 24 && date.year <= 9999 && date.month <= 12).then_some(date)
    }

    /// `YYYYMMDD`
    pub fn to_number(&self) -> u32 {
        u32::from(self.year) * 10_000 + u32::from(self.month) * 100 + u32::from(self.day)
    }

    pub fn at_midnight(self) -> DateTime {
        DateTime { date: self, ..DateTime::default() }
    }
}

impl Time {
    pub const MAX: Self = Self { micros: TIME_MICROS_MAX };
    pub const MIN: Self = Self { micros: -TIME_MICROS_MAX };

    /// Parts in their usual ranges, except hours, which may be any number up to 838.
    pub fn from_parts(negative: bool, hours: u32, minutes: u32, seconds: u32, micros: u32) -> Self {
        let total = ((i64::from(hours) * 60 + i64::from(minutes)) * 60 + i64::from(seconds)) * MICROS_PER_SECOND;
        let total = total + i64::from(micros);
        Self { micros: if negative { -total } else { total } }
    }

    pub fn is_negative(&self) -> bool {
        self.micros < 0
    }

    pub fn hours(&self) -> u32 {
        (self.micros.unsigned_abs() / 3_600_000_000) as u32
    }

    pub fn minute(&self) -> u8 {
        (self.micros.unsigned_abs() / 60_000_000 % 60) as u8
    }

    pub fn second(&self) -> u8 {
        (self.micros.unsigned_abs() / 1_000_000 % 60) as u8
    }

    pub fn microsecond(&self) -> u32 {
        (self.micros.unsigned_abs() % 1_000_000) as u32
    }

    pub fn in_range(&self) -> bool {
        self.micros.abs() <= TIME_MICROS_MAX
    }

    /// Rounded (or cut) to `fsp` fractional digits, half away from zero.
    #[must_use]
    pub fn to_fsp(self, fsp: u8, truncate: bool) -> Self {
        let unit = FSP_UNIT_MICROS[usize::from(fsp.min(6))];
        let micros = self.micros.abs() + if truncate { 0 } else { unit / 2 };
        let micros = micros / unit * unit;
        Self { micros: if self.micros < 0 { -micros } else { micros } }
    }

    /// `HHMMSS`, signed, without the fraction.
    pub fn to_number(&self) -> i64 {
        let number = i64::from(self.hours()) * 10_000 + i64::from(self.minute()) * 100 + i64::from(self.second());
        if self.is_negative() { -number } else { number }
    }

    /// Eight bytes whose big-endian order is the order of times.
    pub fn pack(&self) -> u64 {
        self.micros as u64 ^ 1 << 63
    }

    pub fn unpack(bits: u64) -> Option<Self> {
        let time = Self { micros: (bits ^ 1 << 63) as i64 };
        (time.micros.unsigned_abs() <= TIME_MICROS_MAX as u64).then_some(time)
    }
}

impl DateTime {
    pub const ZERO: Self = Self { date: Date::ZERO, hour: 0, minute: 0, second: 0, micros: 0 };

    pub fn is_zero(&self) -> bool {
        *self == Self::ZERO
    }

    /// Microseconds since midnight.
    pub fn time_micros(&self) -> i64 {
        ((i64::from(self.hour) * 60 + i64::from(self.minute)) * 60 + i64::from(self.second)) * MICROS_PER_SECOND
            + i64::from(self.micros)
    }

    pub fn time(&self) -> Time {
        Time { micros: self.time_micros() }
    }

    /// The date with this time of day (`micros` in 0 .. one day).
    pub fn from_date_and_micros(date: Date, micros: i64) -> Self {
        let seconds = micros / MICROS_PER_SECOND;
        Self {
            date,
            hour: (seconds / 3600) as u8,
            minute: (seconds / 60 % 60) as u8,
            second: (seconds % 60) as u8,
            micros: (micros % MICROS_PER_SECOND) as u32,
        }
    }

    /// 63 bits that order like the moment: (year * 13 + month), day, hour, minute, second, microsecond.
    pub fn pack(&self) -> u64 {
        let month = u64::from(self.date.year) * 13 + u64::from(self.date.month);
        let day = month << 5 | u64::from(self.date.day);
        let time = u64::from(self.hour) << 12 | u64::from(self.minute) << 6 | u64::from(self.second);
        (day << 17 | time) << 24 | u64::from(self.micros)
    }

    pub fn unpack(bits: u64) -> Option<Self> {
        let (micros, rest) = ((bits & 0xff_ffff) as u32, bits >> 24);
        let (time, day) = (rest & 0x1_ffff, rest >> 17);
        let month = day >> 5;
        let date = Date { year: u16::try_from(month / 13).ok()?, month: (month % 13) as u8, day: (day & 31) as u8 };
        let (hour, minute, second) = ((time >> 12) as u8, (time >> 6 & 63) as u8, (time & 63) as u8);
        let fine = date.year <= 9999 && hour < 24 && minute < 60 && second < 60 && micros < 1_000_000;
        fine.then_some(Self { date, hour, minute, second, micros })
    }

    /// Rounded (or cut) to `fsp` fractional digits; `None` where it would be rounded up out of the calendar, or the date has zero parts.
    #[must_use]
    pub fn to_fsp(self, fsp: u8, truncate: bool) -> Option<Self> {
        let unit = FSP_UNIT_MICROS[usize::from(fsp.min(6))];
        let micros = self.time_micros() + if truncate { 0 } else { unit / 2 };
        let micros = micros / unit * unit;
        if micros > self.time_micros() && (self.date.month == 0 || self.date.day == 0) {
            return None;
        }
        if micros < MICROS_PER_DAY {
            return Some(Self::from_date_and_micros(self.date, micros));
        }
        let date = Date::from_day_number(self.date.day_number()? + 1)?;
        Some(Self::from_date_and_micros(date, 0))
    }

    /// Microseconds of the civil time since 1970-01-01 00:00:00 as if it were UTC; `None` for dates with zero parts.
    pub fn to_utc_micros(&self) -> Option<i64> {
        let days = self.date.day_number()? - EPOCH_DAY_NUMBER;
        Some(days * MICROS_PER_DAY + self.time_micros())
    }

    /// The civil time in UTC; `None` outside years 0 to 9999.
    pub fn from_utc_micros(micros: i64) -> Option<Self> {
        let days = micros.div_euclid(MICROS_PER_DAY);
        let date = Date::from_day_number(days + EPOCH_DAY_NUMBER)?;
        Some(Self::from_date_and_micros(date, micros.rem_euclid(MICROS_PER_DAY)))
    }

    /// `YYYYMMDDHHMMSS`, without the fraction.
    pub fn to_number(&self) -> u64 {
        u64::from(self.date.to_number()) * 1_000_000
            + u64::from(self.hour) * 10_000
            + u64::from(self.minute) * 100
            + u64::from(self.second)
    }
}

#[cfg(test)]
mod tests;
