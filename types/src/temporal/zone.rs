//! Time zones: between UTC microseconds (what TIMESTAMP stores) and civil time.

use super::MICROS_PER_SECOND;
use crate::DateTime;

/// `@@time_zone`
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum TimeZone {
    #[default]
    Utc,
    /// Seconds east of UTC: `'+05:30'`.
    Fixed(i32),
    /// `'Europe/Berlin'`, from the time zone database built into the program.
    Named(jiff::tz::TimeZone),
    /// `'SYSTEM'`: the operating system's zone at the start.
    System(jiff::tz::TimeZone),
}

/// A civil time in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// UTC microseconds. Of two moments with this civil time (clocks went back) it is the first.
    At(i64),
    /// The civil time does not exist (clocks went forward); the time of the change.
    Gap(i64),
    /// A date with zero parts.
    NoDate,
}

impl TimeZone {
    /// A value of `time_zone`: `SYSTEM`, an offset from -13:59 to +14:00, or a name. `None`: unknown (1298).
    /// `system` is what `SYSTEM` stands for.
    pub fn parse(name: &str, system: &Self) -> Option<Self> {
        let name = name.trim();
        if name.eq_ignore_ascii_case("SYSTEM") {
            return Some(match system {
                Self::Utc => Self::System(jiff::tz::TimeZone::UTC),
                Self::Fixed(seconds) => Self::System(jiff::tz::Offset::from_seconds(*seconds).ok()?.to_time_zone()),
                Self::Named(zone) | Self::System(zone) => Self::System(zone.clone()),
            });
        }
        if name.starts_with(['+', '-']) {
            return parse_offset(name).map(Self::Fixed);
        }
        if name.eq_ignore_ascii_case("UTC") {
            return Some(Self::Utc);
        }
        jiff::tz::db().get(name).ok().map(Self::Named)
    }

    /// The names that [`Self::parse`] knows, in order.
    pub fn names() -> Vec<String> {
        let mut names: Vec<String> = jiff::tz::db().available().map(|name| name.to_string()).collect();
        names.sort_unstable();
        names
    }

    /// The machine's zone (`TZ`, `/etc/localtime`); UTC if it is unknown.
    pub fn detect_system() -> Self {
        Self::System(jiff::tz::TimeZone::try_system().unwrap_or(jiff::tz::TimeZone::UTC))
    }

    /// As `SELECT @@time_zone` shows it.
    pub fn name(&self) -> String {
        match self {
            Self::Utc => "UTC".into(),
            Self::Fixed(seconds) => {
                let (sign, seconds) = if *seconds < 0 { ('-', -seconds) } else { ('+', *seconds) };
                format!("{sign}{:02}:{:02}", seconds / 3600, seconds / 60 % 60)
            }
            Self::Named(zone) => zone.iana_name().unwrap_or("UTC").into(),
            Self::System(_) => "SYSTEM".into(),
        }
    }

    /// Seconds east of UTC at a moment.
    pub fn offset_seconds(&self, utc_micros: i64) -> i32 {
        match self {
            Self::Utc => 0,
            Self::Fixed(seconds) => *seconds,
            Self::Named(zone) | Self::System(zone) => match jiff::Timestamp::from_microsecond(utc_micros) {
                Ok(moment) => zone.to_offset(moment).seconds(),
                Err(_) => 0,
            },
        }
    }

    /// The civil time at a moment; `None` outside years 0 to 9999.
    pub fn to_civil(&self, utc_micros: i64) -> Option<DateTime> {
        let shift = i64::from(self.offset_seconds(utc_micros)) * MICROS_PER_SECOND;
        DateTime::from_utc_micros(utc_micros.checked_add(shift)?)
    }

    /// The moment of a civil time.
    pub fn to_utc(&self, civil: DateTime) -> Moment {
        let Some(micros) = civil.to_utc_micros() else { return Moment::NoDate };
        let shifted = |seconds: i32| micros - i64::from(seconds) * MICROS_PER_SECOND;
        match self {
            Self::Utc => Moment::At(micros),
            Self::Fixed(seconds) => Moment::At(shifted(*seconds)),
            Self::Named(zone) | Self::System(zone) => {
                let Some(local) = to_jiff(civil) else { return Moment::NoDate };
                match zone.to_ambiguous_timestamp(local).offset() {
                    jiff::tz::AmbiguousOffset::Unambiguous { offset } => Moment::At(shifted(offset.seconds())),
                    jiff::tz::AmbiguousOffset::Fold { before, .. } => Moment::At(shifted(before.seconds())),
                    // With the previous offset, a time in the gap is as far after the change as it is inside the gap.
                    jiff::tz::AmbiguousOffset::Gap { before, .. } => Moment::Gap(change_before(zone, shifted(before.seconds()))),
                }
            }
        }
    }

    /// A stored TIMESTAMP (civil time in UTC, as `StoredRow::get` returns it) in this zone; the zero timestamp stays zero.
    pub fn from_stored(&self, utc: DateTime) -> DateTime {
        if matches!(self, Self::Utc) || utc.is_zero() {
            return utc;
        }
        utc.to_utc_micros().and_then(|micros| self.to_civil(micros)).unwrap_or(utc)
    }
}

/// The latest change of offset at or before a moment.
fn change_before(zone: &jiff::tz::TimeZone, utc_micros: i64) -> i64 {
    let Ok(moment) = jiff::Timestamp::from_microsecond(utc_micros) else { return utc_micros };
    let Ok(next) = moment.checked_add(jiff::SignedDuration::from_micros(1)) else { return utc_micros };
    zone.preceding(next).next().map_or(utc_micros, |change| change.timestamp().as_microsecond())
}

fn to_jiff(civil: DateTime) -> Option<jiff::civil::DateTime> {
    let date = civil.date;
    jiff::civil::DateTime::new(
        i16::try_from(date.year).ok()?,
        date.month as i8,
        date.day as i8,
        civil.hour as i8,
        civil.minute as i8,
        civil.second as i8,
        civil.micros as i32 * 1000,
    )
    .ok()
}

/// `[+-]H[H]:MM`
fn parse_offset(text: &str) -> Option<i32> {
    let (sign, rest) = text.split_at(1);
    let (hours, minutes) = rest.split_once(':')?;
    let digits = |s: &str| (1..=2).contains(&s.len()) && s.bytes().all(|b| b.is_ascii_digit());
    if !digits(hours) || !digits(minutes) || minutes.len() != 2 {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds = hours * 3600 + minutes * 60;
    let seconds = if sign == "-" { -seconds } else { seconds };
    (minutes < 60 && (-(13 * 3600 + 59 * 60)..=14 * 3600).contains(&seconds)).then_some(seconds)
}
