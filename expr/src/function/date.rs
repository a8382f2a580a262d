//! Date and time functions: parts of dates, arithmetic, conversions to and from numbers.

use super::date_types::{
    added_time_type, convert_tz_type, datetime_now, difference_type, formatted_type, from_unix_time_type, moved_type,
    sec_to_time_type, time_now, time_type, timestamp_add_type, timestamp_type, unix_timestamp_type,
};
use super::row::{Null, Parameters, Places, functions, named, of_grammar};
use super::rules;
use crate::class::{Class, class};
use crate::coerce;
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::func::Function;
use crate::tree::{Expr, ExprKind};
use crate::typing;
use conditions::Condition;
use std::borrow::Cow;
use types::temporal::{self, DateRules, Interval, IntervalUnit, MICROS_PER_DAY, MICROS_PER_SECOND, Moment, TimeZone, WeekMode};
use types::{ColumnType, Date, DateTime, Decimal, Time, TypeKind, Value};

/// 3001-01-18 23:59:59.999999 UTC: the last moment of UNIX_TIMESTAMP and FROM_UNIXTIME.
const UNIX_MICROS_MAX: i64 = 32_536_771_199_999_999;

/// A text as long as this is a date with its time, or nothing.
const TIMESTAMP_BYTES_MIN: usize = 12;

/// 838:59:59 as a number.
const TIME_NUMBER_MAX: u64 = 8_385_959;
/// A number with a fraction that is as large is a date.
const DATE_NUMBER_MIN: f64 = 8_385_960.0;

