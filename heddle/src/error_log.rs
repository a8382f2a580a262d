//! The server's own log: lines of text or of JSON, on standard error or in a file.
//!
//! A line of JSON has MySQL's names (`log_sink_json`): `prio`, `label`, `msg`, `time`, `subsystem`; then the thread and the
//! fields of the message.
//!
//! The file is opened again by its path when FLUSH ERROR LOGS asks for it, so that it can be renamed before (log rotation).

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter};
use tracing_subscriber::registry::LookupSpan;

/// Starts the log. Returns the file, if it is one.
///
/// # Errors
/// The file cannot be opened; the text is for the person who starts the server.
pub fn start(level: Level, path: Option<&Path>, is_json: bool) -> Result<Option<Arc<server::ErrorLogFile>>, String> {
    let Some(path) = path else {
        install(level, is_json, io::stderr, io::stderr().is_terminal());
        return Ok(None);
    };
    let target = Arc::new(Target {
        path: path.to_owned(),
        file: Mutex::new(open(path).map_err(|error| format!("cannot write the log {}: {error}", path.display()))?),
    });
    install(level, is_json, SharedTarget(Arc::clone(&target)), false);
    let reopen = move || target.reopen();
    Ok(Some(Arc::new(server::ErrorLogFile { path: path.to_owned(), reopen: Box::new(reopen) })))
}

fn install<W>(level: Level, is_json: bool, writer: W, is_terminal: bool)
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let log = tracing_subscriber::fmt()
        .with_writer(writer)
        .with_max_level(level)
        .with_ansi(is_terminal)
        .with_target(false)
        .log_internal_errors(false); // It would panic where nobody reads standard error.
    if is_json {
        log.event_format(Json).init();
    } else {
        log.init();
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o640);
    options.create(true).append(true).open(path)
}

struct Target {
    path: PathBuf,
    file: Mutex<File>,
}

impl Target {
    fn reopen(&self) -> io::Result<()> {
        let new = open(&self.path)?;
        *self.lock() = new;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

struct SharedTarget(Arc<Target>);

/// Writes one line with one call, because others append to the file, too.
struct Line<'a>(&'a Target);

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for SharedTarget {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Self::Writer {
        Line(&self.0)
    }
}

struct Json;

/// MySQL's priority and label.
fn rank(level: Level) -> (u8, &'static str) {
    match level {
        Level::ERROR => (1, "Error"),
        Level::WARN => (2, "Warning"),
        _ => (3, "Note"),
    }
}

impl<S, N> FormatEvent<S, N> for Json
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> std::fmt::Result {
        let (prio, label) = rank(*event.metadata().level());
        let mut fields = Fields::default();
        event.record(&mut fields);
        let mut line = format!("{{\"prio\":{prio},\"label\":\"{label}\",\"time\":\"{}\",\"subsystem\":\"Server\"", now());
        if let Some(name) = std::thread::current().name() {
            put(&mut line, "thread", name);
        }
        put(&mut line, "msg", &fields.message);
        line.push_str(&fields.others);
        line.push('}');
        writeln!(out, "{line}")
    }
}

/// The message, and other fields as they stand in the line.
#[derive(Default)]
struct Fields {
    message: String,
    others: String,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            name => put(&mut self.others, name, value),
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        let _ = write!(self.others, ",\"{}\":{value}", field.name());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        let _ = write!(self.others, ",\"{}\":{value}", field.name());
    }
}

/// Appends `,"name":"text"`.
fn put(line: &mut String, name: &str, text: &str) {
    let _ = write!(line, ",\"{name}\":\"");
    for character in text.chars() {
        match character {
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\n' => line.push_str("\\n"),
            '\t' => line.push_str("\\t"),
            control if control < ' ' => {
                let _ = write!(line, "\\u{:04x}", control as u32);
            }
            other => line.push(other),
        }
    }
    line.push('"');
}

/// `2026-11-28T10:00:00.000000Z`
fn now() -> String {
    let micros = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |passed| passed.as_micros() as i64);
    let (days, rest) = (micros.div_euclid(86_400_000_000), micros.rem_euclid(86_400_000_000));
    let (year, month, day) = civil(days);
    let (seconds, micros) = (rest / 1_000_000, rest % 1_000_000);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// The date of a day since 1970-01-01, by the proleptic Gregorian calendar: years begin in March, so that the leap day is the last.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (day, expected) in [(0, (1970, 1, 1)), (11_016, (2000, 2, 29)), (20_785, (2026, 11, 28)), (-1, (1969, 12, 31))] {
            assert_eq!(civil(day), expected, "{day}");
        }
    }

    #[test]
    fn a_line_is_json_and_the_file_can_be_renamed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("error.log");
        let target = Arc::new(Target { path: path.clone(), file: Mutex::new(open(&path).unwrap()) });
        let log =
            tracing_subscriber::fmt().with_writer(SharedTarget(Arc::clone(&target))).with_ansi(false).event_format(Json).finish();
        tracing::subscriber::with_default(log, || {
            tracing::warn!(count = 3_u64, path = "a\tb", "it's \"{}\"", 7);
            std::fs::rename(&path, directory.path().join("error.log.1")).unwrap();
            target.reopen().unwrap();
            tracing::error!("second");
        });
        let read = |name: &str| std::fs::read_to_string(directory.path().join(name)).unwrap();
        let first = read("error.log.1");
        assert!(first.starts_with("{\"prio\":2,\"label\":\"Warning\",\"time\":\"20"), "{first}");
        assert!(first.ends_with(",\"msg\":\"it's \\\"7\\\"\",\"count\":3,\"path\":\"a\\tb\"}\n"), "{first}");
        let second = read("error.log");
        assert!(second.contains("\"msg\":\"second\"") && second.lines().count() == 1, "{second}");
    }
}
