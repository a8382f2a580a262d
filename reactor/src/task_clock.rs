//! Where the time of a task's statement goes: the times at which the task leaves the processor and runs again.
//!
//! ```text
//! begin ---- runs ---- leave          resume ---- runs ---- end
//!                        |-- waits --|-- ready --|
//!                                  woken
//! ```
//! 1. `begin` and `end` are called by whoever runs a statement on the task. In between the task is measured.
//! 2. When a measured task is not done after a poll, the executor calls `leave` with the reason that the future gave
//!    (`sync::waits`). The next poll begins with `resume`: the time until the wake-up is a wait of that kind, the rest
//!    is [`Kind::Ready`].
//! 3. The time of a statement is thus what it ran, and its waits. Nothing is estimated.
//!
//! K1: all cells belong to the worker's thread; others ask by message.
//! K2: a task that does not wait is measured by two stores for each statement; its clock is not read.
//! K3: memory for sums is taken at the first wait of a task, and the table of objects has a limit.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use sync::waits::{self, Cause, Holder, KINDS, Kind, Object};

/// The waits that a task remembers: `performance_schema_events_waits_history_size`.
pub const RECENT_MAX: usize = 10;
/// Objects of one worker that are counted on their own.
const OBJECTS_MAX: usize = 4096;
/// Durations by powers of two of ticks, from this one on.
const FIRST_BITS: u32 = 10;
pub const BUCKETS: usize = 32;

/// The waits of one kind. Times are ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub count: u64,
    pub ticks: u64,
    pub longest: u64,
}

impl Sum {
    fn note(&mut self, ticks: u64) {
        self.count += 1;
        self.ticks += ticks;
        self.longest = self.longest.max(ticks);
    }

    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.ticks += other.ticks;
        self.longest = self.longest.max(other.longest);
    }
}

/// The waits of each kind, by its number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sums(pub [Sum; KINDS]);

impl Sums {
    pub fn of(&self, kind: Kind) -> Sum {
        self.0[kind as usize]
    }

    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(own, more)| own.add(more));
    }

    /// The ticks of these kinds.
    pub fn ticks(&self, kinds: &[Kind]) -> u64 {
        kinds.iter().map(|kind| self.of(*kind).ticks).sum()
    }

    /// The kinds that were waited for.
    pub fn each(&self) -> impl Iterator<Item = (Kind, Sum)> {
        Kind::ALL.iter().zip(self.0).filter(|(_, sum)| sum.count > 0).map(|(kind, sum)| (*kind, sum))
    }
}

const _: () = assert!(KINDS <= u32::BITS as usize, "`TaskWaits::kinds` has a bit for each");

