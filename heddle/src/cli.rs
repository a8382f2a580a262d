//! The command line, and its help for people.
//!
//! Values are taken as text here: [`crate::settings`] reads flags, environment and file with one set of rules and one kind of message.

use crate::settings;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::ffi::OsString;

/// What to run.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there is one of it")]
pub enum Command {
    Serve(ServeFlags),
    /// What `serve` would do.
    DryRun(ServeFlags),
    Init(InitFlags),
    /// With the arguments behind the command.
    Entrypoint(Vec<OsString>),
    Check(CheckFlags),
    Topology(TopologyFlags),
    Backup(BackupFlags),
    Restore(RestoreFlags),
    Profile(ProfileFlags),
    Drill(DrillFlags),
    Bench(Box<lab::flags::Flags>),
    Advise(crate::advise::Flags),
    Migrate(migrate::Flags),
}

/// Why nothing is run.
#[derive(Debug)]
pub enum Stop {
    /// Help or version, for standard output.
    Print(String),
    /// One line about what is wrong.
    Fail(String),
}

#[derive(Debug, Parser)]
#[command(
    name = "heddle",
    version,
    about = "Heddle, a MySQL-compatible database server.",
    long_about = "Heddle, a MySQL-compatible transactional database server.\n\nStart it without any arguments: it serves on \
                  127.0.0.1:3306 and on a unix socket, and keeps its data in ./heddle-data. Connect with any MySQL client:\n\n    \
                  heddle\n    mariadb -h 127.0.0.1 -P 3306 -u root",
    after_help = "Run 'heddle serve --help' for all settings.",
    disable_help_subcommand = true
)]
struct Cli {
    #[command(subcommand)]
    command: CliCommand,
}

