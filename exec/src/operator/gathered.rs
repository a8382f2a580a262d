//! What several workers have gathered for operators of one run.
//!
//! An operator whose rows may be shared out [asks](Ask) before it reads the first one. The driver then has them gathered (`crate::parallel`), and
//! calls it again: it finds what was gathered, or nothing, and reads its rows itself.

use super::accumulator::Accumulator;
use crate::hash::ByteMap;
use crate::pause::{Pause, Step};
use crate::spill::merged::SortedRun;
use std::cell::RefCell;

/// Groups of an aggregation.
pub(crate) struct Groups {
    pub groups: ByteMap,
    /// Packed keys of each group, in `arena`.
    pub key_rows: Vec<u64>,
    pub arena: Vec<u8>,
    /// One for each group and aggregate.
    pub accumulators: Vec<Accumulator>,
    /// The part of the input in which each group was met first.
    pub births: Vec<u32>,
}

/// Sorted rows of a sort.
pub(crate) struct Runs {
    pub runs: Vec<SortedRun>,
    /// The number of rows that were read.
    pub rows: u64,
}

/// What one worker, or all of them, have gathered.
pub(crate) enum Gathered {
    Groups(Groups),
    Runs(Runs),
}

/// What was gathered, by the keys of nodes, with the memory that the run was charged for it.
#[derive(Default)]
pub(crate) struct Outcomes(RefCell<Vec<(usize, Gathered, usize)>>);

impl Outcomes {
    pub fn put(&self, node: usize, gathered: Gathered, charged: usize) {
        self.0.borrow_mut().push((node, gathered, charged));
    }

    fn take(&self, node: usize) -> Option<(Gathered, usize)> {
        let mut all = self.0.borrow_mut();
        let place = all.iter().position(|(known, ..)| *known == node)?;
        let (_, gathered, charged) = all.swap_remove(place);
        Some((gathered, charged))
    }
}

/// The question of an operator.
pub(crate) struct Ask<'p> {
    outcomes: &'p Outcomes,
    node: usize,
    is_asked: bool,
}

impl<'p> Ask<'p> {
    /// `node`: the key of the operator's node.
    pub fn new(outcomes: &'p Outcomes, node: usize) -> Self {
        Self { outcomes, node, is_asked: false }
    }

    /// What was gathered, and the memory that was charged for it; first a pause, in which that is done.
    pub fn answer(&mut self) -> Step<Option<(Gathered, usize)>> {
        if !std::mem::replace(&mut self.is_asked, true) {
            return Err(Pause::Share(self.node));
        }
        Ok(self.outcomes.take(self.node))
    }

    /// The operator starts over.
    pub fn rewind(&mut self) {
        self.is_asked = false;
    }
}
