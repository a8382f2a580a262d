//! Temporary tables: they belong to one session, are in no published schema, and end with the session or the server.
//!
//! Their trees are ordinary trees that stay recorded as orphans in the catalog (`catalog`, C1), so that the next start
//! frees them whatever happened. The catalog has nothing else about them. They are among the open tables, so that plans
//! find them by id.
//!
//! T1: temporary tables have ids of their own range ([`TableId::is_temporary`]), and nothing is written in the catalog
//!     under these ids.
//! T2: a table is dropped when its session has no open transaction, so nothing rolls its rows back later.

use super::build::{Build, Copy, Keys, Work};
use super::online::Changed;
use super::{
    Algorithm, AlterAction, Altered, DdlOptions, ForeignKeyError, NewTable, NewTrees, alter, define, missing_table, trees_of,
};
use crate::catalog::StoredTable;
use crate::counters::Counters;
use crate::{Database, Error, Result, Table};
use std::sync::Arc;
use txn::Worker;
use types::schema::{TableDef, TableId};

impl Database {
    /// Makes a table that only the caller knows. It has no foreign keys (1215). Blocks.
    pub fn create_temporary_table(&self, worker: &Worker, table: NewTable, options: &DdlOptions) -> Result<Arc<TableDef>> {
        if !table.foreign_keys.is_empty() {
            return Err(Error::ForeignKey(Box::new(ForeignKeyError::UnfitParent)));
        }
        let first = table.auto_increment.unwrap_or(1);
        let def = self.check_table(table, options)?;
        let (mut trees, table) = self.new_temporary(worker, def, first)?;
        trees.adopt();
        Ok(self.open_temporary(table))
    }

    /// ALTER TABLE of a temporary table: makes another table with its rows, which the caller puts in its place. The old
    /// table stays until it is dropped. Its session has no open transaction. Blocks.
    pub fn alter_temporary_table(
        &self,
        worker: &Worker,
        def: &TableDef,
        mut actions: Vec<AlterAction>,
        options: &DdlOptions,
    ) -> Result<(Arc<TableDef>, Altered)> {
        let missing = || missing_table(&(def.database.clone(), def.name.clone()));
        let old = self.table(def.id).ok_or_else(missing)?;
        actions.push(AlterAction::Rebuild);
        let plan = alter::plan(old.def(), actions, options)?;
        if !plan.added_keys.is_empty() {
            return Err(Error::ForeignKey(Box::new(ForeignKeyError::UnfitParent)));
        }
        options.check_expressions(&plan.def)?;
        if matches!(options.algorithm, Algorithm::Instant | Algorithm::InPlace) {
            return Err(Error::NotInPlace { instant: options.algorithm == Algorithm::Instant });
        }
        let first = plan.auto_increment.or(old.next_auto_increment()).unwrap_or(1);
        let (mut trees, new) = self.new_temporary(worker, plan.def, first)?;
        let work = Work::Copy(Box::new(Copy::new(worker, &old, &new, &plan.sources, options, Keys::Unneeded)?));
        let mut build = Build { worker, old: &old, new: &new, options, work, watch: None, changed: Changed::default() };
        build.fill()?;
        let altered = build.altered();
        trees.adopt();
        Ok((self.open_temporary(new), altered))
    }

    /// A table with its own trees, which nobody knows yet. They stay orphans in the catalog; once adopted they are not
    /// freed.
    fn new_temporary(&self, worker: &Worker, mut def: TableDef, first: u64) -> Result<(NewTrees<'_>, Table)> {
        let mut trees = NewTrees::create(self, worker, def.indexes.len() + usize::from(define::needs_blob_tree(&def)))?;
        let blob_tree = trees.assign(&mut def, &[]);
        let mut ddl = self.lock_ddl();
        def.id = TableId::temporary(ddl.next_temporary);
        ddl.next_temporary += 1;
        drop(ddl);
        let stored = StoredTable { def: Arc::new(def), blob_tree };
        let counters = Arc::new(Counters::unleased(self.engine().worker_slots(), first));
        Ok((trees, Table::open(&stored, counters, self.new_mdl(), 0)))
    }

    fn open_temporary(&self, table: Table) -> Arc<TableDef> {
        let def = Arc::clone(table.def());
        let table = Arc::new(table);
        self.change_tables(&mut self.lock_ddl(), |tables| drop(tables.insert(def.id, table)));
        def
    }

    /// Drops temporary tables (T2).
    pub fn drop_temporary_tables(&self, ids: &[TableId]) {
        let mut ddl = self.lock_ddl();
        let mut dropped = Vec::new();
        self.change_tables(&mut ddl, |tables| dropped.extend(ids.iter().filter_map(|id| tables.remove(id))));
        for table in &dropped {
            table.set_replaced();
            ddl.orphans.extend(trees_of(table));
        }
    }
}
