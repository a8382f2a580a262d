//! Views: their definitions in the catalog and in the schema.
//!
//! A view is among the tables of its database, with an id and a metadata lock of its own, but without trees. A
//! statement that reads through it holds a share of its lock and of the locks of its tables; changing or dropping it
//! takes its lock exclusively. Defining a view does not lock its tables: a view outlives them.

use super::{DdlOptions, check_database, define, name, unlink_table};
use crate::catalog::{CatalogTxn, StoredTable};
use crate::database::Published;
use crate::{Database, Error, NameOf, Result, Table};
use std::sync::Arc;
use txn::Worker;
use types::schema::{TableDef, TableId};

/// The treatment of an existing object of the view's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ViewChange {
    /// CREATE VIEW: there must be nothing of the name.
    Create,
    /// CREATE OR REPLACE VIEW
    Replace,
    /// ALTER VIEW: there must be one.
    Alter,
}

impl Database {
    /// Defines a view; `def` has no id yet. 1050, 1146 or 1347 as `change` asks.
    pub fn put_view(&self, worker: &Worker, mut def: TableDef, change: ViewChange, options: &DdlOptions) -> Result<()> {
        name::check_name(NameOf::Table, &def.name)?;
        check_database(&self.published(), &def.database)?;
        let (database, name) = (def.database.clone(), def.name.clone());
        let present = |published: &Published| match (published.schema.table(&database, &name), change) {
            (Some(_), ViewChange::Create) => Err(Error::TableExists { table: name.clone() }),
            (Some(old), _) if old.view.is_none() => Err(Error::NotView { database: database.clone(), table: name.clone() }),
            (None, ViewChange::Alter) => Err(Error::TableMissing { database: database.clone(), table: name.clone() }),
            (Some(old), _) => Ok(published.tables.get(&old.id).cloned().into_iter().collect()),
            (None, _) => Ok(Vec::new()),
        };
        let (locked, mut ddl) = self.lock_tables(worker, present, options)?;
        check_database(&self.published(), &def.database)?;
        let old = locked.tables.first();
        def.created_us = define::now_us();
        def.id = old.map_or(TableId(ddl.next_table_id), |old| old.id());
        let stored = StoredTable { def: Arc::new(def), blob_tree: None };

        let mut catalog = CatalogTxn::begin(worker);
        if old.is_none() {
            catalog.put_meta(ddl.next_table_id + 1)?;
        }
        catalog.put_table(&stored)?;
        catalog.commit();
        let (counters, mdl) = match old {
            Some(old) => (old.counters.clone(), old.mdl.clone()),
            None => {
                ddl.next_table_id += 1;
                (self.new_counters(None), self.new_mdl())
            }
        };
        self.publish(&mut ddl, |next| next.put_table(Table::open(&stored, counters, mdl, next.now)));
        Ok(())
    }

    /// Drops the views (database, name) as one atomic change; 1051 when one is missing, 1347 when one is a table.
    pub fn drop_views(&self, worker: &Worker, views: &[(String, String)], options: &DdlOptions) -> Result<()> {
        let present = |published: &Published| {
            let find = |(database, table): &(String, String)| {
                let missing = || Error::UnknownTable { database: database.clone(), table: table.clone() };
                let def = published.schema.table(database, table).ok_or_else(missing)?;
                if def.view.is_none() {
                    return Err(Error::NotView { database: database.clone(), table: table.clone() });
                }
                published.tables.get(&def.id).cloned().ok_or_else(missing)
            };
            views.iter().map(find).collect()
        };
        let (locked, mut ddl) = self.lock_tables(worker, present, options)?;
        let mut catalog = CatalogTxn::begin(worker);
        for view in &locked.tables {
            unlink_table(&mut catalog, view)?;
        }
        catalog.commit();
        self.publish(&mut ddl, |next| locked.tables.iter().for_each(|view| next.remove_table(view.id())));
        Ok(())
    }
}
