//! Statements on the real engine: plans from the real binder, results as text.

mod support;

use expr::{Error, Level};
use support::Fixture;
use types::Value;

fn table_t() -> Fixture {
    let fixture = Fixture::new(2);
    fixture.create("t", "id int not null auto, k int, c varchar(20), primary id, key k");
    fixture
}

#[test]
fn rows_come_back() {
    let fixture = table_t();
    let mut client = fixture.client(0);
    client.check("INSERT INTO t (k, c) VALUES (10, 'a'), (20, 'b'), (10, NULL)", "3 Records: 3  Duplicates: 0  Warnings: 0");
    client.check("SELECT * FROM t", "1,10,a;2,20,b;3,10,NULL");
    client.check("SELECT c FROM t WHERE id = 2", "b");
    client.check("SELECT id FROM t WHERE id = 9", "");
    client.check("SELECT id FROM t WHERE id > 1 ORDER BY id DESC", "3;2");
    client.check("SELECT id, k + 1 FROM t WHERE k = 10", "1,11;3,11");
    client.check("SELECT id FROM t WHERE id IN (3, 1, 3)", "1;3");
    client.check("SELECT id FROM t WHERE id < 2.5 AND id >= 1.5", "2");
    client.check("SELECT id FROM t WHERE id = 1.5", "");
    client.check("SELECT id FROM t WHERE id = '2'", "2");
    client.check("SELECT id FROM t WHERE c IS NULL", "3");
    client.check("SELECT id FROM t WHERE c LIKE 'A%'", "1");
    client.check("SELECT id FROM t LIMIT 1", "1");
    client.check("SELECT id FROM t ORDER BY id LIMIT 1, 1", "2");
    client.check("SELECT 1 + 1", "2");
}

#[test]
fn groups_and_order() {
    let fixture = table_t();
    let mut client = fixture.client(0);
    client.run("INSERT INTO t (k, c) VALUES (1, 'b'), (2, 'a'), (1, 'B'), (NULL, 'c'), (2, NULL)");
    client.check("SELECT COUNT(*), COUNT(k), COUNT(DISTINCT k), SUM(k), MIN(k), MAX(c) FROM t", "5,4,2,6,1,c");
    client.check("SELECT AVG(k) FROM t", "1.5000");
    client.check("SELECT COUNT(*), SUM(k), MAX(id) FROM t WHERE id > 100", "0,NULL,NULL");
    client.check("SELECT k, COUNT(*) FROM t GROUP BY k ORDER BY k", "NULL,1;1,2;2,2");
    client.check("SELECT k, COUNT(*) n FROM t GROUP BY k HAVING n > 1 ORDER BY k DESC", "2,2;1,2");
    client.check("SELECT DISTINCT c FROM t ORDER BY c", "NULL;a;b;c");
    client.check("SELECT id FROM t ORDER BY k, id DESC", "4;3;1;5;2");
    client.check("SELECT id FROM t ORDER BY k DESC, id LIMIT 3", "2;5;1");
    client.check("SELECT GROUP_CONCAT(id ORDER BY id DESC SEPARATOR '-') FROM t", "5-4-3-2-1");
    client.check("SELECT GROUP_CONCAT(DISTINCT k) FROM t", "1,2");
    client.check("SELECT SUM(k * 1.5) FROM t", "9.0");
    client.check("SELECT VAR_POP(k), STDDEV_SAMP(k) FROM t WHERE k IS NOT NULL", "0.25,0.5773502691896257");
}

