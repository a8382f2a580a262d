//! A real MySQL as a source, from the tree `mysql97` below the directory that `PEERS_ROOT` names, with a data directory of its own there.
//!
//! It needs the right to change the root directory; without it, or without the tree, there is no such source.

use super::{Outcome, text};
use mysql::prelude::Queryable;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const START_MAX: Duration = Duration::from_secs(60);

/// The source; it ends with this.
pub struct Source {
    process: Child,
    home: PathBuf,
    socket: PathBuf,
    pub port: u16,
}

fn inside(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("chroot");
    command.args(["--userspec=mysql:mysql"]).arg(root).args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
    // A directory for temporary files outside is none inside.
    command.stderr(Stdio::null()).env_remove("TMPDIR");
    command
}

fn free_port() -> Outcome<u16> {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).map_err(text)?;
    listener.local_addr().map(|address| address.port()).map_err(text)
}

impl Source {
    /// Starts it; `None`: it cannot be had here.
    ///
    /// # Errors
    /// It is there, and does not start.
    pub fn start() -> Outcome<Option<Self>> {
        let Some(root) = std::env::var_os("PEERS_ROOT") else { return Ok(None) };
        let root = PathBuf::from(root).join("mysql97");
        if !root.join("usr/sbin/mysqld").exists() {
            return Ok(None);
        }
        let name = format!("heddle-source-{}", std::process::id());
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
        let port = free_port()?;
        let (socket, pid) = (format!("--socket=/{name}/run/s"), format!("--pid-file=/{name}/run/p"));
        let listen = format!("--port={port}");
        let arguments = [
            "/usr/sbin/mysqld",
            "--no-defaults",
            &data,
            &socket,
            &pid,
            &listen,
            "--bind-address=127.0.0.1",
            "--mysqlx=OFF",
            "--server-id=77",
            "--gtid-mode=ON",
            "--enforce-gtid-consistency=ON",
            "--innodb-flush-log-at-trx-commit=0",
            "--sync-binlog=0",
        ];
        let process = inside(&root, &arguments).spawn().map_err(text)?;
        let peer = Self { process, socket: home.join("run/s"), home, port };
        let until = Instant::now() + START_MAX;
        let mut client = loop {
            match peer.connect() {
                Ok(client) => break client,
                Err(why) if Instant::now() > until => return Err(why),
                Err(_) => std::thread::sleep(Duration::from_millis(200)),
            }
        };
        // For clients over TCP. The replica has an account of this name, so it is not in the stream.
        for statement in
            ["SET sql_log_bin = 0", "CREATE USER root@'127.0.0.1' IDENTIFIED BY ''", "GRANT ALL ON *.* TO root@'127.0.0.1'"]
        {
            client.query_drop(statement).map_err(text)?;
        }
        Ok(Some(peer))
    }

    pub fn connect(&self) -> Outcome<mysql::Conn> {
        let options = mysql::OptsBuilder::new().socket(self.socket.to_str()).user(Some("root"));
        mysql::Conn::new(options).map_err(text)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.home);
    }
}
