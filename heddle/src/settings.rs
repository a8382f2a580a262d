//! Settings: flag, else environment, else file, else default.
//!
//! Each setting is a text from one of these places; it is read by one function, whatever its place, and a mistake is reported with the
//! place: `--port: '99999' is not a port`, `HEDDLE_PORT: ...`, `heddle.toml, line 3, port: ...`.

use crate::cli::ServeFlags;
use crate::config_file::{self, Entry};
use crate::{limits, size};
use server::{EventScheduler, LogSettings};
use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;
use txn::Durability;

/// The settings, by the names of their flags.
pub const KEYS: &[&str] = &[
    "port",
    "bind",
    "tcp",
    "admin-address",
    "admin-port",
    "socket",
    "data-dir",
    "secure-file-priv",
    "tls",
    "buffer-pool",
    "undo-memory",
    "recovery-target-seconds",
    "force-recovery",
    "workers",
    "durability",
    "max-connections",
    "event-scheduler",
    "log-bin",
    "slow-query-log",
    "slow-query-log-file",
    "long-query-time",
    "general-log",
    "general-log-file",
    "log-output",
    "log-level",
    "log-error",
    "log-format",
    "console",
    "console-plain",
];

/// Where a container's files of the first start are, if not in their usual place.
pub const INITDB_VARIABLE: &str = "HEDDLE_INITDB_DIR";
/// The console's port if none is given.
const CONSOLE_PORT: u16 = 3380;
/// The smallest buffer pool.
pub const BUFFER_POOL_BYTES_MIN: u64 = 8 << 20;
const UNDO_MEMORY_BYTES_MIN: u64 = 1 << 20;
/// Where the memory is not known.
const BUFFER_POOL_DEFAULT_BYTES: u64 = 128 << 20;
const WORKERS_MAX: usize = 1024;
const RECOVERY_TARGET_SECONDS_MAX: usize = 86_400;
const CONNECTIONS_MAX: usize = 100_000;

/// How the server is to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub port: u16,
    pub bind: IpAddr,
    /// Whether clients may connect by TCP at all.
    pub tcp: bool,
    /// Where administrators connect; `None`: nowhere but where all do.
    pub admin_address: Option<IpAddr>,
    pub admin_port: u16,
    pub socket: Socket,
    pub data_dir: PathBuf,
    /// Where statements may make files; `None`: nowhere.
    pub secure_file_priv: Option<PathBuf>,
    /// Offer TLS to clients.
    pub tls: bool,
    pub buffer_pool_bytes: u64,
    pub undo_memory_bytes: u64,
    pub recovery_target: Duration,
    /// Start on a damaged log, without what lies behind the damage.
    pub force_recovery: bool,
    pub workers: usize,
    pub durability: Durability,
    pub connections_max: usize,
    pub event_scheduler: EventScheduler,
    /// The binary log is written.
    pub log_bin: bool,
    pub logs: LogSettings,
    pub log_level: tracing::Level,
    /// The file of the server's own log; `None`: standard error.
    pub log_error: Option<PathBuf>,
    /// Its lines are JSON.
    pub log_json: bool,
    /// Where the console is; `None`: nowhere.
    pub console: Option<SocketAddr>,
    /// The console speaks plain HTTP to other machines, too.
    pub console_plain: bool,
    /// System variables by name, as they were given to `mysqld`.
    pub variables: Vec<(String, String)>,
    /// Where the number of the process is written.
    pub pid_file: Option<PathBuf>,
    /// Other machines may reach a root without a password: asked for by name.
    pub allows_open_root: bool,
}

/// Where the unix socket is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Socket {
    /// In the data directory.
    Default,
    Path(PathBuf),
    None,
}

/// A setting that cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// The file itself; the message names it.
    File(String),
    /// `origin` says where the value was given.
    Value { origin: String, why: String },
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingError::File(message) => f.write_str(message),
            SettingError::Value { origin, why } => write!(f, "{origin}: {why}"),
        }
    }
}

