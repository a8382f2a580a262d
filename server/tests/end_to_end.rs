//! The whole server in this process, on a free port, with a real client library.

mod cursors;
mod kept;
mod logs;
mod long;
mod phases;
mod profile;
mod progress;
mod waits;

use mysql::prelude::*;
use mysql::{Conn, Error, OptsBuilder, Row, Value};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server over a data directory of its own, gone when dropped.
struct Server {
    handle: Option<server::ServerHandle>,
    engine: Arc<txn::Engine>,
    port: u16,
    directory: Arc<tempfile::TempDir>,
}

impl Server {
    fn start() -> Self {
        Self::start_in(Arc::new(tempfile::tempdir().unwrap()))
    }

    fn start_in(directory: Arc<tempfile::TempDir>) -> Self {
        Self::start_as(directory, 2, None)
    }

    fn start_as(directory: Arc<tempfile::TempDir>, workers: usize, admin: Option<std::net::SocketAddr>) -> Self {
        Self::start_with(directory, workers, |config| config.admin = admin)
    }

    fn start_with(directory: Arc<tempfile::TempDir>, workers: usize, change: impl FnOnce(&mut server::Config)) -> Self {
        let engine = txn::Engine::open(txn::Config {
            data_dir: directory.path().join("data"),
            buffer_pool_bytes: 64 << 20,
            undo_memory_bytes: 64 << 20,
            recovery_target: txn::RECOVERY_TARGET,
            workers,
            durability: txn::Durability::None,
        })
        .unwrap();
        let database = table::Database::open(Arc::clone(&engine)).unwrap();
        let mut config = server::Config {
            tcp: Some(([127, 0, 0, 1], 0).into()),
            socket: Some(directory.path().join("socket")),
            data_dir: directory.path().join("data"),
            workers,
            ..server::Config::default()
        };
        change(&mut config);
        let handle = server::start(config, database, Arc::clone(&engine)).unwrap();
        let port = handle.tcp_address().unwrap().port();
        Self { handle: Some(handle), engine, port, directory }
    }

    fn connect(&self) -> Conn {
        self.try_connect("root", None).unwrap()
    }

    fn connect_to(&self, database: &str) -> Conn {
        let mut conn = self.connect();
        conn.query_drop(format!("USE {database}")).unwrap();
        conn
    }

    fn try_connect(&self, user: &str, password: Option<&str>) -> mysql::Result<Conn> {
        Self::connect_at(self.port, user, password)
    }

    fn connect_at(port: u16, user: &str, password: Option<&str>) -> mysql::Result<Conn> {
        let options = OptsBuilder::new()
            .ip_or_hostname(Some("127.0.0.1"))
            .tcp_port(port)
            .user(Some(user))
            .pass(password)
            .prefer_socket(false);
        Conn::new(options)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A test may have stopped it.
        if let Some(handle) = self.handle.take() {
            handle.stop();
            handle.wait();
        }
        self.engine.shutdown().unwrap();
    }
}

fn number(error: &Error) -> u16 {
    match error {
        Error::MySqlError(error) => error.code,
        other => panic!("not an answer of the server: {other}"),
    }
}

fn fails(conn: &mut Conn, statement: &str, expected: u16) {
    let error = conn.query_drop(statement).expect_err(statement);
    assert_eq!(number(&error), expected, "{statement}: {error}");
}

fn one<T: mysql::prelude::FromValue>(conn: &mut Conn, statement: &str) -> T {
    conn.query_first(statement).unwrap().unwrap_or_else(|| panic!("no row: {statement}"))
}

#[test]
fn connecting() {
    let server = Server::start();
    let mut conn = server.connect();
    assert_eq!(one::<String>(&mut conn, "SELECT VERSION()"), server::VERSION);
    assert_eq!(one::<String>(&mut conn, "SELECT @@version_comment LIMIT 1"), "Heddle");
    conn.ping().unwrap();
    conn.reset().unwrap();
    conn.change_user(mysql::ChangeUserOpts::default()).unwrap();
    assert_eq!(one::<i64>(&mut conn, "SELECT 1"), 1);
    assert_eq!(number(&server.try_connect("nobody", None).unwrap_err()), 1045);
    assert_eq!(number(&server.try_connect("root", Some("wrong")).unwrap_err()), 1045);
    fails(&mut conn, "SELEC 1", 1064);
    fails(&mut conn, "USE nowhere", 1049);
    fails(&mut conn, "SELECT * FROM t", 1046);
}

#[test]
fn rows_through_both_protocols() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("USE d").unwrap();
    conn.query_drop("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(20) NOT NULL, n DECIMAL(10,2), KEY (name))")
        .unwrap();
    conn.query_drop("INSERT INTO t (name, n) VALUES ('a', 1.5), ('b', NULL), ('c', -3)").unwrap();
    assert_eq!((conn.affected_rows(), conn.last_insert_id()), (3, 1));
    assert_eq!(conn.info_str(), "Records: 3  Duplicates: 0  Warnings: 0");
    let rows: Vec<(i32, String, Option<String>)> = conn.query("SELECT id, name, n FROM t ORDER BY id").unwrap();
    assert_eq!(rows[0], (1, "a".into(), Some("1.50".into())));
    assert_eq!(rows[1].2, None);
    let name: Option<String> = conn.exec_first("SELECT name FROM t WHERE id = ?", (2,)).unwrap();
    assert_eq!(name.as_deref(), Some("b"));
    let statement = conn.prep("UPDATE t SET n = n + ? WHERE id = ?").unwrap();
    conn.exec_drop(&statement, (1, 1)).unwrap();
    assert_eq!(conn.affected_rows(), 1);
    assert_eq!(one::<String>(&mut conn, "SELECT n FROM t WHERE id = 1"), "2.50");
    conn.exec_drop("INSERT INTO t VALUES (?, ?, ?)", (10, "it's", Value::NULL)).unwrap();
    assert_eq!(one::<i32>(&mut conn, "SELECT id FROM t WHERE name = 'it''s'"), 10);
    conn.query_drop("DELETE FROM t WHERE id >= 3").unwrap();
    assert_eq!(one::<i64>(&mut conn, "SELECT COUNT(*) FROM t"), 2);
    fails(&mut conn, "INSERT INTO t VALUES (1, 'x', 0)", 1062);
    fails(&mut conn, "INSERT INTO t (name) VALUES (NULL)", 1048);
    fails(&mut conn, "INSERT INTO t (name) VALUES ('a name that is too long for it')", 1406);
    fails(&mut conn, "SELECT nothing FROM t", 1054);
    fails(&mut conn, "SELECT * FROM nothing", 1146);
}

