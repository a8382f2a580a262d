//! Kills the server under load, starts it again and checks what it kept, round after round.
//!
//! 1. A server starts with durability `full` and a pool smaller than the data. Clients load it for a moment.
//! 2. The server is killed with SIGKILL, in some rounds once more during recovery.
//! 3. It starts again. Each client keeps a model of the answers that it got; the model is compared with the database.
//!
//! After every crash these must hold:
//! - C1: every acknowledged change is present and every rolled back change is absent. The one commit that was not answered is
//!   present completely or not at all;
//! - C2: the sum over all accounts is the sum at the beginning;
//! - C3: secondary indexes agree with the rows, and unique keys are unique;
//! - C4: the tables and indexes are those whose creation or removal was acknowledged;
//! - C5: transactions that were open at the crash left nothing;
//! - C6: after a clean stop `heddle check` finds no damage;
//! - C7: temporary tables left nothing, not even trees that no table owns.

mod check;
mod load;
mod model;
mod side;

use clap::Parser;
use model::Models;
use mysql::prelude::Queryable;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tests::{Address, Report, Server, ServerOptions};

/// Rounds on one data directory before a fresh one.
const ROUNDS_PER_DIRECTORY: u32 = 12;
/// Sizes of the buffer pool, in turn: all far below the data of some rounds.
const POOLS: &[&str] = &["16M", "64M", "32M"];

#[derive(Parser)]
#[command(about = "Kills the server under load and checks what it recovers")]
struct Arguments {
    #[arg(long, default_value_t = 24)]
    rounds: u32,
    /// Of all that is random here; printed at the start
    #[arg(long)]
    seed: Option<u64>,
    /// Milliseconds of load in a round, at most
    #[arg(long, default_value_t = 2000)]
    load_ms_max: u64,
    /// Clients that transfer, and as many that write events
    #[arg(long, default_value_t = 8)]
    clients: u32,
    /// The folder for the data; by default a new one
    #[arg(long)]
    data: Option<PathBuf>,
    /// Proves the checks on a running server, HOST:PORT: connections are cut instead of killing it
    #[arg(long)]
    against: Option<String>,
    #[arg(long, default_value = "root")]
    user: String,
    #[arg(long, default_value = "")]
    password: String,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let seed = arguments.seed.unwrap_or_else(|| rand::rng().random());
    println!("seed {seed}");
    let mut report = Report::new();
    let folder =
        arguments.data.clone().unwrap_or_else(|| std::env::temp_dir().join(format!("heddle-crash-{}", std::process::id())));
    let outcome = match &arguments.against {
        Some(at) => against(&arguments, at, seed, &mut report),
        None => rounds(&arguments, &folder, seed, &mut report),
    };
    if let Err(why) = outcome {
        report.fail("crash", format!("{why} (seed {seed})"));
    }
    if report.failed > 0 {
        println!("     the data: {}", folder.display());
    } else if arguments.data.is_none() {
        // Left behind only after a failure.
        let _ = std::fs::remove_dir_all(&folder);
    }
    report.finish()
}

/// C7: sessions with temporary tables, some of them altered and some with open transactions, when the server is killed.
fn temporary_tables(folder: &Path) -> Result<(), String> {
    let _ = std::fs::remove_dir_all(folder); // the first time it is not there
    let mut options = ServerOptions::new(folder);
    options.durability = "full".into();
    let server = Server::start(&options)?;
    let fail = |error: mysql::Error| error.to_string();
    server.connect().and_then(|mut conn| conn.query_drop("CREATE DATABASE d")).map_err(fail)?;
    let mut open = Vec::new();
    for client in 0..4 {
        let mut conn = server.address.connect_to("d").map_err(fail)?;
        let mut run = |sql: &str| conn.query_drop(sql).map_err(fail);
        run("CREATE TEMPORARY TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, s LONGTEXT, KEY (s(20)))")?;
        run("INSERT INTO t (s) VALUES (REPEAT('x', 50000)), ('y'), ('z')")?;
        (0..8).try_for_each(|_| run("INSERT INTO t (s) SELECT s FROM t"))?;
        run("CREATE TEMPORARY TABLE u LIKE t")?;
        if client % 2 == 0 {
            run("ALTER TABLE t ADD COLUMN n INT DEFAULT 1, ADD KEY (n)")?;
            run("DROP TEMPORARY TABLE u")?;
        } else {
            run("BEGIN")?;
            run("DELETE FROM t WHERE id % 2 = 0")?;
        }
        open.push(conn);
    }
    server.kill();
    drop(open);
    let server = Server::start(&options)?;
    let names: Vec<String> = server.address.connect_to("d").and_then(|mut conn| conn.query("SHOW TABLES")).map_err(fail)?;
    // What was left is freed in the background.
    std::thread::sleep(Duration::from_secs(3));
    server.stop()?;
    let said = check_offline(&options)?;
    if names.is_empty() && !said.contains("not freed yet") { Ok(()) } else { Err(format!("{names:?} {said}")) }
}

