//! Backups of a running server, and data directories made of them.
//!
//! - [`file`](mod@file): the bytes of a backup file: chunks with checksums, compressed, perhaps encrypted.
//! - [`place`]: where the files are: a directory, or an object store.
//! - [`take`]: asks a server for `BACKUP SERVER` and writes the answer into a backup file.
//! - [`shelf`]: the backups of a directory: full ones, and incremental ones on top of them.
//! - [`restore`]: makes a data directory of a chain of backups, as it was at the end or at a time.
//!
//! What a backup has and why it is consistent: `storage::hot_copy`.
#![forbid(unsafe_code)]

pub mod file;
pub mod place;
pub mod restore;
pub mod shelf;
pub mod take;

/// What stops a backup or a restore, in one line for the person who asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(pub String);

pub type Result<T> = std::result::Result<T, Error>;

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

impl From<storage::Error> for Error {
    fn from(error: storage::Error) -> Self {
        Self(error.to_string())
    }
}

/// An error about a file.
pub(crate) fn about(path: &std::path::Path, what: &str, error: impl std::fmt::Display) -> Error {
    Error(format!("{what} {}: {error}", path.display()))
}

/// What long work tells of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that were looked at.
    pub done: u64,
    /// Bytes in all; 0: not known.
    pub all: u64,
    /// Bytes of the backup file.
    pub stored: u64,
}
