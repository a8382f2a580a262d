//! Mutexes, condition variables, and parking by address: `parking_lot`'s, or the simulated machine's.

#[cfg(sim)]
pub use os::sim::lock::{Condvar, Mutex, MutexGuard};
#[cfg(not(sim))]
pub use parking_lot::{Condvar, Mutex, MutexGuard};

/// Parks the thread on the address of `on` while `stays` holds; `unpark_all` with the same address wakes it.
#[cfg(not(sim))]
pub(crate) fn park<T>(on: &T, stays: impl FnOnce() -> bool) {
    let key = std::ptr::from_ref(on) as usize;
    // SAFETY: the key is the address of something that outlives the call; the callbacks neither panic nor park.
    unsafe {
        parking_lot_core::park(key, stays, || {}, |_, _| {}, parking_lot_core::DEFAULT_PARK_TOKEN, None);
    }
}

/// Wakes all who are parked on the address of `on`.
#[cfg(not(sim))]
pub(crate) fn unpark_all<T>(on: &T) {
    let key = std::ptr::from_ref(on) as usize;
    // SAFETY: as in `park`.
    unsafe { parking_lot_core::unpark_all(key, parking_lot_core::DEFAULT_UNPARK_TOKEN) };
}

#[cfg(sim)]
pub(crate) fn park<T>(on: &T, stays: impl FnOnce() -> bool) {
    os::sim::lock::park(std::ptr::from_ref(on) as usize, stays);
}

#[cfg(sim)]
pub(crate) fn unpark_all<T>(on: &T) {
    os::sim::lock::unpark_all(std::ptr::from_ref(on) as usize);
}
