//! SHOW of databases, tables, columns, indexes, and their definitions.

use super::build::{Columns, ResultSet, number, result, text};
use super::definitions::is_virtual_database;
use super::gathered::Gathered;
use super::source::{Source, Wanted};
use super::virtual_tables;
use super::{projection, views};
use crate::error::{Error, Result};
use crate::session::State;
use sql::ast::ObjectName;
use std::sync::Arc;
use types::schema::{DatabaseDef, Schema};
use types::{CollationId, Value, show_create};

pub fn databases(state: &State<'_>, pattern: Option<&str>) -> ResultSet {
    let mut made = projection::DATABASES.all(state, Wanted::default(), &Gathered::default());
    if let Some(pattern) = pattern {
        made.columns[0].name = format!("Database ({pattern})");
    }
    made
}

/// A database by name, or the current one.
pub fn database(state: &State<'_>, schema: &Schema, name: Option<&str>) -> Result<Arc<DatabaseDef>> {
    let name = match name {
        Some(name) => name,
        None => state.execution.vars.database.as_deref().ok_or(Error::NoDatabase)?,
    };
    let folded = if is_virtual_database(name) { name.to_ascii_lowercase() } else { name.to_owned() };
    match schema.databases.get(&folded) {
        Some(database) => Ok(Arc::clone(database)),
        None => Err(Error::UnknownDatabase(name.to_owned())),
    }
}

pub fn tables(state: &State<'_>, full: bool, name: Option<&str>, pattern: Option<&str>) -> Result<ResultSet> {
    let database = database(state, &state.visible_schema(), name)?;
    let projection = if full { projection::FULL_TABLES } else { projection::TABLES };
    let mut made = projection.all(state, Wanted::in_schema(&database.name), &Gathered::default());
    made.columns[0].name = match pattern {
        Some(pattern) => format!("Tables_in_{} ({pattern})", database.name),
        None => format!("Tables_in_{}", database.name),
    };
    name_collation(&mut made, &database);
    Ok(made)
}

/// Names of tables are case-sensitive, except those of information_schema. The first column has them.
fn name_collation(made: &mut ResultSet, database: &DatabaseDef) {
    if database.name == "information_schema" {
        made.columns[0].ty.collation = CollationId::UTF8MB4_GENERAL_CI;
    }
}

pub fn open_tables(state: &State<'_>, name: Option<&str>) -> ResultSet {
    let mut made = result(Columns::default().text("Database", 64).text("Table", 64).number("In_use").number("Name_locked"));
    let schema = state.visible_schema();
    for database in schema.databases.values().filter(|database| name.is_none_or(|name| database.name == name)) {
        for table in database.tables.values().filter(|table| !table.is_virtual && table.view.is_none()) {
            let open = state.worker.shared.database.table(table.id);
            let users = open.map_or(0, |table| table.mdl().users().max(u64::from(table.mdl().is_exclusive())));
            made.rows.push(vec![text(&database.name), text(&table.name), number(users), number(0u64)]);
        }
    }
    made
}

pub fn columns(state: &State<'_>, table: &ObjectName<'_>, full: bool) -> Result<ResultSet> {
    let def = state.find_table(table)?;
    let def = views::present(&def, &state.schema())?;
    let projection = if full { projection::FULL_COLUMNS } else { projection::COLUMNS };
    let rows = |source: &Source<'_>| virtual_tables::columns_of(source, &def);
    Ok(projection.of(state, Wanted::default(), &Gathered::default(), rows))
}

/// DESCRIBE table [column or pattern]
pub fn describe(state: &State<'_>, table: &ObjectName<'_>, column: Option<&str>) -> Result<ResultSet> {
    let mut made = columns(state, table, false)?;
    if let Some(pattern) = column {
        made.rows.retain(|row| match &row[0] {
            Value::Bytes(name) => super::like(pattern.as_bytes(), name),
            _ => false,
        });
    }
    Ok(made)
}

pub fn indexes(state: &State<'_>, table: &ObjectName<'_>) -> Result<ResultSet> {
    let def = state.find_table(table)?;
    let rows = |source: &Source<'_>| virtual_tables::statistics_of(source, &def);
    Ok(projection::INDEXES.of(state, Wanted::default(), &Gathered::default(), rows))
}

pub fn create_table(state: &State<'_>, table: &ObjectName<'_>) -> Result<ResultSet> {
    let def = state.find_table(table)?;
    let next = state.worker.shared.database.table(def.id).and_then(|table| table.next_auto_increment());
    let statement = state.quotes().table(show_create::show_create_table(&def, next));
    let mut made = result(Columns::default().text("Table", 64).statement("Create Table", &statement));
    made.rows.push(vec![text(&def.name), text(statement)]);
    Ok(made)
}

pub fn create_database(state: &State<'_>, name: &str, if_not_exists: bool) -> Result<ResultSet> {
    let schema = state.visible_schema();
    let def = database(state, &schema, Some(name))?;
    let statement = state.quotes().statement(show_create::show_create_database(&def, if_not_exists));
    let mut made = result(Columns::default().text("Database", 64).text("Create Database", 1024));
    made.rows.push(vec![text(&def.name), text(statement)]);
    Ok(made)
}

/// SHOW TABLE STATUS
pub fn status(state: &mut State<'_>, name: Option<&str>) -> Result<ResultSet> {
    let schema = state.visible_schema();
    let database = database(state, &schema, name)?;
    let mut made = projection::TABLE_STATUS.all(state, Wanted::in_schema(&database.name), &Gathered::default());
    name_collation(&mut made, &database);
    for view in database.tables.values().filter(|def| def.view.is_some()) {
        if let Err(error) = views::present(view, &schema) {
            state.note(expr::Level::Warning, error.to_warning());
        }
    }
    Ok(made)
}
