//! The machine: who uses its processors, and how quiet it is.
//!
//! Processor times come from `/proc`, in hundredths of a second; a server of several processes, such as PostgreSQL, is its process with all
//! that descend from it, and those that have ended.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::{Duration, Instant};

const TICKS_PER_SECOND: f64 = 100.0;

/// What the report says of the machine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    pub processor: String,
    pub cpus: usize,
    pub memory_bytes: u64,
    pub system: String,
    /// Of a virtual machine, the name of the hypervisor's kind
    pub virtual_machine: bool,
    pub governor: String,
}

fn text(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

impl Machine {
    pub fn read() -> Self {
        let info = text("/proc/cpuinfo");
        let field = |name: &str| {
            let line = info.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name));
            line.and_then(|line| line.split_once(':')).map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        let memory = text("/proc/meminfo");
        let kilobytes = memory
            .lines()
            .find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        Self {
            processor: [field("model name"), field("cpu"), std::env::consts::ARCH.into()]
                .into_iter()
                .find(|name| !name.is_empty())
                .unwrap_or_default(),
            cpus: online().len().max(1),
            memory_bytes: kilobytes.unwrap_or(0) * 1024,
            system: format!("Linux {}", text("/proc/sys/kernel/osrelease")),
            virtual_machine: field("flags").split(' ').any(|flag| flag == "hypervisor"),
            governor: text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        }
    }
}

/// CPUs that this process may use.
pub fn online() -> Vec<u32> {
    let Ok(set) = rustix::thread::sched_getaffinity(None) else { return Vec::new() };
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).map(|cpu| cpu as u32).collect()
}

/// Processor time of the calling thread in seconds.
pub fn thread_cpu() -> f64 {
    clock(rustix::time::ClockId::ThreadCPUTime)
}

/// Processor time of this process in seconds.
pub fn own_cpu() -> f64 {
    clock(rustix::time::ClockId::ProcessCPUTime)
}

fn clock(id: rustix::time::ClockId) -> f64 {
    let now = rustix::time::clock_gettime(id);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

fn set_of(cpus: &[u32]) -> rustix::thread::CpuSet {
    let mut set = rustix::thread::CpuSet::new();
    cpus.iter().filter(|cpu| (**cpu as usize) < rustix::thread::CpuSet::MAX_CPU).for_each(|cpu| set.set(*cpu as usize));
    set
}

/// Binds the calling thread to some CPUs; to none means: it stays as it is.
pub fn bind_this_thread(cpus: &[u32]) {
    if !cpus.is_empty() {
        // Where the system forbids it, the run is still one of these servers; the report has the shares of processors that were used.
        let _ = rustix::thread::sched_setaffinity(None, &set_of(cpus));
    }
}

/// Binds all threads of a process, and those of its children.
///
/// # Errors
/// The system's, for the first thread that it refuses.
pub fn bind_process(pid: u32, cpus: &[u32]) -> std::io::Result<()> {
    for process in family(pid) {
        for task in fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten() {
            let thread = task.file_name().to_str().and_then(|name| name.parse().ok()).and_then(rustix::process::Pid::from_raw);
            if let Some(thread) = thread {
                match rustix::thread::sched_setaffinity(Some(thread), &set_of(cpus)) {
                    // It has ended meanwhile.
                    Err(rustix::io::Errno::SRCH) | Ok(()) => (),
                    Err(error) => return Err(error.into()),
                }
            }
        }
    }
    Ok(())
}

/// Parent, and times of a process and of its children that have ended, in ticks.
fn stat(pid: u32) -> Option<(u32, u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some((number(1)? as u32, number(11)? + number(12)?, number(13)? + number(14)?))
}

/// A process and all that descend from it.
fn family(pid: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        if let Some((child, (parent, ..))) =
            entry.file_name().to_str().and_then(|name| name.parse().ok()).and_then(|child| Some((child, stat(child)?)))
        {
            children.entry(parent).or_default().push(child);
        }
    }
    let (mut all, mut at) = (vec![pid], 0);
    while let Some(next) = all.get(at).copied() {
        all.extend(children.remove(&next).unwrap_or_default());
        at += 1;
    }
    all
}

