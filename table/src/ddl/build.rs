//! The long part of ALTER TABLE: filling new indexes, or new trees, from the rows of a table.
//!
//! ```text
//! fill       every row, from snapshots that are renewed every `WRITES_MAX` rows; other sessions may use the table meanwhile
//! catch_up   the rows that were noted since (`online`), repeated until few are left
//! finish     the last noted rows, with the table locked exclusively
//! ```
//!
//! Index entries are inserted in sorted runs, as large as memory allows; so are those of rows that are rewritten.
//!
//! The work is cut into transactions of bounded size, so that neither undo nor the log's tail grows with the table.
//! Nobody waits for them to be durable: all precede, in this worker's log, the transaction that links the new trees.
//! Until then the trees are orphans, so leftovers of a failure do not matter.
//!
//! U1: without a watch the table is locked exclusively all the time, and there is nothing to catch up with.
//! U2: a row that is read may be older than a note. So notes are processed after all rows have been read. If there are
//!     many, the notes of rows that are in the new trees are processed earlier, and then reading continues with a new
//!     snapshot at the same place (`online`, O3).
//! U3: two rows with the same key of a unique index are a duplicate if neither has been noted, because then both were
//!     read as committed. Otherwise one of them waits for `finish`, which sees all rows.
//! U4: the index entries of a rewritten row are missing until their next run is inserted, and an entry is missing in an
//!     index where another row has its key. So no note is processed between the two, and removing a row does not
//!     require its entries (`Copy::take_out`).

use super::entries::{EntriesToCome, Entry, Run};
use super::{Conversion, ConversionWarning, DdlOptions, RowChoice, RowRules};
use crate::catalog::blocking;
use crate::codec::{Source, template_value};
use crate::ddl::online::Changed;
use crate::entries::Entries;
use crate::watch::Watch;
use crate::{EncodedRange, Error, InsertRow, Progress, Result, RowBuf, RowCursor, RowRead, Table};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use txn::{InsertOutcome, Isolation, ReadMode, TreeRef, Txn, Worker};
use types::convert::{Problem, StoreContext, Warnings, store};
use types::partition::PartitionError;
use types::schema::{ColumnDef, ColumnDefault, IndexColumn};
use types::{ColumnType, DateTime, TypeKind, Value};

/// Writes of one transaction, and rows read with one snapshot.
const WRITES_MAX: usize = if cfg!(test) { 40 } else { 1000 };
/// Warnings that are kept; further ones are counted.
const WARNINGS_MAX: usize = 1024;

/// A transaction that is cut in pieces. Dropping it rolls the open piece back.
pub(super) struct Slices<'w> {
    worker: &'w Worker,
    txn: Option<Txn>,
    steps: usize,
}

impl<'w> Slices<'w> {
    pub(super) fn new(worker: &'w Worker) -> Self {
        Self { worker, txn: Some(worker.begin(Isolation::ReadCommitted)), steps: 0 }
    }

    pub(super) fn txn(&mut self) -> &mut Txn {
        self.txn.as_mut().expect("open until dropped")
    }

    /// Counts a row read or written; `true` now and then, when the next piece has begun.
    pub(super) fn step(&mut self, options: &DdlOptions) -> Result<bool> {
        self.steps += 1;
        if self.steps < WRITES_MAX {
            return Ok(false);
        }
        self.commit();
        options.check_cancelled()?;
        Ok(true)
    }

    pub(super) fn commit(&mut self) {
        let worker = self.worker;
        // Not awaited: see the file head.
        let _ = self.txn().commit(worker);
        worker.tick();
        self.txn = Some(self.worker.begin(Isolation::ReadCommitted));
        self.steps = 0;
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

/// New trees on their way.
pub(super) struct Build<'a> {
    pub worker: &'a Worker,
    /// The table as others use it.
    pub old: &'a Table,
    /// As it will be.
    pub new: &'a Table,
    pub options: &'a DdlOptions,
    pub work: Work<'a>,
    pub watch: Option<Arc<Watch>>,
    pub changed: Changed,
}

/// The trees to build.
pub(super) enum Work<'a> {
    /// All trees, from converted rows.
    Copy(Box<Copy<'a>>),
    /// These indexes of `new`; the other trees are those of `old`.
    Indexes(Vec<usize>),
}

impl<'a> Build<'a> {
    /// Reads all rows of the table.
    pub fn fill(&mut self) -> Result<()> {
        self.options.progress.begin(super::Work::Alter, self.old.estimated_rows().max(1));
        match &self.work {
            Work::Copy(_) => self.copy_rows(),
            Work::Indexes(indexes) => {
                let indexes = indexes.clone();
                self.fill_indexes(&indexes)
            }
        }
    }

