//! Threads of the simulated machine, with the names of `std::thread`.

use super::scheduler::{self, point};
use std::cell::RefCell;
use std::io;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};
use std::time::Duration;

/// Some threads of the engine ask for less than what a build with assertions needs.
const STACK_BYTES_MIN: usize = 512 << 10;

/// A handle to a thread.
#[derive(Clone, Debug)]
pub struct Thread(usize);

/// As `std::thread::ThreadId`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ThreadId(usize);

impl Thread {
    pub fn unpark(&self) {
        point();
        scheduler::unpark(self.0);
    }

    pub fn id(&self) -> ThreadId {
        ThreadId(self.0)
    }
}

pub fn current() -> Thread {
    Thread(scheduler::current())
}

pub fn park() {
    point();
    scheduler::park(None);
}

pub fn park_timeout(duration: Duration) {
    point();
    scheduler::park(Some(scheduler::now_ns().saturating_add(duration.as_nanos() as u64)));
}

pub fn sleep(duration: Duration) {
    scheduler::sleep(duration.as_nanos() as u64);
}

/// Gives the turn away.
pub fn yield_now() {
    scheduler::give_way();
}

/// As many as the seed says.
///
/// # Errors
/// None.
pub fn available_parallelism() -> io::Result<NonZeroUsize> {
    Ok(NonZeroUsize::new(scheduler::parallelism()).unwrap_or(NonZeroUsize::MIN))
}

#[derive(Default)]
pub struct Builder {
    name: String,
    stack_bytes: usize,
}

type Outcome<T> = Arc<StdMutex<Option<T>>>;

pub struct JoinHandle<T> {
    thread: Thread,
    outcome: Outcome<T>,
}

impl Builder {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn name(self, name: String) -> Self {
        Self { name, ..self }
    }

    pub fn stack_size(self, stack_bytes: usize) -> Self {
        Self { stack_bytes, ..self }
    }

    /// # Errors
    /// The system can start no more threads.
    pub fn spawn<T: Send + 'static>(self, run: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
        let outcome = Outcome::default();
        let (slot, seat) = (outcome.clone(), scheduler::new_thread(&self.name));
        let thread = Thread(seat.number());
        let body = move || {
            seat.begin();
            let value = run();
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            seat.end();
        };
        std::thread::Builder::new().name(self.name).stack_size(self.stack_bytes.max(STACK_BYTES_MIN)).spawn(body)?;
        point();
        Ok(JoinHandle { thread, outcome })
    }
}

impl<T> JoinHandle<T> {
    pub fn thread(&self) -> &Thread {
        &self.thread
    }

    /// # Errors
    /// None: a panic ends the run.
    pub fn join(self) -> std::thread::Result<T> {
        scheduler::join(self.thread.0);
        let value = self.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(value.expect("a thread that ended has left its value"))
    }
}

/// As `std::thread::Scope`.
pub struct Scope<'scope, 'env: 'scope> {
    inner: &'scope std::thread::Scope<'scope, 'env>,
    started: RefCell<Vec<usize>>,
}

pub struct ScopedJoinHandle<'scope, T> {
    number: usize,
    inner: std::thread::ScopedJoinHandle<'scope, T>,
}

/// As `std::thread::scope`.
pub fn scope<'env, T>(run: impl for<'scope> FnOnce(&Scope<'scope, 'env>) -> T) -> T {
    std::thread::scope(|inner| {
        let scope = Scope { inner, started: RefCell::default() };
        let value = run(&scope);
        // Before the real scope waits for them, without giving the turn away.
        scope.started.take().into_iter().for_each(scheduler::join);
        value
    })
}

impl<'scope> Scope<'scope, '_> {
    pub fn spawn<T: Send + 'scope>(&self, run: impl FnOnce() -> T + Send + 'scope) -> ScopedJoinHandle<'scope, T> {
        let seat = scheduler::new_thread("scoped");
        let number = seat.number();
        self.started.borrow_mut().push(number);
        let inner = self.inner.spawn(move || {
            seat.begin();
            let value = run();
            seat.end();
            value
        });
        point();
        ScopedJoinHandle { number, inner }
    }
}

impl<T> ScopedJoinHandle<'_, T> {
    /// # Errors
    /// None: a panic ends the run.
    pub fn join(self) -> std::thread::Result<T> {
        scheduler::join(self.number);
        self.inner.join()
    }
}
