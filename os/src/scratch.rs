//! A temporary file for data that exceeds memory: without a name, buffered by the system, gone with the process.

#[cfg(not(sim))]
pub use real::ScratchFile;
#[cfg(sim)]
pub use simulated::ScratchFile;

#[cfg(not(sim))]
mod real {
    use crate::file::{named, read_whole, write_whole};
    use rustix::fs::{FallocateFlags, Mode, OFlags};
    use rustix::io::Errno;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Distinguishes the names of files on file systems that have none without.
    static NAMED: AtomicU32 = AtomicU32::new(0);

    /// See the module's head. Nothing in it outlives the process, so nothing is ever synced.
    pub struct ScratchFile {
        pub(super) fd: OwnedFd,
        pub(super) directory: PathBuf,
    }

    impl ScratchFile {
        /// A new, empty file on the file system of `directory`.
        pub fn new(directory: &Path) -> io::Result<Self> {
            let mode = Mode::RUSR | Mode::WUSR;
            let fd = match rustix::fs::open(directory, OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC, mode) {
                // Some file systems have no files without a name.
                Err(Errno::OPNOTSUPP | Errno::ISDIR) => {
                    // Relaxed: the number only has to be unique.
                    let number = NAMED.fetch_add(1, Ordering::Relaxed);
                    let path = directory.join(format!("scratch-{number}.tmp"));
                    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::CLOEXEC;
                    let fd = rustix::fs::open(&path, flags, mode);
                    // It stays usable without its name; if removing the name fails, the next start replaces the file.
                    let _ = rustix::fs::unlink(&path);
                    fd
                }
                other => other,
            };
            let fd = fd.map_err(|e| named(directory, "cannot make a scratch file in", e))?;
            Ok(Self { fd, directory: directory.into() })
        }

        /// Fills `buf` from `offset`; zeros beyond the end.
        pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            read_whole(&self.fd, buf, offset).map_err(|e| named(&self.directory, "cannot read the scratch file in", e))
        }

        pub fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
            write_whole(&self.fd, buf, offset).map_err(|e| named(&self.directory, "cannot write the scratch file in", e))
        }

        /// Gives a range's disk space back where the file system can; it reads as anything afterwards.
        pub fn discard(&self, offset: u64, bytes: u64) {
            let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            // Where it cannot, the space is used again by the next write to the range.
            let _ = rustix::fs::fallocate(&self.fd, flags, offset, bytes);
        }
    }
}

/// In memory: nothing of it outlives a crash, so the simulated disk has no part in it.
#[cfg(sim)]
mod simulated {
    use std::io;
    use std::path::Path;
    use std::sync::{Mutex, PoisonError};

    pub struct ScratchFile(Mutex<Vec<u8>>);

    impl ScratchFile {
        pub fn new(_: &Path) -> io::Result<Self> {
            Ok(Self(Mutex::default()))
        }

        pub fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<()> {
            crate::sim::point();
            let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = bytes.get(offset as usize..).unwrap_or_default();
            let kept = &kept[..kept.len().min(buf.len())];
            buf[..kept.len()].copy_from_slice(kept);
            buf[kept.len()..].fill(0);
            Ok(())
        }

        pub fn write_at(&self, buf: &[u8], offset: u64) -> io::Result<()> {
            crate::sim::point();
            let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let (start, end) = (offset as usize, offset as usize + buf.len());
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            bytes[start..end].copy_from_slice(buf);
            Ok(())
        }

        pub fn discard(&self, offset: u64, bytes: u64) {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let end = all.len().min((offset + bytes) as usize);
            if let Some(range) = all.get_mut(offset as usize..end) {
                range.fill(0);
            }
        }
    }
}

#[cfg(all(test, not(sim)))]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn what_is_written_is_read_and_nothing_is_left() {
        let directory = std::env::temp_dir().join(format!("heddle-scratch-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("makes");
        let file = ScratchFile::new(&directory).expect("makes");
        file.write_at(b"abc", 100_000).expect("writes");
        let mut buf = [1; 5];
        file.read_at(&mut buf, 99_999).expect("reads");
        assert_eq!(&buf, b"\0abc\0");
        file.discard(0, 4096);
        assert_eq!(std::fs::read_dir(&directory).expect("lists").count(), 0);
        std::fs::remove_dir(&directory).expect("removes");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_device_is_told_as_such() {
        let device = Path::new("/dev/full");
        let fd = rustix::fs::open(device, rustix::fs::OFlags::RDWR, rustix::fs::Mode::empty()).expect("every Linux has it");
        let file = ScratchFile { fd, directory: device.into() };
        let error = file.write_at(&[1; 4096], 0).expect_err("it is always full");
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{error}");
    }
}
