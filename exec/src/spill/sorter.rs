//! Sorts rows by encoded keys: in memory, and with runs on tapes if there are many.
//!
//! 1. Rows gather in one arena as `[key][row]`; the sort moves entries with the key's first eight bytes, so most
//!    comparisons read no other memory. With a limit of n rows the arena grows to a multiple of n rows, then only the first n are kept.
//! 2. When memory is refused, the gathered rows are sorted and written as a run, and gathering starts again.
//! 3. If there are more runs than can be read at once, neighbouring runs are merged until there are few enough.
//! 4. The last merge returns the rows: a heap of the runs' current rows, compared like entries.
//!
//! M1: rows with equal keys keep the order in which they were added: within a run by position, between runs by the runs' order.
//! M2: each step may pause and is called again; rows are added only after [`Sorter::settle`] is done.

use super::merged::SortedRun;
use super::tape::{Tape, TapeReader};
use crate::pause::Step;
use crate::run::Run;
use std::cmp::Ordering;

/// The least number of rows among which the first are selected.
const SELECT_ROWS_MIN: usize = 256;
/// How far ahead rows in memory are asked for, and how much of each.
const PREFETCH_ROWS: usize = 8;
const PREFETCH_LINES: usize = 2;
const LINE_BYTES: usize = 64;
/// The most runs that are merged at once; fewer with little memory.
const FAN_IN_MAX: usize = 64;

#[derive(Default)]
pub(crate) struct Sorter {
    entries: Vec<Entry>,
    arena: Vec<u8>,
    /// The number of first rows that are needed.
    pub rows_max: Option<usize>,
    charged: usize,
    /// The size at which a run is written, once memory has been refused.
    quota: Option<usize>,
    /// The run that is being written, and its next row.
    writing: Option<(Tape, usize)>,
    runs: Vec<Tape>,
    merging: Option<Box<Merging>>,
    phase: Phase,
}

/// One row in the arena.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    /// The key's first bytes, big-endian.
    pub(super) prefix: u64,
    /// The start of the key in the arena.
    start: u64,
    key_bytes: u32,
    row_bytes: u32,
}

impl Entry {
    /// Its key and its row.
    #[inline]
    pub(super) fn split<'a>(&self, arena: &'a [u8]) -> (&'a [u8], &'a [u8]) {
        let (start, key_bytes) = (self.start as usize, self.key_bytes as usize);
        arena[start..start + key_bytes + self.row_bytes as usize].split_at(key_bytes)
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Gather,
    /// Runs are merged into fewer ones.
    Merge,
    /// Returns rows from memory; the number of the next one.
    Memory(usize),
    /// Returns rows of the last merge; the number of remaining rows.
    Tapes(usize),
}

impl Sorter {
    /// Returns only this number of first rows.
    pub fn of_first(rows_max: usize) -> Self {
        Self { rows_max: Some(rows_max), ..Self::default() }
    }

    pub fn borrow_buffers(&mut self, arena: &mut Vec<u8>, entries: &mut Vec<Entry>) {
        self.arena = std::mem::take(arena);
        self.arena.clear();
        self.entries = std::mem::take(entries);
        self.entries.clear();
    }

    pub fn return_buffers(&mut self, arena: &mut Vec<u8>, entries: &mut Vec<Entry>) {
        *arena = std::mem::take(&mut self.arena);
        *entries = std::mem::take(&mut self.entries);
    }

    /// The arena to which a row's key and then the row are appended, for [`Self::push`].
    #[inline]
    pub fn arena(&mut self) -> &mut Vec<u8> {
        &mut self.arena
    }

    /// Adds the row that was appended to the arena from `start`, with the length of its key.
    #[inline]
    pub fn push(&mut self, start: usize, key_bytes: usize) {
        let prefix = prefix(&self.arena[start..start + key_bytes]);
        let row_bytes = self.arena.len() - start - key_bytes;
        self.entries.push(Entry { prefix, start: start as u64, key_bytes: key_bytes as u32, row_bytes: row_bytes as u32 });
    }

    fn used(&self) -> usize {
        self.arena.len() + self.entries.len() * size_of::<Entry>()
    }

