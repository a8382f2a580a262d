//! `cargo xtask bench`: sysbench against Heddle and its peers, side by side.
//!
//! 1. Heddle is built for release and started (`durability = full`), unless only `--server`s are measured.
//! 2. Peers come as `--server name=HOST:PORT,pid=N,socket=PATH,user=U,password=P,driver=mysql|pgsql`, or from a folder
//!    with a `servers.py` that starts them and prints such lines (`--peers`, or `HEDDLE_PEERS`).
//! 3. In each round of a test every server runs once per mode and thread count, the order of servers reversed every other round, so
//!    that a slow drift of the machine falls on all servers, modes and thread counts alike; the echo server runs twice per round beside them: with a client that
//!    does nothing but ask, and with one that uses as much CPU time per request as sysbench used per query of the first server.
//! 4. What is printed per cell, each the median of the rounds: queries per second, the server's CPU time per query, and that divided by the echo's of the same round.

use crate::proc::{cargo, cpu_seconds, ended_children_cpu_seconds, on_path, quiet, resident_mib, target};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct Options {
    /// Tests, without the `oltp_` before them
    #[arg(long, value_delimiter = ',', default_value = "point_select,read_only,read_write")]
    tests: Vec<String>,
    #[arg(long, value_delimiter = ',', default_value = "1,16,256")]
    threads: Vec<u32>,
    /// auto is prepared statements, disable is text
    #[arg(long, value_delimiter = ',', default_value = "auto,disable")]
    ps: Vec<String>,
    #[arg(long, default_value_t = 3)]
    rounds: u32,
    /// Seconds of one run
    #[arg(long, default_value_t = 5)]
    time: u32,
    #[arg(long, default_value_t = 8)]
    tables: u32,
    #[arg(long, default_value_t = 100_000)]
    table_size: u32,
    #[command(flatten)]
    servers: Servers,
    /// Which peers are started
    #[arg(long, value_delimiter = ',', default_value = "mysql97,mariadb118,pg18")]
    peer: Vec<String>,
    /// Where Heddle's data goes; emptied first
    #[arg(long)]
    data: Option<PathBuf>,
}

/// The servers that are measured: Heddle, others that run already, and peers.
#[derive(Args)]
pub struct Servers {
    /// Another server: name=HOST:PORT[,pid=N][,socket=PATH][,user=U][,password=P][,driver=mysql|pgsql]
    #[arg(long)]
    server: Vec<String>,
    /// A folder with servers.py, which starts peers and prints how to reach them
    #[arg(long, env = "HEDDLE_PEERS")]
    peers: Option<PathBuf>,
    /// Buffer pool of Heddle
    #[arg(long, default_value = "4G")]
    pool: String,
    /// Durability of Heddle
    #[arg(long, default_value = "full")]
    durability: String,
    /// Measure only the servers named on the command line
    #[arg(long)]
    without_heddle: bool,
}

impl Servers {
    /// Builds for release what measures, if that is another program, and Heddle; starts Heddle over an emptied `folder`, and the peers of these names.
    pub fn start(
        &self,
        root: &Path,
        with: Option<&str>,
        folder: &Path,
        peers: &[String],
    ) -> Result<(Option<Owned>, Vec<Target>), String> {
        let heddle = (!self.without_heddle).then_some("heddle");
        let packages: Vec<&str> = with.into_iter().chain(heddle).flat_map(|name| ["--package", name]).collect();
        if !packages.is_empty() {
            println!("building");
            let arguments = [&["build", "--quiet", "--release"], packages.as_slice()].concat();
            quiet(&mut cargo(root, &arguments))?;
        }
        let (mut heddle, mut targets) = (None, Vec::new());
        if !self.without_heddle {
            let (owned, target) = start_heddle(&target(root).join("release"), folder, &self.pool, &self.durability)?;
            heddle = Some(owned);
            targets.push(target);
        }
        for text in &self.server {
            targets.push(parse_target(text)?);
        }
        if let Some(folder) = &self.peers {
            targets.extend(start_peers(folder, peers)?);
        }
        if targets.is_empty() { Err("no server to measure".into()) } else { Ok((heddle, targets)) }
    }
}

/// A server under measurement.
#[derive(Clone, Debug, Default)]
pub struct Target {
    pub name: String,
    pub host: String,
    pub port: String,
    pub pid: u32,
    pub socket: String,
    pub user: String,
    pub password: String,
    pub driver: String,
}

/// One run of sysbench.
#[derive(Clone, Copy, Debug, Default)]
struct Run {
    queries: f64,
    seconds: f64,
    server_cpu: f64,
    /// Of sysbench, or of the echo's client
    client_cpu: f64,
    p95_ms: f64,
}

