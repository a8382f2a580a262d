//! The metadata lock of one table: statements share it, DDL and LOCK TABLES ... WRITE hold it exclusively, LOCK TABLES
//! ... READ blocks writers.
//!
//! A big-reader lock. Each worker counts its own users in its own cache line, readers and writers in one half of the
//! word each. An exclusive owner raises one flag that everybody reads and nobody else writes, and waits until all
//! counters are zero. The owner of a read lock is a reader, is counted beside the flag, and waits until all counters of
//! writers are zero (`read_lock`).
//!
//! ```text
//! shared:     slot[w] += 1;     closed == 0 ?     yes: held    no: blocked? no: held    yes: slot[w] -= 1, wait
//! exclusive:  closed |= ALONE;  all slots 0 ?     yes: held    no: wait for a release, look again
//! read lock:  a reader's share; closed += READ_LOCK;  all writers 0 ?    yes: held    no: wait for a release, look again
//! ```
//!
//! M1: between raising and lowering the flag no new shared use succeeds, and while read locks are counted no new
//!     writer's use. Each side writes its own word, then reads the other's, all sequentially consistent (Dekker), so at
//!     least one of two racing sides sees the other.
//! M2: while the flag is up, the number of users of a slot only falls; a slot seen at zero stays without users. The
//!     same holds for writers while read locks are counted.
//! M3: a waiter registers its waker before it looks again, so no wake-up is lost.
//! M4: an uncontended shared acquire and release write one cache line, the worker's own.
//! M5: a change of a table's definition holds the lock's `Definition` from beginning to end, and takes the exclusive
//!     lock only with it. So a definition may let users in while it works, and still nobody else changes the table
//!     meanwhile.
//!
//! Fairness: a waiting exclusive owner blocks new users at once and proceeds when the present ones have finished. When
//! it releases the lock, all waiters are woken and compete. Latches: the waiter list is behind a mutex that only
//! contended paths take.

mod claims;
mod read_lock;

pub use claims::{Claim, ClaimGuard, Claimed};
pub use read_lock::{ReadLockGuard, ReadLockWait};

use os::thread::Thread;
use os::time::Instant;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use sync::atomic::{AtomicU32, AtomicU64, Ordering};
use sync::{CachePadded, Condvar, Mutex};

/// How a user of a table uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TableUse {
    Reads,
    /// Also reading for a later change: FOR UPDATE.
    Writes,
}

/// In `closed`: an exclusive owner holds the lock or waits for the users to drain.
const ALONE: u32 = 1;
/// In `closed`: one read lock, held or waiting for the writers to drain.
const READ_LOCK: u32 = 2;

/// In a slot: one reader.
const READER: u64 = 1;
/// In a slot: one writer.
const WRITER: u64 = 1 << 32;

impl TableUse {
    #[inline]
    fn unit(self) -> u64 {
        match self {
            Self::Reads => READER,
            Self::Writes => WRITER,
        }
    }

    /// Must such a user wait?
    fn is_barred(self, closed: u32) -> bool {
        match self {
            Self::Reads => closed & ALONE != 0,
            Self::Writes => closed != 0,
        }
    }
}

/// Who waits to be alone keeps new users out for so long; then they go on for `PAUSE`, and it tries again.
pub const TURN: Duration = Duration::from_millis(400);
pub const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 200 });

/// A shared/exclusive lock whose shared side costs one write to a line of the worker's own.
pub struct MetadataLock {
    slots: Box<[CachePadded<AtomicU64>]>,
    /// [`ALONE`], and [`READ_LOCK`] for each read lock.
    closed: AtomicU32,
    next_token: AtomicU64,
    waiters: Mutex<Waiters>,
    /// M5: somebody holds it.
    defined: Mutex<bool>,
    definition_over: Condvar,
    claims: claims::Claims,
}

#[derive(Default)]
struct Waiters {
    shared: Vec<Waiter>,
    exclusive: Vec<Waiter>,
}

struct Waiter {
    token: u64,
    waker: Waker,
}

impl MetadataLock {
    /// A lock for workers `0..workers`.
    pub fn new(workers: usize) -> Arc<Self> {
        Arc::new(Self {
            slots: (0..workers).map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
            closed: AtomicU32::new(0),
            next_token: AtomicU64::new(0),
            waiters: Mutex::new(Waiters::default()),
            defined: Mutex::new(false),
            definition_over: Condvar::new(),
            claims: Default::default(),
        })
    }

