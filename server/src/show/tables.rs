//! SHOW of databases, tables, columns, indexes, and their definitions.

use super::build::{Columns, ResultSet, number, result, text};
use super::schema::is_virtual_database;
use super::server::Gathered;
use super::virtual_tables::{self, Source, Wanted};
use super::{projection, views};
use crate::error::{Error, Result};
use crate::session::State;
use accounts::Access;
use accounts::privilege::Privileges;
use sql::ast::ObjectName;
use std::sync::Arc;
use table::offline::PAGE_BYTES;
use types::schema::{DatabaseDef, Schema, TableDef};
use types::{CollationId, DateTime, Value, show_create};

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

pub fn table_type(table: &TableDef) -> &'static str {
    match (table.is_virtual, &table.view) {
        (true, _) => "SYSTEM VIEW",
        (false, Some(_)) => "VIEW",
        (false, None) => "BASE TABLE",
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

/// The account's privileges on a column, as in SHOW FULL COLUMNS; `None`: it may not see the column.
pub fn column_privileges(access: &Access, def: &TableDef, column: &str) -> Option<String> {
    let own = access.column(&def.database, &def.name, column);
    let all = access.table(&def.database, &def.name).0.with(own).and(Privileges::COLUMN);
    if !access.sees_column(&def.database, &def.name, column) {
        return None;
    }
    let all = if def.is_virtual { all.with(Privileges::SELECT) } else { all };
    Some(all.names().collect::<Vec<_>>().join(",").to_lowercase())
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

/// TABLE_ROWS, AVG_ROW_LENGTH, DATA_LENGTH, MAX_DATA_LENGTH, INDEX_LENGTH and DATA_FREE of one of `parts` equal parts
/// of a table. All tables share one file, so its free pages belong to no table.
pub fn sizes(open: Option<&table::Table>, parts: u64) -> [Value<'static>; 6] {
    let Some(table) = open else { return [0u64; 6].map(number) };
    let (rows, size) = (table.estimated_rows() / parts, table.size());
    let bytes = |pages: u64| pages * PAGE_BYTES as u64 / parts;
    let data = bytes(size.clustered_pages);
    [rows, data.checked_div(rows).unwrap_or(0), data, 0, bytes(size.index_pages), 0].map(number)
}

/// CREATE_OPTIONS
pub(super) fn create_options(def: &TableDef) -> &'static str {
    // MySQL checks for an expression, which KEY() does not have.
    let has_expression = def.partitioning.as_deref().and_then(types::partition::show::expression).is_some();
    if has_expression { "partitioned" } else { "" }
}

/// The next AUTO_INCREMENT number of a table, if one was handed out before.
pub fn next_number(open: Option<&table::Table>) -> Option<u64> {
    open.and_then(|table| table.next_auto_increment()).filter(|next| *next > 1)
}

/// When a table was created, in the server's time zone.
pub fn created(def: &TableDef) -> Value<'static> {
    datetime(def.created_us)
}

/// A time as a civil time in UTC, without fraction, as a TIMESTAMP stores it.
pub fn datetime(utc_us: i64) -> Value<'static> {
    match types::temporal::TimeZone::Utc.to_civil(utc_us) {
        Some(civil) => Value::DateTime(DateTime { micros: 0, ..civil }),
        None => Value::Null,
    }
}
