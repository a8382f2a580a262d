//! What a server answers to one command: states that go from packet to packet.
//!
//! ```text
//! Begin -- OK --> (Begin, if more results follow, or Over)
//!   |
//!   +-- number of columns --> Columns -- the last one's end --> Rows -- end --> (Begin or Over)
//!   |
//!   +-- prepared: Parameters --> Columns --> Over
//! ```
//!
//! 1. [`Answer::feed`] is called with all bytes received since the command was sent, as often as there are more. It goes on with the
//!    first packet that was not complete.
//! 2. Rows are places in those bytes, so that nothing is copied: [`Rows`] holds both together.
//! 3. Of several results (CALL) the rows of the first that has any columns are kept, the others are read over.
//! 4. An error (ERR) ends the answer in any state; the connection is good for the next command.
//! 5. MariaDB leaves out the columns of a prepared statement that the client knows already (`MARIADB_CLIENT_CACHE_METADATA`).

use crate::error::Error;
use crate::packet::{self, Form, Frame, Reader};
use std::ops::Range;

/// What was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Text, which answers rows of texts
    Text,
    /// A prepared statement, which answers rows of values
    Execute,
    /// A statement to prepare
    Prepare,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Begin,
    /// Definitions of parameters, and their end; then of as many columns
    Parameters {
        left: usize,
        columns: usize,
    },
    /// Definitions of columns, and their end
    Columns {
        left: usize,
    },
    Rows,
    Over,
}

/// An answer, in part or in full.
#[derive(Debug)]
pub struct Answer {
    sent: Sent,
    state: State,
    /// Where the next packet begins
    at: usize,
    sequence: u8,
    /// Whether this result is the one whose rows are kept
    keeps: bool,
    /// Whether one was kept
    kept: bool,
    /// Whether a result says that its columns follow (MariaDB)
    may_omit_columns: bool,
    /// Whether the columns came that are in `columns`
    columns_came: bool,
    columns: Vec<Form>,
    /// By row, then by column; none is NULL
    cells: Vec<Option<Range<usize>>>,
    rows: usize,
    prepared: Prepared,
}

/// What the server says of a statement that it prepared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prepared {
    pub id: u32,
    pub parameters: usize,
}

impl Answer {
    /// `may_omit_columns`: as point 5 says.
    pub fn new(may_omit_columns: bool) -> Self {
        Self {
            sent: Sent::Text,
            state: State::Over,
            at: 0,
            sequence: 0,
            keeps: false,
            kept: false,
            may_omit_columns,
            columns_came: false,
            columns: Vec::new(),
            cells: Vec::new(),
            rows: 0,
            prepared: Prepared::default(),
        }
    }

    /// Begins anew. `known` are the columns as the client knows them, for [`Sent::Execute`].
    pub fn begin(&mut self, sent: Sent, known: &[Form]) {
        self.sent = sent;
        self.state = State::Begin;
        self.at = 0;
        self.sequence = 1;
        self.keeps = false;
        self.kept = false;
        self.columns_came = false;
        self.columns.clear();
        self.columns.extend_from_slice(known);
        self.cells.clear();
        self.rows = 0;
    }

    /// Reads on in `received`, which is what it was the last time and perhaps more: whether the answer is complete.
    pub fn feed(&mut self, received: &[u8]) -> Result<bool, Error> {
        while self.state != State::Over {
            let Some(frame) = packet::frame(received, self.at)? else {
                return Ok(false);
            };
            self.at = frame.end;
            self.packet(received, frame)?;
        }
        if self.at < received.len() {
            return Err(Error::Packet("more than the answer"));
        }
        Ok(true)
    }

    /// The columns of the rows kept, or of the statement prepared, if they came.
    pub fn new_columns(&self) -> Option<&[Form]> {
        self.columns_came.then_some(&self.columns)
    }

    pub fn prepared(&self) -> Prepared {
        self.prepared
    }

