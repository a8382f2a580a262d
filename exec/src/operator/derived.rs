//! Derived tables and common table expressions: a query runs to its end, its rows are kept and read like a table's.
//!
//! Stores that several scans share belong to the run: the first scan fills one, the others find it complete. A store is emptied when
//! what its query reads from outside has changed; whoever scans it then fills it anew.

use super::{Builder, Operator};
use crate::eval::Step;
use crate::packed::{self, Packer};
use crate::run::{Run, SourceState};
use sql::plan::{Derived, Node, Scan};

/// Packed rows in one arena.
#[derive(Default)]
pub(crate) struct RowStore {
    arena: Vec<u8>,
    starts: Vec<u64>,
    /// All rows of the query are there.
    pub complete: bool,
    /// Of a recursive table: the rows of the round before.
    pub round: (usize, usize),
    charged: usize,
}

impl RowStore {
    pub fn clear(&mut self) {
        self.arena.clear();
        self.starts.clear();
        self.complete = false;
        self.round = (0, 0);
    }

    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Keeps a row; returns by how much memory the store grew beyond what it had before.
    fn push(&mut self, slots: &[u8], columns: usize) -> usize {
        self.starts.push(self.arena.len() as u64);
        let mut packer = Packer::new(&mut self.arena, columns);
        (0..columns).for_each(|n| packer.push(&packed::get(slots, n)));
        let bytes = self.arena.capacity() + self.starts.capacity() * 8;
        let grown = bytes.saturating_sub(self.charged);
        self.charged += grown;
        grown
    }

    fn row(&self, number: usize) -> &[u8] {
        let end = self.starts.get(number + 1).map_or(self.arena.len(), |end| *end as usize);
        &self.arena[self.starts[number] as usize..end]
    }
}

/// A scan of a derived table.
pub(crate) struct DerivedScan<'p> {
    plan: &'p Scan,
    derived: &'p Derived,
    /// Made when it is run: of the scans of a shared store only one does that.
    input: Option<Operator<'p>>,
    builder: Builder<'p>,
    /// The rows, where they are not shared.
    own: RowStore,
    state: State,
    next: usize,
    /// A row is there and not judged yet.
    pending: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Start,
    Fill,
    Scan,
}

impl<'p> DerivedScan<'p> {
    pub fn new(plan: &'p Scan, derived: &'p Derived, builder: Builder<'p>) -> Self {
        let own = RowStore::default();
        Self { plan, derived, input: None, builder, own, state: State::Start, next: 0, pending: false }
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            match self.state {
                State::Start => self.start(run),
                State::Fill => self.fill(run)?,
                State::Scan => {
                    if !self.pending {
                        if self.next >= self.store(run).len() {
                            return Ok(false);
                        }
                        run.tick()?;
                        self.show(run, self.next);
                        self.next += 1;
                        self.pending = true;
                    }
                    let keep = run.passes(self.plan.filter.as_ref())?;
                    self.pending = false;
                    if keep {
                        return Ok(true);
                    }
                }
            }
        }
    }

    fn start(&mut self, run: &mut Run<'p>) {
        run.sources[self.plan.source].def = Some(&self.plan.table);
        self.next = 0;
        if self.store(run).complete {
            self.state = State::Scan;
            return;
        }
        self.derived.resets.iter().for_each(|store| run.stores[*store].clear());
        match self.derived.shared {
            Some(shared) => run.stores[shared].clear(),
            None => self.own.clear(),
        }
        match &mut self.input {
            Some(input) => input.rewind(run),
            None => {
                let parts = run.parts;
                let node: &'p Node = match (self.derived.shared, &self.derived.input) {
                    (Some(shared), _) => parts.stores.get(shared).expect("the plan has a query for each store"),
                    (None, Some(input)) => input,
                    (None, None) => &Node::OneRow,
                };
                self.input = Some(self.builder.build(node));
            }
        }
        self.state = State::Fill;
    }

    fn fill(&mut self, run: &mut Run<'p>) -> Step<()> {
        let input = self.input.as_mut().expect("made before the store is filled");
        while input.next(run)? {
            let slots = input.slots();
            let grown = match self.derived.shared {
                Some(shared) => run.stores[shared].push(slots, self.derived.columns),
                None => self.own.push(slots, self.derived.columns),
            };
            if grown > 0 {
                run.charge(grown)?;
            }
        }
        match self.derived.shared {
            Some(shared) => run.stores[shared].complete = true,
            None => self.own.complete = true,
        }
        self.state = State::Scan;
        Ok(())
    }

    fn store<'s>(&'s self, run: &'s Run<'p>) -> &'s RowStore {
        match self.derived.shared {
            Some(shared) => &run.stores[shared],
            None => &self.own,
        }
    }

    fn show(&self, run: &mut Run<'p>, number: usize) {
        let source = &mut run.sources[self.plan.source];
        let row = match self.derived.shared {
            Some(shared) => run.stores[shared].row(number),
            None => self.own.row(number),
        };
        source.set_copy(SourceState::Packed, row);
    }

    pub fn rewind(&mut self) {
        self.pending = false;
        self.state = State::Start;
        if self.derived.lateral {
            self.own.complete = false;
        }
    }
}

/// In a step of a recursive table: its rows of the round before.
pub(crate) struct WorkScan<'p> {
    plan: &'p Scan,
    table: usize,
    /// The next row; `None` before the first.
    next: Option<usize>,
    pending: bool,
}

impl<'p> WorkScan<'p> {
    pub fn new(plan: &'p Scan, table: usize) -> Self {
        Self { plan, table, next: None, pending: false }
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            if !self.pending {
                let (from, to) = run.stores[self.table].round;
                let next = self.next.unwrap_or(from);
                if next >= to {
                    return Ok(false);
                }
                run.tick()?;
                let source = &mut run.sources[self.plan.source];
                source.def = Some(&self.plan.table);
                source.set_copy(SourceState::Packed, run.stores[self.table].row(next));
                self.next = Some(next + 1);
                self.pending = true;
            }
            let keep = run.passes(self.plan.filter.as_ref())?;
            self.pending = false;
            if keep {
                return Ok(true);
            }
        }
    }

    pub fn rewind(&mut self) {
        self.next = None;
        self.pending = false;
    }
}
