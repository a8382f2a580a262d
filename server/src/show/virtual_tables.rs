//! The tables of information_schema: their columns as MySQL 8.4 has them, and where their rows come from.
//!
//! A table of something that does not exist here (views, triggers, routines) is present and empty, because tools join
//! with it.

use super::build::{is_text, number, optional, text};
use super::schema::visible_databases;
use super::server::{ENGINE_COMMENT, Gathered};
use super::tables::{column_privileges, created, table_type};
use crate::accounts::Access;
use crate::charset;
use crate::worker::Worker;
use std::sync::LazyLock;
use types::schema::{CheckDef, ColumnDef, ColumnDefault, ForeignKeyDef, IndexKind, Schema, TableDef, TableId};
use types::{CollationId, ColumnType, LobSize, TypeKind, Value, show_create};

type Row = Vec<Value<'static>>;

/// The type of a column.
#[derive(Clone, Copy)]
enum Of {
    /// A name, compared as it is written.
    Name,
    /// Text up to this many characters, without regard to case.
    Text(u32),
    Long,
    Int,
    UInt,
    Time,
}

/// Where rows come from.
struct Source<'a> {
    worker: &'a Worker,
    schema: &'a Schema,
    gathered: Option<&'a Gathered>,
    /// `None`: of somebody who sees all.
    access: Option<&'a Access>,
}

struct Virtual {
    name: &'static str,
    columns: &'static [(&'static str, Of)],
    rows: fn(&Source<'_>) -> Vec<Row>,
}

/// Ids of virtual tables count down from here.
const FIRST_ID: u64 = u64::MAX - 1;

/// The definitions, for the schema.
pub fn definitions() -> Vec<TableDef> {
    static DEFINITIONS: LazyLock<Vec<TableDef>> =
        LazyLock::new(|| TABLES.iter().enumerate().map(|(position, table)| definition(position, table)).collect());
    DEFINITIONS.clone()
}

fn definition(position: usize, table: &Virtual) -> TableDef {
    let columns = table
        .columns
        .iter()
        .map(|(name, of)| ColumnDef {
            name: (*name).to_owned(),
            ty: column_type(*of),
            nullable: true,
            default: ColumnDefault::None,
            auto_increment: false,
            on_update_now: false,
            comment: String::new(),
            invisible: false,
            generated: None,
            missing: None,
        })
        .collect();
    TableDef {
        id: TableId(FIRST_ID - position as u64),
        database: "information_schema".to_owned(),
        name: table.name.to_owned(),
        columns,
        indexes: Vec::new(),
        collation: CollationId::UTF8MB4_GENERAL_CI,
        comment: String::new(),
        created_us: 0,
        is_virtual: true,
        foreign_keys: Vec::new(),
        checks: Vec::new(),
    }
}

fn column_type(of: Of) -> ColumnType {
    let text = |kind, collation| ColumnType { collation, ..ColumnType::new(kind) };
    match of {
        Of::Name => text(TypeKind::VarChar { length: 64 }, CollationId::UTF8MB4_BIN),
        Of::Text(length) => text(TypeKind::VarChar { length }, CollationId::UTF8MB4_GENERAL_CI),
        Of::Long => text(TypeKind::Text(LobSize::Long), CollationId::UTF8MB4_GENERAL_CI),
        Of::Int => ColumnType::new(TypeKind::BigInt),
        Of::UInt => ColumnType::unsigned(TypeKind::BigInt),
        Of::Time => ColumnType::new(TypeKind::DateTime { fsp: 0 }),
    }
}

/// The rows of a table as of now. `None`: no such table.
pub fn rows(
    worker: &Worker,
    schema: &Schema,
    gathered: Option<&Gathered>,
    access: Option<&Access>,
    name: &str,
) -> Option<Vec<Row>> {
    let table = TABLES.iter().find(|table| table.name.eq_ignore_ascii_case(name))?;
    let rows = (table.rows)(&Source { worker, schema, gathered, access });
    debug_assert!(rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.name);
    Some(rows)
}

/// Do the rows come from all workers?
pub fn is_gathered(name: &str) -> bool {
    name.eq_ignore_ascii_case("PROCESSLIST")
}

fn none(_: &Source<'_>) -> Vec<Row> {
    Vec::new()
}

use Of::{Int, Long, Name, Text, Time, UInt};

