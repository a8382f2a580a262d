//! What is run against the servers.
//!
//! ```text
//! Workload  -> prepare(client)         tables and rows, the same on every server
//!           -> statements()            texts with `?`, prepared once in each connection
//!           -> script(connection)      makes events: calls of statements with values
//!           -> check(client)           whether the data is still what it must be
//! ```
//! An event is what latencies are measured of: a transaction of sysbench, an operation of YCSB, a page. Its calls do not depend on
//! answers, so that a script is plain code and the load's loop allocates nothing.
//!
//! TPC-C has transactions that depend on answers: it is run by the library `tpcc` ([`tpcc`]).

mod file;
mod pages;
mod sysbench;
pub mod tpcc;
mod ycsb;

use crate::client::{Client, Value};
use crate::error::{Error, Result};
use crate::random::{Distribution, Random};
use crate::target::Dialect;
use std::io::Write as _;
use std::path::PathBuf;

/// A statement of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    pub sql: String,
    /// What the report calls it; statements of several tables share a name
    pub label: &'static str,
    /// Sent as text, whatever the rest is: BEGIN and COMMIT
    pub as_text: bool,
}

impl Statement {
    fn new(label: &'static str, sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), label, as_text: false }
    }

    fn text(label: &'static str, sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), label, as_text: true }
    }
}

/// One execution of a statement; its values are a part of the event's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    pub statement: u32,
    values: (u32, u32),
    /// What is written behind the text, such as the rows of an INSERT
    tail: (u32, u32),
}

/// The calls of one event. Its room is used again.
#[derive(Clone, Debug, Default)]
pub struct Event {
    calls: Vec<Call>,
    values: Vec<Value>,
    pub text: Vec<u8>,
}

impl Event {
    pub fn clear(&mut self) {
        self.calls.clear();
        self.values.clear();
        self.text.clear();
    }

    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub fn values(&self, call: Call) -> &[Value] {
        &self.values[call.values.0 as usize..call.values.1 as usize]
    }

    /// What is written behind the text of a call.
    pub fn tail_of(&self, call: Call) -> &[u8] {
        &self.text[call.tail.0 as usize..call.tail.1 as usize]
    }

    fn tail(&mut self, text: &str) {
        let from = self.text.len() as u32;
        self.text.extend_from_slice(text.as_bytes());
        let to = self.text.len() as u32;
        self.calls.last_mut().expect("a call was begun").tail = (from, to);
    }

    /// Begins a call; values are added to it.
    fn call(&mut self, statement: u32) -> &mut Self {
        let at = self.values.len() as u32;
        self.calls.push(Call { statement, values: (at, at), tail: (0, 0) });
        self
    }

    fn int(&mut self, number: u64) -> &mut Self {
        // Keys of workloads are below 2^31: `Settings` bounds the rows.
        self.push(Value::Int(number as i32))
    }

    fn pattern(&mut self, random: &mut Random, pattern: &str) -> &mut Self {
        let from = self.text.len() as u32;
        random.pattern(pattern, &mut self.text);
        let to = self.text.len() as u32;
        self.push(Value::Text { from, to })
    }

    fn written(&mut self, text: std::fmt::Arguments<'_>) -> &mut Self {
        let from = self.text.len() as u32;
        self.text.write_fmt(text).expect("memory takes all");
        let to = self.text.len() as u32;
        self.push(Value::Text { from, to })
    }

    fn push(&mut self, value: Value) -> &mut Self {
        self.values.push(value);
        self.calls.last_mut().expect("a call was begun").values.1 += 1;
        self
    }
}

/// Makes the events of one connection.
pub trait Script: Send {
    /// The next event; `event` is empty.
    fn event(&mut self, random: &mut Random, event: &mut Event);
}

/// What of all workloads can be chosen.
#[derive(Clone, Debug)]
pub struct Settings {
    pub tables: u32,
    pub rows: u64,
    pub distribution: Distribution,
    /// A file of statements
    pub file: Option<PathBuf>,
    pub warehouses: u32,
}

/// Which connection a script is for: some workloads share out the keys.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub number: usize,
    pub of: usize,
}

/// A workload, with its settings.
pub trait Workload: Send + Sync {
    /// Makes tables and rows in the current, empty database.
    ///
    /// # Errors
    /// The server's.
    fn prepare(&self, client: &mut Client, dialect: Dialect, tell: &mut dyn FnMut(f64) -> Result<()>) -> Result<()>;

    fn statements(&self, dialect: Dialect) -> Vec<Statement>;

    fn script(&self, place: Place, dialect: Dialect) -> Box<dyn Script>;

    /// Queries that count what must not be: each with what holds.
    fn conditions(&self) -> Vec<(String, String)>;

    /// A name of tables and rows: workloads with the same name follow each other on the same data.
    fn data(&self) -> String;

    /// Whether the rows are used up or become more, so that tables are made anew before each run.
    fn wears_out(&self) -> bool {
        false
    }
}

