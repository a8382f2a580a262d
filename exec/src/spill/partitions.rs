//! Rows spread over tapes by the hash of their keys, so that each tape can be worked on alone.
//!
//! Rows of one key go to one tape. What is still too much for memory is spread again by further bits of the same hash.

use super::tape::Tape;
use crate::pause::Step;
use crate::run::Run;
use expr::Error;

const BITS: u32 = 4;
const TAPES: usize = 1 << BITS;
/// Rows are not spread more often than this: there are more keys in no memory of today, or they are all the same.
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

    /// Which tape rows of a hash go to.
    pub fn number(&self, hash: u64) -> usize {
        // Beyond the bits that there are, one tape is as good as another.
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

    /// Waits where much is on its way to the disk.
    pub fn settle(&mut self) -> Step<()> {
        self.tapes.iter_mut().try_for_each(Tape::settle)
    }

    /// The tapes, ready to be read.
    pub fn finish(mut self) -> Result<Vec<Tape>, Error> {
        self.tapes.iter_mut().try_for_each(Tape::seal)?;
        Ok(self.tapes)
    }
}
