//! TPC-C, by the library `tpcc`: its transactions depend on answers, so it has a load of its own.

use crate::error::{Error, Result};
use crate::histogram::Histogram;
use crate::load::{Job, LabelSum, Measured};
use crate::target::{Dialect, Target};
use ::tpcc::terminal::Kind;
use ::tpcc::{Load, Mode, Protocol, Server};
use std::time::Duration;

fn server(target: &Target, database: &str, warehouses: u32) -> Result<Server> {
    if target.dialect == Dialect::Postgres {
        return Err(Error::asked("TPC-C runs against servers of MySQL's protocol only"));
    }
    Ok(Server {
        host: target.host.clone(),
        port: target.port,
        socket: target.socket.as_ref().map(|path| path.display().to_string()),
        user: target.user.clone(),
        password: target.password.clone(),
        database: database.to_owned(),
        warehouses,
    })
}

fn told(error: ::tpcc::error::Error) -> Error {
    Error::asked(format!("TPC-C: {error}"))
}

/// Makes the nine tables; the database is dropped first.
pub fn prepare(target: &Target, database: &str, warehouses: u32) -> Result<()> {
    ::tpcc::load::run(&server(target, database, warehouses)?, 4, |_| ()).map_err(told)
}

/// Asks the twelve consistency conditions.
pub fn check(target: &Target, database: &str, warehouses: u32) -> Result<()> {
    match ::tpcc::check::run(&server(target, database, warehouses)?, true) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::asked("a consistency condition of TPC-C does not hold")),
        Err(error) => Err(told(error)),
    }
}

/// Runs the mix: events are transactions of all kinds.
pub fn run(job: &Job<'_>, warehouses: u32, pid: Option<u32>) -> Result<(Measured, Duration, Option<f64>, f64)> {
    let load = Load {
        users: u32::try_from(job.connections).unwrap_or(u32::MAX).min(10_000),
        threads: Some(job.threads as u32),
        seconds: job.time.as_secs_f64(),
        ramp_up: job.ramp_up.as_secs_f64(),
        mode: Mode::Procedures,
        protocol: if job.prepared { Protocol::Prepared } else { Protocol::Text },
        keying_and_thinking: false,
        without_check: true,
        pid,
        terse: true,
        seed: job.seed,
        interrupted: Some(job.interrupted.clone()),
    };
    let outcome = ::tpcc::terminal::run(&server(job.target, job.database, warehouses)?, &load).map_err(told)?;
    let mut measured =
        Measured { error: outcome.errors.first().map(|error| Error::asked(format!("TPC-C: {error}"))), ..Measured::default() };
    let mut latency = Histogram::default();
    for (tally, (_, label, ..)) in outcome.tallies.iter().zip(Kind::ALL) {
        let mut sum = LabelSum::default();
        for us in &tally.latencies_us {
            let ns = u64::from(*us) * 1000;
            latency.record(ns);
            sum.calls += 1;
            sum.ns += ns;
            sum.max_ns = sum.max_ns.max(ns);
        }
        measured.events += sum.calls;
        measured.queries += sum.calls;
        measured.conflicts += tally.conflicts;
        measured.by_label.insert(label, sum);
    }
    measured.latency = latency;
    Ok((measured, Duration::from_secs_f64(outcome.seconds), outcome.server_cpu, outcome.client_cpu))
}
