//! The state that all threads of the server share. It is written when clients come and go, when a global variable is
//! set, and by DDL. Statements on rows do not write to it.

use crate::advice::journal::Journal;
use crate::binary_log::Dumps;
use crate::binary_log::semi_sync::SemiSync;
use crate::config::{Config, EventScheduler, StartError, VERSION};
use crate::ddl::DdlThreads;
use crate::event::Events;
use crate::handshakes::Handshakes;
use crate::instruments::Instruments;
use crate::profiled::Profiler;
use crate::replica::state::Replica;
use crate::session::{IDS, Kills};
use crate::text_log::{self, Log, TextLogs};
use crate::user_lock::UserLocks;
use crate::variables::persisted::Persisted;
use crate::variables::{Globals, Setting, known};
use crate::worker::{Message, WorkerRemote};
use accounts::AccountStore;
use arc_swap::ArcSwap;
use os::time::Instant;
use reactor::connection::{TlsOffer, configure_tls};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use sync::Mutex;
use sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// The accounts that may not write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    None,
    /// All without CONNECTION_ADMIN.
    ReadOnly,
    /// Nobody may.
    SuperReadOnly,
}

impl Protection {
    fn of(globals: &Globals) -> Self {
        let is_on = |name| globals.get(known(name)).as_bool();
        match () {
            () if is_on("super_read_only") => Protection::SuperReadOnly,
            () if is_on("read_only") => Protection::ReadOnly,
            () => Protection::None,
        }
    }
}

pub struct Shared {
    pub config: Config,
    pub database: Arc<table::Database>,
    pub engine: Arc<txn::Engine>,
    pub workers: Vec<Arc<WorkerRemote>>,
    pub ddl: DdlThreads,
    /// Definitions hold a writer's share; a read lock on it stops definitions.
    pub definitions: Arc<table::MetadataLock>,
    /// `None`: it is off.
    pub binlog: Option<Arc<binlog::BinaryLog>>,
    /// The server as a replica of another one.
    pub replica: Replica,
    /// The replicas that are connected.
    pub dumps: Dumps,
    pub semi_sync: SemiSync,
    pub accounts: Arc<AccountStore>,
    pub handshakes: Arc<Handshakes>,
    /// `None`: TLS is not offered.
    pub tls: Option<Arc<rustls::ServerConfig>>,
    pub tls_offer: Option<TlsOffer>,
    pub user_locks: Arc<UserLocks>,
    pub kills: Kills,
    pub instruments: Instruments,
    /// The slow query log and the general log.
    pub logs: TextLogs,
    pub profiler: Profiler,
    pub events: Events,
    /// What the query doctor measured and changed.
    pub advice: Arc<Journal>,
    /// Branches of distributed transactions.
    pub branches: Arc<crate::branch::Branches>,
    /// Storage for data of statements that exceeds memory.
    pub temporary: exec::Temporary,
    pub started: Instant,
    /// Converts the ticks of statements to time.
    pub tick_clock: os::TickClock,
    /// `read_only` and `super_read_only`, as statements that write look at them.
    protection: AtomicU8,
    globals: ArcSwap<Globals>,
    pub persisted: Arc<Persisted>,
    /// Locked while new globals are published.
    globals_writer: Mutex<()>,
    next_connection: AtomicU32,
    /// The most sessions at a time, and since when, in seconds of the epoch.
    peak: AtomicUsize,
    peak_since: AtomicU64,
    /// Microseconds from the start to the last FLUSH STATUS.
    status_flushed_us: AtomicU64,
    stopping: AtomicBool,
}

