//! Rows of a source's binary log, written to the tables here without statements.
//!
//! A1: rows are written in the session's own transaction, under a share of the table's metadata lock that it holds until it ends
//!     (`Transaction::hold` with a plan over the table).
//! A2: triggers do not fire, and foreign keys neither check nor act: what they did on the source is in the stream. Where the source's event does not
//!     say so, `cascade` does what the keys do.
//! A3: a row is found by the first of: the primary key, a unique index without NULLs and prefixes, all columns of the image. In the last
//!     case the first row that is equal is taken, as in MySQL.
//!     The columns of functional key parts are in no stream: they are computed from the others ([`Hidden`]).
//! A4: a change whose row is not there is 1032, an insert whose key is there 1062. Nothing is skipped.
//! A5: with [`Mode::Idempotent`] rows that are in the way of a new one are removed, a row that is to be deleted may be gone, and an update whose row
//!     is gone inserts the new row, if the image has all of it. So tables that were copied at different times while the source was written are
//!     equal to the source's when everything since the first copy was applied: after the last event of a row the row is as that event says.
//!     An event that removes another row from the way does so at a time before that row got its present key, and the event that gave it
//!     the key is still to come. (MySQL passes over such an update instead.)

use binlog::row::read::Image;
use table::ddl::{Expressions, RowRules};
use table::{EncodedRange, InsertRow, Progress, RowBuf, RowCursor, RowRead, Table, WriteRow};
use txn::{Interrupt, LockMode, Txn, WaitPolicy, Worker};
use types::Value;
use types::schema::{ColumnDef, ColumnDefault, IndexKind};

/// Why a row was not applied.
#[derive(Debug)]
pub enum Failed {
    /// 1032
    NotFound,
    /// 1062
    Duplicate {
        /// The index's position.
        index: usize,
        /// The key, as messages print it.
        value: String,
    },
    /// What a foreign key does to a child cannot be done.
    Follows {
        child: String,
        why: &'static str,
    },
    /// A column of a functional key part has no value for the row.
    Hidden(table::Error),
    Engine(txn::Error),
}

/// Computes the columns of a table that no stream has.
pub struct Hidden<'t> {
    columns: Vec<usize>,
    rules: Box<dyn RowRules + 't>,
}

impl<'t> Hidden<'t> {
    /// # Errors
    /// An expression that cannot be bound.
    pub fn of(table: &'t Table, expressions: &dyn Expressions) -> Result<Self, Failed> {
        let columns = table.def().columns.iter().enumerate().filter(|(_, column)| column.hidden).map(|(at, _)| at).collect();
        let rules = expressions.row_rules(table, &[]).map_err(Failed::Hidden)?;
        Ok(Self { columns, rules })
    }

    fn complete(&mut self, values: &mut [Value<'static>]) -> Result<(), Failed> {
        self.rules.complete(values).map_err(Failed::Hidden)
    }
}

/// How the rows of an event are written.
pub struct Manner<'t> {
    pub mode: Mode,
    /// `None`: the table has no columns that the stream lacks.
    pub hidden: Option<Hidden<'t>>,
}

