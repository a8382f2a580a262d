//! A connection, and a statement sent as text or prepared.

use crate::answer::{Answer, Row, Rows, Sent};
use crate::error::Error;
use crate::login::Session;
use crate::packet::{self, Form};
use crate::socket::Socket;
use crate::{Protocol, Server};
use std::future::Future;

/// Commands: their first byte.
const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;

/// Types of parameters: BIGINT and VARCHAR, then whether without a sign.
const SIGNED_INTEGER: [u8; 2] = [8, 0];
const UNSIGNED_INTEGER: [u8; 2] = [8, 0x80];
const TEXT: [u8; 2] = [253, 0];

/// Runs a future, and the tasks that it spawns, on this thread.
pub fn block_on<T>(future: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(future)
}

/// What stands for a `?`.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    Signed(i64),
    Unsigned(u64),
    Text(&'a str),
}

impl From<i64> for Value<'_> {
    fn from(value: i64) -> Self {
        Self::Signed(value)
    }
}

impl From<u32> for Value<'_> {
    fn from(value: u32) -> Self {
        Self::Unsigned(value.into())
    }
}

impl From<usize> for Value<'_> {
    fn from(value: usize) -> Self {
        Self::Unsigned(value as u64)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Self::Text(value)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(value: &'a String) -> Self {
        Self::Text(value)
    }
}

/// A statement that the server keeps for this connection.
struct Statement {
    sql: &'static str,
    id: u32,
    marks: usize,
    columns: Vec<Form>,
}

/// One connection.
pub struct Database {
    socket: Socket,
    protocol: Protocol,
    /// The command to send; its room is used again
    out: Vec<u8>,
    answer: Answer,
    /// A few dozen
    statements: Vec<Statement>,
}

impl Database {
    /// Connects; without `database` also where the server has none of that name. Within a runtime.
    pub fn connect(server: &Server, database: bool, protocol: Protocol) -> Result<Self, Error> {
        Self::new(Session::open(server, database)?, protocol)
    }

    /// Goes on with a session; within a runtime.
    pub fn new(session: Session, protocol: Protocol) -> Result<Self, Error> {
        let answer = Answer::new(session.may_omit_columns);
        Ok(Self { socket: Socket::new(session.stream)?, protocol, out: Vec::new(), answer, statements: Vec::new() })
    }

    /// Statements of which only the effect is wanted.
    pub async fn batch(&mut self, sql: &str) -> Result<(), Error> {
        self.query(sql).await.map(drop)
    }

    /// Text of which the rows are wanted.
    pub async fn query(&mut self, sql: &str) -> Result<Rows<'_>, Error> {
        self.command(QUERY);
        self.out.extend_from_slice(sql.as_bytes());
        self.exchange(Sent::Text, None).await?;
        Ok(Rows::new(&self.answer, self.socket.received()))
    }

    /// Runs one statement, `?` standing for the values in turn.
    pub async fn rows(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<Rows<'_>, Error> {
        if self.protocol == Protocol::Text {
            self.command(QUERY);
            write_text(&mut self.out, sql, values);
            self.exchange(Sent::Text, None).await?;
        } else {
            let at = self.prepared(sql).await?;
            let statement = &self.statements[at];
            if values.len() != statement.marks {
                return Err(Error::Answer(format!("{} values for the {} marks of {sql}", values.len(), statement.marks)));
            }
            let id = statement.id;
            self.command(EXECUTE);
            write_execute(&mut self.out, id, values);
            self.exchange(Sent::Execute, Some(at)).await?;
        }
        Ok(Rows::new(&self.answer, self.socket.received()))
    }

    /// Runs one statement that answers no rows.
    pub async fn change(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<(), Error> {
        self.rows(sql, values).await.map(drop)
    }

    /// The one row of a statement that must find one.
    pub async fn row(&mut self, sql: &'static str, values: &[Value<'_>]) -> Result<Row<'_>, Error> {
        let found = self.rows(sql, values).await?.first();
        found.ok_or_else(|| Error::Answer(format!("no row for {sql} with {values:?}")))
    }

    /// Where the statement is in the list; prepares it the first time.
    async fn prepared(&mut self, sql: &'static str) -> Result<usize, Error> {
        // By address and length: the texts are constants, and one that stood in two places would be prepared twice.
        if let Some(at) = self.statements.iter().position(|known| std::ptr::eq(known.sql, sql)) {
            return Ok(at);
        }
        self.command(PREPARE);
        self.out.extend_from_slice(sql.as_bytes());
        self.exchange(Sent::Prepare, None).await?;
        let prepared = self.answer.prepared();
        let columns = self.answer.new_columns().map(<[Form]>::to_vec).unwrap_or_default();
        self.statements.push(Statement { sql, id: prepared.id, marks: prepared.parameters, columns });
        Ok(self.statements.len() - 1)
    }

    fn command(&mut self, command: u8) {
        packet::begin(&mut self.out);
        self.out.push(command);
    }

    /// Sends the command, and waits for the answer in full.
    async fn exchange(&mut self, sent: Sent, statement: Option<usize>) -> Result<(), Error> {
        packet::finish(&mut self.out, 0)?;
        let known = statement.map_or(&[][..], |at| &self.statements[at].columns);
        self.answer.begin(sent, known);
        self.socket.send(&self.out).await?;
        loop {
            self.socket.receive().await?;
            if self.answer.feed(self.socket.received())? {
                break;
            }
        }
        // The server has changed their definitions.
        if let Some((at, columns)) = statement.zip(self.answer.new_columns()) {
            let known = &mut self.statements[at].columns;
            if known != columns {
                known.clear();
                known.extend_from_slice(columns);
            }
        }
        Ok(())
    }
}

