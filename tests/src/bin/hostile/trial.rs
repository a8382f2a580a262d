//! Runs one statement at growing sizes and says which bounds it breaks.
//!
//! 1. The large size runs under `max_execution_time`. What it costs is CPU time of the server's process.
//! 2. If that is more than a little, an eighth of the size runs too. Work that grows with the size costs an eighth then; with its square, a
//!    64th. A statement that ran into the time limit at both sizes goes on with an eighth of that, until one fits.
//! 3. A statement that takes long is run once more and killed in the middle.
//! 4. A breach counts if it is seen twice.
//!
//! B1: cost grows at most linearly, or an error ends it.
//! B2: the limit of time and KILL end it soon.
//! B3: the memory at its peak is the limit of a statement and a few times the size.
//! B4: a bystander on the same worker is answered meanwhile.

use crate::bystander::{Answer, Bystander};
use crate::meter::Meter;
use mysql::Conn;
use mysql::prelude::Queryable;
use std::collections::BTreeMap;
use std::time::Duration;
use tests::Address;

/// How the larger size compares with the smaller one.
pub const STEP: usize = 8;
/// Cost may grow by so much more than the size: logarithms, caches.
const SLACK: u64 = 3;
/// The errors that end a statement by force.
const TIMED_OUT: u16 = 3024;
const KILLED: u16 = 1317;

/// Bounds, which an unoptimized server gets larger.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub time_limit: Duration,
    /// From the limit of time, or KILL, to the end.
    pub stop: Duration,
    /// What the worker may compute before a bystander has its answer.
    pub answer: Duration,
    /// Costs below that are not looked at more closely.
    pub ignored: Duration,
    /// Memory beside a few times the size.
    pub memory: u64,
}

/// What is tried.
pub struct Trial<'a> {
    pub name: String,
    /// The statement of a size, and what must run before it.
    pub made: &'a dyn Fn(usize) -> Made,
    pub size: usize,
    /// Its work is larger than its size by its nature, such as that of a cross join: B1 is not asked for.
    pub grows: bool,
}

/// Statements of one size.
#[derive(Clone, Debug, Default)]
pub struct Made {
    pub before: Vec<String>,
    pub statement: String,
    pub after: Vec<String>,
}

/// The bound, and what happened.
pub type Breach = (&'static str, String);

/// The breaches as one text; none is fine.
pub fn verdict(breaches: Vec<Breach>) -> Result<(), String> {
    if breaches.is_empty() {
        Ok(())
    } else {
        Err(breaches.into_iter().map(|(bound, what)| format!("{bound}: {what}")).collect::<Vec<_>>().join("; "))
    }
}

/// What one run cost.
#[derive(Clone, Copy, Debug, Default)]
struct Cost {
    cpu_us: u64,
    memory: u64,
    answer_us: u64,
    error: Option<u16>,
}

/// The sessions that try.
pub struct Court<'a> {
    address: &'a Address,
    meter: Meter,
    conn: Conn,
    bystander: &'a Bystander,
    bounds: Bounds,
    pub answers: Vec<Answer>,
    pub runs: usize,
    last_cost_us: u64,
    /// The dearest trials, by microseconds.
    pub dearest: BTreeMap<u64, String>,
}

impl<'a> Court<'a> {
    pub fn new(
        address: &'a Address,
        database: &str,
        meter: &Meter,
        bystander: &'a Bystander,
        bounds: Bounds,
    ) -> Result<Self, String> {
        let mut conn = address.connect_to(database).map_err(|e| e.to_string())?;
        let limit = bounds.time_limit.as_millis();
        conn.query_drop(format!("SET max_execution_time = {limit}, heddle_statement_memory = {}", crate::STATEMENT_MEMORY))
            .map_err(|e| e.to_string())?;
        Ok(Self {
            address,
            meter: meter.clone(),
            conn,
            bystander,
            bounds,
            answers: Vec::new(),
            runs: 0,
            last_cost_us: 0,
            dearest: BTreeMap::new(),
        })
    }

    /// What must not fail, on the connection of the trials.
    pub fn prepare(&mut self, sql: &str) -> Result<(), String> {
        self.conn.query_drop(sql).map_err(|e| format!("{sql:.100}: {e}"))
    }

    /// A column of texts.
    pub fn texts(&mut self, sql: &str) -> Result<Vec<String>, String> {
        self.conn.query(sql).map_err(|e| format!("{sql:.100}: {e}"))
    }

    /// The number of the error of a statement whose rows nobody wants.
    pub fn error(&mut self, sql: &str) -> Result<Option<u16>, String> {
        outcome(&mut self.conn, sql)
    }

    /// CPU time of the last run.
    pub fn last_cost_us(&self) -> u64 {
        self.last_cost_us
    }

    /// Is a cost more than that of an eighth of the size allows?
    pub fn grows_too_fast(&self, small_us: u64, large_us: u64) -> bool {
        let least = micros(self.bounds.ignored) / (STEP * STEP) as u64;
        large_us > micros(self.bounds.ignored) && large_us > small_us.max(least) * STEP as u64 * SLACK
    }

    /// The breaches: which bound, and what happened.
    pub fn judge(&mut self, trial: &Trial<'_>) -> Result<Vec<Breach>, String> {
        let first = self.breaches(trial)?;
        if first.is_empty() {
            return Ok(Vec::new());
        }
        let again = self.breaches(trial)?;
        Ok(first.into_iter().filter(|(bound, _)| again.iter().any(|(b, _)| b == bound)).collect())
    }

