//! Files by position, and the lock of a data directory.

use crate::LockError;
use rustix::fs::{FallocateFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

static WRITES: AtomicU64 = AtomicU64::new(0);
static SYNCS: AtomicU64 = AtomicU64::new(0);
static OPENED: AtomicU64 = AtomicU64::new(0);
static CLOSED: AtomicU64 = AtomicU64::new(0);

/// What has been done with files since the process began.
pub fn file_counts() -> crate::FileCounts {
    let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    // Those closed first: no file is closed that was not opened before.
    let closed = load(&CLOSED);
    crate::FileCounts { writes: load(&WRITES), syncs: load(&SYNCS), opened: load(&OPENED), open: load(&OPENED) - closed }
}

/// A file read and written at positions, without a cursor.
pub struct File {
    fd: OwnedFd,
    path: PathBuf,
}

/// Fills `buf`; zeros beyond the end of the file.
pub(crate) fn read_whole(fd: &OwnedFd, buf: &mut [u8], offset: u64) -> Result<(), Errno> {
    let mut done = 0;
    while done < buf.len() {
        match rustix::io::pread(fd, &mut buf[done..], offset + done as u64) {
            Ok(0) => {
                buf[done..].fill(0);
                break;
            }
            Ok(n) => done += n,
            Err(Errno::INTR) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

pub(crate) fn write_whole(fd: &OwnedFd, buf: &[u8], offset: u64) -> Result<(), Errno> {
    let mut done = 0;
    while done < buf.len() {
        match rustix::io::pwrite(fd, &buf[done..], offset + done as u64) {
            Ok(n) => done += n,
            Err(Errno::INTR) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

pub(crate) fn named(path: &Path, what: &str, e: Errno) -> io::Error {
    let e = io::Error::from(e);
    io::Error::new(e.kind(), format!("{what} {}: {e}", path.display()))
}

impl File {
    /// Opens for reading and writing, with direct I/O where the file system has it. `create`: makes an empty one when missing.
    pub fn open(path: &Path, create: bool) -> io::Result<Self> {
        let mut flags = OFlags::RDWR | OFlags::CLOEXEC;
        if create {
            flags |= OFlags::CREATE;
        }
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP;
        let fd = match rustix::fs::open(path, flags | OFlags::DIRECT, mode) {
            // tmpfs and some others have no direct I/O.
            Err(Errno::INVAL) => rustix::fs::open(path, flags, mode),
            other => other,
        };
        Self::opened(fd, path)
    }

    fn opened(fd: Result<OwnedFd, Errno>, path: &Path) -> io::Result<Self> {
        let file = Self { fd: fd.map_err(|e| named(path, "cannot open", e))?, path: path.into() };
        OPENED.fetch_add(1, Ordering::Relaxed);
        Ok(file)
    }

    /// Opens for reading, through the system's cache.
    pub fn open_to_read(path: &Path) -> io::Result<Self> {
        let fd = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        Self::opened(fd, path)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn bytes(&self) -> io::Result<u64> {
        let stat = rustix::fs::fstat(&self.fd).map_err(|e| named(&self.path, "cannot stat", e))?;
        Ok(stat.st_size as u64)
    }

    /// Reads exactly `buf.len()` bytes; what lies beyond the end of the file reads as zeros.
    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        read_whole(&self.fd, buf, offset).map_err(|e| named(&self.path, "cannot read", e))
    }

    pub fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        WRITES.fetch_add(1, Ordering::Relaxed);
        write_whole(&self.fd, buf, offset).map_err(|e| named(&self.path, "cannot write", e))
    }

    /// Makes the written data durable (fdatasync).
    pub fn sync(&self) -> io::Result<()> {
        SYNCS.fetch_add(1, Ordering::Relaxed);
        rustix::fs::fdatasync(&self.fd).map_err(|e| named(&self.path, "cannot sync", e))
    }

    /// Reserves disk space up to `bytes`, so that later writes below it do not run out of space.
    pub fn allocate(&self, from: u64, bytes: u64) -> io::Result<()> {
        match rustix::fs::fallocate(&self.fd, FallocateFlags::empty(), from, bytes) {
            Err(Errno::OPNOTSUPP) => rustix::fs::ftruncate(&self.fd, from + bytes),
            other => other,
        }
        .map_err(|e| named(&self.path, "cannot extend", e))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        CLOSED.fetch_add(1, Ordering::Relaxed);
    }
}

/// Makes creations, renames and deletions in a directory durable.
pub fn sync_dir(path: &Path) -> io::Result<()> {
    let fd = rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|e| named(path, "cannot open directory", e))?;
    rustix::fs::fsync(&fd).map_err(|e| named(path, "cannot sync directory", e))
}

/// An exclusive advisory lock; released when dropped or when the process ends. The file has the number of the process that holds it.
pub struct DirLock {
    /// Holds the lock as long as it is open.
    _fd: OwnedFd,
}

impl DirLock {
    pub fn acquire(path: &Path) -> Result<Self, LockError> {
        let fd = rustix::fs::open(path, OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR)
            .map_err(|e| LockError::Io(named(path, "cannot open", e)))?;
        match rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                // For people only: a disk may have no room for it.
                let number = format!("{}\n", std::process::id());
                let _ = rustix::fs::ftruncate(&fd, 0).and_then(|()| write_whole(&fd, number.as_bytes(), 0));
                Ok(Self { _fd: fd })
            }
            Err(Errno::WOULDBLOCK) => {
                let mut text = [0; 16];
                let read = read_whole(&fd, &mut text, 0);
                let number =
                    read.is_ok().then(|| String::from_utf8_lossy(&text).split('\n').next().and_then(|line| line.parse().ok()));
                Err(LockError::Held(number.flatten()))
            }
            Err(e) => Err(LockError::Io(named(path, "cannot lock", e))),
        }
    }
}
