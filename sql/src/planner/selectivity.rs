//! Selectivity: the fraction of the rows that satisfies a predicate.
//!
//! 1. A column and a value: the column's histogram; if the value is not known, 1 / the number of distinct values.
//! 2. Two equal columns: 1 / the number of distinct values of the side that has more.
//! 3. Without statistics, and for all other forms: rules of thumb.
//!
//! The predicates of a conjunction are taken as independent, except where an index's statistics count the distinct
//! values of the columns together.

use super::FromBlock;
use crate::bind::SourceKind;
use expr::{CompareOp, Expr, ExprKind, Function};
use std::sync::Arc;
use types::schema::IndexKind;
use types::statistics::{Edge, TableStatistics};

/// Rows of a table of the server itself.
const VIRTUAL_ROWS: f64 = 1000.0;

/// A column of a source.
type Place = (usize, usize);

impl FromBlock<'_> {
    /// Estimated rows of a source; at least 1.
    pub fn rows_of(&self, source: usize) -> f64 {
        let from = &self.sources[source];
        match &from.kind {
            SourceKind::Derived { rows, .. } => rows.max(1.0),
            _ if from.table.is_virtual => VIRTUAL_ROWS,
            _ => (self.context.row_count(&from.table) as f64).max(1.0),
        }
    }

    pub(super) fn statistics_of(&self, source: usize) -> Option<Arc<TableStatistics>> {
        let from = &self.sources[source];
        let is_stored = matches!(from.kind, SourceKind::Table) && !from.table.is_virtual;
        if is_stored && self.context.switches().condition_fanout_filter { self.context.statistics(&from.table) } else { None }
    }

    /// Different values of a column; `None`: nothing is known.
    pub fn distinct(&self, (source, column): Place) -> Option<f64> {
        let from = &self.sources[source];
        let rows = self.rows_of(source);
        if let SourceKind::Derived { key: Some(key), .. } = &from.kind {
            return (key.as_slice() == [column]).then_some(rows);
        }
        let is_key = |index: &types::schema::IndexDef| {
            let unique = matches!(index.kind, IndexKind::Primary | IndexKind::Unique);
            unique && index.columns.len() == 1 && index.columns[0].column == column && index.columns[0].prefix.is_none()
        };
        if from.table.indexes.iter().any(is_key) {
            return Some(rows);
        }
        let statistics = self.statistics_of(source);
        let leads = |index: &types::schema::IndexDef| {
            index.kind.is_ordered() && index.columns.first().is_some_and(|c| c.column == column && c.prefix.is_none())
        };
        let first = from.table.indexes.iter().position(leads);
        if let (Some(index), Some(statistics)) = (first, &statistics) {
            return statistics.distinct_prefix(index, 1);
        }
        if let Some(histogram) = statistics.as_ref().and_then(|s| s.histogram(column)) {
            return Some(histogram.distinct.max(1.0));
        }
        // A group of an index is expected to hold the cube root of the rows.
        first.map(|_| rows / rows.cbrt())
    }

    /// The part of the rows that a condition keeps.
    pub(super) fn selectivity(&self, condition: &Expr) -> f64 {
        match &condition.kind {
            ExprKind::And(parts) => parts.iter().map(|part| self.selectivity(part)).product(),
            ExprKind::Or(parts) => 1.0 - parts.iter().map(|part| 1.0 - self.selectivity(part)).product::<f64>(),
            ExprKind::Not(part) => 1.0 - self.selectivity(part),
            ExprKind::Compare { op, left, right, .. } => {
                self.comparison(*op, left, right).unwrap_or_else(|| usual_selectivity(condition))
            }
            ExprKind::In { arg, list, negated, .. } => {
                let Some(place) = column_of(arg) else { return usual_selectivity(condition) };
                let parts = list.iter().map(|value| self.equal(place, value));
                let Some(sum) = parts.sum::<Option<f64>>() else { return usual_selectivity(condition) };
                if *negated { (1.0 - sum).max(0.0) } else { sum.min(1.0) }
            }
            ExprKind::Between { arg, low, high, negated, .. } => {
                let Some(part) = column_of(arg).and_then(|place| self.between(place, Some((low, true)), Some((high, true))))
                else {
                    return usual_selectivity(condition);
                };
                if *negated { 1.0 - part } else { part }
            }
            ExprKind::IsNull { arg, negated } => {
                let histogram = column_of(arg).and_then(|(s, c)| Some(self.statistics_of(s)?.histogram(c)?.nulls));
                match histogram {
                    Some(nulls) if *negated => 1.0 - nulls,
                    Some(nulls) => nulls,
                    None => usual_selectivity(condition),
                }
            }
            _ => usual_selectivity(condition),
        }
    }

    fn comparison(&self, op: CompareOp, left: &Expr, right: &Expr) -> Option<f64> {
        let (place, value, op) = match (column_of(left), column_of(right)) {
            (Some(a), Some(b)) => return self.columns_compared(op, a, b),
            (Some(place), None) => (place, right, op),
            (None, Some(place)) => (place, left, op.mirrored()),
            (None, None) => return None,
        };
        match op {
            CompareOp::Equal | CompareOp::NullSafeEqual => self.equal(place, value),
            CompareOp::NotEqual => Some(1.0 - self.equal(place, value)?),
            CompareOp::Less => self.between(place, None, Some((value, false))),
            CompareOp::LessOrEqual => self.between(place, None, Some((value, true))),
            CompareOp::Greater => self.between(place, Some((value, false)), None),
            CompareOp::GreaterOrEqual => self.between(place, Some((value, true)), None),
        }
    }

    fn columns_compared(&self, op: CompareOp, a: Place, b: Place) -> Option<f64> {
        let equal = match (self.distinct(a), self.distinct(b)) {
            (Some(a), Some(b)) => 1.0 / a.max(b).max(1.0),
            (Some(n), None) | (None, Some(n)) => 1.0 / n.max(1.0),
            // A join column without an index is expected to have some values often.
            (None, None) => (1.0 / (self.rows_of(a.0).max(self.rows_of(b.0)) * 0.1).max(1.0)).min(0.1),
        };
        match op {
            CompareOp::Equal | CompareOp::NullSafeEqual => Some(equal),
            CompareOp::NotEqual => Some(1.0 - equal),
            _ => None,
        }
    }

    fn equal(&self, place: Place, value: &Expr) -> Option<f64> {
        let (source, column) = place;
        if let Some(histogram) = self.statistics_of(source).as_ref().and_then(|s| s.histogram(column)) {
            return Some(match self.key_of(source, column, value) {
                Some(key) => histogram.equal(&key),
                None => histogram.average(),
            });
        }
        Some(1.0 / self.distinct(place)?.max(1.0))
    }

    /// A value in the form of the statistics, if it is known before the statement runs.
    fn key_of(&self, source: usize, column: usize, value: &Expr) -> Option<Vec<u8>> {
        let may_look = self.sniffs.get() || !value.any(&|e| matches!(e.kind, ExprKind::Param(_)));
        if may_look && is_estimable(value) {
            self.context.statistics_key(&self.sources[source].table, column, value)
        } else {
            None
        }
    }

    pub(super) fn between(
        &self,
        (source, column): Place,
        low: Option<(&Expr, bool)>,
        high: Option<(&Expr, bool)>,
    ) -> Option<f64> {
        let statistics = self.statistics_of(source)?;
        let histogram = statistics.histogram(column)?;
        // Outer `None`: there is no such bound; inner `None`: its value is not known.
        let key =
            |end: Option<(&Expr, bool)>| end.map(|(value, inclusive)| Some((self.key_of(source, column, value)?, inclusive)));
        let (low, high) = (key(low), key(high));
        if matches!(low, Some(None)) || matches!(high, Some(None)) {
            return None;
        }
        let (low, high) = (low.flatten(), high.flatten());
        let low = low.as_ref().map(|(key, inclusive)| Edge { key, inclusive: *inclusive });
        let high = high.as_ref().map(|(key, inclusive)| Edge { key, inclusive: *inclusive });
        Some(histogram.between(low, high))
    }
}

