//! All databases and tables of one data directory: the published schema and the open tables.
//!
//! Readers see one immutable snapshot ([`Schema`] and its open tables) behind one pointer. DDL publishes the next
//! snapshot after its catalog transaction is durable. A worker keeps its `Arc<Schema>` and compares `schema_version`, a
//! cache line that only DDL writes.
//!
//! D1: the DDL mutex is held from reading the schema that a change is based on until the change is published.
//! D2: a table's definition, trees and handle are replaced only while its metadata lock is held exclusively.
//! D3: a tree is in `orphans` only if no published table has it; only then are its pages freed.

use crate::catalog::{CatalogTxn, Contents, EventName, StoredTable, blocking};
use crate::counters::Counters;
use crate::{Error, MetadataLock, Result, Table, ddl, hot_copy};
use arc_swap::ArcSwap;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};
use sync::atomic::{AtomicU64, Ordering};
use sync::{CachePadded, Mutex, MutexGuard};
use txn::{Engine, TreeRef, Worker};
use types::event::EventDef;
use types::schema::{DatabaseDef, RoutineDef, Schema, TableDef, TableId};

/// Slices of a tree that one call of `housekeeping` frees.
const FREE_SLICES_MAX: usize = 16;
/// `housekeeping` writes a row estimate that moved by more than this part of itself.
const ESTIMATE_PART: u64 = 10;

/// The open catalog. Shared by `Arc`.
pub struct Database {
    engine: Arc<Engine>,
    version: CachePadded<AtomicU64>,
    published: ArcSwap<Published>,
    ddl: Mutex<DdlState>,
    /// The accounts in the catalog when it was opened.
    accounts: Mutex<BTreeMap<Vec<u8>, Vec<u8>>>,
    /// The prepared transactions in the catalog when it was opened: numbers and parts.
    prepared: Mutex<BTreeMap<u64, u32>>,
    /// When events were run last, in seconds since the epoch.
    pub(crate) event_runs: Mutex<HashMap<EventName, i64>>,
    /// How far a reader of the log is, which may still look into dropped trees.
    reader: OnceLock<Arc<AtomicU64>>,
}

/// One version of everything.
#[derive(Clone, Default)]
pub(crate) struct Published {
    pub schema: Arc<Schema>,
    pub tables: HashMap<TableId, Arc<Table>>,
    /// The tables with foreign keys to each table; a table without children is not in the map.
    pub children: HashMap<TableId, Vec<TableId>>,
}

/// The state of DDL between statements.
pub(crate) struct DdlState {
    pub next_table_id: u64,
    /// The number of the next temporary table; numbers restart with the server.
    pub next_temporary: u64,
    /// Trees of no table, to be freed (D3). All of them are recorded in the catalog.
    pub orphans: Vec<TreeRef>,
    /// Where the log ended when a tree was first seen among the orphans, while somebody reads the log.
    pub seen_at: HashMap<u32, u64>,
}

impl Database {
    /// Reads the catalog (creates it in a new data directory) and opens the tables. Blocks.
    pub fn open(engine: Arc<Engine>) -> Result<Arc<Database>> {
        let worker = engine.spare_worker().ok_or(Error::NotSupported { what: "opening the catalog without a spare worker" })?;
        let mut catalog = CatalogTxn::begin(&worker);
        let mut contents = catalog.load()?;
        if contents.next_table_id == 0 {
            contents.next_table_id = 1;
            catalog.put_meta(contents.next_table_id)?;
        }
        catalog.commit();
        let ddl = DdlState {
            next_table_id: contents.next_table_id,
            next_temporary: 0,
            orphans: std::mem::take(&mut contents.orphans),
            seen_at: HashMap::new(),
        };
        let accounts = std::mem::take(&mut contents.accounts);
        let event_runs = std::mem::take(&mut contents.event_runs);
        let prepared = std::mem::take(&mut contents.prepared);
        let published = open_all(contents, engine.worker_slots())?;
        Ok(Arc::new(Database {
            engine,
            version: CachePadded::new(AtomicU64::new(published.schema.version)),
            published: ArcSwap::from_pointee(published),
            ddl: Mutex::new(ddl),
            accounts: Mutex::new(accounts),
            prepared: Mutex::new(prepared),
            event_runs: Mutex::new(event_runs),
            reader: OnceLock::new(),
        }))
    }

    /// The JSON of each account by its name, as the catalog had them at the start. Given out once.
    pub fn take_accounts(&self) -> BTreeMap<Vec<u8>, Vec<u8>> {
        std::mem::take(&mut *self.accounts.lock())
    }

