//! The statistics of one digest on one worker: plain cells, written at the end of each execution.
//!
//! Durations are also counted in a histogram with eight buckets per power of two of ticks, so a quantile is known to
//! within an eighth.
//!
//! The slowest execution is kept as a sample until it is a minute old. Its age is checked every `LOOK` executions, or
//! at each execution if these are rare.

use super::kept::{Execution, Kept, KeptOf, PlanCount};
use super::summary::Buckets;
use super::{Phase, Phases, Summary};
use reactor::TaskClock;
use reactor::task_clock::Sums as Waits;
use sql::plan::{Access, Node, Plan};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use types::SqlMode;

/// Buckets for each power of two.
const PARTS: u32 = 8;
/// The first bucket holds everything below this power of two of ticks, the last one everything above.
const FIRST_BITS: u32 = 10;
const LAST_BITS: u32 = 38;
pub const BUCKETS: usize = ((LAST_BITS - FIRST_BITS) * PARTS) as usize;
/// Executions between two looks at the age of the sample, and ticks of a pause that is a reason to look.
const LOOK: u64 = 256;
const PAUSE_TICKS: u64 = 1 << 31;
/// Bytes of a sample: `performance_schema_max_sql_text_length`.
const SAMPLE_BYTES_MAX: usize = 1024;
/// Age of a sample that gives way to the next: `performance_schema_max_digest_sample_age`.
const SAMPLE_AGE_NS: f64 = 60e9;

/// One execution of a statement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// By `os::ticks`.
    pub began: u64,
    pub affected: u64,
    pub sent: u64,
    pub examined: u64,
    pub warnings: u64,
    /// How often rows were sorted that came by a range or by a scan, and how many rows.
    pub sort_ranges: u64,
    pub sort_scans: u64,
    pub sort_rows: u64,
    pub failed: bool,
    /// A deadlock has undone it.
    pub deadlocked: bool,
    /// Its answer was an OK packet.
    pub is_ok: bool,
    /// It used tables in a transaction of its own.
    pub is_transaction: bool,
    pub ways: Ways,
    /// The ticks that it ran, by phase.
    pub phases: Phases,
    /// The tick, less the ticks that were waited until then, at which the current phase began.
    pub phase_began: u64,
}

impl Measured {
    /// A statement that begins at this tick.
    #[inline]
    pub fn begin(now: u64) -> Self {
        Self { began: now, phase_began: now, ..Self::default() }
    }

    /// A phase ends. `ran`: the current tick, less the ticks that the statement has waited.
    #[inline]
    pub fn end_phase(&mut self, phase: Phase, ran: u64) {
        self.phases.add(phase, ran.saturating_sub(self.phase_began));
        self.phase_began = ran;
    }

    /// The statement ends: what no phase has belongs to the answer or, if it did not get that far, to the execution.
    #[inline]
    pub fn end_phases(&mut self, ran: u64) {
        let is_answered = !self.failed && self.phases.of(Phase::Execute) > 0;
        if ran < self.phase_began {
            self.phases.take(self.phase_began - ran);
        }
        self.end_phase(if is_answered { Phase::Encode } else { Phase::Execute }, ran);
    }

    pub fn has_sorted(&self) -> bool {
        self.sort_rows | self.sort_scans | self.sort_ranges != 0
    }
}

/// How a plan reads its tables: what is 1 counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ways {
    /// The first table is read whole, or a part of it.
    pub scan: u8,
    pub range: u8,
    /// Tables after the first that are fully scanned for each row.
    pub full_joins: u8,
    /// A table is read without a key.
    pub no_index: u8,
    /// Rows are gathered before they are given on: groups, distinct rows, derived tables.
    pub gathers: u8,
}

impl Ways {
    /// Is there anything to count?
    #[inline]
    pub fn is_any(self) -> bool {
        self.scan | self.range | self.full_joins | self.no_index | self.gathers != 0
    }

    pub fn of(plan: &Plan) -> Self {
        let mut ways = Self::default();
        let mut is_first = matches!(plan, Plan::Query(_));
        for root in plan.roots() {
            root.walk_scans(&mut |scan| {
                let is_whole = matches!(scan.access, Access::Full { .. } | Access::Virtual);
                ways.scan |= u8::from(is_whole && is_first);
                ways.range |= u8::from(is_first && matches!(scan.access, Access::Ranges { .. }));
                ways.full_joins =
                    ways.full_joins.saturating_add(u8::from(is_whole && !is_first && matches!(plan, Plan::Query(_))));
                // Reading a whole index instead of the table uses that index, as in MySQL.
                let is_table = matches!(scan.access, Access::Full { index: 0, .. } | Access::Virtual);
                ways.no_index |= u8::from(is_table);
                is_first = false;
            });
            root.walk(&mut |node| ways.gathers = ways.gathers.saturating_add(u8::from(gathers(node))));
        }
        ways
    }
}

