//! Locks on key ranges: the ranges that locking scans have read, and the gaps where a locking read found nothing.
//!
//! ```text
//! tree 7:  transaction A   exclusive [c, k) [q, end)    shared -
//!          transaction B   exclusive -                  shared [a, f)
//! ```
//! A range is `from <= key < to` in byte order (an empty `to` is the end of the tree). It locks every row whose key is
//! in it, and blocks inserts of any key in it. As in InnoDB, ranges never conflict with each other: two transactions
//! may hold the same gap in any modes, and then neither can insert into it. A key conflicts with a range of another
//! open transaction:
//!
//! | wanted           | shared range | exclusive range |
//! |------------------|--------------|-----------------|
//! | row, shared      | -            | waits           |
//! | row, exclusive   | waits        | waits           |
//! | insert of a key  | waits        | waits           |
//!
//! A range names keys, not records: nothing has to be inherited when a record at the border of a gap is inserted,
//! purged or moved by a split.
//!
//! R1: a range is added under the latch of the one leaf that covers all of it, after each of its rows was found to be
//!     free under the same latch. A transaction that changes or inserts a key looks here under the latch of the leaf
//!     that covers the key. So of a range and a change one is first, and the second one sees it (the change sees the
//!     counter, the range sees the record's mark).
//! R2: hence a row inside a range of one transaction is never locked by another one in a conflicting mode.
//! R3: a slot's counter is the number of (tree, transaction) pairs in it. Without ranges, others pay one load that
//!     finds zero.
//! R4: the ranges of one transaction, tree and mode neither overlap nor touch.
//! Latches: page latch -> shard of the lock table -> slot -> statuses.

use crate::LockMode;
use crate::locks::Want;
use crate::status::StatusTable;
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound::{Included, Unbounded};
use sync::CachePadded;
use sync::Mutex;
use sync::atomic::{AtomicU32, Ordering};

const SLOTS: usize = 256;

type Key = Box<[u8]>;

/// Other transactions whose ranges conflict.
pub type Owners = SmallVec<[u64; 4]>;

/// Disjoint ranges: from -> to.
#[derive(Default)]
struct Ranges(BTreeMap<Key, Key>);

/// Does a range that ends at `to` go as far as `key`?
fn reaches(to: &[u8], key: &[u8]) -> bool {
    to.is_empty() || to >= key
}

impl Ranges {
    /// The range that begins at or before `key`.
    fn before(&self, key: &[u8]) -> Option<(&Key, &Key)> {
        self.0.range::<[u8], _>((Unbounded, Included(key))).next_back()
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.before(key).is_some_and(|(_, to)| to.is_empty() || key < &**to)
    }

    /// Has it a key of `from..to`?
    fn overlaps(&self, from: &[u8], to: &[u8]) -> bool {
        let is_inside = |start: &[u8]| to.is_empty() || start < to;
        self.contains(from)
            || self.0.range::<[u8], _>((Included(from), Unbounded)).next().is_some_and(|(start, _)| is_inside(start))
    }

    /// Takes `from..to` out, which lies within one range.
    fn cut(&mut self, from: &[u8], to: &[u8]) {
        let Some((start, end)) = self.before(from).map(|(start, end)| (start.clone(), end.clone())) else { return };
        debug_assert!(end.is_empty() || (!to.is_empty() && *to <= *end), "what is taken out was added as a whole");
        self.0.remove(&start);
        if *start < *from {
            self.0.insert(start, from.into());
        }
        if !to.is_empty() && (end.is_empty() || *to < *end) {
            self.0.insert(to.into(), end);
        }
    }

    /// Adds `from..to`, joined with the ranges that it overlaps or touches (R4).
    fn add(&mut self, from: &[u8], to: &[u8]) {
        let before = self.0.range_mut::<[u8], _>((Unbounded, Included(from))).next_back();
        let start: Key = match before {
            Some((_, end)) if end.is_empty() || !to.is_empty() && reaches(end, to) => return,
            Some((start, end)) if reaches(end, from) => {
                *end = to.into();
                start.clone()
            }
            _ => {
                self.0.insert(from.into(), to.into());
                from.into()
            }
        };
        // Ranges that begin inside the new one, or at its end.
        loop {
            let mut after = self.0.range::<[u8], _>((std::ops::Bound::Excluded(&*start), Unbounded));
            let Some((next, end)) = after.next().filter(|(next, _)| reaches(to, next)) else { return };
            let (next, end) = (next.clone(), end.clone());
            self.0.remove(&next);
            if !to.is_empty() && reaches(&end, to) {
                self.0.insert(start, end);
                return;
            }
        }
    }
}

/// The ranges of one transaction in one tree.
struct Owned {
    txn: u64,
    shared: Ranges,
    exclusive: Ranges,
}

