//! Statements cut from the scripts of `tests/sql` and put together in other ways, sent as text and prepared. Every statement must be answered:
//! no panic, also none that the server catches, no statement that runs on behind its limit of time, no session that is left in disorder.
//!
//! 1. A round takes a script and runs its statements in a database of its own, so that tables and programs are there.
//! 2. Behind most of them comes the statement changed (`splice`): pieces of another statement, of any script, take the place of its own; tokens
//!    vanish, are doubled or become a hostile value.
//! 3. The server's log tells of panics. The statements of the connection that met one are printed.
//!
//! S1: the seed of a round repeats it: `--seed S --rounds 1`.

#![forbid(unsafe_code)]

mod splice;

use clap::Parser;
use mysql::prelude::Queryable;
use mysql::{Conn, Error};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use splice::{Statement, read, splice};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tests::{Address, Report, Server, ServerOptions};

const DATABASE: &str = "splices";
/// `max_execution_time` is less; definitions and changes have no such limit.
const ANSWER_MAX: Duration = Duration::from_secs(60);
/// What ends sessions or the server, waits, writes files, or changes it for those who come later.
const NEVER: &[&str] = &[
    "SHUTDOWN",
    "KILL",
    "GLOBAL",
    "PERSIST",
    "USER",
    "PASSWORD",
    "ROLE",
    "GRANT",
    "REVOKE",
    "SLEEP",
    "OUTFILE",
    "DUMPFILE",
    "INFILE",
    "INSTANCE",
    "FLUSH",
    "GET_LOCK",
    "BENCHMARK",
    "MYSQL",
    "MAX_EXECUTION_TIME",
    "RESTART",
    "SET_VAR",
    "LOCK TABLE",
    "EVENT",
];

#[derive(Parser)]
#[command(about = "Sends statements that are made of pieces of others, and looks for panics")]
struct Arguments {
    #[arg(long)]
    seed: Option<u64>,
    /// Rounds at most
    #[arg(long)]
    rounds: Option<u64>,
    #[arg(long, default_value_t = 0.25)]
    minutes: f64,
    /// The scripts
    #[arg(long, default_value = "tests/sql")]
    scripts: PathBuf,
    /// Print every statement before it is sent
    #[arg(long)]
    verbose: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let folder = std::env::temp_dir().join(format!("heddle-splices-{}", std::process::id()));
    if let Err(why) = run(&arguments, &folder, &mut report) {
        report.fail("splices", why);
    }
    // Files that a test leaves in the temporary folder do no harm.
    let _ = std::fs::remove_dir_all(&folder);
    report.finish()
}

fn run(arguments: &Arguments, folder: &Path, report: &mut Report) -> Result<(), String> {
    let scripts = read(&arguments.scripts)?;
    let first = arguments.seed.unwrap_or_else(|| rand::random::<u32>().into());
    println!("seed {first}");
    let mut options = ServerOptions::new(folder);
    (options.buffer_pool, options.extra) = ("64M".into(), vec!["--workers".into(), "1".into()]);
    let mut server = Server::start(&options)?;
    let until = Instant::now() + Duration::from_secs_f64(arguments.minutes * 60.0);
    let mut sent = 0;
    let mut rounds = 0;
    for seed in first.. {
        if arguments.rounds.map_or(Instant::now() > until, |most| rounds >= most) {
            break;
        }
        let mut round =
            Round { random: StdRng::seed_from_u64(seed), scripts: &scripts, sent: Vec::new(), verbose: arguments.verbose };
        let outcome = round.run(&server.address).and_then(|()| no_panic(&server.log));
        (sent, rounds) = (sent + round.sent.len(), rounds + 1);
        if let Some(end) = server.ended() {
            report.fail(format!("seed {seed}"), format!("the server ended after {}: {end}", round.last()));
            return Ok(());
        }
        if let Err(why) = outcome {
            report.fail(format!("seed {seed}"), format!("{why}, after {}", round.last()));
            // The log is looked at from its beginning: a fresh server for the next rounds.
            server.kill();
            std::fs::remove_dir_all(folder).map_err(|e| e.to_string())?;
            server = Server::start(&options)?;
        }
    }
    report.ok(format!("{rounds} rounds, {sent} statements"));
    Ok(())
}

fn no_panic(log: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(log).map_err(|e| format!("{}: {e}", log.display()))?;
    match text.find("panicked") {
        None => Ok(()),
        Some(at) => {
            let start = text[..at].rfind('\n').map_or(0, |line| line + 1);
            Err(text[start..].lines().take(3).collect::<Vec<_>>().join(" "))
        }
    }
}

/// A script and what is made of its statements.
struct Round<'a> {
    random: StdRng,
    scripts: &'a [Vec<Statement>],
    sent: Vec<String>,
    verbose: bool,
}

impl Round<'_> {
    fn last(&self) -> String {
        let from = self.sent.len().saturating_sub(3);
        self.sent[from..].iter().map(|sql| format!("[{sql:.300}]")).collect::<Vec<_>>().join(" ")
    }

    fn run(&mut self, address: &Address) -> Result<(), String> {
        let mut conn = connect(address, true)?;
        let scripts = self.scripts;
        let script = scripts.choose(&mut self.random).ok_or("no scripts")?;
        // A part of a long script.
        let most = 60;
        for statement in script.iter().take(most) {
            self.send(&mut conn, address, &statement.text())?;
            for _ in 0..self.random.random_range(0..3) {
                let other = scripts.choose(&mut self.random).and_then(|script| script.choose(&mut self.random));
                let changed = splice(statement, other.unwrap_or(statement), &mut self.random).text();
                self.send(&mut conn, address, &changed)?;
            }
        }
        Ok(())
    }

    fn send(&mut self, conn: &mut Conn, address: &Address, sql: &str) -> Result<(), String> {
        let upper = sql.to_uppercase();
        if NEVER.iter().any(|word| upper.contains(word)) {
            return Ok(());
        }
        if self.verbose {
            println!("{sql}");
        }
        self.sent.push(sql.to_owned());
        let began = Instant::now();
        let outcome = if self.random.random_ratio(1, 3) { conn.exec_drop(sql, ()) } else { all_results(conn, sql) };
        let took = began.elapsed();
        if took > ANSWER_MAX {
            return Err(format!("no answer for {took:.1?}"));
        }
        match outcome {
            Ok(()) | Err(Error::MySqlError(_) | Error::DriverError(_) | Error::FromValueError(_)) => Ok(()),
            // An oversized packet ends a connection; so does a panic, which the log tells.
            Err(_) => {
                *conn = connect(address, false)?;
                Ok(())
            }
        }
    }
}

fn all_results(conn: &mut Conn, sql: &str) -> mysql::Result<()> {
    let mut results = conn.query_iter(sql)?;
    while let Some(mut rows) = results.iter() {
        rows.try_for_each(|row| row.map(drop))?;
    }
    Ok(())
}

fn connect(address: &Address, is_fresh: bool) -> Result<Conn, String> {
    let fail = |e: Error| format!("a new connection: {e}");
    let mut conn = address.connect().map_err(fail)?;
    if is_fresh {
        conn.query_drop(format!("DROP DATABASE IF EXISTS {DATABASE}")).map_err(fail)?;
    }
    for sql in [
        format!("CREATE DATABASE IF NOT EXISTS {DATABASE}"),
        format!("USE {DATABASE}"),
        "SET max_execution_time = 2000, lock_wait_timeout = 2, innodb_lock_wait_timeout = 2, cte_max_recursion_depth = 2000"
            .into(),
    ] {
        conn.query_drop(sql).map_err(fail)?;
    }
    Ok(conn)
}
