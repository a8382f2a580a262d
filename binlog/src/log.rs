//! The binary log of a server: its state, which sessions read and wait for, and the thread that renders it.
//!
//! 1. The thread follows the write-ahead log behind its durable end, epoch by epoch (`storage::wal::LogFollower`).
//! 2. Records of rows are gathered by transaction. The transactions that commit in an epoch are rendered in the order of their timestamps.
//! 3. What is rendered is written to the file, and then published: end of the file, set of GTIDs, place in the write-ahead log. Who waits is woken.
//! 4. Now and then the state is written down, and log that is not needed any more is released.
//!
//! M1: the order of groups is (epoch, timestamp of the commit). A transaction that saw the commit of another has a later epoch, or the same epoch and a
//! later timestamp (`storage::wal`, W1), so the order is one in which the transactions can be applied one after the other; and it is the same each
//! time the log is read.
//! M2: a group is rendered only from an epoch that is durable. So what is in the stream was committed, and stays so after a crash.
//! M3: each committed transaction is rendered once: reading begins again where the oldest transaction began that the state does not cover, and commits
//! whose numbers are found in the files behind the state's byte are passed over (`files`, F1, F2). Until all of them have been met, the state stays as
//! it is and no file is begun or removed: a state with a later byte would not find those that lie before it.
//! M4: the write-ahead log is held from the place on that the state names.
//! M5: commits wait for nothing here. Only who asks for the set of GTIDs waits, until the log that was durable before is rendered.

mod requests;

use crate::definitions::{Definitions, Role};
use crate::event::{self, GroupHead};
use crate::files::{self, Entry, State, Writer};
use crate::gather::{Change, Gathered};
use crate::gtid::{Gtid, GtidSet, NUMBER_MAX, Uuid};
use crate::large::{Deleted, LargeReader};
use crate::note::Note;
use crate::render::{self, Body, Moment};
use crate::settings::Settings;
use crate::writeset::History;
use hashbrown::{HashMap, HashSet};
use os::time::Instant;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime};
use storage::page::TOMBSTONE;
use storage::wal::record::{Record, RowChange, RowOp, chunks_of_workers};
use storage::wal::{LogFollower, LogPlace, LogReader};
use sync::atomic::{AtomicBool, AtomicU64, Ordering};
use sync::{Condvar, Mutex};
use table::Database;
use table::log_view::CatalogKey;
use txn::{Engine, Worker};

/// The state is written down after so much of the write-ahead log, or so long after the first change behind it.
const STATE_LOG_BYTES: u64 = 64 << 20;
const STATE_PERIOD: Duration = Duration::from_secs(10);
/// The thread lets commits gather before it looks again, unless somebody waits.
const GATHER_PAUSE: Duration = Duration::from_millis(2);
/// While there is always more to render: who reads the files gets it so often.
const PUBLISH_PERIOD: Duration = Duration::from_millis(10);
const IDLE: Duration = Duration::from_secs(3600);

/// What sessions see.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Names of the files, oldest first; the last one is being written.
    pub files: Vec<String>,
    /// Whole groups end here in the last file.
    pub end: u64,
    pub executed: Arc<GtidSet>,
    /// GTIDs that no file has.
    pub purged: Arc<GtidSet>,
    /// The write-ahead log is rendered up to here.
    pub rendered: u64,
    /// Grows with every change of the above.
    pub version: u64,
    /// The timestamp of the newest commit that is rendered.
    pub commit_time: u64,
    /// Why nothing is rendered any more.
    pub failed: Option<String>,
    pub is_stopped: bool,
}

#[derive(Default)]
struct Shared {
    status: Status,
    wakers: Vec<Waker>,
    requests: Vec<Request>,
    /// Requests that are done, counted.
    done: u64,
    asked: u64,
    outcomes: HashMap<u64, Result<(), String>>,
    /// Files that dumps read: they are not purged.
    used: HashMap<u64, String>,
    next_user: u64,
}

/// What a session wants done.
#[derive(Clone, Debug)]
enum Request {
    /// FLUSH BINARY LOGS
    Rotate,
    /// RESET BINARY LOGS AND GTIDS, with the number of the first file.
    Reset(u64),
    /// SET GLOBAL gtid_purged
    Purged { set: GtidSet, adds: bool },
    /// PURGE BINARY LOGS: files before this one.
    PurgeTo(String),
    /// PURGE BINARY LOGS BEFORE
    PurgeBefore(SystemTime),
}

