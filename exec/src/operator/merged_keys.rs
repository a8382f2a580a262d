//! Index merge: the clustered keys that ranges of several indexes lead to, in order: those that are in one of the indexes' ranges, or in all
//! of them.
//!
//! 1. Each index is read for the keys in its entries alone; they go to a sorter, which spills where memory is refused.
//! 2. Equal keys come together: a key is given at the first of them, or when there are as many as indexes. For a snapshot an index has one
//!    entry for each row.
//! 3. The scan reads the row by its key, with the lock that the statement wants, and judges it by the whole condition.
//!
//! M1: entries that a snapshot shows lead to rows that it shows.
//! M2: a read that locks gaps locks the ranges of each index, with the entries in them, before it reads any row. No row can come into the
//!     ranges or leave them from then on, so the keys are those of all rows that match, whatever was changed in between.
//! M3: without gaps, entries that others hold are taken for rows that may match: an index may have two of one row then. The key is given all
//!     the same, once, and the row judged.

use crate::access;
use crate::pause::Step;
use crate::run::Run;
use crate::spill::sorter::Sorter;
use expr::count;
use sql::plan::Merge;
use table::{EncodedRange, RowCursor, Table};
use txn::ReadMode;

pub(crate) struct MergedKeys<'p> {
    merge: &'p Merge,
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
    Done,
}

impl<'p> MergedKeys<'p> {
    pub fn new(merge: &'p Merge, table: &'p Table) -> Self {
        Self {
            merge,
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

    pub fn rewind(&mut self) {
        self.stage = Stage::Start;
    }

    /// The key that `next` has moved to.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Moves to the next key; `false` behind the last. The indexes are read as `mode` says.
    pub fn next(&mut self, run: &mut Run<'p>, mode: ReadMode) -> Step<bool> {
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
                Stage::Range => {
                    count(&run.shared.session.work.read_key);
                    self.open_range(mode)
                }
                Stage::Entry => self.entry(run)?,
                Stage::Sort => {
                    self.sorter.finish(run)?;
                    Stage::Key
                }
                Stage::Key => match self.next_key(run)? {
                    true => return Ok(true),
                    false => Stage::Done,
                },
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

    fn open_range(&mut self, mode: ReadMode) -> Stage {
        if self.next_range == self.range_count {
            self.part += 1;
            return Stage::Part;
        }
        let (index, _) = self.merge.parts[self.part];
        self.cursor.open(self.table, index, &self.ranges[self.next_range], false, mode, false);
        self.next_range += 1;
        Stage::Entry
    }

    fn entry(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        self.sorter.settle(run)?;
        run.tick()?;
        let next = self.cursor.next_key(self.table, run.worker, run.txn)?;
        count(&run.shared.session.work.read_next);
        let Some(key) = next else { return Ok(Stage::Range) };
        let arena = self.sorter.arena();
        let start = arena.len();
        arena.extend_from_slice(key);
        arena.extend_from_slice(key);
        self.sorter.push(start, key.len());
        Ok(Stage::Entry)
    }

    fn next_key(&mut self, run: &mut Run<'p>) -> Step<bool> {
        let wanted = if self.merge.intersection { self.merge.parts.len() } else { 1 };
        while self.sorter.next(run)? {
            let key = self.sorter.row();
            if self.times > 0 && key == self.key {
                self.times += 1;
            } else {
                self.key.clear();
                self.key.extend_from_slice(key);
                self.times = 1;
            }
            if self.times == wanted {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
