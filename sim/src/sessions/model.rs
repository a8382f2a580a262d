//! The answers that the server may give.
//!
//! 1. Each row has an owner; no other session writes it. So a session knows exactly which of its own rows it must read, and how many rows
//!    its inserts, updates and deletes affect.
//! 2. The commits of one session form a sequence of states. A commit is acknowledged some time after it was sent. A snapshot taken in
//!    between may have it or not. All reads of one snapshot must agree with one state of each session ([`Candidates`]).
//! 3. The definitions of a table form a sequence of states, too. A column's name is never used again, and each value contains its table,
//!    column, row and version. So a value read from a wrong column is noticed in every case.
//!
//! A commit whose answer was lost may have happened or not. It stays the last state until its session has read which is true.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A column by its number, which is part of its name.
pub type Column = u16;
/// The version of each value that was written; other columns have their default.
pub type Row = BTreeMap<Column, u64>;
/// Rows by table and key.
pub type Rows = BTreeMap<(usize, i64), Row>;
/// Nanoseconds of the simulated machine.
pub type Time = u64;

/// The time of a state that is not acknowledged.
const OPEN: Time = Time::MAX;

/// A state, and the times of its request and of its acknowledgement.
#[derive(Clone, Debug)]
pub struct State<T> {
    pub value: T,
    /// When it was requested: from then on a read may see it.
    began: Time,
    /// When it was acknowledged: from then on every read must see it.
    known: Time,
}

/// States, oldest first.
#[derive(Clone, Debug)]
pub struct States<T>(Vec<State<T>>);

impl<T> States<T> {
    pub fn new(first: T) -> Self {
        Self(vec![State { value: first, began: 0, known: 0 }])
    }

    /// The newest state that is acknowledged.
    pub fn certain(&self) -> &T {
        let last = self.0.len() - 1;
        let place = if self.0[last].known == OPEN && last > 0 { last - 1 } else { last };
        &self.0[place].value
    }

    /// A state that was requested and is not answered yet.
    pub fn open(&self) -> Option<&T> {
        self.0.last().filter(|state| state.known == OPEN && self.0.len() > 1).map(|state| &state.value)
    }

    pub fn begin(&mut self, value: T, now: Time) {
        debug_assert!(self.open().is_none(), "one at a time");
        self.0.push(State { value, began: now, known: OPEN });
    }

    /// The requested state is in force.
    pub fn acknowledge(&mut self, now: Time) {
        if let Some(last) = self.0.last_mut().filter(|last| last.known == OPEN) {
            last.known = now;
        }
    }

    /// The requested state was refused.
    pub fn refuse(&mut self) {
        if self.open().is_some() {
            self.0.pop();
        }
    }

    /// The states that may have been the newest at some time of a span.
    pub fn possible(&self, span: Range<Time>) -> Range<usize> {
        let first = self.0.iter().rposition(|state| state.known <= span.start).unwrap_or(0);
        let behind = self.0.iter().rposition(|state| state.began <= span.end).map_or(1, |last| last + 1);
        first..behind.max(first + 1)
    }

    pub fn get(&self, place: usize) -> Option<&T> {
        self.0.get(place).map(|state| &state.value)
    }

    /// After a restart only the last state counts.
    pub fn forget(&mut self) {
        let mut last = self.0.pop().expect("there is always one");
        (last.began, last.known) = (0, 0);
        self.0 = vec![last];
    }
}

/// For each session, the states that agree with everything read in one snapshot.
#[derive(Clone, Debug, Default)]
pub struct Candidates(BTreeMap<usize, Range<usize>>);

impl Candidates {
    /// Keeps only those states of one session that fit. `span`: the time at which the snapshot was taken. `false`: no state fits.
    pub fn narrow<T>(&mut self, session: usize, states: &States<T>, span: Range<Time>, fits: impl Fn(&T) -> bool) -> bool {
        let before = self.0.entry(session).or_insert_with(|| states.possible(span));
        let fit = |place: &usize| states.get(*place).is_some_and(&fits);
        let (Some(first), Some(last)) = (before.clone().find(fit), before.clone().rev().find(fit)) else { return false };
        *before = first..last + 1;
        true
    }
}

/// A privilege on a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Privilege {
    Select,
    Insert,
    Update,
    Delete,
}

impl Privilege {
    pub const ALL: [Self; 4] = [Self::Select, Self::Insert, Self::Update, Self::Delete];

    pub fn name(self) -> &'static str {
        match self {
            Self::Select => "SELECT",
            Self::Insert => "INSERT",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }
}

/// A table as its session of definitions knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Without the key and the owner.
    pub columns: Vec<Column>,
    /// The column of each index, by the index's number.
    pub indexes: BTreeMap<u16, Column>,
}

