//! What machine this is: processors, caches, memory, pages, and what part of it we may use.
//!
//! Everything is read from /sys and /proc, once, when asked. Containers, virtual machines and other architectures leave files out:
//! what is not there, or not as expected, is `None` or missing from a list, never an error.
//!
//! Sources: the kernel's Documentation/ABI/stable/sysfs-devices-system-cpu and sysfs-devices-node, Documentation/admin-guide/cgroup-v2,
//! Documentation/scheduler/sched-bwc (cgroup v1), Documentation/admin-guide/mm/transhuge.

use std::fs;
use std::io;
use std::path::Path;

/// A machine as its kernel describes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Topology {
    /// The processor's name, for people.
    pub model: Option<String>,
    /// CPUs that are online, by number.
    pub cpus: Vec<Cpu>,
    /// CPUs that this process may run on (its affinity, also by a cpuset).
    pub usable: Option<Vec<u32>>,
    /// Each cache once, by level and then by the CPUs that share it.
    pub caches: Vec<Cache>,
    pub nodes: Vec<Node>,
    pub memory_bytes: Option<u64>,
    /// What the control group allows of it; `None`: it does not say, or allows all.
    pub memory_limit_bytes: Option<u64>,
    pub base_page_bytes: Option<u64>,
    /// Pools of reserved huge pages, by size.
    pub huge_pages: Vec<HugePages>,
    /// When the kernel uses huge pages by itself: `always`, `madvise` or `never`.
    pub transparent_huge_pages: Option<String>,
    pub cpu_limit: CpuLimit,
}

/// One hardware thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpu {
    pub number: u32,
    pub socket: Option<u32>,
    /// The CPUs of the same core, this one among them.
    pub core: Option<Vec<u32>>,
}

/// One cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`, as the kernel says.
    pub kind: String,
    pub bytes: Option<u64>,
    pub line_bytes: Option<u32>,
    pub cpus: Vec<u32>,
}

/// One NUMA node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub number: u32,
    pub cpus: Vec<u32>,
    pub memory_bytes: Option<u64>,
    /// To each node, in the order of their numbers; 10 is itself.
    pub distances: Vec<u32>,
}

/// Huge pages of one size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HugePages {
    pub bytes: u64,
    pub reserved: Option<u64>,
    pub free: Option<u64>,
}

/// How much CPU time the control group allows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum CpuLimit {
    #[default]
    Unknown,
    None,
    /// So many CPUs' worth, on average.
    Cpus(f64),
}

impl Topology {
    /// This machine.
    pub fn read() -> Self {
        let mut topology = Self::read_below(Path::new("/"));
        topology.base_page_bytes = Some(rustix::param::page_size() as u64);
        topology
    }

    /// The machine whose `sys` and `proc` are in a folder; for tests.
    pub fn read_below(root: &Path) -> Self {
        let files = Files(root);
        let cpus = cpus(&files);
        Self {
            model: model(&files),
            usable: files.line_of("proc/self/status", "Cpus_allowed_list").and_then(|text| cpu_list(&text)),
            caches: caches(&files, &cpus),
            nodes: nodes(&files),
            memory_bytes: memory_bytes(&files),
            memory_limit_bytes: memory_limit(&files),
            base_page_bytes: None,
            huge_pages: huge_pages(&files),
            transparent_huge_pages: files.text("sys/kernel/mm/transparent_hugepage/enabled").and_then(|text| chosen(&text)),
            cpu_limit: cpu_limit(&files),
            cpus,
        }
    }

    /// The memory that this process may use: the machine's, or less where a control group allows less.
    pub fn usable_memory_bytes(&self) -> Option<u64> {
        self.memory_bytes.into_iter().chain(self.memory_limit_bytes).min()
    }

    /// How many sockets the CPUs are in, where that is known of all.
    pub fn sockets(&self) -> Option<usize> {
        distinct(self.cpus.iter().map(|cpu| cpu.socket))
    }

    /// How many cores there are, where that is known of all.
    pub fn cores(&self) -> Option<usize> {
        distinct(self.cpus.iter().map(|cpu| cpu.core.as_ref()))
    }

    /// The largest cache of the highest level.
    pub fn last_cache_bytes(&self) -> Option<u64> {
        let level = self.caches.iter().map(|cache| cache.level).max()?;
        self.caches.iter().filter(|cache| cache.level == level).filter_map(|cache| cache.bytes).max()
    }
}

/// As [`Topology::usable_memory_bytes`], without reading the rest.
pub(crate) fn usable_memory_bytes() -> Option<u64> {
    let files = Files(Path::new("/"));
    memory_bytes(&files).into_iter().chain(memory_limit(&files)).min()
}

fn memory_bytes(files: &Files<'_>) -> Option<u64> {
    files.line_of("proc/meminfo", "MemTotal").and_then(|text| kilobytes(&text))
}

