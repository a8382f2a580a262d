//! Which part of a statement takes its processor time.

use super::*;

/// CPU time and the phases in their order, of a digest that begins so.
fn phases(conn: &mut Conn, like: &str) -> (u64, [u64; 6]) {
    let row: Row = conn
        .exec_first(
            "SELECT p.SUM_CPU_TIME, p.SUM_DECODE_TIME, p.SUM_PARSE_TIME, p.SUM_PLAN_TIME, p.SUM_EXECUTE_TIME, p.SUM_ENCODE_TIME, \
             p.SUM_COMMIT_TIME FROM performance_schema.heddle_phases_by_digest p \
             JOIN performance_schema.events_statements_summary_by_digest s USING (SCHEMA_NAME, DIGEST) \
             WHERE SCHEMA_NAME = 'p' AND s.DIGEST_TEXT LIKE ?",
            (like,),
        )
        .unwrap()
        .unwrap_or_else(|| panic!("no statement like {like}"));
    let [cpu, phases @ ..]: [u64; 7] = std::array::from_fn(|place| row.get(place).unwrap());
    (cpu, phases)
}

#[test]
fn the_phases_of_a_statement_add_up_to_its_cpu_time() {
    let server = Server::start();
    let mut conn = server.connect();
    for statement in [
        "CREATE DATABASE p",
        "USE p",
        "CREATE TABLE t (id INT PRIMARY KEY, n INT)",
        "INSERT INTO t VALUES (1, 0), (2, 0)",
        "CREATE PROCEDURE twice(a INT) BEGIN UPDATE t SET n = a WHERE id = 1; SELECT n FROM t WHERE id = 2; END",
    ] {
        conn.query_drop(statement).unwrap();
    }
    for n in 0..50 {
        conn.exec_drop("UPDATE t SET n = n + ? WHERE id = 1", (n,)).unwrap();
        conn.exec_drop("SELECT n FROM t WHERE id = ?", (1,)).unwrap();
        conn.query_drop(format!("SELECT id, n FROM t WHERE id < {n}")).unwrap();
        conn.query_drop("SELECT n, SLEEP(0.001) FROM t WHERE id = 2").unwrap();
        conn.query_drop("BEGIN").unwrap();
        conn.query_drop(format!("DELETE FROM t WHERE id = {}", n + 10)).unwrap();
        conn.query_drop("COMMIT").unwrap();
        conn.query_drop("SHOW TABLES").unwrap();
        conn.query_drop("CALL twice(3)").unwrap();
        conn.query_drop("SELECT nothing FROM t").unwrap_err();
    }
    let rows: usize = conn
        .query_fold(
            "WITH RECURSIVE n (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 900) SELECT a FROM n",
            0,
            |sum, _: u64| sum + 1,
        )
        .unwrap();
    assert_eq!(rows, 900);

    let digests: Vec<Row> =
        conn.query("SELECT * FROM performance_schema.heddle_phases_by_digest WHERE SCHEMA_NAME = 'p'").unwrap();
    assert!(digests.len() >= 12, "{digests:?}");
    for row in digests {
        let number = |name: &str| row.get::<u64, _>(name).unwrap();
        let (count, cpu) = (number("COUNT_STAR"), number("SUM_CPU_TIME"));
        let sum: u64 =
            ["DECODE", "PARSE", "PLAN", "EXECUTE", "ENCODE", "COMMIT"].iter().map(|of| number(&format!("SUM_{of}_TIME"))).sum();
        // Each is rounded down to a picosecond; a wait of no ticks counts as one.
        assert!(sum.abs_diff(cpu) <= 6 + 1000 * count, "{sum} of {cpu}: {row:?}");
    }
    let has = |conn: &mut Conn, like: &str, expected: [bool; 6]| {
        let (_, phases) = phases(conn, like);
        assert_eq!(phases.map(|time| time > 0), expected, "{like}: {phases:?}");
    };
    // Prepared: the values are decoded; its text is parsed and planned when it is prepared, and again for the types of its values.
    let (_, update) = phases(&mut conn, "UPDATE `t` SET `n` = `n` + ?%");
    assert!(update[0] > 0 && update[1] == 0 && update[3] > 0 && update[5] > 0, "{update:?}");
    let (_, select) = phases(&mut conn, "SELECT `n` FROM `t` WHERE `id` = ?");
    assert!(select[0] > 0 && select[1] == 0 && select[4] > 0, "{select:?}");
    has(&mut conn, "SELECT `id` , `n` FROM `t` WHERE `id` < ?", [false, true, true, true, true, true]);
    // COMMIT has that phase, the statements before it do not.
    has(&mut conn, "DELETE FROM `t` WHERE `id` = ?", [false, true, true, true, true, false]);
    let (_, commit) = phases(&mut conn, "COMMIT");
    assert!(commit[1] > 0 && commit[5] > 0, "{commit:?}");
    // The waits of SLEEP are in no phase.
    let (cpu, sleep) = phases(&mut conn, "SELECT `n` , `SLEEP` (%");
    let time: u64 = one(
        &mut conn,
        "SELECT SUM_TIMER_WAIT FROM performance_schema.events_statements_summary_by_digest WHERE SCHEMA_NAME = 'p' \
         AND DIGEST_TEXT LIKE 'SELECT `n` , `SLEEP` (%'",
    );
    assert!(cpu < time / 2 && sleep.iter().sum::<u64>() < time / 2, "{cpu} and {sleep:?} of {time}");
    conn.query_drop("TRUNCATE performance_schema.events_statements_summary_by_digest").unwrap();
    let left: u64 = one(&mut conn, "SELECT COUNT(*) FROM performance_schema.heddle_phases_by_digest WHERE SCHEMA_NAME = 'p'");
    assert!(left <= 1, "{left}");
}
