//! GREATEST and LEAST.
//!
//! Numbers compare as numbers, dates as dates, times as times, texts as texts. Where a date stands beside a text or a number, all are read as
//! dates. What is none is beyond all dates beside a DATE; beside a DATETIME it is the zero date, and where that is the extreme, the texts
//! are compared after all.

use crate::class::{Class, class};
use crate::coerce;
use crate::eval::{Env, Evaluated, Step};
use crate::tree::{CompareAs, Expr};
use std::cmp::Ordering;
use types::{CollationId, Date, DateTime, Decimal, TypeKind, Value};

/// Beyond every date: MySQL shows this for a value that is not a date, compared with a DATE.
const NO_DATE: Date = Date { year: 16_383, month: 15, day: 31 };

pub(super) fn call<'a>(env: &Env<'a>, node: &'a Expr, args: &'a [Expr], greatest: bool) -> Evaluated<'a> {
    let wanted = if greatest { Ordering::Greater } else { Ordering::Less };
    if matches!(class(&node.ty), Class::String | Class::Double) && args.iter().any(is_dated) {
        return extreme_date(env, node, args, wanted);
    }
    let by = coerce::compare_as_of(&node.ty);
    let mut best: Option<(Value<'a>, &'a Expr)> = None;
    for arg in args {
        let value = match by {
            CompareAs::Temporal | CompareAs::Time => env.eval(arg)?,
            _ => env.eval_to_scale(arg, &node.ty)?,
        };
        if matches!(value, Value::Null) {
            return Ok(Value::Null);
        }
        let better = match &best {
            None => true,
            // Of equal texts the last is the greatest, and the first the least.
            Some((best, _)) => match env.compare_values(by, &value, &arg.ty, best, &node.ty)? {
                Some(Ordering::Equal) => greatest && matches!(by, CompareAs::String(_)),
                order => order == Some(wanted),
            },
        };
        if better {
            best = Some((value, arg));
        }
    }
    match best {
        Some((value, arg)) if matches!(by, CompareAs::Temporal | CompareAs::Time) => env.conform(value, &arg.ty, &node.ty),
        Some((value, _)) => Ok(value),
        None => Ok(Value::Null),
    }
}

fn is_dated(arg: &Expr) -> bool {
    matches!(class(&arg.ty), Class::Date | Class::DateTime)
}

fn extreme_date<'a>(env: &Env<'a>, node: &'a Expr, args: &'a [Expr], wanted: Ordering) -> Evaluated<'a> {
    let only_dates = !args.iter().any(|arg| class(&arg.ty) == Class::DateTime);
    let mut best: Option<DateTime> = None;
    for arg in args {
        let Some(date) = date_of(env, arg, only_dates)? else { return Ok(Value::Null) };
        if best.is_none_or(|best| date.cmp(&best) == wanted) {
            best = Some(date);
        }
    }
    let Some(best) = best else { return Ok(Value::Null) };
    if class(&node.ty) == Class::Double {
        let number =
            if only_dates { Decimal::from_u64(best.date.to_number().into()) } else { env.as_decimal(&Value::DateTime(best))? };
        return Ok(Value::Double(number.to_f64()));
    }
    if !only_dates && best == DateTime::default() {
        return extreme_text(env, args, node.ty.collation, wanted);
    }
    let text = if best == NO_DATE.at_midnight() {
        format!("{}-{}-{}", NO_DATE.year, NO_DATE.month, NO_DATE.day)
    } else if only_dates {
        coerce::plain_text(&Value::Date(best.date))
    } else {
        let mut fsp = 0;
        for arg in args {
            fsp = fsp.max(fraction_digits(env, arg)?);
        }
        coerce::datetime_text(&best, fsp)
    };
    Ok(Value::Bytes(text.into_bytes().into()))
}

/// An argument as a date; `None` is NULL.
fn date_of<'a>(env: &Env<'a>, arg: &'a Expr, only_dates: bool) -> Step<Option<DateTime>> {
    let value = env.eval(arg)?;
    if value.is_null() {
        return Ok(None);
    }
    let none = if only_dates { NO_DATE.at_midnight() } else { DateTime::default() };
    if arg.ty.kind == TypeKind::Year {
        let year = coerce::plain_integer(&value).map_or(0, |year| year as u16);
        return Ok(Some(Date { year, month: 1, day: 1 }.at_midnight()));
    }
    if coerce::is_document(&arg.ty) && !super::document_of(&value, &arg.ty).is_scalar() {
        return Ok(Some(DateTime::default()));
    }
    let value = env.plain(value, &arg.ty);
    if only_dates
        && !coerce::is_document(&arg.ty)
        && let Some(date) = super::month_and_day(&value)
    {
        return Ok(Some(date.at_midnight()));
    }
    let is_number = matches!(value, Value::Int(_) | Value::UInt(_) | Value::Double(_) | Value::Decimal(_));
    if is_number && coerce::is_document(&arg.ty) {
        return Ok(Some(none));
    }
    let value = if is_number && !only_dates { Value::Bytes(env.as_text(value, &arg.ty)?) } else { value };
    Ok(Some(env.as_loose_datetime(&value)?.unwrap_or(none)))
}

fn extreme_text<'a>(env: &Env<'a>, args: &'a [Expr], collation: CollationId, wanted: Ordering) -> Evaluated<'a> {
    let mut best: Option<coerce::Text<'a>> = None;
    for arg in args {
        let Some(text) = env.text(arg)? else { return Ok(Value::Null) };
        let is_better = match &best {
            Some(best) => coerce::compare_strings(collation, &text, best)? == wanted,
            None => true,
        };
        if is_better {
            best = Some(text);
        }
    }
    Ok(best.map_or(Value::Null, Value::Bytes))
}

/// Digits behind the point of a value as a date: a text has six, one that is the same for every row those that are written.
fn fraction_digits<'a>(env: &Env<'a>, arg: &'a Expr) -> Step<u8> {
    Ok(match &arg.ty.kind {
        TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } | TypeKind::Time { fsp } => *fsp,
        TypeKind::Decimal { scale, .. } => (*scale).min(6),
        TypeKind::Double | TypeKind::Float | TypeKind::Json => 6,
        _ if coerce::is_bits_literal(&arg.ty) => 0,
        _ if !coerce::is_string(&arg.ty) => 0,
        _ if !crate::constant::is_fixed(arg) => 6,
        _ => env.text(arg)?.map_or(0, |text| written_digits(&text)),
    })
}

fn written_digits(text: &[u8]) -> u8 {
    if types::temporal::parse_datetime(text).is_none() {
        return 6;
    }
    let fraction = text.iter().position(|&b| b == b'.').map_or(&[][..], |point| &text[point + 1..]);
    fraction.iter().take_while(|b| b.is_ascii_digit()).count().min(6) as u8
}