#[test]
fn joins() {
    let fixture = table_t();
    fixture.create("u", "id int not null, t_id int, name varchar(10), primary id, key t_id");
    let mut client = fixture.client(0);
    client.run("INSERT INTO t (k, c) VALUES (1, 'one'), (2, 'two'), (3, 'three')");
    client.run("INSERT INTO u VALUES (10, 1, 'x'), (11, 1, 'y'), (12, 3, 'z'), (13, NULL, 'n')");
    client.check("SELECT t.id, u.name FROM t JOIN u ON u.t_id = t.id ORDER BY u.id", "1,x;1,y;3,z");
    client.check("SELECT t.id, u.name FROM t LEFT JOIN u ON u.t_id = t.id ORDER BY t.id, u.id", "1,x;1,y;2,NULL;3,z");
    client.check("SELECT t.id FROM t LEFT JOIN u ON u.t_id = t.id WHERE u.id IS NULL", "2");
    client.check("SELECT COUNT(*) FROM t, u", "12");
    // Without an index on either side.
    client.check("SELECT t.c, u.name FROM t JOIN u ON t.c = u.name", "");
    client.check("SELECT a.id, b.id FROM t a LEFT JOIN t b ON a.c = b.c AND b.k > 1 ORDER BY a.id", "1,NULL;2,2;3,3");
}

#[test]
fn auto_increment_and_last_insert_id() {
    let fixture = table_t();
    let mut client = fixture.client(0);
    client.run("INSERT INTO t (k) VALUES (1)");
    client.check("SELECT LAST_INSERT_ID()", "1");
    client.run("INSERT INTO t (k) VALUES (1), (2)");
    client.check("SELECT LAST_INSERT_ID()", "2");
    client.run("INSERT INTO t (id, k) VALUES (100, 1)");
    client.check("SELECT LAST_INSERT_ID()", "2");
    client.run("INSERT INTO t (id, k) VALUES (NULL, 1)");
    client.check("SELECT LAST_INSERT_ID()", "101");
    client.run("INSERT INTO t (id, k) VALUES (0, 1)");
    client.check("SELECT MAX(id) FROM t", "102");
    let done = match client.try_run("INSERT INTO t (id, k) VALUES (200, 1)", &[]).expect("no duplicate") {
        support::Answer::Done(done) => done,
        other => panic!("{other:?}"),
    };
    assert_eq!(done.last_insert_id, 200);
}

#[test]
fn duplicates() {
    let fixture = Fixture::new(1);
    fixture.create("d", "id int not null, u int, v int, primary id, unique u");
    let mut client = fixture.client(0);
    client.run("INSERT INTO d VALUES (1, 10, 0), (2, 20, 0)");
    let duplicate = |value: &str, key: &str| Error::DuplicateEntry { value: value.into(), key: key.into() };
    assert_eq!(client.fail("INSERT INTO d VALUES (3, 30, 0), (1, 40, 0)"), duplicate("1", "d.PRIMARY"));
    assert_eq!(client.fail("INSERT INTO d VALUES (3, 10, 0)"), duplicate("10", "d.u"));
    // The statement left nothing.
    client.check("SELECT * FROM d", "1,10,0;2,20,0");
    client.check("INSERT IGNORE INTO d VALUES (3, 30, 0), (1, 40, 0)", "1 Records: 2  Duplicates: 1  Warnings: 1");
    assert_eq!(client.warnings(), [duplicate("1", "d.PRIMARY")]);
    client.check("REPLACE INTO d VALUES (1, 11, 5)", "2");
    // One new row takes the place of two.
    client.check("REPLACE INTO d VALUES (1, 20, 6)", "3");
    client.check("SELECT * FROM d", "1,20,6;3,30,0");
    client.check("INSERT INTO d VALUES (1, 99, 7) ON DUPLICATE KEY UPDATE v = v + VALUES(v)", "2");
    client.check("SELECT * FROM d WHERE id = 1", "1,20,13");
    client.check("INSERT INTO d VALUES (1, 99, 7) ON DUPLICATE KEY UPDATE v = 13", "0");
    client.check("INSERT INTO d VALUES (9, 90, 7) ON DUPLICATE KEY UPDATE v = 13", "1");
    client.check("INSERT INTO d VALUES (8, 30, 7) ON DUPLICATE KEY UPDATE id = id + 100, u = 31", "2");
    client.check("SELECT * FROM d ORDER BY id", "1,20,13;9,90,7;103,31,0");
    assert_eq!(client.fail("UPDATE d SET u = 20 WHERE id = 9"), duplicate("20", "d.u"));
    client.check("UPDATE IGNORE d SET u = 20 WHERE id > 1", "0 Rows matched: 2  Changed: 0  Warnings: 2");
}

