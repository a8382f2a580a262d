//! The engine: a store with transactions, and the handles of its threads.

use crate::horizon::{Horizon, Snapshots};
use crate::locks::{LockReport, LockTable};
use crate::past::Past;
use crate::purge::Purge;
use crate::status::{StatusTable, sequence_of};
use crate::undo::{UndoStore, UndoWriter};
use crate::{Error, Interrupt, Isolation, Result, Timers, TreeRef, Txn};
use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;
use storage::btree::Place;
use storage::buffer::{ResizeBusy, ResizeState};
use storage::page::RecordHeader;
use storage::recovery::{Recovered, tolerate};
use storage::wal::record::{RowChange, RowOp, write_aborted};
use storage::wal::{LogFollower, LogHold, LogPlace, OwnFlush, Purpose};
use storage::{Durability, Store, StoreConfig, blocking};
use sync::atomic::{AtomicU64, Ordering};
use sync::{Company, Mutex};

/// Workers beyond the configured ones: DDL threads, the worker of administrators, tools, tests.
const SPARE_WORKERS: usize = 18;
/// How long redo may take after a crash, unless a setting says otherwise.
pub const RECOVERY_TARGET: Duration = Duration::from_secs(20);

#[derive(Clone, Debug)]
pub struct Config {
    pub data_dir: std::path::PathBuf,
    pub buffer_pool_bytes: u64,
    /// Old row versions that may stay in memory; beyond this they go to a file.
    pub undo_memory_bytes: u64,
    /// Threads that will each own a [`Worker`]; the engine adds its own background threads.
    pub workers: usize,
    pub durability: Durability,
    /// How long redo may take after a crash: it bounds the log between the oldest unwritten change and the end.
    pub recovery_target: Duration,
}

/// The whole engine: files, buffer pool, log, clock, background threads. Shared by `Arc`.
pub struct Engine {
    pub(crate) store: Arc<Store>,
    pub(crate) statuses: Arc<StatusTable>,
    pub(crate) horizon: Horizon,
    pub(crate) undo: Arc<UndoStore>,
    pub(crate) locks: LockTable,
    pub(crate) timers: Arc<Timers>,
    pub(crate) purge: Purge,
    pub(crate) past: Arc<Past>,
    configured: usize,
    handed_out: Mutex<Vec<bool>>,
    threads: Mutex<Vec<os::thread::JoinHandle<()>>>,
    /// Of [`Engine::open_holding`].
    held_log: Mutex<Option<LogHold>>,
    /// A description of the last recovery, for people; empty after a clean stop.
    recovery: String,
}

/// Figures for SHOW STATUS and SHOW ENGINE INNODB STATUS.
#[derive(Clone, Debug, Default)]
pub struct EngineStatus {
    pub pool_frames: usize,
    pub pool_used: usize,
    pub pool_dirty: usize,
    pub pages_read: u64,
    pub pages_written: u64,
    pub pages_evicted: u64,
    /// How often somebody waited for a free frame.
    pub frame_waits: u64,
    pub log_flushes: u64,
    pub log_bytes: u64,
    /// The log that a restart would redo, and its bound.
    pub redo_bytes: u64,
    pub redo_bytes_max: u64,
    /// The size of kept old row versions, and their parts in memory and in the file. The memory may be larger, because
    /// segments are reused.
    pub undo_bytes: u64,
    pub undo_memory_bytes: u64,
    pub undo_file_bytes: u64,
    /// How far back moments can be read, in microseconds; 0: none can.
    pub past_us: u64,
    /// The timestamp of the newest commit.
    pub clock: u64,
    /// Commits since the oldest snapshot that somebody uses: InnoDB's length of the history list.
    pub history: u64,
    pub purge_backlog: usize,
    pub lock_waits: u64,
    /// How long transactions have waited for row locks, all together and at most, in microseconds, and how many wait now.
    pub lock_wait_us: u64,
    pub lock_wait_us_max: u64,
    pub lock_waiters: usize,
    pub deadlocks: u64,
    pub locked_rows: u32,
    pub last_deadlock: Option<String>,
    pub recovery: String,
}

