//! Large values: columns of rows over the record limit, stored outside of the row as chunks in the table's blob tree.
//!
//! A chunk's key is (blob id u64, chunk number u32), both big-endian; its payload is the next `CHUNK_BYTES` of the
//! value. The row keeps a reference of `EXTERNAL_BYTES` (id and length). The row's transaction inserts and deletes
//! chunks like index entries, so a snapshot that sees the row sees its chunks.
//!
//! B1: a blob is written once and never changed; a new value is a new blob.
//! B2: a blob belongs to exactly one row; an update that keeps the column keeps the reference.
//! B3: the blobs of a column that was dropped without a rebuild stay until their row is changed or deleted
//!     (`types::row::history`, H5).

use crate::{RowBuf, RowRead, Table, codec};
use std::cmp::Reverse;
use txn::{Interrupt, Isolation, RECORD_BYTES_MAX, ReadMode, Scan, TreeRef, Txn, Worker, WriteOutcome};
use types::Value;
use types::row::{EXTERNAL_BYTES, ExternalRef, Field, StoredRow};

const CHUNK_KEY_BYTES: usize = 12;
/// Four chunks fill a page.
pub(crate) const CHUNK_BYTES: usize = RECORD_BYTES_MAX - CHUNK_KEY_BYTES - 8;
/// A shorter value gains nothing from being moved.
const EXTERNALIZE_BYTES_MIN: usize = EXTERNAL_BYTES + 1;

/// The place within the chunks of several blobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChunkPlace {
    pub blob: usize,
    pub chunk: u32,
}

/// A load of external columns that may be cut by stalls. Kept in the row buffer.
#[derive(Default)]
pub(crate) struct Load {
    /// (column, bytes so far); the last one may be incomplete.
    columns: Vec<(usize, Vec<u8>)>,
    scan: Option<Scan>,
}

impl Load {
    pub const fn new() -> Self {
        Self { columns: Vec::new(), scan: None }
    }

    pub fn clear(&mut self) {
        self.columns.clear();
        self.scan = None;
    }
}

pub(crate) fn chunk_key(blob: u64, chunk: u32) -> [u8; CHUNK_KEY_BYTES] {
    let mut key = [0; CHUNK_KEY_BYTES];
    key[..8].copy_from_slice(&blob.to_be_bytes());
    key[8..].copy_from_slice(&chunk.to_be_bytes());
    key
}

pub(crate) fn chunks_of(length: u64) -> u32 {
    length.div_ceil(CHUNK_BYTES as u64) as u32
}

impl Table {
    /// Does this row hold columns in the blob tree? (Then `load_externals` before looking at them.)
    #[inline]
    pub fn has_externals(&self, row: &RowBuf) -> bool {
        self.blob_tree.is_some() && StoredRow::new(&self.layout, row.current()).is_ok_and(|row| row.has_external())
    }

    /// How many chunks the row's large values have.
    pub(crate) fn chunks_of_row(&self, row: &RowBuf) -> u64 {
        let Ok(stored) = StoredRow::new(&self.layout, &row.payload) else { return 0 };
        let mut found = Vec::new();
        // An unreadable value is reported elsewhere.
        let _ = collect_externals(stored, |_| true, &mut found);
        found.iter().map(|reference| u64::from(chunks_of(reference.length))).sum()
    }

    /// Brings the wanted columns (`wanted[column]`) that were moved out of the row back into `row`, so that `row.row()` decodes them.
    /// Restartable, and nothing to do for most rows. `false`: the row changed meanwhile (not with snapshots): read it again.
    #[inline]
    pub fn load_externals(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        how: RowRead,
        wanted: &[bool],
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        if !self.has_externals(row) {
            return Ok(true);
        }
        self.load_columns(worker, txn, how, |column| wanted.get(column).copied().unwrap_or(false), row)
    }

    #[cold]
    pub(crate) fn load_columns(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        how: RowRead,
        wanted: impl Fn(usize) -> bool,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        if !self.has_externals(row) {
            return Ok(true);
        }
        let tree = self.blob_tree_checked()?;
        for column in (0..self.layout.columns()).filter(|column| wanted(*column)) {
            let stored = self.stored_row(row.current())?;
            let Some(reference) = stored.external(column).map_err(codec::corrupt)? else { continue };
            let load = &mut row.load;
            if load.columns.last().is_none_or(|(c, _)| *c != column) {
                if load.columns.iter().any(|(c, _)| *c == column) {
                    continue;
                }
                load.columns.push((column, Vec::new()));
            }
            match load_blob(worker, txn, tree, reference, how, load) {
                Ok(true) => load.scan = None,
                Ok(false) => {
                    load.clear();
                    if how == RowRead::Snapshot && txn.isolation() != Isolation::ReadUncommitted {
                        return Err(codec::storage_error("a large value is missing or incomplete"));
                    }
                    return Ok(false);
                }
                Err(interrupt) => return Err(interrupt),
            }
        }
        self.expand(row)
    }

