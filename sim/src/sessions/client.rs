//! A client of the server: it logs in, sends statements as text and prepared, and reads answers. It has its own implementation of the
//! protocol, so that a mistake in the server's implementation is noticed.

use os::sim::net;
use os::time::Instant;
use std::io::{self, ErrorKind};
use std::time::Duration;

const LONG_PASSWORD: u32 = 1;
const LONG_FLAG: u32 = 1 << 2;
const CONNECT_WITH_DB: u32 = 1 << 3;
const PROTOCOL_41: u32 = 1 << 9;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_CONNECTION: u32 = 1 << 15;
const MULTI_RESULTS: u32 = 1 << 17;
const PLUGIN_AUTH: u32 = 1 << 19;
const DEPRECATE_EOF: u32 = 1 << 24;

const STATUS_CURSOR_EXISTS: u16 = 0x40;
const STATUS_LAST_ROW_SENT: u16 = 0x80;
const STATUS_MORE_RESULTS: u16 = 8;

/// The error number for a killed connection; the server sends nothing after it.
const KILLED: u16 = 3169;

const BLOB: u8 = 0xfc;
const NULL: u8 = 6;
const LONGLONG: u8 = 8;
const VAR_STRING: u8 = 0xfd;
/// The flag of COM_STMT_EXECUTE that asks for a read-only cursor.
const CURSOR_READ_ONLY: u8 = 1;

/// A value as text; `None` is NULL.
pub type Field = Option<Vec<u8>>;

/// An answer to a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Done { affected: u64 },
    Rows { columns: Vec<String>, rows: Vec<Vec<Field>> },
    Refused { number: u16, message: String },
}

/// The reason for a missing answer.
#[derive(Debug)]
pub enum Gone {
    /// The connection broke, or no answer came in time.
    Lost(io::Error),
    /// The answer breaks the protocol.
    Nonsense(String),
}

impl From<io::Error> for Gone {
    fn from(error: io::Error) -> Self {
        Gone::Lost(error)
    }
}

type Result<T> = std::result::Result<T, Gone>;

fn nonsense<T>(what: impl std::fmt::Display) -> Result<T> {
    Err(Gone::Nonsense(what.to_string()))
}

/// A prepared statement.
#[derive(Clone, Debug)]
pub struct Prepared {
    id: u32,
    parameters: u16,
}

/// A value for a parameter.
#[derive(Clone, Debug)]
pub enum Parameter {
    Null,
    Number(i64),
    Text(Vec<u8>),
}

/// The most bytes that a client reads at once, and its pause before each read.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub read_bytes: usize,
    pub pause_us: u64,
}

pub struct Client {
    socket: net::Client,
    pub connection: u32,
    pace: Pace,
    patience: Duration,
    input: Vec<u8>,
    sequence: u8,
}

struct Column {
    name: String,
    kind: u8,
}

/// Reads the parts of a payload.
struct Parts<'a>(&'a [u8]);

impl<'a> Parts<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        match self.0.split_at_checked(count) {
            Some((bytes, rest)) => {
                self.0 = rest;
                Ok(bytes)
            }
            None => nonsense(format_args!("a packet ends {} bytes early", count - self.0.len())),
        }
    }

    fn number(&mut self, bytes: usize) -> Result<u64> {
        Ok(self.bytes(bytes)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn length(&mut self) -> Result<u64> {
        match self.number(1)? {
            0xfc => self.number(2),
            0xfd => self.number(3),
            0xfe => self.number(8),
            0xff => nonsense("a length of 0xff"),
            small => Ok(small),
        }
    }

    fn text(&mut self) -> Result<&'a [u8]> {
        let length = self.length()?;
        self.bytes(length as usize)
    }

    fn field(&mut self) -> Result<Field> {
        if self.0.first() == Some(&0xfb) {
            self.0 = &self.0[1..];
            return Ok(None);
        }
        Ok(Some(self.text()?.to_vec()))
    }
}

fn refused(payload: &[u8]) -> Result<Answer> {
    let mut parts = Parts(payload);
    parts.number(1)?;
    let number = parts.number(2)? as u16;
    if number == KILLED {
        return Err(Gone::Lost(ErrorKind::ConnectionAborted.into()));
    }
    let text = parts.0.strip_prefix(b"#").map_or(parts.0, |text| text.get(5..).unwrap_or_default());
    Ok(Answer::Refused { number, message: String::from_utf8_lossy(text).into_owned() })
}

