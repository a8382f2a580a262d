//! A cursor over one key range of one index, which returns whole rows.
//!
//! Rows come in index order (or reversed). A non-covering cursor over a secondary index fetches each clustered row. A
//! covering one rebuilds the row from the index key; columns outside of the key have an arbitrary value.
//!
//! With `ReadMode::Latest` an index entry may briefly disagree with its row, because another transaction committed
//! between the two reads. The cursor compares the entry with the row's own index key and skips a mismatch, so a row
//! comes at most once per entry. An UPDATE that changes columns of the scanned index must collect its rows first, or it
//! may meet them again.
//!
//! A current read that waits for a row drops its read-ahead: the holder of the row may have inserted rows after it,
//! which a read row by row would see. A locking read also releases the locks that it took ahead in a secondary index.
//!
//! Rows that a snapshot's entries lead to are read in groups (`group`).
//!
//! U1: after a stall, the same call continues at the same place: at most one entry has been taken from the batch and
//!     not been returned (`pending`).

mod group;

use crate::codec::Covering;
use crate::{EncodedRange, RowBuf, RowRead, Table};
use group::{GROUP_ROWS, Group};
use txn::{Interrupt, LockMode, ReadMode, Scan, Stall, Txn, WaitPolicy, Worker};
use types::row::condition::StoredCondition;
use types::schema::IndexKind;

const BATCH_ROWS: usize = 64;
/// Entries that a snapshot's scan takes at once when it is long.
const LONG_BATCH_ROWS: usize = 1024;
/// Entries whose rows are read one by one before others are read together.
const SINGLE_ROWS: u32 = 4;

/// A scan position. Keeps its buffers when opened again.
pub struct RowCursor {
    scan: Option<Scan>,
    index: usize,
    mode: ReadMode,
    /// With `ReadMode::Latest`: what other transactions may not hold an entry's row with, and what is done where one does.
    held: (LockMode, WaitPolicy),
    covering: Option<Covering>,
    /// Shows entries before their rows are read.
    shown: Option<Covering>,
    batch: usize,
    /// The entry that led to the present row of a secondary index.
    entry: Vec<u8>,
    /// Its clustered key.
    clustered: Vec<u8>,
    /// Is `clustered` filled in?
    clustered_known: bool,
    /// `entry` and the row's clustered key are taken, the row is not read yet (U1).
    pending: bool,
    /// The rows of this batch of entries are in memory, or on their way.
    fetched: bool,
    /// Rows given so far when the cursor counts a whole table.
    counted: Option<Counted>,
    /// How often the transaction had waited when the batch was read.
    waits: u32,
    /// Entries that have been taken one by one.
    taken: u32,
    group: Group,
}

impl Default for RowCursor {
    fn default() -> Self {
        Self {
            scan: None,
            index: 0,
            mode: ReadMode::Snapshot,
            held: (LockMode::Exclusive, WaitPolicy::Wait),
            covering: None,
            shown: None,
            batch: BATCH_ROWS,
            entry: Vec::new(),
            clustered: Vec::new(),
            clustered_known: false,
            pending: false,
            fetched: false,
            counted: None,
            waits: 0,
            taken: 0,
            group: Group::default(),
        }
    }
}

/// The rows that a full scan has met so far.
struct Counted {
    rows: u64,
    /// The estimate when the scan began.
    estimate: u64,
}

impl RowCursor {
    pub fn new() -> Self {
        Self::default()
    }

    /// Places the cursor before the first (with `reverse`, after the last) row of `range` in `index`. `covering` only where
    /// [`Table::covers`] said yes; it has no effect on the clustered index and but for `ReadMode::Snapshot`.
    pub fn open(&mut self, table: &Table, index: usize, range: &EncodedRange, reverse: bool, mode: ReadMode, covering: bool) {
        let tree = table.indexes[index].tree;
        match &mut self.scan {
            Some(scan) => scan.reset(tree, &range.low, &range.high, reverse, mode),
            None => self.scan = Some(Scan::new(tree, &range.low, &range.high, reverse, mode)),
        }
        if index == 0 && mode == ReadMode::Snapshot {
            self.scan.iter_mut().for_each(Scan::set_by_page);
        }
        self.index = index;
        self.mode = mode;
        self.held = (LockMode::Exclusive, WaitPolicy::Wait);
        self.pending = false;
        self.taken = 0;
        self.group.clear();
        self.batch = BATCH_ROWS;
        // A locking scan may leave rows out.
        let is_whole = index == 0 && range.low.is_empty() && range.high.is_empty() && !matches!(mode, ReadMode::Lock(..));
        self.counted = is_whole.then(|| Counted { rows: 0, estimate: table.estimated_rows() });
        if !covering || index == 0 || mode != ReadMode::Snapshot {
            self.covering = None;
        } else {
            match self.covering.as_mut().filter(|present| present.is_for(table, index)) {
                Some(present) => present.want_all(),
                None => self.covering = Some(Covering::new(table, index)),
            }
        }
    }