functions! {
    Date;

    NOW = named(&[("NOW", 0, 1), ("CURRENT_TIMESTAMP", 0, 1), ("LOCALTIME", 0, 1), ("LOCALTIMESTAMP", 0, 1)])
        .typed(|_, args, _| datetime_now("now", args)).null(Null::Never)
        => |env, node, _| now(env, Function::NOW, node);
    SYSDATE = named(&[("SYSDATE", 0, 1)]).typed(|_, args, _| datetime_now("sysdate", args)).null(Null::Never).volatile()
        => |env, node, _| now(env, Function::SYSDATE, node);
    CURDATE = named(&[("CURDATE", 0, 0), ("CURRENT_DATE", 0, 0)]).typed(rules::date).null(Null::Never)
        => |env, node, _| now(env, Function::CURDATE, node);
    CURTIME = named(&[("CURTIME", 0, 1), ("CURRENT_TIME", 0, 1)]).typed(|_, args, _| time_now("curtime", args)).null(Null::Never)
        => |env, node, _| now(env, Function::CURTIME, node);
    UTC_DATE = named(&[("UTC_DATE", 0, 0)]).typed(rules::date).null(Null::Never) => |env, node, _| now(env, Function::UTC_DATE, node);
    UTC_TIME = named(&[("UTC_TIME", 0, 1)]).typed(|_, args, _| time_now("utc_time", args)).null(Null::Never)
        => |env, node, _| now(env, Function::UTC_TIME, node);
    UTC_TIMESTAMP = named(&[("UTC_TIMESTAMP", 0, 1)]).typed(|_, args, _| datetime_now("utc_timestamp", args)).null(Null::Never)
        => |env, node, _| now(env, Function::UTC_TIMESTAMP, node);
    DATE = named(&[("DATE", 1, 1)]).typed(rules::date) => |env, _, args| date_of(env, &args[0]);
    TIME = named(&[("TIME", 1, 1)]).typed(time_type).parameters(Parameters::Time)
        => |env, _, args| Ok(env.time(&args[0])?.map_or(Value::Null, Value::Time));
    TIMESTAMP = named(&[("TIMESTAMP", 1, 2)]).typed(timestamp_type) => |env, _, args| timestamp(env, args);
    YEAR = named(&[("YEAR", 1, 1)]).typed(rules::year)
        => |env, _, args| part(env, &args[0], |d| Some(Value::UInt(d.date.year.into())));
    MONTH = named(&[("MONTH", 1, 1)]).typed(rules::bigint).digits(2)
        => |env, _, args| part(env, &args[0], |d| Some(Value::Int(d.date.month.into())));
    DAY = named(&[("DAY", 1, 1), ("DAYOFMONTH", 1, 1)]).typed(rules::bigint).digits(2)
        => |env, _, args| part(env, &args[0], |d| Some(Value::Int(d.date.day.into())));
    DAYOFWEEK = named(&[("DAYOFWEEK", 1, 1)]).typed(rules::bigint).digits(1)
        => |env, _, args| day_part(env, &args[0], |n| Value::Int((i64::from(temporal::weekday(n)) + 1) % 7 + 1));
    DAYOFYEAR = named(&[("DAYOFYEAR", 1, 1)]).typed(rules::bigint).digits(3)
        => |env, _, args| part(env, &args[0], |d| temporal::day_of_year(d.date).map(|n| Value::Int(n.into())));
    DAYNAME = named(&[("DAYNAME", 1, 1)]).typed(rules::text::<9>).texts(Places::NONE)
        => |env, _, args| day_part(env, &args[0], |n| text(env.session().time_names.days[usize::from(temporal::weekday(n))]));
    MONTHNAME = named(&[("MONTHNAME", 1, 1)]).typed(rules::text::<9>).texts(Places::NONE) => |env, _, args| month_name(env, &args[0]);
    WEEKDAY = named(&[("WEEKDAY", 1, 1)]).typed(rules::bigint).digits(1)
        => |env, _, args| day_part(env, &args[0], |n| Value::Int(temporal::weekday(n).into()));
    WEEK = named(&[("WEEK", 1, 2)]).typed(rules::bigint).integers(Places::only(1)).digits(2)
        => |env, _, args| week(env, Function::WEEK, args);
    YEARWEEK = named(&[("YEARWEEK", 1, 2)]).typed(rules::bigint).integers(Places::only(1)).digits(6)
        => |env, _, args| week(env, Function::YEARWEEK, args);
    WEEKOFYEAR = named(&[("WEEKOFYEAR", 1, 1)]).typed(rules::bigint).digits(2) => |env, _, args| week(env, Function::WEEKOFYEAR, args);
    QUARTER = named(&[("QUARTER", 1, 1)]).typed(rules::bigint).digits(1)
        => |env, _, args| part(env, &args[0], |d| Some(Value::Int((i64::from(d.date.month) + 2) / 3)));
    HOUR = named(&[("HOUR", 1, 1)]).typed(rules::bigint).digits(3) => |env, _, args| clock(env, &args[0], |t| i64::from(t.hours()));
    MINUTE = named(&[("MINUTE", 1, 1)]).typed(rules::bigint).digits(2) => |env, _, args| clock(env, &args[0], |t| t.minute().into());
    SECOND = named(&[("SECOND", 1, 1)]).typed(rules::bigint).digits(2) => |env, _, args| clock(env, &args[0], |t| t.second().into());
    MICROSECOND = named(&[("MICROSECOND", 1, 1)]).typed(rules::bigint)
        => |env, _, args| clock(env, &args[0], |t| t.microsecond().into());
    DATEDIFF = named(&[("DATEDIFF", 2, 2)]).typed(rules::bigint).texts(Places::NONE).digits(8) => |env, _, args| date_diff(env, args);
    TIMEDIFF = named(&[("TIMEDIFF", 2, 2)]).typed(difference_type).texts(Places::NONE) => |env, _, args| time_diff(env, args);
    DATE_ADD = of_grammar("DATE_ADD").typed(moved_type)
        => |env, node, args| date_add(env, node, &args[0], &args[1], unit_of(args)?, false);
    DATE_SUB = of_grammar("DATE_SUB").typed(moved_type)
        => |env, node, args| date_add(env, node, &args[0], &args[1], unit_of(args)?, true);
    ADDTIME = named(&[("ADDTIME", 2, 2)]).typed(added_time_type).parameters(Parameters::Time).texts(Places::NONE)
        => |env, node, args| add_time(env, node, args, false);
    SUBTIME = named(&[("SUBTIME", 2, 2)]).typed(added_time_type).parameters(Parameters::Time).texts(Places::NONE)
        => |env, node, args| add_time(env, node, args, true);
    TIMESTAMPDIFF = of_grammar("TIMESTAMPDIFF").typed(rules::bigint) => |env, _, args| timestamp_diff(env, args);
    TIMESTAMPADD = of_grammar("TIMESTAMPADD").typed(timestamp_add_type) => timestamp_add;
    UNIX_TIMESTAMP = named(&[("UNIX_TIMESTAMP", 0, 1)]).typed(unix_timestamp_type).null(Null::AnyArgument) => unix_timestamp;
    FROM_UNIXTIME = named(&[("FROM_UNIXTIME", 1, 2)]).typed(from_unix_time_type).numbers(Places::only(0))
        => |env, _, args| from_unix_time(env, args);
    TO_DAYS = named(&[("TO_DAYS", 1, 1)]).typed(rules::bigint).digits(7) => |env, _, args| day_part(env, &args[0], Value::Int);
    FROM_DAYS = named(&[("FROM_DAYS", 1, 1)]).typed(rules::date).numbers(Places::ALL) => |env, _, args| from_days(env, &args[0]);
    TO_SECONDS = named(&[("TO_SECONDS", 1, 1)]).typed(rules::bigint) => |env, _, args| to_seconds(env, &args[0]);
    TIME_TO_SEC = named(&[("TIME_TO_SEC", 1, 1)]).typed(rules::bigint).digits(9)
        => |env, _, args| Ok(env.time(&args[0])?.map_or(Value::Null, |t| Value::Int(t.micros / MICROS_PER_SECOND)));
    SEC_TO_TIME = named(&[("SEC_TO_TIME", 1, 1)]).typed(sec_to_time_type).numbers(Places::ALL)
        => |env, node, args| sec_to_time(env, node, &args[0]);
    LAST_DAY = named(&[("LAST_DAY", 1, 1)]).typed(rules::date) => |env, _, args| last_day(env, &args[0]);
    MAKEDATE = named(&[("MAKEDATE", 2, 2)]).typed(rules::date).numbers(Places::ALL) => |env, _, args| make_date(env, args);
    MAKETIME = named(&[("MAKETIME", 3, 3)])
        .typed(|_, args, _| Ok(ColumnType::new(TypeKind::Time { fsp: typing::fsp(&args[2].ty) }))).numbers(Places::ALL)
        => make_time;
    DATE_FORMAT = named(&[("DATE_FORMAT", 2, 2)]).typed(formatted_type).texts(Places::NONE)
        => |env, _, args| super::date_format::date_format(env, args);
    TIME_FORMAT = named(&[("TIME_FORMAT", 2, 2)]).typed(formatted_type).texts(Places::NONE)
        => |env, _, args| super::date_format::time_format(env, args);
    STR_TO_DATE = named(&[("STR_TO_DATE", 2, 2)]).typed(super::str_to_date::result_type).texts(Places::NONE)
        => super::str_to_date::str_to_date;
    EXTRACT = of_grammar("EXTRACT").typed(rules::bigint) => |env, _, args| extract(env, args);
    PERIOD_ADD = named(&[("PERIOD_ADD", 2, 2)]).typed(rules::bigint).null(Null::AnyArgument).integers(Places::ALL)
        => |env, _, args| period(env, Function::PERIOD_ADD, args);
    PERIOD_DIFF = named(&[("PERIOD_DIFF", 2, 2)]).typed(rules::bigint).null(Null::AnyArgument).integers(Places::ALL)
        => |env, _, args| period(env, Function::PERIOD_DIFF, args);
    CONVERT_TZ = named(&[("CONVERT_TZ", 3, 3)]).typed(convert_tz_type).texts(Places::NONE) => |env, _, args| convert_tz(env, args);
    /// A TIMESTAMP in UTC: CAST(... AT TIME ZONE).
    TO_UTC = of_grammar("TO_UTC").typed(rules::bigint) => |env, _, args| to_utc(env, &args[0]);
    /// CAST(... AS YEAR)
    TO_YEAR = of_grammar("TO_YEAR").typed(rules::year) => |env, _, args| to_year(env, &args[0]);
}

