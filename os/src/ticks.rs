//! A cheap clock for frequent use: a few cycles to read, at an unknown constant speed.
//!
//! On x86-64 it is the time stamp counter, which runs at one speed on all processors of a machine of the last fifteen
//! years. Elsewhere it counts nanoseconds. [`TickClock`] measures the length of a tick by reading both clocks twice.

use crate::time::Instant;

/// The ticks so far. Two readings on one thread may stand in the wrong order by a little where the thread was moved: subtract saturating.
#[inline]
pub fn ticks() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(any(sim, miri))))]
    {
        // SAFETY: the instruction reads a counter into registers, and every x86-64 processor has it.
        unsafe { std::arch::x86_64::_rdtsc() }
    }
    #[cfg(sim)]
    {
        crate::sim::scheduler::now_ns()
    }
    #[cfg(not(any(sim, all(target_arch = "x86_64", not(miri)))))]
    {
        beginning().elapsed().as_nanos() as u64
    }
}

#[cfg(not(any(sim, all(target_arch = "x86_64", not(miri)))))]
fn beginning() -> Instant {
    static BEGINNING: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    *BEGINNING.get_or_init(Instant::now)
}

/// A moment by both clocks, from which ticks become time.
#[derive(Clone, Copy, Debug)]
pub struct TickClock {
    ticks: u64,
    instant: Instant,
}

impl TickClock {
    pub fn start() -> Self {
        Self { ticks: ticks(), instant: Instant::now() }
    }

    /// The tick of the start.
    pub fn began(&self) -> u64 {
        self.ticks
    }

    /// Nanoseconds of one tick, the more exact the longer ago the start is.
    pub fn nanos_per_tick(&self) -> f64 {
        let (passed, counted) = (self.instant.elapsed().as_nanos(), ticks().saturating_sub(self.ticks));
        if counted == 0 { 1.0 } else { passed as f64 / counted as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_go_on() {
        let clock = TickClock::start();
        let before = ticks();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let passed = ticks().saturating_sub(before) as f64 * clock.nanos_per_tick();
        // An emulator may take a while between the two readings of the start.
        assert!(passed >= 10_000_000.0, "{passed} ns");
    }
}