    /// The most rows to load at once from here on (1 for LIMIT 1 and point-like lookups; default 64). After `open`.
    pub fn set_batch(&mut self, rows_max: usize) {
        self.batch = rows_max.max(1);
    }

    /// With `ReadMode::Latest`: rows that a secondary index leads to are waited for while another transaction holds them in a mode that
    /// conflicts with `mode` (by default, in any mode), or left out, or an error, as `policy` says. After `open`.
    pub fn set_held(&mut self, mode: LockMode, policy: WaitPolicy) {
        self.held = (mode, policy);
    }

    /// Of a covering cursor: rows need only have these columns, `wanted[column]`; others have values of no meaning. After `open`, and
    /// until the next one.
    #[inline]
    pub fn set_wanted(&mut self, wanted: &[bool]) {
        if let Some(covering) = &mut self.covering {
            covering.set_wanted(wanted);
        }
    }

    /// The next row into `row`; `false` at the end. Restartable.
    ///
    /// With `Latest`, rows of the clustered index come without `seen`, and possibly `held_by_other`: lock or reread before judging.
    /// Rows found through a secondary index have been read current (waiting where held, or as `set_held` says) and have `seen`.
    /// With `Lock` all rows are current and locked, and have `seen`; of an index's entries also the gaps around them are locked.
    #[inline]
    pub fn next(&mut self, table: &Table, worker: &Worker, txn: &mut Txn, row: &mut RowBuf) -> txn::Result<bool> {
        if self.index == 0 {
            return self.next_clustered(table, worker, txn, row);
        }
        if self.covering.is_some() && txn.has_changed_unseen() {
            // The columns outside of the index must come from the row.
            self.covering = None;
        }
        if self.covering.is_some() {
            return self.next_covering(table, worker, txn, row);
        }
        self.next_by_entry(table, worker, txn, row)
    }

    /// The number of rows in the next leaf of a snapshot's range; `None` at the end. Restartable. Not to be mixed with `next`. Of a
    /// secondary index only where it is `covering`, and not where `Txn::has_changed_unseen`: entries do not tell of rows then.
    pub fn count(&mut self, table: &Table, worker: &Worker, txn: &mut Txn) -> txn::Result<Option<u64>> {
        if self.index > 0 {
            assert!(self.covering.is_some() && !txn.has_changed_unseen(), "the caller looked");
            txn.check_age(table.indexes[self.index].made_at)?;
        }
        let scan = self.scan.as_mut().expect("opened before count");
        let rows = scan.count(txn, worker)?;
        match (rows, &mut self.counted) {
            (Some(more), Some(counted)) => counted.rows += more,
            (None, _) => self.correct_estimate(table),
            (Some(_), None) => {}
        }
        Ok(rows)
    }

    /// A scan of the whole table has ended: the table's estimate of its rows is what it has met.
    fn correct_estimate(&mut self, table: &Table) {
        if let (Some(counted), Some(scan)) = (self.counted.take(), &self.scan) {
            let rows = counted.rows.saturating_add_signed(scan.unseen_rows());
            table.counters.correct_rows(rows, counted.estimate);
        }
    }

    /// Drops the read-ahead before a wait. Rows that a locking read has read stay.
    #[inline]
    fn look_at_waits(&mut self, txn: &Txn) {
        if self.waits != txn.waits() {
            self.waits = txn.waits();
            if self.mode == ReadMode::Latest {
                self.scan.as_mut().expect("opened before next").forget_rest();
            }
        }
    }

    fn next_clustered(&mut self, table: &Table, worker: &Worker, txn: &mut Txn, row: &mut RowBuf) -> txn::Result<bool> {
        self.look_at_waits(txn);
        let mut scan = self.scan.as_mut().expect("opened before next");
        loop {
            if let Some(found) = scan.next_row() {
                if !found.held_by_other {
                    // `RowBuf::row` relies on it; a held row may be empty, and is checked after it was read again.
                    table.stored_row(found.payload)?;
                }
                row.take(&found);
                if let Some(counted) = &mut self.counted {
                    counted.rows += 1;
                }
                return Ok(true);
            }
            if !self.fill_clustered(table, worker, txn)? {
                return Ok(false);
            }
            scan = self.scan.as_mut().expect("opened before next");
        }
    }