fn month_name<'a>(env: &Env<'a>, date: &'a Expr) -> Evaluated<'a> {
    part(env, date, |d| {
        let index = usize::from(d.date.month).checked_sub(1)?;
        env.session().time_names.months.get(index).map(|name| text(name))
    })
}

fn timestamp_add<'a>(env: &Env<'a>, node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let operands = operands(args);
    date_add(env, node, operands[1], operands[0], unit_of(args)?, false)
}

/// CAST(... AS YEAR): one or two digits are of 1970 to 2069, the number 0 is itself.
fn to_year<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let value = match env.operand(arg)? {
        (Value::Bytes(bits), arg) if coerce::is_bits_literal(&arg.ty) => Value::UInt(env.number_of_bits(&bits)?),
        (value, arg) => match env.plain_number(value, &arg.ty)? {
            Value::Bytes(text) if coerce::is_document(&arg.ty) && !text.first().is_some_and(u8::is_ascii_digit) => Value::Int(0),
            value => value,
        },
    };
    let is_text = matches!(value, Value::Bytes(_));
    let number = match &value {
        Value::Null => return Ok(Value::Null),
        Value::Date(d) => i128::from(d.year),
        Value::DateTime(d) => i128::from(d.date.year),
        Value::Time(_) => {
            let today = env.session().time_zone.to_civil(env.session().statement_start_us);
            i128::from(today.unwrap_or_default().date.year)
        }
        Value::Bytes(text) => {
            let head = text.trim_ascii();
            let digits = head.iter().take_while(|b| b.is_ascii_digit()).count();
            let number = std::str::from_utf8(&head[..digits]).ok().and_then(|n| n.parse().ok());
            let Some(number) = number else {
                env.session().warn(Error::from(Condition::WrongValue {
                    kind: "YEAR".into(),
                    value: (String::from_utf8_lossy(text)).into(),
                }));
                return Ok(Value::Null);
            };
            if digits < head.len() {
                env.session().warn(Error::TruncatedWrongValue { what: "YEAR", value: coerce::plain_text(&value) });
            }
            number
        }
        number => env.as_integer(number)?,
    };
    Ok(match number {
        0 if !is_text => Value::UInt(0),
        0..70 => Value::UInt(number as u64 + 2000),
        70..100 => Value::UInt(number as u64 + 1900),
        1901..=2155 => Value::UInt(number as u64),
        _ => {
            let shown = match &value {
                Value::Bytes(_) => coerce::plain_text(&value),
                Value::Double(x) => (*x as i64).to_string(),
                // Of a BIGINT UNSIGNED that of the same bits.
                _ => (number as i64).to_string(),
            };
            env.session().warn(Error::TruncatedWrongValue { what: "YEAR", value: shown });
            Value::Null
        }
    })
}

/// A moment of the session's zone in UTC.
fn to_utc<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(civil) = env.datetime(arg)? else { return Ok(Value::Null) };
    Ok(match env.session().time_zone.to_utc(civil) {
        Moment::At(micros) => DateTime::from_utc_micros(micros).map_or(Value::Null, Value::DateTime),
        _ => Value::Null,
    })
}

fn text(s: &'static str) -> Value<'static> {
    Value::Bytes(Cow::Borrowed(s.as_bytes()))
}

/// The statement's (or, for SYSDATE, the present) moment; the result type's fsp cuts it.
fn now<'a>(env: &Env<'a>, function: Function, node: &'a Expr) -> Evaluated<'a> {
    let micros = match function {
        Function::SYSDATE => os::time::since_epoch().as_micros() as i64,
        _ => env.session().statement_start_us,
    };
    let utc = matches!(function, Function::UTC_DATE | Function::UTC_TIME | Function::UTC_TIMESTAMP);
    let civil = if utc { DateTime::from_utc_micros(micros) } else { env.session().time_zone.to_civil(micros) };
    let civil = civil.unwrap_or_default();
    Ok(match node.ty.kind {
        TypeKind::Date => Value::Date(civil.date),
        TypeKind::Time { fsp } => Value::Time(civil.time().to_fsp(fsp, true)),
        TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => Value::DateTime(civil.to_fsp(fsp, true).unwrap_or(civil)),
        _ => Value::DateTime(civil),
    })
}

fn part<'a>(env: &Env<'a>, arg: &'a Expr, compute: impl Fn(DateTime) -> Option<Value<'a>>) -> Evaluated<'a> {
    let value = env.date_moment(arg)?;
    let date = match month_and_day(&value) {
        Some(date) if !coerce::is_document(&arg.ty) => Some(date.at_midnight()),
        _ => env.as_loose_datetime(&coerce::without_time(value))?,
    };
    Ok(date.and_then(compute).unwrap_or(Value::Null))
}

