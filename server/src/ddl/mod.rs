//! Definitions: from syntax to `table`'s operations, and the threads that run them.
//!
//! The session has committed its open transaction and holds no metadata lock. Syntax becomes owned data (`convert`); a job runs it on
//! a thread that may block; the session awaits it and can be killed meanwhile. IF EXISTS and IF NOT EXISTS turn the matching errors
//! into notes here.

mod context;
pub mod first_plane;
mod from_query;
mod partition;
mod temporary;
mod threads;
mod view;

pub use threads::DdlThreads;

use crate::error::{Error, Result};
use crate::event;
use crate::record::Cleared;
use crate::routine;
use crate::session::{State, without_parameters};
use crate::show;
use crate::text_log::Log;
use conditions::Condition;
use expr::Level;
pub use from_query::{Keeper, column_of_query};
use sql::Parsed;
use sql::ast::{
    ColumnName, CreateDatabase, CreateTable, DatabaseOptions, Duplicates, Insert, InsertSource, ObjectName, Query, Statement,
};
use sql::define::{self, Definer, collation_of};
use std::sync::Arc;
use std::task::Poll;
use sync::atomic::{AtomicBool, Ordering};
use table::TableUse;
use table::ddl::{Algorithm, AlterAction, Altered, ConversionWarning, DdlOptions, Lock, NewTable, Progress};
use table::mdl::Claimed;
use types::TypeKind;
use types::Value;
use types::convert::Severity;
use types::schema::{IndexDef, IndexKind, TableDef, TableId};

/// The result of a definition.
#[derive(Debug, Default)]
pub struct Done {
    pub affected: u64,
    pub info: String,
}

/// TRUNCATE TABLE of a log's table.
async fn clear_log(state: &State<'_>, log: Log) -> Result<Done> {
    match state.worker.shared.logs.clear(log).await {
        Some(Ok(())) => Ok(Done::default()),
        Some(Err(error)) => Err(Error::Internal(format!("the rows of mysql.{} cannot be removed: {error}", log.table()))),
        None => Err(Error::ShuttingDown),
    }
}

