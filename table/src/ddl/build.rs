//! The long part of DDL: filling a new index, or new trees, from the rows of a table that nobody else uses meanwhile.
//!
//! Work is cut into transactions of bounded size, so that neither undo nor the log's tail grows with the table. They need not be waited
//! for: all are in this worker's log before the one that links the new trees. Until then the trees are orphans, so what a failure
//! leaves in them does not matter.

use super::{Conversion, DdlOptions};
use crate::catalog::blocking;
use crate::codec::template_value;
use crate::{EncodedRange, Error, InsertRow, Progress, Result, RowBuf, RowCursor, RowRead, Table};
use txn::{InsertOutcome, Isolation, ReadMode, Txn, Worker};
use types::convert::{StoreContext, Warnings, store};
use types::schema::{ColumnDef, ColumnDefault, IndexKind};
use types::{ColumnType, DateTime, TypeKind, Value};

/// Writes of one transaction.
const WRITES_MAX: usize = 1000;
/// Bytes of index entries that are sorted at a time.
const SORT_BYTES_MAX: usize = 64 << 20;

/// A transaction that is cut in pieces. What is open is rolled back when dropped.
pub(super) struct Slices<'w> {
    worker: &'w Worker,
    txn: Option<Txn>,
    writes: usize,
}

impl<'w> Slices<'w> {
    pub(super) fn new(worker: &'w Worker) -> Self {
        Self { worker, txn: Some(worker.begin(Isolation::ReadCommitted)), writes: 0 }
    }

    pub(super) fn txn(&mut self) -> &mut Txn {
        self.txn.as_mut().expect("open until dropped")
    }

    /// Counts a write; now and then commits and looks whether to stop.
    fn written(&mut self, options: &DdlOptions) -> Result<()> {
        self.writes += 1;
        if self.writes < WRITES_MAX {
            return Ok(());
        }
        self.commit();
        options.check_cancelled()
    }

    fn commit(&mut self) {
        let worker = self.worker;
        // Not awaited: see the file head.
        let _ = self.txn().commit(worker);
        worker.tick();
        self.txn = Some(self.worker.begin(Isolation::ReadCommitted));
        self.writes = 0;
    }
}

impl Drop for Slices<'_> {
    fn drop(&mut self) {
        if let Some(mut txn) = self.txn.take() {
            // The trees written to are thrown away when this fails.
            let _ = blocking(|| txn.rollback(self.worker));
        }
    }
}

/// Fills secondary index `index` of `table` (its tree is new and empty) from the clustered tree.
pub(crate) fn fill_index(worker: &Worker, table: &Table, index: usize, options: &DdlOptions) -> Result<()> {
    let mut slices = Slices::new(worker);
    let mut cursor = RowCursor::new();
    cursor.open(table, 0, &EncodedRange::default(), false, ReadMode::Latest, false);
    let mut row = RowBuf::new();
    let mut entries: Vec<Entry> = Vec::new();
    let mut bytes = 0;
    while blocking(|| cursor.next(table, worker, slices.txn(), &mut row))? {
        let entry = entry_of(worker, table, index, &mut row, slices.txn())?;
        bytes += entry.key.len() + entry.clustered_key.len() + 2 * size_of::<Entry>();
        entries.push(entry);
        if entries.len().is_multiple_of(WRITES_MAX) {
            worker.tick();
            options.check_cancelled()?;
        }
        if bytes >= SORT_BYTES_MAX {
            insert_sorted(table, index, &mut entries, &mut slices, options)?;
            bytes = 0;
        }
    }
    insert_sorted(table, index, &mut entries, &mut slices, options)?;
    slices.commit();
    Ok(())
}

/// An index entry to come.
struct Entry {
    key: Box<[u8]>,
    clustered_key: Box<[u8]>,
}

fn entry_of(worker: &Worker, table: &Table, index: usize, row: &mut RowBuf, txn: &mut Txn) -> Result<Entry> {
    if !blocking(|| table.index_entry_of(worker, txn, index, RowRead::Latest, row))? {
        return Err(Error::Engine(txn::Error::Storage("a large value changed under an exclusive lock".to_string())));
    }
    Ok(Entry { key: row.entry.as_slice().into(), clustered_key: row.key().into() })
}

fn insert_sorted(
    table: &Table,
    index: usize,
    entries: &mut Vec<Entry>,
    slices: &mut Slices<'_>,
    options: &DdlOptions,
) -> Result<()> {
    entries.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    let (tree, kind, worker) = (table.indexes[index].tree, table.indexes[index].kind(), slices.worker);
    for entry in entries.drain(..) {
        let payload: &[u8] = if kind == IndexKind::Unique { &entry.clustered_key } else { &[] };
        let txn = slices.txn();
        if blocking(|| txn.insert(worker, tree, &entry.key, payload))? == InsertOutcome::Duplicate {
            return Err(duplicate_in_index(worker, table, index, &entry.clustered_key, txn));
        }
        slices.written(options)?;
    }
    Ok(())
}