impl Engine {
    /// Opens or creates the data directory, recovers, starts background threads.
    ///
    /// # Errors
    /// A directory that is locked, foreign or unwritable; damage; I/O.
    pub fn open(config: Config) -> std::result::Result<Arc<Engine>, Error> {
        Self::open_with(config, false)
    }

    /// Like [`Self::open`]. `force_recovery`: a damaged log is cut off where the damage begins, and the rest is lost.
    ///
    /// # Errors
    /// As of `open`, but for a damaged log.
    pub fn open_with(config: Config, force_recovery: bool) -> std::result::Result<Arc<Engine>, Error> {
        Self::open_holding(config, force_recovery, None)
    }

    /// Like [`Self::open_with`]. `log_from`: the log from this position on is kept, if it is there, until [`Self::follow_log`] takes it over.
    ///
    /// # Errors
    /// As of `open_with`.
    pub fn open_holding(config: Config, force_recovery: bool, log_from: Option<u64>) -> std::result::Result<Arc<Engine>, Error> {
        // The last worker is the engine's own: recovery, purge.
        let workers = config.workers + SPARE_WORKERS + 1;
        let data_dir = config.data_dir.clone();
        let store_config = StoreConfig {
            data_dir: config.data_dir,
            buffer_pool_bytes: config.buffer_pool_bytes,
            workers,
            durability: config.durability,
            recovery_target: config.recovery_target,
            force_recovery,
        };
        let (store, recovered) = Store::open(&store_config, sequence_of)?;
        store.counters.clock.fetch_max(recovered.clock, Ordering::SeqCst);
        undo_losers(&store, workers - 1, &recovered)?;
        let statuses = Arc::new(StatusTable::new(workers, recovered.txn_sequence));
        let for_checkpoint = statuses.clone();
        *store.counters.txn_sequence.lock() = Box::new(move || for_checkpoint.last_sequence());
        let held_log = log_from.map(|position| store.wal.hold(position));
        // From here on the checkpoint moves, and it writes the sequence down.
        store.recovery_finished();
        let engine = Arc::new(Self {
            store,
            statuses,
            // The last slot is that of the past.
            horizon: Horizon::new(workers + 1),
            past: Arc::default(),
            undo: Arc::new(UndoStore::new(&data_dir, config.undo_memory_bytes).map_err(|e| Error::Storage(e.to_string()))?),
            locks: LockTable::new(),
            timers: Arc::new(Timers::default()),
            purge: Purge::new(workers),
            configured: config.workers,
            handed_out: Mutex::new(vec![false; workers]),
            threads: Mutex::default(),
            held_log: Mutex::new(held_log),
            recovery: describe(&recovered),
        });
        engine.start_threads();
        Ok(engine)
    }

