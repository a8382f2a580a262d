//! Definitions that read a table while others change it.

use super::*;
use crate::ddl::{AlterAction, ColumnPosition, DdlOptions};
use crate::{Error, TableUse};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};
use types::LobSize;

const WRITERS: usize = 3;
const ROWS: i64 = 300;

/// A row: number, tag, bytes of its large value.
type Model = BTreeMap<i64, (i64, String, Option<usize>)>;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

fn options() -> DdlOptions {
    DdlOptions { lock_wait_timeout: Duration::from_secs(60), ..DdlOptions::default() }
}

/// id, v, tag, pad; found by the unique key of id, whatever the primary key is.
fn new_table() -> NewTable {
    let columns = vec![
        not_null(column("id", TypeKind::Int)),
        not_null(column("v", TypeKind::Int)),
        not_null(column("tag", TypeKind::VarChar { length: 20 })),
        column("pad", TypeKind::Blob(LobSize::Long)),
    ];
    let indexes = vec![index("", NewIndexKind::Primary, &["id"]), index("uid", NewIndexKind::Unique, &["id"])];
    table("o", columns, indexes)
}

/// The present table, with a share of its lock.
fn hold(database: &Database, worker: &Worker) -> Arc<Table> {
    loop {
        let table = database.table_by_name("d", "o").expect("the table is never dropped");
        if let Err(wait) = table.mdl().acquire_shared(worker.index(), TableUse::Writes) {
            assert!(wait.wait_blocking(soon()));
        }
        if !table.is_replaced() {
            return table;
        }
        table.mdl().release_shared(worker.index(), TableUse::Writes);
    }
}

fn values<'v>(table: &Table, id: i64, v: i64, tag: &'v str, pad: Option<usize>) -> Vec<Value<'v>> {
    let def = table.def();
    let value = |name: &str| match name {
        "id" => Value::Int(id),
        "v" => Value::Int(v),
        "tag" => text(tag),
        "extra" => Value::Int(-id),
        _ => pad.map_or(Value::Null, |bytes| Value::Bytes(vec![id as u8; bytes].into())),
    };
    def.columns.iter().map(|column| value(&column.name)).collect()
}

/// One change of one of the writer's own rows. The model is changed too.
fn change(
    rng: &mut StdRng,
    worker: &Worker,
    txn: &mut Txn,
    table: &Table,
    model: &mut Model,
    writer: usize,
) -> std::result::Result<(), txn::Error> {
    let (mut row, mut progress, mut key) = (RowBuf::new(), Progress::new(), Vec::new());
    let id = rng.random_range(0..ROWS / WRITERS as i64 * 2) * WRITERS as i64 + writer as i64;
    let by_id = table.def().index_by_name("uid").expect("it stays");
    assert!(table.encode_point_key(by_id, &[Value::Int(id)], &mut key));
    let (v, pad) = (rng.random_range(0..50), rng.random_bool(0.2).then(|| rng.random_range(0..9000)));
    let tag = format!("{id}-{}", rng.random_range(0..1000));
    loop {
        if !blocking(|| table.point(worker, txn, by_id, &key, RowRead::Latest, &mut row))? {
            let values = values(table, id, v, &tag, pad);
            assert_eq!(blocking(|| table.insert_row(worker, txn, &values, &mut progress))?, InsertRow::Inserted);
            model.insert(id, (v, tag, pad));
            return Ok(());
        }
        let new = model.get(&id).cloned().expect("the model has the row");
        let (outcome, new) = match rng.random_range(0..4) {
            0 => (blocking(|| table.delete_row(worker, txn, &row, &mut progress))?, None),
            1 => {
                let at = |name| table.def().column_index(name).expect("there");
                let changes = [(at("v"), Value::Int(v)), (at("tag"), text(&tag))];
                (blocking(|| table.update_row(worker, txn, &row, &changes, &mut progress))?, Some((v, tag.clone(), new.2)))
            }
            2 => {
                let at = table.def().column_index("pad").expect("there");
                let changes = [(at, pad.map_or(Value::Null, |bytes| Value::Bytes(vec![id as u8; bytes].into())))];
                (blocking(|| table.update_row(worker, txn, &row, &changes, &mut progress))?, Some((new.0, new.1, pad)))
            }
            _ => {
                let at = table.def().column_index("v").expect("there");
                let changes = [(at, Value::Int(v))];
                (blocking(|| table.update_row(worker, txn, &row, &changes, &mut progress))?, Some((v, new.1, new.2)))
            }
        };
        match (outcome, new) {
            (WriteRow::Changed, _) => continue,
            (_, Some(new)) => model.insert(id, new),
            (_, None) => model.remove(&id),
        };
        return Ok(());
    }
}