impl Shared {
    pub fn new(
        config: Config,
        tcp_address: Option<SocketAddr>,
        admin_address: Option<SocketAddr>,
        database: Arc<table::Database>,
        engine: Arc<txn::Engine>,
        workers: Vec<Arc<WorkerRemote>>,
    ) -> Result<Self, StartError> {
        let accounts = if config.is_private {
            AccountStore::private()
        } else {
            AccountStore::open(&database).map_err(StartError::Accounts)?
        };
        if !config.allows_open_root {
            accounts.refuse_open_root(tcp_address).map_err(StartError::Accounts)?;
        }
        let (tls, tls_offer) = if config.tls {
            configure_tls(&config.data_dir).map(|(config, offer)| (Some(config), Some(offer))).map_err(StartError::Tls)?
        } else {
            (None, None)
        };
        let ddl = DdlThreads::start(&database, &engine)?;
        let definitions = table::MetadataLock::new(engine.worker_slots());
        let persisted = Persisted::open(&config.data_dir).map_err(StartError::Persisted)?;
        let advice = Arc::new(Journal::open(&config.data_dir).map_err(StartError::Advice)?);
        let uuid = crate::identity::server_uuid(&config.data_dir).map_err(StartError::Identity)?;
        let mut globals = initial_globals(&config, uuid, tcp_address, admin_address);
        crate::given::settings(&config.variables).into_iter().for_each(|(id, setting)| globals.set_whole(id, setting));
        persisted.settings().into_iter().for_each(|(id, setting)| globals.set_whole(id, setting));
        resize_pool_as_persisted(&engine, config.buffer_pool_bytes, &mut globals);
        if config.event_scheduler == EventScheduler::Disabled {
            globals.set(IDS.event_scheduler, Setting::Text("DISABLED".into()));
        }
        engine.set_undo_retention(undo_retention(&globals));
        let binlog = if config.log_bin {
            let opened = crate::binary_log::start(&config.data_dir, &database, &mut globals);
            Some(opened.map_err(StartError::BinaryLog)?)
        } else {
            None
        };
        let replica = Replica::open(&config.data_dir).map_err(StartError::BinaryLog)?;
        let instruments = Instruments::default();
        let logs = TextLogs::start(log_head(&config, tcp_address), &config.data_dir).map_err(StartError::Resource)?;
        open_logs(&logs, &mut globals, &config);
        set_logs(&instruments, &globals);
        let temporary_max = globals.get(IDS.heddle_temporary_space_max).as_u64();
        let temporary = exec::Temporary::new(&config.data_dir.join("temporary"), temporary_max).map_err(StartError::Resource)?;
        Ok(Self {
            config,
            database,
            engine,
            workers,
            ddl,
            definitions,
            binlog,
            replica,
            dumps: Dumps::default(),
            semi_sync: SemiSync::new(&globals),
            accounts: Arc::new(accounts),
            handshakes: Arc::default(),
            tls,
            tls_offer,
            user_locks: Arc::default(),
            kills: Kills::default(),
            instruments,
            logs,
            profiler: Profiler::default(),
            events: Events::default(),
            advice,
            branches: Default::default(),
            temporary,
            started: Instant::now(),
            tick_clock: os::TickClock::start(),
            protection: AtomicU8::new(Protection::of(&globals) as u8),
            globals: ArcSwap::from_pointee(globals),
            persisted: Arc::new(persisted),
            globals_writer: Mutex::new(()),
            next_connection: AtomicU32::new(1),
            peak: AtomicUsize::new(0),
            peak_since: AtomicU64::new(0),
            status_flushed_us: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
        })
    }

    pub fn globals(&self) -> Arc<Globals> {
        self.globals.load_full()
    }

    /// SET GLOBAL
    pub fn change_globals(&self, change: impl FnOnce(&mut Globals)) {
        let _writer = self.globals_writer.lock();
        let mut next = Globals::clone(&self.globals.load());
        change(&mut next);
        self.temporary.set_bytes_max(next.get(IDS.heddle_temporary_space_max).as_u64());
        let retention = undo_retention(&next);
        if retention != undo_retention(&self.globals.load()) {
            self.engine.set_undo_retention(retention);
        }
        set_logs(&self.instruments, &next);
        // Relaxed: a concurrent write began before the change.
        self.protection.store(Protection::of(&next) as u8, Ordering::Relaxed);
        if let Some(log) = &self.binlog {
            log.set_settings(crate::binary_log::settings_of(&next));
            self.semi_sync.set(&next);
        }
        self.globals.store(Arc::new(next));
    }

