//! Snapshots in use, and the horizon below which nobody looks.
//!
//! Each worker publishes a bound below every snapshot that it uses or will take before it publishes again: once per turn of its loop,
//! not per statement. The horizon is the least of the bounds.
//!
//! H1: a snapshot is never below its worker's published bound. H2: a worker that comes back from `park` publishes the clock, then looks
//! at the announced horizon, and publishes again if that is higher; a computation announces its horizon, then reads the bounds once
//! more and takes the lesser. With a fence between write and look on both sides, one of the two sees the other, so no snapshot is taken
//! below a horizon in use.
//! H3: a lent snapshot has no slot of its own. Its owner's slot is held for as long as anybody reads by it, so the horizon stays at or below it,
//! whatever the other worker's bound is.

use std::cell::RefCell;
use sync::CachePadded;
use sync::atomic::{AtomicU64, Ordering, fence};

/// The published bounds.
pub struct Horizon {
    bounds: Box<[CachePadded<AtomicU64>]>,
    announced: CachePadded<AtomicU64>,
}

impl Horizon {
    pub fn new(workers: usize) -> Self {
        Self {
            bounds: (0..workers).map(|_| CachePadded::new(AtomicU64::new(u64::MAX))).collect(),
            announced: CachePadded::new(AtomicU64::new(0)),
        }
    }

    fn least(&self) -> u64 {
        self.bounds.iter().map(|b| b.load(Ordering::Acquire)).min().unwrap_or(u64::MAX)
    }

    /// Every snapshot in use, and every one yet to be taken, is at or above the result.
    pub fn compute(&self, clock: &AtomicU64) -> u64 {
        let first = self.least().min(clock.load(Ordering::Acquire));
        // Release: a reader of the horizon also sees the clock from which it was computed.
        self.announced.fetch_max(first, Ordering::AcqRel);
        if os::mutated("careless-horizon") {
            return first;
        }
        // H2
        fence(Ordering::SeqCst);
        first.min(self.least())
    }

    /// Holds the horizon at the present, as a worker's bound does; returns the place.
    pub fn hold_present(&self, slot: usize, clock: &AtomicU64) -> u64 {
        self.publish(slot, u64::MAX, clock);
        // Relaxed: the caller is the only writer.
        self.bounds[slot].load(Ordering::Relaxed)
    }

    /// Moves a slot that holds the horizon up, never down.
    pub fn hold(&self, slot: usize, timestamp: u64) {
        debug_assert!(self.bounds[slot].load(Ordering::Relaxed) <= timestamp, "what was let go may be gone");
        // Release: who computes from it sees the bounds of the snapshots below it (P2 in `past`).
        self.bounds[slot].store(timestamp, Ordering::Release);
    }

    /// A slot holds nothing any more.
    pub fn let_go(&self, slot: usize) {
        self.withdraw(slot, u64::MAX);
    }

    fn publish(&self, worker: usize, oldest_open: u64, clock: &AtomicU64) {
        let bound = &self.bounds[worker];
        bound.store(clock.load(Ordering::Acquire).min(oldest_open), Ordering::Release);
        fence(Ordering::SeqCst);
        // H2. An open snapshot was covered by the bound before and holds it down; only the clock's part can be behind.
        let announced = self.announced.load(Ordering::Acquire);
        if bound.load(Ordering::Relaxed) < announced {
            bound.store(clock.load(Ordering::Acquire).min(oldest_open), Ordering::Release);
        }
    }

    fn withdraw(&self, worker: usize, oldest_open: u64) {
        // Release: the worker's reads under its snapshots precede the end of its bound.
        self.bounds[worker].store(oldest_open, Ordering::Release);
    }
}

/// One worker's open snapshots. A slot is `u64::MAX` when free.
#[derive(Default)]
pub struct Snapshots {
    slots: RefCell<(Vec<u64>, Vec<u32>)>,
}

/// The slot of a snapshot that is registered elsewhere.
const LENT: u32 = u32::MAX;

/// A registered snapshot, or one that is lent.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    pub timestamp: u64,
    slot: u32,
}

impl Snapshot {
    /// One that another worker has registered and holds for as long as this one is used.
    pub fn lent(timestamp: u64) -> Self {
        Self { timestamp, slot: LENT }
    }

    pub fn is_lent(&self) -> bool {
        self.slot == LENT
    }
}

impl Snapshots {
    pub fn take(&self, clock: &AtomicU64) -> Snapshot {
        // Acquire: a transaction whose timestamp is included has at least the status `committing` here.
        self.take_at(clock.load(Ordering::Acquire))
    }

    /// A snapshot of a time that something else holds the horizon at, until the worker has published its bound.
    pub fn take_at(&self, timestamp: u64) -> Snapshot {
        let (slots, free) = &mut *self.slots.borrow_mut();
        let slot = match free.pop() {
            Some(slot) => {
                slots[slot as usize] = timestamp;
                slot
            }
            None => {
                slots.push(timestamp);
                slots.len() as u32 - 1
            }
        };
        Snapshot { timestamp, slot }
    }

