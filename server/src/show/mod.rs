//! SHOW, DESCRIBE, EXPLAIN, and the tables of information_schema.
//!
//! information_schema is a database of virtual tables in every schema snapshot; their rows are made when a plan reads them. A SHOW that
//! lists rows of such a table selects columns of the same rows (`projection`); the others make their own. LIKE filters them here, WHERE
//! by a plan over the rows.

mod advice;
mod build;
mod cells;
mod definitions;
mod digests;
mod events;
mod explain;
mod filter;
mod gathered;
mod grant_tables;
mod innodb;
mod kept;
mod locks;
mod metadata_locks;
mod performance_schema;
mod privileges;
mod projection;
mod quotes;
mod replication;
mod schema;
mod server;
mod source;
mod status;
mod sys_schema;
mod tables;
mod views;
mod virtual_tables;

pub use advice::{advise_for, gather as advice_gather, workload as advice_workload};
pub use build::{
    Columns, ResultSet, checksum_result, key_part_expression, key_part_name, maintenance_result, number, optional, output_column,
    result, text, texts,
};
pub use cells::datetime;
#[cfg(test)]
pub use definitions::virtual_tables_of;
pub use definitions::{is_virtual_database, named, virtual_database, with_virtual_databases};
pub use digests::is_summary_by_digest;
pub use explain::explain;
pub use filter::like;
pub use gathered::Gathered;
pub use quotes::Quotes;
pub use schema::{virtual_reads, virtual_rows};
pub use server::{all_waits, clear_digests, clear_events, process_list};
pub use source::{Row, Source, Wanted};
pub use status::{counter_sums, global_numbers};
pub use tables::describe;
pub use views::problem as view_problem;
pub use virtual_tables::type_columns;

use crate::error::{Error, Result};
use crate::session::State;
use conditions::Condition;
use filter::Filter;
use sql::ast::{Show, ShowFilter};
use types::{CollationId, ColumnType, TypeKind, Value};

