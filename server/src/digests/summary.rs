//! The statistics of all workers, added up by digest.

use super::statistics::{Sums, bucket_end};
use reactor::task_clock::Sums as Waits;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use sync::waits::Kind;

/// The statistics of one digest over all workers. Times are ticks; points in time are the ticks at an execution's end.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub database: Option<String>,
    /// `None`: all digests for which there is no room.
    pub text: Option<String>,
    pub sums: Sums,
    pub least: u64,
    pub most: u64,
    pub first: u64,
    pub last: u64,
    pub buckets: Vec<u32>,
    pub sample: String,
    pub sample_time: u64,
    pub sample_end: u64,
    /// The waits by kind, if there were any.
    pub waits: Option<Box<Waits>>,
    /// The digest of the result that causes its executions, and the column.
    pub cause: Option<(String, usize)>,
}

impl Summary {
    fn add(&mut self, other: Self) {
        self.sums.add(&other.sums);
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.buckets.iter_mut().zip(&other.buckets).for_each(|(sum, more)| *sum = sum.wrapping_add(*more));
        if let Some(waits) = other.waits {
            self.waits.get_or_insert_default().add(&waits);
        }
        if self.cause.is_none() {
            self.cause = other.cause;
        }
        if other.sample_time > self.sample_time {
            (self.sample, self.sample_time, self.sample_end) = (other.sample, other.sample_time, other.sample_end);
        }
    }

    /// The ticks of waits of these kinds.
    pub fn waited_for(&self, kinds: &[Kind]) -> u64 {
        self.waits.as_ref().map_or(0, |waits| waits.ticks(kinds))
    }

    /// The ticks that the executions ran.
    pub fn cpu(&self) -> u64 {
        self.sums.time.saturating_sub(self.sums.waited)
    }

    /// The ticks that `thousandths` of the executions took at most.
    pub fn quantile(&self, thousandths: u64) -> u64 {
        let wanted = (self.sums.count * thousandths).div_ceil(1000);
        let mut seen = 0;
        let reached = self.buckets.iter().position(|count| {
            seen += u64::from(*count);
            seen >= wanted
        });
        reached.map_or(self.most, |bucket| bucket_end(bucket).min(self.most))
    }
}

/// Merges the statistics of each digest. At most `size` rows; the digests seen last are merged into one row.
pub fn merged(all: impl Iterator<Item = Summary>, size: usize) -> Vec<Summary> {
    let mut by_digest: BTreeMap<(Option<String>, Option<String>), Summary> = BTreeMap::new();
    for summary in all {
        match by_digest.entry((summary.database.clone(), summary.text.clone())) {
            Entry::Occupied(mut sum) => sum.get_mut().add(summary),
            Entry::Vacant(place) => drop(place.insert(summary)),
        }
    }
    let mut rows: Vec<Summary> = by_digest.into_values().collect();
    // The row of all others is the last one.
    rows.sort_by_key(|row| (row.text.is_none(), row.first));
    let named = rows.iter().filter(|row| row.text.is_some()).count();
    if named + 1 > size {
        let rest = rows.split_off(size.saturating_sub(1));
        let others = rest.into_iter().reduce(|mut sum, more| {
            sum.add(more);
            sum
        });
        rows.extend(others.map(|sum| Summary { database: None, text: None, ..sum }));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_without_room_become_one_row() {
        let seen = |text: Option<&str>, first| Summary {
            text: text.map(Into::into),
            sums: Sums { count: 1, ..Sums::default() },
            first,
            ..Summary::default()
        };
        let all = [seen(Some("b"), 2), seen(None, 1), seen(Some("a"), 3), seen(Some("b"), 5), seen(Some("c"), 4)];
        let told = |size| -> Vec<(Option<String>, u64)> {
            merged(all.clone().into_iter(), size).into_iter().map(|row| (row.text, row.sums.count)).collect()
        };
        let row = |text: &str, count| (Some(text.to_owned()), count);
        assert_eq!(told(10), [row("b", 2), row("a", 1), row("c", 1), (None, 1)]);
        assert_eq!(told(4), [row("b", 2), row("a", 1), row("c", 1), (None, 1)]);
        assert_eq!(told(3), [row("b", 2), row("a", 1), (None, 2)]);
        assert_eq!(told(1), [(None, 5)]);
    }

    #[test]
    fn quantiles_are_ends_of_buckets() {
        let mut buckets = vec![0; super::super::statistics::BUCKETS];
        (buckets[3], buckets[40]) = (98, 2);
        let sums = Sums { count: 100, ..Sums::default() };
        let summary = Summary { sums, most: u64::MAX, buckets, ..Summary::default() };
        assert_eq!(summary.quantile(950), bucket_end(3));
        assert_eq!(summary.quantile(990), bucket_end(40));
    }
}
