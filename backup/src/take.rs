//! Takes a backup: the answer of a server to BACKUP SERVER, written into a backup file.

use crate::file::{Key, Kind, Writer};
use crate::{Error, Progress, Result};
use mysql::prelude::Queryable;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::time::{Duration, Instant};

/// What this program knows of a backup; in its first chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The server's `server_uuid`.
    pub server: String,
    /// The file of the backup that this one continues; `None`: a full one.
    pub base: Option<String>,
    /// When it was begun, in microseconds since 1970.
    pub time_us: u64,
}

/// What the server says of a backup when it begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// Of the server.
    pub version: String,
    /// The epoch that an incremental backup on top of this one continues at.
    pub basis: u64,
    /// Of an incremental backup: the epoch that it continues at.
    pub since: Option<u64>,
    pub time_us: u64,
}

/// When a backup was complete, or how far it has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moment {
    pub time_us: u64,
}

/// How a backup is taken.
#[derive(Default)]
pub struct Options {
    pub compressed: bool,
    pub key: Option<Key>,
    /// Bytes a second that are read from the server, at most.
    pub rate_max: Option<u64>,
    /// The log goes on behind the end, until this process or the server ends.
    pub follow: bool,
    /// `None`: a full backup.
    pub base: Option<Base>,
}

/// The backup that an incremental one continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    pub file: String,
    /// Its server's `server_uuid`.
    pub server: String,
    /// The epoch at which it begins.
    pub basis: u64,
}

/// A backup that was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Bytes that the server sent.
    pub bytes: u64,
    /// Bytes of the file.
    pub stored: u64,
    pub pages: u64,
}

/// Pages of the data file have this size.
const PAGE_BYTES: u64 = table::offline::PAGE_BYTES as u64;

/// Takes a backup into `out`. `complete` is called once, when the backup can be restored; `tell` now and then.
///
/// # Errors
/// Those of the server, with its message; a connection that ends; I/O.
pub fn take<W: Write>(
    connection: &mut mysql::Conn,
    out: W,
    options: Options,
    mut complete: impl FnMut(&mut W) -> Result<()>,
    mut tell: impl FnMut(Progress),
) -> Result<Taken> {
    let server: Option<String> = connection.query_first("SELECT @@server_uuid").map_err(refused)?;
    let server = server.unwrap_or_default();
    if let Some(base) = options.base.as_ref().filter(|base| base.server != server) {
        let what = "is a backup of another server, or of this one before it was restored: take a full backup";
        return Err(Error(format!("{} {what}", base.file)));
    }
    let mut writer = Writer::new(out, options.compressed, options.key)?;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let (since, base) = options.base.map_or((None, None), |base| (Some(base.basis), Some(base.file)));
    let about = About { server, base, time_us: now.as_micros() as u64 };
    writer.put(Kind::About, 0, &json(&about)?)?;
    let mut statement = "BACKUP SERVER".to_owned();
    if let Some(since) = since {
        statement.push_str(&format!(" SINCE {since}"));
    }
    if options.follow {
        statement.push_str(" FOLLOW");
    }
    let (mut taken, mut progress) = (Taken::default(), Progress { done: 0, all: 0, stored: 0 });
    let began = Instant::now();
    let mut is_complete = false;
    let mut rows = connection.query_iter(statement).map_err(refused)?;
    for row in rows.by_ref() {
        let row = row.map_err(refused)?;
        let unexpected = || Error("the server's answer is not that of BACKUP SERVER".to_owned());
        let (kind, position, data): (String, u64, Vec<u8>) = mysql::from_row_opt(row).map_err(|_| unexpected())?;
        let kind = Kind::named(&kind).ok_or_else(unexpected)?;
        writer.put(kind, position, &data)?;
        taken.bytes += data.len() as u64;
        match kind {
            Kind::Begin => progress.all = position * PAGE_BYTES,
            Kind::Pages => {
                taken.pages += data.len() as u64 / PAGE_BYTES;
                progress.done = position * PAGE_BYTES + data.len() as u64;
            }
            Kind::End => {
                writer.flush()?;
                complete(writer.out())?;
                is_complete = true;
            }
            Kind::Mark => {
                writer.flush()?;
                progress.done = 0;
            }
            _ => {}
        }
        taken.stored = writer.stored();
        tell(Progress { stored: taken.stored, ..progress });
        if let Some(rate) = options.rate_max.filter(|_| !is_complete) {
            let due = Duration::from_secs_f64(taken.bytes as f64 / rate.max(1) as f64);
            std::thread::sleep(due.saturating_sub(began.elapsed()));
        }
    }
    drop(rows);
    if !is_complete {
        return Err(Error("the server's answer ends too early".to_owned()));
    }
    Ok(taken)
}

fn json(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|e| Error(e.to_string()))
}

fn refused(error: mysql::Error) -> Error {
    Error(match error {
        mysql::Error::MySqlError(error) => format!("the server says: {} {}", error.code, error.message),
        error => format!("the connection to the server: {error}"),
    })
}
