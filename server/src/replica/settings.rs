//! Where changes come from, as CHANGE REPLICATION SOURCE TO sets it, and the file that keeps it.
//!
//! ```text
//! DIR/replica.state   JSON: the settings, and from which byte of which file of the source reading begins
//! ```
//! F1: the file is replaced as a whole, durably, before the statement answers. Only the server's account may read it: it has a password.

use crate::error::{Error, Result};
use conditions::Condition;
use serde::{Deserialize, Serialize};
use sql::ast::{ReplicaOption, ReplicaValue};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const FILE: &str = "replica.state";
const FORMAT: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    pub host: String,
    pub port: u16,
    pub user: String,
    pub password: String,
    /// The source sends what `gtid_executed` does not have. Else reading begins at `file` and `position`.
    pub auto_position: bool,
    pub file: String,
    pub position: u64,
    /// Seconds between two attempts.
    pub connect_retry: u64,
    /// Attempts in a row; 0: no limit.
    pub retry_count: u64,
    /// Seconds of silence after which the source says that it is there; 0: never.
    pub heartbeat: f64,
    pub get_public_key: bool,
    /// A group is applied so many seconds after its commit at the source.
    pub delay: u64,
    /// The connection is encrypted.
    pub ssl: bool,
    /// A file of certificates in PEM, one of which has signed the source's; empty: any certificate will do.
    pub ssl_ca: String,
    /// The certificate must name the host, too.
    pub ssl_verify: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            host: String::new(),
            port: 3306,
            user: String::new(),
            password: String::new(),
            auto_position: false,
            file: String::new(),
            position: 4,
            connect_retry: 60,
            retry_count: 10,
            heartbeat: 30.0,
            get_public_key: false,
            delay: 0,
            ssl: false,
            ssl_ca: String::new(),
            ssl_verify: false,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    format: u32,
    settings: Settings,
}

