//! The write-ahead log: a buffer per worker, one durable frontier.
//!
//! 1. A worker appends records to its own buffer, under the latch of the page it changes. Each record belongs to the *epoch* that
//!    was current at that moment.
//! 2. The flusher, whenever somebody waits and the device is free, starts the next epoch, collects what all workers appended in the
//!    finished one, writes it as one block with one sync, and publishes it as durable. There is no timer: a flush that takes
//!    longer gathers more ("group commit self-clocks"). A worker with one busy session may do that itself, while the device is
//!    quick (`Wal::commit_stall`): its thread has nothing to do meanwhile, and nobody must be woken.
//! 3. Each worker's waiters whose epoch is durable are woken.
//!
//! W1: a record that depends on another (same page, same transaction, or a commit it saw) has the same or a later epoch: the epoch
//! counter only grows, is read while the worker's buffer is locked, and whatever orders the two changes (a page latch, a transaction
//! status) orders the two reads. So every prefix of epochs is a consistent state.
//! W2: epoch e is collected only after the counter passed e and each worker's buffer lock was taken once: no append to e is in flight.
//! W3: `lsn = max(epoch << 24, page's lsn) + 1`: grows along each page, and `lsn >> 24` is never below the record's epoch.
//! W4: a failed write or sync of the log is fatal.
//! W5: a wish for a flush is seen. It is raised before its owner looks whether the seat is taken, and whoever leaves the seat looks at the
//! wishes afterwards: the flusher before it parks, a worker to wake the flusher.
//! Latches: a buffer's lock is taken under page latches and never the other way round.

mod damage;
mod files;
mod follow;
mod reader;
mod recent;
pub mod record;

pub use damage::LogDamage;
pub(crate) use damage::{Bounds, cut, find_damage};
pub(crate) use files::segment_path;
pub use files::{LogPlace, SEGMENT_BYTES, SegmentPool};
pub use follow::LogFollower;
pub use reader::LogReader;

use crate::page::Lsn;
use files::LogWriter;
use os::time::Instant;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use sync::CachePadded;
use sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use sync::waits::{self, Cause, Kind};
use sync::{Mutex, MutexGuard};

/// Epochs sit in the upper 40 bits of an LSN.
pub const EPOCH_SHIFT: u32 = 24;
/// Above this many bytes in one worker's buffer its writers wait for a flush.
const BUFFER_BYTES_SOFT: usize = if cfg!(sim) { 64 << 10 } else { 8 << 20 };
/// The place of an epoch is noted when the log has grown by as much since the last note.
const PLACE_BYTES: u64 = if cfg!(sim) { 8 << 10 } else { 256 << 10 };
/// `relaxed`: the longest time before a commit reaches the disk.
const RELAXED_FLUSH_INTERVAL: Duration = Duration::from_secs(1);

/// Where flushes take longer, they are all the flusher's: sessions that wake meanwhile must not be held up for as long.
const OWN_FLUSH_MAX: Duration = Duration::from_millis(1);

/// Whether a worker flushes a commit itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnFlush {
    /// It has other sessions to go on with: the flusher does it.
    No,
    /// If nobody else is writing the log.
    IfFree,
    /// It waits for who is, and does not sleep.
    Awake,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// A commit is on disk before it is acknowledged.
    Full,
    /// The log is written and synced about once a second.
    Relaxed,
    /// The log is never synced: for tests.
    None,
}

/// What room is wanted for, where there may be none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The data grows.
    Growth,
    /// Something is deleted, undone or ended: it may use what is kept in reserve.
    Relief,
}

/// How the log is written.
pub struct WalConfig {
    /// Buffers.
    pub workers: usize,
    pub durability: Durability,
    /// The bound on the log that a restart redoes.
    pub redo_bytes_max: u64,
}

struct WorkerLog {
    /// Records of even and of odd epochs.
    buffers: Mutex<[Vec<u8>; 2]>,
    buffered: AtomicUsize,
    wants_flush: AtomicBool,
    /// The epoch before which this worker has no open transaction's records (`u64::MAX`: none open).
    undo_needed_from: AtomicU64,
    waits: Arc<WorkerWaits>,
}

/// One worker's waiters for durability. Its `Arc` is cloned by that worker only.
#[derive(Debug)]
pub struct WorkerWaits {
    durable: Arc<CachePadded<AtomicU64>>,
    list: Mutex<Vec<(u64, Waker)>>,
}