#[rustfmt::skip]
static TABLES: &[Virtual] = &[
    Virtual { name: "CHARACTER_SETS", rows: character_sets, columns: &[
        ("CHARACTER_SET_NAME", Text(64)), ("DEFAULT_COLLATE_NAME", Text(64)), ("DESCRIPTION", Text(2048)), ("MAXLEN", UInt)] },
    Virtual { name: "CHECK_CONSTRAINTS", rows: check_constraints, columns: &[
        ("CONSTRAINT_CATALOG", Name), ("CONSTRAINT_SCHEMA", Name), ("CONSTRAINT_NAME", Text(64)), ("CHECK_CLAUSE", Long)] },
    Virtual { name: "COLLATIONS", rows: collations, columns: &[
        ("COLLATION_NAME", Text(64)), ("CHARACTER_SET_NAME", Text(64)), ("ID", UInt), ("IS_DEFAULT", Text(3)), ("IS_COMPILED", Text(3)),
        ("SORTLEN", UInt), ("PAD_ATTRIBUTE", Text(9))] },
    Virtual { name: "COLLATION_CHARACTER_SET_APPLICABILITY", rows: collation_sets, columns: &[
        ("COLLATION_NAME", Text(64)), ("CHARACTER_SET_NAME", Text(64))] },
    Virtual { name: "COLUMNS", rows: columns, columns: &[
        ("TABLE_CATALOG", Name), ("TABLE_SCHEMA", Name), ("TABLE_NAME", Name), ("COLUMN_NAME", Text(64)), ("ORDINAL_POSITION", UInt),
        ("COLUMN_DEFAULT", Long), ("IS_NULLABLE", Text(3)), ("DATA_TYPE", Long), ("CHARACTER_MAXIMUM_LENGTH", Int),
        ("CHARACTER_OCTET_LENGTH", Int), ("NUMERIC_PRECISION", UInt), ("NUMERIC_SCALE", UInt), ("DATETIME_PRECISION", UInt),
        ("CHARACTER_SET_NAME", Text(64)), ("COLLATION_NAME", Text(64)), ("COLUMN_TYPE", Long), ("COLUMN_KEY", Text(3)),
        ("EXTRA", Text(256)), ("PRIVILEGES", Text(154)), ("COLUMN_COMMENT", Long), ("GENERATION_EXPRESSION", Long), ("SRS_ID", UInt)] },
    Virtual { name: "COLUMN_PRIVILEGES", rows: none, columns: &[
        ("GRANTEE", Text(292)), ("TABLE_CATALOG", Name), ("TABLE_SCHEMA", Name), ("TABLE_NAME", Name), ("COLUMN_NAME", Text(64)),
        ("PRIVILEGE_TYPE", Text(64)), ("IS_GRANTABLE", Text(3))] },
    Virtual { name: "ENGINES", rows: engines, columns: &[
        ("ENGINE", Text(64)), ("SUPPORT", Text(8)), ("COMMENT", Text(80)), ("TRANSACTIONS", Text(3)), ("XA", Text(3)),
        ("SAVEPOINTS", Text(3))] },
    Virtual { name: "EVENTS", rows: none, columns: &[
        ("EVENT_CATALOG", Name), ("EVENT_SCHEMA", Name), ("EVENT_NAME", Text(64)), ("DEFINER", Text(288)), ("TIME_ZONE", Text(64)),
        ("EVENT_BODY", Text(3)), ("EVENT_DEFINITION", Long), ("EVENT_TYPE", Text(9)), ("EXECUTE_AT", Time), ("INTERVAL_VALUE", Text(256)),
        ("INTERVAL_FIELD", Text(18)), ("SQL_MODE", Long), ("STARTS", Time), ("ENDS", Time), ("STATUS", Text(21)),
        ("ON_COMPLETION", Text(12)), ("CREATED", Time), ("LAST_ALTERED", Time), ("LAST_EXECUTED", Time), ("EVENT_COMMENT", Long),
        ("ORIGINATOR", UInt), ("CHARACTER_SET_CLIENT", Text(64)), ("COLLATION_CONNECTION", Text(64)), ("DATABASE_COLLATION", Text(64))] },
    Virtual { name: "FILES", rows: none, columns: &[
        ("FILE_ID", Int), ("FILE_NAME", Long), ("FILE_TYPE", Text(256)), ("TABLESPACE_NAME", Text(268)), ("TABLE_CATALOG", Text(64)),
        ("TABLE_SCHEMA", Text(64)), ("TABLE_NAME", Text(64)), ("LOGFILE_GROUP_NAME", Text(256)), ("LOGFILE_GROUP_NUMBER", Int),
        ("ENGINE", Text(64)), ("FULLTEXT_KEYS", Text(64)), ("DELETED_ROWS", Int), ("UPDATE_COUNT", Int), ("FREE_EXTENTS", Int),
        ("TOTAL_EXTENTS", Int), ("EXTENT_SIZE", Int), ("INITIAL_SIZE", Int), ("MAXIMUM_SIZE", Int), ("AUTOEXTEND_SIZE", Int),
        ("STATUS", Text(256)), ("EXTRA", Text(256))] },
    Virtual { name: "KEYWORDS", rows: none, columns: &[("WORD", Text(128)), ("RESERVED", Int)] },
    Virtual { name: "KEY_COLUMN_USAGE", rows: key_column_usage, columns: &[
        ("CONSTRAINT_CATALOG", Name), ("CONSTRAINT_SCHEMA", Name), ("CONSTRAINT_NAME", Text(64)), ("TABLE_CATALOG", Name),
        ("TABLE_SCHEMA", Name), ("TABLE_NAME", Name), ("COLUMN_NAME", Text(64)), ("ORDINAL_POSITION", UInt),
        ("POSITION_IN_UNIQUE_CONSTRAINT", UInt), ("REFERENCED_TABLE_SCHEMA", Name), ("REFERENCED_TABLE_NAME", Name),
        ("REFERENCED_COLUMN_NAME", Text(64))] },
    Virtual { name: "PARAMETERS", rows: none, columns: &[
        ("SPECIFIC_CATALOG", Name), ("SPECIFIC_SCHEMA", Name), ("SPECIFIC_NAME", Text(64)), ("ORDINAL_POSITION", UInt),
        ("PARAMETER_MODE", Text(5)), ("PARAMETER_NAME", Text(64)), ("DATA_TYPE", Long), ("CHARACTER_MAXIMUM_LENGTH", Int),
        ("CHARACTER_OCTET_LENGTH", Int), ("NUMERIC_PRECISION", UInt), ("NUMERIC_SCALE", Int), ("DATETIME_PRECISION", UInt),
        ("CHARACTER_SET_NAME", Text(64)), ("COLLATION_NAME", Text(64)), ("DTD_IDENTIFIER", Long), ("ROUTINE_TYPE", Text(9))] },
    Virtual { name: "PARTITIONS", rows: partitions, columns: &[
        ("TABLE_CATALOG", Name), ("TABLE_SCHEMA", Name), ("TABLE_NAME", Name), ("PARTITION_NAME", Text(64)),
        ("SUBPARTITION_NAME", Text(64)), ("PARTITION_ORDINAL_POSITION", UInt), ("SUBPARTITION_ORDINAL_POSITION", UInt),
        ("PARTITION_METHOD", Text(13)), ("SUBPARTITION_METHOD", Text(13)), ("PARTITION_EXPRESSION", Text(2048)),
        ("SUBPARTITION_EXPRESSION", Text(2048)), ("PARTITION_DESCRIPTION", Long), ("TABLE_ROWS", UInt), ("AVG_ROW_LENGTH", UInt),
        ("DATA_LENGTH", UInt), ("MAX_DATA_LENGTH", UInt), ("INDEX_LENGTH", UInt), ("DATA_FREE", UInt), ("CREATE_TIME", Time),
        ("UPDATE_TIME", Time), ("CHECK_TIME", Time), ("CHECKSUM", Int), ("PARTITION_COMMENT", Long), ("NODEGROUP", Text(256)),
        ("TABLESPACE_NAME", Text(268))] },
    Virtual { name: "PLUGINS", rows: none, columns: &[
        ("PLUGIN_NAME", Text(64)), ("PLUGIN_VERSION", Text(20)), ("PLUGIN_STATUS", Text(10)), ("PLUGIN_TYPE", Text(80)),
        ("PLUGIN_TYPE_VERSION", Text(20)), ("PLUGIN_LIBRARY", Text(64)), ("PLUGIN_LIBRARY_VERSION", Text(20)),
        ("PLUGIN_AUTHOR", Text(64)), ("PLUGIN_DESCRIPTION", Long), ("PLUGIN_LICENSE", Text(80)), ("LOAD_OPTION", Text(64))] },
    Virtual { name: "PROCESSLIST", rows: processes, columns: &[
        ("ID", UInt), ("USER", Text(32)), ("HOST", Text(261)), ("DB", Text(64)), ("COMMAND", Text(16)), ("TIME", Int),
        ("STATE", Text(64)), ("INFO", Long)] },
    Virtual { name: "REFERENTIAL_CONSTRAINTS", rows: referential_constraints, columns: &[
        ("CONSTRAINT_CATALOG", Name), ("CONSTRAINT_SCHEMA", Name), ("CONSTRAINT_NAME", Text(64)), ("UNIQUE_CONSTRAINT_CATALOG", Name),
        ("UNIQUE_CONSTRAINT_SCHEMA", Name), ("UNIQUE_CONSTRAINT_NAME", Text(64)), ("MATCH_OPTION", Text(7)), ("UPDATE_RULE", Text(11)),
        ("DELETE_RULE", Text(11)), ("TABLE_NAME", Name), ("REFERENCED_TABLE_NAME", Name)] },
    Virtual { name: "ROUTINES", rows: none, columns: &[
        ("SPECIFIC_NAME", Text(64)), ("ROUTINE_CATALOG", Name), ("ROUTINE_SCHEMA", Name), ("ROUTINE_NAME", Text(64)),
        ("ROUTINE_TYPE", Text(9)), ("DATA_TYPE", Long), ("CHARACTER_MAXIMUM_LENGTH", Int), ("CHARACTER_OCTET_LENGTH", Int),
        ("NUMERIC_PRECISION", UInt), ("NUMERIC_SCALE", UInt), ("DATETIME_PRECISION", UInt), ("CHARACTER_SET_NAME", Text(64)),
        ("COLLATION_NAME", Text(64)), ("DTD_IDENTIFIER", Long), ("ROUTINE_BODY", Text(8)), ("ROUTINE_DEFINITION", Long),
        ("EXTERNAL_NAME", Text(64)), ("EXTERNAL_LANGUAGE", Text(64)), ("PARAMETER_STYLE", Text(3)), ("IS_DETERMINISTIC", Text(3)),
        ("SQL_DATA_ACCESS", Text(17)), ("SQL_PATH", Text(1)), ("SECURITY_TYPE", Text(7)), ("CREATED", Time), ("LAST_ALTERED", Time),
        ("SQL_MODE", Long), ("ROUTINE_COMMENT", Long), ("DEFINER", Text(288)), ("CHARACTER_SET_CLIENT", Text(64)),
        ("COLLATION_CONNECTION", Text(64)), ("DATABASE_COLLATION", Text(64))] },
    Virtual { name: "SCHEMATA", rows: schemata, columns: &[
        ("CATALOG_NAME", Name), ("SCHEMA_NAME", Name), ("DEFAULT_CHARACTER_SET_NAME", Text(64)), ("DEFAULT_COLLATION_NAME", Text(64)),
        ("SQL_PATH", Text(1)), ("DEFAULT_ENCRYPTION", Text(3))] },
    Virtual { name: "SCHEMA_PRIVILEGES", rows: none, columns: &[
        ("GRANTEE", Text(292)), ("TABLE_CATALOG", Name), ("TABLE_SCHEMA", Name), ("PRIVILEGE_TYPE", Text(64)), ("IS_GRANTABLE", Text(3))] },
    Virtual { name: "STATISTICS", rows: statistics, columns: &[
        ("TABLE_CATALOG", Name), ("TABLE_SCHEMA", Name), ("TABLE_NAME", Name), ("NON_UNIQUE", Int), ("INDEX_SCHEMA", Name),
        ("INDEX_NAME", Text(64)), ("SEQ_IN_INDEX", UInt), ("COLUMN_NAME", Text(64)), ("COLLATION", Text(1)), ("CARDINALITY", Int),
        ("SUB_PART", Int), ("PACKED", Text(1)), ("NULLABLE", Text(3)), ("INDEX_TYPE", Text(11)), ("COMMENT", Text(8)),
        ("INDEX_COMMENT", Text(2048)), ("IS_VISIBLE", Text(3)), ("EXPRESSION", Long)] },
    Virtual { name: "TABLES", rows: tables, columns: &[
        ("TABLE_CATALOG", Name), ("TABLE_SCHEMA", Name), ("TABLE_NAME", Name), ("TABLE_TYPE", Text(11)), ("ENGINE", Text(64)),
        ("VERSION", Int), ("ROW_FORMAT", Text(10)), ("TABLE_ROWS", UInt), ("AVG_ROW_LENGTH", UInt), ("DATA_LENGTH", UInt),
        ("MAX_DATA_LENGTH", UInt), ("INDEX_LENGTH", UInt), ("DATA_FREE", UInt), ("AUTO_INCREMENT", UInt), ("CREATE_TIME", Time),
        ("UPDATE_TIME", Time), ("CHECK_TIME", Time), ("TABLE_COLLATION", Text(64)), ("CHECKSUM", Int), ("CREATE_OPTIONS", Text(256)),
        ("TABLE_COMMENT", Long)] },
    Virtual { name: "TABLESPACES", rows: none, columns: &[
        ("TABLESPACE_NAME", Text(64)), ("ENGINE", Text(64)), ("TABLESPACE_TYPE", Text(64)), ("LOGFILE_GROUP_NAME", Text(64)),
        ("EXTENT_SIZE", UInt), ("AUTOEXTEND_SIZE", UInt), ("MAXIMUM_SIZE", UInt), ("NODEGROUP_ID", UInt),
        ("TABLESPACE_COMMENT", Text(2048))] },
    Virtual { name: "TABLE_CONSTRAINTS", rows: table_constraints, columns: &[
        ("CONSTRAINT_CATALOG", Name), ("CONSTRAINT_SCHEMA", Name), ("CONSTRAINT_NAME", Text(64)), ("TABLE_SCHEMA", Name),
        ("TABLE_NAME", Name), ("CONSTRAINT_TYPE", Text(11)), ("ENFORCED", Text(3))] },
    Virtual { name: "TABLE_PRIVILEGES", rows: none, columns: &[
        ("GRANTEE", Text(292)), ("TABLE_CATALOG", Name), ("TABLE_SCHEMA", Name), ("TABLE_NAME", Name), ("PRIVILEGE_TYPE", Text(64)),
        ("IS_GRANTABLE", Text(3))] },
    Virtual { name: "TRIGGERS", rows: none, columns: &[
        ("TRIGGER_CATALOG", Name), ("TRIGGER_SCHEMA", Name), ("TRIGGER_NAME", Text(64)), ("EVENT_MANIPULATION", Text(6)),
        ("EVENT_OBJECT_CATALOG", Name), ("EVENT_OBJECT_SCHEMA", Name), ("EVENT_OBJECT_TABLE", Name), ("ACTION_ORDER", UInt),
        ("ACTION_CONDITION", Long), ("ACTION_STATEMENT", Long), ("ACTION_ORIENTATION", Text(3)), ("ACTION_TIMING", Text(6)),
        ("ACTION_REFERENCE_OLD_TABLE", Text(1)), ("ACTION_REFERENCE_NEW_TABLE", Text(1)), ("ACTION_REFERENCE_OLD_ROW", Text(3)),
        ("ACTION_REFERENCE_NEW_ROW", Text(3)), ("CREATED", Time), ("SQL_MODE", Long), ("DEFINER", Text(288)),
        ("CHARACTER_SET_CLIENT", Text(64)), ("COLLATION_CONNECTION", Text(64)), ("DATABASE_COLLATION", Text(64))] },
    Virtual { name: "USER_PRIVILEGES", rows: user_privileges, columns: &[
        ("GRANTEE", Text(292)), ("TABLE_CATALOG", Name), ("PRIVILEGE_TYPE", Text(64)), ("IS_GRANTABLE", Text(3))] },
    Virtual { name: "VIEWS", rows: none, columns: &[
        ("TABLE_CATALOG", Name), ("TABLE_SCHEMA", Name), ("TABLE_NAME", Name), ("VIEW_DEFINITION", Long), ("CHECK_OPTION", Text(8)),
        ("IS_UPDATABLE", Text(3)), ("DEFINER", Text(288)), ("SECURITY_TYPE", Text(7)), ("CHARACTER_SET_CLIENT", Text(64)),
        ("COLLATION_CONNECTION", Text(64))] },
];

