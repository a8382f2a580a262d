//! What there is to copy: tables with their columns, and the key by which their rows are read in chunks.

use crate::end::{End, quoted};
use crate::error::{Error, Result};
use crate::journal::{KeyValue, Slice};
use mysql::{Conn, Value};
use std::collections::BTreeMap;

/// Databases that are the servers' own, as a list of SQL.
pub const OWN_DATABASES: &str = "('mysql', 'information_schema', 'performance_schema', 'sys', 'ndbinfo', 'heddle_migrate_check', 'heddle_restore_unfinished')";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    /// `int`, `varchar`, `json` ...
    pub kind: String,
    pub is_generated: bool,
    pub is_nullable: bool,
}

impl Column {
    fn is_integer(&self) -> bool {
        matches!(self.kind.as_str(), "tinyint" | "smallint" | "mediumint" | "int" | "bigint")
    }

    /// Can a comparison with a value of the column go by the index?
    fn is_ordered(&self) -> bool {
        self.is_integer()
            || matches!(
                self.kind.as_str(),
                "decimal" | "char" | "varchar" | "binary" | "varbinary" | "date" | "datetime" | "timestamp" | "time" | "year"
            )
    }
}

/// A table with rows of its own.
#[derive(Clone, Debug)]
pub struct Table {
    pub database: String,
    /// Its database at the target.
    pub database_there: String,
    pub name: String,
    pub engine: String,
    /// As the source guesses.
    pub rows_about: u64,
    /// Bytes of a row, as the source guesses.
    pub row_bytes: u64,
    pub columns: Vec<Column>,
    /// Positions of the columns of the primary key, else of a unique key without NULLs.
    pub key: Vec<usize>,
}

/// Statistics change while the definition is the same.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        (&self.database, &self.name, &self.columns, &self.key) == (&other.database, &other.name, &other.columns, &other.key)
    }
}

impl Table {
    /// Its name at the source.
    pub fn quoted(&self) -> String {
        format!("{}.{}", quoted(&self.database), quoted(&self.name))
    }

    /// Its name at the target.
    pub fn quoted_there(&self) -> String {
        format!("{}.{}", quoted(&self.database_there), quoted(&self.name))
    }

    /// Its name at one of the two.
    pub fn quoted_at(&self, end: &End) -> String {
        if end.is_target() { self.quoted_there() } else { self.quoted() }
    }

    pub fn shown(&self) -> String {
        format!("{}.{}", self.database, self.name)
    }

    /// Columns that are stored.
    pub fn stored(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.columns.iter().enumerate().filter(|(_, column)| !column.is_generated)
    }

    /// Can its rows be read in chunks? Else they are read by one statement.
    pub fn has_chunks(&self) -> bool {
        !self.key.is_empty() && self.key.iter().all(|at| self.columns[*at].is_ordered())
    }

    /// Can the table be cut by numbers of the key's first column?
    pub fn has_numbers(&self) -> bool {
        self.has_chunks() && self.columns[self.key[0]].is_integer()
    }

    /// The key's columns, for ORDER BY.
    pub fn order(&self) -> String {
        self.key.iter().map(|at| quoted(&self.columns[*at].name)).collect::<Vec<_>>().join(", ")
    }

    /// Rows whose key is behind a key (`>`), or up to it (`<=`), as nested conditions that go by the index, and their parameters.
    pub fn beside(&self, operator: &str, key: &[KeyValue]) -> (String, Vec<Value>) {
        let (strict, end) = match operator {
            ">" => (">", ">"),
            _ => ("<", "<="),
        };
        let part = |at: usize| {
            let column = &self.columns[self.key[at]];
            // A decimal is compared as a decimal.
            let parameter = if column.kind == "decimal" { "CAST(? AS DECIMAL(65, 30))" } else { "?" };
            (quoted(&column.name), parameter)
        };
        let last = self.key.len() - 1;
        let (name, parameter) = part(last);
        let mut condition = format!("{name} {end} {parameter}");
        let mut parameters = vec![last];
        for at in (0..last).rev() {
            let (name, parameter) = part(at);
            condition = format!("({name} {strict} {parameter} OR ({name} = {parameter} AND {condition}))");
            parameters.splice(0..0, [at, at]);
        }
        if last > 0 {
            let (name, parameter) = part(0);
            condition = format!("{name} {strict}= {parameter} AND {condition}");
            parameters.insert(0, 0);
        }
        (condition, parameters.into_iter().map(|at| parameter_of(&key[at])).collect())
    }

