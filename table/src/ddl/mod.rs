//! DDL: changes of the schema, in blocking style, on a thread that may block and owns its own `txn::Worker`.
//!
//! ```text
//! 1. take the metadata locks of the tables alone (`locks`: new users wait, present ones finish)
//! 2. make new trees, recorded as orphans; fill them in transactions of bounded size (`apply`: while users go on)
//! 3. under the DDL mutex: check names again, one catalog transaction that links new trees and unlinks old ones
//! 4. when that is durable: publish the new schema, give the locks back; old trees are freed in the background
//! ```
//!
//! A crash before the commit of step 3 leaves the old table and orphans, one after it the new table and orphans (`catalog`, C1 and C2).
//! The caller's own session must not hold a share of a table it changes (MySQL commits implicitly before DDL).

mod alter;
mod apply;
mod build;
mod checks;
pub(crate) mod define;
mod entries;
mod event;
mod exchange;
pub(crate) mod foreign;
mod functional;
mod locks;
mod name;
mod online;
mod partition;
mod progress;
mod related;
mod routine;
mod take_out;
mod temporary;
mod trigger;
mod validate;
mod view;

pub use foreign::{ForeignKeyError, constraint_text};
pub use trigger::TriggerPlace;
pub use view::ViewChange;

pub use types::definition::{
    Algorithm, AlterAction, ColumnPosition, Lock, NewCheck, NewForeignKey, NewIndex, NewIndexColumn, NewIndexKind, NewTable,
    PartitionChange,
};

use crate::catalog::{CatalogTxn, StoredTable, blocking};
use crate::database::Published;
use crate::{Database, Error, NameOf, Result, Table};
use locks::LockedTables;
use os::time::Instant;
pub use progress::{Progress, Stage, Work};
use related::{by_names, check_renamed, renamed_definitions};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use sync::atomic::{AtomicBool, Ordering};
use txn::{TreeRef, Worker};
use types::CollationId;
use types::Value;
use types::schema::{ColumnDef, DatabaseDef, KeyPartType, RowExpr, TableDef, TableId};
use types::temporal::{DateRules, TimeZone};

/// What a DDL statement may wait for, and how it is stopped.
#[derive(Clone, Debug)]
pub struct DdlOptions {
    /// The session that runs it; 0 for the server itself.
    pub session: u32,
    /// How long to wait for others to stop using a table.
    pub lock_wait_timeout: Duration,
    /// Set by KILL; checked between slices of work.
    pub cancelled: Option<Arc<AtomicBool>>,
    /// How ALTER TABLE converts rows.
    pub conversion: Conversion,
    /// `foreign_key_checks`: if off, parents may be missing, and rows are not checked.
    pub foreign_key_checks: bool,
    /// Checks and evaluates expressions; `None` if the definition has none.
    pub expressions: Option<Arc<dyn Expressions>>,
    pub algorithm: Algorithm,
    pub lock: Lock,
    /// Updated while the definition runs.
    pub progress: Arc<Progress>,
}

/// The operations on expressions that this crate leaves to others.
pub trait Expressions: Send + Sync + fmt::Debug {
    /// Checks the expressions of a whole definition.
    fn check(&self, def: &TableDef) -> Result<()>;

    /// The type of an expression that is a part of the index, over a row of these columns, and whether it may be NULL.
    fn key_part(&self, columns: &[ColumnDef], expr: &RowExpr, index: &str) -> Result<KeyPartType>;

    /// The rules for rewritten rows of `table`. `added` columns get the value of their default expression.
    fn row_rules<'t>(&self, table: &'t Table, added: &[usize]) -> Result<Box<dyn RowRules + 't>>;

    /// Rows of `table` that lie in one of these partitions.
    fn rows_of_partitions<'t>(&self, table: &'t Table, partitions: &[usize]) -> Result<Box<dyn RowChoice + 't>>;
}

