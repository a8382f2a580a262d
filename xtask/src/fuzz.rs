//! `cargo xtask fuzz`: the targets of `fuzz/`, each for some seconds, with cargo-fuzz on the nightly toolchain.

use crate::proc::{cargo, quiet};
use std::path::Path;
use std::process::Command;

/// Runs the targets (all without names); true when none found anything.
pub fn run(root: &Path, names: &[String], seconds: u32) -> Result<bool, String> {
    if quiet(&mut cargo(root, &["fuzz", "--version"])).is_err() {
        println!("installing cargo-fuzz");
        quiet(&mut cargo(root, &["install", "--quiet", "--locked", "cargo-fuzz"]))?;
    }
    let listed = quiet(&mut nightly(root, &["list"]))?;
    let targets: Vec<&str> = listed.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    if let Some(unknown) = names.iter().find(|n| !targets.contains(&n.as_str())) {
        return Err(format!("no fuzz target {unknown}; there are {}", targets.join(", ")));
    }
    let (mut passed, mut failed) = (0, 0);
    for target in targets.into_iter().filter(|t| names.is_empty() || names.iter().any(|n| n == t)) {
        let limit = format!("-max_total_time={seconds}");
        match quiet(&mut nightly(root, &["run", target, "--", &limit, "-rss_limit_mb=4096", "-timeout=20"])) {
            Ok(text) => {
                passed += 1;
                let end = text.lines().rev().find(|l| l.contains("Done ")).unwrap_or("done");
                println!("ok   {target}: {end}");
            }
            Err(why) => {
                failed += 1;
                println!("FAIL {target}: {why}");
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    Ok(failed == 0)
}

fn nightly(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(["+nightly", "fuzz"]).args(arguments).current_dir(root).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
    command
}
