//! One execution of an event: a session of the definer, without a client.

use super::scheduler::{Running, conclude};
use crate::error::{Error, Result};
use crate::routine;
use crate::session::{Connection, IDS, Listed, LoggedIn, Session, SessionInfo, State};
use crate::variables::Setting;
use crate::worker::Worker;
use accounts::privilege::Privileges;
use accounts::{Identity, Name};
use conditions::Condition;
use expr::Level;
use protocol::Capabilities;
use reactor::connection::Peer;
use std::rc::Rc;
use std::sync::Arc;
use types::event::EventDef;

/// Runs an event that is due `now`; `is_last`: it will not be again.
pub async fn execute(worker: Rc<Worker>, running: Running, now: i64, is_last: bool) {
    let event = Arc::clone(&running.event);
    let noted = Arc::clone(&event);
    let begun = worker.shared.ddl.run_short(move |tables, worker| tables.begin_event(worker, &noted, now, is_last)).await;
    match begun {
        Some(Ok(true)) => {}
        // It was changed or dropped meanwhile, or the server stops.
        Some(Ok(false)) | None => return,
        Some(Err(error)) => {
            log(&event, &Error::from(error));
            // S1
            if is_last {
                return;
            }
        }
    }
    if is_last && event.preserve {
        conclude(&worker.shared, &event).await;
    }
    run(&worker, &event).await;
    drop(running);
    if is_last && !event.preserve {
        conclude(&worker.shared, &event).await;
    }
}

async fn run(worker: &Rc<Worker>, event: &EventDef) {
    let definer = Name::from_plain(&event.program.definer);
    let Some(access) = worker.definer(&definer) else {
        return log(event, &Error::from(Condition::NoSuchUser { user: definer.user.into(), host: definer.host.into() }));
    };
    let id = worker.shared.next_connection_id();
    let info = Rc::new(SessionInfo::new(id, definer.host.clone(), &worker.core));
    info.user.borrow_mut().clone_from(&definer.user);
    info.stopping.set(worker.is_stopping());
    info.begin("Connect", worker.core.now());
    info.set_statement(event.program.body.as_bytes());
    let _listed = Listed::new(worker, &info);
    let login = LoggedIn {
        // Result sets of the body are discarded.
        capabilities: Capabilities::MULTI_RESULTS,
        identity: Identity::definer(&definer, access.roles.clone()),
        database: None,
        collation: 0,
    };
    let mut connection = Connection::new(Peer::local(), login.capabilities);
    let mut session = Session::new(worker, &login);
    let mut state = State::new(worker, &info, &mut connection, &mut session);
    set_variables(&mut state, event);
    let outcome = body(&mut state, event).await;
    if let Err(error) = &outcome {
        log(event, error);
    }
    log_warnings(&state, event);
    state.execution.transaction.rollback(worker).await;
}

/// Gives the session the event's own settings.
fn set_variables(state: &mut State<'_>, event: &EventDef) {
    state.execution.vars.user = "event_scheduler@localhost".into();
    let program = &event.program;
    let text = |text: &str| Setting::Text(text.into());
    let variables = &mut state.session.variables;
    variables.set(IDS.time_zone, text(&event.time_zone));
    variables.set(IDS.sql_mode, Setting::UInt(program.sql_mode));
    variables.set(IDS.character_set_client, text(&program.client_charset));
    variables.set(IDS.character_set_connection, text(program.connection_collation.charset()));
    variables.set(IDS.collation_connection, text(program.connection_collation.name()));
    state.refresh();
}

async fn body(state: &mut State<'_>, event: &EventDef) -> Result<()> {
    let database = &event.program.database;
    if !state.session.access.database(database).has(Privileges::EVENT) {
        return Err(state.session.access.database_denied(database).into());
    }
    state.use_database(database)?;
    state.begin_statement();
    routine::run_event(state, &event.program).await
}

fn log(event: &EventDef, error: &Error) {
    let description = error.describe();
    let (name, definer) = (event.full_name(), &event.program.definer);
    tracing::error!(event = name, definer, number = description.number, "event scheduler: {}", description.message);
}

fn log_warnings(state: &State<'_>, event: &EventDef) {
    let warnings = state.execution.vars.warnings.borrow();
    for warning in warnings.list().iter().filter(|warning| warning.level == Level::Warning) {
        let description = Error::describe_exec(&warning.error);
        let (name, definer) = (event.full_name(), &event.program.definer);
        tracing::warn!(event = name, definer, number = description.number, "event scheduler: {}", description.message);
    }
}