impl Run {
    fn rate(&self) -> f64 {
        self.queries / self.seconds.max(0.001)
    }

    /// The server's CPU time per query in microseconds.
    fn server_us(&self) -> f64 {
        self.server_cpu * 1e6 / self.queries.max(1.0)
    }

    /// The client's CPU time per query in microseconds.
    fn client_us(&self) -> f64 {
        self.client_cpu * 1e6 / self.queries.max(1.0)
    }
}

/// A process of ours that ends with us.
pub struct Owned(pub Child);

impl Drop for Owned {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// `cargo xtask bench`.
pub fn run(root: &Path, options: &Options) -> Result<bool, String> {
    if !on_path("sysbench") || !on_path("mariadb") {
        return Err("sysbench and the mariadb client are needed; `cargo xtask ci` installs them".into());
    }
    let release = target(root).join("release");
    let folder = options.data.clone().unwrap_or_else(|| target(root).join("bench-data"));
    let (heddle, targets) = options.servers.start(root, Some("echo"), &folder, &options.peer)?;
    let echo_socket = std::env::temp_dir().join(format!("heddle-echo-{}.sock", std::process::id()));
    let echo = Owned(spawn(Command::new(release.join("echo")).arg("serve").arg("--socket").arg(&echo_socket))?);
    std::thread::sleep(Duration::from_millis(300));
    for target in &targets {
        prepare(target, options)?;
    }
    std::thread::sleep(Duration::from_secs(5));
    let outcome = measure(&targets, options, &release, &echo, &echo_socket);
    if let Some(heddle) = &heddle {
        println!("\nHeddle's resident memory at the end: {:.0} MiB", resident_mib(heddle.0.id()));
    }
    drop(heddle);
    outcome.map(|()| true)
}

fn spawn(command: &mut Command) -> Result<Child, String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(|e| format!("{command:?}: {e}"))
}

