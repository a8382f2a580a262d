//! The binary log beside sessions: its settings, its start, the replicas that are connected. What sessions do with it is in
//! `session/binary_log`.
//!
//! The crate `binlog` renders it from the write-ahead log (`binlog/src/log.rs`); nothing here is on the way of a commit but one look at
//! whether the session has something to say.

mod dumps;
pub mod semi_sync;

pub use dumps::{Dumps, Replica};

use crate::variables::{Globals, Setting, known};
use binlog::BinaryLog;
use binlog::gtid::Uuid;
use binlog::row::RowImage;
use binlog::settings::Settings;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use types::CollationId;

/// How long a variable is waited for where a statement cannot be suspended.
const SHORT_WAIT: Duration = Duration::from_millis(50);

/// From which position on the engine must keep its log for the binary log of a directory.
///
/// # Errors
/// One line for people: the state of the binary log cannot be read.
pub fn log_needed_from(data_dir: &Path) -> std::result::Result<Option<u64>, String> {
    binlog::log::log_needed_from(data_dir).map_err(|error| format!("the binary log: {error}"))
}

/// The settings in the global variables.
pub fn settings_of(globals: &Globals) -> Settings {
    let number = |name| globals.get(known(name)).as_u64();
    Settings {
        server_id: number("server_id") as u32,
        image: match number("binlog_row_image") {
            0 => RowImage::Minimal,
            1 => RowImage::NoBlob,
            _ => RowImage::Full,
        },
        full_metadata: number("binlog_row_metadata") == 1,
        has_checksum: number("binlog_checksum") == 1,
        file_bytes_max: number("max_binlog_size"),
        event_bytes_max: number("binlog_row_event_max_size") as usize,
        expire_seconds: if globals.get(known("binlog_expire_logs_auto_purge")).as_bool() {
            number("binlog_expire_logs_seconds")
        } else {
            0
        },
        history_max: number("binlog_transaction_dependency_history_size") as usize,
        version: crate::config::VERSION.to_owned(),
        version_number: version_number(crate::config::VERSION),
        server_collation: CollationId::by_name(globals.get(known("collation_server")).as_text()).map_or(255, |id| id.0),
    }
}

/// 80400 for `8.4.0-...`.
fn version_number(version: &str) -> u32 {
    let mut parts = version.split(['.', '-']).map(|part| part.parse::<u32>().unwrap_or(0));
    let mut part = || parts.next().unwrap_or(0);
    part() * 10_000 + part() * 100 + part()
}

/// Opens the binary log and starts its thread; sets the variables that say that it is there.
///
/// # Errors
/// One line for people.
pub fn start(
    data_dir: &Path,
    database: &Arc<table::Database>,
    globals: &mut Globals,
) -> std::result::Result<Arc<BinaryLog>, String> {
    let base = data_dir.join(binlog::files::BASE).display().to_string();
    let on = |globals: &mut Globals, name, value| globals.set(known(name), Setting::UInt(value));
    globals.set(known("log_bin"), Setting::Int(1));
    globals.set(known("log_bin_index"), Setting::Text(format!("{base}.index").into()));
    globals.set(known("log_bin_basename"), Setting::Text(base.into()));
    on(globals, "gtid_mode", 3);
    on(globals, "enforce_gtid_consistency", 1);
    let uuid = Uuid::parse(globals.get(known("server_uuid")).as_text()).ok_or("the server's UUID is none")?;
    BinaryLog::start(data_dir, uuid, database, settings_of(globals)).map_err(|error| format!("the binary log: {error}"))
}

/// The value of a variable that the binary log computes; `None`: another variable.
pub fn variable(log: &BinaryLog, name: &str) -> Option<String> {
    match name {
        "gtid_executed" => Some(log.wait_rendered(SHORT_WAIT).executed.to_string()),
        "gtid_purged" => Some(log.status().purged.to_string()),
        _ => None,
    }
}

/// Does a text mention GTIDs?
pub fn mentions_gtids(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'g', b'G', rest) {
        if rest.len() >= at + 4 && rest[at..at + 4].eq_ignore_ascii_case(b"gtid") {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}

/// The text of a definition with the definer that it means: as in MySQL, a reader of the stream runs it as somebody else.
pub fn with_definer(statement: &sql::ast::Statement<'_>, text: &str, definer: &accounts::model::Name) -> String {
    use sql::ast::Statement as S;
    // The definer stands before the first of these words.
    let before: &[&str] = match statement {
        S::CreateTrigger(create) if create.definer.is_none() => &["TRIGGER"],
        S::CreateRoutine(create) if create.definer.is_none() => &["PROCEDURE", "FUNCTION"],
        S::CreateEvent(create) if create.definer.is_none() => &["EVENT"],
        S::CreateView(create) if create.definer.is_none() => &["SQL", "VIEW"],
        _ => return text.to_owned(),
    };
    match place_of_word(text, before) {
        Some(at) => format!("{}DEFINER={} {}", &text[..at], definer.ticked(), &text[at..]),
        None => text.to_owned(),
    }
}

/// Where the first of these words begins, outside of comments.
fn place_of_word(text: &str, words: &[&str]) -> Option<usize> {
    let bytes = text.as_bytes();
    let find = |from: usize, what: &str| text[from..].find(what).map(|at| from + at + what.len());
    let mut at = 0;
    while at < bytes.len() {
        let is_line = bytes[at] == b'#' || text[at..].starts_with("-- ");
        if is_line {
            at = find(at, "\n")?;
        } else if text[at..].starts_with("/*!") {
            // Its content is a part of the statement.
            at += 3;
        } else if text[at..].starts_with("/*") {
            at = find(at, "*/")?;
        } else if bytes[at].is_ascii_alphabetic() {
            let end = bytes[at..]
                .iter()
                .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_')
                .map_or(bytes.len(), |n| at + n);
            if words.iter().any(|word| word.eq_ignore_ascii_case(&text[at..end])) {
                return Some(at);
            }
            at = end;
        } else if bytes[at].is_ascii() {
            at += 1;
        } else {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definer_is_written_out() {
        let check = |text: &str, words: &[&str], expected: &str| {
            let at = place_of_word(text, words).expect("the word is there");
            assert_eq!(format!("{}<>{}", &text[..at], &text[at..]), expected);
        };
        check("CREATE TRIGGER t", &["TRIGGER"], "CREATE <>TRIGGER t");
        check("create /* TRIGGER */ -- trigger\n trigger t", &["TRIGGER"], "create /* TRIGGER */ -- trigger\n <>trigger t");
        check(
            "CREATE OR REPLACE ALGORITHM=MERGE SQL SECURITY INVOKER VIEW v",
            &["SQL", "VIEW"],
            "CREATE OR REPLACE ALGORITHM=MERGE <>SQL SECURITY INVOKER VIEW v",
        );
    }

    #[test]
    fn texts_that_mention_gtids() {
        assert!(mentions_gtids(b"SELECT @@global.Gtid_executed"));
        assert!(!mentions_gtids(b"SELECT g, gti FROM t WHERE gt = 1"));
        assert_eq!(version_number("8.4.0-heddle-0.1.0"), 80_400);
    }
}
