//! Row locks beyond the writer's mark: explicit locks, and queues of waiters.
//!
//! The mark of a writer in a record is its exclusive lock. A writer without conflicts touches this module only for one
//! load of a shard's counter. The table here holds everything that a mark cannot express: locks of locking reads, and
//! waiters. Rows are named by tree and key, so page splits move nothing. Locks on key ranges, which also block inserts,
//! are in `ranges`; a transaction that conflicts with one waits in the queue of its own key.
//!
//! 1. On a conflict (under the leaf's latch) a transaction joins the row's queue, and sets a bit in the status word of
//!    each blocker, which asks it to wake waiters at its end.
//! 2. A transaction that ends, and was asked or holds explicit locks, removes itself and wakes the head of each queue.
//! 3. The head repeats its operation. It leaves the queue when it gets the row, and is then asked by those behind it in
//!    turn. New requests queue behind (first come, first served).
//! 4. When a wait begins, a deadlock is searched for, unless nobody can wait for the waiter. The search is depth first
//!    from the new waiter along edges (waiter -> holder, conflicting locks and ranges).
//!    - A waiter also waits for those before it in the queue. These wait for the same row, so their blockers are added
//!      to its own blockers in the same look at the row, and they are no steps of their own.
//!    - The search looks at one row after the other while others move on, so a found cycle is checked once more: it is
//!      a deadlock only if each edge still exists and no member has stopped waiting since the first look. (A waiter
//!      changes nothing, so then all edges existed at one time.)
//!    - The victim is the transaction of the cycle with the fewest changes. Two transactions that begin to wait at once
//!      may both find the cycle. The victim is chosen under the latch of the waits while all members still wait, so one
//!      chooses and the other finds it done.
//!
//! K1: entries of a row are added and judged under its leaf's latch.
//! K2: a shard's counter is the number of its rows; a row is in the map exactly while it has a lock or a waiter.
//! K3: a transaction that leaves the front of a queue wakes the next.
//! Latches: page latch -> shard -> slot of the ranges -> statuses; the map of waits is never held together with a
//! shard.

mod report;

pub use report::{LockLine, LockOwner, LockReport, Locked};

use crate::ranges::{Owners, RangeTable};
use crate::status::StatusTable;
use crate::{LockMode, Timers};
use foldhash::fast::FixedState;
use os::time::Instant;
use smallvec::SmallVec;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::Write as _;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use storage::TreeRef;
use sync::CachePadded;
use sync::Mutex;
use sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use sync::waits::{self, Cause, Holder, Kind, Object};

const SHARDS: usize = 1024;

/// Names a row, or a key where a row may be inserted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LockKey {
    tree: u32,
    key: Box<[u8]>,
}

impl LockKey {
    pub fn is(&self, tree: TreeRef, key: &[u8]) -> bool {
        self.tree == tree.id && *self.key == *key
    }
}

const WAITING: u8 = 0;
const WOKEN: u8 = 1;
const VICTIM: u8 = 2;
const TIMED_OUT: u8 = 3;

/// One wait: shared by the waiter's stall, the queue, the deadlock search and the timer.
#[derive(Debug)]
pub struct WaitCell {
    state: AtomicU8,
    waker: Mutex<Option<Waker>>,
    pub txn: u64,
    since: Instant,
    cause: Cause,
}

/// Why a transaction waits for a row. `holder`: the one that has the row, if it is no range that is in the way.
fn cause_of(statuses: &StatusTable, tree: u32, holder: Option<u64>, range: Option<u64>) -> Cause {
    let kind = if holder.is_none() && range.is_some() { Kind::GapLock } else { Kind::RowLock };
    let session = holder.or(range).map_or(0, |holder| statuses.session(holder));
    let held_by = if session == 0 { Holder::Unknown } else { Holder::Session(session) };
    Cause::of(kind).with(Object::Tree { tree, level: 0 }).held_by(held_by)
}

impl WaitCell {
    /// Ends the wait so; not if it has ended already.
    fn finish(&self, state: u8) -> bool {
        let ended = self.state.compare_exchange(WAITING, state, Ordering::AcqRel, Ordering::Acquire).is_ok();
        if ended && let Some(waker) = self.waker.lock().take() {
            waker.wake();
        }
        ended
    }

