//! `server_uuid`: made at the first start, and kept in the file `auto.cnf` of the data directory, as in MySQL.
//!
//! Backups and clones do not have the file, so a server that is started on a restored directory is another server: its log goes on
//! differently, and an incremental backup of it must not be put on top of a backup of the first one.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

const FILE: &str = "auto.cnf";
const KEY: &str = "server-uuid=";

/// The server's UUID.
///
/// # Errors
/// A file that has no UUID, or cannot be read or written.
pub fn server_uuid(data_dir: &Path) -> Result<String, String> {
    if cfg!(sim) {
        // A simulated server has no such file.
        return Ok(random());
    }
    let path = data_dir.join(FILE);
    let wrong = |why: &dyn std::fmt::Display| format!("{}: {why}", path.display());
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            let found = text.lines().find_map(|line| line.trim().strip_prefix(KEY)).map(str::trim);
            found.filter(|uuid| is_uuid(uuid)).map(str::to_owned).ok_or_else(|| {
                wrong(&"it has no line 'server-uuid=' with a UUID; remove the file, and the server makes a new one")
            })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let uuid = random();
            write(data_dir, &path, &uuid).map_err(|error| wrong(&error))?;
            Ok(uuid)
        }
        Err(error) => Err(wrong(&error)),
    }
}

/// The file is complete before it gets its name.
fn write(data_dir: &Path, path: &Path, uuid: &str) -> io::Result<()> {
    let beside = path.with_extension("cnf.new");
    let mut file = File::create(&beside)?;
    file.write_all(format!("[auto]\n{KEY}{uuid}\n").as_bytes())?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    File::open(data_dir)?.sync_all()
}

fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    lengths == [8, 4, 4, 4, 12] && groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A random UUID (RFC 9562, version 4).
fn random() -> String {
    let bits: u128 = (u128::from_le_bytes(os::random_bytes()) & !(0xf << 76 | 0x3 << 62)) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_keeps_its_uuid() {
        let directory = tempfile::tempdir().expect("a directory");
        let first = server_uuid(directory.path()).expect("made");
        assert!(is_uuid(&first), "{first}");
        assert_eq!(server_uuid(directory.path()), Ok(first.clone()));
        std::fs::write(directory.path().join(FILE), "[auto]\nserver-uuid=1\n").expect("written");
        assert!(server_uuid(directory.path()).expect_err("no UUID").contains("auto.cnf: it has no line"));
        std::fs::remove_file(directory.path().join(FILE)).expect("removed");
        assert_ne!(server_uuid(directory.path()), Ok(first));
    }
}
