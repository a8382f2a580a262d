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
