//! The join on tapes.
//!
//! ```text
//! right record:  key length (u32), key, row
//! left record:   has matched (u8), place in the input (u64, big-endian), key length (u32), key, row
//! ```

use super::table::END;
use super::{HashJoin, State, own};
use crate::pause::Step;
use crate::run::Run;
use crate::spill::partitions::Partitions;
use crate::spill::sorter::Sorter;
use crate::spill::tape::{Tape, TapeReader};
use crate::spill::{partition_hash, row_copy};
use sql::plan::JoinKind;
use std::sync::Arc;

/// The most times that rows are spread: after that, few keys remain, each with many rows, and pieces are better.
const DEPTH_MAX: u32 = 3;
const PLACE_AT: usize = 1;
const KEY_LENGTH_AT: usize = 9;

#[derive(Default)]
pub(super) struct Spilled {
    /// The tapes over which rows are being spread.
    spreading: Option<Spreading>,
    /// Pairs of tapes (left, right) to join later, and how often their rows have been spread.
    waiting: Vec<(Tape, Tape, u32)>,
    replay: Option<Replay>,
    /// The position of the next left row.
    places: u64,
    /// Of the current left row.
    place: [u8; 8],
    matched: bool,
    ordered: Sorter,
}

struct Spreading {
    left: Partitions,
    right: Partitions,
    /// The next key of the table to write, and its next row; `None`: all are written.
    table: Option<(usize, u32)>,
}

/// The pair that is being joined.
struct Replay {
    left: Tape,
    right: Tape,
    left_reader: TapeReader,
    right_reader: TapeReader,
    depth: u32,
    /// The table contains a piece of the right tape, and more pieces follow.
    is_piece: bool,
    /// Left rows for the next piece.
    next_left: Option<Tape>,
}

impl<'p> HashJoin<'p> {
    /// Has the current left row matched in an earlier piece?
    pub(super) fn matched_before(&self) -> bool {
        self.spilled.as_ref().is_some_and(|spilled| spilled.matched)
    }

    #[cold]
    pub(super) fn begin_spilling(&mut self, run: &mut Run<'p>) -> Step<()> {
        let spreading = spread(run, 0)?;
        let spilled = Spilled { spreading: Some(spreading), ..Spilled::default() };
        self.spilled = Some(Box::new(spilled));
        Ok(())
    }

    /// Reads right rows of the input or of a tape, to their end or until the table contains a piece.
    pub(super) fn build_spilled(&mut self, run: &mut Run<'p>) -> Step<()> {
        loop {
            self.settle(run)?;
            let spilled = self.spilled.as_mut().expect("the caller made sure");
            match &mut spilled.replay {
                Some(replay) => {
                    run.tick()?;
                    if !replay.right_reader.next(&mut replay.right)? {
                        return Ok(());
                    }
                    let record = replay.right_reader.record();
                    let (key, row) = split_key(record);
                    if let Some(spreading) = &mut spilled.spreading {
                        spreading.right.push(partition_hash(key), &[record])?;
                        continue;
                    }
                    own(&mut self.table).push(key, |arena| arena.extend_from_slice(row));
                    if !self.account(run, self.table.memory_bytes()) && self.refused(run)? {
                        return Ok(());
                    }
                }
                None => {
                    let Some(has_key) = self.next_right(run)? else { return Ok(()) };
                    if has_key {
                        self.row.clear();
                        row_copy::write(run, &self.right_sources, &[], &mut self.row);
                        let length = (self.key.len() as u32).to_le_bytes();
                        let spilled = self.spilled.as_mut().expect("the caller made sure");
                        let spreading = spilled.spreading.as_mut().expect("the input's rows are spread");
                        spreading.right.push(partition_hash(&self.key), &[&length, &self.key, &self.row])?;
                    }
                }
            }
        }
    }

