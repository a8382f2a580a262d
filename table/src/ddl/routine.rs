//! Stored procedures in the catalog: made, changed, dropped; nobody holds a lock on one, because who runs one has it whole.

use super::check_database;
use crate::catalog::CatalogTxn;
use crate::{Database, Error, Result};
use std::sync::Arc;
use txn::Worker;
use types::schema::RoutineDef;

impl Database {
    /// CREATE PROCEDURE. 1304 when there is one of the name.
    pub fn create_procedure(&self, worker: &Worker, procedure: RoutineDef) -> Result<()> {
        let mut ddl = self.lock_ddl();
        let published = self.published();
        check_database(&published, &procedure.database)?;
        if published.schema.procedure(&procedure.database, &procedure.name).is_some() {
            return Err(Error::ProcedureExists { name: procedure.name });
        }
        let mut catalog = CatalogTxn::begin(worker);
        catalog.put_procedure(&procedure)?;
        catalog.commit();
        self.publish(&mut ddl, |next| next.put_procedure(procedure));
        Ok(())
    }

    /// ALTER PROCEDURE. 1305 when there is none.
    pub fn alter_procedure(
        &self,
        worker: &Worker,
        database: &str,
        name: &str,
        change: impl FnOnce(&mut RoutineDef),
    ) -> Result<()> {
        let mut ddl = self.lock_ddl();
        let mut procedure = RoutineDef::clone(&*self.present_procedure(database, name)?);
        change(&mut procedure);
        let mut catalog = CatalogTxn::begin(worker);
        catalog.put_procedure(&procedure)?;
        catalog.commit();
        self.publish(&mut ddl, |next| next.put_procedure(procedure));
        Ok(())
    }

    /// DROP PROCEDURE. 1305 when there is none.
    pub fn drop_procedure(&self, worker: &Worker, database: &str, name: &str) -> Result<()> {
        let mut ddl = self.lock_ddl();
        let procedure = self.present_procedure(database, name)?;
        let mut catalog = CatalogTxn::begin(worker);
        catalog.remove_procedure(&procedure)?;
        catalog.commit();
        self.publish(&mut ddl, |next| {
            if let Some(database) = next.databases.get_mut(database) {
                Arc::make_mut(database).procedures.remove(&RoutineDef::key(name));
            }
        });
        Ok(())
    }

    fn present_procedure(&self, database: &str, name: &str) -> Result<Arc<RoutineDef>> {
        let missing = || Error::ProcedureMissing { name: format!("{database}.{name}") };
        self.published().schema.procedure(database, name).cloned().ok_or_else(missing)
    }
}
