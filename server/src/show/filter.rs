//! The tail of SHOW: LIKE on one column, WHERE over all.

use super::build::ResultSet;
use crate::error::Result;
use crate::session::State;
use exec::Strictness;
use expr::Expr as BoundExpr;
use sql::ast::{Expr, ShowFilter};
use sql::plan::{LockWait, Locking, Node, Parts, Plan, QueryPlan};
use types::{CollationId, Value};

/// The tail of a SHOW statement, with the values of its parameters.
#[derive(Clone, Copy)]
pub struct Filter<'a> {
    pub written: ShowFilter<'a>,
    pub params: &'a [Value<'a>],
}

/// Keeps the rows that satisfy the filter; LIKE applies to column `like_column`.
pub async fn apply(state: &mut State<'_>, mut result: ResultSet, filter: Filter<'_>, like_column: usize) -> Result<ResultSet> {
    match filter.written {
        ShowFilter::None => {}
        ShowFilter::Like(pattern) => result.rows.retain(|row| match &row[like_column] {
            Value::Bytes(text) => types::collation::like(text, pattern, Some(b'\\'), result.columns[like_column].ty.collation),
            _ => false,
        }),
        ShowFilter::Where(expr) => result.rows = filter_where(state, &mut result, expr, filter.params).await?,
    }
    Ok(result)
}

/// Runs a plan that filters the rows, given as literals.
async fn filter_where(
    state: &mut State<'_>,
    result: &mut ResultSet,
    expr: &Expr<'_>,
    params: &[Value<'_>],
) -> Result<Vec<Vec<Value<'static>>>> {
    let predicate = state.bind_filter(expr, &result.columns, params)?;
    let literals = |row: Vec<Value<'static>>| {
        row.into_iter().zip(&result.columns).map(|(value, column)| BoundExpr::literal(value, column.ty.clone())).collect()
    };
    let rows = std::mem::take(&mut result.rows).into_iter().map(literals).collect();
    let plan = QueryPlan {
        root: Node::Filter { input: Box::new(Node::Values { rows }), predicate },
        columns: result.columns.clone(),
        parts: Parts::default(),
        locking: Locking::None,
        lock_wait: LockWait::Wait,
        params: params.len(),
    };
    let entry = state.entry_of(Plan::Query(plan))?;
    state.collect(&entry, params, Strictness::Arguments).await
}

/// SQL's LIKE, not case-sensitive, with `\` as escape.
pub fn like(pattern: &[u8], text: &[u8]) -> bool {
    types::collation::like(text, pattern, Some(b'\\'), CollationId::UTF8MB4_GENERAL_CI)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(like(b"Wait%", b"wait_timeout"));
        assert!(like(b"wait\\_timeout", b"WAIT_TIMEOUT"));
        assert!(!like(b"wait\\_timeout", b"waitXtimeout"));
        assert!(like(b"_", b"x"));
        assert!(!like(b"", b"x"));
    }
}
