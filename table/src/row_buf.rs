//! Owned buffers for one row and for one key range, reused from row to row.

use crate::blob::Load;
use crate::{StoredRow, Table};
use txn::{ScanRow, Seen};

/// One row: its clustered key, its stored bytes, and the version it was read at. Buffers are kept from row to row.
#[derive(Default)]
pub struct RowBuf {
    pub(crate) key: Vec<u8>,
    pub(crate) payload: Vec<u8>,
    /// The row with large values brought back in; empty where that was not needed. Writes go by `payload`, which has the references.
    pub(crate) expanded: Vec<u8>,
    pub(crate) load: Load,
    /// Encoded index key on the way to the row.
    pub(crate) entry: Vec<u8>,
    pub(crate) seen: Option<Seen>,
    pub(crate) held_by_other: bool,
}

impl RowBuf {
    pub const fn new() -> Self {
        Self {
            key: Vec::new(),
            payload: Vec::new(),
            expanded: Vec::new(),
            load: Load::new(),
            entry: Vec::new(),
            seen: None,
            held_by_other: false,
        }
    }

    /// The clustered key: identity of the row within its table.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Names a row by a clustered key kept from an earlier read, for [`Table::reread`].
    pub fn set_key(&mut self, key: &[u8]) {
        self.clear();
        self.key.extend_from_slice(key);
    }

    /// The stored row as bytes.
    pub fn payload(&self) -> &[u8] {
        &self.payload
    }

    /// The version read; present after a current read (`Latest` point, `reread`, `lock_current`), which writes need.
    pub fn seen(&self) -> Option<Seen> {
        self.seen
    }

    /// A `Latest` scan met a row that another open transaction holds: lock it (or read it current) before judging it.
    pub fn held_by_other(&self) -> bool {
        self.held_by_other
    }

    /// The row as columns. Large columns that were moved out of the row answer `types::Error::External` until they are loaded
    /// ([`Table::load_externals`]).
    ///
    /// # Panics
    /// When the buffer holds no row.
    #[inline]
    pub fn row<'a>(&'a self, table: &'a Table) -> StoredRow<'a> {
        StoredRow::new(&table.layout, self.current()).expect("every read checks the row's head")
    }

    /// Takes over another buffer's row (key, bytes, version).
    pub fn copy_from(&mut self, other: &RowBuf) {
        self.key.clone_from(&other.key);
        self.payload.clone_from(&other.payload);
        self.expanded.clone_from(&other.expanded);
        self.load.clear();
        self.seen = other.seen;
        self.held_by_other = other.held_by_other;
    }

    /// The row's bytes, with the large values that were loaded.
    #[inline]
    pub(crate) fn current(&self) -> &[u8] {
        if self.expanded.is_empty() { &self.payload } else { &self.expanded }
    }

    pub(crate) fn clear(&mut self) {
        self.key.clear();
        self.payload.clear();
        self.forget_version();
    }

    /// Takes the row of a scan of the clustered index.
    #[inline]
    pub(crate) fn take(&mut self, found: &ScanRow<'_>) {
        self.forget_version();
        self.key.clear();
        self.key.extend_from_slice(found.prefix);
        self.key.extend_from_slice(found.key);
        self.payload.clear();
        self.payload.extend_from_slice(found.payload);
        self.held_by_other = found.held_by_other;
        self.seen = found.seen;
    }

    /// Another version is about to be read into `payload`.
    #[inline]
    pub(crate) fn forget_version(&mut self) {
        self.expanded.clear();
        self.load.clear();
        self.seen = None;
        self.held_by_other = false;
    }
}

/// An encoded key range of one index: `low <= key < high`; an empty `high` is the end of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EncodedRange {
    pub low: Vec<u8>,
    pub high: Vec<u8>,
}

impl EncodedRange {
    pub fn contains(&self, key: &[u8]) -> bool {
        self.low.as_slice() <= key && (self.high.is_empty() || key < self.high.as_slice())
    }
}
