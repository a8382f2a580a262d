//! LOCK TABLES ... READ: other sessions read the table, nobody changes it.
//!
//! Several sessions may hold one at a time. Each also holds a reader's share, so an exclusive lock waits for it, as it
//! waits for the holder of an exclusive lock before it closes the table to writers.

use super::{MetadataLock, READ_LOCK, TableUse, WRITER};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use sync::atomic::Ordering;

impl MetadataLock {
    /// Waits until no user changes the table's rows, and none begins to. The future's output is the guard; both live on `worker`.
    pub fn acquire_read_lock(self: &Arc<Self>, worker: usize) -> ReadLockWait {
        ReadLockWait { lock: Arc::clone(self), worker, step: Step::Enter, token: None }
    }

    fn has_no_writers(&self) -> bool {
        self.slots.iter().all(|slot| slot.load(Ordering::SeqCst) < WRITER)
    }

    fn count_read_lock(&self) {
        // SeqCst (M1): pairs with the slot increments of `try_shared`.
        self.closed.fetch_add(READ_LOCK, Ordering::SeqCst);
    }

    fn end_read_lock(&self, worker: usize) {
        self.closed.fetch_sub(READ_LOCK, Ordering::SeqCst);
        self.release_shared(worker, TableUse::Reads);
        self.wake_all();
    }
}

/// How far a [`ReadLockWait`] has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// It waits for a reader's share.
    Enter,
    /// It has that, is counted, and waits for the writers to leave.
    Drain,
    /// The guard is handed out.
    Done,
}

/// Waits until the table is locked for reading. Dropping it gives up.
#[must_use]
pub struct ReadLockWait {
    lock: Arc<MetadataLock>,
    worker: usize,
    step: Step,
    token: Option<u64>,
}

impl ReadLockWait {
    fn attempt(&mut self) -> Option<ReadLockGuard> {
        // A refused share wakes the owners that wait for users to leave, perhaps this one; so a share is not requested
        // in vain.
        if self.step == Step::Enter && !self.lock.is_exclusive() && self.lock.try_shared(self.worker, TableUse::Reads) {
            self.lock.count_read_lock();
            self.step = Step::Drain;
        }
        if self.step != Step::Drain || !self.lock.has_no_writers() {
            return None;
        }
        self.lock.deregister(self.token.take());
        self.step = Step::Done;
        Some(ReadLockGuard { lock: Arc::clone(&self.lock), worker: self.worker })
    }
}

impl Future for ReadLockWait {
    type Output = ReadLockGuard;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<ReadLockGuard> {
        let this = self.get_mut();
        if let Some(guard) = this.attempt() {
            return Poll::Ready(guard);
        }
        // Registered with the waiters that every leaving user wakes. It waits for that, or for the end of an exclusive
        // lock, which wakes all.
        this.lock.register(&mut this.token, true, cx.waker());
        // M3: the last writer may have left between the attempt and the registration.
        match this.attempt() {
            Some(guard) => Poll::Ready(guard),
            None => Poll::Pending,
        }
    }
}

impl Drop for ReadLockWait {
    fn drop(&mut self) {
        self.lock.deregister(self.token);
        if self.step == Step::Drain {
            self.lock.end_read_lock(self.worker);
        }
    }
}

/// The table locked for reading, until dropped on the worker that it was taken on.
#[must_use]
pub struct ReadLockGuard {
    lock: Arc<MetadataLock>,
    worker: usize,
}

impl Drop for ReadLockGuard {
    fn drop(&mut self) {
        self.lock.end_read_lock(self.worker);
    }
}

