//! Transactions over versioned B+trees: snapshots, row locks, undo, commit.
//!
//! The engine never blocks: a call answers at once or returns [`Interrupt::Stall`]; the caller awaits the stall and makes the same
//! call again. Every call is restartable: when it returns a stall it has changed nothing that the repetition does not see.
//!
//! - [`Engine`] is the whole; each thread has a [`Worker`]; each session a [`Txn`].
//! - `past`: snapshots of moments that lie behind, while a retention keeps what they need.
//! - A record's newest version stands in its leaf, marked with its writer's id (`status`); older ones are in memory (`undo`).
//! - A snapshot is one load of the commit clock (`horizon`); row locks are marks and, for those who wait, `locks`.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

mod ahead;
mod engine;
mod error;
mod horizon;
#[cfg(test)]
mod interleave;
mod lock_range;
mod locks;
mod past;
mod prepared;
mod purge;
mod ranges;
mod read;
mod scan;
mod status;
mod timers;
mod txn;
mod undo;
mod write;

pub use engine::{Config, Engine, EngineStatus, RECOVERY_TARGET, Worker};
pub use error::{Error, Interrupt, Result, Stall};
pub use locks::{LockLine, LockOwner, LockReport, Locked};
pub use past::NoPast;
pub use prepared::{ChangeCursor, Changed};
pub use read::{LockMode, Seen, WaitPolicy};
pub use scan::{ReadMode, Scan, ScanRow};
pub use status::worker_of;
pub use storage::btree::{KeyList, Place};
pub use storage::buffer::{ResizeBusy, ResizeState, page_requests, page_write_requests};
pub use storage::{Durability, KEY_BYTES_MAX, RECORD_BYTES_MAX, TreeRef, block_on};
pub use sync::Company;
pub use txn::{Isolation, LentSnapshot, Savepoint, Txn};
pub use write::{InsertOutcome, WriteOutcome};

pub(crate) use timers::Timers;

#[cfg(test)]
mod tests;
