//! The definitions of the tables in the server's own databases.
//!
//! The files in `definitions/` contain them as SQL, as in MySQL 8.4: columns, their order, types and nullability. A
//! table with the columns of an earlier one is defined by LIKE. The server's own parser reads the files once, and the
//! routines of `sys` too.
//!
//! D1: the files are valid (tested), so reading them cannot fail.

use sql::ast::{ColumnDefinition, CreateRoutine, Statement};
use sql::define::column_type;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};
use types::schema::{ColumnDef, DatabaseDef, RoutineDef, RoutineKey, Schema, TableDef, TableId};
use types::{CollationId, TypeKind, Value};

/// The names of the databases and the texts of their definitions.
const FILES: [(&str, &str); 4] = [
    ("information_schema", include_str!("definitions/information_schema.sql")),
    ("mysql", include_str!("definitions/mysql.sql")),
    ("performance_schema", include_str!("definitions/performance_schema.sql")),
    ("sys", include_str!("definitions/sys.sql")),
];

const SYS_ROUTINES: &str = include_str!("definitions/sys_routines.sql");
/// The definer of the routines, as in MySQL: an account that does not exist. They run with their invoker's privileges.
const SYS_DEFINER: &str = "mysql.sys@localhost";

/// `utf8mb3_general_ci`
const COLLATION: CollationId = CollationId(33);

/// The ids of virtual tables count down from this number.
const FIRST_ID: u64 = u64::MAX - 1;

/// The name of a database of the server; `name` may be in any case.
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

/// Is it a database that cannot be changed?
pub fn is_virtual_database(name: &str) -> bool {
    virtual_database(name).is_some()
}

/// The published schema with the server's databases added.
pub fn with_virtual_databases(schema: &Schema) -> Schema {
    let mut all = schema.databases.clone();
    all.extend(databases().iter().map(|database| (database.name.clone(), Arc::clone(database))));
    Schema { version: schema.version, databases: all }
}

/// The names of the tables of such a database.
#[cfg(test)]
pub fn virtual_tables_of(database: &str) -> impl Iterator<Item = &'static str> {
    let of = databases().iter().filter(move |known| known.name == database);
    of.flat_map(|database| database.tables.keys().map(String::as_str))
}

fn database(name: &str, text: &str, next_id: &mut u64) -> DatabaseDef {
    let mut tables = BTreeMap::new();
    each_statement(text, |statement| {
        let Statement::CreateTable(create) = statement else { unreachable!("D1") };
        let columns = match create.like {
            Some(other) => Arc::<TableDef>::clone(tables.get(other.name).expect("D1")).columns.clone(),
            None => create.columns.iter().map(column).collect(),
        };
        let def = TableDef::new(TableId(*next_id), name, create.name.name, columns);
        *next_id -= 1;
        tables.insert(def.name.clone(), Arc::new(TableDef { collation: COLLATION, is_virtual: true, ..def }));
    });
    let routines = if name == "sys" { sys_routines() } else { BTreeMap::new() };
    DatabaseDef { name: name.to_owned(), collation: COLLATION, tables, routines, events: BTreeMap::new() }
}

fn each_statement(text: &str, mut take: impl FnMut(&Statement<'_>)) {
    let arena = sql::Arena::default();
    let mode = crate::variables::bits_to_mode(0);
    let mut rest = text.trim();
    while !rest.is_empty() {
        let parsed = sql::parse(&arena, rest.as_bytes(), &mode).expect("D1");
        take(&parsed.statement);
        rest = rest[parsed.end..].trim();
    }
}

fn sys_routines() -> BTreeMap<RoutineKey, Arc<RoutineDef>> {
    let mut routines = BTreeMap::new();
    each_statement(SYS_ROUTINES, |statement| {
        let Statement::CreateRoutine(create) = statement else { unreachable!("D1") };
        let routine = sys_routine(create);
        routines.insert(routine.key(), Arc::new(routine));
    });
    routines
}

fn sys_routine(create: &CreateRoutine<'_>) -> RoutineDef {
    let written = &create.characteristics;
    RoutineDef {
        database: "sys".to_owned(),
        name: create.name.name.to_owned(),
        definer: SYS_DEFINER.to_owned(),
        parameters: create.parameters.to_owned(),
        body: create.body.to_owned(),
        comment: written.comment.map_or_else(String::new, |comment| String::from_utf8_lossy(comment).into_owned()),
        deterministic: written.deterministic.unwrap_or(false),
        data_access: written.data_access.unwrap_or("CONTAINS SQL").to_owned(),
        invoker: written.invoker.unwrap_or(false),
        sql_mode: crate::variables::default_mode_bits(),
        client_charset: "utf8mb4".to_owned(),
        connection_collation: CollationId::UTF8MB4_0900_AI_CI,
        database_collation: CollationId::UTF8MB4_0900_AI_CI,
        created_us: 0,
        altered_us: 0,
        returns: create.returns.map(str::to_owned),
    }
}

fn column(definition: &ColumnDefinition<'_>) -> ColumnDef {
    ColumnDef::new(
        definition.name,
        column_type(definition.name, &definition.data_type, COLLATION).expect("D1"),
        definition.nullable.unwrap_or(true),
    )
}

/// A row of a server's table from some named values. The other columns are NULL, or zero or empty if the column is NOT
/// NULL.
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
        for routine in sys_routines().values() {
            assert!(routine.invoker, "{}", routine.name);
            let signature = routine.is_function().then(|| crate::routine::signature(routine));
            assert!(signature.as_ref().is_none_or(Result::is_ok), "{}: {signature:?}", routine.name);
        }
        assert_eq!(virtual_database("Information_Schema"), Some("information_schema"));
    }
}
