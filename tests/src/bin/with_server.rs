//! Starts a fresh server, runs a program with its address as arguments, and stops the server again.
//!
//! usage: with_server NAME PROGRAM [ARGUMENT...]
//!
//! The program is called with `HOST PORT USER PASSWORD SOCKET` after its own arguments. The server must still greet
//! afterwards and end well on SIGTERM; both count as cases beside those the program prints. It may take `$WITH_SERVER_SECONDS`. With
//! `$WITH_SERVER_ACCOUNT` the account is one of this name and password, and the server takes clients' files. With `$WITH_SERVER_CONSOLE`
//! the server has a console, and the program its address as `$CONSOLE`. Cases are lines
//! `ok ...` and `FAIL ...`; where there are none, those of its line `passed/failed/total: a/b/c` count.

use mysql::prelude::Queryable;
use std::process::{Command, ExitCode, Stdio};
use tests::{Address, Report, Server, ServerOptions};

/// How long a program may take, unless it is said.
const PROGRAM_SECONDS_MAX: &str = "420";
/// What timeout(1) ends with when it had to end the program.
const TIMED_OUT: i32 = 124;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, program, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: with_server NAME PROGRAM [ARGUMENT...]");
        return ExitCode::FAILURE;
    };
    let directory = std::env::temp_dir().join(format!("heddle-{name}-{}", std::process::id()));
    let mut report = Report::new();
    match run(&directory, name, program, rest, &mut report) {
        Ok(()) => {}
        Err(why) => report.fail(name, why),
    }
    if report.failed == 0 {
        // The log is of interest only after a failure.
        let _ = std::fs::remove_dir_all(&directory);
    } else {
        println!("     the server's log: {}", directory.join("server.log").display());
    }
    report.finish()
}

/// Makes an account that may do everything, and allows LOCAL INFILE.
fn open_for(root: &Address, name: &str) -> Result<Address, String> {
    let mut connection = root.connect().map_err(|e| e.to_string())?;
    let account = format!("'{name}'@'%'");
    let statements = [
        format!("CREATE USER {account} IDENTIFIED BY '{name}'"),
        format!("GRANT ALL ON *.* TO {account} WITH GRANT OPTION"),
        "SET GLOBAL local_infile = ON".to_owned(),
    ];
    for statement in statements {
        connection.query_drop(&statement).map_err(|e| format!("{statement}: {e}"))?;
    }
    Ok(Address { user: name.to_owned(), password: name.to_owned(), ..root.clone() })
}

fn run(directory: &std::path::Path, name: &str, program: &str, rest: &[String], report: &mut Report) -> Result<(), String> {
    let mut options = ServerOptions::new(directory);
    let with_console = std::env::var_os("WITH_SERVER_CONSOLE").is_some();
    if with_console {
        options.extra = ["--console", "127.0.0.1:0"].map(str::to_owned).to_vec();
    }
    let server = Server::start(&options)?;
    let console = if with_console { tests::server::console_address(&server)? } else { String::new() };
    let at = &match std::env::var("WITH_SERVER_ACCOUNT") {
        Ok(name) => open_for(&server.address, &name)?,
        Err(_) => server.address.clone(),
    };
    let socket = at.socket.as_deref().map(|p| p.display().to_string()).unwrap_or_default();
    let seconds = std::env::var("WITH_SERVER_SECONDS").unwrap_or_else(|_| PROGRAM_SECONDS_MAX.to_owned());
    // A client that hangs is a failure, not the end of the run.
    let output = Command::new("timeout")
        .args(["--kill-after=5", &seconds, program])
        .args(rest)
        .args([&at.host, &at.port.to_string(), &at.user, &at.password, &socket])
        .env("CONSOLE", console)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|e| format!("{program}: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut seen = 0;
    for line in text.lines().filter(|l| !l.starts_with("passed/failed/total")) {
        println!("{line}");
        seen += usize::from(line.starts_with("ok ") || line.starts_with("FAIL "));
        report.passed += usize::from(line.starts_with("ok "));
        report.failed += usize::from(line.starts_with("FAIL "));
    }
    if seen == 0
        && let Some((passed, failed)) = text.lines().rev().find_map(totals)
    {
        seen = passed + failed;
        report.passed += passed;
        report.failed += failed;
    }
    if output.status.code() == Some(TIMED_OUT) {
        let last = text.lines().last().unwrap_or_default();
        report.fail(name, format!("not done after {seconds} s; its last line: {last}"));
    } else if seen == 0 {
        report.fail(name, format!("{program} ended with {} and reported nothing", output.status));
    }
    report.case(&format!("{name}.server_goes_on"), || {
        if server.address.greets() { Ok(()) } else { Err(tests::server::tail(&server.log)) }
    });
    report.case(&format!("{name}.server_stops_well"), || server.stop());
    Ok(())
}

/// Passed and failed of `passed/failed/total: a/b/c`.
fn totals(line: &str) -> Option<(usize, usize)> {
    let (passed, rest) = line.strip_prefix("passed/failed/total: ")?.split_once('/')?;
    Some((passed.parse().ok()?, rest.split_once('/')?.0.parse().ok()?))
}