    /// The numbers of the prepared transactions with their parts, as the catalog had them at the start. Given out once.
    pub fn take_prepared(&self) -> BTreeMap<u64, u32> {
        std::mem::take(&mut *self.prepared.lock())
    }

    /// Writes accounts, or removes those without JSON: all of them or none. Durable when it returns. Blocks.
    pub fn put_accounts(&self, worker: &Worker, changes: &[(Vec<u8>, Option<Vec<u8>>)]) -> Result<()> {
        let _ddl = self.ddl.lock();
        let mut catalog = CatalogTxn::begin(worker);
        for (name, json) in changes {
            catalog.put_account(name, json.as_deref())?;
        }
        catalog.commit();
        Ok(())
    }

    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// Begins a consistent copy of the data directory; see [`storage::hot_copy`].
    ///
    /// # Errors
    /// I/O.
    pub fn hot_copy(&self, since: Option<hot_copy::Basis>) -> std::result::Result<hot_copy::HotCopy, storage::Error> {
        self.engine.hot_copy(since)
    }

    /// The version of the published schema: one load of a line that only DDL writes.
    #[inline]
    pub fn schema_version(&self) -> u64 {
        // Acquire: pairs with the Release in `publish`; a reader of the version finds at least that schema.
        self.version.load(Ordering::Acquire)
    }

    /// The published schema. Copies a shared `Arc`: keep it per worker and fetch it again when `schema_version` moves.
    pub fn schema(&self) -> Arc<Schema> {
        self.published.load().schema.clone()
    }

    /// The open table of exactly this definition (the same value in memory, not an equal one); `None`: another
    /// definition was published since, or the table is gone. Code that addresses columns or indexes by position gets
    /// the table here, so that the positions and the row layout are of one version. Called once per plan, not per
    /// statement.
    pub fn table_of(&self, def: &TableDef) -> Option<Arc<Table>> {
        self.table(def.id).filter(|table| std::ptr::eq(&**table.def(), def))
    }

    /// The open table of this id in its current version, whatever its columns are: for operations on the table as a
    /// whole.
    pub fn table(&self, id: TableId) -> Option<Arc<Table>> {
        self.published.load().tables.get(&id).cloned()
    }

    /// The open table of this name.
    pub fn table_by_name(&self, database: &str, name: &str) -> Option<Arc<Table>> {
        let published = self.published.load();
        let def = published.schema.table(database, name)?;
        published.tables.get(&def.id).cloned()
    }

    /// The open tables with foreign keys to this one. The caller has resolved the table itself before: adding a child
    /// replaces it (`ddl::foreign`, F2).
    pub fn children_of(&self, id: TableId) -> Vec<Arc<Table>> {
        let published = self.published.load();
        let children = published.children.get(&id).map_or(&[][..], Vec::as_slice);
        children.iter().filter_map(|child| published.tables.get(child).cloned()).collect()
    }

    /// All open tables, in no order.
    pub fn tables(&self) -> Vec<Arc<Table>> {
        self.published.load().tables.values().cloned().collect()
    }

    /// Background work in slices: frees unused trees, writes changed row estimates, recomputes stale statistics.
    /// Blocks; called by the DDL thread about every second. `true`: more work is left.
    pub fn housekeeping(&self, worker: &Worker) -> Result<bool> {
        self.persist_estimates(worker, ESTIMATE_PART)?;
        self.refresh_statistics(worker)?;
        self.free_orphans(worker)
    }

    /// Writes the exact counters. Call once, when no statement runs any more, before `Engine::shutdown`. Blocks.
    pub fn close(&self, worker: &Worker) -> Result<()> {
        self.persist_estimates(worker, u64::MAX)?;
        let _ddl = self.ddl.lock();
        let tables: Vec<_> = self.stored_tables().collect();
        let exact = |table: &Arc<Table>| table.counters.exact_bound_to_persist().map(|bound| (table.clone(), bound));
        let bounds: Vec<_> = tables.iter().filter_map(exact).collect();
        if bounds.is_empty() {
            return Ok(());
        }
        let mut catalog = CatalogTxn::begin(worker);
        for (table, bound) in &bounds {
            catalog.put_auto_increment(table.id(), *bound)?;
        }
        catalog.commit();
        bounds.iter().for_each(|(table, bound)| table.counters.bound_persisted(*bound));
        Ok(())
    }

