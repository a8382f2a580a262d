//! InnoDB's tables in information_schema, with the data that Heddle has.
//!
//! A table's id is its id in the catalog, an index's that of its tree. Every table is its own tablespace.

use super::build::{number, optional, text};
use super::definitions::named;
use super::locks;
use super::source::{Row, Source};
use crate::record::isolation_name;
use types::schema::{ForeignKeyDef, IndexDef, IndexKind, ReferenceAction, TableDef};
use types::statistics::TableStatistics;
use types::{DateTime, Value};

const DATABASE: &str = "information_schema";

fn path(def: &TableDef) -> Value<'static> {
    text(format!("{}/{}", def.database, def.name))
}

pub fn tables(source: &Source<'_>) -> Vec<Row> {
    let row = |def: &TableDef| {
        let cells = [
            ("TABLE_ID", number(def.id.0)),
            ("NAME", path(def)),
            ("FLAG", number(33u64)),
            // InnoDB adds three columns of its own, and does not count virtual ones.
            ("N_COLS", number(def.columns.iter().filter(|column| !column.is_virtual()).count() + 3)),
            ("SPACE", number(def.id.0)),
            ("ROW_FORMAT", text("Dynamic")),
            ("SPACE_TYPE", text("Single")),
            ("TOTAL_ROW_VERSIONS", number(def.history.as_ref().map_or(0, |history| history.versions))),
        ];
        named(DATABASE, "INNODB_TABLES", cells)
    };
    source.stored_tables().map(row).collect()
}

pub fn table_statistics(source: &Source<'_>) -> Vec<Row> {
    let row = |def: &TableDef| {
        let open = source.worker.shared.database.table(def.id);
        let next = open.as_ref().and_then(|table| table.next_auto_increment());
        let cells = [
            ("TABLE_ID", number(def.id.0)),
            ("NAME", path(def)),
            ("STATS_INITIALIZED", text("Initialized")),
            ("NUM_ROWS", number(open.as_ref().map_or(0, |table| table.estimated_rows()))),
            ("CLUST_INDEX_SIZE", number(open.as_ref().map_or(0, |table| table.size().clustered_pages))),
            ("OTHER_INDEX_SIZE", number(open.as_ref().map_or(0, |table| table.size().index_pages))),
            ("AUTOINC", number(next.unwrap_or(0))),
            ("REF_COUNT", number(open.as_ref().map_or(0, |table| table.mdl().users()))),
        ];
        named(DATABASE, "INNODB_TABLESTATS", cells)
    };
    source.stored_tables().map(row).collect()
}

/// All indexes, with their tables.
fn all_indexes<'a>(source: &Source<'a>) -> impl Iterator<Item = (&'a TableDef, &'a IndexDef)> + use<'a> {
    source.stored_tables().flat_map(|def| def.indexes.iter().map(move |index| (def, index)))
}

pub fn indexes(source: &Source<'_>) -> Vec<Row> {
    let row = |(def, index): (&TableDef, &IndexDef)| {
        // Clustered: 1; unique: 2.
        let kind = match index.kind {
            IndexKind::HiddenRowId => 1u64,
            IndexKind::Primary => 3,
            IndexKind::Unique => 2,
            IndexKind::Secondary => 0,
            IndexKind::FullText => 32,
            IndexKind::Spatial => 64,
            // MySQL has none.
            IndexKind::Vector { .. } => 0,
            IndexKind::MultiValued { unique } => 640 + 2 * u64::from(unique),
        };
        let name = if index.kind == IndexKind::HiddenRowId { "GEN_CLUST_INDEX" } else { &index.name };
        let cells = [
            ("INDEX_ID", number(index.tree_id)),
            ("NAME", text(name)),
            ("TABLE_ID", number(def.id.0)),
            ("TYPE", number(kind)),
            ("N_FIELDS", number(index.columns.len())),
            ("PAGE_NO", number(index.root_page)),
            ("SPACE", number(def.id.0)),
            ("MERGE_THRESHOLD", number(50u64)),
        ];
        named(DATABASE, "INNODB_INDEXES", cells)
    };
    all_indexes(source).map(row).collect()
}

pub fn fields(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (def, index) in all_indexes(source) {
        for (position, part) in index.columns.iter().enumerate() {
            let cells = [
                ("INDEX_ID", text(index.tree_id.to_string())),
                ("NAME", text(&def.columns[part.column].name)),
                ("POS", number(position)),
            ];
            rows.push(named(DATABASE, "INNODB_FIELDS", cells));
        }
    }
    rows
}

fn all_foreign_keys<'a>(source: &Source<'a>) -> impl Iterator<Item = (&'a TableDef, &'a ForeignKeyDef)> + use<'a> {
    source.stored_tables().flat_map(|def| def.foreign_keys.iter().map(move |key| (def, key)))
}

fn foreign_id(def: &TableDef, key: &ForeignKeyDef) -> Value<'static> {
    text(format!("{}/{}", def.database, key.name))
}

pub fn foreign_keys(source: &Source<'_>) -> Vec<Row> {
    let row = |(def, key): (&TableDef, &ForeignKeyDef)| {
        let actions = |action, cascade: u64, set_null: u64, none: u64| match action {
            ReferenceAction::Cascade => cascade,
            ReferenceAction::SetNull => set_null,
            ReferenceAction::NoAction | ReferenceAction::SetDefault => none,
            ReferenceAction::Restrict => 0,
        };
        let cells = [
            ("ID", foreign_id(def, key)),
            ("FOR_NAME", path(def)),
            ("REF_NAME", text(format!("{}/{}", key.parent_database, key.parent_table))),
            ("N_COLS", number(key.columns.len())),
            ("TYPE", number(actions(key.on_delete, 1, 2, 16) + actions(key.on_update, 4, 8, 32))),
        ];
        named(DATABASE, "INNODB_FOREIGN", cells)
    };
    all_foreign_keys(source).map(row).collect()
}

