//! Heddle beside RocksDB and LMDB: the four operations of `flexasync`, one process, the same keys and rows.
//!
//! `cargo run --release` in this folder. Rounds are interleaved: in each every store does each operation in turn, and the order of the stores
//! moves on by one from round to round. Printed are medians over the rounds, and each store's median relative to Heddle's
//! in the same round. Threads that find no free processor make absolute figures worse, ratios less so.
//!
//! What the others are asked for is their good case; see `rocks.rs` and `lmdb.rs`. They take neither locks nor checks that a key is new or there, and
//! keep no indexes; Heddle does what its SQL side would.

mod lmdb;
mod rocks;

use clap::Parser;
use flexasync::{Load, OPERATIONS, Rates, Store, heddle::Heddle, pretty};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Parser)]
#[command(about = "Heddle, RocksDB and LMDB in one process, by primary key")]
struct Arguments {
    /// Rows of 100 bytes
    #[arg(long, default_value_t = 1_000_000)]
    rows: u64,
    /// Seconds of reads, and of updates, in a round
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[arg(long, default_value_t = std::thread::available_parallelism().map_or(4, |n| n.get().min(4)))]
    threads: usize,
    /// Keys per transaction; several numbers make several tables
    #[arg(long, value_delimiter = ',', default_values_t = [1, 100])]
    batch: Vec<usize>,
    /// Commits are on disk before they return
    #[arg(long)]
    durable: bool,
    /// Where the data goes; a temporary folder without it
    #[arg(long)]
    data_dir: Option<PathBuf>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::parse();
    let temporary = tempfile::tempdir()?;
    let folder = arguments.data_dir.as_deref().unwrap_or(temporary.path());
    let stores: Vec<Box<dyn Store>> = vec![
        Box::new(Heddle::open(&folder.join("heddle"), arguments.threads, 1 << 30, arguments.durable)?),
        Box::new(rocks::Rocks::open(&folder.join("rocksdb-blocks"), rocks::Kind::Blocks, arguments.durable)?),
        Box::new(rocks::Rocks::open(&folder.join("rocksdb-plain"), rocks::Kind::Plain, arguments.durable)?),
        Box::new(lmdb::Lmdb::open(&folder.join("lmdb"), arguments.durable)?),
    ];
    for &batch in &arguments.batch {
        let load = Load {
            rows: arguments.rows,
            threads: arguments.threads.max(1),
            batch: batch.max(1),
            time: Duration::from_secs_f64(arguments.seconds),
        };
        compare(&stores, &load, arguments.rounds.max(1));
    }
    Ok(())
}

fn compare(stores: &[Box<dyn Store>], load: &Load, rounds: usize) {
    let mut rates: Vec<Vec<Rates>> = vec![Vec::new(); stores.len()];
    for round in 0..rounds {
        for turn in 0..stores.len() {
            let store = (round + turn) % stores.len();
            rates[store].push(flexasync::run(&*stores[store], load));
        }
    }
    println!("\n{} rows, {} threads, batches of {}; rows per second (relative to Heddle)", load.rows, load.threads, load.batch);
    println!("| store | insert | read | update | delete |");
    println!("|---|---|---|---|---|");
    for (store, of_store) in stores.iter().zip(&rates) {
        let cells = OPERATIONS.iter().enumerate().map(|(operation, _)| {
            let rate = median(of_store.iter().map(|rates| rates[operation]));
            let relative = median(of_store.iter().zip(&rates[0]).map(|(theirs, ours)| theirs[operation] / ours[operation]));
            format!("{} ({relative:.2})", pretty(rate))
        });
        println!("| {} | {} |", store.name(), cells.collect::<Vec<_>>().join(" | "));
    }
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
