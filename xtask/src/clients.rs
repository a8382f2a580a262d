//! The client programs of `tests/clients`: how each is built and called.
//!
//! C1: each runs against a server of its own, fresh, which must go on and stop well afterwards (`tests/src/bin/with_server.rs`).
//! C2: built things go under the target folder; the sources stay clean.
//!
//! Beside them run, where they are at hand: runners of other people's clients (`--runners DIR`: programs that are called with HOST PORT USER
//! PASSWORD and end with a line `passed/failed/total: a/b/c`), and the comparison of dumps with a real MySQL (`--reference`).

use crate::ci;
use crate::install;
use crate::proc::{on_path, quiet, target};
use crate::step::{Counting, Steps};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The clients, by name.
pub const NAMES: &[&str] =
    &["mariadb", "pymysql", "mysqlclient", "connector", "go", "node", "java", "mysql_async", "sysbench", "prometheus", "browser"];

/// Runners, by name: the program in their folder, what it is called with besides, and how many seconds it may take.
const RUNNERS: &[(&str, &str, &[&str], u32)] = &[
    ("run_sysbench", "run_sysbench.sh", &[], 1800),
    ("run_cli", "run_cli.sh", &[], 600),
    ("run_drivers", "run_drivers/run.sh", &[], 3600),
    ("run_drivers_tls", "run_drivers/run.sh", &["COMPAT_TLS=1"], 3600),
    ("run_django", "run_django.sh", &[], 14_400),
];

/// Runners are made for servers that take local files and whose account has a password: some drivers send one whether it is empty or not.
const RUNNERS_ACCOUNT: &str = "bench";

/// What else to run.
#[derive(clap::Args)]
pub struct Options {
    /// Only these
    names: Vec<String>,
    /// A folder with runners of other clients
    #[arg(long)]
    runners: Option<PathBuf>,
    /// The interpreter with the drivers that runners use
    #[arg(long)]
    python: Option<PathBuf>,
    /// An unpacked source distribution of Django, for its runner
    #[arg(long)]
    django: Option<PathBuf>,
    /// A MySQL whose dumps are loaded here, and that loads ours: 'HOST PORT USER PASSWORD'
    #[arg(long)]
    reference: Option<String>,
    /// Where MySQL's own client programs are, which dumps need; runners use those of PATH otherwise
    #[arg(long)]
    client_programs: Option<PathBuf>,
}

/// What to call, or why it cannot be.
enum Call {
    Program(Vec<String>),
    Skip(String),
}

/// `cargo xtask clients`.
pub fn run(root: &Path, options: &Options) -> Result<bool, String> {
    let runners = RUNNERS.iter().map(|(name, ..)| *name);
    let known: Vec<&str> = NAMES.iter().copied().chain(runners).chain(["dumps"]).collect();
    if let Some(unknown) = options.names.iter().find(|n| !known.contains(&n.as_str())) {
        return Err(format!("no client {unknown}; there are {}", known.join(", ")));
    }
    let wanted = |name: &str| options.names.is_empty() || options.names.iter().any(|n| n == name);
    let steps = Steps::new(target(root).join("ci"))?;
    if !ci::build(root, &steps) {
        return Ok(steps.finish());
    }
    steps.run_with("tools", Counting::Whole, || {
        let told = install::all(root, &folder(root))?;
        if options.runners.is_some() && options.python.is_none() {
            install::for_runners(root, &folder(root))?;
        }
        Ok((true, told))
    });
    for name in NAMES.iter().filter(|name| wanted(name)) {
        step(root, name, &steps);
    }
    if wanted("dumps") {
        dumps(root, options, &steps);
    }
    for runner in RUNNERS.iter().filter(|(name, ..)| wanted(name)) {
        run_runner(root, runner, options, &steps);
    }
    Ok(steps.finish())
}

/// A program beside a server of its own.
fn with_server(root: &Path, name: &str) -> Command {
    let mut command = Command::new(ci::built(root, "with_server"));
    command.arg(name).current_dir(root).env("HEDDLE_BIN", ci::built(root, "heddle"));
    if name == "prometheus" {
        command.env("WITH_SERVER_CONSOLE", "1");
    }
    command
}

fn dumps(root: &Path, options: &Options, steps: &Steps) {
    let Some(reference) = &options.reference else {
        return steps.skip("client dumps", "there is no --reference");
    };
    let mut command = with_server(root, "dumps");
    command.arg("bash").arg(root.join("tests/clients/dumps.sh")).env("REFERENCE", reference);
    if let Some(programs) = &options.client_programs {
        command.env("CLIENTS", programs);
    }
    steps.run("client dumps", &mut command, Counting::Lines);
}

fn run_runner(root: &Path, runner: &(&str, &str, &[&str], u32), options: &Options, steps: &Steps) {
    let (name, program, settings, seconds) = *runner;
    let label = format!("runner {name}");
    let Some(folder_of_runners) = &options.runners else { return steps.skip(&label, "there is no --runners") };
    let needs_django = name == "run_django";
    if needs_django && options.django.is_none() {
        return steps.skip(&label, "there is no --django");
    }
    let python = options.python.clone().unwrap_or_else(|| install::interpreter(&folder(root)));
    let mut command = with_server(root, name);
    command
        .arg("bash")
        .arg(folder_of_runners.join(program))
        .arg("--work")
        .arg(folder(root).join(name))
        .arg("--python")
        .arg(python);
    if let Some(django) = options.django.as_ref().filter(|_| needs_django) {
        command.arg("--src").arg(django);
    }
    command.env("WITH_SERVER_SECONDS", seconds.to_string()).env("WITH_SERVER_ACCOUNT", RUNNERS_ACCOUNT);
    command.envs(settings.iter().filter_map(|setting| setting.split_once('=')));
    if let (Some(programs), Some(path)) = (&options.client_programs, std::env::var_os("PATH")) {
        let path = std::env::join_paths(std::iter::once(programs.clone()).chain(std::env::split_paths(&path)));
        command.env("PATH", path.unwrap_or_default());
    }
    steps.run(&label, &mut command, Counting::Lines);
}

