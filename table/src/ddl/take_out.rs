//! ALTER TABLE ... DROP PARTITION and TRUNCATE PARTITION: deletes the rows of some partitions without touching the
//! others.
//!
//! A partition is a set of rows (`partition`). The transaction that changes the catalog deletes them:
//!
//! ```text
//! 1. begin the watch of the table (`watch`), let its users in again
//! 2. find the rows with short snapshots, and keep their keys: in an index whose first column tells the partition, else in the whole table
//! 3. lock the table exclusively; delete the rows whose keys are known or were noted meanwhile. That is done in turns, between which users are let in
//! 4. with the table locked exclusively, the transaction goes on to the catalog (`apply`, step 6)
//! ```
//!
//! T1: a crash or an error before the transaction is durable leaves all rows.
//! T2: before a row is deleted it is read again, as a current read with the table locked exclusively: a row that has
//!     moved to another partition stays.
//! T3: between turns other sessions may begin to wait for a deleted row. They hold the table then, and it cannot be
//!     locked exclusively. After a few failed turns the deletion is rolled back, and the other rows are rewritten, as
//!     by any rebuild.
//! T4: the other rows are also rewritten if most rows are deleted, or if the keys take too much memory.

use super::build::{Slices, load_whole};
use super::locks::LockedTables;
use super::online::ALONE_MAX;
use super::{DdlOptions, RowChoice, Work};
use crate::catalog::{CatalogTxn, blocking};
use crate::mdl::PAUSE;
use crate::watch::{Watch, Watching};
use crate::{EncodedRange, Error, Progress, Result, RowBuf, RowCursor, RowRead, Table};
use os::time::Instant;
use std::collections::BTreeSet;
use std::sync::Arc;
use txn::{ReadMode, Worker};
use types::Value;
use types::partition::{PartitionBy, PartitionLimit, PartitionValues, Partitioning};
use types::schema::TableDef;

/// T4
const KEYS_BYTES_MAX: usize = if cfg!(test) { 32 << 10 } else { 128 << 20 };
/// The memory of a key beside its bytes.
const KEY_BYTES: usize = 48;
/// A smaller table is not checked for the fraction of rows to delete.
const FEW_ROWS: u64 = if cfg!(test) { 100 } else { 10_000 };
/// T3
const TURNS_MAX: u32 = 4;
/// Rows between two looks at the time.
const SLICE: u64 = 64;

type Keys = BTreeSet<Box<[u8]>>;

/// Rows of partitions that go.
pub(super) struct TakeOut<'w, 'a> {
    pub worker: &'w Worker,
    pub table: &'a Arc<Table>,
    pub partitions: &'a [usize],
    pub options: &'a DdlOptions,
}

/// The transaction that has deleted them, and how many there were.
pub(super) struct TakenOut<'w> {
    pub catalog: CatalogTxn<'w>,
    pub rows: u64,
}