    /// Called if the right tape does not fit: spreads its rows again, or returns `true` to join it piece by piece.
    fn refused(&mut self, run: &mut Run<'p>) -> Step<bool> {
        let spilled = self.spilled.as_mut().expect("the caller made sure");
        let replay = spilled.replay.as_mut().expect("the caller made sure");
        replay.is_piece = replay.is_piece || replay.depth >= DEPTH_MAX || self.table.keys() == 1;
        if replay.is_piece {
            replay.next_left = Some(Tape::new(run.spill()?.clone()));
            return Ok(true);
        }
        spilled.spreading = Some(spread(run, replay.depth)?);
        Ok(false)
    }

    /// While rows are being spread: writes the table to tapes, and waits if many writes are pending.
    fn settle(&mut self, run: &mut Run<'p>) -> Step<()> {
        let spilled = self.spilled.as_mut().expect("the caller made sure");
        spilled.ordered.settle(run)?;
        if let Some(next_left) = spilled.replay.as_mut().and_then(|replay| replay.next_left.as_mut()) {
            next_left.settle()?;
        }
        let Some(spreading) = &mut spilled.spreading else { return Ok(()) };
        spreading.left.settle()?;
        spreading.right.settle()?;
        while let Some((number, row)) = spreading.table {
            let Some((key, first)) = self.table.key(number) else {
                spreading.table = None;
                self.table = Arc::default();
                run.release(std::mem::take(&mut self.charged_bytes));
                break;
            };
            let row = if row == END { first } else { row };
            let length = (key.len() as u32).to_le_bytes();
            spreading.right.push(partition_hash(key), &[&length, key, self.table.row(row)])?;
            spreading.table = Some(match self.table.next(row) {
                END => (number + 1, END),
                next => (number, next),
            });
            spreading.right.settle()?;
            run.tick()?;
        }
        Ok(())
    }

    /// As `take_left`. Rows that are spread are not returned, except rows without a partner.
    pub(super) fn take_left_spilled(&mut self, run: &mut Run<'p>) -> Step<Option<u32>> {
        loop {
            self.settle(run)?;
            let Some(has_key) = self.next_left(run)? else { return Ok(None) };
            let spilled = self.spilled.as_mut().expect("the caller made sure");
            let Some(spreading) = &mut spilled.spreading else {
                return Ok(Some(self.table.find(&self.key)));
            };
            let hash = partition_hash(&self.key);
            if !has_key || spreading.right.is_empty(spreading.right.number(hash)) {
                // H1
                return Ok(Some(END));
            }
            match &spilled.replay {
                Some(replay) => spreading.left.push(hash, &[replay.left_reader.record()])?,
                None => {
                    self.row.clear();
                    row_copy::write(run, &self.left_sources, &[], &mut self.row);
                    let length = (self.key.len() as u32).to_le_bytes();
                    spreading.left.push(hash, &[&[0], &spilled.place, &length, &self.key, &self.row])?;
                }
            }
        }
    }

    /// Makes the next left row current, of the input or of a tape. `Some(false)`: its key has a NULL.
    fn next_left(&mut self, run: &mut Run<'p>) -> Step<Option<bool>> {
        let spilled = self.spilled.as_mut().expect("the caller made sure");
        if let Some(replay) = &mut spilled.replay {
            run.tick()?;
            if !replay.left_reader.next(&mut replay.left)? {
                return Ok(None);
            }
            let record = replay.left_reader.record();
            spilled.matched = record[0] != 0;
            spilled.place.copy_from_slice(&record[PLACE_AT..KEY_LENGTH_AT]);
            let (key, row) = split_key(&record[KEY_LENGTH_AT..]);
            self.key.clear();
            self.key.extend_from_slice(key);
            row_copy::restore(run, &self.left_sources, row);
            return Ok(Some(true));
        }
        if !self.take_left_of_input(run)? {
            return Ok(None);
        }
        let has_key = self.encode_key(run, self.left_keys)?;
        self.pending = false;
        let spilled = self.spilled.as_mut().expect("the caller made sure");
        spilled.place = spilled.places.to_be_bytes();
        spilled.places += 1;
        Ok(Some(has_key))
    }

