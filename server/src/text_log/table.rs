//! The slow query log and the general log as tables, `mysql.slow_log` and `mysql.general_log`: files with a row on each
//! line, which the logs' thread appends to and reads.
//!
//! T1: a row's fields are separated by tabs; tabs, line ends and backslashes inside are escaped. A last line without its
//!     end was torn by a crash and is no row.
//! T2: a file that reaches [`FILE_BYTES_MAX`] becomes the older one, in place of the one before it. So a table has at
//!     most twice as much, and always the latest rows.

use super::{Log, Origin, Timing};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use types::{DateTime, Time, Value};

/// See T2.
pub const FILE_BYTES_MAX: u64 = 16 << 20;

pub type Row = Vec<Value<'static>>;

/// The file of a log's rows, and the older one.
fn paths(log: Log, data_dir: &Path) -> [PathBuf; 2] {
    let name = log.table();
    [data_dir.join(format!("{name}.rows")), data_dir.join(format!("{name}.rows.old"))]
}

/// Appends a row of `mysql.general_log`.
pub fn put_general(origin: &Origin<'_>, command: &str, argument: &[u8], now_us: i64, out: &mut Vec<u8>) {
    put_fields(
        &[
            now_us.to_string().as_bytes(),
            user_host(origin).as_bytes(),
            origin.session.to_string().as_bytes(),
            b"1",
            command.as_bytes(),
            argument,
        ],
        out,
    );
}

/// Appends a row of `mysql.slow_log`.
pub fn put_slow(origin: &Origin<'_>, timing: &Timing, statement: &[u8], now_us: i64, out: &mut Vec<u8>) {
    let number = |number: u64| number.to_string().into_bytes();
    put_fields(
        &[
            now_us.to_string().as_bytes(),
            user_host(origin).as_bytes(),
            &number(timing.taken_us),
            &number(timing.lock_us),
            &number(timing.sent),
            &number(timing.examined),
            origin.database.unwrap_or_default().as_bytes(),
            &number(timing.last_insert_id),
            &number(timing.insert_id),
            b"1",
            statement,
            &number(origin.session.into()),
        ],
        out,
    );
}

/// `account[user] @ host [address]`
fn user_host(origin: &Origin<'_>) -> String {
    let Origin { account, user, host, address, .. } = origin;
    format!("{account}[{user}] @ {host} [{address}]")
}

fn put_fields(fields: &[&[u8]], out: &mut Vec<u8>) {
    for (place, field) in fields.iter().enumerate() {
        if place > 0 {
            out.push(b'\t');
        }
        for &byte in *field {
            match byte {
                b'\t' => out.extend_from_slice(b"\\t"),
                b'\n' => out.extend_from_slice(b"\\n"),
                b'\\' => out.extend_from_slice(b"\\\\"),
                _ => out.push(byte),
            }
        }
    }
    out.push(b'\n');
}

fn fields(line: &[u8]) -> Vec<Vec<u8>> {
    let mut fields = vec![Vec::new()];
    let mut bytes = line.iter();
    while let Some(&byte) = bytes.next() {
        let field = fields.last_mut().expect("there is one from the start");
        match byte {
            b'\t' => fields.push(Vec::new()),
            b'\\' => field.push(match bytes.next() {
                Some(b't') => b'\t',
                Some(b'n') => b'\n',
                Some(&other) => other,
                None => break,
            }),
            _ => field.push(byte),
        }
    }
    fields
}

/// The values of a line. `None`: it is no row.
fn row(log: Log, line: &[u8]) -> Option<Row> {
    let fields = fields(line);
    let number = |place: usize| -> Option<u64> { std::str::from_utf8(&fields[place]).ok()?.parse().ok() };
    let integer = |place| Some(Value::Int(i64::try_from(number(place)?).unwrap_or(i64::MAX).min(i32::MAX.into())));
    let moment = |place: usize| Some(Value::DateTime(DateTime::from_utc_micros(i64::try_from(number(place)?).ok()?)?));
    let time = |place: usize| Some(Value::Time(Time { micros: i64::try_from(number(place)?).ok()? }));
    let bytes = |place: usize| Value::Bytes(fields[place].clone().into());
    match log {
        Log::General if fields.len() == 6 => {
            Some(vec![moment(0)?, bytes(1), Value::UInt(number(2)?), Value::UInt(number(3)?), bytes(4), bytes(5)])
        }
        Log::Slow if fields.len() == 12 => Some(vec![
            moment(0)?,
            bytes(1),
            time(2)?,
            time(3)?,
            integer(4)?,
            integer(5)?,
            bytes(6),
            integer(7)?,
            integer(8)?,
            Value::UInt(number(9)?),
            bytes(10),
            Value::UInt(number(11)?),
        ]),
        _ => None,
    }
}

