//! Changes of directory entries. None is durable before [`crate::sync_dir`].

pub use std::fs::{create_dir_all, read, remove_file, rename};

use std::ffi::OsString;
use std::io;
use std::path::Path;

pub fn exists(path: &Path) -> bool {
    path.exists()
}

/// The names in a directory.
pub fn list(dir: &Path) -> io::Result<Vec<OsString>> {
    std::fs::read_dir(dir)?.map(|entry| entry.map(|e| e.file_name())).collect()
}

/// The bytes that are free, for programs without privileges, on the file system of a directory.
#[cfg(not(miri))]
pub fn free_bytes(dir: &Path) -> io::Result<u64> {
    let stat = rustix::fs::statvfs(dir)?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// See above: the interpreter does not tell.
#[cfg(miri)]
pub fn free_bytes(_dir: &Path) -> io::Result<u64> {
    Ok(u64::MAX)
}

/// Makes a file that is not there yet, for writing, at a path below `directory`: no link and no `..` leads out of it.
///
/// # Errors
/// `AlreadyExists`; `CrossesDevices` for a path that leads out.
#[cfg(not(miri))]
pub fn create_beneath(directory: &Path, path: &Path) -> io::Result<std::fs::File> {
    use rustix::fs::{Mode, OFlags, ResolveFlags};
    let below = rustix::fs::open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP;
    let file = rustix::fs::openat2(below, path, flags, mode, ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS)?;
    Ok(file.into())
}

/// Opens a file for reading at a path below `directory`, likewise. It does not wait for the other end of a pipe.
///
/// # Errors
/// `CrossesDevices` for a path that leads out.
#[cfg(not(miri))]
pub fn open_beneath(directory: &Path, path: &Path) -> io::Result<std::fs::File> {
    use rustix::fs::{Mode, OFlags, ResolveFlags};
    let below = rustix::fs::open(directory, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    Ok(rustix::fs::openat2(below, path, flags, Mode::empty(), resolve)?.into())
}

#[cfg(all(test, not(any(miri, sim))))]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_made_outside_of_the_directory() {
        let outside = std::env::temp_dir().join(format!("heddle-beneath-{}", std::process::id()));
        let directory = outside.join("inside");
        create_dir_all(&directory).expect("makes");
        std::os::unix::fs::symlink(&outside, directory.join("way-out")).expect("links");
        std::os::unix::fs::symlink(outside.join("target"), directory.join("link")).expect("links");
        let kind = |path: &str| create_beneath(&directory, Path::new(path)).err().map(|e| e.kind());
        let opened = |path: &str| open_beneath(&directory, Path::new(path)).err().map(|e| e.kind());
        let first = kind("a");
        if first == Some(io::ErrorKind::Unsupported) {
            // QEMU does not know the call, nor does Linux before 5.6: then every path is refused.
            for path in ["../b", "way-out/b", "none/b", "b"] {
                assert_eq!((kind(path), opened(path)), (first, first), "{path}");
            }
            std::fs::remove_dir_all(&outside).expect("removes");
            return;
        }
        assert_eq!(first, None);
        assert_eq!(kind("a"), Some(io::ErrorKind::AlreadyExists));
        assert_eq!(kind("../b"), Some(io::ErrorKind::CrossesDevices));
        assert_eq!(kind("way-out/b"), Some(io::ErrorKind::CrossesDevices));
        assert_eq!(kind("link"), Some(io::ErrorKind::AlreadyExists));
        assert_eq!(kind("none/b"), Some(io::ErrorKind::NotFound));
        assert_eq!(opened("a"), None);
        assert_eq!(opened("link"), Some(io::ErrorKind::CrossesDevices));
        assert_eq!(opened("way-out/inside/a"), Some(io::ErrorKind::CrossesDevices));
        assert_eq!(opened("b"), Some(io::ErrorKind::NotFound));
        std::fs::remove_dir_all(&outside).expect("removes");
    }
}
