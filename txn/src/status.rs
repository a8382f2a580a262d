//! Transaction ids and the statuses of transactions.
//!
//! ```text
//! id     = 1 << 63 | worker (8 bits) << 55 | sequence (55 bits)       a record's mark
//! status = timestamp << 3 | waited << 2 | state                       open 0, committing 1, aborted 2, committed 3
//!          session   << 3 | waited << 2 | state                       while it is open or committing
//! ```
//! Each worker has a table of statuses, in chunks. A chunk is reused when all its transactions ended before every
//! snapshot; ids below the table's *base* are committed for everyone. So marks never have to be cleaned up. Marks of
//! earlier runs are below the base too, because recovery undid open transactions and sequences continue above the
//! highest one in the log.
//!
//! X1: only the owning worker writes a status, except for the `waited` bit, which a waiter sets.
//! X2: a status of a chunk in use is never reset. The base moves before a chunk is reused, and readers read the base
//!     after the status.

use std::sync::OnceLock;
use sync::CachePadded;
use sync::Mutex;
use sync::atomic::{AtomicU32, AtomicU64, Ordering};

const TXN_BIT: u64 = 1 << 63;
const WORKER_SHIFT: u32 = 55;
const SEQUENCE_MASK: u64 = (1 << WORKER_SHIFT) - 1;

const CHUNK_BITS: u32 = if cfg!(loom) {
    1
} else if cfg!(sim) {
    5
} else {
    12
};
const CHUNK: usize = 1 << CHUNK_BITS;
/// Chunks one worker may have in use: 33 million transactions since the oldest snapshot.
const CHUNKS_MAX: usize = if cfg!(loom) {
    4
} else if cfg!(sim) {
    256
} else {
    8192
};

const OPEN: u64 = 0;
const COMMITTING: u64 = 1;
const ABORTED: u64 = 2;
const COMMITTED: u64 = 3;
const STATE_MASK: u64 = 3;
const WAITED: u64 = 4;
const TIMESTAMP_SHIFT: u32 = 3;

pub fn make_id(worker: usize, sequence: u64) -> u64 {
    TXN_BIT | (worker as u64) << WORKER_SHIFT | sequence
}

pub fn is_txn(mark: u64) -> bool {
    mark & TXN_BIT != 0
}

pub fn sequence_of(id: u64) -> u64 {
    id & SEQUENCE_MASK
}

pub fn worker_of(id: u64) -> usize {
    (id >> WORKER_SHIFT) as usize & 0xff
}

/// The current meaning of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Open,
    /// Has, or is about to get, its timestamp: settled within nanoseconds.
    Committing,
    Aborted,
    Committed(u64),
    /// Committed before every snapshot that exists.
    Old,
}

type Chunk = Box<[AtomicU64]>;

struct WorkerStatus {
    /// Sequences below are `Old`.
    base: AtomicU64,
    /// The owner writes it with every transaction. Padded, because others read its neighbours when they meet a mark.
    next: CachePadded<AtomicU64>,
    /// Logical chunk number modulo CHUNKS_MAX -> physical chunk + 1.
    directory: Box<[AtomicU32]>,
    chunks: Box<[OnceLock<Chunk>]>,
    free: Mutex<(Vec<u32>, u32)>,
}

/// The statuses of all workers' transactions.
pub struct StatusTable {
    workers: Box<[CachePadded<WorkerStatus>]>,
}

/// Too many transactions since the oldest snapshot.
#[derive(Debug)]
pub struct TooMany;

impl StatusTable {
    /// Sequences start above `last`.
    pub fn new(workers: usize, last: u64) -> Self {
        assert!(workers <= 256, "a worker's number has 8 bits");
        let first = (last + 1).next_multiple_of(CHUNK as u64);
        let worker = || {
            CachePadded::new(WorkerStatus {
                base: AtomicU64::new(first),
                next: CachePadded::new(AtomicU64::new(first)),
                directory: (0..CHUNKS_MAX).map(|_| AtomicU32::new(0)).collect(),
                chunks: (0..CHUNKS_MAX).map(|_| OnceLock::new()).collect(),
                free: Mutex::new((Vec::new(), 0)),
            })
        };
        Self { workers: (0..workers).map(|_| worker()).collect() }
    }

