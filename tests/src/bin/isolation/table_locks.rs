//! LOCK TABLES, FLUSH TABLES WITH READ LOCK and LOCK INSTANCE FOR BACKUP: which session waits for which, and what holds under load.
//!
//! Under load some sessions add one to a number without locks, others read it, add one themselves and write it back under a WRITE lock;
//! some move amounts between rows, and others read twice under read locks and must see the same. Tables are altered under locks, and sessions
//! go away with theirs. At the end the number is that of the additions, and the sum of the amounts is what it was.

use crate::DATABASE;
use crate::families::Random;
use crate::scenarios::{Scenario, WAITS, at, end_at};
use mysql::Conn;
use mysql::prelude::Queryable;
use std::sync::atomic::{AtomicI64, Ordering};
use tests::Address;

const DONE: &str = "0 rows";
const TWO: &[&str] =
    &["CREATE TABLE t (id INT PRIMARY KEY, v INT)", "CREATE TABLE u (id INT PRIMARY KEY)", "INSERT INTO t VALUES (1, 1)"];

pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "lock tables write",
        setup: TWO,
        steps: &[
            at('a', "LOCK TABLES t WRITE", DONE),
            at('b', "SELECT v FROM t WHERE id = 1", WAITS),
            at('c', "INSERT INTO t VALUES (2, 2)", WAITS),
            at('d', "SELECT COUNT(*) FROM u", "0"),
            at('a', "UPDATE t SET v = 5", "1 rows"),
            at('a', "UNLOCK TABLES", DONE),
            end_at('b', "5"),
            end_at('c', "1 rows"),
            at('a', "LOCK TABLES u WRITE", DONE),
            at('d', "LOCK TABLES t READ, u WRITE", WAITS),
            at('b', "UPDATE t SET v = 6 WHERE id = 1", "1 rows"),
            at('c', "SELECT * FROM u", WAITS),
            at('a', "START TRANSACTION", DONE),
            at('d', "", DONE),
            at('d', "UNLOCK TABLES", DONE),
            end_at('c', "-"),
        ],
    },
    Scenario {
        name: "lock tables read",
        setup: TWO,
        steps: &[
            at('a', "LOCK TABLES t READ", DONE),
            at('b', "LOCK TABLES t READ", DONE),
            at('c', "UPDATE t SET v = 2", WAITS),
            at('d', "SELECT * FROM t", "1,1"),
            at('a', "UNLOCK TABLES", DONE),
            at('a', "SELECT * FROM t", "1,1"),
            at('b', "UNLOCK TABLES", DONE),
            end_at('c', "1 rows"),
            at('d', "SELECT * FROM t", "1,2"),
        ],
    },
    Scenario {
        name: "a reader that writes later",
        setup: TWO,
        steps: &[
            at('a', "BEGIN", DONE),
            at('a', "SELECT * FROM t", "1,1"),
            at('b', "LOCK TABLES t READ", DONE),
            at('a', "UPDATE t SET v = 2", WAITS),
            at('b', "SELECT * FROM t", "1,1"),
            at('b', "UNLOCK TABLES", DONE),
            end_at('a', "1 rows"),
            at('b', "LOCK TABLES t READ", WAITS),
            at('a', "COMMIT", DONE),
            end_at('b', DONE),
            at('b', "SELECT * FROM t", "1,2"),
        ],
    },
    Scenario {
        // More definitions wait than there are threads for them.
        name: "an own definition behind others that wait",
        setup: TWO,
        steps: &[
            at('a', "LOCK TABLES t WRITE", DONE),
            at('b', "ALTER TABLE t ADD b INT", WAITS),
            at('c', "ALTER TABLE t ADD c INT", WAITS),
            at('d', "ALTER TABLE t ADD d INT", WAITS),
            at('e', "ALTER TABLE t ADD e INT", WAITS),
            at('f', "ALTER TABLE t ADD f INT", WAITS),
            at('a', "ALTER TABLE t ADD INDEX (v)", DONE),
            at('a', "ALTER TABLE t DISABLE KEYS", DONE),
            at('a', "UNLOCK TABLES", DONE),
            end_at('b', DONE),
            end_at('c', DONE),
            end_at('d', DONE),
            end_at('e', DONE),
            end_at('f', DONE),
        ],
    },
    Scenario {
        name: "a lock waits for a definition",
        setup: TWO,
        steps: &[
            at('a', "BEGIN", DONE),
            at('a', "SELECT * FROM t", "1,1"),
            at('b', "ALTER TABLE t ADD b INT", WAITS),
            at('c', "LOCK TABLES t WRITE", WAITS),
            at('a', "SELECT COUNT(*) FROM u", "0"),
            at('a', "COMMIT", DONE),
            end_at('b', DONE),
            end_at('c', DONE),
            at('c', "SELECT * FROM t", "1,1,NULL"),
        ],
    },
    Scenario {
        name: "flush tables with read lock",
        setup: TWO,
        steps: &[
            at('b', "BEGIN", DONE),
            at('b', "UPDATE t SET v = 2", "1 rows"),
            at('a', "FLUSH TABLES WITH READ LOCK", WAITS),
            at('c', "SELECT * FROM t", "1,1"),
            at('b', "COMMIT", DONE),
            end_at('a', DONE),
            at('a', "SELECT * FROM t", "1,2"),
            at('b', "UPDATE t SET v = 3", WAITS),
            at('c', "CREATE TABLE w (id INT)", WAITS),
            at('d', "CREATE USER waiter", WAITS),
            at('e', "CREATE TEMPORARY TABLE mine (id INT)", DONE),
            at('e', "INSERT INTO mine VALUES (1)", "1 rows"),
            at('e', "FLUSH TABLES WITH READ LOCK", DONE),
            at('a', "START TRANSACTION WITH CONSISTENT SNAPSHOT", DONE),
            at('a', "UNLOCK TABLES", DONE),
            at('e', "SELECT * FROM t", "1,2"),
            at('e', "UNLOCK TABLES", DONE),
            end_at('b', "1 rows"),
            end_at('c', DONE),
            end_at('d', DONE),
            at('a', "SELECT * FROM t", "1,2"),
            at('d', "DROP USER waiter", DONE),
        ],
    },
    Scenario {
        name: "lock instance for backup",
        setup: TWO,
        steps: &[
            at('a', "LOCK INSTANCE FOR BACKUP", DONE),
            at('b', "UPDATE t SET v = 3", "1 rows"),
            at('b', "TRUNCATE u", WAITS),
            at('c', "LOCK INSTANCE FOR BACKUP", DONE),
            at('a', "UNLOCK INSTANCE", DONE),
            at('d', "ALTER TABLE u COMMENT 'either may be first'", WAITS),
            at('c', "UNLOCK INSTANCE", DONE),
            end_at('b', DONE),
            end_at('d', DONE),
        ],
    },
    Scenario {
        name: "a backup and who has locked tables wait for each other",
        setup: TWO,
        steps: &[
            at('a', "LOCK INSTANCE FOR BACKUP", DONE),
            at('b', "LOCK TABLES t WRITE", DONE),
            at('b', "ALTER TABLE t ADD b INT", WAITS),
            at('a', "FLUSH TABLES WITH READ LOCK", WAITS),
            end_at('b', "error 1213"),
            at('b', "ALTER TABLE t ADD b INT", "error 1213"),
            at('b', "UNLOCK TABLES", DONE),
            end_at('a', DONE),
            at('a', "UNLOCK TABLES", DONE),
            at('b', "LOCK TABLES t WRITE", DONE),
            at('b', "ALTER TABLE t ADD b INT", WAITS),
            at('a', "LOCK TABLES t READ", WAITS),
            end_at('b', "error 1213"),
            at('b', "ALTER TABLE t ADD b INT", "error 1213"),
            at('b', "UNLOCK TABLES", DONE),
            end_at('a', DONE),
            at('a', "UNLOCK TABLES", DONE),
            at('b', "LOCK TABLES t WRITE", DONE),
            at('b', "ALTER TABLE t ADD b INT", WAITS),
            at('a', "INSERT INTO t VALUES (2, 2)", "error 1213"),
            at('a', "SELECT COUNT(*) FROM u", "0"),
            at('a', "UNLOCK INSTANCE", DONE),
            end_at('b', DONE),
            at('b', "UNLOCK TABLES", DONE),
            at('a', "SELECT * FROM t", "1,1,NULL"),
        ],
    },
];