/// Where an epoch began in the log file; sparse.
#[derive(Clone, Copy)]
struct EpochPlace {
    epoch: u64,
    place: LogPlace,
}

pub struct Wal {
    epoch: CachePadded<AtomicU64>,
    durable: Arc<CachePadded<AtomicU64>>,
    logs: Box<[CachePadded<WorkerLog>]>,
    durability: Durability,
    /// Held while flushing.
    seat: Mutex<Seat>,
    /// How long a flush takes, on average over some: nanoseconds.
    flush_ns: AtomicU64,
    flusher_parked: AtomicBool,
    flusher: Mutex<Option<os::thread::Thread>>,
    stop: AtomicBool,
    /// `relaxed`: somebody waits, so the flusher must not pause.
    urgent: AtomicBool,
    /// Byte position after the last written block.
    written: AtomicU64,
    places: Mutex<VecDeque<EpochPlace>>,
    segments: Arc<SegmentPool>,
    recent: Arc<recent::Recent>,
    /// Who reads old log, and from which position on.
    holds: Mutex<Vec<(u64, u64)>>,
    /// The thread of the follower, if it waits for more log.
    follower: follow::Bell,
    syncs: AtomicU64,
    pace: Arc<Pace>,
}

/// Keeps the log that a restart would redo below a bound: beyond it, changes wait until the cleaner has moved the checkpoint.
struct Pace {
    redo_bytes_max: AtomicU64,
    /// The log may be written up to here.
    end_max: AtomicU64,
    behind: AtomicBool,
    waiting: Mutex<Vec<Waker>>,
}

/// Waits until the log that a restart would redo is short enough again.
#[derive(Debug)]
pub struct CheckpointStall {
    pace: Arc<Pace>,
}

impl std::fmt::Debug for Pace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pace(behind: {:?})", self.behind)
    }
}

impl CheckpointStall {
    pub(crate) fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut waiting = self.pace.waiting.lock();
        // Under the lock: the thread that clears the flag takes the lock afterwards, and finds the waker.
        if !self.pace.behind.load(Ordering::SeqCst) {
            return Poll::Ready(());
        }
        waiting.push(cx.waker().clone());
        waits::pending(Cause::of(Kind::Checkpoint));
        Poll::Pending
    }
}

/// Waits until an epoch is durable.
#[derive(Debug)]
pub struct DurableStall {
    waits: Arc<WorkerWaits>,
    epoch: u64,
}

impl DurableStall {
    pub(crate) fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        // Acquire: pairs with the flusher's Release store.
        let durable = || self.waits.durable.load(Ordering::Acquire) >= self.epoch;
        if durable() {
            return Poll::Ready(());
        }
        let mut list = self.waits.list.lock();
        // Looked at again under the lock: the flusher stores first and takes the lock after, so either it is seen here, or the
        // flusher finds the waker.
        if durable() && !os::mutated("lost-wakeup") {
            return Poll::Ready(());
        }
        list.push((self.epoch, cx.waker().clone()));
        waits::pending(Cause::of(Kind::LogFlush));
        Poll::Pending
    }
}

/// Appends of one worker to one epoch: holds the buffer's lock.
pub struct Append<'a> {
    buffers: MutexGuard<'a, [Vec<u8>; 2]>,
    log: &'a WorkerLog,
    pub epoch: u64,
}

impl Append<'_> {
    /// The LSN of a record that changes a page whose last LSN is `page_lsn` (W3).
    pub fn lsn_after(&self, page_lsn: Lsn) -> Lsn {
        page_lsn.max(self.epoch << EPOCH_SHIFT) + 1
    }

    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffers[(self.epoch & 1) as usize]
    }
}

impl Drop for Append<'_> {
    fn drop(&mut self) {
        let bytes = self.buffers[0].len() + self.buffers[1].len();
        // Relaxed: a hint for backpressure, read by the same worker.
        self.log.buffered.store(bytes, Ordering::Relaxed);
    }
}

