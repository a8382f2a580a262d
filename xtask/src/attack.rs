//! `cargo xtask attack`: everything that tries to break a promise (docs/RELIABILITY.md), for a chosen time, and a page of what came of it.
//!
//! 1. Parts without a length of their own run once: the privilege matrix, hostile work, isolation, definitions, bad input.
//! 2. The others share the time by their weights: those that have found most so far get most.
//! 3. The page says what ran, how long, what it counted, what it found and with which seeds; each part's whole output is beside it.

use crate::ci;
use crate::proc::{cargo, quiet, target};
use crate::sim;
use crate::step::output;
use clap::Args;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct Options {
    /// Of the parts that run as long as they are told
    #[arg(long, default_value_t = 30.0)]
    minutes: f64,
    /// Only parts with this in their name
    #[arg(long, default_value = "")]
    only: String,
    /// Hostile work in its long form, with all values and 100,000 tables
    #[arg(long)]
    long: bool,
}

/// A part of the attack.
struct Part {
    name: &'static str,
    /// Of the time; 0: it runs once.
    weight: u32,
    command: fn(&Path, &Options, f64) -> Command,
}

const PARTS: &[Part] = &[
    once("privilege matrix", |root, _, _| ci::test_program(root, "privileges")),
    once("hostile work", |root, options, _| {
        with(ci::test_program(root, "hostile"), if options.long { &["--long"] } else { &[] })
    }),
    once("isolation levels", |root, _, _| ci::test_program(root, "isolation")),
    once("definitions beside changes", |root, _, _| ci::test_program(root, "definitions")),
    once("bad input", |root, _, _| ci::test_program(root, "abuse")),
    timed("simulator, sessions", 6, |root, _, minutes| with_minutes(with(sim::program(root), &["--sessions"]), minutes)),
    timed("simulator, engine", 4, |root, _, minutes| with_minutes(sim::program(root), minutes)),
    timed("histories", 3, |root, _, minutes| with_minutes(ci::test_program(root, "histories"), minutes)),
    timed("splices", 3, |root, _, minutes| with_minutes(ci::test_program(root, "splices"), minutes)),
    timed("differential", 2, |root, _, minutes| with_minutes(ci::test_program(root, "differential"), minutes)),
    timed("kill and recover", 2, |root, _, minutes| {
        // A round takes about two seconds.
        let rounds = ((minutes * 30.0) as usize).max(1).to_string();
        with(ci::test_program(root, "crash"), &["--rounds", &rounds])
    }),
];

const fn once(name: &'static str, command: fn(&Path, &Options, f64) -> Command) -> Part {
    Part { name, weight: 0, command }
}

const fn timed(name: &'static str, weight: u32, command: fn(&Path, &Options, f64) -> Command) -> Part {
    Part { name, weight, command }
}

fn with(mut command: Command, arguments: &[&str]) -> Command {
    command.args(arguments);
    command
}

fn with_minutes(command: Command, minutes: f64) -> Command {
    with(command, &["--minutes", &format!("{minutes:.3}")])
}

/// Runs the parts and writes the page; true when nothing was found.
pub fn run(root: &Path, options: &Options) -> Result<bool, String> {
    quiet(&mut cargo(root, &["build", "--quiet", "--package", "heddle", "--package", "tests"]))?;
    quiet(&mut sim::build(root))?;
    let folder = target(root).join("attack");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let parts: Vec<&Part> = PARTS.iter().filter(|part| part.name.contains(&options.only)).collect();
    let weights: u32 = parts.iter().map(|part| part.weight).sum();
    let mut page = String::from("| part | time | counted | found |\n|---|---|---|---|\n");
    let mut findings = String::new();
    for part in parts {
        let minutes = options.minutes * f64::from(part.weight) / f64::from(weights.max(1));
        println!("{} ...", part.name);
        let began = Instant::now();
        let (passed, text) = output(&mut (part.command)(root, options, minutes))?;
        let log = folder.join(format!("{}.log", part.name.replace([' ', ','], "_")));
        std::fs::write(&log, &text).map_err(|e| format!("{}: {e}", log.display()))?;
        let row = Row::of(passed, &text, began.elapsed());
        // Writing to a text cannot fail.
        let _ = writeln!(page, "| {} | {} s | {} | {} |", part.name, row.time.as_secs(), row.counted, row.found.len());
        for line in row.found {
            let _ = writeln!(findings, "- {}: {line}", part.name);
        }
    }
    let clean = findings.is_empty();
    let seeds = "Seeds are in the findings and in the logs beside this page.";
    let page = format!(
        "# Attack\n\n{page}\n{}{seeds}\n",
        if clean { "Nothing was found. ".to_owned() } else { format!("{findings}\n") }
    );
    let path = folder.join("page.md");
    std::fs::write(&path, &page).map_err(|e| format!("{}: {e}", path.display()))?;
    println!("\n{page}\n{}", path.display());
    Ok(clean)
}

/// What the page says of a part.
struct Row {
    time: Duration,
    counted: String,
    found: Vec<String>,
}

impl Row {
    fn of(passed: bool, text: &str, time: Duration) -> Self {
        let mut found: Vec<String> = text.lines().filter_map(|line| line.strip_prefix("FAIL ")).map(short).collect();
        if !passed && found.is_empty() {
            found.push(short(text.trim_end().lines().next_back().unwrap_or("it failed and said nothing")));
        }
        let passed_lines = text.lines().filter(|line| line.starts_with("ok ")).count();
        let last = text.trim_end().lines().next_back().unwrap_or_default();
        let counted = if passed_lines > 1 { format!("{passed_lines} cases") } else { short(last) };
        Self { time, counted, found }
    }
}

/// A line without what would break the table.
fn short(line: &str) -> String {
    line.replace('|', "/").chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_tells_what_failed() {
        let time = Duration::from_secs(1);
        let row = Row::of(false, "ok   a\nFAIL b, seed 7: why | how\npassed/failed/total: 1/1/2\n", time);
        assert_eq!(row.found, ["b, seed 7: why / how"]);
        assert_eq!(Row::of(false, "seed 5\nthe run ended\n", time).found, ["the run ended"]);
        assert_eq!(Row::of(true, "ok   a\nok   b\n", time).counted, "2 cases");
        assert!(Row::of(true, "", time).found.is_empty());
    }
}
