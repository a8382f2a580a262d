//! The page: 16 KiB, the unit of storage, caching, checksums and redo. `docs/FORMATS.md` has the same tables.
//!
//! ```text
//! word  0      crc-32c of bytes 4..16384 (32) | format (16) | type (8) | level (8, leaf = 0)
//! word  1      page id (32) | tree id (32)
//! word  2      LSN of the last change
//! word  3      slots (16) | heap top, a word index (16) | garbage, in words (16) | prefix length (16)
//! word  4      low fence: word (16), bytes (16) | high fence: word (16), bytes (16)
//! words 5-7    zero
//! words 8..    slots, in key order:  word of the record (16) | zero (16) | head: first 4 key bytes after the prefix (32)
//!              free space
//! heap top..   records and fences:
//!              key bytes (16) | payload bytes (16) | flags (8) | zero (24)
//!              mark (64), prev (64)              absent when FROZEN
//!              key without the page's prefix, payload, zeros to a whole word
//! ```
//! All words are little-endian. P1: every key k of a page has `low fence <= k < high fence` (empty high: no bound); all keys share
//! their first `prefix length` bytes with the low fence. P2: keys are strictly ascending as memcmp orders them. P3: an inner page's
//! first separator equals its low fence; a record's payload there is the child's page id (4 bytes).
//! P4: reads may race with a writer: they stay in bounds and end, and are believed only after the latch validates.
//! Writes need the frame's latch.

mod check;
mod copy;
mod edit;

pub use check::{check, check_envelope};
pub use copy::{CopiedRecord, PageCopy};
pub use edit::{NoRoom, separator};

use crate::crc::crc32c;
use std::cmp::Ordering;
use sync::RacyWords;

pub const PAGE_BYTES: usize = 16_384;
pub const PAGE_WORDS: usize = PAGE_BYTES / 8;
pub const HEADER_WORDS: usize = 8;
/// The version of this layout.
pub const FORMAT: u16 = 1;
/// Slots that fit at all.
pub const SLOTS_MAX: usize = PAGE_WORDS - HEADER_WORDS;

/// Enough for rows of about 100 bytes; of pages with more slots the search waits for some.
const PREFETCH_SLOTS_MAX: usize = 128;
/// The head, key and first 100 bytes or so of a record.
const PREFETCH_RECORD_WORDS: usize = 18;

const _: () = assert!(PAGE_WORDS <= u16::MAX as usize, "word indexes fit 16 bits");

/// Page number in the data file; byte offset = id * 16 KiB.
pub type PageId = u32;
/// Sequence number of a log record; `lsn >> EPOCH_SHIFT` is an epoch by whose flush the record is durable.
pub type Lsn = u64;

/// A B+tree: identity (unique for ever) and the page of its root, which never moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TreeRef {
    pub id: u32,
    pub root: PageId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PageType {
    Free = 0,
    Tree = 1,
    Bitmap = 2,
}

/// What is kept of a record besides key and payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RecordHeader {
    pub flags: u8,
    /// A transaction id or a commit timestamp; 0 when frozen.
    pub mark: u64,
    /// Address of the previous version in this process's undo memory; 0 for none.
    pub prev: u64,
}

/// The record carries no mark and no prev: everyone sees it.
pub const FROZEN: u8 = 1;
/// The newest version is a deletion.
pub const TOMBSTONE: u8 = 2;

impl RecordHeader {
    pub const FROZEN: Self = Self { flags: FROZEN, mark: 0, prev: 0 };

    pub fn is_tombstone(self) -> bool {
        self.flags & TOMBSTONE != 0
    }

    fn words(flags: u8) -> usize {
        if flags & FROZEN != 0 { 1 } else { 3 }
    }
}

/// A record's place and sizes within its page.
#[derive(Clone, Copy, Debug)]
pub struct RecordRef {
    pub header: RecordHeader,
    at: usize,
    key_bytes: usize,
    payload_bytes: usize,
}

impl RecordRef {
    fn body(&self) -> usize {
        self.at + RecordHeader::words(self.header.flags)
    }

    fn words(&self) -> usize {
        RecordHeader::words(self.header.flags) + (self.key_bytes + self.payload_bytes).div_ceil(8)
    }

    pub fn payload_bytes(&self) -> usize {
        self.payload_bytes
    }
}

/// A view of one page's words. Cheap to copy.
#[derive(Clone, Copy)]
pub struct Page<'a>(&'a RacyWords);

/// The 4-byte head of a key suffix: orders as its first bytes do, zero-padded.
#[inline]
fn head_of(suffix: &[u8]) -> u32 {
    match suffix.first_chunk::<4>() {
        Some(four) => u32::from_be_bytes(*four),
        // Too few bytes for a copy to be worth its call.
        None => suffix.iter().zip([24, 16, 8]).fold(0, |head, (byte, shift)| head | u32::from(*byte) << shift),
    }
}

/// The first eight bytes of a key suffix: orders as they do, zero-padded.
#[inline]
fn word_of(suffix: &[u8]) -> u64 {
    match suffix.first_chunk::<8>() {
        Some(eight) => u64::from_be_bytes(*eight),
        None => {
            let mut eight = [0; 8];
            eight[..suffix.len()].copy_from_slice(suffix);
            u64::from_be_bytes(eight)
        }
    }
}

