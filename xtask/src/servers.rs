//! The servers of `cargo xtask tpcc`, `cargo xtask scans` and `cargo xtask bench`: Heddle, built for release and started, and peers.
//!
//! Peers come as `--server name=HOST:PORT,pid=N,socket=PATH,user=U,password=P,driver=mysql|pgsql`, or from a folder with a `servers.py` that
//! starts them and prints such lines (`--peers`, or `HEDDLE_PEERS`).

use crate::proc::{cargo, quiet, target};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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

/// A process of ours that ends with us.
pub struct Owned(pub Child);

impl Drop for Owned {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
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
