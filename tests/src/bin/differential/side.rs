//! One server of a comparison: a connection and its answers.

use ::tests::Address;
use ::tests::text::render;
use mysql::consts::{ColumnFlags, ColumnType};
use mysql::prelude::{Protocol, Queryable};
use mysql::{Params, Value};
use std::fmt::Write;

/// What a server says to a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Rows {
        columns: Vec<Shape>,
        rows: Vec<Vec<Cell>>,
    },
    Done {
        affected: u64,
    },
    Error {
        code: u16,
        message: String,
    },
    /// The connection is gone, or nothing came in time.
    Lost(String),
}

/// A value as text; `None` is NULL.
pub type Cell = Option<String>;

/// A result's column.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub name: String,
    pub kind: ColumnType,
    pub unsigned: bool,
    pub binary: bool,
    pub decimals: u8,
}

impl Shape {
    pub fn is_float(&self) -> bool {
        matches!(self.kind, ColumnType::MYSQL_TYPE_FLOAT | ColumnType::MYSQL_TYPE_DOUBLE)
    }
}

/// An answer with its warnings: number and message.
#[derive(Clone, Debug)]
pub struct Answer {
    pub outcome: Outcome,
    pub warnings: Vec<(u16, String)>,
}

pub struct Side {
    address: Address,
    database: String,
    conn: Option<mysql::Conn>,
    settings: Vec<String>,
}

/// The number of the `binary` collation.
const BINARY: u16 = 63;

impl Side {
    /// Connects and makes the database anew.
    pub fn new(name: &'static str, address: &Address, database: &str) -> Result<Self, String> {
        let mut conn = address.connect().map_err(|e| format!("{name}: {e}"))?;
        for sql in [
            format!("DROP DATABASE IF EXISTS {database}"),
            format!("CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci"),
        ] {
            conn.query_drop(sql).map_err(|e| format!("{name}: {e}"))?;
        }
        Ok(Self { address: address.clone(), database: database.into(), conn: None, settings: Vec::new() })
    }

    /// What every session of a round starts with.
    pub fn set(&mut self, settings: Vec<String>) {
        self.settings = settings;
        self.conn = None;
    }

    pub fn drop_database(&mut self) {
        // A database that stays is made anew by the next run.
        let _ = self.run(&format!("DROP DATABASE IF EXISTS {}", self.database));
    }

    /// Forgets the connection.
    pub fn reconnect(&mut self, address: &Address) {
        self.address = address.clone();
        self.conn = None;
    }

    fn open(&mut self) -> Result<&mut mysql::Conn, mysql::Error> {
        if self.conn.is_none() {
            let mut conn = self.address.connect_to(&self.database)?;
            for sql in &self.settings {
                conn.query_drop(sql)?;
            }
            self.conn = Some(conn);
        }
        Ok(self.conn.as_mut().expect("it was put there"))
    }

    pub fn run(&mut self, sql: &str) -> Answer {
        let asked = self.open().and_then(|conn| {
            let mut result = conn.query_iter(sql)?;
            let outcome = collect(&mut result)?;
            let count = result.warnings();
            drop(result);
            let warnings = if count > 0 { warnings(conn)? } else { Vec::new() };
            Ok(Answer { outcome, warnings })
        });
        self.settle(asked)
    }

    /// Likewise for a CALL: all its result sets, and at the end an error or its OK.
    pub fn run_call(&mut self, sql: &str) -> Vec<Answer> {
        let mut answers = Vec::new();
        let asked = self.open().and_then(|conn| {
            let mut result = conn.query_iter(sql)?;
            while let Some(mut set) = result.iter() {
                let columns: Vec<mysql::Column> = set.columns().as_ref().to_vec();
                let affected = set.affected_rows();
                // An error of a statement without rows arrives here, too.
                let rows = rows_of(&mut set, &columns)?;
                let outcome = if columns.is_empty() {
                    Outcome::Done { affected }
                } else {
                    Outcome::Rows { columns: columns.iter().map(shape).collect(), rows }
                };
                answers.push(Answer { outcome, warnings: Vec::new() });
            }
            let count = result.warnings();
            drop(result);
            if let Some(last) = answers.last_mut().filter(|_| count > 0) {
                last.warnings = warnings(conn)?;
            }
            Ok(())
        });
        if let Err(error) = asked {
            answers.push(self.failed(error));
        }
        answers
    }

    /// The same through the prepared protocol.
    pub fn run_prepared(&mut self, sql: &str, given: &[&str]) -> Answer {
        let asked = self.open().and_then(|conn| {
            let statement = conn.prep(sql)?;
            let outcome = {
                let mut result = conn.exec_iter(&statement, parameters(given))?;
                collect(&mut result)
            };
            conn.close(statement)?;
            Ok(Answer { outcome: outcome?, warnings: Vec::new() })
        });
        self.settle(asked)
    }

