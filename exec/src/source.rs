//! The current row of each table of a query block, as expressions read it and operators set it.

use smallvec::SmallVec;
use std::sync::Arc;
use table::{RowBuf, Table};
use types::schema::TableDef;

/// What expressions see of one table of the query block.
#[derive(Default)]
pub(crate) struct Source<'p> {
    /// The table; `None` for one of the server's memory, whose rows are packed.
    pub table: Option<&'p Table>,
    pub state: SourceState,
    /// The current row when `Stored`.
    pub row: RowBuf,
    /// The current row when `Copied` (stored bytes) or `Packed`.
    pub bytes: Vec<u8>,
    /// The columns of packed rows, where ENUM and SET may be among them.
    pub def: Option<&'p TableDef>,
}

/// The sources of a query block: on the stack for one table.
pub(crate) type Sources<'a> = SmallVec<[Source<'a>; 1]>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SourceState {
    /// No row, or the row of NULLs of a left join.
    #[default]
    Null,
    /// `row`
    Stored,
    /// `bytes` is a stored row.
    Copied,
    /// `bytes` is a packed row.
    Packed,
}

impl SourceState {
    pub fn from_byte(byte: u8) -> Self {
        [SourceState::Null, SourceState::Stored, SourceState::Copied, SourceState::Packed][usize::from(byte)]
    }
}

impl<'p> Source<'p> {
    #[inline]
    pub fn stored_table(&self) -> &'p Table {
        self.table.expect("a source with a stored row has a table")
    }

    /// The stored row that `bytes` holds.
    pub fn copied_row(&self) -> std::result::Result<types::row::StoredRow<'_>, types::Error> {
        types::row::StoredRow::new(self.stored_table().layout(), &self.bytes)
    }

    /// The current row as bytes that [`Source::set_copy`] takes back.
    pub fn as_copy(&self) -> (SourceState, &[u8]) {
        match self.state {
            SourceState::Null => (SourceState::Null, &[]),
            SourceState::Stored => (SourceState::Copied, self.row.row(self.stored_table()).bytes()),
            SourceState::Copied | SourceState::Packed => (self.state, &self.bytes),
        }
    }

    pub fn set_copy(&mut self, state: SourceState, bytes: &[u8]) {
        self.state = state;
        self.bytes.clear();
        self.bytes.extend_from_slice(bytes);
    }
}

/// The sources of a plan's tables, without rows yet.
#[inline]
pub(crate) fn sources_of(tables: &[Option<Arc<Table>>]) -> Sources<'_> {
    tables.iter().map(|table| Source { table: table.as_deref(), ..Source::default() }).collect()
}