fn each_bit(mut bits: u32, mut see: impl FnMut(usize)) {
    while bits != 0 {
        see(bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}

/// One wait.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    pub cause: Cause,
    pub began: u64,
    /// Ticks; of the current wait those until now.
    pub ticks: u64,
}

#[derive(Debug)]
struct TaskWaits {
    /// Of the statement that runs or ran last; other kinds than those of `kinds` are zero.
    statement: Sums,
    /// The kinds that the statement waited for: one bit each.
    kinds: u32,
    /// Of all statements of the task.
    total: Sums,
    recent: VecDeque<Wait>,
}

/// The clock of one task.
#[derive(Debug, Default)]
pub struct TaskClock {
    is_measured: Cell<bool>,
    /// When the statement began.
    began: Cell<u64>,
    /// It is measured for a wait that belongs to no statement.
    is_beside: Cell<bool>,
    /// The tick at which the task left the processor; 0: it runs, or is not measured.
    left: Cell<u64>,
    cause: Cell<Cause>,
    /// Ticks of the statement off the processor, or spent on spinning.
    off: Cell<u64>,
    waits: RefCell<Option<Box<TaskWaits>>>,
}

impl TaskClock {
    /// A statement begins at this tick.
    #[inline]
    pub fn begin(&self, now: u64) {
        self.began.set(now);
        self.off.set(0);
        self.is_measured.set(true);
    }

    /// The statement ends. Returns the ticks that it waited.
    #[inline]
    pub fn end(&self, worker: &WorkerWaits) -> u64 {
        if waits::has_spun() {
            self.take_spun(worker);
        }
        self.is_measured.set(false);
        self.off.get()
    }

    /// When the statement that runs began.
    pub fn began(&self) -> Option<u64> {
        (self.is_measured.get() && !self.is_beside.get()).then(|| self.began.get())
    }

    /// The command ends, whatever became of its statement.
    #[inline]
    pub fn stop(&self) {
        self.is_measured.set(false);
    }

    /// Begins to measure waits that belong to no statement, unless one is measured already.
    #[cold]
    pub fn begin_beside(&self) {
        self.is_beside.set(!self.is_measured.replace(true) || self.is_beside.get());
    }

    /// Ends what `begin_beside` began, if it did.
    #[cold]
    pub fn end_beside(&self) {
        if self.is_beside.replace(false) {
            self.is_measured.set(false);
        }
    }

    /// Adds the waits of the statement that runs or has ended. They are none while it has not waited.
    #[cold]
    pub fn add_statement_to(&self, sums: &mut Sums) {
        let waits = self.waits.borrow();
        if let Some(waits) = waits.as_ref().filter(|_| self.off.get() > 0) {
            each_bit(waits.kinds, |kind| sums.0[kind].add(&waits.statement.0[kind]));
        }
    }

    /// The ticks that the statement has waited for these kinds so far.
    #[inline]
    pub fn ticks_so_far(&self, kinds: &[Kind]) -> u64 {
        if self.off.get() == 0 {
            return 0;
        }
        self.waits.borrow().as_ref().map_or(0, |waits| waits.statement.ticks(kinds))
    }

    /// The tick, less the ticks that the statement has waited so far: differences are what it ran.
    #[inline]
    pub fn ran(&self) -> u64 {
        os::ticks().saturating_sub(self.off.get())
    }

    /// The ticks that the statement has waited so far.
    pub fn off_so_far(&self) -> u64 {
        self.off.get()
    }

    /// The waits of all statements.
    #[cold]
    pub fn total(&self) -> Sums {
        self.waits.borrow().as_ref().map_or_else(Sums::default, |waits| waits.total)
    }

    /// The last waits, oldest first.
    #[cold]
    pub fn recent(&self) -> Vec<Wait> {
        self.waits.borrow().as_ref().map_or_else(Vec::new, |waits| waits.recent.iter().copied().collect())
    }

    /// The wait that lasts, if the task waits.
    #[cold]
    pub fn current(&self, now: u64) -> Option<Wait> {
        let began = self.left.get();
        (began > 0).then(|| Wait { cause: self.cause.get(), began, ticks: now.saturating_sub(began) })
    }

    /// Forgets the sums of all statements and the last waits.
    #[cold]
    pub fn clear(&self) {
        if let Some(waits) = self.waits.borrow_mut().as_mut() {
            waits.total = Sums::default();
            waits.recent.clear();
        }
    }

    #[inline]
    pub(crate) fn is_measured(&self) -> bool {
        self.is_measured.get()
    }

    #[inline]
    pub(crate) fn has_left(&self) -> bool {
        self.left.get() != 0
    }

    /// The measured task waits.
    #[cold]
    pub(crate) fn leave(&self, cause: Option<Cause>, now: u64, worker: &WorkerWaits) {
        if waits::has_spun() {
            self.take_spun(worker);
        }
        self.cause.set(cause.unwrap_or_default());
        self.left.set(now.max(1));
    }

    /// The task runs again; it was woken at tick `woken`, or before it had left. `before`: whose task ran last.
    #[cold]
    pub(crate) fn resume(&self, now: u64, woken: u64, before: Holder, worker: &WorkerWaits) {
        let left = self.left.replace(0);
        let woken = woken.clamp(left, now.max(left));
        let cause = self.cause.get();
        self.charge(Wait { cause, began: left, ticks: woken - left }, worker);
        let ready = now.saturating_sub(woken);
        if ready > 0 {
            self.charge(Wait { cause: Cause::of(Kind::Ready).held_by(before), began: woken, ticks: ready }, worker);
        }
    }

    /// Others ran in the middle of the task's own turn.
    #[cold]
    pub(crate) fn interrupted(&self, began: u64, now: u64, worker: &WorkerWaits) {
        if self.is_measured.get() {
            self.charge(Wait { cause: Cause::of(Kind::Ready), began, ticks: now.saturating_sub(began) }, worker);
        }
    }

    #[cold]
    fn take_spun(&self, worker: &WorkerWaits) {
        let now = os::ticks();
        waits::take_spun(|spun| {
            if self.is_measured.get() {
                self.charge(Wait { cause: spun.cause, began: now.saturating_sub(spun.ticks), ticks: spun.ticks }, worker);
            } else {
                worker.note(spun.cause, spun.ticks);
            }
        });
    }

    fn charge(&self, wait: Wait, worker: &WorkerWaits) {
        worker.note(wait.cause, wait.ticks);
        let is_first = self.off.get() == 0;
        // A wait of no ticks is one all the same.
        self.off.set(self.off.get() + wait.ticks.max(1));
        let mut waits = self.waits.borrow_mut();
        let waits = waits.get_or_insert_with(|| {
            let recent = VecDeque::with_capacity(RECENT_MAX);
            Box::new(TaskWaits { statement: Sums::default(), kinds: 0, total: Sums::default(), recent })
        });
        if is_first {
            let TaskWaits { statement, kinds, .. } = &mut **waits;
            each_bit(std::mem::take(kinds), |kind| statement.0[kind] = Sum::default());
        }
        let kind = wait.cause.kind as usize;
        waits.kinds |= 1 << kind;
        waits.statement.0[kind].note(wait.ticks);
        waits.total.0[kind].note(wait.ticks);
        if waits.recent.len() >= RECENT_MAX {
            waits.recent.pop_front();
        }
        waits.recent.push_back(wait);
    }
}

/// The waits of all tasks of a worker since its start.
#[derive(Debug)]
pub struct WorkerWaits {
    sums: RefCell<Sums>,
    buckets: RefCell<Box<[[u64; BUCKETS]; KINDS]>>,
    objects: RefCell<HashMap<(Kind, Object), Sum>>,
}

impl Default for WorkerWaits {
    fn default() -> Self {
        Self { sums: RefCell::default(), buckets: RefCell::new(Box::new([[0; BUCKETS]; KINDS])), objects: RefCell::default() }
    }
}

/// The values of [`WorkerWaits`], of one worker or of several.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    pub sums: Sums,
    /// By kind; the last bucket has everything above. See [`bucket_end`].
    pub buckets: Vec<[u64; BUCKETS]>,
    pub objects: HashMap<(Kind, Object), Sum>,
}

