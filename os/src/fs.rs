//! Names in directories; none of these is durable before [`crate::sync_dir`].

pub use std::fs::{create_dir_all, read, remove_file, rename};

use std::ffi::OsString;
use std::io;
use std::path::Path;

pub fn exists(path: &Path) -> bool {
    path.exists()
}

/// The names in a directory.
pub fn list(dir: &Path) -> io::Result<Vec<OsString>> {
    std::fs::read_dir(dir)?.map(|entry| entry.map(|e| e.file_name())).collect()
}

/// The bytes that are free, for programs without privileges, on the file system of a directory.
#[cfg(not(miri))]
pub fn free_bytes(dir: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(dir)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// See above: the interpreter does not tell.
#[cfg(miri)]
pub fn free_bytes(_dir: &Path) -> io::Result<u64> {
    Ok(u64::MAX)
}