fn date_of<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let value = env.date_moment(arg)?;
    if !env.session().sql_mode.no_zero_in_date
        && let Some(date) = month_and_day(&value)
    {
        return Ok(Value::Date(date));
    }
    Ok(env.as_datetime(&coerce::without_time(value))?.map_or(Value::Null, |d| Value::Date(d.date)))
}

/// The date that an argument is; of a number its time of day is not looked at.
fn day_of<'a>(env: &Env<'a>, arg: &'a Expr) -> Step<Option<Date>> {
    let value = coerce::without_time(env.date_moment(arg)?);
    Ok(env.as_datetime(&value)?.map(|d| d.date))
}

/// The numbers 0 to 31 and 100 are a month and a day of 2000, either of which may be zero; a fraction is not looked at.
pub(crate) fn month_and_day(value: &Value<'_>) -> Option<Date> {
    let n = match value {
        Value::Int(n) => u64::try_from(*n).ok()?,
        Value::UInt(n) => *n,
        Value::Double(x) if *x > -1.0 && *x < 101.0 => *x as u64,
        Value::Decimal(d) if d.to_f64() > -1.0 && d.to_f64() < 101.0 => d.to_f64() as u64,
        _ => return None,
    };
    (n <= 31 || n == 100).then_some(Date { year: 2000, month: (n / 100) as u8, day: (n % 100) as u8 })
}

/// Of dates that exist only: NULL for zero parts.
fn day_part<'a>(env: &Env<'a>, arg: &'a Expr, compute: impl Fn(i64) -> Value<'a>) -> Evaluated<'a> {
    Ok(day_of(env, arg)?.and_then(|date| date.day_number()).map_or(Value::Null, compute))
}

/// Of a TIME, or of the time of day of a datetime.
fn clock<'a>(env: &Env<'a>, arg: &'a Expr, compute: impl Fn(Time) -> i64) -> Evaluated<'a> {
    Ok(env.time(arg)?.map_or(Value::Null, |t| Value::Int(compute(t))))
}

fn timestamp<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(d) = env.datetime(&args[0])? else { return Ok(Value::Null) };
    let Some(time) = args.get(1) else { return Ok(Value::DateTime(d)) };
    let Some(t) = env.time(time)? else { return Ok(Value::Null) };
    Ok(d.add_interval(&Interval::from_micros(t.micros)).map_or(Value::Null, Value::DateTime))
}

fn week<'a>(env: &Env<'a>, function: Function, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(date) = day_of(env, &args[0])? else { return Ok(Value::Null) };
    let mode = match (function, args.get(1)) {
        (Function::WEEKOFYEAR, _) => 3,
        (_, Some(mode)) => match env.integer(mode)? {
            Some(mode) => mode.rem_euclid(8) as u64,
            // As in MySQL: no week, and not NULL.
            None => return Ok(Value::Int(0)),
        },
        (Function::YEARWEEK, None) => 0,
        (_, None) => env.session().week_format.into(),
    };
    // YEARWEEK never answers week 0: it belongs to the year before.
    let mode = if function == Function::YEARWEEK { mode | 2 } else { mode };
    Ok(match temporal::week_and_year(date, WeekMode::from_number(mode)) {
        None => Value::Null,
        Some((week, year)) if function == Function::YEARWEEK => Value::Int(i64::from(year) * 100 + i64::from(week)),
        Some((week, _)) => Value::Int(week.into()),
    })
}

fn date_diff<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let day = |arg| -> Step<Option<i64>> { Ok(day_of(env, arg)?.and_then(|date| date.day_number())) };
    let (Some(a), Some(b)) = (day(&args[0])?, day(&args[1])?) else { return Ok(Value::Null) };
    Ok(Value::Int(a - b))
}

/// An argument of TIMEDIFF and ADDTIME: of a document its text, of a BIT its bytes, of a YEAR its number.
fn as_written<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    if coerce::is_document(&arg.ty) {
        return Ok(env.text(arg)?.map_or(Value::Null, Value::Bytes));
    }
    // What is a date by its type is one, whatever IF chooses.
    let as_it_is = arg.ty.kind == TypeKind::Year || matches!(class(&arg.ty), Class::Date | Class::DateTime);
    if as_it_is { env.eval(arg) } else { env.moment(arg) }
}

/// A TIME or a DATETIME argument, as TIMEDIFF and ADDTIME take them.
enum Operand {
    Time(Time),
    DateTime(DateTime),
}

fn time_or_datetime(env: &Env<'_>, value: &Value<'_>) -> Step<Option<Operand>> {
    Ok(match value {
        Value::DateTime(d) => Some(Operand::DateTime(*d)),
        Value::Date(d) => Some(Operand::DateTime(d.at_midnight())),
        // A text with a date in it is a datetime; a short text that is not a date may still begin with a time.
        Value::Bytes(s) if s.iter().filter(|b| **b == b'-').count() >= 2 && (s.len() >= TIMESTAMP_BYTES_MIN || is_date(s)) => {
            env.as_datetime(value)?.map(Operand::DateTime)
        }
        // A number too large for a time is a date.
        Value::Int(n) if n.unsigned_abs() > TIME_NUMBER_MAX => env.as_datetime(value)?.map(Operand::DateTime),
        Value::Decimal(d) if d.to_f64().abs() >= DATE_NUMBER_MIN => env.as_datetime(value)?.map(Operand::DateTime),
        Value::Double(x) if x.abs() >= DATE_NUMBER_MIN => env.as_datetime(value)?.map(Operand::DateTime),
        _ => env.as_time(value)?.map(Operand::Time),
    })
}

