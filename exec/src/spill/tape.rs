//! Tapes: sequences of records in blocks of a statement's temporary file.
//!
//! A record is a length (`u32`) and its bytes; it may span several blocks. A block is written when it is full, the last one when the
//! tape is [sealed](Tape::seal). Reading starts at the beginning or at any record; one block is read ahead.
//!
//! [`TapeCache`] reads records by number, and keeps a few blocks.
//!
//! P1: reading starts after the tape has been sealed, and waits until its blocks are written. P2: a consuming reader releases the
//! space of the blocks that it has read, so the tape can have only one reader.

use crate::pause::{Pause, Step};
use crate::temporary::{HEADER_BYTES, Spill, SpillWait, Ticket};
use expr::Error;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

/// The most pending writes of one tape before its writer waits.
const UNDER_WAY_MAX: usize = 2;
const LENGTH_BYTES: usize = 4;

pub(crate) struct Tape {
    spill: Rc<Spill>,
    blocks: Vec<Block>,
    /// The block that is being filled, with space for its header; empty between blocks.
    tail: Vec<u8>,
    /// The first record that begins in it, and its position.
    tail_first: Option<(u64, u32)>,
    writing: VecDeque<Arc<Ticket>>,
    records: u64,
    /// Blocks that have been read for the last time (P2).
    freed: usize,
}

#[derive(Clone, Copy)]
struct Block {
    place: u64,
    bytes: u32,
    /// The first record that begins in the block, and its position. 0: none begins here; the block belongs to this record or an earlier one.
    first: u64,
    first_at: u32,
}

impl Drop for Tape {
    fn drop(&mut self) {
        // T3: blocks that are being written keep their space.
        let written = self.blocks.len() - self.writing.len();
        for block in self.blocks.get(self.freed..written).unwrap_or_default() {
            self.spill.free(block.place);
        }
    }
}

impl Tape {
    pub fn new(spill: Rc<Spill>) -> Self {
        let (blocks, tail, writing) = (Vec::new(), Vec::new(), VecDeque::new());
        Self { spill, blocks, tail, tail_first: None, writing, records: 0, freed: 0 }
    }

    pub fn records(&self) -> u64 {
        self.records
    }

    /// Appends a record, given in parts. Never waits; see [`Self::settle`].
    pub fn push(&mut self, parts: &[&[u8]]) -> Result<(), Error> {
        let bytes: usize = parts.iter().map(|part| part.len()).sum();
        let length = u32::try_from(bytes).map_err(|_| Error::Storage("a row is too large for a temporary file".into()))?;
        // A length never spans two blocks.
        if self.tail.len() + LENGTH_BYTES > self.spill.block_bytes {
            self.write_tail()?;
        }
        self.begin_tail();
        if self.tail_first.is_none() {
            self.tail_first = Some((self.records, self.tail.len() as u32));
        }
        self.tail.extend_from_slice(&length.to_le_bytes());
        for part in parts {
            let mut rest = *part;
            while !rest.is_empty() {
                let room = self.spill.block_bytes - self.tail.len();
                let (now, later) = rest.split_at(room.min(rest.len()));
                self.tail.extend_from_slice(now);
                rest = later;
                if !rest.is_empty() {
                    self.write_tail()?;
                    self.begin_tail();
                }
            }
        }
        self.records += 1;
        Ok(())
    }

    fn begin_tail(&mut self) {
        if self.tail.is_empty() {
            self.tail.reserve_exact(self.spill.block_bytes);
            self.tail.resize(HEADER_BYTES, 0);
        }
    }

    fn write_tail(&mut self) -> Result<(), Error> {
        if self.tail.is_empty() {
            return Ok(());
        }
        let place = self.spill.place()?;
        let block = std::mem::take(&mut self.tail);
        let (first, first_at) = self.tail_first.take().unwrap_or((self.records, 0));
        let number = self.blocks.len() as u32;
        self.blocks.push(Block { place, bytes: block.len() as u32, first, first_at });
        self.writing.push_back(self.spill.write(place, number, block));
        Ok(())
    }

    /// Waits while many writes are pending; returns errors of failed ones.
    pub fn settle(&mut self) -> Step<()> {
        self.wait_for_all_but(UNDER_WAY_MAX)
    }

    /// Writes the last block. More may be pushed afterwards.
    pub fn seal(&mut self) -> Result<(), Error> {
        self.write_tail()
    }

    /// Waits until all blocks are written, for a [`TapeCache`].
    pub fn wait_written(&mut self) -> Step<()> {
        self.wait_for_all_but(0)
    }

    fn wait_for_all_but(&mut self, left: usize) -> Step<()> {
        while let Some(first) = self.writing.front() {
            match first.take() {
                Some(outcome) => {
                    outcome.map_err(Error::from)?;
                    self.writing.pop_front();
                }
                None if self.writing.len() > left => return Err(Pause::Spill(SpillWait(first.clone()))),
                None => break,
            }
        }
        Ok(())
    }

