//! Semi-synchronous replication, at the source: a commit is answered when enough replicas have said that they have it.
//!
//! S1: where it is on, the answer to a commit means that `rpl_semi_sync_source_wait_for_replica_count` replicas have the transaction, or that it was waited for
//!     as long as `rpl_semi_sync_source_timeout` says. After such a timeout it is off, and commits wait for nobody, until so many replicas have caught up.
//! S2: the commit is durable, and seen by others, before the wait: what MySQL calls AFTER_COMMIT. A session that is killed, and a server that stops, do not
//!     undo it.
//! S3: a replica cannot acknowledge what was not sent to it (`session/binary_log/dump.rs`).

use crate::variables::{Globals, known};
use crate::worker::Worker;
use os::time::Instant;
use std::collections::HashMap;
use std::task::{Poll, Waker};
use std::time::Duration;
use sync::Mutex;
use sync::atomic::{AtomicBool, Ordering};
use sync::waits::{self, Cause, Kind};

/// A waiting session looks so often whether the server stops.
const LOOK: Duration = Duration::from_millis(500);

/// A place in the binary log: the number of the file, and a byte of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub file: u64,
    pub position: u64,
}

impl Place {
    /// In the file with this name.
    pub fn of(file: &str, position: u64) -> Self {
        Self { file: binlog::files::number_of(file).unwrap_or(0), position }
    }
}

#[derive(Clone, Copy, Debug)]
struct Settings {
    timeout: Duration,
    /// So many replicas must have a transaction.
    replicas: usize,
    /// A commit waits also where fewer are connected.
    waits_for_absent: bool,
}

/// Of SHOW STATUS.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counters {
    /// Transactions that were acknowledged, and that were not.
    pub acknowledged: u64,
    pub unacknowledged: u64,
    /// It went off so often.
    pub turned_off: u64,
    pub waits: u64,
    pub wait_us: u64,
}

/// What SHOW STATUS says.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    pub is_on: bool,
    pub replicas: u64,
    pub waiting: u64,
    pub counters: Counters,
}

struct Inner {
    settings: Settings,
    is_on: bool,
    /// By the session of the dump: what the replica has.
    replicas: HashMap<u32, Place>,
    waiting: u64,
    wakers: Vec<Waker>,
    counters: Counters,
}

pub struct SemiSync {
    is_enabled: AtomicBool,
    inner: Mutex<Inner>,
}

fn settings_of(globals: &Globals) -> (bool, Settings) {
    let value = |name| globals.get(known(name));
    let settings = Settings {
        timeout: Duration::from_millis(value("rpl_semi_sync_source_timeout").as_u64()),
        replicas: value("rpl_semi_sync_source_wait_for_replica_count").as_u64() as usize,
        waits_for_absent: value("rpl_semi_sync_source_wait_no_replica").as_bool(),
    };
    (value("rpl_semi_sync_source_enabled").as_bool(), settings)
}

impl Inner {
    /// Have enough replicas everything up to `place`?
    fn has(&self, place: Place) -> bool {
        self.replicas.values().filter(|has| **has >= place).count() >= self.settings.replicas
    }

    fn wake(&mut self) {
        self.wakers.drain(..).for_each(Waker::wake);
    }

    fn turn_off(&mut self, why: &str) {
        if std::mem::replace(&mut self.is_on, false) {
            self.counters.turned_off += 1;
            tracing::warn!("semi-synchronous replication is off ({why}) until enough replicas have caught up");
            // Nobody waits for what is off.
            self.wake();
        }
    }
}

impl SemiSync {
    pub fn new(globals: &Globals) -> Self {
        let (is_enabled, settings) = settings_of(globals);
        let inner = Inner {
            settings,
            is_on: is_enabled,
            replicas: HashMap::new(),
            waiting: 0,
            wakers: Vec::new(),
            counters: Counters::default(),
        };
        Self { is_enabled: AtomicBool::new(is_enabled), inner: Mutex::new(inner) }
    }

    /// SET GLOBAL
    pub fn set(&self, globals: &Globals) {
        let (is_enabled, settings) = settings_of(globals);
        let mut inner = self.inner.lock();
        inner.settings = settings;
        if self.is_enabled.swap(is_enabled, Ordering::Relaxed) != is_enabled {
            inner.is_on = is_enabled;
        }
        inner.wake();
    }

    /// Do commits wait?
    #[inline]
    pub fn is_enabled(&self) -> bool {
        self.is_enabled.load(Ordering::Relaxed)
    }

    pub fn figures(&self) -> Figures {
        let inner = self.inner.lock();
        let replicas = inner.replicas.len() as u64;
        Figures { is_on: inner.is_on, replicas, waiting: inner.waiting, counters: inner.counters }
    }

    /// A dump to a replica that acknowledges begins.
    pub fn join(&self, session: u32) {
        self.inner.lock().replicas.insert(session, Place::default());
    }

    /// It has ended.
    pub fn leave(&self, session: u32) {
        let mut inner = self.inner.lock();
        if inner.replicas.remove(&session).is_some() {
            inner.wake();
        }
    }

    /// A replica has everything up to `place`. `is_all`: there is no more.
    pub fn acknowledge(&self, session: u32, place: Place, is_all: bool) {
        let mut inner = self.inner.lock();
        let is_on = inner.is_on;
        let Some(has) = inner.replicas.get_mut(&session) else { return };
        if *has >= place && is_on {
            return;
        }
        *has = place.max(*has);
        if is_all && !inner.is_on && self.is_enabled() && inner.has(place) {
            inner.is_on = true;
            tracing::info!("semi-synchronous replication is on again");
        }
        inner.wake();
    }

    /// Waits until enough replicas have what is durable now. S1
    pub async fn wait(&self, worker: &Worker) {
        let Some(log) = &worker.shared.binlog else { return };
        let timeout = {
            let mut inner = self.inner.lock();
            if inner.is_on && !inner.settings.waits_for_absent && inner.replicas.len() < inner.settings.replicas {
                inner.turn_off("too few replicas are connected");
            }
            if !inner.is_on {
                inner.counters.unacknowledged += 1;
                return;
            }
            inner.waiting += 1;
            inner.settings.timeout
        };
        let began = Instant::now();
        let end = worker.core.now() + timeout;
        let position = log.catch_up();
        let mut place = None;
        let acknowledged = std::future::poll_fn(|cx| {
            if place.is_none()
                && let Poll::Ready(status) = log.poll_rendered(position, cx.waker())
            {
                place = Some(Place::of(status.files.last().map_or("", String::as_str), status.end));
            }
            let mut inner = self.inner.lock();
            if place.is_some_and(|place| inner.has(place)) {
                return Poll::Ready(true);
            }
            if !inner.is_on || !self.is_enabled() || worker.is_stopping() {
                return Poll::Ready(false);
            }
            if worker.core.now() >= end {
                inner.turn_off("a commit was not acknowledged in time");
                return Poll::Ready(false);
            }
            inner.wakers.push(cx.waker().clone());
            worker.core.wake_at(end.min(worker.core.now() + LOOK));
            waits::pending(Cause::of(Kind::Replication));
            Poll::Pending
        })
        .await;
        let mut inner = self.inner.lock();
        inner.waiting -= 1;
        inner.counters.waits += 1;
        inner.counters.wait_us += began.elapsed().as_micros() as u64;
        let counters = &mut inner.counters;
        *(if acknowledged { &mut counters.acknowledged } else { &mut counters.unacknowledged }) += 1;
    }
}
