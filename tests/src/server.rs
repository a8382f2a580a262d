//! The server under test: started by us on a free port with its own data directory, or one that runs already.
//!
//! S1: a server that we started ends with us: `Drop` kills it, and the kernel does when this process dies.
//! S2: `kill` is SIGKILL, so nothing of the server's own shutdown runs.

use std::fs::File;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a start (with recovery) may take.
const START_MAX: Duration = Duration::from_secs(60);
/// How long an orderly stop may take.
const STOP_MAX: Duration = Duration::from_secs(30);

/// The address of a server, and the account to use there.
#[derive(Clone, Debug)]
pub struct Address {
    pub host: String,
    pub port: u16,
    pub socket: Option<PathBuf>,
    pub user: String,
    pub password: String,
}

impl Address {
    /// `HOST:PORT`, with an account.
    pub fn parse(at: &str, user: &str, password: &str) -> Result<Self, String> {
        let (host, port) = at.rsplit_once(':').ok_or_else(|| format!("{at}: want HOST:PORT"))?;
        let port = port.parse().map_err(|_| format!("{at}: {port} is not a port"))?;
        Ok(Self { host: host.into(), port, socket: None, user: user.into(), password: password.into() })
    }

    /// Connection options of the blocking client, over TCP.
    pub fn options(&self) -> mysql::OptsBuilder {
        mysql::OptsBuilder::new()
            .ip_or_hostname(Some(self.host.clone()))
            .tcp_port(self.port)
            .user(Some(self.user.clone()))
            .pass(Some(self.password.clone()))
            .prefer_socket(false)
            .tcp_connect_timeout(Some(Duration::from_secs(10)))
            .read_timeout(Some(Duration::from_secs(60)))
            .write_timeout(Some(Duration::from_secs(60)))
            .max_allowed_packet(Some(128 << 20))
    }

    pub fn connect(&self) -> mysql::Result<mysql::Conn> {
        mysql::Conn::new(self.options())
    }

    pub fn connect_to(&self, database: &str) -> mysql::Result<mysql::Conn> {
        mysql::Conn::new(self.options().db_name(Some(database)))
    }

    /// A bare TCP stream, for tests that write their own bytes.
    pub fn stream(&self) -> std::io::Result<TcpStream> {
        let stream = TcpStream::connect((self.host.as_str(), self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// True when the server sends its greeting.
    pub fn greets(&self) -> bool {
        let mut first = [0u8; 5];
        let seconds = Some(Duration::from_secs(2));
        match &self.socket {
            Some(path) => UnixStream::connect(path)
                .and_then(|mut s| s.set_read_timeout(seconds).and_then(|()| s.read_exact(&mut first)))
                .is_ok(),
            None => TcpStream::connect((self.host.as_str(), self.port))
                .and_then(|mut s| s.set_read_timeout(seconds).and_then(|()| s.read_exact(&mut first)))
                .is_ok(),
        }
    }
}

/// How to start a server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    pub binary: PathBuf,
    /// Data directory, socket and log live here.
    pub directory: PathBuf,
    pub durability: String,
    pub buffer_pool: String,
    pub extra: Vec<String>,
    /// A port that clients know from an earlier start; else a free one.
    pub port: Option<u16>,
    /// No file of the server may become larger (`RLIMIT_FSIZE`): writes beyond it fail.
    pub file_bytes_max: Option<u64>,
}

impl ServerOptions {
    /// The binary is `$HEDDLE_BIN`, or `heddle` beside the running program.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        let binary = std::env::var_os("HEDDLE_BIN").map(PathBuf::from).unwrap_or_else(beside_us);
        Self {
            binary,
            directory: directory.into(),
            durability: "none".into(),
            buffer_pool: "256M".into(),
            extra: Vec::new(),
            port: None,
            file_bytes_max: None,
        }
    }
}

/// Only the test of the console has one: servers that run beside each other would want the same port.
fn console_off(extra: &[String]) -> &'static [&'static str] {
    if extra.iter().any(|argument| argument == "--console") { &[] } else { &["--console", "off"] }
}

