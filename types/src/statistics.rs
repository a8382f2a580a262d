//! Statistics of a table's rows, for the planner.
//!
//! - For each index: the number of different values of its first column, of its first two, ...
//! - For columns: a histogram, with the fraction of NULLs, and ranges of values (*buckets*) with the fraction of the
//!   rows in each. A bucket of one value is a singleton; if all are, equalities are answered exactly.
//!
//! Values are keys of [`crate::key`], ascending and cut to [`KEY_BYTES`]: bytes with the column's order.
//!
//! S1: buckets are in order and do not overlap; `low <= high` in each.
//! S2: the fractions of buckets and of NULLs add up to 1, up to rounding.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Keys are cut to this length: longer values with the same beginning count as one.
pub const KEY_BYTES: usize = 24;
/// Buckets of the histograms that are kept of every column.
pub const BUCKETS: usize = 24;

/// Statistics of a table, taken at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableStatistics {
    /// When they were taken, in microseconds of UTC; 0: by an older release.
    #[serde(default)]
    pub taken_us: i64,
    /// The table's count of changes at that time, since the table was opened.
    #[serde(skip)]
    pub changes: u64,
    /// Rows there were.
    pub rows: u64,
    /// The shape of the table; statistics of another shape are not used.
    pub shape: u64,
    /// For each index, by the number of its columns from the first on: different values.
    pub indexes: Vec<Vec<f64>>,
    /// For each column.
    pub columns: Vec<Option<Histogram>>,
    /// For each index; empty if an older release computed them.
    #[serde(default)]
    pub trees: Vec<TreePages>,
    /// Of the tree of large values, if there is one.
    #[serde(default)]
    pub values: TreePages,
}

/// About how many pages a tree has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreePages {
    pub leaves: u64,
    /// With the leaves.
    pub all: u64,
}

impl TreePages {
    /// A tree begins as one page.
    pub const FRESH: Self = Self { leaves: 1, all: 1 };
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// The part of the rows that are NULL.
    pub nulls: f64,
    /// Different values, NULL not among them.
    pub distinct: f64,
    pub buckets: Vec<Bucket>,
    /// The number of buckets that ANALYZE TABLE ... UPDATE HISTOGRAM requested: kept until it is dropped or requested
    /// again.
    #[serde(default)]
    pub asked: Option<u32>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    #[serde(serialize_with = "to_hex", deserialize_with = "from_hex")]
    pub low: Vec<u8>,
    #[serde(serialize_with = "to_hex", deserialize_with = "from_hex")]
    pub high: Vec<u8>,
    /// The part of the rows in it.
    pub part: f64,
    /// Different values in it; at least 1.
    pub distinct: f64,
}

/// One end of a range of values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge<'k> {
    pub key: &'k [u8],
    pub inclusive: bool,
}

impl TableStatistics {
    /// Different values of the first `columns` columns of an index.
    pub fn distinct_prefix(&self, index: usize, columns: usize) -> Option<f64> {
        self.indexes.get(index)?.get(columns.checked_sub(1)?).copied()
    }

    pub fn histogram(&self, column: usize) -> Option<&Histogram> {
        self.columns.get(column)?.as_ref()
    }

    /// Do these differ so much from the others that plans should be made again?
    pub fn differs_from(&self, other: &TableStatistics) -> bool {
        let far = |a: f64, b: f64| a.max(b) > 1.5 * a.min(b) + 10.0;
        let columns = |a: &Option<Histogram>, b: &Option<Histogram>| match (a, b) {
            (Some(a), Some(b)) => far(a.distinct, b.distinct) || (a.nulls - b.nulls).abs() > 0.1 || a.asked != b.asked,
            (a, b) => a.is_some() != b.is_some(),
        };
        self.shape != other.shape
            || far(self.rows as f64, other.rows as f64)
            || self.indexes.iter().flatten().zip(other.indexes.iter().flatten()).any(|(a, b)| far(*a, *b))
            || self.columns.iter().zip(&other.columns).any(|(a, b)| columns(a, b))
    }
}

