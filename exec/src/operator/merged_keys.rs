//! Index merge: the clustered keys of the entries in ranges of several indexes, in order: the keys that are in any of the ranges, or in all
//! of them.
//!
//! 1. Each index is read only for the clustered keys in its entries; they go to a sorter, which spills if memory is refused.
//! 2. Equal keys are adjacent: a key is returned at its first occurrence, or when it occurs once for each index. In a snapshot an index has one
//!    entry for each row.
//! 3. The scan reads the row by its key, with the statement's lock, and checks the whole condition.
//!
//! M1: the rows of entries that a snapshot shows are in the snapshot too.
//! M2: a read that locks gaps locks the ranges of each index, with the entries in them, before it reads any row. After that no row can enter or
//!     leave the ranges, so the keys are those of all matching rows, even if rows changed meanwhile.
//! M3: without gap locks, entries that others have locked count as rows that may match: an index may have two entries of one row. The key is
//!     returned once, and the row is checked.

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
    /// The last key, and how often it occurred.
    key: Vec<u8>,
    times: usize,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Start,
    /// The next index to read.
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

    /// The current key.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Moves to the next key; `false` after the last. The indexes are read in this `mode`.
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
                Stage::Key => {
                    if self.next_key(run)? {
                        return Ok(true);
                    } else {
                        Stage::Done
                    }
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
