//! Columns that come, go and move while rows stay as they are.

use super::blobs::chunks;
use super::*;
use crate::Error;
use crate::ddl::{Algorithm, AlterAction, ColumnPosition, DdlOptions};
use types::row::history::VERSIONS_MAX;

fn drop_column(name: &str) -> AlterAction {
    AlterAction::DropColumn { name: name.into() }
}

fn add_column(column: ColumnDef, position: ColumnPosition) -> AlterAction {
    AlterAction::AddColumn { column, position }
}

/// Alters table `t`; how many rows were written anew, and the table as it is then.
fn altered(fixture: &Fixture, worker: &Worker, actions: Vec<AlterAction>) -> (u64, Arc<Table>) {
    let rows = fixture.database().alter_table(worker, "d", "t", actions, &DdlOptions::default()).expect("alters").rows;
    (rows, fixture.database().table_by_name("d", "t").expect("it is there"))
}

fn names(table: &Table) -> Vec<&str> {
    table.def().columns.iter().map(|column| column.name.as_str()).collect()
}

fn long(seed: i64) -> Value<'static> {
    Value::Bytes(vec![seed as u8; 9_000 + seed as usize].into())
}

/// (id, a, b, c, d): a and b in indexes, c large, d with the number once more.
fn filled(fixture: &Fixture, worker: &Worker, rows: i64) -> Arc<Table> {
    let columns = vec![
        not_null(column("id", TypeKind::Int)),
        column("a", TypeKind::Int),
        column("b", TypeKind::VarChar { length: 20 }),
        column("c", TypeKind::Blob(types::LobSize::Regular)),
        not_null(column("d", TypeKind::BigInt)),
    ];
    let indexes = vec![
        index("", NewIndexKind::Primary, &["id"]),
        index("a", NewIndexKind::Secondary, &["a"]),
        index("ab", NewIndexKind::Unique, &["a", "b"]),
        index("b", NewIndexKind::Secondary, &["b"]),
    ];
    let table = create(fixture.database(), worker, table("t", columns, indexes));
    let mut txn = begin(worker);
    for id in 0..rows {
        let b = format!("b{}", id % 5);
        insert(worker, &mut txn, &table, &[Value::Int(id), Value::Int(id * 10), text(&b), long(id), Value::Int(-id)]);
    }
    commit(worker, txn);
    table
}

#[test]
fn old_and_new_rows_stand_side_by_side() {
    let mut fixture = Fixture::new(2);
    {
        let worker = fixture.worker(0);
        let before = filled(&fixture, &worker, 20);
        let all_chunks = chunks(&worker, &before);
        let (rows, table) = altered(
            &fixture,
            &worker,
            vec![
                drop_column("b"),
                add_column(
                    ColumnDef { default: ColumnDefault::Literal(Some("7".into())), ..column("n", TypeKind::Int) },
                    ColumnPosition::First,
                ),
            ],
        );
        assert_eq!((rows, names(&table)), (0, vec!["n", "id", "a", "c", "d"]));
        let indexes: Vec<_> = table.def().indexes.iter().map(|index| (index.name.as_str(), index.columns.len())).collect();
        assert_eq!(indexes, [("PRIMARY", 1), ("ab", 1), ("a", 1)], "`b` is gone, `ab` has lost a column");
        check_indexes(&worker, &table);
        assert_eq!(scan_all(&worker, &table, 0)[3], [Value::Int(7), Value::Int(3), Value::Int(30), long(3), Value::Int(-3)]);

        // Rows of both kinds; one is changed and brought back.
        let mut txn = begin(&worker);
        insert(&worker, &mut txn, &table, &[Value::Int(1), Value::Int(50), Value::Int(5), long(50), Value::Int(0)]);
        update(&worker, &mut txn, &table, &[Value::Int(4)], &[(4, Value::Int(44))]);
        update(&worker, &mut txn, &table, &[Value::Int(5)], &[(0, Value::Null), (3, text("short"))]);
        commit(&worker, txn);
        let mut txn = begin(&worker);
        update(&worker, &mut txn, &table, &[Value::Int(6)], &[(2, Value::Int(1)), (3, Value::Null)]);
        delete(&worker, &mut txn, &table, &[Value::Int(7)]);
        rollback(&worker, txn);
        let rows = scan_all(&worker, &table, 0);
        assert_eq!(rows.len(), 21);
        assert_eq!(rows[4], [Value::Int(7), Value::Int(4), Value::Int(40), long(4), Value::Int(44)]);
        assert_eq!(rows[5], [Value::Null, Value::Int(5), Value::Int(50), text("short"), Value::Int(-5)]);
        assert_eq!(rows[6], [Value::Int(7), Value::Int(6), Value::Int(60), long(6), Value::Int(-6)]);
        assert_eq!(rows[20], [Value::Int(1), Value::Int(50), Value::Int(5), long(50), Value::Int(0)]);
        check_indexes(&worker, &table);

        // A column of large values goes. They stay with the rows until these are changed, or deleted.
        let (rows, table) = altered(
            &fixture,
            &worker,
            vec![drop_column("c"), add_column(column("b", TypeKind::Int), ColumnPosition::After("n".into()))],
        );
        assert_eq!((rows, names(&table)), (0, vec!["n", "b", "id", "a", "d"]));
        assert_eq!(chunks(&worker, &table), all_chunks);
        let mut txn = begin(&worker);
        update(&worker, &mut txn, &table, &[Value::Int(8)], &[(4, Value::Int(88))]);
        delete(&worker, &mut txn, &table, &[Value::Int(9)]);
        update(&worker, &mut txn, &table, &[Value::Int(50)], &[(1, Value::Int(1))]);
        commit(&worker, txn);
        let mut txn = begin(&worker);
        update(&worker, &mut txn, &table, &[Value::Int(10)], &[(4, Value::Int(0))]);
        delete(&worker, &mut txn, &table, &[Value::Int(11)]);
        rollback(&worker, txn);
        assert_eq!(chunks(&worker, &table), all_chunks - 9);
        check_indexes(&worker, &table);
    }
    let expected = {
        let worker = fixture.worker(0);
        let table = fixture.database().table_by_name("d", "t").expect("it is there");
        let rows = scan_all(&worker, &table, 0);
        assert_eq!(rows[8], [Value::Int(7), Value::Null, Value::Int(8), Value::Int(80), Value::Int(88)]);
        assert_eq!(rows[9], [Value::Int(7), Value::Null, Value::Int(10), Value::Int(100), Value::Int(-10)]);
        rows
    };
    fixture.reopen_roughly();
    {
        let worker = fixture.worker(0);
        let table = fixture.database().table_by_name("d", "t").expect("it is there");
        assert_eq!(scan_all(&worker, &table, 0), expected);
        // Written anew, they have nothing of the past.
        let (rows, table) = altered(&fixture, &worker, vec![AlterAction::Rebuild]);
        assert_eq!((rows, table.def().history.is_none()), (20, true));
        assert_eq!(scan_all(&worker, &table, 0), expected);
        assert!(table.blob_tree.is_none());
        check_indexes(&worker, &table);
    }
    fixture.reopen();
}