const CATALOG: &str = "def";

fn character_sets(_: &Source<'_>) -> Vec<Row> {
    let row = |set: &charset::Charset| vec![text(set.name), text(set.collation), text(set.description), number(set.max_bytes)];
    charset::CHARSETS.iter().map(row).collect()
}

fn collations(_: &Source<'_>) -> Vec<Row> {
    let row = |collation: &charset::Collation| {
        vec![
            text(collation.name),
            text(collation.charset),
            number(collation.id),
            text(if collation.is_default { "Yes" } else { "" }),
            text("Yes"),
            number(collation.sort_length),
            text(if collation.no_pad { "NO PAD" } else { "PAD SPACE" }),
        ]
    };
    charset::COLLATIONS.iter().map(row).collect()
}

fn collation_sets(_: &Source<'_>) -> Vec<Row> {
    charset::COLLATIONS.iter().map(|collation| vec![text(collation.name), text(collation.charset)]).collect()
}

fn engines(_: &Source<'_>) -> Vec<Row> {
    vec![vec![text("InnoDB"), text("DEFAULT"), text(ENGINE_COMMENT), text("YES"), text("NO"), text("YES")]]
}

fn user_privileges(_: &Source<'_>) -> Vec<Row> {
    vec![vec![text("'root'@'localhost'"), text(CATALOG), text("SUPER"), text("YES")]]
}