    /// The highest sequence number given out.
    pub fn last_sequence(&self) -> u64 {
        self.workers.iter().map(|w| w.next.load(Ordering::SeqCst)).max().unwrap_or(0)
    }

    /// Does any worker use a quarter of the chunks that it may have?
    pub fn is_quarter_full(&self) -> bool {
        // Relaxed: an estimate.
        let used = |w: &CachePadded<WorkerStatus>| w.next.load(Ordering::Relaxed).saturating_sub(w.base.load(Ordering::Relaxed));
        self.workers.iter().any(|worker| used(worker) > (CHUNK * CHUNKS_MAX / 4) as u64)
    }

    /// Opens a transaction of `worker` (called on that worker). `horizon` is called when a chunk is needed.
    pub fn open(&self, worker: usize, horizon: impl Fn() -> u64) -> Result<u64, TooMany> {
        let mine = &self.workers[worker];
        // Relaxed: only this worker moves it.
        let sequence = mine.next.load(Ordering::Relaxed);
        if sequence.is_multiple_of(CHUNK as u64) {
            mine.add_chunk(sequence, horizon())?;
        }
        mine.next.store(sequence + 1, Ordering::SeqCst);
        Ok(make_id(worker, sequence))
    }

    fn entry(&self, id: u64) -> Option<&AtomicU64> {
        let worker = self.workers.get(worker_of(id))?;
        let sequence = sequence_of(id);
        let slot = worker.directory[(sequence >> CHUNK_BITS) as usize % CHUNKS_MAX].load(Ordering::Acquire);
        worker.chunks[slot.checked_sub(1)? as usize].get().map(|chunk| &chunk[sequence as usize % CHUNK])
    }

    /// The outcome of the transaction of a mark.
    #[inline]
    pub fn status(&self, id: u64) -> Status {
        let Some(worker) = self.workers.get(worker_of(id)) else { return Status::Old };
        let sequence = sequence_of(id);
        if sequence < worker.base.load(Ordering::Acquire) {
            return Status::Old;
        }
        // Acquire: pairs with the Release of the worker that ended the transaction; its commit timestamp and changes are visible.
        let word = self.entry(id).map(|e| e.load(Ordering::Acquire));
        // X2
        let (Some(word), false) = (word, sequence < worker.base.load(Ordering::Acquire)) else { return Status::Old };
        match word & STATE_MASK {
            OPEN => Status::Open,
            COMMITTING => Status::Committing,
            ABORTED => Status::Aborted,
            _ => Status::Committed(word >> TIMESTAMP_SHIFT),
        }
    }

    /// Has it not ended?
    pub fn is_open(&self, id: u64) -> bool {
        matches!(self.status(id), Status::Open | Status::Committing)
    }

    /// Sets the session of a transaction. Called right after `open`, before anybody else can know the id.
    pub fn set_session(&self, id: u64, session: u32) {
        // Relaxed: other threads learn the id later, through a latch.
        self.own(id).store(u64::from(session) << TIMESTAMP_SHIFT | OPEN, Ordering::Relaxed);
    }

    /// The session of a transaction; 0 if it has ended, or was not set.
    pub fn session(&self, id: u64) -> u32 {
        // Relaxed: for people.
        let word = self.entry(id).map_or(ABORTED, |entry| entry.load(Ordering::Relaxed));
        if word & STATE_MASK < ABORTED && self.is_open(id) { (word >> TIMESTAMP_SHIFT) as u32 } else { 0 }
    }

    /// Like `status`, but waits out `Committing`.
    #[inline]
    pub fn settled(&self, id: u64) -> Status {
        match self.status(id) {
            Status::Committing => self.settle(id),
            other => other,
        }
    }