/// Some of a table's rows.
pub trait RowChoice {
    /// Is this row, with one value for each column as it is stored, among them?
    fn takes(&mut self, values: &[Value<'_>]) -> Result<bool>;
}

/// Computes generated columns, and looks at CHECKs.
pub trait RowRules {
    /// `values` has one for each column.
    fn complete(&mut self, values: &mut [Value<'static>]) -> Result<()>;
}

/// The session's settings for the conversion of rows (see `types::convert::StoreContext`).
#[derive(Clone, Debug)]
pub struct Conversion {
    pub strict: bool,
    pub dates: DateRules,
    /// Digits of a fraction of a second that have no place are cut off, not rounded.
    pub truncate_fractional: bool,
    /// A zero in a new AUTO_INCREMENT column stays zero (NO_AUTO_VALUE_ON_ZERO).
    pub keeps_zero: bool,
    pub zone: TimeZone,
    pub now_utc_micros: i64,
}

impl Default for DdlOptions {
    fn default() -> Self {
        let (lock_wait_timeout, conversion) = (Duration::from_secs(50), Conversion::default());
        let (expressions, algorithm, lock) = (None, Algorithm::Default, Lock::Default);
        Self {
            session: 0,
            lock_wait_timeout,
            cancelled: None,
            conversion,
            foreign_key_checks: true,
            expressions,
            algorithm,
            lock,
            progress: Arc::default(),
        }
    }
}

impl Default for Conversion {
    fn default() -> Self {
        let dates = DateRules { no_zero_date: true, no_zero_in_date: true, allow_invalid: false };
        Self {
            strict: true,
            dates,
            truncate_fractional: false,
            keeps_zero: false,
            zone: TimeZone::Utc,
            now_utc_micros: define::now_us(),
        }
    }
}

/// The result of ALTER TABLE.
#[derive(Clone, Debug, Default)]
pub struct Altered {
    /// The number of rewritten rows.
    pub rows: u64,
    /// The first of the warnings of their conversion.
    pub warnings: Vec<ConversionWarning>,
    pub warning_count: u64,
}

/// A value of a row did not quite fit its new column.
#[derive(Clone, Debug)]
pub struct ConversionWarning {
    pub severity: types::convert::Severity,
    pub problem: types::convert::Problem,
    pub column: String,
    /// From 1.
    pub row: u64,
}

impl DdlOptions {
    fn judge(&self) -> functional::Judge<'_> {
        self.expressions.as_deref()
    }

    fn check_expressions(&self, def: &TableDef) -> Result<()> {
        match &self.expressions {
            Some(expressions) if def.has_row_rules() => expressions.check(def),
            None if def.has_row_rules() => Err(Error::NotSupported { what: "expressions in definitions" }),
            _ => Ok(()),
        }
    }

    fn check_cancelled(&self) -> Result<()> {
        // Relaxed: a plain request to stop, nothing is published through it.
        if self.cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) { Err(Error::Interrupted) } else { Ok(()) }
    }
}

impl Database {
    /// 1007 when it exists.
    pub fn create_database(&self, worker: &Worker, name: &str, collation: CollationId) -> Result<()> {
        name::check_name(NameOf::Database, name)?;
        let mut ddl = self.lock_ddl();
        if self.published().schema.databases.contains_key(name) {
            return Err(Error::DatabaseExists { database: name.to_string() });
        }
        let mut catalog = CatalogTxn::begin(worker);
        catalog.put_database(name, collation)?;
        catalog.commit();
        self.publish(&mut ddl, |next| {
            let (tables, routines, events) = Default::default();
            let database = DatabaseDef { name: name.to_string(), collation, tables, routines, events };
            next.databases.insert(name.to_string(), Arc::new(database));
        });
        Ok(())
    }

    /// ALTER DATABASE ... COLLATE.
    pub fn alter_database(&self, worker: &Worker, name: &str, collation: CollationId) -> Result<()> {
        let mut ddl = self.lock_ddl();
        check_database(&self.published(), name)?;
        let mut catalog = CatalogTxn::begin(worker);
        catalog.put_database(name, collation)?;
        catalog.commit();
        self.publish(&mut ddl, |next| {
            if let Some(database) = next.databases.get_mut(name) {
                Arc::make_mut(database).collation = collation;
            }
        });
        Ok(())
    }

    /// Drops the database with all its tables; returns how many. 1008 when it does not exist.
    pub fn drop_database(&self, worker: &Worker, name: &str, options: &DdlOptions) -> Result<usize> {
        let deadline = Instant::now() + options.lock_wait_timeout;
        loop {
            let published = self.published();
            let missing = || Error::DatabaseMissing { database: name.to_string() };
            let before = published.schema.databases.get(name).ok_or_else(missing)?;
            let handles = before.tables.values().filter_map(|def| published.tables.get(&def.id).cloned()).collect();
            let locked = LockedTables::lock(worker, handles, deadline, options)?;
            let mut ddl = self.lock_ddl();
            let now = self.published();
            let same =
                now.schema.databases.get(name).is_some_and(|d| d.tables.len() == locked.tables.len()) && locked.are_current(&now);
            if !same {
                continue;
            }
            if options.foreign_key_checks {
                foreign::check_dropped(&now, &locked.tables)?;
            }
            let mut catalog = CatalogTxn::begin(worker);
            for table in &locked.tables {
                unlink_table(&mut catalog, table)?;
            }
            for routine in now.schema.databases.get(name).into_iter().flat_map(|database| database.routines.values()) {
                catalog.remove_routine(routine)?;
            }
            for event in now.schema.databases.get(name).into_iter().flat_map(|database| database.events.values()) {
                catalog.remove_event(event)?;
            }
            catalog.remove_database(name)?;
            catalog.commit();
            self.publish(&mut ddl, |next| {
                locked.tables.iter().for_each(|table| next.remove_table(table.id()));
                next.databases.remove(name);
            });
            self.forget_event_runs(name);
            ddl.orphans.extend(locked.tables.iter().flat_map(|table| trees_of(table)));
            return Ok(locked.tables.len());
        }
    }

    /// Checks the definition by MySQL's rules, orders the indexes (primary, unique, others), makes the trees and
    /// publishes the table.
    pub fn create_table(&self, worker: &Worker, table: NewTable) -> Result<TableId> {
        self.create_table_with(worker, table, &DdlOptions::default())
    }

    /// As `create_table`. Tables that foreign keys make its parents or children are locked meanwhile.
    pub fn create_table_with(&self, worker: &Worker, table: NewTable, options: &DdlOptions) -> Result<TableId> {
        let auto_increment = table.auto_increment;
        let mut def = self.check_table(table, options)?;
        check_table_free(&self.published(), &def.database, &def.name)?;
        let mut trees = NewTrees::create(self, worker, def.indexes.len() + usize::from(define::needs_blob_tree(&def)))?;
        let blob_tree = trees.assign(&mut def, &[]);

        let related = |published: &Published| {
            let mut related = foreign::parents(published, &def, &def.foreign_keys, options.foreign_key_checks)?;
            related.extend(foreign::referencing(published, &def.database, &def.name, None));
            Ok(related)
        };
        let (locked, mut ddl) = self.lock_tables(worker, related, options)?;
        let published = self.published();
        check_database(&published, &def.database)?;
        check_table_free(&published, &def.database, &def.name)?;
        foreign::check_new(&published, &def, options.foreign_key_checks)?;
        checks::check_names(&published, &def)?;
        def.id = TableId(ddl.next_table_id);
        let stored = StoredTable { def: Arc::new(def), blob_tree };
        let id = stored.def.id;
        let auto_increment = auto_increment.filter(|next| *next > 1 && stored.def.columns.iter().any(|c| c.auto_increment));

        let mut catalog = CatalogTxn::begin(worker);
        catalog.put_meta(ddl.next_table_id + 1)?;
        catalog.put_table(&stored)?;
        if let Some(next) = auto_increment {
            catalog.put_auto_increment(id, next)?;
        }
        trees.link(&mut catalog)?;
        catalog.commit();
        trees.adopt();
        ddl.next_table_id += 1;
        let (counters, mdl) = (self.new_counters(auto_increment), self.new_mdl());
        self.publish(&mut ddl, |next| {
            next.put_table(Table::open(&stored, counters, mdl, next.now));
            // F2
            locked.tables.iter().for_each(|table| next.reopen(table));
        });
        Ok(id)
    }

    /// The definition that `create_table` would make, checked, without making it (also for CREATE TABLE ... LIKE / SELECT).
    pub fn check_table(&self, table: NewTable, options: &DdlOptions) -> Result<TableDef> {
        let def = define::define(table, options.judge())?;
        check_database(&self.published(), &def.database)?;
        options.check_expressions(&def)?;
        Ok(def)
    }

    /// Drops the tables (database, name) as one atomic change; 1051 when one is missing.
    pub fn drop_tables(&self, worker: &Worker, tables: &[(String, String)], options: &DdlOptions) -> Result<()> {
        let unknown =
            |(database, table): &(String, String)| Error::UnknownTable { database: database.clone(), table: table.clone() };
        let (locked, mut ddl) = self.lock_tables(worker, by_names(tables, unknown), options)?;
        if options.foreign_key_checks {
            foreign::check_dropped(&self.published(), &locked.tables)?;
        }
        let mut catalog = CatalogTxn::begin(worker);
        for table in &locked.tables {
            unlink_table(&mut catalog, table)?;
        }
        catalog.commit();
        self.publish(&mut ddl, |next| locked.tables.iter().for_each(|table| next.remove_table(table.id())));
        ddl.orphans.extend(locked.tables.iter().flat_map(|table| trees_of(table)));
        Ok(())
    }

    /// Empties the table by giving it new trees; AUTO_INCREMENT starts over.
    pub fn truncate_table(&self, worker: &Worker, database: &str, name: &str, options: &DdlOptions) -> Result<()> {
        let names = [(database.to_string(), name.to_string())];
        let (locked, ddl) = self.lock_tables(worker, by_names(&names, missing_table), options)?;
        drop(ddl);
        let old = &locked.tables[0];
        if options.foreign_key_checks {
            foreign::check_truncated(&self.published(), old.def())?;
        }
        let mut def = TableDef::clone(old.def());
        def.forget_older_rows();
        let mut trees = NewTrees::create(self, worker, def.indexes.len() + usize::from(old.blob_tree.is_some()))?;
        let blob_tree = trees.assign(&mut def, &[]);
        let stored = StoredTable { def: Arc::new(def), blob_tree };

        let mut ddl = self.lock_ddl();
        let mut catalog = CatalogTxn::begin(worker);
        unlink_table(&mut catalog, old)?;
        catalog.put_table(&stored)?;
        trees.link(&mut catalog)?;
        catalog.commit();
        trees.adopt();
        let counters = self.new_counters(None);
        self.publish(&mut ddl, |next| next.put_table(Table::open(&stored, counters, old.mdl.clone(), next.now)));
        ddl.orphans.extend(trees_of(old));
        Ok(())
    }

    /// RENAME TABLE a TO b, c TO d: (from database, from name, to database, to name), in order, as one atomic change.
    pub fn rename_tables(
        &self,
        worker: &Worker,
        renames: &[(String, String, String, String)],
        options: &DdlOptions,
    ) -> Result<()> {
        // A later step may name what an earlier one made: only names that exist now are locked. So are the tables on the other side of
        // foreign keys to the old and the new names.
        let related = |published: &Published| {
            let mut tables = Vec::new();
            for (database, name, to_database, to_name) in renames {
                let found = published.schema.table(database, name).and_then(|def| published.tables.get(&def.id));
                tables.extend(found.cloned());
                tables.extend(foreign::referencing(published, database, name, None));
                tables.extend(foreign::referencing(published, to_database, to_name, None));
            }
            Ok(tables)
        };
        let (locked, mut ddl) = self.lock_tables(worker, related, options)?;
        let published = self.published();
        let moved = moved_names(&published, renames)?;
        let changed = renamed_definitions(&locked, &moved);
        check_renamed(&published, &changed, &moved)?;
        let mut catalog = CatalogTxn::begin(worker);
        for (stored, _) in &changed {
            catalog.put_table(stored)?;
        }
        catalog.commit();
        self.publish(&mut ddl, |next| {
            for (stored, table) in &changed {
                next.put_table(table.successor(stored, table.counters.clone(), 0));
            }
            // F2: a key that waited for this name has a parent now.
            let kept = locked.tables.iter().filter(|table| changed.iter().all(|(stored, _)| stored.def.id != table.id()));
            kept.for_each(|table| next.reopen(table));
        });
        Ok(())
    }
}

/// Trees made for a DDL statement. Unless adopted they are freed as orphans. Made before, and dropped after, the DDL
/// mutex is held.
struct NewTrees<'d> {
    database: &'d Database,
    trees: Vec<TreeRef>,
}

impl<'d> NewTrees<'d> {
    fn create(database: &'d Database, worker: &Worker, count: usize) -> Result<Self> {
        let mut new = Self { database, trees: Vec::with_capacity(count) };
        if count == 0 {
            return Ok(new);
        }
        let mut catalog = CatalogTxn::begin(worker);
        for _ in 0..count {
            let tree = blocking(|| worker.reserve_tree())?;
            new.trees.push(tree);
            catalog.put_orphan(tree)?;
        }
        // The trees, and the transaction that links them, follow in the same worker's log.
        catalog.commit_soon();
        new.trees.iter().try_for_each(|tree| blocking(|| worker.make_tree(*tree)))?;
        Ok(new)
    }

