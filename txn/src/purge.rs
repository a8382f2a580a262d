//! Purge: removes tombstones from the trees once no snapshot can see the versions that they hide.
//!
//! A commit that deleted something queues a job with its worker: the head of its undo chain. The purge thread takes
//! jobs whose commit is below the horizon, walks the chain, and removes each record that is still the tombstone of this
//! transaction. The job pins the undo segments until it is done.
//!
//! A leaf without records is removed from its tree (`storage::btree`), so a table whose rows come and go keeps its
//! size.
//!
//! Tombstones may outlive their jobs: a crash or a stop loses the queue, and rolling back an insert over a tombstone
//! restores it. A scan that meets a tombstone of a transaction older than every snapshot reports the leaf, and the
//! purge thread sweeps it.

use crate::undo::{ReadError, SegmentList, UndoKind};
use crate::{Engine, TreeRef};
use std::collections::VecDeque;
use std::sync::{Arc, Weak};
use std::time::Duration;
use storage::blocking;
use storage::buffer::PageWrite;
use storage::page::RecordHeader;
use storage::wal::Purpose;
use storage::wal::record::{RowChange, RowOp};
use sync::CachePadded;
use sync::atomic::{AtomicBool, Ordering};
use sync::{Condvar, Mutex};

/// How long the thread lets jobs gather, and how often it looks again at jobs that are still too young.
const PAUSE: Duration = Duration::from_millis(10);

/// Leaves to be swept that may wait; beyond this a later scan names them again.
const SWEEPS_MAX: usize = 1024;

/// One committed transaction's tombstones.
pub(crate) struct Job {
    pub end: u64,
    pub txn: u64,
    pub undo_last: u64,
    pub segments: SegmentList,
}

#[derive(Default)]
pub(crate) struct Bell {
    state: Mutex<(bool, bool)>,
    rung: Condvar,
}

pub(crate) struct Purge {
    queues: Box<[CachePadded<Mutex<VecDeque<Job>>>]>,
    /// Leaves, each by a key in it, that hold tombstones nobody has a job for.
    sweeps: Mutex<Vec<(TreeRef, Vec<u8>)>>,
    /// Jobs may be queued: the thread is awake or has been rung.
    pending: AtomicBool,
    bell: Arc<Bell>,
}

impl Purge {
    pub fn new(workers: usize) -> Self {
        Self {
            queues: (0..workers).map(|_| CachePadded::new(Mutex::default())).collect(),
            sweeps: Mutex::default(),
            pending: AtomicBool::new(false),
            bell: Arc::default(),
        }
    }

    pub fn bell(&self) -> Arc<Bell> {
        self.bell.clone()
    }

    pub fn push(&self, worker: usize, job: Job) {
        self.queues[worker].lock().push_back(job);
        self.ring();
    }

    /// A scan has met a tombstone that is dead for everyone in the leaf of `key`.
    #[cold]
    pub fn sweep(&self, tree: TreeRef, key: &[u8]) {
        let mut sweeps = self.sweeps.lock();
        if sweeps.len() < SWEEPS_MAX && !sweeps.iter().rev().take(4).any(|(t, k)| t.id == tree.id && k == key) {
            sweeps.push((tree, key.to_vec()));
            drop(sweeps);
            self.ring();
        }
    }

    fn ring(&self) {
        // A plain load while the thread is busy; the word is written only when the thread sleeps.
        if !self.pending.load(Ordering::SeqCst) && !self.pending.swap(true, Ordering::SeqCst) {
            self.bell.state.lock().0 = true;
            self.bell.rung.notify_one();
        }
    }

    pub fn stop(&self) {
        self.bell.state.lock().1 = true;
        self.bell.rung.notify_one();
    }

    /// The thread has gone to sleep.
    #[cfg(test)]
    pub fn is_idle(&self) -> bool {
        !self.pending.load(Ordering::SeqCst) && !self.bell.state.lock().0
    }

    pub fn backlog(&self) -> usize {
        self.queues.iter().map(|q| q.lock().len()).sum()
    }
}

/// The purge thread. `worker` is its place in the log.
pub(crate) fn run(engine: &Weak<Engine>, worker: usize, bell: &Bell) {
    loop {
        {
            let mut state = bell.state.lock();
            while !state.0 && !state.1 {
                bell.rung.wait(&mut state);
            }
            if state.1 {
                return;
            }
        }
        os::thread::sleep(PAUSE);
        let Some(engine) = engine.upgrade() else { return };
        engine.purge.pending.store(false, Ordering::SeqCst);
        let left = round(&engine, worker);
        if left {
            engine.purge.pending.store(true, Ordering::SeqCst);
        } else {
            // Checked under the lock: otherwise a push in between would set the bell, and this would silence it for
            // ever.
            let mut state = bell.state.lock();
            state.0 = engine.purge.pending.load(Ordering::SeqCst);
        }
    }
}

