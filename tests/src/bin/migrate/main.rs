//! `heddle migrate`: a move of a written server to a Heddle and back again, from a Heddle, and from a real MySQL where its tree is (`PEERS_ROOT`).
//!
//! Writers change tables of many kinds all the time: texts, numbers, large values, keys of all kinds, unique values that rows exchange, keys that change,
//! foreign keys that delete and change other rows, triggers. Each counts the transactions that were acknowledged, in a table of its own. The move is killed while
//! it copies, and called again; then the servers are exchanged twice while the writers work, who follow the server that can be written.
//! In the end both servers have the same rows, and every transaction that was acknowledged.
//!
//! `--seconds N` is how long the writers work in each part (default 2), `--rows N` how large the largest table is (default 20000).

mod origin;
mod schema;
mod writers;

use mysql::prelude::Queryable;
use origin::Origin;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use tests::{Report, Server, ServerOptions};
use writers::Writers;

type Outcome<T = ()> = Result<T, String>;

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn main() -> ExitCode {
    let argument = |name: &str| {
        let mut arguments = std::env::args();
        arguments.find(|argument| argument == name).and_then(|_| arguments.next()).and_then(|value| value.parse::<u64>().ok())
    };
    let (seconds, rows) = (argument("--seconds").unwrap_or(2), argument("--rows").unwrap_or(20_000));
    let directory = std::env::temp_dir().join(format!("heddle-migrate-{}", std::process::id()));
    let mut report = Report::new();
    for is_real in [false, true] {
        let origin = if is_real { Origin::mysql() } else { Origin::heddle(&directory) };
        match origin {
            Err(why) => report.fail("the source", why),
            Ok(None) => println!("skip a real MySQL as source: its tree is not there (PEERS_ROOT)"),
            Ok(Some(origin)) => {
                let name = origin.name();
                if let Err(why) = run(&directory.join(name), &origin, seconds, rows, &mut report) {
                    report.fail(format!("{name}: the move"), why);
                }
            }
        }
    }
    match report.failed {
        0 => drop(std::fs::remove_dir_all(&directory)),
        _ => println!("     what it left: {}", directory.display()),
    }
    report.finish()
}

/// `heddle migrate` between two servers.
struct Tool<'a> {
    binary: PathBuf,
    directory: &'a Path,
    from: u16,
    to: u16,
}

impl Tool<'_> {
    fn command(&self, step: &str) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(["migrate", step, "--from", &format!("mysql://root@127.0.0.1:{}", self.from)])
            .args(["--to", &format!("mysql://root@127.0.0.1:{}", self.to), "--threads", "2", "--journal"])
            .arg(self.directory.join("move.json"))
            .stdin(Stdio::null());
        command
    }

    /// What a step says; an error has what it says too.
    fn does(&self, step: &str) -> Outcome<String> {
        let output = self.command(step).output().map_err(text)?;
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        if output.status.success() { Ok(said) } else { Err(said) }
    }

    /// Does what is expected of it.
    fn says(&self, step: &str, expected: &str) -> Outcome {
        let (Ok(said) | Err(said)) = self.does(step);
        if said.contains(expected) { Ok(()) } else { Err(format!("{step} says no '{expected}': {said}")) }
    }
}

