//! A transaction's life: snapshot, identity, savepoints, commit, rollback.
//!
//! Commit: 1. status = committing; 2. timestamp = clock + 1; 3. COMMIT record into the worker's log buffer; 4. status =
//! committed(timestamp): visible; 5. those who wait for its rows are woken; 6. the caller awaits the flush. Nothing in the write set is
//! touched.
//! Rollback walks the transaction's undo records from the newest and restores each record by key, logging what it does as
//! compensation; then the ABORTED record ends it.

use crate::engine::LOCK_WAIT_TIMEOUT;
use crate::horizon::Snapshot;
use crate::locks::{LockKey, WaitCell, WaitEnd, Want};
use crate::purge::Job;
use crate::undo::{ReadError, SegmentList, UndoHead, UndoKind};
use crate::{Error, Interrupt, LockMode, Result, Stall, TreeRef, Worker};
use os::time::Instant;
use std::sync::Arc;
use std::time::Duration;
use storage::Durability;
use storage::page::RecordHeader;
use storage::wal::Purpose;
use storage::wal::record::{RowChange, RowOp, write_aborted, write_commit, write_note};
use sync::atomic::Ordering;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// A savepoint: a position in a transaction's undo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint(u64);

/// A snapshot that a transaction lends to readers on other workers.
#[derive(Clone, Copy, Debug)]
pub struct LentSnapshot(u64);

/// A place in the queue of a row.
struct Wait {
    name: LockKey,
    cell: Arc<WaitCell>,
    /// When the wait for this row, which may go on after a wake-up, has lasted too long.
    deadline: Instant,
}

/// One transaction of one session; lives on the worker that began it. Dropping an unfinished one is a bug (asserted);
/// call `rollback`.
pub struct Txn {
    isolation: Isolation,
    /// 0 until something is changed or locked.
    pub(crate) id: u64,
    pub(crate) snapshot: Option<Snapshot>,
    pub(crate) undo_last: u64,
    pub(crate) changes: u64,
    pub(crate) deletes: bool,
    pub(crate) segments: SegmentList,
    /// First epoch, once something was changed.
    writer_epoch: Option<u64>,
    wait: Option<Wait>,
    pub(crate) explicit: Vec<LockKey>,
    /// Trees in which it holds ranges of keys.
    pub(crate) range_trees: Vec<u32>,
    lock_wait_timeout: Duration,
    /// The session, for reports of locks; 0: none.
    session: u32,
    /// It has changed rows that its snapshot does not see.
    pub(crate) changed_unseen: bool,
    /// How often it has waited for a lock.
    waits: u32,
}

impl Txn {
    pub(crate) fn new(isolation: Isolation) -> Self {
        Self {
            isolation,
            id: 0,
            snapshot: None,
            undo_last: 0,
            changes: 0,
            deletes: false,
            segments: SegmentList::new(),
            writer_epoch: None,
            wait: None,
            explicit: Vec::new(),
            range_trees: Vec::new(),
            lock_wait_timeout: LOCK_WAIT_TIMEOUT,
            session: 0,
            changed_unseen: false,
            waits: 0,
        }
    }

    /// The snapshot, for readers on other workers; it is taken now if it was not before. `None`: this transaction does not read by its snapshot
    /// alone, because it has changed or locked something, or reads what is not committed.
    ///
    /// The transaction must not end, and its snapshot not be renewed, before the last of these readers has stopped.
    pub fn lend_snapshot(&mut self, worker: &Worker) -> Option<LentSnapshot> {
        if self.id != 0 || self.isolation == Isolation::ReadUncommitted {
            return None;
        }
        Some(LentSnapshot(self.snapshot_timestamp(worker)))
    }

    /// A transaction that reads by a lent snapshot, and does nothing else. Nothing has to be done to end it.
    pub fn of_lent(snapshot: LentSnapshot) -> Self {
        let mut txn = Self::new(Isolation::RepeatableRead);
        txn.snapshot = Some(Snapshot::lent(snapshot.0));
        txn
    }

    pub fn isolation(&self) -> Isolation {
        self.isolation
    }

    /// Takes the consistent-read snapshot now (START TRANSACTION WITH CONSISTENT SNAPSHOT); otherwise the first read does.
    pub fn take_snapshot(&mut self, worker: &Worker) {
        self.snapshot_timestamp(worker);
    }

    #[inline]
    pub(crate) fn snapshot_timestamp(&mut self, worker: &Worker) -> u64 {
        self.snapshot.get_or_insert_with(|| worker.snapshots.take(worker.engine.clock())).timestamp
    }

    /// Ends a statement of a transaction that continues: leaves a queue whose row it does not need any more.
    pub fn end_statement(&mut self, worker: &Worker) {
        self.leave_wait(worker);
    }

