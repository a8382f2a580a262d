//! The slow query log and the general log: one thread writes the entries of all sessions to MySQL's files.
//!
//! ```text
//! session   makes an entry (`entry`) and appends it to the pending data   (`TextLogs::write`)
//! thread    takes all pending data, and appends it to the file            (`writer`)
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
mod writer;

pub use entry::{Origin, Timing, general_entry, put_value, slow_entry};

use crate::variables::{Globals, Setting, known};
use os::thread::JoinHandle;
use reactor::{OneShot, Reply, one_shot};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sync::waits::Kind;
use sync::{Condvar, Mutex};

/// The data about the running statement that the logs need, while one of them is on.
#[derive(Debug, Default)]
pub struct Logged {
    /// The statement that EXECUTE runs, with its values.
    pub executed: Option<Vec<u8>>,
    /// ALTER TABLE and the like: for the slow log only with `log_slow_admin_statements`.
    pub is_administrative: bool,
    /// Microseconds that the session had waited for locks when the statement began.
    pub waited_us: u64,
}

/// One of the two logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Log {
    General,
    Slow,
}

impl Log {
    pub const ALL: [Log; 2] = [Log::General, Log::Slow];

    /// The variables that turn it on and that name its file.
    pub fn variables(self) -> [&'static str; 2] {
        match self {
            Log::General => ["general_log", "general_log_file"],
            Log::Slow => ["slow_query_log", "slow_query_log_file"],
        }
    }
}

/// The files that are written, by `Log`; `None`: that log is off.
pub type Files = [Option<PathBuf>; 2];

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
    /// Entries for which there was no room (L1).
    dropped: [u64; 2],
    /// The database that the slow log named last.
    database: Option<String>,
    requests: VecDeque<Request>,
    is_finished: bool,
}

enum Request {
    Files(Files, Reply<Result<(), CannotOpen>>),
    Reopen([bool; 2], Reply<Result<(), CannotOpen>>),
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
}

impl TextLogs {
    /// `head` names the server of the files: version, port and socket.
    pub fn start(head: String) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let writer = writer::Writer::new(Arc::clone(&shared), head);
        let thread = os::thread::Builder::new().name("text-log".to_owned()).stack_size(128 << 10).spawn(move || writer.run())?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Adds an entry, which `put` appends (L1). `put` may change the database that the slow log has named last.
    pub fn write(&self, log: Log, put: impl FnOnce(&mut Vec<u8>, &mut Option<String>)) {
        let mut pending = self.shared.pending.lock();
        let Pending { bytes, dropped, database, .. } = &mut *pending;
        let bytes = &mut bytes[log as usize];
        let before = bytes.len();
        let database_before = database.clone();
        put(bytes, database);
        if before > 0 && bytes.len() > PENDING_BYTES_MAX {
            bytes.truncate(before);
            *database = database_before;
            dropped[log as usize] += 1;
        }
        drop(pending);
        self.shared.wake.notify_one();
    }

    /// From now on these files are written. On an error everything stays as it was.
    pub fn set_files(&self, files: Files) -> OneShot<Result<(), CannotOpen>> {
        self.request(|reply| Request::Files(files, reply))
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

/// The files that the variables ask for.
pub fn files(globals: &Globals, data_dir: &Path) -> Files {
    let to_files = globals.get(known("log_output")).as_text().split(',').any(|to| to == "FILE");
    Log::ALL.map(|log| {
        let [switch, file] = log.variables().map(known);
        (to_files && globals.get(switch).as_bool()).then(|| data_dir.join(globals.get(file).as_text()))
    })
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
