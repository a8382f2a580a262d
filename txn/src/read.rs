//! Reading one row: consistent reads from a snapshot, current reads, locking reads.
//!
//! The newest version is copied out of the leaf and validated; only then is its visibility judged, from the copy. Older versions are
//! a cold walk through undo memory.

use crate::locks::{Claim, Want};
use crate::status::{Status, is_txn};
use crate::{Engine, Error, Isolation, Result, TreeRef, Txn, Worker};
use storage::btree::{Copied, Descents, GROUP, KeyList};
use storage::page::{FROZEN, RecordHeader};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    Share,
    Exclusive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Up to `Txn::set_lock_wait_timeout`.
    Wait,
    NoWait,
    /// The row is reported as absent.
    SkipLocked,
}

/// Identifies the version of a row that a read saw; a write with it fails softly when the row has changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen(pub(crate) u64);

/// The writer of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Me,
    /// Another open transaction.
    Other(u64),
    Committed,
}

/// How a reader sees versions.
#[derive(Clone, Copy)]
pub(crate) struct View {
    pub txn: u64,
    pub snapshot: u64,
    /// READ UNCOMMITTED: the newest version, by any writer.
    pub dirty: bool,
}

impl Engine {
    pub(crate) fn owner(&self, header: RecordHeader, me: u64) -> Owner {
        if header.flags & FROZEN != 0 || !is_txn(header.mark) {
            return Owner::Committed;
        }
        if header.mark == me {
            return Owner::Me;
        }
        match self.statuses.settled(header.mark) {
            Status::Open => Owner::Other(header.mark),
            // The marks of an aborted transaction are removed before its status changes. So this copy is of a version
            // that is gone, and the row has to be read again. Under a latch this does not happen.
            Status::Aborted => Owner::Other(header.mark),
            Status::Committing | Status::Committed(_) | Status::Old => Owner::Committed,
        }
    }

    /// Is this version visible?
    #[inline]
    pub(crate) fn sees(&self, view: View, header: RecordHeader) -> bool {
        if header.flags & FROZEN != 0 || header.mark == view.txn || view.dirty {
            return true;
        }
        if !is_txn(header.mark) {
            return header.mark <= view.snapshot;
        }
        match self.statuses.settled(header.mark) {
            Status::Old => true,
            Status::Committed(timestamp) => timestamp <= view.snapshot,
            Status::Open | Status::Committing | Status::Aborted => false,
        }
    }

    /// Is this a tombstone that was left before every snapshot, so that a purge would have taken it out by now?
    pub(crate) fn is_dead(&self, header: RecordHeader) -> bool {
        header.is_tombstone() && is_txn(header.mark) && self.statuses.status(header.mark) == Status::Old
    }

    /// Walks to the newest visible version below `header`; its payload replaces `payload`. `None`: there is none.
    #[cold]
    pub(crate) fn older(&self, view: View, mut header: RecordHeader, payload: &mut Vec<u8>) -> Result<Option<RecordHeader>> {
        while header.prev != 0 {
            payload.clear();
            let head = self.undo.read(header.prev, None, Some(payload)).map_err(|e| Error::Storage(e.to_string()))?;
            header = head.old;
            if self.sees(view, header) {
                return Ok(Some(header));
            }
        }
        Ok(None)
    }
}

impl Txn {
    #[inline]
    pub(crate) fn view(&mut self, worker: &Worker) -> View {
        View {
            txn: if self.id == 0 { u64::MAX } else { self.id },
            snapshot: self.snapshot_timestamp(worker),
            dirty: self.isolation() == Isolation::ReadUncommitted,
        }
    }

    /// Sees the latest version that is committed, or the transaction's own.
    pub(crate) fn current_view(&self) -> View {
        View { txn: if self.id == 0 { u64::MAX } else { self.id }, snapshot: u64::MAX >> 1, dirty: false }
    }

    /// Is the version that a current read saw newer than this transaction's lasting snapshot? A change of such a row
    /// makes the row visible to the transaction, and the caller must ensure that this holds for every index by which it
    /// is found.
    #[inline]
    pub fn is_unseen(&self, worker: &Worker, seen: Seen) -> bool {
        self.snapshot.as_ref().is_some_and(|snapshot| {
            let view = View { txn: self.id, snapshot: snapshot.timestamp, dirty: false };
            self.locks_gaps() && !worker.engine.sees(view, RecordHeader { mark: seen.0, ..RecordHeader::default() })
        })
    }

