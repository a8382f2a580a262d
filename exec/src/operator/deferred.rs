//! What DISTINCT aggregates, GROUP_CONCAT and the JSON aggregates gather, when memory has no room for it.
//!
//! 1. Once memory has been refused, the parts of further rows are not taken in but sorted, by way of tapes: by group, aggregate and, of
//!    DISTINCT, key. 2. Before a group is given out, its parts are taken in. Of parts with one key the first counts, unless the group has
//!    seen the key before memory was refused.
//!
//! What a group has gathered is then in memory for as long as it is given out; of DISTINCT aggregates that is next to nothing.
//!
//! D1: groups are asked for in ascending order, after all parts have been put aside.

use super::accumulator::{Accumulator, Part, gathers};
use crate::hash::ByteSet;
use crate::pause::Step;
use crate::run::Run;
use crate::spill::sorter::Sorter;
use expr::Aggregate;

/// A sorted part begins with its group and its aggregate.
const PREFIX_BYTES: usize = size_of::<u64>() + size_of::<u16>();

#[derive(Default)]
pub(crate) struct Deferred {
    sorter: Sorter,
    part: Part,
    /// A part of the sorter is there that has not been taken in.
    there: bool,
    is_complete: bool,
    /// The group and aggregate whose parts are taken in, and what it has seen before.
    current: Option<(u64, u16)>,
    seen: Option<Box<ByteSet>>,
    last_key: Option<Vec<u8>>,
    /// By how much the group has grown since its parts are taken in.
    grown: usize,
}

impl Deferred {
    /// Puts the current row's part in an aggregate of a group aside. [`Self::settle`] is to be called before the next row.
    pub fn put<'p>(&mut self, run: &Run<'p>, slots: &[u8], group: usize, aggregate: usize, plan: &'p Aggregate) -> Step<()> {
        if !self.part.make(&run.env(slots), plan)? {
            return Ok(());
        }
        let arena = self.sorter.arena();
        let start = arena.len();
        arena.extend_from_slice(&(group as u64).to_be_bytes());
        arena.extend_from_slice(&(aggregate as u16).to_be_bytes());
        if plan.distinct {
            arena.extend_from_slice(&self.part.key);
        }
        let key_bytes = arena.len() - start;
        arena.extend_from_slice(&(self.part.order.len() as u32).to_le_bytes());
        arena.extend_from_slice(&self.part.order);
        arena.extend_from_slice(&self.part.value);
        self.sorter.push(start, key_bytes);
        Ok(())
    }

    /// Makes room for further parts.
    pub fn settle(&mut self, run: &mut Run<'_>) -> Step<()> {
        self.sorter.settle(run)
    }

    /// Takes in the parts of a group, given the accumulators of its aggregates.
    pub fn take_group<'p>(
        &mut self,
        run: &mut Run<'p>,
        group: usize,
        accumulators: &mut [Accumulator],
        plans: &'p [Aggregate],
    ) -> Step<()> {
        if !self.is_complete {
            self.sorter.finish(run)?;
            self.is_complete = true;
        }
        loop {
            if !self.there && !self.sorter.next(run)? {
                return Ok(());
            }
            self.there = true;
            let (of, aggregate) = split(self.sorter.key());
            if of != group as u64 {
                return Ok(()); // D1
            }
            let place = usize::from(aggregate);
            if self.current != Some((of, aggregate)) {
                self.current = Some((of, aggregate));
                self.seen = accumulators[place].take_seen();
                self.last_key = None;
            }
            let grown = self.take(run, &mut accumulators[place], &plans[place])?;
            self.there = false;
            if grown > 0 {
                self.grown += grown;
                run.charge(grown)?;
            }
        }
    }

    fn take(&mut self, run: &Run<'_>, accumulator: &mut Accumulator, plan: &Aggregate) -> Step<usize> {
        let key = &self.sorter.key()[PREFIX_BYTES..];
        if plan.distinct {
            let known = self.last_key.as_deref() == Some(key) || self.seen.as_ref().is_some_and(|seen| seen.contains(key));
            if known {
                return Ok(0);
            }
            let last = self.last_key.get_or_insert_default();
            last.clear();
            last.extend_from_slice(key);
        }
        let (length, rest) = self.sorter.row().split_first_chunk().expect("put there with the part");
        let (order, value) = rest.split_at(u32::from_le_bytes(*length) as usize);
        let part = Part { key: Vec::new(), order: order.to_vec(), value: value.to_vec() };
        accumulator.take(&run.env(&[]), plan, part)
    }

    /// Gives back what memory there still is.
    pub fn release(mut self, run: &mut Run<'_>) {
        self.sorter.release(run);
        run.release(self.grown);
    }

    /// The group has been given out: forgets what it gathered.
    pub fn forget_group(&mut self, run: &mut Run<'_>, accumulators: &mut [Accumulator], plans: &[Aggregate]) {
        self.seen = None;
        run.release(std::mem::take(&mut self.grown));
        for (accumulator, plan) in accumulators.iter_mut().zip(plans).filter(|(_, plan)| gathers(plan)) {
            *accumulator = Accumulator::new(plan);
        }
    }
}

fn split(key: &[u8]) -> (u64, u16) {
    let (group, rest) = key.split_first_chunk().expect("a part's key begins with its group");
    let aggregate = rest.first_chunk().expect("and its aggregate");
    (u64::from_be_bytes(*group), u16::from_be_bytes(*aggregate))
}