impl Owned {
    fn of(&mut self, mode: LockMode) -> &mut Ranges {
        match mode {
            LockMode::Share => &mut self.shared,
            LockMode::Exclusive => &mut self.exclusive,
        }
    }

    /// Does it conflict with another transaction's request?
    fn blocks(&self, key: &[u8], want: Want) -> bool {
        self.exclusive.contains(key) || want != Want::Row(LockMode::Share) && self.shared.contains(key)
    }

    /// Does it hold the row in this mode?
    fn holds(&self, key: &[u8], mode: LockMode) -> bool {
        self.exclusive.contains(key) || mode == LockMode::Share && self.shared.contains(key)
    }
}

/// The result of adding a range.
pub struct Added {
    /// It is the first of this transaction in this tree, to be `release`d at its end.
    pub is_first: bool,
    /// The transaction had locked no key of it by a range before.
    pub is_new: bool,
}

#[derive(Default)]
struct Slot {
    pairs: AtomicU32,
    trees: Mutex<HashMap<u32, Vec<Owned>>>,
}

/// The range locks of all trees.
pub struct RangeTable {
    slots: Box<[CachePadded<Slot>]>,
}

impl RangeTable {
    pub fn new() -> Self {
        Self { slots: (0..SLOTS).map(|_| CachePadded::default()).collect() }
    }

    fn slot(&self, tree: u32) -> &Slot {
        &self.slots[tree as usize % SLOTS]
    }

    /// May there be ranges in this tree? Under the latch of the key's leaf (R1).
    #[inline]
    pub fn any(&self, tree: u32) -> bool {
        // Acquire: the caller's latch makes this visible anyway; it pairs with the Release in `add` for callers without
        // a latch.
        self.slot(tree).pairs.load(Ordering::Acquire) != 0
    }

    /// Open transactions other than `txn` whose ranges conflict with `want` at `key`.
    #[inline]
    pub fn blockers(&self, statuses: &StatusTable, txn: u64, tree: u32, key: &[u8], want: Want) -> Owners {
        if self.any(tree) { self.find_blockers(statuses, txn, tree, key, want) } else { Owners::new() }
    }

    #[cold]
    fn find_blockers(&self, statuses: &StatusTable, txn: u64, tree: u32, key: &[u8], want: Want) -> Owners {
        let trees = self.slot(tree).trees.lock();
        let owners = trees.get(&tree).map_or(&[][..], Vec::as_slice);
        // One that has ended holds nothing, though its ranges may be here for a moment yet.
        let open = |owned: &Owned| statuses.is_open(owned.txn);
        owners.iter().filter(|o| o.txn != txn && o.blocks(key, want) && open(o)).map(|o| o.txn).collect()
    }

    /// Does `txn` hold the row with this key by a range?
    #[inline]
    pub fn holds(&self, txn: u64, tree: u32, key: &[u8], mode: LockMode) -> bool {
        self.any(tree)
            && self.slot(tree).trees.lock().get(&tree).is_some_and(|o| o.iter().any(|o| o.txn == txn && o.holds(key, mode)))
    }

    /// Adds a range. Under the leaf's latch (R1).
    pub fn add(&self, txn: u64, tree: u32, mode: LockMode, from: &[u8], to: &[u8]) -> Added {
        debug_assert!(to.is_empty() || from < to, "a range is not empty");
        let slot = self.slot(tree);
        let mut trees = slot.trees.lock();
        let owners = trees.entry(tree).or_default();
        let mut is_first = false;
        let at = owners.iter().position(|o| o.txn == txn).unwrap_or_else(|| {
            is_first = true;
            // Release: see `any`.
            slot.pairs.fetch_add(1, Ordering::Release);
            owners.push(Owned { txn, shared: Ranges::default(), exclusive: Ranges::default() });
            owners.len() - 1
        });
        let owned = &mut owners[at];
        let is_new = !owned.shared.overlaps(from, to) && !owned.exclusive.overlaps(from, to);
        owned.of(mode).add(from, to);
        Added { is_first, is_new }
    }

    /// Takes back a part of a range that was new when it was added, and of which nothing was given out.
    pub fn take_back(&self, txn: u64, tree: u32, mode: LockMode, from: &[u8], to: &[u8]) {
        let mut trees = self.slot(tree).trees.lock();
        if let Some(owned) = trees.get_mut(&tree).and_then(|owners| owners.iter_mut().find(|o| o.txn == txn)) {
            owned.of(mode).cut(from, to);
        }
    }

    /// The transaction has ended: its ranges in this tree go.
    pub fn release(&self, txn: u64, tree: u32) {
        let slot = self.slot(tree);
        let mut trees = slot.trees.lock();
        let Some(owners) = trees.get_mut(&tree) else { return };
        let before = owners.len();
        owners.retain(|o| o.txn != txn);
        slot.pairs.fetch_sub((before - owners.len()) as u32, Ordering::Release);
        if owners.is_empty() {
            trees.remove(&tree);
        }
    }

