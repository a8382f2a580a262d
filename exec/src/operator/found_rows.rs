//! The clustered keys of the rows that an index with several entries of a row has found: of a full-text search the best first, of a
//! spatial one in their order.

use super::found_elements::FoundElements;
use super::found_nearest::FoundNearest;
use crate::pause::Step;
use crate::run::Run;
use expr::Expr;
use expr::function::{AskedOfArray, search_box, search_of};
use expr::search::Search;
use sql::plan::{KeyRange, Nearest};
use std::rc::Rc;
use table::{EntryScan, Table};
use txn::ReadMode;
use types::geometry::cells::{self, Interval};

pub(crate) enum FoundKeys<'p> {
    Words(FoundWords<'p>),
    Cells(Box<FoundCells<'p>>),
    Elements(Box<FoundElements<'p>>),
    Nearest(Box<FoundNearest<'p>>),
}

pub(crate) struct FoundWords<'p> {
    /// The call of MATCH.
    call: &'p Expr,
    search: Option<Rc<Search>>,
    next: usize,
}

impl<'p> FoundKeys<'p> {
    pub fn of_words(call: &'p Expr) -> Self {
        Self::Words(FoundWords { call, search: None, next: 0 })
    }

    pub fn of_cells(index: usize, call: &'p Expr, constant: &'p Expr) -> Self {
        Self::Cells(Box::new(FoundCells::new(index, call, constant)))
    }

    pub fn of_elements(index: usize, prefix: &'p KeyRange, asked: AskedOfArray, constant: &'p Expr) -> Self {
        Self::Elements(Box::new(FoundElements::new(index, prefix, asked, constant)))
    }

    pub fn of_nearest(plan: &'p Nearest) -> Self {
        Self::Nearest(Box::new(FoundNearest::new(plan)))
    }

    /// Can the index leave out no row, so that the table is to be read in its place?
    pub fn is_everything(&self) -> bool {
        match self {
            Self::Elements(found) => found.is_everything(),
            Self::Nearest(found) => found.is_everything(),
            _ => false,
        }
    }

    /// Are there keys behind those that were given? Restartable.
    pub fn more(&mut self, run: &mut Run<'p>, table: &'p Table) -> Step<bool> {
        match self {
            Self::Nearest(found) => found.more(run, table),
            _ => Ok(false),
        }
    }

    /// The row of the last key satisfies the scan's conditions.
    pub fn keep(&mut self) {
        if let Self::Nearest(found) = self {
            found.keep();
        }
    }

    /// Starts over; `latest`: the latest versions of rows are searched. Restartable.
    pub fn start(&mut self, run: &mut Run<'p>, table: &'p Table, latest: bool) -> Step<()> {
        match self {
            Self::Words(words) => {
                words.search = search_of(&run.env(&[]), words.call, latest)?;
                words.next = 0;
                Ok(())
            }
            Self::Cells(found) => found.start(run, table, latest),
            Self::Elements(found) => found.start(run, table, latest),
            Self::Nearest(found) => found.start(run, table),
        }
    }

    /// How many rows match, if that is known without a look at them.
    pub fn count(&self) -> Option<u64> {
        let Self::Words(words) = self else { return None };
        let Some(search) = &words.search else { return Some(0) };
        let is_true = |rank: &&f32| **rank != 0.0;
        search.found.is_exact.then(|| search.found.ranks.iter().filter(is_true).count() as u64)
    }

    /// The next key.
    pub fn next(&mut self) -> Option<&[u8]> {
        match self {
            Self::Words(words) => {
                let found = &words.search.as_ref()?.found;
                let number = *found.order.get(words.next)?;
                words.next += 1;
                Some(found.key(number as usize))
            }
            Self::Cells(found) => found.next(),
            Self::Elements(found) => found.next(),
            Self::Nearest(found) => found.next(),
        }
    }
}

/// The rows whose boxes may meet that of a constant: from the entries of a SPATIAL index.
///
/// 1. The box of the constant says which intervals of cells are read.
/// 2. A row has several entries, so the keys are sorted, and each is given once.
///
/// C1: the caller judges the condition on each row: cells are larger than boxes.
/// C2: as in a full-text search, rows are locked when they are read, not the places between them.
pub(crate) struct FoundCells<'p> {
    index: usize,
    call: &'p Expr,
    constant: &'p Expr,
    intervals: Vec<Interval>,
    next_interval: usize,
    scan: Option<EntryScan>,
    is_loading: bool,
    keys: KeyList,
}

/// Clustered keys that were found, and then each once in their order.
#[derive(Default)]
pub(crate) struct KeyList {
    keys: Vec<u8>,
    /// Where each key is.
    places: Vec<(usize, usize)>,
    next: usize,
    /// Bytes of memory that the statement answers for.
    charged: usize,
}

impl KeyList {
    pub fn clear(&mut self) {
        self.keys.clear();
        self.places.clear();
        self.next = 0;
    }

    pub fn push(&mut self, key: &[u8]) {
        let start = self.keys.len();
        self.keys.extend_from_slice(key);
        self.places.push((start, self.keys.len()));
    }

    /// Counts the memory that was added.
    pub fn charge(&mut self, run: &mut Run<'_>) -> Step<()> {
        let held = self.keys.capacity() + self.places.capacity() * size_of::<(usize, usize)>();
        if held > self.charged {
            run.charge(held - self.charged)?;
            self.charged = held;
        }
        Ok(())
    }

    /// Puts the keys in order, each once.
    pub fn sort(&mut self) {
        let keys = &self.keys;
        self.places.sort_unstable_by(|a, b| keys[a.0..a.1].cmp(&keys[b.0..b.1]));
        self.places.dedup_by(|a, b| keys[a.0..a.1] == keys[b.0..b.1]);
    }

    pub fn next(&mut self) -> Option<&[u8]> {
        let (start, end) = *self.places.get(self.next)?;
        self.next += 1;
        Some(&self.keys[start..end])
    }
}

impl<'p> FoundCells<'p> {
    fn new(index: usize, call: &'p Expr, constant: &'p Expr) -> Self {
        Self {
            index,
            call,
            constant,
            intervals: Vec::new(),
            next_interval: 0,
            scan: None,
            is_loading: false,
            keys: KeyList::default(),
        }
    }

    fn start(&mut self, run: &mut Run<'p>, table: &'p Table, latest: bool) -> Step<()> {
        if !self.is_loading {
            let wanted = search_box(&run.env(&[]), self.call, self.constant)?;
            self.keys.clear();
            (self.next_interval, self.scan) = (0, None);
            self.intervals = wanted.map_or_else(Vec::new, |wanted| cells::search(&wanted));
            self.is_loading = true;
        }
        let mode = if latest { ReadMode::Latest } else { ReadMode::Snapshot };
        loop {
            if self.scan.is_none() {
                let Some(interval) = self.intervals.get(self.next_interval) else { break };
                self.scan = Some(EntryScan::of_cells(table, self.index, interval, mode));
                self.next_interval += 1;
            }
            let scan = self.scan.as_mut().expect("just made");
            run.tick()?;
            if !scan.fill(table, run.worker, run.txn)? {
                self.scan = None;
                continue;
            }
            while let Some(key) = scan.next(table)? {
                self.keys.push(key);
            }
            self.keys.charge(run)?;
        }
        self.keys.sort();
        self.is_loading = false;
        Ok(())
    }

    fn next(&mut self) -> Option<&[u8]> {
        self.keys.next()
    }
}
