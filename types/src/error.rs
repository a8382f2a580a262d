//! Errors of values and their encodings, as data. `server` maps them to conditions.

/// Errors of this crate. Conversion trouble that may be a mere warning is [`crate::convert::Problem`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// Stored bytes that no encoder of ours wrote.
    Corrupt(&'static str),
    /// A value of another kind than the column's was handed to an encoder; the caller did not convert it. Holds the column's position.
    WrongKind { column: usize },
    /// NULL for a column that is NOT NULL (1048). Holds the column's position.
    Null { column: usize },
    /// The column's bytes lie in the blob tree; the caller has to fetch them.
    External { column: usize },
    /// 1071: the encoded key is longer than `max` bytes.
    KeyTooLong { max: usize },
}

pub type Result<T> = std::result::Result<T, Error>;
