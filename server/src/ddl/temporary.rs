//! CREATE, TRUNCATE and DROP of temporary tables. They commit nothing.

use super::partition::partition_error;
use super::{Done, add_query_columns, alter_job, insert_rows, job, note};
use crate::error::{Error, Result};
use crate::session::State;
use sql::ast::CreateTable;
use sql::define::Definer;
use std::sync::Arc;
use table::ddl::{Algorithm, AlterAction, Altered, DdlOptions, Lock, NewTable};
use types::partition::PartitionError;
use types::schema::TableDef;
use types::{CollationId, Value};

/// The name of a table while it is filled from its SELECT, which may read a table of the final name. No user's name is
/// that long.
const FILLED: &str = "the temporary table that CREATE TEMPORARY TABLE ... SELECT is about to fill";

/// CREATE TEMPORARY TABLE
pub async fn create(
    state: &mut State<'_>,
    create: &CreateTable<'_>,
    database: &str,
    collation: CollationId,
    given: &[Value<'_>],
) -> Result<Done> {
    let name = create.name.name;
    if state.temporary_table(database, name).is_some() {
        let error = Error::Table(table::Error::TableExists { table: name.to_owned() });
        if !create.if_not_exists {
            return Err(error);
        }
        note(state, &error);
        return Ok(Done::default());
    }
    let new = match &create.like {
        Some(like) => NewTable::like(&*state.find_table(like)?, database, name),
        None if create.partitioning.is_some() => return Err(partition_error(PartitionError::Temporary)),
        None => {
            let mut new = Definer::new(state).table(create, database, collation)?;
            if let Some(query) = create.query {
                add_query_columns(state, query, given, &mut new)?;
            }
            new
        }
    };
    if new.partitioning.is_some() {
        return Err(partition_error(PartitionError::Temporary));
    }
    let def = job(state, move |tables, worker, options| tables.create_temporary_table(worker, new, options)).await?;
    let Some(query) = create.query else {
        state.add_temporary_table(database, name, def);
        return Ok(Done::default());
    };
    state.add_temporary_table(database, FILLED, def);
    let lasting = state.is_in_transaction();
    let filled = insert_rows(state, create, (database, FILLED), (query, given), lasting).await;
    match filled {
        Ok(_) => state.rename_temporary_table(database, FILLED, name),
        Err(_) => drop(state.drop_temporary_table(database, FILLED)),
    }
    filled
}

/// TRUNCATE: another table in its place.
pub async fn truncate(state: &mut State<'_>, def: &Arc<TableDef>, database: &str, name: &str) -> Result<Done> {
    let mut new = NewTable::like(def, database, &def.name);
    for (check, before) in new.checks.iter_mut().zip(&def.checks) {
        check.name = Some(before.name.clone());
    }
    let made = job(state, move |tables, worker, options| tables.create_temporary_table(worker, new, options)).await?;
    state.add_temporary_table(database, name, made);
    Ok(Done::default())
}

/// ALTER TABLE, CREATE INDEX, DROP INDEX: replaces the table by a new one with its rows. The caller has committed the
/// open transaction.
pub async fn alter(
    state: &mut State<'_>,
    def: &Arc<TableDef>,
    (database, name): (&str, &str),
    how: (Algorithm, Lock),
    actions: Vec<AlterAction>,
) -> Result<Altered> {
    let renamed = actions.iter().rev().find_map(|action| match action {
        AlterAction::RenameTable { database, name } => Some((database.clone(), name.clone())),
        _ => None,
    });
    if let Some((database, table)) = renamed.filter(|to| (to.0.as_str(), to.1.as_str()) != (database, name))
        && state.temporary_table(&database, &table).is_some()
    {
        return Err(Error::Table(table::Error::TableExists { table }));
    }
    let def = Arc::clone(def);
    let work = move |tables: &table::Database, worker: &txn::Worker, options: &DdlOptions| {
        tables.alter_temporary_table(worker, &def, actions, options)
    };
    let (made, altered) = alter_job(state, how, work).await?;
    if (made.database.as_str(), made.name.as_str()) == (database, name) {
        state.add_temporary_table(database, name, made);
    } else {
        state.drop_temporary_table(database, name);
        let (database, name) = (made.database.clone(), made.name.clone());
        state.add_temporary_table(&database, &name, made);
    }
    Ok(altered)
}