    fn settle(&mut self, asked: Result<Answer, mysql::Error>) -> Answer {
        asked.unwrap_or_else(|error| self.failed(error))
    }

    fn failed(&mut self, error: mysql::Error) -> Answer {
        let outcome = match error {
            mysql::Error::MySqlError(e) => Outcome::Error { code: e.code, message: e.message },
            e => Outcome::Lost(e.to_string()),
        };
        if matches!(&outcome, Outcome::Lost(_) | Outcome::Error { code: 1105, .. }) {
            self.conn = None;
        }
        Answer { outcome, warnings: Vec::new() }
    }
}

/// Literals as the values that a driver binds: integers, doubles, dates and texts keep their type; decimals become texts.
fn parameters(given: &[&str]) -> Params {
    if given.is_empty() {
        return Params::Empty;
    }
    Params::Positional(given.iter().map(|text| parameter(text)).collect())
}

fn parameter(text: &str) -> Value {
    if text == "NULL" {
        return Value::NULL;
    }
    if let Some(at) = text.find('\'') {
        let inner = text[at + 1..text.len() - 1].replace("''", "'");
        return match &text[..at] {
            "DATE" | "TIMESTAMP" => moment(&inner),
            _ => Value::Bytes(inner.into_bytes()),
        };
    }
    match (text.parse::<i64>(), text.contains('e')) {
        (Ok(number), _) => Value::Int(number),
        (_, true) => text.parse().map_or(Value::NULL, Value::Double),
        _ => Value::Bytes(text.as_bytes().to_vec()),
    }
}

/// `2024-01-31` or `2024-01-31 08:30:00` as a date on the wire.
fn moment(text: &str) -> Value {
    let parts: Vec<u16> = text.split(['-', ' ', ':']).filter_map(|part| part.parse().ok()).collect();
    let part = |at: usize| parts.get(at).map_or(0, |n| *n as u8);
    Value::Date(parts[0], part(1), part(2), part(3), part(4), part(5), 0)
}

fn warnings(conn: &mut mysql::Conn) -> Result<Vec<(u16, String)>, mysql::Error> {
    let rows: Vec<(String, u16, String)> = conn.query("SHOW WARNINGS")?;
    Ok(rows.into_iter().map(|(_, code, message)| (code, message)).collect())
}

fn collect<P: Protocol>(result: &mut mysql::QueryResult<'_, '_, '_, P>) -> Result<Outcome, mysql::Error> {
    let wire: Vec<mysql::Column> = result.columns().as_ref().to_vec();
    if wire.is_empty() {
        return Ok(Outcome::Done { affected: result.affected_rows() });
    }
    let rows = rows_of(result, &wire)?;
    Ok(Outcome::Rows { columns: wire.iter().map(shape).collect(), rows })
}

fn rows_of(
    set: &mut impl Iterator<Item = Result<mysql::Row, mysql::Error>>,
    wire: &[mysql::Column],
) -> Result<Vec<Vec<Cell>>, mysql::Error> {
    set.map(|row| {
        let values = row?.unwrap();
        Ok(values.iter().zip(wire).map(|(value, column)| cell(value, column)).collect())
    })
    .collect()
}

fn cell(value: &Value, column: &mysql::Column) -> Cell {
    match value {
        Value::NULL => None,
        Value::Bytes(bytes) => Some(match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => bytes.iter().fold(String::from("0x"), |mut out, b| {
                write!(out, "{b:02X}").expect("a String takes all that is written");
                out
            }),
        }),
        other => Some(render(other, column)),
    }
}

fn shape(column: &mysql::Column) -> Shape {
    Shape {
        name: column.name_str().into_owned(),
        kind: column.column_type(),
        unsigned: column.flags().contains(ColumnFlags::UNSIGNED_FLAG),
        binary: column.character_set() == BINARY,
        decimals: column.decimals(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_become_the_values_of_a_driver() {
        assert_eq!(parameter("7"), Value::Int(7));
        assert_eq!(parameter("1.5e0"), Value::Double(1.5));
        assert_eq!(parameter("9.99"), Value::Bytes(b"9.99".to_vec()));
        assert_eq!(parameter("'O''Neil'"), Value::Bytes(b"O'Neil".to_vec()));
        assert_eq!(parameter("TIMESTAMP'2024-01-31 08:30:00'"), Value::Date(2024, 1, 31, 8, 30, 0, 0));
        assert_eq!(parameter("NULL"), Value::NULL);
    }
}