    /// Charges the memory of new rows; writes a run if it is refused.
    #[inline]
    pub fn settle(&mut self, run: &mut Run<'_>) -> Step<()> {
        if self.writing.is_some() {
            return self.write_run(run);
        }
        if let Some(rows_max) = self.rows_max
            && self.entries.len() >= rows_max.saturating_mul(4).max(SELECT_ROWS_MIN)
        {
            self.select(rows_max);
        }
        let held = self.arena.capacity() + self.entries.capacity() * size_of::<Entry>();
        let has_room = match self.quota {
            None => held <= self.charged,
            Some(quota) => self.used() < quota,
        };
        if has_room { Ok(()) } else { self.make_room(run, held) }
    }

    #[cold]
    fn make_room(&mut self, run: &mut Run<'_>, held: usize) -> Step<()> {
        if self.quota.is_none() && run.grant(self.charged, held - self.charged) {
            self.charged = held;
            return Ok(());
        }
        self.arena.shrink_to_fit();
        // One large row does not make all runs large.
        let used = self.used();
        let quota = (used - used / 8).min(self.charged.max(run.memory_max() / 64));
        let quota = *self.quota.get_or_insert(quota);
        if let Some(rows_max) = self.rows_max
            && rows_max < self.entries.len()
        {
            self.select(rows_max);
            if self.used() < quota / 2 {
                return Ok(());
            }
        }
        self.begin_run(run)?;
        self.write_run(run)
    }

    fn begin_run(&mut self, run: &mut Run<'_>) -> Step<()> {
        let tape = Tape::new(run.spill()?.clone());
        self.sort();
        self.writing = Some((tape, 0));
        Ok(())
    }

    fn write_run(&mut self, run: &mut Run<'_>) -> Step<()> {
        let Some((tape, next)) = &mut self.writing else { return Ok(()) };
        while let Some(entry) = self.entries.get(*next) {
            tape.settle()?;
            run.tick()?;
            let start = entry.start as usize;
            let end = start + (entry.key_bytes + entry.row_bytes) as usize;
            tape.push(&[&entry.key_bytes.to_le_bytes(), &self.arena[start..end]])?;
            *next += 1;
        }
        tape.seal()?;
        let (tape, _) = self.writing.take().expect("there, since its rows were written");
        self.runs.push(tape);
        self.entries.clear();
        self.arena.clear();
        self.arena.shrink_to(self.quota.unwrap_or(usize::MAX).saturating_mul(2));
        Ok(())
    }

    /// Called after the last row: prepares to return the rows.
    pub fn finish(&mut self, run: &mut Run<'_>) -> Step<()> {
        if self.phase == Phase::Gather {
            self.write_run(run)?;
            if self.runs.is_empty() {
                self.sort();
                self.phase = Phase::Memory(0);
                return Ok(());
            }
            if !self.entries.is_empty() {
                self.begin_run(run)?;
                self.write_run(run)?;
            }
            (self.arena, self.entries) = (Vec::new(), Vec::new());
            run.release(std::mem::take(&mut self.charged));
            self.phase = Phase::Merge;
        }
        while self.phase == Phase::Merge {
            self.merge_pass(run)?;
        }
        Ok(())
    }

    /// Merges runs until there are few enough; then opens the last merge.
    fn merge_pass(&mut self, run: &mut Run<'_>) -> Step<()> {
        let fan_in = (run.memory_max() / 4 / run.spill()?.block_bytes / 2).clamp(2, FAN_IN_MAX);
        if self.merging.is_none() {
            run.spill()?.count_merge_pass();
            if self.runs.len() <= fan_in {
                let merge = Merge::new(std::mem::take(&mut self.runs));
                self.merging = Some(Box::new(Merging { merge, out: None, merged: Vec::new() }));
                self.phase = Phase::Tapes(0);
                return Ok(());
            }
            let merge = Merge::new(self.runs.drain(..fan_in).collect());
            let out = Tape::new(run.spill()?.clone());
            self.merging = Some(Box::new(Merging { merge, out: Some(out), merged: Vec::new() }));
        }
        let merging = self.merging.as_mut().expect("made above");
        loop {
            merging.merge_to_end(run, self.rows_max)?;
            // M1: the next neighbours.
            let next: Vec<Tape> = self.runs.drain(..fan_in.min(self.runs.len())).collect();
            if next.is_empty() {
                break;
            }
            merging.merge = Merge::new(next);
            merging.out = Some(Tape::new(run.spill()?.clone()));
        }
        self.runs = std::mem::take(&mut merging.merged);
        self.merging = None;
        Ok(())
    }

