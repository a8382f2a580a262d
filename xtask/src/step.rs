//! Named steps: one line each while all is well, the log's essence where it is not.
//!
//! ```text
//! format            ok      1 s    1 passed
//! unit tests        FAILED 80 s  812 passed, 1 failed
//! ```
//! P1: every step's whole output is in `target/ci/NAME.log`.
//! P2: a step that fails without counting a failure counts one.
//! P3: steps may run beside each other; each writes its lines at its end, together.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard};
use std::time::Instant;

/// Lines of a failed step that are shown.
const SHOWN_MAX: usize = 40;
/// Lines of a failed step that the summary shows again, and their characters: whoever reads only the end sees what failed.
const AGAIN_MAX: usize = 6;
const AGAIN_CHARS_MAX: usize = 160;

/// Cases of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
}

/// How a step's output is counted.
#[derive(Clone, Copy, Debug)]
pub enum Counting {
    /// The step is one case.
    Whole,
    /// `test result: ok. 12 passed; 0 failed; ...` of the test harness.
    Harness,
    /// `ok NAME` and `FAIL NAME`, or their sum `passed/failed/total: 3/0/3` where the program prints one.
    Lines,
}

/// The steps so far.
#[derive(Debug)]
pub struct Steps {
    logs: PathBuf,
    began: Instant,
    tally: Mutex<Tally>,
}

#[derive(Debug, Default)]
struct Tally {
    sum: Counts,
    /// Names, and lines for the summary.
    failed: Vec<(String, Vec<String>)>,
    skipped: Vec<String>,
}

impl Steps {
    pub fn new(logs: PathBuf) -> Result<Self, String> {
        fs::create_dir_all(&logs).map_err(|e| format!("{}: {e}", logs.display()))?;
        Ok(Self { logs, began: Instant::now(), tally: Mutex::default() })
    }

    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().expect("nothing panics that holds it")
    }

    /// Runs a command as a step; true when it passed.
    pub fn run(&self, name: &str, command: &mut Command, counting: Counting) -> bool {
        self.run_with(name, counting, || output(command))
    }

    /// Runs a step that is not one command: it gives success and output.
    pub fn run_with(&self, name: &str, counting: Counting, body: impl FnOnce() -> Result<(bool, String), String>) -> bool {
        let began = Instant::now();
        let (success, text) = body().unwrap_or_else(|why| (false, why));
        let counts = count(&text, counting, success);
        let log = self.logs.join(format!("{}.log", name.replace([' ', ':'], "-")));
        if let Err(e) = fs::write(&log, &text) {
            eprintln!("{}: {e}", log.display());
        }
        let seconds = began.elapsed().as_secs_f64();
        let well = counts.failed == 0;
        let word = if well { "ok" } else { "FAILED" };
        let failures = if well { String::new() } else { format!(", {} failed", counts.failed) };
        let mut tally = self.tally(); // P3
        tally.sum = add(tally.sum, counts);
        println!("{name:<24} {word:<6} {seconds:>4.0} s  {:>5} passed{failures}", counts.passed);
        if !well {
            let shown = essence(&text, counting);
            for line in shown.iter().take(SHOWN_MAX) {
                println!("    {}", line.chars().take(300).collect::<String>());
            }
            if shown.len() > SHOWN_MAX {
                println!("    and {} lines more", shown.len() - SHOWN_MAX);
            }
            let again = shown.iter().take(AGAIN_MAX).map(|line| line.chars().take(AGAIN_CHARS_MAX).collect());
            tally.failed.push((name.to_string(), again.collect()));
            println!("    the whole output: {}", log.display());
        }
        well
    }

    pub fn skip(&self, name: &str, why: &str) {
        println!("{name:<24} skipped         {why}");
        self.tally().skipped.push(format!("{name} ({why})"));
    }

    /// The summary; its last line is `N passed, N failed`.
    pub fn finish(&self) -> bool {
        let tally = self.tally();
        println!();
        if !tally.skipped.is_empty() {
            println!("skipped: {}", tally.skipped.join(", "));
        }
        if !tally.failed.is_empty() {
            for (name, lines) in &tally.failed {
                println!("{name}:");
                lines.iter().for_each(|line| println!("    {line}"));
            }
            let names: Vec<&str> = tally.failed.iter().map(|(name, _)| name.as_str()).collect();
            println!("failed steps: {}", names.join(", "));
        }
        println!("{:.0} s in all", self.began.elapsed().as_secs_f64());
        println!("{} passed, {} failed", tally.sum.passed, tally.sum.failed);
        tally.sum.failed == 0 && tally.sum.passed > 0
    }
}

