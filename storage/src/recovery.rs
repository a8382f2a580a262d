//! Recovery: brings every page to the state that the log describes, and finds what transactions without an end have changed.
//!
//! - Epochs are read from the checkpoint to the last complete one, and redone in batches of some megabytes; while one is redone the next is
//!   read. In a batch each page belongs to one thread, which applies the page's changes ordered by LSN (records of one page may stand in several
//!   workers' chunks), and asks for the pages that it will need soon.
//! - Epochs below the redo epoch are only looked through: no page lacks their changes, but a transaction that never ended may have made some.
//! - Each change is applied to its page unless the page's LSN says that it is there already.
//! - A transaction that has neither a COMMIT nor an ABORTED record is a *loser*. Its changes are not remembered (it may be a large one): when redo
//!   is done, the log is read once more, backwards epoch by epoch, and `txn` undoes them by key.
//!
//! R1: changes of different pages commute, also the parts of one STRUCTURE record: nothing reads pages before redo is done.

use crate::page::{Page, PageId};
use crate::progress::Progress;
use crate::space::change_bits;
use crate::stall::blocking;
use crate::wal::record::{self, PartOp, Record, RowChange, chunks};
use crate::wal::{LogPlace, LogReader};
use crate::{Error, Lsn, Store};
use std::collections::HashMap;
use std::path::PathBuf;

/// Log redone at a time.
const BATCH_BYTES: usize = if cfg!(sim) { 64 << 10 } else { 8 << 20 };
/// More threads than this find no more to do at once.
const THREADS_MAX: usize = 16;
/// Pages that a thread asks for before it needs them.
const PAGES_AHEAD: usize = if cfg!(sim) { 2 } else { 16 };