    /// Called after the last partner of the left row. Is the row returned without a partner?
    pub(super) fn end_chain(&mut self, matched: bool) -> Step<bool> {
        let unmatched = matches!(self.kind, JoinKind::Left | JoinKind::Anti) && !matched;
        let Some(spilled) = &mut self.spilled else { return Ok(unmatched) };
        let Some(replay) = &mut spilled.replay else { return Ok(unmatched) };
        let Some(next_left) = &mut replay.next_left else { return Ok(unmatched) };
        // H2. Semi and anti joins end a row at its first match, so only rows without one come here.
        let record = replay.left_reader.record();
        next_left.push(&[&[u8::from(matched)], &record[PLACE_AT..]])?;
        Ok(false)
    }

    /// The current rows are a row of the result. `false`: it is sorted first.
    pub(super) fn give(&mut self, run: &Run<'p>) -> bool {
        let Some(spilled) = &mut self.spilled else { return true };
        if !self.keeps_order {
            return true;
        }
        let arena = spilled.ordered.arena();
        let start = arena.len();
        arena.extend_from_slice(&spilled.place);
        row_copy::write(run, &self.left_sources, &[], arena);
        row_copy::write(run, &self.right_sources, &[], arena);
        spilled.ordered.push(start, spilled.place.len());
        // The sort's memory is checked before the next row.
        false
    }

    /// Chooses the next step after the last left row.
    pub(super) fn next_pair(&mut self, run: &mut Run<'p>) -> Step<State> {
        let Some(spilled) = &mut self.spilled else { return Ok(State::Done) };
        if let Some(spreading) = spilled.spreading.take() {
            let depth = spreading.left.depth() + 1;
            let pairs = spreading.left.finish()?.into_iter().zip(spreading.right.finish()?).rev();
            // H1: the other left rows have been returned already.
            let pairs = pairs.filter(|(left, right)| left.records() > 0 && right.records() > 0);
            spilled.waiting.extend(pairs.map(|(left, right)| (left, right, depth)));
            spilled.replay = None;
        }
        self.table = Arc::default();
        run.release(std::mem::take(&mut self.charged_bytes));
        if let Some(replay) = &mut spilled.replay
            && let Some(mut next_left) = replay.next_left.take()
        {
            next_left.seal()?;
            (replay.left, replay.left_reader) = (next_left, TapeReader::consuming());
            return Ok(State::Build);
        }
        if let Some((left, right, depth)) = spilled.waiting.pop() {
            let (left_reader, right_reader) = (TapeReader::consuming(), TapeReader::consuming());
            let pair = Replay { left, right, left_reader, right_reader, depth, is_piece: false, next_left: None };
            spilled.replay = Some(pair);
            return Ok(State::Build);
        }
        if !self.keeps_order {
            return Ok(State::Done);
        }
        spilled.ordered.finish(run)?;
        Ok(State::Ordered)
    }

    pub(super) fn next_in_order(&mut self, run: &mut Run<'p>) -> Step<bool> {
        let spilled = self.spilled.as_mut().expect("rows that were kept are in order");
        if !spilled.ordered.next(run)? {
            return Ok(false);
        }
        let row = spilled.ordered.row();
        let right_at = row_copy::restore(run, &self.left_sources, row);
        row_copy::restore(run, &self.right_sources, &row[right_at..]);
        Ok(true)
    }
}

fn spread(run: &mut Run<'_>, depth: u32) -> Step<Spreading> {
    let (left, right) = (Partitions::new(run, depth)?, Partitions::new(run, depth)?);
    Ok(Spreading { left, right, table: Some((0, END)) })
}

/// A key and the row that follows it.
fn split_key(record: &[u8]) -> (&[u8], &[u8]) {
    let (length, rest) = record.split_first_chunk().expect("a record has its key's length");
    rest.split_at(u32::from_le_bytes(*length) as usize)
}
