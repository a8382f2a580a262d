//! `table_io_waits_summary_...` and `table_lock_waits_summary_by_table`: rows read and changed of each table and index,
//! and the waits for them; and the views of `sys` over these.
//!
//! The times are those of waits: for pages, latches and rows of the tree, and for the table's definition. The time that
//! reading rows takes without a wait is part of the statements' CPU time, not of a table's.

use super::super::build::{number, text};
use super::super::definitions::named;
use super::sums::{DATABASE, Row, Timer};
use reactor::task_clock::{Sum, Waits};
use std::collections::HashMap;
use sync::waits::{Kind, Object};
use table::usage::TreeUse;
use types::Value;
use types::schema::{IndexKind, TableDef};

/// The use of tables, and the waits for them.
pub(super) struct Uses {
    trees: HashMap<u32, TreeUse>,
    waits: HashMap<u32, Sum>,
    definitions: HashMap<u64, Sum>,
}

/// The use of one table.
struct TableUse<'a> {
    def: &'a TableDef,
    rows: TreeUse,
    waits: Sum,
}

/// The use of one index; without a name: of the table without an index.
struct IndexUse<'a> {
    def: &'a TableDef,
    index: Option<&'a str>,
    kind: IndexKind,
    rows: TreeUse,
    waits: Sum,
}

impl Uses {
    pub(super) fn new(uses: &[(u32, TreeUse)], waits: &Waits) -> Self {
        let mut all = Self { trees: HashMap::new(), waits: HashMap::new(), definitions: HashMap::new() };
        uses.iter().for_each(|(tree, used)| all.trees.entry(*tree).or_default().add(used));
        for ((kind, object), sum) in &waits.objects {
            match (kind, object) {
                (Kind::MetadataLock, Object::Table(id)) => all.definitions.entry(*id).or_default().add(sum),
                (_, Object::Tree { tree, .. }) => all.waits.entry(*tree).or_default().add(sum),
                _ => {}
            }
        }
        all
    }

    fn table<'a>(&self, def: &'a TableDef) -> TableUse<'a> {
        let (mut rows, mut waits) = (TreeUse::default(), Sum::default());
        for index in &def.indexes {
            rows.add(&self.trees.get(&index.tree_id).copied().unwrap_or_default());
            waits.add(&self.waits.get(&index.tree_id).copied().unwrap_or_default());
        }
        TableUse { def, rows, waits }
    }

    fn indexes<'a>(&self, def: &'a TableDef) -> Vec<IndexUse<'a>> {
        let used = |tree: u32| self.trees.get(&tree).copied().unwrap_or_default();
        let mut uses = Vec::with_capacity(def.indexes.len() + 1);
        for index in def.indexes.iter().filter(|index| index.kind != IndexKind::HiddenRowId) {
            let all = used(index.tree_id);
            let rows = TreeUse { scanned: 0, inserted: 0, ..all };
            let waits = self.waits.get(&index.tree_id).copied().unwrap_or_default();
            uses.push(IndexUse { def, index: Some(&index.name), kind: index.kind, rows, waits });
        }
        if let Some(first) = def.indexes.first() {
            let all = used(first.tree_id);
            let hidden = first.kind == IndexKind::HiddenRowId;
            let rows = TreeUse {
                fetched: all.scanned + if hidden { all.fetched } else { 0 },
                inserted: all.inserted,
                ..Default::default()
            };
            let rows = if hidden { TreeUse { updated: all.updated, deleted: all.deleted, ..rows } } else { rows };
            uses.push(IndexUse { def, index: None, kind: IndexKind::HiddenRowId, rows, waits: Sum::default() });
        }
        uses
    }
}

fn rows_read(rows: &TreeUse) -> u64 {
    rows.fetched + rows.scanned
}

/// The columns of `sys` about changed rows. No wait is told apart by what the statement does, so the times are 0.
fn changed(rows: &TreeUse, timer: &Timer, is_raw: bool) -> [(&'static str, Value<'static>); 6] {
    let none = || timer.shown(0, is_raw);
    [
        ("rows_inserted", number(rows.inserted)),
        ("insert_latency", none()),
        ("rows_updated", number(rows.updated)),
        ("update_latency", none()),
        ("rows_deleted", number(rows.deleted)),
        ("delete_latency", none()),
    ]
}

fn rows_written(rows: &TreeUse) -> u64 {
    rows.inserted + rows.updated + rows.deleted
}

fn names(def: &TableDef) -> [(&'static str, Value<'static>); 3] {
    [("OBJECT_TYPE", text("TABLE")), ("OBJECT_SCHEMA", text(&def.database)), ("OBJECT_NAME", text(&def.name))]
}

fn counts(rows: &TreeUse, waits: &Sum, timer: &Timer) -> [(&'static str, Value<'static>); 10] {
    let (read, written) = (rows_read(rows), rows_written(rows));
    [
        ("COUNT_STAR", number(read + written)),
        ("SUM_TIMER_WAIT", timer.length(waits.ticks)),
        ("AVG_TIMER_WAIT", timer.average(waits.ticks, read + written)),
        ("MAX_TIMER_WAIT", timer.length(waits.longest)),
        ("COUNT_READ", number(read)),
        ("COUNT_WRITE", number(written)),
        ("COUNT_FETCH", number(read)),
        ("COUNT_INSERT", number(rows.inserted)),
        ("COUNT_UPDATE", number(rows.updated)),
        ("COUNT_DELETE", number(rows.deleted)),
    ]
}