    fn start_threads(self: &Arc<Self>) {
        let timers = self.timers.clone();
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            os::thread::Builder::new().name(name.into()).spawn(run).expect("threads can be started at start-up")
        };
        let mut threads = self.threads.lock();
        threads.push(spawn("heddle-timer", Box::new(move || timers.run())));
        let undo = self.undo.clone();
        threads.push(spawn("heddle-undo", Box::new(move || undo.run_spilling())));
        // The purge thread must not keep the engine alive: it holds the engine only while it works.
        let weak = Arc::downgrade(self);
        let index = self.own_worker();
        let bell = self.purge.bell();
        threads.push(spawn("heddle-purge", Box::new(move || crate::purge::run(&weak, index, &bell))));
        let (weak, past) = (Arc::downgrade(self), self.past.clone());
        threads.push(spawn("heddle-past", Box::new(move || crate::past::run(&weak, &past))));
    }

    /// The engine's own place in the log: the last one, never handed out.
    fn own_worker(&self) -> usize {
        self.handed_out.lock().len() - 1
    }

    /// The slot of the past in the horizon.
    pub(crate) fn past_slot(&self) -> usize {
        self.own_worker() + 1
    }

    /// `index` has been marked as handed out.
    fn hand_out(self: &Arc<Self>, index: usize) -> Worker {
        let worker = Worker {
            engine: self.clone(),
            index,
            snapshots: Snapshots::default(),
            undo: RefCell::default(),
            open_writers: RefCell::default(),
            scratch: Cell::default(),
            company: Cell::default(),
            note: RefCell::default(),
            turns: Cell::new(0),
            commit_turns: Cell::new(0),
        };
        worker.tick();
        worker.park();
        worker
    }

    /// The handle of worker `index` (`0..config.workers`); each index is handed out once.
    pub fn worker(self: &Arc<Self>, index: usize) -> Worker {
        assert!(index < self.configured, "workers are numbered below Config::workers");
        let before = std::mem::replace(&mut self.handed_out.lock()[index], true);
        assert!(!before, "each worker is handed out once");
        self.hand_out(index)
    }

    /// A worker beyond the configured ones, for DDL threads, tests and tools (a few are kept in reserve).
    pub fn spare_worker(self: &Arc<Self>) -> Option<Worker> {
        let last = self.own_worker();
        self.worker_among(self.configured..last)
    }

    /// Any of the configured workers that nobody has.
    pub fn free_worker(self: &Arc<Self>) -> Option<Worker> {
        self.worker_among(0..self.configured)
    }

    fn worker_among(self: &Arc<Self>, mut indexes: std::ops::Range<usize>) -> Option<Worker> {
        let free = {
            let mut handed_out = self.handed_out.lock();
            let free = indexes.find(|index| !handed_out[*index]);
            free.inspect(|index| handed_out[*index] = true)
        };
        free.map(|index| self.hand_out(index))
    }

    /// Upper limit of [`Worker::index`]: the configured workers and the spare ones. For per-worker counters.
    pub fn worker_slots(&self) -> usize {
        self.own_worker()
    }

    /// The tree that every data directory has: the catalog lives in it.
    pub fn catalog_tree(&self) -> TreeRef {
        self.store.catalog_tree()
    }

    pub(crate) fn clock(&self) -> &AtomicU64 {
        &self.store.counters.clock
    }

    /// Advances the commit clock; returns the caller's timestamp.
    pub(crate) fn advance_clock(&self) -> u64 {
        // AcqRel: a snapshot that includes the time sees the status that was set before.
        self.clock().fetch_add(1, Ordering::AcqRel) + 1
    }

    /// The time of the commit clock: snapshots that are taken from now on are of this time, or later.
    pub fn commit_time(&self) -> u64 {
        // Acquire: everything committed up to this number has happened for the caller.
        self.clock().load(Ordering::Acquire)
    }

    /// Every snapshot in use, or yet to be taken, is at or above this timestamp.
    pub(crate) fn horizon(&self) -> u64 {
        self.horizon.compute(self.clock())
    }

    /// How long a plain `Txn::commit` waits.
    pub fn durability(&self) -> Durability {
        self.store.wal.durability()
    }

    pub fn status(&self) -> EngineStatus {
        let (pool_dirty, pool_used) = self.store.pool.usage();
        let (read, written, evicted) = self.store.pool.page_counts();
        let clock = self.clock().load(Ordering::Acquire);
        EngineStatus {
            pool_frames: self.store.pool.frame_count(),
            pool_used,
            pool_dirty,
            pages_read: read,
            pages_written: written,
            pages_evicted: evicted,
            frame_waits: self.store.pool.frame_waits(),
            log_flushes: self.store.wal.flushes(),
            log_bytes: self.store.wal.written(),
            redo_bytes: self.store.redo_bytes(),
            redo_bytes_max: self.store.wal.redo_bytes_max(),
            undo_bytes: self.undo.bytes(),
            undo_memory_bytes: self.undo.memory_bytes(),
            undo_file_bytes: self.undo.file_bytes(),
            past_us: self.past_us(),
            clock,
            history: clock.saturating_sub(self.horizon()),
            purge_backlog: self.purge.backlog(),
            lock_waits: self.locks.waits.load(Ordering::Relaxed),
            lock_wait_us: self.locks.wait_us.load(Ordering::Relaxed),
            lock_wait_us_max: self.locks.wait_us_max.load(Ordering::Relaxed),
            lock_waiters: self.locks.waiters(),
            deadlocks: self.locks.deadlocks.load(Ordering::Relaxed),
            locked_rows: self.locks.rows(),
            last_deadlock: self.locks.last_deadlock(),
            recovery: self.recovery.clone(),
        }
    }

    /// The locks and their waiters.
    pub fn locks(&self) -> LockReport {
        self.locks.report(&self.statuses)
    }

    /// The size that the buffer pool can have that is nearest to this one.
    pub fn pool_bytes_near(&self, bytes: u64) -> u64 {
        self.store.pool.bytes_near(bytes)
    }

    /// The state of a change of the buffer pool's size.
    pub fn pool_resize(&self) -> ResizeState {
        self.store.pool.resize_state()
    }

    /// Changes the size of the buffer pool to the nearest possible size, and returns that. Shrinking continues in the
    /// background: [`Self::pool_resize`].
    ///
    /// # Errors
    /// An earlier shrink has not ended.
    pub fn resize_pool(&self, bytes: u64) -> std::result::Result<u64, ResizeBusy> {
        self.store.pool.resize(bytes)
    }

    /// Writes all changed pages home and moves the checkpoint.
    pub fn checkpoint(&self) {
        self.store.checkpoint();
    }

    /// Stops background threads, writes a checkpoint, releases the directory. Idempotent.
    ///
    /// # Errors
    /// I/O.
    pub fn shutdown(&self) -> std::result::Result<(), Error> {
        self.stop_threads();
        self.store.shutdown(self.own_worker())?;
        Ok(())
    }

    fn stop_threads(&self) {
        self.timers.stop();
        self.purge.stop();
        self.past.stop();
        self.undo.stop_spilling();
        for thread in std::mem::take(&mut *self.threads.lock()) {
            // The last reference may be dropped by one of these threads.
            if thread.thread().id() != os::thread::current().id() && thread.join().is_err() {
                os::report(format_args!("a background thread ended in a panic"));
            }
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.stop_threads();
    }
}