    /// The rows of a slice that are behind what was read, as a WHERE clause.
    pub fn rest(&self, slice: &Slice) -> (String, Vec<Value>) {
        let mut conditions = Vec::new();
        let mut parameters = Vec::new();
        if slice.low.is_some() || slice.high.is_some() {
            let first = quoted(&self.columns[self.key[0]].name);
            conditions.extend(slice.low.map(|low| format!("{first} >= {low}")));
            conditions.extend(slice.high.map(|high| format!("{first} < {high}")));
        }
        if let Some(after) = &slice.after {
            let (condition, values) = self.beside(">", after);
            conditions.push(condition);
            parameters = values;
        }
        let text = if conditions.is_empty() { String::new() } else { format!(" WHERE {}", conditions.join(" AND ")) };
        (text, parameters)
    }
}

fn parameter_of(value: &KeyValue) -> Value {
    match value {
        KeyValue::Int(number) => Value::Int(*number),
        KeyValue::UInt(number) => Value::UInt(*number),
        KeyValue::Bytes(bytes) => Value::Bytes(bytes.clone()),
    }
}

/// A value of a key as the journal keeps it.
pub fn key_value(value: &Value) -> KeyValue {
    match value {
        Value::Int(number) => KeyValue::Int(*number),
        Value::UInt(number) => KeyValue::UInt(*number),
        Value::Bytes(bytes) => KeyValue::Bytes(bytes.clone()),
        // '2026-11-29 12:00:00' without its quotes
        other => KeyValue::Bytes(other.as_sql(true).trim_matches('\'').as_bytes().to_vec()),
    }
}

/// All tables of the source, in the order of their names.
///
/// # Errors
/// The source's.
pub fn read(source: &End) -> Result<Vec<Table>> {
    let mut conn = source.connect()?;
    type Name = (String, String);
    let mut tables: BTreeMap<Name, Table> = BTreeMap::new();
    let query = format!(
        "SELECT table_schema, table_name, IFNULL(engine, ''), CAST(IFNULL(table_rows, 0) AS UNSIGNED), CAST(IFNULL(avg_row_length, 0) AS UNSIGNED) \
         FROM information_schema.tables WHERE table_type = 'BASE TABLE' AND table_schema NOT IN {OWN_DATABASES}"
    );
    for (database, name, engine, rows_about, row_bytes) in source.rows::<(String, String, String, u64, u64)>(&mut conn, &query)? {
        let (columns, key) = (Vec::new(), Vec::new());
        let database_there = database.clone();
        let table =
            Table { database: database.clone(), database_there, name: name.clone(), engine, rows_about, row_bytes, columns, key };
        tables.insert((database, name), table);
    }
    let query = format!(
        "SELECT table_schema, table_name, column_name, LOWER(data_type), extra, is_nullable FROM information_schema.columns \
         WHERE table_schema NOT IN {OWN_DATABASES} ORDER BY table_schema, table_name, ordinal_position"
    );
    for (database, table, name, kind, extra, nullable) in
        source.rows::<(String, String, String, Vec<u8>, String, String)>(&mut conn, &query)?
    {
        // A view has columns too.
        let Some(table) = tables.get_mut(&(database, table)) else { continue };
        let is_generated = ["VIRTUAL GENERATED", "STORED GENERATED"].iter().any(|word| extra.to_ascii_uppercase().contains(word));
        let kind = String::from_utf8_lossy(&kind).into_owned();
        table.columns.push(Column { name, kind, is_generated, is_nullable: nullable == "YES" });
    }
    keys(source, &mut conn, &mut tables)?;
    Ok(tables.into_values().collect())
}

