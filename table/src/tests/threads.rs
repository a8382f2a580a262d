//! Several workers on one table at once.

use super::*;
use crate::TableUse;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::atomic::{AtomicBool, AtomicU64};
use txn::{Interrupt, LockMode, WaitPolicy};

const ACCOUNTS: i64 = 40;
const THREADS: usize = 3;

/// id, balance, owner (unique), tag
fn account_table(fixture: &Fixture, worker: &Worker) -> Arc<Table> {
    let columns = vec![
        not_null(column("id", TypeKind::Int)),
        not_null(column("balance", TypeKind::BigInt)),
        column("owner", TypeKind::VarChar { length: 20 }),
        column("tag", TypeKind::Int),
    ];
    let indexes = vec![
        index("", NewIndexKind::Primary, &["id"]),
        index("owner", NewIndexKind::Unique, &["owner"]),
        index("tag", NewIndexKind::Secondary, &["tag", "balance"]),
        index("balance", NewIndexKind::Secondary, &["balance"]),
    ];
    create(fixture.database(), worker, table("a", columns, indexes))
}

/// Adds `amount` to an account's balance, locking it or not; an error ends the transaction.
fn add(worker: &Worker, txn: &mut Txn, table: &Table, id: i64, amount: i64, lock: bool) -> std::result::Result<(), txn::Error> {
    let (mut row, mut progress, mut key) = (RowBuf::new(), Progress::new(), Vec::new());
    assert!(table.encode_point_key(0, &[Value::Int(id)], &mut key));
    let how = if lock { RowRead::Lock(LockMode::Exclusive, WaitPolicy::Wait) } else { RowRead::Latest };
    loop {
        assert!(blocking(|| table.point(worker, txn, 0, &key, how, &mut row))?, "accounts stay");
        let Value::Int(balance) = row.row(table).get(1).expect("decodes") else { unreachable!() };
        let changes = [(1, Value::Int(balance + amount)), (3, Value::Int(balance % 7))];
        match blocking(|| table.update_row(worker, txn, &row, &changes, &mut progress))? {
            WriteRow::Done => return Ok(()),
            WriteRow::Changed => continue,
            WriteRow::Paused { .. } => unreachable!("no pause was asked for"),
            WriteRow::Duplicate { index } => panic!("no unique index changes, but {index} collides"),
        }
    }
}

fn total(rows: &[Vec<Value<'static>>]) -> i64 {
    rows.iter().map(|row| if let Value::Int(balance) = row[1] { balance } else { unreachable!() }).sum()
}

#[test]
fn transfers_preserve_the_sum_in_every_snapshot_and_index() {
    let fixture = Fixture::new(THREADS + 1);
    let worker = fixture.worker(THREADS);
    let table = account_table(&fixture, &worker);
    let mut txn = begin(&worker);
    for id in 0..ACCOUNTS {
        let owner = format!("owner{id}");
        insert(&worker, &mut txn, &table, &[Value::Int(id), Value::Int(1000), text(&owner), Value::Int(0)]);
    }
    commit(&worker, txn);
    let done = AtomicU64::new(0);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (table, done, stop, engine) = (&table, &done, &stop, fixture.engine());
            scope.spawn(move || {
                let worker = engine.worker(thread);
                worker.tick();
                let mut rng = StdRng::seed_from_u64(thread as u64);
                while !stop.load(Ordering::Relaxed) {
                    let mut txn = begin(&worker);
                    let (from, to) = (rng.random_range(0..ACCOUNTS), rng.random_range(0..ACCOUNTS));
                    let (amount, lock) = (rng.random_range(1..50), rng.random_bool(0.5));
                    let result = add(&worker, &mut txn, table, from, -amount, lock)
                        .and_then(|()| add(&worker, &mut txn, table, to, amount, lock));
                    match result {
                        Ok(()) => {
                            commit(&worker, txn);
                            done.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(txn::Error::Deadlock | txn::Error::LockWaitTimeout) => rollback(&worker, txn),
                        Err(error) => panic!("{error:?}"),
                    }
                    worker.tick();
                }
            });
        }
        let _stop = Stop(&stop);
        let until = std::time::Instant::now() + std::time::Duration::from_secs(3);
        let mut looks = 0;
        while std::time::Instant::now() < until {
            for index in 0..table.def().indexes.len() {
                let rows = scan_all(&worker, &table, index);
                assert_eq!(rows.len(), ACCOUNTS as usize, "index {index}");
                assert_eq!(total(&rows), ACCOUNTS * 1000, "index {index}");
                looks += 1;
            }
            worker.tick();
        }
        assert!(looks > 0);
    });
    assert!(done.load(Ordering::Relaxed) > 100);
    check_indexes(&worker, &table);
}

