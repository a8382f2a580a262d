//! `heddle topology`: the machine as Heddle sees it, for people.
//!
//! What the kernel does not tell is printed as `unknown`. With `--bandwidth` the memory is measured too ([`bandwidth`]).

mod bandwidth;
mod plot;

use crate::cli::TopologyFlags;
use crate::say::say;
use crate::size;
use os::topology::{Cache, CpuLimit, HugePages, Node, Topology};
use std::fmt::Write;
use std::io::{IsTerminal, Write as _};

/// Prints the topology; the error is one line for the person who asked.
pub fn run(flags: &TopologyFlags) -> Result<(), String> {
    let topology = Topology::read();
    say(&describe(&topology));
    say(&spinning());
    if !flags.bandwidth && flags.svg.is_none() {
        return Ok(());
    }
    let is_watched = std::io::stderr().is_terminal();
    let curves = bandwidth::measure(&topology, |done, points| {
        if is_watched {
            let _ = write!(std::io::stderr(), "\rmeasuring memory: {done} of {points} sizes ");
        }
    });
    if is_watched {
        let _ = write!(std::io::stderr(), "\r{:40}\r", "");
    }
    say(&format!("\n{}", plot::text(&curves)));
    if let Some(path) = &flags.svg {
        std::fs::write(path, plot::svg(&curves, &topology)).map_err(|e| format!("{}: {e}", path.display()))?;
        say(&format!("\nthe plot is in {}\n", path.display()));
    }
    Ok(())
}

fn describe(topology: &Topology) -> String {
    let mut text = String::new();
    let mut line = |title: &str, what: String| {
        let _ = writeln!(text, "{title:<12}{what}");
    };
    line("processor", format!("{}, {}", topology.model.as_deref().unwrap_or("unknown"), std::env::consts::ARCH));
    line("CPUs", cpus(topology));
    line("sockets", sockets(topology));
    line("CPU limit", limit(topology.cpu_limit));
    if topology.caches.is_empty() {
        line("caches", "unknown".into());
    }
    let mut title = "caches";
    for group in topology.caches.chunk_by(|a, b| (a.level, &a.kind) == (b.level, &b.kind)) {
        line(title, caches(group));
        title = "";
    }
    let limited = topology.memory_limit_bytes.map(|bytes| format!(", the control group allows {}", size::text(bytes)));
    line("memory", topology.memory_bytes.map_or("unknown".into(), size::text) + &limited.unwrap_or_default());
    if topology.nodes.is_empty() {
        line("NUMA nodes", "unknown".into());
    }
    title = "NUMA nodes";
    for node in &topology.nodes {
        line(title, numa(node));
        title = "";
    }
    line("pages", pages(topology));
    line("huge pages", huge(topology));
    text
}

fn cpus(topology: &Topology) -> String {
    let online: Vec<u32> = topology.cpus.iter().map(|cpu| cpu.number).collect();
    let online = if online.is_empty() { "unknown".into() } else { format!("{} online ({})", online.len(), list(&online)) };
    match &topology.usable {
        Some(usable) => format!("{online}, {} usable by this process ({})", usable.len(), list(usable)),
        None => format!("{online}, unknown which are usable by this process"),
    }
}

fn sockets(topology: &Topology) -> String {
    let number = |value: Option<usize>| value.map_or("unknown".into(), |value| value.to_string());
    let threads = topology.cores().map_or_else(
        || "SMT unknown".to_owned(),
        |cores| match topology.cpus.len() / cores {
            0 | 1 => "no SMT".to_owned(),
            threads => format!("SMT with {threads} threads per core"),
        },
    );
    format!("{}, cores {}, {threads}", number(topology.sockets()), number(topology.cores()))
}

fn limit(limit: CpuLimit) -> String {
    match limit {
        CpuLimit::Unknown => "unknown (no control group tells)".into(),
        CpuLimit::None => "none".into(),
        CpuLimit::Cpus(cpus) => format!("{cpus:.2} CPUs, by the control group"),
    }
}

/// Caches of one level and kind: `L2 1 MiB, 4 of them, each for CPUs 0 | 1 | 2 | 3; lines of 64 bytes`.
fn caches(group: &[Cache]) -> String {
    const SHOWN_MAX: usize = 8;
    let Some(first) = group.first() else { return String::new() };
    let kind = match first.kind.as_str() {
        "Data" => " data",
        "Instruction" => " code",
        "Unified" => "",
        _ => " (of unknown kind)",
    };
    let bytes = first.bytes.map_or("of unknown size".into(), size::text);
    let line = first.line_bytes.map_or("lines of unknown length".into(), |bytes| format!("lines of {bytes} bytes"));
    let mut shared: Vec<String> = group.iter().take(SHOWN_MAX).map(|cache| list(&cache.cpus)).collect();
    if group.len() > SHOWN_MAX {
        shared.push("...".into());
    }
    let count = if group.len() == 1 { "one".into() } else { format!("{} of them", group.len()) };
    format!("{:<8} {bytes:<9} {count}, for CPUs {}; {line}", format!("L{}{kind}", first.level), shared.join(" | "))
}