    fn packet(&mut self, received: &[u8], frame: Frame) -> Result<(), Error> {
        let payload = &received[frame.begin..frame.end];
        if payload[0] == packet::ERR {
            self.state = State::Over;
            return Err(packet::refusal(payload));
        }
        if frame.sequence != self.sequence {
            return Err(Error::Packet("a packet out of sequence"));
        }
        self.sequence = self.sequence.wrapping_add(1);
        match self.state {
            State::Begin if self.sent == Sent::Prepare => self.prepare(payload)?,
            State::Begin => self.result(payload)?,
            State::Parameters { left: 0, columns } => {
                end(payload)?;
                self.state = if columns > 0 { State::Columns { left: columns } } else { State::Over };
            }
            State::Parameters { left, columns } => self.state = State::Parameters { left: left - 1, columns },
            State::Columns { left: 0 } => {
                end(payload)?;
                self.state = if self.sent == Sent::Prepare { State::Over } else { State::Rows };
            }
            State::Columns { left } => {
                if self.keeps {
                    self.columns.push(packet::form(payload)?);
                }
                self.state = State::Columns { left: left - 1 };
            }
            State::Rows if packet::is_end(payload) => self.go_on(packet::more_after_end(payload)?),
            State::Rows if !self.keeps => {}
            State::Rows => {
                let mut reader = Reader::new(&received[..frame.end], frame.begin);
                match self.sent {
                    Sent::Execute => self.row_of_values(&mut reader)?,
                    Sent::Text | Sent::Prepare => self.row_of_texts(&mut reader)?,
                }
                if !reader.is_at_end() {
                    return Err(Error::Packet("a row is longer than its columns"));
                }
                self.rows += 1;
            }
            State::Over => unreachable!("feed stops there"),
        }
        Ok(())
    }

    /// The first packet of a result.
    fn result(&mut self, payload: &[u8]) -> Result<(), Error> {
        match payload[0] {
            packet::OK => self.go_on(packet::more_after_ok(payload)?),
            packet::LOCAL_FILE => return Err(Error::Packet("it asks for a file")),
            _ => {
                let mut reader = Reader::new(payload, 0);
                let count = reader.length()?;
                let omitted = self.may_omit_columns && reader.u8()? == 0;
                self.keeps = !self.kept;
                self.kept = true;
                if self.keeps && !omitted {
                    self.columns.clear();
                    self.columns_came = true;
                }
                if self.keeps && omitted && self.columns.len() != count {
                    return Err(Error::Packet("columns left out that are not known"));
                }
                self.state = State::Columns { left: if omitted { 0 } else { count } };
            }
        }
        Ok(())
    }

    fn prepare(&mut self, payload: &[u8]) -> Result<(), Error> {
        let mut reader = Reader::new(payload, 0);
        if reader.u8()? != packet::OK {
            return Err(Error::Packet("a statement neither prepared nor refused"));
        }
        let id = reader.u32()?;
        let columns = usize::from(reader.u16()?);
        let parameters = usize::from(reader.u16()?);
        self.prepared = Prepared { id, parameters };
        self.keeps = true;
        self.columns_came = true;
        self.state = match (parameters, columns) {
            (0, 0) => State::Over,
            (0, left) => State::Columns { left },
            (left, columns) => State::Parameters { left, columns },
        };
        Ok(())
    }

    fn go_on(&mut self, more: bool) {
        self.state = if more { State::Begin } else { State::Over };
    }

    fn row_of_texts(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        for _ in 0..self.columns.len() {
            let cell = reader.text()?;
            self.cells.push(cell.map(|text| reader.at() - text.len()..reader.at()));
        }
        Ok(())
    }

    fn row_of_values(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        /// Bits of the NULL bitmap that come before the first column's.
        const FIRST: usize = 2;
        if reader.u8()? != packet::OK {
            return Err(Error::Packet("a row of values does not begin with zero"));
        }
        let nulls = reader.take((self.columns.len() + FIRST).div_ceil(8))?;
        for (bit, form) in (FIRST..).zip(&self.columns) {
            if nulls[bit / 8] & 1 << (bit % 8) != 0 {
                self.cells.push(None);
                continue;
            }
            let length = match form {
                Form::Integer { bytes, .. } => usize::from(*bytes),
                Form::Float => 4,
                Form::Double => 8,
                Form::Time => usize::from(reader.u8()?),
                Form::Text => reader.length()?,
                Form::Null => 0,
            };
            let begin = reader.at();
            reader.take(length)?;
            self.cells.push(Some(begin..begin + length));
        }
        Ok(())
    }
}

