//! The past that can be read: snapshots of moments that lie behind, while the versions that they need are kept.
//!
//! 1. While a retention is set, a thread notes ten times a second, or less often for a long retention, the time and the commit clock: a *mark*.
//! 2. The oldest mark holds the horizon down, in a slot of its own among those of the workers. Marks older than the retention are given up.
//! 3. A reader of a moment takes a snapshot at the last mark that is not behind the moment. It sees everything that was committed before the mark,
//!    and nothing that was committed after the moment.
//!
//! P1: no mark lies below a horizon that was ever computed: the first one is published as a worker's bound is (`horizon`, H2), later ones are
//!     above it.
//! P2: a snapshot is registered and its worker's bound published while the list of marks is locked and has its mark. The slot moves only under
//!     the same lock, so who computes a horizon from its later place sees that bound.
//! P3: what is kept is bounded, whatever the retention says: by [`UNDO_LIMITS`] times the memory for undo, by a quarter of the transactions that the table of
//!     statuses can hold, by [`MARKS_MAX`]. Beyond that the oldest marks are given up. When the disk is full all of them are.
//! P4: a clock of the machine that is set back makes all marks worthless: they are given up.
//!
//! A retention of zero costs nothing: there is no mark, the thread sleeps, the slot is empty.

use crate::{Engine, Isolation, Txn, Worker};
use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;
use sync::{Condvar, Mutex};

/// The shortest time between two marks.
const STEP_MIN: Duration = Duration::from_millis(100);
/// Marks at a time: 768 KiB.
const MARKS_MAX: u32 = 32_768;
/// The versions that are kept for the past take so many times the memory for undo, at most; most of it is in the scratch file.
const UNDO_LIMITS: u64 = 8;

/// A moment that can be read.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Microseconds since 1970, and the commit clock shortly before.
    time_us: u64,
    clock: u64,
    /// Segments of undo that had been taken until then.
    segments: u64,
}

#[derive(Default)]
struct Inner {
    retention: Duration,
    marks: VecDeque<Mark>,
    is_stopped: bool,
}

/// Why a moment cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoPast {
    /// Nothing is kept: the retention is zero.
    Off,
    /// It lies before this moment, the first that is kept, in microseconds since 1970.
    Gone(u64),
    /// It has not come yet.
    Future,
}

/// The marks, and the thread that makes them.
#[derive(Default)]
pub(crate) struct Past {
    inner: Mutex<Inner>,
    changed: Condvar,
}

fn now_us() -> u64 {
    os::time::since_epoch().as_micros() as u64
}

impl Inner {
    fn step(&self) -> Duration {
        (self.retention / MARKS_MAX).max(STEP_MIN)
    }
}

impl Past {
    pub fn stop(&self) {
        self.inner.lock().is_stopped = true;
        self.changed.notify_all();
    }
}

/// The thread. It holds the engine only while it works.
pub(crate) fn run(engine: &Weak<Engine>, past: &Arc<Past>) {
    loop {
        {
            let mut inner = past.inner.lock();
            while inner.retention.is_zero() && !inner.is_stopped {
                past.changed.wait(&mut inner);
            }
            if inner.is_stopped {
                return;
            }
            let step = inner.step();
            past.changed.wait_for(&mut inner, step);
            if inner.is_stopped {
                return;
            }
        }
        let Some(engine) = engine.upgrade() else { return };
        engine.mark_past(now_us);
    }
}

impl Engine {
    /// Keeps what is needed to read moments that lie back no further than this; zero: nothing. It holds from now on.
    pub fn set_undo_retention(&self, retention: Duration) {
        let mut inner = self.past.inner.lock();
        inner.retention = retention;
        if retention.is_zero() {
            inner.marks.clear();
            self.horizon.let_go(self.past_slot());
        } else if inner.marks.is_empty() {
            self.mark(&mut inner, now_us);
        }
        drop(inner);
        self.past.changed.notify_all();
    }

