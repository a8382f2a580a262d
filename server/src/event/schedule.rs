//! ON SCHEDULE: computes the interval and the times when the event is created or altered.

use crate::error::{Error, Result};
use crate::routine;
use crate::session::State;
use conditions::Condition;
use sql::ast::{CastTarget, EventSchedule, Expr};
use types::event::{Every, SECONDS_MAX, Schedule};
use types::temporal::{Interval, IntervalUnit, MICROS_PER_SECOND, Moment};
use types::{ColumnType, Value};

/// The moment of the statement, in seconds.
pub fn now(state: &State<'_>) -> i64 {
    state.execution.vars.statement_start_us.div_euclid(MICROS_PER_SECOND)
}

/// Has the last of its times passed?
pub fn is_past(schedule: &Schedule, now: i64) -> bool {
    match schedule {
        Schedule::At(at) => *at < now,
        Schedule::Every { ends, .. } => ends.is_some_and(|ends| ends < now),
    }
}

/// Computes the expressions of a schedule.
pub fn evaluate(state: &mut State<'_>, written: &EventSchedule<'_>) -> Result<Schedule> {
    match written {
        EventSchedule::At(at) => match moment(state, at)? {
            Some(at) => Ok(Schedule::At(at)),
            None => Err(wrong_value(state, "AT", at)),
        },
        EventSchedule::Every { amount, unit, starts, ends } => {
            let every = interval(state, amount, *unit)?;
            let starts = match starts {
                None => now(state),
                Some(starts) => moment(state, starts)?.ok_or_else(|| wrong_value(state, "STARTS", starts))?,
            };
            let ends = match ends {
                None => None,
                Some(ends) => match moment(state, ends)?.filter(|ends| *ends > starts) {
                    Some(ends) => Some(ends),
                    None => return Err(Condition::EventEndsBeforeStarts.into()),
                },
            };
            Ok(Schedule::Every { every, starts, ends })
        }
    }
}

/// A time, as the session's time zone has it. `None`: it is none, or not one of an event.
fn moment(state: &mut State<'_>, expr: &Expr<'_>) -> Result<Option<i64>> {
    let cast = Expr::Cast { arg: expr, target: &CastTarget::DateTime { fsp: 6 } };
    let Value::DateTime(civil) = value(state, &cast)?.0 else { return Ok(None) };
    let seconds = match state.execution.vars.time_zone.to_utc(civil) {
        Moment::At(micros) | Moment::Gap(micros) => micros.div_euclid(MICROS_PER_SECOND),
        Moment::NoDate => return Ok(None),
    };
    Ok((1..=SECONDS_MAX).contains(&seconds).then_some(seconds))
}

fn interval(state: &mut State<'_>, amount: &Expr<'_>, unit: IntervalUnit) -> Result<Every> {
    if unit.has_micros() {
        return Err(Error::NotSupported("MICROSECOND".to_owned()));
    }
    let (given, ty) = value(state, amount)?;
    let every = match &given {
        Value::Null => return Err(wrong_value(state, "INTERVAL", amount)),
        _ if unit.is_compound() => {
            let parsed = Interval::parse(text_of(&given, &ty).as_bytes(), unit);
            let Some(interval) = parsed else { return Err(wrong_value(state, "INTERVAL", amount)) };
            Every::of_interval(&interval, unit)
        }
        // A fraction of a second is cut off, one of other units is rounded.
        Value::Decimal(seconds) if unit == IntervalUnit::Second => {
            let whole = seconds.truncate_scale(0).ok().and_then(|whole| whole.to_i64().ok());
            whole.and_then(|count| Every::new(count, unit))
        }
        Value::Double(seconds) if unit == IntervalUnit::Second => Every::new(*seconds as i64, unit),
        _ => match value(state, &Expr::Cast { arg: amount, target: &CastTarget::Signed })?.0 {
            Value::Int(count) => Every::new(count, unit),
            _ => None,
        },
    };
    every.ok_or_else(|| Error::from(Condition::EventIntervalNotPositiveOrTooBig))
}

/// 1235: MySQL computes no queries here either.
fn value(state: &mut State<'_>, expr: &Expr<'_>) -> Result<(Value<'static>, ColumnType)> {
    const QUERIES: &str = "Event schedule expressions which contain subqueries or stored function calls";
    routine::computed(state, expr, &[], exec::Strictness::Arguments)?.ok_or_else(|| Error::NotSupported(QUERIES.to_owned()))
}

/// 1525
fn wrong_value(state: &mut State<'_>, clause: &str, expr: &Expr<'_>) -> Error {
    let text = match value(state, expr) {
        Ok((Value::Null, _)) => "NULL".to_owned(),
        Ok((value, ty)) => text_of(&value, &ty),
        Err(error) => return error,
    };
    Error::from(Condition::WrongValue { kind: clause.into(), value: text.into() })
}

fn text_of(value: &Value<'_>, ty: &ColumnType) -> String {
    let mut text = Vec::new();
    types::write_text(value, ty, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}
