//! `cargo xtask package`: a Debian package, checksums, and a list of the libraries in the program.
//!
//! 1. The program is built with the release profile, or `--binary` names one.
//! 2. The files of `packaging/debian` and the program make a tree, and `dpkg-deb` makes the package of it.
//! 3. [`sbom`] lists the libraries; `SHA256SUMS` has the checksums of both files.
//! 4. [`check`] looks into the package; with `--test`, [`chroot`] installs, starts, upgrades, removes and purges it.

mod chroot;
mod sbom;

use crate::proc::{cargo, on_path, quiet, target};
use crate::step::{Counting, Steps};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub struct Options {
    /// A program that was built already [default: the release profile builds one]
    #[arg(long, value_name = "PATH")]
    binary: Option<PathBuf>,
    /// Install, start, upgrade, remove and purge the package in a fresh Debian system below the target folder (root, debootstrap)
    #[arg(long)]
    test: bool,
}

/// Makes the package; true when all checks passed.
pub fn run(root: &Path, options: &Options) -> Result<bool, String> {
    let steps = Steps::new(target(root).join("ci"))?;
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => {
            quiet(&mut cargo(root, &["build", "--release", "--package", "heddle"]))?;
            target(root).join("release/heddle")
        }
    };
    let out = target(root).join("package");
    let package = Package { root, binary: &binary, out: &out, version: version(root)?, is_quick: false };
    let deb = package.make()?;
    let list = sbom::write(root, &out, &package.version)?;
    let sums = quiet(Command::new("sha256sum").args([file_name(&deb), file_name(&list)]).current_dir(&out))?;
    fs::write(out.join("SHA256SUMS"), sums).map_err(|e| format!("SHA256SUMS: {e}"))?;
    println!("{}\n{}\n{}", deb.display(), list.display(), out.join("SHA256SUMS").display());
    steps.run_with("package", Counting::Lines, || check(&deb, &list));
    if options.test {
        match chroot::missing() {
            Some(why) => steps.skip("package in a chroot", &why),
            None => {
                steps.run_with("package in a chroot", Counting::Lines, || chroot::test(&package, &deb));
            }
        }
    }
    Ok(steps.finish())
}

/// The step of `cargo xtask ci`: a package of the program of the tests, and a look into it.
pub fn step(root: &Path, steps: &Steps) {
    if let Some(program) = ["dpkg-deb", "sha256sum"].into_iter().find(|program| !on_path(program)) {
        return steps.skip("package", &format!("there is no {program}"));
    }
    steps.run_with("package", Counting::Lines, || {
        let (binary, out) = (target(root).join("debug/heddle"), target(root).join("package-ci"));
        let package = Package { root, binary: &binary, out: &out, version: version(root)?, is_quick: true };
        let deb = package.make()?;
        check(&deb, &sbom::write(root, &out, &package.version)?)
    });
}

/// The version of the workspace.
fn version(root: &Path) -> Result<String, String> {
    let text = fs::read_to_string(root.join("Cargo.toml")).map_err(|e| format!("Cargo.toml: {e}"))?;
    let manifest: toml::Table = text.parse().map_err(|e| format!("Cargo.toml: {e}"))?;
    let version = manifest.get("workspace").and_then(|w| w.get("package")).and_then(|p| p.get("version"));
    version.and_then(toml::Value::as_str).map(str::to_owned).ok_or_else(|| "Cargo.toml has no version".to_owned())
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A package to be made.
struct Package<'a> {
    root: &'a Path,
    binary: &'a Path,
    out: &'a Path,
    version: String,
    /// Compressed little.
    is_quick: bool,
}

/// Files of the package: where they come from, where they go, who may what.
const FILES: &[(&str, &str, u32)] = &[
    ("packaging/debian/heddle.service", "usr/lib/systemd/system/heddle.service", 0o644),
    ("packaging/debian/heddle.toml", "etc/heddle/heddle.toml", 0o644),
    ("LICENSE", "usr/share/doc/heddle/copyright", 0o644),
    ("docs/INSTALL.md", "usr/share/doc/heddle/INSTALL.md", 0o644),
    ("packaging/debian/postinst", "DEBIAN/postinst", 0o755),
    ("packaging/debian/prerm", "DEBIAN/prerm", 0o755),
    ("packaging/debian/postrm", "DEBIAN/postrm", 0o755),
];
const PROGRAM: &str = "usr/bin/heddle";
const MANUAL: &str = "usr/share/man/man8/heddle.8.gz";
const SETTINGS: &str = "/etc/heddle/heddle.toml";

