//! A client of the server on a socket of this process: MySQL's protocol, the part that the console needs.
//!
//! 1. [`Client::login`] answers the greeting, so that the server's own code checks the account: its password, its host, its locks and
//!    limits.
//! 2. [`Client::query`] runs one statement in the text protocol and keeps its rows.
//!
//! W1: a result is at most [`RESULT_BYTES_MAX`] long, and a statement ends within [`PATIENCE`]. Beyond that the connection is given up.
//! W2: no text of a user becomes part of a statement, but as a literal of hexadecimal digits ([`quoted`]).

use protocol::auth::{native_proof, sha2_proof};
use protocol::{CACHING_SHA2_PASSWORD, NATIVE_PASSWORD, NONCE_BYTES};
use serde_json::{Number, Value};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::timeout;

const RESULT_BYTES_MAX: usize = 8 << 20;
/// The same for a program of the command line.
const PROGRAM_BYTES_MAX: usize = 256 << 20;
const PATIENCE: Duration = Duration::from_secs(20);

const LONG_PASSWORD: u32 = 1;
const PROTOCOL_41: u32 = 0x200;
const TRANSACTIONS: u32 = 0x2000;
const SECURE_CONNECTION: u32 = 0x8000;
const PLUGIN_AUTH: u32 = 0x8_0000;
const CONNECT_ATTRIBUTES: u32 = 0x10_0000;
const DEPRECATE_EOF: u32 = 0x100_0000;
const CAPABILITIES: u32 =
    LONG_PASSWORD | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | PLUGIN_AUTH | CONNECT_ATTRIBUTES | DEPRECATE_EOF;
/// utf8mb4_0900_ai_ci
const COLLATION: u8 = 255;
/// The whole length of a packet's payload that another one follows.
const PAYLOAD_BYTES_MAX: usize = 0xff_ffff;

/// Why a statement or a login has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server's error.
    Sql { number: u16, message: String },
    /// The connection is over, or cannot be used any more.
    Lost,
}

/// Rows of a statement. A cell is `null`, a number where the column is one, or a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Value>>,
}

impl Rows {
    /// The rows as objects by the names of their columns.
    pub fn objects(self) -> Value {
        let columns = self.columns;
        let object = |row: Vec<Value>| Value::Object(columns.iter().cloned().zip(row).collect());
        Value::Array(self.rows.into_iter().map(object).collect())
    }

    /// The only cell.
    pub fn single(&self) -> Option<&Value> {
        self.rows.first()?.first()
    }
}

/// A connection's bytes.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// A connection that is logged in.
pub struct Client {
    stream: BufReader<Box<dyn Stream>>,
    /// Nobody else can read it: the password itself may be sent.
    is_private: bool,
    bytes_max: usize,
    sequence: u8,
    /// The session's number in the process list.
    pub id: u32,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A literal with this text.
pub fn quoted(text: &str) -> String {
    if text.is_empty() {
        return "_utf8mb4''".to_owned();
    }
    let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
    format!("_utf8mb4 0x{hex}")
}

/// A name between backticks.
pub fn name(text: &str) -> String {
    format!("`{}`", text.replace('`', "``"))
}

impl Client {
    /// Logs in over a new connection.
    ///
    /// # Errors
    /// The server's own, such as 1045; the connection is over then.
    pub async fn login(stream: std::os::unix::net::UnixStream, user: &str, password: &str) -> Result<Self, Failure> {
        let open = || {
            stream.set_nonblocking(true)?;
            UnixStream::from_std(stream)
        };
        let stream = open().map_err(|_| Failure::Lost)?;
        let mut client = Self::begin(Box::new(stream), true, user, password).await?;
        client.bytes_max = RESULT_BYTES_MAX;
        Ok(client)
    }

    /// Logs in over any stream, for a program of the command line: results may be larger there.
    ///
    /// # Errors
    /// The server's own; `Lost` too where the server asks for the password itself, and others may read the stream.
    pub async fn begin(stream: Box<dyn Stream>, is_private: bool, user: &str, password: &str) -> Result<Self, Failure> {
        let bytes_max = PROGRAM_BYTES_MAX;
        let mut client = Self { stream: BufReader::new(stream), is_private, bytes_max, sequence: 0, id: 0 };
        let outcome = timeout(PATIENCE, client.authenticate(user, password)).await;
        outcome.unwrap_or(Err(Failure::Lost))?;
        Ok(client)
    }

    async fn authenticate(&mut self, user: &str, password: &str) -> Result<(), Failure> {
        let greeting = self.receive().await?;
        let Greeting { id, nonce } = Greeting::parse(&greeting)?;
        self.id = id;
        self.send(&response(user, password, &nonce)).await?;
        loop {
            let packet = self.receive().await?;
            match packet.as_slice() {
                [0, ..] => return Ok(()),
                [0xff, ..] => return Err(sql_error(&packet)),
                [0xfe, rest @ ..] => {
                    let proof = switched(rest, password).ok_or(Failure::Lost)?;
                    self.send(&proof).await?;
                }
                // The proof was enough: OK follows.
                [1, 3] => {}
                // The password itself, which nobody else can read on this socket.
                [1, 4] if self.is_private => self.send(&[password.as_bytes(), b"\0"].concat()).await?,
                _ => return Err(Failure::Lost),
            }
        }
    }