fn describe(recovered: &Recovered) -> String {
    if recovered.log_bytes == 0 && recovered.torn_pages == 0 {
        return String::new();
    }
    format!(
        "{} KiB of log applied, {} transactions rolled back, {} torn pages restored",
        recovered.log_bytes >> 10,
        recovered.losers.len(),
        recovered.torn_pages
    )
}

impl Engine {
    /// Follows the log from a place on that [`Self::open_holding`] has kept, or from what is durable now.
    pub fn follow_log(&self, place: Option<LogPlace>) -> LogFollower {
        let held = self.held_log.lock().take();
        let start = place.map(|place| (place, held.unwrap_or_else(|| self.store.wal.hold(place.position))));
        self.store.follow_log(start)
    }

    /// Where the log ends that is durable.
    pub fn log_end(&self) -> u64 {
        self.store.wal.written()
    }

    /// Makes durable what was logged so far, and tells where the log ends then. Blocks for a flush.
    pub fn flush_log(&self) -> u64 {
        self.store.wal.flush_all().position
    }

    /// Wakes the thread that follows the log.
    pub fn wake_log_follower(&self) {
        self.store.wal.wake_follower();
    }

    /// Begins a consistent copy of the data directory; see [`storage::hot_copy`].
    ///
    /// # Errors
    /// I/O.
    pub fn hot_copy(
        &self,
        since: Option<storage::hot_copy::Basis>,
    ) -> std::result::Result<storage::hot_copy::HotCopy, storage::Error> {
        self.store.hot_copy(since)
    }
}

/// Undoes, by key, the changes of transactions without an end.
fn undo_losers(store: &Store, worker: usize, recovered: &Recovered) -> std::result::Result<(), Error> {
    storage::recovery::undo_losers(recovered, |change| match blocking(|| undo_loser(store, worker, change)) {
        // Dropped after the change was made.
        Ok(()) | Err(storage::Error::NoSuchTree) => Ok(()),
        Err(e) => tolerate(recovered.forced, Err(e)),
    })?;
    for txn in recovered.losers.keys() {
        write_aborted(store.wal.append(worker).buffer(), *txn);
    }
    Ok(())
}

