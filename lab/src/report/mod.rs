//! What a run leaves: JSON for programs, HTML for people.
//!
//! R1: the JSON is written anew after each run of a cell, into a file beside it that then takes its name. So whoever interrupts or kills the lab
//! keeps a whole report of all that was measured.

pub mod chart;
pub mod html;

use crate::error::{Error, Result};
use crate::fit::Fit;
use crate::histogram::{Histogram, Sparse};
use crate::machine::Machine;
use crate::stats::{Ratio, median};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of the JSON; a reader refuses another one.
pub const FORMAT: u32 = 1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It goes on, or its process was killed.
    Running,
    Interrupted,
    /// An error has ended it; what was measured before is kept.
    Failed,
    Complete,
}

/// A report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    pub format: u32,
    pub state: State,
    pub error: Option<String>,
    pub program: String,
    pub commit: Option<String>,
    /// The words of the command line, passwords left out
    pub command: Vec<String>,
    pub started: String,
    pub ended: Option<String>,
    pub machine: Machine,
    pub settings: BTreeMap<String, String>,
    pub servers: Vec<ServerInfo>,
    pub cells: Vec<Cell>,
    pub curves: Vec<Curve>,
    pub verdicts: Vec<Verdict>,
    /// What a reader should know: differences of settings, noise
    pub notes: Vec<String>,
    /// Steps of a fixed computation a second, in millions, before each run
    pub speed: Vec<f64>,
}

/// A server that was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerInfo {
    pub name: String,
    pub address: String,
    pub version: String,
    pub pid: Option<u32>,
    pub variables: BTreeMap<String, String>,
    /// Flame graphs by workload (SVG), from a Heddle
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub flames: BTreeMap<String, String>,
}

/// A workload at a number of connections, of one server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    pub workload: String,
    pub connections: u32,
    /// CPUs that the server might use, in a sweep over them
    pub cores: Option<u32>,
    /// Open loop: events a second that were asked for
    pub rate: Option<u64>,
    pub server: String,
    pub runs: Vec<Run>,
}

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub round: u32,
    pub seconds: f64,
    pub events: u64,
    pub queries: u64,
    pub rows: u64,
    pub conflicts: u64,
    /// Open loop: events that had not begun at the end
    pub waiting: u64,
    /// Of events, from their intended start, in milliseconds
    pub mean_ms: f64,
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub p99_ms: f64,
    pub max_ms: f64,
    pub histogram: Sparse,
    /// Processor time in seconds
    pub server_cpu: Option<f64>,
    pub client_cpu: f64,
    /// Share of the machine that others used, and that the hypervisor took
    pub other_cpu: f64,
    pub stolen_cpu: f64,
    /// Share of the time that the client's busiest thread ran
    pub busiest_thread: f64,
    pub server_memory: u64,
    pub statements: BTreeMap<String, Label>,
    /// Events in each tenth of a second
    pub slices: Vec<u32>,
    pub waits: Vec<Wait>,
    /// Processor time of the server's statements by phase in seconds, where it tells
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<String, f64>,
    pub error: Option<String>,
}

/// Calls of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Label {
    pub calls: u64,
    pub mean_us: f64,
    pub max_us: f64,
}

/// What sessions of the server waited for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Wait {
    pub name: String,
    pub count: u64,
    pub seconds: f64,
    /// The object that most of it was for, where the server tells
    pub object: Option<String>,
}

/// The throughput of a workload and server over the number of connections, or of cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    pub workload: String,
    pub server: String,
    /// "connections" or "cores"
    pub over: String,
    /// The other one
    pub at: Option<u32>,
    pub fit: Option<Fit>,
    /// The smallest level with nine tenths of the largest throughput
    pub knee: u32,
    pub most: f64,
    /// What holds the throughput back beyond the knee, in words
    pub reason: String,
    /// The wait's name if the reason is one, otherwise "processor", "client", "none"
    pub cause: String,
}

/// What verdicts compare.
pub const THROUGHPUT: &str = "throughput";
pub const LATENCY: &str = "p99 latency";
pub const SERVER_CPU: &str = "server CPU per query";

