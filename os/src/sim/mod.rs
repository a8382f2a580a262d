//! A simulated machine: threads, clock and disk that one seed drives.
//!
//! ```text
//!   driver (thread 0)     run_machine ----------- crash or end -----> looks, decides, run_machine again ...
//!   machine               main thread, and what it starts: each a real thread, of which one runs at a time
//!   below it              clock (virtual), disk (what is durable, and what only might be)
//! ```
//! - `scheduler` picks who runs next at every *point*: every atomic access, lock, wait, and call of the disk. `thread`, `time` and
//!   `lock` are the engine's ways to get there.
//! - `disk` and `file`: files in memory. A crash keeps what was synced, and a choice of the rest.
//! - `net`: sockets between threads of the machine. What is sent arrives later, and in pieces.
//! - `trace`: the last events, for people, and a hash of all, for comparing runs.
//! - `mutation`: mistakes put in on purpose, to see them found.
//!
//! M1: a run is a function of its seed: whatever could differ between two runs (schedule, time, hash seeds, disk) comes from generators
//! seeded by it. M2: only the thread that holds the turn touches the machine's state.

pub mod disk;
pub mod file;
pub mod lock;
pub mod mutation;
pub mod net;
pub mod random;
pub mod scheduler;
pub mod thread;
pub mod time;
pub mod trace;

pub use mutation::mutated;
pub use random::Rng;
pub use scheduler::{Halt, point};
