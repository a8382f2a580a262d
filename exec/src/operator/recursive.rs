//! WITH RECURSIVE: the rows of the seed; then, in rounds, the rows that the steps make from the rows of the previous round, until a
//! round makes none.
//!
//! The reader keeps each row in the table's store before it asks for the next one; a round is a range of that store.

use super::Operator;
use crate::pause::Step;
use crate::row_count::evaluate_count;
use crate::run::Run;
use crate::spill::key_set::KeySet;
use expr::Error;
use expr::keys::{self, KeyKind};
use expr::packed::{self, Packer};
use sql::plan::LimitPlan;
use std::borrow::Cow;
use types::{ColumnType, TypeKind, Value};

pub(crate) struct Recursive<'p> {
    table: usize,
    seed: Operator<'p>,
    steps: Vec<Operator<'p>>,
    columns: &'p [(String, ColumnType)],
    kinds: Vec<KeyKind>,
    /// For UNION DISTINCT: the rows seen.
    seen: Option<KeySet>,
    limit: Option<&'p LimitPlan>,
    left: Option<u64>,
    key: Vec<u8>,
    row: Vec<u8>,
    /// The row is copied, and may be a duplicate.
    copied: bool,
    state: State,
    rounds: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Seed,
    /// The next round must begin.
    Round,
    Step(usize),
    Done,
}

impl<'p> Recursive<'p> {
    pub fn new(
        table: usize,
        seed: Operator<'p>,
        steps: Vec<Operator<'p>>,
        columns: &'p [(String, ColumnType)],
        distinct: bool,
        limit: Option<&'p LimitPlan>,
    ) -> Self {
        let kinds = columns.iter().map(|(_, ty)| KeyKind::of_type(ty)).collect();
        let seen = distinct.then(KeySet::default);
        let (key, row) = (Vec::new(), Vec::new());
        Self {
            table,
            seed,
            steps,
            columns,
            kinds,
            seen,
            limit,
            left: None,
            key,
            row,
            copied: false,
            state: State::Start,
            rounds: 0,
        }
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if self.left == Some(0) {
            self.state = State::Done;
        }
        loop {
            if let Some(seen) = &mut self.seen {
                seen.settle(run)?;
            }
            if self.copied {
                let new = self.is_new()?;
                self.copied = false;
                if new {
                    if let Some(left) = &mut self.left {
                        *left -= 1;
                    }
                    return Ok(true);
                }
            }
            let more = match self.state {
                State::Start => {
                    let env = run.env(&[]);
                    let count = evaluate_count(&env, self.limit.and_then(|l| l.count.as_ref()))?;
                    let offset = evaluate_count(&env, self.limit.and_then(|l| l.offset.as_ref()))?.unwrap_or(0);
                    // Rows before the offset are needed for the steps.
                    self.left = count.map(|count| if count == 0 { 0 } else { count.saturating_add(offset) });
                    run.stores[self.table].first = usize::try_from(offset).unwrap_or(usize::MAX);
                    self.state = if self.left == Some(0) { State::Done } else { State::Seed };
                    continue;
                }
                State::Seed => self.seed.next(run)?,
                State::Round => {
                    self.begin_round(run)?;
                    continue;
                }
                State::Step(step) => self.steps[step].next(run)?,
                State::Done => return Ok(false),
            };
            if !more {
                self.state = match self.state {
                    State::Step(step) if step + 1 < self.steps.len() => State::Step(step + 1),
                    _ => State::Round,
                };
                continue;
            }
            self.copy(run)?;
            self.copied = true;
        }
    }

    fn begin_round(&mut self, run: &mut Run<'p>) -> Step<()> {
        let store = &mut run.stores[self.table];
        let (from, to) = (store.round.1, store.len());
        if from == to {
            self.state = State::Done;
            return Ok(());
        }
        self.rounds += 1;
        let limit = run.shared.session.recursion_depth_max;
        if self.rounds > limit {
            return Err(Error::RecursionTooDeep { rounds: self.rounds }.into());
        }
        store.round = (from, to);
        for step in &mut self.steps {
            step.rewind(run);
        }
        self.state = State::Step(0);
        Ok(())
    }

    /// Copies the current row, cut to the columns' lengths.
    fn copy(&mut self, run: &mut Run<'p>) -> Step<()> {
        let slots = match self.state {
            State::Step(step) => self.steps[step].slots(),
            _ => self.seed.slots(),
        };
        self.row.clear();
        self.key.clear();
        let env = run.env(slots);
        let mut packer = Packer::new(&mut self.row, self.columns.len());
        for (n, (name, ty)) in self.columns.iter().enumerate() {
            let mut value = packed::get(slots, n);
            if let Value::Bytes(text) = &value
                && let Some(end) = too_long(text, ty)
            {
                let error = Error::DataTooLong { column: name.clone(), row: 1 };
                if run.shared.session.sql_mode.strict {
                    return Err(error.into());
                }
                run.shared.session.warn(error);
                value = Value::Bytes(Cow::Owned(text[..end].to_vec()));
            }
            if self.seen.is_some() {
                keys::encode(&env, self.kinds[n], &value, ty, &mut self.key)?;
            }
            packer.push(&value);
        }
        run.row_done();
        Ok(())
    }

    /// Is the copied row new?
    fn is_new(&mut self) -> Step<bool> {
        let Some(seen) = &mut self.seen else { return Ok(true) };
        Ok(!seen.contains(&self.key)? && seen.add(&self.key))
    }

    pub fn slots(&self) -> &[u8] {
        &self.row
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        if let Some(seen) = &mut self.seen {
            run.release(seen.charged());
            *seen = KeySet::default();
        }
        self.state = State::Start;
        self.copied = false;
        self.rounds = 0;
        self.seed.rewind(run);
    }
}

/// The position at which a text that is longer than the type is cut.
fn too_long(text: &[u8], ty: &ColumnType) -> Option<usize> {
    match ty.kind {
        TypeKind::VarBinary { length } | TypeKind::Binary { length } if text.len() > length as usize => Some(length as usize),
        TypeKind::VarChar { length } | TypeKind::Char { length } if text.len() > length as usize => {
            let starts = text.iter().enumerate().filter(|(_, byte)| **byte & 0xC0 != 0x80);
            starts.map(|(at, _)| at).nth(length as usize)
        }
        _ => None,
    }
}
