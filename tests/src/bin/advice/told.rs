//! `heddle advise`: forgets, runs the statements of a log, and tells what it found.

use super::{Outcome, text};
use mysql::Conn;
use mysql::prelude::Queryable;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tests::{Report, Server, ServerOptions};

const QUERIES: u32 = 30;
/// As a framework with SQLCommenter writes it.
const TAGS: &str = "/*controller='scores',route='%2Fscores'*/";

pub fn cases(report: &mut Report, options: &ServerOptions, server: &Server, conn: &mut Conn) {
    let advise = |more: &[&str]| advise(options, server, more);
    report.case("heddle advise --forget leaves no finding about statements", || {
        let forgotten = advise(&["--forget"])?;
        let failed = advise(&["--fail-on", "missing_index,n_plus_one"])?;
        if forgotten.status.success() && failed.status.success() { Ok(()) } else { Err(format!("{forgotten:?} {failed:?}")) }
    });
    let logs = record(options, conn);
    for (place, kind) in ["general log", "slow query log"].into_iter().enumerate() {
        report.case(&format!("heddle advise runs the statements of a {kind}"), || {
            let logs = logs.clone()?;
            let path = logs[place].display().to_string();
            let all = ["--forget", "--workload", &path, "--fail-on", "missing_index"];
            let told = advise(&all)?;
            let out = String::from_utf8_lossy(&told.stdout).into_owned();
            let wanted = ["FAIL missing_index sick.scored", "controller=scores, route=/scores", "ADD INDEX (`score`)"];
            match wanted.iter().find(|wanted| !out.contains(**wanted)) {
                Some(missing) => Err(format!("no '{missing}': {out} {}", String::from_utf8_lossy(&told.stderr))),
                None if told.status.code() == Some(1) => unchanged(conn),
                None => Err(format!("{:?}", told.status)),
            }
        });
    }
    report.case("heddle advise tells JUnit and JSON", || in_other_formats(&options.directory, advise));
    report.case("heddle advise says what is wrong with its flags", || {
        for (flags, wanted) in [
            (&["--fail-on", "n_plus_two"][..], "'n_plus_two' is not"),
            (&["--format", "yaml"], "'yaml' is not"),
            (&["--workload", "/nothing/there"], "/nothing/there"),
            (&["--writes"], "--workload"),
        ] {
            let told = advise(flags)?;
            let errors = String::from_utf8_lossy(&told.stderr).into_owned();
            if told.status.code() != Some(1) || !errors.contains(wanted) || errors.trim().lines().count() != 1 {
                return Err(format!("{flags:?}: {told:?}"));
            }
        }
        Ok(())
    });
}

fn advise(options: &ServerOptions, server: &Server, more: &[&str]) -> Result<Output, String> {
    let url = format!("mysql://root@127.0.0.1:{}/sick", server.address.port);
    Command::new(&options.binary).args(["advise", "--url", &url]).args(more).output().map_err(text)
}

/// Runs statements while the server writes a general log and a slow query log; their paths.
fn record(options: &ServerOptions, conn: &mut Conn) -> Result<[PathBuf; 2], String> {
    let logs = ["general.log", "slow.log"].map(|name| options.directory.join(name));
    let mut run = |statement: String| conn.query_drop(statement).map_err(text);
    run("SET SESSION long_query_time = 0".into())?;
    run("USE sick".into())?;
    for (log, path) in ["general_log", "slow_query_log"].iter().zip(&logs) {
        run(format!("SET GLOBAL {log}_file = '{}', GLOBAL {log} = ON", path.display()))?;
    }
    run("USE sick".into())?;
    for n in 0..QUERIES {
        run(format!("SELECT id,\n  filler FROM scored WHERE score = {} {TAGS}", n * 13))?;
    }
    run("UPDATE scored SET filler = 'changed' WHERE id = 1".into())?;
    run("SET GLOBAL general_log = OFF, GLOBAL slow_query_log = OFF".into())?;
    run("UPDATE scored SET filler = 'again' WHERE id = 1".into())?;
    Ok(logs)
}

/// The UPDATE of the log was not run: nothing asked for it.
fn unchanged(conn: &mut Conn) -> Outcome {
    let now: Option<String> = conn.query_first("SELECT filler FROM sick.scored WHERE id = 1").map_err(text)?;
    if now.as_deref() == Some("again") { Ok(()) } else { Err(format!("a statement of the log has written: {now:?}")) }
}

fn in_other_formats(directory: &Path, advise: impl Fn(&[&str]) -> Result<Output, String>) -> Outcome {
    let path = directory.join("advice.xml");
    let name = path.display().to_string();
    let junit = advise(&["--format", "junit", "--out", &name, "--fail-on", "any"])?;
    let xml = std::fs::read_to_string(&path).map_err(text)?;
    if junit.status.code() != Some(1) || !xml.contains("<failure type=\"missing_index\"") {
        return Err(format!("{junit:?} {xml}"));
    }
    let json = advise(&["--format", "json"])?;
    let made: serde_json::Value = serde_json::from_slice(&json.stdout).map_err(text)?;
    let found = made["findings"].as_array().is_some_and(|all| all.iter().any(|one| one["kind"] == "missing_index"));
    if found && made["failing"] == 0 { Ok(()) } else { Err(made.to_string()) }
}
