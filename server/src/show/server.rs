//! SHOW of the server: variables, counters, sessions, diagnostics.

use super::build::{Columns, ResultSet, number, optional, result, text, texts};
use super::gathered::Gathered;
use super::projection;
use super::source::Wanted;
use super::status;
use crate::digests::{self, Summary};
use crate::error::{Error, Result};
use crate::plan_cache::VirtualReads;
use crate::record::{Cleared, Sessions, SumsLine};
use crate::session::{IDS, ProcessLine, State, UseLine};
use crate::shared::Shared;
use crate::text_log::Log;
use crate::variables::{self, Scope, VariableId};
use crate::worker::{Worker, gather, gather_for};
use accounts::Access;
use accounts::privilege::{self, Privileges};
use expr::Level;
use reactor::task_clock::Waits;
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use table::usage::TreeUse;
use types::Value;

impl Gathered {
    /// Without PROCESS, an account sees only its own sessions.
    pub fn seen_by(mut self, access: &Access) -> Self {
        retain_seen(&mut self.processes, access);
        self
    }

    /// Collects the data for the virtual tables that a plan reads.
    pub async fn collect(state: &State<'_>, reads: VirtualReads) -> Self {
        let shared = &state.worker.shared;
        let processes = process_lines(&state.worker).await;
        let digests = if reads.digests {
            let size = shared.globals().get(IDS.performance_schema_digests_size).as_u64();
            digest_summaries(shared, size as usize).await
        } else {
            Vec::new()
        };
        let (sessions, sums, waits, tables_used) = if reads.events {
            (events(shared).await, event_sums(shared).await, all_waits(shared).await, tables_used(shared).await)
        } else {
            Default::default()
        };
        let kept = if reads.kept {
            gather(shared, |worker| worker.digests.kept()).await.into_iter().flatten().collect()
        } else {
            Vec::new()
        };
        let mut logs = [Vec::new(), Vec::new()];
        for log in Log::ALL.into_iter().filter(|log| reads.logs[*log as usize]) {
            match shared.logs.rows(log).await {
                Some(Ok(rows)) => logs[log as usize] = rows,
                Some(Err(error)) => tracing::error!(table = log.table(), %error, "the rows of a log cannot be read"),
                None => {}
            }
        }
        let uses = if reads.metadata { use_lines(shared).await } else { Vec::new() };
        let (global_status, session_status) = (status::values(state, true).await, status::values(state, false).await);
        let variables = variable_values(state);
        Self {
            processes,
            global_status,
            session_status,
            variables,
            digests,
            kept,
            uses,
            sessions,
            sums,
            waits,
            logs,
            tables_used,
            session: state.info.id,
        }
    }
}

fn retain_seen(processes: &mut Vec<ProcessLine>, access: &Access) {
    if !access.has(Privileges::PROCESS) {
        let own = access.name.plain();
        processes.retain(|line| line.account == own);
    }
}

/// A worker that takes longer to answer is in a computation that does not let others run.
const PATIENCE: Duration = Duration::from_secs(1);

/// The process list of all sessions.
async fn process_lines(worker: &Worker) -> Vec<ProcessLine> {
    let ask = |worker: &Rc<Worker>| {
        let now = worker.core.now();
        worker.sessions.borrow().values().map(|session| session.line(now)).collect::<Vec<_>>()
    };
    let (answers, is_complete) = gather_for(worker, PATIENCE, ask).await;
    let mut processes: Vec<_> = answers.into_iter().flatten().collect();
    if !is_complete {
        add_silent(&mut processes, worker.shared.kills.sessions());
    }
    processes.sort_by_key(|line| line.id);
    processes
}

/// Adds the sessions whose workers have not answered.
fn add_silent(processes: &mut Vec<ProcessLine>, sessions: Vec<(u32, String)>) {
    let told: HashSet<u32> = processes.iter().map(|line| line.id).collect();
    let silent = sessions.into_iter().filter(|(id, _)| !told.contains(id));
    processes.extend(silent.map(|(id, account)| ProcessLine::of_silent(id, account)));
}

