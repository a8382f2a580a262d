//! DDL: changes of the schema, in blocking style, on a thread that may block and owns its own `txn::Worker`.
//!
//! ```text
//! 1. take the metadata locks of the tables alone (new users wait, present ones finish)
//! 2. make new trees, recorded as orphans; fill them in transactions of bounded size
//! 3. under the DDL mutex: check names again, one catalog transaction that links new trees and unlinks old ones
//! 4. when that is durable: publish the new schema, give the locks back; old trees are freed in the background
//! ```
//!
//! A crash before the commit of step 3 leaves the old table and orphans, one after it the new table and orphans (`catalog`, C1 and C2).
//! The caller's own session must not hold a share of a table it changes (MySQL commits implicitly before DDL).

mod alter;
mod build;
pub(crate) mod define;
pub(crate) mod foreign;
mod related;
mod validate;

pub use foreign::{ForeignKeyError, NewForeignKey, constraint_text};

use crate::catalog::{CatalogTxn, StoredTable, blocking};
use crate::database::Published;
use crate::mdl::ExclusiveGuard;
use crate::{Database, Error, NameOf, Result, Table};
use related::{alter_related, by_names, check_renamed, followed_children, renamed_definitions};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use txn::{TreeRef, Worker};
use types::CollationId;
use types::schema::{ColumnDef, DatabaseDef, IndexKind, TableDef, TableId};
use types::temporal::{DateRules, TimeZone};

/// What a DDL statement may wait for, and how it is stopped.
#[derive(Clone, Debug)]
pub struct DdlOptions {
    /// How long to wait for others to stop using a table.
    pub lock_wait_timeout: Duration,
    /// Set by KILL; looked at between slices of work.
    pub cancelled: Option<Arc<AtomicBool>>,
    /// How ALTER TABLE converts rows.
    pub conversion: Conversion,
    /// `foreign_key_checks`: without, parents may be missing, and rows are not looked at.
    pub foreign_key_checks: bool,
}

/// What the conversion of rows takes from the session (see `types::convert::StoreContext`).
#[derive(Clone, Debug)]
pub struct Conversion {
    pub strict: bool,
    pub dates: DateRules,
    pub zone: TimeZone,
    pub now_utc_micros: i64,
}

impl Default for DdlOptions {
    fn default() -> Self {
        let (lock_wait_timeout, conversion) = (Duration::from_secs(50), Conversion::default());
        Self { lock_wait_timeout, cancelled: None, conversion, foreign_key_checks: true }
    }
}

impl Default for Conversion {
    fn default() -> Self {
        let dates = DateRules { no_zero_date: true, no_zero_in_date: true, allow_invalid: false };
        Self { strict: true, dates, zone: TimeZone::Utc, now_utc_micros: define::now_us() }
    }
}

