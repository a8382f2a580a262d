//! CREATE VIEW, ALTER VIEW, DROP VIEW.
//!
//! The session binds and prints the query (`sql::define_view`); `table` stores the definition.

use super::from_query::{Keeper, column_of_query};
use super::{Done, job, note, qualify, refuse_virtual};
use crate::error::{Error, Result};
use crate::session::{Binder, State};
use crate::variables;
use accounts::Name;
use conditions::Condition;
use expr::Level;
use sql::ast::{CreateView, ObjectName, ViewForm};
use table::ddl::ViewChange;
use types::schema::{TableDef, TableId, ViewDef};

pub async fn create_view(state: &mut State<'_>, create: &CreateView<'_>) -> Result<Done> {
    let (database, name) = qualify(state, &create.name)?;
    refuse_virtual(state, &database)?;
    let schema = state.schema();
    let Some(database_def) = schema.databases.get(&database) else {
        return Err(Error::UnknownDatabase(database));
    };
    let change = match create.form {
        ViewForm::Create | ViewForm::IfNotExists => ViewChange::Create,
        ViewForm::OrReplace => ViewChange::Replace,
        ViewForm::Alter => ViewChange::Alter,
    };
    // Checked before the query.
    match schema.table(&database, &name) {
        Some(_) if create.form == ViewForm::IfNotExists => {
            note(state, &Error::Table(table::Error::TableExists { table: name }));
            return Ok(Done::default());
        }
        Some(_) if change == ViewChange::Create => return Err(Error::Table(table::Error::TableExists { table: name })),
        Some(old) if old.view.is_none() => return Err(Error::Table(table::Error::NotView { database, table: name })),
        None if change == ViewChange::Alter => return Err(Error::Table(table::Error::TableMissing { database, table: name })),
        _ => {}
    }
    let new = sql::define_view(create, &database, &Binder::of_view(state, &schema))?;
    super::first_plane::check_definition(
        state.session.settings.connection_collation,
        "view",
        || format!("{database}.{name}"),
        &new.text,
    )?;
    let kept = schema.table(&database, &name).filter(|_| change == ViewChange::Alter).and_then(|def| def.view.as_ref());
    let (definer_user, definer_host) = match (create.definer, kept) {
        (Some((user, host)), _) => (user.to_owned(), host.to_owned()),
        (None, Some(view)) => (view.definer_user.clone(), view.definer_host.clone()),
        (None, None) => current_user(state),
    };
    let definer = Name::new(&definer_user, &definer_host);
    let view = ViewDef {
        text: new.text,
        names_columns: !create.columns.is_empty(),
        algorithm: new.algorithm,
        check: create.check,
        invoker: create.invoker,
        definer_user,
        definer_host,
        updatable: new.updatable,
        client_charset: client_charset(state),
        collation: state.session.settings.connection_collation,
        tables: new.tables,
    };
    let columns = new.columns.iter().map(|column| column_of_query(column, &schema, true, Keeper::View)).collect();
    let (collation, view) = (database_def.collation, Some(Box::new(view)));
    let def = TableDef { collation, view, ..TableDef::new(TableId(0), database, name, columns) };
    job(state, move |tables, worker, options| tables.put_view(worker, def, change, options)).await?;
    state.note_missing_definer(&definer);
    if new.merge_refused {
        state.warn(Level::Warning, Condition::WarnViewMerge);
    }
    Ok(Done::default())
}

/// The account of the session, as user and host.
fn current_user(state: &State<'_>) -> (String, String) {
    match state.execution.vars.current_user.rsplit_once('@') {
        Some((user, host)) => (user.to_owned(), host.to_owned()),
        None => (state.execution.vars.current_user.to_string(), "%".to_owned()),
    }
}

fn client_charset(state: &State<'_>) -> String {
    match variables::find("character_set_client").map(|id| state.session_value(id)) {
        Some(types::Value::Bytes(name)) => String::from_utf8_lossy(&name).into_owned(),
        _ => "utf8mb4".to_owned(),
    }
}

/// DROP VIEW: all or none; with IF EXISTS, a missing object or one that is not a view is a note.
pub async fn drop_views(state: &mut State<'_>, names: &[ObjectName<'_>], if_exists: bool) -> Result<Done> {
    let schema = state.schema();
    let mut present = Vec::with_capacity(names.len());
    let mut missing = Vec::new();
    for name in names {
        let (database, table) = qualify(state, name)?;
        refuse_virtual(state, &database)?;
        match schema.table(&database, &table) {
            Some(def) if def.view.is_some() => present.push((database, table)),
            Some(_) => {
                let error = Error::Table(table::Error::NotView { database, table });
                if !if_exists {
                    return Err(error);
                }
                note(state, &error);
            }
            None if if_exists => note(state, &Error::Table(table::Error::UnknownTable { database, table })),
            None => missing.push((database, table)),
        }
    }
    super::tell_missing(state, missing, if_exists)?;
    if !present.is_empty() {
        job(state, move |tables, worker, options| tables.drop_views(worker, &present, options)).await?;
    }
    Ok(Done::default())
}
