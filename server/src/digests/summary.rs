//! The statistics of all workers, added up by digest.

use super::statistics::{Sums, bucket_end};
use reactor::task_clock::Sums as Waits;
use std::cell::Cell;
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
    pub buckets: Buckets,
    pub sample: String,
    pub sample_time: u64,
    pub sample_end: u64,
    /// The waits by kind, if there were any.
    pub waits: Option<Box<Waits>>,
    /// The digest of the result that causes its executions, and the column.
    pub cause: Option<(String, usize)>,
}

/// A histogram of durations without the empty buckets at both ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buckets {
    /// The number of the first bucket in `counts`.
    first: usize,
    counts: Vec<u32>,
}

impl Buckets {
    /// Takes what is not empty of all buckets.
    pub fn of(all: &[Cell<u32>]) -> Self {
        let Some(first) = all.iter().position(|count| count.get() > 0) else { return Self::default() };
        let last = all.iter().rposition(|count| count.get() > 0).expect("there is a first one");
        Self { first, counts: all[first..=last].iter().map(Cell::get).collect() }
    }

    fn add(&mut self, other: &Self) {
        if other.counts.is_empty() {
            return;
        }
        if self.counts.is_empty() {
            self.first = other.first;
        }
        let missing = self.first.saturating_sub(other.first);
        self.counts.splice(0..0, std::iter::repeat_n(0, missing));
        self.first -= missing;
        let place = other.first - self.first;
        if self.counts.len() < place + other.counts.len() {
            self.counts.resize(place + other.counts.len(), 0);
        }
        self.counts[place..].iter_mut().zip(&other.counts).for_each(|(sum, more)| *sum = sum.wrapping_add(*more));
    }

    #[cfg(test)]
    pub fn total(&self) -> u32 {
        self.counts.iter().sum()
    }

    /// The number of the bucket in which the execution of this rank lies.
    fn reach(&self, rank: u64) -> Option<usize> {
        let mut seen = 0;
        let reached = self.counts.iter().position(|count| {
            seen += u64::from(*count);
            seen >= rank
        });
        reached.map(|place| self.first + place)
    }
}

impl Summary {
    fn add(&mut self, other: Self) {
        self.sums.add(&other.sums);
        self.least = self.least.min(other.least);
        self.most = self.most.max(other.most);
        self.first = self.first.min(other.first);
        self.last = self.last.max(other.last);
        self.buckets.add(&other.buckets);
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
        self.buckets.reach(wanted).map_or(self.most, |bucket| bucket_end(bucket).min(self.most))
    }
}

/// Merges the statistics of each digest. At most `size` rows; the digests seen last are merged into one row.
pub fn merged(all: impl Iterator<Item = Summary>, size: usize) -> Vec<Summary> {
    let mut rows: Vec<Summary> = all.collect();
    rows.sort_by(|a, b| (&a.database, &a.text).cmp(&(&b.database, &b.text)));
    rows.dedup_by(|more, sum| {
        let is_same = (&more.database, &more.text) == (&sum.database, &sum.text);
        if is_same {
            sum.add(std::mem::take(more));
        }
        is_same
    });
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
        let one = |bucket: usize, count| {
            let all = [const { Cell::new(0) }; super::super::statistics::BUCKETS];
            all[bucket].set(count);
            Buckets::of(&all)
        };
        // Of several workers, in any order.
        for order in [[3, 40, 17], [40, 3, 17], [17, 40, 3]] {
            let sums = Sums { count: 100, ..Sums::default() };
            let mut summary = Summary { sums, most: u64::MAX, ..Summary::default() };
            for bucket in order {
                summary.buckets.add(&one(
                    bucket,
                    if bucket == 3 {
                        97
                    } else if bucket == 17 {
                        1
                    } else {
                        2
                    },
                ));
            }
            assert_eq!(summary.quantile(950), bucket_end(3));
            assert_eq!(summary.quantile(980), bucket_end(17));
            assert_eq!(summary.quantile(990), bucket_end(40));
        }
        assert_eq!(Buckets::of(&[const { Cell::new(0) }; 5]), Buckets::default());
    }
}