/// One action of ALTER TABLE; several are applied together, in order.
#[derive(Clone, Debug)]
pub enum AlterAction {
    AddColumn {
        column: ColumnDef,
        position: ColumnPosition,
    },
    DropColumn {
        name: String,
    },
    /// MODIFY and CHANGE: `name` becomes `column` (whose name may differ).
    ChangeColumn {
        name: String,
        column: ColumnDef,
        position: ColumnPosition,
    },
    RenameColumn {
        name: String,
        to: String,
    },
    /// `None` drops the default.
    SetDefault {
        name: String,
        default: types::schema::ColumnDefault,
    },
    /// Its columns are looked up after all column actions.
    AddIndex {
        index: NewIndex,
    },
    DropIndex {
        name: String,
    },
    DropPrimaryKey,
    /// Its index is added where none of the table's will do.
    AddForeignKey {
        key: NewForeignKey,
    },
    DropForeignKey {
        name: String,
    },
    /// DROP CONSTRAINT: a foreign key, or a unique key.
    DropConstraint {
        name: String,
    },
    RenameIndex {
        name: String,
        to: String,
    },
    /// RENAME TO, within or across databases.
    RenameTable {
        database: String,
        name: String,
    },
    SetComment(String),
    SetCollation(CollationId),
    /// AUTO_INCREMENT = n
    SetAutoIncrement(u64),
    /// ENGINE = InnoDB, FORCE: rebuild.
    Rebuild,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnPosition {
    /// The end for a new column, its present place for a changed one.
    Default,
    First,
    After(String),
}

/// An index by column names.
#[derive(Clone, Debug)]
pub struct NewIndex {
    /// Empty: MySQL's automatic name (first column, `_2`, `_3` ...). Ignored for the primary key.
    pub name: String,
    pub kind: NewIndexKind,
    pub columns: Vec<NewIndexColumn>,
    pub comment: String,
    /// USING BTREE was written.
    pub using_btree: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewIndexKind {
    Primary,
    Unique,
    Secondary,
}

#[derive(Clone, Debug)]
pub struct NewIndexColumn {
    pub name: String,
    pub prefix: Option<u32>,
    pub descending: bool,
}

/// A table to create: names instead of positions, no trees.
#[derive(Clone, Debug)]
pub struct NewTable {
    pub database: String,
    pub name: String,
    pub columns: Vec<ColumnDef>,
    pub indexes: Vec<NewIndex>,
    pub foreign_keys: Vec<NewForeignKey>,
    pub collation: CollationId,
    pub comment: String,
    /// AUTO_INCREMENT = n
    pub auto_increment: Option<u64>,
}

impl NewTable {
    /// CREATE TABLE ... LIKE: the same columns and indexes under another name, without foreign keys.
    pub fn like(def: &TableDef, database: &str, name: &str) -> Self {
        let real = def.indexes.iter().filter(|index| index.kind != IndexKind::HiddenRowId);
        let indexes = real.map(|index| NewIndex {
            name: index.name.clone(),
            kind: match index.kind {
                IndexKind::Primary => NewIndexKind::Primary,
                IndexKind::Unique => NewIndexKind::Unique,
                IndexKind::Secondary | IndexKind::HiddenRowId => NewIndexKind::Secondary,
            },
            columns: index
                .columns
                .iter()
                .map(|part| NewIndexColumn {
                    name: def.columns[part.column].name.clone(),
                    prefix: part.prefix,
                    descending: part.descending,
                })
                .collect(),
            comment: index.comment.clone(),
            using_btree: index.using_btree,
        });
        Self {
            database: database.to_string(),
            name: name.to_string(),
            columns: def.columns.clone(),
            indexes: indexes.collect(),
            foreign_keys: Vec::new(),
            collation: def.collation,
            comment: def.comment.clone(),
            auto_increment: None,
        }
    }
}

impl DdlOptions {
    fn check_cancelled(&self) -> Result<()> {
        // Relaxed: a plain request to stop, nothing is published through it.
        match self.cancelled.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            true => Err(Error::Interrupted),
            false => Ok(()),
        }
    }
}

impl Database {
    /// 1007 when it exists.
    pub fn create_database(&self, worker: &Worker, name: &str, collation: CollationId) -> Result<()> {
        define::check_name(NameOf::Database, name)?;
        let mut ddl = self.lock_ddl();
        if self.published().schema.databases.contains_key(name) {
            return Err(Error::DatabaseExists { database: name.to_string() });
        }
        let mut catalog = CatalogTxn::begin(worker);
        catalog.put_database(name, collation)?;
        catalog.commit();
        self.publish(&mut ddl, |next| {
            let database = DatabaseDef { name: name.to_string(), collation, tables: Default::default() };
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
            catalog.remove_database(name)?;
            catalog.commit();
            self.publish(&mut ddl, |next| {
                locked.tables.iter().for_each(|table| next.remove_table(table.id()));
                next.databases.remove(name);
            });
            ddl.orphans.extend(locked.tables.iter().flat_map(|table| trees_of(table)));
            return Ok(locked.tables.len());
        }
    }

    /// Checks the definition as MySQL does, orders the indexes (primary, unique, others), makes the trees and publishes the table.
    pub fn create_table(&self, worker: &Worker, table: NewTable) -> Result<TableId> {
        self.create_table_with(worker, table, &DdlOptions::default())
    }

    /// As `create_table`. Tables that foreign keys make its parents or children are locked meanwhile.
    pub fn create_table_with(&self, worker: &Worker, table: NewTable, options: &DdlOptions) -> Result<TableId> {
        let auto_increment = table.auto_increment;
        let mut def = self.check_table(table)?;
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
            next.put_table(Table::open(&stored, counters, mdl, next.version));
            // F2
            locked.tables.iter().for_each(|table| next.reopen(table));
        });
        Ok(id)
    }

