//! Foreign keys as definitions, across restarts; pauses of row operations; look-ups across a key.

use super::*;
use crate::ddl::{AlterAction, DdlOptions, ForeignKeyError, NewForeignKey};
use crate::{Error, Lookup, Pauses, Reference};
use std::time::Duration;
use txn::LockMode;
use types::schema::ReferenceAction;

fn options(foreign_key_checks: bool) -> DdlOptions {
    DdlOptions { lock_wait_timeout: Duration::from_secs(10), foreign_key_checks, ..DdlOptions::default() }
}

fn key(name: Option<&str>, columns: &[&str], parent: &str, parent_columns: &[&str]) -> NewForeignKey {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect();
    NewForeignKey {
        name: name.map(str::to_string),
        index_name: None,
        columns: names(columns),
        parent_database: "d".to_string(),
        parent_table: parent.to_string(),
        parent_columns: names(parent_columns),
        on_delete: ReferenceAction::Cascade,
        on_update: ReferenceAction::NoAction,
        indexes_before: usize::MAX,
    }
}

fn parent(name: &str) -> NewTable {
    let columns = vec![not_null(column("id", TypeKind::Int)), column("code", TypeKind::VarChar { length: 10 })];
    table(name, columns, vec![index("", NewIndexKind::Primary, &["id"]), index("", NewIndexKind::Unique, &["code"])])
}

fn child(name: &str, indexes: Vec<NewIndex>, keys: Vec<NewForeignKey>) -> NewTable {
    let columns = vec![
        not_null(column("id", TypeKind::Int)),
        column("pid", TypeKind::Int),
        column("code", TypeKind::VarChar { length: 20 }),
    ];
    let all = [vec![index("", NewIndexKind::Primary, &["id"])], indexes].concat();
    NewTable { foreign_keys: keys, ..table(name, columns, all) }
}

fn problem(result: crate::Result<impl Sized>) -> ForeignKeyError {
    match result {
        Err(Error::ForeignKey(error)) => *error,
        Err(other) => panic!("another error: {other:?}"),
        Ok(_) => panic!("no error"),
    }
}

#[test]
fn a_key_gets_a_name_and_an_index_where_it_needs_one() {
    let fixture = Fixture::new(1);
    let (worker, database) = (fixture.worker(0), fixture.database());
    create(database, &worker, parent("p"));
    let check = |name: &str, indexes, keys, expected: &[&str]| {
        let table = create(database, &worker, child(name, indexes, keys));
        let names: Vec<_> = table.def().indexes.iter().map(|index| index.name.as_str()).collect();
        assert_eq!(names, expected, "{name}");
        table.def().foreign_keys.iter().map(|key| key.name.clone()).collect::<Vec<_>>()
    };
    let to_id = |name| key(name, &["pid"], "p", &["id"]);
    assert_eq!(check("a", vec![], vec![to_id(None)], &["PRIMARY", "pid"]), ["a_ibfk_1"]);
    assert_eq!(check("b", vec![], vec![to_id(Some("zz")), to_id(Some("aa"))], &["PRIMARY", "aa"]), ["aa", "zz"]);
    let wide = || vec![index("wide", NewIndexKind::Secondary, &["pid", "code"])];
    assert_eq!(check("c", wide(), vec![to_id(None)], &["PRIMARY", "wide"]), ["c_ibfk_1"]);
    let other = vec![index("other", NewIndexKind::Secondary, &["code", "pid"])];
    assert_eq!(check("e", other, vec![to_id(None)], &["PRIMARY", "other", "pid"]), ["e_ibfk_1"]);
    let own = vec![key(None, &["pid"], "f", &["id"])];
    assert_eq!(check("f", vec![], own, &["PRIMARY", "pid"]), ["f_ibfk_1"]);
}