fn contents(worker: &Worker, table: &Table) -> Model {
    let at = |name: &str| table.def().column_index(name).expect("there");
    let (id, v, tag, pad) = (at("id"), at("v"), at("tag"), at("pad"));
    let number = |value: &Value<'_>| if let Value::Int(n) = value { *n } else { panic!("{value:?} is no number") };
    let bytes = |value: &Value<'_>| if let Value::Bytes(b) = value { Some(b.to_vec()) } else { None };
    let rows = scan_all(worker, table, 0).into_iter().map(|row| {
        let tag = String::from_utf8(bytes(&row[tag]).expect("a text")).expect("UTF-8");
        (number(&row[id]), (number(&row[v]), tag, bytes(&row[pad]).map(|b| b.len())))
    });
    rows.collect()
}

#[test]
fn no_change_is_lost_while_trees_are_made() {
    let fixture = Fixture::new(WRITERS + 1);
    let database = fixture.database();
    let ddl_worker = fixture.worker(WRITERS);
    create(database, &ddl_worker, new_table());
    let (stop, commits) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut during = 0;
    let models: Vec<Model> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (stop, commits, engine) = (&stop, &commits, fixture.engine());
                scope.spawn(move || {
                    let worker = engine.worker(writer);
                    worker.tick();
                    let mut rng = StdRng::seed_from_u64(7 + writer as u64);
                    let mut model = Model::new();
                    while !stop.load(Ordering::Relaxed) {
                        let table = hold(database, &worker);
                        let level = if rng.random_bool(0.5) { Isolation::ReadCommitted } else { Isolation::RepeatableRead };
                        let mut txn = worker.begin(level);
                        let mut after = model.clone();
                        let steps = rng.random_range(1..8);
                        match (0..steps).try_for_each(|_| change(&mut rng, &worker, &mut txn, &table, &mut after, writer)) {
                            Ok(()) if rng.random_bool(0.8) => {
                                commit(&worker, txn);
                                model = after;
                                commits.fetch_add(1, Ordering::Relaxed);
                            }
                            // Gaps are the writers' in common.
                            Ok(()) | Err(txn::Error::Deadlock) => rollback(&worker, txn),
                            Err(error) => panic!("{error:?}"),
                        }
                        table.mdl().release_shared(worker.index(), TableUse::Writes);
                        worker.tick();
                        // As clients do: else an emulated definition hardly keeps up.
                        std::thread::sleep(Duration::from_micros(200));
                    }
                    model
                })
            })
            .collect();
        struct Stop<'a>(&'a AtomicBool);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let _stop = Stop(&stop);
        std::thread::sleep(Duration::from_millis(500));
        let add = |new: NewIndex| AlterAction::AddIndex { index: new };
        let retype = |kind| AlterAction::ChangeColumn {
            name: "v".into(),
            column: not_null(column("v", kind)),
            position: ColumnPosition::First,
        };
        // Without a rebuild: what is added meanwhile has other columns at other places.
        let extra = || AlterAction::AddColumn { column: column("extra", TypeKind::Int), position: ColumnPosition::First };
        let no_extra = || AlterAction::DropColumn { name: "extra".into() };
        let primary = |columns: &[&str]| add(index("", NewIndexKind::Primary, columns));
        for round in 0..2 {
            let v = index("v", NewIndexKind::Secondary, &["v", "tag"]);
            // Several entries of a row: the numbers in the tag.
            let words = index("words", NewIndexKind::FullText, &["tag"]);
            let steps = vec![
                vec![add(words)],
                vec![add(v), add(index("tag", NewIndexKind::Unique, &["tag"]))],
                vec![retype(TypeKind::BigInt)],
                vec![AlterAction::DropPrimaryKey, primary(&["tag"])],
                vec![AlterAction::DropPrimaryKey, add(prefix_index("pad", NewIndexKind::Secondary, "pad", 100))],
                vec![AlterAction::Rebuild],
                vec![primary(&["v", "id"]), AlterAction::DropIndex { name: "pad".into() }],
                vec![AlterAction::DropPrimaryKey, primary(&["id"]), retype(TypeKind::Int)],
                vec![extra(), add(prefix_index("pad", NewIndexKind::Secondary, "pad", 9))],
                vec![add(index("x", NewIndexKind::Secondary, &["extra", "tag"]))],
                vec![no_extra(), add(index("tags", NewIndexKind::Secondary, &["v"]))],
                vec![extra(), AlterAction::DropIndex { name: "x".into() }, AlterAction::DropIndex { name: "tags".into() }],
                vec![no_extra()],
                ["v", "tag", "pad", "words"].map(|name| AlterAction::DropIndex { name: name.into() }).into(),
            ];
            for (number, actions) in steps.into_iter().enumerate() {
                let before = commits.load(Ordering::Relaxed);
                database.alter_table(&ddl_worker, "d", "o", actions, &options()).expect("alters");
                during += commits.load(Ordering::Relaxed) - before;
                let table = hold(database, &ddl_worker);
                check_indexes(&ddl_worker, &table);
                table.mdl().release_shared(ddl_worker.index(), TableUse::Writes);
                database.housekeeping(&ddl_worker).expect("frees");
                ddl_worker.tick();
                assert!(!table.def().columns.is_empty(), "round {round}, step {number}");
            }
        }
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().map(|writer| writer.join().expect("no panic")).collect()
    });
    assert!(during > 20, "writers go on while trees are made: {during} commits");
    let table = database.table_by_name("d", "o").expect("there");
    let expected: Model = models.into_iter().flatten().collect();
    assert_eq!(contents(&ddl_worker, &table), expected);
    check_indexes(&ddl_worker, &table);
    while database.housekeeping(&ddl_worker).expect("frees") {}
}