const SETUP: &[&str] = &[
    "CREATE TABLE number (id INT PRIMARY KEY, v BIGINT)",
    "INSERT INTO number VALUES (1, 0)",
    "CREATE TABLE amount (id INT PRIMARY KEY, v BIGINT)",
    "INSERT INTO amount VALUES (1, 100), (2, 100), (3, 100), (4, 100)",
];
const AMOUNTS: i64 = 400;
const SESSIONS: u64 = 6;
const ROUNDS: u64 = 60;

/// Runs the load and compares.
pub fn storm(address: &Address) -> Result<(), String> {
    crate::session::prepare(address, SETUP)?;
    let added = AtomicI64::new(0);
    let outcome: Result<(), String> = std::thread::scope(|scope| {
        let added = &added;
        let sessions: Vec<_> = (0..SESSIONS).map(|number| scope.spawn(move || session(address, number, added))).collect();
        sessions.into_iter().try_for_each(|session| session.join().map_err(|_| "a session panicked".to_owned())?)
    });
    outcome?;
    let mut conn = address.connect_to(DATABASE).map_err(|e| e.to_string())?;
    let (number, amounts) = (ask(&mut conn, NUMBER)?, ask(&mut conn, SUM)?);
    let added = added.load(Ordering::Relaxed);
    if number == added && amounts == AMOUNTS {
        Ok(())
    } else {
        Err(format!("the number is {number} after {added} additions, the amounts are {amounts} of {AMOUNTS}"))
    }
}