    fn copy_rows(&mut self) -> Result<()> {
        let (worker, old) = (self.worker, self.old);
        let mut slices = Slices::new(worker);
        let mut cursor = RowCursor::new();
        cursor.open(old, 0, &EncodedRange::default(), false, ReadMode::Snapshot, false);
        let mut row = RowBuf::new();
        while blocking(|| cursor.next(old, worker, slices.txn(), &mut row))? {
            self.options.progress.advance(1);
            if !load_whole(worker, old, slices.txn(), &mut row)? {
                continue;
            }
            let Work::Copy(copy) = &mut self.work else { unreachable!("rows are copied") };
            let put = copy.put(&row, IndexEntries::Sorted, slices.txn())?;
            let is_much = copy.entries.are_many();
            if let Put::Duplicate { error, rival } = put {
                self.postpone(&row.key, rival.as_deref(), error)?;
            }
            // A large row counts as several writes.
            for _ in 0..1 + row.current().len() / txn::RECORD_BYTES_MAX {
                if slices.step(self.options)? {
                    self.take_notes()?;
                }
            }
            if is_much || self.changed.are_many() {
                self.insert_copied(&mut slices)?;
            }
            if self.changed.are_many() {
                slices.commit();
                self.relieve(&row.key)?;
                read_on(&mut cursor, old, &row.key);
            }
        }
        self.insert_copied(&mut slices)?;
        slices.commit();
        Ok(())
    }

    /// U4: inserts the entries of rewritten rows.
    fn insert_copied(&mut self, slices: &mut Slices<'_>) -> Result<()> {
        let Work::Copy(copy) = &mut self.work else { return Ok(()) };
        let runs = copy.entries.take();
        self.insert_runs(runs, slices)
    }

    fn fill_indexes(&mut self, indexes: &[usize]) -> Result<()> {
        let (worker, table) = (self.worker, self.new);
        let mut slices = Slices::new(worker);
        let mut cursor = RowCursor::new();
        cursor.open(table, 0, &EncodedRange::default(), false, ReadMode::Snapshot, false);
        let mut row = RowBuf::new();
        let mut entries = EntriesToCome::default();
        while blocking(|| cursor.next(table, worker, slices.txn(), &mut row))? {
            self.options.progress.advance(1);
            if !load_whole(worker, table, slices.txn(), &mut row)? {
                continue;
            }
            for index in indexes {
                let is_unique = table.indexes[*index].kind().is_unique();
                each_entry(worker, table, *index, &mut row, slices.txn(), |entry, _| {
                    entries.add(*index, is_unique, entry);
                    Ok(())
                })?;
            }
            if slices.step(self.options)? {
                self.take_notes()?;
            }
            if entries.are_many() || self.changed.are_many() {
                self.insert_runs(entries.take(), &mut slices)?;
            }
            if self.changed.are_many() {
                slices.commit();
                self.relieve(&row.key)?;
                read_on(&mut cursor, table, &row.key);
            }
        }
        self.insert_runs(entries.take(), &mut slices)?;
        slices.commit();
        Ok(())
    }

    fn insert_runs(&mut self, runs: BTreeMap<usize, Run>, slices: &mut Slices<'_>) -> Result<()> {
        runs.into_iter().try_for_each(|(index, run)| self.insert_sorted(index, run, slices))
    }

