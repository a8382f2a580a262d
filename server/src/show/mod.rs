//! SHOW, DESCRIBE, EXPLAIN, and the tables of information_schema.
//!
//! SHOW makes its rows itself, with MySQL 8.4's column names, and filters them: LIKE here, WHERE by planning a query over the rows as a
//! virtual table. information_schema is a database of virtual tables in every schema snapshot; their rows are made when a plan reads
//! them.

mod build;
mod explain;
mod filter;
mod schema;
mod server;
mod tables;
mod virtual_tables;

pub use build::{Columns, maintenance_result, output_column, result, text, texts};
pub use explain::explain;
pub use filter::like;
pub use schema::{VirtualReads, is_virtual_database, virtual_reads, with_virtual_databases};
pub use server::{Gathered, process_list};
pub use tables::describe;
pub use virtual_tables::rows as information_schema_rows;

use crate::error::{Error, Result};
use crate::session::{ResultSet, State};

use sql::ast::{Show, ShowFilter};

/// Runs one SHOW.
pub async fn show(state: &mut State, what: &Show<'_>) -> Result<ResultSet> {
    match *what {
        Show::Databases(filter) => {
            let made = tables::databases(state, like_text(&filter).as_deref());
            filter::apply(state, made, filter, 0).await
        }
        Show::Tables { full, database, filter, .. } => {
            let made = tables::tables(state, full, database, like_text(&filter).as_deref())?;
            filter::apply(state, made, filter, 0).await
        }
        Show::TableStatus { database, filter } => {
            let made = tables::status(state, database)?;
            filter::apply(state, made, filter, 0).await
        }
        Show::Columns { full, table, filter, .. } => {
            let made = tables::columns(state, &table, full)?;
            filter::apply(state, made, filter, 0).await
        }
        Show::Index { table, filter } => {
            let made = tables::indexes(state, &table)?;
            filter::apply(state, made, filter, 2).await
        }
        Show::CreateTable(table) => tables::create_table(state, &table),
        Show::CreateDatabase { name, if_not_exists } => tables::create_database(state, name, if_not_exists),
        Show::CreateOther { kind, name } => Err(Error::DoesNotExist { kind, name: name.name.to_owned() }),
        Show::CreateUser(user) => crate::accounts::create_user(state, &user),
        Show::Variables { global, filter } => {
            let made = server::variables(state, global, filter);
            filter::apply(state, made, filter, 0).await
        }
        Show::Status { filter, .. } => {
            let made = server::status(state).await;
            filter::apply(state, made, filter, 0).await
        }
        Show::ProcessList { full } => Ok(process_list(state, full).await),
        Show::Warnings { errors_only, offset, count } => Ok(server::warnings(state, errors_only, offset, count)),
        Show::CountWarnings { errors_only } => Ok(server::count_warnings(state, errors_only)),
        Show::Engines => Ok(server::engines()),
        Show::EngineStatus { what, .. } => server::engine_status(state, what).await,
        Show::Charsets(filter) => filter::apply(state, server::charsets(), filter, 0).await,
        Show::Collations(filter) => filter::apply(state, server::collations(), filter, 0).await,
        Show::Grants { user, roles } => crate::accounts::grants(state, user.as_ref(), roles),
        Show::Privileges => Ok(server::privileges()),
        Show::Plugins => Ok(server::plugins()),
        Show::Triggers { filter, .. } => filter::apply(state, empty(TRIGGERS), filter, 2).await,
        Show::Events { filter, .. } => filter::apply(state, empty(EVENTS), filter, 1).await,
        Show::Routines { filter, .. } => filter::apply(state, empty(ROUTINES), filter, 1).await,
        Show::OpenTables { database, filter } => {
            let made = tables::open_tables(state, database);
            filter::apply(state, made, filter, 1).await
        }
        Show::Profiles => Ok(empty(&["Query_ID", "Duration", "Query"])),
        Show::Profile => Ok(empty(&["Status", "Duration"])),
        Show::BinaryLogStatus | Show::BinaryLogs => {
            Err(Error::Other { number: 1381, message: "You are not using binary logging".to_owned() })
        }
        Show::ReplicaStatus => Ok(empty(&["Replica_IO_State", "Source_Host"])),
        Show::Replicas => Ok(empty(&["Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"])),
    }
}

const TRIGGERS: &[&str] = &[
    "Trigger",
    "Event",
    "Table",
    "Statement",
    "Timing",
    "Created",
    "sql_mode",
    "Definer",
    "character_set_client",
    "collation_connection",
    "Database Collation",
];

const EVENTS: &[&str] = &[
    "Db",
    "Name",
    "Definer",
    "Time zone",
    "Type",
    "Execute at",
    "Interval value",
    "Interval field",
    "Starts",
    "Ends",
    "Status",
    "Originator",
    "character_set_client",
    "collation_connection",
    "Database Collation",
];

const ROUTINES: &[&str] = &[
    "Db",
    "Name",
    "Type",
    "Language",
    "Definer",
    "Modified",
    "Created",
    "Security_type",
    "Comment",
    "character_set_client",
    "collation_connection",
    "Database Collation",
];

/// A result of text columns without rows.
fn empty(names: &[&str]) -> ResultSet {
    let mut columns = Columns::default();
    for name in names {
        columns = columns.text(name, 64);
    }
    result(columns)
}

fn like_text(filter: &ShowFilter<'_>) -> Option<String> {
    match filter {
        ShowFilter::Like(pattern) => Some(String::from_utf8_lossy(pattern).into_owned()),
        _ => None,
    }
}