const NUMBER: &str = "SELECT v FROM number";
const SUM: &str = "SELECT CAST(SUM(v) AS SIGNED) FROM amount";

fn session(address: &Address, number: u64, added: &AtomicI64) -> Result<(), String> {
    let connect = || address.connect_to(DATABASE).map_err(|e| e.to_string());
    let mut random = Random::new(number);
    let mut conn = connect()?;
    for _ in 0..ROUNDS {
        match random.below(10) {
            0 | 1 => {
                run(&mut conn, "UPDATE number SET v = v + 1")?;
                added.fetch_add(1, Ordering::Relaxed);
            }
            2 | 3 => {
                run(&mut conn, "LOCK TABLES number WRITE")?;
                let v = ask(&mut conn, NUMBER)?;
                run(&mut conn, &format!("UPDATE number SET v = {}", v + 1))?;
                added.fetch_add(1, Ordering::Relaxed);
                run(&mut conn, "UNLOCK TABLES")?;
            }
            4 | 5 => {
                let (from, to) = (1 + random.below(3), 4);
                run(&mut conn, "BEGIN")?;
                run(&mut conn, &format!("UPDATE amount SET v = v - 7 WHERE id = {from}"))?;
                run(&mut conn, &format!("UPDATE amount SET v = v + 7 WHERE id = {to}"))?;
                run(&mut conn, "COMMIT")?;
            }
            6 => twice_alike(&mut conn, "LOCK TABLES number READ, amount READ")?,
            7 => twice_alike(&mut conn, "FLUSH TABLES WITH READ LOCK")?,
            8 => {
                run(&mut conn, "LOCK TABLES number WRITE, amount WRITE")?;
                run(&mut conn, &format!("ALTER TABLE amount ADD c{number} INT"))?;
                run(&mut conn, &format!("ALTER TABLE amount DROP c{number}"))?;
                run(&mut conn, "UNLOCK TABLES")?;
            }
            _ => {
                // The end of the session releases the lock and rolls back.
                run(&mut conn, "SET autocommit = 0")?;
                run(&mut conn, "LOCK TABLES amount WRITE")?;
                run(&mut conn, "UPDATE amount SET v = v + 1000")?;
                conn = connect()?;
            }
        }
    }
    Ok(())
}

/// Reads twice under a lock that keeps writers out.
fn twice_alike(conn: &mut Conn, lock: &str) -> Result<(), String> {
    run(conn, lock)?;
    let read = |conn: &mut Conn| Ok::<_, String>((ask(conn, NUMBER)?, ask(conn, SUM)?));
    let first = read(conn)?;
    run(conn, "DO SLEEP(0.003)")?;
    let second = read(conn)?;
    run(conn, "UNLOCK TABLES")?;
    if first == second && first.1 == AMOUNTS { Ok(()) } else { Err(format!("after {lock}: {first:?}, then {second:?}")) }
}

fn run(conn: &mut Conn, sql: &str) -> Result<(), String> {
    conn.query_drop(sql).map_err(|e| format!("{sql}: {e}"))
}

fn ask(conn: &mut Conn, sql: &str) -> Result<i64, String> {
    let answer: Option<i64> = conn.query_first(sql).map_err(|e| format!("{sql}: {e}"))?;
    answer.ok_or_else(|| format!("{sql}: no row"))
}
