//! The order of a block's inner tables, and the join method of each.
//!
//! An order is a chain: each table is joined to all tables before it, by a nested loop or by a hash join. The hash
//! table is built from the new table or from the rows of the tables before it. Up to [`SEARCHED_MAX`] tables, dynamic
//! programming over sets of tables compares all orders. Beyond that, each step takes the cheapest next table. A table
//! that no predicate connects to the tables before it is postponed until no other is left.
//!
//! O1: a table that reads columns of other tables (LATERAL) follows them.
//! O2: STRAIGHT_JOIN keeps the order of FROM.
//! O3: nested loops, and hash joins that build from the new table, preserve the order of an index scan. So that order
//!     counts only if all joins are of these kinds.

use super::access::Choice;
use super::estimate::{KEEP_COST, PROBE_COST, TABLE_COST};
use super::join::{Flat, fits};
use super::{FromBlock, OrderNeed, SourceSet};
use crate::plan::Access;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Up to this many tables all orders are compared.
const SEARCHED_MAX: usize = 10;
/// Handing a joined row on.
const ROW_COST: f64 = 0.2;

/// The join method of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// It is the first one.
    First,
    /// For each row before it, it is looked into.
    Loop,
    /// Its rows become a hash table, which each row before it looks into.
    Hash,
    /// The rows before it become a hash table, which each of its rows looks into.
    Probe,
}

/// An order of the inner tables.
pub(super) struct Order {
    pub steps: Vec<(usize, Method)>,
    /// Rows come in the requested order.
    pub ordered: bool,
}

/// Tables joined so far.
#[derive(Clone, Debug)]
struct Joined {
    cost: f64,
    rows: f64,
    steps: Vec<(usize, Method)>,
}

/// The costs of adding a table to those before it.
struct Added {
    /// Rows and cost of one look into it.
    rows: f64,
    cost: f64,
    /// The table read by itself, for a hash join.
    alone: Option<(f64, f64)>,
    connected: bool,
}

/// The search in one block.
struct Search<'s, 'b> {
    block: &'s FromBlock<'b>,
    flat: &'s Flat,
    outer: &'s SourceSet,
    /// By table and the tables before it that it has conditions with, as bits of places in `flat.inner`.
    known: RefCell<HashMap<(usize, u64), Rc<Added>>>,
    /// By table: the others it has conditions with.
    partners: Vec<u64>,
}

impl FromBlock<'_> {
    pub(super) fn best_order(&self, flat: &Flat, outer: &SourceSet, need: Option<&OrderNeed>) -> Order {
        if let [source] = flat.inner[..] {
            let choice = self.choose(flat, source, outer, need);
            let steps = vec![(source, Method::First)];
            // The single row of a unique key is in any order, but not the rows that are joined to it.
            let lasts = flat.is_alone() || need.is_some_and(|need| need.is_about(source));
            return Order { steps, ordered: choice.ordered && lasts };
        }
        let search = Search::new(self, flat, outer);
        let free = search.best(None);
        let total = free.cost + need.map_or(0.0, |need| need.unlimited().missed_cost(free.rows));
        if let Some(need) = need
            && let Some((first, choice)) = search.ordered_first(need)
        {
            let joined = search.best(Some((first, &choice)));
            let early = match need.limit {
                Some(limit) if joined.rows > limit => (limit / joined.rows).clamp(0.0, 1.0),
                _ => 1.0,
            };
            if joined.cost * early < total {
                return Order { steps: joined.steps, ordered: true };
            }
        }
        Order { steps: free.steps, ordered: false }
    }
}