    /// Asks for a block (P1).
    fn load(&mut self, number: usize) -> Step<Arc<Ticket>> {
        self.wait_for_all_but(0)?;
        Ok(self.read(number))
    }

    fn read(&self, number: usize) -> Arc<Ticket> {
        let block = &self.blocks[number];
        self.spill.read(block.place, number as u32, block.bytes as usize)
    }

    fn free_block(&mut self, number: usize) {
        self.spill.free(self.blocks[number].place);
        self.freed = number + 1;
    }

    /// The block in which a record begins.
    fn block_of(&self, record: u64) -> usize {
        let behind = self.blocks.partition_point(|block| block.first <= record);
        self.blocks[..behind].iter().rposition(|block| block.first_at > 0).unwrap_or(0)
    }
}

/// Reads a tape.
#[derive(Default)]
pub(crate) struct TapeReader {
    /// The block that is needed or has been read.
    block: usize,
    data: Option<Vec<u8>>,
    at: usize,
    loading: Option<Arc<Ticket>>,
    /// The next block, which is being read.
    ahead: Option<Arc<Ticket>>,
    /// The number of the next record.
    next: u64,
    /// A record that spans blocks, and the number of its missing bytes.
    missing: Option<usize>,
    record: Vec<u8>,
    /// The current record's span, if it is in one block.
    within: Option<(usize, usize)>,
    consumes: bool,
}

impl TapeReader {
    /// From the start.
    pub fn new() -> Self {
        Self::default()
    }

    /// From the start, once: releases the space of what has been read (P2).
    pub fn consuming() -> Self {
        Self { consumes: true, ..Self::default() }
    }

    /// The current record.
    pub fn record(&self) -> &[u8] {
        match (self.within, &self.data) {
            (Some((start, end)), Some(data)) => &data[start..end],
            _ => &self.record,
        }
    }

    /// Moves before a record of a tape that it does not consume; [`Self::next`] returns the record.
    pub fn seek(&mut self, tape: &mut Tape, record: u64) -> Step<()> {
        if record == self.next {
            return Ok(());
        }
        if record < self.next || tape.block_of(record) > self.block {
            let block = tape.block_of(record);
            if block != self.block || self.data.is_none() {
                self.block = block;
                self.data = None;
                self.loading = None;
                self.ahead = None;
            }
            let Block { first, first_at, .. } = tape.blocks[block];
            (self.next, self.at) = (first, first_at as usize);
            (self.missing, self.within) = (None, None);
        }
        while self.next < record {
            if !self.next(tape)? {
                break;
            }
        }
        Ok(())
    }

    /// Moves to the next record; `false` after the last one.
    pub fn next(&mut self, tape: &mut Tape) -> Step<bool> {
        self.within = None;
        if self.missing.is_none() {
            if self.next >= tape.records {
                self.finish(tape);
                return Ok(false);
            }
            if !self.begin_record(tape)? {
                return Ok(false);
            }
        }
        while let Some(missing) = self.missing {
            self.be_in_block(tape)?;
            let data = self.data.as_ref().expect("there, since be_in_block answered");
            let now = missing.min(data.len() - self.at);
            if self.record.is_empty() && now == missing {
                self.within = Some((self.at, self.at + now));
            } else {
                self.record.extend_from_slice(&data[self.at..self.at + now]);
            }
            self.at += now;
            self.missing = Some(missing - now).filter(|missing| *missing > 0);
        }
        self.next += 1;
        Ok(true)
    }

    /// Reads a record's length.
    fn begin_record(&mut self, tape: &mut Tape) -> Step<bool> {
        self.be_in_block(tape)?;
        let data = self.data.as_ref().expect("there, since be_in_block answered");
        let length = length_at(data, self.at)?;
        self.at += LENGTH_BYTES;
        self.record.clear();
        if length == 0 {
            self.within = Some((self.at, self.at));
        } else {
            self.missing = Some(length);
        }
        Ok(true)
    }

    /// Makes sure that the current block has been read and has unread bytes.
    fn be_in_block(&mut self, tape: &mut Tape) -> Step<()> {
        loop {
            if let Some(data) = &self.data {
                // No record begins where a length does not fit.
                let least = if self.missing.is_some() { 1 } else { LENGTH_BYTES };
                if self.at + least <= data.len() {
                    return Ok(());
                }
                self.data = None;
                if self.consumes {
                    tape.free_block(self.block);
                }
                self.block += 1;
                self.at = HEADER_BYTES;
                self.loading = self.ahead.take();
            }
            if self.block >= tape.blocks.len() {
                return Err(lost().into());
            }
            let loading = match &self.loading {
                Some(loading) => loading.clone(),
                None => self.loading.insert(tape.load(self.block)?).clone(),
            };
            match loading.take() {
                Some(outcome) => {
                    self.loading = None;
                    self.data = Some(outcome.map_err(Error::from)?);
                    self.at = self.at.max(HEADER_BYTES);
                    if self.ahead.is_none() && self.block + 1 < tape.blocks.len() {
                        self.ahead = Some(tape.load(self.block + 1)?);
                    }
                }
                None => return Err(Pause::Spill(SpillWait(loading))),
            }
        }
    }

