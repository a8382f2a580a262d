//! How fast memory is read, written and copied, by how much of it is in use.
//!
//! 1. Working sets grow from 1 MB to four times the last cache, in steps of the square root of two.
//! 2. One thread has the whole set, on whatever CPU the kernel likes; or all usable CPUs have a thread each, bound to it, and equal
//!    parts of the set. Each thread touches its part first, so that the memory is near.
//! 3. All threads begin together and go over their parts again and again for a moment; the best of a few tries counts.
//!
//! Read: bytes read. Write: bytes written. Copy: bytes read and bytes written, together.

use os::topology::{Topology, bind_thread};
use std::hint::black_box;
use std::sync::Barrier;
use std::time::{Duration, Instant};

const BYTES_MIN: u64 = 1 << 20;
/// Where the kernel does not tell how large the last cache is.
const LAST_CACHE_DEFAULT: u64 = 32 << 20;
/// One try.
const TRY: Duration = Duration::from_millis(12);
const TRIES: usize = 6;

/// What is done with the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Read,
    Write,
    Copy,
}

pub const KINDS: [Kind; 3] = [Kind::Read, Kind::Write, Kind::Copy];

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
        }
    }
}

/// How many threads share the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    One,
    All,
}

/// Bytes per second of each of [`KINDS`].
pub type Rates = [f64; 3];

/// One size of the working set.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub bytes: u64,
    pub one: Rates,
    pub all: Rates,
}

impl Point {
    pub fn rates(&self, threads: Threads) -> &Rates {
        match threads {
            Threads::One => &self.one,
            Threads::All => &self.all,
        }
    }
}

/// All sizes, ascending.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    pub points: Vec<Point>,
    /// How many "all threads" are.
    pub threads: usize,
    /// The numbers mean nothing: this program was built without optimization.
    pub is_slow_build: bool,
}

/// Measures; `tell` hears how many points are done, of how many.
pub fn measure(topology: &Topology, tell: impl Fn(usize, usize)) -> Curves {
    let usable = topology.usable.clone().filter(|cpus| !cpus.is_empty());
    let cpus: Vec<Option<u32>> = match usable {
        Some(cpus) => cpus.into_iter().map(Some).collect(),
        None => vec![None; std::thread::available_parallelism().map_or(1, usize::from)],
    };
    let sizes = sizes(topology.last_cache_bytes().unwrap_or(LAST_CACHE_DEFAULT), topology.memory_bytes);
    let points = sizes.iter().enumerate().map(|(done, bytes)| {
        tell(done, sizes.len());
        let rates = |cpus: &[Option<u32>]| KINDS.map(|kind| rate(kind, *bytes, cpus));
        Point { bytes: *bytes, one: rates(&[None]), all: rates(&cpus) }
    });
    Curves { points: points.collect(), threads: cpus.len(), is_slow_build: cfg!(debug_assertions) }
}

/// From 1 MB to four times the last cache, but no more than an eighth of the memory (a copy needs it twice).
fn sizes(last_cache: u64, memory: Option<u64>) -> Vec<u64> {
    let most = (4 * last_cache).min(memory.unwrap_or(u64::MAX) / 8).max(BYTES_MIN);
    let step = |i: u32| (BYTES_MIN << (i / 2)) * if i.is_multiple_of(2) { 1_000 } else { 1_414 } / 1_000;
    let mut sizes: Vec<u64> = (0..80).map(step).take_while(|bytes| *bytes < most * 9 / 10).collect();
    sizes.push(most);
    sizes
}

/// Bytes per second of all threads together: one for each of the CPUs, bound to it where it is given.
fn rate(kind: Kind, bytes: u64, cpus: &[Option<u32>]) -> f64 {
    let words = (bytes / 8) as usize / cpus.len();
    let barrier = Barrier::new(cpus.len());
    let tries: Vec<[f64; TRIES]> = std::thread::scope(|scope| {
        let threads: Vec<_> = cpus.iter().map(|cpu| scope.spawn(|| thread(kind, words.max(STRIDE), *cpu, &barrier))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the measuring threads do not panic")).collect()
    });
    (0..TRIES).map(|i| tries.iter().map(|rates| rates[i]).sum()).fold(0.0, f64::max)
}

fn thread(kind: Kind, words: usize, cpu: Option<u32>, barrier: &Barrier) -> [f64; TRIES] {
    if let Some(cpu) = cpu {
        // A container may refuse it; the numbers are then those of wherever the kernel puts us.
        let _ = bind_thread(cpu);
    }
    let mut work = Work::new(kind, words);
    work.pass(1);
    [(); TRIES].map(|()| {
        barrier.wait();
        let began = Instant::now();
        let mut passes = 0;
        while began.elapsed() < TRY {
            passes += 1;
            work.pass(passes);
        }
        work.bytes_per_pass() * passes as f64 / began.elapsed().as_secs_f64()
    })
}

/// Words that are handled at once; independent of each other, so that the compiler uses vectors.
const STRIDE: usize = 32;

struct Work {
    kind: Kind,
    words: Vec<u64>,
    target: Vec<u64>,
}

impl Work {
    /// A copy has half the working set as its source and half as its target.
    fn new(kind: Kind, words: usize) -> Self {
        let halves = if kind == Kind::Copy { 2 } else { 1 };
        let words = (words / halves).next_multiple_of(STRIDE);
        let target = if kind == Kind::Copy { vec![1; words] } else { Vec::new() };
        Self { kind, words: vec![1; words], target }
    }

    fn bytes_per_pass(&self) -> f64 {
        ((self.words.len() + self.target.len()) * 8) as f64
    }

    fn pass(&mut self, number: u64) {
        match self.kind {
            Kind::Read => {
                black_box(mixed(black_box(&self.words)));
            }
            Kind::Write => black_box(&mut self.words).fill(black_box(number)),
            Kind::Copy => black_box(&mut self.target).copy_from_slice(black_box(&self.words)),
        }
    }
}

/// Reads every word.
fn mixed(words: &[u64]) -> u64 {
    let mut lanes = [0u64; STRIDE];
    for chunk in words.as_chunks::<STRIDE>().0 {
        for (lane, word) in lanes.iter_mut().zip(chunk) {
            *lane ^= word;
        }
    }
    lanes.iter().fold(0, |all, lane| all ^ lane)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_reach_four_times_the_cache() {
        let sizes = sizes(8 << 20, Some(64 << 30));
        assert_eq!((sizes.first(), sizes.last()), (Some(&(1 << 20)), Some(&(32 << 20))));
        assert!(sizes.is_sorted_by(|a, b| a < b) && sizes.len() == 11, "{sizes:?}");
        assert_eq!(super::sizes(32 << 20, Some(256 << 20)).last(), Some(&(32 << 20)), "little memory");
        assert_eq!(super::sizes(100, None), [1 << 20]);
    }

    #[test]
    fn every_kind_has_a_rate() {
        for kind in KINDS {
            let mut work = Work::new(kind, 1000);
            work.pass(3);
            assert!(work.bytes_per_pass() >= 8_000.0);
            match kind {
                Kind::Read => assert_eq!(mixed(&work.words), 0),
                Kind::Write => assert!(work.words.iter().all(|word| *word == 3)),
                Kind::Copy => assert_eq!(work.target, work.words),
            }
        }
        assert!(rate(Kind::Read, 1 << 20, &[None, Some(0)]) > 0.0);
    }
}
