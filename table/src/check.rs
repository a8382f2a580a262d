//! CHECK TABLE: do the trees of a table agree with each other?
//!
//! 1. Every clustered record is a row of the table's layout whose columns can be read, and its key is the key of the
//!    row.
//! 2. Every index entry leads to a row that has exactly this entry, and there are as many entries as rows. So they
//!    match one to one.
//!    An index with several entries of a row has exactly those of the rows: sums of both are compared (`offline`, C1).
//! 3. Every large value is complete, and every chunk belongs to a value.
//!
//! The check reads one snapshot, in blocking style, while other sessions write.

use crate::catalog::blocking;
use crate::codec::Source;
use crate::ddl::{Progress, Work};
use crate::entries::Entries;
use crate::offline::{Sum, entry_hash};
use crate::{EncodedRange, Result, RowBuf, RowCursor, RowRead, Table};
use txn::{Isolation, ReadMode, Scan, TreeRef, Txn, Worker};
use types::schema::IndexKind;

const PROBLEMS_MAX: usize = 20;

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    pub rows: u64,
    /// The first problems, as sentences; empty when all is well.
    pub problems: Vec<String>,
}

impl CheckReport {
    fn problem(&mut self, what: String) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(what);
        }
    }
}

/// Runs `look` in a transaction that only reads.
fn in_snapshot<T>(worker: &Worker, look: impl FnOnce(&mut Txn) -> Result<T>) -> Result<T> {
    let mut txn = worker.begin(Isolation::RepeatableRead);
    let seen = look(&mut txn);
    blocking(|| txn.rollback(worker))?;
    seen
}

impl Table {
    /// Checks the whole table as the transaction's snapshot sees it. Blocks; for the DDL thread. The caller holds a share of the
    /// metadata lock.
    pub fn check(&self, worker: &Worker, txn: &mut Txn) -> Result<CheckReport> {
        self.check_with(worker, txn, &Progress::default())
    }

    fn check_with(&self, worker: &Worker, txn: &mut Txn, progress: &Progress) -> Result<CheckReport> {
        let mut report = CheckReport::default();
        progress.begin(Work::Check, (self.estimated_rows() * self.indexes.len() as u64).max(1));
        let mut wanted = vec![Sum::default(); self.indexes.len()];
        let chunks = self.check_rows(worker, txn, &mut report, &mut wanted, progress)?;
        for (index, wanted) in wanted.iter().enumerate().skip(1) {
            match self.indexes[index].codec.multi {
                None => self.check_index(worker, txn, index, &mut report, progress)?,
                Some(_) => self.check_entries(worker, txn, index, wanted, &mut report, progress)?,
            }
        }
        if let Some(tree) = self.blob_tree {
            let present = count_records(worker, txn, tree)?;
            if present != chunks {
                report.problem(format!("{present} pieces of large values, but the rows have {chunks}"));
            }
        }
        Ok(report)
    }

    /// CHECK TABLE: the problems that `check` finds.
    pub fn problems(&self, worker: &Worker, progress: &Progress) -> Result<Vec<String>> {
        in_snapshot(worker, |txn| self.check_with(worker, txn, progress)).map(|report| report.problems)
    }

    /// CHECKSUM TABLE: the sum of the checksums of all rows, whatever their order. Blocks, as `check`.
    pub fn checksum(&self, worker: &Worker, progress: &Progress) -> Result<u64> {
        progress.begin(Work::Checksum, self.estimated_rows().max(1));
        in_snapshot(worker, |txn| self.sum_rows(worker, txn, progress))
    }

    fn sum_rows(&self, worker: &Worker, txn: &mut Txn, progress: &Progress) -> Result<u64> {
        let (mut cursor, mut row, mut text) = (RowCursor::new(), RowBuf::new(), Vec::new());
        let mut sum = 0u32;
        cursor.open(self, 0, &EncodedRange::default(), false, ReadMode::Snapshot, false);
        while blocking(|| cursor.next(self, worker, txn, &mut row))? {
            blocking(|| self.load_columns(worker, txn, RowRead::Snapshot, |_| true, &mut row))?;
            progress.advance(1);
            let stored = row.row(self);
            text.clear();
            for (column, def) in self.def.named_columns() {
                // NULL and strings of other lengths stay distinct.
                let start = text.len();
                let value = stored
                    .get(column)
                    .map_err(|_| crate::Error::CorruptCatalog { what: format!("a row of {}", self.def.name) })?;
                types::convert::write_text(&value, &def.ty, &mut text);
                text.extend_from_slice(&((text.len() - start) as u32).to_le_bytes());
            }
            sum = sum.wrapping_add(crc_fast::checksum(crc_fast::CrcAlgorithm::Crc32IsoHdlc, &text) as u32);
        }
        Ok(sum.into())
    }