    /// How far back moments can be read, in microseconds.
    pub(crate) fn past_us(&self) -> u64 {
        self.past.inner.lock().marks.front().map_or(0, |mark| now_us().saturating_sub(mark.time_us))
    }

    /// Makes a mark, and gives up those that are too old or too many. `now_us`: the machine's clock.
    pub(crate) fn mark_past(&self, now_us: impl Fn() -> u64) {
        let mut inner = self.past.inner.lock();
        if inner.retention.is_zero() {
            return;
        }
        let now = self.mark(&mut inner, now_us);
        let first = now.saturating_sub(inner.retention.as_micros() as u64);
        // The last mark that is not behind the first moment serves it.
        while inner.marks.get(1).is_some_and(|second| second.time_us <= first) {
            inner.marks.pop_front();
        }
        self.bound_past(&mut inner);
        if let Some(oldest) = inner.marks.front() {
            self.horizon.hold(self.past_slot(), oldest.clock);
        }
    }

    /// Returns the time of the mark.
    fn mark(&self, inner: &mut Inner, now_us: impl Fn() -> u64) -> u64 {
        // The time comes after the clock: nothing that is committed later than the moment is seen at it.
        let (clock, now) = (self.commit_time(), now_us());
        if inner.marks.back().is_some_and(|last| last.time_us > now) {
            // P4
            inner.marks.clear();
            self.horizon.let_go(self.past_slot());
        }
        let segments = self.undo.segments_taken();
        match inner.marks.back() {
            // While nothing is committed the last mark stands for the present, too.
            Some(last) if last.clock == clock => {}
            Some(_) => inner.marks.push_back(Mark { time_us: now, clock, segments }),
            None => {
                // P1
                let clock = self.horizon.hold_present(self.past_slot(), self.clock());
                inner.marks.push_back(Mark { time_us: now_us(), clock, segments });
            }
        }
        now
    }

    /// P3
    fn bound_past(&self, inner: &mut Inner) {
        if self.undo.is_disk_full() || self.store.wal.is_exhausted() {
            if inner.marks.len() > 1 {
                os::report(format_args!("the disk is full: versions of the past are given up"));
            }
            let last = inner.marks.len() - 1;
            inner.marks.drain(..last);
            return;
        }
        let taken = self.undo.segments_taken();
        let limit = self.undo.limit_segments().saturating_mul(UNDO_LIMITS);
        while inner.marks.len() > 1 && inner.marks.front().is_some_and(|oldest| taken - oldest.segments > limit) {
            inner.marks.pop_front();
        }
        let excess = if self.statuses.is_quarter_full() { inner.marks.len() / 16 + 1 } else { 0 };
        let excess = excess.max(inner.marks.len().saturating_sub(MARKS_MAX as usize)).min(inner.marks.len() - 1);
        inner.marks.drain(..excess);
    }
}

impl Worker {
    /// A transaction that reads as of a moment, in microseconds since 1970, and does nothing else. End it with [`Txn::forget_snapshot`].
    ///
    /// # Errors
    /// The moment is not kept.
    pub fn begin_past(&self, moment_us: u64) -> Result<Txn, NoPast> {
        let engine = &self.engine;
        let inner = engine.past.inner.lock();
        if inner.retention.is_zero() {
            return Err(NoPast::Off);
        }
        if moment_us > now_us() {
            return Err(NoPast::Future);
        }
        let behind = inner.marks.partition_point(|mark| mark.time_us <= moment_us);
        let mark = behind.checked_sub(1).and_then(|at| inner.marks.get(at));
        // There is a mark while the retention is not zero.
        let mark = mark.ok_or(NoPast::Gone(inner.marks.front().map_or(u64::MAX, |mark| mark.time_us)))?;
        let mut txn = self.begin(Isolation::RepeatableRead);
        // P2
        txn.snapshot = Some(self.snapshots.take_at(mark.clock));
        self.snapshots.tick(&engine.horizon, self.index, engine.clock());
        drop(inner);
        Ok(txn)
    }
}
