//! From runs to sentences: who is faster and how sure that is, where a curve bends and what bends it.
//!
//! **Knee**: the smallest level with nine tenths of the largest throughput. **Reason**, judged at the level behind the knee (or the last):
//!
//! 1. a lock of the data that takes half of the sessions' time: row, gap, metadata, user lock, latch of a page;
//! 2. the client: its busiest thread runs more than nine tenths of the time, while processors are left;
//! 3. the processors: server and client use nine tenths of what others leave them, and others use little;
//! 4. another wait that takes a sixth of the sessions' time;
//! 5. the processors, with others;
//! 6. nothing that the server tells of.
//!
//! Locks come first, because sessions that wait for them in line also keep processors busy with switching between them.

use crate::fit;
use crate::report::{self, Cell, Curve, Key, Report, Verdict, Wait};
use crate::stats::paired;
use crate::waits::{self, in_words};
use std::collections::{BTreeMap, BTreeSet};

const KNEE_SHARE: f64 = 0.9;
const LOCK_SHARE: f64 = 0.5;
const WAIT_SHARE: f64 = 1.0 / 6.0;
const BUSY: f64 = 0.9;
/// Others that use more hide what server and client would do.
const OTHERS_MAX: f64 = 0.3;

/// Waits for what other sessions hold.
fn is_lock(wait: &Wait) -> bool {
    wait.name.starts_with("wait/lock/") || wait.name == "wait/synch/sxlock/heddle/page_latch"
}

/// Waits that a session has because the processors are busy.
fn is_processor(wait: &Wait) -> bool {
    wait.name == waits::READY
}

/// Share of the machine's processors that were busy with both sides, and by whom: server, client, others.
fn busy(cell: &Cell, cpus: usize) -> (f64, f64, f64) {
    let all = cell.good().map(|run| run.seconds).sum::<f64>() * cpus as f64;
    let share = |sum: f64| sum / all.max(1e-9);
    let other = cell.median(|run| run.other_cpu);
    (share(cell.good().filter_map(|run| run.server_cpu).sum()), share(cell.good().map(|run| run.client_cpu).sum()), other)
}

/// What holds a cell's throughput back: its cause, and a sentence.
pub fn reason(cell: &Cell, cpus: usize) -> (String, String) {
    let session_seconds = cell.session_seconds().max(1e-9);
    let all = cell.waits();
    let share = |wait: &Wait| (wait.seconds / session_seconds).min(1.0);
    let told = |wait: &Wait| {
        let of = wait.object.as_ref().map(|object| format!(" ({object})")).unwrap_or_default();
        format!("sessions wait for {}{of}: {:.0} % of their time", in_words(&wait.name), share(wait) * 100.0)
    };
    if let Some(error) = cell.runs.iter().find_map(|run| run.error.as_ref()).filter(|_| cell.good().next().is_none()) {
        return ("error".into(), error.clone());
    }
    let lock = all.iter().filter(|wait| is_lock(wait)).max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    if let Some(lock) = lock.filter(|lock| share(lock) >= LOCK_SHARE) {
        return (lock.name.clone(), told(lock));
    }
    let (server, client, others) = busy(cell, cpus);
    let used = server + client + others;
    if cell.median(|run| run.busiest_thread) > BUSY && used < BUSY {
        return ("client".into(), "a thread of the client is busy all the time: give it more with --client-threads".into());
    }
    let of_processors = || {
        let [server, client, others] = [server, client, others].map(|share| share * 100.0);
        let text = format!(
            "the processors are busy: {server:.0} % of them with the server, {client:.0} % with the client, {others:.0} % with others"
        );
        ("processor".to_owned(), text)
    };
    if server + client >= BUSY * (1.0 - others) && others <= OTHERS_MAX {
        return of_processors();
    }
    if let Some(wait) = all.iter().find(|wait| !is_processor(wait) && share(wait) >= WAIT_SHARE) {
        return (wait.name.clone(), told(wait));
    }
    if used >= BUSY {
        return of_processors();
    }
    match all.iter().find(|wait| is_processor(wait) && share(wait) >= WAIT_SHARE) {
        Some(wait) => (wait.name.clone(), told(wait)),
        None => {
            let told = format!("the server tells of no wait that explains it; {:.0} % of the processors are busy", used * 100.0);
            ("none".into(), told)
        }
    }
}

