//! Access by a full-text index: the rows that a condition over MATCH finds, the best first.

use super::access::{Candidate, FETCH_COST};
use super::{FromBlock, OrderNeed, source_of};
use crate::plan::Access;
use expr::{CompareOp, Expr, ExprKind, Function};
use types::Value;

/// The part of the rows that a search is expected to find.
const PART_FOUND: f64 = 0.02;

impl FromBlock<'_> {
    /// The rows that a search finds, if one of the conditions is true for these only.
    pub(super) fn found_rows(
        &self,
        source: usize,
        conjuncts: &[&Expr],
        total: f64,
        need: Option<&OrderNeed>,
    ) -> Option<Candidate> {
        let (position, call) =
            conjuncts.iter().enumerate().find_map(|(position, conjunct)| Some((position, call_of(conjunct, source)?)))?;
        let ExprKind::Call { args, .. } = &call.kind else { return None };
        let ExprKind::Literal(Value::UInt(index)) = args[1].kind else { return None };
        let rows = (total * PART_FOUND).max(1.0);
        // As in MySQL, it is preferred even where the table is small.
        let cost = (1.0 + rows * FETCH_COST).min(total / 2.0);
        // Under locks a row may change after it was ranked.
        let ordered = !self.keeps_rows && need.is_some_and(|need| need.best.as_deref() == Some(call));
        let access = Access::FullText { index: index as usize, search: Box::new(call.clone()) };
        Some(Candidate { access, rows, cost, exact: Vec::new(), estimated: vec![position], ordered, selective: true })
    }
}

/// The call of MATCH over columns of this source that a condition asks to be more than 0.
fn call_of(conjunct: &Expr, source: usize) -> Option<&Expr> {
    match &conjunct.kind {
        ExprKind::Call { function: Function::MATCH, .. } => (source_of(conjunct)? == source).then_some(conjunct),
        ExprKind::Compare { op, left, right, .. } => {
            let (op, call, bound) = match (&left.kind, &right.kind) {
                (ExprKind::Call { .. }, ExprKind::Literal(bound)) => (*op, left, bound),
                (ExprKind::Literal(bound), ExprKind::Call { .. }) => (op.mirrored(), right, bound),
                _ => return None,
            };
            let bound = match bound {
                Value::Int(number) => *number as f64,
                Value::UInt(number) => *number as f64,
                Value::Double(number) => *number,
                Value::Decimal(number) => number.to_f64(),
                _ => return None,
            };
            let is_positive = match op {
                CompareOp::Greater => bound >= 0.0,
                CompareOp::GreaterOrEqual | CompareOp::Equal => bound > 0.0,
                _ => false,
            };
            if is_positive { call_of(call, source) } else { None }
        }
        ExprKind::Cast(arg) => call_of(arg, source),
        _ => None,
    }
}
