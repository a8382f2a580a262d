//! What the threads of a replica share with sessions: what is wanted, what runs, what came, and the events between receiver and applier.
//!
//! Q1: the queue is in memory, and is bounded by bytes. It may be thrown away at any time: what is applied is in `gtid_executed`, in the
//!     same transaction as its rows, and all else is asked for again.
//! Q2: each connection to the source is a generation. When one begins, the queue is emptied, and the applier takes back what it has not
//!     committed of the one before.
//! Q3: an applier that begins does so with a generation: the receiver connects anew.

use super::settings::Settings;
use binlog::event::CommitTimes;
use binlog::gtid::{Gtid, GtidSet};
use std::collections::VecDeque;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::{Duration, SystemTime};
use sync::{Condvar, Mutex};

/// Bytes of events that wait for the applier. One event may be longer: it waits alone.
const QUEUE_BYTES_MAX: usize = 16 << 20;
/// The applier is woken in the middle of a group when so many wait.
const WAKE_BYTES: usize = 64 << 10;

/// An event on its way to the applier, without its checksum.
pub struct Item {
    pub generation: u64,
    /// The file of the source that has it.
    pub file: Arc<str>,
    /// Empty: the generation begins.
    pub event: Vec<u8>,
}

/// An error that a thread has stopped with, or tries again after.
#[derive(Clone, Debug, Default)]
pub struct Trouble {
    pub number: u16,
    pub text: String,
    pub at: Option<SystemTime>,
}

impl Trouble {
    pub const NONE: Self = Self { number: 0, text: String::new(), at: None };

    pub fn new(number: u16, text: String) -> Self {
        Self { number, text, at: Some(SystemTime::now()) }
    }
}

/// A transaction on its way through a thread. Times are microseconds since 1970.
#[derive(Clone, Debug, Default)]
pub struct Passage {
    /// `None`: there was none.
    pub gtid: Option<Gtid>,
    pub committed: CommitTimes,
    pub begun_us: u64,
    pub ended_us: u64,
}

impl Passage {
    pub fn begin(gtid: Gtid, committed: CommitTimes) -> Self {
        Self { gtid: Some(gtid), committed, begun_us: now_us(), ended_us: 0 }
    }

    /// It has passed: `last` is this one.
    pub fn end(&mut self, last: &mut Self) {
        *last = Self { ended_us: now_us(), ..std::mem::take(self) };
    }
}

fn now_us() -> u64 {
    os::time::since_epoch().as_micros() as u64
}

/// An applier: a lane, or the one that does all.
#[derive(Clone, Debug, Default)]
pub struct Hand {
    pub session: u32,
    pub applied: Passage,
    pub applying: Passage,
}

/// How far the receiver is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Receiving {
    #[default]
    No,
    Connecting,
    Yes,
}

impl Receiving {
    /// As SHOW REPLICA STATUS says it.
    pub fn name(self) -> &'static str {
        match self {
            Self::No => "No",
            Self::Connecting => "Connecting",
            Self::Yes => "Yes",
        }
    }
}

/// Of both threads.
#[derive(Default)]
pub struct Inner {
    /// `None`: the server is no replica.
    pub settings: Option<Settings>,
    pub wants_receiver: bool,
    pub wants_applier: bool,
    /// The receiver's thread lives; it may be about to end.
    pub receiver_lives: bool,
    pub applier_lives: bool,
    /// The applier's session.
    pub applier_session: u32,
    pub receiving: Receiving,
    pub receiver_state: &'static str,
    pub applier_state: &'static str,
    pub receiver_trouble: Trouble,
    pub applier_trouble: Trouble,
    pub generation: u64,
    /// The generation that the source is asked in; another one is wanted when they differ.
    pub wanted_generation: u64,
    pub source_id: u32,
    pub source_uuid: String,
    /// The source's clock is so many seconds ahead.
    pub clock_ahead: i64,
    pub read_file: Arc<str>,
    pub read_position: u64,
    pub applied_file: Arc<str>,
    pub applied_position: u64,
    /// When the event that is being applied was made, in seconds since 1970; 0: none is.
    pub applying: u32,
    pub retrieved: GtidSet,
    /// Received, but not as a whole.
    pub incoming: Passage,
    /// The last one that was received, and that was given to an applier.
    pub received: Passage,
    pub processed: Passage,
    /// The appliers. With lanes the first one is the coordinator, else it is the only one.
    pub hands: Vec<Hand>,
    /// Groups that were tried again.
    pub retries: u64,
    /// Seconds until the next group is applied, while SOURCE_DELAY holds it.
    pub delay_left: Option<u64>,
    pub heartbeats: u64,
    pub heartbeat_us: u64,
    queue: VecDeque<Item>,
    queued: usize,
    applier: Option<Waker>,
    /// Who waits for the applier to get on.
    pub watchers: Vec<Waker>,
    /// To end the connection.
    stream: Option<TcpStream>,
}

/// The server as a replica of another one.
pub struct Replica {
    pub dir: PathBuf,
    pub inner: Mutex<Inner>,
    changed: Condvar,
}

impl Inner {
    /// Nothing has been received by these settings.
    pub fn new(settings: Option<Settings>) -> Self {
        let mut inner = Self::default();
        if let Some(settings) = &settings {
            inner.read_file = settings.file.as_str().into();
            inner.applied_file = Arc::clone(&inner.read_file);
            (inner.read_position, inner.applied_position) = (settings.position, settings.position);
        }
        inner.settings = settings;
        inner
    }
}

