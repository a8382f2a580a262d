//! The databases of the server itself: what their tables look like.
//!
//! The files in `definitions/` say it, in SQL, as MySQL 8.4 has it: columns, their order, types and whether they may be NULL. They are read
//! once, with the server's own parser. D1: they are valid (tested), so reading them cannot fail.

use crate::ddl::column_type;
use sql::ast::{ColumnDefinition, CreateTable, Statement};
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use types::schema::{ColumnDef, DatabaseDef, TableDef, TableId};
use types::{CollationId, TypeKind, Value};

/// Names of the databases, and their definitions.
const FILES: [(&str, &str); 4] = [
    ("information_schema", include_str!("definitions/information_schema.sql")),
    ("mysql", include_str!("definitions/mysql.sql")),
    ("performance_schema", include_str!("definitions/performance_schema.sql")),
    ("sys", include_str!("definitions/sys.sql")),
];

/// `utf8mb3_general_ci`
const COLLATION: CollationId = CollationId(33);

/// Ids of virtual tables count down from here.
const FIRST_ID: u64 = u64::MAX - 1;

/// The name of a database of the server's, from its name in any case.
pub fn virtual_database(name: &str) -> Option<&'static str> {
    FILES.iter().map(|(database, _)| *database).find(|database| database.eq_ignore_ascii_case(name))
}

/// The databases of the server.
pub fn databases() -> &'static [Arc<DatabaseDef>] {
    static DATABASES: LazyLock<Vec<Arc<DatabaseDef>>> = LazyLock::new(|| {
        let mut next = FIRST_ID;
        FILES.iter().map(|(name, text)| Arc::new(database(name, text, &mut next))).collect()
    });
    &DATABASES
}

fn database(name: &str, text: &str, next_id: &mut u64) -> DatabaseDef {
    let arena = sql::Arena::default();
    let mode = crate::variables::bits_to_mode(0);
    let mut tables = BTreeMap::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let parsed = sql::parse(&arena, rest.as_bytes(), &mode).expect("D1");
        let Statement::CreateTable(create) = parsed.statement else { unreachable!("D1") };
        let table = table(name, create, TableId(*next_id));
        *next_id -= 1;
        tables.insert(table.name.clone(), Arc::new(table));
        rest = rest[parsed.end..].trim();
    }
    DatabaseDef { name: name.to_owned(), collation: COLLATION, tables, routines: BTreeMap::new(), events: BTreeMap::new() }
}

fn table(database: &str, create: &CreateTable<'_>, id: TableId) -> TableDef {
    let columns = create.columns.iter().map(column).collect();
    TableDef { collation: COLLATION, is_virtual: true, ..TableDef::new(id, database, create.name.name, columns) }
}

fn column(definition: &ColumnDefinition<'_>) -> ColumnDef {
    ColumnDef::new(
        definition.name,
        column_type(definition.name, &definition.data_type, COLLATION).expect("D1"),
        definition.nullable.unwrap_or(true),
    )
}

/// A row of a table of the server, of some named values; the others are NULL, or zero and nothing where the column may not be NULL.
pub fn named<'n>(database: &str, table: &str, cells: impl IntoIterator<Item = (&'n str, Value<'static>)>) -> Vec<Value<'static>> {
    let found = databases().iter().find(|candidate| candidate.name == database);
    let def = found.and_then(|found| found.tables.get(table)).expect("a table of the files");
    let mut row: Vec<Value<'static>> = def.columns.iter().map(nothing).collect();
    for (name, value) in cells {
        let position = def.column_index(name).expect("a column of the files");
        row[position] = value;
    }
    row
}

fn nothing(column: &ColumnDef) -> Value<'static> {
    match column.ty.kind {
        _ if column.nullable => Value::Null,
        TypeKind::VarChar { .. } | TypeKind::Char { .. } | TypeKind::Text(_) => Value::Bytes(Default::default()),
        _ => Value::UInt(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_are_valid() {
        for database in databases() {
            assert!(!database.tables.is_empty());
            for def in database.tables.values() {
                for (position, column) in def.columns.iter().enumerate() {
                    assert_eq!(def.column_index(&column.name), Some(position), "{}.{}", def.name, column.name);
                }
            }
        }
        assert_eq!(virtual_database("Information_Schema"), Some("information_schema"));
    }
}
