//! B+trees over pages: descent, leaves, growth.
//!
//! Descent is optimistic lock coupling (Leis et al., "The ART of Practical Synchronization", DaMoN 2016): read the child's id, take
//! the child's version, validate the parent, go on; start over when a validation fails. No latch is held on the way down.
//!
//! T1: the root never moves; a root that is full hands its records to two new children.
//! T2: when the child's version was taken before the parent validated, the child covered the key at that moment, and any later
//! change of the child shows in its version.
//! T3: a structure change latches the parent, then the child, by upgrading the versions of the descent (never waiting), then the
//! allocation page, then the new pages, which nobody else can reach. It is one STRUCTURE record.
//! A leaf that purge has emptied is taken out together with an empty neighbour (`merge`).

mod batch;
mod drop;
mod merge;
mod rank;
mod split;

pub use batch::{Copied, Descents, GROUP, KeyList};
pub(crate) use merge::remove_child;
pub use rank::Place;
pub(crate) use split::insert_child;

use crate::buffer::{AHEAD_MAX, PageRead, PageWrite};
use crate::page::{Page, PageId, PageType};
use crate::stall::Result;
use crate::wal::record::{RowChange, RowOp, write_row};
use crate::{Error, Store, TreeRef};

/// Optimistic latch attempts before a leaf is latched by waiting.
const UPGRADE_ATTEMPTS: usize = 3;

/// In an inner page: the child that a scan at `place` is in.
fn child_at(page: Page<'_>, place: &[u8], reverse: bool) -> usize {
    if reverse { page.child_slot_before(place) } else { page.child_slot(place) }
}