impl Replica {
    /// What a directory says of its server as a replica.
    ///
    /// # Errors
    /// One line for people.
    pub fn open(data_dir: &Path) -> Result<Self, String> {
        let settings = super::settings::read(data_dir).map_err(|error| format!("the settings of the replica: {error}"))?;
        Ok(Self::new(data_dir.into(), settings))
    }

    pub fn new(dir: PathBuf, settings: Option<Settings>) -> Self {
        Self { dir, inner: Mutex::new(Inner::new(settings)), changed: Condvar::new() }
    }

    /// Something that the threads wait for has changed.
    pub fn wake(&self, inner: &mut Inner) {
        if let Some(waker) = inner.applier.take() {
            waker.wake();
        }
        inner.watchers.drain(..).for_each(Waker::wake);
        self.changed.notify_all();
    }

    /// Ends the connection to the source, if there is one.
    pub fn hang_up(inner: &mut Inner) {
        if let Some(stream) = inner.stream.take() {
            // It may be closed already.
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }

    /// Has the receiver connect anew. Q3
    pub fn renew(&self) {
        let mut inner = self.inner.lock();
        inner.wanted_generation += 1;
        Self::hang_up(&mut inner);
        self.wake(&mut inner);
    }

    /// A connection begins: its generation. `None`: the receiver is to stop. Q2
    pub fn begin(&self, stream: TcpStream) -> Option<u64> {
        let mut inner = self.inner.lock();
        if !inner.wants_receiver {
            return None;
        }
        inner.wanted_generation += 1;
        inner.generation = inner.wanted_generation;
        inner.stream = Some(stream);
        inner.queue.clear();
        inner.queued = 0;
        inner.incoming = Passage::default();
        let (generation, file) = (inner.generation, Arc::clone(&inner.read_file));
        inner.queue.push_back(Item { generation, file, event: Vec::new() });
        self.wake(&mut inner);
        Some(generation)
    }

    /// The connection has ended.
    pub fn end(&self) {
        let mut inner = self.inner.lock();
        inner.stream = None;
    }

    /// Gives an event to the applier, when there is room; the applier is woken with the end of a group, or when much waits. `false`: this generation is
    /// over, or the receiver is to stop.
    pub fn push(&self, item: Item, ends_group: bool) -> bool {
        let mut inner = self.inner.lock();
        loop {
            if !inner.wants_receiver || inner.wanted_generation != item.generation {
                return false;
            }
            if inner.queued == 0 || inner.queued + item.event.len() <= QUEUE_BYTES_MAX {
                break;
            }
            inner.receiver_state = "Waiting for the replica SQL thread to free relay log space";
            self.changed.wait_for(&mut inner, Duration::from_secs(1));
        }
        inner.receiver_state = "Waiting for source to send event";
        inner.queued += item.event.len();
        inner.queue.push_back(item);
        if (ends_group || inner.queued >= WAKE_BYTES)
            && let Some(waker) = inner.applier.take()
        {
            waker.wake();
        }
        true
    }

    /// The applier's next event. `None`: it is to stop. `applying`: when the source has made what is being applied meanwhile.
    pub fn poll_next(&self, applying: u32, waker: &Waker) -> Poll<Option<Item>> {
        let mut inner = self.inner.lock();
        if !inner.wants_applier {
            return Poll::Ready(None);
        }
        match inner.queue.pop_front() {
            Some(item) => {
                let was_full = inner.queued > QUEUE_BYTES_MAX / 2;
                inner.queued -= item.event.len();
                if was_full {
                    self.changed.notify_all();
                }
                Poll::Ready(Some(item))
            }
            None => {
                inner.applying = applying;
                inner.applier_state = "Replica has read all relay log; waiting for more updates";
                inner.applier = Some(waker.clone());
                Poll::Pending
            }
        }
    }

    /// Bytes that wait for the applier.
    pub fn queued(inner: &Inner) -> usize {
        inner.queued
    }

    /// Waits so long, or until the receiver is to stop or to connect anew. `false`: it is to stop.
    pub fn pause(&self, longest: Duration) -> bool {
        let until = std::time::Instant::now() + longest;
        let mut inner = self.inner.lock();
        let wanted = inner.wanted_generation;
        loop {
            let left = until.saturating_duration_since(std::time::Instant::now());
            if !inner.wants_receiver {
                return false;
            }
            if left.is_zero() || inner.wanted_generation != wanted {
                return true;
            }
            self.changed.wait_for(&mut inner, left);
        }
    }

    /// Changes what is shown, and wakes who waits for it.
    pub fn note(&self, change: impl FnOnce(&mut Inner)) {
        let mut inner = self.inner.lock();
        change(&mut inner);
        inner.watchers.drain(..).for_each(Waker::wake);
        self.changed.notify_all();
    }

    /// The server stops: both threads end soon.
    pub fn ask_to_stop(&self) {
        let mut inner = self.inner.lock();
        (inner.wants_receiver, inner.wants_applier) = (false, false);
        Self::hang_up(&mut inner);
        self.wake(&mut inner);
    }

    /// Waits until the receiver's thread has ended.
    pub fn join(&self) {
        let mut inner = self.inner.lock();
        let until = std::time::Instant::now() + Duration::from_secs(10);
        while inner.receiver_lives && std::time::Instant::now() < until {
            self.changed.wait_for(&mut inner, Duration::from_millis(100));
        }
    }
}
