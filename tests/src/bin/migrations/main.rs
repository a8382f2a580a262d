//! Migrations under load: definitions of a table that sysbench uses at the same time.
//!
//! 1. sysbench makes one table of `--rows` rows.
//! 2. Each workload of sysbench runs with `--threads` sessions. Meanwhile three definitions run one after another: one that changes only
//!    the catalog, one that builds an index, and one that changes the type of a column. A probe reads, writes and asks for the definition
//!    all the time (`probe`).
//! 3. The server is killed in the middle of an index build and in the middle of a type change, and started again. The table must be the
//!    old one or the new one, and sysbench must be able to go on. After a stop `heddle check` must find no damage, and no trees or pages
//!    without an owner.
//!
//! Of all times only one is judged: `--wait-ms-max` bounds the server's own count of waits for metadata locks. All times are printed.

mod load;
mod probe;

use clap::Parser;
use load::{Load, Seconds};
use mysql::prelude::Queryable;
use probe::Probe;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::mpsc;
use std::time::{Duration, Instant};
use tests::{Report, Server, ServerOptions};

#[derive(Parser, Clone)]
#[command(about = "Changes definitions of a table while sysbench works on it, and kills the server meanwhile")]
struct Arguments {
    #[arg(long, default_value_t = 20_000)]
    rows: u64,
    #[arg(long, default_value_t = 8)]
    threads: u32,
    /// How long sysbench works before a definition begins, and after it
    #[arg(long, default_value_t = 2)]
    seconds: u64,
    #[arg(long, default_value_t = 256)]
    pool_mib: u64,
    #[arg(long, default_value = "full")]
    durability: String,
    /// How sysbench picks rows
    #[arg(long, default_value = "uniform")]
    rand_type: String,
    #[arg(long, value_delimiter = ',', default_value = "oltp_read_write,oltp_write_only")]
    workloads: Vec<String>,
    /// How often the server is killed in each of the two long definitions
    #[arg(long, default_value_t = 1)]
    kills: u32,
    /// No statement may have waited longer for a table's metadata
    #[arg(long)]
    wait_ms_max: Option<u64>,
    /// Where the data is
    #[arg(long)]
    directory: Option<PathBuf>,
}

type Outcome<T = ()> = Result<T, String>;

/// A definition, and what undoes it.
struct Definition {
    name: &'static str,
    forth: &'static str,
    back: &'static str,
}

const INSTANT: Definition = Definition {
    name: "instant",
    forth: "ALTER TABLE sbtest1 ADD COLUMN note VARCHAR(20), ALGORITHM=INSTANT",
    // All rows are written anew.
    back: "ALTER TABLE sbtest1 DROP COLUMN note",
};
const INDEX: Definition = Definition {
    name: "index",
    forth: "ALTER TABLE sbtest1 ADD INDEX c_k (c(20), k)",
    back: "ALTER TABLE sbtest1 DROP INDEX c_k",
};
const COLUMN: Definition = Definition {
    name: "column",
    forth: "ALTER TABLE sbtest1 MODIFY k BIGINT NOT NULL DEFAULT 0",
    back: "ALTER TABLE sbtest1 MODIFY k INT NOT NULL DEFAULT 0",
};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let temporary = || std::env::temp_dir().join(format!("heddle-migrations-{}", std::process::id()));
    let directory = arguments.directory.clone().unwrap_or_else(temporary);
    if let Err(why) = run(&arguments, &directory, &mut report) {
        report.fail("migrations", why);
    }
    if report.failed == 0 {
        // The log is of interest only after a failure.
        let _ = std::fs::remove_dir_all(&directory);
    }
    report.finish()
}

fn run(arguments: &Arguments, directory: &Path, report: &mut Report) -> Outcome {
    let options = ServerOptions {
        durability: arguments.durability.clone(),
        buffer_pool: format!("{}M", arguments.pool_mib),
        ..ServerOptions::new(directory)
    };
    let mut server = Server::start(&options)?;
    said(said(server.connect())?.query_drop("CREATE DATABASE sbtest"))?;
    let began = Instant::now();
    load::prepare(&server.address, arguments.rows)?;
    report.ok(format!("{} rows are there after {:.1} s", arguments.rows, began.elapsed().as_secs_f64()));
    let mut took = Vec::new();
    for workload in &arguments.workloads {
        took.push(under(workload, arguments, &server, report)?);
    }
    // Of the workload that runs when the server is killed.
    let (workload, took) = arguments.workloads.first().zip(took.first()).ok_or("no workload")?;
    let long = [&INDEX, &COLUMN].into_iter().zip(*took);
    for (definition, took) in long.flat_map(|pair| (0..arguments.kills).map(move |_| pair)) {
        server = killed((definition, took), workload, arguments, server, &options, report)?;
    }
    report.case("the server stops", || server.stop());
    Ok(())
}

fn said<T>(result: mysql::Result<T>) -> Outcome<T> {
    result.map_err(|e| e.to_string())
}

/// Runs a definition on a new connection.
fn define(server: &tests::Address, sql: &str) -> Outcome<Duration> {
    let options = server.options().db_name(Some("sbtest")).read_timeout(Some(Duration::from_secs(3600)));
    let mut connection = said(mysql::Conn::new(options))?;
    let began = Instant::now();
    connection.query_drop(sql).map_err(|e| format!("{sql}: {e}"))?;
    Ok(began.elapsed())
}