#[test]
fn old_snapshots_read_rows_by_the_new_definition() {
    let fixture = Fixture::new(2);
    let worker = fixture.worker(0);
    filled(&fixture, &worker, 10);
    let mut old = begin(&worker);
    old.take_snapshot(&worker);
    let ddl = fixture.worker(1);
    let (_, table) = altered(
        &fixture,
        &ddl,
        vec![drop_column("c"), drop_column("b"), add_column(column("e", TypeKind::Int), ColumnPosition::Default)],
    );
    let mut txn = begin(&ddl);
    update(&ddl, &mut txn, &table, &[Value::Int(1)], &[(1, Value::Int(1)), (3, Value::Int(5))]);
    delete(&ddl, &mut txn, &table, &[Value::Int(2)]);
    commit(&ddl, txn);
    assert_eq!(scan_all(&ddl, &table, 0).len(), 9);
    let rows = scan(&worker, &mut old, &table, 0, &EncodedRange::default(), false, ReadMode::Snapshot);
    assert_eq!(rows.len(), 10);
    for (id, row) in (0..).zip(rows) {
        assert_eq!(row, [Value::Int(id), Value::Int(id * 10), Value::Int(-id), Value::Null]);
    }
    rollback(&worker, old);
    check_indexes(&ddl, &table);
}

#[test]
fn old_snapshots_do_not_read_what_was_made_since() {
    let fixture = Fixture::new(2);
    let (worker, ddl) = (fixture.worker(0), fixture.worker(1));
    filled(&fixture, &ddl, 10);
    let mut old = begin(&worker);
    old.take_snapshot(&worker);
    let check = |txn: &Txn| fixture.database().table_by_name("d", "t").expect("it is there").check_age(txn);
    altered(&fixture, &ddl, vec![AlterAction::SetComment("hello".into())]);
    check(&old).expect("the rows stand where they stood");
    // An index that was made since is not for the snapshot; the rows are.
    let index = AlterAction::AddIndex { index: index("d", NewIndexKind::Secondary, &["d"]) };
    let (_, table) = altered(&fixture, &ddl, vec![index]);
    check(&old).expect("the rows stand where they stood");
    let (mut cursor, mut row) = (RowCursor::new(), RowBuf::new());
    let mut first = |txn: &mut Txn, index: usize| {
        cursor.open(&table, index, &EncodedRange::default(), false, ReadMode::Snapshot, false);
        blocking(|| cursor.next(&table, &worker, txn, &mut row))
    };
    let made = table.def().indexes.iter().position(|index| index.name == "d").expect("it was made");
    assert!((0..made).all(|index| matches!(first(&mut old, index), Ok(true))));
    assert!(matches!(first(&mut old, made), Err(txn::Error::SnapshotTooOld)));
    let mut new = begin(&worker);
    assert!(matches!(first(&mut new, made), Ok(true)));
    altered(&fixture, &ddl, vec![AlterAction::Rebuild]);
    for txn in [&old, &new] {
        assert!(matches!(check(txn), Err(txn::Error::SnapshotTooOld)));
    }
    let mut committed = worker.begin(txn::Isolation::ReadCommitted);
    committed.take_snapshot(&worker);
    altered(&fixture, &ddl, vec![AlterAction::Rebuild]);
    check(&committed).expect("each statement has a snapshot of its own");
    [old, new, committed].into_iter().for_each(|txn| rollback(&worker, txn));
}

