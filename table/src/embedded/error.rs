//! Errors of a whole call of the library. The result for a single key is an [`super::Outcome`].

use std::fmt;

/// Except for opening and definitions, an error has ended the transaction: nothing of it remains.
#[derive(Debug)]
pub enum Error {
    /// The catalog or a definition.
    Definition(crate::Error),
    /// The engine: I/O, a full disk, a deadlock whose victim this transaction is, a lock waited for too long.
    Engine(txn::Error),
    /// The table was altered, truncated or dropped since it was opened: open it again.
    TableReplaced,
    /// The table has no primary key.
    NoPrimaryKey,
    /// A row or key has another number of values than the table or its primary key has columns.
    WrongNumberOfValues { expected: usize, found: usize },
    /// No column has this position.
    NoSuchColumn { column: usize },
    /// An earlier error has ended this transaction.
    Over,
    /// All sessions of `Options::sessions_max` are open.
    TooManySessions,
    /// The directory cannot be closed while sessions are open.
    SessionsOpen,
}

pub type Result<T> = std::result::Result<T, Error>;

impl From<crate::Error> for Error {
    fn from(error: crate::Error) -> Self {
        match error {
            crate::Error::Engine(error) => Self::Engine(error),
            other => Self::Definition(other),
        }
    }
}

impl From<txn::Error> for Error {
    fn from(error: txn::Error) -> Self {
        Self::Engine(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Definition(error) => error.fmt(f),
            Self::Engine(error) => error.fmt(f),
            Self::TableReplaced => f.write_str("the table's definition has changed since it was opened"),
            Self::NoPrimaryKey => f.write_str("the table has no primary key"),
            Self::WrongNumberOfValues { expected, found } => write!(f, "{found} values where {expected} are needed"),
            Self::NoSuchColumn { column } => write!(f, "no column has the position {column}"),
            Self::Over => f.write_str("an earlier error has ended the transaction"),
            Self::TooManySessions => f.write_str("as many sessions as the options allow are open"),
            Self::SessionsOpen => f.write_str("sessions are open"),
        }
    }
}

impl std::error::Error for Error {}
