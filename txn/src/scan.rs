//! Scans: the rows of a key range, a leaf at a time.
//!
//! `fill` 1. finds the leaf for the scan's place; 2. copies the records in range, newest versions, and validates once; 3. judges each
//! copy's visibility and fetches older versions; 4. moves the place to the leaf's fence, or behind the last row. The place is a key, so
//! nothing is held between calls and splits do not matter.
//!
//! A scan `by_page` copies a whole page where it wants much of it. Then the keys of its rows lack the page's prefix, which each row names.
//!
//! J1: what a snapshot sees of a mark it sees for ever. A mark names one transaction, and no id is given twice. That of a transaction
//!     that ended at or before the snapshot can only become `Old`, which everybody sees; the transaction's own is its own until its end, which
//!     no call of it overlaps. So a mark that was seen is not looked up again for the other records of the leaf (`Known`), but in builds
//!     with debug assertions, which look and compare. That leaves the simulator as many points between two records as there are to look at.
//!     A mark that is not seen is looked up each time.
//! J2: nothing of a page outlives `reset`: neither its prefix nor which slots of it are in range. A scan that copies records has no prefix.

mod count;

use crate::ahead::Ahead;
use crate::read::{Owner, View};
use crate::status::is_txn;
use crate::{Engine, Error, LockMode, Result, Seen, TreeRef, Txn, WaitPolicy, Worker};
use count::Headers;
use storage::buffer::PageRead;
use storage::page::{CopiedRecord, Page, PageCopy, RecordHeader};

/// Of fewer rows the records are copied one by one.
const PAGE_ROWS_MIN: usize = if cfg!(sim) { 3 } else { 32 };

/// Which version a scan returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    /// The transaction's snapshot.
    Snapshot,
    /// The latest committed version or the transaction's own. A row that another open transaction holds is returned as
    /// its key with [`ScanRow::held_by_other`] set (its payload is the version below the open one, or empty): call
    /// `lock_row`, then check the row.
    Latest,
    /// As `Latest`, and the rows and the gaps around them are locked until the transaction ends, for the isolation levels that know no
    /// phantoms (`lock_range`). Every row comes with [`ScanRow::seen`].
    Lock(LockMode, WaitPolicy),
}

pub(crate) struct Slot {
    pub key: (u32, u32),
    pub payload: (u32, u32),
    pub header: RecordHeader,
    pub held_by_other: bool,
}

/// A scan over one key range. Keeps its place as a key; holds no latch and no pin between calls.
pub struct Scan {
    pub(crate) tree: TreeRef,
    pub(crate) low: Vec<u8>,
    pub(crate) high: Vec<u8>,
    pub(crate) reverse: bool,
    mode: ReadMode,
    /// Forward: the next key to look at. Reverse: everything from here on is done.
    pub(crate) place: Vec<u8>,
    pub(crate) done: bool,
    pub(crate) bytes: Vec<u8>,
    pub(crate) slots: Vec<Slot>,
    next: usize,
    older: Vec<u8>,
    /// The key range that the last batch has locked, if the transaction had locked nothing of it before.
    pub(crate) locked: Option<(Vec<u8>, Vec<u8>)>,
    unseen: i64,
    pub(crate) ahead: Ahead,
    /// Of `count`.
    headers: Headers,
    /// Whole pages are copied.
    by_page: bool,
    /// What the keys of the batch lack.
    prefix: Vec<u8>,
    /// `bytes` is a copy of a page, and these are the slots in range.
    paged: Option<(usize, usize)>,
}

#[derive(Clone, Copy, Debug)]
pub struct ScanRow<'a> {
    /// The beginning of the key; empty but for scans `by_page`.
    pub prefix: &'a [u8],
    /// The rest of it.
    pub key: &'a [u8],
    pub payload: &'a [u8],
    pub held_by_other: bool,
    /// The version, of a row that this scan has locked.
    pub seen: Option<Seen>,
}

/// Why the copying of a leaf stopped.
enum Stop {
    /// `rows_max`: the last copied row.
    AtRow,
    /// The leaf's end; its fence is the next place.
    AtFence,
    /// The end of the range.
    Finished,
}

/// The mark that the snapshot was found to see last (J1). Neighbours mostly have one writer.
#[derive(Default)]
struct Known(Option<u64>);

impl Known {
    /// Is the version visible?
    #[inline]
    fn sees(&mut self, engine: &Engine, view: View, header: RecordHeader) -> bool {
        if self.0 == Some(header.mark) {
            debug_assert!(engine.sees(view, header), "J1");
            return true;
        }
        let sees = engine.sees(view, header);
        if sees && is_txn(header.mark) {
            self.0 = Some(header.mark);
        }
        sees
    }
}

