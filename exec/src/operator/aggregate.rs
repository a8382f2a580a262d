//! GROUP BY: one accumulator for each group and aggregate, groups found by hash.
//!
//! The output slots are the group keys of the group's first row, then the aggregates. Groups come in the order in which their
//! first rows came, as long as they fit memory. Without keys there is one group, even without rows.
//!
//! When memory is refused, no further group is made: rows of existing groups are still added, rows of others are copied to
//! tapes by the hash of their keys. Then the groups are returned and dropped, and the rows of each tape are grouped in the same way.
//! From then on the parts of aggregates that gather are deferred (`super::deferred`).
//!
//! Where only the number of rows is wanted, a scan may count them without reading them (`super::scan::count`).
//!
//! G1: in each round at least one group is made, so that every round leaves fewer groups.

mod parts;

use super::Operator;
use super::accumulator::{Accumulator, gathers};
use super::deferred::Deferred;
use super::gathered::{Ask, Gathered, Groups};
use super::numbers;
use super::scan::Counted;
use crate::hash::ByteMap;
use crate::pause::Step;
use crate::run::Run;
use crate::spill::partitions::{DEPTH_MAX, Partitions};
use crate::spill::tape::{Tape, TapeReader};
use crate::spill::{partition_hash, row_copy};
use expr::keys::KeyKind;
use expr::packed::{self, Packer};
use expr::{Aggregate, AggregateFunction, Expr, ExprKind};
use types::Value;

pub(crate) struct AggregateOperator<'p> {
    input: Operator<'p>,
    /// The sources of the input's rows, unless the rows are slots.
    sources: Vec<usize>,
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
    /// The memory of the accumulators that gather.
    grown: usize,
    /// Deferred parts, once memory has been refused.
    deferred: Option<Box<Deferred>>,
    /// All that is wanted is how many rows there are.
    counts_rows: bool,
    state: State,
    /// Several workers may read the input.
    ask: Option<Ask<'p>>,
    /// The part that is read, where workers share the input, and that in which each group was met first.
    part: Option<u32>,
    births: Vec<u32>,
    /// The tapes for rows of further groups, once memory has been refused.
    spilling: Option<Partitions>,
    /// Tapes to group later, and how often their rows have been spread.
    waiting: Vec<(Tape, u32)>,
    replay: Option<Replay>,
}

/// The tape that is read instead of the input.
struct Replay {
    tape: Tape,
    depth: u32,
    reader: TapeReader,
    /// The start of the current record's slots.
    slots_at: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Several workers may have read the input.
    Ask,
    Take,
    /// There is an input row whose group is not found yet.
    Group,
    /// The first aggregate that has not seen the row yet.
    Feed {
        group: usize,
        aggregate: usize,
    },
    Emit {
        group: usize,
    },
    /// All groups have been returned; the next tape follows.
    NextTape,
}

impl<'p> AggregateOperator<'p> {
    pub fn new(input: Operator<'p>, sources: Vec<usize>, keys: &'p [Expr], aggregates: &'p [Aggregate]) -> Self {
        let kinds = keys.iter().map(|key| KeyKind::of_type(&key.ty)).collect();
        let mut new = Self {
            input,
            sources,
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
            deferred: None,
            counts_rows: keys.is_empty() && aggregates.iter().all(is_count_of_rows),
            state: State::Take,
            ask: None,
            part: None,
            births: Vec::new(),
            spilling: None,
            waiting: Vec::new(),
            replay: None,
        };
        if keys.is_empty() {
            new.add_group();
        }
        new
    }

    /// Several workers may read the input.
    pub fn asking(mut self, ask: Option<Ask<'p>>) -> Self {
        self.ask = ask;
        self.state = self.first_state();
        self
    }

    fn first_state(&self) -> State {
        if self.ask.is_some() { State::Ask } else { State::Take }
    }

