//! LIMIT and OFFSET: skips rows, then passes some.

use super::Operator;
use crate::eval::{Env, Step};
use crate::run::Run;
use sql::expr::Expr;
use sql::plan::LimitPlan;

pub(crate) struct Limit<'p> {
    input: Operator<'p>,
    plan: &'p LimitPlan,
    /// Rows to skip, rows to pass; known after the first call.
    left: Option<(u64, u64)>,
}

impl<'p> Limit<'p> {
    pub fn new(input: Operator<'p>, plan: &'p LimitPlan) -> Self {
        Self { input, plan, left: None }
    }

    pub fn first_input(&mut self) -> &mut Operator<'p> {
        &mut self.input
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if self.left.is_none() {
            let env = run.env(&[]);
            let skip = evaluate_count(&env, self.plan.offset.as_ref())?.unwrap_or(0);
            let pass = evaluate_count(&env, self.plan.count.as_ref())?.unwrap_or(u64::MAX);
            self.left = Some((skip, pass));
        }
        let (skip, pass) = self.left.as_mut().expect("set above");
        if *pass == 0 {
            return Ok(false);
        }
        while *skip > 0 {
            if !self.input.next(run)? {
                *pass = 0;
                return Ok(false);
            }
            *skip -= 1;
        }
        if !self.input.next(run)? {
            *pass = 0;
            return Ok(false);
        }
        *pass -= 1;
        Ok(true)
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        self.left = None;
        self.input.rewind(run);
    }

    pub fn slots(&self) -> &[u8] {
        self.input.slots()
    }
}

/// A LIMIT or OFFSET; `None` when there is none. A negative or NULL parameter counts as zero.
pub(crate) fn evaluate_count<'a>(env: &Env<'a>, expr: Option<&'a Expr>) -> Step<Option<u64>> {
    let Some(expr) = expr else { return Ok(None) };
    let n = env.integer(expr)?.unwrap_or(0);
    Ok(Some(n.clamp(0, u64::MAX.into()) as u64))
}