impl Scan {
    /// `low <= key < high` in byte order; empty `high` is the end of the tree. `reverse` goes from high to low.
    pub fn new(tree: TreeRef, low: &[u8], high: &[u8], reverse: bool, mode: ReadMode) -> Scan {
        let mut scan = Scan {
            tree,
            low: Vec::new(),
            high: Vec::new(),
            reverse,
            mode,
            place: Vec::new(),
            done: false,
            bytes: Vec::new(),
            slots: Vec::new(),
            next: 0,
            older: Vec::new(),
            locked: None,
            unseen: 0,
            ahead: Ahead::default(),
            headers: Headers::default(),
            by_page: false,
            prefix: Vec::new(),
            paged: None,
        };
        scan.reset(tree, low, high, reverse, mode);
        scan
    }

    /// Starts over on another range, keeping the buffers.
    pub fn reset(&mut self, tree: TreeRef, low: &[u8], high: &[u8], reverse: bool, mode: ReadMode) {
        self.tree = tree;
        self.reverse = reverse;
        self.mode = mode;
        for (to, from) in [(&mut self.low, low), (&mut self.high, high), (&mut self.place, if reverse { high } else { low })] {
            to.clear();
            to.extend_from_slice(from);
        }
        self.done = !high.is_empty() && low >= high;
        self.slots.clear();
        self.bytes.clear();
        self.next = 0;
        self.locked = None;
        self.unseen = 0;
        self.ahead.reset();
        self.by_page = false;
        // J2
        self.prefix.clear();
        self.paged = None;
    }

    /// Rows may come with their keys in two parts ([`ScanRow::prefix`]). Of snapshots only.
    pub fn set_by_page(&mut self) {
        assert_eq!(self.mode, ReadMode::Snapshot);
        self.by_page = true;
    }

    pub(crate) fn mode(&self) -> ReadMode {
        self.mode
    }

    /// The key of the row that was given last, and that of the next one of the batch.
    pub(crate) fn given(&self) -> Option<(&[u8], Option<&[u8]>)> {
        let key = |slot: &Slot| &self.bytes[slot.key.0 as usize..slot.key.1 as usize];
        let given = self.slots.get(self.next.checked_sub(1)?)?;
        Some((key(given), self.slots.get(self.next).map(key)))
    }

    /// Loads the next batch (visible rows of at most one leaf, at most `rows_max` rows). `false`: the range is exhausted.
    /// After `true` at least one row is ready for `next_row`.
    ///
    /// # Errors
    /// A stall while a page is read; damage.
    pub fn fill(&mut self, txn: &mut Txn, worker: &Worker, rows_max: usize) -> Result<bool> {
        self.next = 0;
        self.slots.clear();
        self.locked = None;
        if let ReadMode::Lock(mode, policy) = self.mode {
            return self.fill_locked(txn, worker, rows_max.max(1), mode, policy);
        }
        let view = match self.mode {
            ReadMode::Snapshot => txn.view(worker),
            // A current read takes no snapshot: the transaction's first consistent read does.
            ReadMode::Latest | ReadMode::Lock(..) => txn.current_view(),
        };
        while !self.done {
            let leaf = match self.read_leaf(worker) {
                Ok(leaf) => leaf,
                Err(stall) => {
                    self.ahead.missed(worker, self.tree, &self.place, self.reverse);
                    return Err(stall.into());
                }
            };
            let mut fence = std::mem::take(&mut self.older);
            let copied = self.copy(&leaf, rows_max.max(1), &mut fence);
            if let Some(stop) = copied.filter(|_| leaf.valid() && self.find_holders(&leaf, txn.id, worker)) {
                self.advance(&stop, &fence)?;
                if matches!(stop, Stop::AtFence) {
                    self.ahead.passed(worker, self.tree, &self.place, self.reverse, leaf.page.id());
                }
            } else {
                self.slots.clear();
                self.older = fence;
                continue;
            }
            self.older = fence;
            if let Some((begin, end)) = self.paged {
                self.find_records(begin, end)?;
            }
            self.judge(view, worker)?;
            if !self.slots.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    #[inline]
    fn read_leaf<'w>(&self, worker: &'w Worker) -> storage::Result<PageRead<'w>> {
        let store = &worker.engine.store;
        if self.ahead.is_large(worker) {
            return store.pass_leaf(self.tree, &self.place, self.reverse);
        }
        if self.reverse { store.read_leaf_before(self.tree, &self.place) } else { store.read_leaf(self.tree, &self.place) }
    }

    /// Between steps 2 and 3, for current reads: who has each row. `false`: the leaf has changed since. A mark names a transaction, which may
    /// have changed a row again before it committed: the copy is its last word only if the leaf is the same still after the commit
    /// was seen. (A snapshot does not ask: what it sees was committed before it was taken.)
    #[inline]
    fn find_holders(&mut self, leaf: &PageRead<'_>, txn: u64, worker: &Worker) -> bool {
        if self.mode == ReadMode::Snapshot {
            return true;
        }
        #[cfg(test)]
        crate::interleave::here();
        for slot in &mut self.slots {
            slot.held_by_other = matches!(worker.engine.owner(slot.header, txn), Owner::Other(_));
        }
        leaf.valid()
    }

