//! Limits that the system sets for this process: open files, lengths of socket paths.

use rustix::process::{Resource, getrlimit, setrlimit};

/// `sun_path` of Linux, less the zero byte that ends it.
pub const SOCKET_PATH_BYTES_MAX: usize = 107;
/// Descriptors for everything but clients.
const OTHER_FILES: u64 = 64;

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
    connections.min(clients_for(current)).max(1)
}

/// How many files the process may have open, when it has raised its limit.
pub fn open_files_max() -> u64 {
    getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX)
}

/// How many clients fit into a limit of open files.
pub fn clients_for(files: u64) -> usize {
    usize::try_from(files.saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_files() {
        assert!(raise_open_files(10) == 10);
    }
}
