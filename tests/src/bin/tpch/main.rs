//! The 22 queries of TPC-H on Heddle and, beside it, on other servers: the same rows, the same answers, the times.
//!
//! 1. Each server gets the same generated rows ([`data`]) in a database `tpch`, where it has none of this scale yet, and ANALYZE TABLE.
//! 2. Each query runs on every server once per round, the order turned every other round. Answers are compared with those of the first
//!    server, as sets of lines.
//! 3. The best time of each counts; Heddle's is shown as a part of the better peer's.

mod data;
mod queries;

use clap::Parser;
use mysql::prelude::Queryable;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use tests::{Address, Server, ServerOptions};

/// Rows of one INSERT.
const BATCH_ROWS: usize = 500;
const DATABASE: &str = "tpch";

#[derive(Parser)]
#[command(about = "Runs TPC-H on Heddle and on peers, compares answers and times")]
struct Arguments {
    #[arg(long, default_value_t = 0.1)]
    scale: f64,
    /// A folder with servers.py, which starts peers and prints how to reach them
    #[arg(long, env = "HEDDLE_PEERS")]
    peers: Option<PathBuf>,
    /// Which peers it starts
    #[arg(long, value_delimiter = ',', default_value = "mysql97,mariadb118")]
    peer: Vec<String>,
    /// A Heddle that runs already, HOST:PORT, user root without a password
    #[arg(long)]
    at: Option<String>,
    /// Where the data of a Heddle goes that is started; kept
    #[arg(long)]
    data: Option<PathBuf>,
    /// Only these queries
    #[arg(long, value_delimiter = ',')]
    only: Vec<u32>,
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Show Heddle's plans with their actual rows and times
    #[arg(long)]
    explain: bool,
    /// Fail where Heddle takes longer than so many times the better peer
    #[arg(long)]
    limit: Option<f64>,
}

struct Target {
    name: String,
    connection: mysql::Conn,
}

