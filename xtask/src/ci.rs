//! `cargo xtask ci`: every check, in named steps.
//!
//! 1. What the clients need installs in the background while the compiler works.
//! 2. format, tidy, lints, unit tests, the simulator; 3. the server and the test programs are linked from the libraries of the unit tests:
//!    every assertion holds under the clients too; 4. SQL scripts, bad input, data larger than memory, every client, crashes. Miri
//!    runs beside these.
//!
//! A step that cannot run because its build failed is not counted as passed.

use crate::clients;
use crate::install;
use crate::miri;
use crate::proc::{cargo, quiet, target};
use crate::sim;
use crate::step::{Counting, Steps};
use crate::tidy;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Rounds of kill and recover in a ci run.
const CRASH_ROUNDS: &str = "24";

/// Runs the steps (all, or those named); true when nothing failed.
pub fn run(root: &Path, may_install: bool, only: &[String]) -> Result<bool, String> {
    let mut steps = Steps::new(target(root).join("ci"))?;
    let wanted = |name: &str| only.is_empty() || only.iter().any(|n| n == name);
    let needs_server =
        only.is_empty() || only.iter().any(|n| ["sql", "isolation", "abuse", "larger", "clients", "crash"].contains(&n.as_str()));
    let needs_tools = may_install && (only.is_empty() || wanted("clients"));
    std::thread::scope(|scope| {
        let tools = needs_tools.then(|| scope.spawn(|| install::all(root, &clients::folder(root))));
        static_checks(root, &mut steps, &wanted);
        if wanted("simulator") {
            sim::steps(root, &mut steps);
        }
        let built = needs_server && build(root, &mut steps);
        if let Some(tools) = tools {
            steps.run_with("tools", Counting::Whole, || {
                tools.join().map_err(|_| "the installer panicked".to_string())?.map(|told| (true, told))
            });
        }
        // One core's work, while the clients wait more than they compute.
        let miri = wanted("miri").then(|| scope.spawn(|| miri::quick(root)));
        if built {
            server_checks(root, &mut steps, &wanted);
        }
        if let Some(miri) = miri {
            miri::report(miri.join().unwrap_or_else(|_| Err("its thread panicked".to_string())), &mut steps);
        }
    });
    Ok(steps.finish())
}

fn static_checks(root: &Path, steps: &mut Steps, wanted: &dyn Fn(&str) -> bool) {
    if wanted("format") {
        steps.run("format", &mut cargo(root, &["fmt", "--all", "--check"]), Counting::Whole);
    }
    if wanted("tidy") {
        steps.run_with("tidy", Counting::Lines, || Ok(tidy::check(root)));
    }
    if wanted("lints") {
        let lints = ["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"];
        steps.run("lints", &mut cargo(root, &lints), Counting::Whole);
    }
    if wanted("unit") {
        let tests = ["test", "--quiet", "--workspace", "--no-fail-fast"];
        steps.run("unit tests", &mut cargo(root, &tests), Counting::Harness);
    }
    if wanted("models") {
        steps.run("models", &mut models(root), Counting::Harness);
    }
}

/// The tests named `model` with loom's atomics in place of the standard ones; built apart, because everything is built anew for that.
pub fn models(root: &Path) -> Command {
    let mut command =
        cargo(root, &["test", "--quiet", "--profile", "ci", "--package", "sync", "--package", "txn", "--lib", "model::"]);
    command.env("RUSTFLAGS", "--cfg loom").env("CARGO_TARGET_DIR", target(root).join("loom"));
    command
}

fn server_checks(root: &Path, steps: &mut Steps, wanted: &dyn Fn(&str) -> bool) {
    if wanted("sql") {
        steps.run("sql scripts", &mut test_program(root, "sql"), Counting::Lines);
    }
    if wanted("isolation") {
        steps.run("isolation levels", &mut test_program(root, "isolation"), Counting::Lines);
    }
    if wanted("abuse") {
        steps.run("bad input", &mut test_program(root, "abuse"), Counting::Lines);
    }
    if wanted("larger") {
        steps.run("larger than memory", &mut test_program(root, "larger"), Counting::Lines);
    }
    if wanted("clients") {
        for name in clients::NAMES {
            clients::step(root, name, steps);
        }
    }
    if wanted("crash") {
        steps.run("kill and recover", test_program(root, "crash").args(["--rounds", CRASH_ROUNDS]), Counting::Lines);
    }
}

/// The server and the test programs, as the unit tests are, whose libraries are there already.
const BUILD: [&str; 6] = ["build", "--quiet", "--package", "heddle", "--package", "tests"];

/// Builds the server and the test programs.
pub fn build(root: &Path, steps: &mut Steps) -> bool {
    steps.run("build programs", &mut cargo(root, &BUILD), Counting::Whole)
}

/// A built program.
pub fn built(root: &Path, name: &str) -> PathBuf {
    target(root).join("debug").join(name)
}

fn test_program(root: &Path, name: &str) -> Command {
    let mut command = Command::new(built(root, name));
    command.current_dir(root).env("HEDDLE_BIN", built(root, "heddle"));
    command
}

/// Builds and runs one test program with the terminal as its output: `cargo xtask sql` and its like.
pub fn program(root: &Path, name: &str, arguments: &[String]) -> Result<bool, String> {
    quiet(&mut cargo(root, &BUILD))?;
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
