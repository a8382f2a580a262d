//! Runs a computation on a thread of its own, if it cannot count its work: a library's search of a long text, for example.
//!
//! 1. The thread owns its input. The session's thread waits for the answer and polls its watch (`types::work`) meanwhile, so the worker's
//!    other sessions run, and KILL and `max_execution_time` end the wait.
//! 2. An abandoned computation stops at the next place where it counts its work. One without such a place runs to its end, which is
//!    linear in its input.
//!
//! A1: at most [`THREADS_MAX`] of these threads exist, abandoned ones included. A session that finds no free place waits for one, as it
//! would for the answer.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use sync::{Condvar, Mutex};
use types::work::{self, Stopped, Watch};

const THREADS_MAX: usize = 16;
/// How long the session's thread sleeps between two polls of its watch.
const PAUSE: Duration = Duration::from_millis(1);

static RUNNING: AtomicUsize = AtomicUsize::new(0);

/// The reason for a missing answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The statement was killed, or its time is over.
    Stopped(Stopped),
    /// The system started no thread.
    NoThread(std::io::Error),
}

impl From<Stopped> for Failure {
    fn from(stopped: Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

/// One of the [`THREADS_MAX`] places (A1).
struct Place;

impl Place {
    fn find() -> Option<Self> {
        // Relaxed: only the number counts.
        let taken = RUNNING.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (n < THREADS_MAX).then_some(n + 1));
        taken.is_ok().then_some(Self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Where the thread leaves its answer.
struct Exchange<T> {
    answer: Mutex<Answer<T>>,
    changed: Condvar,
}

enum Answer<T> {
    Awaited,
    Given(T),
    /// The computation has panicked.
    Lost,
}

/// Tells the session that its answer is lost, unless one was given.
struct Giver<T>(Arc<Exchange<T>>);

impl<T> Giver<T> {
    fn give(&self, answer: T) {
        *self.0.answer.lock() = Answer::Given(answer);
    }
}

impl<T> Drop for Giver<T> {
    fn drop(&mut self) {
        let mut answer = self.0.answer.lock();
        if matches!(*answer, Answer::Awaited) {
            *answer = Answer::Lost;
        }
        drop(answer);
        self.0.changed.notify_one();
    }
}

impl<T> Exchange<T> {
    /// The answer, if it comes within [`PAUSE`].
    fn wait(&self) -> Option<T> {
        let mut answer = self.answer.lock();
        if matches!(*answer, Answer::Awaited) {
            self.changed.wait_for(&mut answer, PAUSE);
        }
        match std::mem::replace(&mut *answer, Answer::Awaited) {
            Answer::Awaited => None,
            Answer::Given(given) => Some(given),
            Answer::Lost => panic!("a computation on a thread of its own has panicked"),
        }
    }
}

/// Stops an abandoned computation where it counts its work.
struct Wanted(Arc<AtomicBool>);

impl Watch for Wanted {
    fn look(&self) -> Result<(), Stopped> {
        // Relaxed: the flag publishes no other data.
        if self.0.load(Ordering::Relaxed) { Err(Stopped::Killed) } else { Ok(()) }
    }
}

/// Computes on another thread.
///
/// # Errors
/// See [`Failure`].
pub(crate) fn aside<T: Send + 'static>(compute: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    let place = loop {
        match Place::find() {
            Some(place) => break place,
            None => os::thread::sleep(PAUSE),
        }
        work::check()?;
    };
    let is_left = Arc::new(AtomicBool::new(false));
    let exchange = Arc::new(Exchange { answer: Mutex::new(Answer::Awaited), changed: Condvar::new() });
    let giver = Giver(Arc::clone(&exchange));
    let wanted = Wanted(Arc::clone(&is_left));
    let run = move || {
        let _place = place;
        work::set_watch(Some(Rc::new(wanted)));
        // Nobody takes it if the session has given up.
        giver.give(compute());
    };
    os::thread::Builder::new().name("heddle-aside".into()).spawn(run).map_err(Failure::NoThread)?;
    loop {
        if let Some(answer) = exchange.wait() {
            return Ok(answer);
        }
        if let Err(stopped) = work::check() {
            is_left.store(true, Ordering::Relaxed);
            return Err(stopped.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::mpsc::sync_channel;

    struct StopsAt(Cell<u32>);

    impl Watch for StopsAt {
        fn look(&self) -> Result<(), Stopped> {
            self.0.set(self.0.get().saturating_sub(1));
            if self.0.get() == 0 { Err(Stopped::TimedOut) } else { Ok(()) }
        }
    }

    #[test]
    fn an_abandoned_computation_is_stopped() {
        assert!(matches!(aside(|| 7), Ok(7)));
        work::set_watch(Some(Rc::new(StopsAt(Cell::new(3)))));
        let (ended, end) = sync_channel(1);
        let endless = move || {
            while work::spend(work::UNITS).is_ok() {
                os::thread::yield_now();
            }
            ended.send(()).expect("the test waits");
        };
        assert!(matches!(aside(endless), Err(Failure::Stopped(Stopped::TimedOut))));
        end.recv().expect("the computation ends");
        work::set_watch(None);
    }
}