    fn waits(&self) -> bool {
        self.state.load(Ordering::Acquire) == WAITING
    }

    pub fn time_out(&self) {
        self.finish(TIMED_OUT);
    }

    pub fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut waker = self.waker.lock();
        if self.state.load(Ordering::Acquire) != WAITING {
            return Poll::Ready(());
        }
        *waker = Some(cx.waker().clone());
        waits::pending(self.cause);
        Poll::Pending
    }
}

/// How a wait ended, as far as the waiter must know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitEnd {
    /// Try again.
    Woken,
    Victim,
    TimedOut,
}

/// The kind of access that an operation requests on a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    Row(LockMode),
    /// Inserting a row at a free key: ranges of any mode conflict.
    Insert,
}

impl Want {
    /// The lock mode that it represents for others that request the row.
    fn mode(self) -> LockMode {
        match self {
            Want::Row(mode) => mode,
            Want::Insert => LockMode::Exclusive,
        }
    }
}

struct Waiter {
    cell: Arc<WaitCell>,
    want: Want,
}

impl Waiter {
    fn mode(&self) -> LockMode {
        self.want.mode()
    }
}

#[derive(Default)]
struct Row {
    grants: SmallVec<[(u64, LockMode); 2]>,
    queue: VecDeque<Waiter>,
    /// The transaction whose mark was in the record when the last waiter joined (0: none).
    holder: u64,
}

impl Row {
    fn conflicts(&self, txn: u64, mode: LockMode) -> impl Iterator<Item = u64> {
        self.grants
            .iter()
            .filter(move |(other, granted)| *other != txn && (mode == LockMode::Exclusive || *granted == LockMode::Exclusive))
            .map(|(other, _)| *other)
    }

    fn position(&self, txn: u64) -> Option<usize> {
        self.queue.iter().position(|w| w.cell.txn == txn)
    }

    fn wake_front(&self) {
        for (index, waiter) in self.queue.iter().enumerate() {
            if index > 0 && (waiter.mode() == LockMode::Exclusive || self.queue[0].mode() == LockMode::Exclusive) {
                break;
            }
            waiter.cell.finish(WOKEN);
        }
    }

    fn is_idle(&self) -> bool {
        self.grants.is_empty() && self.queue.is_empty()
    }
}

struct Shard {
    rows: AtomicU32,
    map: Mutex<HashMap<LockKey, Row, FixedState>>,
}

struct Waiting {
    key: LockKey,
    cell: Arc<WaitCell>,
    changes: u64,
}

pub struct LockTable {
    shards: Box<[CachePadded<Shard>]>,
    pub ranges: RangeTable,
    hasher: FixedState,
    /// The waiting transactions.
    waiting: Mutex<HashMap<u64, Waiting>>,
    /// For each transaction, the rows whose queues it must wake at its end.
    asked: Box<[Mutex<AskedRows>]>,
    pub waits: AtomicU64,
    pub wait_us: AtomicU64,
    pub wait_us_max: AtomicU64,
    pub deadlocks: AtomicU64,
    last_deadlock: Mutex<Option<String>>,
}

type Blockers = SmallVec<[u64; 8]>;

/// Transaction -> rows whose queues it must wake.
type AskedRows = HashMap<u64, Vec<LockKey>>;

/// The result of requesting a row.
pub enum Claim {
    Free,
    Conflict,
}

impl LockTable {
    pub fn new() -> Self {
        // Of the standard library's seed: no client knows it, and the simulator repeats it.
        let hasher = FixedState::with_seed(RandomState::new().hash_one(()));
        let shard = || CachePadded::new(Shard { rows: AtomicU32::new(0), map: Mutex::new(HashMap::with_hasher(hasher.clone())) });
        Self {
            shards: (0..SHARDS).map(|_| shard()).collect(),
            ranges: RangeTable::new(),
            hasher,
            waiting: Mutex::default(),
            asked: (0..64).map(|_| Mutex::default()).collect(),
            waits: AtomicU64::new(0),
            wait_us: AtomicU64::new(0),
            wait_us_max: AtomicU64::new(0),
            deadlocks: AtomicU64::new(0),
            last_deadlock: Mutex::new(None),
        }
    }

