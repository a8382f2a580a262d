//! Changing one row: insert, update, delete.
//!
//! Under the leaf's latch: 1. judge the record (mine, another's, committed) and the lock table; 2. remember the old version in undo;
//! 3. log and apply the new one. When there is no room the latch is given up, the leaf split, and the operation starts over.

use crate::locks::{Claim, Want};
use crate::read::{Owner, Seen};
use crate::undo::{Room, UndoEntry, UndoKind};
use crate::{Error, KEY_BYTES_MAX, LockMode, RECORD_BYTES_MAX, Result, TreeRef, Txn, Worker};
use storage::buffer::PageWrite;
use storage::page::{RecordHeader, TOMBSTONE};
use storage::wal::Purpose;
use storage::wal::record::{RowChange, RowOp};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertOutcome {
    Inserted,
    /// A live row (committed, or this transaction's own) has the key; nothing changed.
    Duplicate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    Done,
    /// The row is not the one that `seen` names any more: read it again.
    Changed,
}

/// The decision of an operation after reading the record.
enum Verdict {
    Go,
    Stop,
    /// Another open transaction (or, if `None`, a lock or a queue) has precedence.
    Wait(Option<u64>),
}

struct NewVersion<'a> {
    tree: TreeRef,
    key: &'a [u8],
    flags: u8,
    payload: &'a [u8],
}

impl Txn {
    /// Inserts a row.
    ///
    /// # Errors
    /// A stall; 1205, 1213; a record or key over the limits.
    pub fn insert(&mut self, worker: &Worker, tree: TreeRef, key: &[u8], payload: &[u8]) -> Result<InsertOutcome> {
        let new = NewVersion { tree, key, flags: 0, payload };
        let done = self.change(worker, &new, Want::Insert, |txn, header| match header {
            None => Verdict::Go,
            Some(header) => match worker.engine.owner(header, txn) {
                Owner::Other(holder) => Verdict::Wait(Some(holder)),
                _ if header.is_tombstone() => Verdict::Go,
                _ => Verdict::Stop,
            },
        })?;
        Ok(if done { InsertOutcome::Inserted } else { InsertOutcome::Duplicate })
    }

    /// Replaces the row that `seen` names.
    ///
    /// # Errors
    /// As `insert`.
    pub fn update(&mut self, worker: &Worker, tree: TreeRef, key: &[u8], seen: Seen, payload: &[u8]) -> Result<WriteOutcome> {
        self.replace(worker, &NewVersion { tree, key, flags: 0, payload }, seen)
    }

    /// Deletes the row that `seen` names.
    ///
    /// # Errors
    /// As `insert`.
    pub fn delete(&mut self, worker: &Worker, tree: TreeRef, key: &[u8], seen: Seen) -> Result<WriteOutcome> {
        self.replace(worker, &NewVersion { tree, key, flags: TOMBSTONE, payload: &[] }, seen)
    }

    fn replace(&mut self, worker: &Worker, new: &NewVersion<'_>, seen: Seen) -> Result<WriteOutcome> {
        let done = self.change(worker, new, Want::Row(LockMode::Exclusive), |txn, header| match header {
            Some(header) if header.mark == seen.0 && !header.is_tombstone() => match worker.engine.owner(header, txn) {
                // A dirty read cannot be a base to write on.
                Owner::Other(holder) => Verdict::Wait(Some(holder)),
                _ => Verdict::Go,
            },
            _ => Verdict::Stop,
        })?;
        Ok(if done { WriteOutcome::Done } else { WriteOutcome::Changed })
    }

