//! `cargo xtask fuzz`: the targets of `fuzz/`, each for some seconds, with cargo-fuzz on the nightly toolchain. Then
//! three comparisons with a real MySQL: `differential`, random statements (`tests/src/bin/differential`); `replay`,
//! MySQL's own tests (`tests/src/bin/replay`); and `metadata`, the metadata of result columns
//! (`tests/src/bin/metadata`).

use crate::ci;
use crate::proc::{cargo, quiet};
use crate::servers::{parse_target, start_peers};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The target that is a program of `tests`.
const DIFFERENTIAL: &str = "differential";
/// Programs of `tests`, too: `cargo xtask fuzz replay -- --suite DIR --judge HOST:PORT`, `cargo xtask fuzz metadata -- --judge HOST:PORT`.
const BESIDE_A_JUDGE: [&str; 2] = ["replay", "metadata"];
/// The peer that a folder of peers starts.
const REFERENCE: &str = "mysql97";

#[derive(Args)]
pub struct Options {
    /// Targets of fuzz/, `differential`, `replay` or `metadata`
    targets: Vec<String>,
    /// Of each byte-level target
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// differential: the first round's seed
    #[arg(long)]
    seed: Option<u64>,
    /// differential: how long
    #[arg(long)]
    minutes: Option<f64>,
    /// differential: the real MySQL, HOST:PORT[,user=U][,password=P]; without one Heddle is only compared with itself
    #[arg(long)]
    peer: Option<String>,
    /// differential: a folder with servers.py, which starts the real MySQL and prints how to reach it
    #[arg(long)]
    peers: Option<PathBuf>,
    /// differential, replay, metadata: after `--`, more for the program; `-- --help` shows what
    #[arg(last = true)]
    more: Vec<String>,
}

/// Runs what is named, or all byte-level targets; true when nothing was found.
pub fn run(root: &Path, options: &Options) -> Result<bool, String> {
    let has = |name: &str| options.targets.iter().any(|target| target == name);
    let is_program = |name: &str| name == DIFFERENTIAL || BESIDE_A_JUDGE.contains(&name);
    let bytes: Vec<String> = options.targets.iter().filter(|target| !is_program(target)).cloned().collect();
    let mut clean = true;
    for name in BESIDE_A_JUDGE.into_iter().filter(|name| has(name)) {
        clean &= ci::program(root, name, &options.more)?;
    }
    if has(DIFFERENTIAL) {
        clean &= ci::program(root, DIFFERENTIAL, &differential(options)?)?;
    }
    if options.targets.is_empty() || !bytes.is_empty() {
        clean &= byte_targets(root, &bytes, options.seconds)?;
    }
    Ok(clean)
}

/// The program's arguments.
fn differential(options: &Options) -> Result<Vec<String>, String> {
    let mut arguments = Vec::new();
    let mut add = |name: &str, value: String| arguments.extend([format!("--{name}"), value]);
    if let Some(seed) = options.seed {
        add("seed", seed.to_string());
    }
    if let Some(minutes) = options.minutes {
        add("minutes", minutes.to_string());
    }
    let peer = match (&options.peer, &options.peers) {
        (Some(text), _) => Some(parse_target(&format!("peer={text}"))?),
        (None, Some(folder)) => start_peers(folder, &[REFERENCE.to_owned()])?.into_iter().next(),
        (None, None) => None,
    };
    if let Some(peer) = peer {
        add("peer", format!("{}:{}", peer.host, peer.port));
        add("peer-user", peer.user);
        add("peer-password", peer.password);
    }
    arguments.extend(options.more.iter().cloned());
    Ok(arguments)
}

/// Runs the targets of `fuzz/` (all without names); true when none found anything.
fn byte_targets(root: &Path, names: &[String], seconds: u32) -> Result<bool, String> {
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
