//! The sources of the rows of information_schema.
//!
//! A table about something that Heddle does not have (tablespaces) is present and empty, because tools join with it. If
//! a statement restricts the schema or the table by name, rows are made for these only ([`Wanted`]).

use super::build::{is_text, number, optional, text};
use super::cells::{column_privileges, created, engine, next_number, sizes, table_type};
use super::innodb;
use super::server::ENGINE_COMMENT;
use super::source::{Maker, Row, Source};
use crate::text_log::Log;
use sql::charsets;
use std::sync::Arc;
use types::geometry::{srs, units};
use types::partition::show;
use types::schema::{CheckDef, ColumnDef, ForeignKeyDef, IndexKind, TableDef, ViewDef};
use types::temporal::TimeZone;
use types::{ColumnType, LobSize, TypeKind, Value, show_create};

/// The tables of information_schema with rows.
#[rustfmt::skip]
pub const MAKERS: &[(&str, Maker)] = &[
    ("CHARACTER_SETS", character_sets), ("CHECK_CONSTRAINTS", check_constraints), ("COLLATIONS", collations),
    ("COLLATION_CHARACTER_SET_APPLICABILITY", collation_sets), ("COLUMNS", columns), ("COLUMNS_EXTENSIONS", column_extensions),
    ("COLUMN_STATISTICS", column_statistics), ("ENGINES", engines), ("EVENTS", crate::event::rows), ("INNODB_BUFFER_POOL_STATS", innodb::buffer_pool),
    ("INNODB_FIELDS", innodb::fields), ("INNODB_FT_DEFAULT_STOPWORD", stop_words), ("INNODB_FOREIGN", innodb::foreign_keys),
    ("INNODB_FOREIGN_COLS", innodb::foreign_columns), ("INNODB_INDEXES", innodb::indexes), ("INNODB_TABLES", innodb::tables),
    ("INNODB_TABLESTATS", innodb::table_statistics), ("INNODB_TRX", innodb::transactions), ("KEYWORDS", keywords),
    ("KEY_COLUMN_USAGE", key_column_usage), ("PARAMETERS", crate::routine::parameters), ("PARTITIONS", partitions), ("PLUGINS", plugins), ("PROCESSLIST", processes),
    ("REFERENTIAL_CONSTRAINTS", referential_constraints), ("ROUTINES", routines), ("SCHEMATA", schemata), ("SCHEMATA_EXTENSIONS", schemata_extensions),
    ("STATISTICS", statistics), ("ST_GEOMETRY_COLUMNS", geometry_columns), ("ST_SPATIAL_REFERENCE_SYSTEMS", reference_systems),
    ("ST_UNITS_OF_MEASURE", units_of_measure), ("TABLES", tables), ("TABLES_EXTENSIONS", table_extensions), ("TABLE_CONSTRAINTS", table_constraints),
    ("TABLE_CONSTRAINTS_EXTENSIONS", constraint_extensions), ("TRIGGERS", crate::routine::trigger_rows),
    ("VIEWS", views), ("VIEW_TABLE_USAGE", view_table_usage),
];

/// The tables of `mysql` with rows.
pub const MYSQL_MAKERS: &[(&str, Maker)] = &[
    ("general_log", |source| logged(source, Log::General)),
    ("innodb_index_stats", innodb::stored_index_statistics),
    ("innodb_table_stats", innodb::stored_table_statistics),
    ("slow_log", |source| logged(source, Log::Slow)),
    ("time_zone", time_zones),
    ("time_zone_name", time_zone_names),
];

const CATALOG: &str = "def";

fn logged(source: &Source<'_>, log: Log) -> Vec<Row> {
    source.gathered.map_or_else(Vec::new, |gathered| gathered.logs[log as usize].clone())
}

/// The time zones that `time_zone` and CONVERT_TZ accept, by number.
fn time_zones(_: &Source<'_>) -> Vec<Row> {
    (1..=TimeZone::names().len()).map(|id| vec![number(id as u64), text("N")]).collect()
}

fn time_zone_names(_: &Source<'_>) -> Vec<Row> {
    TimeZone::names().into_iter().zip(1u64..).map(|(name, id)| vec![text(name), number(id)]).collect()
}

