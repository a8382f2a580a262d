//! Buffers that live as long as the session, so that a short statement allocates nothing.
//! Between statements each is cut back to a few kilobytes: an idle connection stays small.

/// Reused buffers. A statement takes what it needs with `mem::take` and puts it back when it ends.
#[derive(Debug, Default)]
pub struct Scratch {
    /// An encoded index key.
    pub(crate) key: Vec<u8>,
    /// A stored row.
    pub(crate) row: Vec<u8>,
    /// A packed row of slots.
    pub(crate) slots: Vec<u8>,
}

/// A buffer that grew over this is given back.
const KEPT_BYTES_MAX: usize = 4096;

impl Scratch {
    /// Gives back what a large statement left behind.
    pub(crate) fn trim(&mut self) {
        for buffer in [&mut self.key, &mut self.row, &mut self.slots] {
            if buffer.capacity() > KEPT_BYTES_MAX {
                *buffer = Vec::new();
            }
            buffer.clear();
        }
    }
}
