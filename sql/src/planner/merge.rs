//! Index merge: reads one table through several indexes.
//!
//! 1. Union: a conjunct is an OR whose branches each restrict some index. A row that satisfies the OR lies in the
//!    ranges of at least one branch.
//! 2. Intersection: several conjuncts are equalities, each on another index. A row that satisfies all of them lies in
//!    the ranges of each.
//!
//! The scan reads only the clustered keys from the index entries, then reads the rows in clustered-key order. All
//! conjuncts are evaluated again on the rows, so the ranges may be wider than the conjuncts. A locking statement locks
//! the ranges first.

use super::FromBlock;
use super::access::{Candidate, FETCH_COST, SEEK_COST};
use super::range::{Analysis, IndexRanges};
use crate::plan::{Access, KeyRange, Merge};
use expr::{Expr, ExprKind};

/// More ORs than these are not looked at.
const ORS_MAX: usize = 16;
/// More branches are not worth several indexes.
const PARTS_MAX: usize = 16;
/// An entry that is read for its key.
const ENTRY_COST: f64 = 0.5;
/// A row that is fetched in the order of the clustered key.
const ORDERED_FETCH_COST: f64 = FETCH_COST * 0.8;
/// Sorting of keys, and starting it.
const MERGE_COST: f64 = 10.0;

/// Ranges of one index, with the entries in them.
struct Part {
    index: usize,
    ranges: Vec<KeyRange>,
    rows: f64,
    /// The conjuncts that the ranges say all of.
    exact: Vec<usize>,
}

impl FromBlock<'_> {
    /// The cheapest way by several indexes.
    pub(super) fn merged(&self, source: usize, analysis: &Analysis<'_>, conjuncts: &[&Expr], total: f64) -> Option<Candidate> {
        let table = &*self.sources[source].table;
        if table.is_virtual {
            return None;
        }
        let ors = (0..conjuncts.len()).filter(|position| matches!(conjuncts[*position].kind, ExprKind::Or(_)));
        let unions = ors.take(ORS_MAX).filter_map(|position| self.union(source, analysis, conjuncts, position, total));
        let all = unions.chain(self.intersection(source, analysis, conjuncts, total));
        all.min_by(|a, b| a.cost.total_cmp(&b.cost))
    }

    fn union(
        &self,
        source: usize,
        analysis: &Analysis<'_>,
        conjuncts: &[&Expr],
        position: usize,
        total: f64,
    ) -> Option<Candidate> {
        let ExprKind::Or(branches) = &conjuncts[position].kind else { return None };
        if branches.len() > PARTS_MAX {
            return None;
        }
        let mut parts: Vec<Part> = Vec::new();
        for branch in branches {
            let mut all: Vec<&Expr> = match &branch.kind {
                ExprKind::And(inner) => inner.iter().collect(),
                _ => vec![branch],
            };
            let own = all.len();
            all.extend(conjuncts.iter().enumerate().filter(|(n, _)| *n != position).map(|(_, conjunct)| *conjunct));
            let found = self.part_for(source, analysis, &all, own)?;
            match parts.iter_mut().find(|part| part.index == found.index) {
                Some(part) => {
                    part.ranges.extend(found.ranges);
                    part.rows += found.rows;
                }
                None => parts.push(found),
            }
        }
        // One index is not several.
        if parts.len() < 2 {
            return None;
        }
        let rows = parts.iter().map(|part| part.rows).sum::<f64>().min(total);
        let merge = Merge { parts: parts_of(&parts), intersection: false };
        let switches = self.context.switches();
        let allowed = if merge.is_sorted(&self.sources[source].table) {
            switches.index_merge_union
        } else {
            switches.index_merge_sort_union
        };
        allowed.then(|| candidate(merge, &parts, rows, vec![position]))
    }

    /// The index that a branch says most about.
    fn part_for(&self, source: usize, analysis: &Analysis<'_>, conjuncts: &[&Expr], own: usize) -> Option<Part> {
        let table = &*self.sources[source].table;
        let numbers = (0..table.indexes.len()).filter(|number| self.may_use(source, *number));
        let found = numbers.filter_map(|index| {
            // The index must be restricted by the branch itself.
            analysis.ranges(index, &conjuncts[..own])?;
            let mut found: IndexRanges = analysis.ranges(index, conjuncts)?;
            if let Some(rows) = self.dive(table, index, &found.ranges) {
                found.rows = rows;
            }
            Some(Part { index, ranges: found.ranges, rows: found.rows, exact: Vec::new() })
        });
        found.min_by(|a, b| a.rows.total_cmp(&b.rows))
    }

    fn intersection(&self, source: usize, analysis: &Analysis<'_>, conjuncts: &[&Expr], total: f64) -> Option<Candidate> {
        let table = &*self.sources[source].table;
        if !self.context.switches().index_merge_intersection {
            return None;
        }
        let mut parts: Vec<Part> = Vec::new();
        let mut fixed: Vec<usize> = Vec::new();
        for index in (1..table.indexes.len()).filter(|number| self.may_use(source, *number)) {
            let Some(mut found) = analysis.ranges(index, conjuncts) else { continue };
            let columns = &table.indexes[index].columns;
            // Entries with one value come in the order of the clustered key.
            if found.ranges.len() != 1 || found.fixed != columns.len() || found.all_columns && is_unique(table, index) {
                continue;
            }
            if columns.iter().all(|part| fixed.contains(&part.column)) {
                continue;
            }
            if let Some(rows) = self.dive(table, index, &found.ranges) {
                found.rows = rows;
            }
            fixed.extend(columns.iter().map(|part| part.column));
            parts.push(Part { index, ranges: found.ranges, rows: found.rows, exact: found.exact });
        }
        if parts.len() < 2 {
            return None;
        }
        parts.sort_by(|a, b| a.rows.total_cmp(&b.rows));
        // Each further index must spare more rows than it costs to read.
        let mut rows = parts[0].rows;
        let mut kept = 1;
        for part in &parts[1..] {
            let fewer = rows * (part.rows / total).min(1.0);
            if (rows - fewer) * ORDERED_FETCH_COST <= part.rows * ENTRY_COST + SEEK_COST {
                break;
            }
            rows = fewer;
            kept += 1;
        }
        parts.truncate(kept);
        let estimated = parts.iter().flat_map(|part| part.exact.iter().copied()).collect();
        let merge = Merge { parts: parts_of(&parts), intersection: true };
        (kept > 1).then(|| candidate(merge, &parts, rows.max(0.001), estimated))
    }
}

fn is_unique(table: &types::schema::TableDef, index: usize) -> bool {
    table.indexes[index].kind == types::schema::IndexKind::Unique
}

fn parts_of(parts: &[Part]) -> Vec<(usize, Vec<KeyRange>)> {
    parts.iter().map(|part| (part.index, part.ranges.clone())).collect()
}

fn candidate(merge: Merge, parts: &[Part], rows: f64, estimated: Vec<usize>) -> Candidate {
    let seeks: usize = parts.iter().map(|part| part.ranges.len()).sum();
    let entries: f64 = parts.iter().map(|part| part.rows).sum();
    let cost = MERGE_COST + seeks as f64 * SEEK_COST + entries * ENTRY_COST + rows * ORDERED_FETCH_COST;
    Candidate { access: Access::Merge(merge), rows, cost, exact: Vec::new(), estimated, ordered: false, selective: true }
}
