//! Keeps the first of rows that are equal in their first slots: SELECT DISTINCT, UNION.
//!
//! When memory is refused, no further row is remembered: unknown rows go to tapes by their hash, and the rows of
//! each tape are checked in the same way after the input. If the input's order matters, the rows of the tapes are sorted by
//! their positions in the input.
//!
//! D1: in each round at least one row is remembered.

use super::Operator;
use crate::hash::ByteSet;
use crate::pause::Step;
use crate::run::Run;
use crate::spill::partition_hash;
use crate::spill::partitions::{DEPTH_MAX, Partitions};
use crate::spill::sorter::Sorter;
use crate::spill::tape::{Tape, TapeReader};
use expr::keys::{self, KeyKind};
use expr::packed;
use types::ColumnType;

/// The bytes before a record's key: the row's position in the input (`u64`) and the key's length (`u32`).
const HEAD_BYTES: usize = 12;

pub(crate) struct Distinct<'p> {
    input: Operator<'p>,
    /// The types of the slots that are compared.
    kinds: Vec<(KeyKind, &'p ColumnType)>,
    keeps_order: bool,
    /// For an input whose equal rows are adjacent: the last row's key, empty before the first. Nothing else is kept then.
    last: Option<Vec<u8>>,
    seen: ByteSet,
    key: Vec<u8>,
    pending: bool,
    charged: usize,
    state: State,
    /// Rows that have gone to tapes.
    spilled: u64,
    spilling: Option<Partitions>,
    /// Tapes to check later, and how often their rows have been spread.
    waiting: Vec<(Tape, u32)>,
    replay: Option<(Tape, u32, TapeReader)>,
    ordered: Sorter,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Input,
    /// The rows of tapes.
    Tapes,
    /// The rows of tapes, in order.
    Ordered,
}

impl<'p> Distinct<'p> {
    pub fn new(input: Operator<'p>, columns: usize, types: Vec<&'p ColumnType>, keeps_order: bool, ordered: bool) -> Self {
        let kinds = types.into_iter().take(columns).map(|ty| (KeyKind::of_type(ty), ty)).collect();
        Self {
            input,
            kinds,
            keeps_order,
            last: ordered.then(Vec::new),
            seen: ByteSet::default(),
            key: Vec::new(),
            pending: false,
            charged: 0,
            state: State::Input,
            spilled: 0,
            spilling: None,
            waiting: Vec::new(),
            replay: None,
            ordered: Sorter::default(),
        }
    }

