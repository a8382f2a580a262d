//! Growth of a tree: new trees, splits.
//!
//! `split` makes one step: it splits the leaf for a key, or, when the parent has no room for the separator, the parent (or its
//! parent, up to the root). The caller tries its insertion again and calls again while there is no room.

use crate::buffer::{PageRead, PageWrite};
use crate::page::{Page, PageId, PageType, RecordHeader};
use crate::space::{Allocation, change_bits};
use crate::stall::Result;
use crate::wal::Purpose;
use crate::wal::record::{Part, PartOp, write_structure};
use crate::{Error, Store, TreeRef};

/// No tree is higher: even with three records a page, 2^28 pages stay below this.
const HEIGHT_MAX: usize = 24;

/// The page's content for a record of the log.
pub(super) fn image_of(page: &PageWrite<'_>) -> Vec<u8> {
    let mut image = Vec::new();
    page.page.image(&mut image);
    image
}

impl Store {
    /// Makes an empty tree with a new identity. A crash may leave it without anybody who knows of it: who minds that records what
    /// [`Self::reserve_tree`] gives before [`Self::make_tree`].
    ///
    /// # Errors
    /// Stalls; a full disk.
    pub fn create_tree(&self, worker: usize) -> Result<TreeRef> {
        let id = self.next_tree_id()?;
        self.create_tree_as(worker, id)
    }

    /// Reserves an identity and a root for a tree that will be made, or dropped before that. Nothing on disk records
    /// them.
    /// # Errors
    /// Stalls; a full disk.
    pub fn reserve_tree(&self, worker: usize) -> Result<TreeRef> {
        let id = self.next_tree_id()?;
        Ok(TreeRef { id, root: self.space.reserve(&self.wal, worker)? })
    }

    /// Makes the tree that was reserved.
    ///
    /// # Errors
    /// Stalls; an I/O error.
    pub fn make_tree(&self, worker: usize, tree: TreeRef) -> Result<()> {
        self.make_root(worker, tree, &self.space.allocate_reserved(tree.root)?)?;
        self.space.give_up_reservation(tree.root);
        Ok(())
    }

    pub(crate) fn create_tree_as(&self, worker: usize, id: u32) -> Result<TreeRef> {
        let allocation = self.space.allocate(&self.wal, worker, 1, Purpose::Growth)?;
        let tree = TreeRef { id, root: allocation.pages[0] };
        self.make_root(worker, tree, &allocation)?;
        Ok(tree)
    }

    fn make_root(&self, worker: usize, tree: TreeRef, allocation: &Allocation<'_>) -> Result<()> {
        let page = self.pool.create(tree.root)?;
        self.mark(&[&page, allocation.bitmap()]);
        let old_lsn = page.page.lsn();
        page.page.format(PageType::Tree, 0, tree.root, tree.id, &[], &[]);
        page.set_lsn(old_lsn);
        self.log_structure(worker, &[&page], &[], allocation);
        Ok(())
    }

    /// Makes room near `key` by one split.
    ///
    /// # Errors
    /// Stalls; a full disk.
    pub fn split(&self, worker: usize, tree: TreeRef, key: &[u8], purpose: Purpose) -> Result<()> {
        loop {
            if let Some(path) = self.read_path(tree, key)? {
                for depth in (0..path.len()).rev() {
                    match self.split_at(worker, &path, depth, key, purpose)? {
                        Outcome::Done => return Ok(()),
                        Outcome::Moved => break,
                        Outcome::ParentFull => {}
                    }
                }
            }
        }
    }

