//! Lines on the terminal for a person who waits for the start or the stop of the server.

use os::time::Instant;
use std::time::Duration;

/// A line of progress each second.
pub(crate) struct Progress {
    title: &'static str,
    began: Instant,
    shown: Instant,
    /// Bytes; 0: not known.
    total: u64,
}

impl Progress {
    pub fn new(title: &'static str, total: u64) -> Self {
        let now = Instant::now();
        Self { title, began: now, shown: now, total }
    }

    /// So many bytes are done; `what` says of what and how.
    pub fn show(&mut self, what: &str, bytes: u64) {
        if self.shown.elapsed().as_secs() >= 1 {
            let line = line(self.title, what, bytes, self.total, self.began.elapsed());
            os::report(format_args!("{line}"));
            self.shown = Instant::now();
        }
    }
}

/// `recovery: 512 of 2048 MiB of log applied (25 %, 256 MiB per second, 6 s left)`
fn line(title: &str, what: &str, bytes: u64, total: u64, passed: Duration) -> String {
    let rate = bytes as f64 / passed.as_secs_f64().max(1e-3);
    let (mib, per_second) = (bytes >> 20, rate / f64::from(1 << 20));
    if total == 0 {
        return format!("{title}: {mib} MiB {what} ({per_second:.0} MiB per second)");
    }
    let percent = (bytes as f64 / total as f64 * 100.0).min(100.0);
    let left = total.saturating_sub(bytes) as f64 / rate.max(1.0);
    format!("{title}: {mib} of {} MiB {what} ({percent:.0} %, {per_second:.0} MiB per second, {left:.0} s left)", total >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_share_rate_and_time_left() {
        let told = |bytes: u64, total: u64| line("recovery", "of log applied", bytes << 20, total << 20, Duration::from_secs(2));
        assert_eq!(told(512, 2048), "recovery: 512 of 2048 MiB of log applied (25 %, 256 MiB per second, 6 s left)");
        assert_eq!(told(512, 0), "recovery: 512 MiB of log applied (256 MiB per second)");
        assert_eq!(told(3, 2), "recovery: 3 of 2 MiB of log applied (100 %, 2 MiB per second, 0 s left)");
    }
}
