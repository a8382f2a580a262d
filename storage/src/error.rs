//! What can go wrong.

use crate::page::PageId;
use std::sync::Arc;

/// An error of the storage; never a latch restart, which is control flow.
#[derive(Clone, Debug)]
pub enum Error {
    /// The system refused; the text names the file and the reason.
    Io(Arc<str>),
    /// A page or file does not hold what it must.
    Corrupt { page: PageId, why: Arc<str> },
    /// The data file cannot grow.
    Full(Arc<str>),
    /// The data directory is in use, foreign, or of another version.
    Directory(Arc<str>),
    /// The tree is gone (dropped); only stale references meet this.
    NoSuchTree,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(what) | Self::Full(what) | Self::Directory(what) => f.write_str(what),
            Self::Corrupt { page, why } => write!(f, "page {page} of heddle.data is damaged: {why}"),
            Self::NoSuchTree => f.write_str("the tree has been dropped"),
        }
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(e: std::io::Error) -> Self {
        if matches!(
            e.kind(),
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded | std::io::ErrorKind::FileTooLarge
        ) {
            Self::Full(e.to_string().into())
        } else {
            Self::Io(e.to_string().into())
        }
    }
}
