//! Which frames of a pool may be taken, and how many it has while it runs.
//!
//! ```text
//! frames:  0 ........ limit ............ fresh ............ max
//! grown:   | in use or on the list | never used, or given back |        limit >= fresh
//! shrinks: | in use or on the list | to be vacated | given back |       limit <  fresh
//! ```
//! 1. To grow raises the limit: the frames up to it are taken as any that were never used.
//! 2. To shrink lowers it. From then on no frame at or above it is handed out. Those on the list leave it; those that hold a page, or that
//!    somebody has taken and not filled yet, follow when they are given back. All that have left the list for good are *retired*.
//! 3. When every frame above the limit is retired, nobody uses them: their memory goes back to the system, and `finish` ends the shrink.
//!
//! F1: a frame is on the list, or retired, or in use by one page or one taker, and only in one of these.
//! F2: `fresh` falls only in `finish`, when all frames that it passes are retired.
//! Latches: one mutex, with none taken below it. A read of a page that is in memory does not come here.

use os::time::since_epoch;
use std::ops::Range;
use std::time::Duration;
use sync::Mutex;
use sync::atomic::{AtomicUsize, Ordering};

/// How far a change of the pool's size is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResizeState {
    /// No change was asked for.
    #[default]
    None,
    /// The size asked for was that of the pool.
    Unchanged { bytes: u64 },
    /// Of the frames that the pool shall do without, as many are free of pages.
    Shrinking { vacated: usize, all: usize },
    /// Done; since the beginning of 1970.
    Done { at: Duration },
}

/// An earlier shrink has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResizeBusy;

pub(super) struct Frames {
    state: Mutex<State>,
    /// Both are changed under the mutex only.
    limit: AtomicUsize,
    fresh: AtomicUsize,
}

#[derive(Default)]
struct State {
    list: Vec<u32>,
    retired: usize,
    last: ResizeState,
}

impl Frames {
    pub fn new(limit: usize) -> Self {
        Self { state: Mutex::default(), limit: AtomicUsize::new(limit), fresh: AtomicUsize::new(0) }
    }

    /// How many the pool has, or shall have when it has shrunk.
    pub fn limit(&self) -> usize {
        // Relaxed: a caller that decides by it checks again under the mutex.
        self.limit.load(Ordering::Relaxed)
    }

    /// Above all frames that may hold a page.
    pub fn used_end(&self) -> usize {
        self.fresh.load(Ordering::SeqCst)
    }

    /// Frames that can be taken at once.
    pub fn free(&self) -> usize {
        self.free_of(&self.state.lock())
    }

    fn free_of(&self, state: &State) -> usize {
        self.limit().saturating_sub(self.used_end()) + state.list.len()
    }

    /// Frames that pages or takers have.
    pub fn in_use(&self) -> usize {
        let state = self.state.lock();
        self.used_end() - state.list.len() - state.retired
    }

    /// A frame below the limit, if one is free; and how many are left.
    pub fn take(&self) -> (Option<u32>, usize) {
        let mut state = self.state.lock();
        let fresh = self.used_end();
        let number = if fresh < self.limit() {
            self.fresh.store(fresh + 1, Ordering::SeqCst);
            Some(fresh as u32)
        } else {
            state.list.pop()
        };
        debug_assert!(number.is_none_or(|number| (number as usize) < self.limit()), "F1");
        (number, self.free_of(&state))
    }

    /// Takes back a frame without a page. `true`: it can be taken again.
    pub fn give(&self, number: u32) -> bool {
        let mut state = self.state.lock();
        let stays = (number as usize) < self.limit();
        if stays {
            state.list.push(number);
        } else {
            state.retired += 1;
            assert!(state.retired <= self.used_end() - self.limit(), "F1: a frame is retired once");
        }
        stays
    }

    /// # Errors
    /// An earlier shrink has not ended.
    pub fn resize(&self, count: usize, frame_bytes: u64) -> Result<(), ResizeBusy> {
        let mut state = self.state.lock();
        if self.limit() < self.used_end() {
            return Err(ResizeBusy);
        }
        if count == self.limit() {
            state.last = ResizeState::Unchanged { bytes: count as u64 * frame_bytes };
            return Ok(());
        }
        self.limit.store(count, Ordering::Relaxed);
        let before = state.list.len();
        state.list.retain(|number| (*number as usize) < count);
        state.retired = before - state.list.len();
        if self.used_end() <= count {
            state.last = ResizeState::Done { at: since_epoch() };
        }
        Ok(())
    }

    /// The frames to be vacated while the pool shrinks, and how many are retired.
    pub fn shrinking(&self) -> Option<(Range<u32>, usize)> {
        let state = self.state.lock();
        let above = self.limit() as u32..self.used_end() as u32;
        (!above.is_empty()).then_some((above, state.retired))
    }

    /// Ends a shrink: all frames above the limit are retired, and their memory was given back.
    pub fn finish(&self) {
        let mut state = self.state.lock();
        assert_eq!(state.retired, self.used_end() - self.limit(), "F2");
        state.retired = 0;
        state.last = ResizeState::Done { at: since_epoch() };
        self.fresh.store(self.limit(), Ordering::SeqCst);
    }

    pub fn state(&self) -> ResizeState {
        let state = self.state.lock();
        match self.used_end().checked_sub(self.limit()) {
            None | Some(0) => state.last,
            Some(all) => ResizeState::Shrinking { vacated: state.retired, all },
        }
    }
}

#[cfg(all(test, not(sim)))]
mod tests {
    use super::*;

    fn take(frames: &Frames) -> Option<u32> {
        frames.take().0
    }

    #[test]
    fn a_shrink_ends_when_every_frame_above_came_back() {
        let frames = Frames::new(4);
        let taken: Vec<u32> = std::iter::from_fn(|| take(&frames)).collect();
        assert_eq!((taken, frames.free(), frames.in_use()), (vec![0, 1, 2, 3], 0, 4));
        assert!(frames.give(1) && frames.give(3));
        assert_eq!(frames.resize(2, 1), Ok(()));
        assert_eq!(frames.state(), ResizeState::Shrinking { vacated: 1, all: 2 });
        assert_eq!(frames.resize(4, 1), Err(ResizeBusy));
        assert_eq!((take(&frames), take(&frames)), (Some(1), None), "frames above the limit are not handed out");
        assert!(!frames.give(2));
        assert_eq!(frames.shrinking(), Some((2..4, 2)));
        frames.finish();
        assert_eq!((frames.shrinking(), frames.in_use(), frames.free()), (None, 2, 0));
        assert!(matches!(frames.state(), ResizeState::Done { .. }));
        assert_eq!(frames.resize(3, 1), Ok(()));
        assert_eq!((take(&frames), take(&frames)), (Some(2), None));
    }

    #[test]
    fn a_shrink_to_more_than_is_used_is_done_at_once() {
        let frames = Frames::new(8);
        assert_eq!(take(&frames), Some(0));
        assert_eq!(frames.resize(8, 10), Ok(()));
        assert_eq!(frames.state(), ResizeState::Unchanged { bytes: 80 });
        assert_eq!(frames.resize(2, 10), Ok(()));
        assert!(matches!(frames.state(), ResizeState::Done { .. }));
        assert_eq!((take(&frames), take(&frames)), (Some(1), None));
    }
}
