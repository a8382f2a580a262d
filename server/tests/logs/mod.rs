//! The slow query log and the general log, through a real client.

use super::Server;
use mysql::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

fn read(path: &PathBuf) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The entries of the slow log: their statements, with `use` and without what is only about time.
fn entries(text: &str) -> Vec<String> {
    let body = |entry: &str| {
        let lines = entry.lines().filter(|line| !line.starts_with("# ") && !line.starts_with("SET timestamp="));
        lines.collect::<Vec<_>>().join(" ")
    };
    text.split("# Time: ").skip(1).map(|entry| entry.split_once('\n').map_or(String::new(), |(_, rest)| body(rest))).collect()
}

fn number(conn: &mut mysql::Conn, status: &str) -> u64 {
    let row: Option<(String, u64)> = conn.query_first(format!("SHOW SESSION STATUS LIKE '{status}'")).unwrap();
    row.unwrap().1
}

/// A connection to a server whose table `d.t` has three rows.
fn three_rows(server: &Server) -> mysql::Conn {
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.t (id INT PRIMARY KEY, n INT)").unwrap();
    conn.query_drop("INSERT INTO d.t VALUES (1, 1), (2, 2), (3, 3)").unwrap();
    conn
}

#[test]
fn slow_statements_are_written() {
    let server = Server::start();
    // It outlives the server.
    let directory = Arc::clone(&server.directory);
    let path = directory.path().join("slow");
    let mut conn = three_rows(&server);
    let before = number(&mut conn, "Slow_queries");
    conn.query_drop(format!("SET GLOBAL slow_query_log_file = '{}', GLOBAL slow_query_log = ON", path.display())).unwrap();
    conn.query_drop("SET long_query_time = 0").unwrap();
    conn.query_drop("USE d").unwrap();
    let _: Vec<(i32, i32)> = conn.query("SELECT * FROM t WHERE n > 1").unwrap();
    conn.query_drop("CREATE USER u IDENTIFIED BY 'pa''ss'").unwrap();
    conn.query_drop("SET PASSWORD FOR u = 'pass'").unwrap();
    let _: Vec<(i32,)> = conn.exec("SELECT id FROM t WHERE id = ? OR n = ?", (1, "it's")).unwrap();
    conn.query_drop("PREPARE s FROM 'ALTER USER u IDENTIFIED BY \"pass\"'").unwrap();
    conn.query_drop("EXECUTE s").unwrap();
    conn.query_drop("CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END").unwrap();
    conn.query_drop("CALL p()").unwrap();
    // No statement, an administrative one, and one that read less than it has to.
    conn.query_drop("SELEC 'pass'").unwrap_err();
    conn.query_drop("ALTER TABLE t ADD COLUMN m INT").unwrap();
    conn.query_drop("SET min_examined_row_limit = 3").unwrap();
    conn.query_drop("SELECT 'reads little'").unwrap();
    conn.query_drop("SET GLOBAL log_slow_admin_statements = ON, SESSION min_examined_row_limit = 0").unwrap();
    conn.query_drop("ALTER TABLE t DROP COLUMN m").unwrap();
    assert!(number(&mut conn, "Slow_queries") > before + 10);
    // Log rotation: what follows is in another file of the same name.
    std::fs::rename(&path, path.with_extension("1")).unwrap();
    conn.query_drop("FLUSH SLOW LOGS").unwrap();
    conn.query_drop("SET GLOBAL log_queries_not_using_indexes = ON, SESSION long_query_time = 1000").unwrap();
    conn.query_drop("SELECT COUNT(*) FROM t WHERE n = 2").unwrap();
    conn.query_drop("SELECT * FROM t WHERE id = 2").unwrap();
    conn.query_drop("SET GLOBAL log_output = 'NONE'").unwrap();
    conn.query_drop("SELECT COUNT(*) FROM t WHERE n = 3").unwrap();
    drop(conn);
    drop(server);
    let (first, second) = (read(&path.with_extension("1")), read(&path));
    assert!(!first.contains("pass"), "{first}");
    let expected = [
        "use d; USE d;",
        "SELECT * FROM t WHERE n > 1;",
        "CREATE USER u IDENTIFIED BY <secret>;",
        "SET PASSWORD FOR u = <secret>;",
        "SELECT id FROM t WHERE id = 1 OR n = 'it\\'s';",
        "PREPARE s FROM ...;",
        "ALTER USER u IDENTIFIED BY <secret>;",
        "CREATE PROCEDURE p() BEGIN SELECT 1; SELECT 2; END;",
        "CALL p();",
        "ALTER TABLE t DROP COLUMN m;",
    ];
    let found = entries(&first);
    for wanted in expected {
        assert!(found.iter().any(|entry| *entry == wanted), "{wanted} in {found:#?}");
    }
    assert!(!found.iter().any(|entry| entry.contains("reads little") || entry.contains("ADD COLUMN")), "{found:#?}");
    assert!(first.contains("Rows_sent: 2  Rows_examined: 3\n"), "{first}");
    let found = entries(&second);
    assert!(found.contains(&"SELECT COUNT(*) FROM t WHERE n = 2;".to_owned()), "{found:#?}");
    assert!(!second.contains("id = 2") && !second.contains("n = 3"), "{second}");
}

