//! Histories with known anomalies, and without.

use super::check;
use crate::history::{Act, History, Key, Level, Operation, Outcome, ReadKind, Span, Time, Transaction};

fn at(time: Time) -> Span {
    Span { from: time, to: time }
}

fn write(key: Key, time: Time, elements: &[u64]) -> Operation {
    Operation { key, span: at(time), act: Act::Write { elements: Some(elements.to_vec()) }, undone: false }
}

fn read(key: Key, time: Time, kind: ReadKind, found: &[u64]) -> Operation {
    let found = (!found.is_empty()).then(|| found.to_vec());
    Operation { key, span: at(time), act: Act::Read { kind, found }, undone: false }
}

fn transaction(number: u64, level: Level, snapshot: Option<Time>, operations: Vec<Operation>, end: Time) -> Transaction {
    Transaction {
        operations,
        snapshots: snapshot.map(at).into_iter().collect(),
        finish: at(end),
        outcome: Outcome::Committed,
        acknowledged: true,
        ..Transaction::new(number, level)
    }
}

fn history(transactions: Vec<Transaction>) -> History {
    History { transactions, lasting_keys: 100, ..History::default() }
}

const SNAPSHOT: ReadKind = ReadKind::Snapshot(0);

fn refused(transactions: Vec<Transaction>, why: &str) {
    let found = check(&history(transactions)).expect_err("an anomaly");
    assert!(found.contains(why), "{found}");
}

#[test]
fn a_serial_history_is_sound() {
    let first = transaction(1, Level::Serializable, None, vec![write(1, 1, &[10]), write(2, 2, &[11])], 3);
    let second = transaction(2, Level::RepeatableRead, Some(4), vec![read(1, 4, SNAPSHOT, &[10]), write(1, 5, &[10, 20])], 6);
    assert!(check(&history(vec![first, second])).is_ok());
}

#[test]
fn a_snapshot_is_one_moment() {
    let first = transaction(1, Level::RepeatableRead, None, vec![write(1, 1, &[10]), write(2, 2, &[11])], 3);
    let half = transaction(2, Level::RepeatableRead, Some(5), vec![read(1, 5, SNAPSHOT, &[10]), read(2, 6, SNAPSHOT, &[])], 7);
    refused(vec![first, half], "does not show key 2");
}

#[test]
fn what_was_rolled_back_is_not_read() {
    let mut first = transaction(1, Level::RepeatableRead, None, vec![write(1, 1, &[10])], 4);
    first.outcome = Outcome::Aborted;
    let second = transaction(2, Level::ReadCommitted, Some(2), vec![read(1, 2, SNAPSHOT, &[10])], 3);
    refused(vec![first, second], "G1a");
}

#[test]
fn updates_are_not_lost() {
    let first = transaction(1, Level::RepeatableRead, None, vec![write(1, 1, &[10])], 2);
    let second = transaction(2, Level::RepeatableRead, None, vec![write(1, 3, &[20])], 4);
    refused(vec![first, second], "lost update");
}

#[test]
fn write_skew_is_a_cycle_of_locking_reads_only() {
    let skewed = |kind: ReadKind, snapshot: Option<Time>, level| {
        let first = transaction(1, level, snapshot, vec![read(1, 1, kind, &[]), write(2, 5, &[10])], 7);
        let second = transaction(2, level, snapshot, vec![read(2, 1, kind, &[]), write(1, 5, &[20])], 7);
        history(vec![first, second])
    };
    assert!(check(&skewed(SNAPSHOT, Some(1), Level::RepeatableRead)).is_ok());
    let locked = skewed(ReadKind::Locked, None, Level::Serializable);
    assert!(check(&locked).expect_err("an anomaly").contains("read with a lock"));
    assert!(super::cycles::check(&locked).expect_err("an anomaly").starts_with("G2"));
}

#[test]
fn a_reader_between_two_commits_is_a_single_cycle() {
    let first = transaction(1, Level::RepeatableRead, None, vec![write(1, 1, &[10])], 2);
    let second = transaction(2, Level::RepeatableRead, None, vec![write(1, 3, &[10, 20]), write(2, 3, &[21])], 4);
    let reader =
        transaction(3, Level::RepeatableRead, Some(5), vec![read(1, 5, SNAPSHOT, &[10]), read(2, 6, SNAPSHOT, &[21])], 7);
    let found = super::cycles::check(&history(vec![first, second, reader])).expect_err("an anomaly");
    assert!(found.starts_with("G-single"), "{found}");
}

#[test]
fn rows_do_not_appear_in_locked_gaps() {
    let reader = |level| transaction(1, level, None, vec![read(200, 1, ReadKind::Locked, &[])], 5);
    let writer = transaction(2, Level::ReadCommitted, None, vec![write(200, 3, &[10])], 4);
    refused(vec![reader(Level::RepeatableRead), writer.clone()], "read with a lock");
    assert!(check(&history(vec![reader(Level::ReadCommitted), writer])).is_ok());
}