    /// Notes that such a row is changed.
    pub fn note_changed_unseen(&mut self) {
        self.changed_unseen = true;
    }

    /// Have such rows been changed? Then an index entry that is right for the snapshot may be wrong for this
    /// transaction's own versions.
    #[inline]
    pub fn has_changed_unseen(&self) -> bool {
        self.changed_unseen
    }

    /// Consistent read: the version visible to this transaction's snapshot (its own changes included). `payload` is cleared and
    /// filled. `false`: no visible row.
    ///
    /// # Errors
    /// A stall while a page is read; damage.
    #[inline]
    pub fn read(&mut self, worker: &Worker, tree: TreeRef, key: &[u8], payload: &mut Vec<u8>) -> Result<bool> {
        let view = self.view(worker);
        let engine = &*worker.engine;
        let header = loop {
            let leaf = engine.store.read_leaf(tree, key)?;
            let Ok(slot) = leaf.page.search(key) else {
                if leaf.valid() {
                    return Ok(false);
                }
                continue;
            };
            let record = leaf.page.record(slot);
            payload.clear();
            if leaf.page.payload(&record, payload) && leaf.valid() {
                break record.header;
            }
        };
        if engine.sees(view, header) {
            return Ok(!header.is_tombstone());
        }
        Ok(engine.older(view, header, payload)?.is_some_and(|h| !h.is_tombstone()))
    }

    /// Consistent reads of many keys, from `*next` on. `each` gets a key's number and its visible payload, if there is
    /// one. If `each` returns `false`, the keys from that one on are left to the caller. `*next` is the first key that
    /// is not done, also after a stall, when the same call continues.
    /// # Errors
    /// Like `read`.
    pub fn read_many(
        &mut self,
        worker: &Worker,
        tree: TreeRef,
        keys: &KeyList,
        next: &mut usize,
        payload: &mut Vec<u8>,
        mut each: impl FnMut(usize, Option<&[u8]>) -> bool,
    ) -> Result<()> {
        let view = self.view(worker);
        let engine = &*worker.engine;
        while *next < keys.len() {
            let first = *next;
            let descents = Descents::begin(&engine.store, tree, keys, first);
            for n in 0..(keys.len() - first).min(GROUP) {
                payload.clear();
                let found = match descents.copy(n, keys.get(first + n), payload) {
                    Copied::Absent => false,
                    Copied::Record(header) if engine.sees(view, header) => !header.is_tombstone(),
                    Copied::Record(header) => engine.older(view, header, payload)?.is_some_and(|h| !h.is_tombstone()),
                    Copied::Unknown => self.read(worker, tree, keys.get(first + n), payload)?,
                };
                if !each(first + n, found.then_some(&payload[..])) {
                    return Ok(());
                }
                *next += 1;
            }
        }
        Ok(())
    }

    /// Current read: the latest committed version or this transaction's own. Waits while another transaction holds the row.
    /// `Some(seen)` when there is a row.
    ///
    /// # Errors
    /// A stall; 1205 or 1213 when the wait ends badly.
    #[inline]
    pub fn read_latest(&mut self, worker: &Worker, tree: TreeRef, key: &[u8], payload: &mut Vec<u8>) -> Result<Option<Seen>> {
        self.read_current(worker, tree, key, LockMode::Exclusive, WaitPolicy::Wait, payload)
    }

    /// Current read of a row that another transaction does not hold in a mode that conflicts with `mode`; nothing is locked.
    ///
    /// # Errors
    /// As `lock_row`.
    pub fn read_current(
        &mut self,
        worker: &Worker,
        tree: TreeRef,
        key: &[u8],
        mode: LockMode,
        policy: WaitPolicy,
        payload: &mut Vec<u8>,
    ) -> Result<Option<Seen>> {
        self.resume_look(worker)?;
        let engine = &*worker.engine;
        loop {
            let leaf = engine.store.read_leaf(tree, key)?;
            let Ok(slot) = leaf.page.search(key) else {
                if leaf.valid() {
                    self.leave_wait(worker);
                    return Ok(None);
                }
                continue;
            };
            let record = leaf.page.record(slot);
            payload.clear();
            if !leaf.page.payload(&record, payload) || !leaf.valid() {
                continue;
            }
            #[cfg(test)]
            crate::interleave::here();
            let owner = engine.owner(record.header, self.id);
            // A mark names a transaction, which may have changed the row again before it committed: the copy is its last word only if the
            // page is the same still after the commit was seen.
            if owner == Owner::Committed && !leaf.valid() {
                continue;
            }
            match owner {
                Owner::Me => return Ok((!record.header.is_tombstone()).then_some(Seen(record.header.mark))),
                // Nothing is there to wait for.
                Owner::Committed if record.header.is_tombstone() => {
                    self.leave_wait(worker);
                    return Ok(None);
                }
                Owner::Committed => {
                    let claim = engine.locks.claim(&engine.statuses, self.id, tree, key, Want::Row(mode), false);
                    if matches!(claim, Claim::Free) {
                        return Ok(Some(Seen(record.header.mark)));
                    }
                }
                Owner::Other(_) => {}
            }
            // Another transaction holds it: checked again, and queued for, under the latch.
            match (self.wait_if_held(worker, tree, key, mode, policy)?, policy) {
                (false, _) => {}
                (true, WaitPolicy::SkipLocked) => return Ok(None),
                (true, _) => return Err(Error::WouldBlock.into()),
            }
        }
    }

