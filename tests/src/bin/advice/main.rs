//! The query doctor finds what is wrong, and nothing else.
//!
//! 1. Sound statements run at load (`sound`). There must be no advice.
//! 2. Each pathology runs on a table or as an account of its own (`sick`), beside more sound statements.
//! 3. `sys.advice` must have a finding for each pathology, and no other.
//! 4. Privileges, SHOW ADVICE with its filters, dismissing, and a restart.
//! 5. Cures are measured, applied, verified and reverted (`cure`).
//! 6. `heddle advise` (`told`).

mod cure;
mod sick;
mod sound;
mod told;

use mysql::Conn;
use mysql::prelude::Queryable;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tests::{Report, Server, ServerOptions};

/// Rows of the large tables.
pub const ROWS: u32 = 12_000;
type Outcome = Result<(), String>;

fn main() -> ExitCode {
    let mut report = Report::new();
    let directory = std::env::temp_dir().join(format!("heddle-advice-{}", std::process::id()));
    let outcome = run(&mut report, &directory);
    if let Err(why) = outcome {
        report.fail("advice", why);
    }
    // What is left of it is in the system's folder for such things.
    let _ = std::fs::remove_dir_all(&directory);
    report.finish()
}

pub fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn run(report: &mut Report, directory: &Path) -> Outcome {
    let options = ServerOptions::new(directory);
    let server = Server::start(&options)?;
    let mut conn = server.connect().map_err(text)?;
    sound::load(&mut conn).map_err(text)?;
    sound::run(&server, Duration::from_secs(3))?;
    report.case("sound statements get no advice", || match findings(&mut conn)? {
        none if none.is_empty() => Ok(()),
        some => Err(format!("{some:?} {}", evidence(&mut conn)?)),
    });
    sick::load(&mut conn).map_err(text)?;
    // Held until the end: it is one of the findings.
    let idle = sick::idle(&server).map_err(text)?;
    let seeded = sick::seed(&server)?;
    sound::run(&server, Duration::from_secs(10))?;
    let found = findings(&mut conn)?;
    for expected in &seeded {
        report.case(&format!("{} of {} is found", expected.0, expected.1), || {
            if found.contains(expected) { Ok(()) } else { Err("it is not".to_owned()) }
        });
    }
    report.case("nothing else is found", || {
        let other: Vec<_> = found.iter().filter(|finding| !seeded.contains(finding) && !sick::may_be(finding)).collect();
        if other.is_empty() { Ok(()) } else { Err(format!("{other:?} {}", evidence(&mut conn)?)) }
    });
    report.case("SHOW ADVICE is filtered, and needs a privilege", || shown(&server, &mut conn));
    let dismissed = dismiss(&mut conn);
    report.case("a dismissed finding is not shown", || dismissed.clone().map(|_| ()));
    report.case("nothing is looked for while heddle_advice is off", || switched_off(&mut conn));
    cure::cases(report, &server, &mut conn);
    told::cases(report, &options, &server, &mut conn);
    drop(idle);
    server.stop()?;
    let server = Server::start(&options)?;
    let mut conn = server.connect().map_err(text)?;
    report.case("what was measured and applied is known after a restart", || cure::remembered(&mut conn));
    report.case("it stays dismissed after a restart", || {
        let id = dismissed?;
        let now: Option<String> = conn.query_first("SELECT @@GLOBAL.heddle_advice_dismissed").map_err(text)?;
        if now.as_deref() == Some(id.as_str()) { Ok(()) } else { Err(format!("{now:?}")) }
    });
    server.stop()
}

/// Kind and table, or account, of each finding.
fn findings(conn: &mut Conn) -> Result<BTreeSet<(String, String)>, String> {
    let rows: Vec<(String, Option<String>, Option<String>, String)> =
        conn.query("SELECT kind, table_schema, table_name, evidence FROM sys.advice").map_err(text)?;
    let of = |(kind, schema, name, evidence): (String, Option<String>, Option<String>, String)| match (schema, name) {
        (Some(schema), Some(name)) => (kind, format!("{schema}.{name}")),
        // The account is named in the evidence.
        _ => (kind, evidence.split('\'').nth(1).unwrap_or_default().to_owned()),
    };
    Ok(rows.into_iter().map(of).collect())
}

