//! The tables of performance_schema that have rows without instruments: variables, status, sessions, locks. The rest is empty, as in a MySQL
//! that runs with `performance_schema = OFF`.

use super::build::{number, optional, text};
use super::definitions::named;
use super::locks;
use super::metadata_locks;
use super::source::{Maker, Row, Source};
use crate::instruments;
use crate::record::thread_id;
use crate::session::ProcessLine;
use crate::variables::{self, Scope};
use std::collections::BTreeMap;
use table::ddl::{Stage, Work};
use types::Value;

const DATABASE: &str = "performance_schema";

#[rustfmt::skip]
pub const MAKERS: &[(&str, Maker)] = &[
    ("accounts", accounts), ("data_lock_waits", locks::data_lock_waits), ("data_locks", locks::data_locks), ("events_stages_current", stages), ("global_status", global_status), ("global_variables", global_variables), ("hosts", hosts),
    ("metadata_locks", metadata_locks::rows), ("performance_timers", timers), ("persisted_variables", persisted), ("processlist", processes), ("session_account_connect_attrs", own_attributes),
    ("session_connect_attrs", attributes), ("session_status", session_status), ("session_variables", session_variables), ("threads", threads),
    ("users", users), ("variables_info", variables_info),
];

fn pair(table: &'static str) -> impl Fn((&str, String)) -> Row {
    move |(name, value)| named(DATABASE, table, [("VARIABLE_NAME", text(name)), ("VARIABLE_VALUE", text(value))])
}

fn global_variables(source: &Source<'_>) -> Vec<Row> {
    let globals = source.worker.shared.globals();
    let shown = variables::all().filter(|id| id.definition().scope != Scope::Session);
    shown.map(|id| (id.name(), id.show(globals.get(id)))).map(pair("global_variables")).collect()
}

fn session_variables(source: &Source<'_>) -> Vec<Row> {
    let Some(gathered) = source.gathered else { return Vec::new() };
    gathered.variables.iter().cloned().map(pair("session_variables")).collect()
}

fn global_status(source: &Source<'_>) -> Vec<Row> {
    let Some(gathered) = source.gathered else { return Vec::new() };
    gathered.global_status.iter().cloned().map(pair("global_status")).collect()
}

fn session_status(source: &Source<'_>) -> Vec<Row> {
    let Some(gathered) = source.gathered else { return Vec::new() };
    gathered.session_status.iter().cloned().map(pair("session_status")).collect()
}

/// The source of each variable: compiled in, or persisted. Changes by SET since the start are not shown.
fn variables_info(source: &Source<'_>) -> Vec<Row> {
    let persisted = &source.worker.shared.persisted;
    let (entries, path) = (persisted.at_start(), persisted.path().display().to_string());
    let row = |id: variables::VariableId| {
        let (low, high) = id.range();
        let entry = entries.get(id.name());
        let set = entry.map(|entry| &entry.metadata);
        let cells = [
            ("VARIABLE_NAME", text(id.name())),
            ("VARIABLE_SOURCE", text(if entry.is_some() { "PERSISTED" } else { "COMPILED" })),
            ("VARIABLE_PATH", text(if entry.is_some() { path.as_str() } else { "" })),
            ("MIN_VALUE", text(low)),
            ("MAX_VALUE", text(high)),
            ("SET_TIME", set.map_or(Value::Null, |set| super::cells::datetime(set.timestamp))),
            ("SET_USER", optional(set.map(|set| set.user.clone()))),
            ("SET_HOST", optional(set.map(|set| set.host.clone()))),
        ];
        named(DATABASE, "variables_info", cells)
    };
    variables::all().map(row).collect()
}

fn persisted(source: &Source<'_>) -> Vec<Row> {
    let entries = source.worker.shared.persisted.entries();
    let row = |(name, entry): (String, crate::variables::persisted::Entry)| {
        let cells = [("VARIABLE_NAME", text(name)), ("VARIABLE_VALUE", text(entry.value))];
        named(DATABASE, "persisted_variables", cells)
    };
    entries.into_iter().map(row).collect()
}

fn timers(_: &Source<'_>) -> Vec<Row> {
    let row = |(name, frequency): (&str, u64)| {
        let cells = [("TIMER_NAME", text(name)), ("TIMER_FREQUENCY", number(frequency)), ("TIMER_RESOLUTION", number(1u64))];
        named(DATABASE, "performance_timers", cells)
    };
    [("NANOSECOND", 1_000_000_000), ("MICROSECOND", 1_000_000), ("MILLISECOND", 1000)].map(row).into()
}

fn lines<'a>(source: &Source<'a>) -> &'a [ProcessLine] {
    source.gathered.map_or(&[], |gathered| &gathered.processes)
}

fn processes(source: &Source<'_>) -> Vec<Row> {
    let row = |line: &ProcessLine| {
        let mut row = super::server::process_row(line);
        row.push(text("PRIMARY"));
        row
    };
    lines(source).iter().map(row).collect()
}

