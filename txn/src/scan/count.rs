//! Counts the rows of a scan's range, a leaf at a time, without a copy of any.
//!
//! 1. The headers of the leaf's records in range are gathered, and the leaf is validated once. A record that is frozen and no tombstone is
//!    counted on the spot.
//! 2. The place moves to the leaf's fence.
//! 3. The other headers are judged as `judge` judges them in a batch (J1 of [`super`]). Of a header that is not visible the older versions are
//!    asked, one record at a time.
//!
//! N1: a mark is looked up only after the leaf was validated: what a torn read takes for a mark may be anything.
//! N2: for snapshots only. Current reads must find out who holds each row.

use super::{Known, ReadMode, Scan, Stop};
use crate::read::View;
use crate::{Result, Txn, Worker};
use storage::page::{FROZEN, RecordHeader};

/// The headers of one leaf that were not counted on the spot.
#[derive(Default)]
pub(super) struct Headers {
    /// Rows that everybody sees.
    frozen: u64,
    live: Vec<RecordHeader>,
    /// Tombstones, with their keys in `Scan::bytes`.
    gone: Vec<(RecordHeader, (u32, u32))>,
}

impl Scan {
    /// The number of visible rows in the next leaf of the range; `None`: the range is exhausted. Not to be mixed with `fill`.
    ///
    /// # Errors
    /// A stall while a page is read; damage.
    pub fn count(&mut self, txn: &mut Txn, worker: &Worker) -> Result<Option<u64>> {
        assert_eq!(self.mode, ReadMode::Snapshot, "N2");
        let view = txn.view(worker);
        if self.done {
            return Ok(None);
        }
        let mut headers = std::mem::take(&mut self.headers);
        let gathered = self.gather(worker, &mut headers);
        let counted = gathered.and_then(|()| self.judge_headers(view, worker, &headers));
        self.headers = headers;
        counted.map(Some)
    }

    /// Steps 1 and 2.
    fn gather(&mut self, worker: &Worker, headers: &mut Headers) -> Result<()> {
        loop {
            let leaf = match self.read_leaf(worker) {
                Ok(leaf) => leaf,
                Err(stall) => {
                    self.ahead.missed(worker, self.tree, &self.place, self.reverse);
                    return Err(stall.into());
                }
            };
            let page = leaf.page;
            let (begin, end) = self.bounds(page);
            self.bytes.clear();
            headers.frozen = 0;
            headers.live.clear();
            headers.gone.clear();
            let mut whole = true;
            for slot in begin..end {
                let record = page.record(slot);
                if record.header.is_tombstone() {
                    let from = self.bytes.len() as u32;
                    whole &= page.key(&record, &mut self.bytes);
                    headers.gone.push((record.header, (from, self.bytes.len() as u32)));
                } else if record.header.flags & FROZEN != 0 {
                    headers.frozen += 1;
                } else {
                    headers.live.push(record.header);
                }
            }
            let mut fence = std::mem::take(&mut self.older);
            fence.clear();
            let stop = self.end_of_leaf(page, &mut fence);
            if let Some(stop) = stop.filter(|_| whole && leaf.valid()) {
                let moved = self.advance(&stop, &fence);
                self.older = fence;
                moved?;
                if matches!(stop, Stop::AtFence) {
                    self.ahead.passed(worker, self.tree, &self.place, self.reverse, page.id());
                }
                return Ok(());
            }
            self.older = fence;
        }
    }

    /// Step 3.
    fn judge_headers(&mut self, view: View, worker: &Worker, headers: &Headers) -> Result<u64> {
        let engine = &*worker.engine;
        let mut rows = headers.frozen;
        let mut known = Known::default();
        for header in &headers.live {
            if known.sees(engine, view, *header) {
                rows += 1;
            } else {
                rows += u64::from(self.has_older(view, worker, *header)?);
            }
        }
        let mut met_dead = false;
        for (header, (from, to)) in &headers.gone {
            if !engine.sees(view, *header) {
                rows += u64::from(self.has_older(view, worker, *header)?);
            } else if !met_dead && engine.is_dead(*header) {
                met_dead = true;
                engine.purge.sweep(self.tree, &self.bytes[*from as usize..*to as usize]);
            }
        }
        Ok(rows)
    }

    /// Has the record, whose newest version is not visible, an older one that is a visible row?
    #[cold]
    fn has_older(&mut self, view: View, worker: &Worker, header: RecordHeader) -> Result<bool> {
        let found = worker.engine.older(view, header, &mut self.older)?;
        let is_row = found.is_some_and(|older| !older.is_tombstone());
        self.unseen += i64::from(!header.is_tombstone()) - i64::from(is_row);
        Ok(is_row)
    }
}
