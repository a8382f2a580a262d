//! `heddle check` on directories that are whole, and on ones that are not.

use super::*;
use crate::offline::{Event, PAGE_BYTES, Summary, check};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;
use txn::WriteOutcome;

const ROWS: i64 = 3_000;

/// id, name (unique, sometimes NULL), note (large at times, with an index on its start), n (indexed)
fn filled(fixture: &Fixture) -> Arc<Table> {
    let worker = fixture.worker(0);
    let columns = vec![
        not_null(column("id", TypeKind::Int)),
        column("name", TypeKind::VarChar { length: 20 }),
        column("note", TypeKind::Text(types::LobSize::Regular)),
        column("n", TypeKind::Int),
    ];
    let indexes = vec![
        index("", NewIndexKind::Primary, &["id"]),
        index("name", NewIndexKind::Unique, &["name"]),
        prefix_index("note", NewIndexKind::Secondary, "note", 40),
        index("n", NewIndexKind::Secondary, &["n", "name"]),
    ];
    let table = create(fixture.database(), &worker, table("t", columns, indexes));
    let mut txn = begin(&worker);
    for id in 0..ROWS {
        let name = format!("name {id}");
        let note = format!("{id} ").repeat(if id % 50 == 0 { 3_000 } else { 3 });
        let name = if id % 7 == 0 { Value::Null } else { text(&name) };
        insert(&worker, &mut txn, &table, &[Value::Int(id), name, text(&note), Value::Int(id % 10)]);
    }
    commit(&worker, txn);
    table
}

pub(super) fn look(directory: &Path) -> (Summary, Vec<String>) {
    let said = Mutex::new(Vec::new());
    let tell = |event: Event<'_>| match event {
        Event::Problem(what) => said.lock().expect("no panic").push(what.to_owned()),
        Event::LostPages(pages) => said.lock().expect("no panic").push(format!("{pages} lost pages")),
        Event::Orphans(trees) => said.lock().expect("no panic").push(format!("{trees} orphans")),
        _ => {}
    };
    let mut tries = 0;
    let summary = loop {
        match check(directory, 3, &tell) {
            // Another test begins a child, which has this process's files until it runs its program: on an emulator, for a while.
            Err(error) if tries < 100 && error.to_string().contains("in use by a server") => tries += 1,
            checked => break checked.expect("the directory is readable"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    (summary, said.into_inner().expect("no panic"))
}

#[test]
fn a_whole_directory_has_no_problems() {
    let mut fixture = Fixture::new(1);
    filled(&fixture);
    assert!(check(&fixture.directory, 1, &|_| {}).is_err(), "a server runs on it");
    fixture.close();
    let (summary, said) = look(&fixture.directory);
    assert_eq!(said, [""; 0]);
    assert_eq!(summary, Summary { problems: 0, tables: 1, rows: ROWS as u64 });
    assert!(check(&fixture.directory.join("redo"), 1, &|_| {}).is_err(), "no data directory");
}

#[test]
fn a_log_that_is_not_there_is_damage() {
    let mut fixture = Fixture::new(1);
    filled(&fixture);
    fixture.close();
    std::fs::remove_dir_all(fixture.directory.join("redo")).expect("removes");
    let (summary, said) = look(&fixture.directory);
    assert_eq!(summary, Summary { problems: 1, tables: 1, rows: ROWS as u64 });
    assert!(said.len() == 1 && said[0].contains("the log: ") && said[0].contains(".log is missing"), "{said:?}");
}

/// A crash between the record of a new tree and the tree itself: the record goes, whoever has the page by then.
#[test]
fn a_tree_that_was_never_made_is_forgotten() {
    let mut fixture = Fixture::new(1);
    filled(&fixture);
    {
        let worker = fixture.worker(0);
        let mut catalog = crate::catalog::CatalogTxn::begin(&worker);
        for _ in 0..3 {
            let tree = blocking(|| worker.reserve_tree()).expect("there is room");
            catalog.put_orphan(tree).expect("there is room");
        }
        catalog.commit();
    }
    fixture.close();
    let (_, said) = look(&fixture.directory);
    assert_eq!(said, ["3 orphans"]);
    fixture.open();
    {
        let worker = fixture.worker(0);
        // The root of one belongs to a table now.
        create(fixture.database(), &worker, table("u", vec![column("a", TypeKind::Int)], Vec::new()));
        while fixture.database().housekeeping(&worker).expect("frees") {}
    }
    fixture.close();
    let (summary, said) = look(&fixture.directory);
    assert_eq!((said, summary.tables), (Vec::new(), 2));
}

#[test]
fn entries_without_rows_and_rows_without_entries_are_named() {
    let mut fixture = Fixture::new(1);
    let table = filled(&fixture);
    {
        let worker = fixture.worker(0);
        let mut txn = begin(&worker);
        let mut payload = Vec::new();
        let key = {
            let (mut row, mut key) = (RowBuf::new(), Vec::new());
            assert!(table.encode_point_key(0, &[Value::Int(5)], &mut key));
            assert!(blocking(|| table.point(&worker, &mut txn, 0, &key, RowRead::Latest, &mut row)).expect("reads"));
            let mut entry = Vec::new();
            let row = row.row(&table);
            table.indexes[3].codec.encode_entry(crate::codec::Source::Row(row), &key, &mut entry).expect("encodes");
            entry
        };
        let tree = table.indexes[3].tree;
        let seen = blocking(|| txn.read_latest(&worker, tree, &key, &mut payload)).expect("reads").expect("the entry is there");
        assert_eq!(blocking(|| txn.delete(&worker, tree, &key, seen)).expect("deletes"), WriteOutcome::Done);
        let tree = table.indexes[1].tree;
        blocking(|| txn.insert(&worker, tree, b"\x01of nobody", b"\x80\0\0\x01")).expect("inserts");
        commit(&worker, txn);
    }
    drop(table);
    fixture.close();
    let (summary, said) = look(&fixture.directory);
    assert_eq!(summary.problems, 2, "{said:?}");
    let has = |what: &str| assert!(said.iter().any(|s| s.contains(what)), "{what} is not in {said:?}");
    has("index n has no entry for the row under key 0x");
    has("index name has an entry 0x016f66206e6f626f6479 that belongs to no row");
}

#[test]
fn damaged_bytes_are_named() {
    let mut fixture = Fixture::new(1);
    let table = filled(&fixture);
    let root = table.indexes[0].tree.root;
    drop(table);
    fixture.close();
    let file = std::fs::OpenOptions::new().read(true).write(true).open(fixture.directory.join("heddle.data")).expect("opens");
    let at = u64::from(root) * PAGE_BYTES as u64 + 9_000;
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).expect("reads");
    file.write_all_at(&[byte[0] ^ 0x10], at).expect("writes");
    // The copy of the page that was on its way home would be put back.
    std::fs::remove_file(fixture.directory.join("heddle.doublewrite")).expect("removes");
    let (summary, said) = look(&fixture.directory);
    assert!(summary.problems >= 2, "{said:?}");
    assert!(said[0].starts_with(&format!("page {root}: checksum")), "{said:?}");
    assert!(said.iter().any(|s| s.starts_with(&format!("table d.t: page {root}: the root"))), "{said:?}");
}
