//! One statement that has ended, and sums of such.

use super::Name;
use crate::digests::{Measured, Statistics};
use std::rc::Rc;

/// Bytes of a text that is kept: `performance_schema_max_sql_text_length`.
const TEXT_BYTES_MAX: usize = 1024;

/// The error of a statement: number, SQLSTATE, message.
pub type Failure = Box<(u16, [u8; 5], String)>;

/// The stored program that a statement belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// `PROCEDURE`, `FUNCTION`, `TRIGGER`, `EVENT`
    pub kind: &'static str,
    pub database: Box<str>,
    pub name: Box<str>,
}

/// A statement that ends.
#[derive(Clone, Debug)]
pub struct Ended<'a> {
    pub name: Name,
    pub text: &'a [u8],
    pub statistics: Option<&'a Rc<Statistics>>,
    pub measured: &'a Measured,
    /// Ticks.
    pub ended: u64,
    pub waited: u64,
    pub locked: u64,
    pub program: Option<Rc<Program>>,
}

impl Ended<'_> {
    #[inline]
    fn time(&self) -> u64 {
        self.ended.saturating_sub(self.measured.began)
    }
}

/// What is left to do with the text of a statement that has ended.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct After {
    /// It belongs in the slow log (`State::log_slow`).
    pub is_logged: bool,
    /// Its execution is to be kept (`State::keep_execution`).
    pub is_kept: bool,
}

impl After {
    #[inline]
    pub fn is_any(self) -> bool {
        self.is_logged | self.is_kept
    }
}

/// A line about a statement that has ended.
#[derive(Clone, Debug, Default)]
pub struct Statement {
    pub id: u64,
    pub end_id: u64,
    /// The event of the statement or, at level 0, the transaction around it; 0: none.
    pub nested_in: u64,
    pub level: u32,
    pub name: Name,
    pub text: Vec<u8>,
    pub statistics: Option<Rc<Statistics>>,
    pub measured: Measured,
    pub ended: u64,
    pub waited: u64,
    pub locked: u64,
    pub error: Option<Failure>,
    pub program: Option<Rc<Program>>,
}

impl Statement {
    #[inline]
    pub fn fill(&mut self, ended: &Ended<'_>, id: u64, end_id: u64, nested_in: u64, level: u32) {
        self.text.clear();
        self.text.extend_from_slice(&ended.text[..ended.text.len().min(TEXT_BYTES_MAX)]);
        match (&self.statistics, ended.statistics) {
            // The usual case: a session repeats its statements.
            (Some(own), Some(other)) if Rc::ptr_eq(own, other) => {}
            (_, other) => self.statistics = other.cloned(),
        }
        (self.id, self.end_id, self.nested_in, self.level, self.name) = (id, end_id, nested_in, level, ended.name);
        (self.measured, self.ended, self.waited, self.locked) = (*ended.measured, ended.ended, ended.waited, ended.locked);
        if self.error.is_some() {
            self.error = None;
        }
        if self.program.is_some() || ended.program.is_some() {
            self.program.clone_from(&ended.program);
        }
    }
}

macro_rules! event_sums {
    ($($field:ident),*) => {
        /// Sums of statements. Times are ticks.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct EventSums {
            pub count: u64,
            pub least: u64,
            pub most: u64,
            $(pub $field: u64,)*
        }

        impl EventSums {
            pub fn add(&mut self, other: &Self) {
                if other.count > 0 {
                    self.least = if self.count == 0 { other.least } else { self.least.min(other.least) };
                }
                self.count += other.count;
                self.most = self.most.max(other.most);
                $(self.$field += other.$field;)*
            }
        }
    };
}

event_sums!(
    time,
    waited,
    locked,
    errors,
    warnings,
    affected,
    sent,
    examined,
    temporary_tables,
    full_joins,
    ranges,
    scans,
    sort_ranges,
    sort_rows,
    sort_scans,
    no_index
);

impl EventSums {
    #[inline]
    pub fn note(&mut self, ended: &Ended<'_>) {
        let (time, of) = (ended.time(), ended.measured);
        self.least = if self.count == 0 { time } else { self.least.min(time) };
        self.most = self.most.max(time);
        self.count += 1;
        self.time += time;
        self.affected += of.affected;
        self.sent += of.sent;
        self.examined += of.examined;
        if of.failed || of.warnings > 0 || ended.waited > 0 {
            self.errors += u64::from(of.failed);
            self.warnings += of.warnings;
            self.waited += ended.waited;
            self.locked += ended.locked;
        }
        if of.ways.is_any() || of.has_sorted() {
            self.note_ways(of);
        }
    }

    fn note_ways(&mut self, of: &Measured) {
        self.temporary_tables += u64::from(of.ways.gathers);
        self.full_joins += u64::from(of.ways.full_joins);
        self.ranges += u64::from(of.ways.range);
        self.scans += u64::from(of.ways.scan);
        self.no_index += u64::from(of.ways.no_index);
        self.sort_ranges += of.sort_ranges;
        self.sort_rows += of.sort_rows;
        self.sort_scans += of.sort_scans;
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::digests::Ways;

    /// A statement of the text, which did not wait.
    pub(in crate::record) fn ended<'a>(text: &'a [u8], measured: &'a Measured, ended: u64) -> Ended<'a> {
        Ended { name: Name::ERROR, text, statistics: None, measured, ended, waited: 0, locked: 0, program: None }
    }

    #[test]
    fn statements_add_up() {
        let mut sums = EventSums::default();
        for (time, failed) in [(7, true), (5, false)] {
            let ways = Ways { scan: 1, ..Ways::default() };
            let measured = Measured { began: 10, sent: 2, failed, ways, sort_rows: 5, ..Measured::default() };
            sums.note(&Ended { waited: 3, ..ended(b"", &measured, 10 + time) });
        }
        let mut both = EventSums::default();
        both.add(&sums);
        both.add(&EventSums::default());
        both.add(&sums);
        assert_eq!((both.count, both.least, both.most, both.time, both.sent), (4, 5, 7, 24, 8));
        assert_eq!((both.errors, both.waited, both.scans, both.sort_rows), (2, 12, 4, 20));
    }
}
