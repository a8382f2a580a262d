//! Rows spread over tapes by the hash of their keys, so that each tape can be processed alone.
//!
//! Rows with the same key go to the same tape. A tape that is too large for memory is spread again by further bits of the same hash.

use super::tape::Tape;
use crate::pause::Step;
use crate::run::Run;
use expr::Error;

const BITS: u32 = 4;
const TAPES: usize = 1 << BITS;
/// The most times that rows are spread: after that, a tape that is too large has only a few distinct keys.
pub(crate) const DEPTH_MAX: u32 = 5;

pub(crate) struct Partitions {
    tapes: Vec<Tape>,
    depth: u32,
}

impl Partitions {
    /// `depth`: how often the rows have been spread before.
    pub fn new(run: &mut Run<'_>, depth: u32) -> Result<Self, Error> {
        let spill = run.spill()?;
        Ok(Self { tapes: (0..TAPES).map(|_| Tape::new(spill.clone())).collect(), depth })
    }

    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The tape for rows of a hash.
    pub fn number(&self, hash: u64) -> usize {
        // If no bits are left, any tape will do.
        (hash << (BITS * self.depth).min(63) >> (u64::BITS - BITS)) as usize
    }

    /// Appends a row, given in parts. Never waits; see [`Self::settle`].
    pub fn push(&mut self, hash: u64, parts: &[&[u8]]) -> Result<(), Error> {
        let number = self.number(hash);
        self.tapes[number].push(parts)
    }

    pub fn is_empty(&self, number: usize) -> bool {
        self.tapes[number].records() == 0
    }

    /// Waits if many writes are pending.
    pub fn settle(&mut self) -> Step<()> {
        self.tapes.iter_mut().try_for_each(Tape::settle)
    }

    /// The tapes, ready to be read.
    pub fn finish(mut self) -> Result<Vec<Tape>, Error> {
        self.tapes.iter_mut().try_for_each(Tape::seal)?;
        Ok(self.tapes)
    }
}
