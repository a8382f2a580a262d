//! The end of the log in memory, for who follows it: the log is written past the system's cache, so what is read from the file comes from the
//! device.
//!
//! R1: `bytes` is what the file has from `begin` on, to the end of the last block that was written. Nobody reads beyond what is durable: that is
//!     the reader's limit.
//! R2: at most [`BYTES_MAX`] are kept, and none while nobody follows the log. Who is further behind reads the file.

use std::collections::VecDeque;
use sync::Mutex;
use sync::atomic::{AtomicBool, Ordering};

const BYTES_MAX: usize = if cfg!(sim) { 256 << 10 } else { 8 << 20 };

#[derive(Default)]
pub struct Recent {
    is_wanted: AtomicBool,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    followers: usize,
    begin: u64,
    bytes: VecDeque<u8>,
}

impl Recent {
    /// Somebody follows the log from now on.
    pub fn begin(&self) {
        let mut kept = self.kept.lock();
        kept.followers += 1;
        // Relaxed: the lock orders it for who has it, and who notes a block too early or too late does no harm (R1).
        self.is_wanted.store(true, Ordering::Relaxed);
    }

    /// A follower is gone.
    pub fn end(&self) {
        let mut kept = self.kept.lock();
        kept.followers -= 1;
        if kept.followers == 0 {
            *kept = Kept::default();
            self.is_wanted.store(false, Ordering::Relaxed);
        }
    }

    /// Notes a block that was written at `position`.
    #[inline]
    pub fn note(&self, position: u64, block: &[u8]) {
        if self.is_wanted.load(Ordering::Relaxed) {
            self.keep(position, block);
        }
    }

    #[cold]
    fn keep(&self, position: u64, block: &[u8]) {
        let mut kept = self.kept.lock();
        if !self.is_wanted.load(Ordering::Relaxed) {
            return;
        }
        if kept.begin + kept.bytes.len() as u64 != position {
            // The first block since somebody follows.
            kept.begin = position;
            kept.bytes.clear();
        }
        kept.bytes.extend(block);
        let surplus = kept.bytes.len().saturating_sub(BYTES_MAX);
        if surplus > 0 {
            kept.begin += surplus as u64;
            kept.bytes.drain(..surplus);
        }
    }

    /// Fills `out` with the log from `position` on. `false`: not all of it is here.
    pub fn read(&self, position: u64, out: &mut [u8]) -> bool {
        let kept = self.kept.lock();
        let Some(start) = position.checked_sub(kept.begin).and_then(|start| usize::try_from(start).ok()) else { return false };
        if kept.bytes.len() < start.saturating_add(out.len()) {
            return false;
        }
        let (first, second) = kept.bytes.as_slices();
        let in_first = first.get(start..).unwrap_or_default();
        let (head, tail) = out.split_at_mut(in_first.len().min(out.len()));
        head.copy_from_slice(&in_first[..head.len()]);
        if !tail.is_empty() {
            let from = start.saturating_sub(first.len());
            tail.copy_from_slice(&second[from..from + tail.len()]);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_log_is_kept_while_somebody_wants_it() {
        let recent = Recent::default();
        let mut out = [0; 4];
        recent.note(100, b"abcd");
        assert!(!recent.read(100, &mut out), "nobody wants it");
        recent.begin();
        // One follower takes the place of another.
        recent.begin();
        recent.end();
        recent.note(104, b"efgh");
        recent.note(108, b"ijkl");
        assert!(recent.read(106, &mut out));
        assert_eq!(&out, b"ghij");
        assert!(!recent.read(100, &mut out) && !recent.read(110, &mut out) && recent.read(112, &mut []));
        recent.end();
        assert!(!recent.read(106, &mut out));
    }

    #[test]
    fn the_oldest_gives_way() {
        let recent = Recent::default();
        recent.begin();
        let block: Vec<u8> = (0..4096_u32).map(|n| (n % 251) as u8).collect();
        let blocks = (BYTES_MAX / block.len() * 2 + 3) as u64;
        for n in 0..blocks {
            recent.note(n * 4096, &block);
        }
        let mut out = vec![0; 4096];
        for n in blocks - (BYTES_MAX / 4096) as u64..blocks {
            assert!(recent.read(n * 4096, &mut out));
            assert_eq!(out, block);
        }
        assert!(!recent.read((blocks - 1 - (BYTES_MAX / 4096) as u64) * 4096, &mut out));
    }
}
