//! The rows of SHOW and information_schema about events.

use super::zone_of;
use crate::error::{Error, Result};
use crate::routine::{Charsets, charset_values, quoted, quoted_definer};
use crate::session::State;
use crate::show::{Columns, ResultSet, Source, datetime, number, optional, result, text};
use crate::variables;
use accounts::privilege::Privileges;
use sql::ast::ObjectName;
use std::sync::Arc;
use types::event::{EventDef, Schedule};
use types::show_create::quoted_text;
use types::temporal::MICROS_PER_SECOND;
use types::{ColumnType, DateTime, TypeKind, Value};

/// As MySQL's `server_id` is.
const ORIGINATOR: u32 = 1;

/// The events that the account may know of.
fn all<'s>(source: &Source<'s>) -> impl Iterator<Item = &'s Arc<EventDef>> + use<'s> {
    let access = source.access;
    let may = move |name: &str| access.is_none_or(|access| access.database(name).has(Privileges::EVENT));
    let databases = source.databases().filter(move |database| !database.events.is_empty() && may(&database.name));
    databases.flat_map(|database| database.events.values())
}

/// A time as the event's time zone has it.
fn civil(event: &EventDef, seconds: i64) -> Option<DateTime> {
    zone_of(event).to_civil(seconds * MICROS_PER_SECOND)
}

fn time(event: &EventDef, seconds: Option<i64>) -> Value<'static> {
    seconds.and_then(|seconds| civil(event, seconds)).map_or(Value::Null, Value::DateTime)
}

fn quoted_time(event: &EventDef, seconds: i64) -> String {
    let mut out = Vec::new();
    let ty = ColumnType::new(TypeKind::DateTime { fsp: 0 });
    types::write_text(&time(event, Some(seconds)), &ty, &mut out);
    format!("'{}'", String::from_utf8_lossy(&out))
}

/// The CREATE EVENT statement of the event.
fn statement(event: &EventDef) -> String {
    let program = &event.program;
    let mut out = format!("CREATE DEFINER={} EVENT {} ON SCHEDULE ", quoted_definer(program), quoted(program, &program.name));
    match event.schedule {
        Schedule::At(at) => out.push_str(&format!("AT {}", quoted_time(event, at))),
        Schedule::Every { every, starts, ends } => {
            out.push_str(&format!("EVERY {} {} STARTS {}", every.text(), every.unit.name(), quoted_time(event, starts)));
            if let Some(ends) = ends {
                out.push_str(&format!(" ENDS {}", quoted_time(event, ends)));
            }
        }
    }
    out.push_str(if event.preserve { " ON COMPLETION PRESERVE " } else { " ON COMPLETION NOT PRESERVE " });
    out.push_str(event.status.clause());
    if !program.comment.is_empty() {
        out.push_str(&format!(" COMMENT {}", quoted_text(&program.comment)));
    }
    out.push_str(&format!(" DO {}", program.body));
    out
}

/// SHOW CREATE EVENT
pub fn show_create(state: &State<'_>, name: &ObjectName<'_>) -> Result<ResultSet> {
    let database = name.database.or(state.execution.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
    let schema = state.schema();
    let missing = || Error::Table(table::Error::EventMissing { name: name.name.to_owned() });
    let event = schema.event(database, name.name).ok_or_else(missing)?;
    let columns =
        Columns::default().text("Event", 64).text("sql_mode", 520).text("time_zone", 64).text("Create Event", 1024).charsets();
    let mut made = result(columns);
    let program = &event.program;
    let mut row = vec![
        text(&program.name),
        text(variables::bits_to_text(program.sql_mode)),
        text(&event.time_zone),
        text(statement(event)),
    ];
    row.extend(charset_values(program));
    made.rows.push(row);
    Ok(made)
}

/// The columns of a schedule: type, time, interval and its unit, begin and end.
struct Parts {
    kind: &'static str,
    at: Value<'static>,
    interval: [Value<'static>; 2],
    bounds: [Value<'static>; 2],
}

impl Parts {
    fn of(event: &EventDef) -> Self {
        let null = || [Value::Null, Value::Null];
        match event.schedule {
            Schedule::At(at) => Self { kind: "ONE TIME", at: time(event, Some(at)), interval: null(), bounds: null() },
            Schedule::Every { every, starts, ends } => Self {
                kind: "RECURRING",
                at: Value::Null,
                interval: [text(every.text()), text(every.unit.name())],
                bounds: [time(event, Some(starts)), time(event, ends)],
            },
        }
    }
}

/// The rows of information_schema.EVENTS.
pub fn rows(source: &Source<'_>) -> Vec<Vec<Value<'static>>> {
    let row = |event: &Arc<EventDef>| {
        let program = &event.program;
        let Parts { kind, at, interval, bounds } = Parts::of(event);
        let mut row = vec![text("def"), text(&program.database), text(&program.name), text(&program.definer)];
        row.extend([text(&event.time_zone), text("SQL"), text(&program.body), text(kind), at]);
        row.extend(interval);
        row.push(optional(Some(variables::bits_to_text(program.sql_mode))));
        row.extend(bounds);
        row.push(text(event.status.name()));
        row.push(text(if event.preserve { "PRESERVE" } else { "NOT PRESERVE" }));
        row.extend([datetime(program.created_us), datetime(program.altered_us)]);
        row.push(time(event, source.worker.shared.database.event_run(event)));
        row.extend([text(&program.comment), number(ORIGINATOR)]);
        row.extend(charset_values(program));
        row
    };
    all(source).map(row).collect()
}
