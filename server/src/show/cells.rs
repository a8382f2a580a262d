//! Values of tables and columns that several of the server's tables show.

use super::build::number;
use accounts::Access;
use accounts::privilege::Privileges;
use table::offline::PAGE_BYTES;
use types::schema::TableDef;
use types::{DateTime, Value};

/// TABLE_TYPE: of the server's own tables the type that MySQL's have, by which clients decide how they read them.
/// mysqldump takes the rows of base tables only.
pub fn table_type(table: &TableDef) -> &'static str {
    match (table.is_virtual, &table.view, table.database.as_str()) {
        (true, _, "information_schema") => "SYSTEM VIEW",
        (true, _, "sys") if table.name != "sys_config" => "VIEW",
        (false, Some(_), _) => "VIEW",
        _ => "BASE TABLE",
    }
}

/// ENGINE of a table that is no view.
pub fn engine(table: &TableDef) -> Option<&'static str> {
    match (table.is_virtual, table.database.as_str(), table.name.as_str()) {
        (true, "information_schema", _) => None,
        (true, "performance_schema", _) => Some("PERFORMANCE_SCHEMA"),
        (true, "mysql", "general_log" | "slow_log") => Some("CSV"),
        _ => Some("InnoDB"),
    }
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
pub fn create_options(def: &TableDef) -> &'static str {
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
