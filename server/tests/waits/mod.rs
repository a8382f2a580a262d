//! Where the time of statements goes: what they ran and what they waited for is their time, and each wait is charged to
//! what was waited for.

use super::*;

const WAITS: &str = "SELECT COALESCE(SUM(COUNT_STAR), 0) FROM performance_schema.events_waits_summary_global_by_event_name \
                     WHERE EVENT_NAME = ";

fn waits(conn: &mut Conn, event: &str) -> u64 {
    one(conn, &format!("{WAITS}'{event}'"))
}

/// Waits until one of the sessions waits so.
fn until_waiting(conn: &mut Conn, event: &str) {
    let lasting = format!("SELECT COUNT(*) FROM performance_schema.events_waits_current WHERE EVENT_NAME = '{event}'");
    let end = Instant::now() + Duration::from_secs(60);
    while one::<u64>(conn, &lasting) == 0 {
        assert!(Instant::now() < end, "nobody waits for {event}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn the_time_of_statements_adds_up_under_contention() {
    const CLIENTS: usize = 12;
    const ROUNDS: usize = 40;
    let server = Server::start();
    let mut conn = server.connect();
    conn.query_drop("CREATE DATABASE w").unwrap();
    conn.query_drop("CREATE TABLE w.t (id INT PRIMARY KEY, n INT)").unwrap();
    conn.query_drop("INSERT INTO w.t VALUES (1, 0), (2, 0)").unwrap();
    let clients: Vec<Conn> = (0..CLIENTS).map(|_| server.connect_to("w")).collect();
    std::thread::scope(|scope| {
        for mut client in clients {
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    client.query_drop("BEGIN").unwrap();
                    client.query_drop("UPDATE t SET n = n + 1 WHERE id = 1").unwrap();
                    client.query_drop("SELECT SLEEP(0.001)").unwrap();
                    client.query_drop("COMMIT").unwrap();
                }
            });
        }
    });
    assert_eq!(one::<usize>(&mut conn, "SELECT n FROM w.t WHERE id = 1"), CLIENTS * ROUNDS);
    let digests: Vec<(String, f64, f64, f64)> = conn
        .query(
            "SELECT DIGEST_TEXT, SUM_TIMER_WAIT, SUM_CPU_TIME, SUM_LOCK_TIME \
             FROM performance_schema.events_statements_summary_by_digest WHERE SCHEMA_NAME = 'w' AND COUNT_STAR >= 100",
        )
        .unwrap();
    assert_eq!(digests.len(), 4, "{digests:?}");
    for (text, time, cpu, locked) in digests {
        let named: f64 = conn
            .exec_first(
                "SELECT COALESCE(SUM(SUM_TIMER_WAIT), 0) FROM performance_schema.heddle_waits_by_digest \
                 WHERE SCHEMA_NAME = 'w' AND DIGEST = STATEMENT_DIGEST(?) AND EVENT_NAME <> 'wait/synch/cond/heddle/other'",
                (text.replace('?', "1"),),
            )
            .unwrap()
            .unwrap();
        assert!(cpu + named >= 0.95 * time, "{text}: {cpu} + {named} of {time}");
        assert!(cpu + named <= 1.0001 * time + 1e6, "{text}: {cpu} + {named} of {time}");
        assert_eq!(locked > 0.5 * time, text.starts_with("UPDATE"), "{text}: {locked} of {time}");
    }
    let objects: Vec<(String, String, String)> = conn
        .query(
            "SELECT OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME FROM performance_schema.heddle_waits_by_object \
             WHERE EVENT_NAME = 'wait/lock/heddle/row'",
        )
        .unwrap();
    assert_eq!(objects, [("w".to_owned(), "t".to_owned(), "PRIMARY".to_owned())]);
    assert_eq!(waits(&mut conn, "wait/synch/cond/sql/Item_func_sleep::cond"), (CLIENTS * ROUNDS) as u64);
    conn.query_drop("TRUNCATE performance_schema.events_waits_summary_global_by_event_name").unwrap();
    assert_eq!(waits(&mut conn, "wait/lock/heddle/row"), 0);
}