#[derive(Debug, Subcommand)]
#[allow(clippy::large_enum_variant, reason = "there is one of it")]
enum CliCommand {
    /// Run the server (what 'heddle' does without a command)
    #[command(after_help = SERVE_EXAMPLES, long_about = SERVE_ABOUT)]
    Serve(ServeArguments),
    /// Make a data directory with accounts, a database, and what files of SQL say
    #[command(long_about = INIT_ABOUT, after_help = INIT_EXAMPLES)]
    Init(InitFlags),
    /// Start in a container, by the conventions of the official MySQL image
    #[command(long_about = ENTRYPOINT_ABOUT, disable_help_flag = true)]
    Entrypoint {
        /// mysqld and its options, or another program
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
    /// Check a data directory for damage while no server runs on it
    #[command(long_about = CHECK_ABOUT)]
    Check(CheckFlags),
    /// Show the machine: CPUs, caches, memory, limits
    #[command(long_about = TOPOLOGY_ABOUT)]
    Topology(TopologyFlags),
    /// Take a backup of a running server
    #[command(long_about = BACKUP_ABOUT, after_help = BACKUP_EXAMPLES)]
    Backup(BackupFlags),
    /// Make a data directory of a backup, as it was at the end or at a time
    #[command(long_about = RESTORE_ABOUT, after_help = RESTORE_EXAMPLES)]
    Restore(RestoreFlags),
    /// Draw what a running server's processor time goes to
    #[command(long_about = PROFILE_ABOUT)]
    Profile(ProfileFlags),
    /// Restore the newest backup into a scratch directory, and check it
    #[command(long_about = DRILL_ABOUT)]
    Drill(DrillFlags),
    /// Measure servers beside each other, and explain the result
    #[command(long_about = lab::flags::ABOUT, after_help = lab::flags::EXAMPLES)]
    Bench(Box<lab::flags::Flags>),
    /// Ask a running server what an application does wrong
    #[command(long_about = crate::advise::ABOUT, after_help = crate::advise::EXAMPLES)]
    Advise(crate::advise::Flags),
    /// Move the databases of a running MySQL here, with a way back
    #[command(long_about = migrate::ABOUT, after_help = migrate::EXAMPLES)]
    Migrate(migrate::Flags),
}

const DRILL_ABOUT: &str = "Restore the newest backup of a directory into a scratch directory, let recovery apply the log, check every page, tree, row and index, \
                           and say how old the backup is and how long it took. The scratch directory is removed after a drill that passed. Run it \
                           every night: a backup that was never restored is a hope.";

/// What `heddle drill` is asked.
#[derive(Args, Clone, Debug)]
pub struct DrillFlags {
    /// A directory of backups, or a backup file
    #[arg(long, value_name = "PATH")]
    pub from: std::path::PathBuf,
    /// Where to restore; must be empty or missing [default: a directory in the one for temporary files]
    #[arg(long, value_name = "DIRECTORY")]
    pub scratch: Option<std::path::PathBuf>,
    /// Write the outcome for Prometheus' collector of text files
    #[arg(long, value_name = "FILE")]
    pub metrics: Option<std::path::PathBuf>,
    /// The key of encrypted backups
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<std::path::PathBuf>,
}

const INIT_ABOUT: &str = "Make a data directory with accounts, a database, and what files of SQL say. It is made within the process: nobody can \
                          connect meanwhile, and a directory whose making was interrupted is never served. A directory that has data is refused.

A file ends in .sql, .sql.gz, .sql.zst or .sql.xz (by the program xz); DELIMITER works as in the mysql client. All settings of \
                          'heddle serve' may be given, too.";

const INIT_EXAMPLES: &str = "Examples:
  heddle init --data-dir /srv/heddle --root-password-file /etc/heddle-root
      root@localhost with the password of the file; '-' reads standard input.
  heddle init --data-dir /srv/heddle --root-password-random --database shop --user app --user-password-file app.secret schema.sql data.sql.gz
      A random password of root, printed once; a database, an account with all rights on it, and two files run in that database.";

const ENTRYPOINT_ABOUT: &str = "Start in a container, by the conventions of the official MySQL image: variables MYSQL_ROOT_PASSWORD, MYSQL_DATABASE and \
                                their like, each also with _FILE, and the files of /docker-entrypoint-initdb.d. What follows is 'mysqld' with \
                                its options, options alone, or another program.";

/// What `heddle serve` is asked.
#[derive(Args, Clone, Debug)]
pub struct ServeArguments {
    #[command(flatten)]
    settings: ServeFlags,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

/// What `heddle init` is asked.
#[derive(Args, Clone, Debug)]
#[command(group = clap::ArgGroup::new("root").required(true))]
pub struct InitFlags {
    /// File with root's password, its line end left out; - for standard input
    #[arg(long, value_name = "FILE", group = "root")]
    pub root_password_file: Option<std::path::PathBuf>,
    /// A random password of root, printed once on standard output
    #[arg(long, group = "root")]
    pub root_password_random: bool,
    /// No password of root: everybody on this machine is root then
    #[arg(long, group = "root")]
    pub root_no_password: bool,
    /// From where else root may log in, such as % for everywhere [default: nowhere]
    #[arg(long, value_name = "HOST")]
    pub root_host: Option<String>,
    /// A database to make
    #[arg(long, value_name = "NAME")]
    pub database: Option<String>,
    /// An account to make, with all rights on that database
    #[arg(long, value_name = "NAME", requires = "user_password_file")]
    pub user: Option<String>,
    /// File with its password
    #[arg(long, value_name = "FILE", requires = "user")]
    pub user_password_file: Option<std::path::PathBuf>,
    /// Files to run in that database, in this order
    #[arg(value_name = "FILE")]
    pub files: Vec<std::path::PathBuf>,
    #[command(flatten)]
    pub settings: ServeFlags,
}

const BACKUP_ABOUT: &str = "Take a backup of a running server, while everybody goes on working. The account needs BACKUP_ADMIN.

Every page and every piece of the log is checked on the way. A file ends in .part until its backup can be restored. With --follow the log goes on                             behind the backup as it grows, so that any later moment can be restored.";

const BACKUP_EXAMPLES: &str = "Examples:
  heddle backup --to /backup
      A full backup of the server on 127.0.0.1:3306 as root.
  heddle backup --to /backup --incremental
      What was changed since the newest backup there.
  heddle backup --to /backup --follow
      A full backup, then the log, until Ctrl-C.
  AWS_REGION=eu-central-1 heddle backup --to s3://backups/shop
      Into an object store. AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL are read, too.
  HEDDLE_PASSWORD=... heddle backup --socket /srv/heddle/heddle.sock --user backup --to - > server.hbk
      Into standard output.";

/// What `heddle backup` is asked.
#[derive(Args, Clone, Debug)]
pub struct BackupFlags {
    /// Directory for the backup file, made when missing; s3://BUCKET/PREFIX for an object store; - for standard output
    #[arg(long, value_name = "DIRECTORY")]
    pub to: std::path::PathBuf,
    /// Only what was changed since the newest backup in the directory
    #[arg(long)]
    pub incremental: bool,
    /// Go on with the log, until Ctrl-C or the end of the server
    #[arg(long)]
    pub follow: bool,
    /// Store pages as they are, not compressed by zstd
    #[arg(long)]
    pub uncompressed: bool,
    /// Encrypt with the key in this file: 64 hexadecimal digits (AES-256-GCM)
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<std::path::PathBuf>,
    /// Read at most this much per second, such as 20M
    #[arg(long, value_name = "SIZE")]
    pub rate: Option<String>,
    /// The server's unix socket, instead of host and port
    #[arg(long, value_name = "PATH")]
    pub socket: Option<std::path::PathBuf>,
    /// The server's address
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    pub host: String,
    /// The server's port
    #[arg(long, value_name = "PORT", default_value_t = 3306)]
    pub port: u16,
    /// Account with BACKUP_ADMIN
    #[arg(long, value_name = "NAME", default_value = "root")]
    pub user: String,
    /// Its password; others may see it in the list of processes, so better set HEDDLE_PASSWORD [default: none]
    #[arg(long, value_name = "PASSWORD")]
    pub password: Option<String>,
    /// File with the password
    #[arg(long, value_name = "FILE", conflicts_with = "password")]
    pub password_file: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub tls: client::Tls,
}

const RESTORE_ABOUT: &str = "Make a data directory of a backup, or of a full one and the incremental ones on top of it. All files are checked before \
                             anything is written, and a directory that is not empty is refused. The first start on the directory applies the log.

With --database or --table one database or one table is brought from the backup to a running server, under a name that is free there. The backup \
                             is restored into a scratch directory, which is removed afterwards.";

const RESTORE_EXAMPLES: &str = "Examples:
  heddle restore --from /backup --data-dir /srv/restored
      The newest state that the backups there have.
  heddle restore --from /backup --data-dir /srv/restored --to '2026-11-24 12:00:01'
      As it was at that time (of this machine's zone; 2026-11-24T12:00:01Z is UTC).
  heddle restore --from /backup --to '2026-11-24 12:00:01' --table shop.orders --into shop.orders_before --server mysql://root@127.0.0.1:3306
      One table as it was then, beside the present one.
  heddle restore --from /backup --database shop --into shop_yesterday --server mysql://root@127.0.0.1:3306
      One database with its tables, views, routines, triggers and (disabled) events.";

/// What `heddle restore` is asked.
#[derive(Args, Clone, Debug)]
#[command(group = clap::ArgGroup::new("target").required(true).args(["data_dir", "database", "table"]))]
pub struct RestoreFlags {
    /// A backup file, or a directory of them, or s3://BUCKET/PREFIX
    #[arg(long, value_name = "PATH")]
    pub from: std::path::PathBuf,
    /// The new data directory
    #[arg(long, value_name = "DIRECTORY")]
    pub data_dir: Option<std::path::PathBuf>,
    /// Bring this database to a running server
    #[arg(long, value_name = "NAME", requires = "server")]
    pub database: Option<String>,
    /// Bring this table to a running server, without its triggers and foreign keys
    #[arg(long, value_name = "DATABASE.TABLE", requires = "server")]
    pub table: Option<String>,
    /// The name that it gets there, which must be free [default: its own]
    #[arg(long, value_name = "NAME", conflicts_with = "data_dir")]
    pub into: Option<String>,
    /// The running server: mysql://USER[:PASSWORD]@HOST[:PORT]; its password may stand in HEDDLE_PASSWORD
    #[arg(long, value_name = "ADDRESS", conflicts_with = "data_dir")]
    pub server: Option<String>,
    /// File with its password
    #[arg(long, value_name = "FILE", conflicts_with = "data_dir")]
    pub password_file: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub tls: client::Tls,
    /// Where the backup is restored meanwhile; must be empty or missing [default: a directory in the one for temporary files]
    #[arg(long, value_name = "DIRECTORY", conflicts_with = "data_dir")]
    pub scratch: Option<std::path::PathBuf>,
    /// Connections that copy and compare at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64), conflicts_with = "data_dir")]
    pub threads: u32,
    /// Do not compare the rows that were copied
    #[arg(long, conflicts_with = "data_dir")]
    pub no_verify: bool,
    /// The moment to restore [default: the end of the log]
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Apply the log at once, and check every page, tree, row and index
    #[arg(long)]
    pub check: bool,
    /// The key of encrypted backups
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<std::path::PathBuf>,
}

const TOPOLOGY_ABOUT: &str = "Show the machine as Heddle sees it: sockets, cores, SMT, caches and who shares them, NUMA nodes, page sizes, the \
                              CPU limit of the container, and what it costs to wait for a latch. What the system does not tell is 'unknown'.

With --bandwidth memory is measured, for some ten seconds on all CPUs: how fast working sets from 1 MB to four times the last cache \
                              are read, written and copied, by one thread and by all. Where a curve falls, a cache ends.";

const PROFILE_ABOUT: &str = "Ask a running server which functions its workers are in, many times in each second that they run, and draw a \
                             flame graph (SVG): the width of a function is its share of the processor time, its callers are above it.

The account needs the privilege PROCESS; its password is read from the environment, HEDDLE_PASSWORD. One profile at a time.";

/// What `heddle profile` is asked.
#[derive(Args, Clone, Debug)]
pub struct ProfileFlags {
    /// The server's unix socket [default: heddle-data/heddle.sock]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<std::path::PathBuf>,
    /// The server's address, instead of a socket
    #[arg(long, value_name = "HOST", conflicts_with = "socket")]
    pub host: Option<String>,
    #[arg(long, value_name = "PORT", default_value_t = 3306)]
    pub port: u16,
    #[arg(long, value_name = "NAME", default_value = "root")]
    pub user: String,
    /// How long, at most 60
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub seconds: u64,
    /// Samples for each second that a worker runs, at most 999
    #[arg(long, value_name = "COUNT", default_value_t = 99)]
    pub hertz: u64,
    /// What the samples are told apart by: statement, worker, nothing
    #[arg(long, value_name = "WHAT", default_value = "statement")]
    pub by: String,
    /// The picture
    #[arg(long, value_name = "FILE", default_value = "heddle-profile.svg")]
    pub out: std::path::PathBuf,
    /// Print the stacks with their samples instead, a line each, for other programs
    #[arg(long)]
    pub folded: bool,
}

/// What `heddle topology` is asked.
#[derive(Args, Clone, Debug)]
pub struct TopologyFlags {
    /// Measure how fast memory is, too
    #[arg(long)]
    pub bandwidth: bool,
    /// Write the measured curves as a picture (implies --bandwidth)
    #[arg(long, value_name = "FILE")]
    pub svg: Option<std::path::PathBuf>,
}

const CHECK_ABOUT: &str = "Check a data directory for damage while no server runs on it. Nothing is changed.

Every page is verified (checksum and structure), the log, every tree (each page in its place, keys in order), every row, and every index against \
                           its table. What is wrong is named on standard error, and the exit status is 1 then.";

/// What `heddle check` is asked.
#[derive(Args, Clone, Debug)]
pub struct CheckFlags {
    /// The data directory
    #[arg(value_name = "DIRECTORY", default_value = "heddle-data")]
    pub dir: std::path::PathBuf,
    /// Threads that read [default: one per CPU]
    #[arg(long, value_name = "COUNT")]
    pub threads: Option<usize>,
}

const SERVE_ABOUT: &str = "Run the server until Ctrl-C or SIGTERM; a second Ctrl-C, a second later or more, stops it at once (no committed data is lost).

Every setting can be given as a flag, as an environment variable, or in a TOML file; a flag beats the environment, the \
                           environment beats the file. The variable of --buffer-pool is HEDDLE_BUFFER_POOL, its line in the file is \
                           buffer-pool = \"4G\".";

const SERVE_EXAMPLES: &str = "Examples:
  heddle serve
      Serve on 127.0.0.1:3306, data in ./heddle-data.
  heddle serve --data-dir /srv/heddle --buffer-pool 16G --port 3307
      Another place, more memory, another port.
  heddle serve --durability none --data-dir /tmp/test
      For tests: commits do not wait for the disk. Never for data you want to keep.
  HEDDLE_PORT=3307 heddle serve --config /etc/heddle.toml
      Settings from a file, the port from the environment.";

/// Settings as they were given, not read yet.
#[derive(Args, Clone, Debug, Default)]
pub struct ServeFlags {
    /// TCP port; 0 takes a free one [default: 3306]
    #[arg(long, value_name = "PORT")]
    pub port: Option<String>,
    /// Address to listen on; 0.0.0.0 for all of this machine's [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    pub bind: Option<String>,
    /// Whether clients may connect by TCP; off leaves the unix socket [default: on]
    #[arg(long, value_name = "on|off")]
    pub tcp: Option<String>,
    /// Address where administrators connect (SERVICE_CONNECTION_ADMIN), with a thread of its own [default: none]
    #[arg(long, value_name = "ADDRESS")]
    pub admin_address: Option<String>,
    /// Port at that address; 0 takes a free one [default: 33062]
    #[arg(long, value_name = "PORT")]
    pub admin_port: Option<String>,
    /// Unix socket; 'none' for no socket [default: heddle.sock in the data directory]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<String>,
    /// Where the data is; made when it is not there [default: ./heddle-data]
    #[arg(long, value_name = "DIRECTORY")]
    pub data_dir: Option<String>,
    /// Where SELECT ... INTO OUTFILE may make files [default: nowhere]
    #[arg(long, value_name = "DIRECTORY")]
    pub secure_file_priv: Option<String>,
    /// Whether clients may use TLS, with the certificates of the data directory, made at the first start [default: on]
    #[arg(long, value_name = "on|off")]
    pub tls: Option<String>,
    /// Memory for cached pages, such as 512M or 4G [default: a quarter of the memory]
    #[arg(long, value_name = "SIZE")]
    pub buffer_pool: Option<String>,
    /// Memory for old row versions that somebody may still read or roll back to; more of them go to a file that is gone with the server
    /// [default: a quarter of the buffer pool]
    #[arg(long, value_name = "SIZE")]
    pub undo_memory: Option<String>,
    /// How long a start after a crash may take to apply the log: it bounds how much log may be ahead of the pages on disk
    /// [default: 20]
    #[arg(long, value_name = "SECONDS")]
    pub recovery_target_seconds: Option<String>,
    /// Start although the log is damaged: what comes behind the damage is lost for good, and the server says what that is. For one start, after the
    /// directory was copied [default: off]
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on")]
    pub force_recovery: Option<String>,
    /// Threads that run statements [default: one per CPU]
    #[arg(long, value_name = "COUNT")]
    pub workers: Option<String>,
    /// What a commit waits for: 'full', the disk; 'relaxed', nothing, and a crash of the machine may lose the last second;
    /// 'none', nothing, for tests [default: full]
    #[arg(long, value_name = "full|relaxed|none")]
    pub durability: Option<String>,
    /// Clients at the same time [default: 4096]
    #[arg(long, value_name = "COUNT")]
    pub max_connections: Option<String>,
    /// Whether events are run: 'off' until SET GLOBAL turns it on, 'disabled' for good [default: on]
    #[arg(long, value_name = "on|off|disabled")]
    pub event_scheduler: Option<String>,
    /// Whether the binary log is written, which replicas and tools read [default: off]
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on")]
    pub log_bin: Option<String>,
    /// Whether slow statements are written to a file [default: off]
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on")]
    pub slow_query_log: Option<String>,
    /// That file [default: HOST-slow.log in the data directory]
    #[arg(long, value_name = "FILE")]
    pub slow_query_log_file: Option<String>,
    /// What is slow, in seconds, such as 0.25 [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub long_query_time: Option<String>,
    /// Whether all statements are written to a file [default: off]
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on")]
    pub general_log: Option<String>,
    /// That file [default: HOST.log in the data directory]
    #[arg(long, value_name = "FILE")]
    pub general_log_file: Option<String>,
    /// Where these two logs go: 'file', 'table' (mysql.slow_log, mysql.general_log), 'file,table' or 'none' [default: file]
    #[arg(long, value_name = "file|table|none")]
    pub log_output: Option<String>,
    /// How much to log to standard error: error, warn, info, debug or trace [default: info]
    #[arg(long, value_name = "LEVEL")]
    pub log_level: Option<String>,
    /// The file of the server's own log, opened anew by FLUSH ERROR LOGS [default: standard error]
    #[arg(long, value_name = "FILE")]
    pub log_error: Option<String>,
    /// The lines of the server's own log [default: text]
    #[arg(long, value_name = "text|json")]
    pub log_format: Option<String>,
    /// Where the console and the metrics are, by HTTP: an address with a port, or 'off'. With an address that other machines reach, by HTTPS
    /// with the certificates of the data directory [default: 127.0.0.1:3380]
    #[arg(long, value_name = "ADDRESS|off")]
    pub console: Option<String>,
    /// Whether the console speaks plain HTTP to other machines, too: behind a proxy that has TLS [default: off]
    #[arg(long, value_name = "on|off", num_args = 0..=1, default_missing_value = "on")]
    pub console_plain: Option<String>,
    /// TOML file with settings (or HEDDLE_CONFIG)
    #[arg(long, value_name = "FILE")]
    pub config: Option<String>,
}

impl ServeFlags {
    /// The text given for a setting.
    pub fn get(&self, key: &str) -> Option<&str> {
        let value = match key {
            "port" => &self.port,
            "bind" => &self.bind,
            "tcp" => &self.tcp,
            "admin-address" => &self.admin_address,
            "admin-port" => &self.admin_port,
            "socket" => &self.socket,
            "data-dir" => &self.data_dir,
            "secure-file-priv" => &self.secure_file_priv,
            "tls" => &self.tls,
            "buffer-pool" => &self.buffer_pool,
            "undo-memory" => &self.undo_memory,
            "recovery-target-seconds" => &self.recovery_target_seconds,
            "force-recovery" => &self.force_recovery,
            "workers" => &self.workers,
            "durability" => &self.durability,
            "max-connections" => &self.max_connections,
            "event-scheduler" => &self.event_scheduler,
            "log-bin" => &self.log_bin,
            "slow-query-log" => &self.slow_query_log,
            "slow-query-log-file" => &self.slow_query_log_file,
            "long-query-time" => &self.long_query_time,
            "general-log" => &self.general_log,
            "general-log-file" => &self.general_log_file,
            "log-output" => &self.log_output,
            "log-level" => &self.log_level,
            "log-error" => &self.log_error,
            "log-format" => &self.log_format,
            "console" => &self.console,
            "console-plain" => &self.console_plain,
            _ => unreachable!("{key} is in settings::KEYS and has a flag"),
        };
        value.as_deref()
    }

    /// The place of a setting's text, by the name of its flag.
    pub fn slot(&mut self, key: &str) -> Option<&mut Option<String>> {
        Some(match key {
            "port" => &mut self.port,
            "bind" => &mut self.bind,
            "tcp" => &mut self.tcp,
            "admin-address" => &mut self.admin_address,
            "admin-port" => &mut self.admin_port,
            "socket" => &mut self.socket,
            "data-dir" => &mut self.data_dir,
            "secure-file-priv" => &mut self.secure_file_priv,
            "tls" => &mut self.tls,
            "buffer-pool" => &mut self.buffer_pool,
            "undo-memory" => &mut self.undo_memory,
            "recovery-target-seconds" => &mut self.recovery_target_seconds,
            "force-recovery" => &mut self.force_recovery,
            "workers" => &mut self.workers,
            "durability" => &mut self.durability,
            "max-connections" => &mut self.max_connections,
            "event-scheduler" => &mut self.event_scheduler,
            "log-bin" => &mut self.log_bin,
            "slow-query-log" => &mut self.slow_query_log,
            "slow-query-log-file" => &mut self.slow_query_log_file,
            "long-query-time" => &mut self.long_query_time,
            "general-log" => &mut self.general_log,
            "general-log-file" => &mut self.general_log_file,
            "log-output" => &mut self.log_output,
            "log-level" => &mut self.log_level,
            "log-error" => &mut self.log_error,
            "log-format" => &mut self.log_format,
            "console" => &mut self.console,
            "console-plain" => &mut self.console_plain,
            _ => return None,
        })
    }
}

/// Reads the command line; without a command it is `serve`.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, Stop> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let for_the_program = ["-h", "--help", "-V", "--version"];
    let is_serve = match arguments.get(1).map(|first| first.to_string_lossy()) {
        None => true,
        Some(first) => first.starts_with('-') && !for_the_program.contains(&&*first),
    };
    if is_serve {
        arguments.insert(1.min(arguments.len()), "serve".into());
    }
    let word = arguments.get(1).map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
    match Cli::try_parse_from(arguments) {
        Ok(Cli { command: CliCommand::Serve(ServeArguments { settings, dry_run: true }) }) => Ok(Command::DryRun(settings)),
        Ok(Cli { command: CliCommand::Serve(ServeArguments { settings, dry_run: false }) }) => Ok(Command::Serve(settings)),
        Ok(Cli { command: CliCommand::Init(flags) }) => Ok(Command::Init(flags)),
        Ok(Cli { command: CliCommand::Entrypoint { arguments } }) => Ok(Command::Entrypoint(arguments)),
        Ok(Cli { command: CliCommand::Check(flags) }) => Ok(Command::Check(flags)),
        Ok(Cli { command: CliCommand::Topology(flags) }) => Ok(Command::Topology(flags)),
        Ok(Cli { command: CliCommand::Backup(flags) }) => Ok(Command::Backup(flags)),
        Ok(Cli { command: CliCommand::Restore(flags) }) => Ok(Command::Restore(flags)),
        Ok(Cli { command: CliCommand::Drill(flags) }) => Ok(Command::Drill(flags)),
        Ok(Cli { command: CliCommand::Profile(flags) }) => Ok(Command::Profile(flags)),
        Ok(Cli { command: CliCommand::Advise(flags) }) => Ok(Command::Advise(flags)),
        Ok(Cli { command: CliCommand::Migrate(flags) }) => Ok(Command::Migrate(flags)),
        Ok(Cli { command: CliCommand::Bench(flags) }) => Ok(Command::Bench(flags)),
        Err(error) => Err(stop(&error, &word)),
    }
}

/// `word` is the command that was given.
fn stop(error: &clap::Error, word: &str) -> Stop {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Stop::Print(error.render().to_string())
        }
        _ => Stop::Fail(one_line(error, word)),
    }
}

