//! The files of a first start: which state a directory is in, and the steps between the states.

use flate2::read::MultiGzDecoder;
use std::fs::{DirBuilder, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const STAGING: &str = "heddle.first-start";
const DONE: &str = "heddle.first-start.done";
const CONTROL: &str = "heddle.control";
const LOCK: &str = "heddle.lock";

/// What a directory holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directory {
    /// Nothing, or it is not there.
    Empty,
    /// A first start that did not come to its end.
    Interrupted,
    /// A first start that is complete but for the moving of its files.
    Complete,
    /// Data that can be served.
    Ready,
}

/// Looks at a directory.
///
/// # Errors
/// It cannot be read, or holds something else: a line that names it.
pub fn look(dir: &Path) -> Result<Directory, String> {
    let names = match std::fs::read_dir(dir) {
        Ok(entries) => {
            let names: io::Result<Vec<String>> =
                entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect();
            names.map_err(|e| format!("cannot read {}: {e}", dir.display()))?
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Directory::Empty),
        Err(error) => return Err(format!("cannot read {}: {error}", dir.display())),
    };
    let has = |name: &str| names.iter().any(|n| n == name);
    if has(DONE) {
        return Ok(Directory::Complete);
    }
    if has(CONTROL) {
        return Ok(Directory::Ready);
    }
    if has(STAGING) {
        return Ok(Directory::Interrupted);
    }
    if has("ibdata1") || has("mysql.ibd") {
        return Err(format!(
            "{} has the data of a MySQL or MariaDB server, which have another format: dump them with mysqldump there, and load the dump into an \
             empty directory",
            dir.display()
        ));
    }
    match names.iter().find(|name| *name != LOCK && *name != "lost+found" && !name.starts_with('.')) {
        Some(name) => Err(format!("{} is not empty and has no data of Heddle (it has {name})", dir.display())),
        None => Ok(Directory::Empty),
    }
}

/// Brings a directory to where a server may start on it (F1, F2).
///
/// # Errors
/// A first start was interrupted.
pub fn settle(dir: &Path) -> Result<(), String> {
    if dir.join(DONE).exists() {
        let _lock = lock(dir)?;
        return move_up(dir);
    }
    if dir.join(STAGING).exists() && !dir.join(CONTROL).exists() {
        return Err(format!(
            "the first start of {} was interrupted, and nothing of it can be served: run it again, or remove {}",
            dir.display(),
            dir.join(STAGING).display()
        ));
    }
    Ok(())
}

/// Makes a directory that nobody else can read, if it is not there.
pub fn create_private(dir: &Path) -> Result<(), String> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|e| format!("cannot make the data directory {}: {e}", dir.display()))
}

/// Takes the lock that a running server has.
pub fn lock(dir: &Path) -> Result<os::DirLock, String> {
    os::DirLock::acquire(&dir.join(LOCK)).map_err(|error| match error {
        os::LockError::Held(Some(process)) => format!("{} is in use by another server (process {process})", dir.display()),
        os::LockError::Held(None) => format!("{} is in use by another server", dir.display()),
        os::LockError::Io(error) => format!("the data directory is not writable: {error}"),
    })
}

/// Makes the staging directory.
pub fn begin(dir: &Path) -> Result<PathBuf, String> {
    let staging = dir.join(STAGING);
    let made = DirBuilder::new().mode(0o700).create(&staging);
    made.map_err(|e| format!("cannot make {}: {e}", staging.display()))?;
    Ok(staging)
}

/// Removes what an interrupted first start has left.
pub fn discard(dir: &Path) -> Result<(), String> {
    let staging = dir.join(STAGING);
    std::fs::remove_dir_all(&staging).map_err(|e| format!("cannot remove {}: {e}", staging.display()))
}

/// Step 3: from here on the result counts.
pub fn complete(dir: &Path) -> Result<(), String> {
    let (from, to) = (dir.join(STAGING), dir.join(DONE));
    let done = sync(&from).and_then(|()| std::fs::rename(&from, &to)).and_then(|()| sync(dir));
    done.map_err(|e| format!("cannot rename {} to {}: {e}", from.display(), to.display()))
}

