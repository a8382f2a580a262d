//! The rows of JSON_TABLE, made from a document and columns.
//!
//! 1. [`Rows::new`] takes the document and the path of the rows: each value that the path finds gives rows.
//! 2. Each call of [`Rows::next`] returns one row: the values that the columns' paths found, which the caller converts
//!    to the columns' types. NESTED columns have rows of their own; only those of one value are kept at a time.
//!
//! Sibling NESTED parts follow one another: while one has values, the columns of the others are NULL.

use super::{Json, Path};

/// One column.
#[derive(Clone, Debug)]
pub struct Column {
    pub kind: ColumnKind,
}

#[derive(Clone, Debug)]
pub enum ColumnKind {
    /// FOR ORDINALITY: the number of the row in its part.
    Ordinality,
    /// PATH
    Value(Path),
    /// EXISTS PATH
    Exists(Path),
    /// NESTED PATH ... COLUMNS (...)
    Nested(Path, Vec<Column>),
}

/// The value of a column in one row.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Of a nested part that has no row now.
    Absent,
    Ordinal(u64),
    Exists(bool),
    /// The values that the path found: none (ON EMPTY), one, or several (ON ERROR, unless the column is JSON).
    Found(Vec<Json>),
}

/// The rows of one document.
#[derive(Debug, Default)]
pub struct Rows {
    values: std::vec::IntoIter<Json>,
    /// Of the value whose rows these are.
    ordinal: u64,
    rows: std::vec::IntoIter<Vec<Cell>>,
}

/// Rows that one value may make.
const ROWS_MAX: usize = 1 << 24;

/// A value gives more rows than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyRows;

impl Rows {
    pub fn new(document: &Json, path: &Path) -> Self {
        let mut found = Vec::new();
        path.find(document, &mut found);
        let values: Vec<Json> = found.into_iter().cloned().collect();
        Self { values: values.into_iter(), ..Self::default() }
    }

    /// The next row; `None` after the last one.
    pub fn next(&mut self, columns: &[Column]) -> Result<Option<Vec<Cell>>, TooManyRows> {
        if let Some(row) = self.rows.next() {
            return Ok(Some(row));
        }
        let Some(value) = self.values.next() else { return Ok(None) };
        self.ordinal += 1;
        let mut rows = Vec::new();
        rows_of(&value, self.ordinal, columns, &mut rows).ok_or(TooManyRows)?;
        self.rows = rows.into_iter();
        Ok(self.rows.next())
    }
}

/// Cells of a part's columns, nested ones included.
fn width(columns: &[Column]) -> usize {
    let cells = |column: &Column| match &column.kind {
        ColumnKind::Nested(_, nested) => width(nested),
        _ => 1,
    };
    columns.iter().map(cells).sum()
}

fn part(document: &Json, path: &Path, columns: &[Column], out: &mut Vec<Vec<Cell>>) -> Option<()> {
    let mut found = Vec::new();
    path.find(document, &mut found);
    for (n, value) in found.into_iter().enumerate() {
        rows_of(value, n as u64 + 1, columns, out)?;
    }
    (out.len() <= ROWS_MAX).then_some(())
}

/// The rows of one value: one for each row of its nested parts, at least one.
fn rows_of(value: &Json, ordinal: u64, columns: &[Column], out: &mut Vec<Vec<Cell>>) -> Option<()> {
    let mut base = Vec::with_capacity(width(columns));
    // The positions of the cells of a nested part, and its rows.
    let mut nested = Vec::new();
    for column in columns {
        match &column.kind {
            ColumnKind::Ordinality => base.push(Cell::Ordinal(ordinal)),
            ColumnKind::Value(path) => {
                let mut found = Vec::new();
                path.find(value, &mut found);
                base.push(Cell::Found(found.into_iter().cloned().collect()));
            }
            ColumnKind::Exists(path) => {
                let mut found = Vec::new();
                path.find(value, &mut found);
                base.push(Cell::Exists(!found.is_empty()));
            }
            ColumnKind::Nested(path, columns) => {
                let mut rows = Vec::new();
                part(value, path, columns, &mut rows)?;
                nested.push((base.len(), rows));
                base.resize(base.len() + width(columns), Cell::Absent);
            }
        }
    }
    let before = out.len();
    for (at, rows) in nested {
        for row in rows {
            let mut whole = base.clone();
            whole.splice(at..at + row.len(), row);
            out.push(whole);
        }
    }
    if out.len() == before {
        out.push(base);
    }
    (out.len() <= ROWS_MAX).then_some(())
}
