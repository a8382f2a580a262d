//! The access path of one table.
//!
//! Costs are in units of one row read in sequence. There are no histograms yet: the number of rows comes from the table, the rest
//! from rules of thumb (an equality finds the cube root of the rows, a closed range 5 % of them, an open one 15 %).

use super::range::{Analysis, IndexRanges};
use super::{FromBlock, OrderNeed, SourceSet, all_of};
use crate::bind::{SourceKind, children};
use crate::expr::{CompareOp, Expr, ExprKind};
use crate::func::Function;
use crate::plan::{Access, Scan};
use std::cell::Cell;
use types::schema::{IndexDef, IndexKind, TableDef};

/// Starting at a place in an index.
const SEEK_COST: f64 = 5.0;
/// A row that is found through a secondary index and fetched from the clustered one.
const FETCH_COST: f64 = 5.0;
/// What a statement that locks the rows it reads adds to reading all of them: others would have to wait for it.
const LOCK_ALL_COST: f64 = 20.0;
/// Sorting, per row and level.
const SORT_COST: f64 = 0.3;
/// Rows of a table of the server itself.
const VIRTUAL_ROWS: f64 = 1000.0;

/// The best access path found for a table.
pub(super) struct Choice {
    pub scan: Scan,
    /// Of one pass.
    pub cost: f64,
    /// Rows come in the order asked for.
    pub ordered: bool,
    /// The access path itself depends on rows of other tables, or finds few rows by an index.
    pub selective: bool,
}

/// A path with what it costs.
struct Candidate {
    access: Access,
    /// Rows read, before the filter.
    rows: f64,
    cost: f64,
    exact: Vec<usize>,
    ordered: bool,
    selective: bool,
}

