//! Rows and their index entries against a model in memory.

use super::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;

/// id, unique u (nullable), k, name (case-insensitive), note
type ModelRow = (i64, Option<i64>, i64, String, String);

fn model_table(fixture: &Fixture, worker: &Worker) -> Arc<Table> {
    let columns = vec![
        not_null(column("id", TypeKind::Int)),
        column("u", TypeKind::BigInt),
        not_null(column("k", TypeKind::Int)),
        column("name", TypeKind::VarChar { length: 60 }),
        column("note", TypeKind::Text(types::LobSize::Regular)),
    ];
    let indexes = vec![
        index("", NewIndexKind::Primary, &["id"]),
        index("k_name", NewIndexKind::Secondary, &["k", "name"]),
        index("u", NewIndexKind::Unique, &["u"]),
        prefix_index("note", NewIndexKind::Secondary, "note", 5),
    ];
    create(fixture.database(), worker, table("t", columns, indexes))
}

fn values(row: &ModelRow) -> Vec<Value<'_>> {
    vec![Value::Int(row.0), row.1.map_or(Value::Null, Value::Int), Value::Int(row.2), text(&row.3), text(&row.4)]
}

fn random_row(rng: &mut StdRng, id: i64) -> ModelRow {
    let unique = rng.random_bool(0.7).then(|| rng.random_range(0..60));
    let names = ["anna", "Anna", "ANNA", "bert", "émile", "Emile", ""];
    let note_bytes = if rng.random_bool(0.1) { rng.random_range(0..9000) } else { rng.random_range(0..40) };
    let note: String = (0..note_bytes).map(|_| rng.random_range('a'..='e')).collect();
    (id, unique, rng.random_range(0..10), names[rng.random_range(0..names.len())].to_string(), note)
}

fn compare(worker: &Worker, txn: &mut Txn, table: &Table, model: &BTreeMap<i64, ModelRow>) {
    let rows = scan(worker, txn, table, 0, &EncodedRange::default(), false, ReadMode::Snapshot);
    let expected: Vec<Vec<Value<'static>>> =
        model.values().map(|row| values(row).into_iter().map(Value::into_owned).collect()).collect();
    assert_eq!(rows, expected);
    let mut reversed = scan(worker, txn, table, 0, &EncodedRange::default(), true, ReadMode::Latest);
    reversed.reverse();
    assert_eq!(reversed, expected);
    for index in 1..table.def().indexes.len() {
        for mode in [ReadMode::Snapshot, ReadMode::Latest] {
            let mut rows = scan(worker, txn, table, index, &EncodedRange::default(), false, mode);
            rows.sort_by_key(|row| if let Value::Int(id) = row[0] { id } else { unreachable!() });
            assert_eq!(rows, expected, "index {index} {mode:?}");
        }
    }
}

/// One random operation on the table and on the model.
fn step(rng: &mut StdRng, worker: &Worker, txn: &mut Txn, table: &Table, model: &mut BTreeMap<i64, ModelRow>) {
    let id = rng.random_range(0..80);
    let new_id = if rng.random_bool(0.3) { rng.random_range(0..80) } else { id };
    let new = random_row(rng, new_id);
    let collides = |model: &BTreeMap<i64, ModelRow>, but: Option<i64>| {
        new.1.is_some() && model.values().any(|row| row.1 == new.1 && Some(row.0) != but)
    };
    match model.get(&id).cloned() {
        None => {
            let new = (id, new.1, new.2, new.3.clone(), new.4.clone());
            let expected = if collides(model, None) { InsertRow::Duplicate { index: 1 } } else { InsertRow::Inserted };
            let outcome = insert(worker, txn, table, &values(&new));
            assert_eq!(outcome, expected);
            if outcome == InsertRow::Inserted {
                model.insert(id, new);
            }
        }
        Some(_) if rng.random_bool(0.3) => {
            assert_eq!(delete(worker, txn, table, &[Value::Int(id)]), WriteRow::Done);
            model.remove(&id);
        }
        Some(old) => {
            // Some of the columns, possibly the primary key.
            let all = values(&new);
            let mut row = old.clone();
            let mut changes = Vec::new();
            for (column, value) in all.iter().enumerate() {
                if rng.random_bool(0.4) {
                    changes.push((column, value.clone()));
                    match column {
                        0 => row.0 = new.0,
                        1 => row.1 = new.1,
                        2 => row.2 = new.2,
                        3 => row.3 = new.3.clone(),
                        _ => row.4 = new.4.clone(),
                    }
                }
            }
            let key_taken = row.0 != id && model.contains_key(&row.0);
            let unique_taken = row.1.is_some() && model.values().any(|other| other.1 == row.1 && other.0 != id);
            let expected = match (key_taken, unique_taken) {
                (true, _) => WriteRow::Duplicate { index: 0 },
                (_, true) => WriteRow::Duplicate { index: 1 },
                _ => WriteRow::Done,
            };
            assert_eq!(update(worker, txn, table, &[Value::Int(id)], &changes), expected, "{old:?} {changes:?}");
            if expected == WriteRow::Done {
                model.remove(&id);
                model.insert(row.0, row);
            }
        }
    }
}

