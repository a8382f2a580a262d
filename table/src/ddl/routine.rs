//! Stored procedures and functions in the catalog: creating, changing and dropping them. They need no lock, because a
//! running one is held as a whole.

use super::check_database;
use crate::catalog::CatalogTxn;
use crate::{Database, Error, Result};
use std::sync::Arc;
use txn::Worker;
use types::schema::RoutineDef;

impl Database {
    /// CREATE PROCEDURE, CREATE FUNCTION. 1304 when there is one of the name.
    pub fn create_routine(&self, worker: &Worker, routine: RoutineDef) -> Result<()> {
        let mut ddl = self.lock_ddl();
        let published = self.published();
        check_database(&published, &routine.database)?;
        if published.schema.routine(routine.is_function(), &routine.database, &routine.name).is_some() {
            return Err(Error::RoutineExists { kind: routine.kind(), name: routine.name });
        }
        let mut catalog = CatalogTxn::begin(worker);
        catalog.put_routine(&routine)?;
        catalog.commit();
        self.publish(&mut ddl, |next| next.put_routine(routine));
        Ok(())
    }

    /// ALTER PROCEDURE, ALTER FUNCTION. 1305 when there is none.
    pub fn alter_routine(
        &self,
        worker: &Worker,
        function: bool,
        database: &str,
        name: &str,
        change: impl FnOnce(&mut RoutineDef),
    ) -> Result<()> {
        let mut ddl = self.lock_ddl();
        let mut routine = RoutineDef::clone(&*self.present_routine(function, database, name)?);
        change(&mut routine);
        let mut catalog = CatalogTxn::begin(worker);
        catalog.put_routine(&routine)?;
        catalog.commit();
        self.publish(&mut ddl, |next| next.put_routine(routine));
        Ok(())
    }

    /// DROP PROCEDURE, DROP FUNCTION. 1305 when there is none.
    pub fn drop_routine(&self, worker: &Worker, function: bool, database: &str, name: &str) -> Result<()> {
        let mut ddl = self.lock_ddl();
        let routine = self.present_routine(function, database, name)?;
        let mut catalog = CatalogTxn::begin(worker);
        catalog.remove_routine(&routine)?;
        catalog.commit();
        self.publish(&mut ddl, |next| {
            if let Some(database) = next.databases.get_mut(database) {
                Arc::make_mut(database).routines.remove(&routine.key());
            }
        });
        Ok(())
    }

    fn present_routine(&self, function: bool, database: &str, name: &str) -> Result<Arc<RoutineDef>> {
        let kind = types::schema::routine_kind(function);
        let missing = || Error::RoutineMissing { kind, name: format!("{database}.{name}") };
        self.published().schema.routine(function, database, name).cloned().ok_or_else(missing)
    }
}
