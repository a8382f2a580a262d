//! Heddle beside RocksDB and LMDB: the four operations of `flexasync`, one process, the same keys and rows.
//!
//! `cargo run --release` in this folder. Every store is filled; then come rounds of reads at each batch size, then rounds of updates, deletes and
//! inserts. Rounds are interleaved: in each every store has its turn, and the order moves on by one from round to round. Printed are medians
//! over the rounds, and in brackets the median of the ratio to Heddle in the same round. Reads are also given per second of processor
//! time, which other programs on the machine disturb less.
//!
//! What the others are asked for is their good case; see `rocks.rs` and `lmdb.rs`. They take neither locks nor checks that a key is new or there, and
//! keep no indexes; Heddle does what its SQL side would.

mod lmdb;
mod rocks;

use clap::Parser;
use flexasync::{Load, Operation, Rate, Store, heddle::Heddle, pretty};
use std::path::PathBuf;
use std::time::Duration;

/// Keys per transaction when the stores are filled.
const FILL_BATCH: usize = 300;

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
    /// Keys per transaction of reads
    #[arg(long, value_delimiter = ',', default_values_t = [1, 10, 100, 300])]
    batch: Vec<usize>,
    /// Keys per transaction of updates, deletes and inserts
    #[arg(long, default_value_t = 100)]
    write_batch: usize,
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
    let time = Duration::from_secs_f64(arguments.seconds);
    let load = |batch: usize| Load { rows: arguments.rows, threads: arguments.threads.max(1), batch: batch.max(1), time };
    for store in &stores {
        flexasync::measure(&**store, &load(FILL_BATCH), Operation::Insert);
    }
    println!("{} rows of 100 bytes, {} threads; rows per second (ratio to Heddle)", arguments.rows, arguments.threads);
    let names: Vec<&str> = stores.iter().map(|store| store.name()).collect();
    println!("| | {} |\n|{}", names.join(" | "), "---|".repeat(names.len() + 1));
    for &batch in &arguments.batch {
        let rounds = rounds(&stores, &load(batch), &[Operation::Read], arguments.rounds);
        print_line(&format!("read, batches of {batch}"), &rounds[0], |rate| rate.per_second);
        print_line(&format!("read, batches of {batch}, per core"), &rounds[0], |rate| rate.per_core);
    }
    let writes = [Operation::Update, Operation::Delete, Operation::Insert];
    let rounds = rounds(&stores, &load(arguments.write_batch), &writes, arguments.rounds);
    for (operation, rounds) in writes.iter().zip(&rounds) {
        print_line(&format!("{operation:?}, batches of {}", arguments.write_batch), rounds, |rate| rate.per_second);
    }
    Ok(())
}

/// For each operation, for each round, the rate of each store.
fn rounds(stores: &[Box<dyn Store>], load: &Load, operations: &[Operation], rounds: usize) -> Vec<Vec<Vec<Rate>>> {
    let mut rates = vec![Vec::new(); operations.len()];
    for round in 0..rounds.max(1) {
        let mut of_round = vec![vec![None; stores.len()]; operations.len()];
        for turn in 0..stores.len() {
            let store = (round + turn) % stores.len();
            for (operation, of_round) in operations.iter().zip(&mut of_round) {
                of_round[store] = Some(flexasync::measure(&*stores[store], load, *operation));
            }
        }
        for (rates, of_round) in rates.iter_mut().zip(of_round) {
            rates.push(of_round.into_iter().flatten().collect());
        }
    }
    rates
}

fn print_line(what: &str, rounds: &[Vec<Rate>], figure: impl Fn(&Rate) -> f64) {
    let cells = (0..rounds[0].len()).map(|store| {
        let rate = median(rounds.iter().map(|round| figure(&round[store])));
        let ratio = median(rounds.iter().map(|round| figure(&round[store]) / figure(&round[0])));
        format!("{} ({ratio:.2})", pretty(rate))
    });
    println!("| {what} | {} |", cells.collect::<Vec<_>>().join(" | "));
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