/// Would MySQL use a temporary table here?
fn gathers(node: &Node) -> bool {
    match node {
        Node::Aggregate { keys, ordered, .. } => !ordered && !keys.is_empty(),
        Node::Distinct { ordered, .. } => !ordered,
        Node::SetOperation { .. } | Node::Recursive { .. } | Node::Window { .. } => true,
        Node::Scan(scan) => matches!(scan.access, Access::Derived(_)),
        _ => false,
    }
}

macro_rules! sums {
    ($($field:ident),*) => {
        /// The sums. Times are ticks.
        #[derive(Debug, Default)]
        struct Cells {
            $($field: Cell<u64>,)*
        }

        /// The values of [`Cells`], of one worker or of several.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct Sums {
            $(pub $field: u64,)*
        }

        impl Cells {
            fn get(&self) -> Sums {
                Sums { $($field: self.$field.get(),)* }
            }

            fn clear(&self) {
                $(self.$field.set(0);)*
            }
        }

        impl Sums {
            pub fn add(&mut self, other: &Self) {
                $(self.$field += other.$field;)*
            }
        }
    };
}

sums!(
    count,
    time,
    errors,
    warnings,
    affected,
    sent,
    examined,
    scans,
    ranges,
    full_joins,
    no_index,
    waited,
    gathers,
    sort_ranges,
    sort_rows,
    sort_scans,
    decode,
    parse,
    plan,
    execute,
    encode,
    commit,
    caused,
    in_runs,
    in_runs_alone,
    deadlocks
);

#[derive(Debug)]
pub struct Statistics {
    database: Option<Box<str>>,
    /// `None`: the row of all digests for which there is no room.
    text: Option<Box<str>>,
    sums: Cells,
    least: Cell<u64>,
    most: Cell<u64>,
    /// When the first and the last execution ended, in ticks.
    first: Cell<u64>,
    last: Cell<u64>,
    buckets: Box<[Cell<u32>; BUCKETS]>,
    sample: RefCell<Vec<u8>>,
    sample_time: Cell<u64>,
    sample_end: Cell<u64>,
    /// An execution that took longer is looked at: it may be the next sample, or be kept.
    look_above: Cell<u64>,
    kept: RefCell<Kept>,
    /// The execution that was recorded last is to be kept.
    wants_to_keep: Cell<bool>,
    room: Rc<Cell<usize>>,
    /// The digest of the result that causes its executions, and the column.
    cause: RefCell<Option<(Box<str>, usize)>>,
    /// By kind; `None` before the first wait.
    waits: RefCell<Option<Box<Waits>>>,
}

#[inline]
fn add(cell: &Cell<u64>, more: u64) {
    cell.set(cell.get() + more);
}

impl Statistics {
    /// `room`: the memory that its worker has left for executions and plans.
    pub fn new(database: Option<&str>, text: Option<String>, room: &Rc<Cell<usize>>) -> Self {
        Self {
            database: database.map(Into::into),
            text: text.map(Into::into),
            sums: Cells::default(),
            least: Cell::new(u64::MAX),
            most: Cell::new(0),
            first: Cell::new(0),
            last: Cell::new(0),
            buckets: Box::new([const { Cell::new(0) }; BUCKETS]),
            sample: RefCell::default(),
            sample_time: Cell::new(0),
            sample_end: Cell::new(0),
            look_above: Cell::new(0),
            kept: RefCell::default(),
            wants_to_keep: Cell::new(false),
            room: Rc::clone(room),
            cause: RefCell::default(),
            waits: RefCell::default(),
        }
    }

    /// The text of the digest. `None`: of all digests for which there is no room.
    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// The current database of the executions.
    pub fn database(&self) -> Option<&str> {
        self.database.as_deref()
    }

    /// The memory that it takes.
    pub fn bytes(&self) -> usize {
        let texts = self.database.as_ref().map_or(0, |name| name.len()) + self.text.as_ref().map_or(0, |text| text.len());
        let waits = self.waits.borrow().as_ref().map_or(0, |waits| size_of_val(&**waits));
        size_of::<Self>() + BUCKETS * size_of::<Cell<u64>>() + texts + self.sample.borrow().capacity() + waits
    }

