//! The views of `sys` that can be answered from the catalog and the sessions. The others are empty, because nothing is
//! measured for them.

use super::build::{number, optional, text};
use super::definitions::named;
use super::locks;
use super::metadata_locks;
use super::source::{Maker, Row, Source};
use crate::record::thread_id;
use crate::session::ProcessLine;
use std::collections::BTreeMap;
use types::schema::{IndexDef, IndexKind, TableDef};
use types::{Value, show_create};

const DATABASE: &str = "sys";

#[rustfmt::skip]
pub const MAKERS: &[(&str, Maker)] = &[
    ("innodb_lock_waits", locks::lock_waits), ("metrics", metrics), ("processlist", processes), ("schema_auto_increment_columns", auto_increments),
    ("schema_object_overview", objects), ("schema_redundant_indexes", redundant_indexes), ("schema_table_lock_waits", metadata_locks::waits),
    ("session", sessions), ("sys_config", settings),
    ("version", version), ("x$innodb_lock_waits", locks::lock_waits_raw), ("x$processlist", processes_raw),
    ("x$schema_flattened_keys", flattened_keys),
    ("x$schema_table_lock_waits", metadata_locks::waits_raw), ("x$session", sessions_raw),
];

fn version(_: &Source<'_>) -> Vec<Row> {
    vec![named(DATABASE, "version", [("sys_version", text("2.1.2")), ("mysql_version", text(crate::config::VERSION))])]
}

fn settings(_: &Source<'_>) -> Vec<Row> {
    let row = |(name, value): (&str, &str)| named(DATABASE, "sys_config", [("variable", text(name)), ("value", text(value))]);
    [("statement_truncate_len", "64")].map(row).into()
}

fn metrics(source: &Source<'_>) -> Vec<Row> {
    let Some(gathered) = source.gathered else { return Vec::new() };
    let row = |(name, value): &(&'static str, String)| {
        let cells = [
            ("Variable_name", text(name.to_ascii_lowercase())),
            ("Variable_value", text(value)),
            ("Type", text("Global Status")),
            ("Enabled", text("YES")),
        ];
        named(DATABASE, "metrics", cells)
    };
    gathered.global_status.iter().map(row).collect()
}

fn processes(source: &Source<'_>) -> Vec<Row> {
    process_rows(source, "processlist")
}

fn sessions(source: &Source<'_>) -> Vec<Row> {
    process_rows(source, "session")
}

fn processes_raw(source: &Source<'_>) -> Vec<Row> {
    process_rows(source, "x$processlist")
}

fn sessions_raw(source: &Source<'_>) -> Vec<Row> {
    process_rows(source, "x$session")
}

/// The rows of sessions; every thread belongs to one.
fn process_rows(source: &Source<'_>, table: &str) -> Vec<Row> {
    let Some(gathered) = source.gathered else { return Vec::new() };
    let row = |line: &ProcessLine| {
        let attribute = |wanted: &str| {
            let found = line.attributes.iter().find(|(name, _)| name == wanted);
            optional(found.map(|(_, value)| value.clone()))
        };
        let cells = [
            ("thd_id", number(thread_id(line.id))),
            ("conn_id", number(line.id)),
            ("user", text(format!("{}@{}", line.user, line.host))),
            ("db", optional(line.database.clone())),
            ("command", text(line.command)),
            ("state", optional((!line.state.is_empty()).then_some(line.state.clone()))),
            ("time", number(line.seconds)),
            ("current_statement", optional(line.info.clone())),
            ("execution_engine", text("PRIMARY")),
            ("full_scan", text("NO")),
            ("trx_state", optional(line.transaction.map(|_| "ACTIVE"))),
            ("pid", attribute("_pid")),
            ("program_name", attribute("program_name")),
        ];
        named(DATABASE, table, cells)
    };
    gathered.processes.iter().map(row).collect()
}

