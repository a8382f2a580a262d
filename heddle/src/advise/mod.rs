//! `heddle advise`: what the query doctor of a running server has to say, for people and for an application's tests.
//!
//! ```text
//! logs     reads a slow query log or a general log
//! replay   runs its statements
//! report   findings as text, JSON, JUnit
//! ```
//! The findings are those of `sys.advice`, which the server makes (crate `advisor`); an account with PROCESS may see them.

mod logs;
mod replay;
mod report;

use clap::Args;
use console::Place;
use lab::target::{Dialect, Target};
use report::{Format, Report};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(120);

pub const ABOUT: &str = "Ask the query doctor of a running server what an application does wrong: queries in loops, missing indexes, needless joins and \
                         columns, and more. Without --workload the findings are about what the server has run since its start, or since --forget.

For an application's tests: forget, run the tests against the server, then ask with --fail-on. The exit status is 1 when a \
                         finding of these kinds is there.";

pub const EXAMPLES: &str = "Examples:
  heddle advise --url mysql://root@127.0.0.1
      All findings, those that gain most first.
  heddle advise --url mysql://root@127.0.0.1 --forget
  heddle advise --url mysql://root@127.0.0.1 --fail-on n_plus_one,missing_index --format junit --out advice.xml
      Before and after an application's tests.
  heddle advise --url mysql://root@127.0.0.1/shop --forget --workload /var/log/mysql/slow.log
      Run the reading statements of another server's log here, on a copy of its data.

The password may stand in the environment, HEDDLE_PASSWORD.";

/// What `heddle advise` is asked.
#[derive(Args, Clone, Debug)]
pub struct Flags {
    /// The server: mysql://USER[:PASSWORD]@HOST[:PORT][/DATABASE][?socket=PATH]
    #[arg(long, value_name = "ADDRESS")]
    url: String,
    /// Run the statements of this slow query log or general log first
    #[arg(long, value_name = "FILE")]
    workload: Option<PathBuf>,
    /// Run also the statements of the log that change data
    #[arg(long, requires = "workload")]
    writes: bool,
    /// Forget first what the server has counted about statements; without --workload and --fail-on nothing else is done
    #[arg(long)]
    forget: bool,
    /// Exit with 1 when there is a finding of these kinds, with commas; or 'any'
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    fail_on: Vec<String>,
    /// text, json or junit
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: String,
    /// Write the findings into this file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What was found, as text for standard output, and how many findings are of the kinds that fail the run.
#[derive(Debug)]
pub struct Told {
    pub text: String,
    pub failing: usize,
}

/// Asks.
///
/// # Errors
/// One line for the person who asked.
pub fn run(flags: &Flags) -> Result<Told, String> {
    let format = match flags.format.as_str() {
        "text" => Format::Text,
        "json" => Format::Json,
        "junit" => Format::JUnit,
        other => return Err(format!("--format: '{other}' is not one of text, json, junit")),
    };
    let fail_on = kinds(&flags.fail_on)?;
    let (target, database) = target(&flags.url)?;
    let address = target.address();
    if flags.forget {
        ask(&target, "TRUNCATE TABLE performance_schema.events_statements_summary_by_digest")?;
        if flags.workload.is_none() && fail_on.is_empty() {
            return Ok(Told { text: format!("{address} has forgotten what it counted about statements\n"), failing: 0 });
        }
    }
    let replayed = match &flags.workload {
        Some(path) => Some(replay::run(path, &target, database.as_deref(), flags.writes)?),
        None => None,
    };
    let rows = ask(&target, &format!("{} WHERE dismissed = 'NO' ORDER BY gain_ms DESC, id", console::ADVICE))?;
    let Value::Array(findings) = rows.objects() else { return Err("the server has answered no rows".to_owned()) };
    let report = Report { server: &address, findings: &findings, fail_on: &fail_on, replayed: replayed.as_ref() };
    let (text, failing) = (report.write(format), report.failing());
    match &flags.out {
        None => Ok(Told { text, failing }),
        Some(path) => {
            std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            Ok(Told { text: format!("{} findings: {}\n", findings.len(), path.display()), failing })
        }
    }
}

/// The names of kinds.
fn kinds(given: &[String]) -> Result<Vec<&'static str>, String> {
    let all = || advisor::Kind::ALL.iter().map(|kind| kind.name());
    let mut wanted = Vec::new();
    for name in given.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        match all().find(|known| *known == name) {
            Some(known) => wanted.push(known),
            None if name == "any" => wanted.extend(all()),
            None => return Err(format!("--fail-on: '{name}' is not 'any' or one of {}", all().collect::<Vec<_>>().join(", "))),
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    Ok(wanted)
}

/// The server and the database of an address.
fn target(url: &str) -> Result<(Target, Option<String>), String> {
    let (head, query) = url.split_once('?').map_or((url, None), |(head, query)| (head, Some(query)));
    let start = head.find("://").map_or(0, |at| at + 3);
    let (server, database) = match head[start..].rsplit_once('/') {
        Some((server, database)) => (format!("{}{server}", &head[..start]), Some(database)),
        None => (head.to_owned(), None),
    };
    let whole = query.map_or(server.clone(), |query| format!("{server}?{query}"));
    let mut target = Target::parse(&whole).map_err(|error| format!("--url: {error}"))?;
    if target.dialect != Dialect::MySql {
        return Err(format!("--url: {url}: advice is what Heddle gives; write mysql://USER@HOST[:PORT]"));
    }
    if target.password.is_empty() {
        target.password = std::env::var("HEDDLE_PASSWORD").unwrap_or_default();
    }
    Ok((target, database.filter(|name| !name.is_empty()).map(str::to_owned)))
}

fn ask(target: &Target, statement: &str) -> Result<console::Rows, String> {
    let place = match &target.socket {
        Some(path) => Place::Socket(path.clone()),
        None => Place::Address(target.host.clone(), target.port),
    };
    console::ask(&place, &target.user, &target.password, statement, PATIENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_name_a_database() {
        let read = |url: &str| target(url).map(|(target, database)| (target.address(), database));
        assert_eq!(
            read("mysql://root@127.0.0.1:3307/shop").unwrap(),
            ("mysql://root@127.0.0.1:3307".to_owned(), Some("shop".to_owned()))
        );
        assert_eq!(read("mysql://root@h/").unwrap(), ("mysql://root@h:3306".to_owned(), None));
        assert_eq!(read("mysql://root@h?socket=/run/x").unwrap(), ("mysql://root@/run/x".to_owned(), None));
        for wrong in ["", "shop", "postgres://a@b", "mysql://root@h:x/shop"] {
            assert!(read(wrong).unwrap_err().starts_with("--url: "), "{wrong}");
        }
    }

    #[test]
    fn kinds_are_known_by_name() {
        let read = |names: &[&str]| kinds(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(read(&["n_plus_one", " missing_index", ""]).unwrap(), ["missing_index", "n_plus_one"]);
        assert_eq!(read(&["any", "n_plus_one"]).unwrap().len(), advisor::Kind::ALL.len());
        assert!(read(&["n_plus_two"]).unwrap_err().contains("'n_plus_two'"));
    }
}