#[test]
fn several_statements_in_one_text() {
    let server = Server::start();
    let mut conn = server.connect();
    let mut results = conn.query_iter("SELECT 1; SELECT 2, 3; DO 1").unwrap();
    let mut widths = Vec::new();
    while let Some(set) = results.iter() {
        let rows: Vec<Row> = set.map(Result::unwrap).collect();
        widths.push(rows.first().map_or(0, Row::len));
    }
    drop(results);
    assert_eq!(widths, [1, 2, 0]);
    assert_eq!(one::<i64>(&mut conn, "SELECT 4"), 4);
}

#[test]
fn transactions() {
    let server = Server::start();
    let mut first = server.connect();
    first.query_drop("CREATE DATABASE d").unwrap();
    first.query_drop("CREATE TABLE d.t (id INT PRIMARY KEY, n INT)").unwrap();
    first.query_drop("USE d").unwrap();
    let mut second = server.connect_to("d");

    first.query_drop("BEGIN").unwrap();
    first.query_drop("INSERT INTO t VALUES (1, 1)").unwrap();
    assert_eq!(one::<i64>(&mut second, "SELECT COUNT(*) FROM t"), 0);
    first.query_drop("COMMIT").unwrap();
    assert_eq!(one::<i64>(&mut second, "SELECT COUNT(*) FROM t"), 1);

    first.query_drop("BEGIN").unwrap();
    first.query_drop("UPDATE t SET n = 2").unwrap();
    first.query_drop("SAVEPOINT s").unwrap();
    first.query_drop("UPDATE t SET n = 3").unwrap();
    first.query_drop("ROLLBACK TO s").unwrap();
    assert_eq!(one::<i64>(&mut first, "SELECT n FROM t"), 2);
    fails(&mut first, "ROLLBACK TO nothing", 1305);
    first.query_drop("ROLLBACK").unwrap();
    assert_eq!(one::<i64>(&mut first, "SELECT n FROM t"), 1);

    // A row lock waits, and times out.
    first.query_drop("BEGIN").unwrap();
    first.query_drop("UPDATE t SET n = 5 WHERE id = 1").unwrap();
    second.query_drop("SET innodb_lock_wait_timeout = 1").unwrap();
    let begun = Instant::now();
    fails(&mut second, "UPDATE t SET n = 6 WHERE id = 1", 1205);
    assert!(begun.elapsed() >= Duration::from_millis(900));
    fails(&mut second, "SELECT * FROM t WHERE id = 1 FOR UPDATE NOWAIT", 3572);
    first.query_drop("COMMIT").unwrap();
    second.query_drop("UPDATE t SET n = 6 WHERE id = 1").unwrap();

    first.query_drop("START TRANSACTION READ ONLY").unwrap();
    fails(&mut first, "UPDATE t SET n = 7", 1792);
    first.query_drop("COMMIT").unwrap();

    // DDL commits what is open.
    first.query_drop("SET autocommit = 0").unwrap();
    first.query_drop("INSERT INTO t VALUES (2, 2)").unwrap();
    first.query_drop("CREATE TABLE u (a INT)").unwrap();
    first.query_drop("ROLLBACK").unwrap();
    assert_eq!(one::<i64>(&mut second, "SELECT COUNT(*) FROM t"), 2);
}

#[test]
fn deadlocks_have_one_victim() {
    let server = Server::start();
    let mut first = server.connect();
    first.query_drop("CREATE DATABASE d").unwrap();
    first.query_drop("USE d").unwrap();
    first.query_drop("CREATE TABLE t (id INT PRIMARY KEY, n INT)").unwrap();
    first.query_drop("INSERT INTO t VALUES (1, 0), (2, 0)").unwrap();
    let mut second = server.connect_to("d");
    first.query_drop("BEGIN").unwrap();
    second.query_drop("BEGIN").unwrap();
    first.query_drop("UPDATE t SET n = 1 WHERE id = 1").unwrap();
    second.query_drop("UPDATE t SET n = 2 WHERE id = 2").unwrap();
    let waiting = std::thread::spawn(move || {
        let outcome = first.query_drop("UPDATE t SET n = 1 WHERE id = 2");
        (first, outcome)
    });
    std::thread::sleep(Duration::from_millis(200));
    let crossing = second.query_drop("UPDATE t SET n = 2 WHERE id = 1");
    if crossing.is_ok() {
        second.query_drop("COMMIT").unwrap();
    }
    let (mut first, waited) = waiting.join().unwrap();
    let failed: Vec<_> = [waited, crossing].into_iter().filter_map(Result::err).map(|error| number(&error)).collect();
    assert_eq!(failed, [1213]);
    first.query_drop("COMMIT").unwrap();
}

