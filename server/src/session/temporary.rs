//! The temporary tables of one session.
//!
//! 1. `table` keeps them open under ids of their own. Only the session knows their names, and lays them over the names
//!    of the published schema ([`State::schema`]). A plan is valid for one overlay, which is part of its binding key.
//! 2. A table that is dropped during a transaction may have rows that the transaction could undo. It is freed after the
//!    transaction.
//! 3. Whatever ends the session drops this struct, and that frees all tables.

use super::state::State;
use crate::worker::Worker;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use types::schema::{Schema, TableDef, TableId};

/// Database and name.
type Name = (String, String);

/// Only present in a session that had a temporary table.
pub struct TemporaryTables {
    worker: Rc<Worker>,
    tables: BTreeMap<Name, Arc<TableDef>>,
    /// Dropped, but not freed yet.
    dropped: Vec<TableId>,
    /// The session, and the number of changes of `tables`: no two overlays share both.
    session: u32,
    changes: u32,
    /// The published schema of this version, with the temporary tables.
    overlay: RefCell<Option<Arc<Schema>>>,
}

impl TemporaryTables {
    fn new(worker: &Rc<Worker>, session: u32) -> Self {
        Self {
            worker: Rc::clone(worker),
            tables: BTreeMap::new(),
            dropped: Vec::new(),
            session,
            changes: 0,
            overlay: RefCell::default(),
        }
    }

    fn schema(&self) -> Arc<Schema> {
        let published = self.worker.schema();
        if self.tables.is_empty() {
            return published;
        }
        let mut kept = self.overlay.borrow_mut();
        if let Some(overlay) = &*kept
            && overlay.version == published.version
        {
            return Arc::clone(overlay);
        }
        let mut databases = published.databases.clone();
        for ((database, name), def) in &self.tables {
            if let Some(database) = databases.get_mut(database) {
                Arc::make_mut(database).tables.insert(name.clone(), Arc::clone(def));
            }
        }
        let overlay = Arc::new(Schema { version: published.version, databases });
        *kept = Some(Arc::clone(&overlay));
        overlay
    }

    fn changed(&mut self) {
        self.overlay.take();
        self.changes += 1;
    }

    fn key(&self) -> u64 {
        let number = u64::from(self.session) << 32 | u64::from(self.changes);
        // Multiplied to spread over all bits, because it is mixed into a hash.
        if self.tables.is_empty() { 0 } else { number.wrapping_mul(0x9e37_79b9_7f4a_7c15) }
    }

    /// Frees dropped tables in a job that nobody waits for.
    fn give_back(&mut self) {
        let ids = std::mem::take(&mut self.dropped);
        if !ids.is_empty() {
            drop(self.worker.shared.ddl.run(move |database, _| database.drop_temporary_tables(&ids)));
        }
    }
}

impl Drop for TemporaryTables {
    fn drop(&mut self) {
        self.dropped.extend(std::mem::take(&mut self.tables).into_values().map(|def| def.id));
        self.give_back();
    }
}

impl State<'_> {
    /// The published schema with the databases of the server and the session's temporary tables.
    pub fn schema(&self) -> Arc<Schema> {
        self.session.temporary.as_ref().map_or_else(|| self.worker.schema(), |temporary| temporary.schema())
    }

    /// The overlay's part of the binding key.
    pub fn temporary_key(&self) -> u64 {
        self.session.temporary.as_ref().map_or(0, |temporary| temporary.key())
    }

    pub fn temporary_table(&self, database: &str, name: &str) -> Option<Arc<TableDef>> {
        let temporary = self.session.temporary.as_ref()?;
        temporary.tables.get(&(database.to_owned(), name.to_owned())).cloned()
    }

    /// Adds a new table, which hides a table of the same name.
    pub fn add_temporary_table(&mut self, database: &str, name: &str, def: Arc<TableDef>) {
        let is_free = !self.execution.transaction.is_open();
        let worker = &self.worker;
        let temporary = self.session.temporary.get_or_insert_with(|| Box::new(TemporaryTables::new(worker, self.info.id)));
        temporary.changed();
        if let Some(before) = temporary.tables.insert((database.to_owned(), name.to_owned()), def) {
            temporary.dropped.push(before.id);
        }
        if is_free {
            temporary.give_back();
        }
        self.refresh();
    }

    /// Renames a table.
    pub fn rename_temporary_table(&mut self, database: &str, from: &str, to: &str) {
        let Some(temporary) = &mut self.session.temporary else { return };
        if let Some(def) = temporary.tables.remove(&(database.to_owned(), from.to_owned())) {
            temporary.changed();
            temporary.tables.insert((database.to_owned(), to.to_owned()), def);
        }
        self.refresh();
    }

    /// Removes a table; `false`: there is none of this name.
    pub fn drop_temporary_table(&mut self, database: &str, name: &str) -> bool {
        let is_free = !self.execution.transaction.is_open();
        let Some(temporary) = &mut self.session.temporary else { return false };
        let Some(def) = temporary.tables.remove(&(database.to_owned(), name.to_owned())) else { return false };
        temporary.changed();
        temporary.dropped.push(def.id);
        if is_free {
            temporary.give_back();
        }
        self.refresh();
        true
    }
}
