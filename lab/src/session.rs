//! One run of the lab, from the command line to the report.
//!
//! ```text
//! servers      start a Heddle, connect, claim the database
//! for each workload
//!   data       made on every server, as far as it is not there
//!   for each number of cores, in each round, at each level
//!     servers  in turns, forwards and backwards every other round: connect, ramp up, count, disconnect
//!   check      the data is what it must be
//!   profile    one more load on Heddle, which does not count
//! report       curves, verdicts, notes; databases dropped, the Heddle stopped
//! ```
//! N1: the JSON is written after each run, so that whatever ends the lab leaves a report.
//! N2: what was started, bound or made is ended, unbound and dropped on every way out but a kill.

use crate::client::Client;
use crate::error::{Error, Result};
use crate::explain;
use crate::flags::{Protocol, RunFlags};
use crate::live::{Live, grouped};
use crate::load::{self, Job, Loop, Measured, Watcher};
use crate::machine::{self, Machine};
use crate::own::{self, Own};
use crate::report::{self, Cell, Label, Report, Run, State};
use crate::server::Server;
use crate::target::Target;
use crate::waits::{self, Snapshot};
use crate::workload::{self, Settings, Workload};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const TPCC: &str = "tpcc";
/// Seconds around a run that do not count: connections, snapshots.
const AROUND: f64 = 0.25;
/// Seconds that data takes, about, for each server and workload.
const DATA: f64 = 4.0;
const TIME_MIN: f64 = 0.3;
const TIME_MAX: f64 = 60.0;
const PROFILE_SECONDS: u32 = 2;

/// What the program is, for the report.
#[derive(Clone, Debug)]
pub struct Program {
    pub path: PathBuf,
    pub version: String,
    pub command: Vec<String>,
}

/// Files of a finished run.
#[derive(Clone, Debug)]
pub struct Left {
    pub report: Report,
    pub json: PathBuf,
    pub html: PathBuf,
}

/// One workload of the run; TPC-C has a load of its own.
struct Planned {
    name: String,
    workload: Option<Box<dyn Workload>>,
}

/// Measures.
///
/// # Errors
/// What keeps it from measuring anything. What goes wrong later is in the report.
pub fn run(flags: &RunFlags, program: &Program) -> Result<Left> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // The second one ends the program at once.
        signal_hook::flag::register_conditional_shutdown(signal, 130, interrupted.clone()).map_err(Error::io("signals"))?;
        signal_hook::flag::register(signal, interrupted.clone()).map_err(Error::io("signals"))?;
    }
    let planned = plan(flags)?;
    let others: Vec<Target> = flags.against.iter().map(|address| Target::parse(address)).collect::<Result<_>>()?;
    if flags.by_socket && others.iter().any(|target| target.socket.is_none()) {
        return Err(Error::asked("--by-socket needs ?socket=PATH in each address"));
    }
    let mut live = Live::new(flags.quiet);
    let mut servers = open(flags, program, others, &interrupted, &mut live)?;
    let mut lab = Lab {
        report: begin(flags, program, &servers),
        planned,
        flags,
        interrupted,
        live,
        time: 0.0,
        paths: paths(flags),
        all_cpus: machine::online(),
    };
    lab.time = lab.time_of_a_run(servers.len());
    let outcome = lab.measure(&mut servers);
    lab.finish(servers, outcome)
}

fn plan(flags: &RunFlags) -> Result<Vec<Planned>> {
    let settings = Settings {
        tables: flags.tables,
        rows: flags.rows,
        distribution: flags.distribution,
        file: flags.file.clone(),
        warehouses: flags.warehouses,
    };
    if flags.rows.saturating_mul(u64::from(flags.tables)) > i32::MAX as u64 {
        return Err(Error::asked(format!("{} tables of {} rows are more than keys of 31 bits", flags.tables, flags.rows)));
    }
    let planned = flags.workload.iter().map(|name| {
        let workload = if name == TPCC { None } else { Some(workload::named(name, &settings)?) };
        Ok(Planned { name: name.trim_start_matches("oltp_").to_owned(), workload })
    });
    planned.collect()
}

