//! Loops that an earlier result causes, and statements that only look so.

use super::*;
use crate::digests::Digests;
use sql::Repeated as Rows;
use types::SqlMode;

struct Session {
    digests: Digests,
    causes: Option<Box<Causes>>,
}

impl Session {
    fn new() -> Self {
        Self { digests: Digests::new(100, true), causes: None }
    }

    /// Runs a statement whose result has these rows.
    fn run(&mut self, text: &str, params: &[i64], rows: &[&[i64]]) {
        let statistics = self.digests.find(Some("d"), text.as_bytes(), &SqlMode::DEFAULT, Rows::default());
        let params: Vec<Value<'_>> = params.iter().map(|param| Value::Int(*param)).collect();
        if let Some(causes) = &mut self.causes {
            causes.ask(&params);
        }
        for (row, values) in (0u32..).zip(rows).filter(|(row, _)| Causes::takes_row(*row)) {
            for (column, value) in (0u16..).zip(*values) {
                Causes::note(&mut self.causes, row, column, &Value::Int(*value));
            }
        }
        if let Some(causes) = &mut self.causes {
            causes.end(&statistics, false);
        }
        let clock = os::TickClock::start();
        statistics.record(&crate::digests::Measured::default(), os::ticks(), text.as_bytes(), &clock);
    }

    fn caused(&self, text: &str) -> (u64, Option<(String, usize)>) {
        let found = self.digests.summaries().into_iter().find(|summary| summary.text.as_deref() == Some(text));
        found.map_or((0, None), |summary| (summary.sums.caused, summary.cause))
    }
}

const BOOKS: &str = "SELECT * FROM books LIMIT 30";
const AUTHOR: &str = "SELECT * FROM authors WHERE id = 5";
const AUTHORS: &str = "SELECT * FROM `authors` WHERE `id` = ?";

fn books(authors: impl Iterator<Item = i64>) -> Vec<Vec<i64>> {
    (1000..).zip(authors).map(|(id, author)| vec![id, author]).collect()
}

fn borrowed(rows: &[Vec<i64>]) -> Vec<&[i64]> {
    rows.iter().map(Vec::as_slice).collect()
}

#[test]
fn a_statement_for_each_row_of_a_list_is_caused_by_it() {
    let mut session = Session::new();
    let rows = books((0..30).map(|n| 77 + n * 13));
    session.run(BOOKS, &[], &borrowed(&rows));
    for row in &rows {
        session.run(AUTHOR, &[row[1]], &[&[row[1]]]);
    }
    let (caused, by) = session.caused(AUTHORS);
    // The first row's author is not noted, and neither is the statement's first execution looked up.
    assert_eq!((caused, by), (29, Some(("SELECT * FROM `books` LIMIT ?".to_owned(), 1))));
}

#[test]
fn a_loop_with_two_statements_that_have_results_of_their_own_is_seen() {
    let mut session = Session::new();
    let rows = books((0..30).map(|n| 77 + n * 13));
    session.run(BOOKS, &[], &borrowed(&rows));
    for row in &rows {
        session.run(AUTHOR, &[row[1]], &[&[row[1], 5000], &[row[1] + 100_000, 6000], &[7, 8]]);
        session.run("SELECT * FROM reviews WHERE book = 1", &[row[0]], &[&[900_000 + row[0], 3], &[800_000 + row[0], 4]]);
    }
    assert!(session.caused(AUTHORS).0 > 20);
    assert!(session.caused("SELECT * FROM `reviews` WHERE `book` = ?").0 > 20);
}

#[test]
fn loops_over_other_keys_are_not_caused() {
    let mut session = Session::new();
    let rows = books((0..100).map(|n| 77 + n * 13));
    session.run(BOOKS, &[], &borrowed(&rows));
    // Some of the numbers are there by chance.
    for key in 70..600 {
        session.run(AUTHOR, &[key], &[&[key]]);
    }
    assert_eq!(session.caused(AUTHORS).0, 0);
    // One value for many executions is no list.
    session.run(BOOKS, &[], &borrowed(&rows));
    for _ in 0..50 {
        session.run(AUTHOR, &[77 + 13], &[&[1]]);
    }
    assert_eq!(session.caused(AUTHORS).0, 0);
}

#[test]
fn random_rows_of_a_small_table_are_no_loop() {
    let mut session = Session::new();
    let rows = books(2..102);
    session.run(BOOKS, &[], &borrowed(&rows));
    let mut key: i64 = 7;
    for _ in 0..500 {
        key = key * 1_103 % 10_007;
        session.run(AUTHOR, &[2 + key % 100], &[&[1]]);
    }
    assert_eq!(session.caused(AUTHORS).0, 0);
}

#[test]
fn pages_after_the_last_row_are_no_loop() {
    let mut session = Session::new();
    for page in 0..40i64 {
        let rows = books((0..10).map(|n| page * 10 + n + 2));
        session.run("SELECT * FROM books WHERE author > 5 LIMIT 10", &[page * 10 + 1], &borrowed(&rows));
    }
    assert_eq!(session.caused("SELECT * FROM `books` WHERE `author` > ? LIMIT ?").0, 0);
}

#[test]
fn one_question_for_all_rows_is_not_caused() {
    let mut session = Session::new();
    let rows = books((0..30).map(|n| 77 + n * 13));
    for _ in 0..30 {
        session.run(BOOKS, &[], &borrowed(&rows));
        let all: Vec<i64> = rows.iter().map(|row| row[1]).collect();
        session.run("SELECT * FROM authors WHERE id IN (1, 2, 3)", &all, &[&[1]]);
    }
    assert_eq!(session.digests.summaries().iter().map(|summary| summary.sums.caused).sum::<u64>(), 0);
}

#[test]
fn point_selects_make_no_sketch() {
    let mut session = Session::new();
    for key in 2..100 {
        session.run(AUTHOR, &[key], &[&[key, key + 1]]);
    }
    assert!(session.causes.is_none());
    // K4: results whose values nobody asks for are forgotten.
    session.run(BOOKS, &[], &borrowed(&books((0..30).map(|n| 5000 + n))));
    for key in 2..100 {
        session.run(AUTHOR, &[key], &[&[key, key + 1]]);
    }
    let causes = session.causes.expect("a list was read");
    assert!(causes.results.iter().all(|result| result.number == 0));
}

#[test]
fn numbers_are_the_same_in_quotes() {
    let text = |text: &'static str| hash_of(&Value::Bytes(text.as_bytes().into()));
    assert_eq!(text("4711"), hash_of(&Value::UInt(4711)));
    assert_ne!(text("04711"), hash_of(&Value::UInt(4711)));
    assert_eq!((text(""), hash_of(&Value::Int(1)), hash_of(&Value::Null)), (None, None, None));
}
