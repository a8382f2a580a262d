//! `cargo xtask coverage`: which lines of the crates the tests run.
//!
//! 1. Everything is built with counters (`-C instrument-coverage`) into a target folder of its own: `target/coverage`.
//! 2. The unit tests run, then the test programs that meet a server (`--programs`), against the server with counters. Each process writes
//!    its counts into `target/coverage/counts` when it ends; a server that is killed writes none.
//! 3. The toolchain's `llvm-profdata` merges them; `llvm-cov` makes HTML (`target/coverage/html/index.html`) and sums, which are printed by crate and kept as
//!    `target/coverage/table.md`.
//!
//! Tests and their helpers are left out of the sums: what counts is what they run.

use crate::proc::{cargo, on_path, quiet, target};
use clap::Args;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Args)]
pub struct Options {
    /// Unit tests of these packages alone [default: all]
    #[arg(long, value_name = "PACKAGE")]
    package: Vec<String>,
    /// Test programs that run against the server; 'none' for none
    #[arg(long, value_delimiter = ',', default_value = "sql,isolation,abuse,privileges,events,console,backups,lab")]
    programs: Vec<String>,
    /// Keep the counts of earlier runs, and add to them
    #[arg(long)]
    add: bool,
}

/// Files that are no part of what is tested.
const LEFT_OUT: &str = "/(tests|sim|xtask|bench|fuzz|examples|\\.cargo|rustc|rustlib)/|/tests\\.rs$|/target/";

/// Lines and branches (regions) of one crate: how many, and how many were run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    lines: (u64, u64),
    functions: (u64, u64),
    regions: (u64, u64),
}

/// `cargo xtask coverage`.
pub fn run(root: &Path, options: &Options) -> Result<bool, String> {
    let tools = tools()?;
    let folder = target(root).join("coverage");
    let counts = folder.join("counts");
    if !options.add && counts.exists() {
        std::fs::remove_dir_all(&counts).map_err(|e| format!("{}: {e}", counts.display()))?;
    }
    std::fs::create_dir_all(&counts).map_err(|e| format!("{}: {e}", counts.display()))?;
    let chosen: Vec<&str> = if options.package.is_empty() {
        vec!["--workspace"]
    } else {
        options.package.iter().flat_map(|name| ["--package", name.as_str()]).collect()
    };
    let with_counters = |arguments: &[&str]| {
        let mut command = cargo(root, arguments);
        command.env("RUSTFLAGS", "-C instrument-coverage").env("CARGO_INCREMENTAL", "0").env("CARGO_TARGET_DIR", &folder);
        command.env("LLVM_PROFILE_FILE", counts.join("%p-%8m.profraw"));
        command
    };
    println!("unit tests");
    let words = [&["test", "--quiet", "--no-fail-fast"], chosen.as_slice()].concat();
    let mut passed = with_counters(&words).status().map_err(|e| format!("cargo test: {e}"))?.success();
    let list = [&["test", "--no-run", "--message-format=json", "--quiet"], chosen.as_slice()].concat();
    let mut objects = executables(&quiet(&mut with_counters(&list))?);
    let programs: Vec<&String> = options.programs.iter().filter(|name| *name != "none").collect();
    if !programs.is_empty() {
        quiet(&mut with_counters(&["build", "--quiet", "--package", "heddle", "--package", "tests", "--package", "tpcc"]))?;
        objects.push(folder.join("debug/heddle"));
    }
    for program in programs {
        println!("{program}");
        let mut command = Command::new(folder.join("debug").join(program));
        command.current_dir(root).env("HEDDLE_BIN", folder.join("debug/heddle")).stdin(Stdio::null()).stdout(Stdio::null());
        command.env("LLVM_PROFILE_FILE", counts.join("%p-%8m.profraw"));
        let well = command.status().map_err(|e| format!("{program}: {e}"))?.success();
        if !well {
            println!("{program} has failed; what it ran counts");
        }
        passed &= well;
    }
    let merged = folder.join("merged.profdata");
    let raw: Vec<PathBuf> = std::fs::read_dir(&counts).map_err(|e| e.to_string())?.flatten().map(|entry| entry.path()).collect();
    let list = folder.join("counts.txt");
    let names: String = raw.iter().map(|path| format!("{}\n", path.display())).collect();
    std::fs::write(&list, names).map_err(|e| format!("{}: {e}", list.display()))?;
    quiet(
        Command::new(tools.join("llvm-profdata"))
            .args(["merge", "--sparse", "--failure-mode=all", "--input-files"])
            .arg(&list)
            .arg("-o")
            .arg(&merged),
    )?;
    let over = |verb: &str| {
        let mut command = Command::new(tools.join("llvm-cov"));
        command.arg(verb).arg("--instr-profile").arg(&merged).arg(format!("--ignore-filename-regex={LEFT_OUT}"));
        for (at, object) in objects.iter().enumerate() {
            if at > 0 {
                command.arg("--object");
            }
            command.arg(object);
        }
        command
    };
    let html = folder.join("html");
    quiet(over("show").args(["--format=html", "--output-dir"]).arg(&html))?;
    let exported = over("export")
        .args(["--summary-only", "--format=text"])
        .stdin(Stdio::null())
        .output()
        .map_err(|e| format!("llvm-cov: {e}"))?;
    let exported: Value = serde_json::from_slice(&exported.stdout).map_err(|e| format!("llvm-cov export: {e}"))?;
    let text = table(&by_crate(&exported, root));
    let path = folder.join("table.md");
    std::fs::write(&path, &text).map_err(|e| format!("{}: {e}", path.display()))?;
    println!("\n{text}\n{} and {}", path.display(), html.join("index.html").display());
    Ok(passed)
}

