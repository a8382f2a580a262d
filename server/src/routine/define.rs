//! CREATE, ALTER and DROP of procedures and functions.

use super::Routine;
use crate::account::{forget_routine, grant_to_maker};
use crate::ddl::first_plane::{check_comment, check_definition};
use crate::ddl::{self, Done};
use crate::error::{Error, Result};
use crate::session::{IDS, State};
use accounts::Name;
use conditions::Condition;
use expr::Level;
use sql::ast::{Characteristics, CreateRoutine, ObjectName};
use std::sync::Arc;
use types::schema::{RoutineDef, routine_kind};

/// CREATE PROCEDURE, CREATE FUNCTION
pub async fn create(state: &mut State<'_>, create: &CreateRoutine<'_>) -> Result<Done> {
    let (database, name) = ddl::qualify(state, &create.name)?;
    ddl::refuse_virtual(state, &database)?;
    let schema = state.schema();
    if !schema.databases.contains_key(&database) {
        return Err(Error::UnknownDatabase(database));
    }
    if name.is_empty() || name.ends_with(' ') {
        return Err(Error::from(Condition::SpWrongName { name: name.into() }));
    }
    let mut def = program(state, database, name, create.definer, create.body)?;
    def.parameters = create.parameters.to_owned();
    def.returns = create.returns.map(str::to_owned);
    apply(&mut def, &create.characteristics);
    check_comment(
        state.session.settings.connection_collation,
        "stored routine",
        || format!("{}.{}", def.database, def.name),
        &def.comment,
    )?;
    check_definition(
        state.session.settings.connection_collation,
        "stored routine",
        || format!("{}.{}", def.database, def.name),
        &def.body,
    )?;
    if create.if_not_exists && schema.routine(def.is_function(), &def.database, &def.name).is_some() {
        state.warn(Level::Note, Condition::SpAlreadyExists { kind: def.kind().into(), name: def.name.into() });
        return Ok(Done::default());
    }
    let def = Arc::new(def);
    Routine::compile(&def)?.check()?;
    let def = Arc::unwrap_or_clone(def);
    let (database, name, function) = (def.database.clone(), def.name.clone(), def.is_function());
    let definer = Name::from_plain(&def.definer);
    ddl::job(state, move |database, worker, _| database.create_routine(worker, def)).await?;
    state.note_missing_definer(&definer);
    grant_to_maker(state, &database, &name, function).await?;
    Ok(Done::default())
}

/// The definition of a program without parameters, created by this session.
pub fn program(
    state: &State<'_>,
    database: String,
    name: String,
    definer: Option<(&str, &str)>,
    body: &str,
) -> Result<RoutineDef> {
    let schema = state.schema();
    let Some(around) = schema.databases.get(&database) else { return Err(Error::UnknownDatabase(database)) };
    let now = state.worker.wall_clock_us();
    Ok(RoutineDef {
        database,
        name,
        definer: match definer {
            Some((user, host)) => format!("{user}@{host}"),
            None => state.execution.vars.current_user.to_string(),
        },
        parameters: String::new(),
        returns: None,
        body: body.to_owned(),
        comment: String::new(),
        deterministic: false,
        data_access: "CONTAINS SQL".to_owned(),
        invoker: false,
        sql_mode: state.session.variables.get(IDS.sql_mode).as_u64(),
        client_charset: state.session.variables.get(IDS.character_set_client).as_text().to_owned(),
        connection_collation: state.session.settings.connection_collation,
        database_collation: around.collation,
        created_us: now,
        altered_us: now,
    })
}

fn apply(def: &mut RoutineDef, written: &Characteristics<'_>) {
    if let Some(comment) = written.comment {
        def.comment = String::from_utf8_lossy(comment).into_owned();
    }
    if let Some(deterministic) = written.deterministic {
        def.deterministic = deterministic;
    }
    if let Some(access) = written.data_access {
        def.data_access = access.to_owned();
    }
    if let Some(invoker) = written.invoker {
        def.invoker = invoker;
    }
}

/// ALTER PROCEDURE, ALTER FUNCTION
pub async fn alter(
    state: &mut State<'_>,
    function: bool,
    name: &ObjectName<'_>,
    characteristics: &Characteristics<'_>,
) -> Result<Done> {
    let (database, name) = ddl::qualify(state, name)?;
    let schema = state.schema();
    let Some(def) = schema.routine(function, &database, &name) else {
        return Err(
            Condition::SpDoesNotExist { kind: routine_kind(function).into(), name: format!("{database}.{name}").into() }.into()
        );
    };
    let mut changed = RoutineDef::clone(def);
    apply(&mut changed, characteristics);
    check_comment(
        state.session.settings.connection_collation,
        routine_kind(function),
        || format!("{database}.{name}"),
        &changed.comment,
    )?;
    let now = state.worker.wall_clock_us();
    let change = move |def: &mut RoutineDef| {
        let RoutineDef { comment, deterministic, data_access, invoker, .. } = changed;
        (def.comment, def.deterministic, def.data_access, def.invoker) = (comment, deterministic, data_access, invoker);
        def.altered_us = now;
    };
    ddl::job(state, move |tables, worker, _| tables.alter_routine(worker, function, &database, &name, change)).await?;
    Ok(Done::default())
}

/// DROP PROCEDURE, DROP FUNCTION
pub async fn drop(state: &mut State<'_>, function: bool, name: &ObjectName<'_>, if_exists: bool) -> Result<Done> {
    let (database, name) = ddl::qualify(state, name)?;
    let full = format!("{database}.{name}");
    let of = (database.clone(), name.clone());
    let dropped = ddl::job(state, move |tables, worker, _| tables.drop_routine(worker, function, &of.0, &of.1)).await;
    if dropped.is_ok() {
        forget_routine(state, &database, &name, function).await?;
    }
    match dropped {
        Err(Error::Table(table::Error::RoutineMissing { kind, .. })) if if_exists => {
            state.warn(Level::Note, Condition::SpDoesNotExist { kind: kind.into(), name: full.into() });
            Ok(Done::default())
        }
        outcome => outcome.map(|()| Done::default()),
    }
}
