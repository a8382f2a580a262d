//! Locking reads: locks the rows of a scan and the gaps around them, at the isolation levels without phantoms.
//!
//! `fill_locked` 1. latches the leaf at the scan's place; 2. checks the records in range one by one, and waits for
//! those that others hold;
//! 3. adds the key range that it has passed to the transaction's ranges, under the same latch; 4. moves the place.
//!
//! ```text
//!                    low                    high
//!         |            :    |          |      :      |
//! records 3                 5          8             11
//! locked   (================================================)      WHERE k BETWEEN low AND high
//! ```
//! As in InnoDB the locked range begins after the record before the scan's range and ends before the record after it
//! (or at the leaf's fences, if these records are on other leaves): a little more than the range. If the last record is
//! the last possible one in the range, the lock ends there. If a record is exactly at the low end, nothing can be
//! inserted before it within the range, so the gap before it stays free: a unique key that is found locks one row. A
//! scan that stops early has locked what it has read.
//!
//! G1: between two calls everything from the scan's start to its place is locked, except rows that SKIP LOCKED has
//!     skipped, and the gap before each of these.
//! G2: `low <= place` at all times, and the range locked in one step lies within one leaf (R1).

use crate::locks::{Claim, Want};
use crate::read::Owner;
use crate::scan::{Scan, Slot};
use crate::{Error, Interrupt, Isolation, LockMode, ReadMode, Result, TreeRef, Txn, WaitPolicy, Worker};
use storage::buffer::PageWrite;
use storage::page::Page;

/// Why the walk over one leaf stopped.
enum Halt {
    /// At the end of the range on this leaf.
    End,
    /// Enough rows, or a row that must be waited for after the rows before it have been returned.
    Early,
}

/// The state of a record in range.
enum Judged {
    Row,
    /// A tombstone.
    Gone,
    /// Held, and to be left out.
    Skip,
    /// Held by the open transaction whose mark it has, or, if `None`, by a lock.
    Held(Option<u64>),
}

impl Txn {
    /// Do locking reads at its isolation level lock gaps, so that no phantoms appear?
    #[inline]
    pub fn locks_gaps(&self) -> bool {
        matches!(self.isolation(), Isolation::RepeatableRead | Isolation::Serializable)
    }

    /// Locks the gap around a key that a locking read has not found. `false`: meanwhile there is a row, or a lock of
    /// another transaction.
    ///
    /// # Errors
    /// A stall while a page is read.
    pub fn lock_gap(&mut self, worker: &Worker, tree: TreeRef, key: &[u8], mode: LockMode) -> Result<bool> {
        self.ensure_id(worker)?;
        let leaf = worker.engine.store.latch_leaf(tree, key)?;
        let slot = leaf.page.search(key);
        if let Ok(index) = slot {
            let header = leaf.page.record(index).header;
            let is_gap = header.is_tombstone() && !matches!(worker.engine.owner(header, self.id), Owner::Other(_));
            if !is_gap {
                leaf.release_unchanged();
                return Ok(false);
            }
        }
        let (mut from, mut to) = (Vec::new(), Vec::new());
        behind(leaf.page, slot.unwrap_or_else(|slot| slot), &mut from);
        match slot {
            // A tombstone ends the gap before it.
            Ok(index) => behind(leaf.page, index + 1, &mut to),
            Err(slot) => up_to(leaf.page, slot, &mut to),
        }
        self.add_range(worker, tree, mode, &from, &to);
        leaf.release_unchanged();
        Ok(true)
    }

    /// `true`: the transaction had locked nothing of it before.
    fn add_range(&mut self, worker: &Worker, tree: TreeRef, mode: LockMode, from: &[u8], to: &[u8]) -> bool {
        if os::mutated("forget-range") || !to.is_empty() && from >= to {
            return false;
        }
        let added = worker.engine.locks.ranges.add(self.id, tree.id, mode, from, to);
        if added.is_first {
            self.range_trees.push(tree.id);
        }
        added.is_new
    }
}