fn threads(source: &Source<'_>) -> Vec<Row> {
    let row = |line: &ProcessLine| {
        let cells = [
            ("THREAD_ID", number(thread_id(line.id))),
            ("NAME", text("thread/sql/one_connection")),
            ("TYPE", text("FOREGROUND")),
            ("PROCESSLIST_ID", number(line.id)),
            ("PROCESSLIST_USER", text(&line.user)),
            ("PROCESSLIST_HOST", text(host_of(line))),
            ("PROCESSLIST_DB", optional(line.database.clone())),
            ("PROCESSLIST_COMMAND", text(line.command)),
            ("PROCESSLIST_TIME", number(line.seconds)),
            ("PROCESSLIST_STATE", text(line.state.clone())),
            ("PROCESSLIST_INFO", optional(line.info.clone())),
            ("INSTRUMENTED", text("YES")),
            ("HISTORY", text("YES")),
            ("CONNECTION_TYPE", text(if line.host.contains(':') { "TCP/IP" } else { "Socket" })),
            ("EXECUTION_ENGINE", text("PRIMARY")),
            ("TELEMETRY_ACTIVE", text("NO")),
        ];
        named(DATABASE, "threads", cells)
    };
    lines(source).iter().map(row).collect()
}

fn stage_of(work: Work) -> &'static str {
    match work {
        Work::Alter => instruments::READING_ROWS,
        Work::Check => instruments::CHECKING,
        Work::Checksum => instruments::SUMMING,
        Work::Analyze => instruments::ANALYZING,
        Work::Load => instruments::LOADING,
    }
}

/// The stages of definitions and other long work, under the names of InnoDB's ALTER TABLE: rows read, or changed rows to catch up with.
fn stages(source: &Source<'_>) -> Vec<Row> {
    let row = |line: &ProcessLine| {
        let (name, done, all) = match line.stage? {
            Stage::Waiting => (instruments::WAITING_FOR_TABLE, None, None),
            Stage::Working { work, done, all, .. } => (stage_of(work), Some(done), Some(all).filter(|all| *all > 0)),
            Stage::CatchingUp { left } => (instruments::CATCHING_UP, Some(0), Some(left)),
        };
        if !source.worker.shared.instruments.shows(name) {
            return None;
        }
        let count = |value: Option<u64>| value.map_or(Value::Null, number);
        let cells = [
            ("THREAD_ID", number(thread_id(line.id))),
            ("EVENT_NAME", text(name)),
            ("WORK_COMPLETED", count(done)),
            ("WORK_ESTIMATED", count(all)),
        ];
        Some(named(DATABASE, "events_stages_current", cells))
    };
    lines(source).iter().filter_map(row).collect()
}

/// The host without the port.
pub fn host_of(line: &ProcessLine) -> &str {
    line.host.rsplit_once(':').map_or(&line.host, |(host, _)| host)
}

/// The number of sessions per value of `key`.
fn counted<K: Ord>(source: &Source<'_>, key: impl Fn(&ProcessLine) -> K) -> BTreeMap<K, u64> {
    let mut counts = BTreeMap::new();
    for line in lines(source) {
        *counts.entry(key(line)).or_default() += 1;
    }
    counts
}

fn connections(count: u64) -> [(&'static str, Value<'static>); 2] {
    [("CURRENT_CONNECTIONS", number(count)), ("TOTAL_CONNECTIONS", number(count))]
}

fn accounts(source: &Source<'_>) -> Vec<Row> {
    let counts = counted(source, |line| (line.user.clone(), host_of(line).to_owned()));
    let row = |((user, host), count): ((String, String), u64)| {
        let [current, total] = connections(count);
        named(DATABASE, "accounts", [("USER", text(user)), ("HOST", text(host)), current, total])
    };
    counts.into_iter().map(row).collect()
}

fn users(source: &Source<'_>) -> Vec<Row> {
    let row = |(user, count): (String, u64)| {
        let [current, total] = connections(count);
        named(DATABASE, "users", [("USER", text(user)), current, total])
    };
    counted(source, |line| line.user.clone()).into_iter().map(row).collect()
}

fn hosts(source: &Source<'_>) -> Vec<Row> {
    let row = |(host, count): (String, u64)| {
        let [current, total] = connections(count);
        named(DATABASE, "hosts", [("HOST", text(host)), current, total])
    };
    counted(source, |line| host_of(line).to_owned()).into_iter().map(row).collect()
}

fn attributes(source: &Source<'_>) -> Vec<Row> {
    lines(source).iter().flat_map(|line| attributes_of(line, "session_connect_attrs")).collect()
}

fn own_attributes(source: &Source<'_>) -> Vec<Row> {
    let Some(gathered) = source.gathered else { return Vec::new() };
    let own = gathered.processes.iter().find(|line| line.id == gathered.session);
    let same = |line: &&ProcessLine| own.is_some_and(|own| own.user == line.user && host_of(own) == host_of(line));
    gathered.processes.iter().filter(same).flat_map(|line| attributes_of(line, "session_account_connect_attrs")).collect()
}

fn attributes_of(line: &ProcessLine, table: &str) -> Vec<Row> {
    let row = |(position, (name, value)): (usize, &(String, String))| {
        let cells = [
            ("PROCESSLIST_ID", number(line.id)),
            ("ATTR_NAME", text(name)),
            ("ATTR_VALUE", text(value)),
            ("ORDINAL_POSITION", number(position)),
        ];
        named(DATABASE, table, cells)
    };
    line.attributes.iter().enumerate().map(row).collect()
}