    fn shard(&self, tree: u32, key: &[u8]) -> &Shard {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u32(tree);
        hasher.write(key);
        &self.shards[hasher.finish() as usize % SHARDS]
    }

    fn shard_of(&self, key: &LockKey) -> &Shard {
        self.shard(key.tree, &key.key)
    }

    fn asked_of(&self, txn: u64) -> &Mutex<AskedRows> {
        &self.asked[txn as usize % self.asked.len()]
    }

    /// The text of the latest deadlock, for SHOW ENGINE INNODB STATUS.
    pub fn last_deadlock(&self) -> Option<String> {
        self.last_deadlock.lock().clone()
    }

    /// May `txn` take the row, whose record has no mark of another open transaction? If it `takes` the row it leaves
    /// the queue. Under the leaf's latch (K1).
    #[inline]
    pub fn claim(&self, statuses: &StatusTable, txn: u64, tree: TreeRef, key: &[u8], want: Want, takes: bool) -> Claim {
        if !self.ranges.blockers(statuses, txn, tree.id, key, want).is_empty() {
            return Claim::Conflict;
        }
        // A data-independent shortcut: most trees' rows have no entries at all.
        let shard = self.shard(tree.id, key);
        if shard.rows.load(Ordering::SeqCst) == 0 {
            Claim::Free
        } else {
            self.claim_slow(shard, statuses, txn, tree, key, want, takes)
        }
    }

    #[cold]
    #[allow(clippy::too_many_arguments, reason = "the parts of one claim")]
    fn claim_slow(
        &self,
        shard: &Shard,
        statuses: &StatusTable,
        txn: u64,
        tree: TreeRef,
        key: &[u8],
        want: Want,
        takes: bool,
    ) -> Claim {
        let mode = want.mode();
        let name = LockKey { tree: tree.id, key: key.into() };
        let mut map = shard.map.lock();
        let Some(row) = map.get_mut(&name) else { return Claim::Free };
        if row.conflicts(txn, mode).next().is_some() {
            return Claim::Conflict;
        }
        let holds = row.grants.iter().any(|(other, _)| *other == txn) || self.ranges.holds(txn, tree.id, key, LockMode::Share);
        match row.position(txn) {
            Some(0) => {}
            // A shared waiter may go with the shared ones before it.
            Some(position) if mode == LockMode::Share && row.queue.iter().take(position).all(|w| w.mode() == LockMode::Share) => {
            }
            Some(_) => return Claim::Conflict,
            None if row.queue.is_empty() || holds => {}
            None => return Claim::Conflict,
        }
        if takes {
            if let Some(position) = row.position(txn) {
                row.queue.remove(position);
            }
            match mode {
                LockMode::Exclusive => row.holder = txn,
                // Shared waiters that came after this one was woken go with it.
                LockMode::Share if row.queue.front().is_some_and(|w| w.mode() == LockMode::Share) => row.wake_front(),
                LockMode::Share => {}
            }
            self.ask_for_rest(statuses, row, txn, &name);
            if row.is_idle() {
                map.remove(&name);
                shard.rows.fetch_sub(1, Ordering::SeqCst);
            }
        }
        Claim::Free
    }

    /// The remaining waiters of the queue wait for `txn` now.
    fn ask_for_rest(&self, statuses: &StatusTable, row: &Row, txn: u64, name: &LockKey) {
        if !row.queue.is_empty() {
            self.ask(statuses, txn, name);
        }
    }

    /// Asks `blocker` to wake the row's queue at its end. `false`: it has ended.
    fn ask(&self, statuses: &StatusTable, blocker: u64, name: &LockKey) -> bool {
        let mut asked = self.asked_of(blocker).lock();
        if !statuses.set_waited(blocker) {
            return false;
        }
        let rows = asked.entry(blocker).or_default();
        if !rows.contains(name) {
            rows.push(name.clone());
        }
        true
    }