/// The binary log. Shared by all threads of the server.
pub struct BinaryLog {
    dir: PathBuf,
    uuid: Uuid,
    engine: Arc<Engine>,
    settings: Mutex<Arc<Settings>>,
    shared: Mutex<Shared>,
    changed: Condvar,
    /// Somebody waits for what is durable to be rendered.
    urgent: AtomicBool,
    stop: Arc<AtomicBool>,
    /// [`Status::rendered`], for who frees dropped trees.
    reached: Arc<AtomicU64>,
    thread: Mutex<Option<os::thread::JoinHandle<()>>>,
}

/// The binary log cannot be opened, or a request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(pub String);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// From which position on the write-ahead log must be kept when the engine of this directory is opened; `None`: there is no binary log yet.
///
/// # Errors
/// A state that cannot be read.
pub fn log_needed_from(dir: &Path) -> Result<Option<u64>, Error> {
    Ok(files::read_state(dir)?.map(|state| state.position))
}

/// A file that a dump reads, until this is dropped.
pub struct Use {
    log: Arc<BinaryLog>,
    id: u64,
}

impl Use {
    pub fn move_to(&self, name: &str) {
        self.log.shared.lock().used.insert(self.id, name.to_owned());
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        self.log.shared.lock().used.remove(&self.id);
    }
}

impl BinaryLog {
    /// Opens the binary log of a directory, before sessions begin, and starts its thread.
    ///
    /// # Errors
    /// I/O; damage; a state that does not fit the write-ahead log.
    pub fn start(dir: &Path, uuid: Uuid, database: &Arc<Database>, settings: Settings) -> Result<Arc<Self>, Error> {
        let engine = Arc::clone(database.engine());
        let worker = engine.spare_worker().ok_or_else(|| Error("no spare worker is left for the binary log".to_owned()))?;
        let log = Arc::new(Self {
            dir: dir.into(),
            uuid,
            engine: Arc::clone(&engine),
            settings: Mutex::new(Arc::new(settings)),
            shared: Mutex::default(),
            changed: Condvar::new(),
            urgent: AtomicBool::new(false),
            stop: Arc::default(),
            reached: Arc::default(),
            thread: Mutex::new(None),
        });
        // Before anything is freed.
        database.keep_trees_for_reader(Arc::clone(&log.reached));
        let materialiser = Materialiser::open(Arc::clone(&log), database, &worker)?;
        // The worker belongs to one thread: it is given up here, and the thread takes one of its own.
        drop(worker);
        let of_thread = Arc::clone(&log);
        let engine = Arc::clone(&engine);
        let thread = os::thread::Builder::new().name("heddle-binlog".to_owned()).spawn(move || {
            let log = of_thread;
            match engine.spare_worker() {
                Some(worker) => materialiser.run(&worker),
                None => log.fail("no spare worker is left for the binary log"),
            }
        });
        *log.thread.lock() = Some(thread?);
        Ok(log)
    }

