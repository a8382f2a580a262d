//! The view at the terminal while a run goes on: what is measured, how far it is, how much time is left. Lines with results stay.
//!
//! Without a terminal only the lines that stay are written, so that a log is readable.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// The view.
pub struct Live {
    terminal: bool,
    quiet: bool,
    began: Instant,
    /// Seconds of work in all, and done
    all: f64,
    done: f64,
    shown: bool,
    last: Instant,
}

const BAR: usize = 24;
const BETWEEN: Duration = Duration::from_millis(150);

impl Live {
    pub fn new(quiet: bool) -> Self {
        let now = Instant::now();
        Self { terminal: std::io::stderr().is_terminal(), quiet, began: now, all: 0.0, done: 0.0, shown: false, last: now }
    }

    /// The work begins: seconds that it will take.
    pub fn begin(&mut self, seconds: f64) {
        self.all = seconds;
        self.began = Instant::now();
    }

    /// So many seconds of it are done.
    pub fn advance(&mut self, seconds: f64) {
        self.done += seconds;
    }

    /// A line that stays.
    pub fn line(&mut self, text: &str) {
        if self.quiet {
            return;
        }
        self.clear();
        let _ = writeln!(std::io::stderr(), "{text}");
    }

    /// What goes on now, and the part of the running step that is done, in seconds.
    pub fn now(&mut self, what: &str, part: f64) {
        if !self.terminal || self.quiet || (self.shown && self.last.elapsed() < BETWEEN) {
            return;
        }
        self.last = Instant::now();
        let share = if self.all > 0.0 { ((self.done + part) / self.all).clamp(0.0, 1.0) } else { 0.0 };
        let full = (share * BAR as f64) as usize;
        // What was measured of the time so far tells how long the rest takes.
        let elapsed = self.began.elapsed().as_secs_f64();
        let left = if share > 0.02 { elapsed / share - elapsed } else { self.all };
        let bar: String = (0..BAR).map(|at| if at < full { '█' } else { '░' }).collect();
        let text = format!("{bar} {:3.0} %  {} left  {what}", share * 100.0, clock(left));
        let width = std::env::var("COLUMNS").ok().and_then(|width| width.parse().ok()).unwrap_or(120);
        let cut: String = text.chars().take(width).collect();
        let _ = write!(std::io::stderr(), "\r\x1b[K{cut}");
        let _ = std::io::stderr().flush();
        self.shown = true;
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Minutes and seconds.
pub fn clock(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// A number with its thousands apart.
pub fn grouped(value: f64) -> String {
    if value.abs() < 10.0 {
        return format!("{value:.2}");
    }
    if value.abs() < 100.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!([1.234, 45.67, 999.6, 1234.0, 1_234_567.0].map(grouped), ["1.23", "45.7", "1,000", "1,234", "1,234,567"]);
        assert_eq!((clock(0.4), clock(75.0)), ("0:00".into(), "1:15".into()));
    }
}
