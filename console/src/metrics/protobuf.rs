//! Families of metrics as Prometheus' protocol buffers, the one format that carries native histograms.
//!
//! Each family is a message `io.prometheus.client.MetricFamily`, with its length before it
//! (<https://github.com/prometheus/client_model>, `metrics.proto`). Only the fields that are written here are declared.
//!
//! A native histogram has a bucket for each power of 2^(2^-schema) and names only those that are not empty
//! (<https://prometheus.io/docs/specs/native_histograms/>).

use super::text::{Family, Kind};
use prost::Message;

pub const CONTENT_TYPE: &str = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

/// The schema of the native histograms: eight buckets for each power of two, as many as the server's own have.
const SCHEMA: i32 = 3;

#[derive(Clone, PartialEq, Message)]
struct MetricFamily {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    help: String,
    /// 0 counter, 1 gauge, 3 untyped, 4 histogram
    #[prost(int32, optional, tag = "3")]
    kind: Option<i32>,
    #[prost(message, repeated, tag = "4")]
    metric: Vec<Metric>,
}

#[derive(Clone, PartialEq, Message)]
struct Metric {
    #[prost(message, repeated, tag = "1")]
    label: Vec<LabelPair>,
    #[prost(message, optional, tag = "2")]
    gauge: Option<Number>,
    #[prost(message, optional, tag = "3")]
    counter: Option<Number>,
    #[prost(message, optional, tag = "5")]
    untyped: Option<Number>,
    #[prost(message, optional, tag = "7")]
    histogram: Option<Histogram>,
}

#[derive(Clone, PartialEq, Message)]
struct LabelPair {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    value: String,
}

/// Gauge, Counter and Untyped: each has its value in the same field.
#[derive(Clone, PartialEq, Message)]
struct Number {
    #[prost(double, optional, tag = "1")]
    value: Option<f64>,
}

#[derive(Clone, PartialEq, Message)]
struct Histogram {
    #[prost(uint64, optional, tag = "1")]
    sample_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    sample_sum: Option<f64>,
    #[prost(message, repeated, tag = "3")]
    bucket: Vec<Bucket>,
    #[prost(sint32, optional, tag = "5")]
    schema: Option<i32>,
    #[prost(double, optional, tag = "6")]
    zero_threshold: Option<f64>,
    #[prost(uint64, optional, tag = "7")]
    zero_count: Option<u64>,
    #[prost(message, repeated, tag = "12")]
    positive_span: Vec<BucketSpan>,
    /// The first count, then each count less the one before.
    #[prost(sint64, repeated, packed = "false", tag = "13")]
    positive_delta: Vec<i64>,
}

#[derive(Clone, PartialEq, Message)]
struct Bucket {
    #[prost(uint64, optional, tag = "1")]
    cumulative_count: Option<u64>,
    #[prost(double, optional, tag = "2")]
    upper_bound: Option<f64>,
}

/// Buckets that follow each other.
#[derive(Clone, PartialEq, Message)]
struct BucketSpan {
    /// Of the first span: the number of its first bucket. Of others: how many buckets are left out before it.
    #[prost(sint32, optional, tag = "1")]
    offset: Option<i32>,
    #[prost(uint32, optional, tag = "2")]
    length: Option<u32>,
}

/// Families without samples are left out.
pub fn write(families: &[Family]) -> Vec<u8> {
    let mut out = Vec::new();
    for family in families.iter().filter(|family| !family.samples.is_empty()) {
        message(family).encode_length_delimited(&mut out).expect("a vector grows");
    }
    out
}

fn message(family: &Family) -> MetricFamily {
    let (kind, metric) = match family.kind {
        Kind::Counter => (0, plain(family, |number| Metric { counter: number, ..Metric::default() })),
        Kind::Gauge => (1, plain(family, |number| Metric { gauge: number, ..Metric::default() })),
        Kind::Untyped => (3, plain(family, |number| Metric { untyped: number, ..Metric::default() })),
        Kind::Histogram => (4, vec![Metric { histogram: Some(histogram(family)), ..Metric::default() }]),
    };
    MetricFamily { name: family.name.clone(), help: family.help.clone(), kind: Some(kind), metric }
}

fn plain(family: &Family, metric: impl Fn(Option<Number>) -> Metric) -> Vec<Metric> {
    let with_labels = |sample: &super::text::Sample| {
        let pair = |(name, value): &(String, String)| LabelPair { name: name.clone(), value: value.clone() };
        Metric { label: sample.labels.iter().map(pair).collect(), ..metric(Some(Number { value: Some(sample.value) })) }
    };
    family.samples.iter().map(with_labels).collect()
}