    /// Reads the next batch of the clustered index. A snapshot's scan that goes on beyond its first batch takes whole leaves.
    fn fill_clustered(&mut self, table: &Table, worker: &Worker, txn: &mut Txn) -> txn::Result<bool> {
        let more = self.scan.as_mut().expect("opened before next").fill(txn, worker, self.batch)?;
        if !more {
            self.correct_estimate(table);
        } else if self.mode == ReadMode::Snapshot {
            self.batch = usize::MAX;
        }
        Ok(more)
    }

    /// As `next`, of a clustered snapshot, for rows that meet all `tests`; others are passed over, and `passed` is their number. `None`: no
    /// row is there yet, but some have been passed over.
    pub fn next_that_meets(
        &mut self,
        table: &Table,
        worker: &Worker,
        txn: &mut Txn,
        tests: &[StoredCondition],
        passed: &mut u64,
        row: &mut RowBuf,
    ) -> txn::Result<Option<bool>> {
        assert!(self.index == 0 && self.mode == ReadMode::Snapshot);
        let scan = self.scan.as_mut().expect("opened before next");
        while let Some(found) = scan.next_row() {
            if let Some(counted) = &mut self.counted {
                counted.rows += 1;
            }
            let stored = table.stored_row(found.payload)?;
            if tests.iter().all(|test| stored.meets(test)) {
                row.take(&found);
                return Ok(Some(true));
            }
            *passed += 1;
        }
        if *passed > 0 {
            return Ok(None);
        }
        Ok(if self.fill_clustered(table, worker, txn)? { None } else { Some(false) })
    }

    /// Counts the rows of the next batch that meet all `tests`, and those that were read. Else as [`Self::count`], of the clustered index.
    pub fn count_that_meet(
        &mut self,
        table: &Table,
        worker: &Worker,
        txn: &mut Txn,
        tests: &[StoredCondition],
    ) -> txn::Result<Option<(u64, u64)>> {
        assert!(self.index == 0 && self.mode == ReadMode::Snapshot);
        if !self.fill_clustered(table, worker, txn)? {
            return Ok(None);
        }
        let scan = self.scan.as_mut().expect("opened before count");
        let (mut rows, mut read) = (0, 0);
        while let Some(found) = scan.next_row() {
            let stored = table.stored_row(found.payload)?;
            rows += u64::from(tests.iter().all(|test| stored.meets(test)));
            read += 1;
        }
        if let Some(counted) = &mut self.counted {
            counted.rows += read;
        }
        Ok(Some((rows, read)))
    }

    fn next_covering(&mut self, table: &Table, worker: &Worker, txn: &mut Txn, row: &mut RowBuf) -> txn::Result<bool> {
        let scan = self.scan.as_mut().expect("opened before next");
        let covering = self.covering.as_ref().expect("the caller looked");
        loop {
            if let Some(found) = scan.next_row() {
                row.forget_version();
                covering.rebuild(table, self.index, found.key, found.payload, &mut row.key, &mut row.payload)?;
                return Ok(true);
            }
            txn.check_age(table.indexes[self.index].made_at)?;
            if !scan.fill(txn, worker, self.batch)? {
                return Ok(false);
            }
        }
    }

    fn next_by_entry(&mut self, table: &Table, worker: &Worker, txn: &mut Txn, row: &mut RowBuf) -> txn::Result<bool> {
        loop {
            if (self.group.has_rest() || self.reads_groups(txn)) && self.next_of_group(table, worker, txn, row)? {
                return Ok(true);
            }
            if !self.pending && !self.take_entry(table, worker, txn)? {
                return Ok(false);
            }
            let is_row = self.read_entry_or_stall(table, worker, txn, row)?;
            self.pending = false;
            if is_row {
                return Ok(true);
            }
        }
    }

    /// May rows of entries be read together now? The first few are read one by one, so a statement that wants no more reads no more.
    #[inline]
    fn reads_groups(&self, txn: &Txn) -> bool {
        self.mode == ReadMode::Snapshot
            && self.taken >= SINGLE_ROWS
            && self.batch >= GROUP_ROWS
            && !self.pending
            && !txn.has_changed_unseen()
    }

