//! How often each table and index is used: rows read and changed, counted by the thread that does it.
//!
//! U1: the counts are the thread's own memory; who wants those of another thread asks it.
//! U2: a tree's number is never used again, so the counts of a dropped tree stay its own. They are kept in pieces of
//!     [`PIECE`] trees, made at the first use of one of these.

use std::cell::RefCell;

/// Rows of one tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeUse {
    /// Rows read that were found by this index.
    pub fetched: u64,
    /// Of the first tree of a table: rows read by reading the whole table.
    pub scanned: u64,
    /// Of the first tree of a table, as all that follow: rows inserted, updated and deleted.
    pub inserted: u64,
    pub updated: u64,
    pub deleted: u64,
}

impl TreeUse {
    pub fn add(&mut self, other: &Self) {
        self.fetched += other.fetched;
        self.scanned += other.scanned;
        self.inserted += other.inserted;
        self.updated += other.updated;
        self.deleted += other.deleted;
    }
}

/// Trees that are counted in one piece of memory.
const PIECE: usize = 64;

/// The rows that one scan reads; they are counted when it is dropped.
#[derive(Debug)]
pub struct Reads {
    tree: u32,
    is_scan: bool,
    pub count: u64,
}

impl Reads {
    /// `is_scan`: the whole table is read.
    #[inline]
    pub fn of(tree: u32, is_scan: bool) -> Self {
        Self { tree, is_scan, count: 0 }
    }
}

impl Drop for Reads {
    #[inline]
    fn drop(&mut self) {
        if self.count > 0 {
            let (count, is_scan) = (self.count, self.is_scan);
            note(self.tree, |used| if is_scan { used.scanned += count } else { used.fetched += count });
        }
    }
}

thread_local! {
    static USES: RefCell<Vec<Option<Box<[TreeUse; PIECE]>>>> = const { RefCell::new(Vec::new()) };
}

/// Counts a use of a tree; tables without trees have number 0.
#[inline]
pub fn note(tree: u32, change: impl FnOnce(&mut TreeUse)) {
    if tree == 0 {
        return;
    }
    let (piece, place) = (tree as usize / PIECE, tree as usize % PIECE);
    USES.with_borrow_mut(|uses| {
        if let Some(Some(known)) = uses.get_mut(piece) {
            change(&mut known[place]);
        } else {
            change(&mut make_piece(uses, piece)[place]);
        }
    });
}

#[cold]
fn make_piece(uses: &mut Vec<Option<Box<[TreeUse; PIECE]>>>, piece: usize) -> &mut [TreeUse; PIECE] {
    if uses.len() <= piece {
        uses.resize_with(piece + 1, || None);
    }
    uses[piece].get_or_insert_with(|| Box::new([TreeUse::default(); PIECE]))
}

/// The trees that this thread has used.
pub fn of_this_thread() -> Vec<(u32, TreeUse)> {
    USES.with_borrow(|uses| {
        let pieces = uses.iter().enumerate().filter_map(|(piece, known)| Some((piece, known.as_ref()?)));
        let numbered = pieces.flat_map(|(piece, known)| (piece * PIECE..).zip(known.iter()));
        numbered.filter(|(_, used)| **used != TreeUse::default()).map(|(tree, used)| (tree as u32, *used)).collect()
    })
}

/// Begins to count anew on this thread.
pub fn clear() {
    USES.with_borrow_mut(Vec::clear);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tree_is_counted_on_its_own() {
        clear();
        for tree in [5, 5, 700, 0] {
            note(tree, |used| used.fetched += 2);
        }
        note(700, |used| used.inserted += 1);
        drop(Reads { tree: 5, is_scan: true, count: 3 });
        drop(Reads::of(9, true));
        let fetched = |fetched, inserted| TreeUse { fetched, inserted, ..TreeUse::default() };
        assert_eq!(of_this_thread(), [(5, TreeUse { scanned: 3, ..fetched(4, 0) }), (700, fetched(2, 1))]);
        std::thread::spawn(|| assert!(of_this_thread().is_empty())).join().expect("another thread has its own");
        clear();
        assert!(of_this_thread().is_empty());
    }
}
