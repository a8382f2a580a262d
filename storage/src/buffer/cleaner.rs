//! The cleaner: keeps frames free ahead of need, writes changed pages, moves the checkpoint.
//!
//! One batch of changed pages:
//! 1. copy each page under its version (no latch held), remembering its LSN and the log's epoch;
//! 2. wait until the log is durable up to the highest LSN (B3);
//! 3. write the copies to the doublewrite area, sync; write them home, sync. A crash in between leaves either the old page or a
//!    whole copy in the doublewrite area, which the next start puts back (`doublewrite`);
//! 4. mark those frames clean that have not changed since; the others keep the epoch of step 1 as their recovery epoch.
//!
//! Eviction is a clock: a frame whose REFERENCED bit is set loses it; the next time round a clean one is freed, a changed one is
//! written first. Latches: one frame at a time, try-only when evicting.

use super::doublewrite::{AREA_BYTES, BATCH_PAGES, HEAD_BYTES, write_head};
use super::*;
use crate::page::seal;
use os::AlignedBuf;
use std::time::Duration;

/// How often the cleaner looks at the length of the log.
const ROUND: Duration = Duration::from_millis(500);

struct Copied {
    number: u32,
    page: PageId,
    lsn: Lsn,
    epoch: u64,
}

pub(crate) struct Cleaner {
    pool: Arc<Pool>,
    wal: Arc<Wal>,
    /// The cleaner's own index in the log's worker table, for flush requests.
    worker: usize,
    doublewrite: File,
    sync: bool,
    buf: AlignedBuf,
    hand: u32,
    batch: Vec<Copied>,
    /// Bytes of log after which changed pages are written and the checkpoint moves.
    log_bytes_soft: u64,
    checkpoint: Box<dyn Fn() -> std::result::Result<u64, Error> + Send>,
    requests: Arc<CleanRequests>,
}

/// Requests to write everything; answered by generation numbers.
#[derive(Default)]
pub(crate) struct CleanRequests {
    state: Mutex<(u64, u64)>,
    done: Condvar,
}

impl CleanRequests {
    /// Writes all pages changed so far and moves the checkpoint; returns when done.
    pub fn flush_all(&self, pool: &Pool) {
        let mut state = self.state.lock();
        state.0 += 1;
        let mine = state.0;
        drop(state);
        pool.ring_cleaner();
        let mut state = self.state.lock();
        while state.1 < mine {
            self.done.wait(&mut state);
        }
    }
}

/// What a cleaner needs besides pool and log.
pub(crate) struct CleanerConfig {
    pub worker: usize,
    pub doublewrite: File,
    pub sync: bool,
    pub log_bytes_soft: u64,
    /// Moves the checkpoint as far as clean pages allow; returns its position in the log.
    pub checkpoint: Box<dyn Fn() -> std::result::Result<u64, Error> + Send>,
    pub requests: Arc<CleanRequests>,
}

impl Cleaner {
    pub fn new(pool: Arc<Pool>, wal: Arc<Wal>, config: CleanerConfig) -> Self {
        Self {
            pool,
            wal,
            worker: config.worker,
            doublewrite: config.doublewrite,
            sync: config.sync,
            buf: AlignedBuf::new(AREA_BYTES),
            hand: 0,
            batch: Vec::new(),
            log_bytes_soft: config.log_bytes_soft,
            checkpoint: config.checkpoint,
            requests: config.requests,
        }
    }

    pub fn run(mut self) {
        let mut checkpoint_position = self.wal.written();
        loop {
            self.wait_for_bell();
            if self.pool.stop.load(Ordering::SeqCst) {
                self.requests.state.lock().1 = u64::MAX;
                self.requests.done.notify_all();
                return;
            }
            if let Err(e) = self.round(&mut checkpoint_position) {
                os::fatal(&format!("changed pages cannot be written: {e}"));
            }
        }
    }

    fn wait_for_bell(&self) {
        let (rung, bell) = &self.pool.cleaner_bell;
        let mut rung = rung.lock();
        if !*rung {
            bell.wait_for(&mut rung, ROUND);
        }
        *rung = false;
    }

    fn round(&mut self, checkpoint_position: &mut u64) -> std::result::Result<(), Error> {
        let (asked, answered) = *self.requests.state.lock();
        if asked > answered {
            self.write_older_than(u64::MAX)?;
            *checkpoint_position = (self.checkpoint)()?;
            self.requests.state.lock().1 = asked;
            self.requests.done.notify_all();
        }
        self.make_free()?;
        match self.wal.prepare_segments() {
            // What lies before the checkpoint can be used again.
            Err(Error::Full(_)) => {
                self.write_older_than(u64::MAX)?;
                *checkpoint_position = (self.checkpoint)()?;
            }
            other => other?,
        }
        let written = self.wal.written();
        if written - *checkpoint_position > self.log_bytes_soft {
            self.write_older_than(self.wal.epoch_at(written - self.log_bytes_soft / 2))?;
            *checkpoint_position = (self.checkpoint)()?;
        }
        Ok(())
    }

