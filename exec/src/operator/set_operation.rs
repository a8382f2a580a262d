//! INTERSECT and EXCEPT: the right input's rows are counted in a hash table, then each left row is looked up.
//!
//! When memory is refused, the counts and all further rows of both inputs go to tapes by hash, and afterwards each pair of tapes is processed
//! in the same way. A count of 0 records that the row existed.
//!
//! S1: once rows go to tapes, no row is returned until the inputs have ended; a table that cannot grow is written to tapes completely.

use super::Operator;
use crate::hash::ByteMap;
use crate::pause::Step;
use crate::run::Run;
use crate::spill::partition_hash;
use crate::spill::partitions::{DEPTH_MAX, Partitions};
use crate::spill::tape::{Tape, TapeReader};
use expr::keys::{self, KeyKind};
use expr::packed;
use types::ColumnType;

pub(crate) struct SetOperation<'p> {
    left: Operator<'p>,
    right: Operator<'p>,
    except: bool,
    all: bool,
    kinds: Vec<(KeyKind, &'p ColumnType)>,
    rows: ByteMap,
    /// The remaining count of each right row.
    counts: Vec<u64>,
    key: Vec<u8>,
    built: bool,
    pending: bool,
    charged: usize,
    spilling: Option<Box<Spilling>>,
    /// Pairs of tapes to process later, and how often their rows have been spread.
    waiting: Vec<(Tape, Tape, u32)>,
    replay: Option<Box<Replay>>,
}

/// The tapes over which rows are being spread.
struct Spilling {
    right: Partitions,
    left: Partitions,
    /// The next row of the table to write; `None`: all are written.
    table: Option<usize>,
}

/// The tapes that are read instead of the inputs.
struct Replay {
    right: Tape,
    left: Tape,
    right_reader: TapeReader,
    left_reader: TapeReader,
    depth: u32,
}

