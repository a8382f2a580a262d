//! The current rows, as expressions read them.

use std::result::Result;
use types::schema::TableDef;
use types::{ColumnType, Error, StoredRow, TypeKind, Value};

/// The current row of one source.
pub enum Row<'a> {
    /// The row of NULLs of an outer join.
    Null,
    /// A row in the encoding of its table.
    Stored(StoredRow<'a>),
    /// A packed row, and its definition if it may have columns of ENUM or SET.
    Packed(&'a [u8], Option<&'a TableDef>),
}

/// The current row of each source of a query block. Operators set them; evaluation reads them.
pub trait Rows {
    /// The current row of a source.
    ///
    /// # Errors
    /// The bytes are no row of the table.
    fn row(&self, source: usize) -> Result<Row<'_>, Error>;

    /// The value of a column in the current row of a source. One call reads it: a [`Row`] is too large to be returned for each value.
    ///
    /// # Errors
    /// The bytes are no row of the table.
    fn value(&self, source: usize, column: usize) -> Result<Value<'_>, Error>;

    /// Is the column a TIMESTAMP of a stored row, whose value is in UTC?
    fn is_stored_timestamp(&self, source: usize, column: usize) -> bool {
        let is_timestamp = |row: &StoredRow<'_>| matches!(row.layout().column_type(column).kind, TypeKind::Timestamp { .. });
        matches!(self.row(source), Ok(Row::Stored(row)) if is_timestamp(&row))
    }

    /// The type of a column of a stored table.
    fn column_type(&self, source: usize, column: usize) -> &ColumnType;

    /// The clustered key of the current row of a source, if it is known.
    fn stored_key(&self, _source: usize) -> Option<&[u8]> {
        None
    }

    /// The definition of a stored table, for messages.
    fn definition(&self, source: usize) -> Option<&TableDef>;
}

/// No sources: for expressions without columns.
pub struct NoRows;

impl Rows for NoRows {
    fn row(&self, source: usize) -> Result<Row<'_>, Error> {
        panic!("source {source} of an expression without sources")
    }

    fn value(&self, source: usize, _column: usize) -> Result<Value<'_>, Error> {
        panic!("source {source} of an expression without sources")
    }

    fn column_type(&self, source: usize, _column: usize) -> &ColumnType {
        panic!("source {source} of an expression without sources")
    }

    fn definition(&self, _source: usize) -> Option<&TableDef> {
        None
    }
}