#[test]
fn waits_for_rows_are_told() {
    let server = Server::start();
    // It outlives the server.
    let directory = Arc::clone(&server.directory);
    let path = directory.path().join("slow");
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.t (id INT PRIMARY KEY, n INT)").unwrap();
    conn.query_drop("INSERT INTO d.t VALUES (1, 1)").unwrap();
    conn.query_drop(format!("SET GLOBAL slow_query_log_file = '{}', GLOBAL slow_query_log = ON", path.display())).unwrap();
    conn.query_drop("BEGIN").unwrap();
    conn.query_drop("UPDATE d.t SET n = 2").unwrap();
    let mut other = server.connect();
    other.query_drop("SET long_query_time = 0, innodb_lock_wait_timeout = 1").unwrap();
    other.query_drop("UPDATE d.t SET n = 3").unwrap_err();
    drop((conn, other, server));
    let text = read(&path);
    let (head, _) = text.split_once("UPDATE d.t SET n = 3").unwrap();
    let lock_time = head.rsplit_once("Lock_time: ").unwrap().1.split(' ').next().unwrap();
    assert!(lock_time.parse::<f64>().unwrap() > 0.5, "{head}");
}

#[test]
fn all_statements_are_written() {
    let server = Server::start();
    // It outlives the server.
    let directory = Arc::clone(&server.directory);
    let path = directory.path().join("general");
    let mut conn = server.connect();
    let set = format!("SET GLOBAL general_log_file = '{}', GLOBAL general_log = ON", path.display());
    conn.query_drop(&set).unwrap();
    conn.query_drop("SELECT 1; SELECT 2").unwrap();
    conn.query_drop("SELEC 'pass'").unwrap_err();
    conn.query_drop("SELECT * FROM nowhere.nothing").unwrap_err();
    conn.query_drop("CREATE USER u IDENTIFIED BY 'pass'").unwrap();
    let _: Option<i32> = conn.exec_first("SELECT ?", (7,)).unwrap();
    conn.query_drop("SET sql_log_off = ON").unwrap();
    conn.query_drop("SELECT 'hidden'").unwrap();
    conn.query_drop("SET sql_log_off = OFF").unwrap();
    server.try_connect("nobody", Some("pass")).unwrap_err();
    drop(conn);
    // It is gone when its farewell is in the log.
    while !read(&path).contains("Quit") {
        std::thread::yield_now();
    }
    drop(server);
    let text = read(&path);
    assert!(!text.contains("pass'") && !text.contains("hidden"), "{text}");
    let lines: Vec<_> = text.lines().filter_map(|line| line.split_once('\t')).map(|(_, rest)| rest.trim_start()).collect();
    for wanted in [
        "Query\tSELECT 1",
        "Query\tSELECT 2",
        "Query\tSELECT * FROM nowhere.nothing",
        "Query\tCREATE USER u IDENTIFIED BY <secret>",
        "Prepare\tSELECT ?",
        "Execute\tSELECT 7",
        "Query\tSET sql_log_off = ON",
        "Quit\t",
    ] {
        assert!(lines.iter().any(|line| line.ends_with(wanted)), "{wanted} in {text}");
    }
    assert!(text.contains("Connect\tAccess denied for user 'nobody'@"), "{text}");
}

