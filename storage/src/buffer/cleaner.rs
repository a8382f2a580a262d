//! The cleaner: keeps frames free ahead of need, writes changed pages at a steady pace, moves the checkpoint.
//!
//! One batch of changed pages, in the order of their place in the file:
//! 1. copy each page under its version (no latch held), remembering its LSN and the log's epoch;
//! 2. wait until the log is durable up to the highest LSN (B3);
//! 3. write the copies to the doublewrite area, sync; write them home, neighbours with one write, sync. A crash in between leaves either
//!    the old page or a whole copy in the doublewrite area, which the next start puts back (`doublewrite`);
//! 4. mark those frames clean that have not changed since; the others keep the epoch of step 1 as their recovery epoch.
//!
//! The *sweep* bounds the log that a restart must redo. A hand goes round all frames and writes every changed page it meets; a full circle
//! takes as long as the log takes to grow by `CIRCLE` of the bound. So the oldest unwritten change is about one circle old at any moment,
//! the checkpoint moves in small steps, a page is written once per circle however often it changes, and nothing is written that the log's
//! growth does not ask for. When the sweep falls behind it goes on without a pause; when it reaches the bound, writers wait for it
//! (`Wal::check_room`).
//!
//! Eviction takes what large scans have left behind, then goes by a clock: a frame whose REFERENCED bit is set loses it; the next time round a clean one is freed, a changed one is
//! written first. Latches: one frame at a time, try-only when evicting.

use super::doublewrite::{AREA_BYTES, BATCH_PAGES, HEAD_BYTES, write_head};
use super::shrink::Shrink;
use super::*;
use crate::page::seal;
use os::AlignedBuf;
use std::time::Duration;

/// How often the cleaner looks at the length of the log while it grows, and while it does not.
const ROUND: Duration = Duration::from_millis(20);
const IDLE_ROUND: Duration = Duration::from_millis(500);
/// Parts of the bound on the log, in sixteenths: growth in one circle of the sweep; what makes the sweep hurry; what it then aims at.
const CIRCLE: u64 = 12;
const HURRY: u64 = 14;
const CALM: u64 = 13;
/// The sweep moves in steps of this part of a circle.
const STEPS: usize = 64;
/// Threads that write one batch home.
const WRITERS: usize = 4;

struct Copied {
    number: u32,
    page: PageId,
    lsn: Lsn,
    epoch: u64,
}

pub(crate) struct Cleaner {
    pub(super) pool: Arc<Pool>,
    wal: Arc<Wal>,
    /// The cleaner's own index in the log's worker table, for flush requests.
    worker: usize,
    doublewrite: File,
    sync: bool,
    buf: AlignedBuf,
    /// Of the eviction's clock.
    hand: u32,
    /// Changed pages to be written, with their frames.
    wanted: Vec<(PageId, u32)>,
    batch: Vec<Copied>,
    sweep: Sweep,
    pub(super) shrink: Shrink,
    checkpoint: Box<dyn Fn() -> std::result::Result<u64, Error> + Send>,
    requests: Arc<CleanRequests>,
}

/// Where the sweep stands.
struct Sweep {
    hand: usize,
    /// Position in the log when the circle began.
    began: u64,
    /// Redo would begin here.
    redo_from: u64,
    hurrying: bool,
}

/// How often somebody who waits for all pages looks how far it is.
const LOOK: Duration = Duration::from_millis(500);

/// Requests to write everything; answered by generation numbers.
#[derive(Default)]
pub(crate) struct CleanRequests {
    state: Mutex<(u64, u64)>,
    done: Condvar,
}

impl CleanRequests {
    /// Has all pages changed so far written and the checkpoint moved; returns the number of the request.
    pub fn ask(&self, pool: &Pool) -> u64 {
        let mine = {
            let mut state = self.state.lock();
            state.0 += 1;
            state.0
        };
        pool.ring_cleaner();
        mine
    }

    /// As `ask`; returns when done.
    pub fn flush_all(&self, pool: &Pool) {
        self.flush_seen(pool, || {});
    }

    /// As `flush_all`; calls `see` from time to time while it waits.
    pub fn flush_seen(&self, pool: &Pool, mut see: impl FnMut()) {
        let mine = self.ask(pool);
        let mut state = self.state.lock();
        while state.1 < mine {
            if self.done.wait_for(&mut state, LOOK).timed_out() {
                drop(state);
                see();
                state = self.state.lock();
            }
        }
    }
}

