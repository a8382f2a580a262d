//! Undo: the older versions of records, in memory or in a scratch file, until nobody can see them.
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
//! and been purged, and is then used again under the next generation. What does not fit into memory goes to a file: see `spill`.
//!
//! U1: a version that a snapshot needs was replaced by a commit above that snapshot, so its segment is not reused while the snapshot
//! is registered. U2: memory is never unmapped, words are read atomically and the generation is checked after: a broken rule shows
//! as `Gone`, not as nonsense.

mod spill;

pub use spill::Room;

use smallvec::SmallVec;
use spill::Spill;
use std::collections::VecDeque;
use std::sync::OnceLock;
use storage::TreeRef;
use storage::blocks::Blocks;
use storage::page::RecordHeader;
use storage::wal::Purpose;
use sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use sync::{CachePadded, Mutex, RacyWords};

const SEGMENT_WORDS: usize = if cfg!(any(sim, miri)) { 1 << 10 } else { 1 << 15 };
const SEGMENT_BYTES: usize = SEGMENT_WORDS * 8;
const HEADER_WORDS: usize = 5;
const LEVEL: usize = 1024;
const SWEEP_AT_LEAST: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoKind {
    /// There was no record.
    Insert,
    /// The record had another version.
    Update,
    /// The record had another version and became a tombstone: purge removes it.
    Delete,
}

struct Segment {
    generation: AtomicU32,
    /// Its words are in the file; it has no memory.
    in_file: AtomicBool,
    /// Open transactions and purge jobs that need it.
    pins: AtomicU32,
    /// The latest end of a transaction that wrote here.
    last_end: AtomicU64,
}

/// All segments.
pub struct UndoStore {
    levels: Box<[OnceLock<Level>]>,
    free: Mutex<Free>,
    /// Segments of writers that are gone; taken over by the next writer that reclaims.
    orphans: Mutex<Vec<u32>>,
    spill: Spill,
}

/// Segments to be used again.
#[derive(Default)]
struct Free {
    with_memory: Vec<u32>,
    without_memory: Vec<u32>,
    /// The number of segments that were ever made.
    made: u32,
    /// How often one was taken into use.
    taken: u64,
}

/// A group of segments, allocated when the first of them is needed.
struct Level {
    blocks: Blocks,
    /// Each on lines of its own: every transaction writes its counters, and neighbours belong to other workers.
    segments: Box<[OnceLock<CachePadded<Segment>>]>,
}

/// One worker's place in it.
#[derive(Default)]
pub struct UndoWriter {
    current: Option<u32>,
    next_word: usize,
    /// Full segments, oldest first.
    retired: VecDeque<u32>,
    /// At this length all of `retired` are checked.
    sweep_at: usize,
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

/// The data to store in undo.
pub struct UndoEntry<'a> {
    pub kind: UndoKind,
    pub tree: TreeRef,
    pub key: &'a [u8],
    pub old: RecordHeader,
    pub old_payload: &'a [u8],
    pub txn_prev: u64,
}

/// Why an undo record cannot be read.
#[derive(Debug)]
pub enum ReadError {
    /// The segment has been used again.
    Gone,
    Io(std::io::Error),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Gone => f.write_str("an old row version is gone while somebody needs it"),
            Self::Io(e) => write!(f, "an old row version cannot be read: {e}"),
        }
    }
}