impl Wal {
    /// Continues the log at `place` with epoch `epoch`; `begin` is where the log that is still needed begins.
    pub fn open(
        dir: &Path,
        begin: (u64, LogPlace),
        place: LogPlace,
        epoch: u64,
        run: u32,
        config: &WalConfig,
    ) -> Result<(Arc<Self>, Flusher), crate::Error> {
        let WalConfig { workers, durability, redo_bytes_max } = *config;
        let writer = LogWriter::open(dir, begin.1.position, place, run, durability != Durability::None)?;
        let durable = Arc::new(CachePadded::new(AtomicU64::new(epoch - 1)));
        let logs = (0..workers)
            .map(|_| {
                CachePadded::new(WorkerLog {
                    buffers: Mutex::default(),
                    buffered: AtomicUsize::new(0),
                    wants_flush: AtomicBool::new(false),
                    undo_needed_from: AtomicU64::new(u64::MAX),
                    waits: Arc::new(WorkerWaits { durable: durable.clone(), list: Mutex::default() }),
                })
            })
            .collect();
        let wal = Arc::new(Self {
            epoch: CachePadded::new(AtomicU64::new(epoch)),
            durable,
            logs,
            durability,
            flusher_parked: AtomicBool::new(false),
            flusher: Mutex::new(None),
            stop: AtomicBool::new(false),
            urgent: AtomicBool::new(false),
            written: AtomicU64::new(place.position),
            places: Mutex::new(VecDeque::from([EpochPlace { epoch: begin.0, place: begin.1 }, EpochPlace { epoch, place }])),
            segments: writer.pool(),
            recent: writer.recent(),
            holds: Mutex::default(),
            follower: follow::Bell::default(),
            flush_ns: AtomicU64::new(0),
            seat: Mutex::new(Seat { writer, payload: Vec::new(), taken: Vec::new() }),
            syncs: AtomicU64::new(0),
            pace: Arc::new(Pace {
                redo_bytes_max: AtomicU64::new(redo_bytes_max),
                // Until the first checkpoint is known.
                end_max: AtomicU64::new(u64::MAX),
                behind: AtomicBool::new(false),
                waiting: Mutex::default(),
            }),
        });
        Ok((wal.clone(), Flusher { wal }))
    }

    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// How many flushes were written (and, unless durability is `none`, synced).
    pub fn flushes(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    pub fn epoch(&self) -> u64 {
        // SeqCst: the checkpoint's argument orders this load against the pins (`undo_needed_from`) and the dirty marks.
        self.epoch.load(Ordering::SeqCst)
    }

    pub fn durable_epoch(&self) -> u64 {
        self.durable.load(Ordering::Acquire)
    }

    /// Byte position after the last written block.
    pub fn written(&self) -> u64 {
        self.written.load(Ordering::Acquire)
    }

    /// Begins appending to `worker`'s buffer. Called under the latches of the pages concerned.
    #[inline]
    pub fn append(&self, worker: usize) -> Append<'_> {
        let log = &self.logs[worker];
        let buffers = log.buffers.lock();
        // W2: read while the lock is held.
        let epoch = self.epoch.load(Ordering::SeqCst);
        Append { buffers, log, epoch }
    }

    /// Before a change is begun: is there room for it, on disk, below the bound on the log and in the buffer?
    ///
    /// # Errors
    /// A stall until the checkpoint has moved, or as of `check_buffer`; a full disk.
    #[inline]
    pub fn check_room(&self, worker: usize, purpose: Purpose) -> crate::stall::Result<()> {
        if self.is_full() && (purpose == Purpose::Growth || self.is_exhausted()) {
            return Err(crate::Error::Full("no room for the log".into()).into());
        }
        // Relaxed: a hint; the bound is not a sharp one.
        if self.pace.behind.load(Ordering::Relaxed) {
            return Err(crate::Interrupt::Stall(crate::Stall::Checkpoint(CheckpointStall { pace: self.pace.clone() })));
        }
        self.check_buffer(worker)
    }

    /// The bound on the log that a restart would redo.
    pub fn redo_bytes_max(&self) -> u64 {
        self.pace.redo_bytes_max.load(Ordering::Relaxed)
    }

    pub(crate) fn set_redo_bytes_max(&self, bytes: u64) {
        self.pace.redo_bytes_max.store(bytes, Ordering::Relaxed);
    }

    /// Changes wait for the checkpoint just now.
    pub fn is_behind(&self) -> bool {
        self.pace.behind.load(Ordering::Relaxed)
    }

    /// Redo would begin at log position `from`.
    pub fn set_redo_position(&self, from: u64) {
        let end_max = from.saturating_add(self.redo_bytes_max());
        self.pace.end_max.store(end_max, Ordering::SeqCst);
        if self.written() < end_max {
            self.pace.behind.store(false, Ordering::SeqCst);
            let waiting = std::mem::take(&mut *self.pace.waiting.lock());
            waiting.into_iter().for_each(Waker::wake);
        }
    }

