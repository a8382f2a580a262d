//! The transactions of TPC-C, with `bench/tpcc`, and its consistency conditions: after runs by procedures and by statements, and after the
//! server was killed in the middle of one. Between, all orders are delivered, so that deliveries meet orders younger than their snapshots.
//!
//! The program `tpcc` is the one beside this.

use clap::Parser;
use mysql::prelude::Queryable;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;
use tests::{Report, Server, ServerOptions};

#[derive(Parser)]
#[command(about = "Runs TPC-C, kills the server in the middle, and asks the consistency conditions")]
struct Arguments {
    #[arg(long, default_value_t = 1)]
    warehouses: u32,
    #[arg(long, default_value_t = 8)]
    users: u32,
    /// Seconds of each run
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// How often the server is killed
    #[arg(long, default_value_t = 2)]
    kills: u32,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut report = Report::new();
    let directory = std::env::temp_dir().join(format!("heddle-tpcc-{}", std::process::id()));
    if let Err(why) = run(&arguments, &directory, &mut report) {
        report.fail("tpc-c", why);
    }
    if report.failed == 0 {
        // The log is of interest only after a failure.
        let _ = std::fs::remove_dir_all(&directory);
    }
    report.finish()
}

fn run(arguments: &Arguments, directory: &Path, report: &mut Report) -> Result<(), String> {
    let options = ServerOptions { durability: "full".into(), ..ServerOptions::new(directory) };
    let mut server = Server::start(&options)?;
    finish(tpcc(&server, arguments, "load", &[]))?;
    report.case("the tables are loaded", || finish(tpcc(&server, arguments, "check", &[])));
    let seconds = arguments.seconds.to_string();
    let users = arguments.users.to_string();
    let modes = [("procedures", "prepared"), ("procedures", "text"), ("statements", "prepared"), ("statements", "text")];
    for (mode, protocol) in modes {
        let words = ["--mode", mode, "--protocol", protocol, "--users", &users, "--seconds", &seconds, "--ramp-up", "0"];
        report.case(&format!("{mode}, {protocol}"), || finish(tpcc(&server, arguments, "run", &words)));
    }
    report.case("all orders are delivered", || deliver_all(&server, arguments.warehouses).map_err(|e| e.to_string()));
    for mode in ["procedures", "statements"] {
        let words = ["--mode", mode, "--users", &users, "--seconds", &seconds, "--ramp-up", "0"];
        report.case(&format!("{mode}, orders delivered as they come"), || finish(tpcc(&server, arguments, "run", &words)));
    }
    for (kill, (mode, protocol)) in (1..=arguments.kills).zip(modes.iter().cycle()) {
        let words = ["--mode", mode, "--protocol", protocol, "--users", &users, "--seconds", "600", "--ramp-up", "0"];
        let mut load = spawn(tpcc(&server, arguments, "run", &words))?;
        std::thread::sleep(Duration::from_secs_f64(arguments.seconds));
        let running = load.try_wait().map_err(|e| e.to_string())?.is_none();
        server.kill();
        // The users meet the server's end, and so does the program.
        let _ = load.kill();
        let _ = load.wait();
        server = Server::start(&options)?;
        report.case(&format!("kill {kill}, {mode}"), || {
            if running { finish(tpcc(&server, arguments, "check", &[])) } else { Err("the load ended before the kill".into()) }
        });
    }
    report.case("the server stops", || server.stop());
    Ok(())
}

/// Delivers until no district has a new order left.
fn deliver_all(server: &Server, warehouses: u32) -> mysql::Result<()> {
    let mut client = server.address.connect_to("tpcc")?;
    for warehouse in 1..=warehouses {
        while client.query_first::<u32, _>(format!("CALL delivery({warehouse}, 1)"))?.is_some_and(|delivered| delivered > 0) {}
    }
    Ok(())
}

fn tpcc(server: &Server, arguments: &Arguments, verb: &str, more: &[&str]) -> Command {
    let at = &server.address;
    let program = std::env::current_exe().map(|p| p.with_file_name("tpcc")).unwrap_or_else(|_| "tpcc".into());
    let mut command = Command::new(program);
    command.args([verb, "--host", &at.host, "--port", &at.port.to_string(), "--user", &at.user]);
    command.args(["--warehouses", &arguments.warehouses.to_string()]).args(more).stdin(Stdio::null());
    command
}

fn spawn(mut command: Command) -> Result<Child, String> {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(|e| format!("{command:?}: {e}"))
}

/// Runs a command; if it fails, returns its output as the error.
fn finish(mut command: Command) -> Result<(), String> {
    let output = command.output().map_err(|e| format!("{command:?}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let wrong: Vec<&str> = text.lines().filter(|line| !line.contains(" holds ") && !line.starts_with('|')).collect();
    Err(format!("{}: {}", output.status, wrong.join("; ")))
}
