//! Triggers: their statements, their execution for a row, and their rows in SHOW and information_schema.
//!
//! A trigger's program has a variable for each column of OLD and NEW that it names. They are set before it runs. A
//! BEFORE trigger's assignments to NEW are copied back to the row.

use super::call::{Entry, check_depth, run_framed};
use super::show::{Charsets, quoted_definer};
use super::{Routine, define};
use crate::ddl::{self, Done};
use crate::error::{Error, Result};
use crate::session::{Recipient, State};
use crate::show::{Columns, ResultSet, Row, Source, number, optional, result, text};
use crate::variables;
use accounts::privilege::Privileges;
use accounts::{Access, Name};
use conditions::Condition;
use exec::TriggerRow;
use expr::Level;
use protocol::RowFormat;
use sql::ast::{CreateTrigger, ObjectName};
use std::sync::Arc;
use table::ddl::TriggerPlace;
use types::schema::{RoutineDef, TableDef, TriggerDef, TriggerEvent};
use types::{ColumnType, DateTime, TypeKind, Value};

/// CREATE TRIGGER
pub async fn create_trigger(state: &mut State<'_>, create: &CreateTrigger<'_>) -> Result<Done> {
    let (database, name) = ddl::qualify(state, &create.name)?;
    let (table_database, table) = ddl::qualify(state, &create.table)?;
    if [&database, &table_database].into_iter().any(|database| crate::show::is_virtual_database(database)) {
        return Err(Error::from(Condition::NoTriggersOnSystemSchema));
    }
    if database != table_database {
        return Err(Error::Table(table::Error::TriggerMoves));
    }
    if state.temporary_table(&database, &table).is_some() {
        return Err(Error::from(Condition::TrgOnViewOrTempTable { table: table.into() }));
    }
    let def = state.find_table(&create.table)?;
    if def.view.is_some() {
        return Err(Error::Table(table::Error::NotBaseTable { database, table }));
    }
    let schema = state.schema();
    if create.if_not_exists
        && let Some((on, other)) = schema.trigger(&database, &name)
    {
        let (name, table) = (&other.program.name, &on.name);
        state.warn(
            Level::Note,
            Condition::IfNotExistsTriggerExists { name: name.into(), database: database.into(), table: table.into() },
        );
        return Ok(Done::default());
    }
    let program = define::program(state, database.clone(), name, create.definer, create.body)?;
    let trigger = TriggerDef { event: create.event, before: create.before, program: Arc::new(program) };
    Routine::compile_trigger(&trigger, &def)?.check()?;
    let place = create.place.map(|(follows, other)| TriggerPlace { follows, other: other.to_owned() });
    let definer = Name::from_plain(&trigger.program.definer);
    let run =
        ddl::job(state, move |tables, worker, options| tables.create_trigger(worker, (database, table), trigger, place, options));
    run.await?;
    state.note_missing_definer(&definer);
    Ok(Done::default())
}

/// DROP TRIGGER
pub async fn drop_trigger(state: &mut State<'_>, name: &ObjectName<'_>, if_exists: bool) -> Result<Done> {
    let (database, name) = ddl::qualify(state, name)?;
    let dropped = ddl::job(state, move |tables, worker, options| tables.drop_trigger(worker, &database, &name, options)).await;
    match dropped {
        Err(Error::Table(table::Error::TriggerMissing)) if if_exists => {
            state.warn(Level::Note, Condition::TrgDoesNotExist);
            Ok(Done::default())
        }
        outcome => outcome.map(|()| Done::default()),
    }
}

/// Triggers to run for one row.
pub struct Fired<'c> {
    pub table: &'c Arc<TableDef>,
    pub event: TriggerEvent,
    pub before: bool,
    pub old: Option<TriggerRow<'c>>,
    pub new: Option<TriggerRow<'c>>,
}