fn processes(source: &Source<'_>) -> Vec<Row> {
    let Some(gathered) = source.gathered else { return Vec::new() };
    gathered
        .processes
        .iter()
        .map(|line| {
            let mut row = super::server::process_row(line.clone(), usize::MAX);
            row[5] = Value::Int(line.seconds as i64);
            row
        })
        .collect()
}

fn schemata(source: &Source<'_>) -> Vec<Row> {
    visible_databases(source.schema)
        .map(|database| {
            vec![
                text(CATALOG),
                text(&database.name),
                text(database.collation.charset()),
                text(database.collation.name()),
                Value::Null,
                text("NO"),
            ]
        })
        .collect()
}

/// Every table of every database.
fn all_tables<'a>(source: &Source<'a>) -> impl Iterator<Item = &'a TableDef> + use<'a> {
    visible_databases(source.schema).flat_map(|database| database.tables.values()).map(|table| &**table)
}

fn tables(source: &Source<'_>) -> Vec<Row> {
    all_tables(source)
        .map(|def| {
            let open = source.worker.shared.database.table(def.id);
            let rows = open.as_ref().map_or(0, |table| table.estimated_rows());
            let next = open.and_then(|table| table.next_auto_increment());
            let stored = |value: Value<'static>| if def.is_virtual { Value::Null } else { value };
            vec![
                text(CATALOG),
                text(&def.database),
                text(&def.name),
                text(table_type(def)),
                stored(text("InnoDB")),
                Value::Int(10),
                stored(text("Dynamic")),
                number(rows),
                number(0u64),
                number(0u64),
                number(0u64),
                number(0u64),
                number(0u64),
                next.map_or(Value::Null, number),
                stored(created(def)),
                Value::Null,
                Value::Null,
                stored(text(def.collation.name())),
                Value::Null,
                text(""),
                text(&def.comment),
            ]
        })
        .collect()
}