impl<'a> Page<'a> {
    pub fn new(words: &'a RacyWords) -> Self {
        debug_assert_eq!(words.len(), PAGE_WORDS);
        Self(words)
    }

    pub fn words(self) -> &'a RacyWords {
        self.0
    }

    #[inline]
    pub fn level(self) -> u8 {
        (self.0.load(0) >> 56) as u8
    }

    pub fn page_type(self) -> u8 {
        (self.0.load(0) >> 48) as u8
    }

    #[inline]
    pub fn id(self) -> PageId {
        self.0.load(1) as u32
    }

    #[inline]
    pub fn tree_id(self) -> u32 {
        (self.0.load(1) >> 32) as u32
    }

    #[inline]
    pub fn lsn(self) -> Lsn {
        self.0.load(2)
    }

    #[inline]
    pub fn slots(self) -> usize {
        (self.0.load(3) as u16 as usize).min(SLOTS_MAX)
    }

    fn heap_top(self) -> usize {
        (self.0.load(3) >> 16) as u16 as usize
    }

    fn garbage(self) -> usize {
        (self.0.load(3) >> 32) as u16 as usize
    }

    #[inline]
    pub fn prefix_bytes(self) -> usize {
        (self.0.load(3) >> 48) as usize
    }

    fn low_place(self) -> (usize, usize) {
        let w = self.0.load(4);
        (w as u16 as usize, (w >> 16) as u16 as usize)
    }

    fn high_place(self) -> (usize, usize) {
        let w = self.0.load(4);
        ((w >> 32) as u16 as usize, (w >> 48) as usize)
    }

    /// Appends the low fence to `out`; empty: no lower bound.
    pub fn low_fence(self, out: &mut Vec<u8>) -> bool {
        let (at, bytes) = self.low_place();
        self.0.append_bytes(at, 0, bytes, out)
    }

    /// Appends the high fence to `out`; empty: no upper bound.
    pub fn high_fence(self, out: &mut Vec<u8>) -> bool {
        let (at, bytes) = self.high_place();
        self.0.append_bytes(at, 0, bytes, out)
    }

    pub fn is_last(self) -> bool {
        self.high_place().1 == 0
    }

    /// Is `low fence <= key < high fence`?
    #[inline]
    pub fn covers(self, key: &[u8]) -> bool {
        let (low, low_bytes) = self.low_place();
        let (high, high_bytes) = self.high_place();
        (low_bytes == 0 || self.0.compare_bytes(low, low_bytes, key) != Ordering::Greater)
            && (high_bytes == 0 || self.0.compare_bytes(high, high_bytes, key) == Ordering::Greater)
    }

    /// Words that an insertion may use after a compaction.
    pub fn free_words(self) -> usize {
        self.contiguous_words() + self.garbage()
    }

    fn contiguous_words(self) -> usize {
        self.heap_top().saturating_sub(HEADER_WORDS + self.slots())
    }

    /// Words in use beyond an empty page's.
    pub fn used_words(self) -> usize {
        (PAGE_WORDS - HEADER_WORDS).saturating_sub(self.free_words())
    }

    #[inline]
    fn slot(self, index: usize) -> u64 {
        self.0.load(HEADER_WORDS + index)
    }

    /// Asks for the page's head ahead of need.
    #[inline]
    pub fn prefetch_head(self) {
        self.0.prefetch(0, HEADER_WORDS);
    }

    /// Asks for the slots that a search will look at.
    #[inline]
    pub fn prefetch_slots(self) {
        self.0.prefetch(HEADER_WORDS, self.slots().min(PREFETCH_SLOTS_MAX));
    }

    /// Asks for the record of slot `index`.
    #[inline]
    pub fn prefetch_record(self, index: usize) {
        self.0.prefetch(self.slot(index) as u16 as usize, PREFETCH_RECORD_WORDS);
    }

    /// The record of slot `index`.
    #[inline]
    pub fn record(self, index: usize) -> RecordRef {
        self.record_at(self.slot(index) as u16 as usize)
    }

    #[inline]
    fn record_at(self, at: usize) -> RecordRef {
        let w = self.0.load(at);
        let flags = (w >> 32) as u8;
        let header = if flags & FROZEN != 0 {
            RecordHeader { flags, mark: 0, prev: 0 }
        } else {
            RecordHeader { flags, mark: self.0.load(at + 1), prev: self.0.load(at + 2) }
        };
        RecordRef { header, at, key_bytes: w as u16 as usize, payload_bytes: (w >> 16) as u16 as usize }
    }

    /// Appends the whole key of a record. `false`: a torn read.
    pub fn key(self, record: &RecordRef, out: &mut Vec<u8>) -> bool {
        let (low, low_bytes) = self.low_place();
        let prefix = self.prefix_bytes();
        prefix <= low_bytes
            && self.0.append_bytes(low, 0, prefix, out)
            && self.0.append_bytes(record.body(), 0, record.key_bytes, out)
    }

    /// Appends the payload of a record. `false`: a torn read.
    #[inline]
    pub fn payload(self, record: &RecordRef, out: &mut Vec<u8>) -> bool {
        self.0.append_bytes(record.body(), record.key_bytes, record.payload_bytes, out)
    }

    /// The child page that a record of an inner page names.
    #[inline]
    pub fn child(self, record: &RecordRef) -> PageId {
        let at = record.key_bytes;
        let word = record.body() + at / 8;
        let both = u128::from(self.0.load(word)) | u128::from(self.0.load(word + 1)) << 64;
        (both >> (at % 8 * 8)) as u32
    }

    /// The slot of `key` (`Ok`), or the slot where it would stand (`Err`). The key must be covered (P1).
    #[inline]
    pub fn search(self, key: &[u8]) -> Result<usize, usize> {
        self.search_from(self.first_like(key), key)
    }

    /// The first slot whose head is not below that of `key`: no record before it has the key. Looks at no record.
    #[inline]
    pub fn first_like(self, key: &[u8]) -> usize {
        let head = head_of(self.suffix(key));
        let (mut low, mut count) = (0, self.slots());
        // Without a branch on what is read: which half it is cannot be predicted.
        while count > 0 {
            let half = count / 2;
            let below = self.head(low + half) < head;
            low = if below { low + half + 1 } else { low };
            count = if below { count - half - 1 } else { half };
        }
        low
    }

    /// [`Self::search`] from `first_like(key)` on.
    #[inline]
    pub fn search_from(self, first: usize, key: &[u8]) -> Result<usize, usize> {
        let suffix = self.suffix(key);
        if first == self.slots() || self.head(first) != head_of(suffix) {
            return Err(first);
        }
        match self.compare_suffix(self.slot(first) as u16 as usize, suffix) {
            Ordering::Equal => Ok(first),
            Ordering::Greater => Err(first),
            Ordering::Less => self.search_alike(first + 1, suffix),
        }
    }

    /// The search among slots whose heads are not below that of `suffix`: by the first eight bytes, again without a branch; then whole
    /// keys are compared.
    fn search_alike(self, first: usize, suffix: &[u8]) -> Result<usize, usize> {
        let (head, word) = (head_of(suffix), word_of(suffix));
        let (mut low, mut count) = (first, self.slots().saturating_sub(first));
        while count > 0 {
            let half = count / 2;
            let slot = self.slot(low + half);
            let below = ((slot >> 32) as u32 == head) & (self.first_word(slot as u16 as usize) < word);
            low = if below { low + half + 1 } else { low };
            count = if below { count - half - 1 } else { half };
        }
        let mut high = self.slots();
        // Nearly always the first one decides.
        let mut middle = low;
        while low < high {
            let slot = self.slot(middle);
            let order = match ((slot >> 32) as u32).cmp(&head) {
                Ordering::Equal => self.compare_suffix(slot as u16 as usize, suffix),
                other => other,
            };
            match order {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(middle),
            }
            middle = (low + high) / 2;
        }
        Err(low)
    }

    /// The first eight bytes of a record's key behind the page's prefix, as `word_of` has them.
    #[inline]
    fn first_word(self, at: usize) -> u64 {
        let w = self.0.load(at);
        let body = at + RecordHeader::words((w >> 32) as u8);
        let missing = 8 - (w as u16 as usize).min(8);
        // A shift by 64 is none: a key without bytes has the least word.
        self.0.load(body).swap_bytes().checked_shr(8 * missing as u32).map_or(0, |bytes| bytes << (8 * missing))
    }

    #[inline]
    fn suffix(self, key: &[u8]) -> &[u8] {
        key.get(self.prefix_bytes()..).unwrap_or_default()
    }

    /// The head of a slot's key.
    #[inline]
    fn head(self, index: usize) -> u32 {
        (self.slot(index) >> 32) as u32
    }

    #[inline]
    fn compare_suffix(self, at: usize, suffix: &[u8]) -> Ordering {
        let w = self.0.load(at);
        let body = at + RecordHeader::words((w >> 32) as u8);
        self.0.compare_bytes(body, w as u16 as usize, suffix)
    }

    /// In an inner page: the slot of the child that covers `key`.
    #[inline]
    pub fn child_slot(self, key: &[u8]) -> usize {
        match self.search(key) {
            Ok(slot) => slot,
            Err(slot) => slot.saturating_sub(1),
        }
    }

    /// In an inner page: the slot of the last child that holds keys below `key` (empty: below everything's end).
    pub fn child_slot_before(self, key: &[u8]) -> usize {
        if key.is_empty() {
            return self.slots().saturating_sub(1);
        }
        match self.search(key) {
            Ok(slot) | Err(slot) => slot.saturating_sub(1),
        }
    }
}

/// Computes the checksum that belongs into the first four bytes.
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32c(&bytes[4..])
}

/// Writes the checksum into a page image.
pub fn seal(bytes: &mut [u8]) {
    let crc = checksum(bytes);
    bytes[..4].copy_from_slice(&crc.to_le_bytes());
}

#[cfg(test)]
mod tests;
