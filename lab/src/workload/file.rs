//! A file of the user's: statements by the load, each an event of its own, in turn.
//!
//! ```text
//! -- prepare          what follows is run once, in an empty database
//! CREATE TABLE t (id INT PRIMARY KEY, n INT);
//! -- run              what follows is the load
//! SELECT n FROM t WHERE id = {1..1000};
//! -- event            several statements, down to the next `-- event` or the end, are one event
//! BEGIN; UPDATE t SET n = n + 1 WHERE id = {1..1000}; COMMIT;
//! ```
//! `{LOW..HIGH}` is a random number, a mark of the prepared statement. A statement ends with `;` at the end of a line, or before another one.

use super::{Event, Place, Script, Statement, Workload};
use crate::client::Client;
use crate::error::{Error, Result};
use crate::random::Random;
use crate::target::Dialect;
use std::path::Path;
use std::sync::Arc;

const BYTES_MAX: u64 = 16 << 20;
const PREPARE: &str = "-- prepare";
const RUN: &str = "-- run";
const EVENT: &str = "-- event";

/// The calls of one event: a statement, and the range of each of its marks.
type Calls = Vec<(u32, Vec<(u64, u64)>)>;

/// One statement with the ranges of its marks.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    sql: String,
    ranges: Vec<(u64, u64)>,
}

/// The statements of a file.
#[derive(Debug, PartialEq, Eq)]
pub struct File {
    prepare: Vec<String>,
    lines: Vec<Line>,
    /// Parts of the lines that are one event
    events: Arc<Vec<Calls>>,
}

impl File {
    pub fn read(path: &Path) -> Result<Self> {
        let place = path.display().to_string();
        let bytes = std::fs::metadata(path).map_err(Error::io(&place))?.len();
        if bytes > BYTES_MAX {
            return Err(Error::asked(format!("{place}: {bytes} bytes are more than {BYTES_MAX}")));
        }
        Self::parse(&std::fs::read_to_string(path).map_err(Error::io(&place))?).map_err(Error::at(place))
    }

    fn parse(text: &str) -> Result<Self> {
        let (mut prepare, mut lines, mut events) = (Vec::new(), Vec::new(), Vec::new());
        // Whether it belongs to the load, and whether statements are gathered into an event.
        let (mut runs, mut gathers) = (!text.lines().any(|line| line.trim() == RUN), false);
        let mut open = String::new();
        let mut statement =
            |sql: &str, runs: bool, gathers: bool, prepare: &mut Vec<String>, events: &mut Vec<Vec<_>>| -> Result<()> {
                let sql = sql.trim();
                if sql.is_empty() {
                    return Ok(());
                }
                if !runs {
                    prepare.push(sql.to_owned());
                    return Ok(());
                }
                let line = Line::parse(sql)?;
                let call = (lines.len() as u32, line.ranges.clone());
                lines.push(line);
                match events.last_mut() {
                    Some(event) if gathers => event.push(call),
                    _ => events.push(vec![call]),
                }
                Ok(())
            };
        for line in text.lines() {
            let trimmed = line.trim();
            match trimmed {
                PREPARE | RUN => (runs, gathers) = (trimmed == RUN, false),
                EVENT => {
                    gathers = true;
                    events.push(Vec::new());
                }
                _ if trimmed.starts_with("--") => (),
                _ => {
                    open.push_str(line);
                    open.push('\n');
                    if trimmed.ends_with(';') {
                        for sql in split(&open) {
                            statement(sql, runs, gathers, &mut prepare, &mut events)?;
                        }
                        open.clear();
                    }
                }
            }
        }
        statement(&open, runs, gathers, &mut prepare, &mut events)?;
        events.retain(|event| !event.is_empty());
        if events.is_empty() {
            return Err(Error::asked("there is no statement to run"));
        }
        Ok(Self { prepare, lines, events: Arc::new(events) })
    }
}

/// Statements of a text that ends with `;`, which may stand within quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut quote) = (Vec::new(), 0, None);
    for (at, byte) in text.bytes().enumerate() {
        match quote {
            Some(open) if byte == open => quote = None,
            Some(_) => (),
            None if matches!(byte, b'\'' | b'"' | b'`') => quote = Some(byte),
            None if byte == b';' => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            None => (),
        }
    }
    parts.push(&text[from..]);
    parts
}