    // --- for DDL ---

    pub(crate) fn lock_ddl(&self) -> MutexGuard<'_, DdlState> {
        self.ddl.lock()
    }

    pub(crate) fn published(&self) -> Arc<Published> {
        self.published.load_full()
    }

    /// Publishes the next version; `change` gets the present one. The proof of the lock is D1.
    pub(crate) fn publish(&self, _ddl: &mut DdlState, change: impl FnOnce(&mut NextVersion)) {
        let present = self.published.load_full();
        let version = present.schema.version + 1;
        let (databases, tables) = (present.schema.databases.clone(), present.tables.clone());
        let mut next = NextVersion { now: self.engine.commit_time(), databases, tables };
        change(&mut next);
        let children = ddl::foreign::children(&next.databases);
        let schema = Arc::new(Schema { version, databases: next.databases });
        self.published.store(Arc::new(Published { schema, tables: next.tables, children }));
        // Release: pairs with the Acquire in `schema_version`.
        self.version.store(version, Ordering::Release);
    }

    /// Publishes other open tables with the same schema: for temporary tables.
    pub(crate) fn change_tables(&self, _ddl: &mut DdlState, change: impl FnOnce(&mut HashMap<TableId, Arc<Table>>)) {
        let mut next = Published::clone(&self.published.load());
        change(&mut next.tables);
        self.published.store(Arc::new(next));
    }

    /// The open tables that the catalog has.
    pub(crate) fn stored_tables(&self) -> impl Iterator<Item = Arc<Table>> + use<> {
        self.tables().into_iter().filter(|table| !table.id().is_temporary())
    }

    /// A handle for a table with fresh counters.
    pub(crate) fn new_counters(&self, auto_increment: Option<u64>) -> Arc<Counters> {
        Arc::new(Counters::new(self.engine.worker_slots(), auto_increment, 0))
    }

    pub(crate) fn new_mdl(&self) -> Arc<MetadataLock> {
        MetadataLock::new(self.engine.worker_slots())
    }

    fn persist_estimates(&self, worker: &Worker, part: u64) -> Result<()> {
        // Under the mutex no table is dropped while its record is written.
        let _ddl = self.ddl.lock();
        let moved: Vec<_> =
            self.stored_tables().filter_map(|table| table.counters.rows_to_persist(part).map(|rows| (table, rows))).collect();
        if moved.is_empty() {
            return Ok(());
        }
        let mut catalog = CatalogTxn::begin(worker);
        for (table, rows) in &moved {
            catalog.put_estimate(table.id(), *rows)?;
        }
        catalog.commit();
        moved.iter().for_each(|(table, rows)| table.counters.set_rows_persisted(*rows));
        Ok(())
    }

    fn free_orphans(&self, worker: &Worker) -> Result<bool> {
        for _ in 0..FREE_SLICES_MAX {
            let Some(tree) = self.next_orphan() else { return Ok(false) };
            worker.tick();
            if !blocking(|| worker.drop_tree_slice(tree))? {
                continue;
            }
            let mut ddl = self.ddl.lock();
            let mut catalog = CatalogTxn::begin(worker);
            catalog.remove_orphan(tree)?;
            catalog.commit();
            ddl.orphans.retain(|orphan| *orphan != tree);
            ddl.seen_at.remove(&tree.id);
        }
        Ok(self.next_orphan().is_some())
    }

    /// An orphan that nobody looks into any more.
    fn next_orphan(&self) -> Option<TreeRef> {
        let mut ddl = self.ddl.lock();
        let Some(reader) = self.reader.get() else { return ddl.orphans.last().copied() };
        let (end, reached) = (self.engine.log_end(), reader.load(Ordering::Acquire));
        let DdlState { orphans, seen_at, .. } = &mut *ddl;
        // Its table was dropped by a commit that is durable, so the log up to here has all that refers to it.
        orphans.iter().rev().copied().find(|tree| *seen_at.entry(tree.id).or_insert(end) <= reached)
    }

    /// Keeps dropped trees until the reader of the log has come as far as the log was then: `reached` is its position.
    pub fn keep_trees_for_reader(&self, reached: Arc<AtomicU64>) {
        // The first reader stays the only one.
        let _ = self.reader.set(reached);
    }
}

/// The version being built.
pub(crate) struct NextVersion {
    /// The time of the commit clock. Rows of new trees, and the catalog's record of them, were committed before.
    pub now: u64,
    pub databases: BTreeMap<String, Arc<DatabaseDef>>,
    pub tables: HashMap<TableId, Arc<Table>>,
}