#[test]
fn updates_and_deletes() {
    let fixture = table_t();
    let mut client = fixture.client(0);
    client.run("INSERT INTO t (k, c) VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd')");
    client.check("UPDATE t SET k = k + 1 WHERE id = 1", "1 Rows matched: 1  Changed: 1  Warnings: 0");
    client.check("UPDATE t SET k = 2 WHERE id = 1", "0 Rows matched: 1  Changed: 0  Warnings: 0");
    // Later assignments see earlier ones.
    client.check("UPDATE t SET k = k + 10, c = k WHERE id = 2", "1 Rows matched: 1  Changed: 1  Warnings: 0");
    client.check("SELECT k, c FROM t WHERE id = 2", "12,12");
    // The scanned index moves under the statement.
    client.check("UPDATE t SET k = k + 100 WHERE k > 0", "4 Rows matched: 4  Changed: 4  Warnings: 0");
    client.check("SELECT id, k FROM t ORDER BY id", "1,102;2,112;3,103;4,104");
    client.check("UPDATE t SET id = id + 1 ORDER BY id DESC", "4 Rows matched: 4  Changed: 4  Warnings: 0");
    client.check("SELECT id, k FROM t ORDER BY id", "2,102;3,112;4,103;5,104");
    client.check("UPDATE t SET c = 'x' ORDER BY k DESC LIMIT 1", "1 Rows matched: 1  Changed: 1  Warnings: 0");
    client.check("SELECT id FROM t WHERE c = 'x'", "3");
    client.check("DELETE FROM t WHERE k = 103", "1");
    client.check("DELETE FROM t ORDER BY id DESC LIMIT 1", "1");
    client.check("SELECT id FROM t ORDER BY id", "2;3");
    client.check("SELECT id FROM t WHERE k > 0 ORDER BY id", "2;3");
    client.check("DELETE FROM t", "2");
    client.check("SELECT COUNT(*) FROM t", "0");
}

#[test]
fn strict_mode_refuses_and_lax_mode_warns() {
    let fixture = Fixture::new(1);
    fixture.create("s", "id int not null, a tinyint, b varchar(3) not null, d date, primary id");
    let mut client = fixture.client(0);
    let column = |name: &str| name.to_string();
    assert_eq!(client.fail("INSERT INTO s VALUES (1, 200, 'x', NULL)"), Error::ColumnOutOfRange { column: column("a"), row: 1 });
    assert_eq!(
        client.fail("INSERT INTO s VALUES (1, 1, 'x', NULL), (2, 1, 'long', NULL)"),
        Error::DataTooLong { column: column("b"), row: 2 }
    );
    assert_eq!(client.fail("INSERT INTO s VALUES (1, 1, NULL, NULL)"), Error::ColumnCannotBeNull { column: column("b") });
    assert_eq!(client.fail("INSERT INTO s (id) VALUES (1)"), Error::NoDefault { column: column("b") });
    assert!(matches!(client.fail("INSERT INTO s VALUES (1, 1, 'x', '2024-02-30')"), Error::WrongTemporalForColumn { .. }));
    assert_eq!(client.fail("INSERT INTO s VALUES (1, 1/0, 'x', NULL)"), Error::DivisionByZero);
    client.check("SELECT 1/0", "NULL");
    assert_eq!(client.warnings(), [Error::DivisionByZero]);
    client.run("INSERT IGNORE INTO s (id, a, d) VALUES (1, 200, '2024-02-30')");
    assert_eq!(client.warnings().len(), 3);
    client.check("SELECT * FROM s", "1,127,,0000-00-00");
    client.session.sql_mode.strict = false;
    client.run("INSERT INTO s VALUES (2, -200, 'longer', NULL)");
    client.check("SELECT * FROM s WHERE id = 2", "2,-128,lon,NULL");
    client.session.sql_mode.strict = true;
    assert_eq!(client.fail("UPDATE s SET b = NULL WHERE id = 2"), Error::ColumnCannotBeNull { column: column("b") });
    client.run("UPDATE IGNORE s SET b = NULL WHERE id = 2");
    client.check("SELECT b FROM s WHERE id = 2", "");
    assert!(client.session.warnings.borrow().list().iter().all(|w| w.level != Level::Error));
}