/// Starts Heddle over an empty data directory, on a free port and a unix socket.
fn start_heddle(release: &Path, folder: &Path, pool: &str, durability: &str) -> Result<(Owned, Target), String> {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    }
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let socket = folder.join("sql.sock");
    let port = std::net::TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).map_err(|e| e.to_string())?.port();
    let mut command = Command::new(release.join("heddle"));
    command.args(["serve", "--bind", "127.0.0.1", "--port", &port.to_string(), "--socket"]).arg(&socket);
    command.arg("--data-dir").arg(folder.join("data"));
    command.args(["--buffer-pool", pool, "--durability", durability]);
    let owned = Owned(spawn(&mut command)?);
    let target = Target {
        name: "heddle".into(),
        host: "127.0.0.1".into(),
        port: port.to_string(),
        pid: owned.0.id(),
        socket: socket.display().to_string(),
        user: "root".into(),
        password: String::new(),
        driver: "mysql".into(),
    };
    let until = Instant::now() + Duration::from_secs(20);
    while sql(&target, "SELECT 1").is_err() {
        if Instant::now() > until {
            return Err("heddle does not answer".into());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok((owned, target))
}

/// `name=HOST:PORT,key=value,...`
pub fn parse_target(text: &str) -> Result<Target, String> {
    let wrong = || format!("{text}: want name=HOST:PORT[,key=value...]");
    let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
    let mut parts = rest.split(',');
    let (host, port) = parts.next().and_then(|at| at.rsplit_once(':')).ok_or_else(wrong)?;
    let mut target =
        Target { name: name.into(), host: host.into(), port: port.into(), driver: "mysql".into(), ..Target::default() };
    target.user = "root".into();
    for part in parts {
        let (key, value) = part.split_once('=').ok_or_else(wrong)?;
        match key {
            "pid" => target.pid = value.parse().map_err(|_| wrong())?,
            "socket" => target.socket = value.into(),
            "user" => target.user = value.into(),
            "password" => target.password = value.into(),
            "driver" => target.driver = value.into(),
            _ => return Err(wrong()),
        }
    }
    Ok(target)
}

/// Starts peers with a folder's `servers.py`.
pub fn start_peers(folder: &Path, names: &[String]) -> Result<Vec<Target>, String> {
    let mut targets = Vec::new();
    for name in names {
        quiet(Command::new("python3").arg(folder.join("servers.py")).args(["start", name]))?;
        let line = quiet(Command::new("python3").arg(folder.join("servers.py")).args(["dsn", name]))?;
        let line = line.lines().find(|l| l.starts_with(name.as_str())).ok_or_else(|| format!("{name}: did not start"))?;
        targets.push(parse_target(line)?);
    }
    Ok(targets)
}

/// Runs SQL with the server's command line client.
pub fn sql(target: &Target, text: &str) -> Result<String, String> {
    if target.driver == "pgsql" {
        let folder = Path::new(&target.socket).parent().map(|p| p.display().to_string()).unwrap_or_else(|| target.host.clone());
        let mut command = Command::new("psql");
        command.args(["-X", "-q", "-A", "-t", "-U", &target.user, "-p", &target.port, "-h", &folder, "-d", "postgres"]);
        for statement in text.split(';').filter(|s| !s.trim().is_empty()) {
            command.args(["-c", statement]);
        }
        return quiet(command.env("PGPASSWORD", &target.password));
    }
    let mut command = Command::new("mariadb");
    command.args(["--no-defaults", "-N", "-B", "-u", &target.user, "-e", text]).env("MYSQL_PWD", &target.password);
    if target.socket.is_empty() {
        command.args(["--protocol=tcp", "-h", &target.host, "-P", &target.port]);
    } else {
        command.args(["-S", &target.socket]);
    }
    quiet(&mut command)
}

fn sysbench(target: &Target, options: &Options, test: &str, ps: &str, threads: u32, verb: &str) -> Command {
    let mut command = Command::new("sysbench");
    command.arg(format!("oltp_{test}")).args([
        format!("--db-driver={}", target.driver),
        format!("--tables={}", options.tables),
        format!("--table-size={}", options.table_size),
        format!("--threads={threads}"),
        format!("--time={}", options.time),
        "--events=0".into(),
        "--percentile=95".into(),
        "--rand-type=uniform".into(),
        format!("--db-ps-mode={ps}"),
    ]);
    let driver = &target.driver;
    command.args([format!("--{driver}-user={}", target.user), format!("--{driver}-password={}", target.password)]);
    command.arg(format!("--{driver}-db=sbtest"));
    let folder = Path::new(&target.socket).parent().map(|p| p.display().to_string()).unwrap_or_default();
    let host = if driver == "pgsql" && !folder.is_empty() { &folder } else { &target.host };
    if driver == "mysql" && !target.socket.is_empty() {
        command.arg(format!("--mysql-socket={}", target.socket));
    } else {
        command.args([format!("--{driver}-host={host}"), format!("--{driver}-port={}", target.port)]);
    }
    command.arg(verb);
    command
}

fn prepare(target: &Target, options: &Options) -> Result<(), String> {
    println!("preparing {}", target.name);
    let charset = if target.driver == "mysql" { " CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci" } else { "" };
    sql(target, &format!("DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest{charset}"))?;
    quiet(&mut sysbench(target, options, "read_write", "auto", options.tables, "prepare"))?;
    Ok(())
}

fn run_once(target: &Target, options: &Options, test: &str, ps: &str, threads: u32) -> Result<Run, String> {
    let before = (cpu_seconds(target.pid), ended_children_cpu_seconds());
    let text = quiet(&mut sysbench(target, options, test, ps, threads, "run")).map_err(|e| format!("{}: {e}", target.name))?;
    let (server_cpu, client_cpu) = (cpu_seconds(target.pid) - before.0, ended_children_cpu_seconds() - before.1);
    let number = |label: &str| -> f64 {
        let line = text.lines().find(|l| l.trim_start().starts_with(label)).unwrap_or_default();
        let value = line.split(':').nth(1).unwrap_or_default().trim();
        value.split([' ', 's', '(']).next().and_then(|v| v.parse().ok()).unwrap_or(0.0)
    };
    let (queries, seconds) = (number("total:"), number("total time:"));
    Ok(Run { queries, seconds, server_cpu, client_cpu, p95_ms: number("95th percentile:") })
}

/// One run of the echo server, whose client works for `work_us` before each request.
fn echo_once(release: &Path, echo: &Owned, socket: &Path, time: u32, threads: u32, work_us: f64) -> Result<Run, String> {
    let pid = echo.0.id();
    let before = (cpu_seconds(pid), ended_children_cpu_seconds());
    let mut client = Command::new(release.join("echo"));
    client.arg("load").arg("--socket").arg(socket);
    client.args(["--connections", &threads.to_string(), "--seconds", &time.to_string()]);
    client.args(["--work-ns", &format!("{:.0}", work_us.max(0.0) * 1000.0)]);
    let text = quiet(&mut client)?;
    let (server_cpu, client_cpu) = (cpu_seconds(pid) - before.0, ended_children_cpu_seconds() - before.1);
    let queries = text.split_whitespace().next().and_then(|v| v.parse().ok()).unwrap_or(0.0);
    Ok(Run { queries, seconds: f64::from(time), server_cpu, client_cpu, p95_ms: 0.0 })
}

fn measure(targets: &[Target], options: &Options, release: &Path, echo: &Owned, socket: &Path) -> Result<(), String> {
    println!("\n| test | mode | threads | server | queries/s | ± % | p95 ms | server CPU µs/query | of the echo's |");
    println!("|---|---|--:|---|--:|--:|--:|--:|--:|");
    for test in &options.tests {
        let warm = options.threads.iter().copied().max().unwrap_or(1).min(16);
        for target in targets {
            run_once(target, options, test, "auto", warm)?;
        }
        let grid = options.ps.iter().flat_map(|ps| options.threads.iter().map(move |&threads| (ps, threads)));
        let mut cells: Vec<Cell<'_>> = grid.map(|(ps, threads)| Cell { test, ps, threads, ..Cell::default() }).collect();
        for round in 0..options.rounds {
            for cell in &mut cells {
                let mut floor = |work_us| echo_once(release, echo, socket, options.time, cell.threads, work_us);
                cell.runs.push(Round::measure(targets, options, (cell.test, cell.ps, cell.threads), round, &mut floor)?);
            }
        }
        cells.iter().for_each(|cell| cell.print(targets));
    }
    Ok(())
}

/// A test in a mode at a number of threads.
#[derive(Default)]
struct Cell<'a> {
    test: &'a str,
    ps: &'a str,
    threads: u32,
    runs: Vec<Round>,
}

