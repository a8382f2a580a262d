//! Histories of real connections to a real server, which is killed, stopped for moments and started again in the meantime, and the check
//! that some schedule explains them (`checker`).
//!
//! Each isolation level works on each shape of tables (`shape`) for a while. When its clients have ended, the lists are read and the history
//! is checked: nothing that was acknowledged is lost, and no dependencies go round in a circle.

#![forbid(unsafe_code)]

mod checker;
mod history;
mod session;
mod shape;

use clap::Parser;
use history::{History, Level, Outcome, Transaction};
use mysql::prelude::Queryable;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use session::{Client, Common, elements};
use shape::Shape;
use std::collections::HashMap;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tests::{Address, Report, Server, ServerOptions};

pub const DATABASE: &str = "histories";

#[derive(Parser)]
#[command(
    about = "Records what real sessions see while the server is killed and stopped, and checks that a schedule explains it"
)]
struct Arguments {
    /// Of each level on each shape
    #[arg(long, default_value_t = 1.5)]
    seconds: f64,
    #[arg(long, default_value_t = 6)]
    clients: u64,
    #[arg(long)]
    seed: Option<u64>,
    /// Seeds, one after another
    #[arg(long, default_value_t = 1)]
    rounds: u64,
    /// Seeds for so long, instead of a number of them
    #[arg(long)]
    minutes: Option<f64>,
    /// Only levels and shapes with this in their names
    #[arg(long, default_value = "")]
    only: String,
    /// Leave the server alone
    #[arg(long)]
    calm: bool,
    /// A running server, HOST:PORT, which is left alone
    #[arg(long)]
    against: Option<String>,
    #[arg(long, default_value = "root")]
    user: String,
    #[arg(long, default_value = "")]
    password: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let first = arguments.seed.unwrap_or_else(|| rand::random::<u32>().into());
    let until = arguments.minutes.map(|minutes| Instant::now() + Duration::from_secs_f64(minutes * 60.0));
    for seed in first.. {
        if until.map_or(seed == first + arguments.rounds, |until| Instant::now() > until) {
            break;
        }
        println!("seed {seed}");
        for shape in Shape::ALL {
            for level in Level::ALL {
                let name = format!("{}, {}", shape.name(), level.sql());
                if name.to_uppercase().contains(&arguments.only.to_uppercase()) {
                    run(&arguments, shape, level, seed, &name, &mut report);
                }
            }
        }
    }
    report.finish()
}

fn run(arguments: &Arguments, shape: Shape, level: Level, seed: u64, name: &str, report: &mut Report) {
    let folder = std::env::temp_dir().join(format!("heddle-histories-{}", std::process::id()));
    match observe(arguments, shape, level, seed, &folder) {
        Ok(summary) => report.ok(format!("{name}: {summary}")),
        Err(why) => report.fail(format!("{name}, seed {seed}"), why),
    }
    // Files that a test leaves in the temporary folder do no harm.
    let _ = std::fs::remove_dir_all(&folder);
}

fn options(folder: &Path, port: Option<u16>) -> ServerOptions {
    let mut options = ServerOptions::new(folder);
    (options.durability, options.buffer_pool) = ("full".into(), "32M".into());
    options.port = port;
    options
}

fn observe(arguments: &Arguments, shape: Shape, level: Level, seed: u64, folder: &Path) -> Result<String, String> {
    let mut server = match arguments.against {
        Some(_) => None,
        None => Some(Server::start(&options(folder, None))?),
    };
    let address = match (&server, &arguments.against) {
        (Some(server), _) => server.address.clone(),
        (None, Some(at)) => Address::parse(at, &arguments.user, &arguments.password)?,
        (None, None) => return Err("no server".into()),
    };
    make_tables(&address, shape)?;
    let common = Common {
        shape,
        stop: AtomicBool::new(false),
        elements: AtomicU64::new(1),
        first: AtomicU64::new(1),
        began: Instant::now(),
    };
    let (done, disturbances) = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..arguments.clients)
            .map(|n| {
                let client = Client::new(&common, &address, level, format!("C{n}"), seed * 100 + n);
                scope.spawn(|| client.run())
            })
            .collect();
        let until = Instant::now() + Duration::from_secs_f64(arguments.seconds);
        let disturbances = if arguments.calm || server.is_none() {
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
            Ok(Disturbances::default())
        } else {
            disturb(&mut server, &common, &address, folder, until, seed)
        };
        common.stop.store(true, Ordering::Relaxed);
        let done: Vec<_> = clients.into_iter().map(|c| c.join().map_err(|_| "a client panicked".to_string())).collect();
        (done, disturbances)
    });
    let disturbances = disturbances?;
    let transactions: Vec<Transaction> =
        done.into_iter().collect::<Result<Result<Vec<_>, _>, _>>()??.into_iter().flatten().collect();
    let history = History { last: last_lists(&address, shape)?, transactions };
    let verdict = checker::check(&history);
    if let Some(server) = server {
        server.kill();
    }
    if !verdict.anomalies.is_empty() {
        return Err(verdict.anomalies.iter().take(3).cloned().collect::<Vec<_>>().join("; "));
    }
    let count = |outcome| history.transactions.iter().filter(|t| t.outcome == outcome).count();
    if count(Outcome::Committed) == 0 {
        return Err("nothing was committed".into());
    }
    Ok(format!(
        "{} committed, {} rolled back, {} without an answer, {} lists, {} dependencies, {} kills, {} stops",
        count(Outcome::Committed),
        count(Outcome::Aborted),
        count(Outcome::Unknown),
        history.last.len(),
        verdict.dependencies,
        disturbances.kills,
        disturbances.stops
    ))
}

