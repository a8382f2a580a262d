//! What happened: the last events as text, and a hash of all of them.

use std::collections::VecDeque;
use std::fmt::Write as _;

/// Events kept for the report of a failure.
const KEPT: usize = 400;

#[derive(Default)]
pub(super) struct Trace {
    events: VecDeque<String>,
    hash: u64,
    count: u64,
    aloud: bool,
}

impl Trace {
    pub fn speak(&mut self) {
        self.aloud = true;
    }

    pub fn mix(&mut self, word: u64) {
        self.hash = (self.hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    pub fn add(&mut self, now_ns: u64, thread: &str, what: std::fmt::Arguments<'_>) {
        let mut line = if self.events.len() == KEPT { self.events.pop_front().unwrap_or_default() } else { String::new() };
        line.clear();
        // Writing to a String cannot fail.
        let _ = write!(line, "{:>12.6} ms {thread}: {what}", now_ns as f64 / 1e6);
        line.as_bytes().chunks(8).for_each(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        });
        self.count += 1;
        if self.aloud {
            eprintln!("{line}");
        }
        self.events.push_back(line);
    }

    pub fn hash(&self) -> u64 {
        self.hash
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    pub fn last(&self, count: usize) -> impl Iterator<Item = &String> {
        self.events.iter().skip(self.events.len().saturating_sub(count))
    }
}