impl Histogram {
    /// A histogram of a sample: `keys` are the values that are not NULL, `nulls` is the number of NULLs, `rows` the
    /// number of all rows.
    pub fn of_sample(mut keys: Vec<Vec<u8>>, nulls: usize, rows: u64, buckets: usize) -> Self {
        let sampled = (keys.len() + nulls).max(1) as f64;
        keys.iter_mut().for_each(|key| key.truncate(KEY_BYTES));
        keys.sort_unstable();
        let mut runs: Vec<(Vec<u8>, usize)> = Vec::new();
        for key in keys {
            match runs.last_mut() {
                Some((last, count)) if *last == key => *count += 1,
                _ => runs.push((key, 1)),
            }
        }
        let found = runs.iter().map(|(_, count)| count).sum::<usize>() as f64;
        let all = rows as f64 * found / sampled;
        let distinct = scaled_distinct(&runs, found, all);
        let grown = if runs.is_empty() { 1.0 } else { distinct / runs.len() as f64 };
        let buckets = bucketed(runs, buckets.max(1), sampled, grown);
        Self { nulls: nulls as f64 / sampled, distinct, buckets, asked: None }
    }

    /// The part of the rows that have this value.
    pub fn equal(&self, key: &[u8]) -> f64 {
        let key = cut(key);
        let within = |bucket: &&Bucket| bucket.low.as_slice() <= key && key <= bucket.high.as_slice();
        match self.buckets.iter().find(within) {
            Some(bucket) => bucket.part / bucket.distinct.max(1.0),
            // Rarer than any value in the sample.
            None => self.rare(),
        }
    }

    /// The part of a value that no bucket has.
    fn rare(&self) -> f64 {
        let least = self.buckets.iter().map(|bucket| bucket.part / bucket.distinct.max(1.0)).fold(1.0, f64::min);
        if self.buckets.is_empty() { 0.0 } else { (least / 2.0).min(1.0 / self.distinct.max(1.0)) }
    }

    /// The part of the rows that any value has, on the average.
    pub fn average(&self) -> f64 {
        (1.0 - self.nulls) / self.distinct.max(1.0)
    }

    /// The part of the rows between two ends; `None`: open.
    pub fn between(&self, low: Option<Edge<'_>>, high: Option<Edge<'_>>) -> f64 {
        let below_high = high.map_or(1.0 - self.nulls, |edge| self.below(edge.key, edge.inclusive));
        let below_low = low.map_or(0.0, |edge| self.below(edge.key, !edge.inclusive));
        (below_high - below_low).max(0.0)
    }

    /// The part of the rows below a value, or up to it.
    fn below(&self, key: &[u8], inclusive: bool) -> f64 {
        let key = cut(key);
        let mut sum = 0.0;
        for bucket in &self.buckets {
            if bucket.high.as_slice() < key {
                sum += bucket.part;
                continue;
            }
            if bucket.low.as_slice() > key {
                break;
            }
            let one = bucket.part / bucket.distinct.max(1.0);
            let inside =
                if bucket.low == bucket.high { 0.0 } else { position(&bucket.low, &bucket.high, key) * (bucket.part - one) };
            sum += inside + if inclusive { one } else { 0.0 };
            break;
        }
        sum
    }
}

fn cut(key: &[u8]) -> &[u8] {
    &key[..key.len().min(KEY_BYTES)]
}