    /// Renders what is durable, and ends the thread. No session is left.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
        self.engine.wake_log_follower();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of the binary log panicked");
        }
    }

    pub fn dir(&self) -> &Path {
        &self.dir
    }

    pub fn uuid(&self) -> Uuid {
        self.uuid
    }

    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.lock())
    }

    pub fn set_settings(&self, settings: Settings) {
        *self.settings.lock() = Arc::new(settings);
    }

    pub fn status(&self) -> Status {
        self.shared.lock().status.clone()
    }

    /// Waits until the status is of another version than `seen`.
    pub fn poll_changed(&self, seen: u64, waker: &Waker) -> Poll<Status> {
        let mut shared = self.shared.lock();
        if shared.status.version != seen {
            return Poll::Ready(shared.status.clone());
        }
        shared.wakers.push(waker.clone());
        Poll::Pending
    }

    /// Asks for everything that is durable now; the answer is the position for [`Self::poll_rendered`].
    pub fn catch_up(&self) -> u64 {
        let end = self.engine.log_end();
        if self.shared.lock().status.rendered < end {
            self.urgent.store(true, Ordering::SeqCst);
            self.engine.wake_log_follower();
        }
        end
    }

    /// Waits until the write-ahead log is rendered up to `position`, or nothing will be rendered any more.
    pub fn poll_rendered(&self, position: u64, waker: &Waker) -> Poll<Status> {
        let mut shared = self.shared.lock();
        let status = &shared.status;
        if status.rendered >= position || status.failed.is_some() || status.is_stopped {
            return Poll::Ready(status.clone());
        }
        shared.wakers.push(waker.clone());
        Poll::Pending
    }

    /// Waits until all of `set` is executed, or nothing will be rendered any more.
    pub fn poll_executed(&self, set: &GtidSet, waker: &Waker) -> Poll<Status> {
        let mut shared = self.shared.lock();
        let status = &shared.status;
        if set.is_subset_of(&status.executed) || status.failed.is_some() || status.is_stopped {
            return Poll::Ready(status.clone());
        }
        shared.wakers.push(waker.clone());
        Poll::Pending
    }

    /// As [`Self::poll_rendered`], on a thread that may block, `longest` at most.
    pub fn wait_rendered(&self, longest: Duration) -> Status {
        let position = self.catch_up();
        let until = Instant::now() + longest;
        let mut shared = self.shared.lock();
        loop {
            let status = &shared.status;
            let left = until.saturating_duration_since(Instant::now());
            if status.rendered >= position || status.failed.is_some() || status.is_stopped || left.is_zero() {
                return status.clone();
            }
            self.changed.wait_for(&mut shared, left);
        }
    }

    fn ask(&self, request: Request) -> u64 {
        let mut shared = self.shared.lock();
        shared.asked += 1;
        shared.requests.push(request);
        let ticket = shared.asked;
        drop(shared);
        self.urgent.store(true, Ordering::SeqCst);
        self.engine.wake_log_follower();
        ticket
    }

    /// FLUSH BINARY LOGS; the answer is for [`Self::poll_done`].
    pub fn rotate(&self) -> u64 {
        self.ask(Request::Rotate)
    }

    /// RESET BINARY LOGS AND GTIDS
    pub fn reset(&self, first: u64) -> u64 {
        self.ask(Request::Reset(first))
    }

    /// SET GLOBAL gtid_purged
    pub fn set_purged(&self, set: GtidSet, adds: bool) -> u64 {
        self.ask(Request::Purged { set, adds })
    }

    /// PURGE BINARY LOGS TO
    pub fn purge_to(&self, name: &str) -> u64 {
        self.ask(Request::PurgeTo(name.to_owned()))
    }

    /// PURGE BINARY LOGS BEFORE
    pub fn purge_before(&self, time: SystemTime) -> u64 {
        self.ask(Request::PurgeBefore(time))
    }

    /// Waits until a request is done.
    pub fn poll_done(&self, ticket: u64, waker: &Waker) -> Poll<Result<(), Error>> {
        let mut shared = self.shared.lock();
        if let Some(outcome) = shared.outcomes.remove(&ticket) {
            return Poll::Ready(outcome.map_err(Error));
        }
        if let Some(why) = &shared.status.failed {
            return Poll::Ready(Err(Error(why.clone())));
        }
        if shared.status.is_stopped {
            return Poll::Ready(Err(Error("the server is stopping".to_owned())));
        }
        shared.wakers.push(waker.clone());
        Poll::Pending
    }

    /// A dump reads this file.
    pub fn use_file(self: &Arc<Self>, name: &str) -> Use {
        let mut shared = self.shared.lock();
        shared.next_user += 1;
        let id = shared.next_user;
        shared.used.insert(id, name.to_owned());
        Use { log: Arc::clone(self), id }
    }

    fn publish(&self, change: impl FnOnce(&mut Status)) {
        let mut shared = self.shared.lock();
        change(&mut shared.status);
        shared.status.version += 1;
        let wakers = std::mem::take(&mut shared.wakers);
        drop(shared);
        self.changed.notify_all();
        wakers.into_iter().for_each(Waker::wake);
    }

    #[cold]
    fn fail(&self, why: &str) {
        tracing::error!("the binary log stands still: {why}; commits go on, and the log is kept until the next start");
        self.publish(|status| status.failed = Some(why.to_owned()));
    }
}

/// The thread's own.
struct Materialiser {
    log: Arc<BinaryLog>,
    follower: LogFollower,
    definitions: Definitions,
    /// The definitions have changed since they were written down, and the number of the copy.
    trees_changed: bool,
    trees: u64,
    open: HashMap<u64, Gathered, foldhash::fast::FixedState>,
    /// Bytes in memory of all of them.
    memory: usize,
    writer: Writer,
    has_checksum: bool,
    files: Vec<Entry>,
    executed: GtidSet,
    purged: GtidSet,
    /// The highest number of this server's own GTIDs.
    last_number: u64,
    history: History,
    /// The last epoch that was rendered.
    epoch: u64,
    /// Epochs up to this one were rendered before the last start: their commits are passed over.
    rendered_epoch: u64,
    /// Numbers of commits behind it that the files have, and that have not been met yet. M3
    found: HashSet<u64>,
    commit_time: u64,
    /// What the log of earlier runs has of deleted large values, until it is rendered.
    earlier: Option<Deleted>,
    state_at: Instant,
    state_position: u64,
    payload: Vec<u8>,
    hasher: foldhash::fast::FixedState,
    /// Memory of transactions that have ended, of the last group, and of its first event.
    spare: Vec<Gathered>,
    body: Body,
    head: Vec<u8>,
}

