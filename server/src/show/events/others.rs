//! `events_errors_summary_...` and `events_transactions_...`: errors, multi-statement transactions one by one, and sums of
//! all transactions.

use super::super::build::{number, optional, text};
use super::super::definitions::named;
use super::sums::{By, DATABASE, Row, Timer, grouped, sum_row};
use crate::instruments::TRANSACTION;
use crate::record::{Sessions, Spans, SumsLine, isolation_name, thread_id};
use types::{DateTime, Value};

fn moment(us: i64) -> Value<'static> {
    DateTime::from_utc_micros(us).map_or(Value::Null, Value::DateTime)
}

/// `events_errors_summary_...`: the errors that statements raised.
pub(super) fn errors(lines: &[SumsLine], by: By) -> Vec<Row> {
    let table = format!("events_errors_summary_{}_by_error", by.name());
    let row_of = |number: u16| conditions::CATALOGUE.iter().find(|row| row.number == number);
    let mut rows = Vec::new();
    for (key, sums) in grouped(lines, by) {
        for (error, sum) in &sums.errors {
            let known = row_of(*error);
            let moment = |us: i64| moment(us);
            let cells = [
                ("ERROR_NUMBER", Value::Int((*error).into())),
                ("ERROR_NAME", known.map_or(Value::Null, |row| text(row.symbol))),
                ("SQL_STATE", known.map_or(Value::Null, |row| text(row.sqlstate))),
                ("SUM_ERROR_RAISED", number(sum.raised)),
                ("SUM_ERROR_HANDLED", number(sum.handled)),
                ("FIRST_SEEN", moment(sum.first_us)),
                ("LAST_SEEN", moment(sum.last_us)),
            ];
            rows.push(sum_row(&table, &key, cells));
        }
    }
    rows
}

fn access_mode(is_read_only: bool) -> Value<'static> {
    text(if is_read_only { "READ ONLY" } else { "READ WRITE" })
}

/// The open multi-statement transactions.
pub(super) fn open_transactions(sessions: &Sessions, timer: &Timer) -> Vec<Row> {
    const TABLE: &str = "events_transactions_current";
    let mut rows = Vec::new();
    for line in &sessions.lines {
        let Some((is_read_only, isolation)) = line.transaction else { continue };
        let event = line.open;
        let span = event.map(|(_, _, began)| timer.span(began, sessions.now));
        let nested = event.map(|(_, statement, _)| statement).filter(|statement| *statement > 0);
        let cells = [
            ("THREAD_ID", number(thread_id(line.session))),
            ("EVENT_ID", event.map_or_else(|| number(0u64), |(id, ..)| number(id))),
            ("EVENT_NAME", text(TRANSACTION)),
            ("STATE", text("ACTIVE")),
            ("GTID", text("AUTOMATIC")),
            ("ACCESS_MODE", access_mode(is_read_only)),
            ("ISOLATION_LEVEL", text(isolation_name(isolation))),
            ("AUTOCOMMIT", text("NO")),
            ("NESTING_EVENT_ID", nested.map_or(Value::Null, number)),
            ("NESTING_EVENT_TYPE", optional(nested.map(|_| "STATEMENT"))),
        ];
        rows.push(named(DATABASE, TABLE, cells.into_iter().chain(span.into_iter().flatten())));
    }
    rows
}

/// The last multi-statement transactions of each session.
pub(super) fn ended_transactions(sessions: &Sessions, timer: &Timer) -> Vec<Row> {
    const TABLE: &str = "events_transactions_history";
    let mut rows = Vec::new();
    for session in &sessions.lines {
        for event in &session.transactions {
            let cells = [
                ("THREAD_ID", number(thread_id(session.session))),
                ("EVENT_ID", number(event.id)),
                ("END_EVENT_ID", number(event.end_id)),
                ("EVENT_NAME", text(TRANSACTION)),
                ("STATE", text(if event.is_committed { "COMMITTED" } else { "ROLLED BACK" })),
                ("GTID", text("AUTOMATIC")),
                ("ACCESS_MODE", access_mode(event.is_read_only)),
                ("ISOLATION_LEVEL", text(isolation_name(event.isolation))),
                ("AUTOCOMMIT", text(if event.autocommit { "YES" } else { "NO" })),
                ("NESTING_EVENT_ID", number(event.nested_in)),
                ("NESTING_EVENT_TYPE", text("STATEMENT")),
            ];
            rows.push(named(DATABASE, TABLE, cells.into_iter().chain(timer.span(event.began, event.ended))));
        }
    }
    rows
}

/// All transactions, those of single statements too.
pub(super) fn transactions(lines: &[SumsLine], by: By, timer: &Timer) -> Vec<Row> {
    let table = format!("events_transactions_summary_{}_by_event_name", by.name());
    let mut rows = Vec::new();
    for (key, sums) in grouped(lines, by) {
        let mut all = sums.read_write;
        all.add(&sums.read_only);
        if all.count == 0 && by != By::Nothing {
            continue;
        }
        let cells = |names: [&'static str; 5], of: &Spans| {
            let values = [
                number(of.count),
                timer.length(of.time),
                timer.length(of.least),
                timer.average(of.time, of.count),
                timer.length(of.most),
            ];
            names.into_iter().zip(values)
        };
        let whole = ["COUNT_STAR", "SUM_TIMER_WAIT", "MIN_TIMER_WAIT", "AVG_TIMER_WAIT", "MAX_TIMER_WAIT"];
        let writes =
            ["COUNT_READ_WRITE", "SUM_TIMER_READ_WRITE", "MIN_TIMER_READ_WRITE", "AVG_TIMER_READ_WRITE", "MAX_TIMER_READ_WRITE"];
        let reads =
            ["COUNT_READ_ONLY", "SUM_TIMER_READ_ONLY", "MIN_TIMER_READ_ONLY", "AVG_TIMER_READ_ONLY", "MAX_TIMER_READ_ONLY"];
        let name = std::iter::once(("EVENT_NAME", text(TRANSACTION)));
        let cells = name.chain(cells(whole, &all)).chain(cells(writes, &sums.read_write)).chain(cells(reads, &sums.read_only));
        rows.push(sum_row(&table, &key, cells));
    }
    rows
}
