//! How far a definition is, for others to look at: SHOW PROCESSLIST, performance_schema.events_stages_current, a line in the log.
//!
//! The definition's thread alone writes. A look sees a recent value of each number, not all of one moment.

use sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// What a definition is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Others use a table that it needs alone.
    Waiting,
    /// It reads all rows of a table: as many of about so many.
    Reading { done: u64, all: u64 },
    /// It looks again at rows that changed meanwhile: so many are left.
    CatchingUp { left: u64 },
}

/// The progress of one definition.
#[derive(Debug, Default)]
pub struct Progress {
    waits: AtomicBool,
    /// `READING` or `CATCHING_UP`
    stage: AtomicU8,
    done: AtomicU64,
    all: AtomicU64,
}

const READING: u8 = 1;
const CATCHING_UP: u8 = 2;

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

    pub(super) fn waits(&self, now: bool) {
        self.waits.store(now, Ordering::Relaxed);
    }

    pub(super) fn begin_reading(&self, rows: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.all.store(rows, Ordering::Relaxed);
        self.stage.store(READING, Ordering::Relaxed);
    }

    pub(super) fn read_one(&self) {
        self.done.store(self.done.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Some changed rows are done, and so many left. While it reads, they do not matter.
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
