//! Shrinking of a tree: leaves that purge has emptied are taken out.
//!
//! ```text
//! neighbours under one parent     [ E ][ E' ]         ->  [ E ------- ]           E' is freed
//! at the edge of two parents      P [ E ]  Q [ E' | ... ]  ->  P [ E ---- | ... ]   Q and E' are freed
//! ```
//! An empty leaf takes over the range of an empty neighbour: no record moves, so there is always room. Of a run of empty leaves one is left, and
//! a parent that has come down to one empty leaf takes over the children of its neighbour as soon as that one begins with an empty leaf, and
//! has room. So a queue, whose rows are inserted at one end and deleted at the other, has as many pages as it has rows for, and a
//! few per level above the second.
//!
//! Each step is one STRUCTURE record over all its pages. E1: pages are latched by upgrading versions that were read before, parents first
//! (T3), and then the allocation page. E2: a freed page is formatted as free under its latch, so whoever latches it by a number found before sees
//! that it is no leaf of the tree. E3: a tree is not shrunk while its pages are listed to be freed (`drop`).

use super::split::image_of;
use crate::buffer::{PageRead, PageWrite};
use crate::page::{PAGE_WORDS, Page, PageId, PageType, RecordHeader};
use crate::stall::Result;
use crate::wal::record::{Part, PartOp};
use crate::{Store, TreeRef};
use sync::RacyWords;

/// Steps that other threads' changes may spoil before the leaf is left as it is.
const ATTEMPTS: usize = 4;

enum Outcome {
    Done,
    /// A page has changed since it was looked at.
    Moved,
    /// There is nothing to be done.
    Nothing,
}

impl Store {
    /// Takes the leaf of `key` out of its tree if it is empty and so is a neighbour. Best effort: what others' changes spoil is left to the next
    /// call. `true`: pages were freed.
    ///
    /// # Errors
    /// Stalls; damage; a dropped tree.
    pub fn merge_empty(&self, worker: usize, tree: TreeRef, key: &[u8]) -> Result<bool> {
        // E3
        let _shrinking = self.shrinking.lock();
        let mut freed = false;
        let mut moved = 0;
        while moved < ATTEMPTS {
            let Some(path) = self.read_path(tree, key)? else {
                moved += 1;
                continue;
            };
            match self.merge_once(worker, &path)? {
                // One step may make the next one possible.
                Outcome::Done => freed = true,
                Outcome::Moved => moved += 1,
                Outcome::Nothing => break,
            }
        }
        Ok(freed)
    }