    /// Builds the row with the loaded columns in place.
    fn expand(&self, row: &mut RowBuf) -> txn::Result<bool> {
        let mut expanded = Vec::new();
        let stored = self.stored_row(row.current())?;
        let loaded: Vec<(usize, Value<'_>)> =
            row.load.columns.iter().map(|(column, bytes)| (*column, Value::Bytes(bytes.as_slice().into()))).collect();
        let field = |column| match loaded.iter().find(|(c, _)| *c == column) {
            Some((_, value)) => Field::Value(value),
            None => Field::Stored(stored),
        };
        self.layout.encode_fields(field, &mut expanded).map_err(codec::encode_error)?;
        drop(loaded);
        row.load.clear();
        row.expanded = expanded;
        Ok(true)
    }

    pub(crate) fn blob_tree_checked(&self) -> txn::Result<TreeRef> {
        self.blob_tree.ok_or_else(|| codec::storage_error("a row refers to a large value, but its table has none"))
    }

    /// Chooses the columns to move out so that the row fits, longest first, indexed ones last. `length(column)` is the length of
    /// a column whose bytes are in the row now. Ids are taken from the table's counter; `externals` is what was chosen.
    #[cold]
    pub(crate) fn choose_externals(
        &self,
        worker: &Worker,
        row_bytes: usize,
        length: impl Fn(usize) -> usize,
        externals: &mut Vec<(usize, ExternalRef)>,
    ) -> txn::Result<()> {
        externals.clear();
        let Some(tree) = self.blob_tree else { return Err(Interrupt::Error(txn::Error::TooLarge { bytes: row_bytes })) };
        let mut candidates: Vec<(bool, Reverse<usize>, usize)> = (0..self.layout.columns())
            .filter(|column| self.layout.is_variable(*column))
            .map(|column| (self.is_indexed(column), Reverse(length(column)), column))
            .filter(|(_, Reverse(bytes), _)| *bytes >= EXTERNALIZE_BYTES_MIN)
            .collect();
        candidates.sort_unstable();
        let mut left = row_bytes;
        for (_, Reverse(bytes), column) in candidates {
            if left <= RECORD_BYTES_MAX {
                break;
            }
            let blob = self.counters.next_blob_id(worker, tree)?;
            externals.push((column, ExternalRef { blob, length: bytes as u64 }));
            left = left - bytes + EXTERNAL_BYTES;
        }
        if left <= RECORD_BYTES_MAX { Ok(()) } else { Err(Interrupt::Error(txn::Error::TooLarge { bytes: left })) }
    }

    /// Inserts the chunks of `externals` from `place` on; `bytes(column)` is the whole value.
    #[cold]
    pub(crate) fn write_chunks<'a>(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        externals: &[(usize, ExternalRef)],
        bytes: impl Fn(usize) -> txn::Result<&'a [u8]>,
        place: &mut ChunkPlace,
    ) -> txn::Result<()> {
        let tree = self.blob_tree_checked()?;
        while let Some((column, reference)) = externals.get(place.blob) {
            let value = bytes(*column)?;
            let chunks = value.chunks(CHUNK_BYTES).enumerate().skip(place.chunk as usize);
            for (number, chunk) in chunks {
                let outcome = txn.insert(worker, tree, &chunk_key(reference.blob, number as u32), chunk)?;
                if outcome != txn::InsertOutcome::Inserted {
                    return Err(codec::storage_error("the id of a new large value is in use"));
                }
                place.chunk = number as u32 + 1;
            }
            *place = ChunkPlace { blob: place.blob + 1, chunk: 0 };
        }
        Ok(())
    }

    /// Deletes the chunks of `blobs` from `place` on. The caller's transaction holds the row they belong to.
    #[cold]
    pub(crate) fn delete_chunks(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        blobs: &[ExternalRef],
        scratch: &mut Vec<u8>,
        place: &mut ChunkPlace,
    ) -> txn::Result<()> {
        let tree = self.blob_tree_checked()?;
        while let Some(reference) = blobs.get(place.blob) {
            while place.chunk < chunks_of(reference.length) {
                let key = chunk_key(reference.blob, place.chunk);
                let Some(seen) = txn.read_latest(worker, tree, &key, scratch)? else {
                    return Err(codec::storage_error("a chunk of a large value is missing"));
                };
                if txn.delete(worker, tree, &key, seen)? == WriteOutcome::Changed {
                    return Err(codec::storage_error("a large value was changed without its row"));
                }
                place.chunk += 1;
            }
            *place = ChunkPlace { blob: place.blob + 1, chunk: 0 };
        }
        Ok(())
    }
}

/// Adds the blobs of these columns, and of dropped ones: those that a rewritten row releases.
pub(crate) fn collect_externals(
    row: StoredRow<'_>,
    wanted: impl Fn(usize) -> bool,
    found: &mut Vec<ExternalRef>,
) -> types::Result<()> {
    if !row.has_external() {
        return Ok(());
    }
    for column in (0..row.layout().columns()).filter(|column| wanted(*column)) {
        found.extend(row.external(column)?);
    }
    row.dropped_externals(found)
}

/// Appends a blob's chunks to the last column of `load`. `false`: chunks are missing or held by another transaction.
fn load_blob(
    worker: &Worker,
    txn: &mut Txn,
    tree: TreeRef,
    reference: ExternalRef,
    how: RowRead,
    load: &mut Load,
) -> txn::Result<bool> {
    let (_, bytes) = load.columns.last_mut().expect("the caller added the column");
    let scan = load.scan.get_or_insert_with(|| {
        let mode = if how == RowRead::Snapshot { ReadMode::Snapshot } else { ReadMode::Latest };
        let high = reference.blob.checked_add(1).map_or(Vec::new(), |next| chunk_key(next, 0).to_vec());
        Scan::new(tree, &chunk_key(reference.blob, 0), &high, false, mode)
    });
    while scan.fill(txn, worker, 64)? {
        while let Some(chunk) = scan.next_row() {
            let expected = chunk_key(reference.blob, (bytes.len() / CHUNK_BYTES) as u32);
            let is_next = chunk.key == expected && bytes.len() % CHUNK_BYTES == 0 && !chunk.held_by_other;
            if !is_next {
                return Ok(false);
            }
            bytes.extend_from_slice(chunk.payload);
        }
    }
    Ok(bytes.len() as u64 == reference.length)
}
