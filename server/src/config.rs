//! How the server runs, and why it did not start.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

/// The result of VERSION(): the dialect's version, then ours.
pub const VERSION: &str = concat!("8.4.0-heddle-", env!("CARGO_PKG_VERSION"));

/// How the server runs.
#[derive(Clone, Debug)]
pub struct Config {
    /// The address for TCP clients; port 0 takes a free one ([`ServerHandle::tcp_address`] returns it). `None`: no TCP.
    pub tcp: Option<SocketAddr>,
    /// The address for administrators (SERVICE_CONNECTION_ADMIN), usable while all workers are busy. `None`: none of
    /// their own.
    pub admin: Option<SocketAddr>,
    /// The unix socket's path. `None`: no unix socket.
    pub socket: Option<PathBuf>,
    /// Shown as `@@datadir`; the engine has it open already.
    pub data_dir: PathBuf,
    /// The directory where SELECT ... INTO OUTFILE may create files. `None`: nowhere.
    pub secure_file_priv: Option<PathBuf>,
    /// Threads that run statements; as many as `txn::Config::workers` says.
    pub workers: usize,
    pub connections_max: usize,
    /// Shown as `@@innodb_buffer_pool_size`.
    pub buffer_pool_bytes: u64,
    /// Shown as `@@innodb_flush_log_at_trx_commit`.
    pub durability: txn::Durability,
    /// Whether events are run, until SET GLOBAL says otherwise.
    pub event_scheduler: EventScheduler,
    /// The binary log is written.
    pub log_bin: bool,
    /// The slow query log and the general log, until SET GLOBAL says otherwise.
    pub logs: LogSettings,
    /// The file of the server's own log, which FLUSH ERROR LOGS opens anew; `None`: standard error.
    pub error_log: Option<Arc<ErrorLogFile>>,
    /// Are its lines JSON?
    pub has_json_log: bool,
    /// Offers TLS with the certificates of the data directory; missing ones are generated.
    pub tls: bool,
    /// Keeps the slowest executions of each statement, with their values.
    pub keeps_executions: bool,
    /// Global variables as they are given at the start, by name and text: see [`crate::given`]. Persisted ones beat them.
    pub variables: Vec<(String, String)>,
    /// Listens where other machines can reach a root without a password: for who asks for it by name.
    pub allows_open_root: bool,
    /// The only account is `root@localhost` without a password, whatever the catalog has: for a server within another program, whose one socket
    /// nobody else can reach.
    pub is_private: bool,
    /// How many times an idle worker polls before it sleeps, at most; it adapts itself below that.
    pub idle_polls_max: u32,
}

impl Default for Config {
    /// Port 3306 of the loopback address, no unix socket, one worker per CPU.
    fn default() -> Self {
        Self {
            tcp: Some(SocketAddr::from(([127, 0, 0, 1], 3306))),
            admin: None,
            socket: None,
            data_dir: PathBuf::from("./heddle-data"),
            secure_file_priv: None,
            workers: os::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            connections_max: 1040,
            buffer_pool_bytes: 128 << 20,
            durability: txn::Durability::Full,
            event_scheduler: EventScheduler::On,
            log_bin: false,
            logs: LogSettings::default(),
            error_log: None,
            has_json_log: false,
            tls: false,
            keeps_executions: true,
            variables: Vec::new(),
            allows_open_root: false,
            is_private: false,
            idle_polls_max: 200,
        }
    }
}

/// The file of the server's own log.
pub struct ErrorLogFile {
    pub path: PathBuf,
    /// Closes the file, and opens it again by its path. On an error the old one stays in use.
    pub reopen: Box<dyn Fn() -> std::io::Result<()> + Send + Sync>,
}

impl std::fmt::Debug for ErrorLogFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.path.fmt(f)
    }
}

/// The slow query log and the general log at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct LogSettings {
    pub slow: bool,
    pub general: bool,
    /// `None`: in the data directory, by the name of the machine.
    pub slow_file: Option<PathBuf>,
    pub general_file: Option<PathBuf>,
    /// The limit of the slow query log; `None`: ten seconds.
    pub long_query_seconds: Option<f64>,
    /// `log_output`: FILE, TABLE, both with a comma between, or NONE.
    pub output: String,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self {
            slow: false,
            general: false,
            slow_file: None,
            general_file: None,
            long_query_seconds: None,
            output: "FILE".to_owned(),
        }
    }
}

/// Why the server did not start.
#[derive(Debug)]
pub enum StartError {
    /// A socket could not be bound: `what` is its address or path.
    Listen { what: String, error: std::io::Error },
    /// The system refused a thread, a poll descriptor or the like.
    Resource(std::io::Error),
    /// The engine has no worker left for DDL.
    NoSpareWorker,
    /// The accounts of the catalog cannot be used.
    Accounts(String),
    /// The certificates cannot be used.
    Tls(String),
    /// The persisted variables cannot be read.
    Persisted(String),
    /// The log of the query doctor cannot be used.
    Advice(String),
    /// The file with the server's UUID cannot be used.
    Identity(String),
    /// The binary log cannot be opened.
    BinaryLog(String),
    /// A prepared transaction cannot be made again.
    Prepared(String),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::Listen { what, error } if error.kind() == std::io::ErrorKind::AddrInUse => {
                write!(f, "cannot listen on {what}: another server uses it")
            }
            StartError::Listen { what, error } => write!(f, "cannot listen on {what}: {error}"),
            StartError::Resource(error) => write!(f, "cannot start a thread: {error}"),
            StartError::Accounts(why)
            | StartError::Tls(why)
            | StartError::Persisted(why)
            | StartError::Advice(why)
            | StartError::Identity(why)
            | StartError::BinaryLog(why)
            | StartError::Prepared(why) => f.write_str(why),
            StartError::NoSpareWorker => f.write_str("the engine has no worker left for definitions"),
        }
    }
}

impl std::error::Error for StartError {}

/// Whether the scheduler runs; `@@event_scheduler`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventScheduler {
    #[default]
    On,
    /// It can be turned on.
    Off,
    /// It cannot, in this run of the server.
    Disabled,
}
