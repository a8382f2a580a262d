//! Reads one table through one access path, with the row locks that the statement wants, and filters.
//!
//! ```text
//!          +------------------------- not kept -------------------------+
//!          v                                                            |
//! Start -> Read -> Load -> Judge -> (kept, and current) ----------> emit
//!            \               \
//!             held by another \ kept, not current yet
//!              `-> Acquire <--'   Acquire: lock or read the current version, then Load and Judge again
//! ```
//!
//! Plain reads judge the snapshot's version. What locking reads and data changes do depends on the isolation level, as in InnoDB:
//!
//! - REPEATABLE READ, SERIALIZABLE: the cursor locks what it reads, rows and gaps, before it is judged; all rows come current. Of a
//!   unique key the row alone is locked, and the gap only where there is none. A row that is about to be changed by its unique key is
//!   not locked first: the change's mark is the lock, and only a row that turns out not to match is locked for its own sake.
//! - READ COMMITTED and below: the latest version is judged first, without a lock, and again once it is locked: a row that does not match
//!   is never locked. One that another transaction holds is waited for and then judged; an UPDATE judges its committed version first,
//!   and goes on where that does not match (a *semi-consistent* read).
//!
//! Conditions on an index's columns are judged on its entries. An entry's key never changes: the row of one that does not match does not match
//! as long as the entry is its own, and in a locked range nobody makes another. So that row is not read, and not locked.
//!
//! Of an index merge the keys come first, all of them (`merged_keys`); each row is then read like that of a range.

mod count;

use crate::access;
use crate::context::VirtualRows;
use crate::operator::found_rows::FoundKeys;
use crate::operator::merged_keys::MergedKeys;
use crate::pause::Step;
use crate::run::Run;
use crate::scratch::Scratch;
use crate::source::SourceState;
use crate::stored_conditions::StoredConditions;
use expr::packed::Packer;
use expr::{CompareAs, CompareOp, Env, Error, Expr, ExprKind, Function, Work, count};
use sql::plan::{Access, Merge, Scan};
use std::cell::Cell;
use table::usage::Reads;
use table::{EncodedRange, RowCursor, RowRead, Table};
use txn::{LockMode, ReadMode, WaitPolicy};
use types::row::condition::StoredCondition;
use types::{TypeKind, Value};

/// What a scan does to the rows it emits, beyond reading them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceLock {
    /// Locks them until the transaction ends.
    Lock(LockMode, WaitPolicy),
    /// Reads their latest version, so that they can be changed.
    Latest,
}

pub(crate) use count::Counted;

const BATCH_ROWS: usize = 64;

/// A piece of a range. What begins and ends with the range is counted with its first and its last piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub range: EncodedRange,
    pub begins: bool,
    pub ends: bool,
}