/// Step 4. It may have been interrupted at any place, and goes on there.
pub fn move_up(dir: &Path) -> Result<(), String> {
    let from = dir.join(DONE);
    let moved = || -> io::Result<()> {
        for entry in std::fs::read_dir(&from)? {
            let name = entry?.file_name();
            if name == LOCK {
                std::fs::remove_file(from.join(&name))?;
            } else if name != CONTROL {
                std::fs::rename(from.join(&name), dir.join(&name))?;
            }
        }
        sync(dir)?;
        if from.join(CONTROL).exists() {
            std::fs::rename(from.join(CONTROL), dir.join(CONTROL))?;
        }
        sync(dir)?;
        std::fs::remove_dir(&from)?;
        sync(dir)
    };
    moved().map_err(|e| format!("cannot move the files of {} to {}: {e}", from.display(), dir.display()))
}

fn sync(dir: &Path) -> io::Result<()> {
    File::open(dir)?.sync_all()
}

/// A socket in a directory of its own that only this user can enter.
pub struct PrivateSocket {
    pub path: PathBuf,
    /// To be removed.
    directory: Option<PathBuf>,
}

/// In the staging directory, or, where that path is too long for a socket, in the directory for temporary files.
pub fn private_socket(staging: &Path) -> Result<PrivateSocket, String> {
    let staging = std::path::absolute(staging).map_err(|e| format!("{}: {e}", staging.display()))?;
    let path = staging.join("heddle.sock");
    if path.as_os_str().len() <= crate::limits::SOCKET_PATH_BYTES_MAX {
        return Ok(PrivateSocket { path, directory: None });
    }
    let directory = std::env::temp_dir().join(format!("heddle-{:016x}", u64::from_le_bytes(os::random_bytes())));
    let made = DirBuilder::new().mode(0o700).create(&directory); // Never one that exists.
    made.map_err(|e| format!("cannot make {}: {e}", directory.display()))?;
    Ok(PrivateSocket { path: directory.join("heddle.sock"), directory: Some(directory) })
}

impl Drop for PrivateSocket {
    fn drop(&mut self) {
        if let Some(directory) = &self.directory {
            let _ = std::fs::remove_dir_all(directory);
        }
    }
}

/// A link to the private socket where clients look for one.
pub struct Link(PathBuf);

impl Link {
    /// Makes it, unless something is there or its directory is not. A link there is of an interrupted first start.
    pub fn new(socket: &Path, link: &Path) -> Option<Self> {
        if std::fs::symlink_metadata(link).is_ok_and(|metadata| metadata.is_symlink()) {
            let _ = std::fs::remove_file(link);
        }
        std::os::unix::fs::symlink(socket, link).ok().map(|()| Self(link.to_owned()))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Opens a file of SQL, uncompressed by the end of its name.
pub fn open_sql(path: &Path) -> Result<Box<dyn BufRead>, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    Ok(match path.extension().and_then(|end| end.to_str()) {
        Some("gz") => Box::new(BufReader::new(MultiGzDecoder::new(file))),
        Some("zst") => Box::new(BufReader::new(zstd::Decoder::new(file).map_err(|e| e.to_string())?)),
        Some("xz") => Box::new(BufReader::new(Xz::new(file)?)),
        _ => Box::new(BufReader::new(file)),
    })
}

/// The output of the program `xz`, whose failure is an error of the last read.
struct Xz {
    child: Child,
}

impl Xz {
    fn new(file: File) -> Result<Self, String> {
        let child = Command::new("xz").args(["--decompress", "--stdout"]).stdin(file).stdout(Stdio::piped()).spawn();
        let child = child.map_err(|e| format!("a file of xz needs the program xz, which cannot be started: {e}"))?;
        Ok(Self { child })
    }
}

impl Read for Xz {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.child.stdout.as_mut().expect("it is piped").read(buffer)?;
        if length == 0 && !buffer.is_empty() && !self.child.wait()?.success() {
            return Err(io::Error::other("xz cannot uncompress it"));
        }
        Ok(length)
    }
}

