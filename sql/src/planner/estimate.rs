//! How many rows a planned tree gives, by rule of thumb.

use super::access::selectivity_of;
use crate::expr::{Expr, ExprKind};
use crate::plan::{Access, Derived, JoinKind, LimitPlan, Node, Scan};
use types::Value;

/// Rounds that a recursive common table expression is expected to take.
const ROUNDS: f64 = 10.0;

/// About how many rows the node gives.
pub(crate) fn node_rows(node: &Node) -> f64 {
    match node {
        Node::OneRow => 1.0,
        Node::Scan(Scan { access: Access::Derived(Derived { .. }), rows, .. }) => *rows,
        Node::Scan(scan) => scan.rows,
        Node::NestedLoop { left, right, kind, .. } => joined(node_rows(left), node_rows(right), *kind),
        Node::HashJoin { left, right, kind, .. } => joined(node_rows(left), (node_rows(right) * 0.1).max(1.0), *kind),
        Node::Filter { input, predicate } => (node_rows(input) * selectivity_of(predicate)).max(1.0),
        Node::Aggregate { keys, .. } if keys.is_empty() => 1.0,
        Node::Aggregate { input, .. } | Node::Distinct { input, .. } => (node_rows(input) * 0.3).max(1.0),
        Node::Rollup { input, .. } => (node_rows(input) * 0.4).max(2.0),
        Node::Window { input, .. } | Node::Project { input, .. } | Node::Trim { input, .. } => node_rows(input),
        Node::Sort { input, limit, .. } => limit.as_ref().map_or(node_rows(input), |limit| limited(input, limit)),
        Node::Limit { input, limit } => limited(input, limit),
        Node::Values { rows } => rows.len() as f64,
        Node::Concat { inputs } => inputs.iter().map(node_rows).sum(),
        Node::SetOperation { left, .. } => node_rows(left),
        Node::Recursive { seed, .. } => node_rows(seed) * ROUNDS,
    }
}

fn joined(left: f64, right: f64, kind: JoinKind) -> f64 {
    match kind {
        JoinKind::Inner => left * right,
        JoinKind::Left => left * right.max(1.0),
        JoinKind::Semi | JoinKind::Anti => (left * 0.5).max(1.0),
    }
}

fn limited(input: &Node, limit: &LimitPlan) -> f64 {
    let number = |expr: &Option<Expr>| match expr.as_ref().map(|e| &e.kind) {
        Some(ExprKind::Literal(Value::Int(n))) => *n as f64,
        Some(ExprKind::Literal(Value::UInt(n))) => *n as f64,
        _ => f64::INFINITY,
    };
    node_rows(input).min(number(&limit.count))
}
