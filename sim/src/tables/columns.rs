//! What a column is, and what stands in it: all by its number, so that rows are known by numbers alone.

use super::model::{Column, Definition};
use os::sim::scheduler::fail;
use table::Table;
use types::schema::{ColumnDef, ColumnDefault};
use types::{ColumnType, LobSize, TypeKind, Value};

/// Bytes of large values: within the row, at its edge, and in one chunk and more of the blob tree.
const LENGTHS: [usize; 7] = [0, 10, 300, 2_000, 3_000, 9_000, 20_000];

pub const KEY: Column = 0;

pub fn name(column: Column) -> String {
    if column == KEY { "id".into() } else { format!("c{column}") }
}

pub fn index_name(index: u16) -> String {
    format!("k{index}")
}

enum Sort {
    Number,
    Word,
    Large,
    Small,
    Text,
}

fn sort(column: Column) -> Sort {
    match column % 6 {
        0 => Sort::Number,
        1 => Sort::Word,
        2 => Sort::Large,
        3 => Sort::Small,
        4 => Sort::Text,
        // Variable and fixed columns lie apart in a row: there are as many of these as of those.
        _ => Sort::Number,
    }
}

/// Can an index have it? Large values would need a prefix.
pub fn has_keys(column: Column) -> bool {
    column == KEY || !matches!(sort(column), Sort::Large)
}

pub fn definition(column: Column) -> ColumnDef {
    let new = |kind, nullable| ColumnDef::new(name(column), ColumnType::new(kind), nullable);
    let with = |default: String, column: ColumnDef| ColumnDef { default: ColumnDefault::Literal(Some(default)), ..column };
    if column == KEY {
        return new(TypeKind::BigInt, false);
    }
    match sort(column) {
        Sort::Number => with(column.to_string(), new(TypeKind::BigInt, false)),
        Sort::Word => with(format!("d{column}"), new(TypeKind::VarChar { length: 20 }, true)),
        Sort::Large => new(TypeKind::Blob(LobSize::Long), true),
        Sort::Small => new(TypeKind::Int, true),
        Sort::Text => with(format!("x{column}"), new(TypeKind::VarChar { length: 300 }, false)),
    }
}

fn bytes(text: impl Into<Vec<u8>>) -> Value<'static> {
    Value::Bytes(text.into().into())
}

/// What rows have in it that were written before it came.
fn default(column: Column) -> Value<'static> {
    match sort(column) {
        Sort::Number => Value::Int(column.into()),
        Sort::Word => bytes(format!("d{column}")),
        Sort::Large | Sort::Small => Value::Null,
        Sort::Text => bytes(format!("x{column}")),
    }
}

/// What a seed makes in it; without one, its default.
pub fn value(column: Column, seed: Option<u64>) -> Value<'static> {
    let Some(seed) = seed else { return default(column) };
    let null = |value| if seed % 5 == 0 { Value::Null } else { value };
    match sort(column) {
        Sort::Number => Value::Int(seed as i64),
        Sort::Word => null(bytes(format!("{seed:x}"))),
        Sort::Large => null(bytes(vec![seed as u8 & 0x7f; LENGTHS[(seed >> 8) as usize % LENGTHS.len()]])),
        Sort::Small => null(Value::Int(seed as i32 as i64)),
        Sort::Text => bytes(format!("{seed:x}").repeat(seed as usize % 18)),
    }
}

fn number(name: &str, letter: char) -> u16 {
    let number = name.strip_prefix(letter).and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| fail(&format!("{name} is nobody's name")))
}

/// The numbers of an open table's columns, in their order.
pub fn numbers(table: &Table) -> Vec<Column> {
    let of = |column: &ColumnDef| if column.name == "id" { KEY } else { number(&column.name, 'c') };
    table.def().columns.iter().map(of).collect()
}

/// The definition that a table is open with.
pub fn found(table: &Table) -> Definition {
    let columns = numbers(table);
    let indexes = table.def().indexes.iter().filter(|index| index.name != "PRIMARY").map(|index| {
        let parts = index.columns.iter().map(|part| columns[part.column]).collect();
        (number(&index.name, 'k'), parts)
    });
    Definition { indexes: indexes.collect(), columns }
}
