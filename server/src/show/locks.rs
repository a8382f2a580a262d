//! Row locks and their waiters: `data_locks` and `data_lock_waits` of performance_schema, `innodb_lock_waits` of sys,
//! and the columns of INNODB_TRX about waits.
//!
//! The number of a transaction is that of its session, as in INNODB_TRX. There are no table locks here: definitions
//! wait for metadata locks. Locks of tables that the account may not see are left out.

use super::build::{number, optional, text};
use super::cells::datetime;
use super::definitions::named;
use super::source::{Row, Source};
use crate::record::thread_id;
use crate::session::ProcessLine;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;
use txn::{LockLine, LockMode, LockReport, Locked};
use types::KeyCodec;
use types::schema::{IndexDef, IndexKind, TableDef};
use types::{ColumnType, Time, Value};

const SCHEMA: &str = "performance_schema";
/// `statement_truncate_len` of sys.sys_config.
const STATEMENT_CHARS: usize = 64;

/// The locks, with their tables and indexes.
struct Locks<'a> {
    report: LockReport,
    indexes: HashMap<u32, (&'a TableDef, &'a IndexDef)>,
}

impl<'a> Locks<'a> {
    fn of(source: &Source<'a>) -> Self {
        let indexes = source.stored_tables().flat_map(|def| def.indexes.iter().map(move |index| (index.tree_id, (def, index))));
        Self { report: source.worker.shared.engine.locks(), indexes: indexes.collect() }
    }

    fn place(&self, line: &LockLine) -> Option<(&'a TableDef, &'a IndexDef)> {
        self.indexes.get(&line.tree).copied()
    }

    /// Each wait: the waiting line, the blocking line, and the index.
    fn waits(&self) -> impl Iterator<Item = (&LockLine, &LockLine, (&'a TableDef, &'a IndexDef))> {
        let lines = &self.report.lines;
        let waits = self.report.waits.iter().map(|(waits, held)| (&lines[*waits], &lines[*held]));
        waits.filter_map(|(waits, held)| Some((waits, held, self.place(waits)?)))
    }
}

/// The waiting sessions, each with the id of the lock and the time it has waited.
pub struct Waits(HashMap<u32, (String, Duration)>);

impl Waits {
    pub fn of(source: &Source<'_>) -> Self {
        let lines = source.worker.shared.engine.locks().lines;
        let waits = lines.iter().filter_map(|line| Some((line.owner.session, (id(line), line.waits?))));
        Self(waits.collect())
    }

    pub fn of_session(&self, session: u32) -> Option<(String, Duration)> {
        self.0.get(&session).cloned()
    }
}

pub fn micros(duration: Duration) -> i64 {
    duration.as_micros() as i64
}

/// A stable identifier of a lock.
fn id(line: &LockLine) -> String {
    let mut hasher = DefaultHasher::new();
    line.key.hash(&mut hasher);
    let kind = match line.locked {
        Locked::Row => 'r',
        Locked::Range(_) => 'g',
        Locked::Gap => 'i',
    };
    format!("{}:{}:{:016x}:{}{kind}", line.owner.txn, line.tree, hasher.finish(), letter(line.mode))
}

fn letter(mode: LockMode) -> char {
    match mode {
        LockMode::Share => 'S',
        LockMode::Exclusive => 'X',
    }
}

/// LOCK_MODE: a range is shown as InnoDB's next-key lock.
fn mode(line: &LockLine) -> String {
    let after = match line.locked {
        Locked::Row => ",REC_NOT_GAP",
        Locked::Range(_) => "",
        Locked::Gap => ",INSERT_INTENTION",
    };
    format!("{}{after}", letter(line.mode))
}

fn index_name(index: &IndexDef) -> &str {
    if index.kind == IndexKind::HiddenRowId { "GEN_CLUST_INDEX" } else { &index.name }
}

