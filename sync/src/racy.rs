//! Bytes that are read while they may be written: every access is a relaxed atomic load or store of one 64-bit word.
//!
//! A reader that races with a writer may see a mixture; it must validate the frame's latch before it believes anything, and until then
//! nothing it computes from the bytes may index out of bounds. So every method checks its range and answers `None`/`false` beyond it.
//!
//! R1: all accesses have one width, so they are atomic in the memory model and free on the machine.
//! R2: stores are made only by the holder of the exclusive latch (not checked here).
//! Words are little-endian in memory, as on disk.

use std::sync::atomic::{AtomicU64, Ordering};

const WORDS_PER_LINE: usize = 8;

/// A run of 64-bit words. `#[repr(transparent)]` over the atomics, so page memory can be viewed as one.
#[repr(transparent)]
pub struct RacyWords([AtomicU64]);

impl RacyWords {
    /// Zeroed words on the heap.
    pub fn boxed(words: usize) -> Box<RacyWords> {
        let atomics: Box<[AtomicU64]> = (0..words).map(|_| AtomicU64::new(0)).collect();
        // SAFETY: RacyWords is a transparent wrapper of [AtomicU64].
        unsafe { Box::from_raw(Box::into_raw(atomics) as *mut RacyWords) }
    }

    /// Views `words` 64-bit words at `start`.
    ///
    /// # Safety
    /// `start` is aligned to 8 and valid for reads and writes of that many words for `'a`, and all accesses meanwhile are atomic
    /// (or exclusive, such as a disk read into a frame that nobody else can reach).
    pub unsafe fn from_raw<'a>(start: *mut u8, words: usize) -> &'a RacyWords {
        // SAFETY: by the caller's promise; the wrapper is transparent.
        unsafe { &*(std::ptr::slice_from_raw_parts(start as *const AtomicU64, words) as *const RacyWords) }
    }

    #[inline]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Word `index`; 0 beyond the end (a racing reader validates before it believes it).
    #[inline]
    pub fn load(&self, index: usize) -> u64 {
        // Relaxed: ordering comes from the latch.
        self.0.get(index).map_or(0, |w| u64::from_le(w.load(Ordering::Relaxed)))
    }

    /// Stores word `index`. Panics beyond the end: only latch holders write, and they do not race.
    #[inline]
    pub fn store(&self, index: usize, value: u64) {
        self.0[index].store(value.to_le(), Ordering::Relaxed);
    }

    /// Asks for the cache lines of `words` words at `start` ahead of need. Beyond the end it does nothing.
    #[inline]
    pub fn prefetch(&self, start: usize, words: usize) {
        if let Some(run) = self.0.get(start..start + words) {
            run.iter().step_by(WORDS_PER_LINE).for_each(crate::prefetch);
            // The run need not begin with a line.
            run.last().into_iter().for_each(crate::prefetch);
        }
    }

    /// Eight bytes at a byte offset that is a multiple of 8, in memory order.
    #[inline]
    fn raw(&self, index: usize) -> [u8; 8] {
        self.0.get(index).map_or([0; 8], |w| w.load(Ordering::Relaxed).to_ne_bytes())
    }

    /// Copies `bytes` bytes, `skip` bytes behind word `start`, to the end of `out`. `false` (and nothing copied) beyond the end.
    #[inline]
    pub fn append_bytes(&self, start: usize, skip: usize, bytes: usize, out: &mut Vec<u8>) -> bool {
        let shift = skip % 8;
        let (first, end) = (start + skip / 8, start + (skip + bytes).div_ceil(8));
        let Some(run) = self.0.get(first..end.max(first)) else { return false };
        #[cfg(sim)]
        os::sim::point();
        out.reserve(bytes + 8);
        let target = out.spare_capacity_mut().as_mut_ptr().cast::<u8>();
        let mut words = run.iter().map(|word| u64::from_le(word.load(Ordering::Relaxed)));
        if let Some(word) = words.next() {
            // SAFETY: eight bytes were reserved beyond the end. What is written behind the first word's bytes is overwritten, or lies
            // behind the new length.
            unsafe { target.cast::<u64>().write_unaligned((word >> (8 * shift)).to_le()) };
        }
        let mut at = 8 - shift;
        for word in words {
            // SAFETY: the last word begins before byte `bytes`: it ends within the eight bytes beyond.
            unsafe { target.add(at).cast::<u64>().write_unaligned(word.to_le()) };
            at += 8;
        }
        // SAFETY: the words of the run cover `bytes` bytes behind `skip`, all of which were just written.
        unsafe { out.set_len(out.len() + bytes) };
        true
    }

    /// Copies whole words into `out` as they are in memory (`u64::from_le` reads one). `false` beyond the end.
    #[inline]
    pub fn copy_words(&self, start: usize, out: &mut [u64]) -> bool {
        let Some(source) = self.0.get(start..start + out.len()) else { return false };
        for (to, from) in out.iter_mut().zip(source) {
            *to = from.load(Ordering::Relaxed);
        }
        true
    }