fn beside_us() -> PathBuf {
    std::env::current_exe().map(|p| p.with_file_name("heddle")).unwrap_or_else(|_| "heddle".into())
}

/// A running server that we started.
#[derive(Debug)]
pub struct Server {
    child: Child,
    pub address: Address,
    pub log: PathBuf,
}

impl Server {
    /// Starts a server and waits until it greets.
    pub fn start(options: &ServerOptions) -> Result<Self, String> {
        std::fs::create_dir_all(&options.directory).map_err(|e| format!("{}: {e}", options.directory.display()))?;
        let port = options.port.map_or_else(free_port, Ok)?;
        let socket = options.directory.join("sql.sock");
        let log = options.directory.join("server.log");
        let output = File::options().create(true).append(true).open(&log).map_err(|e| format!("{}: {e}", log.display()))?;
        let errors = output.try_clone().map_err(|e| e.to_string())?;
        let mut command = match options.file_bytes_max {
            None => Command::new(&options.binary),
            Some(bytes) => limited(&options.binary, bytes),
        };
        command
            .arg("serve")
            .args(["--bind", "127.0.0.1", "--port", &port.to_string(), "--socket"])
            .arg(&socket)
            .arg("--data-dir")
            .arg(options.directory.join("data"))
            .args(["--buffer-pool", &options.buffer_pool, "--durability", &options.durability])
            .args(&options.extra)
            .args(console_off(&options.extra))
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(errors);
        let child = command.spawn().map_err(|e| format!("{}: {e}", options.binary.display()))?;
        let address =
            Address { host: "127.0.0.1".into(), port, socket: Some(socket), user: "root".into(), password: String::new() };
        let mut server = Self { child, address, log };
        server.wait_ready()?;
        Ok(server)
    }

    fn wait_ready(&mut self) -> Result<(), String> {
        let until = Instant::now() + START_MAX;
        while !self.address.greets() {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("the server ended at its start ({status}): {}", tail(&self.log)));
            }
            if Instant::now() > until {
                return Err(format!("the server did not greet within {START_MAX:?}: {}", tail(&self.log)));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn connect(&self) -> mysql::Result<mysql::Conn> {
        self.address.connect()
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<String> {
        self.child.try_wait().ok().flatten().map(|status| format!("{status}: {}", tail(&self.log)))
    }

    /// SIGKILL, and waits until it is gone.
    pub fn kill(mut self) {
        self.end();
    }

    /// SIGTERM, and waits for an orderly end.
    pub fn stop(mut self) -> Result<(), String> {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status().map_err(|e| e.to_string())?;
        let until = Instant::now() + STOP_MAX;
        while Instant::now() < until {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(format!("ended with {status}: {}", tail(&self.log))),
                _ => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        Err(format!("did not stop within {STOP_MAX:?}"))
    }

    fn end(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end(); // S1
    }
}

/// A command that limits the size of the files it writes. The shell counts blocks of 512 bytes. The signal is ignored, so that the write
/// fails with an error instead of ending the process.
fn limited(binary: &Path, bytes: u64) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f \"$1\"; shift; exec \"$@\"", "sh", &(bytes / 512).to_string()]).arg(binary);
    command
}

/// A free port.
pub fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
    listener.local_addr().map(|a| a.port()).map_err(|e| e.to_string())
}

/// The address of the console that a server has printed, `HOST:PORT`.
pub fn console_address(server: &Server) -> Result<String, String> {
    let until = Instant::now() + START_MAX;
    loop {
        let log = std::fs::read_to_string(&server.log).map_err(|e| e.to_string())?;
        let line = log.lines().rev().find(|line| line.contains("console  "));
        if let Some(address) = line.and_then(|line| line.split("://").nth(1)) {
            return Ok(address.trim_end_matches('/').to_owned());
        }
        if Instant::now() > until {
            return Err("there is no console".to_owned());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The last lines of a log, on one line.
pub fn tail(log: &Path) -> String {
    let text = std::fs::read(log).map(|b| String::from_utf8_lossy(&b).into_owned()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join(" | ")
}