    /// Grants an explicit lock; the caller has `claim`ed the row. Under the leaf's latch (K1). The name of the row when this is the
    /// transaction's first lock on it, to be `release`d at its end.
    pub fn grant(&self, txn: u64, tree: TreeRef, key: &[u8], mode: LockMode) -> Option<LockKey> {
        if self.ranges.holds(txn, tree.id, key, mode) {
            return None;
        }
        let name = LockKey { tree: tree.id, key: key.into() };
        let shard = self.shard(tree.id, key);
        let mut map = shard.map.lock();
        let row = map.entry(name.clone()).or_insert_with(|| {
            shard.rows.fetch_add(1, Ordering::SeqCst);
            Row::default()
        });
        match row.grants.iter_mut().find(|(other, _)| *other == txn) {
            Some(grant) => {
                if mode == LockMode::Exclusive {
                    grant.1 = mode;
                }
                None
            }
            None => {
                row.grants.push((txn, mode));
                Some(name)
            }
        }
    }

    /// Joins the row's queue. `holder`: the open transaction whose mark is in the record, if any. Under the leaf's
    /// latch (K1).
    pub fn enqueue(
        &self,
        statuses: &StatusTable,
        txn: u64,
        tree: TreeRef,
        key: &[u8],
        want: Want,
        holder: Option<u64>,
    ) -> (LockKey, Arc<WaitCell>) {
        self.waits.fetch_add(1, Ordering::Relaxed);
        let name = LockKey { tree: tree.id, key: key.into() };
        let shard = self.shard(tree.id, key);
        let mut map = shard.map.lock();
        let row = map.entry(name.clone()).or_insert_with(|| {
            shard.rows.fetch_add(1, Ordering::SeqCst);
            Row::default()
        });
        let mut others: Owners = row.conflicts(txn, want.mode()).collect();
        let held_by = holder.or(others.first().copied());
        others.extend(self.ranges.blockers(statuses, txn, tree.id, key, want));
        let cause = cause_of(statuses, tree.id, held_by, others.first().copied());
        let since = Instant::now();
        let cell = Arc::new(WaitCell { state: AtomicU8::new(WAITING), waker: Mutex::new(None), txn, since, cause });
        let waiter = Waiter { cell: cell.clone(), want };
        match row.position(txn) {
            // Woken, and found the row taken again: keeps its place.
            Some(position) => row.queue[position] = waiter,
            None => row.queue.push_back(waiter),
        }
        let mut blocked = false;
        if let Some(holder) = holder {
            row.holder = holder;
            blocked |= self.ask(statuses, holder, &name);
        }
        for other in others {
            blocked |= self.ask(statuses, other, &name);
        }
        // If a waiter is before it in the queue, that one is asked in its turn. If there is none, everything changed
        // meanwhile.
        if !blocked && row.position(txn) == Some(0) {
            cell.finish(WOKEN);
        }
        (name, cell)
    }

    /// Starts the timer and searches for a deadlock. Called after `enqueue` without a latch. `weight`: the number of
    /// the waiter's changes; `None` if nobody can wait for it, because it holds nothing and is at the end of its queue.
    /// `Err`: the waiter itself is the victim.
    pub fn begin_wait(
        &self,
        statuses: &StatusTable,
        timers: &Timers,
        key: &LockKey,
        cell: &Arc<WaitCell>,
        weight: Option<u64>,
        deadline: Instant,
    ) -> Result<(), ()> {
        let waiting = Waiting { key: key.clone(), cell: cell.clone(), changes: weight.unwrap_or(0) };
        self.waiting.lock().insert(cell.txn, waiting);
        // Again after each victim: the new wait may have closed several cycles.
        while weight.is_some()
            && let Some(cycle) = self.find_cycle(statuses, cell.txn)
        {
            #[cfg(test)]
            crate::interleave::here();
            let Some(victim) = self.condemn(&cycle) else { continue };
            self.deadlocks.fetch_add(1, Ordering::Relaxed);
            *self.last_deadlock.lock() = Some(self.describe(&cycle, victim));
            if victim == cell.txn {
                return Err(());
            }
        }
        timers.add(deadline, cell);
        Ok(())
    }

