//! Changes the size of the pool while it is used.
//!
//! To grow is done when it is asked for. To shrink, the cleaner vacates the frames above the limit, a part of them in each of its rounds:
//! 1. a page that was read lately or must stay in memory moves to a frame below the limit; without a free one it waits for the next time
//!    round, or is treated as the others;
//! 2. a changed page is written first, as any page that is to be evicted (B3);
//! 3. the others are evicted. Readers hold nothing, and whoever has the latch of a frame is waited for by trying again;
//! 4. when all are retired (`frames`) their memory is given back to the system, a part at a time.
//!
//! Latches: that of the frame to be vacated, by trying only; below it that of the free frame, which nobody else can hold for long: it has
//! no page, so whoever gets it by an old number finds that out and releases it.

use super::*;

/// Frames that are vacated in one round.
const VACATE_STEP: usize = if cfg!(any(sim, miri)) { 16 } else { 4096 };
/// Frames whose memory is given back in one round: 256 MiB.
const RELEASE_STEP: usize = 1 << 14;
/// The system gives memory in pages of at most this size.
const SYSTEM_PAGE_BYTES_MAX: usize = 64 << 10;

/// How far the cleaner is with a shrink.
#[derive(Default)]
pub(super) struct Shrink {
    pub goes_on: bool,
    /// The next frame to be vacated.
    hand: u32,
    /// The memory of this many frames above the limit was given back.
    released: usize,
}

impl Pool {
    /// Changes the memory of the pool. A shrink ends in the background: [`Pool::resize_state`].
    /// Returns the new size: not less than the pool needs, and not more than the machine has.
    /// # Errors
    /// An earlier shrink has not ended.
    pub fn resize(&self, bytes: u64) -> std::result::Result<u64, ResizeBusy> {
        let bytes = self.bytes_near(bytes);
        self.usable.resize(frames_in(bytes), PAGE_BYTES as u64)?;
        self.wake_frame_waiters();
        self.ring_cleaner();
        Ok(bytes)
    }

    /// The size that the pool can have that is nearest to this one.
    pub fn bytes_near(&self, bytes: u64) -> u64 {
        let is_resident = |number: &u32| self.frame(*number).flags.load(Ordering::Relaxed) & RESIDENT != 0;
        let mut count = frames_in(bytes).min(self.frames_max);
        if count < self.frame_count() {
            // What stays in memory needs no frame of the others.
            count = count.max(FRAMES_MIN + self.used_frames().filter(is_resident).count()).min(self.frame_count());
        }
        count as u64 * PAGE_BYTES as u64
    }

    pub fn resize_state(&self) -> ResizeState {
        self.usable.state()
    }
}

impl Cleaner {
    /// One step of a running shrink.
    pub(super) fn shrink(&mut self) -> std::result::Result<(), Error> {
        let Some((above, retired)) = self.pool.usable.shrinking() else {
            self.shrink = Shrink::default();
            return Ok(());
        };
        self.shrink.goes_on = true;
        if retired == above.len() {
            self.release(above);
            return Ok(());
        }
        if !above.contains(&self.shrink.hand) {
            self.shrink.hand = above.start;
        }
        let end = above.end.min(self.shrink.hand.saturating_add(VACATE_STEP as u32));
        for number in self.shrink.hand..end {
            self.vacate(number)?;
        }
        self.shrink.hand = end;
        self.write_wanted(true)?;
        if self.pool.usable.shrinking().is_some_and(|(_, now)| now > retired) {
            // Without a pause while there is progress.
            self.pool.ring_cleaner();
        }
        Ok(())
    }

    fn vacate(&mut self, number: u32) -> std::result::Result<(), Error> {
        let frame = self.pool.frame(number);
        let (page, flags) = (frame.page.load(Ordering::Relaxed), frame.flags.load(Ordering::Relaxed));
        if page == 0 {
            return Ok(());
        }
        let has_room = self.pool.free_frames() > self.pool.free_below();
        if flags & RESIDENT != 0 || flags & REFERENCED != 0 && has_room {
            self.relocate(number);
            return Ok(());
        }
        frame.flags.fetch_and(!REFERENCED, Ordering::Relaxed);
        if flags & DIRTY != 0 {
            return self.want(page, number);
        }
        self.evict(number);
        Ok(())
    }

    /// Moves a page to a frame below the limit (B6), unless somebody uses it just now or no frame is free.
    fn relocate(&self, number: u32) {
        let pool = &self.pool;
        let Some(free) = pool.take_frame() else { return };
        let (from, to) = (pool.frame(number), pool.frame(free));
        let Some(from_latch) = from.latch.try_lock() else { return pool.give_frame(free) };
        let page = from.page.load(Ordering::Relaxed);
        if page == 0 {
            drop(from_latch);
            return pool.give_frame(free);
        }
        assert!(free < number, "B6: downwards");
        let to_latch = to.latch.lock();
        let (source, copy) = (pool.page_of(number).words(), pool.page_of(free).words());
        for word in 0..PAGE_WORDS {
            copy.store(word, source.load(word));
        }
        to.recovery_epoch.store(from.recovery_epoch.load(Ordering::Relaxed), Ordering::Relaxed);
        // SeqCst: before the old frame is seen clean (B6, Pool::oldest_dirty_epoch).
        let lost = if os::mutated("clean-move") { DIRTY } else { 0 };
        to.flags.store(from.flags.load(Ordering::Relaxed) & !lost, Ordering::SeqCst);
        to.page.store(page, Ordering::Relaxed);
        // B2. Nobody waits for the page: it was in memory all the time. Release: a thread that finds the frame finds it
        // filled.
        pool.word(page).store(free + 1, Ordering::Release);
        from.page.store(0, Ordering::Relaxed);
        from.flags.store(0, Ordering::SeqCst);
        drop(to_latch);
        drop(from_latch);
        pool.give_frame(number);
    }

    /// Gives memory of vacated frames back; after the last of it the shrink is done.
    fn release(&mut self, above: std::ops::Range<u32>) {
        let first = above.start as usize + self.shrink.released;
        let last = above.end.min((first + RELEASE_STEP) as u32) as usize;
        let is_vacant = |number: usize| self.pool.frame(number as u32).page.load(Ordering::Relaxed) == 0;
        assert!((first..last).all(is_vacant), "B5: no frame above the limit holds a page");
        let start = (first * PAGE_BYTES).next_multiple_of(SYSTEM_PAGE_BYTES_MAX);
        if let Some(bytes) = (last * PAGE_BYTES).checked_sub(start).filter(|bytes| *bytes > 0) {
            // SAFETY: the range lies inside the reservation and begins at a page of the system; whoever still reads there by an old
            // number does so through RacyWords, and the version of the latch tells him that the page has gone.
            if let Err(e) = unsafe { self.pool.memory.release(start, bytes) } {
                os::report(format_args!("memory of the buffer pool cannot be given back: {e}"));
            }
        }
        self.shrink.released += last - first;
        if last == above.end as usize {
            self.pool.usable.finish();
            self.shrink = Shrink::default();
        } else {
            self.pool.ring_cleaner();
        }
    }
}
