//! The rules. A file holds those about one topic.
//!
//! - of access: the first that explains a statement's reading takes it (V2), so special causes come before general ones;
//! - of statements: each is asked about each statement;
//! - of the server: about tables, sessions and accounts.

mod access;
mod chatter;
mod contention;
mod covering;
mod fetched;
mod index;
mod joins;
mod order;
mod plans;
mod repeated;
mod rows;
mod sessions;
mod tables;

pub use index::bytes;

use crate::finding::Finding;
use crate::shape::Shape;
use crate::workload::{Statement, Workload};

type OfAccess = fn(&Workload<'_>, &Statement, &Shape<'_>) -> Option<Finding>;
type OfStatement = fn(&Workload<'_>, &Statement, Option<&Shape<'_>>) -> Option<Finding>;
type OfServer = fn(&Workload<'_>, &mut Vec<Finding>);

pub const OF_ACCESS: &[OfAccess] = &[
    access::function_on_column,
    access::implicit_cast,
    order::deep_offset,
    order::order_without_index,
    access::missing_index,
    covering::covering_index,
];

pub const OF_STATEMENTS: &[OfStatement] = &[
    repeated::n_plus_one,
    repeated::repeated_count,
    rows::changed_one_by_one,
    contention::hot_row,
    contention::deadlock,
    fetched::dear_columns,
    joins::needless_join,
    plans::plan_flip,
];

pub const OF_SERVER: &[OfServer] =
    &[tables::indexes, tables::auto_increment, tables::primary_key, sessions::idle_transactions, chatter::chatter];

/// Executions before a rule speaks about a statement, and rows that an execution must read before reading is a problem.
const COUNT_MIN: u64 = 10;
const EXAMINED_MIN: f64 = 1000.0;
/// A scan is a problem if at most this part of the rows read is used.
const YIELD_MAX: f64 = 0.05;
