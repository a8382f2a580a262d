//! Work that one thread shares out in parts, and what it lends to those who do them.
//!
//! ```text
//! owner:   new -> take, take, ... -> close -> poll_done until all is delivered -> into_results      or, at any time, abandon
//! helper:  join -> ( enter -> work -> leave )* -> take -> ( enter -> ... )* -> deliver              or, at any time, fail
//! ```
//! The work is numbered parts; whoever is free takes the next one. The owner does parts itself. What it lends (a snapshot, say) is used by a
//! helper between `enter` and `leave` only, for as long as a step of it takes, which is about a millisecond; nothing waits in between.
//!
//! T1: each part is given once, in order; so the parts of one helper come in ascending order.
//! T2: when `abandon` returns nobody is inside, and nobody ever enters again. So the owner may take back what it lent, however it ends: it
//!     calls `abandon` when it is dropped.
//! T3: `poll_done` says that all is done when each helper that has joined has delivered or failed. A helper that joins later finds no part.
//!     One that never gets its turn has not joined, and is not waited for.
//! T4: after a failure no further part is given, and the outcome is none: what was delivered is thrown away.
//!
//! One mutex guards it all. It is taken a few times for each part, and for each step of a helper.

use std::task::{Poll, Waker};

/// See the head of the file. `R` is what a helper delivers.
pub struct Team<R>(Gate<State<R>>);

struct State<R> {
    next: usize,
    parts: usize,
    /// Helpers that have joined, and have neither delivered nor failed.
    working: usize,
    /// Helpers between `enter` and `leave`.
    inside: usize,
    abandoned: bool,
    failed: bool,
    results: Vec<R>,
    owner: Option<Waker>,
}

impl<R> State<R> {
    fn take(&mut self) -> Option<usize> {
        if self.abandoned || self.failed || self.next == self.parts {
            return None;
        }
        self.next += 1;
        Some(self.next - 1)
    }

    /// A helper's work has ended.
    #[must_use]
    fn end(&mut self) -> Option<Waker> {
        self.working -= 1;
        self.owner.take()
    }
}

impl<R> Team<R> {
    pub fn new(parts: usize) -> Self {
        Self(Gate::new(State {
            next: 0,
            parts,
            working: 0,
            inside: 0,
            abandoned: false,
            failed: false,
            results: Vec::new(),
            owner: None,
        }))
    }

    /// A helper begins with its first part; `None`: there is none, and the helper has no business here.
    pub fn join(&self) -> Option<usize> {
        self.0.with(|state| {
            let part = state.take()?;
            state.working += 1;
            Some(part)
        })
    }

    /// The next part, for the owner or for a helper that has joined.
    pub fn take(&self) -> Option<usize> {
        self.0.with(State::take)
    }

    /// May the helper use what the owner lends? Then [`Self::leave`] follows, without a wait (T2).
    #[must_use]
    pub fn enter(&self) -> bool {
        self.0.with(|state| {
            state.inside += usize::from(!state.abandoned);
            !state.abandoned
        })
    }

    pub fn leave(&self) {
        self.0.with(|state| state.inside -= 1);
        self.0.notify();
    }

    /// The helper has done its parts. Not between `enter` and `leave`.
    pub fn deliver(&self, result: R) {
        let owner = self.0.with(|state| {
            state.results.push(result);
            state.end()
        });
        owner.into_iter().for_each(Waker::wake);
    }

    /// A helper that has joined cannot do its parts (T4).
    pub fn fail(&self) {
        let owner = self.0.with(|state| {
            state.failed = true;
            state.end()
        });
        owner.into_iter().for_each(Waker::wake);
    }

    /// The owner waits until the helpers have ended, once it has found no further part. `true`: all parts are done.
    pub fn poll_done(&self, waker: &Waker) -> Poll<bool> {
        self.0.with(|state| {
            if state.working > 0 {
                state.owner = Some(waker.clone());
                return Poll::Pending;
            }
            Poll::Ready(!state.failed && state.next == state.parts)
        })
    }

    /// What the helpers have delivered.
    pub fn results(&self) -> Vec<R> {
        self.0.with(|state| std::mem::take(&mut state.results))
    }

    /// The owner ends: see T2. Blocks for as long as a helper's step takes.
    pub fn abandon(&self) {
        self.0.with(|state| state.abandoned = true);
        self.0.wait_until(|state| state.inside == 0);
    }
}

/// A mutex and a condition variable: `sync`'s, or loom's.
#[cfg(not(loom))]
struct Gate<T>(crate::Mutex<T>, crate::Condvar);

#[cfg(not(loom))]
impl<T> Gate<T> {
    fn new(state: T) -> Self {
        Self(crate::Mutex::new(state), crate::Condvar::new())
    }

    fn with<U>(&self, act: impl FnOnce(&mut T) -> U) -> U {
        act(&mut self.0.lock())
    }

    fn notify(&self) {
        self.1.notify_all();
    }

    fn wait_until(&self, holds: impl Fn(&T) -> bool) {
        let mut state = self.0.lock();
        while !holds(&state) {
            self.1.wait(&mut state);
        }
    }
}

#[cfg(loom)]
struct Gate<T>(loom::sync::Mutex<T>, loom::sync::Condvar);

#[cfg(loom)]
impl<T> Gate<T> {
    fn new(state: T) -> Self {
        Self(loom::sync::Mutex::new(state), loom::sync::Condvar::new())
    }

    fn with<U>(&self, act: impl FnOnce(&mut T) -> U) -> U {
        act(&mut self.0.lock().expect("no panics"))
    }

