//! The definition and the price of an index that a rule advises.

use crate::finding::list;
use crate::workload::{TableUse, Workload};
use types::TypeKind;
use types::schema::{ColumnDef, IndexDef, IndexKind, TableDef};

/// Columns of an advised index.
pub const COLUMNS_MAX: usize = 4;
/// Characters of a text column in an index.
const CHARACTERS_MAX: u32 = 255;
/// Bytes of an entry beside its values.
const ENTRY_BYTES: u64 = 24;

/// Can it be a column of an index without a prefix?
pub fn fits(column: &ColumnDef) -> bool {
    match column.ty.kind {
        TypeKind::Text(_) | TypeKind::Blob(_) | TypeKind::Json | TypeKind::Geometry { .. } | TypeKind::Null => false,
        TypeKind::VarChar { length }
        | TypeKind::VarBinary { length }
        | TypeKind::Char { length }
        | TypeKind::Binary { length } => length <= CHARACTERS_MAX,
        _ => true,
    }
}

/// The bytes of a value in an index, about.
pub fn width(column: &ColumnDef) -> u64 {
    match column.ty.kind {
        TypeKind::TinyInt | TypeKind::Year => 1,
        TypeKind::SmallInt | TypeKind::Enum { .. } => 2,
        TypeKind::VarChar { length } | TypeKind::VarBinary { length } => u64::from(length / 2).max(4),
        TypeKind::Char { length } | TypeKind::Binary { length } => u64::from(length),
        TypeKind::Int | TypeKind::Date | TypeKind::Float | TypeKind::MediumInt => 4,
        _ => 8,
    }
}

/// The indexes that plans may use, with their place.
pub fn usable(def: &TableDef) -> impl Iterator<Item = (usize, &IndexDef)> {
    def.indexes.iter().enumerate().filter(|(_, index)| !index.invisible && index.kind != IndexKind::HiddenRowId)
}

/// Is there an index that begins with one of the columns?
pub fn leads_with_any(def: &TableDef, columns: &[usize]) -> bool {
    usable(def).any(|(_, index)| index.columns.first().is_some_and(|part| columns.contains(&part.column)))
}

pub fn names<'d>(def: &'d TableDef, columns: &[usize]) -> Vec<&'d str> {
    columns.iter().map(|column| def.columns[*column].name.as_str()).collect()
}

/// The parts of an index.
pub fn parts(def: &TableDef, columns: &[usize]) -> String {
    list(names(def, columns))
}

/// The bytes of an index with these columns, about.
pub fn size(workload: &Workload<'_>, def: &TableDef, columns: &[usize]) -> u64 {
    let of_row = def.primary().columns.iter().map(|part| &part.column);
    let key: u64 = columns.iter().chain(of_row).map(|column| width(&def.columns[*column])).sum();
    workload.table(def).map_or(0, |used| used.rows) * (key + ENTRY_BYTES)
}

/// The size of the index, and what writers pay at the rate seen.
pub fn price(workload: &Workload<'_>, def: &TableDef, columns: &[usize]) -> String {
    let nothing = TableUse::default();
    let used = workload.table(def).unwrap_or(&nothing);
    let size = size(workload, def, columns);
    let tree = used.trees.first().copied().unwrap_or_default();
    let written = tree.inserted + tree.updated + tree.deleted;
    let rate = written as f64 / workload.uptime_s.max(1.0);
    format!("about {} on disk; one more entry for each row written ({rate:.1} per second since the start)", bytes(size))
}

pub fn bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{} MiB", bytes / 1_048_576),
    }
}
