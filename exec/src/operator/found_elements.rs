//! The clustered keys of the rows that a multi-valued index finds for MEMBER OF, JSON_CONTAINS or JSON_OVERLAPS.
//!
//! 1. The constant says which elements are looked up, or that no row can be left out (`expr::function::search_elements`).
//! 2. Of any of several elements the entries are read one element after the other. Of all of several they are read side by side: the first
//!    list that ends has the fewest rows, and is the result.
//! 3. The keys are sorted, and each is given once.
//!
//! M1: the caller judges the condition on each row: a row may have been found by one of several elements, and entries may be equal for
//!     elements that are not.
//! M2: as in a full-text search, rows are locked when they are read, not the places between them.

use super::found_rows::KeyList;
use crate::access;
use crate::pause::Step;
use crate::run::Run;
use expr::Expr;
use expr::function::{AskedOfArray, ElementSearch, search_elements};
use sql::plan::KeyRange;
use table::{EncodedRange, EntryScan, Table};
use txn::ReadMode;
use types::Value;

/// Elements that are read side by side.
const SIDES_MAX: usize = 8;

pub(crate) struct FoundElements<'p> {
    index: usize,
    prefix: &'p KeyRange,
    asked: AskedOfArray,
    constant: &'p Expr,
    is_loading: bool,
    is_everything: bool,
    /// The encoded columns before the array.
    range: EncodedRange,
    elements: Vec<Value<'static>>,
    next_element: usize,
    /// Of the element before `next_element`.
    scan: Option<EntryScan>,
    sides: Vec<Side>,
    next_side: usize,
    found: KeyList,
}

/// The entries of one element, as far as they are read.
struct Side {
    scan: EntryScan,
    keys: KeyList,
}

impl<'p> FoundElements<'p> {
    pub fn new(index: usize, prefix: &'p KeyRange, asked: AskedOfArray, constant: &'p Expr) -> Self {
        Self {
            index,
            prefix,
            asked,
            constant,
            is_loading: false,
            is_everything: false,
            range: EncodedRange::default(),
            elements: Vec::new(),
            next_element: 0,
            scan: None,
            sides: Vec::new(),
            next_side: 0,
            found: KeyList::default(),
        }
    }

    /// Can no row be left out?
    pub fn is_everything(&self) -> bool {
        self.is_everything
    }

    /// Starts over. Restartable.
    pub fn start(&mut self, run: &mut Run<'p>, table: &'p Table, latest: bool) -> Step<()> {
        let mode = if latest { ReadMode::Latest } else { ReadMode::Snapshot };
        if !self.is_loading {
            self.begin(run, table, mode)?;
            self.is_loading = true;
        }
        if self.sides.is_empty() {
            self.read_any(run, table, mode)?
        } else {
            self.read_all(run, table)?
        }
        self.found.sort();
        self.sides.clear();
        self.is_loading = false;
        Ok(())
    }

    fn begin(&mut self, run: &mut Run<'p>, table: &'p Table, mode: ReadMode) -> Step<()> {
        self.found.clear();
        self.sides.clear();
        (self.next_element, self.next_side, self.is_everything) = (0, 0, false);
        self.elements.clear();
        self.scan = None;
        let env = run.env(&[]);
        let Some(element) = table.element_type(self.index) else {
            self.is_everything = true;
            return Ok(());
        };
        let search = search_elements(&env, self.asked, self.constant, element)?;
        if search == ElementSearch::Everything {
            self.is_everything = true;
            return Ok(());
        }
        if !access::encode_range(&env, table, self.index, self.prefix, &mut self.range)? {
            // No row has these values.
            return Ok(());
        }
        match search {
            ElementSearch::Any(elements) => self.elements = elements,
            ElementSearch::All(elements) if elements.len() == 1 => self.elements = elements,
            ElementSearch::All(elements) => {
                for element in elements.iter().take(SIDES_MAX) {
                    match EntryScan::of_element(table, self.index, &self.range.low, element, mode) {
                        Some(scan) => self.sides.push(Side { scan, keys: KeyList::default() }),
                        None => {
                            self.sides.clear();
                            break;
                        }
                    }
                }
            }
            ElementSearch::Everything => {}
        }
        Ok(())
    }

    /// One element after the other.
    fn read_any(&mut self, run: &mut Run<'p>, table: &'p Table, mode: ReadMode) -> Step<()> {
        loop {
            let Some(scan) = &mut self.scan else {
                let Some(element) = self.elements.get(self.next_element) else { return Ok(()) };
                self.scan = EntryScan::of_element(table, self.index, &self.range.low, element, mode);
                self.next_element += 1;
                continue;
            };
            run.tick()?;
            if !scan.fill(table, run.worker, run.txn)? {
                self.scan = None;
                continue;
            }
            while let Some(key) = scan.next(table)? {
                self.found.push(key);
            }
            self.found.charge(run)?;
        }
    }

    fn read_all(&mut self, run: &mut Run<'p>, table: &'p Table) -> Step<()> {
        loop {
            let count = self.sides.len();
            let side = &mut self.sides[self.next_side % count];
            run.tick()?;
            if !side.scan.fill(table, run.worker, run.txn)? {
                std::mem::swap(&mut self.found, &mut side.keys);
                return Ok(());
            }
            while let Some(key) = side.scan.next(table)? {
                side.keys.push(key);
            }
            side.keys.charge(run)?;
            self.next_side += 1;
        }
    }

    pub fn next(&mut self) -> Option<&[u8]> {
        self.found.next()
    }
}