/// The whole model. It survives crashes of the simulated machine. No other thread runs while it is locked.
#[derive(Clone)]
pub struct Model(Arc<Mutex<Known>>);

pub struct Known {
    pub rows: Vec<States<Arc<Rows>>>,
    /// By table; `None`: there is no table yet.
    pub definitions: Vec<States<Option<Definition>>>,
    /// The open connections, for the client that kills some.
    pub connections: BTreeMap<usize, u32>,
    /// The privileges of the ordinary account, by table.
    pub grants: BTreeMap<(usize, Privilege), States<bool>>,
    /// For each KILL the times at which it was sent and answered.
    pub kills: Vec<(u32, Range<Time>)>,
    /// The number of the next column or index.
    pub next: u16,
    /// The next version of each session.
    pub versions: Vec<u64>,
}

impl Model {
    pub fn new(sessions: usize, tables: usize) -> Self {
        Self(Arc::new(Mutex::new(Known {
            rows: vec![States::new(Arc::default()); sessions],
            definitions: vec![States::new(None); tables],
            connections: BTreeMap::new(),
            grants: (0..tables).flat_map(|table| Privilege::ALL.map(|p| ((table, p), States::new(false)))).collect(),
            kills: Vec::new(),
            next: 1,
            versions: vec![1; sessions],
        })))
    }

    pub fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// A number that nothing had before.
    pub fn number(&mut self) -> u16 {
        self.next += 1;
        self.next - 1
    }

    pub fn version(&mut self, session: usize) -> u64 {
        self.versions[session] += 1;
        self.versions[session] - 1
    }

    /// Definitions of a table in force at some time of a span.
    pub fn definitions(&self, table: usize, span: Range<Time>) -> impl Iterator<Item = &Definition> {
        let states = &self.definitions[table];
        states.possible(span).filter_map(|place| states.get(place).and_then(Option::as_ref))
    }

    /// May the account have had the privilege (`true`), or have lacked it (`false`), at some time of a span?
    pub fn may_be_granted(&self, table: usize, privilege: Privilege, granted: bool, span: Range<Time>) -> bool {
        let states = &self.grants[&(table, privilege)];
        states.possible(span).any(|place| states.get(place) == Some(&granted))
    }

    /// A KILL of the connection or of its statement is sent.
    pub fn begin_kill(&mut self, connection: u32, now: Time) {
        self.kills.push((connection, now..OPEN));
    }

    /// The server has acknowledged the KILL.
    pub fn end_kill(&mut self, connection: u32, now: Time) {
        let open = self.kills.iter_mut().filter(|(of, span)| *of == connection && span.end == OPEN);
        open.for_each(|(_, span)| span.end = now);
    }

    /// May a KILL have ended a statement that began at this time? A KILL does not affect the next statement.
    pub fn is_killed(&self, connection: u32, began: Time) -> bool {
        self.kills.iter().any(|(of, span)| *of == connection && span.end >= began)
    }

    /// Did the table have the column during the whole span?
    pub fn has_column(&self, table: usize, column: Column, span: Range<Time>) -> bool {
        let states = &self.definitions[table];
        let mut possible = states.possible(span);
        possible.all(|place| states.get(place).and_then(Option::as_ref).is_some_and(|d| d.columns.contains(&column)))
    }
}

impl Definition {
    pub fn drop_column(&mut self, column: Column) {
        self.columns.retain(|other| *other != column);
        self.indexes.retain(|_, indexed| *indexed != column);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_seen_from_when_it_was_asked_for_and_surely_once_it_is_known() {
        let mut states = States::new('a');
        states.begin('b', 10);
        assert_eq!((states.certain(), states.open()), (&'a', Some(&'b')));
        assert_eq!(states.possible(0..5), 0..1);
        assert_eq!(states.possible(5..10), 0..2);
        assert_eq!(states.possible(30..40), 0..2, "its answer may be on the way for long");
        states.acknowledge(20);
        assert_eq!((states.certain(), states.open()), (&'b', None));
        assert_eq!(states.possible(12..15), 0..2);
        assert_eq!(states.possible(20..21), 1..2);
        states.begin('c', 30);
        states.refuse();
        assert_eq!(states.possible(50..60), 1..2);
    }

    #[test]
    fn all_that_a_snapshot_reads_is_of_one_state() {
        let mut states = States::new((1, 1));
        states.begin((2, 2), 10);
        states.acknowledge(20);
        let mut candidates = Candidates::default();
        assert!(candidates.narrow(0, &states, 5..15, |(_, second)| *second == 2));
        assert!(!candidates.narrow(0, &states, 5..15, |(first, _)| *first == 1), "the first is of another state");
        let mut candidates = Candidates::default();
        assert!(!candidates.narrow(0, &states, 25..30, |(first, _)| *first == 1), "too old");
    }
}