fn evidence(conn: &mut Conn) -> Result<String, String> {
    let rows: Vec<(String, String, Option<String>)> =
        conn.query("SELECT kind, evidence, statement FROM sys.advice").map_err(text)?;
    Ok(format!("{rows:?}"))
}

fn shown(server: &Server, conn: &mut Conn) -> Outcome {
    let kinds = |conn: &mut Conn, statement: &str| -> Result<Vec<String>, String> {
        conn.query_map(statement, |row: mysql::Row| row.get(1).unwrap_or_default()).map_err(text)
    };
    let of_table = kinds(conn, "SHOW ADVICE FOR TABLE sick.by_code")?;
    if of_table != ["missing_index"] {
        return Err(format!("for the table: {of_table:?}"));
    }
    let like = kinds(conn, "SHOW ADVICE LIKE 'missing%'")?;
    if like.is_empty() || like.iter().any(|kind| kind != "missing_index") {
        return Err(format!("by kind: {like:?}"));
    }
    let wrong = conn.query_drop("SHOW ADVICE FOR TABLE sick.nothing");
    if !matches!(&wrong, Err(mysql::Error::MySqlError(error)) if error.code == 1146) {
        return Err(format!("of no table: {wrong:?}"));
    }
    let mut other = Conn::new(server.address.options().user(Some("chatty")).pass(Some(""))).map_err(text)?;
    let refused = other.query_drop("SHOW ADVICE");
    if !matches!(&refused, Err(mysql::Error::MySqlError(error)) if error.code == 1227) {
        return Err(format!("without PROCESS: {refused:?}"));
    }
    Ok(())
}

/// Dismisses a finding and returns its id.
fn dismiss(conn: &mut Conn) -> Result<String, String> {
    let id: Option<String> = conn.query_first("SELECT id FROM sys.advice WHERE kind = 'no_primary_key'").map_err(text)?;
    let id = id.ok_or("there is no finding")?;
    conn.query_drop(format!("CALL sys.dismiss_advice('{id}')")).map_err(text)?;
    conn.query_drop(format!("CALL sys.dismiss_advice('{id}')")).map_err(text)?;
    let shown: Vec<mysql::Row> = conn.query("SHOW ADVICE LIKE 'no_primary_key'").map_err(text)?;
    let kept: Option<String> = conn.query_first(format!("SELECT dismissed FROM sys.advice WHERE id = '{id}'")).map_err(text)?;
    if !shown.is_empty() || kept.as_deref() != Some("YES") {
        return Err(format!("{shown:?}, {kept:?}"));
    }
    match conn.query_drop("CALL sys.dismiss_advice('x')") {
        Err(mysql::Error::MySqlError(_)) => Ok(id),
        other => Err(format!("a wrong id: {other:?}")),
    }
}

fn switched_off(conn: &mut Conn) -> Outcome {
    let caused = |conn: &mut Conn| -> Result<Option<String>, String> {
        conn.query_first("SELECT evidence FROM sys.advice WHERE kind = 'n_plus_one'").map_err(text)
    };
    let before = caused(conn)?;
    conn.query_drop("SET GLOBAL heddle_advice = OFF").map_err(text)?;
    sick::n_plus_one(conn).map_err(text)?;
    let after = caused(conn)?;
    conn.query_drop("SET GLOBAL heddle_advice = ON").map_err(text)?;
    let count = |evidence: &Option<String>| evidence.as_ref().and_then(|text| text.split(' ').next().map(str::to_owned));
    if count(&before).is_some() && count(&before) == count(&after) { Ok(()) } else { Err(format!("{before:?}, then {after:?}")) }
}