/// The toolchain's own tools: those of another LLVM do not read its counts.
fn tools() -> Result<PathBuf, String> {
    let sysroot = quiet(Command::new("rustc").args(["--print", "sysroot"]))?;
    let verbose = quiet(Command::new("rustc").arg("-vV"))?;
    let host = verbose.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc does not tell its host")?;
    let folder = Path::new(sysroot.trim()).join("lib/rustlib").join(host).join("bin");
    if !folder.join("llvm-cov").exists() {
        if !on_path("rustup") {
            return Err("the toolchain has no llvm-tools, and there is no rustup to add them".into());
        }
        quiet(Command::new("rustup").args(["component", "add", "llvm-tools"]))?;
    }
    Ok(folder)
}

/// The test programs that cargo names.
fn executables(messages: &str) -> Vec<PathBuf> {
    let named = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    named.filter_map(|message| message["executable"].as_str().map(PathBuf::from)).collect()
}

fn by_crate(exported: &Value, root: &Path) -> BTreeMap<String, Sums> {
    let mut all: BTreeMap<String, Sums> = BTreeMap::new();
    for file in exported["data"][0]["files"].as_array().into_iter().flatten() {
        let name = file["filename"].as_str().unwrap_or_default();
        let Ok(inside) = Path::new(name).strip_prefix(root) else { continue };
        let Some(name) = inside.components().next() else { continue };
        let sums = all.entry(name.as_os_str().to_string_lossy().into_owned()).or_default();
        for (kind, sum) in [("lines", &mut sums.lines), ("functions", &mut sums.functions), ("regions", &mut sums.regions)] {
            let of = |what: &str| file["summary"][kind][what].as_u64().unwrap_or(0);
            *sum = (sum.0 + of("count"), sum.1 + of("covered"));
        }
    }
    all
}

fn table(all: &BTreeMap<String, Sums>) -> String {
    let mut text = String::from(
        "| crate | lines | run | % | functions | run | % | regions | run | % |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut sum = Sums::default();
    let mut row = |name: &str, sums: &Sums| {
        let part = |(count, covered): (u64, u64)| {
            format!("{count} | {covered} | {:.1}", covered as f64 / (count as f64).max(1.0) * 100.0)
        };
        let _ = writeln!(text, "| {name} | {} | {} | {} |", part(sums.lines), part(sums.functions), part(sums.regions));
    };
    for (name, sums) in all {
        row(name, sums);
        for (all, one) in [(&mut sum.lines, sums.lines), (&mut sum.functions, sums.functions), (&mut sum.regions, sums.regions)] {
            *all = (all.0 + one.0, all.1 + one.1);
        }
    }
    row("all", &sum);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_by_crate() {
        let file = |name: &str, count: u64, covered: u64| {
            let sum = serde_json::json!({ "count": count, "covered": covered });
            serde_json::json!({ "filename": name, "summary": { "lines": sum, "functions": sum, "regions": sum } })
        };
        let files = [
            file("/r/sql/src/a.rs", 10, 5),
            file("/r/sql/src/b.rs", 10, 10),
            file("/elsewhere/c.rs", 9, 9),
            file("/r/txn/src/d.rs", 4, 1),
        ];
        let all = by_crate(&serde_json::json!({ "data": [{ "files": files }] }), Path::new("/r"));
        assert_eq!((all.len(), all["sql"].lines, all["txn"].regions), (2, (20, 15), (4, 1)));
        let text = table(&all);
        assert!(text.contains("| sql | 20 | 15 | 75.0 |") && text.contains("| all | 24 | 16 | 66.7 |"), "{text}");
    }

    #[test]
    fn test_programs_are_found() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":\"/t/a\"}\nnoise\n{\"executable\":null}";
        assert_eq!(executables(messages), [PathBuf::from("/t/a")]);
    }
}