#[test]
fn columns_move_without_a_rebuild() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let before = filled(&fixture, &worker, 10);
    let column_of = |name: &str| before.def().columns[before.def().column_index(name).expect("there")].clone();
    let to = |name: &str, position| AlterAction::ChangeColumn { name: name.into(), column: column_of(name), position };
    let (rows, table) =
        altered(&fixture, &worker, vec![to("d", ColumnPosition::First), to("a", ColumnPosition::After("c".into()))]);
    assert_eq!((rows, names(&table)), (0, vec!["d", "id", "b", "c", "a"]));
    let mut txn = begin(&worker);
    update(&worker, &mut txn, &table, &[Value::Int(3)], &[(2, text("new"))]);
    insert(&worker, &mut txn, &table, &[Value::Int(1), Value::Int(20), text("x"), text("y"), Value::Int(2)]);
    commit(&worker, txn);
    let rows = scan_all(&worker, &table, 0);
    assert_eq!(rows[2], [Value::Int(-2), Value::Int(2), text("b2"), long(2), Value::Int(20)]);
    assert_eq!(rows[3], [Value::Int(-3), Value::Int(3), text("new"), long(3), Value::Int(30)]);
    assert_eq!(rows[10], [Value::Int(1), Value::Int(20), text("x"), text("y"), Value::Int(2)]);
    check_indexes(&worker, &table);
    let back = ["d", "a"].map(|name| to(name, ColumnPosition::After("id".into()))).into();
    let (rows, table) = altered(&fixture, &worker, back);
    assert_eq!((rows, names(&table)), (0, vec!["id", "a", "d", "b", "c"]));
    check_indexes(&worker, &table);
}

#[test]
fn keys_that_lose_a_column_are_judged_anew() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    filled(&fixture, &worker, 10);
    let database = fixture.database();
    let result = database.alter_table(&worker, "d", "t", vec![drop_column("a")], &DdlOptions::default());
    assert!(matches!(&result, Err(Error::DuplicateEntry { index, .. }) if index == "t.ab"), "{result:?}");
    check_indexes(&worker, &database.table_by_name("d", "t").expect("it is there"));
    // Of the primary key: rows stand elsewhere.
    let keys = vec![AlterAction::DropPrimaryKey, AlterAction::AddIndex { index: index("", NewIndexKind::Primary, &["d", "id"]) }];
    altered(&fixture, &worker, keys);
    let (rows, table) = altered(&fixture, &worker, vec![drop_column("id")]);
    assert_eq!((rows, table.def().history.is_none()), (10, true));
    check_indexes(&worker, &table);
}

#[test]
fn after_so_many_changes_rows_are_written_anew() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    filled(&fixture, &worker, 3);
    let database = fixture.database();
    let turn = |n: u16, options: &DdlOptions| {
        let action = match n % 2 {
            0 => add_column(column("x", TypeKind::Int), ColumnPosition::First),
            _ => drop_column("x"),
        };
        database.alter_table(&worker, "d", "t", vec![action], options)
    };
    let instant = DdlOptions { algorithm: Algorithm::Instant, ..DdlOptions::default() };
    for n in 0..VERSIONS_MAX {
        assert_eq!(turn(n, &instant).expect("at once").rows, 0, "{n}");
    }
    let versions = || {
        let table = database.table_by_name("d", "t").expect("it is there");
        check_indexes(&worker, &table);
        (table.def().history.as_ref().map_or(0, |history| history.versions), scan_all(&worker, &table, 0).len())
    };
    assert_eq!(versions(), (VERSIONS_MAX, 3));
    let result = turn(VERSIONS_MAX, &instant);
    assert!(matches!(&result, Err(Error::TooManyRowVersions { table }) if table == "d/t"), "{result:?}");
    assert_eq!(turn(VERSIONS_MAX, &DdlOptions::default()).expect("rebuilds").rows, 3);
    assert_eq!(versions(), (0, 3));
    // Who asks for another way gets it.
    turn(VERSIONS_MAX + 1, &instant).expect("at once");
    assert_eq!(versions(), (1, 3));
    let in_place = DdlOptions { algorithm: Algorithm::InPlace, ..DdlOptions::default() };
    assert_eq!(turn(VERSIONS_MAX, &in_place).expect("rebuilds").rows, 3);
    assert_eq!(versions(), (0, 3));
    let table =
        create(database, &worker, crate::ddl::NewTable::like(database.table_by_name("d", "t").expect("there").def(), "d", "u"));
    assert!(table.def().history.is_none());
}
