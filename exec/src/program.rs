//! Computations of stored programs outside of statements: expressions over their variables, and assignments to them.
//!
//! An expression reads no table, so it needs no transaction and no operators. An expression that waits (SLEEP, GET_LOCK) runs as a statement.

use crate::dml::convert_to;
use crate::wait::NoHost;
use expr::Pause;
use expr::Shared;
use expr::{Env, Expr, Result, SessionVars};
use types::{ColumnType, TypeKind, Value, convert};

/// Computes an expression of a stored program, whose variables are `params`. `None`: it waits, so it must run as a query.
/// `strict`: conditions that are errors in a strict data change are errors here.
pub fn evaluate(expr: &Expr, session: &SessionVars, params: &[Value<'_>], strict: bool) -> Result<Option<Value<'static>>> {
    let shared = Shared::change(session, params, &NoHost, strict);
    let env = Env { rows: &expr::NoRows, slots: &[], insert: &[], overlay: &[], shared: &shared };
    told(&shared, env.eval(expr).map(Value::into_owned))
}

/// The text of a constant expression, computed while a statement is bound, without warnings. `None`: NULL, or it waits.
pub fn constant_text(expr: &Expr, session: &SessionVars) -> Option<Vec<u8>> {
    let shared = Shared::new(session, &[], &NoHost);
    let env = Env { rows: &expr::NoRows, slots: &[], insert: &[], overlay: &[], shared: &shared };
    let text = env.text(expr);
    shared.restart_row();
    text.ok().flatten().map(std::borrow::Cow::into_owned)
}

/// As [`evaluate`], for a condition: is it true?
pub fn is_true(expr: &Expr, session: &SessionVars, params: &[Value<'_>], strict: bool) -> Result<Option<bool>> {
    let shared = Shared::change(session, params, &NoHost, strict);
    let env = Env { rows: &expr::NoRows, slots: &[], insert: &[], overlay: &[], shared: &shared };
    told(&shared, env.is_true(expr))
}

fn told<T>(shared: &Shared<'_>, outcome: std::result::Result<T, Pause>) -> Result<Option<T>> {
    match outcome {
        Ok(value) => {
            shared.row_done();
            Ok(Some(value))
        }
        Err(Pause::Error(error)) => Err(*error),
        Err(_) => {
            shared.restart_row();
            Ok(None)
        }
    }
}

/// Converts a value of static type `from` for the variable `name` of type `to`. A value that does not fit is an error in strict
/// mode, otherwise a warning.
#[inline]
pub fn assign(
    session: &SessionVars,
    value: Value<'static>,
    from: &ColumnType,
    to: &ColumnType,
    name: &str,
) -> Result<Value<'static>> {
    assign_as(session, session.sql_mode.strict, value, from, to, name)
}

/// As [`assign`]; the caller says what is strict.
#[inline]
pub fn assign_as(
    session: &SessionVars,
    strict: bool,
    value: Value<'static>,
    from: &ColumnType,
    to: &ColumnType,
    name: &str,
) -> Result<Value<'static>> {
    if value.is_null() || convert::fits_as_it_is(&value, from, to) {
        return Ok(value);
    }
    assign_converted(session, strict, &value, from, to, name)
}

fn assign_converted(
    session: &SessionVars,
    strict: bool,
    value: &Value<'_>,
    from: &ColumnType,
    to: &ColumnType,
    name: &str,
) -> Result<Value<'static>> {
    let stored = convert_to(session, strict, value, from, to, name, 1)?;
    Ok(match stored {
        Value::DateTime(utc) if matches!(to.kind, TypeKind::Timestamp { .. }) => {
            Value::DateTime(session.time_zone.from_stored(utc))
        }
        stored => stored.into_owned(),
    })
}
