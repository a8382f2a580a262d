//! Rows with values from one byte to many pages.

use super::*;

fn blob_table(fixture: &Fixture, worker: &Worker) -> Arc<Table> {
    let columns = vec![
        not_null(column("id", TypeKind::Int)),
        column("a", TypeKind::Blob(types::LobSize::Long)),
        column("b", TypeKind::Blob(types::LobSize::Long)),
        column("c", TypeKind::VarBinary { length: 3000 }),
    ];
    let indexes = vec![index("", NewIndexKind::Primary, &["id"]), prefix_index("a", NewIndexKind::Secondary, "a", 700)];
    create(fixture.database(), worker, table("b", columns, indexes))
}

fn bytes(seed: usize, length: usize) -> Vec<u8> {
    (0..length).map(|i| (i * 31 + i / 255 + seed) as u8).collect()
}

fn blob(bytes: &[u8]) -> Value<'_> {
    Value::Bytes(bytes.into())
}

pub(super) fn chunks(worker: &Worker, table: &Table) -> usize {
    let mut txn = begin(worker);
    let mut scan = txn::Scan::new(table.blob_tree.expect("it has one"), &[], &[], false, ReadMode::Snapshot);
    let mut count = 0;
    while blocking(|| scan.fill(&mut txn, worker, 1000)).expect("scan works") {
        while scan.next_row().is_some() {
            count += 1;
        }
    }
    rollback(worker, txn);
    count
}

#[test]
fn every_size_comes_back() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let table = blob_table(&fixture, &worker);
    let sizes = [0, 1, 100, 3799, 3800, 3801, 3880, 3881, 3900, 4000, 7760, 16_384, 100_000, 1 << 20, 5 << 20];
    for (id, size) in sizes.into_iter().enumerate() {
        let (a, b, c) = (bytes(id, size), bytes(id + 1, sizes[(id * 7) % 12]), bytes(id + 2, (id * 200) % 3000));
        let mut txn = begin(&worker);
        let row = [Value::Int(id as i64), blob(&a), blob(&b), blob(&c)];
        assert_eq!(insert(&worker, &mut txn, &table, &row), InsertRow::Inserted);
        commit(&worker, txn);
        worker.tick();
    }
    for index in 0..2 {
        let rows = scan_all(&worker, &table, index);
        assert_eq!(rows.len(), sizes.len());
        for row in rows {
            let Value::Int(id) = row[0] else { unreachable!() };
            let id = id as usize;
            assert_eq!(row[1], blob(&bytes(id, sizes[id])), "{id}");
            assert_eq!(row[2], blob(&bytes(id + 1, sizes[(id * 7) % 12])), "{id}");
            assert_eq!(row[3], blob(&bytes(id + 2, (id * 200) % 3000)), "{id}");
        }
    }
}

#[test]
fn updates_keep_and_free_blobs() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let table = blob_table(&fixture, &worker);
    let (large, other) = (bytes(1, 50_000), bytes(2, 30_000));
    let mut txn = begin(&worker);
    insert(&worker, &mut txn, &table, &[Value::Int(1), blob(&large), blob(&large), blob(b"x")]);
    commit(&worker, txn);
    let both = chunks(&worker, &table);

    // A small column, then the primary key: the large ones stay where they are.
    let mut txn = begin(&worker);
    assert_eq!(update(&worker, &mut txn, &table, &[Value::Int(1)], &[(3, blob(b"y"))]), WriteRow::Done);
    assert_eq!(update(&worker, &mut txn, &table, &[Value::Int(1)], &[(0, Value::Int(2))]), WriteRow::Done);
    commit(&worker, txn);
    assert_eq!(chunks(&worker, &table), both);
    let expected = vec![Value::Int(2), blob(&large), blob(&large), blob(b"y")];
    assert_eq!(scan_all(&worker, &table, 0), vec![expected.clone()]);
    assert_eq!(scan_all(&worker, &table, 1), vec![expected.clone()]);

    // One is replaced; a rollback brings the old one back.
    let mut txn = begin(&worker);
    assert_eq!(update(&worker, &mut txn, &table, &[Value::Int(2)], &[(1, blob(&other))]), WriteRow::Done);
    let rows = scan(&worker, &mut txn, &table, 1, &EncodedRange::default(), false, ReadMode::Latest);
    assert_eq!(rows[0][1], blob(&other));
    rollback(&worker, txn);
    assert_eq!(scan_all(&worker, &table, 1), vec![expected]);
    assert_eq!(chunks(&worker, &table), both);

    // Small again, then gone.
    let mut txn = begin(&worker);
    let changes = [(1, blob(b"small")), (2, Value::Null)];
    assert_eq!(update(&worker, &mut txn, &table, &[Value::Int(2)], &changes), WriteRow::Done);
    commit(&worker, txn);
    assert_eq!(chunks(&worker, &table), 0);
    check_indexes(&worker, &table);
    let mut txn = begin(&worker);
    insert(&worker, &mut txn, &table, &[Value::Int(3), blob(&large), Value::Null, Value::Null]);
    assert_eq!(delete(&worker, &mut txn, &table, &[Value::Int(3)]), WriteRow::Done);
    assert_eq!(delete(&worker, &mut txn, &table, &[Value::Int(2)]), WriteRow::Done);
    commit(&worker, txn);
    assert_eq!(chunks(&worker, &table), 0);
    assert!(scan_all(&worker, &table, 1).is_empty());
}

#[test]
fn old_snapshots_see_old_blobs() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let table = blob_table(&fixture, &worker);
    let (first, second) = (bytes(1, 40_000), bytes(2, 60_000));
    let mut txn = begin(&worker);
    insert(&worker, &mut txn, &table, &[Value::Int(1), blob(&first), Value::Null, Value::Null]);
    commit(&worker, txn);
    let mut old = begin(&worker);
    old.take_snapshot(&worker);
    let mut txn = begin(&worker);
    update(&worker, &mut txn, &table, &[Value::Int(1)], &[(1, blob(&second))]);
    commit(&worker, txn);
    let mut txn = begin(&worker);
    delete(&worker, &mut txn, &table, &[Value::Int(1)]);
    commit(&worker, txn);
    worker.tick();
    let rows = scan(&worker, &mut old, &table, 1, &EncodedRange::default(), false, ReadMode::Snapshot);
    assert_eq!(rows, vec![vec![Value::Int(1), blob(&first), Value::Null, Value::Null]]);
    rollback(&worker, old);
    assert!(scan_all(&worker, &table, 0).is_empty());
}

#[test]
fn many_long_columns_move_out() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let columns: Vec<_> = std::iter::once(not_null(column("id", TypeKind::Int)))
        .chain((0..60).map(|i| column(&format!("c{i}"), TypeKind::VarChar { length: 250 })))
        .collect();
    let table = create(fixture.database(), &worker, table("w", columns, vec![index("", NewIndexKind::Primary, &["id"])]));
    let long = "ä".repeat(250);
    let row: Vec<Value<'_>> = std::iter::once(Value::Int(1)).chain((0..60).map(|_| text(&long))).collect();
    let mut txn = begin(&worker);
    assert_eq!(insert(&worker, &mut txn, &table, &row), InsertRow::Inserted);
    commit(&worker, txn);
    assert_eq!(scan_all(&worker, &table, 0), vec![row.into_iter().map(Value::into_owned).collect::<Vec<_>>()]);
}
