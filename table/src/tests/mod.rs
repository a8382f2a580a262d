//! The crate on the real engine, in a directory of its own.

mod blobs;
mod columns;
mod crash;
mod ddl;
mod events;
mod exchange;
mod foreign;
mod fulltext;
mod functional;
mod offline;
mod online;
mod partitions;
mod routines;
mod rows;
mod statistics;
mod threads;
mod triggers;
mod views;

use crate::catalog::blocking;
use crate::ddl::{NewIndex, NewIndexColumn, NewIndexKind, NewTable};
use crate::{Database, EncodedRange, InsertRow, Progress, RowBuf, RowCursor, RowRead, Table, WriteRow};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use txn::{Config, Durability, Engine, Isolation, ReadMode, Txn, Worker};
use types::schema::{ColumnDef, ColumnDefault};
use types::{CollationId, ColumnType, TypeKind, Value};

/// A data directory with an open database; removed when dropped.
pub(crate) struct Fixture {
    directory: PathBuf,
    open: Option<(Arc<Engine>, Arc<Database>)>,
    workers: usize,
    pool_bytes: u64,
}

impl Fixture {
    pub fn new(workers: usize) -> Self {
        Self::with_pool(workers, 64 << 20)
    }

    pub fn with_pool(workers: usize, pool_bytes: u64) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let directory = std::env::temp_dir().join(format!("heddle-table-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        let mut fixture = Self { directory, open: None, workers, pool_bytes };
        fixture.open();
        fixture
    }

    fn open(&mut self) {
        let config = Config {
            data_dir: self.directory.clone(),
            buffer_pool_bytes: self.pool_bytes,
            undo_memory_bytes: 64 << 20,
            recovery_target: txn::RECOVERY_TARGET,
            workers: self.workers,
            durability: Durability::None,
        };
        // A child process that another test starts holds our descriptors, and so the directory's lock, until it runs its program.
        let until = std::time::Instant::now() + std::time::Duration::from_secs(5);
        let engine = loop {
            match Engine::open(config.clone()) {
                Ok(engine) => break engine,
                Err(error) if std::time::Instant::now() > until => panic!("the directory is ours: {error}"),
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(20)),
            }
        };
        let database = Database::open(engine.clone()).expect("the catalog is readable");
        self.open = Some((engine, database));
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.open.as_ref().expect("open").0
    }

    pub fn database(&self) -> &Arc<Database> {
        &self.open.as_ref().expect("open").1
    }

    /// A worker that is awake.
    pub fn worker(&self, index: usize) -> Worker {
        let worker = self.engine().worker(index);
        worker.tick();
        worker
    }

    /// Does somebody (a worker of the test, a child process) still hold the directory's lock?
    fn is_in_use(&self) -> bool {
        crate::offline::check(&self.directory, 1, &|_| {}).is_err()
    }

    /// Stops cleanly and starts again. Workers must be gone.
    pub fn reopen(&mut self) {
        self.close();
        self.open();
    }

    fn close(&mut self) {
        let (engine, database) = self.open.take().expect("open");
        {
            let worker = engine.spare_worker().expect("a spare worker");
            worker.tick();
            database.close(&worker).expect("counters are written");
        }
        engine.shutdown().expect("a clean stop");
    }

    /// Stops without writing counters.
    pub fn reopen_roughly(&mut self) {
        let (engine, _) = self.open.take().expect("open");
        engine.shutdown().expect("a clean stop");
        drop(engine);
        self.open();
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        if let Some((engine, _)) = self.open.take() {
            let _ = engine.shutdown();
            drop(engine);
            if !std::thread::panicking() && !self.is_in_use() {
                // Whatever a test did, what it leaves is whole.
                let tell = |event: crate::offline::Event<'_>| {
                    if let crate::offline::Event::Problem(what) = event {
                        eprintln!("{what}");
                    }
                };
                let summary = crate::offline::check(&self.directory, 2, &tell).expect("readable");
                assert_eq!(summary.problems, 0);
            }
        }
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

pub(crate) fn column(name: &str, kind: TypeKind) -> ColumnDef {
    ColumnDef::new(name, ColumnType::new(kind), true)
}

pub(crate) fn not_null(mut column: ColumnDef) -> ColumnDef {
    column.nullable = false;
    column
}

pub(crate) fn counted(mut column: ColumnDef) -> ColumnDef {
    column.nullable = false;
    column.auto_increment = true;
    column
}

pub(crate) fn index(name: &str, kind: NewIndexKind, columns: &[&str]) -> NewIndex {
    let columns = columns.iter().map(|c| NewIndexColumn::whole(*c)).collect();
    NewIndex {
        name: name.to_string(),
        kind,
        columns,
        comment: String::new(),
        using_btree: false,
        invisible: false,
        generated: false,
        full_text: None,
    }
}

pub(crate) fn prefix_index(name: &str, kind: NewIndexKind, column: &str, prefix: u32) -> NewIndex {
    let columns = vec![NewIndexColumn { prefix: Some(prefix), ..NewIndexColumn::whole(column) }];
    NewIndex { columns, ..index(name, kind, &[]) }
}

pub(crate) fn table(name: &str, columns: Vec<ColumnDef>, indexes: Vec<NewIndex>) -> NewTable {
    NewTable {
        database: "d".to_string(),
        name: name.to_string(),
        columns,
        indexes,
        foreign_keys: Vec::new(),
        checks: Vec::new(),
        collation: CollationId::UTF8MB4_0900_AI_CI,
        comment: String::new(),
        auto_increment: None,
        partitioning: None,
    }
}

/// Creates database `d` (where missing) and the table.
pub(crate) fn create(database: &Database, worker: &Worker, new: NewTable) -> Arc<Table> {
    if !database.schema().databases.contains_key("d") {
        database.create_database(worker, "d", CollationId::UTF8MB4_0900_AI_CI).expect("a new database");
    }
    let id = database.create_table(worker, new).expect("a new table");
    database.table(id).expect("just created")
}

pub(crate) fn text(s: &str) -> Value<'_> {
    Value::Bytes(s.as_bytes().into())
}

