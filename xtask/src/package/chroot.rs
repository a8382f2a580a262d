//! The package in a fresh Debian system: installed, started, asked, upgraded, removed, purged, installed again. Then the program as the entrypoint of a
//! container.
//!
//! The system is made once by debootstrap, in `target/package/base`, and copied for each test. Nothing but files is separate from this machine,
//! so the server listens on its unix socket alone.

use super::{Checks, Package, file_name};
use crate::proc::{on_path, quiet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const ROOT_FILE: &str = "etc/heddle/root.cnf";
const SETTINGS: &str = "etc/heddle/heddle.toml";

/// Why the test cannot run here.
pub fn missing() -> Option<String> {
    let is_root = quiet(Command::new("id").arg("-u")).is_ok_and(|id| id.trim() == "0");
    if !is_root {
        return Some("it needs root".to_owned());
    }
    let program = ["debootstrap", "chroot", "dpkg-deb", "mariadb"].into_iter().find(|program| !on_path(program));
    program.map(|program| format!("there is no {program}"))
}

/// Runs the test; the output has a line for each check.
pub fn test(package: &Package<'_>, deb: &Path) -> Result<(bool, String), String> {
    let system = System::new(package.out)?;
    let mut checks = Checks::default();
    let installed = system.install(deb);
    checks.that("the package is installed", installed.is_ok(), &failure(&installed));
    installed?;
    files(&system, &mut checks)?;
    let mut server = system.start()?;
    let answer = system.ask("SELECT CURRENT_USER()");
    checks.that("root logs in with the password of the file", answer.as_deref() == Ok("root@localhost"), &format!("{answer:?}"));
    let stranger = system.client(&["--user=root"], "SELECT 1");
    checks.that("root does not log in without a password", stranger.is_err(), &format!("{stranger:?}"));
    system.ask("CREATE DATABASE shop; CREATE TABLE shop.t (id INT PRIMARY KEY); INSERT INTO shop.t VALUES (1), (2), (3)")?;

    let password = system.read(ROOT_FILE);
    let changed = system.read(SETTINGS) + "\n# of the administrator\nmax-connections = 77\n";
    fs::write(system.root.join(SETTINGS), &changed).map_err(|e| format!("{SETTINGS}: {e}"))?;
    let newer = Package { version: format!("{}+1", package.version), is_quick: true, ..*package }.make()?;
    let upgraded = system.install(&newer);
    checks.that("the package is upgraded beside a running server", upgraded.is_ok(), &failure(&upgraded));
    server.stop(&mut checks);
    checks.that("an upgrade keeps the administrator's settings", system.read(SETTINGS) == changed, &system.read(SETTINGS));
    checks.that("an upgrade keeps root's password", system.read(ROOT_FILE) == password, "");
    server = system.start()?;
    let answer = system.ask("SELECT CONCAT(COUNT(*), ' ', @@max_connections) FROM shop.t");
    checks.that("the upgraded server has the data and the settings", answer.as_deref() == Ok("3 77"), &format!("{answer:?}"));
    server.stop(&mut checks);

    system.dpkg(&["--remove", "heddle"])?;
    checks.that("a removal takes the program", !system.has("usr/bin/heddle"), "");
    checks.that("a removal keeps settings and data", system.has(SETTINGS) && system.has("var/lib/heddle/heddle.control"), "");
    let said = system.dpkg(&["--purge", "heddle"])?;
    checks.that("a purge takes the settings", !system.has("etc/heddle"), "");
    checks.that("a purge keeps the data and says where", said.contains("the data are still in /var/lib/heddle"), &said);
    system.install(deb)?;
    checks.that("a later installation has the password of the data", system.read(ROOT_FILE) == password, "");
    server = system.start()?;
    let answer = system.ask("SELECT COUNT(*) FROM shop.t");
    checks.that("a later installation has the data", answer.as_deref() == Ok("3"), &format!("{answer:?}"));
    server.stop(&mut checks);
    fs::remove_dir_all(system.root.join("var/lib/heddle")).map_err(|e| format!("var/lib/heddle: {e}"))?;
    system.dpkg(&["--purge", "heddle"])?;
    let users = system.read("etc/passwd");
    checks.that("a purge without data takes the user", !users.contains("heddle") && !system.has("var/lib/heddle"), &users);
    container(&system, package.binary, &mut checks)?;
    Ok(checks.result())
}

/// The entrypoint as the image has it: root starts it by the name of the official one, with a secret that only root can read.
fn container(system: &System, binary: &Path, checks: &mut Checks) -> Result<(), String> {
    let put = |name: &str, text: &str, mode: u32| {
        let path = system.root.join(name);
        let written = fs::write(&path, text).and_then(|()| fs::set_permissions(&path, fs::Permissions::from_mode(mode)));
        written.map_err(|e| format!("{name}: {e}"))
    };
    system.run(&["groupadd", "--system", "mysql"])?;
    system.run(&["useradd", "--system", "--gid", "mysql", "--no-create-home", "mysql"])?;
    system.run(&["mkdir", "/docker-entrypoint-initdb.d", "/run/mysqld"])?;
    system.run(&["chown", "mysql:mysql", "/run/mysqld"])?;
    fs::copy(binary, system.root.join("usr/local/bin/heddle")).map_err(|e| format!("usr/local/bin/heddle: {e}"))?;
    system.run(&["ln", "-s", "heddle", "/usr/local/bin/docker-entrypoint.sh"])?;
    put("secret", "root-secret\n", 0o600)?;
    put("docker-entrypoint-initdb.d/1.sql", "CREATE TABLE t (id INT PRIMARY KEY); INSERT INTO t VALUES (1), (2);", 0o644)?;
    put("docker-entrypoint-initdb.d/2.sh", "test -S /var/run/mysqld/mysqld.sock && id -un > /var/lib/mysql/who\n", 0o644)?;
    for first in [true, false] {
        let mut command = system.command(&["/usr/local/bin/docker-entrypoint.sh", "mysqld", "--skip-networking"]);
        command.envs([("MYSQL_ROOT_PASSWORD_FILE", "/secret"), ("MYSQL_DATABASE", "shop"), ("HEDDLE_CONSOLE", "off")]);
        let mut server = system.serve(command, if first { 2 } else { 1 })?;
        let mut client = Command::new("mariadb");
        client.args(["--no-defaults", "--user=root", "--socket=run/mysqld/mysqld.sock", "--batch", "--skip-column-names"]);
        client.args(["--execute", "SELECT COUNT(*) FROM shop.t"]).env("MYSQL_PWD", "root-secret").current_dir(&system.root);
        let answer = quiet(&mut client).map(|text| text.trim().to_owned());
        checks.that("the entrypoint serves what its first start has made", answer.as_deref() == Ok("2"), &format!("{answer:?}"));
        let status = fs::read_to_string(format!("/proc/{}/status", server.0.id())).unwrap_or_default();
        let user = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
        checks.that("the entrypoint goes on as another user than root", !user.is_empty() && !user.contains("\t0"), user);
        server.stop(checks);
    }
    let who = system.read("var/lib/mysql/who");
    checks.that("programs of the first start find the socket, and are not root", who.trim() == "mysql", &who);
    Ok(())
}

fn failure(result: &Result<String, String>) -> String {
    result.as_ref().err().cloned().unwrap_or_default()
}

/// What the installation has made, and who may read it.
fn files(system: &System, checks: &mut Checks) -> Result<(), String> {
    let mode = |path: &str| fs::metadata(system.root.join(path)).map_or(0, |metadata| metadata.permissions().mode() & 0o777);
    checks.that("the password is for root alone", mode(ROOT_FILE) == 0o600, &format!("{:o}", mode(ROOT_FILE)));
    checks.that("the data are for the server alone", mode("var/lib/heddle") == 0o700, &format!("{:o}", mode("var/lib/heddle")));
    checks.that("the data have been made", system.has("var/lib/heddle/heddle.control"), "");
    let dry = system.run(&["/usr/bin/heddle", "serve", "--dry-run", "--config", "/etc/heddle/heddle.toml"])?;
    checks.that("a dry run finds the data", dry.contains("/var/lib/heddle: would be opened"), &dry);
    Ok(())
}

/// A Debian system in a folder.
struct System {
    root: PathBuf,
}

impl System {
    fn new(out: &Path) -> Result<Self, String> {
        let (base, root) = (out.join("base"), out.join("system"));
        if !base.join("etc/debian_version").exists() {
            let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
            let name = release.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME=")).unwrap_or("stable");
            let unfinished = out.join("base.part");
            let _ = fs::remove_dir_all(&unfinished);
            quiet(Command::new("debootstrap").args(["--variant=minbase", name]).arg(&unfinished))?;
            fs::rename(&unfinished, &base).map_err(|e| format!("{}: {e}", base.display()))?;
        }
        let _ = fs::remove_dir_all(&root);
        quiet(Command::new("cp").arg("--archive").arg(&base).arg(&root))?;
        Ok(Self { root })
    }

    fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.root.join(path)).unwrap_or_default()
    }

    /// A command within the system.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("chroot");
        command.arg(&self.root).args(words).env_clear().current_dir("/");
        command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").envs([("DEBIAN_FRONTEND", "noninteractive"), ("LC_ALL", "C")]);
        command
    }

    fn run(&self, words: &[&str]) -> Result<String, String> {
        quiet(&mut self.command(words))
    }

    fn dpkg(&self, words: &[&str]) -> Result<String, String> {
        self.run(&[&["dpkg"], words].concat())
    }

    fn install(&self, deb: &Path) -> Result<String, String> {
        let name = file_name(deb);
        fs::copy(deb, self.root.join(&name)).map_err(|e| format!("{name}: {e}"))?;
        self.dpkg(&["--install", &format!("/{name}")])
    }

    /// Starts the server as the package says it is started without systemd.
    fn start(&self) -> Result<Server, String> {
        self.run(&["install", "-d", "-o", "heddle", "-g", "heddle", "/run/heddle"])?;
        let words = ["setpriv", "--reuid=heddle", "--regid=heddle", "--clear-groups", "/usr/bin/heddle", "serve"];
        let mut command = self.command(&[&words[..], &["--config", "/etc/heddle/heddle.toml"]].concat());
        command.envs([("HEDDLE_TCP", "off"), ("HEDDLE_CONSOLE", "off")]);
        self.serve(command, 1)
    }

    /// Starts a server and waits until it has said so many times that it is ready.
    fn serve(&self, mut command: Command, times: usize) -> Result<Server, String> {
        let log = fs::File::create(self.root.join("server.log")).map_err(|e| format!("server.log: {e}"))?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        let server = Server(command.spawn().map_err(|e| format!("chroot: {e}"))?);
        let until = Instant::now() + PATIENCE;
        while self.read("server.log").matches("ready for connections").count() < times {
            if Instant::now() > until {
                return Err(format!("the server does not start:\n{}", self.read("server.log")));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Asks the server as root does with the file of the password.
    fn ask(&self, statement: &str) -> Result<String, String> {
        self.client(&["--defaults-file=etc/heddle/root.cnf"], statement)
    }

    /// The client of this machine at the socket of the system, whose path within the folder is short enough.
    fn client(&self, words: &[&str], statement: &str) -> Result<String, String> {
        let first =
            if words.first().is_some_and(|word| word.starts_with("--defaults")) { &[][..] } else { &["--no-defaults"][..] };
        let mut command = Command::new("mariadb");
        command.args(first).args(words).args([
            "--socket=run/heddle/heddle.sock",
            "--batch",
            "--skip-column-names",
            "--execute",
            statement,
        ]);
        quiet(command.current_dir(&self.root)).map(|text| text.trim().to_owned())
    }
}

/// A server within the system; `chroot` and `setpriv` become it.
struct Server(Child);

impl Server {
    fn stop(&mut self, checks: &mut Checks) {
        let _ = quiet(Command::new("kill").arg(self.0.id().to_string()));
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Ok(Some(status)) = self.0.try_wait() {
                checks.that("the server stops in good order", status.success(), &status.to_string());
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        checks.that("the server stops in good order", false, "it does not stop");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
