//! Calendar, intervals, weeks and zones against known values.

use super::*;

fn date(text: &str) -> Date {
    let mut parts = text.split('-').map(|p| p.parse::<u16>().unwrap());
    let mut next = || parts.next().unwrap();
    Date { year: next(), month: next() as u8, day: next() as u8 }
}

fn at(text: &str) -> DateTime {
    let (day, time) = text.split_once(' ').unwrap_or((text, "0:0:0"));
    let mut parts = time.split(':');
    let mut next = || parts.next().unwrap();
    let (hour, minute) = (next().parse().unwrap(), next().parse().unwrap());
    let (second, micros) = {
        let s = next();
        let (s, f) = s.split_once('.').unwrap_or((s, "0"));
        (s.parse().unwrap(), format!("{f:0<6}").parse().unwrap())
    };
    DateTime { date: date(day), hour, minute, second, micros }
}

#[test]
fn day_numbers() {
    for (text, number) in [
        ("1970-01-01", 719_528),
        ("0001-01-01", 366),
        ("0000-01-01", 1),
        ("0000-03-01", 60),
        ("2007-10-07", 733_321),
        ("2000-02-29", 730_544),
        ("9999-12-31", DAY_NUMBER_MAX),
    ] {
        assert_eq!(date(text).day_number(), Some(number), "{text}");
        assert_eq!(Date::from_day_number(number), Some(date(text)));
    }
    assert_eq!(date("2024-00-10").day_number(), None);
    assert_eq!(Date::from_day_number(0), None);
    assert_eq!(Date::from_day_number(DAY_NUMBER_MAX + 1), None);
    for number in (1..=DAY_NUMBER_MAX).step_by(17) {
        let day = Date::from_day_number(number).unwrap();
        assert!(day.is_real());
        assert_eq!(day.day_number(), Some(number));
    }
    assert!(!date("1900-02-29").is_real());
    assert!(date("2000-02-29").is_real());
    assert!(!date("2023-04-31").is_real());
}

#[test]
fn packing_keeps_order() {
    let times = ["0000-00-00 0:0:0", "2024-00-00 0:0:0", "2024-02-29 23:59:59.999999", "2024-03-01 0:0:0", "9999-12-31 23:59:59"];
    let packed: Vec<u64> = times.iter().map(|t| at(t).pack()).collect();
    assert!(packed.is_sorted());
    for (text, bits) in times.iter().zip(packed) {
        assert_eq!(DateTime::unpack(bits), Some(at(text)));
        assert_eq!(Date::unpack(at(text).date.pack()), Some(at(text).date));
    }
    assert_eq!(DateTime::unpack(u64::MAX), None);
    assert!(Time::MIN.pack() < Time::default().pack() && Time::default().pack() < Time::MAX.pack());
    assert_eq!(Time::unpack(Time::MIN.pack()), Some(Time::MIN));
}

#[test]
fn intervals() {
    use IntervalUnit as U;
    let add =
        |t: &str, text: &str, unit| Interval::parse(text.as_bytes(), unit).and_then(|interval| at(t).add_interval(&interval));
    assert_eq!(add("2024-01-31", "1", U::Month), Some(at("2024-02-29")));
    assert_eq!(add("2024-02-29", "1", U::Year), Some(at("2025-02-28")));
    assert_eq!(add("2024-01-31", "-2", U::Month), Some(at("2023-11-30")));
    assert_eq!(add("2024-12-31 23:59:59", "1", U::Second), Some(at("2025-01-01")));
    assert_eq!(add("2100-12-31 23:59:59", "1:1", U::MinuteSecond), Some(at("2101-01-01 0:1:0")));
    assert_eq!(add("1992-12-31 23:59:59.000002", "-1.999999", U::SecondMicrosecond), Some(at("1992-12-31 23:59:57.000003")));
    assert_eq!(add("1900-01-01", "-1 10", U::DayHour), Some(at("1899-12-30 14:0:0")));
    assert_eq!(add("2024-01-01", "1-2", U::YearMonth), Some(at("2025-03-01")));
    assert_eq!(add("9999-12-31", "1", U::Day), None);
    assert_eq!(add("9999-12-31", "1", U::Year), None);
    assert_eq!(add("2024-00-10", "1", U::Day), None);
    assert_eq!(add("2024-01-01", "99999999999999999999999", U::Microsecond), None);
    assert_eq!(U::parse("sql_tsi_day"), Some(U::Day));
    assert_eq!(Time { micros: 0 }.add_interval(&Interval::from_integer(839, U::Hour)), None);
}

