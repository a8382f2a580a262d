//! What contention costs: many sessions on one row, one page, one index entry, in transactions of writes; many idle sessions beside busy ones.
//!
//! For each kind of work and each number of sessions: statements per second, the share of the best at fewer sessions, the server's CPU for
//! each, and how the slowest session did beside the mean (1.00 is perfectly fair). Two threads look after all sessions: with a thread for each the client
//! would take more of the machine than the server. A benchmark, not a test: it judges nothing.

mod crowd;

use clap::Parser;
use crowd::{Parameter, Run, Statement, run};
use mysql::prelude::Queryable;
use std::process::ExitCode;
use std::time::Duration;
use tests::{Address, Server, ServerOptions};

#[derive(Parser)]
#[command(about = "Measures hot rows, hot pages and idle connections")]
struct Arguments {
    /// A server that runs already, HOST:PORT; without it one is started with full durability
    #[arg(long)]
    at: Option<String>,
    #[arg(long, default_value = "root")]
    user: String,
    #[arg(long, default_value = "")]
    password: String,
    /// Sessions at the same time
    #[arg(long, value_delimiter = ',', default_value = "1,4,16,64,256,1000")]
    sessions: Vec<usize>,
    /// Only kinds of work whose names have this in them
    #[arg(long, default_value = "")]
    only: String,
    /// Seconds per measurement
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Measurements of each, of which the median counts
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Idle connections to open beside 16 busy ones; 0 leaves this out
    #[arg(long, default_value_t = 10_000)]
    idle: usize,
}

type Outcome<T = ()> = Result<T, String>;

/// A kind of work: its preparation, and the statements that each session repeats.
struct Work {
    name: &'static str,
    setup: &'static [&'static str],
    turn: &'static [Statement],
}

/// A row for each number, changed by it alone.
const OWN_ROW: &[Statement] =
    &[Statement { sql: "INSERT INTO t VALUES (?, 0) ON DUPLICATE KEY UPDATE n = n + 1", parameters: &[Parameter::Session] }];
const ONE_ROW: &[Statement] = &[Statement { sql: "UPDATE t SET n = n + 1 WHERE id = 1", parameters: &[] }];

const WORKS: &[Work] = &[
    Work {
        name: "one row",
        setup: &["CREATE TABLE t (id INT PRIMARY KEY, n BIGINT NOT NULL)", "INSERT INTO t VALUES (1, 0)"],
        turn: ONE_ROW,
    },
    Work {
        name: "last page",
        setup: &["CREATE TABLE t (id BIGINT AUTO_INCREMENT PRIMARY KEY, pad CHAR(60) NOT NULL)"],
        turn: &[Statement {
            sql: "INSERT INTO t (pad) VALUES ('a row like many others, appended behind all of them')",
            parameters: &[],
        }],
    },
    Work {
        name: "counter in an index, one row",
        setup: &["CREATE TABLE t (id INT PRIMARY KEY, n BIGINT NOT NULL, KEY (n))", "INSERT INTO t VALUES (1, 0)"],
        turn: ONE_ROW,
    },
    Work {
        name: "counter in an index, a row per session",
        setup: &["CREATE TABLE t (id INT PRIMARY KEY, n BIGINT NOT NULL, KEY (n))"],
        turn: OWN_ROW,
    },
    Work {
        name: "no contention: a row per session",
        setup: &["CREATE TABLE t (id INT PRIMARY KEY, n BIGINT NOT NULL)"],
        turn: OWN_ROW,
    },
    Work {
        name: "transactions of writes",
        setup: &[
            "CREATE TABLE t (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL, KEY (k))",
            "SET cte_max_recursion_depth = 100000",
            "INSERT INTO t WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 100000)
             SELECT id, 1 + FLOOR(RAND() * 100000), REPEAT('c', 119), REPEAT('p', 59) FROM n",
        ],
        // What sysbench's oltp_write_only does, over one table.
        turn: &[
            Statement { sql: "BEGIN", parameters: &[] },
            Statement { sql: "UPDATE t SET k = k + 1 WHERE id = ?", parameters: &[Parameter::Row(0)] },
            Statement { sql: "UPDATE t SET c = ? WHERE id = ?", parameters: &[Parameter::Text(119), Parameter::Row(1)] },
            Statement { sql: "DELETE FROM t WHERE id = ?", parameters: &[Parameter::Row(2)] },
            Statement {
                sql: "INSERT INTO t VALUES (?, ?, ?, ?)",
                parameters: &[Parameter::Row(2), Parameter::Number, Parameter::Text(119), Parameter::Text(59)],
            },
            Statement { sql: "COMMIT", parameters: &[] },
        ],
    },
    Work {
        name: "one point select",
        setup: &["CREATE TABLE t (id INT PRIMARY KEY, n BIGINT NOT NULL)", "INSERT INTO t VALUES (1, 0)"],
        turn: &[Statement { sql: "SELECT n FROM t WHERE id = 1", parameters: &[] }],
    },
];

