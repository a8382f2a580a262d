//! One table: its definition, trees, codecs and counters, and the reading of single rows.

use crate::{EncodedRange, MetadataLock, RowBuf, RowLayout, StoredRow};
use std::sync::Arc;
use txn::{LockMode, TreeRef, Txn, WaitPolicy, Worker};
use types::Value;
use types::schema::{IndexKind, TableDef, TableId};

/// An open table. Immutable but for its counters; DDL makes a new one.
pub struct Table {
    pub(crate) def: Arc<TableDef>,
    pub(crate) layout: RowLayout,
    pub(crate) indexes: Box<[Index]>,
    pub(crate) mdl: Arc<MetadataLock>,
}

/// One index of an open table: its tree and how its keys are made.
pub struct Index {
    pub(crate) tree: TreeRef,
    pub(crate) kind: IndexKind,
}

impl Index {
    pub fn tree(&self) -> TreeRef {
        self.tree
    }

    pub fn kind(&self) -> IndexKind {
        self.kind
    }
}

/// How a single row is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowRead {
    /// The version of the transaction's snapshot.
    Snapshot,
    /// The latest committed version or the transaction's own; waits while another transaction holds the row. Sets `RowBuf::seen`.
    Latest,
    /// `Latest`, and the row stays locked until the transaction ends.
    Lock(LockMode, WaitPolicy),
}

impl Table {
    pub fn def(&self) -> &Arc<TableDef> {
        &self.def
    }

    pub fn id(&self) -> TableId {
        self.def.id
    }

    pub fn layout(&self) -> &RowLayout {
        &self.layout
    }

    pub fn index(&self, index: usize) -> &Index {
        &self.indexes[index]
    }

    /// The metadata lock. Take a share (`mdl().acquire_shared(worker.index())`), *then* check that `Database::schema_version` is
    /// still the one the plan was made for (else give it back and plan again), and keep it until the transaction ends.
    pub fn mdl(&self) -> &Arc<MetadataLock> {
        &self.mdl
    }

    /// The schema version since which the trees exist; 0 for those found at start. A snapshot taken under an older schema version
    /// must not read this table (1412, "Table definition has changed, please retry transaction").
    pub fn rebuilt_at(&self) -> u64 {
        todo!()
    }

    /// About how many rows there are; for the planner and SHOW TABLE STATUS.
    pub fn estimated_rows(&self) -> u64 {
        todo!()
    }

    /// Corrects the estimate by `delta` rows, for example when a statement or transaction that inserted rows is rolled back.
    pub fn adjust_estimated_rows(&self, worker: &Worker, delta: i64) {
        let _ = (worker, delta);
        todo!()
    }

    /// Takes `count` consecutive AUTO_INCREMENT numbers and returns the first. Numbers are never handed out twice, also not after a
    /// crash; those of rolled-back statements are lost, as in MySQL. Restartable. A result above the column's maximum means
    /// exhausted (1467).
    pub fn reserve_auto_increment(&self, worker: &Worker, count: u64) -> txn::Result<u64> {
        let _ = (worker, count);
        todo!()
    }

    /// A row was given the explicit number `value` in its AUTO_INCREMENT column: later ones are higher. Restartable, cheap when
    /// `value` is below the counter.
    pub fn note_auto_increment(&self, worker: &Worker, value: u64) -> txn::Result<()> {
        let _ = (worker, value);
        todo!()
    }

    /// The next AUTO_INCREMENT number, for SHOW; `None` without such a column.
    pub fn next_auto_increment(&self) -> Option<u64> {
        todo!()
    }

    /// Encodes a complete key of the primary or of a unique index; values are of the columns' types. `false`: a NULL is among them,
    /// so no row can match.
    pub fn encode_point_key(&self, index: usize, values: &[Value<'_>], key: &mut Vec<u8>) -> bool {
        let _ = (index, values, key);
        todo!()
    }

    /// Encodes `prefix = leading columns AND low <(=) next column <(=) high`; a bound is (value, inclusive). Values are of the
    /// columns' types; a NULL in `prefix` stands for IS NULL, a NULL bound empties the range. `false`: the range is empty.
    /// With neither bounds nor prefix it is the whole index. Where `low` or `high` is given, NULLs of the next column are left out.
    pub fn encode_range(
        &self,
        index: usize,
        prefix: &[Value<'_>],
        low: Option<(&Value<'_>, bool)>,
        high: Option<(&Value<'_>, bool)>,
        range: &mut EncodedRange,
    ) -> bool {
        let _ = (index, prefix, low, high, range);
        todo!()
    }

    /// Can every column marked in `wanted` be decoded from the keys of this index (so that a cursor may be `covering`)?
    pub fn covers(&self, index: usize, wanted: &[bool]) -> bool {
        let _ = (index, wanted);
        todo!()
    }

    /// The row with this key of the primary or a unique index (`encode_point_key`), read into `row`. `false`: there is none.
    pub fn point(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        key: &[u8],
        how: RowRead,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        let _ = (worker, txn, index, key, how, row);
        todo!()
    }

    /// Reads the row whose clustered key is `row.key()` again, as `how` says, in place. `false`: it is gone.
    pub fn reread(&self, worker: &Worker, txn: &mut Txn, how: RowRead, row: &mut RowBuf) -> txn::Result<bool> {
        let _ = (worker, txn, how, row);
        todo!()
    }

    /// Locks the clustered record of `row.key()` and reads its current version into `row` (FOR UPDATE, FOR SHARE). `false`: the row
    /// is gone, or locked under SKIP LOCKED. For rows of a cursor use [`crate::RowCursor::lock_current`], which also checks that the
    /// current version still lies in the cursor's range.
    pub fn lock_current(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        mode: LockMode,
        policy: WaitPolicy,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        self.reread(worker, txn, RowRead::Lock(mode, policy), row)
    }

    /// Does this row hold columns in the blob tree? (Then `load_externals` before looking at them.)
    pub fn has_externals(&self, row: &RowBuf) -> bool {
        let _ = row;
        todo!()
    }

    /// Brings the wanted columns (`wanted[column]`) that were moved out of the row back into `row`, so that `row.row()` decodes them.
    /// Restartable, and nothing to do for most rows. `false`: the row changed meanwhile (not with snapshots): read it again.
    pub fn load_externals(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        how: RowRead,
        wanted: &[bool],
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        let _ = (worker, txn, how, wanted, row);
        todo!()
    }

    pub(crate) fn stored_row<'a>(&'a self, payload: &'a [u8]) -> StoredRow<'a> {
        let _ = payload;
        todo!()
    }
}