/// Chooses the key of each table.
fn keys(source: &End, conn: &mut Conn, tables: &mut BTreeMap<(String, String), Table>) -> Result<()> {
    let query = format!(
        "SELECT table_schema, table_name, index_name, IFNULL(column_name, ''), sub_part FROM information_schema.statistics \
         WHERE non_unique = 0 AND table_schema NOT IN {OWN_DATABASES} ORDER BY table_schema, table_name, index_name = 'PRIMARY' DESC, \
         index_name, seq_in_index"
    );
    type Part = (String, String, String, String, Option<u64>);
    let parts: Vec<Part> = source.rows(conn, &query)?;
    for index in parts.chunk_by(|a, b| (&a.0, &a.1, &a.2) == (&b.0, &b.1, &b.2)) {
        let Some(table) = tables.get_mut(&(index[0].0.clone(), index[0].1.clone())) else { continue };
        let position = |part: &Part| {
            let at = table.columns.iter().position(|column| column.name == part.3)?;
            let column = &table.columns[at];
            (part.4.is_none() && !column.is_nullable && !column.is_generated).then_some(at)
        };
        if let Some(key) = index.iter().map(position).collect::<Option<Vec<usize>>>()
            && table.key.is_empty()
        {
            table.key = key;
        }
    }
    Ok(())
}

/// # Errors
/// The table is not among them.
pub fn find<'t>(tables: &'t [Table], database: &str, name: &str) -> Result<&'t Table> {
    let found = tables.iter().find(|table| table.database == database && table.name == name);
    found.ok_or_else(|| Error(format!("the source has no table {database}.{name} any more")))
}

#[cfg(test)]
mod tests {
    use super::{Column, KeyValue, Slice, Table};
    use mysql::Value;

    fn table(kinds: &[&str]) -> Table {
        let column = |(at, kind): (usize, &&str)| Column {
            name: format!("c{at}"),
            kind: (*kind).to_owned(),
            is_generated: false,
            is_nullable: false,
        };
        let columns: Vec<Column> = kinds.iter().enumerate().map(column).collect();
        Table {
            database: "d".into(),
            database_there: "d".into(),
            name: "t".into(),
            engine: "InnoDB".into(),
            rows_about: 0,
            row_bytes: 0,
            key: (0..columns.len()).collect(),
            columns,
        }
    }

    #[test]
    fn conditions_of_chunks_go_by_the_key() {
        let one = table(&["bigint"]);
        assert_eq!(one.beside(">", &[KeyValue::Int(5)]), ("`c0` > ?".to_owned(), vec![Value::Int(5)]));
        let two = table(&["int", "decimal"]);
        let key = [KeyValue::Int(5), KeyValue::Bytes(b"1.5".to_vec())];
        let (condition, parameters) = two.beside("<=", &key);
        assert_eq!(condition, "`c0` <= ? AND (`c0` < ? OR (`c0` = ? AND `c1` <= CAST(? AS DECIMAL(65, 30))))");
        assert_eq!(parameters, [Value::Int(5), Value::Int(5), Value::Int(5), Value::Bytes(b"1.5".to_vec())]);
        let slice = Slice { low: Some(1), high: Some(9), after: Some(vec![KeyValue::Int(5)]), is_done: false, rows: 0 };
        assert_eq!(one.rest(&slice).0, " WHERE `c0` >= 1 AND `c0` < 9 AND `c0` > ?");
        assert_eq!(one.rest(&Slice::default()).0, "");
    }

    #[test]
    fn keys_without_an_order_of_values_have_no_chunks() {
        assert!(table(&["varchar", "datetime"]).has_chunks() && !table(&["varchar"]).has_numbers());
        assert!(!table(&["enum"]).has_chunks() && !table(&["int", "double"]).has_chunks());
    }
}
