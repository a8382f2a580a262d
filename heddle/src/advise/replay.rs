//! Runs the statements of a log against a server, each on a connection that stands for the one in the log, in the log's order.
//!
//! R1: without `--writes` nothing is changed: statements that write are left out by their syntax, and the transactions of each connection
//!     are READ ONLY, so that a function that writes is refused by the server.
//! R2: statements about the server, accounts, sessions of others or files are always left out.
//! R3: at most [`CONNECTIONS_MAX`] connections are open; one more closes the one that was used longest ago.

use super::logs::{self, Event, LeftOut, What};
use lab::client::Client;
use lab::target::Target;
use sql::Arena;
use sql::ast::{SelectInto, SetItem, Statement, VariableScope};
use std::collections::HashMap;
use std::path::Path;
use types::SqlMode;

const CONNECTIONS_MAX: usize = 200;
/// Errors that are told with their text.
const ERRORS_TOLD_MAX: usize = 5;

/// What became of the statements of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    pub ran: u64,
    /// They change something, or are about the server (R1, R2).
    pub left_out: u64,
    pub too_long: u64,
    pub failed: u64,
    /// The first errors.
    pub errors: Vec<String>,
}

/// Whether a statement is run: R1 and R2.
fn is_wanted(text: &[u8], writes: bool) -> bool {
    let arena = Arena::default();
    let Ok(parsed) = sql::parse(&arena, text, &SqlMode::DEFAULT) else { return false };
    match parsed.statement {
        Statement::Query(query) => {
            parsed.params == 0 && !matches!(query.into, Some(SelectInto::OutFile(_) | SelectInto::DumpFile(_)))
        }
        Statement::Begin { read_only, .. } => writes || read_only != Some(false),
        Statement::Commit(_)
        | Statement::Rollback(_)
        | Statement::Savepoint(_)
        | Statement::RollbackTo(_)
        | Statement::ReleaseSavepoint(_)
        | Statement::Show(_)
        | Statement::Describe { .. }
        | Statement::Do(_) => true,
        Statement::Set(items) => items.iter().all(|item| is_of_session(item) && (writes || !sets_read_only(item))),
        Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => writes && parsed.params == 0,
        Statement::Call(_)
        | Statement::CreateTable(_)
        | Statement::DropTable { .. }
        | Statement::AlterTable(_)
        | Statement::CreateIndex(_)
        | Statement::DropIndex { .. }
        | Statement::Truncate { .. }
        | Statement::LockTables(_)
        | Statement::UnlockTables => writes,
        _ => false,
    }
}

fn is_of_session(item: &SetItem<'_>) -> bool {
    let is_global =
        |scope: &VariableScope| matches!(scope, VariableScope::Global | VariableScope::Persist | VariableScope::PersistOnly);
    match item {
        SetItem::User { .. } | SetItem::Names { .. } | SetItem::CharacterSet(_) => true,
        SetItem::System { scope, .. } => !is_global(scope),
        SetItem::Transaction { scope, .. } => !is_global(scope),
        SetItem::Unsupported(_) => false,
    }
}

/// Whether it says if transactions may write (R1).
fn sets_read_only(item: &SetItem<'_>) -> bool {
    match item {
        SetItem::System { name, .. } => {
            ["transaction_read_only", "tx_read_only"].iter().any(|known| name.eq_ignore_ascii_case(known))
        }
        SetItem::Transaction { read_only, .. } => read_only.is_some(),
        _ => false,
    }
}

struct Connection {
    client: Client,
    /// The event that used it last.
    used: u64,
}

