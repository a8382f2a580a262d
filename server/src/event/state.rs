//! The state of the scheduler that all threads share.

use std::sync::Arc;
use std::task::Waker;
use sync::Mutex;
use sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use types::event::EventDef;

/// The state of the scheduler that all threads share.
#[derive(Default)]
pub struct Events {
    changed: AtomicBool,
    pub(super) waker: Mutex<Option<Waker>>,
    pub(super) running: Mutex<Vec<Arc<EventDef>>>,
    /// Counts executions, so that each is another worker's.
    pub(super) turn: AtomicUsize,
}

impl Events {
    /// Events, or the variable, have changed.
    pub fn wake(&self) {
        // Release: pairs with the Acquire in `take_change`; a reader of the flag sees the change.
        self.changed.store(true, Ordering::Release);
        if let Some(waker) = &*self.waker.lock() {
            waker.wake_by_ref();
        }
    }

    pub(super) fn take_change(&self) -> bool {
        self.changed.swap(false, Ordering::Acquire)
    }

    pub(super) fn is_running(&self, event: &Arc<EventDef>) -> bool {
        self.running.lock().iter().any(|running| Arc::ptr_eq(running, event))
    }
}
