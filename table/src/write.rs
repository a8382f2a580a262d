//! Writing rows: the clustered record, its index entries and its large values, as one restartable operation.

use crate::{RowBuf, RowRead, Table};
use txn::{Txn, Worker};
use types::Value;

/// The place of a multi-step operation between two calls. Reused from row to row; a finished operation leaves it ready for the next.
/// Whoever gives up on a stalled operation calls [`Progress::reset`] and rolls the statement back.
#[derive(Default)]
pub struct Progress {}

impl Progress {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn reset(&mut self) {}
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertRow {
    Inserted,
    /// A row with the same key of index `index` is there; nothing of the new row remains.
    Duplicate {
        index: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteRow {
    Done,
    /// The row is no longer the version that was read: read it again, judge it again. Nothing was written.
    Changed,
    /// The new values collide in index `index`; nothing was written.
    Duplicate {
        index: usize,
    },
}

impl Table {
    /// Inserts a row. `values` has one value per column, of the column's type (conversion, defaults and NOT NULL are the caller's).
    pub fn insert_row(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        values: &[Value<'_>],
        progress: &mut Progress,
    ) -> txn::Result<InsertRow> {
        let _ = (worker, txn, values, progress);
        todo!()
    }

    /// After `InsertRow::Duplicate { index }`: the row that is in the way, read (and locked) as `how` says. `false`: it is gone
    /// meanwhile; insert again.
    pub fn conflicting_row(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        values: &[Value<'_>],
        how: RowRead,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        let _ = (worker, txn, index, values, how, row);
        todo!()
    }

    /// Changes columns of the row `old` (read current: with `seen`). `changes` are (column, new value), each column at most once; the
    /// others keep their value, large ones are not even read. Only indexes whose key changes are touched.
    pub fn update_row(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        old: &RowBuf,
        changes: &[(usize, Value<'_>)],
        progress: &mut Progress,
    ) -> txn::Result<WriteRow> {
        let _ = (worker, txn, old, changes, progress);
        todo!()
    }

    /// Deletes the row `old` (read current: with `seen`). Never answers `Duplicate`.
    pub fn delete_row(&self, worker: &Worker, txn: &mut Txn, old: &RowBuf, progress: &mut Progress) -> txn::Result<WriteRow> {
        let _ = (worker, txn, old, progress);
        todo!()
    }
}