fn columns(source: &Source<'_>) -> Vec<Row> {
    all_tables(source)
        .flat_map(|def| def.columns.iter().enumerate().filter_map(|(position, column)| column_row(source, def, position, column)))
        .collect()
}

fn column_row(source: &Source<'_>, def: &TableDef, position: usize, column: &ColumnDef) -> Option<Row> {
    let privileges = match source.access {
        Some(access) => column_privileges(access, def, &column.name)?,
        None => "select,insert,update,references".to_owned(),
    };
    let numbers = numeric_parts(&column.ty);
    let (characters, octets) = lengths(&column.ty);
    let is_text = is_text(&column.ty);
    Some(vec![
        text(CATALOG),
        text(&def.database),
        text(&def.name),
        text(&column.name),
        number(position + 1),
        optional(show_create::column_default_text(column)),
        text(if column.nullable { "YES" } else { "NO" }),
        text(show_create::type_name(&column.ty)),
        characters.map_or(Value::Null, |length| Value::Int(length as i64)),
        octets.map_or(Value::Null, |length| Value::Int(length as i64)),
        numbers.0.map_or(Value::Null, number),
        numbers.1.map_or(Value::Null, number),
        match column.ty.kind {
            TypeKind::Time { fsp } | TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => number(fsp),
            _ => Value::Null,
        },
        optional(is_text.then(|| column.ty.collation.charset())),
        optional(is_text.then(|| column.ty.collation.name())),
        text(show_create::type_text(&column.ty)),
        text(show_create::column_key(def, position)),
        text(show_create::column_extra(column)),
        text(privileges),
        text(&column.comment),
        text(column.generated.as_ref().map_or_else(String::new, |generated| show_create::escaped(&generated.expr.text))),
        Value::Null,
    ])
}

