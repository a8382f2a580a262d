//! One command for developers: `cargo xtask WORD`.
//!
//! | word        | does                                                                        |
//! |-------------|-----------------------------------------------------------------------------|
//! | `ci`        | everything that must hold, installing what the tests need where missing     |
//! | `tidy`      | rules on the repository itself                                              |
//! | `models`    | every interleaving of the primitives of concurrency, with loom              |
//! | `miri`      | what reads and writes raw memory, in an interpreter that sees what is undefined |
//! | `sql`       | the scripts of `tests/sql`, or records them from a reference server         |
//! | `clients`   | the client programs of `tests/clients` against a fresh server               |
//! | `crash`     | kill -9 under load, restart, check; round after round                       |
//! | `isolation` | what concurrent sessions see of each other, at every isolation level        |
//! | `abuse`     | bad input over the wire                                                     |
//! | `privileges`| who may run which administrative statement, beside MySQL's answers          |
//! | `hostile`   | work of growing size: what it costs, whether it can be stopped, who waits for it |
//! | `histories` | real sessions and a server that is killed and stopped: does a schedule explain it? |
//! | `splices`   | statements cut from the scripts and put together otherwise: panics          |
//! | `attack`    | all that tries to break a promise, for a chosen time, and a page about it   |
//! | `package`   | a Debian package, checksums, a list of libraries; installed in a chroot     |
//! | `cross`     | builds for other processors and tests there, under emulation                |
//! | `larger`    | a table several times as large as the buffer pool                           |
//! | `sim`       | the engine on a simulated machine, seed after seed                          |
//! | `fuzz`      | the fuzz targets, each for some seconds; random statements beside MySQL     |
//! | `advice`    | the query doctor finds what is seeded among sound statements, and no more |
//! | `definitions` | values stay in their columns while definitions of their tables run       |
//! | `migrations`| definitions of a table that sysbench works on, and kills in the middle of them |
//! | `contention`| hot rows, hot pages, many connections: what they cost                      |
//! | `tpch`      | the 22 queries of TPC-H beside other servers: answers and times             |
//! | `bench`     | `heddle bench` of a release build beside its peers                          |
//! | `coverage`  | which lines the tests run: a table by crate, and HTML                       |
//! | `tpcc`      | TPC-C, by procedures and by statements, against Heddle and its peers        |

#![forbid(unsafe_code)]

mod attack;
mod bench;
mod ci;
mod circles;
mod clients;
mod coverage;
mod cross;
mod fuzz;
mod install;
mod miri;
mod package;
mod proc;
mod scans;
mod servers;
mod sim;
mod step;
mod tidy;
mod tpcc;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Everything a developer runs, one word each")]
struct Arguments {
    #[command(subcommand)]
    word: Word,
}

