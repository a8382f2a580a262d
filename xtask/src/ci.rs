//! `cargo xtask ci`: every check, in named steps.
//!
//! 1. What the clients need installs in the background while the compiler works.
//! 2. format, tidy, and one build of everything, which lints too: the server that the clients meet is made of the libraries of the unit tests,
//!    so every assertion holds there too.
//! 3. Three lines beside each other: unit tests, the simulator's known cases; SQL scripts, every client, Miri; isolation, definitions beside changes,
//!    bad input, events and crashes, which wait more than they compute, then new seeds of the simulator and models.
//!
//! A step that cannot run because its build failed is not counted as passed.

use crate::clients;
use crate::install;
use crate::miri;
use crate::package;
use crate::proc::{cargo, on_path, quiet, target};
use crate::sim;
use crate::step::{Counting, Steps};
use crate::tidy;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;

/// Rounds of kill and recover in a ci run.
const CRASH_ROUNDS: &str = "24";

/// Runs the steps (all, or those named); true when nothing failed.
pub fn run(root: &Path, may_install: bool, only: &[String]) -> Result<bool, String> {
    let steps = Steps::new(target(root).join("ci"))?;
    let wanted = |name: &str| only.is_empty() || only.iter().any(|n| n == name);
    let needs_server = only.is_empty()
        || only.iter().any(|n| {
            [
                "sql",
                "isolation",
                "definitions",
                "abuse",
                "hostile",
                "histories",
                "splices",
                "privileges",
                "advice",
                "events",
                "backups",
                "binlog",
                "replica",
                "migrate",
                "console",
                "lab",
                "package",
                "larger",
                "migrations",
                "clients",
                "crash",
                "xa",
                "tpcc",
            ]
            .contains(&n.as_str())
        });
    if may_install {
        install::components()?;
    }
    let needs_tools = may_install && (only.is_empty() || wanted("clients"));
    std::thread::scope(|scope| {
        let tools = needs_tools.then(|| scope.spawn(|| install::all(root, &clients::folder(root))));
        static_checks(root, &steps, &wanted);
        let needs_all = needs_server || wanted("lints") || wanted("unit");
        let built = needs_all && steps.run("lints and build", &mut whole(root, &EVERYTHING), Counting::Whole);
        let (steps, wanted) = (&steps, &wanted);
        let (simulator_is_built, simulator) = mpsc::channel();
        scope.spawn(move || {
            if let Some(tools) = tools {
                steps.run_with("tools", Counting::Whole, || {
                    tools.join().map_err(|_| "the installer panicked".to_string())?.map(|told| (true, told))
                });
            }
            if built && needs_server {
                server_checks(root, steps, wanted);
            }
            if wanted("miri") {
                miri::report(miri::quick(root), steps);
            }
        });
        scope.spawn(move || {
            if built && needs_server {
                patient_checks(root, steps, wanted);
            }
            if simulator.recv() == Ok(true) {
                steps.run_with("simulator", Counting::Lines, || sim::new_seeds(root));
                steps.run_with("simulator sessions", Counting::Lines, || sim::new_session_seeds(root));
            }
            if wanted("models") {
                steps.run("models", &mut models(root), Counting::Harness);
            }
        });
        library_checks(root, built, simulator_is_built, steps, wanted);
    });
    Ok(steps.finish())
}

fn static_checks(root: &Path, steps: &Steps, wanted: &dyn Fn(&str) -> bool) {
    if wanted("format") {
        steps.run("format", &mut cargo(root, &["fmt", "--all", "--check"]), Counting::Whole);
    }
    if wanted("tidy") {
        steps.run_with("tidy", Counting::Lines, || Ok(tidy::check(root)));
    }
}

/// What needs no server that runs; tells when there is a simulator.
fn library_checks(
    root: &Path,
    built: bool,
    simulator_is_built: mpsc::Sender<bool>,
    steps: &Steps,
    wanted: &dyn Fn(&str) -> bool,
) {
    let simulates = wanted("simulator") && sim::build_step(root, steps);
    // Nobody waits for it any more where the other side has panicked.
    let _ = simulator_is_built.send(simulates);
    if built && wanted("unit") {
        let tests = ["test", "--quiet", "--workspace", "--no-fail-fast"];
        steps.run("unit tests", &mut whole(root, &tests), Counting::Harness);
    }
    if simulates {
        sim::steps(root, steps);
    }
}

/// All libraries, programs and tests, with the features that `cargo test --workspace` gives them.
const EVERYTHING: [&str; 4] = ["build", "--quiet", "--workspace", "--all-targets"];

/// A cargo command for what is built once: without the files that make building it again quicker, and with clippy as the compiler of our own
/// crates. `cargo clippy` itself checks all libraries only to throw away what it knows of them; this compiler is what it runs, and so are the
/// variables.
fn whole(root: &Path, arguments: &[&str]) -> Command {
    let mut command = cargo(root, arguments);
    command.env("CARGO_INCREMENTAL", "0");
    command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", "-Dwarnings");
    command
}