#[test]
fn a_definition_that_waits_lets_users_in() {
    let fixture = Fixture::new(3);
    let database = fixture.database();
    let worker = fixture.worker(0);
    let table = create(database, &worker, new_table());
    let holder = fixture.worker(1);
    assert!(table.mdl().try_shared(holder.index(), TableUse::Writes));
    std::thread::scope(|scope| {
        let definition = scope.spawn(|| {
            let ddl = fixture.worker(2);
            let new = index("v", NewIndexKind::Secondary, &["v"]);
            database.create_index(&ddl, "d", "o", new, &options()).expect("builds when the holder is gone");
        });
        // Whoever is kept out gets in while the definition still waits for the holder, turn after turn.
        let mut waits = 0;
        while waits < 3 {
            if let Err(wait) = table.mdl().acquire_shared(worker.index(), TableUse::Writes) {
                assert!(wait.wait_blocking(soon()), "a definition that waits lets users in");
                waits += 1;
            }
            table.mdl().release_shared(worker.index(), TableUse::Writes);
            std::thread::yield_now();
        }
        assert!(!definition.is_finished());
        table.mdl().release_shared(holder.index(), TableUse::Writes);
        definition.join().expect("no panic");
    });
    // It also gives up in time.
    let table = database.table_by_name("d", "o").expect("there");
    assert!(table.mdl().try_shared(holder.index(), TableUse::Writes));
    let short = DdlOptions { lock_wait_timeout: Duration::from_millis(700), ..options() };
    let result = database.drop_index(&worker, "d", "o", "v", &short);
    assert!(matches!(result, Err(Error::LockWaitTimeout)), "{result:?}");
    table.mdl().release_shared(holder.index(), TableUse::Writes);
}