/// Asks the conditions of a workload.
///
/// # Errors
/// The first that does not hold, or the server's.
pub fn check(workload: &dyn Workload, client: &mut Client) -> Result<()> {
    for (holds, query) in workload.conditions() {
        let count = client.number(&query)?;
        if count != 0.0 {
            return Err(Error::asked(format!("the data is wrong: {count} times it does not hold that {holds} ({query})")));
        }
    }
    Ok(())
}

/// A workload's name, and what it is, for the help.
pub const NAMES: &[(&str, &str)] = &[
    ("point_select", "sysbench: one row by primary key"),
    ("read_only", "sysbench: ten rows by key, four ranges of 100 rows, in a transaction"),
    ("read_write", "sysbench: the above, two updates, a delete and an insert"),
    ("write_only", "sysbench: the writes of read_write"),
    ("update_index", "sysbench: changes an indexed column of one row"),
    ("update_non_index", "sysbench: changes another column of one row"),
    ("insert", "sysbench: inserts one row, sent as text"),
    ("delete", "sysbench: deletes one row"),
    ("select_random_points", "sysbench: ten values of an indexed column"),
    ("select_random_ranges", "sysbench: counts ten short ranges of an indexed column"),
    ("bulk_insert", "sysbench: INSERTs of many small rows"),
    ("ycsb_a", "YCSB: half reads, half updates of popular rows"),
    ("ycsb_b", "YCSB: 95 % reads, 5 % updates"),
    ("ycsb_c", "YCSB: reads only"),
    ("ycsb_d", "YCSB: reads of the newest rows, 5 % inserts"),
    ("ycsb_e", "YCSB: short scans, 5 % inserts"),
    ("ycsb_f", "YCSB: half reads, half reads with an update of the row"),
    ("pages", "a web site: lists, counts, articles with comments, now and then a comment"),
    ("tpcc", "TPC-C: the five transactions, by stored procedures"),
    ("file", "the statements of --file, one event each"),
];

/// The workload of a name.
///
/// # Errors
/// It does not exist, or a setting does not suit it.
pub fn named(name: &str, settings: &Settings) -> Result<Box<dyn Workload>> {
    if name == "file" {
        let path = settings.file.as_ref().ok_or_else(|| Error::asked("the workload 'file' needs --file PATH"))?;
        return Ok(Box::new(file::File::read(path)?));
    }
    if let Some(letter) = name.strip_prefix("ycsb_").and_then(|rest| rest.chars().next()).filter(|_| name.len() == 6) {
        return ycsb::Ycsb::new(letter, settings).map(|workload| Box::new(workload) as Box<dyn Workload>);
    }
    if name == "pages" {
        return Ok(Box::new(pages::Pages::new(settings)));
    }
    let plain = name.strip_prefix("oltp_").unwrap_or(name);
    let known = || NAMES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let workload = sysbench::Sysbench::new(plain, settings);
    workload
        .map(|it| Box::new(it) as Box<dyn Workload>)
        .ok_or_else(|| Error::asked(format!("'{name}' is no workload; there are {}", known())))
}

/// Collects rows into INSERTs of some 256 KB.
struct Filler<'a> {
    client: &'a mut Client,
    head: String,
    text: String,
}

impl<'a> Filler<'a> {
    const BYTES: usize = 256 << 10;

    fn new(client: &'a mut Client, head: String) -> Self {
        Self { client, head, text: String::new() }
    }

    fn row(&mut self, values: std::fmt::Arguments<'_>) -> Result<()> {
        use std::fmt::Write as _;
        self.text.push_str(if self.text.is_empty() { &self.head } else { "," });
        write!(self.text, "({values})").expect("text takes all");
        if self.text.len() > Self::BYTES { self.send() } else { Ok(()) }
    }

    fn send(&mut self) -> Result<()> {
        if !self.text.is_empty() {
            self.client.run(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn settings() -> Settings {
        Settings { tables: 2, rows: 1000, distribution: Distribution::Uniform, file: None, warehouses: 1 }
    }

    #[test]
    fn every_name_is_a_workload() {
        for (name, about) in NAMES.iter().filter(|(name, _)| !["file", "tpcc"].contains(name)) {
            assert!(named(name, &settings()).is_ok() && !about.is_empty(), "{name}");
        }
        let error = named("oltp_nothing", &settings()).err().expect("unknown").to_string();
        assert!(error.contains("'oltp_nothing'") && error.contains("point_select"), "{error}");
    }

    #[test]
    fn calls_fit_their_statements() {
        for (name, _) in NAMES.iter().filter(|(name, _)| !["file", "tpcc"].contains(name)) {
            for dialect in [Dialect::MySql, Dialect::Postgres] {
                let workload = named(name, &settings()).expect("known");
                let statements = workload.statements(dialect);
                let (mut script, mut random, mut event) =
                    (workload.script(Place { number: 1, of: 4 }, dialect), Random::new(5), Event::default());
                for _ in 0..200 {
                    event.clear();
                    script.event(&mut random, &mut event);
                    assert!(!event.calls().is_empty(), "{name}");
                    for call in event.calls() {
                        let statement = &statements[call.statement as usize];
                        let marks = statement.sql.matches('?').count();
                        assert_eq!(event.values(*call).len(), marks, "{name}: {}", statement.sql);
                    }
                }
            }
        }
    }
}
