//! Machines made of files.

use super::*;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder with a `sys` and a `proc` of our own.
struct Machine(PathBuf);

impl Machine {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("heddle-topology-{}-{number}", std::process::id()));
        fs::create_dir_all(&root).expect("the folder for temporary files can be written");
        Self(root)
    }

    fn put(&self, path: &str, text: &str) -> &Self {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("a path below the root")).expect("folders can be made");
        fs::write(path, format!("{text}\n")).expect("files can be written");
        self
    }

    fn cache(&self, cpu: u32, index: u32, level: u32, kind: &str, size: &str, shared: &str) {
        let folder = format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
        self.put(&format!("{folder}/level"), &level.to_string())
            .put(&format!("{folder}/type"), kind)
            .put(&format!("{folder}/size"), size)
            .put(&format!("{folder}/coherency_line_size"), "64")
            .put(&format!("{folder}/shared_cpu_list"), shared);
    }

    fn read(&self) -> Topology {
        Topology::read_below(&self.0)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Two sockets of two cores with two threads each; a node per socket.
fn two_sockets() -> Machine {
    let machine = Machine::new();
    machine
        .put("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Some Xeon")
        .put("proc/meminfo", "MemTotal:       65536 kB\nMemFree: 1 kB")
        .put("proc/self/status", "Name:\tx\nCpus_allowed:\t3f\nCpus_allowed_list:\t0-5")
        .put("proc/self/cgroup", "0::/pod/box")
        .put("sys/fs/cgroup/pod/cpu.max", "250000 100000")
        .put("sys/fs/cgroup/pod/box/cpu.max", "max 100000")
        .put("sys/devices/system/cpu/online", "0-7")
        .put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never")
        .put("sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "0")
        .put("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "512")
        .put("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "500");
    for cpu in 0..8 {
        let (socket, core) = (cpu / 2 % 2, cpu % 4);
        let pair = format!("{core},{}", core + 4);
        let topology = format!("sys/devices/system/cpu/cpu{cpu}/topology");
        machine
            .put(&format!("{topology}/physical_package_id"), &socket.to_string())
            .put(&format!("{topology}/core_cpus_list"), &pair);
        machine.cache(cpu, 0, 1, "Data", "32K", &pair);
        machine.cache(cpu, 1, 1, "Instruction", "32K", &pair);
        machine.cache(cpu, 2, 2, "Unified", "1024K", &pair);
        machine.cache(cpu, 3, 3, "Unified", "36608K", ["0-1,4-5", "2-3,6-7"][socket as usize]);
    }
    for (node, cpus, distances) in [(0, "0-1,4-5", "10 21"), (1, "2-3,6-7", "21 10")] {
        let folder = format!("sys/devices/system/node/node{node}");
        machine
            .put(&format!("{folder}/cpulist"), cpus)
            .put(&format!("{folder}/meminfo"), &format!("Node {node} MemTotal:       32768 kB\nNode {node} MemFree: 5 kB"))
            .put(&format!("{folder}/distance"), distances);
    }
    machine
}

#[test]
fn two_sockets_with_threads_and_nodes() {
    let machine = two_sockets();
    let found = machine.read();
    assert_eq!(found.model.as_deref(), Some("Some Xeon"));
    assert_eq!((found.cpus.len(), found.sockets(), found.cores()), (8, Some(2), Some(4)));
    assert_eq!(found.cpus[6], Cpu { number: 6, socket: Some(1), core: Some(vec![2, 6]) });
    assert_eq!(found.usable, Some((0..6).collect()));
    let counts = |level, kind: &str| found.caches.iter().filter(|c| c.level == level && c.kind == kind).count();
    assert_eq!((counts(1, "Data"), counts(1, "Instruction"), counts(2, "Unified"), counts(3, "Unified")), (4, 4, 4, 2));
    assert_eq!(found.last_cache_bytes(), Some(36_608 << 10));
    let last = found.caches.last().expect("there are caches");
    assert_eq!((&last.cpus, last.line_bytes), (&vec![2, 3, 6, 7], Some(64)));
    let node = Node { number: 1, cpus: vec![2, 3, 6, 7], memory_bytes: Some(32 << 20), distances: vec![21, 10] };
    assert_eq!((found.nodes.len(), &found.nodes[1]), (2, &node));
    assert_eq!(found.memory_bytes, Some(64 << 20));
    assert_eq!(found.transparent_huge_pages.as_deref(), Some("madvise"));
    let pools = [
        HugePages { bytes: 2 << 20, reserved: Some(512), free: Some(500) },
        HugePages { bytes: 1 << 30, reserved: Some(0), free: None },
    ];
    assert_eq!(found.huge_pages, pools);
    assert_eq!(found.cpu_limit, CpuLimit::Cpus(2.5), "the limit of a group above counts");
}

/// As some ARM boards and emulators: CPUs without caches, packages of -1, no nodes.
#[test]
fn an_arm_machine_that_tells_little() {
    let machine = Machine::new();
    machine
        .put("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\nFeatures\t: fp asimd")
        .put("sys/firmware/devicetree/base/model", "Some Board\0")
        .put("sys/devices/system/cpu/online", "0-1,3")
        .put("sys/devices/system/cpu/cpu0/topology/physical_package_id", "-1")
        .put("sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0");
    let found = machine.read();
    assert_eq!(found.model.as_deref(), Some("Some Board"));
    assert_eq!(found.cpus.iter().map(|cpu| cpu.number).collect::<Vec<_>>(), [0, 1, 3]);
    assert_eq!(found.cpus[0], Cpu { number: 0, socket: None, core: Some(vec![0]) });
    assert_eq!((found.sockets(), found.cores(), found.last_cache_bytes()), (None, None, None));
    assert!(found.caches.is_empty() && found.nodes.is_empty() && found.huge_pages.is_empty());
    assert_eq!(found.cpu_limit, CpuLimit::Unknown);
}

#[test]
fn nothing_at_all_is_unknown() {
    assert_eq!(Machine::new().read(), Topology::default());
}

#[test]
fn limits_of_control_groups() {
    let check = |files: &[(&str, &str)], expected: CpuLimit| {
        let machine = Machine::new();
        for (path, text) in files {
            machine.put(path, text);
        }
        assert_eq!(machine.read().cpu_limit, expected, "{files:?}");
    };
    check(&[("proc/self/cgroup", "0::/"), ("sys/fs/cgroup/cpu.max", "max 100000")], CpuLimit::None);
    check(&[("proc/self/cgroup", "0::/"), ("sys/fs/cgroup/cpu.max", "50000 100000")], CpuLimit::Cpus(0.5));
    check(&[("proc/self/cgroup", "0::/"), ("sys/fs/cgroup/cpu.max", "what 0")], CpuLimit::Unknown);
    check(&[("proc/self/cgroup", "0::/")], CpuLimit::Unknown);
    let version_1 = |quota| {
        [
            ("proc/self/cgroup", "4:memory:/x\n1:cpu,cpuacct:/box\n0::/"),
            ("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", quota),
            ("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000"),
        ]
    };
    check(&version_1("300000"), CpuLimit::Cpus(3.0));
    check(&version_1("-1"), CpuLimit::None);
}

#[test]
fn memory_of_control_groups() {
    let check = |files: &[(&str, &str)], expected: Option<u64>| {
        let machine = Machine::new();
        machine.put("proc/meminfo", "MemTotal: 4194304 kB");
        for (path, text) in files {
            machine.put(path, text);
        }
        let found = machine.read();
        assert_eq!(found.memory_limit_bytes, expected, "{files:?}");
        assert_eq!(found.usable_memory_bytes(), Some(expected.unwrap_or(u64::MAX).min(4 << 30)));
    };
    let (group, mib) = (("proc/self/cgroup", "0::/pod/box"), |mib: u64| Some(mib << 20));
    check(&[group, ("sys/fs/cgroup/pod/box/memory.max", "536870912")], mib(512));
    check(&[group, ("sys/fs/cgroup/pod/memory.max", "268435456"), ("sys/fs/cgroup/pod/box/memory.max", "max")], mib(256));
    // Inside of a container the group is mounted as the top.
    check(&[group, ("sys/fs/cgroup/memory.max", "536870912")], mib(512));
    check(&[group, ("sys/fs/cgroup/memory.max", "8589934592")], mib(8192));
    check(&[("proc/self/cgroup", "0::/"), ("sys/fs/cgroup/memory.max", "max")], None);
    check(&[group], None);
    let version_1 = ("proc/self/cgroup", "4:memory:/box\n0::/");
    check(&[version_1, ("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "536870912")], mib(512));
    check(&[version_1, ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712")], None);
}

#[test]
fn lists_and_sizes() {
    assert_eq!(cpu_list("0-2,5,7-8"), Some(vec![0, 1, 2, 5, 7, 8]));
    assert_eq!(cpu_list(""), Some(vec![]));
    assert_eq!(cpu_list("0-"), None);
    assert_eq!(cpu_list("3-1"), None);
    assert_eq!(cpu_list("0-4000000000"), None);
    assert_eq!(
        (size("48K"), size("2M"), size("512"), size("0K"), size("x")),
        (Some(48 << 10), Some(2 << 20), Some(512), None, None)
    );
}

#[test]
fn this_machine_can_be_read() {
    let here = Topology::read();
    assert!(here.base_page_bytes.is_some_and(|bytes| bytes.is_power_of_two()));
}