pub fn foreign_columns(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for (def, key) in all_foreign_keys(source) {
        for (position, (column, parent)) in key.columns.iter().zip(&key.parent_columns).enumerate() {
            let cells = [
                ("ID", foreign_id(def, key)),
                ("FOR_COL_NAME", text(&def.columns[*column].name)),
                ("REF_COL_NAME", text(parent)),
                ("POS", number(position + 1)),
            ];
            rows.push(named(DATABASE, "INNODB_FOREIGN_COLS", cells));
        }
    }
    rows
}

/// The open multi-statement transactions, and single-statement transactions that wait for a lock.
pub fn transactions(source: &Source<'_>) -> Vec<Row> {
    let Some(gathered) = source.gathered else { return Vec::new() };
    let now = source.worker.wall_clock_us();
    let waits = locks::Waits::of(source);
    let mut rows = Vec::new();
    for line in &gathered.processes {
        let wait = waits.of_session(line.id);
        if line.transaction.is_none() && wait.is_none() {
            continue;
        }
        let waited = wait.as_ref().map(|(_, waited)| *waited);
        let open_us = line.transaction.map(|_| line.transaction_seconds as i64 * 1_000_000);
        let began = open_us.or_else(|| waited.map(locks::micros)).unwrap_or(0);
        let changes = line.transaction.map_or(0, |open| open.changes);
        let cells = [
            // A transaction has no number before it writes, so the session's number is shown.
            ("trx_id", number(line.id)),
            ("trx_state", text(if wait.is_some() { "LOCK WAIT" } else { "RUNNING" })),
            ("trx_started", super::cells::datetime(now - began)),
            ("trx_requested_lock_id", optional(wait.as_ref().map(|(id, _)| id.as_str()))),
            ("trx_wait_started", waited.map_or(Value::Null, |waited| super::cells::datetime(now - locks::micros(waited)))),
            ("trx_weight", number(changes)),
            ("trx_mysql_thread_id", number(line.id)),
            ("trx_query", optional(line.info.clone())),
            ("trx_rows_modified", number(changes)),
            ("trx_isolation_level", text(isolation_name(line.isolation))),
        ];
        rows.push(named(DATABASE, "INNODB_TRX", cells));
    }
    rows
}

pub fn buffer_pool(source: &Source<'_>) -> Vec<Row> {
    let engine = source.worker.shared.engine.status();
    let cells = [
        ("POOL_SIZE", number(engine.pool_frames)),
        ("FREE_BUFFERS", number(engine.pool_frames.saturating_sub(engine.pool_used))),
        ("DATABASE_PAGES", number(engine.pool_used)),
        ("MODIFIED_DATABASE_PAGES", number(engine.pool_dirty)),
        ("NUMBER_PAGES_READ", number(engine.pages_read)),
        ("NUMBER_PAGES_WRITTEN", number(engine.pages_written)),
    ];
    vec![named(DATABASE, "INNODB_BUFFER_POOL_STATS", cells)]
}

/// `mysql.innodb_table_stats`
pub fn stored_table_statistics(source: &Source<'_>) -> Vec<Row> {
    let row = |def: &TableDef| {
        let open = source.worker.shared.database.table(def.id);
        let statistics = open.as_ref().and_then(|table| table.statistics());
        let cells = [
            ("database_name", text(&def.database)),
            ("table_name", text(&def.name)),
            ("last_update", taken(def, statistics.as_deref())),
            ("n_rows", number(statistics.as_ref().map_or(0, |s| s.rows))),
            ("clustered_index_size", number(open.as_ref().map_or(0, |table| table.size().clustered_pages))),
            ("sum_of_other_index_sizes", number(open.as_ref().map_or(0, |table| table.size().index_pages))),
        ];
        named("mysql", "innodb_table_stats", cells)
    };
    source.stored_tables().map(row).collect()
}

/// `mysql.innodb_index_stats`: numbers of distinct prefixes, and numbers of pages.
pub fn stored_index_statistics(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for def in source.stored_tables() {
        let statistics = source.worker.shared.database.table(def.id).and_then(|table| table.statistics());
        let Some(statistics) = statistics else { continue };
        for (position, index) in def.indexes.iter().enumerate() {
            let mut line = |name: String, value: u64, description: String| {
                let cells = [
                    ("database_name", text(&def.database)),
                    ("table_name", text(&def.name)),
                    ("index_name", text(&index.name)),
                    ("last_update", taken(def, Some(&statistics))),
                    ("stat_name", text(name)),
                    ("stat_value", number(value)),
                    ("stat_description", text(description)),
                ];
                rows.push(named("mysql", "innodb_index_stats", cells));
            };
            for columns in 1..=index.columns.len() {
                let Some(distinct) = statistics.distinct_prefix(position, columns) else { continue };
                let names: Vec<_> = index.columns[..columns].iter().map(|part| &*def.columns[part.column].name).collect();
                line(format!("n_diff_pfx{columns:02}"), distinct as u64, names.join(","));
            }
            if let Some(pages) = statistics.trees.get(position) {
                line("n_leaf_pages".into(), pages.leaves, "Number of leaf pages in the index".into());
                line("size".into(), pages.all, "Number of pages in the index".into());
            }
        }
    }
    rows
}

/// When the statistics were computed, or else when the table was created.
fn taken(def: &TableDef, statistics: Option<&TableStatistics>) -> Value<'static> {
    let taken = statistics.map_or(0, |statistics| statistics.taken_us);
    match super::cells::datetime(if taken == 0 { def.created_us } else { taken }) {
        Value::Null => Value::DateTime(DateTime::default()),
        known => known,
    }
}
