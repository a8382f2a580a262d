//! The event loop of a worker thread, its tasks, their sockets, and the packets that come and go on these. Nothing here knows SQL.
//!
//! - [`EventLoop`] takes messages, fires timers, polls the tasks that are ready, and waits for events (`event_loop.rs`);
//! - [`Core`] is the executor that the tasks share (`core.rs`);
//! - [`task_clock`] measures where the time of a task's statement goes;
//! - `watch.rs` lets other tasks run in the middle of a long computation;
//! - [`connection`] reads and writes packets on a socket, with TLS and compression;
//! - [`one_shot`] carries one answer from another thread;
//! - [`stack`] tells how much of its stack a thread has used.

pub mod connection;
mod core;
mod event_loop;
mod one_shot;
pub mod stack;
pub mod task_clock;
mod watch;

pub use core::{Core, Readiness, Remote};
pub use event_loop::{EventLoop, Host};
pub use one_shot::{OneShot, Reply, one_shot};
pub use task_clock::{TaskClock, WorkerWaits};
