//! What must be in the tables after a restart: the states that may have survived.
//!
//! Nobody else writes a session's rows, and one thread changes the definition, so each is a row of states, one after the other. A commit that is
//! acknowledged as durable leaves the newest; before that, a crash may go back to any state since the last such one, and to no other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A column's number; no two columns that ever were have the same. 0 is the primary key.
pub type Column = u16;
/// The seed of each value that was written into a row. A column that came later has its default.
pub type Row = BTreeMap<Column, u64>;
/// Rows of one session.
pub type Rows = BTreeMap<i64, Row>;

/// The table's columns in their order, and the columns of its indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    pub columns: Vec<Column>,
    pub indexes: BTreeMap<u16, Vec<Column>>,
}

/// States of one thing, oldest first. The first has certainly survived whatever comes, the last is the newest.
#[derive(Clone, Debug)]
pub struct States<T> {
    /// How many were before the first.
    gone: usize,
    states: Vec<T>,
}

impl<T> States<T> {
    pub fn new(first: T) -> Self {
        Self { gone: 0, states: vec![first] }
    }

    pub fn newest(&self) -> &T {
        self.states.last().expect("there is always one")
    }

    /// How many there have been: what [`Self::certain`] takes.
    pub fn count(&self) -> usize {
        self.gone + self.states.len()
    }

    pub fn push(&mut self, state: T) {
        self.states.push(state);
    }

    /// The newest was refused.
    pub fn pop(&mut self) {
        self.states.pop();
        assert!(!self.states.is_empty(), "only what was pushed is taken back");
    }

    /// When there were `count`, the last one of them was made to last.
    pub fn certain(&mut self, count: usize) {
        let before = count.min(self.count()).saturating_sub(self.gone + 1);
        self.states.drain(..before);
        self.gone += before;
    }

    /// One of them is there. `false`: none of them is.
    pub fn settle(&mut self, is_there: impl FnMut(&T) -> bool) -> bool {
        let Some(place) = self.states.iter().rposition(is_there) else { return false };
        self.states.truncate(place + 1);
        self.certain(usize::MAX);
        true
    }
}

/// Everything. It outlives the machine, and nobody gets the turn while it is locked.
#[derive(Clone)]
pub struct Model(Arc<Mutex<Known>>);

pub struct Known {
    /// `None`: there is no table yet.
    pub definition: States<Option<Definition>>,
    /// The newest definition is not acknowledged yet.
    pub defines: bool,
    /// By session.
    pub rows: Vec<States<Rows>>,
    /// The number of the next column or index.
    pub next: u16,
}

impl Model {
    pub fn new(sessions: usize) -> Self {
        let rows = vec![States::new(Rows::new()); sessions];
        Self(Arc::new(Mutex::new(Known { definition: States::new(None), defines: false, rows, next: 1 })))
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

    /// How many definitions there have been that are acknowledged.
    pub fn definitions(&self) -> usize {
        self.definition.count() - usize::from(self.defines)
    }

    /// The machine was stopped in good order.
    pub fn all_lasts(&mut self) {
        self.definition.certain(usize::MAX);
        self.rows.iter_mut().for_each(|rows| rows.certain(usize::MAX));
    }
}

impl Definition {
    pub fn drop_column(&mut self, column: Column) {
        self.columns.retain(|other| *other != column);
        self.indexes.values_mut().for_each(|columns| columns.retain(|other| *other != column));
        self.indexes.retain(|_, columns| !columns.is_empty());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_certain_stays() {
        let mut states = States::new(0);
        (1..6).for_each(|state| states.push(state));
        let mut other = states.clone();
        assert!(other.settle(|state| *state == 2) && *other.newest() == 2);
        assert!(!other.settle(|state| *state == 1));
        let so_far = states.count();
        states.push(6);
        states.certain(so_far);
        assert!(!states.clone().settle(|state| *state == 4), "5 lasts");
        assert!(states.clone().settle(|state| *state == 5) && states.clone().settle(|state| *state == 6));
        states.pop();
        // An earlier one is no news.
        states.certain(so_far - 2);
        assert_eq!((*states.newest(), states.count()), (5, so_far));
    }

    #[test]
    fn an_index_loses_what_the_table_loses() {
        let mut definition =
            Definition { columns: vec![0, 3, 1], indexes: BTreeMap::from([(2, vec![3]), (4, vec![1, 3]), (5, vec![0])]) };
        definition.drop_column(3);
        assert_eq!(definition.columns, [0, 1]);
        assert_eq!(definition.indexes, BTreeMap::from([(4, vec![1]), (5, vec![0])]));
    }
}
