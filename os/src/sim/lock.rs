//! Mutexes, condition variables and parking by address, as `parking_lot` has them, for the threads of the simulated machine.

use super::scheduler::{self, point};
use super::time::Instant;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// As `parking_lot::Mutex`: first come, any served.
#[derive(Default)]
pub struct Mutex<T: ?Sized> {
    held: AtomicBool,
    waiters: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached by one thread at a time, the holder.
unsafe impl<T: ?Sized + Send> Send for Mutex<T> {}
// SAFETY: as above.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    pub const fn new(value: T) -> Self {
        Self { held: AtomicBool::new(false), waiters: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }
}

impl<T: ?Sized> Mutex<T> {
    fn key(&self) -> usize {
        std::ptr::from_ref(&self.held) as usize
    }

    pub fn lock(&self) -> MutexGuard<'_, T> {
        point();
        self.acquire();
        MutexGuard { mutex: self }
    }

    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        point();
        (!self.held.swap(true, Ordering::Acquire)).then(|| MutexGuard { mutex: self })
    }

    fn acquire(&self) {
        while self.held.swap(true, Ordering::Acquire) {
            self.waiters.fetch_add(1, Ordering::Relaxed);
            scheduler::block(self.key(), None);
            self.waiters.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn release(&self) {
        self.held.store(false, Ordering::Release);
        if self.waiters.load(Ordering::Relaxed) > 0 {
            scheduler::wake_all(self.key());
        }
    }
}

impl<T: ?Sized + std::fmt::Debug> std::fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Mutex")
    }
}

pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard holds the mutex.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the guard holds the mutex, and is borrowed exclusively.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.mutex.release();
    }
}

/// Did a wait end by its time?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    pub fn timed_out(self) -> bool {
        self.0
    }
}

/// As `parking_lot::Condvar`.
#[derive(Default, Debug)]
pub struct Condvar(AtomicBool);

impl Condvar {
    pub const fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    fn key(&self) -> usize {
        std::ptr::from_ref(&self.0) as usize
    }

    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.wait_to(guard, None);
    }

    pub fn wait_for<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, duration: Duration) -> WaitTimeoutResult {
        self.wait_until(guard, Instant::now() + duration)
    }

    pub fn wait_until<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, deadline: Instant) -> WaitTimeoutResult {
        self.wait_to(guard, Some(deadline.nanoseconds()))
    }

    fn wait_to<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, until: Option<u64>) -> WaitTimeoutResult {
        // Nobody runs between the two: no notification is missed.
        guard.mutex.release();
        let woken = scheduler::block(self.key(), until);
        guard.mutex.acquire();
        WaitTimeoutResult(!woken)
    }

    pub fn notify_one(&self) -> bool {
        point();
        scheduler::wake_one(self.key())
    }

    pub fn notify_all(&self) -> usize {
        point();
        scheduler::wake_all(self.key())
    }
}

/// Parks on an address unless `stays` says no. Nobody runs between the question and the parking.
pub fn park(key: usize, stays: impl FnOnce() -> bool) {
    if stays() {
        scheduler::block(key, None);
    }
}

/// Wakes all who are parked on an address.
pub fn unpark_all(key: usize) {
    scheduler::wake_all(key);
}