/// The tests named `model` with loom's atomics in place of the standard ones; built apart, because everything is built anew for that.
pub fn models(root: &Path) -> Command {
    let mut command =
        cargo(root, &["test", "--quiet", "--profile", "ci", "--package", "sync", "--package", "txn", "--lib", "model::"]);
    command.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target(root).join("loom"));
    command
}

fn server_checks(root: &Path, steps: &Steps, wanted: &dyn Fn(&str) -> bool) {
    if wanted("sql") {
        steps.run("sql scripts", &mut test_program(root, "sql"), Counting::Lines);
    }
    if wanted("larger") {
        steps.run("larger than memory", &mut test_program(root, "larger"), Counting::Lines);
    }
    if wanted("migrations") && on_path("sysbench") {
        steps.run("migrations under load", &mut test_program(root, "migrations"), Counting::Lines);
    }
    if wanted("clients") {
        for name in clients::NAMES {
            clients::step(root, name, steps);
        }
    }
    if wanted("tpcc") {
        steps.run("tpc-c", &mut test_program(root, "tpcc_crash"), Counting::Lines);
    }
}

/// What waits more than it computes.
fn patient_checks(root: &Path, steps: &Steps, wanted: &dyn Fn(&str) -> bool) {
    if wanted("isolation") {
        steps.run("isolation levels", &mut test_program(root, "isolation"), Counting::Lines);
    }
    if wanted("definitions") {
        steps.run("definitions beside changes", &mut test_program(root, "definitions"), Counting::Lines);
    }
    if wanted("abuse") {
        steps.run("bad input", &mut test_program(root, "abuse"), Counting::Lines);
    }
    if wanted("privileges") {
        steps.run("privilege matrix", &mut test_program(root, "privileges"), Counting::Lines);
    }
    if wanted("advice") {
        steps.run("the query doctor", &mut test_program(root, "advice"), Counting::Lines);
    }
    if wanted("histories") {
        steps.run("histories", test_program(root, "histories").args(["--seconds", "0.7"]), Counting::Lines);
    }
    if wanted("hostile") {
        steps.run("hostile work", &mut test_program(root, "hostile"), Counting::Lines);
    }
    if wanted("splices") {
        steps.run("splices", test_program(root, "splices").args(["--minutes", "0.15"]), Counting::Lines);
    }
    if wanted("backups") {
        steps.run("backups", &mut test_program(root, "backups"), Counting::Lines);
    }
    if wanted("binlog") {
        steps.run("binary log", &mut test_program(root, "binlog"), Counting::Lines);
    }
    if wanted("replica") {
        steps.run("replica", &mut test_program(root, "replica"), Counting::Lines);
    }
    if wanted("migrate") {
        steps.run("migrate", &mut test_program(root, "migrate"), Counting::Lines);
    }
    if wanted("package") {
        package::step(root, steps);
    }
    if wanted("events") {
        steps.run("events over restarts", &mut test_program(root, "events"), Counting::Lines);
    }
    if wanted("console") {
        steps.run("console over HTTP", &mut test_program(root, "console"), Counting::Lines);
    }
    if wanted("lab") {
        steps.run("heddle bench", &mut test_program(root, "lab"), Counting::Lines);
    }
    if wanted("xa") {
        steps.run("prepared over kills", &mut test_program(root, "xa"), Counting::Lines);
    }
    if wanted("crash") {
        steps.run("kill and recover", test_program(root, "crash").args(["--rounds", CRASH_ROUNDS]), Counting::Lines);
    }
}

/// The server and the test programs.
const PROGRAMS: [&str; 8] = ["build", "--quiet", "--package", "heddle", "--package", "tests", "--package", "tpcc"];

/// Builds the server and the test programs.
pub fn build(root: &Path, steps: &Steps) -> bool {
    steps.run("build programs", &mut cargo(root, &PROGRAMS), Counting::Whole)
}

/// A built program.
pub fn built(root: &Path, name: &str) -> PathBuf {
    target(root).join("debug").join(name)
}

/// A test program, to be run.
pub fn test_program(root: &Path, name: &str) -> Command {
    let mut command = Command::new(built(root, name));
    command.current_dir(root).env("HEDDLE_BIN", built(root, "heddle"));
    command
}

/// Builds and runs one test program with the terminal as its output: `cargo xtask sql` and its like.
pub fn program(root: &Path, name: &str, arguments: &[String]) -> Result<bool, String> {
    quiet(&mut cargo(root, &PROGRAMS))?;
    let status = test_program(root, name).args(arguments).stdin(Stdio::null()).status().map_err(|e| format!("{name}: {e}"))?;
    Ok(status.success())
}

/// Runs a program that measures against an optimized server: `cargo xtask contention`.
pub fn measure(root: &Path, name: &str, arguments: &[String]) -> Result<bool, String> {
    quiet(&mut cargo(root, &["build", "--quiet", "--release", "--package", "heddle", "--package", "tests"]))?;
    let release = target(root).join("release");
    let mut command = Command::new(release.join(name));
    command.current_dir(root).env("HEDDLE_BIN", release.join("heddle")).args(arguments).stdin(Stdio::null());
    Ok(command.status().map_err(|e| format!("{name}: {e}"))?.success())
}
