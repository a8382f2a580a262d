//! `cargo xtask cross [MACHINE...]`: the server on other processors, under emulation.
//!
//! For each machine:
//! 1. What is missing is installed: Rust's target through rustup; cross compiler, C library and QEMU from Debian's packages.
//! 2. The workspace is built for it.
//! 3. Unit tests of the crates that decide about bytes run under QEMU.
//! 4. A data directory goes from the native server to the emulated one and back (`tests/src/bin/machines.rs`): recovery, queries,
//!    changes, `heddle check` on both sides.
//! 5. SQL scripts run against the emulated server: those whose answers depend on bytes ([`SCRIPTS`]), or all of them (`--all-scripts`).
//!
//! X1: a machine whose tools cannot be had is skipped by name. A machine that was asked for by name and skipped fails the run only
//! when nothing ran at all.

use crate::ci;
use crate::install;
use crate::proc::{cargo, on_path, quiet, target};
use crate::step::{Counting, Steps};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A processor that we are not on.
struct Machine {
    name: &'static str,
    /// Rust's name.
    triple: &'static str,
    /// The prefix of Debian's cross tools, and the folder of its libraries.
    gnu: &'static str,
    /// How Debian calls the architecture in package names.
    debian: &'static str,
    /// How QEMU calls it.
    qemu: &'static str,
    /// log2 of the largest memory page that its kernels are built with; jemalloc must know at build time.
    page_bits: &'static str,
}

const MACHINES: &[Machine] = &[
    Machine {
        name: "aarch64",
        triple: "aarch64-unknown-linux-gnu",
        gnu: "aarch64-linux-gnu",
        debian: "arm64",
        qemu: "aarch64",
        page_bits: "16",
    },
    Machine {
        name: "powerpc64le",
        triple: "powerpc64le-unknown-linux-gnu",
        gnu: "powerpc64le-linux-gnu",
        debian: "ppc64el",
        qemu: "ppc64le",
        page_bits: "16",
    },
    Machine {
        name: "s390x",
        triple: "s390x-unknown-linux-gnu",
        gnu: "s390x-linux-gnu",
        debian: "s390x",
        qemu: "s390x",
        page_bits: "12",
    },
];

/// The crates that decide about bytes, in memory and on disk; their unit tests run under emulation.
const TESTED: &[&str] = &["sync", "os", "types", "storage", "protocol", "txn", "table"];

/// The scripts in which types, conversions, collations, keys, or rows of several ages meet: where a byte in the wrong place would show. All
/// scripts take an emulated server more than an hour.
const SCRIPTS: &[&str] = &[
    "aggregates_json_bits",
    "alter_columns",
    "alter_table",
    "cast_convert",
    "charsets",
    "collations",
    "collations_languages",
    "conversions",
    "decimal_scales",
    "functions_bits",
    "functions_cipher",
    "functions_number",
    "generated_columns",
    "group_having",
    "index_merge",
    "joins",
    "json_in_columns",
    "keys_composite",
    "large_values",
    "large_values_in_keys",
    "literals_bits_and_hex",
    "many_rows",
    "order_limit",
    "prepare_call",
    "type_binary",
    "type_decimal",
    "type_enum_set",
    "type_float",
    "type_integers",
    "type_json",
    "type_strings",
    "type_temporal",
    "window_functions",
];

/// What to do beside building.
#[derive(Clone, Copy)]
pub struct Options {
    pub may_install: bool,
    pub all_scripts: bool,
}

/// Runs all machines, or those named; true when nothing failed.
pub fn run(root: &Path, names: &[String], options: Options) -> Result<bool, String> {
    if let Some(unknown) =
        names.iter().find(|name| !MACHINES.iter().any(|m| m.name == name.as_str() || m.triple == name.as_str()))
    {
        let known: Vec<&str> = MACHINES.iter().map(|m| m.name).collect();
        return Err(format!("no machine {unknown}; there are {}", known.join(", ")));
    }
    let steps = Steps::new(target(root).join("cross"))?;
    let has_native = ci::build(root, &steps);
    for machine in MACHINES {
        let is_wanted = names.is_empty() || names.iter().any(|name| name == machine.name || name == machine.triple);
        if is_wanted && !std::env::consts::ARCH.starts_with(machine.name) {
            one(root, machine, has_native, options, &steps);
        }
    }
    Ok(steps.finish())
}

fn one(root: &Path, machine: &Machine, has_native: bool, options: Options, steps: &Steps) {
    let name = machine.name;
    if let Err(why) = tools(machine, options.may_install) {
        steps.skip(name, &why); // X1
        return;
    }
    let build = ["build", "--quiet", "--workspace", "--target", machine.triple];
    if !steps.run(&format!("{name} build"), &mut machine.cargo(root, &build), Counting::Whole) {
        return;
    }
    let mut tests = vec!["test", "--quiet", "--no-fail-fast", "--lib", "--target", machine.triple];
    tests.extend(TESTED.iter().flat_map(|krate| ["--package", krate]));
    steps.run(&format!("{name} unit tests"), &mut machine.cargo(root, &tests), Counting::Harness);
    if !has_native {
        return;
    }
    let server = match machine.server(root) {
        Ok(server) => server,
        Err(why) => {
            steps.run_with(&format!("{name} data"), Counting::Whole, || Err(why));
            return;
        }
    };
    let mut data = Command::new(ci::built(root, "machines"));
    data.env("HEDDLE_BIN", ci::built(root, "heddle")).arg("--other").arg(&server).args(["--name", name]);
    steps.run(&format!("{name} data"), &mut data, Counting::Lines);
    let mut sql = Command::new(ci::built(root, "sql"));
    sql.current_dir(root).env("HEDDLE_BIN", &server);
    if !options.all_scripts {
        sql.args(SCRIPTS);
    }
    steps.run(&format!("{name} sql scripts"), &mut sql, Counting::Lines);
}