/// Autocommit updates of one row, found by a unique key: each waits its turn in the row's queue, and none is a deadlock.
#[test]
fn updates_of_one_row_through_a_unique_key_queue_without_deadlocks() {
    const WRITERS: usize = 8;
    const UPDATES: i64 = 200;
    let fixture = Fixture::new(WRITERS + 1);
    let worker = fixture.worker(WRITERS);
    let table = account_table(&fixture, &worker);
    let mut txn = begin(&worker);
    insert(&worker, &mut txn, &table, &[Value::Int(1), Value::Int(0), text("ada"), Value::Int(0)]);
    commit(&worker, txn);
    std::thread::scope(|scope| {
        for thread in 0..WRITERS {
            let (table, engine) = (&table, fixture.engine());
            scope.spawn(move || {
                let worker = engine.worker(thread);
                worker.tick();
                let (mut row, mut progress, mut key) = (RowBuf::new(), Progress::new(), Vec::new());
                assert!(table.encode_point_key(1, &[text("ada")], &mut key));
                for _ in 0..UPDATES {
                    let mut txn = begin(&worker);
                    loop {
                        let found = blocking(|| table.point(&worker, &mut txn, 1, &key, RowRead::Latest, &mut row));
                        assert!(found.expect("nobody holds two rows"), "the row stays");
                        let Value::Int(balance) = row.row(table).get(1).expect("decodes") else { unreachable!() };
                        let changes = [(3, Value::Int(balance % 7)), (1, Value::Int(balance + 1))];
                        match blocking(|| table.update_row(&worker, &mut txn, &row, &changes, &mut progress)) {
                            Ok(WriteRow::Done) => break,
                            Ok(WriteRow::Changed) => {}
                            other => panic!("{other:?}"),
                        }
                    }
                    commit(&worker, txn);
                    worker.tick();
                }
            });
        }
    });
    assert_eq!(total(&scan_all(&worker, &table, 0)), WRITERS as i64 * UPDATES);
    check_indexes(&worker, &table);
}

#[test]
fn racing_inserts_of_one_key_leave_one_row() {
    let fixture = Fixture::new(THREADS + 1);
    let worker = fixture.worker(THREADS);
    let table = account_table(&fixture, &worker);
    let wins = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (table, wins, engine) = (&table, &wins, fixture.engine());
            scope.spawn(move || {
                let worker = engine.worker(thread);
                worker.tick();
                let mut progress = Progress::new();
                for round in 0..300i64 {
                    let owner = format!("owner{round}");
                    let id = round * 10 + thread as i64;
                    let values = [Value::Int(id), Value::Int(1), text(&owner), Value::Null];
                    let mut txn = begin(&worker);
                    let outcome = blocking(|| table.insert_row(&worker, &mut txn, &values, &mut progress));
                    match outcome {
                        Ok(InsertRow::Inserted) if round % 3 != 0 || thread != 0 => {
                            commit(&worker, txn);
                            wins.fetch_add(1, Ordering::Relaxed);
                        }
                        Ok(InsertRow::Inserted) => rollback(&worker, txn),
                        Ok(InsertRow::Paused { .. }) => unreachable!("no pause was asked for"),
                        Ok(InsertRow::Duplicate { index }) => {
                            assert_eq!(index, 1);
                            rollback(&worker, txn);
                        }
                        Err(txn::Error::Deadlock | txn::Error::LockWaitTimeout) => rollback(&worker, txn),
                        Err(error) => panic!("{error:?}"),
                    }
                    worker.tick();
                }
            });
        }
    });
    assert_eq!(scan_all(&worker, &table, 0).len() as u64, wins.load(Ordering::Relaxed));
    check_indexes(&worker, &table);
}

