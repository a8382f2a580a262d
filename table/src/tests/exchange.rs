//! EXCHANGE PARTITION cut off by a kill: both tables have their own rows or each other's, by what was acknowledged, and no tree is left
//! over.
//!
//! A partition changes places with one of three tables after the other, so that no state is that of the exchange before or of the next.

use super::crash::{open, run_and_kill, run_until_killed};
use super::partitions::{options, ranges};
use super::*;
use rand::Rng;
use std::time::Duration;

const OTHERS: usize = 3;
/// Rows of each partition, and of each of the other tables.
const ROWS: i64 = 200;
const PARTITIONS: i64 = 3;

fn other(number: usize) -> String {
    format!("other{number}")
}

/// `whole (id, a, note)` in partitions of `ROWS`, and the others with rows of the second; `a` says whose rows they were at first.
fn make(database: &Database, worker: &Worker) {
    database.create_database(worker, "d", CollationId::UTF8MB4_0900_AI_CI).expect("a new database");
    for place in 0..=OTHERS {
        let columns = vec![
            not_null(column("id", TypeKind::Int)),
            column("a", TypeKind::Int),
            column("note", TypeKind::Text(types::LobSize::Regular)),
        ];
        let indexes = vec![index("", NewIndexKind::Primary, &["id"]), index("ka", NewIndexKind::Secondary, &["a"])];
        let name = if place == 0 { "whole".to_string() } else { other(place - 1) };
        let mut new = table(&name, columns, indexes);
        if place == 0 {
            new.partitioning = Some(Box::new(ranges("id", &[Some(ROWS), Some(2 * ROWS), None])));
        }
        database.create_table_with(worker, new, &options()).expect("a new table");
        let open = database.table_by_name("d", &name).expect("just created");
        let ids = if place == 0 { 0..PARTITIONS * ROWS } else { ROWS..2 * ROWS };
        let mut txn = begin(worker);
        for id in ids {
            // Some are chunks of their own.
            let note = "x".repeat(if id % 20 == 0 { 20_000 } else { 10 });
            insert(worker, &mut txn, &open, &[Value::Int(id), Value::Int(place as i64), text(&note)]);
        }
        commit(worker, txn);
    }
}

fn exchange(database: &Database, worker: &Worker, step: u64) {
    let names = [("d".to_string(), "whole".to_string()), ("d".to_string(), other(step as usize % OTHERS))];
    database.exchange_partition(worker, names, "p1", &options()).expect("exchanges");
}

/// Not a test of its own: what the child process runs.
#[test]
fn child() {
    run_until_killed(|database, worker, step| {
        exchange(database, worker, step);
        database.housekeeping(worker).expect("frees");
        worker.tick();
    });
}

/// Whose rows the partition has, and each of the others, after so many exchanges.
fn expected(exchanges: u64) -> Vec<i64> {
    let mut places: Vec<i64> = (0..=OTHERS as i64).collect();
    (0..exchanges).for_each(|step| places.swap(0, step as usize % OTHERS + 1));
    places
}

/// Whose rows they have now; those of other partitions never move.
fn found(database: &Database, worker: &Worker) -> Vec<i64> {
    let places = (0..=OTHERS).map(|place| {
        let name = if place == 0 { "whole".to_string() } else { other(place - 1) };
        let open = database.table_by_name("d", &name).expect("it is there");
        let mut txn = begin(worker);
        let report = open.check(worker, &mut txn).expect("the check runs");
        rollback(worker, txn);
        assert!(report.problems.is_empty(), "{name}: {report:?}");
        let number = |value: &Value<'_>| if let Value::Int(number) = value { *number } else { panic!("{value:?}") };
        let rows: Vec<(i64, i64)> = scan_all(worker, &open, 0).iter().map(|row| (number(&row[0]), number(&row[1]))).collect();
        assert_eq!(rows.len() as i64, if place == 0 { PARTITIONS * ROWS } else { ROWS }, "{name}");
        let (moved, stay): (Vec<_>, Vec<_>) = rows.into_iter().partition(|(id, _)| (ROWS..2 * ROWS).contains(id));
        assert!(stay.iter().all(|(_, a)| *a == 0), "{name}");
        assert!(moved.iter().all(|(_, a)| *a == moved[0].1), "{name}: rows of two tables");
        moved[0].1
    });
    places.collect()
}

#[test]
fn an_exchange_is_whole_over_kills() {
    let fixture = Fixture::new(1);
    let directory = fixture.directory.with_extension("exchange");
    let _ = std::fs::remove_dir_all(&directory);
    let (engine, database) = open(&directory);
    let worker = engine.worker(0);
    worker.tick();
    make(&database, &worker);
    drop(worker);
    drop(database);
    engine.shutdown().expect("a clean stop");
    drop(engine);
    let mut rng = rand::rng();
    let mut exchanges = 0;
    for _ in 0..6 {
        let time = Duration::from_millis(rng.random_range(150..700));
        let done = run_and_kill("tests::exchange::child", &directory, exchanges, time);
        let (engine, database) = open(&directory);
        let worker = engine.worker(0);
        worker.tick();
        let acknowledged = done.map_or(exchanges, |step| step + 1);
        let places = found(&database, &worker);
        let is = |count: &u64| expected(*count) == places;
        exchanges = [acknowledged, acknowledged + 1]
            .into_iter()
            .find(is)
            .unwrap_or_else(|| panic!("{places:?} after {acknowledged} exchanges"));
        // One more on what the kill has left, which is freed before and after.
        while database.housekeeping(&worker).expect("frees") {}
        exchange(&database, &worker, exchanges);
        exchanges += 1;
        assert_eq!(found(&database, &worker), expected(exchanges));
        while database.housekeeping(&worker).expect("frees") {}
        drop(worker);
        drop(database);
        engine.shutdown().expect("a clean stop");
        drop(engine);
        let (summary, said) = super::offline::look(&directory);
        assert_eq!(said, [""; 0], "{summary:?}");
        assert_eq!(summary.tables, OTHERS + 1);
    }
    let _ = std::fs::remove_dir_all(&directory);
}
