//! Writing rows: the clustered record, its index entries and its large values, as one restartable operation.
//!
//! ```text
//! insert   clustered -> index 1..n -> chunks
//! update   clustered (or delete + insert, when the primary key changes) -> each changed index: delete, insert -> chunks in -> chunks out
//! delete   clustered -> index 1..n -> chunks
//!          a duplicate anywhere -> rollback to the savepoint taken at the start
//! ```
//!
//! W1: the clustered record is written first. Its writer's mark is the row's lock, so nobody else touches the entries
//!     and chunks.
//! W2: each step is one engine call that is repeated until it succeeds; `Progress` says which step is next. The inputs
//!     of a step are computed again from the arguments at each repetition, so the caller repeats the call with the same
//!     arguments.
//! W3: an operation that returns anything but success or a pause has undone its own changes. A caller that does not
//!     continue after a pause rolls back to a savepoint of its own.
//! W4: a change makes a row visible to its transaction even if the transaction's snapshot did not see it. Its index
//!     entries must become visible too, so unchanged entries are written once more. From then on the transaction asks
//!     the row itself whether an entry belongs to it.
//! W5: on request (`Progress::pause_at`), an insert and an update pause before they write the entry of an index, and
//!     the next call continues. During the pause a foreign key's parent is looked up, as in InnoDB: a transaction that
//!     deletes the parent meanwhile and looks for children does not find an entry of a row that waits for it.
//! W6: an index with several entries of a row is one step, `Step::Entries`, which remembers how far it came (`entries`).
//! W7: if a definition watches the table, each written clustered record is noted (`watch`).

use crate::blob::{self, ChunkPlace};
use crate::codec::{self, Source};
use crate::entries::{Entries, EntriesChange};
use crate::{RowBuf, RowRead, Table};
use txn::{InsertOutcome, Interrupt, LockMode, RECORD_BYTES_MAX, Savepoint, Seen, Txn, WaitPolicy, Worker, WriteOutcome};
use types::Value;
use types::row::{ExternalRef, Field, StoredRow};
use types::schema::IndexKind;

/// The place of a multi-step operation between two calls. Reused from row to row; a finished operation leaves it ready
/// for the next. A caller that gives up on a stalled operation calls [`Progress::reset`] and rolls the statement back.
#[derive(Default)]
pub struct Progress {
    step: Step,
    savepoint: Option<Savepoint>,
    /// W5: the indexes at which to pause, and the step after the pause.
    pauses: Pauses,
    resume: Step,
    /// W4 applies.
    unseen: bool,
    /// The row's (new) clustered key and stored bytes.
    key: Vec<u8>,
    payload: Vec<u8>,
    entry: Vec<u8>,
    old_entry: Vec<u8>,
    scratch: Vec<u8>,
    /// Columns of the new row that go to the blob tree, and where in them the work is.
    externals: Vec<(usize, ExternalRef)>,
    place: ChunkPlace,
    /// Blobs that the old row leaves behind.
    freed: Vec<ExternalRef>,
    /// The old row with its indexed large values in place; empty for most rows.
    expanded: RowBuf,
    /// W6
    entries: Option<Box<EntriesChange>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Start,
    /// Update and delete: bring large values that the index keys need.
    Expand,
    Encode,
    Clustered,
    /// The second half of a changed primary key.
    ClusteredInsert,
    /// Update and delete: remove the old entry of this index.
    IndexDelete(usize),
    IndexInsert(usize),
    /// W6: the entries of this index are known, and being changed.
    Entries(usize),
    /// W5
    Paused(usize),
    WriteChunks,
    DeleteChunks,
    /// Roll back to the savepoint, then report a duplicate in this index.
    Undo(usize),
}

/// A set of indexes of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pauses(u128);

impl Pauses {
    pub fn add(&mut self, index: usize) {
        assert!(index < u128::BITS as usize, "a table has at most 65 indexes");
        self.0 |= 1 << index;
    }

