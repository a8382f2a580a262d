//! Full-text indexes: an entry for each word of a row, in the row's own transaction.

use super::*;
use crate::WordScan;
use crate::ddl::{AlterAction, DdlOptions};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::Duration;
use types::LobSize;

const WORDS: [&str; 8] = ["alpha", "beta", "gamma", "delta", "Alpha", "épsilon", "zeta", "eta"];

fn new_table(name: &str) -> NewTable {
    let columns = vec![
        not_null(column("id", TypeKind::Int)),
        column("title", TypeKind::VarChar { length: 200 }),
        column("body", TypeKind::Text(LobSize::Long)),
        column("n", TypeKind::Int),
    ];
    let full_text = index("ft", NewIndexKind::FullText, &["title", "body"]);
    table(name, columns, vec![index("", NewIndexKind::Primary, &["id"]), full_text])
}

fn row<'v>(id: i64, title: &'v str, body: &'v str) -> [Value<'v>; 4] {
    [Value::Int(id), text(title), text(body), Value::Int(0)]
}

/// The ids of the rows that the index finds for a word, as a transaction sees them, with the occurrences.
fn found_by(worker: &Worker, txn: &mut Txn, table: &Table, word: &str) -> Vec<(i64, u32)> {
    let index = table.def().index_by_name("ft").expect("there");
    let mut key = Vec::new();
    types::collation::sort_key(word.as_bytes(), CollationId::UTF8MB4_0900_AI_CI, &mut key);
    let (mut scan, mut found) = (WordScan::new(table, index, &key, ReadMode::Snapshot), Vec::new());
    while blocking(|| scan.fill(table, worker, txn)).expect("reads") {
        while let Some(entry) = scan.next(table).expect("sound") {
            assert_eq!(entry.word, key);
            let number = u32::from_be_bytes(entry.row.try_into().expect("an INT")) ^ 1 << 31;
            let occurrences = types::fulltext::decode_places(entry.places, None).expect("sound");
            found.push((i64::from(number as i32), occurrences));
        }
    }
    found
}

fn found(worker: &Worker, table: &Table, word: &str) -> Vec<(i64, u32)> {
    let mut txn = begin(worker);
    let found = found_by(worker, &mut txn, table, word);
    rollback(worker, txn);
    found
}

#[test]
fn entries_follow_inserts_updates_and_deletes() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let table = create(fixture.database(), &worker, new_table("t"));
    let mut txn = begin(&worker);
    insert(&worker, &mut txn, &table, &row(1, "Alpha beta", "ALPHA of the gamma"));
    insert(&worker, &mut txn, &table, &row(2, "beta", ""));
    insert(&worker, &mut txn, &table, &[Value::Int(3), Value::Null, Value::Null, Value::Null]);
    commit(&worker, txn);
    assert_eq!(found(&worker, &table, "alpha"), [(1, 2)]);
    assert_eq!(found(&worker, &table, "beta"), [(1, 1), (2, 1)]);
    assert_eq!(found(&worker, &table, "the"), [], "a stop word");

    let mut txn = begin(&worker);
    update(&worker, &mut txn, &table, &[Value::Int(1)], &[(1, text("alpha delta"))]);
    assert_eq!(found_by(&worker, &mut txn, &table, "delta"), [(1, 1)], "its own change");
    assert_eq!(found_by(&worker, &mut txn, &table, "beta"), [(2, 1)]);
    delete(&worker, &mut txn, &table, &[Value::Int(2)]);
    assert_eq!(found_by(&worker, &mut txn, &table, "beta"), []);
    rollback(&worker, txn);
    assert_eq!(found(&worker, &table, "delta"), []);
    assert_eq!(found(&worker, &table, "beta"), [(1, 1), (2, 1)], "undone");

    let mut txn = begin(&worker);
    // The primary key moves with all entries.
    update(&worker, &mut txn, &table, &[Value::Int(1)], &[(0, Value::Int(9)), (2, text("alpha"))]);
    commit(&worker, txn);
    assert_eq!(found(&worker, &table, "alpha"), [(9, 2)]);
    assert_eq!(found(&worker, &table, "gamma"), []);
    check_indexes(&worker, &table);
}

#[test]
fn an_old_snapshot_finds_the_words_of_its_rows() {
    let fixture = Fixture::new(2);
    let (worker, other) = (fixture.worker(0), fixture.worker(1));
    let table = create(fixture.database(), &worker, new_table("t"));
    let mut txn = begin(&worker);
    insert(&worker, &mut txn, &table, &row(1, "alpha", "beta"));
    commit(&worker, txn);
    let mut old = begin(&other);
    assert_eq!(found_by(&other, &mut old, &table, "alpha"), [(1, 1)]);
    let mut txn = begin(&worker);
    update(&worker, &mut txn, &table, &[Value::Int(1)], &[(1, text("gamma gamma")), (2, text("beta beta"))]);
    commit(&worker, txn);
    assert_eq!(found_by(&other, &mut old, &table, "alpha"), [(1, 1)]);
    assert_eq!(found_by(&other, &mut old, &table, "beta"), [(1, 1)], "the payload is old, too");
    assert_eq!(found_by(&other, &mut old, &table, "gamma"), []);
    rollback(&other, old);
    assert_eq!(found(&worker, &table, "gamma"), [(1, 2)]);
    assert_eq!(found(&worker, &table, "beta"), [(1, 2)]);
}