fn character_sets(_: &Source<'_>) -> Vec<Row> {
    let row = |set: &charsets::Charset| vec![text(set.name), text(set.collation), text(set.description), number(set.max_bytes)];
    charsets::CHARSETS.iter().map(row).collect()
}

/// The collations by their set, then by their number, as in MySQL.
fn by_set() -> impl Iterator<Item = &'static charsets::Collation> {
    let mut all: Vec<&charsets::Collation> = charsets::COLLATIONS.iter().collect();
    all.sort_by_key(|collation| (collation.charset, collation.id));
    all.into_iter()
}

fn collations(_: &Source<'_>) -> Vec<Row> {
    let row = |collation: &charsets::Collation| {
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
    by_set().map(row).collect()
}

fn collation_sets(_: &Source<'_>) -> Vec<Row> {
    by_set().map(|collation| vec![text(collation.name), text(collation.charset)]).collect()
}

fn engines(_: &Source<'_>) -> Vec<Row> {
    vec![vec![text("InnoDB"), text("DEFAULT"), text(ENGINE_COMMENT), text("YES"), text("NO"), text("YES")]]
}

fn processes(source: &Source<'_>) -> Vec<Row> {
    let Some(gathered) = source.gathered else { return Vec::new() };
    gathered.processes.iter().map(super::server::process_row).collect()
}

fn routines(source: &Source<'_>) -> Vec<Row> {
    crate::routine::rows(source, None)
}

fn schemata(source: &Source<'_>) -> Vec<Row> {
    source
        .databases()
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

fn tables(source: &Source<'_>) -> Vec<Row> {
    source
        .definitions()
        .map(|def| {
            let open = source.worker.shared.database.table(def.id);
            let [rows, row_length, data_length, max_data_length, index_length, data_free] = sizes(open.as_deref(), 1);
            let next = next_number(open.as_deref());
            let engine = engine(def);
            let stored = |value: Value<'static>| if engine.is_none() { Value::Null } else { value };
            let created = if def.is_virtual { Value::Null } else { created(def) };
            if table_type(def) == "VIEW" {
                let mut row = vec![Value::Null; 21];
                row[..4].clone_from_slice(&[text(CATALOG), text(&def.database), text(&def.name), text(table_type(def))]);
                row[14] = created;
                row[20] = text(super::views::comment(def, source.schema));
                return row;
            }
            vec![
                text(CATALOG),
                text(&def.database),
                text(&def.name),
                text(table_type(def)),
                engine.map_or(Value::Null, text),
                Value::Int(10),
                stored(text("Dynamic")),
                rows,
                row_length,
                data_length,
                max_data_length,
                index_length,
                data_free,
                next.map_or(Value::Null, number),
                created,
                Value::Null,
                Value::Null,
                stored(text(def.collation.name())),
                Value::Null,
                text(super::cells::create_options(def)),
                text(&def.comment),
            ]
        })
        .collect()
}

fn columns(source: &Source<'_>) -> Vec<Row> {
    let rows = |def: &Arc<TableDef>| {
        // A view whose tables are gone has no rows here.
        let Ok(def) = super::views::present(def, source.schema) else { return Vec::new() };
        columns_of(source, &def)
    };
    source.definitions().flat_map(rows).collect()
}

/// The rows of COLUMNS for one table.
pub fn columns_of(source: &Source<'_>, def: &TableDef) -> Vec<Row> {
    let row = |(ordinal, (position, column))| column_row(source, def, (ordinal + 1, position), column);
    def.named_columns().enumerate().filter_map(row).collect()
}

/// Every view with its definition.
fn all_views<'a>(source: &Source<'a>) -> impl Iterator<Item = (&'a TableDef, &'a ViewDef)> + use<'a> {
    source.definitions().filter_map(|def| Some((&**def, &**def.view.as_ref()?)))
}

