//! DDL: definitions, their checks, and what happens to rows.

use super::*;
use crate::ddl::{AlterAction, Altered, ColumnPosition, DdlOptions};
use crate::{Error, TableUse};
use std::time::Duration;
use types::schema::IndexKind;

fn options() -> DdlOptions {
    DdlOptions { lock_wait_timeout: Duration::from_secs(10), cancelled: None, ..DdlOptions::default() }
}

fn simple(name: &str) -> NewTable {
    let columns =
        vec![not_null(column("id", TypeKind::Int)), column("a", TypeKind::Int), column("b", TypeKind::VarChar { length: 20 })];
    table(name, columns, vec![index("", NewIndexKind::Primary, &["id"])])
}

fn fill(worker: &Worker, table: &Table, rows: i64) {
    let mut txn = begin(worker);
    for id in 0..rows {
        let b = format!("b{}", id % 50);
        assert_eq!(insert(worker, &mut txn, table, &[Value::Int(id), Value::Int(rows - id), text(&b)]), InsertRow::Inserted);
        if id % 1000 == 999 {
            commit(worker, txn);
            worker.tick();
            txn = begin(worker);
        }
    }
    commit(worker, txn);
}

fn now(fixture: &Fixture, name: &str) -> Arc<Table> {
    fixture.database().table_by_name("d", name).expect("the table exists")
}

#[test]
fn definitions_survive_and_are_ordered() {
    let mut fixture = Fixture::new(1);
    let columns = vec![
        counted(column("id", TypeKind::BigInt)),
        column("a", TypeKind::Int),
        not_null(column("b", TypeKind::VarChar { length: 20 })),
    ];
    let indexes = vec![
        index("", NewIndexKind::Secondary, &["a"]),
        index("", NewIndexKind::Secondary, &["a", "b"]),
        index("ua", NewIndexKind::Unique, &["a"]),
        index("ub", NewIndexKind::Unique, &["b"]),
        index("", NewIndexKind::Primary, &["id"]),
    ];
    let before = {
        let worker = fixture.worker(0);
        create(fixture.database(), &worker, table("t", columns, indexes)).def().clone()
    };
    let names: Vec<_> = before.indexes.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(names, ["PRIMARY", "ub", "ua", "a", "a_2"]);
    fixture.reopen();
    let after = now(&fixture, "t").def().clone();
    assert_eq!(serde_json::to_string(&*before).expect("json"), serde_json::to_string(&*after).expect("json"));
    assert!(fixture.database().schema().table("d", "t").is_some());
}

#[test]
fn wrong_definitions_are_told_apart() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let database = fixture.database();
    create(database, &worker, simple("t"));
    let id = || not_null(column("id", TypeKind::Int));
    let key = |columns: &[&str]| vec![index("", NewIndexKind::Primary, columns)];
    macro_rules! refused {
        ($new:expr, $error:pat) => {
            let result = database.create_table(&worker, $new);
            assert!(matches!(result, Err($error)), "{result:?}");
        };
    }
    assert!(matches!(database.create_database(&worker, "d", CollationId::BINARY), Err(Error::DatabaseExists { .. })));
    assert!(matches!(database.drop_database(&worker, "e", &options()), Err(Error::DatabaseMissing { .. })));
    refused!(simple("t"), Error::TableExists { .. });
    refused!(NewTable { database: "e".into(), ..simple("t") }, Error::UnknownDatabase { .. });
    refused!(table("x", vec![id(), column("ID", TypeKind::Int)], vec![]), Error::DuplicateColumn { .. });
    refused!(table("x", vec![], vec![]), Error::NoColumns);
    refused!(table("x", vec![id()], key(&["nope"])), Error::KeyColumnMissing { .. });
    refused!(table("x", vec![id()], [key(&["id"]), key(&["id"])].concat()), Error::MultiplePrimaryKeys);
    refused!(table("x", vec![counted(column("id", TypeKind::Int))], vec![]), Error::WrongAutoIncrement);
    let two = vec![counted(column("id", TypeKind::Int)), counted(column("j", TypeKind::Int))];
    refused!(table("x", two, vec![index("", NewIndexKind::Primary, &["id", "j"])]), Error::WrongAutoIncrement);
    let note = || column("note", TypeKind::Text(types::LobSize::Regular));
    refused!(table("x", vec![note()], vec![index("", NewIndexKind::Secondary, &["note"])]), Error::BlobKeyWithoutLength { .. });
    let long = || column("s", TypeKind::VarChar { length: 800 });
    refused!(table("x", vec![long()], vec![index("", NewIndexKind::Secondary, &["s"])]), Error::KeyTooLong { max_bytes: 3072 });
    let twice = vec![index("k", NewIndexKind::Secondary, &["id"]), index("K", NewIndexKind::Unique, &["id"])];
    refused!(table("x", vec![id()], twice), Error::DuplicateKeyName { .. });
    refused!(table("x", vec![id()], vec![prefix_index("k", NewIndexKind::Secondary, "id", 2)]), Error::WrongPrefix);
    refused!(
        table("x", vec![column("s", TypeKind::VarChar { length: 20_000 })], vec![]),
        Error::ColumnTooLong { max: 16_383, .. }
    );
    refused!(table("x", vec![column("s", TypeKind::Char { length: 256 })], vec![]), Error::ColumnTooLong { max: 255, .. });
    let wide = (0..5).map(|i| column(&format!("c{i}"), TypeKind::VarChar { length: 5000 })).collect();
    refused!(table("x", wide, vec![]), Error::RowTooLarge { .. });
    let fixed = (0..1000).map(|i| column(&format!("c{i}"), TypeKind::BigInt)).collect();
    refused!(table("x", fixed, vec![]), Error::RowTooLarge { .. });
    let many = (0..4097).map(|i| column(&format!("c{i}"), TypeKind::TinyInt)).collect();
    refused!(table("x", many, vec![]), Error::TooManyColumns);
    refused!(table("", vec![id()], vec![]), Error::WrongName { .. });
    refused!(table(&"x".repeat(65), vec![id()], vec![]), Error::NameTooLong { .. });
    let unknown = [("d".to_string(), "nope".to_string())];
    assert!(matches!(database.drop_tables(&worker, &unknown, &options()), Err(Error::UnknownTable { .. })));
    let result = database.drop_index(&worker, "d", "t", "nope", &options());
    assert!(matches!(result, Err(Error::CannotDrop { .. })), "{result:?}");
    assert_eq!(fixture.database().tables().len(), 1, "nothing refused left a table");
}