    /// Ends the wait of the cycle's victim, and returns the victim; `None` if a member has stopped waiting.
    fn condemn(&self, cycle: &[Arc<WaitCell>]) -> Option<u64> {
        let waiting = self.waiting.lock();
        let waits = |cell: &Arc<WaitCell>| waiting.get(&cell.txn).filter(|w| Arc::ptr_eq(&w.cell, cell) && cell.waits());
        let waits: Vec<&Waiting> = cycle.iter().map(waits).collect::<Option<_>>()?;
        // Of equals the first, which is the one that came last.
        let victim = waits.into_iter().min_by_key(|w| w.changes)?;
        victim.cell.finish(VICTIM).then_some(victim.cell.txn)
    }

    /// The report of a deadlock: the waits of the cycle, and the victim.
    #[cold]
    fn describe(&self, cycle: &[Arc<WaitCell>], victim: u64) -> String {
        let mut text = String::new();
        let waiting = self.waiting.lock();
        for (number, WaitCell { txn, .. }) in cycle.iter().map(|cell| &**cell).enumerate() {
            let Some(Waiting { key, changes, .. }) = waiting.get(txn) else { continue };
            // Writing to a String cannot fail.
            let _ = write!(text, "*** ({}) {}, {changes} changes\nwaits for tree {}, key ", number + 1, name_of(*txn), key.tree);
            for byte in &key.key {
                let _ = write!(text, "{byte:02x}");
            }
            text.push('\n');
        }
        let number = cycle.iter().position(|cell| cell.txn == victim).map_or(0, |at| at + 1);
        text + &format!("*** WE ROLL BACK TRANSACTION ({number})")
    }

    /// The wait is over: how? Forgets it as a wait, but keeps the place in the queue.
    pub fn end_wait(&self, cell: &WaitCell) -> WaitEnd {
        if self.waiting.lock().remove(&cell.txn).is_some() {
            // Relaxed: figures for people.
            let waited = cell.since.elapsed().as_micros() as u64;
            self.wait_us.fetch_add(waited, Ordering::Relaxed);
            self.wait_us_max.fetch_max(waited, Ordering::Relaxed);
        }
        match cell.state.load(Ordering::Acquire) {
            VICTIM => WaitEnd::Victim,
            TIMED_OUT => WaitEnd::TimedOut,
            _ => WaitEnd::Woken,
        }
    }