    pub fn first_input(&mut self) -> &mut Operator<'p> {
        &mut self.input
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if self.state == State::Input && self.next_of_input(run)? {
            return Ok(true);
        }
        if self.state == State::Tapes && self.next_of_tapes(run)? {
            return Ok(true);
        }
        match self.state {
            State::Ordered => self.ordered.next(run),
            _ => Ok(false),
        }
    }

    fn next_of_input(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            if let Some(spilling) = &mut self.spilling {
                spilling.settle()?;
            }
            if !self.pending {
                if !self.input.next(run)? {
                    if self.spilling.is_some() {
                        self.state = State::Tapes;
                    }
                    return Ok(false);
                }
                self.pending = true;
            }
            self.key.clear();
            let slots = self.input.slots();
            let env = run.env(slots);
            for (index, (kind, ty)) in self.kinds.iter().enumerate() {
                keys::encode(&env, *kind, &packed::get(slots, index), ty, &mut self.key)?;
            }
            if let Some(last) = &mut self.last {
                self.pending = false;
                // No key is empty: each value has at least one byte.
                if *last != self.key {
                    std::mem::swap(last, &mut self.key);
                    return Ok(true);
                }
                continue;
            }
            let new = if self.spilling.is_some() { !self.seen.contains(&self.key) } else { self.seen.insert(&self.key) };
            self.pending = false;
            match &mut self.spilling {
                _ if !new => {}
                Some(spilling) => {
                    let head = record_head(self.spilled, &self.key);
                    spilling.push(partition_hash(&self.key), &[&head, &self.key, self.input.slots()])?;
                    self.spilled += 1;
                }
                None => {
                    self.account(run, 0)?;
                    return Ok(true);
                }
            }
        }
    }

    /// Asks for memory after a row was remembered; `false`: remember no more.
    fn account(&mut self, run: &mut Run<'p>, depth: u32) -> Step<()> {
        let grown = self.seen.memory_bytes().saturating_sub(self.charged);
        if grown > 0 {
            if run.grant(self.charged, grown) {
                self.charged += grown;
            } else {
                self.spilling = Some(Partitions::new(run, depth.min(DEPTH_MAX))?);
            }
        }
        Ok(())
    }

    fn next_of_tapes(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            if self.keeps_order {
                self.ordered.settle(run)?;
            }
            if let Some(spilling) = &mut self.spilling {
                spilling.settle()?;
            }
            run.tick()?;
            let more = match &mut self.replay {
                Some((tape, _, reader)) => reader.next(tape)?,
                None => false,
            };
            if !more {
                if self.next_tape(run)? {
                    continue;
                }
                if self.keeps_order {
                    self.ordered.finish(run)?;
                    self.state = State::Ordered;
                }
                return Ok(false);
            }
            if self.judge(run)? {
                return Ok(true);
            }
        }
    }

    /// Is the current record the first of its key?
    fn judge(&mut self, run: &mut Run<'p>) -> Step<bool> {
        let Some((_, depth, reader)) = &self.replay else { return Ok(false) };
        let (depth, record) = (*depth, reader.record());
        let (key, row) = split(record);
        if let Some(spilling) = &mut self.spilling {
            if !self.seen.contains(key) {
                spilling.push(partition_hash(key), &[record])?;
            }
            return Ok(false);
        }
        if !self.seen.insert(key) {
            return Ok(false);
        }
        if self.keeps_order {
            let arena = self.ordered.arena();
            let start = arena.len();
            arena.extend_from_slice(&record[..8]);
            arena.extend_from_slice(row);
            self.ordered.push(start, 8);
        }
        self.account(run, depth)?;
        Ok(!self.keeps_order)
    }

    /// Drops the rows and starts with the next tape; `false`: there is none.
    fn next_tape(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if let Some(spilling) = self.spilling.take() {
            let depth = spilling.depth() + 1;
            let tapes = spilling.finish()?;
            self.waiting.extend(tapes.into_iter().rev().filter(|tape| tape.records() > 0).map(|tape| (tape, depth)));
        }
        run.release(std::mem::take(&mut self.charged));
        self.seen = ByteSet::default();
        self.replay = self.waiting.pop().map(|(tape, depth)| (tape, depth, TapeReader::consuming()));
        Ok(self.replay.is_some())
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        run.release(std::mem::take(&mut self.charged));
        self.seen = ByteSet::default();
        self.last.iter_mut().for_each(Vec::clear);
        self.pending = false;
        self.state = State::Input;
        self.spilling = None;
        self.waiting.clear();
        self.replay = None;
        self.ordered.clear();
        self.input.rewind(run);
    }

    pub fn slots(&self) -> &[u8] {
        match (self.state, &self.replay) {
            (State::Ordered, _) => self.ordered.row(),
            (State::Tapes, Some((_, _, reader))) => split(reader.record()).1,
            _ => self.input.slots(),
        }
    }
}

fn record_head(place: u64, key: &[u8]) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    // Big-endian: it is a key of the sort.
    head[..8].copy_from_slice(&place.to_be_bytes());
    head[8..].copy_from_slice(&(key.len() as u32).to_le_bytes());
    head
}

/// A record's key and row.
fn split(record: &[u8]) -> (&[u8], &[u8]) {
    let length = u32::from_le_bytes([record[8], record[9], record[10], record[11]]) as usize;
    record[HEAD_BYTES..].split_at(length)
}