fn numa(node: &Node) -> String {
    let memory = node.memory_bytes.map_or("unknown memory".into(), size::text);
    let cpus = if node.cpus.is_empty() { "no CPUs".into() } else { format!("CPUs {}", list(&node.cpus)) };
    let distances: Vec<String> = node.distances.iter().map(u32::to_string).collect();
    let distances = if distances.is_empty() { "unknown".into() } else { distances.join(" ") };
    format!("node {}: {cpus}, {memory}, distances {distances}", node.number)
}

fn pages(topology: &Topology) -> String {
    let base = topology.base_page_bytes.map_or("unknown".into(), size::text);
    let transparent = topology.transparent_huge_pages.as_deref().unwrap_or("unknown");
    format!("{base}; transparent huge pages: {transparent}")
}

fn huge(topology: &Topology) -> String {
    let count = |value: Option<u64>| value.map_or("unknown".into(), |value| value.to_string());
    let pool =
        |pool: &HugePages| format!("{}: {} reserved, {} free", size::text(pool.bytes), count(pool.reserved), count(pool.free));
    match topology.huge_pages.as_slice() {
        [] => "unknown".into(),
        pools => pools.iter().map(pool).collect::<Vec<_>>().join("; "),
    }
}

/// What waiting for a latch costs here.
fn spinning() -> String {
    let turns = sync::spin::turns_per_us();
    let most = sync::SPIN_US_MAX;
    format!(
        "{:<12}one spin hint (PAUSE or its like) takes {:.1} ns: {turns} per microsecond\n{:<12}a latch that is taken is waited for in \
         {} turns ({most} microseconds) before the thread sleeps\n",
        "spinning",
        1_000.0 / f64::from(turns),
        "",
        turns * most
    )
}

/// CPUs as the kernel writes them: `0-3,8`.
fn list(cpus: &[u32]) -> String {
    let runs = cpus.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [first, .., last] => format!("{first}-{last}"),
        _ => run.iter().map(u32::to_string).collect(),
    });
    runs.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use os::topology::Cpu;

    #[test]
    fn runs_of_cpus_are_short() {
        assert_eq!(list(&[0, 1, 2, 3, 8, 10, 11]), "0-3,8,10-11");
        assert_eq!(list(&[]), "");
    }

    #[test]
    fn what_is_not_known_is_said() {
        let text = describe(&Topology::default());
        for title in ["processor", "CPUs", "sockets", "CPU limit", "caches", "memory", "NUMA nodes", "pages", "huge pages"] {
            let line =
                text.lines().find(|line| line.starts_with(title)).unwrap_or_else(|| panic!("{title} is missing in {text}"));
            assert!(line.contains("unknown"), "{line}");
        }
    }

    #[test]
    fn a_machine_is_described() {
        let cache = |level, kind: &str, kib: u64, cpus: &[u32]| Cache {
            level,
            kind: kind.into(),
            bytes: Some(kib << 10),
            line_bytes: Some(64),
            cpus: cpus.into(),
        };
        let topology = Topology {
            model: Some("Some Xeon".into()),
            cpus: (0..4).map(|n| Cpu { number: n, socket: Some(n % 2), core: Some(vec![n % 2, n % 2 + 2]) }).collect(),
            usable: Some(vec![0, 1, 2]),
            caches: vec![
                cache(1, "Data", 32, &[0, 2]),
                cache(1, "Data", 32, &[1, 3]),
                cache(3, "Unified", 36_608, &[0, 2]),
                cache(3, "Unified", 36_608, &[1, 3]),
            ],
            nodes: vec![Node { number: 0, cpus: vec![0, 2], memory_bytes: Some(32 << 30), distances: vec![10, 21] }],
            memory_bytes: Some(64 << 30),
            memory_limit_bytes: Some(512 << 20),
            base_page_bytes: Some(4096),
            huge_pages: vec![HugePages { bytes: 2 << 20, reserved: Some(512), free: None }],
            transparent_huge_pages: Some("madvise".into()),
            cpu_limit: CpuLimit::Cpus(2.5),
        };
        let text = describe(&topology);
        for expected in [
            "4 online (0-3), 3 usable by this process (0-2)",
            "sockets     2, cores 2, SMT with 2 threads per core",
            "2.50 CPUs, by the control group",
            "memory      64 GiB, the control group allows 512 MiB",
            "L1 data  32 KiB    2 of them, for CPUs 0,2 | 1,3; lines of 64 bytes",
            "L3       35.8 MiB  2 of them, for CPUs 0,2 | 1,3; lines of 64 bytes",
            "node 0: CPUs 0,2, 32 GiB, distances 10 21",
            "4 KiB; transparent huge pages: madvise",
            "2 MiB: 512 reserved, unknown free",
        ] {
            assert!(text.contains(expected), "no '{expected}' in\n{text}");
        }
    }
}