/// What a cleaner needs besides pool and log.
pub(crate) struct CleanerConfig {
    pub worker: usize,
    pub doublewrite: File,
    pub sync: bool,
    /// Moves the checkpoint as far as clean pages allow; returns the position in the log from which it would be redone.
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
            wanted: Vec::new(),
            batch: Vec::new(),
            sweep: Sweep { hand: 0, began: 0, redo_from: 0, hurrying: false },
            shrink: Shrink::default(),
            checkpoint: config.checkpoint,
            requests: config.requests,
        }
    }

    pub fn run(mut self) {
        self.sweep.began = self.wal.written();
        // Nothing is behind before the first checkpoint is known.
        self.sweep.redo_from = self.sweep.began;
        let mut seen = self.sweep.began;
        loop {
            let grows = std::mem::replace(&mut seen, self.wal.written()) != seen;
            self.wait_for_bell(if grows || self.sweep.hurrying || self.shrink.goes_on { ROUND } else { IDLE_ROUND });
            if self.pool.stop.load(Ordering::SeqCst) {
                self.requests.state.lock().1 = u64::MAX;
                self.requests.done.notify_all();
                self.wal.set_redo_position(u64::MAX);
                return;
            }
            if let Err(e) = self.round() {
                os::fatal(&format!("changed pages cannot be written: {e}"));
            }
        }
    }

    fn wait_for_bell(&self, most: Duration) {
        let (rung, bell) = &self.pool.cleaner_bell;
        let mut rung = rung.lock();
        if !*rung {
            bell.wait_for(&mut rung, most);
        }
        *rung = false;
    }

    fn round(&mut self) -> std::result::Result<(), Error> {
        let (asked, answered) = *self.requests.state.lock();
        if asked > answered {
            self.write_all()?;
            self.requests.state.lock().1 = asked;
            self.requests.done.notify_all();
        }
        self.make_free()?;
        match self.wal.prepare_segments() {
            // What lies before the checkpoint can be used again.
            Err(Error::Full(_)) => self.write_all()?,
            other => other?,
        }
        self.shrink()?;
        self.keep_pace()
    }

    /// Sweeps as far as the log has grown, and on while it is too long; not much more than a circle at once.
    fn keep_pace(&mut self) -> std::result::Result<(), Error> {
        for _ in 0..STEPS + 1 {
            let bound = self.wal.redo_bytes_max();
            let length = self.wal.written().saturating_sub(self.sweep.redo_from);
            self.sweep.hurrying = length > bound / 16 * if self.sweep.hurrying { CALM } else { HURRY };
            let frames = self.pool.used_frames().len();
            let step = frames / STEPS + 1;
            let grown = self.wal.written().saturating_sub(self.sweep.began);
            let due = (frames as u128 * u128::from(grown) / u128::from(bound / 16 * CIRCLE)) as usize;
            if due < self.sweep.hand + step && !self.sweep.hurrying {
                if self.wal.is_behind() {
                    self.wal.set_redo_position(self.sweep.redo_from);
                }
                return Ok(());
            }
            self.sweep_step(step)?;
            self.move_checkpoint()?;
            if self.pool.stop.load(Ordering::SeqCst) {
                return Ok(());
            }
            self.make_free()?;
        }
        Ok(())
    }

    fn sweep_step(&mut self, step: usize) -> std::result::Result<(), Error> {
        let frames = self.pool.used_frames().len();
        let end = (self.sweep.hand + step).min(frames);
        self.write_changed(self.sweep.hand as u32..end as u32)?;
        self.sweep.hand = end;
        if end == frames {
            self.sweep.hand = 0;
            self.sweep.began = self.wal.written();
        }
        Ok(())
    }

    /// Writes every page that is changed by now, and moves the checkpoint.
    fn write_all(&mut self) -> std::result::Result<(), Error> {
        let frames = self.pool.used_frames();
        self.sweep.hand = 0;
        self.sweep.began = self.wal.written();
        self.write_changed(frames)?;
        self.move_checkpoint()
    }

    fn write_changed(&mut self, frames: std::ops::Range<u32>) -> std::result::Result<(), Error> {
        for number in frames {
            let frame = self.pool.frame(number);
            if frame.flags.load(Ordering::SeqCst) & DIRTY != 0 {
                self.wanted.push((frame.page.load(Ordering::Relaxed), number));
            }
            if self.wanted.len() == BATCH_PAGES * WRITERS {
                self.write_wanted(false)?;
                self.make_free()?;
            }
        }
        self.write_wanted(false)
    }

    fn move_checkpoint(&mut self) -> std::result::Result<(), Error> {
        self.sweep.redo_from = (self.checkpoint)()?;
        self.wal.set_redo_position(self.sweep.redo_from);
        Ok(())
    }

    /// Takes what scans have left and turns the clock hand until enough frames are free.
    fn make_free(&mut self) -> std::result::Result<(), Error> {
        let target = self.pool.free_below() * 2;
        while self.pool.free_frames() < target {
            let Some(page) = self.pool.spent.lock().pop_front() else { break };
            let word = self.pool.word(page).load(Ordering::Acquire);
            if word != 0 && word != LOADING {
                // Should the frame have another page by now: that one has no reader either.
                self.evict(word - 1);
            }
        }
        let mut steps = 0;
        while self.pool.free_frames() < target && steps < self.pool.used_frames().len() * 3 {
            steps += 1;
            self.step()?;
        }
        self.write_wanted(true)
    }

    fn step(&mut self) -> std::result::Result<(), Error> {
        // Those above the limit are `shrink`'s.
        let end = self.pool.used_frames().len().min(self.pool.frame_count()).max(1) as u32;
        let number = self.hand % end;
        self.hand = (number + 1) % end;
        let frame = self.pool.frame(number);
        let flags = frame.flags.load(Ordering::Relaxed);
        let page = frame.page.load(Ordering::Relaxed);
        if flags & RESIDENT != 0 || page == 0 {
            return Ok(());
        }
        if flags & REFERENCED != 0 {
            frame.flags.fetch_and(!REFERENCED, Ordering::Relaxed);
            return Ok(());
        }
        if flags & DIRTY != 0 {
            return self.want(page, number);
        }
        self.evict(number);
        Ok(())
    }

    /// Has a changed page written, and its frame freed.
    pub(super) fn want(&mut self, page: PageId, number: u32) -> std::result::Result<(), Error> {
        self.wanted.push((page, number));
        if self.wanted.len() == BATCH_PAGES {
            self.write_wanted(true)?;
        }
        Ok(())
    }

    /// Writes the pages wanted, in their order in the file; then frees their frames if that is what it was for.
    pub(super) fn write_wanted(&mut self, to_evict: bool) -> std::result::Result<(), Error> {
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.sort_unstable();
        wanted.dedup();
        for part in wanted.chunks(BATCH_PAGES) {
            part.iter().for_each(|(_, number)| self.copy(*number));
            self.write_batch()?;
            if to_evict {
                part.iter().for_each(|(_, number)| self.evict(*number));
            }
        }
        wanted.clear();
        self.wanted = wanted;
        Ok(())
    }

    /// Frees a clean frame, unless somebody uses it just now.
    pub(super) fn evict(&self, number: u32) {
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
        self.write_home()?;
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

    /// Step 3: the copies, each to its place in the data file, by several threads: what one device does at once is more than one write.
    fn write_home(&self) -> std::result::Result<(), Error> {
        let mut runs = Vec::new();
        let mut first = 0;
        for run in self.batch.chunk_by(|a, b| b.page == a.page + 1) {
            let image = HEAD_BYTES + first * PAGE_BYTES..HEAD_BYTES + (first + run.len()) * PAGE_BYTES;
            runs.push((&self.buf[image], u64::from(run[0].page) * PAGE_BYTES as u64));
            first += run.len();
        }
        let file = &self.pool.file;
        let write =
            |runs: &[(&[u8], u64)]| runs.iter().try_for_each(|(image, at)| file.write_at(image, *at)).map_err(Error::from);
        if runs.len() < 2 * WRITERS {
            return write(&runs);
        }
        os::thread::scope(|scope| {
            let threads: Vec<_> =
                runs.chunks(runs.len().div_ceil(WRITERS)).map(|share| scope.spawn(move || write(share))).collect();
            threads.into_iter().try_for_each(|thread| thread.join().expect("a write does not panic"))
        })
    }
}