fn auto_increments(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for def in source.stored_tables() {
        let next = super::cells::next_number(source.worker.shared.database.table(def.id).as_deref());
        for column in def.columns.iter().filter(|column| column.auto_increment) {
            let Some(max) = column.ty.integer_max() else { continue };
            let cells = [
                ("table_schema", text(&def.database)),
                ("table_name", text(&def.name)),
                ("column_name", text(&column.name)),
                ("data_type", text(show_create::type_name(&column.ty))),
                ("column_type", text(show_create::type_text(&column.ty))),
                ("is_signed", number(u64::from(!column.ty.unsigned))),
                ("is_unsigned", number(u64::from(column.ty.unsigned))),
                ("max_value", number(max)),
                ("auto_increment", next.map_or(Value::Null, number)),
                ("auto_increment_ratio", optional(next.map(|next| format!("{:.4}", next as f64 / max as f64)))),
            ];
            rows.push(named(DATABASE, "schema_auto_increment_columns", cells));
        }
    }
    rows
}

fn objects(source: &Source<'_>) -> Vec<Row> {
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for def in source.tables() {
        *counts.entry((&def.database, super::cells::table_type(def))).or_default() += 1;
        let parts: usize = shown(def).map(|index| index.columns.len()).sum();
        if parts > 0 {
            *counts.entry((&def.database, "INDEX (BTREE)")).or_default() += parts as u64;
        }
    }
    let row = |((database, kind), count): ((&str, &str), u64)| {
        let cells = [("db", text(database)), ("object_type", text(kind)), ("count", number(count))];
        named(DATABASE, "schema_object_overview", cells)
    };
    counts.into_iter().map(row).collect()
}

fn shown(def: &TableDef) -> impl Iterator<Item = &IndexDef> {
    def.indexes.iter().filter(|index| index.kind != IndexKind::HiddenRowId)
}

fn names(def: &TableDef, index: &IndexDef) -> String {
    let names: Vec<_> = index.columns.iter().map(|part| &*def.columns[part.column].name).collect();
    names.join(",")
}

/// Is every lookup in `index` also possible in `other`? Of two equal indexes the later one is redundant.
fn is_redundant(index: &IndexDef, other: &IndexDef) -> bool {
    let columns = |index: &IndexDef| -> Vec<_> { index.columns.iter().map(|part| (part.column, part.prefix)).collect() };
    let (own, others) = (columns(index), columns(other));
    // A multi-valued index has other entries than one of the same columns.
    let unique = index.kind != IndexKind::Secondary || !other.kind.is_ordered();
    if own == others {
        !unique && (other.kind != IndexKind::Secondary || index.name > other.name) || unique && other.kind == IndexKind::Primary
    } else {
        !unique && others.starts_with(&own)
    }
}

fn flattened_keys(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for def in source.stored_tables() {
        for index in shown(def) {
            let cells = [
                ("table_schema", text(&def.database)),
                ("table_name", text(&def.name)),
                ("index_name", text(&index.name)),
                ("non_unique", number(u64::from(!index.kind.is_unique()))),
                ("subpart_exists", number(u64::from(index.columns.iter().any(|part| part.prefix.is_some())))),
                ("index_columns", text(names(def, index))),
            ];
            rows.push(named(DATABASE, "x$schema_flattened_keys", cells));
        }
    }
    rows
}

fn redundant_indexes(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for def in source.stored_tables() {
        for index in shown(def) {
            let Some(other) = shown(def).find(|other| other.name != index.name && is_redundant(index, other)) else { continue };
            let non_unique = |index: &IndexDef| number(u64::from(!index.kind.is_unique()));
            let drop = format!("ALTER TABLE `{}`.`{}` DROP INDEX `{}`", def.database, def.name, index.name);
            let cells = [
                ("table_schema", text(&def.database)),
                ("table_name", text(&def.name)),
                ("redundant_index_name", text(&index.name)),
                ("redundant_index_columns", text(names(def, index))),
                ("redundant_index_non_unique", non_unique(index)),
                ("dominant_index_name", text(&other.name)),
                ("dominant_index_columns", text(names(def, other))),
                ("dominant_index_non_unique", non_unique(other)),
                ("subpart_exists", number(u64::from(index.columns.iter().any(|part| part.prefix.is_some())))),
                ("sql_drop_index", text(drop)),
            ];
            rows.push(named(DATABASE, "schema_redundant_indexes", cells));
        }
    }
    rows
}