#[test]
fn no_other_file_is_written() {
    let server = Server::start();
    let mut conn = server.connect();
    let mut check = |set: &str, number: u16| match conn.query_drop(format!("SET GLOBAL {set}")) {
        Err(mysql::Error::MySqlError(error)) => assert_eq!(error.code, number, "{set}: {error}"),
        other => panic!("{set}: {other:?}"),
    };
    let outside = server.directory.path().display().to_string();
    check("slow_query_log_file = 'heddle.data'", 1231);
    check("slow_query_log_file = 'redo/x.log'", 1231);
    check(&format!("general_log_file = '{outside}/my.cnf'"), 1231);
    check(&format!("general_log_file = '{outside}/no/such.log'"), 1231);
    check("general_log_file = ''", 1231);
    check("log_output = 'ELSEWHERE'", 1231);
    let mut conn = server.connect();
    conn.query_drop("SET GLOBAL slow_query_log_file = 'x.log', GLOBAL slow_query_log = ON, GLOBAL log_output = 'file,none'")
        .unwrap();
    let (output, file): (String, String) = conn.query_first("SELECT @@log_output, @@slow_query_log_file").unwrap().unwrap();
    assert_eq!((&*output, &*file), ("NONE,FILE", "x.log"));
    conn.query_drop("SET GLOBAL slow_query_log_file = DEFAULT").unwrap();
    let file: String = conn.query_first("SELECT @@slow_query_log_file").unwrap().unwrap();
    assert!(file.ends_with("-slow.log"), "{file}");
}

#[test]
fn logs_are_tables_too() {
    let directory = Arc::new(tempfile::tempdir().unwrap());
    let server = Server::start_in(Arc::clone(&directory));
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE d").unwrap();
    conn.query_drop("CREATE TABLE d.t (id INT PRIMARY KEY, n INT)").unwrap();
    conn.query_drop("INSERT INTO d.t VALUES (1, 1), (2, 2)").unwrap();
    conn.query_drop("SET GLOBAL log_output = 'TABLE', GLOBAL slow_query_log = ON, GLOBAL general_log = ON").unwrap();
    conn.query_drop("SET long_query_time = 0").unwrap();
    conn.query_drop("USE d").unwrap();
    let _: Vec<(i32, i32)> = conn.exec("SELECT * FROM t WHERE n > ?", (1,)).unwrap();
    conn.query_drop("CREATE USER u IDENTIFIED BY 'pass'").unwrap();
    conn.query_drop("SET GLOBAL log_raw = ON").unwrap();
    conn.query_drop("CREATE USER v IDENTIFIED BY 'raw'").unwrap();
    conn.query_drop("SELEC 'raw syntax'").unwrap_err();
    conn.query_drop("SET GLOBAL log_raw = OFF").unwrap();
    let id = conn.connection_id();
    let slow: Vec<(String, u64, u64, String, u64, f64)> = conn
        .query(
            "SELECT user_host, rows_sent, rows_examined, db, thread_id, TIME_TO_SEC(query_time) FROM mysql.slow_log \
             WHERE sql_text = 'SELECT * FROM t WHERE n > 1'",
        )
        .unwrap();
    let [(user_host, 1, 2, database, thread, seconds)] = &slow[..] else { panic!("{slow:?}") };
    assert_eq!((user_host.as_str(), database.as_str(), *thread), ("root[root] @ localhost [127.0.0.1]", "d", u64::from(id)));
    assert!((0.0..60.0).contains(seconds), "{seconds}");
    let general = |conn: &mut mysql::Conn, command: &str| -> Vec<String> {
        conn.query(format!("SELECT argument FROM mysql.general_log WHERE command_type = '{command}' ORDER BY event_time"))
            .unwrap()
    };
    let texts = general(&mut conn, "Query");
    for wanted in ["USE d", "CREATE USER u IDENTIFIED BY <secret>", "CREATE USER v IDENTIFIED BY 'raw'", "SELEC 'raw syntax'"] {
        assert!(texts.iter().any(|text| text == wanted), "{wanted} in {texts:?}");
    }
    assert_eq!(general(&mut conn, "Execute"), ["SELECT * FROM t WHERE n > 1"]);
    // They are as lasting as the data.
    drop(conn);
    drop(server);
    let server = Server::start_in(directory);
    let mut conn = server.connect();
    assert_eq!(general(&mut conn, "Execute"), ["SELECT * FROM t WHERE n > 1"]);
    conn.query_drop("TRUNCATE TABLE mysql.general_log").unwrap();
    assert_eq!(general(&mut conn, "Execute"), [""; 0]);
    let left: u64 = conn.query_first("SELECT COUNT(*) FROM mysql.slow_log").unwrap().unwrap();
    assert!(left >= 5, "{left}");
    conn.query_drop("DELETE FROM mysql.slow_log").unwrap_err();
}