/// Curves over connections, and over cores where these were swept.
pub fn curves(report: &Report) -> Vec<Curve> {
    let mut groups: BTreeMap<(String, String, &str, Option<u32>), Vec<&Cell>> = BTreeMap::new();
    // At a rate that is asked for, the throughput is that rate.
    for cell in report.cells.iter().filter(|cell| cell.rate.is_none()) {
        let of = |over, at| (cell.workload.clone(), cell.server.clone(), over, at);
        groups.entry(of("connections", cell.cores)).or_default().push(cell);
        if cell.cores.is_some() {
            groups.entry(of("cores", Some(cell.connections))).or_default().push(cell);
        }
    }
    groups
        .into_iter()
        .filter_map(|((workload, server, over, at), cells)| curve(report, &workload, &server, over, at, &cells))
        .collect()
}

fn curve(report: &Report, workload: &str, server: &str, over: &str, at: Option<u32>, cells: &[&Cell]) -> Option<Curve> {
    let level = |cell: &Cell| if over == "cores" { cell.cores.unwrap_or(0) } else { cell.connections };
    let mut cells: Vec<&Cell> = cells.iter().copied().filter(|cell| cell.good().next().is_some()).collect();
    cells.sort_by_key(|cell| level(cell));
    let rate = |cell: &Cell| cell.median(crate::report::Run::rate_of_queries);
    let most = cells.iter().map(|cell| rate(cell)).fold(0.0, f64::max);
    let knee = cells.iter().position(|cell| rate(cell) >= KNEE_SHARE * most)?;
    let behind = cells.get(knee + 1).or(cells.last())?;
    let (cause, reason) = reason(behind, usable(report, behind));
    let runs: Vec<(f64, f64)> =
        cells.iter().flat_map(|cell| cell.good().map(|run| (f64::from(level(cell)), run.rate_of_queries()))).collect();
    Some(Curve {
        workload: workload.into(),
        server: server.into(),
        over: over.into(),
        at,
        fit: fit::fit(&runs),
        knee: level(cells[knee]),
        most,
        reason,
        cause,
    })
}

/// CPUs that server and client may use in a cell: in a sweep the client has those that the server has not, or shares them.
fn usable(report: &Report, cell: &Cell) -> usize {
    let all = report.machine.cpus.max(1);
    match cell.cores.map(|cores| cores as usize) {
        Some(cores) if cores < all => (cores + cell_client_cpus(all - cores)).min(all),
        _ => all,
    }
}

/// The client leaves processors idle that it does not need: one is what it is judged by.
fn cell_client_cpus(free: usize) -> usize {
    free.min(1)
}

/// Which cells a figure compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loops {
    Closed,
    /// The throughput is what was asked for: latencies differ.
    Open,
    Both,
}

impl Loops {
    fn holds(self, cell: &Cell) -> bool {
        match self {
            Self::Closed => cell.rate.is_none(),
            Self::Open => cell.rate.is_some(),
            Self::Both => true,
        }
    }
}

type Figure = fn(&crate::report::Run) -> Option<f64>;

const FIGURES: &[(&str, Figure, Loops)] = &[
    (report::THROUGHPUT, |run| Some(run.rate_of_queries()), Loops::Closed),
    (report::LATENCY, |run| Some(run.p99_ms), Loops::Open),
    (report::SERVER_CPU, |run| run.server_us(), Loops::Both),
];