impl Waits {
    pub fn add(&mut self, other: Self) {
        self.sums.add(&other.sums);
        self.buckets.resize(KINDS, [0; BUCKETS]);
        for (own, more) in self.buckets.iter_mut().zip(&other.buckets) {
            own.iter_mut().zip(more).for_each(|(own, more)| *own += more);
        }
        for (of, sum) in other.objects {
            self.objects.entry(of).or_default().add(&sum);
        }
    }
}

/// The ticks above a bucket of [`Waits`].
pub fn bucket_end(bucket: usize) -> u64 {
    1 << (bucket as u32 + FIRST_BITS)
}

fn bucket_of(ticks: u64) -> usize {
    ((64 - ticks.leading_zeros()).saturating_sub(FIRST_BITS) as usize).min(BUCKETS - 1)
}

impl WorkerWaits {
    /// Counts a wait that belongs to no task.
    #[cold]
    pub fn note(&self, cause: Cause, ticks: u64) {
        let kind = cause.kind as usize;
        self.sums.borrow_mut().0[kind].note(ticks);
        self.buckets.borrow_mut()[kind][bucket_of(ticks)] += 1;
        if cause.object == Object::None {
            return;
        }
        let mut objects = self.objects.borrow_mut();
        let of = (cause.kind, cause.object);
        let has_room = objects.len() < OBJECTS_MAX || objects.contains_key(&of);
        let of = if has_room { of } else { (cause.kind, Object::None) };
        objects.entry(of).or_default().note(ticks);
    }

    pub fn sums(&self) -> Sums {
        *self.sums.borrow()
    }

