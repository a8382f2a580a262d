//! One table: its definition, trees, codecs and counters, and the reading of single rows.

use crate::catalog::StoredTable;
use crate::codec::{self, IndexCodec, Source};
use crate::counters::{Counters, last_key};
use crate::watch::Watch;
use crate::{EncodedRange, MetadataLock, RowBuf, RowLayout, StoredRow};
use std::sync::Arc;
use sync::Mutex;
use sync::atomic::{AtomicBool, Ordering};
use txn::{LockMode, TreeRef, Txn, WaitPolicy, Worker};
use types::schema::{IndexKind, TableDef, TableId};
use types::{ColumnType, TypeKind, Value};

/// Each retry means that another transaction committed a change of the same row in between; this many in a row mean a
/// damaged index.
const POINT_RETRIES_MAX: usize = 10_000;

/// An open table. Immutable but for its counters; DDL makes a new one.
pub struct Table {
    pub(crate) def: Arc<TableDef>,
    pub(crate) layout: RowLayout,
    pub(crate) indexes: Box<[Index]>,
    pub(crate) blob_tree: Option<TreeRef>,
    /// Bytes of a row whose strings are all empty.
    pub(crate) overhead_bytes: usize,
    indexed_columns: Box<[bool]>,
    auto_increment: Option<AutoIncrement>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) mdl: Arc<MetadataLock>,
    replaced: AtomicBool,
    pub(crate) watched: AtomicBool,
    pub(crate) watch: Mutex<Option<Arc<Watch>>>,
}

struct AutoIncrement {
    /// The index whose first column it is.
    index: usize,
    max: u64,
}

/// One index of an open table: its tree and how its keys are made.
pub struct Index {
    pub(crate) tree: TreeRef,
    pub(crate) codec: IndexCodec,
    /// The time of the commit clock when the tree was made; 0: it was there at the start (`Txn::check_age`).
    pub(crate) made_at: u64,
}

impl Index {
    pub fn tree(&self) -> TreeRef {
        self.tree
    }

    pub fn kind(&self) -> IndexKind {
        self.codec.kind
    }
}

/// How a single row is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowRead {
    /// The version of the transaction's snapshot.
    Snapshot,
    /// The latest committed version or the transaction's own; waits while another transaction holds the row. Sets `RowBuf::seen`.
    Latest,
    /// As `Latest`, of a row that others may hold in a mode that does not conflict with this one.
    Current(LockMode, WaitPolicy),
    /// As `Current`, and the row stays locked until the transaction ends.
    Lock(LockMode, WaitPolicy),
}

impl Table {
    /// `made_at`: see `Index`.
    pub(crate) fn open(stored: &StoredTable, counters: Arc<Counters>, mdl: Arc<MetadataLock>, made_at: u64) -> Self {
        let def = stored.def.clone();
        let layout = RowLayout::new(&def);
        let indexes = (0..def.indexes.len())
            .map(|k| Index {
                tree: TreeRef { id: def.indexes[k].tree_id, root: def.indexes[k].root_page },
                codec: IndexCodec::new(&def, k),
                made_at,
            })
            .collect();
        let mut indexed_columns = vec![false; def.columns.len()];
        def.indexes.iter().flat_map(|i| &i.columns).for_each(|c| indexed_columns[c.column] = true);
        let overhead_bytes = codec::template_row(&layout, &def).len();
        let auto_increment = def.columns.iter().position(|c| c.auto_increment).and_then(|column| {
            let index = def.indexes.iter().position(|i| i.columns.first().is_some_and(|c| c.column == column))?;
            Some(AutoIncrement { index, max: auto_increment_max(&def.columns[column].ty) })
        });
        Self {
            layout,
            indexes,
            blob_tree: stored.blob_tree,
            overhead_bytes,
            indexed_columns: indexed_columns.into(),
            auto_increment,
            counters,
            mdl,
            replaced: AtomicBool::new(false),
            watched: AtomicBool::new(false),
            watch: Mutex::new(None),
            def,
        }
    }