/// The first server beside each other one: by cell, and over all cells of a workload, and over all.
pub fn verdicts(report: &Report) -> Vec<Verdict> {
    let names: Vec<&str> = report.servers.iter().map(|server| server.name.as_str()).collect();
    let Some((first, others)) = names.split_first() else { return Vec::new() };
    let mut all = Vec::new();
    for second in others {
        for (of, figure, loops) in FIGURES {
            // Pairs of the same round, by cell.
            let mut pairs: BTreeMap<Key, BTreeMap<u32, (f64, f64)>> = BTreeMap::new();
            for cell in report.cells.iter().filter(|cell| cell.server == *first && loops.holds(cell)) {
                let Some(other) = report.cells.iter().find(|other| other.server == *second && other.key() == cell.key()) else {
                    continue;
                };
                for run in cell.good() {
                    let Some(beside) = other.good().find(|beside| beside.round == run.round) else { continue };
                    if let (Some(a), Some(b)) = (figure(run), figure(beside)) {
                        pairs.entry(cell.key()).or_default().insert(run.round, (a, b));
                    }
                }
            }
            let verdict = |workload: &str, (connections, cores, rate), pairs: &[(f64, f64)]| {
                paired(pairs).map(|ratio| Verdict {
                    of: (*of).into(),
                    workload: workload.into(),
                    connections,
                    cores,
                    rate,
                    first: (*first).into(),
                    second: (*second).into(),
                    ratio,
                })
            };
            let workloads: BTreeSet<&String> = pairs.keys().map(|(workload, ..)| workload).collect();
            all.extend(verdict("", (None, None, None), &of_rounds(pairs.values())));
            for workload in workloads {
                let cells = pairs.iter().filter(|((name, ..), _)| name == workload).map(|(_, rounds)| rounds);
                all.extend(verdict(workload, (None, None, None), &of_rounds(cells)));
            }
            for ((workload, connections, cores, rate), rounds) in &pairs {
                let values: Vec<(f64, f64)> = rounds.values().copied().collect();
                all.extend(verdict(workload, (Some(*connections), *cores, *rate), &values));
            }
        }
    }
    all
}

/// One pair for each round: the geometric means over cells that have the round.
fn of_rounds<'a>(cells: impl Iterator<Item = &'a BTreeMap<u32, (f64, f64)>>) -> Vec<(f64, f64)> {
    let mut logs: BTreeMap<u32, (f64, f64, f64)> = BTreeMap::new();
    for (round, (a, b)) in cells.flatten().filter(|(_, (a, b))| *a > 0.0 && *b > 0.0) {
        let sum = logs.entry(*round).or_default();
        *sum = (sum.0 + a.ln(), sum.1 + b.ln(), sum.2 + 1.0);
    }
    logs.into_values().map(|(a, b, count)| ((a / count).exp(), (b / count).exp())).collect()
}