fn main() -> ExitCode {
    match measure(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> Outcome {
    let directory = std::env::temp_dir().join(format!("heddle-contention-{}", std::process::id()));
    let (server, address) = match &arguments.at {
        Some(at) => (None, Address::parse(at, &arguments.user, &arguments.password)?),
        None => {
            let extra = vec!["--max-connections".into(), (arguments.idle + 1000).to_string()];
            let options =
                ServerOptions { durability: "full".into(), buffer_pool: "1G".into(), extra, ..ServerOptions::new(&directory) };
            let server = Server::start(&options)?;
            let address = server.address.clone();
            (Some(server), address)
        }
    };
    let cpu = || server.as_ref().and_then(|server| cpu_seconds(server.pid())).unwrap_or(f64::NAN);
    println!("| work | sessions | statements/s | of the best at fewer | server CPU, µs each | slowest session / mean |");
    println!("|---|--:|--:|--:|--:|--:|");
    for work in WORKS.iter().filter(|work| work.name.contains(&arguments.only)) {
        prepare(&address, work)?;
        let mut best = 0.0f64;
        for sessions in &arguments.sessions {
            let mut runs = Vec::new();
            for _ in 0..arguments.rounds.max(1) {
                runs.push(run(&address, work.turn, *sessions, Duration::from_secs(arguments.seconds), cpu)?);
            }
            let per_second = median(&runs, |run| run.per_second);
            let cpu_each = median(&runs, |run| run.cpu_each);
            let slowest = runs.iter().map(|r| r.slowest).fold(f64::INFINITY, f64::min);
            let of_best = if best > 0.0 { format!("{:.2}", per_second / best) } else { String::new() };
            println!("| {} | {sessions} | {per_second:.0} | {of_best} | {cpu_each:.1} | {slowest:.2} |", work.name);
            best = best.max(per_second);
        }
    }
    if arguments.idle > 0 {
        idle(&address, arguments, server.as_ref())?;
    }
    if let Some(server) = server {
        server.stop()?;
        let _ = std::fs::remove_dir_all(&directory);
    }
    Ok(())
}

fn prepare(address: &Address, work: &Work) -> Outcome {
    let mut conn = address.connect().map_err(|e| e.to_string())?;
    let fresh = ["DROP DATABASE IF EXISTS contention", "CREATE DATABASE contention", "USE contention"];
    fresh.iter().chain(work.setup).try_for_each(|sql| conn.query_drop(sql)).map_err(|e| e.to_string())
}

fn median(runs: &[Run], of: impl Fn(&Run) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Memory of a process that is really there.
fn resident_bytes(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let kib = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix(" kB")?.parse::<u64>().ok()?;
    Some(kib << 10)
}

/// Processor time of a process until now.
fn cpu_seconds(pid: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the name, which may have spaces: user and system time are fields 14 and 15 of all, in hundredths of a second.
    let mut ticks = stat.rsplit_once(')')?.1.split_whitespace().skip(11).map(str::parse::<f64>);
    Some((ticks.next()?.ok()? + ticks.next()?.ok()?) / 100.0)
}

/// Idle connections: their memory, and their cost for the busy ones. Runs with and without them alternate.
fn idle(address: &Address, arguments: &Arguments, server: Option<&Server>) -> Outcome {
    let work = WORKS.last().ok_or("there is some work")?;
    prepare(address, work)?;
    let time = Duration::from_secs(arguments.seconds);
    let cpu = || server.and_then(|server| cpu_seconds(server.pid())).unwrap_or(f64::NAN);
    let measured = || run(address, work.turn, 16, time, cpu);
    let memory = || server.and_then(|server| resident_bytes(server.pid())).unwrap_or(0);
    let (mut without, mut with, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..arguments.rounds.max(1) {
        without.push(measured()?);
        let before = memory();
        let mut connections = Vec::with_capacity(arguments.idle);
        for _ in 0..arguments.idle {
            connections.push(address.connect().map_err(|e| format!("connection {}: {e}", connections.len() + 1))?);
        }
        bytes.push(memory().saturating_sub(before));
        with.push(measured()?);
    }
    println!();
    println!("{} idle connections take {:.1} MiB", arguments.idle, bytes[0] as f64 / f64::from(1 << 20));
    for (name, runs) in [("without", &without), ("with", &with)] {
        let (per_second, cpu_each) = (median(runs, |run| run.per_second), median(runs, |run| run.cpu_each));
        println!("16 busy sessions {name} them: {per_second:.0} statements/s, {cpu_each:.1} µs of CPU each");
    }
    Ok(())
}