    /// The disk has no room for more log: only what ends transactions may still be written, and, until little is left, what frees space.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.segments.is_full()
    }

    /// Also what frees space has no room any more.
    pub fn is_exhausted(&self) -> bool {
        self.segments.is_exhausted()
    }

    /// Too much is buffered by this worker: a stall until it is flushed.
    #[inline]
    pub fn check_buffer(&self, worker: usize) -> crate::stall::Result<()> {
        if self.logs[worker].buffered.load(Ordering::Relaxed) < BUFFER_BYTES_SOFT {
            return Ok(());
        }
        let log = &self.logs[worker];
        let buffers = log.buffers.lock();
        let bytes = buffers[0].len() + buffers[1].len();
        log.buffered.store(bytes, Ordering::Relaxed);
        drop(buffers);
        if bytes < BUFFER_BYTES_SOFT {
            return Ok(());
        }
        Err(crate::Interrupt::Stall(self.stall_for_flush(worker)))
    }

    /// A stall until what has been logged so far is flushed.
    pub fn stall_for_flush(&self, worker: usize) -> crate::Stall {
        self.durable_stall(worker, self.epoch())
    }

    /// A stall that ends when `epoch` is durable; asks for the flush.
    pub fn durable_stall(&self, worker: usize, epoch: u64) -> crate::Stall {
        self.request_flush(worker);
        if self.durability == Durability::Relaxed && !self.urgent.swap(true, Ordering::SeqCst) {
            self.flusher.lock().iter().for_each(os::thread::Thread::unpark);
        }
        crate::Stall::Durable(DurableStall { waits: self.logs[worker].waits.clone(), epoch })
    }

    /// As [`Self::durable_stall`], for a commit. `None`: it is durable already, since the worker has flushed it itself, or has waited for
    /// another that did.
    pub fn commit_stall(&self, worker: usize, epoch: u64, own: OwnFlush) -> Option<crate::Stall> {
        let is_slow = || Duration::from_nanos(self.flush_ns.load(Ordering::Relaxed)) > OWN_FLUSH_MAX;
        if self.durability != Durability::Full || own == OwnFlush::No || is_slow() {
            return Some(self.durable_stall(worker, epoch));
        }
        let is_durable = self.flush_if_free(epoch) || own == OwnFlush::Awake && self.flush_awake(epoch);
        if !is_durable {
            let log = &self.logs[worker];
            // W5: either this finds the seat free, or its owner finds the request when it leaves.
            log.wants_flush.store(true, Ordering::SeqCst);
            if !self.flush_if_free(epoch) {
                return Some(crate::Stall::Durable(DurableStall { waits: log.waits.clone(), epoch }));
            }
        }
        self.see_to_wishes();
        None
    }

    /// Takes the seat, if nobody has it, and makes `epoch` durable. `false`: somebody has it.
    fn flush_if_free(&self, epoch: u64) -> bool {
        fence(Ordering::SeqCst);
        let Some(mut seat) = self.seat.try_lock() else { return false };
        // The previous owner of the seat may have flushed this as well.
        if self.durable_epoch() < epoch {
            seat.flush(self);
        }
        true
    }

    /// As [`Self::flush_if_free`], but waits for the seat, or for the flush of who has it, as long as a flush may take, and does not sleep.
    fn flush_awake(&self, epoch: u64) -> bool {
        let began = Instant::now();
        while began.elapsed() < OWN_FLUSH_MAX {
            if cfg!(sim) {
                // Time does not pass there for who only yields.
                os::thread::sleep(Duration::from_micros(10));
            } else {
                os::thread::yield_now();
            }
            if self.durable_epoch() >= epoch || self.flush_if_free(epoch) {
                return true;
            }
        }
        false
    }

    /// W5: a worker has left the seat.
    fn see_to_wishes(&self) {
        fence(Ordering::SeqCst);
        if self.is_flush_wanted() && self.flusher_parked.load(Ordering::SeqCst) {
            self.wake_flusher();
        }
    }

    fn is_flush_wanted(&self) -> bool {
        self.logs.iter().any(|log| log.wants_flush.load(Ordering::SeqCst))
    }

    /// Asks for a flush of what this worker has appended.
    #[inline]
    pub fn request_flush(&self, worker: usize) {
        // SeqCst on both: either the flusher sees the wish before it parks, or this sees that it is parked.
        self.logs[worker].wants_flush.store(true, Ordering::SeqCst);
        if self.flusher_parked.load(Ordering::SeqCst) {
            self.wake_flusher();
        }
    }

    #[cold]
    fn wake_flusher(&self) {
        if self.flusher_parked.swap(false, Ordering::SeqCst)
            && let Some(thread) = &*self.flusher.lock()
        {
            thread.unpark();
        }
    }

    /// Waits on this thread until `epoch` is durable.
    pub fn wait_durable(&self, worker: usize, epoch: u64) {
        while self.durable_epoch() < epoch {
            self.durable_stall(worker, epoch.min(self.epoch())).wait_blocking();
        }
    }

    /// This worker opens a transaction: its records from now on are needed for undo.
    pub fn pin_undo(&self, worker: usize) -> u64 {
        let log = &self.logs[worker];
        let epoch = self.epoch();
        if log.undo_needed_from.load(Ordering::Relaxed) > epoch {
            // SeqCst: before the first append of the transaction reads the epoch (see `checkpoint_place`).
            log.undo_needed_from.store(epoch, Ordering::SeqCst);
        }
        epoch
    }

    /// The oldest epoch of this worker's open transactions changed.
    pub fn set_undo_pin(&self, worker: usize, epoch: u64) {
        self.logs[worker].undo_needed_from.store(epoch, Ordering::SeqCst);
    }

    /// The oldest epoch that an open transaction's undo may need.
    pub fn oldest_undo_epoch(&self) -> u64 {
        self.logs.iter().map(|l| l.undo_needed_from.load(Ordering::SeqCst)).min().unwrap_or(u64::MAX)
    }

    /// The last place from which all epochs `>= epoch` can be read; forgets places before it.
    pub fn place_of(&self, epoch: u64) -> LogPlace {
        let mut places = self.places.lock();
        while places.len() > 1 && places[1].epoch <= epoch {
            places.pop_front();
        }
        places[0].place
    }

    /// A log position from which all epochs `>= epoch` can be read.
    pub fn position_of(&self, epoch: u64) -> u64 {
        let places = self.places.lock();
        let at = places.partition_point(|p| p.epoch <= epoch);
        places[at.saturating_sub(1)].place.position
    }

    /// Log segments below this number have been made.
    pub fn segments_below(&self) -> u64 {
        self.segments.prepared_below()
    }

    /// Segments before `position` may be used again, unless somebody still reads them ([`Self::hold`]).
    pub fn recycle_before(&self, position: u64) -> Result<(), crate::Error> {
        let held = self.holds.lock().iter().map(|(_, from)| *from).min().unwrap_or(u64::MAX);
        self.segments.recycle_before(position.min(held))
    }

    /// Keeps the log from `position` on until the hold is dropped. The caller prevents that the checkpoint moves past `position` meanwhile.
    pub fn hold(self: &Arc<Self>, position: u64) -> LogHold {
        let mut holds = self.holds.lock();
        let id = holds.iter().map(|(id, _)| id + 1).max().unwrap_or(0);
        holds.push((id, position));
        LogHold { wal: Arc::clone(self), id }
    }

    /// Makes durable what every worker has appended so far, and tells where the log ends then.
    pub fn flush_all(&self) -> LogPlace {
        self.wait_durable(self.logs.len() - 1, self.epoch());
        self.seat.lock().writer.place()
    }

    /// The reserve that recovery used is made again from now on, and kept for the next recovery.
    pub fn recovery_finished(&self) {
        self.segments.recovery_finished();
    }

    /// Makes log segments ahead of need; called by a background thread.
    pub fn prepare_segments(&self) -> Result<(), crate::Error> {
        self.segments.prepare(self.written())
    }

    /// Stops the flusher after a last flush.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.flusher_parked.store(false, Ordering::SeqCst);
        self.flusher.lock().iter().for_each(os::thread::Thread::unpark);
    }
}

