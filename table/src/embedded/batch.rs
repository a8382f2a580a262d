//! One batch within a transaction: the keys are processed one by one, each with its own outcome.

use super::{Error, Result};
use crate::{InsertRow, Progress, RowBuf, RowRead, StoredRow, Table, WriteRow};
use txn::{Interrupt, KeyList, LockMode, Txn, WaitPolicy, Worker};
use types::Value;
use types::convert::Problem;

/// Keys after which the horizon may pass.
const KEYS_PER_TICK: usize = 1024;
/// Each retry means that another transaction committed a change of the same row in between.
const RETRIES_MAX: usize = 10_000;

/// The result for one row of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Inserted, updated, deleted.
    Done,
    /// Update, delete: no row has the key.
    NotFound,
    /// Another row has the same key of index `index`; nothing of this one was written.
    Duplicate { index: usize },
    /// The column cannot be NULL.
    Null { column: usize },
    /// The value does not fit the column.
    Refused { column: usize, problem: Problem },
}

impl Outcome {
    pub fn is_done(&self) -> bool {
        *self == Self::Done
    }

    /// The name of the key that a duplicate was found in (`PRIMARY` for the primary key).
    pub fn key_name<'t>(&self, table: &'t Table) -> Option<&'t str> {
        match self {
            Self::Duplicate { index } => table.def().indexes.get(*index).map(|index| index.name.as_str()),
            _ => None,
        }
    }
}

/// The change of one row: its primary key, and new values by the columns' positions, each column at most once.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    pub key: &'a [Value<'a>],
    pub changes: &'a [(usize, Value<'a>)],
}

/// Buffers reused from batch to batch.
#[derive(Default)]
pub(super) struct Buffers {
    /// Encoded keys and the stored row of a batch of reads.
    keys: KeyList,
    payload: Vec<u8>,
    key: Vec<u8>,
    row: RowBuf,
    progress: Progress,
    pub outcomes: Vec<Outcome>,
}

impl Buffers {
    /// An error came in the middle of a row.
    pub fn reset(&mut self) {
        self.progress.reset();
    }
}

/// The shared data of all steps of a batch.
pub(super) struct Batch<'b> {
    pub table: &'b Table,
    pub worker: &'b Worker,
    pub txn: &'b mut Txn,
    pub buffers: &'b mut Buffers,
}

