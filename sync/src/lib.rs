//! Cross-thread state: the only place where memory ordering is decided.
//!
//! - [`VersionLatch`]: an 8-byte latch that readers validate instead of taking.
//! - [`RacyWords`]: bytes that optimistic readers may read while a latch holder writes them.
//! - [`CachePadded`], and per-worker state built from it, keep one worker's writes off another's cache lines.
//! - [`prefetch`]: a cache line is asked for ahead of need.
//! - [`atomic`], [`Mutex`], [`Condvar`]: what the engine uses, so that the simulator (`--cfg sim`) can take the turn at each use.
//! - [`Team`]: work shared out to threads that may be told to stop at any time.
//! - [`Company`]: who else is busy, as a thread knows.
//! - [`waits`]: what a task waits for, in the memory of its thread.
//! - [`spin`]: bounded spinning in nanoseconds, calibrated once.
//!
//! Nothing here knows of pages, transactions or sessions.

pub mod atomic;
mod company;
mod latch;
mod lock;
mod prefetch;
mod racy;
pub mod spin;
mod team;
pub mod waits;

pub use company::Company;
pub use crossbeam_utils::CachePadded;
pub use latch::{LatchGuard, SPIN_US_MAX, Version, VersionLatch};
pub use lock::{Condvar, Mutex, MutexGuard};
pub use prefetch::prefetch;
pub use racy::RacyWords;
pub use team::Team;