/// The last events of every session.
async fn events(shared: &Shared) -> Sessions {
    let ask = |worker: &Rc<Worker>| {
        let now = os::ticks();
        let lines: Vec<_> = worker.sessions.borrow().values().map(|session| session.events(now)).collect();
        (lines, worker.past.long())
    };
    let mut all = Sessions { now: os::ticks(), ..Sessions::default() };
    for (lines, long) in gather(shared, ask).await {
        all.lines.extend(lines);
        all.long.extend(long);
    }
    all.lines.sort_by_key(|line| line.session);
    all.long.sort_by_key(|(_, line)| line.of.ended);
    all
}

/// The sums of every session, and of the accounts' ended sessions.
async fn event_sums(shared: &Shared) -> Vec<SumsLine> {
    let ask = |worker: &Rc<Worker>| {
        let sessions = worker.sessions.borrow();
        sessions.values().map(|session| session.sums()).chain(worker.past.lines()).collect::<Vec<_>>()
    };
    let mut lines: Vec<_> = gather(shared, ask).await.into_iter().flatten().collect();
    lines.sort_by(|a, b| (a.session, &a.user, &a.host).cmp(&(b.session, &b.user, &b.host)));
    lines
}

/// The use of trees on each worker.
async fn tables_used(shared: &Shared) -> Vec<(u32, TreeUse)> {
    gather(shared, |_| table::usage::of_this_thread()).await.into_iter().flatten().collect()
}

/// The waits of all workers. Times are ticks.
pub async fn all_waits(shared: &Shared) -> Waits {
    let mut sum = Waits::default();
    for waits in gather(shared, |worker| worker.core.waits().values()).await {
        sum.add(waits);
    }
    sum
}

/// The statistics of each digest over all workers; at most `size`.
pub async fn digest_summaries(shared: &Shared, size: usize) -> Vec<Summary> {
    digests::merged(gather(shared, |worker| worker.digests.summaries()).await.into_iter().flatten(), size)
}

/// TRUNCATE TABLE of the statistics by digest.
pub async fn clear_digests(shared: &Shared) {
    gather(shared, |worker| worker.digests.clear()).await;
}

/// TRUNCATE TABLE of a table of events.
pub async fn clear_events(shared: &Shared, what: Cleared) {
    let clear = move |worker: &Rc<Worker>| {
        worker.past.clear(what);
        for session in worker.sessions.borrow().values() {
            session.record.clear(what);
            if what == Cleared::Waits {
                session.clock.clear();
            }
        }
        if what == Cleared::Tables {
            table::usage::clear();
        }
        if what == Cleared::Waits {
            worker.core.waits().clear();
        }
    };
    gather(shared, clear).await;
}

/// The tables that the sessions' transactions use.
async fn use_lines(shared: &Arc<Shared>) -> Vec<UseLine> {
    let lines = gather(shared, |worker| {
        let sessions = worker.sessions.borrow();
        sessions.values().flat_map(|session| session.held.lines(session.id)).collect::<Vec<_>>()
    });
    lines.await.into_iter().flatten().collect()
}

/// SHOW PROCESSLIST
pub async fn process_list(state: &State<'_>, full: bool) -> ResultSet {
    const SHORT: usize = 100;
    let mut processes = process_lines(&state.worker).await;
    retain_seen(&mut processes, &state.session.access);
    if !full {
        for info in processes.iter_mut().filter_map(|line| line.info.as_mut()) {
            *info = info.chars().take(SHORT).collect();
        }
    }
    projection::PROCESSES.all(state, Wanted::default(), &Gathered { processes, ..Gathered::default() })
}

/// One line of the process list.
pub fn process_row(line: &ProcessLine) -> Vec<Value<'static>> {
    vec![
        number(line.id),
        text(&line.user),
        text(&line.host),
        optional(line.database.clone()),
        text(line.command),
        number(line.seconds),
        text(&*line.state),
        optional(line.info.clone()),
    ]
}

/// SHOW VARIABLES
pub fn variables(state: &State<'_>, global: bool) -> ResultSet {
    let projection = if global { projection::GLOBAL_VARIABLES } else { projection::SESSION_VARIABLES };
    let variables = if global { Vec::new() } else { variable_values(state) };
    projection.all(state, Wanted::default(), &Gathered { variables, ..Gathered::default() })
}

