//! Access by a vector index: the rows nearest to a vector, for ORDER BY a distance LIMIT n.
//!
//! N1: the table is the only one, and its scan judges all conditions (`bind::order`). So the scan knows how many rows LIMIT still lacks.
//! N2: the rows are sorted by their distances once more, above the scan.

use super::access::{Candidate, FETCH_COST, SEEK_COST};
use super::elements::is_known;
use super::{FromBlock, NearestNeed, OrderNeed};
use crate::plan::{Access, Nearest};
use expr::{Expr, ExprKind, Function as F};
use types::Value;
use types::schema::{IndexDef, IndexKind};
use types::vector::Metric;

/// Reading a code and estimating its distance, beside reading a row in sequence.
const ESTIMATE_COST: f64 = 0.3;
/// Rows that are read for each one that LIMIT asks for.
const ROWS_EACH: f64 = 4.0;

impl FromBlock<'_> {
    /// The nearest rows, if a vector index of the column has the distance that they are sorted by.
    pub(super) fn nearest_rows(
        &self,
        source: usize,
        conjuncts: &[&Expr],
        need: Option<&OrderNeed>,
        total: f64,
    ) -> Option<Candidate> {
        let wanted = need?.nearest.as_deref().filter(|wanted| wanted.source == source)?;
        let from = &self.sources[source];
        let metric = self.metric_of(wanted);
        let is_usable = |(number, index): &(usize, &IndexDef)| {
            let IndexKind::Vector { metric: own } = index.kind else { return false };
            index.columns.iter().any(|part| part.column == wanted.column)
                && metric.is_none_or(|metric| metric == own)
                && (!index.invisible || self.context.switches().use_invisible_indexes)
                && from.indexes.as_ref().is_none_or(|allowed| allowed.contains(number))
        };
        let (index, _) = from.table.indexes.iter().enumerate().find(is_usable)?;
        // N1
        if self.tables > 1 || self.keeps_rows || !is_known(&wanted.constant, &vec![false; self.sources.len()]) {
            return None;
        }
        let kept: f64 = conjuncts.iter().map(|conjunct| self.selectivity(conjunct)).product();
        let rows = (need?.limit.unwrap_or(100.0) * ROWS_EACH / kept.max(1e-6)).min(total).max(1.0);
        let cost = SEEK_COST + total * ESTIMATE_COST + rows * FETCH_COST;
        let NearestNeed { call, constant, count, offset, .. } = wanted.clone();
        let access = Access::Nearest(Box::new(Nearest { index, call, constant, candidates: rows as usize, count, offset }));
        Some(Candidate { access, rows, cost, exact: Vec::new(), estimated: Vec::new(), ordered: false, selective: true })
    }

    /// The distance, where the plan can know it; else the scan compares it with the index's when it begins.
    fn metric_of(&self, wanted: &NearestNeed) -> Option<Metric> {
        let ExprKind::Call { function, args } = &wanted.call.kind else { return None };
        match *function {
            F::VEC_DISTANCE_EUCLIDEAN => Some(Metric::Euclidean),
            F::VEC_DISTANCE_COSINE => Some(Metric::Cosine),
            _ => match args.get(2).map(|name: &Expr| &name.kind) {
                Some(ExprKind::Literal(Value::Bytes(name))) => Metric::named(name),
                _ => None,
            },
        }
    }
}
