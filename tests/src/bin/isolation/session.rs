//! One session: a connection with its own thread, so that its statements can wait.

use crate::DATABASE;
use mysql::prelude::Queryable;
use mysql::{Conn, Value};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tests::Address;

pub struct Session {
    /// Its connection's number.
    pub connection: u64,
    statements: Sender<String>,
    answers: Receiver<String>,
}

impl Session {
    pub fn start(address: &Address, level: &str) -> Result<Self, String> {
        let mut conn = address.connect_to(DATABASE).map_err(|e| e.to_string())?;
        for set in [format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"), "SET innodb_lock_wait_timeout = 15".into()] {
            conn.query_drop(set).map_err(|e| e.to_string())?;
        }
        let connection = u64::from(conn.connection_id());
        let (statements, to_do) = channel::<String>();
        let (done, answers) = channel();
        // It ends with its connection when the session is dropped, or at the latest when its statement does.
        std::thread::spawn(move || {
            for sql in to_do {
                if done.send(answer(&mut conn, &sql)).is_err() {
                    return;
                }
            }
        });
        Ok(Self { connection, statements, answers })
    }

    pub fn give(&mut self, sql: &str) -> Result<(), String> {
        self.statements.send(sql.to_owned()).map_err(|_| "the session is gone".to_owned())
    }

    /// How the statement ended; `None`: not yet.
    pub fn answer(&mut self, patience: Duration) -> Option<String> {
        self.answers.recv_timeout(patience).ok()
    }
}

/// Rows as `1,10 2,20`, `-` for none; the number of changed rows; or `error 1213`.
fn answer(conn: &mut Conn, sql: &str) -> String {
    let mut result = match conn.query_iter(sql) {
        Ok(result) => result,
        Err(mysql::Error::MySqlError(e)) => return format!("error {}", e.code),
        Err(e) => return e.to_string(),
    };
    if result.columns().as_ref().is_empty() {
        return format!("{} rows", result.affected_rows());
    }
    let mut rows = Vec::new();
    for row in result.by_ref() {
        match row {
            Ok(row) => rows.push(row.unwrap().iter().map(text).collect::<Vec<_>>().join(",")),
            Err(mysql::Error::MySqlError(e)) => return format!("error {}", e.code),
            Err(e) => return e.to_string(),
        }
    }
    if rows.is_empty() { "-".into() } else { rows.join(" ") }
}

fn text(value: &Value) -> String {
    match value {
        Value::NULL => "NULL".into(),
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        other => other.as_sql(true),
    }
}

/// Makes the database anew with a scenario's tables.
pub fn prepare(address: &Address, setup: &[&str]) -> Result<(), String> {
    let mut conn = address.connect().map_err(|e| e.to_string())?;
    let anew = [format!("DROP DATABASE IF EXISTS {DATABASE}"), format!("CREATE DATABASE {DATABASE}"), format!("USE {DATABASE}")];
    for sql in anew.iter().map(String::as_str).chain(setup.iter().copied()) {
        conn.query_drop(sql).map_err(|e| format!("{sql}: {e}"))?;
    }
    Ok(())
}
