//! The command line of `heddle bench`.

use crate::random::Distribution;
use clap::{Args, Subcommand, ValueEnum};
use std::path::PathBuf;

pub const ABOUT: &str = "Measure servers beside each other: Heddle, MySQL, MariaDB, PostgreSQL.

It starts a Heddle of its own over an empty directory, makes tables, runs each workload at several numbers of connections, in rounds in which all \
                          servers take turns, and removes everything again. What it leaves is a page to read (HTML) and the same as JSON: which server was faster, by how much, \
                          how sure that is, and what holds each of them back. With Ctrl-C it ends early, and the report has what was measured until then.

A password may be given in the environment, HEDDLE_BENCH_PASSWORD, for every server whose address has none.";

pub const EXAMPLES: &str = "Examples:
  heddle bench --against mysql://root:secret@127.0.0.1:3306
      A Heddle beside the MySQL that runs there, in four minutes.
  heddle bench --workload read_write,tpcc --connections 1,8,64,512 --minutes 20
      Heddle alone, longer, more connections.
  heddle bench --server mysql://root@127.0.0.1:3306 --without-heddle --rate 5000
      A server that runs, 5,000 events a second whatever it does: latencies from the moment at which each was to begin.
  heddle bench --cores 1,2,4,8 --workload point_select
      Throughput over the processors of the server.
  heddle bench compare before.json after.json
      What has changed beyond the noise.";

/// What `heddle bench` is asked.
#[derive(Args, Clone, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Flags {
    #[command(subcommand)]
    pub verb: Option<Verb>,
    #[command(flatten)]
    pub run: RunFlags,
}

#[derive(Subcommand, Clone, Debug)]
pub enum Verb {
    /// Say what changed between two reports, beyond the noise
    Compare {
        /// The JSON of the run before
        before: PathBuf,
        /// The JSON of the run after
        after: PathBuf,
    },
    /// Make the page of a report again
    Html {
        /// Its JSON
        report: PathBuf,
        /// The page [default: beside it]
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// Write the tables and pictures of reports into a page of Markdown, between its marks
    Publish {
        /// Their JSON
        #[arg(required = true)]
        reports: Vec<PathBuf>,
        /// The folder of PERFORMANCE.md
        #[arg(long, value_name = "DIRECTORY", default_value = "docs")]
        to: PathBuf,
    },
    /// List the workloads
    Workloads,
}

/// What is measured, and how.
#[derive(Args, Clone, Debug)]
pub struct RunFlags {
    /// Another server, such as mysql://root:secret@127.0.0.1:3306 or postgres://USER@HOST; NAME=... names it in the report
    #[arg(long, visible_alias = "server", value_name = "ADDRESS")]
    pub against: Vec<String>,
    /// A Heddle that runs already, instead of one that is started
    #[arg(long, value_name = "ADDRESS", conflicts_with = "without_heddle")]
    pub heddle: Option<String>,
    /// Start no Heddle: measure only the other servers
    #[arg(long, requires = "against")]
    pub without_heddle: bool,
    /// What is run; 'heddle bench workloads' lists them
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_value = "point_select,read_write,update_index")]
    pub workload: Vec<String>,
    /// Connections, one level after the other
    #[arg(long, visible_alias = "threads", value_name = "COUNTS", value_delimiter = ',', default_value = "1,4,16,64",
          value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub connections: Vec<u32>,
    /// Processors of the server, one level after the other; the client has the others, or shares them where none is left
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub cores: Vec<u32>,
    /// Open loop: events a second, whatever the server does [default: closed loop]
    #[arg(long, value_name = "EVENTS", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub rate: Vec<u64>,
    /// Rounds: in each all servers run once at each level, in turns
    #[arg(long, value_name = "COUNT", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub rounds: u32,
    /// Time for all of it; the time of one run follows from it
    #[arg(long, value_name = "MINUTES", default_value_t = 4.0, conflicts_with = "time")]
    pub minutes: f64,
    /// Seconds of one run
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<f64>,
    /// Seconds of a run before it counts
    #[arg(long, value_name = "SECONDS", default_value_t = 0.4)]
    pub ramp_up: f64,
    #[arg(long, value_name = "COUNT", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub tables: u32,
    /// Rows of each table
    #[arg(long, value_name = "COUNT", default_value_t = 25_000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub rows: u64,
    /// Which rows are asked for; 'special' is sysbench's default
    #[arg(long, value_name = "NAME", value_enum, default_value = "uniform")]
    pub distribution: Distribution,
    /// How statements are sent
    #[arg(long, value_enum, default_value = "prepared")]
    pub protocol: Protocol,
    /// Warehouses of TPC-C
    #[arg(long, value_name = "COUNT", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub warehouses: u32,
    /// Statements of the workload 'file'
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Threads of the client [default: one for each four processors]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub client_threads: Option<u32>,
    /// Memory for pages of the Heddle that is started [default: as the first other server has, or 1G]
    #[arg(long, value_name = "SIZE")]
    pub buffer_pool: Option<String>,
    /// When the Heddle that is started answers a commit: full or none
    #[arg(long, value_name = "WHEN", default_value = "full")]
    pub durability: String,
    /// Where the Heddle that is started keeps its data [default: the directory for temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    pub data_dir: Option<PathBuf>,
    /// A setting of the Heddle that is started, such as workers=2
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub set: Vec<String>,
    /// Connect to all servers by their unix sockets, which their addresses must name
    #[arg(long)]
    pub by_socket: bool,
    /// Database to make and drop on each server
    #[arg(long, value_name = "NAME", default_value = "heddle_bench")]
    pub database: String,
    /// Leave the databases there
    #[arg(long)]
    pub keep: bool,
    /// Take no profile of Heddle
    #[arg(long)]
    pub without_profile: bool,
    /// The report: PREFIX.html and PREFIX.json [default: heddle-bench and the time, here]
    #[arg(long, value_name = "PREFIX")]
    pub out: Option<PathBuf>,
    /// Also write the tables into PERFORMANCE.md of this folder, between its marks
    #[arg(long, value_name = "DIRECTORY")]
    pub publish: Option<PathBuf>,
    /// The version of the sources, for the report
    #[arg(long, value_name = "COMMIT")]
    pub commit: Option<String>,
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    pub seed: u64,
    /// Say nothing until the end
    #[arg(long)]
    pub quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// Prepared once in each connection
    Prepared,
    /// As text, with the values in it
    Text,
}