    /// The definition that `create_table` would make, checked, without making it (also for CREATE TABLE ... LIKE / SELECT).
    pub fn check_table(&self, table: NewTable) -> Result<TableDef> {
        let def = define::define(table)?;
        check_database(&self.published(), &def.database)?;
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
        self.publish(&mut ddl, |next| next.put_table(Table::open(&stored, counters, old.mdl.clone(), next.version)));
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
                next.put_table(Table::open(stored, table.counters.clone(), table.mdl.clone(), table.rebuilt_at()));
            }
            // F2: a key that waited for this name has a parent now.
            let kept = locked.tables.iter().filter(|table| changed.iter().all(|(stored, _)| stored.def.id != table.id()));
            kept.for_each(|table| next.reopen(table));
        });
        Ok(())
    }

    /// CREATE INDEX; builds it from the rows. 1062 when a unique one finds a duplicate.
    pub fn create_index(
        &self,
        worker: &Worker,
        database: &str,
        table: &str,
        index: NewIndex,
        options: &DdlOptions,
    ) -> Result<()> {
        self.alter_table(worker, database, table, vec![AlterAction::AddIndex { index }], options).map(drop)
    }

    /// DROP INDEX; 1091 when it does not exist. `PRIMARY` drops the primary key.
    pub fn drop_index(&self, worker: &Worker, database: &str, table: &str, name: &str, options: &DdlOptions) -> Result<()> {
        self.alter_table(worker, database, table, vec![AlterAction::DropIndex { name: name.to_string() }], options).map(drop)
    }

    /// ALTER TABLE: in place where only names, comments, defaults or secondary indexes change, else by copying the rows into new trees.
    /// Returns the number of rows copied.
    pub fn alter_table(
        &self,
        worker: &Worker,
        database: &str,
        table: &str,
        actions: Vec<AlterAction>,
        options: &DdlOptions,
    ) -> Result<u64> {
        let names = (database.to_string(), table.to_string());
        let related = |published: &Published| alter_related(published, &names, &actions);
        let (locked, ddl) = self.lock_tables(worker, related, options)?;
        drop(ddl);
        let is_target = |table: &&Arc<Table>| (&table.def().database, &table.def().name) == (&names.0, &names.1);
        let old = locked.tables.iter().find(is_target).ok_or_else(|| missing_table(&names))?;
        let plan = alter::plan(old.def(), actions.clone())?;
        let is_renamed = (&plan.def.database, &plan.def.name) != (&old.def().database, &old.def().name);
        let checks = options.foreign_key_checks;
        let check = |published: &Published, def: &TableDef| {
            if is_renamed {
                check_database(published, &def.database)?;
                check_table_free(published, &def.database, &def.name)?;
                foreign::check_waiting(published, def, checks)?;
            }
            foreign::check_altered(published, old.def(), def, &plan.renamed, checks)
        };
        check(&self.published(), &plan.def)?;
        let (copies, sources, requested) = (plan.copies, &plan.sources, plan.auto_increment);
        let kept = if copies { vec![None; plan.def.indexes.len()] } else { plan.kept.clone() };
        let mut def = plan.def.clone();
        let needs_blobs = define::needs_blob_tree(&def);
        let old_blob_tree = old.blob_tree.filter(|_| !copies);
        let count = kept.iter().filter(|k| k.is_none()).count() + usize::from(needs_blobs && old_blob_tree.is_none());
        let mut trees = NewTrees::create(self, worker, count)?;
        let blob_tree = trees.assign(&mut def, &kept).or(old_blob_tree);
        let stored = StoredTable { def: Arc::new(def), blob_tree };

        let had_auto = old.next_auto_increment();
        let counters = match copies {
            true => self.new_counters(had_auto),
            false => old.counters.clone(),
        };
        let new = Table::open(&stored, counters.clone(), old.mdl.clone(), 0);
        let rows = match copies {
            true => build::copy_rows(worker, old, &new, sources, options)?,
            false => {
                for index in (0..kept.len()).filter(|k| kept[*k].is_none()) {
                    build::fill_index(worker, &new, index, options)?;
                }
                0
            }
        };
        if checks {
            for key in stored.def.foreign_keys.iter().filter(|key| plan.added_keys.contains(&key.name)) {
                validate::check_rows(worker, &new, key, &self.published(), options)?;
            }
        }
        let has_auto = stored.def.columns.iter().any(|c| c.auto_increment);
        let next_auto = (has_auto && (copies || requested.is_some())).then(|| requested.unwrap_or_else(|| counters.next_auto()));

        let mut ddl = self.lock_ddl();
        check(&self.published(), &stored.def)?;
        let children = followed_children(&locked, old, &stored.def, &plan.renamed);
        let new_trees: Vec<TreeRef> = trees_of(&new).collect();
        let dropped: Vec<TreeRef> = trees_of(old).filter(|tree| !new_trees.contains(tree)).collect();
        let mut catalog = CatalogTxn::begin(worker);
        catalog.put_table(&stored)?;
        for (child, _) in &children {
            catalog.put_table(child)?;
        }
        if let Some(next) = next_auto {
            catalog.put_auto_increment(stored.def.id, next)?;
        }
        for tree in &dropped {
            catalog.put_orphan(*tree)?;
        }
        trees.link(&mut catalog)?;
        catalog.commit();
        if let Some(next) = next_auto {
            counters.restart_at(next);
        }
        let is_rebuilt = trees.count() > 0;
        trees.adopt();
        self.publish(&mut ddl, |next| {
            let rebuilt_at = if is_rebuilt { next.version } else { old.rebuilt_at() };
            next.put_table(Table::open(&stored, counters, old.mdl.clone(), rebuilt_at));
            for table in locked.tables.iter().filter(|table| table.id() != old.id()) {
                match children.iter().find(|(child, _)| child.def.id == table.id()) {
                    Some((child, _)) => {
                        next.put_table(Table::open(child, table.counters.clone(), table.mdl.clone(), table.rebuilt_at()));
                    }
                    // F2
                    None => next.reopen(table),
                }
            }
        });
        ddl.orphans.extend(dropped);
        Ok(rows)
    }

    /// Takes tables alone and the DDL mutex: those that `find` finds in the published schema, and still finds when it has them.
    fn lock_tables(
        &self,
        worker: &Worker,
        find: impl Fn(&Published) -> Result<Vec<Arc<Table>>>,
        options: &DdlOptions,
    ) -> Result<(LockedTables, parking_lot::MutexGuard<'_, crate::database::DdlState>)> {
        let deadline = Instant::now() + options.lock_wait_timeout;
        loop {
            let locked = LockedTables::lock(worker, find(&self.published())?, deadline, options)?;
            let ddl = self.lock_ddl();
            let published = self.published();
            let is_locked = |table: &Arc<Table>| locked.tables.iter().any(|other| Arc::ptr_eq(other, table));
            if locked.are_current(&published) && find(&published)?.iter().all(is_locked) {
                return Ok((locked, ddl));
            }
        }
    }
}