    /// Writes all pages whose recovery epoch is at most `epoch`.
    fn write_older_than(&mut self, epoch: u64) -> std::result::Result<(), Error> {
        for number in self.pool.used_frames() {
            let frame = self.pool.frame(number);
            if frame.flags.load(Ordering::SeqCst) & DIRTY != 0 && frame.recovery_epoch.load(Ordering::Relaxed) <= epoch {
                self.copy(number);
                if self.batch.len() == BATCH_PAGES {
                    self.write_batch()?;
                    self.make_free()?;
                }
            }
        }
        self.write_batch()
    }

    /// Turns the clock hand until enough frames are free.
    fn make_free(&mut self) -> std::result::Result<(), Error> {
        let target = self.pool.free_below * 2;
        let mut steps = 0;
        while self.pool.free_frames() < target && steps < self.pool.used_frames().len() * 3 {
            steps += 1;
            self.step()?;
        }
        if !self.batch.is_empty() {
            self.write_batch()?;
        }
        Ok(())
    }

    fn step(&mut self) -> std::result::Result<(), Error> {
        let number = self.hand;
        self.hand = (self.hand + 1) % self.pool.used_frames().len().max(1) as u32;
        let frame = self.pool.frame(number);
        let flags = frame.flags.load(Ordering::Relaxed);
        if flags & RESIDENT != 0 || frame.page.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        if flags & REFERENCED != 0 {
            frame.flags.fetch_and(!REFERENCED, Ordering::Relaxed);
            return Ok(());
        }
        if flags & DIRTY != 0 {
            self.copy(number);
            if self.batch.len() == BATCH_PAGES {
                self.write_batch()?;
            }
            return Ok(());
        }
        self.evict(number);
        Ok(())
    }

    /// Frees a clean frame, unless somebody uses it just now.
    fn evict(&self, number: u32) {
        let frame = self.pool.frame(number);
        let Some(_latch) = frame.latch.try_lock() else { return };
        let page = frame.page.load(Ordering::Relaxed);
        let flags = frame.flags.load(Ordering::Relaxed);
        if page == 0 || flags & (DIRTY | RESIDENT | REFERENCED) != 0 {
            return;
        }
        self.pool.word(page).store(0, Ordering::Release);
        frame.page.store(0, Ordering::Relaxed);
        drop(_latch);
        self.pool.counters.pages_evicted.fetch_add(1, Ordering::Relaxed);
        self.pool.give_frame(number);
    }

    /// Step 1: a consistent copy into the batch.
    fn copy(&mut self, number: u32) {
        if self.batch.iter().any(|c| c.number == number) {
            return;
        }
        let frame = self.pool.frame(number);
        let at = HEAD_BYTES + self.batch.len() * PAGE_BYTES;
        loop {
            let epoch = self.wal.epoch();
            let version = frame.latch.read_wait();
            let page = frame.page.load(Ordering::Relaxed);
            if page == 0 || frame.flags.load(Ordering::Relaxed) & DIRTY == 0 {
                return;
            }
            let view = self.pool.page_of(number);
            for (word, bytes) in self.buf[at..at + PAGE_BYTES].chunks_exact_mut(8).enumerate() {
                bytes.copy_from_slice(&view.words().load(word).to_le_bytes());
            }
            let lsn = view.lsn();
            if frame.latch.validate(version) {
                seal(&mut self.buf[at..at + PAGE_BYTES]);
                self.batch.push(Copied { number, page, lsn, epoch });
                return;
            }
        }
    }

    /// Steps 2 to 4.
    fn write_batch(&mut self) -> std::result::Result<(), Error> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let lsn_max = self.batch.iter().map(|c| c.lsn).max().unwrap_or(0);
        let unsafe_to_write = !Pool::log_covers(&self.wal, lsn_max) && !os::mutated("page-before-log");
        if unsafe_to_write {
            self.wal.wait_durable(self.worker, lsn_max >> crate::wal::EPOCH_SHIFT);
        }
        debug_assert!(os::mutated("page-before-log") || Pool::log_covers(&self.wal, lsn_max), "B3");
        if !os::mutated("skip-doublewrite") {
            write_head(&mut self.buf, self.batch.iter().map(|c| (c.page, c.lsn)));
            self.doublewrite.write_at(&self.buf[..HEAD_BYTES + self.batch.len() * PAGE_BYTES], 0)?;
        }
        if self.sync {
            self.doublewrite.sync()?;
        }
        for (index, copied) in self.batch.iter().enumerate() {
            let at = HEAD_BYTES + index * PAGE_BYTES;
            let image = &self.buf[at..at + PAGE_BYTES];
            self.pool.file.write_at(image, u64::from(copied.page) * PAGE_BYTES as u64)?;
        }
        if self.sync {
            self.pool.file.sync()?;
        }
        self.pool.counters.pages_written.fetch_add(self.batch.len() as u64, Ordering::Relaxed);
        for copied in std::mem::take(&mut self.batch) {
            let frame = self.pool.frame(copied.number);
            let _latch = frame.latch.lock();
            if frame.page.load(Ordering::Relaxed) != copied.page {
                continue;
            }
            if self.pool.page_of(copied.number).lsn() == copied.lsn {
                frame.flags.fetch_and(!DIRTY, Ordering::SeqCst);
            } else {
                frame.recovery_epoch.store(copied.epoch, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}
