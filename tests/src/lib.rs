//! The parts that the black-box tests share: a server to test, and the report of results.
//!
//! The programs in `src/bin` speak to a server over the wire only. Each prints one line per case, `ok NAME` or
//! `FAIL NAME: why`, and ends with `passed/failed/total: P/F/T`; `cargo xtask` adds those up.

#![forbid(unsafe_code)]

pub mod driver;
pub mod http;
pub mod ours;
pub mod raw;
pub mod real_mysql;
pub mod report;
pub mod script;
pub mod scripts;
pub mod server;
pub mod tables;
pub mod text;
pub mod webdriver;

pub use ours::on_a_server;
pub use report::Report;
pub use server::{Address, Server, ServerOptions};
