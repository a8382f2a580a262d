//! What takes long: others go on, and it can be ended.

use super::{Server, fails, number, one};
use mysql::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// Calls that take long, each by itself.
const LONG: &[&str] = &[
    "SELECT LENGTH(REGEXP_REPLACE(REPEAT('ab', 8000000), 'a', 'c'))",
    "SELECT LENGTH(REPLACE(REPEAT('ab', 30000000), 'a', 'ab'))",
    "SELECT JSON_LENGTH(CONCAT('[', REPEAT('1,', 15000000), '1]'))",
    "SELECT AES_ENCRYPT(REPEAT('a', 60000000), 'key', '', 'pbkdf2_hmac', 'salt', '65535')",
    "SELECT REPEAT('a', 200000) LIKE CONCAT('%', REPEAT('a', 100000), 'b')",
    "SELECT LOCATE(CONCAT(REPEAT('a', 100000), 'b'), REPEAT('a', 200000))",
];

#[test]
fn a_long_call_leaves_its_worker_to_others() {
    let server = Server::start_as(Arc::new(tempfile::tempdir().unwrap()), 1, None);
    let mut other = server.connect();
    for statement in LONG {
        let mut conn = server.connect();
        let id: u32 = one(&mut conn, "SELECT CONNECTION_ID()");
        let computing = std::thread::spawn(move || conn.query_drop(statement));
        // All sessions are on one thread: that this one is answered, and that the KILL comes before the call's end, shows that they take turns.
        while one::<i64>(
            &mut other,
            &format!("SELECT COUNT(*) FROM information_schema.processlist WHERE ID = {id} AND INFO IS NOT NULL"),
        ) == 0
            && !computing.is_finished()
        {}
        other.query_drop(format!("KILL QUERY {id}")).unwrap();
        let error = computing.join().unwrap().expect_err(statement);
        assert_eq!(number(&error), 1317, "{statement}: {error}");
    }
}

#[test]
fn a_long_call_ends_with_the_time_of_its_statement() {
    let server = Server::start_as(Arc::new(tempfile::tempdir().unwrap()), 1, None);
    let mut conn = server.connect();
    for statement in LONG {
        let hinted = statement.replacen("SELECT", "SELECT /*+ MAX_EXECUTION_TIME(20) */", 1);
        fails(&mut conn, &hinted, 3024);
    }
    // Its time is over, not that of the next one.
    assert_eq!(one::<i64>(&mut conn, "SELECT 1"), 1);
    // Planning counts: more ORs than can be planned in a millisecond.
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.t (a INT)").unwrap();
    let ors = vec!["a = 1"; 100_000].join(" OR ");
    fails(&mut conn, &format!("SELECT /*+ MAX_EXECUTION_TIME(1) */ * FROM d.t WHERE {ors}"), 3024);
}

#[test]
fn administrators_have_an_address_of_their_own() {
    let server = Server::start_as(Arc::new(tempfile::tempdir().unwrap()), 1, Some(([127, 0, 0, 1], 0).into()));
    let port = server.handle.as_ref().unwrap().admin_address().unwrap().port();
    let mut admin = Server::connect_at(port, "root", None).unwrap();
    assert_eq!(one::<u16>(&mut admin, "SELECT @@admin_port"), port);
    assert_eq!(one::<String>(&mut admin, "SELECT @@admin_address"), "127.0.0.1");
    admin.query_drop("CREATE USER plain").unwrap();
    let mut plain = server.try_connect("plain", None).unwrap();
    assert_eq!(number(&Server::connect_at(port, "plain", None).unwrap_err()), 1227);
    admin.query_drop("GRANT SERVICE_CONNECTION_ADMIN ON *.* TO plain").unwrap();
    assert_eq!(one::<i64>(&mut Server::connect_at(port, "plain", None).unwrap(), "SELECT 1"), 1);
    // Both see and kill the sessions of the other workers.
    let id: u32 = one(&mut plain, "SELECT CONNECTION_ID()");
    assert_eq!(one::<i64>(&mut admin, &format!("SELECT COUNT(*) FROM information_schema.processlist WHERE ID = {id}")), 1);
    admin.query_drop(format!("KILL {id}")).unwrap();
    assert!(plain.query_drop("SELECT SLEEP(1)").is_err());
}

#[test]
fn definitions_that_wait_let_others_go_on() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE d").unwrap();
    let mut reader = server.connect_to("d");
    reader.query_drop("CREATE TABLE t (id INT PRIMARY KEY)").unwrap();
    reader.query_drop("BEGIN").unwrap();
    reader.query_drop("SELECT * FROM t").unwrap();
    let waiting: Vec<_> = (0..12)
        .map(|n| {
            let mut conn = server.connect_to("d");
            let id: u32 = one(&mut conn, "SELECT CONNECTION_ID()");
            (id, std::thread::spawn(move || conn.query_drop(format!("ALTER TABLE t ADD COLUMN c{n} INT, ALGORITHM = COPY"))))
        })
        .collect();
    let count = "SELECT COUNT(*) FROM information_schema.processlist WHERE INFO LIKE 'ALTER%'";
    while one::<i64>(&mut conn, count) < 12 {
        std::thread::sleep(Duration::from_millis(5));
    }
    conn.query_drop("CREATE TABLE d.u (id INT PRIMARY KEY)").unwrap();
    conn.query_drop("ALTER TABLE d.u ADD COLUMN a INT").unwrap();
    for (id, _) in &waiting[..6] {
        conn.query_drop(format!("KILL QUERY {id}")).unwrap();
    }
    for (n, (_, thread)) in waiting.into_iter().enumerate() {
        if n == 6 {
            reader.query_drop("COMMIT").unwrap();
        }
        let outcome = thread.join().unwrap();
        match n {
            0..6 => assert_eq!(number(&outcome.expect_err("it was killed")), 1317),
            _ => outcome.expect("nobody reads the table any more"),
        }
    }
    let columns = "SELECT COUNT(*) FROM information_schema.columns WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME = 't'";
    assert_eq!(one::<i64>(&mut conn, columns), 7);
}