    pub fn has(self, index: usize) -> bool {
        self.0 >> index & 1 != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl Progress {
    pub fn new() -> Self {
        Self::default()
    }

    /// The operation that begins next pauses at these indexes (W5).
    pub fn pause_at(&mut self, pauses: Pauses) {
        debug_assert_eq!(self.step, Step::Start, "asked for before the operation");
        self.pauses = pauses;
    }

    /// `next`, after a pause at `index` where one was asked for.
    fn then(&mut self, index: usize, next: Step) -> Step {
        if !self.pauses.has(index) {
            return next;
        }
        self.resume = next;
        Step::Paused(index)
    }

    /// Forgets an operation that is not finished. What it wrote is undone by the transaction's (or statement's) rollback.
    pub fn reset(&mut self) {
        self.step = Step::Start;
        self.savepoint = None;
        self.pauses = Pauses::default();
        self.unseen = false;
        self.externals.clear();
        self.freed.clear();
        self.place = ChunkPlace::default();
        self.expanded.clear();
    }

    fn undo(&mut self, worker: &Worker, txn: &mut Txn) -> txn::Result<()> {
        if let Some(savepoint) = self.savepoint {
            txn.rollback_to(worker, savepoint)?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertRow {
    Inserted,
    /// W5: look at the foreign keys of this index, then call again.
    Paused {
        index: usize,
    },
    /// A row with the same key of index `index` is there; nothing of the new row remains.
    Duplicate {
        index: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteRow {
    Done,
    /// W5: look at the foreign keys of this index, then call again.
    Paused {
        index: usize,
    },
    /// The row is no longer the version that was read: read and check it again. Nothing was written.
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
        let outcome = self.insert_steps(worker, txn, values, progress);
        reset_when_over(&outcome, matches!(outcome, Ok(InsertRow::Paused { .. })), progress);
        if matches!(outcome, Ok(InsertRow::Inserted)) {
            self.counters.add_rows(worker.index(), 1);
        }
        outcome
    }

    /// As `insert_row`, under a clustered key that the caller has made.
    pub(crate) fn insert_row_at(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        key: &[u8],
        values: &[Value<'_>],
        progress: &mut Progress,
    ) -> txn::Result<InsertRow> {
        if progress.step == Step::Start {
            progress.savepoint = Some(txn.savepoint());
            progress.key.clear();
            progress.key.extend_from_slice(key);
            self.encode_row(worker, values, progress)?;
            progress.step = Step::Clustered;
        }
        self.insert_row(worker, txn, values, progress)
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
        let outcome = self.update_steps(worker, txn, old, changes, progress);
        reset_when_over(&outcome, matches!(outcome, Ok(WriteRow::Paused { .. })), progress);
        if matches!(outcome, Ok(WriteRow::Done)) {
            self.counters.add_changes(worker.index(), 1);
        }
        outcome
    }

    /// Deletes the row `old` (read current: with `seen`). Never answers `Duplicate` or `Paused`.
    pub fn delete_row(&self, worker: &Worker, txn: &mut Txn, old: &RowBuf, progress: &mut Progress) -> txn::Result<WriteRow> {
        let outcome = self.delete_steps(worker, txn, old, progress);
        reset_when_over(&outcome, matches!(outcome, Ok(WriteRow::Paused { .. })), progress);
        if matches!(outcome, Ok(WriteRow::Done)) {
            self.counters.add_rows(worker.index(), -1);
        }
        outcome
    }

    /// After `Duplicate { index }`: the row that is in the way, read (and locked) as `how` says. `values` are those of the row that did
    /// not go in. `false`: it is gone meanwhile; try again.
    pub fn conflicting_row(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        values: &[Value<'_>],
        how: RowRead,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        if self.has_entries(index) {
            let tree = self.indexes[index].tree;
            return self.conflicting_entry(values, index, |key| {
                // No gap is locked where none is there.
                let is_there = txn.read_latest(worker, tree, key, &mut row.payload)?.is_some();
                Ok(is_there && self.point(worker, txn, index, key, how, row)?)
            });
        }
        let mut key = std::mem::take(&mut row.entry);
        key.clear();
        let found = match self.indexes[index].codec.encode(Source::Values(values), &mut key) {
            // A NULL never conflicts.
            Ok(true) => Ok(false),
            Ok(false) => self.point(worker, txn, index, &key, how, row),
            Err(error) => Err(codec::encode_error(error)),
        };
        row.entry = key;
        found
    }

    /// After `Duplicate { index }`: locks the conflicting key as a reader until the transaction ends (the record of
    /// that index alone, as in InnoDB). So it waits for a transaction that may still delete the row, and the reported
    /// duplicate stays true. `false`: it is gone meanwhile; try again. Restartable.
    pub fn lock_duplicate(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        values: &[Value<'_>],
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        let (tree, mode, policy) = (self.indexes[index].tree, LockMode::Share, WaitPolicy::Wait);
        if self.has_entries(index) {
            let payload = &mut row.payload;
            return self.conflicting_entry(values, index, |key| {
                // Only one that is there is locked.
                let is_there = txn.read_latest(worker, tree, key, payload)?.is_some();
                Ok(is_there && txn.lock_row(worker, tree, key, mode, policy, payload)?.is_some())
            });
        }
        row.entry.clear();
        if self.indexes[index].codec.encode(Source::Values(values), &mut row.entry).map_err(codec::encode_error)? {
            // A NULL never conflicts.
            return Ok(false);
        }
        Ok(txn.lock_row(worker, tree, &row.entry, mode, policy, &mut row.payload)?.is_some())
    }

    /// Of an index with several entries of a row: does `look` find one that these values ask for? In the order in which they were inserted.
    fn conflicting_entry(
        &self,
        values: &[Value<'_>],
        index: usize,
        mut look: impl FnMut(&[u8]) -> txn::Result<bool>,
    ) -> txn::Result<bool> {
        let mut entries = Entries::default();
        // Entries with a NULL have a clustered key at their end; with none they are no other row's.
        self.indexes[index].codec.encode_entries(Source::Values(values), &[], &mut entries)?;
        let has_null = self.indexes[index].codec.parts().iter().any(|part| values[part.column].is_null());
        for (key, _) in entries.iter().filter(|_| !has_null) {
            if look(key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn insert_steps(&self, worker: &Worker, txn: &mut Txn, values: &[Value<'_>], p: &mut Progress) -> txn::Result<InsertRow> {
        loop {
            match p.step {
                Step::Start | Step::Expand | Step::Encode => {
                    p.savepoint = Some(txn.savepoint());
                    self.clustered_key(worker, values, &mut p.key)?;
                    self.encode_row(worker, values, p)?;
                    p.step = p.then(0, Step::Clustered);
                }
                Step::Paused(index) => {
                    p.step = p.resume;
                    return Ok(InsertRow::Paused { index });
                }
                Step::Clustered | Step::ClusteredInsert => {
                    if txn.insert(worker, self.indexes[0].tree, &p.key, &p.payload)? == InsertOutcome::Duplicate {
                        // Nothing was written yet.
                        return Ok(InsertRow::Duplicate { index: 0 });
                    }
                    self.note_inserted(worker, &p.key);
                    p.step = p.then(1, Step::IndexInsert(1));
                }
                Step::IndexDelete(k) | Step::IndexInsert(k) if self.has_entries(k) => {
                    let entries = p.entries.get_or_insert_default();
                    entries.begin(&self.indexes[k].codec, None, Some((Source::Values(values), &p.key)))?;
                    p.step = Step::Entries(k);
                }
                Step::Entries(k) => {
                    p.step = match self.change_entries(worker, txn, k, p)? {
                        InsertOutcome::Inserted => p.then(k + 1, Step::IndexInsert(k + 1)),
                        InsertOutcome::Duplicate => Step::Undo(k),
                    };
                }
                Step::IndexDelete(k) | Step::IndexInsert(k) if k < self.indexes.len() => {
                    p.step = match self.insert_entry(worker, txn, k, Source::Values(values), &p.key, &mut p.entry)? {
                        InsertOutcome::Inserted => p.then(k + 1, Step::IndexInsert(k + 1)),
                        InsertOutcome::Duplicate => Step::Undo(k),
                    };
                }
                Step::IndexDelete(_) | Step::IndexInsert(_) => p.step = Step::WriteChunks,
                Step::WriteChunks | Step::DeleteChunks => {
                    if !p.externals.is_empty() {
                        let bytes = |column: usize| bytes_of(&values[column]);
                        self.write_chunks(worker, txn, &p.externals, bytes, &mut p.place)?;
                    }
                    return Ok(InsertRow::Inserted);
                }
                Step::Undo(index) => {
                    p.undo(worker, txn)?;
                    return Ok(InsertRow::Duplicate { index });
                }
            }
        }
    }

    fn update_steps(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        old: &RowBuf,
        changes: &[(usize, Value<'_>)],
        p: &mut Progress,
    ) -> txn::Result<WriteRow> {
        let seen = old.seen.expect("a row to change was read current");
        let stored = self.stored_row(&old.payload)?;
        loop {
            match p.step {
                Step::Start => {
                    p.savepoint = Some(txn.savepoint());
                    p.unseen = self.changes_unseen(worker, txn, seen);
                    let concerns = |k| p.unseen || self.index_changes(k, changes);
                    p.step = if self.needs_expansion(old, concerns) { Step::Expand } else { Step::Encode };
                }
                Step::Expand => {
                    if !self.expand_indexed(worker, txn, old, p)? {
                        return Ok(WriteRow::Changed);
                    }
                    p.step = Step::Encode;
                }
                Step::Encode => {
                    let row = expanded_row(self, old, &p.expanded)?;
                    p.key.clear();
                    if self.index_changes(0, changes) {
                        self.indexes[0].codec.encode(Source::Changed(row, changes), &mut p.key).map_err(codec::encode_error)?;
                    } else {
                        p.key.extend_from_slice(&old.key)
                    }
                    self.encode_changed_row(worker, stored, changes, p)?;
                    p.step = Step::Clustered;
                }
                Step::Clustered if p.key == old.key => {
                    if txn.update(worker, self.indexes[0].tree, &p.key, seen, &p.payload)? == WriteOutcome::Changed {
                        return Ok(WriteRow::Changed);
                    }
                    self.note_changed(worker, old, &p.expanded)?;
                    p.step = Step::IndexDelete(1);
                }
                Step::Clustered => {
                    if txn.delete(worker, self.indexes[0].tree, &old.key, seen)? == WriteOutcome::Changed {
                        return Ok(WriteRow::Changed);
                    }
                    self.note_changed(worker, old, &p.expanded)?;
                    p.step = p.then(0, Step::ClusteredInsert);
                }
                Step::Paused(index) => {
                    p.step = p.resume;
                    return Ok(WriteRow::Paused { index });
                }
                Step::ClusteredInsert => {
                    p.step = match txn.insert(worker, self.indexes[0].tree, &p.key, &p.payload)? {
                        InsertOutcome::Inserted => {
                            self.note_inserted(worker, &p.key);
                            Step::IndexDelete(1)
                        }
                        InsertOutcome::Duplicate => Step::Undo(0),
                    };
                }
                Step::IndexDelete(k) if self.has_entries(k) => {
                    let is_touched = p.key != old.key || p.unseen || self.index_changes(k, changes);
                    p.step = if is_touched {
                        let row = expanded_row(self, old, &p.expanded)?;
                        let (before, after) = ((Source::Row(row), &old.key[..]), (Source::Changed(row, changes), &p.key[..]));
                        p.entries.get_or_insert_default().begin(&self.indexes[k].codec, Some(before), Some(after))?;
                        Step::Entries(k)
                    } else {
                        Step::IndexDelete(k + 1)
                    };
                }
                Step::Entries(k) => {
                    p.step = match self.change_entries(worker, txn, k, p)? {
                        InsertOutcome::Inserted => Step::IndexDelete(k + 1),
                        InsertOutcome::Duplicate => Step::Undo(k),
                    };
                }
                Step::IndexDelete(k) if k < self.indexes.len() => {
                    p.step = self.update_delete_entry(worker, txn, k, old, changes, p)?
                }
                Step::IndexInsert(k) if k < self.indexes.len() => {
                    let row = expanded_row(self, old, &p.expanded)?;
                    p.step = match self.insert_entry(worker, txn, k, Source::Changed(row, changes), &p.key, &mut p.entry)? {
                        InsertOutcome::Inserted => Step::IndexDelete(k + 1),
                        InsertOutcome::Duplicate => Step::Undo(k),
                    };
                }
                Step::IndexDelete(_) | Step::IndexInsert(_) => p.step = Step::WriteChunks,
                Step::WriteChunks => {
                    if !p.externals.is_empty() {
                        let bytes = |column: usize| match changes.iter().find(|(c, _)| *c == column) {
                            Some((_, value)) => bytes_of(value),
                            None => codec::stored_bytes(stored, column),
                        };
                        self.write_chunks(worker, txn, &p.externals, bytes, &mut p.place)?;
                        p.place = ChunkPlace::default();
                    }
                    p.step = Step::DeleteChunks;
                }
                Step::DeleteChunks => {
                    if !p.freed.is_empty() {
                        self.delete_chunks(worker, txn, &p.freed, &mut p.scratch, &mut p.place)?;
                    }
                    return Ok(WriteRow::Done);
                }
                Step::Undo(index) => {
                    p.undo(worker, txn)?;
                    return Ok(WriteRow::Duplicate { index });
                }
            }
        }
    }

    fn delete_steps(&self, worker: &Worker, txn: &mut Txn, old: &RowBuf, p: &mut Progress) -> txn::Result<WriteRow> {
        let seen = old.seen.expect("a row to delete was read current");
        loop {
            match p.step {
                Step::Start => {
                    self.changes_unseen(worker, txn, seen);
                    p.step = if self.needs_expansion(old, |_| true) { Step::Expand } else { Step::Clustered };
                }
                Step::Expand | Step::Encode => {
                    if !self.expand_indexed(worker, txn, old, p)? {
                        return Ok(WriteRow::Changed);
                    }
                    p.step = Step::Clustered;
                }
                Step::Clustered | Step::ClusteredInsert => {
                    if txn.delete(worker, self.indexes[0].tree, &old.key, seen)? == WriteOutcome::Changed {
                        return Ok(WriteRow::Changed);
                    }
                    self.note_changed(worker, old, &p.expanded)?;
                    p.step = Step::IndexDelete(1);
                }
                Step::IndexDelete(k) | Step::IndexInsert(k) if self.has_entries(k) => {
                    let row = expanded_row(self, old, &p.expanded)?;
                    let entries = p.entries.get_or_insert_default();
                    entries.begin(&self.indexes[k].codec, Some((Source::Row(row), &old.key)), None)?;
                    p.step = Step::Entries(k);
                }
                Step::Entries(k) => {
                    self.change_entries(worker, txn, k, p)?;
                    p.step = Step::IndexDelete(k + 1);
                }
                Step::IndexDelete(k) | Step::IndexInsert(k) if k < self.indexes.len() => {
                    let row = expanded_row(self, old, &p.expanded)?;
                    self.indexes[k].codec.encode_entry(Source::Row(row), &old.key, &mut p.old_entry)?;
                    self.delete_entry(worker, txn, k, &p.old_entry, &mut p.scratch)?;
                    p.step = Step::IndexDelete(k + 1);
                }
                Step::IndexDelete(_) | Step::IndexInsert(_) => {
                    if self.blob_tree.is_some() {
                        let stored = self.stored_row(&old.payload)?;
                        blob::collect_externals(stored, |_| true, &mut p.freed).map_err(codec::corrupt)?;
                    }
                    p.step = Step::DeleteChunks;
                }
                Step::WriteChunks | Step::DeleteChunks | Step::Undo(_) | Step::Paused(_) => {
                    if !p.freed.is_empty() {
                        self.delete_chunks(worker, txn, &p.freed, &mut p.scratch, &mut p.place)?;
                    }
                    return Ok(WriteRow::Done);
                }
            }
        }
    }

    /// Removes the old entry of index `k` where the update changes it; gives the next step.
    fn update_delete_entry(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        k: usize,
        old: &RowBuf,
        changes: &[(usize, Value<'_>)],
        p: &mut Progress,
    ) -> txn::Result<Step> {
        let moves = p.key != old.key;
        if !moves && !p.unseen && !self.index_changes(k, changes) {
            return Ok(Step::IndexDelete(k + 1));
        }
        let codec = &self.indexes[k].codec;
        let row = expanded_row(self, old, &p.expanded)?;
        codec.encode_entry(Source::Row(row), &old.key, &mut p.old_entry)?;
        codec.encode_entry(Source::Changed(row, changes), &p.key, &mut p.entry)?;
        if p.old_entry != p.entry {
            self.delete_entry(worker, txn, k, &p.old_entry, &mut p.scratch)?;
            return Ok(p.then(k, Step::IndexInsert(k)));
        }
        if moves && codec.kind == IndexKind::Unique || p.unseen {
            // Same index key, other primary key: the entry points elsewhere now. Or W4.
            let tree = self.indexes[k].tree;
            let seen = txn.read_latest(worker, tree, &p.entry, &mut p.scratch)?.ok_or_else(codec::missing_entry)?;
            let payload = if codec.kind == IndexKind::Unique { &p.key[..] } else { &[] };
            if txn.update(worker, tree, &p.entry, seen, payload)? == WriteOutcome::Changed {
                return Err(codec::storage_error("an index entry was changed without its row"));
            }
        }
        Ok(Step::IndexDelete(k + 1))
    }

    /// Has index `k` several entries of a row?
    #[inline]
    fn has_entries(&self, k: usize) -> bool {
        self.indexes.get(k).is_some_and(|index| index.codec.multi.is_some())
    }

    fn change_entries(&self, worker: &Worker, txn: &mut Txn, k: usize, p: &mut Progress) -> txn::Result<InsertOutcome> {
        let Some(entries) = &mut p.entries else { return Err(codec::storage_error("entries were to be computed first")) };
        entries.go_on(self, worker, txn, k, p.unseen, &mut p.scratch)
    }

    /// Does a change of the version `seen` fall under W4?
    fn changes_unseen(&self, worker: &Worker, txn: &mut Txn, seen: Seen) -> bool {
        let unseen = self.indexes.len() > 1 && txn.is_unseen(worker, seen);
        if unseen {
            txn.note_changed_unseen();
        }
        unseen
    }

    /// Inserts the entry of index `k` for the row `source` with clustered key `key`.
    fn insert_entry(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        k: usize,
        source: Source<'_>,
        key: &[u8],
        entry: &mut Vec<u8>,
    ) -> txn::Result<InsertOutcome> {
        let index = &self.indexes[k];
        index.codec.encode_entry(source, key, entry)?;
        let payload = if index.codec.kind == IndexKind::Unique { key } else { &[] };
        let outcome = txn.insert(worker, index.tree, entry, payload)?;
        if outcome == InsertOutcome::Duplicate && index.codec.kind == IndexKind::Secondary {
            return Err(codec::storage_error("the index entry of a new row is there already"));
        }
        Ok(outcome)
    }

    pub(crate) fn delete_entry(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        k: usize,
        entry: &[u8],
        scratch: &mut Vec<u8>,
    ) -> txn::Result<()> {
        let tree = self.indexes[k].tree;
        let seen = txn.read_latest(worker, tree, entry, scratch)?.ok_or_else(codec::missing_entry)?;
        match txn.delete(worker, tree, entry, seen)? {
            WriteOutcome::Done => Ok(()),
            WriteOutcome::Changed => Err(codec::storage_error("an index entry was changed without its row")),
        }
    }

    pub(crate) fn clustered_key(&self, worker: &Worker, values: &[Value<'_>], key: &mut Vec<u8>) -> txn::Result<()> {
        key.clear();
        let clustered = &self.indexes[0];
        if clustered.codec.kind == IndexKind::HiddenRowId {
            let id = self.counters.next_row_id(worker, clustered.tree)?;
            key.extend_from_slice(&id.to_be_bytes());
            return Ok(());
        }
        clustered.codec.encode(Source::Values(values), key).map_err(codec::encode_error)?;
        Ok(())
    }

    /// Encodes a new row into `p.payload`, moving large values out where it does not fit.
    fn encode_row(&self, worker: &Worker, values: &[Value<'_>], p: &mut Progress) -> txn::Result<()> {
        p.payload.clear();
        p.externals.clear();
        let variable: usize = values.iter().map(value_bytes).sum();
        let mut bytes = p.key.len() + variable;
        if bytes <= RECORD_BYTES_MAX {
            self.layout.encode(values, &mut p.payload).map_err(codec::encode_error)?;
            bytes = p.key.len() + p.payload.len();
            if bytes <= RECORD_BYTES_MAX {
                return Ok(());
            }
            p.payload.clear();
        } else {
            // The fixed part and the offsets, about.
            bytes += self.overhead_bytes;
        }
        self.choose_externals(worker, bytes, |column| value_bytes(&values[column]), &mut p.externals)?;
        let externals = &p.externals;
        let field = |column| match externals.iter().find(|(c, _)| *c == column) {
            Some((_, reference)) => Field::External(*reference),
            None => Field::Value(&values[column]),
        };
        self.layout.encode_fields(field, &mut p.payload).map_err(codec::encode_error)
    }

    /// Encodes the changed row into `p.payload`; collects the blobs that come and go.
    fn encode_changed_row(
        &self,
        worker: &Worker,
        old: StoredRow<'_>,
        changes: &[(usize, Value<'_>)],
        p: &mut Progress,
    ) -> txn::Result<()> {
        p.payload.clear();
        p.externals.clear();
        p.freed.clear();
        if self.blob_tree.is_some() {
            let is_changed = |column| changes.iter().any(|(c, _)| *c == column);
            blob::collect_externals(old, is_changed, &mut p.freed).map_err(codec::corrupt)?;
        }
        let added: usize = changes.iter().map(|(_, value)| value_bytes(value)).sum();
        if added <= RECORD_BYTES_MAX {
            self.layout.encode_changed(old, changes, &mut p.payload).map_err(codec::encode_error)?;
            if p.key.len() + p.payload.len() <= RECORD_BYTES_MAX {
                return Ok(());
            }
            p.payload.clear();
        }
        self.encode_changed_large(worker, old, changes, p)
    }

    #[cold]
    fn encode_changed_large(
        &self,
        worker: &Worker,
        old: StoredRow<'_>,
        changes: &[(usize, Value<'_>)],
        p: &mut Progress,
    ) -> txn::Result<()> {
        // What is in the row now, the external references of kept columns left where they are.
        let length = |column: usize| match changes.iter().find(|(c, _)| *c == column) {
            Some((_, value)) => value_bytes(value),
            None => match old.external(column) {
                Ok(None) => old.variable_bytes(column).unwrap_or(0),
                _ => 0,
            },
        };
        let variable: usize = (0..self.layout.columns()).map(length).sum();
        let kept = (0..self.layout.columns()).filter(|c| matches!(old.external(*c), Ok(Some(_)))).count();
        let bytes = p.key.len() + variable + kept * types::row::EXTERNAL_BYTES + self.overhead_bytes;
        self.choose_externals(worker, bytes, length, &mut p.externals)?;
        let externals = &p.externals;
        let field = |column| {
            if let Some((_, reference)) = externals.iter().find(|(c, _)| *c == column) {
                return Field::External(*reference);
            }
            match changes.iter().find(|(c, _)| *c == column) {
                Some((_, value)) => Field::Value(value),
                None => Field::Stored(old),
            }
        };
        self.layout.encode_fields(field, &mut p.payload).map_err(codec::encode_error)
    }

    /// Does a change touch a column of index `k`?
    fn index_changes(&self, k: usize, changes: &[(usize, Value<'_>)]) -> bool {
        let codec = &self.indexes[k].codec;
        changes.iter().any(|(column, _)| codec.has_column(*column))
    }

    /// Is a large value of `old` part of a key that will be computed? `index(k)`: index `k` is concerned.
    fn needs_expansion(&self, old: &RowBuf, index: impl Fn(usize) -> bool) -> bool {
        if !self.has_externals(old) {
            return false;
        }
        let Ok(row) = StoredRow::new(&self.layout, &old.payload) else { return false };
        // A changed primary key moves all entries.
        let all = index(0);
        let is_external = |column: usize| matches!(row.external(column), Ok(Some(_)));
        if self
            .watch()
            .is_some_and(|watch| (0..self.layout.columns()).any(|column| watch.has_column(column) && is_external(column)))
        {
            return true;
        }
        self.indexes
            .iter()
            .enumerate()
            .filter(|(k, _)| all || index(*k))
            .any(|(_, i)| i.codec.parts().iter().any(|part| is_external(part.column)))
    }

    /// Loads the indexed large values of `old` into `p.expanded`. `false`: the row changed.
    #[cold]
    fn expand_indexed(&self, worker: &Worker, txn: &mut Txn, old: &RowBuf, p: &mut Progress) -> txn::Result<bool> {
        if p.expanded.payload.is_empty() {
            p.expanded.copy_from(old);
        }
        let watch = self.watch();
        let is_needed = |column| self.is_indexed(column) || watch.as_ref().is_some_and(|watch| watch.has_column(column));
        self.load_columns(worker, txn, RowRead::Latest, is_needed, &mut p.expanded)
    }
}

/// The old row, with its indexed large values: those that were loaded for it, or that its reader had loaded.
fn expanded_row<'a>(table: &'a Table, old: &'a RowBuf, expanded: &'a RowBuf) -> txn::Result<StoredRow<'a>> {
    table.stored_row(if expanded.payload.is_empty() { old.current() } else { expanded.current() })
}

fn reset_when_over<T>(outcome: &txn::Result<T>, is_paused: bool, progress: &mut Progress) {
    if !is_paused && !matches!(outcome, Err(Interrupt::Stall(_))) {
        progress.reset();
    }
}

fn value_bytes(value: &Value<'_>) -> usize {
    match value {
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}

fn bytes_of<'a>(value: &'a Value<'_>) -> txn::Result<&'a [u8]> {
    match value {
        Value::Bytes(bytes) => Ok(bytes),
        _ => Err(codec::storage_error("a large value is no string")),
    }
}
