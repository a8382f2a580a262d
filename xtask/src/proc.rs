//! Programs and processes: run one quietly, find one, read what it used.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where cargo puts what it builds.
pub fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from).unwrap_or_else(|| root.join("target"))
}

/// True when a program of this name is on PATH.
pub fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// A cargo command in the repository.
pub fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root).stdin(Stdio::null());
    command
}

/// Runs a command and gives its output; an error holds the end of what it said.
pub fn quiet(command: &mut Command) -> Result<String, String> {
    let name = format!("{command:?}");
    let output = command.stdin(Stdio::null()).output().map_err(|e| format!("{name}: {e}"))?;
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(text) } else { Err(format!("{name}: {}\n{}", output.status, last_lines(&text, 20))) }
}

/// The last lines of a text.
pub fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

/// User and system CPU time of a process and its live children, in seconds.
pub fn cpu_seconds(pid: u32) -> f64 {
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let others: f64 = children.split_whitespace().filter_map(|p| p.parse().ok()).map(|p| stat_seconds(p, 11..13)).sum();
    stat_seconds(pid, 11..15) + others
}

/// The sum of some fields of `/proc/PID/stat` (proc(5)), counted from the one behind the name: 11 and 12 are the process's own user and
/// system time, 13 and 14 those of its children that have ended and were waited for.
fn stat_seconds(pid: u32, fields: std::ops::Range<usize>) -> f64 {
    const TICKS_PER_SECOND: f64 = 100.0;
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = text.rsplit(')').next().unwrap_or_default();
    let values: Vec<f64> = after_name.split_whitespace().map(|v| v.parse().unwrap_or(0.0)).collect();
    values.get(fields).map(|v| v.iter().sum::<f64>()).unwrap_or(0.0) / TICKS_PER_SECOND
}
