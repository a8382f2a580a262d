//! The watch of a table: notes which rows change while a definition makes new trees from the table (`ddl::build`).
//!
//! ```text
//! definition   locks the table exclusively, begins the watch, lets users in again, reads the rows, takes the notes, reads those rows again
//! writer       changes a row, then notes its key before its transaction can commit
//! ```
//!
//! V1: a watch begins and ends while the table's metadata lock is held exclusively, or ends when nobody reads its notes
//!     any more. So a writer sees the watch for a whole operation, and the next holder of the exclusive lock has the
//!     notes of everything committed since.
//! V2: a note is made after the clustered record was written. If a reader finds the row in another version than the
//!     note says, it finds either the open transaction that made the note, or a later note.
//! V3: a note contains the entries of the row's *old* version in the indexes that are being built: the entries that may
//!     have to be removed.
//! V4: a table that is not watched costs its writers one load of a word that they read anyway.

use crate::codec::{self, IndexCodec, Source};
use crate::{RowBuf, Table};
use std::sync::Arc;
use sync::atomic::Ordering;
use sync::{CachePadded, Mutex};
use txn::Worker;
use types::schema::TableDef;
use types::{RowLayout, StoredRow};

/// Entries of a row in indexes that are being built: (number of the index in the new definition, key of the entry).
pub(crate) type Entries = Box<[(usize, Box<[u8]>)]>;

/// A row that was changed.
pub(crate) struct Note {
    /// Its clustered key.
    pub key: Box<[u8]>,
    /// V3
    pub entries: Entries,
}

/// The notes of all workers.
pub(crate) struct Watch {
    slots: Box<[CachePadded<Mutex<Vec<Note>>>]>,
    /// Of rows as the new definition has them. Where indexes are built, those of the watched table, which stay, are read by it too
    /// (`types::row`, R1).
    layout: RowLayout,
    /// The indexes that are being built.
    indexes: Box<[(usize, IndexCodec)]>,
    /// The columns of the watched table that they have.
    columns: Box<[usize]>,
}

impl Watch {
    /// `indexes` of `def`, whose column `k` is the one at `sources[k]` of the watched table, are built. There are none where rows are copied.
    pub fn new(
        worker_slots: usize,
        def: &TableDef,
        sources: &[Option<usize>],
        indexes: impl Iterator<Item = usize>,
    ) -> Arc<Self> {
        let indexes: Box<[_]> = indexes.map(|index| (index, IndexCodec::new(def, index))).collect();
        let parts = indexes.iter().flat_map(|(_, codec)| codec.parts());
        Arc::new(Self {
            slots: (0..worker_slots).map(|_| CachePadded::new(Mutex::default())).collect(),
            layout: RowLayout::new(def),
            columns: parts.filter_map(|part| sources[part.column]).collect(),
            indexes,
        })
    }

    /// Does an index that is being built have this column of the watched table?
    pub fn has_column(&self, column: usize) -> bool {
        self.columns.contains(&column)
    }

    /// The first of the indexes that are being built, in the new definition.
    pub fn first_index(&self) -> Option<usize> {
        self.indexes.first().map(|(index, _)| *index)
    }

    /// Takes the notes that are there.
    pub fn take(&self, mut each: impl FnMut(Note)) {
        for slot in &self.slots {
            let notes = std::mem::take(&mut *slot.lock());
            notes.into_iter().for_each(&mut each);
        }
    }

    /// The entries of a row in the indexes that are being built.
    fn entries(&self, row: StoredRow<'_>, key: &[u8]) -> txn::Result<Entries> {
        let (mut entries, mut several) = (Vec::with_capacity(self.indexes.len()), crate::entries::Entries::default());
        for (index, codec) in &self.indexes {
            if codec.multi.is_some() {
                codec.encode_entries(Source::Row(row), key, &mut several)?;
                entries.extend(several.iter().map(|(key, _)| (*index, key.into())));
                continue;
            }
            let mut entry = Vec::new();
            codec.encode_entry(Source::Row(row), key, &mut entry)?;
            entries.push((*index, entry.into()));
        }
        Ok(entries.into())
    }

    fn note(&self, worker: &Worker, key: &[u8], entries: Entries) {
        self.slots[worker.index()].lock().push(Note { key: key.into(), entries });
    }
}

/// Ends the watch when the definition is over, however that comes.
pub(crate) struct Watching<'t>(&'t Table);

impl<'t> Watching<'t> {
    pub fn begin(table: &'t Table, watch: &Arc<Watch>) -> Self {
        table.begin_watch(watch);
        Self(table)
    }
}

impl Drop for Watching<'_> {
    fn drop(&mut self) {
        self.0.end_watch();
    }
}

impl Table {
    /// The watch, where there is one.
    #[inline]
    pub(crate) fn watch(&self) -> Option<Arc<Watch>> {
        // Relaxed: it is set while the metadata lock is held alone (V1), which orders it.
        if !self.watched.load(Ordering::Relaxed) {
            return None;
        }
        self.watch.lock().clone()
    }

    /// V1: the caller holds the metadata lock alone.
    fn begin_watch(&self, watch: &Arc<Watch>) {
        *self.watch.lock() = Some(watch.clone());
        self.watched.store(true, Ordering::Relaxed);
    }

    fn end_watch(&self) {
        self.watched.store(false, Ordering::Relaxed);
        *self.watch.lock() = None;
    }

    /// A row was inserted under this key.
    #[inline]
    pub(crate) fn note_inserted(&self, worker: &Worker, key: &[u8]) {
        if let Some(watch) = self.watch() {
            watch.note(worker, key, Box::default());
        }
    }

    /// The row `old` was changed or deleted; `expanded` has the large values that are in indexes.
    #[inline]
    pub(crate) fn note_changed(&self, worker: &Worker, old: &RowBuf, expanded: &RowBuf) -> txn::Result<()> {
        let Some(watch) = self.watch() else { return Ok(()) };
        if watch.indexes.is_empty() {
            watch.note(worker, &old.key, Box::default());
            return Ok(());
        }
        let payload = if expanded.payload.is_empty() { old.current() } else { expanded.current() };
        let row = StoredRow::new(&watch.layout, payload).map_err(codec::corrupt)?;
        let entries = watch.entries(row, &old.key)?;
        watch.note(worker, &old.key, entries);
        Ok(())
    }
}
