//! The current row of each table of a query block, as expressions read it and operators set it.

use expr::{Row, Rows, packed};
use smallvec::SmallVec;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use table::{RowBuf, Table};
use types::schema::TableDef;
use types::{ColumnType, Error, Value};

/// The buffers of a row, made when a row is first read into them. A statement moves them from place to place, so they are a pointer.
#[derive(Default)]
pub(crate) struct RowSlot(Option<Box<RowBuf>>);

impl Deref for RowSlot {
    type Target = RowBuf;

    #[inline]
    fn deref(&self) -> &RowBuf {
        static EMPTY: RowBuf = RowBuf::new();
        self.0.as_deref().unwrap_or(&EMPTY)
    }
}

impl DerefMut for RowSlot {
    #[inline]
    fn deref_mut(&mut self) -> &mut RowBuf {
        self.0.get_or_insert_default()
    }
}

/// One table of the query block, as expressions see it.
#[derive(Default)]
pub(crate) struct Source<'p> {
    /// The table; `None` for a table in the server's memory, whose rows are packed.
    pub table: Option<&'p Table>,
    pub state: SourceState,
    /// The current row when `Stored`.
    pub row: RowSlot,
    /// The current row when `Copied` (stored bytes) or `Packed`.
    pub bytes: Vec<u8>,
    /// The columns of packed rows, if ENUM or SET may be among them.
    pub def: Option<&'p TableDef>,
}

/// The sources of a query block: on the stack for one table.
pub(crate) struct Sources<'a>(SmallVec<[Source<'a>; 1]>);

impl<'a> Deref for Sources<'a> {
    type Target = [Source<'a>];

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Sources<'_> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Rows for Sources<'_> {
    #[inline]
    fn row(&self, source: usize) -> Result<Row<'_>, Error> {
        self.0[source].current()
    }

    #[inline]
    fn value(&self, source: usize, column: usize) -> Result<Value<'_>, Error> {
        self.0[source].value(column)
    }

    fn column_type(&self, source: usize, column: usize) -> &ColumnType {
        self.0[source].stored_table().layout().column_type(column)
    }

    fn stored_key(&self, source: usize) -> Option<&[u8]> {
        let source = self.0.get(source)?;
        (source.state == SourceState::Stored).then(|| source.row.key())
    }

    fn definition(&self, source: usize) -> Option<&TableDef> {
        self.0.get(source)?.table.map(|table| &**table.def())
    }
}

/// The only source of an expression over one table.
impl Rows for Source<'_> {
    #[inline]
    fn row(&self, source: usize) -> Result<Row<'_>, Error> {
        debug_assert_eq!(source, 0);
        self.current()
    }

    #[inline]
    fn value(&self, source: usize, column: usize) -> Result<Value<'_>, Error> {
        debug_assert_eq!(source, 0);
        self.value(column)
    }

    fn column_type(&self, _source: usize, column: usize) -> &ColumnType {
        self.stored_table().layout().column_type(column)
    }

    fn definition(&self, _source: usize) -> Option<&TableDef> {
        self.table.map(|table| &**table.def())
    }
}

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

    /// The current row in the form that expressions read.
    #[inline]
    fn current(&self) -> Result<Row<'_>, Error> {
        Ok(match self.state {
            SourceState::Stored => Row::Stored(self.row.row(self.stored_table())),
            SourceState::Null => Row::Null,
            SourceState::Copied => Row::Stored(types::StoredRow::new(self.stored_table().layout(), &self.bytes)?),
            SourceState::Packed => Row::Packed(&self.bytes, self.def),
        })
    }

    /// A value of the current row.
    #[inline]
    fn value(&self, column: usize) -> Result<Value<'_>, Error> {
        match self.state {
            SourceState::Stored => self.row.row(self.stored_table()).get(column),
            SourceState::Null => Ok(Value::Null),
            SourceState::Copied => types::StoredRow::new(self.stored_table().layout(), &self.bytes)?.get(column),
            SourceState::Packed => Ok(packed::get(&self.bytes, column)),
        }
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
    Sources(tables.iter().map(|table| Source { table: table.as_deref(), ..Source::default() }).collect())
}