/// Keeps a part of the log, see [`Wal::hold`].
pub struct LogHold {
    wal: Arc<Wal>,
    id: u64,
}

impl LogHold {
    /// What lies before `position` is not needed any more.
    pub fn move_to(&self, position: u64) {
        self.wal.holds.lock().iter_mut().filter(|(id, _)| *id == self.id).for_each(|(_, from)| *from = position.max(*from));
    }
}

impl Drop for LogHold {
    fn drop(&mut self) {
        self.wal.holds.lock().retain(|(id, _)| *id != self.id);
    }
}

/// The flushing thread.
pub struct Flusher {
    wal: Arc<Wal>,
}

impl Flusher {
    /// Runs until `Wal::stop`.
    pub fn run(self) {
        let wal = &*self.wal;
        *wal.flusher.lock() = Some(os::thread::current());
        loop {
            let stopping = wal.stop.load(Ordering::SeqCst);
            if stopping || self.wait_for_work() {
                let mut seat = wal.seat.lock();
                // A worker may have done it meanwhile.
                if stopping || wal.is_flush_wanted() {
                    seat.flush(wal);
                }
                drop(seat);
                if wal.durability == Durability::Relaxed && !stopping {
                    self.pause();
                }
            }
            if stopping {
                return;
            }
        }
    }

