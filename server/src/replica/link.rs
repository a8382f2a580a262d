//! A connection to the source: MySQL's protocol as a client speaks it, the part that a replica needs. Blocking, on the receiver's thread.
//!
//! L1: a packet is read as its bytes come: its announced length reserves at most one packet's, 16 MiB.
//! L2: nothing is waited for longer than the socket's timeout.

use super::settings::Settings;
use protocol::auth::{native_proof, sha2_proof};
use protocol::{CACHING_SHA2_PASSWORD, NATIVE_PASSWORD, NONCE_BYTES};
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

const LONG_PASSWORD: u32 = 1;
const PROTOCOL_41: u32 = 0x200;
const TRANSACTIONS: u32 = 0x2000;
const SECURE_CONNECTION: u32 = 0x8000;
const SSL: u32 = 0x800;
const PLUGIN_AUTH: u32 = 0x8_0000;
/// Without DEPRECATE_EOF: the end of the stream is a classic EOF packet.
const CAPABILITIES: u32 = LONG_PASSWORD | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | PLUGIN_AUTH;
/// utf8mb4_0900_ai_ci
const COLLATION: u8 = 255;
/// The whole length of a packet's payload that another one follows.
const PAYLOAD_BYTES_MAX: usize = 0xff_ffff;
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// The longest answer to a statement here.
const ANSWER_BYTES_MAX: usize = 1 << 20;

const COM_QUERY: u8 = 3;
const COM_BINLOG_DUMP: u8 = 0x12;
const COM_REGISTER_REPLICA: u8 = 0x15;
const COM_BINLOG_DUMP_GTID: u8 = 0x1e;

/// Why the connection is of no use any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The source's own error.
    Source {
        number: u16,
        message: String,
    },
    /// The network's.
    Unreachable(String),
    Lost(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Lost(match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => "the source was silent for too long".to_owned(),
            io::ErrorKind::UnexpectedEof => "the source has closed the connection".to_owned(),
            _ => error.to_string(),
        })
    }
}

fn malformed() -> Failure {
    Failure::Lost("the source has sent a malformed packet".to_owned())
}

/// The bytes of a connection.
enum Wire {
    Plain(io::BufReader<TcpStream>),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
    /// While one becomes the other.
    None,
}

