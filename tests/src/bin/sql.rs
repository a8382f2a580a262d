//! Runs the scripts of `tests/sql` and its folders against a server, or records them; `tests/sql/README.md` says how.
//!
//! Without `--against`, a server of our own is started. Scripts run side by side, each in its own database, once through
//! the text protocol and once prepared.

use clap::Parser;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tests::scripts::{self, Head};
use tests::{Address, Report, Server, ServerOptions, script};

#[derive(Parser)]
#[command(about = "Runs SQL scripts in sqllogictest format against a server")]
struct Arguments {
    /// Scripts, folders of them, or names of scripts in tests/sql
    #[arg(default_value = scripts::ROOT)]
    paths: Vec<PathBuf>,
    /// A running server, HOST:PORT, instead of one started for this
    #[arg(long)]
    against: Option<String>,
    #[arg(long, default_value = "root")]
    user: String,
    #[arg(long, default_value = "")]
    password: String,
    /// Write the server's answers into the scripts; a .sql file of plain statements becomes a new script beside it
    #[arg(long)]
    record: bool,
    /// Scripts at a time
    #[arg(long, default_value_t = 4)]
    jobs: usize,
    /// Only the text protocol
    #[arg(long)]
    text_only: bool,
    /// Stop printing after this many failures of one script
    #[arg(long, default_value_t = 20)]
    show: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match start(&arguments) {
        Ok(code) => code,
        Err(why) => {
            println!("FAIL sql: {why}");
            ExitCode::FAILURE
        }
    }
}

fn start(arguments: &Arguments) -> Result<ExitCode, String> {
    let files = scripts::find(&arguments.paths, Path::new(scripts::ROOT))?;
    if let Some(at) = &arguments.against {
        let address = Address::parse(at, &arguments.user, &arguments.password)?;
        return if arguments.record { record(&files, &address) } else { Ok(run(arguments, &files, &address)) };
    }
    if arguments.record {
        return Err("--record needs a reference server: --against HOST:PORT".into());
    }
    let directory = std::env::temp_dir().join(format!("heddle-sql-{}", std::process::id()));
    let allowed = directory.join("files");
    std::fs::create_dir_all(&allowed).map_err(|e| format!("{}: {e}", allowed.display()))?;
    let mut options = ServerOptions::new(&directory);
    options.extra = vec!["--secure-file-priv".into(), allowed.display().to_string()];
    let server = Server::start(&options)?;
    let code = run(arguments, &files, &server.address);
    server.kill();
    std::fs::remove_dir_all(&directory).map_err(|e| e.to_string())?;
    Ok(code)
}

/// Records whose answer is known to differ from MySQL's, one a line: `FILE:LINE  why`. They are counted apart; one that has come to
/// agree is a failure until it is taken off the list.
struct KnownGaps {
    listed: BTreeSet<String>,
    met: BTreeSet<String>,
}

impl KnownGaps {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Self {
            listed: lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect(),
            met: BTreeSet::new(),
        }
    }

    /// Is this failure a listed one?
    fn covers(&mut self, failure: &str) -> bool {
        let place: String = failure.splitn(3, ':').take(2).collect::<Vec<_>>().join(":");
        self.listed.contains(&place) && {
            self.met.insert(place);
            true
        }
    }

    /// Prints the known gaps. A gap of a script that ran and agrees now is a failure.
    fn finish(&self, report: &mut Report, files: &[PathBuf]) {
        let ran = |place: &str| files.iter().any(|f| place.split(':').next().is_some_and(|name| f.ends_with(name)));
        for place in self.listed.difference(&self.met).filter(|place| ran(place)) {
            println!("FAIL {place} agrees with MySQL now: take it off the list of known gaps");
            report.failed += 1;
        }
        println!("     {} records are known gaps", self.met.len());
    }
}

fn run(arguments: &Arguments, files: &[PathBuf], address: &Address) -> ExitCode {
    let gaps = Mutex::new(KnownGaps::read(&Path::new(scripts::ROOT).join("known_gaps.txt")));
    let modes: &[bool] = if arguments.text_only { &[false] } else { &[false, true] };
    let report = Mutex::new(Report::new());
    let (alone, together): (Vec<&PathBuf>, Vec<&PathBuf>) = files.iter().partition(|path| Head::read(path).alone);
    let run_one = |path: &Path, prepared: bool| {
        if prepared && Head::read(path).text_only {
            return;
        }
        let mut outcome = script::run(path, address, prepared);
        let mut gaps = gaps.lock().expect("no reporter panics");
        outcome.failures.retain(|failure| !gaps.covers(failure));
        tell(&mut report.lock().expect("no reporter panics"), path, prepared, &outcome, arguments.show);
    };
    for &prepared in modes {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..arguments.jobs.max(1) {
                scope.spawn(|| {
                    while let Some(path) = together.get(next.fetch_add(1, Ordering::Relaxed)) {
                        run_one(path, prepared);
                    }
                });
            }
        });
        alone.iter().for_each(|path| run_one(path, prepared));
    }
    let mut report = report.into_inner().expect("no reporter panics");
    gaps.into_inner().expect("no reporter panics").finish(&mut report, files);
    report.finish()
}

fn tell(report: &mut Report, path: &Path, prepared: bool, outcome: &script::Outcome, show: usize) {
    let mode = if prepared { "prepared" } else { "text" };
    report.passed += outcome.passed;
    report.failed += outcome.failures.len();
    let word = if outcome.failures.is_empty() { "ok  " } else { "FAIL" };
    let total = outcome.passed + outcome.failures.len();
    println!("{word} {} ({mode}): {} of {total} records", path.display(), outcome.passed);
    for failure in outcome.failures.iter().take(show) {
        println!("     {}", failure.chars().take(900).collect::<String>());
    }
    if outcome.failures.len() > show {
        println!("     and {} more", outcome.failures.len() - show);
    }
}

fn record(files: &[PathBuf], address: &Address) -> Result<ExitCode, String> {
    for path in files {
        if Head::read(path).own {
            println!("left alone {}: its answers are not recorded from MySQL", path.display());
            continue;
        }
        let plain = path.extension().is_some_and(|e| e == "sql");
        let text = if plain { script::import(path, address) } else { script::record(path, address) };
        let text = text.map_err(|e| format!("{}: {e}", path.display()))?;
        let target = if plain { path.with_file_name(script::name_of(path)).with_extension("test") } else { path.clone() };
        std::fs::write(&target, text).map_err(|e| format!("{}: {e}", target.display()))?;
        println!("recorded {}", target.display());
    }
    Ok(ExitCode::SUCCESS)
}
