//! The clients: transfers between accounts, events, tables that come and go, and transactions that never end.

use crate::model::{ACCOUNT_TABLES, ACCOUNTS, Change, Events, Models, NEVER, OPENING_BALANCE, RESERVED, Transfers, payload};
use crate::side;
use mysql::prelude::Queryable;
use mysql::{Conn, Error};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tests::Address;

pub const DATABASE: &str = "crash";

/// Lock wait timeout and deadlock: the statement or transaction may be tried again.
const RETRY: &[u16] = &[1205, 1213];

/// How a client's step ended.
pub enum Step {
    Done,
    /// Nothing happened; try something else.
    Again,
    /// The server is gone.
    Gone,
    Failed(String),
}

/// Sorts errors into three kinds: the server was killed, the statement may be tried again, and failures.
pub fn sort_error(error: &Error, doing: &str) -> Step {
    match error {
        Error::MySqlError(e) if RETRY.contains(&e.code) => Step::Again,
        Error::MySqlError(e) => Step::Failed(format!("{doing}: {} {}", e.code, e.message)),
        _ => Step::Gone,
    }
}

/// Makes the database and its accounts.
pub fn create(address: &Address) -> Result<(), String> {
    let fail = |e: Error| e.to_string();
    let mut conn = address.connect().map_err(fail)?;
    conn.query_drop(format!("DROP DATABASE IF EXISTS {DATABASE}")).map_err(fail)?;
    conn.query_drop(format!("CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")).map_err(fail)?;
    conn.select_db(DATABASE).map_err(fail)?;
    for table in ACCOUNT_TABLES {
        conn.query_drop(format!(
            "CREATE TABLE {table} (id INT PRIMARY KEY, owner VARCHAR(20) NOT NULL, balance BIGINT NOT NULL, note VARCHAR(400),
             KEY owner (owner), KEY balance (balance))"
        ))
        .map_err(fail)?;
        let rows: Vec<String> =
            (0..ACCOUNTS).map(|id| format!("({id}, 'owner {}', {OPENING_BALANCE}, REPEAT('n', {}))", id % 50, id * 2)).collect();
        conn.query_drop(format!("INSERT INTO {table} VALUES {}", rows.join(", "))).map_err(fail)?;
    }
    conn.query_drop(
        "CREATE TABLE ledger (id BIGINT AUTO_INCREMENT PRIMARY KEY, client INT NOT NULL, seq INT NOT NULL, amount INT NOT NULL,
         UNIQUE KEY client_seq (client, seq), KEY amount (amount))",
    )
    .map_err(fail)?;
    conn.query_drop(
        "CREATE TABLE events (client INT NOT NULL, k INT NOT NULL, version INT NOT NULL, payload MEDIUMTEXT NOT NULL,
         PRIMARY KEY (client, k), KEY version_client (version, client))",
    )
    .map_err(fail)
}

/// Runs all clients for `time`, then calls `end`, and waits for them. What went wrong comes back.
pub fn run(models: &mut Models, address: &Address, seed: u64, time: Duration, end: impl FnOnce()) -> Vec<String> {
    let stop = AtomicBool::new(false);
    let mut failures = Vec::new();
    let Models { transfers, events, side } = models;
    std::thread::scope(|scope| {
        let stop = &stop;
        let mut threads = Vec::new();
        for (client, model) in transfers.iter_mut().enumerate() {
            threads
                .push(scope.spawn(move || {
                    client_loop(address, stop, seed ^ client as u64, |c, r| transfer(c, r, client as u32, model))
                }));
        }
        for (client, model) in events.iter_mut().enumerate() {
            let seed = seed ^ 1000 ^ client as u64;
            threads.push(scope.spawn(move || client_loop(address, stop, seed, |c, r| change_events(c, r, client as u32, model))));
        }
        threads.push(scope.spawn(move || client_loop(address, stop, seed ^ 2000, |c, r| side::step(c, r, side))));
        threads.push(scope.spawn(move || never_commits(address, stop, seed ^ 3000)));
        std::thread::sleep(time);
        end();
        stop.store(true, Ordering::Relaxed); // Relaxed: clients may notice late
        failures = threads.into_iter().filter_map(|t| t.join().expect("clients do not panic")).collect();
    });
    failures
}