fn end(payload: &[u8]) -> Result<(), Error> {
    if packet::is_end(payload) { Ok(()) } else { Err(Error::Packet("columns do not end")) }
}

/// The rows of an answer that is complete, with the bytes that they are made of.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    answer: &'a Answer,
    received: &'a [u8],
}

impl<'a> Rows<'a> {
    pub fn new(answer: &'a Answer, received: &'a [u8]) -> Self {
        Self { answer, received }
    }

    pub fn len(&self) -> usize {
        self.answer.rows
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, at: usize) -> Option<Row<'a>> {
        let width = self.answer.columns.len();
        let cells = (at < self.len()).then(|| &self.answer.cells[at * width..(at + 1) * width])?;
        Some(Row { rows: *self, cells })
    }

    pub fn first(&self) -> Option<Row<'a>> {
        self.get(0)
    }
}

/// One of them.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    rows: Rows<'a>,
    cells: &'a [Option<Range<usize>>],
}

impl<'a> Row<'a> {
    fn content(&self, at: usize) -> Option<Content<'a>> {
        let Some(place) = self.cells.get(at)? else {
            return Some(Content::Null);
        };
        let bytes = &self.rows.received[place.clone()];
        let form = if self.rows.answer.sent == Sent::Execute { self.rows.answer.columns[at] } else { Form::Text };
        Some(Content::new(form, bytes))
    }
}

/// What a cell holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content<'a> {
    Null,
    Signed(i64),
    Unsigned(u64),
    Real(f64),
    Text(&'a [u8]),
    /// A date or a time, which nobody asks for
    Time,
}

impl<'a> Content<'a> {
    /// `bytes` are as many as the form has.
    fn new(form: Form, bytes: &'a [u8]) -> Self {
        match form {
            Form::Integer { unsigned, .. } => {
                let negative = !unsigned && bytes.last().is_some_and(|last| last & 0x80 != 0);
                let mut wide = [if negative { 0xff } else { 0 }; 8];
                wide[..bytes.len()].copy_from_slice(bytes);
                if unsigned { Self::Unsigned(u64::from_le_bytes(wide)) } else { Self::Signed(i64::from_le_bytes(wide)) }
            }
            Form::Float => Self::Real(f64::from(f32::from_le_bytes(bytes.try_into().expect("four bytes")))),
            Form::Double => Self::Real(f64::from_le_bytes(bytes.try_into().expect("eight bytes"))),
            Form::Time => Self::Time,
            Form::Text => Self::Text(bytes),
            Form::Null => Self::Null,
        }
    }

    fn text(self) -> Option<&'a str> {
        match self {
            Self::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }
}

/// What can be asked of a cell.
pub trait FromContent<'a>: Sized {
    /// None if it is something else.
    fn from_content(content: Content<'a>) -> Option<Self>;
}

macro_rules! integers {
    ($($integer:ty)*) => {$(
        impl<'a> FromContent<'a> for $integer {
            fn from_content(content: Content<'a>) -> Option<Self> {
                match content {
                    Content::Signed(value) => value.try_into().ok(),
                    Content::Unsigned(value) => value.try_into().ok(),
                    other => other.text()?.parse().ok(),
                }
            }
        }
    )*};
}

integers!(u32 u64 i64);

impl<'a> FromContent<'a> for f64 {
    fn from_content(content: Content<'a>) -> Option<Self> {
        match content {
            Content::Real(value) => Some(value),
            Content::Signed(value) => Some(value as f64),
            Content::Unsigned(value) => Some(value as f64),
            other => other.text()?.parse().ok(),
        }
    }
}

impl<'a> FromContent<'a> for &'a str {
    fn from_content(content: Content<'a>) -> Option<Self> {
        content.text()
    }
}

impl<'a> FromContent<'a> for String {
    fn from_content(content: Content<'a>) -> Option<Self> {
        content.text().map(str::to_owned)
    }
}

/// A column of a row, which must be there and be of the kind wanted.
pub fn column<'a, T: FromContent<'a>>(row: &Row<'a>, at: usize) -> Result<T, Error> {
    let content = row.content(at).ok_or_else(|| Error::Answer(format!("column {at} is missing")))?;
    T::from_content(content).ok_or_else(|| Error::Answer(format!("column {at} is {content:?}")))
}

#[cfg(test)]
mod tests;
