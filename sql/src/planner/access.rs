//! Chooses the access path of one table.
//!
//! The unit of cost is one row read in sequence. Row counts come from the table's statistics. Where there are several
//! paths to compare, the rows of a key range are estimated by index dives to both of its ends. Without statistics,
//! rules of thumb apply: an equality matches the cube root of the rows, a range with two bounds 5 % of them, a range
//! with one bound 15 %.

use super::range::{Analysis, IndexRanges};
use super::selectivity::{is_estimable, usual_selectivity};
use super::{FromBlock, OrderNeed, SourceSet, all_of};
use crate::bind::SourceKind;
use crate::plan::{Access, KeyRange, Scan};
use expr::is_volatile;
use expr::{Expr, ExprKind};
use std::cell::Cell;
use std::sync::Arc;
use types::schema::{IndexDef, IndexKind, TableDef};
use types::statistics::TableStatistics;

/// Starting at a place in an index.
pub(super) const SEEK_COST: f64 = 5.0;
/// A row that is found through a secondary index and fetched from the clustered one.
pub(super) const FETCH_COST: f64 = 5.0;
/// Work of choosing for one condition, in bytes of a plain copy (`types::work`).
const CHOICE_UNITS: usize = 512;
/// The additional cost of a locking statement that reads, and so locks, all rows: others would have to wait for it.
const LOCK_ALL_COST: f64 = 20.0;
/// More ranges than these are not looked up one by one.
const DIVES_MAX: usize = 10;

/// The best access path found for a table.
pub(super) struct Choice {
    pub scan: Scan,
    /// Of one pass.
    pub cost: f64,
    /// Rows come in the requested order.
    pub ordered: bool,
}

/// An access path with its cost.
pub(super) struct Candidate {
    pub access: Access,
    /// Rows read, before the filter.
    pub rows: f64,
    pub cost: f64,
    pub exact: Vec<usize>,
    /// Conjuncts that must be evaluated, but that `rows` accounts for already.
    pub estimated: Vec<usize>,
    pub ordered: bool,
    pub selective: bool,
}

/// An index of a table, and its possible uses for a query.
pub(super) struct IndexUse<'a> {
    pub source: usize,
    /// The index's place in the table.
    pub number: usize,
    /// The ranges of the index that the conjuncts leave, if they restrict it.
    pub ranges: Option<IndexRanges>,
    /// The entries have all columns that are read.
    pub covering: bool,
    pub conjuncts: &'a [&'a Expr],
    /// Rows of the table.
    pub total: f64,
}

