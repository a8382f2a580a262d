//! The environment of a statement: the worker, the transaction, the session, and the services of `server`.

use crate::temporary::Temporary;
use expr::{Error, Result, SessionVars};
use sql::plan::FunctionCall;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use types::Value;
use types::schema::{TableDef, TriggerEvent};

/// A future that stays on its thread.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Everything one execution of a plan needs. Made by `server` for each statement.
pub struct ExecContext<'a> {
    pub worker: &'a txn::Worker,
    pub txn: &'a mut txn::Txn,
    pub database: &'a table::Database,
    pub session: &'a mut SessionVars,
    /// The values of `?` and of lifted literals, in order.
    pub params: &'a [Value<'a>],
    pub host: &'a dyn Host,
}

/// The services that execution takes from the server.
pub trait Host: expr::Host {
    /// Completes after `duration`. It is dropped early when the statement is killed; a KILL wakes the session's task.
    fn sleep(&self, duration: Duration) -> LocalFuture<'_, ()>;

    /// GET_LOCK: `Ok(true)` when taken, `Ok(false)` after the timeout; without a timeout it waits for ever.
    fn get_lock(&self, connection_id: u32, name: &str, timeout: Option<Duration>) -> LocalFuture<'_, Result<bool>>;

    /// Waits for transactions of another server; the outcome is as [`expr::Until`] says.
    fn replication(&self, _awaited: expr::Awaited) -> LocalFuture<'_, Result<Option<i64>>> {
        Box::pin(async { Err(Error::NotSupported("waiting for replication here".into())) })
    }

    /// Temporary space for rows that do not fit a statement's memory. `None`: a statement that needs it fails.
    fn temporary(&self) -> Option<&Temporary> {
        None
    }

    /// How many other workers may help with a query.
    fn helpers(&self) -> usize {
        0
    }

    /// Offers help with a query to one of them, by its number.
    fn offer(&self, _number: usize, _help: Box<dyn Help>) {}

    /// Runs a stored function in the statement's transaction.
    fn call<'c>(&'c self, _call: Call<'c>) -> LocalFuture<'c, Result<Value<'static>>> {
        Box::pin(async { Err(Error::NotSupported("stored functions here".into())) })
    }

    /// Runs the triggers of a table for one row, in the statement's transaction. Returns the columns of the new row that they changed.
    fn fire<'c>(&'c self, _fire: Fire<'c>) -> LocalFuture<'c, Result<Vec<(usize, Value<'static>)>>> {
        Box::pin(async { Err(Error::NotSupported("triggers here".into())) })
    }

    /// The current rows of a table of the server. It may omit rows whose columns differ from the texts that `equal` has for
    /// them. `None`: the table does not exist any more.
    fn virtual_rows(&self, table: &TableDef, equal: &[(usize, Vec<u8>)]) -> Option<Box<dyn VirtualRows + '_>>;

    /// Changes columns of a row of a table of the server that are settings.
    fn change_settings(&self, table: &TableDef, _row: &[Value<'static>], _changes: &[(usize, Value<'_>)]) -> Result<()> {
        Err(Error::NotSupported(format!("changing settings of {}", table.name)))
    }
}

/// Help with a query, which another worker may take up at any time, or never.
pub trait Help: Send {
    /// Helps until there is nothing left to do. `idle` completes when the worker has nothing else to do.
    fn run<'w>(self: Box<Self>, worker: &'w txn::Worker, idle: &'w dyn Fn() -> LocalFuture<'w, ()>) -> LocalFuture<'w, ()>;
}

/// A call of a stored function.
pub struct Call<'c> {
    pub txn: &'c mut txn::Txn,
    pub session: &'c SessionVars,
    pub function: &'c FunctionCall,
    pub args: &'c [Value<'static>],
    /// An argument that does not fit its parameter is an error.
    pub strict: bool,
}

/// A row that triggers read: returns a column's value, as expressions see it.
pub type TriggerRow<'c> = &'c dyn Fn(usize) -> Result<Value<'static>>;

/// Triggers to run.
pub struct Fire<'c> {
    pub txn: &'c mut txn::Txn,
    pub session: &'c SessionVars,
    pub table: &'c Arc<TableDef>,
    pub event: TriggerEvent,
    pub before: bool,
    pub old: Option<TriggerRow<'c>>,
    pub new: Option<TriggerRow<'c>>,
}

/// Rows made by the server: one call, one row.
pub trait VirtualRows {
    /// Fills `row` with one value for each column of the table; `false` after the last row.
    fn next_row(&mut self, row: &mut Vec<Value<'static>>) -> bool;
}
