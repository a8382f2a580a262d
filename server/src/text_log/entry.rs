//! The bytes of an entry, as MySQL writes them.
//!
//! ```text
//! # Time: 2026-11-24T23:54:37.972099Z
//! # User@Host: root[root] @ localhost []  Id:    11
//! # Query_time: 0.100253  Lock_time: 0.000000 Rows_sent: 1  Rows_examined: 1
//! use shop;                                                    where it is not that of the entry before
//! SET timestamp=1795564477;                                    when the statement began
//! select sleep(0.1);
//!
//! 2026-11-24T23:54:37.871864Z<tab>   11 Query<tab>select sleep(0.1)
//! ```

use super::Log;
use std::borrow::Cow;
use std::io::Write;
use types::{DateTime, Value};

/// The session of a statement.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub session: u32,
    /// The name of the account, and the one that the client gave.
    pub account: &'a str,
    pub user: &'a str,
    /// Name and address; empty if unknown.
    pub host: &'a str,
    pub address: &'a str,
    pub database: Option<&'a str>,
}

/// How long the statement took, and the parts of that time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timing {
    /// Seconds of the epoch.
    pub began: i64,
    pub taken_us: u64,
    pub lock_us: u64,
    pub sent: u64,
    pub examined: u64,
    pub last_insert_id: u64,
    pub insert_id: u64,
    /// `log_slow_extra`
    pub extra: Option<Extra>,
}

/// What `log_slow_extra` adds: the differences of the session's counters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extra {
    pub errno: u16,
    pub killed: u16,
    pub counts: ExtraCounts,
    /// Microseconds of the epoch.
    pub began_us: i64,
    pub ended_us: i64,
}

/// Counters of a session, in the order of their fields in an entry.
pub type ExtraCounts = [u64; EXTRA_NAMES.len()];

/// The names of these fields.
pub const EXTRA_NAMES: [&str; 15] = [
    "Bytes_received",
    "Bytes_sent",
    "Read_first",
    "Read_last",
    "Read_key",
    "Read_next",
    "Read_prev",
    "Read_rnd",
    "Read_rnd_next",
    "Sort_merge_passes",
    "Sort_range_count",
    "Sort_rows",
    "Sort_scan_count",
    "Created_tmp_disk_tables",
    "Created_tmp_tables",
];

/// Appends an entry of the slow log. `last_database` is the database of the previous entry.
pub fn slow_entry(origin: &Origin<'_>, timing: &Timing, statement: &[u8], out: &mut Vec<u8>, last_database: &mut Option<String>) {
    put_head(origin, timing, out);
    if let Some(database) = origin.database.filter(|own| last_database.as_deref() != Some(*own)) {
        line(out, format_args!("use {};\n", name(database)));
        *last_database = Some(database.to_owned());
    }
    line(out, format_args!("SET timestamp={};\n", timing.began));
    out.extend_from_slice(statement);
    out.extend_from_slice(b";\n");
}

/// Appends an entry about something that is not a statement.
fn admin_entry(what: &str, out: &mut Vec<u8>) {
    let origin = Origin { session: 0, account: "", user: "", host: "", address: "", database: None };
    put_head(&origin, &Timing::default(), out);
    line(out, format_args!("SET timestamp={};\n# administrator command: {what};\n", now_us() / 1_000_000));
}

fn put_head(origin: &Origin<'_>, timing: &Timing, out: &mut Vec<u8>) {
    let seconds = |us: u64| us as f64 / 1e6;
    let Origin { session, account, user, host, address, .. } = origin;
    line(
        out,
        format_args!(
            "# Time: {}\n# User@Host: {account}[{user}] @ {host} [{address}]  Id: {session:5}\n\
             # Query_time: {:.6}  Lock_time: {:.6} Rows_sent: {}  Rows_examined: {}",
            moment(now_us()),
            seconds(timing.taken_us),
            seconds(timing.lock_us),
            timing.sent,
            timing.examined
        ),
    );
    if let Some(extra) = &timing.extra {
        line(out, format_args!(" Thread_id: {session} Errno: {} Killed: {}", extra.errno, extra.killed));
        for (name, count) in EXTRA_NAMES.iter().zip(extra.counts) {
            line(out, format_args!(" {name}: {count}"));
        }
        line(out, format_args!(" Start: {} End: {}", moment(extra.began_us), moment(extra.ended_us)));
    }
    out.push(b'\n');
}

/// Appends a line of the general log.
pub fn general_entry(session: u32, command: &str, argument: &[u8], out: &mut Vec<u8>) {
    line(out, format_args!("{}\t{session:5} {command}\t", moment(now_us())));
    out.extend_from_slice(argument);
    out.push(b'\n');
}

/// An entry that reports how many entries were dropped here.
pub fn dropped_entry(log: Log, count: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let what = format!("{count} entries are missing here, the file was slower than they came");
    match log {
        Log::General => general_entry(0, "Lost", what.as_bytes(), &mut out),
        Log::Slow => admin_entry(&what, &mut out),
    }
    out
}

/// Appends a value as SQL writes it, for the `?` of a prepared statement.
pub fn put_value(value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.extend_from_slice(b"NULL"),
        Value::Int(number) => line(out, format_args!("{number}")),
        Value::UInt(number) => line(out, format_args!("{number}")),
        Value::Double(number) => types::convert::write_f64(*number, out),
        Value::Decimal(number) => line(out, format_args!("{number}")),
        Value::Bytes(bytes) => put_text(bytes, out),
        Value::Date(date) => put_text(&written(|out| types::convert::write_date(*date, out)), out),
        Value::Time(time) => put_text(&written(|out| types::convert::write_time(*time, 6, out)), out),
        Value::DateTime(moment) => put_text(&written(|out| types::convert::write_datetime(*moment, 6, out)), out),
    }
}

/// The text with its `?` replaced by values.
pub fn with_values(text: &[u8], values: &[Value<'_>], mode: &types::SqlMode) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let (mut kept, mut values) = (0, values.iter());
    for place in sql::places_of_parameters(text, mode) {
        let Some(value) = values.next() else { break };
        out.extend_from_slice(&text[kept..place]);
        put_value(value, &mut out);
        kept = place + 1;
    }
    out.extend_from_slice(&text[kept..]);
    out
}

fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out);
    out
}

fn put_text(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'\'');
    for &byte in bytes {
        match byte {
            0 => out.extend_from_slice(b"\\0"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0x1a => out.extend_from_slice(b"\\Z"),
            b'\'' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
}

/// The name of a database, quoted only if necessary: programs that read the log expect it unquoted.
fn name(database: &str) -> Cow<'_, str> {
    if database.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        database.into()
    } else {
        format!("`{}`", database.replace('`', "``")).into()
    }
}

pub fn now_us() -> i64 {
    os::time::since_epoch().as_micros() as i64
}

/// `2026-11-24T23:54:37.972099Z`
fn moment(us: i64) -> String {
    let Some(DateTime { date, hour, minute, second, micros }) = DateTime::from_utc_micros(us) else {
        return "0000-00-00T00:00:00.000000Z".to_owned();
    };
    format!("{:04}-{:02}-{:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z", date.year, date.month, date.day)
}

fn line(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("memory takes what is written");
}