/// A running scan.
pub(crate) struct ScanOperator<'p> {
    plan: &'p Scan,
    filter: Option<&'p Expr>,
    stored: StoredConditions<'p>,
    /// Judged on entries of the index, where these tell enough; else with the filter.
    index_filter: Option<&'p Expr>,
    table: &'p Table,
    lock: Option<SourceLock>,
    /// Of ranges, from the first on.
    cursor: Option<Box<RowCursor>>,
    /// The key ranges still to read; those before `next_range` (after it, when reversed) are done.
    ranges: Vec<EncodedRange>,
    range_count: usize,
    next_range: usize,
    /// Of a point access.
    key: Vec<u8>,
    covering: bool,
    /// Of an index merge.
    merged: Option<Box<MergedKeys<'p>>>,
    /// Of a full-text search.
    found: Option<Box<FoundKeys<'p>>>,
    stage: Stage,
    /// The most rows that the cursor may read, and lock, ahead of those emitted.
    batch: usize,
    /// Held rows are judged by their committed version first.
    semi_consistent: bool,
    /// The row is the version the statement wants: nothing is left to acquire.
    current: bool,
    /// The index's own condition holds for the row.
    entry_judged: bool,
    /// Nothing has been read of the range yet.
    is_fresh: bool,
    /// Of a piece of a range: is it the first, and the last?
    begins: bool,
    ends: bool,
    /// Conditions on stored bytes are judged where the rows lie, before one is taken out.
    tests_ahead: bool,
    /// Of rows that are only counted.
    counting_tests: Option<Box<[StoredCondition]>>,
    /// The statement reads columns that may lie outside of the row.
    reads_variable: bool,
    /// For the counts of the table's use.
    reads: Reads,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Start,
    NextRange,
    Point,
    Read,
    /// The next key of an index merge, and its row.
    MergedKey,
    MergedRow,
    /// The next row of a full-text search.
    FoundKey,
    /// An entry of the index is shown: is its row worth reading?
    JudgeEntry,
    Fetch,
    Load,
    /// Read the row again, of whose large columns another version was found.
    Reload,
    Judge,
    Acquire,
    /// Wait for a held row, then judge its latest version.
    AwaitHeld,
    /// Lock the row of a unique key, which does not match.
    LockRefused,
    Done,
}

#[inline]
fn opened(cursor: &mut Option<Box<RowCursor>>) -> &mut RowCursor {
    cursor.as_mut().expect("made with the first range")
}

/// Apart, so that the scans of small statements are made in place.
#[cold]
fn merged_keys<'p>(merge: &'p Merge, table: &'p Table) -> Box<MergedKeys<'p>> {
    Box::new(MergedKeys::new(merge, table))
}

#[cold]
fn found_keys(access: &Access) -> Box<FoundKeys<'_>> {
    Box::new(match access {
        Access::FullText { search, .. } => FoundKeys::of_words(search),
        Access::Spatial { index, call, constant } => FoundKeys::of_cells(*index, call, constant),
        Access::Nearest(plan) => FoundKeys::of_nearest(plan),
        Access::Elements { index, prefix, asked, constant } => FoundKeys::of_elements(*index, prefix, *asked, constant),
        _ => unreachable!("only these find keys"),
    })
}

impl<'p> ScanOperator<'p> {
    #[inline]
    pub fn new(plan: &'p Scan, table: &'p Table, lock: Option<SourceLock>) -> Self {
        let covering = match plan.access {
            Access::Ranges { index, covering, .. } | Access::Full { index, covering, .. } => {
                covering && lock.is_none() && table.covers(index, &plan.columns_used)
            }
            _ => false,
        };
        let (index, is_scan) = match plan.access {
            Access::Point { index, .. } | Access::Ranges { index, .. } => (index, false),
            Access::Full { index, .. } => (index, index == 0),
            Access::Leaps(ref leaps) => (leaps.index, false),
            Access::Nearest(ref nearest) => (nearest.index, false),
            Access::FullText { index, .. } | Access::Spatial { index, .. } | Access::Elements { index, .. } => (index, false),
            _ => (0, false),
        };
        let reads = Reads::of(plan.table.indexes.get(index).map_or(0, |index| index.tree_id), is_scan);
        let merged = if let Access::Merge(merge) = &plan.access { Some(merged_keys(merge, table)) } else { None };
        let found = match &plan.access {
            Access::FullText { .. } | Access::Spatial { .. } | Access::Elements { .. } | Access::Nearest(_) => {
                Some(found_keys(&plan.access))
            }
            _ => None,
        };
        Self {
            plan,
            filter: plan.filter.as_ref(),
            stored: StoredConditions::default(),
            index_filter: plan.index_filter.as_deref(),
            table,
            lock,
            cursor: None,
            ranges: Vec::new(),
            range_count: 0,
            next_range: 0,
            key: Vec::new(),
            covering,
            merged,
            found,
            stage: Stage::Start,
            batch: BATCH_ROWS,
            semi_consistent: false,
            current: false,
            entry_judged: false,
            is_fresh: false,
            begins: true,
            ends: true,
            counting_tests: None,
            // Of one row it is not worth asking.
            reads_variable: matches!(plan.access, Access::Point { .. }) || reads_variable(plan, table),
            tests_ahead: lock.is_none() && matches!(plan.access, Access::Full { index: 0, .. } | Access::Ranges { index: 0, .. }),
            reads,
        }
    }

