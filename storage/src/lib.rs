//! Pages, the log, the buffer pool and B+trees: bytes under keys, safe on disk.
//!
//! Order inside this crate: crc -> page -> wal -> buffer -> space -> btree -> recovery; each uses only what stands before it.
//! Knows nothing of transactions beyond passing their marks through, and nothing of rows.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]

pub mod blocks;
pub mod btree;
pub mod buffer;
mod control;
mod crc;
pub mod error;
pub mod hot_copy;
pub mod offline;
pub mod page;
mod progress;
pub mod recovery;
mod space;
pub mod stall;
mod store;
pub mod wal;

pub use error::Error;
pub use page::{Lsn, PageId, TreeRef};
pub use stall::{Interrupt, Result, Stall, block_on, blocking};
pub use store::{Counters, Store, StoreConfig};
pub use wal::Durability;

/// Longest key, in bytes (MySQL's limit for an index).
pub const KEY_BYTES_MAX: usize = 3072;
/// Longest key plus payload of one record, in bytes. Longer rows move columns out (see `table`).
pub const RECORD_BYTES_MAX: usize = 3900;