/// NUMERIC_PRECISION and NUMERIC_SCALE.
fn numeric_parts(ty: &ColumnType) -> (Option<u64>, Option<u64>) {
    match ty.kind {
        TypeKind::TinyInt => (Some(3), Some(0)),
        TypeKind::SmallInt => (Some(5), Some(0)),
        TypeKind::MediumInt => (Some(7), Some(0)),
        TypeKind::Int => (Some(10), Some(0)),
        TypeKind::BigInt => (Some(if ty.unsigned { 20 } else { 19 }), Some(0)),
        TypeKind::Decimal { precision, scale } => (Some(precision.into()), Some(scale.into())),
        TypeKind::Float => (Some(12), ty.float_decimals.map(u64::from)),
        TypeKind::Double => (Some(22), ty.float_decimals.map(u64::from)),
        TypeKind::Bit { length } => (Some(length.into()), None),
        _ => (None, None),
    }
}

/// CHARACTER_MAXIMUM_LENGTH and CHARACTER_OCTET_LENGTH.
fn lengths(ty: &ColumnType) -> (Option<u64>, Option<u64>) {
    let character = u64::from(ty.collation.character_bytes_max());
    let lob = |size: LobSize| match size {
        LobSize::Tiny => 255u64,
        LobSize::Regular => 65535,
        LobSize::Medium => 16_777_215,
        LobSize::Long => 4_294_967_295,
    };
    match &ty.kind {
        TypeKind::Char { length } | TypeKind::VarChar { length } => {
            (Some(u64::from(*length)), Some(u64::from(*length) * character))
        }
        TypeKind::Binary { length } | TypeKind::VarBinary { length } => (Some((*length).into()), Some((*length).into())),
        TypeKind::Text(size) | TypeKind::Blob(size) => (Some(lob(*size)), Some(lob(*size))),
        TypeKind::Enum { members } => {
            let longest = members.iter().map(|member| member.chars().count() as u64).max().unwrap_or(0);
            (Some(longest), Some(longest * character))
        }
        TypeKind::Set { members } => {
            let all: u64 = members.iter().map(|member| member.chars().count() as u64 + 1).sum();
            (Some(all.saturating_sub(1)), Some(all.saturating_sub(1) * character))
        }
        _ => (None, None),
    }
}

