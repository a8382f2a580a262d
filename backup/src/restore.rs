//! Makes a data directory of a backup, or of a full one and the incremental ones on top of it.
//!
//! 1. The chain: from the wanted backup down to a full one, each named by the one above.
//! 2. Every file is read and checked before anything is written (R1).
//! 3. The pages of the full one, then those of each incremental one, in their places; log and control file of the last one.
//! 4. The log is cut at the wanted time, and the directory gets its control file.
//!
//! R1: a directory is made only of files that are whole; what fails later leaves a directory that no server starts on.

use crate::file::{Key, Kind, Reader};
use crate::place;
use crate::shelf::{self, Backup, show_time};
use crate::{Error, Progress, Result};
use std::path::{Path, PathBuf};
use table::hot_copy::{Target, Until};

/// What is restored, and to which moment.
pub struct Request {
    /// A backup file, or a directory of them.
    pub from: PathBuf,
    /// The new data directory.
    pub to: PathBuf,
    /// Microseconds since 1970; `None`: as far as there is log.
    pub until: Option<u64>,
    pub key_file: Option<PathBuf>,
}

/// What was restored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// The files, the full one first.
    pub files: Vec<String>,
    pub pages: u64,
    /// Bytes of log that the first start applies.
    pub log_bytes: u64,
    /// The last moment whose commits are there, in microseconds since 1970; 0: not known.
    pub time_us: u64,
}

impl Request {
    fn key(&self) -> Result<Option<Key>> {
        self.key_file.as_deref().map(Key::read).transpose()
    }

    /// The wanted backup: the file, or the best of the directory.
    fn wanted(&self) -> Result<Backup> {
        let incomplete = |path: &Path| Error(format!("{} is not complete: its backup was interrupted", path.display()));
        if !place::is_shelf(&self.from) {
            return shelf::inspect(&self.from, self.key()?)?.ok_or_else(|| incomplete(&self.from));
        }
        let names = shelf::names(&self.from)?;
        if names.is_empty() {
            return Err(Error(format!("{} has no backups (files that end in {})", self.from.display(), shelf::ENDING)));
        }
        let mut complete = Vec::new();
        for name in &names {
            complete.extend(shelf::inspect(&self.from.join(name), self.key()?)?);
        }
        // Without a time the one that reaches furthest; otherwise the newest that has the time, which has the least log to apply.
        let wanted = match self.until {
            None => complete.iter().max_by_key(|backup| backup.until_us),
            Some(time) => {
                let has = |backup: &&Backup| (backup.complete_us..=backup.until_us).contains(&time);
                complete.iter().filter(has).max_by_key(|backup| backup.complete_us)
            }
        };
        wanted.cloned().ok_or_else(|| {
            let of = |backup: &Backup| format!("{} to {}", show_time(backup.complete_us), show_time(backup.until_us));
            let has: Vec<String> = complete.iter().map(of).collect();
            let has = if has.is_empty() { "none".to_owned() } else { has.join(", ") };
            Error(format!("no backup in {} has that time; the times that they have: {has}", self.from.display()))
        })
    }

    /// The wanted backup and those below it, the full one first.
    fn chain(&self) -> Result<Vec<Backup>> {
        let mut chain = vec![self.wanted()?];
        while let Some(top) = chain.last().filter(|backup| !backup.is_full()) {
            let name = top.about.base.clone().unwrap_or_default();
            let path = top.path.with_file_name(&name);
            let is_inside = Path::new(&name).file_name() == Some(std::ffi::OsStr::new(&name));
            let missing = || Error(format!("{} is based on '{name}', which is not beside it", top.path.display()));
            if !is_inside || !place::exists(&path)? || chain.iter().any(|backup| backup.path == path) {
                return Err(missing());
            }
            let below = shelf::inspect(&path, self.key()?)?.ok_or_else(missing)?;
            if below.about.server != top.about.server || Some(below.begin.basis) != top.begin.since {
                return Err(Error(format!("{} does not continue {}", top.path.display(), below.path.display())));
            }
            chain.push(below);
        }
        chain.reverse();
        Ok(chain)
    }
}

/// Restores. `tell` is called now and then; its error ends the restore.
///
/// # Errors
/// That of `tell`; damage; a chain that is not complete; a time that the backups do not have; a directory that is not empty; I/O.
pub fn restore(request: &Request, mut tell: impl FnMut(Progress) -> Result<()>) -> Result<Restored> {
    let chain = request.chain()?;
    let last = chain.last().ok_or_else(|| Error("there is no backup".to_owned()))?.clone();
    let until = match request.until {
        None => Until::End,
        Some(time) if time < last.complete_us => {
            let what = format!("{} was complete at {} only", last.path.display(), show_time(last.complete_us));
            return Err(Error(format!("{what}: restore an earlier backup, or a later time")));
        }
        Some(time) if time > last.until_us => {
            return Err(Error(format!("the backups end at {}", show_time(last.until_us))));
        }
        Some(time) => Until::Time(time),
    };
    let mut target = Target::create(&request.to)?;
    let mut progress = Progress { done: 0, all: chain.iter().map(|backup| backup.bytes).sum(), stored: 0 };
    let (mut control, mut restored) = (Vec::new(), Restored::default());
    let mut files = Vec::new();
    for backup in &chain {
        let is_last = backup.path == last.path;
        let before = progress.done;
        let mut reader = Reader::open(&backup.path, request.key()?)?;
        while let Some(chunk) = reader.next_chunk()? {
            match chunk.kind {
                Kind::Pages => {
                    let first = u32::try_from(chunk.position).map_err(|_| Error("a page has a wrong number".to_owned()))?;
                    target.put_pages(first, &chunk.body)?;
                    restored.pages += chunk.body.len() as u64 / table::offline::PAGE_BYTES as u64;
                }
                // Behind the last mark the log may end in the middle of something.
                Kind::Log if is_last && chunk.position < last.log_end => target.put_log(chunk.position, &chunk.body)?,
                Kind::Control if is_last => control = chunk.body,
                Kind::File if is_last => files.push(chunk.body),
                _ => {}
            }
            progress.done = before + reader.read_bytes();
            tell(progress)?;
        }
        restored.files.push(backup.name());
    }
    for file in files {
        put_file(&request.to, &file)?;
    }
    let finished = target.finish(&control, last.log_end, until)?;
    (restored.log_bytes, restored.time_us) = (finished.log_bytes, finished.time_us);
    Ok(restored)
}

/// A settings file: its name, a zero byte, its bytes.
fn put_file(dir: &Path, file: &[u8]) -> Result<()> {
    let wrong = || Error("a settings file of the backup has no name".to_owned());
    let split = file.iter().position(|byte| *byte == 0).ok_or_else(wrong)?;
    let name = std::str::from_utf8(&file[..split]).ok().filter(|name| Path::new(name).file_name() == Some(name.as_ref()));
    let path = dir.join(name.ok_or_else(wrong)?);
    std::fs::write(&path, &file[split + 1..]).map_err(|e| crate::about(&path, "cannot write", e))
}