/// What is wrong and, where it is near at hand, what was meant.
fn one_line(error: &clap::Error, word: &str) -> String {
    if let (ErrorKind::UnknownArgument, Some(ContextValue::String(argument))) = (error.kind(), error.get(ContextKind::InvalidArg))
        && let Some(word) = settings::word_for_mysql_option(argument.trim_start_matches('-'))
    {
        return format!("unexpected argument '{argument}': {word}");
    }
    let text = error.render().to_string();
    let first = text.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    let missing = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::MissingRequiredArgument, Some(ContextValue::Strings(names))) => format!(" {}", names.join(" ")),
        _ => String::new(),
    };
    let suggestion =
        [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand].into_iter().find_map(|kind| match error.get(kind) {
            Some(ContextValue::String(one)) => Some(one.clone()),
            Some(ContextValue::Strings(several)) => several.first().cloned(),
            _ => None,
        });
    match suggestion {
        Some(meant) => format!("{first}; did you mean '{meant}'?"),
        None => {
            let known = Cli::command().find_subcommand(word).is_some();
            format!("{first}{missing}; 'heddle {} --help' lists what there is", if known { word } else { "serve" })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(words: &str) -> Result<Command, Stop> {
        parse(words.split_whitespace().map(OsString::from))
    }

    #[test]
    fn serve_is_the_default() {
        let Ok(Command::Serve(flags)) = parse_words("heddle --force-recovery --port 3307") else {
            panic!("a flag without a value")
        };
        assert_eq!((flags.force_recovery.as_deref(), flags.port.as_deref()), (Some("on"), Some("3307")));
        for words in ["heddle --port 3307", "heddle serve --port 3307", "heddle serve --port=3307"] {
            let Ok(Command::Serve(flags)) = parse_words(words) else { panic!("{words}") };
            assert_eq!(flags.port.as_deref(), Some("3307"));
        }
        assert!(matches!(parse_words("heddle"), Ok(Command::Serve(ServeFlags { port: None, .. }))));
    }

    #[test]
    fn help_is_for_people() {
        for words in [
            "heddle --help",
            "heddle -h",
            "heddle serve --help",
            "heddle check --help",
            "heddle topology --help",
            "heddle bench --help",
            "heddle advise --help",
            "heddle migrate --help",
            "heddle bench compare --help",
            "heddle --version",
        ] {
            let Err(Stop::Print(text)) = parse_words(words) else { panic!("{words}") };
            assert!(text.to_lowercase().contains("heddle"), "{text}");
        }
    }

    #[test]
    fn a_wrong_flag_is_one_line() {
        let check = |words: &str, expected: &str| match parse_words(words) {
            Err(Stop::Fail(message)) => {
                assert_eq!(message.lines().count(), 1);
                assert!(message.contains(expected), "{message}");
            }
            other => panic!("{words}: {other:?}"),
        };
        check("heddle --prot 3", "did you mean '--port'?");
        check("heddle --user mysql", "'--user': Heddle runs as the user who starts it");
        check("heddle -u mysql", "runs as the user");
        check("heddle -P 3307", "the port is --port");
        check("heddle serve --innodb-buffer-pool-size=4G", "the memory for pages is --buffer-pool");
        check("heddle --defaults-file=/etc/my.cnf", "--config");
        check("heddle serv", "did you mean 'serve'?");
        check("heddle serve extra", "unexpected argument 'extra'");
        check("heddle bench --without-heddle", "not provided: --against <ADDRESS>; 'heddle bench --help' lists");
        check("heddle serve --port", "a value is required for '--port <PORT>'");
    }

    #[test]
    fn every_setting_has_a_flag() {
        let flags = ServeFlags::default();
        assert!(crate::settings::KEYS.iter().all(|key| flags.get(key).is_none()));
        for key in crate::settings::KEYS {
            let mut flags = ServeFlags::default();
            *flags.slot(key).expect("it is a setting") = Some("x".to_owned());
            assert_eq!(flags.get(key), Some("x"), "{key}");
        }
    }
}
