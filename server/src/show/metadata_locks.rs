//! `metadata_locks` of performance_schema and `schema_table_lock_waits` of sys: which sessions use tables, which
//! definitions wait for these, and which sessions wait for a definition.
//!
//! The rows are: the tables that open transactions use (`session::held`); locks that definitions, CHECK TABLE and the
//! like hold or wait for (`table::mdl::Claim`); LOCK INSTANCE FOR BACKUP, FLUSH TABLES WITH READ LOCK and the
//! definitions that wait for these; and the names of GET_LOCK. There are no locks of databases or programs.

use super::build::{number, optional, text};
use super::definitions::named;
use super::locks::shortened;
use super::source::{Row, Source};
use crate::record::thread_id;
use crate::session::{ProcessLine, UseLine};
use std::collections::HashMap;
use table::TableUse;
use table::mdl::{Claim, Claimed};
use types::Value;
use types::schema::TableId;

/// The tables that need `Gathered::uses`.
pub const TABLES: [&str; 3] = ["metadata_locks", "schema_table_lock_waits", "x$schema_table_lock_waits"];

/// One lock of a table.
struct Line<'a> {
    session: u32,
    schema: &'a str,
    name: &'a str,
    id: TableId,
    kind: &'static str,
    held: bool,
}

/// The locks of the tables that the account may see.
fn lines<'a>(source: &Source<'a>) -> Vec<Line<'a>> {
    let Some(gathered) = source.gathered else { return Vec::new() };
    let seen: HashMap<TableId, (&str, &str)> =
        source.tables().filter(|def| !def.is_virtual).map(|def| (def.id, (&*def.database, &*def.name))).collect();
    let line = |session, id, kind, held| {
        let (schema, name) = *seen.get(&id)?;
        Some(Line { session, schema, name, id, kind, held })
    };
    let used = gathered.uses.iter().filter_map(|of: &UseLine| {
        let kind = if of.used == TableUse::Writes { "SHARED_WRITE" } else { "SHARED_READ" };
        line(of.session, of.table.id, kind, of.held)
    });
    let claims = |id| source.worker.shared.database.table(id).map_or_else(Vec::new, |table| table.mdl().claims());
    let claimed = seen.keys().flat_map(|id| claims(*id).into_iter().map(move |claim| (*id, claim)));
    let claimed = claimed.filter_map(|(id, claim): (TableId, Claim)| {
        let kind = match claim.what {
            Claimed::Share => "SHARED_READ",
            Claimed::Definition => "SHARED_UPGRADABLE",
            Claimed::Alone => "EXCLUSIVE",
            Claimed::ReadLock => "SHARED_READ_ONLY",
            Claimed::WriteLock => "SHARED_NO_READ_WRITE",
            Claimed::AllTables => "SHARED",
        };
        line(claim.session, id, kind, claim.held)
    });
    let mut lines: Vec<_> = used.chain(claimed).collect();
    lines.sort_by_key(|line| (line.schema, line.name, line.session));
    lines
}

fn thread(session: u32) -> Value<'static> {
    if session == 0 { Value::Null } else { number(thread_id(session)) }
}

fn status(held: bool) -> Value<'static> {
    text(if held { "GRANTED" } else { "PENDING" })
}

pub fn rows(source: &Source<'_>) -> Vec<Row> {
    let row = |line: Line<'_>| {
        let cells = [
            ("OBJECT_TYPE", text("TABLE")),
            ("OBJECT_SCHEMA", text(line.schema)),
            ("OBJECT_NAME", text(line.name)),
            ("OBJECT_INSTANCE_BEGIN", number(line.id.0)),
            ("LOCK_TYPE", text(line.kind)),
            ("LOCK_DURATION", text("TRANSACTION")),
            ("LOCK_STATUS", status(line.held)),
            ("OWNER_THREAD_ID", thread(line.session)),
        ];
        named("performance_schema", "metadata_locks", cells)
    };
    let user_lock = |(name, session, held): (String, u32, bool)| {
        let cells = [
            ("OBJECT_TYPE", text("USER LEVEL LOCK")),
            ("OBJECT_NAME", text(name)),
            ("LOCK_TYPE", text("EXCLUSIVE")),
            ("LOCK_DURATION", text("EXPLICIT")),
            ("LOCK_STATUS", status(held)),
            ("OWNER_THREAD_ID", thread(session)),
        ];
        named("performance_schema", "metadata_locks", cells)
    };
    let user_locks = source.worker.shared.user_locks.lines();
    let whole = source.worker.shared.definitions.claims();
    let whole = whole.iter().flat_map(|claim| whole_server(claim.what).iter().map(|of| whole_line(*of, claim)));
    lines(source).into_iter().map(row).chain(whole).chain(user_locks.into_iter().map(user_lock)).collect()
}