    /// Moves to the next row in order; `false` after the last one.
    pub fn next(&mut self, run: &mut Run<'_>) -> Step<bool> {
        match self.phase {
            Phase::Memory(n) if n < self.entries.len() => {
                run.tick()?;
                self.phase = Phase::Memory(n + 1);
                self.prefetch(n + PREFETCH_ROWS);
                Ok(true)
            }
            Phase::Tapes(n) if self.rows_max.is_none_or(|max| n < max) => {
                run.tick()?;
                let merging = self.merging.as_mut().expect("opened by `finish`");
                let more = merging.merge.next()?;
                self.phase = Phase::Tapes(n + usize::from(more));
                Ok(more)
            }
            _ => Ok(false),
        }
    }

    /// Asks for a row that comes soon: rows lie in the order in which they were added.
    #[inline]
    fn prefetch(&self, number: usize) {
        if let Some(entry) = self.entries.get(number) {
            prefetch(entry.split(&self.arena).1);
        }
    }

    /// The current row, without its key.
    pub fn row(&self) -> &[u8] {
        self.split().1
    }

    /// The current row's key.
    pub fn key(&self) -> &[u8] {
        self.split().0
    }

    fn split(&self) -> (&[u8], &[u8]) {
        match (self.phase, &self.merging) {
            (Phase::Memory(next), _) if next > 0 => {
                let entry = &self.entries[next - 1];
                let (start, key_bytes) = (entry.start as usize, entry.key_bytes as usize);
                self.arena[start..start + key_bytes + entry.row_bytes as usize].split_at(key_bytes)
            }
            (Phase::Tapes(_), Some(merging)) => merging.merge.split(),
            _ => (&[], &[]),
        }
    }

    /// The number of rows in memory.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Have rows gone to the temporary file, or are they about to?
    pub fn is_on_tape(&self) -> bool {
        !self.runs.is_empty() || self.writing.is_some()
    }

    /// Sorts the rows in memory and gives them away, with the memory that is charged for them; goes on with none. Not once rows
    /// [are on a tape](Self::is_on_tape).
    pub fn take_run(&mut self) -> (SortedRun, usize) {
        self.sort();
        let room = |held: usize| held + held / 8;
        let (entries, arena) = (Vec::with_capacity(room(self.entries.len())), Vec::with_capacity(room(self.arena.len())));
        let run = SortedRun {
            entries: std::mem::replace(&mut self.entries, entries),
            arena: std::mem::replace(&mut self.arena, arena),
        };
        (run, std::mem::take(&mut self.charged))
    }

    /// Drops all rows and keeps the memory.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.arena.clear();
        self.writing = None;
        self.runs.clear();
        self.merging = None;
        self.quota = None;
        self.phase = Phase::Gather;
    }

    /// Drops all rows and frees the memory.
    pub fn release(&mut self, run: &mut Run<'_>) {
        run.release(self.charged);
        *self = Self { rows_max: self.rows_max, ..Self::default() };
    }

    /// Keeps the first `rows_max` rows in the order and closes the gaps in the arena.
    fn select(&mut self, rows_max: usize) {
        if rows_max < self.entries.len() {
            let arena = &self.arena;
            self.entries.select_nth_unstable_by(rows_max, |a, b| compare(arena, a, b));
            self.entries.truncate(rows_max);
        }
        // In arena order, so that bytes only move to lower addresses.
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
}

/// Asks for the beginning of a row that is read soon.
#[inline]
pub(super) fn prefetch(row: &[u8]) {
    row.iter().step_by(LINE_BYTES).take(PREFETCH_LINES).for_each(sync::prefetch);
}