    fn insert_sorted(&mut self, index: usize, mut run: Run, slices: &mut Slices<'_>) -> Result<()> {
        let worker = self.worker;
        for entry in run.sorted() {
            if let Some(rival) = put_entry(worker, self.new, index, entry, slices.txn())? {
                let error = duplicate_in_index(worker, self.new, index, entry.clustered_key, slices.txn());
                match entry.old_key {
                    Some(old_key) => self.postpone(old_key, None, error)?,
                    None => self.postpone(entry.clustered_key, Some(&rival), error)?,
                }
            }
            if slices.step(self.options)? {
                self.take_notes()?;
            }
        }
        Ok(())
    }

    /// U3: the row is a duplicate, or is processed again later.
    fn postpone(&mut self, key: &[u8], rival: Option<&[u8]>, error: Error) -> Result<()> {
        self.take_notes()?;
        let is_noted = self.changed.has(key) || rival.map_or(!self.changed.is_empty(), |rival| self.changed.has(rival));
        if !is_noted {
            return Err(error);
        }
        self.changed.add(key, Box::default());
        Ok(())
    }

    /// Takes the notes over; a row that is noted twice is kept once.
    pub(super) fn take_notes(&mut self) -> Result<()> {
        let Some(watch) = &self.watch else { return Ok(()) };
        let changed = &mut self.changed;
        watch.take(|note| changed.add(&note.key, note.entries));
        if changed.bytes() > super::online::CHANGED_BYTES_MAX {
            let index = watch.first_index().map_or("PRIMARY", |index| self.new.def.indexes[index].name.as_str());
            Err(Error::OnlineLogTooBig { index: index.to_string() })
        } else {
            Ok(())
        }
    }
}

/// Opens the cursor again after a row, so that its read-ahead is read again.
fn read_on(cursor: &mut RowCursor, table: &Table, key: &[u8]) {
    // The smallest key after it.
    let low = [key, &[0]].concat();
    cursor.open(table, 0, &EncodedRange { low, high: Vec::new() }, false, ReadMode::Snapshot, false);
}

/// Brings the row's large values, which belong to the row as this transaction's snapshot shows it. `false`: it shows none.
pub(super) fn load_whole(worker: &Worker, table: &Table, txn: &mut Txn, row: &mut RowBuf) -> Result<bool> {
    if !table.has_externals(row) {
        return Ok(true);
    }
    // The cursor may have read the row with an older snapshot.
    if !blocking(|| table.reread(worker, txn, RowRead::Snapshot, row))? {
        return Ok(false);
    }
    let wanted = vec![true; table.def.columns.len()];
    Ok(blocking(|| table.load_externals(worker, txn, RowRead::Snapshot, &wanted, row))?)
}

/// Calls `each` with every entry of a whole row.
pub(super) fn each_entry(
    worker: &Worker,
    table: &Table,
    index: usize,
    row: &mut RowBuf,
    txn: &mut Txn,
    mut each: impl FnMut(Entry<'_>, &mut Txn) -> Result<()>,
) -> Result<()> {
    let codec = &table.indexes[index].codec;
    if codec.multi.is_some() {
        let mut entries = Entries::default();
        blocking(|| {
            let stored = table.stored_row(row.current())?;
            codec.encode_entries(Source::Row(stored), row.key(), &mut entries)
        })?;
        let mut all = entries.iter();
        return all.try_for_each(|(key, payload)| each(Entry { key, payload, clustered_key: row.key(), old_key: None }, txn));
    }
    if !blocking(|| table.index_entry_of(worker, txn, index, RowRead::Snapshot, row))? {
        return Err(Error::Engine(txn::Error::Storage("a large value of a snapshot is gone".to_string())));
    }
    each(Entry { key: &row.entry, payload: &[], clustered_key: row.key(), old_key: None }, txn)
}

/// Inserts an entry, unless it exists. Returns the clustered key of another row with the same key of a unique index.
pub(super) fn put_entry(
    worker: &Worker,
    table: &Table,
    index: usize,
    entry: Entry<'_>,
    txn: &mut Txn,
) -> Result<Option<Vec<u8>>> {
    let (tree, kind) = (table.indexes[index].tree, table.indexes[index].kind());
    let payload: &[u8] = if kind.is_unique() { entry.clustered_key } else { entry.payload };
    if blocking(|| txn.insert(worker, tree, entry.key, payload))? == InsertOutcome::Inserted || !kind.is_unique() {
        return Ok(None);
    }
    let mut rival = Vec::new();
    blocking(|| txn.read_latest(worker, tree, entry.key, &mut rival))?;
    Ok((*rival != *entry.clustered_key).then_some(rival))
}

/// Takes an entry of a row out, if the row has it.
pub(super) fn take_entry(
    worker: &Worker,
    table: &Table,
    index: usize,
    (entry, clustered_key): (&[u8], &[u8]),
    txn: &mut Txn,
) -> Result<()> {
    let (index, mut payload) = (&table.indexes[index], Vec::new());
    let Some(seen) = blocking(|| txn.read_latest(worker, index.tree, entry, &mut payload))? else { return Ok(()) };
    // A unique key may be another row's.
    if !index.kind().is_unique() || payload == clustered_key {
        blocking(|| txn.delete(worker, index.tree, entry, seen))?;
    }
    Ok(())
}

/// The error for a row whose key exists already.
pub(super) fn duplicate_in_index(worker: &Worker, table: &Table, index: usize, clustered_key: &[u8], txn: &mut Txn) -> Error {
    let mut row = RowBuf::new();
    row.set_key(clustered_key);
    let loaded = blocking(|| table.reread(worker, txn, RowRead::Snapshot, &mut row))
        .map_err(Error::from)
        .and_then(|found| Ok(found && load_whole(worker, table, txn, &mut row)?));
    match loaded {
        Ok(true) => {
            let stored = row.row(table);
            let values = (0..table.def.columns.len()).map(|column| stored.get(column).unwrap_or(Value::Null)).collect::<Vec<_>>();
            duplicate_entry(table, index, &values)
        }
        Ok(false) => duplicate_entry(table, index, &[]),
        Err(error) => error,
    }
}

/// 1062 for a row with these values.
fn duplicate_entry(table: &Table, index: usize, values: &[Value<'_>]) -> Error {
    let def = &table.def;
    let key = if values.is_empty() { String::new() } else { table.key_text(index, values) };
    let is_counted = |part: &IndexColumn| def.columns[part.column].auto_increment;
    let name = format!("{}.{}", def.name, def.indexes[index].name);
    if index == 0 && def.indexes[0].columns.first().is_some_and(is_counted) {
        Error::DuplicateNumber { key, index: name }
    } else {
        Error::DuplicateEntry { key, index: name }
    }
}

/// The result of copying a row.
pub(super) enum Put {
    Done,
    /// `rival`: the old clustered key of the row that has its key, where that is known.
    Duplicate {
        error: Error,
        rival: Option<Vec<u8>>,
    },
}

/// When a copied row gets its index entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IndexEntries {
    Now,
    /// U4: inserted later, in sorted order with those of other rows.
    Sorted,
}

/// Where a copied row is found again by its old clustered key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keys {
    /// The clustered keys stay as they are.
    Same,
    /// A tree from old to new clustered keys, dropped at the end of the definition.
    Mapped(TreeRef),
    /// Nobody changes the table meanwhile (U1).
    Unneeded,
}

/// How rows of some partitions are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sieve {
    /// They are not copied.
    LeaveOut,
    /// Others are not copied.
    TakeOnly,
    /// Another is an error (1737).
    Require,
}