impl Wire {
    fn read_exact(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.read_exact(bytes),
            Self::Tls(stream) => stream.read_exact(bytes),
            Self::None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.get_mut().write_all(bytes),
            Self::Tls(stream) => stream.write_all(bytes).and_then(|()| stream.flush()),
            Self::None => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

pub struct Link {
    wire: Wire,
    sequence: u8,
}

impl Link {
    /// Connects without logging in; the stream is for who wants to end the connection.
    pub fn open(settings: &Settings, patience: Duration) -> Result<(Self, TcpStream), Failure> {
        let unreachable = |error: io::Error| Failure::Unreachable(error.to_string());
        let addresses = (settings.host.as_str(), settings.port).to_socket_addrs().map_err(unreachable)?;
        let mut failure = Failure::Unreachable("the name has no address".to_owned());
        for address in addresses {
            match TcpStream::connect_timeout(&address, CONNECT_PATIENCE) {
                Ok(stream) => {
                    let open = || {
                        stream.set_nodelay(true)?;
                        stream.set_read_timeout(Some(patience))?;
                        stream.set_write_timeout(Some(patience))?;
                        stream.try_clone()
                    };
                    let handle = open().map_err(unreachable)?;
                    let wire = Wire::Plain(io::BufReader::with_capacity(64 << 10, stream));
                    return Ok((Self { wire, sequence: 0 }, handle));
                }
                Err(error) => failure = unreachable(error),
            }
        }
        Err(failure)
    }

    /// Logs in with caching_sha2_password or mysql_native_password.
    pub fn log_in(&mut self, settings: &Settings) -> Result<(), Failure> {
        let greeting = self.receive(ANSWER_BYTES_MAX)?;
        if greeting.first() == Some(&0xff) {
            return Err(source_error(&greeting));
        }
        let mut nonce = nonce_of(&greeting).ok_or_else(malformed)?;
        let password = settings.password.as_str();
        let capabilities = if settings.ssl { CAPABILITIES | SSL } else { CAPABILITIES };
        let mut packet = Vec::new();
        packet.extend_from_slice(&capabilities.to_le_bytes());
        packet.extend_from_slice(&(PAYLOAD_BYTES_MAX as u32).to_le_bytes());
        packet.push(COLLATION);
        packet.extend_from_slice(&[0; 23]);
        if settings.ssl {
            if !offers_tls(&greeting) {
                return Err(Failure::Lost("SSL connection error: SSL is required but the server doesn't support it".to_owned()));
            }
            self.send(&packet)?;
            self.encrypt(settings)?;
        }
        packet.extend(settings.user.bytes().filter(|byte| *byte != 0));
        packet.push(0);
        let first = proof(CACHING_SHA2_PASSWORD, password, &nonce);
        packet.push(first.len() as u8);
        packet.extend_from_slice(&first);
        packet.extend_from_slice(CACHING_SHA2_PASSWORD.as_bytes());
        packet.push(0);
        self.send(&packet)?;
        loop {
            let packet = self.receive(ANSWER_BYTES_MAX)?;
            match packet.as_slice() {
                [0, ..] => return Ok(()),
                [0xff, ..] => return Err(source_error(&packet)),
                [0xfe, rest @ ..] => {
                    let end = rest.iter().position(|byte| *byte == 0).ok_or_else(malformed)?;
                    let sent = rest.get(end + 1..end + 1 + NONCE_BYTES).ok_or_else(malformed)?;
                    nonce.copy_from_slice(sent);
                    let known = [NATIVE_PASSWORD, CACHING_SHA2_PASSWORD].into_iter().find(|name| name.as_bytes() == &rest[..end]);
                    let Some(plugin) = known else {
                        let plugin = String::from_utf8_lossy(&rest[..end]).into_owned();
                        return Err(Failure::Lost(format!("the source wants the login plugin {plugin}, which is not there")));
                    };
                    self.send(&proof(plugin, password, &nonce))?;
                }
                // The proof was enough: OK follows.
                [1, 3] => {}
                // The password itself is wanted: nobody else can read it here, or it is encrypted.
                [1, 4] if settings.ssl => self.send(&[password.as_bytes(), b"\0"].concat())?,
                [1, 4] if settings.get_public_key => {
                    const ASK_FOR_KEY: u8 = 2;
                    self.send(&[ASK_FOR_KEY])?;
                    let key = self.receive(ANSWER_BYTES_MAX)?;
                    let key = key.strip_prefix(&[1]).ok_or_else(malformed)?;
                    let sent = accounts::encrypted_password(key, password, &nonce);
                    self.send(&sent.ok_or_else(malformed)?)?;
                }
                [1, 4] => {
                    let why = "Authentication plugin 'caching_sha2_password' reported error: Authentication requires secure \
                               connection (or GET_SOURCE_PUBLIC_KEY = 1)";
                    return Err(Failure::Lost(why.to_owned()));
                }
                _ => return Err(malformed()),
            }
        }
    }

    /// Goes on over TLS.
    fn encrypt(&mut self, settings: &Settings) -> Result<(), Failure> {
        let failed = |why: &dyn std::fmt::Display| Failure::Lost(format!("SSL connection error: {why}"));
        let config = super::tls::config(settings).map_err(|why| failed(&why))?;
        let name = ServerName::try_from(settings.host.clone()).map_err(|why| failed(&why))?;
        let Wire::Plain(plain) = std::mem::replace(&mut self.wire, Wire::None) else { return Err(malformed()) };
        if !plain.buffer().is_empty() {
            // What came before the encryption began must not be taken for what came with it.
            return Err(malformed());
        }
        let connection = ClientConnection::new(config, name).map_err(|why| failed(&why))?;
        let mut stream = StreamOwned::new(connection, plain.into_inner());
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock).map_err(|why| failed(&why))?;
        }
        self.wire = Wire::Tls(Box::new(stream));
        Ok(())
    }