    /// Reads every row and its large values; returns how many chunks they have.
    /// In `wanted` are the sums of the entries that it asks for, in indexes with several of each row.
    fn check_rows(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        report: &mut CheckReport,
        wanted: &mut [Sum],
        progress: &Progress,
    ) -> Result<u64> {
        let mut entries = Entries::default();
        let (mut cursor, mut row, mut key) = (RowCursor::new(), RowBuf::new(), Vec::new());
        let mut chunks = 0;
        cursor.open(self, 0, &EncodedRange::default(), false, ReadMode::Snapshot, false);
        while blocking(|| cursor.next(self, worker, txn, &mut row))? {
            report.rows += 1;
            progress.advance(1);
            chunks += self.chunks_of_row(&row);
            if let Err(error) = blocking(|| self.load_columns(worker, txn, RowRead::Snapshot, |_| true, &mut row)) {
                report.problem(format!("row {}: {error:?}", report.rows));
                continue;
            }
            let stored = row.row(self);
            for column in 0..self.layout.columns() {
                if let Err(error) = stored.get(column) {
                    report.problem(format!("row {}, column {}: {error:?}", report.rows, self.def.columns[column].name));
                }
            }
            key.clear();
            let clustered = &self.indexes[0].codec;
            let is_keyed = clustered.kind == IndexKind::Primary;
            if is_keyed && (clustered.encode(Source::Row(stored), &mut key).is_err() || key != row.key) {
                report.problem(format!("row {} stands under another key", report.rows));
            }
            for (index, wanted) in self.indexes.iter().zip(&mut *wanted).filter(|(index, _)| index.codec.multi.is_some()) {
                match index.codec.encode_entries(Source::Row(stored), &row.key, &mut entries) {
                    Ok(()) => entries.iter().for_each(|(key, payload)| wanted.add(entry_hash(key, payload))),
                    Err(error) => report.problem(format!("row {}: {error:?}", report.rows)),
                }
            }
            if report.rows.is_multiple_of(1024) {
                worker.tick();
            }
        }
        Ok(chunks)
    }

    fn check_entries(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        wanted: &Sum,
        report: &mut CheckReport,
        progress: &Progress,
    ) -> Result<()> {
        let mut scan = Scan::new(self.indexes[index].tree, &[], &[], false, ReadMode::Snapshot);
        let mut present = Sum::default();
        while blocking(|| scan.fill(txn, worker, 256))? {
            while let Some(found) = scan.next_row() {
                present.add(entry_hash(found.key, found.payload));
                progress.advance(1);
            }
            worker.tick();
        }
        if present != *wanted {
            let name = &self.def.indexes[index].name;
            report.problem(format!("index {name} has {}, the rows ask for {}", present.said(), wanted.said()));
        }
        Ok(())
    }

    fn check_index(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        report: &mut CheckReport,
        progress: &Progress,
    ) -> Result<()> {
        let name = &self.def.indexes[index].name;
        let codec = &self.indexes[index].codec;
        let mut scan = Scan::new(self.indexes[index].tree, &[], &[], false, ReadMode::Snapshot);
        let (mut row, mut entry, mut entries) = (RowBuf::new(), Vec::new(), 0u64);
        while blocking(|| scan.fill(txn, worker, 256))? {
            while let Some(found) = scan.next_row() {
                entries += 1;
                progress.advance(1);
                let Ok(clustered_key) = codec.clustered_key(found.key, found.payload) else {
                    report.problem(format!("index {name}: entry {entries} has no row in it"));
                    continue;
                };
                row.set_key(clustered_key);
                entry.clear();
                entry.extend_from_slice(found.key);
                if !blocking(|| self.reread(worker, txn, RowRead::Snapshot, &mut row))? {
                    report.problem(format!("index {name}: entry {entries} leads to no row"));
                    continue;
                }
                let has_entry = match blocking(|| self.index_entry_of(worker, txn, index, RowRead::Snapshot, &mut row)) {
                    Ok(has_entry) => has_entry,
                    Err(error) => {
                        report.problem(format!("index {name}: entry {entries}: {error:?}"));
                        continue;
                    }
                };
                if !has_entry || row.entry != entry {
                    report.problem(format!("index {name}: entry {entries} leads to a row with another key"));
                }
            }
            worker.tick();
        }
        if entries != report.rows {
            report.problem(format!("index {name} has {entries} entries, the table {} rows", report.rows));
        }
        Ok(())
    }
}

fn count_records(worker: &Worker, txn: &mut Txn, tree: TreeRef) -> Result<u64> {
    let mut scan = Scan::new(tree, &[], &[], false, ReadMode::Snapshot);
    let mut count = 0;
    while blocking(|| scan.fill(txn, worker, 1024))? {
        while scan.next_row().is_some() {
            count += 1;
        }
    }
    Ok(count)
}