/// One run of every server, by its place among the targets, and two of the echo.
struct Round {
    servers: BTreeMap<usize, Run>,
    echo: Run,
    working_echo: Run,
}

impl Round {
    fn measure(
        targets: &[Target],
        options: &Options,
        (test, ps, threads): (&str, &str, u32),
        round: u32,
        echo: &mut dyn FnMut(f64) -> Result<Run, String>,
    ) -> Result<Self, String> {
        let bare = echo(0.0)?;
        let mut order: Vec<usize> = (0..targets.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        let mut servers = BTreeMap::new();
        for at in order {
            servers.insert(at, run_once(&targets[at], options, test, ps, threads)?);
        }
        let working_echo = echo(servers[&0].client_us() - bare.client_us())?;
        Ok(Self { servers, echo: bare, working_echo })
    }
}

impl Cell<'_> {
    /// One row per server. What a server's CPU is of the echo's is taken within each round, as the machine's speed changes between rounds.
    fn print(&self, targets: &[Target]) {
        let mode = if self.ps == "disable" { "text" } else { "prepared" };
        let head = format!("| {} | {mode} | {} |", self.test, self.threads);
        let medians = |of: &dyn Fn(&Round) -> f64| median(self.runs.iter().map(of).collect());
        for (at, target) in targets.iter().enumerate() {
            let rates = self.runs.iter().map(|r| r.servers[&at].rate());
            let (low, high) = rates.fold((f64::MAX, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
            let rate = medians(&|r| r.servers[&at].rate());
            println!(
                "{head} {} | {rate:.0} | {:.1} | {:.2} | {:.1} | {:.2} |",
                target.name,
                (high - low) / 2.0 / rate * 100.0,
                medians(&|r| r.servers[&at].p95_ms),
                medians(&|r| r.servers[&at].server_us()),
                medians(&|r| r.servers[&at].server_us() / r.echo.server_us()),
            );
        }
        type EchoOf = fn(&Round) -> Run;
        for (name, echo) in [("(echo)", (|r| r.echo) as EchoOf), ("(echo, working client)", |r| r.working_echo)] {
            let (rate, cpu) = (medians(&|r| echo(r).rate()), medians(&|r| echo(r).server_us()));
            println!(
                "{head} {name} | {rate:.0} | | | {cpu:.1} | {:.2} |",
                medians(&|r| echo(r).server_us() / r.echo.server_us())
            );
        }
    }
}

/// The middle of some values, or of an even number of them the mean of the middle two; 0 of none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => 0.0,
        n if n % 2 == 0 => (values[half - 1] + values[half]) / 2.0,
        _ => values[half],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_the_rounds_counts() {
        assert_eq!(median(vec![3.0, 100.0, 1.0]), 3.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 100.0]), 3.0);
        assert_eq!(median(Vec::new()), 0.0);
    }

    #[test]
    fn targets_are_read() {
        let t = parse_target("a=127.0.0.1:4406,pid=12,socket=x.sock,user=u,password=p,driver=pgsql").expect("well formed");
        assert_eq!((t.name.as_str(), t.port.as_str(), t.pid, t.driver.as_str()), ("a", "4406", 12, "pgsql"));
        assert!(parse_target("nonsense").is_err());
        assert!(parse_target("a=127.0.0.1:1,odd=1").is_err());
    }
}
