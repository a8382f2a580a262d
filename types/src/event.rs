//! Events: programs that the server runs at given times, once or repeatedly.
//!
//! Times are whole seconds since the epoch. An event with an interval is due at `starts + k * interval`. Whole days and
//! months are counted on the calendar of the event's time zone, whose offset may change; shorter intervals are elapsed
//! seconds.
//!
//! E1: a due time is later than the last execution, so no time is used twice.

use crate::schema::RoutineDef;
use crate::temporal::{Interval, IntervalUnit as Unit, MICROS_PER_DAY, MICROS_PER_SECOND, Moment, TimeZone};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Times of events are from one second after the epoch to the end of MySQL's range: '3001-01-18 23:59:59'.
pub const SECONDS_MAX: i64 = 32_536_771_199;

/// An event. Stored as JSON in the catalog tree; fields added later carry `#[serde(default)]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventDef {
    /// Without parameters; the event's database, name, definer and comment are the program's.
    pub program: Arc<RoutineDef>,
    pub schedule: Schedule,
    /// As in `@@time_zone` of the session that made the schedule.
    pub time_zone: String,
    /// ON COMPLETION PRESERVE
    pub preserve: bool,
    pub status: EventStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EventStatus {
    Enabled,
    Disabled,
    /// DISABLE ON REPLICA
    ReplicaSideDisabled,
}

impl EventStatus {
    /// As SHOW EVENTS has it.
    pub fn name(self) -> &'static str {
        match self {
            EventStatus::Enabled => "ENABLED",
            EventStatus::Disabled => "DISABLED",
            EventStatus::ReplicaSideDisabled => "REPLICA_SIDE_DISABLED",
        }
    }

    /// As it is written.
    pub fn clause(self) -> &'static str {
        match self {
            EventStatus::Enabled => "ENABLE",
            EventStatus::Disabled => "DISABLE",
            EventStatus::ReplicaSideDisabled => "DISABLE ON REPLICA",
        }
    }
}

/// When an event is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Schedule {
    At(i64),
    Every {
        every: Every,
        starts: i64,
        /// The last time, if it is one.
        ends: Option<i64>,
    },
}

/// The interval of an event: a number of units; for a compound unit, of its smallest part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Every {
    pub count: i64,
    pub unit: Unit,
}

impl EventDef {
    /// The key of an event in its database: names of events are not case-sensitive.
    pub fn key_of(name: &str) -> String {
        name.to_lowercase()
    }

    pub fn key(&self) -> String {
        Self::key_of(&self.program.name)
    }

    /// `database.name`
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.program.database, self.program.name)
    }

    /// When the event is to be run next, seen at `now`; `last` is when it was run last. A single time that has passed is due at once. `None`:
    /// never again.
    pub fn due(&self, now: i64, last: Option<i64>, zone: &TimeZone) -> Option<i64> {
        match self.schedule {
            Schedule::At(at) => last.is_none().then_some(at),
            Schedule::Every { every, starts, ends } => {
                let from = last.map_or(now, |last| now.max(last + 1));
                let due = every.first(starts, from, zone)?;
                (due <= ends.unwrap_or(SECONDS_MAX)).then_some(due)
            }
        }
    }
}

/// One interval.
enum Step {
    Seconds(i64),
    Days(i64),
    Months(i64),
}

impl Every {
    const COUNT_MAX: i64 = 1_000_000_000;

    /// `None`: not positive, or too many.
    pub fn new(count: i64, unit: Unit) -> Option<Self> {
        (1..=Self::COUNT_MAX).contains(&count).then_some(Self { count, unit })
    }

    /// So much of a compound unit.
    pub fn of_interval(interval: &Interval, unit: Unit) -> Option<Self> {
        let count = match (Self { count: 1, unit }).step() {
            Step::Months(_) => i128::from(interval.months),
            Step::Days(_) => i128::from(interval.days),
            Step::Seconds(seconds) => {
                let micros = i128::from(interval.days) * i128::from(MICROS_PER_DAY) + interval.micros;
                micros / i128::from(seconds * MICROS_PER_SECOND)
            }
        };
        Self::new(i64::try_from(count).ok()?, unit)
    }

    fn step(self) -> Step {
        let n = self.count;
        match self.unit {
            Unit::Year => Step::Months(n * 12),
            Unit::Quarter => Step::Months(n * 3),
            Unit::Month | Unit::YearMonth => Step::Months(n),
            Unit::Week => Step::Days(n * 7),
            Unit::Day => Step::Days(n),
            Unit::Hour | Unit::DayHour => Step::Seconds(n * 3600),
            Unit::Minute | Unit::HourMinute | Unit::DayMinute => Step::Seconds(n * 60),
            // Fractions of a second are refused.
            _ => Step::Seconds(n),
        }
    }

    /// As MySQL shows it: of a compound unit between quotes.
    pub fn text(self) -> String {
        let n = self.count;
        match self.unit {
            Unit::YearMonth => format!("'{}-{}'", n / 12, n % 12),
            Unit::DayHour => format!("'{} {}'", n / 24, n % 24),
            Unit::DayMinute => format!("'{} {}:{}'", n / (24 * 60), n / 60 % 24, n % 60),
            Unit::DaySecond => format!("'{} {}:{}:{}'", n / 86_400, n / 3600 % 24, n / 60 % 60, n % 60),
            Unit::HourMinute | Unit::MinuteSecond => format!("'{}:{}'", n / 60, n % 60),
            Unit::HourSecond => format!("'{}:{}:{}'", n / 3600, n / 60 % 60, n % 60),
            _ => n.to_string(),
        }
    }