fn prefix(key: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let length = key.len().min(8);
    bytes[..length].copy_from_slice(&key[..length]);
    u64::from_be_bytes(bytes)
}

/// By key, then in the order of arrival.
fn compare(arena: &[u8], a: &Entry, b: &Entry) -> Ordering {
    let key = |e: &Entry| &arena[e.start as usize..e.start as usize + e.key_bytes as usize];
    a.prefix.cmp(&b.prefix).then_with(|| key(a).cmp(key(b))).then(a.start.cmp(&b.start))
}

/// A merge, and the target of its rows.
struct Merging {
    merge: Merge,
    /// `None`: the rows are returned.
    out: Option<Tape>,
    /// Longer runs of this pass.
    merged: Vec<Tape>,
}

impl Merging {
    fn merge_to_end(&mut self, run: &mut Run<'_>, rows_max: Option<usize>) -> Step<()> {
        let Some(out) = &mut self.out else { return Ok(()) };
        while rows_max.is_none_or(|max| (out.records() as usize) < max) {
            out.settle()?;
            run.tick()?;
            if !self.merge.next()? {
                break;
            }
            out.push(&[self.merge.record()])?;
        }
        out.seal()?;
        self.merged.extend(self.out.take());
        Ok(())
    }
}

/// Runs that are read in parallel, ordered by their current rows.
struct Merge {
    inputs: Vec<Input>,
    /// Inputs that have a row, as a heap.
    heap: Vec<usize>,
    /// The number of inputs whose first row has been read.
    primed: usize,
    /// The row of the heap's first input has been returned.
    taken: bool,
}

struct Input {
    tape: Tape,
    reader: TapeReader,
    prefix: u64,
}

impl Input {
    fn advance(&mut self) -> Step<bool> {
        let more = self.reader.next(&mut self.tape)?;
        if more {
            self.prefix = prefix(self.key());
        }
        Ok(more)
    }

    fn split(&self) -> (&[u8], &[u8]) {
        let (length, rest) = self.reader.record().split_first_chunk().expect("a record of a run begins with its key's length");
        rest.split_at(u32::from_le_bytes(*length) as usize)
    }

    fn key(&self) -> &[u8] {
        self.split().0
    }
}

impl Merge {
    fn new(tapes: Vec<Tape>) -> Self {
        let input = |tape| Input { tape, reader: TapeReader::consuming(), prefix: 0 };
        Self { inputs: tapes.into_iter().map(input).collect(), heap: Vec::new(), primed: 0, taken: false }
    }

    fn next(&mut self) -> Step<bool> {
        while let Some(input) = self.inputs.get_mut(self.primed) {
            if input.advance()? {
                self.heap.push(self.primed);
            }
            self.primed += 1;
            if self.primed == self.inputs.len() {
                (0..self.heap.len() / 2).rev().for_each(|place| self.sift_down(place));
            }
        }
        if self.taken {
            if !self.inputs[self.heap[0]].advance()? {
                self.heap.swap_remove(0);
            }
            self.taken = false;
            self.sift_down(0);
        }
        self.taken = !self.heap.is_empty();
        Ok(self.taken)
    }

    /// The least row with its key.
    fn record(&self) -> &[u8] {
        self.inputs[self.heap[0]].reader.record()
    }

    /// Its key and its row.
    fn split(&self) -> (&[u8], &[u8]) {
        self.heap.first().map_or((&[], &[]), |first| self.inputs[*first].split())
    }

    fn is_before(&self, a: usize, b: usize) -> bool {
        let (left, right) = (&self.inputs[a], &self.inputs[b]);
        // M1
        left.prefix.cmp(&right.prefix).then_with(|| left.key().cmp(right.key())).then(a.cmp(&b)).is_lt()
    }

    fn sift_down(&mut self, mut place: usize) {
        loop {
            let mut least = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < self.heap.len() && self.is_before(self.heap[child], self.heap[least]) {
                    least = child;
                }
            }
            if least == place {
                return;
            }
            self.heap.swap(place, least);
            place = least;
        }
    }
}