fn run(directory: &Path, origin: &Origin, seconds: u64, rows: u64, report: &mut Report) -> Outcome {
    std::fs::create_dir_all(directory).map_err(text)?;
    let options = ServerOptions {
        durability: "full".into(),
        buffer_pool: "128M".into(),
        extra: vec!["--log-bin".into(), "on".into()],
        ..ServerOptions::new(directory)
    };
    let target = Server::start(&options)?;
    let tool = Tool { binary: options.binary.clone(), directory, from: origin.port(), to: target.address.port };
    let name = origin.name();
    let mut here = origin.connect()?;
    let mut there = target.connect().map_err(text)?;
    report.case(&format!("{name}: what stands in the way is said, with a cure"), || obstacles(&tool, &mut here, &mut there));
    schema::make(&mut here, rows)?;
    report.case(&format!("{name}: nothing stands in the way"), || tool.does("check").map(drop));
    let writers = Writers::start([origin.port(), target.address.port]);
    let pause = Duration::from_secs(seconds);
    std::thread::sleep(pause / 2);
    report.case(&format!("{name}: a move that is killed while it copies goes on"), || {
        let mut killed = tool.command("run").stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(text)?;
        // The journal is there, and the copy is not complete.
        let until = Instant::now() + Duration::from_secs(60);
        while !std::fs::read_to_string(directory.join("move.json")).is_ok_and(|text| text.contains("Copying")) {
            if Instant::now() > until || killed.try_wait().map_err(text)?.is_some() {
                return Err("it did not begin to copy".to_owned());
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(30));
        killed.kill().map_err(text)?;
        killed.wait().map_err(text)?;
        let said = tool.does("run")?;
        if said.contains("all are the same") { Ok(()) } else { Err(said) }
    });
    report.case(&format!("{name}: views, programs, accounts are moved"), || schema::is_moved(&mut there));
    report.case(&format!("{name}: a row that differs is found"), || {
        let damage = |client: &mut mysql::Conn, value: &str| -> Outcome {
            client.query_drop("SET GLOBAL super_read_only = OFF").map_err(text)?;
            client.query_drop("SET sql_log_bin = 0").map_err(text)?;
            client.query_drop(format!("UPDATE shop.quiet SET v = {value} WHERE id = 77")).map_err(text)?;
            client.query_drop("SET sql_log_bin = 1").map_err(text)?;
            client.query_drop("SET GLOBAL super_read_only = ON").map_err(text)
        };
        damage(&mut there, "'damaged'")?;
        tool.says("verify", "shop.quiet up to key 77")?;
        damage(&mut there, "'row 77'")?;
        tool.says("verify", "all are the same")
    });
    report.case(&format!("{name}: the servers are exchanged while writers work"), || {
        tool.says("cut-over", "is open for writing")?;
        std::thread::sleep(pause);
        tool.says("status", "transactions to apply")
    });
    report.case(&format!("{name}: and exchanged back"), || {
        tool.says("go-back", "is open for writing again")?;
        std::thread::sleep(pause);
        Ok(())
    });
    report.case(&format!("{name}: and once more"), || tool.says("cut-over", "is open for writing"));
    std::thread::sleep(pause / 2);
    let acknowledged = writers.stop()?;
    report.case(&format!("{name}: both servers have the same rows, and all that was acknowledged"), || {
        in_step(&mut there, &mut here)?;
        tests::tables::same_rows(&mut here, &mut there, &["shop"])?;
        writers::check(&mut there, &acknowledged)
    });
    Ok(())
}

/// Waits until the one has all that the other has executed.
fn in_step(source: &mut mysql::Conn, replica: &mut mysql::Conn) -> Outcome {
    let set: Option<String> = source.query_first("SELECT @@GLOBAL.gtid_executed").map_err(text)?;
    let set = set.unwrap_or_default().replace('\n', "");
    let until = Instant::now() + Duration::from_secs(60);
    while Instant::now() < until {
        let has: Option<i64> =
            replica.query_first(format!("SELECT GTID_SUBSET('{set}', @@GLOBAL.gtid_executed)")).map_err(text)?;
        if has == Some(1) {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let status: Option<mysql::Row> = replica.query_first("SHOW REPLICA STATUS").map_err(text)?;
    Err(format!("the old server does not catch up: {status:?}"))
}

/// Each obstacle is named.
fn obstacles(tool: &Tool<'_>, here: &mut mysql::Conn, there: &mut mysql::Conn) -> Outcome {
    let run = |client: &mut mysql::Conn, statements: &[&str]| -> Outcome {
        statements.iter().try_for_each(|statement| client.query_drop(statement).map_err(|error| format!("{statement}: {error}")))
    };
    run(here, &["CREATE DATABASE early", "CREATE TABLE early.heap (a INT)", "SET GLOBAL server_id = 1"])?;
    run(there, &["SET GLOBAL server_id = 1", "CREATE DATABASE early"])?;
    tool.says("check", "server_id is 1 at the source and 1 at the target")?;
    tool.says("check", "the target has a database early already")?;
    run(there, &["SET PERSIST server_id = 2", "DROP DATABASE early"])?;
    tool.says("check", "early.heap has no primary key")?;
    tool.says("run", "early.heap has no primary key")?;
    run(here, &["DROP DATABASE early", "SET GLOBAL binlog_row_image = 'MINIMAL'"])?;
    tool.says("check", "binlog_row_image = MINIMAL, not FULL")?;
    run(here, &["SET GLOBAL binlog_row_image = 'FULL'"])?;
    tool.says("status", "begin with 'heddle migrate run'")?;
    tool.says("cut-over", "begin with 'heddle migrate run'")
}
