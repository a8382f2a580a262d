//! (stub; the real one follows)
/// A B+tree: identity (unique for ever) and the page of its root, which never moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeRef {
    pub id: u32,
    pub root: u32,
}

/// Longest key, in bytes (MySQL's limit for an index).
pub const KEY_BYTES_MAX: usize = 3072;
/// Longest key plus payload of one record, in bytes. Longer rows move columns out (see `table`).
pub const RECORD_BYTES_MAX: usize = 3900;