impl Package<'_> {
    /// Makes `heddle_VERSION_ARCHITECTURE.deb`.
    fn make(&self) -> Result<PathBuf, String> {
        let architecture = quiet(Command::new("dpkg").arg("--print-architecture"))?.trim().to_owned();
        let tree = self.out.join("tree");
        let _ = fs::remove_dir_all(&tree);
        for (from, to, mode) in FILES {
            place(&self.root.join(from), &tree.join(to), *mode)?;
        }
        place(self.binary, &tree.join(PROGRAM), 0o755)?;
        if on_path("strip") {
            // Names of functions stay, for profiles.
            quiet(Command::new("strip").arg("--strip-debug").arg(tree.join(PROGRAM)))?;
        }
        let manual = tree.join(MANUAL);
        place(&self.root.join("packaging/debian/heddle.8"), &manual.with_extension(""), 0o644)?;
        quiet(Command::new("gzip").args(["-9", "--no-name"]).arg(manual.with_extension("")))?;
        let write =
            |name: &str, text: String| fs::write(tree.join("DEBIAN").join(name), text).map_err(|e| format!("{name}: {e}"));
        write("conffiles", format!("{SETTINGS}\n"))?;
        write("control", self.control(&tree, &architecture)?)?;
        let deb = self.out.join(format!("heddle_{}_{architecture}.deb", self.version));
        let compression: &[&str] = if self.is_quick { &["-Zgzip", "-z1"] } else { &["-Zxz"] };
        // The same sources make the same bytes.
        let time = quiet(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(self.root))?;
        let mut command = Command::new("dpkg-deb");
        command.env("SOURCE_DATE_EPOCH", time.trim()).arg("--root-owner-group").args(compression).arg("--build");
        quiet(command.arg(&tree).arg(&deb))?;
        Ok(deb)
    }

    fn control(&self, tree: &Path, architecture: &str) -> Result<String, String> {
        let kilobytes = quiet(Command::new("du").args(["--summarize", "--apparent-size", "--block-size=1024"]).arg(tree))?;
        let kilobytes = kilobytes.split_whitespace().next().unwrap_or("0");
        let libc = glibc(&fs::read(tree.join(PROGRAM)).map_err(|e| format!("{PROGRAM}: {e}"))?);
        let version = &self.version;
        Ok(format!(
            "Package: heddle\nVersion: {version}\nArchitecture: {architecture}\nSection: database\nPriority: optional\n\
             Maintainer: The Heddle project <heddle@localhost>\nInstalled-Size: {kilobytes}\n\
             Depends: libc6 (>= {libc}), libgcc-s1, passwd, util-linux\nSuggests: mariadb-client | default-mysql-client\n\
             Provides: virtual-mysql-server\nConflicts: virtual-mysql-server\n\
             Description: MySQL-compatible transactional database server\n \
             Heddle speaks MySQL's protocol and SQL, keeps its data in one directory, and recovers\n \
             by itself after a crash. The service is heddle.service; the settings are in\n /etc/heddle/heddle.toml.\n"
        ))
    }
}

fn place(from: &Path, to: &Path, mode: u32) -> Result<(), String> {
    let placed = || -> std::io::Result<()> {
        let folder = to.parent().expect("it is below the tree");
        fs::create_dir_all(folder)?;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
        fs::copy(from, to)?;
        fs::set_permissions(to, fs::Permissions::from_mode(mode))
    };
    placed().map_err(|e| format!("{} to {}: {e}", from.display(), to.display()))
}

/// The newest version of the C library that a program names.
fn glibc(program: &[u8]) -> String {
    const NAME: &[u8] = b"GLIBC_2.";
    let minor = |at: usize| {
        let digits = program[at + NAME.len()..].iter().take_while(|byte| byte.is_ascii_digit()).take(3);
        digits.fold(0u32, |number, digit| number * 10 + u32::from(digit - b'0'))
    };
    let newest = program.windows(NAME.len()).enumerate().filter(|(_, name)| *name == NAME).map(|(at, _)| minor(at)).max();
    format!("2.{}", newest.unwrap_or(0))
}

/// Looks into a package and a list of libraries. The output has a line for each check.
fn check(deb: &Path, list: &Path) -> Result<(bool, String), String> {
    let mut checks = Checks::default();
    let fields = quiet(Command::new("dpkg-deb").arg("--field").arg(deb))?;
    for field in ["Package: heddle", "Provides: virtual-mysql-server", "Conflicts: virtual-mysql-server", "Depends: libc6 (>= 2."]
    {
        checks.that(field, fields.lines().any(|line| line.starts_with(field)), &fields);
    }
    let contents = quiet(Command::new("dpkg-deb").arg("--contents").arg(deb))?;
    let installed = FILES.iter().filter(|(_, to, _)| !to.starts_with("DEBIAN/")).map(|(_, to, _)| (*to, "-rw-r--r-- root/root"));
    for (path, mode) in installed.chain([(PROGRAM, "-rwxr-xr-x root/root"), (MANUAL, "-rw-r--r-- root/root")]) {
        let line = contents.lines().find(|line| line.ends_with(&format!(" ./{path}"))).unwrap_or_default();
        checks.that(&format!("{path} is {mode}"), line.starts_with(mode), line);
    }
    let scripts = deb.with_file_name("control");
    let _ = fs::remove_dir_all(&scripts);
    quiet(Command::new("dpkg-deb").arg("--control").arg(deb).arg(&scripts))?;
    for name in ["postinst", "prerm", "postrm"] {
        let parsed = quiet(Command::new("sh").arg("-n").arg(scripts.join(name)));
        checks.that(&format!("{name} is a shell script"), parsed.is_ok(), &parsed.err().unwrap_or_default());
    }
    let conffiles = fs::read_to_string(scripts.join("conffiles")).unwrap_or_default();
    checks.that("the settings are a conffile", conffiles.trim() == SETTINGS, &conffiles);
    for (what, result) in sbom::check(list)? {
        checks.that(what, result, "");
    }
    Ok(checks.result())
}

/// Lines `ok NAME` and `FAIL NAME`.
#[derive(Default)]
struct Checks {
    text: String,
    failed: bool,
}

impl Checks {
    fn that(&mut self, name: &str, holds: bool, otherwise: &str) {
        self.failed |= !holds;
        if holds {
            self.text.push_str(&format!("ok {name}\n"));
        } else {
            self.text.push_str(&format!("FAIL {name}: {otherwise}\n"));
        }
    }

    fn result(self) -> (bool, String) {
        (!self.failed, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_library_is_found() {
        assert_eq!(glibc(b"\0GLIBC_2.9\0GLIBC_2.34\0GLIBC_2.2.5\0"), "2.34");
        assert_eq!(glibc(b"static"), "2.0");
    }
}