/// The data for copying a row: column `k` comes from `sources[k]`, or is its default.
pub(super) struct Copy<'a> {
    worker: &'a Worker,
    old: &'a Table,
    pub new: &'a Table,
    /// The new table without its indexes.
    bare: Table,
    entries: EntriesToCome,
    sources: &'a [Option<usize>],
    conversion: &'a Conversion,
    context: StoreContext<'a>,
    /// The values of columns without a source.
    defaults: Vec<Value<'static>>,
    /// The new AUTO_INCREMENT column, when it numbers the rows that have none.
    numbered: Option<usize>,
    /// The last number that was given to a row.
    last_number: Cell<u64>,
    pub keys: Keys,
    key: Vec<u8>,
    progress: Progress,
    /// Computes values of each row, and checks it.
    rules: Option<Box<dyn RowRules + 'a>>,
    /// Handles a row by its partition.
    sieve: Option<(Sieve, Box<dyn RowChoice + 'a>)>,
    pub rows: u64,
    pub warnings: Vec<ConversionWarning>,
    pub warning_count: u64,
}

impl<'a> Copy<'a> {
    pub fn new(
        worker: &'a Worker,
        old: &'a Table,
        new: &'a Table,
        sources: &'a [Option<usize>],
        options: &'a DdlOptions,
        keys: Keys,
    ) -> Result<Self> {
        let conversion = &options.conversion;
        let context = conversion.context();
        let added = |(column, source): (&ColumnDef, &Option<usize>)| match source {
            Some(_) => Ok(Value::Null),
            None => added_value(column, conversion),
        };
        let defaults = new.def.columns.iter().zip(sources).map(added).collect::<Result<Vec<_>>>()?;
        let is_computed = |column: &usize| {
            sources[*column].is_none() && matches!(new.def.columns[*column].default, ColumnDefault::Expression(_))
        };
        let computed: Vec<usize> = (0..sources.len()).filter(is_computed).collect();
        let rules = match &options.expressions {
            Some(expressions) if new.def.has_row_rules() => Some(expressions.row_rules(new, &computed)?),
            _ => None,
        };
        let was_counted = |source: &Option<usize>| source.is_some_and(|source| old.def.columns[source].auto_increment);
        let numbered = new.def.columns.iter().position(|c| c.auto_increment).filter(|column| !was_counted(&sources[*column]));
        Ok(Self {
            worker,
            old,
            new,
            bare: new.bare(),
            entries: EntriesToCome::default(),
            sources,
            conversion,
            context,
            defaults,
            numbered,
            last_number: Cell::new(0),
            keys,
            key: Vec::new(),
            progress: Progress::new(),
            rules,
            sieve: None,
            rows: 0,
            warnings: Vec::new(),
            warning_count: 0,
        })
    }

