//! Rows of text files: what LOAD DATA reads.
//!
//! A [`ByteSource`] returns the file's bytes piece by piece; a [`Feed`] keeps the bytes that are not split yet, and a [`Splitter`] cuts
//! rows out of them.
//!
//! L1: at most three times the longest row of the file is kept in memory, and the statement's memory limits the length of a row.
//! L2: an incomplete row is split again from its beginning when more bytes have arrived: at least twice as many as before, so that no
//!     byte is read more than a few times.

mod split;

pub use split::{Row, Split, Splitter};

use crate::context::LocalFuture;
use expr::{Error, Result};

/// The source of a file's bytes.
pub trait ByteSource {
    /// Appends bytes to `buffer`; `false`: there are no more. It may be dropped before it is done, and called again.
    fn read<'a>(&'a mut self, buffer: &'a mut Vec<u8>) -> LocalFuture<'a, Result<bool>>;
}

/// The least number of bytes that is read at a time.
const READ_BYTES_MIN: usize = 64 << 10;

/// Bytes between a source and the rows that are cut out of them.
pub(crate) struct Feed<'s> {
    source: &'s mut dyn ByteSource,
    bytes: Vec<u8>,
    /// The start of the bytes that are not split yet.
    start: usize,
    ended: bool,
    bytes_max: usize,
}

impl<'s> Feed<'s> {
    /// `bytes_max`: the longest row that is allowed.
    pub fn new(source: &'s mut dyn ByteSource, bytes_max: usize) -> Self {
        Self { source, bytes: Vec::new(), start: 0, ended: false, bytes_max }
    }

    /// Calls `cut` until it needs no more bytes, and reads bytes when it does.
    pub async fn cut(&mut self, mut cut: impl FnMut(&[u8], bool) -> (Split, usize)) -> Result<Split> {
        loop {
            let (split, length) = cut(&self.bytes[self.start..], self.ended);
            if split != Split::More {
                self.start += length;
                return Ok(split);
            }
            self.read().await?;
        }
    }

    /// L2
    async fn read(&mut self) -> Result<()> {
        self.bytes.drain(..self.start);
        self.start = 0;
        if self.bytes.len() > self.bytes_max {
            return Err(Error::OutOfSortMemory { limit: self.bytes_max, setting: "heddle_statement_memory" });
        }
        let wanted = READ_BYTES_MIN.max(self.bytes.len() * 2);
        while !self.ended && self.bytes.len() < wanted {
            self.ended = !self.source.read(&mut self.bytes).await?;
        }
        Ok(())
    }
}
