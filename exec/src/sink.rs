//! Where result rows go. `server` implements [`RowSink`] over the packet encoder, straight into the connection's buffer;
//! tests implement it over a vector. Used generically, so that a value is encoded without a virtual call.

use expr::{Result, SessionVars};
use sql::plan::OutputColumn;
use std::task::{Context, Poll};
use types::{ColumnType, Value};

/// Consumes the rows of one result set.
///
/// The calls come in this order: `start`, then for each row `begin_row`, one `value` for each column, and `end_row` or
/// `cancel_row`. After a row the executor asks `is_full`, and if so awaits `poll_drain` before the next one.
pub trait RowSink {
    /// The columns of the result, once, before the first row.
    fn start(&mut self, columns: &[OutputColumn]);

    fn begin_row(&mut self);

    /// The next column's value; its variant suits `ty` (integers for integer types, `Bytes` for strings, and so on).
    fn value(&mut self, value: &Value<'_>, ty: &ColumnType);

    fn end_row(&mut self);

    /// Forgets the row begun last: an expression failed or has to wait. It may be begun again.
    fn cancel_row(&mut self);

    /// Should the buffered rows be sent before more are made?
    fn is_full(&self) -> bool;

    /// Sends what is buffered. `Err(Error::ClientGone)` when nobody reads any more.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>>;

    /// Does it want the values of the next row? Else the row is counted only.
    #[inline]
    fn takes(&self) -> bool {
        true
    }

    /// After so many rows it needs no more.
    fn rows_max(&self) -> u64 {
        u64::MAX
    }

    /// What is an error while the query runs, in strict mode.
    fn strictness(&self) -> Strictness {
        Strictness::Arguments
    }

    /// Is also what goes wrong with the value of this column of a row?
    #[inline]
    fn is_strict(&self, _column: usize) -> bool {
        false
    }
}

/// Where a query of a strict session takes for an error what else is a warning: what is divided by zero, or cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strictness {
    /// Nowhere: DO.
    Nowhere,
    /// In the arguments of stored functions.
    #[default]
    Arguments,
    /// Everywhere: the value is for a variable of a stored program.
    Everywhere,
}

impl Strictness {
    /// Is all that goes wrong an error in this session?
    #[inline]
    pub fn is_full(self, session: &SessionVars) -> bool {
        session.sql_mode.strict && self == Self::Everywhere
    }
}

/// Counts rows and drops them: for statements whose result nobody wants.
#[derive(Debug, Default)]
pub struct NullSink {
    pub rows: u64,
}

impl RowSink for NullSink {
    fn start(&mut self, _columns: &[OutputColumn]) {}
    fn begin_row(&mut self) {}
    fn value(&mut self, _value: &Value<'_>, _ty: &ColumnType) {}
    fn end_row(&mut self) {
        self.rows += 1;
    }
    fn cancel_row(&mut self) {}
    fn is_full(&self) -> bool {
        false
    }
    fn poll_drain(&mut self, _cx: &mut Context<'_>) -> Poll<Result<()>> {
        Poll::Ready(Ok(()))
    }
}