/// Where built clients live.
pub fn folder(root: &Path) -> PathBuf {
    target(root).join("clients")
}

/// Builds and runs one client as a step.
pub fn step(root: &Path, name: &str, steps: &Steps) {
    let label = format!("client {name}");
    match call(root, name) {
        // It starts its own server.
        Ok(Call::Program(arguments)) if name == "browser" => {
            let mut command = Command::new(&arguments[0]);
            steps.run(&label, command.current_dir(root).env("HEDDLE_BIN", ci::built(root, "heddle")), Counting::Lines);
        }
        Ok(Call::Program(arguments)) => {
            let mut command = with_server(root, name);
            command.args(arguments);
            steps.run(&label, &mut command, Counting::Lines);
        }
        Ok(Call::Skip(why)) => steps.skip(&label, &why),
        Err(why) => {
            steps.run_with(&label, Counting::Whole, || Err(why));
        }
    }
}

fn call(root: &Path, name: &str) -> Result<Call, String> {
    let source = root.join("tests/clients");
    let text = |path: PathBuf| path.display().to_string();
    match name {
        "mariadb" | "sysbench" => {
            if !on_path(name) {
                return Ok(Call::Skip(format!("{name} is not installed")));
            }
            Ok(Call::Program(vec!["bash".into(), text(source.join(format!("{name}.sh")))]))
        }
        "prometheus" => {
            if !on_path("prometheus") || !on_path("promtool") {
                return Ok(Call::Skip("prometheus is not installed".into()));
            }
            Ok(Call::Program(vec!["bash".into(), text(source.join("prometheus.sh"))]))
        }
        "browser" => {
            if !on_path("chromedriver") || !on_path("chromium") {
                return Ok(Call::Skip("chromium with its driver is not installed".into()));
            }
            Ok(Call::Program(vec![text(ci::built(root, "browser"))]))
        }
        "pymysql" | "mysqlclient" | "connector" => {
            let python = install::interpreter(&folder(root));
            if !python.exists() {
                return Ok(Call::Skip("the Python drivers are not installed".into()));
            }
            Ok(Call::Program(vec![text(python), "-Wignore".into(), text(source.join("dbapi.py")), name.into()]))
        }
        "go" => go(root, &source),
        "node" => node(root, &source),
        "java" => java(root, &source),
        _ => Ok(Call::Program(vec![text(ci::built(root, "client_mysql_async"))])),
    }
}

fn go(root: &Path, source: &Path) -> Result<Call, String> {
    if !on_path("go") {
        return Ok(Call::Skip("no go toolchain".into()));
    }
    let program = folder(root).join("go-client");
    quiet(Command::new("go").args(["build", "-o"]).arg(&program).arg(".").current_dir(source.join("go")))?;
    Ok(Call::Program(vec![program.display().to_string()]))
}

fn node(root: &Path, source: &Path) -> Result<Call, String> {
    if !on_path("node") || !on_path("npm") {
        return Ok(Call::Skip("no node and npm".into()));
    }
    let folder = folder(root).join("node");
    let changed = copy(&source.join("node"), &folder)?;
    if changed || !folder.join("node_modules").exists() {
        quiet(
            Command::new("npm")
                .args(["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"])
                .current_dir(&folder),
        )?;
    }
    Ok(Call::Program(vec!["node".into(), folder.join("main.js").display().to_string()]))
}

fn java(root: &Path, source: &Path) -> Result<Call, String> {
    if !on_path("java") || !on_path("mvn") {
        return Ok(Call::Skip("no java and mvn".into()));
    }
    let folder = folder(root).join("java");
    let changed = copy(&source.join("java"), &folder)?;
    if changed || !folder.join("lib").exists() {
        let arguments = ["-q", "-B", "package", "dependency:copy-dependencies", "-DoutputDirectory=lib"];
        quiet(Command::new("mvn").args(arguments).current_dir(&folder))?;
    }
    let path = format!("{0}/target/classes:{0}/lib/*", folder.display());
    Ok(Call::Program(vec!["java".into(), "-cp".into(), path, "Client".into()]))
}

/// Copies a folder of sources (C2); true when a file changed.
fn copy(from: &Path, to: &Path) -> Result<bool, String> {
    let fail = |path: &Path, e: std::io::Error| format!("{}: {e}", path.display());
    std::fs::create_dir_all(to).map_err(|e| fail(to, e))?;
    let mut changed = false;
    for entry in std::fs::read_dir(from).map_err(|e| fail(from, e))?.flatten() {
        let (source, copied) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            changed |= copy(&source, &copied)?;
            continue;
        }
        let text = std::fs::read(&source).map_err(|e| fail(&source, e))?;
        if std::fs::read(&copied).is_ok_and(|have| have == text) {
            continue;
        }
        std::fs::write(&copied, text).map_err(|e| fail(&copied, e))?;
        changed = true;
    }
    Ok(changed)
}