    /// The scan may be stopped before its end: rows are read one by one, so that none is locked that is not emitted.
    pub fn one_by_one(mut self, is_limited: bool) -> Self {
        self.batch = if is_limited { 1 } else { BATCH_ROWS };
        self
    }

    /// For UPDATE: see the head of the file.
    pub fn semi_consistent(mut self) -> Self {
        self.semi_consistent = true;
        self
    }

    /// Leaves the filter to somebody else.
    pub fn take_filter(&mut self) -> Option<&'p Expr> {
        self.filter.take()
    }

    /// Uses buffers that are there already.
    pub fn borrow_buffers(&mut self, scratch: &mut Scratch) {
        self.key = std::mem::take(&mut scratch.key);
        if self.reads_ranges() {
            self.cursor = scratch.cursor.take();
            self.ranges = std::mem::take(&mut scratch.ranges);
        }
    }

    pub fn return_buffers(&mut self, scratch: &mut Scratch) {
        scratch.key = std::mem::take(&mut self.key);
        if self.reads_ranges() {
            scratch.cursor = self.cursor.take();
            scratch.ranges = std::mem::take(&mut self.ranges);
        }
    }

    pub fn rewind(&mut self) {
        self.stage = Stage::Start;
    }

    /// The row emitted last was changed by somebody else before it could be written: `next` reads and judges it once more.
    pub fn again(&mut self) {
        self.current = false;
        self.stage = Stage::Acquire;
    }

    /// Reads a piece of one of the scan's ranges in place of these. For the parts of a query that workers share.
    pub fn begin_part(&mut self, piece: Piece) {
        self.ranges.clear();
        self.ranges.push(piece.range);
        (self.range_count, self.next_range) = (1, 0);
        (self.begins, self.ends) = (piece.begins, piece.ends);
        self.stage = Stage::NextRange;
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            self.stage = match self.stage {
                Stage::Start => self.start(run)?,
                Stage::NextRange => self.open_next_range(run),
                Stage::Point => self.point(run)?,
                Stage::Read => self.read(run)?,
                Stage::MergedKey => self.merged_key(run)?,
                Stage::MergedRow => self.merged_row(run)?,
                Stage::FoundKey => self.found_key(run)?,
                Stage::Load => self.load(run)?,
                Stage::Reload => self.reload(run)?,
                Stage::Acquire => self.acquire(run)?,
                Stage::AwaitHeld => self.await_held(run)?,
                Stage::LockRefused => self.lock_refused(run)?,
                Stage::JudgeEntry => {
                    if run.passes(self.index_filter)? {
                        Stage::Fetch
                    } else {
                        Stage::Read
                    }
                }
                Stage::Fetch => self.fetch(run)?,
                Stage::Judge => {
                    let keep = (self.entry_judged || run.passes(self.index_filter)?) && self.passes(run)?;
                    if keep && self.current {
                        self.stage = self.after_row(true);
                        return Ok(true);
                    }
                    match keep {
                        true => Stage::Acquire,
                        false if self.is_point() && self.lock == Some(SourceLock::Latest) && run.txn.locks_gaps() => {
                            Stage::LockRefused
                        }
                        false => self.after_row(false),
                    }
                }
                Stage::Done => return Ok(false),
            };
        }
    }

    #[inline]
    fn passes(&mut self, run: &Run<'p>) -> Step<bool> {
        self.filter.map_or(Ok(true), |filter| self.stored.judge(run, self.plan.source, filter))
    }

    /// Evaluates the access path's keys.
    #[inline]
    fn start(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let env = run.env(&[]);
        Ok(match &self.plan.access {
            Access::Nothing | Access::Virtual | Access::Derived(_) | Access::Work { .. } => Stage::Done,
            Access::Point { index, key } => {
                if access::point_key(&env, self.table, *index, key, &mut self.key)? {
                    Stage::Point
                } else {
                    Stage::Done
                }
            }
            Access::Ranges { index, ranges, reverse, .. } => {
                self.range_count = access::ranges(&env, self.table, *index, ranges, &mut self.ranges)?;
                self.next_range = if *reverse { self.range_count } else { 0 };
                Stage::NextRange
            }
            // Under locks what would be leapt over is read as well.
            Access::Leaps(leaps) => {
                self.range_count = access::ranges(&env, self.table, leaps.index, &leaps.ranges, &mut self.ranges)?;
                self.next_range = 0;
                Stage::NextRange
            }
            Access::Merge(_) => {
                self.merged().rewind();
                Stage::MergedKey
            }
            Access::FullText { .. } | Access::Spatial { .. } | Access::Elements { .. } | Access::Nearest(_) => {
                let latest = self.lock.is_some();
                if let Some(found) = &mut self.found {
                    found.start(run, self.table, latest)?;
                }
                if self.reads_everything() {
                    return Ok(self.start_full(false));
                }
                count(&run.shared.session.work.read_key);
                Stage::FoundKey
            }
            Access::Full { reverse, .. } => self.start_full(*reverse),
        })
    }

    fn start_full(&mut self, reverse: bool) -> Stage {
        if self.ranges.is_empty() {
            self.ranges.push(EncodedRange::default());
        }
        self.ranges[0].low.clear();
        self.ranges[0].high.clear();
        self.range_count = 1;
        self.next_range = usize::from(reverse);
        Stage::NextRange
    }

    fn open_next_range(&mut self, run: &Run<'p>) -> Stage {
        let (index, reverse) = match self.plan.access {
            Access::Ranges { index, reverse, .. } | Access::Full { index, reverse, .. } => (index, reverse),
            Access::Leaps(ref leaps) => (leaps.index, false),
            // Everything.
            Access::Elements { .. } | Access::Nearest(_) => (0, false),
            _ => return Stage::Done,
        };
        let at = match reverse {
            false if self.next_range < self.range_count => self.next_range,
            true if self.next_range > 0 => self.next_range - 1,
            _ => return Stage::Done,
        };
        self.next_range = if reverse { at } else { at + 1 };
        let mode = self.read_mode(run.txn.locks_gaps());
        self.is_fresh = self.begins;
        if self.begins {
            self.count_open(&run.shared.session.work, reverse);
        }
        let cursor = self.cursor.get_or_insert_default();
        cursor.open(self.table, index, &self.ranges[at], reverse, mode, self.covering);
        if self.covering {
            cursor.set_wanted(&self.plan.columns_used);
        }
        if self.lock.is_some() {
            cursor.set_batch(self.batch);
        }
        if let Some(SourceLock::Lock(mode, policy)) = self.lock {
            cursor.set_held(mode, policy);
        }
        if let Some(filter) = self.index_filter {
            self.show_entries(filter);
        }
        Stage::Read
    }

    fn count_open(&mut self, work: &Work, reverse: bool) {
        count(&work.read_key);
        if let Access::Full { .. } = self.plan.access {
            count(if reverse { &work.read_last } else { &work.read_first });
        }
    }

    /// The cursor was asked for a row. The first of a range comes with its key, but for a scan of the whole table.
    #[inline]
    fn count_read(&mut self, work: &Work) {
        if let Some(counter) = self.read_counter(work) {
            count(counter);
        }
        self.is_fresh = false;
    }

    /// Where that is counted.
    #[inline]
    fn read_counter<'w>(&self, work: &'w Work) -> Option<&'w Cell<u64>> {
        match self.plan.access {
            Access::Full { index: 0, reverse: false, .. } => Some(&work.read_rnd_next),
            _ if self.is_fresh => None,
            Access::Full { reverse: true, .. } | Access::Ranges { reverse: true, .. } => Some(&work.read_prev),
            _ => Some(&work.read_next),
        }
    }

    fn read_mode(&self, locks_gaps: bool) -> ReadMode {
        match self.lock {
            None => ReadMode::Snapshot,
            Some(_) if !locks_gaps => ReadMode::Latest,
            Some(SourceLock::Lock(mode, policy)) => ReadMode::Lock(mode, policy),
            Some(SourceLock::Latest) => ReadMode::Lock(LockMode::Exclusive, WaitPolicy::Wait),
        }
    }

    #[cold]
    fn show_entries(&mut self, filter: &Expr) {
        let mut wanted = vec![false; self.plan.table.columns.len()];
        filter.each_column(&mut |source, column| {
            if source == self.plan.source {
                wanted[column] = true;
            }
        });
        self.cursor.get_or_insert_default().show_entries(self.table, &wanted);
    }

    fn point(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let Access::Point { index, .. } = self.plan.access else { unreachable!("only a point access has this stage") };
        run.tick()?;
        let how = self.how();
        let source = &mut run.sources[self.plan.source];
        let there = self.table.point(run.worker, run.txn, index, &self.key, how, &mut source.row)?;
        count(&run.shared.session.work.read_key);
        if !there {
            run.count_end();
            return Ok(Stage::Done);
        }
        self.reads.count += 1;
        source.state = SourceState::Stored;
        self.current = true;
        Ok(Stage::Load)
    }

    /// So many rows were read that did not meet the tests.
    fn count_passed(&mut self, run: &mut Run<'p>, passed: u64) {
        self.count_reads(&run.shared.session.work, passed);
        self.reads.count += passed;
        run.clock.pass_rows(run.shared.session, passed);
    }

    fn read(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        run.tick()?;
        let source = &mut run.sources[self.plan.source];
        self.entry_judged = self.index_filter.is_none();
        if self.index_filter.is_some() && (self.lock.is_some() || !run.txn.has_changed_unseen()) {
            let there = opened(&mut self.cursor).next_entry(self.table, run.worker, run.txn, &mut source.row)?;
            self.count_read(&run.shared.session.work);
            if !there {
                run.count_end();
                return Ok(Stage::NextRange);
            }
            self.reads.count += 1;
            run.sources[self.plan.source].state = SourceState::Stored;
            return Ok(Stage::JudgeEntry);
        }
        let tests = if self.tests_ahead { self.stored.ahead() } else { None };
        let there = match tests {
            Some(tests) => {
                let mut passed = 0;
                let cursor = opened(&mut self.cursor);
                let found = cursor.next_that_meets(self.table, run.worker, run.txn, tests, &mut passed, &mut source.row);
                self.count_passed(run, passed);
                match found? {
                    Some(there) => there,
                    None => {
                        run.count_end();
                        return Ok(Stage::Read);
                    }
                }
            }
            None => opened(&mut self.cursor).next(self.table, run.worker, run.txn, &mut source.row)?,
        };
        if there || self.ends {
            self.count_read(&run.shared.session.work);
        }
        if !there {
            run.count_end();
            return Ok(Stage::NextRange);
        }
        self.reads.count += 1;
        run.sources[self.plan.source].state = SourceState::Stored;
        self.current = self.is_current(run);
        let source = &run.sources[self.plan.source];
        if self.current || !source.row.held_by_other() {
            return Ok(if self.reads_variable { Stage::Load } else { Stage::Judge });
        }
        Ok(match self.lock {
            // Without a committed version there is nothing that could match.
            _ if self.semi_consistent && source.row.payload().is_empty() => Stage::Read,
            _ if self.semi_consistent => Stage::Load,
            Some(SourceLock::Lock(_, WaitPolicy::NoWait | WaitPolicy::SkipLocked)) => Stage::Acquire,
            _ => Stage::AwaitHeld,
        })
    }

    /// Reads the row of an entry that was judged.
    fn fetch(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let source = &mut run.sources[self.plan.source];
        let there = opened(&mut self.cursor).fetch_shown(self.table, run.worker, run.txn, &mut source.row)?;
        (self.current, self.entry_judged) = (self.is_current(run), true);
        Ok(if there { Stage::Load } else { Stage::Read })
    }

    /// Is the row that was read the version that the statement wants, with the lock that it wants?
    fn is_current(&self, run: &Run<'p>) -> bool {
        match self.lock {
            None => true,
            Some(SourceLock::Lock(..)) if !run.txn.locks_gaps() => false,
            Some(_) => run.sources[self.plan.source].row.seen().is_some(),
        }
    }

    fn merged(&mut self) -> &mut MergedKeys<'p> {
        self.merged.as_mut().expect("made with the scan of an index merge")
    }

    fn merged_key(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let mode = self.read_mode(run.txn.locks_gaps());
        if self.merged().next(run, mode)? {
            return Ok(Stage::MergedRow);
        }
        run.count_end();
        Ok(Stage::Done)
    }

    fn found_key(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        run.tick()?;
        let Some(found) = &mut self.found else { return Ok(Stage::Done) };
        let Some(key) = found.next() else {
            if found.more(run, self.table)? {
                return Ok(Stage::FoundKey);
            }
            run.count_end();
            return Ok(Stage::Done);
        };
        run.sources[self.plan.source].row.set_key(key);
        Ok(Stage::MergedRow)
    }

    fn merged_row(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let how = match (self.read_mode(run.txn.locks_gaps()), self.lock) {
            (ReadMode::Snapshot, _) => RowRead::Snapshot,
            (ReadMode::Latest, Some(SourceLock::Lock(mode, policy))) => RowRead::Current(mode, policy),
            (ReadMode::Latest, _) => RowRead::Latest,
            (ReadMode::Lock(mode, policy), _) => RowRead::Lock(mode, policy),
        };
        let source = &mut run.sources[self.plan.source];
        if let Some(merged) = &self.merged {
            source.row.set_key(merged.key());
        }
        if !self.table.reread(run.worker, run.txn, how, &mut source.row)? {
            return Ok(self.after_row(false));
        }
        source.state = SourceState::Stored;
        count(&run.shared.session.work.read_rnd);
        self.reads.count += 1;
        (self.current, self.entry_judged) = (self.is_current(run), true);
        Ok(Stage::Load)
    }

    /// Brings in large columns that lie outside of the row.
    fn load(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let source = &mut run.sources[self.plan.source];
        if !self.table.has_externals(&source.row) {
            return Ok(Stage::Judge);
        }
        let how = if self.current { self.how() } else { RowRead::Latest };
        let wanted = &self.plan.columns_used;
        if self.table.load_externals(run.worker, run.txn, how, wanted, &mut source.row)? {
            return Ok(Stage::Judge);
        }
        // The row changed between the two reads; its new version is judged instead. One that was current must still have the entry that led to it.
        Ok(if self.current && self.lock.is_some() { Stage::Acquire } else { Stage::Reload })
    }

    /// Apart from `load`: where this read waits, it leaves in the row what another transaction has not committed, and nothing may look at that.
    fn reload(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let source = &mut run.sources[self.plan.source];
        self.entry_judged = self.index_filter.is_none();
        let how = if self.current { self.how() } else { RowRead::Latest };
        let there = self.table.reread(run.worker, run.txn, how, &mut source.row)?;
        Ok(if there { Stage::Load } else { self.after_row(false) })
    }

    /// Locks the row, or reads its latest version, before it is judged for good.
    fn acquire(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let row = &mut run.sources[self.plan.source].row;
        self.entry_judged = self.index_filter.is_none();
        let there = match self.lock {
            Some(SourceLock::Lock(mode, policy)) => match &mut self.cursor {
                Some(cursor) => cursor.lock_current(self.table, run.worker, run.txn, mode, policy, row)?,
                None => self.table.lock_current(run.worker, run.txn, mode, policy, row)?,
            },
            // The row of a point access has its key for an identity, if that is the clustered one; of another unique key, or of a
            // range, the current version may lie elsewhere.
            _ if matches!(self.plan.access, Access::Point { index: 0, .. }) => {
                self.table.reread(run.worker, run.txn, RowRead::Latest, row)?
            }
            _ if matches!(self.plan.access, Access::Point { .. }) => {
                self.current = true;
                return Ok(Stage::Point);
            }
            _ if self.is_clustered() => self.table.reread(run.worker, run.txn, RowRead::Latest, row)?,
            _ => {
                let (mode, policy) = (LockMode::Exclusive, WaitPolicy::Wait);
                opened(&mut self.cursor).lock_current(self.table, run.worker, run.txn, mode, policy, row)?
            }
        };
        if !there {
            return Ok(self.after_row(false));
        }
        self.current = true;
        Ok(Stage::Load)
    }

    /// Waits until nobody holds the row, and reads it.
    fn await_held(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let row = &mut run.sources[self.plan.source].row;
        let there = self.table.reread(run.worker, run.txn, RowRead::Latest, row)?;
        self.current = self.lock == Some(SourceLock::Latest);
        Ok(if there { Stage::Load } else { self.after_row(false) })
    }

    fn lock_refused(&mut self, run: &mut Run<'p>) -> Step<Stage> {
        let row = &mut run.sources[self.plan.source].row;
        let (seen, mode) = (row.seen(), LockMode::Exclusive);
        let there = self.table.lock_current(run.worker, run.txn, mode, WaitPolicy::Wait, row)?;
        // Changed between the two reads: judged again.
        Ok(if there && row.seen() != seen { Stage::Load } else { Stage::Done })
    }

    fn how(&self) -> RowRead {
        match self.lock {
            None => RowRead::Snapshot,
            Some(SourceLock::Latest) => RowRead::Latest,
            Some(SourceLock::Lock(mode, policy)) => RowRead::Lock(mode, policy),
        }
    }

    /// Is the scanned index the clustered one, whose keys identify rows?
    fn is_clustered(&self) -> bool {
        matches!(self.plan.access, Access::Ranges { index: 0, .. } | Access::Full { index: 0, .. })
            || matches!(
                self.plan.access,
                Access::Merge(_) | Access::FullText { .. } | Access::Spatial { .. } | Access::Elements { .. }
            )
    }

    /// Does the index leave out no row, so that the table is read in its place?
    fn reads_everything(&self) -> bool {
        self.found.as_ref().is_some_and(|found| found.is_everything())
    }

    fn reads_ranges(&self) -> bool {
        !self.is_point() && self.merged.is_none() && self.found.is_none()
    }

    #[inline]
    fn is_point(&self) -> bool {
        matches!(self.plan.access, Access::Point { .. })
    }

    /// After a row; `is_kept`: it is emitted.
    #[inline]
    fn after_row(&mut self, is_kept: bool) -> Stage {
        match self.plan.access {
            Access::Point { .. } => Stage::Done,
            Access::Merge(_) => Stage::MergedKey,
            Access::FullText { .. } | Access::Spatial { .. } => Stage::FoundKey,
            Access::Elements { .. } | Access::Nearest(_) => self.after_found_row(is_kept),
            _ => Stage::Read,
        }
    }

    /// Of an index that may have left out no row.
    fn after_found_row(&mut self, is_kept: bool) -> Stage {
        match &mut self.found {
            Some(found) if is_kept => found.keep(),
            _ => {}
        }
        if self.reads_everything() { Stage::Read } else { Stage::FoundKey }
    }
}

