//! The files of the binary log: their names and index, the one that is written, and what a start makes of them.
//!
//! ```text
//! DIR/binlog.000001 ...      events (MySQL's format, version 4)
//! DIR/binlog.index           the names of the files, oldest first, a line each
//! DIR/binlog.state           JSON: up to which place of the write-ahead log which byte of which file has it
//! DIR/binlog.trees.N         the definitions at that place
//! ```
//!
//! F1: the state is written after the file is synced up to the byte that it names, so nothing before that byte is rendered again.
//! F2: behind that byte there are whole groups, each with the number of its commit, and maybe a part of one, which is cut off at a start.
//! F3: the index names a new file after it has its first events, durably. A file that was purged leaves the index first.

use crate::event::{self, Seen};
use crate::gtid::{Gtid, GtidSet};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use sync::atomic::{AtomicBool, Ordering};

pub const BASE: &str = "binlog";
const INDEX: &str = "binlog.index";
const STATE: &str = "binlog.state";
const TREES: &str = "binlog.trees";
/// Events read at once while a file is scanned.
const READ_BYTES: usize = 256 << 10;
/// A longer event than this is damage: MySQL's own limit is 1 GiB and something.
pub const EVENT_BYTES_MAX: usize = (1 << 30) + (64 << 20);

/// A file of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub name: String,
}

/// The state, see [`F1`](self).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub format: u32,
    /// Reading begins here: where the oldest transaction began that was open, or where the log had been read up to.
    pub position: u64,
    pub sequence: u64,
    /// All epochs up to this one are rendered, as far as their transactions had ended.
    pub epoch: u64,
    pub file: String,
    pub offset: u64,
    /// GTIDs of all groups up to there, and before the first file.
    pub executed: String,
    pub purged: String,
    /// The number of `binlog.trees.N`.
    pub trees: u64,
}

pub const STATE_FORMAT: u32 = 1;

