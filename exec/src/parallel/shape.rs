//! Which queries are shared out: those whose outcome cannot depend on who reads which row (P2 of [`super`]).

use crate::operator::{AggregateOperator, ScanOperator, can_merge};
use crate::prepared::Prepared;
use crate::run::Run;
use expr::{Aggregate, Expr, ExprKind};
use sql::plan::{Access, Node, Plan, Scan};
use std::sync::Arc;
use table::Table;
use types::schema::TableId;

/// Rows that a scan has to read for it to be worth the trouble. Few with debug assertions, so that tests reach it.
pub(super) const ROWS_MIN: f64 = if cfg!(debug_assertions) { 300.0 } else { ROWS_MIN_SHOWN };
/// The same in every build, for EXPLAIN.
pub(super) const ROWS_MIN_SHOWN: f64 = 20_000.0;

/// An aggregation over the scan of one table.
pub(super) struct Shape<'p> {
    /// The node of the aggregation.
    pub node: &'p Node,
    pub scan: &'p Scan,
    pub table: &'p Arc<Table>,
    keys: &'p [Expr],
    aggregates: &'p [Aggregate],
}

impl<'p> Shape<'p> {
    /// `None`: the query is run by one worker.
    pub fn of(prepared: &'p Prepared) -> Option<Self> {
        let Plan::Query(plan) = &*prepared.plan else { return None };
        let parts = &plan.parts;
        if !parts.subqueries.is_empty() || !parts.stores.is_empty() || !parts.locks.is_empty() {
            return None;
        }
        let shape = Self::of_node(&plan.root, &prepared.sources)?;
        shape.is_safe().then_some(shape)
    }

    /// The same of a plan that was found to be safe.
    pub fn of_safe(plan: &'p Plan, sources: &'p [Option<Arc<Table>>]) -> Option<Self> {
        let Plan::Query(plan) = plan else { return None };
        Self::of_node(&plan.root, sources)
    }

    fn of_node(mut node: &'p Node, sources: &'p [Option<Arc<Table>>]) -> Option<Self> {
        loop {
            node = match node {
                Node::Project { input, .. } | Node::Filter { input, .. } | Node::Sort { input, .. } => input,
                Node::Limit { input, .. } | Node::Trim { input, .. } | Node::Distinct { input, .. } => input,
                Node::Aggregate { input, keys, aggregates, ordered: false } => {
                    let (Node::Scan(scan), [Some(table)]) = (&**input, sources) else { return None };
                    return Some(Self { node, scan, table, keys, aggregates });
                }
                _ => return None,
            };
        }
    }

    fn is_safe(&self) -> bool {
        let scan = self.scan;
        let is_range = match scan.access {
            Access::Full { index, reverse: false, covering } | Access::Ranges { index, reverse: false, covering, .. } => {
                index == 0 || (covering && self.table.covers(index, &scan.columns_used))
            }
            _ => false,
        };
        let filters = scan.filter.iter().chain(scan.index_filter.as_deref());
        let arguments = self.aggregates.iter().flat_map(|aggregate| &aggregate.args);
        scan.read >= ROWS_MIN
            && is_range
            && scan.source == 0
            && !TableId::is_temporary(self.table.id())
            && can_merge(self.aggregates)
            && filters.chain(arguments).chain(self.keys).all(is_plain)
    }

    /// The operator of one worker.
    pub fn operator(&self, run: &Run<'p>) -> AggregateOperator<'p> {
        let scan = ScanOperator::new(self.scan, self.table, None);
        AggregateOperator::of_parts(scan, self.keys, self.aggregates, run)
    }
}

/// Does its value depend on the row, the parameters and the handed over settings only, and has it no effect?
fn is_plain(expr: &Expr) -> bool {
    use ExprKind as K;
    let is_leaf = matches!(expr.kind, K::Literal(_) | K::Param(_) | K::Column { .. } | K::ColumnOrdinal { .. });
    let combines = matches!(
        expr.kind,
        K::Unary { .. }
            | K::Compare { .. }
            | K::Arithmetic { .. }
            | K::And(_)
            | K::Or(_)
            | K::Xor(..)
            | K::Not(_)
            | K::IsNull { .. }
            | K::IsTruth { .. }
            | K::In { .. }
            | K::Between { .. }
            | K::Like { .. }
            | K::Case { .. }
    );
    is_leaf || combines && expr.parts().into_iter().all(is_plain)
}
