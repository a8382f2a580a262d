//! The progress of a definition for others: SHOW PROCESSLIST, performance_schema.events_stages_current, a line in the
//! log.
//!
//! Only the definition's thread writes. A reader sees a recent value of each number, but the numbers may be of
//! different moments.

use sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// The stage of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Others use a table that it needs alone.
    Waiting,
    /// It reads all rows of a table: `done` of an estimated `all`.
    Reading { done: u64, all: u64 },
    /// It processes rows that changed meanwhile; `left` remain.
    CatchingUp { left: u64 },
}

/// Called when a definition begins to wait, and when it continues.
type Notice = Box<dyn Fn(bool) + Send + Sync>;

/// The progress of one definition.
#[derive(Default)]
pub struct Progress {
    waits: AtomicBool,
    notice: Option<Notice>,
    /// `READING` or `CATCHING_UP`
    stage: AtomicU8,
    done: AtomicU64,
    all: AtomicU64,
}

const READING: u8 = 1;
const CATCHING_UP: u8 = 2;

impl std::fmt::Debug for Progress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Progress").field(&self.stage()).finish()
    }
}

// Relaxed everywhere: see the file head.
impl Progress {
    /// `None`: it does nothing that takes long.
    pub fn stage(&self) -> Option<Stage> {
        if self.waits.load(Ordering::Relaxed) {
            return Some(Stage::Waiting);
        }
        let (done, all) = (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
        match self.stage.load(Ordering::Relaxed) {
            READING => Some(Stage::Reading { done, all: all.max(done) }),
            CATCHING_UP => Some(Stage::CatchingUp { left: all }),
            _ => None,
        }
    }

    /// The progress of a definition that reports when it waits for others, and when it continues.
    pub fn noticed(notice: impl Fn(bool) + Send + Sync + 'static) -> Self {
        Self { notice: Some(Box::new(notice)), ..Self::default() }
    }

    pub(super) fn waits(&self, now: bool) {
        let before = self.waits.swap(now, Ordering::Relaxed);
        if let Some(notice) = self.notice.as_ref().filter(|_| before != now) {
            notice(now);
        }
    }

    /// The definition is over, also where it gave up waiting.
    pub fn end(&self) {
        self.waits(false);
    }

    pub(super) fn begin_reading(&self, rows: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.all.store(rows, Ordering::Relaxed);
        self.stage.store(READING, Ordering::Relaxed);
    }

    pub(super) fn read_one(&self) {
        self.done.store(self.done.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Some changed rows are done, and `left` remain. Ignored while it reads.
    pub(super) fn caught_up(&self, left: usize) {
        if self.stage.load(Ordering::Relaxed) == CATCHING_UP {
            self.all.store(left as u64, Ordering::Relaxed);
        }
    }

    pub(super) fn catch_up(&self, left: usize) {
        self.all.store(left as u64, Ordering::Relaxed);
        self.stage.store(CATCHING_UP, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_told_once() {
        let told = std::sync::Arc::new(sync::Mutex::new(Vec::new()));
        let kept = std::sync::Arc::clone(&told);
        let progress = Progress::noticed(move |waits| kept.lock().push(waits));
        for waits in [false, true, true, false, true] {
            progress.waits(waits);
        }
        progress.end();
        assert_eq!(*told.lock(), [true, false, true, false]);
    }

    #[test]
    fn a_definition_reads_catches_up_and_waits() {
        let progress = Progress::default();
        assert_eq!(progress.stage(), None);
        progress.begin_reading(1);
        (0..3).for_each(|_| progress.read_one());
        progress.caught_up(5);
        // The estimate was too low.
        assert_eq!(progress.stage(), Some(Stage::Reading { done: 3, all: 3 }));
        progress.catch_up(7);
        assert_eq!(progress.stage(), Some(Stage::CatchingUp { left: 7 }));
        progress.caught_up(6);
        progress.waits(true);
        assert_eq!(progress.stage(), Some(Stage::Waiting));
        progress.waits(false);
        assert_eq!(progress.stage(), Some(Stage::CatchingUp { left: 6 }));
    }
}
