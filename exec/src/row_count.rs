//! The numbers of rows that LIMIT and OFFSET name.

use crate::pause::Step;
use expr::{Env, Expr};

/// A LIMIT or OFFSET; `None` when there is none. A negative or NULL parameter counts as zero.
pub(crate) fn evaluate_count<'a>(env: &Env<'a>, expr: Option<&'a Expr>) -> Step<Option<u64>> {
    let Some(expr) = expr else { return Ok(None) };
    let n = env.integer(expr)?.unwrap_or(0);
    Ok(Some(n.clamp(0, u64::MAX.into()) as u64))
}
