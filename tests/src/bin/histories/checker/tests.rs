//! Histories made by hand, each with one anomaly, or with what a level allows.

use super::*;
use crate::history::{Operation, Transaction};

/// `+1:5` appends 5 to list 1; `1:[3,5]` reads list 1; `!1:[3]` reads it with a lock; `1:-` finds no row. `;` ends a statement.
fn operations(text: &str) -> Vec<Operation> {
    let mut all = Vec::new();
    for (statement, part) in text.split(';').enumerate() {
        for word in part.split_whitespace() {
            let (key, act) = word.split_once(':').expect("KEY:ACT");
            let numbers =
                || act.trim_matches(['[', ']']).split(',').filter(|n| !n.is_empty()).map(|n| n.parse().expect("a number"));
            let is_locked = key.starts_with('!');
            let is_append = key.starts_with('+');
            let key = key.trim_start_matches(['!', '+']).parse().expect("a key");
            let act = if is_append {
                Act::Append(act.parse().expect("an element"))
            } else {
                Act::Read { list: (act != "-").then(|| numbers().collect()), is_locked }
            };
            all.push(Operation { key, act, statement });
        }
    }
    all
}

/// Transactions that all overlap, unless `times` says otherwise.
fn history(level: Level, transactions: &[(Outcome, &str)], last: &[(Key, &[Element])]) -> History {
    let transactions = transactions
        .iter()
        .enumerate()
        .map(|(number, (outcome, text))| Transaction {
            name: format!("T{number}"),
            level,
            operations: operations(text),
            outcome: *outcome,
            began: 0,
            ended: 100,
        })
        .collect();
    History { transactions, last: last.iter().map(|(key, list)| (*key, list.to_vec())).collect() }
}

/// The beginning of the first anomaly; empty if there is none.
fn check_all(level: Level, transactions: &[(Outcome, &str)], last: &[(Key, &[Element])], expected: &str) {
    let verdict = check(&history(level, transactions, last));
    let first = verdict.anomalies.first().map_or("", String::as_str);
    if expected.is_empty() { assert_eq!(first, "") } else { assert!(first.contains(expected), "{first}, not {expected}") }
}

use Level::{ReadCommitted, ReadUncommitted, RepeatableRead, Serializable};
use Outcome::{Aborted, Committed, Unknown};

#[test]
fn what_is_lost_or_comes_back() {
    check_all(RepeatableRead, &[(Committed, "+1:1")], &[(1, &[1])], "");
    check_all(RepeatableRead, &[(Committed, "+1:1")], &[(1, &[])], "lost");
    check_all(RepeatableRead, &[(Aborted, "+1:1")], &[(1, &[1])], "rolled back");
    check_all(RepeatableRead, &[(Unknown, "+1:1")], &[(1, &[1])], "");
    check_all(RepeatableRead, &[(Unknown, "+1:1")], &[], "");
    check_all(RepeatableRead, &[(Unknown, "+1:1; +2:2")], &[(1, &[1])], "half of T0");
    check_all(RepeatableRead, &[(Committed, "+1:1")], &[(1, &[1, 1])], "twice");
    check_all(RepeatableRead, &[], &[(1, &[9])], "nobody");
}

#[test]
fn reads_of_what_was_never_there() {
    for level in [ReadCommitted, RepeatableRead, Serializable] {
        check_all(level, &[(Aborted, "+1:1"), (Committed, "1:[1]")], &[(1, &[])], "G1a");
        check_all(level, &[(Committed, "+1:1; +1:2"), (Committed, "1:[1]")], &[(1, &[1, 2])], "G1b");
        check_all(level, &[(Committed, "+1:1; 1:[]")], &[(1, &[1])], "internal");
        check_all(level, &[(Committed, "+1:1"), (Committed, "+1:2"), (Committed, "1:[2]")], &[(1, &[1, 2])], "which became");
    }
    check_all(ReadUncommitted, &[(Aborted, "+1:1"), (Committed, "1:[1]")], &[(1, &[])], "");
    check_all(RepeatableRead, &[(Aborted, "+1:1; 1:[1]")], &[(1, &[])], "");
}