impl FromBlock<'_> {
    /// Chooses the access path of a table, given the sources that are available when it is read.
    pub(super) fn choose_access(
        &self,
        source: usize,
        conjuncts: &[&Expr],
        available: &SourceSet,
        need: Option<&OrderNeed>,
    ) -> Choice {
        // A KILL does not stop planning here; the session that runs the plan checks again.
        let _ = types::work::spend(CHOICE_UNITS * (1 + conjuncts.len()));
        let from = &self.sources[source];
        let table = &*from.table;
        let need = need.filter(|n| n.is_about(source));
        let used = self.columns_used(source);
        if let Some(choice) = self.point(source, conjuncts, available, &used) {
            return choice;
        }
        let total = self.rows_of(source);
        let analysis = self.analysis(source, available, total, self.statistics_of(source));
        let mut best: Option<Candidate> = None;
        if table.is_virtual {
            let access = match &from.kind {
                SourceKind::Derived { plan, .. } => Access::Derived(plan.clone()),
                SourceKind::Work(table) => Access::Work { table: *table },
                _ => Access::Virtual,
            };
            best = Some(Candidate {
                access,
                rows: total,
                cost: total,
                exact: Vec::new(),
                estimated: Vec::new(),
                ordered: false,
                selective: false,
            });
        }
        let look = || -> Vec<Option<IndexRanges>> {
            // The clustered index may always be read in full. A hint may forbid looking up keys in it.
            let ranges = |number| if self.may_use(source, number) { analysis.ranges(number, conjuncts) } else { None };
            (0..table.indexes.len()).map(ranges).collect()
        };
        let mut found = look();
        // With a single choice the exact number does not matter.
        let dives = found.iter().skip(1).any(Option::is_some) || self.tables > 1;
        let begins_bounded = |ranges: &IndexRanges| ranges.ranges.iter().any(|r| r.prefix.is_empty());
        if !self.sniffs.get() && found.iter().skip(1).flatten().any(begins_bounded) {
            self.sniffs.set(true);
            found = look();
        }
        let bounded = found.iter().skip(1).flatten().count();
        for (number, ranges) in found.into_iter().enumerate() {
            if !self.may_use(source, number) && number > 0 {
                continue;
            }
            let index = &table.indexes[number];
            let covering = number == 0 || (!self.keeps_rows && covers(table, index, &used));
            let ranges = ranges.map(|mut ranges| {
                if dives && let Some(rows) = self.dive(table, number, &ranges.ranges) {
                    ranges.rows = rows;
                }
                ranges
            });
            let skipped = match &ranges {
                None => self.skipped(source, number, &analysis, conjuncts, total),
                Some(_) => None,
            };
            if let Some(mut skipped) = skipped {
                skipped.cost += sort_cost(skipped.rows, need, false);
                best = Some(skipped).filter(|s| best.as_ref().is_none_or(|b| s.cost < b.cost)).or(best);
            }
            let index = IndexUse { source, number, ranges, covering, conjuncts, total };
            for candidate in self.candidates(&index, need) {
                // FORCE INDEX: a look into one of its indexes is better than the whole table, whatever it costs.
                let is_last_way = |access: &Access| from.forced && matches!(access, Access::Full { index: 0, .. });
                let order = |c: &Candidate| (is_last_way(&c.access), c.cost);
                if best.as_ref().is_none_or(|b| order(&candidate) < order(b)) {
                    best = Some(candidate);
                }
            }
        }
        let several = bounded > 1 || conjuncts.iter().any(|conjunct| matches!(conjunct.kind, ExprKind::Or(_)));
        if several
            && let Some(merged) = self.merged(source, &analysis, conjuncts, total)
            && best.as_ref().is_none_or(|b| merged.cost + sort_cost(merged.rows, need, false) < b.cost)
        {
            best = Some(merged);
        }
        if let Some(found) = self.found_rows(source, conjuncts, total, need)
            && best.as_ref().is_none_or(|b| found.cost + sort_cost(found.rows, need, found.ordered) < b.cost)
        {
            best = Some(found);
        }
        if let Some(met) = self.met_rows(source, conjuncts, total)
            && best.as_ref().is_none_or(|b| met.cost + sort_cost(met.rows, need, false) < b.cost)
        {
            best = Some(met);
        }
        if let Some(found) = self.rows_of_elements(source, conjuncts, available, total)
            && best.as_ref().is_none_or(|b| found.cost + sort_cost(found.rows, need, false) < b.cost)
        {
            best = Some(found);
        }
        if let Some(found) = self.nearest_rows(source, conjuncts, need, total)
            && best.as_ref().is_none_or(|b| found.cost < b.cost + sort_cost(b.rows, need, b.ordered) || from.forced)
        {
            best = Some(found);
        }
        let best = best.expect("a table has a clustered index or is virtual");
        let (mut filter, mut index_filter) = (Vec::new(), Vec::new());
        let mut selectivity = 1.0;
        let judged = match &best.access {
            Access::Ranges { index, covering: false, .. } => self.judged_on_entries(source, *index, conjuncts),
            _ => Vec::new(),
        };
        let marked = |positions: &[usize]| {
            let mut marks = vec![false; conjuncts.len()];
            positions.iter().for_each(|position| marks[*position] = true);
            marks
        };
        let (judged, exact, estimated) = (marked(&judged), marked(&best.exact), marked(&best.estimated));
        for (position, conjunct) in conjuncts.iter().enumerate() {
            if !exact[position] {
                selectivity *= if estimated[position] { 1.0 } else { self.selectivity(conjunct) };
                if judged[position] { &mut index_filter } else { &mut filter }.push((*conjunct).clone());
            }
        }
        // A fraction of a row makes sense where the table is looked up repeatedly.
        let least: f64 = if best.selective { 0.001 } else { 1.0 };
        let rows = (best.rows * selectivity).max(least.min(best.rows));
        Choice {
            scan: Scan {
                source,
                table: from.table.clone(),
                alias: from.alias.clone(),
                access: best.access,
                filter: all_of(filter),
                index_filter: all_of(index_filter).map(Box::new),
                columns_used: used,
                rows,
                read: best.rows,
                cost: best.cost,
            },
            cost: best.cost,
            ordered: best.ordered,
        }
    }

    /// The one row of a unique key whose columns all have a value: nothing is better, and nothing needs to be known of the table.
    fn point(&self, source: usize, conjuncts: &[&Expr], available: &SourceSet, used: &[bool]) -> Option<Choice> {
        let from = &self.sources[source];
        let table = &*from.table;
        let is_unique = |index: &IndexDef| {
            let kind = matches!(index.kind, IndexKind::Primary | IndexKind::Unique);
            kind && index.columns.iter().all(|c| c.prefix.is_none())
        };
        let analysis = self.analysis(source, available, 1.0, None);
        for (number, index) in table.indexes.iter().enumerate() {
            if !is_unique(index) || !self.may_use(source, number) {
                continue;
            }
            let Some(mut ranges) = analysis.ranges(number, conjuncts).filter(|r| r.all_columns && r.ranges.len() == 1) else {
                continue;
            };
            let key = ranges.ranges.pop().expect("one range").prefix;
            let covering = number == 0 || (!self.keeps_rows && covers(table, index, used));
            let cost = if covering { SEEK_COST } else { SEEK_COST + FETCH_COST };
            let filter = conjuncts.iter().enumerate().filter(|(n, _)| !ranges.exact.contains(n));
            let filter: Vec<Expr> = filter.map(|(_, conjunct)| (*conjunct).clone()).collect();
            let selectivity: f64 = filter.iter().map(usual_selectivity).product();
            let scan = Scan {
                source,
                table: from.table.clone(),
                alias: from.alias.clone(),
                access: Access::Point { index: number, key },
                filter: all_of(filter),
                index_filter: None,
                columns_used: used.to_vec(),
                rows: selectivity,
                read: 1.0,
                cost,
            };
            return Some(Choice { scan, cost, ordered: true });
        }
        None
    }

    pub(super) fn analysis<'s>(
        &'s self,
        source: usize,
        available: &'s SourceSet,
        total: f64,
        statistics: Option<Arc<TableStatistics>>,
    ) -> Analysis<'s> {
        let table = &*self.sources[source].table;
        let (budget, index) = (Cell::new(0), Cell::new(0));
        Analysis { table, source, available, total, budget, block: self, statistics, index }
    }

    /// Do the hints let the index be looked into?
    pub(super) fn may_use(&self, source: usize, index: usize) -> bool {
        let from = &self.sources[source];
        let is_shown = |index: &types::schema::IndexDef| {
            index.kind.is_ordered() && (!index.invisible || self.context.switches().use_invisible_indexes)
        };
        from.table.indexes.get(index).is_none_or(is_shown) && from.indexes.as_ref().is_none_or(|allowed| allowed.contains(&index))
    }

    /// The rows in ranges, from index dives at their ends. For an equality with a parameter the statistics are used
    /// instead, because the plan serves other values too.
    pub(super) fn dive(&self, table: &TableDef, index: usize, ranges: &[KeyRange]) -> Option<f64> {
        if ranges.len() > DIVES_MAX || table.is_virtual {
            return None;
        }
        let is_literal = |expr: &Expr| matches!(expr.kind, ExprKind::Literal(_));
        let mut sum = 0.0;
        for range in ranges {
            let bounds = range.low.iter().chain(&range.high).map(|(expr, _)| expr);
            if !bounds.chain(&range.prefix).all(is_estimable) {
                return None;
            }
            let is_bounded = range.low.is_some() || range.high.is_some();
            let sniffs = !is_bounded || !range.prefix.is_empty();
            if sniffs && !range.prefix.iter().all(is_literal) {
                return None;
            }
            sum += self.context.rows_in_range(table, index, range)?;
        }
        Some(sum)
    }

    fn candidates(&self, index: &IndexUse<'_>, need: Option<&OrderNeed>) -> Vec<Candidate> {
        let IndexUse { source, number, ref ranges, covering, conjuncts, total } = *index;
        let table = &*self.sources[source].table;
        let mut out = Vec::with_capacity(2);
        if let Some(need) = need.filter(|need| need.leaps.is_some()) {
            out.extend(self.leaps(index, need));
        }
        let index = &table.indexes[number];
        // Entries of a secondary index are as wide as their part of the columns.
        let columns = (index.columns.len() + table.primary().columns.len()) as f64;
        let width = if number == 0 { 1.0 } else { (0.3 + 0.7 * columns / table.columns.len() as f64).min(1.0) };
        let per_row = if covering { width } else { width + FETCH_COST };
        let unique = matches!(index.kind, IndexKind::Primary | IndexKind::Unique);
        if let Some(ranges) = ranges {
            let fetched: f64 = if covering {
                1.0
            } else {
                let judged = self.judged_on_entries(source, number, conjuncts);
                let judged = judged.iter().filter(|position| !ranges.exact.contains(position));
                judged.map(|position| self.selectivity(conjuncts[*position])).product()
            };
            let per_row = if covering { width } else { width + FETCH_COST * fetched };
            let seeks = ranges.ranges.len() as f64;
            let rows = if unique && ranges.all_columns { seeks.min(total) } else { ranges.rows.max(0.001) };
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
                    estimated: Vec::new(),
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
            out.push(Candidate {
                access,
                rows: total,
                cost,
                exact: Vec::new(),
                estimated: Vec::new(),
                ordered,
                selective: false,
            });
        }
        out
    }

    /// Index condition pushdown: the positions of conjuncts that can be evaluated on entries of a secondary index.
    pub(super) fn judged_on_entries(&self, source: usize, number: usize, conjuncts: &[&Expr]) -> Vec<usize> {
        let table = &*self.sources[source].table;
        if number == 0 || table.is_virtual || !self.context.switches().index_condition_pushdown {
            return Vec::new();
        }
        let index = &table.indexes[number];
        let acts =
            |e: &Expr| matches!(e.kind, ExprKind::Subquery(_) | ExprKind::AssignVariable { .. } | ExprKind::UserVariable(_));
        let is_judged = |conjunct: &Expr| {
            let outside = |e: &Expr| match e.kind {
                ExprKind::Column { source: s, column } | ExprKind::ColumnOrdinal { source: s, column } if s == source => {
                    !readable(table, index, column) && !readable(table, table.primary(), column)
                }
                _ => acts(e),
            };
            !conjunct.any(&outside) && !is_volatile(conjunct)
        };
        (0..conjuncts.len()).filter(|position| is_judged(conjuncts[*position])).collect()
    }

    /// Rows that are read before LIMIT is satisfied.
    fn rows_read(&self, rows: f64, exact: &[usize], conjuncts: &[&Expr], need: Option<&OrderNeed>) -> f64 {
        let Some(limit) = need.and_then(|n| n.limit) else { return rows };
        let rest = conjuncts.iter().enumerate().filter(|(n, _)| !exact.contains(n));
        let selectivity: f64 = rest.map(|(_, c)| self.selectivity(c)).product();
        (limit / selectivity.max(0.0001)).min(rows)
    }
}

