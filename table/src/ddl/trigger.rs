//! Triggers: parts of their tables' definitions. Creating or dropping one locks the table exclusively, so no statement
//! runs meanwhile.

use super::{DdlOptions, missing_table};
use crate::catalog::{CatalogTxn, StoredTable};
use crate::database::Published;
use crate::{Database, Error, Result, Table};
use std::sync::Arc;
use txn::Worker;
use types::schema::{TableDef, TriggerDef};

/// FOLLOWS or PRECEDES another trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerPlace {
    pub follows: bool,
    pub other: String,
}

impl Database {
    /// CREATE TRIGGER: the last of its event and time, or where `place` says. 1359 when there is one of the name in the database, 3011
    /// when there is no such other one.
    pub fn create_trigger(
        &self,
        worker: &Worker,
        table: (String, String),
        trigger: TriggerDef,
        place: Option<TriggerPlace>,
        options: &DdlOptions,
    ) -> Result<()> {
        let present = |published: &Published| {
            if published.schema.trigger(&table.0, &trigger.program.name).is_some() {
                return Err(Error::TriggerExists);
            }
            find(published, &table)
        };
        self.change_triggers(worker, present, options, |triggers| {
            let at = match &place {
                None => triggers.len(),
                Some(place) => {
                    let wanted = place.other.to_lowercase();
                    let is_it = |other: &TriggerDef| {
                        (other.event, other.before) == (trigger.event, trigger.before)
                            && other.program.name.to_lowercase() == wanted
                    };
                    let missing = || Error::TriggerUnknown { name: place.other.clone() };
                    triggers.iter().position(is_it).ok_or_else(missing)? + usize::from(place.follows)
                }
            };
            triggers.insert(at, trigger.clone());
            Ok(())
        })
    }

    /// DROP TRIGGER. 1360 when there is none.
    pub fn drop_trigger(&self, worker: &Worker, database: &str, name: &str, options: &DdlOptions) -> Result<()> {
        let present = |published: &Published| {
            let (table, _) = published.schema.trigger(database, name).ok_or(Error::TriggerMissing)?;
            find(published, &(table.database.clone(), table.name.clone()))
        };
        let name = name.to_lowercase();
        self.change_triggers(worker, present, options, |triggers| {
            triggers.retain(|trigger| trigger.program.name.to_lowercase() != name);
            Ok(())
        })
    }

    /// Changes the triggers of the table that `present` finds.
    fn change_triggers(
        &self,
        worker: &Worker,
        present: impl Fn(&Published) -> Result<Arc<Table>>,
        options: &DdlOptions,
        change: impl FnOnce(&mut Vec<TriggerDef>) -> Result<()>,
    ) -> Result<()> {
        let (locked, mut ddl) = self.lock_tables(worker, |published| Ok(vec![present(published)?]), options)?;
        let table = present(&self.published())?;
        debug_assert!(locked.tables.iter().any(|locked| Arc::ptr_eq(locked, &table)));
        let mut def = TableDef::clone(table.def());
        change(&mut def.triggers)?;
        let stored = StoredTable { def: Arc::new(def), blob_tree: table.blob_tree };
        let mut catalog = CatalogTxn::begin(worker);
        catalog.put_table(&stored)?;
        catalog.commit();
        self.publish(&mut ddl, |next| {
            next.put_table(table.successor(&stored, table.counters.clone(), 0));
        });
        Ok(())
    }
}

fn find(published: &Published, name: &(String, String)) -> Result<Arc<Table>> {
    let found = published.schema.table(&name.0, &name.1).and_then(|def| published.tables.get(&def.id));
    found.cloned().ok_or_else(|| missing_table(name))
}
