//! The optimistic latch of a page frame: 8 bytes, exclusive for writers, validated by readers.
//!
//! ```text
//! word = version << 2 | PARKED << 1 | LOCKED
//! ```
//! A reader takes the version, reads the page through [`crate::RacyWords`], and validates: an unchanged version means that
//! what it read is one consistent state (a sequence lock; Boehm, "Can Seqlocks Get Along with Programming Language Memory Models?",
//! MSPC 2012). A writer sets LOCKED, changes the page, and publishes version + 1.
//!
//! L1: the version only grows, and grows with every release of the latch under which something may have changed.
//! L2: a reader never writes the word.
//! L3: a waiter spins a bounded, calibrated time, then parks; whoever releases a latch with PARKED set wakes all parked.

use crate::atomic::{AtomicU64, Ordering, fence};
use crate::{lock, spin};

const LOCKED: u64 = 1;
const PARKED: u64 = 2;
const ONE_VERSION: u64 = 4;
/// How long a waiter spins before it parks.
pub const SPIN_US_MAX: u32 = 4;

/// What a reader saw; to be validated after reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(u64);

/// See the module's head.
#[derive(Debug)]
pub struct VersionLatch(AtomicU64, #[cfg(loom)] model::Parking);

#[cfg(not(loom))]
const _: () = assert!(size_of::<VersionLatch>() == 8);

/// Exclusive ownership; released on drop.
#[must_use]
#[derive(Debug)]
pub struct LatchGuard<'a>(&'a VersionLatch);

impl VersionLatch {
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    #[cfg(loom)]
    pub fn new() -> Self {
        Self(AtomicU64::new(0), model::Parking::default())
    }

    /// The version to validate later; `None` while a writer holds the latch.
    #[inline]
    pub fn read(&self) -> Option<Version> {
        // Acquire: pairs with the Release in `unlock`; the page bytes of this version are visible to the loads that follow.
        let word = self.0.load(Ordering::Acquire);
        if word & LOCKED != 0 { None } else { Some(Version(word & !PARKED)) }
    }

    /// Like `read`, but waits for a writer to finish.
    #[inline]
    pub fn read_wait(&self) -> Version {
        match self.read() {
            Some(version) => version,
            None => self.read_slow(),
        }
    }

    #[cold]
    fn read_slow(&self) -> Version {
        loop {
            if spin::spin_until(SPIN_US_MAX, || self.0.load(Ordering::Relaxed) & LOCKED == 0) {
                if let Some(version) = self.read() {
                    return version;
                }
            } else {
                self.park();
            }
        }
    }

    /// Was everything read since `version` was taken one consistent state?
    #[inline]
    pub fn validate(&self, version: Version) -> bool {
        // Acquire fence: the relaxed page loads before it are ordered before the load of the word. Pairs with the Release fence
        // in `lock`: a reader that saw a writer's byte also sees its LOCKED bit or a later version.
        fence(Ordering::Acquire);
        #[cfg(sim)]
        if os::sim::mutated("drop-validation") {
            return true;
        }
        self.0.load(Ordering::Relaxed) & !PARKED == version.0
    }

    /// Takes the latch if nothing has changed since `version`.
    #[inline]
    pub fn try_upgrade(&self, version: Version) -> Option<LatchGuard<'_>> {
        let word = self.0.load(Ordering::Relaxed);
        if word & !PARKED != version.0 {
            return None;
        }
        self.try_set(word)
    }

    /// Takes the latch if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<LatchGuard<'_>> {
        let word = self.0.load(Ordering::Relaxed);
        if word & LOCKED != 0 {
            return None;
        }
        self.try_set(word)
    }

    #[inline]
    fn try_set(&self, word: u64) -> Option<LatchGuard<'_>> {
        // Acquire: the previous holder's page bytes are visible.
        self.0.compare_exchange(word, word | LOCKED, Ordering::Acquire, Ordering::Relaxed).ok()?;
        // Release fence: orders LOCKED before the relaxed page stores that follow. Pairs with the Acquire fence in `validate`.
        fence(Ordering::Release);
        Some(LatchGuard(self))
    }

    /// Takes the latch, waiting for its holder.
    pub fn lock(&self) -> LatchGuard<'_> {
        loop {
            if let Some(guard) = self.try_lock() {
                return guard;
            }
            if !spin::spin_until(SPIN_US_MAX, || self.0.load(Ordering::Relaxed) & LOCKED == 0) {
                self.park();
            }
        }
    }

    /// Is the latch held by somebody?
    pub fn is_locked(&self) -> bool {
        self.0.load(Ordering::Relaxed) & LOCKED != 0
    }

    #[cold]
    fn park(&self) {
        let word = self.0.load(Ordering::Relaxed);
        if word & LOCKED == 0 {
            return;
        }
        if word & PARKED == 0 && self.0.compare_exchange(word, word | PARKED, Ordering::Relaxed, Ordering::Relaxed).is_err() {
            return;
        }
        let still_held = || self.0.load(Ordering::Relaxed) & (LOCKED | PARKED) == LOCKED | PARKED;
        #[cfg(loom)]
        self.1.park(still_held);
        #[cfg(not(loom))]
        lock::park(&self.0, still_held);
    }

    #[inline]
    fn unlock(&self) {
        let word = self.0.load(Ordering::Relaxed);
        debug_assert!(word & LOCKED != 0, "L1: only a holder releases");
        let next = (word & !(LOCKED | PARKED)).wrapping_add(ONE_VERSION);
        // A swap, not a store: PARKED may be set between the load and here. Release: publishes the page bytes (see `read`).
        if self.0.swap(next, Ordering::Release) & PARKED != 0 {
            self.wake_parked();
        }
    }

    /// Gives the latch back without a new version: nothing was changed, so what readers saw still holds.
    fn unlock_unchanged(&self) {
        // Release: the next holder comes after. Nothing is published.
        if self.0.fetch_and(!(LOCKED | PARKED), Ordering::Release) & PARKED != 0 {
            self.wake_parked();
        }
    }

    #[cold]
    fn wake_parked(&self) {
        #[cfg(loom)]
        self.1.unpark_all();
        #[cfg(not(loom))]
        lock::unpark_all(&self.0);
    }
}