/// Runs a definition. `given`: the values of the parameters of CREATE TABLE ... SELECT; no other definition has any.
pub async fn run(state: &mut State<'_>, statement: &Statement<'_>, given: &[Value<'_>]) -> Result<Done> {
    match statement {
        Statement::CreateDatabase(create) => create_database(state, create).await,
        Statement::AlterDatabase { name, options } => alter_database(state, *name, options).await,
        Statement::DropDatabase { name, if_exists } => drop_database(state, name, *if_exists).await,
        Statement::CreateTable(create) => create_table(state, create, given).await,
        Statement::DropTable { names, if_exists, temporary } => drop_tables(state, names, *if_exists, *temporary).await,
        Statement::CreateView(create) => view::create_view(state, create).await,
        Statement::DropView { names, if_exists } => view::drop_views(state, names, *if_exists).await,
        Statement::Truncate { table } => {
            let (database, name) = qualify(state, table)?;
            if show::is_summary_by_digest(&database, &name) {
                show::clear_digests(&state.worker.shared).await;
                return Ok(Done::default());
            }
            if let Some(what) = Cleared::by(&name).filter(|_| database.eq_ignore_ascii_case("performance_schema")) {
                show::clear_events(&state.worker.shared, what).await;
                return Ok(Done::default());
            }
            if let Some(log) = Log::of_table(&database, &name) {
                return clear_log(state, log).await;
            }
            refuse_virtual(state, &database)?;
            if let Some(def) = state.temporary_table(&database, &name) {
                return temporary::truncate(state, &def, &database, &name).await;
            }
            let missing = (database.clone(), name.clone());
            let done =
                job(state, move |database_, worker, options| database_.truncate_table(worker, &missing.0, &missing.1, options));
            done.await.map(|()| Done::default())
        }
        Statement::CreateIndex(create) => {
            let (database, name) = qualify(state, &create.table)?;
            let index = Definer::new(state).index(&create.key)?;
            let name_of = || format!("{database}.{name}.{}", index.name);
            first_plane::check_comment(state.session.settings.connection_collation, "index", name_of, &index.comment)?;
            let how = define::how(create.how)?;
            if let Some(def) = state.temporary_table(&database, &name) {
                let actions = vec![AlterAction::AddIndex { index }];
                let altered = temporary::alter(state, &def, (&database, &name), how, actions).await?;
                return Ok(told(state, altered));
            }
            let before = state.schema().table(&database, &name).cloned();
            let run = alter_job(state, how, move |tables, worker, options| {
                tables.create_index(worker, &database, &name, index, options)
            });
            let altered = run.await?;
            tell_of_indexes(state, &create.table, before.as_deref());
            Ok(told(state, altered))
        }
        Statement::DropIndex { name, table, how } => {
            let how = define::how(*how)?;
            let (database, table) = qualify(state, table)?;
            let index = (*name).to_owned();
            if let Some(def) = state.temporary_table(&database, &table) {
                let actions = vec![AlterAction::DropIndex { name: index }];
                let altered = temporary::alter(state, &def, (&database, &table), how, actions).await?;
                return Ok(told(state, altered));
            }
            let run = alter_job(state, how, move |tables, worker, options| {
                tables.drop_index(worker, &database, &table, &index, options)
            });
            let altered = run.await?;
            Ok(told(state, altered))
        }
        Statement::AlterTable(alter) => {
            let (database, name) = qualify(state, &alter.table)?;
            let def = state.find_table(&alter.table)?;
            if def.view.is_some() {
                return Err(not_base_table(&def));
            }
            if let [sql::ast::AlterAction::Partition(sql::ast::PartitionAction::Exchange { name, table, .. })] = alter.actions {
                return partition::exchange(state, &alter.table, name, table).await.map(|()| Done::default());
            }
            let how = define::how(alter.how)?;
            let actions = Definer::new(state).alter(alter, &def)?;
            first_plane::check_changes(state.session.settings.connection_collation, &format!("{database}.{name}"), &actions)?;
            if actions.is_empty() {
                return Ok(no_rows());
            }
            if def.id.is_temporary() {
                let altered = temporary::alter(state, &def, (&database, &name), how, actions).await?;
                return Ok(told(state, altered));
            }
            let run = alter_job(state, how, move |tables, worker, options| {
                tables.alter_table(worker, &database, &name, actions, options)
            });
            let altered = run.await?;
            tell_of_indexes(state, &alter.table, Some(&def));
            Ok(told(state, altered))
        }
        Statement::RenameTable { pairs } => {
            let mut renames = Vec::with_capacity(pairs.len());
            for (from, to) in *pairs {
                let ((from_database, from), (to_database, to)) = (qualify(state, from)?, qualify(state, to)?);
                renames.push((from_database, from, to_database, to));
            }
            let run = job(state, move |tables, worker, options| tables.rename_tables(worker, &renames, options));
            run.await.map(|()| Done::default())
        }
        Statement::CreateRoutine(create) => routine::create(state, create).await,
        Statement::AlterRoutine { function, name, characteristics } => {
            routine::alter(state, *function, name, characteristics).await
        }
        Statement::DropRoutine { function, name, if_exists } => routine::drop(state, *function, name, *if_exists).await,
        Statement::CreateTrigger(create) => routine::create_trigger(state, create).await,
        Statement::DropTrigger { name, if_exists } => routine::drop_trigger(state, name, *if_exists).await,
        Statement::CreateEvent(create) => event::create(state, create).await,
        Statement::AlterEvent(alter) => event::alter(state, alter).await,
        Statement::DropEvent { name, if_exists } => event::drop(state, name, *if_exists).await,
        _ => Err(Error::NotSupported("this statement".to_owned())),
    }
}

fn no_rows() -> Done {
    Done { affected: 0, info: "Records: 0  Duplicates: 0  Warnings: 0".to_owned() }
}

/// The result of ALTER TABLE, with the warnings about values that did not fit their new columns exactly.
fn told(state: &mut State<'_>, altered: Altered) -> Done {
    let Altered { rows, warnings, warning_count } = altered;
    for ConversionWarning { severity, problem, column, row } in warnings {
        let level = if severity == Severity::Note { Level::Note } else { Level::Warning };
        state.warn(level, Error::Table(table::Error::Conversion { problem, column, row }).condition());
    }
    Done { affected: rows, info: format!("Records: {rows}  Duplicates: 0  Warnings: {warning_count}") }
}

/// A job for a definition is over, however it ends.
struct Ends(Arc<Progress>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Runs `work` on a thread for definitions and awaits it. KILL sets the flag that the work looks at, and so does a client
/// that has gone.
pub(crate) async fn job<T: Send + 'static>(
    state: &mut State<'_>,
    work: impl FnOnce(&table::Database, &txn::Worker, &DdlOptions) -> table::Result<T> + Send + 'static,
) -> Result<T> {
    alter_job(state, Default::default(), work).await
}

/// As `job`, with ALGORITHM = and LOCK =.
async fn alter_job<T: Send + 'static>(
    state: &mut State<'_>,
    (algorithm, lock): (Algorithm, Lock),
    work: impl FnOnce(&table::Database, &txn::Worker, &DdlOptions) -> table::Result<T> + Send + 'static,
) -> Result<T> {
    let cancelled = Arc::new(AtomicBool::new(false));
    let threads = &state.worker.shared.ddl;
    let progress = Arc::new(Progress::noticed(threads.notice()));
    let options = DdlOptions {
        session: state.info.id,
        lock_wait_timeout: state.session.settings.metadata_lock_wait,
        cancelled: Some(Arc::clone(&cancelled)),
        conversion: conversion(state),
        foreign_key_checks: state.execution.vars.foreign_key_checks,
        expressions: Some(Arc::new(expressions(state))),
        algorithm,
        lock,
        progress: Arc::clone(&progress),
    };
    let note = state.definition_note();
    let is_logged = Arc::clone(&state.session.is_gtid_logged);
    // Set by the first of two: the thread that begins the job, or the session that gives up.
    let begun = Arc::new(AtomicBool::new(false));
    let begins = Arc::clone(&begun);
    let work = move |database: &table::Database, worker: &txn::Worker| {
        if begins.swap(true, Ordering::Relaxed) {
            return Err(table::Error::Interrupted);
        }
        let _ends = Ends(Arc::clone(&options.progress));
        worker.set_note(note);
        let done = work(database, worker, &options);
        is_logged.store(worker.take_note().is_none() && done.is_ok(), Ordering::Relaxed);
        done
    };
    // All other threads may be waiting for locks of this session.
    let mut wait = if state.execution.transaction.locks().named.is_some() { threads.run_short(work) } else { threads.run(work) };
    let info = &state.info;
    *info.definition.borrow_mut() = Some(progress);
    let outcome = std::future::poll_fn(|cx| {
        if info.killed() != expr::kill::NONE || info.is_gone() {
            // Relaxed: only the flags themselves matter.
            cancelled.store(true, Ordering::Relaxed);
            if !begun.swap(true, Ordering::Relaxed) {
                // It leaves the queue.
                return Poll::Ready(Some(Err(table::Error::Interrupted)));
            }
        }
        match std::pin::Pin::new(&mut wait).poll(cx) {
            Poll::Ready(outcome) => Poll::Ready(outcome),
            Poll::Pending => Poll::Pending,
        }
    });
    let outcome = outcome.await;
    info.definition.take();
    match outcome {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(error.into()),
        None if state.worker.is_stopping() => Err(Error::ShuttingDown),
        None => Err(Error::Internal("the definition failed; see the server's log".to_owned())),
    }
}

