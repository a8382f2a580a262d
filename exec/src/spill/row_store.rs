//! Rows that are kept and read again, in order or by number: in memory, and the first ones on a tape if there are many.
//!
//! S1: no row is read while rows move to the tape; after adding a row, [`RowStore::settle`] must complete before anything else.

use super::tape::{Record, Tape, TapeCache, TapeReader};
use crate::pause::Step;
use crate::run::Run;

/// Packed rows.
#[derive(Default)]
pub(crate) struct RowStore {
    /// The first rows.
    tape: Option<Tape>,
    /// The remaining rows.
    arena: Vec<u8>,
    starts: Vec<u64>,
    /// The row in the arena that goes to the tape next.
    writing: Option<usize>,
    /// All rows of the query have been added.
    pub complete: bool,
    /// For a recursive table: the rows of the previous round.
    pub round: (usize, usize),
    /// For a recursive table with an OFFSET: only the steps read rows before this one.
    pub first: usize,
    charged: usize,
    /// The size of the arena at which its rows go to the tape, once memory has been refused.
    quota: Option<usize>,
}

impl RowStore {
    pub fn clear(&mut self) {
        self.tape = None;
        self.arena.clear();
        self.starts.clear();
        self.writing = None;
        self.complete = false;
        self.round = (0, 0);
        self.first = 0;
    }

    /// Are some of its rows in the temporary file?
    pub fn is_on_tape(&self) -> bool {
        self.tape.is_some()
    }

    /// The memory charged to [`Run`].
    pub fn charged(&self) -> usize {
        self.charged
    }

    fn on_tape(&self) -> usize {
        self.tape.as_ref().map_or(0, |tape| tape.records() as usize)
    }

    pub fn len(&self) -> usize {
        // S1
        self.on_tape() + self.starts.len()
    }

    /// Keeps a row. If the store [needs it](Self::needs_settling), [`Self::settle`] must be called before the next one.
    pub fn push(&mut self, slots: &[u8]) {
        self.starts.push(self.arena.len() as u64);
        self.arena.extend_from_slice(slots);
    }

    #[inline]
    pub fn needs_settling(&self) -> bool {
        let is_full = match self.quota {
            None => self.held() > self.charged,
            Some(quota) => self.arena.len() >= quota,
        };
        is_full || self.writing.is_some()
    }

    fn held(&self) -> usize {
        self.arena.capacity() + self.starts.capacity() * 8
    }

    /// Charges the memory of new rows, and moves rows to the tape if they do not fit.
    pub fn settle(&mut self, run: &mut Run<'_>) -> Step<()> {
        if self.writing.is_none() {
            if self.quota.is_none() {
                let grown = self.held() - self.charged;
                if run.grant(self.charged, grown) {
                    self.charged += grown;
                    return Ok(());
                }
                self.arena.shrink_to_fit();
                // One large row does not raise the limit for all others.
                let used = self.arena.len() - self.arena.len() / 8;
                self.quota = Some(used.min(self.charged.max(run.memory_max() / 64)));
            }
            if self.tape.is_none() {
                self.tape = Some(Tape::new(run.spill()?.clone()));
            }
            self.writing = Some(0);
        }
        let tape = self.tape.as_mut().expect("made before rows are written");
        while let Some(row) = self.writing.filter(|row| *row < self.starts.len()) {
            tape.settle()?;
            let end = self.starts.get(row + 1).map_or(self.arena.len(), |end| *end as usize);
            tape.push(&[&self.arena[self.starts[row] as usize..end]])?;
            self.writing = Some(row + 1);
        }
        tape.seal()?;
        self.arena.clear();
        self.arena.shrink_to(self.quota.unwrap_or(usize::MAX).saturating_mul(2));
        self.starts.clear();
        self.writing = None;
        Ok(())
    }

    /// A row by its number. Reading in order costs one lookup per row.
    pub fn row<'s>(&'s mut self, reader: &'s mut TapeReader, number: usize) -> Step<&'s [u8]> {
        let on_tape = self.on_tape();
        if number < on_tape {
            let tape = self.tape.as_mut().expect("it has records");
            reader.seek(tape, number as u64)?;
            reader.next(tape)?;
            return Ok(reader.record());
        }
        let number = number - on_tape;
        let end = self.starts.get(number + 1).map_or(self.arena.len(), |end| *end as usize);
        Ok(&self.arena[self.starts[number] as usize..end])
    }

    /// Copies a row, given by its number as for [`Self::row`]; true.
    pub fn copy(&mut self, reader: &mut TapeReader, number: usize, out: &mut Vec<u8>) -> Step<bool> {
        let row = self.row(reader, number)?;
        out.clear();
        out.extend_from_slice(row);
        Ok(true)
    }

    /// Prepares for [`Self::random`].
    pub fn wait_written(&mut self) -> Step<()> {
        self.tape.as_mut().map_or(Ok(()), Tape::wait_written)
    }

    /// A row by its number, in any order.
    #[inline]
    pub fn random<'s>(&'s self, cache: &TapeCache, number: usize) -> Step<Record<'s>> {
        match &self.tape {
            Some(tape) if number < tape.records() as usize => cache.record(tape, number as u64),
            tape => {
                let place = number - tape.as_ref().map_or(0, |tape| tape.records() as usize);
                let end = self.starts.get(place + 1).map_or(self.arena.len(), |end| *end as usize);
                Ok(Record::Memory(&self.arena[self.starts[place] as usize..end]))
            }
        }
    }
}