    /// The first of its times at or after `from`. `None`: beyond all calendars.
    fn first(self, starts: i64, from: i64, zone: &TimeZone) -> Option<i64> {
        if from <= starts {
            return Some(starts);
        }
        let (months, days) = match self.step() {
            Step::Seconds(step) => return Some(starts + (from - starts + step - 1) / step * step),
            Step::Months(step) => (step, 0),
            Step::Days(step) => (0, step),
        };
        let civil = |seconds: i64| zone.to_civil(seconds * MICROS_PER_SECOND);
        let (start, now) = (civil(starts)?, civil(from)?);
        let passed = match months {
            0 => (now.date.day_number()? - start.date.day_number()?) / days,
            _ => {
                let month = |date: crate::Date| i64::from(date.year) * 12 + i64::from(date.month);
                (month(now.date) - month(start.date)) / months
            }
        };
        // The estimate counts dates alone; the times of day, and days that months do not have, make a difference of one.
        const TRIES: i64 = 4;
        let first = (passed - 1).max(0);
        let times = (first..first + TRIES).map_while(|k| {
            let interval = Interval { months: months.checked_mul(k)?, days: days.checked_mul(k)?, micros: 0 };
            match zone.to_utc(start.add_interval(&interval)?) {
                Moment::At(micros) | Moment::Gap(micros) => Some(micros.div_euclid(MICROS_PER_SECOND)),
                Moment::NoDate => None,
            }
        });
        times.into_iter().find(|time| *time >= from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temporal::parse_datetime;

    fn seconds(zone: &TimeZone, text: &str) -> i64 {
        match zone.to_utc(parse_datetime(text.as_bytes()).expect("a date").value) {
            Moment::At(micros) | Moment::Gap(micros) => micros / MICROS_PER_SECOND,
            Moment::NoDate => panic!("{text}"),
        }
    }

    #[test]
    fn times_come_again_by_interval() {
        let check = |zone: &str, count: i64, unit, starts: &str, from: &str, expected: &str| {
            let zone = TimeZone::parse(zone, &TimeZone::Utc).expect("a zone");
            let every = Every::new(count, unit).expect("an interval");
            let first = every.first(seconds(&zone, starts), seconds(&zone, from), &zone);
            assert_eq!(first, Some(seconds(&zone, expected)), "{every:?} {starts} {from}");
        };
        check("UTC", 1, Unit::Second, "2020-01-01 00:00:00", "2020-01-01 00:00:00", "2020-01-01 00:00:00");
        check("UTC", 7, Unit::Second, "2020-01-01 00:00:00", "2020-01-01 00:00:01", "2020-01-01 00:00:07");
        check("UTC", 2, Unit::Hour, "2020-01-01 00:30:00", "2020-01-01 23:00:00", "2020-01-02 00:30:00");
        check("UTC", 1, Unit::Week, "2020-01-01 12:00:00", "2026-11-22 00:00:00", "2026-11-25 12:00:00");
        check("UTC", 1, Unit::Day, "2020-01-01 12:00:00", "2020-03-01 12:00:01", "2020-03-02 12:00:00");
        // Of the 31st, months without one have their last day.
        check("UTC", 1, Unit::Month, "2020-01-31 00:00:00", "2020-02-01 00:00:00", "2020-02-29 00:00:00");
        check("UTC", 1, Unit::Month, "2020-01-31 00:00:00", "2020-02-29 00:00:01", "2020-03-31 00:00:00");
        check("UTC", 1, Unit::Quarter, "2020-01-31 00:00:00", "2026-11-22 00:00:00", "2027-01-31 00:00:00");
        check("UTC", 3, Unit::Year, "2020-02-29 00:00:00", "2020-03-01 00:00:00", "2023-02-28 00:00:00");
        // Every day at the same time on the clock, whatever is done to clocks.
        check("Europe/Berlin", 1, Unit::Day, "2024-03-30 12:00:00", "2024-03-30 12:00:01", "2024-03-31 12:00:00");
        check("Europe/Berlin", 1, Unit::Day, "2024-03-30 02:30:00", "2024-03-30 02:30:01", "2024-03-31 03:00:00");
        check("Europe/Berlin", 1, Unit::Hour, "2024-10-27 00:00:00", "2024-10-27 02:00:00", "2024-10-27 02:00:00");
    }

    #[test]
    fn intervals_are_shown_in_full() {
        let check = |text: &str, unit, expected: Option<&str>| {
            let every = Interval::parse(text.as_bytes(), unit).and_then(|interval| Every::of_interval(&interval, unit));
            assert_eq!(every.map(Every::text).as_deref(), expected, "{text}");
        };
        check("0:90", Unit::MinuteSecond, Some("'1:30'"));
        check("5", Unit::MinuteSecond, Some("'0:5'"));
        check("3 50:70:80", Unit::DaySecond, Some("'5 3:11:20'"));
        check("1-30", Unit::YearMonth, Some("'3-6'"));
        check("15", Unit::HourMinute, Some("'0:15'"));
        check("25 30", Unit::DayHour, Some("'26 6'"));
        check("1:2:3", Unit::HourSecond, Some("'1:2:3'"));
        check("1 2:3", Unit::DayMinute, Some("'1 2:3'"));
        check("-5:3", Unit::MinuteSecond, None);
        check("16666666:41", Unit::MinuteSecond, None);
        check("", Unit::DaySecond, None);
    }
}
