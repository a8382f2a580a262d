//! `heddle serve`: opens the engine and the catalog, starts the server, prints its addresses, and stops it on a signal.
//!
//! 1. Log to standard error, or to a file. 2. Engine: data directory, recovery. 3. Catalog. 4. Server: sockets, threads. 5. A few
//!    lines to standard output. 6. SIGINT or SIGTERM: stop, in the opposite order.
//!
//! A second Ctrl-C that does not follow at once ends the process; the next start recovers everything that was
//! committed. Further SIGTERMs are ignored, because service managers send several; they use SIGKILL for a process that
//! does not stop.

use crate::console;
use crate::error_log;
use crate::first_start;
use crate::limits;
use crate::notify::{self, Systemd};
use crate::settings::{self, Settings, Socket};
use crate::size;
use server::ServerHandle;
use server::inside::Inside;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs the server until a signal stops it. The error is one line for the person who started it.
pub fn run(settings: Settings) -> Result<(), String> {
    let error_log = start_log(&settings)?;
    run_with_log(settings, error_log)
}

/// The file of the server's own log, if it is one.
pub type ErrorLog = Option<Arc<server::ErrorLogFile>>;

/// Begins to log; once in a process.
pub fn start_log(settings: &Settings) -> Result<ErrorLog, String> {
    error_log::start(settings.log_level, settings.log_error.as_deref(), settings.log_json)
}

/// As [`run`], after the log has begun.
pub fn run_with_log(settings: Settings, error_log: ErrorLog) -> Result<(), String> {
    let started = Instant::now();
    for name in settings::unknown_variables(std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned())) {
        tracing::warn!("the environment has {name}, which is no setting of heddle");
    }
    let connections_max = limits::raise_open_files(settings.connections_max);
    if connections_max < settings.connections_max {
        tracing::warn!("the limit of open files leaves room for {connections_max} clients (raise it with 'ulimit -n')");
    }
    if let Some(warning) = os::memory_bytes().and_then(|memory| memory_warning(settings.buffer_pool_bytes, memory)) {
        tracing::warn!("{warning}");
    }
    let systemd = Systemd::from_environment();
    let signals = Signals::register()?;
    let opening = systemd.working("opening the data directory; after a crash the log is applied");
    first_start::settle(&settings.data_dir)?;
    let engine = open_engine(&settings)?;
    let result = serve(&settings, connections_max, &engine, signals, &systemd, (started, opening, error_log));
    let _closing = systemd.working("stopping: writing pages");
    let closed = engine.shutdown().map_err(|error| format!("while stopping: {}", text_of(&error)));
    result.and(closed)?;
    tracing::info!("stopped");
    Ok(())
}

/// Opens the data directory of the settings, which recovers what a crash has left in the log.
pub fn open_engine(settings: &Settings) -> Result<Arc<txn::Engine>, String> {
    let config = txn::Config {
        data_dir: settings.data_dir.clone(),
        buffer_pool_bytes: settings.buffer_pool_bytes,
        undo_memory_bytes: settings.undo_memory_bytes,
        recovery_target: settings.recovery_target,
        workers: settings.workers,
        durability: settings.durability,
    };
    // Log that the binary log does not have yet is not given up by the recovery.
    let log_from = if settings.log_bin { server::log_needed_from(&settings.data_dir)? } else { None };
    txn::Engine::open_holding(config, settings.force_recovery, log_from)
        .map_err(|error| format!("cannot open the data directory {}: {}", settings.data_dir.display(), text_of(&error)))
}

/// Reads the catalog and begins to serve.
pub fn start_server(
    settings: &Settings,
    connections_max: usize,
    engine: &Arc<txn::Engine>,
    error_log: ErrorLog,
) -> Result<ServerHandle, String> {
    let database = table::Database::open(engine.clone()).map_err(|error| format!("cannot read the catalog: {error}"))?;
    let config = server::Config {
        tcp: settings.tcp.then(|| SocketAddr::new(settings.bind, settings.port)),
        admin: settings.admin_address.map(|address| SocketAddr::new(address, settings.admin_port)),
        socket: socket_path(settings),
        data_dir: settings.data_dir.clone(),
        event_scheduler: settings.event_scheduler,
        log_bin: settings.log_bin,
        logs: settings.logs.clone(),
        error_log,
        has_json_log: settings.log_json,
        secure_file_priv: settings.secure_file_priv.clone(),
        workers: settings.workers,
        connections_max,
        buffer_pool_bytes: settings.buffer_pool_bytes,
        durability: settings.durability,
        tls: settings.tls,
        variables: settings.variables.clone(),
        allows_open_root: settings.allows_open_root,
        ..server::Config::default()
    };
    server::start(config, database, engine.clone()).map_err(|error| match error {
        server::StartError::Listen { .. } => format!("{error} (choose another with --port or --socket)"),
        _ => error.to_string(),
    })
}

