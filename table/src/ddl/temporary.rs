//! Temporary tables: of one session, in no published schema, gone with the session or with the server.
//!
//! Their trees are ordinary ones that stay recorded as orphans in the catalog (`catalog`, C1), so that the next start frees them whatever
//! happened; the catalog has nothing else of them. They are among the open tables, so that plans find them by their id.
//!
//! T1: the ids of temporary tables are those of no others ([`TableId::is_temporary`]), and nothing is written in the catalog under them.
//! T2: a table is dropped when its session has no open transaction, so nothing rolls its rows back later.

use super::{DdlOptions, ForeignKeyError, NewTable, NewTrees, define, trees_of};
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
        let mut def = self.check_table(table)?;
        options.check_expressions(&def)?;
        let mut trees = NewTrees::create(self, worker, def.indexes.len() + usize::from(define::needs_blob_tree(&def)))?;
        let blob_tree = trees.assign(&mut def, &[]);
        let mut ddl = self.lock_ddl();
        def.id = TableId::temporary(ddl.next_temporary);
        ddl.next_temporary += 1;
        let stored = StoredTable { def: Arc::new(def), blob_tree };
        // They stay orphans in the catalog, but are not to be freed yet.
        trees.adopt();
        let counters = Arc::new(Counters::unleased(self.engine().worker_slots(), first));
        let table = Arc::new(Table::open(&stored, counters, self.new_mdl(), 0));
        self.change_tables(&mut ddl, |tables| drop(tables.insert(stored.def.id, table)));
        Ok(stored.def)
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