    /// The accounts that may not write now.
    pub fn protection(&self) -> Protection {
        match self.protection.load(Ordering::Relaxed) {
            0 => Protection::None,
            1 => Protection::ReadOnly,
            _ => Protection::SuperReadOnly,
        }
    }

    pub fn next_connection_id(&self) -> u32 {
        // Relaxed: the number only has to be unique.
        self.next_connection.fetch_add(1, Ordering::Relaxed)
    }

    /// Connections accepted since the start.
    pub fn connections_accepted(&self) -> u32 {
        self.next_connection.load(Ordering::Relaxed) - 1
    }

    /// Raises the peak number of open sessions.
    pub fn note_peak(&self, open: usize) {
        // Relaxed: figures for people. Two that raise it at once may leave the time of the lower one, which is the same.
        if open > self.peak.load(Ordering::Relaxed) {
            self.peak.fetch_max(open, Ordering::Relaxed);
            self.peak_since.store(os::time::since_epoch().as_secs(), Ordering::Relaxed);
        }
    }

    /// FLUSH STATUS: restarts the peak.
    pub fn note_status_flushed(&self) {
        // Relaxed: a figure for people.
        self.status_flushed_us.store(self.started.elapsed().as_micros() as u64, Ordering::Relaxed);
        self.peak.store(0, Ordering::Relaxed);
        self.note_peak(self.sessions());
    }

    /// The time of the last FLUSH STATUS, or else of the start.
    pub fn status_flushed(&self) -> Instant {
        self.started + Duration::from_micros(self.status_flushed_us.load(Ordering::Relaxed))
    }

    /// The most sessions at a time, and since when, in seconds of the epoch.
    pub fn peak(&self) -> (usize, u64) {
        (self.peak.load(Ordering::Relaxed), self.peak_since.load(Ordering::Relaxed))
    }

    /// Sessions open now, roughly.
    pub fn sessions(&self) -> usize {
        // Administrators' sessions do not count for max_connections.
        let workers = &self.workers[..self.config.workers.max(1)];
        workers.iter().map(|worker| worker.load().load(Ordering::Relaxed)).sum()
    }

    /// How many clients may have logged in.
    pub fn connections_max(&self) -> usize {
        self.globals().get(known("max_connections")).as_u64() as usize
    }

    pub fn is_stopping(&self) -> bool {
        // Acquire: pairs with `begin_stop`.
        self.stopping.load(Ordering::Acquire)
    }

    /// Tells every worker to stop; returns `true` for the first call.
    pub fn begin_stop(&self) -> bool {
        // AcqRel: one caller wins and sends the messages.
        if self.stopping.swap(true, Ordering::AcqRel) {
            return false;
        }
        self.replica.ask_to_stop();
        for worker in &self.workers {
            worker.send(Message::Stop);
        }
        true
    }
}

fn undo_retention(globals: &Globals) -> Duration {
    Duration::from_secs(globals.get(IDS.undo_retention).as_u64())
}

fn set_logs(instruments: &Instruments, globals: &Globals) {
    // The directory makes no difference here.
    let targets = text_log::targets(globals, Path::new(""));
    let [general, slow] = Log::ALL.map(|log| targets.has(log));
    instruments.set_advised(globals.get(known("heddle_advice")).as_bool());
    instruments.set_logs(general, slow, globals.get(known("log_queries_not_using_indexes")).as_bool());
}

/// Opens the logs that the server starts with. One that cannot be written is turned off, as in MySQL.
fn open_logs(logs: &TextLogs, globals: &mut Globals, config: &Config) {
    for log in Log::ALL {
        let [switch, file] = log.variables().map(known);
        let path = config.data_dir.join(globals.get(file).as_text());
        if globals.get(switch).as_bool() && !text_log::is_possible(&path, &config.data_dir) {
            tracing::error!(path = %path.display(), "{} names no file that can be a log; it is off", log.variables()[1]);
            globals.set(switch, Setting::Int(0));
        }
    }
    while let Some(Err(refused)) = storage::block_on(logs.set_targets(text_log::targets(globals, &config.data_dir))) {
        let (path, error) = (refused.path.display(), &refused.error);
        tracing::error!(%path, %error, "{} is off: its file cannot be opened", refused.log.variables()[0]);
        globals.set(known(refused.log.variables()[0]), Setting::Int(0));
    }
}