fn open(
    flags: &RunFlags,
    program: &Program,
    others: Vec<Target>,
    interrupted: &AtomicBool,
    live: &mut Live,
) -> Result<Vec<Server>> {
    let mut servers = Vec::new();
    let mut beside: Vec<Server> = Vec::new();
    for target in others {
        beside.push(Server::open(target, None, &flags.database)?);
    }
    if let Some(address) = &flags.heddle {
        servers.push(Server::open(Target::parse(address)?, None, &flags.database)?);
    } else if !flags.without_heddle {
        let pool = beside.iter().find_map(|server| server.info.variables.get("innodb_buffer_pool_size").cloned());
        let mut arguments = Vec::new();
        for setting in &flags.set {
            let (name, value) =
                setting.split_once('=').ok_or_else(|| Error::asked(format!("--set {setting}: want NAME=VALUE")))?;
            arguments.extend([format!("--{name}"), value.to_owned()]);
        }
        let most = flags.connections.iter().copied().max().unwrap_or(1);
        let options = own::Options {
            program: program.path.clone(),
            below: flags.data_dir.clone(),
            buffer_pool: flags.buffer_pool.clone().or(pool).unwrap_or_else(|| "1G".into()),
            durability: flags.durability.clone(),
            workers: None,
            by_socket: flags.by_socket,
            connections: most,
            arguments,
        };
        live.now("starting a Heddle", 0.0);
        let own = Own::start(options, interrupted)?;
        servers.push(Server::open(own.target.clone(), Some(own), &flags.database)?);
    }
    servers.append(&mut beside);
    // Names tell servers apart.
    for at in 1..servers.len() {
        let same = servers[..at].iter().filter(|server| server.info.name == servers[at].info.name).count();
        if same > 0 {
            let name = format!("{} ({})", servers[at].info.name, servers[at].target.port);
            servers[at].info.name.clone_from(&name);
            servers[at].target.name = name;
        }
    }
    servers.iter_mut().try_for_each(Server::claim)?;
    Ok(servers)
}

fn begin(flags: &RunFlags, program: &Program, servers: &[Server]) -> Report {
    let setting = |name: &str, value: String| (name.to_owned(), value);
    let settings = BTreeMap::from([
        setting("tables", flags.tables.to_string()),
        setting("rows of a table", flags.rows.to_string()),
        setting("distribution", flags.distribution.name().into()),
        setting("protocol", if flags.protocol == Protocol::Prepared { "prepared" } else { "text" }.into()),
        setting("rounds", flags.rounds.to_string()),
        setting("transport", if flags.by_socket { "unix socket" } else { "TCP" }.into()),
        setting("warehouses", flags.warehouses.to_string()),
        setting("loop", if flags.rate.is_empty() { "closed" } else { "open" }.into()),
    ]);
    let mut notes: Vec<String> = servers.iter().flat_map(Server::notes).collect();
    if servers.iter().any(|server| server.own.as_ref().is_some_and(Own::is_in_memory)) {
        notes.push(
            "Heddle's directory is in memory (tmpfs): its commits cost no disk. Choose another one with --data-dir.".into(),
        );
    }
    Report {
        format: report::FORMAT,
        state: State::Running,
        error: None,
        program: program.version.clone(),
        commit: flags.commit.clone(),
        command: program.command.iter().map(|word| without_password(word)).collect(),
        started: jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %Z").to_string(),
        ended: None,
        machine: Machine::read(),
        settings,
        servers: servers.iter().map(|server| server.info.clone()).collect(),
        cells: Vec::new(),
        curves: Vec::new(),
        verdicts: Vec::new(),
        notes,
        speed: Vec::new(),
    }
}

/// An address of the command line without its password.
fn without_password(word: &str) -> String {
    let Some((head, rest)) = word.split_once("://") else { return word.to_owned() };
    match rest.split_once('@') {
        Some((account, place)) if account.contains(':') => {
            format!("{head}://{}:...@{place}", account.split(':').next().unwrap_or_default())
        }
        _ => word.to_owned(),
    }
}

