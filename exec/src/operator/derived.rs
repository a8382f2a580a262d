//! Derived tables and common table expressions: a query runs to its end, and its rows are kept and read like a table's. They are in
//! memory or, if there are too many, in a temporary file ([`RowStore`]).
//!
//! Stores that several scans share belong to the run: the first scan fills a store, the others find it complete. A store is emptied when
//! outer values that its query reads have changed; the next scan fills it again.

use super::{Builder, Operator};
use crate::pause::Step;
use crate::run::Run;
use crate::source::SourceState;
use crate::spill::row_store::RowStore;
use crate::spill::tape::TapeReader;
use sql::plan::{Derived, Node, Scan};

/// A scan of a derived table.
pub(crate) struct DerivedScan<'p> {
    plan: &'p Scan,
    derived: &'p Derived,
    /// Built when it runs: only one scan of a shared store runs it.
    input: Option<Operator<'p>>,
    builder: Builder<'p>,
    /// The rows, unless they are shared.
    own: RowStore,
    state: State,
    reader: TapeReader,
    next: usize,
    /// There is a row that has not been checked yet.
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
        let (state, reader) = (State::Start, TapeReader::new());
        Self { plan, derived, input: None, builder, own, state, reader, next: 0, pending: false }
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
                        self.show(run)?;
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
        self.reader = TapeReader::new();
        if self.store(run).complete {
            self.next = self.store(run).first;
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
        loop {
            match self.derived.shared {
                // The run owns the store and lends it.
                Some(shared) if run.stores[shared].needs_settling() => {
                    let mut store = std::mem::take(&mut run.stores[shared]);
                    let settled = store.settle(run);
                    run.stores[shared] = store;
                    settled?;
                }
                Some(_) => {}
                None if self.own.needs_settling() => self.own.settle(run)?,
                None => {}
            }
            let more = input.next(run)?;
            if !more {
                run.check_clock()?;
            }
            let store = match self.derived.shared {
                Some(shared) => &mut run.stores[shared],
                None => &mut self.own,
            };
            if !more {
                store.complete = true;
                self.next = store.first;
                self.state = State::Scan;
                return Ok(());
            }
            store.push(input.slots());
        }
    }

    fn store<'s>(&'s self, run: &'s Run<'p>) -> &'s RowStore {
        match self.derived.shared {
            Some(shared) => &run.stores[shared],
            None => &self.own,
        }
    }

    /// Makes the next row current.
    fn show(&mut self, run: &mut Run<'p>) -> Step<()> {
        let Run { stores, sources, .. } = run;
        let store = match self.derived.shared {
            Some(shared) => &mut stores[shared],
            None => &mut self.own,
        };
        let row = store.row(&mut self.reader, self.next)?;
        sources[self.plan.source].set_copy(SourceState::Packed, row);
        Ok(())
    }

    pub fn rewind(&mut self) {
        self.pending = false;
        self.state = State::Start;
        if self.derived.lateral {
            self.own.complete = false;
        }
    }
}

/// In a step of a recursive table: its rows of the previous round.
pub(crate) struct WorkScan<'p> {
    plan: &'p Scan,
    table: usize,
    reader: TapeReader,
    /// The next row; `None` before the first.
    next: Option<usize>,
    pending: bool,
}

impl<'p> WorkScan<'p> {
    pub fn new(plan: &'p Scan, table: usize) -> Self {
        Self { plan, table, reader: TapeReader::new(), next: None, pending: false }
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
                let Run { stores, sources, .. } = run;
                let source = &mut sources[self.plan.source];
                source.def = Some(&self.plan.table);
                source.set_copy(SourceState::Packed, stores[self.table].row(&mut self.reader, next)?);
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
        self.reader = TapeReader::new();
        self.next = None;
        self.pending = false;
    }
}
