//! Transactions over versioned B+trees: snapshots, row locks, undo, commit. (Interface stub; the engine follows.)
//!
//! The engine never blocks: a call answers at once or returns [`Interrupt::Stall`]; the caller awaits the stall and makes the same
//! call again. Every call is restartable: when it returns a stall it has changed nothing that the repetition does not see.
#![forbid(unsafe_code)]
#![allow(unused_variables, clippy::missing_errors_doc)]

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
pub use storage::{KEY_BYTES_MAX, RECORD_BYTES_MAX, TreeRef};

/// What to wait for before the same call is made again. Await it (any executor), or `wait_blocking()` on a thread that may block.
#[must_use]
#[derive(Debug)]
pub struct Stall(());

impl Stall {
    pub fn wait_blocking(self) {
        todo!()
    }
}

impl Future for Stall {
    type Output = ();
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        todo!()
    }
}

#[derive(Debug)]
pub enum Error {
    /// 1213: this transaction was chosen as the victim and must be rolled back whole.
    Deadlock,
    /// 1205: the statement is rolled back, the transaction goes on.
    LockWaitTimeout,
    /// 3572, NOWAIT
    WouldBlock,
    /// 1317: the session was killed while it waited.
    Interrupted,
    /// I/O, corruption, full disk; carries the storage error's text.
    Storage(String),
    /// 1114 / 1021
    Full,
    /// Key or record over the limits.
    TooLarge { bytes: usize },
}

/// Why a call did not answer.
#[derive(Debug)]
pub enum Interrupt {
    Stall(Stall),
    Error(Error),
}

impl From<Error> for Interrupt {
    fn from(e: Error) -> Self {
        Interrupt::Error(e)
    }
}

pub type Result<T> = std::result::Result<T, Interrupt>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    Full,
    Relaxed,
    None,
}

#[derive(Clone, Debug)]
pub struct Config {
    pub data_dir: std::path::PathBuf,
    pub buffer_pool_bytes: u64,
    /// Threads that will each own a [`Worker`]; the engine adds its own background threads.
    pub workers: usize,
    pub durability: Durability,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// The whole engine: files, buffer pool, log, clock, background threads. Shared by `Arc`.
pub struct Engine(());

impl Engine {
    /// Opens or creates the data directory, recovers, starts background threads.
    pub fn open(config: Config) -> std::result::Result<std::sync::Arc<Engine>, Error> {
        todo!()
    }

    /// The handle of worker `index` (`0..config.workers`); each index is handed out once.
    pub fn worker(self: &std::sync::Arc<Self>, index: usize) -> Worker {
        todo!()
    }

    /// A worker beyond the configured ones, for DDL threads, tests and tools (a few are kept in reserve).
    pub fn spare_worker(self: &std::sync::Arc<Self>) -> Option<Worker> {
        todo!()
    }

    /// Upper limit of [`Worker::index`]: the configured workers and the spare ones. For per-worker counters.
    pub fn worker_slots(&self) -> usize {
        todo!()
    }

    /// The tree that every data directory has: the catalog lives in it.
    pub fn catalog_tree(&self) -> TreeRef {
        todo!()
    }

    /// Stops background threads, writes a checkpoint, releases the directory. Idempotent.
    pub fn shutdown(&self) -> std::result::Result<(), Error> {
        todo!()
    }
}

/// One thread's part of the engine: its log buffer, transaction slots and undo segments. Not `Sync`; sessions of one thread share it.
pub struct Worker(());

impl Worker {
    pub fn engine(&self) -> &std::sync::Arc<Engine> {
        todo!()
    }

    /// This worker's number, `0..engine.worker_slots()`; spare workers come after the configured ones.
    pub fn index(&self) -> usize {
        todo!()
    }

    /// Marks a quiescent point of this thread: no statement of it is inside an engine call. Call once per event loop turn
    /// (and at least every few milliseconds while busy), so that old versions and pages can be reclaimed.
    pub fn tick(&self) {
        todo!()
    }

    pub fn begin(&self, isolation: Isolation) -> Txn {
        todo!()
    }

    /// Makes an empty tree. Not transactional: the caller records it in the catalog so that a crash leaves no orphan
    /// (`table::catalog` does).
    pub fn create_tree(&self) -> Result<TreeRef> {
        todo!()
    }

    /// Frees the pages of a tree that nobody can reach any more, a slice at a time; `Ok(true)` when done.
    pub fn drop_tree_slice(&self, tree: TreeRef) -> Result<bool> {
        todo!()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockMode {
    Share,
    Exclusive,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Up to `Txn::set_lock_wait_timeout`.
    Wait,
    NoWait,
    /// The row is reported as absent.
    SkipLocked,
}

/// Identifies the version of a row that a read saw; a write with it fails softly when the row has changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen(u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InsertOutcome {
    Inserted,
    /// A live row (committed, or this transaction's own) has the key; nothing changed.
    Duplicate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    Done,
    /// The row is not the one that `seen` names any more: read it again.
    Changed,
}

/// A place in a transaction's undo to come back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Savepoint(u64);

/// One transaction of one session; lives on the worker that began it. Dropping an unfinished one is a bug (asserted);
/// call `rollback`.
pub struct Txn(());

impl Txn {
    pub fn isolation(&self) -> Isolation {
        todo!()
    }