#[test]
fn a_table_of_thousands_of_columns_is_kept() {
    let mut fixture = Fixture::new(1);
    let columns: Vec<_> = (0..3000).map(|i| column(&format!("column_number_{i}"), TypeKind::TinyInt)).collect();
    let values: Vec<Value<'_>> = (0..3000).map(|i| Value::Int(i % 100)).collect();
    {
        let worker = fixture.worker(0);
        let table = create(fixture.database(), &worker, table("wide", columns, vec![]));
        let mut txn = begin(&worker);
        insert(&worker, &mut txn, &table, &values);
        commit(&worker, txn);
    }
    fixture.reopen();
    {
        let worker = fixture.worker(0);
        let table = now(&fixture, "wide");
        assert_eq!(table.def().columns.len(), 3000);
        assert_eq!(scan_all(&worker, &table, 0), vec![values]);
        fixture.database().drop_tables(&worker, &[("d".into(), "wide".into())], &options()).expect("drops");
        while fixture.database().housekeeping(&worker).expect("frees") {}
    }
    fixture.reopen();
    assert!(fixture.database().tables().is_empty());
}

#[test]
fn an_index_built_later_equals_one_kept_from_the_start() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let database = fixture.database();
    let table = create(database, &worker, simple("t"));
    fill(&worker, &table, 5000);
    database.create_index(&worker, "d", "t", index("ab", NewIndexKind::Secondary, &["b", "a"]), &options()).expect("builds");
    database.create_index(&worker, "d", "t", index("a", NewIndexKind::Unique, &["a"]), &options()).expect("builds");
    let table = now(&fixture, "t");
    let kinds: Vec<_> = table.def().indexes.iter().map(|i| (i.name.as_str(), i.kind)).collect();
    assert_eq!(kinds, [("PRIMARY", IndexKind::Primary), ("a", IndexKind::Unique), ("ab", IndexKind::Secondary)]);
    check_indexes(&worker, &table);
    let ordered = scan_all(&worker, &table, 1);
    assert!(ordered.is_sorted_by_key(|row| if let Value::Int(a) = row[1] { a } else { unreachable!() }));
    // Rows written afterwards go through all indexes.
    let mut txn = begin(&worker);
    update(&worker, &mut txn, &table, &[Value::Int(17)], &[(1, Value::Int(-5)), (2, text("new"))]);
    delete(&worker, &mut txn, &table, &[Value::Int(18)]);
    assert_eq!(
        insert(&worker, &mut txn, &table, &[Value::Int(9000), Value::Int(-5), Value::Null]),
        InsertRow::Duplicate { index: 1 }
    );
    commit(&worker, txn);
    check_indexes(&worker, &table);
    // A unique index over equal values is refused, and the table is as it was.
    let result = database.create_index(&worker, "d", "t", index("b", NewIndexKind::Unique, &["b"]), &options());
    assert!(matches!(&result, Err(Error::DuplicateEntry { key, index }) if key.starts_with('b') && index == "t.b"), "{result:?}");
    assert_eq!(now(&fixture, "t").def().indexes.len(), 3);
    database.drop_index(&worker, "d", "t", "AB", &options()).expect("drops");
    assert_eq!(now(&fixture, "t").def().indexes.len(), 2);
    while database.housekeeping(&worker).expect("frees") {}
    check_indexes(&worker, &now(&fixture, "t"));
}

