//! ORDER BY: keeps all rows, or the best few of them when a LIMIT stands above.
//!
//! Each row becomes `[key][packed row]` in one arena; the key is encoded so that `memcmp` orders it. What is sorted is an array of
//! entries with the key's first eight bytes, so most comparisons touch no other memory. Rows with equal keys keep their order.
//!
//! With a limit of n rows the operator lets the arena grow to a multiple of n rows, then selects the best n and drops the others.

use super::Operator;
use super::limit::evaluate_count;
use crate::eval::Step;
use crate::keys::{self, KeyKind};
use crate::packed::{self, Packer};
use crate::run::Run;
use crate::scratch::Scratch;
use sql::plan::{LimitPlan, SortKey};

/// Never select among fewer rows than this.
const SELECT_ROWS_MIN: usize = 256;

pub(crate) struct Sort<'p> {
    input: Operator<'p>,
    keys: &'p [SortKey],
    kinds: Vec<KeyKind>,
    limit: Option<&'p LimitPlan>,
    columns: usize,
    /// Rows wanted, once the limit is known.
    rows_max: Option<usize>,
    entries: Vec<Entry>,
    arena: Vec<u8>,
    charged_bytes: usize,
    state: State,
    pending: bool,
}

/// One row in the arena.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// The key's first bytes, big-endian.
    prefix: u64,
    /// Where the key begins in the arena.
    start: u64,
    key_bytes: u32,
    row_bytes: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Consume,
    /// Emitting; the number of the next row.
    Emit(usize),
}

impl<'p> Sort<'p> {
    pub fn new(input: Operator<'p>, keys: &'p [SortKey], limit: Option<&'p LimitPlan>, columns: usize) -> Self {
        let kinds = keys.iter().map(|key| KeyKind::of_type(&key.expr.ty)).collect();
        Self {
            input,
            keys,
            kinds,
            limit,
            columns,
            rows_max: None,
            entries: Vec::new(),
            arena: Vec::new(),
            charged_bytes: 0,
            state: State::Start,
            pending: false,
        }
    }

    pub fn borrow_buffers(&mut self, scratch: &mut Scratch) {
        self.arena = std::mem::take(&mut scratch.arena);
        self.arena.clear();
        self.entries = std::mem::take(&mut scratch.entries);
        self.entries.clear();
        self.input.borrow_buffers(scratch);
    }

    pub fn return_buffers(&mut self, scratch: &mut Scratch) {
        scratch.arena = std::mem::take(&mut self.arena);
        scratch.entries = std::mem::take(&mut self.entries);
        self.input.return_buffers(scratch);
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            match self.state {
                State::Start => {
                    self.evaluate_limit(run)?;
                    self.state = State::Consume;
                }
                State::Consume => {
                    if self.rows_max != Some(0) {
                        self.consume(run)?;
                    }
                    self.sort();
                    self.state = State::Emit(0);
                }
                State::Emit(n) => {
                    let more = n < self.entries.len();
                    if more {
                        run.tick()?;
                        self.state = State::Emit(n + 1);
                    }
                    return Ok(more);
                }
            }
        }
    }

    /// The first `offset + count` rows are kept; the Limit above skips those of the offset.
    fn evaluate_limit(&mut self, run: &Run<'p>) -> Step<()> {
        let Some(limit) = self.limit else { return Ok(()) };
        let env = run.env(&[]);
        let offset = evaluate_count(&env, limit.offset.as_ref())?.unwrap_or(0);
        let clamp = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        self.rows_max = evaluate_count(&env, limit.count.as_ref())?.map(|count| clamp(offset.saturating_add(count)));
        Ok(())
    }

    fn consume(&mut self, run: &mut Run<'p>) -> Step<()> {
        loop {
            if !self.pending && !self.input.next(run)? {
                return Ok(());
            }
            self.pending = true;
            let start = self.arena.len();
            if let Err(pause) = self.add_row(run, start) {
                self.arena.truncate(start);
                return Err(pause);
            }
            self.pending = false;
            run.row_done();
            let bytes = self.arena.capacity() + self.entries.capacity() * size_of::<Entry>();
            run.charge(bytes - self.charged_bytes.min(bytes))?;
            self.charged_bytes = self.charged_bytes.max(bytes);
            if let Some(rows_max) = self.rows_max
                && self.entries.len() >= rows_max.saturating_mul(4).max(SELECT_ROWS_MIN)
            {
                self.select(rows_max);
            }
        }
    }

    fn add_row(&mut self, run: &Run<'p>, start: usize) -> Step<()> {
        let slots = self.input.slots();
        let env = run.env(slots);
        for (key, kind) in self.keys.iter().zip(&self.kinds) {
            let value = env.eval(&key.expr)?;
            keys::encode_ordered(&env, *kind, key.descending, &value, &key.expr.ty, &mut self.arena)?;
        }
        let key_bytes = self.arena.len() - start;
        let mut packer = Packer::new(&mut self.arena, self.columns);
        (0..self.columns).for_each(|n| packer.push(&packed::get(slots, n)));
        let row_bytes = self.arena.len() - start - key_bytes;
        let prefix = prefix(&self.arena[start..start + key_bytes]);
        let entry = Entry { prefix, start: start as u64, key_bytes: key_bytes as u32, row_bytes: row_bytes as u32 };
        self.entries.push(entry);
        Ok(())
    }

    /// Keeps the best `rows_max` rows and closes the gaps in the arena.
    fn select(&mut self, rows_max: usize) {
        if rows_max < self.entries.len() {
            let arena = &self.arena;
            self.entries.select_nth_unstable_by(rows_max, |a, b| compare(arena, a, b));
            self.entries.truncate(rows_max);
        }
        // In the order of the arena, so that bytes only move down.
        self.entries.sort_unstable_by_key(|entry| entry.start);
        let mut end = 0;
        for entry in &mut self.entries {
            let (start, length) = (entry.start as usize, (entry.key_bytes + entry.row_bytes) as usize);
            self.arena.copy_within(start..start + length, end);
            entry.start = end as u64;
            end += length;
        }
        self.arena.truncate(end);
    }

    fn sort(&mut self) {
        if let Some(rows_max) = self.rows_max
            && rows_max < self.entries.len()
        {
            self.select(rows_max);
        }
        let arena = &self.arena;
        self.entries.sort_unstable_by(|a, b| compare(arena, a, b));
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        self.entries.clear();
        self.arena.clear();
        self.state = State::Start;
        self.pending = false;
        self.input.rewind(run);
    }

    pub fn slots(&self) -> &[u8] {
        let State::Emit(next) = self.state else { return &[] };
        let entry = &self.entries[next - 1];
        let start = entry.start as usize + entry.key_bytes as usize;
        &self.arena[start..start + entry.row_bytes as usize]
    }
}

fn prefix(key: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = key.len().min(8);
    bytes[..length].copy_from_slice(&key[..length]);
    u64::from_be_bytes(bytes)
}

/// By key, then in the order of arrival.
fn compare(arena: &[u8], a: &Entry, b: &Entry) -> std::cmp::Ordering {
    let key = |e: &Entry| &arena[e.start as usize..e.start as usize + e.key_bytes as usize];
    a.prefix.cmp(&b.prefix).then_with(|| key(a).cmp(key(b))).then(a.start.cmp(&b.start))
}