/// MySQL's locks (type, kind, duration) for a claim on the lock of all definitions.
fn whole_server(what: Claimed) -> &'static [[&'static str; 3]] {
    match what {
        Claimed::ReadLock => &[["BACKUP LOCK", "SHARED", "EXPLICIT"]],
        Claimed::AllTables => &[["GLOBAL", "SHARED", "EXPLICIT"], ["COMMIT", "SHARED", "EXPLICIT"]],
        _ => &[["BACKUP LOCK", "INTENTION_EXCLUSIVE", "TRANSACTION"]],
    }
}

fn whole_line([object, kind, duration]: [&'static str; 3], claim: &Claim) -> Row {
    let cells = [
        ("OBJECT_TYPE", text(object)),
        ("LOCK_TYPE", text(kind)),
        ("LOCK_DURATION", text(duration)),
        ("LOCK_STATUS", status(claim.held)),
        ("OWNER_THREAD_ID", thread(claim.session)),
    ];
    named("performance_schema", "metadata_locks", cells)
}

/// `sys.schema_table_lock_waits`, with shortened statements.
pub fn waits(source: &Source<'_>) -> Vec<Row> {
    wait_rows(source, "schema_table_lock_waits", shortened)
}

/// `` sys.`x$schema_table_lock_waits` ``
pub fn waits_raw(source: &Source<'_>) -> Vec<Row> {
    wait_rows(source, "x$schema_table_lock_waits", str::to_owned)
}

/// Each awaited lock of a table beside each lock held on it. As in MySQL's join, this includes locks that the waiting
/// session holds.
fn wait_rows(source: &Source<'_>, table: &str, shown: fn(&str) -> String) -> Vec<Row> {
    let Some(gathered) = source.gathered else { return Vec::new() };
    let lines = lines(source);
    let sessions: HashMap<u32, &ProcessLine> = gathered.processes.iter().map(|line| (line.id, line)).collect();
    let row = |waits: &Line<'_>, held: &Line<'_>| {
        let (waiting, blocking) = (sessions.get(&waits.session)?, sessions.get(&held.session)?);
        let cells = [
            ("object_schema", text(waits.schema)),
            ("object_name", text(waits.name)),
            ("waiting_thread_id", thread(waits.session)),
            ("waiting_pid", number(waiting.id)),
            ("waiting_account", account(waiting)),
            ("waiting_lock_type", text(waits.kind)),
            ("waiting_lock_duration", text("TRANSACTION")),
            ("waiting_query", optional(waiting.info.as_deref().map(shown))),
            ("waiting_query_secs", number(waiting.seconds)),
            ("blocking_thread_id", thread(held.session)),
            ("blocking_pid", number(blocking.id)),
            ("blocking_account", account(blocking)),
            ("blocking_lock_type", text(held.kind)),
            ("blocking_lock_duration", text("TRANSACTION")),
            ("sql_kill_blocking_query", text(format!("KILL QUERY {}", blocking.id))),
            ("sql_kill_blocking_connection", text(format!("KILL {}", blocking.id))),
        ];
        Some(named("sys", table, cells))
    };
    let pending = lines.iter().filter(|line| !line.held);
    let pairs = pending.flat_map(|waits| {
        let there = lines.iter().filter(move |line| line.held && line.id == waits.id);
        there.map(move |held| (waits, held))
    });
    pairs.filter_map(|(waits, held)| row(waits, held)).collect()
}

/// `user@host`, without the port.
fn account(line: &ProcessLine) -> Value<'static> {
    text(format!("{}@{}", line.user, super::performance_schema::host_of(line)))
}