    /// Waits on this thread for the right to change the definition (M5), up to `deadline`. Users are not disturbed by it.
    pub fn acquire_definition_blocking(self: &Arc<Self>, deadline: Instant) -> Option<DefinitionGuard> {
        let mut defined = self.defined.lock();
        while *defined {
            if self.definition_over.wait_until(&mut defined, deadline).timed_out() && *defined {
                return None;
            }
        }
        *defined = true;
        Some(DefinitionGuard { lock: self.clone() })
    }

    /// The right to change the definition (M5), if nobody has it.
    pub fn try_definition(self: &Arc<Self>) -> Option<DefinitionGuard> {
        let mut defined = self.defined.lock();
        let is_free = !std::mem::replace(&mut *defined, true);
        is_free.then(|| DefinitionGuard { lock: self.clone() })
    }

    /// Takes a share for a user on `worker`; `false` when somebody who bars it holds the lock or waits for it. Pair with
    /// [`Self::release_shared`].
    #[inline]
    pub fn try_shared(&self, worker: usize, used: TableUse) -> bool {
        // SeqCst (M1): pairs with the stores to `closed` and the slot loads of an owner that closes the lock.
        self.slots[worker].fetch_add(used.unit(), Ordering::SeqCst);
        let closed = self.closed.load(Ordering::SeqCst);
        if closed == 0 || !used.is_barred(closed) {
            return true;
        }
        self.release_shared(worker, used);
        false
    }

    /// Takes a share, or gives the future that does (its output means: held).
    #[inline]
    pub fn acquire_shared(self: &Arc<Self>, worker: usize, used: TableUse) -> Result<(), MdlWait> {
        if self.try_shared(worker, used) {
            return Ok(());
        }
        Err(MdlWait { lock: self.clone(), worker, used, is_reader: false, token: None })
    }

    /// Takes a writer's share for one who has a reader's, on the same worker. An exclusive owner waits for the reader's share, so it is
    /// not waited for: read locks alone are.
    pub fn acquire_writing(self: &Arc<Self>, worker: usize) -> Result<(), MdlWait> {
        if self.try_writing(worker) {
            return Ok(());
        }
        Err(MdlWait { lock: self.clone(), worker, used: TableUse::Writes, is_reader: true, token: None })
    }

    fn try_writing(&self, worker: usize) -> bool {
        self.slots[worker].fetch_add(WRITER, Ordering::SeqCst);
        if self.closed.load(Ordering::SeqCst) < READ_LOCK {
            return true;
        }
        self.release_shared(worker, TableUse::Writes);
        false
    }

    /// A share that was taken on `worker`, given back when the guard is dropped there.
    pub fn guard_shared(self: &Arc<Self>, worker: usize, used: TableUse) -> ShareGuard {
        ShareGuard { lock: Some(self.clone()), worker, used }
    }

    /// Gives a share back, on the worker that took it.
    #[inline]
    pub fn release_shared(&self, worker: usize, used: TableUse) {
        // SeqCst (M1): an owner that waits for the slot either sees it fall or is seen here.
        let before = self.slots[worker].fetch_sub(used.unit(), Ordering::SeqCst);
        debug_assert!(
            if used == TableUse::Reads { before & (WRITER - 1) != 0 } else { before >= WRITER },
            "a share is released once"
        );
        let closed = self.closed.load(Ordering::SeqCst);
        // Where there are read locks alone, only writers are waited for.
        if closed & ALONE != 0 || closed != 0 && used == TableUse::Writes {
            self.wake_draining();
        }
    }

    /// Waits for the lock alone. The future's output is the guard.
    pub fn acquire_exclusive(self: &Arc<Self>) -> ExclusiveWait {
        ExclusiveWait { lock: Some(self.clone()), flag_raised: false, token: None }
    }

    /// Waits on this thread for the lock alone, up to `deadline`; `None`: others still use it.
    pub fn acquire_exclusive_blocking(self: &Arc<Self>, deadline: Instant) -> Option<ExclusiveGuard> {
        block_on_until(self.acquire_exclusive(), deadline)
    }

    /// Number of users right now; for tests and SHOW.
    pub fn users(&self) -> u64 {
        let both = self.slots.iter().map(|slot| slot.load(Ordering::Relaxed));
        both.map(|count| count / WRITER + count % WRITER).sum()
    }

    /// Does somebody hold the lock alone or wait for that?
    pub fn is_exclusive(&self) -> bool {
        // SeqCst (M3): a waiter looks again after it has registered.
        self.closed.load(Ordering::SeqCst) & ALONE != 0
    }

    fn is_drained(&self) -> bool {
        self.slots.iter().all(|slot| slot.load(Ordering::SeqCst) == 0)
    }

