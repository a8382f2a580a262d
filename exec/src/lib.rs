//! Runs plans: expressions, functions, operators, data changes.
//!
//! 1. [`Prepared::new`] resolves a bound plan's tables once and picks the way to run it.
//! 2. [`run_query`] pulls rows through the operators and writes them to a [`RowSink`]; [`run_dml`] changes rows.
//! 3. Operators and expressions are synchronous: to wait, they return what to wait for, and are called again. Drivers and changes of rows wait.
//!
//! This crate does not know packets, sockets, accounts or syntax.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

mod access;
mod boxed;
mod clock;
mod context;
mod definition;
mod dml;
mod driver;
mod estimate;
mod fulltext;
mod hash;
pub mod load;
mod operator;
mod parallel;
mod partitions;
mod pause;
mod prepared;
pub mod program;
mod row_count;
mod run;
mod scratch;
mod shape;
mod shared;
mod sink;
mod source;
mod spill;
mod stored_conditions;
mod subquery;
mod temporary;
#[cfg(test)]
mod tests;
mod wait;

pub use boxed::boxed;
pub use context::{Call, ExecContext, Fire, Help, Host, LocalFuture, TriggerRow, VirtualRows};
pub use definition::DefinitionExpressions;
pub use dml::{ChangeInfo, DmlDone, column_error};
pub use driver::{QueryDone, measure, run_dml, run_load, run_query, shown_nodes};
pub use estimate::Constants;
pub use pause::engine_error;
pub use prepared::Prepared;
pub use sink::{NullSink, RowSink, Strictness};
pub use spill::kept::{KeptRecords, KeptRows};
pub use temporary::{Temporary, TemporaryFigures};
pub use wait::{NoHost, yield_now};
