//! Catches up with the rows that changed while an ALTER TABLE read them.
//!
//! For each noted row: 1. remove the row from the new trees, found by its clustered key or by the index entries in its
//! notes; 2. insert the row as the table has it now. A row that an open transaction holds is postponed, and so is one
//! whose unique key another row still has. Rows are processed in key order, in batches: missing pages are requested
//! beforehand (`fetch`), and step 1 is done for the whole batch before step 2. If two rows of different batches have
//! exchanged a unique key, one waits for the next pass.
//!
//! Notes are also processed while a large table is still being read (`relieve`), so that they do not pile up: those of
//! rows that have been read. The note of a row that is still to be read is dropped once nobody holds the row.
//!
//! Writers may change rows faster than they are processed, above all if the data is larger than memory. The rest is
//! then processed in turns with the table locked exclusively (`finish`); between the turns users are let in for a
//! moment.
//!
//! O1: a row that is not held is read as committed. If it changes again, it is noted again (`watch`, V2).
//! O2: nobody reads the new trees, so wrong entries for rows that are still to be processed do not matter.
//! O3: a snapshot taken after nobody held the row sees every change that was noted before, or there is a later note.
//!     The new trees do not contain a row that is still to be read, so there is nothing to remove.

use super::Altered;
use super::build::{
    Build, IndexEntries, Keys, Put, Slices, Work, duplicate_in_index, each_entry, load_whole, put_entry, take_entry,
};
use crate::catalog::blocking;
use crate::watch::Entries;
use crate::{Result, RowBuf, RowRead};
use os::time::Instant;
use std::collections::BTreeMap;
use std::time::Duration;
use txn::{Isolation, LockMode, Txn, WaitPolicy};

/// Bytes of notes that are kept at most: `innodb_online_alter_log_max_size`.
pub(super) const CHANGED_BYTES_MAX: usize = 128 << 20;
/// From this many bytes on they are worked off while rows are still to be read.
const CHANGED_BYTES_MANY: usize = if cfg!(test) { 4 << 10 } else { 16 << 20 };
/// Fewer rows than these are left for when the table is locked alone.
const LEFT_MAX: usize = if cfg!(test) { 20 } else { 500 };
/// How often the notes are worked off before that.
const ROUNDS_MAX: usize = 30;
/// Rows that are worked off at a time.
const BATCH_ROWS: usize = if cfg!(test) { 16 } else { 256 };
/// How long rows are worked off with the table locked alone before users are let in again.
pub(super) const ALONE_MAX: Duration = Duration::from_millis(if cfg!(test) { 30 } else { 300 });
/// Bytes that a noted row takes beside its key and entries.
const ROW_BYTES: usize = 96;

type Known = Vec<(usize, Box<[u8]>)>;
type Rows = BTreeMap<Box<[u8]>, Known>;

/// The rows to process again: by clustered key, with the entries to remove from new indexes.
pub(super) struct Changed {
    rows: Rows,
    bytes: usize,
    /// Bytes from which on there are many.
    many: usize,
}

impl Default for Changed {
    fn default() -> Self {
        Self { rows: Rows::new(), bytes: 0, many: CHANGED_BYTES_MANY }
    }
}

impl Changed {
    /// Are there so many that they are processed before all rows have been read?
    pub fn are_many(&self) -> bool {
        self.bytes >= self.many
    }

    /// Takes all rows out.
    fn take(&mut self) -> Rows {
        self.bytes = 0;
        std::mem::take(&mut self.rows)
    }

    pub fn add(&mut self, key: &[u8], entries: Entries) {
        if !self.rows.contains_key(key) {
            self.bytes += ROW_BYTES + key.len();
            self.rows.insert(key.into(), Vec::new());
        }
        let known = self.rows.get_mut(key).expect("just inserted");
        for entry in entries {
            if !known.contains(&entry) {
                self.bytes += ROW_BYTES + entry.1.len();
                known.push(entry);
            }
        }
    }

