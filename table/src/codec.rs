//! Where this crate meets `types::row` and `types::key` (placeholder until they land; `StoredRow` will be `types::row::StoredRow`).
use types::Value;

/// How the rows of one table are laid out.
pub struct RowLayout {}

/// A stored row, decoded column by column when someone looks.
#[derive(Clone, Copy)]
pub struct StoredRow<'a> {
    _bytes: &'a [u8],
}

impl<'a> StoredRow<'a> {
    pub fn value(&self, _column: usize) -> Value<'a> {
        todo!()
    }
}