    #[cold]
    fn settle(&self, id: u64) -> Status {
        loop {
            sync::spin::spin_until(20, || self.status(id) != Status::Committing);
            match self.status(id) {
                // The committer was descheduled.
                Status::Committing => os::thread::yield_now(),
                other => return other,
            }
        }
    }

    fn own(&self, id: u64) -> &AtomicU64 {
        self.entry(id).expect("X2: an open transaction's chunk is in use")
    }

    /// First step of a commit: before the timestamp is taken.
    pub fn begin_commit(&self, id: u64) {
        // Release: a reader whose snapshot includes the timestamp sees at least this.
        self.own(id).fetch_or(COMMITTING, Ordering::AcqRel);
    }

    /// Last step: visible. `true`: somebody waits for this transaction.
    pub fn commit(&self, id: u64, timestamp: u64) -> bool {
        self.own(id).swap(timestamp << TIMESTAMP_SHIFT | COMMITTED, Ordering::AcqRel) & WAITED != 0
    }

    /// Ends an undone transaction. `now` is above the clock: a reader that met the mark before it was undone has
    /// published a lower bound, and must still get `Aborted`. `true`: a transaction waits for it.
    pub fn abort(&self, id: u64, now: u64) -> bool {
        self.own(id).swap(now << TIMESTAMP_SHIFT | ABORTED, Ordering::AcqRel) & WAITED != 0
    }

    /// Asks the transaction to wake waiters at its end. `false`: it has ended already.
    pub fn set_waited(&self, id: u64) -> bool {
        let Some(worker) = self.workers.get(worker_of(id)) else { return false };
        let Some(entry) = self.entry(id) else { return false };
        let ended = entry
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| (word & STATE_MASK < ABORTED).then_some(word | WAITED));
        ended.is_ok() && sequence_of(id) >= worker.base.load(Ordering::Acquire)
    }
}

impl WorkerStatus {
    fn add_chunk(&self, sequence: u64, horizon: u64) -> Result<(), TooMany> {
        self.recycle(sequence, horizon);
        let logical = (sequence >> CHUNK_BITS) as usize % CHUNKS_MAX;
        let physical = {
            let mut free = self.free.lock();
            match free.0.pop() {
                Some(physical) => physical,
                None if (free.1 as usize) < CHUNKS_MAX => {
                    free.1 += 1;
                    free.1 - 1
                }
                None => return Err(TooMany),
            }
        };
        let chunk = self.chunks[physical as usize].get_or_init(|| (0..CHUNK).map(|_| AtomicU64::new(0)).collect());
        // Release: a reader that sees a reset status also sees the base that moved before (X2).
        chunk.iter().for_each(|status| status.store(OPEN, Ordering::Release));
        self.directory[logical].store(physical + 1, Ordering::Release);
        Ok(())
    }

    /// Moves the base past chunks whose transactions all ended before `horizon`.
    fn recycle(&self, next: u64, horizon: u64) {
        loop {
            let base = self.base.load(Ordering::Relaxed);
            if base + CHUNK as u64 > next {
                return;
            }
            let logical = (base >> CHUNK_BITS) as usize % CHUNKS_MAX;
            let Some(physical) = self.directory[logical].load(Ordering::Relaxed).checked_sub(1) else { return };
            let Some(chunk) = self.chunks[physical as usize].get() else { return };
            let ended = |word: u64| word & STATE_MASK >= ABORTED && word >> TIMESTAMP_SHIFT <= horizon;
            if !chunk.iter().all(|status| ended(status.load(Ordering::Relaxed))) {
                return;
            }
            self.base.store(base + CHUNK as u64, Ordering::Release);
            self.directory[logical].store(0, Ordering::Release);
            self.free.lock().0.push(physical);
        }
    }
}

