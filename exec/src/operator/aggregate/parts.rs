//! Grouping by several workers: each groups the parts of the input that it takes, and one of them merges the groups.
//!
//! S1: the merged groups are those of one worker that reads all parts in order: they come in the order of their first rows, with the keys of
//!     these. Each worker takes parts in ascending order, so a group's place is the part where it was met first, then its number. Of two workers that
//!     met it the one with the lower part met the first row.
//! S2: only aggregates that do not depend on the order of their rows are merged (`is_mergeable` in `operator/accumulator.rs`).

use super::{AggregateOperator, Groups, State};
use crate::operator::accumulator::Accumulator;
use crate::operator::{Operator, Piece};
use crate::pause::Step;
use crate::run::Run;
use expr::packed::{self, Packer};
use expr::{Aggregate, Expr};

impl<'p> AggregateOperator<'p> {
    /// Groups parts of the input.
    pub fn of_parts(
        input: Operator<'p>,
        sources: Vec<usize>,
        keys: &'p [Expr],
        aggregates: &'p [Aggregate],
        run: &Run<'p>,
    ) -> Self {
        let mut new = Self::new(input, sources, keys, aggregates);
        if let Operator::Scan(scan) = &mut new.input {
            new.counts_rows = new.counts_rows && scan.can_count(run);
        }
        new
    }

    /// The next part, which is higher than those before.
    pub fn begin_part(&mut self, part: usize, piece: Piece) {
        let part = part as u32;
        if self.keys.is_empty() && self.births.is_empty() {
            self.births.push(part);
        }
        self.part = Some(part);
        self.state = State::Take;
        self.input.begin_part(piece);
    }

    /// Reads the part to its end. `false`: memory has been refused, and parts cannot be merged any more.
    pub fn absorb_part(&mut self, run: &mut Run<'p>) -> Step<bool> {
        self.absorb(run)?;
        Ok(self.spilling.is_none() && self.deferred.is_none())
    }

    /// What was gathered, and the memory that is charged for it.
    pub fn into_groups(self) -> (Groups, usize) {
        let groups = Groups {
            groups: self.groups,
            key_rows: self.key_rows,
            arena: self.arena,
            accumulators: self.accumulators,
            births: self.births,
        };
        (groups, self.charged_bytes + self.grown)
    }

    /// Returns groups that were gathered, in place of its input's.
    pub(super) fn take_over(&mut self, groups: Groups, charged: usize) {
        self.groups = groups.groups;
        self.key_rows = groups.key_rows;
        self.arena = groups.arena;
        self.accumulators = groups.accumulators;
        self.charged_bytes = charged;
        self.state = State::Emit { group: 0 };
    }

    /// Merges the groups of all workers. `false`: memory has been refused.
    pub fn adopt(&mut self, run: &mut Run<'p>, mut all: Vec<Groups>) -> Step<bool> {
        // S1
        let mut order: Vec<(u32, usize, usize)> = Vec::new();
        for (from, groups) in all.iter().enumerate() {
            order.extend(groups.births.iter().enumerate().map(|(group, part)| (*part, group, from)));
        }
        order.sort_unstable();
        let mut accumulators: Vec<Vec<Option<Accumulator>>> =
            all.iter_mut().map(|groups| std::mem::take(&mut groups.accumulators).into_iter().map(Some).collect()).collect();
        for (_, group, from) in order {
            let own = self.adopt_key(&all[from], group);
            for (n, plan) in self.aggregates.iter().enumerate() {
                let other = accumulators[from][group * self.aggregates.len() + n].take().expect("each group is merged once");
                self.accumulators[own * self.aggregates.len() + n].merge(&run.env(&[]), plan, other)?;
            }
            if self.spilling.is_none() && !self.keys.is_empty() {
                self.account(run)?;
            }
        }
        self.state = State::Emit { group: 0 };
        Ok(self.spilling.is_none())
    }

    /// The number of the group, which is made with its key if it is new.
    fn adopt_key(&mut self, groups: &Groups, group: usize) -> usize {
        if self.keys.is_empty() {
            return 0;
        }
        let (own, is_new) = self.groups.insert(groups.groups.key(group));
        if is_new {
            self.key_rows.push(self.arena.len() as u64);
            let mut packer = Packer::new(&mut self.arena, self.keys.len());
            let keys = &groups.arena[groups.key_rows[group] as usize..];
            (0..self.keys.len()).for_each(|n| packer.push(&packed::get(keys, n)));
            self.accumulators.extend(self.aggregates.iter().map(Accumulator::new));
        }
        own
    }
}
