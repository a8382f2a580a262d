//! The statement drivers: the only places of this crate that wait.

use crate::context::ExecContext;
use crate::error::{Error, Result};
use crate::prepared::Prepared;
use crate::sink::RowSink;

/// How a query ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueryDone {
    pub rows: u64,
    /// What LAST_INSERT_ID(n) set, for the status packet.
    pub last_insert_id: u64,
}

/// How a data change ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DmlDone {
    /// ROW_COUNT(): rows changed (inserted 1, replaced 2, updated by ON DUPLICATE KEY 2).
    pub affected: u64,
    /// Rows an UPDATE found, changed or not.
    pub matched: u64,
    /// The id for the status packet: the first generated one, else an explicit AUTO_INCREMENT value, else LAST_INSERT_ID(n).
    pub last_insert_id: u64,
    /// `Rows matched: 1  Changed: 1  Warnings: 0`, `Records: 3  Duplicates: 0  Warnings: 0`, or empty.
    pub info: String,
}

/// Runs a query plan and writes its rows to `sink`.
///
/// Panics when the plan is not a query. On an error rows may have been sent already.
pub async fn run_query<S: RowSink>(cx: &mut ExecContext<'_>, prepared: &Prepared, sink: &mut S) -> Result<QueryDone> {
    let _ = cx;
    sink.start(prepared.columns());
    Err(Error::NotSupported("queries".into()))
}

/// Runs an INSERT, REPLACE, UPDATE or DELETE plan. On an error the statement's changes are undone; for [`Error::Deadlock`] the
/// caller must roll the whole transaction back.
///
/// Panics when the plan is a query.
pub async fn run_dml(cx: &mut ExecContext<'_>, prepared: &Prepared) -> Result<DmlDone> {
    let _ = (cx, prepared);
    Err(Error::NotSupported("changes".into()))
}