fn rounds(arguments: &Arguments, folder: &Path, seed: u64, report: &mut Report) -> Result<(), String> {
    report.case("temporary tables leave nothing", || temporary_tables(folder));
    let mut rng = StdRng::seed_from_u64(seed);
    let mut models = Models::new(arguments.clients);
    let mut options = ServerOptions::new(folder);
    options.durability = "full".into();
    for round in 0..arguments.rounds {
        let fresh = round % ROUNDS_PER_DIRECTORY == 0;
        if fresh {
            let _ = std::fs::remove_dir_all(folder); // the first time it is not there
            models = Models::new(arguments.clients);
        }
        options.buffer_pool = POOLS[round as usize % POOLS.len()].into();
        let server = Server::start(&options)?;
        if fresh {
            load::create(&server.address)?;
        }
        let load_ms = rng.random_range(200..=arguments.load_ms_max);
        let address = server.address.clone();
        let errors = load::run(&mut models, &address, rng.random(), Duration::from_millis(load_ms), || server.kill());
        let again = rng.random_range(0..4) == 0;
        if again {
            kill_while_starting(&options, rng.random_range(0..120))?;
        }
        let server = Server::start(&options)?;
        let name =
            format!("round {} (pool {}, {load_ms} ms{})", round + 1, options.buffer_pool, if again { ", twice" } else { "" });
        judge(report, &name, errors, &mut models, &server.address);
        if report.failed > 0 {
            return Err(format!("stopped after {name}"));
        }
        if (round + 1) % ROUNDS_PER_DIRECTORY == 0 || round + 1 == arguments.rounds {
            report.case(&format!("orderly stop after round {}", round + 1), || server.stop());
            report.case(&format!("heddle check after round {}", round + 1), || check_offline(&options).map(drop));
            let server = Server::start(&options)?;
            judge(report, &format!("orderly start after round {}", round + 1), Vec::new(), &mut models, &server.address);
        }
    }
    Ok(())
}

/// Starts the server and kills it, most likely in the middle of its recovery.
fn kill_while_starting(options: &ServerOptions, after_ms: u64) -> Result<(), String> {
    let log = std::fs::File::options().create(true).append(true).open(options.directory.join("server.log"));
    let log = log.map_err(|e| e.to_string())?;
    let mut child = std::process::Command::new(&options.binary)
        .args(["serve", "--bind", "127.0.0.1", "--port", &tests::server::free_port()?.to_string(), "--socket"])
        .arg(options.directory.join("sql.sock"))
        .arg("--data-dir")
        .arg(options.directory.join("data"))
        .args(["--buffer-pool", &options.buffer_pool, "--durability", &options.durability])
        .stdin(std::process::Stdio::null())
        .stdout(log)
        .stderr(std::process::Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())?;
    std::thread::sleep(Duration::from_millis(after_ms));
    child.kill().and_then(|()| child.wait()).map_err(|e| e.to_string())?;
    Ok(())
}

/// C6: the output of `heddle check`.
fn check_offline(options: &ServerOptions) -> Result<String, String> {
    let output = std::process::Command::new(&options.binary)
        .arg("check")
        .arg(options.directory.join("data"))
        .output()
        .map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout);
    // After an unclean stop the program checks single pages only.
    if output.status.success() && said.contains("stopped in good order") && !said.contains("lost space") {
        Ok(said.into_owned())
    } else {
        Err(format!("{said}{}", String::from_utf8_lossy(&output.stderr)))
    }
}

fn judge(report: &mut Report, name: &str, errors: Vec<String>, models: &mut Models, address: &Address) {
    let mut failures = errors;
    match check::all(models, address) {
        Ok(found) => failures.extend(found),
        Err(why) => failures.push(why),
    }
    match failures.first() {
        None => report.ok(format!("{name}: {}", models.told())),
        Some(first) => report.fail(name, format!("{first} ({} failures)", failures.len())),
    }
    for more in failures.iter().skip(1).take(10) {
        println!("     {more}");
    }
}

/// The same load and checks on a server that is not killed.
fn against(arguments: &Arguments, at: &str, seed: u64, report: &mut Report) -> Result<(), String> {
    let mut rng = StdRng::seed_from_u64(seed);
    let address = Address::parse(at, &arguments.user, &arguments.password)?;
    let mut models = Models::new(arguments.clients);
    load::create(&address)?;
    for round in 0..arguments.rounds {
        let load_ms = rng.random_range(200..=arguments.load_ms_max);
        let errors = load::run(&mut models, &address, rng.random(), Duration::from_millis(load_ms), || ());
        std::thread::sleep(Duration::from_millis(300));
        judge(report, &format!("round {} ({load_ms} ms, not killed)", round + 1), errors, &mut models, &address);
    }
    Ok(())
}