/// The column that an expression is, seen through casts.
pub(super) fn column_of(expr: &Expr) -> Option<Place> {
    match &expr.kind {
        ExprKind::Column { source, column } | ExprKind::ColumnOrdinal { source, column } => Some((*source, *column)),
        _ => None,
    }
}

/// By rule of thumb.
pub(super) fn usual_selectivity(condition: &Expr) -> f64 {
    match &condition.kind {
        ExprKind::Compare { op: CompareOp::Equal | CompareOp::NullSafeEqual, .. } => 0.1,
        ExprKind::Compare { op: CompareOp::NotEqual, .. } => 0.9,
        ExprKind::Compare { .. } => 0.33,
        ExprKind::Between { negated: false, .. } => 0.11,
        ExprKind::In { list, negated: false, .. } => (list.len() as f64 * 0.1).min(0.5),
        ExprKind::Like { negated: false, .. } => 0.11,
        ExprKind::IsNull { negated, .. } => {
            if *negated {
                0.9
            } else {
                0.1
            }
        }
        ExprKind::And(parts) => parts.iter().map(usual_selectivity).product(),
        ExprKind::Or(parts) => parts.iter().map(usual_selectivity).sum::<f64>().min(1.0),
        _ => 0.8,
    }
}

/// May the expression be computed while the statement is planned? It reads no row, and changes nothing.
pub(super) fn is_estimable(expr: &Expr) -> bool {
    let here = match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Param(_) => true,
        ExprKind::Unary { .. } | ExprKind::Arithmetic { .. } | ExprKind::Cast(_) => true,
        ExprKind::Call { function, .. } => {
            matches!(*function, Function::DATE_ADD | Function::DATE_SUB | Function::DATE)
        }
        _ => false,
    };
    here && expr.parts().into_iter().all(is_estimable)
}