#[test]
fn what_the_server_says_of_itself() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("USE d").unwrap();
    conn.query_drop("CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT, a VARCHAR(9) DEFAULT 'x', PRIMARY KEY (id), KEY k (a))")
        .unwrap();
    let databases: Vec<String> = conn.query("SHOW DATABASES").unwrap();
    assert_eq!(databases, ["d", "information_schema", "mysql", "performance_schema", "sys"]);
    assert_eq!(conn.query::<String, _>("SHOW TABLES").unwrap(), ["t"]);
    let (_, create): (String, String) = conn.query_first("SHOW CREATE TABLE t").unwrap().unwrap();
    assert!(
        create.starts_with("CREATE TABLE `t` (\n  `id` int NOT NULL AUTO_INCREMENT,\n  `a` varchar(9) DEFAULT 'x',\n"),
        "{create}"
    );
    let fields: Vec<(String, String, String, String, Option<String>, String)> = conn.query("DESCRIBE t").unwrap();
    assert_eq!(fields[0].0, "id");
    assert_eq!((fields[1].3.as_str(), fields[1].4.as_deref()), ("MUL", Some("x")));
    let (_, value): (String, String) = conn.query_first("SHOW VARIABLES LIKE 'max_allowed_packet'").unwrap().unwrap();
    assert_eq!(value, "67108864");
    let rows: Vec<(String, String)> = conn.query("SHOW VARIABLES WHERE Variable_name IN ('autocommit', 'port')").unwrap();
    assert_eq!(rows.len(), 2);
    let tables: Vec<(String, String)> =
        conn.query("SELECT TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd'").unwrap();
    assert_eq!(tables, [("t".to_string(), "BASE TABLE".to_string())]);
    let processes: Vec<Row> = conn.query("SHOW PROCESSLIST").unwrap();
    let mut commands: Vec<String> = processes.iter().map(|row| row.get("Command").unwrap()).collect();
    commands.sort();
    assert_eq!(commands, ["Daemon", "Query"], "the event scheduler, and this session");
    conn.query_drop("SET @a = 1 + 1, @b = 'x'").unwrap();
    assert_eq!(conn.query_first::<(i64, String), _>("SELECT @a, @b").unwrap().unwrap(), (2, "x".into()));
    fails(&mut conn, "SET nothing = 1", 1193);
    fails(&mut conn, "SET version = 'x'", 1238);
    fails(&mut conn, "SET max_connections = 5", 1229);
    fails(&mut conn, "SET autocommit = 7", 1231);
    let warnings: Vec<(String, u16, String)> = conn.query("SHOW WARNINGS").unwrap();
    assert_eq!((warnings[0].0.as_str(), warnings[0].1), ("Error", 1231));
}

#[test]
fn a_definition_that_waits_is_seen() {
    let server = Server::start();
    let mut user = server.connect();
    user.query_drop("CREATE DATABASE d").unwrap();
    user.query_drop("CREATE TABLE d.t (id INT PRIMARY KEY)").unwrap();
    user.query_drop("BEGIN").unwrap();
    user.query_drop("SELECT * FROM d.t").unwrap();
    let mut definer = server.connect();
    let waits = std::thread::spawn(move || definer.query_drop("ALTER TABLE d.t ADD COLUMN a INT"));
    let seen = |user: &mut Conn, query: &str| user.query_first::<String, _>(query).unwrap();
    while seen(&mut user, "SELECT event_name FROM performance_schema.events_stages_current").is_none() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let state = "SELECT state FROM information_schema.processlist WHERE info LIKE 'ALTER%'";
    assert_eq!(seen(&mut user, state).as_deref(), Some("Waiting for table metadata lock"));
    user.query_drop("COMMIT").unwrap();
    waits.join().unwrap().unwrap();
    assert_eq!(seen(&mut user, "SELECT event_name FROM performance_schema.events_stages_current"), None);
}

#[test]
fn killing() {
    let server = Server::start();
    let mut victim = server.connect();
    let id: u32 = one(&mut victim, "SELECT CONNECTION_ID()");
    let sleeping = std::thread::spawn(move || {
        let outcome = victim.query_drop("SELECT SLEEP(30)");
        (victim, outcome)
    });
    let mut killer = server.connect();
    std::thread::sleep(Duration::from_millis(200));
    killer.query_drop(format!("KILL QUERY {id}")).unwrap();
    let begun = Instant::now();
    let (mut victim, _) = sleeping.join().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(one::<i64>(&mut victim, "SELECT 1"), 1);
    killer.query_drop(format!("KILL {id}")).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert!(victim.query_drop("SELECT 1").is_err());
    fails(&mut killer, "KILL 4000000", 1094);
}

#[test]
fn a_vanished_client_is_rolled_back() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.t (id INT PRIMARY KEY)").unwrap();
    let mut vanishing = server.connect_to("d");
    vanishing.query_drop("BEGIN").unwrap();
    vanishing.query_drop("INSERT INTO t VALUES (1)").unwrap();
    drop(vanishing);
    conn.query_drop("USE d").unwrap();
    conn.query_drop("SET innodb_lock_wait_timeout = 5").unwrap();
    conn.query_drop("INSERT INTO t VALUES (1)").unwrap();
    assert_eq!(one::<i64>(&mut conn, "SELECT COUNT(*) FROM t"), 1);
}