    /// P2: releases the rest after the last record.
    fn finish(&mut self, tape: &mut Tape) {
        if self.consumes && self.data.take().is_some() {
            tape.free_block(self.block);
            self.block += 1;
        }
    }
}

/// The blocks that a [`TapeCache`] keeps: more than a binary search over any tape reads.
const CACHED_BLOCKS: usize = 24;

/// Reads records of a tape by number, after [`Tape::wait_written`]. Recently used blocks are kept, so that a step that reads several
/// records, and is repeated for each missing block, completes.
#[derive(Default)]
pub(crate) struct TapeCache {
    /// The one used last is first.
    blocks: RefCell<Vec<(usize, Rc<Vec<u8>>)>>,
    loading: RefCell<Option<(usize, Arc<Ticket>)>>,
    /// A record, its block, and its position in the block: a shortcut to the next record.
    last: Cell<(u64, usize, usize)>,
}

/// A record in memory.
pub(crate) enum Record<'s> {
    Memory(&'s [u8]),
    Block(Rc<Vec<u8>>, usize, usize),
    Whole(Vec<u8>),
}

impl std::ops::Deref for Record<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Record::Memory(bytes) => bytes,
            Record::Block(block, start, end) => &block[*start..*end],
            Record::Whole(bytes) => bytes,
        }
    }
}

impl TapeCache {
    /// The record with this number, which must exist.
    pub fn record(&self, tape: &Tape, number: u64) -> Step<Record<'static>> {
        let block = tape.block_of(number);
        let data = self.block(tape, block, CACHED_BLOCKS)?;
        let last = self.last.get();
        let (mut next, mut at) = if last.1 == block && last.0 <= number && last.2 > 0 {
            (last.0, last.2)
        } else {
            (tape.blocks[block].first, tape.blocks[block].first_at as usize)
        };
        while next < number {
            at += LENGTH_BYTES + length_at(&data, at)?;
            next += 1;
        }
        let length = length_at(&data, at)?;
        self.last.set((number, block, at));
        let start = at + LENGTH_BYTES;
        if start + length <= data.len() {
            return Ok(Record::Block(data, start, start + length));
        }
        self.whole(tape, block, &data[start..], length)
    }

    /// A record that spans several blocks.
    fn whole(&self, tape: &Tape, block: usize, beginning: &[u8], length: usize) -> Step<Record<'static>> {
        let wanted = CACHED_BLOCKS + length / (tape.spill.block_bytes - HEADER_BYTES) + 2;
        let mut record = Vec::with_capacity(length);
        record.extend_from_slice(beginning);
        let mut next = block + 1;
        while record.len() < length && next < tape.blocks.len() {
            let data = self.block(tape, next, wanted)?;
            let part = &data[HEADER_BYTES..];
            record.extend_from_slice(&part[..part.len().min(length - record.len())]);
            next += 1;
        }
        if record.len() < length { Err(lost().into()) } else { Ok(Record::Whole(record)) }
    }

    /// A block; `kept`: the number of other blocks that are kept.
    fn block(&self, tape: &Tape, number: usize, kept: usize) -> Step<Rc<Vec<u8>>> {
        let mut blocks = self.blocks.borrow_mut();
        if let Some(place) = blocks.iter().position(|(block, _)| *block == number) {
            blocks[..=place].rotate_right(1);
            return Ok(blocks[0].1.clone());
        }
        if number >= tape.blocks.len() {
            return Err(lost().into());
        }
        let mut loading = self.loading.borrow_mut();
        let ticket = match &*loading {
            Some((block, ticket)) if *block == number => ticket.clone(),
            _ => loading.insert((number, tape.read(number))).1.clone(),
        };
        let Some(outcome) = ticket.take() else { return Err(Pause::Spill(SpillWait(ticket))) };
        *loading = None;
        let data = Rc::new(outcome.map_err(Error::from)?);
        blocks.insert(0, (number, data.clone()));
        blocks.truncate(kept.max(1));
        Ok(data)
    }
}

fn length_at(data: &[u8], at: usize) -> Result<usize, Error> {
    let bytes = data.get(at..at + LENGTH_BYTES).ok_or_else(lost)?;
    Ok(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize)
}

fn lost() -> Error {
    Error::Storage("a temporary file has lost a record".into())
}