#[test]
fn truncate_rename_and_drop() {
    let mut fixture = Fixture::new(1);
    {
        let worker = fixture.worker(0);
        let database = fixture.database();
        let table = create(database, &worker, simple("t"));
        let version = database.schema_version();
        fill(&worker, &table, 1500);
        database.truncate_table(&worker, "d", "t", &options()).expect("truncates");
        assert!(database.schema_version() > version);
        let table = now(&fixture, "t");
        assert_eq!((scan_all(&worker, &table, 0).len(), table.estimated_rows()), (0, 0));
        fill(&worker, &table, 10);
        create(database, &worker, simple("u"));
        let swap = |from: &str, to: &str| ("d".to_string(), from.to_string(), "d".to_string(), to.to_string());
        let result = database.rename_tables(&worker, &[swap("t", "u")], &options());
        assert!(matches!(result, Err(Error::TableExists { .. })), "{result:?}");
        database.rename_tables(&worker, &[swap("t", "x"), swap("u", "t"), swap("x", "u")], &options()).expect("swaps");
        assert_eq!(scan_all(&worker, &now(&fixture, "t"), 0).len(), 0);
        assert_eq!(scan_all(&worker, &now(&fixture, "u"), 0).len(), 10);
    }
    fixture.reopen();
    let worker = fixture.worker(0);
    assert_eq!(scan_all(&worker, &now(&fixture, "u"), 0).len(), 10);
    assert_eq!(now(&fixture, "u").estimated_rows(), 10);
    assert_eq!(fixture.database().drop_database(&worker, "d", &options()).expect("drops"), 2);
    assert!(fixture.database().schema().databases.is_empty());
    while fixture.database().housekeeping(&worker).expect("frees") {}
}

#[test]
fn ddl_waits_for_users_and_gives_up() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let database = fixture.database();
    let table = create(database, &worker, simple("t"));
    assert!(table.mdl().try_shared(worker.index(), TableUse::Writes));
    let impatient = DdlOptions { lock_wait_timeout: Duration::from_millis(30), cancelled: None, ..DdlOptions::default() };
    let result = database.truncate_table(&worker, "d", "t", &impatient);
    assert!(matches!(result, Err(Error::LockWaitTimeout)), "{result:?}");
    table.mdl().release_shared(worker.index(), TableUse::Writes);
    database.truncate_table(&worker, "d", "t", &impatient).expect("nobody uses it");
    assert!(table.mdl().try_shared(worker.index(), TableUse::Writes), "the lock outlives the definition");
    table.mdl().release_shared(worker.index(), TableUse::Writes);
}

#[test]
fn alter_copies_rows() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let database = fixture.database();
    let table = create(database, &worker, simple("t"));
    fill(&worker, &table, 2500);
    database.create_index(&worker, "d", "t", index("b", NewIndexKind::Secondary, &["b"]), &options()).expect("builds");
    let actions = vec![
        AlterAction::AddColumn {
            column: ColumnDef { default: ColumnDefault::Literal(Some("42".into())), ..not_null(column("n", TypeKind::Int)) },
            position: ColumnPosition::First,
        },
        AlterAction::ChangeColumn {
            name: "a".into(),
            column: column("big", TypeKind::BigInt),
            position: ColumnPosition::Default,
        },
        AlterAction::RenameColumn { name: "b".into(), to: "text".into() },
        AlterAction::AddIndex { index: index("", NewIndexKind::Unique, &["big", "n"]) },
    ];
    assert_eq!(database.alter_table(&worker, "d", "t", actions, &options()).expect("alters").rows, 2500);
    let table = self::now(&fixture, "t");
    let names: Vec<_> = table.def().columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["n", "id", "big", "text"]);
    let rows = scan_all(&worker, &table, 0);
    assert_eq!(rows.len(), 2500);
    assert_eq!(rows[7], vec![Value::Int(42), Value::Int(7), Value::Int(2493), text("b7")]);
    check_indexes(&worker, &table);
    assert_eq!(table.estimated_rows(), 2500);

    // Drop the primary key, then number the rows anew.
    database.drop_index(&worker, "d", "t", "PRIMARY", &options()).expect("drops");
    assert_eq!(self::now(&fixture, "t").def().indexes[0].kind, IndexKind::HiddenRowId);
    let actions = vec![
        AlterAction::DropColumn { name: "id".into() },
        AlterAction::AddColumn { column: counted(column("id", TypeKind::BigInt)), position: ColumnPosition::First },
        AlterAction::AddIndex { index: index("", NewIndexKind::Primary, &["id"]) },
    ];
    database.alter_table(&worker, "d", "t", actions, &options()).expect("alters");
    let table = self::now(&fixture, "t");
    let rows = scan_all(&worker, &table, 0);
    assert_eq!((rows.len(), &rows[0][0], &rows[2499][0]), (2500, &Value::Int(1), &Value::Int(2500)));
    assert_eq!(blocking(|| table.reserve_auto_increment(&worker, 1)).expect("reserves"), 2501);
    check_indexes(&worker, &table);

    // In place: names, defaults, longer strings.
    let actions = vec![
        AlterAction::RenameIndex { name: "b".into(), to: "words".into() },
        AlterAction::SetComment("hello".into()),
        AlterAction::ChangeColumn {
            name: "text".into(),
            column: column("words", TypeKind::VarChar { length: 200 }),
            position: ColumnPosition::Default,
        },
        AlterAction::RenameTable { database: "d".into(), name: "renamed".into() },
    ];
    assert_eq!(database.alter_table(&worker, "d", "t", actions, &options()).expect("alters").rows, 0);
    let table = self::now(&fixture, "renamed");
    assert_eq!(table.def().comment, "hello");
    assert!(database.table_by_name("d", "t").is_none());
    check_indexes(&worker, &table);
    while database.housekeeping(&worker).expect("frees") {}
    check_indexes(&worker, &table);
}

