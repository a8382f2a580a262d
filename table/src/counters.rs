//! The counters of one table: AUTO_INCREMENT, hidden row ids, large-value ids, the estimated number of rows. The
//! planner's statistics are kept beside them.
//!
//! AUTO_INCREMENT numbers are handed out from memory below a *lease*: an upper bound in the catalog, raised in steps
//! well ahead of need. After a clean stop the catalog has the exact next number. After a crash counting continues at
//! the bound (and above the highest number in the index), so no number is handed out twice.
//!
//! Row ids and large-value ids need no lease: they start above the highest key in their tree. Ids that a crash undid
//! were visible to nobody, so they may be used again. All three are read from their tree at first use, so opening a
//! table reads no page of it.
//!
//! A1: `next_auto <= bound` whenever a number below `next_auto` is in a caller's hands.
//! A2: counting stops at the column's highest number, which every later request gets again. `next_auto` is above it
//!     only if a definition says so (AUTO_INCREMENT = n).

use crate::catalog;
use arc_swap::ArcSwapOption;
use std::sync::Arc;
use sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use sync::{CachePadded, Mutex};
use txn::{Isolation, ReadMode, Scan, TreeRef, Worker};
use types::schema::TableId;
use types::statistics::TableStatistics;

/// The changes of one worker to the rows, committed or not. Only that worker writes them.
#[derive(Default)]
struct Tally {
    /// Rows inserted minus rows deleted.
    rows: AtomicI64,
    /// Rows inserted, changed and deleted.
    changes: AtomicU64,
}

/// Shared by all definitions of a table; TRUNCATE starts new ones.
pub(crate) struct Counters {
    /// Next number; at least 1.
    next_auto: CachePadded<AtomicU64>,
    /// The bound in the catalog; 0 if there is none.
    bound: AtomicU64,
    lease: Mutex<()>,
    /// The index was read since the table was opened.
    auto_checked: AtomicBool,
    /// 0: not read yet.
    next_row_id: CachePadded<AtomicU64>,
    next_blob_id: CachePadded<AtomicU64>,
    tallies: Box<[CachePadded<Tally>]>,
    rows_base: AtomicI64,
    rows_persisted: AtomicU64,
    /// The planner's statistics.
    statistics: ArcSwapOption<TableStatistics>,
    /// Held from reading the basis of statistics until they are stored (`statistics`, S1).
    pub analysis: Mutex<()>,
}

impl Counters {
    /// `bound`: the catalog's AUTO_INCREMENT record; `rows`: its estimate.
    pub fn new(worker_slots: usize, bound: Option<u64>, rows: u64) -> Self {
        Self {
            next_auto: CachePadded::new(AtomicU64::new(bound.unwrap_or(1).max(1))),
            bound: AtomicU64::new(bound.unwrap_or(0)),
            lease: Mutex::new(()),
            auto_checked: AtomicBool::new(false),
            next_row_id: CachePadded::new(AtomicU64::new(0)),
            next_blob_id: CachePadded::new(AtomicU64::new(0)),
            tallies: (0..worker_slots).map(|_| CachePadded::new(Tally::default())).collect(),
            rows_base: AtomicI64::new(rows as i64),
            rows_persisted: AtomicU64::new(rows),
            statistics: ArcSwapOption::empty(),
            analysis: Mutex::new(()),
        }
    }

    /// Of a temporary table: numbers from `first` on, of which the catalog knows nothing.
    pub fn unleased(worker_slots: usize, first: u64) -> Self {
        let counters = Self::new(worker_slots, Some(first), 0);
        counters.bound.store(u64::MAX, Ordering::Relaxed);
        counters
    }

    // --- AUTO_INCREMENT ---

    pub fn next_auto(&self) -> u64 {
        self.next_auto.load(Ordering::Relaxed)
    }

    pub fn auto_checked(&self) -> bool {
        // Acquire: pairs with the Release in `set_auto_checked`; the raised counter is seen too.
        self.auto_checked.load(Ordering::Acquire)
    }

    /// The index holds numbers below `next`.
    pub fn set_auto_checked(&self, next: u64) {
        self.next_auto.fetch_max(next, Ordering::Relaxed);
        self.auto_checked.store(true, Ordering::Release);
    }

