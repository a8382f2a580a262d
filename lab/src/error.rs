//! What goes wrong, as one line for the person at the terminal.

use std::fmt;
use std::io;

/// An error of the lab.
#[derive(Debug)]
pub enum Error {
    /// A file, a socket or a process of this machine.
    Io { what: String, error: io::Error },
    /// The server refuses a login or a statement. PostgreSQL has no numbers: 0 there.
    Server { number: u16, state: String, message: String },
    /// Bytes that are not the protocol's.
    Protocol(&'static str),
    /// The command line or a file asks for what cannot be done.
    Asked(String),
    /// Where an error happened.
    In { place: String, inner: Box<Error> },
    /// The person has interrupted the run.
    Interrupted,
}

pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// For `map_err`: an error of the operating system with what was tried.
    pub fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |error| Self::Io { what, error }
    }

    /// For `map_err`: says where.
    pub fn at(place: impl Into<String>) -> impl FnOnce(Self) -> Self {
        let place = place.into();
        move |inner| match inner {
            Self::Interrupted => inner,
            inner => Self::In { place, inner: Box::new(inner) },
        }
    }

    pub fn asked(text: impl Into<String>) -> Self {
        Self::Asked(text.into())
    }

    /// The server's refusal of a statement: the connection goes on.
    pub fn is_of_server(&self) -> bool {
        match self {
            Self::Server { .. } => true,
            Self::In { inner, .. } => inner.is_of_server(),
            _ => false,
        }
    }

    /// A conflict between transactions: run again, and count. A deadlock, a lock wait that takes too long, or a duplicate key
    /// or a serialization failure of PostgreSQL, which sysbench counts so, too.
    pub fn is_conflict(&self) -> bool {
        match self {
            Self::Server { number: 0, state, .. } => ["40P01", "40001", "23505"].contains(&state.as_str()),
            Self::Server { state, .. } if state == "40001" => true,
            // Lock wait timeouts have the general SQLSTATE.
            Self::Server { message, state, .. } => state == "HY000" && message.contains("try restarting transaction"),
            Self::In { inner, .. } => inner.is_conflict(),
            _ => false,
        }
    }
}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Self {
        Self::Io { what: "the connection".into(), error }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { what, error } => write!(f, "{what}: {error}"),
            Self::Server { number: 0, state, message } => write!(f, "the server says: {message} (SQLSTATE {state})"),
            Self::Server { number, state, message } => write!(f, "the server says: {message} (error {number}, SQLSTATE {state})"),
            Self::Protocol(what) => write!(f, "the server sends what the protocol does not allow: {what}"),
            Self::Asked(text) => f.write_str(text),
            Self::In { place, inner } => write!(f, "{place}: {inner}"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {}