    /// READ COMMITTED and below: the next read takes a fresh snapshot. Call at the start of each statement (any level).
    pub fn begin_statement(&mut self, worker: &Worker) {
        self.leave_wait(worker);
        if !self.keeps_snapshot() {
            self.release_snapshot(worker);
        }
    }

    fn release_snapshot(&mut self, worker: &Worker) {
        if let Some(snapshot) = self.snapshot.take() {
            worker.snapshots.release(snapshot);
        }
    }

    /// Gives up the snapshot: nothing reads by it any more, but what changed stays.
    pub fn forget_snapshot(&mut self, worker: &Worker) {
        self.leave_wait(worker);
        self.release_snapshot(worker);
    }

    pub fn set_lock_wait_timeout(&mut self, timeout: Duration) {
        self.lock_wait_timeout = timeout;
    }

    /// Sets the session that `Engine::locks` reports for the transaction.
    pub fn set_session(&mut self, session: u32) {
        self.session = session;
    }

    /// Gives the transaction its identity.
    pub(crate) fn ensure_id(&mut self, worker: &Worker) -> Result<()> {
        if self.id == 0 {
            let engine = &worker.engine;
            self.id = engine.statuses.open(worker.index, || engine.horizon()).map_err(|_| Error::Full)?;
            engine.statuses.set_session(self.id, self.session);
        }
        Ok(())
    }

    /// Before the first change of a transaction is logged.
    pub(crate) fn ensure_writer(&mut self, worker: &Worker) {
        if self.writer_epoch.is_none() {
            self.writer_epoch = Some(worker.open_writer());
        }
    }

    /// Joins the queue of a row, or takes its place in it again. The caller's latch is released by `release`.
    pub(crate) fn wait_for(
        &mut self,
        worker: &Worker,
        tree: TreeRef,
        key: &[u8],
        want: Want,
        holder: Option<u64>,
        release: impl FnOnce(),
    ) -> Interrupt {
        self.waits = self.waits.wrapping_add(1);
        let engine = &worker.engine;
        let before = self.wait.take_if(|wait| wait.name.is(tree, key)).map(|wait| wait.deadline);
        self.leave_wait(worker);
        let (name, cell) = engine.locks.enqueue(&engine.statuses, self.id, tree, key, want, holder);
        release();
        let deadline = before.unwrap_or_else(|| Instant::now() + self.lock_wait_timeout);
        self.wait = Some(Wait { name: name.clone(), cell: cell.clone(), deadline });
        // A new place is the last of its queue.
        let holds_nothing = self.undo_last == 0 && self.explicit.is_empty() && self.range_trees.is_empty();
        // As in InnoDB, locks weigh as much as changes when a deadlock's victim is chosen.
        let locks = (self.explicit.len() + self.range_trees.len()) as u64;
        let weight = if holds_nothing && before.is_none() { None } else { Some(self.changes + locks) };
        match engine.locks.begin_wait(&engine.statuses, &engine.timers, &name, &cell, weight, deadline) {
            Ok(()) => Interrupt::Stall(Stall::Lock(cell)),
            Err(()) => {
                self.leave_wait(worker);
                Error::Deadlock.into()
            }
        }
    }

    /// At the start of every operation that takes a row: how did the last wait end? A place in the queue of another row is given up.
    #[inline]
    pub(crate) fn resume(&mut self, worker: &Worker, tree: TreeRef, key: &[u8]) -> Result<()> {
        if self.wait.is_some() {
            self.judge_wait(worker)?;
            if self.wait.as_ref().is_some_and(|wait| !wait.name.is(tree, key)) {
                self.leave_wait(worker);
            }
        }
        Ok(())
    }

    /// At the start of every operation that looks at a row: how did the last wait end? The place in the queue stays: the reading of an
    /// index entry that leads to the row waited for, say, comes before the row itself.
    #[inline]
    pub(crate) fn resume_look(&mut self, worker: &Worker) -> Result<()> {
        if self.wait.is_none() { Ok(()) } else { self.judge_wait(worker) }
    }

    #[cold]
    fn judge_wait(&mut self, worker: &Worker) -> Result<()> {
        let Some(wait) = &self.wait else { return Ok(()) };
        let error = match worker.engine.locks.end_wait(&wait.cell) {
            WaitEnd::Woken => return Ok(()),
            WaitEnd::Victim => Error::Deadlock,
            WaitEnd::TimedOut => Error::LockWaitTimeout,
        };
        self.leave_wait(worker);
        Err(error.into())
    }

    /// Gives up the place in a queue, if any.
    pub(crate) fn leave_wait(&mut self, worker: &Worker) {
        if let Some(wait) = self.wait.take() {
            worker.engine.locks.end_wait(&wait.cell);
            worker.engine.locks.leave(&wait.name, self.id);
        }
    }