/// The values of a prepared statement: the NULL bitmap (none is NULL), the types, the values.
fn write_execute(out: &mut Vec<u8>, id: u32, values: &[Value<'_>]) {
    const NO_CURSOR: u8 = 0;
    const TIMES: u32 = 1;
    const TYPES_FOLLOW: u8 = 1;
    out.extend_from_slice(&id.to_le_bytes());
    out.push(NO_CURSOR);
    out.extend_from_slice(&TIMES.to_le_bytes());
    if values.is_empty() {
        return;
    }
    out.resize(out.len() + values.len().div_ceil(8), 0);
    out.push(TYPES_FOLLOW);
    for value in values {
        out.extend_from_slice(match value {
            Value::Signed(_) => &SIGNED_INTEGER,
            Value::Unsigned(_) => &UNSIGNED_INTEGER,
            Value::Text(_) => &TEXT,
        });
    }
    for value in values {
        match value {
            Value::Signed(value) => out.extend_from_slice(&value.to_le_bytes()),
            Value::Unsigned(value) => out.extend_from_slice(&value.to_le_bytes()),
            Value::Text(text) => {
                write_length(out, text.len());
                out.extend_from_slice(text.as_bytes());
            }
        }
    }
}

/// A length before a text; none is longer than a command.
fn write_length(out: &mut Vec<u8>, length: usize) {
    let bytes = (length as u64).to_le_bytes();
    match length {
        0..=250 => out.push(bytes[0]),
        251..=0xffff => {
            out.push(0xfc);
            out.extend_from_slice(&bytes[..2]);
        }
        _ => {
            out.push(0xfd);
            out.extend_from_slice(&bytes[..3]);
        }
    }
}

/// A statement with the values in it.
fn write_text(out: &mut Vec<u8>, sql: &str, values: &[Value<'_>]) {
    let mut values = values.iter();
    for (at, part) in sql.split('?').enumerate() {
        if at > 0 {
            match values.next().expect("a value for each mark") {
                Value::Signed(value) => write_number(out, value),
                Value::Unsigned(value) => write_number(out, value),
                Value::Text(text) => write_quoted(out, text),
            }
        }
        out.extend_from_slice(part.as_bytes());
    }
    assert!(values.next().is_none(), "a mark for each value");
}

fn write_number(out: &mut Vec<u8>, number: impl std::fmt::Display) {
    std::io::Write::write_fmt(out, format_args!("{number}")).expect("memory takes all");
}

fn write_quoted(out: &mut Vec<u8>, text: &str) {
    out.push(b'\'');
    for byte in text.bytes() {
        match byte {
            0 => out.extend_from_slice(b"\\0"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x1a => out.extend_from_slice(b"\\Z"),
            b'\\' | b'\'' | b'"' => out.extend_from_slice(&[b'\\', byte]),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_in_the_text_where_the_marks_were() {
        let mut out = Vec::new();
        write_text(&mut out, "VALUES (?, ?, ?)", &[Value::Signed(-3), Value::Unsigned(u64::MAX), Value::Text("it's \\ \"\n")]);
        assert_eq!(String::from_utf8(out).unwrap(), r#"VALUES (-3, 18446744073709551615, 'it\'s \\ \"\n')"#);
    }

    #[test]
    fn a_prepared_statement_s_values_have_their_types_before_them() {
        let mut out = Vec::new();
        write_execute(&mut out, 7, &[Value::Signed(-2), Value::Unsigned(5), Value::Text("ab")]);
        #[rustfmt::skip]
        let expected = [
            7, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 8, 0, 8, 0x80, 253, 0,
            0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 5, 0, 0, 0, 0, 0, 0, 0, 2, b'a', b'b',
        ];
        assert_eq!(out, expected);
        out.clear();
        write_execute(&mut out, 7, &[]);
        assert_eq!(out, expected[..9]);
    }

    #[test]
    fn lengths_are_as_short_as_can_be() {
        for (length, expected) in
            [(250, &[250][..]), (251, &[0xfc, 251, 0]), (0xffff, &[0xfc, 0xff, 0xff]), (0x1_0000, &[0xfd, 0, 0, 1])]
        {
            let mut out = Vec::new();
            write_length(&mut out, length);
            assert_eq!(out, expected, "{length}");
        }
    }
}
