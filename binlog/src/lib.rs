//! The binary log: MySQL's stream of changes, rendered from Heddle's own log.
//!
//! - `event` and `row` know the bytes of events and of rows in them, `json` those of documents, `gtid` identifiers of transactions.
//! - `files` has the files, and what a start makes of them.
//! - `definitions` follows the catalog, `gather` the open transactions, `note` has what sessions say of them; `large` finds values
//!   outside of rows.
//! - `read`, `row::read` and `json::read` take apart what another server wrote, for a replica.
//! - `render` makes the groups, `writeset` finds their dependencies, and `log` is the whole: the thread, and what sessions see.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

mod definitions;
pub mod event;
pub mod files;
mod gather;
pub mod gtid;
mod json;
mod large;
pub mod log;
pub mod note;
pub mod read;
mod render;
pub mod row;
pub mod settings;
mod writeset;

pub use log::{BinaryLog, Status};