    /// The table by another definition. Its trees that this one has are as old as here; the others were made at `made_at`.
    pub(crate) fn successor(&self, stored: &StoredTable, counters: Arc<Counters>, made_at: u64) -> Self {
        let mut next = Self::open(stored, counters, self.mdl.clone(), made_at);
        for index in &mut next.indexes {
            if let Some(same) = self.indexes.iter().find(|other| other.tree == index.tree) {
                index.made_at = same.made_at;
            }
        }
        next
    }

    /// The table without its secondary indexes: who writes by it makes no entries, and takes none out.
    pub(crate) fn bare(&self) -> Self {
        let mut def = TableDef::clone(&self.def);
        def.indexes.truncate(1);
        let stored = StoredTable { def: Arc::new(def), blob_tree: self.blob_tree };
        let bare = self.successor(&stored, self.counters.clone(), 0);
        // Large values that are in keys are the last to be moved out, as ever.
        Self { indexed_columns: self.indexed_columns.clone(), ..bare }
    }

    /// Has DDL replaced or dropped this table? The caller holds a share of the metadata lock, under which the answer
    /// does not change.
    pub fn is_replaced(&self) -> bool {
        // Relaxed: it is set while the metadata lock is held exclusively (D2), which orders it.
        self.replaced.load(Ordering::Relaxed)
    }

    pub(crate) fn set_replaced(&self) {
        self.replaced.store(true, Ordering::Relaxed);
    }

    /// The number of the tree with the table's rows.
    pub fn first_tree(&self) -> u32 {
        self.def().indexes.first().map_or(0, |index| index.tree_id)
    }

    pub fn def(&self) -> &Arc<TableDef> {
        &self.def
    }

    pub fn id(&self) -> TableId {
        self.def.id
    }

    pub fn layout(&self) -> &RowLayout {
        &self.layout
    }

    pub fn index_at(&self, index: usize) -> &Index {
        &self.indexes[index]
    }

    /// The metadata lock. Take a share (`mdl().acquire_shared(worker.index())`), *then* check that `Database::schema_version` is
    /// still the one the plan was made for (else give it back and plan again), and keep it until the transaction ends.
    pub fn mdl(&self) -> &Arc<MetadataLock> {
        &self.mdl
    }

    /// May the transaction use the table? Its snapshot may be older than the rewrite of the rows: then it would find
    /// none of them. Called with a share of the metadata lock, before the transaction uses the table for the first
    /// time. Readers of other indexes check these themselves.
    pub fn check_age(&self, txn: &Txn) -> std::result::Result<(), txn::Error> {
        self.indexes.first().map_or(Ok(()), |clustered| txn.check_age(clustered.made_at))
    }

    pub(crate) fn is_indexed(&self, column: usize) -> bool {
        self.indexed_columns[column]
    }

    // --- counters ---

    /// About how many rows there are; for the planner and SHOW TABLE STATUS.
    pub fn estimated_rows(&self) -> u64 {
        self.counters.rows()
    }

    /// Corrects the estimate by `delta` rows, for example when a statement or transaction that inserted rows is rolled back.
    pub fn adjust_estimated_rows(&self, worker: &Worker, delta: i64) {
        self.counters.add_rows(worker.index(), delta);
    }

    /// A transaction that has changed `changes` rows, of this table and others, was rolled back: statistics that have seen them are
    /// doubtful.
    pub fn note_rolled_back(&self, worker: &Worker, changes: u64) {
        self.counters.add_changes(worker.index(), changes);
    }

    /// Takes `count` consecutive AUTO_INCREMENT numbers and returns the first. Numbers are never handed out twice, even
    /// after a crash; those of rolled-back statements are lost, as in MySQL. Only `auto_increment_max` is handed out
    /// repeatedly: the index shows whether it is in use. Restartable. A result above it means that a definition set a
    /// higher start (1467). 0 for a table without such a column.
    pub fn reserve_auto_increment(&self, worker: &Worker, count: u64) -> txn::Result<u64> {
        let Some(auto) = &self.auto_increment else { return Ok(0) };
        self.check_auto_increment(worker, auto)?;
        self.counters.reserve(worker, self.def.id, count, auto.max)
    }

