//! A trial of an index: statements that clients have sent run with it and without it.
//!
//! 1. Each kept execution of the statements that the index should help is planned and run twice, without it and with it, to warm up.
//! 2. The same again, up to [`ROUNDS`] times, while the budget lasts. What is compared is CPU time, time, and rows read.
//! 3. Between two runs the session sleeps, so that a trial takes no more than `heddle_advice_cpu_percent` of the machine.
//!
//! T1: all runs read one snapshot, in a transaction that is READ ONLY.
//! T2: only statements that change nothing and lock nothing are run: of a change of rows, the SELECT of the rows that it would change.
//! T3: the runs are in no statistics: what the server counts of an application stays the application's.
//! T4: a run ends after [`RUN_MAX`]. If that happens without the index, the time is the least that it would have taken.

use super::measured::Compared;
use crate::error::{Error, Result};
use crate::session::{State, without_parameters};
use os::time::Instant;
use sql::plan::Plan;
use std::time::Duration;

/// Executions that are run, of all statements together.
pub const EXECUTIONS_MAX: usize = 16;
const ROUNDS: usize = 5;
const RUN_MAX: Duration = Duration::from_secs(10);
/// CPU time of a trial, beside the warming up.
const BUDGET: Duration = Duration::from_secs(2);
const SLICE: Duration = Duration::from_millis(100);
/// Rows that the cost of writing is measured with.
const WRITTEN_ROWS: u64 = 2000;

/// An execution to be run.
#[derive(Clone, Debug)]
pub struct Execution {
    pub database: Option<String>,
    pub digest: String,
    pub statement: String,
    pub text: String,
}

/// One run.
struct Run {
    cpu_us: f64,
    time_us: f64,
    rows: u64,
    is_cut: bool,
}

/// Runs the executions with and without invisible indexes. Those that cannot be run are left out (T2).
pub async fn compare(state: &mut State<'_>, executions: &[Execution]) -> Result<Vec<Compared>> {
    nobody(state, "SET SESSION transaction_isolation = 'REPEATABLE-READ', max_parallel_workers = 1").await?;
    nobody(state, "START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT").await?;
    let mut spent = Duration::ZERO;
    let mut all: Vec<(usize, Vec<[Run; 2]>)> = Vec::new();
    for (place, execution) in executions.iter().enumerate().take(EXECUTIONS_MAX) {
        match pair(state, execution).await {
            Ok(Some(warm)) => {
                pause(state, &warm).await?;
                all.push((place, Vec::new()));
            }
            Ok(None) => {}
            Err(error) if is_end(state) => return Err(error),
            // Its table may have changed since.
            Err(error) => tracing::debug!(text = execution.text, why = error.describe().message, "left out of a trial"),
        }
    }
    for _ in 0..ROUNDS {
        for (place, runs) in &mut all {
            if spent >= BUDGET && !runs.is_empty() {
                continue;
            }
            let Some(pair) = pair(state, &executions[*place]).await? else { continue };
            spent += Duration::from_secs_f64(pair.iter().map(|run| run.cpu_us).sum::<f64>() / 1e6);
            pause(state, &pair).await?;
            runs.push(pair);
        }
    }
    nobody(state, "COMMIT").await?;
    let mut compared: Vec<Compared> = Vec::new();
    while let Some((place, _)) = all.first() {
        let of = &executions[*place];
        let same = |(place, _): &(usize, Vec<[Run; 2]>)| executions[*place].digest == of.digest;
        let (own, others): (Vec<_>, Vec<_>) = std::mem::take(&mut all).into_iter().partition(same);
        all = others;
        let executions = own.len() as u32;
        let runs: Vec<[Run; 2]> = own.into_iter().flat_map(|(_, runs)| runs).collect();
        let pair = |of: &dyn Fn(usize) -> f64| [of(0), of(1)];
        let mean = |value: &dyn Fn(&Run) -> f64| {
            pair(&|side| runs.iter().map(|run| value(&run[side])).sum::<f64>() / runs.len().max(1) as f64)
        };
        let quantile = |part: f64| {
            pair(&|side| {
                let mut times: Vec<f64> = runs.iter().map(|run| run[side].time_us).collect();
                times.sort_by(f64::total_cmp);
                let place = (part * times.len() as f64).ceil() as usize;
                times.get(place.saturating_sub(1)).copied().unwrap_or(0.0)
            })
        };
        compared.push(Compared {
            digest: of.digest.clone(),
            statement: of.statement.clone(),
            executions,
            runs: runs.len() as u32,
            rows: mean(&|run| run.rows as f64),
            cpu_us: mean(&|run| run.cpu_us),
            p50_us: quantile(0.5),
            p99_us: quantile(0.99),
            is_cut: runs.iter().any(|run| run[0].is_cut),
        });
    }
    Ok(compared)
}

/// Without the index, then with it.
async fn pair(state: &mut State<'_>, execution: &Execution) -> Result<Option<[Run; 2]>> {
    if let Some(database) = &execution.database
        && state.execution.vars.database.as_deref() != Some(database)
    {
        state.use_database(database)?;
    }
    let mut runs = Vec::new();
    for value in ["off", "on"] {
        nobody(state, &format!("SET SESSION optimizer_switch = 'use_invisible_indexes={value}'")).await?;
        match run(state, &execution.text).await? {
            Some(run) => runs.push(run),
            None => return Ok(None),
        }
    }
    Ok(<[Run; 2]>::try_from(runs).ok())
}

