//! Where a key lies in a tree, without a look at the leaves between: for estimates.
//!
//! A descent to a key notes at each level the slot it takes and how many there are. From two such *places* follows about how many
//! records lie between: exactly on one leaf; else the pages between at the level where the ways part, times the records that pages
//! below hold on the average of both ways. The other way round, a part between 0 and 1 leads to the leaf that lies there.
//!
//! What is read may be changed meanwhile by others: it is a true picture of each page, not of the tree.

use crate::stall::Result;
use crate::{Store, TreeRef};
use std::cell::RefCell;

/// The way to a leaf: slot and number of slots of each page, from the root down to the leaf.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    levels: Vec<(u32, u32)>,
}

impl Place {
    /// Records of the leaf.
    pub fn leaf_records(&self) -> usize {
        self.levels.last().map_or(0, |(_, slots)| *slots as usize)
    }

    /// About how many leaves the tree has, by this way's pages.
    pub fn leaves(&self) -> f64 {
        let inner = self.levels.len().saturating_sub(1);
        self.levels[..inner].iter().map(|(_, slots)| f64::from((*slots).max(1))).product()
    }

    /// About how many pages the tree has in all, by this way's pages.
    pub fn pages(&self) -> f64 {
        let inner = self.levels.len().saturating_sub(1);
        let (above, leaves) = self.levels[..inner]
            .iter()
            .fold((0.0, 1.0), |(above, pages), (_, slots)| (above + pages, pages * f64::from((*slots).max(1))));
        above + leaves
    }

    /// Is the number of leaves exact, since no pages but those of this way lead to them?
    pub fn is_exact(&self) -> bool {
        self.levels.len() <= 2
    }

    /// About how many records lie from this place up to another one.
    pub fn records_to(&self, other: &Place) -> f64 {
        if self.levels.len() != other.levels.len() {
            // The tree has grown between the two descents.
            return 0.0;
        }
        let mut count = 0.0;
        let mut parted = false;
        for (&(a, a_slots), &(b, b_slots)) in self.levels.iter().zip(&other.levels) {
            let (a, a_slots, b, b_slots) = (f64::from(a), f64::from(a_slots), f64::from(b), f64::from(b_slots));
            if parted {
                // `count` pages from the one of this way to the one of the other, which is not counted.
                let whole = (count - 1.0) * (a_slots + b_slots) / 2.0;
                count = (a_slots - a) + whole + b;
            } else if a != b {
                count = b - a;
                parted = true;
            }
            if count < 0.0 {
                return 0.0;
            }
        }
        count
    }
}

impl Store {
    /// The way to the place of a key; an empty key with `last` is the end of the tree.
    ///
    /// # Errors
    /// As `read_leaf`.
    pub fn place(&self, tree: TreeRef, key: &[u8], last: bool) -> Result<Place> {
        let way = RefCell::new(Way::default());
        loop {
            let leaf = self.descend::<true>(tree, 0, |page| {
                let slots = page.slots();
                let slot = if last { slots.saturating_sub(1) } else { page.child_slot(key) };
                way.borrow_mut().note(page.level(), slot, slots);
                slot
            })?;
            let slots = leaf.page.slots();
            let slot = if last { slots } else { leaf.page.search(key).unwrap_or_else(|slot| slot) };
            if leaf.valid() {
                let mut way = way.into_inner();
                way.note(0, slot, slots);
                return Ok(way.place());
            }
        }
    }

    /// The leaf that lies at `part` (0 to 1) of the tree's width, and its first key (empty where it has none).
    ///
    /// # Errors
    /// As `read_leaf`.
    pub fn place_at(&self, tree: TreeRef, part: f64, first_key: &mut Vec<u8>) -> Result<Place> {
        let way = RefCell::new(Way::default());
        loop {
            let leaf = self.descend::<true>(tree, 0, |page| {
                let mut way = way.borrow_mut();
                let slots = page.slots();
                way.forget_below(page.level());
                let exact = way.rest.unwrap_or(part.clamp(0.0, 1.0)) * slots as f64;
                let slot = (exact as usize).min(slots.saturating_sub(1));
                way.note(page.level(), slot, slots);
                way.rest = Some((exact - slot as f64).clamp(0.0, 1.0));
                slot
            })?;
            first_key.clear();
            let slots = leaf.page.slots();
            let found = slots == 0 || leaf.page.key(&leaf.page.record(0), first_key);
            if leaf.valid() && found {
                let mut way = way.into_inner();
                way.note(0, 0, slots);
                return Ok(way.place());
            }
        }
    }
}

/// A way that is being gone; a descent that starts over begins a new one.
#[derive(Default)]
struct Way {
    levels: Vec<(u8, u32, u32)>,
    /// Where in the page below the part lies.
    rest: Option<f64>,
}

impl Way {
    /// A page of this level is the first one, or comes below those that are noted.
    fn forget_below(&mut self, level: u8) {
        if self.levels.last().is_some_and(|(last, _, _)| *last <= level) {
            self.levels.clear();
            self.rest = None;
        }
    }

    fn note(&mut self, level: u8, slot: usize, slots: usize) {
        self.forget_below(level);
        self.levels.push((level, slot as u32, slots as u32));
    }

    fn place(self) -> Place {
        Place { levels: self.levels.into_iter().map(|(_, slot, slots)| (slot, slots)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(levels: &[(u32, u32)]) -> Place {
        Place { levels: levels.to_vec() }
    }

    #[test]
    fn pages_of_a_tree() {
        let pages = |levels: &[(u32, u32)]| (place(levels).leaves(), place(levels).pages(), place(levels).is_exact());
        assert_eq!(pages(&[(3, 10)]), (1.0, 1.0, true));
        assert_eq!(pages(&[(0, 7), (3, 10)]), (7.0, 8.0, true));
        assert_eq!(pages(&[(0, 3), (1, 50), (3, 10)]), (150.0, 154.0, false));
    }

    #[test]
    fn records_between_places() {
        type Levels = [(u32, u32)];
        let cases: &[(&Levels, &Levels, f64)] = &[
            (&[(3, 10)], &[(7, 10)], 4.0),
            (&[(0, 5), (3, 10)], &[(0, 5), (7, 10)], 4.0),
            // Neighbouring leaves: the rest of one and the beginning of the other.
            (&[(0, 5), (8, 10)], &[(1, 5), (3, 12)], 5.0),
            // Two leaves between.
            (&[(0, 5), (8, 10)], &[(3, 5), (3, 10)], 25.0),
            (&[(2, 5), (3, 10)], &[(1, 5), (3, 10)], 0.0),
        ];
        for (from, to, expected) in cases {
            assert_eq!(place(from).records_to(&place(to)), *expected, "{from:?} {to:?}");
        }
    }
}
