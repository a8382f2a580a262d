//! Blocks of memory that keep their address and can be given back to the system.
//!
//! B1: a block's words are only read and written atomically, so a reader that comes too late sees zeros, never another's memory.

use os::Reservation;
use sync::RacyWords;

/// A run of blocks of one size; they cost nothing until they are written.
pub struct Blocks {
    memory: Reservation,
    words: usize,
    count: usize,
}

impl Blocks {
    /// # Errors
    /// No address space.
    pub fn new(count: usize, words: usize) -> std::io::Result<Self> {
        assert!(
            (words * 8).is_multiple_of(if cfg!(any(sim, miri)) { 4 << 10 } else { 64 << 10 }),
            "blocks are whole pages, whatever the system's page size"
        );
        Ok(Self { memory: Reservation::new(count * words * 8)?, words, count })
    }

    pub fn block(&self, number: usize) -> &RacyWords {
        assert!(number < self.count, "a block of this run");
        // SAFETY: aligned to pages, inside the reservation, which `self` keeps; B1.
        unsafe { RacyWords::from_raw(self.memory.start().add(number * self.words * 8), self.words) }
    }

    /// Gives a block's memory back; its words are zero until they are written again.
    pub fn release(&self, number: usize) {
        assert!(number < self.count, "a block of this run");
        let bytes = self.words * 8;
        // SAFETY: a whole block, whose words are read atomically (B1).
        let released = unsafe { self.memory.release(number * bytes, bytes) };
        debug_assert!(released.is_ok(), "the range is mapped");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_released_block_is_empty_and_can_be_used_again() {
        let blocks = Blocks::new(3, 8192).expect("reserves");
        for number in 0..3 {
            blocks.block(number).store(8191, number as u64 + 1);
        }
        blocks.release(1);
        assert_eq!([0, 1, 2].map(|n| blocks.block(n).load(8191)), [1, 0, 3]);
        blocks.block(1).store(0, 7);
        assert_eq!(blocks.block(1).load(0), 7);
    }
}
