//! Hostile work: every function and operator on values of growing size and depth, and statements that are wide, deep or many. None may cost
//! more than in proportion to its size, take memory without bound, ignore KILL or its limit of time, or keep another session of its worker
//! waiting (`trial` has the bounds).
//!
//! H1: costs are CPU time of the server's process, so they do not depend on what else the machine does.

#![forbid(unsafe_code)]

mod bystander;
mod functions;
mod meter;
mod statements;
mod trial;
mod values;

use bystander::Bystander;
use clap::Parser;
use meter::Meter;
use mysql::prelude::Queryable;
use std::process::ExitCode;
use std::time::Duration;
use tests::{Address, Report, Server, ServerOptions};
use trial::{Bounds, Court};

const DATABASE: &str = "hostile";
/// `heddle_statement_memory` of the trials.
pub const STATEMENT_MEMORY: u64 = 32 << 20;

#[derive(Parser)]
#[command(about = "Gives the server work of growing size, and checks what it costs")]
struct Arguments {
    /// All values, in the size of --bytes, and many tables
    #[arg(long)]
    long: bool,
    /// The size of values
    #[arg(long)]
    bytes: Option<usize>,
    /// The server is optimized: the bounds are 20 ms for others, 100 ms for KILL
    #[arg(long)]
    strict: bool,
    /// Only what has this in its name
    #[arg(long, default_value = "")]
    only: String,
    /// Of the metadata's trials
    #[arg(long)]
    tables: Option<usize>,
}

/// What is run.
pub struct Plan {
    pub is_long: bool,
    pub size: usize,
    pub tables: usize,
    only: String,
}

impl Plan {
    pub fn wants(&self, name: &str) -> bool {
        name.to_uppercase().contains(&self.only.to_uppercase())
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let folder = std::env::temp_dir().join(format!("heddle-hostile-{}", std::process::id()));
    if let Err(why) = run(&arguments, &folder, &mut report) {
        report.fail("hostile", why);
    }
    // Files that a test leaves in the temporary folder do no harm.
    let _ = std::fs::remove_dir_all(&folder);
    report.finish()
}

fn run(arguments: &Arguments, folder: &std::path::Path, report: &mut Report) -> Result<(), String> {
    let plan = Plan {
        is_long: arguments.long,
        size: arguments.bytes.unwrap_or(if arguments.long { 1 << 20 } else { 1 << 14 }),
        tables: arguments.tables.unwrap_or(if arguments.long { 100_000 } else { 200 }),
        only: arguments.only.clone(),
    };
    let mut options = ServerOptions::new(folder);
    (options.buffer_pool, options.extra) = ("64M".into(), vec!["--workers".into(), "1".into()]);
    let mut server = Server::start(&options)?;
    let outcome = on_server(&plan, bounds(arguments.strict), &server.address.clone(), server.pid(), report);
    if let Some(end) = server.ended() {
        return Err(format!("the server ended: {end}"));
    }
    server.kill();
    outcome
}

fn bounds(is_strict: bool) -> Bounds {
    let ms = Duration::from_millis;
    if is_strict {
        Bounds { time_limit: ms(1500), stop: ms(100), answer: ms(20), ignored: ms(40), memory: 96 << 20 }
    } else {
        // Unoptimized code is ten times as slow, and other work of the machine takes its caches.
        Bounds { time_limit: ms(3000), stop: ms(1000), answer: ms(1000), ignored: ms(200), memory: 96 << 20 }
    }
}

fn on_server(plan: &Plan, bounds: Bounds, address: &Address, pid: u32, report: &mut Report) -> Result<(), String> {
    let meter = Meter::new(pid)?;
    make_tables(address)?;
    let bystander = Bystander::start(address, DATABASE, &meter)?;
    let mut court = Court::new(address, DATABASE, &meter, &bystander, bounds)?;
    functions::run(&mut court, plan, report)?;
    statements::run(&mut court, plan, report)?;
    println!("{} runs; the dearest:", court.runs);
    for (us, name) in court.dearest.iter().rev() {
        println!("  {:8.1} ms {name:.120}", *us as f64 / 1000.0);
    }
    let mut answers = std::mem::take(&mut court.answers);
    answers.sort_by_key(|answer| answer.worker_us);
    for (name, part) in [("half", 0.5), ("99 %", 0.99), ("99.9 %", 0.999), ("all", 1.0)] {
        if let Some(answer) = answers.get(((answers.len() as f64 * part) as usize).min(answers.len().saturating_sub(1))) {
            println!(
                "{name} of {} answers to the bystander within {:.2} ms of the worker",
                answers.len(),
                answer.worker_us as f64 / 1e3
            );
        }
    }
    answers.sort_by_key(|answer| answer.wall_us);
    if let Some(answer) = answers.get(answers.len() * 99 / 100) {
        println!("99 % of them within {:.2} ms by the clock", answer.wall_us as f64 / 1e3);
    }
    drop(court);
    report.case("a bystander gets its rows", || bystander.stop());
    Ok(())
}

fn make_tables(address: &Address) -> Result<(), String> {
    let mut conn = address.connect().map_err(|e| e.to_string())?;
    let mut make = |sql: &str| conn.query_drop(sql).map_err(|e| format!("{sql:.100}: {e}"));
    make(&format!("DROP DATABASE IF EXISTS {DATABASE}"))?;
    make(&format!("CREATE DATABASE {DATABASE}"))?;
    make(&format!("USE {DATABASE}"))?;
    make("CREATE TABLE point (id INT PRIMARY KEY, v INT)")?;
    make("INSERT INTO point VALUES (7, -7)")?;
    make("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c INT, s VARCHAR(100), KEY (a, b, c), KEY (b), KEY (s))")?;
    make("SET cte_max_recursion_depth = 1000000")?;
    make(
        "INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) \
         SELECT i, i % 10, i % 7, i % 5, CONCAT('row ', i) FROM n",
    )
}
