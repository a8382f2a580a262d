//! The slowest executions of a digest with all that is known of them, and the plans that it ran with over time.
//!
//! ```text
//! plan        counts its executions in a `PlanCount`                                   (`State::run_beside`)
//! execution   is kept if it took longer than the quickest of those that are kept       (`Statistics::wants_to_keep`)
//! plan        is described at its second execution, or when a kept execution ran it    (`Kept::note_plan`)
//! ```
//!
//! X1: a digest keeps [`EXECUTIONS_MAX`] executions and [`PLANS_MAX`] plans. An execution gives way after an hour.
//! X2: a worker keeps [`BYTES_MAX`] of them. A digest that finds no room asks again after a minute: statements must not pay
//!     for each execution that cannot be kept.
//! X3: two plans are the same if their trees are, whatever the estimates. Each kind of plan is counted once, by all
//!     statements that run it.

use super::Phases;
use reactor::task_clock::Sums as Waits;
use std::cell::Cell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// See X1.
pub const EXECUTIONS_MAX: usize = 4;
pub const PLANS_MAX: usize = 8;
/// Bytes of a kept text and of a plan's.
pub const TEXT_BYTES_MAX: usize = 4096;
const PLAN_BYTES_MAX: usize = 8192;
/// See X2.
const BYTES_MAX: usize = 16 << 20;
const AGE_MAX_NS: f64 = 3600e9;
/// After an execution for which there was no room, until the next one is looked at.
const PAUSE_NS: f64 = 60e9;

/// The executions of one plan. Times are ticks that they ran.
#[derive(Debug, Default)]
pub struct PlanCount {
    pub count: Cell<u64>,
    pub ran: Cell<u64>,
    /// An execution that took longer belongs to those that are kept.
    pub keep_above: Cell<u64>,
}

/// An execution that is kept. Times are ticks.
#[derive(Clone, Debug)]
pub struct Execution {
    pub text: Box<[u8]>,
    pub is_cut: bool,
    pub session: u32,
    pub user: Box<str>,
    pub ended: u64,
    pub time: u64,
    pub waited: u64,
    pub locked: u64,
    pub sent: u64,
    pub examined: u64,
    pub affected: u64,
    /// The error's number; 0: none.
    pub errno: u16,
    pub phases: Phases,
    pub waits: Option<Box<Waits>>,
    /// The hash of its plan.
    pub plan: Option<u64>,
}

impl Execution {
    fn bytes(&self) -> usize {
        let waits = self.waits.as_ref().map_or(0, |waits| size_of_val(&**waits));
        size_of::<Self>() + self.text.len() + self.user.len() + waits
    }
}

/// A plan of a digest. Times are ticks, points in time too.
#[derive(Debug)]
struct PlanUse {
    hash: u64,
    text: Box<str>,
    first: u64,
    last: u64,
    count: u64,
    ran: u64,
    counts: Vec<Rc<PlanCount>>,
}

impl PlanUse {
    /// With the executions that were counted since.
    fn settled(&self) -> SentPlan {
        let sum = |of: fn(&PlanCount) -> &Cell<u64>| self.counts.iter().map(|count| of(count).get()).sum::<u64>();
        SentPlan {
            hash: self.hash,
            text: self.text.clone(),
            first: self.first,
            last: self.last,
            count: self.count + sum(|count| &count.count),
            ran: self.ran + sum(|count| &count.ran),
        }
    }

    /// Takes over the counts of plans that nobody has any more.
    fn settle(&mut self) {
        let (count, ran) = (&mut self.count, &mut self.ran);
        self.counts.retain(|own| {
            let is_used = Rc::strong_count(own) > 1;
            if !is_used {
                *count += own.count.get();
                *ran += own.ran.get();
            }
            is_used
        });
    }
}

/// What a digest keeps.
#[derive(Debug, Default)]
pub struct Kept {
    /// There was no room at this tick: nothing is kept for a while (X2).
    refused: Option<u64>,
    executions: Vec<Execution>,
    plans: Vec<PlanUse>,
}

/// The same for other threads.
#[derive(Clone, Debug)]
pub struct KeptOf {
    pub database: Option<String>,
    pub text: Option<String>,
    pub executions: Vec<Execution>,
    pub plans: Vec<SentPlan>,
}