/// Binds the calling thread to one CPU.
pub fn bind_thread(cpu: u32) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    if cpu as usize >= rustix::thread::CpuSet::MAX_CPU {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    set.set(cpu as usize);
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// How many different values there are; `None` when there are none or one is not known.
fn distinct<T: Ord>(values: impl Iterator<Item = Option<T>>) -> Option<usize> {
    let mut known = values.collect::<Option<Vec<T>>>()?;
    known.sort();
    known.dedup();
    (!known.is_empty()).then_some(known.len())
}

/// Small text files below a root.
struct Files<'a>(&'a Path);

impl Files<'_> {
    fn text(&self, path: &str) -> Option<String> {
        let text = fs::read(self.0.join(path)).ok()?;
        Some(String::from_utf8_lossy(&text).trim().to_owned())
    }

    fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    fn cpu_list(&self, path: &str) -> Option<Vec<u32>> {
        cpu_list(&self.text(path)?)
    }

    /// What follows `key:` in a file of such lines.
    fn line_of(&self, path: &str, key: &str) -> Option<String> {
        let text = self.text(path)?;
        text.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key).then(|| value.trim().to_owned())
        })
    }

    /// The numbers of the entries of a folder that are called `prefix` and a number, ascending.
    fn numbered(&self, folder: &str, prefix: &str) -> Vec<u32> {
        let entries = fs::read_dir(self.0.join(folder)).into_iter().flatten().flatten();
        let mut numbers: Vec<u32> =
            entries.filter_map(|entry| entry.file_name().to_str()?.strip_prefix(prefix)?.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    }
}

/// The kernel's lists of CPUs: `0-3,8,10-11`. An empty one is a list of none.
fn cpu_list(text: &str) -> Option<Vec<u32>> {
    /// More than any kernel is built for; a wrong file must not fill the memory.
    const CPUS_MAX: u32 = 1 << 16;
    let mut cpus = Vec::new();
    for part in text.trim().split(',').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first > last || last >= CPUS_MAX {
            return None;
        }
        cpus.extend(first..=last);
    }
    Some(cpus)
}

/// `16384 kB` in bytes.
fn kilobytes(text: &str) -> Option<u64> {
    text.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
}

/// A cache's size: `32K`, `1024K`, `36608K`, `2M`.
fn size(text: &str) -> Option<u64> {
    let (number, unit) = match text.strip_suffix(['K', 'k']) {
        Some(number) => (number, 1 << 10),
        None => text.strip_suffix('M').map_or((text, 1), |number| (number, 1 << 20)),
    };
    number.parse::<u64>().ok()?.checked_mul(unit).filter(|bytes| *bytes > 0)
}

/// The word in brackets: `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// /proc/cpuinfo calls it `model name` (x86), `cpu` (POWER) or `vendor_id` (s390x); a device tree may know more (ARM).
fn model(files: &Files<'_>) -> Option<String> {
    let named = ["model name", "cpu"].into_iter().find_map(|key| files.line_of("proc/cpuinfo", key));
    let tree = || files.text("sys/firmware/devicetree/base/model").map(|text| text.trim_end_matches('\0').to_owned());
    named.or_else(tree).or_else(|| files.line_of("proc/cpuinfo", "vendor_id")).filter(|text| !text.is_empty())
}

fn cpus(files: &Files<'_>) -> Vec<Cpu> {
    const FOLDER: &str = "sys/devices/system/cpu";
    let online = files.cpu_list(&format!("{FOLDER}/online")).unwrap_or_else(|| files.numbered(FOLDER, "cpu"));
    let cpu = |number: u32| {
        let path = |name: &str| format!("{FOLDER}/cpu{number}/topology/{name}");
        let siblings = ["core_cpus_list", "thread_siblings_list"].into_iter().find_map(|name| files.cpu_list(&path(name)));
        Cpu {
            number,
            // Some kernels say -1 where they do not know.
            socket: files.number(&path("physical_package_id")).and_then(|id| u32::try_from(id).ok()),
            core: siblings.filter(|cpus| cpus.contains(&number)),
        }
    };
    online.into_iter().map(cpu).collect()
}

fn caches(files: &Files<'_>, cpus: &[Cpu]) -> Vec<Cache> {
    let mut caches: Vec<Cache> = Vec::new();
    for cpu in cpus {
        let folder = format!("sys/devices/system/cpu/cpu{}/cache", cpu.number);
        for index in files.numbered(&folder, "index") {
            let path = |name: &str| format!("{folder}/index{index}/{name}");
            let Some(level) = files.number(&path("level")) else { continue };
            let cache = Cache {
                level: level as u32,
                kind: files.text(&path("type")).unwrap_or_else(|| "unknown".into()),
                bytes: files.text(&path("size")).and_then(|text| size(&text)),
                line_bytes: files.number(&path("coherency_line_size")).map(|bytes| bytes as u32),
                cpus: files.cpu_list(&path("shared_cpu_list")).unwrap_or_else(|| vec![cpu.number]),
            };
            if !caches.contains(&cache) {
                caches.push(cache);
            }
        }
    }
    caches.sort_by(|a, b| (a.level, &a.kind, &a.cpus).cmp(&(b.level, &b.kind, &b.cpus)));
    caches
}