    /// Queues for the row if, under the latch, it is still held, and the policy is to wait. `false`: it is not held.
    fn wait_if_held(&mut self, worker: &Worker, tree: TreeRef, key: &[u8], mode: LockMode, policy: WaitPolicy) -> Result<bool> {
        self.ensure_id(worker)?;
        let engine = &*worker.engine;
        let leaf = engine.store.latch_leaf(tree, key)?;
        let Ok(slot) = leaf.page.search(key) else { return Ok(false) };
        let header = leaf.page.record(slot).header;
        let holder = match engine.owner(header, self.id) {
            Owner::Me => return Ok(false),
            Owner::Other(holder) => Some(holder),
            Owner::Committed if header.is_tombstone() => return Ok(false),
            Owner::Committed => None,
        };
        let want = Want::Row(mode);
        let claim = engine.locks.claim(&engine.statuses, self.id, tree, key, want, false);
        if holder.is_none() && matches!(claim, Claim::Free) {
            return Ok(false);
        }
        match policy {
            WaitPolicy::Wait => Err(self.wait_for(worker, tree, key, want, holder, || drop(leaf))),
            WaitPolicy::NoWait | WaitPolicy::SkipLocked => Ok(true),
        }
    }

    /// Current read that also locks the row until the transaction ends.
    ///
    /// # Errors
    /// A stall; 1205, 1213 or 3572 (`NoWait`).
    pub fn lock_row(
        &mut self,
        worker: &Worker,
        tree: TreeRef,
        key: &[u8],
        mode: LockMode,
        policy: WaitPolicy,
        payload: &mut Vec<u8>,
    ) -> Result<Option<Seen>> {
        self.resume(worker, tree, key)?;
        self.ensure_id(worker)?;
        let engine = &*worker.engine;
        let leaf = engine.store.latch_leaf(tree, key)?;
        let Ok(slot) = leaf.page.search(key) else {
            drop(leaf);
            self.leave_wait(worker);
            return Ok(None);
        };
        let record = leaf.page.record(slot);
        let owner = engine.owner(record.header, self.id);
        // A deleted row is not locked; the waiters behind in the queue are next.
        let gone = record.header.is_tombstone();
        let want = Want::Row(mode);
        let claim = || engine.locks.claim(&engine.statuses, self.id, tree, key, want, true);
        let holder = match owner {
            Owner::Other(holder) => Some(holder),
            Owner::Committed if !gone && matches!(claim(), Claim::Conflict) => Some(0),
            Owner::Me | Owner::Committed => None,
        };
        if let Some(holder) = holder {
            return match policy {
                WaitPolicy::Wait => {
                    let holder = (holder != 0).then_some(holder);
                    Err(self.wait_for(worker, tree, key, want, holder, || drop(leaf)))
                }
                WaitPolicy::NoWait => Err(Error::WouldBlock.into()),
                WaitPolicy::SkipLocked => Ok(None),
            };
        }
        if gone {
            drop(leaf);
            self.leave_wait(worker);
            return Ok(None);
        }
        self.forget_wait();
        payload.clear();
        assert!(leaf.page.payload(&record, payload), "P1: a latched page has whole records");
        if owner != Owner::Me && !os::mutated("forget-lock") {
            self.explicit.extend(engine.locks.grant(self.id, tree, key, mode));
        }
        Ok(Some(Seen(record.header.mark)))
    }
}
