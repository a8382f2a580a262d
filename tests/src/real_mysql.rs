//! A real MySQL for tests of replication, from the tree `mysql97` below the directory that `PEERS_ROOT` names, with a data directory of its own there.
//!
//! It needs the right to change the root directory; without it, or without the tree, there is no such server.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const START_MAX: Duration = Duration::from_secs(60);

/// The server; it ends with this.
pub struct MySql {
    process: Child,
    home: PathBuf,
    socket: PathBuf,
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

fn inside(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("chroot");
    command.args(["--userspec=mysql:mysql"]).arg(root).args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    // A directory for temporary files outside is none inside.
    command.stderr(Stdio::null()).env_remove("TMPDIR");
    command
}

impl MySql {
    /// Starts it with GTIDs and these options more; `None`: it cannot be had here. `purpose` names its directory.
    ///
    /// # Errors
    /// It is there, and does not start.
    pub fn start(purpose: &str, more: &[&str]) -> Result<Option<Self>, String> {
        let Some(root) = std::env::var_os("PEERS_ROOT") else { return Ok(None) };
        let root = PathBuf::from(root).join("mysql97");
        if !root.join("usr/sbin/mysqld").exists() {
            return Ok(None);
        }
        let name = format!("heddle-{purpose}-{}", std::process::id());
        let home = root.join(&name);
        std::fs::create_dir_all(home.join("run")).map_err(text)?;
        let owned = Command::new("chroot").arg(&root).args(["chown", "-R", "mysql:mysql", &format!("/{name}")]).status();
        if !owned.is_ok_and(|status| status.success()) {
            let _ = std::fs::remove_dir_all(&home);
            return Ok(None);
        }
        let data = format!("--datadir=/{name}/data");
        let made =
            inside(&root, &["/usr/sbin/mysqld", "--no-defaults", "--initialize-insecure", &data]).status().map_err(text)?;
        if !made.success() {
            let _ = std::fs::remove_dir_all(&home);
            return Err(format!("mysqld --initialize-insecure: {made}"));
        }
        let (socket, pid) = (format!("--socket=/{name}/run/s"), format!("--pid-file=/{name}/run/p"));
        let arguments = [
            "/usr/sbin/mysqld",
            "--no-defaults",
            &data,
            &socket,
            &pid,
            "--mysqlx=OFF",
            "--server-id=77",
            "--gtid-mode=ON",
            "--enforce-gtid-consistency=ON",
            "--innodb-flush-log-at-trx-commit=0",
            "--sync-binlog=0",
        ];
        let process = inside(&root, &arguments).args(more).spawn().map_err(text)?;
        let peer = Self { process, socket: home.join("run/s"), home };
        let until = Instant::now() + START_MAX;
        loop {
            match peer.connect() {
                Ok(_) => return Ok(Some(peer)),
                Err(why) if Instant::now() > until => return Err(why),
                Err(_) => std::thread::sleep(Duration::from_millis(200)),
            }
        }
    }

    /// A connection as root, by its socket.
    ///
    /// # Errors
    /// It does not answer.
    pub fn connect(&self) -> Result<mysql::Conn, String> {
        let options = mysql::OptsBuilder::new().socket(self.socket.to_str()).user(Some("root"));
        mysql::Conn::new(options).map_err(text)
    }
}

impl Drop for MySql {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.home);
    }
}
