//! Values of constants for the planner, before a statement runs: keys for statistics and for estimates from an index.
//!
//! The planner asks only for expressions that read no row and change nothing. If one fails, the planner does without its value, and the
//! error is raised when the statement runs.

use crate::access;
use crate::pause::Step;
use crate::shared::Shared;
use crate::wait::NoHost;
use expr::{Env, Expr, SessionVars};
use sql::plan::KeyRange;
use table::{EncodedRange, Table};
use types::Value;

/// A session's values for the planner.
pub struct Constants<'a> {
    pub session: &'a SessionVars,
    /// The parameters of the current execution, if they are known.
    pub params: &'a [Value<'a>],
}

impl Constants<'_> {
    /// A value in the form of the column's statistics; `None`: NULL, or not a value of the column.
    pub fn statistics_key(&self, table: &Table, column: usize, value: &Expr) -> Option<Vec<u8>> {
        let part = table::statistics_key(table.def(), column);
        self.with(value, |env, value| {
            let mut key = Vec::new();
            let found = access::key_value(env, value, &part.ty)?;
            Ok(found.and_then(|(value, _)| part.encode(&value, &mut key).is_ok().then_some(key)))
        })?
    }

    /// A range of an index; empty if no entry can be in it.
    pub fn range(&self, table: &Table, index: usize, range: &KeyRange) -> Option<Option<EncodedRange>> {
        let exprs = range.prefix.iter().chain(range.low.iter().chain(&range.high).map(|(expr, _)| expr));
        if !exprs.clone().all(|expr| self.are_known(expr)) {
            return None;
        }
        self.evaluated(|env| {
            let mut out = EncodedRange::default();
            Ok(access::encode_range(env, table, index, range, &mut out)?.then_some(out))
        })
    }

    pub(crate) fn with<T>(&self, value: &Expr, step: impl for<'e> FnOnce(&Env<'e>, &'e Expr) -> Step<T>) -> Option<T> {
        if !self.are_known(value) {
            return None;
        }
        let shared = Shared::new(self.session, self.params, &NoHost);
        let env = Env { rows: &expr::NoRows, slots: &[], insert: &[], overlay: &[], shared: &shared };
        let result = step(&env, value).ok();
        shared.restart_row();
        result
    }

    fn evaluated<T>(&self, step: impl FnOnce(&Env<'_>) -> Step<T>) -> Option<T> {
        let shared = Shared::new(self.session, self.params, &NoHost);
        let env = Env { rows: &expr::NoRows, slots: &[], insert: &[], overlay: &[], shared: &shared };
        let result = step(&env).ok();
        shared.restart_row();
        result
    }

    /// Are the values of its parameters known?
    fn are_known(&self, expr: &Expr) -> bool {
        let missing = |e: &Expr| matches!(e.kind, expr::ExprKind::Param(n) if n >= self.params.len());
        !expr.any(&missing)
    }
}
