//! Catching up with the rows that changed while an ALTER TABLE read them.
//!
//! Per noted row: 1. what the new trees have of it is taken out, found by its clustered key, or by the index entries in its notes; 2. what
//! the table has now is put in. A row that an open transaction holds stays for later, and so does one whose unique key another row
//! still has. Step 1 is done for all noted rows before step 2, so that keys that rows have exchanged are free.
//!
//! O1: a row that is not held is read as committed. If it changes again, it is noted again (`watch`, V2).
//! O2: nobody reads the new trees, so what they show of rows that are still to be looked at does not matter.

use super::Altered;
use super::build::{Build, Put, Slices, Work, duplicate_in_index, entry_of, load_whole, put_entry};
use crate::catalog::blocking;
use crate::watch::Entries;
use crate::{Result, RowBuf, RowRead};
use std::collections::HashMap;
use txn::{LockMode, Txn, WaitPolicy};
use types::schema::IndexKind;

/// Bytes of notes that are kept at most: `innodb_online_alter_log_max_size`.
pub(super) const CHANGED_BYTES_MAX: usize = 128 << 20;
/// Fewer rows than these are left for when the table is locked alone.
const LEFT_MAX: usize = 500;
/// How often the notes are worked off before that, even if writers are as fast.
const ROUNDS_MAX: usize = 30;
/// Bytes that a noted row takes beside its key and entries.
const ROW_BYTES: usize = 96;

type Known = Vec<(usize, Box<[u8]>)>;

/// The rows to be looked at again: by clustered key, with entries to be taken out of new indexes.
#[derive(Default)]
pub(super) struct Changed {
    rows: HashMap<Box<[u8]>, Known>,
    bytes: usize,
}

impl Changed {
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

/// What became of a noted row.
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
            if before <= LEFT_MAX {
                return Ok(());
            }
            self.work_off(false)?;
            if self.changed.rows.len() >= before {
                // What is left waits for transactions to end.
                return Ok(());
            }
        }
        Ok(())
    }

    /// Works off all that is left. The table is locked alone.
    pub fn finish(&mut self) -> Result<()> {
        self.take_notes()?;
        self.work_off(true)
    }

    /// `is_last`: nobody holds a row any more, and a duplicate is one.
    fn work_off(&mut self, is_last: bool) -> Result<()> {
        let changed = std::mem::take(&mut self.changed);
        let mut slices = Slices::new(self.worker);
        for (key, entries) in &changed.rows {
            self.take_out(key, entries, slices.txn())?;
            slices.step(self.options)?;
        }
        for key in changed.rows.keys() {
            if let Outcome::Later = self.put_in(key, is_last, slices.txn())? {
                self.changed.add(key, Box::default());
            }
            slices.step(self.options)?;
        }
        slices.commit();
        Ok(())
    }

    fn take_out(&mut self, key: &[u8], entries: &Known, txn: &mut Txn) -> Result<()> {
        if let Work::Copy(copy) = &mut self.work {
            return copy.take_out(key, txn);
        }
        let mut payload = Vec::new();
        for (index, entry) in entries {
            let index = &self.new.indexes[*index];
            let Some(seen) = blocking(|| txn.read_latest(self.worker, index.tree, entry, &mut payload))? else { continue };
            // A unique key may be another row's by now.
            if index.kind() != IndexKind::Unique || payload == key {
                blocking(|| txn.delete(self.worker, index.tree, entry, seen))?;
            }
        }
        Ok(())
    }

    fn put_in(&mut self, key: &[u8], is_last: bool, txn: &mut Txn) -> Result<Outcome> {
        let (worker, old) = (self.worker, self.old);
        let mut row = RowBuf::new();
        row.set_key(key);
        if !is_last {
            let (tree, mode) = (old.indexes[0].tree, LockMode::Share);
            match blocking(|| txn.read_current(worker, tree, key, mode, WaitPolicy::NoWait, &mut row.payload)) {
                Ok(_) => {}
                Err(txn::Error::WouldBlock) => return Ok(Outcome::Later),
                Err(error) => return Err(error.into()),
            }
            // O1: with its large values, from one snapshot.
            txn.begin_statement(worker);
        }
        if !blocking(|| old.reread(worker, txn, RowRead::Snapshot, &mut row))? || !load_whole(worker, old, txn, &mut row)? {
            return Ok(Outcome::Done);
        }
        let duplicate = match &mut self.work {
            Work::Copy(copy) => match copy.put(&row, txn)? {
                Put::Done => None,
                Put::Duplicate { error, .. } => Some(error),
            },
            Work::Indexes(indexes) => {
                let mut duplicate = None;
                for index in indexes.iter() {
                    let entry = entry_of(worker, self.new, *index, &mut row, txn)?;
                    if put_entry(worker, self.new, *index, &entry, txn)?.is_some() {
                        duplicate = Some(duplicate_in_index(worker, self.new, *index, key, txn));
                    }
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
    /// What was done, when it is done.
    pub fn altered(self) -> Altered {
        match self.work {
            Work::Copy(copy) => {
                Altered { rows: copy.new.counters.rows(), warnings: copy.warnings, warning_count: copy.warning_count }
            }
            Work::Indexes(_) => Altered::default(),
        }
    }
}
