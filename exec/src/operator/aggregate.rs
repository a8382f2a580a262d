//! GROUP BY: one accumulator for each group and aggregate, groups found by hash.
//!
//! Slots out are the group keys, as the group's first row had them, then the aggregates. Groups come in the order in which their
//! first rows came. Without keys there is one group, also when there are no rows.

use super::Operator;
use super::accumulator::Accumulator;
use crate::eval::Step;
use crate::hash::ByteMap;
use crate::keys::{self, KeyKind};
use crate::packed::{self, Packer};
use crate::run::Run;
use sql::expr::{Aggregate, Expr};

pub(crate) struct AggregateOperator<'p> {
    input: Operator<'p>,
    keys: &'p [Expr],
    kinds: Vec<KeyKind>,
    aggregates: &'p [Aggregate],
    groups: ByteMap,
    /// Packed keys of each group, in `arena`.
    key_rows: Vec<u64>,
    arena: Vec<u8>,
    /// `aggregates.len()` for each group.
    accumulators: Vec<Accumulator>,
    key: Vec<u8>,
    row: Vec<u8>,
    charged_bytes: usize,
    /// Memory of the accumulators.
    grown: usize,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Take,
    /// An input row is there; its group is to be found.
    Group,
    /// Aggregates from this one on have not seen the row yet.
    Feed {
        group: usize,
        aggregate: usize,
    },
    Emit {
        group: usize,
    },
}

impl<'p> AggregateOperator<'p> {
    pub fn new(input: Operator<'p>, keys: &'p [Expr], aggregates: &'p [Aggregate]) -> Self {
        let kinds = keys.iter().map(|key| KeyKind::of_type(&key.ty)).collect();
        let mut new = Self {
            input,
            keys,
            kinds,
            aggregates,
            groups: ByteMap::default(),
            key_rows: Vec::new(),
            arena: Vec::new(),
            accumulators: Vec::new(),
            key: Vec::new(),
            row: Vec::new(),
            charged_bytes: 0,
            grown: 0,
            state: State::Take,
        };
        if keys.is_empty() {
            new.add_group();
        }
        new
    }

    fn add_group(&mut self) {
        self.key_rows.push(self.arena.len() as u64);
        self.accumulators.extend(self.aggregates.iter().map(Accumulator::new));
    }

    pub fn first_input(&mut self) -> &mut Operator<'p> {
        &mut self.input
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            match self.state {
                State::Take => {
                    self.state = if self.input.next(run)? { State::Group } else { State::Emit { group: 0 } };
                }
                State::Group => {
                    let group = self.find_group(run)?;
                    run.row_done();
                    self.state = State::Feed { group, aggregate: 0 };
                }
                State::Feed { group, aggregate } => {
                    self.feed(run, group, aggregate)?;
                    self.state = State::Take;
                }
                State::Emit { group } => return self.emit(run, group),
            }
        }
    }

    fn find_group(&mut self, run: &mut Run<'p>) -> Step<usize> {
        if self.keys.is_empty() {
            return Ok(0);
        }
        self.key.clear();
        let slots = self.input.slots();
        let env = run.env(slots);
        for (expr, kind) in self.keys.iter().zip(&self.kinds) {
            let value = env.eval(expr)?;
            keys::encode(&env, *kind, &value, &expr.ty, &mut self.key)?;
        }
        if let Some(group) = self.groups.find(&self.key) {
            return Ok(group);
        }
        // The key's values are kept before the group exists, so that a pause leaves nothing half made.
        let start = self.arena.len();
        let mut packer = Packer::new(&mut self.arena, self.keys.len());
        for expr in self.keys {
            let value = env.eval(expr).and_then(|value| env.finish(value, &expr.ty, &expr.ty));
            match value {
                Ok(value) => packer.push(&value),
                Err(pause) => {
                    self.arena.truncate(start);
                    return Err(pause);
                }
            }
        }
        self.key_rows.push(start as u64);
        self.accumulators.extend(self.aggregates.iter().map(Accumulator::new));
        let (group, _) = self.groups.insert(&self.key);
        let bytes = self.arena.capacity()
            + self.groups.memory_bytes()
            + self.accumulators.capacity() * size_of::<Accumulator>()
            + self.key_rows.capacity() * 8;
        run.charge(bytes.saturating_sub(self.charged_bytes))?;
        self.charged_bytes = self.charged_bytes.max(bytes);
        Ok(group)
    }

    fn feed(&mut self, run: &mut Run<'p>, group: usize, from: usize) -> Step<()> {
        let first = group * self.aggregates.len();
        let mut grown = 0;
        for (n, plan) in self.aggregates.iter().enumerate().skip(from) {
            self.state = State::Feed { group, aggregate: n };
            let env = run.env(self.input.slots());
            grown += self.accumulators[first + n].add(&env, plan)?;
            run.row_done();
        }
        if grown > 0 {
            self.grown += grown;
            self.state = State::Take;
            run.charge(grown)?;
        }
        Ok(())
    }

    fn emit(&mut self, run: &mut Run<'p>, group: usize) -> Step<bool> {
        if group >= self.key_rows.len() {
            return Ok(false);
        }
        run.tick()?;
        self.row.clear();
        let mut packer = Packer::new(&mut self.row, self.keys.len() + self.aggregates.len());
        let keys = &self.arena[self.key_rows[group] as usize..];
        (0..self.keys.len()).for_each(|n| packer.push(&packed::get(keys, n)));
        let env = run.env(&[]);
        let first = group * self.aggregates.len();
        for (n, plan) in self.aggregates.iter().enumerate() {
            let value = self.accumulators[first + n].finish(&env, plan)?;
            packer.push(&env.finish(value, &plan.ty, &plan.ty)?);
        }
        self.state = State::Emit { group: group + 1 };
        Ok(true)
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        run.release(std::mem::take(&mut self.grown));
        self.groups.clear();
        self.key_rows.clear();
        self.arena.clear();
        self.accumulators.clear();
        self.state = State::Take;
        if self.keys.is_empty() {
            self.add_group();
        }
        self.input.rewind(run);
    }

    pub fn slots(&self) -> &[u8] {
        &self.row
    }
}