impl UndoStore {
    /// `memory_bytes`: the part that may stay in memory; the rest goes to a file in `directory`.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn new(directory: &std::path::Path, memory_bytes: u64) -> std::io::Result<Self> {
        Ok(Self {
            levels: (0..LEVEL).map(|_| OnceLock::new()).collect(),
            free: Mutex::default(),
            orphans: Mutex::default(),
            spill: Spill::new(directory, memory_bytes)?,
        })
    }

    fn segment(&self, number: u32) -> Option<&Segment> {
        Some(self.levels.get(number as usize / LEVEL)?.get()?.segments[number as usize % LEVEL].get()?)
    }

    fn own(&self, number: u32) -> &Segment {
        self.segment(number).expect("segments are never unmade")
    }

    /// The memory of an allocated segment.
    fn words(&self, number: u32) -> &RacyWords {
        let level = self.levels[number as usize / LEVEL].get().expect("segments are never unmade");
        level.blocks.block(number as usize % LEVEL)
    }

    fn release(&self, number: u32) {
        let level = self.levels[number as usize / LEVEL].get().expect("segments are never unmade");
        level.blocks.release(number as usize % LEVEL);
    }

    /// The kept bytes, in memory and in the file.
    pub fn bytes(&self) -> u64 {
        let free = self.free.lock();
        u64::from(free.made - (free.with_memory.len() + free.without_memory.len()) as u32) * SEGMENT_BYTES as u64
    }

    pub fn memory_bytes(&self) -> u64 {
        self.spill.memory_bytes()
    }

    pub fn file_bytes(&self) -> u64 {
        self.spill.file_bytes()
    }

    /// May a writer go on?
    #[inline]
    pub fn room(&self, purpose: Purpose) -> Room {
        self.spill.room(purpose)
    }

    pub fn stop_spilling(&self) {
        self.spill.stop();
    }

    /// How many segments were ever taken into use.
    pub fn segments_taken(&self) -> u64 {
        self.free.lock().taken
    }

    /// How many segments may stay in memory.
    pub fn limit_segments(&self) -> u64 {
        self.spill.limit_segments()
    }

    /// The file cannot grow.
    pub fn is_disk_full(&self) -> bool {
        self.spill.has_failed()
    }

    fn take_segment(&self) -> u32 {
        let number = {
            let mut free = self.free.lock();
            free.taken += 1;
            if let Some(number) = free.with_memory.pop() {
                return number;
            }
            free.without_memory.pop().unwrap_or_else(|| {
                free.made += 1;
                free.made - 1
            })
        };
        self.spill.add_memory();
        let level = self.levels[number as usize / LEVEL].get_or_init(|| Level {
            blocks: Blocks::new(LEVEL, SEGMENT_WORDS).unwrap_or_else(|e| os::fatal(&e.to_string())),
            segments: (0..LEVEL).map(|_| OnceLock::new()).collect(),
        });
        level.segments[number as usize % LEVEL].get_or_init(|| {
            CachePadded::new(Segment {
                generation: AtomicU32::new(1),
                in_file: AtomicBool::new(false),
                pins: AtomicU32::new(0),
                last_end: AtomicU64::new(0),
            })
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
                if let Some(full) = full {
                    writer.retired.push_back(full);
                    self.spill.queue(full, self.own(full).generation.load(Ordering::Relaxed));
                }
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
        let memory = self.words(number);
        for (index, word) in head.into_iter().enumerate() {
            memory.store(at + index, word);
        }
        memory.write_bytes(at + HEADER_WORDS, entry.key, entry.old_payload);
        let generation = u64::from(segment.generation.load(Ordering::Relaxed) & 0xffff);
        // Published to others by the latch of the page that will hold the address.
        generation << 36 | u64::from(number) << 16 | at as u64
    }

    /// Reads a record's head, and optionally appends its key and payload.
    ///
    /// # Errors
    /// See [`ReadError`]; the appended bytes are meaningless then.
    pub fn read(
        &self,
        address: u64,
        mut key: Option<&mut Vec<u8>>,
        mut payload: Option<&mut Vec<u8>>,
    ) -> Result<UndoHead, ReadError> {
        let (generation, number, at) = (address >> 36, (address >> 16) as u32 & 0xf_ffff, address as u16 as usize);
        let segment = self.segment(number).ok_or(ReadError::Gone)?;
        let mut head = None;
        if !segment.in_file.load(Ordering::Acquire) {
            let words = self.words(number);
            let found = UndoHead::new(std::array::from_fn(|index| words.load(at + index)));
            let (start, key_bytes) = (at + HEADER_WORDS, found.key_bytes);
            let kept = (key.as_ref().map_or(0, |out| out.len()), payload.as_ref().map_or(0, |out| out.len()));
            let whole = key.as_mut().is_none_or(|out| words.append_bytes(start, 0, key_bytes, out))
                && payload.as_mut().is_none_or(|out| words.append_bytes(start, key_bytes, found.payload_bytes, out));
            // Acquire: pairs with the Release in `reclaim`, and with the mark that precedes the release of the memory; U2, V2.
            sync::atomic::fence(Ordering::Acquire);
            if segment.in_file.load(Ordering::Acquire) {
                key.iter_mut().for_each(|out| out.truncate(kept.0));
                payload.iter_mut().for_each(|out| out.truncate(kept.1));
            } else if whole {
                head = Some(found);
            }
        }
        if head.is_none() && segment.in_file.load(Ordering::Acquire) {
            head = Some(self.read_file(number, at, key, payload).map_err(ReadError::Io)?);
            sync::atomic::fence(Ordering::Acquire);
        }
        let now = u64::from(segment.generation.load(Ordering::Acquire) & 0xffff);
        head.filter(|_| now == generation).ok_or(ReadError::Gone)
    }

    #[cold]
    fn read_file(
        &self,
        number: u32,
        at: usize,
        key: Option<&mut Vec<u8>>,
        payload: Option<&mut Vec<u8>>,
    ) -> std::io::Result<UndoHead> {
        let mut words = [0; HEADER_WORDS * 8];
        self.spill.read(number, at, &mut words)?;
        let word = |index: usize| u64::from_le_bytes(words[index * 8..][..8].try_into().expect("eight bytes"));
        let head = UndoHead::new(std::array::from_fn(word));
        if key.is_some() || payload.is_some() {
            // Lengths are 16 bits each: whatever was read, this is bounded.
            let mut bytes = vec![0; head.key_bytes + head.payload_bytes];
            self.spill.read(number, at + HEADER_WORDS, &mut bytes)?;
            key.into_iter().for_each(|out| out.extend_from_slice(&bytes[..head.key_bytes]));
            payload.into_iter().for_each(|out| out.extend_from_slice(&bytes[head.key_bytes..]));
        }
        Ok(head)
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
            // Release: the reads under the pin precede the reuse.
            segment.pins.fetch_sub(1, Ordering::Release);
        }
    }

    /// Takes over the segments of a writer that ends.
    pub fn adopt(&self, writer: &mut UndoWriter) {
        let ended = std::mem::take(writer);
        self.orphans.lock().extend(ended.current.into_iter().chain(ended.retired));
    }

    /// Gives back what nobody can need. Segments are not needed any more in about the order in which they became full, so most calls
    /// look at the oldest only; the others, behind one that a long transaction holds, are looked at when there are twice as many.
    pub fn reclaim(&self, writer: &mut UndoWriter, horizon: u64) {
        writer.retired.extend(self.orphans.lock().drain(..));
        while writer.retired.front().is_some_and(|number| self.reclaim_segment(*number, horizon)) {
            writer.retired.pop_front();
        }
        if writer.retired.len() >= writer.sweep_at.max(SWEEP_AT_LEAST) {
            writer.retired.retain(|number| !self.reclaim_segment(*number, horizon));
            writer.sweep_at = 2 * writer.retired.len();
        }
    }

    fn reclaim_segment(&self, number: u32, horizon: u64) -> bool {
        let segment = self.own(number);
        let horizon = if os::mutated("early-reuse") { u64::MAX } else { horizon };
        if segment.pins.load(Ordering::Acquire) > 0 || segment.last_end.load(Ordering::Acquire) > horizon {
            return false;
        }
        let was_in_file = self.spill.without_spilling(|| {
            let next = (segment.generation.load(Ordering::Relaxed) & 0xffff) % 0xffff + 1;
            segment.generation.store(next, Ordering::Release);
            segment.last_end.store(0, Ordering::Relaxed);
            // Release: a reader that finds it unmarked sees the generation (V2).
            segment.in_file.swap(false, Ordering::AcqRel)
        });
        if was_in_file {
            self.spill.forget(number);
            self.free.lock().without_memory.push(number);
        } else {
            self.free.lock().with_memory.push(number);
        }
        true
    }

    pub fn has_retired(writer: &UndoWriter) -> bool {
        !writer.retired.is_empty()
    }
}

impl UndoHead {
    fn new(words: [u64; HEADER_WORDS]) -> Self {
        let [w0, w1, mark, prev, txn_prev] = words;
        Self {
            kind: match w0 >> 16 & 0xff {
                0 => UndoKind::Insert,
                1 => UndoKind::Update,
                _ => UndoKind::Delete,
            },
            tree: TreeRef { id: (w0 >> 32) as u32, root: w1 as u32 },
            old: RecordHeader { flags: (w0 >> 24) as u8, mark, prev },
            txn_prev,
            key_bytes: (w1 >> 32) as u16 as usize,
            payload_bytes: (w1 >> 48) as usize,
        }
    }
}

#[cfg(test)]
mod tests;
