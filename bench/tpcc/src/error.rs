//! What goes wrong.

use std::fmt;

#[derive(Debug)]
pub enum Error {
    /// The connection fails.
    Io(std::io::Error),
    /// The server refuses a login or a statement.
    Server { code: u16, state: String, message: String },
    /// The client cannot log in as the server wants it.
    Login(String),
    /// Bytes that are not the protocol's.
    Packet(&'static str),
    /// The server answers something that cannot be.
    Answer(String),
}

impl Error {
    /// Whether the transaction may be tried again: a deadlock (1213), a lock waited for too long (1205), or, of MariaDB under
    /// `innodb_snapshot_isolation`, a row that has changed since the snapshot (1020).
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Server { code: 1020 | 1205 | 1213, .. })
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Server { code, state, message } => write!(f, "ERROR {code} ({state}): {message}"),
            Self::Login(what) => write!(f, "login: {what}"),
            Self::Packet(what) => write!(f, "what the server sends is malformed: {what}"),
            Self::Answer(what) => f.write_str(what),
        }
    }
}
