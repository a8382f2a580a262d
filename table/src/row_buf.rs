//! Owned places for one row and for one key range, reused from row to row.

use crate::{StoredRow, Table};
use txn::Seen;

/// One row: its clustered key, its stored bytes, and the version it was read at. Buffers are kept from row to row.
#[derive(Default)]
pub struct RowBuf {
    pub(crate) key: Vec<u8>,
    pub(crate) payload: Vec<u8>,
    /// Index entries and chunks on the way to the row.
    pub(crate) scratch: Vec<u8>,
    pub(crate) seen: Option<Seen>,
    pub(crate) held_by_other: bool,
}

impl RowBuf {
    pub fn new() -> Self {
        Self::default()
    }

    /// The clustered key: identity of the row within its table.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The stored row as bytes.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The version read; present after a current read (`Latest` point, `read_current`, `lock_current`), which writes need.
    pub fn seen(&self) -> Option<Seen> {
        self.seen
    }

    /// A `Latest` scan met a row that another open transaction holds: lock it (or read it current) before judging it.
    pub fn held_by_other(&self) -> bool {
        self.held_by_other
    }

    /// The row as columns. Columns moved out of the row must have been loaded ([`Table::load_externals`]).
    pub fn row<'a>(&'a self, table: &'a Table) -> StoredRow<'a> {
        table.stored_row(&self.payload)
    }

    /// Takes over another buffer's row (key, bytes, version).
    pub fn copy_from(&mut self, other: &RowBuf) {
        self.key.clone_from(&other.key);
        self.payload.clone_from(&other.payload);
        self.seen = other.seen;
        self.held_by_other = other.held_by_other;
    }
}

/// An encoded key range of one index: `low <= key < high`; an empty `high` is the end of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedRange {
    pub low: Vec<u8>,
    pub high: Vec<u8>,
}
