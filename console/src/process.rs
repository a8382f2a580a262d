//! What the system knows of this process: CPU time, memory, the space on its disk. Nothing is known where there is no /proc.

use std::fs;
use std::path::Path;

/// Clock ticks of a second in /proc, the same on every Linux.
const TICKS: f64 = 100.0;

/// A thread and the CPU time it has taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Thread {
    pub name: String,
    pub cpu_seconds: f64,
}

/// CPU time of the whole process, in seconds.
pub fn cpu_seconds() -> Option<f64> {
    stat_line(&fs::read_to_string("/proc/self/stat").ok()?).map(|thread| thread.cpu_seconds)
}

/// Memory of the process, in bytes.
pub fn memory_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// The threads of the process. They may come and go meanwhile.
pub fn threads() -> Vec<Thread> {
    let Ok(tasks) = fs::read_dir("/proc/self/task") else { return Vec::new() };
    let read = |task: fs::DirEntry| stat_line(&fs::read_to_string(task.path().join("stat")).ok()?);
    tasks.flatten().filter_map(read).collect()
}

/// `NUMBER (NAME) STATE ...`; user and system time are the 12th and 13th field after the name.
fn stat_line(line: &str) -> Option<Thread> {
    let (head, fields) = line.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some(Thread { name: name.to_owned(), cpu_seconds: (user + system) / TICKS })
}

/// The space that is free for the data directory, in bytes.
pub fn free_bytes(directory: &Path) -> Option<u64> {
    os::fs::free_bytes(directory).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_stat() {
        let line = "12 (a) b) S 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 1 0 1 2 3";
        assert_eq!(stat_line(line), Some(Thread { name: "a) b".to_owned(), cpu_seconds: 2.0 }));
        assert_eq!(stat_line("nothing"), None);
    }
}