/// One client until the end; its failure, if any.
fn client_loop(
    address: &Address,
    stop: &AtomicBool,
    seed: u64,
    mut step: impl FnMut(&mut Conn, &mut StdRng) -> Step,
) -> Option<String> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut conn = address.connect_to(DATABASE).ok()?;
    if let Err(e) = conn.query_drop("SET innodb_lock_wait_timeout = 2") {
        return failure(&e, "SET");
    }
    while !stop.load(Ordering::Relaxed) {
        match step(&mut conn, &mut rng) {
            Step::Done => {}
            Step::Again => {
                if let Err(e) = conn.query_drop("ROLLBACK") {
                    return failure(&e, "ROLLBACK");
                }
            }
            Step::Gone => return None,
            Step::Failed(why) => return Some(why),
        }
    }
    None
}

fn failure(error: &Error, doing: &str) -> Option<String> {
    match sort_error(error, doing) {
        Step::Failed(why) => Some(why),
        _ => None,
    }
}

/// Moves money between two accounts of any tables, with two ledger rows; one in ten is rolled back.
fn transfer(conn: &mut Conn, rng: &mut StdRng, client: u32, model: &mut Transfers) -> Step {
    let number = model.next;
    model.next += 1;
    let roll_back = rng.random_range(0..10) == 0;
    model.in_flight = (!roll_back).then_some(number);
    let outcome = try_transfer(conn, rng, client, number, roll_back);
    match outcome {
        Ok(()) => {
            if !roll_back {
                model.acknowledged.insert(number);
            }
            model.in_flight = None;
            Step::Done
        }
        Err(e) => {
            let step = sort_error(&e, "transfer");
            if !matches!(step, Step::Gone) {
                model.in_flight = None; // an error answer: it did not happen
            }
            step
        }
    }
}

fn try_transfer(conn: &mut Conn, rng: &mut StdRng, client: u32, number: u32, roll_back: bool) -> Result<(), Error> {
    let mut pick = || (ACCOUNT_TABLES[rng.random_range(0..ACCOUNT_TABLES.len())], rng.random_range(0..ACCOUNTS - RESERVED));
    let (from, from_id) = pick();
    let (to, to_id) = pick();
    let amount: i64 = rng.random_range(1..100);
    conn.query_drop("BEGIN")?;
    if rng.random_range(0..3) == 0 {
        let _: Option<i64> = conn.exec_first(format!("SELECT balance FROM {from} WHERE id = ? FOR UPDATE"), (from_id,))?;
    }
    conn.exec_drop(format!("UPDATE {from} SET balance = balance - ? WHERE id = ?"), (amount, from_id))?;
    if rng.random_range(0..5) == 0 {
        let note = "m".repeat(rng.random_range(0..400));
        conn.exec_drop(format!("UPDATE {from} SET note = ? WHERE id = ?"), (note, from_id))?;
    }
    conn.exec_drop("INSERT INTO ledger (client, seq, amount) VALUES (?, ?, ?)", (client, 2 * number, -amount))?;
    if rng.random_range(0..8) == 0 {
        conn.query_drop("SAVEPOINT halfway")?;
        conn.exec_drop(format!("UPDATE {to} SET balance = 0 WHERE id = ?"), (to_id,))?;
        conn.query_drop("ROLLBACK TO SAVEPOINT halfway")?;
    }
    conn.exec_drop(format!("UPDATE {to} SET balance = balance + ? WHERE id = ?"), (amount, to_id))?;
    conn.exec_drop("INSERT INTO ledger (client, seq, amount) VALUES (?, ?, ?)", (client, 2 * number + 1, amount))?;
    conn.query_drop(if roll_back { "ROLLBACK" } else { "COMMIT" })
}

