//! What readers of the write-ahead log must know of the catalog tree and of the trees of large values: the binary log is one.
//!
//! V1: a transaction's rows belong to the definitions that were committed before it. A definition takes the metadata lock of its
//! table alone, and is published when it is durable, so no transaction that used the table overlaps its commit.

use crate::blob::{CHUNK_BYTES, chunk_key, chunks_of};
use crate::catalog::{KIND_ORPHAN, KIND_TABLE, blocking, parse_table};
use crate::{Database, Error, Result, codec};
use std::sync::Arc;
use txn::{Isolation, ReadMode, Scan, TreeRef, Worker};
use types::row::ExternalRef;
use types::schema::TableDef;

/// A record of the catalog tree that concerns trees of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CatalogKey {
    /// A piece of the definition of this table.
    Table { id: u64, piece: u16 },
    /// A tree of no table.
    Orphan { tree: u32 },
}

impl CatalogKey {
    /// `None`: another record.
    pub fn parse(key: &[u8]) -> Option<Self> {
        match key {
            [KIND_TABLE, rest @ ..] => {
                let (id, piece) = rest.split_first_chunk::<8>()?;
                Some(Self::Table { id: u64::from_be_bytes(*id), piece: u16::from_be_bytes(piece.try_into().ok()?) })
            }
            [KIND_ORPHAN, rest @ ..] => Some(Self::Orphan { tree: u32::from_be_bytes(*rest.first_chunk()?) }),
            _ => None,
        }
    }
}

/// The definition whose pieces, joined, are `json`, and its tree of large values.
///
/// # Errors
/// Bytes that are no definition of table `id`.
pub fn table_of(id: u64, json: &[u8]) -> Result<(Arc<TableDef>, Option<TreeRef>)> {
    let stored = parse_table(id, json)?;
    Ok((stored.def, stored.blob_tree))
}

/// The large value and the number of the chunk that a key in a tree of large values names.
pub fn chunk_of_key(key: &[u8]) -> Option<(u64, u32)> {
    let (blob, chunk) = key.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*blob), u32::from_be_bytes(chunk.try_into().ok()?)))
}

/// How many chunks a value of this length has.
pub fn chunks_in(length: u64) -> u32 {
    chunks_of(length)
}

/// Bytes of a whole chunk.
pub const LARGE_CHUNK_BYTES: usize = CHUNK_BYTES;

/// Reads a large value as it is committed now; `None`: it has been deleted, or a part of it. Blocks.
///
/// # Errors
/// I/O; damage.
pub fn read_large(worker: &Worker, tree: TreeRef, reference: ExternalRef) -> Result<Option<Vec<u8>>> {
    worker.tick();
    let mut txn = worker.begin(Isolation::ReadCommitted);
    let high = reference.blob.checked_add(1).map_or(Vec::new(), |next| chunk_key(next, 0).to_vec());
    let mut scan = Scan::new(tree, &chunk_key(reference.blob, 0), &high, false, ReadMode::Snapshot);
    let mut bytes = Vec::new();
    let filled = loop {
        match blocking(|| scan.fill(&mut txn, worker, 64)) {
            Ok(true) => {
                while let Some(chunk) = scan.next_row() {
                    bytes.extend_from_slice(chunk.payload);
                }
            }
            Ok(false) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    let ended = blocking(|| txn.rollback(worker));
    worker.park();
    match filled {
        Ok(()) => {}
        // Its tree was dropped.
        Err(error) if is_gone(&error) => return ended.map(|()| None).map_err(Error::from),
        Err(error) => return Err(error.into()),
    }
    ended?;
    Ok((bytes.len() as u64 == reference.length).then_some(bytes))
}

fn is_gone(error: &txn::Error) -> bool {
    matches!(error, txn::Error::Storage(_))
}

impl Database {
    /// The records of the catalog that say which tree belongs to which table, as they are now. Blocks.
    ///
    /// # Errors
    /// I/O; damage.
    pub fn tree_records(&self, worker: &Worker) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        worker.tick();
        let mut txn = worker.begin(Isolation::ReadCommitted);
        let mut scan = Scan::new(worker.engine().catalog_tree(), &[], &[], false, ReadMode::Snapshot);
        let mut records = Vec::new();
        let filled = loop {
            match blocking(|| scan.fill(&mut txn, worker, 256)) {
                Ok(true) => {
                    while let Some(row) = scan.next_row() {
                        if CatalogKey::parse(row.key).is_some() {
                            records.push((row.key.to_vec(), row.payload.to_vec()));
                        }
                    }
                }
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        let ended = blocking(|| txn.rollback(worker));
        worker.park();
        filled?;
        ended?;
        Ok(records)
    }
}

/// Damaged bytes of a row, as an error of this crate.
pub fn row_error(error: types::Error) -> Error {
    match codec::corrupt(error) {
        txn::Interrupt::Error(error) => error.into(),
        txn::Interrupt::Stall(_) => Error::NotSupported { what: "waiting for bytes of a row" },
    }
}