impl Machine {
    fn compiler(&self) -> String {
        format!("{}-gcc", self.gnu)
    }

    fn emulator(&self) -> String {
        format!("qemu-{}-static", self.qemu)
    }

    /// Where the emulated program finds its libraries.
    fn libraries(&self) -> String {
        format!("/usr/{}", self.gnu)
    }

    /// Cargo, told how to link and how to run what it builds for this machine.
    fn cargo(&self, root: &Path, arguments: &[&str]) -> Command {
        let key = self.triple.replace('-', "_");
        let variable = |what: &str| format!("CARGO_TARGET_{}_{what}", key.to_uppercase());
        let mut command = cargo(root, arguments);
        command
            .env(variable("LINKER"), self.compiler())
            .env(variable("RUNNER"), format!("{} -L {}", self.emulator(), self.libraries()))
            .env(format!("CC_{key}"), self.compiler())
            .env("JEMALLOC_SYS_WITH_LG_PAGE", self.page_bits);
        command
    }

    /// A program that runs the emulated server with the arguments it is given.
    fn server(&self, root: &Path) -> Result<PathBuf, String> {
        use std::os::unix::fs::PermissionsExt;
        let built = target(root).join(self.triple).join("debug/heddle");
        let script = target(root).join("cross").join(format!("heddle-{}", self.name));
        let text = format!("#!/bin/sh\nexec {} -L {} '{}' \"$@\"\n", self.emulator(), self.libraries(), built.display());
        let written = std::fs::write(&script, text)
            .and_then(|()| std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)));
        written.map_err(|e| format!("{}: {e}", script.display()))?;
        Ok(script)
    }
}

/// Installs what a machine needs; the error says what is not to be had.
fn tools(machine: &Machine, may_install: bool) -> Result<(), String> {
    let mut packages = Vec::new();
    if !on_path(&machine.compiler()) {
        packages.push(format!("gcc-{}", machine.gnu));
    }
    if !Path::new(&machine.libraries()).join("include/stdio.h").exists() {
        packages.push(format!("libc6-dev-{}-cross", machine.debian));
    }
    if !on_path(&machine.emulator()) {
        packages.push("qemu-user-static".to_string());
    }
    let has_target = has_rust_target(machine.triple);
    if packages.is_empty() && has_target {
        return Ok(());
    }
    if !may_install {
        packages.extend((!has_target).then(|| format!("Rust's target {}", machine.triple)));
        return Err(format!("missing: {}", packages.join(", ")));
    }
    if !packages.is_empty() {
        println!("{}: installing {}", machine.name, packages.join(", "));
        install::debian(&packages.iter().map(String::as_str).collect::<Vec<_>>()).map_err(|why| first_and_last(&why))?;
    }
    if !has_target {
        println!("{}: installing Rust's target {}", machine.name, machine.triple);
        quiet(Command::new("rustup").args(["target", "add", machine.triple])).map_err(|why| first_and_last(&why))?;
    }
    Ok(())
}

fn has_rust_target(triple: &str) -> bool {
    quiet(Command::new("rustc").args(["--print", "target-libdir", "--target", triple]))
        .is_ok_and(|folder| std::fs::read_dir(folder.trim()).is_ok_and(|mut files| files.next().is_some()))
}

/// Of a long error: what was run, and the last thing it said.
fn first_and_last(why: &str) -> String {
    let mut lines = why.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    lines.next_back().map_or_else(|| first.to_string(), |last| format!("{first}: {}", last.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn machines_have_names_of_their_own() {
        let names: std::collections::BTreeSet<&str> = MACHINES.iter().map(|m| m.name).collect();
        assert_eq!(names.len(), MACHINES.len());
        assert!(MACHINES.iter().all(|m| m.triple.starts_with(m.name)));
    }

    #[test]
    fn an_unknown_machine_is_named() {
        let why = run(Path::new("."), &["vax".to_string()], Options { may_install: false, all_scripts: false })
            .expect_err("there is no vax");
        assert!(why.contains("vax") && why.contains("s390x"), "{why}");
    }

    #[test]
    fn chosen_scripts_are_there() {
        fn names(folder: &Path) -> Vec<String> {
            let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
            let of_entry = |path: PathBuf| {
                if path.is_dir() { names(&path) } else { vec![path.file_name().unwrap().to_string_lossy().into_owned()] }
            };
            entries.flat_map(of_entry).collect()
        }
        let names = names(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/sql"));
        let missing: Vec<_> = SCRIPTS.iter().filter(|script| !names.contains(&format!("{script}.test"))).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn long_errors_are_cut() {
        assert_eq!(first_and_last("apt-get: exit 100\nReading\nE: nothing there\n"), "apt-get: exit 100: E: nothing there");
        assert_eq!(first_and_last("one"), "one");
    }
}