/// A plan without the cells of its worker.
#[derive(Clone, Debug)]
pub struct SentPlan {
    pub hash: u64,
    pub text: Box<str>,
    pub first: u64,
    pub last: u64,
    pub count: u64,
    pub ran: u64,
}

impl Kept {
    /// An execution that took longer is kept.
    pub fn keep_above(&self) -> u64 {
        match self.refused {
            Some(_) => u64::MAX,
            None if self.executions.len() < EXECUTIONS_MAX => 0,
            None => self.executions.iter().map(|kept| kept.time).min().unwrap_or(0),
        }
    }

    /// Keeps an execution in place of the quickest one. `room`: the bytes that the worker has left (X2).
    pub fn keep(&mut self, execution: Execution, room: &Cell<usize>) {
        if self.executions.len() >= EXECUTIONS_MAX {
            let quickest = (0..self.executions.len()).min_by_key(|place| self.executions[*place].time);
            if let Some(place) = quickest {
                let gone = self.executions.swap_remove(place);
                room.set(room.get() + gone.bytes());
            }
        }
        match room.get().checked_sub(execution.bytes()) {
            Some(left) => {
                room.set(left);
                self.executions.push(execution);
            }
            None => self.refused = Some(execution.ended),
        }
    }

    /// Drops executions that are too old (X1).
    pub fn forget_old(&mut self, now: u64, nanos_per_tick: f64, room: &Cell<usize>) {
        let age = |since: u64| now.saturating_sub(since) as f64 * nanos_per_tick;
        self.refused = self.refused.filter(|refused| age(*refused) < PAUSE_NS);
        self.executions.retain(|kept| {
            let is_young = age(kept.ended) < AGE_MAX_NS;
            if !is_young {
                room.set(room.get() + kept.bytes());
            }
            is_young
        });
    }

    /// Notes that a plan is used; `tree` is its text. Returns its hash.
    pub fn note_plan(&mut self, tree: &str, counts: &Rc<PlanCount>, now: u64, room: &Cell<usize>) -> u64 {
        let hash = hash_of(tree);
        self.plans.iter_mut().for_each(PlanUse::settle);
        if let Some(known) = self.plans.iter_mut().find(|known| known.hash == hash) {
            known.last = now;
            if !known.counts.iter().any(|own| Rc::ptr_eq(own, counts)) {
                known.counts.push(Rc::clone(counts));
            }
            return hash;
        }
        if self.plans.len() >= PLANS_MAX {
            // The one that was used longest ago.
            if let Some(place) = (0..self.plans.len()).min_by_key(|place| self.plans[*place].last) {
                let gone = self.plans.remove(place);
                room.set(room.get() + gone.text.len() + size_of::<PlanUse>());
            }
        }
        let text = cut(tree, PLAN_BYTES_MAX);
        if let Some(left) = room.get().checked_sub(text.len() + size_of::<PlanUse>()) {
            room.set(left);
            let (text, counts) = (text.into(), vec![Rc::clone(counts)]);
            self.plans.push(PlanUse { hash, text, first: now, last: now, count: 0, ran: 0, counts });
        }
        hash
    }

    /// Gives all of it back. Plans that are still in use are counted from zero, and noted again when they run.
    pub fn clear(&mut self, room: &Cell<usize>) {
        let executions: usize = self.executions.iter().map(Execution::bytes).sum();
        let plans: usize = self.plans.iter().map(|plan| plan.text.len() + size_of::<PlanUse>()).sum();
        room.set(room.get() + executions + plans);
        self.executions.clear();
        for counts in self.plans.drain(..).flat_map(|plan| plan.counts) {
            [&counts.count, &counts.ran, &counts.keep_above].into_iter().for_each(|cell| cell.set(0));
        }
        self.refused = None;
    }

    pub fn executions(&self) -> Vec<Execution> {
        self.executions.clone()
    }

    pub fn plans(&self) -> Vec<SentPlan> {
        self.plans.iter().map(PlanUse::settled).collect()
    }
}

/// The memory of a worker for all that is kept.
pub fn room(keeps: bool) -> Rc<Cell<usize>> {
    Rc::new(Cell::new(if keeps { BYTES_MAX } else { 0 }))
}

