//! The simulator: random sessions on the engine, on a simulated machine, checked against what transactions promise.
//!
//! ```text
//! plan      what a seed makes of a run: sessions, isolation levels, schedule, faults, crashes
//! session   transactions, step by step, as futures on workers          -> history
//! machine   one life of the engine: open, compare, run, crash or stop
//! log_damage  the log is not what it was when the next life begins
//! history   what sessions did and saw; check/ judges it; model says what must be on the disk
//! cases     bugs once found, as scripts that always go the same way
//! tables    runs of another kind, one floor up: rows of tables whose columns come and go
//! sessions  runs of the whole server with clients that speak its protocol
//! runner    many seeds, each in a process of its own
//! ```
//! `history`, `model` and `check` know nothing of the engine and are there in every build; the rest exists under `--cfg sim` only.
#![forbid(unsafe_code)]

pub mod check;
pub mod history;
pub mod model;
pub mod payload;
pub mod recorder;
pub mod runner;
pub mod sessions;
pub mod tables;

#[cfg(sim)]
pub mod cases;
#[cfg(sim)]
pub mod executor;
#[cfg(sim)]
mod log_damage;
#[cfg(sim)]
pub mod machine;
#[cfg(sim)]
mod offline;
#[cfg(sim)]
pub mod plan;
#[cfg(sim)]
pub mod session;

/// One seed in so many is about tables.
#[cfg(sim)]
const SEEDS_PER_TABLES: u64 = 4;

/// Runs a seed of the engine or of tables to its end. Any fault ends the process.
#[cfg(sim)]
pub fn run(seed: u64) {
    if seed % SEEDS_PER_TABLES == 0 { tables::run(seed) } else { machine::run(seed) }
}