    /// Counts an execution of `text` that ends at tick `now`. `clock` has the length of a tick. Returns the bucket of its duration.
    #[inline]
    pub fn record(&self, execution: &Measured, now: u64, text: &[u8], clock: &os::TickClock) -> usize {
        let time = now.saturating_sub(execution.began);
        let sums = &self.sums;
        let count = sums.count.get();
        sums.count.set(count + 1);
        add(&sums.time, time);
        add(&sums.affected, execution.affected);
        add(&sums.sent, execution.sent);
        add(&sums.examined, execution.examined);
        let cells = [&sums.decode, &sums.parse, &sums.plan, &sums.execute, &sums.encode, &sums.commit];
        cells.iter().zip(execution.phases.0).for_each(|(cell, ticks)| add(cell, ticks));
        if time < self.least.get() {
            self.least.set(time);
        }
        if time > self.most.get() {
            self.most.set(time);
        }
        let bucket = bucket_of(time);
        self.buckets[bucket].set(self.buckets[bucket].get().wrapping_add(1));
        if execution.ways.is_any() || execution.has_sorted() {
            self.record_ways(execution);
        }
        if execution.failed || execution.warnings > 0 {
            add(&sums.errors, u64::from(execution.failed));
            add(&sums.warnings, execution.warnings);
        }
        let pause = now.saturating_sub(self.last.replace(now));
        if time > self.look_above.get() || count.is_multiple_of(LOOK) || pause > PAUSE_TICKS {
            self.look_at(count, now, time, text, clock);
        }
        bucket
    }

    /// Is the execution that was recorded last one to be kept? Asks once for each.
    #[inline]
    pub fn wants_to_keep(&self) -> bool {
        self.wants_to_keep.get()
    }

    /// Keeps the execution that was recorded last.
    #[cold]
    pub fn keep(&self, execution: Execution) {
        self.wants_to_keep.set(false);
        self.kept.borrow_mut().keep(execution, &self.room);
        self.settle_look();
    }

    /// Notes that an execution ran this plan. Returns the plan's hash.
    #[cold]
    pub fn note_plan(&self, tree: &str, counts: &Rc<PlanCount>, now: u64) -> u64 {
        self.kept.borrow_mut().note_plan(tree, counts, now, &self.room)
    }

    /// An execution that took longer is kept.
    pub fn keep_above(&self) -> u64 {
        self.kept.borrow().keep_above()
    }

    fn settle_look(&self) {
        self.look_above.set(self.sample_time.get().min(self.kept.borrow().keep_above()));
    }

    /// The executions and plans that are kept.
    pub fn kept(&self) -> Option<KeptOf> {
        let kept = self.kept.borrow();
        let (executions, plans) = (kept.executions(), kept.plans());
        (!executions.is_empty() || !plans.is_empty()).then(|| KeptOf {
            database: self.database.as_deref().map(Into::into),
            text: self.text.as_deref().map(Into::into),
            executions,
            plans,
        })
    }

    /// Counts the waits of the execution that was recorded last: `waited` ticks in all.
    #[cold]
    pub fn record_waits(&self, waited: u64, clock: &TaskClock) {
        add(&self.sums.waited, waited);
        clock.add_statement_to(self.waits.borrow_mut().get_or_insert_default());
    }

    /// Counts executions whose parameters were values of `column` of the result of another statement.
    #[cold]
    pub fn note_caused(&self, count: u64, by: &Self, column: usize) {
        add(&self.sums.caused, count);
        let mut cause = self.cause.borrow_mut();
        if let (None, Some(text)) = (&*cause, by.text()) {
            *cause = Some((super::cut(text, super::TEXT_BYTES_MAX).into(), column));
        }
    }

    /// Counts an execution that directly follows others of the same session. `alone`: in a transaction of its own.
    #[inline]
    pub fn note_run(&self, count: u64, alone: bool) {
        add(&self.sums.in_runs, count);
        add(&self.sums.in_runs_alone, if alone { count } else { 0 });
    }

    /// A deadlock has undone an execution.
    #[cold]
    pub fn note_deadlock(&self) {
        add(&self.sums.deadlocks, 1);
    }

    fn record_ways(&self, execution: &Measured) {
        let ways = execution.ways;
        add(&self.sums.gathers, ways.gathers.into());
        add(&self.sums.sort_ranges, execution.sort_ranges);
        add(&self.sums.sort_rows, execution.sort_rows);
        add(&self.sums.sort_scans, execution.sort_scans);
        add(&self.sums.scans, ways.scan.into());
        add(&self.sums.ranges, ways.range.into());
        add(&self.sums.full_joins, ways.full_joins.into());
        add(&self.sums.no_index, ways.no_index.into());
    }

