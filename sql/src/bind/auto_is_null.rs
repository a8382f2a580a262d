//! `sql_auto_is_null`: a WHERE clause that consists of `auto_increment_column IS NULL` alone finds the row inserted
//! last.
//!
//! As in MySQL, the predicate becomes `auto_increment_column = LAST_INSERT_ID()`. It does not if it is negated, if it
//! is one of several predicates, or if an outer join may make the column NULL.

use super::Binder;
use super::compare::Derivation;
use crate::error::Result;
use expr::typing;
use expr::{CompareOp, Expr, ExprKind, Function};

impl Binder<'_> {
    /// Rewrites the conjuncts of a WHERE if they are that single predicate.
    pub(super) fn find_inserted(&mut self, conditions: &mut Vec<Expr>) -> Result<()> {
        if !self.context.auto_is_null() {
            return Ok(());
        }
        let [condition] = &**conditions else { return Ok(()) };
        let arg = match &condition.kind {
            ExprKind::IsNull { arg, negated: false } => &**arg,
            ExprKind::Call { function: Function::ISNULL, args } => &args[0],
            _ => return Ok(()),
        };
        let ExprKind::Column { source, column } = arg.kind else { return Ok(()) };
        if arg.nullable || !self.sources[source].table.columns[column].auto_increment {
            return Ok(());
        }
        let call = ExprKind::Call { function: Function::LAST_INSERT_ID, args: Vec::new() };
        let inserted = Expr { kind: call, ty: typing::bigint(true), nullable: false };
        let found = self.comparison(CompareOp::Equal, arg.clone(), inserted, Derivation::NUMERIC)?;
        *conditions = vec![found];
        Ok(())
    }
}