impl<'s, 'b> Search<'s, 'b> {
    fn new(block: &'s FromBlock<'b>, flat: &'s Flat, outer: &'s SourceSet) -> Self {
        let bits = |sources: &SourceSet| {
            let places = flat.inner.iter().enumerate().filter(|(_, source)| sources[**source]);
            places.fold(0u64, |bits, (place, _)| bits | 1 << place)
        };
        let mut partners = vec![0; flat.inner.len()];
        for conjunct in &flat.conjuncts {
            let all = bits(&conjunct.sources);
            for (place, own) in partners.iter_mut().enumerate() {
                if all & 1 << place != 0 {
                    *own |= all & !(1 << place);
                }
            }
        }
        for (place, source) in flat.inner.iter().enumerate() {
            for (read, _) in block.sources[*source].reads() {
                if let Some(other) = flat.inner.iter().position(|s| s == read) {
                    partners[place] |= 1 << other;
                }
            }
        }
        Self { block, flat, outer, known: RefCell::default(), partners }
    }

    /// The table whose rows an index gives in the order that is needed, if it may come first.
    fn ordered_first(&self, need: &OrderNeed) -> Option<(usize, Choice)> {
        let source = need.source()?;
        let first = if self.flat.straight { self.flat.inner[0] } else { source };
        let place = self.flat.inner.iter().position(|s| *s == source)?;
        if first != source || !self.is_ready(place, 0) {
            return None;
        }
        let unlimited = need.unlimited();
        let choice = self.block.choose(self.flat, source, self.outer, Some(&unlimited));
        choice.ordered.then_some((place, choice))
    }

    /// The best order; `first`: the table it begins with, read in this way, whose order must survive.
    fn best(&self, first: Option<(usize, &Choice)>) -> Joined {
        let count = self.flat.inner.len();
        if self.flat.straight {
            let mut joined = self.begin(0, first);
            (1..count).for_each(|place| joined = self.add(&joined, (1 << place) - 1, place, false));
            return joined;
        }
        if count > SEARCHED_MAX {
            return self.greedy(first);
        }
        let mut best: Vec<Option<Joined>> = vec![None; 1 << count];
        match first {
            Some((place, _)) => best[1 << place] = Some(self.begin(place, first)),
            None => {
                for place in (0..count).filter(|place| self.is_ready(*place, 0)) {
                    best[1 << place] = Some(self.begin(place, None));
                }
            }
        }
        for set in 1..best.len() as u64 {
            let Some(joined) = best[set as usize].take() else { continue };
            for place in self.next(set) {
                let longer = self.add(&joined, set, place, first.is_none());
                let slot = &mut best[(set | 1 << place) as usize];
                if slot.as_ref().is_none_or(|found| longer.cost < found.cost) {
                    *slot = Some(longer);
                }
            }
            best[set as usize] = Some(joined);
        }
        match best.pop().flatten() {
            Some(joined) => joined,
            // Each waits for another: in the order of FROM.
            None => {
                let mut joined = self.begin(0, None);
                (1..count).for_each(|place| joined = self.add(&joined, (1 << place) - 1, place, false));
                joined
            }
        }
    }

    /// Repeatedly adds the table with the lowest cost and number of rows.
    fn greedy(&self, first: Option<(usize, &Choice)>) -> Joined {
        let count = self.flat.inner.len();
        let begin = first.map(|(place, _)| place).unwrap_or_else(|| {
            let ready = (0..count).filter(|place| self.is_ready(*place, 0));
            let cost = |place: &usize| self.added(*place, 0).rows;
            ready.min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or(0)
        });
        let mut joined = self.begin(begin, first);
        let mut set = 1u64 << begin;
        while joined.steps.len() < count {
            let longer = self.next(set).into_iter().map(|place| (place, self.add(&joined, set, place, first.is_none())));
            let rank = |j: &Joined| j.cost + j.rows;
            let (place, next) = longer.min_by(|(_, a), (_, b)| rank(a).total_cmp(&rank(b))).expect("some table is left");
            set |= 1 << place;
            joined = next;
        }
        joined
    }

