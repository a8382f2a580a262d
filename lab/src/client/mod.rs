//! The lab's own client: what it costs hides differences between servers, so it costs little.
//!
//! ```text
//! Value, text -> Codec -> bytes -> Socket -> bytes -> Codec::feed -> done, rows counted
//! ```
//! - [`login`] and [`postgres`] open a connection, blocking; [`Client`] goes on so, for what is not measured.
//! - [`crate::load`] makes the socket non-blocking and drives many connections by one thread.
//!
//! C1: nothing of the server under test is on this side: the codec is the lab's own, so an error of Heddle's codec is seen.
//! C2: an answer is read to its end before the next command is sent, and rows are counted, not kept.

pub mod codec;
pub mod login;
mod mysql;
mod postgres;

pub use codec::{Codec, Sent};

use crate::error::{Error, Result};
use crate::target::{Dialect, Target};
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::time::Duration;

const CONNECT_MAX: Duration = Duration::from_secs(10);

/// What stands for a `?`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Int(i32),
    /// A part of the event's text
    Text {
        from: u32,
        to: u32,
    },
}

/// A connection of either kind.
#[derive(Debug)]
pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Connects.
    pub fn open(target: &Target) -> Result<Self> {
        let failed = || format!("cannot connect to {}", target.address());
        if let Some(path) = &target.socket {
            return UnixStream::connect(path).map(Self::Unix).map_err(Error::io(failed()));
        }
        let addresses = (target.host.as_str(), target.port).to_socket_addrs().map_err(Error::io(failed()))?;
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in addresses {
            match TcpStream::connect_timeout(&address, CONNECT_MAX) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Ok(Self::Tcp(stream));
                }
                Err(error) => last = error,
            }
        }
        Err(Error::io(failed())(last))
    }

    pub fn is_unix(&self) -> bool {
        matches!(self, Self::Unix(_))
    }

    /// How long a blocking read may take.
    pub fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(patience),
            Self::Unix(stream) => stream.set_read_timeout(patience),
        }
    }
}

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buffer),
            Self::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A row as text; `None` is NULL.
pub type Row = Vec<Option<String>>;

/// A blocking connection, for what is not measured: tables, waits, variables.
#[derive(Debug)]
pub struct Client {
    pub socket: Socket,
    pub codec: Codec,
    input: Vec<u8>,
    output: Vec<u8>,
}

impl Client {
    /// Connects and logs in, with a database if there is to be one.
    ///
    /// # Errors
    /// With the server's address.
    pub fn open(target: &Target, database: Option<&str>) -> Result<Self> {
        let mut socket = Socket::open(target)?;
        let codec = match target.dialect {
            Dialect::MySql => login::log_in(&mut socket, target, database).map(Codec::MySql),
            Dialect::Postgres => postgres::log_in(&mut socket, target, database).map(Codec::Postgres),
        };
        let codec = codec.map_err(Error::at(format!("login at {}", target.address())))?;
        Ok(Self { socket, codec, input: Vec::new(), output: Vec::new() })
    }

    /// Statements of which only the effect is wanted.
    pub fn run(&mut self, sql: &str) -> Result<()> {
        self.query(sql).map(drop)
    }

    /// The rows of a statement.
    ///
    /// # Errors
    /// The server's, with the statement's beginning.
    pub fn query(&mut self, sql: &str) -> Result<Vec<Row>> {
        let place = || format!("'{}'", sql.chars().take(120).collect::<String>().trim());
        self.output.clear();
        self.codec.query(&mut self.output, sql.as_bytes()).map_err(Error::at(place()))?;
        let mut rows = Vec::new();
        self.exchange(Sent::Query, &mut |row| rows.push(row.to_vec())).map_err(Error::at(place()))?;
        rows.iter().map(|row| self.codec.text_row(row)).collect()
    }

    /// The first column of the first row, as a number.
    pub fn number(&mut self, sql: &str) -> Result<f64> {
        let rows = self.query(sql)?;
        let text = rows.first().and_then(|row| row.first()).cloned().flatten();
        text.and_then(|text| text.parse().ok()).ok_or_else(|| Error::asked(format!("'{sql}' answers no number")))
    }

    /// Prepares statements; their numbers at the server.
    ///
    /// # Errors
    /// The server's, with the statement.
    pub fn prepare<'a>(&mut self, statements: impl Iterator<Item = &'a str>) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        for (at, sql) in statements.enumerate() {
            self.output.clear();
            self.codec.prepare(&mut self.output, at as u32, sql)?;
            self.exchange(Sent::Prepare, &mut |_| ()).map_err(Error::at(format!("'{sql}'")))?;
            ids.push(self.codec.prepared().unwrap_or(at as u32));
        }
        Ok(ids)
    }

    fn exchange(&mut self, sent: Sent, row: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.socket.write_all(&self.output)?;
        self.receive(sent, row)
    }

    fn receive(&mut self, sent: Sent, row: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.codec.begin(sent);
        loop {
            let (used, done) = self.codec.feed(&self.input, row)?;
            self.input.drain(..used);
            if done {
                break;
            }
            let mut part = [0; 16 << 10];
            let got = match self.socket.read(&mut part) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                got => got?,
            };
            if got == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server has closed it").into());
            }
            self.input.extend_from_slice(&part[..got]);
        }
        self.codec.outcome()
    }
}