    /// Runs a statement: the first cell of its first row.
    pub fn query(&mut self, text: &str) -> Result<Option<String>, Failure> {
        self.command(&[&[COM_QUERY], text.as_bytes()].concat())?;
        let head = self.receive(ANSWER_BYTES_MAX)?;
        match head.first() {
            Some(0) => return Ok(None),
            Some(0xff) => return Err(source_error(&head)),
            Some(_) => {}
            None => return Err(malformed()),
        }
        // The columns, and the EOF behind them.
        while !is_eof(&self.receive(ANSWER_BYTES_MAX)?) {}
        let mut first = None;
        loop {
            let packet = self.receive(ANSWER_BYTES_MAX)?;
            if is_eof(&packet) {
                return Ok(first.flatten());
            }
            match packet.first() {
                Some(0xff) => return Err(source_error(&packet)),
                Some(0xfb) => first = first.or(Some(None)),
                Some(length @ ..=0xfa) => {
                    let cell = packet.get(1..1 + usize::from(*length)).ok_or_else(malformed)?;
                    first = first.or(Some(Some(String::from_utf8_lossy(cell).into_owned())));
                }
                Some(0xfc) => {
                    let length = packet.get(1..3).map_or(0, |bytes| usize::from(u16::from_le_bytes([bytes[0], bytes[1]])));
                    let cell = packet.get(3..3 + length).ok_or_else(malformed)?;
                    first = first.or(Some(Some(String::from_utf8_lossy(cell).into_owned())));
                }
                _ => return Err(malformed()),
            }
        }
    }

    /// COM_REGISTER_REPLICA
    pub fn register(&mut self, server_id: u32, host: &str, port: u16) -> Result<(), Failure> {
        let mut packet = vec![COM_REGISTER_REPLICA];
        packet.extend_from_slice(&server_id.to_le_bytes());
        let host = &host.as_bytes()[..host.len().min(255)];
        packet.push(host.len() as u8);
        packet.extend_from_slice(host);
        // No user and no password: they would be shown by the source.
        packet.extend_from_slice(&[0, 0]);
        packet.extend_from_slice(&port.to_le_bytes());
        packet.extend_from_slice(&[0; 8]);
        self.command(&packet)?;
        match self.receive(ANSWER_BYTES_MAX)? {
            packet if packet.first() == Some(&0xff) => Err(source_error(&packet)),
            _ => Ok(()),
        }
    }

    /// COM_BINLOG_DUMP_GTID: what the set does not have.
    pub fn dump_rest(&mut self, server_id: u32, set: &[u8]) -> Result<(), Failure> {
        let mut packet = vec![COM_BINLOG_DUMP_GTID];
        packet.extend_from_slice(&[0; 2]);
        packet.extend_from_slice(&server_id.to_le_bytes());
        packet.extend_from_slice(&[0; 4]);
        packet.extend_from_slice(&4u64.to_le_bytes());
        let length = u32::try_from(set.len()).map_err(|_| malformed())?;
        packet.extend_from_slice(&length.to_le_bytes());
        packet.extend_from_slice(set);
        self.command(&packet)
    }

    /// COM_BINLOG_DUMP: from a byte of a file on; positions have 32 bits there.
    pub fn dump_from(&mut self, server_id: u32, file: &str, position: u64) -> Result<(), Failure> {
        let mut packet = vec![COM_BINLOG_DUMP];
        let position = u32::try_from(position).map_err(|_| Failure::Lost("SOURCE_LOG_POS is over 4 GiB".to_owned()))?;
        packet.extend_from_slice(&position.to_le_bytes());
        packet.extend_from_slice(&[0; 2]);
        packet.extend_from_slice(&server_id.to_le_bytes());
        packet.extend_from_slice(file.as_bytes());
        self.command(&packet)
    }