/// The action of ANALYZE TABLE.
pub enum Analysis {
    Statistics,
    /// Creates histograms of columns with this number of buckets.
    Make(Vec<usize>, u32),
    Drop(Vec<usize>),
}

/// Takes statistics of a table, or changes its histograms: for each column whether it has one now, or had one.
pub async fn analyze(state: &mut State<'_>, id: TableId, what: Analysis) -> Result<Vec<bool>> {
    look(state, id, move |database, worker, table, progress| analyzed(database, worker, table, &what, progress)).await
}

/// CHECK TABLE: the problems of a table, as sentences.
pub async fn check(state: &mut State<'_>, id: TableId) -> Result<Vec<String>> {
    look(state, id, |_, worker, table, progress| table.problems(worker, progress)).await
}

/// CHECKSUM TABLE: a number that is equal for tables with the same rows.
pub async fn checksum(state: &mut State<'_>, id: TableId) -> Result<u64> {
    look(state, id, |_, worker, table, progress| table.checksum(worker, progress)).await
}

/// Runs `work` on a thread for definitions, with a share of the table's metadata lock. A table that is gone meanwhile has nothing to tell.
async fn look<T: Default + Send + 'static>(
    state: &mut State<'_>,
    id: TableId,
    work: impl FnOnce(&table::Database, &txn::Worker, &table::Table, &Progress) -> table::Result<T> + Send + 'static,
) -> Result<T> {
    let work = move |database: &table::Database, worker: &txn::Worker, options: &DdlOptions| {
        let Some(table) = database.table(id) else { return Ok(T::default()) };
        if table.mdl().locked_by(options.session).is_some() {
            return work(database, worker, &table, &options.progress);
        }
        let claim = table.mdl().claim(options.session, Claimed::Share);
        if let Err(wait) = table.mdl().acquire_shared(worker.index(), TableUse::Reads) {
            let deadline = os::time::Instant::now() + options.lock_wait_timeout;
            if !wait.wait_blocking(deadline) {
                return Err(table::Error::LockWaitTimeout);
            }
        }
        claim.hold();
        let done = if table.is_replaced() { Ok(T::default()) } else { work(database, worker, &table, &options.progress) };
        table.mdl().release_shared(worker.index(), TableUse::Reads);
        done
    };
    job(state, work).await
}

