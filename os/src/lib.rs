//! The operating system as the engine sees it: files, memory reservations, the data directory's lock.
//!
//! Knows nothing of pages or logs. Every call that can fail returns `std::io::Error` with the path in the message.
//! Files are opened for direct I/O where the file system allows it, so callers pass [`AlignedBuf`]s.

mod file;
mod memory;
mod scratch;

pub use file::{DirLock, File, LockError, sync_dir};
pub use memory::{AlignedBuf, Reservation};
pub use scratch::ScratchFile;

/// Alignment of direct I/O: buffers, offsets and lengths.
pub const IO_ALIGN: usize = 4096;

/// Prints one line and ends the process at once, without unwinding: for failures after which no state may be trusted
/// (a failed sync of the log: what the kernel holds of it is unknown; see "Can Applications Recover from fsync Failures?", ATC 2020).
pub fn fatal(what: &str) -> ! {
    eprintln!("heddle: fatal: {what}; stopping. The data directory is recovered from its log at the next start.");
    std::process::abort()
}