    /// Compares the `bytes` bytes at word `start` with `other`, as memcmp and then by length.
    #[inline]
    pub fn compare_bytes(&self, start: usize, bytes: usize, other: &[u8]) -> std::cmp::Ordering {
        let common = bytes.min(other.len());
        let mut at = 0;
        while at + 8 <= common {
            let mine = u64::from_be_bytes(self.raw(start + at / 8));
            let theirs = u64::from_be_bytes(other[at..at + 8].try_into().expect("eight bytes"));
            if mine != theirs {
                return mine.cmp(&theirs);
            }
            at += 8;
        }
        if at < common {
            let mine = u64::from_be_bytes(self.raw(start + at / 8)) >> (8 * (8 - (common - at)));
            let theirs = leading_bytes(&other[at..common]);
            if mine != theirs {
                return mine.cmp(&theirs);
            }
        }
        bytes.cmp(&other.len())
    }

    /// Writes two byte strings one after the other from word `start`, zero-padded to a whole word. Latch held (R2).
    pub fn write_bytes(&self, start: usize, first: &[u8], second: &[u8]) {
        let mut word = [0u8; 8];
        let mut filled = 0;
        let mut index = start;
        for part in [first, second] {
            let mut rest = part;
            while !rest.is_empty() {
                if filled == 0 && rest.len() >= 8 {
                    let (now, later) = rest.split_at(8);
                    self.0[index].store(u64::from_ne_bytes(now.try_into().expect("eight bytes")), Ordering::Relaxed);
                    index += 1;
                    rest = later;
                    continue;
                }
                let take = (8 - filled).min(rest.len());
                word[filled..filled + take].copy_from_slice(&rest[..take]);
                filled += take;
                rest = &rest[take..];
                if filled == 8 {
                    self.0[index].store(u64::from_ne_bytes(word), Ordering::Relaxed);
                    index += 1;
                    filled = 0;
                    word = [0; 8];
                }
            }
        }
        if filled > 0 {
            self.0[index].store(u64::from_ne_bytes(word), Ordering::Relaxed);
        }
    }

    /// Moves `count` words from `from` to `to`; the ranges may overlap. Latch held (R2).
    pub fn move_words(&self, from: usize, to: usize, count: usize) {
        let copy = |i: usize| self.0[to + i].store(self.0[from + i].load(Ordering::Relaxed), Ordering::Relaxed);
        if from < to {
            (0..count).rev().for_each(copy);
        } else {
            (0..count).for_each(copy);
        }
    }

    /// Fills `self` from words as `copy_words` gives them (lengths equal). Latch held (R2).
    pub fn fill_from(&self, source: &[u64]) {
        assert_eq!(source.len(), self.0.len());
        for (to, from) in self.0.iter().zip(source) {
            to.store(*from, Ordering::Relaxed);
        }
    }
}

/// Up to eight bytes as a number that orders as they do; few enough that a loop is quicker than a call.
#[inline]
fn leading_bytes(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        for (a, b) in [(0usize, 0usize), (3, 0), (0, 9), (5, 3), (8, 8), (13, 21), (1, 63)] {
            let words = RacyWords::boxed(12);
            let first: Vec<u8> = (0..a).map(|i| i as u8 + 1).collect();
            let second: Vec<u8> = (0..b).map(|i| 200 - i as u8).collect();
            words.write_bytes(1, &first, &second);
            let mut out = Vec::new();
            assert!(words.append_bytes(1, 0, a + b, &mut out));
            assert_eq!(out, [first.clone(), second.clone()].concat());
            out.clear();
            assert!(words.append_bytes(1, a, b, &mut out));
            assert_eq!(out, second);
            assert!(words.compare_bytes(1, a, &first).is_eq());
            assert!(!words.append_bytes(8, 0, 40, &mut out));
            assert!(!words.append_bytes(20, 0, 0, &mut out));
            assert_eq!(out, second, "what does not fit leaves nothing behind");
            let all = [first, second].concat();
            for skip in 0..=all.len() {
                for bytes in 0..=all.len() - skip {
                    out.clear();
                    out.push(7);
                    assert!(words.append_bytes(1, skip, bytes, &mut out));
                    assert_eq!(out[1..], all[skip..skip + bytes], "{skip} {bytes}");
                }
            }
        }
    }

    #[test]
    fn comparison_is_memcmp() {
        let words = RacyWords::boxed(4);
        words.write_bytes(0, b"abcdefghij", b"");
        for other in [&b"abcdefghij"[..], b"abcdefghi", b"abcdefghijk", b"abcdefghik", b"abd", b"", b"abcdefgaaaa"] {
            assert_eq!(words.compare_bytes(0, 10, other), b"abcdefghij"[..].cmp(other), "{other:?}");
        }
    }
}