impl FromBlock<'_> {
    /// Chooses the access path for a table, given what is known when it is read.
    pub(super) fn choose_access(
        &self,
        source: usize,
        conjuncts: &[&Expr],
        available: &SourceSet,
        need: Option<&OrderNeed>,
    ) -> Choice {
        let from = &self.sources[source];
        let table = &*from.table;
        let need = need.filter(|n| n.columns.iter().all(|(s, _, _)| *s == source));
        let total = if table.is_virtual { own_rows(&from.kind) } else { (self.context.row_count(table) as f64).max(1.0) };
        let analysis = Analysis { table, source, available, total, budget: Cell::new(0) };
        let used = self.columns_used(source);
        let mut best: Option<Candidate> = None;
        if table.is_virtual {
            let access = match &from.kind {
                SourceKind::Derived { plan, .. } => Access::Derived(plan.clone()),
                SourceKind::Work(table) => Access::Work { table: *table },
                _ => Access::Virtual,
            };
            best = Some(Candidate { access, rows: total, cost: total, exact: Vec::new(), ordered: false, selective: false });
        }
        for (number, index) in table.indexes.iter().enumerate() {
            let allowed = from.indexes.as_ref().is_none_or(|allowed| allowed.contains(&number)) || number == 0;
            if !allowed {
                continue;
            }
            let covering = number == 0 || (!self.keeps_rows && covers(table, index, &used));
            let ranges = match from.indexes.as_ref() {
                // The clustered index may always be read in full, but looked up only where a hint does not forbid it.
                Some(allowed) if !allowed.contains(&number) => None,
                _ => analysis.ranges(index, conjuncts),
            };
            for candidate in self.candidates(table, number, ranges, covering, conjuncts, total, need) {
                if best.as_ref().is_none_or(|b| candidate.cost < b.cost) {
                    best = Some(candidate);
                }
            }
        }
        let best = best.expect("a table has a clustered index or is virtual");
        let mut filter = Vec::new();
        let mut selectivity = 1.0;
        for (position, conjunct) in conjuncts.iter().enumerate() {
            if !best.exact.contains(&position) {
                selectivity *= selectivity_of(conjunct);
                filter.push((*conjunct).clone());
            }
        }
        let rows = match best.access {
            Access::Point { .. } => best.rows,
            _ => (best.rows * selectivity).max(1.0).min(best.rows.max(1.0)),
        };
        Choice {
            scan: Scan {
                source,
                table: from.table.clone(),
                alias: from.alias.clone(),
                access: best.access,
                filter: all_of(filter),
                columns_used: used,
                rows,
            },
            cost: best.cost,
            ordered: best.ordered,
            selective: best.selective,
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn candidates(
        &self,
        table: &TableDef,
        number: usize,
        ranges: Option<IndexRanges>,
        covering: bool,
        conjuncts: &[&Expr],
        total: f64,
        need: Option<&OrderNeed>,
    ) -> Vec<Candidate> {
        let index = &table.indexes[number];
        let mut out = Vec::with_capacity(2);
        // Entries of a secondary index are as wide as their part of the columns.
        let columns = (index.columns.len() + table.primary().columns.len()) as f64;
        let width = if number == 0 { 1.0 } else { (0.3 + 0.7 * columns / table.columns.len() as f64).min(1.0) };
        let per_row = if covering { width } else { width + FETCH_COST };
        let unique = matches!(index.kind, IndexKind::Primary | IndexKind::Unique);
        if let Some(ranges) = ranges {
            if unique && ranges.all_columns && ranges.ranges.len() == 1 && index.columns.iter().all(|c| c.prefix.is_none()) {
                let IndexRanges { mut ranges, exact, .. } = ranges;
                let key = ranges.pop().expect("one range").prefix;
                let cost = if number == 0 || covering { SEEK_COST } else { SEEK_COST + FETCH_COST };
                let access = Access::Point { index: number, key };
                out.push(Candidate { access, rows: 1.0, cost, exact, ordered: true, selective: true });
                return out;
            }
            let seeks = ranges.ranges.len() as f64;
            let rows = if unique && ranges.all_columns { seeks.min(total) } else { ranges.rows.max(1.0) };
            // LIMIT may end the scan early when the order is right.
            for reverse in [false, true] {
                let ordered = need.is_some_and(|n| gives_order(table, index, ranges.fixed, n, reverse));
                if reverse && !ordered {
                    continue;
                }
                let read = self.rows_read(rows, &ranges.exact, conjuncts, need.filter(|_| ordered));
                let cost = seeks * SEEK_COST + read * per_row + sort_cost(rows, need, ordered);
                out.push(Candidate {
                    access: Access::Ranges {
                        index: number,
                        ranges: ranges.ranges.clone(),
                        reverse,
                        covering: covering && number > 0,
                    },
                    rows,
                    cost,
                    exact: ranges.exact.clone(),
                    ordered,
                    selective: true,
                });
            }
        }
        for reverse in [false, true] {
            let ordered = need.is_some_and(|n| gives_order(table, index, 0, n, reverse));
            if reverse && !ordered || (number > 0 && !covering && !ordered) {
                continue;
            }
            let read = self.rows_read(total, &[], conjuncts, need.filter(|_| ordered));
            let locks = if self.keeps_rows { LOCK_ALL_COST } else { 0.0 };
            let cost = SEEK_COST + read * per_row + sort_cost(total, need, ordered) + locks;
            let access = Access::Full { index: number, reverse, covering: covering && number > 0 };
            out.push(Candidate { access, rows: total, cost, exact: Vec::new(), ordered, selective: false });
        }
        out
    }

    /// Rows that are read before LIMIT is satisfied.
    fn rows_read(&self, rows: f64, exact: &[usize], conjuncts: &[&Expr], need: Option<&OrderNeed>) -> f64 {
        let Some(limit) = need.and_then(|n| n.limit) else { return rows };
        let rest = conjuncts.iter().enumerate().filter(|(n, _)| !exact.contains(n));
        let selectivity: f64 = rest.map(|(_, c)| selectivity_of(c)).product();
        (limit / selectivity.max(0.0001)).min(rows)
    }
}

fn sort_cost(rows: f64, need: Option<&OrderNeed>, ordered: bool) -> f64 {
    match need {
        Some(need) if !ordered => {
            let levels = need.limit.unwrap_or(rows).min(rows).max(2.0).log2();
            rows * levels * SORT_COST
        }
        _ => 0.0,
    }
}

/// Rows of what is no stored table.
fn own_rows(kind: &SourceKind) -> f64 {
    match kind {
        SourceKind::Derived { rows, .. } => rows.max(1.0),
        _ => VIRTUAL_ROWS,
    }
}

/// Are all columns that are read in the index's key or the primary key, readable from there?
fn covers(table: &TableDef, index: &IndexDef, used: &[bool]) -> bool {
    let readable = |index: &IndexDef, column: usize| {
        let in_key = index.columns.iter().any(|c| c.column == column && c.prefix.is_none());
        in_key && types::key::is_reversible(&table.columns[column].ty)
    };
    used.iter().enumerate().all(|(column, used)| !used || readable(index, column) || readable(table.primary(), column))
}

/// Does the index give this order, when its first `fixed` columns have one value?
fn gives_order(table: &TableDef, index: &IndexDef, fixed: usize, need: &OrderNeed, reverse: bool) -> bool {
    // A secondary key ends in the primary key.
    let own = index.columns.iter();
    let tail: &[_] = if index.kind == IndexKind::Secondary { &table.primary().columns } else { &[] };
    let keys: Vec<_> = own.chain(tail).collect();
    let mut place = 0;
    'columns: for (_, column, descending) in &need.columns {
        if keys[..fixed.min(keys.len())].iter().any(|k| k.column == *column) {
            continue;
        }
        while let Some(key) = keys.get(place) {
            let usable = key.prefix.is_none() && key.column == *column && (key.descending != reverse) == *descending;
            place += 1;
            if usable {
                continue 'columns;
            }
            if place > fixed {
                return false;
            }
        }
        // Behind a whole unique key nothing is left to order.
        let unique = matches!(index.kind, IndexKind::Primary | IndexKind::Unique)
            && index.columns.iter().all(|k| !table.columns[k.column].nullable && k.prefix.is_none());
        return unique || (index.kind == IndexKind::Secondary && table.primary().kind == IndexKind::Primary);
    }
    true
}

/// The part of the rows that a condition keeps, by rule of thumb.
pub(super) fn selectivity_of(condition: &Expr) -> f64 {
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
        ExprKind::And(parts) => parts.iter().map(selectivity_of).product(),
        ExprKind::Or(parts) => parts.iter().map(selectivity_of).sum::<f64>().min(1.0),
        _ => 0.8,
    }
}

/// Does the expression give another value each time it is computed?
pub(crate) fn is_volatile(expr: &Expr) -> bool {
    let here = match &expr.kind {
        ExprKind::Call { function, .. } => {
            matches!(function, Function::Rand | Function::Uuid | Function::Sleep | Function::Benchmark | Function::GetLock)
                || matches!(function, Function::ReleaseLock | Function::SysDate | Function::LastInsertId)
        }
        _ => false,
    };
    here || children(expr).into_iter().any(is_volatile)
}
