//! The durations of all statements of one worker, whatever their digest: a histogram that only grows, from which metrics and the console
//! take differences.
//!
//! TRUNCATE of the statistics by digest does not clear it: a reader of counters must not see one fall.

use std::cell::Cell;

/// Counts by bucket, and the sum. Times are ticks.
pub struct Latencies {
    buckets: Box<[Cell<u64>]>,
    sum: Cell<u64>,
}

impl Latencies {
    pub fn new(buckets: usize) -> Self {
        Self { buckets: (0..buckets).map(|_| Cell::new(0)).collect(), sum: Cell::new(0) }
    }

    /// Counts a statement that took so many ticks.
    #[inline]
    pub fn record(&self, bucket: usize, ticks: u64) {
        let bucket = &self.buckets[bucket];
        bucket.set(bucket.get() + 1);
        self.sum.set(self.sum.get() + ticks);
    }

    /// The counts by bucket, and the sum of the durations.
    pub fn get(&self) -> (Vec<u64>, u64) {
        (self.buckets.iter().map(Cell::get).collect(), self.sum.get())
    }
}