#[cfg(test)]
mod tests {
    use super::super::block_on_until;
    use super::*;
    use os::time::Instant;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, AtomicI64};
    use std::time::Duration;

    #[derive(Default)]
    struct Wakes(AtomicI64);

    impl std::task::Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn who_waits_for_an_owner_sleeps() {
        let lock = MetadataLock::new(1);
        let alone = lock.acquire_exclusive_blocking(soon()).expect("nobody has it");
        let wakes = [Arc::new(Wakes::default()), Arc::new(Wakes::default())];
        let mut waits = [lock.acquire_read_lock(0), lock.acquire_read_lock(0)];
        let mut poll = |at: usize| {
            let waker = Arc::clone(&wakes[at]).into();
            Pin::new(&mut waits[at]).poll(&mut Context::from_waker(&waker)).is_ready()
        };
        assert!(!poll(0) && !poll(1) && !poll(0));
        let woken = || wakes.each_ref().map(|wakes| wakes.0.load(Ordering::SeqCst));
        assert_eq!(woken(), [0, 0]);
        drop(alone);
        assert_eq!(woken(), [1, 1]);
        assert!(poll(0) && poll(1));
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    fn at_once() -> Instant {
        Instant::now()
    }

    fn read_locked(lock: &Arc<MetadataLock>) -> ReadLockGuard {
        block_on_until(lock.acquire_read_lock(0), soon()).expect("nobody is in the way")
    }

    #[test]
    fn readers_pass_read_locks_and_writers_wait() {
        let lock = MetadataLock::new(2);
        let (first, second) = (read_locked(&lock), read_locked(&lock));
        assert!(lock.try_shared(1, TableUse::Reads));
        assert!(!lock.try_shared(1, TableUse::Writes));
        assert!(lock.acquire_exclusive_blocking(at_once()).is_none(), "read locks are shares, too");
        drop(first);
        let wait = lock.acquire_shared(1, TableUse::Writes).expect_err("the second lock");
        drop(second);
        assert!(wait.wait_blocking(soon()));
        lock.release_shared(1, TableUse::Writes);
        lock.release_shared(1, TableUse::Reads);
        assert_eq!(lock.users(), 0);
        assert!(lock.acquire_exclusive_blocking(at_once()).is_some());
    }

    #[test]
    fn a_read_lock_waits_for_writers_and_gives_up_cleanly() {
        let lock = MetadataLock::new(2);
        assert!(lock.try_shared(1, TableUse::Reads) && lock.try_shared(1, TableUse::Writes));
        assert!(block_on_until(lock.acquire_read_lock(0), at_once()).is_none());
        assert!(lock.try_shared(0, TableUse::Writes), "it bars nobody any more");
        lock.release_shared(0, TableUse::Writes);
        lock.release_shared(1, TableUse::Writes);
        drop(read_locked(&lock));
        lock.release_shared(1, TableUse::Reads);
        assert_eq!(lock.users(), 0);
    }

    #[test]
    fn a_reader_becomes_a_writer_past_who_waits_to_be_alone() {
        let lock = MetadataLock::new(1);
        assert!(lock.try_shared(0, TableUse::Reads));
        let mut alone = lock.acquire_exclusive();
        assert!(alone.wait_blocking(at_once()).is_none());
        assert!(!lock.try_shared(0, TableUse::Writes));
        assert!(lock.acquire_writing(0).is_ok());
        lock.release_shared(0, TableUse::Writes);
        lock.release_shared(0, TableUse::Reads);
        drop(alone.wait_blocking(soon()).expect("nobody is left"));

        assert!(lock.try_shared(0, TableUse::Reads));
        let locked = read_locked(&lock);
        let wait = lock.acquire_writing(0).expect_err("it is locked for reading");
        drop(locked);
        assert!(wait.wait_blocking(soon()));
    }

    #[test]
    fn who_is_alone_is_waited_for() {
        let lock = MetadataLock::new(1);
        let alone = lock.acquire_exclusive_blocking(soon()).expect("nobody is there");
        assert!(block_on_until(lock.acquire_read_lock(0), at_once()).is_none());
        assert_eq!(lock.users(), 0);
        drop(alone);
        drop(read_locked(&lock));
    }

    #[test]
    fn nobody_writes_while_it_is_read_locked() {
        let lock = MetadataLock::new(3);
        let writing = Arc::new(AtomicI64::new(0));
        let stop = Arc::new(AtomicBool::new(false));
        let start = Arc::new(Barrier::new(3));
        let writers: Vec<_> = (1..3)
            .map(|worker| {
                let (lock, writing, stop, start) = (lock.clone(), writing.clone(), stop.clone(), start.clone());
                std::thread::spawn(move || {
                    start.wait();
                    while !stop.load(Ordering::Relaxed) {
                        if let Err(wait) = lock.acquire_shared(worker, TableUse::Writes) {
                            assert!(wait.wait_blocking(soon()));
                        }
                        writing.fetch_add(1, Ordering::SeqCst);
                        std::thread::yield_now();
                        writing.fetch_sub(1, Ordering::SeqCst);
                        lock.release_shared(worker, TableUse::Writes);
                    }
                })
            })
            .collect();
        start.wait();
        for _ in 0..300 {
            let locked = read_locked(&lock);
            assert_eq!(writing.load(Ordering::SeqCst), 0);
            std::thread::yield_now();
            assert_eq!(writing.load(Ordering::SeqCst), 0);
            drop(locked);
        }
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().for_each(|writer| writer.join().expect("no panic"));
        assert_eq!(lock.users(), 0);
    }
}