#[test]
fn held_rows_of_a_latest_scan_are_waited_for() {
    let fixture = Fixture::new(2);
    let (one, two) = (fixture.worker(0), fixture.worker(1));
    let table = account_table(&fixture, &one);
    let mut txn = begin(&one);
    for id in 0..5 {
        insert(&one, &mut txn, &table, &[Value::Int(id), Value::Int(id), Value::Null, Value::Int(1)]);
    }
    commit(&one, txn);
    let mut writer = begin(&one);
    update(&one, &mut writer, &table, &[Value::Int(2)], &[(3, Value::Int(9))]);
    let mut reader = begin(&two);
    let (mut cursor, mut row) = (RowCursor::new(), RowBuf::new());
    let mut range = EncodedRange::default();
    assert!(table.encode_range(2, &[Value::Int(1)], None, None, &mut range));
    cursor.open(&table, 2, &range, false, ReadMode::Latest, false);
    let mut found = Vec::new();
    loop {
        match cursor.next(&table, &two, &mut reader, &mut row) {
            Ok(true) => found.push(row.row(&table).get(0).expect("decodes").into_owned()),
            Ok(false) => break,
            Err(Interrupt::Stall(stall)) => {
                // Row 2 is held (or a page is read): let its writer go on.
                commit(&one, writer);
                writer = begin(&one);
                stall.wait_blocking();
            }
            Err(Interrupt::Error(error)) => panic!("{error:?}"),
        }
    }
    assert_eq!(found, [Value::Int(0), Value::Int(1), Value::Int(3), Value::Int(4)], "row 2 has another tag now");
    rollback(&one, writer);
    rollback(&two, reader);
}

/// Tells the threads to stop, also when the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A session's way to a table: the current one, held by a share of its metadata lock.
fn hold(database: &Database, worker: &Worker, name: &str) -> Arc<Table> {
    loop {
        let version = database.schema_version();
        let table = database.table_by_name("d", name).expect("the table is never dropped");
        if let Err(wait) = table.mdl().acquire_shared(worker.index(), TableUse::Writes) {
            assert!(wait.wait_blocking(std::time::Instant::now() + std::time::Duration::from_secs(60)));
        }
        if database.schema_version() == version {
            return table;
        }
        table.mdl().release_shared(worker.index(), TableUse::Writes);
    }
}

/// Inserts, updates or deletes one random row; errors end the transaction.
fn churn(rng: &mut StdRng, worker: &Worker, txn: &mut Txn, table: &Table) -> std::result::Result<(), txn::Error> {
    let (mut row, mut progress, mut key) = (RowBuf::new(), Progress::new(), Vec::new());
    let id = rng.random_range(0..200i64);
    let owner = format!("owner{}", rng.random_range(0..300));
    assert!(table.encode_point_key(0, &[Value::Int(id)], &mut key));
    loop {
        if !blocking(|| table.point(worker, txn, 0, &key, RowRead::Latest, &mut row))? {
            let values = [Value::Int(id), Value::Int(1), text(&owner), Value::Int(id % 3)];
            blocking(|| table.insert_row(worker, txn, &values, &mut progress))?;
            return Ok(());
        }
        let outcome = match rng.random_range(0..3) {
            0 => blocking(|| table.delete_row(worker, txn, &row, &mut progress))?,
            1 => {
                let changes = [(0, Value::Int(rng.random_range(0..200i64))), (2, text(&owner))];
                blocking(|| table.update_row(worker, txn, &row, &changes, &mut progress))?
            }
            _ => {
                let changes = [(1, Value::Int(rng.random_range(0..9))), (3, Value::Null)];
                blocking(|| table.update_row(worker, txn, &row, &changes, &mut progress))?
            }
        };
        if outcome != WriteRow::Changed {
            return Ok(());
        }
    }
}