/// The variables that a session sees, by name.
fn variable_values(state: &State<'_>) -> Vec<(&'static str, String)> {
    let globals = state.worker.shared.globals();
    let value = |id: VariableId| {
        let definition = id.definition();
        if definition.scope == Scope::Global {
            return id.show(globals.get(id));
        }
        match state.session_value(id) {
            // Computed values are numbers; others are printed as stored.
            Value::UInt(value) if definition.scope == Scope::Session => value.to_string(),
            Value::Double(value) if definition.scope == Scope::Session => format!("{value:.6}"),
            _ => id.show(state.session.variables.get(id)),
        }
    };
    variables::all().map(|id| (id.name(), value(id))).collect()
}

pub fn warnings(state: &State<'_>, errors_only: bool, offset: u64, count: Option<u64>) -> ResultSet {
    let mut made = result(Columns::default().text("Level", 7).code("Code").text("Message", 512));
    let warnings = state.execution.vars.warnings.borrow();
    made.rows = warnings
        .list()
        .iter()
        .filter(|warning| !errors_only || warning.level == Level::Error)
        .skip(usize::try_from(offset).unwrap_or(usize::MAX))
        .take(count.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX)))
        .map(|warning| {
            let level = match warning.level {
                Level::Note => "Note",
                Level::Warning => "Warning",
                Level::Error => "Error",
            };
            let told = Error::describe_exec(&warning.error);
            vec![text(level), number(told.number), text(told.message)]
        })
        .collect();
    made
}

pub fn count_warnings(state: &State<'_>, errors_only: bool) -> ResultSet {
    let warnings = state.execution.vars.warnings.borrow();
    let (name, count) = if errors_only {
        ("@@session.error_count", warnings.error_count())
    } else {
        ("@@session.warning_count", warnings.count())
    };
    let mut made = result(Columns::default().number(name));
    made.rows.push(vec![number(count)]);
    made
}

pub const ENGINE_COMMENT: &str = "Heddle's engine: transactions, row locks, crash recovery";

pub async fn engine_status(state: &State<'_>, engine: &str, what: &str) -> Result<ResultSet> {
    let mut made = result(Columns::default().text("Type", 10).text("Name", 512).long_text("Status"));
    if engine.eq_ignore_ascii_case("performance_schema") {
        if what.eq_ignore_ascii_case("status") {
            made.rows = instrument_memory(state).await;
        }
        return Ok(made);
    }
    if what.eq_ignore_ascii_case("status") {
        let processes = process_lines(&state.worker).await;
        let shared = &state.worker.shared;
        let report = engine_report(
            &processes,
            &shared.engine.status(),
            format!(
                "Heddle {}, up {} s, {} workers, {} sessions",
                env!("CARGO_PKG_VERSION"),
                shared.started.elapsed().as_secs(),
                shared.workers.len(),
                processes.len()
            ),
        );
        made.rows.push(texts(&["InnoDB", "", &report]));
    }
    Ok(made)
}