    /// Selects rows by whether they would be in these partitions of a table with the same columns.
    pub fn sifting(mut self, sieve: Sieve, of: &'a Table, partitions: &[usize], options: &'a DdlOptions) -> Result<Self> {
        let missing = Error::NotSupported { what: "expressions in definitions" };
        let expressions = options.expressions.as_ref().ok_or(missing)?;
        self.sieve = Some((sieve, expressions.rows_of_partitions(of, partitions)?));
        Ok(self)
    }

    /// Does the row go?
    fn goes(&mut self, row: &RowBuf) -> Result<bool> {
        let Some((sieve, choice)) = &mut self.sieve else { return Ok(false) };
        let stored = row.row(self.old);
        let values = (0..self.old.def.columns.len()).map(|column| stored.get(column)).collect::<types::Result<Vec<_>>>();
        let lies = choice.takes(&values.map_err(|e| Error::Engine(txn::Error::Storage(format!("{e:?}"))))?)?;
        match sieve {
            Sieve::LeaveOut => Ok(lies),
            Sieve::TakeOnly => Ok(!lies),
            Sieve::Require if lies => Ok(false),
            Sieve::Require => Err(PartitionError::ExchangeRow.into()),
        }
    }

    /// Converts a row and inserts it into the new table, unless the row is dropped.
    pub fn put(&mut self, row: &RowBuf, entries: IndexEntries, txn: &mut Txn) -> Result<Put> {
        if self.goes(row)? {
            return Ok(Put::Done);
        }
        self.rows += 1;
        let stored = row.row(self.old);
        let mut raw: Vec<Value<'_>> = Vec::with_capacity(self.sources.len());
        for (k, source) in self.sources.iter().enumerate() {
            raw.push(match source {
                None => self.defaults[k].clone(),
                Some(source) => stored.get(*source).map_err(|e| Error::Engine(txn::Error::Storage(format!("{e:?}"))))?,
            });
        }
        self.localize_timestamps(&mut raw);
        let mut warnings = Warnings::new();
        let mut values = Vec::with_capacity(raw.len());
        for (k, value) in raw.iter().enumerate() {
            values.push(self.converted(value, k, &mut warnings)?);
            for (severity, problem) in warnings.drain() {
                self.warning_count += 1;
                if self.warnings.len() < WARNINGS_MAX {
                    let column = self.new.def.columns[k].name.clone();
                    self.warnings.push(ConversionWarning { severity, problem, column, row: self.rows });
                }
            }
        }
        if let Some(column) = self.numbered {
            self.number(column, &mut values)?;
        }
        if let Some(rules) = &mut self.rules {
            let mut whole: Vec<Value<'static>> = values.into_iter().map(Value::into_owned).collect();
            rules.complete(&mut whole)?;
            return self.insert(row.key(), &whole, entries, txn);
        }
        self.insert(row.key(), &values, entries, txn)
    }

