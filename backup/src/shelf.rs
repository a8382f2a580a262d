//! The backups of a directory: `20261128T101500.123Z-full.hbk`, and `...-incr.hbk` on top of others.
//!
//! A file gets its name when its backup can be restored; before that it ends in `.part`. The order of the names is that of time.

use crate::file::{Key, Kind, Reader};
use crate::take::{About, Begin, Moment};
use crate::{Error, Result, about};
use std::path::{Path, PathBuf};

pub const ENDING: &str = ".hbk";

/// A backup file, as its chunks tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Backup {
    pub path: PathBuf,
    pub about: About,
    pub begin: Begin,
    /// When the copy of the pages was complete: it can be restored to this moment and later ones.
    pub complete_us: u64,
    /// How far its log reaches.
    pub until_us: u64,
    /// Where its log ends.
    pub log_end: u64,
    pub pages: u64,
    pub bytes: u64,
}

impl Backup {
    pub fn is_full(&self) -> bool {
        self.begin.since.is_none()
    }

    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Reads a whole file and checks every chunk. `None`: the backup was not completed.
///
/// # Errors
/// Damage; a wrong key; I/O.
pub fn inspect(path: &Path, key: Option<Key>) -> Result<Option<Backup>> {
    let mut reader = Reader::open(path, key)?;
    let mut backup = Backup { path: path.into(), ..Backup::default() };
    let mut is_complete = false;
    let unreadable = |e: serde_json::Error| about(path, "cannot understand", e);
    while let Some(chunk) = reader.next_chunk()? {
        match chunk.kind {
            Kind::About => backup.about = serde_json::from_slice(&chunk.body).map_err(unreadable)?,
            Kind::Begin => backup.begin = serde_json::from_slice(&chunk.body).map_err(unreadable)?,
            Kind::Pages => backup.pages += chunk.body.len() as u64 / table::offline::PAGE_BYTES as u64,
            Kind::End | Kind::Mark => {
                let moment: Moment = serde_json::from_slice(&chunk.body).map_err(unreadable)?;
                if chunk.kind == Kind::End {
                    (backup.complete_us, is_complete) = (moment.time_us, true);
                }
                (backup.until_us, backup.log_end) = (moment.time_us, chunk.position);
            }
            Kind::File | Kind::Log | Kind::Control => {}
        }
    }
    backup.bytes = reader.read_bytes();
    Ok(is_complete.then_some(backup))
}

/// The names of the backup files of a directory or prefix, oldest first.
///
/// # Errors
/// I/O.
pub fn names(dir: &Path) -> Result<Vec<String>> {
    let mut names = crate::place::names(dir)?;
    names.retain(|name| name.ends_with(ENDING));
    names.sort_unstable();
    Ok(names)
}

/// The head of a file: what it is based on. Reads no pages.
///
/// # Errors
/// Damage; a wrong key; I/O.
pub fn head(path: &Path, key: Option<Key>) -> Result<(About, Begin)> {
    let mut reader = Reader::open(path, key)?;
    let incomplete = || Error(format!("{} ends before its backup begins", path.display()));
    let unreadable = |e: serde_json::Error| about(path, "cannot understand", e);
    let about_chunk = reader.next_chunk()?.filter(|chunk| chunk.kind == Kind::About).ok_or_else(incomplete)?;
    let begin_chunk = reader.next_chunk()?.filter(|chunk| chunk.kind == Kind::Begin).ok_or_else(incomplete)?;
    let about = serde_json::from_slice(&about_chunk.body).map_err(unreadable)?;
    let begin = serde_json::from_slice(&begin_chunk.body).map_err(unreadable)?;
    Ok((about, begin))
}

/// The file name of a backup that begins now.
pub fn new_name(is_full: bool) -> String {
    let now = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S%.3fZ").to_string();
    format!("{now}-{}{ENDING}", if is_full { "full" } else { "incr" })
}

/// A time as people write it: `2026-11-24 12:00:01` is in this machine's time zone, `2026-11-24T12:00:01Z` in UTC; programs write
/// `@1795863545842448`, the microseconds since 1970.
///
/// # Errors
/// A text that is no time.
pub fn parse_time(text: &str) -> Result<u64> {
    let wrong = || Error(format!("'{text}' is no time: write '2026-11-24 12:00:01' or '2026-11-24T12:00:01Z'"));
    if let Some(micros) = text.strip_prefix('@') {
        return micros.parse().map_err(|_| wrong());
    }
    let timestamp = match text.parse::<jiff::Timestamp>() {
        Ok(timestamp) => timestamp,
        Err(_) => {
            let civil: jiff::civil::DateTime = text.parse().map_err(|_| wrong())?;
            civil.to_zoned(jiff::tz::TimeZone::system()).map_err(|_| wrong())?.timestamp()
        }
    };
    u64::try_from(timestamp.as_microsecond()).map_err(|_| wrong())
}

/// A time for people, in UTC.
pub fn show_time(time_us: u64) -> String {
    match jiff::Timestamp::from_microsecond(time_us as i64) {
        Ok(time) => format!("{} (@{time_us})", time.strftime("%Y-%m-%d %H:%M:%S%.6f UTC")),
        Err(_) => "an unknown time".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(parse_time("1970-01-01T00:00:01Z"), Ok(1_000_000));
        assert_eq!(parse_time("1970-01-01T00:00:01.5+00:00"), Ok(1_500_000));
        assert!(parse_time("2026-11-24 12:00:01").is_ok());
        assert!(parse_time("yesterday").expect_err("no time").0.contains("'yesterday' is no time"));
        assert!(parse_time("1900-01-01T00:00:00Z").is_err());
        assert_eq!(parse_time("@1500000"), Ok(1_500_000));
        assert_eq!(show_time(1_500_000), "1970-01-01 00:00:01.500000 UTC (@1500000)");
    }
}