impl Settings {
    /// Reads the process's settings.
    pub fn load(flags: &ServeFlags) -> Result<Self, SettingError> {
        Self::from_sources(flags, |name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()))
    }

    fn from_sources(flags: &ServeFlags, environment: impl Fn(&str) -> Option<String>) -> Result<Self, SettingError> {
        let path = flags.config.clone().or_else(|| environment("HEDDLE_CONFIG")).filter(|path| !path.is_empty());
        let file = match &path {
            Some(path) => config_file::read(path.as_ref(), KEYS).map_err(SettingError::File)?,
            None => BTreeMap::new(),
        };
        let sources = Sources { flags, environment: &environment, file, path: path.unwrap_or_default() };
        let buffer_pool_bytes = sources.read("buffer-pool", parse_buffer_pool)?.unwrap_or_else(default_buffer_pool_bytes);
        Ok(Self {
            port: sources.read("port", parse_port)?.unwrap_or(3306),
            bind: sources.read("bind", parse_address)?.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            tcp: sources.read("tcp", parse_switch)?.unwrap_or(true),
            admin_address: sources.read("admin-address", parse_address)?,
            admin_port: sources.read("admin-port", parse_port)?.unwrap_or(33_062),
            socket: sources.read("socket", parse_socket)?.unwrap_or(Socket::Default),
            data_dir: sources.read("data-dir", parse_path)?.unwrap_or_else(|| PathBuf::from("heddle-data")),
            secure_file_priv: sources.read("secure-file-priv", parse_path)?,
            tls: sources.read("tls", parse_switch)?.unwrap_or(true),
            buffer_pool_bytes,
            undo_memory_bytes: sources.read("undo-memory", parse_undo_memory)?.unwrap_or(buffer_pool_bytes / 4),
            recovery_target: sources
                .read("recovery-target-seconds", |text| parse_count(text, RECOVERY_TARGET_SECONDS_MAX))?
                .map_or(txn::RECOVERY_TARGET, |seconds| Duration::from_secs(seconds as u64)),
            force_recovery: sources.read("force-recovery", parse_switch)?.unwrap_or(false),
            workers: sources.read("workers", |text| parse_count(text, WORKERS_MAX))?.unwrap_or_else(default_workers),
            durability: sources.read("durability", parse_durability)?.unwrap_or(Durability::Full),
            connections_max: sources.read("max-connections", |text| parse_count(text, CONNECTIONS_MAX))?.unwrap_or(4096),
            log_bin: sources.read("log-bin", parse_switch)?.unwrap_or(false),
            event_scheduler: sources.read("event-scheduler", parse_event_scheduler)?.unwrap_or_default(),
            logs: LogSettings {
                slow: sources.read("slow-query-log", parse_switch)?.unwrap_or(false),
                general: sources.read("general-log", parse_switch)?.unwrap_or(false),
                slow_file: sources.read("slow-query-log-file", parse_path)?,
                general_file: sources.read("general-log-file", parse_path)?,
                long_query_seconds: sources.read("long-query-time", parse_seconds)?,
                output: sources.read("log-output", parse_log_output)?.unwrap_or_else(|| "FILE".to_owned()),
            },
            log_error: sources.read("log-error", parse_path)?,
            log_json: sources.read("log-format", parse_log_format)?.unwrap_or(false),
            log_level: sources.read("log-level", parse_level)?.unwrap_or(tracing::Level::INFO),
            console: sources.read("console", parse_console)?.unwrap_or_else(|| console_at(IpAddr::V4(Ipv4Addr::LOCALHOST))),
            console_plain: sources.read("console-plain", parse_switch)?.unwrap_or(false),
            variables: Vec::new(),
            pid_file: None,
            allows_open_root: false,
        })
    }
}

/// What to give here instead of an option of MySQL's server or client, without its dashes.
pub fn word_for_mysql_option(name: &str) -> Option<&'static str> {
    let name = name.split('=').next().unwrap_or_default().replace('_', "-");
    Some(match &*name {
        "user" | "u" => "Heddle runs as the user who starts it; an account of clients is made with CREATE USER",
        "P" => "the port is --port",
        "S" => "the socket is --socket",
        "basedir" | "b" | "datadir" => "the place of the data is --data-dir; there is nothing else to install",
        "bind-address" => "the address is --bind",
        "defaults-file" | "defaults-extra-file" => "the settings file is --config, a TOML file with the names of the flags",
        "innodb-buffer-pool-size" => "the memory for pages is --buffer-pool",
        "innodb-flush-log-at-trx-commit" | "sync-binlog" => "what a commit waits for is --durability",
        "innodb-force-recovery" => "a damaged log is left behind with --force-recovery",
        "initialize" | "initialize-insecure" => {
            "a data directory is made at the first start; 'heddle init' makes one with accounts"
        }
        "daemonize" | "D" => "the server stays in the foreground: start it from systemd, or with '&'",
        "pid-file" => "heddle.lock in the data directory has the number of the process",
        "log-error-services" => "the lines of the server's log are JSON with --log-format json",
        "skip-networking" => {
            "--tcp off leaves the unix socket alone; --bind 127.0.0.1 is what is reachable from this machine only"
        }
        _ => return None,
    })
}