fn serve(
    settings: &Settings,
    connections_max: usize,
    engine: &Arc<txn::Engine>,
    signals: Signals,
    systemd: &Systemd,
    (started, opening, error_log): (Instant, notify::Working, ErrorLog),
) -> Result<(), String> {
    let handle = start_server(settings, connections_max, engine, error_log)?;
    let (stop, told) = (handle.stopper(), systemd.clone());
    signals.stop_with(move || {
        told.stopping();
        stop();
    });
    let console = console::start(settings, &handle);
    let _pid_file = settings.pid_file.as_deref().map(PidFile::write).transpose()?;
    let socket = socket_path(settings);
    announce(settings, handle.tcp_address(), socket.as_deref(), console.as_ref(), started);
    let ready = ready_line(socket.as_deref(), handle.tcp_address().map_or(0, |address| address.port()));
    tracing::info!("{ready}");
    drop(opening);
    systemd.ready(&ready);
    let watchdog = systemd.watch(Inside::new(&handle));
    handle.wait();
    drop(watchdog);
    systemd.stopping(); // SHUTDOWN stops the server without a signal.
    if let Some(console) = console {
        console.stop();
    }
    Ok(())
}

/// The line of the log that programs wait for. Its words are those of MySQL's line, which test containers look for.
pub fn ready_line(socket: Option<&Path>, port: u16) -> String {
    let socket = socket.map(|path| path.display().to_string()).unwrap_or_default();
    format!(
        "ready for connections. Version: '{}'  socket: '{socket}'  port: {port}  MySQL Community Server compatible: Heddle.",
        server::VERSION
    )
}

/// A file with the number of the process, as long as this lives.
struct PidFile(PathBuf);

