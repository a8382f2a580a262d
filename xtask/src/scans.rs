//! `cargo xtask scans`: long queries of one session over a table in memory, by Heddle and its peers, side by side.
//!
//! 1. Heddle is built for release and started, unless only `--server`s are measured; peers come as for `cargo xtask bench`.
//! 2. Each server gets the same two tables, [`big`](TABLES) with `--rows` rows and `small` with a tenth of them.
//! 3. Each query runs once, to find out how often it fits into `--time`; then every server runs it so often per round, in one session,
//!    the order of servers reversed every other round.
//! 4. What is printed per query and server, each the median of the rounds: milliseconds and the server's CPU time per query, and the
//!    first server's CPU time as a part of this one's.
//!
//! PostgreSQL runs without parallel workers, so that each server uses one process or thread for a query.

use crate::proc::{cpu_seconds, on_path, target};
use crate::servers::{Servers, Target, median, sql};
use clap::Args;
use std::path::Path;
use std::time::Instant;

#[derive(Args)]
pub struct Options {
    /// Rows of the large table
    #[arg(long, default_value_t = 600_000)]
    rows: u32,
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Seconds of one server's repetitions of a query
    #[arg(long, default_value_t = 1.0)]
    time: f64,
    /// Queries by name, all without this
    #[arg(long, value_delimiter = ',')]
    queries: Vec<String>,
    #[command(flatten)]
    servers: Servers,
    /// Which peers are started
    #[arg(long, value_delimiter = ',', default_value = "mysql97,pg18")]
    peer: Vec<String>,
    /// The tables are there already, on every server
    #[arg(long)]
    loaded: bool,
}

/// The definitions; `TEXT` is the type of a text, as its collation has another name in PostgreSQL.
const TABLES: &[&str] = &[
    "CREATE TABLE digits (d BIGINT NOT NULL PRIMARY KEY)",
    "INSERT INTO digits VALUES (0), (1), (2), (3), (4), (5), (6), (7), (8), (9)",
    "CREATE TABLE big (id INT NOT NULL PRIMARY KEY, k INT NOT NULL, code INT NOT NULL, grp INT NOT NULL, \
     amount DECIMAL(10,2) NOT NULL, name TEXT NOT NULL, filler TEXT NOT NULL)",
    "CREATE TABLE small (id INT NOT NULL PRIMARY KEY, code INT NOT NULL, v INT NOT NULL)",
];

/// Numbers from 0, by six digits.
const NUMBERS: &str = "FROM (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d AS n \
     FROM digits a, digits b, digits c, digits e, digits f, digits g) numbers";

/// A query: its name and its text; `FORCE` names the index in the dialect of MySQL.
const QUERIES: &[(&str, &str)] = &[
    ("count", "SELECT COUNT(*) FROM big"),
    ("filter", "SELECT COUNT(*) FROM big WHERE amount > 5000.25"),
    ("group", "SELECT SUM(c), SUM(s) FROM (SELECT grp, COUNT(*) AS c, SUM(amount) AS s FROM big GROUP BY grp) groups_of_big"),
    ("like", "SELECT COUNT(*) FROM big WHERE name LIKE '%99%'"),
    ("sort", "SELECT id, name FROM big ORDER BY amount, id LIMIT 10 OFFSET 300000"),
    ("lookups", "SELECT SUM(small.v) FROM big JOIN small ON small.id = big.k"),
    ("hash", "SELECT SUM(small.v) FROM big JOIN small ON small.code = big.code"),
    ("window", "SELECT MAX(r) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY grp ORDER BY amount) AS r FROM big) numbered"),
    ("range", "SELECT SUM(amount) FROM big FORCE WHERE k >= LOW AND k < HIGH"),
];

/// `cargo xtask scans`.
pub fn run(root: &Path, options: &Options) -> Result<bool, String> {
    if !on_path("mariadb") {
        return Err("the mariadb client is needed; `cargo xtask ci` installs it".into());
    }
    let (heddle, targets) = options.servers.start(root, None, &target(root).join("scans-data"), &options.peer)?;
    if !options.loaded {
        for target in &targets {
            println!("loading {}", target.name);
            load(target, options.rows)?;
        }
    }
    println!("\n| query | server | ms | ± % | server CPU ms | {} of it |", targets[0].name);
    println!("|---|---|--:|--:|--:|--:|");
    for (name, text) in QUERIES {
        if options.queries.is_empty() || options.queries.iter().any(|wanted| wanted == name) {
            measure(&targets, options, name, text)?;
        }
    }
    drop(heddle);
    Ok(true)
}

