//! A server to measure, as the command line names it.
//!
//! ```text
//! [NAME=]mysql://USER[:PASSWORD]@HOST[:PORT][?socket=PATH&pid=N]
//! [NAME=]postgres://USER[:PASSWORD]@HOST[:PORT][?...]
//! ```
//! A password may stand in the environment instead: HEDDLE_BENCH_PASSWORD is that of every server whose address has none.

use crate::error::{Error, Result};
use std::path::PathBuf;

/// The protocol that the server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    MySql,
    Postgres,
}

/// Where a server is, and who we are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What the report calls it; empty until the server has told what it is.
    pub name: String,
    pub dialect: Dialect,
    pub host: String,
    pub port: u16,
    pub socket: Option<PathBuf>,
    pub user: String,
    pub password: String,
    /// Its process, for its processor time; found by the port if not given.
    pub pid: Option<u32>,
}

impl Target {
    /// Reads an address.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong =
            |why: &str| Error::asked(format!("{text}: {why}; write mysql://USER[:PASSWORD]@HOST[:PORT] or postgres://..."));
        let (name, url) = match text.split_once("://").map(|(head, _)| head).and_then(|head| head.split_once('=')) {
            Some((name, _)) => (name, &text[name.len() + 1..]),
            None => ("", text),
        };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong("it is no address"))?;
        let (dialect, usual) = match scheme {
            "mysql" | "mariadb" | "heddle" => (Dialect::MySql, 3306),
            "postgres" | "postgresql" => (Dialect::Postgres, 5432),
            _ => return Err(wrong(&format!("'{scheme}' is not one of mysql, postgres"))),
        };
        let (at, query) = rest.split_once('?').unwrap_or((rest, ""));
        let at = at.trim_end_matches('/');
        if at.contains('/') {
            return Err(wrong("it names a database; the lab makes its own, see --database"));
        }
        let (account, place) = at.rsplit_once('@').unwrap_or((if dialect == Dialect::MySql { "root" } else { "postgres" }, at));
        let (user, password) = account.split_once(':').unwrap_or((account, ""));
        let (host, port) = match place.rsplit_once(':') {
            Some((host, port)) => (host, port.parse().map_err(|_| wrong(&format!("'{port}' is not a port")))?),
            None => (place, usual),
        };
        let password = match password {
            "" => std::env::var("HEDDLE_BENCH_PASSWORD").unwrap_or_default(),
            given => unescape(given),
        };
        let mut target = Self {
            name: name.into(),
            dialect,
            host: if host.is_empty() { "127.0.0.1".into() } else { host.into() },
            port,
            socket: None,
            user: unescape(user),
            password,
            pid: None,
        };
        for part in query.split('&').filter(|part| !part.is_empty()) {
            match part.split_once('=') {
                Some(("socket", path)) => target.socket = Some(unescape(path).into()),
                Some(("pid", pid)) => target.pid = Some(pid.parse().map_err(|_| wrong(&format!("'{pid}' is not a process")))?),
                _ => return Err(wrong(&format!("'{part}' is not one of socket=PATH, pid=N"))),
            }
        }
        Ok(target)
    }

    /// The address without the password.
    pub fn address(&self) -> String {
        let scheme = if self.dialect == Dialect::MySql { "mysql" } else { "postgres" };
        match &self.socket {
            Some(path) => format!("{scheme}://{}@{}", self.user, path.display()),
            None => format!("{scheme}://{}@{}:{}", self.user, self.host, self.port),
        }
    }
}

/// Replaces `%40` and its like.
fn unescape(text: &str) -> String {
    let (mut out, bytes, mut at) = (Vec::new(), text.as_bytes(), 0);
    while let Some(byte) = bytes.get(at) {
        let code = bytes
            .get(at + 1..at + 3)
            .and_then(|two| std::str::from_utf8(two).ok())
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        let (read, used) = if *byte == b'%' { code.map_or((*byte, 1), |code| (code, 3)) } else { (*byte, 1) };
        out.push(read);
        at += used;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let target = Target::parse("old=mysql://u%40x:p%3Aw@db:3307?socket=/run/x.sock&pid=12").expect("well formed");
        assert_eq!((target.name.as_str(), target.user.as_str(), target.password.as_str()), ("old", "u@x", "p:w"));
        assert_eq!((target.host.as_str(), target.port, target.pid), ("db", 3307, Some(12)));
        assert_eq!(target.address(), "mysql://u@x@/run/x.sock");
        let target = Target::parse("postgres://127.0.0.1").expect("well formed");
        assert_eq!((target.user.as_str(), target.port, target.dialect), ("postgres", 5432, Dialect::Postgres));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("127.0.0.1", "no address"),
            ("oracle://x", "'oracle'"),
            ("mysql://root@x:99999", "'99999' is not a port"),
            ("mysql://root@x/db", "database"),
            ("mysql://root@x?odd=1", "'odd=1'"),
        ] {
            let error = Target::parse(text).expect_err(text).to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