    /// The row has been got: the queue was left by `claim`.
    pub(crate) fn forget_wait(&mut self) {
        self.wait = None;
    }

    pub fn savepoint(&self) -> Savepoint {
        Savepoint(self.undo_last)
    }

    /// Has this transaction changed anything?
    pub fn is_dirty(&self) -> bool {
        self.undo_last != 0
    }

    /// The commit clock of the snapshot that its consistent reads see, once it has one.
    pub fn snapshot_time(&self) -> Option<u64> {
        self.snapshot.as_ref().map(|snapshot| snapshot.timestamp)
    }

    /// May it read a tree that was made at `made_at` of the commit clock? Not if it keeps reading from an earlier
    /// snapshot.
    #[inline]
    pub fn check_age(&self, made_at: u64) -> std::result::Result<(), Error> {
        match &self.snapshot {
            Some(snapshot) if snapshot.timestamp < made_at && self.keeps_snapshot() => Err(Error::SnapshotTooOld),
            _ => Ok(()),
        }
    }

    /// Does the first statement's snapshot serve the whole transaction?
    fn keeps_snapshot(&self) -> bool {
        matches!(self.isolation, Isolation::RepeatableRead | Isolation::Serializable)
    }

    /// How often it has waited for a lock. Read-ahead from before a wait is read again after it, because others have
    /// continued meanwhile.
    #[inline]
    pub fn waits(&self) -> u32 {
        self.waits
    }

    /// How many records it has changed.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Undoes everything since the savepoint; the rows that are as they were before stay locked until the transaction ends.
    ///
    /// # Errors
    /// A stall: await it and call again.
    pub fn rollback_to(&mut self, worker: &Worker, savepoint: Savepoint) -> Result<()> {
        self.undo_until(worker, savepoint, true)
    }

    fn undo_until(&mut self, worker: &Worker, savepoint: Savepoint, keep_locks: bool) -> Result<()> {
        self.leave_wait(worker);
        let mut scratch = worker.scratch.take();
        let mut undone = Ok(());
        while self.undo_last != savepoint.0 && self.undo_last != 0 {
            scratch.key.clear();
            scratch.payload.clear();
            let read = worker.engine.undo.read(self.undo_last, Some(&mut scratch.key), Some(&mut scratch.payload));
            let head = match read {
                Ok(head) => head,
                Err(e) => {
                    debug_assert!(!matches!(e, ReadError::Gone), "U1: an open transaction's undo is pinned");
                    undone = Err(Error::Storage(e.to_string()).into());
                    break;
                }
            };
            undone = self.undo(worker, &head, &scratch.key, &scratch.payload, keep_locks);
            if undone.is_err() {
                break;
            }
            self.undo_last = head.txn_prev;
            self.changes = self.changes.saturating_sub(1);
        }
        worker.scratch.set(scratch);
        undone
    }

    fn undo(&mut self, worker: &Worker, head: &UndoHead, key: &[u8], payload: &[u8], keep_lock: bool) -> Result<()> {
        let store = &worker.engine.store;
        store.wal.check_buffer(worker.index)?;
        loop {
            let leaf = match store.latch_leaf(head.tree, key) {
                Err(storage::Interrupt::Error(storage::Error::NoSuchTree)) => return Ok(()),
                other => other?,
            };
            let slot = leaf.page.search(key);
            let own = slot.is_ok_and(|index| leaf.page.record(index).header.mark == self.id);
            debug_assert!(own, "an open transaction's record carries its mark");
            if !own {
                return Ok(());
            }
            let (op, header) = match head.kind {
                UndoKind::Insert => (RowOp::Remove, RecordHeader::default()),
                UndoKind::Update | UndoKind::Delete => (RowOp::Put, head.old),
            };
            if op == RowOp::Put && !leaf.page.has_room(slot, header.flags, key, payload.len()) {
                drop(leaf);
                store.split(worker.index, head.tree, key, Purpose::Relief)?;
                continue;
            }
            let undo = RowChange { op, tree: head.tree, txn: self.id, key, header, payload, old: None, compensation: true };
            store.change_row(worker.index, &leaf, slot, &undo);
            if keep_lock && op == RowOp::Put && header.mark != self.id {
                // The mark that was the lock is gone; the waiters for this transaction keep waiting.
                self.explicit.extend(worker.engine.locks.grant(self.id, head.tree, key, LockMode::Exclusive));
            }
            return Ok(());
        }
    }

    /// Says something about this transaction to who reads the log for others; directly before the commit. Without changes nobody is told.
    pub fn note(&mut self, worker: &Worker, bytes: &[u8]) {
        if self.id != 0 && self.writer_epoch.is_some() {
            write_note(worker.engine.store.wal.append(worker.index).buffer(), self.id, bytes);
        }
    }