#[test]
fn entries_have_more_if_wanted_and_statements_without_index_a_limit() {
    let server = Server::start();
    // It outlives the server.
    let directory = Arc::clone(&server.directory);
    let path = directory.path().join("slow");
    let mut conn = three_rows(&server);
    conn.query_drop(format!(
        "SET GLOBAL slow_query_log_file = '{}', GLOBAL slow_query_log = ON, GLOBAL log_slow_extra = ON, \
         GLOBAL log_queries_not_using_indexes = ON, GLOBAL log_throttle_queries_not_using_indexes = 2",
        path.display()
    ))
    .unwrap();
    conn.query_drop("SET long_query_time = 1000").unwrap();
    for n in 0..5 {
        conn.query_drop(format!("SELECT n FROM d.t WHERE n <> {n} ORDER BY n")).unwrap();
    }
    conn.query_drop("SET GLOBAL log_throttle_queries_not_using_indexes = 0, SESSION long_query_time = 0").unwrap();
    conn.query_drop("SET long_query_time = 1000").unwrap();
    conn.query_drop("SELECT n FROM d.t WHERE n = 9").unwrap();
    conn.query_drop("SET long_query_time = 0").unwrap();
    conn.query_drop("SELECT nothing FROM d.t").unwrap_err();
    let id = conn.connection_id();
    drop(conn);
    drop(server);
    let text = read(&path);
    let found = entries(&text);
    let count = |wanted: &str| found.iter().filter(|entry| entry.contains(wanted)).count();
    assert_eq!((count("n <> "), count("n = 9")), (2, 1), "{text}");
    assert_eq!(count("throttle:          3 'index not used' warning(s) suppressed.;"), 1, "{text}");
    let head = |statement: &str| {
        let (head, _) = text.split_once(statement).unwrap();
        head.rsplit_once("# Query_time").unwrap().1.to_owned()
    };
    let sorted = head("SELECT n FROM d.t WHERE n <> 0 ORDER BY n;");
    assert!(sorted.contains(&format!(" Thread_id: {id} Errno: 0 Killed: 0 Bytes_received: 0 Bytes_sent: ")), "{sorted}");
    assert!(sorted.contains("Sort_merge_passes: 0 Sort_range_count: 0 Sort_rows: 3 Sort_scan_count: 1 "), "{sorted}");
    let sent: u64 = sorted.split_once("Bytes_sent: ").unwrap().1.split(' ').next().unwrap().parse().unwrap();
    assert!((30..300).contains(&sent), "{sorted}");
    assert!(head("SELECT nothing FROM d.t;").contains("Errno: 1054 Killed: 0"), "{text}");
}