fn sync_dir(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// Writes a file as a whole: it is there with all of this, or as it was.
fn replace(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let unnamed = dir.join(format!("{name}.new"));
    let mut file = File::create(&unnamed)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    std::fs::rename(&unnamed, dir.join(name))?;
    sync_dir(dir)
}

/// The state of a directory; `None`: it has none.
///
/// # Errors
/// I/O; a file that is no state.
pub fn read_state(dir: &Path) -> io::Result<Option<State>> {
    let bytes = match std::fs::read(dir.join(STATE)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match serde_json::from_slice::<State>(&bytes) {
        Ok(state) if state.format == STATE_FORMAT => Ok(Some(state)),
        Ok(state) => Err(io::Error::other(format!("{STATE} has format {}, this version reads {STATE_FORMAT}", state.format))),
        Err(error) => Err(io::Error::other(format!("{STATE} is damaged: {error}"))),
    }
}

pub fn write_state(dir: &Path, state: &State) -> io::Result<()> {
    replace(dir, STATE, &serde_json::to_vec(state).expect("plain data always serializes"))
}

/// Without a state the next start begins anew.
pub fn remove_state(dir: &Path) -> io::Result<()> {
    match std::fs::remove_file(dir.join(STATE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => sync_dir(dir),
    }
}

/// Writes the records of the definitions as generation `number`, and removes the one before.
pub fn write_trees<'a>(dir: &Path, number: u64, records: impl Iterator<Item = (&'a Vec<u8>, &'a Vec<u8>)>) -> io::Result<()> {
    let mut bytes = Vec::new();
    for (key, value) in records {
        for part in [key, value] {
            bytes.extend_from_slice(&(part.len() as u32).to_le_bytes());
            bytes.extend_from_slice(part);
        }
    }
    let crc = event::crc32(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    replace(dir, &format!("{TREES}.{number}"), &bytes)
}

pub fn remove_trees(dir: &Path, number: u64) {
    // One that stays is only in the way.
    let _ = std::fs::remove_file(dir.join(format!("{TREES}.{number}")));
}

/// Keys and values.
pub type Records = Vec<(Vec<u8>, Vec<u8>)>;

pub fn read_trees(dir: &Path, number: u64) -> io::Result<Records> {
    let bytes = std::fs::read(dir.join(format!("{TREES}.{number}")))?;
    let damaged = || io::Error::other(format!("{TREES}.{number} is damaged"));
    let (mut rest, crc) = bytes.split_last_chunk::<4>().ok_or_else(damaged)?;
    if event::crc32(rest) != u32::from_le_bytes(*crc) {
        return Err(damaged());
    }
    let mut part = || -> Option<Vec<u8>> {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let (part, after) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        rest = after;
        Some(part.to_vec())
    };
    let mut records = Records::new();
    while let Some(key) = part() {
        records.push((key, part().ok_or_else(damaged)?));
    }
    Ok(records)
}

/// The file's number in its name.
pub fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(BASE)?.strip_prefix('.')?;
    (digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().ok())?
}

pub fn name_of(number: u64) -> String {
    format!("{BASE}.{number:06}")
}

/// The names in the index.
///
/// # Errors
/// I/O; a line that is no name of a file.
pub fn read_index(dir: &Path) -> io::Result<Vec<Entry>> {
    let text = match std::fs::read_to_string(dir.join(INDEX)) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let entry = |line: &str| {
        let name = line.strip_prefix("./").unwrap_or(line);
        match number_of(name) {
            Some(_) => Ok(Entry { name: name.to_owned() }),
            None => Err(io::Error::other(format!("{INDEX} names {line:?}, which is no file of the binary log"))),
        }
    };
    text.lines().filter(|line| !line.is_empty()).map(entry).collect()
}

pub fn write_index(dir: &Path, entries: &[Entry]) -> io::Result<()> {
    let text: String = entries.iter().map(|entry| format!("./{}\n", entry.name)).collect();
    replace(dir, INDEX, text.as_bytes())
}

pub fn remove(dir: &Path, name: &str) -> io::Result<()> {
    match std::fs::remove_file(dir.join(name)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// When a file was changed last.
pub fn changed_at(dir: &Path, name: &str) -> io::Result<SystemTime> {
    std::fs::metadata(dir.join(name))?.modified()
}

pub fn bytes_of(dir: &Path, name: &str) -> io::Result<u64> {
    Ok(std::fs::metadata(dir.join(name))?.len())
}

/// The events of a file, one after the other.
pub struct Events {
    file: File,
    name: String,
    buf: Vec<u8>,
    /// Where `buf` stands in the file, and what of it was given out.
    at: u64,
    given: usize,
    /// What lies behind is not looked at.
    end: u64,
    has_checksum: bool,
}

/// Why no further event can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    pub position: u64,
    pub why: String,
}

impl Events {
    /// Begins at the file's start, behind its first bytes; `end`: how far it may be read.
    ///
    /// # Errors
    /// I/O; a file that is no binary log.
    pub fn open(dir: &Path, name: &str, end: Option<u64>) -> io::Result<Self> {
        let mut file = File::open(dir.join(name))?;
        let mut magic = [0; 4];
        let is_one = file.read_exact(&mut magic).is_ok() && magic == event::MAGIC;
        if !is_one {
            return Err(io::Error::other(format!("{name} is no file of a binary log")));
        }
        let end = match end {
            Some(end) => end,
            None => file.metadata()?.len(),
        };
        Ok(Self { file, name: name.to_owned(), buf: Vec::new(), at: 4, given: 0, end, has_checksum: true })
    }

    /// Goes to a position where an event begins. The first event must have been read.
    pub fn seek(&mut self, position: u64) {
        self.buf.clear();
        (self.at, self.given) = (position, 0);
    }

    /// Where the next event begins.
    pub fn position(&self) -> u64 {
        self.at + self.given as u64
    }

    /// How far the file may be read.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The file may be read further.
    pub fn set_end(&mut self, end: u64) {
        self.end = self.end.max(end);
    }

    /// The next event without its checksum, which was compared; `None` at the end.
    ///
    /// # Errors
    /// An event that is cut off or damaged.
    pub fn next_event(&mut self) -> Result<Option<&[u8]>, Damage> {
        let has_checksum = self.has_checksum;
        let event = self.next_raw()?;
        let has_one = |event: &[u8]| has_checksum || event.get(4) == Some(&event::FORMAT_DESCRIPTION);
        Ok(event.map(|event| if has_one(event) { &event[..event.len() - event::CHECKSUM_BYTES] } else { event }))
    }

    /// The next event as it is in the file, with its checksum, which was compared; `None` at the end.
    ///
    /// # Errors
    /// As of [`Self::next_event`].
    pub fn next_raw(&mut self) -> Result<Option<&[u8]>, Damage> {
        let position = self.position();
        let damage = |why: String| Damage { position, why };
        if position >= self.end {
            return Ok(None);
        }
        if !self.bring(event::HEAD_BYTES).map_err(|error| damage(error.to_string()))? {
            return Err(damage("an event is cut off".to_owned()));
        }
        let head = &self.buf[self.given..];
        let bytes = event::length_of(head).filter(|bytes| *bytes <= EVENT_BYTES_MAX);
        let kind = head[4];
        let Some(bytes) = bytes else { return Err(damage("an event has an impossible length".to_owned())) };
        if !self.bring(bytes).map_err(|error| damage(error.to_string()))? {
            return Err(damage("an event is cut off".to_owned()));
        }
        let event = &self.buf[self.given..self.given + bytes];
        if kind == event::FORMAT_DESCRIPTION {
            self.has_checksum = event::says_checksum(event).unwrap_or(true);
        }
        let checked = self.has_checksum || kind == event::FORMAT_DESCRIPTION;
        if checked {
            let (body, crc) = event.split_last_chunk::<4>().ok_or_else(|| damage("an event is too short".to_owned()))?;
            let matches = if kind == event::FORMAT_DESCRIPTION {
                // A file that is in use says so in a flag that its checksum leaves out.
                let mut plain = body.to_vec();
                plain[17] &= !(event::FLAG_IN_USE as u8);
                event::crc32(&plain) == u32::from_le_bytes(*crc) || event::crc32(body) == u32::from_le_bytes(*crc)
            } else {
                event::crc32(body) == u32::from_le_bytes(*crc)
            };
            if !matches {
                return Err(damage("an event has a wrong checksum".to_owned()));
            }
        }
        let from = self.given;
        self.given += bytes;
        Ok(Some(&self.buf[from..from + bytes]))
    }

    /// Brings `bytes` from the next position on into the buffer. `false`: there are not so many.
    fn bring(&mut self, bytes: usize) -> io::Result<bool> {
        if self.buf.len() - self.given >= bytes {
            return Ok(true);
        }
        let at = self.position();
        if at + bytes as u64 > self.end {
            return Ok(false);
        }
        self.buf.drain(..self.given);
        (self.at, self.given) = (at, 0);
        let have = self.buf.len();
        let wanted = bytes.max(READ_BYTES).min((self.end - at) as usize);
        self.buf.resize(wanted, 0);
        match self.file.read_exact_at(&mut self.buf[have..], at + have as u64) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.buf.truncate(have);
                Ok(false)
            }
            Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", self.name))),
        }
    }
}

/// What is behind a position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// The GTID and the number of the commit of each whole group.
    pub groups: Vec<(Option<Gtid>, u64)>,
    /// Behind the last whole group; what follows is a part of one, or no group.
    pub end: u64,
    /// Is there anything behind `end`?
    pub has_more: bool,
}

