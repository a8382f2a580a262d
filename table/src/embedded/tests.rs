//! The library on the real engine: outcomes, transactions, and that SQL's view of the table is the same.

use super::*;
use crate::tests::{begin, check_indexes, rollback, scan_all};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("heddle-embedded-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Self(folder)
    }

    fn open(&self) -> Embedded {
        let options = Options { buffer_pool_bytes: 64 << 20, sessions_max: 4, sync: false, ..Options::new(&self.0) };
        // A child process that another test starts holds our descriptors, and so the directory's lock, until it runs its program.
        let until = std::time::Instant::now() + Duration::from_secs(5);
        loop {
            match Embedded::open(&options) {
                Ok(embedded) => return embedded,
                Err(error) if std::time::Instant::now() > until => panic!("the directory is ours: {error}"),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn items() -> NewTable {
    NewTable::new("shop", "items")
        .column("id", ColumnType::new(TypeKind::Int))
        .nullable_column("code", ColumnType::new(TypeKind::VarChar { length: 8 }))
        .column("stock", ColumnType::new(TypeKind::SmallInt))
        .nullable_column("note", ColumnType::new(TypeKind::Text(types::LobSize::Long)))
        .primary_key(&["id"])
        .unique_key("by_code", &["code"])
        .key("by_stock", &["stock"])
}

fn item(id: i64, code: &str, stock: i64) -> [Value<'_>; 4] {
    [Value::Int(id), Value::text(code.as_bytes()), Value::Int(stock), Value::Null]
}

fn key(id: i64) -> [Value<'static>; 1] {
    [Value::Int(id)]
}

/// (id, stock) of the rows with these keys.
fn stocks(session: &mut Session, table: &Table, ids: &[i64]) -> Vec<Option<i64>> {
    let keys: Vec<_> = ids.iter().map(|id| key(*id)).collect();
    let mut found = vec![Some(-1); ids.len()];
    let each = |position: usize, row: Option<StoredRow<'_>>| {
        found[position] = row.map(|row| match row.get(2) {
            Ok(Value::Int(stock)) => stock,
            other => panic!("{other:?}"),
        });
    };
    session.read(table, &keys, each).expect("a read");
    found
}

fn check_whole(embedded: &Embedded, table: &Table) {
    let worker = embedded.spare_worker().expect("a worker");
    check_indexes(&worker, table);
}

/// A session may go from thread to thread, and all threads may share what it came from.
const _: fn() = || {
    fn is_send<T: Send>() {}
    fn is_shared<T: Send + Sync>() {}
    is_send::<Session>();
    is_shared::<Embedded>();
};

#[test]
fn every_key_has_its_own_outcome() {
    let folder = Folder::new();
    let embedded = folder.open();
    let table = embedded.create_table(items()).expect("a new table");
    let mut session = embedded.session().expect("a session");
    let rows = [
        item(1, "a", 10),
        item(2, "b", 20),
        item(1, "c", 30),
        item(3, "A", 40),
        item(4, "d", 40_000),
        item(5, "too long a code", 50),
        [Value::Int(6), Value::Null, Value::Null, Value::Null],
        [Value::text(b"7"), Value::Int(77), Value::text(b"70"), Value::Null],
    ];
    let outcomes = session.insert(&table, &rows, Acknowledge::NotDurable).expect("a batch").to_vec();
    assert_eq!(outcomes[..2], [Outcome::Done, Outcome::Done]);
    assert_eq!(outcomes[2].key_name(&table), Some("PRIMARY"));
    assert_eq!(outcomes[3].key_name(&table), Some("by_code"), "the collation makes A an a");
    assert_eq!(outcomes[4], Outcome::Refused { column: 2, problem: Problem::OutOfRange });
    assert_eq!(outcomes[5], Outcome::Refused { column: 1, problem: Problem::TooLong });
    assert_eq!(outcomes[6], Outcome::Null { column: 2 });
    assert_eq!(outcomes[7], Outcome::Done, "values are converted as SQL converts them");
    assert_eq!(stocks(&mut session, &table, &[7, 1, 3, 2, 4]), [Some(70), Some(10), None, Some(20), None]);

    let updates = [
        Update { key: &key(1), changes: &[(2, Value::Int(11))] },
        Update { key: &key(2), changes: &[(1, Value::text(b"a"))] },
        Update { key: &key(9), changes: &[(2, Value::Int(11))] },
        Update { key: &key(2), changes: &[(0, Value::Int(20)), (2, Value::Int(21))] },
        Update { key: &key(1), changes: &[(2, Value::Null)] },
    ];
    let outcomes = session.update(&table, &updates, Acknowledge::NotDurable).expect("a batch");
    assert_eq!(outcomes[0], Outcome::Done);
    assert_eq!(outcomes[1].key_name(&table), Some("by_code"));
    assert_eq!(outcomes[2..], [Outcome::NotFound, Outcome::Done, Outcome::Null { column: 2 }]);
    assert_eq!(stocks(&mut session, &table, &[1, 2, 20]), [Some(11), None, Some(21)]);

    let outcomes = session.delete(&table, &[key(1), key(1), [Value::Int(1 << 40)]], Acknowledge::NotDurable).expect("a batch");
    assert_eq!(outcomes, [Outcome::Done, Outcome::NotFound, Outcome::NotFound]);
    drop(session);
    check_whole(&embedded, &table);
    embedded.close().expect("nothing is open");
}

#[test]
fn a_transaction_is_all_or_nothing() {
    let folder = Folder::new();
    let embedded = folder.open();
    let table = embedded.create_table(items()).expect("a new table");
    let (mut one, mut other) = (embedded.session().expect("a session"), embedded.session().expect("a session"));
    one.insert(&table, &[item(1, "a", 1), item(2, "b", 2)], Acknowledge::NotDurable).expect("a batch");

    let mut transaction = one.begin();
    transaction.insert(&table, &[item(3, "c", 3)]).expect("a batch");
    transaction.update(&table, &[Update { key: &key(1), changes: &[(2, Value::Int(100))] }]).expect("a batch");
    assert_eq!(stocks(&mut other, &table, &[1, 3]), [Some(1), None], "not committed");
    let mut seen = 0;
    transaction.read(&table, &[key(1), key(3)], |_, row| seen += usize::from(row.is_some())).expect("its own changes");
    assert_eq!(seen, 2);
    transaction.commit(Acknowledge::Durable).expect("a commit");
    assert_eq!(stocks(&mut other, &table, &[1, 3]), [Some(100), Some(3)]);

    let mut transaction = one.begin();
    transaction.delete(&table, &[key(1), key(2), key(3)]).expect("a batch");
    drop(transaction);
    let mut transaction = one.begin();
    transaction.delete(&table, &[key(1)]).expect("a batch");
    assert!(matches!(transaction.read(&table, &[[Value::Null, Value::Null]], |_, _| {}), Err(Error::WrongNumberOfValues { .. })));
    assert!(matches!(transaction.delete(&table, &[key(2)]), Err(Error::Over)), "the error has ended it");
    assert!(matches!(transaction.commit(Acknowledge::Durable), Err(Error::Over)));
    assert_eq!(stocks(&mut other, &table, &[1, 2, 3]), [Some(100), Some(2), Some(3)]);
}

#[test]
fn locks_and_snapshots_are_those_of_sql() {
    let folder = Folder::new();
    let embedded = folder.open();
    let table = embedded.create_table(items()).expect("a new table");
    let (mut one, mut other) = (embedded.session().expect("a session"), embedded.session().expect("a session"));
    one.insert(&table, &[item(1, "a", 1)], Acknowledge::NotDurable).expect("a batch");
    other.set_lock_wait_timeout(Duration::from_millis(50));

    let mut reader = one.begin();
    reader.read(&table, &[key(1)], |_, row| assert!(row.is_some())).expect("a read");
    let new_stock = [Update { key: &key(1), changes: &[(2, Value::Int(5))] }];
    other.update(&table, &new_stock, Acknowledge::NotDurable).expect("nobody holds the row");
    reader
        .read(&table, &[key(1)], |_, row| assert_eq!(row.expect("there").get(2), Ok(Value::Int(1)), "the snapshot lasts"))
        .expect("a read");
    reader
        .lock(&table, &[key(1)], LockMode::Exclusive, |_, row| assert_eq!(row.expect("there").get(2), Ok(Value::Int(5))))
        .expect("a lock");
    let refused = other.update(&table, &new_stock, Acknowledge::NotDurable);
    assert!(matches!(refused, Err(Error::Engine(txn::Error::LockWaitTimeout))), "{refused:?}");
    reader.rollback();
    other.update(&table, &new_stock, Acknowledge::NotDurable).expect("the lock is gone");
}

#[test]
fn large_values_are_whole() {
    let folder = Folder::new();
    let embedded = folder.open();
    let table = embedded.create_table(items()).expect("a new table");
    let mut session = embedded.session().expect("a session");
    let note: Vec<u8> = (0..100_000).map(|n| b'a' + (n % 26) as u8).collect();
    let row = [Value::Int(1), Value::Null, Value::Int(1), Value::text(&note)];
    session.insert(&table, &[row], Acknowledge::NotDurable).expect("a batch");
    let each = |_, row: Option<StoredRow<'_>>| assert_eq!(row.expect("there").get(3), Ok(Value::text(&note)));
    session.read(&table, &[key(1)], each).expect("a read");
    session.delete(&table, &[key(1)], Acknowledge::NotDurable).expect("a batch");
    drop(session);
    check_whole(&embedded, &table);
}

#[test]
fn a_handle_that_ddl_replaced_is_refused() {
    let folder = Folder::new();
    let embedded = folder.open();
    let table = embedded.create_table(items()).expect("a new table");
    let mut session = embedded.session().expect("a session");
    assert!(matches!(embedded.close(), Err(Error::SessionsOpen)));
    embedded.drop_table("shop", "items").expect("nobody uses it");
    assert!(matches!(session.read(&table, &[key(1)], |_, _| {}), Err(Error::TableReplaced)));
    let again = embedded.ensure_table(items()).expect("a new table");
    assert_eq!(stocks(&mut session, &again, &[1]), [None]);
    assert_eq!(table.mdl().users() + again.mdl().users(), 0);
    let _many: Vec<_> = (0..3).map(|_| embedded.session().expect("a session")).collect();
    assert!(matches!(embedded.session(), Err(Error::TooManySessions)));
}

#[test]
fn rows_are_there_after_a_reopening() {
    let folder = Folder::new();
    let rows: Vec<_> = (0..5000).map(|id| [Value::Int(id), Value::Null, Value::Int(id % 100), Value::Null]).collect();
    for round in 0..2 {
        let embedded = folder.open();
        let table = embedded.ensure_table(items()).expect("the table");
        if round == 0 {
            let mut session = embedded.session().expect("a session");
            let outcomes = session.insert(&table, &rows, Acknowledge::Durable).expect("a batch");
            assert!(outcomes.iter().all(Outcome::is_done));
        }
        let worker = embedded.spare_worker().expect("a worker");
        assert_eq!(scan_all(&worker, &table, 0).len(), rows.len());
        rollback(&worker, begin(&worker));
        drop(worker);
        embedded.close().expect("nothing is open");
    }
}

/// Threads move stock between rows; the sum stays.
#[test]
fn transfers_between_threads_lose_nothing() {
    const ROWS: i64 = 20;
    let folder = Folder::new();
    let embedded = folder.open();
    let table = embedded.create_table(items()).expect("a new table");
    let rows: Vec<_> = (0..ROWS).map(|id| [Value::Int(id), Value::Null, Value::Int(100), Value::Null]).collect();
    embedded.session().expect("a session").insert(&table, &rows, Acknowledge::NotDurable).expect("a batch");
    std::thread::scope(|scope| {
        for thread in 0..3u64 {
            let (embedded, table) = (&embedded, &table);
            scope.spawn(move || {
                let mut session = embedded.session().expect("a session");
                let mut random = thread + 1;
                for _ in 0..300 {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    let (from, to) = ((random >> 33) as i64 % ROWS, (random >> 43) as i64 % ROWS);
                    // A deadlock's victim begins again.
                    while from != to && transfer(&mut session, table, from, to).is_err() {}
                }
            });
        }
    });
    let mut session = embedded.session().expect("a session");
    let all: Vec<i64> = (0..ROWS).collect();
    assert_eq!(stocks(&mut session, &table, &all).iter().flatten().sum::<i64>(), 100 * ROWS);
    check_whole(&embedded, &table);
}

fn transfer(session: &mut Session, table: &Table, from: i64, to: i64) -> Result<()> {
    let mut stock = [0; 2];
    let mut transaction = session.begin();
    transaction.lock(table, &[key(from), key(to)], LockMode::Exclusive, |position, row| {
        if let Some(Ok(Value::Int(number))) = row.map(|row| row.get(2)) {
            stock[position] = number;
        }
    })?;
    let changes = [[(2, Value::Int(stock[0] - 1))], [(2, Value::Int(stock[1] + 1))]];
    transaction
        .update(table, &[Update { key: &key(from), changes: &changes[0] }, Update { key: &key(to), changes: &changes[1] }])?;
    transaction.commit(Acknowledge::NotDurable)
}
