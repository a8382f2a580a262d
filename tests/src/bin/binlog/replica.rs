//! A real MySQL as replica of the server, from the tree `mysql97` below the directory that `PEERS_ROOT` names, with a data directory of its own there.
//!
//! It needs the right to change the root directory; without it, or without the tree, there is no such replica.

use mysql::prelude::Queryable;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tests::Server;

type Outcome<T = ()> = Result<T, String>;

const START_MAX: Duration = Duration::from_secs(60);
const CATCH_UP_MAX: u64 = 60;

/// The replica; it ends with this.
pub struct Peer {
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

impl Peer {
    /// Starts it as a replica of the server at `port`; `None`: it cannot be had here.
    ///
    /// # Errors
    /// It is there, and does not start.
    pub fn start(port: u16) -> Outcome<Option<Self>> {
        let Some(root) = std::env::var_os("PEERS_ROOT") else { return Ok(None) };
        let root = PathBuf::from(root).join("mysql97");
        if !root.join("usr/sbin/mysqld").exists() {
            return Ok(None);
        }
        let name = format!("heddle-binlog-{}", std::process::id());
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
            return Err(format!("mysqld --initialize-insecure: {made}"));
        }
        let (socket, pid) = (format!("--socket=/{name}/run/s"), format!("--pid-file=/{name}/run/p"));
        let arguments = [
            "/usr/sbin/mysqld",
            "--no-defaults",
            &data,
            &socket,
            &pid,
            "--skip-networking",
            "--mysqlx=OFF",
            "--server-id=77",
            "--gtid-mode=ON",
            "--enforce-gtid-consistency=ON",
            "--innodb-flush-log-at-trx-commit=0",
            "--sync-binlog=0",
        ];
        let process = inside(&root, &arguments).spawn().map_err(text)?;
        let peer = Self { process, socket: home.join("run/s"), home };
        let until = Instant::now() + START_MAX;
        let mut client = loop {
            match peer.connect() {
                Ok(client) => break client,
                Err(why) if Instant::now() > until => return Err(why),
                Err(_) => std::thread::sleep(Duration::from_millis(200)),
            }
        };
        let change = format!(
            "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, SOURCE_USER = 'replica', SOURCE_PASSWORD = 'pw', \
             SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_SSL = 0, SOURCE_CONNECT_RETRY = 1, SOURCE_RETRY_COUNT = 1000"
        );
        client.query_drop(change).map_err(text)?;
        client.query_drop("START REPLICA").map_err(text)?;
        Ok(Some(peer))
    }

    fn connect(&self) -> Outcome<mysql::Conn> {
        let options = mysql::OptsBuilder::new().socket(self.socket.to_str()).user(Some("root"));
        mysql::Conn::new(options).map_err(text)
    }

    /// Waits until it has everything, and compares its tables with the server's.
    pub fn compare(&mut self, server: &Server) -> Outcome {
        let (mut source, mut replica) = (server.connect().map_err(text)?, self.connect()?);
        let set: Option<String> = source.query_first("SELECT @@gtid_executed").map_err(text)?;
        let set = set.ok_or("no set")?;
        let waited: Option<i64> = replica
            .query_first(format!("SELECT WAIT_FOR_EXECUTED_GTID_SET('{}', {CATCH_UP_MAX})", set.replace('\n', "")))
            .map_err(text)?;
        if waited != Some(0) {
            let why: Vec<String> = replica
                .query(
                    "SELECT last_error_message FROM performance_schema.replication_applier_status_by_worker WHERE last_error_number <> 0 \
                     UNION SELECT CONCAT(service_state, ' ', last_error_message) FROM performance_schema.replication_connection_status",
                )
                .map_err(text)?;
            return Err(format!("it does not catch up: {why:?}"));
        }
        for table in ["parent", "child", "noted"] {
            let statement = format!("SELECT * FROM b.{table} ORDER BY id");
            let (here, there): (Vec<mysql::Row>, Vec<mysql::Row>) =
                (source.query(&statement).map_err(text)?, replica.query(&statement).map_err(text)?);
            let values = |rows: Vec<mysql::Row>| rows.into_iter().map(mysql::Row::unwrap).collect::<Vec<_>>();
            let (here, there) = (values(here), values(there));
            if here != there {
                return Err(format!("b.{table}: {} rows here, {} there", here.len(), there.len()));
            }
        }
        Ok(())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.home);
    }
}