/// LOCK_DATA: the values of a key, as far as they can be decoded; for a range both ends.
fn data((def, index): (&TableDef, &IndexDef), line: &LockLine) -> String {
    let codec = KeyCodec::new(def, index);
    match &line.locked {
        Locked::Row | Locked::Gap => values(&codec, &line.key),
        Locked::Range(to) => {
            let end = |key: &[u8], open| if key.is_empty() { open } else { values(&codec, key) };
            let (from, to) = (end(&line.key, "infimum".to_owned()), end(to, "supremum pseudo-record".to_owned()));
            format!("{from} .. {to}")
        }
    }
}

fn values(codec: &KeyCodec, key: &[u8]) -> String {
    let mut out = String::new();
    for (number, part) in codec.parts().iter().enumerate() {
        // The end of a range may be shorter than a key, or no valid key.
        let Ok(at) = codec.offset(key, number) else { break };
        if at >= key.len() {
            break;
        }
        if number > 0 {
            out.push_str(", ");
        }
        match part.is_reversible().then(|| part.decode(&key[at..])) {
            Some(Ok((value, _))) => push_value(&mut out, &value, &part.ty),
            _ => {
                let end = part.encoded_bytes(&key[at..]).map_or(key.len(), |length| (at + length).min(key.len()));
                out.push_str("0x");
                key[at..end].iter().for_each(|byte| out.push_str(&format!("{byte:02x}")));
            }
        }
    }
    out
}

fn push_value(out: &mut String, value: &Value<'_>, ty: &ColumnType) {
    let mut bytes = Vec::new();
    types::write_text(value, ty, &mut bytes);
    let shown = String::from_utf8_lossy(&bytes);
    match value {
        Value::Null => out.push_str("NULL"),
        Value::Int(_) | Value::UInt(_) | Value::Decimal(_) | Value::Double(_) => out.push_str(&shown),
        _ => out.push_str(&format!("'{shown}'")),
    }
}

pub fn data_locks(source: &Source<'_>) -> Vec<Row> {
    let locks = Locks::of(source);
    let row = |line: &LockLine| {
        let place = locks.place(line)?;
        let cells = [
            ("ENGINE", text("INNODB")),
            ("ENGINE_LOCK_ID", text(id(line))),
            ("ENGINE_TRANSACTION_ID", number(line.owner.session)),
            ("THREAD_ID", thread(line)),
            ("OBJECT_SCHEMA", text(&place.0.database)),
            ("OBJECT_NAME", text(&place.0.name)),
            ("INDEX_NAME", text(index_name(place.1))),
            ("OBJECT_INSTANCE_BEGIN", number(line.tree)),
            ("LOCK_TYPE", text("RECORD")),
            ("LOCK_MODE", text(mode(line))),
            ("LOCK_STATUS", text(if line.waits.is_some() { "WAITING" } else { "GRANTED" })),
            ("LOCK_DATA", text(data(place, line))),
        ];
        Some(named(SCHEMA, "data_locks", cells))
    };
    locks.report.lines.iter().filter_map(row).collect()
}

fn thread(line: &LockLine) -> Value<'static> {
    if line.owner.session == 0 { Value::Null } else { number(thread_id(line.owner.session)) }
}

pub fn data_lock_waits(source: &Source<'_>) -> Vec<Row> {
    let locks = Locks::of(source);
    let row = |(waits, held, _): (&LockLine, &LockLine, _)| {
        let cells = [
            ("ENGINE", text("INNODB")),
            ("REQUESTING_ENGINE_LOCK_ID", text(id(waits))),
            ("REQUESTING_ENGINE_TRANSACTION_ID", number(waits.owner.session)),
            ("REQUESTING_THREAD_ID", thread(waits)),
            ("REQUESTING_OBJECT_INSTANCE_BEGIN", number(waits.tree)),
            ("BLOCKING_ENGINE_LOCK_ID", text(id(held))),
            ("BLOCKING_ENGINE_TRANSACTION_ID", number(held.owner.session)),
            ("BLOCKING_THREAD_ID", thread(held)),
            ("BLOCKING_OBJECT_INSTANCE_BEGIN", number(held.tree)),
        ];
        named(SCHEMA, "data_lock_waits", cells)
    };
    locks.waits().map(row).collect()
}

/// `sys.innodb_lock_waits`, with shortened statements.
pub fn lock_waits(source: &Source<'_>) -> Vec<Row> {
    wait_rows(source, "innodb_lock_waits", shortened)
}

