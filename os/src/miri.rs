//! Files, directories and memory reservations under Miri, an interpreter without direct I/O and memory advice: the same
//! calls, implemented with the standard library. The tests under Miri check the code above this module, not the module
//! itself.

use crate::LockError;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// See `file::File`.
pub struct File {
    file: std::fs::File,
    path: PathBuf,
}

impl File {
    pub fn open(path: &Path, create: bool) -> io::Result<Self> {
        let file = std::fs::OpenOptions::new().read(true).write(true).create(create).truncate(false).open(path)?;
        Ok(Self { file, path: path.into() })
    }

    pub fn open_to_read(path: &Path) -> io::Result<Self> {
        Ok(Self { file: std::fs::File::open(path)?, path: path.into() })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn bytes(&self) -> io::Result<u64> {
        self.file.metadata().map(|m| m.len())
    }

    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < buf.len() {
            match self.file.read_at(&mut buf[done..], offset + done as u64)? {
                0 => {
                    buf[done..].fill(0);
                    break;
                }
                n => done += n,
            }
        }
        Ok(())
    }

    pub fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(buf, offset)
    }

    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    pub fn allocate(&self, from: u64, bytes: u64) -> io::Result<()> {
        self.file.set_len(self.bytes()?.max(from + bytes))
    }
}

/// See `scratch::ScratchFile`; it keeps its name until the directory is removed.
pub struct ScratchFile(File);

impl ScratchFile {
    pub fn new(directory: &Path) -> io::Result<Self> {
        static NAMED: AtomicU32 = AtomicU32::new(0);
        let number = NAMED.fetch_add(1, Ordering::Relaxed);
        File::open(&directory.join(format!("scratch-{number}.tmp")), true).map(Self)
    }

    pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_at(buf, offset)
    }

    pub fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_at(buf, offset)
    }

    pub fn discard(&self, _offset: u64, _bytes: u64) {}
}

pub fn sync_dir(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// See `file::DirLock`.
pub struct DirLock {
    /// Its descriptor holds the lock.
    _file: std::fs::File,
}

impl DirLock {
    pub fn acquire(path: &Path) -> Result<Self, LockError> {
        let file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.map_err(LockError::Io)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(std::fs::TryLockError::WouldBlock) => Err(LockError::Held(None)),
            Err(std::fs::TryLockError::Error(e)) => Err(LockError::Io(e)),
        }
    }
}

/// See `memory::Reservation`: zeroed memory of the heap.
pub struct Reservation {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: as of `memory::Reservation`: plain memory, of which only the address and the length are read here.
unsafe impl Send for Reservation {}
// SAFETY: likewise.
unsafe impl Sync for Reservation {}

impl Reservation {
    fn layout(bytes: usize) -> Layout {
        Layout::from_size_align(bytes.max(1), 64 << 10).expect("below the address space")
    }

    pub fn new(bytes: usize) -> io::Result<Self> {
        let layout = Self::layout(bytes);
        // SAFETY: the layout has a size above zero.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        Ok(Self { start, bytes })
    }

    pub fn prefer_large_pages(&self) {}

    pub fn start(&self) -> *mut u8 {
        self.start
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// # Safety
    /// As `memory::Reservation::release`.
    pub unsafe fn release(&self, start: usize, bytes: usize) -> io::Result<()> {
        assert!(start.is_multiple_of(8) && bytes.is_multiple_of(8) && start + bytes <= self.bytes);
        for at in (start..start + bytes).step_by(8) {
            // SAFETY: aligned and inside, by the assertion; only read and written atomically, by the caller's promise.
            let word = unsafe { &*self.start.add(at).cast::<std::sync::atomic::AtomicU64>() };
            word.store(0, std::sync::atomic::Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        // SAFETY: allocated in `new` with the same layout.
        unsafe { dealloc(self.start, Self::layout(self.bytes)) };
    }
}
