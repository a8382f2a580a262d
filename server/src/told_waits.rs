//! The waits of all workers, for threads that are no workers.
//!
//! Each worker counts its own (`reactor::task_clock`); a sum is gathered by message.

use crate::shared::Shared;
use crate::show::all_waits;
use crate::waits::{Place, Places, event_name};
use reactor::task_clock::{Sum, bucket_end};
use sync::waits::Kind;

/// All waits of one kind. Times are nanoseconds.
#[derive(Clone, Debug)]
pub struct WaitsOfKind {
    pub name: &'static str,
    pub event: &'static str,
    pub count: u64,
    pub nanos: u64,
    pub longest_nanos: u64,
    /// How many waits took how long: where a bucket ends, in nanoseconds, and its count.
    pub buckets: Vec<(u64, u64)>,
}

/// The waits of one kind for one table or index.
#[derive(Clone, Debug)]
pub struct WaitsForObject {
    pub name: &'static str,
    pub event: &'static str,
    pub place: Place,
    pub count: u64,
    pub nanos: u64,
    pub longest_nanos: u64,
}

/// The waits of all workers by kind, in nanoseconds.
pub async fn by_kind(shared: &Shared) -> Vec<WaitsOfKind> {
    let (waits, tick) = (all_waits(shared).await, shared.tick_clock.nanos_per_tick());
    let nanos = |ticks: u64| (ticks as f64 * tick) as u64;
    let line = |(kind, sum): (Kind, Sum)| WaitsOfKind {
        name: kind.name(),
        event: event_name(kind),
        count: sum.count,
        nanos: nanos(sum.ticks),
        longest_nanos: nanos(sum.longest),
        buckets: (0..).zip(&waits.buckets[kind as usize]).map(|(n, count)| (nanos(bucket_end(n)), *count)).collect(),
    };
    waits.sums.each().map(line).collect()
}

/// The waits of all workers by what was waited for, in nanoseconds, the longest sums first.
pub async fn by_object(shared: &Shared) -> Vec<WaitsForObject> {
    let (waits, tick) = (all_waits(shared).await, shared.tick_clock.nanos_per_tick());
    let schema = shared.database.schema();
    let places = Places::of(&schema);
    let nanos = |ticks: u64| (ticks as f64 * tick) as u64;
    let mut lines: Vec<_> = waits
        .objects
        .iter()
        .map(|((kind, object), sum)| WaitsForObject {
            name: kind.name(),
            event: event_name(*kind),
            place: places.find(*object),
            count: sum.count,
            nanos: nanos(sum.ticks),
            longest_nanos: nanos(sum.longest),
        })
        .collect();
    lines.sort_by_key(|line| std::cmp::Reverse(line.nanos));
    lines
}