impl Line {
    fn parse(sql: &str) -> Result<Self> {
        let (mut text, mut ranges, mut rest) = (String::new(), Vec::new(), sql);
        while let Some((before, after)) = rest.split_once('{') {
            let Some((range, behind)) = after.split_once('}') else { break };
            let numbers =
                range.split_once("..").and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
            let (low, high): (u64, u64) = match numbers {
                Some(numbers) => numbers,
                // A brace of the statement itself, such as that of a JSON text.
                None => {
                    text.push_str(before);
                    text.push('{');
                    rest = after;
                    continue;
                }
            };
            if low > high || high > i32::MAX as u64 {
                return Err(Error::asked(format!("{{{range}}} is no range of numbers up to {}", i32::MAX)));
            }
            text.push_str(before);
            text.push('?');
            ranges.push((low, high));
            rest = behind;
        }
        text.push_str(rest);
        Ok(Self { sql: text, ranges })
    }
}

impl Workload for File {
    fn prepare(&self, client: &mut Client, _: Dialect, tell: &mut dyn FnMut(f64) -> Result<()>) -> Result<()> {
        for (at, sql) in self.prepare.iter().enumerate() {
            client.run(sql)?;
            tell(at as f64 / self.prepare.len() as f64)?;
        }
        Ok(())
    }

    fn statements(&self, _: Dialect) -> Vec<Statement> {
        let plain = |sql: &str| ["begin", "commit", "rollback", "start transaction"].contains(&sql.to_lowercase().as_str());
        self.lines
            .iter()
            .map(
                |line| {
                    if plain(&line.sql) {
                        Statement::text("statement", &line.sql)
                    } else {
                        Statement::new("statement", &line.sql)
                    }
                },
            )
            .collect()
    }

    fn script(&self, place: Place, _: Dialect) -> Box<dyn Script> {
        Box::new(Turns { events: Arc::clone(&self.events), next: place.number })
    }

    fn data(&self) -> String {
        "file".into()
    }

    fn conditions(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

struct Turns {
    events: Arc<Vec<Calls>>,
    next: usize,
}

impl Script for Turns {
    fn event(&mut self, random: &mut Random, event: &mut Event) {
        for (statement, ranges) in &self.events[self.next % self.events.len()] {
            event.call(*statement);
            for (low, high) in ranges {
                event.int(random.number(*low, *high));
            }
        }
        self.next += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read() {
        let text = "-- prepare\nCREATE TABLE t (a TEXT);\nINSERT INTO t VALUES ('x;{y}');\n-- run\nSELECT a\nFROM t WHERE id = {1..9};\n\
                    -- a comment\nSELECT 2;\n-- event\nBEGIN; UPDATE t SET n = {5..5}; COMMIT;\n";
        let file = File::parse(text).expect("well formed");
        assert_eq!(file.prepare, ["CREATE TABLE t (a TEXT)", "INSERT INTO t VALUES ('x;{y}')"]);
        let sql: Vec<&str> = file.lines.iter().map(|line| line.sql.as_str()).collect();
        assert_eq!(sql, ["SELECT a\nFROM t WHERE id = ?", "SELECT 2", "BEGIN", "UPDATE t SET n = ?", "COMMIT"]);
        assert_eq!(file.events.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 3]);
        let (mut script, mut event) = (file.script(Place { number: 2, of: 3 }, Dialect::MySql), Event::default());
        script.event(&mut Random::new(1), &mut event);
        assert_eq!(event.calls().len(), 3);
        assert_eq!(event.values(event.calls()[1]), [crate::client::Value::Int(5)]);
    }

    #[test]
    fn a_file_without_marks_of_parts_is_the_load() {
        let file = File::parse("SELECT 1;\nSELECT '{\"a\": 1}'").expect("well formed");
        assert_eq!((file.prepare.len(), file.events.len(), file.lines[1].sql.as_str()), (0, 2, "SELECT '{\"a\": 1}'"));
        assert!(File::parse("-- prepare\nSELECT 1;\n-- run\n").is_err());
        assert!(File::parse("SELECT {9..1};").is_err());
    }
}