    /// A row was given the explicit number `value` in its AUTO_INCREMENT column: later ones are higher. Restartable, cheap when
    /// `value` is below the counter.
    pub fn note_auto_increment(&self, worker: &Worker, value: u64) -> txn::Result<()> {
        let Some(auto) = &self.auto_increment else { return Ok(()) };
        self.check_auto_increment(worker, auto)?;
        self.counters.note(worker, self.def.id, value, auto.max)
    }

    /// The next AUTO_INCREMENT number, for SHOW; `None` without such a column.
    pub fn next_auto_increment(&self) -> Option<u64> {
        self.auto_increment.as_ref().map(|_| self.counters.next_auto())
    }

    pub(crate) fn auto_increment_column(&self) -> Option<usize> {
        self.auto_increment.as_ref().map(|auto| self.def.indexes[auto.index].columns[0].column)
    }

    /// The index whose first column the AUTO_INCREMENT column is.
    pub fn auto_increment_index(&self) -> Option<usize> {
        self.auto_increment.as_ref().map(|auto| auto.index)
    }

    /// The highest number the AUTO_INCREMENT column can hold.
    pub fn auto_increment_max(&self) -> Option<u64> {
        self.auto_increment.as_ref().map(|auto| auto.max)
    }

    /// Once per open table: counting goes on above the highest number in the index, whatever the catalog knows.
    #[inline]
    fn check_auto_increment(&self, worker: &Worker, auto: &AutoIncrement) -> txn::Result<()> {
        if self.counters.auto_checked() {
            return Ok(());
        }
        let index = &self.indexes[auto.index];
        let mut last = 0;
        last_key(worker, index.tree, |key| {
            last = match index.codec.decode_first(key) {
                Some(Value::Int(number)) => u64::try_from(number).unwrap_or(0),
                Some(Value::UInt(number)) => number,
                Some(Value::Double(number)) => number.max(0.0) as u64,
                _ => 0,
            }
        })?;
        self.counters.set_auto_checked(last.saturating_add(1).min(auto.max));
        Ok(())
    }

    // --- keys ---

