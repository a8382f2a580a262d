//! A set of byte strings with lookups and insertions in any order. It may be larger than memory.
//!
//! 1. Keys gather in a hash table.
//! 2. When memory is refused, they are sorted and written to a tape, a *run*; the table starts empty again.
//! 3. At regular distances a key of the run is noted, so that a lookup reads a block or two.
//! 4. A run that is not much shorter than the one before it is merged with it, so there are few runs.
//!
//! K1: no lookup or insertion happens before [`KeySet::settle`] is done.

use super::tape::{Tape, TapeCache, TapeReader};
use crate::hash::ByteMap;
use crate::pause::Step;
use crate::run::Run;
use expr::Error;

/// The distance in bytes between noted keys of a run.
const NOTE_BYTES: usize = 4 << 10;

#[derive(Default)]
pub(crate) struct KeySet {
    table: ByteMap,
    charged: usize,
    /// The size of the keys at which a run is written, once memory has been refused.
    quota: Option<usize>,
    runs: Vec<KeyRun>,
    work: Option<Work>,
}

/// The state of [`KeySet::settle`].
enum Work {
    /// Writes the table's keys in order: the position of the next one.
    Write {
        run: Box<KeyRun>,
        order: Vec<u32>,
        next: usize,
    },
    Merge(Box<Merge>),
}

/// Sorted keys on a tape.
struct KeyRun {
    tape: Tape,
    cache: TapeCache,
    /// Noted keys: their records, and their ends in `noted`.
    notes: Vec<(u64, usize)>,
    noted: Vec<u8>,
    /// Bytes since the last note.
    since: usize,
}

/// Two runs become one.
struct Merge {
    inputs: [(Tape, TapeReader, Side); 2],
    out: KeyRun,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    /// Its next key must be read.
    Wanted,
    There,
    Ended,
}