#[test]
fn types_come_back_as_they_went_in() {
    let fixture = Fixture::new(1);
    fixture.create(
        "y",
        "id bigint not null unsigned, f float, d double, n decimal(10,3), c char(5), x text, dt datetime(3), ts timestamp, tm time, \
         yr year, e enum('red','green'), s set('a','b','c'), primary id",
    );
    let mut client = fixture.client(0);
    client.run(
        "INSERT INTO y VALUES (18446744073709551615, 1.5, 0.1, 12.3456, 'ab ', 'long text', '2024-01-15 10:11:12.3456', \
         '2024-01-15 10:11:12', '-10:11:12', 2024, 'GREEN', 'c,a')",
    );
    client.check(
        "SELECT * FROM y",
        "18446744073709551615,1.5,0.1,12.346,ab,long text,2024-01-15 10:11:12.346,2024-01-15 10:11:12,-10:11:12,2024,green,a,c",
    );
    client.check("SELECT id FROM y WHERE n = 12.346 AND c = 'AB' AND e = 'green' AND s = 'a,c'", "18446744073709551615");
    client.check("SELECT e + 0, s + 0 FROM y", "2,5");
    // TIMESTAMP follows the session's zone, DATETIME does not.
    client.session.time_zone = types::temporal::TimeZone::parse("+02:00", &types::temporal::TimeZone::Utc).expect("an offset");
    client.check("SELECT ts, dt FROM y", "2024-01-15 12:11:12,2024-01-15 10:11:12.346");
    client.check("SELECT COUNT(*) FROM y WHERE ts = '2024-01-15 12:11:12'", "1");
    client.run("UPDATE y SET ts = '2024-06-01 00:00:00'");
    client.session.time_zone = types::temporal::TimeZone::Utc;
    client.check("SELECT ts FROM y", "2024-05-31 22:00:00");
}

#[test]
fn timestamps_fill_themselves() {
    let fixture = Fixture::new(1);
    fixture
        .create("w", "id int not null, made datetime default=now, seen timestamp default=now touch, v int default=7, primary id");
    let mut client = fixture.client(0);
    client.session.statement_start_us = 1_700_000_000_000_000;
    client.run("INSERT INTO w (id) VALUES (1)");
    client.check("SELECT * FROM w", "1,2023-11-14 22:13:20,2023-11-14 22:13:20,7");
    client.session.statement_start_us += 60_000_000;
    client.run("UPDATE w SET v = 7");
    client.check("SELECT seen FROM w", "2023-11-14 22:13:20");
    client.run("UPDATE w SET v = 8");
    client.check("SELECT made, seen FROM w", "2023-11-14 22:13:20,2023-11-14 22:14:20");
    client.run("UPDATE w SET v = DEFAULT");
    client.check("SELECT v FROM w", "7");
}

#[test]
fn insert_from_a_query() {
    let fixture = table_t();
    let mut client = fixture.client(0);
    client.run("INSERT INTO t (k, c) VALUES (1, 'a'), (2, 'b')");
    client.check("INSERT INTO t (k, c) SELECT k + 10, c FROM t", "2 Records: 2  Duplicates: 0  Warnings: 0");
    client.check("INSERT INTO t (k, c) SELECT k, c FROM t WHERE id > 1 ORDER BY id", "3 Records: 3  Duplicates: 0  Warnings: 0");
    client.check("SELECT k FROM t ORDER BY id", "1;2;11;12;2;11;12");
    fixture.create("copy", "id int not null, c varchar(20), primary id");
    client.check("INSERT INTO copy SELECT id, c FROM t", "7 Records: 7  Duplicates: 0  Warnings: 0");
    client.check("SELECT COUNT(*), MAX(id) >= 7 FROM copy", "7,1");
}