/// Does the text read as a date that exists?
fn is_date(text: &[u8]) -> bool {
    temporal::parse_datetime(text).is_some_and(|read| read.value.date.check(DateRules::default()).is_ok())
}

fn time_diff<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (a, b) = (as_written(env, &args[0])?, as_written(env, &args[1])?);
    let (Some(a), Some(b)) = (time_or_datetime(env, &a)?, time_or_datetime(env, &b)?) else { return Ok(Value::Null) };
    let micros = match (a, b) {
        (Operand::Time(a), Operand::Time(b)) => a.micros - b.micros,
        (Operand::DateTime(a), Operand::DateTime(b)) => loose_micros(&a) - loose_micros(&b),
        // Different kinds give NULL.
        _ => return Ok(Value::Null),
    };
    Ok(Value::Time(clamp_time(env, micros)?))
}

/// Microseconds since the year 0, counting zero months and days like others.
fn loose_micros(d: &DateTime) -> i64 {
    let Date { year, month, day } = d.date;
    let days = match d.date.day_number() {
        Some(days) => days,
        None if year == 0 && month == 0 => 0,
        None => {
            let (mut year, month) = (i64::from(year), i64::from(month));
            let mut days = 365 * year + 31 * (month - 1) + i64::from(day);
            if month <= 2 {
                year -= 1;
            } else {
                days -= (month * 4 + 23) / 10;
            }
            days + year / 4 - (year / 100 + 1) * 3 / 4
        }
    };
    days * MICROS_PER_DAY + d.time_micros()
}

/// The largest TIME, with a warning, for what lies beyond.
fn clamp_time(env: &Env<'_>, micros: i64) -> Step<Time> {
    let max = temporal::TIME_MICROS_MAX;
    if micros.unsigned_abs() > max.unsigned_abs() {
        let value = coerce::plain_text(&Value::Time(Time { micros: micros.max(-i64::MAX) }));
        env.problem(Error::TruncatedWrongValue { what: "time", value })?;
    }
    Ok(Time { micros: micros.clamp(-max, max) })
}

/// The unit, which the binder passes as a literal argument of its name.
fn unit_of(args: &[Expr]) -> Step<IntervalUnit> {
    let unit = args.iter().find_map(unit_literal);
    unit.ok_or_else(|| Error::NotSupported("this interval unit".into()).into())
}

pub(super) fn unit_literal(expr: &Expr) -> Option<IntervalUnit> {
    match &expr.kind {
        ExprKind::Literal(Value::Bytes(name)) => IntervalUnit::parse(std::str::from_utf8(name).ok()?),
        _ => None,
    }
}

/// The arguments other than the unit.
fn operands(args: &[Expr]) -> Vec<&Expr> {
    let unit = args.iter().position(|arg| unit_literal(arg).is_some());
    args.iter().enumerate().filter(|(n, _)| Some(*n) != unit).map(|(_, arg)| arg).collect()
}

/// An amount of a unit; None where it is NULL, or beyond what an interval can be.
pub fn interval<'a>(env: &Env<'a>, amount: &'a Expr, unit: IntervalUnit) -> Step<Option<Interval>> {
    if unit.is_compound() {
        return Ok(env.text(amount)?.and_then(|s| Interval::parse(&s, unit)));
    }
    let (value, amount) = env.operand(amount)?;
    let value = match env.plain_number(value, &amount.ty)? {
        // A text is read as an integer, except for seconds.
        Value::Bytes(text) if unit != IntervalUnit::Second => {
            let n = env.as_integer(&Value::Bytes(text))?;
            Value::Int(i64::try_from(n).or_else(|_| u64::try_from(n).map(u64::cast_signed)).unwrap_or(i64::MAX))
        }
        value => env.as_number(value)?,
    };
    Ok(Some(match value {
        Value::Null => return Ok(None),
        // Seconds may have a fraction; other units are rounded.
        Value::Decimal(_) | Value::Double(_) if unit == IntervalUnit::Second => {
            let micros = match &value {
                Value::Decimal(seconds) => micros_of(seconds),
                other => Decimal::from_f64(env.as_double(other)?).ok().and_then(|seconds| micros_of(&seconds)),
            };
            let Some(micros) = micros else { return Ok(None) };
            Interval::from_micros(micros)
        }
        other => {
            let n = env.as_integer(&other)?;
            // Beyond the signed range an integer counts backwards, as in MySQL; other numbers end there.
            let n = if coerce::is_integer_value(&other) { n } else { n.min(i64::MAX.into()) };
            let Ok(n) = i64::try_from(n).or_else(|_| u64::try_from(n).map(u64::cast_signed)) else { return Ok(None) };
            Interval::from_integer(n, unit)
        }
    }))
}

/// Seconds as whole microseconds; the rest is cut off.
fn micros_of(seconds: &Decimal) -> Option<i64> {
    let seconds = seconds.truncate_scale(6).ok()?;
    seconds.multiply(&Decimal::from_i64(MICROS_PER_SECOND)).ok()?.to_i64().ok()
}

/// Microseconds of so many seconds, rounded as the session's mode wants it.
fn rounded_micros_of(env: &Env<'_>, seconds: &Decimal) -> Option<i64> {
    if env.session().sql_mode.time_truncate_fractional {
        return micros_of(seconds);
    }
    seconds.multiply(&Decimal::from_i64(MICROS_PER_SECOND)).ok()?.to_i64().ok()
}