    /// Leaves the queue without having got the row.
    pub fn leave(&self, key: &LockKey, txn: u64) {
        let shard = self.shard_of(key);
        let mut map = shard.map.lock();
        let Some(row) = map.get_mut(key) else { return };
        if let Some(position) = row.position(txn) {
            row.queue.remove(position);
            if position == 0 {
                row.wake_front();
            }
        }
        if row.is_idle() {
            map.remove(key);
            shard.rows.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Removes part of a range (`RangeTable::take_back`), and wakes the waiters that conflicted with it there.
    pub fn take_back_range(&self, txn: u64, tree: u32, mode: LockMode, from: &[u8], to: &[u8]) {
        self.ranges.take_back(txn, tree, mode, from, to);
        let is_inside = |name: &LockKey| name.tree == tree && *name.key >= *from && (to.is_empty() || *name.key < *to);
        let asked: Vec<LockKey> =
            self.asked_of(txn).lock().get(&txn).into_iter().flatten().filter(|name| is_inside(name)).cloned().collect();
        for name in asked {
            if let Some(row) = self.shard_of(&name).map.lock().get(&name) {
                row.wake_front();
            }
        }
    }

    /// A transaction has ended: its ranges and explicit locks go, and the heads of the queues it held up are woken.
    pub fn release(&self, txn: u64, waited: bool, explicit: &mut Vec<LockKey>, range_trees: &mut Vec<u32>) {
        for tree in range_trees.drain(..) {
            self.ranges.release(txn, tree);
        }
        if waited {
            let rows = self.asked_of(txn).lock().remove(&txn);
            explicit.extend(rows.into_iter().flatten());
        }
        for key in explicit.drain(..) {
            let shard = self.shard_of(&key);
            let mut map = shard.map.lock();
            let Some(row) = map.get_mut(&key) else { continue };
            row.grants.retain(|(other, _)| *other != txn);
            if row.holder == txn {
                row.holder = 0;
            }
            row.wake_front();
            if row.is_idle() {
                map.remove(&key);
                shard.rows.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }

    /// The blockers of `txn`, and its wait: the holders of what it, or a waiter before it, requests, and `start` if
    /// that is one of the waiters before it.
    fn blockers(&self, statuses: &StatusTable, txn: u64, start: u64) -> Option<(Arc<WaitCell>, Blockers)> {
        let (key, cell) = self.waiting.lock().get(&txn).map(|w| (w.key.clone(), w.cell.clone()))?;
        // A waiter that was woken or is a victim already repeats its operation, and searches again if it has to wait
        // again.
        if !cell.waits() {
            return None;
        }
        let map = self.shard_of(&key).map.lock();
        let row = map.get(&key)?;
        let position = row.position(txn)?;
        let mut wants: SmallVec<[Want; 3]> = SmallVec::from_slice(&[row.queue[position].want]);
        let mut out = Blockers::new();
        // A woken waiter waits for nothing; if it has to wait again it searches, with this one behind it.
        for before in row.queue.iter().take(position).filter(|w| w.cell.waits()) {
            if before.cell.txn == start {
                out.push(start);
            }
            if !wants.contains(&before.want) {
                wants.push(before.want);
            }
        }
        if row.holder != 0 && row.holder != txn && statuses.is_open(row.holder) {
            out.push(row.holder);
        }
        for want in wants {
            out.extend(row.conflicts(txn, want.mode()));
            out.extend(self.ranges.blockers(statuses, txn, key.tree, &key.key, want));
        }
        Some((cell, out))
    }

    /// A cycle of waits through `start`, which is its first member.
    fn find_cycle(&self, statuses: &StatusTable, start: u64) -> Option<Vec<Arc<WaitCell>>> {
        let mut path: Vec<(Arc<WaitCell>, Blockers)> = self.blockers(statuses, start, start).into_iter().collect();
        let mut seen = HashSet::from([start]);
        while let Some((_, next)) = path.last_mut() {
            match next.pop() {
                Some(txn) if txn == start => {
                    if self.is_cycle(statuses, &path) {
                        return Some(path.into_iter().map(|(cell, _)| cell).collect());
                    }
                }
                Some(txn) => {
                    if seen.insert(txn) {
                        path.extend(self.blockers(statuses, txn, start));
                    }
                }
                None => {
                    path.pop();
                }
            }
        }
        None
    }

    /// The second look at a cycle: see 4. above.
    fn is_cycle(&self, statuses: &StatusTable, path: &[(Arc<WaitCell>, Blockers)]) -> bool {
        let start = path[0].0.txn;
        let mut next = path.iter().cycle().skip(1);
        let stands = path.iter().all(|(cell, _)| {
            let to = next.next().map_or(0, |(cell, _)| cell.txn);
            self.blockers(statuses, cell.txn, start)
                .is_some_and(|(now, blockers)| Arc::ptr_eq(&now, cell) && blockers.contains(&to))
        });
        stands && path.iter().all(|(cell, _)| cell.waits())
    }

    /// Transactions that wait for a row.
    pub fn waiters(&self) -> usize {
        self.waiting.lock().len()
    }

    /// Rows with locks or waiters, and trees with ranges, for tests and status.
    pub fn rows(&self) -> u32 {
        self.shards.iter().map(|s| s.rows.load(Ordering::SeqCst)).sum::<u32>() + self.ranges.pairs()
    }
}

/// A transaction as people see it.
fn name_of(txn: u64) -> String {
    format!("TRANSACTION {}-{}", crate::status::worker_of(txn), crate::status::sequence_of(txn))
}

impl Default for LockTable {
    fn default() -> Self {
        Self::new()
    }
}
