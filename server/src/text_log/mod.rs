//! The slow query log and the general log: one thread writes the entries of all sessions to MySQL's files, and to files
//! of rows that are the tables `mysql.slow_log` and `mysql.general_log`.
//!
//! ```text
//! session   makes an entry (`entry`, `table`) and appends it to the pending data   (`TextLogs::write`)
//! thread    takes all pending data, and appends it to the file and the table       (`writer`)
//! SET, FLUSH, start   queue a request after the pending data, and wait    (`TextLogs::set_files`, `TextLogs::reopen`)
//! ```
//!
//! L1: no session waits for a file. An entry that finds no room in memory is dropped and counted, and the log reports
//!     how many were.
//! L2: data that is pending before a request goes to the old file; data after its answer goes to the new one.
//! L3: a write error is reported once in the server's own log, and again only after a successful write in between.
//! L4: none of the server's own files is overwritten: in the data directory only `*.log` is allowed.
//!
//! Latch: one mutex, held while an entry is copied; only taken while a log is on.

mod entry;
mod table;
mod throttle;
mod writer;

pub use entry::{Extra, ExtraCounts, Origin, Timing, now_us, with_values};
pub use table::Row;

use crate::variables::{Globals, Setting, known};
use os::thread::JoinHandle;
use reactor::{OneShot, Reply, one_shot};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sync::waits::Kind;
use sync::{Condvar, Mutex};
use throttle::Throttle;

/// The data about the running statement that the logs need, while one of them is on.
#[derive(Debug, Default)]
pub struct Logged {
    /// The statement that EXECUTE runs, with its values.
    pub executed: Option<Vec<u8>>,
    /// ALTER TABLE and the like: for the slow log only with `log_slow_admin_statements`.
    pub is_administrative: bool,
    /// Microseconds that the session had waited for locks when the statement began.
    pub waited_us: u64,
    /// The samples of the worker when the statement began (`profile`).
    pub samples: u32,
    /// The session's counters when the statement began, for `log_slow_extra`.
    pub counts: ExtraCounts,
}

/// One of the two logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    General,
    Slow,
}

impl Log {
    pub const ALL: [Log; 2] = [Log::General, Log::Slow];

    /// Its table in `mysql`.
    pub fn table(self) -> &'static str {
        match self {
            Log::General => "general_log",
            Log::Slow => "slow_log",
        }
    }

    /// The log whose table this is.
    pub fn of_table(database: &str, table: &str) -> Option<Self> {
        let is_named = |log: &Log| log.table().eq_ignore_ascii_case(table);
        Self::ALL.into_iter().find(is_named).filter(|_| database.eq_ignore_ascii_case("mysql"))
    }

    /// The variables that turn it on and that name its file.
    pub fn variables(self) -> [&'static str; 2] {
        match self {
            Log::General => ["general_log", "general_log_file"],
            Log::Slow => ["slow_query_log", "slow_query_log_file"],
        }
    }
}

/// The files that are written, by `Log`; `None`: no file of that log.
pub type Files = [Option<PathBuf>; 2];

/// Where the logs go, by `Log`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Targets {
    pub files: Files,
    pub tables: [bool; 2],
}

impl Targets {
    /// Is the log written anywhere?
    pub fn has(&self, log: Log) -> bool {
        self.files[log as usize].is_some() || self.tables[log as usize]
    }
}

/// A file that cannot be a log.
#[derive(Debug)]
pub struct CannotOpen {
    pub log: Log,
    pub path: PathBuf,
    pub error: io::Error,
}

/// Bytes of a log that wait for the thread; one entry may be larger, when nothing else waits.
const PENDING_BYTES_MAX: usize = 8 << 20;

#[derive(Default)]
struct Pending {
    bytes: [Vec<u8>; 2],
    rows: [Vec<u8>; 2],
    /// What sessions make: entries of files, rows of tables.
    to_file: [bool; 2],
    to_table: [bool; 2],
    /// Entries for which there was no room (L1).
    dropped: [u64; 2],
    /// The database that the slow log named last.
    database: Option<String>,
    requests: VecDeque<Request>,
    is_finished: bool,
}

enum Request {
    Targets(Targets, Reply<Result<(), CannotOpen>>),
    Reopen([bool; 2], Reply<Result<(), CannotOpen>>),
    /// The rows of a table.
    Rows(Log, Reply<io::Result<Vec<Row>>>),
    Clear(Log, Reply<io::Result<()>>),
    /// Calls a function that may block.
    Call(Box<dyn FnOnce() + Send>, Reply<()>),
}

#[derive(Default)]
struct Shared {
    pending: Mutex<Pending>,
    wake: Condvar,
}

/// The logs of a server.
pub struct TextLogs {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    unindexed: Mutex<Throttle>,
}