    /// As [`Self::note`], also where the transaction has changed nothing: its commit is then logged for the note alone.
    ///
    /// # Errors
    /// A log buffer that is full; too many transactions.
    pub fn note_always(&mut self, worker: &Worker, bytes: &[u8]) -> Result<()> {
        if self.writer_epoch.is_none() {
            worker.engine.store.wal.check_buffer(worker.index)?;
            self.ensure_id(worker)?;
            self.ensure_writer(worker);
        }
        self.note(worker, bytes);
        Ok(())
    }

    /// Has it logged a change?
    pub fn has_written(&self) -> bool {
        self.writer_epoch.is_some()
    }

    /// Commits; visible to others at once. `Some(stall)`: await it before acknowledging (the log flush). Never fails once called.
    pub fn commit(&mut self, worker: &Worker) -> Option<Stall> {
        self.commit_as(worker, worker.engine.store.wal.durability())
    }

    /// [`Self::commit`] with its own durability; an engine that never syncs its log does not sync here either.
    pub fn commit_as(&mut self, worker: &Worker, durability: Durability) -> Option<Stall> {
        self.leave_wait(worker);
        self.release_snapshot(worker);
        if self.id == 0 {
            return None;
        }
        let engine = &worker.engine;
        let wal = &engine.store.wal;
        let mut flush = None;
        let end;
        if let Some(first_epoch) = self.writer_epoch.take() {
            let early = os::mutated("early-timestamp");
            if !early {
                engine.statuses.begin_commit(self.id);
            }
            // A snapshot that includes it sees `committing` or later.
            end = engine.advance_clock();
            if early {
                engine.statuses.begin_commit(self.id);
            }
            let epoch = {
                let mut append = wal.append(worker.index);
                write_commit(append.buffer(), self.id, end);
                append.epoch
            };
            self.end(worker, end, true);
            worker.close_writer(first_epoch);
            match durability {
                Durability::Full if os::mutated("early-acknowledgement") => wal.request_flush(worker.index),
                Durability::Full => flush = wal.commit_stall(worker.index, epoch, worker.own_flush()).map(Stall::Storage),
                Durability::Relaxed => wal.request_flush(worker.index),
                Durability::None => {}
            }
        } else {
            end = engine.clock().load(Ordering::Acquire);
            self.end(worker, end, true);
        }
        flush
    }

    /// The common part of commit and rollback: status, waiters, purge, undo.
    fn end(&mut self, worker: &Worker, end: u64, committed: bool) {
        let engine = &worker.engine;
        let statuses = &engine.statuses;
        let waited = if committed { statuses.commit(self.id, end) } else { statuses.abort(self.id, end) };
        if waited || !self.explicit.is_empty() || !self.range_trees.is_empty() {
            engine.locks.release(self.id, waited, &mut self.explicit, &mut self.range_trees);
        }
        if committed && self.deletes && self.undo_last != 0 {
            engine.undo.pin(&self.segments);
            let job = Job { end, txn: self.id, undo_last: self.undo_last, segments: self.segments.clone() };
            engine.purge.push(worker.index, job);
        }
        engine.undo.unpin(&self.segments, end);
        self.segments.clear();
        self.id = 0;
        self.undo_last = 0;
        self.changes = 0;
        self.deletes = false;
    }

    /// Undoes everything and ends the transaction. On a stall: await, call again.
    ///
    /// # Errors
    /// A stall; a storage error.
    pub fn rollback(&mut self, worker: &Worker) -> Result<()> {
        self.leave_wait(worker);
        self.release_snapshot(worker);
        if self.id == 0 {
            return Ok(());
        }
        self.undo_until(worker, Savepoint(0), false)?;
        let engine = &worker.engine;
        let first_epoch = self.writer_epoch.take();
        if first_epoch.is_some() {
            write_aborted(engine.store.wal.append(worker.index).buffer(), self.id);
        }
        // Above every snapshot so far (see StatusTable::abort). One that has written takes a timestamp, so that the horizon passes it
        // and its undo memory comes back also while nobody commits.
        let end = match first_epoch {
            Some(_) => engine.advance_clock(),
            None => engine.clock().load(Ordering::Acquire),
        };
        self.end(worker, end, false);
        if let Some(epoch) = first_epoch {
            worker.close_writer(epoch);
        }
        Ok(())
    }
}

impl Drop for Txn {
    fn drop(&mut self) {
        debug_assert!(
            (self.id == 0 && self.snapshot.as_ref().is_none_or(Snapshot::is_lent)) || std::thread::panicking(),
            "a transaction is committed or rolled back before it is dropped"
        );
    }
}