    /// The next row, of a group; `false`: the batch of entries is used up.
    fn next_of_group(&mut self, table: &Table, worker: &Worker, txn: &mut Txn, row: &mut RowBuf) -> txn::Result<bool> {
        let clustered = table.indexes[0].tree;
        loop {
            if let Err(interrupt) = self.group.read(worker, txn, clustered) {
                if !self.fetched {
                    self.group.fetch_rest(worker, clustered);
                    self.fetch_rest(table, worker);
                }
                return Err(interrupt);
            }
            if let Some((key, payload)) = self.group.next_row() {
                // `RowBuf::row` relies on it.
                table.stored_row(payload)?;
                row.forget_version();
                row.key.clear();
                row.key.extend_from_slice(key);
                row.payload.clear();
                row.payload.extend_from_slice(payload);
                return Ok(true);
            }
            if !self.reads_groups(txn) || !self.begin_group(table)? {
                return Ok(false);
            }
        }
    }

    /// Takes the next entries out of the batch; `false`: it has none.
    fn begin_group(&mut self, table: &Table) -> txn::Result<bool> {
        self.group.clear();
        let codec = &table.indexes[self.index].codec;
        let scan = self.scan.as_mut().expect("opened before next");
        while !self.group.is_full()
            && let Some(found) = scan.next_row()
        {
            self.group.push(codec.clustered_key(found.key, found.payload)?);
        }
        Ok(!self.group.is_empty())
    }

    /// A row has to be waited for: has the rows of the entries that follow in the batch read at the same time, once for each batch.
    #[cold]
    fn fetch_rest(&mut self, table: &Table, worker: &Worker) {
        self.fetched = true;
        let codec = &table.indexes[self.index].codec;
        let scan = self.scan.as_ref().expect("opened before next");
        for (key, payload) in scan.rest() {
            // An entry that another transaction holds may have no payload: it is read when its turn comes.
            if let Ok(clustered) = codec.clustered_key(key, payload) {
                worker.fetch_leaf(table.indexes[0].tree, clustered);
            }
        }
    }

    /// Takes the next entry out of the batch.
    fn take_entry(&mut self, table: &Table, worker: &Worker, txn: &mut Txn) -> txn::Result<bool> {
        self.look_at_waits(txn);
        let scan = self.scan.as_mut().expect("opened before next");
        loop {
            if let Some(found) = scan.next_row() {
                self.entry.clear();
                self.entry.extend_from_slice(found.key);
                self.clustered.clear();
                let codec = &table.indexes[self.index].codec;
                // A held entry of a unique index may have no payload: then the entry itself is read first.
                if codec.kind == IndexKind::Unique && found.held_by_other {
                    self.clustered_known = false;
                } else {
                    self.clustered.extend_from_slice(codec.clustered_key(found.key, found.payload)?);
                    self.clustered_known = true;
                }
                self.pending = true;
                self.taken = self.taken.saturating_add(1);
                return Ok(true);
            }
            self.fetched = false;
            if self.mode == ReadMode::Snapshot {
                txn.check_age(table.indexes[self.index].made_at)?;
            }
            if !scan.fill(txn, worker, self.batch)? {
                return Ok(false);
            }
            if self.mode == ReadMode::Snapshot {
                // It goes on: fewer entries are read one by one.
                self.batch = (self.batch * 2).min(LONG_BATCH_ROWS.max(self.batch));
            }
        }
    }

    /// Lets [`Self::next_entry`] show columns of the entries that can be decoded: `wanted[column]`. After `open` of a secondary index.
    pub fn show_entries(&mut self, table: &Table, wanted: &[bool]) {
        let present = self.shown.take().filter(|present| present.is_for(table, self.index));
        let shown = present.unwrap_or_else(|| Covering::new(table, self.index));
        self.shown.insert(shown).set_wanted(wanted);
    }

    /// The next entry, as a row whose other columns have values of no meaning; `false` at the end. Restartable. Only of a secondary
    /// index, and of a snapshot not where `Txn::has_changed_unseen`: entries do not tell of rows then. Under locks the entry is locked,
    /// and the row is not.
    pub fn next_entry(&mut self, table: &Table, worker: &Worker, txn: &mut Txn, row: &mut RowBuf) -> txn::Result<bool> {
        if !self.next_known(table, worker, txn)? {
            return Ok(false);
        }
        row.forget_version();
        let shown = self.shown.as_ref().expect("show_entries was called");
        shown.rebuild(table, self.index, &self.entry, &self.clustered, &mut row.key, &mut row.payload)?;
        Ok(true)
    }

    /// Reads the row of the entry that was shown; `false`: it is not visible. Restartable.
    pub fn fetch_shown(&mut self, table: &Table, worker: &Worker, txn: &mut Txn, row: &mut RowBuf) -> txn::Result<bool> {
        self.read_entry_or_stall(table, worker, txn, row)
    }