fn analyzed(
    database: &table::Database,
    worker: &txn::Worker,
    table: &table::Table,
    what: &Analysis,
    progress: &Progress,
) -> table::Result<Vec<bool>> {
    match what {
        Analysis::Statistics => database.analyze_with(worker, table, progress).map(|()| Vec::new()),
        Analysis::Make(columns, buckets) => database.make_histograms(worker, table, columns, *buckets),
        Analysis::Drop(columns) => database.drop_histograms(worker, table, columns),
    }
}

/// How ALTER TABLE converts rows for this session.
fn conversion(state: &State<'_>) -> table::ddl::Conversion {
    let mode = state.session.settings.mode;
    table::ddl::Conversion {
        strict: mode.strict,
        dates: types::temporal::DateRules {
            no_zero_date: mode.no_zero_date,
            no_zero_in_date: mode.no_zero_in_date,
            allow_invalid: mode.allow_invalid_dates,
        },
        truncate_fractional: mode.time_truncate_fractional,
        keeps_zero: mode.no_auto_value_on_zero,
        zone: state.execution.vars.time_zone.clone(),
        now_utc_micros: state.execution.vars.statement_start_us,
    }
}

fn expressions(state: &State<'_>) -> exec::DefinitionExpressions {
    exec::DefinitionExpressions {
        sql_mode: state.session.settings.mode,
        time_zone: state.execution.vars.time_zone.clone(),
        statement_start_us: state.execution.vars.statement_start_us,
    }
}

/// Database and name of a table; the current database if none is written.
pub(crate) fn qualify(state: &State<'_>, name: &ObjectName<'_>) -> Result<(String, String)> {
    let database = match name.database {
        Some(database) => database.to_owned(),
        None => state.execution.vars.database.as_deref().ok_or(Error::NoDatabase)?.to_owned(),
    };
    Ok((database, name.name.to_owned()))
}

/// information_schema and the other databases of the server cannot be changed.
pub(crate) fn refuse_virtual(state: &State<'_>, database: &str) -> Result<()> {
    if crate::show::is_virtual_database(database) {
        let user = state.info.user.borrow().clone();
        let (host, database) = (state.connection.peer.host.clone(), database.to_owned());
        return Err(Error::DatabaseAccessDenied { user, host, database });
    }
    Ok(())
}

