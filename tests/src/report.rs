//! One line per case, and the sum at the end.

use std::fmt::Display;

/// Counts cases and prints a line for each.
#[derive(Debug, Default)]
pub struct Report {
    pub passed: usize,
    pub failed: usize,
}

impl Report {
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs one case and prints how it ended.
    pub fn case(&mut self, name: &str, body: impl FnOnce() -> Result<(), String>) {
        match body() {
            Ok(()) => self.ok(name),
            Err(why) => self.fail(name, why),
        }
    }

    pub fn ok(&mut self, name: impl Display) {
        self.passed += 1;
        println!("ok   {name}");
    }

    pub fn fail(&mut self, name: impl Display, why: impl Display) {
        self.failed += 1;
        let why = why.to_string().replace('\n', " ");
        println!("FAIL {name}: {}", why.chars().take(600).collect::<String>());
    }

    /// Prints the sum and gives the exit code: 0 when nothing failed and something ran.
    pub fn finish(&self) -> std::process::ExitCode {
        println!("passed/failed/total: {}/{}/{}", self.passed, self.failed, self.passed + self.failed);
        if self.failed == 0 && self.passed > 0 { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
    }
}
