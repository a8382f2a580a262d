//! TPC-C (standard specification, revision 5.11) against any server that speaks MySQL's protocol.
//!
//! - `load` makes the nine tables and the procedures and fills them ([`schema`], [`load`]).
//! - `run` drives the five transactions in the specified mix, by procedures or by statements of the client ([`terminal`]), and prints
//!   rates and latencies ([`report`]).
//! - `check` asks the twelve consistency conditions of clause 3.3.2 ([`check`]); `run` does so too when it ends.
//!
//! `cargo run --release -p tpcc` runs it, and `heddle bench` does (the crate `lab`).
//!
//! It runs beside the server under test, on the same processors, so its connections ([`database`], [`socket`], [`answer`]) are made to
//! take little: what it takes hides differences between servers.
//!
//! What it is not: an audited TPC-C. Terminals are bound to warehouses but, unless `--keying-and-thinking` is given, they do not wait
//! between transactions, and a delivery is not deferred. So its numbers compare servers with each other, and with nothing else.

#![forbid(unsafe_code)]

mod answer;
pub mod check;
mod database;
pub mod error;
pub mod load;
mod login;
mod packet;
mod procedures;
mod random;
mod report;
mod schema;
mod socket;
mod statements;
pub mod terminal;

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Who keeps the statements of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Stored procedures: one CALL a transaction
    Procedures,
    /// The client: every statement is sent by itself
    Statements,
}

/// How statements are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// Prepared once in each connection
    Prepared,
    /// As text, with the values in it
    Text,
}

#[derive(Parser)]
#[command(about = "TPC-C against a server that speaks MySQL's protocol")]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Make the database anew and fill it
    Load {
        #[command(flatten)]
        server: Server,
        /// Connections that load
        #[arg(long, default_value_t = 4)]
        loaders: u32,
    },
    /// Run the mix of transactions, then check
    Run {
        #[command(flatten)]
        server: Server,
        #[command(flatten)]
        load: Load,
    },
    /// Ask the consistency conditions
    Check {
        #[command(flatten)]
        server: Server,
    },
}

/// The server's address and the account to use.
#[derive(Args, Clone, Debug)]
pub struct Server {
    #[arg(long, default_value = "127.0.0.1")]
    pub host: String,
    #[arg(long, default_value_t = 3306)]
    pub port: u16,
    /// A unix socket, in place of host and port
    #[arg(long)]
    pub socket: Option<String>,
    #[arg(long, default_value = "root")]
    pub user: String,
    #[arg(long, default_value = "")]
    pub password: String,
    #[arg(long, default_value = "tpcc")]
    pub database: String,
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub warehouses: u32,
}

/// What is done to it.
#[derive(Args, Clone, Debug)]
pub struct Load {
    /// Virtual users, each with a connection
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub users: u32,
    /// Threads that the users share; if not given one for each user, but no more than there are processors
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub threads: Option<u32>,
    /// Seconds that count
    #[arg(long, default_value_t = 30.0)]
    pub seconds: f64,
    /// Seconds before them
    #[arg(long, default_value_t = 5.0)]
    pub ramp_up: f64,
    #[arg(long, value_enum, default_value = "procedures")]
    pub mode: Mode,
    #[arg(long, value_enum, default_value = "prepared")]
    pub protocol: Protocol,
    /// Wait between transactions as clause 5.2.5 says
    #[arg(long)]
    pub keying_and_thinking: bool,
    /// Do not check after the run
    #[arg(long)]
    pub without_check: bool,
    /// The server's process, for its CPU time per new order
    #[arg(long)]
    pub pid: Option<u32>,
    /// One line of `name value` pairs in place of tables
    #[arg(long)]
    pub terse: bool,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Set by who wants the run to end early
    #[arg(skip)]
    pub interrupted: Option<Arc<AtomicBool>>,
}

/// The program: reads the command line, and does what it says.
pub fn program() -> ExitCode {
    let outcome = match Arguments::parse().verb {
        Verb::Load { server, loaders } => load::run(&server, loaders.max(1), |line| println!("{line}")).map(|()| true),
        Verb::Check { server } => check::run(&server, false),
        Verb::Run { server, load } => run(&server, &load),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("tpcc: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(server: &Server, load: &Load) -> Result<bool, error::Error> {
    let outcome = terminal::run(server, load)?;
    report::print(&outcome, load);
    if load.without_check {
        return Ok(outcome.sound());
    }
    Ok(check::run(server, load.terse)? && outcome.sound())
}