/// The head of a log, in MySQL's format.
fn log_head(config: &Config, tcp_address: Option<SocketAddr>) -> String {
    let program = std::env::current_exe().unwrap_or_else(|_| "/heddle".into());
    let port = tcp_address.map_or(0, |address| address.port());
    let socket = config.socket.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
    format!(
        "{}, Version: {VERSION} (Heddle). started with:\nTcp port: {port}  Unix socket: {socket}\n\
         Time                 Id Command    Argument\n",
        program.display()
    )
}

/// A persisted value takes precedence over the one the server was started with.
fn resize_pool_as_persisted(engine: &txn::Engine, bytes: u64, globals: &mut Globals) {
    let wanted = globals.get(IDS.innodb_buffer_pool_size).as_u64();
    if wanted == bytes {
        return;
    }
    match engine.resize_pool(wanted) {
        Ok(bytes) => {
            tracing::info!(bytes, wanted, "the buffer pool gets the size that was persisted");
            globals.set(IDS.innodb_buffer_pool_size, Setting::UInt(bytes));
        }
        Err(txn::ResizeBusy) => unreachable!("nobody else has asked for another size yet"),
    }
}

fn initial_globals(config: &Config, uuid: String, tcp_address: Option<SocketAddr>, admin_address: Option<SocketAddr>) -> Globals {
    let mut globals = Globals::default();
    let mut text = |name, value: String| globals.set(known(name), Setting::Text(value.into()));
    text("version", VERSION.to_owned());
    text("datadir", format!("{}/", config.data_dir.display()));
    text("socket", config.socket.as_ref().map(|path| path.display().to_string()).unwrap_or_default());
    text("bind_address", tcp_address.map(|address| address.ip().to_string()).unwrap_or_default());
    text("admin_address", admin_address.map(|address| address.ip().to_string()).unwrap_or_default());
    let hostname = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    text("hostname", hostname.trim().to_owned());
    text("system_time_zone", "UTC".to_owned());
    text("server_uuid", uuid);
    let mut number = |name, value: u64| globals.set(known(name), Setting::UInt(value));
    number("port", tcp_address.map_or(0, |address| address.port().into()));
    number("admin_port", admin_address.map_or(33_062, |address| address.port().into()));
    number("max_connections", config.connections_max as u64);
    number("innodb_buffer_pool_size", config.buffer_pool_bytes);
    let flush = match config.durability {
        txn::Durability::Full => 1,
        txn::Durability::Relaxed => 2,
        txn::Durability::None => 0,
    };
    number("innodb_flush_log_at_trx_commit", flush);
    number("event_scheduler", (config.event_scheduler == EventScheduler::On).into());
    globals.set(
        known("secure_file_priv"),
        match &config.secure_file_priv {
            Some(directory) => Setting::Text(format!("{}/", directory.display()).into()),
            None => Setting::Null,
        },
    );
    for log in Log::ALL {
        let [switch, file] = log.variables().map(known);
        let settings = &config.logs;
        let (on, path) = match log {
            Log::General => (settings.general, &settings.general_file),
            Log::Slow => (settings.slow, &settings.slow_file),
        };
        globals.set(switch, Setting::Int(on.into()));
        let name = path.as_ref().map(|path| Setting::Text(path.display().to_string().into()));
        globals.set(file, name.unwrap_or_else(|| text_log::default_file(log, &config.data_dir, hostname.trim())));
    }
    if let Some(seconds) = config.logs.long_query_seconds {
        globals.set(known("long_query_time"), Setting::Double(seconds));
    }
    globals.set(known("log_output"), Setting::Text(config.logs.output.as_str().into()));
    if let Some(log) = &config.error_log {
        globals.set(known("log_error"), Setting::Text(log.path.display().to_string().into()));
    }
    if config.has_json_log {
        globals.set(known("log_error_services"), Setting::Text("log_filter_internal; log_sink_json".into()));
    }
    globals.set(known("skip_networking"), Setting::Int(i64::from(tcp_address.is_none())));
    globals
}
