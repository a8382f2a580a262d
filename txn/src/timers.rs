//! Timeouts of lock waits: one thread, asleep while nobody waits.

use crate::locks::WaitCell;
use os::time::Instant;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Weak};
use sync::{Condvar, Mutex};

const SWEEP_AT_LEAST: usize = 4096;

struct Entry {
    at: Instant,
    cell: Weak<WaitCell>,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at.cmp(&other.at)
    }
}

#[derive(Default)]
struct State {
    heap: BinaryHeap<Reverse<Entry>>,
    /// At this length dead entries are swept.
    sweep_at: usize,
    stop: bool,
}

/// Deadlines of waits.
#[derive(Default)]
pub struct Timers {
    state: Mutex<State>,
    changed: Condvar,
}

impl Timers {
    pub fn add(&self, at: Instant, cell: &Arc<WaitCell>) {
        let mut state = self.state.lock();
        // Waits that ended leave dead entries.
        if state.heap.len() >= state.sweep_at {
            state.heap.retain(|Reverse(e)| e.cell.strong_count() > 0);
            state.sweep_at = SWEEP_AT_LEAST.max(2 * state.heap.len());
        }
        let first = state.heap.peek().is_none_or(|Reverse(e)| at < e.at);
        state.heap.push(Reverse(Entry { at, cell: Arc::downgrade(cell) }));
        if first {
            self.changed.notify_one();
        }
    }

    pub fn stop(&self) {
        self.state.lock().stop = true;
        self.changed.notify_one();
    }

    pub fn run(&self) {
        let mut state = self.state.lock();
        while !state.stop {
            let now = Instant::now();
            match state.heap.peek() {
                None => self.changed.wait(&mut state),
                Some(Reverse(entry)) if entry.at > now => {
                    let at = entry.at;
                    self.changed.wait_until(&mut state, at);
                }
                Some(_) => {
                    if let Some(cell) = state.heap.pop().and_then(|Reverse(e)| e.cell.upgrade()) {
                        cell.time_out();
                    }
                }
            }
        }
    }
}
