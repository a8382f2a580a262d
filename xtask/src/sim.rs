//! `cargo xtask sim`: builds the simulator and runs it.
//!
//! `--cfg sim` puts a simulated machine in the place of threads, clocks, locks and files (`os/src/sim/mod.rs`), so it is built apart from everything
//! else, in a target directory of its own.

use crate::proc::{cargo, target};
use crate::step::{Counting, Steps, output};
use std::path::Path;
use std::process::Command;

/// What `cargo xtask ci` gives it.
const CI_MINUTES: &str = "2";
/// And those of the whole server.
const CI_SESSIONS_MINUTES: &str = "1";
/// Seeds that are run twice, to see that a seed says everything.
const CI_TWICE: &str = "30";
/// Seeds within which every mutation is found.
const CI_MUTATION_SEEDS: &str = "2000";
/// The same of the whole server, whose seeds take longer and find more.
const CI_SESSIONS_TWICE: &str = "10";
const CI_SESSIONS_MUTATION_SEEDS: &str = "500";

/// Builds it.
pub fn build(root: &Path) -> Command {
    let mut command = cargo(root, &["build", "--quiet", "--profile", "sim", "--package", "sim", "--target-dir"]);
    command.arg(target(root).join("sim")).env("RUSTFLAGS", "--cfg sim -D warnings");
    command
}

/// The program, built.
pub fn program(root: &Path) -> Command {
    let mut command = Command::new(target(root).join("sim").join("sim").join("sim"));
    command.current_dir(root);
    command
}

/// Runs it with the terminal as its output; true when it found nothing.
pub fn run(root: &Path, arguments: &[String]) -> Result<bool, String> {
    let built = build(root).status().map_err(|e| e.to_string())?;
    if !built.success() {
        return Err("the build failed".into());
    }
    let status = program(root).args(arguments).status().map_err(|e| format!("sim: {e}"))?;
    Ok(status.success())
}

/// Builds it as a step of `cargo xtask ci`; false when there is no simulator to run.
pub fn build_step(root: &Path, steps: &Steps) -> bool {
    steps.run("build simulator", &mut build(root), Counting::Whole)
}

/// The steps of `cargo xtask ci` whose length is known.
pub fn steps(root: &Path, steps: &Steps) {
    steps.run("simulator cases", program(root).arg("--cases"), Counting::Lines);
    let twice = ["--twice", "--seed", "1", "--seeds", CI_TWICE];
    steps.run("simulator repeats", program(root).args(twice), Counting::Lines);
    let mutations = ["--mutations", "--seed", "1", "--seeds", CI_MUTATION_SEEDS];
    steps.run("simulator mutations", program(root).args(mutations), Counting::Lines);
    let twice = ["--sessions", "--twice", "--seed", "1", "--seeds", CI_SESSIONS_TWICE];
    steps.run("simulator repeats sessions", program(root).args(twice), Counting::Lines);
    let mutations = ["--sessions", "--mutations", "--seed", "1", "--seeds", CI_SESSIONS_MUTATION_SEEDS];
    steps.run("simulator mutations of sessions", program(root).args(mutations), Counting::Lines);
}

/// New seeds for the minutes that `cargo xtask ci` has for them, on one CPU: success and output.
pub fn new_seeds(root: &Path) -> Result<(bool, String), String> {
    output(program(root).args(["--minutes", CI_MINUTES, "--jobs", "1"]))
}

/// As [`new_seeds`], of sessions of the whole server.
pub fn new_session_seeds(root: &Path) -> Result<(bool, String), String> {
    output(program(root).args(["--sessions", "--minutes", CI_SESSIONS_MINUTES, "--jobs", "1"]))
}
