//! The console: a page for people and metrics for programs, over HTTP, on a thread of its own.
//!
//! - [`start`] binds the address and starts the thread; [`Console::stop`] ends it.
//! - `listen` takes connections and reads HTTP within bounds; `request` is what the routes see of it; `routes` chooses the answer.
//! - `server` is what the console needs of the server, and how it runs; `state` everything that the routes share.
//! - `logins` knows who is logged in: accounts of the server with PROCESS. `wire` speaks MySQL's protocol for them, over a socket of
//!   this process, so that privileges and rows come from the server's own code.
//! - `pages` makes the rows of each page with statements of the logged-in account. `assets` has the page's files.
//! - `sampler` reads the counters, `series` makes curves of them, `history` keeps these on disk.
//! - `ask` runs one statement for a program of the command line.
//! - `metrics` writes Prometheus' and OpenMetrics' texts.
//!
//! C1: no worker of the server waits for a browser or for the disk of the console: the workers answer messages, and serve the
//!     console's sessions like those of any client.
//! C2: without a login nothing is told of the server but that it runs and, to programs of this machine, counters without names of
//!     accounts, tables or statements.
//! C3: connections, requests, logins, results and the file of curves have bounds.
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr))]
#![forbid(unsafe_code)]

mod ask;
mod assets;
#[doc(hidden)]
pub mod harness;
mod history;
mod listen;
mod logins;
mod meanings;
mod metrics;
mod pages;
mod problem;
mod process;
mod request;
mod routes;
mod sampler;
mod series;
mod server;
mod state;
mod wire;

pub use ask::{Place, ask};
pub use listen::{Console, StartError, start};
pub use pages::advice::ADVICE;
pub use server::{Config, Figures, Later, Server, Variable, Wait};
pub use wire::Rows;
