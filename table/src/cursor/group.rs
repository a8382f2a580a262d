//! The rows of several index entries of a snapshot, read together: the cache misses of one are waited for with those of the others
//! (`Txn::read_many`).
//!
//! R1: after a stall the same call continues with the row that it stalled at; rows before it are kept.

use txn::{KeyList, TreeRef, Txn, Worker};

/// Rows that are read together.
pub(super) const GROUP_ROWS: usize = 16;

#[derive(Default)]
pub(super) struct Group {
    /// Clustered keys.
    keys: KeyList,
    /// So many of them have been looked for (R1).
    read: usize,
    /// Where each one's payload lies in `bytes`; `None`: it is not visible.
    rows: Vec<Option<(usize, usize)>>,
    bytes: Vec<u8>,
    payload: Vec<u8>,
    /// The next row to be given.
    next: usize,
}

impl Group {
    pub fn clear(&mut self) {
        self.keys.clear();
        self.rows.clear();
        self.bytes.clear();
        (self.read, self.next) = (0, 0);
    }

    /// Are there rows that have not been given?
    #[inline]
    pub fn has_rest(&self) -> bool {
        self.next < self.keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub fn is_full(&self) -> bool {
        self.keys.len() == GROUP_ROWS
    }

    /// Adds the row of a clustered key.
    pub fn push(&mut self, clustered: &[u8]) {
        let pushed: Result<(), std::convert::Infallible> = self.keys.push_with(|bytes| {
            bytes.extend_from_slice(clustered);
            Ok(())
        });
        let Ok(()) = pushed;
    }

    /// Reads the rows that are not read yet.
    ///
    /// # Errors
    /// A stall while a page is read; damage.
    pub fn read(&mut self, worker: &Worker, txn: &mut Txn, tree: TreeRef) -> txn::Result<()> {
        let Self { keys, read, rows, bytes, payload, .. } = self;
        if *read == keys.len() {
            return Ok(());
        }
        txn.read_many(worker, tree, keys, read, payload, |_, found| {
            rows.push(found.map(|found| {
                let from = bytes.len();
                bytes.extend_from_slice(found);
                (from, bytes.len())
            }));
            true
        })
    }

    /// Has the pages of the rows that are not read yet brought into memory.
    #[cold]
    pub fn fetch_rest(&self, worker: &Worker, tree: TreeRef) {
        (self.read..self.keys.len()).for_each(|n| worker.fetch_leaf(tree, self.keys.get(n)));
    }

    /// The next visible row: its key and its payload. After [`Self::read`].
    #[inline]
    pub fn next_row(&mut self) -> Option<(&[u8], &[u8])> {
        while let Some(place) = self.rows.get(self.next) {
            self.next += 1;
            if let Some((from, to)) = *place {
                return Some((self.keys.get(self.next - 1), &self.bytes[from..to]));
            }
        }
        None
    }
}
