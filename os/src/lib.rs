//! The operating system as the server sees it: files, sockets, threads, time, random numbers, memory reservations, the data directory's lock, what machine this is.
//!
//! Knows nothing of pages or logs. Every call that can fail returns `std::io::Error` with the path in the message.
//! Files are opened for direct I/O where the file system allows it, so callers pass [`AlignedBuf`]s.
//!
//! Built with `--cfg sim`, files, sockets, threads, time and random numbers are those of a simulated machine (`sim`) that one seed drives. Otherwise [`thread`]
//! and [`time`] are the standard library's own. Under Miri, an interpreter that finds undefined behaviour, files and reservations are what it
//! can do (`miri`).
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

#[cfg(not(any(sim, miri)))]
mod file;
#[cfg(not(sim))]
pub mod fs;
mod memory;
#[cfg(miri)]
mod miri;
#[cfg(not(miri))]
pub mod net;
pub mod profile;
#[cfg(not(miri))]
mod scratch;
#[cfg(sim)]
pub mod sim;
mod ticks;
pub mod topology;

#[cfg(not(any(sim, miri)))]
pub use file::{DirLock, File, file_counts, sync_dir};
#[cfg(not(miri))]
pub use memory::Reservation;
pub use memory::{AlignedBuf, memory_bytes};
#[cfg(miri)]
pub use miri::{DirLock, File, Reservation, ScratchFile, sync_dir};
#[cfg(not(miri))]
pub use scratch::ScratchFile;
#[cfg(sim)]
pub use sim::file::{DirLock, File, fs, sync_dir};
pub use ticks::{TickClock, ticks};

/// Files written, made durable and opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileCounts {
    pub writes: u64,
    pub syncs: u64,
    /// Opened so far.
    pub opened: u64,
    /// Open now.
    pub open: u64,
}

/// Nothing is counted of simulated files.
#[cfg(any(sim, miri))]
pub fn file_counts() -> FileCounts {
    FileCounts::default()
}

/// Threads of the engine: the standard library's, or the simulated machine's.
pub mod thread {
    #[cfg(sim)]
    pub use crate::sim::thread::{
        Builder, JoinHandle, Thread, available_parallelism, current, park, park_timeout, scope, sleep, yield_now,
    };
    #[cfg(not(sim))]
    pub use std::thread::{
        Builder, JoinHandle, Thread, available_parallelism, current, park, park_timeout, scope, sleep, yield_now,
    };
}

/// Clocks of the engine: the standard library's, or the simulated machine's.
pub mod time {
    #[cfg(sim)]
    pub use crate::sim::time::{Instant, since_epoch};
    #[cfg(not(sim))]
    pub use std::time::Instant;

    /// The time of day: since the beginning of 1970, UTC.
    #[cfg(not(sim))]
    pub fn since_epoch() -> std::time::Duration {
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default()
    }
}

/// Alignment of direct I/O: buffers, offsets and lengths.
pub const IO_ALIGN: usize = 4096;

/// The two words in which the kernel names what this processor has beyond its basis (`AT_HWCAP` and `AT_HWCAP2`, getauxval(3)); their
/// bits mean something else on each architecture.
pub fn hardware_capabilities() -> (usize, usize) {
    rustix::param::linux_hwcap()
}

/// Fills a buffer with random bytes that nobody can foresee; the simulated machine's come from its seed.
#[cfg(not(miri))]
pub fn fill_random(bytes: &mut [u8]) {
    #[cfg(not(sim))]
    rand::RngCore::fill_bytes(&mut rand::rng(), bytes);
    #[cfg(sim)]
    sim::scheduler::fill_random(bytes);
}

/// As [`fill_random`].
#[cfg(not(miri))]
pub fn random_bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    fill_random(&mut bytes);
    bytes
}

/// A random number below `bound`, each as likely as the others; 0 when that is 0.
#[cfg(not(miri))]
pub fn random_below(bound: usize) -> usize {
    let random = u64::from_le_bytes(random_bytes());
    ((u128::from(random) * bound as u128) >> 64) as usize
}

/// Why a directory could not be locked.
#[derive(Debug)]
pub enum LockError {
    /// Another process has it: its number, if it has written it down.
    Held(Option<u32>),
    Io(std::io::Error),
}

/// Prints one line on standard error. Nobody may be reading it any more (`heddle serve 2>&1 | head`): unlike `eprintln!`, that is no reason to panic.
pub fn report(what: std::fmt::Arguments<'_>) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "heddle: {what}");
}

/// Prints one line and ends the process at once, without unwinding: for failures after which no state may be trusted
/// (a failed sync of the log: what the kernel holds of it is unknown; see "Can Applications Recover from fsync Failures?", ATC 2020).
#[cfg(not(sim))]
pub fn fatal(what: &str) -> ! {
    report(format_args!("fatal: {what}; stopping. The data directory is recovered from its log at the next start."));
    std::process::abort()
}

/// Is this mistake to be made here? Only the simulator ever says yes; see `sim/mutation.rs` for the list.
#[cfg(not(sim))]
#[inline(always)]
pub const fn mutated(_name: &str) -> bool {
    false
}

#[cfg(sim)]
pub use sim::{mutated, scheduler::fatal};