#[test]
fn weeks() {
    let week = |text: &str, mode| week_and_year(date(text), WeekMode::from_number(mode)).unwrap();
    assert_eq!(week("2008-02-20", 0).0, 7);
    assert_eq!(week("2008-02-20", 1).0, 8);
    assert_eq!(week("2008-12-31", 1).0, 53);
    assert_eq!(week("2000-01-01", 0), (0, 2000));
    assert_eq!(week("2000-01-01", 2), (52, 1999));
    assert_eq!(week("1987-01-01", 2), (52, 1986));
    assert_eq!(week("2024-12-30", 3), (1, 2025));
    assert_eq!(week("2021-01-03", 3), (53, 2020));
    assert_eq!(weekday(date("2024-02-29").day_number().unwrap()), 3);
    assert_eq!(day_of_year(date("2024-12-31")), Some(366));
}

#[test]
fn rounding_of_fractions() {
    let t = at("2024-12-31 23:59:59.5");
    assert_eq!(t.to_fsp(0, false), Some(at("2025-01-01")));
    assert_eq!(t.to_fsp(0, true), Some(at("2024-12-31 23:59:59")));
    assert_eq!(at("9999-12-31 23:59:59.9").to_fsp(0, false), None);
    assert_eq!(Time { micros: -1_500_000 }.to_fsp(0, false).micros, -2_000_000);
}

#[test]
fn zones() {
    let system = TimeZone::Utc;
    let zone = |name: &str| TimeZone::parse(name, &system);
    assert_eq!(zone("+05:30"), Some(TimeZone::Fixed(19_800)));
    assert_eq!(zone("-13:59").unwrap().name(), "-13:59");
    assert_eq!(zone("+14:01"), None);
    assert_eq!(zone("Nowhere/City"), None);
    assert_eq!(zone("system").unwrap().name(), "SYSTEM");
    let berlin = zone("Europe/Berlin").unwrap();
    let noon = at("2024-07-01 12:0:0");
    let Moment::At(micros) = berlin.to_utc(noon) else { panic!() };
    assert_eq!(DateTime::from_utc_micros(micros), Some(at("2024-07-01 10:0:0")));
    assert_eq!(berlin.to_civil(micros), Some(noon));
    let Moment::Gap(change) = berlin.to_utc(at("2024-03-31 2:30:0")) else { panic!() };
    assert_eq!(DateTime::from_utc_micros(change), Some(at("2024-03-31 1:0:0")));
    assert_eq!(berlin.to_utc(DateTime::ZERO), Moment::NoDate);
}

/// `calendar.txt`: what MySQL answers for TO_DAYS, DAYOFYEAR, WEEKDAY, and WEEK and YEARWEEK in modes 0 to 7.
#[test]
fn calendar_is_mysqls() {
    for line in include_str!("calendar.txt").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let day = date(fields[0]);
        let number = day.day_number().unwrap();
        assert_eq!(number.to_string(), fields[1], "{line}");
        assert_eq!(day_of_year(day).unwrap().to_string(), fields[2], "{line}");
        assert_eq!(weekday(number).to_string(), fields[3], "{line}");
        let weeks = (0..8).map(|mode| week_and_year(day, WeekMode::from_number(mode)).unwrap().0.to_string());
        assert_eq!(weeks.collect::<Vec<_>>().join(" "), fields[4], "{line}");
        let whole = (0..8).map(|mode| {
            let (week, year) = week_and_year(day, WeekMode { whole_weeks: true, ..WeekMode::from_number(mode) }).unwrap();
            (u32::from(year) * 100 + u32::from(week)).to_string()
        });
        assert_eq!(whole.collect::<Vec<_>>().join(" "), fields[5], "{line}");
    }
}

/// `intervals.txt`: what MySQL answers for DATE_ADD.
#[test]
fn intervals_are_mysqls() {
    for line in include_str!("intervals.txt").lines() {
        let [base, unit, count, expected] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let unit = IntervalUnit::parse(unit).unwrap();
        let interval = match unit {
            IntervalUnit::Second if count.contains('.') => {
                Some(Interval::from_micros((count.parse::<f64>().unwrap() * 1e6) as i64))
            }
            _ if unit.is_compound() => Interval::parse(count.as_bytes(), unit),
            _ => Some(Interval::from_integer(count.parse().unwrap(), unit)),
        };
        let mut text = Vec::new();
        match interval.and_then(|interval| at(base).add_interval(&interval)) {
            Some(sum) => crate::convert::write_datetime(sum, 6, &mut text),
            None => text.extend_from_slice(b"NULL"),
        }
        assert_eq!(String::from_utf8(text).unwrap(), expected, "{line}");
    }
}
