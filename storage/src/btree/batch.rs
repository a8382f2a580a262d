//! Many point reads at once: their descents go down side by side, so that the cache misses of one are waited for together with those of
//! the others.
//!
//! For a group of keys: 1. find each leaf's number in its parent, and ask for the leaf's frame and head; 2. take the leaf's version,
//! validate the parent (T2 of `btree`), and ask for the leaf's slots; 3. search them, and ask for the record; 4. look at the record, copy it, and validate.
//! Between the steps nothing is latched. What does not validate, or is not in memory, is left to a single read.

use super::Store;
use crate::TreeRef;
use crate::buffer::PageRead;
use crate::page::{PageId, RecordHeader};

/// Descents side by side: about as many as a core has misses under way.
pub const GROUP: usize = 16;

/// Keys one behind the other, reused from batch to batch.
#[derive(Default)]
pub struct KeyList {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl KeyList {
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Appends the key that `write` appends to the bytes it is given.
    #[inline]
    pub fn push_with<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        write(&mut self.bytes)?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    #[inline]
    pub fn get(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// Where the descents of one group have come to.
pub struct Descents<'s> {
    places: [Place<'s>; GROUP],
}

#[derive(Clone, Copy)]
enum Place<'s> {
    /// Left to a single read.
    Lost,
    /// The leaf's parent, and the leaf's number.
    Above(PageRead<'s>, PageId),
    Leaf(PageRead<'s>),
    /// The leaf, and the slot from which on the record can be.
    Near(PageRead<'s>, usize),
}

/// What a group's read of one key came to.
pub enum Copied {
    Record(RecordHeader),
    Absent,
    /// Ask again, with a single read.
    Unknown,
}

impl<'s> Descents<'s> {
    /// Steps 1 to 3 for up to [`GROUP`] keys, from `first` on.
    #[inline]
    pub fn begin(store: &'s Store, tree: TreeRef, keys: &KeyList, first: usize) -> Self {
        let mut this = Self { places: [Place::Lost; GROUP] };
        let count = (keys.len() - first).min(GROUP);
        let places = &mut this.places[..count];
        for (n, place) in places.iter_mut().enumerate() {
            *place = store.above_leaf(tree, keys.get(first + n));
        }
        for place in places.iter_mut() {
            if let Place::Above(parent, leaf) = *place {
                *place = store.down_to_leaf(parent, leaf);
            }
        }
        for (n, place) in places.iter_mut().enumerate() {
            if let Place::Leaf(leaf) = *place {
                *place = search_leaf(leaf, tree, keys.get(first + n));
            }
        }
        this
    }

    /// Step 4 for `key`, number `n` of the group: its record's payload is appended to `payload`.
    #[inline]
    pub fn copy(&self, n: usize, key: &[u8], payload: &mut Vec<u8>) -> Copied {
        let Place::Near(leaf, first) = self.places[n] else { return Copied::Unknown };
        let Ok(slot) = leaf.page.search_from(first, key) else {
            return if leaf.valid() { Copied::Absent } else { Copied::Unknown };
        };
        let record = leaf.page.record(slot);
        let whole = leaf.page.payload(&record, payload);
        if whole && leaf.valid() { Copied::Record(record.header) } else { Copied::Unknown }
    }
}

impl Store {
    fn above_leaf(&self, tree: TreeRef, key: &[u8]) -> Place<'_> {
        let Ok(mut node) = self.pool.read(tree.root) else { return Place::Lost };
        if node.page.tree_id() != tree.id {
            return Place::Lost;
        }
        let mut level = node.page.level();
        if level == 0 {
            return Place::Leaf(node);
        }
        loop {
            let child = node.page.child(&node.page.record(node.page.child_slot(key)));
            if !node.valid() {
                return Place::Lost;
            }
            level -= 1;
            if level == 0 {
                self.pool.prefetch(child);
                return Place::Above(node, child);
            }
            let Ok(next) = self.pool.read(child) else { return Place::Lost };
            let fits = next.page.level() == level && next.page.tree_id() == tree.id;
            // T2
            if !fits || !node.valid() {
                return Place::Lost;
            }
            node = next;
        }
    }

    fn down_to_leaf<'s>(&'s self, parent: PageRead<'s>, leaf: PageId) -> Place<'s> {
        let Ok(leaf) = self.pool.read(leaf) else { return Place::Lost };
        // T2
        if !parent.valid() {
            return Place::Lost;
        }
        leaf.page.prefetch_slots();
        Place::Leaf(leaf)
    }
}

fn search_leaf<'s>(leaf: PageRead<'s>, tree: TreeRef, key: &[u8]) -> Place<'s> {
    // As in `descend`: the pages of a tree that is dropped meanwhile may be reused.
    if leaf.page.level() != 0 || leaf.page.tree_id() != tree.id {
        return Place::Lost;
    }
    let first = leaf.page.first_like(key);
    leaf.page.prefetch_record(first);
    Place::Near(leaf, first)
}
