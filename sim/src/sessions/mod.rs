//! The whole server on the simulated machine: clients that speak its protocol over simulated sockets, through definitions, kills, broken
//! connections and crashes.
//!
//! ```text
//! plan       the parameters of a run, drawn from its seed
//! client     the protocol, from the client's side
//! session    transactions in text and prepared                -> model, checks
//! change     inserts, updates and deletes of a session's own rows
//! definer    ALTER TABLE, GRANT, REVOKE, KILL                 -> model
//! model      the answers that the server may give
//! values     values that contain their table, column, row and version
//! ```
//! A run consists of lives of the server. In each life 1. the server starts on the directory; 2. the definitions and rows are checked
//! against those that may have survived the crash before; 3. the sessions run. A crash ends a life at any moment. At the end of the last
//! life everything acknowledged must be present, the server stops, and `heddle check` must find no damage.

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