fn done(payload: &[u8]) -> Result<(Answer, u16)> {
    let mut parts = Parts(payload);
    parts.number(1)?;
    let affected = parts.length()?;
    parts.length()?;
    Ok((Answer::Done { affected }, parts.number(2)? as u16))
}

fn is_end(payload: &[u8]) -> bool {
    payload.first() == Some(&0xfe) && payload.len() < 0xff_ffff
}

impl Client {
    /// Connects and logs in as an account without a password. A refused login counts as an answer.
    pub fn connect(
        port: u16,
        user: &str,
        database: &str,
        pace: Pace,
        patience: Duration,
    ) -> Result<std::result::Result<Self, Answer>> {
        let socket = net::Client::connect(port)?;
        let mut client = Self { socket, connection: 0, pace, patience, input: Vec::new(), sequence: 0 };
        let greeting = client.receive()?;
        if greeting.first() == Some(&0xff) {
            return Ok(Err(refused(&greeting)?));
        }
        let Some(end) = greeting.iter().skip(1).position(|byte| *byte == 0) else { return nonsense("no version") };
        client.connection = Parts(&greeting[end + 2..]).number(4)? as u32;
        client.log_in(user, database)
    }

    fn log_in(mut self, user: &str, database: &str) -> Result<std::result::Result<Self, Answer>> {
        let mut agreed = LONG_PASSWORD | LONG_FLAG | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | MULTI_RESULTS;
        agreed |= PLUGIN_AUTH | DEPRECATE_EOF;
        if !database.is_empty() {
            agreed |= CONNECT_WITH_DB;
        }
        let mut login = Vec::new();
        login.extend_from_slice(&agreed.to_le_bytes());
        login.extend_from_slice(&(1u32 << 24).to_le_bytes());
        login.push(45);
        login.extend_from_slice(&[0; 23]);
        login.extend_from_slice(user.as_bytes());
        // The zero byte that ends the name, and an empty authentication response.
        login.extend_from_slice(&[0, 0]);
        if !database.is_empty() {
            login.extend_from_slice(database.as_bytes());
            login.push(0);
        }
        login.extend_from_slice(b"caching_sha2_password\0");
        self.send(&login)?;
        loop {
            let answer = self.receive()?;
            match answer.first() {
                Some(0) => return Ok(Ok(self)),
                Some(0xff) => return Ok(Err(refused(&answer)?)),
                // Another plugin, or more data of this one. The response is empty, since there is no password.
                Some(0xfe) => self.send(&[])?,
                Some(1) => {}
                _ => return nonsense("an answer to a login that is none"),
            }
        }
    }

    fn deadline(&self) -> Instant {
        Instant::now() + self.patience
    }

    fn send(&mut self, payload: &[u8]) -> Result<()> {
        let mut packet = (payload.len() as u32).to_le_bytes().to_vec();
        packet[3] = self.sequence;
        packet.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
        Ok(self.socket.write_all(&packet, self.deadline())?)
    }

    /// Sends a command, and does not wait for its answer.
    pub fn command(&mut self, payload: &[u8]) -> Result<()> {
        self.sequence = 0;
        self.send(payload)
    }

    fn need(&mut self, count: usize) -> Result<()> {
        let mut buffer = vec![0; self.pace.read_bytes];
        while self.input.len() < count {
            if self.pace.pause_us > 0 {
                os::thread::sleep(Duration::from_micros(self.pace.pause_us));
            }
            match self.socket.read(&mut buffer, self.deadline())? {
                0 => return Err(Gone::Lost(ErrorKind::UnexpectedEof.into())),
                read => self.input.extend_from_slice(&buffer[..read]),
            }
        }
        Ok(())
    }

    fn receive(&mut self) -> Result<Vec<u8>> {
        let mut payload = Vec::new();
        loop {
            self.need(4)?;
            let length = Parts(&self.input).number(3)? as usize;
            if self.input[3] != self.sequence {
                return nonsense(format_args!("packet {} comes where {} is due", self.input[3], self.sequence));
            }
            self.sequence = self.sequence.wrapping_add(1);
            self.need(4 + length)?;
            payload.extend_from_slice(&self.input[4..4 + length]);
            self.input.drain(..4 + length);
            if length < 0xff_ffff {
                return Ok(payload);
            }
        }
    }

