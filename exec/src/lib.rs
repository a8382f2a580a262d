//! Runs plans: expressions, functions, operators, data changes.
//!
//! 1. [`Prepared::new`] resolves a bound plan's tables once and picks the way to run it.
//! 2. [`run_query`] pulls rows through the operators and writes them to a [`RowSink`]; [`run_dml`] changes rows.
//! 3. Both are the only places that wait: operators and expressions are synchronous, say what to wait for, and are called again.
//!
//! This crate knows nothing of packets, sockets, accounts or syntax.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

mod access;
mod arithmetic;
mod aside;
mod cast;
mod clock;
mod coerce;
mod context;
mod definition;
mod display;
mod dml;
mod driver;
mod error;
mod estimate;
mod eval;
mod function;
mod hash;
mod in_list;
mod keys;
pub mod load;
mod operand;
mod operator;
mod packed;
mod partitions;
mod prepared;
pub mod program;
mod run;
mod scratch;
mod session;
mod sink;
mod source;
mod spill;
mod stored_conditions;
mod subquery;
mod temporary;
#[cfg(test)]
mod tests;
mod user_variables;
mod wait;
mod work;

pub use context::{Call, ExecContext, Fire, Host, LocalFuture, TriggerRow, VirtualRows};
pub use definition::DefinitionExpressions;
pub use dml::{ChangeInfo, DmlDone, column_error};
pub use driver::{QueryDone, measure, run_dml, run_load, run_query};
pub use error::{Error, Level, Raised, Result};
pub use estimate::Constants;
pub use function::{LOCALE_NAMES, TimeNames, pico_time};
pub use prepared::Prepared;
pub use session::{BlockEncryption, BlockMode, Limits, SessionVars, Warning, Warnings, kill};
pub use sink::{NullSink, RowSink, Strictness};
pub use spill::kept::{KeptRecords, KeptRows};
pub use temporary::{Temporary, TemporaryFigures};
pub use types::temporal::TimeZone;
pub use user_variables::{UserVariable, UserVariables};
pub use wait::{NoHost, yield_now};
pub use work::{Work, count};
