//! A Heddle of our own: started over an empty directory, stopped and removed at the end.
//!
//! O1: it ends with us: `Drop` kills it, and where the program `setpriv` is there the kernel does if we are killed.

use crate::client::Client;
use crate::error::{Error, Result};
use crate::target::{Dialect, Target};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const START_MAX: Duration = Duration::from_secs(60);
const STOP_MAX: Duration = Duration::from_secs(30);
/// The magic number of tmpfs, where a sync costs nothing.
const TMPFS: i128 = 0x0102_1994;

/// How it is started.
#[derive(Clone, Debug)]
pub struct Options {
    pub program: PathBuf,
    /// Where its directory is made
    pub below: Option<PathBuf>,
    pub buffer_pool: String,
    pub durability: String,
    pub workers: Option<u32>,
    /// Clients come by its unix socket
    pub by_socket: bool,
    pub connections: u32,
    pub arguments: Vec<String>,
}

/// The running server.
pub struct Own {
    child: Option<Child>,
    directory: tempfile::TempDir,
    options: Options,
    pub target: Target,
}

fn is_tmpfs(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|told| i128::from(told.f_type) == TMPFS)
}

impl Own {
    /// Starts it.
    ///
    /// # Errors
    /// Why it does not start, with the end of its log.
    pub fn start(options: Options, interrupted: &AtomicBool) -> Result<Self> {
        let temporary = std::env::temp_dir();
        let below = options.below.clone().unwrap_or(if is_tmpfs(&temporary) { PathBuf::from(".") } else { temporary });
        let directory = tempfile::Builder::new().prefix("heddle-bench-").tempdir_in(&below);
        let directory = directory.map_err(Error::io(format!("a directory in {}", below.display())))?;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = listener.map_err(Error::io("a free port"))?.port();
        let socket = std::path::absolute(directory.path().join("sql.sock")).map_err(Error::io("the socket"))?;
        let target = Target {
            name: "Heddle".into(),
            dialect: Dialect::MySql,
            host: "127.0.0.1".into(),
            port,
            socket: options.by_socket.then_some(socket),
            user: "root".into(),
            password: String::new(),
            pid: None,
        };
        let mut own = Self { child: None, directory, options, target };
        own.launch(interrupted)?;
        Ok(own)
    }

    /// Whether its directory is in memory, so that commits cost no disk.
    pub fn is_in_memory(&self) -> bool {
        is_tmpfs(self.directory.path())
    }

    /// Starts it anew on its data, with a number of workers.
    pub fn restart(&mut self, workers: u32, interrupted: &AtomicBool) -> Result<()> {
        self.options.workers = Some(workers);
        self.stop();
        self.launch(interrupted)
    }

    fn launch(&mut self, interrupted: &AtomicBool) -> Result<()> {
        let log = self.directory.path().join("server.log");
        let file = std::fs::File::options().create(true).append(true).open(&log).map_err(Error::io(log.display().to_string()))?;
        let again = file.try_clone().map_err(Error::io("the log"))?;
        let setpriv = Path::new("/usr/bin/setpriv");
        let mut command = Command::new(if setpriv.exists() { setpriv } else { &self.options.program });
        if setpriv.exists() {
            command.args(["--pdeathsig", "KILL"]).arg(&self.options.program);
        }
        command.args(["serve", "--bind", "127.0.0.1", "--port", &self.target.port.to_string(), "--socket"]);
        command.arg(self.directory.path().join("sql.sock")).arg("--data-dir").arg(self.directory.path().join("data"));
        command.args([
            "--console",
            "off",
            "--tls",
            "off",
            "--buffer-pool",
            &self.options.buffer_pool,
            "--durability",
            &self.options.durability,
        ]);
        command.args(["--max-connections", &(self.options.connections + 100).to_string()]);
        if let Some(workers) = self.options.workers {
            command.args(["--workers", &workers.to_string()]);
        }
        // Ctrl-C is for us: we end it in order.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command.args(&self.options.arguments).stdin(Stdio::null()).stdout(file).stderr(again);
        let place = self.options.program.display().to_string();
        self.child = Some(command.spawn().map_err(Error::io(place))?);
        let began = Instant::now();
        loop {
            if interrupted.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            let ended = self.child.as_mut().and_then(|child| child.try_wait().ok()).flatten();
            let outcome = Client::open(&self.target, None);
            if let (None, Ok(_)) = (ended, &outcome) {
                break;
            }
            if ended.is_some() || began.elapsed() > START_MAX {
                let text = std::fs::read_to_string(&log).unwrap_or_default();
                let lines: Vec<&str> = text.lines().rev().take(5).collect();
                let end = lines.into_iter().rev().collect::<Vec<_>>().join(" / ");
                return Err(Error::asked(format!("the Heddle that the lab starts does not answer: {end}")));
            }
            std::thread::sleep(Duration::from_millis(30));
        }
        self.target.pid = self.child.as_ref().map(Child::id);
        Ok(())
    }

    fn stop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        if let Some(pid) = rustix::process::Pid::from_raw(child.id() as i32) {
            // It may have ended already.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        let began = Instant::now();
        while began.elapsed() < STOP_MAX && child.try_wait().is_ok_and(|ended| ended.is_none()) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        self.stop();
    }
}