impl Default for VersionLatch {
    fn default() -> Self {
        Self::new()
    }
}

impl LatchGuard<'_> {
    /// Releases a latch under which nothing was changed: versions taken before stay valid.
    pub fn release_unchanged(self) {
        self.0.unlock_unchanged();
        std::mem::forget(self);
    }
}

impl Drop for LatchGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.unlock();
    }
}

/// The latch in every interleaving (and every reordering that the memory model allows) of a few threads: `cargo xtask models`.
#[cfg(loom)]
mod model {
    use loom::sync::{Condvar, Mutex};

    /// What `parking_lot_core` promises: `validate` and going to sleep are one step for those who wake.
    #[derive(Debug, Default)]
    pub struct Parking(Mutex<()>, Condvar);

    impl Parking {
        pub fn park(&self, validate: impl Fn() -> bool) {
            let guard = self.0.lock().expect("no panics");
            if validate() {
                drop(self.1.wait(guard).expect("no panics"));
            }
        }

        pub fn unpark_all(&self) {
            let _guard = self.0.lock().expect("no panics");
            self.1.notify_all();
        }
    }

    #[cfg(test)]
    mod tests {
        use crate::VersionLatch;
        use loom::sync::Arc;
        use loom::sync::atomic::{AtomicU64, Ordering};
        use loom::thread;

        struct Page {
            latch: VersionLatch,
            words: [AtomicU64; 2],
        }

        fn page() -> Arc<Page> {
            Arc::new(Page { latch: VersionLatch::new(), words: [AtomicU64::new(0), AtomicU64::new(0)] })
        }

        impl Page {
            fn both(&self) -> [u64; 2] {
                [self.words[0].load(Ordering::Relaxed), self.words[1].load(Ordering::Relaxed)]
            }

            fn increment(&self) {
                self.words.iter().for_each(|w| w.store(w.load(Ordering::Relaxed) + 1, Ordering::Relaxed));
            }
        }

        #[test]
        fn what_validates_is_consistent() {
            loom::model(|| {
                let page = page();
                let other = page.clone();
                let writer = thread::spawn(move || {
                    for _ in 0..2 {
                        let _guard = other.latch.lock();
                        other.increment();
                    }
                });
                if let Some(version) = page.latch.read() {
                    let [a, b] = page.both();
                    if page.latch.validate(version) {
                        assert_eq!(a, b);
                    }
                }
                writer.join().expect("the writer");
                assert_eq!(page.both(), [2, 2]);
            });
        }

        #[test]
        fn holders_exclude_each_other_and_nobody_sleeps_for_ever() {
            let mut builder = loom::model::Builder::new();
            // All schedules with up to three preemptions: without a bound three threads take hours.
            builder.preemption_bound = Some(3);
            builder.check(|| {
                let page = page();
                let threads: Vec<_> = (0..2)
                    .map(|_| {
                        let page = page.clone();
                        thread::spawn(move || {
                            let _guard = page.latch.lock();
                            page.increment();
                        })
                    })
                    .collect();
                {
                    let _guard = page.latch.lock();
                    page.increment();
                }
                threads.into_iter().for_each(|t| t.join().expect("a thread"));
                assert_eq!(page.both(), [3, 3]);
            });
        }

        #[test]
        fn an_upgrade_means_that_nothing_changed() {
            loom::model(|| {
                let page = page();
                let other = page.clone();
                let writer = thread::spawn(move || {
                    let _guard = other.latch.lock();
                    other.increment();
                });
                let version = page.latch.read_wait();
                let [a, b] = page.both();
                if let Some(_guard) = page.latch.try_upgrade(version) {
                    assert_eq!(page.both(), [a, b]);
                    assert_eq!(a, b);
                    page.increment();
                }
                writer.join().expect("the writer");
                let [a, b] = page.both();
                assert_eq!(a, b);
            });
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::RacyWords;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn readers_see_consistent_pairs() {
        let latch = VersionLatch::new();
        let words = RacyWords::boxed(2);
        let stop = AtomicBool::new(false);
        let rounds = if cfg!(miri) { 50 } else { 100_000 };
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let version = latch.read_wait();
                        let (a, b) = (words.load(0), words.load(1));
                        if latch.validate(version) {
                            assert_eq!(a, b);
                        }
                    }
                });
            }
            let writers: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        for _ in 0..rounds {
                            let _guard = latch.lock();
                            let next = words.load(0) + 1;
                            words.store(0, next);
                            words.store(1, next);
                        }
                    })
                })
                .collect();
            writers.into_iter().for_each(|w| w.join().expect("writer"));
            stop.store(true, Ordering::Relaxed);
        });
        assert_eq!(words.load(0), 2 * rounds);
    }

    #[test]
    fn upgrade_fails_after_a_change() {
        let latch = VersionLatch::new();
        let version = latch.read().expect("free");
        drop(latch.lock());
        assert!(!latch.validate(version));
        assert!(latch.try_upgrade(version).is_none());
        assert!(latch.try_upgrade(latch.read().expect("free")).is_some());
    }
}
