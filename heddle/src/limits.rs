//! What the system allows this process: memory, open files, lengths of socket paths.

use rustix::process::{Resource, getrlimit, setrlimit};
use std::fs;

/// `sun_path` of Linux, less the zero byte that ends it.
pub const SOCKET_PATH_BYTES_MAX: usize = 107;
/// Descriptors for everything but clients.
const OTHER_FILES: u64 = 64;

/// Memory that this process may use: the machine's, or less where its control group is limited.
pub fn memory_bytes() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| meminfo_total_bytes(&text));
    let group = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok()?.trim().parse().ok())
        .min();
    machine.into_iter().chain(group).min()
}

fn meminfo_total_bytes(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib << 10)
}

/// The most that `max_connections` can be set to while the server runs.
const CONNECTIONS_MAX: usize = 100_000;

/// Raises the limit of open files so that `connections` clients fit, and more where they may become more; answers how many of these do.
pub fn raise_open_files(connections: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let maximum = limit.maximum.unwrap_or(u64::MAX);
    let wanted = (connections.max(CONNECTIONS_MAX) as u64 + OTHER_FILES).min(maximum);
    let mut current = limit.current.unwrap_or(u64::MAX);
    if current < wanted {
        let raised = rustix::process::Rlimit { current: Some(wanted), maximum: limit.maximum };
        if setrlimit(Resource::Nofile, raised).is_ok() {
            current = wanted;
        }
    }
    connections.min(usize::try_from(current.saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory() {
        assert_eq!(meminfo_total_bytes("MemTotal:       16314132 kB\nMemFree: 1 kB\n"), Some(16_314_132 << 10));
        assert_eq!(meminfo_total_bytes("MemTotal: lots"), None);
        assert!(memory_bytes().is_some_and(|bytes| bytes > 64 << 20));
    }

    #[test]
    fn open_files() {
        assert!(raise_open_files(10) == 10);
    }
}