/// Step 2 with one workload. Gives how long the index and the column took.
fn under(workload: &str, arguments: &Arguments, server: &Server, report: &mut Report) -> Outcome<[Duration; 2]> {
    let mut took = [Duration::ZERO; 2];
    for (number, definition) in [&INSTANT, &INDEX, &COLUMN].into_iter().enumerate() {
        let name = format!("{workload}, {}", definition.name);
        let load = Load::start(&server.address, workload, arguments)?;
        let probe = Probe::start(&server.address, arguments.rows)?;
        std::thread::sleep(Duration::from_secs(arguments.seconds));
        let began = Instant::now();
        let outcome = define(&server.address, definition.forth);
        let ended = Instant::now();
        std::thread::sleep(Duration::from_secs(arguments.seconds));
        let (seconds, worst) = (load.finish(), probe.finish());
        match (outcome, seconds, worst) {
            (Ok(time), Ok(seconds), Ok(worst)) => {
                took[number.saturating_sub(1)] = time;
                tell(&name, time, &seconds, (began, ended));
                println!("     the probe's slowest: {worst}");
                report.case(&name, || metadata_waits(server, arguments.wait_ms_max));
            }
            (Err(why), ..) | (_, Err(why), _) | (_, _, Err(why)) => report.fail(&name, why),
        }
        if number > 0 {
            define(&server.address, definition.back)?;
        }
    }
    // Without load this is quick: no session waits.
    define(&server.address, INSTANT.back)?;
    Ok(took)
}

/// The longest wait for metadata since the server's start.
fn metadata_waits(server: &Server, ms_max: Option<u64>) -> Outcome {
    let mut connection = said(server.connect())?;
    let mut value = |name: &str| -> Outcome<u64> {
        let row: Option<(String, u64)> = said(connection.query_first(format!("SHOW GLOBAL STATUS LIKE '{name}'")))?;
        row.map(|(_, value)| value).ok_or_else(|| format!("no {name}"))
    };
    let (waits, longest) = (value("Heddle_metadata_waits")?, Duration::from_micros(value("Heddle_metadata_wait_us_max")?));
    println!("     waits for metadata: {waits}, the longest {} ms", longest.as_millis());
    match ms_max {
        Some(max) if longest > Duration::from_millis(max) => Err(format!("a statement waited {longest:?} for metadata")),
        _ => Ok(()),
    }
}

/// Prints how long a definition took, and what sysbench did before and meanwhile.
fn tell(name: &str, took: Duration, seconds: &Seconds, (began, ended): (Instant, Instant)) {
    let (before, during) = (seconds.between(None, began), seconds.between(Some(began), ended));
    println!("     {name}: {:.2} s; before {before}; meanwhile {during}", took.as_secs_f64());
}

/// Step 3: kills the server in the middle of a definition that takes about `took`, and returns the restarted one.
fn killed(
    (definition, took): (&Definition, Duration),
    workload: &str,
    arguments: &Arguments,
    server: Server,
    options: &ServerOptions,
    report: &mut Report,
) -> Outcome<Server> {
    let old = shown(&server)?;
    let load = Load::start(&server.address, workload, arguments)?;
    std::thread::sleep(Duration::from_secs(1));
    let (tell, told) = mpsc::channel();
    let (address, sql) = (server.address.clone(), definition.forth);
    // It ends with the server.
    std::thread::spawn(move || tell.send(define(&address, sql)));
    // Well before it ends: now and then it takes half as long as before.
    let answered = told.recv_timeout(took / 4);
    server.kill();
    drop(load);
    let began = Instant::now();
    let server = Server::start(options)?;
    let recovered = began.elapsed();
    let name = format!("killed in the middle: {}", definition.name);
    let now = shown(&server)?;
    let is_old = now == old;
    println!("     the {} table is there after {:.2} s", if is_old { "old" } else { "new" }, recovered.as_secs_f64());
    report.case(&name, || match answered {
        Err(mpsc::RecvTimeoutError::Timeout) => Ok(()),
        answered => Err(format!("it was over before the kill: {answered:?}")),
    });
    report.case(&format!("{name}: one table or the other"), || {
        if is_old {
            define(&server.address, definition.forth)?;
        }
        let new = shown(&server)?;
        define(&server.address, definition.back)?;
        let again = shown(&server)?;
        let is_either = new != old && again == old && (is_old || now == new);
        if is_either { Ok(()) } else { Err(format!("{old} became {now}, then {new}, then {again}")) }
    });
    report.case(&format!("{name}: sysbench goes on"), || {
        let load = Load::start(&server.address, workload, arguments)?;
        std::thread::sleep(Duration::from_secs(arguments.seconds));
        load.finish().map(drop)
    });
    server.stop()?;
    report.case(&format!("{name}: nothing is left over"), || check(options));
    Server::start(options)
}

fn shown(server: &Server) -> Outcome<String> {
    let mut connection = said(server.address.connect_to("sbtest"))?;
    let row: Option<(String, String)> = said(connection.query_first("SHOW CREATE TABLE sbtest1"))?;
    row.map(|(_, text)| text).ok_or_else(|| "no table".to_owned())
}

/// How often the server may be started again to free what was dropped.
const STARTS_MAX: u32 = 20;

/// `heddle check` finds a sound directory in which everything belongs to a table. What was dropped last is freed once the server runs again.
fn check(options: &ServerOptions) -> Outcome {
    for _ in 0..STARTS_MAX {
        let output = Command::new(&options.binary)
            .arg("check")
            .arg(options.directory.join("data"))
            .output()
            .map_err(|e| format!("heddle check: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        if !output.status.success() || text.contains("belong to no table") || !text.contains("no damage found") {
            return Err(text);
        }
        if !text.contains("are not freed yet") {
            return Ok(());
        }
        let server = Server::start(options)?;
        std::thread::sleep(Duration::from_secs(3));
        server.stop()?;
    }
    Err(format!("trees are not freed after {STARTS_MAX} starts"))
}