/// Runs the triggers, one after the other; the columns of the new row that they have set.
pub async fn fire(state: &mut State<'_>, fired: Fired<'_>) -> Result<Vec<(usize, Value<'static>)>> {
    let mut set: Vec<(usize, Value<'static>)> = Vec::new();
    let concerned = |trigger: &&TriggerDef| (trigger.event, trigger.before) == (fired.event, fired.before);
    for trigger in fired.table.triggers.iter().filter(concerned) {
        let routine = Routine::of_trigger(state, trigger, fired.table)?;
        let depth = check_depth(state, &routine)?;
        let program = routine.program();
        let mut values = Vec::new();
        values.resize_with(program.slots.len(), || Value::Null);
        for (field, column) in program.fields.iter().zip(&routine.columns) {
            let row = if field.new { fired.new } else { fired.old };
            let changed = set.iter().find(|(other, _)| field.new && other == column);
            values[field.slot as usize] = match (changed, row) {
                (Some((_, value)), _) => crate::session::owned(value),
                (None, Some(row)) => row(*column)?,
                (None, None) => return Err(Error::Internal("a trigger without its row".to_owned())),
            };
        }
        let mut frame = run_framed(state, &mut Recipient::Nobody, &routine, Entry::new(values, depth), RowFormat::Text).await?;
        // The conditions of its statements do not belong to the outer statement.
        state.clear_warnings();
        for (field, column) in program.fields.iter().zip(&routine.columns).filter(|(field, _)| field.assigned) {
            set.retain(|(other, _)| other != column);
            set.push((*column, std::mem::replace(&mut frame.values[field.slot as usize], Value::Null)));
        }
    }
    Ok(set)
}

fn may_see(access: &Access, table: &TableDef) -> bool {
    access.table(&table.database, &table.name).0.has(Privileges::TRIGGER)
}

/// The triggers that the account may see, each with its table and its position among those of its event and time.
fn all<'s>(source: &Source<'s>) -> impl Iterator<Item = (&'s TableDef, &'s TriggerDef, usize)> + use<'s> {
    let access = source.access;
    let may = move |table: &TableDef| access.is_none_or(|access| may_see(access, table));
    let tables = source.databases().flat_map(|database| database.tables.values());
    tables.filter(move |table| !table.triggers.is_empty() && may(table)).flat_map(|table| {
        table.triggers.iter().enumerate().map(|(n, trigger)| {
            let is_alike = |other: &&TriggerDef| (other.event, other.before) == (trigger.event, trigger.before);
            (&**table, trigger, table.triggers[..=n].iter().filter(is_alike).count())
        })
    })
}

/// The CREATE TRIGGER statement of the trigger.
fn statement(table: &TableDef, trigger: &TriggerDef) -> String {
    let quoted = |name: &str| format!("`{}`", name.replace('`', "``"));
    let TriggerDef { event, program, .. } = trigger;
    format!(
        "CREATE DEFINER={} TRIGGER {} {} {} ON {} FOR EACH ROW {}",
        quoted_definer(program),
        quoted(&program.name),
        trigger.timing(),
        event.name(),
        quoted(&table.name),
        program.body
    )
}

/// Two digits of a second, as MySQL keeps the time of a trigger's making.
fn created(def: &RoutineDef) -> Value<'static> {
    match types::temporal::TimeZone::Utc.to_civil(def.created_us) {
        Some(civil) => Value::DateTime(DateTime { micros: civil.micros / 10_000 * 10_000, ..civil }),
        None => Value::Null,
    }
}

fn created_type() -> ColumnType {
    ColumnType::new(TypeKind::Timestamp { fsp: 2 })
}

/// SHOW CREATE TRIGGER
pub fn show_create_trigger(state: &State<'_>, name: &ObjectName<'_>) -> Result<ResultSet> {
    let database = name.database.or(state.execution.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
    let schema = state.schema();
    let Some((table, trigger)) = schema.trigger(database, name.name) else {
        return Err(Error::Table(table::Error::TriggerMissing));
    };
    if !may_see(&state.session.access, table) {
        return Err(Error::from(Condition::SpecificAccessDeniedError { privileges: "TRIGGER".into() }));
    }
    let columns = Columns::default()
        .text("Trigger", 64)
        .text("sql_mode", 520)
        .text("SQL Original Statement", 1024)
        .charsets()
        .add("Created", created_type(), true);
    let mut made = result(columns);
    let program = &trigger.program;
    let mut row = vec![text(&program.name), text(variables::bits_to_text(program.sql_mode)), text(statement(table, trigger))];
    row.extend(super::show::charset_values(program));
    row.push(created(program));
    made.rows.push(row);
    Ok(made)
}

/// The rows of information_schema.TRIGGERS, in the order of SHOW TRIGGERS: by table, event and time.
pub fn trigger_rows(source: &Source<'_>) -> Vec<Row> {
    let mut triggers: Vec<_> = all(source).collect();
    triggers.sort_by_key(|(table, trigger, _)| (&table.database, &table.name, trigger.event as u8, !trigger.before));
    let row = |(table, trigger, order): (&TableDef, &TriggerDef, usize)| {
        let program = &trigger.program;
        let mut row = vec![text("def"), text(&program.database), text(&program.name), text(trigger.event.name())];
        row.extend([text("def"), text(&table.database), text(&table.name), number(order), Value::Null, text(&program.body)]);
        row.extend([text("ROW"), text(trigger.timing()), Value::Null, Value::Null, text("OLD"), text("NEW"), created(program)]);
        row.extend([optional(Some(variables::bits_to_text(program.sql_mode))), text(&program.definer)]);
        row.extend(super::show::charset_values(program));
        row
    };
    triggers.into_iter().map(row).collect()
}
