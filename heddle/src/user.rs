//! Goes on as another user: a server that root starts should not run as root.
//!
//! 1. The user is looked up in /etc/passwd.
//! 2. The data directory is made, where it is missing, and becomes the user's own.
//! 3. The program starts itself again, as that user, with the same arguments.
//!
//! U1: nothing is opened and no thread runs before that, so nothing of root's is carried over.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, lchown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

/// Directories within directories, at most: a data directory has three.
const DEPTH_MAX: usize = 32;

/// A user of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: u32,
    pub group: u32,
}

/// True if the process may become any user.
pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Finds a user by name, or by number.
pub fn find(name: &str) -> Option<User> {
    let text = std::fs::read("/etc/passwd").unwrap_or_default();
    find_in(&String::from_utf8_lossy(&text), name)
}

fn find_in(passwd: &str, name: &str) -> Option<User> {
    passwd.lines().find_map(|line| {
        // name:password:user:group:comment:home:shell
        let fields: Vec<&str> = line.split(':').collect();
        let [user_name, _, id, group, ..] = fields[..] else { return None };
        let (id, group) = (id.parse().ok()?, group.parse().ok()?);
        (user_name == name || name.parse() == Ok(id)).then_some(User { id, group })
    })
}

/// Starts the program again as this user, who gets `owned`, with more variables; returns only if that fails, or if it is this user already.
pub fn become_user(user: &User, owned: &[PathBuf], arguments: &[OsString], variables: &[(String, String)]) -> Result<(), String> {
    if rustix::process::geteuid().as_raw() == user.id {
        return Ok(());
    }
    for path in owned {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
        made.and_then(|()| give(path, user, 0))
            .map_err(|e| format!("cannot give {} to the user {}: {e}", path.display(), user.id))?;
    }
    let (name, rest) = arguments.split_first().ok_or("the program has no name")?;
    let program = std::env::current_exe().unwrap_or_else(|_| PathBuf::from(name));
    let mut command = std::process::Command::new(program);
    let error = command.arg0(name).args(rest).envs(variables.iter().cloned()).uid(user.id).gid(user.group).exec();
    Err(format!("cannot go on as the user {}: {error}", user.id))
}

/// Makes what exists below a path the user's own. Links are not followed.
fn give(path: &Path, user: &User, depth: usize) -> std::io::Result<()> {
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if metadata.is_symlink() {
        return Ok(());
    }
    if metadata.uid() != user.id {
        lchown(path, Some(user.id), Some(user.group))?;
    }
    if metadata.is_dir() && depth < DEPTH_MAX {
        for entry in std::fs::read_dir(path)? {
            give(&entry?.path(), user, depth + 1)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_by_name_and_number() {
        let passwd = "root:x:0:0:root:/root:/bin/bash\nbroken\nmysql:x:999:998::/var/lib/mysql:/bin/false\n";
        assert_eq!(find_in(passwd, "mysql"), Some(User { id: 999, group: 998 }));
        assert_eq!(find_in(passwd, "999"), Some(User { id: 999, group: 998 }));
        assert_eq!(find_in(passwd, "broken"), None);
        assert_eq!(find_in(passwd, "nobody"), None);
    }
}