#[test]
fn random_operations_agree_with_a_model() {
    let mut fixture = Fixture::new(1);
    let mut rng = StdRng::seed_from_u64(7);
    let mut model = BTreeMap::new();
    {
        let worker = fixture.worker(0);
        let table = model_table(&fixture, &worker);
        for round in 0..120 {
            let mut txn = begin(&worker);
            let mut changed = model.clone();
            for _ in 0..rng.random_range(1..40) {
                step(&mut rng, &worker, &mut txn, &table, &mut changed);
            }
            if round % 6 == 0 {
                compare(&worker, &mut txn, &table, &changed);
            }
            if rng.random_bool(0.7) {
                commit(&worker, txn);
                model = changed;
            } else {
                rollback(&worker, txn);
            }
            worker.tick();
            if round % 6 == 1 {
                let mut txn = begin(&worker);
                compare(&worker, &mut txn, &table, &model);
                rollback(&worker, txn);
            }
        }
    }
    fixture.reopen();
    let worker = fixture.worker(0);
    let table = fixture.database().table_by_name("d", "t").expect("it is still there");
    let mut txn = begin(&worker);
    compare(&worker, &mut txn, &table, &model);
    rollback(&worker, txn);
    check_indexes(&worker, &table);
}

#[test]
fn ranges_of_every_kind() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let table = model_table(&fixture, &worker);
    let mut txn = begin(&worker);
    for id in 0..30i64 {
        let row: ModelRow = (id, (id % 3 != 0).then_some(id), id % 5, format!("n{}", id % 2), "x".repeat(id as usize));
        assert_eq!(insert(&worker, &mut txn, &table, &values(&row)), InsertRow::Inserted);
    }
    let mut ids = |index: usize, prefix: &[Value<'_>], low: Option<(i64, bool)>, high: Option<(i64, bool)>| {
        let (low, high) = (low.map(|(v, i)| (Value::Int(v), i)), high.map(|(v, i)| (Value::Int(v), i)));
        let mut range = EncodedRange::default();
        let some = table.encode_range(
            index,
            prefix,
            low.as_ref().map(|(v, i)| (v, *i)),
            high.as_ref().map(|(v, i)| (v, *i)),
            &mut range,
        );
        if !some {
            return Vec::new();
        }
        let rows = scan(&worker, &mut txn, &table, index, &range, false, ReadMode::Snapshot);
        rows.iter().map(|row| if let Value::Int(id) = row[0] { id } else { unreachable!() }).collect::<Vec<_>>()
    };
    assert_eq!(ids(0, &[], Some((5, true)), Some((8, false))), [5, 6, 7]);
    assert_eq!(ids(0, &[], Some((5, false)), Some((8, true))), [6, 7, 8]);
    assert_eq!(ids(0, &[], None, Some((2, true))), [0, 1, 2]);
    assert_eq!(ids(0, &[], Some((27, false)), None), [28, 29]);
    assert_eq!(ids(0, &[Value::Int(9)], None, None), [9]);
    // `u` is nullable: bounds leave the NULLs out, a NULL prefix finds them.
    assert_eq!(ids(1, &[], None, Some((4, true))), [1, 2, 4]);
    assert_eq!(ids(1, &[Value::Null], None, None), [0, 3, 6, 9, 12, 15, 18, 21, 24, 27]);
    assert_eq!(ids(1, &[], None, None).len(), 30);
    assert_eq!(ids(2, &[Value::Int(3), text("N1")], None, None), [3, 13, 23]);
    assert_eq!(ids(2, &[Value::Int(3)], None, None), [8, 18, 28, 3, 13, 23]);
    assert!(table.covers(2, &[true, false, true, false, false]));
    assert!(!table.covers(2, &[true, false, true, true, false]));
    rollback(&worker, txn);
}

