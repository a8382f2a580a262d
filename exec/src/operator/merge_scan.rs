//! Index merge: reads the clustered keys that ranges of several indexes lead to, sorts them, and reads the rows that are in one of the
//! indexes' ranges, or in all of them.
//!
//! 1. Each index is read for the keys in its entries alone; they go to a sorter, which spills where memory is refused.
//! 2. Equal keys come together: a row is given at the first of them, or when there are as many as indexes. An index has one entry for each row.
//! 3. The row is read by its key, and judged by the whole condition.
//!
//! M1: consistent reads only. Entries that the snapshot shows lead to rows that it shows.

use crate::access;
use crate::eval::Step;
use crate::run::{Run, SourceState};
use crate::spill::sorter::Sorter;
use sql::expr::Expr;
use sql::plan::{Merge, Scan};
use table::{EncodedRange, RowCursor, RowRead, Table};
use txn::ReadMode;

pub(crate) struct MergeScan<'p> {
    plan: &'p Scan,
    merge: &'p Merge,
    filter: Option<&'p Expr>,
    table: &'p Table,
    cursor: RowCursor,
    ranges: Vec<EncodedRange>,
    range_count: usize,
    next_range: usize,
    part: usize,
    sorter: Sorter,
    /// The key that came last, and how often.
    key: Vec<u8>,
    times: usize,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Start,
    /// The next index's ranges are to be read.
    Part,
    Range,
    Entry,
    Sort,
    /// The next key in order.
    Key,
    Row,
    Load,
    Judge,
    Done,
}

impl<'p> MergeScan<'p> {
    pub fn new(plan: &'p Scan, merge: &'p Merge, table: &'p Table) -> Self {
        Self {
            plan,
            merge,
            filter: plan.filter.as_ref(),
            table,
            cursor: RowCursor::new(),
            ranges: Vec::new(),
            range_count: 0,
            next_range: 0,
            part: 0,
            sorter: Sorter::default(),
            key: Vec::new(),
            times: 0,
            stage: Stage::Start,
        }
    }

    /// Leaves the filter to somebody else.
    pub fn take_filter(&mut self) -> Option<&'p Expr> {
        self.filter.take()
    }

    pub fn rewind(&mut self) {
        self.stage = Stage::Start;
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            self.stage = match self.stage {
                Stage::Start => {
                    self.sorter.clear();
                    self.part = 0;
                    self.key.clear();
                    self.times = 0;
                    Stage::Part
                }
                Stage::Part => self.open_part(run)?,
                Stage::Range => self.open_range(),
                Stage::Entry => self.entry(run)?,
                Stage::Sort => {
                    self.sorter.finish(run)?;
                    Stage::Key
                }
                Stage::Key => self.next_key(run)?,
                Stage::Row => self.row(run)?,
                Stage::Load => self.load(run)?,
                Stage::Judge => {
                    let keep = run.passes(self.filter)?;
                    self.stage = Stage::Key;
                    if keep {
                        return Ok(true);
                    }
                    Stage::Key
                }
                Stage::Done => return Ok(false),
            };
        }
    }

    fn open_part(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let Some((index, ranges)) = self.merge.parts.get(self.part) else { return Ok(Stage::Sort) };
        let env = run.env(&[]);
        self.range_count = access::ranges(&env, self.table, *index, ranges, &mut self.ranges)?;
        self.next_range = 0;
        Ok(Stage::Range)
    }

    fn open_range(&mut self) -> Stage {
        if self.next_range == self.range_count {
            self.part += 1;
            return Stage::Part;
        }
        let (index, _) = self.merge.parts[self.part];
        self.cursor.open(self.table, index, &self.ranges[self.next_range], false, ReadMode::Snapshot, true);
        self.cursor.set_wanted(&vec![false; self.plan.table.columns.len()]);
        self.next_range += 1;
        Stage::Entry
    }

    fn entry(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        self.sorter.settle(run)?;
        run.tick()?;
        let source = &mut run.sources[self.plan.source];
        if !self.cursor.next(self.table, run.worker, run.txn, &mut source.row)? {
            return Ok(Stage::Range);
        }
        let key = source.row.key();
        let arena = self.sorter.arena();
        let start = arena.len();
        arena.extend_from_slice(key);
        arena.extend_from_slice(key);
        self.sorter.push(start, key.len());
        Ok(Stage::Entry)
    }

    fn next_key(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        if !self.sorter.next(run)? {
            return Ok(Stage::Done);
        }
        let key = self.sorter.row();
        if self.times > 0 && key == self.key {
            self.times += 1;
        } else {
            self.key.clear();
            self.key.extend_from_slice(key);
            self.times = 1;
        }
        let wanted = if self.merge.intersection { self.merge.parts.len() } else { 1 };
        Ok(if self.times == wanted { Stage::Row } else { Stage::Key })
    }

    fn row(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let source = &mut run.sources[self.plan.source];
        if !self.table.point(run.worker, run.txn, 0, &self.key, RowRead::Snapshot, &mut source.row)? {
            return Ok(Stage::Key);
        }
        source.state = SourceState::Stored;
        Ok(Stage::Load)
    }

    /// Brings in large columns that lie outside of the row.
    fn load(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let source = &mut run.sources[self.plan.source];
        let (how, wanted) = (RowRead::Snapshot, &self.plan.columns_used);
        let is_whole = !self.table.has_externals(&source.row)
            || self.table.load_externals(run.worker, run.txn, how, wanted, &mut source.row)?;
        Ok(if is_whole { Stage::Judge } else { Stage::Row })
    }
}