impl TextLogs {
    /// `head` names the server of the files: version, port and socket.
    pub fn start(head: String, data_dir: &Path) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let writer = writer::Writer::new(Arc::clone(&shared), head, data_dir);
        let thread = os::thread::Builder::new().name("text-log".to_owned()).stack_size(128 << 10).spawn(move || writer.run())?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)), unindexed: Mutex::default() })
    }

    /// Adds an entry of the slow log.
    pub fn write_slow(&self, origin: &Origin<'_>, timing: &Timing, statement: &[u8]) {
        let mut pending = self.shared.pending.lock();
        let Pending { bytes, rows, dropped, database, to_file, to_table, .. } = &mut *pending;
        let log = Log::Slow as usize;
        if to_file[log] {
            let database_before = database.clone();
            let put = |out: &mut Vec<u8>| entry::slow_entry(origin, timing, statement, out, database);
            if !append(&mut bytes[log], put) {
                *database = database_before;
                dropped[log] += 1;
            }
        }
        if to_table[log] && !append(&mut rows[log], |out| table::put_slow(origin, timing, statement, now_us(), out)) {
            dropped[log] += 1;
        }
        drop(pending);
        self.shared.wake.notify_one();
    }

    /// Adds an entry of the general log.
    pub fn write_general(&self, origin: &Origin<'_>, command: &str, argument: &[u8]) {
        let mut pending = self.shared.pending.lock();
        let Pending { bytes, rows, dropped, to_file, to_table, .. } = &mut *pending;
        let log = Log::General as usize;
        let put = |out: &mut Vec<u8>| entry::general_entry(origin.session, command, argument, out);
        if to_file[log] && !append(&mut bytes[log], put) {
            dropped[log] += 1;
        }
        if to_table[log] && !append(&mut rows[log], |out| table::put_general(origin, command, argument, now_us(), out)) {
            dropped[log] += 1;
        }
        drop(pending);
        self.shared.wake.notify_one();
    }

    /// May a statement that is logged only because it uses no index be written? `per_minute`: how many may, 0: all.
    /// The first one after a minute tells how many were left out.
    pub fn admits_unindexed(&self, per_minute: u64, taken_us: u64, lock_us: u64) -> bool {
        let (is_admitted, summary) = self.unindexed.lock().admit(per_minute, taken_us, lock_us, now_us());
        if let Some(summary) = summary {
            let origin = Origin { session: 0, account: "", user: "", host: "", address: "", database: None };
            let timing =
                Timing { began: now_us() / 1_000_000, taken_us: summary.taken_us, lock_us: summary.lock_us, ..Timing::default() };
            let text = format!("throttle: {:10} 'index not used' warning(s) suppressed.", summary.count);
            self.write_slow(&origin, &timing, text.as_bytes());
        }
        is_admitted
    }

    /// From now on the logs go there. On an error everything stays as it was.
    pub fn set_targets(&self, targets: Targets) -> OneShot<Result<(), CannotOpen>> {
        self.request(|reply| Request::Targets(targets, reply))
    }

    /// The rows of a log's table, oldest first.
    pub fn rows(&self, log: Log) -> OneShot<io::Result<Vec<Row>>> {
        self.request(|reply| Request::Rows(log, reply))
    }

    /// TRUNCATE TABLE
    pub fn clear(&self, log: Log) -> OneShot<io::Result<()>> {
        self.request(|reply| Request::Clear(log, reply))
    }

    /// Calls a function on the logs' thread, because it may block.
    pub fn call(&self, function: impl FnOnce() + Send + 'static) -> OneShot<()> {
        self.request(|reply| Request::Call(Box::new(function), reply))
    }

    /// FLUSH: closes the files of these logs and opens them again, by their names.
    pub fn reopen(&self, logs: &[Log]) -> OneShot<Result<(), CannotOpen>> {
        self.request(|reply| Request::Reopen(Log::ALL.map(|log| logs.contains(&log)), reply))
    }

    fn request<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> OneShot<T> {
        let (reply, wait) = one_shot();
        let wait = wait.named(Kind::TextLog);
        let mut pending = self.shared.pending.lock();
        if !pending.is_finished {
            pending.requests.push_back(request(reply));
        }
        drop(pending);
        self.shared.wake.notify_one();
        wait
    }

    /// Writes the pending data, and ends the thread.
    pub fn finish(&self) {
        self.shared.pending.lock().is_finished = true;
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of the slow query log and the general log panicked");
        }
    }
}

/// Appends an entry; `false`: there is no room for it (L1).
fn append(pending: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) -> bool {
    let before = pending.len();
    put(pending);
    if before > 0 && pending.len() > PENDING_BYTES_MAX {
        pending.truncate(before);
        return false;
    }
    true
}

/// Where the variables send the logs.
pub fn targets(globals: &Globals, data_dir: &Path) -> Targets {
    let output = globals.get(known("log_output")).as_text();
    let names = |wanted: &str| output.split(',').any(|to| to == wanted);
    // NONE beside others turns them off, as in MySQL.
    let (to_files, to_tables) = (names("FILE") && !names("NONE"), names("TABLE") && !names("NONE"));
    let is_on = |log: Log| globals.get(known(log.variables()[0])).as_bool();
    let file = |log: Log| data_dir.join(globals.get(known(log.variables()[1])).as_text());
    Targets {
        files: Log::ALL.map(|log| (to_files && is_on(log)).then(|| file(log))),
        tables: Log::ALL.map(|log| to_tables && is_on(log)),
    }
}

/// The default names of the files: MySQL's.
pub fn default_file(log: Log, data_dir: &Path, hostname: &str) -> Setting {
    let name = if hostname.is_empty() { "heddle" } else { hostname };
    let suffix = if log == Log::Slow { "-slow.log" } else { ".log" };
    Setting::Text(data_dir.join(format!("{name}{suffix}")).display().to_string().into())
}

/// May a log be written to this path (L4)? It need not be there yet.
pub fn is_possible(path: &Path, data_dir: &Path) -> bool {
    let has_end = |ends: &[&str]| path.extension().is_some_and(|own| ends.iter().any(|end| own.eq_ignore_ascii_case(end)));
    let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else { return false };
    if has_end(&["cnf", "ini"]) {
        return false;
    }
    let real = path.canonicalize().or_else(|_| parent.canonicalize().map(|parent| parent.join(name)));
    let (Ok(real), Ok(own)) = (real, data_dir.canonicalize()) else { return false };
    if real.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return false;
    }
    !real.starts_with(&own) || (real.parent() == Some(&*own) && real.extension().is_some_and(|end| end == "log"))
}

#[cfg(test)]
mod tests;