impl Batch<'_> {
    /// Hands each key's row in the snapshot to `each`, with the key's position.
    pub fn read<'v, K: AsRef<[Value<'v>]>>(
        &mut self,
        keys: &[K],
        mut each: impl FnMut(usize, Option<StoredRow<'_>>),
    ) -> Result<()> {
        for (part, keys) in keys.chunks(KEYS_PER_TICK).enumerate() {
            let before = part * KEYS_PER_TICK;
            if part > 0 {
                self.worker.tick();
            }
            self.read_part(keys, |position, row| each(before + position, row))?;
        }
        Ok(())
    }

    fn read_part<'v, K: AsRef<[Value<'v>]>>(
        &mut self,
        keys: &[K],
        mut each: impl FnMut(usize, Option<StoredRow<'_>>),
    ) -> Result<()> {
        self.buffers.keys.clear();
        for key in keys {
            self.buffers.keys.push_with(|bytes| self.table.fit_key_or_none(key.as_ref(), bytes))?;
        }
        let (table, worker) = (self.table, self.worker);
        let tree = table.indexes[0].tree;
        let mut next = 0;
        loop {
            let Buffers { keys: encoded, payload, .. } = &mut *self.buffers;
            let txn = &mut *self.txn;
            wait_out(worker, || {
                txn.read_many(worker, tree, encoded, &mut next, payload, |position, payload| {
                    let row = payload.map(|payload| table.stored_row(payload)).transpose();
                    // Large values take another path, and so does the error for a damaged row.
                    let Ok(row) = row else { return false };
                    if table.blob_tree.is_some() && row.is_some_and(|row| row.has_external()) {
                        return false;
                    }
                    each(position, row);
                    true
                })
            })?;
            if next == keys.len() {
                return Ok(());
            }
            let found = self.find(keys[next].as_ref(), RowRead::Snapshot)?;
            each(next, found.then(|| self.buffers.row.row(table)));
            next += 1;
        }
    }

    /// Hands each key's newest row to `each`, locked.
    pub fn lock<'v, K: AsRef<[Value<'v>]>>(
        &mut self,
        keys: &[K],
        mode: LockMode,
        mut each: impl FnMut(usize, Option<StoredRow<'_>>),
    ) -> Result<()> {
        for (position, key) in keys.iter().enumerate() {
            self.tick(position);
            let found = self.find(key.as_ref(), RowRead::Lock(mode, WaitPolicy::Wait))?;
            each(position, found.then(|| self.buffers.row.row(self.table)));
        }
        Ok(())
    }

    pub fn insert(&mut self, row: &[Value<'_>]) -> Result<Outcome> {
        let values = match self.table.fit_row(row)? {
            Ok(values) => values,
            Err(refused) => return Ok(refused),
        };
        self.note_auto_increment(&values)?;
        let Self { table, worker, txn, buffers } = self;
        match wait_out(worker, || table.insert_row(worker, txn, &values, &mut buffers.progress))? {
            InsertRow::Inserted => Ok(Outcome::Done),
            InsertRow::Duplicate { index } => Ok(Outcome::Duplicate { index }),
            InsertRow::Paused { .. } => unreachable!("no pause was asked for"),
        }
    }

    pub fn update(&mut self, update: &Update<'_>) -> Result<Outcome> {
        let mut changes = smallvec::SmallVec::<[(usize, Value<'_>); 16]>::new();
        for (column, value) in update.changes {
            if *column >= self.table.def.columns.len() {
                return Err(Error::NoSuchColumn { column: *column });
            }
            match self.table.fit_column(*column, value) {
                Ok(value) => changes.push((*column, value)),
                Err(refused) => return Ok(refused),
            }
        }
        for _ in 0..RETRIES_MAX {
            if !self.find(update.key, RowRead::Latest)? {
                return Ok(Outcome::NotFound);
            }
            let Self { table, worker, txn, buffers } = self;
            let Buffers { row, progress, .. } = &mut **buffers;
            match wait_out(worker, || table.update_row(worker, txn, row, &changes, progress))? {
                WriteRow::Done => return Ok(Outcome::Done),
                WriteRow::Duplicate { index } => return Ok(Outcome::Duplicate { index }),
                WriteRow::Changed => {}
                WriteRow::Paused { .. } => unreachable!("no pause was asked for"),
            }
        }
        Err(Error::Engine(txn::Error::LockWaitTimeout))
    }

    pub fn delete(&mut self, key: &[Value<'_>]) -> Result<Outcome> {
        for _ in 0..RETRIES_MAX {
            if !self.find(key, RowRead::Latest)? {
                return Ok(Outcome::NotFound);
            }
            let Self { table, worker, txn, buffers } = self;
            let Buffers { row, progress, .. } = &mut **buffers;
            if wait_out(worker, || table.delete_row(worker, txn, row, progress))? == WriteRow::Done {
                return Ok(Outcome::Done);
            }
        }
        Err(Error::Engine(txn::Error::LockWaitTimeout))
    }

    /// Reads one row whole into `buffers.row`. `false`: there is none.
    fn find(&mut self, key: &[Value<'_>], how: RowRead) -> Result<bool> {
        let Self { table, worker, txn, buffers } = self;
        let Buffers { key: encoded, row, .. } = &mut **buffers;
        encoded.clear();
        if !table.fit_key(key, encoded)? {
            return Ok(false);
        }
        loop {
            if !wait_out(worker, || table.point(worker, txn, 0, encoded, how, row))? {
                return Ok(false);
            }
            let whole = !table.has_externals(row) || wait_out(worker, || table.load_columns(worker, txn, how, |_| true, row))?;
            if whole {
                return Ok(true);
            }
        }
    }

    /// Makes numbers that SQL generates later larger than those given here.
    fn note_auto_increment(&self, values: &[Value<'_>]) -> Result<()> {
        let Some(column) = self.table.auto_increment_column() else { return Ok(()) };
        let number = match &values[column] {
            Value::Int(number) => u64::try_from(*number).unwrap_or(0),
            Value::UInt(number) => *number,
            Value::Double(number) => number.max(0.0) as u64,
            _ => 0,
        };
        wait_out(self.worker, || self.table.note_auto_increment(self.worker, number))
    }

    /// Old versions can be reclaimed also while a long batch runs.
    #[inline]
    pub fn tick(&self, position: usize) {
        if position % KEYS_PER_TICK == KEYS_PER_TICK - 1 {
            self.worker.tick();
        }
    }
}

/// Repeats a call of the engine until it answers, waiting on this thread.
#[inline]
pub(super) fn wait_out<T>(worker: &Worker, mut call: impl FnMut() -> txn::Result<T>) -> Result<T> {
    loop {
        match call() {
            Ok(value) => return Ok(value),
            Err(Interrupt::Error(error)) => return Err(error.into()),
            Err(Interrupt::Stall(stall)) => wait(worker, stall),
        }
    }
}

/// E2
#[cold]
pub(super) fn wait(worker: &Worker, stall: txn::Stall) {
    worker.park();
    stall.wait_blocking();
    worker.tick();
}
