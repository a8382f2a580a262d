//! Statistics of statements by digest: `performance_schema.events_statements_summary_by_digest`.
//!
//! ```text
//! statement   finds its statistics once: with its kept plan, or when it is prepared        (`Digests::find`)
//! execution   two readings of a clock and some dozen additions to cells of its worker      (`Statistics::record`)
//! SELECT      asks every worker, and adds up the statistics of each digest                 (`summary`)
//! ```
//!
//! D1: statistics belong to one worker; other threads get them only by message.
//! D2: a worker keeps at most `performance_schema_digests_size` of them. Further digests, and digests beyond that limit
//!     in the sum over all workers, count in the row without a digest.
//! D3: TRUNCATE zeroes the statistics that plans still point to, and drops the rest. A digest without executions has no
//!     row.
//! D4: computing a digest must be cheap beside the statement. For short texts without a kept plan (SHOW) it is
//!     remembered from the last execution; for SET and CALL with any literals. For long texts the parser knows which
//!     rows of VALUES add nothing to it.

mod kept;
mod latencies;
mod phases;
mod statistics;
mod summary;

pub use kept::{Execution, KeptOf, PlanCount, SentPlan, TEXT_BYTES_MAX, cut};
pub use phases::{Phase, Phases, ROWS_PER_TIMED};
pub use statistics::{Measured, Statistics, Ways};
pub use summary::{Summary, merged};

use latencies::Latencies;
use sha2::Digest;
use sql::Repeated;
use statistics::{BUCKETS, bucket_end};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use types::SqlMode;

/// Bytes of a text whose statistics are found by the text itself, without literals where they make no difference, and how many such texts
/// are kept.
const RECENT_BYTES_MAX: usize = 1024;
const RECENT_MAX: usize = 256;

