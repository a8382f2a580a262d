//! A connection, and a statement sent as text or prepared.

use crate::{Protocol, Server};
use mysql::prelude::Queryable;
use mysql::{Conn, Opts, OptsBuilder, Params, Row, Value};
use std::fmt;

/// Statements that a connection keeps prepared; more than there are.
const STATEMENTS: usize = 64;

/// What goes wrong.
#[derive(Debug)]
pub enum Error {
    Client(mysql::Error),
    /// The server answers something that cannot be.
    Answer(String),
}

impl Error {
    /// Whether the transaction may be tried again: a deadlock (1213), a lock waited for too long (1205), or, of MariaDB under
    /// `innodb_snapshot_isolation`, a row that has changed since the snapshot (1020).
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Client(mysql::Error::MySqlError(e)) if matches!(e.code, 1020 | 1205 | 1213))
    }
}

impl From<mysql::Error> for Error {
    fn from(error: mysql::Error) -> Self {
        Self::Client(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(error) => error.fmt(f),
            Self::Answer(what) => f.write_str(what),
        }
    }
}

/// One connection.
pub struct Database {
    conn: Conn,
    protocol: Protocol,
    text: String,
}

impl Database {
    /// Connects; without `database` also where the server has none of that name.
    pub fn connect(server: &Server, database: bool, protocol: Protocol) -> Result<Self, Error> {
        let builder = OptsBuilder::new()
            .user(Some(&server.user))
            .pass(Some(&server.password))
            .ip_or_hostname(Some(&server.host))
            .tcp_port(server.port)
            .socket(server.socket.as_deref())
            .prefer_socket(false)
            .tcp_nodelay(true)
            .stmt_cache_size(STATEMENTS)
            .db_name(database.then_some(&server.database));
        Ok(Self { conn: Conn::new(Opts::from(builder))?, protocol, text: String::new() })
    }

    /// Statements of which only the effect is wanted.
    pub fn batch(&mut self, sql: &str) -> Result<(), Error> {
        Ok(self.conn.query_drop(sql)?)
    }

    /// Text of which the rows are wanted.
    pub fn query(&mut self, sql: &str) -> Result<Vec<Row>, Error> {
        Ok(self.conn.query(sql)?)
    }

    /// Runs one statement, `?` standing for the values in turn.
    pub fn rows(&mut self, sql: &'static str, values: &[Value]) -> Result<Vec<Row>, Error> {
        if self.protocol == Protocol::Text {
            self.write(sql, values);
            return Ok(self.conn.query(self.text.as_str())?);
        }
        Ok(self.conn.exec(sql, parameters(values))?)
    }

    /// Runs one statement that answers no rows.
    pub fn change(&mut self, sql: &'static str, values: &[Value]) -> Result<(), Error> {
        if self.protocol == Protocol::Text {
            self.write(sql, values);
            return Ok(self.conn.query_drop(self.text.as_str())?);
        }
        Ok(self.conn.exec_drop(sql, parameters(values))?)
    }

    /// The one row of a statement that must find one.
    pub fn row(&mut self, sql: &'static str, values: &[Value]) -> Result<Row, Error> {
        let found = self.rows(sql, values)?.into_iter().next();
        found.ok_or_else(|| Error::Answer(format!("no row for {sql} with {values:?}")))
    }

    fn write(&mut self, sql: &str, values: &[Value]) {
        self.text.clear();
        let mut values = values.iter();
        for (at, part) in sql.split('?').enumerate() {
            if at > 0 {
                let value = values.next().expect("a value for each mark");
                self.text.push_str(&value.as_sql(false));
            }
            self.text.push_str(part);
        }
        assert!(values.next().is_none(), "a mark for each value");
    }
}

fn parameters(values: &[Value]) -> Params {
    if values.is_empty() { Params::Empty } else { Params::Positional(values.to_vec()) }
}

/// A column of a row, which must be there and be of the kind wanted.
pub fn column<T: mysql::prelude::FromValue>(row: &mut Row, at: usize) -> Result<T, Error> {
    let value = row.take_opt::<T, usize>(at).ok_or_else(|| Error::Answer(format!("column {at} is missing")))?;
    value.map_err(|e| Error::Answer(format!("column {at}: {e}")))
}