impl Scan {
    /// `fill` for `ReadMode::Lock`.
    pub(crate) fn fill_locked(
        &mut self,
        txn: &mut Txn,
        worker: &Worker,
        rows_max: usize,
        mode: LockMode,
        policy: WaitPolicy,
    ) -> Result<bool> {
        txn.resume_look(worker)?;
        txn.ensure_id(worker)?;
        while !self.done && self.slots.is_empty() {
            let leaf = match self.latch(worker) {
                Ok(leaf) => leaf,
                Err(stall) => {
                    self.ahead.missed(worker, self.tree, &self.place, self.reverse);
                    return Err(stall);
                }
            };
            self.lock_leaf(txn, worker, leaf, rows_max, mode, policy)?;
        }
        // Got, or gone with its row.
        txn.leave_wait(worker);
        Ok(!self.slots.is_empty())
    }

    /// Called when the transaction is about to wait for the row of the last returned entry: releases the locks that the
    /// batch took after that entry, as if entries were locked one by one. Otherwise a holder of the row that inserts
    /// another entry there would cause a deadlock.
    pub fn unlock_rest(&mut self, txn: &mut Txn, worker: &Worker) {
        let ReadMode::Lock(mode, _) = self.mode() else { return };
        let Some((from, to)) = self.locked.take() else { return };
        let Some((given, next)) = self.given() else { return };
        let behind = |key: &[u8]| [key, &[0]].concat();
        // In reverse the gap below the entry stays locked, up to the next one.
        let (from, to) = match (self.reverse, next) {
            (false, _) => (behind(given), to),
            (true, Some(next)) => (from, behind(next)),
            (true, None) => return,
        };
        if to.is_empty() || from < to {
            worker.engine.locks.take_back_range(txn.id, self.tree.id, mode, &from, &to);
        }
        self.forget_rest();
    }