/// Refuses encryption, because no table could be encrypted.
fn check_encryption(options: &DatabaseOptions<'_>) -> Result<()> {
    match options.encryption {
        None => Ok(()),
        Some(no) if no.eq_ignore_ascii_case(b"N") => Ok(()),
        Some(yes) if yes.eq_ignore_ascii_case(b"Y") => Err(define::no_master_key().into()),
        Some(other) => Err(Error::from(Condition::WrongValue {
            kind: "argument (should be Y or N)".into(),
            value: (String::from_utf8_lossy(other)).into(),
        })),
    }
}

async fn create_database(state: &mut State<'_>, create: &CreateDatabase<'_>) -> Result<Done> {
    refuse_virtual(state, create.name)?;
    check_encryption(&create.options)?;
    let collation = collation_of(create.options.charset, create.options.collation, state.session.settings.server_collation)?;
    let name = create.name.to_owned();
    let made = job(state, move |tables, worker, _| tables.create_database(worker, &name, collation)).await;
    match made {
        Ok(()) => Ok(Done { affected: 1, ..Done::default() }),
        Err(error @ Error::Table(table::Error::DatabaseExists { .. })) if create.if_not_exists => {
            note(state, &error);
            Ok(Done { affected: 1, ..Done::default() })
        }
        Err(error) => Err(error),
    }
}

async fn alter_database(state: &mut State<'_>, name: Option<&str>, options: &DatabaseOptions<'_>) -> Result<Done> {
    let name = match name {
        Some(name) => name.to_owned(),
        None => state.execution.vars.database.as_deref().ok_or(Error::NoDatabase)?.to_owned(),
    };
    refuse_virtual(state, &name)?;
    check_encryption(options)?;
    if !state.worker.shared.database.schema().databases.contains_key(&name) {
        return Err(Error::from(Condition::NoSuchDb { name: name.into() }));
    }
    if options.charset.is_none() && options.collation.is_none() {
        return Ok(Done { affected: 1, ..Done::default() });
    }
    let collation = collation_of(options.charset, options.collation, state.session.settings.server_collation)?;
    job(state, move |tables, worker, _| tables.alter_database(worker, &name, collation)).await?;
    Ok(Done { affected: 1, ..Done::default() })
}

async fn drop_database(state: &mut State<'_>, name: &str, if_exists: bool) -> Result<Done> {
    refuse_virtual(state, name)?;
    let owned = name.to_owned();
    let dropped = job(state, move |tables, worker, options| tables.drop_database(worker, &owned, options)).await;
    match dropped {
        Ok(count) => {
            state.forget_database(name);
            state.worker.shared.events.wake();
            Ok(Done { affected: count as u64, ..Done::default() })
        }
        Err(error @ Error::Table(table::Error::DatabaseMissing { .. })) if if_exists => {
            note(state, &error);
            Ok(Done::default())
        }
        Err(error) => Err(error),
    }
}