fn views(source: &Source<'_>) -> Vec<Row> {
    let row = |(def, view): (&TableDef, &ViewDef)| {
        let definer = format!("{}@{}", view.definer_user, view.definer_host);
        let updatable = if view.updatable { "YES" } else { "NO" };
        let security = if view.invoker { "INVOKER" } else { "DEFINER" };
        let is_told = source.access.is_none_or(|access| access.shows_view(&def.database, &def.name));
        super::texts(&[
            CATALOG,
            &def.database,
            &def.name,
            if is_told { &view.text } else { "" },
            view.check.name(),
            updatable,
            &definer,
            security,
            &view.client_charset,
            view.collation.name(),
        ])
    };
    all_views(source).map(row).collect()
}

fn view_table_usage(source: &Source<'_>) -> Vec<Row> {
    let is_seen = |name: &&(String, String)| source.access.is_none_or(|access| access.sees_table(&name.0, &name.1));
    let rows = |(def, view): (&TableDef, &ViewDef)| {
        let row =
            |(database, table): &(String, String)| super::texts(&[CATALOG, &def.database, &def.name, CATALOG, database, table]);
        view.tables.iter().filter(is_seen).map(row).collect::<Vec<_>>()
    };
    all_views(source).flat_map(rows).collect()
}

/// DATA_TYPE to COLLATION_NAME, and the type as written.
pub fn type_columns(ty: &ColumnType) -> [Value<'static>; 9] {
    let numbers = numeric_parts(ty);
    let (characters, octets) = lengths(ty);
    let is_text = is_text(ty);
    [
        text(show_create::type_name(ty)),
        characters.map_or(Value::Null, |length| Value::Int(length as i64)),
        octets.map_or(Value::Null, |length| Value::Int(length as i64)),
        numbers.0.map_or(Value::Null, number),
        numbers.1.map_or(Value::Null, number),
        match ty.kind {
            TypeKind::Time { fsp } | TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => number(fsp),
            _ => Value::Null,
        },
        optional(is_text.then(|| ty.collation.charset())),
        optional(is_text.then(|| ty.collation.name())),
        text(show_create::type_text(ty)),
    ]
}

