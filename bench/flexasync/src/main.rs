//! `cargo run --release -p flexasync`: operations per second of the engine as a library, at several numbers of threads and batch sizes.

#![forbid(unsafe_code)]

use clap::{Parser, ValueEnum};
use flexasync::heddle::Heddle;
use flexasync::{Load, pretty, run};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Durability {
    /// A transaction returns when it is on disk
    Durable,
    /// It returns at once, and is on disk about a second later
    NotDurable,
}

#[derive(Parser)]
#[command(about = "Inserts, reads, updates and deletes rows by primary key, in this process")]
struct Arguments {
    /// Rows of 100 bytes
    #[arg(long, default_value_t = 1_000_000)]
    rows: u64,
    /// Seconds of reads, and of updates
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// Threads; several numbers make several lines
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2, 4])]
    threads: Vec<usize>,
    /// Keys per transaction; several numbers make several lines
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 100, 300])]
    batch: Vec<usize>,
    #[arg(long, value_enum, default_value = "not-durable")]
    durability: Durability,
    /// MiB of memory for pages
    #[arg(long, default_value_t = 2048)]
    pool: u64,
    /// Where the data goes; a temporary folder without it
    #[arg(long)]
    data_dir: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let temporary = tempfile::tempdir()?;
    let folder = arguments.data_dir.as_deref().unwrap_or(temporary.path());
    let threads_max = arguments.threads.iter().copied().max().unwrap_or(1);
    let store = Heddle::open(folder, threads_max, arguments.pool << 20, arguments.durability == Durability::Durable)?;
    println!("{} rows of 100 bytes, {:?}; rows per second", arguments.rows, arguments.durability);
    println!("| threads | batch | insert | read | update | delete |");
    println!("|---|---|---|---|---|---|");
    for &threads in &arguments.threads {
        for &batch in &arguments.batch {
            let load = Load {
                rows: arguments.rows,
                threads: threads.max(1),
                batch: batch.max(1),
                time: Duration::from_secs_f64(arguments.seconds),
            };
            let rates = run(&store, &load).map(|rate| pretty(rate.per_second));
            println!("| {threads} | {batch} | {} |", rates.join(" | "));
        }
    }
    Ok(())
}