impl Store {
    /// The leaf that covers `key`. Believe nothing read from it before `valid()`.
    ///
    /// # Errors
    /// A stall while a page on the way is read; damage; a dropped tree.
    #[inline]
    pub fn read_leaf(&self, tree: TreeRef, key: &[u8]) -> Result<PageRead<'_>> {
        self.descend::<true>(tree, 0, |page| page.child_slot(key))
    }

    /// The leaf that holds the greatest keys below `bound` (empty: the last leaf).
    ///
    /// # Errors
    /// As `read_leaf`.
    pub fn read_leaf_before(&self, tree: TreeRef, bound: &[u8]) -> Result<PageRead<'_>> {
        self.descend::<true>(tree, 0, |page| page.child_slot_before(bound))
    }

    /// As `read_leaf` (or `read_leaf_before`, `reverse`), for a large scan: the leaf need not stay in memory.
    ///
    /// # Errors
    /// As `read_leaf`.
    pub fn pass_leaf(&self, tree: TreeRef, place: &[u8], reverse: bool) -> Result<PageRead<'_>> {
        self.descend::<false>(tree, 0, |page| child_at(page, place, reverse))
    }

    /// Has the leaves read that follow (or precede, `reverse`) the one at `place` under the same parent, as many as the pool allows.
    /// Gives how many were not in memory. What stands in the way is left to the scan to meet.
    pub fn fetch_ahead(&self, tree: TreeRef, place: &[u8], reverse: bool) -> usize {
        let mut leaves = [0; AHEAD_MAX];
        let most = self.pool.ahead_pages();
        let Ok(found) = self.leaves_beyond(tree, place, reverse, &mut leaves[..most]) else { return 0 };
        leaves[..found].iter().filter(|leaf| self.pool.fetch_for_scan(**leaf)).count()
    }

    /// Has the leaf that covers `key` read, where it is not in memory and its parent is.
    pub fn fetch_leaf(&self, tree: TreeRef, key: &[u8]) {
        while let Ok(parent) = self.descend::<true>(tree, 1, |page| page.child_slot(key)) {
            let page = parent.page;
            let is_leaf = page.level() == 0;
            let leaf = if is_leaf { 0 } else { page.child(&page.record(page.child_slot(key))) };
            if parent.valid() {
                if !is_leaf {
                    self.pool.fetch(leaf);
                }
                return;
            }
        }
    }

    fn leaves_beyond(&self, tree: TreeRef, place: &[u8], reverse: bool, leaves: &mut [PageId]) -> Result<usize> {
        loop {
            let parent = self.descend::<true>(tree, 1, |page| child_at(page, place, reverse))?;
            let page = parent.page;
            if page.level() == 0 {
                return Ok(0);
            }
            let (at, slots) = (child_at(page, place, reverse), page.slots());
            let beyond = if reverse { at } else { slots.saturating_sub(at + 1) };
            let found = beyond.min(leaves.len());
            for (n, leaf) in leaves[..found].iter_mut().enumerate() {
                *leaf = page.child(&page.record(if reverse { at - 1 - n } else { at + 1 + n }));
            }
            if parent.valid() {
                return Ok(found);
            }
        }
    }

    /// Down to a page of level `last`, or to the root where the tree is not as high. `NOTED`: the last page counts as read.
    #[inline]
    fn descend<const NOTED: bool>(&self, tree: TreeRef, last: u8, choose: impl Fn(Page<'_>) -> usize) -> Result<PageRead<'_>> {
        'restart: loop {
            let mut node = self.pool.read(tree.root).map_err(|interrupt| interrupt.of(tree.id, 0))?;
            if node.page.tree_id() != tree.id {
                if node.valid() {
                    return Err(Error::NoSuchTree.into());
                }
                continue;
            }
            loop {
                let level = node.page.level();
                if level <= last {
                    if node.valid() {
                        return Ok(node);
                    }
                    continue 'restart;
                }
                let child = node.page.child(&node.page.record(choose(node.page)));
                if !node.valid() {
                    continue 'restart;
                }
                let is_noted = NOTED || level > last + 1;
                let next = if is_noted { self.pool.read(child) } else { self.pool.read_unnoted(child) };
                let next = next.map_err(|interrupt| interrupt.of(tree.id, level - 1))?;
                let child_level = next.page.level();
                // T2
                if !node.valid() {
                    continue 'restart;
                }
                // Dropping a tree during the descent leaves its inner pages unchanged, but its children may be reused.
                if child_level != level - 1 || next.page.tree_id() != tree.id {
                    if next.valid() && self.is_there(tree)? {
                        return Err(Error::Corrupt { page: child, why: "it does not fit its parent".into() }.into());
                    }
                    continue 'restart;
                }
                node = next;
            }
        }
    }

    /// Does the root still belong to the tree? Pages are freed only after that.
    #[cold]
    fn is_there(&self, tree: TreeRef) -> Result<bool> {
        let root = self.pool.latch(tree.root)?;
        let there = root.page.tree_id() == tree.id;
        root.release_unchanged();
        Ok(there)
    }

    /// Latches the leaf that covers `key`.
    ///
    /// # Errors
    /// As `read_leaf`.
    #[inline]
    pub fn latch_leaf(&self, tree: TreeRef, key: &[u8]) -> Result<PageWrite<'_>> {
        for _ in 0..UPGRADE_ATTEMPTS {
            if let Some(leaf) = self.read_leaf(tree, key)?.latch() {
                return Ok(leaf);
            }
        }
        loop {
            let id = {
                let leaf = self.read_leaf(tree, key)?;
                let id = leaf.page.id();
                if !leaf.valid() {
                    continue;
                }
                id
            };
            let leaf = self.pool.latch(id)?;
            let same = leaf.page.page_type() == PageType::Tree as u8 && leaf.page.tree_id() == tree.id && leaf.page.level() == 0;
            if same && leaf.page.covers(key) {
                return Ok(leaf);
            }
        }
    }

    /// Logs and applies a change of one record. The leaf covers the key and has room (`Page::has_room`) for a `Put`.
    /// `slot` is what `search(key)` says.
    pub fn change_row(
        &self,
        worker: usize,
        leaf: &PageWrite<'_>,
        slot: std::result::Result<usize, usize>,
        change: &RowChange<'_>,
    ) -> u64 {
        leaf.mark_dirty(self.wal.epoch());
        let mut append = self.wal.append(worker);
        let lsn = append.lsn_after(leaf.page.lsn());
        let forgotten =
            (os::mutated("skip-log") && lsn.is_multiple_of(16)) || (os::mutated("skip-compensation") && change.compensation);
        if !forgotten {
            write_row(append.buffer(), leaf.id(), lsn, change);
        }
        let epoch = append.epoch;
        drop(append);
        match (change.op, slot) {
            (RowOp::Put, slot) => {
                leaf.page.put(slot, change.header, change.key, change.payload).expect("the caller has checked the room")
            }
            (RowOp::Remove, Ok(index)) => leaf.page.remove(index),
            (RowOp::Remove, Err(_)) => {}
        }
        leaf.set_lsn(lsn);
        epoch
    }
}