/// DATE_ADD, DATE_SUB, TIMESTAMPADD and `d + INTERVAL n unit`.
fn date_add<'a>(
    env: &Env<'a>,
    node: &'a Expr,
    date: &'a Expr,
    amount: &'a Expr,
    unit: IntervalUnit,
    subtract: bool,
) -> Evaluated<'a> {
    let value = if class(&node.ty) == Class::Time { env.moment(date)? } else { env.date_moment(date)? };
    if matches!(value, Value::Null) {
        return Ok(Value::Null);
    }
    let interval = || -> Step<Option<Interval>> {
        Ok(interval(env, amount, unit)?.map(|interval| if subtract { interval.negate() } else { interval }))
    };
    if let Value::Time(t) = value
        && class(&node.ty) == Class::Time
    {
        let Some(interval) = interval()? else { return Ok(Value::Null) };
        return t.add_interval(&interval).map_or_else(|| overflow(env, "time"), |sum| Ok(Value::Time(sum)));
    }
    let whole = DateRules { no_zero_date: true, no_zero_in_date: true, ..coerce::date_rules(env.session()) };
    let moment = match &value {
        Value::Date(_) | Value::DateTime(_) | Value::Time(_) => env.as_datetime(&value)?.filter(|d| !d.date.has_zero_part()),
        value => env.read_datetime(value, whole)?,
    };
    let Some(d) = moment else { return Ok(Value::Null) };
    let Some(interval) = interval()? else { return Ok(Value::Null) };
    let Some(sum) = d.add_interval(&interval) else { return overflow(env, "datetime") };
    // A DATE stays a DATE if the unit counts days, even if the value is not a date.
    let stays_date = || -> Step<bool> {
        let was_date = match &value {
            // What was moved before is a moment.
            Value::Bytes(_) if env.chosen(date)?.is_some_and(is_moved) => false,
            Value::Bytes(text) => !coerce::has_time_part(text),
            Value::Int(n) => n.unsigned_abs() < 100_000_000,
            Value::UInt(n) => *n < 100_000_000,
            Value::Decimal(d) => d.to_f64().abs() < 1e8,
            Value::Double(x) => x.abs() < 1e8,
            // Years, dates in documents and what IF chooses are moments as well.
            _ => false,
        };
        Ok(was_date && unit.is_date_only())
    };
    Ok(match class(&node.ty) {
        Class::Date => Value::Date(sum.date),
        Class::String if stays_date()? => Value::Bytes(Cow::Owned(coerce::plain_text(&Value::Date(sum.date)).into_bytes())),
        Class::String => {
            let text = coerce::datetime_text(&sum, if sum.micros == 0 { 0 } else { 6 });
            Value::Bytes(Cow::Owned(text.into_bytes()))
        }
        Class::Double if stays_date()? => Value::Double(env.as_double(&Value::Date(sum.date))?),
        Class::Double => Value::Double(env.as_double(&Value::DateTime(sum))?),
        _ => Value::DateTime(sum),
    })
}

/// The text of a TIME that DATE_ADD, ADDTIME and their like have made has all digits behind the point, or none. Other values stay.
pub(crate) fn moved_time_as_text<'a>(value: Value<'a>, expr: &Expr) -> Value<'a> {
    match (&value, &expr.kind) {
        (
            Value::Time(_),
            ExprKind::Call {
                function: Function::DATE_ADD | Function::DATE_SUB | Function::TIMESTAMPADD | Function::ADDTIME | Function::SUBTIME,
                ..
            },
        ) => Value::Bytes(Cow::Owned(coerce::plain_text(&value).into_bytes())),
        _ => value,
    }
}

/// The outcome of DATE_ADD and its like.
fn is_moved(date: &Expr) -> bool {
    let is_sum =
        matches!(&date.kind, ExprKind::Call { function: Function::DATE_ADD | Function::DATE_SUB | Function::TIMESTAMPADD, .. });
    is_sum && !matches!(date.ty.kind, TypeKind::Date)
}

#[cold]
fn overflow<'a>(env: &Env<'_>, what: &'static str) -> Evaluated<'a> {
    env.problem(Error::DatetimeOverflow { what })?;
    Ok(Value::Null)
}

/// Whole units from the first to the second moment.
fn timestamp_diff<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let unit = unit_of(args)?;
    let operands = operands(args);
    let (Some(from), Some(to)) = (env.datetime(operands[0])?, env.datetime(operands[1])?) else { return Ok(Value::Null) };
    let (Some(from_us), Some(to_us)) = (from.to_utc_micros(), to.to_utc_micros()) else { return Ok(Value::Null) };
    let micros = to_us - from_us;
    Ok(Value::Int(match unit {
        IntervalUnit::Microsecond => micros,
        IntervalUnit::Second => micros / MICROS_PER_SECOND,
        IntervalUnit::Minute => micros / (60 * MICROS_PER_SECOND),
        IntervalUnit::Hour => micros / (3600 * MICROS_PER_SECOND),
        IntervalUnit::Day => micros / MICROS_PER_DAY,
        IntervalUnit::Week => micros / (7 * MICROS_PER_DAY),
        IntervalUnit::Month => whole_months(&from, &to),
        IntervalUnit::Quarter => whole_months(&from, &to) / 3,
        IntervalUnit::Year => whole_months(&from, &to) / 12,
        _ => return Ok(Value::Null),
    }))
}

fn whole_months(from: &DateTime, to: &DateTime) -> i64 {
    if from > to {
        return -whole_months(to, from);
    }
    let months = |d: &DateTime| i64::from(d.date.year) * 12 + i64::from(d.date.month);
    let rest = |d: &DateTime| (d.date.day, d.time_micros());
    months(to) - months(from) - i64::from(rest(to) < rest(from))
}