    pub fn has(&self, key: &[u8]) -> bool {
        self.rows.contains_key(key)
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// The result of processing a noted row.
enum Outcome {
    Done,
    Later,
}

impl Build<'_> {
    /// Works off the notes while others use the table, until few rows are left.
    pub fn catch_up(&mut self) -> Result<()> {
        for _ in 0..ROUNDS_MAX {
            self.take_notes()?;
            let before = self.changed.rows.len();
            self.options.progress.catch_up(before);
            if before <= LEFT_MAX {
                return Ok(());
            }
            self.work_off(false, None)?;
            self.take_notes()?;
            if self.changed.rows.len() >= before - before / 8 {
                // The remaining rows wait for transactions to end, or writers are as fast.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Works off all that is left. The table is locked alone. `false`: it is too much for now, users are to be let in again.
    pub fn finish(&mut self) -> Result<bool> {
        let deadline = Instant::now() + ALONE_MAX;
        self.take_notes()?;
        while self.changed.rows.len() > LEFT_MAX {
            let before = self.changed.rows.len();
            self.work_off(false, Some(deadline))?;
            if self.changed.rows.len() >= before {
                // They wait for each other's keys.
                break;
            }
            if Instant::now() >= deadline && self.changed.rows.len() > LEFT_MAX {
                return Ok(false);
            }
        }
        self.work_off(true, None)?;
        Ok(true)
    }

    /// Processes rows for a while, with other users in the table. Returns the number of remaining rows.
    pub fn go_on_for(&mut self, pause: Duration) -> Result<usize> {
        let until = Instant::now() + pause;
        self.take_notes()?;
        self.work_off(false, Some(until))?;
        // Asleep, this thread holds no old versions back.
        self.worker.park();
        os::thread::sleep(until.saturating_duration_since(Instant::now()));
        self.worker.tick();
        self.take_notes()?;
        Ok(self.changed.rows.len())
    }

    /// Works off the notes of rows up to `read`, the last that was read and put into the new trees. Rows behind it are read afterwards
    /// with a snapshot that is not taken yet (O3).
    pub fn relieve(&mut self, read: &[u8]) -> Result<()> {
        let mut rows = self.changed.take();
        let behind = [read, &[0]].concat();
        let mut slices = Slices::new(self.worker);
        for (key, known) in rows.split_off(&behind[..]) {
            if self.is_held(&key, slices.txn())? {
                self.changed.add(&key, known.into());
            }
            slices.step(self.options)?;
        }
        slices.commit();
        self.work_off_rows(rows, false, None)?;
        // Rows that wait for transactions are not retried all the time.
        self.changed.many = CHANGED_BYTES_MANY.max(2 * self.changed.bytes);
        Ok(())
    }

    /// Does an open transaction hold the row of the table?
    fn is_held(&self, key: &[u8], txn: &mut Txn) -> Result<bool> {
        let (tree, mode, mut payload) = (self.old.indexes[0].tree, LockMode::Share, Vec::new());
        match blocking(|| txn.read_current(self.worker, tree, key, mode, WaitPolicy::NoWait, &mut payload)) {
            Ok(_) => Ok(false),
            Err(txn::Error::WouldBlock) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// `is_last`: nobody holds a row any more, and a duplicate is one. Rows that `deadline` leaves stay noted.
    fn work_off(&mut self, is_last: bool, deadline: Option<Instant>) -> Result<()> {
        let rows = self.changed.take();
        self.work_off_rows(rows, is_last, deadline)
    }

    fn work_off_rows(&mut self, mut rows: Rows, is_last: bool, deadline: Option<Instant>) -> Result<()> {
        let batch_rows = if is_last { rows.len() } else { BATCH_ROWS };
        while !rows.is_empty() {
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                rows.into_iter().for_each(|(key, known)| self.changed.add(&key, known.into()));
                return Ok(());
            }
            let batch: Vec<_> = (0..batch_rows).map_while(|_| rows.pop_first()).collect();
            self.fetch(&batch)?;
            self.work_off_batch(&batch, is_last)?;
            self.options.progress.caught_up(rows.len() + self.changed.rows.len());
        }
        Ok(())
    }

    fn work_off_batch(&mut self, batch: &[(Box<[u8]>, Known)], is_last: bool) -> Result<()> {
        let mut slices = Slices::new(self.worker);
        for (key, entries) in batch {
            self.take_out(key, entries, slices.txn())?;
            slices.step(self.options)?;
        }
        for (key, _) in batch {
            if let Outcome::Later = self.put_in(key, is_last, slices.txn())? {
                self.changed.add(key, Box::default());
            }
            slices.step(self.options)?;
        }
        slices.commit();
        self.options.check_cancelled()
    }

    /// Requests the pages that the rows need, all at once.
    fn fetch(&self, batch: &[(Box<[u8]>, Known)]) -> Result<()> {
        let (worker, new) = (self.worker, self.new);
        for (key, entries) in batch {
            worker.fetch_leaf(self.old.indexes[0].tree, key);
            match &self.work {
                Work::Indexes(_) => entries.iter().for_each(|(index, entry)| worker.fetch_leaf(new.indexes[*index].tree, entry)),
                Work::Copy(copy) => match copy.keys {
                    Keys::Mapped(map) => worker.fetch_leaf(map, key),
                    Keys::Same | Keys::Unneeded => worker.fetch_leaf(new.indexes[0].tree, key),
                },
            }
        }
        match &self.work {
            Work::Copy(copy) if copy.keys == Keys::Same && new.indexes.len() > 1 => self.fetch_entries(batch),
            _ => Ok(()),
        }
    }

    /// Likewise for the index entries of copied rows, which are found through the rows.
    fn fetch_entries(&self, batch: &[(Box<[u8]>, Known)]) -> Result<()> {
        let (worker, new) = (self.worker, self.new);
        let mut txn = worker.begin(Isolation::ReadCommitted);
        let mut row = RowBuf::new();
        for (key, _) in batch {
            row.set_key(key);
            if !blocking(|| new.reread(worker, &mut txn, RowRead::Latest, &mut row))? || new.has_externals(&row) {
                continue;
            }
            for index in (1..new.indexes.len()).filter(|index| new.indexes[*index].codec.multi.is_none()) {
                if blocking(|| new.index_entry_of(worker, &mut txn, index, RowRead::Latest, &mut row))? {
                    worker.fetch_leaf(new.indexes[index].tree, &row.entry);
                }
            }
        }
        // It has changed nothing.
        blocking(|| txn.rollback(worker))?;
        Ok(())
    }

    fn take_out(&mut self, key: &[u8], entries: &Known, txn: &mut Txn) -> Result<()> {
        if let Work::Copy(copy) = &mut self.work {
            return copy.take_out(key, txn);
        }
        entries.iter().try_for_each(|(index, entry)| take_entry(self.worker, self.new, *index, (entry, key), txn))
    }

    fn put_in(&mut self, key: &[u8], is_last: bool, txn: &mut Txn) -> Result<Outcome> {
        let (worker, old) = (self.worker, self.old);
        let mut row = RowBuf::new();
        row.set_key(key);
        if !is_last {
            if self.is_held(key, txn)? {
                return Ok(Outcome::Later);
            }
            // O1: with its large values, from one snapshot.
            txn.begin_statement(worker);
        }
        if !blocking(|| old.reread(worker, txn, RowRead::Snapshot, &mut row))? || !load_whole(worker, old, txn, &mut row)? {
            return Ok(Outcome::Done);
        }
        let duplicate = match &mut self.work {
            Work::Copy(copy) => match copy.put(&row, IndexEntries::Now, txn)? {
                Put::Done => None,
                Put::Duplicate { error, .. } => Some(error),
            },
            Work::Indexes(indexes) => {
                let mut duplicate = None;
                for index in indexes.iter() {
                    each_entry(worker, self.new, *index, &mut row, txn, |entry, txn| {
                        if put_entry(worker, self.new, *index, entry, txn)?.is_some() {
                            duplicate = Some(duplicate_in_index(worker, self.new, *index, key, txn));
                        }
                        Ok(())
                    })?;
                }
                duplicate
            }
        };
        match duplicate {
            None => Ok(Outcome::Done),
            Some(error) if is_last => Err(error),
            Some(_) => Ok(Outcome::Later),
        }
    }
}

impl Build<'_> {
    /// The result, once it is done.
    pub fn altered(self) -> Altered {
        match self.work {
            Work::Copy(copy) => {
                Altered { rows: copy.new.counters.rows(), warnings: copy.warnings, warning_count: copy.warning_count }
            }
            Work::Indexes(_) => Altered::default(),
        }
    }
}
