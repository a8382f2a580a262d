//! A sqllogictest driver over a real client library: text protocol, or prepared statements on request.
//!
//! D1: every script has its own new database. Its connections start in this database with the same settings.
//! D2: in prepared mode a statement that the protocol cannot prepare (error 1295) goes as text.
//! D3: `$FILES/` in a statement is the folder in which the server may make and read files. Each run of a script has its own names there.
//!     In error messages the real path is replaced by `$FILES/`.
//! D4: for LOAD DATA LOCAL the name of the file is its content.
//! D5: the driver itself runs `CONNECT AS user password [database]`: the connection changes to that account (`-` is no password). When
//!     the client is on this machine, messages call its host `localhost`, whatever name the server has for it.

use crate::server::Address;
use crate::text::render;
use mysql::LocalInfileHandler;
use mysql::consts::ColumnType as Wire;
use mysql::prelude::Queryable;
use sqllogictest::{DB, DBOutput, DefaultColumnType};
use std::fmt;
use std::io::Write;

/// What every script's session starts with.
const SETTINGS: &[&str] = &["SET NAMES utf8mb4", "SET time_zone = '+00:00'", "SET innodb_lock_wait_timeout = 2"];
/// D3
const FILES: &str = "$FILES/";
/// "This command is not supported in the prepared statement protocol yet".
const UNSUPPORTED_PREPARED: u16 = 1295;

/// One connection of a script.
pub struct Wired {
    conn: mysql::Conn,
    prepared: bool,
    /// D3
    files: String,
    address: Address,
}

/// An error as scripts see it: `1062 (23000): Duplicate entry ...`.
#[derive(Debug)]
pub struct Failure {
    pub code: u16,
    pub state: String,
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}): {}", self.code, self.state, self.message)
    }
}

impl std::error::Error for Failure {}

impl From<mysql::Error> for Failure {
    fn from(error: mysql::Error) -> Self {
        match error {
            mysql::Error::MySqlError(e) => Self { code: e.code, state: e.state, message: e.message },
            other => Self { code: 0, state: "HY000".into(), message: other.to_string() },
        }
    }
}

/// The name of a script's database.
pub fn database_of(script: &str) -> String {
    format!("slt_{script}")
}

/// Makes the script's database anew (D1).
pub fn make_database(address: &Address, script: &str) -> Result<(), Failure> {
    let mut conn = address.connect()?;
    let name = database_of(script);
    conn.query_drop(format!("DROP DATABASE IF EXISTS {name}"))?;
    conn.query_drop(format!("CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_ai_ci"))?;
    Ok(())
}

pub fn drop_database(address: &Address, script: &str) -> Result<(), Failure> {
    address.connect()?.query_drop(format!("DROP DATABASE IF EXISTS {}", database_of(script)))?;
    Ok(())
}

impl Wired {
    pub fn open(address: &Address, script: &str, prepared: bool) -> Result<Self, Failure> {
        let mut conn = address.connect_to(&database_of(script))?;
        for set in SETTINGS {
            conn.query_drop(set)?;
        }
        let directory: Option<String> = conn.query_first("SELECT @@secure_file_priv")?.flatten();
        let directory = directory.unwrap_or_default();
        let mode = if prepared { "prepared" } else { "text" };
        let files = format!("{}/{}_{mode}_{script}_", directory.trim_end_matches('/'), std::process::id());
        conn.set_local_infile_handler(Some(LocalInfileHandler::new(|name, out| out.write_all(name))));
        Ok(Self { conn, prepared, files, address: address.clone() })
    }

    /// D5
    fn connect_as(&mut self, account: &str) -> Result<(), Failure> {
        let mut words = account.split_whitespace();
        let user = words.next().unwrap_or_default();
        let password = words.next().filter(|password| *password != "-").unwrap_or_default();
        let options = self.address.options().user(Some(user)).pass(Some(password)).db_name(words.next());
        let options = options.secure_auth(true);
        let opened = mysql::Conn::new(options).map_err(Failure::from);
        self.conn = opened.map_err(|failure| Failure { message: local_host(&failure.message), ..failure })?;
        Ok(())
    }

