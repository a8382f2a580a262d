//! The receiver of result rows. `server` implements [`RowSink`] over the packet encoder, directly into the connection's buffer;
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

    /// Drops the row that was begun last: an expression failed or must wait. The row may be begun again.
    fn cancel_row(&mut self);

    /// Should the buffered rows be sent before more are made?
    fn is_full(&self) -> bool;

    /// Sends the buffered bytes. `Err(Error::ClientGone)` if the client is gone.
    fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>>;

    /// Does it need the values of the next row? Otherwise the row is only counted.
    #[inline]
    fn takes(&self) -> bool {
        true
    }

    /// The number of rows after which it needs no more.
    fn rows_max(&self) -> u64 {
        u64::MAX
    }

    /// The warnings that are errors while the query runs, in strict mode.
    fn strictness(&self) -> Strictness {
        Strictness::Arguments
    }

    /// Is a problem with this column's value also an error?
    #[inline]
    fn is_strict(&self, _column: usize) -> bool {
        false
    }
}

/// The parts of a query in which strict mode turns warnings about division by zero or truncation into errors.
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
    /// Is every problem an error in this session?
    #[inline]
    pub fn is_full(self, session: &SessionVars) -> bool {
        session.sql_mode.strict && self == Self::Everywhere
    }
}

/// Counts rows and drops them: for statements whose result is not read.
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
