//! Large values, which lie outside of their rows, beside writers that exchange them: a reader that locks must meet a row and its value of the same
//! version, and never what another session has not committed.
//!
//! Every committed value is as long as its row says. Values of transactions that are rolled back are longer by one.

use crate::DATABASE;
use crate::families::Random;
use mysql::prelude::Queryable;
use mysql::{Conn, Error};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tests::Address;

const SETUP: &[&str] = &["CREATE TABLE t (id INT PRIMARY KEY, n INT NOT NULL, body LONGBLOB, KEY (n))"];
const SESSIONS: u64 = 8;
const ROWS: u64 = 3;
const LASTS: Duration = Duration::from_secs(4);
const LEVELS: [&str; 2] = ["REPEATABLE READ", "READ COMMITTED"];

pub fn storm(address: &Address) -> Result<(), String> {
    crate::session::prepare(address, SETUP)?;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stop = &stop;
        let sessions: Vec<_> = (0..SESSIONS).map(|number| scope.spawn(move || session(address, number, stop))).collect();
        sessions.into_iter().try_for_each(|session| session.join().map_err(|_| "a session panicked".to_owned())?)
    })
}

fn session(address: &Address, number: u64, stop: &AtomicBool) -> Result<(), String> {
    let outcome = changes(address, number, stop);
    stop.store(true, Ordering::Relaxed);
    outcome
}

fn changes(address: &Address, number: u64, stop: &AtomicBool) -> Result<(), String> {
    let mut random = Random::new(number);
    let mut conn = address.connect_to(DATABASE).map_err(|e| e.to_string())?;
    let level = LEVELS[(number % 2) as usize];
    run(&mut conn, &format!("SET SESSION TRANSACTION ISOLATION LEVEL {level}"))?;
    let begun = Instant::now();
    while begun.elapsed() < LASTS && !stop.load(Ordering::Relaxed) {
        let id = random.below(ROWS);
        // Short ones stay in the row.
        let n = if random.below(3) == 0 { random.below(100) } else { 9_000 + random.below(60_000) };
        match random.below(12) {
            0..=2 => run(&mut conn, &format!("REPLACE INTO t VALUES ({id}, {n}, REPEAT('g', {n}))"))?,
            3 => run(&mut conn, &format!("UPDATE t SET n = {n}, body = REPEAT('g', {n}) WHERE id = {id}"))?,
            4 => {
                run(&mut conn, &format!("UPDATE t SET n = n + 1, body = CONCAT(body, 'g') WHERE id = {id} AND LENGTH(body) > 5"))?
            }
            5 => run(&mut conn, &format!("DELETE FROM t WHERE id = {id} AND body LIKE 'g%'"))?,
            6 => run(&mut conn, &format!("DELETE FROM t WHERE id = {id}"))?,
            7 => {
                run(&mut conn, "BEGIN")?;
                run(&mut conn, &format!("UPDATE t SET body = REPEAT('g', {n} + 1), n = {n} WHERE id = {id}"))?;
                run(&mut conn, "ROLLBACK")?;
            }
            8 => {
                run(&mut conn, "BEGIN")?;
                run(&mut conn, &format!("REPLACE INTO t VALUES ({id}, {n}, REPEAT('g', {n} + 1))"))?;
                run(&mut conn, "ROLLBACK")?;
            }
            9 => look(&mut conn, &format!("SELECT n, LENGTH(body) FROM t WHERE id = {id} FOR UPDATE"))?,
            10 => look(&mut conn, &format!("SELECT n, LENGTH(body) FROM t WHERE n >= {n} LIMIT 1 FOR SHARE"))?,
            _ => look(&mut conn, "SELECT n, LENGTH(body) FROM t FOR UPDATE SKIP LOCKED")?,
        }
    }
    Ok(())
}

/// Deadlocks and waits that end are the server's right.
fn run(conn: &mut Conn, sql: &str) -> Result<(), String> {
    match conn.query_drop(sql) {
        Ok(()) => Ok(()),
        Err(Error::MySqlError(error)) if [1205, 1213].contains(&error.code) => Ok(()),
        Err(error) => Err(format!("{sql}: {error}")),
    }
}

fn look(conn: &mut Conn, sql: &str) -> Result<(), String> {
    match conn.query::<(u64, u64), _>(sql) {
        Ok(rows) => match rows.iter().find(|(n, length)| n != length) {
            None => Ok(()),
            Some((n, length)) => Err(format!("{sql}: a value of {length} bytes, and its row says {n}")),
        },
        Err(Error::MySqlError(error)) if [1205, 1213].contains(&error.code) => Ok(()),
        Err(error) => Err(format!("{sql}: {error}")),
    }
}