#[test]
fn what_a_key_needs_stays() {
    let mut fixture = Fixture::new(1);
    {
        let (worker, database) = (fixture.worker(0), fixture.database());
        create(database, &worker, parent("p"));
        create(
            database,
            &worker,
            child("c", vec![], vec![key(None, &["pid"], "p", &["id"]), key(None, &["code"], "p", &["code"])]),
        );
    }
    // What is read from the catalog is what was made.
    fixture.reopen();
    let (worker, database) = (fixture.worker(0), fixture.database());
    let name = |table: &str| ("d".to_string(), table.to_string());
    let drop = |tables: &[(String, String)], checks| database.drop_tables(&worker, tables, &options(checks));
    let alter = |table: &str, action| database.alter_table(&worker, "d", table, vec![action], &options(true));
    assert!(matches!(problem(drop(&[name("p")], true)), ForeignKeyError::TableReferenced { .. }));
    assert!(matches!(problem(database.truncate_table(&worker, "d", "p", &options(true))), ForeignKeyError::Truncated { .. }));
    let drop_index = |name: &str| AlterAction::DropIndex { name: name.to_string() };
    assert!(matches!(problem(alter("p", drop_index("code"))), ForeignKeyError::IndexNeeded { index } if index == "code"));
    assert!(matches!(problem(alter("c", drop_index("pid"))), ForeignKeyError::IndexNeeded { index } if index == "pid"));
    let drop_column = |name: &str| AlterAction::DropColumn { name: name.to_string() };
    assert!(matches!(problem(alter("p", drop_column("id"))), ForeignKeyError::ColumnReferenced { .. }));
    assert!(matches!(problem(alter("c", drop_column("pid"))), ForeignKeyError::ColumnNeeded { .. }));
    // Names follow, and the open handles of both sides are new ones.
    let before = database.table_by_name("d", "c").expect("there");
    alter("p", AlterAction::RenameColumn { name: "id".to_string(), to: "number".to_string() }).expect("renamed");
    let renames = [("d".to_string(), "p".to_string(), "d".to_string(), "q".to_string())];
    database.rename_tables(&worker, &renames, &options(true)).expect("renamed");
    let after = database.table_by_name("d", "c").expect("there");
    assert!(before.is_replaced());
    let keys: Vec<_> =
        after.def().foreign_keys.iter().map(|key| (key.parent_table.as_str(), key.parent_columns.join(","))).collect();
    assert_eq!(keys, [("q", "number".to_string()), ("q", "code".to_string())]);
    // Together they go; and with the checks off the parent goes alone, and another one may take its place if it fits.
    drop(&[name("q")], false).expect("dropped");
    assert!(database.children_of(before.id()).is_empty());
    let unfit =
        table("q", vec![not_null(column("number", TypeKind::BigInt))], vec![index("", NewIndexKind::Primary, &["number"])]);
    assert_eq!(problem(database.create_table_with(&worker, unfit, &options(true))), ForeignKeyError::UnfitParent);
    let mut fit = parent("q");
    fit.columns[0].name = "number".to_string();
    fit.indexes[0] = index("", NewIndexKind::Primary, &["number"]);
    let id = database.create_table_with(&worker, fit, &options(true)).expect("fits");
    assert_eq!(database.children_of(id).len(), 1);
    assert!(after.is_replaced(), "the child knows its new parent");
    drop(&[name("q"), name("c")], true).expect("both at once");
}

#[test]
fn a_new_key_looks_at_the_rows() {
    let fixture = Fixture::new(1);
    let (worker, database) = (fixture.worker(0), fixture.database());
    let p = create(database, &worker, parent("p"));
    let c = create(database, &worker, child("c", vec![], vec![]));
    let mut txn = begin(&worker);
    insert(&worker, &mut txn, &p, &[Value::Int(1), text("one")]);
    insert(&worker, &mut txn, &c, &[Value::Int(1), Value::Int(1), text("ONE")]);
    insert(&worker, &mut txn, &c, &[Value::Int(2), Value::Null, text("two")]);
    commit(&worker, txn);
    let add = |key| database.alter_table(&worker, "d", "c", vec![AlterAction::AddForeignKey { key }], &options(true));
    add(key(None, &["pid"], "p", &["id"])).expect("every row has a parent, or NULL");
    assert!(matches!(problem(add(key(None, &["code"], "p", &["code"]))), ForeignKeyError::NoParentRow { .. }));
    let again = add(key(Some("c_ibfk_1"), &["pid"], "p", &["id"]));
    assert!(matches!(problem(again), ForeignKeyError::DuplicateName { .. }));
}

#[test]
fn operations_pause_and_entries_are_locked() {
    let fixture = Fixture::new(2);
    let (worker, other, database) = (fixture.worker(0), fixture.worker(1), fixture.database());
    let p = create(database, &worker, parent("p"));
    let c = create(database, &worker, child("c", vec![], vec![key(None, &["pid"], "p", &["id"])]));
    let reference = Reference::new(c.def(), &c.def().foreign_keys[0], p.def()).expect("both sides are there");
    let mut txn = begin(&worker);
    insert(&worker, &mut txn, &p, &[Value::Int(1), text("one")]);
    commit(&worker, txn);

    let (mut encoded, mut lookup, mut progress) = (Vec::new(), Lookup::default(), Progress::new());
    let mut pauses = Pauses::default();
    pauses.add(reference.index);
    let mut txn = begin(&worker);
    progress.pause_at(pauses);
    let row = [Value::Int(1), Value::Int(1), Value::Null];
    let step = |txn: &mut Txn, progress: &mut Progress| blocking(|| c.insert_row(&worker, txn, &row, progress)).expect("works");
    assert_eq!(step(&mut txn, &mut progress), InsertRow::Paused { index: reference.index });
    assert!(reference.encode_child_range(&c, &[Value::Int(1)], &mut lookup.range));
    let mut free = begin(&other);
    let found = blocking(|| c.lock_first(&other, &mut free, reference.index, LockMode::Share, &mut lookup)).expect("works");
    assert!(!found, "the entry is not there yet, and nobody waits for it");
    rollback(&other, free);
    assert!(reference.encode_parent_key(&p, &[Value::Int(1)], &mut encoded));
    let mut lock = || blocking(|| p.lock_key(&worker, &mut txn, reference.parent_index, &encoded, LockMode::Share, &mut lookup));
    assert!(lock().expect("works"));
    assert_eq!(step(&mut txn, &mut progress), InsertRow::Inserted);

    // The parent is held.
    let mut deleting = begin(&other);
    deleting.set_lock_wait_timeout(Duration::from_millis(50));
    let (mut found, mut progress) = (RowBuf::new(), Progress::new());
    let outcome = blocking(|| {
        p.point(&other, &mut deleting, 0, &encoded, RowRead::Latest, &mut found)?;
        p.delete_row(&other, &mut deleting, &found, &mut progress)
    });
    assert!(matches!(outcome, Err(txn::Error::LockWaitTimeout)));
    rollback(&other, deleting);
    commit(&worker, txn);
    check_indexes(&worker, &c);
}
