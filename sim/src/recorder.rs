//! Writes the history down, and gives out times, numbers and elements. Shared by all threads of a machine; it outlives the machine.
//!
//! It is no part of the machine: nobody gets the turn inside of it, so a crash never finds it half changed.

use crate::history::{Act, History, Key, Level, Number, Operation, Outcome, Span, Time, Transaction};
use crate::model::SESSION_BITS;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Default)]
pub struct State {
    now: Time,
    /// Transactions that each session has begun.
    counts: BTreeMap<u64, u64>,
    elements: u64,
    pub history: History,
}

#[derive(Clone, Default)]
pub struct Recorder(Arc<Mutex<State>>);

/// A transaction that is being recorded.
#[derive(Clone, Copy, Debug)]
pub struct Entry(usize);

impl Recorder {
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn now(&self) -> Time {
        let mut state = self.state();
        state.now += 1;
        state.now
    }

    /// From a time until now.
    pub fn since(&self, from: Time) -> Span {
        Span { from, to: self.now() }
    }

    pub fn begin(&self, session: u64, level: Level) -> (Entry, Number) {
        let mut state = self.state();
        let count = state.counts.entry(session).or_default();
        *count += 1;
        let number = *count << SESSION_BITS | session;
        state.history.transactions.push(Transaction::new(number, level));
        (Entry(state.history.transactions.len() - 1), number)
    }

    /// An element that nobody else will write.
    pub fn element(&self) -> u64 {
        let mut state = self.state();
        state.elements += 1;
        state.elements
    }

    pub fn change<T>(&self, entry: Entry, change: impl FnOnce(&mut Transaction) -> T) -> T {
        change(&mut self.state().history.transactions[entry.0])
    }

    pub fn operation(&self, entry: Entry, key: Key, span: Span, act: Act) {
        self.change(entry, |t| t.operations.push(Operation { key, span, act, undone: false }));
    }

    /// Commit is about to be called.
    pub fn committing(&self, entry: Entry) {
        let now = self.now();
        self.change(entry, |t| {
            t.finish.from = now;
            t.outcome = Outcome::InDoubt;
        });
    }

    /// Commit has returned: others see it.
    pub fn committed(&self, entry: Entry) {
        let now = self.now();
        self.change(entry, |t| t.finish.to = now);
    }

    pub fn acknowledged(&self, entry: Entry) {
        self.change(entry, |t| {
            t.outcome = Outcome::Committed;
            t.acknowledged = true;
        });
    }

    pub fn rolling_back(&self, entry: Entry) {
        let now = self.now();
        self.change(entry, |t| t.finish.from = t.finish.from.min(now));
    }

    pub fn rolled_back(&self, entry: Entry) {
        let now = self.now();
        self.change(entry, |t| {
            t.finish.to = now;
            t.outcome = Outcome::Aborted;
        });
    }

    /// What it has written from its operation `first` on is undone.
    pub fn undone(&self, entry: Entry, first: usize) {
        self.change(entry, |t| {
            t.operations[first..].iter_mut().filter(|o| matches!(o.act, Act::Write { .. })).for_each(|o| o.undone = true);
        });
    }
}