fn nodes(files: &Files<'_>) -> Vec<Node> {
    const FOLDER: &str = "sys/devices/system/node";
    let node = |number: u32| {
        let path = |name: &str| format!("{FOLDER}/node{number}/{name}");
        let distances = files.text(&path("distance")).unwrap_or_default();
        Node {
            number,
            cpus: files.cpu_list(&path("cpulist")).unwrap_or_default(),
            memory_bytes: files.line_of(&path("meminfo"), &format!("Node {number} MemTotal")).and_then(|text| kilobytes(&text)),
            distances: distances.split_whitespace().filter_map(|text| text.parse().ok()).collect(),
        }
    };
    files.numbered(FOLDER, "node").into_iter().map(node).collect()
}

fn huge_pages(files: &Files<'_>) -> Vec<HugePages> {
    const FOLDER: &str = "sys/kernel/mm/hugepages";
    let entries = fs::read_dir(files.0.join(FOLDER)).into_iter().flatten().flatten();
    let pool = |name: String| {
        let kilobytes: u64 = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        let number = |file: &str| files.number(&format!("{FOLDER}/{name}/{file}"));
        Some(HugePages { bytes: kilobytes.checked_mul(1024)?, reserved: number("nr_hugepages"), free: number("free_hugepages") })
    };
    let mut pools: Vec<HugePages> = entries.filter_map(|entry| pool(entry.file_name().into_string().ok()?)).collect();
    pools.sort_by_key(|pool| pool.bytes);
    pools
}

/// The least of our group's limit and those of the groups above it, in version 2 of control groups and in version 1.
fn cpu_limit(files: &Files<'_>) -> CpuLimit {
    let mut limit = CpuLimit::Unknown;
    for (folder, is_version_1) in group_folders(files, "cpu", &["sys/fs/cgroup/cpu", "sys/fs/cgroup/cpu,cpuacct"]) {
        limit = lesser(limit, group_limit(files, &folder, is_version_1));
    }
    limit
}

/// As [`cpu_limit`], of memory. Version 1 says a number near 2^63 where there is no limit, version 2 `max`.
fn memory_limit(files: &Files<'_>) -> Option<u64> {
    const NO_LIMIT: u64 = 1 << 62;
    let limit = |(folder, is_version_1): (String, bool)| {
        let file = if is_version_1 { "memory.limit_in_bytes" } else { "memory.max" };
        files.number(&format!("{folder}/{file}")).filter(|bytes| *bytes < NO_LIMIT)
    };
    group_folders(files, "memory", &["sys/fs/cgroup/memory"]).into_iter().filter_map(limit).min()
}

/// The folders of our control group and of those above it, and whether they are of version 1. In a container the path of the group is often
/// that of the host, which is not there; the group itself is then mounted as the top.
fn group_folders(files: &Files<'_>, controller: &str, mounts_1: &[&str]) -> Vec<(String, bool)> {
    let groups = files.text("proc/self/cgroup").unwrap_or_default();
    let mut folders = Vec::new();
    for line in groups.lines() {
        // hierarchy:controllers:path
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        let is_version_1 = controllers.split(',').any(|name| name == controller);
        let mounts: &[&str] = match (controllers.is_empty(), is_version_1) {
            (true, _) => &["sys/fs/cgroup", "sys/fs/cgroup/unified"],
            (_, true) => mounts_1,
            _ => continue,
        };
        for mount in mounts {
            for group in Path::new(path.trim_start_matches('/')).ancestors() {
                folders.push((Path::new(mount).join(group).display().to_string(), is_version_1));
            }
        }
    }
    folders
}

fn group_limit(files: &Files<'_>, folder: &str, is_version_1: bool) -> CpuLimit {
    let (quota, period) = if is_version_1 {
        (files.text(&format!("{folder}/cpu.cfs_quota_us")), files.text(&format!("{folder}/cpu.cfs_period_us")))
    } else {
        let text = files.text(&format!("{folder}/cpu.max"));
        let mut words = text.as_deref().unwrap_or_default().split_whitespace().map(str::to_owned);
        (words.next(), words.next())
    };
    match (quota.as_deref(), period.as_deref().and_then(|text| text.parse::<u64>().ok())) {
        (Some("max" | "-1"), _) => CpuLimit::None,
        (Some(quota), Some(period)) if period > 0 => match quota.parse::<u64>() {
            Ok(quota) => CpuLimit::Cpus(quota as f64 / period as f64),
            Err(_) => CpuLimit::Unknown,
        },
        _ => CpuLimit::Unknown,
    }
}

fn lesser(a: CpuLimit, b: CpuLimit) -> CpuLimit {
    match (a, b) {
        (CpuLimit::Cpus(a), CpuLimit::Cpus(b)) => CpuLimit::Cpus(a.min(b)),
        (CpuLimit::Cpus(_), _) | (CpuLimit::None, CpuLimit::Unknown) => a,
        _ => b,
    }
}

#[cfg(test)]
mod tests;