/// Inserts, rewrites or deletes events: one by autocommit, or several in a transaction.
fn change_events(conn: &mut Conn, rng: &mut StdRng, client: u32, model: &mut Events) -> Step {
    let count = if rng.random_range(0..3) == 0 { rng.random_range(2..6) } else { 1 };
    let mut changes: Vec<Change> = Vec::new();
    for _ in 0..count {
        let key = rng.random_range(0..3_000);
        if changes.iter().any(|c| c.key == key) {
            continue;
        }
        let before = model.rows.get(&key).copied();
        let after = match before {
            Some(_) if rng.random_range(0..3) == 0 => None,
            Some(version) => Some(version + 1),
            None => Some(1),
        };
        changes.push(Change { key, before, after });
    }
    model.in_flight.clone_from(&changes);
    match try_changes(conn, client, &changes) {
        Ok(()) => {
            model.in_flight.clear();
            model.commits += 1;
            changes.into_iter().for_each(|c| model.apply(c));
            Step::Done
        }
        Err(e) => {
            let step = sort_error(&e, "events");
            if !matches!(step, Step::Gone) {
                model.in_flight.clear(); // an error answer: it did not happen
            }
            step
        }
    }
}

fn try_changes(conn: &mut Conn, client: u32, changes: &[Change]) -> Result<(), Error> {
    let several = changes.len() > 1;
    if several {
        conn.query_drop("START TRANSACTION")?;
    }
    for change in changes {
        match (change.before, change.after) {
            (None, Some(version)) => {
                let text = payload(client, change.key, version);
                let row = (client, change.key, version, text);
                conn.exec_drop("INSERT INTO events (client, k, version, payload) VALUES (?, ?, ?, ?)", row)?;
            }
            (Some(_), Some(version)) => {
                let text = payload(client, change.key, version);
                let row = (version, text, client, change.key);
                conn.exec_drop("UPDATE events SET version = ?, payload = ? WHERE client = ? AND k = ?", row)?;
            }
            _ => conn.exec_drop("DELETE FROM events WHERE client = ? AND k = ?", (client, change.key))?,
        }
    }
    if several { conn.query_drop("COMMIT") } else { Ok(()) }
}

/// Takes money away and writes rows, again and again, and never commits (C5).
fn never_commits(address: &Address, stop: &AtomicBool, seed: u64) -> Option<String> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut conn = address.connect_to(DATABASE).ok()?;
    let mut work = |conn: &mut Conn| -> Result<(), Error> {
        conn.query_drop("BEGIN")?;
        for n in 0..rng.random_range(1..300) {
            let id = ACCOUNTS - RESERVED + rng.random_range(0..RESERVED);
            let table = ACCOUNT_TABLES[rng.random_range(0..ACCOUNT_TABLES.len())];
            conn.exec_drop(format!("UPDATE {table} SET balance = balance - 7, owner = 'never' WHERE id = ?"), (id,))?;
            conn.exec_drop("INSERT INTO ledger (client, seq, amount) VALUES (?, ?, -7)", (NEVER, n))?;
            let text = payload(NEVER, n, 1);
            conn.exec_drop("INSERT INTO events (client, k, version, payload) VALUES (?, ?, 1, ?)", (NEVER, n, text))?;
        }
        let until = Instant::now() + Duration::from_millis(rng.random_range(0..400));
        while Instant::now() < until && !stop.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
        if stop.load(Ordering::Relaxed) { Ok(()) } else { conn.query_drop("ROLLBACK") }
    };
    while !stop.load(Ordering::Relaxed) {
        if let Err(e) = work(&mut conn) {
            return failure(&e, "open transaction");
        }
    }
    None
}
