//! Interesting orders: row orders that save work in the operators above. They save a sort, a hash table for grouping or
//! for DISTINCT, or (with LIMIT) the reading of most rows.

use super::group::Grouping;
use super::query::BoundSelect;
use crate::plan::{LimitPlan, SortKey};
use crate::planner::{FromBlock, LeapNeed, NearestNeed, OrderNeed, single_table};
use expr::is_volatile;
use expr::{Aggregate, AggregateFunction, Expr, ExprKind, Function as F};
use types::{TypeKind, Value};

/// A required order, and whether it satisfies ORDER BY.
pub(super) struct Needed {
    pub need: OrderNeed,
    pub sorts: bool,
}

impl BoundSelect {
    /// The order that an index could give the block's rows: for ORDER BY and the groups, or for the groups alone.
    pub(super) fn needed(&self, block: &FromBlock<'_>) -> Option<Needed> {
        if let Some(grouping) = &self.grouping {
            return self.grouped_need(grouping, block);
        }
        if !self.windows.is_empty() {
            return None;
        }
        if let Some(nearest) = self.nearest_need() {
            let need = OrderNeed { nearest: Some(Box::new(nearest)), limit: limit_rows(&self.limit), ..OrderNeed::default() };
            return Some(Needed { need, sorts: true });
        }
        let order = order_need(&self.sort, &self.project, &self.limit);
        if !self.distinct {
            return order.map(|need| Needed { need, sorts: true });
        }
        let selected = columns_of_one_source(self.project[..self.visible].iter());
        let Some((source, groups)) = selected else { return order.map(|need| Needed { need, sorts: true }) };
        let sorts = order.is_some();
        let order = order.filter(|need| need.best.is_none());
        let sorts = sorts && order.is_some();
        let columns = order.map_or_else(Vec::new, |need| need.columns);
        let limit = self.group_limit(sorts, block, &groups);
        let leaps = Some(LeapNeed { source, columns: Vec::new(), extreme: None, least: false, greatest: false });
        Some(Needed { need: OrderNeed { columns, groups, limit, leaps, best: None, nearest: None }, sorts })
    }

    /// ORDER BY a distance LIMIT n: of one table, all of whose conditions its scan judges.
    fn nearest_need(&self) -> Option<NearestNeed> {
        let ([key], Some(limit), Some(tree)) = (&self.sort[..], &self.limit, &self.tree) else { return None };
        let source = single_table(tree)?;
        let mut conditions: Vec<&Expr> = self.filter.iter().collect();
        tree.conditions(&mut conditions);
        let is_plain = !self.distinct && !self.locking && self.having.is_none() && !key.descending && !limit.counts_all;
        let has_subquery = |expr: &&Expr| expr.any(&|part| matches!(part.kind, ExprKind::Subquery(_))) || is_volatile(expr);
        if !is_plain || conditions.iter().any(has_subquery) {
            return None;
        }
        let ExprKind::Slot(slot) = key.expr.kind else { return None };
        let call = &self.project[slot];
        let ExprKind::Call { function: F::DISTANCE | F::VEC_DISTANCE_EUCLIDEAN | F::VEC_DISTANCE_COSINE, args } = &call.kind
        else {
            return None;
        };
        let column_of = |expr: &Expr| match expr.kind {
            ExprKind::Column { source: of, column } if of == source => Some(column),
            _ => None,
        };
        let (column, constant) = match (column_of(&args[0]), column_of(&args[1])) {
            (Some(column), None) => (column, &args[1]),
            (None, Some(column)) => (column, &args[0]),
            _ => return None,
        };
        let (call, constant) = (call.clone(), constant.clone());
        Some(NearestNeed { source, column, call, constant, count: limit.count.clone()?, offset: limit.offset.clone() })
    }

    fn grouped_need(&self, grouping: &Grouping, block: &FromBlock<'_>) -> Option<Needed> {
        if grouping.keys.is_empty() {
            let leaps = leap_need(None, &grouping.aggregates)?;
            let distinct = grouping.aggregates.iter().any(|a| a.distinct);
            return distinct.then(|| Needed { need: OrderNeed { leaps: Some(leaps), ..OrderNeed::default() }, sorts: false });
        }
        let (source, groups) = columns_of_one_source(grouping.keys.iter())?;
        if self.rollup {
            let columns = groups.iter().map(|(source, column)| (*source, *column, false)).collect();
            return Some(Needed { need: OrderNeed { columns, ..OrderNeed::default() }, sorts: false });
        }
        let column_of = |key: &SortKey| {
            let ExprKind::Slot(slot) = key.expr.kind else { return None };
            let ExprKind::Slot(number) = self.project[slot].kind else { return None };
            groups.get(number).map(|(source, column)| (*source, *column, key.descending))
        };
        let sorted: Option<Vec<_>> = self.sort.iter().map(column_of).collect();
        let sorted = sorted.filter(|columns| !columns.is_empty() && self.windows.is_empty());
        let sorts = sorted.is_some();
        let limit = self.group_limit(sorts, block, &groups);
        let leaps = leap_need(Some(source), &grouping.aggregates);
        Some(Needed {
            need: OrderNeed { columns: sorted.unwrap_or_default(), groups, limit, leaps, best: None, nearest: None },
            sorts,
        })
    }