impl<'p> SetOperation<'p> {
    pub fn new(left: Operator<'p>, right: Operator<'p>, except: bool, all: bool, types: Vec<&'p ColumnType>) -> Self {
        let kinds = types.into_iter().map(|ty| (KeyKind::of_type(ty), ty)).collect();
        Self {
            left,
            right,
            except,
            all,
            kinds,
            rows: ByteMap::default(),
            counts: Vec::new(),
            key: Vec::new(),
            built: false,
            pending: false,
            charged: 0,
            spilling: None,
            waiting: Vec::new(),
            replay: None,
        }
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            while !self.built {
                self.settle(run)?;
                match self.take_right(run)? {
                    Some(count) => self.add(run, count)?,
                    None => self.built = true,
                }
            }
            while {
                self.settle(run)?;
                self.take_left(run)?
            } {
                if let Some(spilling) = &mut self.spilling {
                    let slots = left_slots(&self.left, &self.replay);
                    let length = (self.key.len() as u32).to_le_bytes();
                    spilling.left.push(partition_hash(&self.key), &[&length, &self.key, slots])?;
                    continue;
                }
                let keep = self.judge();
                self.account(run)?;
                if keep {
                    return Ok(true);
                }
            }
            if !self.next_pair(run)? {
                return Ok(false);
            }
        }
    }

    /// The next right row's key, and its count.
    fn take_right(&mut self, run: &mut Run<'p>) -> Step<Option<u64>> {
        if let Some(replay) = &mut self.replay {
            run.tick()?;
            if !replay.right_reader.next(&mut replay.right)? {
                return Ok(None);
            }
            let record = replay.right_reader.record();
            let (count, key) = record.split_first_chunk().expect("a record begins with a count");
            self.key.clear();
            self.key.extend_from_slice(key);
            return Ok(Some(u64::from_le_bytes(*count)));
        }
        if !self.pending && !self.right.next(run)? {
            return Ok(None);
        }
        self.pending = true;
        encode(run, &self.kinds, self.right.slots(), &mut self.key)?;
        self.pending = false;
        Ok(Some(1))
    }

    fn add(&mut self, run: &mut Run<'p>, count: u64) -> Step<()> {
        if let Some(spilling) = &mut self.spilling {
            spilling.right.push(partition_hash(&self.key), &[&count.to_le_bytes(), &self.key])?;
            return Ok(());
        }
        match self.rows.insert(&self.key) {
            (_, true) => self.counts.push(count),
            (number, false) => self.counts[number] += count,
        }
        self.account(run)
    }

    /// The next left row and its key.
    fn take_left(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if let Some(replay) = &mut self.replay {
            run.tick()?;
            if !replay.left_reader.next(&mut replay.left)? {
                return Ok(false);
            }
            self.key.clear();
            self.key.extend_from_slice(split(replay.left_reader.record()).0);
            return Ok(true);
        }
        if !self.pending && !self.left.next(run)? {
            return Ok(false);
        }
        self.pending = true;
        encode(run, &self.kinds, self.left.slots(), &mut self.key)?;
        self.pending = false;
        Ok(true)
    }

    /// Is the left row with the current key part of the result?
    fn judge(&mut self) -> bool {
        let found = self.rows.find(&self.key);
        let there = found.filter(|number| self.counts[*number] > 0);
        match (self.except, self.all) {
            (true, true) => match there {
                Some(number) => {
                    self.counts[number] -= 1;
                    false
                }
                None => true,
            },
            (true, false) => match found {
                Some(_) => false,
                None => {
                    // Once.
                    self.rows.insert(&self.key);
                    self.counts.push(1);
                    true
                }
            },
            (false, all) => match there {
                Some(number) => {
                    self.counts[number] = if all { self.counts[number] - 1 } else { 0 };
                    true
                }
                None => false,
            },
        }
    }

    /// Asks for memory after the table has grown.
    fn account(&mut self, run: &mut Run<'p>) -> Step<()> {
        let bytes = self.rows.memory_bytes() + self.counts.capacity() * 8;
        let grown = bytes.saturating_sub(self.charged);
        if grown == 0 {
            return Ok(());
        }
        let depth = self.replay.as_ref().map_or(0, |replay| replay.depth);
        if run.grant(self.charged, grown) {
            self.charged = bytes;
        } else if depth >= DEPTH_MAX {
            // No bits of the hash are left to spread by: the rest stays in a table.
            self.charged = bytes;
            run.charge(grown)?;
        } else {
            let (right, left) = (Partitions::new(run, depth)?, Partitions::new(run, depth)?);
            self.spilling = Some(Box::new(Spilling { right, left, table: Some(0) }));
        }
        Ok(())
    }

    /// While rows are being spread: writes the table to tapes, and waits if many writes are pending.
    fn settle(&mut self, run: &mut Run<'p>) -> Step<()> {
        let Some(spilling) = &mut self.spilling else { return Ok(()) };
        spilling.left.settle()?;
        spilling.right.settle()?;
        while let Some(number) = spilling.table {
            let Some(count) = self.counts.get(number) else {
                spilling.table = None;
                self.rows = ByteMap::default();
                self.counts = Vec::new();
                run.release(std::mem::take(&mut self.charged));
                break;
            };
            let key = self.rows.key(number);
            spilling.right.push(partition_hash(key), &[&count.to_le_bytes(), key])?;
            spilling.table = Some(number + 1);
            spilling.right.settle()?;
            run.tick()?;
        }
        Ok(())
    }

    /// Starts with the next pair of tapes; `false`: there is none.
    fn next_pair(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if let Some(spilling) = self.spilling.take() {
            let depth = spilling.left.depth() + 1;
            let Spilling { left, right, .. } = *spilling;
            let pairs = left.finish()?.into_iter().zip(right.finish()?).rev();
            // Without left rows there is no result.
            self.waiting.extend(pairs.filter(|(left, _)| left.records() > 0).map(|(left, right)| (left, right, depth)));
        }
        run.release(std::mem::take(&mut self.charged));
        self.rows = ByteMap::default();
        self.counts = Vec::new();
        self.replay = self.waiting.pop().map(|(left, right, depth)| {
            let (left_reader, right_reader) = (TapeReader::consuming(), TapeReader::consuming());
            Box::new(Replay { right, left, right_reader, left_reader, depth })
        });
        self.built = self.replay.is_none();
        Ok(self.replay.is_some())
    }

    pub fn slots(&self) -> &[u8] {
        left_slots(&self.left, &self.replay)
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        run.release(std::mem::take(&mut self.charged));
        self.rows = ByteMap::default();
        self.counts = Vec::new();
        self.built = false;
        self.pending = false;
        self.spilling = None;
        self.waiting.clear();
        self.replay = None;
        self.left.rewind(run);
        self.right.rewind(run);
    }
}

/// The current left row.
fn left_slots<'s>(left: &'s Operator<'_>, replay: &'s Option<Box<Replay>>) -> &'s [u8] {
    match replay {
        Some(replay) => split(replay.left_reader.record()).1,
        None => left.slots(),
    }
}

/// The key and the slots of a left row's record.
fn split(record: &[u8]) -> (&[u8], &[u8]) {
    let (length, rest) = record.split_first_chunk().expect("a record begins with its key's length");
    rest.split_at(u32::from_le_bytes(*length) as usize)
}

fn encode(run: &Run<'_>, kinds: &[(KeyKind, &ColumnType)], slots: &[u8], key: &mut Vec<u8>) -> Step<()> {
    key.clear();
    let env = run.env(slots);
    for (index, (kind, ty)) in kinds.iter().enumerate() {
        keys::encode(&env, *kind, &packed::get(slots, index), ty, key)?;
    }
    Ok(())
}