/// Random changes with texts of up to many pages, some rolled back.
#[test]
fn random_changes_leave_exactly_the_entries_of_the_rows() {
    let mut fixture = Fixture::new(1);
    let mut rng = StdRng::seed_from_u64(7);
    {
        let worker = fixture.worker(0);
        let table = create(fixture.database(), &worker, new_table("t"));
        let mut there = std::collections::BTreeSet::new();
        for _ in 0..60 {
            let mut txn = begin(&worker);
            let before = there.clone();
            for _ in 0..10 {
                let id = rng.random_range(0..40);
                let length = if rng.random_bool(0.1) { 3000 } else { rng.random_range(0..20) };
                let body = (0..length).map(|_| WORDS[rng.random_range(0..8)]).collect::<Vec<_>>().join(" ");
                match (there.contains(&id), rng.random_range(0..4)) {
                    (false, _) => {
                        insert(&worker, &mut txn, &table, &row(id, "title", &body));
                        there.insert(id);
                    }
                    (true, 0) => {
                        delete(&worker, &mut txn, &table, &[Value::Int(id)]);
                        there.remove(&id);
                    }
                    (true, 1) => drop(update(&worker, &mut txn, &table, &[Value::Int(id)], &[(3, Value::Int(id))])),
                    (true, _) => drop(update(&worker, &mut txn, &table, &[Value::Int(id)], &[(2, text(&body))])),
                }
            }
            if rng.random_bool(0.3) {
                rollback(&worker, txn);
                there = before;
            } else {
                commit(&worker, txn);
            }
            worker.tick();
        }
        check_indexes(&worker, &table);
    }
    fixture.reopen();
    let worker = fixture.worker(0);
    let table = fixture.database().table_by_name("d", "t").expect("there");
    check_indexes(&worker, &table);
}

/// An index built from rows is the one that grows with them; so is that of a table that is copied.
#[test]
fn a_built_index_has_the_entries_of_the_rows() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let (database, options) = (fixture.database(), DdlOptions::default());
    let mut new = new_table("t");
    let full_text = new.indexes.pop().expect("two");
    let table = create(database, &worker, new);
    let long = "alpha beta gamma ".repeat(2000);
    for id in 0..300 {
        let mut txn = begin(&worker);
        let body = if id % 50 == 0 { &long[..] } else { WORDS[id as usize % 8] };
        insert(&worker, &mut txn, &table, &row(id, "every title", body));
        commit(&worker, txn);
    }
    database.create_index(&worker, "d", "t", full_text, &options).expect("builds");
    let table = database.table_by_name("d", "t").expect("there");
    assert_eq!(found(&worker, &table, "title").len(), 300);
    assert_eq!(found(&worker, &table, "alpha")[..2], [(0, 2000), (4, 1)]);
    check_indexes(&worker, &table);
    database.alter_table(&worker, "d", "t", vec![AlterAction::Rebuild], &options).expect("copies");
    let table = database.table_by_name("d", "t").expect("there");
    assert_eq!(found(&worker, &table, "title").len(), 300);
    check_indexes(&worker, &table);
    // The index goes on without the column.
    database.alter_table(&worker, "d", "t", vec![AlterAction::DropColumn { name: "title".into() }], &options).expect("alters");
    let table = database.table_by_name("d", "t").expect("there");
    assert_eq!(found(&worker, &table, "title").len(), 0);
    check_indexes(&worker, &table);
    database.drop_index(&worker, "d", "t", "ft", &options).expect("drops");
}

/// Not a test of its own: what the child process of the next test runs.
#[test]
fn child() {
    super::crash::run_until_killed(|database, worker, step| {
        let table = match database.table_by_name("d", "t") {
            Some(table) => table,
            None => create(database, worker, new_table("t")),
        };
        let mut rng = StdRng::seed_from_u64(step);
        let mut txn = begin(worker);
        for _ in 0..20 {
            let (id, mut old) = (rng.random_range(0..50), RowBuf::new());
            let body = (0..rng.random_range(0..300)).map(|_| WORDS[rng.random_range(0..8)]).collect::<Vec<_>>().join(" ");
            if !find(worker, &mut txn, &table, &[Value::Int(id)], &mut old) {
                insert(worker, &mut txn, &table, &row(id, "title", &body));
            } else if rng.random_bool(0.3) {
                delete(worker, &mut txn, &table, &[Value::Int(id)]);
            } else {
                update(worker, &mut txn, &table, &[Value::Int(id)], &[(2, text(&body))]);
            }
        }
        if rng.random_bool(0.3) {
            rollback(worker, txn)
        } else {
            commit(worker, txn)
        }
        worker.tick();
    });
}

#[test]
fn entries_and_rows_agree_after_kills() {
    let directory = std::env::temp_dir().join(format!("heddle-table-fulltext-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&directory);
    let mut next = 0;
    for round in 0..4 {
        if let Some(last) = super::crash::run_and_kill("tests::fulltext::child", &directory, next, Duration::from_millis(400)) {
            next = last + 1;
        }
        let (engine, database) = super::crash::open(&directory);
        {
            let worker = engine.worker(0);
            worker.tick();
            match database.table_by_name("d", "t") {
                Some(table) => check_indexes(&worker, &table),
                None => assert!(next == 0, "round {round}: the table is gone"),
            }
        }
        engine.shutdown().expect("a clean stop");
    }
    assert!(next > 0, "the child did something");
    let _ = std::fs::remove_dir_all(&directory);
}