/// Runs one SHOW.
/// `params`: the values of its parameters, which may stand in WHERE.
pub async fn show<'a>(state: &mut State<'_>, what: &Show<'a>, params: &'a [Value<'a>]) -> Result<ResultSet> {
    let with = |written| Filter { written, params };
    match *what {
        Show::Databases(filter) => {
            let made = tables::databases(state, like_text(&filter).as_deref());
            filter::apply(state, made, with(filter), 0).await
        }
        Show::Tables { full, database, filter, .. } => {
            let made = tables::tables(state, full, database, like_text(&filter).as_deref())?;
            filter::apply(state, made, with(filter), 0).await
        }
        Show::TableStatus { database, filter } => {
            let made = tables::status(state, database)?;
            filter::apply(state, made, with(filter), 0).await
        }
        Show::Columns { full, table, filter, .. } => {
            let made = tables::columns(state, &table, full)?;
            filter::apply(state, made, with(filter), 0).await
        }
        Show::Index { table, filter } => {
            let made = tables::indexes(state, &table)?;
            filter::apply(state, made, with(filter), 2).await
        }
        Show::CreateTable(table) if state.find_table(&table)?.view.is_some() => views::create_view(state, &table),
        Show::CreateTable(table) => tables::create_table(state, &table),
        Show::CreateDatabase { name, if_not_exists } => tables::create_database(state, name, if_not_exists),
        Show::CreateOther { kind: kind @ ("PROCEDURE" | "FUNCTION"), name } => {
            crate::routine::show_create(state, kind == "FUNCTION", &name)
        }
        Show::CreateOther { kind: "TRIGGER", name } => crate::routine::show_create_trigger(state, &name),
        Show::CreateOther { kind: "EVENT", name } => crate::event::show_create(state, &name),
        Show::CreateOther { kind: "VIEW", name } => views::create_view(state, &name),
        Show::CreateOther { kind, name } => Err(Condition::SpDoesNotExist { kind: kind.into(), name: name.name.into() }.into()),
        Show::CreateUser(user) => crate::account::create_user(state, &user),
        Show::Variables { global, filter } => {
            let made = server::variables(state, global);
            filter::apply(state, made, with(filter), 0).await
        }
        Show::Status { global, filter } => {
            let made = status::status(state, global).await;
            filter::apply(state, made, with(filter), 0).await
        }
        Show::ProcessList { full } => Ok(process_list(state, full).await),
        Show::Warnings { errors_only, offset, count } => Ok(server::warnings(state, errors_only, offset, count)),
        Show::CountWarnings { errors_only } => Ok(server::count_warnings(state, errors_only)),
        Show::Engines => Ok(projection::ENGINES.all(state, Wanted::default(), &Gathered::default())),
        Show::EngineStatus { engine, what } => server::engine_status(state, engine, what).await,
        Show::Charsets(filter) => {
            let made = projection::CHARACTER_SETS.all(state, Wanted::default(), &Gathered::default());
            filter::apply(state, made, with(filter), 0).await
        }
        Show::Collations(filter) => {
            let mut made = projection::COLLATIONS.all(state, Wanted::default(), &Gathered::default());
            made.rows.sort_by(|a, b| match (a.first(), b.first()) {
                (Some(Value::Bytes(a)), Some(Value::Bytes(b))) => {
                    types::collation::compare(a, b, CollationId::UTF8MB4_GENERAL_CI)
                }
                _ => std::cmp::Ordering::Equal,
            });
            filter::apply(state, made, with(filter), 0).await
        }
        Show::Grants { user, roles } => crate::account::grants(state, user.as_ref(), roles),
        Show::Privileges => Ok(server::privileges()),
        Show::Plugins => Ok(projection::PLUGINS.all(state, Wanted::default(), &Gathered::default())),
        Show::Triggers { database, filter, .. } => {
            let database = tables::database(state, &state.visible_schema(), database)?;
            let made = projection::TRIGGERS.all(state, Wanted::in_schema(&database.name), &Gathered::default());
            filter::apply(state, made, with(filter), 2).await
        }
        Show::Events { database, filter } => {
            let database = database.or(state.execution.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
            let made = projection::EVENTS.all(state, Wanted::in_schema(database), &Gathered::default());
            filter::apply(state, made, with(filter), 1).await
        }
        Show::Routines { functions, filter } => {
            let rows = |source: &Source<'_>| crate::routine::rows(source, Some(functions));
            let made = projection::ROUTINES.of(state, Wanted::default(), &Gathered::default(), rows);
            filter::apply(state, made, with(filter), 1).await
        }
        Show::OpenTables { database, filter } => {
            let mut made = tables::open_tables(state, database);
            made.columns[1].ty.collation = CollationId::UTF8MB4_BIN;
            filter::apply(state, made, with(filter), 1).await
        }
        Show::Profiles => Ok(empty(&["Query_ID", "Duration", "Query"])),
        Show::Profile => Ok(projection::PROFILE.all(state, Wanted::default(), &Gathered::default())),
        Show::BinaryLogStatus => Box::pin(state.binary_log_status()).await,
        Show::LogEvents(Some(what)) => Box::pin(state.binary_log_events(&what)).await,
        Show::LogEvents(None) => Ok(empty(&["Log_name", "Pos", "Event_type", "Server_id", "End_log_pos", "Info"])),
        Show::Advice { table, filter } => {
            let made = advice(state, table.as_ref()).await?;
            filter::apply(state, made, with(filter), 1).await
        }
        Show::ServerProfile { seconds, hertz } => server_profile(state, seconds, hertz).await,
        Show::BinaryLogs => Box::pin(state.binary_logs()).await,
        Show::ReplicaStatus { channel: Some(channel) } if !channel.is_empty() => {
            let channel = String::from_utf8_lossy(channel).into();
            Err(Condition::ReplicaChannelDoesNotExist { channel }.into())
        }
        Show::ReplicaStatus { .. } => match state.worker.shared.binlog.clone() {
            Some(log) => {
                let status = Box::pin(state.catch_up(&log)).await?;
                Ok(crate::replica::status(state, &status))
            }
            None => Ok(crate::replica::status(state, &Default::default())),
        },
        Show::Replicas => Ok(state.replicas()),
    }
}

/// What the query doctor finds.
async fn advice(state: &State<'_>, table: Option<&sql::ast::ObjectName<'_>>) -> Result<ResultSet> {
    let about = table.map(|name| state.find_table(name)).transpose()?;
    let gathered = advice::gather(state).await;
    let (schema, access) = (state.visible_schema(), Some(&*state.session.access));
    let source = Source { worker: &state.worker, schema: &schema, gathered: Some(&gathered), access, wanted: Wanted::default() };
    Ok(advice::shown(&source, &gathered, about.as_deref()))
}

/// A line for each worker, statement and stack of functions.
async fn server_profile(state: &State<'_>, seconds: u64, hertz: u64) -> Result<ResultSet> {
    let profile = crate::profile::run(state, seconds, hertz).await?;
    let columns = Columns::default()
        .number("Worker")
        .nullable_text("Schema", 64)
        .nullable_text("Digest", 64)
        .long_text("Digest_text")
        .long_text("Stack")
        .number("Samples");
    let mut made = result(columns);
    for line in profile.lines {
        let of = line.statement.as_deref();
        made.rows.push(vec![
            number(line.worker),
            optional(of.and_then(|of| of.database.clone())),
            optional(of.map(|of| of.digest.clone())),
            optional(of.map(|of| of.text.clone())),
            text(line.stack),
            number(line.samples),
        ]);
    }
    if profile.lost > 0 {
        let none = || Value::Null;
        made.rows.push(vec![none(), none(), none(), none(), text("(samples without room)"), number(profile.lost)]);
    }
    Ok(made)
}

#[rustfmt::skip]
const REPLICA_STATUS: &[&str] = &[
    "Replica_IO_State", "Source_Host", "Source_User", "Source_Port", "Connect_Retry", "Source_Log_File", "Read_Source_Log_Pos",
    "Relay_Log_File", "Relay_Log_Pos", "Relay_Source_Log_File", "Replica_IO_Running", "Replica_SQL_Running", "Replicate_Do_DB",
    "Replicate_Ignore_DB", "Replicate_Do_Table", "Replicate_Ignore_Table", "Replicate_Wild_Do_Table", "Replicate_Wild_Ignore_Table",
    "Last_Errno", "Last_Error", "Skip_Counter", "Exec_Source_Log_Pos", "Relay_Log_Space", "Until_Condition", "Until_Log_File",
    "Until_Log_Pos", "Source_SSL_Allowed", "Source_SSL_CA_File", "Source_SSL_CA_Path", "Source_SSL_Cert", "Source_SSL_Cipher",
    "Source_SSL_Key", "Seconds_Behind_Source", "Source_SSL_Verify_Server_Cert", "Last_IO_Errno", "Last_IO_Error", "Last_SQL_Errno",
    "Last_SQL_Error", "Replicate_Ignore_Server_Ids", "Source_Server_Id", "Source_UUID", "Source_Info_File", "SQL_Delay",
    "SQL_Remaining_Delay", "Replica_SQL_Running_State", "Source_Retry_Count", "Source_Bind", "Last_IO_Error_Timestamp",
    "Last_SQL_Error_Timestamp", "Source_SSL_Crl", "Source_SSL_Crlpath", "Retrieved_Gtid_Set", "Executed_Gtid_Set", "Auto_Position",
    "Replicate_Rewrite_DB", "Channel_Name", "Source_TLS_Version", "Source_public_key_path", "Get_Source_public_key",
    "Network_Namespace",
];

/// SHOW REPLICA STATUS without rows.
pub fn empty_status() -> ResultSet {
    empty(REPLICA_STATUS)
}

/// Columns of results without rows that are numbers.
#[rustfmt::skip]
const INTEGERS: &[&str] = &[
    "Query_ID", "Server_Id", "Port", "Source_Id", "Server_id", "Source_Port", "Connect_Retry", "Last_Errno", "Skip_Counter", "Last_IO_Errno",
    "Last_SQL_Errno", "Source_Server_Id", "SQL_Delay", "SQL_Remaining_Delay", "Auto_Position", "Get_Source_public_key",
];

#[rustfmt::skip]
const BIG_INTEGERS: &[&str] = &[
    "Position", "Pos", "End_log_pos", "Read_Source_Log_Pos", "Relay_Log_Pos", "Exec_Source_Log_Pos", "Relay_Log_Space", "Until_Log_Pos",
    "Seconds_Behind_Source", "Source_Retry_Count",
];

/// A result without rows.
fn empty(names: &[&str]) -> ResultSet {
    let column = |columns: Columns, name: &&str| match *name {
        name if INTEGERS.contains(&name) => columns.add(name, ColumnType::unsigned(TypeKind::Int), false),
        name if BIG_INTEGERS.contains(&name) => columns.add(name, ColumnType::unsigned(TypeKind::BigInt), false),
        "Duration" => columns.add("Duration", ColumnType::unsigned(TypeKind::Double), false),
        name => columns.text(name, 64),
    };
    result(names.iter().fold(Columns::default(), column))
}

fn like_text(filter: &ShowFilter<'_>) -> Option<String> {
    match filter {
        ShowFilter::Like(pattern) => Some(String::from_utf8_lossy(pattern).into_owned()),
        _ => None,
    }
}