    /// The common path. `false`: the callback stopped the change.
    fn change(
        &mut self,
        worker: &Worker,
        new: &NewVersion<'_>,
        want: Want,
        judge: impl Fn(u64, Option<RecordHeader>) -> Verdict,
    ) -> Result<bool> {
        if new.key.len() > KEY_BYTES_MAX || new.key.len() + new.payload.len() > RECORD_BYTES_MAX {
            return Err(Error::TooLarge { bytes: new.key.len() + new.payload.len() }.into());
        }
        self.resume(worker, new.tree, new.key)?;
        self.ensure_id(worker)?;
        let engine = &*worker.engine;
        // A deletion frees space, and so does a DROP, which changes the catalog.
        let relieves = new.flags & TOMBSTONE != 0 || new.tree == engine.catalog_tree();
        let purpose = if relieves { Purpose::Relief } else { Purpose::Growth };
        engine.store.wal.check_room(worker.index, purpose)?;
        match engine.undo.room(purpose) {
            Room::Yes => {}
            // Old versions are on their way to the file; the log's pace is a good moment to look again.
            Room::NotYet => return Err(engine.store.wal.stall_for_flush(worker.index).into()),
            Room::DiskFull => return Err(Error::Full.into()),
        }
        loop {
            let leaf = engine.store.latch_leaf(new.tree, new.key)?;
            let slot = leaf.page.search(new.key);
            let header = slot.ok().map(|index| leaf.page.record(index).header);
            // The row is claimed only when nothing can intervene: a split may stall, and the place in the queue must
            // survive that.
            let room = leaf.page.has_room(slot, new.flags, new.key, new.payload.len());
            let verdict = match judge(self.id, header) {
                Verdict::Go if header.is_none_or(|h| h.mark != self.id) => self.claim(worker, new, want, room),
                other => other,
            };
            match verdict {
                Verdict::Go => {}
                Verdict::Stop => {
                    drop(leaf);
                    // A transaction that has waited for the key, and finds a row there, may lock that row next: it
                    // keeps its place in the queue.
                    if want != Want::Insert {
                        self.leave_wait(worker);
                    }
                    return Ok(false);
                }
                Verdict::Wait(holder) => {
                    return Err(self.wait_for(worker, new.tree, new.key, want, holder, || drop(leaf)));
                }
            }
            if !room {
                drop(leaf);
                engine.store.split(worker.index, new.tree, new.key, purpose)?;
                continue;
            }
            self.forget_wait();
            self.apply(worker, &leaf, slot, new);
            return Ok(true);
        }
    }

    fn claim(&self, worker: &Worker, new: &NewVersion<'_>, want: Want, takes: bool) -> Verdict {
        let engine = &*worker.engine;
        match engine.locks.claim(&engine.statuses, self.id, new.tree, new.key, want, takes) {
            Claim::Free => Verdict::Go,
            Claim::Conflict => Verdict::Wait(None),
        }
    }

    fn apply(&mut self, worker: &Worker, leaf: &PageWrite<'_>, slot: std::result::Result<usize, usize>, new: &NewVersion<'_>) {
        let engine = &*worker.engine;
        self.ensure_writer(worker);
        let mut scratch = worker.scratch.take();
        scratch.payload.clear();
        let old = slot.ok().map(|index| {
            let record = leaf.page.record(index);
            assert!(leaf.page.payload(&record, &mut scratch.payload), "P1: a latched page has whole records");
            record.header
        });
        let kind = match (old, new.flags & TOMBSTONE != 0) {
            (None, _) => UndoKind::Insert,
            (Some(_), true) => UndoKind::Delete,
            (Some(_), false) => UndoKind::Update,
        };
        let entry = UndoEntry {
            kind,
            tree: new.tree,
            key: new.key,
            old: old.unwrap_or_default(),
            old_payload: &scratch.payload,
            txn_prev: self.undo_last,
        };
        let address = engine.undo.append(&mut worker.undo.borrow_mut(), &mut self.segments, &entry, || engine.horizon());
        let prev = match old {
            None => 0,
            // Nobody else ever sees this transaction's intermediate versions.
            Some(header) if header.mark == self.id => header.prev,
            Some(_) => address,
        };
        let change = RowChange {
            op: RowOp::Put,
            tree: new.tree,
            txn: self.id,
            key: new.key,
            header: RecordHeader { flags: new.flags, mark: self.id, prev },
            payload: new.payload,
            old: old.map(|header| (header, &scratch.payload[..])),
            compensation: false,
        };
        engine.store.change_row(worker.index, leaf, slot, &change);
        worker.scratch.set(scratch);
        self.undo_last = address;
        self.changes += 1;
        self.deletes |= kind == UndoKind::Delete;
    }
}