    /// The next event of a dump; `None`: the source has ended it.
    pub fn event(&mut self, bytes_max: usize) -> Result<Option<Vec<u8>>, Failure> {
        let mut packet = self.receive(bytes_max)?;
        match packet.first() {
            Some(0) => {
                packet.remove(0);
                Ok(Some(packet))
            }
            Some(0xff) => Err(source_error(&packet)),
            Some(0xfe) => Ok(None),
            _ => Err(malformed()),
        }
    }

    fn command(&mut self, payload: &[u8]) -> Result<(), Failure> {
        self.sequence = 0;
        self.send(payload)
    }

    fn send(&mut self, payload: &[u8]) -> Result<(), Failure> {
        let mut rest = payload;
        loop {
            let now = &rest[..rest.len().min(PAYLOAD_BYTES_MAX)];
            let mut packet = Vec::with_capacity(now.len() + 4);
            packet.extend_from_slice(&(now.len() as u32).to_le_bytes()[..3]);
            packet.push(self.sequence);
            packet.extend_from_slice(now);
            self.sequence = self.sequence.wrapping_add(1);
            self.wire.write_all(&packet)?;
            rest = &rest[now.len()..];
            if now.len() < PAYLOAD_BYTES_MAX {
                return Ok(());
            }
        }
    }

    fn receive(&mut self, bytes_max: usize) -> Result<Vec<u8>, Failure> {
        let mut payload = Vec::new();
        loop {
            let mut head = [0; 4];
            self.wire.read_exact(&mut head)?;
            let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
            self.sequence = head[3].wrapping_add(1);
            let begin = payload.len();
            if begin + length > bytes_max {
                return Err(Failure::Lost(format!("the source has sent more than {bytes_max} bytes at once")));
            }
            payload.resize(begin + length, 0);
            self.wire.read_exact(&mut payload[begin..])?;
            if length < PAYLOAD_BYTES_MAX {
                return Ok(payload);
            }
        }
    }
}

fn is_eof(packet: &[u8]) -> bool {
    packet.first() == Some(&0xfe) && packet.len() < 9
}

/// Does the source's first packet offer TLS?
fn offers_tls(greeting: &[u8]) -> bool {
    let low = greeting.get(1..).and_then(|rest| {
        let version = rest.iter().position(|byte| *byte == 0)?;
        // Thread, first part of the nonce, a zero.
        let at = version + 1 + 4 + 8 + 1;
        Some(u16::from_le_bytes(rest.get(at..at + 2)?.try_into().ok()?))
    });
    low.is_some_and(|low| u32::from(low) & SSL != 0)
}

/// The nonce in the source's first packet.
fn nonce_of(greeting: &[u8]) -> Option<[u8; NONCE_BYTES]> {
    const FIRST: usize = 8;
    // From the end of the first part of the nonce to the beginning of the second one.
    const BETWEEN: usize = 1 + 2 + 1 + 2 + 2 + 1 + 10;
    let version_end = greeting.get(1..)?.iter().position(|byte| *byte == 0)? + 2;
    let rest = greeting.get(version_end + 4..)?;
    let (first, second) = (rest.get(..FIRST)?, rest.get(FIRST + BETWEEN..)?.get(..NONCE_BYTES - FIRST)?);
    [first, second].concat().try_into().ok()
}

fn proof(plugin: &str, password: &str, nonce: &[u8; NONCE_BYTES]) -> Vec<u8> {
    match password.as_bytes() {
        b"" => Vec::new(),
        password if plugin == NATIVE_PASSWORD => native_proof(password, nonce).to_vec(),
        password => sha2_proof(password, nonce).to_vec(),
    }
}

fn source_error(packet: &[u8]) -> Failure {
    let [_, low, high, rest @ ..] = packet else { return malformed() };
    let message = match rest {
        [b'#', _, _, _, _, _, message @ ..] => message,
        message => message,
    };
    Failure::Source { number: u16::from_le_bytes([*low, *high]), message: String::from_utf8_lossy(message).into_owned() }
}