fn undo_loser(store: &Store, worker: usize, change: &RowChange<'_>) -> storage::Result<()> {
    store.wal.check_buffer(worker)?;
    loop {
        let leaf = store.latch_leaf(change.tree, change.key)?;
        let slot = leaf.page.search(change.key);
        // A change that a rollback before the crash has undone already is recognised by the mark.
        let own = slot.is_ok_and(|index| leaf.page.record(index).header.mark == change.txn);
        if !own {
            return Ok(());
        }
        let (op, (header, payload)) = match change.old {
            Some(old) => (RowOp::Put, old),
            None => (RowOp::Remove, (RecordHeader::default(), &[][..])),
        };
        if op == RowOp::Put && !leaf.page.has_room(slot, header.flags, change.key, payload.len()) {
            drop(leaf);
            store.split(worker, change.tree, change.key, Purpose::Relief)?;
            continue;
        }
        let undo = RowChange { op, header, payload, old: None, compensation: true, ..*change };
        store.change_row(worker, &leaf, slot, &undo);
        return Ok(());
    }
}

/// Buffers reused from operation to operation.
#[derive(Default)]
pub(crate) struct Scratch {
    pub payload: Vec<u8>,
    pub key: Vec<u8>,
}

/// One thread's part of the engine: its log buffer, transaction slots and undo segments. Not `Sync`; sessions of one thread share it.
pub struct Worker {
    pub(crate) engine: Arc<Engine>,
    pub(crate) index: usize,
    pub(crate) snapshots: Snapshots,
    pub(crate) undo: RefCell<UndoWriter>,
    /// First epochs of this worker's transactions that have changed something.
    open_writers: RefCell<Vec<u64>>,
    pub(crate) scratch: Cell<Scratch>,
    company: Cell<Company>,
    /// Goes into the log with the next transaction that takes it ([`Worker::take_note`]).
    note: RefCell<Option<Box<[u8]>>>,
    /// Turns since the last commit.
    turns: Cell<u32>,
    /// Turns between two commits, on average over some.
    commit_turns: Cell<u32>,
}

/// Turns from commit to commit, on average and rounded down at each, from which on commits are rare. A command and the sleep after it are two
/// turns, so that is some ten to fourteen commands.
const TURNS_RARE: u32 = 20;
/// Further turns are not counted, so that one long pause is soon forgotten.
const TURNS_MAX: u32 = 200;

impl Worker {
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// This worker's number: below the configured count for a server thread, above it for spare ones.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Marks a quiescent point of this thread: no statement of it is inside an engine call. Call once per event loop turn
    /// (and at least every few milliseconds while busy), so that old versions can be reclaimed.
    pub fn tick(&self) {
        self.turns.set(self.turns.get().saturating_add(1));
        self.snapshots.tick(&self.engine.horizon, self.index, self.engine.clock());
    }

    /// Requests the page of the row of `key`, if it is not in memory: the row will be read soon.
    pub fn fetch_leaf(&self, tree: TreeRef, key: &[u8]) {
        self.engine.store.fetch_leaf(tree, key);
    }

    /// The thread goes to sleep: only its open snapshots hold anything back. Call `tick` before the next engine call.
    pub fn park(&self) {
        self.snapshots.park(&self.engine.horizon, self.index);
        if UndoStore::has_retired(&self.undo.borrow()) {
            self.engine.undo.reclaim(&mut self.undo.borrow_mut(), self.engine.horizon());
        }
    }

    /// Sets the note for the next transaction that changes the catalog, see [`Txn::note`].
    pub fn set_note(&self, note: Option<Box<[u8]>>) {
        self.note.replace(note);
    }

    /// Takes that note.
    pub fn take_note(&self) -> Option<Box<[u8]>> {
        self.note.take()
    }

    /// Which other sessions are busy, as far as this thread knows.
    pub fn set_company(&self, company: Company) {
        self.company.set(company);
    }

    /// A commit that writes: does this thread flush it?
    ///
    /// A thread that sleeps for its commit gives its processor to others, and is a while coming back; meanwhile its client's thread lives on
    /// another one, and waking each other costs more from then on. That is worth waiting awake where many commands come between two commits.
    pub(crate) fn own_flush(&self) -> OwnFlush {
        let turns = (self.commit_turns.get() * 7 + self.turns.replace(0).min(TURNS_MAX)) / 8;
        self.commit_turns.set(turns);
        match self.company.get() {
            Company::Nobody => OwnFlush::IfFree,
            Company::OtherThreads if turns >= TURNS_RARE => OwnFlush::Awake,
            Company::OtherThreads | Company::ThisThread => OwnFlush::No,
        }
    }