fn is_postgres(target: &Target) -> bool {
    target.driver == "pgsql"
}

fn load(target: &Target, rows: u32) -> Result<(), String> {
    let (clear, text_type) = if is_postgres(target) {
        ("DROP SCHEMA IF EXISTS scans CASCADE; CREATE SCHEMA scans", "VARCHAR(100)")
    } else {
        ("DROP DATABASE IF EXISTS scans; CREATE DATABASE scans", "VARCHAR(100) COLLATE utf8mb4_0900_ai_ci")
    };
    sql(target, clear)?;
    for text in TABLES {
        sql(target, &in_schema(target, &text.replace("TEXT", text_type)))?;
    }
    let keys = rows / 10;
    // The factors are primes, so that each column's values come in an order of their own.
    let fill_big = format!(
        "INSERT INTO big SELECT n, MOD(n * 7919, {keys}), MOD(n * 6007, {keys}), MOD(n * 31, 100), MOD(n * 1009, 1000003) / 100.0, \
         CONCAT('Customer number ', MOD(n * 1013, {rows}), ' of the list'), CONCAT('some more text in row ', n) {NUMBERS} \
         WHERE n < {rows} ORDER BY n"
    );
    let fill_small = format!("INSERT INTO small SELECT n, n, MOD(n * 13, 1000) {NUMBERS} WHERE n < {keys} ORDER BY n");
    sql(target, &in_schema(target, &fill_big))?;
    sql(target, &in_schema(target, &fill_small))?;
    sql(target, &in_schema(target, "CREATE INDEX by_k ON big (k)"))?;
    let analyze = if is_postgres(target) { "VACUUM ANALYZE big; VACUUM ANALYZE small" } else { "ANALYZE TABLE big, small" };
    sql(target, &in_schema(target, analyze))?;
    Ok(())
}

/// Statements for the database or schema of these tables.
fn in_schema(target: &Target, text: &str) -> String {
    if is_postgres(target) {
        format!("SET search_path = scans; SET max_parallel_workers_per_gather = 0; {text}")
    } else {
        format!("USE scans; {text}")
    }
}

/// A number of executions of one query: milliseconds, and the server's CPU milliseconds, for each.
fn execute(target: &Target, text: &str, times: u32) -> Result<(f64, f64), String> {
    let statements = in_schema(target, &vec![text; times as usize].join("; "));
    let (began, cpu) = (Instant::now(), cpu_seconds(target.pid));
    sql(target, &statements).map_err(|e| format!("{}: {e}", target.name))?;
    let each = |seconds: f64| seconds * 1000.0 / f64::from(times);
    Ok((each(began.elapsed().as_secs_f64()), each(cpu_seconds(target.pid) - cpu)))
}

fn measure(targets: &[Target], options: &Options, name: &str, text: &str) -> Result<(), String> {
    let keys = options.rows / 10;
    let text = text.replace("LOW", &(keys / 10).to_string()).replace("HIGH", &(keys / 5).to_string());
    let texts: Vec<String> =
        targets.iter().map(|target| text.replace("FORCE", if is_postgres(target) { "" } else { "FORCE INDEX (by_k)" })).collect();
    let mut times = Vec::new();
    for (target, text) in targets.iter().zip(&texts) {
        execute(target, text, 2)?;
        let (ms, _) = execute(target, text, 3)?;
        times.push((options.time * 1000.0 / ms.max(1.0)).clamp(1.0, 300.0) as u32);
    }
    let mut runs = vec![Vec::new(); targets.len()];
    for round in 0..options.rounds {
        let mut order: Vec<usize> = (0..targets.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for at in order {
            runs[at].push(execute(&targets[at], &texts[at], times[at])?);
        }
    }
    let cpu = |runs: &[(f64, f64)]| median(runs.iter().map(|(_, cpu)| *cpu).collect());
    let first = cpu(&runs[0]);
    for (target, runs) in targets.iter().zip(&runs) {
        let ms = median(runs.iter().map(|(ms, _)| *ms).collect());
        let (low, high) = runs.iter().fold((f64::MAX, 0.0_f64), |(low, high), (ms, _)| (low.min(*ms), high.max(*ms)));
        println!(
            "| {name} | {} | {ms:.1} | {:.0} | {:.1} | {:.2} |",
            target.name,
            (high - low) / 2.0 / ms.max(0.001) * 100.0,
            cpu(runs),
            first / cpu(runs).max(0.001),
        );
    }
    Ok(())
}
