//! Bounded spinning, measured in nanoseconds rather than in loop turns.
//!
//! PAUSE takes about 10 cycles on some processors and 140 on others, so a fixed number of turns means something else on each.
//! The cost of one turn is measured once, at the first use.

use std::hint::spin_loop;
use std::sync::OnceLock;
use std::time::Instant;

/// How many `spin_loop` hints take about one microsecond here.
pub fn turns_per_us() -> u32 {
    static TURNS: OnceLock<u32> = OnceLock::new();
    *TURNS.get_or_init(|| {
        const SAMPLE: u32 = 2_000;
        let best = (0..3)
            .map(|_| {
                let began = Instant::now();
                for _ in 0..SAMPLE {
                    spin_loop();
                }
                began.elapsed().as_nanos().max(1)
            })
            .min()
            .unwrap_or(1);
        (u128::from(SAMPLE) * 1_000 / best).clamp(1, 1_000) as u32
    })
}

/// Under a model checker time does not pass: one look.
#[cfg(loom)]
pub fn spin_until(_us: u32, mut done: impl FnMut() -> bool) -> bool {
    done()
}

/// Lets others run for a while, as a spinning thread does.
#[cfg(sim)]
pub fn spin_until(us: u32, mut done: impl FnMut() -> bool) -> bool {
    (0..us).any(|_| {
        os::thread::yield_now();
        done()
    })
}

/// Spins for up to `us` microseconds until `done` is true; returns whether it was.
#[cfg(not(any(loom, sim)))]
pub fn spin_until(us: u32, mut done: impl FnMut() -> bool) -> bool {
    for _ in 0..us.saturating_mul(turns_per_us()) {
        if done() {
            return true;
        }
        spin_loop();
    }
    done()
}