async fn create_table(state: &mut State<'_>, create: &CreateTable<'_>, given: &[Value<'_>]) -> Result<Done> {
    let (database, _) = qualify(state, &create.name)?;
    refuse_virtual(state, &database)?;
    let schema = state.schema();
    let Some(database_def) = schema.databases.get(&database) else {
        return Err(Error::UnknownDatabase(database));
    };
    if create.temporary {
        return temporary::create(state, create, &database, database_def.collation, given).await;
    }
    let new = match &create.like {
        Some(like) => {
            let def = state.find_table(like)?;
            if def.view.is_some() {
                return Err(not_base_table(&def));
            }
            NewTable::like(&def, &database, create.name.name)
        }
        None => {
            let mut new = Definer::new(state).table(create, &database, database_def.collation)?;
            if let Some(query) = create.query {
                add_query_columns(state, query, given, &mut new)?;
            }
            if let Some(clause) = create.partitioning {
                new.partitioning = Some(Box::new(define::partitioning(state, clause, &new.columns)?));
            }
            first_plane::check_table(state.session.settings.connection_collation, &new)?;
            new
        }
    };
    if create.query.is_some() {
        // Its rows follow as rows: the stream has the table as it was made.
        state.session.definition = Box::default();
    }
    let made = job(state, move |tables, worker, options| tables.create_table_with(worker, new, options)).await;
    match made {
        Ok(_) => {
            tell_of_indexes(state, &create.name, None);
            match create.query {
                Some(query) => fill(state, create, (query, given), &database).await,
                None => Ok(Done::default()),
            }
        }
        Err(error @ Error::Table(table::Error::TableExists { .. })) if create.if_not_exists => {
            note(state, &error);
            Ok(Done::default())
        }
        Err(error) => Err(error),
    }
}

/// 1831: a new index of the same kind over the same columns as an earlier one. `before` is the old table.
fn tell_of_indexes(state: &mut State<'_>, table: &ObjectName<'_>, before: Option<&TableDef>) {
    // A table that was renamed or dropped is skipped.
    let Ok(def) = state.find_table(table) else { return };
    let is_new = |index: &IndexDef| before.is_none_or(|before| !before.indexes.iter().any(|old| old.name == index.name));
    let is_same = |a: &IndexDef, b: &IndexDef| a.columns == b.columns && a.kind == b.kind;
    for index in def.indexes.iter().filter(|index| index.kind == IndexKind::Spatial && is_new(index)) {
        for part in &index.columns {
            if let TypeKind::Geometry { srid: None, .. } = def.columns[part.column].ty.kind {
                let column = def.columns[part.column].name.clone().into();
                state.warn(Level::Warning, Condition::UselessSpatialIndex { column });
            }
        }
    }
    for (n, index) in def.indexes.iter().enumerate() {
        if is_new(index) && def.indexes[..n].iter().any(|other| is_same(other, index)) {
            let (name, database, table) = (&index.name, &def.database, &def.name);
            state.warn(Level::Warning, Condition::DupIndex { name: name.into(), database: database.into(), table: table.into() });
        }
    }
}

/// 1347
pub(crate) fn not_base_table(def: &TableDef) -> Error {
    Error::Table(table::Error::NotBaseTable { database: def.database.clone(), table: def.name.clone() })
}

/// A part of CREATE TABLE ... SELECT that has all parameters of the statement.
fn with_values<'s>(statement: Statement<'s>, given: &[Value<'_>]) -> Parsed<'s> {
    Parsed { params: given.len() as u32, ..without_parameters(statement) }
}

/// CREATE TABLE ... SELECT: first the defined columns that the query lacks, then the query's columns, as defined or
/// with the query's types.
fn add_query_columns(state: &State<'_>, query: &Query<'_>, given: &[Value<'_>], new: &mut NewTable) -> Result<()> {
    let planned = state.plan_given(&with_values(Statement::Query(query), given), given)?;
    let schema = state.schema();
    let plan = planned.entry.prepared.plan();
    // As in MySQL, columns read through a view have no defaults.
    let is_direct = |database: &str, table: &str| {
        plan.named().flatten().any(|n| n.through.is_none() && n.table.database == database && n.table.name == table)
    };
    let keeper = if state.session.settings.mode.strict { Keeper::StrictTable } else { Keeper::Table };
    let mut defined = std::mem::take(&mut new.columns);
    let mut given = Vec::new();
    for column in planned.entry.prepared.columns() {
        match defined.iter().position(|existing| existing.name.eq_ignore_ascii_case(&column.name)) {
            Some(at) => given.push(defined.remove(at)),
            None => {
                given.push(column_of_query(column, &schema, is_direct(&column.database, &column.table), keeper));
            }
        }
    }
    new.columns = defined;
    new.columns.extend(given);
    Ok(())
}

/// The statement for the binary log that takes a table away.
fn drop_text(database: &str, table: &str) -> String {
    use types::show_create::quoted_name;
    format!("DROP TABLE {}.{}", quoted_name(database), quoted_name(table))
}

/// Inserts the rows of CREATE TABLE ... SELECT; on an error the table is dropped.
async fn fill(
    state: &mut State<'_>,
    create: &CreateTable<'_>,
    query: (&Query<'_>, &[Value<'_>]),
    database: &str,
) -> Result<Done> {
    let filled = insert_rows(state, create, (database, create.name.name), query, false).await;
    if filled.is_err() {
        state.session.definition = drop_text(database, create.name.name).into();
        let table = vec![(database.to_owned(), create.name.name.to_owned())];
        let dropped = job(state, move |tables, worker, options| tables.drop_tables(worker, &table, options)).await;
        if let Err(error) = dropped {
            tracing::warn!(?error, "the table of a failed CREATE TABLE ... SELECT stays");
        }
    }
    filled
}

/// Inserts the rows of a query, with the values of its parameters, by the names of its columns.
async fn insert_rows(
    state: &mut State<'_>,
    create: &CreateTable<'_>,
    (database, table): (&str, &str),
    (query, given): (&Query<'_>, &[Value<'_>]),
    lasting: bool,
) -> Result<Done> {
    let planned = state.plan_given(&with_values(Statement::Query(query), given), given)?;
    let names: Vec<String> = planned.entry.prepared.columns().iter().map(|column| column.name.clone()).collect();
    let columns: Vec<_> = names.iter().map(|name| ColumnName { database: None, table: None, name }).collect();
    let insert = Insert {
        replace: create.duplicates == Duplicates::Replace,
        ignore: create.duplicates == Duplicates::Ignore,
        table: ObjectName { database: Some(database), name: table },
        partitions: &[],
        columns: Some(&columns),
        source: InsertSource::Query(query),
        row_alias: None,
        on_duplicate: &[],
    };
    let inserted = state.until_current(async |state| {
        let planned = state.plan_given(&with_values(Statement::Insert(&insert), given), given)?;
        state.run_alone(&planned.entry, given, lasting).await
    });
    let done = inserted.await?;
    Ok(Done { affected: done.affected, info: format!("Records: {}  Duplicates: 0  Warnings: 0", done.affected) })
}

/// DROP TABLE: all or none; with IF EXISTS the missing ones are notes.
async fn drop_tables(state: &mut State<'_>, names: &[ObjectName<'_>], if_exists: bool, temporary: bool) -> Result<Done> {
    let mut present = Vec::with_capacity(names.len());
    let (mut missing, mut of_session) = (Vec::new(), Vec::new());
    let schema = state.worker.schema();
    for name in names {
        let (database, table) = qualify(state, name)?;
        refuse_virtual(state, &database)?;
        match schema.table(&database, &table).filter(|def| def.view.is_none()) {
            _ if state.temporary_table(&database, &table).is_some() => of_session.push((database, table)),
            Some(_) if !temporary => present.push((database, table)),
            _ => missing.push((database, table)),
        }
    }
    tell_missing(state, missing, if_exists)?;
    for (database, table) in &of_session {
        state.drop_temporary_table(database, table);
    }
    if !present.is_empty() {
        job(state, move |tables, worker, options| tables.drop_tables(worker, &present, options)).await?;
    }
    Ok(Done::default())
}

/// 1051, or notes if IF EXISTS was written.
fn tell_missing(state: &mut State<'_>, missing: Vec<(String, String)>, if_exists: bool) -> Result<()> {
    if !missing.is_empty() && !if_exists {
        // MySQL names all that are missing, in one message.
        let list: Vec<_> = missing.iter().map(|(database, table)| format!("{database}.{table}")).collect();
        return Err(Error::from(Condition::BadTableError { table: list.join(",").into() }));
    }
    for (database, table) in missing {
        note(state, &Error::Table(table::Error::UnknownTable { database, table }));
    }
    Ok(())
}

/// Adds a note for an error that IF EXISTS or IF NOT EXISTS suppresses.
fn note(state: &mut State<'_>, error: &Error) {
    state.note(Level::Note, error.to_warning());
}
