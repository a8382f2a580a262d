//! Equality join without an index: reads the right input into a hash table once, then looks up the partners of each left row.
//!
//! Right rows are kept as the bytes of their sources' current rows (`table`). A key with a NULL matches nothing.
//!
//! When memory is refused, the join uses tapes (`spilled`): the table and all further rows of both inputs are spread over pairs of
//! tapes by the hash of their keys, and each pair is joined in the same way. A pair whose right tape is still too large is spread again.
//! If that does not help (all rows have one key), the right tape is joined piece by piece, and the left tape is read once for each piece.
//!
//! H1: left rows that no right row can match are returned, or dropped, at once and never written.
//! H2: a left row on a tape records whether it matched in an earlier piece, so LEFT, semi and anti joins return it once.
//! H3: if the order of the left input matters, rows from tapes are sorted by their positions in it.

mod spilled;
mod table;

use super::{Operator, Piece, numbers};
use crate::pause::Step;
use crate::run::Run;
use crate::source::SourceState;
use crate::spill::row_copy;
use expr::keys::{self, KeyKind};
use expr::{Expr, coerce};
use spilled::Spilled;
use sql::plan::JoinKind;
use std::sync::Arc;
pub(crate) use table::Table as JoinTable;
use table::{END, Table};
use types::row::number::ShortNumber;
use types::{ColumnType, Value};

pub(crate) struct HashJoin<'p> {
    left: Operator<'p>,
    right: Operator<'p>,
    kind: JoinKind,
    left_keys: &'p [Expr],
    right_keys: &'p [Expr],
    kinds: Vec<KeyKind>,
    on: Option<&'p Expr>,
    left_sources: Vec<usize>,
    right_sources: Vec<usize>,
    keeps_order: bool,
    table: Arc<Table>,
    key: Vec<u8>,
    row: Vec<u8>,
    charged_bytes: usize,
    state: State,
    /// An input row was taken and not used yet.
    pending: bool,
    spilled: Option<Box<Spilled>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Build,
    Left,
    /// The left row's next partner, and whether one has matched.
    Chain {
        row: u32,
        matched: bool,
    },
    /// The left rows have ended.
    NextPair,
    /// Rows from tapes, in order (H3).
    Ordered,
    Done,
}

/// The properties of the inputs' nodes that the join needs.
pub(crate) struct Sides<'p> {
    pub left: Operator<'p>,
    pub right: Operator<'p>,
    pub left_sources: Vec<usize>,
    pub right_sources: Vec<usize>,
}

impl<'p> HashJoin<'p> {
    pub fn new(
        sides: Sides<'p>,
        join: JoinKind,
        (left_keys, right_keys): (&'p [Expr], &'p [Expr]),
        on: Option<&'p Expr>,
        keeps_order: bool,
    ) -> Self {
        let kind = |(l, r): (&Expr, &Expr)| KeyKind::of_comparison(coerce::compare_as(&l.ty, &r.ty), &l.ty, &r.ty);
        let kinds = left_keys.iter().zip(right_keys).map(kind).collect();
        let Sides { left, right, left_sources, right_sources } = sides;
        Self {
            left,
            right,
            kind: join,
            left_keys,
            right_keys,
            kinds,
            on,
            left_sources,
            right_sources,
            keeps_order,
            table: Arc::default(),
            key: Vec::new(),
            row: Vec::new(),
            charged_bytes: 0,
            state: State::Build,
            pending: false,
            spilled: None,
        }
    }

