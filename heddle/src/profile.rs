//! `heddle profile`: asks a running server which functions its workers are in, and draws a flame graph.
//!
//! The server does the work (SHOW SERVER PROFILE); the account needs PROCESS. The picture is that of the crate `lab`.

use crate::cli::ProfileFlags;
use console::{Place, Rows};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

/// What the samples are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Statement,
    Worker,
    Nothing,
}

/// Takes a profile, and writes it.
///
/// # Errors
/// One line for the person who asked.
pub fn run(flags: &ProfileFlags) -> Result<String, String> {
    let place = match (&flags.socket, &flags.host) {
        (Some(socket), _) => Place::Socket(socket.clone()),
        (None, Some(host)) => Place::Address(host.clone(), flags.port),
        (None, None) => Place::Socket("heddle-data/heddle.sock".into()),
    };
    let password = std::env::var("HEDDLE_PASSWORD").unwrap_or_default();
    let by = match flags.by.as_str() {
        "statement" => By::Statement,
        "worker" => By::Worker,
        "nothing" => By::Nothing,
        other => return Err(format!("--by: '{other}' is not one of statement, worker, nothing")),
    };
    let statement = format!("SHOW SERVER PROFILE FOR {} SECONDS AT {} HERTZ", flags.seconds, flags.hertz);
    let patience = Duration::from_secs(flags.seconds.min(60) + 120);
    let rows = console::ask(&place, &flags.user, &password, &statement, patience)?;
    let lines = lines(&rows, by);
    let samples: u64 = lines.iter().map(|(_, samples)| samples).sum();
    if samples == 0 {
        return Ok("no worker has run in that time\n".to_owned());
    }
    if flags.folded {
        return Ok(lines.iter().fold(String::new(), |mut text, (stack, samples)| {
            let _ = writeln!(text, "{stack} {samples}");
            text
        }));
    }
    let title = format!("{samples} samples in {} s at {place}", flags.seconds.min(60));
    std::fs::write(&flags.out, lab::flame::svg(&title, &lines))
        .map_err(|error| format!("cannot write {}: {error}", flags.out.display()))?;
    Ok(format!("{title}: {}\n{}", flags.out.display(), summary(&rows, samples)))
}

fn text(row: &[serde_json::Value], place: usize) -> Option<&str> {
    row.get(place)?.as_str()
}

fn number(row: &[serde_json::Value], place: usize) -> u64 {
    row.get(place).and_then(serde_json::Value::as_u64).unwrap_or(0)
}

/// Stacks with their samples. The columns are those of SHOW SERVER PROFILE.
fn lines(rows: &Rows, by: By) -> Vec<(String, u64)> {
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for row in &rows.rows {
        let stack = text(row, 4).unwrap_or("(unknown)");
        let stack = match by {
            By::Statement => format!("{};{stack}", text(row, 3).unwrap_or("(no statement)").replace(';', ",")),
            By::Worker => format!("worker {};{stack}", number(row, 0)),
            By::Nothing => stack.to_owned(),
        };
        *sums.entry(stack).or_default() += number(row, 5);
    }
    sums.into_iter().collect()
}

/// The statements with most samples.
fn summary(rows: &Rows, all: u64) -> String {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &rows.rows {
        *sums.entry(text(row, 3).unwrap_or("(no statement)")).or_default() += number(row, 5);
    }
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_key(|(_, samples)| std::cmp::Reverse(*samples));
    sums.iter().take(10).fold(String::new(), |mut told, (statement, samples)| {
        let short: String = statement.chars().take(100).collect();
        let _ = writeln!(told, "{:5.1} %  {short}", *samples as f64 / all as f64 * 100.0);
        told
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows() -> Rows {
        let row = |worker: u64, text: Option<&str>, stack: &str, samples: u64| {
            vec![json!(worker), json!(null), json!(null), json!(text), json!(stack), json!(samples)]
        };
        let rows = vec![row(0, Some("SELECT ? ; <"), "main;a;b", 30), row(1, None, "main;a", 10)];
        Rows { columns: Vec::new(), rows }
    }

    #[test]
    fn samples_add_up_by_what_is_wanted() {
        let told = |by| lines(&rows(), by);
        let line = |stack: &str, samples| (stack.to_owned(), samples);
        assert_eq!(told(By::Nothing), [line("main;a", 10), line("main;a;b", 30)]);
        assert_eq!(told(By::Worker), [line("worker 0;main;a;b", 30), line("worker 1;main;a", 10)]);
        assert_eq!(told(By::Statement), [line("(no statement);main;a", 10), line("SELECT ? , <;main;a;b", 30)]);
        assert_eq!(summary(&rows(), 40), " 75.0 %  SELECT ? ; <\n 25.0 %  (no statement)\n");
    }
}