/// A transaction that is open while an index is built is waited for, and what it then does is in the index.
#[test]
fn open_transactions_end_before_the_table_changes_hands() {
    let fixture = Fixture::new(2);
    let database = fixture.database();
    let worker = fixture.worker(0);
    let table = create(database, &worker, new_table());
    let mut txn = begin(&worker);
    for id in 0..50 {
        insert(&worker, &mut txn, &table, &values(&table, id, id % 7, &format!("t{id}"), None));
    }
    commit(&worker, txn);
    std::thread::scope(|scope| {
        let definition = scope.spawn(|| {
            let ddl = fixture.worker(1);
            let actions = vec![
                AlterAction::AddIndex { index: index("tag", NewIndexKind::Unique, &["tag"]) },
                AlterAction::AddIndex { index: index("v", NewIndexKind::Secondary, &["v"]) },
            ];
            database.alter_table(&ddl, "d", "o", actions, &options()).expect("builds");
        });
        // In the middle of the build, if it gets there: the outcome is the same.
        while table.watch().is_none() && !definition.is_finished() {
            std::thread::yield_now();
        }
        let present = hold(database, &worker);
        let mut txn = begin(&worker);
        update(&worker, &mut txn, &present, &[Value::Int(3)], &[(2, text("t4x")), (1, Value::Int(100))]);
        update(&worker, &mut txn, &present, &[Value::Int(4)], &[(2, text("t3"))]);
        update(&worker, &mut txn, &present, &[Value::Int(3)], &[(2, text("t4"))]);
        delete(&worker, &mut txn, &present, &[Value::Int(9)]);
        std::thread::sleep(Duration::from_millis(900));
        insert(&worker, &mut txn, &present, &values(&present, 900, 1, "t900", Some(20_000)));
        commit(&worker, txn);
        present.mdl().release_shared(worker.index(), TableUse::Writes);
        definition.join().expect("no panic");
    });
    let table = database.table_by_name("d", "o").expect("there");
    check_indexes(&worker, &table);
    let rows = contents(&worker, &table);
    assert_eq!((rows.len(), &rows[&3].1[..], &rows[&4].1[..]), (50, "t4", "t3"));
}

#[test]
fn duplicates_are_told() {
    let fixture = Fixture::new(1);
    let database = fixture.database();
    let worker = fixture.worker(0);
    let table = create(database, &worker, new_table());
    let mut txn = begin(&worker);
    for id in 0..30 {
        insert(&worker, &mut txn, &table, &values(&table, id, id % 29, &format!("t{id}"), None));
    }
    commit(&worker, txn);
    let unique = |columns: &[&str]| AlterAction::AddIndex { index: index("u", NewIndexKind::Unique, columns) };
    let alter = |actions| database.alter_table(&worker, "d", "o", actions, &options());
    for actions in [vec![unique(&["v"])], vec![unique(&["v"]), AlterAction::Rebuild]] {
        match alter(actions) {
            Err(Error::DuplicateEntry { key, index }) => assert_eq!((&key[..], &index[..]), ("0", "o.u")),
            other => panic!("{other:?}"),
        }
    }
    let primary = AlterAction::AddIndex { index: index("", NewIndexKind::Primary, &["v"]) };
    assert!(matches!(alter(vec![AlterAction::DropPrimaryKey, primary]), Err(Error::DuplicateEntry { .. })));
    alter(vec![unique(&["v", "id"])]).expect("no duplicates");
    check_indexes(&worker, &database.table_by_name("d", "o").expect("there"));
    while database.housekeeping(&worker).expect("frees") {}
}