    /// Gives the trees to the indexes of `def` that keep none (`kept`; empty: all); returns the remaining one, for
    /// large values.
    fn assign(&mut self, def: &mut TableDef, kept: &[Option<usize>]) -> Option<TreeRef> {
        let mut trees = self.trees.iter().copied();
        for (k, index) in def.indexes.iter_mut().enumerate() {
            if kept.get(k).copied().flatten().is_none() {
                let tree = trees.next().expect("as many trees as indexes were made");
                (index.tree_id, index.root_page) = (tree.id, tree.root);
            }
        }
        trees.next()
    }

    fn first(&self) -> Option<TreeRef> {
        self.trees.first().copied()
    }

    /// Part of the transaction that refers to them.
    fn link(&self, catalog: &mut CatalogTxn<'_>) -> Result<()> {
        self.trees.iter().try_for_each(|tree| catalog.remove_orphan(*tree))
    }

    /// That transaction is durable.
    fn adopt(&mut self) {
        self.trees.clear();
    }
}

impl Drop for NewTrees<'_> {
    fn drop(&mut self) {
        if !self.trees.is_empty() {
            self.database.lock_ddl().orphans.append(&mut self.trees);
        }
    }
}

fn trees_of(table: &Table) -> impl Iterator<Item = TreeRef> + '_ {
    table.indexes.iter().map(|index| index.tree).chain(table.blob_tree)
}

