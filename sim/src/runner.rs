//! Many seeds: each in a process of its own, several at once, until the time is over or one has failed.

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How many seeds to run, and how.
#[derive(Clone, Debug)]
pub struct Batch {
    pub first_seed: u64,
    /// At most.
    pub seeds: u64,
    pub duration: Duration,
    pub jobs: usize,
    pub mutation: Option<String>,
    /// Seeds of the whole server.
    pub sessions: bool,
}

impl Batch {
    /// The arguments of each seed's process, besides the seed.
    fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        if self.sessions {
            arguments.push("--sessions".to_owned());
        }
        if let Some(name) = &self.mutation {
            arguments.extend(["--mutate".to_owned(), name.clone()]);
        }
        arguments
    }
}

/// A seed takes no longer than this, or does not end.
const SEED_MAX: Duration = Duration::from_secs(120);

struct Running {
    seed: u64,
    cpu: usize,
    child: Child,
    began: Instant,
}

/// The seed that failed, and what it said.
pub struct Failure {
    pub seed: u64,
    pub text: String,
}

/// What a batch came to.
pub struct Outcome {
    pub seeds: u64,
    pub duration: Duration,
    pub failure: Option<Failure>,
}

/// Runs seeds; `tell` hears of progress about every ten seconds.
///
/// # Errors
/// Processes that cannot be started.
pub fn run(batch: &Batch, mut tell: impl FnMut(u64, Duration)) -> std::io::Result<Outcome> {
    let program = std::env::current_exe()?;
    let began = Instant::now();
    let mut told = began;
    let (mut next, mut done) = (batch.first_seed, 0);
    let mut running: Vec<Running> = Vec::new();
    let mut failure: Option<Failure> = None;
    loop {
        let more = failure.is_none() && began.elapsed() < batch.duration && next - batch.first_seed < batch.seeds;
        if more && running.len() < batch.jobs {
            let cpu = (0..batch.jobs).find(|cpu| running.iter().all(|r| r.cpu != *cpu)).unwrap_or(0);
            running.push(start(&program, next, cpu, &batch.arguments())?);
            next += 1;
            continue;
        }
        if running.is_empty() {
            return Ok(Outcome { seeds: done, duration: began.elapsed(), failure });
        }
        let mut index = 0;
        while index < running.len() {
            match finish(&mut running[index])? {
                None => index += 1,
                Some(verdict) => {
                    let ended = running.swap_remove(index);
                    done += 1;
                    if let Some(text) = verdict {
                        // Of several that fail at once the lowest seed is told.
                        if failure.as_ref().is_none_or(|f| ended.seed < f.seed) {
                            failure = Some(Failure { seed: ended.seed, text });
                        }
                    }
                }
            }
        }
        if told.elapsed() > Duration::from_secs(10) {
            told = Instant::now();
            tell(done, began.elapsed());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What one seed prints.
///
/// # Errors
/// A process that cannot be started.
pub fn output(seed: u64, sessions: bool) -> std::io::Result<String> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--one", "--seed", &seed.to_string()]);
    if sessions {
        command.arg("--sessions");
    }
    Ok(String::from_utf8_lossy(&command.output()?.stdout).into_owned())
}

/// A smaller run of a seed of sessions that still fails.
pub struct Smaller {
    /// The numbers of lives with a crash, of sessions, and of transactions per session, and the order of turns.
    pub numbers: [u64; 4],
    pub text: String,
}

/// The time limit of the search for a smaller run.
const SHRINK_MAX: Duration = Duration::from_secs(60);
/// The number of orders of turns tried for each size.
const TURNS: u64 = 12;

/// Finds the smallest run of a failing seed that also fails: fewer lives, sessions and transactions. A smaller run schedules its threads
/// differently, so several orders are tried for each size.
///
/// # Errors
/// A process that cannot be started.
pub fn shrink(seed: u64, mutation: Option<&str>) -> std::io::Result<Option<Smaller>> {
    let program = std::env::current_exe()?;
    let began = Instant::now();
    let mut sizes: Vec<[u64; 3]> = Vec::new();
    for lives in [0, 1, 2] {
        for sessions in 1..=5 {
            sizes.extend([1, 2, 3, 5, 8, 12, 25].map(|transactions| [lives, sessions, transactions]));
        }
    }
    sizes.sort_by_key(|[lives, sessions, transactions]| (lives + 1) * sessions * transactions);
    let batch = Batch {
        first_seed: seed,
        seeds: 1,
        duration: SHRINK_MAX,
        jobs: 1,
        mutation: mutation.map(str::to_owned),
        sessions: true,
    };
    for [lives, sessions, transactions] in sizes {
        for turn in 0..TURNS {
            if began.elapsed() > SHRINK_MAX {
                return Ok(None);
            }
            let mut arguments = batch.arguments();
            arguments.extend(["--small".to_owned(), format!("{lives},{sessions},{transactions},{turn}")]);
            let mut running = start(&program, seed, 0, &arguments)?;
            let verdict = loop {
                match finish(&mut running)? {
                    Some(verdict) => break verdict,
                    None => std::thread::sleep(Duration::from_millis(2)),
                }
            };
            if let Some(text) = verdict {
                return Ok(Some(Smaller { numbers: [lives, sessions, transactions, turn], text }));
            }
        }
    }
    Ok(None)
}

fn start(program: &std::path::Path, seed: u64, cpu: usize, arguments: &[String]) -> std::io::Result<Running> {
    let mut command = Command::new(program);
    command.args(["--one", "--seed", &seed.to_string(), "--cpu", &cpu.to_string()]).args(arguments);
    let log = std::fs::File::create(log_path(seed))?;
    command.stdin(Stdio::null()).stderr(Stdio::from(log.try_clone()?)).stdout(Stdio::from(log));
    Ok(Running { seed, cpu, child: command.spawn()?, began: Instant::now() })
}

fn log_path(seed: u64) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("heddle-sim-{}-{seed}", std::process::id()))
}

/// `None`: it runs. `Some(None)`: all was well. Else what it said.
fn finish(running: &mut Running) -> std::io::Result<Option<Option<String>>> {
    let status = match running.child.try_wait()? {
        Some(status) => status,
        None if running.began.elapsed() < SEED_MAX => return Ok(None),
        None => {
            running.child.kill()?;
            running.child.wait()?
        }
    };
    let path = log_path(running.seed);
    let mut text = String::new();
    std::fs::File::open(&path)?.read_to_string(&mut text)?;
    std::fs::remove_file(&path)?;
    if status.success() {
        return Ok(Some(None));
    }
    if !text.contains("FAIL") {
        text.push_str(&format!("FAIL seed {}: the run ended with {status}\n", running.seed));
    }
    Ok(Some(Some(text)))
}