    /// A user left (or did not get in): only who waits for users to drain can profit. Waking waiting users here would have them wake each
    /// other for ever.
    #[cold]
    fn wake_draining(&self) {
        let waiters = std::mem::take(&mut self.waiters.lock().exclusive);
        waiters.into_iter().for_each(|waiter| waiter.waker.wake());
    }

    #[cold]
    fn wake_all(&self) {
        let waiters = std::mem::take(&mut *self.waiters.lock());
        waiters.exclusive.into_iter().chain(waiters.shared).for_each(|waiter| waiter.waker.wake());
    }

    /// Registers or renews the waker of a waiter.
    fn register(&self, token: &mut Option<u64>, exclusive: bool, waker: &Waker) {
        // Relaxed: the number only has to be unique.
        let token = *token.get_or_insert_with(|| self.next_token.fetch_add(1, Ordering::Relaxed));
        let mut lists = self.waiters.lock();
        let waiters = if exclusive { &mut lists.exclusive } else { &mut lists.shared };
        match waiters.iter_mut().find(|w| w.token == token) {
            Some(waiter) => waiter.waker.clone_from(waker),
            None => waiters.push(Waiter { token, waker: waker.clone() }),
        }
    }

    fn deregister(&self, token: Option<u64>) {
        if let Some(token) = token {
            let mut lists = self.waiters.lock();
            lists.shared.retain(|w| w.token != token);
            lists.exclusive.retain(|w| w.token != token);
        }
    }

    fn lower_flag(&self) {
        self.closed.fetch_and(!ALONE, Ordering::SeqCst);
        self.wake_all();
    }
}

/// Waits until a share is held. Dropping it gives up.
#[must_use]
pub struct MdlWait {
    lock: Arc<MetadataLock>,
    worker: usize,
    used: TableUse,
    /// It has a reader's share.
    is_reader: bool,
    token: Option<u64>,
}

impl MdlWait {
    fn attempt(&self) -> bool {
        if self.is_reader { self.lock.try_writing(self.worker) } else { self.lock.try_shared(self.worker, self.used) }
    }

    /// Waits on this thread, up to `deadline`; `false`: gave up, nothing is held.
    pub fn wait_blocking(self, deadline: Instant) -> bool {
        block_on_until(self, deadline).is_some()
    }
}