    /// Encodes a complete key of the primary or of a unique index; values are of the columns' types. `false`: no row can match (a
    /// NULL is among the values, or the key is longer than any stored one).
    #[inline]
    pub fn encode_point_key(&self, index: usize, values: &[Value<'_>], key: &mut Vec<u8>) -> bool {
        self.indexes[index].codec.encode_point(values, key)
    }

    /// Encodes `prefix = leading columns AND low <(=) next column <(=) high`; a bound is (value, inclusive). Values
    /// have the columns' types; a NULL in `prefix` means IS NULL, a NULL bound empties the range. `false`: the range is
    /// empty. With neither bounds nor prefix it is the whole index. If `low` or `high` is given, NULLs of the next
    /// column are excluded. On a column with a prefix length the range is the smallest that the index can express; the
    /// caller checks the row itself.
    pub fn encode_range(
        &self,
        index: usize,
        prefix: &[Value<'_>],
        low: Option<(&Value<'_>, bool)>,
        high: Option<(&Value<'_>, bool)>,
        range: &mut EncodedRange,
    ) -> bool {
        self.indexes[index].codec.encode_range(prefix, low, high, range)
    }

    /// As [`Self::encode_range`] without bounds, but NULLs of the column behind the prefix are left out.
    pub fn encode_not_null(&self, index: usize, prefix: &[Value<'_>], range: &mut EncodedRange) -> bool {
        self.indexes[index].codec.encode_not_null(prefix, range)
    }

    /// A row's key of this index as MySQL prints it in "Duplicate entry" (1062): the columns' texts, joined by dashes.
    pub fn key_text(&self, index: usize, values: &[Value<'_>]) -> String {
        let mut text = Vec::new();
        for (k, part) in self.def.indexes[index].columns.iter().enumerate() {
            if k > 0 {
                text.push(b'-');
            }
            let (value, ty) = (&values[part.column], &self.def.columns[part.column].ty);
            let start = text.len();
            match value {
                Value::Null => text.extend_from_slice(b"NULL"),
                value => types::convert::write_text(value, ty, &mut text),
            }
            if let Some(prefix) = part.prefix {
                let characters = if ty.collation.is_binary() {
                    (text.len() - start).min(prefix as usize)
                } else {
                    types::collation::prefix_bytes(&text[start..], prefix as usize)
                };
                text.truncate(start + characters);
            }
            // As in MySQL, the array's text, as far as an element has bytes.
            if let Some(element) = &self.def.columns[part.column].element {
                text.truncate(start + element.element_bytes());
            }
        }
        String::from_utf8_lossy(&text).into_owned()
    }

    /// The first key of the leaf that has about the fraction `part` of an index's leaves before it, into `key`; and about how many leaves the
    /// index has. Restartable.
    ///
    /// # Errors
    /// A stall while a page is read; damage.
    pub fn leaf_key(&self, worker: &Worker, index: usize, part: f64, key: &mut Vec<u8>) -> txn::Result<f64> {
        Ok(worker.place_at(self.indexes[index].tree, part, key)?.leaves())
    }

    /// Can every column marked in `wanted` be decoded from the keys of this index (so that a cursor may be `covering`)?
    pub fn covers(&self, index: usize, wanted: &[bool]) -> bool {
        let columns = wanted.iter().enumerate().filter(|(_, wanted)| **wanted).map(|(column, _)| column);
        if index == 0 {
            return true;
        }
        let (own, clustered) = (&self.indexes[index].codec, &self.indexes[0].codec);
        let mut columns = columns;
        columns.all(|column| own.decodes(column) || clustered.decodes(column))
    }

    /// Does the row, as it is in `row`, lie in this range of the index? For rows read again after a scan found them. Restartable.
    pub fn row_in_range(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        range: &EncodedRange,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        if index == 0 {
            return Ok(range.contains(&row.key));
        }
        Ok(self.index_entry_of(worker, txn, index, RowRead::Latest, row)? && range.contains(&row.entry))
    }

    /// The entry key that `row` has in this index, into `row.entry`. `false`: the row changed while its large values were read.
    pub(crate) fn index_entry_of(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        how: RowRead,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        let codec = &self.indexes[index].codec;
        let has_large = self.has_externals(row);
        if has_large && !self.load_columns(worker, txn, how, |column| codec.has_column(column), row)? {
            return Ok(false);
        }
        let mut entry = std::mem::take(&mut row.entry);
        let outcome =
            self.stored_row(row.current()).and_then(|stored| codec.encode_entry(Source::Row(stored), &row.key, &mut entry));
        row.entry = entry;
        outcome.map(|()| true)
    }

    /// Has `row` an entry with this key in the index? Also `false` if it changed while its large values were read.
    fn has_entry(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        key: &[u8],
        how: RowRead,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        if self.indexes[index].codec.multi.is_some() {
            return self.has_one_of_entries(worker, txn, (index, key), how, row);
        }
        Ok(self.index_entry_of(worker, txn, index, how, row)? && row.entry == key)
    }

    // --- single rows ---

    /// The row with this key of the primary or a unique index (`encode_point_key`), read into `row`. `false`: there is none; a current
    /// read of a transaction that knows no phantoms then has locked the gap where it would be.
    #[inline]
    pub fn point(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        key: &[u8],
        how: RowRead,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        if index == 0 {
            row.key.clear();
            row.key.extend_from_slice(key);
            return Ok(self.reread(worker, txn, how, row)? || self.reread_or_lock_gap(worker, txn, how, row)?);
        }
        self.point_by_index(worker, txn, index, key, how, row)
    }

    fn point_by_index(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        index: usize,
        key: &[u8],
        how: RowRead,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        let tree = self.indexes[index].tree;
        let (mode, policy) = match how {
            RowRead::Snapshot => {
                txn.check_age(self.indexes[index].made_at)?;
                let found = txn.read(worker, tree, key, &mut row.key)? && self.reread(worker, txn, how, row)?;
                if !found || !txn.has_changed_unseen() {
                    return Ok(found);
                }
                return self.has_entry(worker, txn, index, key, how, row);
            }
            RowRead::Latest => (LockMode::Exclusive, WaitPolicy::Wait),
            RowRead::Current(mode, policy) | RowRead::Lock(mode, policy) => (mode, policy),
        };
        // Another transaction may commit between the two reads: until the row has the key that led to it, look again.
        for _ in 0..POINT_RETRIES_MAX {
            if txn.read_current(worker, tree, key, mode, policy, &mut row.key)?.is_none() {
                if !txn.locks_gaps() || txn.lock_gap(worker, tree, key, mode)? || policy == WaitPolicy::SkipLocked {
                    return Ok(false);
                }
                continue;
            }
            if !self.reread(worker, txn, how, row)? {
                if policy == WaitPolicy::SkipLocked {
                    return Ok(false);
                }
                continue;
            }
            if self.has_entry(worker, txn, index, key, how, row)? {
                return Ok(true);
            }
        }
        Err(codec::storage_error("an index entry leads to no row, or to a row with another key"))
    }

    /// The row `row.key()` was not there: its gap is locked, unless it has come meanwhile (`true`: it is read).
    #[cold]
    fn reread_or_lock_gap(&self, worker: &Worker, txn: &mut Txn, how: RowRead, row: &mut RowBuf) -> txn::Result<bool> {
        let (mode, policy) = match how {
            RowRead::Snapshot => return Ok(false),
            RowRead::Latest => (LockMode::Exclusive, WaitPolicy::Wait),
            RowRead::Current(mode, policy) | RowRead::Lock(mode, policy) => (mode, policy),
        };
        if !txn.locks_gaps() {
            return Ok(false);
        }
        loop {
            if txn.lock_gap(worker, self.indexes[0].tree, &row.key, mode)? {
                return Ok(false);
            }
            let there = self.reread(worker, txn, how, row)?;
            if there || policy == WaitPolicy::SkipLocked {
                return Ok(there);
            }
        }
    }

    /// Reads the row whose clustered key is `row.key()` again, as `how` says, in place. `false`: it is gone.
    #[inline]
    pub fn reread(&self, worker: &Worker, txn: &mut Txn, how: RowRead, row: &mut RowBuf) -> txn::Result<bool> {
        let tree = self.indexes[0].tree;
        row.forget_version();
        let found = match how {
            RowRead::Snapshot => txn.read(worker, tree, &row.key, &mut row.payload)?,
            RowRead::Latest => {
                row.seen = txn.read_latest(worker, tree, &row.key, &mut row.payload)?;
                row.seen.is_some()
            }
            RowRead::Current(mode, policy) => {
                row.seen = txn.read_current(worker, tree, &row.key, mode, policy, &mut row.payload)?;
                row.seen.is_some()
            }
            RowRead::Lock(mode, policy) => {
                row.seen = txn.lock_row(worker, tree, &row.key, mode, policy, &mut row.payload)?;
                row.seen.is_some()
            }
        };
        if found {
            // `RowBuf::row` relies on it.
            self.stored_row(&row.payload)?;
        }
        Ok(found)
    }

    /// Locks the clustered record of `row.key()` and reads its current version into `row` (FOR UPDATE, FOR SHARE). `false`: the row
    /// is gone, or locked under SKIP LOCKED. For rows of a cursor use [`crate::RowCursor::lock_current`], which also checks that the
    /// current version still belongs to the index entry that the cursor stands on.
    pub fn lock_current(
        &self,
        worker: &Worker,
        txn: &mut Txn,
        mode: LockMode,
        policy: WaitPolicy,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        self.reread(worker, txn, RowRead::Lock(mode, policy), row)
    }

    #[inline]
    pub(crate) fn stored_row<'a>(&'a self, payload: &'a [u8]) -> txn::Result<StoredRow<'a>> {
        StoredRow::new(&self.layout, payload).map_err(codec::corrupt)
    }
}

/// The highest AUTO_INCREMENT number of a column type.
fn auto_increment_max(ty: &ColumnType) -> u64 {
    match ty.kind {
        // The number of distinct whole numbers of the type.
        TypeKind::Float => 1 << 24,
        TypeKind::Double => 1 << 53,
        _ => ty.integer_max().unwrap_or(u64::MAX >> u32::from(!ty.unsigned)),
    }
}