/// SHOW ENGINE PERFORMANCE_SCHEMA STATUS: the memory of instruments, which is that of the statement statistics.
async fn instrument_memory(state: &State<'_>) -> Vec<Vec<Value<'static>>> {
    let sizes = gather(&state.worker.shared, digest_memory).await;
    let (count, bytes) = sizes.into_iter().fold((0, 0), |(count, bytes), (more, size)| (count + more, bytes + size));
    let digests = "events_statements_summary_by_digest";
    let row = |name: String, value: u64| texts(&["performance_schema", &name, &value.to_string()]);
    vec![
        row(format!("{digests}.size"), bytes.checked_div(count).unwrap_or(0)),
        row(format!("{digests}.count"), count),
        row(format!("{digests}.memory"), bytes),
        row("performance_schema.memory".into(), bytes),
    ]
}

fn digest_memory(worker: &Rc<Worker>) -> (u64, u64) {
    worker.digests.memory()
}

/// SHOW ENGINE INNODB STATUS, in InnoDB's sections.
fn engine_report(sessions: &[ProcessLine], engine: &txn::EngineStatus, title: String) -> String {
    let mut report = title;
    let mut section = |title: &str, lines: &[String]| {
        let rule = "-".repeat(title.len());
        report += &format!("\n\n{rule}\n{title}\n{rule}\n{}", lines.join("\n"));
    };
    if let Some(deadlock) = &engine.last_deadlock {
        section("LATEST DETECTED DEADLOCK", std::slice::from_ref(deadlock));
    }
    let mut lines = vec![format!("Commit clock {}", engine.clock), format!("History list length {}", engine.history)];
    let oldest = sessions.iter().filter_map(|line| Some((line.transaction?.snapshot?, line))).min_by_key(|(at, _)| *at);
    if let Some((at, line)) = oldest {
        let behind = engine.clock.saturating_sub(at);
        lines.push(format!("Oldest snapshot {at}, {behind} commits behind, of session {}", line.id));
    }
    for line in sessions {
        if let Some(open) = line.transaction {
            let snapshot = open.snapshot.map_or_else(String::new, |at| format!(", snapshot {at}"));
            let (seconds, changes) = (line.transaction_seconds, open.changes);
            lines.push(format!("---TRANSACTION of session {}, ACTIVE {seconds} sec, {changes} changes{snapshot}", line.id));
        }
        let info = line.info.as_deref().unwrap_or_default();
        lines.push(format!(
            "session {} {} {} {} {} s {} {info}",
            line.id, line.user, line.host, line.command, line.seconds, line.state
        ));
    }
    lines.push(format!(
        "{} lock waits, {} deadlocks, {} rows locked or waited for",
        engine.lock_waits, engine.deadlocks, engine.locked_rows
    ));
    section("TRANSACTIONS", &lines);
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    let undo = [
        format!("Old row versions kept {}", mib(engine.undo_bytes)),
        format!("In memory {}, in the file {}", mib(engine.undo_memory_bytes), mib(engine.undo_file_bytes)),
        format!("Transactions to purge {}", engine.purge_backlog),
    ];
    section("UNDO AND PURGE", &undo);
    let log = [
        format!("Log written {}", mib(engine.log_bytes)),
        format!("Log flushes {}", engine.log_flushes),
        format!("Log that a restart would redo {}, of {} at most", mib(engine.redo_bytes), mib(engine.redo_bytes_max)),
    ];
    section("LOG", &log);
    let pool = [
        format!("Buffer pool size {} pages", engine.pool_frames),
        format!("Database pages {}", engine.pool_used),
        format!("Modified db pages {}", engine.pool_dirty),
        format!("Pages read {}, written {}, evicted {}", engine.pages_read, engine.pages_written, engine.pages_evicted),
    ];
    section("BUFFER POOL AND MEMORY", &pool);
    if !engine.recovery.is_empty() {
        section("LAST RECOVERY", std::slice::from_ref(&engine.recovery));
    }
    report + "\n"
}

pub fn privileges() -> ResultSet {
    let mut made = result(Columns::default().text("Privilege", 128).text("Context", 128).text("Comment", 128));
    made.rows = privilege::DESCRIBED.iter().map(|(name, context, comment)| texts(&[name, context, comment])).collect();
    made.rows.extend(privilege::DYNAMIC.iter().map(|name| texts(&[name, "Server Admin", ""])));
    made
}

/// The built-in plugins: name, type, description.
pub const PLUGINS: &[(&str, &str, &str)] = &[
    ("mysql_native_password", "AUTHENTICATION", "Native MySQL authentication"),
    ("caching_sha2_password", "AUTHENTICATION", "Caching sha2 authentication"),
    ("InnoDB", "STORAGE ENGINE", ENGINE_COMMENT),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_of_a_silent_worker_are_told_of() {
        let mut processes = vec![ProcessLine::of_silent(3, "a@b".into())];
        processes[0].command = "Sleep";
        add_silent(&mut processes, vec![(3, "a@b".into()), (4, "c@%".into()), (5, String::new())]);
        let shown: Vec<_> = processes.iter().map(|line| (line.id, &*line.user, &*line.host, line.command)).collect();
        assert_eq!(shown, [(3, "a", "b", "Sleep"), (4, "c", "%", "Query"), (5, "unauthenticated user", "", "Query")]);
    }
}