    fn run_text(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Failure> {
        let mut result = self.conn.query_iter(sql)?;
        collect(&mut result)
    }

    fn run_prepared(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Failure> {
        let statement = match self.conn.prep(sql) {
            Ok(statement) => statement,
            Err(mysql::Error::MySqlError(e)) if e.code == UNSUPPORTED_PREPARED => return self.run_text(sql),
            Err(e) => return Err(e.into()),
        };
        let output = self.conn.exec_iter(&statement, ()).map_err(Failure::from).and_then(|mut r| collect(&mut r));
        self.conn.close(statement)?;
        output
    }
}

impl DB for Wired {
    type Error = Failure;
    type ColumnType = DefaultColumnType;

    fn run(&mut self, sql: &str) -> Result<DBOutput<DefaultColumnType>, Failure> {
        if let Some(account) = sql.strip_prefix("CONNECT AS ") {
            self.connect_as(account)?;
            return Ok(DBOutput::StatementComplete(0));
        }
        let sql = sql.replace(FILES, &self.files);
        let output = if self.prepared && !reads_diagnostics(&sql) { self.run_prepared(&sql) } else { self.run_text(&sql) };
        output.map_err(|failure| Failure { message: local_host(&failure.message.replace(&self.files, FILES)), ..failure })
    }

    fn engine_name(&self) -> &str {
        "mysql"
    }

    fn error_sql_state(error: &Failure) -> Option<String> {
        Some(error.state.clone())
    }
}

/// D5
fn local_host(message: &str) -> String {
    message.replace("'@'127.0.0.1'", "'@'localhost'")
}

/// SHOW WARNINGS, SHOW ERRORS and GET DIAGNOSTICS tell of the statement before, which a failed preparation would become.
fn reads_diagnostics(sql: &str) -> bool {
    let upper = sql.trim_start().to_ascii_uppercase();
    upper.starts_with("SHOW") && (upper.contains("WARNINGS") || upper.contains("ERRORS"))
        || upper.starts_with("GET") && upper.contains("DIAGNOSTICS")
}

fn collect<P: mysql::prelude::Protocol>(
    result: &mut mysql::QueryResult<'_, '_, '_, P>,
) -> Result<DBOutput<DefaultColumnType>, Failure> {
    let affected = result.affected_rows();
    let mut first: Option<Vec<DefaultColumnType>> = None;
    let mut rows = Vec::new();
    while let Some(set) = result.iter() {
        let columns: Vec<mysql::Column> = set.columns().as_ref().to_vec();
        if !columns.is_empty() {
            match first {
                None => first = Some(columns.iter().map(letter).collect()),
                // CALL: one result set after the other, as one.
                Some(_) => rows.push(vec![NEXT_SET.to_owned()]),
            }
        }
        for row in set {
            let values = row?.unwrap();
            rows.push(values.iter().zip(&columns).map(|(value, column)| render(value, column)).collect());
        }
    }
    match first {
        Some(types) => Ok(DBOutput::Rows { types, rows }),
        None => Ok(DBOutput::StatementComplete(affected)),
    }
}

/// Stands between the rows of two result sets.
const NEXT_SET: &str = "==========";

/// The script's type letter of a column: `I`, `R` or `T`.
fn letter(column: &mysql::Column) -> DefaultColumnType {
    match column.column_type() {
        Wire::MYSQL_TYPE_TINY
        | Wire::MYSQL_TYPE_SHORT
        | Wire::MYSQL_TYPE_INT24
        | Wire::MYSQL_TYPE_LONG
        | Wire::MYSQL_TYPE_LONGLONG
        | Wire::MYSQL_TYPE_YEAR => DefaultColumnType::Integer,
        Wire::MYSQL_TYPE_FLOAT | Wire::MYSQL_TYPE_DOUBLE | Wire::MYSQL_TYPE_DECIMAL | Wire::MYSQL_TYPE_NEWDECIMAL => {
            DefaultColumnType::FloatingPoint
        }
        _ => DefaultColumnType::Text,
    }
}