    /// Gives each range: its tree, transaction, mode, and both ends.
    pub fn each(&self, mut give: impl FnMut(u32, u64, LockMode, &[u8], &[u8])) {
        // Relaxed: the report may miss concurrent additions.
        for slot in self.slots.iter().filter(|slot| slot.pairs.load(Ordering::Relaxed) > 0) {
            for (tree, owners) in &*slot.trees.lock() {
                for owned in owners {
                    owned.shared.0.iter().for_each(|(from, to)| give(*tree, owned.txn, LockMode::Share, from, to));
                    owned.exclusive.0.iter().for_each(|(from, to)| give(*tree, owned.txn, LockMode::Exclusive, from, to));
                }
            }
        }
    }

    /// (tree, transaction) pairs with ranges, for tests and status.
    pub fn pairs(&self) -> u32 {
        self.slots.iter().map(|s| s.pairs.load(Ordering::Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(added: &[(&str, &str)], expected: &[(&str, &str)]) {
        let mut ranges = Ranges::default();
        added.iter().for_each(|(from, to)| ranges.add(from.as_bytes(), to.as_bytes()));
        let found: Vec<_> = ranges.0.iter().map(|(from, to)| (&**from, &**to)).collect();
        let expected: Vec<_> = expected.iter().map(|(from, to)| (from.as_bytes(), to.as_bytes())).collect();
        assert_eq!(found, expected, "{added:?}");
    }

    #[test]
    fn ranges_that_touch_are_joined() {
        check(&[("a", "c"), ("e", "g")], &[("a", "c"), ("e", "g")]);
        check(&[("a", "c"), ("c", "g")], &[("a", "g")]);
        check(&[("c", "g"), ("a", "c")], &[("a", "g")]);
        check(&[("a", "c"), ("e", "g"), ("b", "f")], &[("a", "g")]);
        check(&[("b", "c"), ("e", "f"), ("h", "k"), ("a", "i")], &[("a", "k")]);
        check(&[("b", "c"), ("e", ""), ("a", "d")], &[("a", "d"), ("e", "")]);
        check(&[("b", "c"), ("e", "f"), ("a", "")], &[("a", "")]);
        check(&[("", ""), ("a", "b"), ("c", "")], &[("", "")]);
        check(&[("a", "z"), ("c", "d"), ("a", "z"), ("a", "b")], &[("a", "z")]);
        check(&[("a", "b"), ("a", "d"), ("c", "e")], &[("a", "e")]);
    }

    #[test]
    fn a_part_of_a_range_is_taken_out() {
        let cut = |from: &str, to: &str, expected: &[(&str, &str)]| {
            let mut ranges = Ranges::default();
            ranges.add(b"b", b"k");
            ranges.add(b"m", b"");
            ranges.cut(from.as_bytes(), to.as_bytes());
            let found: Vec<_> = ranges.0.iter().map(|(from, to)| (&**from, &**to)).collect();
            let expected: Vec<_> = expected.iter().map(|(from, to)| (from.as_bytes(), to.as_bytes())).collect();
            assert_eq!(found, expected, "{from}..{to}");
        };
        cut("c", "e", &[("b", "c"), ("e", "k"), ("m", "")]);
        cut("b", "e", &[("e", "k"), ("m", "")]);
        cut("c", "k", &[("b", "c"), ("m", "")]);
        cut("b", "k", &[("m", "")]);
        cut("n", "", &[("b", "k"), ("m", "n")]);
        cut("m", "p", &[("b", "k"), ("p", "")]);
    }

    #[test]
    fn overlaps_are_found() {
        let mut ranges = Ranges::default();
        ranges.add(b"c", b"f");
        for (from, to, expected) in
            [("a", "c", false), ("a", "d", true), ("d", "e", true), ("f", "h", false), ("a", "", true), ("f", "", false)]
        {
            assert_eq!(ranges.overlaps(from.as_bytes(), to.as_bytes()), expected, "{from}..{to}");
        }
    }

    /// Random ranges over small keys against a set of keys.
    #[test]
    fn ranges_agree_with_a_set() {
        let mut state = 7u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for _ in 0..200 {
            let mut ranges = Ranges::default();
            let mut set = [false; 40];
            for _ in 0..12 {
                let from = random(38) as usize;
                let to = from + 1 + random(40 - from as u64 - 1) as usize;
                let end = if to == 39 { vec![] } else { vec![to as u8] };
                ranges.add(&[from as u8], &end);
                let reach = if end.is_empty() { 40 } else { to };
                set[from..reach].fill(true);
            }
            assert!((0..40).all(|key| ranges.contains(&[key as u8]) == set[key]));
            let ends: Vec<_> = ranges.0.iter().collect();
            assert!(ends.windows(2).all(|w| !w[0].1.is_empty() && w[0].1 < w[1].0), "R4");
        }
    }
}