/// JSON and HTML.
fn paths(flags: &RunFlags) -> (PathBuf, PathBuf) {
    let prefix =
        flags.out.clone().unwrap_or_else(|| format!("heddle-bench-{}", jiff::Zoned::now().strftime("%Y-%m-%dT%H%M%S")).into());
    let with = |ending: &str| {
        let mut path = prefix.as_os_str().to_owned();
        path.push(ending);
        PathBuf::from(path)
    };
    (with(".json"), with(".html"))
}

/// A run of the lab.
struct Lab<'a> {
    report: Report,
    planned: Vec<Planned>,
    flags: &'a RunFlags,
    interrupted: Arc<AtomicBool>,
    live: Live,
    /// Seconds of one run
    time: f64,
    paths: (PathBuf, PathBuf),
    all_cpus: Vec<u32>,
}

/// A level: connections, events a second.
type Level = (u32, Option<u64>);

impl Lab<'_> {
    fn levels(&self) -> Vec<Level> {
        let rates: Vec<Option<u64>> =
            if self.flags.rate.is_empty() { vec![None] } else { self.flags.rate.iter().copied().map(Some).collect() };
        self.flags.connections.iter().flat_map(|connections| rates.iter().map(move |rate| (*connections, *rate))).collect()
    }

    fn time_of_a_run(&mut self, servers: usize) -> f64 {
        let (flags, workloads) = (self.flags, self.planned.len());
        let runs = workloads * self.levels().len() * flags.cores.len().max(1) * flags.rounds as usize * servers;
        let once = flags.ramp_up + AROUND;
        let data = DATA * (servers * workloads) as f64 + f64::from(PROFILE_SECONDS + 1) * workloads as f64;
        let time = flags.time.unwrap_or_else(|| {
            let left = flags.minutes * 60.0 - data - once * runs as f64;
            (left / runs as f64).clamp(TIME_MIN, TIME_MAX)
        });
        self.report.settings.insert("seconds of a run".into(), format!("{time:.2}, after {:.1} of ramp-up", flags.ramp_up));
        self.live.begin(data + runs as f64 * (time + once));
        self.live.line(&format!(
            "{} of {} at {} connections, {} rounds: {runs} runs of {time:.1} s",
            self.planned.iter().map(|planned| planned.name.as_str()).collect::<Vec<_>>().join(", "),
            self.report.servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>().join(" and "),
            flags.connections.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
            flags.rounds,
        ));
        time
    }

    fn is_interrupted(&self) -> bool {
        // Relaxed: the flag is all that is shared.
        self.interrupted.load(Ordering::Relaxed)
    }

    fn measure(&mut self, servers: &mut [Server]) -> Result<()> {
        self.save()?;
        let planned = std::mem::take(&mut self.planned);
        for planned in &planned {
            let mut lost = vec![false; servers.len()];
            let cores: Vec<Option<u32>> =
                if self.flags.cores.is_empty() { vec![None] } else { self.flags.cores.iter().copied().map(Some).collect() };
            for cores in cores {
                self.bind(servers, cores)?;
                self.rounds(servers, planned, cores, &mut lost)?;
            }
            for (at, server) in servers.iter_mut().enumerate() {
                if lost[at] {
                    continue;
                }
                if let Err(error) = server.check(planned.workload.as_deref(), self.flags.warehouses) {
                    self.report.notes.push(format!("{}: {error}", planned.name));
                    self.report.error.get_or_insert(format!("{}: {error}", planned.name));
                }
                if server.is_heddle && !self.flags.without_profile && planned.workload.is_some() {
                    self.profile(server, planned, at);
                }
            }
            self.save()?;
        }
        Ok(())
    }

    /// Gives the servers their processors.
    fn bind(&mut self, servers: &mut [Server], cores: Option<u32>) -> Result<()> {
        let Some(cores) = cores else { return Ok(()) };
        if cores as usize > self.all_cpus.len() {
            return Err(Error::asked(format!("--cores {cores}: there are {}", self.all_cpus.len())));
        }
        for server in servers {
            if let Some(own) = &mut server.own {
                own.restart(cores, &self.interrupted)?;
                server.reconnect()?;
            }
            let pid = server.target.pid.ok_or_else(|| {
                Error::asked(format!("--cores: the process of {} is not known; give it as ?pid=N", server.target.name))
            })?;
            machine::bind_process(pid, &self.all_cpus[..cores as usize])
                .map_err(Error::io(format!("processors of {}", server.target.name)))?;
        }
        Ok(())
    }

    /// The client's processors: those that the server has not.
    fn client_cpus(&self, cores: Option<u32>) -> Vec<u32> {
        match cores {
            Some(cores) if (cores as usize) < self.all_cpus.len() => self.all_cpus[cores as usize..].to_vec(),
            _ => Vec::new(),
        }
    }

    fn rounds(&mut self, servers: &mut [Server], planned: &Planned, cores: Option<u32>, lost: &mut [bool]) -> Result<()> {
        let levels = self.levels();
        for round in 0..self.flags.rounds {
            for level in &levels {
                let mut order: Vec<usize> = (0..servers.len()).collect();
                if round % 2 == 1 {
                    order.reverse();
                }
                for at in order {
                    if lost[at] {
                        continue;
                    }
                    if self.is_interrupted() {
                        return Err(Error::Interrupted);
                    }
                    let run = self.one(&mut servers[at], planned, *level, cores, round);
                    let run = match run {
                        Err(Error::Interrupted) => return Err(Error::Interrupted),
                        Err(error) => {
                            let told = waits::now(servers[at].control());
                            let told = if told.is_empty() { String::new() } else { format!("; meanwhile {told}") };
                            Run { round, error: Some(format!("{error}{told}")), ..Run::default() }
                        }
                        Ok(run) => run,
                    };
                    lost[at] = run.error.is_some();
                    if let Some(error) = &run.error {
                        self.live
                            .line(&format!("{}, {}, {} connections: {error}", servers[at].target.name, planned.name, level.0));
                        self.report.error.get_or_insert(format!("{}, {}: {error}", servers[at].target.name, planned.name));
                    }
                    self.keep(&servers[at], planned, *level, cores, run);
                    self.save()?;
                }
                if round + 1 == self.flags.rounds {
                    self.tell(planned, *level, cores);
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, server: &Server, planned: &Planned, level: Level, cores: Option<u32>, run: Run) {
        let (connections, rate) = level;
        let key = (planned.name.clone(), connections, cores, rate);
        let known = self.report.cells.iter_mut().find(|cell| cell.server == server.target.name && cell.key() == key);
        match known {
            Some(cell) => cell.runs.push(run),
            None => self.report.cells.push(Cell {
                workload: planned.name.clone(),
                connections,
                cores,
                rate,
                server: server.target.name.clone(),
                runs: vec![run],
            }),
        }
    }

    /// A line with the level's results, which stays.
    fn tell(&mut self, planned: &Planned, level: Level, cores: Option<u32>) {
        let key = (planned.name.clone(), level.0, cores, level.1);
        let told: Vec<String> = self
            .report
            .cells
            .iter()
            .filter(|cell| cell.key() == key && cell.good().next().is_some())
            .map(|cell| {
                let cpu = cell.good().filter_map(Run::server_us).collect::<Vec<f64>>();
                let cpu = if cpu.is_empty() { String::new() } else { format!(", {:.1} µs", crate::stats::median(cpu)) };
                format!("{} {}/s (±{:.0} %{cpu})", cell.server, grouped(cell.median(Run::rate_of_queries)), cell.spread() * 100.0)
            })
            .collect();
        let rate = level.1.map(|rate| format!(" at {rate}/s")).unwrap_or_default();
        let cores = cores.map(|cores| format!(", {cores} cores")).unwrap_or_default();
        self.live.line(&format!("{:<16} {:>5} connections{rate}{cores}: {}", planned.name, level.0, told.join("  |  ")));
    }

    fn job<'a>(
        &self,
        server: &'a Server,
        workload: &'a dyn Workload,
        level: Level,
        cpus: &'a [u32],
        time: f64,
        round: u32,
    ) -> Job<'a>
    where
        Self: 'a,
    {
        let threads = self.flags.client_threads.unwrap_or_else(|| (self.all_cpus.len() / 4).max(1) as u32);
        Job {
            target: &server.target,
            database: "",
            workload,
            connections: level.0 as usize,
            threads: threads as usize,
            mode: level.1.map_or(Loop::Closed, |rate| Loop::Open { rate: rate as f64 }),
            prepared: self.flags.protocol == Protocol::Prepared,
            ramp_up: Duration::from_secs_f64(self.flags.ramp_up.max(0.0)),
            time: Duration::from_secs_f64(time),
            seed: self.flags.seed + u64::from(round),
            cpus,
            interrupted: Arc::clone(&self.interrupted),
        }
    }

    /// One run of one server.
    fn one(&mut self, server: &mut Server, planned: &Planned, level: Level, cores: Option<u32>, round: u32) -> Result<Run> {
        let what = format!(
            "{}, {}, {} connections, round {} of {}",
            server.target.name,
            planned.name,
            level.0,
            round + 1,
            self.flags.rounds
        );
        let interrupted = Arc::clone(&self.interrupted);
        let live = &mut self.live;
        let mut tell = |share: f64| {
            live.now(&format!("{what}: making the data, {:.0} %", share * 100.0), 0.0);
            if interrupted.load(Ordering::Relaxed) { Err(Error::Interrupted) } else { Ok(()) }
        };
        tell(0.0)?;
        match &planned.workload {
            Some(workload) => server.prepare(workload.as_ref(), workload.wears_out(), &mut tell)?,
            None => server.prepare_tpcc(self.flags.warehouses)?,
        }
        self.report.speed.push(machine::speed());
        let cpus = self.client_cpus(cores);
        let is_heddle = server.is_heddle;
        let mut control = Client::open(&server.target, None)?;
        let mut watcher = Edges::new(&mut control, is_heddle, server.target.pid, &mut self.live, what);
        let database = self.flags.database.clone();
        let none: &dyn Workload = &Nothing;
        let workload = planned.workload.as_deref().unwrap_or(none);
        // Borrowed apart: the view is the watcher's meanwhile.
        let threads = self.flags.client_threads.unwrap_or_else(|| (self.all_cpus.len() / 4).max(1) as u32);
        let job = Job {
            target: &server.target,
            database: &database,
            workload,
            connections: level.0 as usize,
            threads: threads as usize,
            mode: level.1.map_or(Loop::Closed, |rate| Loop::Open { rate: rate as f64 }),
            prepared: self.flags.protocol == Protocol::Prepared,
            ramp_up: Duration::from_secs_f64(if planned.workload.is_some() { self.flags.ramp_up.max(0.0) } else { 0.0 }),
            time: Duration::from_secs_f64(self.time),
            seed: self.flags.seed + u64::from(round),
            cpus: &cpus,
            interrupted: Arc::clone(&self.interrupted),
        };
        let (measured, elapsed) = match planned.workload {
            Some(_) => load::run(&job, &mut watcher)?,
            None => {
                watcher.begin();
                let (measured, elapsed, ..) = workload::tpcc::run(&job, self.flags.warehouses, server.target.pid)?;
                watcher.end(elapsed);
                (measured, elapsed)
            }
        };
        let edges = watcher.done;
        self.live.advance(self.time + self.flags.ramp_up + AROUND);
        if self.is_interrupted() && elapsed.as_secs_f64() < self.time / 2.0 {
            return Err(Error::Interrupted);
        }
        Ok(self.run_of(measured, elapsed, edges, round))
    }

    fn run_of(&self, measured: Measured, elapsed: Duration, edges: Differences, round: u32) -> Run {
        let ms = |ns: f64| ns / 1e6;
        let latency = &measured.latency;
        let seconds = elapsed.as_secs_f64();
        let whole = seconds * self.report.machine.cpus.max(1) as f64;
        let ours = edges.client_cpu + edges.server_cpu.unwrap_or(0.0);
        let error = measured.error.as_ref().map(ToString::to_string);
        Run {
            round,
            // A run that an error has ended counts for nothing.
            seconds: if error.is_some() { 0.0 } else { seconds },
            events: measured.events,
            queries: measured.queries,
            rows: measured.rows,
            conflicts: measured.conflicts,
            waiting: measured.waiting,
            mean_ms: ms(latency.mean()),
            p50_ms: ms(latency.percentile(0.5) as f64),
            p95_ms: ms(latency.percentile(0.95) as f64),
            p99_ms: ms(latency.percentile(0.99) as f64),
            max_ms: ms(latency.max() as f64),
            histogram: latency.sparse(),
            server_cpu: edges.server_cpu,
            client_cpu: edges.client_cpu,
            // Without the server's process its time is among the others'.
            other_cpu: if edges.server_cpu.is_some() { ((edges.busy - ours) / whole).max(0.0) } else { 0.0 },
            stolen_cpu: edges.stolen / whole,
            busiest_thread: measured.busiest_thread,
            server_memory: edges.memory,
            statements: measured
                .by_label
                .iter()
                .filter(|(_, sum)| sum.calls > 0)
                .map(|(label, sum)| {
                    let mean_us = sum.ns as f64 / sum.calls as f64 / 1e3;
                    ((*label).to_owned(), Label { calls: sum.calls, mean_us, max_us: sum.max_ns as f64 / 1e3 })
                })
                .collect(),
            slices: measured.slices,
            waits: edges.waits,
            phases: edges.phases,
            error,
        }
    }

    /// One more load at the highest level, for a flame graph. It does not count, and what goes wrong is a note.
    fn profile(&mut self, server: &mut Server, planned: &Planned, at: usize) {
        let Some(workload) = planned.workload.as_deref().filter(|_| !self.is_interrupted()) else { return };
        let connections = self.flags.connections.iter().copied().max().unwrap_or(1);
        let what = format!("{}, {}: a profile", server.target.name, planned.name);
        self.live.now(&what, 0.0);
        let target = server.target.clone();
        let asked = std::thread::spawn(move || -> Result<Vec<crate::client::Row>> {
            // After the ramp-up.
            std::thread::sleep(Duration::from_millis(400));
            Client::open(&target, None)?.query(&format!("SHOW SERVER PROFILE FOR {PROFILE_SECONDS} SECONDS AT 199 HERTZ"))
        });
        let database = self.flags.database.clone();
        let job = Job {
            database: &database,
            ..self.job(server, workload, (connections, None), &[], f64::from(PROFILE_SECONDS) + 0.5, 0)
        };
        let outcome = load::run(&job, &mut Silent);
        self.live.advance(f64::from(PROFILE_SECONDS) + 1.0);
        let rows = asked.join().unwrap_or(Err(Error::Interrupted));
        match (outcome, rows) {
            (Ok(_), Ok(rows)) => {
                let lines: Vec<(String, u64)> =
                    rows.iter().filter_map(|row| Some((row.get(4)?.clone()?, row.get(5)?.as_ref()?.parse().ok()?))).collect();
                let samples: u64 = lines.iter().map(|(_, samples)| samples).sum();
                if samples > 0 {
                    let title = format!("{}, {connections} connections: {samples} samples of the workers", planned.name);
                    self.report.servers[at].flames.insert(planned.name.clone(), crate::flame::svg(&title, &lines));
                }
            }
            (Err(error), _) | (_, Err(error)) => self.report.notes.push(format!("{what}: {error}")),
        }
    }

    fn save(&self) -> Result<()> {
        self.report.write(&self.paths.0)
    }

    /// Curves, verdicts and notes; then everything is as it was before.
    fn finish(mut self, servers: Vec<Server>, outcome: Result<()>) -> Result<Left> {
        self.live.now("cleaning up", 0.0);
        let whole: Vec<u32> = self.all_cpus.clone();
        for mut server in servers {
            if !self.flags.cores.is_empty()
                && let Some(pid) = server.target.pid
                && let Err(error) = machine::bind_process(pid, &whole)
            {
                self.report.notes.push(format!("The processors of {} could not be given back: {error}", server.target.name));
            }
            if !self.flags.keep && server.own.is_none() {
                // A connection of its own: the control connection may be the one that was lost.
                let dropped = server.reconnect().and_then(|()| server.drop_database());
                if let Err(error) = dropped {
                    self.report
                        .notes
                        .push(format!("The database {} is left at {}: {error}", self.flags.database, server.target.name));
                }
            }
        }
        self.report.state = match (&outcome, &self.report.error) {
            (Err(Error::Interrupted), _) => State::Interrupted,
            (Err(error), _) => {
                self.report.error = Some(error.to_string());
                State::Failed
            }
            (Ok(()), Some(_)) => State::Failed,
            (Ok(()), None) => State::Complete,
        };
        self.report.ended = Some(jiff::Zoned::now().strftime("%Y-%m-%d %H:%M:%S %Z").to_string());
        self.report.curves = explain::curves(&self.report);
        self.report.verdicts = explain::verdicts(&self.report);
        let noise = explain::noise(&self.report);
        self.report.notes.extend(noise);
        self.save()?;
        report::write_whole(&self.paths.1, &report::html::page(&self.report))?;
        if let Some(folder) = &self.flags.publish {
            crate::publish::into(std::slice::from_ref(&self.report), Path::new(folder))?;
        }
        let (json, html) = self.paths;
        Ok(Left { report: self.report, json, html })
    }
}

/// In place of a workload, for TPC-C.
struct Nothing;

impl Workload for Nothing {
    fn prepare(&self, _: &mut Client, _: crate::target::Dialect, _: &mut dyn FnMut(f64) -> Result<()>) -> Result<()> {
        Ok(())
    }

    fn statements(&self, _: crate::target::Dialect) -> Vec<workload::Statement> {
        Vec::new()
    }

    fn script(&self, _: workload::Place, _: crate::target::Dialect) -> Box<dyn workload::Script> {
        unreachable!("TPC-C has a load of its own")
    }

    fn conditions(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn data(&self) -> String {
        String::new()
    }
}

struct Silent;

impl Watcher for Silent {
    fn begin(&mut self) {}
    fn look(&mut self, _: u64, _: Duration) {}
    fn end(&mut self, _: Duration) {}
}

/// What changed between the edges of counting.
#[derive(Default)]
struct Differences {
    server_cpu: Option<f64>,
    client_cpu: f64,
    busy: f64,
    stolen: f64,
    memory: u64,
    waits: Vec<report::Wait>,
    phases: BTreeMap<String, f64>,
}

/// Reads clocks and waits at both edges.
struct Edges<'a> {
    control: &'a mut Client,
    is_heddle: bool,
    pid: Option<u32>,
    live: &'a mut Live,
    what: String,
    before: Snapshot,
    cpu: (f64, f64, f64, f64),
    done: Differences,
}

impl<'a> Edges<'a> {
    fn new(control: &'a mut Client, is_heddle: bool, pid: Option<u32>, live: &'a mut Live, what: String) -> Self {
        Self {
            control,
            is_heddle,
            pid,
            live,
            what,
            before: Snapshot::default(),
            cpu: (0.0, 0.0, 0.0, 0.0),
            done: Differences::default(),
        }
    }

    fn clocks(&self) -> (f64, f64, f64, f64) {
        let (busy, stolen) = machine::busy();
        (self.pid.map_or(0.0, machine::server_cpu), machine::own_cpu(), busy, stolen)
    }
}

impl Watcher for Edges<'_> {
    fn begin(&mut self) {
        // The clocks last: the question itself does not count.
        self.before = Snapshot::take(self.control, self.is_heddle);
        self.cpu = self.clocks();
    }

    fn look(&mut self, events: u64, elapsed: Duration) {
        let seconds = elapsed.as_secs_f64();
        self.live.now(&format!("{}: {} events/s", self.what, grouped(events as f64 / seconds.max(1e-9))), seconds);
    }

    fn end(&mut self, elapsed: Duration) {
        let now = self.clocks();
        self.done.server_cpu = self.pid.map(|_| now.0 - self.cpu.0);
        self.done.client_cpu = now.1 - self.cpu.1;
        self.done.busy = now.2 - self.cpu.2;
        self.done.stolen = now.3 - self.cpu.3;
        self.done.memory = self.pid.map_or(0, machine::server_memory);
        let after = Snapshot::take(self.control, self.is_heddle);
        (self.done.waits, self.done.phases) = after.since(&self.before, elapsed.as_secs_f64());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_stay_out_of_the_report() {
        assert_eq!(without_password("mysql://root:secret@h:1"), "mysql://root:...@h:1");
        assert_eq!(without_password("a=mysql://root@h"), "a=mysql://root@h");
        assert_eq!(without_password("--rows"), "--rows");
    }
}