/// Variables of the environment that look like settings and are none: probably misspelt.
pub fn unknown_variables(names: impl Iterator<Item = String>) -> Vec<String> {
    let is_known =
        |name: &str| ["HEDDLE_CONFIG", INITDB_VARIABLE].contains(&name) || KEYS.iter().any(|key| variable_of(key) == name);
    names.filter(|name| name.starts_with("HEDDLE_") && !is_known(name)).collect()
}

fn variable_of(key: &str) -> String {
    format!("HEDDLE_{}", key.replace('-', "_").to_uppercase())
}

/// The places a setting may come from.
struct Sources<'a, E> {
    flags: &'a ServeFlags,
    environment: &'a E,
    file: BTreeMap<&'static str, Entry>,
    path: String,
}

impl<E: Fn(&str) -> Option<String>> Sources<'_, E> {
    fn read<T>(&self, key: &'static str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, SettingError> {
        let Some((text, origin)) = self.find(key) else { return Ok(None) };
        parse(&text).map(Some).map_err(|why| SettingError::Value { origin, why })
    }

    /// The text of a setting, and where it was given.
    fn find(&self, key: &'static str) -> Option<(String, String)> {
        if let Some(text) = self.flags.get(key) {
            return Some((text.to_owned(), format!("--{key}")));
        }
        let variable = variable_of(key);
        if let Some(text) = (self.environment)(&variable) {
            return Some((text, variable));
        }
        let entry = self.file.get(key)?;
        Some((entry.text.clone(), format!("{}, line {}, {key}", self.path, entry.line)))
    }
}

fn parse_port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("'{text}' is not a port (0 to 65535)"))
}

fn parse_address(text: &str) -> Result<IpAddr, String> {
    match text {
        "localhost" => Ok(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        "*" => Ok(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        _ => text.parse().map_err(|_| format!("'{text}' is not an IP address of this machine")),
    }
}

fn parse_switch(text: &str) -> Result<bool, String> {
    match text {
        // The last are how a TOML file says it.
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err(format!("'{text}' is neither 'on' nor 'off'")),
    }
}

/// An address with or without a port, a port alone, or 'off'.
fn parse_console(text: &str) -> Result<Option<SocketAddr>, String> {
    if let Ok(port) = text.parse() {
        return Ok(Some(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port)));
    }
    match text {
        "off" | "false" => Ok(None),
        "on" | "true" => Ok(console_at(IpAddr::V4(Ipv4Addr::LOCALHOST))),
        _ if text.parse::<SocketAddr>().is_ok() => Ok(text.parse().ok()),
        _ => match text.rsplit_once(':').map(|(host, port)| (parse_address(host), parse_port(port))) {
            Some((Ok(address), Ok(port))) => Ok(Some(SocketAddr::new(address, port))),
            _ => parse_address(text).map(console_at).map_err(|_| {
                format!("'{text}' is neither an address of this machine with a port, such as 127.0.0.1:{CONSOLE_PORT}, nor 'off'")
            }),
        },
    }
}

fn console_at(address: IpAddr) -> Option<SocketAddr> {
    Some(SocketAddr::new(address, CONSOLE_PORT))
}

/// Seconds with a fraction, up to a year.
fn parse_seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=31_536_000.0).contains(seconds));
    seconds.ok_or_else(|| format!("'{text}' is not a number of seconds from 0 to 31536000"))
}

/// The value of `log_output`.
fn parse_log_output(text: &str) -> Result<String, String> {
    match text.to_ascii_uppercase().as_str() {
        output @ ("FILE" | "TABLE" | "NONE") => Ok(output.to_owned()),
        "FILE,TABLE" | "TABLE,FILE" => Ok("FILE,TABLE".to_owned()),
        _ => Err(format!("'{text}' is not one of 'file', 'table', 'file,table' and 'none'")),
    }
}

