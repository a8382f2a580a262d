//! The operating system as the engine sees it: files, memory reservations, the data directory's lock,
//! what machine this is.
//!
//! Knows nothing of pages or logs. Every call that can fail returns `std::io::Error` with the path in the message.
//! Files are opened for direct I/O where the file system allows it, so callers pass [`AlignedBuf`]s.

mod file;
mod memory;
mod scratch;
pub mod topology;

pub use file::{DirLock, File, LockError, sync_dir};
pub use memory::{AlignedBuf, Reservation};
pub use scratch::ScratchFile;

/// Alignment of direct I/O: buffers, offsets and lengths.
pub const IO_ALIGN: usize = 4096;

/// The two words in which the kernel names what this processor has beyond its basis (`AT_HWCAP` and `AT_HWCAP2`, getauxval(3)); their
/// bits mean something else on each architecture.
pub fn hardware_capabilities() -> (usize, usize) {
    rustix::param::linux_hwcap()
}

/// Prints one line and ends the process at once, without unwinding: for failures after which no state may be trusted
/// (a failed sync of the log: what the kernel holds of it is unknown; see "Can Applications Recover from fsync Failures?", ATC 2020).
pub fn fatal(what: &str) -> ! {
    eprintln!("heddle: fatal: {what}; stopping. The data directory is recovered from its log at the next start.");
    std::process::abort()
}