/// Runs a log.
///
/// # Errors
/// The file or a login; or no statement of it could be run.
pub fn run(path: &Path, target: &Target, database: Option<&str>, writes: bool) -> Result<Replayed, String> {
    let file = std::fs::File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut done = Replayed::default();
    let mut open: HashMap<u64, Connection> = HashMap::new();
    let mut databases: HashMap<u64, String> = HashMap::new();
    let mut events = 0;
    let mut each = |event: Event| {
        events += 1;
        let text = match event.what {
            What::Quit => {
                open.remove(&event.session);
                databases.remove(&event.session);
                return Ok(());
            }
            What::Use(name) => {
                if let Some(connection) = open.get_mut(&event.session)
                    && let Err(error) = connection.client.run(&format!("USE `{}`", name.replace('`', "``")))
                {
                    done.fail(&error.to_string());
                }
                databases.insert(event.session, name);
                return Ok(());
            }
            What::Statement(text) => text,
        };
        if !is_wanted(&text, writes) {
            done.left_out += 1;
            return Ok(());
        }
        let Ok(text) = String::from_utf8(text) else {
            done.left_out += 1;
            return Ok(());
        };
        // R3
        if !open.contains_key(&event.session) {
            if open.len() >= CONNECTIONS_MAX
                && let Some(oldest) = open.iter().min_by_key(|(_, one)| one.used).map(|(session, _)| *session)
            {
                open.remove(&oldest);
            }
            let own = databases.get(&event.session).map(String::as_str).or(database);
            let client = connect(target, own, writes)?;
            open.insert(event.session, Connection { client, used: events });
        }
        let connection = open.get_mut(&event.session).expect("it was opened");
        connection.used = events;
        match connection.client.run(&text) {
            Ok(()) => done.ran += 1,
            Err(error) => {
                if !error.is_of_server() {
                    open.remove(&event.session);
                }
                done.fail(&error.to_string());
            }
        }
        Ok(())
    };
    let LeftOut { too_long } =
        logs::read(std::io::BufReader::new(file), &mut each).map_err(|why| format!("{}: {why}", path.display()))?;
    done.too_long = too_long;
    if done.ran == 0 {
        let first = done.errors.first().map(|error| format!("; the first error: {error}")).unwrap_or_default();
        return Err(format!(
            "{}: no statement could be run, {} were left out and {} failed{first}",
            path.display(),
            done.left_out,
            done.failed
        ));
    }
    Ok(done)
}

fn connect(target: &Target, database: Option<&str>, writes: bool) -> Result<Client, String> {
    let mut client = Client::open(target, database).map_err(|error| error.to_string())?;
    // R1
    if !writes {
        client.run("SET SESSION TRANSACTION READ ONLY").map_err(|error| error.to_string())?;
    }
    Ok(client)
}

impl Replayed {
    fn fail(&mut self, error: &str) {
        self.failed += 1;
        if self.errors.len() < ERRORS_TOLD_MAX && !self.errors.iter().any(|known| known == error) {
            self.errors.push(error.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::is_wanted;

    #[test]
    fn without_writes_only_statements_that_read_are_wanted() {
        for text in [
            "SELECT 1",
            "(SELECT 1)",
            "WITH a AS (SELECT 1) SELECT * FROM a",
            "SELECT a FROM t FOR UPDATE",
            "SELECT 1 INTO @a",
            "BEGIN",
            "COMMIT",
            "SHOW TABLES",
            "SET NAMES utf8mb4",
            "SET @a = 1, sql_mode = ''",
        ] {
            assert!(is_wanted(text.as_bytes(), false), "{text}");
        }
        for text in [
            "INSERT INTO t VALUES (1)",
            "UPDATE t SET a = 1",
            "CALL p()",
            "DROP TABLE t",
            "SELECT 1 INTO OUTFILE '/tmp/x'",
            "SELECT 1 INTO DUMPFILE '/tmp/x'",
            "SET GLOBAL max_connections = 1",
            "SET @@persist.max_connections = 1",
            "SET SESSION TRANSACTION READ WRITE",
            "SET @@Transaction_Read_Only = 0",
            "START TRANSACTION READ WRITE",
            "SELECT ?",
            "what is this",
            "",
        ] {
            assert!(!is_wanted(text.as_bytes(), false), "{text}");
        }
    }

    #[test]
    fn with_writes_the_server_and_its_accounts_stay_as_they_are() {
        for text in ["INSERT INTO t VALUES (1)", "UPDATE t SET a = 1", "DROP TABLE t", "CALL p()"] {
            assert!(is_wanted(text.as_bytes(), true), "{text}");
        }
        for text in [
            "SHUTDOWN",
            "KILL 1",
            "CREATE USER a",
            "DROP DATABASE d",
            "SET GLOBAL max_connections = 1",
            "FLUSH LOGS",
            "RESET BINARY LOGS AND GTIDS",
        ] {
            assert!(!is_wanted(text.as_bytes(), true), "{text}");
        }
    }
}