/// The error for a row whose key is there already.
fn duplicate_in_index(worker: &Worker, table: &Table, index: usize, clustered_key: &[u8], txn: &mut Txn) -> Error {
    let mut row = RowBuf::new();
    row.set_key(clustered_key);
    let wanted = vec![true; table.def.columns.len()];
    let loaded = blocking(|| table.reread(worker, txn, RowRead::Latest, &mut row))
        .and_then(|found| Ok(found && blocking(|| table.load_externals(worker, txn, RowRead::Latest, &wanted, &mut row))?));
    match loaded {
        Ok(true) => {
            let stored = row.row(table);
            let values = (0..wanted.len()).map(|column| stored.get(column).unwrap_or(Value::Null)).collect::<Vec<_>>();
            duplicate_entry(table, index, &values)
        }
        Ok(false) => duplicate_entry(table, index, &[]),
        Err(error) => error.into(),
    }
}

/// 1062 for a row with these values.
fn duplicate_entry(table: &Table, index: usize, values: &[Value<'_>]) -> Error {
    let def = &table.def;
    let key = if values.is_empty() { String::new() } else { table.key_text(index, values) };
    Error::DuplicateEntry { key, index: format!("{}.{}", def.name, def.indexes[index].name) }
}

/// Copies all rows of `old` into the new trees of `new`; column `k` comes from `sources[k]`, or is its default. Returns how many.
pub(crate) fn copy_rows(
    worker: &Worker,
    old: &Table,
    new: &Table,
    sources: &[Option<usize>],
    options: &DdlOptions,
) -> Result<u64> {
    let mut copy = Copy::new(worker, old, new, sources, &options.conversion)?;
    let mut slices = Slices::new(worker);
    let mut cursor = RowCursor::new();
    cursor.open(old, 0, &EncodedRange::default(), false, ReadMode::Latest, false);
    let mut row = RowBuf::new();
    let wanted = vec![true; old.def.columns.len()];
    while blocking(|| cursor.next(old, worker, slices.txn(), &mut row))? {
        let txn = slices.txn();
        if !blocking(|| old.load_externals(worker, txn, RowRead::Latest, &wanted, &mut row))? {
            return Err(Error::Engine(txn::Error::Storage("a large value changed under an exclusive lock".to_string())));
        }
        copy.row(&row, txn)?;
        // A large row counts as the writes it makes.
        for _ in 0..1 + row.current().len() / txn::RECORD_BYTES_MAX {
            slices.written(options)?;
        }
    }
    slices.commit();
    Ok(copy.rows)
}

/// What copying a row needs.
struct Copy<'a> {
    worker: &'a Worker,
    old: &'a Table,
    new: &'a Table,
    sources: &'a [Option<usize>],
    conversion: &'a Conversion,
    context: StoreContext<'a>,
    /// What columns without a source get.
    defaults: Vec<Value<'static>>,
    /// The new AUTO_INCREMENT column, when it numbers the rows that have none.
    numbered: Option<usize>,
    progress: Progress,
    rows: u64,
}

impl<'a> Copy<'a> {
    fn new(
        worker: &'a Worker,
        old: &'a Table,
        new: &'a Table,
        sources: &'a [Option<usize>],
        conversion: &'a Conversion,
    ) -> Result<Self> {
        let context = StoreContext {
            strict: conversion.strict,
            dates: conversion.dates,
            truncate_fractional: false,
            zone: &conversion.zone,
            now_utc_micros: conversion.now_utc_micros,
        };
        let added = |(column, source): (&ColumnDef, &Option<usize>)| match source {
            Some(_) => Ok(Value::Null),
            None => added_value(column, conversion, &context),
        };
        let defaults = new.def.columns.iter().zip(sources).map(added).collect::<Result<Vec<_>>>()?;
        let was_counted = |source: &Option<usize>| source.is_some_and(|source| old.def.columns[source].auto_increment);
        let numbered = new.def.columns.iter().position(|c| c.auto_increment).filter(|column| !was_counted(&sources[*column]));
        Ok(Self { worker, old, new, sources, conversion, context, defaults, numbered, progress: Progress::new(), rows: 0 })
    }

    fn row(&mut self, row: &RowBuf, txn: &mut Txn) -> Result<()> {
        self.rows += 1;
        let stored = row.row(self.old);
        let mut raw: Vec<Value<'_>> = Vec::with_capacity(self.sources.len());
        for (k, source) in self.sources.iter().enumerate() {
            raw.push(match source {
                None => self.defaults[k].borrowed(),
                Some(source) => stored.get(*source).map_err(|e| Error::Engine(txn::Error::Storage(format!("{e:?}"))))?,
            });
        }
        self.localize_timestamps(&mut raw);
        let mut warnings = Warnings::new();
        let mut values = Vec::with_capacity(raw.len());
        for (k, value) in raw.iter().enumerate() {
            values.push(self.converted(value, k, &mut warnings)?);
        }
        if let Some(column) = self.numbered {
            self.number(column, &mut values)?;
        }
        let (worker, new, progress) = (self.worker, self.new, &mut self.progress);
        match blocking(|| new.insert_row(worker, txn, &values, progress))? {
            InsertRow::Inserted => Ok(()),
            InsertRow::Duplicate { index } => Err(duplicate_entry(new, index, &values)),
            InsertRow::Paused { .. } => unreachable!("no pause was asked for"),
        }
    }