/// Reads the groups from `position` of a file on (F2).
///
/// # Errors
/// I/O; a file that is no binary log.
pub fn scan_tail(dir: &Path, name: &str, position: u64) -> io::Result<Tail> {
    let mut events = Events::open(dir, name, None)?;
    let bytes = events.end;
    // What the file is comes first.
    let first = events.next_event().map(|event| event.is_some());
    let mut tail = Tail { end: position.min(bytes), ..Tail::default() };
    if first != Ok(true) || position > bytes {
        tail.has_more = position < bytes;
        return Ok(tail);
    }
    if position > events.position() {
        events.seek(position);
    }
    let mut open: Option<Option<Gtid>> = None;
    // A damaged event ends what counts.
    while let Ok(Some(event)) = events.next_event() {
        let done = match event::see(event) {
            Some(Seen::Group { gtid, .. }) => {
                open = Some(gtid);
                None
            }
            Some(Seen::Xid(xid)) => Some(xid),
            Some(Seen::Query { xid: Some(xid), .. }) => Some(xid),
            Some(Seen::PreviousGtids(_)) => {
                tail.end = events.position();
                None
            }
            _ => None,
        };
        if let (Some(xid), Some(gtid)) = (done, open.clone()) {
            tail.groups.push((gtid, xid));
            tail.end = events.position();
            open = None;
        }
    }
    tail.has_more = tail.end < bytes;
    Ok(tail)
}

