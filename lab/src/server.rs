//! One server of a run: its control connection, its database, what it tells of itself.
//!
//! S1: the lab drops only a database that it has made: one of the same name that has not the lab's mark is refused.

use crate::client::Client;
use crate::error::{Error, Result};
use crate::machine;
use crate::own::Own;
use crate::report::ServerInfo;
use crate::target::{Dialect, Target};
use crate::workload::{self, Workload};
use std::time::Duration;

/// A statement of the control connection that takes longer has met something that holds it up.
const PATIENCE: Duration = Duration::from_secs(120);
/// The lab's mark in a database of MySQL's kind: a table; in PostgreSQL a comment.
const MARK: &str = "made_by_heddle_bench";
const VARIABLES: &[&str] = &[
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "log_bin",
    "max_connections",
    "max_prepared_stmt_count",
    "performance_schema",
    "sync_binlog",
    "transaction_isolation",
    "tx_isolation",
];

/// A server that is measured.
pub struct Server {
    pub target: Target,
    pub own: Option<Own>,
    pub is_heddle: bool,
    pub info: ServerInfo,
    control: Client,
    database: String,
    /// Which data is there
    data: Option<String>,
}

impl Server {
    /// Connects, and asks what it is.
    pub fn open(mut target: Target, own: Option<Own>, database: &str) -> Result<Self> {
        let mut control = Client::open(&target, None)?;
        control.socket.set_patience(Some(PATIENCE))?;
        let first = |control: &mut Client, sql: &str| -> Result<Vec<String>> {
            let rows = control.query(sql)?;
            Ok(rows.into_iter().next().unwrap_or_default().into_iter().map(Option::unwrap_or_default).collect())
        };
        let mut info = ServerInfo { address: target.address(), ..ServerInfo::default() };
        let mut is_heddle = false;
        let kind = match target.dialect {
            Dialect::Postgres => {
                info.version = first(&mut control, "SHOW server_version")?.concat();
                for name in ["shared_buffers", "fsync", "synchronous_commit", "full_page_writes", "default_transaction_isolation"]
                {
                    info.variables.insert(name.into(), first(&mut control, &format!("SHOW {name}"))?.concat());
                }
                "PostgreSQL"
            }
            Dialect::MySql => {
                let told = first(&mut control, "SELECT @@version, @@version_comment")?;
                let [version, comment] = told.as_slice() else { return Err(Error::Protocol("two columns were asked for")) };
                is_heddle = comment.starts_with("Heddle");
                let names = VARIABLES.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
                for row in control.query(&format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ({names})"))? {
                    if let [Some(name), Some(value)] = row.as_slice() {
                        info.variables.insert(name.to_lowercase(), value.clone());
                    }
                }
                info.version = format!("{version}, {comment}");
                match (is_heddle, version.contains("MariaDB")) {
                    (true, _) => "Heddle",
                    (_, true) => "MariaDB",
                    _ => "MySQL",
                }
            }
        };
        if target.name.is_empty() || own.is_some() {
            let short: String = info.version.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
            let short: Vec<&str> = short.split('.').take(2).collect();
            target.name = if is_heddle { "Heddle".into() } else { format!("{kind} {}", short.join(".")) };
        }
        if target.pid.is_none() && ["127.0.0.1", "localhost", "::1"].contains(&target.host.as_str()) {
            target.pid = machine::listener(target.port, target.socket.as_deref());
        }
        info.name.clone_from(&target.name);
        info.pid = target.pid;
        Ok(Self { target, own, is_heddle, info, control, database: database.into(), data: None })
    }

    pub fn control(&mut self) -> &mut Client {
        &mut self.control
    }

    /// Connects the control connection anew, after a restart.
    pub fn reconnect(&mut self) -> Result<()> {
        if let Some(own) = &self.own {
            self.target = Target { name: self.target.name.clone(), ..own.target.clone() };
            self.info.pid = self.target.pid;
        }
        self.control = Client::open(&self.target, None)?;
        self.control.socket.set_patience(Some(PATIENCE))?;
        Ok(())
    }

    fn named(&self) -> impl FnOnce(Error) -> Error + use<> {
        Error::at(self.target.name.clone())
    }

