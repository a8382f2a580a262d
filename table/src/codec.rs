//! How the keys of one index are made from rows and read back.
//!
//! ```text
//! clustered   columns of the primary key, or the row id            -> stored row
//! unique      columns of the index [+ clustered key if one is NULL] -> clustered key
//! secondary   columns of the index + clustered key                 -> (empty)
//! ```
//!
//! Column encodings are `types::key`'s: a complete encoded column is never a prefix of another value's encoding, so concatenation keeps
//! order and an entry can be cut into its columns again.

use txn::{Error, Interrupt};
use types::key::{self, KeyPart};
use types::row::{RowLayout, StoredRow};
use types::schema::{IndexDef, IndexKind, TableDef};
use types::Value;

/// Codec of one index.
pub(crate) struct IndexCodec {
    pub kind: IndexKind,
    pub parts: Box<[Part]>,
}

/// One column of an index.
pub(crate) struct Part {
    pub column: usize,
    pub key: KeyPart,
}
