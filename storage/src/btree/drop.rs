//! Freeing a whole tree.
//!
//! First the inner pages are read to learn every page's number (leaves are not read). Then one STRUCTURE record makes the root a
//! free page and clears all the bits: after a crash the tree is there whole, or gone. The caller has made sure that nobody reaches the tree;
//! undo and purge records that still name it meet [`Error::NoSuchTree`].

use crate::page::{PageId, PageType};
use crate::stall::{Result, blocking};
use crate::wal::record::{Part, PartOp};
use crate::{Error, Store, TreeRef};

impl Store {
    /// Frees all pages of a tree. Blocks on page reads: for background threads.
    ///
    /// # Errors
    /// Damage; an I/O error. A tree that is already gone is no error.
    pub fn drop_tree(&self, worker: usize, tree: TreeRef) -> std::result::Result<(), Error> {
        if !self.space.is_allocated(tree.root)? {
            // It was reserved and not made.
            self.space.give_up_reservation(tree.root);
            return Ok(());
        }
        // No page of the tree is freed by anybody else between the two steps (E3 of `merge`).
        let _shrinking = self.shrinking.lock();
        let mut pages = match self.tree_pages(tree) {
            Err(Error::NoSuchTree) => return Ok(()),
            other => other?,
        };
        blocking(|| self.free_tree(worker, tree, &mut pages))
    }

    fn free_tree(&self, worker: usize, tree: TreeRef, pages: &mut [PageId]) -> Result<()> {
        let root = self.pool.latch(tree.root)?;
        self.mark(&[&root]);
        let old_lsn = root.page.lsn();
        let mut before = Vec::new();
        root.page.image(&mut before);
        root.page.format(PageType::Free, 0, tree.root, 0, &[], &[]);
        let mut image = Vec::new();
        root.page.image(&mut image);
        let part = Part { page: tree.root, lsn: old_lsn, op: PartOp::Image(&image) };
        match self.space.free(&self.wal, worker, pages, part) {
            Ok(lsn) => {
                root.set_lsn(lsn);
                Ok(())
            }
            Err(interrupt) => {
                // Nothing was logged: put the root back.
                assert!(root.page.restore(&before), "a page's own image");
                Err(interrupt)
            }
        }
    }

    /// The numbers of all pages of a tree.
    ///
    /// # Errors
    /// Damage; an I/O error; a dropped tree.
    pub fn tree_pages(&self, tree: TreeRef) -> std::result::Result<Vec<PageId>, Error> {
        let mut pages = vec![tree.root];
        let mut inner = vec![tree.root];
        while let Some(id) = inner.pop() {
            let children = blocking(|| {
                let page = self.pool.latch(id)?;
                if page.page.tree_id() != tree.id {
                    let gone = id == tree.root;
                    let e = if gone { Error::NoSuchTree } else { Error::Corrupt { page: id, why: "of another tree".into() } };
                    return Err(e.into());
                }
                let level = page.page.level();
                let slots = if level == 0 { 0 } else { page.page.slots() };
                Ok((level, (0..slots).map(|s| page.page.child(&page.page.record(s))).collect::<Vec<_>>()))
            })?;
            pages.extend(&children.1);
            if children.0 > 1 {
                inner.extend(&children.1);
            }
        }
        Ok(pages)
    }
}
