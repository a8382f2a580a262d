//! Read-ahead for scans, and early eviction of the pages that a large scan has read.
//!
//! If a scan finds the next leaf missing after it has read several leaves in sequence, it requests the leaves that
//! follow. While some of these were missing, it requests more each time it has passed half of them. A scan over pages
//! in memory requests nothing.
//!
//! A scan that has read more than a part of the pool (`Pool::large_pages`) marks the pages behind it to be evicted
//! first.

use crate::{TreeRef, Worker};
use storage::page::PageId;

/// A missing leaf counts as read in sequence after this many leaves.
const SEQUENCE: u32 = 2;
/// The number of pages marked for eviction at once.
const LEFT_AT_ONCE: usize = 16;

#[derive(Default)]
pub(crate) struct Ahead {
    /// Leaves passed.
    passed: u32,
    /// A leaf was missed, in sequence.
    has_missed: bool,
    /// Leaves until the next look; 0: nothing is fetched ahead.
    until_look: u32,
    behind: Vec<PageId>,
}

impl Ahead {
    pub fn reset(&mut self) {
        (self.passed, self.has_missed, self.until_look) = (0, false, 0);
    }

    /// Has the scan read so much that its pages need not stay?
    #[inline]
    pub fn is_large(&self, worker: &Worker) -> bool {
        self.has_missed && self.passed as usize > worker.engine.store.pool.large_pages()
    }

    /// The leaf at `place` is not in memory.
    #[cold]
    pub fn missed(&mut self, worker: &Worker, tree: TreeRef, place: &[u8], reverse: bool) {
        if self.passed >= SEQUENCE {
            self.has_missed = true;
            self.look(worker, tree, place, reverse);
        }
    }

    /// The scan continues at `place`, after this leaf.
    #[inline]
    pub fn passed(&mut self, worker: &Worker, tree: TreeRef, place: &[u8], reverse: bool, leaf: PageId) {
        self.passed = self.passed.saturating_add(1);
        if self.has_missed {
            self.went_on(worker, tree, place, reverse, leaf);
        }
    }

    #[cold]
    fn went_on(&mut self, worker: &Worker, tree: TreeRef, place: &[u8], reverse: bool, leaf: PageId) {
        if self.is_large(worker) {
            self.behind.push(leaf);
            if self.behind.len() == LEFT_AT_ONCE {
                worker.engine.store.pool.leave(&mut self.behind);
            }
        }
        if self.until_look > 0 {
            self.until_look -= 1;
            if self.until_look == 0 {
                self.look(worker, tree, place, reverse);
            }
        }
    }

    fn look(&mut self, worker: &Worker, tree: TreeRef, place: &[u8], reverse: bool) {
        let store = &worker.engine.store;
        let missing = store.fetch_ahead(tree, place, reverse);
        self.until_look = if missing == 0 { 0 } else { store.pool.ahead_pages().div_ceil(2) as u32 };
    }
}

#[cfg(all(test, not(any(sim, miri))))]
mod tests {
    use crate::tests::{TempDir, key, open, rows_of};
    use crate::{Engine, InsertOutcome, Isolation, ReadMode, Scan, TreeRef, Worker};
    use std::sync::Arc;

    /// A pool has 256 pages; about 64 of them are kept free.
    const POOL_MIB: u64 = 4;

    fn make(worker: &Worker, rows: u64) -> TreeRef {
        let tree = worker.wait(|| worker.create_tree()).expect("a tree");
        let mut txn = worker.begin(Isolation::RepeatableRead);
        for n in 0..rows {
            assert_eq!(worker.wait(|| txn.insert(worker, tree, &key(n), &[7; 1000])).expect("ok"), InsertOutcome::Inserted);
        }
        let _ = txn.commit(worker);
        tree
    }

    /// A directory with a tree of about 50 pages and one of about 1,500.
    fn trees(name: &str) -> (TempDir, Arc<Engine>, TreeRef, TreeRef) {
        let dir = TempDir::new(name);
        let engine = open(&dir, POOL_MIB);
        let worker = engine.worker(0);
        let (small, large) = (make(&worker, 700), make(&worker, 21_000));
        drop(worker);
        engine.shutdown().expect("stops");
        drop(engine);
        let engine = open(&dir, POOL_MIB);
        (dir, engine, small, large)
    }

    fn read_all(worker: &Worker, tree: TreeRef, reverse: bool) -> usize {
        let mut txn = worker.begin(Isolation::RepeatableRead);
        let rows = rows_of(worker, &mut txn, Scan::new(tree, &[], &[], reverse, ReadMode::Snapshot), 64).len();
        assert!(txn.commit(worker).is_none());
        rows
    }

    #[test]
    fn a_large_scan_leaves_others_their_pages() {
        for reverse in [false, true] {
            let (_dir, engine, small, large) = trees(if reverse { "scan-back" } else { "scan" });
            let worker = engine.worker(0);
            assert_eq!(read_all(&worker, small, false), 700);
            assert_eq!(read_all(&worker, large, reverse), 21_000);
            let before = engine.status().pages_read;
            assert!(before > 1_000, "{before}");
            assert_eq!(read_all(&worker, small, false), 700);
            let again = engine.status().pages_read - before;
            assert!(again < 5, "{again} of some 50 pages had to be read again");
        }
    }

    #[test]
    fn the_leaves_that_follow_are_fetched_once() {
        let (_dir, engine, _, large) = trees("ahead");
        let worker = engine.worker(0);
        let store = &engine.store;
        // The way down is read first.
        let mut txn = worker.begin(Isolation::RepeatableRead);
        assert!(worker.wait(|| txn.read(&worker, large, &key(10_000), &mut Vec::new())).expect("reads"));
        let _ = txn.commit(&worker);
        let most = store.pool.ahead_pages();
        assert_eq!(most, 8);
        assert_eq!(store.fetch_ahead(large, &key(10_000), false), most);
        assert_eq!(store.fetch_ahead(large, &key(10_000), true), most);
        assert_eq!(store.fetch_ahead(large, &key(10_000), false), 0, "they are there, or on their way");
    }
}