    /// The number of rows that LIMIT requires, if each group is returned as soon as it ends.
    fn group_limit(&self, sorts: bool, block: &FromBlock<'_>, groups: &[(usize, usize)]) -> Option<f64> {
        if self.having.is_some() || !self.windows.is_empty() || !(sorts || self.sort.is_empty()) {
            return None;
        }
        let rows = limit_rows(&self.limit)?;
        let total = block.rows_of(groups.first()?.0);
        let distinct: f64 = groups.iter().map(|place| block.distinct(*place).unwrap_or(total)).product();
        Some(rows * (total / distinct.max(1.0)).max(1.0))
    }
}

/// The columns of expressions that are all columns of one source; values that are the same in all rows are skipped.
fn columns_of_one_source<'e>(exprs: impl Iterator<Item = &'e Expr>) -> Option<(usize, Vec<(usize, usize)>)> {
    let mut columns = Vec::new();
    for expr in exprs {
        match expr.kind {
            ExprKind::Column { source, column } => columns.push((source, column)),
            ExprKind::Literal(_) => {}
            _ => return None,
        }
    }
    let source = columns.first()?.0;
    columns.iter().all(|(other, _)| *other == source).then_some((source, columns))
}

/// What a loose index scan must give for the aggregates, if duplicates do not change them.
fn leap_need(source: Option<usize>, aggregates: &[Aggregate]) -> Option<LeapNeed> {
    let mut need = LeapNeed { source: 0, columns: Vec::new(), extreme: None, least: false, greatest: false };
    let mut source = source;
    for aggregate in aggregates {
        let least = match aggregate.function {
            AggregateFunction::Min => Some(true),
            AggregateFunction::Max => Some(false),
            AggregateFunction::BitAnd | AggregateFunction::BitOr | AggregateFunction::AnyValue => None,
            _ if aggregate.distinct => None,
            _ => return None,
        };
        let mut read = Vec::new();
        for expr in aggregate.exprs() {
            if is_volatile(expr) || expr.any(&|e| matches!(e.kind, ExprKind::Subquery(_) | ExprKind::AssignVariable { .. })) {
                return None;
            }
            expr.each_column(&mut |source, column| read.push((source, column)));
        }
        let own = read.first().map(|(source, _)| *source);
        if *source.get_or_insert(own?) != own.unwrap_or_default() || read.iter().any(|(s, _)| Some(*s) != own) {
            return None;
        }
        match (least, &aggregate.args[0].kind, &aggregate.args[0].ty.kind) {
            // ENUM and SET are ordered by number, but compared as strings here.
            (Some(_), _, TypeKind::Enum { .. } | TypeKind::Set { .. } | TypeKind::Json) => return None,
            (Some(least), ExprKind::Column { column, .. }, _) if need.extreme.is_none_or(|known| known == *column) => {
                need.extreme = Some(*column);
                need.least |= least;
                need.greatest |= !least;
            }
            _ => need.columns.extend(read.into_iter().map(|(_, column)| column)),
        }
    }
    need.source = source?;
    Some(need)
}

/// The sort keys as columns of tables.
fn order_need(sort: &[SortKey], project: &[Expr], limit: &Option<LimitPlan>) -> Option<OrderNeed> {
    if sort.is_empty() {
        return None;
    }
    if let [key] = sort
        && let ExprKind::Slot(slot) = key.expr.kind
        && key.descending
        && matches!(project[slot].kind, ExprKind::Call { function: expr::Function::MATCH, .. })
    {
        let best = Some(Box::new(project[slot].clone()));
        return Some(OrderNeed { best, limit: limit_rows(limit), ..OrderNeed::default() });
    }
    let mut columns = Vec::with_capacity(sort.len());
    for key in sort {
        let ExprKind::Slot(slot) = key.expr.kind else { return None };
        match project[slot].kind {
            ExprKind::Column { source, column } | ExprKind::ColumnOrdinal { source, column } => {
                columns.push((source, column, key.descending));
            }
            _ => return None,
        }
    }
    Some(OrderNeed { columns, limit: limit_rows(limit), ..OrderNeed::default() })
}

/// The number of rows that LIMIT requires; a guess if it is a parameter.
pub(super) fn limit_rows(limit: &Option<LimitPlan>) -> Option<f64> {
    let number = |expr: &Option<Expr>| match expr.as_ref().map(|e| &e.kind) {
        Some(ExprKind::Literal(Value::Int(n))) => Some(*n as f64),
        Some(ExprKind::Literal(Value::UInt(n))) => Some(*n as f64),
        Some(_) => Some(100.0),
        None => None,
    };
    let limit = limit.as_ref().filter(|limit| !limit.counts_all)?;
    Some(number(&limit.count)? + number(&limit.offset).unwrap_or(0.0))
}
