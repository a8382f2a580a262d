//! A private copy of a page, for who reads many of its records: one pass over the page's words in place of several short ones for each
//! record.
//!
//! C1: a copy is looked into only after the page was validated; then it is as sound as the page. Places beyond its end are answered with
//!     `None` all the same, as bytes of a damaged page are.

use super::{FROZEN, HEADER_WORDS, PAGE_BYTES, PAGE_WORDS, Page, RecordHeader};

/// The bytes that [`Page::copy`] has made.
#[derive(Clone, Copy)]
pub struct PageCopy<'a>(&'a [u8; PAGE_BYTES]);

/// A record of a copy: its key without the page's prefix, and its payload, by where they begin and end.
#[derive(Clone, Copy, Debug)]
pub struct CopiedRecord {
    pub header: RecordHeader,
    pub key: (u32, u32),
    pub payload: (u32, u32),
}

impl Page<'_> {
    /// Replaces `out` by a copy of the page, whose free space is left out. `false`: a torn read.
    pub fn copy(self, out: &mut Vec<u8>) -> bool {
        let (slots_end, heap_top) = (HEADER_WORDS + self.slots(), self.heap_top());
        if heap_top < slots_end || heap_top > PAGE_WORDS {
            return false;
        }
        out.clear();
        out.reserve(PAGE_BYTES + 8);
        let head = self.0.append_bytes(0, 0, slots_end * 8, out);
        out.resize(heap_top * 8, 0);
        head && self.0.append_bytes(heap_top, 0, (PAGE_WORDS - heap_top) * 8, out)
    }
}

impl<'a> PageCopy<'a> {
    /// `None`: these are not the bytes of a page.
    pub fn new(bytes: &'a [u8]) -> Option<Self> {
        Some(Self(bytes.first_chunk()?))
    }

    #[inline]
    fn word(self, index: usize) -> Option<u64> {
        let bytes = self.0.get(index * 8..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes))
    }

    /// What all keys begin with.
    pub fn prefix(self) -> Option<&'a [u8]> {
        let prefix_bytes = (self.word(3)? >> 48) as usize;
        let low_at = self.word(4)? as u16 as usize * 8;
        self.0.get(low_at..low_at + prefix_bytes)
    }

    /// The record of a slot.
    #[inline]
    pub fn record(self, slot: usize) -> Option<CopiedRecord> {
        let at = self.word(HEADER_WORDS + slot)? as u16 as usize;
        let head = self.word(at)?;
        let flags = (head >> 32) as u8;
        let header = match flags & FROZEN {
            0 => RecordHeader { flags, mark: self.word(at + 1)?, prev: self.word(at + 2)? },
            _ => RecordHeader { flags, mark: 0, prev: 0 },
        };
        let key_at = (at + RecordHeader::words(flags)) * 8;
        let payload_at = key_at + head as u16 as usize;
        let end = payload_at + (head >> 16) as u16 as usize;
        let (key_at, payload_at) = (key_at as u32, payload_at as u32);
        (end <= PAGE_BYTES).then_some(CopiedRecord { header, key: (key_at, payload_at), payload: (payload_at, end as u32) })
    }
}
