//! A cursor over one key range of one index, giving whole rows.
//!
//! Rows come in index order (or reversed). A non-covering cursor over a secondary index fetches each clustered row; a covering one
//! rebuilds the row from the index key, columns that are not in it NULL.
//!
//! With `ReadMode::Latest` an index entry may be out of step with its row for a moment (another transaction committed between the two
//! reads): the cursor compares the row's own index key and leaves out what does not match, so a row comes at most once per entry.
//! An UPDATE that changes columns of the scanned index must collect its rows first, or it may meet them again.

use crate::{EncodedRange, RowBuf, Table};
use txn::{LockMode, ReadMode, Txn, WaitPolicy, Worker};

/// A scan position. Keeps its buffers when opened again.
#[derive(Default)]
pub struct RowCursor {
    scan: Option<txn::Scan>,
}

impl RowCursor {
    pub fn new() -> Self {
        Self::default()
    }

    /// Places the cursor before the first (with `reverse`, after the last) row of `range` in `index`. `covering` only where
    /// [`Table::covers`] said yes, and not with `ReadMode::Latest`.
    pub fn open(&mut self, table: &Table, index: usize, range: &EncodedRange, reverse: bool, mode: ReadMode, covering: bool) {
        let _ = (table, index, range, reverse, mode, covering);
        todo!()
    }

    /// The most rows to load at once from here on (1 for LIMIT 1 and point-like lookups; default 64).
    pub fn set_batch(&mut self, rows_max: usize) {
        let _ = rows_max;
        todo!()
    }

    /// The next row into `row`; `false` at the end. Restartable.
    ///
    /// With `Latest`, rows of the clustered index come without `seen`, and possibly `held_by_other`: lock or reread before judging.
    /// Rows found through a secondary index have been read current (waiting where held) and have `seen`.
    pub fn next(&mut self, table: &Table, worker: &Worker, txn: &mut Txn, row: &mut RowBuf) -> txn::Result<bool> {
        let _ = (table, worker, txn, row);
        todo!()
    }

    /// Locks the row that `next` gave and reads its current version. `false`: it is gone, no longer lies in the cursor's range, or is
    /// locked under SKIP LOCKED. After `true` the caller judges the rest of the predicate again.
    pub fn lock_current(
        &mut self,
        table: &Table,
        worker: &Worker,
        txn: &mut Txn,
        mode: LockMode,
        policy: WaitPolicy,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        let _ = (table, worker, txn, mode, policy, row);
        todo!()
    }
}