    fn ask(&mut self) -> Step<()> {
        let answer = self.ask.as_mut().map_or(Ok(None), Ask::answer)?;
        self.state = State::Take;
        if let Some((Gathered::Groups(groups), charged)) = answer {
            self.take_over(groups, charged);
        }
        Ok(())
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
                State::Ask => self.ask()?,
                State::Take | State::Group | State::Feed { .. } => self.absorb(run)?,
                State::Emit { group } if group < self.key_rows.len() => {
                    self.take_deferred(run, group)?;
                    self.emit(run, group)?;
                    return Ok(true);
                }
                State::Emit { .. } if self.spilling.is_none() && self.waiting.is_empty() => return Ok(false),
                State::Emit { .. } => self.state = State::NextTape,
                State::NextTape => self.next_tape(run)?,
            }
        }
    }

    /// Reads the input, or a tape, to its end.
    fn absorb(&mut self, run: &mut Run<'p>) -> Step<()> {
        loop {
            match self.state {
                State::Take if self.counts_rows => self.count_rows(run)?,
                State::Take => {
                    self.state = if self.take(run)? { State::Group } else { State::Emit { group: 0 } };
                }
                State::Group => {
                    let group = self.find_group(run)?;
                    run.row_done();
                    self.state = match group {
                        Some(group) => State::Feed { group, aggregate: 0 },
                        None => State::Take,
                    };
                }
                State::Feed { group, aggregate } => {
                    self.feed(run, group, aggregate)?;
                    self.state = State::Take;
                }
                State::Emit { .. } | State::NextTape | State::Ask => return Ok(()),
            }
        }
    }

    /// Asks the scan below for the number of its rows, if it can tell.
    fn count_rows(&mut self, run: &mut Run<'p>) -> Step<()> {
        let counted = match &mut self.input {
            Operator::Scan(scan) => scan.count(run)?,
            _ => Counted::Unknown,
        };
        match counted {
            Counted::Rows(rows) => self.accumulators.iter_mut().for_each(|accumulator| accumulator.add_rows(rows)),
            Counted::End => self.state = State::Emit { group: 0 },
            Counted::Unknown => self.counts_rows = false,
        }
        Ok(())
    }

    /// Moves to the next row of the input or of a tape.
    fn take(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if let Some(spilling) = &mut self.spilling {
            spilling.settle()?;
        }
        if let Some(deferred) = &mut self.deferred {
            deferred.settle(run)?;
        }
        let Some(replay) = &mut self.replay else { return self.input.next(run) };
        run.tick()?;
        if !replay.reader.next(&mut replay.tape)? {
            return Ok(false);
        }
        let record = replay.reader.record();
        let key_bytes = u32::from_le_bytes([record[0], record[1], record[2], record[3]]) as usize;
        let row_at = 4 + key_bytes;
        replay.slots_at = row_at + row_copy::restore(run, &self.sources, &record[row_at..]);
        Ok(true)
    }

    /// The current row's slots.
    fn input_slots(&self) -> &[u8] {
        match &self.replay {
            Some(replay) => &replay.reader.record()[replay.slots_at..],
            None => self.input.slots(),
        }
    }

    /// The current row's group; `None`: it went to a tape.
    fn find_group(&mut self, run: &mut Run<'p>) -> Step<Option<usize>> {
        if self.keys.is_empty() {
            return Ok(Some(0));
        }
        self.encode_key(run)?;
        if let Some(group) = self.groups.find(&self.key) {
            return Ok(Some(group));
        }
        if self.spilling.is_some() {
            self.spill_row(run)?;
            return Ok(None);
        }
        // The key's values are packed before the group is made, so that a pause leaves no incomplete group.
        let start = self.arena.len();
        if let Err(pause) = self.keep_keys(run) {
            self.arena.truncate(start);
            return Err(pause);
        }
        self.key_rows.push(start as u64);
        self.accumulators.extend(self.aggregates.iter().map(Accumulator::new));
        self.births.extend(self.part);
        let (group, _) = self.groups.insert(&self.key);
        self.account(run)?;
        Ok(Some(group))
    }

    fn encode_key(&mut self, run: &Run<'p>) -> Step<()> {
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        let env = run.env(self.input_slots());
        let encoded = self.keys.iter().zip(&self.kinds).try_for_each(|(expr, kind)| numbers::encode(&env, *kind, expr, &mut key));
        self.key = key;
        Ok(encoded?)
    }

    fn keep_keys(&mut self, run: &Run<'p>) -> Step<()> {
        let mut arena = std::mem::take(&mut self.arena);
        let env = run.env(self.input_slots());
        let mut packer = Packer::new(&mut arena, self.keys.len());
        let kept = self.keys.iter().try_for_each(|expr| {
            let value = env.eval(expr).and_then(|value| env.finish(value, &expr.ty, &expr.ty))?;
            packer.push(&value);
            Ok(())
        });
        self.arena = arena;
        kept
    }

    /// Asks for memory after a group was made; `false`: no further groups.
    fn account(&mut self, run: &mut Run<'p>) -> Step<()> {
        let bytes = self.arena.capacity()
            + self.groups.memory_bytes()
            + self.accumulators.capacity() * size_of::<Accumulator>()
            + self.key_rows.capacity() * 8;
        let grown = bytes.saturating_sub(self.charged_bytes);
        if grown == 0 {
            return Ok(());
        }
        if run.grant(self.charged_bytes, grown) {
            self.charged_bytes = bytes;
            return Ok(());
        }
        // G1: this group exists.
        let depth = self.replay.as_ref().map_or(0, |replay| replay.depth);
        self.spilling = Some(Partitions::new(run, depth.min(DEPTH_MAX))?);
        Ok(())
    }

    /// Copies the current row to the tape of its key.
    fn spill_row(&mut self, run: &Run<'p>) -> Step<()> {
        self.row.clear();
        let mut row = std::mem::take(&mut self.row);
        match &self.replay {
            Some(replay) => {
                let record = replay.reader.record();
                row.extend_from_slice(&record[4 + self.key.len()..]);
            }
            None => row_copy::write(run, &self.sources, self.input.slots(), &mut row),
        }
        self.row = row;
        let spilling = self.spilling.as_mut().expect("the caller looked");
        let length = (self.key.len() as u32).to_le_bytes();
        spilling.push(partition_hash(&self.key), &[&length, &self.key, &self.row])?;
        Ok(())
    }

    /// Drops the groups and starts with the next tape.
    fn next_tape(&mut self, run: &mut Run<'p>) -> Step<()> {
        if let Some(spilling) = self.spilling.take() {
            let depth = spilling.depth() + 1;
            let tapes = spilling.finish()?;
            self.waiting.extend(tapes.into_iter().rev().filter(|tape| tape.records() > 0).map(|tape| (tape, depth)));
        }
        self.forget_groups(run);
        self.replay =
            self.waiting.pop().map(|(tape, depth)| Replay { tape, depth, reader: TapeReader::consuming(), slots_at: 0 });
        self.state = State::Take;
        Ok(())
    }

    /// Frees the memory of the groups.
    fn forget_groups(&mut self, run: &mut Run<'p>) {
        if let Some(deferred) = self.deferred.take() {
            deferred.release(run);
        }
        run.release(std::mem::take(&mut self.grown) + std::mem::take(&mut self.charged_bytes));
        self.groups = ByteMap::default();
        self.key_rows = Vec::new();
        self.arena = Vec::new();
        self.accumulators = Vec::new();
    }

    fn feed(&mut self, run: &mut Run<'p>, group: usize, from: usize) -> Step<()> {
        let first = group * self.aggregates.len();
        let mut grown = 0;
        for (n, plan) in self.aggregates.iter().enumerate().skip(from) {
            self.state = State::Feed { group, aggregate: n };
            if let Some(mut deferred) = self.deferred.take_if(|_| gathers(plan)) {
                let put = deferred.put(run, self.input_slots(), group, n, plan);
                self.deferred = Some(deferred);
                put?;
            } else {
                let mut accumulators = std::mem::take(&mut self.accumulators);
                let env = run.env(self.input_slots());
                let added = accumulators[first + n].add(&env, plan);
                self.accumulators = accumulators;
                grown += added?;
            }
            run.row_done();
        }
        if grown > 0 {
            self.state = State::Take;
            self.gathered(run, first, grown);
        }
        Ok(())
    }

    /// Asks for memory after the accumulators have grown.
    fn gathered(&mut self, run: &mut Run<'p>, first: usize, mut grown: usize) {
        if !run.grant(self.grown, grown) {
            let accumulators = &mut self.accumulators[first..first + self.aggregates.len()];
            grown -= accumulators.iter_mut().map(Accumulator::shrink).sum::<usize>().min(grown);
            run.overdraw(grown);
            self.deferred.get_or_insert_default();
        }
        self.grown += grown;
    }

    /// Adds the deferred parts of a group.
    fn take_deferred(&mut self, run: &mut Run<'p>, group: usize) -> Step<()> {
        let Some(deferred) = &mut self.deferred else { return Ok(()) };
        let first = group * self.aggregates.len();
        deferred.take_group(run, group, &mut self.accumulators[first..], self.aggregates)
    }

    fn emit(&mut self, run: &mut Run<'p>, group: usize) -> Step<()> {
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
        if let Some(deferred) = &mut self.deferred {
            deferred.forget_group(run, &mut self.accumulators[first..], self.aggregates);
        }
        self.state = State::Emit { group: group + 1 };
        Ok(())
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        run.release(std::mem::take(&mut self.grown));
        if let Some(deferred) = self.deferred.take() {
            deferred.release(run);
        }
        self.groups.clear();
        self.key_rows.clear();
        self.arena.clear();
        self.accumulators.clear();
        self.spilling = None;
        self.waiting.clear();
        self.replay = None;
        if let Some(ask) = &mut self.ask {
            ask.rewind();
        }
        self.state = self.first_state();
        if self.keys.is_empty() {
            self.add_group();
        }
        self.input.rewind(run);
    }

    pub fn slots(&self) -> &[u8] {
        &self.row
    }
}

/// Is it COUNT(*), or COUNT of what is never NULL?
fn is_count_of_rows(aggregate: &Aggregate) -> bool {
    let is_known = |arg: &Expr| matches!(&arg.kind, ExprKind::Literal(value) if *value != Value::Null);
    aggregate.function == AggregateFunction::Count && !aggregate.distinct && aggregate.args.iter().all(is_known)
}