    /// A TIMESTAMP that becomes something else is read in the session's time zone.
    fn localize_timestamps(&self, values: &mut [Value<'_>]) {
        for (k, value) in values.iter_mut().enumerate() {
            let Some(source) = self.sources[k] else { continue };
            let is_timestamp = |ty: &ColumnType| matches!(ty.kind, TypeKind::Timestamp { .. });
            let (from, to) = (&self.old.def.columns[source].ty, &self.new.def.columns[k].ty);
            if from != to
                && is_timestamp(from)
                && let Value::DateTime(utc) = value
            {
                *value = Value::DateTime(self.conversion.zone.from_stored(*utc));
            }
        }
    }

    /// A value of the old column as one of new column `k`.
    fn converted<'v>(&self, value: &'v Value<'_>, k: usize, warnings: &mut Warnings) -> Result<Value<'v>>
    where
        'a: 'v,
    {
        let new: &'a Table = self.new;
        let to = &new.def.columns[k];
        if value.is_null() && !to.nullable && !to.auto_increment {
            return match self.conversion.strict {
                true => Err(Error::InvalidNull),
                false => Ok(implicit_default(to)),
            };
        }
        let Some(source) = self.sources[k] else { return Ok(value.borrowed()) };
        let from = &self.old.def.columns[source].ty;
        if *from == to.ty {
            return Ok(value.borrowed());
        }
        let problem = |problem| Error::Conversion { problem, column: to.name.clone(), row: self.rows };
        store(value, from, &to.ty, &self.context, warnings).map_err(problem)
    }

    /// Gives the row the next number where it has none.
    fn number(&self, column: usize, values: &mut [Value<'_>]) -> Result<()> {
        let (worker, new) = (self.worker, self.new);
        let present = match &values[column] {
            Value::Int(n) => u64::try_from(*n).unwrap_or(0),
            Value::UInt(n) => *n,
            Value::Double(n) => n.max(0.0) as u64,
            _ => 0,
        };
        if present > 0 {
            blocking(|| new.note_auto_increment(worker, present))?;
            return Ok(());
        }
        let number = blocking(|| new.reserve_auto_increment(worker, 1))?;
        if new.auto_increment_max().is_none_or(|max| number > max) {
            return Err(Error::AutoIncrementUsedUp);
        }
        let ty = &new.def.columns[column].ty;
        values[column] = match ty.kind {
            TypeKind::Float | TypeKind::Double => Value::Double(number as f64),
            _ if ty.unsigned => Value::UInt(number),
            _ => Value::Int(number as i64),
        };
        Ok(())
    }
}

/// What existing rows get in an added column: its default, else NULL, else the type's own.
fn added_value(column: &ColumnDef, conversion: &Conversion, context: &StoreContext<'_>) -> Result<Value<'static>> {
    match &column.default {
        ColumnDefault::None | ColumnDefault::Literal(None) => Ok(implicit_default(column)),
        ColumnDefault::CurrentTimestamp => Ok(current_time(column, conversion)),
        ColumnDefault::Literal(Some(text)) => {
            let invalid = || Error::InvalidDefault { column: column.name.clone() };
            let (bytes, from) = match column.ty.kind {
                TypeKind::Binary { .. } | TypeKind::VarBinary { .. } | TypeKind::Blob(_) => {
                    (unhex(text).ok_or_else(invalid)?, ColumnType::new(TypeKind::Blob(types::LobSize::Long)))
                }
                _ => (text.as_bytes().to_vec(), ColumnType::new(TypeKind::Text(types::LobSize::Long))),
            };
            let value = Value::Bytes(bytes.into());
            let stored = store(&value, &from, &column.ty, context, &mut Warnings::new()).map_err(|_| invalid())?;
            Ok(stored.into_owned())
        }
    }
}

fn current_time(column: &ColumnDef, conversion: &Conversion) -> Value<'static> {
    let (fsp, in_utc) = match column.ty.kind {
        TypeKind::Timestamp { fsp } => (fsp, true),
        TypeKind::DateTime { fsp } => (fsp, false),
        _ => return implicit_default(column),
    };
    let now = DateTime::from_utc_micros(conversion.now_utc_micros).and_then(|now| now.to_fsp(fsp, true));
    let now = now.unwrap_or_default();
    Value::DateTime(if in_utc { now } else { conversion.zone.from_stored(now) })
}

/// What a column without a default gets: NULL, or the type's zero (the first member of an ENUM).
fn implicit_default(column: &ColumnDef) -> Value<'static> {
    match column.ty.kind {
        TypeKind::Enum { .. } if !column.nullable => Value::UInt(1),
        _ => template_value(column),
    }
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|d| d as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?)).collect()
}