    fn latch<'w>(&self, worker: &'w Worker) -> Result<PageWrite<'w>> {
        let store = &worker.engine.store;
        if !self.reverse {
            return Ok(store.latch_leaf(self.tree, &self.place)?);
        }
        loop {
            // A leaf that changes all the time lets itself be latched between two changes.
            if let Some(leaf) = store.read_leaf_before(self.tree, &self.place)?.latch() {
                return Ok(leaf);
            }
            std::hint::spin_loop();
        }
    }

    /// Steps 2 to 4 for one leaf.
    fn lock_leaf(
        &mut self,
        txn: &mut Txn,
        worker: &Worker,
        leaf: PageWrite<'_>,
        rows_max: usize,
        mode: LockMode,
        policy: WaitPolicy,
    ) -> Result<()> {
        let page = leaf.page;
        self.bytes.clear();
        let slot_of =
            |key: &[u8], outside: usize| if page.covers(key) { page.search(key).unwrap_or_else(|slot| slot) } else { outside };
        let begin = slot_of(if self.reverse { &self.low } else { &self.place }, 0);
        let bound = if self.reverse { &self.place } else { &self.high };
        let end = if bound.is_empty() { page.slots() } else { slot_of(bound, page.slots()).max(begin) };
        let mut passed = Passed::new(self, page, begin, end);
        let mut walked = 0;
        let mut halt = Halt::End;
        while begin + walked < end {
            if self.slots.len() == rows_max {
                halt = Halt::Early;
                break;
            }
            let index = if self.reverse { end - 1 - walked } else { begin + walked };
            match self.judge_record(txn, worker, page, index, mode, policy) {
                Judged::Row | Judged::Gone => {}
                Judged::Skip => passed.leave_out(self, txn, worker, page, index, mode),
                Judged::Held(_) if policy == WaitPolicy::NoWait => return Err(Error::WouldBlock.into()),
                Judged::Held(_) if !self.slots.is_empty() => {
                    halt = Halt::Early;
                    break;
                }
                Judged::Held(holder) => return Err(self.wait_for_record(txn, worker, leaf, index, mode, holder)),
            }
            walked += 1;
        }
        let edge = if self.reverse { end - walked } else { begin + walked };
        passed.lock(self, txn, worker, page, edge, &halt, mode);
        self.move_on(page, edge, &halt);
        let id = leaf.id();
        leaf.release_unchanged();
        if matches!(halt, Halt::End) && !self.done {
            self.ahead.passed(worker, self.tree, &self.place, self.reverse, id);
        }
        Ok(())
    }

    /// Copies a record out and claims its row.
    fn judge_record(
        &mut self,
        txn: &Txn,
        worker: &Worker,
        page: Page<'_>,
        index: usize,
        mode: LockMode,
        policy: WaitPolicy,
    ) -> Judged {
        let engine = &*worker.engine;
        let record = page.record(index);
        let owner = engine.owner(record.header, txn.id);
        if record.header.is_tombstone() && !matches!(owner, Owner::Other(_)) {
            return Judged::Gone;
        }
        let key_at = self.bytes.len();
        copy_key(page, index, &mut self.bytes);
        let claim = |key: &[u8]| engine.locks.claim(&engine.statuses, txn.id, self.tree, key, Want::Row(mode), true);
        let held = match owner {
            Owner::Other(holder) => Some(Some(holder)),
            Owner::Committed if matches!(claim(&self.bytes[key_at..]), Claim::Conflict) => Some(None),
            Owner::Me | Owner::Committed => None,
        };
        if let Some(holder) = held {
            self.bytes.truncate(key_at);
            return if policy == WaitPolicy::SkipLocked { Judged::Skip } else { Judged::Held(holder) };
        }
        let payload_at = self.bytes.len() as u32;
        assert!(page.payload(&record, &mut self.bytes), "P1: a latched page has whole records");
        let payload = (payload_at, self.bytes.len() as u32);
        self.slots.push(Slot { key: (key_at as u32, payload_at), payload, header: record.header, held_by_other: false });
        Judged::Row
    }

    #[cold]
    fn wait_for_record(
        &mut self,
        txn: &mut Txn,
        worker: &Worker,
        leaf: PageWrite<'_>,
        index: usize,
        mode: LockMode,
        holder: Option<u64>,
    ) -> Interrupt {
        self.bytes.clear();
        copy_key(leaf.page, index, &mut self.bytes);
        txn.wait_for(worker, self.tree, &self.bytes, Want::Row(mode), holder, || leaf.release_unchanged())
    }

    /// Step 4. `edge`: forward the first record not passed, in reverse the last one passed.
    fn move_on(&mut self, page: Page<'_>, edge: usize, halt: &Halt) {
        self.place.clear();
        match halt {
            Halt::Early if self.reverse => copy_key(page, edge, &mut self.place),
            Halt::Early => behind(page, edge, &mut self.place),
            Halt::End => {
                let whole = if self.reverse { page.low_fence(&mut self.place) } else { page.high_fence(&mut self.place) };
                assert!(whole, "P1: a latched page has whole fences");
                let fence = &self.place;
                self.done = if self.reverse {
                    fence.is_empty() || *fence <= self.low
                } else {
                    fence.is_empty() || (!self.high.is_empty() && *fence >= self.high)
                };
            }
        }
    }
}

/// The part of a leaf that was passed and is not in the transaction's ranges yet: from `near` on, in the scan's
/// direction.
struct Passed {
    /// Forward the low end, in reverse the high end.
    near: Vec<u8>,
    /// SKIP LOCKED left out the record before; the scan has passed nothing since.
    is_empty: bool,
}

impl Passed {
    fn new(scan: &Scan, page: Page<'_>, begin: usize, end: usize) -> Self {
        let mut near = Vec::new();
        let origin = if scan.reverse { &scan.high } else { &scan.low };
        if scan.place != *origin {
            // The scan continues at its place (G1), maybe on the next leaf.
            near.extend_from_slice(&scan.place);
        } else if scan.reverse {
            up_to(page, end, &mut near);
        } else {
            before_range(page, begin, &scan.low, &mut near);
        }
        Self { near, is_empty: false }
    }