/// Does all jobs that are possible now; `true`: jobs remain.
fn round(engine: &Engine, worker: usize) -> bool {
    if engine.store.wal.is_exhausted() {
        return true;
    }
    let horizon = if os::mutated("early-purge") { u64::MAX } else { engine.horizon() };
    let mut left = false;
    for (tree, key) in std::mem::take(&mut *engine.purge.sweeps.lock()) {
        match blocking(|| sweep_leaf(engine, worker, tree, &key)).and_then(|rest| rest.give_back(engine, worker, tree, &key)) {
            Ok(()) | Err(storage::Error::NoSuchTree) => {}
            Err(e) => os::report(format_args!("purge: {e}")),
        }
    }
    for queue in &engine.purge.queues {
        loop {
            let job = {
                let mut queue = queue.lock();
                match queue.front() {
                    None => break,
                    Some(job) if job.end > horizon => {
                        left = true;
                        break;
                    }
                    Some(_) => queue.pop_front(),
                }
            };
            if let Some(job) = job {
                if let Err(e) = purge(engine, worker, &job) {
                    os::report(format_args!("purge: {e}"));
                }
                engine.undo.unpin(&job.segments, job.end);
            }
        }
    }
    left
}

/// The state of a leaf after a removal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    Rows,
    Nothing,
}

impl Rest {
    fn of(leaf: &PageWrite<'_>) -> Self {
        if leaf.page.slots() == 0 { Self::Nothing } else { Self::Rows }
    }

    /// A leaf without rows gives its page back, if that can be done.
    fn give_back(self, engine: &Engine, worker: usize, tree: TreeRef, key: &[u8]) -> Result<(), storage::Error> {
        match self {
            Self::Rows => Ok(()),
            Self::Nothing => blocking(|| {
                engine.store.wal.check_room(worker, Purpose::Relief)?;
                engine.store.merge_empty(worker, tree, key).map(drop)
            }),
        }
    }
}

/// Removes from the leaf of `key` the tombstones that are older than every snapshot.
fn sweep_leaf(engine: &Engine, worker: usize, tree: TreeRef, key: &[u8]) -> storage::Result<Rest> {
    engine.store.wal.check_room(worker, Purpose::Relief)?;
    let leaf = engine.store.latch_leaf(tree, key)?;
    let mut dead = Vec::new();
    for slot in (0..leaf.page.slots()).rev() {
        let record = leaf.page.record(slot);
        if engine.is_dead(record.header) {
            dead.clear();
            assert!(leaf.page.key(&record, &mut dead), "P1: a latched page has whole records");
            remove(engine, worker, &leaf, tree, slot, &dead, record.header.mark);
        }
    }
    Ok(Rest::of(&leaf))
}

/// Removes a tombstone that the transaction `txn` has left.
fn remove(engine: &Engine, worker: usize, leaf: &PageWrite<'_>, tree: TreeRef, slot: usize, key: &[u8], txn: u64) {
    let header = RecordHeader::default();
    let change = RowChange { op: RowOp::Remove, tree, txn, key, header, payload: &[], old: None, compensation: true };
    engine.store.change_row(worker, leaf, Ok(slot), &change);
}

fn purge(engine: &Engine, worker: usize, job: &Job) -> Result<(), storage::Error> {
    let mut key = Vec::new();
    let mut address = job.undo_last;
    while address != 0 {
        key.clear();
        let head = match engine.undo.read(address, Some(&mut key), None) {
            Ok(head) => head,
            Err(ReadError::Io(e)) => return Err(e.into()),
            Err(ReadError::Gone) => {
                debug_assert!(false, "U1: a purge job pins its undo");
                return Ok(());
            }
        };
        if head.kind == UndoKind::Delete {
            let done = blocking(|| {
                engine.store.wal.check_room(worker, Purpose::Relief)?;
                let leaf = engine.store.latch_leaf(head.tree, &key)?;
                let Ok(slot) = leaf.page.search(&key) else { return Ok(Rest::Rows) };
                let header = leaf.page.record(slot).header;
                if !header.is_tombstone() || header.mark != job.txn {
                    return Ok(Rest::Rows);
                }
                remove(engine, worker, &leaf, head.tree, slot, &key, job.txn);
                Ok(Rest::of(&leaf))
            });
            match done.and_then(|rest| rest.give_back(engine, worker, head.tree, &key)) {
                Ok(()) | Err(storage::Error::NoSuchTree) => {}
                Err(e) => return Err(e),
            }
        }
        address = head.txn_prev;
    }
    Ok(())
}
