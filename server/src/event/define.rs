//! CREATE, ALTER and DROP EVENT.

use super::schedule;
use crate::ddl::first_plane::check_comment;
use crate::ddl::{self, Done};
use crate::error::{Error, Result};
use crate::routine;
use crate::session::{IDS, State};
use accounts::Name;
use conditions::Condition;
use expr::Level;
use sql::ast::{AlterEvent, CreateEvent, EventClauses, ObjectName};
use std::sync::Arc;
use types::event::{EventDef, EventStatus, Schedule};
use types::schema::RoutineDef;

/// CREATE EVENT
pub async fn create(state: &mut State<'_>, create: &CreateEvent<'_>) -> Result<Done> {
    let (database, name) = name_of(state, &create.name)?;
    let mut program = routine::program(state, database, name, create.definer, create.body)?;
    describe(&mut program, &create.clauses);
    check_comment(
        state.session.settings.connection_collation,
        "event",
        || format!("{}.{}", program.database, program.name),
        &program.comment,
    )?;
    let program = Arc::new(program);
    routine::check_event(&program)?;
    let schedule = schedule::evaluate(state, &create.schedule)?;
    let preserve = create.clauses.preserve.unwrap_or(false);
    let is_past = schedule::is_past(&schedule, schedule::now(state));
    if is_past && !preserve {
        state.warn(Level::Note, Condition::EventCannotCreateInThePast);
        return Ok(Done::default());
    }
    let status = status_of(state, is_past, create.clauses.status).unwrap_or(EventStatus::Enabled);
    let definer = Name::from_plain(&program.definer);
    let event = EventDef { program, schedule, time_zone: time_zone(state), preserve, status };
    match ddl::job(state, move |tables, worker, _| tables.create_event(worker, event)).await {
        Err(Error::Table(table::Error::EventExists { name })) if create.if_not_exists => {
            state.warn(Level::Note, Condition::EventAlreadyExists { name: name.into() });
        }
        made => {
            made?;
            state.note_missing_definer(&definer);
            state.worker.shared.events.wake();
        }
    }
    Ok(Done::default())
}

/// ALTER EVENT
pub async fn alter(state: &mut State<'_>, alter: &AlterEvent<'_>) -> Result<Done> {
    let (database, name) = ddl::qualify(state, &alter.name)?;
    ddl::refuse_virtual(state, &database)?;
    let renamed = alter.rename.map(|name| name_of(state, &name)).transpose()?;
    let is_same = |to: &(String, String)| to.0 == database && EventDef::key_of(&to.1) == EventDef::key_of(&name);
    if renamed.as_ref().is_some_and(is_same) {
        return Err(Error::from(Condition::EventSameName));
    }
    let schedule = alter.schedule.as_ref().map(|written| schedule::evaluate(state, written)).transpose()?;
    let missing = || Error::Table(table::Error::EventMissing { name: name.clone() });
    let present = state.schema().event(&database, &name).cloned().ok_or_else(missing)?;
    let preserve = alter.clauses.preserve.unwrap_or(present.preserve);
    let is_past = schedule.is_some_and(|schedule| schedule::is_past(&schedule, schedule::now(state)));
    if is_past && !preserve {
        return Err(Error::from(Condition::EventCannotAlterInThePast));
    }
    if let Some((database, _)) = renamed.as_ref().filter(|(database, _)| !state.schema().databases.contains_key(database)) {
        return Err(Error::UnknownDatabase(database.clone()));
    }
    let before = &present.program;
    let body = alter.body.unwrap_or(&before.body);
    // The session that alters an event becomes its definer, and its character set applies to the text.
    let mut program = routine::program(state, database.clone(), before.name.clone(), alter.definer, body)?;
    (program.comment, program.created_us) = (before.comment.clone(), before.created_us);
    if alter.body.is_none() {
        program.sql_mode = before.sql_mode;
    }
    describe(&mut program, &alter.clauses);
    check_comment(
        state.session.settings.connection_collation,
        "event",
        || format!("{}.{}", program.database, program.name),
        &program.comment,
    )?;
    if let Some(renamed) = renamed {
        (program.database, program.name) = renamed;
    }
    let program = Arc::new(program);
    if alter.body.is_some() {
        routine::check_event(&program)?;
    }
    let status = status_of(state, is_past, alter.clauses.status);
    let definer = Name::from_plain(&program.definer);
    let change = Change { program, schedule, time_zone: time_zone(state), preserve, status };
    ddl::job(state, move |tables, worker, _| tables.alter_event(worker, &database, &name, |event| change.apply(event))).await?;
    state.note_missing_definer(&definer);
    state.worker.shared.events.wake();
    Ok(Done::default())
}

/// The changes of ALTER EVENT. `None`: unchanged.
struct Change {
    program: Arc<RoutineDef>,
    schedule: Option<Schedule>,
    /// Of a new schedule.
    time_zone: String,
    preserve: bool,
    status: Option<EventStatus>,
}

impl Change {
    fn apply(self, event: &EventDef) -> EventDef {
        EventDef {
            program: self.program,
            schedule: self.schedule.unwrap_or(event.schedule),
            time_zone: if self.schedule.is_some() { self.time_zone } else { event.time_zone.clone() },
            preserve: self.preserve,
            status: self.status.unwrap_or(event.status),
        }
    }
}

/// DROP EVENT
pub async fn drop(state: &mut State<'_>, name: &ObjectName<'_>, if_exists: bool) -> Result<Done> {
    let (database, name) = ddl::qualify(state, name)?;
    ddl::refuse_virtual(state, &database)?;
    match ddl::job(state, move |tables, worker, _| tables.drop_event(worker, &database, &name)).await {
        Err(Error::Table(table::Error::EventMissing { name })) if if_exists => {
            state.warn(Level::Note, Condition::SpDoesNotExist { kind: "Event".into(), name: name.into() });
        }
        dropped => {
            dropped?;
            state.worker.shared.events.wake();
        }
    }
    Ok(Done::default())
}

/// Database and name of an event to be.
fn name_of(state: &State<'_>, name: &ObjectName<'_>) -> Result<(String, String)> {
    let (database, name) = ddl::qualify(state, name)?;
    ddl::refuse_virtual(state, &database)?;
    if name.is_empty() || name.ends_with(' ') {
        Err(Error::from(Condition::SpWrongName { name: name.into() }))
    } else {
        Ok((database, name))
    }
}

fn describe(program: &mut RoutineDef, clauses: &EventClauses<'_>) {
    if let Some(comment) = clauses.comment {
        program.comment = String::from_utf8_lossy(comment).into_owned();
    }
}

/// The status of an event with a new schedule: it is disabled if its last time has passed.
fn status_of(state: &State<'_>, is_past: bool, written: Option<EventStatus>) -> Option<EventStatus> {
    if !is_past || written.is_some_and(|status| status != EventStatus::Enabled) {
        return written;
    }
    state.warn(Level::Note, Condition::EventExecTimeInThePast);
    Some(EventStatus::Disabled)
}

fn time_zone(state: &State<'_>) -> String {
    state.session.variables.get(IDS.time_zone).as_text().to_owned()
}