#[derive(Default)]
struct Disturbances {
    kills: usize,
    stops: usize,
}

/// Kills the server and starts it again, and stops it for moments, until the time is over.
fn disturb(
    server: &mut Option<Server>,
    common: &Common,
    address: &Address,
    folder: &Path,
    until: Instant,
    seed: u64,
) -> Result<Disturbances, String> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut done = Disturbances::default();
    while Instant::now() < until {
        std::thread::sleep(Duration::from_millis(random.random_range(100..500)));
        wait_for_work(common);
        let Some(running) = server.as_mut() else { break };
        if let Some(end) = running.ended() {
            return Err(format!("the server ended: {end}"));
        }
        if random.random_ratio(1, 2) {
            signal("STOP", running.pid())?;
            std::thread::sleep(Duration::from_millis(random.random_range(20..300)));
            signal("CONT", running.pid())?;
            done.stops += 1;
        } else if let Some(running) = server.take() {
            running.kill();
            *server = Some(Server::start(&options(folder, Some(address.port)))?);
            done.kills += 1;
        }
    }
    Ok(done)
}

/// Waits until clients have appended something, on a machine that is busy otherwise too.
fn wait_for_work(common: &Common) {
    // Relaxed: a number to wait for.
    let wanted = common.elements.load(Ordering::Relaxed) + 60;
    let until = Instant::now() + Duration::from_secs(10);
    while common.elements.load(Ordering::Relaxed) < wanted && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn signal(name: &str, pid: u32) -> Result<(), String> {
    let status = Command::new("kill").args([format!("-{name}"), pid.to_string()]).status().map_err(|e| e.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("kill -{name} {pid}: {status}")) }
}

fn make_tables(address: &Address, shape: Shape) -> Result<(), String> {
    let mut conn = address.connect().map_err(|e| e.to_string())?;
    let database =
        [format!("DROP DATABASE IF EXISTS {DATABASE}"), format!("CREATE DATABASE {DATABASE}"), format!("USE {DATABASE}")];
    let tables = shape.tables().into_iter().map(str::to_owned);
    database.into_iter().chain(tables).try_for_each(|sql| conn.query_drop(&sql).map_err(|e| format!("{sql}: {e}")))
}

fn last_lists(address: &Address, shape: Shape) -> Result<HashMap<u64, Vec<u64>>, String> {
    let mut conn = address.connect_to(DATABASE).map_err(|e| e.to_string())?;
    if let Some(sql) = shape.agreement() {
        let wrong: Option<u64> = conn.query_first(sql).map_err(|e| format!("{sql}: {e}"))?;
        if wrong != Some(0) {
            return Err(format!("{wrong:?} rows do not agree: {sql}"));
        }
    }
    let (_, _, kind, answer): (String, String, String, String) =
        conn.query_first("CHECK TABLE lists").map_err(|e| e.to_string())?.ok_or("CHECK TABLE has no row")?;
    if answer != "OK" {
        return Err(format!("CHECK TABLE: {kind}: {answer}"));
    }
    let rows: Vec<(u64, String)> = conn.query("SELECT id, v FROM lists").map_err(|e| e.to_string())?;
    Ok(rows.into_iter().map(|(key, text)| (key, elements(&text))).collect())
}
