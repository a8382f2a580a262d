//! Buffers that outlive a statement, so that a short one allocates nothing.
//!
//! Each thread keeps a few sets of buffers; a statement takes a set when it begins and returns it when it ends. An idle session holds
//! none. A statement that is dropped half-way (its connection is gone) drops its set with it.

use crate::source::RowSlot;
use crate::spill::sorter::Entry;
use std::cell::RefCell;
use table::RowCursor;
use types::Value;

/// Buffers of one statement.
#[derive(Default)]
pub(crate) struct Scratch {
    /// An encoded index key.
    pub key: Vec<u8>,
    pub row: RowSlot,
    pub cursor: Option<Box<RowCursor>>,
    pub ranges: Vec<table::EncodedRange>,
    /// One row's values, empty between rows; only its memory is kept.
    pub values: Vec<Value<'static>>,
    /// Made by the first change that needs it.
    pub progress: Option<Box<table::Progress>>,
    /// A packed row.
    pub slots: Vec<u8>,
    /// Rows of a sort, and their keys.
    pub arena: Vec<u8>,
    pub entries: Vec<Entry>,
}

/// The sets that a thread keeps: the usual number of concurrent statements.
const KEPT_MAX: usize = 16;
/// A set with larger buffers is not kept.
const KEPT_BYTES_MAX: usize = 256 << 10;

thread_local! {
    #[allow(clippy::vec_box, reason = "a set is moved by each statement, and is large")]
    static POOL: RefCell<Vec<Box<Scratch>>> = const { RefCell::new(Vec::new()) };
}

impl Scratch {
    pub fn take() -> Box<Self> {
        POOL.with_borrow_mut(Vec::pop).unwrap_or_default()
    }

    pub fn give_back(self: Box<Self>) {
        let ranges = self.ranges.capacity() * size_of::<table::EncodedRange>();
        let sort = self.arena.capacity() + self.entries.capacity() * size_of::<Entry>();
        let values = self.values.capacity() * size_of::<Value<'_>>();
        let bytes = self.key.capacity() + self.row.payload().len() + self.slots.capacity() + ranges + sort + values;
        if bytes > KEPT_BYTES_MAX {
            return;
        }
        POOL.with_borrow_mut(|pool| {
            if pool.len() < KEPT_MAX {
                pool.push(self);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::recycle;

    #[test]
    fn recycling_keeps_the_memory() {
        let text = String::from("x");
        let mut values: Vec<Value<'_>> = Vec::with_capacity(10);
        values.push(Value::text(text.as_bytes()));
        let place = values.as_ptr() as usize;
        let values: Vec<Value<'static>> = recycle(values);
        assert_eq!((values.as_ptr() as usize, values.len(), values.capacity()), (place, 0, 10));
    }
}
