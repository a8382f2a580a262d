//! Errors of transactions, and the events that a call can wait for.

use crate::locks::WaitCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

#[derive(Clone, Debug)]
pub enum Error {
    /// 1213: this transaction was chosen as the victim and must be rolled back whole.
    Deadlock,
    /// 1205: the statement is rolled back, the transaction continues.
    LockWaitTimeout,
    /// 3572, NOWAIT
    WouldBlock,
    /// 1317: the session was killed while it waited.
    Interrupted,
    /// I/O, corruption; carries the storage error's text.
    Storage(String),
    /// 1114 / 1021: no room on disk, or too many transactions since the oldest snapshot.
    Full,
    /// Key or record over the limits.
    TooLarge { bytes: usize },
    /// 1412: a tree is younger than the snapshot, and does not have the versions that the snapshot sees.
    SnapshotTooOld,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Deadlock => f.write_str("deadlock found when trying to get a lock"),
            Self::LockWaitTimeout => f.write_str("lock wait timeout exceeded"),
            Self::WouldBlock => f.write_str("the row is locked by another transaction"),
            Self::Interrupted => f.write_str("interrupted"),
            Self::Storage(what) => f.write_str(what),
            Self::Full => f.write_str("no room"),
            Self::TooLarge { bytes } => write!(f, "a record of {bytes} bytes is too large"),
            Self::SnapshotTooOld => f.write_str("the table was made anew since the transaction's snapshot"),
        }
    }
}

impl std::error::Error for Error {}

impl From<storage::Error> for Error {
    fn from(e: storage::Error) -> Self {
        match e {
            storage::Error::Full(_) => Self::Full,
            other => Self::Storage(other.to_string()),
        }
    }
}

/// What to wait for before the same call is made again. Await it (any executor), or `wait_blocking()` on a thread that may block.
#[must_use]
#[derive(Debug)]
pub enum Stall {
    Storage(storage::Stall),
    /// A row that another transaction holds.
    Lock(Arc<WaitCell>),
}

impl Future for Stall {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        match self.get_mut() {
            Self::Storage(stall) => Pin::new(stall).poll(cx),
            Self::Lock(cell) => cell.poll_ready(cx),
        }
    }
}

impl Stall {
    /// Waits on this thread, which must be one that may block.
    pub fn wait_blocking(self) {
        storage::block_on(self)
    }
}

/// Why a call did not answer.
#[derive(Debug)]
pub enum Interrupt {
    Stall(Stall),
    Error(Error),
}

impl From<Error> for Interrupt {
    fn from(e: Error) -> Self {
        Self::Error(e)
    }
}

impl From<storage::Stall> for Interrupt {
    fn from(stall: storage::Stall) -> Self {
        Self::Stall(Stall::Storage(stall))
    }
}

impl From<storage::Error> for Interrupt {
    fn from(e: storage::Error) -> Self {
        Self::Error(e.into())
    }
}

impl From<storage::Interrupt> for Interrupt {
    fn from(interrupt: storage::Interrupt) -> Self {
        match interrupt {
            storage::Interrupt::Stall(stall) => Self::Stall(Stall::Storage(stall)),
            storage::Interrupt::Error(e) => Self::Error(e.into()),
        }
    }
}

pub type Result<T> = std::result::Result<T, Interrupt>;
