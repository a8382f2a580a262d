//! The curves that the console keeps: what each one is, and how a point is made from two readings of the counters.
//!
//! The order is the order in the file of `history`: a new curve is added at the end, and `history::FORMAT` changes.

use crate::Figures;
use crate::process;
use std::path::Path;
use std::time::Instant;

/// How a point of a curve is made.
#[derive(Clone, Copy, Debug)]
enum Of {
    /// The growth of these counters a second.
    Rate(&'static [&'static str]),
    /// The time of waits of this kind that ended, a second: how many sessions wait so on average.
    Wait(&'static str),
    /// The present value.
    Present(&'static str),
    /// The time that so many thousandths of the statements took at most, in milliseconds.
    Quantile(u64),
    /// CPU time of the process a second.
    Cpu,
    /// Time of statements a second: how many run on average.
    StatementTime,
    Memory,
    DiskFree,
}

/// The curves by name.
const SERIES: &[(&str, Of)] = &[
    ("queries", Of::Rate(&["Questions"])),
    ("p50_ms", Of::Quantile(500)),
    ("p95_ms", Of::Quantile(950)),
    ("p99_ms", Of::Quantile(990)),
    ("statement_time", Of::StatementTime),
    ("cpu", Of::Cpu),
    ("wait_ready", Of::Wait("ready")),
    ("wait_page_read", Of::Wait("page_read")),
    ("wait_free_frame", Of::Wait("free_frame")),
    ("wait_page_latch", Of::Wait("page_latch")),
    ("wait_log_flush", Of::Wait("log_flush")),
    ("wait_checkpoint", Of::Wait("checkpoint")),
    ("wait_row_lock", Of::Wait("row_lock")),
    ("wait_gap_lock", Of::Wait("gap_lock")),
    ("wait_metadata_lock", Of::Wait("metadata_lock")),
    ("wait_user_lock", Of::Wait("user_lock")),
    ("wait_temporary_file", Of::Wait("temporary_file")),
    ("wait_file", Of::Wait("file")),
    ("wait_network_write", Of::Wait("network_write")),
    ("wait_definition", Of::Wait("definition")),
    ("wait_other", Of::Wait("other")),
    ("connections", Of::Present("Threads_connected")),
    ("running", Of::Present("Threads_running")),
    ("selects", Of::Rate(&["Com_select"])),
    ("inserts", Of::Rate(&["Com_insert", "Com_insert_select", "Com_replace", "Com_replace_select", "Com_load"])),
    ("updates", Of::Rate(&["Com_update", "Com_update_multi"])),
    ("deletes", Of::Rate(&["Com_delete", "Com_delete_multi"])),
    ("commits", Of::Rate(&["Com_commit"])),
    ("rows_read", Of::Rate(&["Innodb_rows_read"])),
    ("rows_written", Of::Rate(&["Innodb_rows_inserted", "Innodb_rows_updated", "Innodb_rows_deleted"])),
    ("slow", Of::Rate(&["Slow_queries"])),
    ("full_scans", Of::Rate(&["Select_scan", "Select_full_join"])),
    ("deadlocks", Of::Rate(&["Innodb_deadlocks"])),
    ("bytes_in", Of::Rate(&["Bytes_received"])),
    ("bytes_out", Of::Rate(&["Bytes_sent"])),
    ("memory", Of::Memory),
    ("pool_used", Of::Present("Innodb_buffer_pool_bytes_data")),
    ("pool_dirty", Of::Present("Innodb_buffer_pool_bytes_dirty")),
    ("page_reads", Of::Rate(&["Innodb_pages_read"])),
    ("page_writes", Of::Rate(&["Innodb_pages_written"])),
    ("log_bytes", Of::Rate(&["Innodb_os_log_written"])),
    ("log_flushes", Of::Rate(&["Innodb_os_log_fsyncs"])),
    ("redo", Of::Present("Heddle_redo_bytes")),
    ("undo", Of::Present("Heddle_undo_bytes")),
    ("history_length", Of::Present("Heddle_history_length")),
    ("temporary", Of::Present("Heddle_temporary_bytes")),
    ("disk_free", Of::DiskFree),
    ("aborted", Of::Rate(&["Aborted_clients", "Aborted_connects"])),
];

pub const COUNT: usize = SERIES.len();

/// One point of every curve.
pub type Point = [f32; COUNT];

/// The names of the curves, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    SERIES.iter().map(|(name, _)| *name)
}

