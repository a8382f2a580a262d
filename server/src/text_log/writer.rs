//! The thread that writes the logs' files.

use super::{CannotOpen, Files, Log, Request, Shared, entry};
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
}

/// Room that an idle log keeps.
const KEPT_BYTES: usize = 256 << 10;

impl Writer {
    pub fn new(shared: Arc<Shared>, head: String) -> Self {
        Self { shared, head, open: [None, None], spare: Default::default() }
    }

    pub fn run(mut self) {
        loop {
            let mut pending = self.shared.pending.lock();
            while pending.bytes.iter().all(Vec::is_empty) && pending.requests.is_empty() && !pending.is_finished {
                self.shared.wake.wait(&mut pending);
            }
            let bytes = std::mem::replace(&mut pending.bytes, std::mem::take(&mut self.spare));
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
            }
            self.spare = bytes.map(|mut bytes| {
                bytes.clear();
                bytes.shrink_to(KEPT_BYTES);
                bytes
            });
            for request in requests {
                match request {
                    Request::Files(files, reply) => reply.send(self.set_files(files)),
                    Request::Reopen(logs, reply) => reply.send(self.reopen(logs)),
                }
            }
            if is_finished {
                return;
            }
        }
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
