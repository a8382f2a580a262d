//! Events in the catalog: creating, changing and dropping them, and the time of their last run.
//!
//! The last run is not a part of an event's definition, because a changed definition makes every plan stale. It has a
//! record of its own, and a place in memory beside the schema.

use super::check_database;
use crate::catalog::CatalogTxn;
use crate::{Database, Error, Result};
use std::sync::Arc;
use txn::Worker;
use types::event::{EventDef, EventStatus, Schedule};

impl Database {
    /// When the event was run last, in seconds since the epoch.
    pub fn event_run(&self, event: &EventDef) -> Option<i64> {
        self.event_runs.lock().get(&(event.program.database.clone(), event.key())).copied()
    }

    /// CREATE EVENT. 1537 when there is one of the name.
    pub fn create_event(&self, worker: &Worker, event: EventDef) -> Result<()> {
        let mut ddl = self.lock_ddl();
        let published = self.published();
        check_database(&published, &event.program.database)?;
        if published.schema.event(&event.program.database, &event.program.name).is_some() {
            return Err(Error::EventExists { name: event.program.name.clone() });
        }
        let mut catalog = CatalogTxn::begin(worker);
        catalog.put_event(&event)?;
        catalog.commit();
        self.publish(&mut ddl, |next| next.put_event(event));
        Ok(())
    }

    /// ALTER EVENT: `change` makes the new definition, possibly with another name. 1539: it does not exist; 1537: the
    /// new name exists.
    pub fn alter_event(
        &self,
        worker: &Worker,
        database: &str,
        name: &str,
        change: impl FnOnce(&EventDef) -> EventDef,
    ) -> Result<()> {
        let mut ddl = self.lock_ddl();
        let before = self.present_event(database, name)?;
        let event = change(&before);
        let is_same_name = (&event.program.database, event.key()) == (&before.program.database, before.key());
        if !is_same_name {
            let published = self.published();
            check_database(&published, &event.program.database)?;
            if published.schema.event(&event.program.database, &event.program.name).is_some() {
                return Err(Error::EventExists { name: event.program.name.clone() });
            }
        }
        let last = self.event_run(&before).filter(|_| !begins_anew(&before, &event));
        let mut catalog = CatalogTxn::begin(worker);
        if !is_same_name {
            catalog.remove_event(&before)?;
        }
        catalog.put_event(&event)?;
        match last {
            Some(last) => catalog.put_event_run(&event, last)?,
            None => catalog.remove_event_run(&event)?,
        }
        catalog.commit();
        self.set_event_run(&before, None);
        self.set_event_run(&event, last);
        self.publish(&mut ddl, |next| {
            next.remove_event(&before);
            next.put_event(event);
        });
        Ok(())
    }

    /// DROP EVENT. 1539 when there is none.
    pub fn drop_event(&self, worker: &Worker, database: &str, name: &str) -> Result<()> {
        let mut ddl = self.lock_ddl();
        let event = self.present_event(database, name)?;
        let mut catalog = CatalogTxn::begin(worker);
        catalog.remove_event(&event)?;
        catalog.commit();
        self.set_event_run(&event, None);
        self.publish(&mut ddl, |next| next.remove_event(&event));
        Ok(())
    }

    /// Notes that the event is run, where it is still as it was. It is known after a crash, too, if `lasting`.
    pub fn begin_event(&self, worker: &Worker, event: &Arc<EventDef>, seconds: i64, lasting: bool) -> Result<bool> {
        let _ddl = self.lock_ddl();
        let present = self.present_event(&event.program.database, &event.program.name);
        if !present.is_ok_and(|present| Arc::ptr_eq(&present, event)) {
            return Ok(false);
        }
        let mut catalog = CatalogTxn::begin(worker);
        catalog.put_event_run(event, seconds)?;
        if lasting {
            catalog.commit()
        } else {
            catalog.commit_soon()
        }
        self.set_event_run(event, Some(seconds));
        Ok(true)
    }

    /// Disables or drops an enabled event that has ended; `is_over` decides by the time of its last run.
    pub fn conclude_event(
        &self,
        worker: &Worker,
        database: &str,
        name: &str,
        is_over: impl FnOnce(&EventDef, Option<i64>) -> bool,
    ) -> Result<()> {
        let mut ddl = self.lock_ddl();
        let Ok(event) = self.present_event(database, name) else { return Ok(()) };
        let last = self.event_run(&event);
        if event.status != EventStatus::Enabled || !is_over(&event, last) {
            return Ok(());
        }
        let mut catalog = CatalogTxn::begin(worker);
        if event.preserve {
            let disabled = EventDef { status: EventStatus::Disabled, ..EventDef::clone(&event) };
            catalog.put_event(&disabled)?;
            catalog.commit();
            self.publish(&mut ddl, |next| next.put_event(disabled));
        } else {
            catalog.remove_event(&event)?;
            catalog.commit();
            self.set_event_run(&event, None);
            self.publish(&mut ddl, |next| next.remove_event(&event));
        }
        Ok(())
    }

    fn present_event(&self, database: &str, name: &str) -> Result<Arc<EventDef>> {
        let missing = || Error::EventMissing { name: name.to_owned() };
        self.published().schema.event(database, name).cloned().ok_or_else(missing)
    }

    fn set_event_run(&self, event: &EventDef, seconds: Option<i64>) {
        let name = (event.program.database.clone(), event.key());
        let mut runs = self.event_runs.lock();
        match seconds {
            Some(seconds) => runs.insert(name, seconds),
            None => runs.remove(&name),
        };
    }

    /// The events of a database are gone.
    pub(super) fn forget_event_runs(&self, database: &str) {
        self.event_runs.lock().retain(|(other, _), _| other != database);
    }
}

/// A new schedule, or a single time that is enabled again, has not been used.
fn begins_anew(before: &EventDef, event: &EventDef) -> bool {
    let is_enabled = event.status == EventStatus::Enabled && before.status != EventStatus::Enabled;
    event.schedule != before.schedule || is_enabled && matches!(event.schedule, Schedule::At(_))
}