/// The settings of a directory; `None`: the server is no replica.
///
/// # Errors
/// I/O; a file that has no settings.
pub fn read(dir: &Path) -> io::Result<Option<Settings>> {
    let bytes = match std::fs::read(dir.join(FILE)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    match serde_json::from_slice::<Stored>(&bytes) {
        Ok(stored) if stored.format == FORMAT => Ok(Some(stored.settings)),
        Ok(stored) => Err(io::Error::other(format!("{FILE} has format {}, this version reads {FORMAT}", stored.format))),
        Err(error) => Err(io::Error::other(format!("{FILE} is damaged: {error}"))),
    }
}

/// Keeps the settings; `None`: the server is no replica any more. F1
///
/// # Errors
/// I/O
pub fn write(dir: &Path, settings: Option<&Settings>) -> io::Result<()> {
    let Some(settings) = settings else {
        match std::fs::remove_file(dir.join(FILE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => return File::open(dir)?.sync_all(),
        }
    };
    let stored = Stored { format: FORMAT, settings: settings.clone() };
    let new = dir.join(format!("{FILE}.new"));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    file.write_all(&serde_json::to_vec(&stored).expect("plain data always serializes"))?;
    file.sync_data()?;
    std::fs::rename(&new, dir.join(FILE))?;
    File::open(dir)?.sync_all()
}

impl Settings {
    /// Applies the options of CHANGE REPLICATION SOURCE TO.
    ///
    /// # Errors
    /// 1235 for an option that is not there; 1210 for a value that does not fit; 1776.
    pub fn change(&mut self, options: &[ReplicaOption<'_>]) -> Result<()> {
        let mut names_place = false;
        let mut names_host = false;
        for option in options {
            let name = option.name.to_ascii_uppercase();
            let wrong = || Error::from(Condition::WrongArguments { what: format!("CHANGE REPLICATION SOURCE TO {name}").into() });
            let text = || match option.value {
                ReplicaValue::Text(bytes) => String::from_utf8(bytes.to_vec()).map_err(|_| wrong()),
                _ => Err(wrong()),
            };
            let number = |max: u64| match option.value {
                ReplicaValue::Number(number) if number <= max => Ok(number),
                _ => Err(wrong()),
            };
            let switch = || number(1).map(|number| number == 1);
            match name.as_str() {
                "SOURCE_HOST" => {
                    names_host = true;
                    self.host = text()?;
                    if self.host.is_empty() || self.host.len() > 255 {
                        return Err(wrong());
                    }
                }
                "SOURCE_PORT" => {
                    names_host = true;
                    self.port = number(u16::MAX.into())? as u16;
                }
                "SOURCE_USER" => self.user = text()?,
                "SOURCE_PASSWORD" => self.password = text()?,
                "SOURCE_AUTO_POSITION" => self.auto_position = switch()?,
                "SOURCE_LOG_FILE" => {
                    names_place = true;
                    self.file = text()?;
                }
                "SOURCE_LOG_POS" => {
                    names_place = true;
                    self.position = number(u64::MAX)?.max(4);
                }
                "SOURCE_CONNECT_RETRY" => self.connect_retry = number(u32::MAX.into())?.max(1),
                "SOURCE_RETRY_COUNT" => self.retry_count = number(u64::MAX)?,
                "SOURCE_HEARTBEAT_PERIOD" => {
                    self.heartbeat = match option.value {
                        ReplicaValue::Number(seconds) if seconds <= 4_294_967 => seconds as f64,
                        ReplicaValue::Decimal(seconds) if (0.0..=4_294_967.0).contains(&seconds) => seconds,
                        _ => return Err(wrong()),
                    }
                }
                "GET_SOURCE_PUBLIC_KEY" => self.get_public_key = switch()?,
                "SOURCE_SSL" => self.ssl = switch()?,
                "SOURCE_SSL_VERIFY_SERVER_CERT" => self.ssl_verify = switch()?,
                "SOURCE_SSL_CA" => {
                    self.ssl_ca = if option.value == ReplicaValue::Word("NULL") { String::new() } else { text()? };
                }
                "SOURCE_DELAY" => self.delay = number(i32::MAX as u64)?,
                // Values that say what is so anyway.
                "REQUIRE_ROW_FORMAT" | "GTID_ONLY" | "SOURCE_CONNECTION_AUTO_FAILOVER"
                    if option.value == ReplicaValue::Number(0) => {}
                "IGNORE_SERVER_IDS" if matches!(option.value, ReplicaValue::Numbers([])) => {}
                "SOURCE_BIND"
                | "SOURCE_SSL_CAPATH"
                | "SOURCE_SSL_CERT"
                | "SOURCE_SSL_CRL"
                | "SOURCE_SSL_CRLPATH"
                | "SOURCE_SSL_KEY"
                | "SOURCE_SSL_CIPHER"
                | "SOURCE_TLS_VERSION"
                | "SOURCE_TLS_CIPHERSUITES"
                | "SOURCE_PUBLIC_KEY_PATH"
                | "NETWORK_NAMESPACE"
                | "SOURCE_COMPRESSION_ALGORITHMS"
                    if matches!(option.value, ReplicaValue::Text([]) | ReplicaValue::Word("NULL")) => {}
                "PRIVILEGE_CHECKS_USER" if option.value == ReplicaValue::Word("NULL") => {}
                "REQUIRE_TABLE_PRIMARY_KEY_CHECK" if matches!(option.value, ReplicaValue::Word(word) if word.eq_ignore_ascii_case("STREAM")) =>
                    {}
                "ASSIGN_GTIDS_TO_ANONYMOUS_TRANSACTIONS" if matches!(option.value, ReplicaValue::Word(word) if word.eq_ignore_ascii_case("OFF")) =>
                    {}
                name => return Err(Error::NotSupported(format!("{name} in CHANGE REPLICATION SOURCE TO"))),
            }
        }
        if self.auto_position && names_place {
            return Err(Condition::BadReplicaAutoPosition.into());
        }
        // As in MySQL, another source is read from its beginning.
        if names_host && !names_place {
            (self.file, self.position) = (String::new(), 4);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn option<'a>(name: &'a str, value: ReplicaValue<'a>) -> ReplicaOption<'a> {
        ReplicaOption { name, value }
    }

    #[test]
    fn settings_are_kept_for_the_server_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read(dir.path()).unwrap(), None);
        let settings = Settings { host: "h".to_owned(), password: "secret".to_owned(), ..Settings::default() };
        write(dir.path(), Some(&settings)).unwrap();
        assert_eq!(read(dir.path()).unwrap(), Some(settings));
        let mode = std::fs::metadata(dir.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        write(dir.path(), None).unwrap();
        assert_eq!(read(dir.path()).unwrap(), None);
        std::fs::write(dir.path().join(FILE), b"{\"format\":9}").unwrap();
        assert!(read(dir.path()).is_err());
    }

    #[test]
    fn options_change_what_they_name() {
        let mut settings = Settings::default();
        let options = [
            option("source_host", ReplicaValue::Text(b"h")),
            option("SOURCE_PORT", ReplicaValue::Number(3307)),
            option("SOURCE_AUTO_POSITION", ReplicaValue::Number(1)),
            option("SOURCE_HEARTBEAT_PERIOD", ReplicaValue::Decimal(1.5)),
            option("SOURCE_DELAY", ReplicaValue::Number(3600)),
        ];
        settings.change(&options).unwrap();
        let Settings { port, auto_position, heartbeat, delay, .. } = settings;
        assert_eq!((settings.host.as_str(), port, auto_position, heartbeat, delay), ("h", 3307, true, 1.5, 3600));
        let number = |error: Error| error.describe().number;
        let place = [option("SOURCE_LOG_POS", ReplicaValue::Number(4))];
        assert_eq!(number(settings.change(&place).unwrap_err()), 1776);
        let wrong = [option("SOURCE_PORT", ReplicaValue::Number(70_000))];
        assert_eq!(number(settings.change(&wrong).unwrap_err()), 1210);
        let unknown = [option("SOURCE_SSL_CERT", ReplicaValue::Text(b"cert.pem"))];
        assert_eq!(number(settings.change(&unknown).unwrap_err()), 1235);
    }
}
