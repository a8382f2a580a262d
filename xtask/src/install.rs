//! Installs what the tests need and the machine lacks.
//!
//! Debian packages through apt (as root, or with sudo without a password), Python drivers through pip into a virtual
//! environment under the target folder, and first of all rustfmt and clippy through rustup. Toolchains of other
//! languages are not installed: if `go`, `node` or `java` is missing, its client is skipped by name.

use crate::proc::{on_path, quiet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian package, and the program that shows it is there.
const PROGRAMS: &[(&str, &str)] = &[
    ("mariadb", "mariadb-client"),
    ("sysbench", "sysbench"),
    ("gcc", "gcc"),
    ("pkg-config", "pkg-config"),
    ("python3", "python3"),
];

/// The same, of clients that are skipped by name where they cannot be had.
const OPTIONAL: &[(&str, &str)] = &[("chromium", "chromium"), ("chromedriver", "chromium-driver"), ("prometheus", "prometheus")];

/// Installs what is missing; tells what it did, or the first thing that failed.
pub fn all(root: &Path, folder: &Path) -> Result<String, String> {
    let mut told = Vec::new();
    packages(&mut told)?;
    optional_packages(&mut told);
    python(root, folder, &mut told)?;
    Ok(if told.is_empty() { "nothing was missing\n".into() } else { told.join("\n") + "\n" })
}

/// rustfmt and clippy.
pub fn components() -> Result<(), String> {
    for (program, component) in [("cargo-fmt", "rustfmt"), ("clippy-driver", "clippy")] {
        let works = Command::new(program).arg("--version").output().is_ok_and(|o| o.status.success());
        if !works {
            quiet(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}

fn packages(told: &mut Vec<String>) -> Result<(), String> {
    let mut missing: Vec<&str> = PROGRAMS.iter().filter(|(program, _)| !on_path(program)).map(|(_, package)| *package).collect();
    if !works("python3", &["-c", "import venv, ensurepip"]) {
        missing.push("python3-venv");
    }
    let header = "import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_paths()['include'] + '/Python.h'))";
    if !works("python3", &["-c", header]) {
        missing.push("python3-dev");
    }
    let client_library = ["mysqlclient", "mariadb", "libmariadb"].iter().any(|name| works("pkg-config", &["--exists", name]));
    if !client_library {
        missing.push("libmariadb-dev");
    }
    if missing.is_empty() {
        return Ok(());
    }
    debian(&missing)?;
    told.push(format!("packages {}", missing.join(" ")));
    Ok(())
}

fn optional_packages(told: &mut Vec<String>) {
    let missing: Vec<&str> = OPTIONAL.iter().filter(|(program, _)| !on_path(program)).map(|(_, package)| *package).collect();
    if missing.is_empty() {
        return;
    }
    told.push(match debian(&missing) {
        Ok(()) => format!("packages {}", missing.join(" ")),
        Err(why) => format!("not installed: {}: {why}", missing.join(" ")),
    });
}

/// Installs Debian packages.
pub fn debian(packages: &[&str]) -> Result<(), String> {
    if !on_path("apt-get") {
        return Err(format!("apt-get is not here; install these by hand: {}", packages.join(" ")));
    }
    quiet(&mut apt(&["update", "-q"]))?;
    let mut install = vec!["install", "-q", "-y", "--no-install-recommends"];
    install.extend(packages);
    quiet(&mut apt(&install))?;
    Ok(())
}

fn works(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|o| o.status.success())
}

/// apt-get, with sudo unless we are root.
fn apt(arguments: &[&str]) -> Command {
    let root = quiet(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    let mut command = if root {
        Command::new("env")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", "env"]);
        sudo
    };
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get"]).args(arguments);
    command
}

/// The interpreter that has the drivers.
pub fn interpreter(folder: &Path) -> PathBuf {
    folder.join("venv/bin/python")
}

/// What the runners of `cargo xtask clients --runners` use beside the drivers.
pub fn for_runners(root: &Path, folder: &Path) -> Result<(), String> {
    pip(folder, &root.join("tests/clients/requirements-runners.txt"))
}

fn pip(folder: &Path, wanted: &Path) -> Result<(), String> {
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    quiet(Command::new(interpreter(folder)).args(pip).arg(wanted)).map(drop)
}

fn python(root: &Path, folder: &Path, told: &mut Vec<String>) -> Result<(), String> {
    let wanted = root.join("tests/clients/requirements.txt");
    let stamp = folder.join("venv/installed.txt");
    let text = std::fs::read_to_string(&wanted).map_err(|e| format!("{}: {e}", wanted.display()))?;
    if std::fs::read_to_string(&stamp).is_ok_and(|have| have == text) {
        return Ok(());
    }
    std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    quiet(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder.join("venv")))?;
    pip(folder, &wanted)?;
    std::fs::write(&stamp, text).map_err(|e| format!("{}: {e}", stamp.display()))?;
    told.push("Python drivers".into());
    Ok(())
}