/// The GTIDs before the first group of a file; empty if it says nothing.
///
/// # Errors
/// I/O; damage.
pub fn previous_gtids(dir: &Path, name: &str) -> io::Result<GtidSet> {
    let mut events = Events::open(dir, name, None)?;
    let other = |damage: Damage| io::Error::other(format!("{name}, position {}: {}", damage.position, damage.why));
    while let Some(event) = events.next_event().map_err(other)? {
        match event::see(event) {
            Some(Seen::PreviousGtids(set)) => return Ok(set),
            Some(Seen::Group { .. }) => break,
            _ => {}
        }
    }
    Ok(GtidSet::default())
}

/// The file that is being written.
pub struct Writer {
    file: File,
    pub name: String,
    /// Where the next byte goes, when `buf` has been written.
    position: u64,
    buf: Vec<u8>,
    is_dirty: bool,
    /// The server stops: nobody waits for room.
    gives_up: Arc<AtomicBool>,
}

/// Beyond so many bytes the buffer is written.
const BUFFER_BYTES: usize = 1 << 20;
/// A full disk is tried again after so long.
const FULL_PAUSE: Duration = Duration::from_secs(1);

impl Writer {
    /// Makes a file with these first events, which have no positions and checksums yet, and makes it durable.
    pub fn create(dir: &Path, name: &str, events: &mut [u8], has_checksum: bool, gives_up: Arc<AtomicBool>) -> io::Result<Self> {
        let first = event::length_of(events).unwrap_or(0).min(events.len());
        let (format, others) = events.split_at_mut(first);
        // The description always has a checksum, which leaves out that the file is in use.
        event::finish(format, 4, false);
        format[17] &= !(event::FLAG_IN_USE as u8);
        event::seal(format);
        format[17] |= event::FLAG_IN_USE as u8;
        event::finish(others, 4 + first as u64, has_checksum);
        let path = dir.join(name);
        let mut file = File::options().read(true).write(true).create(true).truncate(true).open(&path)?;
        file.write_all(&event::MAGIC)?;
        file.write_all(events)?;
        file.sync_data()?;
        sync_dir(dir)?;
        Ok(Self { file, name: name.to_owned(), position: 4 + events.len() as u64, buf: Vec::new(), is_dirty: false, gives_up })
    }

    /// Where the next event will stand.
    pub fn position(&self) -> u64 {
        self.position + self.buf.len() as u64
    }

    /// Appends finished events.
    pub fn put(&mut self, events: &[u8]) -> io::Result<()> {
        self.buf.extend_from_slice(events);
        if self.buf.len() >= BUFFER_BYTES { self.write() } else { Ok(()) }
    }

    /// Writes what was put.
    pub fn write(&mut self) -> io::Result<()> {
        if !self.buf.is_empty() {
            self.write_waiting()?;
            self.position += self.buf.len() as u64;
            self.buf.clear();
            self.buf.shrink_to(2 * BUFFER_BYTES);
            self.is_dirty = true;
        }
        Ok(())
    }

    /// Writes the buffer; waits while the disk is full, until the server stops.
    fn write_waiting(&self) -> io::Result<()> {
        loop {
            match self.file.write_all_at(&self.buf, self.position) {
                Err(error) if error.kind() == io::ErrorKind::StorageFull && !self.gives_up.load(Ordering::SeqCst) => {
                    tracing::warn!("no room for the binary log ({error}); it waits");
                    os::thread::sleep(FULL_PAUSE);
                }
                written => return written,
            }
        }
    }

    /// Makes durable what was put.
    pub fn sync(&mut self) -> io::Result<()> {
        self.write()?;
        if std::mem::take(&mut self.is_dirty) {
            self.file.sync_data()?;
        }
        Ok(())
    }

    /// The file is complete.
    pub fn close(&mut self) -> io::Result<()> {
        self.write()?;
        close_file(&self.file)?;
        self.is_dirty = true;
        self.sync()
    }
}

/// Takes the mark off that a file is in use.
fn close_file(file: &File) -> io::Result<()> {
    let mut flags = [0; 1];
    let at = 4 + 17;
    file.read_exact_at(&mut flags, at)?;
    flags[0] &= !(event::FLAG_IN_USE as u8);
    file.write_all_at(&flags, at)
}

/// Cuts a file behind its last whole group, and marks it as complete.
pub fn cut(dir: &Path, name: &str, end: u64) -> io::Result<()> {
    let file = File::options().read(true).write(true).open(dir.join(name))?;
    file.set_len(end)?;
    close_file(&file)?;
    file.sync_all()
}

/// A file's path, for who reads it.
pub fn path_of(dir: &Path, name: &str) -> PathBuf {
    dir.join(name)
}

#[cfg(test)]
mod tests;