/// Why the thread cannot go on.
struct Stop(String);

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<storage::Error> for Stop {
    fn from(error: storage::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<render::Error> for Stop {
    fn from(error: render::Error) -> Self {
        match error {
            render::Error::Io(error) => error.into(),
            render::Error::Row(why) => Self(why),
        }
    }
}

impl Materialiser {
    /// What a start makes of the directory; a new file is begun.
    fn open(log: Arc<BinaryLog>, database: &Arc<Database>, worker: &Worker) -> Result<Self, Error> {
        let dir = log.dir.clone();
        let engine = &log.engine;
        let mut files = files::read_index(&dir)?;
        let state = files::read_state(&dir)?;
        let (mut executed, mut purged) = (GtidSet::default(), GtidSet::default());
        let mut found = HashSet::default();
        let (mut state, mut kept) = (state, None);
        if let Some(known) = &state {
            let place = LogPlace { position: known.position, sequence: known.sequence };
            let follower = engine.follow_log(Some(place));
            let is_there = |mut reader: LogReader| reader.next_epoch(&mut Vec::new()).is_ok_and(|epoch| epoch.is_some());
            let reached = place.position >= engine.flush_log() || is_there(follower.ahead());
            kept = Some(follower);
            let set = |text: &str| GtidSet::parse(text).ok_or_else(|| Error("binlog.state has a wrong set of GTIDs".to_owned()));
            (executed, purged) = (set(&known.executed)?, set(&known.purged)?);
            if let Some(from) = files.iter().position(|entry| entry.name == known.file) {
                for (n, entry) in files.iter().enumerate().skip(from) {
                    let from = if n == from { known.offset } else { 4 };
                    let tail = files::scan_tail(&dir, &entry.name, from)?;
                    for (gtid, xid) in tail.groups {
                        gtid.iter().for_each(|gtid| executed.add(gtid));
                        found.insert(xid);
                    }
                    files::cut(&dir, &entry.name, tail.end)?;
                }
            } else {
                // Its files are gone.
                purged = executed.clone();
            }
            if !reached {
                tracing::warn!(
                    "the log does not reach back to where the binary log ends (the server has run without it, or the log was cut): \
                     changes made meanwhile are not in it"
                );
                state = None;
            }
        } else if !files.is_empty() {
            tracing::warn!("the binary log has files, but no state: it begins anew behind them");
            if let Some(last) = files.last() {
                executed = files::previous_gtids(&dir, &last.name)?;
                files::scan_tail(&dir, &last.name, 4)?
                    .groups
                    .iter()
                    .for_each(|(gtid, _)| gtid.iter().for_each(|g| executed.add(g)));
            }
            purged = files::previous_gtids(&dir, &files[0].name)?;
        }
        let (follower, definitions, rendered_epoch, trees) = match (&state, kept) {
            (Some(state), Some(follower)) => {
                let records = files::read_trees(&dir, state.trees)?;
                (follower, Definitions::new(records).map_err(Error)?, state.epoch, state.trees)
            }
            _ => {
                let follower = engine.follow_log(None);
                let records = database.tree_records(worker).map_err(|error| Error(format!("the catalog: {error:?}")))?;
                found.clear();
                (follower, Definitions::new(records).map_err(Error)?, 0, 0)
            }
        };
        let settings = log.settings();
        let number = files.last().and_then(|entry| files::number_of(&entry.name)).unwrap_or(0) + 1;
        let writer = begin_file(&log, number, &settings, &executed)?;
        files.push(Entry { name: writer.name.clone() });
        files::write_index(&dir, &files)?;
        let start = follower.place().position;
        let earlier = match &state {
            Some(_) => Some(Deleted::read(&dir, follower.ahead(), engine.log_end(), &definitions)?),
            None => None,
        };
        let last_number = executed.last_number(log.uuid);
        let mut history = History::default();
        history.restart();
        let mut materialiser = Self {
            has_checksum: settings.has_checksum,
            follower,
            definitions,
            trees_changed: state.is_none(),
            trees,
            open: HashMap::default(),
            memory: 0,
            writer,
            files,
            executed,
            purged,
            last_number,
            history,
            epoch: rendered_epoch,
            rendered_epoch,
            found,
            commit_time: 0,
            earlier,
            state_at: Instant::now(),
            state_position: start,
            payload: Vec::new(),
            hasher: foldhash::fast::FixedState::default(),
            spare: Vec::new(),
            body: Body::default(),
            head: Vec::new(),
            log,
        };
        // A new log is anew from now on; one that goes on has its state until more is rendered.
        if state.is_none() {
            materialiser.write_state().map_err(|stop| Error(stop.0))?;
        }
        materialiser.publish();
        Ok(materialiser)
    }

    fn run(mut self, worker: &Worker) {
        worker.park();
        loop {
            let is_stopping = self.log.stop.load(Ordering::SeqCst);
            if is_stopping {
                self.log.engine.flush_log();
            }
            match self.round(worker) {
                Ok(()) if is_stopping => break,
                Ok(()) => {}
                Err(stop) => {
                    self.log.fail(&stop.0);
                    return;
                }
            }
            if !self.log.urgent.swap(false, Ordering::SeqCst) {
                let longest = if self.follower.place().position == self.state_position { IDLE } else { STATE_PERIOD };
                let log = &self.log;
                self.follower.wait(longest, || log.urgent.load(Ordering::SeqCst) || log.stop.load(Ordering::SeqCst));
                if !self.log.urgent.load(Ordering::SeqCst) && !self.log.stop.load(Ordering::SeqCst) {
                    os::thread::sleep(GATHER_PAUSE);
                }
            }
        }
        if let Err(stop) = self.close() {
            tracing::error!("the binary log could not be closed: {}", stop.0);
        }
        self.log.publish(|status| status.is_stopped = true);
    }

    /// Renders all that is durable, does what was asked for, and writes the state if it is time.
    fn round(&mut self, worker: &Worker) -> Result<(), Stop> {
        let mut payload = std::mem::take(&mut self.payload);
        let mut published = Instant::now();
        loop {
            let before = self.follower.place();
            let Some(epoch) = self.follower.next_epoch(&mut payload)? else { break };
            if self.earlier.as_ref().is_some_and(|earlier| before.position >= earlier.end) {
                self.earlier = None;
            }
            self.epoch(worker, epoch, &payload, before)?;
            if self.found.is_empty() && self.writer.position() >= self.log.settings().file_bytes_max {
                self.rotate()?;
            }
            // While the log grows as fast as it is rendered, this has no end: who waits must not wait for one.
            if published.elapsed() >= PUBLISH_PERIOD {
                self.show()?;
                published = Instant::now();
            }
        }
        payload.shrink_to(4 << 20);
        self.payload = payload;
        // M2: what the files had at the start was durable then, and all that is durable has been read.
        debug_assert!(self.found.is_empty(), "{} groups of the files are not in the log", self.found.len());
        self.found.clear();
        self.show()
    }

    /// Makes what is rendered readable, does what was asked for, and writes the state if it is time.
    fn show(&mut self) -> Result<(), Stop> {
        self.writer.write()?;
        if self.log.reached.load(Ordering::Relaxed) != self.follower.place().position {
            self.publish();
        }
        // M3
        if !self.found.is_empty() {
            return Ok(());
        }
        self.serve()?;
        let position = self.follower.place().position;
        let is_due = position - self.state_position >= STATE_LOG_BYTES || self.state_at.elapsed() >= STATE_PERIOD;
        if position != self.state_position && is_due {
            self.write_state()?;
        }
        Ok(())
    }

    fn publish(&self) {
        let (end, rendered) = (self.writer.position(), self.follower.place().position);
        let status = self.log.status();
        let same_set = *status.executed == self.executed;
        let executed = if same_set { status.executed } else { Arc::new(self.executed.clone()) };
        let purged = if *status.purged == self.purged { status.purged } else { Arc::new(self.purged.clone()) };
        let files = if status.files.len() == self.files.len() && status.files.last() == Some(&self.writer.name) {
            None
        } else {
            Some(self.files.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>())
        };
        let commit_time = self.commit_time;
        self.log.publish(|status| {
            if let Some(files) = files {
                status.files = files;
            }
            (status.end, status.executed, status.purged) = (end, executed, purged);
            (status.rendered, status.commit_time) = (rendered, commit_time);
        });
        self.log.reached.store(rendered, Ordering::Release);
    }

    fn epoch(&mut self, worker: &Worker, epoch: u64, payload: &[u8], place: LogPlace) -> Result<(), Stop> {
        let mut commits: Vec<(u64, u64)> = Vec::new();
        for (of_worker, mut chunk) in chunks_of_workers(payload) {
            while let Some(record) = storage::wal::record::read(&mut chunk)? {
                match record {
                    // A transaction is rolled back by its own worker. What another one undoes in its name is purge, which removes what it has
                    // deleted, maybe in the epoch of its commit; or a recovery, after which it is aborted.
                    Record::Row { change, .. } if change.compensation && txn::worker_of(change.txn) != of_worker as usize => {}
                    Record::Row { change, .. } => self.row(&change, place)?,
                    Record::Structure(_) => {}
                    Record::Commit { txn, timestamp } => commits.push((timestamp, txn)),
                    Record::Aborted { txn } => self.forget(txn),
                    Record::Note { txn, bytes } => self.gathered(txn, place).note = Some(bytes.to_vec()),
                }
            }
        }
        // M1
        commits.sort_unstable();
        for (timestamp, txn) in commits {
            let Some(gathered) = self.open.remove(&txn) else { continue };
            self.memory -= gathered.memory();
            self.commit(worker, &gathered, timestamp, epoch)?;
            self.put_away(gathered);
        }
        self.epoch = epoch;
        Ok(())
    }

    fn gathered(&mut self, txn: u64, place: LogPlace) -> &mut Gathered {
        let spare = &mut self.spare;
        self.open.entry(txn).or_insert_with(|| Gathered::again(spare.pop(), place))
    }

    fn forget(&mut self, txn: u64) {
        if let Some(gathered) = self.open.remove(&txn) {
            self.memory -= gathered.memory();
            self.put_away(gathered);
        }
    }

    fn row(&mut self, change: &RowChange<'_>, place: LogPlace) -> Result<(), Stop> {
        let is_catalog = change.tree == self.log.engine.catalog_tree();
        if is_catalog && CatalogKey::parse(change.key).is_none() {
            // A transaction that changes accounts or programs only has a note.
            if !change.compensation {
                self.gathered(change.txn, place);
            }
            return Ok(());
        }
        let role = self.definitions.role(change.tree.id);
        let is_kept = match role {
            Some(Role::Index { unique }) => {
                if *unique && !change.compensation {
                    let hash = hash_of(&self.hasher, change.tree.id, change.key);
                    let spare = &mut self.spare;
                    let gathered = self.open.entry(change.txn).or_insert_with(|| Gathered::again(spare.pop(), place));
                    gathered.hashes.push(hash);
                }
                false
            }
            Some(Role::Clustered(_) | Role::Large) => true,
            None => is_catalog || !self.definitions.is_orphan(change.tree.id),
        };
        if !is_kept {
            return Ok(());
        }
        if change.compensation {
            // Purge removes what is deleted for everybody, as a transaction that has ended.
            let Some(gathered) = self.open.get_mut(&change.txn) else { return Ok(()) };
            let before = gathered.memory();
            gathered.undo(change.tree.id, change.key)?;
            self.memory = self.memory - before + gathered.memory();
            return Ok(());
        }
        let is_row = |flags: u8| flags & TOMBSTONE == 0;
        let found = Change {
            tree: change.tree.id,
            key: change.key,
            new: (change.op == RowOp::Put && is_row(change.header.flags)).then_some(change.payload),
            old: change.old.filter(|(header, _)| is_row(header.flags)).map(|(_, payload)| payload),
        };
        let is_unkeyed = matches!(role, Some(Role::Clustered(known)) if !known.wire.has_key());
        let is_hashed = !is_catalog && !matches!(role, Some(Role::Large));
        let spare = &mut self.spare;
        let gathered = self.open.entry(change.txn).or_insert_with(|| Gathered::again(spare.pop(), place));
        let before = gathered.memory();
        gathered.push(&found);
        gathered.is_unkeyed |= is_unkeyed;
        if is_hashed && gathered.hashes.len() < HASHES_MAX {
            gathered.hashes.push(hash_of(&self.hasher, change.tree.id, change.key));
        }
        gathered.spill(self.memory, || self.log.dir.join("binlog.spill"))?;
        self.memory = self.memory - before + gathered.memory();
        Ok(())
    }

    /// Keeps the memory of a transaction that has ended for one that comes.
    fn put_away(&mut self, gathered: Gathered) {
        if self.spare.len() < SPARE_MAX && gathered.is_small() {
            self.spare.push(gathered);
        }
    }

    /// A transaction has committed.
    fn commit(&mut self, worker: &Worker, gathered: &Gathered, timestamp: u64, epoch: u64) -> Result<(), Stop> {
        let catalog = self.log.engine.catalog_tree().id;
        let mut changes = Vec::new();
        let mut has_rows = false;
        gathered.for_each::<io::Error>(|change| {
            if change.tree == catalog {
                changes.push((change.key.to_vec(), change.new.map(<[u8]>::to_vec)));
            } else {
                has_rows = true;
            }
            Ok(())
        })?;
        // M3
        let is_old = epoch <= self.rendered_epoch;
        if is_old {
            return Ok(());
        }
        let note = match &gathered.note {
            Some(bytes) => Some(Note::parse(bytes).ok_or_else(|| Stop("a note in the log cannot be read".to_owned()))?),
            None => None,
        };
        let is_rendered = self.found.remove(&timestamp);
        self.commit_time = self.commit_time.max(timestamp);
        let is_definition = note.as_ref().is_some_and(|note| note.statement.is_some());
        let is_hidden = note.as_ref().is_some_and(|note| note.is_hidden);
        let is_named = note.as_ref().is_some_and(|note| note.gtid.is_some());
        let mut defined = Vec::new();
        if (has_rows || is_named) && !is_definition && !is_hidden && !is_rendered {
            // Before the definitions change: rows belong to those that were there (`table::log_view`, V1).
            self.render_rows(worker, gathered, note.as_ref(), (timestamp, epoch))?;
        }
        if is_hidden && let Some(gtid) = note.as_ref().and_then(|note| Gtid::parse(note.gtid.as_deref()?)) {
            self.executed.add(&gtid);
        }
        if !changes.is_empty() {
            defined = self.definitions.apply(changes).map_err(Stop)?;
            self.trees_changed = true;
        }
        if is_definition && !is_hidden && !is_rendered {
            let note = note.expect("it has a statement");
            self.render_definition(&note, &defined, timestamp)?;
        }
        Ok(())
    }

    fn moment(&self, xid: u64) -> Moment {
        Moment { time_us: self.follower.time_us(), xid }
    }

    fn render_rows(
        &mut self,
        worker: &Worker,
        gathered: &Gathered,
        note: Option<&Note>,
        (xid, epoch): (u64, u64),
    ) -> Result<(), Stop> {
        let settings = settings_of(self.log.settings(), note);
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        let log = Arc::clone(&self.log);
        let earlier = self.earlier.as_ref();
        let mut large =
            LargeReader { engine: &self.log.engine, worker, open: &self.open, follower: &self.follower, earlier, epoch };
        let how = (&*settings, self.moment(xid), self.has_checksum);
        let spill = || log.dir.join("binlog.spill");
        let definitions = &self.definitions;
        if !render::rows(&mut body, gathered, definitions, how, note, &mut large, spill)? {
            return Ok(());
        }
        let keys = (!gathered.is_unkeyed && gathered.hashes.len() < HASHES_MAX).then_some(&gathered.hashes[..]);
        let depends = self.history.note(keys, settings.history_max);
        self.put_group(&mut body, note, depends, &settings)?;
        self.body = body;
        Ok(())
    }

    fn render_definition(&mut self, note: &Note, defined: &[Arc<types::schema::TableDef>], xid: u64) -> Result<(), Stop> {
        let settings = settings_of(self.log.settings(), Some(note));
        let statement = note.statement.as_ref().expect("a definition");
        let made;
        let text = if statement.text.is_empty() {
            // CREATE TABLE ... SELECT.
            made = defined.first().map(|def| types::show_create::show_create_table(def, None)).unwrap_or_default();
            &made
        } else {
            &statement.text
        };
        if text.is_empty() {
            return Ok(());
        }
        let mut body = Body::default();
        render::definition(&mut body, &settings, statement, text, self.moment(xid), self.has_checksum);
        let depends = self.history.note(None, settings.history_max);
        self.put_group(&mut body, Some(note), depends, &settings)
    }

    /// Writes a group with the next GTID.
    fn put_group(
        &mut self,
        body: &mut Body,
        note: Option<&Note>,
        (last_committed, sequence_number): (i64, i64),
        settings: &Settings,
    ) -> Result<(), Stop> {
        let given = note.and_then(|note| note.gtid.as_deref()).and_then(Gtid::parse);
        let gtid = match given {
            Some(gtid) => gtid,
            None if self.last_number >= NUMBER_MAX => return Err(Stop("all GTIDs of this server are used up".to_owned())),
            None => Gtid { uuid: self.log.uuid, tag: String::new(), number: self.last_number + 1 },
        };
        let head = GroupHead {
            gtid: Some(&gtid),
            last_committed,
            sequence_number,
            original_us: note.and_then(|note| note.origin).map_or(0, |(_, micros)| micros),
            commit_us: self.follower.time_us(),
            server_version: settings.version_number,
        };
        let first = &mut self.head;
        first.clear();
        event::put_gtid(first, settings.server_id, &head, body.len(), self.has_checksum);
        let (writer, has_checksum) = (&mut self.writer, self.has_checksum);
        event::finish(first, writer.position(), has_checksum);
        writer.put(first)?;
        body.for_each(|events| {
            if !event::finish(events, writer.position(), has_checksum) {
                return Err(io::Error::other("a group was not rendered whole"));
            }
            writer.put(events)
        })?;
        self.executed.add(&gtid);
        if gtid.uuid == self.log.uuid && gtid.tag.is_empty() {
            self.last_number = self.last_number.max(gtid.number);
        }
        Ok(())
    }

    fn rotate(&mut self) -> Result<(), Stop> {
        let settings = self.log.settings();
        let number = files::number_of(&self.writer.name).unwrap_or(0) + 1;
        let next = files::name_of(number);
        let mut rotate = Vec::new();
        let seconds = os::time::since_epoch().as_secs() as u32;
        event::put_rotate(&mut rotate, seconds, settings.server_id, (&next, 4), 0, self.has_checksum);
        event::finish(&mut rotate, self.writer.position(), self.has_checksum);
        self.writer.put(&rotate)?;
        self.writer.close()?;
        self.begin_next(number, &settings)
    }

    fn begin_next(&mut self, number: u64, settings: &Settings) -> Result<(), Stop> {
        self.writer = begin_file(&self.log, number, settings, &self.executed)?;
        self.has_checksum = settings.has_checksum;
        self.history.restart();
        self.files.push(Entry { name: self.writer.name.clone() });
        files::write_index(&self.log.dir, &self.files)?;
        self.write_state()?;
        self.expire(settings)?;
        self.publish();
        Ok(())
    }

    /// Writes down how far everything is, and gives up log (M4).
    fn write_state(&mut self) -> Result<(), Stop> {
        self.writer.sync()?;
        let old = self.trees;
        if self.trees_changed {
            self.trees += 1;
            files::write_trees(&self.log.dir, self.trees, self.definitions.records().iter())?;
            self.trees_changed = false;
        }
        let next = self.follower.place();
        let place = self.open.values().map(|open| open.since).min_by_key(|place| place.position).unwrap_or(next);
        let place = if place.position < next.position { place } else { next };
        let state = State {
            format: files::STATE_FORMAT,
            position: place.position,
            sequence: place.sequence,
            epoch: self.epoch.max(self.rendered_epoch),
            file: self.writer.name.clone(),
            offset: self.writer.position(),
            executed: self.executed.to_string(),
            purged: self.purged.to_string(),
            trees: self.trees,
        };
        files::write_state(&self.log.dir, &state)?;
        if self.trees != old {
            files::remove_trees(&self.log.dir, old);
        }
        self.follower.release(place.position);
        self.state_at = Instant::now();
        self.state_position = next.position;
        Ok(())
    }

    /// The server stops.
    fn close(&mut self) -> Result<(), Stop> {
        let settings = self.log.settings();
        let mut stop = Vec::new();
        event::put_stop(&mut stop, os::time::since_epoch().as_secs() as u32, settings.server_id, self.has_checksum);
        event::finish(&mut stop, self.writer.position(), self.has_checksum);
        self.writer.put(&stop)?;
        self.writer.close()?;
        self.write_state()?;
        self.publish();
        Ok(())
    }
}

/// Transactions whose memory is kept for others.
const SPARE_MAX: usize = 256;

/// The settings for a transaction: events of another server's transaction keep its number.
fn settings_of(settings: Arc<Settings>, note: Option<&Note>) -> Arc<Settings> {
    match note.and_then(|note| note.origin) {
        Some((server_id, _)) => Arc::new(Settings { server_id, ..Settings::clone(&settings) }),
        None => settings,
    }
}

/// Of more keys than this a transaction does not tell what it has changed.
const HASHES_MAX: usize = 1 << 20;

fn hash_of(hasher: &foldhash::fast::FixedState, tree: u32, key: &[u8]) -> u64 {
    let mut state = hasher.build_hasher();
    state.write_u32(tree);
    state.write(key);
    state.finish()
}

/// Begins file `number`, which says what was executed before it.
fn begin_file(log: &BinaryLog, number: u64, settings: &Settings, executed: &GtidSet) -> io::Result<Writer> {
    let seconds = os::time::since_epoch().as_secs() as u32;
    let mut events = Vec::new();
    let Settings { server_id, has_checksum, version, .. } = settings;
    event::put_format_description(&mut events, seconds, *server_id, version, *has_checksum, event::FLAG_IN_USE);
    event::put_previous_gtids(&mut events, seconds, *server_id, executed, *has_checksum);
    Writer::create(&log.dir, &files::name_of(number), &mut events, *has_checksum, Arc::clone(&log.stop))
}