    /// Runs a statement. A result without rows has no columns either.
    ///
    /// # Errors
    /// The server's own, after which the connection can be used; or `Lost`.
    pub async fn query(&mut self, text: &str) -> Result<Rows, Failure> {
        self.query_within(text, PATIENCE).await
    }

    /// As `query`, for a statement that takes longer.
    pub async fn query_within(&mut self, text: &str, patience: Duration) -> Result<Rows, Failure> {
        timeout(patience, self.run(text)).await.unwrap_or(Err(Failure::Lost))
    }

    async fn run(&mut self, text: &str) -> Result<Rows, Failure> {
        const COM_QUERY: u8 = 3;
        self.sequence = 0;
        let mut packet = Vec::with_capacity(text.len() + 1);
        packet.push(COM_QUERY);
        packet.extend_from_slice(text.as_bytes());
        self.send(&packet).await?;
        let head = self.receive().await?;
        match head.first() {
            Some(0) => return Ok(Rows::default()),
            Some(0xff) => return Err(sql_error(&head)),
            Some(_) => {}
            None => return Err(Failure::Lost),
        }
        let count = Reader(&head).length().ok_or(Failure::Lost)?;
        let (mut columns, mut is_number) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let packet = self.receive().await?;
            let (name, kind) = column(&packet).ok_or(Failure::Lost)?;
            columns.push(name);
            is_number.push(is_numeric(kind));
        }
        let (mut rows, mut bytes) = (Vec::new(), 0);
        loop {
            let packet = self.receive().await?;
            match packet.first() {
                Some(0xfe) if packet.len() < PAYLOAD_BYTES_MAX => return Ok(Rows { columns, rows }),
                Some(0xff) => return Err(sql_error(&packet)),
                _ => {}
            }
            bytes += packet.len();
            // W1
            if bytes > self.bytes_max {
                return Err(Failure::Lost);
            }
            let mut reader = Reader(&packet);
            let row: Option<Vec<Value>> = is_number.iter().map(|is_number| reader.cell(*is_number)).collect();
            rows.push(row.ok_or(Failure::Lost)?);
        }
    }

    async fn send(&mut self, payload: &[u8]) -> Result<(), Failure> {
        let mut packet = Vec::with_capacity(payload.len() + 4);
        let length = u32::try_from(payload.len()).ok().filter(|length| (*length as usize) < PAYLOAD_BYTES_MAX);
        packet.extend_from_slice(&length.ok_or(Failure::Lost)?.to_le_bytes()[..3]);
        packet.push(self.sequence);
        packet.extend_from_slice(payload);
        self.sequence = self.sequence.wrapping_add(1);
        self.stream.get_mut().write_all(&packet).await.map_err(|_| Failure::Lost)
    }

    async fn receive(&mut self) -> Result<Vec<u8>, Failure> {
        let mut payload = Vec::new();
        loop {
            let mut head = [0; 4];
            self.stream.read_exact(&mut head).await.map_err(|_| Failure::Lost)?;
            let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
            self.sequence = head[3].wrapping_add(1);
            // W1
            if payload.len() + length > self.bytes_max {
                return Err(Failure::Lost);
            }
            let begin = payload.len();
            payload.resize(begin + length, 0);
            self.stream.read_exact(&mut payload[begin..]).await.map_err(|_| Failure::Lost)?;
            if length < PAYLOAD_BYTES_MAX {
                return Ok(payload);
            }
        }
    }
}

/// The parts of the server's first packet that count here.
struct Greeting {
    id: u32,
    nonce: [u8; NONCE_BYTES],
}

impl Greeting {
    fn parse(packet: &[u8]) -> Result<Self, Failure> {
        if packet.first() == Some(&0xff) {
            return Err(sql_error(packet));
        }
        Self::parts(packet).ok_or(Failure::Lost)
    }

    fn parts(packet: &[u8]) -> Option<Self> {
        const NONCE_FIRST: usize = 8;
        // From the end of the first part of the nonce to the beginning of the second one.
        const BETWEEN: usize = 1 + 2 + 1 + 2 + 2 + 1 + 10;
        let mut reader = Reader(packet.get(1..)?);
        reader.text_to_zero()?;
        let id = u32::from_le_bytes(reader.take(4)?.try_into().ok()?);
        let first = reader.take(NONCE_FIRST)?;
        reader.take(BETWEEN)?;
        let second = reader.take(NONCE_BYTES - NONCE_FIRST)?;
        Some(Self { id, nonce: [first, second].concat().try_into().ok()? })
    }
}

