//! The slowest executions of a statement, and its plans over time.

use super::*;

#[test]
fn the_slowest_executions_are_kept_with_their_values() {
    let server = Server::start();
    let mut conn = server.connect();
    for statement in
        ["CREATE DATABASE k", "USE k", "CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t VALUES (1, 0), (2, 0)"]
    {
        conn.query_drop(statement).unwrap();
    }
    for n in 0..40 {
        let pause = if n % 8 == 3 { 0.05 } else { 0.0 };
        conn.exec_drop("SELECT n, SLEEP(?) FROM t WHERE id = ? AND 'it' = 'it'", (pause, 1000 * n + 1)).unwrap();
        conn.exec_drop("SELECT n, SLEEP(?) FROM t WHERE id = ? AND 'it' = 'it'", (pause, 1)).unwrap();
        conn.query_drop(format!("UPDATE t SET n = {n} WHERE id = 2")).unwrap();
    }
    conn.query_drop("SELECT n / nothing FROM t").unwrap_err();
    conn.query_drop("CREATE USER u IDENTIFIED BY 'hidden'").unwrap();
    let slowest: Vec<(String, f64, f64, f64, u64, String, String)> = conn
        .query(
            "SELECT SQL_TEXT, TIMER_WAIT, CPU_TIME, DECODE_TIME + PARSE_TIME + PLAN_TIME + EXECUTE_TIME + ENCODE_TIME + COMMIT_TIME, \
             ROWS_SENT, WAITS, PLAN_HASH FROM performance_schema.heddle_kept_executions \
             WHERE SCHEMA_NAME = 'k' AND SQL_TEXT LIKE 'SELECT n, SLEEP%' ORDER BY TIMER_WAIT DESC",
        )
        .unwrap();
    assert_eq!(slowest.len(), 4, "{slowest:?}");
    for (text, time, cpu, phases, sent, waits, hash) in &slowest {
        assert_eq!(text, "SELECT n, SLEEP(0.05) FROM t WHERE id = 1 AND 'it' = 'it'");
        assert!(*time > 0.04e12 && *cpu < 0.5 * time && (phases - cpu).abs() < 1e6, "{time} {cpu} {phases}");
        assert!(
            *sent == 1 && waits.contains("\"event\": \"wait/synch/cond/sql/Item_func_sleep::cond\", \"count\": 1,"),
            "{waits}"
        );
        assert_eq!(hash.len(), 16);
    }
    let plans: Vec<(String, u64, String)> = conn
        .query(
            "SELECT PLAN_HASH, COUNT_STAR, PLAN FROM performance_schema.heddle_plans_by_digest \
             WHERE SCHEMA_NAME = 'k' AND DIGEST = STATEMENT_DIGEST('UPDATE t SET n = 1 WHERE id = 2')",
        )
        .unwrap();
    let [(_, 40, tree)] = &plans[..] else { panic!("{plans:?}") };
    assert!(tree.contains("using PRIMARY"), "{tree}");
    let errors: Vec<u64> =
        conn.query("SELECT MYSQL_ERRNO FROM performance_schema.heddle_kept_executions WHERE SQL_TEXT LIKE '%nothing%' AND SQL_TEXT NOT LIKE '%heddle%'").unwrap();
    assert_eq!(errors, [1054]);
    let secrets: u64 = one(
        &mut conn,
        "SELECT COUNT(*) FROM performance_schema.heddle_kept_executions WHERE SQL_TEXT LIKE '%hidden%' AND SQL_TEXT NOT LIKE '%heddle%'",
    );
    assert_eq!(secrets, 0);
    // An index that comes later makes another plan.
    let count = "SELECT COUNT(*) FROM t WHERE n > 39";
    let hashes = |conn: &mut Conn| -> Vec<(String, u64)> {
        conn.query(format!(
            "SELECT PLAN_HASH, COUNT_STAR FROM performance_schema.heddle_plans_by_digest \
             WHERE SCHEMA_NAME = 'k' AND DIGEST = STATEMENT_DIGEST('{count}') ORDER BY FIRST_SEEN"
        ))
        .unwrap()
    };
    (0..3).for_each(|_| conn.query_drop(count).unwrap());
    let before = hashes(&mut conn);
    assert!(before.len() == 1 && before[0].1 == 3, "{before:?}");
    conn.query_drop("CREATE INDEX by_n ON t (n)").unwrap();
    (0..4).for_each(|_| conn.query_drop(count).unwrap());
    let after = hashes(&mut conn);
    assert!(after.len() == 2 && after[0] == before[0] && after[1].1 == 4 && after[1].0 != after[0].0, "{after:?}");
    conn.query_drop("TRUNCATE performance_schema.events_statements_summary_by_digest").unwrap();
    let left: u64 = one(&mut conn, "SELECT COUNT(*) FROM performance_schema.heddle_plans_by_digest WHERE SCHEMA_NAME = 'k'");
    assert_eq!(left, 0);
}