#[test]
fn covering_cursors_rebuild_rows_from_keys() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let table = model_table(&fixture, &worker);
    let mut txn = begin(&worker);
    for id in 0..100i64 {
        let row: ModelRow = (id, None, 100 - id, "x".to_string(), String::new());
        insert(&worker, &mut txn, &table, &values(&row));
    }
    let (mut cursor, mut row, mut seen) = (RowCursor::new(), RowBuf::new(), Vec::new());
    cursor.open(&table, 2, &EncodedRange::default(), false, ReadMode::Snapshot, true);
    while blocking(|| cursor.next(&table, &worker, &mut txn, &mut row)).expect("scan works") {
        let value = |column| row.row(&table).get(column).expect("decodes").into_owned();
        seen.push((value(0), value(2)));
    }
    let expected: Vec<_> = (0..100i64).rev().map(|id| (Value::Int(id), Value::Int(100 - id))).collect();
    assert_eq!(seen, expected);
    rollback(&worker, txn);
}

#[test]
fn duplicates_leave_nothing_and_are_found() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let table = model_table(&fixture, &worker);
    let mut txn = begin(&worker);
    let first: ModelRow = (1, Some(7), 1, "a".into(), "z".repeat(20_000));
    let second: ModelRow = (2, Some(7), 1, "b".into(), "y".repeat(20_000));
    insert(&worker, &mut txn, &table, &values(&first));
    assert_eq!(insert(&worker, &mut txn, &table, &values(&second)), InsertRow::Duplicate { index: 1 });
    let mut row = RowBuf::new();
    let lock = RowRead::Lock(txn::LockMode::Exclusive, txn::WaitPolicy::Wait);
    let found = blocking(|| table.conflicting_row(&worker, &mut txn, 1, &values(&second), lock, &mut row)).expect("reads");
    assert!(found && row.seen().is_some());
    assert_eq!(row.row(&table).get(0), Ok(Value::Int(1)));
    assert!(row.row(&table).get(4).is_err(), "a large value is not read before it is asked for");
    // REPLACE: the old row goes, the new one comes.
    let mut progress = Progress::new();
    assert_eq!(blocking(|| table.delete_row(&worker, &mut txn, &row, &mut progress)).expect("deletes"), WriteRow::Done);
    assert_eq!(insert(&worker, &mut txn, &table, &values(&second)), InsertRow::Inserted);
    commit(&worker, txn);
    check_indexes(&worker, &table);
    assert_eq!(scan_all(&worker, &table, 0).len(), 1);
    assert_eq!(table.estimated_rows(), 1);
}

#[test]
fn tables_without_primary_key_count_rows() {
    let mut fixture = Fixture::new(1);
    for _ in 0..2 {
        {
            let worker = fixture.worker(0);
            let table = match fixture.database().table_by_name("d", "h") {
                Some(table) => table,
                None => create(fixture.database(), &worker, table("h", vec![column("a", TypeKind::Int)], vec![])),
            };
            let mut txn = begin(&worker);
            for a in 0..10 {
                assert_eq!(insert(&worker, &mut txn, &table, &[Value::Int(a % 3)]), InsertRow::Inserted);
            }
            commit(&worker, txn);
        }
        fixture.reopen();
    }
    let worker = fixture.worker(0);
    let table = fixture.database().table_by_name("d", "h").expect("it is still there");
    assert_eq!(scan_all(&worker, &table, 0).len(), 20);
    assert_eq!(table.estimated_rows(), 20);
}