    /// [`Self::read_entry_row`], with the handling of a stall.
    fn read_entry_or_stall(&mut self, table: &Table, worker: &Worker, txn: &mut Txn, row: &mut RowBuf) -> txn::Result<bool> {
        let read = self.read_entry_row(table, worker, txn, row);
        match &read {
            Ok(_) => {}
            Err(Interrupt::Stall(Stall::Lock(_))) => self.scan.as_mut().expect("opened before next").unlock_rest(txn, worker),
            Err(_) if !self.fetched => self.fetch_rest(table, worker),
            Err(_) => {}
        }
        read
    }

    /// The clustered key of the next entry; of the clustered index, of the next row. `None` at the end. Restartable. The row is not read:
    /// what it has become meanwhile, and whether another transaction holds it, is for the caller to find out.
    pub fn next_key(&mut self, table: &Table, worker: &Worker, txn: &mut Txn) -> txn::Result<Option<&[u8]>> {
        let there = match self.index {
            0 => self.next_clustered_key(worker, txn)?,
            _ => self.next_known(table, worker, txn)?,
        };
        Ok(there.then_some(&self.clustered))
    }

    fn next_clustered_key(&mut self, worker: &Worker, txn: &mut Txn) -> txn::Result<bool> {
        let scan = self.scan.as_mut().expect("opened before next");
        loop {
            if let Some(found) = scan.next_row() {
                self.clustered.clear();
                self.clustered.extend_from_slice(found.prefix);
                self.clustered.extend_from_slice(found.key);
                return Ok(true);
            }
            if !scan.fill(txn, worker, self.batch)? {
                return Ok(false);
            }
        }
    }

    /// Takes the next entry whose clustered key is known, or can be found out.
    fn next_known(&mut self, table: &Table, worker: &Worker, txn: &mut Txn) -> txn::Result<bool> {
        loop {
            if !self.pending && !self.take_entry(table, worker, txn)? {
                return Ok(false);
            }
            let known = self.know_clustered(table, worker, txn)?;
            self.pending = false;
            if known {
                return Ok(true);
            }
        }
    }

    /// Reads the clustered key of the entry where it came without. `false`: the entry is gone.
    #[inline]
    fn know_clustered(&mut self, table: &Table, worker: &Worker, txn: &mut Txn) -> txn::Result<bool> {
        if !self.clustered_known {
            let (tree, (mode, policy)) = (table.indexes[self.index].tree, self.held);
            let found = txn.read_current(worker, tree, &self.entry, mode, policy, &mut self.clustered)?;
            self.clustered_known = found.is_some();
        }
        Ok(self.clustered_known)
    }

    /// Reads the row of the pending entry. `false`: not visible, or the entry is not the row's any more.
    fn read_entry_row(&mut self, table: &Table, worker: &Worker, txn: &mut Txn, row: &mut RowBuf) -> txn::Result<bool> {
        if !self.know_clustered(table, worker, txn)? {
            return Ok(false);
        }
        row.key.clear();
        row.key.extend_from_slice(&self.clustered);
        let how = match self.mode {
            ReadMode::Snapshot => RowRead::Snapshot,
            ReadMode::Latest => RowRead::Current(self.held.0, self.held.1),
            ReadMode::Lock(mode, policy) => RowRead::Lock(mode, policy),
        };
        if !table.reread(worker, txn, how, row)? {
            return Ok(false);
        }
        if self.mode == ReadMode::Snapshot && !txn.has_changed_unseen() {
            return Ok(true);
        }
        Ok(table.index_entry_of(worker, txn, self.index, how, row)? && row.entry == self.entry)
    }

    /// Locks the row that `next` returned last and reads its current version. `false`: it is gone, it no longer has the
    /// entry that led to it, or it is locked under SKIP LOCKED. After `true` the caller evaluates the rest of the
    /// predicate again.
    pub fn lock_current(
        &mut self,
        table: &Table,
        worker: &Worker,
        txn: &mut Txn,
        mode: LockMode,
        policy: WaitPolicy,
        row: &mut RowBuf,
    ) -> txn::Result<bool> {
        if !table.lock_current(worker, txn, mode, policy, row)? {
            return Ok(false);
        }
        if self.index == 0 || self.covering.is_some() {
            return Ok(true);
        }
        Ok(table.index_entry_of(worker, txn, self.index, RowRead::Lock(mode, policy), row)? && row.entry == self.entry)
    }
}