#[test]
fn a_nullable_column_at_the_end_costs_nothing() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let database = fixture.database();
    fill(&worker, &create(database, &worker, simple("t")), 100);
    let actions = vec![
        AlterAction::AddColumn { column: column("n", TypeKind::Int), position: ColumnPosition::Default },
        AlterAction::AddIndex { index: index("n", NewIndexKind::Unique, &["n"]) },
    ];
    assert_eq!(database.alter_table(&worker, "d", "t", actions, &options()).expect("alters").rows, 0, "no row is copied");
    let table = now(&fixture, "t");
    let mut txn = begin(&worker);
    assert_eq!(update(&worker, &mut txn, &table, &[Value::Int(3)], &[(3, Value::Int(33))]), WriteRow::Done);
    assert_eq!(update(&worker, &mut txn, &table, &[Value::Int(4)], &[(1, Value::Int(44))]), WriteRow::Done);
    assert_eq!(update(&worker, &mut txn, &table, &[Value::Int(5)], &[(3, Value::Int(33))]), WriteRow::Duplicate { index: 1 });
    delete(&worker, &mut txn, &table, &[Value::Int(6)]);
    commit(&worker, txn);
    check_indexes(&worker, &table);
    let rows = scan_all(&worker, &table, 0);
    assert_eq!(rows[3], [Value::Int(3), Value::Int(97), text("b3"), Value::Int(33)]);
    assert_eq!(rows[4], [Value::Int(4), Value::Int(44), text("b4"), Value::Null]);
}

#[test]
fn alter_converts_and_refuses_values() {
    let fixture = Fixture::new(1);
    let worker = fixture.worker(0);
    let database = fixture.database();
    fill(&worker, &create(database, &worker, simple("t")), 300);
    let change = |column: ColumnDef| {
        vec![AlterAction::ChangeColumn { name: column.name.clone(), column, position: ColumnPosition::Default }]
    };
    let alter = |actions| database.alter_table(&worker, "d", "t", actions, &options());
    let result = alter(change(column("a", TypeKind::TinyInt)));
    let row_of = |result: &crate::Result<Altered>| match result {
        Err(Error::Conversion { problem: types::convert::Problem::OutOfRange, column, row }) if column == "a" => Some(*row),
        _ => None,
    };
    assert_eq!(row_of(&result), Some(1), "{result:?}");
    assert_eq!(alter(change(column("a", TypeKind::VarChar { length: 3 }))).expect("alters").rows, 300);
    let result = alter(change(column("b", TypeKind::Int)));
    assert!(matches!(result, Err(Error::Conversion { .. })), "{result:?}");
    let mut txn = begin(&worker);
    let table = now(&fixture, "t");
    assert_eq!(scan(&worker, &mut txn, &table, 0, &EncodedRange::default(), false, ReadMode::Snapshot)[2][1], text("298"));
    update(&worker, &mut txn, &table, &[Value::Int(7)], &[(2, Value::Null)]);
    commit(&worker, txn);
    let result = alter(change(not_null(column("b", TypeKind::VarChar { length: 20 }))));
    assert!(matches!(result, Err(Error::InvalidNull)), "{result:?}");
    while database.housekeeping(&worker).expect("frees what failed left") {}
    check_indexes(&worker, &now(&fixture, "t"));
}