    pub fn values(&self) -> Waits {
        Waits { sums: self.sums(), buckets: self.buckets.borrow().to_vec(), objects: self.objects.borrow().clone() }
    }

    pub fn clear(&self) {
        *self.sums.borrow_mut() = Sums::default();
        **self.buckets.borrow_mut() = [[0; BUCKETS]; KINDS];
        self.objects.borrow_mut().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: Cause = Cause::of(Kind::RowLock).with(Object::Tree { tree: 9, level: 0 });

    fn of_statement(clock: &TaskClock) -> Sums {
        let mut sums = Sums::default();
        clock.add_statement_to(&mut sums);
        assert_eq!(clock.ticks_so_far(Kind::ALL), sums.ticks(Kind::ALL));
        sums
    }

    #[test]
    fn a_statement_is_what_it_ran_and_its_waits() {
        let (clock, worker) = (TaskClock::default(), WorkerWaits::default());
        clock.begin(5);
        clock.leave(Some(ROW), 1000, &worker);
        assert_eq!(clock.current(1500).map(|wait| (wait.cause, wait.ticks)), Some((ROW, 500)));
        clock.resume(5000, 4000, Holder::Session(7), &worker);
        assert!(clock.current(5000).is_none());
        // It was woken before it had left.
        clock.leave(None, 6000, &worker);
        clock.resume(6100, 4000, Holder::Unknown, &worker);
        assert_eq!(clock.end(&worker), 3000 + 1000 + 1 + 100);
        let sums = of_statement(&clock);
        assert_eq!(sums.of(Kind::RowLock), Sum { count: 1, ticks: 3000, longest: 3000 });
        assert_eq!(sums.of(Kind::Ready), Sum { count: 2, ticks: 1100, longest: 1000 });
        assert_eq!(sums.of(Kind::Other).count, 1);
        assert_eq!(clock.recent().len(), 4);
        assert_eq!(clock.recent()[1].cause, Cause::of(Kind::Ready).held_by(Holder::Session(7)));
    }

    #[test]
    fn statements_are_told_apart() {
        let (clock, worker) = (TaskClock::default(), WorkerWaits::default());
        for n in 0..3 {
            clock.begin(5);
            clock.leave(Some(ROW), 10, &worker);
            clock.resume(20 + n, 20 + n, Holder::Unknown, &worker);
            clock.end(&worker);
        }
        assert_eq!(of_statement(&clock).of(Kind::RowLock), Sum { count: 1, ticks: 12, longest: 12 });
        assert_eq!(clock.total().of(Kind::RowLock), Sum { count: 3, ticks: 33, longest: 12 });
        clock.begin(5);
        assert_eq!((clock.end(&worker), of_statement(&clock)), (0, Sums::default()));
        assert_eq!(worker.values().objects[&(Kind::RowLock, ROW.object)].ticks, 33);
        clock.clear();
        worker.clear();
        assert_eq!((clock.total(), worker.sums()), (Sums::default(), Sums::default()));
    }

    #[test]
    fn the_table_of_objects_has_a_limit() {
        let worker = WorkerWaits::default();
        (0..2 * OBJECTS_MAX as u64).for_each(|n| worker.note(Cause::of(Kind::MetadataLock).with(Object::Table(n)), 1));
        let values = worker.values();
        assert_eq!(values.objects.len(), OBJECTS_MAX + 1);
        assert_eq!(values.objects[&(Kind::MetadataLock, Object::None)].count, OBJECTS_MAX as u64);
        assert_eq!(values.sums.of(Kind::MetadataLock).count, 2 * OBJECTS_MAX as u64);
    }

    #[test]
    fn buckets_are_powers_of_two() {
        for bucket in 0..BUCKETS - 1 {
            let end = bucket_end(bucket);
            assert_eq!((bucket_of(end - 1), bucket_of(end)), (bucket, bucket + 1), "{end}");
        }
        assert_eq!((bucket_of(0), bucket_of(u64::MAX)), (0, BUCKETS - 1));
        let mut sum = Waits::default();
        let worker = WorkerWaits::default();
        worker.note(ROW, 2000);
        (0..2).for_each(|_| sum.add(worker.values()));
        assert_eq!(sum.buckets[Kind::RowLock as usize][1], 2);
    }
}
