//! Distributed transactions over crashes: what XA PREPARE acknowledged is there after `kill -9`, whole and locked, until somebody ends it.
//!
//! Threads run branches that move money between accounts and insert a marker with a large value. Each branch is prepared, and then committed or
//! rolled back, by the same connection or by another one, or left alone. The server is killed in the middle. After the start:
//!
//! 1. every branch whose XA PREPARE was answered, and whose end was not sent, is named by XA RECOVER; no branch that was ended is;
//! 2. the marker of a committed branch is there, that of a branch that is rolled back or prepared is not; no other session gets a row of a prepared one;
//! 3. the branches are ended, half and half; the sum of the money is as it was, every marker is as its branch ended, and CHECK TABLE is content.

use clap::Parser;
use mysql::Conn;
use mysql::prelude::Queryable;
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tests::{Report, Server, ServerOptions};

const ACCOUNTS: u64 = 200;
const THREADS: u64 = 6;
const NOTE_BYTES: u64 = 20_000;

/// How far a branch has come, as its client knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// XA PREPARE was sent.
    Preparing,
    Prepared,
    /// XA COMMIT, or XA ROLLBACK, was sent.
    Ending {
        commits: bool,
    },
    Ended {
        commits: bool,
    },
}

type Known = Mutex<BTreeMap<u64, State>>;

#[derive(Parser)]
#[command(about = "Kills a server that runs distributed transactions, and looks at what is prepared afterwards")]
struct Arguments {
    /// How often the server is killed
    #[arg(long, default_value_t = 3)]
    rounds: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let directory = std::env::temp_dir().join(format!("heddle-xa-{}", std::process::id()));
    if let Err(why) = run(&mut report, &directory, arguments.rounds) {
        report.fail("xa", why);
    }
    if report.failed == 0 {
        // The log is of interest only after a failure.
        let _ = std::fs::remove_dir_all(&directory);
    }
    report.finish()
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn run(report: &mut Report, directory: &std::path::Path, rounds: u64) -> Result<(), String> {
    let mut options = ServerOptions { durability: "full".into(), ..ServerOptions::new(directory) };
    options.extra = ["--log-bin", "on"].map(str::to_owned).to_vec();
    let mut server = Server::start(&options)?;
    let mut conn = server.connect().map_err(text)?;
    for statement in [
        "CREATE DATABASE bank",
        "CREATE TABLE bank.account (id INT PRIMARY KEY, amount BIGINT NOT NULL, touched INT NOT NULL DEFAULT 0, KEY (touched))",
        "CREATE TABLE bank.marker (branch INT PRIMARY KEY, note LONGTEXT)",
    ] {
        conn.query_drop(statement).map_err(text)?;
    }
    let rows: Vec<String> = (0..ACCOUNTS).map(|id| format!("({id}, 1000, 0)")).collect();
    conn.query_drop(format!("INSERT INTO bank.account VALUES {}", rows.join(", "))).map_err(text)?;
    let (known, next) = (Known::default(), AtomicU64::new(1));
    for round in 1..=rounds {
        let pause = Duration::from_millis(400 + round % 10 * 130);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (server, known, next) = (&server, &known, &next);
                // A thread ends when its connection does.
                scope.spawn(move || branches(server, known, next, thread + round * THREADS));
            }
            std::thread::sleep(pause);
            server_dies(&server);
        });
        server = Server::start(&options)?;
        let mut conn = server.connect().map_err(text)?;
        report.case(&format!("round {round}: what was prepared is there after kill -9"), || recovered(&mut conn, &known));
        report.case(&format!("round {round}: no row of a prepared branch is to be had"), || locked(&server, &mut conn));
        report.case(&format!("round {round}: all is as the branches ended"), || settled(&mut conn, &known));
    }
    server.stop()
}

fn server_dies(server: &Server) {
    let pid = server.pid().to_string();
    // What it prints, or whether the process is gone already, does not matter.
    let _ = std::process::Command::new("kill").args(["-9", &pid]).status();
}

fn branches(server: &Server, known: &Known, next: &AtomicU64, mut seed: u64) {
    let (Ok(mut first), Ok(mut second)) = (server.address.connect_to("bank"), server.address.connect_to("bank")) else { return };
    loop {
        let branch = next.fetch_add(1, Ordering::Relaxed);
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(branch);
        if one_branch(&mut first, &mut second, known, branch, seed >> 33).is_err() {
            return;
        }
    }
}