/// The buckets with bounds, which the text formats have too, and the native ones.
fn histogram(family: &Family) -> Histogram {
    let of = |suffix: &str| family.samples.iter().find(|sample| sample.suffix == suffix).map(|sample| sample.value);
    let mut made = Histogram {
        sample_count: of("_count").map(|count| count as u64),
        sample_sum: of("_sum"),
        schema: Some(SCHEMA),
        zero_threshold: Some(0.0),
        zero_count: Some(0),
        ..Histogram::default()
    };
    for sample in family.samples.iter().filter(|sample| sample.suffix == "_bucket") {
        let bound = sample.labels.iter().find(|(name, _)| name == "le").map(|(_, bound)| bound.as_str());
        let bound = bound.and_then(|bound| if bound == "+Inf" { Some(f64::INFINITY) } else { bound.parse().ok() });
        made.bucket.push(Bucket { cumulative_count: Some(sample.value as u64), upper_bound: bound });
    }
    let (mut next, mut last) = (None, 0);
    for (number, count) in native_buckets(&family.counts) {
        match made.positive_span.last_mut() {
            Some(span) if next == Some(number) => span.length = span.length.map(|length| length + 1),
            _ => made.positive_span.push(BucketSpan { offset: Some(number - next.unwrap_or(0)), length: Some(1) }),
        }
        made.positive_delta.push(count as i64 - last);
        (next, last) = (Some(number + 1), count as i64);
    }
    made
}

/// Numbers and counts of the buckets that are not empty. A bucket of the server counts in the native one that has its end: both are an eighth of a
/// power of two wide, so a duration is at most one bucket away from its own.
fn native_buckets(counts: &[(f64, u64)]) -> Vec<(i32, u64)> {
    let mut buckets: Vec<(i32, u64)> = Vec::new();
    for (end, count) in counts.iter().filter(|(end, count)| *count > 0 && *end > 0.0) {
        let number = (end.log2() * f64::from(1 << SCHEMA)).ceil() as i32;
        match buckets.last_mut() {
            Some((last, sum)) if *last == number => *sum += count,
            _ => buckets.push((number, *count)),
        }
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_native_histogram_names_the_buckets_that_are_not_empty() {
        let mut family = Family::new("d_seconds", Kind::Histogram, "Durations.");
        family.counts = vec![(0.5, 3), (0.54, 0), (1.0, 2), (1.05, 4), (4.0, 1)];
        family.add("_bucket", &[("le", "1")], 5.0);
        family.add("_bucket", &[("le", "+Inf")], 10.0);
        family.add("_sum", &[], 9.5);
        family.add("_count", &[], 10.0);
        let bytes = write(&[family, Family::new("empty", Kind::Gauge, "No samples.")]);
        let message = MetricFamily::decode_length_delimited(&bytes[..]).unwrap();
        assert_eq!((message.name.as_str(), message.kind), ("d_seconds", Some(4)));
        let histogram = message.metric[0].histogram.clone().unwrap();
        assert_eq!((histogram.sample_count, histogram.sample_sum, histogram.schema), (Some(10), Some(9.5), Some(3)));
        let bounds: Vec<_> = histogram.bucket.iter().map(|bucket| (bucket.cumulative_count, bucket.upper_bound)).collect();
        assert_eq!(bounds, [(Some(5), Some(1.0)), (Some(10), Some(f64::INFINITY))]);
        // 0.5 is 2^(-8/8), 1.0 is 2^(0/8), 1.05 lies below 2^(1/8), 4.0 is 2^(16/8).
        let spans: Vec<_> = histogram.positive_span.iter().map(|span| (span.offset, span.length)).collect();
        assert_eq!(spans, [(Some(-8), Some(1)), (Some(7), Some(2)), (Some(14), Some(1))]);
        assert_eq!(histogram.positive_delta, [3, -1, 2, -3]);
    }

    #[test]
    fn counters_and_gauges_keep_their_labels() {
        let mut family = Family::new("a_total", Kind::Counter, "First.");
        family.add("", &[("x", "1\"")], 3.0);
        let message = MetricFamily::decode_length_delimited(&write(&[family])[..]).unwrap();
        let metric = &message.metric[0];
        assert_eq!((metric.label[0].name.as_str(), metric.label[0].value.as_str()), ("x", "1\""));
        assert_eq!((metric.counter.clone().unwrap().value, metric.gauge.clone()), (Some(3.0), None));
    }
}