#[test]
fn each_wait_has_its_kind() {
    let server = Server::start();
    let (mut conn, mut holder) = (server.connect(), server.connect());
    for statement in ["CREATE DATABASE w", "USE w", "CREATE TABLE t (id INT PRIMARY KEY, n INT)", "INSERT INTO t VALUES (5, 0)"] {
        holder.query_drop(statement).unwrap();
    }
    let wait_for = |conn: &mut Conn, holder: &mut Conn, take: &[&str], statement: &'static str, event: &str, give: &str| {
        take.iter().for_each(|take| holder.query_drop(take).unwrap());
        let mut waiter = server.connect_to("w");
        let waiter = std::thread::spawn(move || waiter.query_drop(statement).unwrap());
        until_waiting(conn, event);
        let holds: Vec<(Option<String>, String)> = conn
            .query(format!(
                "SELECT w.OBJECT_NAME, s.SQL_TEXT FROM performance_schema.events_waits_current w \
                 JOIN performance_schema.events_statements_current s ON s.THREAD_ID = w.THREAD_ID \
                 AND s.EVENT_ID = w.NESTING_EVENT_ID WHERE w.EVENT_NAME = '{event}'"
            ))
            .unwrap();
        let before = waits(conn, event);
        holder.query_drop(give).unwrap();
        waiter.join().unwrap();
        assert!(waits(conn, event) > before, "{event}");
        holds
    };
    let changed = "UPDATE t SET n = n + 1 WHERE id = 5";
    let told = wait_for(&mut conn, &mut holder, &["BEGIN", changed], changed, "wait/lock/heddle/row", "COMMIT");
    assert_eq!(told, [(Some("t".to_owned()), changed.to_owned())]);
    let take = ["BEGIN", "SELECT * FROM t WHERE id > 7 FOR UPDATE"];
    let told = wait_for(&mut conn, &mut holder, &take, "INSERT INTO t VALUES (9, 9)", "wait/lock/heddle/gap", "COMMIT");
    assert_eq!(told, [(Some("t".to_owned()), "INSERT INTO t VALUES (9, 9)".to_owned())]);
    let take = ["LOCK TABLES t WRITE"];
    let told = wait_for(&mut conn, &mut holder, &take, "SELECT * FROM t", "wait/lock/metadata/sql/mdl", "UNLOCK TABLES");
    assert_eq!(told, [(Some("t".to_owned()), "SELECT * FROM t".to_owned())]);
    let take = ["DO GET_LOCK('a', 9)"];
    let told =
        wait_for(&mut conn, &mut holder, &take, "DO GET_LOCK('a', 99)", "wait/lock/heddle/user_lock", "DO RELEASE_LOCK('a')");
    assert_eq!(told, [(None, "DO GET_LOCK('a', 99)".to_owned())]);
    let take = ["BEGIN", "SELECT * FROM t"];
    let event = "wait/synch/cond/heddle/definition";
    let told = wait_for(&mut conn, &mut holder, &take, "ALTER TABLE t ADD COLUMN c INT", event, "COMMIT");
    assert_eq!(told, [(None, "ALTER TABLE t ADD COLUMN c INT".to_owned())]);
}

#[test]
fn a_client_that_does_not_read_is_waited_for() {
    let server = Server::start();
    let (mut conn, mut slow) = (server.connect(), server.connect());
    let event = "wait/io/socket/sql/client_connection";
    slow.query_drop("SET SESSION cte_max_recursion_depth = 1000000").unwrap();
    let rows = "WITH RECURSIVE n (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM n WHERE a < 20000) SELECT REPEAT('x', 1000) FROM n";
    let mut result = slow.query_iter(rows).unwrap();
    until_waiting(&mut conn, event);
    let mut count = 0;
    result.by_ref().for_each(|row| count += usize::from(row.is_ok()));
    drop(result);
    assert_eq!(count, 20_000);
    assert!(waits(&mut conn, event) > 0);
}

#[test]
fn a_disabled_instrument_records_nothing() {
    let server = Server::start();
    let (mut conn, mut other) = (server.connect(), server.connect());
    let set = |conn: &mut Conn, enabled: &str, name: &str| {
        conn.query_drop(format!(
            "UPDATE performance_schema.setup_instruments SET ENABLED = '{enabled}' WHERE NAME LIKE '{name}'"
        ))
        .unwrap();
    };
    let count = "SELECT COALESCE(SUM(COUNT_STAR), 0) FROM performance_schema.events_statements_summary_global_by_event_name \
                 WHERE EVENT_NAME = 'statement/sql/do'";
    let kept = "SELECT COUNT(*) FROM performance_schema.events_statements_history WHERE SQL_TEXT = 'DO 7'";
    other.query_drop("DO 7").unwrap();
    assert_eq!((one::<u64>(&mut conn, count), one::<u64>(&mut conn, kept)), (1, 1));
    set(&mut conn, "NO", "statement/sql/do");
    other.query_drop("DO 7").unwrap();
    assert_eq!((one::<u64>(&mut conn, count), one::<u64>(&mut conn, kept)), (1, 1));
    set(&mut conn, "YES", "statement/%");
    other.query_drop("DO 7").unwrap();
    assert_eq!((one::<u64>(&mut conn, count), one::<u64>(&mut conn, kept)), (2, 2));
    conn.query_drop("UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME LIKE 'events_statements_%'")
        .unwrap();
    other.query_drop("DO 7").unwrap();
    assert_eq!((one::<u64>(&mut conn, count), one::<u64>(&mut conn, kept)), (3, 0));
    let id = other.connection_id();
    drop(other);
    let end = Instant::now() + Duration::from_secs(60);
    let listed = format!("SELECT COUNT(*) FROM performance_schema.processlist WHERE ID = {id}");
    while one::<u64>(&mut conn, &listed) > 0 {
        assert!(Instant::now() < end, "the session ends");
    }
    assert_eq!(one::<u64>(&mut conn, count), 3, "the statements of an ended session count");
}

#[test]
fn a_session_that_could_run_names_whom_its_worker_served() {
    let server = Server::start_as(Arc::new(tempfile::tempdir().unwrap()), 1, None);
    let mut conn = server.connect();
    let mut other = server.connect();
    let busy = other.connection_id();
    let working = std::thread::spawn(move || {
        for _ in 0..200 {
            other.query_drop("SELECT BENCHMARK(20000, SHA2('x', 256))").unwrap();
        }
    });
    let mut named = 0u64;
    while named == 0 && !working.is_finished() {
        conn.query_drop("SELECT SLEEP(0.001)").unwrap();
        named = one(
            &mut conn,
            &format!(
                "SELECT COUNT(*) FROM performance_schema.events_waits_history WHERE EVENT_NAME = 'wait/synch/cond/heddle/ready' \
                 AND OBJECT_TYPE = 'THREAD' AND OBJECT_NAME = 'session {busy}' AND OBJECT_INSTANCE_BEGIN = {busy}"
            ),
        );
        conn.query_drop("UPDATE performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME = 'events_waits_history'")
            .unwrap();
    }
    working.join().unwrap();
    assert!(named > 0, "no wait of a session that could run names the other one");
}
