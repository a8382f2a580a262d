//! Loose index scans: the scan leaps from group to group in an index and reads only some entries of each.
//!
//! They serve GROUP BY a with MIN(b), SELECT DISTINCT a, and COUNT(DISTINCT a): queries that need each distinct value
//! of some columns once, and the minimum or maximum of one more column.
//!
//! L1: the distinct columns and the columns in predicates are a prefix of the index. All entries of a group have equal
//!     values in these columns, so a predicate accepts or rejects a group as a whole.
//! L2: the column of MIN or MAX is in that prefix, or directly follows it.

use super::access::{Candidate, FETCH_COST, IndexUse, SEEK_COST, covers, gives_order};
use super::range::Analysis;
use super::{FromBlock, OrderNeed};
use crate::plan::{Access, KeyRange, Leaps};
use expr::Expr;
use types::schema::{IndexDef, IndexKind};

impl FromBlock<'_> {
    /// A loose scan of the index, if it gives the needed rows.
    pub(super) fn leaps(&self, index: &IndexUse<'_>, need: &OrderNeed) -> Option<Candidate> {
        let leaps = need.leaps.as_ref()?;
        let IndexUse { source, number, ref ranges, covering, conjuncts, total } = *index;
        let ranges = ranges.as_ref();
        let table = &*self.sources[source].table;
        let index = &table.indexes[number];
        if self.tables > 1 || self.keeps_rows || table.is_virtual || index.columns.iter().any(|c| c.prefix.is_some()) {
            return None;
        }
        let mut wanted = leaps.columns.clone();
        wanted.extend(need.columns.iter().map(|(_, column, _)| *column).chain(need.groups.iter().map(|(_, column)| *column)));
        for (position, conjunct) in conjuncts.iter().enumerate() {
            if !ranges.is_some_and(|r| r.exact.contains(&position)) {
                conjunct.each_column(&mut |source, column| wanted.extend((source == leaps.source).then_some(column)));
            }
        }
        // L1
        let mut prefix = 0;
        for column in wanted {
            prefix = prefix.max(index.columns.iter().position(|c| c.column == column)? + 1);
        }
        let is_unique = matches!(index.kind, IndexKind::Primary | IndexKind::Unique) && prefix == index.columns.len();
        let reach = |range: &KeyRange| range.prefix.len() + usize::from(range.low.is_some() || range.high.is_some());
        let all = KeyRange { prefix: Vec::new(), null_safe: Vec::new(), low: None, high: None };
        let key_ranges = ranges.map_or_else(|| vec![all], |r| r.ranges.clone());
        if prefix == 0 || is_unique || key_ranges.iter().any(|range| reach(range) > prefix) {
            return None;
        }
        if !gives_order(table, index, ranges.map_or(0, |r| r.fixed), need, false) {
            return None;
        }
        // L2
        let inside = |column: usize| index.columns[..prefix].iter().any(|c| c.column == column);
        let behind = leaps.extreme.filter(|column| !inside(*column));
        if behind.is_some_and(|column| index.columns.get(prefix).is_none_or(|c| c.column != column || c.descending)) {
            return None;
        }
        let part = ranges.map_or(1.0, |r| (r.rows / total).clamp(0.0, 1.0));
        let groups = (self.groups(leaps.source, number, prefix)? * part).max(1.0);
        let (least, greatest) = (behind.is_some() && leaps.least, behind.is_some() && leaps.greatest);
        let rows = groups * if greatest { 2.0 } else { 1.0 };
        let nullable = behind.is_some_and(|column| table.columns[column].nullable);
        let seek = SEEK_COST + if covering { 0.0 } else { FETCH_COST };
        let access = Access::Leaps(Box::new(Leaps {
            index: number,
            ranges: key_ranges,
            prefix,
            least: least && nullable,
            greatest,
            within: None,
            covering: covering && number > 0,
        }));
        let exact = ranges.map_or_else(Vec::new, |r| r.exact.clone());
        Some(Candidate {
            access,
            rows: rows.min(total),
            cost: rows * seek,
            exact,
            estimated: Vec::new(),
            ordered: true,
            selective: false,
        })
    }

    /// A skip scan: predicates restrict the columns after the index's first column, but not that one. The scan looks up
    /// each value of the first column in turn.
    pub(super) fn skipped(
        &self,
        source: usize,
        number: usize,
        analysis: &Analysis<'_>,
        conjuncts: &[&Expr],
        total: f64,
    ) -> Option<Candidate> {
        let table = &*self.sources[source].table;
        let index = &table.indexes[number];
        let may = self.tables == 1 && !self.keeps_rows && !table.is_virtual && self.context.switches().skip_scan;
        if !may || index.columns.len() < 2 || index.columns.iter().any(|c| c.prefix.is_some()) {
            return None;
        }
        let groups = self.groups(source, number, 1)?;
        if groups * 2.0 * (SEEK_COST + FETCH_COST) > total {
            return None;
        }
        let behind = IndexDef { columns: index.columns[1..].to_vec(), kind: IndexKind::Secondary, ..index.clone() };
        let mut found = analysis.ranges_of(number, &behind, conjuncts)?;
        let within = found.ranges.pop().filter(|_| found.ranges.is_empty())?;
        let part: f64 = found.exact.iter().map(|position| self.selectivity(conjuncts[*position])).product();
        let covering = number > 0 && covers(table, index, &self.columns_used(source));
        let (rows, fetch) = (total * part, if covering || number == 0 { 0.0 } else { FETCH_COST });
        let cost = groups * (2.0 * SEEK_COST + fetch) + rows * (1.0 + fetch);
        let all = KeyRange { prefix: Vec::new(), null_safe: Vec::new(), low: None, high: None };
        let (ranges, within) = (vec![all], Some(within));
        let access =
            Access::Leaps(Box::new(Leaps { index: number, ranges, prefix: 1, least: false, greatest: false, within, covering }));
        // A locking scan reads the skipped rows as well, so all predicates are evaluated.
        Some(Candidate { access, rows, cost, exact: Vec::new(), estimated: found.exact, ordered: false, selective: true })
    }

    /// The number of distinct values of leading index columns. Only statistics count: a loose scan is expensive if
    /// groups are small.
    fn groups(&self, source: usize, number: usize, prefix: usize) -> Option<f64> {
        self.context.statistics(&self.sources[source].table)?.distinct_prefix(number, prefix)
    }
}