/// One comparison of two servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// [`THROUGHPUT`], or [`LATENCY`] of an open loop, or [`SERVER_CPU`]
    pub of: String,
    /// Empty for all workloads together
    pub workload: String,
    pub connections: Option<u32>,
    pub cores: Option<u32>,
    pub rate: Option<u64>,
    pub first: String,
    pub second: String,
    pub ratio: Ratio,
}

/// Workload, connections, cores, rate.
pub type Key = (String, u32, Option<u32>, Option<u64>);

impl Run {
    /// Queries a second.
    pub fn rate_of_queries(&self) -> f64 {
        self.queries as f64 / self.seconds.max(1e-9)
    }

    pub fn rate_of_events(&self) -> f64 {
        self.events as f64 / self.seconds.max(1e-9)
    }

    /// The server's processor time per query in microseconds.
    pub fn server_us(&self) -> Option<f64> {
        self.server_cpu.filter(|_| self.queries > 0).map(|cpu| cpu * 1e6 / self.queries as f64)
    }

    pub fn client_us(&self) -> f64 {
        self.client_cpu * 1e6 / (self.queries as f64).max(1.0)
    }
}

impl Cell {
    /// Runs that measured something.
    pub fn good(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| run.seconds > 0.0)
    }

    pub fn median(&self, of: impl Fn(&Run) -> f64) -> f64 {
        median(self.good().map(of).collect())
    }

    /// Half the range of the runs' throughput, as a share of its median.
    pub fn spread(&self) -> f64 {
        let rates: Vec<f64> = self.good().map(Run::rate_of_queries).collect();
        let (low, high) = rates.iter().fold((f64::MAX, 0.0f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
        if rates.len() < 2 { 0.0 } else { (high - low) / 2.0 / median(rates).max(1e-9) }
    }

    /// Latencies of all runs.
    pub fn histogram(&self) -> Histogram {
        let mut all = Histogram::default();
        self.runs.iter().for_each(|run| all.add_sparse(&run.histogram));
        all
    }

    /// Waits of all runs, the longest first.
    pub fn waits(&self) -> Vec<Wait> {
        let mut sums: BTreeMap<&str, Wait> = BTreeMap::new();
        for wait in self.runs.iter().flat_map(|run| &run.waits) {
            let sum = sums.entry(&wait.name).or_insert_with(|| Wait { name: wait.name.clone(), ..Wait::default() });
            sum.count += wait.count;
            sum.seconds += wait.seconds;
            sum.object = sum.object.take().or_else(|| wait.object.clone());
        }
        let mut all: Vec<Wait> = sums.into_values().collect();
        all.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
        all
    }

    /// Seconds of all connections together.
    pub fn session_seconds(&self) -> f64 {
        self.good().map(|run| run.seconds).sum::<f64>() * f64::from(self.connections)
    }

    /// What it is compared by.
    pub fn key(&self) -> Key {
        (self.workload.clone(), self.connections, self.cores, self.rate)
    }
}

impl Report {
    /// Writes the JSON (R1).
    ///
    /// # Errors
    /// The system's, with the path.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string(self).map_err(|error| Error::asked(format!("the report: {error}")))?;
        write_whole(path, &text)
    }

    /// Reads one.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn read(path: &Path) -> Result<Self> {
        let place = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(Error::io(&place))?;
        let value: serde_json::Value = serde_json::from_str(&text)
            .map_err(|error| Error::asked(format!("{place} is no report of 'heddle bench': {error}")))?;
        match value.get("format").and_then(serde_json::Value::as_u64) {
            Some(format) if format == u64::from(FORMAT) => (),
            Some(format) => return Err(Error::asked(format!("{place} has format {format}; this version reads {FORMAT}"))),
            None => return Err(Error::asked(format!("{place} is no report of 'heddle bench'"))),
        }
        serde_json::from_value(value).map_err(|error| Error::asked(format!("{place} is no whole report: {error}")))
    }
}

/// Writes a file that is never seen half.
pub fn write_whole(path: &Path, text: &str) -> Result<()> {
    let place = path.display().to_string();
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    std::fs::write(&part, text).map_err(Error::io(&place))?;
    std::fs::rename(&part, path).map_err(Error::io(&place))
}
