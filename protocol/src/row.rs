//! Rows on their way out: values go straight into the connection's output buffer.
//!
//! ```text
//! text row:    (0xfb for NULL | length-encoded text)*
//! binary row:  0x00 | null bitmap, (columns + 9) / 8 bytes, first column at bit 2 | value*
//! ```
//! `begin`, then `value` once for each column, then `end`. Text lengths other than of strings are below 251, so their one length byte is
//! kept free and filled in afterwards. A value that is not of its column's declared kind is converted, so that the client can always read
//! the row.
//!
//! Invariant: nothing here allocates, other than growth of the output buffer.

use crate::binary::put_binary;
use crate::packet::{PacketStart, PacketWriter};
use crate::text::put_text;
use types::{ColumnType, Value};

/// Which protocol the rows are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFormat {
    /// COM_QUERY
    Text,
    /// COM_STMT_EXECUTE
    Binary,
}

/// Encodes the rows of one result set.
#[derive(Clone, Debug)]
pub struct RowEncoder {
    format: RowFormat,
    columns: usize,
    /// The packet of the row that was begun.
    start: Option<PacketStart>,
    /// Where its null bitmap lies in the buffer.
    bitmap: usize,
    /// The column that is due.
    column: usize,
}

impl RowEncoder {
    pub fn new(format: RowFormat, columns: usize) -> Self {
        Self { format, columns, start: None, bitmap: 0, column: 0 }
    }

    pub fn format(&self) -> RowFormat {
        self.format
    }

    #[inline]
    pub fn begin(&mut self, writer: &mut PacketWriter) {
        debug_assert!(self.start.is_none(), "a row was begun and not ended");
        self.start = Some(writer.begin());
        self.column = 0;
        if self.format == RowFormat::Binary {
            let out = writer.payload();
            out.push(0);
            self.bitmap = out.len();
            out.resize(out.len() + (self.columns + 9) / 8, 0);
        }
    }

    #[inline]
    pub fn value(&mut self, writer: &mut PacketWriter, value: &Value<'_>, ty: &ColumnType) {
        debug_assert!(self.start.is_some() && self.column < self.columns);
        let out = writer.payload();
        match self.format {
            RowFormat::Text => put_text(out, value, ty),
            RowFormat::Binary if matches!(value, Value::Null) => {
                let bit = self.column + 2;
                out[self.bitmap + bit / 8] |= 1 << (bit % 8);
            }
            RowFormat::Binary => put_binary(out, value, ty),
        }
        self.column += 1;
    }

    #[inline]
    pub fn end(&mut self, writer: &mut PacketWriter) {
        debug_assert_eq!(self.column, self.columns, "a value for each column");
        let start = self.start.take().expect("end follows begin");
        writer.end(start);
    }

    /// Drops the row that was begun, if any: a statement failed in the middle of it.
    pub fn cancel(&mut self, writer: &mut PacketWriter) {
        if let Some(start) = self.start.take() {
            writer.cancel(start);
        }
    }
}

#[cfg(test)]
#[path = "row/tests.rs"]
mod tests;