/// The rows of a log, as its thread writes and reads them.
pub struct Table {
    log: Log,
    paths: [PathBuf; 2],
    open: Option<(File, u64)>,
}

impl Table {
    pub fn new(log: Log, data_dir: &Path) -> Self {
        Self { log, paths: paths(log, data_dir), open: None }
    }

    /// Appends rows.
    pub fn append(&mut self, rows: &[u8]) -> io::Result<()> {
        if let Some((_, bytes)) = &self.open
            && *bytes >= FILE_BYTES_MAX
        {
            self.open = None;
            std::fs::rename(&self.paths[0], &self.paths[1])?;
        }
        let (file, bytes) = match &mut self.open {
            Some(open) => open,
            None => self.open.insert(open(&self.paths[0])?),
        };
        let written = file.write_all(rows);
        *bytes += rows.len() as u64;
        if written.is_err() {
            // A torn row must not become the beginning of the next one.
            self.open = None;
        }
        written
    }

    /// All rows, oldest first.
    pub fn rows(&self) -> io::Result<Vec<Row>> {
        let mut rows = Vec::new();
        for path in self.paths.iter().rev() {
            let bytes = match std::fs::read(path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            // T1
            let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
            rows.extend(bytes[..whole].split(|byte| *byte == b'\n').filter_map(|line| row(self.log, line)));
        }
        Ok(rows)
    }

    /// TRUNCATE TABLE
    pub fn clear(&mut self) -> io::Result<()> {
        self.open = None;
        for path in &self.paths {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o640);
    let mut file = options.create(true).read(true).append(true).open(path)?;
    let mut bytes = file.metadata()?.len();
    if bytes > 0 && !ends_with_line(&mut file)? {
        file.write_all(b"\n")?;
        bytes += 1;
    }
    Ok((file, bytes))
}

fn ends_with_line(file: &mut File) -> io::Result<bool> {
    use std::io::{Read, Seek, SeekFrom};
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == [b'\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORIGIN: Origin<'_> =
        Origin { session: 7, account: "root", user: "root", host: "localhost", address: "", database: Some("shop") };

    #[test]
    fn rows_survive_their_file() {
        let directory = tempfile::tempdir().unwrap();
        let mut table = Table::new(Log::General, directory.path());
        assert!(table.rows().unwrap().is_empty());
        let mut out = Vec::new();
        put_general(&ORIGIN, "Query", b"SELECT '\t\\\n'", 1_000_000, &mut out);
        table.append(&out).unwrap();
        // A crash tears the last row.
        table.append(b"2000000\tnobody").unwrap();
        let mut table = Table::new(Log::General, directory.path());
        table.append(&out).unwrap();
        let rows = table.rows().unwrap();
        assert_eq!(rows.len(), 2, "{rows:?}");
        let text = |value: &Value<'_>| match value {
            Value::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!((text(&rows[1][1]).as_str(), text(&rows[1][5]).as_str()), ("root[root] @ localhost []", "SELECT '\t\\\n'"));
        table.clear().unwrap();
        assert!(table.rows().unwrap().is_empty());
        table.append(&out).unwrap();
        assert_eq!(table.rows().unwrap().len(), 1);
    }

    #[test]
    fn a_full_file_becomes_the_older_one() {
        let directory = tempfile::tempdir().unwrap();
        let mut table = Table::new(Log::Slow, directory.path());
        let long = vec![b'x'; 1 << 20];
        for n in 0..40 {
            let mut out = Vec::new();
            let timing = Timing { taken_us: n, ..Timing::default() };
            put_slow(&ORIGIN, &timing, &long, 1_000_000, &mut out);
            table.append(&out).unwrap();
        }
        let rows = table.rows().unwrap();
        assert!((16..=34).contains(&rows.len()), "{}", rows.len());
        assert_eq!(rows.last().unwrap()[2], Value::Time(Time { micros: 39 }));
        let bytes: u64 = std::fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum();
        assert!(bytes <= 2 * FILE_BYTES_MAX + (2 << 20), "{bytes}");
    }
}