fn add_time<'a>(env: &Env<'a>, node: &'a Expr, args: &'a [Expr], subtract: bool) -> Evaluated<'a> {
    let value = as_written(env, &args[0])?;
    if matches!(value, Value::Null) {
        return Ok(Value::Null);
    }
    let (Some(base), Some(time)) = (time_or_datetime(env, &value)?, env.time(&args[1])?) else { return Ok(Value::Null) };
    let micros = if subtract { -time.micros } else { time.micros };
    let sum = match base {
        Operand::Time(t) => Value::Time(clamp_time(env, t.micros + micros)?),
        Operand::DateTime(d) => match d.add_interval(&Interval::from_micros(micros)) {
            Some(sum) => Value::DateTime(sum),
            None => return overflow(env, "datetime"),
        },
    };
    if class(&node.ty) != Class::String {
        return Ok(sum);
    }
    // Of texts the fraction shows only where there is one.
    let text = match &sum {
        Value::Time(t) => coerce::time_text(t, if t.microsecond() == 0 { 0 } else { 6 }),
        Value::DateTime(d) => coerce::datetime_text(d, if d.micros == 0 { 0 } else { 6 }),
        _ => unreachable!("made above"),
    };
    Ok(Value::Bytes(Cow::Owned(text.into_bytes())))
}

fn unix_timestamp<'a>(env: &Env<'a>, node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let micros = match args.first() {
        None => env.session().statement_start_us / MICROS_PER_SECOND * MICROS_PER_SECOND,
        Some(arg) => {
            let any_date = DateRules { allow_invalid: false, ..DateRules::default() };
            if env.eval(arg)?.is_null() {
                return Ok(Value::Null);
            }
            let value = env.date_moment(arg)?;
            // What is not a date counts as the beginning.
            let moment = env.read_datetime(&value, any_date)?.map(|d| env.session().time_zone.to_utc(d));
            match moment {
                Some(Moment::At(micros) | Moment::Gap(micros)) if (0..=UNIX_MICROS_MAX).contains(&micros) => micros,
                _ => 0,
            }
        }
    };
    if class(&node.ty) == Class::Decimal {
        return Ok(Value::Decimal(Decimal::from_parts(micros as u128, 6, false)));
    }
    Ok(Value::Int(micros / MICROS_PER_SECOND))
}

fn from_unix_time<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(seconds) = env.decimal(&args[0])? else { return Ok(Value::Null) };
    let micros = rounded_micros_of(env, &seconds);
    let Some(micros) = micros.filter(|m| (0..=UNIX_MICROS_MAX).contains(m)) else { return Ok(Value::Null) };
    let Some(civil) = env.session().time_zone.to_civil(micros) else { return Ok(Value::Null) };
    match args.get(1) {
        None => Ok(Value::DateTime(civil)),
        Some(format) => {
            let Some(format) = env.text(format)? else { return Ok(Value::Null) };
            Ok(super::date_format::format_datetime(env, &civil, &format))
        }
    }
}

fn from_days<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(n) = env.integer(arg)? else { return Ok(Value::Null) };
    let date = i64::try_from(n).ok().and_then(Date::from_day_number);
    Ok(match date {
        Some(date) => Value::Date(date),
        None if env.session().sql_mode.no_zero_date => Value::Null,
        None => Value::Date(Date::default()),
    })
}

fn to_seconds<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(d) = env.datetime(arg)? else { return Ok(Value::Null) };
    let Some(days) = d.date.day_number() else { return Ok(Value::Null) };
    Ok(Value::Int(days * temporal::SECONDS_PER_DAY + d.time_micros() / MICROS_PER_SECOND))
}

fn sec_to_time<'a>(env: &Env<'a>, node: &'a Expr, arg: &'a Expr) -> Evaluated<'a> {
    let truncate = env.session().sql_mode.time_truncate_fractional;
    let micros = match env.number(arg)? {
        Value::Null => return Ok(Value::Null),
        Value::Int(n) => n.saturating_mul(MICROS_PER_SECOND),
        Value::UInt(n) => i64::try_from(n).unwrap_or(i64::MAX).saturating_mul(MICROS_PER_SECOND),
        other => {
            let micros = env.as_double(&other)? * MICROS_PER_SECOND as f64;
            (if truncate { micros.trunc() } else { micros.round() }) as i64
        }
    };
    let fsp = match node.ty.kind {
        TypeKind::Time { fsp } => fsp,
        _ => 6,
    };
    Ok(Value::Time(clamp_time(env, micros)?.to_fsp(fsp, truncate)))
}

fn last_day<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    part(env, arg, |d| {
        let Date { year, month, .. } = d.date;
        (month > 0).then(|| Value::Date(Date { year, month, day: temporal::days_in_month(year, month) }))
    })
}

fn make_date<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(year), Some(day)) = (env.integer(&args[0])?, env.integer(&args[1])?) else { return Ok(Value::Null) };
    if !(0..=9999).contains(&year) || !(1..=4_000_000).contains(&day) {
        return Ok(Value::Null);
    }
    let year = full_year(year as u16);
    let first = Date { year, month: 1, day: 1 }.day_number().expect("1 January is a day");
    Ok(Date::from_day_number(first + day as i64 - 1).map_or(Value::Null, Value::Date))
}

/// Two digits mean 1970 to 2069.
pub(super) fn full_year(year: u16) -> u16 {
    match year {
        0..70 => year + 2000,
        70..100 => year + 1900,
        other => other,
    }
}

