//! Equality join without an index: the right input is read once into a hash table, then each left row looks its partners up.
//!
//! Right rows are kept as the bytes of their sources' current rows, one after the other in an arena; rows of one key are chained in
//! the order they came. A NULL in a key matches nothing.

use super::Operator;
use crate::coerce;
use crate::eval::Step;
use crate::hash::ByteMap;
use crate::keys::{self, KeyKind};
use crate::run::{Run, SourceState};
use sql::expr::Expr;
use sql::plan::JoinKind;
use types::{ColumnType, Value};

/// No next row in a chain.
const END: u32 = u32::MAX;

pub(crate) struct HashJoin<'p> {
    left: Operator<'p>,
    right: Operator<'p>,
    kind: JoinKind,
    left_keys: &'p [Expr],
    right_keys: &'p [Expr],
    kinds: Vec<KeyKind>,
    on: Option<&'p Expr>,
    right_sources: Vec<usize>,
    table: ByteMap,
    /// First and last row of each key's chain, by the key's number.
    chains: Vec<(u32, u32)>,
    rows: Vec<Row>,
    arena: Vec<u8>,
    key: Vec<u8>,
    charged_bytes: usize,
    state: State,
    /// An input row was taken and not used yet.
    pending: bool,
}

struct Row {
    start: u64,
    next: u32,
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
}

impl<'p> HashJoin<'p> {
    pub fn new(
        left: Operator<'p>,
        right: Operator<'p>,
        join: JoinKind,
        (left_keys, right_keys): (&'p [Expr], &'p [Expr]),
        on: Option<&'p Expr>,
        right_sources: Vec<usize>,
    ) -> Self {
        let kind = |(l, r): (&Expr, &Expr)| KeyKind::of_comparison(coerce::compare_as(&l.ty, &r.ty), &l.ty, &r.ty);
        let kinds = left_keys.iter().zip(right_keys).map(kind).collect();
        Self {
            left,
            right,
            kind: join,
            left_keys,
            right_keys,
            kinds,
            on,
            right_sources,
            table: ByteMap::default(),
            chains: Vec::new(),
            rows: Vec::new(),
            arena: Vec::new(),
            key: Vec::new(),
            charged_bytes: 0,
            state: State::Build,
            pending: false,
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
                    if !self.pending && !self.left.next(run)? {
                        return Ok(false);
                    }
                    self.pending = true;
                    let found = self.encode_key(run, self.left_keys)?.then(|| self.table.find(&self.key)).flatten();
                    self.pending = false;
                    let row = found.map_or(END, |number| self.chains[number].0);
                    self.state = State::Chain { row, matched: false };
                }
                State::Chain { row: END, matched } => {
                    self.state = State::Left;
                    if matches!(self.kind, JoinKind::Left | JoinKind::Anti) && !matched {
                        self.right_sources.iter().for_each(|s| run.sources[*s].state = SourceState::Null);
                        return Ok(true);
                    }
                }
                State::Chain { row, matched } => {
                    self.restore(run, row);
                    run.tick()?;
                    let keep = run.passes(self.on)?;
                    self.state = State::Chain { row: self.rows[row as usize].next, matched: matched || keep };
                    match self.kind {
                        _ if !keep => {}
                        JoinKind::Inner | JoinKind::Left => return Ok(true),
                        // One partner is enough.
                        JoinKind::Semi => {
                            self.state = State::Left;
                            return Ok(true);
                        }
                        JoinKind::Anti => self.state = State::Left,
                    }
                }
            }
        }
    }

    fn build(&mut self, run: &mut Run<'p>) -> Step<()> {
        loop {
            if !self.pending && !self.right.next(run)? {
                return Ok(());
            }
            self.pending = true;
            let has_key = self.encode_key(run, self.right_keys)?;
            self.pending = false;
            if has_key {
                self.keep_row(run)?;
            }
        }
    }

    /// Encodes the keys of the current row; `false`: one is NULL.
    fn encode_key(&mut self, run: &Run<'p>, exprs: &'p [Expr]) -> Step<bool> {
        self.key.clear();
        let env = run.env(&[]);
        for (expr, kind) in exprs.iter().zip(&self.kinds) {
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

    fn keep_row(&mut self, run: &mut Run<'p>) -> Step<()> {
        let number = u32::try_from(self.rows.len()).ok().filter(|n| *n != END).expect("memory is limited to fewer rows");
        let start = self.arena.len() as u64;
        for source in &self.right_sources {
            let (state, bytes) = run.sources[*source].as_copy();
            self.arena.push(state as u8);
            self.arena.extend_from_slice(&(bytes.len() as u32).to_ne_bytes());
            self.arena.extend_from_slice(bytes);
            if run.keeps_keys {
                let key: &[u8] = if state == SourceState::Copied { run.sources[*source].row.key() } else { &[] };
                self.arena.extend_from_slice(&(key.len() as u32).to_ne_bytes());
                self.arena.extend_from_slice(key);
            }
        }
        self.rows.push(Row { start, next: END });
        let (key, new) = self.table.insert(&self.key);
        if new {
            self.chains.push((number, number));
        } else {
            let last = std::mem::replace(&mut self.chains[key].1, number);
            self.rows[last as usize].next = number;
        }
        let bytes = self.arena.capacity() + self.table.memory_bytes() + self.rows.capacity() * 16 + self.chains.capacity() * 8;
        // Built anew, it has paid for its memory already.
        run.charge(bytes.saturating_sub(self.charged_bytes))?;
        self.charged_bytes = self.charged_bytes.max(bytes);
        Ok(())
    }

    /// Makes a kept row the current row of the right sources.
    fn restore(&self, run: &mut Run<'p>, row: u32) {
        let mut rest = &self.arena[self.rows[row as usize].start as usize..];
        for source in &self.right_sources {
            let length = u32::from_ne_bytes([rest[1], rest[2], rest[3], rest[4]]) as usize;
            run.sources[*source].set_copy(SourceState::from_byte(rest[0]), &rest[5..5 + length]);
            rest = &rest[5 + length..];
            if run.keeps_keys {
                let length = u32::from_ne_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
                run.sources[*source].row.set_key(&rest[4..4 + length]);
                rest = &rest[4 + length..];
            }
        }
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        // The right input may read sources of an outer loop, so the table is built anew.
        self.table.clear();
        self.chains.clear();
        self.rows.clear();
        self.arena.clear();
        self.pending = false;
        self.state = State::Build;
        self.right.rewind(run);
        self.left.rewind(run);
    }
}
