//! Files of the simulated machine, with the names of the real ones.

use super::disk::{CrashKind, Faults, Refusal};
use super::scheduler::{self, point, with};
use crate::LockError;
use std::io;
use std::path::{Path, PathBuf};

/// As the real `File`.
pub struct File {
    inode: usize,
    path: PathBuf,
}

fn named(path: &Path, what: &str, refusal: Refusal) -> io::Error {
    let (kind, why) = match refusal {
        Refusal::NotThere => (io::ErrorKind::NotFound, "no such file"),
        Refusal::Full => (io::ErrorKind::StorageFull, "no space left on device"),
        Refusal::Io => (io::ErrorKind::Other, "input/output error"),
    };
    io::Error::new(kind, format!("{what} {}: {why}", path.display()))
}

fn short(path: &Path) -> std::borrow::Cow<'_, str> {
    path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default()
}

/// The call takes its time; others run meanwhile.
fn take_time(least_us: u64, most_us: u64) {
    let ns = with(|world| world.disk.latency(least_us * 1_000, most_us * 1_000));
    scheduler::sleep(ns);
}

impl File {
    pub fn open(path: &Path, create: bool) -> io::Result<Self> {
        point();
        let inode = with(|world| world.disk.open(path, create)).map_err(|r| named(path, "cannot open", r))?;
        Ok(Self { inode, path: path.into() })
    }

    pub fn open_to_read(path: &Path) -> io::Result<Self> {
        Self::open(path, false)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn bytes(&self) -> io::Result<u64> {
        Ok(with(|world| world.disk.bytes(self.inode)))
    }

    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        take_time(5, 100);
        // Only pages are read badly: a log that lies about itself is beyond what a log can notice.
        let may_fail = self.path.extension().is_some_and(|e| e == "data");
        let seen = with(|world| world.disk.faults_seen);
        let read = with(|world| world.disk.read(self.inode, buf, offset, may_fail));
        if with(|world| world.disk.faults_seen) != seen {
            scheduler::note(format_args!("bad read of {} at {offset}", short(&self.path)));
        }
        read.map_err(|r| named(&self.path, "cannot read", r))
    }

    pub fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        point();
        let written = with(|world| world.disk.write(self.inode, buf, offset));
        scheduler::note(format_args!("write {} at {offset}, {} bytes: {written:?}", short(&self.path), buf.len()));
        take_time(2, 30);
        written.map_err(|r| named(&self.path, "cannot write", r))
    }

    pub fn sync(&self) -> io::Result<()> {
        let below = with(|world| world.disk.next_write());
        take_time(20, 400);
        let synced = with(|world| world.disk.sync(self.inode, below));
        scheduler::note(format_args!("sync {}: {synced:?}", short(&self.path)));
        synced.map_err(|r| named(&self.path, "cannot sync", r))
    }

    pub fn allocate(&self, from: u64, bytes: u64) -> io::Result<()> {
        take_time(2, 30);
        with(|world| world.disk.extend(self.inode, from + bytes)).map_err(|r| named(&self.path, "cannot extend", r))
    }
}

pub fn sync_dir(path: &Path) -> io::Result<()> {
    take_time(20, 400);
    scheduler::note(format_args!("sync directory {}", short(path)));
    with(|world| world.disk.sync_names(path)).map_err(|r| named(path, "cannot sync directory", r))
}

/// An exclusive lock of a directory.
pub struct DirLock(PathBuf);

impl DirLock {
    pub fn acquire(path: &Path) -> Result<Self, LockError> {
        point();
        if with(|world| world.disk.lock(path)) { Ok(Self(path.into())) } else { Err(LockError::Held(None)) }
    }
}

impl Drop for DirLock {
    fn drop(&mut self) {
        with(|world| world.disk.unlock(&self.0));
    }
}

/// Names in directories.
pub mod fs {
    use super::*;
    use std::ffi::OsString;

    pub fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
        with(|world| world.disk.make_directories(path.as_ref()));
        Ok(())
    }

    pub fn rename(from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        let (from, to) = (from.as_ref(), to.as_ref());
        point();
        scheduler::note(format_args!("rename {} to {}", short(from), short(to)));
        with(|world| world.disk.rename(from, to)).map_err(|r| named(from, "cannot rename", r))
    }

    pub fn remove_file(path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        point();
        scheduler::note(format_args!("remove {}", short(path)));
        with(|world| world.disk.remove(path)).map_err(|r| named(path, "cannot remove", r))
    }

    pub fn exists(path: &Path) -> bool {
        with(|world| world.disk.exists(path))
    }

    pub fn list(dir: &Path) -> io::Result<Vec<OsString>> {
        let paths = with(|world| world.disk.list(dir));
        Ok(paths.iter().filter_map(|path| path.file_name().map(Into::into)).collect())
    }

    /// There is room, as far as anybody knows; a full disk says so when it is written to.
    pub fn free_bytes(_dir: &Path) -> io::Result<u64> {
        Ok(u64::MAX)
    }

    /// No statement of the simulator writes a file of its own.
    pub fn create_beneath(_directory: &Path, _path: &Path) -> io::Result<std::fs::File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Nor reads one.
    pub fn open_beneath(_directory: &Path, _path: &Path) -> io::Result<std::fs::File> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn read(path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        let file = File::open(path.as_ref(), false)?;
        let mut bytes = vec![0; file.bytes()? as usize];
        file.read_at(&mut bytes, 0)?;
        Ok(bytes)
    }
}

/// Changes what goes wrong.
pub fn set_faults(change: impl FnOnce(&mut Faults)) {
    with(|world| change(&mut world.disk.faults));
}

/// The power fails while no machine runs.
pub fn power_failure() {
    with(|world| world.disk.crash(CrashKind::Power));
}

/// How many faults have struck so far.
pub fn faults_seen() -> u64 {
    with(|world| world.disk.faults_seen)
}

/// Flips a durable bit of a file; returns its position.
pub fn rot(path: &Path) -> Option<u64> {
    with(|world| world.disk.rot(path))
}

/// A file as it was before it was damaged.
pub struct Original(PathBuf, usize);

impl Original {
    /// Repairs the damage.
    pub fn put_back(self) {
        with(|world| world.disk.put_back(&self.0, self.1));
    }
}

/// Changes what is durable of a file. `None`: there is no such file.
pub fn tamper(path: &Path, change: impl FnOnce(&mut Vec<u8>)) -> Option<Original> {
    with(|world| world.disk.tamper(path, change)).map(|inode| Original(path.into(), inode))
}

/// Takes a file away.
pub fn take_away(path: &Path) -> Option<Original> {
    with(|world| world.disk.take_away(path)).map(|inode| Original(path.into(), inode))
}