    /// A statement as text.
    pub fn query(&mut self, statement: &str) -> Result<Answer> {
        self.command(&[b"\x03", statement.as_bytes()].concat())?;
        self.answer()
    }

    /// The answer to a query that was sent.
    pub fn answer(&mut self) -> Result<Answer> {
        let (mut answer, mut status) = self.result(false)?;
        while status & STATUS_MORE_RESULTS != 0 {
            let (next, flags) = self.result(false)?;
            // A CALL sends its rows, then an OK.
            if !matches!(next, Answer::Done { .. }) {
                answer = next;
            }
            status = flags;
        }
        Ok(answer)
    }

    fn result(&mut self, binary: bool) -> Result<(Answer, u16)> {
        let first = self.receive()?;
        match first.first() {
            Some(0) => return done(&first),
            Some(0xff) => return Ok((refused(&first)?, 0)),
            Some(_) => {}
            None => return nonsense("an empty packet"),
        }
        let count = Parts(&first).length()?;
        let columns = self.columns(count)?;
        let mut rows = Vec::new();
        let (answer, status) = self.rows(&columns, binary, &mut rows)?;
        Ok((answer.unwrap_or(Answer::Rows { columns: names(columns), rows }), status))
    }

    fn columns(&mut self, count: u64) -> Result<Vec<Column>> {
        let mut columns = Vec::new();
        for _ in 0..count {
            let packet = self.receive()?;
            let mut parts = Parts(&packet);
            for _ in 0..4 {
                parts.text()?;
            }
            let name = String::from_utf8_lossy(parts.text()?).into_owned();
            parts.text()?;
            parts.bytes(1 + 2 + 4)?;
            columns.push(Column { name, kind: parts.number(1)? as u8 });
        }
        Ok(columns)
    }

    /// Reads rows to the end. Returns the status there, or the error that ended them.
    fn rows(&mut self, columns: &[Column], binary: bool, rows: &mut Vec<Vec<Field>>) -> Result<(Option<Answer>, u16)> {
        loop {
            let packet = self.receive()?;
            match packet.first() {
                Some(0xff) => return Ok((Some(refused(&packet)?), 0)),
                _ if is_end(&packet) => return Ok((None, done(&packet)?.1)),
                _ if binary => rows.push(binary_row(&packet, columns)?),
                _ => {
                    let mut parts = Parts(&packet);
                    let row = columns.iter().map(|_| parts.field()).collect::<Result<Vec<_>>>()?;
                    if !parts.0.is_empty() {
                        return nonsense(format_args!("{} bytes behind a row", parts.0.len()));
                    }
                    rows.push(row);
                }
            }
        }
    }

    /// Prepares a statement.
    pub fn prepare(&mut self, statement: &str) -> Result<std::result::Result<Prepared, Answer>> {
        self.command(&[b"\x16", statement.as_bytes()].concat())?;
        let answer = self.receive()?;
        if answer.first() == Some(&0xff) {
            return Ok(Err(refused(&answer)?));
        }
        let mut parts = Parts(&answer);
        parts.number(1)?;
        let id = parts.number(4)? as u32;
        let (columns, parameters) = (parts.number(2)?, parts.number(2)?);
        self.columns(parameters)?;
        self.columns(columns)?;
        Ok(Ok(Prepared { id, parameters: parameters as u16 }))
    }

    pub fn close(&mut self, prepared: &Prepared) -> Result<()> {
        self.command(&[&b"\x19"[..], &prepared.id.to_le_bytes()].concat())
    }

    fn send_execute(&mut self, prepared: &Prepared, parameters: &[Parameter], cursor: bool) -> Result<()> {
        assert_eq!(parameters.len(), usize::from(prepared.parameters), "a value for each parameter");
        let mut out = vec![0x17];
        out.extend_from_slice(&prepared.id.to_le_bytes());
        out.push(if cursor { CURSOR_READ_ONLY } else { 0 });
        out.extend_from_slice(&1u32.to_le_bytes());
        if !parameters.is_empty() {
            let mut nulls = vec![0u8; parameters.len().div_ceil(8)];
            let is_null = |parameter: &Parameter| matches!(parameter, Parameter::Null);
            let null = parameters.iter().enumerate().filter(|(_, parameter)| is_null(parameter));
            null.for_each(|(place, _)| nulls[place / 8] |= 1 << (place % 8));
            out.extend_from_slice(&nulls);
            out.push(1);
            for parameter in parameters {
                let kind = match parameter {
                    Parameter::Null => NULL,
                    Parameter::Number(_) => LONGLONG,
                    Parameter::Text(_) => VAR_STRING,
                };
                out.extend_from_slice(&[kind, 0]);
            }
            for parameter in parameters {
                match parameter {
                    Parameter::Null => {}
                    Parameter::Number(number) => out.extend_from_slice(&number.to_le_bytes()),
                    Parameter::Text(text) => {
                        match text.len() {
                            length @ 0..=250 => out.push(length as u8),
                            length => {
                                out.push(0xfd);
                                out.extend_from_slice(&(length as u32).to_le_bytes()[..3]);
                            }
                        }
                        out.extend_from_slice(text);
                    }
                }
            }
        }
        self.command(&out)
    }