    #[cold]
    fn look_at(&self, count: u64, now: u64, time: u64, text: &[u8], clock: &os::TickClock) {
        if count == 0 {
            self.first.set(now);
        }
        let nanos = clock.nanos_per_tick();
        let mut kept = self.kept.borrow_mut();
        kept.forget_old(now, nanos, &self.room);
        // The row of all others has no text that would belong to its executions.
        self.wants_to_keep.set(self.text.is_some() && time > kept.keep_above());
        drop(kept);
        self.look_at_sample(count, now, time, text, nanos);
        self.settle_look();
    }

    fn look_at_sample(&self, count: u64, now: u64, time: u64, text: &[u8], nanos: f64) {
        let age_ns = now.saturating_sub(self.sample_end.get()) as f64 * nanos;
        if time <= self.sample_time.get() && age_ns < SAMPLE_AGE_NS && count > 0 {
            return;
        }
        let text = sql::without_secrets(text, &SqlMode::DEFAULT);
        let mut sample = self.sample.borrow_mut();
        sample.clear();
        sample.extend_from_slice(&text[..text.len().min(SAMPLE_BYTES_MAX)]);
        self.sample_time.set(time);
        self.sample_end.set(now);
    }

    pub fn clear(&self) {
        self.sums.clear();
        self.least.set(u64::MAX);
        self.most.set(0);
        self.buckets.iter().for_each(|bucket| bucket.set(0));
        self.sample.borrow_mut().clear();
        self.sample_time.set(0);
        self.look_above.set(0);
        self.kept.borrow_mut().clear(&self.room);
        self.waits.take();
        self.cause.take();
    }

    /// `None`: there was no execution.
    pub fn summary(&self) -> Option<Summary> {
        let sums = self.sums.get();
        (sums.count > 0).then(|| Summary {
            database: self.database.as_deref().map(Into::into),
            text: self.text.as_deref().map(Into::into),
            sums,
            least: self.least.get(),
            most: self.most.get(),
            first: self.first.get(),
            last: self.last.get(),
            buckets: Buckets::of(&*self.buckets),
            sample: String::from_utf8_lossy(&self.sample.borrow()).into_owned(),
            sample_time: self.sample_time.get(),
            sample_end: self.sample_end.get(),
            waits: self.waits.borrow().clone(),
            cause: self.cause.borrow().as_ref().map(|(text, column)| (text.to_string(), *column)),
        })
    }
}

/// The bucket of a number of ticks.
#[inline]
pub fn bucket_of(ticks: u64) -> usize {
    let ticks = ticks.max(1 << FIRST_BITS);
    let bits = 63 - ticks.leading_zeros();
    let part = (ticks >> (bits - 3)) as u32 & (PARTS - 1);
    (((bits - FIRST_BITS) * PARTS + part) as usize).min(BUCKETS - 1)
}

/// The ticks above a bucket.
pub fn bucket_end(bucket: usize) -> u64 {
    let (bits, part) = (bucket as u32 / PARTS + FIRST_BITS, bucket as u64 % u64::from(PARTS));
    (u64::from(PARTS) + part + 1) << (bits - 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_follow_each_other() {
        for bucket in 0..BUCKETS - 1 {
            let end = bucket_end(bucket);
            assert_eq!((bucket_of(end - 1), bucket_of(end)), (bucket, bucket + 1), "{end}");
        }
        assert_eq!((bucket_of(0), bucket_of(u64::MAX)), (0, BUCKETS - 1));
    }

    #[test]
    fn executions_add_up() {
        let clock = os::TickClock::start();
        let statistics = Statistics::new(Some("d"), Some("SELECT ?".to_owned()), &Rc::new(Cell::new(1 << 20)));
        assert!(statistics.summary().is_none());
        for n in 0..3 {
            let ways = Ways { no_index: 1, ..Ways::default() };
            let execution = Measured { began: os::ticks(), sent: 2, failed: n == 1, warnings: n, ways, ..Measured::default() };
            statistics.record(&execution, os::ticks(), b"SELECT 1", &clock);
        }
        let summary = statistics.summary().expect("executed");
        let sums = summary.sums;
        assert_eq!((sums.count, sums.sent, sums.errors, sums.warnings, sums.no_index), (3, 6, 1, 3, 3));
        assert!(summary.least <= summary.most && summary.most <= sums.time);
        assert_eq!(summary.buckets.total(), 3);
        assert_eq!(summary.sample, "SELECT 1");
        statistics.clear();
        assert!(statistics.summary().is_none());
    }
}
