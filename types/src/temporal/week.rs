//! Weekdays and week numbers, in the eight modes of `WEEK()`.
//!
//! A mode says on which day a week begins, which week is the year's first, and whether days before it are week 0 of their year
//! or belong to the last week of the year before.

use super::EPOCH_DAY_NUMBER;
use crate::Date;

/// How weeks are counted (`WEEK(date, mode)`, `default_week_format`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeekMode {
    pub monday_first: bool,
    /// The first week has four days or more in the year; else it is the first that begins in the year.
    pub four_days: bool,
    /// Weeks are 1 to 53 and may belong to the neighbouring year; else 0 to 53.
    pub whole_weeks: bool,
}

impl WeekMode {
    /// ISO 8601 (`WEEK(d, 3)`).
    pub const ISO: Self = Self { monday_first: true, four_days: true, whole_weeks: true };

    /// MySQL's mode number; bits beyond the lowest three are ignored.
    pub fn from_number(mode: u64) -> Self {
        let monday_first = mode & 1 != 0;
        // Odd modes take bit 2 as it is, even ones reversed: 0, 2, 5, 7 begin with the first Sunday or Monday of the year.
        let four_days = monday_first == (mode & 4 == 0);
        Self { monday_first, four_days, whole_weeks: mode & 2 != 0 }
    }

    /// Day number on which week 1 of a year begins.
    fn first_week(self, year: i64) -> i64 {
        let january_1 = january_first(year);
        let shift = if self.four_days { january_1 + 3 } else { january_1 + 6 };
        shift - i64::from(weekday_from(shift, self.monday_first))
    }
}

fn january_first(year: i64) -> i64 {
    if year < 0 { -365 + 1 } else { Date::new(year.min(10_000) as u16, 1, 1).day_number_unchecked() }
}

fn weekday_from(day_number: i64, monday_first: bool) -> u8 {
    (day_number - EPOCH_DAY_NUMBER + if monday_first { 3 } else { 4 }).rem_euclid(7) as u8
}

/// 0 is Monday, of a day number.
pub fn weekday(day_number: i64) -> u8 {
    weekday_from(day_number, true)
}

/// 1 is 1 January; `None` for dates with zero parts.
pub fn day_of_year(date: Date) -> Option<u16> {
    Some((date.day_number()? - january_first(i64::from(date.year)) + 1) as u16)
}

/// Week number and the year it belongs to; `None` for dates with zero parts.
pub fn week_and_year(date: Date, mode: WeekMode) -> Option<(u8, u16)> {
    let day = date.day_number()?;
    let mut year = i64::from(date.year);
    let mut first = mode.first_week(year);
    if day < first {
        if !mode.whole_weeks {
            return Some((0, date.year));
        }
        year -= 1;
        first = mode.first_week(year);
    } else if mode.whole_weeks && day >= mode.first_week(year + 1) {
        year += 1;
        first = mode.first_week(year);
    }
    Some((((day - first) / 7 + 1) as u8, year.max(0) as u16))
}
