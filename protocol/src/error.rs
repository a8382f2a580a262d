//! What can be wrong with bytes from a client. Data, not text: `server` gives each its MySQL number and message.

use std::fmt;

/// A packet that cannot be taken as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The bytes do not follow the protocol (1835, or 1043 during the handshake). The connection has to be closed, because what
    /// follows cannot be trusted.
    Malformed { packet: &'static str, field: &'static str, offset: usize },
    /// Larger than `max_allowed_packet`, or than the limit before authentication (1153). Close the connection.
    TooLarge { bytes: u64, limit: usize },
    /// Sequence numbers disagree (1156). Close the connection.
    OutOfOrder { expected: u8, found: u8 },
    /// A compressed packet that does not decompress to what it promises (1157). Close the connection.
    Uncompress { why: &'static str },
    /// The client speaks a protocol older than 4.1 (1251).
    OldProtocol,
    /// A command byte without a meaning (1047). The connection continues.
    UnknownCommand { code: u8 },
    /// A parameter value outside its type's range, such as month 13 (1292). The connection continues.
    ParameterRange { parameter: usize, what: &'static str },
    /// A parameter number that the statement does not have (1210). The connection continues.
    ParameterNumber { parameter: usize, count: usize },
}

impl Error {
    /// Must the connection end, because the rest of its bytes cannot be understood?
    pub fn is_fatal(&self) -> bool {
        !matches!(self, Error::UnknownCommand { .. } | Error::ParameterRange { .. } | Error::ParameterNumber { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Malformed { packet, field, offset } => write!(f, "malformed {packet}: bad {field} at byte {offset}"),
            Error::TooLarge { bytes, limit } => write!(f, "packet of {bytes} bytes or more is over the limit of {limit}"),
            Error::OutOfOrder { expected, found } => write!(f, "packet number {found} where {expected} was due"),
            Error::Uncompress { why } => write!(f, "bad compressed packet: {why}"),
            Error::OldProtocol => f.write_str("the client speaks a protocol older than 4.1"),
            Error::UnknownCommand { code } => write!(f, "unknown command 0x{code:02x}"),
            Error::ParameterRange { parameter, what } => write!(f, "parameter {}: {what} out of range", parameter + 1),
            Error::ParameterNumber { parameter, count } => {
                write!(f, "parameter {} of a statement with {count} parameters", parameter + 1)
            }
        }
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;