/// `Err`: the connection is lost.
fn one_branch(first: &mut Conn, second: &mut Conn, known: &Known, branch: u64, choice: u64) -> Result<(), mysql::Error> {
    let set = |state| known.lock().expect("nobody panics").insert(branch, state);
    let (from, to) = (choice % ACCOUNTS, choice / 7 % ACCOUNTS);
    // In the order of their keys, so that there are few deadlocks.
    let moves = [(from.min(to), -3_i64), (from.max(to), 3)];
    first.query_drop(format!("XA START '{branch}'"))?;
    let mut works = first.query_drop(format!("INSERT INTO marker VALUES ({branch}, REPEAT('n', {NOTE_BYTES}))"));
    for (account, by) in moves {
        works = works.and_then(|()| {
            first.query_drop(format!("UPDATE account SET amount = amount + ({by}), touched = {branch} WHERE id = {account}"))
        });
    }
    let ended = works.and_then(|()| first.query_drop(format!("XA END '{branch}'")));
    if let Err(error) = ended {
        // A deadlock has rolled it back, or a wait for a row of another branch was too long.
        let mysql::Error::MySqlError(_) = error else { return Err(error) };
        let _ = first.query_drop(format!("XA END '{branch}'"));
        return first.query_drop(format!("XA ROLLBACK '{branch}'"));
    }
    set(State::Preparing);
    first.query_drop(format!("XA PREPARE '{branch}'"))?;
    set(State::Prepared);
    if choice.is_multiple_of(11) {
        return Ok(()); // It is left alone.
    }
    let commits = !choice.is_multiple_of(3);
    let ends = if choice.is_multiple_of(5) { second } else { first };
    set(State::Ending { commits });
    ends.query_drop(format!("XA {} '{branch}'", if commits { "COMMIT" } else { "ROLLBACK" }))?;
    set(State::Ended { commits });
    Ok(())
}

fn prepared(conn: &mut Conn) -> Result<BTreeSet<u64>, String> {
    let rows: Vec<(u64, u64, u64, String)> = conn.query("XA RECOVER").map_err(text)?;
    rows.into_iter().map(|(_, _, _, data)| data.parse().map_err(|_| format!("an unknown branch: {data}"))).collect()
}

fn markers(conn: &mut Conn) -> Result<BTreeSet<u64>, String> {
    let rows: Vec<(u64, u64)> = conn.query("SELECT branch, LENGTH(note) FROM bank.marker").map_err(text)?;
    match rows.iter().find(|(_, bytes)| *bytes != NOTE_BYTES) {
        Some(row) => Err(format!("a marker is not whole: {row:?}")),
        None => Ok(rows.into_iter().map(|(branch, _)| branch).collect()),
    }
}

fn recovered(conn: &mut Conn, known: &Known) -> Result<(), String> {
    let (prepared, markers) = (prepared(conn)?, markers(conn)?);
    let mut left = 0;
    for (branch, state) in &*known.lock().expect("nobody panics") {
        let (is_prepared, is_there) = (prepared.contains(branch), markers.contains(branch));
        let fits = match state {
            State::Preparing => !is_there,
            State::Prepared => is_prepared && !is_there,
            State::Ending { commits: true } => is_there != is_prepared,
            State::Ending { commits: false } => !is_there,
            State::Ended { commits } => !is_prepared && is_there == *commits,
        };
        if !fits {
            return Err(format!("branch {branch} was {state:?}; prepared: {is_prepared}, marker: {is_there}"));
        }
        left += u32::from(is_prepared);
    }
    if left == 0 { Err("no branch was prepared when the server was killed".to_owned()) } else { Ok(()) }
}

fn locked(server: &Server, conn: &mut Conn) -> Result<(), String> {
    let all = prepared(conn)?;
    let mut other = server.address.connect_to("bank").map_err(text)?;
    other.query_drop("SET innodb_lock_wait_timeout = 1, lock_wait_timeout = 1").map_err(text)?;
    for branch in all.iter().take(2) {
        let taken = other.query_drop(format!("INSERT INTO marker VALUES ({branch}, 'mine')"));
        if !matches!(&taken, Err(mysql::Error::MySqlError(error)) if error.code == 1205) {
            return Err(format!("the row of branch {branch}: {taken:?}"));
        }
    }
    let dropped = other.query_drop("ALTER TABLE marker ADD COLUMN more INT");
    match &dropped {
        Err(mysql::Error::MySqlError(error)) if error.code == 1205 => Ok(()),
        _ => Err(format!("a definition: {dropped:?}")),
    }
}

fn settled(conn: &mut Conn, known: &Known) -> Result<(), String> {
    let mut known = known.lock().expect("nobody panics");
    for (place, branch) in prepared(conn)?.into_iter().enumerate() {
        let commits = place % 2 == 0;
        conn.query_drop(format!("XA {} '{branch}'", if commits { "COMMIT" } else { "ROLLBACK" })).map_err(text)?;
        known.insert(branch, State::Ended { commits });
    }
    let markers = markers(conn)?;
    for (branch, state) in &mut *known {
        let is_there = markers.contains(branch);
        match state {
            State::Ended { commits } if *commits != is_there => {
                return Err(format!("branch {branch} was {state:?}; marker: {is_there}"));
            }
            _ => *state = State::Ended { commits: is_there },
        }
    }
    let sum: Option<u64> = conn.query_first("SELECT SUM(amount) FROM bank.account").map_err(text)?;
    if sum != Some(ACCOUNTS * 1000) {
        return Err(format!("the sum of the money: {sum:?}"));
    }
    for table in ["account", "marker"] {
        let said: Vec<(String, String, String, String)> = conn.query(format!("CHECK TABLE bank.{table}")).map_err(text)?;
        if said.last().is_none_or(|(_, _, _, said)| said != "OK") {
            return Err(format!("{said:?}"));
        }
    }
    let left = prepared(conn)?;
    if left.is_empty() { Ok(()) } else { Err(format!("still prepared: {left:?}")) }
}
