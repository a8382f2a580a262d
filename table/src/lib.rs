//! Tables: turns bytes into rows.
//!
//! This crate knows the catalog, rows, index entries, large values, constraints by key, and DDL. It knows nothing of
//! statements, expressions, sessions or packets. Below it `txn` keeps versioned trees of byte keys and payloads.
//!
//! ```text
//! Database ── Schema snapshot (names -> TableDef)             catalog tree
//!    └─ Table ── index 0: clustered tree   (primary key -> stored row)
//!           ├── index k: secondary tree    (index key [+ primary key] -> [primary key])
//!           ├── blob tree                  (blob id, chunk number -> chunk)
//!           └── MetadataLock, counters
//! ```
//!
//! T1: every operation on rows is restartable. It returns a stall only at points where repeating the same call
//!     continues correctly; operations of several steps keep their place in a [`Progress`].
//! T2: every user of a [`Table`] holds a share of its [`Table::mdl`], so its definition and trees do not change
//!     meanwhile.
//! T3: one transaction writes all entries of a row (clustered, secondary, chunks), so every snapshot sees all or none.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

mod blob;
mod catalog;
mod check;
mod codec;
mod counters;
mod cursor;
mod database;
pub mod ddl;
pub mod embedded;
mod entries;
mod error;
pub mod log_view;
pub mod mdl;
pub mod offline;
mod prepared;
mod reference;
mod row_buf;
mod statistics;
mod table;
pub mod usage;
mod watch;
mod write;

pub use check::CheckReport;
pub use cursor::RowCursor;
pub use database::Database;
pub use entries::{EntryScan, FoundVector, FoundWord, VectorScan, WordScan};
pub use error::{Error, NameOf, Result, SpatialKeyProblem};
pub use mdl::{MdlWait, MetadataLock, ShareGuard, TableUse};
pub use prepared::{PreparedReader, PreparedWriter, remove_prepared_part};
pub use reference::{Lookup, Reference, is_representable};
pub use row_buf::{EncodedRange, RowBuf};
pub use statistics::{TableSize, statistics_key};
pub use storage::hot_copy;
pub use table::{Index, RowRead, Table};
pub use types::{RowLayout, StoredRow};
pub use write::{InsertRow, Pauses, Progress, WriteRow};

#[cfg(test)]
mod tests;