/// JSON?
fn parse_log_format(text: &str) -> Result<bool, String> {
    match text {
        "text" => Ok(false),
        "json" => Ok(true),
        _ => Err(format!("'{text}' is neither 'text' nor 'json'")),
    }
}

fn parse_path(text: &str) -> Result<PathBuf, String> {
    if text.is_empty() { Err("a path is needed".to_owned()) } else { Ok(PathBuf::from(text)) }
}

fn parse_socket(text: &str) -> Result<Socket, String> {
    if text.is_empty() || text == "none" {
        return Ok(Socket::None);
    }
    if text.len() > limits::SOCKET_PATH_BYTES_MAX {
        return Err(format!(
            "the path has {} bytes, and the system allows {} for a unix socket: choose a shorter one",
            text.len(),
            limits::SOCKET_PATH_BYTES_MAX
        ));
    }
    Ok(Socket::Path(PathBuf::from(text)))
}

fn parse_buffer_pool(text: &str) -> Result<u64, String> {
    parse_size(text, BUFFER_POOL_BYTES_MIN)
}

fn parse_undo_memory(text: &str) -> Result<u64, String> {
    parse_size(text, UNDO_MEMORY_BYTES_MIN)
}

fn parse_size(text: &str, least: u64) -> Result<u64, String> {
    match size::parse(text)? {
        bytes if bytes < least => Err(format!("'{text}' is too small; the least is {}", size::text(least))),
        bytes => Ok(bytes),
    }
}

fn parse_count(text: &str, max: usize) -> Result<usize, String> {
    match text.parse() {
        Ok(count) if (1..=max).contains(&count) => Ok(count),
        _ => Err(format!("'{text}' is not a number from 1 to {max}")),
    }
}

fn parse_durability(text: &str) -> Result<Durability, String> {
    match text {
        "full" => Ok(Durability::Full),
        "relaxed" => Ok(Durability::Relaxed),
        "none" => Ok(Durability::None),
        _ => Err(format!("'{text}' is not one of full, relaxed, none")),
    }
}

fn parse_event_scheduler(text: &str) -> Result<EventScheduler, String> {
    match &*text.to_ascii_lowercase() {
        "on" => Ok(EventScheduler::On),
        "off" => Ok(EventScheduler::Off),
        "disabled" => Ok(EventScheduler::Disabled),
        _ => Err(format!("'{text}' is not one of on, off, disabled")),
    }
}

fn parse_level(text: &str) -> Result<tracing::Level, String> {
    text.parse().map_err(|_| format!("'{text}' is not one of error, warn, info, debug, trace"))
}

fn default_workers() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(WORKERS_MAX)
}

/// The default for the memory that this process may use.
fn default_buffer_pool_bytes() -> u64 {
    buffer_pool_bytes_for(os::memory_bytes().unwrap_or(0))
}