fn make_time<'a>(env: &Env<'a>, node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(hours), Some(minutes), Some(seconds)) = (env.integer(&args[0])?, env.integer(&args[1])?, env.decimal(&args[2])?)
    else {
        return Ok(Value::Null);
    };
    let (whole, micros) = (seconds.truncate(0).ok().and_then(|whole| whole.to_i64().ok()), rounded_micros_of(env, &seconds));
    let Some(micros) = micros else { return Ok(Value::Null) };
    // 59.9999995 is rounded up to the next minute: 60 is not a valid second.
    if seconds.is_negative() || whole.is_none_or(|whole| whole >= 60) || !(0..60).contains(&minutes) {
        return Ok(Value::Null);
    }
    let hours = hours.clamp(-10_000, 10_000) as i64;
    let rest = minutes as i64 * 60 * MICROS_PER_SECOND + micros;
    let total = hours.abs() * 3600 * MICROS_PER_SECOND + rest;
    let fsp = match node.ty.kind {
        TypeKind::Time { fsp } => fsp,
        _ => 6,
    };
    Ok(Value::Time(clamp_time(env, if hours < 0 { -total } else { total })?.to_fsp(fsp, false)))
}

fn extract<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    use IntervalUnit as U;
    let unit = unit_of(args)?;
    let arg = operands(args)[0];
    if matches!(unit, U::Year | U::Quarter | U::Month | U::Week | U::Day | U::YearMonth) {
        let Some(d) = env.loose_datetime(arg)? else { return Ok(Value::Null) };
        let (year, month, day) = (i64::from(d.date.year), i64::from(d.date.month), i64::from(d.date.day));
        return Ok(Value::Int(match unit {
            U::Year => year,
            U::Quarter => (month + 2) / 3,
            U::Month => month,
            U::YearMonth => year * 100 + month,
            U::Week => {
                let mode = WeekMode::from_number(env.session().week_format.into());
                return Ok(temporal::week_and_year(d.date, mode).map_or(Value::Null, |(w, _)| Value::Int(w.into())));
            }
            _ => day,
        }));
    }
    let value = extracted(env, arg)?;
    let (day, time) = match time_or_datetime(env, &value)? {
        None => return Ok(Value::Null),
        Some(Operand::DateTime(d)) => (i64::from(d.date.day), d.time()),
        Some(Operand::Time(t)) => (0, t),
    };
    let (hour, minute, second) = (i64::from(time.hours()), i64::from(time.minute()), i64::from(time.second()));
    let micros = i64::from(time.microsecond());
    let day_hour = day * 100 + hour;
    let n = match unit {
        U::Hour => hour,
        U::Minute => minute,
        U::Second => second,
        U::Microsecond => micros,
        U::DayHour => day_hour,
        U::DayMinute => day_hour * 100 + minute,
        U::DaySecond => (day_hour * 100 + minute) * 100 + second,
        U::DayMicrosecond => ((day_hour * 100 + minute) * 100 + second) * MICROS_PER_SECOND + micros,
        U::HourMinute => hour * 100 + minute,
        U::HourSecond => (hour * 100 + minute) * 100 + second,
        U::HourMicrosecond => ((hour * 100 + minute) * 100 + second) * MICROS_PER_SECOND + micros,
        U::MinuteSecond => minute * 100 + second,
        U::MinuteMicrosecond => (minute * 100 + second) * MICROS_PER_SECOND + micros,
        _ => second * MICROS_PER_SECOND + micros,
    };
    Ok(Value::Int(if time.is_negative() { -n } else { n }))
}

/// What EXTRACT takes a time from: of a document a time alone.
fn extracted<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    if coerce::is_document(&arg.ty) { Ok(env.time(arg)?.map_or(Value::Null, Value::Time)) } else { env.moment(arg) }
}

/// Periods are YYMM or YYYYMM.
fn period<'a>(env: &Env<'a>, function: Function, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(a), Some(b)) = (env.integer(&args[0])?, env.integer(&args[1])?) else { return Ok(Value::Null) };
    let months = |period: i128| -> Step<i64> {
        let (year, month) = (period / 100, period % 100);
        if !(1..=12).contains(&month) || !(0..=9999).contains(&year) {
            let function = if function == Function::PERIOD_ADD { "period_add" } else { "period_diff" };
            return Err(Error::WrongArguments { function }.into());
        }
        Ok(i64::from(full_year(year as u16)) * 12 + month as i64 - 1)
    };
    if function == Function::PERIOD_DIFF {
        return Ok(Value::Int(months(a)? - months(b)?));
    }
    let total = i128::from(months(a)?) + b;
    Ok(Value::Int(i64::try_from(total.div_euclid(12) * 100 + total.rem_euclid(12) + 1).unwrap_or(0)))
}

/// What CONVERT_TZ converts, in microseconds of UTC: from 1970-01-01 00:00:01 to the end of 3001-01-18 (manual, 14.7).
const CONVERTED_MICROS: std::ops::Range<i64> = MICROS_PER_SECOND..32_536_771_200 * MICROS_PER_SECOND;

fn convert_tz<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(d), Some(from), Some(to)) = (env.datetime(&args[0])?, env.text(&args[1])?, env.text(&args[2])?) else {
        return Ok(Value::Null);
    };
    if d.date.has_zero_part() {
        return Ok(Value::Null);
    }
    let system = TimeZone::detect_system();
    let zone = |name: &[u8]| TimeZone::parse(&String::from_utf8_lossy(name), &system);
    let (Some(from), Some(to)) = (zone(&from), zone(&to)) else { return Ok(Value::Null) };
    // A moment that no TIMESTAMP has stays as it is.
    let micros = match from.to_utc(d) {
        Moment::At(micros) | Moment::Gap(micros) if CONVERTED_MICROS.contains(&micros) => micros,
        _ => return Ok(Value::DateTime(d)),
    };
    Ok(Value::DateTime(to.to_civil(micros).unwrap_or(d)))
}