/// Tables whose metadata locks are held alone.
struct LockedTables {
    tables: Vec<Arc<Table>>,
    _guards: Vec<ExclusiveGuard>,
}

impl LockedTables {
    /// Locks in the order of table ids, so that two DDL statements do not wait for each other.
    fn lock(worker: &Worker, mut tables: Vec<Arc<Table>>, deadline: Instant, options: &DdlOptions) -> Result<Self> {
        tables.sort_by_key(|table| table.id());
        tables.dedup_by_key(|table| table.id());
        // A long wait must not hold old versions back.
        worker.park();
        let guards = tables.iter().map(|table| lock_one(table, deadline, options)).collect::<Result<Vec<_>>>();
        worker.tick();
        Ok(Self { tables, _guards: guards? })
    }

    /// Nobody replaced a table between the look at the schema and the lock.
    fn are_current(&self, published: &Published) -> bool {
        self.tables.iter().all(|table| published.tables.get(&table.id()).is_some_and(|now| Arc::ptr_eq(now, table)))
    }
}

/// Waits for the lock, looking at `cancelled` now and then.
fn lock_one(table: &Table, deadline: Instant, options: &DdlOptions) -> Result<ExclusiveGuard> {
    let mut wait = table.mdl.acquire_exclusive();
    loop {
        options.check_cancelled()?;
        let until = deadline.min(Instant::now() + Duration::from_millis(100));
        if let Some(guard) = wait.wait_blocking(until) {
            return Ok(guard);
        }
        if Instant::now() >= deadline {
            return Err(Error::LockWaitTimeout);
        }
    }
}

/// Trees made for a DDL statement. Unless adopted they are freed as orphans. Made before, and dropped after, the DDL mutex is held.
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
            let tree = blocking(|| worker.create_tree())?;
            new.trees.push(tree);
            catalog.put_orphan(tree)?;
        }
        // The transaction that links them follows in the same worker's log.
        catalog.commit_soon();
        Ok(new)
    }

    /// Gives the trees to the indexes of `def` that keep none (`kept`; empty: all); returns the one left over, for large values.
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

    fn count(&self) -> usize {
        self.trees.len()
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
    match published.schema.databases.contains_key(name) {
        true => Ok(()),
        false => Err(Error::UnknownDatabase { database: name.to_string() }),
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
        define::check_name(NameOf::Table, name)?;
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
        changed.insert(from, None);
        changed.insert(to.clone(), Some(id));
        moved.insert(id, to);
    }
    Ok(moved)
}