fn statistics(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for def in all_tables(source) {
        let count = source.worker.shared.database.table(def.id).map_or(0, |table| table.estimated_rows());
        for index in def.indexes.iter().filter(|index| index.kind != IndexKind::HiddenRowId) {
            for (position, part) in index.columns.iter().enumerate() {
                let column = &def.columns[part.column];
                rows.push(vec![
                    text(CATALOG),
                    text(&def.database),
                    text(&def.name),
                    Value::Int(i64::from(index.kind == IndexKind::Secondary)),
                    text(&def.database),
                    text(&index.name),
                    number(position + 1),
                    text(&column.name),
                    text(if part.descending { "D" } else { "A" }),
                    Value::Int(count as i64),
                    part.prefix.map_or(Value::Null, |prefix| Value::Int(prefix.into())),
                    Value::Null,
                    text(if column.nullable { "YES" } else { "" }),
                    text("BTREE"),
                    text(""),
                    text(&index.comment),
                    text(if index.invisible { "NO" } else { "YES" }),
                    Value::Null,
                ]);
            }
        }
    }
    rows
}

fn table_constraints(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for def in all_tables(source) {
        for index in &def.indexes {
            let kind = match index.kind {
                IndexKind::Primary => "PRIMARY KEY",
                IndexKind::Unique => "UNIQUE",
                _ => continue,
            };
            let names = [CATALOG, &def.database, &index.name, &def.database, &def.name, kind, "YES"];
            rows.push(super::texts(&names));
        }
        for key in &def.foreign_keys {
            rows.push(super::texts(&[CATALOG, &def.database, &key.name, &def.database, &def.name, "FOREIGN KEY", "YES"]));
        }
        for check in &def.checks {
            let enforced = if check.enforced { "YES" } else { "NO" };
            rows.push(super::texts(&[CATALOG, &def.database, &check.name, &def.database, &def.name, "CHECK", enforced]));
        }
    }
    rows
}