    /// Takes the consistent-read snapshot now (START TRANSACTION WITH CONSISTENT SNAPSHOT); otherwise the first read does.
    pub fn take_snapshot(&mut self, worker: &Worker) {
        todo!()
    }

    /// READ COMMITTED and below: the next read takes a fresh snapshot. Call at the start of each statement (any level).
    /// Also forgets a lock wait that the previous statement gave up.
    pub fn begin_statement(&mut self, worker: &Worker) {
        todo!()
    }

    pub fn set_lock_wait_timeout(&mut self, timeout: std::time::Duration) {
        todo!()
    }

    /// Consistent read: the version visible to this transaction's snapshot (its own changes included). `payload` is cleared and
    /// filled. `false`: no visible row.
    pub fn read(&mut self, worker: &Worker, tree: TreeRef, key: &[u8], payload: &mut Vec<u8>) -> Result<bool> {
        todo!()
    }

    /// Current read: the latest committed version or this transaction's own. Waits while another transaction holds the row.
    /// `Some(seen)` when there is a row.
    pub fn read_latest(&mut self, worker: &Worker, tree: TreeRef, key: &[u8], payload: &mut Vec<u8>) -> Result<Option<Seen>> {
        todo!()
    }

    /// Current read that also locks the row until the transaction ends.
    pub fn lock_row(
        &mut self,
        worker: &Worker,
        tree: TreeRef,
        key: &[u8],
        mode: LockMode,
        policy: WaitPolicy,
        payload: &mut Vec<u8>,
    ) -> Result<Option<Seen>> {
        todo!()
    }

    pub fn insert(&mut self, worker: &Worker, tree: TreeRef, key: &[u8], payload: &[u8]) -> Result<InsertOutcome> {
        todo!()
    }

    pub fn update(&mut self, worker: &Worker, tree: TreeRef, key: &[u8], seen: Seen, payload: &[u8]) -> Result<WriteOutcome> {
        todo!()
    }

    pub fn delete(&mut self, worker: &Worker, tree: TreeRef, key: &[u8], seen: Seen) -> Result<WriteOutcome> {
        todo!()
    }

    pub fn savepoint(&self) -> Savepoint {
        todo!()
    }

    /// Undoes everything since the savepoint; row locks stay until the transaction ends (as in InnoDB, mostly).
    pub fn rollback_to(&mut self, worker: &Worker, savepoint: Savepoint) -> Result<()> {
        todo!()
    }

    /// Has this transaction changed anything?
    pub fn is_dirty(&self) -> bool {
        todo!()
    }

    /// Commits; visible to others at once. `Some(stall)`: await it before acknowledging (the log flush). Never fails once called.
    pub fn commit(&mut self, worker: &Worker) -> Option<Stall> {
        todo!()
    }

    /// Undoes everything and ends the transaction. On a stall: await, call again.
    pub fn rollback(&mut self, worker: &Worker) -> Result<()> {
        todo!()
    }
}

/// Which version a scan returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadMode {
    /// The transaction's snapshot.
    Snapshot,
    /// The latest committed version or the transaction's own; a row that another open transaction holds is returned as its key with
    /// [`ScanRow::held_by_other`] set (its payload is the version below the open one, or empty): `lock_row` it, then judge it.
    Latest,
}

/// A scan over one key range. Keeps its place as a key; holds no latch and no pin between calls.
pub struct Scan(());

#[derive(Clone, Copy, Debug)]
pub struct ScanRow<'a> {
    pub key: &'a [u8],
    pub payload: &'a [u8],
    pub held_by_other: bool,
}

impl Scan {
    /// `low <= key < high` in byte order; empty `high` is the end of the tree. `reverse` goes from high to low.
    pub fn new(tree: TreeRef, low: &[u8], high: &[u8], reverse: bool, mode: ReadMode) -> Scan {
        todo!()
    }

    /// Starts over on another range, keeping the buffers.
    pub fn reset(&mut self, tree: TreeRef, low: &[u8], high: &[u8], reverse: bool, mode: ReadMode) {
        todo!()
    }

    /// Loads the next batch (visible rows of at most one leaf, at most `rows_max` rows). `false`: the range is exhausted.
    /// After `true` at least one row is ready for `next_row`.
    pub fn fill(&mut self, txn: &mut Txn, worker: &Worker, rows_max: usize) -> Result<bool> {
        todo!()
    }

    /// The next row of the batch; `None`: call `fill` again.
    pub fn next_row(&mut self) -> Option<ScanRow<'_>> {
        todo!()
    }
}