    /// Skips the record at `index`: the part before it is locked, and the rest begins after it.
    fn leave_out(&mut self, scan: &Scan, txn: &mut Txn, worker: &Worker, page: Page<'_>, index: usize, mode: LockMode) {
        let mut far = Vec::new();
        behind(page, index + 1, &mut far);
        if scan.reverse {
            // The gap above it belongs to the record above.
            txn.add_range(worker, scan.tree, mode, &far, &self.near);
            self.near.clear();
            behind(page, index, &mut self.near);
            self.is_empty = index == 0;
        } else {
            let mut end = Vec::new();
            behind(page, index, &mut end);
            if !end.is_empty() && self.near < end {
                txn.add_range(worker, scan.tree, mode, &self.near, &end);
            }
            self.near = far;
        }
    }

    /// Step 3.
    #[allow(clippy::too_many_arguments, reason = "one step of one loop")]
    fn lock(self, scan: &mut Scan, txn: &mut Txn, worker: &Worker, page: Page<'_>, edge: usize, halt: &Halt, mode: LockMode) {
        let mut far = Vec::new();
        if scan.reverse {
            if self.is_empty {
                return;
            }
            match halt {
                Halt::End => before_range(page, edge, &scan.low, &mut far),
                Halt::Early => behind(page, edge, &mut far),
            }
            if txn.add_range(worker, scan.tree, mode, &far, &self.near) {
                scan.locked = Some((far, self.near));
            }
            return;
        }
        match halt {
            Halt::End if ends_at(page, edge, &scan.high) => far.extend_from_slice(&scan.high),
            Halt::End => up_to(page, edge, &mut far),
            // At least one record was passed.
            Halt::Early => behind(page, edge, &mut far),
        }
        if txn.add_range(worker, scan.tree, mode, &self.near, &far) {
            scan.locked = Some((self.near, far));
        }
    }
}

fn copy_key(page: Page<'_>, index: usize, out: &mut Vec<u8>) {
    assert!(page.key(&page.record(index), out), "P1: a latched page has whole records");
}

/// The first possible key after the record before `index`; the leaf's low fence if there is none.
fn behind(page: Page<'_>, index: usize, out: &mut Vec<u8>) {
    match index.checked_sub(1) {
        Some(before) => {
            copy_key(page, before, out);
            out.push(0);
        }
        None => assert!(page.low_fence(out), "P1: a latched page has whole fences"),
    }
}

/// The key of the record at `index`; the leaf's high fence if there is none.
fn up_to(page: Page<'_>, index: usize, out: &mut Vec<u8>) {
    if index < page.slots() {
        copy_key(page, index, out)
    } else {
        assert!(page.high_fence(out), "P1: a latched page has whole fences")
    }
}

/// Is the record before `index` the last one possible in a range up to `high`? If a unique key ends at its inclusive
/// bound, keys after it need no lock.
fn ends_at(page: Page<'_>, index: usize, high: &[u8]) -> bool {
    let Some(before) = index.checked_sub(1).filter(|_| !high.is_empty()) else { return false };
    let mut key = Vec::new();
    copy_key(page, before, &mut key);
    // The first key that does not begin with this one.
    while key.last() == Some(&u8::MAX) {
        key.pop();
    }
    if let Some(last) = key.last_mut() {
        *last += 1;
    }
    key == high
}

/// Where the lock of a range begins whose first record is at `index`.
fn before_range(page: Page<'_>, index: usize, low: &[u8], out: &mut Vec<u8>) {
    if index < page.slots() && !low.is_empty() {
        copy_key(page, index, out);
        if out == low {
            return;
        }
        out.clear();
    }
    behind(page, index, out);
}

#[cfg(test)]
mod tests;
