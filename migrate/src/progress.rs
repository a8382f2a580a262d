//! What a move says while it works, on standard error.

use std::io::{IsTerminal, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// A line that stays at its place on a terminal, and is written now and then elsewhere.
pub struct Progress {
    inner: Mutex<Inner>,
}

struct Inner {
    next: Instant,
    is_open: bool,
}

impl Progress {
    pub fn new() -> Self {
        Self { inner: Mutex::new(Inner { next: Instant::now(), is_open: false }) }
    }

    /// A line for good.
    pub fn say(&self, text: &str) {
        let Ok(mut inner) = self.inner.lock() else { return };
        let mut out = std::io::stderr().lock();
        // Nobody reads it: the work goes on.
        let _ = write!(out, "{}{}{}", if inner.is_open { "\n" } else { "" }, text, if text.ends_with('\n') { "" } else { "\n" });
        inner.is_open = false;
    }

    /// How far it is; at most once a second, or every ten where no terminal reads it.
    pub fn show(&self, text: impl FnOnce() -> String) {
        let Ok(mut inner) = self.inner.lock() else { return };
        let now = Instant::now();
        if now < inner.next {
            return;
        }
        let mut out = std::io::stderr().lock();
        let is_terminal = out.is_terminal();
        inner.next = now + Duration::from_secs(if is_terminal { 1 } else { 10 });
        inner.is_open = is_terminal;
        let _ = if is_terminal { write!(out, "\r{}\x1b[K", text()) } else { writeln!(out, "{}", text()) };
        let _ = out.flush();
    }
}

/// A duration for people.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// A number with its thousands apart.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{count, duration};

    #[test]
    fn numbers_and_durations_are_written_for_people() {
        assert_eq!([count(0), count(999), count(1000), count(12_345_678)], ["0", "999", "1,000", "12,345,678"]);
        assert_eq!([duration(1.2), duration(120.0), duration(7200.0)], ["1 s", "2 min", "2.0 h"]);
    }
}