fn sort_cost(rows: f64, need: Option<&OrderNeed>, ordered: bool) -> f64 {
    need.filter(|_| !ordered).map_or(0.0, |need| need.missed_cost(rows))
}

/// Are all columns that are read in the index's key or the primary key, readable from there?
pub(super) fn covers(table: &TableDef, index: &IndexDef, used: &[bool]) -> bool {
    let is_readable = |column: usize| readable(table, index, column) || readable(table, table.primary(), column);
    used.iter().enumerate().all(|(column, used)| !used || is_readable(column))
}

/// Does the index's key tell the column's value?
fn readable(table: &TableDef, index: &IndexDef, column: usize) -> bool {
    let in_key = index.columns.iter().any(|c| c.column == column && c.prefix.is_none());
    in_key && types::key::is_reversible(&table.columns[column].ty)
}

/// Does the index give this order, when its first `fixed` columns have one value?
pub(super) fn gives_order(table: &TableDef, index: &IndexDef, fixed: usize, need: &OrderNeed, reverse: bool) -> bool {
    if need.best.is_some() || need.nearest.is_some() {
        return false;
    }
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
        return tells_rows_apart(table, index);
    }
    let mut groups: Vec<usize> = need.groups.iter().map(|(_, column)| *column).collect();
    let known = |column: &usize| {
        keys[..fixed.min(keys.len())].iter().any(|k| k.column == *column) || need.columns.iter().any(|(_, c, _)| c == column)
    };
    groups.retain(|column| !known(column));
    while !groups.is_empty() {
        let Some(key) = keys.get(place) else { return tells_rows_apart(table, index) };
        place += 1;
        let found = groups.iter().position(|column| *column == key.column && key.prefix.is_none());
        match found {
            Some(found) => drop(groups.swap_remove(found)),
            None if place <= fixed || need.columns.iter().any(|(_, c, _)| *c == key.column) => {}
            None => return false,
        }
    }
    true
}

/// After all columns of a unique key there is nothing left to order.
fn tells_rows_apart(table: &TableDef, index: &IndexDef) -> bool {
    let is_whole = |k: &types::schema::IndexColumn| !table.columns[k.column].nullable && k.prefix.is_none();
    let unique = matches!(index.kind, IndexKind::Primary | IndexKind::Unique) && index.columns.iter().all(is_whole);
    unique || (index.kind == IndexKind::Secondary && table.primary().kind == IndexKind::Primary)
}
