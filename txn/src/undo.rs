//! Undo: the older versions of records, in memory, until nobody can see them.
//!
//! ```text
//! address = generation (16) << 36 | segment (20) << 16 | word (16); never 0
//! record, in words:
//!   0  words (16) | kind (8) | old flags (8) | tree id (32)
//!   1  root page (32) | key bytes (16) | payload bytes (16)
//!   2  old mark        3  old prev        4  the transaction's previous undo record
//!   5..  key, payload
//! ```
//! Each worker appends to its own segment; a full one is kept until all transactions that wrote into it have ended at or before the horizon
//! and been purged, and is then used again under the next generation.
//!
//! U1: a version that a snapshot needs was replaced by a commit above that snapshot, so its segment is not reused while the snapshot
//! is registered. U2: memory is never unmapped, words are read atomically and the generation is checked after: a broken rule shows
//! as `Gone`, not as nonsense.

use smallvec::SmallVec;
use std::sync::OnceLock;
use storage::TreeRef;
use storage::page::RecordHeader;
use sync::Mutex;
use sync::RacyWords;
use sync::atomic::{AtomicU32, AtomicU64, Ordering};

const SEGMENT_WORDS: usize = if cfg!(sim) { 1 << 10 } else { 1 << 15 };
const HEADER_WORDS: usize = 5;
const LEVEL: usize = 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoKind {
    /// There was no record.
    Insert,
    /// The record had another version.
    Update,
    /// The record had another version and was made a tombstone: purge takes it out.
    Delete,
}

/// On lines of its own: every transaction writes its counters, and neighbours belong to other workers.
#[repr(align(128))]
struct Segment {
    words: Box<RacyWords>,
    generation: AtomicU32,
    /// Open transactions and purge jobs that need it.
    pins: AtomicU32,
    /// The latest end of a transaction that wrote here.
    last_end: AtomicU64,
}

/// All segments.
pub struct UndoStore {
    segments: Box<[OnceLock<Level>]>,
    /// Segments to be used again, and how many were ever made.
    free: Mutex<(Vec<u32>, u32)>,
    /// Segments of writers that are gone; taken over by the next writer that reclaims.
    orphans: Mutex<Vec<u32>>,
}

/// A run of segments, made when the first of them is needed.
type Level = Box<[OnceLock<Segment>]>;

/// One worker's place in it.
#[derive(Default)]
pub struct UndoWriter {
    current: Option<u32>,
    next_word: usize,
    retired: std::collections::VecDeque<u32>,
}

pub type SegmentList = SmallVec<[u32; 2]>;

/// The fixed part of an undo record.
#[derive(Clone, Copy, Debug)]
pub struct UndoHead {
    pub kind: UndoKind,
    pub tree: TreeRef,
    pub old: RecordHeader,
    pub txn_prev: u64,
    key_bytes: usize,
    payload_bytes: usize,
}

/// What is to be remembered.
pub struct UndoEntry<'a> {
    pub kind: UndoKind,
    pub tree: TreeRef,
    pub key: &'a [u8],
    pub old: RecordHeader,
    pub old_payload: &'a [u8],
    pub txn_prev: u64,
}

/// The segment has been used again.
#[derive(Debug)]
pub struct Gone;

impl UndoStore {
    pub fn new() -> Self {
        Self {
            segments: (0..LEVEL).map(|_| OnceLock::new()).collect(),
            free: Mutex::new((Vec::new(), 0)),
            orphans: Mutex::default(),
        }
    }

    fn segment(&self, number: u32) -> Option<&Segment> {
        self.segments.get(number as usize / LEVEL)?.get()?[number as usize % LEVEL].get()
    }

    fn own(&self, number: u32) -> &Segment {
        self.segment(number).expect("segments are never unmade")
    }

    /// Memory held, in bytes.
    pub fn bytes(&self) -> u64 {
        let free = self.free.lock();
        u64::from(free.1 - free.0.len() as u32) * (SEGMENT_WORDS * 8) as u64
    }

    fn take_segment(&self) -> u32 {
        let number = {
            let mut free = self.free.lock();
            match free.0.pop() {
                Some(number) => return number,
                None => {
                    free.1 += 1;
                    free.1 - 1
                }
            }
        };
        let level = self.segments[number as usize / LEVEL].get_or_init(|| (0..LEVEL).map(|_| OnceLock::new()).collect());
        level[number as usize % LEVEL].get_or_init(|| Segment {
            words: RacyWords::boxed(SEGMENT_WORDS),
            generation: AtomicU32::new(1),
            pins: AtomicU32::new(0),
            last_end: AtomicU64::new(0),
        });
        number
    }

    /// Appends a record; `segments` is the transaction's list of pinned segments.
    pub fn append(
        &self,
        writer: &mut UndoWriter,
        segments: &mut SegmentList,
        entry: &UndoEntry<'_>,
        horizon: impl Fn() -> u64,
    ) -> u64 {
        let words = HEADER_WORDS + (entry.key.len() + entry.old_payload.len()).div_ceil(8);
        debug_assert!(words < SEGMENT_WORDS, "records are bounded by RECORD_BYTES_MAX");
        let number = match writer.current {
            Some(number) if writer.next_word + words <= SEGMENT_WORDS => number,
            full => {
                writer.retired.extend(full);
                self.reclaim(writer, horizon());
                let number = self.take_segment();
                writer.current = Some(number);
                writer.next_word = 0;
                number
            }
        };
        let segment = self.own(number);
        if segments.last() != Some(&number) {
            segment.pins.fetch_add(1, Ordering::Relaxed);
            segments.push(number);
        }
        let at = writer.next_word;
        writer.next_word += words;
        let kind = match entry.kind {
            UndoKind::Insert => 0u64,
            UndoKind::Update => 1,
            UndoKind::Delete => 2,
        };
        let head = [
            words as u64 | kind << 16 | u64::from(entry.old.flags) << 24 | u64::from(entry.tree.id) << 32,
            u64::from(entry.tree.root) | (entry.key.len() as u64) << 32 | (entry.old_payload.len() as u64) << 48,
            entry.old.mark,
            entry.old.prev,
            entry.txn_prev,
        ];
        for (index, word) in head.into_iter().enumerate() {
            segment.words.store(at + index, word);
        }
        segment.words.write_bytes(at + HEADER_WORDS, entry.key, entry.old_payload);
        let generation = u64::from(segment.generation.load(Ordering::Relaxed) & 0xffff);
        // Published to others by the latch of the page that will hold the address.
        generation << 36 | u64::from(number) << 16 | at as u64
    }

