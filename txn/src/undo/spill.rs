//! Undo that exceeds memory: full segments are written to a scratch file, oldest first, and read from there.
//!
//! 1. A worker queues its segment when it is full.
//! 2. When memory holds more than the limit, the spill thread writes the first queued segment to its place in the file
//!    (segment number times segment size), marks it, and frees its memory.
//! 3. A reader that finds the mark, before or after it has read the memory, reads the file.
//! 4. Writers wait when memory holds twice the limit, and get a disk-full error if the disk is full. Operations that
//!    free space may exceed that limit somewhat.
//!
//! V1: a segment's memory is freed, and the segment is reused, only under the mutex, and only one of both for a
//!     generation.
//! V2: the mark is set before the memory is freed, and cleared under the next generation. So if a segment is unmarked
//!     and of the same generation after its words were read, the words are undo.

use super::{SEGMENT_BYTES, UndoStore};
use std::collections::VecDeque;
use std::time::Duration;
use storage::wal::Purpose;
use sync::atomic::{AtomicBool, AtomicU32, Ordering};
use sync::{CachePadded, Condvar, Mutex};

/// How long the thread waits after a failed write.
const RETRY: Duration = Duration::from_secs(1);
/// The segments that deletions may use beyond twice the limit while the disk is full.
const RELIEF_SEGMENTS: u32 = ((64 << 20) / SEGMENT_BYTES) as u32;

pub(super) struct Spill {
    file: os::ScratchFile,
    /// Segments that may be in memory.
    limit: u32,
    state: Mutex<State>,
    changed: Condvar,
    counts: CachePadded<Counts>,
}

#[derive(Default)]
struct State {
    /// Full segments in memory, oldest first, with their generation when they became full.
    full: VecDeque<(u32, u32)>,
    stop: bool,
}

#[derive(Default)]
struct Counts {
    /// Segments that have memory.
    in_memory: AtomicU32,
    in_file: AtomicU32,
    /// The last write to the file failed.
    failed: AtomicBool,
}

impl Spill {
    /// # Errors
    /// The file cannot be created.
    pub fn new(directory: &std::path::Path, limit_bytes: u64) -> std::io::Result<Self> {
        Ok(Self {
            file: os::ScratchFile::new(directory)?,
            limit: u32::try_from(limit_bytes / SEGMENT_BYTES as u64).unwrap_or(u32::MAX / 2).max(1),
            state: Mutex::default(),
            changed: Condvar::new(),
            counts: CachePadded::default(),
        })
    }

    pub fn limit_segments(&self) -> u64 {
        u64::from(self.limit)
    }

    pub fn has_failed(&self) -> bool {
        self.counts.failed.load(Ordering::Relaxed)
    }

    pub fn memory_bytes(&self) -> u64 {
        u64::from(self.counts.in_memory.load(Ordering::Relaxed)) * SEGMENT_BYTES as u64
    }

    pub fn file_bytes(&self) -> u64 {
        u64::from(self.counts.in_file.load(Ordering::Relaxed)) * SEGMENT_BYTES as u64
    }

    /// A segment has got memory.
    pub fn add_memory(&self) {
        self.counts.in_memory.fetch_add(1, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.counts.in_memory.load(Ordering::Relaxed) > self.limit
    }

    /// A segment is full: it may go.
    pub fn queue(&self, number: u32, generation: u32) {
        let mut state = self.state.lock();
        state.full.push_back((number, generation));
        if self.is_over() {
            self.changed.notify_one();
        }
    }

    /// Runs `reuse` while no memory is being freed (V1).
    pub fn without_spilling<T>(&self, reuse: impl FnOnce() -> T) -> T {
        let _state = self.state.lock();
        reuse()
    }

    /// A segment in the file is not needed any more.
    pub fn forget(&self, number: u32) {
        self.counts.in_file.fetch_sub(1, Ordering::Relaxed);
        self.file.discard(place_of(number, 0), SEGMENT_BYTES as u64);
    }

    /// Is there room for more undo in memory? Only writers that go on without bound come to a `No`.
    #[inline]
    pub fn room(&self, purpose: Purpose) -> Room {
        let in_memory = self.counts.in_memory.load(Ordering::Relaxed);
        if in_memory <= 2 * self.limit { Room::Yes } else { self.room_over_limit(in_memory, purpose) }
    }

    #[cold]
    fn room_over_limit(&self, in_memory: u32, purpose: Purpose) -> Room {
        if self.state.lock().full.is_empty() {
            return Room::Yes;
        }
        self.changed.notify_one();
        match self.counts.failed.load(Ordering::Relaxed) {
            true if purpose == Purpose::Relief && in_memory <= 2 * self.limit + RELIEF_SEGMENTS => Room::Yes,
            true => Room::DiskFull,
            false => Room::NotYet,
        }
    }

    pub fn read(&self, number: u32, word: usize, out: &mut [u8]) -> std::io::Result<()> {
        self.file.read_at(out, place_of(number, word))
    }

    pub fn stop(&self) {
        self.state.lock().stop = true;
        self.changed.notify_one();
    }
}

fn place_of(number: u32, word: usize) -> u64 {
    u64::from(number) * SEGMENT_BYTES as u64 + word as u64 * 8
}

/// See [`Spill::room`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    Yes,
    NotYet,
    DiskFull,
}

impl UndoStore {
    /// The thread that writes segments out.
    pub fn run_spilling(&self) {
        let spill = &self.spill;
        let mut buf = Vec::new();
        loop {
            let (number, generation) = {
                let mut state = spill.state.lock();
                loop {
                    if state.stop {
                        return;
                    }
                    match state.full.front() {
                        Some(first) if spill.is_over() => break *first,
                        _ => spill.changed.wait(&mut state),
                    }
                }
            };
            match self.spill_segment(number, generation, &mut buf) {
                Ok(()) => spill.counts.failed.store(false, Ordering::Relaxed),
                Err(e) => {
                    if !spill.counts.failed.swap(true, Ordering::Relaxed) {
                        os::report(format_args!("old row versions stay in memory: {e}"));
                    }
                    let mut state = spill.state.lock();
                    if !state.stop {
                        spill.changed.wait_for(&mut state, RETRY);
                    }
                }
            }
        }
    }

    /// The first of the queue; only this thread takes from it.
    fn spill_segment(&self, number: u32, generation: u32, buf: &mut Vec<u8>) -> std::io::Result<()> {
        let spill = &self.spill;
        let segment = self.own(number);
        let is_current = || segment.generation.load(Ordering::Acquire) == generation;
        if is_current() {
            buf.clear();
            self.words(number).append_bytes(0, 0, SEGMENT_BYTES, buf);
            spill.file.write_at(buf, place_of(number, 0))?;
        }
        let mut state = spill.state.lock();
        state.full.pop_front();
        // It may have been used again since, or while it was written.
        if is_current() {
            segment.in_file.store(true, Ordering::SeqCst);
            spill.counts.in_file.fetch_add(1, Ordering::Relaxed);
            spill.counts.in_memory.fetch_sub(1, Ordering::Relaxed);
            self.release(number);
        }
        Ok(())
    }
}
