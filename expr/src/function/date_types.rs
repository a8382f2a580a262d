//! The types of date and time functions.

use super::rules::{Problem, Typed, Typing, constant_integer, with_known_texts};
use crate::class::{Class, class};
use crate::tree::{Expr, ExprKind};
use crate::typing::{self, is_bits_literal};
use types::temporal::IntervalUnit;
use types::{CollationId, ColumnType, TypeKind, Value};

fn time(fsp: u8) -> ColumnType {
    ColumnType::new(TypeKind::Time { fsp })
}

fn datetime(fsp: u8) -> ColumnType {
    ColumnType::new(TypeKind::DateTime { fsp })
}

/// NOW and its like, by their constant precision.
pub(super) fn datetime_now(function: &'static str, args: &[Expr]) -> Typed {
    Ok(datetime(precision(function, args)?))
}

/// CURTIME and its like.
pub(super) fn time_now(function: &'static str, args: &[Expr]) -> Typed {
    Ok(time(precision(function, args)?))
}

/// The constant precision of NOW(n) and its like.
fn precision(function: &'static str, args: &[Expr]) -> Result<u8, Problem> {
    const MAX: u8 = 6;
    match args.first() {
        None => Ok(0),
        Some(arg) => match constant_integer(Some(arg)).and_then(|n| u64::try_from(n).ok()) {
            Some(n) if n <= MAX.into() => Ok(n as u8),
            Some(n) => {
                Err(Problem::TooBigPrecision { function, precision: u32::try_from(n).unwrap_or(u32::MAX), max: MAX.into() })
            }
            None => Err(Problem::WrongArguments { function }),
        },
    }
}

pub(super) fn time_type(typing: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    Ok(time(typing::time_fsp_of(&with_known_texts(typing, args)[0])))
}

pub(super) fn timestamp_type(typing: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    let args = with_known_texts(typing, args);
    let second = args.get(1).map_or(0, typing::time_fsp_of);
    Ok(datetime(typing::datetime_fsp_of(&args[0]).max(second)))
}

/// The type of TIMEDIFF.
pub(super) fn difference_type(typing: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    let args = with_known_texts(typing, args);
    Ok(time(typing::time_fsp_of(&args[0]).max(typing::time_fsp_of(&args[1]))))
}

/// The type of ADDTIME and SUBTIME.
pub(super) fn added_time_type(typing: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    let args = with_known_texts(typing, args);
    let fsp = typing::fsp_of(&args[0]).max(typing::time_fsp_of(&args[1]));
    Ok(match class(&args[0].ty) {
        Class::Date | Class::DateTime => datetime(fsp),
        Class::Time => time(fsp),
        _ => typing::string(29, typing.literal_collation()),
    })
}

pub(super) fn sec_to_time_type(_: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    let is_text = class(&args[0].ty) == Class::String && !is_bits_literal(&args[0]);
    Ok(time(if is_text { 6 } else { typing::time_fsp_of(&args[0]) }))
}

pub(super) fn from_unix_time_type(typing: &dyn Typing, args: &[Expr], collation: CollationId) -> Typed {
    match args {
        [moment] => Ok(datetime(typing::fsp(&moment.ty))),
        _ => formatted_type(typing, args, collation),
    }
}

/// The type of DATE_FORMAT and its like: a text by the format, the second argument.
pub(super) fn formatted_type(typing: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    let length = constant_length_of_format(args.get(1)).unwrap_or_else(|| typing::text_length(&args[1]) * 10);
    Ok(typing::string(length, typing.literal_collation()))
}

/// The longest string that a constant DATE_FORMAT format produces.
fn constant_length_of_format(arg: Option<&Expr>) -> Option<u64> {
    let ExprKind::Literal(Value::Bytes(format)) = &arg?.kind else { return None };
    let mut length = 0;
    let mut bytes = format.iter();
    while let Some(byte) = bytes.next() {
        length += match (byte, if *byte == b'%' { bytes.next() } else { None }) {
            (b'%', Some(b'M' | b'W')) => 64,
            (b'%', Some(b'a' | b'b')) => 32,
            (b'%', Some(b'D' | b'Y' | b'X' | b'x')) => 4,
            (b'%', Some(b'T')) => 8,
            // The hour of a TIME may have more than two digits.
            (b'%', Some(b'H' | b'k')) => 7,
            (b'%', Some(b'r')) => 11,
            (b'%', Some(b'f')) => 6,
            (b'%', Some(b'j')) => 3,
            (b'%', Some(b'w' | b'%')) => 1,
            (b'%', Some(_)) => 2,
            _ => 1,
        };
    }
    Some(length)
}

pub(super) fn convert_tz_type(typing: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    Ok(datetime(typing::datetime_fsp_of(&with_known_texts(typing, args)[0])))
}

pub(super) fn unix_timestamp_type(typing: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    Ok(match with_known_texts(typing, args).first() {
        Some(arg) if typing::datetime_fsp_of(arg) > 0 => {
            let fsp = u32::from(typing::datetime_fsp_of(arg));
            typing::decimal(11 + fsp, fsp)
        }
        _ => typing::bigint(false),
    })
}

/// Is a unit of an interval at least a day?
pub fn is_of_days(unit: IntervalUnit) -> bool {
    use IntervalUnit as U;
    matches!(unit, U::Day | U::Week | U::Month | U::Quarter | U::Year | U::YearMonth)
}

/// The type of DATE_ADD(date, amount, unit) and DATE_SUB.
pub(super) fn moved_type(typing: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    Ok(date_add_type(&args[0], &args[1], unit_of(&args[2])?, typing.literal_collation()))
}

/// The type of TIMESTAMPADD(unit, amount, date).
pub(super) fn timestamp_add_type(typing: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    Ok(date_add_type(&args[2], &args[1], unit_of(&args[0])?, typing.literal_collation()))
}

fn unit_of(arg: &Expr) -> Result<IntervalUnit, Problem> {
    super::date::unit_literal(arg).ok_or(Problem::WrongArguments { function: "interval" })
}

fn date_add_type(date: &Expr, amount: &Expr, unit: IntervalUnit, collation: CollationId) -> ColumnType {
    use IntervalUnit as U;
    let date_only = is_of_days(unit);
    let has_days = matches!(unit, U::DayHour | U::DayMinute | U::DaySecond | U::DayMicrosecond);
    let amount_fsp = match unit {
        U::Microsecond | U::SecondMicrosecond | U::MinuteMicrosecond | U::HourMicrosecond | U::DayMicrosecond => 6,
        U::Second => match class(&amount.ty) {
            Class::Integer => 0,
            _ => typing::fsp(&amount.ty),
        },
        _ => 0,
    };
    let fsp = typing::fsp(&date.ty).max(amount_fsp);
    match class(&date.ty) {
        Class::Date if date_only => ColumnType::new(TypeKind::Date),
        Class::Date => ColumnType::new(TypeKind::DateTime { fsp: amount_fsp }),
        Class::DateTime => ColumnType::new(TypeKind::DateTime { fsp }),
        Class::Time if !date_only && !has_days => ColumnType::new(TypeKind::Time { fsp }),
        Class::Time => ColumnType::new(TypeKind::DateTime { fsp }),
        _ if matches!(date.kind, ExprKind::Param(_)) => ColumnType::new(TypeKind::DateTime { fsp: 6 }),
        _ if is_bits_literal(date) => typing::string(29, collation),
        _ => typing::string(29, collation),
    }
}
