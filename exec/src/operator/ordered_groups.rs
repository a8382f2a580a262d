//! GROUP BY over rows that are ordered by group: a group is returned when the next one begins, and nothing else is kept.
//!
//! WITH ROLLUP, over rows in the order of the keys, adds a row after all groups that agree in their first keys, down to
//! one row for everything. There is one set of accumulators per level; level n has groups of n keys, and without ROLLUP only the last level exists.
//! A row whose key number d is the first that differs ends the groups of all levels above d. When memory is refused, the
//! level that has gathered most defers the further parts of its group (`super::deferred`).

use super::Operator;
use super::accumulator::{Accumulator, gathers};
use super::deferred::Deferred;
use crate::pause::Step;
use crate::run::Run;
use expr::keys::{self, KeyKind};
use expr::packed::{self, Packer};
use expr::{Aggregate, Expr};
use types::Value;

pub(crate) struct OrderedGroups<'p> {
    input: Operator<'p>,
    keys: &'p [Expr],
    kinds: Vec<KeyKind>,
    aggregates: &'p [Aggregate],
    /// The lowest level: 0, or the level of all keys.
    base: usize,
    /// `aggregates.len()` for each level, from the lowest.
    accumulators: Vec<Accumulator>,
    /// The encoded keys of the group, one by one, and of the current row.
    group: Option<Vec<Vec<u8>>>,
    next: Vec<Vec<u8>>,
    /// The group's keys, packed.
    group_row: Vec<u8>,
    row: Vec<u8>,
    levels: Vec<Level>,
    state: State,
}

/// The memory that the group of a level has gathered.
#[derive(Default)]
struct Level {
    grown: usize,
    deferred: Option<Box<Deferred>>,
}