    fn notify(&self) {
        self.1.notify_all();
    }

    fn wait_until(&self, holds: impl Fn(&T) -> bool) {
        let mut state = self.0.lock().expect("no panics");
        while !holds(&state) {
            state = self.1.wait(state).expect("no panics");
        }
    }
}

/// Every interleaving of an owner and its helpers: `cargo xtask models`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use loom::thread;

    struct Shared {
        team: Team<usize>,
        /// What the owner lends.
        lent: AtomicBool,
        /// How often each part was done.
        done: [AtomicUsize; 2],
    }

    fn check(model: impl Fn() + Sync + Send + 'static) {
        let mut builder = loom::model::Builder::new();
        // Without a bound it takes minutes.
        builder.preemption_bound = Some(3);
        builder.check(model);
    }

    fn shared() -> Arc<Shared> {
        Arc::new(Shared { team: Team::new(2), lent: AtomicBool::new(true), done: [AtomicUsize::new(0), AtomicUsize::new(0)] })
    }

    /// Does parts until there are none; `false`: the owner is gone.
    fn help(shared: &Shared) -> bool {
        let Some(mut part) = shared.team.join() else { return true };
        let mut sum = 0;
        loop {
            if !shared.team.enter() {
                return false;
            }
            // Relaxed: T2 must be enough.
            assert!(shared.lent.load(Ordering::Relaxed), "T2");
            shared.done[part].fetch_add(1, Ordering::Relaxed);
            sum += part + 1;
            shared.team.leave();
            match shared.team.take() {
                Some(next) => part = next,
                None => break,
            }
        }
        shared.team.deliver(sum);
        true
    }

    /// T1, T3: the owner and the helpers do each part once, and the owner has all results.
    #[test]
    fn each_part_is_done_once() {
        check(|| {
            let shared = shared();
            let helpers: Vec<_> = (0..2)
                .map(|_| {
                    let shared = shared.clone();
                    thread::spawn(move || assert!(help(&shared)))
                })
                .collect();
            let mut sum = 0;
            while let Some(part) = shared.team.take() {
                shared.done[part].fetch_add(1, Ordering::Relaxed);
                sum += part + 1;
            }
            // As a waker would: looks again until it is done.
            loop {
                match shared.team.poll_done(Waker::noop()) {
                    Poll::Ready(all) => break assert!(all),
                    Poll::Pending => thread::yield_now(),
                }
            }
            sum += shared.team.results().iter().sum::<usize>();
            assert_eq!(sum, 3, "T3");
            shared.team.abandon();
            shared.lent.store(false, Ordering::Relaxed);
            helpers.into_iter().for_each(|helper| helper.join().expect("a helper"));
            assert!(shared.done.iter().all(|done| done.load(Ordering::Relaxed) == 1), "T1");
        });
    }

    /// T2: an owner that ends in the middle takes back what it lent.
    #[test]
    fn nobody_is_inside_after_the_end() {
        check(|| {
            let shared = shared();
            let helpers: Vec<_> = (0..2)
                .map(|_| {
                    let shared = shared.clone();
                    thread::spawn(move || _ = help(&shared))
                })
                .collect();
            shared.team.abandon();
            shared.lent.store(false, Ordering::Relaxed);
            helpers.into_iter().for_each(|helper| helper.join().expect("a helper"));
        });
    }

    /// T4: a failure ends the giving of parts, and the owner learns of it.
    #[test]
    fn a_failure_is_told() {
        check(|| {
            let shared = shared();
            let helper = {
                let shared = shared.clone();
                thread::spawn(move || shared.team.join().map(|_| shared.team.fail()))
            };
            let mut own = 0;
            while shared.team.take().is_some() {
                own += 1;
            }
            let all = loop {
                match shared.team.poll_done(Waker::noop()) {
                    Poll::Ready(all) => break all,
                    Poll::Pending => thread::yield_now(),
                }
            };
            let helped = helper.join().expect("a helper").is_some();
            assert_eq!(all, own == 2, "own {own}");
            assert!(!helped || !all, "T4");
        });
    }
}

#[cfg(all(test, not(any(loom, sim))))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn the_owner_is_woken_when_the_last_helper_delivers() {
        let team = Team::new(3);
        let woken = Arc::new(Count(AtomicUsize::new(0)));
        let waker = Waker::from(woken.clone());
        assert_eq!((team.join(), team.take(), team.join(), team.join()), (Some(0), Some(1), Some(2), None));
        assert_eq!(team.poll_done(&waker), Poll::Pending);
        team.deliver("a");
        assert_eq!(woken.0.load(Ordering::SeqCst), 1);
        assert_eq!(team.poll_done(&waker), Poll::Pending);
        team.deliver("b");
        assert_eq!(woken.0.load(Ordering::SeqCst), 2);
        assert_eq!(team.poll_done(&waker), Poll::Ready(true));
        assert_eq!(team.results(), ["a", "b"]);
    }

    #[test]
    fn nobody_enters_what_was_abandoned() {
        let team = Team::<()>::new(2);
        assert_eq!(team.join(), Some(0));
        assert!(team.enter());
        team.leave();
        team.abandon();
        assert!(!team.enter());
        assert_eq!(team.take(), None);
    }

    #[test]
    fn parts_that_were_not_taken_are_not_done() {
        let team = Team::<()>::new(2);
        assert_eq!(team.take(), Some(0));
        assert_eq!(team.poll_done(Waker::noop()), Poll::Ready(false));
    }
}