/// A query on one server.
struct Answer {
    time: Duration,
    lines: Vec<String>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("tpch: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<bool, String> {
    let mut server = None;
    let address = match &arguments.at {
        Some(at) => Address::parse(at, "root", "")?,
        None => {
            let directory =
                arguments.data.clone().unwrap_or_else(|| std::env::temp_dir().join(format!("tpch-{}", std::process::id())));
            let options = ServerOptions { buffer_pool: "1G".into(), ..ServerOptions::new(directory) };
            let started = Server::start(&options)?;
            let address = started.address.clone();
            server = Some(started);
            address
        }
    };
    let mut targets = vec![connect("heddle", &address)?];
    if let Some(folder) = &arguments.peers {
        for name in &arguments.peer {
            targets.push(connect(name, &peer(folder, name)?)?);
        }
    }
    for target in &mut targets {
        load(target, arguments.scale)?;
    }
    let passed = measure(&mut targets, arguments);
    drop(server);
    passed
}

fn connect(name: &str, address: &Address) -> Result<Target, String> {
    let options = address.options().read_timeout(Some(Duration::from_secs(1800)));
    let connection = mysql::Conn::new(options).map_err(|error| format!("{name}: {error}"))?;
    Ok(Target { name: name.to_owned(), connection })
}

/// Starts a peer and asks where it is.
fn peer(folder: &Path, name: &str) -> Result<Address, String> {
    let script = |word: &str| {
        let output =
            Command::new("python3").arg(folder.join("servers.py")).args([word, name]).output().map_err(|e| e.to_string())?;
        Ok::<String, String>(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    script("start")?;
    let lines = script("dsn")?;
    let line = lines
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix('='))
        .ok_or_else(|| format!("{name}: did not start"))?;
    let field = |key: &str| line.split(',').find_map(|part| part.strip_prefix(key)).unwrap_or_default();
    Address::parse(line.split(',').next().unwrap_or_default(), field("user="), field("password="))
}

impl Target {
    fn run(&mut self, text: &str) -> Result<(), String> {
        self.connection.query_drop(text).map_err(|error| format!("{}: {error}: {}", self.name, &text[..text.len().min(200)]))
    }

    fn ask(&mut self, text: &str) -> Result<Answer, String> {
        let began = Instant::now();
        let rows: Vec<mysql::Row> = self.connection.query(text).map_err(|error| format!("{}: {error}", self.name))?;
        let time = began.elapsed();
        let cell = |value: mysql::Value| match value {
            mysql::Value::NULL => "NULL".to_owned(),
            mysql::Value::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            other => format!("{other:?}"),
        };
        let line = |row: mysql::Row| row.unwrap().into_iter().map(cell).collect::<Vec<_>>().join("|");
        Ok(Answer { time, lines: rows.into_iter().map(line).collect() })
    }
}

/// Loads the rows, unless they are there.
fn load(target: &mut Target, scale: f64) -> Result<(), String> {
    let mark = format!("scale {scale}");
    target.run(&format!("CREATE DATABASE IF NOT EXISTS {DATABASE}"))?;
    target.run(&format!("USE {DATABASE}"))?;
    if target.ask("SELECT what FROM loaded").is_ok_and(|answer| answer.lines == [mark.clone()]) {
        return Ok(());
    }
    println!("{}: loading", target.name);
    let began = Instant::now();
    target.run(&format!("DROP DATABASE {DATABASE}"))?;
    target.run(&format!("CREATE DATABASE {DATABASE}"))?;
    target.run(&format!("USE {DATABASE}"))?;
    data::SCHEMA.iter().try_for_each(|statement| target.run(statement))?;
    // The rows of two tables alternate, so each table has its own batch.
    let mut batches: Vec<(&'static str, String, usize)> = Vec::new();
    let mut rows = 0u64;
    target.run("SET autocommit = 0")?;
    data::rows(&data::Scale::new(scale), &mut |table, row| {
        let place = batches.iter().position(|(name, ..)| *name == table).unwrap_or_else(|| {
            batches.push((table, String::new(), 0));
            batches.len() - 1
        });
        let (_, text, count) = &mut batches[place];
        text.push_str(if text.is_empty() { "" } else { "," });
        text.push('(');
        text.push_str(row);
        text.push(')');
        *count += 1;
        rows += 1;
        if *count >= BATCH_ROWS {
            let statement = format!("INSERT INTO {table} VALUES {text}");
            text.clear();
            *count = 0;
            target.run(&statement)?;
            target.run("COMMIT")?;
        }
        Ok(())
    })?;
    for (table, text, _) in batches.iter().filter(|(_, text, _)| !text.is_empty()) {
        target.run(&format!("INSERT INTO {table} VALUES {text}"))?;
    }
    target.run("COMMIT")?;
    target.run("SET autocommit = 1")?;
    target.run("ANALYZE TABLE region, nation, part, supplier, partsupp, customer, orders, lineitem")?;
    target.run("CREATE TABLE loaded (what VARCHAR(40))")?;
    target.run(&format!("INSERT INTO loaded VALUES ('{mark}')"))?;
    println!("{}: {rows} rows in {:.1} s", target.name, began.elapsed().as_secs_f64());
    Ok(())
}

fn measure(targets: &mut [Target], arguments: &Arguments) -> Result<bool, String> {
    let wanted = |number: u32| arguments.only.is_empty() || arguments.only.contains(&number);
    let names: Vec<String> = targets.iter().map(|target| format!("{:>12}", target.name)).collect();
    println!("query{}   of better peer", names.join(""));
    let mut passed = true;
    for (number, text) in queries::QUERIES.iter().filter(|(number, _)| wanted(*number)) {
        let mut best: Vec<Option<Duration>> = vec![None; targets.len()];
        let mut answers: Vec<Vec<String>> = vec![Vec::new(); targets.len()];
        for round in 0..arguments.rounds.max(1) {
            for n in 0..targets.len() {
                let n = if round % 2 == 0 { n } else { targets.len() - 1 - n };
                let mut answer = targets[n].ask(text)?;
                answer.lines.sort();
                best[n] = Some(best[n].map_or(answer.time, |time| time.min(answer.time)));
                answers[n] = answer.lines;
            }
        }
        let times: Vec<f64> = best.iter().map(|time| time.map_or(0.0, |time| time.as_secs_f64() * 1000.0)).collect();
        let shown: String = times.iter().map(|time| format!("{time:>9.1} ms")).collect();
        let peer = times[1..].iter().copied().fold(f64::INFINITY, f64::min);
        let ratio = if peer.is_finite() { format!("{:>8.2}", times[0] / peer) } else { String::new() };
        let mut note = String::new();
        for n in 1..targets.len() {
            if answers[n] != answers[0] {
                passed = false;
                note.push_str(&format!("  differs from {}: {}", targets[n].name, difference(&answers[0], &answers[n])));
            }
        }
        if arguments.limit.is_some_and(|limit| times[0] > limit * peer) {
            passed = false;
            note.push_str("  too slow");
        }
        println!("Q{number:<4}{shown} {ratio}  {} rows{note}", answers[0].len());
        if arguments.explain {
            println!("{}", targets[0].ask(&format!("EXPLAIN ANALYZE {text}"))?.lines.join("\n"));
        }
    }
    Ok(passed)
}

/// The first lines that only one of two sorted answers has.
fn difference(a: &[String], b: &[String]) -> String {
    let only = |these: &[String], those: &[String]| these.iter().find(|line| !those.contains(line)).cloned().unwrap_or_default();
    format!("{} lines, {} lines; {:?} against {:?}", a.len(), b.len(), only(a, b), only(b, a))
}