    /// Reads a record's head, and appends its key and payload where wanted.
    pub fn read(&self, address: u64, key: Option<&mut Vec<u8>>, payload: Option<&mut Vec<u8>>) -> Result<UndoHead, Gone> {
        let (generation, number, at) = (address >> 36, (address >> 16) as u32 & 0xf_ffff, address as u16 as usize);
        let segment = self.segment(number).ok_or(Gone)?;
        let words = &segment.words;
        let (w0, w1) = (words.load(at), words.load(at + 1));
        let head = UndoHead {
            kind: match w0 >> 16 & 0xff {
                0 => UndoKind::Insert,
                1 => UndoKind::Update,
                _ => UndoKind::Delete,
            },
            tree: TreeRef { id: (w0 >> 32) as u32, root: w1 as u32 },
            old: RecordHeader { flags: (w0 >> 24) as u8, mark: words.load(at + 2), prev: words.load(at + 3) },
            txn_prev: words.load(at + 4),
            key_bytes: (w1 >> 32) as u16 as usize,
            payload_bytes: (w1 >> 48) as usize,
        };
        let whole = key.is_none_or(|out| words.append_bytes(at + HEADER_WORDS, 0, head.key_bytes, out))
            && payload.is_none_or(|out| words.append_bytes(at + HEADER_WORDS, head.key_bytes, head.payload_bytes, out));
        // Acquire: pairs with the Release in `reclaim`; U2.
        sync::atomic::fence(Ordering::Acquire);
        let now = u64::from(segment.generation.load(Ordering::Acquire) & 0xffff);
        if whole && now == generation { Ok(head) } else { Err(Gone) }
    }

    /// Adds a pin for a purge job.
    pub fn pin(&self, segments: &[u32]) {
        for number in segments {
            self.own(*number).pins.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A transaction that ended at `end`, or its purge job, needs these no more.
    pub fn unpin(&self, segments: &[u32], end: u64) {
        for number in segments {
            let segment = self.own(*number);
            segment.last_end.fetch_max(end, Ordering::AcqRel);
            // Release: the reads made under the pin come before the reuse.
            segment.pins.fetch_sub(1, Ordering::Release);
        }
    }

    /// Takes over the segments of a writer that ends.
    pub fn adopt(&self, writer: &mut UndoWriter) {
        let ended = std::mem::take(writer);
        self.orphans.lock().extend(ended.current.into_iter().chain(ended.retired));
    }

    /// Gives back what nobody can need.
    pub fn reclaim(&self, writer: &mut UndoWriter, horizon: u64) {
        writer.retired.extend(self.orphans.lock().drain(..));
        writer.retired.retain(|number| {
            let segment = self.own(*number);
            let horizon = if os::mutated("early-reuse") { u64::MAX } else { horizon };
            let needed = segment.pins.load(Ordering::Acquire) > 0 || segment.last_end.load(Ordering::Acquire) > horizon;
            if !needed {
                let next = (segment.generation.load(Ordering::Relaxed) & 0xffff) % 0xffff + 1;
                segment.generation.store(next, Ordering::Release);
                segment.last_end.store(0, Ordering::Relaxed);
                self.free.lock().0.push(*number);
            }
            needed
        });
    }

    pub fn has_retired(writer: &UndoWriter) -> bool {
        !writer.retired.is_empty()
    }
}

impl Default for UndoStore {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_come_back_until_reclaimed() {
        let store = UndoStore::new();
        let mut writer = UndoWriter::default();
        let mut pinned = SegmentList::new();
        let tree = TreeRef { id: 3, root: 4 };
        let mut addresses = Vec::new();
        for n in 0..2_000u64 {
            let entry = UndoEntry {
                kind: UndoKind::Update,
                tree,
                key: &n.to_be_bytes(),
                old: RecordHeader { flags: 2, mark: n, prev: n + 1 },
                old_payload: &vec![n as u8; n as usize % 300],
                txn_prev: addresses.last().copied().unwrap_or(0),
            };
            addresses.push(store.append(&mut writer, &mut pinned, &entry, || 0));
        }
        assert!(pinned.len() > 1);
        for (n, address) in addresses.iter().enumerate() {
            let (mut key, mut payload) = (Vec::new(), Vec::new());
            let head = store.read(*address, Some(&mut key), Some(&mut payload)).expect("kept");
            assert_eq!((head.tree, head.old.mark, head.old.flags), (tree, n as u64, 2));
            assert_eq!((key, payload), ((n as u64).to_be_bytes().to_vec(), vec![n as u8; n % 300]));
        }
        store.unpin(&pinned, 50);
        store.reclaim(&mut writer, 49);
        assert!(store.read(addresses[0], None, None).is_ok());
        store.reclaim(&mut writer, 50);
        assert!(store.read(addresses[0], None, None).is_err());
        assert!(store.read(*addresses.last().expect("some"), None, None).is_ok());
    }
}