    /// Until all that was logged so far is durable, and with it each commit that anybody can see.
    pub fn log_stall(&self) -> crate::Stall {
        crate::Stall::Storage(self.engine.store.wal.stall_for_flush(self.index))
    }

    /// Repeats a call on this thread until it answers, waiting out its stalls: for threads that may block.
    ///
    /// # Errors
    /// The call's error.
    pub fn wait<T>(&self, mut call: impl FnMut() -> Result<T>) -> std::result::Result<T, Error> {
        loop {
            self.tick();
            match call() {
                Ok(value) => return Ok(value),
                Err(Interrupt::Error(e)) => return Err(e),
                Err(Interrupt::Stall(stall)) => {
                    self.park();
                    stall.wait_blocking();
                }
            }
        }
    }

    pub fn begin(&self, isolation: Isolation) -> Txn {
        Txn::new(isolation)
    }

    /// Makes an empty tree. Not transactional: after a crash the tree may exist without an owner.
    ///
    /// # Errors
    /// Stalls; a full disk.
    pub fn create_tree(&self) -> Result<TreeRef> {
        Ok(self.engine.store.create_tree(self.index)?)
    }

    /// Reserves an identity and a root for a tree that is made later, once the catalog has recorded it.
    /// [`Self::drop_tree_slice`] also accepts a tree that was not made.
    ///
    /// # Errors
    /// Stalls; a full disk.
    pub fn reserve_tree(&self) -> Result<TreeRef> {
        Ok(self.engine.store.reserve_tree(self.index)?)
    }

    /// Makes a reserved tree. Not transactional.
    ///
    /// # Errors
    /// Stalls; an I/O error.
    pub fn make_tree(&self, tree: TreeRef) -> Result<()> {
        Ok(self.engine.store.make_tree(self.index, tree)?)
    }

    /// The position of a key in a tree, or of the tree's end: for estimates.
    ///
    /// # Errors
    /// A stall while a page on the way is read; damage.
    pub fn place(&self, tree: TreeRef, key: &[u8], last: bool) -> Result<Place> {
        Ok(self.engine.store.place(tree, key, last)?)
    }

    /// The leaf at a part (0 to 1) of the tree's width, with its first key: for samples.
    ///
    /// # Errors
    /// As [`Self::place`].
    pub fn place_at(&self, tree: TreeRef, part: f64, first_key: &mut Vec<u8>) -> Result<Place> {
        Ok(self.engine.store.place_at(tree, part, first_key)?)
    }

    /// Frees the pages of a tree that nobody can reach any more; `Ok(true)` when done. Blocks on page reads: for background threads.
    ///
    /// # Errors
    /// Damage; I/O.
    pub fn drop_tree_slice(&self, tree: TreeRef) -> Result<bool> {
        self.engine.store.drop_tree(self.index, tree)?;
        Ok(true)
    }

    /// Called when a transaction of this worker makes its first change.
    pub(crate) fn open_writer(&self) -> u64 {
        let epoch = self.engine.store.wal.pin_undo(self.index);
        self.open_writers.borrow_mut().push(epoch);
        epoch
    }

    pub(crate) fn close_writer(&self, epoch: u64) {
        let mut open = self.open_writers.borrow_mut();
        if let Some(at) = open.iter().position(|e| *e == epoch) {
            open.swap_remove(at);
        }
        let oldest = open.iter().copied().min().unwrap_or(u64::MAX);
        self.engine.store.wal.set_undo_pin(self.index, oldest);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A thread that is gone holds nothing back; its number can be handed out again.
        self.snapshots.park(&self.engine.horizon, self.index);
        self.engine.undo.adopt(&mut self.undo.borrow_mut());
        self.engine.handed_out.lock()[self.index] = false;
    }
}

/// Waits out a wait policy's default: InnoDB's `innodb_lock_wait_timeout`.
pub(crate) const LOCK_WAIT_TIMEOUT: Duration = Duration::from_secs(50);
