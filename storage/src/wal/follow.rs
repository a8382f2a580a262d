//! Reading the log behind its durable end while it is written, one epoch after the other.
//!
//! 1. [`Wal::follow`] takes a hold on the log from a place on; the caller moves it with [`LogFollower::release`].
//! 2. [`LogFollower::next_epoch`] gives the next epoch that is durable, or nothing.
//! 3. [`LogFollower::wait`] sleeps until there is more. Whoever writes the log rings a bell, which costs one load where nobody sleeps.
//!
//! L1: no block is read that a flush has not made durable: `written` moves when the flush of its blocks has ended.
//! L2: a ring is not lost: the sleeper raises its flag before it looks at the end of the log, the writer moves the end before it looks at
//! the flag.

use super::{LogHold, LogPlace, LogReader, Wal};
use crate::Error;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use sync::Mutex;
use sync::atomic::{AtomicBool, Ordering, fence};

/// Wakes the thread that follows the log.
#[derive(Default)]
pub(super) struct Bell {
    is_asleep: AtomicBool,
    thread: Mutex<Option<os::thread::Thread>>,
}

impl Bell {
    /// Called by who has written log.
    #[inline]
    pub fn ring(&self) {
        // L2
        fence(Ordering::SeqCst);
        if self.is_asleep.load(Ordering::SeqCst) {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        if self.is_asleep.swap(false, Ordering::SeqCst) {
            self.thread.lock().iter().for_each(os::thread::Thread::unpark);
        }
    }
}

/// Reads the log as it grows. One at a time.
pub struct LogFollower {
    wal: Arc<Wal>,
    hold: LogHold,
    reader: LogReader,
}

impl Wal {
    /// Follows the log in directory `dir` from `place` on, where `hold` keeps it.
    pub fn follow(self: &Arc<Self>, dir: &Path, place: LogPlace, hold: LogHold) -> LogFollower {
        self.recent.begin();
        let mut reader = LogReader::new(dir, place);
        reader.set_recent(Arc::clone(&self.recent));
        LogFollower { wal: Arc::clone(self), hold, reader }
    }

    /// Wakes the thread that follows the log, if it sleeps.
    pub fn wake_follower(&self) {
        self.follower.ring();
    }
}

impl LogFollower {
    /// The next epoch that is durable, and its payload; `None`: all has been read.
    ///
    /// # Errors
    /// I/O; log that cannot be read although it was written.
    pub fn next_epoch(&mut self, payload: &mut Vec<u8>) -> Result<Option<u64>, Error> {
        // L1. Acquire: pairs with the flush that published the epoch.
        let _ = self.wal.durable_epoch();
        let written = self.wal.written();
        if self.reader.end().position >= written {
            return Ok(None);
        }
        self.reader.set_limit(written);
        match self.reader.next_epoch(payload)? {
            Some(epoch) => Ok(Some(epoch)),
            None => Err(Error::Io(format!("the log cannot be read at byte {}", self.reader.end().position).into())),
        }
    }

    /// Where the next epoch begins.
    pub fn place(&self) -> LogPlace {
        self.reader.end()
    }

    /// When the last epoch was written, in microseconds since 1970; 0: not known.
    pub fn time_us(&self) -> u64 {
        self.reader.time_us()
    }

    /// Reads on from here, not further than what is durable now.
    pub fn ahead(&self) -> LogReader {
        let mut reader = LogReader::new(self.reader.dir(), self.reader.end());
        reader.set_limit(self.wal.written());
        reader
    }

    /// Log before `position` is not needed any more.
    pub fn release(&self, position: u64) {
        self.hold.move_to(position);
    }

    /// How often it has read a file, and not the end of the log in memory.
    pub fn file_reads(&self) -> u64 {
        self.reader.file_reads()
    }

    /// Sleeps until there is more log, somebody calls [`Wal::wake_follower`], or `longest` has passed. Whoever wakes it makes `is_wanted` true before.
    pub fn wait(&self, longest: Duration, is_wanted: impl Fn() -> bool) {
        let bell = &self.wal.follower;
        *bell.thread.lock() = Some(os::thread::current());
        bell.is_asleep.store(true, Ordering::SeqCst);
        // L2
        fence(Ordering::SeqCst);
        if self.reader.end().position >= self.wal.written() && !is_wanted() {
            os::thread::park_timeout(longest);
        }
        bell.is_asleep.store(false, Ordering::SeqCst);
    }
}

impl Drop for LogFollower {
    fn drop(&mut self) {
        self.wal.recent.end();
    }
}