    fn insert(&mut self, old_key: &[u8], values: &[Value<'_>], entries: IndexEntries, txn: &mut Txn) -> Result<Put> {
        let (worker, new) = (self.worker, self.new);
        let target = if entries == IndexEntries::Sorted { &self.bare } else { new };
        match self.keys {
            Keys::Same => {
                self.key.clear();
                self.key.extend_from_slice(old_key);
            }
            Keys::Mapped(_) | Keys::Unneeded => blocking(|| new.clustered_key(worker, values, &mut self.key))?,
        }
        let (key, progress) = (&self.key, &mut self.progress);
        match blocking(|| target.insert_row_at(worker, txn, key, values, progress))? {
            InsertRow::Inserted => {
                if entries == IndexEntries::Sorted {
                    self.collect_entries(old_key, values)?;
                }
                let key = &self.key;
                if let Keys::Mapped(map) = self.keys {
                    blocking(|| txn.insert(worker, map, old_key, key))?;
                }
                Ok(Put::Done)
            }
            InsertRow::Duplicate { index } => {
                let error = duplicate_entry(new, index, values);
                let mut rival = RowBuf::new();
                let found = blocking(|| new.conflicting_row(worker, txn, index, values, RowRead::Latest, &mut rival))?;
                Ok(Put::Duplicate { error, rival: (found && self.keys == Keys::Same).then_some(rival.key) })
            }
            InsertRow::Paused { .. } => unreachable!("no pause was asked for"),
        }
    }

    /// Collects the index entries of the row that was inserted under `key`.
    fn collect_entries(&mut self, old_key: &[u8], values: &[Value<'_>]) -> Result<()> {
        let mut entry = Vec::new();
        let mut several = Entries::default();
        for (number, index) in self.new.indexes.iter().enumerate().skip(1) {
            let old_key = (self.keys != Keys::Same).then_some(old_key);
            let is_unique = index.kind().is_unique();
            let clustered_key = &self.key;
            if index.codec.multi.is_some() {
                blocking(|| index.codec.encode_entries(Source::Values(values), clustered_key, &mut several))?;
                several.iter().for_each(|(key, payload)| {
                    self.entries.add(number, is_unique, Entry { key, payload, clustered_key, old_key })
                });
                continue;
            }
            blocking(|| index.codec.encode_entry(Source::Values(values), clustered_key, &mut entry))?;
            self.entries.add(number, is_unique, Entry { key: &entry, payload: &[], clustered_key, old_key });
        }
        Ok(())
    }

    /// Removes the row with this old clustered key from the new table (U4).
    pub fn take_out(&mut self, old_key: &[u8], txn: &mut Txn) -> Result<()> {
        let (worker, new) = (self.worker, self.new);
        let mut row = RowBuf::new();
        match self.keys {
            Keys::Mapped(map) => {
                let Some(seen) = blocking(|| txn.read_latest(worker, map, old_key, &mut row.key))? else { return Ok(()) };
                blocking(|| txn.delete(worker, map, old_key, seen))?;
            }
            Keys::Same | Keys::Unneeded => row.set_key(old_key),
        }
        if !blocking(|| new.reread(worker, txn, RowRead::Latest, &mut row))? {
            return Ok(());
        }
        for index in 1..new.indexes.len() {
            if new.indexes[index].codec.multi.is_some() {
                // Its large values, too.
                if !blocking(|| new.load_columns(worker, txn, RowRead::Latest, |_| true, &mut row))? {
                    continue;
                }
                let mut entries = Entries::default();
                let codec = &new.indexes[index].codec;
                blocking(|| codec.encode_entries(Source::Row(new.stored_row(row.current())?), &row.key, &mut entries))?;
                for (key, _) in entries.iter() {
                    take_entry(worker, new, index, (key, &row.key), txn)?;
                }
                continue;
            }
            blocking(|| new.index_entry_of(worker, txn, index, RowRead::Latest, &mut row))?;
            take_entry(worker, new, index, (&row.entry, &row.key), txn)?;
        }
        blocking(|| self.bare.delete_row(worker, txn, &row, &mut self.progress))?;
        Ok(())
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
            if self.conversion.strict {
                return Err(Error::InvalidNull);
            }
            warnings.warn(Problem::Truncated);
            return Ok(implicit_default(to));
        }
        let Some(source) = self.sources[k] else { return Ok(value.borrowed()) };
        let from = &self.old.def.columns[source].ty;
        if *from == to.ty {
            return Ok(value.borrowed());
        }
        // A truncated string is reported like any other problem.
        let problem = |problem| {
            let is_cut = problem == Problem::TooLong && !to.ty.is_vector();
            let problem = if is_cut { Problem::Truncated } else { problem };
            Error::Conversion { problem, column: to.name.clone(), row: self.rows }
        };
        store(value, from, &to.ty, &self.context, warnings).map_err(problem)
    }

    /// Gives the row the next number if it has none: NULL or zero. Other values stay, also negative ones.
    fn number(&self, column: usize, values: &mut [Value<'_>]) -> Result<()> {
        let (worker, new) = (self.worker, self.new);
        let (is_present, counted) = match &values[column] {
            Value::Int(n) => (*n != 0, u64::try_from(*n).unwrap_or(0)),
            Value::UInt(n) => (*n != 0, *n),
            Value::Double(n) => (*n != 0.0, n.max(0.0) as u64),
            _ => (false, 0),
        };
        let keeps_zero = self.conversion.keeps_zero && self.sources[column].is_some() && !values[column].is_null();
        if is_present || keeps_zero {
            blocking(|| new.note_auto_increment(worker, counted))?;
            return Ok(());
        }
        let number = blocking(|| new.reserve_auto_increment(worker, 1))?;
        let is_again = self.last_number.replace(number) == number;
        if is_again || new.auto_increment_max().is_none_or(|max| number > max) {
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

impl Conversion {
    fn context(&self) -> StoreContext<'_> {
        StoreContext {
            strict: self.strict,
            dates: self.dates,
            truncate_fractional: self.truncate_fractional,
            zone: &self.zone,
            now_utc_micros: self.now_utc_micros,
        }
    }
}

/// The value of existing rows in an added column: its default, else NULL, else the type's zero value.
pub(super) fn added_value(column: &ColumnDef, conversion: &Conversion) -> Result<Value<'static>> {
    match &column.default {
        // An expression's value is computed of each row.
        ColumnDefault::None | ColumnDefault::Dropped | ColumnDefault::Literal(None) | ColumnDefault::Expression(_) => {
            Ok(implicit_default(column))
        }
        ColumnDefault::CurrentTimestamp => Ok(current_time(column, conversion)),
        ColumnDefault::Literal(Some(text)) => {
            let value = column.default_value_in(text, &conversion.context());
            value.ok_or_else(|| Error::InvalidDefault { column: column.name.clone() })
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

/// The value of a column without a default: NULL, or the type's zero value (the first member of an ENUM).
fn implicit_default(column: &ColumnDef) -> Value<'static> {
    match column.ty.kind {
        TypeKind::Enum { .. } if !column.nullable => Value::UInt(1),
        _ => template_value(column),
    }
}