/// Processor time of a server so far, in seconds.
pub fn server_cpu(pid: u32) -> f64 {
    let ticks: u64 = family(pid).into_iter().filter_map(stat).map(|(_, own, ended)| own + ended).sum();
    ticks as f64 / TICKS_PER_SECOND
}

/// Memory of a server in bytes: what its processes have to themselves, and their shares of what they share.
pub fn server_memory(pid: u32) -> u64 {
    let field = |process: u32, file: &str, name: &str| -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{process}/{file}")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches(" kB").trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
    };
    let all = family(pid);
    if let [one] = all[..] {
        return field(one, "status", "VmRSS:").unwrap_or(0);
    }
    all.into_iter().filter_map(|process| field(process, "smaps_rollup", "Pss:")).sum()
}

/// Busy and stolen time of all CPUs so far, in seconds.
pub fn busy() -> (f64, f64) {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields: Vec<f64> =
        text.lines().next().unwrap_or_default().split_whitespace().skip(1).filter_map(|field| field.parse().ok()).collect();
    let of = |at: usize| fields.get(at).copied().unwrap_or(0.0) / TICKS_PER_SECOND;
    // user, nice, system, then irq and softirq; stolen time is somebody else's.
    (of(0) + of(1) + of(2) + of(5) + of(6), of(7))
}

/// The process that listens on a TCP port or a unix socket of this machine.
pub fn listener(port: u16, socket: Option<&std::path::Path>) -> Option<u32> {
    let mut inodes = BTreeSet::new();
    match socket {
        Some(path) => {
            let path = path.to_string_lossy().into_owned();
            // Num, counts, flags, type, state, inode, path
            let lines = fs::read_to_string("/proc/net/unix").unwrap_or_default();
            for fields in lines.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()) {
                // In a chroot the path is another one; its end is the same.
                if fields.len() == 8 && path.ends_with(fields[7]) && fields[3] == "00010000" {
                    inodes.insert(fields[6].to_owned());
                }
            }
        }
        None => {
            const LISTENS: &str = "0A";
            for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
                let lines = fs::read_to_string(file).unwrap_or_default();
                for fields in lines.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>()) {
                    let is_it = fields
                        .get(1)
                        .and_then(|local| local.rsplit_once(':'))
                        .is_some_and(|(_, hex)| u16::from_str_radix(hex, 16) == Ok(port));
                    if is_it && fields.get(3) == Some(&LISTENS) {
                        inodes.extend(fields.get(9).map(|inode| (*inode).to_owned()));
                    }
                }
            }
        }
    }
    if inodes.is_empty() {
        return None;
    }
    // Of several processes that share the socket, the oldest is the server.
    let mut found: Vec<u32> = Vec::new();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        let has = files.filter_map(|file| fs::read_link(file.path()).ok()).any(|link| {
            link.to_str()
                .and_then(|name| name.strip_prefix("socket:[")?.strip_suffix(']'))
                .is_some_and(|inode| inodes.contains(inode))
        });
        if has {
            found.push(pid);
        }
    }
    found.into_iter().min()
}

/// How many millions of steps of a fixed computation one CPU does in a second: a drift of the machine shows in it.
pub fn speed() -> f64 {
    const STEPS: u64 = 200_000;
    let began = Instant::now();
    let (mut state, mut done) = (0x9e37_79b9_7f4a_7c15u64, 0u64);
    while began.elapsed() < Duration::from_millis(15) {
        for _ in 0..STEPS {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
        }
        done += STEPS;
        std::hint::black_box(state);
    }
    done as f64 / began.elapsed().as_secs_f64() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_is_read() {
        let machine = Machine::read();
        assert!(machine.cpus > 0 && machine.memory_bytes > 0 && machine.system.len() > 6, "{machine:?}");
        assert!(busy().0 > 0.0 && server_memory(std::process::id()) > 0);
    }

    #[test]
    fn work_shows_as_processor_time() {
        let before = (own_cpu(), thread_cpu());
        assert!(speed() > 0.0);
        assert!(own_cpu() > before.0 && thread_cpu() > before.1);
    }

    #[test]
    fn the_process_behind_a_port_is_found() {
        let listener_here = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener_here.local_addr().expect("bound").port();
        assert_eq!(listener(port, None), Some(std::process::id()));
        drop(listener_here);
        assert_eq!(listener(port, None), None);
    }
}