    /// The pages from the root to the leaf that covers `key`; `None`: something moved.
    pub(super) fn read_path(&self, tree: TreeRef, key: &[u8]) -> Result<Option<Vec<PageRead<'_>>>> {
        let root = self.pool.read(tree.root)?;
        if root.page.tree_id() != tree.id {
            return if root.valid() { Err(Error::NoSuchTree.into()) } else { Ok(None) };
        }
        let mut path = vec![root];
        while path.len() <= HEIGHT_MAX {
            let node = path[path.len() - 1];
            let level = node.page.level();
            let child = node.page.child(&node.page.record(node.page.child_slot(key)));
            if !node.valid() {
                return Ok(None);
            }
            if level == 0 {
                return Ok(Some(path));
            }
            let next = self.pool.read(child)?;
            if !node.valid() {
                return Ok(None);
            }
            path.push(next);
        }
        Err(Error::Corrupt { page: tree.root, why: "the tree is higher than any can be".into() }.into())
    }

    fn split_at(&self, worker: usize, path: &[PageRead<'_>], depth: usize, key: &[u8], purpose: Purpose) -> Result<Outcome> {
        if depth == 0 {
            let Some(root) = path[0].latch() else { return Ok(Outcome::Moved) };
            return self.split_root(worker, &root, key, purpose);
        }
        // T3: parent, then child, never waiting.
        let Some(parent) = path[depth - 1].latch() else { return Ok(Outcome::Moved) };
        let Some(node) = path[depth].latch() else { return Ok(Outcome::Moved) };
        let outcome = self.split_child(worker, &parent, &node, key, purpose);
        if matches!(outcome, Ok(Outcome::ParentFull)) {
            // The parent is next: the path's version of it must still hold.
            parent.release_unchanged();
            node.release_unchanged();
        }
        outcome
    }

    fn split_child(
        &self,
        worker: usize,
        parent: &PageWrite<'_>,
        node: &PageWrite<'_>,
        key: &[u8],
        purpose: Purpose,
    ) -> Result<Outcome> {
        let Some((keep, between)) = node.page.split_for(key) else { return Ok(Outcome::Done) };
        let slot = parent.page.search(&between);
        if !parent.page.has_room(slot, RecordHeader::FROZEN.flags, &between, 4) {
            return Ok(Outcome::ParentFull);
        }
        let allocation = self.space.allocate(&self.wal, worker, 1, purpose)?;
        let right = self.pool.create(allocation.pages[0])?;
        self.mark(&[parent, node, &right, allocation.bitmap()]);
        let old_lsn = right.page.lsn();
        let mut high = Vec::new();
        assert!(node.page.high_fence(&mut high), "P1: a latched page has whole fences");
        right.page.rebuild(node.page, keep..node.page.slots(), allocation.pages[0], &between, &high);
        right.set_lsn(old_lsn);
        node.page.truncate(keep, &between);
        insert_child(parent.page, &between, allocation.pages[0]);
        let left = (node, PartOp::Truncate { keep: keep as u16, high: &between });
        let above = (parent, PartOp::InsertChild { key: &between, child: allocation.pages[0] });
        self.log_structure(worker, &[&right], &[left, above], &allocation);
        Ok(Outcome::Done)
    }

    /// T1
    fn split_root(&self, worker: usize, root: &PageWrite<'_>, key: &[u8], purpose: Purpose) -> Result<Outcome> {
        let Some((keep, between)) = root.page.split_for(key) else { return Ok(Outcome::Done) };
        let allocation = self.space.allocate(&self.wal, worker, 2, purpose)?;
        let (left_id, right_id) = (allocation.pages[0], allocation.pages[1]);
        let left = self.pool.create(left_id)?;
        let right = self.pool.create(right_id)?;
        self.mark(&[root, &left, &right, allocation.bitmap()]);
        let (left_lsn, right_lsn, root_lsn) = (left.page.lsn(), right.page.lsn(), root.page.lsn());
        left.page.rebuild(root.page, 0..keep, left_id, &[], &between);
        right.page.rebuild(root.page, keep..root.page.slots(), right_id, &between, &[]);
        left.set_lsn(left_lsn);
        right.set_lsn(right_lsn);
        let (level, tree_id) = (root.page.level() + 1, root.page.tree_id());
        root.page.format(PageType::Tree, level, root.id(), tree_id, &[], &[]);
        root.set_lsn(root_lsn);
        insert_child(root.page, &[], left_id);
        insert_child(root.page, &between, right_id);
        self.log_structure(worker, &[&left, &right, root], &[], &allocation);
        Ok(Outcome::Done)
    }

    pub(super) fn mark(&self, pages: &[&PageWrite<'_>]) {
        let epoch = self.wal.epoch();
        pages.iter().for_each(|page| page.mark_dirty(epoch));
    }

    /// One STRUCTURE record: images of new pages, operations on old ones, the allocation. Sets every page's LSN.
    fn log_structure(
        &self,
        worker: usize,
        images: &[&PageWrite<'_>],
        ops: &[(&PageWrite<'_>, PartOp<'_>)],
        allocation: &Allocation<'_>,
    ) {
        let bits = allocation.bits();
        change_bits(allocation.bitmap().page, &bits, true);
        let bodies: Vec<Vec<u8>> = images.iter().map(|page| image_of(page)).collect();
        let mut append = self.wal.append(worker);
        let mut parts = Vec::with_capacity(images.len() + ops.len() + 1);
        let all = images
            .iter()
            .zip(&bodies)
            .map(|(page, body)| (*page, PartOp::Image(body)))
            .chain(ops.iter().copied())
            .chain([(allocation.bitmap(), PartOp::SetBits(&bits))]);
        for (page, op) in all {
            let lsn = append.lsn_after(page.page.lsn());
            page.set_lsn(lsn);
            parts.push(Part { page: page.id(), lsn, op });
        }
        write_structure(append.buffer(), &parts);
    }
}

enum Outcome {
    Done,
    /// A page changed since the descent.
    Moved,
    /// The separator does not fit: split the parent first.
    ParentFull,
}

/// Adds a child to an inner page; shared with redo.
pub(crate) fn insert_child(page: Page<'_>, key: &[u8], child: PageId) {
    let slot = page.search(key);
    page.put(slot, RecordHeader::FROZEN, key, &child.to_le_bytes()).expect("the splitter has checked the room");
}