fn owned(values: &[Value<'_>]) -> Vec<Value<'static>> {
    values.iter().map(|value| value.borrowed().into_owned()).collect()
}

/// Buffers that are kept from row to row.
#[derive(Default)]
pub struct Buffers {
    row: RowBuf,
    pub(super) progress: Progress,
    key: Vec<u8>,
    pub(super) range: EncodedRange,
}

/// Calls an engine operation until it answers.
macro_rules! engine {
    ($call:expr) => {
        loop {
            match $call {
                Ok(answer) => break Ok(answer),
                Err(Interrupt::Stall(stall)) => stall.await,
                Err(Interrupt::Error(error)) => break Err(Failed::Engine(error)),
            }
        }
    };
}

pub(super) use engine;

/// `replica_exec_mode`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A4
    Strict,
    /// A5
    Idempotent,
}

const LOCKED: RowRead = RowRead::Lock(LockMode::Exclusive, WaitPolicy::Wait);

/// WRITE_ROWS: one row. `values` has a value for each column of the definition.
pub async fn insert(
    worker: &Worker,
    txn: &mut Txn,
    table: &Table,
    values: &[Value<'_>],
    manner: &mut Manner<'_>,
    buffers: &mut Buffers,
) -> Result<(), Failed> {
    let completed;
    let values = match &mut manner.hidden {
        None => values,
        Some(hidden) => {
            let mut all = owned(values);
            hidden.complete(&mut all)?;
            completed = all;
            &completed
        }
    };
    loop {
        match engine!(table.insert_row(worker, txn, values, &mut buffers.progress))? {
            InsertRow::Inserted => break,
            InsertRow::Duplicate { index } if manner.mode == Mode::Idempotent => {
                make_way(worker, txn, table, index, values, buffers).await?
            }
            InsertRow::Duplicate { index } => return Err(Failed::Duplicate { index, value: table.key_text(index, values) }),
            InsertRow::Paused { .. } => unreachable!("no pause was asked for"),
        }
    }
    // Later numbers of this server are above the source's.
    let number = table.auto_increment_index().map(|index| &values[table.def().indexes[index].columns[0].column]);
    let number = match number {
        Some(Value::UInt(number)) => Some(*number),
        Some(Value::Int(number)) => u64::try_from(*number).ok(),
        _ => None,
    };
    if let Some(number) = number {
        engine!(table.note_auto_increment(worker, number))?;
    }
    Ok(())
}

/// Deletes the row that has the key of new values in a unique index. A5
async fn make_way(
    worker: &Worker,
    txn: &mut Txn,
    table: &Table,
    index: usize,
    values: &[Value<'_>],
    buffers: &mut Buffers,
) -> Result<(), Failed> {
    if engine!(table.conflicting_row(worker, txn, index, values, LOCKED, &mut buffers.row))? {
        // It is locked, so it is the version that was read.
        engine!(table.delete_row(worker, txn, &buffers.row, &mut buffers.progress))?;
    }
    Ok(())
}

/// The values of a row of which an image may have only some: the others are the defaults here, as in MySQL.
///
/// # Errors
/// The name of a column that has no fixed default.
pub fn whole<'i>(table: &Table, image: &'i Image) -> Result<Vec<Value<'i>>, String> {
    let columns = image.iter().zip(&table.def().columns);
    let value = |(value, column): (&'i Option<Value<'static>>, &ColumnDef)| match (value, &column.default) {
        (Some(value), _) => Ok(value.borrowed()),
        // It is computed.
        (None, _) if column.hidden => Ok(Value::Null),
        (None, ColumnDefault::None) if column.nullable && column.generated.is_none() => Ok(Value::Null),
        (None, ColumnDefault::Literal(None)) => Ok(Value::Null),
        (None, ColumnDefault::Literal(Some(literal))) => column.default_value(literal).ok_or_else(|| column.name.clone()),
        (None, _) => Err(column.name.clone()),
    };
    columns.map(value).collect()
}

/// UPDATE_ROWS: one row.
pub async fn update(
    worker: &Worker,
    txn: &mut Txn,
    table: &Table,
    before: &Image,
    after: &Image,
    manner: &mut Manner<'_>,
    buffers: &mut Buffers,
) -> Result<(), Failed> {
    let mut changes: Vec<(usize, Value<'_>)> =
        after.iter().enumerate().filter_map(|(column, value)| Some((column, value.as_ref()?.borrowed()))).collect();
    loop {
        match find(worker, txn, table, before, buffers).await {
            Err(Failed::NotFound) if manner.mode == Mode::Idempotent => {
                let columns = after.iter().zip(&table.def().columns);
                let values: Option<Vec<Value<'_>>> = columns
                    .map(|(value, column)| match value {
                        None if column.hidden => Some(Value::Null),
                        value => value.as_ref().map(Value::borrowed),
                    })
                    .collect();
                let Some(values) = values else { return Ok(()) };
                return insert(worker, txn, table, &values, manner, buffers).await;
            }
            found => found?,
        }
        if let Some(hidden) = &mut manner.hidden {
            change_hidden(worker, txn, table, hidden, &mut changes, &mut buffers.row).await?;
        }
        match engine!(table.update_row(worker, txn, &buffers.row, &changes, &mut buffers.progress))? {
            WriteRow::Done => return Ok(()),
            WriteRow::Duplicate { index } => {
                let stored = buffers.row.row(table);
                let new =
                    |column: usize| changes.iter().find(|(changed, _)| *changed == column).map(|(_, value)| value.borrowed());
                // Columns that are stored outside the row are in no unique key that a message prints.
                let old = |column: usize| stored.get(column).unwrap_or(Value::Null);
                let values: Vec<Value<'_>> = (0..table.def().columns.len()).map(|c| new(c).unwrap_or_else(|| old(c))).collect();
                if manner.mode == Mode::Strict {
                    return Err(Failed::Duplicate { index, value: table.key_text(index, &values) });
                }
                let values: Vec<Value<'static>> = values.iter().map(|value| value.borrowed().into_owned()).collect();
                make_way(worker, txn, table, index, &values, buffers).await?;
            }
            WriteRow::Changed => {}
            WriteRow::Paused { .. } => unreachable!("no pause was asked for"),
        }
    }
}

/// Adds the new values of hidden columns to the changes of a row that is locked.
async fn change_hidden(
    worker: &Worker,
    txn: &mut Txn,
    table: &Table,
    hidden: &mut Hidden<'_>,
    changes: &mut Vec<(usize, Value<'_>)>,
    row: &mut RowBuf,
) -> Result<(), Failed> {
    changes.retain(|(column, _)| !hidden.columns.contains(column));
    let count = table.def().columns.len();
    if !engine!(table.load_externals(worker, txn, LOCKED, &vec![true; count], row))? {
        // It is locked, so nobody has changed it; the write finds out.
        return Ok(());
    }
    let stored = row.row(table);
    let old = |column: usize| stored.get(column).unwrap_or(Value::Null);
    let new = |column: usize| match changes.iter().find(|(changed, _)| *changed == column) {
        Some((_, value)) => value.borrowed().into_owned(),
        None => old(column).into_owned(),
    };
    let mut values: Vec<Value<'static>> = (0..count).map(new).collect();
    hidden.complete(&mut values)?;
    for column in &hidden.columns {
        let value = std::mem::replace(&mut values[*column], Value::Null);
        if old(*column) != value {
            changes.push((*column, value));
        }
    }
    Ok(())
}

/// DELETE_ROWS: one row.
pub async fn delete(
    worker: &Worker,
    txn: &mut Txn,
    table: &Table,
    before: &Image,
    mode: Mode,
    buffers: &mut Buffers,
) -> Result<(), Failed> {
    loop {
        match find(worker, txn, table, before, buffers).await {
            Err(Failed::NotFound) if mode == Mode::Idempotent => return Ok(()),
            found => found?,
        }
        if engine!(table.delete_row(worker, txn, &buffers.row, &mut buffers.progress))? == WriteRow::Done {
            return Ok(());
        }
    }
}

/// Reads and locks the row of an image into `buffers.row`. A3
async fn find(worker: &Worker, txn: &mut Txn, table: &Table, image: &Image, buffers: &mut Buffers) -> Result<(), Failed> {
    let Buffers { row, key, range, .. } = buffers;
    let def = table.def();
    for (index, of) in def.indexes.iter().enumerate() {
        let is_unique = matches!(of.kind, IndexKind::Primary | IndexKind::Unique);
        let values: Option<Vec<Value<'_>>> = of
            .columns
            .iter()
            .map(|part| {
                image[part.column].as_ref().filter(|value| part.prefix.is_none() && !value.is_null()).map(Value::borrowed)
            })
            .collect();
        let Some(values) = values.filter(|_| is_unique) else { continue };
        key.clear();
        if !table.encode_point_key(index, &values, key) {
            return Err(Failed::NotFound);
        }
        let is_there = engine!(table.point(worker, txn, index, key, LOCKED, row))?;
        return if is_there { Ok(()) } else { Err(Failed::NotFound) };
    }
    let wanted: Vec<bool> = image.iter().map(Option::is_some).collect();
    *range = EncodedRange::default();
    let mut cursor = RowCursor::new();
    cursor.open(table, 0, range, false, txn::ReadMode::Latest, false);
    while engine!(cursor.next(table, worker, txn, row))? {
        let name = row.key().to_vec();
        // The row as it is now, locked.
        row.set_key(&name);
        if !engine!(table.point(worker, txn, 0, &name, LOCKED, row))? {
            continue;
        }
        if engine!(table.load_externals(worker, txn, LOCKED, &wanted, row))? && is_equal(table, row, image) {
            return Ok(());
        }
    }
    Err(Failed::NotFound)
}

/// Has the row the values of the image?
fn is_equal(table: &Table, row: &RowBuf, image: &Image) -> bool {
    let stored = row.row(table);
    image.iter().enumerate().all(|(column, value)| match value {
        None => true,
        Some(value) => stored.get(column).is_ok_and(|stored| stored == *value),
    })
}
