//! The progress of a definition, a check, an analysis or a load for others: SHOW PROCESSLIST, performance_schema.events_stages_current, a line in the
//! log.
//!
//! Only the thread that works writes. A reader sees a recent value of each number, but the numbers may be of
//! different moments.

use os::time::Instant;
use std::sync::OnceLock;
use sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// ALTER TABLE, CREATE INDEX: rows.
    Alter,
    /// CHECK TABLE: rows and entries of indexes.
    Check,
    /// CHECKSUM TABLE: rows.
    Checksum,
    /// ANALYZE TABLE: indexes and columns.
    Analyze,
    /// LOAD DATA: bytes of the file.
    Load,
}

impl Work {
    const ALL: [Self; 5] = [Self::Alter, Self::Check, Self::Checksum, Self::Analyze, Self::Load];
}

/// The stage of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Others use a table that it needs alone.
    Waiting,
    /// It works on all of a table: `done` of an estimated `all`, 0 if that is not known; for so many milliseconds.
    Working { work: Work, done: u64, all: u64, passed_ms: u64 },
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
    /// `WORKING` or `CATCHING_UP`
    stage: AtomicU8,
    /// By its place in `Work::ALL`.
    work: AtomicU8,
    /// Milliseconds from the first stage to this one.
    began_ms: AtomicU64,
    first: OnceLock<Instant>,
    done: AtomicU64,
    all: AtomicU64,
}

const WORKING: u8 = 1;
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
            WORKING => {
                let work = Work::ALL[usize::from(self.work.load(Ordering::Relaxed)) % Work::ALL.len()];
                let passed_ms = self.now_ms().saturating_sub(self.began_ms.load(Ordering::Relaxed));
                Some(Stage::Working { work, done, all: if all == 0 { 0 } else { all.max(done) }, passed_ms })
            }
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

    fn now_ms(&self) -> u64 {
        self.first.get_or_init(Instant::now).elapsed().as_millis() as u64
    }

    /// Work begins that has about `all` parts; 0: not known.
    pub fn begin(&self, work: Work, all: u64) {
        self.done.store(0, Ordering::Relaxed);
        self.all.store(all, Ordering::Relaxed);
        self.work.store(work as u8, Ordering::Relaxed);
        self.began_ms.store(self.now_ms(), Ordering::Relaxed);
        self.stage.store(WORKING, Ordering::Relaxed);
    }

    /// So many parts it has.
    pub fn set_all(&self, all: u64) {
        self.all.store(all, Ordering::Relaxed);
    }

    /// More parts are done.
    pub fn advance(&self, parts: u64) {
        self.done.store(self.done.load(Ordering::Relaxed) + parts, Ordering::Relaxed);
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
        progress.begin(Work::Alter, 1);
        (0..3).for_each(|_| progress.advance(1));
        progress.caught_up(5);
        // The estimate was too low.
        assert!(matches!(progress.stage(), Some(Stage::Working { work: Work::Alter, done: 3, all: 3, .. })));
        progress.catch_up(7);
        assert_eq!(progress.stage(), Some(Stage::CatchingUp { left: 7 }));
        progress.caught_up(6);
        progress.waits(true);
        assert_eq!(progress.stage(), Some(Stage::Waiting));
        progress.waits(false);
        assert_eq!(progress.stage(), Some(Stage::CatchingUp { left: 6 }));
    }
}