/// The digest of a text of `STATEMENT_DIGEST_TEXT`.
pub fn digest_of(text: &str) -> String {
    sha2::Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[derive(Default)]
struct Recent {
    found: HashMap<Box<[u8]>, Rc<Statistics>>,
    key: Vec<u8>,
}

/// The statistics of one worker.
pub struct Digests {
    /// By database and text, with a zero byte between.
    by_name: RefCell<HashMap<Box<str>, Rc<Statistics>>>,
    /// D4: keyed by everything that determines the digest.
    recent: RefCell<Recent>,
    overflow: RefCell<Option<Rc<Statistics>>>,
    /// The durations of all statements since the start.
    latencies: Latencies,
    /// The memory that is left for executions and plans.
    room: Rc<Cell<usize>>,
    keeps: bool,
    /// How many there may be, with the row of all others.
    size: usize,
}

impl Digests {
    /// `size`: `performance_schema_digests_size`, which stays as it is.
    /// `keeps`: the slowest executions, too.
    pub fn new(size: usize, keeps: bool) -> Self {
        Self {
            keeps,
            by_name: RefCell::default(),
            recent: RefCell::default(),
            overflow: RefCell::default(),
            latencies: Latencies::new(BUCKETS),
            room: kept::room(keeps),
            size,
        }
    }

    /// The statistics of the first statement of `text`; the parser knows its `repeated` rows.
    pub fn find(&self, database: Option<&str>, text: &[u8], mode: &SqlMode, repeated: Repeated) -> Rc<Statistics> {
        let mut recent = self.recent.borrow_mut();
        recent.key.clear();
        recent.key.extend_from_slice(database.unwrap_or_default().as_bytes());
        recent.key.extend_from_slice(&[0, u8::from(mode.ansi_quotes), u8::from(mode.no_backslash_escapes)]);
        let texts_begin = recent.key.len();
        if !sql::digest_skeleton(text, mode, &mut recent.key) {
            recent.key.truncate(texts_begin);
            if text.len() <= RECENT_BYTES_MAX {
                recent.key.extend_from_slice(text);
            }
        }
        if !(1..=RECENT_BYTES_MAX).contains(&(recent.key.len() - texts_begin)) {
            return self.find_by_digest(database, sql::digest_text_of(text, mode, repeated));
        }
        if let Some(found) = recent.found.get(&recent.key[..]) {
            return Rc::clone(found);
        }
        let found = self.find_by_digest(database, sql::digest_text_of(text, mode, repeated));
        if recent.found.len() >= RECENT_MAX {
            recent.found.clear();
        }
        let key = recent.key[..].into();
        recent.found.insert(key, Rc::clone(&found));
        found
    }

    fn find_by_digest(&self, database: Option<&str>, digest: String) -> Rc<Statistics> {
        let mut by_name = self.by_name.borrow_mut();
        let name = format!("{}\0{digest}", database.unwrap_or_default());
        if let Some(found) = by_name.get(name.as_str()) {
            return Rc::clone(found);
        }
        if by_name.len() + 1 >= self.size {
            let mut overflow = self.overflow.borrow_mut();
            return Rc::clone(overflow.get_or_insert_with(|| Rc::new(Statistics::new(None, None, &self.room))));
        }
        let found = Rc::new(Statistics::new(database, Some(digest), &self.room));
        by_name.insert(name.into(), Rc::clone(&found));
        found
    }

    /// Counts an execution of `text`, which ends at tick `now`, for its digest and among all statements.
    #[inline]
    pub fn record(&self, of: &Statistics, execution: &Measured, now: u64, text: &[u8], clock: &os::TickClock) {
        let bucket = of.record(execution, now, text, clock);
        self.latencies.record(bucket, now.saturating_sub(execution.began));
    }

    /// How many statements since the start took how long, by the buckets of [`bucket_ends`], and the sum in ticks.
    pub fn latencies(&self) -> (Vec<u64>, u64) {
        self.latencies.get()
    }

    /// D3
    pub fn clear(&self) {
        self.recent.borrow_mut().found.clear();
        let mut by_name = self.by_name.borrow_mut();
        by_name.retain(|_, statistics| {
            let is_used = Rc::strong_count(statistics) > 1;
            if !is_used {
                statistics.clear();
            }
            is_used
        });
        let overflow = self.overflow.borrow();
        by_name.values().chain(overflow.as_ref()).for_each(|statistics| statistics.clear());
    }

    /// How many there are, and the bytes that they take.
    pub fn memory(&self) -> (u64, u64) {
        let (by_name, overflow) = (self.by_name.borrow(), self.overflow.borrow());
        let sizes = by_name.values().chain(overflow.as_ref()).map(|statistics| statistics.bytes() as u64);
        sizes.fold((0, 0), |(count, bytes), size| (count + 1, bytes + size))
    }

    /// The bytes of executions and plans that are kept.
    pub fn kept_bytes(&self) -> u64 {
        if self.keeps { kept::taken(&self.room) as u64 } else { 0 }
    }

    /// The executions and plans that are kept, by digest.
    pub fn kept(&self) -> Vec<KeptOf> {
        let by_name = self.by_name.borrow();
        by_name.values().filter_map(|statistics| statistics.kept()).collect()
    }

    /// The digests that were executed.
    pub fn summaries(&self) -> Vec<Summary> {
        let (by_name, overflow) = (self.by_name.borrow(), self.overflow.borrow());
        by_name.values().chain(overflow.as_ref()).filter_map(|statistics| statistics.summary()).collect()
    }
}

/// Where the buckets of durations end, in ticks.
pub fn bucket_ends() -> impl Iterator<Item = u64> {
    (0..BUCKETS).map(bucket_end)
}

#[cfg(test)]
mod tests {
    use super::statistics::bucket_of;
    use super::*;

    #[test]
    fn a_worker_keeps_so_many() {
        let digests = Digests::new(3, true);
        let find = |text: &str| digests.find(Some("d"), text.as_bytes(), &SqlMode::DEFAULT, Repeated::default());
        let clock = os::TickClock::start();
        let run = |text: &str| find(text).record(&Measured::default(), os::ticks(), text.as_bytes(), &clock);
        for text in ["SELECT 1", "SELECT 2", "SELECT a", "SELECT b", "SELECT c"] {
            run(text);
        }
        let mut told: Vec<_> = digests.summaries().into_iter().map(|row| (row.text, row.sums.count)).collect();
        told.sort();
        assert_eq!(told, [(None, 2), (Some("SELECT ?".to_owned()), 2), (Some("SELECT `a`".to_owned()), 1)]);
        let kept = find("SELECT 3");
        digests.clear();
        assert!(digests.summaries().is_empty());
        // A plan that was kept counts on, and there is room again.
        kept.record(&Measured::default(), os::ticks(), b"SELECT 3", &clock);
        run("SELECT c");
        assert_eq!(digests.summaries().len(), 2);
    }

    #[test]
    fn durations_are_counted_below_their_buckets_end() {
        let digests = Digests::new(3, true);
        [0, 5000, 5000, 1 << 30].into_iter().for_each(|ticks| digests.latencies.record(bucket_of(ticks), ticks));
        let (counts, sum) = digests.latencies();
        assert_eq!((counts.iter().sum::<u64>(), sum), (4, (1 << 30) + 10_000));
        let ends: Vec<u64> = bucket_ends().collect();
        let bucket = counts.iter().position(|count| *count == 2).expect("both are in one");
        assert!(ends[bucket - 1] <= 5000 && 5000 < ends[bucket]);
        digests.clear();
        assert_eq!(digests.latencies().1, sum, "counters do not fall");
    }

    #[test]
    fn texts_that_were_seen_are_found_again() {
        let digests = Digests::new(1000, true);
        let find =
            |database, text: &str, mode: &SqlMode| digests.find(Some(database), text.as_bytes(), mode, Repeated::default());
        let ansi = SqlMode { ansi_quotes: true, ..SqlMode::DEFAULT };
        let first = find("d", "SET @a = \"x\"", &SqlMode::DEFAULT);
        assert!(Rc::ptr_eq(&first, &find("d", "SET @a = \"x\"", &SqlMode::DEFAULT)));
        assert!(Rc::ptr_eq(&first, &find("d", "SET @a = 'other'", &SqlMode::DEFAULT)), "it has the same digest");
        assert!(!Rc::ptr_eq(&first, &find("d", "SET @a = \"x\"", &ansi)), "another text by its names");
        assert!(!Rc::ptr_eq(&first, &find("e", "SET @a = \"x\"", &SqlMode::DEFAULT)));
        (0..2 * RECENT_MAX).for_each(|n| drop(find("d", &format!("SHOW TABLES LIKE '{n}'"), &SqlMode::DEFAULT)));
        assert!(digests.recent.borrow().found.len() <= RECENT_MAX);
        let clock = os::TickClock::start();
        first.record(&Measured::default(), os::ticks(), b"SET", &clock);
        drop(first);
        digests.clear();
        assert!(digests.by_name.borrow().is_empty(), "what is only known by its text is forgotten");
    }
}