impl NextVersion {
    /// Adds the table, or replaces the one with its id.
    pub fn put_table(&mut self, table: Table) {
        let def = table.def().clone();
        if let Some(before) = self.tables.insert(def.id, Arc::new(table)) {
            before.set_replaced();
            self.remove_name(before.def());
        }
        if let Some(database) = self.databases.get_mut(&def.database) {
            Arc::make_mut(database).tables.insert(def.name.clone(), def);
        }
    }

    /// Adds the routine, or replaces the one of its name.
    pub fn put_routine(&mut self, routine: RoutineDef) {
        if let Some(database) = self.databases.get_mut(&routine.database) {
            Arc::make_mut(database).routines.insert(routine.key(), Arc::new(routine));
        }
    }

    /// Adds the event, or replaces the one of its name.
    pub fn put_event(&mut self, event: EventDef) {
        if let Some(database) = self.databases.get_mut(&event.program.database) {
            Arc::make_mut(database).events.insert(event.key(), Arc::new(event));
        }
    }

    pub fn remove_event(&mut self, event: &EventDef) {
        if let Some(database) = self.databases.get_mut(&event.program.database) {
            Arc::make_mut(database).events.remove(&event.key());
        }
    }

    /// Replaces the handle of an unchanged table, so that existing plans become stale. Its metadata lock is held
    /// exclusively.
    pub fn reopen(&mut self, table: &Table) {
        let stored = StoredTable { def: table.def().clone(), blob_tree: table.blob_tree };
        self.put_table(table.successor(&stored, table.counters.clone(), 0));
    }

    pub fn remove_table(&mut self, id: TableId) {
        if let Some(before) = self.tables.remove(&id) {
            before.set_replaced();
            self.remove_name(before.def());
        }
    }

    fn remove_name(&mut self, def: &TableDef) {
        let Some(database) = self.databases.get_mut(&def.database) else { return };
        // A swap of names may have put another table there already.
        if database.tables.get(&def.name).is_some_and(|present| present.id == def.id) {
            Arc::make_mut(database).tables.remove(&def.name);
        }
    }
}

fn open_all(mut contents: Contents, worker_slots: usize) -> Result<Published> {
    let mut databases: BTreeMap<String, DatabaseDef> = contents
        .databases
        .into_iter()
        .map(|(name, collation)| {
            let (tables, routines, events) = Default::default();
            (name.clone(), DatabaseDef { name, collation, tables, routines, events })
        })
        .collect();
    let mut tables = HashMap::with_capacity(contents.tables.len());
    for stored in &contents.tables {
        let def = &stored.def;
        let Some(database) = databases.get_mut(&def.database) else {
            return Err(Error::CorruptCatalog { what: format!("table {} is in no database", def.name) });
        };
        if database.tables.insert(def.name.clone(), def.clone()).is_some() {
            return Err(Error::CorruptCatalog { what: format!("two tables are called {}.{}", def.database, def.name) });
        }
        let (bound, rows) = (contents.auto_increment.get(&def.id), contents.estimates.get(&def.id));
        let counters = Counters::new(worker_slots, bound.copied(), rows.copied().unwrap_or(0));
        if let Some(statistics) = contents.statistics.remove(&def.id) {
            counters.set_statistics(Arc::new(statistics));
        }
        let table = open_table(stored, Arc::new(counters), MetadataLock::new(worker_slots));
        tables.insert(def.id, Arc::new(table));
    }
    for routine in contents.routines {
        let Some(database) = databases.get_mut(&routine.database) else {
            return Err(Error::CorruptCatalog { what: format!("routine {} is in no database", routine.name) });
        };
        database.routines.insert(routine.key(), Arc::new(routine));
    }
    for event in contents.events {
        let Some(database) = databases.get_mut(&event.program.database) else {
            return Err(Error::CorruptCatalog { what: format!("event {} is in no database", event.program.name) });
        };
        database.events.insert(event.key(), Arc::new(event));
    }
    let databases = databases.into_iter().map(|(name, database)| (name, Arc::new(database))).collect();
    let children = ddl::foreign::children(&databases);
    Ok(Published { schema: Arc::new(Schema { version: 1, databases }), tables, children })
}

fn open_table(stored: &StoredTable, counters: Arc<Counters>, mdl: Arc<MetadataLock>) -> Table {
    Table::open(stored, counters, mdl, 0)
}