/// The client's answer to the greeting.
fn response(user: &str, password: &str, nonce: &[u8; NONCE_BYTES]) -> Vec<u8> {
    let mut packet = Vec::new();
    packet.extend_from_slice(&CAPABILITIES.to_le_bytes());
    packet.extend_from_slice(&(PAYLOAD_BYTES_MAX as u32).to_le_bytes());
    packet.push(COLLATION);
    packet.extend_from_slice(&[0; 23]);
    packet.extend(user.bytes().filter(|byte| *byte != 0));
    packet.push(0);
    let proof = proof(CACHING_SHA2_PASSWORD, password, nonce);
    packet.push(proof.len() as u8);
    packet.extend_from_slice(&proof);
    packet.extend_from_slice(CACHING_SHA2_PASSWORD.as_bytes());
    packet.push(0);
    let mut attributes = Vec::new();
    for text in ["program_name", "heddle console"] {
        attributes.push(text.len() as u8);
        attributes.extend_from_slice(text.as_bytes());
    }
    packet.push(attributes.len() as u8);
    packet.extend_from_slice(&attributes);
    packet
}

/// The proof for another plugin that the server asks for.
fn switched(packet: &[u8], password: &str) -> Option<Vec<u8>> {
    let mut reader = Reader(packet);
    let plugin = reader.text_to_zero()?;
    let nonce = reader.take(NONCE_BYTES)?.try_into().ok()?;
    let known = [NATIVE_PASSWORD, CACHING_SHA2_PASSWORD].into_iter().find(|known| known.as_bytes() == plugin)?;
    Some(proof(known, password, &nonce))
}

fn proof(plugin: &str, password: &str, nonce: &[u8; NONCE_BYTES]) -> Vec<u8> {
    match password.as_bytes() {
        b"" => Vec::new(),
        password if plugin == NATIVE_PASSWORD => native_proof(password, nonce).to_vec(),
        password => sha2_proof(password, nonce).to_vec(),
    }
}

fn sql_error(packet: &[u8]) -> Failure {
    let [_, low, high, rest @ ..] = packet else { return Failure::Lost };
    let message = match rest {
        [b'#', _, _, _, _, _, message @ ..] => message,
        message => message,
    };
    Failure::Sql { number: u16::from_le_bytes([*low, *high]), message: String::from_utf8_lossy(message).into_owned() }
}

/// The name and the type of a column.
fn column(packet: &[u8]) -> Option<(String, u8)> {
    let mut reader = Reader(packet);
    for _ in 0..4 {
        reader.bytes()?;
    }
    let name = String::from_utf8_lossy(reader.bytes()?).into_owned();
    reader.bytes()?;
    // The length of what follows, collation, length.
    reader.take(1 + 2 + 4)?;
    Some((name, *reader.take(1)?.first()?))
}

fn is_numeric(kind: u8) -> bool {
    matches!(kind, 0..=5 | 8 | 9 | 13 | 246)
}

/// What remains of a packet.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn text_to_zero(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }

    /// A length-encoded number.
    fn length(&mut self) -> Option<usize> {
        let more = match *self.take(1)?.first()? {
            small @ ..=0xfa => return Some(small.into()),
            0xfc => 2,
            0xfd => 3,
            0xfe => 8,
            _ => return None,
        };
        let mut number = [0; 8];
        number[..more].copy_from_slice(self.take(more)?);
        u64::from_le_bytes(number).try_into().ok()
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }

    fn cell(&mut self, is_number: bool) -> Option<Value> {
        const NULL: u8 = 0xfb;
        if self.0.first() == Some(&NULL) {
            self.take(1)?;
            return Some(Value::Null);
        }
        let text = String::from_utf8_lossy(self.bytes()?).into_owned();
        let number = if is_number { number(&text) } else { None };
        Some(number.map_or(Value::String(text), Value::Number))
    }
}

fn number(text: &str) -> Option<Number> {
    if let Ok(whole) = text.parse::<u64>() {
        return Some(whole.into());
    }
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    Number::from_f64(text.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_become_literals_without_any_sign_of_their_own() {
        assert_eq!(quoted("a'\\"), "_utf8mb4 0x61275c");
        assert_eq!(quoted(""), "_utf8mb4''");
        assert_eq!(name("a`b"), "`a``b`");
    }

    #[test]
    fn cells_are_null_numbers_or_texts() {
        let packet = [&[0xfb, 2][..], b"42", &[3], b"1.5", &[2], b"42"].concat();
        let mut reader = Reader(&packet);
        let cells = [true, true, true, false].map(|is_number| reader.cell(is_number).expect("there are four"));
        assert_eq!(cells, [Value::Null, 42.into(), 1.5.into(), "42".into()]);
        assert_eq!(reader.cell(true), None);
        assert_eq!(Reader(&[0xfc, 1]).bytes(), None, "cut off");
    }

    #[test]
    fn a_switch_of_the_plugin_is_answered() {
        let ask = |plugin: &str| [plugin.as_bytes(), b"\0abcdefghijklmnopqrst\0"].concat();
        assert_eq!(switched(&ask("mysql_native_password"), "x").map(|proof| proof.len()), Some(20));
        assert_eq!(switched(&ask("mysql_native_password"), "").map(|proof| proof.len()), Some(0));
        assert_eq!(switched(&ask("dialog"), "x"), None);
    }
}