fn column_row(source: &Source<'_>, def: &TableDef, (ordinal, position): (usize, usize), column: &ColumnDef) -> Option<Row> {
    let privileges = match source.access {
        Some(access) => column_privileges(access, def, &column.name)?,
        None => "select,insert,update,references".to_owned(),
    };
    let mut row = vec![
        text(CATALOG),
        text(&def.database),
        text(&def.name),
        text(&column.name),
        number(ordinal),
        optional(show_create::column_default_text(column)),
        text(if column.nullable { "YES" } else { "NO" }),
    ];
    row.extend(type_columns(&column.ty));
    row.extend([
        text(show_create::column_key(def, position)),
        text(show_create::column_extra(column)),
        text(privileges),
        text(&column.comment),
        text(column.generated.as_ref().map_or_else(String::new, |generated| show_create::escaped(&generated.expr.text))),
        match column.ty.kind {
            TypeKind::Geometry { srid: Some(srid), .. } => number(srid),
            _ => Value::Null,
        },
    ]);
    Some(row)
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
        TypeKind::Vector { .. } => (Some(ty.display_length().into()), Some(ty.display_length().into())),
        TypeKind::Text(size) | TypeKind::Blob(size) => {
            // The minimum number of bytes per character.
            let least = types::charset::Charset::of(ty.collation).unit_bytes() as u64;
            (Some(lob(*size) / least), Some(lob(*size)))
        }
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

fn geometry_columns(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for def in source.tables() {
        for (_, column) in def.named_columns() {
            let TypeKind::Geometry { kind, srid } = column.ty.kind else { continue };
            let is_seen = source.access.is_none_or(|access| column_privileges(access, def, &column.name).is_some());
            if !is_seen {
                continue;
            }
            rows.push(vec![
                text(CATALOG),
                text(&def.database),
                text(&def.name),
                text(&column.name),
                optional(srid.and_then(srs::find).map(|system| system.name)),
                srid.map_or(Value::Null, number),
                text(kind.lower_name()),
            ]);
        }
    }
    rows
}

/// DEFINITION is empty: see `types::geometry::srs`.
fn reference_systems(_: &Source<'_>) -> Vec<Row> {
    let row = |system: srs::Srs| {
        let authority = (system.srid != srs::CARTESIAN).then_some("EPSG");
        vec![
            text(system.name),
            number(system.srid),
            optional(authority),
            authority.map_or(Value::Null, |_| number(system.srid)),
            text(""),
            Value::Null,
        ]
    };
    srs::all().map(row).collect()
}

fn units_of_measure(_: &Source<'_>) -> Vec<Row> {
    units::UNITS.iter().map(|(name, metres)| vec![text(*name), text("LINEAR"), Value::Double(*metres), text("")]).collect()
}

fn statistics(source: &Source<'_>) -> Vec<Row> {
    source.tables().flat_map(|def| statistics_of(source, def)).collect()
}

/// The rows of STATISTICS for one table.
pub fn statistics_of(source: &Source<'_>, def: &TableDef) -> Vec<Row> {
    let mut rows = Vec::new();
    let open = source.worker.shared.database.table(def.id);
    for (number_of, index) in def.indexes.iter().enumerate().filter(|(_, index)| index.kind != IndexKind::HiddenRowId) {
        for (position, part) in index.columns.iter().enumerate() {
            let column = &def.columns[part.column];
            rows.push(vec![
                text(CATALOG),
                text(&def.database),
                text(&def.name),
                Value::Int(i64::from(!index.kind.is_unique())),
                text(&def.database),
                text(&index.name),
                number(position + 1),
                super::key_part_name(column),
                match (index.kind, part.descending) {
                    (IndexKind::FullText | IndexKind::Vector { .. }, _) => Value::Null,
                    (_, true) => text("D"),
                    (_, false) => text("A"),
                },
                Value::Int(open.as_ref().map_or(0, |table| table.cardinality(number_of, position + 1)) as i64),
                match (index.kind, part.prefix) {
                    // The bytes of a box.
                    (IndexKind::Spatial, _) => Value::Int(32),
                    (_, prefix) => prefix.map_or(Value::Null, |prefix| Value::Int(prefix.into())),
                },
                Value::Null,
                text(if column.nullable { "YES" } else { "" }),
                text(match index.kind {
                    IndexKind::FullText => "FULLTEXT",
                    IndexKind::Spatial => "SPATIAL",
                    IndexKind::Vector { .. } => "VECTOR",
                    _ => "BTREE",
                }),
                text(""),
                text(&index.comment),
                text(if index.invisible { "NO" } else { "YES" }),
                super::key_part_expression(column),
            ]);
        }
    }
    rows
}

fn table_constraints(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for def in source.tables() {
        for index in &def.indexes {
            let kind = match index.kind {
                IndexKind::Primary => "PRIMARY KEY",
                IndexKind::Unique | IndexKind::MultiValued { unique: true } => "UNIQUE",
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
    let checks = source.tables().flat_map(|def| def.checks.iter().map(move |check| (def, check)));
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
    let keys = source.tables().flat_map(|def| def.foreign_keys.iter().map(move |key| (def, key)));
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
    for def in source.tables() {
        let constraints = def.indexes.iter().filter(|index| index.kind.is_unique());
        for index in constraints {
            for (position, part) in index.columns.iter().enumerate() {
                if def.columns[part.column].hidden || !source.sees_column(def, &def.columns[part.column]) {
                    continue;
                }
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
                    // A foreign key references the columns of the unique key in order.
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

/// One line per partition, and per table without partitions. Rows are counted for the whole table and divided equally.
fn partitions(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for def in source.tables() {
        let open = source.worker.shared.database.table(def.id);
        let Some(of) = &def.partitioning else {
            rows.push(partition_line(def, sizes(open.as_deref(), 1)));
            continue;
        };
        let parts = (of.partitions.len() * of.sub_count()) as u64;
        let share = sizes(open.as_deref(), parts);
        for (n, partition) in of.partitions.iter().enumerate() {
            let mut row = partition_line(def, share.clone());
            row[3] = text(&partition.name);
            row[5] = number(n as u64 + 1);
            row[7] = text(of.by.method());
            row[9] = optional(show::expression(of));
            row[11] = optional(show::description(def, of, partition));
            row[22] = text(&partition.comment);
            row[23] = text("default");
            let Some(sub) = &of.sub else {
                rows.push(row);
                continue;
            };
            row[8] = text(sub.by.method());
            row[10] = optional(show::expression(sub));
            for (n, part) in partition.subpartitions.iter().enumerate() {
                let mut row = row.clone();
                row[4] = text(&part.name);
                row[6] = number(n as u64 + 1);
                row[22] = text(&part.comment);
                rows.push(row);
            }
        }
    }
    rows
}

fn partition_line(def: &TableDef, sizes: [Value<'static>; 6]) -> Row {
    let mut row = vec![Value::Null; 25];
    row[0] = text(CATALOG);
    row[1] = text(&def.database);
    row[2] = text(&def.name);
    row[12..18].clone_from_slice(&sizes);
    row[18] = created(def);
    row[22] = text("");
    row
}

fn schemata_extensions(source: &Source<'_>) -> Vec<Row> {
    source.databases().map(|database| super::texts(&[CATALOG, &database.name, ""])).collect()
}

fn table_extensions(source: &Source<'_>) -> Vec<Row> {
    let row = |def: &TableDef| vec![text(CATALOG), text(&def.database), text(&def.name), Value::Null, Value::Null];
    source.tables().map(row).collect()
}

fn column_extensions(source: &Source<'_>) -> Vec<Row> {
    let columns = source.tables().flat_map(|def| def.named_columns().map(move |(_, column)| (def, column)));
    let row = |(def, column): (&TableDef, &ColumnDef)| {
        vec![text(CATALOG), text(&def.database), text(&def.name), text(&column.name), Value::Null, Value::Null]
    };
    columns.filter(|(def, column)| source.sees_column(def, column)).map(row).collect()
}

fn stop_words(_: &Source<'_>) -> Vec<Row> {
    types::fulltext::DEFAULT_STOP_WORDS.iter().map(|word| vec![text(*word)]).collect()
}

/// The extensions of indexes, as in MySQL.
fn constraint_extensions(source: &Source<'_>) -> Vec<Row> {
    let indexes = source.stored_tables().flat_map(|def| def.indexes.iter().map(move |index| (def, index)));
    let row = |(def, index): (&TableDef, &types::schema::IndexDef)| {
        vec![text(CATALOG), text(&def.database), text(&index.name), text(&def.name), Value::Null, Value::Null]
    };
    indexes.filter(|(_, index)| index.kind != IndexKind::HiddenRowId).map(row).collect()
}

/// The histograms created by UPDATE HISTOGRAM. Buckets contain sort keys, so their values cannot be shown.
fn column_statistics(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for def in source.stored_tables() {
        let Some(statistics) = source.worker.shared.database.table(def.id).and_then(|table| table.statistics()) else { continue };
        for (position, column) in def.columns.iter().enumerate() {
            let Some(histogram) = statistics.histogram(position).filter(|_| source.sees_column(def, column)) else { continue };
            let Some(asked) = histogram.asked else { continue };
            let document = format!(
                "{{\"null-values\": {:?}, \"collation-id\": {}, \"histogram-type\": \"equi-height\", \"auto-update\": false, \
                 \"number-of-buckets-specified\": {asked}}}",
                histogram.nulls, column.ty.collation.0
            );
            rows.push(super::texts(&[&def.database, &def.name, &column.name, &document]));
        }
    }
    rows
}

fn keywords(_: &Source<'_>) -> Vec<Row> {
    let reserved = sql::keywords().map(|word| (word, 1));
    let mut words: Vec<_> = reserved.chain(sql::unreserved_words().map(|word| (word, 0))).collect();
    words.sort_unstable();
    words.into_iter().map(|(word, reserved)| vec![text(word), Value::Int(reserved)]).collect()
}

fn plugins(_: &Source<'_>) -> Vec<Row> {
    let row = |(name, kind, description): &(&str, &str, &str)| {
        vec![
            text(*name),
            text("1.0"),
            text("ACTIVE"),
            text(*kind),
            text("1.0"),
            Value::Null,
            Value::Null,
            text("Heddle"),
            text(*description),
            text("Apache-2.0"),
            text("FORCE"),
        ]
    };
    super::server::PLUGINS.iter().map(row).collect()
}
