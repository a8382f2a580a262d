//! Insert, read, update and delete rows by primary key, in batches, from several threads: what MySQL Cluster's flexAsynch measures.
//!
//! One pass fills an empty store, reads and updates rows at random for some seconds, and empties it again. Every thread works on keys of its
//! own, in an order without a pattern, and waits at a barrier before each operation. A row is a 64-bit key and 92 bytes;
//! a read adds up all of them, so that every store has to hand out the whole row.
//!
//! What is measured is a [`Store`]; Heddle is one ([`heddle`]), others can be set beside it.

#![forbid(unsafe_code)]

pub mod heddle;

use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use std::sync::Barrier;
use std::time::{Duration, Instant};

/// Bytes of a row beside its key.
pub const VALUE_BYTES: usize = 92;

/// A row's bytes beside its key.
pub type Bytes = [u8; VALUE_BYTES];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Insert,
    Read,
    Update,
    Delete,
}

pub const OPERATIONS: [Operation; 4] = [Operation::Insert, Operation::Read, Operation::Update, Operation::Delete];

/// Something that keeps rows by key.
pub trait Store: Sync {
    fn name(&self) -> &str;

    /// For one thread; called on it.
    fn session(&self) -> Box<dyn Session + '_>;

    /// Between two operations: a store may do its deferred work here. Not measured.
    fn settle(&self, _after: Operation) {}
}

/// One thread's way to a store.
pub trait Session {
    /// Does the operation for these keys as one transaction, and gives the number of rows that it found or wrote. The rows
    /// to insert, and the new ones of an update, are `value_of(key, round)`. What is read goes to `sum`.
    fn run(&mut self, operation: Operation, keys: &[u64], round: u64, sum: &mut u64) -> usize;
}

/// The bytes of a row, different for every key and round.
#[inline]
pub fn value_of(key: u64, round: u64) -> Bytes {
    let mut value = [0; VALUE_BYTES];
    let word = (key ^ round << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    value.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&word[..chunk.len()]));
    value
}

/// Looks at every byte.
#[inline]
pub fn sum_of(value: &[u8]) -> u64 {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let (words, rest) = value.as_chunks::<8>();
    words.iter().map(|chunk| u64::from_le_bytes(*chunk)).fold(word(rest), u64::wrapping_add)
}

/// How a pass is run.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    pub rows: u64,
    pub threads: usize,
    /// Keys per transaction.
    pub batch: usize,
    /// Of reads, and of updates. Inserts and deletes go once over all rows.
    pub time: Duration,
}

/// What an operation came to.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Rows per second of all threads together.
    pub per_second: f64,
    /// Rows per second of processor time that the threads used, which neither other programs nor the stopping of this one change much.
    /// It does not count the work of a store's own threads.
    pub per_core: f64,
}

/// Runs one pass: the rates of [`OPERATIONS`].
///
/// # Panics
/// When the store loses a row.
pub fn run(store: &dyn Store, load: &Load) -> [Rate; 4] {
    OPERATIONS.map(|operation| measure(store, load, operation))
}

/// Does one operation. Inserts want an empty store, the others a full one.
///
/// # Panics
/// When the store loses a row.
pub fn measure(store: &dyn Store, load: &Load, operation: Operation) -> Rate {
    let keys = shuffled_keys(load);
    let barrier = Barrier::new(keys.len());
    let rates: Vec<Rate> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            keys.iter().map(|keys| scope.spawn(|| run_thread(store, load, operation, keys, &barrier))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread of the load")).collect()
    });
    store.settle(operation);
    Rate {
        per_second: rates.iter().map(|rate| rate.per_second).sum(),
        per_core: rates.iter().map(|rate| rate.per_core).sum::<f64>() / rates.len() as f64,
    }
}

/// Each thread's keys.
fn shuffled_keys(load: &Load) -> Vec<Vec<u64>> {
    let mut keys: Vec<u64> = (0..load.rows).collect();
    keys.shuffle(&mut StdRng::seed_from_u64(7));
    keys.chunks(keys.len().div_ceil(load.threads).max(1)).map(<[u64]>::to_vec).collect()
}

fn run_thread(store: &dyn Store, load: &Load, operation: Operation, keys: &[u64], barrier: &Barrier) -> Rate {
    let mut session = store.session();
    let (mut sum, mut done) = (0, 0);
    barrier.wait();
    let (start, processor) = (Instant::now(), processor_time());
    let timed = matches!(operation, Operation::Read | Operation::Update);
    'rounds: for round in 1.. {
        for batch in keys.chunks(load.batch) {
            let found = session.run(operation, batch, round, &mut sum);
            assert_eq!(found, batch.len(), "{}: {operation:?} of round {round} missed rows", store.name());
            done += batch.len();
            if timed && start.elapsed() >= load.time {
                break 'rounds;
            }
        }
        if !timed {
            break;
        }
    }
    std::hint::black_box(sum);
    Rate {
        per_second: done as f64 / start.elapsed().as_secs_f64(),
        per_core: done as f64 / (processor_time() - processor).as_secs_f64(),
    }
}

/// Of this thread.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// Thousands or millions, for tables.
pub fn pretty(rate: f64) -> String {
    if rate >= 1e6 { format!("{:.2}M", rate / 1e6) } else { format!("{:.0}k", rate / 1e3) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_loses_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = heddle::Heddle::open(folder.path(), 2, 64 << 20, false).expect("a new directory");
        let load = Load { rows: 2000, threads: 2, batch: 7, time: Duration::from_millis(20) };
        let rates = run(&store, &load);
        assert!(rates.iter().all(|rate| rate.per_second > 0.0 && rate.per_core > 0.0), "{rates:?}");
    }

    #[test]
    fn every_byte_counts() {
        let value = value_of(5, 1);
        for at in 0..VALUE_BYTES {
            let mut other = value;
            other[at] ^= 1;
            assert_ne!(sum_of(&value), sum_of(&other), "{at}");
        }
    }
}
