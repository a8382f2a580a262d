//! The rows of several index entries of a snapshot, read together: the cache misses of one are waited for with those of the others
//! (`Txn::read_many`).
//!
//! R1: of a scan the first few rows are read one by one, so a statement that wants no more reads no more.
//! R2: after a stall the same call continues with the row that it stalled at; rows before it are kept.

use super::{BATCH_ROWS, RowCursor};
use crate::{RowBuf, Table};
use txn::{KeyList, ReadMode, Txn, Worker};

/// Entries whose rows are read one by one (R1).
const SINGLE_ROWS: u32 = 4;
/// Rows that are read together.
const GROUP_ROWS: usize = 16;
const _: () = assert!(GROUP_ROWS <= BATCH_ROWS);

#[derive(Default)]
pub(super) struct Group {
    /// Clustered keys.
    keys: KeyList,
    /// So many of them have been looked for (R2).
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
}

impl RowCursor {
    /// May rows be read together now?
    #[inline]
    pub(super) fn reads_groups(&self, txn: &Txn) -> bool {
        self.mode == ReadMode::Snapshot
            && self.taken >= SINGLE_ROWS
            && self.batch >= GROUP_ROWS
            && !self.pending
            && !txn.has_changed_unseen()
    }

    /// The next row, of a group; `false`: the batch of entries is used up.
    pub(super) fn next_of_group(&mut self, table: &Table, worker: &Worker, txn: &mut Txn, row: &mut RowBuf) -> txn::Result<bool> {
        loop {
            self.read_group(table, worker, txn)?;
            while let Some(place) = self.group.rows.get(self.group.next) {
                let key = self.group.keys.get(self.group.next);
                self.group.next += 1;
                let Some((from, to)) = *place else { continue };
                row.forget_version();
                row.key.clear();
                row.key.extend_from_slice(key);
                row.payload.clear();
                row.payload.extend_from_slice(&self.group.bytes[from..to]);
                // `RowBuf::row` relies on it.
                table.stored_row(&row.payload)?;
                return Ok(true);
            }
            if !self.reads_groups(txn) || !self.begin_group(table)? {
                return Ok(false);
            }
        }
    }

    /// Takes the next entries out of the batch; `false`: it has none.
    fn begin_group(&mut self, table: &Table) -> txn::Result<bool> {
        self.group.clear();
        let codec = &table.indexes[self.index].codec;
        let scan = self.scan.as_mut().expect("opened before next");
        while self.group.keys.len() < GROUP_ROWS
            && let Some(found) = scan.next_row()
        {
            let clustered = codec.clustered_key(found.key, found.payload)?;
            self.group.keys.push_with(|bytes| txn::Result::Ok(bytes.extend_from_slice(clustered)))?;
        }
        Ok(!self.group.keys.is_empty())
    }

    /// Reads the rows of the group that are not read yet.
    fn read_group(&mut self, table: &Table, worker: &Worker, txn: &mut Txn) -> txn::Result<()> {
        let Group { keys, read, rows, bytes, payload, .. } = &mut self.group;
        if *read == keys.len() {
            return Ok(());
        }
        let outcome = txn.read_many(worker, table.indexes[0].tree, keys, read, payload, |_, found| {
            rows.push(found.map(|found| {
                let from = bytes.len();
                bytes.extend_from_slice(found);
                (from, bytes.len())
            }));
            true
        });
        if outcome.is_err() && !self.fetched {
            (self.group.read..self.group.keys.len())
                .for_each(|n| worker.fetch_leaf(table.indexes[0].tree, self.group.keys.get(n)));
            self.fetch_rest(table, worker);
        }
        outcome
    }
}
