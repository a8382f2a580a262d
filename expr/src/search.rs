//! The full-text searches of a statement, which MATCH ... AGAINST evaluates.
//!
//! 1. Evaluation (`function::fulltext`) computes the text of AGAINST, and looks up the search of that text.
//! 2. If there is none, it notes what it asks for and returns `Pause::Search`. The driver reads the index, keeps the search here, and
//!    evaluation of the row starts over.
//! 3. The rank of a row is that which the search found for its key, or is computed from its texts.
//!
//! S1: both ranks are the same (`types::fulltext`, T4), as long as the row is the version that the search saw.

use std::cell::RefCell;
use std::rc::Rc;
use types::Value;
use types::fulltext::{Ranker, WordCutter};

/// How AGAINST reads its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchMode {
    Natural,
    Boolean,
    /// WITH QUERY EXPANSION
    Expansion,
}

impl SearchMode {
    const ALL: [Self; 3] = [Self::Natural, Self::Boolean, Self::Expansion];

    /// As an argument of the call.
    pub fn number(self) -> i64 {
        self as i64
    }

    /// Of an argument of the call.
    pub fn of(value: &Value<'_>) -> Option<Self> {
        let Value::Int(number) = value else { return None };
        Self::ALL.get(usize::try_from(*number).ok()?).copied()
    }

    /// As MySQL prints it behind the text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Natural => "",
            Self::Boolean => " in boolean mode",
            Self::Expansion => " with query expansion",
        }
    }
}

/// What a search looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The id of the table.
    pub table: u64,
    pub index: usize,
    pub mode: SearchMode,
    pub text: Vec<u8>,
    /// The latest versions of rows are searched, not those of the snapshot.
    pub latest: bool,
}

/// The rows that a search has found.
#[derive(Debug, Default)]
pub struct FoundRows {
    /// Clustered keys, one behind the other, in their order.
    pub keys: Vec<u8>,
    /// The end of each.
    pub ends: Vec<usize>,
    pub ranks: Vec<f32>,
    /// Their numbers, the best first.
    pub order: Vec<u32>,
    /// The ranks are those of the rows that the statement reads. Otherwise the texts of these must be looked at.
    pub is_exact: bool,
}

impl FoundRows {
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The key of row `number`, in the order of keys.
    pub fn key(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.keys[start..self.ends[number]]
    }

    /// The rank of a row; `None`: it was not found.
    pub(crate) fn rank_of(&self, key: &[u8]) -> Option<f32> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.key(middle).cmp(key) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(self.ranks[middle]),
            }
        }
        None
    }
}

/// A search that was carried out.
#[derive(Debug)]
pub struct Search {
    pub asked: Asked,
    pub cutter: WordCutter,
    pub ranker: Ranker,
    pub found: FoundRows,
}

/// The searches of a statement.
#[derive(Debug, Default)]
pub struct Searches {
    known: RefCell<Vec<Rc<Search>>>,
    wanted: RefCell<Option<Asked>>,
}

impl Searches {
    /// What evaluation asks for.
    pub fn take_wanted(&self) -> Option<Asked> {
        self.wanted.take()
    }

    /// The search that is asked for; `None`: it is not known, and noted as wanted. One of the latest versions serves for any.
    pub(crate) fn find(&self, asked: impl Fn(&Asked) -> bool, wanted: impl FnOnce() -> Asked) -> Option<Rc<Search>> {
        if let Some(known) = self.known.borrow().iter().find(|search| asked(&search.asked)) {
            return Some(Rc::clone(known));
        }
        self.wanted.replace(Some(wanted()));
        None
    }

    pub fn keep(&self, search: Search) {
        self.known.borrow_mut().push(Rc::new(search));
    }
}