    /// Executes a prepared statement.
    pub fn execute(&mut self, prepared: &Prepared, parameters: &[Parameter]) -> Result<Answer> {
        self.send_execute(prepared, parameters, false)?;
        Ok(self.result(true)?.0)
    }

    /// Opens a cursor; `Ok(Err)`: the server answered without a cursor.
    pub fn open_cursor(&mut self, prepared: &Prepared, parameters: &[Parameter]) -> Result<std::result::Result<Cursor, Answer>> {
        self.send_execute(prepared, parameters, true)?;
        let first = self.receive()?;
        match first.first() {
            Some(0) => return Ok(Err(done(&first)?.0)),
            Some(0xff) => return Ok(Err(refused(&first)?)),
            _ => {}
        }
        let count = Parts(&first).length()?;
        let columns = self.columns(count)?;
        let next = self.receive()?;
        if next.first() == Some(&0xff) {
            return Ok(Err(refused(&next)?));
        }
        if is_end(&next) && done(&next)?.1 & STATUS_CURSOR_EXISTS != 0 {
            return Ok(Ok(Cursor { id: prepared.id, columns, ended: false }));
        }
        nonsense("a cursor was asked for, and the answer has none")
    }

    /// The next rows of a cursor; `None`: the server answered with an error.
    pub fn fetch(&mut self, cursor: &mut Cursor, count: u32) -> Result<std::result::Result<Vec<Vec<Field>>, Answer>> {
        self.command(&[&b"\x1c"[..], &cursor.id.to_le_bytes(), &count.to_le_bytes()].concat())?;
        let mut rows = Vec::new();
        match self.rows(&cursor.columns, true, &mut rows)? {
            (Some(error), _) => Ok(Err(error)),
            (None, status) => {
                cursor.ended = status & STATUS_LAST_ROW_SENT != 0;
                if rows.len() > count as usize {
                    return nonsense(format_args!("{} rows where {count} were wanted", rows.len()));
                }
                Ok(Ok(rows))
            }
        }
    }

    /// Closes the connection without COM_QUIT.
    pub fn leave(self, rudely: bool) {
        if rudely {
            self.socket.reset();
        }
    }
}

/// An open cursor.
pub struct Cursor {
    id: u32,
    columns: Vec<Column>,
    pub ended: bool,
}

impl Cursor {
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }
}

fn names(columns: Vec<Column>) -> Vec<String> {
    columns.into_iter().map(|column| column.name).collect()
}

/// A row of the binary protocol, its numbers as text.
fn binary_row(packet: &[u8], columns: &[Column]) -> Result<Vec<Field>> {
    let mut parts = Parts(packet);
    parts.number(1)?;
    let nulls = parts.bytes((columns.len() + 9) / 8)?;
    let mut row = Vec::new();
    for (place, column) in columns.iter().enumerate() {
        if nulls[(place + 2) / 8] & 1 << ((place + 2) % 8) != 0 {
            row.push(None);
            continue;
        }
        let text = match column.kind {
            1 => (parts.number(1)? as i8).to_string().into_bytes(),
            2 => (parts.number(2)? as i16).to_string().into_bytes(),
            3 => (parts.number(4)? as i32).to_string().into_bytes(),
            LONGLONG => (parts.number(8)? as i64).to_string().into_bytes(),
            0 | 15 | 0xf6 | 0xf9..=BLOB | VAR_STRING | 0xfe => parts.text()?.to_vec(),
            other => return nonsense(format_args!("a value of type {other}, which no table has")),
        };
        row.push(Some(text));
    }
    if parts.0.is_empty() { Ok(row) } else { nonsense(format_args!("{} bytes behind a row", parts.0.len())) }
}