    /// Whether there is a database of the name that the lab has not made.
    fn is_foreign(&mut self) -> Result<bool> {
        let name = &self.database;
        if self.target.dialect == Dialect::Postgres {
            let sql =
                format!("SELECT COALESCE(shobj_description(oid, 'pg_database'), '') FROM pg_database WHERE datname = '{name}'");
            return Ok(self
                .control
                .query(&sql)?
                .first()
                .is_some_and(|row| row.first().cloned().flatten().as_deref() != Some(MARK)));
        }
        let exists = self.control.query(&format!("SELECT 1 FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '{name}'"))?;
        let sql = format!("SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = '{name}' AND TABLE_NAME = '{MARK}'");
        Ok(!exists.is_empty() && self.control.query(&sql)?.is_empty())
    }

    fn mark(&mut self) -> Result<()> {
        match self.target.dialect {
            Dialect::Postgres => self.control.run(&format!("COMMENT ON DATABASE {} IS '{MARK}'", self.database)),
            Dialect::MySql => {
                self.control.run(&format!("CREATE TABLE IF NOT EXISTS `{}`.{MARK} (id INT PRIMARY KEY)", self.database))
            }
        }
    }

    /// Refuses a database that is somebody else's (S1).
    pub fn claim(&mut self) -> Result<()> {
        if self.is_foreign().map_err(self.named())? {
            return Err(Error::asked(format!(
                "{}: there is a database {} that the lab has not made; choose another name with --database",
                self.target.name, self.database
            )));
        }
        Ok(())
    }

    /// Makes the database anew, empty.
    fn empty(&mut self) -> Result<()> {
        self.drop_database()?;
        let charset =
            if self.target.dialect == Dialect::MySql { " CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci" } else { "" };
        self.control.run(&format!("CREATE DATABASE {}{charset}", self.database))?;
        self.mark()
    }

    /// Drops the lab's database.
    pub fn drop_database(&mut self) -> Result<()> {
        self.claim()?;
        self.data = None;
        self.control.run(&format!("DROP DATABASE IF EXISTS {}", self.database)).map_err(self.named())
    }

    /// Makes the data of a workload, unless it is there.
    pub fn prepare(&mut self, workload: &dyn Workload, again: bool, tell: &mut dyn FnMut(f64) -> Result<()>) -> Result<()> {
        let data = workload.data();
        if !again && self.data.as_ref() == Some(&data) {
            return Ok(());
        }
        self.empty()?;
        let mut client = Client::open(&self.target, Some(&self.database))?;
        workload.prepare(&mut client, self.target.dialect, tell).map_err(self.named())?;
        // What wears out is of no use to another workload.
        self.data = (!workload.wears_out()).then_some(data);
        Ok(())
    }

    /// Makes the tables of TPC-C, unless they are there.
    pub fn prepare_tpcc(&mut self, warehouses: u32) -> Result<()> {
        let data = format!("tpcc {warehouses}");
        if self.data.as_ref() == Some(&data) {
            return Ok(());
        }
        self.empty()?;
        workload::tpcc::prepare(&self.target, &self.database, warehouses).map_err(self.named())?;
        self.mark()?;
        self.data = Some(data);
        Ok(())
    }

    /// Asks whether the data is still what it must be.
    pub fn check(&mut self, workload: Option<&dyn Workload>, warehouses: u32) -> Result<()> {
        let outcome = match workload {
            None => workload::tpcc::check(&self.target, &self.database, warehouses),
            Some(workload) => {
                let mut client = Client::open(&self.target, Some(&self.database))?;
                workload::check(workload, &mut client)
            }
        };
        outcome.map_err(self.named())
    }

    /// Where the settings of this server make a comparison unequal.
    pub fn notes(&self) -> Vec<String> {
        let name = &self.target.name;
        let is = |variable: &str, values: &[&str]| {
            self.info.variables.get(variable).is_some_and(|value| values.contains(&value.to_uppercase().as_str()))
        };
        let mut notes = Vec::new();
        let mut note = |condition, text: String| {
            if condition {
                notes.push(text);
            }
        };
        note(
            !self.is_heddle && is("log_bin", &["ON", "1"]),
            format!("{name} writes a binary log, which Heddle has not: it does more work for a commit (log_bin)."),
        );
        note(
            self.info.variables.get("innodb_flush_log_at_trx_commit").is_some_and(|value| value != "1"),
            format!("{name} answers commits before they are on disk (innodb_flush_log_at_trx_commit is not 1)."),
        );
        note(
            is("fsync", &["OFF"]) || is("synchronous_commit", &["OFF"]),
            format!("{name} answers commits before they are on disk."),
        );
        note(
            self.target.pid.is_none(),
            format!("The process of {name} is not known, and so neither is its processor time: give it as ?pid=N."),
        );
        notes
    }
}
