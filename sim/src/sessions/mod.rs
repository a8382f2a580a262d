//! The whole server on the simulated machine: clients that speak its protocol over simulated sockets, through definitions, kills, broken
//! connections and crashes.
//!
//! ```text
//! plan       what a seed makes of a run
//! client     the protocol, from the client's side
//! session    transactions in text and prepared                -> model, checks
//! change     inserts, updates and deletes of a session's own rows
//! definer    ALTER TABLE, grants, and those who end others    -> model
//! model      what each answer may be
//! values     values that tell their table, column, row and version
//! ```
//! A life: 1. the directory opens and the server starts; 2. definitions and rows are what may have survived; 3. sessions; 4. a crash
//! somewhere in all that, or the end: then everything is there that was acknowledged, the server stops, and `heddle check` finds nothing.

pub mod checks;
pub mod model;
pub mod values;

#[cfg(sim)]
mod change;
#[cfg(sim)]
mod client;
#[cfg(sim)]
mod definer;
#[cfg(sim)]
mod plan;
#[cfg(sim)]
mod session;
#[cfg(sim)]
mod simulated;
#[cfg(sim)]
mod statement;

#[cfg(sim)]
pub use plan::{Limits, Plan};
#[cfg(sim)]
pub use simulated::run;