    pub fn release(&self, snapshot: Snapshot) {
        if snapshot.is_lent() {
            return;
        }
        let (slots, free) = &mut *self.slots.borrow_mut();
        debug_assert_eq!(slots[snapshot.slot as usize], snapshot.timestamp);
        slots[snapshot.slot as usize] = u64::MAX;
        free.push(snapshot.slot);
    }

    fn oldest(&self) -> u64 {
        let (slots, free) = &*self.slots.borrow();
        if slots.len() == free.len() { u64::MAX } else { slots.iter().copied().min().unwrap_or(u64::MAX) }
    }

    /// A quiescent point: publishes the present.
    pub fn tick(&self, horizon: &Horizon, worker: usize, clock: &AtomicU64) {
        horizon.publish(worker, self.oldest(), clock);
    }

    /// The worker goes to sleep: only its open snapshots count.
    pub fn park(&self, horizon: &Horizon, worker: usize) {
        horizon.withdraw(worker, self.oldest());
    }
}

/// Every interleaving of a few threads: `cargo xtask models`.
#[cfg(all(test, loom))]
mod model {
    use super::*;
    use loom::sync::{Arc, Mutex};
    use loom::thread;

    /// P1, P2 of `past`: no horizon passes a snapshot that was taken at a mark, while the marks move on.
    #[test]
    fn no_horizon_passes_a_snapshot_of_the_past() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let shared = Arc::new((Horizon::new(2), AtomicU64::new(5), Mutex::new(0)));
            let mover = {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (horizon, clock, mark) = &*shared;
                    *mark.lock().expect("a lock") = horizon.hold_present(1, clock);
                    clock.fetch_add(1, Ordering::AcqRel);
                    let mut mark = mark.lock().expect("a lock");
                    *mark = clock.load(Ordering::Acquire);
                    horizon.hold(1, *mark);
                })
            };
            let reader = {
                let shared = shared.clone();
                thread::spawn(move || {
                    let (horizon, clock, mark) = &*shared;
                    let snapshots = Snapshots::default();
                    let mark = mark.lock().expect("a lock");
                    let taken = (*mark > 0).then(|| snapshots.take_at(*mark));
                    snapshots.tick(horizon, 0, clock);
                    drop(mark);
                    taken.map(|snapshot| (snapshot.timestamp, horizon.compute(clock)))
                })
            };
            let (horizon, clock, _) = &*shared;
            let computed = horizon.compute(clock);
            mover.join().expect("the mover");
            if let Some((timestamp, during)) = reader.join().expect("the reader") {
                assert!(
                    during <= timestamp && horizon.compute(clock) <= timestamp && computed <= timestamp,
                    "passed {timestamp}"
                );
            }
        });
    }

    /// H1, H2: a worker that wakes takes no snapshot below a horizon that was computed.
    #[test]
    fn no_snapshot_lies_below_a_horizon() {
        let mut builder = loom::model::Builder::new();
        // Without a bound it takes minutes.
        builder.preemption_bound = Some(3);
        builder.check(|| {
            let shared = Arc::new((Horizon::new(2), AtomicU64::new(1)));
            let sleepers: Vec<_> = (0..2)
                .map(|worker| {
                    let shared = shared.clone();
                    thread::spawn(move || {
                        let (horizon, clock) = &*shared;
                        let snapshots = Snapshots::default();
                        snapshots.tick(horizon, worker, clock);
                        if worker == 1 {
                            clock.fetch_add(1, Ordering::AcqRel);
                        }
                        let taken = snapshots.take(clock);
                        snapshots.park(horizon, worker);
                        taken.timestamp
                    })
                })
                .collect();
            let (horizon, clock) = &*shared;
            let computed = horizon.compute(clock);
            for sleeper in sleepers {
                let timestamp = sleeper.join().expect("a worker");
                assert!(timestamp >= computed, "{timestamp} below {computed}");
            }
            // Both snapshots are still open, and hold it down.
            assert!(horizon.compute(clock) <= 2);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn open_snapshots_hold_the_horizon() {
        let (horizon, clock) = (Horizon::new(2), AtomicU64::new(10));
        let (a, b) = (Snapshots::default(), Snapshots::default());
        a.tick(&horizon, 0, &clock);
        let old = a.take(&clock);
        clock.store(20, Ordering::SeqCst);
        a.tick(&horizon, 0, &clock);
        b.tick(&horizon, 1, &clock);
        assert_eq!(horizon.compute(&clock), 10);
        a.park(&horizon, 0);
        assert_eq!(horizon.compute(&clock), 10);
        a.release(old);
        a.park(&horizon, 0);
        assert_eq!(horizon.compute(&clock), 20);
        b.park(&horizon, 1);
        clock.store(30, Ordering::SeqCst);
        assert_eq!(horizon.compute(&clock), 30);
        a.tick(&horizon, 0, &clock);
        assert_eq!(a.take(&clock).timestamp, 30);
    }
}