impl Level {
    fn release(&mut self, run: &mut Run<'_>) {
        run.release(std::mem::take(&mut self.grown));
        if let Some(deferred) = self.deferred.take() {
            deferred.release(run);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Take,
    /// There is a row; the levels that it ends must be found.
    Compare,
    /// The row is the first of its group.
    Begin,
    /// Returns the groups of levels down to `last`, this one next; then adds the row, or ends.
    Emit {
        level: usize,
        last: usize,
        ended: bool,
    },
    Feed {
        accumulator: usize,
    },
    Done,
}

impl<'p> OrderedGroups<'p> {
    pub fn new(input: Operator<'p>, keys: &'p [Expr], aggregates: &'p [Aggregate], rollup: bool) -> Self {
        let base = if rollup { 0 } else { keys.len() };
        Self {
            input,
            keys,
            kinds: keys.iter().map(|key| KeyKind::of_type(&key.ty)).collect(),
            aggregates,
            base,
            accumulators: (base..=keys.len()).flat_map(|_| aggregates.iter().map(Accumulator::new)).collect(),
            group: None,
            next: Vec::new(),
            group_row: Vec::new(),
            row: Vec::new(),
            levels: (base..=keys.len()).map(|_| Level::default()).collect(),
            state: State::Take,
        }
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        let levels = self.keys.len();
        loop {
            match self.state {
                State::Take => {
                    for deferred in self.levels.iter_mut().filter_map(|level| level.deferred.as_mut()) {
                        deferred.settle(run)?;
                    }
                    self.state = match self.input.next(run)? {
                        true => State::Compare,
                        // Without rows there is still one group for everything.
                        false if self.group.is_none() && self.rolls_up() => State::Emit { level: 0, last: 0, ended: true },
                        false if self.group.is_none() => State::Done,
                        false => State::Emit { level: levels, last: self.base, ended: true },
                    };
                }
                State::Compare => {
                    let same = self.same_keys(run)?;
                    self.state = match same {
                        Some(same) if same < levels => {
                            State::Emit { level: levels, last: (same + 1).max(self.base), ended: false }
                        }
                        None => State::Begin,
                        _ => State::Feed { accumulator: 0 },
                    };
                }
                State::Begin => {
                    self.begin_group(run)?;
                    self.state = State::Feed { accumulator: 0 };
                }
                State::Emit { level, last, ended } => {
                    let first = (level - self.base) * self.aggregates.len();
                    if let Some(deferred) = &mut self.levels[level - self.base].deferred {
                        deferred.take_group(run, 0, &mut self.accumulators[first..], self.aggregates)?;
                    }
                    self.emit(run, level)?;
                    self.levels[level - self.base].release(run);
                    for (n, aggregate) in self.aggregates.iter().enumerate() {
                        self.accumulators[first + n] = Accumulator::new(aggregate);
                    }
                    self.state = match (level > last, ended) {
                        (true, _) => State::Emit { level: level - 1, last, ended },
                        (false, true) => State::Done,
                        (false, false) => State::Begin,
                    };
                    return Ok(true);
                }
                State::Feed { accumulator } => self.feed(run, accumulator)?,
                State::Done => return Ok(false),
            }
        }
    }

    /// The number of leading keys that the row shares with the group; `None`: there is no group yet.
    fn same_keys(&mut self, run: &Run<'p>) -> Step<Option<usize>> {
        self.next.resize_with(self.keys.len(), Vec::new);
        let env = run.env(self.input.slots());
        for ((key, kind), out) in self.keys.iter().zip(&self.kinds).zip(&mut self.next) {
            out.clear();
            let value = env.eval(key)?;
            keys::encode(&env, *kind, &value, &key.ty, out)?;
        }
        let group = self.group.as_ref();
        Ok(group.map(|group| group.iter().zip(&self.next).take_while(|(a, b)| a == b).count()))
    }

    fn rolls_up(&self) -> bool {
        self.base == 0
    }

    /// Begins a group with the current row.
    fn begin_group(&mut self, run: &Run<'p>) -> Step<()> {
        self.group_row.clear();
        let env = run.env(self.input.slots());
        let mut packer = Packer::new(&mut self.group_row, self.keys.len());
        for key in self.keys {
            let value = env.eval(key).and_then(|value| env.finish(value, &key.ty, &key.ty))?;
            packer.push(&value);
        }
        let group = self.group.get_or_insert_with(Vec::new);
        std::mem::swap(group, &mut self.next);
        Ok(())
    }

    fn feed(&mut self, run: &mut Run<'p>, from: usize) -> Step<()> {
        for n in from..self.accumulators.len() {
            self.state = State::Feed { accumulator: n };
            let (level, aggregate) = (n / self.aggregates.len(), n % self.aggregates.len());
            let (plan, slots) = (&self.aggregates[aggregate], self.input.slots());
            let Level { grown, deferred } = &mut self.levels[level];
            match deferred {
                Some(deferred) if gathers(plan) => deferred.put(run, slots, 0, aggregate, plan)?,
                _ => {
                    let mut more = self.accumulators[n].add(&run.env(slots), plan)?;
                    let granted = more == 0 || run.grant(*grown, more);
                    if !granted {
                        more -= self.accumulators[n].shrink().min(more);
                        run.overdraw(more);
                    }
                    *grown += more;
                    if !granted {
                        self.defer();
                    }
                }
            }
            run.row_done();
        }
        self.state = State::Take;
        Ok(())
    }

    /// Makes the level that has gathered most, among those that can, defer its parts from now on.
    fn defer(&mut self) {
        let levels = self.levels.iter_mut().filter(|level| level.deferred.is_none());
        if let Some(level) = levels.max_by_key(|level| level.grown) {
            level.deferred = Some(Box::default());
        }
    }

    fn emit(&mut self, run: &mut Run<'p>, level: usize) -> Step<()> {
        run.tick()?;
        self.row.clear();
        let rolls_up = self.base == 0;
        let mut packer = Packer::new(&mut self.row, self.keys.len() + usize::from(rolls_up) + self.aggregates.len());
        for n in 0..self.keys.len() {
            packer.push(&if n < level { packed::get(&self.group_row, n) } else { Value::Null });
        }
        if rolls_up {
            packer.push(&Value::Int(level as i64));
        }
        let env = run.env(&[]);
        let first = (level - self.base) * self.aggregates.len();
        for (n, plan) in self.aggregates.iter().enumerate() {
            let value = self.accumulators[first + n].finish(&env, plan)?;
            packer.push(&env.finish(value, &plan.ty, &plan.ty)?);
        }
        Ok(())
    }

    pub fn slots(&self) -> &[u8] {
        &self.row
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        self.levels.iter_mut().for_each(|level| level.release(run));
        let aggregates = self.aggregates;
        self.accumulators = (self.base..=self.keys.len()).flat_map(|_| aggregates.iter().map(Accumulator::new)).collect();
        self.group = None;
        self.state = State::Take;
        self.input.rewind(run);
    }
}