impl PidFile {
    fn write(path: &Path) -> Result<Self, String> {
        let written = std::fs::write(path, format!("{}\n", std::process::id()));
        written.map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The buffer pool is taken as pages come in, so that too much of it is noticed late: by the system, which then ends the process.
fn memory_warning(buffer_pool_bytes: u64, memory: u64) -> Option<String> {
    (buffer_pool_bytes > memory).then(|| {
        let (pool, memory) = (size::text(buffer_pool_bytes), size::text(memory));
        format!("the buffer pool may take {pool}, and this process has {memory} of memory: the system may end it (give a smaller --buffer-pool)")
    })
}

/// An error of the engine, for people.
pub fn text_of(error: &txn::Error) -> String {
    match error {
        txn::Error::Storage(text) => text.clone(),
        txn::Error::Full => "no space is left".to_owned(),
        other => format!("{other:?}"),
    }
}

/// The unix socket's path. The default is in the data directory, or, where that path is too long for the system, in the directory for
/// temporary files.
pub fn socket_path(settings: &Settings) -> Option<PathBuf> {
    match &settings.socket {
        Socket::None => None,
        Socket::Path(path) => Some(path.clone()),
        Socket::Default => {
            let path = settings.data_dir.join("heddle.sock");
            if path.as_os_str().len() <= limits::SOCKET_PATH_BYTES_MAX {
                Some(path)
            } else {
                Some(std::env::temp_dir().join(format!("heddle-{}.sock", settings.port)))
            }
        }
    }
}

/// Says where the server is and how to reach it.
fn announce(
    settings: &Settings,
    tcp: Option<SocketAddr>,
    socket: Option<&Path>,
    console: Option<&::console::Console>,
    started: Instant,
) {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string();
    let socket = socket.map(absolute);
    let mut places: Vec<String> = tcp.iter().map(ToString::to_string).collect();
    places.extend(socket.clone());
    let mut lines = vec![
        format!("Heddle {} is ready after {} ms.", env!("CARGO_PKG_VERSION"), started.elapsed().as_millis()),
        format!("  listening  {}", places.join(" and ")),
        format!("  data       {}", absolute(&settings.data_dir)),
        format!("  settings   {}", summary(settings)),
    ];
    let mut title = "connect";
    if let Some(address) = tcp {
        lines.push(format!("  {title:10} mariadb -h {} -P {} -u root", reachable(address.ip()), address.port()));
        title = "";
    }
    if let Some(path) = socket {
        lines.push(format!("  {title:10} mariadb -S {path} -u root"));
    }
    if let Some(console) = console {
        let (scheme, address) = (if console.is_secure() { "https" } else { "http" }, console.address());
        let address = SocketAddr::new(reachable(address.ip()), address.port());
        lines.push(format!("  console    {scheme}://{address}/"));
    }
    lines.push("  stop       Ctrl-C".to_owned());
    let mut out = std::io::stdout().lock();
    // A reader that closed standard output does not want these lines.
    let _ = writeln!(out, "{}", lines.join("\n")).and_then(|()| out.flush());
}

pub fn summary(settings: &Settings) -> String {
    let durability = match settings.durability {
        txn::Durability::Full => "durability full",
        txn::Durability::Relaxed => "durability RELAXED: a crash of the machine may lose the last second of commits",
        txn::Durability::None => "durability NONE: a crash of the machine may lose commits; for tests only",
    };
    let workers = if settings.workers == 1 { "1 worker".to_owned() } else { format!("{} workers", settings.workers) };
    format!("{} buffer pool, {workers}, {durability}", size::text(settings.buffer_pool_bytes))
}

/// An address that a client on this machine can connect to.
fn reachable(bound: IpAddr) -> IpAddr {
    match bound {
        IpAddr::V4(address) if address.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(address) if address.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        other => other,
    }
}

/// A terminal, and a program that forwards its signals, may both send the same Ctrl-C.
const SAME_CTRL_C: Duration = Duration::from_secs(1);

/// Does a further signal, so long after the first, mean to stop without more ado?
fn is_impatient(signal: i32, since: Duration) -> bool {
    signal == SIGINT && since >= SAME_CTRL_C
}

/// SIGINT and SIGTERM, caught from before the data is opened, so that none ends the process in the middle of that.
struct Signals(signal_hook::iterator::Signals);

impl Signals {
    fn register() -> Result<Self, String> {
        signal_hook::iterator::Signals::new([SIGINT, SIGTERM]).map(Self).map_err(|error| format!("cannot catch signals: {error}"))
    }

    /// Calls `stop` at the first signal (also one that has come already) and ends the process at a later Ctrl-C.
    fn stop_with(mut self, stop: impl Fn() + Send + 'static) {
        let wait = move || {
            let mut stopping_since = None;
            for signal in self.0.forever() {
                match stopping_since.map(|since: Instant| since.elapsed()) {
                    None => {
                        stopping_since = Some(Instant::now());
                        stop();
                    }
                    Some(since) if is_impatient(signal, since) => {
                        os::report(format_args!("stopped at once; the next start recovers from the log"));
                        std::process::exit(1);
                    }
                    Some(_) => os::report(format_args!("stopping already")),
                }
            }
        };
        std::thread::Builder::new().name("signals".to_owned()).spawn(wait).expect("a thread can be started before clients come");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_default_socket_path_is_moved() {
        let flags = crate::cli::ServeFlags::default();
        let mut settings = Settings::load(&flags).unwrap();
        settings.data_dir = PathBuf::from("heddle-data");
        assert_eq!(socket_path(&settings), Some(PathBuf::from("heddle-data/heddle.sock")));
        settings.data_dir = PathBuf::from("/x".repeat(60));
        let path = socket_path(&settings).unwrap();
        assert!(path.as_os_str().len() <= limits::SOCKET_PATH_BYTES_MAX, "{path:?}");
    }

    #[test]
    fn only_a_later_ctrl_c_cuts_a_stop_short() {
        let seconds = Duration::from_secs;
        assert!(is_impatient(SIGINT, seconds(1)) && !is_impatient(SIGINT, Duration::from_millis(20)));
        assert!(!is_impatient(SIGTERM, seconds(0)) && !is_impatient(SIGTERM, seconds(100)));
    }

    #[test]
    fn a_buffer_pool_larger_than_memory_is_told() {
        assert_eq!(memory_warning(1 << 30, 1 << 30), None);
        let warning = memory_warning(4 << 30, 1 << 30).expect("a warning");
        assert!(warning.contains("4 GiB") && warning.contains("has 1 GiB"), "{warning}");
    }

    #[test]
    fn addresses_to_connect_to() {
        assert_eq!(reachable("0.0.0.0".parse().unwrap()).to_string(), "127.0.0.1");
        assert_eq!(reachable("::".parse().unwrap()).to_string(), "::1");
        assert_eq!(reachable("10.0.0.1".parse().unwrap()).to_string(), "10.0.0.1");
    }
}