/// Runs a command; success, and all that it says.
pub fn output(command: &mut Command) -> Result<(bool, String), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("{command:?}: {e}"))?;
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    Ok((output.status.success(), text))
}

/// Counts the cases of an output.
pub fn count(text: &str, counting: Counting, success: bool) -> Counts {
    let mut counts = match counting {
        Counting::Whole => Counts { passed: usize::from(success), failed: usize::from(!success) },
        Counting::Harness => text.lines().filter_map(harness_line).fold(Counts::default(), add),
        Counting::Lines => summed(text).unwrap_or_else(|| Counts {
            passed: text.lines().filter(|l| l.starts_with("ok ")).count(),
            failed: text.lines().filter(|l| l.starts_with("FAIL ")).count(),
        }),
    };
    if !success && counts.failed == 0 {
        counts.failed = 1; // P2
    }
    counts
}

fn add(a: Counts, b: Counts) -> Counts {
    Counts { passed: a.passed + b.passed, failed: a.failed + b.failed }
}

fn harness_line(line: &str) -> Option<Counts> {
    let rest = line.trim_start().strip_prefix("test result: ")?;
    let number = |word: &str| -> usize {
        let words: Vec<&str> = rest.split([' ', ';', '.']).filter(|w| !w.is_empty()).collect();
        words.iter().position(|w| *w == word).and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok()).unwrap_or(0)
    };
    Some(Counts { passed: number("passed"), failed: number("failed") })
}

fn summed(text: &str) -> Option<Counts> {
    let rest = text.lines().rev().find_map(|l| l.strip_prefix("passed/failed/total: "))?;
    let mut parts = rest.split('/').map(|p| p.trim().parse().unwrap_or(0));
    Some(Counts { passed: parts.next()?, failed: parts.next()? })
}

/// What a reader wants of a failed step: its failing lines, or its end.
fn essence(text: &str, counting: Counting) -> Vec<&str> {
    let telling = |line: &&str| match counting {
        Counting::Lines => line.starts_with("FAIL") || line.starts_with("     "),
        Counting::Harness => {
            line.starts_with("error")
                || line.contains("panicked at")
                || line.ends_with("... FAILED")
                || line.contains("assertion")
        }
        Counting::Whole => false,
    };
    let lines: Vec<&str> = text.lines().filter(telling).collect();
    if !lines.is_empty() {
        return lines;
    }
    let whole: Vec<&str> = text.lines().collect();
    whole[whole.len().saturating_sub(SHOWN_MAX)..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_counted() {
        let counts = |passed, failed| Counts { passed, failed };
        let harness = "running 2 tests\ntest result: ok. 12 passed; 0 failed; 1 ignored; 0 measured\n\
                       test result: FAILED. 3 passed; 2 failed; 0 ignored";
        assert_eq!(count(harness, Counting::Harness, false), counts(15, 2));
        assert_eq!(count("ok   a\nFAIL b: why\nok   c\n", Counting::Lines, false), counts(2, 1));
        assert_eq!(count("ok   a\npassed/failed/total: 40/1/41\n", Counting::Lines, false), counts(40, 1));
        assert_eq!(count("ok   a\n", Counting::Lines, false), counts(1, 1));
        assert_eq!(count("", Counting::Whole, true), counts(1, 0));
    }
}
