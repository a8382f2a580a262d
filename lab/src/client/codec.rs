//! One interface over the two protocols.

use super::{Row, Value, mysql, postgres};
use crate::error::Result;

/// What was sent: it decides how the answer reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A statement as text.
    Query,
    /// A prepared statement with values.
    Execute,
    Prepare,
}

/// Commands into bytes, answers out of bytes.
#[derive(Clone, Debug)]
pub enum Codec {
    MySql(mysql::Codec),
    Postgres(postgres::Codec),
}

macro_rules! each {
    ($self:ident, $codec:ident => $call:expr) => {
        match $self {
            Self::MySql($codec) => $call,
            Self::Postgres($codec) => $call,
        }
    };
}

impl Codec {
    /// A statement as text.
    pub fn query(&self, out: &mut Vec<u8>, sql: &[u8]) -> Result<()> {
        each!(self, codec => codec.query(out, sql))
    }

    /// Prepares a statement with `?`; `number` is its name in PostgreSQL.
    pub fn prepare(&self, out: &mut Vec<u8>, number: u32, sql: &str) -> Result<()> {
        each!(self, codec => codec.prepare(out, number, sql))
    }

    /// Runs a prepared statement. The types are sent with the `first` execution only.
    pub fn execute(&self, out: &mut Vec<u8>, id: u32, values: &[Value], text: &[u8], first: bool) {
        match self {
            Self::MySql(codec) => codec.execute(out, id, values, text, first),
            Self::Postgres(codec) => codec.execute(out, id, values, text),
        }
    }

    /// An answer to this follows.
    pub fn begin(&mut self, sent: Sent) {
        each!(self, codec => codec.begin(sent));
    }

    /// Takes whole messages from the start of `input`: how many bytes, and whether the answer is complete.
    pub fn feed(&mut self, input: &[u8], row: &mut dyn FnMut(&[u8])) -> Result<(usize, bool)> {
        each!(self, codec => codec.feed(input, row))
    }

    /// The error of the last answer, if it was one.
    pub fn outcome(&mut self) -> Result<()> {
        each!(self, codec => codec.error.take().map_or(Ok(()), Err))
    }

    /// The statement that the last answer has prepared.
    pub fn prepared(&self) -> Option<u32> {
        match self {
            Self::MySql(codec) => Some(codec.prepared),
            Self::Postgres(_) => None,
        }
    }

    /// Rows of the last answer.
    pub fn rows(&self) -> u64 {
        each!(self, codec => codec.rows)
    }

    /// A row of a statement that was sent as text.
    pub fn text_row(&self, row: &[u8]) -> Result<Row> {
        match self {
            Self::MySql(_) => mysql::text_row(row),
            Self::Postgres(_) => postgres::text_row(row),
        }
    }
}

/// A statement with its values in it, as SQL writes them.
pub fn write_text(out: &mut Vec<u8>, sql: &str, values: &[Value], text: &[u8]) {
    let mut values = values.iter();
    for (at, part) in sql.split('?').enumerate() {
        if at > 0 {
            match values.next() {
                Some(Value::Int(number)) => out.extend_from_slice(number.to_string().as_bytes()),
                // Texts of the workloads have no quotes.
                Some(Value::Text { from, to }) => {
                    out.push(b'\'');
                    out.extend_from_slice(&text[*from as usize..*to as usize]);
                    out.push(b'\'');
                }
                // A question mark of the text itself.
                None => out.push(b'?'),
            }
        }
        out.extend_from_slice(part.as_bytes());
    }
}
