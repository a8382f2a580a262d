//! What a seed makes of a run. Each run uses some of everything, drawn anew: few sessions or many, one isolation level or all, a
//! schedule that changes turns at every step or seldom, this fault or that ("Swarm Testing", ISSTA 2012).

use crate::history::Level;
use os::sim::Rng;
use os::sim::disk::{CrashKind, Faults};
use os::sim::scheduler::Schedule;
use txn::Durability;

#[derive(Clone, Debug)]
pub struct Plan {
    pub lives: usize,
    pub workers: usize,
    pub sessions_per_worker: usize,
    pub transactions_per_session: u64,
    pub operations_max: u64,
    /// Keys below are lists that only grow.
    pub lasting_keys: u64,
    pub keys: u64,
    /// Rows that are there from the start.
    pub filled: u64,
    pub padding_max: usize,
    pub scan_keys_max: u64,
    pub levels: Vec<Level>,
    pub durability: Durability,
    pub pool_bytes: u64,
    pub lock_wait_ms_max: u64,
    pub pause_us_max: u64,
    pub faults: Faults,
    /// The disk is full now and then.
    pub fills_up: bool,
    /// A durable bit changes at the end.
    pub rots: bool,
    /// The log is damaged after the last crash.
    pub damages_log: bool,
}

impl Plan {
    pub fn draw(rng: &mut Rng) -> Self {
        let lasting_keys = rng.within(2..=24);
        let keys = lasting_keys + *rng.pick(&[4, 30, 200, 900]);
        let levels = match rng.below(6) {
            0 => vec![Level::ReadCommitted],
            1 | 2 => vec![Level::RepeatableRead],
            3 => vec![Level::Serializable],
            4 => vec![Level::ReadCommitted, Level::RepeatableRead, Level::Serializable],
            _ => vec![Level::ReadUncommitted, Level::ReadCommitted, Level::RepeatableRead, Level::Serializable],
        };
        let durability =
            *rng.pick(&[Durability::Full, Durability::Full, Durability::Full, Durability::Full, Durability::Relaxed]);
        let mut sometimes = |value: u64| if rng.chance(1, 5) { value } else { 0 };
        let faults = Faults {
            read_error: sometimes(2_000),
            read_flip: sometimes(2_000),
            sync_error: sometimes(1_000),
            write_error: sometimes(500),
            full: false,
        };
        Self {
            lives: rng.within(2..=8) as usize,
            workers: rng.within(1..=4) as usize,
            sessions_per_worker: rng.within(1..=4) as usize,
            transactions_per_session: *rng.pick(&[5, 20, 60]),
            operations_max: *rng.pick(&[2, 5, 12]),
            lasting_keys,
            keys,
            filled: if rng.chance(1, 2) { keys } else { 0 },
            padding_max: *rng.pick(&[0, 100, 900, 2_500]),
            scan_keys_max: *rng.pick(&[3, 20, 200]),
            levels,
            durability,
            pool_bytes: *rng.pick(&[1, 1, 2, 8]) << 20,
            lock_wait_ms_max: *rng.pick(&[2, 50, 2_000]),
            pause_us_max: *rng.pick(&[0, 100, 20_000]),
            faults,
            fills_up: rng.chance(1, 6),
            rots: rng.chance(1, 6),
            damages_log: rng.chance(1, 3),
        }
    }

    /// How the threads of one life take turns.
    pub fn schedule(rng: &mut Rng) -> Schedule {
        Schedule {
            points_per_choice: *rng.pick(&[1, 3, 10, 40, 200]),
            weight_max: *rng.pick(&[1, 1, 4, 30]),
            choices_per_stay: *rng.pick(&[0, 100, 1_000, 10_000]),
            parallelism: rng.within(1..=4) as usize,
        }
    }

    /// When and how one life ends early, if it does.
    pub fn crash(rng: &mut Rng) -> Option<(u64, CrashKind)> {
        let kind = if rng.chance(2, 3) { CrashKind::Power } else { CrashKind::Process };
        let most = *rng.pick(&[500, 3_000, 20_000, 100_000, 400_000]);
        rng.chance(5, 6).then(|| (rng.within(1..=most), kind))
    }
}
