//! Estimates the rows and the cost of a planned tree.
//!
//! Scans and hash joins carry the planner's estimates; the estimates of the operators above follow from them. The unit
//! of cost is one row read in sequence.

use super::selectivity::usual_selectivity;
use crate::plan::{Access, Derived, JoinKind, LimitPlan, Node, Plan, Scan};
use expr::{Aggregate, AggregateFunction, Expr, ExprKind};
use types::Value;

/// Rounds that a recursive common table expression is expected to take.
const ROUNDS: f64 = 10.0;
/// The cost of a row that is stored or put into a hash table.
pub(crate) const KEEP_COST: f64 = 2.0;
/// The fixed cost of building a hash table.
pub(crate) const TABLE_COST: f64 = 10.0;
/// The cost of a hash table lookup.
pub(crate) const PROBE_COST: f64 = 1.0;
/// Judging one row by a condition of its own operator.
const FILTER_COST: f64 = 0.1;
/// Finding a row's group by hash, if the row need not be stored.
pub(crate) const GROUP_COST: f64 = 0.5;
/// Sorting, per row and level.
pub(crate) const SORT_COST: f64 = 0.3;

/// Of one run of an operator.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Estimate {
    pub rows: f64,
    /// With all below it.
    pub cost: f64,
}

/// About how many rows the node gives.
pub(crate) fn node_rows(node: &Node) -> f64 {
    estimate(node).rows
}

/// What a scan reads, and the part that passes its filter.
pub(crate) fn scan_estimate(scan: &Scan) -> (Estimate, Estimate) {
    let mut cost = scan.cost;
    if let Access::Derived(Derived { input: Some(input), .. }) = &scan.access {
        cost += estimate(input).cost;
    }
    (Estimate { rows: scan.read, cost }, Estimate { rows: scan.rows, cost })
}

/// Rows and cost of one run.
pub(crate) fn estimate(node: &Node) -> Estimate {
    match node {
        Node::OneRow => Estimate { rows: 1.0, cost: 0.0 },
        Node::Scan(scan) => scan_estimate(scan).1,
        Node::AsOf { input, .. } => estimate(input),
        Node::NestedLoop { left, right, kind, .. } => {
            // A derived table is materialized once.
            let once = made_once(right);
            let (left, right) = (estimate(left), estimate(right));
            let cost = left.cost + once + left.rows.max(1.0) * (right.cost - once);
            Estimate { rows: joined(left.rows, right.rows, *kind), cost }
        }
        Node::HashJoin { left, right, kind, partners, .. } => {
            let (left, right) = (estimate(left), estimate(right));
            let cost = left.cost + right.cost + TABLE_COST + right.rows * KEEP_COST + left.rows * PROBE_COST;
            Estimate { rows: joined(left.rows, *partners, *kind), cost }
        }
        Node::Filter { input, predicate } => {
            let input = estimate(input);
            let rows = (input.rows * usual_selectivity(predicate)).max(1.0).min(input.rows.max(1.0));
            Estimate { rows, cost: input.cost + input.rows * FILTER_COST }
        }
        Node::Aggregate { input, keys, ordered, .. } => {
            let (input, groups) = (estimate(input), groups_of(input));
            let rows = if keys.is_empty() { 1.0 } else { groups };
            Estimate { rows, cost: input.cost + input.rows * kept_cost(*ordered) }
        }
        Node::Distinct { input, ordered, .. } => {
            let (input, groups) = (estimate(input), groups_of(input));
            Estimate { rows: groups, cost: input.cost + input.rows * kept_cost(*ordered) }
        }
        Node::Rollup { input, .. } => {
            let input = estimate(input);
            Estimate { rows: (input.rows * 0.4).max(2.0), cost: input.cost + input.rows }
        }
        Node::Window { input, .. } => {
            let input = estimate(input);
            Estimate { rows: input.rows, cost: input.cost + input.rows * KEEP_COST }
        }
        Node::Project { input, .. } | Node::Trim { input, .. } => estimate(input),
        Node::Sort { input, limit, .. } => {
            let below = estimate(input);
            let kept = limit.as_ref().map_or(below.rows, |limit| limited(below.rows, limit));
            let cost = below.cost + below.rows * kept.max(2.0).log2() * SORT_COST;
            Estimate { rows: kept, cost }
        }
        Node::Limit { input, limit } => {
            let below = estimate(input);
            Estimate { rows: limited(below.rows, limit), cost: below.cost }
        }
        Node::Values { rows } => Estimate { rows: rows.len() as f64, cost: 0.0 },
        // As MySQL guesses.
        Node::JsonTable(_) => Estimate { rows: 2.0, cost: 0.0 },
        Node::Concat { inputs } => inputs
            .iter()
            .map(estimate)
            .fold(Estimate::default(), |sum, each| Estimate { rows: sum.rows + each.rows, cost: sum.cost + each.cost }),
        Node::SetOperation { left, right, .. } => {
            let (left, right) = (estimate(left), estimate(right));
            Estimate { rows: left.rows, cost: left.cost + right.cost + (left.rows + right.rows) * KEEP_COST }
        }
        Node::Recursive { seed, steps, .. } => {
            let seed = estimate(seed);
            let steps: f64 = steps.iter().map(|step| estimate(step).cost).sum();
            Estimate { rows: seed.rows * ROUNDS, cost: seed.cost + steps * ROUNDS }
        }
    }
}

