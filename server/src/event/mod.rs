//! Events: their statements, the scheduler that runs them, and their rows in SHOW and information_schema.
//!
//! ```text
//! CREATE, ALTER, DROP EVENT -> `define`: the schedule's expressions are computed (`schedule`), the rest is kept in the catalog
//! scheduler -> `scheduler`: a task of the first worker that sleeps until the next event is due, or something changes
//! execution -> `execute`: a session without a client, on any worker; the body runs as a procedure does
//! ```
//! S1: an event that is due once, or for the last time, is noted durably before it runs, so that no crash makes it run
//!     twice.
//! S2: while the scheduler is off or sleeps it costs nothing: it has no thread, and a timer only if an event is due
//!     some time.

mod define;
mod execute;
mod schedule;
mod scheduler;
mod show;
mod state;

pub use define::{alter, create, drop};
pub use scheduler::start;
pub use show::{rows, show_create};
pub use state::Events;

use types::event::EventDef;
use types::temporal::TimeZone;

/// The zone in which the event counts days.
fn zone_of(event: &EventDef) -> TimeZone {
    // A zone that is known no more: its events go on.
    crate::variables::parse_time_zone(&event.time_zone).unwrap_or_default()
}