/// Runs the reading part of a statement; `None`: it is none that may be run (T2).
async fn run(state: &mut State<'_>, text: &str) -> Result<Option<Run>> {
    state.begin_statement();
    let arena = state.worker.arena();
    let parsed = sql::parse(&arena, text.as_bytes(), &state.session.settings.mode)?;
    let reading = sql::reading_part(&arena, &parsed.statement);
    let Some(statement) = reading.filter(|_| parsed.params == 0) else { return Ok(None) };
    let parsed = without_parameters(statement);
    let attempt = async |state: &mut State<'_>| {
        let planned = state.plan_given(&parsed, &[])?;
        let entry = &planned.entry;
        let locks = match &**entry.prepared.plan() {
            Plan::Query(plan) => plan.locking != sql::plan::Locking::None || !plan.parts.locks.is_empty(),
            _ => true,
        };
        if entry.writes || entry.wants_write || entry.into.is_some() || locks {
            return Ok(None);
        }
        state.execution.vars.rows_examined.set(0);
        state.execution.vars.deadline.set(Some(Instant::now() + RUN_MAX));
        let clock = std::rc::Rc::clone(&state.info.clock);
        let (ran, began) = (clock.ran(), os::ticks());
        let outcome = state.measure(entry, &[]).await;
        let (ran, time) = (clock.ran().saturating_sub(ran), os::ticks().saturating_sub(began));
        state.execution.vars.deadline.set(None);
        let is_cut = match outcome {
            Ok(_) => false,
            Err(Error::Exec(expr::Error::QueryTimeout)) => true,
            Err(error) => return Err(error),
        };
        let us = |ticks: u64| ticks as f64 * state.worker.shared.tick_clock.nanos_per_tick() / 1e3;
        let rows = state.execution.vars.rows_examined.get();
        Ok(Some(Run { cpu_us: us(ran), time_us: us(time), rows, is_cut }))
    };
    state.until_current(attempt).await
}

/// Runs a statement of the doctor's own, without an answer.
pub async fn nobody(state: &mut State<'_>, text: &str) -> Result<()> {
    Box::pin(state.query(&mut crate::session::Recipient::Nobody, text.as_bytes())).await
}

/// The session is to end, or its statement.
fn is_end(state: &State<'_>) -> bool {
    state.info.killed() != expr::kill::NONE || state.worker.is_stopping()
}

/// Sleeps so long that the runs have taken no more than their share of the machine.
async fn pause(state: &State<'_>, runs: &[Run]) -> Result<()> {
    let shared = &state.worker.shared;
    let percent = shared.globals().get(crate::variables::known("heddle_advice_cpu_percent")).as_u64() as f64;
    let share = (percent / 100.0 * shared.workers.len() as f64).min(1.0);
    let cpu = runs.iter().map(|run| run.cpu_us).sum::<f64>() / 1e6;
    let until = Instant::now() + Duration::from_secs_f64((cpu / share - cpu).clamp(0.0, 600.0));
    loop {
        if is_end(state) {
            return Err(Error::Exec(expr::Error::Interrupted));
        }
        let now = Instant::now();
        if now >= until {
            return Ok(());
        }
        state.worker.core.sleep_until(until.min(now + SLICE)).await;
    }
}

/// The CPU time that a row of a table costs more with an index: rows are copied into a temporary table that has it, and into one that
/// has not. `None`: that could not be done.
pub async fn price_of_writing(state: &mut State<'_>, table: &str, index: &str) -> Option<f64> {
    let outcome = copies(state, table, index).await;
    // It may be there or not.
    let _ = nobody(state, "DROP TEMPORARY TABLE IF EXISTS heddle_advice_trial").await;
    match outcome {
        Ok(us) => us,
        Err(error) => {
            tracing::debug!(table, why = error.describe().message, "the price of writing could not be measured");
            None
        }
    }
}

async fn copies(state: &mut State<'_>, table: &str, index: &str) -> Result<Option<f64>> {
    nobody(state, &format!("CREATE TEMPORARY TABLE heddle_advice_trial LIKE {table}")).await?;
    let mut each = Vec::new();
    for round in 0..4 {
        if round == 2 {
            nobody(state, &format!("ALTER TABLE heddle_advice_trial DROP INDEX {index}")).await?;
        }
        nobody(state, "TRUNCATE TABLE heddle_advice_trial").await?;
        let insert = format!("INSERT INTO heddle_advice_trial SELECT * FROM {table} LIMIT {WRITTEN_ROWS}");
        nobody(state, &insert).await?;
        let rows = state.session.measured.affected;
        if rows < WRITTEN_ROWS / 10 {
            return Ok(None);
        }
        let us = state.info.clock.ran().saturating_sub(state.session.measured.began) as f64
            * state.worker.shared.tick_clock.nanos_per_tick()
            / 1e3;
        each.push(us / rows as f64);
    }
    // The first of each two warmed up.
    Ok(Some((each[1] - each[3]).max(0.0)))
}

/// Is the text that of a statement whose values are known?
pub fn has_values(text: &str) -> bool {
    let arena = sql::Arena::default();
    sql::parse(&arena, text.as_bytes(), &types::SqlMode::DEFAULT).is_ok_and(|parsed| parsed.params == 0)
}