/// Removes a table's records and records its trees as orphans.
fn unlink_table(catalog: &mut CatalogTxn<'_>, table: &Table) -> Result<()> {
    catalog.remove_table(table.id())?;
    trees_of(table).try_for_each(|tree| catalog.put_orphan(tree))
}

fn missing_table((database, table): &(String, String)) -> Error {
    Error::TableMissing { database: database.clone(), table: table.clone() }
}

fn check_database(published: &Published, name: &str) -> Result<()> {
    if published.schema.databases.contains_key(name) {
        Ok(())
    } else {
        Err(Error::UnknownDatabase { database: name.to_string() })
    }
}

fn check_table_free(published: &Published, database: &str, name: &str) -> Result<()> {
    match published.schema.table(database, name) {
        Some(_) => Err(Error::TableExists { table: name.to_string() }),
        None => Ok(()),
    }
}

/// Plays the renames one after the other; the final (database, name) of each table that moves.
fn moved_names(
    published: &Published,
    renames: &[(String, String, String, String)],
) -> Result<HashMap<TableId, (String, String)>> {
    // Names that differ from the published ones: `None` is "gone".
    let mut changed: HashMap<(String, String), Option<TableId>> = HashMap::new();
    let mut moved = HashMap::new();
    for (from_database, from_name, database, name) in renames {
        name::check_name(NameOf::Table, name)?;
        let look = |changed: &HashMap<(String, String), Option<TableId>>, key: &(String, String)| match changed.get(key) {
            Some(state) => *state,
            None => published.schema.table(&key.0, &key.1).map(|def| def.id),
        };
        let (from, to) = ((from_database.clone(), from_name.clone()), (database.clone(), name.clone()));
        let id = look(&changed, &from).ok_or_else(|| missing_table(&from))?;
        check_database(published, database)?;
        if look(&changed, &to).is_some() {
            return Err(Error::TableExists { table: name.clone() });
        }
        let is_view = published.schema.table(from_database, from_name).is_some_and(|def| def.id == id && def.view.is_some());
        if is_view && from_database != database {
            return Err(Error::ViewMoves { from: from_database.clone(), to: database.clone() });
        }
        if from_database != database && published.tables.get(&id).is_some_and(|table| !table.def().triggers.is_empty()) {
            return Err(Error::TriggerMoves);
        }
        changed.insert(from, None);
        changed.insert(to.clone(), Some(id));
        moved.insert(id, to);
    }
    Ok(moved)
}
