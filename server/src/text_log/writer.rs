//! The thread that writes the logs' files.

use super::table::Table;
use super::{CannotOpen, Files, Log, Pending, Request, Shared, Targets, entry};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file that is open, by its path.
struct Open {
    path: PathBuf,
    file: File,
    /// The last write failed (L3).
    is_failing: bool,
}

pub struct Writer {
    shared: Arc<Shared>,
    head: String,
    open: [Option<Open>; 2],
    /// Emptied, and swapped with the pending data.
    spare: [Vec<u8>; 2],
    tables: [Table; 2],
    /// A table's last write failed (L3).
    failing_tables: [bool; 2],
}

/// Room that an idle log keeps.
const KEPT_BYTES: usize = 256 << 10;

impl Writer {
    pub fn new(shared: Arc<Shared>, head: String, data_dir: &Path) -> Self {
        let tables = Log::ALL.map(|log| Table::new(log, data_dir));
        Self { shared, head, open: [None, None], spare: Default::default(), tables, failing_tables: [false; 2] }
    }

    pub fn run(mut self) {
        loop {
            let mut pending = self.shared.pending.lock();
            while is_idle(&pending) {
                self.shared.wake.wait(&mut pending);
            }
            let bytes = std::mem::replace(&mut pending.bytes, std::mem::take(&mut self.spare));
            let rows = std::mem::take(&mut pending.rows);
            let dropped = std::mem::take(&mut pending.dropped);
            let requests = std::mem::take(&mut pending.requests);
            if !requests.is_empty() {
                // Later data may go to another file, which has to name its database.
                pending.database = None;
            }
            let is_finished = pending.is_finished;
            drop(pending);

            for log in Log::ALL {
                self.append(log, &bytes[log as usize], dropped[log as usize]);
                self.append_rows(log, &rows[log as usize]);
            }
            self.spare = bytes.map(|mut bytes| {
                bytes.clear();
                bytes.shrink_to(KEPT_BYTES);
                bytes
            });
            for request in requests {
                match request {
                    Request::Targets(targets, reply) => reply.send(self.set_targets(targets)),
                    Request::Rows(log, reply) => reply.send(self.tables[log as usize].rows()),
                    Request::Clear(log, reply) => reply.send(self.tables[log as usize].clear()),
                    Request::Call(function, reply) => {
                        function();
                        reply.send(());
                    }
                    Request::Reopen(logs, reply) => reply.send(self.reopen(logs)),
                }
            }
            if is_finished {
                return;
            }
        }
    }

    fn append_rows(&mut self, log: Log, rows: &[u8]) {
        if rows.is_empty() {
            return;
        }
        let is_failing = &mut self.failing_tables[log as usize];
        match self.tables[log as usize].append(rows) {
            Ok(()) => *is_failing = false,
            Err(error) if !*is_failing => {
                *is_failing = true;
                let table = log.table();
                tracing::error!(table, %error, "mysql.{table} cannot be written; what it should hold is lost until it can");
            }
            Err(_) => {}
        }
    }

    /// From here on sessions make what these targets need; what they have made until now is written.
    fn set_targets(&mut self, targets: Targets) -> Result<(), CannotOpen> {
        self.set_files(targets.files.clone())?;
        let mut pending = self.shared.pending.lock();
        pending.to_file = targets.files.each_ref().map(Option::is_some);
        pending.to_table = targets.tables;
        Ok(())
    }

    fn append(&mut self, log: Log, bytes: &[u8], dropped: u64) {
        let Some(open) = &mut self.open[log as usize] else { return };
        if bytes.is_empty() && dropped == 0 {
            return;
        }
        let mut written = open.file.write_all(bytes);
        if dropped > 0 {
            tracing::warn!(path = %open.path.display(), dropped, "entries were not written: the file is slower than they come");
            written = written.and_then(|()| open.file.write_all(&entry::dropped_entry(log, dropped)));
        }
        match written {
            Ok(()) => open.is_failing = false,
            Err(error) if !open.is_failing => {
                open.is_failing = true;
                tracing::error!(path = %open.path.display(), %error, "a log cannot be written; what it should hold is lost until it can");
            }
            Err(_) => {}
        }
    }

    fn set_files(&mut self, files: Files) -> Result<(), CannotOpen> {
        let mut opened = [None, None];
        for log in Log::ALL {
            let is_open = |path: &PathBuf| self.open[log as usize].as_ref().is_some_and(|open| open.path == *path);
            if let Some(path) = files[log as usize].as_ref().filter(|path| !is_open(path)) {
                opened[log as usize] = Some(open(path, &self.head).map_err(|error| cannot_open(log, path, error))?);
            }
        }
        for (log, new) in Log::ALL.into_iter().zip(opened) {
            if new.is_some() || files[log as usize].is_none() {
                self.open[log as usize] = new;
            }
        }
        Ok(())
    }

    fn reopen(&mut self, logs: [bool; 2]) -> Result<(), CannotOpen> {
        let mut outcome = Ok(());
        for log in Log::ALL {
            let Some(old) = self.open[log as usize].as_mut().filter(|_| logs[log as usize]) else { continue };
            // If it cannot be opened, the old file stays in use.
            match open(&old.path, &self.head) {
                Ok(new) => *old = new,
                Err(error) => outcome = Err(cannot_open(log, &old.path, error)),
            }
        }
        outcome
    }
}

fn is_idle(pending: &Pending) -> bool {
    let has_data = pending.bytes.iter().chain(&pending.rows).any(|data| !data.is_empty());
    !has_data && pending.requests.is_empty() && !pending.is_finished
}

fn open(path: &Path, head: &str) -> io::Result<Open> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o640);
    let mut file = options.create(true).append(true).open(path)?;
    file.write_all(head.as_bytes())?;
    Ok(Open { path: path.to_owned(), file, is_failing: false })
}

fn cannot_open(log: Log, path: &Path, error: io::Error) -> CannotOpen {
    CannotOpen { log, path: path.to_owned(), error }
}