impl Drop for Xz {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a program, or a file of shell commands, to its end.
pub fn run_program(file: &Path, environment: &[(String, String)]) -> Result<(), String> {
    let metadata = std::fs::metadata(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let mut command = if metadata.permissions().mode() & 0o111 != 0 {
        Command::new(file)
    } else {
        let shell = ["/bin/bash", "/usr/bin/bash"].into_iter().find(|shell| Path::new(shell).exists());
        let mut command = Command::new(shell.unwrap_or("/bin/sh"));
        command.arg(file);
        command
    };
    let status = command.envs(environment.iter().cloned()).stdin(Stdio::null()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{}: it ended with {status}", file.display())),
        Err(error) => Err(format!("{}: cannot be started: {error}", file.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory that is removed afterwards.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("heddle-first-start-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn put(&self, name: &str) {
            let path = self.0.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, name).unwrap();
        }

        fn names(&self) -> Vec<String> {
            let mut names: Vec<String> =
                std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn states_of_a_directory() {
        assert_eq!(look(Path::new("/nonexistent/heddle")), Ok(Directory::Empty));
        let scratch = Scratch::new("states");
        for name in ["lost+found/x", "heddle.lock", ".snapshot"] {
            scratch.put(name);
        }
        assert_eq!(look(&scratch.0), Ok(Directory::Empty));
        assert_eq!(settle(&scratch.0), Ok(()));
        scratch.put("heddle.first-start/heddle.control");
        assert_eq!(look(&scratch.0), Ok(Directory::Interrupted));
        assert!(settle(&scratch.0).unwrap_err().contains("was interrupted"));
        discard(&scratch.0).unwrap();
        scratch.put("heddle.control");
        assert_eq!(look(&scratch.0), Ok(Directory::Ready));
    }

    #[test]
    fn foreign_directories_are_named() {
        let scratch = Scratch::new("foreign");
        scratch.put("notes.txt");
        assert!(look(&scratch.0).unwrap_err().contains("(it has notes.txt)"));
        scratch.put("ibdata1");
        assert!(look(&scratch.0).unwrap_err().contains("mysqldump"));
    }

    /// Whatever has moved before an interruption, the rest moves at the next start, the control file last.
    #[test]
    fn moving_goes_on_where_it_was_interrupted() {
        for moved in 0..=3 {
            let scratch = Scratch::new(&format!("moving-{moved}"));
            let names = ["heddle.data", "heddle.log/1", "heddle.control"];
            for (index, name) in names.into_iter().enumerate() {
                scratch.put(&if index < moved { name.to_owned() } else { format!("{DONE}/{name}") });
            }
            std::fs::create_dir_all(scratch.0.join(DONE)).unwrap();
            assert_eq!(look(&scratch.0), Ok(Directory::Complete));
            settle(&scratch.0).unwrap();
            assert_eq!(scratch.names(), ["heddle.control", "heddle.data", "heddle.lock", "heddle.log"], "{moved}");
            assert_eq!(look(&scratch.0), Ok(Directory::Ready));
        }
    }

    #[test]
    fn compressed_files_are_read() {
        let scratch = Scratch::new("compressed");
        let text = b"SELECT 1;\n".repeat(100);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        io::Write::write_all(&mut gzip, &text).unwrap();
        std::fs::write(scratch.0.join("a.sql.gz"), gzip.finish().unwrap()).unwrap();
        std::fs::write(scratch.0.join("a.sql.zst"), zstd::encode_all(&text[..], 1).unwrap()).unwrap();
        std::fs::write(scratch.0.join("a.sql"), &text).unwrap();
        std::fs::write(scratch.0.join("broken.sql.gz"), b"no gzip").unwrap();
        let read = |name: &str| {
            let mut read = Vec::new();
            open_sql(&scratch.0.join(name))
                .and_then(|mut file| file.read_to_end(&mut read).map_err(|e| e.to_string()))
                .map(|_| read)
        };
        for name in ["a.sql", "a.sql.gz", "a.sql.zst"] {
            assert_eq!(read(name).as_ref(), Ok(&text), "{name}");
        }
        assert!(read("broken.sql.gz").is_err());
    }
}