/// Rows that a scan does not see yet, or still sees, are in the estimate as they are.
#[test]
fn scans_correct_no_estimate_for_what_others_write() {
    let mut fixture = Fixture::new(2);
    {
        let (one, other) = (fixture.worker(0), fixture.worker(1));
        let key = index("", NewIndexKind::Primary, &["a"]);
        let table = create(fixture.database(), &one, table("h", vec![not_null(column("a", TypeKind::Int))], vec![key]));
        let counts = || (scan_all(&other, &table, 0).len(), table.estimated_rows());
        let mut txn = begin(&one);
        for a in 0..100 {
            assert_eq!(insert(&one, &mut txn, &table, &[Value::Int(a)]), InsertRow::Inserted);
        }
        assert_eq!(counts(), (0, 100));
        commit(&one, txn);
        assert_eq!(counts(), (100, 100));
        let mut txn = begin(&one);
        for a in 0..100 {
            assert_eq!(delete(&one, &mut txn, &table, &[Value::Int(a)]), WriteRow::Done);
        }
        assert_eq!(counts(), (100, 0));
        commit(&one, txn);
        assert_eq!(counts(), (0, 0));
        // An estimate that is wrong is put right.
        table.adjust_estimated_rows(&one, 500);
        assert_eq!(counts(), (0, 0));
    }
    fixture.reopen();
}

#[test]
fn auto_increment_goes_on_after_a_stop() {
    let mut fixture = Fixture::new(1);
    let columns = vec![counted(column("id", TypeKind::Int)), column("a", TypeKind::Int)];
    let new = table("c", columns, vec![index("", NewIndexKind::Primary, &["id"])]);
    {
        let worker = fixture.worker(0);
        let table = create(fixture.database(), &worker, new);
        for expected in 1..=1000 {
            assert_eq!(blocking(|| table.reserve_auto_increment(&worker, 1)).expect("reserves"), expected);
        }
        blocking(|| table.note_auto_increment(&worker, 5000)).expect("notes");
        assert_eq!(blocking(|| table.reserve_auto_increment(&worker, 3)).expect("reserves"), 5001);
    }
    fixture.reopen();
    {
        let worker = fixture.worker(0);
        let table = fixture.database().table_by_name("d", "c").expect("it is still there");
        assert_eq!(blocking(|| table.reserve_auto_increment(&worker, 1)).expect("reserves"), 5004, "exact after a clean stop");
    }
    fixture.reopen_roughly();
    let worker = fixture.worker(0);
    let table = fixture.database().table_by_name("d", "c").expect("it is still there");
    assert!(blocking(|| table.reserve_auto_increment(&worker, 1)).expect("reserves") > 5004, "never twice");
    blocking(|| table.note_auto_increment(&worker, i32::MAX as u64)).expect("notes");
    for _ in 0..2 {
        let last = blocking(|| table.reserve_auto_increment(&worker, 1)).expect("reserves");
        assert_eq!(last, i32::MAX as u64, "the last number comes again");
    }
}

#[test]
fn a_check_finds_what_does_not_fit() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let table = model_table(&fixture, &worker);
    let mut txn = begin(&worker);
    for id in 0..10 {
        let row: ModelRow = (id, Some(id), 1, "n".into(), "x".repeat(id as usize * 1000));
        insert(&worker, &mut txn, &table, &values(&row));
    }
    assert_eq!(table.check(&worker, &mut txn).expect("the check runs").problems, [""; 0]);
    // An entry too many (its row has another, the counts differ); a chunk too few (of a row, of its entry, of the tree).
    let (u, blobs) = (table.index_at(1).tree(), table.blob_tree.expect("it has one"));
    blocking(|| txn.insert(&worker, u, b"\x01\x80\0\0\0\0\0\x01\0", b"\x80\0\0\x03")).expect("inserts");
    let mut chunk = Vec::new();
    let key = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1];
    let seen = blocking(|| txn.read_latest(&worker, blobs, &key, &mut chunk)).expect("reads").expect("a second chunk");
    blocking(|| txn.delete(&worker, blobs, &key, seen)).expect("deletes");
    let report = table.check(&worker, &mut txn).expect("the check runs");
    assert_eq!(report.problems.len(), 5, "{report:?}");
    rollback(&worker, txn);
}