    pub fn first_input(&mut self) -> &mut Operator<'p> {
        &mut self.left
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            match self.state {
                State::Build => {
                    self.build(run)?;
                    self.state = State::Left;
                }
                State::Left => {
                    self.state = match self.take_left(run)? {
                        Some(row) => State::Chain { row, matched: self.matched_before() },
                        None => State::NextPair,
                    };
                }
                State::Chain { row: END, matched } => {
                    self.state = State::Left;
                    if self.end_chain(matched)? {
                        self.right_sources.iter().for_each(|s| run.sources[*s].state = SourceState::Null);
                        if self.give(run) {
                            return Ok(true);
                        }
                    }
                }
                State::Chain { row, matched } => {
                    row_copy::restore(run, &self.right_sources, self.table.row(row));
                    run.tick()?;
                    let keep = run.passes(self.on)?;
                    self.state = State::Chain { row: self.table.next(row), matched: matched || keep };
                    match self.kind {
                        _ if !keep => {}
                        JoinKind::Inner | JoinKind::Left => {
                            if self.give(run) {
                                return Ok(true);
                            }
                        }
                        // One partner is enough.
                        JoinKind::Semi => {
                            self.state = State::Left;
                            if self.give(run) {
                                return Ok(true);
                            }
                        }
                        JoinKind::Anti => self.state = State::Left,
                    }
                }
                State::NextPair => self.state = self.next_pair(run)?,
                State::Ordered => return self.next_in_order(run),
                State::Done => return Ok(false),
            }
        }
    }

    fn build(&mut self, run: &mut Run<'p>) -> Step<()> {
        if !self.build_in_memory(run)? {
            self.begin_spilling(run)?;
        }
        if self.spilled.is_some() { self.build_spilled(run) } else { Ok(()) }
    }

    /// Reads the right input into the table to its end, unless rows go to tapes. `false`: memory has been refused.
    fn build_in_memory(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if self.spilled.is_some() {
            return Ok(true);
        }
        let mut table = std::mem::take(own(&mut self.table));
        let filled = self.fill(run, &mut table);
        *own(&mut self.table) = table;
        filled
    }

    fn fill(&mut self, run: &mut Run<'p>, table: &mut Table) -> Step<bool> {
        while let Some(has_key) = self.next_right(run)? {
            if has_key {
                let sources = &self.right_sources;
                table.push(&self.key, |arena| row_copy::write(run, sources, &[], arena));
                if !self.account(run, table.memory_bytes()) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Reads the right input into a table that others may read afterwards. `false`: it does not fit memory.
    pub fn build_table(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if self.state == State::Build {
            if !self.build_in_memory(run)? {
                return Ok(false);
            }
            self.state = State::Left;
        }
        Ok(true)
    }

    pub fn table(&self) -> Arc<Table> {
        self.table.clone()
    }

    /// Looks up partners in a table that is complete.
    pub fn use_table(&mut self, table: Arc<Table>) {
        self.table = table;
        self.state = State::Left;
    }

    /// The next piece of the left input, for a table that is complete.
    pub fn begin_part(&mut self, piece: Piece) {
        self.state = State::Left;
        self.pending = false;
        self.left.begin_part(piece);
    }

    /// The next right row; `Some(true)`: its key is encoded, `Some(false)`: the key has a NULL, `None`: there is no further row.
    fn next_right(&mut self, run: &mut Run<'p>) -> Step<Option<bool>> {
        if !self.pending && !self.right.next(run)? {
            return Ok(None);
        }
        self.pending = true;
        let has_key = self.encode_key(run, self.right_keys)?;
        self.pending = false;
        Ok(Some(has_key))
    }

    /// The next left row's first partner, or `END`; `None`: there is no further row.
    fn take_left(&mut self, run: &mut Run<'p>) -> Step<Option<u32>> {
        if self.spilled.is_some() {
            return self.take_left_spilled(run);
        }
        if !self.take_left_of_input(run)? {
            return Ok(None);
        }
        let has_key = self.encode_key(run, self.left_keys)?;
        self.pending = false;
        Ok(Some(if has_key { self.table.find(&self.key) } else { END }))
    }

    fn take_left_of_input(&mut self, run: &mut Run<'p>) -> Step<bool> {
        if !self.pending && !self.left.next(run)? {
            return Ok(false);
        }
        self.pending = true;
        Ok(true)
    }

    /// Encodes the keys of the current row; `false`: one is NULL.
    fn encode_key(&mut self, run: &Run<'p>, exprs: &'p [Expr]) -> Step<bool> {
        self.key.clear();
        let env = run.env(&[]);
        for (expr, kind) in exprs.iter().zip(&self.kinds) {
            if *kind == KeyKind::Integer
                && let ShortNumber::Digits(digits, 0) = numbers::short_number(&env, expr)
            {
                keys::encode_digits(digits, &mut self.key);
                continue;
            }
            let value = env.eval(expr)?;
            if matches!(value, Value::Null) {
                return Ok(false);
            }
            let ty: &ColumnType = &expr.ty;
            keys::encode(&env, *kind, &value, ty, &mut self.key)?;
        }
        run.row_done();
        Ok(true)
    }

    /// Asks for memory after the table has grown to so many bytes; `false`: refused.
    fn account(&mut self, run: &mut Run<'p>, bytes: usize) -> bool {
        // A rebuilt table keeps the memory that it was granted before.
        let grown = bytes.saturating_sub(self.charged_bytes);
        let granted = grown == 0 || run.grant(self.charged_bytes, grown);
        if granted {
            self.charged_bytes = self.charged_bytes.max(bytes);
        }
        granted
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        // The right input may read sources of an outer loop, so the table is rebuilt.
        own(&mut self.table).clear();
        self.spilled = None;
        self.pending = false;
        self.state = State::Build;
        self.right.rewind(run);
        self.left.rewind(run);
    }
}

/// The table while it is built: nobody else has it.
fn own(table: &mut Arc<Table>) -> &mut Table {
    Arc::get_mut(table).expect("a table that is lent is complete")
}