/// Every interleaving of a few threads: `cargo xtask models`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// A snapshot that includes a commit's timestamp sees the transaction as committed, never as open.
    #[test]
    fn a_snapshot_sees_what_was_committed_before_it() {
        loom::model(|| {
            let shared = Arc::new((StatusTable::new(2, 0), AtomicU64::new(0)));
            let ids = [0, 1].map(|worker| shared.0.open(worker, || 0).expect("room"));
            let writers = [0, 1].map(|n| {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (table, clock) = &*shared;
                    table.begin_commit(ids[n]);
                    let timestamp = clock.fetch_add(1, Ordering::AcqRel) + 1;
                    table.commit(ids[n], timestamp);
                    timestamp
                })
            });
            let (table, clock) = &*shared;
            let snapshot = clock.load(Ordering::Acquire);
            let seen = ids.map(|id| table.status(id));
            let timestamps = writers.map(|writer| writer.join().expect("a writer"));
            for (seen, timestamp) in seen.into_iter().zip(timestamps) {
                if snapshot >= timestamp {
                    assert!(matches!(seen, Status::Committing | Status::Committed(_)), "{seen:?} at {timestamp} in {snapshot}");
                }
            }
        });
    }

    /// X2: the status of a mark is its own, or `Old`, however its chunk is used again.
    #[test]
    fn a_status_is_never_that_of_another_transaction() {
        loom::model(|| {
            let table = Arc::new(StatusTable::new(1, 0));
            let first = table.open(0, || 0).expect("room");
            table.commit(first, 1);
            let second = table.open(0, || 0).expect("room");
            table.commit(second, 2);
            let reader = {
                let table = table.clone();
                thread::spawn(move || table.status(first))
            };
            // The first chunk is full and below the horizon: it is used for these.
            for timestamp in 3..5 {
                let id = table.open(0, || 2).expect("room");
                table.commit(id, timestamp);
            }
            let seen = reader.join().expect("the reader");
            assert!(matches!(seen, Status::Old | Status::Committed(1)), "{seen:?}");
        });
    }

    /// A transaction that asks to be woken either learns that the other one has ended, or is woken at its end.
    #[test]
    fn nobody_waits_for_one_that_has_ended() {
        loom::model(|| {
            let table = Arc::new(StatusTable::new(1, 0));
            let id = table.open(0, || 0).expect("room");
            let waiter = {
                let table = table.clone();
                thread::spawn(move || table.set_waited(id))
            };
            table.begin_commit(id);
            let told = table.commit(id, 1);
            assert_eq!(waiter.join().expect("the waiter"), told);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn statuses_follow_their_transactions() {
        let table = StatusTable::new(2, 70_000);
        let id = table.open(1, || 0).expect("room");
        assert!(is_txn(id) && sequence_of(id) > 70_000);
        assert_eq!(table.status(id), Status::Open);
        assert_eq!(table.status(make_id(0, 70_000)), Status::Old);
        assert_eq!(table.status(make_id(200, 1 << 40)), Status::Old);
        assert!(table.set_waited(id));
        table.begin_commit(id);
        assert_eq!(table.status(id), Status::Committing);
        assert!(table.commit(id, 9));
        assert_eq!(table.status(id), Status::Committed(9));
        assert!(!table.set_waited(id));
        let other = table.open(1, || 0).expect("room");
        assert!(!table.abort(other, 10));
        assert_eq!(table.status(other), Status::Aborted);
    }

    #[test]
    fn chunks_are_used_again_only_below_the_horizon() {
        let table = StatusTable::new(1, 0);
        let first = table.open(0, || 0).expect("room");
        table.commit(first, 1);
        for ts in 2..CHUNK as u64 + 1 {
            let id = table.open(0, || 0).expect("room");
            table.commit(id, ts);
        }
        let next = table.open(0, || 5).expect("room");
        assert_eq!(table.status(first), Status::Committed(1));
        table.commit(next, 6_000);
        for ts in 0..CHUNK as u64 {
            let id = table.open(0, || 5_000).expect("room");
            table.commit(id, 7_000 + ts);
        }
        assert_eq!(table.status(first), Status::Old);
        assert_eq!(table.status(next), Status::Committed(6_000));
        assert_eq!(table.workers[0].free.lock().1, 2);
    }
}