/// One reading of everything that the curves are made of.
#[derive(Clone, Debug)]
pub struct Reading {
    pub at: Instant,
    pub figures: Figures,
    cpu_seconds: f64,
    memory_bytes: u64,
    disk_free_bytes: u64,
}

impl Reading {
    pub fn new(figures: Figures, data_dir: &Path) -> Self {
        Self {
            at: Instant::now(),
            figures,
            cpu_seconds: process::cpu_seconds().unwrap_or(0.0),
            memory_bytes: process::memory_bytes().unwrap_or(0),
            disk_free_bytes: process::free_bytes(data_dir).unwrap_or(0),
        }
    }

    fn count(&self, name: &str) -> f64 {
        self.figures.status.get(name).copied().unwrap_or(0) as f64
    }

    /// The seconds of all waits of a kind.
    fn waited(&self, kind: &str) -> f64 {
        self.figures.waits.get(kind).map_or(0.0, |wait| wait.seconds)
    }

    /// The point between an earlier reading and this one.
    pub fn since(&self, before: &Reading) -> Point {
        let seconds = self.at.duration_since(before.at).as_secs_f64().max(1e-3);
        // FLUSH STATUS may let a counter fall.
        let rate = |name: &str| (self.count(name) - before.count(name)).max(0.0) / seconds;
        let mut point = [0.0; COUNT];
        for (place, (_, of)) in point.iter_mut().zip(SERIES) {
            *place = match of {
                Of::Rate(names) => names.iter().map(|name| rate(name)).sum(),
                Of::Wait(kind) => (self.waited(kind) - before.waited(kind)).max(0.0) / seconds,
                Of::Present(name) => self.count(name),
                Of::Quantile(thousandths) => self.quantile(before, *thousandths) * 1e3,
                Of::Cpu => (self.cpu_seconds - before.cpu_seconds).max(0.0) / seconds,
                Of::StatementTime => (self.figures.latency_sum - before.figures.latency_sum).max(0.0) / seconds,
                Of::Memory => self.memory_bytes as f64,
                Of::DiskFree => self.disk_free_bytes as f64,
            } as f32;
        }
        point
    }

    /// The seconds that this part of the statements between the readings took at most; 0 if there were none.
    fn quantile(&self, before: &Reading, thousandths: u64) -> f64 {
        let pairs = || self.figures.latencies.iter().zip(before.figures.latencies.iter());
        let all: u64 = pairs().map(|((_, now), (_, then))| now.saturating_sub(*then)).sum();
        let wanted = (all * thousandths).div_ceil(1000);
        let mut seen = 0;
        let reached = pairs().find(|((_, now), (_, then))| {
            seen += now.saturating_sub(*then);
            seen >= wanted
        });
        if all == 0 { 0.0 } else { reached.map_or(0.0, |((end, _), _)| *end) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn reading(at: Instant, questions: u64, latencies: &[(f64, u64)]) -> Reading {
        let status = [("Questions", questions), ("Threads_connected", 7)].into_iter().collect();
        let latency_sum = latencies.iter().map(|(end, count)| end * *count as f64).sum();
        let figures = Figures { status, latencies: latencies.to_vec(), latency_sum, ..Figures::default() };
        Reading { at, figures, cpu_seconds: questions as f64 / 100.0, memory_bytes: 5, disk_free_bytes: 6 }
    }

    #[test]
    fn a_point_is_the_difference_of_two_readings() {
        let begin = Instant::now();
        let before = reading(begin, 100, &[(0.001, 90), (0.01, 10), (0.1, 0)]);
        let after = reading(begin + Duration::from_secs(2), 300, &[(0.001, 188), (0.01, 11), (0.1, 1)]);
        let point = after.since(&before);
        let of = |wanted: &str| point[names().position(|name| name == wanted).expect("it is one")];
        assert_eq!((of("queries"), of("connections"), of("cpu"), of("memory")), (100.0, 7.0, 1.0, 5.0));
        assert_eq!((of("p50_ms"), of("p95_ms"), of("p99_ms")), (1.0, 1.0, 10.0));
        assert!((of("statement_time") - 0.104).abs() < 1e-3);
        let fallen = reading(begin + Duration::from_secs(4), 10, &[(0.001, 188), (0.01, 11), (0.1, 1)]).since(&after);
        assert_eq!((fallen[0], fallen[1]), (0.0, 0.0), "counters that fall, and no statements");
    }
}