/// The number of rows that the largest join of a statement reads, as `max_join_size` counts them: the product of the
/// rows of its tables. A change of a single table without a query is not a join.
pub fn join_rows(plan: &Plan) -> f64 {
    plan.roots().into_iter().map(largest_join).fold(0.0, f64::max)
}

fn largest_join(node: &Node) -> f64 {
    if is_counted(node) {
        return 0.0;
    }
    if let Node::Limit { input, limit } = node
        && let Some(scan) = lone_scan(input)
        && !limit.counts_all
    {
        return scan.read.min(last_row(limit));
    }
    // A part of a larger join has fewer rows than that join.
    node.inputs().into_iter().map(largest_join).fold(rows_read(node), f64::max)
}

/// The only table, if LIMIT ends its scan early.
fn lone_scan(node: &Node) -> Option<&Scan> {
    match node {
        Node::Scan(scan) if !matches!(scan.access, Access::Derived(_)) => Some(scan),
        Node::AsOf { input, .. } | Node::Project { input, .. } | Node::Trim { input, .. } | Node::Filter { input, .. } => {
            lone_scan(input)
        }
        _ => None,
    }
}

/// The number of the last row that LIMIT returns; zero if it is not known.
fn last_row(limit: &LimitPlan) -> f64 {
    let number = |expr: &Option<Expr>| match expr.as_ref().map(|expr| &expr.kind) {
        Some(ExprKind::Literal(Value::Int(n))) => *n as f64,
        Some(ExprKind::Literal(Value::UInt(n))) => *n as f64,
        _ => 0.0,
    };
    number(&limit.offset) + number(&limit.count)
}

/// COUNT(*) of whole tables: MySQL's tables know it.
fn is_counted(node: &Node) -> bool {
    let Node::Aggregate { input, keys, aggregates, .. } = node else { return false };
    let counts = |aggregate: &Aggregate| matches!(aggregate.function, AggregateFunction::Count) && aggregate.args.is_empty();
    keys.is_empty() && aggregates.iter().all(counts) && is_whole(input)
}

fn is_whole(node: &Node) -> bool {
    match node {
        Node::Scan(scan) => scan.filter.is_none() && matches!(scan.access, Access::Full { .. }),
        Node::NestedLoop { left, right, on: None, .. } => is_whole(left) && is_whole(right),
        Node::HashJoin { left, right, left_keys, on: None, .. } => left_keys.is_empty() && is_whole(left) && is_whole(right),
        _ => false,
    }
}

/// One block only: scans and joins, without the operators above and below.
fn rows_read(node: &Node) -> f64 {
    match node {
        // Computed rows are not read.
        Node::Scan(Scan { access: Access::Virtual, .. }) => 1.0,
        Node::Scan(scan) => scan.read,
        Node::NestedLoop { left, right, .. } => {
            let read = rows_read(left);
            read.max(estimate(left).rows.max(1.0) * rows_read(right))
        }
        Node::HashJoin { left, right, partners, .. } => {
            let read = rows_read(left).max(rows_read(right));
            read.max(estimate(left).rows.max(1.0) * partners.max(1.0))
        }
        Node::AsOf { input, .. } | Node::Filter { input, .. } => rows_read(input),
        _ => 0.0,
    }
}

/// How many different rows a node gives, about.
fn groups_of(node: &Node) -> f64 {
    match node {
        Node::Project { input, .. } => groups_of(input),
        // A loose index scan gives the first row of each group, and perhaps the last.
        Node::Scan(Scan { access: Access::Leaps(leaps), rows, .. }) => rows / if leaps.greatest { 2.0 } else { 1.0 },
        _ => (estimate(node).rows * 0.3).max(1.0),
    }
}

/// Of a row that is grouped.
fn kept_cost(ordered: bool) -> f64 {
    if ordered { KEEP_COST - GROUP_COST } else { KEEP_COST }
}

/// The expected cost of running the statement; the unit is one row read in sequence.
pub fn estimated_cost(plan: &Plan) -> f64 {
    let scan = match plan {
        Plan::Update(update) => update.scan.cost,
        Plan::Delete(delete) => delete.scan.cost,
        _ => 0.0,
    };
    scan + plan.roots().into_iter().map(|root| estimate(root).cost).sum::<f64>()
}

/// The cost of materializing the derived tables of a node.
fn made_once(node: &Node) -> f64 {
    match node {
        Node::Scan(Scan { access: Access::Derived(Derived { input: Some(input), lateral: false, .. }), .. }) => {
            estimate(input).cost
        }
        Node::Scan(_) => 0.0,
        _ => node.inputs().into_iter().map(made_once).sum(),
    }
}

fn joined(left: f64, right: f64, kind: JoinKind) -> f64 {
    match kind {
        JoinKind::Inner => left * right,
        JoinKind::Left => left * right.max(1.0),
        // As likely as a partner is.
        JoinKind::Semi => (left * right.clamp(0.1, 0.9)).max(1.0),
        JoinKind::Anti => (left * (1.0 - right).clamp(0.1, 0.9)).max(1.0),
    }
}

fn limited(rows: f64, limit: &LimitPlan) -> f64 {
    let number = |expr: &Option<Expr>| match expr.as_ref().map(|e| &e.kind) {
        Some(ExprKind::Literal(Value::Int(n))) => *n as f64,
        Some(ExprKind::Literal(Value::UInt(n))) => *n as f64,
        _ => f64::INFINITY,
    };
    rows.min(number(&limit.count))
}
