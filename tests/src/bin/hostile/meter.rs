//! What the server's process has used: CPU time, and memory at its highest. Both are the kernel's counts, so a busy machine does not change
//! them.

use std::fs;
use std::path::PathBuf;

/// The kernel's unit of a process's time.
const TICK_US: u64 = 10_000;

/// CPU time at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    worker_us: u64,
    process_us: u64,
}

/// A server's process.
#[derive(Clone, Debug)]
pub struct Meter {
    process: PathBuf,
    worker: PathBuf,
}

impl Meter {
    /// The process `pid`, whose one worker serves all sessions.
    pub fn new(pid: u32) -> Result<Self, String> {
        let process = PathBuf::from(format!("/proc/{pid}"));
        let threads = fs::read_dir(process.join("task")).map_err(|e| format!("the server's threads: {e}"))?;
        let mut workers: Vec<PathBuf> = threads
            .filter_map(|thread| Some(thread.ok()?.path()))
            .filter(|thread| fs::read_to_string(thread.join("comm")).is_ok_and(|name| name.trim_end().starts_with("worker-")))
            .collect();
        match (workers.pop(), workers.is_empty()) {
            (Some(worker), true) => Ok(Self { process, worker }),
            (_, _) => Err("want a server with one worker".into()),
        }
    }

    /// What has been used until now.
    pub fn read(&self) -> Reading {
        Reading { worker_us: self.worker_us(), process_us: self.process_us() }
    }

    /// CPU time since then, in microseconds: the worker's to the nanosecond, that of all threads to the tick.
    pub fn used_us(&self, since: Reading) -> u64 {
        let worker_us = self.worker_us().saturating_sub(since.worker_us);
        worker_us.max(self.process_us().saturating_sub(since.process_us + 2 * TICK_US))
    }

    /// CPU time of all threads, those that have ended included.
    fn process_us(&self) -> u64 {
        let text = fs::read_to_string(self.process.join("stat")).unwrap_or_default();
        // The name in brackets may hold spaces; user and system time are the 12th and 13th field behind it.
        let fields = text.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
        fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * TICK_US
    }

    /// CPU time of the worker's thread, in microseconds.
    pub fn worker_us(&self) -> u64 {
        used_us(self.worker.clone()).unwrap_or(0)
    }

    /// Resident memory, in bytes.
    pub fn memory(&self) -> u64 {
        self.status("VmRSS:")
    }

    /// The highest resident memory since [`Self::forget_peak`].
    pub fn peak(&self) -> u64 {
        self.status("VmHWM:")
    }

    pub fn forget_peak(&self) -> Result<(), String> {
        fs::write(self.process.join("clear_refs"), "5").map_err(|e| format!("clear_refs: {e}"))
    }

    fn status(&self, name: &str) -> u64 {
        let text = fs::read_to_string(self.process.join("status")).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let kibibytes = line.and_then(|rest| rest.split_whitespace().next()).and_then(|number| number.parse::<u64>().ok());
        kibibytes.unwrap_or(0) << 10
    }
}

/// The first number of `schedstat`: nanoseconds on a CPU.
fn used_us(thread: PathBuf) -> Option<u64> {
    let text = fs::read_to_string(thread.join("schedstat")).ok()?;
    Some(text.split_whitespace().next()?.parse::<u64>().ok()? / 1000)
}