    /// `relaxed`: lets commits gather, unless somebody waits (for room in a buffer, or to write pages).
    fn pause(&self) {
        let until = Instant::now() + RELAXED_FLUSH_INTERVAL;
        while !self.wal.urgent.load(Ordering::SeqCst) && !self.wal.stop.load(Ordering::SeqCst) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            os::thread::park_timeout(left);
        }
    }

    /// Parks until somebody wants a flush. `false`: woken for another reason.
    fn wait_for_work(&self) -> bool {
        let wal = &*self.wal;
        // W5
        fence(Ordering::SeqCst);
        if wal.is_flush_wanted() {
            return true;
        }
        wal.flusher_parked.store(true, Ordering::SeqCst);
        if wal.is_flush_wanted() || wal.stop.load(Ordering::SeqCst) {
            wal.flusher_parked.store(false, Ordering::SeqCst);
            return true;
        }
        os::thread::park();
        wal.flusher_parked.store(false, Ordering::SeqCst);
        wal.is_flush_wanted()
    }
}

/// What writes the log; one thread at a time has it.
struct Seat {
    writer: LogWriter,
    payload: Vec<u8>,
    taken: Vec<u8>,
}

impl Seat {
    /// Ends the epoch and makes it durable.
    fn flush(&mut self, wal: &Wal) {
        // Cleared before the epoch ends: what was asked for before is in it.
        wal.urgent.store(false, Ordering::SeqCst);
        for log in &wal.logs {
            log.wants_flush.store(false, Ordering::SeqCst);
        }
        let epoch = wal.epoch.fetch_add(1, Ordering::SeqCst);
        self.payload.clear();
        for (worker, log) in wal.logs.iter().enumerate() {
            std::mem::swap(&mut self.taken, &mut log.buffers.lock()[(epoch & 1) as usize]);
            if !self.taken.is_empty() {
                self.payload.extend_from_slice(&(worker as u32).to_le_bytes());
                self.payload.extend_from_slice(&(self.taken.len() as u32).to_le_bytes());
                self.payload.extend_from_slice(&self.taken);
                self.taken.clear();
                self.taken.shrink_to(1 << 20);
            }
        }
        if !self.payload.is_empty() {
            let began = Instant::now();
            if let Err(error) = self.writer.write_epoch(epoch, &self.payload) {
                os::fatal(&format!("the log cannot be written: {error}"));
            }
            let average = wal.flush_ns.load(Ordering::Relaxed);
            wal.flush_ns.store((average * 7 + began.elapsed().as_nanos() as u64) / 8, Ordering::Relaxed);
            self.note_place(wal, epoch + 1);
            self.payload.shrink_to(4 << 20);
            let end = self.writer.place().position;
            // Release: who follows the log reads the file up to here.
            wal.written.store(end, Ordering::Release);
            if end >= wal.pace.end_max.load(Ordering::SeqCst) {
                // Should the cleaner have moved the bound in between, it looks again within a round.
                wal.pace.behind.store(true, Ordering::SeqCst);
            }
            wal.syncs.fetch_add(1, Ordering::Relaxed);
        }
        // Release: a thread that sees the epoch durable also sees the written data.
        wal.durable.store(epoch, Ordering::Release);
        for log in &wal.logs {
            wake(&log.waits, epoch);
        }
        if !self.payload.is_empty() {
            wal.follower.ring();
        }
    }

    /// Epoch `epoch` begins where the log ends now.
    fn note_place(&self, wal: &Wal, epoch: u64) {
        let mut places = wal.places.lock();
        let place = self.writer.place();
        if places.back().is_none_or(|last| last.place.position + PLACE_BYTES <= place.position) {
            places.push_back(EpochPlace { epoch, place });
        }
    }
}

fn wake(waits: &WorkerWaits, epoch: u64) {
    let mut list = waits.list.lock();
    let mut index = 0;
    while index < list.len() {
        if list[index].0 <= epoch {
            list.swap_remove(index).1.wake();
        } else {
            index += 1;
        }
    }
}