pub(super) fn by_table<'a>(tables: impl Iterator<Item = &'a TableDef>, uses: &Uses, timer: &Timer) -> Vec<Row> {
    let row = |def| {
        let of = uses.table(def);
        let cells = names(of.def).into_iter().chain(counts(&of.rows, &of.waits, timer));
        named(DATABASE, "table_io_waits_summary_by_table", cells)
    };
    tables.map(row).collect()
}

pub(super) fn by_index<'a>(tables: impl Iterator<Item = &'a TableDef>, uses: &Uses, timer: &Timer) -> Vec<Row> {
    let row = |of: IndexUse<'_>| {
        let index = std::iter::once(("INDEX_NAME", of.index.map_or(Value::Null, text)));
        let cells = names(of.def).into_iter().chain(index).chain(counts(&of.rows, &of.waits, timer));
        named(DATABASE, "table_io_waits_summary_by_index_usage", cells)
    };
    tables.flat_map(|def| uses.indexes(def)).map(row).collect()
}

/// Waits for the definitions of tables.
pub(super) fn locks<'a>(tables: impl Iterator<Item = &'a TableDef>, uses: &Uses, timer: &Timer) -> Vec<Row> {
    let row = |def: &TableDef| {
        let waits = uses.definitions.get(&def.id.0).copied().unwrap_or_default();
        let cells = [
            ("COUNT_STAR", number(waits.count)),
            ("SUM_TIMER_WAIT", timer.length(waits.ticks)),
            ("AVG_TIMER_WAIT", timer.average(waits.ticks, waits.count)),
            ("MAX_TIMER_WAIT", timer.length(waits.longest)),
        ];
        named(DATABASE, "table_lock_waits_summary_by_table", names(def).into_iter().chain(cells))
    };
    tables.map(row).collect()
}

/// `sys.schema_unused_indexes`: those that are not unique and were not used since the start.
pub(super) fn unused<'a>(tables: impl Iterator<Item = &'a TableDef>, uses: &Uses) -> Vec<Row> {
    let is_unused = |of: &IndexUse<'_>| {
        matches!(of.kind, IndexKind::Secondary | IndexKind::MultiValued { unique: false })
            && rows_read(&of.rows) + rows_written(&of.rows) == 0
    };
    let row = |of: IndexUse<'_>| {
        let cells = [
            ("object_schema", text(&of.def.database)),
            ("object_name", text(&of.def.name)),
            ("index_name", text(of.index.unwrap_or_default())),
        ];
        named("sys", "schema_unused_indexes", cells)
    };
    tables.flat_map(|def| uses.indexes(def)).filter(is_unused).map(row).collect()
}

/// `sys.schema_index_statistics`
pub(super) fn index_statistics<'a>(
    tables: impl Iterator<Item = &'a TableDef>,
    uses: &Uses,
    timer: &Timer,
    is_raw: bool,
) -> Vec<Row> {
    let mut all: Vec<_> = tables.flat_map(|def| uses.indexes(def)).filter(|of| of.index.is_some()).collect();
    all.sort_by_key(|of| std::cmp::Reverse(of.waits.ticks));
    let row = |of: IndexUse<'_>| {
        let cells = [
            ("table_schema", text(&of.def.database)),
            ("table_name", text(&of.def.name)),
            ("index_name", text(of.index.unwrap_or_default())),
            ("rows_selected", number(rows_read(&of.rows))),
            ("select_latency", timer.shown(of.waits.ticks, is_raw)),
        ];
        let cells = cells.into_iter().chain(changed(&of.rows, timer, is_raw));
        named("sys", if is_raw { "x$schema_index_statistics" } else { "schema_index_statistics" }, cells)
    };
    all.into_iter().map(row).collect()
}

/// `sys.schema_table_statistics`
pub(super) fn table_statistics<'a>(
    tables: impl Iterator<Item = &'a TableDef>,
    uses: &Uses,
    timer: &Timer,
    is_raw: bool,
) -> Vec<Row> {
    let mut all: Vec<_> = tables.map(|def| uses.table(def)).collect();
    all.sort_by_key(|of| std::cmp::Reverse(of.waits.ticks));
    let row = |of: TableUse<'_>| {
        let cells = [
            ("table_schema", text(&of.def.database)),
            ("table_name", text(&of.def.name)),
            ("total_latency", timer.shown(of.waits.ticks, is_raw)),
            ("rows_fetched", number(rows_read(&of.rows))),
            ("fetch_latency", timer.shown(of.waits.ticks, is_raw)),
        ];
        let cells = cells.into_iter().chain(changed(&of.rows, timer, is_raw));
        named("sys", if is_raw { "x$schema_table_statistics" } else { "schema_table_statistics" }, cells)
    };
    all.into_iter().map(row).collect()
}

/// `sys.schema_tables_with_full_table_scans`
pub(super) fn scanned<'a>(tables: impl Iterator<Item = &'a TableDef>, uses: &Uses, timer: &Timer, is_raw: bool) -> Vec<Row> {
    let mut all: Vec<_> = tables.map(|def| uses.table(def)).filter(|of| of.rows.scanned > 0).collect();
    all.sort_by_key(|of| std::cmp::Reverse(of.rows.scanned));
    let row = |of: TableUse<'_>| {
        let cells = [
            ("object_schema", text(&of.def.database)),
            ("object_name", text(&of.def.name)),
            ("rows_full_scanned", number(of.rows.scanned)),
            ("latency", timer.shown(of.waits.ticks, is_raw)),
        ];
        let table = if is_raw { "x$schema_tables_with_full_table_scans" } else { "schema_tables_with_full_table_scans" };
        named("sys", table, cells)
    };
    all.into_iter().map(row).collect()
}