    /// Takes `count` numbers; `max` is the column's highest (A2).
    pub fn reserve(&self, worker: &Worker, table: TableId, count: u64, max: u64) -> txn::Result<u64> {
        let count = count.max(1);
        loop {
            let next = self.next_auto();
            if next > max {
                return Ok(next);
            }
            let after = next.saturating_add(count).min(max);
            self.ensure_lease(worker, table, after, max)?;
            // Relaxed: the numbers order nothing but themselves.
            if self.next_auto.compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                return Ok(next);
            }
        }
    }

    /// Numbers up to `value` are taken.
    pub fn note(&self, worker: &Worker, table: TableId, value: u64, max: u64) -> txn::Result<()> {
        if value < self.next_auto() {
            return Ok(());
        }
        let next = value.saturating_add(1).min(max);
        self.ensure_lease(worker, table, next, max)?;
        self.next_auto.fetch_max(next, Ordering::Relaxed);
        Ok(())
    }

    fn ensure_lease(&self, worker: &Worker, table: TableId, needed: u64, max: u64) -> txn::Result<()> {
        let bound = self.bound.load(Ordering::Relaxed);
        if needed <= bound {
            let step = lease_step(needed, max);
            let is_near = bound - needed < step / 2 && bound < max;
            // Ahead of need one caller renews; the others need not wait for it.
            if is_near && let Some(_guard) = self.lease.try_lock() {
                return self.extend_lease(worker, table, needed, max);
            }
            return Ok(());
        }
        // The mutex is held for the time of a catalog update that does not wait, never across a stall.
        let _guard = self.lease.lock();
        if needed <= self.bound.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.extend_lease(worker, table, needed, max)
    }

    fn extend_lease(&self, worker: &Worker, table: TableId, needed: u64, max: u64) -> txn::Result<()> {
        let bound = needed.saturating_add(lease_step(needed, max)).min(max);
        catalog::lease_auto_increment(worker, table, bound)?;
        self.bound.fetch_max(bound, Ordering::Relaxed);
        Ok(())
    }

    /// DDL wrote `next` as the exact bound: counting continues there (or above the highest number in the index).
    pub fn restart_at(&self, next: u64) {
        self.next_auto.store(next.max(1), Ordering::Relaxed);
        self.bound.store(next, Ordering::Relaxed);
        self.auto_checked.store(false, Ordering::Release);
    }

    /// The exact next number when the catalog's bound is another one; for a clean stop.
    pub fn exact_bound_to_persist(&self) -> Option<u64> {
        let next = self.next_auto();
        (self.bound.load(Ordering::Relaxed) != next && self.bound.load(Ordering::Relaxed) != 0).then_some(next)
    }

    /// `exact_bound_to_persist` was written.
    pub fn bound_persisted(&self, bound: u64) {
        self.bound.store(bound, Ordering::Relaxed);
    }

    // --- row ids and large-value ids ---

    /// The next hidden row id of the clustered `tree`.
    pub fn next_row_id(&self, worker: &Worker, tree: TreeRef) -> txn::Result<u64> {
        next_id(&self.next_row_id, worker, tree)
    }

    /// The next id in the blob `tree`.
    pub fn next_blob_id(&self, worker: &Worker, tree: TreeRef) -> txn::Result<u64> {
        next_id(&self.next_blob_id, worker, tree)
    }

    // --- rows ---

    #[inline]
    pub fn add_rows(&self, worker: usize, delta: i64) {
        let rows = &self.tallies[worker].rows;
        // Only this worker writes the tally; a plain load and store is enough.
        rows.store(rows.load(Ordering::Relaxed).wrapping_add(delta), Ordering::Relaxed);
        self.add_changes(worker, delta.unsigned_abs());
    }

    /// Counts changed rows, or rows that were changed back.
    #[inline]
    pub fn add_changes(&self, worker: usize, count: u64) {
        let changes = &self.tallies[worker].changes;
        changes.store(changes.load(Ordering::Relaxed).wrapping_add(count), Ordering::Relaxed);
    }

    /// Changes since the table was opened.
    pub fn changes(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.changes.load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
    }

    pub fn rows(&self) -> u64 {
        let deltas: i64 = self.tallies.iter().map(|tally| tally.rows.load(Ordering::Relaxed)).sum();
        self.rows_base.load(Ordering::Relaxed).saturating_add(deltas).max(0) as u64
    }

    /// A complete scan has met `rows`, committed or not, and the estimate was `before` when it began: corrects one that is off by more
    /// than a tenth, whatever was written meanwhile.
    pub fn correct_rows(&self, rows: u64, before: u64) {
        let now = self.rows();
        let nearest = rows.clamp(before.min(now), before.max(now));
        if nearest.abs_diff(rows) > rows / 10 + 10 {
            let difference = rows as i64 - nearest as i64;
            self.rows_base.fetch_add(difference, Ordering::Relaxed);
        }
    }

    /// The estimate when it moved by more than `1/part` since it was last written.
    pub fn rows_to_persist(&self, part: u64) -> Option<u64> {
        let (now, before) = (self.rows(), self.rows_persisted.load(Ordering::Relaxed));
        (now.abs_diff(before) > before / part).then_some(now)
    }

    pub fn statistics(&self) -> Option<Arc<TableStatistics>> {
        self.statistics.load_full()
    }

    pub fn set_statistics(&self, statistics: Arc<TableStatistics>) {
        self.statistics.store(Some(statistics));
    }

    pub fn set_rows_persisted(&self, rows: u64) {
        self.rows_persisted.store(rows, Ordering::Relaxed);
    }
}

/// The numbers that one lease adds: an eighth of the current number, and never a large part of the rest.
fn lease_step(next: u64, max: u64) -> u64 {
    (next / 8).clamp(64, 1 << 16).min(max.saturating_sub(next) / 16 + 1)
}

fn next_id(counter: &AtomicU64, worker: &Worker, tree: TreeRef) -> txn::Result<u64> {
    if counter.load(Ordering::Relaxed) == 0 {
        let next = last_id(worker, tree)? + 1;
        // The loser of a race uses the winner's start: nobody inserts before the counter is set.
        let _ = counter.compare_exchange(0, next, Ordering::Relaxed, Ordering::Relaxed);
    }
    Ok(counter.fetch_add(1, Ordering::Relaxed))
}

/// The number in the first 8 bytes of the highest key, open transactions' keys included; 0 in an empty tree.
fn last_id(worker: &Worker, tree: TreeRef) -> txn::Result<u64> {
    let mut id = 0;
    last_key(worker, tree, |key| id = key.first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes)))?;
    Ok(id)
}

/// Shows the highest key of a tree (if any) to `look`. Restartable.
pub(crate) fn last_key(worker: &Worker, tree: TreeRef, look: impl FnOnce(&[u8])) -> txn::Result<()> {
    let mut txn = worker.begin(Isolation::ReadCommitted);
    let mut scan = Scan::new(tree, &[], &[], true, ReadMode::Latest);
    let filled = scan.fill(&mut txn, worker, 1);
    // Read only: nothing to undo, so this does not stall.
    catalog::blocking(|| txn.rollback(worker))?;
    if filled? && let Some(row) = scan.next_row() {
        look(row.key);
    }
    Ok(())
}
