//! sysbench as a child process that reports every second.

use crate::{Arguments, Outcome};
use std::fmt;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Instant;
use tests::Address;

fn sysbench(at: &Address, script: &str, rows: u64) -> Command {
    let mut command = Command::new("sysbench");
    command.arg(script).args(["--db-driver=mysql", "--mysql-db=sbtest", "--tables=1"]);
    command.arg(format!("--table-size={rows}")).arg(format!("--mysql-user={}", at.user));
    command.arg(format!("--mysql-password={}", at.password)).arg(format!("--mysql-port={}", at.port));
    match &at.socket {
        Some(socket) => command.arg(format!("--mysql-socket={}", socket.display())),
        None => command.arg(format!("--mysql-host={}", at.host)),
    };
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// Makes the table.
pub fn prepare(at: &Address, rows: u64) -> Outcome {
    let output = sysbench(at, "oltp_read_write", rows).arg("prepare").output().map_err(|e| format!("sysbench: {e}"))?;
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stdout).into_owned()) }
}

/// What sysbench did in one second.
struct Second {
    at: Instant,
    transactions: f64,
    slowest_ms: f64,
}

/// What it did in all seconds.
pub struct Seconds(Vec<Second>);

/// Some seconds in short.
pub struct Summary {
    seconds: usize,
    per_second: f64,
    least: f64,
    slowest_ms: f64,
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seconds {
            0 => write!(f, "no whole second"),
            _ => write!(f, "{:.0} transactions/s (least {:.0}), slowest {:.0} ms", self.per_second, self.least, self.slowest_ms),
        }
    }
}

impl Seconds {
    /// The reported seconds after `from`, up to the second that contains `to`.
    pub fn between(&self, from: Option<Instant>, to: Instant) -> Summary {
        let end = self.0.iter().position(|second| second.at >= to).unwrap_or(self.0.len());
        // The first second has the connecting in it; before a definition, only whole seconds count.
        let begin = from.map_or(1, |from| self.0.iter().position(|second| second.at > from).unwrap_or(end));
        let end = if from.is_some() { (end + 1).min(self.0.len()) } else { end };
        let seconds = self.0.get(begin..end).unwrap_or_default();
        let sum: f64 = seconds.iter().map(|second| second.transactions).sum();
        Summary {
            seconds: seconds.len(),
            per_second: sum / seconds.len().max(1) as f64,
            least: seconds.iter().map(|second| second.transactions).fold(f64::MAX, f64::min),
            slowest_ms: seconds.iter().map(|second| second.slowest_ms).fold(0.0, f64::max),
        }
    }
}

/// sysbench at work, until dropped.
pub struct Load {
    child: Child,
    lines: Option<JoinHandle<(Vec<Second>, Vec<String>)>>,
}

impl Load {
    pub fn start(at: &Address, workload: &str, arguments: &Arguments) -> Outcome<Self> {
        let mut command = sysbench(at, workload, arguments.rows);
        command.arg(format!("--threads={}", arguments.threads)).arg(format!("--rand-type={}", arguments.rand_type));
        // The 100th percentile is the slowest.
        command.args(["--time=0", "--events=0", "--report-interval=1", "--percentile=100", "run"]);
        let mut child = command.spawn().map_err(|e| format!("sysbench: {e}"))?;
        let output = child.stdout.take().expect("piped");
        let lines = std::thread::spawn(move || {
            let (mut seconds, mut errors) = (Vec::new(), Vec::new());
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                match second(&line) {
                    Some(second) => seconds.push(second),
                    None if line.contains("FATAL") => errors.push(line),
                    None => {}
                }
            }
            (seconds, errors)
        });
        Ok(Self { child, lines: Some(lines) })
    }

    /// Ends it. An error when it has ended before.
    pub fn finish(mut self) -> Outcome<Seconds> {
        let ended = self.child.try_wait().map_err(|e| e.to_string())?;
        self.end();
        let (seconds, errors) = self.lines.take().and_then(|lines| lines.join().ok()).unwrap_or_default();
        match ended {
            None => Ok(Seconds(seconds)),
            Some(status) => Err(format!("sysbench ended ({status}): {}", errors.join("; "))),
        }
    }

    fn end(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.end();
    }
}

/// `[ 1s ] thds: 8 tps: 1234.56 qps: ... lat (ms,100%): 12.34 err/s: 0.00 reconn/s: 0.00`
fn second(line: &str) -> Option<Second> {
    let after = |label: &str| line.split_once(label)?.1.split_whitespace().next()?.parse().ok();
    Some(Second { at: Instant::now(), transactions: after("tps: ")?, slowest_ms: after("lat (ms,100%): ")? })
}