/// The position of a key between two others, from 0 to 1, as numbers after their common prefix.
fn position(low: &[u8], high: &[u8], key: &[u8]) -> f64 {
    let same = low.iter().zip(high).take_while(|(a, b)| a == b).count();
    let number = |bytes: &[u8]| {
        let mut word = [0; 8];
        let rest = bytes.get(same..).unwrap_or(&[]);
        let length = rest.len().min(8);
        word[..length].copy_from_slice(&rest[..length]);
        u64::from_be_bytes(word) as f64
    };
    let (low, high, key) = (number(low), number(high), number(key));
    if high > low { ((key - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
}

/// How many values there are, from how many the sample has and how many of them came once (Haas and Stokes, "Estimating the number of
/// classes in a finite population", 1998: the estimator Duj1).
fn scaled_distinct(runs: &[(Vec<u8>, usize)], sampled: f64, all: f64) -> f64 {
    let seen = runs.len() as f64;
    if sampled < 1.0 || all <= sampled {
        return seen;
    }
    let once = runs.iter().filter(|(_, count)| *count == 1).count() as f64;
    let estimate = sampled * seen / (sampled - once + once * sampled / all);
    estimate.clamp(seen, all)
}

/// Runs of equal values as buckets: a value that fills a bucket gets its own, the others share.
fn bucketed(runs: Vec<(Vec<u8>, usize)>, buckets: usize, sampled: f64, grown: f64) -> Vec<Bucket> {
    let single = runs.len() <= buckets;
    let total: usize = runs.iter().map(|(_, count)| count).sum();
    let size = total.div_ceil(buckets).max(1);
    let mut out: Vec<Bucket> = Vec::new();
    let mut filled = usize::MAX;
    for (key, count) in runs {
        let part = count as f64 / sampled;
        let alone = single || count >= size;
        match out.last_mut() {
            Some(last) if !alone && filled + count <= size => {
                last.high = key;
                last.part += part;
                last.distinct += grown;
                filled += count;
            }
            _ => {
                out.push(Bucket { low: key.clone(), high: key, part, distinct: if alone { 1.0 } else { grown } });
                filled = if alone { size } else { count };
            }
        }
    }
    out
}

fn to_hex<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    let digit = |n: u8| char::from_digit(u32::from(n), 16).expect("four bits");
    let text: String = bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect();
    serializer.serialize_str(&text)
}

fn from_hex<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|n| n as u8);
    let pairs = text.as_bytes().chunks(2).map(|pair| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?));
    pairs.collect::<Option<Vec<u8>>>().ok_or_else(|| serde::de::Error::custom("no hexadecimal digits"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(n: u32) -> Vec<u8> {
        n.to_be_bytes().to_vec()
    }

    #[test]
    fn few_values_are_known_exactly() {
        let keys = (0..1000).map(|n| key(if n < 900 { 1 } else { 2 })).collect();
        let histogram = Histogram::of_sample(keys, 1000, 2000, 8);
        assert_eq!(histogram.distinct, 2.0);
        assert!((histogram.equal(&key(1)) - 0.45).abs() < 1e-9);
        assert!((histogram.equal(&key(2)) - 0.05).abs() < 1e-9);
        assert!(histogram.equal(&key(7)) < 0.05);
        let low = key(2);
        let from_two = histogram.between(Some(Edge { key: &low, inclusive: true }), None);
        assert!((from_two - 0.05).abs() < 1e-9);
        assert!((histogram.between(None, None) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn ranges_are_interpolated() {
        let histogram = Histogram::of_sample((0..10_000).map(key).collect(), 0, 10_000, 16);
        for (low, high) in [(0, 9999), (100, 200), (2500, 7500), (9000, 20_000)] {
            let (from, to) = (key(low), key(high));
            let edges = (Edge { key: &from, inclusive: true }, Edge { key: &to, inclusive: true });
            let expected = f64::from(high.min(9999) - low + 1) / 10_000.0;
            let found = histogram.between(Some(edges.0), Some(edges.1));
            assert!((found - expected).abs() < 0.005, "{low} {high}: {found} for {expected}");
        }
    }

    #[test]
    fn a_frequent_value_among_many_stands_alone() {
        let keys = (0..1000).map(|n| if n % 2 == 0 { key(500) } else { key(n) }).collect();
        let histogram = Histogram::of_sample(keys, 0, 1000, 10);
        assert!((histogram.equal(&key(500)) - 0.5).abs() < 0.01);
        assert!(histogram.equal(&key(501)) < 0.01);
    }

    #[test]
    fn values_seen_once_stand_for_more() {
        let unique = Histogram::of_sample((0..1000).map(key).collect(), 0, 100_000, 16);
        assert!(unique.distinct > 90_000.0, "{}", unique.distinct);
        let few = Histogram::of_sample((0..1000).map(|n| key(n % 50)).collect(), 0, 100_000, 64);
        assert_eq!(few.distinct, 50.0);
    }

    #[test]
    fn statistics_are_read_as_they_were_written() {
        let histogram = Histogram::of_sample((0..100).map(key).collect(), 3, 103, 4);
        let bucket = &histogram.buckets[0];
        let mut hex = Vec::new();
        for byte in &bucket.low {
            hex.extend(format!("{byte:02x}").bytes());
        }
        assert_eq!(hex, b"00000000");
    }
}
