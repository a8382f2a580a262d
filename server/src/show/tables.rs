//! SHOW of databases, tables, columns, indexes, and their definitions.

use super::build::{Columns, is_text, number, optional, result, text, texts};
use super::schema::is_virtual_database;
use super::views;
use crate::error::{Error, Result};
use crate::session::{ResultSet, State};
use accounts::Access;
use accounts::privilege::Privileges;
use sql::ast::ObjectName;
use std::sync::Arc;
use table::offline::PAGE_BYTES;
use types::schema::{DatabaseDef, IndexKind, Schema, TableDef};
use types::{DateTime, Value, show_create};

pub fn databases(state: &State<'_>, pattern: Option<&str>) -> ResultSet {
    let header = match pattern {
        Some(pattern) => format!("Database ({pattern})"),
        None => "Database".to_owned(),
    };
    let mut made = result(Columns::default().text(&header, 64));
    let schema = state.visible_schema();
    made.rows = schema.databases.values().map(|database| vec![text(&database.name)]).collect();
    made
}

/// A database by name, or the current one.
fn database(state: &State<'_>, schema: &Schema, name: Option<&str>) -> Result<Arc<DatabaseDef>> {
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
    let schema = state.visible_schema();
    let database = database(state, &schema, name)?;
    let header = match pattern {
        Some(pattern) => format!("Tables_in_{} ({pattern})", database.name),
        None => format!("Tables_in_{}", database.name),
    };
    let columns = Columns::default().text(&header, 64);
    let mut made = result(if full { columns.text("Table_type", 11) } else { columns });
    made.rows = database
        .tables
        .values()
        .map(|table| match full {
            true => texts(&[&table.name, table_type(table)]),
            false => texts(&[&table.name]),
        })
        .collect();
    Ok(made)
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
    let columns = Columns::default().text("Field", 64).long_text("Type");
    let columns = if full { columns.nullable_text("Collation", 64) } else { columns };
    let columns = columns.text("Null", 3).text("Key", 3).long_text("Default").nullable_text("Extra", 256);
    let columns = if full { columns.text("Privileges", 154).long_text("Comment") } else { columns };
    let mut made = result(columns);
    for (position, column) in def.named_columns() {
        let Some(privileges) = column_privileges(&state.session.access, &def, &column.name) else { continue };
        let mut row = vec![text(&column.name), text(show_create::type_text(&column.ty))];
        if full {
            row.push(optional(is_text(&column.ty).then(|| column.ty.collation.name())));
        }
        row.push(text(if column.nullable { "YES" } else { "NO" }));
        row.push(text(show_create::column_key(&def, position)));
        row.push(optional(show_create::column_default_text(column)));
        row.push(text(show_create::column_extra(column)));
        if full {
            row.push(text(privileges));
            row.push(text(&column.comment));
        }
        made.rows.push(row);
    }
    Ok(made)
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
    let open = state.worker.shared.database.table(def.id);
    let columns = Columns::default()
        .text("Table", 64)
        .number("Non_unique")
        .text("Key_name", 64)
        .number("Seq_in_index")
        .nullable_text("Column_name", 64)
        .nullable_text("Collation", 1)
        .number("Cardinality")
        .number("Sub_part")
        .nullable_text("Packed", 10)
        .text("Null", 3)
        .text("Index_type", 11)
        .text("Comment", 8)
        .text("Index_comment", 2048)
        .text("Visible", 3)
        .long_text("Expression");
    let mut made = result(columns);
    for (number_of, index) in def.indexes.iter().enumerate().filter(|(_, index)| index.kind != IndexKind::HiddenRowId) {
        let unique = index.kind != IndexKind::Secondary;
        for (position, part) in index.columns.iter().enumerate() {
            let column = &def.columns[part.column];
            let cardinality = open.as_ref().map_or(0, |table| table.cardinality(number_of, position + 1));
            made.rows.push(vec![
                text(&def.name),
                number(u64::from(!unique)),
                text(&index.name),
                number(position + 1),
                super::key_part_name(column),
                text(if part.descending { "D" } else { "A" }),
                number(cardinality),
                part.prefix.map_or(Value::Null, number),
                Value::Null,
                text(if column.nullable { "YES" } else { "" }),
                text("BTREE"),
                text(""),
                text(&index.comment),
                text(if index.invisible { "NO" } else { "YES" }),
                super::key_part_expression(column),
            ]);
        }
    }
    Ok(made)
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
    let columns = Columns::default()
        .text("Name", 64)
        .nullable_text("Engine", 64)
        .number("Version")
        .nullable_text("Row_format", 10)
        .number("Rows")
        .number("Avg_row_length")
        .number("Data_length")
        .number("Max_data_length")
        .number("Index_length")
        .number("Data_free")
        .number("Auto_increment")
        .datetime("Create_time")
        .datetime("Update_time")
        .datetime("Check_time")
        .nullable_text("Collation", 64)
        .number("Checksum")
        .nullable_text("Create_options", 256)
        .long_text("Comment");
    let mut made = result(columns);
    for def in database.tables.values() {
        if def.view.is_some() {
            let mut row = vec![Value::Null; 18];
            row[0] = text(&def.name);
            row[11] = local(state, def.created_us);
            row[17] = text(views::comment(def, &schema));
            if let Err(error) = views::present(def, &schema) {
                state.note(expr::Level::Warning, error.to_warning());
            }
            made.rows.push(row);
            continue;
        }
        let open = state.worker.shared.database.table(def.id);
        let [rows, row_length, data_length, max_data_length, index_length, data_free] = sizes(open.as_deref(), 1);
        let next = next_number(open.as_deref());
        made.rows.push(vec![
            text(&def.name),
            text("InnoDB"),
            number(10u64),
            text("Dynamic"),
            rows,
            row_length,
            data_length,
            max_data_length,
            index_length,
            data_free,
            next.map_or(Value::Null, number),
            local(state, def.created_us),
            Value::Null,
            Value::Null,
            text(def.collation.name()),
            Value::Null,
            text(create_options(def)),
            text(&def.comment),
        ]);
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

/// A time in the session's time zone, without fraction, as SHOW prints it.
pub fn local(state: &State<'_>, utc_us: i64) -> Value<'static> {
    match state.execution.vars.time_zone.to_civil(utc_us) {
        Some(civil) => Value::DateTime(DateTime { micros: 0, ..civil }),
        None => Value::Null,
    }
}

/// A time as a civil time in UTC, without fraction, as a TIMESTAMP stores it.
pub fn datetime(utc_us: i64) -> Value<'static> {
    match types::temporal::TimeZone::Utc.to_civil(utc_us) {
        Some(civil) => Value::DateTime(DateTime { micros: 0, ..civil }),
        None => Value::Null,
    }
}