#[test]
fn many_clients_keep_a_sum() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.account (id INT PRIMARY KEY, balance INT NOT NULL)").unwrap();
    let values: Vec<_> = (0..50).map(|id| format!("({id}, 100)")).collect();
    conn.query_drop(format!("INSERT INTO d.account VALUES {}", values.join(","))).unwrap();
    std::thread::scope(|scope| {
        for client in 0..8u32 {
            let server = &server;
            scope.spawn(move || {
                let mut conn = server.connect_to("d");
                let mut state = client + 1;
                for _ in 0..100 {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let (from, to) = (state >> 8 & 0xffff, state >> 16 & 0xffff);
                    let (from, to) = (from % 50, to % 50);
                    let transfer = |conn: &mut Conn| -> mysql::Result<()> {
                        conn.query_drop("BEGIN")?;
                        conn.exec_drop("UPDATE account SET balance = balance - 1 WHERE id = ?", (from,))?;
                        conn.exec_drop("UPDATE account SET balance = balance + 1 WHERE id = ?", (to,))?;
                        conn.query_drop("COMMIT")
                    };
                    if let Err(error) = transfer(&mut conn) {
                        assert_eq!(number(&error), 1213, "{error}");
                        conn.query_drop("ROLLBACK").unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(one::<i64>(&mut conn, "SELECT SUM(balance) FROM d.account"), 5000);
}

#[test]
fn a_statement_shuts_the_server_down() {
    let mut server = Server::start();
    let (mut conn, mut other) = (server.connect(), server.connect());
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.t (id INT PRIMARY KEY)").unwrap();
    conn.query_drop("BEGIN").unwrap();
    conn.query_drop("INSERT INTO d.t VALUES (1)").unwrap();
    fails(&mut conn, "SHUTDOWN NOW", 1064);
    let error = conn.prep("SHUTDOWN").expect_err("not as a prepared statement");
    assert_eq!(number(&error), 1295);
    // It is answered, and then everybody has to go.
    conn.query_drop("SHUTDOWN").unwrap();
    server.handle.take().unwrap().wait();
    assert!(other.query_drop("DO 1").is_err());
    assert!(server.try_connect("root", None).is_err());
}

#[test]
fn mandatory_roles_count_from_the_next_statement_on() {
    let server = Server::start();
    let mut root = server.connect();
    for statement in [
        "CREATE DATABASE d",
        "CREATE TABLE d.t (a INT)",
        "CREATE ROLE everybody",
        "GRANT SELECT ON d.t TO everybody",
        "CREATE USER u",
        "SET GLOBAL activate_all_roles_on_login = ON",
    ] {
        root.query_drop(statement).unwrap();
    }
    let mut before = server.try_connect("u", None).unwrap();
    fails(&mut before, "SET ROLE everybody", 3530);
    root.query_drop("SET GLOBAL mandatory_roles = 'everybody'").unwrap();
    fails(&mut before, "SELECT a FROM d.t", 1142);
    before.query_drop("SET ROLE everybody").unwrap();
    before.query_drop("SELECT a FROM d.t").unwrap();
    let mut after = server.try_connect("u", None).unwrap();
    after.query_drop("SELECT a FROM d.t").unwrap();
    assert_eq!(one::<String>(&mut after, "SELECT CURRENT_ROLE()"), "`everybody`@`%`");
    root.query_drop("SET GLOBAL mandatory_roles = ''").unwrap();
    fails(&mut before, "SELECT a FROM d.t", 1142);
    fails(&mut after, "SELECT a FROM d.t", 1142);
}

#[test]
fn persisted_variables_outlive_the_server() {
    let server = Server::start();
    let directory = Arc::clone(&server.directory);
    let mut conn = server.connect();
    conn.query_drop("SET PERSIST wait_timeout = 77, GLOBAL interactive_timeout = 78, PERSIST_ONLY net_read_timeout = 79")
        .unwrap();
    conn.query_drop("SET PERSIST collation_server = 'latin1_bin', PERSIST sql_mode = 'ANSI', PERSIST autocommit = 0").unwrap();
    assert_eq!(one::<u64>(&mut conn, "SELECT @@GLOBAL.wait_timeout"), 77);
    assert_eq!(one::<u64>(&mut conn, "SELECT @@GLOBAL.net_read_timeout"), 30);
    fails(&mut conn, "SET PERSIST wait_timeout = 'soon'", 1232);
    fails(&mut conn, "SET PERSIST_ONLY version = 'x'", 1238);
    assert_eq!(one::<u64>(&mut conn, "SELECT COUNT(*) FROM performance_schema.persisted_variables"), 5);
    drop(server);

    let server = Server::start_in(directory);
    let mut conn = server.connect();
    for (name, value) in [
        ("wait_timeout", "77"),
        ("interactive_timeout", "28800"),
        ("net_read_timeout", "79"),
        ("collation_server", "latin1_bin"),
        ("character_set_server", "latin1"),
        ("sql_mode", "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI"),
        ("autocommit", "0"),
    ] {
        assert_eq!(one::<String>(&mut conn, &format!("SELECT CAST(@@GLOBAL.{name} AS CHAR)")), value, "{name}");
    }
    fails(&mut conn, "RESET PERSIST interactive_timeout", 3615);
    conn.query_drop("RESET PERSIST IF EXISTS interactive_timeout").unwrap();
    assert_eq!(one::<u64>(&mut conn, "SELECT @@warning_count"), 1);
    conn.query_drop("RESET PERSIST wait_timeout").unwrap();
    assert_eq!(one::<u64>(&mut conn, "SELECT @@GLOBAL.wait_timeout"), 77);
    assert_eq!(one::<u64>(&mut conn, "SELECT COUNT(*) FROM performance_schema.persisted_variables"), 4);
    conn.query_drop("RESET PERSIST").unwrap();
    assert_eq!(one::<u64>(&mut conn, "SELECT COUNT(*) FROM performance_schema.persisted_variables"), 0);
}

fn status(conn: &mut Conn, name: &str) -> u64 {
    let (_, value): (String, u64) = conn.query_first(format!("SHOW GLOBAL STATUS LIKE '{name}'")).unwrap().unwrap();
    value
}

/// A text over user variables has one plan as long as their types stay.
#[test]
fn plans_over_user_variables_are_kept() {
    let server = Server::start();
    let mut conn = server.connect();
    let hits = |conn: &mut Conn, variable: &str| {
        let before = status(conn, "Heddle_plan_cache_hits");
        for n in 0..5 {
            conn.query_drop(format!("SET @a = {variable}, @b = {n}")).unwrap();
            assert_eq!(conn.query_first::<(String, u64), _>("SELECT CONCAT(@a, ''), @b").unwrap().unwrap().1, n);
        }
        status(conn, "Heddle_plan_cache_hits") - before
    };
    assert_eq!(hits(&mut conn, "1"), 4);
    assert_eq!(hits(&mut conn, "2"), 5, "of the same type");
    assert_eq!(hits(&mut conn, "'x'"), 4, "of another one");
    assert_eq!(hits(&mut conn, "'other'"), 5);
}

/// PREPARE knows no values, and a range of unknown ends is taken for a large one.
#[test]
fn a_prepared_statement_s_plan_is_for_the_values_that_it_is_executed_with() {
    let server = Server::start();
    let mut conn = server.connect();
    for statement in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE line (w INT, d INT, o INT, n INT, item INT, PRIMARY KEY (w, d, o, n))",
        "CREATE TABLE stock (w INT, item INT, quantity INT, PRIMARY KEY (w, item))",
        "SET cte_max_recursion_depth = 100000",
        "INSERT INTO stock WITH RECURSIVE s (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 1000) SELECT 1, n, n % 100 FROM s",
        "INSERT INTO line WITH RECURSIVE s (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < 39999) \
           SELECT 1, 1, n DIV 10, n % 10, n % 1000 + 1 FROM s",
        "ANALYZE TABLE line, stock",
    ] {
        conn.query_drop(statement).unwrap();
    }
    let statement = conn
        .prep(
            "SELECT COUNT(DISTINCT stock.item) FROM line JOIN stock ON stock.w = line.w AND stock.item = line.item \
             WHERE line.w = ? AND d = ? AND o >= ? AND o < ? AND quantity < ?",
        )
        .unwrap();
    for _ in 0..2 {
        assert_eq!(conn.exec_first(&statement, (1, 1, 3980, 4000, 15)).unwrap(), Some(30));
    }
    let examined: u64 = one(
        &mut conn,
        "SELECT SUM(sum_rows_examined) FROM performance_schema.events_statements_summary_by_digest \
         WHERE digest_text LIKE 'SELECT COUNT ( DISTINCT%'",
    );
    assert!(examined < 1000, "{examined} rows, for twice 200 lines and the stock of each");
    assert_eq!(status(&mut conn, "Com_stmt_reprepare"), 0);
}

/// Whatever statements it has, and however often they are run.
#[test]
fn statements_of_a_program() {
    let server = Server::start();
    let mut conn = server.connect();
    for statement in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY, n BIGINT)",
        "INSERT INTO t VALUES (1, 0)",
        "CREATE PROCEDURE inner_one(IN a INT, OUT b INT, INOUT c INT) SET b = a + 1, c = c + a",
        "CREATE PROCEDURE p(n INT) BEGIN \
           DECLARE i, b INT DEFAULT 0; DECLARE e ENUM('x', 'y') DEFAULT 'x'; \
           DECLARE c CURSOR FOR SELECT id FROM t WHERE id > @x - 1000; \
           SET @c = 1, @x = 0, @text = 'a', @query = 'UPDATE t SET n = n + 0 * ?'; \
           WHILE i < n DO \
             START TRANSACTION; SAVEPOINT one; \
             SET @x = @x + 1, @text = CONCAT(@text, 'b'); \
             SET NAMES utf8mb4 COLLATE utf8mb4_bin; SET CHARACTER SET DEFAULT, NAMES utf8mb4; \
             PREPARE s FROM @query; EXECUTE s USING @x; PREPARE s FROM 'DO 1'; EXECUTE s; DEALLOCATE PREPARE s; \
             SET sql_notes = 1, SESSION max_error_count = 100 + i, character_set_results = utf8mb4, div_precision_increment = DEFAULT; \
             CALL inner_one(i + e, b, @c); CALL d.inner_one(@x, @d, @c); \
             UPDATE t SET n = n + @x + @@div_precision_increment; \
             RELEASE SAVEPOINT one; SAVEPOINT two; ROLLBACK TO SAVEPOINT two; \
             OPEN c; FETCH c INTO b; CLOSE c; DO b + 1, @d; \
             IF i % 2 THEN ROLLBACK; ELSE COMMIT AND NO CHAIN; END IF; \
             SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET i = i + 1; \
           END WHILE; \
           SET @n = (SELECT n FROM t WHERE id = 1 AND @x = n); END",
        "CALL p(5)",
    ] {
        conn.query_drop(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    conn.query_drop("CALL p(200)").unwrap();
    let told: (i64, i64, i64) = conn.query_first("SELECT @x, @c, LENGTH(@text)").unwrap().unwrap();
    // The sums of i + 1 and of @x.
    assert_eq!(told, (200, 1 + 2 * (200 * 201 / 2), 201));
    // Another type of a variable, and another definition, are seen.
    conn.query_drop("CREATE PROCEDURE q() SET @v = @v + 1; SET @v = 1").unwrap();
    conn.query_drop("CALL q(); CALL q(); SET @v = 1.5; CALL q()").unwrap();
    assert_eq!(one::<String>(&mut conn, "SELECT @v"), "2.5");
    conn.query_drop("DROP PROCEDURE inner_one; CREATE PROCEDURE inner_one(IN a INT, OUT b INT, INOUT c INT) SET b = 7, c = 8")
        .unwrap();
    conn.query_drop("CALL p(3)").unwrap();
    assert_eq!(one::<i64>(&mut conn, "SELECT @c"), 8);
}

/// A cursor over eight million bytes with 64 KiB of memory: its file is there while it is open, and gone with it, however it ends.
#[test]
fn rows_of_a_cursor_go_to_a_file() {
    let server = Server::start();
    let mut conn = server.connect();
    for statement in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(1000))",
        "SET cte_max_recursion_depth = 10000",
        "INSERT INTO t WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 8000) SELECT n, REPEAT(CHAR(65 + n % 26), 1000) FROM r",
        "CREATE PROCEDURE p(fails BOOL) BEGIN \
           DECLARE i, n INT DEFAULT 0; DECLARE sum BIGINT DEFAULT 0; DECLARE text VARCHAR(1000); DECLARE done BOOL DEFAULT FALSE; \
           DECLARE c CURSOR FOR SELECT id, s FROM t ORDER BY id; \
           DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = TRUE; \
           OPEN c; FETCH c INTO i, text; DO GET_LOCK('gate', 100), RELEASE_LOCK('gate'); \
           IF fails THEN SIGNAL SQLSTATE '45000'; END IF; \
           WHILE NOT done DO \
             IF text <> REPEAT(CHAR(65 + i % 26), 1000) OR i <> n + 1 THEN SIGNAL SQLSTATE '45001'; END IF; \
             SET sum = sum + i, n = n + 1; FETCH c INTO i, text; \
           END WHILE; \
           CLOSE c; SELECT n, sum, GET_LOCK('closed', 100); END",
    ] {
        conn.query_drop(statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
    }
    let until = |conn: &mut Conn, what: &str, is_it: &dyn Fn(u64) -> bool| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !is_it(status(conn, "Heddle_temporary_bytes")) {
            assert!(Instant::now() < deadline, "{what}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    let call = |fails: bool| {
        let mut conn = server.connect_to("d");
        conn.query_drop("SET tmp_table_size = 65536").unwrap();
        std::thread::spawn(move || conn.query_first::<(u64, u64, u64), _>(format!("CALL p({fails})")))
    };
    // It ends; while its procedure still runs, the file is gone.
    assert_eq!(one::<i64>(&mut conn, "SELECT GET_LOCK('gate', 10) + GET_LOCK('closed', 10)"), 2);
    let running = call(false);
    until(&mut conn, "it is open", &|bytes| bytes > 7_500_000);
    conn.query_drop("DO RELEASE_LOCK('gate')").unwrap();
    until(&mut conn, "it is closed", &|bytes| bytes == 0);
    conn.query_drop("DO RELEASE_LOCK('closed')").unwrap();
    assert_eq!(running.join().unwrap().unwrap(), Some((8000, 8000 * 8001 / 2, 1)));
    // It fails.
    assert_eq!(one::<i64>(&mut conn, "SELECT GET_LOCK('gate', 10)"), 1);
    let running = call(true);
    until(&mut conn, "it is open again", &|bytes| bytes > 7_500_000);
    conn.query_drop("DO RELEASE_LOCK('gate')").unwrap();
    assert_eq!(number(&running.join().unwrap().unwrap_err()), 1644);
    until(&mut conn, "it has failed", &|bytes| bytes == 0);
    // Its connection is killed.
    assert_eq!(one::<i64>(&mut conn, "SELECT GET_LOCK('gate', 10)"), 1);
    let running = call(false);
    until(&mut conn, "it is open a third time", &|bytes| bytes > 7_500_000);
    let id: u64 = one(&mut conn, "SELECT ID FROM information_schema.PROCESSLIST WHERE INFO LIKE 'CALL%'");
    conn.query_drop(format!("KILL {id}")).unwrap();
    assert!(running.join().unwrap().is_err());
    until(&mut conn, "it was killed", &|bytes| bytes == 0);
}

/// Definitions wait for transactions, and statements for definitions: who waits for whom is told meanwhile, on any worker.
#[test]
fn metadata_locks_are_told() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)").unwrap();
    conn.query_drop("INSERT INTO d.t VALUES (1, 1)").unwrap();
    let mut holder = server.connect_to("d");
    holder.query_drop("BEGIN").unwrap();
    holder.query_drop("UPDATE t SET v = 2").unwrap();
    let holder_id: u64 = one(&mut holder, "SELECT CONNECTION_ID()");
    let mut alters = server.connect_to("d");
    let alters_id: u64 = one(&mut alters, "SELECT CONNECTION_ID()");
    let altering = std::thread::spawn(move || alters.query_drop("ALTER TABLE t ADD w INT").unwrap());
    let told = |conn: &mut Conn| -> Vec<(u64, String, String)> {
        let text = "SELECT OWNER_THREAD_ID, LOCK_TYPE, LOCK_STATUS FROM performance_schema.metadata_locks
                    WHERE OBJECT_SCHEMA = 'd' ORDER BY OWNER_THREAD_ID, LOCK_TYPE";
        conn.query(text).unwrap()
    };
    let line = |id: u64, kind: &str, status: &str| (id, kind.to_owned(), status.to_owned());
    let waiting = vec![
        line(holder_id, "SHARED_WRITE", "GRANTED"),
        line(alters_id, "EXCLUSIVE", "PENDING"),
        line(alters_id, "SHARED_UPGRADABLE", "GRANTED"),
    ];
    let deadline = Instant::now() + Duration::from_secs(20);
    // It waits also in the pauses in which it lets others in.
    for _ in 0..20 {
        while told(&mut conn) != waiting {
            assert!(Instant::now() < deadline, "{:?}", told(&mut conn));
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let waits = "SELECT waiting_pid, waiting_lock_type, waiting_query, blocking_account FROM sys.schema_table_lock_waits
                 WHERE object_schema = 'd' AND blocking_pid = ";
    let (pid, kind, query, account): (u64, String, String, String) =
        conn.query_first(format!("{waits}{holder_id}")).unwrap().unwrap();
    assert_eq!((pid, kind.as_str(), query.as_str()), (alters_id, "EXCLUSIVE", "ALTER TABLE t ADD w INT"));
    assert_eq!(account, "root@localhost");
    holder.query_drop("COMMIT").unwrap();
    altering.join().unwrap();
    assert_eq!(told(&mut conn), []);
    // CHECK TABLE and its kin hold a share while they look.
    conn.query_drop("CHECK TABLE d.t").unwrap();
    assert_eq!(told(&mut conn), []);
}

/// An account of two passwords, by both plugins; and what a random password looks like.
#[test]
fn two_passwords_are_accepted() {
    let server = Server::start();
    let mut conn = server.connect();
    for plugin in ["caching_sha2_password", "mysql_native_password"] {
        conn.query_drop(format!("CREATE USER u IDENTIFIED WITH {plugin} BY 'first'")).unwrap();
        conn.query_drop("ALTER USER u IDENTIFIED BY 'second' RETAIN CURRENT PASSWORD").unwrap();
        // The second round goes by what is remembered of the first.
        for password in ["first", "second", "first", "second"] {
            assert!(server.try_connect("u", Some(password)).is_ok(), "{plugin}: {password}");
        }
        for password in [None, Some("third")] {
            assert_eq!(number(&server.try_connect("u", password).unwrap_err()), 1045, "{plugin}: {password:?}");
        }
        conn.query_drop("ALTER USER u IDENTIFIED BY 'third' RETAIN CURRENT PASSWORD").unwrap();
        assert_eq!(number(&server.try_connect("u", Some("first")).unwrap_err()), 1045, "{plugin}");
        assert!(server.try_connect("u", Some("second")).is_ok() && server.try_connect("u", Some("third")).is_ok(), "{plugin}");
        conn.query_drop("ALTER USER u DISCARD OLD PASSWORD").unwrap();
        assert_eq!(number(&server.try_connect("u", Some("second")).unwrap_err()), 1045, "{plugin}");
        let row: (String, String, String, u64) =
            conn.query_first("SET PASSWORD FOR u TO RANDOM RETAIN CURRENT PASSWORD").unwrap().unwrap();
        assert_eq!((row.0.as_str(), row.1.as_str(), row.2.len(), row.3), ("u", "%", 20, 1));
        assert!(server.try_connect("u", Some(&row.2)).is_ok() && server.try_connect("u", Some("third")).is_ok(), "{plugin}");
        let other = if plugin == "mysql_native_password" { "caching_sha2_password" } else { "mysql_native_password" };
        fails(&mut conn, &format!("ALTER USER u IDENTIFIED WITH {other} BY 'x' RETAIN CURRENT PASSWORD"), 3894);
        conn.query_drop("DROP USER u").unwrap();
    }
    conn.query_drop("SET generated_random_password_length = 30").unwrap();
    let made: Vec<(String, String, String, u64)> = conn
        .query("CREATE USER a IDENTIFIED BY RANDOM PASSWORD, b@localhost IDENTIFIED BY 'x', c IDENTIFIED BY RANDOM PASSWORD")
        .unwrap();
    assert_eq!(made.iter().map(|row| (row.0.as_str(), row.2.len())).collect::<Vec<_>>(), [("a", 30), ("c", 30)]);
    assert_ne!(made[0].2, made[1].2);
    assert!(server.try_connect("c", Some(&made[1].2)).is_ok());
}

#[test]
fn executions_are_counted_by_digest_on_all_workers() {
    let server = Server::start();
    let mut root = server.connect();
    root.query_drop(
        "CREATE DATABASE one; CREATE DATABASE two; CREATE TABLE one.t (id INT PRIMARY KEY); CREATE TABLE two.t LIKE one.t",
    )
    .unwrap();
    root.query_drop("INSERT INTO one.t VALUES (1), (2), (3)").unwrap();
    // Sessions are spread over the workers.
    for _ in 0..4 {
        let mut conn = server.connect_to("one");
        let statement = conn.prep("SELECT id FROM t WHERE id >= ?").unwrap();
        for id in 1..=3 {
            let found: Vec<u32> = conn.exec(&statement, (id,)).unwrap();
            assert_eq!(found.len(), 4 - id);
        }
        let found: Vec<u32> = conn.query("select id from t where id >= 2").unwrap();
        assert_eq!(found, [2, 3]);
        // In another database it is another table, and another line.
        conn.query_drop("USE two").unwrap();
        let found: Vec<u32> = conn.exec(&statement, (1,)).unwrap();
        assert!(found.is_empty());
    }
    let counted = |conn: &mut Conn| -> Vec<(String, u64, u64, u64)> {
        conn.query(
            "SELECT SCHEMA_NAME, COUNT_STAR, SUM_ROWS_SENT, SUM_ROWS_EXAMINED FROM performance_schema.events_statements_summary_by_digest \
             WHERE DIGEST_TEXT = 'SELECT `id` FROM `t` WHERE `id` >= ?' ORDER BY SCHEMA_NAME",
        )
        .unwrap()
    };
    assert_eq!(counted(&mut root), [("one".to_owned(), 16, 32, 32), ("two".to_owned(), 4, 0, 0)]);
    root.query_drop("TRUNCATE TABLE performance_schema.events_statements_summary_by_digest").unwrap();
    assert!(counted(&mut root).is_empty());
    root.query_drop("CREATE USER reader; GRANT SELECT ON performance_schema.* TO reader").unwrap();
    let mut reader = server.try_connect("reader", None).unwrap();
    assert!(counted(&mut reader).is_empty());
    fails(&mut reader, "TRUNCATE TABLE performance_schema.events_statements_summary_by_digest", 1142);
}

/// What the user variables of a session take has a bound, in whatever way they get their values.
#[test]
fn user_variables_have_a_bound() {
    let server = Server::start();
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.t (n INT PRIMARY KEY)").unwrap();
    conn.query_drop("INSERT INTO d.t VALUES (1), (2), (3), (4), (5), (6)").unwrap();
    conn.query_drop("CREATE FUNCTION d.f() RETURNS INT DETERMINISTIC BEGIN SET @own = REPEAT('a', 900000); RETURN 1; END")
        .unwrap();
    // The bound is four times this.
    conn.query_drop("SET GLOBAL max_allowed_packet = 1048576").unwrap();
    let mut conn = server.connect_to("d");
    for n in 0..4 {
        conn.query_drop(format!("SET @v{n} = REPEAT('a', 1000000)")).unwrap();
    }
    let more = [
        "SET @more = REPEAT('a', 900000)",
        "SELECT @more := REPEAT('a', 900000)",
        "SELECT REPEAT('a', 900000) INTO @more",
        "SELECT d.f()",
        "DO d.f()",
    ];
    for statement in more {
        fails(&mut conn, statement, 3170);
    }
    assert_eq!(one::<Option<String>>(&mut conn, "SELECT @more"), None);
    // What is given back is free, and what stands in for another value costs what it has more.
    conn.query_drop("SET @v0 = NULL").unwrap();
    for statement in more {
        conn.query_drop(statement).unwrap();
        conn.query_drop("SET @more = NULL, @own = NULL").unwrap();
    }
    conn.query_drop("SET @v0 = NULL, @v1 = NULL, @v2 = NULL, @v3 = NULL").unwrap();
    // Row by row, and within one row, where a statement may yet have to take it back.
    conn.query_drop("SELECT @v := REPEAT(CHAR(64 + n), 1000000) FROM t").unwrap();
    assert_eq!(one::<u64>(&mut conn, "SELECT LENGTH(@v)"), 1_000_000);
    let many: Vec<_> = (0..6).map(|n| format!("LENGTH(@w{n} := REPEAT('a', 1000000))")).collect();
    fails(&mut conn, &format!("SELECT {}", many.join(", ")), 3170);
    // Many small ones.
    conn.query_drop("SET @v = NULL, @w0 = NULL, @w1 = NULL, @w2 = NULL, @w3 = NULL, @w4 = NULL, @w5 = NULL").unwrap();
    let mut refused = None;
    for n in 0..200 {
        let list: Vec<_> = (0..500).map(|place| format!("@small_{n}_{place} = {place}")).collect();
        if let Err(error) = conn.query_drop(format!("SET {}", list.join(", "))) {
            refused = Some(number(&error));
            break;
        }
    }
    assert_eq!(refused, Some(3170));
}

/// SHOW tells when something was made in the time zone of the session, as information_schema does.
#[test]
fn show_tells_times_of_the_session() {
    let server = Server::start();
    let mut conn = server.connect();
    for statement in [
        "CREATE DATABASE d",
        "USE d",
        "CREATE TABLE t (a INT PRIMARY KEY)",
        "CREATE VIEW v AS SELECT * FROM t",
        "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET @a = 1",
        "CREATE PROCEDURE p() SELECT 1",
        "SET time_zone = '+05:00'",
    ] {
        conn.query_drop(statement).unwrap();
    }
    let mut check = |show: &str, column: &str, query: &str| {
        let shown: Vec<Row> = conn.query(show).unwrap();
        let shown: Vec<String> = shown.iter().map(|row| row.get(column).unwrap()).collect();
        let expected: Vec<String> = conn.query(query).unwrap();
        assert_eq!(shown, expected, "{show}");
    };
    let of_tables = "SELECT CREATE_TIME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd' ORDER BY TABLE_NAME";
    check("SHOW TABLE STATUS", "Create_time", of_tables);
    check("SHOW TRIGGERS", "Created", "SELECT CREATED FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'd'");
    let of_routines = "SELECT CREATED FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'd'";
    check("SHOW PROCEDURE STATUS WHERE Db = 'd'", "Created", of_routines);
    check("SHOW PROCEDURE STATUS WHERE Db = 'd'", "Modified", of_routines);
    assert_eq!(
        one::<u64>(
            &mut conn,
            "SELECT TIMESTAMPDIFF(MINUTE, UTC_TIMESTAMP(), MAX(CREATE_TIME) + INTERVAL 30 SECOND) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'd'"
        ),
        300
    );
}

/// SHOW STATUS tells of TLS what MySQL does: what is offered, and that this session, whose client has no TLS, uses none of it.
#[test]
fn tls_is_told_in_the_status() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let server = Server::start_with(directory, 1, |config| config.tls = true);
    let read = |conn: &mut Conn| -> std::collections::BTreeMap<String, String> {
        conn.query::<(String, String), _>("SHOW STATUS LIKE 'Ssl%'").unwrap().into_iter().collect()
    };
    let plain = read(&mut server.connect());
    assert_eq!(plain.len(), 26, "{plain:?}");
    assert_eq!((&*plain["Ssl_version"], &*plain["Ssl_cipher_list"], &*plain["Ssl_verify_mode"]), ("", "", "0"));
    assert_eq!(plain["Ssl_server_not_after"], "Jan  1 00:00:00 2046 GMT");
    assert_eq!(plain["Ssl_ctx_verify_mode"], "5");
    assert_eq!((&*plain["Ssl_session_cache_mode"], &*plain["Ssl_sessions_reused"]), ("SERVER", "0"));
    let more: Vec<(String, String)> = server.connect().query("SHOW STATUS LIKE 'Current_tls%'").unwrap();
    assert_eq!(more.len(), 9);
}
