//! Which earlier transactions a transaction depends on, by the keys that both have changed: MySQL's WRITESET.
//!
//! W1: a transaction depends on the last one with a key in common. Keys are those of rows and of unique indexes.
//! W2: one that has no such keys (a definition, a table without a key) depends on the one before it, and all later ones depend on it.
//! W3: numbers count from 1 in each file. Nothing depends on transactions of an earlier file, which a reader finishes before it goes on.

use hashbrown::HashMap;

#[derive(Default)]
pub struct History {
    /// Key -> number of the last transaction that changed it.
    last: HashMap<u64, i64, foldhash::fast::FixedState>,
    /// Transactions that are not in `last` have this number at most.
    floor: i64,
    next: i64,
}

impl History {
    /// A new file begins. W3
    pub fn restart(&mut self) {
        *self = Self { next: 1, ..Self::default() };
    }

    /// `last_committed` and `sequence_number` of the next transaction; without keys it is one of W2.
    pub fn note(&mut self, keys: Option<&[u64]>, keys_max: usize) -> (i64, i64) {
        let number = self.next.max(1);
        self.next = number + 1;
        let Some(keys) = keys else {
            self.last.clear();
            self.floor = number;
            return (number - 1, number);
        };
        let mut depends = self.floor;
        if self.last.len() + keys.len() > keys_max {
            for key in keys {
                depends = depends.max(self.last.get(key).copied().unwrap_or(0));
            }
            // As MySQL does: later ones depend on this one.
            self.last.clear();
            self.floor = number;
            return (depends, number);
        }
        for key in keys {
            // A transaction may change a key twice.
            let before = self.last.insert(*key, number).filter(|before| *before != number);
            depends = depends.max(before.unwrap_or(0));
        }
        (depends, number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_in_common_are_dependencies() {
        let mut history = History::default();
        history.restart();
        let mut note = |keys: Option<&[u64]>| history.note(keys, 5);
        assert_eq!(note(Some(&[1, 2])), (0, 1));
        assert_eq!(note(Some(&[3])), (0, 2));
        assert_eq!(note(Some(&[2, 3])), (2, 3));
        assert_eq!(note(None), (3, 4));
        assert_eq!(note(Some(&[1])), (4, 5));
        assert_eq!(note(Some(&[9, 9])), (4, 6), "a key that a transaction changes twice");
        assert_eq!(note(Some(&[1, 5, 6, 7])), (5, 7), "too many keys");
        assert_eq!(note(Some(&[8])), (7, 8));
    }
}