    /// Step 2. `None`: a torn read.
    fn copy(&mut self, leaf: &PageRead<'_>, rows_max: usize, fence: &mut Vec<u8>) -> Option<Stop> {
        let page = leaf.page;
        self.slots.clear();
        self.bytes.clear();
        self.prefix.clear();
        self.paged = None;
        fence.clear();
        let (begin, end) = self.bounds(page);
        let count = end.saturating_sub(begin);
        let taken = count.min(rows_max);
        if self.by_page && taken == count && count >= PAGE_ROWS_MIN {
            self.paged = Some((begin, end));
            return page.copy(&mut self.bytes).then(|| self.end_of_leaf(page, fence)).flatten();
        }
        for n in 0..taken {
            let record = page.record(if self.reverse { end - 1 - n } else { begin + n });
            let key_at = self.bytes.len();
            if !page.key(&record, &mut self.bytes) {
                return None;
            }
            let payload_at = self.bytes.len();
            if !page.payload(&record, &mut self.bytes) {
                return None;
            }
            self.slots.push(Slot {
                key: (key_at as u32, payload_at as u32),
                payload: (payload_at as u32, self.bytes.len() as u32),
                header: record.header,
                held_by_other: false,
            });
        }
        if taken < count {
            return Some(Stop::AtRow);
        }
        self.end_of_leaf(page, fence)
    }

    /// The rest of step 2 for a copied page, which was validated.
    fn find_records(&mut self, begin: usize, end: usize) -> Result<()> {
        let damaged = || Error::Storage("a record lies outside of its page".into());
        let page = PageCopy::new(&self.bytes).ok_or_else(damaged)?;
        self.prefix.extend_from_slice(page.prefix().ok_or_else(damaged)?);
        for n in 0..end - begin {
            let record = page.record(if self.reverse { end - 1 - n } else { begin + n }).ok_or_else(damaged)?;
            let CopiedRecord { header, key, payload } = record;
            self.slots.push(Slot { key, payload, header, held_by_other: false });
        }
        Ok(())
    }

    /// The slots of the leaf that are in range and not done yet.
    #[inline]
    fn bounds(&self, page: Page<'_>) -> (usize, usize) {
        let slot_of =
            |key: &[u8], outside: usize| if page.covers(key) { page.search(key).unwrap_or_else(|slot| slot) } else { outside };
        let begin = if self.reverse { slot_of(&self.low, 0) } else { slot_of(&self.place, 0) };
        let bound = if self.reverse { &self.place } else { &self.high };
        (begin, if bound.is_empty() { page.slots() } else { slot_of(bound, page.slots()) })
    }

    /// What follows after all records of the leaf, whose fence is appended to `fence`. `None`: a torn read.
    #[inline]
    fn end_of_leaf(&self, page: Page<'_>, fence: &mut Vec<u8>) -> Option<Stop> {
        let whole = if self.reverse { page.low_fence(fence) } else { page.high_fence(fence) };
        if !whole {
            return None;
        }
        let last = if self.reverse {
            fence.is_empty() || *fence <= self.low
        } else {
            fence.is_empty() || (!self.high.is_empty() && *fence >= self.high)
        };
        Some(if last { Stop::Finished } else { Stop::AtFence })
    }

    /// Step 4 (done before step 3, which may drop rows).
    ///
    /// # Errors
    /// The fence leads back: the pages of the tree do not fit each other, which a forced recovery can cause. The scan would never end.
    fn advance(&mut self, stop: &Stop, fence: &[u8]) -> Result<()> {
        match stop {
            Stop::Finished => self.done = true,
            Stop::AtFence => {
                let goes_on = self.place.is_empty() || if self.reverse { *fence < *self.place } else { *fence > *self.place };
                if !goes_on {
                    return Err(Error::Storage(
                        "the pages of a tree do not fit each other: a leaf lies outside of its range".into(),
                    )
                    .into());
                }
                self.place.clear();
                self.place.extend_from_slice(fence);
            }
            Stop::AtRow => {
                let (from, to) = self.slots.last().expect("rows_max is above zero").key;
                self.place.clear();
                self.place.extend_from_slice(&self.bytes[from as usize..to as usize]);
                if !self.reverse {
                    // The next possible key.
                    self.place.push(0);
                }
            }
        }
        Ok(())
    }

