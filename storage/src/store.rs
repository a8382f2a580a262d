//! The store: one data directory, opened.
//!
//! ```text
//! DIR/heddle.lock         held by the running server
//! DIR/heddle.control      where recovery begins
//! DIR/heddle.data         pages
//! DIR/heddle.doublewrite  the last batch of pages on their way home
//! DIR/redo/               the write-ahead log
//! ```
//! The checkpoint is a rolling one: it stands at the first log block that a changed page or an open transaction may still need. How far
//! redo may have to go is bounded by a time, the recovery target: what a restart has redone per second, here, in the past, says how much
//! log that is. (An open transaction keeps its log beyond that bound; what is older than every changed page is only read, not redone.)

use crate::buffer::{CleanRequests, Cleaner, CleanerConfig, Pool, doublewrite};
use crate::control::{Control, ControlState};
use crate::progress::Progress;
use crate::recovery::{Recovered, redo, survey};
use crate::space::Space;
use crate::wal::{Bounds, Durability, LogFollower, LogHold, LogPlace, LogReader, Wal, WalConfig, cut, find_damage};
use crate::{Error, TreeRef};
use os::time::Instant;
use os::{DirLock, File, LockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use sync::CachePadded;
use sync::Mutex;
use sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How a store is opened.
#[derive(Clone, Debug)]
pub struct StoreConfig {
    pub data_dir: PathBuf,
    pub buffer_pool_bytes: u64,
    /// Log buffers: one per thread that changes pages. The store adds its own.
    pub workers: usize,
    pub durability: Durability,
    /// How long redo may take after a crash.
    pub recovery_target: Duration,
    /// A damaged log is cut off where the damage begins; what lies behind is lost.
    pub force_recovery: bool,
}

/// Bytes of log redone per second, as long as no recovery has shown another rate.
const REDO_RATE_ASSUMED: u64 = 64 << 20;
/// A recovery over less than this does not give a reliable rate.
const REDO_RATE_BYTES_MIN: u64 = 64 << 20;
/// The bound on the log that a restart redoes: never below or above these.
const REDO_BYTES_MIN: u64 = 96 << 20;
const REDO_BYTES_MAX: u64 = 256 << 30;

/// The log that may be redone within `target`, at `rate` bytes per second (0: not known).
fn redo_bytes(rate: u64, target: Duration) -> u64 {
    if cfg!(sim) {
        return 256 << 10;
    }
    let rate = if rate == 0 { REDO_RATE_ASSUMED } else { rate };
    rate.saturating_mul(target.as_secs()).clamp(REDO_BYTES_MIN, REDO_BYTES_MAX)
}

/// Counters that must survive a restart; `txn` moves them, the checkpoint writes them down.
pub struct Counters {
    /// The commit clock: the timestamp of the newest commit.
    pub clock: CachePadded<AtomicU64>,
    /// The highest transaction sequence number, asked for at each checkpoint.
    pub txn_sequence: Mutex<Box<dyn Fn() -> u64 + Send>>,
}

/// Pages, log and trees of one data directory. Shared by `Arc`.
pub struct Store {
    pub pool: Arc<Pool>,
    pub wal: Arc<Wal>,
    pub(crate) space: Space,
    /// Held while pages are taken out of trees; before any latch.
    pub(crate) shrinking: Mutex<()>,
    pub counters: Arc<Counters>,
    recovering: Arc<AtomicBool>,
    control: Arc<ControlKeeper>,
    data_dir: PathBuf,
    requests: Arc<CleanRequests>,
    threads: Mutex<Vec<os::thread::JoinHandle<()>>>,
    stopped: AtomicBool,
    _lock: DirLock,
}

struct ControlKeeper {
    control: Control,
    state: Mutex<ControlState>,
    /// Ids given out so far; below `state.next_tree_id`.
    tree_ids: Mutex<u32>,
}

/// Tree ids are leased in the control file in runs of this many.
const TREE_ID_LEASE: u32 = 256;
/// The catalog's tree exists in every data directory.
pub(crate) const CATALOG_TREE_ID: u32 = 1;
/// The first page that is ever allocated.
pub(crate) const CATALOG_ROOT: crate::page::PageId = 2;

impl Store {
    /// Opens or creates the directory and redoes the log. `sequence_of` extracts the sequence number of a transaction id.
    ///
    /// # Errors
    /// A directory that is locked, foreign or unwritable; damage; I/O.
    pub fn open(config: &StoreConfig, sequence_of: impl Fn(u64) -> u64) -> Result<(Arc<Self>, Recovered), Error> {
        let dir = &config.data_dir;
        let (lock, fresh) = enter(dir)?;
        let control_path = dir.join("heddle.control");
        let (control, mut state) = if fresh {
            let state = ControlState {
                run: 0,
                generation: 0,
                place: LogPlace::default(),
                epoch: 1,
                redo_epoch: 1,
                clock: 1,
                txn_sequence: 0,
                redo_rate: 0,
                next_tree_id: CATALOG_TREE_ID + 1,
                clean: true,
                log_end: 0,
                log_segments: 0,
            };
            (Control::create(&control_path, &state)?, state)
        } else {
            Control::open(&control_path)?
        };
        let has_lived = state.run > 0;
        let file = open_data(dir, has_lived)?;
        let area = dir.join("heddle.doublewrite");
        // Epochs without records are not written, so the log alone does not say how far they have come: none at or below the redo epoch may be
        // used again, its records would not be redone.
        let epoch = state.epoch.max(state.redo_epoch);
        let mut recovered = Recovered { clock: state.clock, txn_sequence: state.txn_sequence, epoch, ..Recovered::default() };
        let log_dir = if has_lived { present_log_directory(dir) } else { dir.join(LOG_DIRECTORY) };
        // The end of the log is needed before it can be continued: one pass reads, the next redoes.
        let began = Instant::now();
        let mut reader = LogReader::new(&log_dir, state.place);
        survey(&mut reader, &mut recovered)?;
        recovered.log_bytes = reader.bytes_read();
        let end = reader.end();
        if has_lived {
            judge_log(&mut reader, &state, config.force_recovery, &mut recovered)?;
        }
        // Until here nothing was changed.
        if control.was_older() {
            // Before anything else changes: an older version would not know what to make of it.
            state.generation += 1;
            control.write(&state)?;
        }
        let log_dir = make_log_directory(dir, log_dir)?;
        recovered.log_dir.clone_from(&log_dir);
        if recovered.forced {
            cut(&log_dir, end)?;
        }
        if has_lived && !os::fs::exists(&area) {
            os::report(format_args!(
                "{} is missing, and is made anew; pages that a crash has left half written are lost",
                area.display()
            ));
        }
        recovered.torn_pages = if fresh { 0 } else { doublewrite::restore_torn_pages(&file, &area)? };
        let doublewrite = doublewrite::open(&area)?;
        let first_epoch = recovered.epoch + 2;
        state.run += 1;
        state.clean = false;
        let store_worker = config.workers;
        let (wal, flusher) = Wal::open(
            &log_dir,
            (state.epoch, state.place),
            end,
            first_epoch,
            state.run,
            &WalConfig {
                workers: config.workers + 1,
                durability: config.durability,
                redo_bytes_max: redo_bytes(state.redo_rate, config.recovery_target),
            },
        )?;
        let pool = Pool::new(file, config.buffer_pool_bytes)?;
        let counters =
            Arc::new(Counters { clock: CachePadded::new(AtomicU64::new(state.clock)), txn_sequence: Mutex::new(Box::new(|| 0)) });
        let requests = Arc::new(CleanRequests::default());
        let tree_ids = Mutex::new(state.next_tree_id);
        state.log_segments = wal.segments_below();
        if config.durability != Durability::None {
            state.log_end = end.position;
        }
        let keeper = Arc::new(ControlKeeper { control, state: Mutex::new(state), tree_ids });
        keeper.write(|_| {})?;
        let recovering = Arc::new(AtomicBool::new(true));
        let redo_epoch = state.redo_epoch;
        let checkpoint = checkpointer(&pool, &wal, &counters, &keeper, &recovering, store_worker);
        let cleaner = Cleaner::new(
            pool.clone(),
            wal.clone(),
            CleanerConfig {
                worker: store_worker,
                doublewrite,
                sync: config.durability != Durability::None,
                checkpoint,
                requests: requests.clone(),
            },
        );
        let mut threads = pool.start(cleaner);
        threads.push(spawn("heddle-log", move || flusher.run()));
        let store = Arc::new(Self {
            space: Space::new(pool.clone())?,
            shrinking: Mutex::new(()),
            pool,
            wal,
            counters,
            recovering,
            control: keeper,
            data_dir: dir.clone(),
            requests,
            threads: Mutex::new(threads),
            stopped: AtomicBool::new(false),
            _lock: lock,
        });
        let mut reader = LogReader::new(&log_dir, store.control.state.lock().place);
        let done = redo(&store, &mut reader, &mut recovered, redo_epoch, sequence_of)
            .and_then(|()| store.settle(&recovered, store_worker));
        if let Err(e) = done {
            store.stop_threads();
            return Err(e);
        }
        store.counters.clock.store(recovered.clock, Ordering::SeqCst);
        store.learn_redo_rate(recovered.log_bytes, began.elapsed(), config.recovery_target)?;
        Ok((store, recovered))
    }

    /// Writes down how far the log has come.
    fn note_log(&self) -> Result<(), Error> {
        self.control.write(|state| note_log(state, &self.wal))
    }

    /// A recovery over `bytes` of log took so long: what that says of the next one.
    fn learn_redo_rate(&self, bytes: u64, took: Duration, target: Duration) -> Result<(), Error> {
        if bytes >= REDO_RATE_BYTES_MIN {
            let seen = (bytes as f64 / took.as_secs_f64().max(0.001)) as u64;
            self.control
                .write(|state| state.redo_rate = if state.redo_rate == 0 { seen } else { state.redo_rate / 2 + seen / 2 })?;
            self.wal.set_redo_bytes_max(redo_bytes(self.control.state.lock().redo_rate, target));
        }
        Ok(())
    }

    /// After redo: the allocation pages come into memory; a fresh directory gets its first pages.
    fn settle(&self, recovered: &Recovered, worker: usize) -> Result<(), Error> {
        let unlogged = recovered.log_bytes == 0 && self.control.state.lock().place == LogPlace::default();
        self.space.load(unlogged, recovered.pages_end)?;
        if self.space.is_empty() {
            crate::stall::blocking(|| self.space.add_group(&self.wal, worker, 0))?;
        }
        // Also when the first start was cut off between the two.
        if !self.space.is_allocated(CATALOG_ROOT)? {
            crate::stall::blocking(|| self.create_tree_as(worker, CATALOG_TREE_ID))?;
            self.wal.wait_durable(worker, self.wal.epoch());
            // From here on there is a log that must be found again.
            self.note_log()?;
        }
        Ok(())
    }

    /// The tree that every data directory has.
    pub fn catalog_tree(&self) -> TreeRef {
        TreeRef { id: CATALOG_TREE_ID, root: CATALOG_ROOT }
    }

    pub(crate) fn next_tree_id(&self) -> Result<u32, Error> {
        let mut next = self.control.tree_ids.lock();
        let limit = self.control.state.lock().next_tree_id;
        if *next >= limit {
            self.control.write(|state| state.next_tree_id = limit + TREE_ID_LEASE)?;
        }
        *next += 1;
        Ok(*next - 1)
    }

    /// The log from the oldest unwritten change to its end: what a restart would redo.
    pub fn redo_bytes(&self) -> u64 {
        let from = self.wal.position_of(self.wal.epoch().min(self.pool.oldest_dirty_epoch()));
        self.wal.written().saturating_sub(from)
    }

    /// Open transactions of the last run are undone: from now on the checkpoint may move. What was redone is written in the background, so
    /// that the next restart need not do it again.
    pub fn recovery_finished(&self) {
        self.recovering.store(false, Ordering::SeqCst);
        self.wal.recovery_finished();
        self.requests.ask(&self.pool);
    }

    /// Writes every changed page and moves the checkpoint.
    pub fn checkpoint(&self) {
        self.requests.flush_all(&self.pool);
    }

    /// Writes a last checkpoint and ends the threads. The caller has ended all transactions. Idempotent.
    pub fn shutdown(&self, worker: usize) -> Result<(), Error> {
        if self.stopped.swap(true, Ordering::SeqCst) {
            return Ok(());
        }
        self.wal.wait_durable(worker, self.wal.epoch());
        let changed = || self.pool.usage().0 as u64 * crate::page::PAGE_BYTES as u64;
        let all = changed();
        let mut progress = Progress::new("stopping", all);
        let see = || progress.show("of changed pages written", all.saturating_sub(changed()));
        self.requests.flush_seen(&self.pool, see);
        self.checkpoint();
        self.stop_threads();
        // A transaction that could not be ended (see `server`) is undone by the next start.
        let ended = self.wal.oldest_undo_epoch() == u64::MAX;
        self.control.write(|state| {
            note_log(state, &self.wal);
            state.clean = ended;
        })
    }

    /// The checkpoint as it stands, and a hold on the log from there on.
    pub(crate) fn hold_checkpoint(&self) -> (ControlState, LogHold) {
        // The checkpoint moves under this lock, and only then gives up log.
        let state = self.control.state.lock();
        (*state, self.wal.hold(state.place.position))
    }

    /// Follows the log from `place` on, under `hold`; without a place from what is durable now.
    pub fn follow_log(&self, start: Option<(LogPlace, LogHold)>) -> LogFollower {
        let dir = self.data_dir.join(LOG_DIRECTORY);
        match start {
            Some((place, hold)) => self.wal.follow(&dir, place, hold),
            None => {
                // Held first: the checkpoint is never behind it.
                let hold = self.wal.hold(self.wal.written());
                let place = self.wal.flush_all();
                self.wal.follow(&dir, place, hold)
            }
        }
    }

    /// Tree ids at and above this were never given out.
    pub(crate) fn tree_id_limit(&self) -> u32 {
        self.control.state.lock().next_tree_id
    }

    pub(crate) fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    fn stop_threads(&self) {
        self.stopped.store(true, Ordering::SeqCst);
        let mut threads = std::mem::take(&mut *self.threads.lock());
        // The cleaner may be waiting for the log: the flusher, started last, ends last.
        let flusher = threads.pop();
        self.pool.stop();
        threads.into_iter().for_each(join);
        self.wal.stop();
        flusher.into_iter().for_each(join);
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if !self.stopped.load(Ordering::SeqCst) {
            self.stop_threads();
        }
    }
}

impl ControlKeeper {
    fn write(&self, change: impl FnOnce(&mut ControlState)) -> Result<(), Error> {
        let mut state = self.state.lock();
        let mut next = *state;
        change(&mut next);
        next.generation += 1;
        self.control.write(&next)?;
        *state = next;
        Ok(())
    }
}

fn checkpointer(
    pool: &Arc<Pool>,
    wal: &Arc<Wal>,
    counters: &Arc<Counters>,
    keeper: &Arc<ControlKeeper>,
    recovering: &Arc<AtomicBool>,
    worker: usize,
) -> Box<dyn Fn() -> Result<u64, Error> + Send> {
    let (pool, wal, counters, keeper) = (pool.clone(), wal.clone(), counters.clone(), keeper.clone());
    let recovering = recovering.clone();
    Box::new(move || {
        if recovering.load(Ordering::SeqCst) {
            return Ok(wal.position_of(keeper.state.lock().redo_epoch));
        }
        // The order matters: the epoch first, then what may need older ones (see Pool::oldest_dirty_epoch, Wal::pin_undo).
        let now = wal.epoch();
        let open = if os::mutated("forget-checkpoint-pin") { u64::MAX } else { wal.oldest_undo_epoch() };
        let redo = now.min(pool.oldest_dirty_epoch());
        let needed = redo.min(open);
        let redo_position = wal.position_of(redo);
        let place = wal.place_of(needed);
        let (clock, sequence) = (counters.clock.load(Ordering::SeqCst), (counters.txn_sequence.lock())());
        let known = *keeper.state.lock();
        let moves = place.position > known.place.position || redo_position > wal.position_of(known.redo_epoch);
        if moves || wal.segments_below() > known.log_segments {
            // A transaction gives up its undo pin when its COMMIT or ABORTED record is in a buffer. Before the records that it would
            // have to be undone from go, that record must be on disk.
            wal.wait_durable(worker, wal.epoch());
            keeper.write(|state| {
                if place.position > state.place.position {
                    state.place = place;
                    state.epoch = needed;
                }
                state.redo_epoch = state.redo_epoch.max(redo);
                state.clock = clock;
                state.txn_sequence = state.txn_sequence.max(sequence);
                note_log(state, &wal);
            })?;
            wal.recycle_before(place.position)?;
        }
        Ok(redo_position)
    })
}

fn join(thread: os::thread::JoinHandle<()>) {
    if thread.join().is_err() {
        os::report(format_args!("a background thread ended in a panic"));
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> os::thread::JoinHandle<()> {
    os::thread::Builder::new().name(name.into()).spawn(run).expect("threads can be started at start-up")
}

fn note_log(state: &mut ControlState, wal: &Wal) {
    state.log_segments = wal.segments_below();
    // Without syncs nobody knows what is durable.
    if wal.durability() != Durability::None {
        state.log_end = wal.written();
    }
}

/// The data file; only a first start makes one.
fn open_data(dir: &Path, has_lived: bool) -> Result<File, Error> {
    let path = dir.join("heddle.data");
    if has_lived && !os::fs::exists(&path) {
        return Err(missing(&path, "it holds all tables"));
    }
    Ok(File::open(&path, !has_lived)?)
}

pub(crate) fn missing(path: &Path, why: &str) -> Error {
    Error::Directory(format!("{} is missing ({why}): put it back, or give another --data-dir", path.display()).into())
}

/// The directory of the log. Up to format 4 it had another name.
pub(crate) fn present_log_directory(dir: &Path) -> PathBuf {
    let (path, older) = (dir.join(LOG_DIRECTORY), dir.join(LOG_DIRECTORY_FORMAT_4));
    if !os::fs::exists(&path) && os::fs::exists(&older) { older } else { path }
}

/// Makes the directory of the log when there is none, and gives it its present name.
fn make_log_directory(dir: &Path, present: PathBuf) -> Result<PathBuf, Error> {
    let path = dir.join(LOG_DIRECTORY);
    if present != path {
        os::fs::rename(&present, &path)?;
    }
    os::fs::create_dir_all(&path)?;
    // Also when an earlier start was cut off before it came here.
    os::sync_dir(dir)?;
    Ok(path)
}

/// `reader` has read the log. Damage is an error; with `force` the log is cut off at the damage, and the loss is
/// reported.
fn judge_log(reader: &mut LogReader, state: &ControlState, force: bool, recovered: &mut Recovered) -> Result<(), Error> {
    let Some(damage) = find_damage(reader, &bounds(state))? else {
        if force {
            os::report(format_args!("the log is not damaged: force-recovery has nothing to do, take the setting out again"));
        }
        return Ok(());
    };
    if !force {
        return Err(Error::Directory(format!("the log is damaged: {damage}. {FORCE_ADVICE}").into()));
    }
    os::report(format_args!("force-recovery: the log is damaged: {damage}"));
    os::report(format_args!(
        "force-recovery: starting without that. Dump what can be read, and load it into a new data directory"
    ));
    // Pages may have changes of the lost part. Epochs and transactions from now on are above all of that.
    recovered.epoch = recovered.epoch.max(damage.epoch) + FORCED_EPOCHS;
    recovered.txn_sequence += FORCED_TRANSACTIONS;
    recovered.forced = true;
    Ok(())
}

const FORCE_ADVICE: &str = "Copy the directory, then start with --force-recovery to go on with what comes before the damage";
/// More than a log has.
const FORCED_EPOCHS: u64 = 1 << 28;
const FORCED_TRANSACTIONS: u64 = 1 << 32;

/// What the control file knows of the log.
pub(crate) fn bounds(state: &ControlState) -> Bounds {
    Bounds { begin: state.place, end: state.log_end, segments: state.log_segments, is_exact: state.clean }
}

/// The directory of the log, now and up to format 4.
pub(crate) const LOG_DIRECTORY: &str = "redo";
const LOG_DIRECTORY_FORMAT_4: &str = "log";

/// Locks the directory, making it when missing. `true`: it holds no data yet.
fn enter(dir: &Path) -> Result<(DirLock, bool), Error> {
    os::fs::create_dir_all(dir)
        .map_err(|e| Error::Directory(format!("cannot make the data directory {}: {e}", dir.display()).into()))?;
    let control = dir.join("heddle.control");
    let has_control = os::fs::exists(&control);
    if !has_control {
        // A first start makes it before everything else.
        let later = ["heddle.data", LOG_DIRECTORY, LOG_DIRECTORY_FORMAT_4];
        if later.iter().any(|name| os::fs::exists(&dir.join(name))) {
            return Err(missing(&control, "without it nobody knows where the log begins"));
        }
        let foreign = os::fs::list(dir)
            .map_err(|e| Error::Directory(format!("cannot read {}: {e}", dir.display()).into()))?
            .into_iter()
            .find(|name| !is_our_own(name));
        if let Some(name) = foreign {
            let what = format!(
                "{} is not empty and not a Heddle data directory (it holds {:?}): give another --data-dir",
                dir.display(),
                name
            );
            return Err(Error::Directory(what.into()));
        }
    }
    match DirLock::acquire(&dir.join("heddle.lock")) {
        Ok(lock) => Ok((lock, !has_control)),
        Err(LockError::Held(process)) => {
            let other = format!("the data directory {} is in use by another server{}", dir.display(), in_brackets(process));
            Err(Error::Directory(other.into()))
        }
        Err(LockError::Io(e)) => Err(Error::Directory(format!("the data directory is not writable: {e}").into())),
    }
}

/// The process that has a directory, for the end of a sentence.
pub(crate) fn in_brackets(process: Option<u32>) -> String {
    process.map_or_else(String::new, |number| format!(" (process {number})"))
}

/// Files that a first start, cut off in its middle, may have left.
fn is_our_own(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|n| n.starts_with("heddle.") || n == "lost+found")
}
