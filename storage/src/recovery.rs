//! Redo: brings every page to the state that the log describes, and finds the transactions that did not end.
//!
//! - Epochs are read from the checkpoint to the last complete one.
//! - Within an epoch each page's changes are ordered by LSN (records of one page may stand in several workers' chunks).
//! - Each change is applied to its page unless the page's LSN says that it is there already.
//! - Redo remembers the row changes of every transaction that has neither a COMMIT nor an ABORTED record: `txn` undoes them by key.

use crate::error::blocking;
use crate::page::{Page, PageId};
use crate::space::change_bits;
use crate::wal::record::{self, PartOp, Record, RowChange};
use crate::wal::{LogReader, chunks};
use crate::{Error, Lsn, Store, TreeRef};
use std::collections::HashMap;

/// A logged row change to be undone by key.
#[derive(Clone, Debug)]
pub struct UndoChange {
    pub tree: TreeRef,
    pub key: Vec<u8>,
    /// Restore this; `None`: remove the record.
    pub old: Option<(crate::page::RecordHeader, Vec<u8>)>,
}

/// What redo found out.
#[derive(Debug, Default)]
pub struct Recovered {
    pub clock: u64,
    pub txn_sequence: u64,
    /// Transactions without an end, by id, their changes in the order they were made.
    pub losers: HashMap<u64, Vec<UndoChange>>,
    pub log_bytes: u64,
    pub torn_pages: usize,
    /// The last epoch in the log.
    pub epoch: u64,
}

enum Change<'a> {
    Row(RowChange<'a>),
    Part(PartOp<'a>),
}

/// Reads the log and redoes it. `from`: the checkpoint's epoch; `sequence_of`: the sequence number within a transaction id.
pub(crate) fn redo(
    store: &Store,
    reader: &mut LogReader,
    recovered: &mut Recovered,
    from: u64,
    sequence_of: impl Fn(u64) -> u64,
) -> Result<(), Error> {
    let mut payload = Vec::new();
    let mut shown = std::time::Instant::now();
    while let Some(epoch) = reader.next_epoch(&mut payload)? {
        recovered.epoch = recovered.epoch.max(epoch);
        redo_epoch(store, &payload, recovered, from, &sequence_of)?;
        if shown.elapsed().as_secs() >= 1 {
            eprintln!("heddle: recovery: {} MiB of log applied", reader.bytes_read() >> 20);
            shown = std::time::Instant::now();
        }
    }
    recovered.log_bytes = reader.bytes_read();
    Ok(())
}

fn redo_epoch(
    store: &Store,
    payload: &[u8],
    recovered: &mut Recovered,
    from: u64,
    sequence_of: &impl Fn(u64) -> u64,
) -> Result<(), Error> {
    let mut changes: Vec<(PageId, Lsn, Change<'_>)> = Vec::new();
    for mut chunk in chunks(payload) {
        while let Some(record) = record::read(&mut chunk)? {
            match record {
                Record::Row { page, lsn, change } => {
                    recovered.txn_sequence = recovered.txn_sequence.max(sequence_of(change.txn));
                    if !change.compensation {
                        let old = change.old.map(|(header, payload)| (header, payload.to_vec()));
                        let undo = UndoChange { tree: change.tree, key: change.key.to_vec(), old };
                        recovered.losers.entry(change.txn).or_default().push(undo);
                    }
                    changes.push((page, lsn, Change::Row(change)));
                }
                Record::Structure(parts) => {
                    changes.extend(parts.into_iter().map(|p| (p.page, p.lsn, Change::Part(p.op))));
                }
                Record::Commit { txn, timestamp } => {
                    recovered.clock = recovered.clock.max(timestamp);
                    recovered.txn_sequence = recovered.txn_sequence.max(sequence_of(txn));
                    recovered.losers.remove(&txn);
                }
                Record::Aborted { txn } => {
                    recovered.losers.remove(&txn);
                }
            }
        }
    }
    // Stable, and LSNs of one page are distinct: each page's changes in the order they were made.
    changes.sort_by_key(|(_, lsn, _)| *lsn);
    changes.iter().try_for_each(|(page, lsn, change)| redo_change(store, *page, *lsn, change, from))
}

fn redo_change(store: &Store, id: PageId, lsn: Lsn, change: &Change<'_>, from: u64) -> Result<(), Error> {
    let page = match change {
        Change::Part(PartOp::Image(_)) => blocking(|| store.pool.create(id))?,
        _ => blocking(|| store.pool.latch(id))?,
    };
    if page.page.lsn() >= lsn {
        return Ok(());
    }
    // The change is in the log from the checkpoint's epoch on, so that is where it would have to be read again.
    page.mark_dirty(from);
    let applied = apply(page.page, change);
    page.set_lsn(lsn);
    if applied { Ok(()) } else { Err(Error::Corrupt { page: id, why: "the log does not fit the page".into() }) }
}

fn apply(page: Page<'_>, change: &Change<'_>) -> bool {
    match change {
        Change::Row(row) => page.covers(row.key) && record::apply_row(page, row).is_ok(),
        Change::Part(PartOp::Image(image)) => page.restore(image),
        Change::Part(PartOp::Truncate { keep, high }) => {
            let fits = usize::from(*keep) <= page.slots();
            if fits {
                page.truncate(usize::from(*keep), high);
            }
            fits
        }
        Change::Part(PartOp::InsertChild { key, child }) => {
            let fits = page.covers(key) && page.has_room(page.search(key), crate::page::FROZEN, key, 4);
            if fits {
                crate::btree::insert_child(page, key, *child);
            }
            fits
        }
        Change::Part(PartOp::SetBits(bits)) => {
            change_bits(page, bits, true);
            true
        }
        Change::Part(PartOp::ClearBits(bits)) => {
            change_bits(page, bits, false);
            true
        }
    }
}