#[test]
fn statements_are_atomic_inside_a_transaction() {
    let fixture = table_t();
    let mut client = fixture.client(0);
    client.begin();
    client.run("INSERT INTO t (id, k) VALUES (1, 1)");
    client.fail("INSERT INTO t (id, k) VALUES (2, 2), (1, 1)");
    client.check("SELECT id FROM t", "1");
    client.rollback();
    client.check("SELECT id FROM t", "");
}

#[test]
fn transactions_see_their_snapshot_and_write_the_latest() {
    let fixture = table_t();
    let mut one = fixture.client(0);
    let mut two = fixture.client(1);
    one.run("INSERT INTO t (id, k) VALUES (1, 1)");
    one.begin();
    one.check("SELECT k FROM t WHERE id = 1", "1");
    two.run("UPDATE t SET k = 5 WHERE id = 1");
    one.check("SELECT k FROM t WHERE id = 1", "1");
    one.check("SELECT k FROM t WHERE id = 1 FOR UPDATE", "5");
    one.check("UPDATE t SET k = k + 1 WHERE k = 5", "1 Rows matched: 1  Changed: 1  Warnings: 0");
    one.check("SELECT k FROM t WHERE id = 1", "6");
    assert_eq!(two.fail("SELECT k FROM t WHERE id = 1 FOR UPDATE NOWAIT"), Error::NoWait);
    two.check("SELECT k FROM t WHERE id = 1 FOR SHARE SKIP LOCKED", "");
    one.commit();
    two.check("SELECT k FROM t WHERE id = 1 FOR UPDATE NOWAIT", "6");
}

#[test]
fn writers_of_one_row_take_turns() {
    let fixture = Fixture::new(4);
    fixture.create("t", "id int not null auto, k int, c varchar(20), primary id, key k");
    fixture.client(3).run("INSERT INTO t (id, k) VALUES (1, 0)");
    std::thread::scope(|scope| {
        for worker in 0..2 {
            let fixture = &fixture;
            scope.spawn(move || {
                let mut client = fixture.client(worker);
                for _ in 0..200 {
                    client.run("UPDATE t SET k = k + 1 WHERE id = 1");
                }
            });
        }
    });
    fixture.client(2).check("SELECT k FROM t", "400");
}

#[test]
fn parameters() {
    let fixture = table_t();
    let mut client = fixture.client(0);
    let insert = client.prepare("INSERT INTO t (k, c) VALUES (?, ?)");
    for k in 0..10 {
        client.execute(&insert, &[Value::Int(k), Value::text(b"text")]).expect("no duplicate");
    }
    let select = client.prepare("SELECT id, k FROM t WHERE id = ?");
    let show = |answer: Result<support::Answer, Error>| answer.expect("a row").show();
    assert_eq!(show(client.execute(&select, &[Value::Int(3)])), "3,2");
    assert_eq!(show(client.execute(&select, &[Value::text(b"4")])), "4,3");
    assert_eq!(show(client.execute(&select, &[Value::Double(5.0)])), "5,4");
    assert_eq!(show(client.execute(&select, &[Value::Double(5.5)])), "");
    assert_eq!(show(client.execute(&select, &[Value::Null])), "");
    let range = client.prepare("SELECT SUM(k) FROM t WHERE id BETWEEN ? AND ?");
    assert_eq!(show(client.execute(&range, &[Value::Int(2), Value::Int(4)])), "6");
    let limit = client.prepare("SELECT id FROM t LIMIT ?");
    assert_eq!(show(client.execute(&limit, &[Value::Int(2)])), "1;2");
}