fn check_constraints(source: &Source<'_>) -> Vec<Row> {
    let checks = all_tables(source).flat_map(|def| def.checks.iter().map(move |check| (def, check)));
    let row = |(def, check): (&TableDef, &CheckDef)| {
        super::texts(&[CATALOG, &def.database, &check.name, &show_create::escaped(&check.expr.text)])
    };
    checks.map(row).collect()
}

/// The unique key of the parent that a foreign key references; `None` without a parent.
fn referenced_key<'a>(source: &Source<'a>, key: &ForeignKeyDef) -> Option<&'a str> {
    let parent = source.schema.table(&key.parent_database, &key.parent_table)?;
    let index = parent.unique_key_of(&key.columns_in(parent)?)?;
    Some(&parent.indexes[index].name)
}

fn referential_constraints(source: &Source<'_>) -> Vec<Row> {
    let keys = all_tables(source).flat_map(|def| def.foreign_keys.iter().map(move |key| (def, key)));
    keys.map(|(def, key)| {
        vec![
            text(CATALOG),
            text(&def.database),
            text(&key.name),
            text(CATALOG),
            text(&key.parent_database),
            optional(referenced_key(source, key)),
            text("NONE"),
            text(key.on_update.name()),
            text(key.on_delete.name()),
            text(&def.name),
            text(&key.parent_table),
        ]
    })
    .collect()
}

fn key_column_usage(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for def in all_tables(source) {
        let constraints = def.indexes.iter().filter(|index| matches!(index.kind, IndexKind::Primary | IndexKind::Unique));
        for index in constraints {
            for (position, part) in index.columns.iter().enumerate() {
                rows.push(vec![
                    text(CATALOG),
                    text(&def.database),
                    text(&index.name),
                    text(CATALOG),
                    text(&def.database),
                    text(&def.name),
                    text(&def.columns[part.column].name),
                    number(position + 1),
                    Value::Null,
                    Value::Null,
                    Value::Null,
                    Value::Null,
                ]);
            }
        }
        for key in &def.foreign_keys {
            for (position, (column, parent_column)) in key.columns.iter().zip(&key.parent_columns).enumerate() {
                rows.push(vec![
                    text(CATALOG),
                    text(&def.database),
                    text(&key.name),
                    text(CATALOG),
                    text(&def.database),
                    text(&def.name),
                    text(&def.columns[*column].name),
                    number(position + 1),
                    // A foreign key references the columns of the unique key in their order.
                    number(position + 1),
                    text(&key.parent_database),
                    text(&key.parent_table),
                    text(parent_column),
                ]);
            }
        }
    }
    rows
}

/// A line without a partition for each table, as MySQL has it.
fn partitions(source: &Source<'_>) -> Vec<Row> {
    all_tables(source)
        .filter(|def| !def.is_virtual)
        .map(|def| {
            let mut row = vec![Value::Null; 25];
            row[0] = text(CATALOG);
            row[1] = text(&def.database);
            row[2] = text(&def.name);
            for length in &mut row[12..18] {
                *length = number(0u64);
            }
            row[18] = created(def);
            row[22] = text("");
            row
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_columns_unique() {
        for pair in TABLES.windows(2) {
            assert!(pair[0].name < pair[1].name || pair[0].name.starts_with(pair[1].name.split('_').next().unwrap()));
        }
        for def in definitions() {
            for (position, column) in def.columns.iter().enumerate() {
                assert_eq!(def.column_index(&column.name), Some(position), "{}.{}", def.name, column.name);
            }
        }
    }
}