/// What a reader should know of the machine during the run.
pub fn noise(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    let runs: Vec<&crate::report::Run> = report.cells.iter().flat_map(Cell::good).collect();
    let mean = |of: fn(&crate::report::Run) -> f64| runs.iter().map(|run| of(run)).sum::<f64>() / (runs.len() as f64).max(1.0);
    let (other, stolen) = (mean(|run| run.other_cpu), mean(|run| run.stolen_cpu));
    if other > 0.05 {
        notes.push(format!(
            "Other programs used {:.0} % of the processors: the figures are less sure than their intervals say.",
            other * 100.0
        ));
    }
    if stolen > 0.02 {
        notes.push(format!("The hypervisor took {:.0} % of the processors for other machines.", stolen * 100.0));
    }
    let mut speed = report.speed.clone();
    speed.sort_by(f64::total_cmp);
    let (low, high) = (crate::stats::quantile(&speed, 0.05), crate::stats::quantile(&speed, 0.95));
    if speed.len() > 3 && (high - low) / high > 0.1 {
        notes.push(format!(
            "The speed of one processor varied by {:.0} % between runs (a fixed computation before each).",
            (high - low) / high * 100.0
        ));
    }
    for server in &report.servers {
        let of_server = report.cells.iter().filter(|cell| cell.server == server.name);
        let waited: f64 =
            of_server.clone().flat_map(Cell::waits).filter(|wait| wait.name == waits::CLIENT).map(|wait| wait.seconds).sum();
        let measured: f64 = of_server.flat_map(Cell::good).map(|run| run.seconds).sum();
        if waited >= measured / 2.0 && measured > 0.0 {
            notes.push(format!(
                "{}: sessions waited {waited:.1} of {measured:.1} s for a client that does not read its answer; what they hold, others wait for.",
                server.name
            ));
        }
    }
    for cell in &report.cells {
        if let Some(error) = cell.runs.iter().find_map(|run| run.error.as_ref()) {
            notes.push(format!("{}, {} connections, {}: {error}", cell.server, cell.connections, cell.workload));
        }
    }
    notes.dedup();
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Run;

    fn run(round: u32, queries: u64, waits: &[(&str, f64)], cpu: f64) -> Run {
        let waits = waits.iter().map(|(name, seconds)| Wait { name: (*name).into(), count: 1, seconds: *seconds, object: None });
        Run {
            round,
            seconds: 1.0,
            queries,
            events: queries,
            server_cpu: Some(cpu),
            client_cpu: 0.2,
            waits: waits.collect(),
            ..Run::default()
        }
    }

    fn cell(server: &str, connections: u32, runs: Vec<Run>) -> Cell {
        Cell { workload: "w".into(), connections, cores: None, rate: None, server: server.into(), runs }
    }

    #[test]
    fn reasons_are_named() {
        let check = |waits: &[(&str, f64)], cpu: f64, expected: &str| {
            assert_eq!(reason(&cell("a", 10, vec![run(0, 100, waits, cpu)]), 2).0, expected, "{waits:?} {cpu}");
        };
        check(&[(waits::ROW_LOCK, 8.0), (waits::READY, 1.0)], 1.75, waits::ROW_LOCK);
        check(&[(waits::METADATA_LOCK, 9.0)], 0.1, waits::METADATA_LOCK);
        check(&[(waits::READY, 9.0), (waits::ROW_LOCK, 0.5)], 1.75, "processor");
        // Others leave little: the wait says more than that all are busy.
        let mut beside = run(0, 100, &[("wait/io/file/innodb/innodb_log_file", 6.0)], 0.2);
        beside.other_cpu = 0.8;
        assert_eq!(reason(&cell("a", 10, vec![beside]), 2).0, "wait/io/file/innodb/innodb_log_file");
        check(&[("wait/io/file/innodb/innodb_log_file", 6.0), (waits::READY, 1.0)], 0.5, "wait/io/file/innodb/innodb_log_file");
        check(&[(waits::CLIENT, 3.0)], 0.3, waits::CLIENT);
        check(&[], 0.3, "none");
        let mut busy = run(0, 100, &[], 0.3);
        busy.busiest_thread = 0.97;
        assert_eq!(reason(&cell("a", 10, vec![busy]), 2).0, "client");
    }

    fn report_of(cells: Vec<Cell>) -> Report {
        let servers = ["a", "b"].map(|name| crate::report::ServerInfo { name: name.into(), ..Default::default() });
        Report {
            format: crate::report::FORMAT,
            state: crate::report::State::Complete,
            error: None,
            program: String::new(),
            commit: None,
            command: Vec::new(),
            started: String::new(),
            ended: None,
            machine: crate::machine::Machine { cpus: 2, ..Default::default() },
            settings: BTreeMap::new(),
            servers: servers.into(),
            cells,
            curves: Vec::new(),
            verdicts: Vec::new(),
            notes: Vec::new(),
            speed: Vec::new(),
        }
    }

    #[test]
    fn at_a_rate_latencies_are_compared() {
        let cells = ["a", "b"].map(|server| {
            let runs = (0..3).map(|round| Run { p99_ms: if server == "a" { 2.0 } else { 4.0 }, ..run(round, 500, &[], 0.1) });
            Cell { rate: Some(500), ..cell(server, 4, runs.collect()) }
        });
        let verdicts = verdicts(&report_of(cells.into()));
        assert!(verdicts.iter().all(|v| v.of != report::THROUGHPUT));
        let latency = verdicts.iter().find(|v| v.of == report::LATENCY && v.workload == "w").expect("two servers");
        assert!((latency.ratio.value - 0.5).abs() < 1e-9);
        assert!(crate::report::html::sentence(latency).contains("0.50 times b's"));
    }

    #[test]
    fn the_knee_and_the_winner_are_found() {
        let level = |connections, a: u64, b: u64| {
            let runs = |queries: u64| (0..3).map(|round| run(round, queries + u64::from(round), &[], 1.9)).collect();
            [cell("a", connections, runs(a)), cell("b", connections, runs(b))]
        };
        let cells = [level(1, 1000, 500), level(2, 1900, 900), level(4, 2000, 1000), level(8, 2000, 1000)].concat();
        let report = report_of(cells);
        let curves = curves(&report);
        let of_a = curves.iter().find(|curve| curve.server == "a").expect("it was measured");
        assert_eq!((of_a.knee, of_a.cause.as_str(), of_a.fit.is_some()), (2, "processor", true));
        let verdicts = verdicts(&report);
        let all = verdicts.iter().find(|v| v.workload.is_empty() && v.of == "throughput").expect("two servers");
        assert!(all.ratio.is_sure() && (all.ratio.value - 2.05).abs() < 0.1, "{all:?}");
        assert_eq!(verdicts.iter().filter(|v| v.of == "throughput" && v.connections.is_some()).count(), 4);
    }
}