    /// Step 3.
    fn judge(&mut self, view: View, worker: &Worker) -> Result<()> {
        let engine = &*worker.engine;
        let mut kept = 0;
        let mut met_dead = false;
        let mut known = Known::default();
        for index in 0..self.slots.len() {
            let header = self.slots[index].header;
            let keep = match self.mode {
                ReadMode::Snapshot if known.sees(engine, view, header) => !header.is_tombstone(),
                ReadMode::Snapshot => {
                    let is_seen = self.replace(index, view, worker)?;
                    self.unseen += i64::from(!header.is_tombstone()) - i64::from(is_seen);
                    is_seen
                }
                ReadMode::Latest | ReadMode::Lock(..) if !self.slots[index].held_by_other => !header.is_tombstone(),
                ReadMode::Latest | ReadMode::Lock(..) => {
                    self.unseen -= i64::from(header.is_tombstone());
                    if !self.replace(index, view, worker)? {
                        let (_, key_end) = self.slots[index].key;
                        self.slots[index].payload = (key_end, key_end);
                    }
                    true
                }
            };
            if keep {
                if kept < index {
                    self.slots.swap(kept, index);
                }
                kept += 1;
            } else if !met_dead && engine.is_dead(header) {
                met_dead = true;
                let (from, to) = self.slots[index].key;
                let key = [&self.prefix[..], &self.bytes[from as usize..to as usize]].concat();
                engine.purge.sweep(self.tree, &key);
            }
        }
        self.slots.truncate(kept);
        Ok(())
    }

    /// Replaces a copied version by an older one. `false`: there is no visible row.
    #[cold]
    fn replace(&mut self, index: usize, view: View, worker: &Worker) -> Result<bool> {
        let found = worker.engine.older(view, self.slots[index].header, &mut self.older)?;
        let Some(header) = found.filter(|h| !h.is_tombstone()) else { return Ok(false) };
        let at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(&self.older);
        self.slots[index].payload = (at, self.bytes.len() as u32);
        self.slots[index].header = header;
        Ok(true)
    }

    /// The number of rows in the newest versions of the scanned range minus the number of rows that the scan returned:
    /// rows inserted after its snapshot or not committed, minus deleted ones. Not for locking scans.
    pub fn unseen_rows(&self) -> i64 {
        self.unseen
    }

    /// The rows of the batch that `next_row` has yet to give: key and payload. Not of a scan `by_page`.
    pub fn rest(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        debug_assert!(!self.by_page);
        let range = |(from, to): (u32, u32)| &self.bytes[from as usize..to as usize];
        self.slots[self.next.min(self.slots.len())..].iter().map(move |slot| (range(slot.key), range(slot.payload)))
    }

    /// Drops the rows of the batch after the last returned one; the next `fill` continues there. For current reads that
    /// have waited for a row, because other transactions may have inserted rows after it meanwhile.
    pub fn forget_rest(&mut self) {
        let Some(last) = self.next.checked_sub(1).and_then(|last| self.slots.get(last)) else { return };
        let (from, to) = last.key;
        self.place.clear();
        self.place.extend_from_slice(&self.bytes[from as usize..to as usize]);
        if !self.reverse {
            // The next possible key.
            self.place.push(0);
        }
        self.done = false;
        self.slots.truncate(self.next);
        self.locked = None;
    }

    /// The next row of the batch; `None`: call `fill` again.
    #[inline]
    pub fn next_row(&mut self) -> Option<ScanRow<'_>> {
        let slot = self.slots.get(self.next)?;
        self.next += 1;
        let range = |(from, to): (u32, u32)| &self.bytes[from as usize..to as usize];
        let seen = matches!(self.mode, ReadMode::Lock(..)).then_some(Seen(slot.header.mark));
        Some(ScanRow {
            prefix: &self.prefix,
            key: range(slot.key),
            payload: range(slot.payload),
            held_by_other: slot.held_by_other,
            seen,
        })
    }
}

#[cfg(all(test, not(any(sim, miri))))]
mod tests {
    use super::*;

    #[test]
    fn a_fence_that_leads_back_is_an_error() {
        let check = |reverse: bool, place: &[u8], fence: &[u8], goes_on: bool| {
            let mut scan = Scan::new(TreeRef { id: 1, root: 1 }, &[], &[], reverse, ReadMode::Snapshot);
            scan.place = place.into();
            let outcome = scan.advance(&Stop::AtFence, fence);
            assert_eq!(outcome.is_ok(), goes_on, "{place:?} to {fence:?}");
            assert_eq!(scan.place, if goes_on { fence } else { place });
        };
        for (place, fence, forward, back) in
            [(&b""[..], &b"k"[..], true, true), (b"k", b"m", true, false), (b"k", b"c", false, true)]
        {
            check(false, place, fence, forward);
            check(true, place, fence, back);
        }
        check(false, b"k", b"k", false);
        check(true, b"k", b"k", false);
    }
}