/// `` sys.`x$innodb_lock_waits` ``
pub fn lock_waits_raw(source: &Source<'_>) -> Vec<Row> {
    wait_rows(source, "x$innodb_lock_waits", str::to_owned)
}

/// Shortens a statement as `sys.format_statement` does.
pub fn shortened(statement: &str) -> String {
    let one_line = statement.replace('\n', " ");
    let count = one_line.chars().count();
    if count <= STATEMENT_CHARS {
        return one_line;
    }
    let kept = STATEMENT_CHARS / 2 - 2;
    let (head, tail): (String, String) = (one_line.chars().take(kept).collect(), one_line.chars().skip(count - kept).collect());
    format!("{head} ... {tail}")
}

fn wait_rows(source: &Source<'_>, table: &str, shown: fn(&str) -> String) -> Vec<Row> {
    let Some(gathered) = source.gathered else { return Vec::new() };
    let locks = Locks::of(source);
    let now = source.worker.wall_clock_us();
    let mut held_by: HashMap<u32, u64> = HashMap::new();
    for line in locks.report.lines.iter().filter(|line| line.waits.is_none()) {
        *held_by.entry(line.owner.session).or_default() += 1;
    }
    let sessions: HashMap<u32, &ProcessLine> = gathered.processes.iter().map(|line| (line.id, line)).collect();
    let row = |(waits, held, (def, index)): (&LockLine, &LockLine, (&TableDef, &IndexDef))| {
        let of = |line: &LockLine| sessions.get(&line.owner.session).copied();
        let query = |line: &LockLine| optional(of(line).and_then(|of| of.info.as_deref()).map(shown));
        let changes = |line: &LockLine| number(of(line).and_then(|of| of.transaction).map_or(0, |open| open.changes));
        let waited = micros(waits.waits.unwrap_or_default());
        let age = |line: &LockLine| {
            let open = of(line).filter(|of| of.transaction.is_some()).map(|of| of.transaction_seconds as i64 * 1_000_000);
            open.or(line.waits.map(micros)).unwrap_or(0)
        };
        let locked = |session: u32| number(held_by.get(&session).copied().unwrap_or(0));
        let (waiting, blocking) = (waits.owner.session, held.owner.session);
        let cells = [
            ("wait_started", datetime(now - waited)),
            ("wait_age", duration(waited)),
            ("wait_age_secs", Value::Int(waited / 1_000_000)),
            ("locked_table", text(format!("`{}`.`{}`", def.database, def.name))),
            ("locked_table_schema", text(&def.database)),
            ("locked_table_name", text(&def.name)),
            ("locked_index", text(index_name(index))),
            ("locked_type", text("RECORD")),
            ("waiting_trx_id", number(waiting)),
            ("waiting_trx_started", datetime(now - age(waits))),
            ("waiting_trx_age", duration(age(waits))),
            ("waiting_trx_rows_locked", locked(waiting)),
            ("waiting_trx_rows_modified", changes(waits)),
            ("waiting_pid", number(waiting)),
            ("waiting_query", query(waits)),
            ("waiting_lock_id", text(id(waits))),
            ("waiting_lock_mode", text(mode(waits))),
            ("blocking_trx_id", number(blocking)),
            ("blocking_pid", number(blocking)),
            ("blocking_query", query(held)),
            ("blocking_lock_id", text(id(held))),
            ("blocking_lock_mode", text(mode(held))),
            ("blocking_trx_started", datetime(now - age(held))),
            ("blocking_trx_age", duration(age(held))),
            ("blocking_trx_rows_locked", locked(blocking)),
            ("blocking_trx_rows_modified", changes(held)),
            ("sql_kill_blocking_query", text(format!("KILL QUERY {blocking}"))),
            ("sql_kill_blocking_connection", text(format!("KILL {blocking}"))),
        ];
        named("sys", table, cells)
    };
    locks.waits().map(row).collect()
}

/// A TIME of whole seconds.
fn duration(micros: i64) -> Value<'static> {
    Value::Time(Time { micros: micros - micros % 1_000_000 })
}