#[derive(Subcommand)]
enum Word {
    /// Everything that must hold: format, lints, unit tests, SQL scripts, clients, crashes, tidy
    Ci {
        /// Install nothing; what is missing is skipped by name
        #[arg(long)]
        no_install: bool,
        /// Only these steps, by name
        steps: Vec<String>,
    },
    /// Checks rules on the repository itself
    Tidy,
    /// Explores every interleaving of small models of the latch, the commit clock and the horizon
    Models,
    /// Runs tests of what reads and writes raw memory under Miri (all parts, or those named: latch, pages, rows, engine)
    Miri { parts: Vec<String> },
    /// Runs SQL scripts (all of tests/sql without arguments); `-- --help` shows more
    Sql {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Runs client programs against a fresh server (all without arguments)
    Clients(clients::Options),
    /// Kills the server under load and checks what it recovers; `-- --help` shows more
    Crash {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Seeds what the query doctor must find among sound statements
    Advice {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Changes definitions in a loop beside sessions whose values tell their column; `-- --help` shows more
    Definitions {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Runs concurrent sessions at every isolation level; `-- --help` shows more
    Isolation {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Runs administrative statements with each privilege; `-- --help` shows more
    Privileges {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Sends bad input over the wire and checks that the server goes on
    Abuse {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Gives functions and statements work of growing size; `-- --help` shows more
    Hostile {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Checks that a schedule explains what sessions see of a server that is killed; `-- --help` shows more
    Histories {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Sends statements made of pieces of others, and looks for panics; `-- --help` shows more
    Splices {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Runs everything that tries to break a promise, for --minutes M, and ends with a page
    Attack(attack::Options),
    /// Runs the queries of TPC-H and compares them with other servers'; `-- --help` shows more
    Tpch {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Measures hot rows, hot pages and idle connections; `-- --help` shows more
    Contention {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Works on a table several times as large as the buffer pool
    Larger {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Changes the definition of a table that sysbench works on, by an optimized server; `-- --help` shows more
    Migrations {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Makes a Debian package, checksums and a list of the libraries
    Package(package::Options),
    /// Builds for other processors (all, or those named: aarch64, powerpc64le, s390x) and tests there, under QEMU
    Cross {
        machines: Vec<String>,
        /// Install nothing; a machine whose tools are missing is skipped by name
        #[arg(long)]
        no_install: bool,
        /// Every SQL script, not only those whose answers depend on bytes
        #[arg(long)]
        all_scripts: bool,
    },
    /// Runs the engine on a simulated machine, seed after seed, for --minutes M; `-- --help` shows more
    Sim {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Runs the fuzz targets (all without arguments), each for some seconds; `differential` compares with a real MySQL
    Fuzz(fuzz::Options),
    /// Measures Heddle beside its peers with `heddle bench`; what stands behind `--` is for that
    Bench(Box<bench::Options>),
    /// Counts which lines unit tests and SQL scripts run: a table by crate, and HTML
    Coverage(coverage::Options),
    /// Measures long queries over a table in memory, beside peers
    Scans(Box<scans::Options>),
    /// Measures Heddle beside its peers with the transactions of TPC-C, and checks the consistency conditions
    Tpcc(Box<tpcc::Options>),
}

fn main() -> ExitCode {
    let root = root();
    let outcome = match Arguments::parse().word {
        Word::Ci { no_install, steps } => ci::run(&root, !no_install, &steps),
        Word::Tidy => tidy::run(&root),
        Word::Models => ci::models(&root).status().map(|status| status.success()).map_err(|e| e.to_string()),
        Word::Miri { parts } => miri::run(&root, &parts),
        Word::Sql { arguments } => ci::program(&root, "sql", &arguments),
        Word::Clients(options) => clients::run(&root, &options),
        Word::Crash { arguments } => ci::program(&root, "crash", &arguments),
        Word::Advice { arguments } => ci::program(&root, "advice", &arguments),
        Word::Definitions { arguments } => ci::program(&root, "definitions", &arguments),
        Word::Isolation { arguments } => ci::program(&root, "isolation", &arguments),
        Word::Privileges { arguments } => ci::program(&root, "privileges", &arguments),
        Word::Abuse { arguments } => ci::program(&root, "abuse", &arguments),
        Word::Hostile { arguments } => ci::program(&root, "hostile", &arguments),
        Word::Histories { arguments } => ci::program(&root, "histories", &arguments),
        Word::Splices { arguments } => ci::program(&root, "splices", &arguments),
        Word::Attack(options) => attack::run(&root, &options),
        Word::Package(options) => package::run(&root, &options),
        Word::Larger { arguments } => ci::program(&root, "larger", &arguments),
        Word::Migrations { arguments } => ci::measure(&root, "migrations", &arguments),
        Word::Contention { arguments } => ci::measure(&root, "contention", &arguments),
        Word::Tpch { arguments } => ci::measure(&root, "tpch", &arguments),
        Word::Cross { machines, no_install, all_scripts } => {
            cross::run(&root, &machines, cross::Options { may_install: !no_install, all_scripts })
        }
        Word::Sim { arguments } => sim::run(&root, &arguments),
        Word::Fuzz(options) => fuzz::run(&root, &options),
        Word::Bench(options) => bench::run(&root, &options),
        Word::Coverage(options) => coverage::run(&root, &options),
        Word::Scans(options) => scans::run(&root, &options),
        Word::Tpcc(options) => tpcc::run(&root, &options),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("xtask: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The repository: the parent of this crate.
fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.parent().map(PathBuf::from).unwrap_or(here)
}