/// The bytes that are taken of a worker's memory.
pub fn taken(room: &Cell<usize>) -> usize {
    BYTES_MAX.saturating_sub(room.get())
}

/// X3: the hash of a plan without its estimates.
fn hash_of(tree: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut rest = tree;
    while let Some((before, after)) = rest.split_once("(cost=") {
        before.hash(&mut hasher);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    rest.hash(&mut hasher);
    hasher.finish()
}

/// At most so many bytes, whole characters.
pub fn cut(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn took(time: u64) -> Execution {
        Execution {
            text: time.to_string().into_bytes().into(),
            is_cut: false,
            session: 1,
            user: "u".into(),
            ended: time,
            time,
            waited: 0,
            locked: 0,
            sent: 0,
            examined: 0,
            affected: 0,
            errno: 0,
            phases: Phases::default(),
            waits: None,
            plan: None,
        }
    }

    #[test]
    fn the_slowest_are_kept_until_they_are_old() {
        let (mut kept, room) = (Kept::default(), room(true));
        for time in [5, 1, 9, 7, 8, 2, 6] {
            if time > kept.keep_above() {
                kept.keep(took(time), &room);
            }
        }
        let times = |kept: &Kept| {
            let mut times: Vec<_> = kept.executions().iter().map(|kept| kept.time).collect();
            times.sort_unstable();
            times
        };
        assert_eq!((times(&kept), kept.keep_above()), (vec![6, 7, 8, 9], 6));
        kept.forget_old(8, AGE_MAX_NS, &room);
        assert_eq!((times(&kept), kept.keep_above()), (vec![8, 9], 0));
        kept.clear(&room);
        assert_eq!(room.get(), BYTES_MAX);
        room.set(10);
        kept.keep(took(5), &room);
        assert_eq!((times(&kept), room.get(), kept.keep_above()), (vec![], 10, u64::MAX));
        kept.forget_old(5 + 61_000_000_000, 1.0, &room);
        assert_eq!(kept.keep_above(), 0);
    }

    #[test]
    fn a_plan_is_counted_by_all_who_run_it() {
        let (mut kept, room) = (Kept::default(), room(true));
        let tree = |cost: u32, table: &str| format!("-> Scan of {table}  (cost={cost} rows=7)\n");
        let counts: [Rc<PlanCount>; 2] = std::array::from_fn(|_| Rc::default());
        let hashes = [0, 1].map(|n| kept.note_plan(&tree(n, "t"), &counts[n as usize], u64::from(n), &room));
        assert_eq!(hashes[0], hashes[1]);
        counts[0].count.set(3);
        counts[1].count.set(4);
        let other = kept.note_plan(&tree(0, "u"), &Rc::default(), 5, &room);
        assert_ne!(other, hashes[0]);
        let plans = kept.plans();
        assert_eq!((plans.len(), plans[0].count, plans[0].first, plans[0].last), (2, 7, 0, 1));
        // A statement that is gone has run all the same.
        drop(counts);
        kept.note_plan(&tree(0, "u"), &Rc::default(), 6, &room);
        assert_eq!((kept.plans()[0].count, kept.plans[0].counts.len()), (7, 0));
        for n in 0..2 * PLANS_MAX {
            kept.note_plan(&tree(0, &n.to_string()), &Rc::default(), 10 + n as u64, &room);
        }
        assert_eq!(kept.plans().len(), PLANS_MAX);
        kept.clear(&room);
        assert_eq!(room.get(), BYTES_MAX);
    }

    #[test]
    fn a_plan_in_use_is_counted_anew_after_all_was_forgotten() {
        let (mut kept, room) = (Kept::default(), room(true));
        let counts: Rc<PlanCount> = Rc::default();
        counts.count.set(7);
        counts.keep_above.set(100);
        kept.note_plan("-> Scan of t\n", &counts, 1, &room);
        kept.clear(&room);
        assert_eq!((counts.count.get(), counts.keep_above.get()), (0, 0), "its second execution notes it again");
        counts.count.set(2);
        kept.note_plan("-> Scan of t\n", &counts, 2, &room);
        assert_eq!(kept.plans()[0].count, 2);
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!((cut("añb", 2), cut("añb", 3), cut("añb", 9)), ("a", "añ", "añb"));
    }
}
