//! `events_statements_...`: the statements of sessions, and their sums by the name of the event.

use super::super::build::{number, optional, text};
use super::super::definitions::named;
use super::sums::{By, DATABASE, Row, Timer, grouped, sum_row};
use crate::digests::digest_of;
use crate::record::{EventSums, Name, SessionLine, Sessions, StatementLine, SumsLine, thread_id};
use types::Value;

/// The characters of a message that are shown.
const MESSAGE_CHARS_MAX: usize = 128;

fn line_row(table: &str, timer: &Timer, session: u32, line: &StatementLine) -> Row {
    let (of, measured) = (&line.of, &line.of.measured);
    let ways = measured.ways;
    let (number_, state, message) = match &line.error {
        Some((error, state, message)) => {
            let message: String = message.chars().take(MESSAGE_CHARS_MAX).collect();
            (i64::from(*error), text(String::from_utf8_lossy(state)), text(message))
        }
        None => (0, optional(measured.is_ok.then_some("00000")), Value::Null),
    };
    let nested = (of.nested_in > 0).then_some(of.nested_in);
    let kind = if of.level > 0 { "STATEMENT" } else { "TRANSACTION" };
    let (kind_of_program, program_database, program) = match &line.program {
        Some((kind, database, name)) => (text(*kind), text(database), text(name)),
        None => (Value::Null, Value::Null, Value::Null),
    };
    let cpu = of.ended.saturating_sub(measured.began).saturating_sub(of.waited);
    let cells = [
        ("THREAD_ID", number(thread_id(session))),
        ("EVENT_ID", number(of.id)),
        ("END_EVENT_ID", if of.end_id == 0 { Value::Null } else { number(of.end_id) }),
        ("EVENT_NAME", text(line.name)),
        ("LOCK_TIME", timer.length(of.locked)),
        ("SQL_TEXT", optional(line.text.clone())),
        ("DIGEST", optional(line.digest.as_deref().map(digest_of))),
        ("DIGEST_TEXT", optional(line.digest.clone())),
        ("CURRENT_SCHEMA", optional(line.database.clone())),
        ("OBJECT_TYPE", kind_of_program),
        ("OBJECT_SCHEMA", program_database),
        ("OBJECT_NAME", program),
        ("MYSQL_ERRNO", Value::Int(number_)),
        ("RETURNED_SQLSTATE", state),
        ("MESSAGE_TEXT", message),
        ("ERRORS", number(u64::from(measured.failed))),
        ("WARNINGS", number(measured.warnings)),
        ("ROWS_AFFECTED", number(measured.affected)),
        ("ROWS_SENT", number(measured.sent)),
        ("ROWS_EXAMINED", number(measured.examined)),
        ("CREATED_TMP_TABLES", number(ways.gathers)),
        ("SELECT_FULL_JOIN", number(ways.full_joins)),
        ("SELECT_RANGE", number(ways.range)),
        ("SELECT_SCAN", number(ways.scan)),
        ("SORT_RANGE", number(measured.sort_ranges)),
        ("SORT_ROWS", number(measured.sort_rows)),
        ("SORT_SCAN", number(measured.sort_scans)),
        ("NO_INDEX_USED", number(ways.no_index)),
        ("NESTING_EVENT_ID", nested.map_or(Value::Null, number)),
        ("NESTING_EVENT_TYPE", optional(nested.map(|_| kind))),
        ("NESTING_EVENT_LEVEL", Value::Int(of.level.into())),
        ("STATEMENT_ID", number(of.id)),
        ("CPU_TIME", timer.length(cpu)),
        ("EXECUTION_ENGINE", text("PRIMARY")),
    ];
    named(DATABASE, table, cells.into_iter().chain(timer.span(measured.began, of.ended)))
}

/// The running statement of each session, or the one that ended last.
pub(super) fn current(sessions: &Sessions, timer: &Timer) -> Vec<Row> {
    const TABLE: &str = "events_statements_current";
    let line = |session: &SessionLine| {
        let line = session.current.as_ref().or(session.statements.iter().rev().find(|line| line.of.level == 0))?;
        Some(line_row(TABLE, timer, session.session, line))
    };
    sessions.lines.iter().filter_map(line).collect()
}

/// The last statements of each session.
pub(super) fn history(sessions: &Sessions, timer: &Timer) -> Vec<Row> {
    const TABLE: &str = "events_statements_history";
    let rows = |session: &SessionLine| -> Vec<Row> {
        session.statements.iter().map(|line| line_row(TABLE, timer, session.session, line)).collect()
    };
    sessions.lines.iter().flat_map(rows).collect()
}

/// The last statements of all sessions.
pub(super) fn long(sessions: &Sessions, timer: &Timer) -> Vec<Row> {
    const TABLE: &str = "events_statements_history_long";
    sessions.long.iter().map(|(session, line)| line_row(TABLE, timer, *session, line)).collect()
}

/// The columns of a sum of statements.
pub(super) fn sum_cells(timer: &Timer, sums: &EventSums) -> Vec<(&'static str, Value<'static>)> {
    vec![
        ("COUNT_STAR", number(sums.count)),
        ("SUM_TIMER_WAIT", timer.length(sums.time)),
        ("MIN_TIMER_WAIT", timer.length(sums.least)),
        ("AVG_TIMER_WAIT", timer.average(sums.time, sums.count)),
        ("MAX_TIMER_WAIT", timer.length(sums.most)),
        ("SUM_LOCK_TIME", timer.length(sums.locked)),
        ("SUM_ERRORS", number(sums.errors)),
        ("SUM_WARNINGS", number(sums.warnings)),
        ("SUM_ROWS_AFFECTED", number(sums.affected)),
        ("SUM_ROWS_SENT", number(sums.sent)),
        ("SUM_ROWS_EXAMINED", number(sums.examined)),
        ("SUM_CREATED_TMP_TABLES", number(sums.temporary_tables)),
        ("SUM_SELECT_FULL_JOIN", number(sums.full_joins)),
        ("SUM_SELECT_RANGE", number(sums.ranges)),
        ("SUM_SELECT_SCAN", number(sums.scans)),
        ("SUM_SORT_RANGE", number(sums.sort_ranges)),
        ("SUM_SORT_ROWS", number(sums.sort_rows)),
        ("SUM_SORT_SCAN", number(sums.sort_scans)),
        ("SUM_NO_INDEX_USED", number(sums.no_index)),
        ("SUM_CPU_TIME", timer.length(sums.time.saturating_sub(sums.waited))),
    ]
}

pub(super) fn sums(lines: &[SumsLine], by: By, timer: &Timer) -> Vec<Row> {
    let table = format!("events_statements_summary_{}_by_event_name", by.name());
    let mut rows = Vec::new();
    for (key, sums) in grouped(lines, by) {
        let mut by_name: Vec<(&'static str, EventSums)> = Vec::new();
        let mut add = |name: &'static str, sums: &EventSums| match by_name.iter_mut().find(|(own, _)| *own == name) {
            Some((_, own)) => own.add(sums),
            None => by_name.push((name, *sums)),
        };
        sums.statements.iter().for_each(|(name, sums)| add(name.text(), sums));
        if by == By::Nothing {
            Name::all().for_each(|name| add(name.text(), &EventSums::default()));
        }
        for (name, sums) in &by_name {
            let cells = sum_cells(timer, sums);
            rows.push(sum_row(&table, &key, std::iter::once(("EVENT_NAME", text(*name))).chain(cells)));
        }
    }
    rows
}
