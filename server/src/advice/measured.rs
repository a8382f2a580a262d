//! What a trial of an index has measured.

use serde::{Deserialize, Serialize};

/// How much less CPU time is a help.
const HELP_MIN: f64 = 1.25;

/// Without the index, and with it.
pub type Pair = [f64; 2];

/// One statement in a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    pub digest: String,
    pub statement: String,
    /// Different executions that were run, and runs of each side.
    pub executions: u32,
    pub runs: u32,
    /// Rows read by a run, on average.
    pub rows: Pair,
    /// CPU time of a run, on average.
    pub cpu_us: Pair,
    pub p50_us: Pair,
    pub p99_us: Pair,
    /// Runs without the index were ended (T4).
    pub is_cut: bool,
}

/// What a trial found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    pub index_bytes: u64,
    pub build_ms: f64,
    /// CPU time that a row written takes more; `None`: it could not be measured.
    pub write_us: Option<f64>,
    /// Rows that were written, a second, since the start of the server.
    pub writes_per_s: f64,
    pub statements: Vec<Compared>,
}

impl Trial {
    fn sum(&self, of: impl Fn(&Compared) -> Pair) -> Pair {
        self.statements.iter().fold([0.0; 2], |sum, compared| {
            let (pair, runs) = (of(compared), f64::from(compared.runs));
            [sum[0] + pair[0] * runs, sum[1] + pair[1] * runs]
        })
    }

    /// How many times the CPU time without the index is that with it.
    pub fn factor(&self) -> f64 {
        let cpu = self.sum(|compared| compared.cpu_us);
        cpu[0] / cpu[1].max(0.001)
    }

    pub fn helps(&self) -> bool {
        self.factor() >= HELP_MIN
    }

    /// The gain, for SHOW ADVICE.
    pub fn gain(&self) -> String {
        let runs = self.statements.iter().map(|compared| f64::from(compared.runs)).sum::<f64>().max(1.0);
        let each = |pair: Pair| [pair[0] / runs, pair[1] / runs];
        let (rows, cpu) = (each(self.sum(|compared| compared.rows)), each(self.sum(|compared| compared.cpu_us)));
        let most = if self.statements.iter().any(|compared| compared.is_cut) { "at least " } else { "" };
        format!(
            "measured: an execution reads {:.0} rows and takes {most}{} of CPU time without the index, {:.0} rows and {} with it ({most}{:.1} times less)",
            rows[0],
            advisor::duration(cpu[0]),
            rows[1],
            advisor::duration(cpu[1]),
            self.factor()
        )
    }

    /// The price, for SHOW ADVICE.
    pub fn price(&self) -> String {
        let write =
            self.write_us.map_or_else(String::new, |us| format!(", {} of CPU time for each", advisor::duration(us.max(0.0))));
        format!(
            "{} on disk, built in {}; one more entry for each row written ({:.1} per second since the start{write})",
            advisor::bytes(self.index_bytes),
            advisor::duration(self.build_ms * 1e3),
            self.writes_per_s
        )
    }
}