#[test]
fn ddl_and_transactions_alternate() {
    let fixture = Fixture::new(THREADS + 1);
    let database = fixture.database();
    let ddl_worker = fixture.worker(THREADS);
    account_table(&fixture, &ddl_worker);
    let stop = AtomicBool::new(false);
    let (done, options) = (AtomicU64::new(0), crate::ddl::DdlOptions::default());
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (done, stop, engine) = (&done, &stop, fixture.engine());
            scope.spawn(move || {
                let worker = engine.worker(thread);
                worker.tick();
                let mut rng = StdRng::seed_from_u64(100 + thread as u64);
                while !stop.load(Ordering::Relaxed) {
                    let table = hold(database, &worker, "a");
                    let mut txn = begin(&worker);
                    let steps = rng.random_range(1..6);
                    match (0..steps).try_for_each(|_| churn(&mut rng, &worker, &mut txn, &table)) {
                        Ok(()) if rng.random_bool(0.8) => {
                            commit(&worker, txn);
                            done.fetch_add(1, Ordering::Relaxed);
                        }
                        Ok(()) | Err(txn::Error::Deadlock | txn::Error::LockWaitTimeout) => rollback(&worker, txn),
                        Err(error) => panic!("{error:?}"),
                    }
                    table.mdl().release_shared(worker.index(), TableUse::Writes);
                    worker.tick();
                }
            });
        }
        let _stop = Stop(&stop);
        for round in 0..12 {
            let name = format!("extra{round}");
            let new = index(&name, NewIndexKind::Secondary, &["tag", "owner"]);
            database.create_index(&ddl_worker, "d", "a", new, &options).expect("builds");
            std::thread::sleep(std::time::Duration::from_millis(40));
            check_indexes(&ddl_worker, &hold(database, &ddl_worker, "a"));
            database.table_by_name("d", "a").expect("there").mdl().release_shared(ddl_worker.index(), TableUse::Writes);
            match round % 4 {
                3 => database.truncate_table(&ddl_worker, "d", "a", &options).expect("truncates"),
                2 => drop(
                    database
                        .alter_table(&ddl_worker, "d", "a", vec![crate::ddl::AlterAction::Rebuild], &options)
                        .expect("copies"),
                ),
                _ => drop(database.drop_index(&ddl_worker, "d", "a", &name, &options).expect("drops")),
            }
            database.housekeeping(&ddl_worker).expect("frees");
            ddl_worker.tick();
        }
    });
    assert!(done.load(Ordering::Relaxed) > 50);
    check_indexes(&ddl_worker, &database.table_by_name("d", "a").expect("there"));
    while database.housekeeping(&ddl_worker).expect("frees") {}
}

#[test]
fn a_table_larger_than_the_pool_is_written_and_read_back() {
    const EACH: i64 = 6000;
    let mut fixture = Fixture::with_pool(THREADS + 1, 4 << 20);
    {
        let worker = fixture.worker(THREADS);
        let columns = vec![
            not_null(column("id", TypeKind::Int)),
            not_null(column("k", TypeKind::Int)),
            column("pad", TypeKind::VarChar { length: 1500 }),
        ];
        let indexes = vec![index("", NewIndexKind::Primary, &["id"]), index("k", NewIndexKind::Secondary, &["k"])];
        let table = create(fixture.database(), &worker, table("big", columns, indexes));
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (table, engine) = (&table, fixture.engine());
                scope.spawn(move || {
                    let worker = engine.worker(thread);
                    worker.tick();
                    let mut rng = StdRng::seed_from_u64(thread as u64);
                    for n in 0..EACH {
                        let id = n * THREADS as i64 + thread as i64;
                        let pad = "p".repeat(rng.random_range(400..1400));
                        let mut txn = begin(&worker);
                        let values = [Value::Int(id), Value::Int(rng.random_range(0..1_000_000)), text(&pad)];
                        assert_eq!(insert(&worker, &mut txn, table, &values), InsertRow::Inserted);
                        if n % 10 == 9 {
                            let other = rng.random_range(0..n) * THREADS as i64 + thread as i64;
                            let changes = [(1, Value::Int(rng.random_range(0..1_000_000)))];
                            assert_eq!(update(&worker, &mut txn, table, &[Value::Int(other)], &changes), WriteRow::Done);
                        }
                        commit(&worker, txn);
                        worker.tick();
                    }
                });
            }
        });
        assert_eq!(scan_all(&worker, &table, 1).len() as i64, EACH * THREADS as i64);
    }
    fixture.reopen();
    let worker = fixture.worker(0);
    let table = fixture.database().table_by_name("d", "big").expect("it is still there");
    assert_eq!(table.estimated_rows() as i64, EACH * THREADS as i64);
    check_indexes(&worker, &table);
}
