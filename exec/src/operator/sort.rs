//! ORDER BY: keeps all rows, or only the first ones in the order if a LIMIT follows.
//!
//! The rows are a [`Sorter`]'s; rows with equal keys keep their order.
//!
//! Where several workers read the input in parts, each sorts the rows of a part, or the first ones of all its parts if few are needed, and the
//! sorted runs are merged. A row's part is the end of its key (M1 in `spill/merged.rs`).

use super::gathered::{Ask, Gathered, Runs};
use super::numbers;
use super::{Operator, Piece};
use crate::pause::Step;
use crate::row_count::evaluate_count;
use crate::run::Run;
use crate::scratch::Scratch;
use crate::spill::merged::{MergedRuns, SortedRun};
use crate::spill::row_copy;
use crate::spill::sorter::Sorter;
use expr::keys::KeyKind;
use expr::{Work, count};
use sql::plan::{LimitPlan, SortKey};

pub(crate) struct Sort<'p> {
    input: Operator<'p>,
    of_range: bool,
    /// The sources whose rows are kept beside the slots.
    sources: Vec<usize>,
    keys: &'p [SortKey],
    kinds: Vec<KeyKind>,
    limit: Option<&'p LimitPlan>,
    sorter: Sorter,
    state: State,
    pending: bool,
    /// The number of rows read.
    rows: u64,
    /// Several workers may read the input.
    ask: Option<Ask<'p>>,
    /// Of one of several workers: the part that is read, and the sorted rows of earlier ones with the memory charged for them.
    part: Option<u32>,
    runs: Vec<SortedRun>,
    runs_charged: usize,
    /// The rows that several workers have sorted.
    merged: Option<Box<MergedRuns>>,
}

/// A worker that needs no more than so many first rows of its parts sorts them at its end.
const ROWS_OF_ONE_RUN_MAX: usize = 4096;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Ask,
    Consume,
    Finish,
    Emit,
}

impl<'p> Sort<'p> {
    /// `of_range`: the input reads ranges of an index.
    pub fn new(input: Operator<'p>, of_range: bool, keys: &'p [SortKey], limit: Option<&'p LimitPlan>) -> Self {
        let kinds = keys.iter().map(|key| KeyKind::of_type(&key.expr.ty)).collect();
        Self {
            input,
            of_range,
            sources: Vec::new(),
            keys,
            kinds,
            limit,
            sorter: Sorter::default(),
            state: State::Start,
            pending: false,
            rows: 0,
            ask: None,
            part: None,
            runs: Vec::new(),
            runs_charged: 0,
            merged: None,
        }
    }

    /// Keeps the rows of a part of the input as they come.
    pub fn of_rows(input: Operator<'p>, sources: Vec<usize>) -> Self {
        Self { sources, ..Self::new(input, false, &[], None) }
    }

    /// Several workers may read the input.
    pub fn asking(mut self, ask: Option<Ask<'p>>) -> Self {
        self.ask = ask;
        self
    }

