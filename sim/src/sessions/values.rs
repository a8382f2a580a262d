//! Columns and values. A column's name contains its number, which determines its kind. A value contains the place where it belongs.

use super::model::Column;

/// The digits of the table, column, row and version within a number.
const VERSIONS: i64 = 1_000_000;
const ROWS: i64 = 10_000;
const COLUMNS: i64 = 10_000;
/// The row number within a default value.
const NO_ROW: i64 = ROWS - 1;

/// The kind of values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Number,
    Text,
    /// Texts that are sometimes too long for a page; never indexed.
    Long,
}

pub fn kind(column: Column) -> Kind {
    match column % 5 {
        0 | 3 => Kind::Number,
        4 => Kind::Long,
        _ => Kind::Text,
    }
}

pub fn name(column: Column) -> String {
    format!("c{column}")
}

/// The number of a column by its name.
pub fn number(name: &str) -> Option<Column> {
    name.strip_prefix('c')?.parse().ok()
}

/// A type for the column. Several types can hold its values.
pub fn definition(table: usize, column: Column, variant: u64) -> String {
    let types: &[&str] = match kind(column) {
        Kind::Number => &["BIGINT", "DECIMAL(30,0)", "BIGINT"],
        Kind::Text => &["VARCHAR(200)", "VARCHAR(300)", "VARCHAR(500)"],
        Kind::Long => &["TEXT", "MEDIUMTEXT", "LONGTEXT"],
    };
    let ty = types[(variant % types.len() as u64) as usize];
    match default(table, column) {
        Some(value) => format!("{} {ty} NOT NULL DEFAULT {}", name(column), literal(column, &value)),
        None => format!("{} {ty}", name(column)),
    }
}

/// The value in rows that are older than the column, or were inserted without it.
pub fn default(table: usize, column: Column) -> Option<Vec<u8>> {
    let has_one = column.is_multiple_of(2) && kind(column) != Kind::Long;
    has_one.then(|| value(table, column, NO_ROW, 0))
}

pub fn value(table: usize, column: Column, row: i64, version: u64) -> Vec<u8> {
    let version = version as i64;
    if kind(column) == Kind::Number {
        let number = ((table as i64 + 1) * COLUMNS + i64::from(column)) * ROWS + row;
        return (number * VERSIONS + version).to_string().into_bytes();
    }
    let mut text = format!("t{table}{}r{row}v{version}", name(column)).into_bytes();
    let padding = match kind(column) {
        Kind::Long if version % 3 == 1 => version * 977 % 9_000,
        _ if version % 4 == 1 => version * 37 % 120,
        _ => 0,
    };
    text.resize(text.len() + padding as usize, b'.');
    text
}

/// The SQL expression for a value whose row is that of each updated row.
pub fn expression(table: usize, column: Column, version: u64) -> Option<String> {
    let plain = value(table, column, 0, version);
    match kind(column) {
        Kind::Number => Some(format!("{} + id * {VERSIONS}", String::from_utf8_lossy(&plain))),
        Kind::Text if !plain.ends_with(b".") => Some(format!("CONCAT('t{table}{}r', id, 'v{version}')", name(column))),
        Kind::Text | Kind::Long => None,
    }
}

pub fn literal(column: Column, value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    if kind(column) == Kind::Number { text.into_owned() } else { format!("'{text}'") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_tells_where_it_belongs() {
        let mut all = std::collections::BTreeSet::new();
        for table in 0..3 {
            for column in [1, 3, 4, 5, 13] {
                for row in [0, 1, 42] {
                    for version in [0, 1, 7, 9_999] {
                        assert!(all.insert(value(table, column, row, version)));
                    }
                }
            }
        }
        assert_eq!(number(&name(17)), Some(17));
    }
}
