//! `cargo xtask miri [PART...]`: code that reads and writes raw memory, run by an interpreter that knows what is undefined.
//!
//! Miri sees reads beyond a buffer or of bytes that nobody wrote, data races, wrong alignment, and loads that the memory model allows to be
//! stale. It is a hundred times slower than the machine, so tests are small under it (`cfg!(miri)`), and it knows no direct I/O, no advice on memory
//! and no assembly: `os/src/miri.rs` stands in for the first two, the POWER version of the checksum is for QEMU (`cargo xtask cross`).
//!
//! | part   | what                                                                    | aliasing is checked |
//! |--------|-------------------------------------------------------------------------|---------------------|
//! | latch  | `sync`: the latch under threads, words that are read while written      | yes                 |
//! | pages  | `storage`: pages, checksums, log records and segments, torn pages       | no                  |
//! | rows   | `types`: rows and keys                                                  | yes                 |
//! | engine | `txn`: transactions by threads, rollback, recovery, on a whole store    | no                  |
//!
//! M1: aliasing is not checked where pages are: each call takes a view of a page's 2048 words, and the check of one view costs as much as them all.

use crate::proc::{quiet, target};
use crate::step::{Counting, Steps, output};
use std::path::Path;
use std::process::Command;

struct Part {
    name: &'static str,
    package: &'static str,
    /// Parts of the names of tests; empty: all.
    tests: &'static [&'static str],
    /// M1
    checks_aliasing: bool,
    /// Quick enough for `cargo xtask ci`.
    is_quick: bool,
}

const PARTS: &[Part] = &[
    Part { name: "latch", package: "sync", tests: &[], checks_aliasing: true, is_quick: true },
    Part {
        name: "pages",
        package: "storage",
        tests: &["page::", "crc::", "record::", "blocks::", "doublewrite::", "control::", "offline::", "files::"],
        checks_aliasing: false,
        is_quick: true,
    },
    Part { name: "rows", package: "types", tests: &["row::", "key::"], checks_aliasing: true, is_quick: true },
    Part {
        name: "engine",
        package: "txn",
        tests: &["under_miri", "savepoints", "transfers"],
        checks_aliasing: false,
        is_quick: false,
    },
];

/// Of each property that is tested with random values.
const RANDOM_CASES: &str = "2";

/// Of one day: each new Miri looks for more, also in libraries that stand on the system's calls.
const TOOLCHAIN: &str = "nightly-2026-04-20";

/// Runs all parts, or those named; true when nothing failed.
pub fn run(root: &Path, names: &[String]) -> Result<bool, String> {
    if let Some(unknown) = names.iter().find(|name| !PARTS.iter().any(|part| part.name == name.as_str())) {
        return Err(format!("no part {unknown}; there are {}", PARTS.iter().map(|p| p.name).collect::<Vec<_>>().join(", ")));
    }
    if let Some(why) = missing(root) {
        return Err(why);
    }
    let steps = Steps::new(target(root).join("miri").join("logs"))?;
    for part in PARTS.iter().filter(|part| names.is_empty() || names.iter().any(|name| name == part.name)) {
        steps.run(&part.title(), &mut part.command(root), Counting::Harness);
    }
    Ok(steps.finish())
}

/// A part's name, and what came of it.
pub type Outcome = (String, Result<(bool, String), String>);

/// What `cargo xtask ci` runs: the quick parts; why there is no Miri, where it is missing.
pub fn quick(root: &Path) -> Result<Vec<Outcome>, String> {
    match missing(root) {
        Some(why) => Err(why),
        None => {
            Ok(PARTS.iter().filter(|part| part.is_quick).map(|part| (part.title(), output(&mut part.command(root)))).collect())
        }
    }
}

/// Makes steps of what `quick` gave.
pub fn report(outcomes: Result<Vec<Outcome>, String>, steps: &Steps) {
    match outcomes {
        Err(why) => steps.skip("miri", &why),
        Ok(parts) => parts.into_iter().for_each(|(title, outcome)| {
            steps.run_with(&title, Counting::Harness, || outcome);
        }),
    }
}

/// Why Miri cannot run here.
fn missing(root: &Path) -> Option<String> {
    let is_there = quiet(&mut nightly(root, &["miri", "--version"])).is_ok();
    (!is_there).then(|| {
        format!("no Miri here: rustup toolchain install {TOOLCHAIN} --profile minimal --component miri --component rust-src")
    })
}

impl Part {
    fn title(&self) -> String {
        format!("miri {}", self.name)
    }

    fn command(&self, root: &Path) -> Command {
        let mut command = nightly(root, &["miri", "test", "--quiet", "--package", self.package, "--lib", "--"]);
        command.args(self.tests);
        // Files are read and written; parking_lot keeps pointers in integers.
        let mut flags = "-Zmiri-disable-isolation -Zmiri-permissive-provenance".to_string();
        if !self.checks_aliasing {
            flags.push_str(" -Zmiri-disable-stacked-borrows");
        }
        command.env("MIRIFLAGS", flags).env("PROPTEST_CASES", RANDOM_CASES);
        command
    }
}

fn nightly(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.arg(format!("+{TOOLCHAIN}")).args(arguments).current_dir(root).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
    command.env_remove("RUSTFLAGS").env("CARGO_TARGET_DIR", target(root).join("miri"));
    command
}