/// A quarter of the memory, whole MiB; pages of it are touched only as they are needed. A quarter also where there is little: statements and
/// sessions need the rest.
fn buffer_pool_bytes_for(memory: u64) -> u64 {
    match memory {
        0 => BUFFER_POOL_DEFAULT_BYTES,
        _ => ((memory / 4) >> 20 << 20).max(BUFFER_POOL_BYTES_MIN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(flags: &ServeFlags, variables: &[(&str, &str)]) -> Result<Settings, String> {
        let environment = |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| (*value).to_owned());
        Settings::from_sources(flags, environment).map_err(|e| e.to_string())
    }

    #[test]
    fn defaults() {
        let settings = load(&ServeFlags::default(), &[]).unwrap();
        assert_eq!((settings.port, settings.bind.to_string().as_str()), (3306, "127.0.0.1"));
        assert_eq!(settings.data_dir, PathBuf::from("heddle-data"));
        assert_eq!((settings.durability, settings.socket), (Durability::Full, Socket::Default));
        assert!(settings.buffer_pool_bytes >= 8 << 20 && settings.buffer_pool_bytes.is_multiple_of(1 << 20));
        assert!(settings.workers >= 1);
    }

    #[test]
    fn the_pool_fits_the_memory() {
        let pool_mib = |memory_mib: u64| buffer_pool_bytes_for(memory_mib << 20) >> 20;
        assert_eq!([64 << 10, 1024, 512, 256, 16].map(pool_mib), [16 << 10, 256, 128, 64, 8]);
        assert_eq!(pool_mib(0), 128);
    }

    #[test]
    fn a_flag_beats_the_environment_and_that_beats_the_file() {
        let path = std::env::temp_dir().join(format!("heddle-settings-{}.toml", std::process::id()));
        std::fs::write(&path, "port = 1\nbind = '::1'\nworkers = 2\ndurability = 'none'\n").unwrap();
        let flags = ServeFlags { config: Some(path.display().to_string()), port: Some("3".to_owned()), ..ServeFlags::default() };
        let settings = load(&flags, &[("HEDDLE_PORT", "2"), ("HEDDLE_WORKERS", "7")]).unwrap();
        assert_eq!((settings.port, settings.workers), (3, 7));
        assert_eq!((settings.bind.to_string().as_str(), settings.durability), ("::1", Durability::None));

        std::fs::write(&path, "port = 1\n\nworkers = 0\n").unwrap();
        let expected = format!("{}, line 3, workers: '0' is not a number from 1 to 1024", path.display());
        assert_eq!(load(&flags, &[]), Err(expected));
        let by_variable = load(&ServeFlags::default(), &[("HEDDLE_CONFIG", path.to_str().unwrap())]);
        std::fs::remove_file(&path).unwrap();
        assert!(by_variable.unwrap_err().contains("line 3, workers"));
    }

    #[test]
    fn addresses_of_the_console() {
        let check = |text: &str, expected: Option<&str>| {
            let settings = load(&ServeFlags::default(), &[("HEDDLE_CONSOLE", text)]).unwrap();
            assert_eq!(settings.console.map(|address| address.to_string()).as_deref(), expected, "{text}");
        };
        check("off", None);
        check("on", Some("127.0.0.1:3380"));
        check("3390", Some("127.0.0.1:3390"));
        check("localhost:0", Some("127.0.0.1:0"));
        check("0.0.0.0", Some("0.0.0.0:3380"));
        check("*:3381", Some("0.0.0.0:3381"));
        check("[::1]:3381", Some("[::1]:3381"));
        check("::1", Some("[::1]:3380"));
        assert_eq!(load(&ServeFlags::default(), &[]).unwrap().console.map(|address| address.port()), Some(CONSOLE_PORT));
    }

    #[test]
    fn misspelt_variables() {
        let names = ["HEDDLE_PROT", "HEDDLE_PORT", "HEDDLE_DATA_DIR", "HEDDLE_CONFIG", "PATH"].map(str::to_owned);
        assert_eq!(unknown_variables(names.into_iter()), ["HEDDLE_PROT"]);
    }

    #[test]
    fn mistakes_name_their_place() {
        let check = |key: &str, value: &str, expected: &str| {
            let variable = variable_of(key);
            assert_eq!(load(&ServeFlags::default(), &[(&variable, value)]), Err(format!("{variable}: {expected}")));
        };
        check("port", "99999", "'99999' is not a port (0 to 65535)");
        check("bind", "example", "'example' is not an IP address of this machine");
        check("buffer-pool", "4X", "'4X' is not a size such as 512M, 4G or 1.5G");
        check("buffer-pool", "1M", "'1M' is too small; the least is 8 MiB");
        check("durability", "some", "'some' is not one of full, relaxed, none");
        check("max-connections", "many", "'many' is not a number from 1 to 100000");
        check("event-scheduler", "never", "'never' is not one of on, off, disabled");
        check("console", "here", "'here' is neither an address of this machine with a port, such as 127.0.0.1:3380, nor 'off'");
        check("console-plain", "yes", "'yes' is neither 'on' nor 'off'");
        check("log-level", "loud", "'loud' is not one of error, warn, info, debug, trace");
        check("data-dir", "", "a path is needed");
        check("long-query-time", "-1", "'-1' is not a number of seconds from 0 to 31536000");
        check("slow-query-log", "perhaps", "'perhaps' is neither 'on' nor 'off'");
        check("log-output", "elsewhere", "'elsewhere' is not one of 'file', 'table', 'file,table' and 'none'");
        check("log-format", "xml", "'xml' is neither 'text' nor 'json'");
        let flags = ServeFlags { socket: Some(format!("/{}", "x".repeat(120))), ..ServeFlags::default() };
        assert!(load(&flags, &[]).unwrap_err().starts_with("--socket: the path has 121 bytes, and the system allows 107"));
    }
}