impl KeySet {
    /// True when the set has the key.
    pub fn contains(&self, key: &[u8]) -> Step<bool> {
        if self.table.find(key).is_some() {
            return Ok(true);
        }
        for run in &self.runs {
            if run.contains(key)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Adds a key without a lookup on tapes; `false` if the table has it. [`Self::settle`] must be called before anything else.
    pub fn add(&mut self, key: &[u8]) -> bool {
        self.table.insert(key).1
    }

    /// Its memory.
    pub fn memory_bytes(&self) -> usize {
        let notes = |run: &KeyRun| run.noted.capacity() + run.notes.capacity() * size_of::<(u64, usize)>();
        self.table.memory_bytes() + self.runs.iter().map(notes).sum::<usize>()
    }

    /// The memory charged to [`Run`].
    pub fn charged(&self) -> usize {
        self.charged
    }

    /// Charges the memory of new keys, and moves them to a tape if they do not fit.
    pub fn settle(&mut self, run: &mut Run<'_>) -> Step<()> {
        if self.work.is_none() {
            self.wait_written()?;
            let held = self.memory_bytes();
            let has_room = match self.quota {
                None => held <= self.charged || run.grant(self.charged, held - self.charged),
                Some(quota) => self.table.used_bytes() < quota,
            };
            if has_room {
                self.charged = self.charged.max(held);
                return Ok(());
            }
            let quota = self.charged.max(run.memory_max() / 64);
            self.quota.get_or_insert(quota);
            self.begin_run(run)?;
        }
        self.work(run)
    }

    fn begin_run(&mut self, run: &mut Run<'_>) -> Step<()> {
        let out = KeyRun::new(run)?;
        let mut order: Vec<u32> = (0..self.table.len() as u32).collect();
        order.sort_unstable_by(|a, b| self.table.key(*a as usize).cmp(self.table.key(*b as usize)));
        self.work = Some(Work::Write { run: Box::new(out), order, next: 0 });
        Ok(())
    }

    fn work(&mut self, run: &mut Run<'_>) -> Step<()> {
        while let Some(work) = &mut self.work {
            match work {
                Work::Write { run: out, order, next } => {
                    while let Some(number) = order.get(*next) {
                        out.tape.settle()?;
                        run.tick()?;
                        out.push(self.table.key(*number as usize))?;
                        *next += 1;
                    }
                    out.tape.seal()?;
                    self.table = ByteMap::default();
                }
                Work::Merge(merge) => merge.work(run)?,
            }
            let done = match self.work.take() {
                Some(Work::Write { run, .. }) => *run,
                Some(Work::Merge(merge)) => merge.out,
                None => return Ok(()),
            };
            self.place(run, done)?;
        }
        self.wait_written()
    }

    /// All runs before the last one are written completely.
    fn wait_written(&mut self) -> Step<()> {
        self.runs.last_mut().map_or(Ok(()), |last| last.tape.wait_written())
    }

    /// Appends a run to the others, or merges it with the last of them.
    fn place(&mut self, run: &mut Run<'_>, done: KeyRun) -> Step<()> {
        match self.runs.pop_if(|last| last.tape.records() < done.tape.records().saturating_mul(2)) {
            None => self.runs.push(done),
            Some(last) => {
                let inputs = [last.tape, done.tape].map(|tape| (tape, TapeReader::consuming(), Side::Wanted));
                self.work = Some(Work::Merge(Box::new(Merge { inputs, out: KeyRun::new(run)? })));
            }
        }
        Ok(())
    }
}

impl KeyRun {
    fn new(run: &mut Run<'_>) -> Result<Self, Error> {
        let (notes, noted, cache) = (Vec::new(), Vec::new(), TapeCache::default());
        Ok(Self { tape: Tape::new(run.spill()?.clone()), cache, notes, noted, since: NOTE_BYTES })
    }

    /// Appends a key that is greater than all before.
    fn push(&mut self, key: &[u8]) -> Result<(), Error> {
        if self.since >= NOTE_BYTES {
            self.since = 0;
            self.noted.extend_from_slice(key);
            self.notes.push((self.tape.records(), self.noted.len()));
        }
        self.since += key.len() + size_of::<u32>();
        self.tape.push(&[key])
    }

    fn contains(&self, key: &[u8]) -> Step<bool> {
        let noted = |place: usize| {
            let start = if place == 0 { 0 } else { self.notes[place - 1].1 };
            &self.noted[start..self.notes[place].1]
        };
        let (mut low, mut high) = (0, self.notes.len());
        while low < high {
            let middle = (low + high) / 2;
            if noted(middle) <= key { low = middle + 1 } else { high = middle }
        }
        let Some(place) = low.checked_sub(1) else { return Ok(false) };
        let end = self.notes.get(low).map_or(self.tape.records(), |note| note.0);
        for number in self.notes[place].0..end {
            let record = self.cache.record(&self.tape, number)?;
            if *record >= *key {
                return Ok(*record == *key);
            }
        }
        Ok(false)
    }
}

impl Merge {
    fn work(&mut self, run: &mut Run<'_>) -> Step<()> {
        loop {
            for (tape, reader, side) in &mut self.inputs {
                if *side == Side::Wanted {
                    *side = if reader.next(tape)? { Side::There } else { Side::Ended };
                }
            }
            self.out.tape.settle()?;
            run.tick()?;
            let [(_, left, left_side), (_, right, right_side)] = &mut self.inputs;
            let order = match (&left_side, &right_side) {
                (Side::There, Side::There) => left.record().cmp(right.record()),
                (Side::There, _) => std::cmp::Ordering::Less,
                (_, Side::There) => std::cmp::Ordering::Greater,
                _ => break,
            };
            self.out.push(if order.is_le() { left.record() } else { right.record() })?;
            if order.is_le() {
                *left_side = Side::Wanted;
            }
            if order.is_ge() {
                *right_side = Side::Wanted;
            }
        }
        Ok(self.out.tape.seal()?)
    }
}
