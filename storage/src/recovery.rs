//! Recovery: brings every page to the state that the log describes, and finds what transactions without an end have changed.
//!
//! - Epochs are read from the checkpoint to the last complete one, and redone in batches of some megabytes. In a batch each page belongs to one
//!   thread, which applies the page's changes ordered by LSN (records of one page may stand in several workers' chunks).
//! - Each change is applied to its page unless the page's LSN says that it is there already.
//! - A transaction that has neither a COMMIT nor an ABORTED record is a *loser*. Its changes are not remembered (it may be a large one): when redo
//!   is done, the log is read once more, backwards epoch by epoch, and `txn` undoes them by key.
//!
//! R1: changes of different pages commute, also the parts of one STRUCTURE record: nothing reads pages before redo is done.

use crate::error::blocking;
use crate::page::{Page, PageId};
use crate::space::change_bits;
use crate::wal::record::{self, PartOp, Record, RowChange};
use crate::wal::{LogPlace, LogReader, chunks};
use crate::{Error, Lsn, Store};
use os::time::Instant;
use std::collections::HashMap;
use std::path::PathBuf;

/// Log redone at a time.
const BATCH_BYTES: usize = if cfg!(sim) { 64 << 10 } else { 8 << 20 };
/// More threads than this find no more to do at once.
const THREADS_MAX: usize = 16;

/// What recovery found out.
#[derive(Debug, Default)]
pub struct Recovered {
    pub clock: u64,
    pub txn_sequence: u64,
    /// Transactions without an end: id -> which of the epochs read is the first with a change of it.
    pub losers: HashMap<u64, usize>,
    pub log_bytes: u64,
    pub torn_pages: usize,
    /// Above every page that the log names: the file had grown as far.
    pub(crate) pages_end: PageId,
    /// The last epoch in the log.
    pub epoch: u64,
    pub(crate) log_dir: PathBuf,
    /// Where each epoch begins.
    pub(crate) places: Vec<LogPlace>,
}

enum Change<'a> {
    Row(RowChange<'a>),
    Part(PartOp<'a>),
}

/// A line of progress each second.
struct Progress(Instant);

impl Progress {
    fn show(&mut self, what: &str, bytes: u64) {
        if self.0.elapsed().as_secs() >= 1 {
            eprintln!("heddle: recovery: {} MiB of log {what}", bytes >> 20);
            self.0 = Instant::now();
        }
    }
}

/// Reads the log and redoes it. `from`: the checkpoint's epoch; `sequence_of`: the sequence number within a transaction id.
pub(crate) fn redo(
    store: &Store,
    reader: &mut LogReader,
    recovered: &mut Recovered,
    from: u64,
    sequence_of: impl Fn(u64) -> u64,
) -> Result<(), Error> {
    let mut progress = Progress(Instant::now());
    let mut batch: Vec<Vec<u8>> = Vec::new();
    let (mut bytes, mut first) = (0, 0);
    loop {
        let mut payload = Vec::new();
        let more = reader.next_epoch(&mut payload)?.is_some();
        if more {
            bytes += payload.len();
            batch.push(payload);
        }
        if bytes >= BATCH_BYTES || !more {
            redo_batch(store, &batch, first, recovered, from, &sequence_of)?;
            first += batch.len();
            batch.clear();
            bytes = 0;
            progress.show("applied", reader.bytes_read());
        }
        if !more {
            recovered.log_bytes = reader.bytes_read();
            return Ok(());
        }
    }
}

/// Redoes some epochs; the first of them is the one at `first` in `recovered.places`.
fn redo_batch(
    store: &Store,
    batch: &[Vec<u8>],
    first: usize,
    recovered: &mut Recovered,
    from: u64,
    sequence_of: &impl Fn(u64) -> u64,
) -> Result<(), Error> {
    let threads = os::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let mut shares: Vec<Vec<(PageId, Lsn, Change<'_>)>> = (0..threads).map(|_| Vec::new()).collect();
    let mut share = |page: PageId, lsn: Lsn, change| {
        recovered.pages_end = recovered.pages_end.max(page.saturating_add(1));
        shares[page as usize % threads].push((page, lsn, change));
    };
    for (index, payload) in batch.iter().enumerate() {
        for mut chunk in chunks(payload) {
            while let Some(record) = record::read(&mut chunk)? {
                match record {
                    Record::Row { page, lsn, change } => {
                        recovered.txn_sequence = recovered.txn_sequence.max(sequence_of(change.txn));
                        if !change.compensation {
                            recovered.losers.entry(change.txn).or_insert(first + index);
                        }
                        share(page, lsn, Change::Row(change));
                    }
                    Record::Structure(parts) => parts.into_iter().for_each(|p| share(p.page, p.lsn, Change::Part(p.op))),
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
    }
    let work = |mut changes: Vec<(PageId, Lsn, Change<'_>)>| {
        // LSNs of one page are distinct and grow: each page's changes in the order they were made.
        changes.sort_unstable_by_key(|(page, lsn, _)| (*page, *lsn));
        changes.iter().try_for_each(|(page, lsn, change)| redo_change(store, *page, *lsn, change, from))
    };
    os::thread::scope(|scope| {
        let threads: Vec<_> =
            shares.into_iter().filter(|share| !share.is_empty()).map(|share| scope.spawn(|| work(share))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("redo does not panic"))
    })
}

/// Gives every change of the losers to `undo`, each transaction's from the last to the first.
///
/// # Errors
/// Those of `undo`; a log that cannot be read any more.
pub fn undo_losers(recovered: &Recovered, mut undo: impl FnMut(&RowChange<'_>) -> Result<(), Error>) -> Result<(), Error> {
    let Some(oldest) = recovered.losers.values().min() else { return Ok(()) };
    let mut progress = Progress(Instant::now());
    let mut reader = LogReader::new(&recovered.log_dir, LogPlace::default());
    let mut payload = Vec::new();
    for place in recovered.places[*oldest..].iter().rev() {
        reader.seek(*place);
        if reader.next_epoch(&mut payload)?.is_none() {
            return Err(Error::Io(format!("the log cannot be read again at byte {}", place.position).into()));
        }
        for mut chunk in chunks(&payload) {
            let mut changes = Vec::new();
            while let Some(record) = record::read(&mut chunk)? {
                if let Record::Row { change, .. } = record
                    && !change.compensation
                    && recovered.losers.contains_key(&change.txn)
                {
                    changes.push(change);
                }
            }
            changes.iter().rev().try_for_each(&mut undo)?;
        }
        progress.show("looked through for what to roll back", reader.bytes_read());
    }
    Ok(())
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
        Change::Part(PartOp::RemoveChild { key }) => page.covers(key) && crate::btree::remove_child(page, key),
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