    /// The tables that may come next: connected ones if there are any.
    fn next(&self, set: u64) -> Vec<usize> {
        let rest: Vec<usize> = (0..self.flat.inner.len()).filter(|place| set & 1 << place == 0).collect();
        let ready: Vec<usize> = rest.iter().copied().filter(|place| self.is_ready(*place, set)).collect();
        let ready = if ready.is_empty() { rest } else { ready };
        // One without any condition is as good now as later.
        let connected = |place: &usize| self.partners[*place] == 0 || self.added(*place, set).connected;
        if ready.iter().any(connected) { ready.into_iter().filter(connected).collect() } else { ready }
    }

    /// O1
    fn is_ready(&self, place: usize, set: u64) -> bool {
        let available = self.available(set);
        self.block.sources[self.flat.inner[place]].reads().iter().all(|(read, _)| available[*read])
    }

    fn available(&self, set: u64) -> SourceSet {
        let mut available = self.outer.clone();
        let inside = self.flat.inner.iter().enumerate().filter(|(place, _)| set & 1 << place != 0);
        inside.for_each(|(_, source)| available[*source] = true);
        available
    }

    fn begin(&self, place: usize, first: Option<(usize, &Choice)>) -> Joined {
        let steps = vec![(self.flat.inner[place], Method::First)];
        match first {
            Some((_, choice)) => Joined { cost: choice.cost, rows: choice.scan.rows.max(1.0), steps },
            None => {
                let added = self.added(place, 0);
                Joined { cost: added.cost, rows: added.rows.max(1.0), steps }
            }
        }
    }

    /// The tables of `set` and one more. `may_turn`: the order of their rows does not matter.
    fn add(&self, joined: &Joined, set: u64, place: usize, may_turn: bool) -> Joined {
        let added = self.added(place, set);
        let rows = (joined.rows * added.rows).max(1.0);
        let mut best = (Method::Loop, joined.rows * added.cost);
        if let Some((alone_rows, alone_cost)) = added.alone {
            let hash = alone_cost + TABLE_COST + alone_rows * KEEP_COST + joined.rows * PROBE_COST;
            if hash < best.1 {
                best = (Method::Hash, hash);
            }
            // Joined rows are longer.
            let width = 1.0 + 0.2 * joined.steps.len() as f64;
            let probe = alone_cost + TABLE_COST + joined.rows * KEEP_COST * width + alone_rows * PROBE_COST;
            if may_turn && probe < best.1 {
                best = (Method::Probe, probe);
            }
        }
        let mut steps = joined.steps.clone();
        steps.push((self.flat.inner[place], best.0));
        Joined { cost: joined.cost + best.1 + rows * ROW_COST, rows, steps }
    }

    fn added(&self, place: usize, set: u64) -> Rc<Added> {
        let key = (place, set & self.partners[place]);
        if let Some(found) = self.known.borrow().get(&key) {
            return Rc::clone(found);
        }
        let (block, source, available) = (self.block, self.flat.inner[place], self.available(key.1));
        let choice = block.choose(self.flat, source, &available, None);
        let connected = key.1 != 0
            && self.flat.conjuncts.iter().any(|c| {
                let others = c.sources.iter().enumerate().any(|(s, used)| *used && s != source && available[s] && !self.outer[s]);
                others && fits(c, source, &available)
            });
        // Reading all of a table would lock all of it.
        let locks_more = block.keeps_rows && is_lookup(&choice.scan.access);
        let hashed = !locks_more
            && connected
            && block.context.switches().hash_join
            && !block.hash_pairs(self.flat, source, &available).is_empty();
        let alone = hashed.then(|| {
            let own = block.choose(self.flat, source, self.outer, None);
            (own.scan.rows, own.cost)
        });
        let added = Rc::new(Added { rows: choice.scan.rows, cost: choice.cost, alone, connected });
        self.known.borrow_mut().insert(key, Rc::clone(&added));
        added
    }
}

/// Does the access path read only some of the rows?
pub(super) fn is_lookup(access: &Access) -> bool {
    matches!(access, Access::Point { .. } | Access::Ranges { .. } | Access::Merge(_))
}