    fn merge_once(&self, worker: usize, path: &[PageRead<'_>]) -> Result<Outcome> {
        let [above @ .., parent, leaf] = path else { return Ok(Outcome::Nothing) };
        if leaf.page.level() != 0 || leaf.page.slots() > 0 {
            return Ok(if leaf.valid() { Outcome::Nothing } else { Outcome::Moved });
        }
        let id = leaf.page.id();
        let Some(at) = slot_of(parent.page, id) else { return Ok(Outcome::Moved) };
        for (left, right) in [(at.checked_sub(1), Some(at)), (Some(at), Some(at + 1))] {
            let (Some(left), Some(right)) = (left, right.filter(|slot| *slot < parent.page.slots())) else { continue };
            let Some((left, right)) = self.read_pair(parent, left, right)? else { return Ok(Outcome::Moved) };
            if left.page.slots() == 0 && right.page.slots() == 0 {
                return self.merge_leaves(worker, *parent, left, right);
            }
        }
        let Some(grandparent) = above.last() else { return Ok(Outcome::Nothing) };
        let Some(at) = slot_of(grandparent.page, parent.page.id()) else { return Ok(Outcome::Moved) };
        for (left, right) in [(at.checked_sub(1), Some(at)), (Some(at), Some(at + 1))] {
            let (Some(left), Some(right)) = (left, right.filter(|slot| *slot < grandparent.page.slots())) else { continue };
            let Some((left, right)) = self.read_pair(grandparent, left, right)? else { return Ok(Outcome::Moved) };
            if left.page.slots() == 1 {
                match self.merge_parents(worker, *grandparent, left, right)? {
                    Outcome::Nothing => {}
                    other => return Ok(other),
                }
            }
        }
        Ok(Outcome::Nothing)
    }

    /// Versions of two children of `parent`, taken before the parent is validated (T2).
    fn read_pair(&self, parent: &PageRead<'_>, left: usize, right: usize) -> Result<Option<(PageRead<'_>, PageRead<'_>)>> {
        let child = |slot| parent.page.child(&parent.page.record(slot));
        let (left, right) = (child(left), child(right));
        if !parent.valid() {
            return Ok(None);
        }
        let pair = (self.pool.read(left)?, self.pool.read(right)?);
        Ok(parent.valid().then_some(pair))
    }

    /// The first picture of the module's head.
    fn merge_leaves(&self, worker: usize, parent: PageRead<'_>, left: PageRead<'_>, right: PageRead<'_>) -> Result<Outcome> {
        // E1
        let (Some(parent), Some(left), Some(right)) = (parent.latch(), left.latch(), right.latch()) else {
            return Ok(Outcome::Moved);
        };
        let bitmap = self.space.latch_bitmap_of(right.id())?;
        let between = low_of(right.page);
        self.mark(&[&parent, &left, &right, &bitmap]);
        take_over(left.page, right.page);
        make_free(right.page, right.id());
        remove_child(parent.page, &between);
        let images = [&left, &right];
        self.log_merge(worker, (&parent, &between), &images, &[(&bitmap, &[right.id()])]);
        Ok(Outcome::Done)
    }

    /// The second picture. `left` has one child.
    fn merge_parents(
        &self,
        worker: usize,
        grandparent: PageRead<'_>,
        left: PageRead<'_>,
        right: PageRead<'_>,
    ) -> Result<Outcome> {
        let first_child = |parent: &PageRead<'_>| parent.page.child(&parent.page.record(0));
        let (ours, theirs) = (first_child(&left), first_child(&right));
        if left.page.level() != 1 || !left.valid() || !right.valid() {
            return Ok(if left.valid() && right.valid() { Outcome::Nothing } else { Outcome::Moved });
        }
        let (ours, theirs) = (self.pool.read(ours)?, self.pool.read(theirs)?);
        if ours.page.slots() > 0 || theirs.page.slots() > 0 {
            return Ok(Outcome::Nothing);
        }
        // E1
        let (Some(grandparent), Some(left), Some(right)) = (grandparent.latch(), left.latch(), right.latch()) else {
            return Ok(Outcome::Moved);
        };
        let (Some(ours), Some(theirs)) = (ours.latch(), theirs.latch()) else { return Ok(Outcome::Moved) };
        let words = RacyWords::boxed(PAGE_WORDS);
        if !join(left.page, right.page, Page::new(&words)) {
            return Ok(Outcome::Nothing);
        }
        let mut freed = [right.id(), theirs.id()];
        freed.sort_unstable();
        let bitmaps = (
            self.space.latch_bitmap_of(freed[0])?,
            if self.space.is_one_group(&freed) { None } else { Some(self.space.latch_bitmap_of(freed[1])?) },
        );
        let between = low_of(right.page);
        self.mark(&[&grandparent, &left, &right, &ours, &theirs, &bitmaps.0]);
        bitmaps.1.iter().for_each(|bitmap| self.mark(&[bitmap]));
        take_over(ours.page, theirs.page);
        let lsn = left.page.lsn();
        let mut joined = [0; PAGE_WORDS];
        words.copy_words(0, &mut joined);
        left.page.words().fill_from(&joined);
        left.set_lsn(lsn);
        make_free(right.page, right.id());
        make_free(theirs.page, theirs.id());
        remove_child(grandparent.page, &between);
        let images = [&left, &ours, &right, &theirs];
        match &bitmaps {
            (bitmap, None) => self.log_merge(worker, (&grandparent, &between), &images, &[(bitmap, &freed)]),
            (first, Some(second)) => {
                let frees: [(&PageWrite<'_>, &[PageId]); 2] = [(first, &freed[..1]), (second, &freed[1..])];
                self.log_merge(worker, (&grandparent, &between), &images, &frees);
            }
        }
        Ok(Outcome::Done)
    }

    /// One STRUCTURE record: a child less in `parent`, images of the other pages, cleared bits. Sets every page's LSN.
    fn log_merge(
        &self,
        worker: usize,
        (parent, between): (&PageWrite<'_>, &[u8]),
        images: &[&PageWrite<'_>],
        frees: &[(&PageWrite<'_>, &[PageId])],
    ) {
        let bodies: Vec<Vec<u8>> = images.iter().map(|page| image_of(page)).collect();
        let bits: Vec<Vec<u8>> = frees.iter().map(|(bitmap, pages)| self.space.clear(bitmap, pages)).collect();
        let mut append = self.wal.append(worker);
        let all = std::iter::once((parent, PartOp::RemoveChild { key: between }))
            .chain(images.iter().zip(&bodies).map(|(page, body)| (*page, PartOp::Image(body))))
            .chain(frees.iter().zip(&bits).map(|((bitmap, _), bits)| (*bitmap, PartOp::ClearBits(bits))));
        let mut parts = Vec::with_capacity(1 + images.len() + frees.len());
        for (page, op) in all {
            let lsn = append.lsn_after(page.page.lsn());
            page.set_lsn(lsn);
            parts.push(Part { page: page.id(), lsn, op });
        }
        crate::wal::record::write_structure(append.buffer(), &parts);
        drop(append);
        #[cfg(sim)]
        os::sim::scheduler::count(if frees[0].1.len() == 1 { "merges of leaves" } else { "merges of parents" }, 1);
        frees.iter().for_each(|(_, pages)| self.space.note_free(pages));
    }
}

/// The slot of a child; `None`: it is not one (any more).
fn slot_of(parent: Page<'_>, child: PageId) -> Option<usize> {
    (0..parent.slots()).find(|slot| parent.child(&parent.record(*slot)) == child)
}

fn low_of(page: Page<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    assert!(page.low_fence(&mut out), "P1: a latched page has whole fences");
    out
}

fn high_of(page: Page<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    assert!(page.high_fence(&mut out), "P1: a latched page has whole fences");
    out
}

/// `left`, an empty leaf, covers the range of `right`, its neighbour, too.
fn take_over(left: Page<'_>, right: Page<'_>) {
    let (low, high) = (low_of(left), high_of(right));
    let (id, tree_id, lsn) = (left.id(), left.tree_id(), left.lsn());
    left.format(PageType::Tree, 0, id, tree_id, &low, &high);
    left.set_lsn(lsn);
}

/// E2
fn make_free(page: Page<'_>, id: PageId) {
    let lsn = page.lsn();
    page.format(PageType::Free, 0, id, 0, &[], &[]);
    page.set_lsn(lsn);
}

/// Makes `out` what `left`, which has one child, is with the children of `right` but the first. `false`: they do not fit.
fn join(left: Page<'_>, right: Page<'_>, out: Page<'_>) -> bool {
    let (low, high) = (low_of(left), high_of(right));
    out.format(PageType::Tree, left.level(), left.id(), left.tree_id(), &low, &high);
    let (mut key, mut payload) = (Vec::new(), Vec::new());
    std::iter::once((left, 0)).chain((1..right.slots()).map(|slot| (right, slot))).enumerate().all(|(to, (from, slot))| {
        let record = from.record(slot);
        key.clear();
        payload.clear();
        assert!(from.key(&record, &mut key) && from.payload(&record, &mut payload), "P1: a latched page has whole records");
        out.put(Err(to), RecordHeader::FROZEN, &key, &payload).is_ok()
    })
}

/// Takes a child out of an inner page; shared with redo. `false`: it is not there, or is the first, which begins the page's range (P3).
pub(crate) fn remove_child(page: Page<'_>, key: &[u8]) -> bool {
    let slot = page.search(key).ok().filter(|slot| *slot > 0);
    slot.into_iter().for_each(|slot| page.remove(slot));
    slot.is_some()
}