#[test]
fn what_a_crash_takes_after_it_was_read() {
    let taken = |reader| [(Unknown, "+1:1"), (Committed, reader)];
    check_all(RepeatableRead, &taken("1:[1]"), &[(1, &[])], "");
    check_all(RepeatableRead, &taken("1:[1]; +2:2"), &[(1, &[]), (2, &[2])], "which became");
    check_all(RepeatableRead, &[(Committed, "+1:1"), (Unknown, "+1:2"), (Unknown, "1:[1,2]; +2:3")], &[(1, &[1])], "");
    check_all(RepeatableRead, &[(Unknown, "+1:1"), (Committed, "+1:2"), (Committed, "1:[1]")], &[(1, &[2])], "");
    check_all(RepeatableRead, &[(Unknown, "+1:1"), (Committed, "+1:2"), (Committed, "1:[1,2]")], &[(1, &[2])], "which became");
}

#[test]
fn dirty_writes() {
    let crossed: &[(Key, &[Element])] = &[(1, &[1, 3]), (2, &[4, 2])];
    for level in Level::ALL {
        check_all(level, &[(Committed, "+1:1; +2:2"), (Committed, "+1:3; +2:4")], crossed, "G0");
    }
}

#[test]
fn circular_information() {
    let flow = &[(Committed, "+1:1; 2:[2]"), (Committed, "+2:2; 1:[1]")];
    let last: &[(Key, &[Element])] = &[(1, &[1]), (2, &[2])];
    check_all(Serializable, flow, last, "G1c");
    check_all(ReadCommitted, flow, last, "G1c");
    check_all(RepeatableRead, flow, last, "G1c");
    check_all(ReadUncommitted, flow, last, "");
}

#[test]
fn lost_updates_and_read_skew() {
    let last: &[(Key, &[Element])] = &[(1, &[1]), (2, &[2])];
    let skew = &[(Committed, "+1:1; +2:2"), (Committed, "1:-; 2:[2]")];
    check_all(Serializable, skew, last, "G-single");
    check_all(RepeatableRead, skew, last, "G-single");
    check_all(ReadCommitted, skew, last, "");
    // One statement has one snapshot at READ COMMITTED too.
    check_all(ReadCommitted, &[(Committed, "+1:1; +2:2"), (Committed, "1:- 2:[2]")], last, "G-single");
    // A read that locks keeps others from writing until the end.
    let after_lock = &[(Committed, "!1:[1]; +1:3"), (Committed, "+1:2"), (Committed, "+1:1")];
    check_all(RepeatableRead, after_lock, &[(1, &[1, 2, 3])], "G-single");
    check_all(ReadCommitted, after_lock, &[(1, &[1, 2, 3])], "G-single");
    // A snapshot does not, as in InnoDB.
    let after_snapshot = &[(Committed, "1:[1]; +1:3"), (Committed, "+1:2"), (Committed, "+1:1")];
    check_all(RepeatableRead, after_snapshot, &[(1, &[1, 2, 3])], "");
    check_all(Serializable, after_snapshot, &[(1, &[1, 2, 3])], "G-single");
}

#[test]
fn write_skew() {
    let skew = &[(Committed, "1:-; +2:2"), (Committed, "2:-; +1:1")];
    let last: &[(Key, &[Element])] = &[(1, &[1]), (2, &[2])];
    check_all(Serializable, skew, last, "G2");
    check_all(RepeatableRead, skew, last, "");
    // Two snapshots that see two commits in different orders.
    let long_fork = &[(Committed, "+1:1"), (Committed, "+2:2"), (Committed, "1:[1]; 2:-"), (Committed, "1:-; 2:[2]")];
    check_all(RepeatableRead, long_fork, last, "G2");
    check_all(ReadCommitted, long_fork, last, "");
}

#[test]
fn reads_that_miss_what_was_acknowledged_before() {
    for level in [ReadCommitted, RepeatableRead, Serializable] {
        let mut late = history(level, &[(Committed, "+1:1"), (Committed, "1:-")], &[(1, &[1])]);
        assert_eq!(check(&late).anomalies, Vec::<String>::new());
        (late.transactions[0].ended, late.transactions[1].began) = (10, 20);
        let anomalies = check(&late).anomalies;
        assert!(anomalies.first().is_some_and(|first| first.starts_with("G-single with the clock")), "{anomalies:?}");
    }
}