    pub fn first_input(&mut self) -> &mut Operator<'p> {
        &mut self.input
    }

    pub fn borrow_buffers(&mut self, scratch: &mut Scratch) {
        self.sorter.borrow_buffers(&mut scratch.arena, &mut scratch.entries);
        self.input.borrow_buffers(scratch);
    }

    pub fn return_buffers(&mut self, scratch: &mut Scratch) {
        self.sorter.return_buffers(&mut scratch.arena, &mut scratch.entries);
        self.input.return_buffers(scratch);
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            match self.state {
                State::Start => {
                    self.evaluate_limit(run)?;
                    self.state = State::Ask;
                }
                State::Ask => {
                    let answer = match &mut self.ask {
                        Some(ask) if self.sorter.rows_max != Some(0) => ask.answer()?,
                        _ => None,
                    };
                    self.state = State::Consume;
                    if let Some((Gathered::Runs(Runs { runs, rows }), charged)) = answer {
                        self.rows = rows;
                        self.merged = Some(Box::new(MergedRuns::new(runs, self.sorter.rows_max, charged)));
                        self.count(&run.shared.session.work);
                        self.state = State::Emit;
                    }
                }
                State::Consume => {
                    if self.sorter.rows_max != Some(0) {
                        self.consume(run)?;
                    }
                    self.state = State::Finish;
                }
                State::Finish => {
                    self.sorter.finish(run)?;
                    self.count(&run.shared.session.work);
                    self.state = State::Emit;
                }
                State::Emit => {
                    return match &mut self.merged {
                        Some(merged) => merged.next(run, true),
                        None => self.sorter.next(run),
                    };
                }
            }
        }
    }

    /// The rows are sorted.
    fn count(&mut self, work: &Work) {
        let kept = self.sorter.rows_max.map_or(u64::MAX, |max| max as u64).min(std::mem::take(&mut self.rows));
        work.sort_rows.set(work.sort_rows.get() + kept);
        count(if self.of_range { &work.sort_range } else { &work.sort_scan });
    }

    /// Keeps the first `offset + count` rows; the LIMIT skips the rows of the offset.
    fn evaluate_limit(&mut self, run: &Run<'p>) -> Step<()> {
        let Some(limit) = self.limit else { return Ok(()) };
        let env = run.env(&[]);
        let offset = evaluate_count(&env, limit.offset.as_ref())?.unwrap_or(0);
        let clamp = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        self.sorter.rows_max = evaluate_count(&env, limit.count.as_ref())?.map(|count| clamp(offset.saturating_add(count)));
        Ok(())
    }

    fn consume(&mut self, run: &mut Run<'p>) -> Step<()> {
        loop {
            self.sorter.settle(run)?;
            if !self.pending && !self.input.next(run)? {
                return Ok(());
            }
            self.pending = true;
            let start = self.sorter.arena().len();
            if let Err(pause) = self.add_row(run, start) {
                self.sorter.arena().truncate(start);
                return Err(pause);
            }
            self.pending = false;
            self.rows += 1;
            run.row_done();
        }
    }

    fn add_row(&mut self, run: &Run<'p>, start: usize) -> Step<()> {
        let slots = self.input.slots();
        let env = run.env(slots);
        let arena = self.sorter.arena();
        for (key, kind) in self.keys.iter().zip(&self.kinds) {
            numbers::encode_ordered(&env, *kind, key.descending, &key.expr, arena)?;
        }
        if let Some(part) = self.part {
            arena.extend_from_slice(&part.to_be_bytes());
        }
        let key_bytes = arena.len() - start;
        row_copy::write(run, &self.sources, slots, arena);
        self.sorter.push(start, key_bytes);
        Ok(())
    }

    /// The next part of the input, which is higher than those before.
    pub fn begin_part(&mut self, part: usize, piece: Piece) {
        self.part = Some(part as u32);
        self.input.begin_part(piece);
    }

    /// Reads the part to its end. `false`: memory has been refused, or no row is needed.
    pub fn absorb_part(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if self.state == State::Start {
            self.evaluate_limit(run)?;
            self.state = State::Consume;
        }
        self.consume(run)?;
        if self.sorter.is_on_tape() || self.sorter.rows_max == Some(0) {
            return Ok(false);
        }
        if self.sorter.rows_max.is_none_or(|max| max > ROWS_OF_ONE_RUN_MAX) {
            self.end_run();
        }
        Ok(true)
    }

    fn end_run(&mut self) {
        if self.sorter.len() > 0 {
            let (run, charged) = self.sorter.take_run();
            self.runs.push(run);
            self.runs_charged += charged;
        }
    }

    /// The sorted rows of its parts, and the memory that is charged for them.
    pub fn into_runs(mut self) -> (Runs, usize) {
        self.end_run();
        (Runs { runs: self.runs, rows: self.rows }, self.runs_charged)
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        if let Some(merged) = self.merged.take() {
            merged.release(run);
        }
        if let Some(ask) = &mut self.ask {
            ask.rewind();
        }
        self.sorter.clear();
        self.state = State::Start;
        self.pending = false;
        self.input.rewind(run);
    }

    pub fn slots(&self) -> &[u8] {
        match &self.merged {
            Some(merged) => merged.row(),
            None if self.state == State::Emit => self.sorter.row(),
            None => &[],
        }
    }
}