    fn breaches(&mut self, trial: &Trial<'_>) -> Result<Vec<Breach>, String> {
        let mut found = Vec::new();
        let cost = self.run(&(trial.made)(trial.size))?;
        self.note(cost.cpu_us, &trial.name);
        let (limit_us, stop_us) = (micros(self.bounds.time_limit), micros(self.bounds.stop));
        if cost.cpu_us > limit_us + stop_us {
            found.push(("B2", format!("computes for {} ms with a limit of {}", cost.cpu_us / 1000, limit_us / 1000)));
        }
        let memory = self.bounds.memory + 16 * trial.size as u64;
        if cost.memory > memory {
            found.push(("B3", format!("takes {} MB, not {}", cost.memory >> 20, memory >> 20)));
        }
        if cost.answer_us > micros(self.bounds.answer) {
            found.push(("B4", format!("a bystander waits for {} ms of the worker", cost.answer_us / 1000)));
        }
        if cost.cpu_us > micros(self.bounds.ignored) {
            if !trial.grows {
                found.extend(self.growth(trial, cost)?.map(|what| ("B1", what)));
            }
            found.extend(self.kill(trial, cost)?.map(|what| ("KILL", what)));
        }
        Ok(found)
    }

    /// B1
    fn growth(&mut self, trial: &Trial<'_>, large: Cost) -> Result<Option<String>, String> {
        let (mut size, mut large) = (trial.size, large);
        loop {
            let small = self.run(&(trial.made)(size / STEP))?;
            let out_of_time = |cost: &Cost| cost.error == Some(TIMED_OUT);
            if out_of_time(&large) && out_of_time(&small) {
                size /= STEP;
                large = small;
                if size / STEP < 2 {
                    return Ok(Some(format!("runs out of time at size {size}")));
                }
                continue;
            }
            let least = micros(self.bounds.ignored) / (STEP * STEP) as u64;
            let allowed = small.cpu_us.max(least) * STEP as u64 * SLACK;
            return Ok((large.cpu_us > allowed || out_of_time(&large) && large.cpu_us * 2 > allowed).then(|| {
                let (small_ms, large_ms) = (small.cpu_us as f64 / 1000.0, large.cpu_us as f64 / 1000.0);
                let ended = if out_of_time(&large) { " at least" } else { "" };
                format!("costs {small_ms:.1} ms at size {} and {large_ms:.1} ms{ended} at size {size}", size / STEP)
            }));
        }
    }

    /// B2, with KILL QUERY from another session in the middle of the statement.
    fn kill(&mut self, trial: &Trial<'_>, cost: Cost) -> Result<Option<String>, String> {
        let made = (trial.made)(trial.size);
        self.before(&made)?;
        let id = self.conn.connection_id();
        let mut other = self.address.connect().map_err(|e| e.to_string())?;
        let (meter, stop_us) = (self.meter.clone(), micros(self.bounds.stop));
        let start = meter.read();
        let killer = std::thread::spawn(move || {
            // The middle of the statement by its cost; a bound on time for one that is quicker this time.
            for _ in 0..4000 {
                if meter.used_us(start) > cost.cpu_us / 3 {
                    break;
                }
                std::thread::sleep(Duration::from_micros(500));
            }
            let at = meter.read();
            other.query_drop(format!("KILL QUERY {id}")).map(|()| at).map_err(|e| e.to_string())
        });
        let error = outcome(&mut self.conn, &made.statement)?;
        let at = killer.join().map_err(|_| "the killer panicked".to_string())??;
        let took = self.meter.used_us(at);
        self.after(&made)?;
        let is_late = error == Some(KILLED) || error == Some(TIMED_OUT) || cost.cpu_us > 3 * stop_us;
        Ok((is_late && took > stop_us).then(|| format!("goes on for {} ms after KILL", took / 1000)))
    }

    fn before(&mut self, made: &Made) -> Result<(), String> {
        made.before.iter().try_for_each(|sql| self.prepare(sql))
    }

    fn after(&mut self, made: &Made) -> Result<(), String> {
        // A KILL that came after the end of its statement may hit the next one.
        made.after.iter().try_for_each(|sql| match outcome(&mut self.conn, sql)? {
            Some(KILLED) => self.prepare(sql),
            Some(error) => Err(format!("{sql:.100}: error {error}")),
            None => Ok(()),
        })
    }

    fn run(&mut self, made: &Made) -> Result<Cost, String> {
        self.before(made)?;
        self.meter.forget_peak()?;
        self.answers.extend(self.bystander.take());
        let (memory, start) = (self.meter.memory(), self.meter.read());
        let error = outcome(&mut self.conn, &made.statement)?;
        let cpu_us = self.meter.used_us(start);
        let peak = self.meter.peak();
        let answers = self.bystander.take();
        self.after(made)?;
        self.runs += 1;
        self.last_cost_us = cpu_us;
        let answer_us = answers.iter().map(|answer| answer.worker_us).max().unwrap_or(0);
        self.answers.extend(answers);
        Ok(Cost { cpu_us, memory: peak.saturating_sub(memory), answer_us, error })
    }

    fn note(&mut self, cpu_us: u64, name: &str) {
        self.dearest.insert(cpu_us, name.to_owned());
        if self.dearest.len() > 12 {
            self.dearest.pop_first();
        }
    }
}

fn micros(duration: Duration) -> u64 {
    duration.as_micros() as u64
}

/// Runs a statement to its end, dropping its rows.
fn outcome(conn: &mut Conn, sql: &str) -> Result<Option<u16>, String> {
    let run = |conn: &mut Conn| -> mysql::Result<()> {
        let mut results = conn.query_iter(sql)?;
        while let Some(mut rows) = results.iter() {
            rows.try_for_each(|row| row.map(drop))?;
        }
        Ok(())
    };
    match run(conn) {
        Ok(()) => Ok(None),
        Err(mysql::Error::MySqlError(error)) => Ok(Some(error.code)),
        Err(error) => Err(format!("no answer to {sql:.200}: {error}")),
    }
}
