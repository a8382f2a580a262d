//! Deferred parts of DISTINCT aggregates, GROUP_CONCAT and the JSON aggregates, for groups that do not fit memory.
//!
//! 1. Once memory has been refused, the parts of further rows are not added but sorted on tapes: by group, aggregate and, for
//!    DISTINCT, key. 2. Before a group is returned, its parts are added. The first part with a key counts, unless the group had
//!    seen the key before memory was refused.
//!
//! A group's parts are in memory only while the group is returned; for DISTINCT aggregates they take almost none.
//!
//! D1: groups are asked for in ascending order, after all parts have been deferred.

use super::accumulator::{Accumulator, Part, gathers};
use crate::hash::ByteSet;
use crate::pause::Step;
use crate::run::Run;
use crate::spill::sorter::Sorter;
use expr::Aggregate;

/// A sorted part starts with its group and its aggregate.
const PREFIX_BYTES: usize = size_of::<u64>() + size_of::<u16>();

#[derive(Default)]
pub(crate) struct Deferred {
    sorter: Sorter,
    part: Part,
    /// The sorter's current part has not been added yet.
    there: bool,
    is_complete: bool,
    /// The group and aggregate whose parts are being added, and the keys that it has seen before.
    current: Option<(u64, u16)>,
    seen: Option<Box<ByteSet>>,
    last_key: Option<Vec<u8>>,
    /// The group's growth since its parts are being added.
    grown: usize,
}

impl Deferred {
    /// Defers the current row's part in an aggregate of a group. [`Self::settle`] must be called before the next row.
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

    /// Adds the parts of a group to the accumulators of its aggregates.
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

    /// Frees the remaining memory.
    pub fn release(mut self, run: &mut Run<'_>) {
        self.sorter.release(run);
        run.release(self.grown);
    }

    /// Drops the parts of a group that has been returned.
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