pub(crate) fn begin(worker: &Worker) -> Txn {
    worker.begin(Isolation::RepeatableRead)
}

pub(crate) fn commit(worker: &Worker, mut txn: Txn) {
    if let Some(stall) = txn.commit(worker) {
        stall.wait_blocking();
    }
}

pub(crate) fn rollback(worker: &Worker, mut txn: Txn) {
    blocking(|| txn.rollback(worker)).expect("rollback works");
}

pub(crate) fn insert(worker: &Worker, txn: &mut Txn, table: &Table, values: &[Value<'_>]) -> InsertRow {
    let mut progress = Progress::new();
    blocking(|| table.insert_row(worker, txn, values, &mut progress)).expect("insert works")
}

/// Reads the row of a primary key current.
pub(crate) fn find(worker: &Worker, txn: &mut Txn, table: &Table, key: &[Value<'_>], row: &mut RowBuf) -> bool {
    let mut encoded = Vec::new();
    assert!(table.encode_point_key(0, key, &mut encoded));
    blocking(|| table.point(worker, txn, 0, &encoded, RowRead::Latest, row)).expect("point works")
}

pub(crate) fn update(
    worker: &Worker,
    txn: &mut Txn,
    table: &Table,
    key: &[Value<'_>],
    changes: &[(usize, Value<'_>)],
) -> WriteRow {
    let (mut row, mut progress) = (RowBuf::new(), Progress::new());
    assert!(find(worker, txn, table, key, &mut row), "there is a row to update");
    blocking(|| table.update_row(worker, txn, &row, changes, &mut progress)).expect("update works")
}

pub(crate) fn delete(worker: &Worker, txn: &mut Txn, table: &Table, key: &[Value<'_>]) -> WriteRow {
    let (mut row, mut progress) = (RowBuf::new(), Progress::new());
    assert!(find(worker, txn, table, key, &mut row), "there is a row to delete");
    blocking(|| table.delete_row(worker, txn, &row, &mut progress)).expect("delete works")
}

/// All rows of an index, decoded, in the cursor's order.
pub(crate) fn scan(
    worker: &Worker,
    txn: &mut Txn,
    table: &Table,
    index: usize,
    range: &EncodedRange,
    reverse: bool,
    mode: ReadMode,
) -> Vec<Vec<Value<'static>>> {
    let (mut cursor, mut row, mut rows) = (RowCursor::new(), RowBuf::new(), Vec::new());
    let wanted = vec![true; table.def().columns.len()];
    let how = if mode == ReadMode::Snapshot { RowRead::Snapshot } else { RowRead::Latest };
    cursor.open(table, index, range, reverse, mode, false);
    while blocking(|| cursor.next(table, worker, txn, &mut row)).expect("scan works") {
        assert!(blocking(|| table.load_externals(worker, txn, how, &wanted, &mut row)).expect("loading works"));
        rows.push(decoded(table, &row));
    }
    rows
}

pub(crate) fn scan_all(worker: &Worker, table: &Table, index: usize) -> Vec<Vec<Value<'static>>> {
    let mut txn = begin(worker);
    let rows = scan(worker, &mut txn, table, index, &EncodedRange::default(), false, ReadMode::Snapshot);
    rollback(worker, txn);
    rows
}

pub(crate) fn decoded(table: &Table, row: &RowBuf) -> Vec<Value<'static>> {
    let stored = row.row(table);
    (0..table.def().columns.len()).map(|c| stored.get(c).expect("a readable column").into_owned()).collect()
}

/// Some order of values; of long ones without making a text of them, which would take most of the time.
fn order_of(value: &Value<'_>) -> std::result::Result<Vec<u8>, String> {
    if let Value::Bytes(bytes) = value { Ok(bytes.to_vec()) } else { Err(format!("{value:?}")) }
}

/// All trees of the table agree in one snapshot, by `check` and by reading every index.
pub(crate) fn check_indexes(worker: &Worker, table: &Table) {
    let mut txn = begin(worker);
    let report = table.check(worker, &mut txn).expect("the check runs");
    assert!(report.problems.is_empty(), "{report:?}");
    let mut rows_of = |index| {
        let mut rows = scan(worker, &mut txn, table, index, &EncodedRange::default(), false, ReadMode::Snapshot);
        rows.sort_by_cached_key(|row| row.iter().map(order_of).collect::<Vec<_>>());
        rows
    };
    let expected = rows_of(0);
    assert_eq!(report.rows as usize, expected.len());
    // Those with several entries of a row are checked by `check`.
    for index in (1..table.def().indexes.len()).filter(|index| table.def().indexes[*index].kind.is_ordered()) {
        assert_eq!(rows_of(index), expected, "index {index} has the rows of the table");
    }
    rollback(worker, txn);
}