fn reads_variable(plan: &Scan, table: &Table) -> bool {
    let mut used = plan.columns_used.iter().enumerate();
    used.any(|(column, used)| *used && table.layout().is_variable(column))
}

/// Has the expression a value without a row of `source`, and no effect?
fn is_known(expr: &Expr, source: usize) -> bool {
    match &expr.kind {
        ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::UserVariable(_) => true,
        ExprKind::Column { source: other, .. } => *other != source,
        ExprKind::Call { function: Function::DATABASE, .. } => true,
        _ => false,
    }
}

/// Rows of the server's memory: information_schema.
pub(crate) struct VirtualScan<'p> {
    plan: &'p Scan,
    rows: Option<Box<dyn VirtualRows + 'p>>,
    row: Vec<Value<'static>>,
    pending: bool,
}

impl<'p> VirtualScan<'p> {
    pub fn new(plan: &'p Scan) -> Self {
        Self { plan, rows: None, row: Vec::new(), pending: false }
    }

    pub fn rewind(&mut self) {
        self.rows = None;
        self.pending = false;
    }

    /// The values of the row that `next` has found.
    pub fn row(&self) -> &[Value<'static>] {
        &self.row
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            if !self.pending {
                run.tick()?;
                if !self.fetch(run)? {
                    return Ok(false);
                }
                self.pending = true;
            }
            let keep = run.passes(self.plan.filter.as_ref())?;
            self.pending = false;
            if keep {
                return Ok(true);
            }
        }
    }

    /// The columns that have to be equal to a text whose value is known before the rows are.
    fn equalities(&self, env: &Env<'p>, filter: &'p Expr, equal: &mut Vec<(usize, Vec<u8>)>) -> Step<()> {
        match &filter.kind {
            ExprKind::And(parts) => parts.iter().try_for_each(|part| self.equalities(env, part, equal)),
            ExprKind::Compare { op: CompareOp::Equal, by: CompareAs::String(collation), left, right }
                if collation.is_bytewise() =>
            {
                for (column, value) in [(left, right), (right, left)] {
                    let ExprKind::Column { source, column } = column.kind else { continue };
                    if source == self.plan.source
                        && is_known(value, source)
                        && let Value::Bytes(text) = env.eval(value)?
                    {
                        equal.push((column, text.into_owned()));
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn fetch(&mut self, run: &mut Run<'p>) -> Step<bool> {
        let rows = match &mut self.rows {
            Some(rows) => rows,
            None => {
                let host: &'p dyn crate::context::Host = run.shared.host;
                let gone = || Error::TableChanged { table: self.plan.table.name.clone() };
                let mut equal = Vec::new();
                if let Some(filter) = &self.plan.filter {
                    self.equalities(&run.env(&[]), filter, &mut equal)?;
                }
                self.rows.insert(host.virtual_rows(&self.plan.table, &equal).ok_or_else(gone)?)
            }
        };
        self.row.clear();
        if !rows.next_row(&mut self.row) {
            return Ok(false);
        }
        let source = &mut run.sources[self.plan.source];
        source.bytes.clear();
        source.def = Some(&self.plan.table);
        let mut packer = Packer::new(&mut source.bytes, self.plan.table.columns.len());
        for (value, column) in self.row.iter_mut().zip(&self.plan.table.columns) {
            // As stored rows have it: in UTC.
            if let (Value::DateTime(utc), TypeKind::Timestamp { .. }) = (&*value, &column.ty.kind) {
                *value = Value::DateTime(run.shared.session.time_zone.from_stored(*utc));
            }
            packer.push(value);
        }
        source.state = SourceState::Packed;
        Ok(true)
    }
}