impl Future for MdlWait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.attempt() {
            return Poll::Ready(());
        }
        this.lock.register(&mut this.token, false, cx.waker());
        // M3: the lock may have been opened between the try and the registration.
        if this.attempt() { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Drop for MdlWait {
    fn drop(&mut self) {
        self.lock.deregister(self.token);
    }
}

/// Waits until the lock is held alone. Dropping it gives up and lets the users in again.
#[must_use]
pub struct ExclusiveWait {
    /// `None` once the guard is handed out.
    lock: Option<Arc<MetadataLock>>,
    flag_raised: bool,
    token: Option<u64>,
}

impl ExclusiveWait {
    /// Waits on this thread up to `deadline`; after `None` the next call continues the wait.
    pub fn wait_blocking(&mut self, deadline: Instant) -> Option<ExclusiveGuard> {
        block_on_until(self, deadline)
    }

    fn attempt(&mut self) -> Option<ExclusiveGuard> {
        let lock = self.lock.as_ref().expect("polled again after completion");
        if !self.flag_raised {
            // SeqCst (M1): pairs with the slot increments of `try_shared`.
            self.flag_raised = lock.closed.fetch_or(ALONE, Ordering::SeqCst) & ALONE == 0;
        }
        if !self.flag_raised || !lock.is_drained() {
            return None;
        }
        lock.deregister(self.token.take());
        self.flag_raised = false;
        Some(ExclusiveGuard { lock: self.lock.take().expect("checked above") })
    }
}

impl Future for ExclusiveWait {
    type Output = ExclusiveGuard;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ExclusiveGuard> {
        let this = self.get_mut();
        if let Some(guard) = this.attempt() {
            return Poll::Ready(guard);
        }
        let lock = this.lock.as_ref().expect("polled again after completion");
        lock.register(&mut this.token, true, cx.waker());
        // M3: the last user may have left between the attempt and the registration.
        match this.attempt() {
            Some(guard) => Poll::Ready(guard),
            None => Poll::Pending,
        }
    }
}

impl Drop for ExclusiveWait {
    fn drop(&mut self) {
        let Some(lock) = &self.lock else { return };
        lock.deregister(self.token);
        if self.flag_raised {
            lock.lower_flag();
        }
    }
}

/// A share, until dropped on the worker that it was taken on.
#[must_use]
pub struct ShareGuard {
    /// `None`: the share was left to the caller.
    lock: Option<Arc<MetadataLock>>,
    worker: usize,
    used: TableUse,
}

impl ShareGuard {
    /// Is it a share of this lock for this use?
    pub fn is_of(&self, lock: &Arc<MetadataLock>, used: TableUse) -> bool {
        self.used == used && self.lock.as_ref().is_some_and(|own| Arc::ptr_eq(own, lock))
    }

    /// Leaves the share to the caller, who gives it back with [`MetadataLock::release_shared`].
    pub fn leave(mut self) {
        self.lock = None;
    }
}

impl Drop for ShareGuard {
    fn drop(&mut self) {
        if let Some(lock) = &self.lock {
            lock.release_shared(self.worker, self.used);
        }
    }
}

/// The lock held alone, until dropped.
#[must_use]
pub struct ExclusiveGuard {
    lock: Arc<MetadataLock>,
}

impl Drop for ExclusiveGuard {
    fn drop(&mut self) {
        self.lock.lower_flag();
    }
}

/// The right to change the definition, until dropped (M5).
#[must_use]
pub struct DefinitionGuard {
    lock: Arc<MetadataLock>,
}

impl Drop for DefinitionGuard {
    fn drop(&mut self) {
        *self.lock.defined.lock() = false;
        self.lock.definition_over.notify_one();
    }
}

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread until it is ready or the deadline passes.
fn block_on_until<F: Future + Unpin>(mut future: F, deadline: Instant) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(ThreadWaker(os::thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = Pin::new(&mut future).poll(&mut cx) {
            return Some(output);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        os::thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, AtomicI64};

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn shares_do_not_exclude_each_other() {
        let lock = MetadataLock::new(2);
        assert!(lock.try_shared(0, TableUse::Reads));
        assert!(lock.try_shared(0, TableUse::Reads));
        assert!(lock.try_shared(1, TableUse::Reads));
        assert_eq!(lock.users(), 3);
        lock.release_shared(0, TableUse::Reads);
        lock.release_shared(0, TableUse::Reads);
        lock.release_shared(1, TableUse::Reads);
        assert!(lock.acquire_exclusive_blocking(soon()).is_some());
        assert!(!lock.is_exclusive());
    }

    #[test]
    fn a_waiting_owner_blocks_new_users_and_gives_up_cleanly() {
        let lock = MetadataLock::new(1);
        assert!(lock.try_shared(0, TableUse::Reads));
        let waiting = {
            let lock = lock.clone();
            std::thread::spawn(move || lock.acquire_exclusive_blocking(Instant::now() + Duration::from_millis(200)).is_none())
        };
        while !lock.is_exclusive() {
            std::thread::yield_now();
        }
        assert!(!lock.try_shared(0, TableUse::Reads));
        let wait = lock.acquire_shared(0, TableUse::Reads).expect_err("an exclusive owner waits");
        assert!(waiting.join().expect("no panic"));
        assert!(wait.wait_blocking(soon()), "the owner gave up, the users go on");
        lock.release_shared(0, TableUse::Reads);
        lock.release_shared(0, TableUse::Reads);
        assert_eq!(lock.users(), 0);
    }

    #[test]
    fn owners_are_alone_under_threads() {
        let workers = 3;
        let lock = MetadataLock::new(workers);
        let inside = Arc::new(AtomicI64::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let start = Arc::new(Barrier::new(workers + 1));
        let users: Vec<_> = (0..workers)
            .map(|worker| {
                let (lock, inside, stop, start) = (lock.clone(), inside.clone(), stop.clone(), start.clone());
                std::thread::spawn(move || {
                    start.wait();
                    while !stop.load(Ordering::Relaxed) {
                        if let Err(wait) = lock.acquire_shared(worker, TableUse::Reads) {
                            assert!(wait.wait_blocking(soon()));
                        }
                        assert!(inside.fetch_add(1, Ordering::SeqCst) >= 0);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        lock.release_shared(worker, TableUse::Reads);
                    }
                })
            })
            .collect();
        start.wait();
        let owners: Vec<_> = (0..2)
            .map(|_| {
                let (lock, inside) = (lock.clone(), inside.clone());
                std::thread::spawn(move || {
                    for _ in 0..200 {
                        let guard = lock.acquire_exclusive_blocking(soon()).expect("users come and go");
                        assert_eq!(inside.fetch_sub(1000, Ordering::SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_add(1000, Ordering::SeqCst);
                        drop(guard);
                        std::thread::yield_now();
                    }
                })
            })
            .collect();
        for owner in owners {
            owner.join().expect("no panic");
        }
        stop.store(true, Ordering::Relaxed);
        for user in users {
            user.join().expect("no panic");
        }
        assert_eq!(lock.users(), 0);
    }
}
