//! A histogram of latencies with a bounded error, as HdrHistogram has it: each power of two is cut into 64 equal parts.
//!
//! H1: a value lies in a bucket whose width is at most 1/64 of it, so a percentile is at most 1.6 % too large, and never too small.
//! H2: recording is one addition; there is no lock, as each thread has its own, and they are added up at the end.

use serde::{Deserialize, Serialize};

const PARTS_LOG: u32 = 6;
const PARTS: u64 = 1 << PARTS_LOG;
/// Up to 2^40 ns, 18 minutes; longer ones are counted as that.
const POWERS: u32 = 40;
const BUCKETS: usize = ((POWERS - PARTS_LOG + 1) as u64 * PARTS) as usize;

/// Counts of nanoseconds.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Box<[u64]>,
    count: u64,
    sum: u128,
    max: u64,
}

/// What the report keeps: the bucket's number and its count, where there is one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sparse {
    pub buckets: Vec<(u16, u64)>,
    pub sum_ns: f64,
    pub max_ns: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS].into(), count: 0, sum: 0, max: 0 }
    }
}

fn bucket(value: u64) -> usize {
    if value < PARTS {
        return value as usize;
    }
    let power = value.ilog2();
    let part = (value >> (power - PARTS_LOG)) - PARTS;
    (((power - PARTS_LOG + 1) as u64 * PARTS + part) as usize).min(BUCKETS - 1)
}

/// The largest value of a bucket.
fn top(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let (power, part) = (bucket / PARTS, bucket % PARTS);
    if power == 0 {
        return part;
    }
    ((PARTS + part + 1) << (power - 1)) - 1
}

impl Histogram {
    pub fn record(&mut self, ns: u64) {
        self.counts[bucket(ns)] += 1;
        self.count += 1;
        self.sum += u128::from(ns);
        self.max = self.max.max(ns);
    }

    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn max(&self) -> u64 {
        self.max
    }

    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Nanoseconds within which a share of the values lies; 0 of none.
    pub fn percentile(&self, share: f64) -> u64 {
        let wanted = ((self.count as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (at, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return top(at).min(self.max);
            }
        }
        self.max
    }

    pub fn sparse(&self) -> Sparse {
        let buckets = self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(at, count)| (at as u16, *count));
        Sparse { buckets: buckets.collect(), sum_ns: self.sum as f64, max_ns: self.max }
    }

    /// Adds what a report has kept; buckets that no histogram has are left out.
    pub fn add_sparse(&mut self, kept: &Sparse) {
        for (at, count) in &kept.buckets {
            if let Some(mine) = self.counts.get_mut(usize::from(*at)) {
                *mine += count;
                self.count += count;
            }
        }
        self.sum += kept.sum_ns as u128;
        self.max = self.max.max(kept.max_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_narrow_and_holds_its_values() {
        let mut last = None;
        for value in (0..5000).chain((13..39).flat_map(|power| [1u64 << power, (1 << power) + 1, (1 << (power + 1)) - 1])) {
            let at = bucket(value);
            assert!(top(at) >= value && (top(at) - value) as f64 <= value as f64 / 64.0, "{value}: {} in {at}", top(at)); // H1
            assert!(last.is_none_or(|last| at >= last), "{value}");
            last = Some(at);
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_and_sums() {
        let mut all = Histogram::default();
        let mut odd = Histogram::default();
        for value in 1..=1000u64 {
            if value % 2 == 0 { all.record(value * 1000) } else { odd.record(value * 1000) }
        }
        all.add(&odd);
        for (share, expected) in [(0.5, 500_000.0), (0.95, 950_000.0), (0.99, 990_000.0)] {
            let got = all.percentile(share) as f64;
            assert!(got >= expected && got <= expected * 1.016, "{share}: {got}");
        }
        assert_eq!((all.percentile(1.0), all.count(), all.mean()), (1_000_000, 1000, 500_500.0));
        assert_eq!(Histogram::default().percentile(0.99), 0);
        let mut again = Histogram::default();
        again.add_sparse(&all.sparse());
        assert_eq!((again.sparse(), again.count()), (all.sparse(), 1000));
    }
}
