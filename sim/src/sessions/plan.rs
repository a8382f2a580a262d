//! The parameters of a run, drawn from its seed.

use super::client::Pace;
use os::sim::Rng;
use os::sim::net::Behaviour;

/// Limits that make a run smaller than its seed draws it, to find a short run that fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    pub lives: Option<usize>,
    pub sessions: Option<usize>,
    pub transactions: Option<u64>,
    /// Another order of turns.
    pub turn: u64,
}

#[derive(Clone, Debug)]
pub struct Plan {
    pub lives: usize,
    pub workers: usize,
    pub sessions: usize,
    pub tables: usize,
    pub transactions: u64,
    pub operations_max: u64,
    /// Of each session in each table.
    pub rows_max: u64,
    pub pause_us_max: u64,
    /// Clients leave transactions open for seconds.
    pub idles: bool,
    pub defines: bool,
    /// Between two definitions.
    pub definition_us_max: u64,
    /// Half of the sessions use the ordinary account, whose privileges change.
    pub grants: bool,
    pub grant_us_max: u64,
    /// Triggers count the rows of each session.
    pub triggers: bool,
    pub kills: bool,
    pub kill_us_max: u64,
    /// In one life.
    pub kills_max: u64,
    /// Clients disconnect in the middle of a statement.
    pub breaks: bool,
    pub prepares: bool,
    pub cursors: bool,
    pub pool_bytes: u64,
    pub slow_readers: bool,
    pub network: Behaviour,
}

impl Plan {
    pub fn draw(rng: &mut Rng, limits: Limits) -> Self {
        let network = Behaviour {
            latency_us_max: *rng.pick(&[0, 50, 500, 5_000]),
            piece_bytes_max: *rng.pick(&[1 << 16, 1 << 16, 1_000, 60]),
            pipe_bytes: *rng.pick(&[1 << 16, 1 << 16, 4_000, 300]),
            writes_per_reset: *rng.pick(&[0, 0, 0, 400]),
        };
        let mut plan = Self {
            lives: rng.within(1..=3) as usize,
            workers: rng.within(1..=3) as usize,
            sessions: rng.within(1..=5) as usize,
            tables: rng.within(1..=2) as usize,
            transactions: *rng.pick(&[5, 10, 25]),
            operations_max: *rng.pick(&[2, 5, 10]),
            rows_max: *rng.pick(&[3, 12, 40]),
            pause_us_max: *rng.pick(&[0, 100, 5_000]),
            idles: rng.chance(1, 4),
            defines: rng.chance(2, 3),
            definition_us_max: *rng.pick(&[300, 3_000, 30_000]),
            grants: rng.chance(1, 2),
            grant_us_max: *rng.pick(&[1_000, 10_000]),
            triggers: rng.chance(1, 2),
            kills: rng.chance(1, 3),
            kill_us_max: *rng.pick(&[5_000, 50_000]),
            kills_max: rng.within(1..=25),
            breaks: rng.chance(1, 3),
            prepares: rng.chance(2, 3),
            cursors: rng.chance(1, 2),
            pool_bytes: *rng.pick(&[4, 8]) << 20,
            slow_readers: rng.chance(1, 4),
            network,
        };
        plan.lives = limits.lives.unwrap_or(plan.lives);
        plan.sessions = limits.sessions.unwrap_or(plan.sessions);
        plan.transactions = limits.transactions.unwrap_or(plan.transactions);
        plan
    }

    /// How a client reads.
    pub fn pace(&self, rng: &mut Rng) -> Pace {
        if self.slow_readers && rng.chance(1, 3) {
            return Pace { read_bytes: *rng.pick(&[20, 200, 1_000]), pause_us: rng.below(300) };
        }
        Pace { read_bytes: 4_096, pause_us: 0 }
    }
}