impl<'w> TakeOut<'w, '_> {
    /// Steps 1 to 3. `None`: the remaining rows must be rewritten. The table is locked exclusively before and after.
    pub fn run(&self, locked: &mut LockedTables) -> Result<Option<TakenOut<'w>>> {
        let deadline = Instant::now() + self.options.lock_wait_timeout;
        let expressions = self.options.expressions.as_ref();
        let mut choice = expressions
            .ok_or(Error::NotSupported { what: "expressions in definitions" })?
            .rows_of_partitions(self.table, self.partitions)?;
        let watch = Watch::new(self.worker.engine().worker_slots(), self.table.def(), &[], std::iter::empty());
        let watching = Watching::begin(self.table, &watch);
        locked.let_in();
        let Some(mut keys) = self.find(&mut *choice)? else {
            drop(watching);
            locked.lock_again(self.worker, deadline, self.options, || Ok(()))?;
            return Ok(None);
        };
        let mut taken = TakenOut { catalog: CatalogTxn::begin(self.worker), rows: 0 };
        let outcome = loop {
            let (mut turns, has_deleted) = (0, taken.rows > 0);
            let again = locked.lock_again(self.worker, deadline, self.options, || {
                turns += 1;
                if has_deleted && turns >= TURNS_MAX { Err(Error::LockWaitTimeout) } else { Ok(()) }
            });
            match again {
                Err(Error::LockWaitTimeout) if has_deleted && turns >= TURNS_MAX => break Ok(false),
                Err(error) => break Err(error),
                Ok(()) => {}
            }
            watch.take(|note| _ = keys.insert(note.key));
            match self.delete(&mut keys, &mut *choice, &mut taken) {
                Ok(false) => {}
                over => break over,
            }
            locked.let_in();
            self.worker.park();
            os::thread::sleep(PAUSE);
            self.worker.tick();
        };
        // The rows that were counted are subtracted when the transaction ends.
        self.table.counters.add_rows(self.worker.index(), taken.rows as i64);
        if outcome? {
            return Ok(Some(taken));
        }
        // T3
        drop((taken, watching));
        locked.lock_again(self.worker, deadline, self.options, || Ok(()))?;
        Ok(None)
    }

    /// The keys of the rows; `None`: see T4.
    fn find(&self, choice: &mut dyn RowChoice) -> Result<Option<Keys>> {
        let (worker, table) = (self.worker, &**self.table);
        let ranges = ranges(table, self.partitions).unwrap_or_else(|| vec![(0, EncodedRange::default())]);
        let rows_max = (table.estimated_rows() / 2).max(FEW_ROWS);
        let (mut keys, mut bytes) = (Keys::new(), 0);
        let (mut slices, mut cursor, mut row) = (Slices::new(worker), RowCursor::new(), RowBuf::new());
        self.options.progress.begin(Work::Alter, table.estimated_rows().max(1));
        for (index, range) in ranges {
            cursor.open(table, index, &range, false, ReadMode::Snapshot, false);
            while blocking(|| cursor.next(table, worker, slices.txn(), &mut row))? {
                if load_whole(worker, table, slices.txn(), &mut row)? && takes(choice, table, &row)? {
                    bytes += row.key().len() + KEY_BYTES;
                    keys.insert(row.key().into());
                    if bytes > KEYS_BYTES_MAX || keys.len() as u64 > rows_max {
                        return Ok(None);
                    }
                }
                self.options.progress.advance(1);
                slices.step(self.options)?;
            }
        }
        slices.commit();
        Ok(Some(keys))
    }

    /// Deletes rows whose keys are known, with the table locked alone, for a while. `true`: all of them.
    fn delete(&self, keys: &mut Keys, choice: &mut dyn RowChoice, taken: &mut TakenOut<'_>) -> Result<bool> {
        let (worker, table) = (self.worker, &**self.table);
        let until = Instant::now() + ALONE_MAX;
        let (mut row, mut progress) = (RowBuf::new(), Progress::new());
        for number in 1u64.. {
            let Some(key) = keys.pop_first() else { break };
            row.set_key(&key);
            let txn = taken.catalog.txn();
            // T2
            if blocking(|| table.reread(worker, txn, RowRead::Latest, &mut row))? {
                if table.has_externals(&row) {
                    let all = vec![true; table.def.columns.len()];
                    blocking(|| table.load_externals(worker, txn, RowRead::Latest, &all, &mut row))?;
                }
                if takes(choice, table, &row)? {
                    blocking(|| table.delete_row(worker, txn, &row, &mut progress))?;
                    taken.rows += 1;
                }
            }
            if number.is_multiple_of(SLICE) {
                self.options.check_cancelled()?;
                if Instant::now() >= until {
                    return Ok(keys.is_empty());
                }
            }
        }
        Ok(true)
    }
}

fn takes(choice: &mut dyn RowChoice, table: &Table, row: &RowBuf) -> Result<bool> {
    let stored = row.row(table);
    let values = (0..table.def.columns.len()).map(|column| stored.get(column)).collect::<types::Result<Vec<_>>>();
    choice.takes(&values.map_err(|error| Error::Engine(txn::Error::Storage(format!("{error:?}"))))?)
}

/// Ranges of an index that have all rows of these partitions, and perhaps others.
fn ranges(table: &Table, partitions: &[usize]) -> Option<Vec<(usize, EncodedRange)>> {
    let def = table.def();
    let of = def.partitioning.as_deref()?;
    let column = def.column_index(leading_column(of)?)?;
    let is_led = |index: &types::schema::IndexDef| {
        index.columns.first().is_some_and(|part| part.column == column && part.prefix.is_none() && !part.descending)
    };
    let index = def.indexes.iter().position(is_led)?;
    let mut places: Vec<usize> = partitions.iter().map(|number| number / of.sub_count()).collect();
    places.dedup();
    let range_of = |place: usize| {
        let low = place.checked_sub(1).and_then(|before| end_of(def, of, before, column));
        let high = end_of(def, of, place, column);
        let mut range = EncodedRange::default();
        // Both ends are included: only the first of several columns is compared, and a range that is too long is
        // harmless.
        let is_some =
            table.encode_range(index, &[], low.as_ref().map(|v| (v, true)), high.as_ref().map(|v| (v, true)), &mut range);
        if low.is_none() {
            // NULLs too.
            range.low.clear();
        }
        is_some.then_some((index, range))
    };
    Some(places.into_iter().filter_map(range_of).collect())
}

/// The column whose ranges are those of the partitions.
fn leading_column(of: &Partitioning) -> Option<&str> {
    match &of.by {
        PartitionBy::RangeColumns(columns) => columns.first().map(String::as_str),
        PartitionBy::Range(expr) => match &expr.columns[..] {
            [only] if expr.text.trim_matches('`').eq_ignore_ascii_case(only) => Some(only),
            _ => None,
        },
        _ => None,
    }
}

/// Where a partition ends in its first column; `None`: nowhere, or at no value of the column.
fn end_of(def: &TableDef, of: &Partitioning, place: usize, column: usize) -> Option<Value<'static>> {
    let PartitionValues::LessThan(limits) = &of.partitions[place].values else { return None };
    match limits.first()? {
        PartitionLimit::Literal(text) => def.columns[column].default_value(text),
        PartitionLimit::MaxValue | PartitionLimit::Null => None,
    }
}