/// What recovery found out.
#[derive(Debug, Default)]
pub struct Recovered {
    pub clock: u64,
    pub txn_sequence: u64,
    /// Transactions without an end: id -> which of the epochs read is the first with a change of it.
    pub losers: HashMap<u64, usize>,
    pub log_bytes: u64,
    pub torn_pages: usize,
    /// The log was damaged, and what lies behind the damage is lost: pages may be ahead of the log, and need not fit each other.
    pub forced: bool,
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

/// Some epochs, with their numbers.
type Batch = Vec<(u64, Vec<u8>)>;

/// Finds the end of the log and where each epoch begins.
pub(crate) fn survey(reader: &mut LogReader, recovered: &mut Recovered) -> Result<(), Error> {
    let mut progress = Progress::new("recovery", 0);
    let mut scratch = Vec::new();
    loop {
        let place = reader.end();
        let Some(epoch) = reader.next_epoch(&mut scratch)? else { return Ok(()) };
        recovered.epoch = recovered.epoch.max(epoch);
        recovered.places.push(place);
        progress.show("of log found", reader.bytes_read());
    }
}

/// Reads the log and redoes it. `from`: the epoch below which the pages have everything; `sequence_of`: the sequence number within a
/// transaction id.
pub(crate) fn redo(
    store: &Store,
    reader: &mut LogReader,
    recovered: &mut Recovered,
    from: u64,
    sequence_of: impl Fn(u64) -> u64,
) -> Result<(), Error> {
    let mut progress = Progress::new("recovery", recovered.log_bytes);
    let mut batch = read_batch(reader)?;
    let mut first = 0;
    while !batch.is_empty() {
        let next = os::thread::scope(|scope| {
            let next = scope.spawn(|| read_batch(reader).map(|batch| (batch, reader.bytes_read())));
            redo_batch(store, &batch, first, recovered, from, &sequence_of)?;
            next.join().expect("reading does not panic")
        });
        first += batch.len();
        let bytes_read;
        (batch, bytes_read) = next?;
        progress.show("of log applied", bytes_read);
    }
    match recovered.places.len() {
        found if found == first => Ok(()),
        found => Err(Error::Io(format!("the log reads differently each time: {found} epochs, then {first}").into())),
    }
}

/// The next epochs, some megabytes of them; none at the end of the log.
fn read_batch(reader: &mut LogReader) -> Result<Batch, Error> {
    let mut batch = Batch::new();
    let mut bytes = 0;
    while bytes < BATCH_BYTES {
        let mut payload = Vec::new();
        let Some(epoch) = reader.next_epoch(&mut payload)? else { break };
        bytes += payload.len();
        batch.push((epoch, payload));
    }
    Ok(batch)
}

/// Redoes some epochs; the first of them is the one at `first` in `recovered.places`.
fn redo_batch(
    store: &Store,
    batch: &[(u64, Vec<u8>)],
    first: usize,
    recovered: &mut Recovered,
    from: u64,
    sequence_of: &impl Fn(u64) -> u64,
) -> Result<(), Error> {
    let threads = os::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
    let mut shares: Vec<Vec<(PageId, Lsn, Change<'_>)>> = (0..threads).map(|_| Vec::new()).collect();
    let mut share = |redone: bool, page: PageId, lsn: Lsn, change| {
        recovered.pages_end = recovered.pages_end.max(page.saturating_add(1));
        if !redone {
            return;
        }
        shares[page as usize % threads].push((page, lsn, change));
    };
    for (index, (epoch, payload)) in batch.iter().enumerate() {
        let redone = *epoch >= from;
        for mut chunk in chunks(payload) {
            while let Some(record) = record::read(&mut chunk)? {
                match record {
                    Record::Row { page, lsn, change } => {
                        recovered.txn_sequence = recovered.txn_sequence.max(sequence_of(change.txn));
                        if !change.compensation {
                            recovered.losers.entry(change.txn).or_insert(first + index);
                        }
                        share(redone, page, lsn, Change::Row(change));
                    }
                    Record::Structure(parts) => parts.into_iter().for_each(|p| share(redone, p.page, p.lsn, Change::Part(p.op))),
                    Record::Commit { txn, timestamp } => {
                        recovered.clock = recovered.clock.max(timestamp);
                        recovered.txn_sequence = recovered.txn_sequence.max(sequence_of(txn));
                        recovered.losers.remove(&txn);
                    }
                    Record::Aborted { txn } => {
                        recovered.losers.remove(&txn);
                    }
                    // A note may be all that a transaction has. Its number is not given again, and it gets its end in the log.
                    Record::Note { txn, .. } => {
                        recovered.txn_sequence = recovered.txn_sequence.max(sequence_of(txn));
                        recovered.losers.entry(txn).or_insert(first + index);
                    }
                }
            }
        }
    }
    let forced = recovered.forced;
    let work = |mut changes: Vec<(PageId, Lsn, Change<'_>)>| {
        // LSNs of one page are distinct and grow: each page's changes in the order they were made.
        changes.sort_unstable_by_key(|(page, lsn, _)| (*page, *lsn));
        let mut ahead = changes.chunk_by(|a, b| a.0 == b.0);
        let mut fetch = |pages: usize| ahead.by_ref().take(pages).for_each(|changes| fetch_first(store, changes));
        fetch(PAGES_AHEAD);
        changes.chunk_by(|a, b| a.0 == b.0).try_for_each(|of_page| {
            fetch(1);
            let done = of_page.iter().try_for_each(|(page, lsn, change)| redo_change(store, *page, *lsn, change, from));
            tolerate(forced, done)
        })
    };
    os::thread::scope(|scope| {
        let threads: Vec<_> =
            shares.into_iter().filter(|share| !share.is_empty()).map(|share| scope.spawn(|| work(share))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("redo does not panic"))
    })
}

/// In a forced start, damaged data is skipped and reported.
pub fn tolerate(forced: bool, done: Result<(), Error>) -> Result<(), Error> {
    match done {
        Err(error @ Error::Corrupt { .. }) if forced => {
            os::report(format_args!("force-recovery: {error}; going on without"));
            Ok(())
        }
        other => other,
    }
}

/// Gives every change of the losers to `undo`, each transaction's from the last to the first.
///
/// # Errors
/// Those of `undo`; a log that cannot be read any more.
pub fn undo_losers(recovered: &Recovered, mut undo: impl FnMut(&RowChange<'_>) -> Result<(), Error>) -> Result<(), Error> {
    let Some(oldest) = recovered.losers.values().min() else { return Ok(()) };
    let mut progress = Progress::new("recovery", 0);
    let mut reader = LogReader::new(&recovered.log_dir, LogPlace::default());
    let mut payload = Vec::new();
    for place in recovered.places[*oldest..].iter().rev() {
        reader.seek_back(*place);
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
        progress.show("of log searched for changes to roll back", reader.bytes_read());
    }
    Ok(())
}

/// Requests a page, unless it will be completely rewritten.
fn fetch_first(store: &Store, changes: &[(PageId, Lsn, Change<'_>)]) {
    if let [(page, _, change), ..] = changes
        && !matches!(change, Change::Part(PartOp::Image(_)))
    {
        store.pool.fetch(*page);
    }
}

fn redo_change(store: &Store, id: PageId, lsn: Lsn, change: &Change<'_>, from: u64) -> Result<(), Error> {
    let page = match change {
        Change::Part(PartOp::Image(_)) => blocking(|| store.pool.create(id))?,
        _ => blocking(|| store.pool.latch(id))?,
    };
    if page.page.lsn() >= lsn {
        return Ok(());
    }
    // The change is in the log from the epoch where redo began, so that is where it would have to be read again.
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
