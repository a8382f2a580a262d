//! Definitions of the source, made at the target: accounts, databases, tables, stored programs, views; when the rows are there triggers and events.
//!
//! D1: nothing here is written to the target's binary log, so the way back does not make it again at the source.
//! D2: triggers come after the rows, which they would change; events do not run before the cut-over.
//! D3: each step can be done again: what is there stays, or is replaced.

use crate::end::{End, quoted, text};
use crate::error::{Error, Result};
use crate::parts::Move;
use crate::tables::{OWN_DATABASES, Table};
use mysql::prelude::Queryable;
use mysql::{Conn, Row};

/// Keeps definitions of the source as they are, while it lives: LOCK INSTANCE FOR BACKUP lets every change of rows pass.
pub struct Guard {
    /// The lock ends with the connection.
    _conn: Option<Conn>,
}

impl Guard {
    /// # Errors
    /// The source's: the account may have no BACKUP_ADMIN.
    pub fn take(source: &End, is_unwanted: bool) -> Result<Self> {
        let mut conn = source.connect()?;
        // 5.7 has no such lock; definitions are compared at the end of the copy.
        if is_unwanted || source.product(&mut conn)?.number < (8, 0) {
            return Ok(Self { _conn: None });
        }
        match source.run(&mut conn, "LOCK INSTANCE FOR BACKUP") {
            Ok(()) => Ok(Self { _conn: Some(conn) }),
            Err(error) => Err(Error(format!(
                "{error} (it keeps ALTER TABLE and its like from running while rows are copied; --no-instance-lock does without)"
            ))),
        }
    }
}

/// Accounts, databases, tables, routines, views.
///
/// # Errors
/// The servers', with the name of what cannot be made. What is wrong with single accounts is said, and does not stop the move.
pub fn make(of: &Move<'_>, tables: &[Table]) -> Result<()> {
    let (source, target) = (&of.source, &of.target);
    let (mut from, mut to) = (source.connect()?, target.connect()?);
    for note in accounts(source, &mut from, target, &mut to)? {
        of.progress.say(&note);
    }
    for database in databases(source, &mut from)? {
        let create: (String, String) =
            source.first(&mut from, &format!("SHOW CREATE DATABASE IF NOT EXISTS {}", quoted(&database)))?;
        target.run(&mut to, &create.1)?;
    }
    for table in tables {
        let create = table_text(source, &mut from, table)?;
        target.run(&mut to, &format!("USE {}", quoted(&table.database_there)))?;
        target.run(&mut to, &create)?;
    }
    of.progress.say(&format!("{} tables are made", tables.len()));
    routines(source, &mut from, target, &mut to, &Databases::All)?;
    views(source, &mut from, target, &mut to, &Databases::All)
}

/// Which databases, and what they are called at the target.
pub enum Databases {
    /// All that are not the server's own, by their names.
    All,
    One {
        name: String,
        there: String,
    },
}

impl Databases {
    /// The condition of a column that names a database.
    fn condition(&self, column: &str) -> String {
        match self {
            Self::All => format!("{column} NOT IN {OWN_DATABASES}"),
            Self::One { name, .. } => format!("{column} = {}", text(name)),
        }
    }

    fn there<'n>(&'n self, name: &'n str) -> &'n str {
        match self {
            Self::All => name,
            Self::One { there, .. } => there,
        }
    }
}

pub fn routines(source: &End, from: &mut Conn, target: &End, to: &mut Conn, which: &Databases) -> Result<()> {
    let columns = "routine_schema, routine_name, routine_type";
    for (database, name, kind) in list(source, from, columns, "routines", "routine_schema", which)? {
        let row = show(source, from, &kind, &database, &name)?;
        let drop = format!("DROP {kind} IF EXISTS {}", quoted(&name));
        make_program(target, to, which.there(&database), &drop, &row.program(2), &row)?;
    }
    Ok(())
}

/// Triggers and events. Gives the events that run at the source.
///
/// # Errors
/// The servers'.
pub fn make_rest(of: &Move<'_>) -> Result<Vec<(String, String)>> {
    let (source, target) = (&of.source, &of.target);
    let (mut from, mut to) = (source.connect()?, target.connect()?);
    let what = "trigger_schema, trigger_name, event_object_table, action_timing, event_manipulation, action_order";
    let query = format!(
        "SELECT {what} FROM information_schema.triggers WHERE trigger_schema NOT IN {OWN_DATABASES} ORDER BY 1, 3, 4, 5, 6"
    );
    for (database, name, ..) in source.rows::<(String, String, String, String, String, u64)>(&mut from, &query)? {
        let row = show(source, &mut from, "TRIGGER", &database, &name)?;
        let drop = format!("DROP TRIGGER IF EXISTS {}", quoted(&name));
        make_program(target, &mut to, &database, &drop, &row.program(2), &row)?;
    }
    events(source, &mut from, target, &mut to, &Databases::All, "DISABLE ON SLAVE")
}

/// Events, none of which runs at the target. Gives those that run at the source.
pub fn events(
    source: &End,
    from: &mut Conn,
    target: &End,
    to: &mut Conn,
    which: &Databases,
    asleep_as: &str,
) -> Result<Vec<(String, String)>> {
    let mut running = Vec::new();
    for (database, name, status) in list(source, from, "event_schema, event_name, status", "events", "event_schema", which)? {
        let row = show(source, from, "EVENT", &database, &name)?;
        let drop = format!("DROP EVENT IF EXISTS {}", quoted(&name));
        make_program(target, to, which.there(&database), &drop, &asleep(&row.program(3), asleep_as), &row)?;
        if status.eq_ignore_ascii_case("ENABLED") {
            running.push((database, name));
        }
    }
    Ok(running)
}

pub fn databases(source: &End, conn: &mut Conn) -> Result<Vec<String>> {
    let query =
        format!("SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN {OWN_DATABASES} ORDER BY 1");
    source.rows(conn, &query)
}

/// CREATE TABLE, which leaves a table alone that is there.
pub fn table_text(source: &End, conn: &mut Conn, table: &Table) -> Result<String> {
    let (_, create): (String, String) = source.first(conn, &format!("SHOW CREATE TABLE {}", table.quoted()))?;
    Ok(create.replacen("CREATE TABLE ", "CREATE TABLE IF NOT EXISTS ", 1))
}

/// Three columns of a table of information_schema.
fn list(
    source: &End,
    conn: &mut Conn,
    columns: &str,
    table: &str,
    database: &str,
    which: &Databases,
) -> Result<Vec<(String, String, String)>> {
    let condition = which.condition(database);
    source.rows(conn, &format!("SELECT {columns} FROM information_schema.{table} WHERE {condition} ORDER BY 1, 2"))
}

/// The row of SHOW CREATE for a stored program or view.
pub struct Shown(Row);

impl Shown {
    /// The definition, which stands in this column; empty: the account may not see it.
    pub fn program(&self, column: usize) -> String {
        self.0.get_opt::<String, _>(column).and_then(|value| value.ok()).unwrap_or_default()
    }

    /// A setting of the session that has made it.
    fn setting(&self, name: &str) -> Option<String> {
        self.0.get_opt::<String, _>(name).and_then(|value| value.ok())
    }
}

pub fn show(source: &End, conn: &mut Conn, kind: &str, database: &str, name: &str) -> Result<Shown> {
    let row: Row = source.first(conn, &format!("SHOW CREATE {kind} {}.{}", quoted(database), quoted(name)))?;
    Ok(Shown(row))
}

/// Makes a program with the settings of its session.
pub fn make_program(target: &End, conn: &mut Conn, database: &str, drop: &str, create: &str, row: &Shown) -> Result<()> {
    if create.is_empty() {
        return Err(Error(format!("the account at the source may not see the text of a program of {database} ({drop})")));
    }
    target.run(conn, &format!("USE {}", quoted(database)))?;
    target.run(conn, drop)?;
    let mut settings = format!("SET SESSION sql_mode = {}", text(&row.setting("sql_mode").unwrap_or_default()));
    for (variable, column) in [("collation_connection", "collation_connection"), ("time_zone", "time_zone")] {
        if let Some(value) = row.setting(column) {
            settings.push_str(&format!(", {variable} = {}", text(&value)));
        }
    }
    target.run(conn, &settings)?;
    let made = conn.query_drop(create).map_err(target.wrong(&create.chars().take(160).collect::<String>()));
    let mode = "STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO";
    target.run(conn, &format!("SET SESSION sql_mode = '{mode}', time_zone = '+00:00'"))?;
    target.run(conn, "SET NAMES utf8mb4")?;
    made
}

/// An event's definition with the words for one that does not run here. D2
fn asleep(create: &str, asleep_as: &str) -> String {
    for preserve in ["ON COMPLETION NOT PRESERVE", "ON COMPLETION PRESERVE"] {
        let awake = format!("{preserve} ENABLE");
        if create.contains(&awake) {
            return create.replacen(&awake, &format!("{preserve} {asleep_as}"), 1);
        }
    }
    create.to_owned()
}

/// Views, which may stand on others: those that cannot be made yet are tried again.
pub fn views(source: &End, from: &mut Conn, target: &End, to: &mut Conn, which: &Databases) -> Result<()> {
    let mut waiting = list(source, from, "table_schema, table_name, definer", "views", "table_schema", which)?;
    while !waiting.is_empty() {
        let mut failed = Vec::new();
        let mut first = None;
        for (database, name, definer) in &waiting {
            source.run(from, &format!("USE {}", quoted(database)))?;
            let row = show(source, from, "VIEW", database, name)?;
            let drop = format!("DROP VIEW IF EXISTS {}", quoted(name));
            if let Err(error) = make_program(target, to, which.there(database), &drop, &row.program(1), &row) {
                first.get_or_insert(error);
                failed.push((database.clone(), name.clone(), definer.clone()));
            }
        }
        if let Some(error) = first.filter(|_| failed.len() == waiting.len()) {
            return Err(error);
        }
        waiting = failed;
    }
    Ok(())
}

/// Accounts and roles with their privileges; those that are at the target stay as they are. Gives what could not be done.
fn accounts(source: &End, from: &mut Conn, target: &End, to: &mut Conn) -> Result<Vec<String>> {
    // A password's hash may have any bytes; servers before 8.0.17 have no such setting, and write them as they are.
    let _ = from.query_drop("SET SESSION print_identified_with_as_hex = ON");
    let query = "SELECT user, host FROM mysql.user WHERE user NOT LIKE 'mysql.%' ORDER BY 1, 2";
    let here: Vec<(String, String)> = source.rows(from, query)?;
    let there: Vec<(String, String)> = target.rows(to, query)?;
    let (known, new): (Vec<_>, Vec<_>) = here.into_iter().partition(|account| there.contains(account));
    let mut notes: Vec<String> =
        known.iter().map(|(user, host)| format!("account {user}@{host}: is at the target, stays as it is there")).collect();
    let mut grants = Vec::new();
    for (user, host) in new {
        let account = format!("{}@{}", text(&user), text(&host));
        let create: String = source.first(from, &format!("SHOW CREATE USER {account}"))?;
        // The text has the password's hash: it is in no message.
        if let Err(error) = to.query_drop(create).map_err(target.wrong("CREATE USER")) {
            notes.push(format!("account {user}@{host}: {error}"));
            continue;
        }
        for grant in source.rows::<String>(from, &format!("SHOW GRANTS FOR {account}"))? {
            grants.push((format!("{user}@{host}"), grant));
        }
    }
    // A role is there before it is granted.
    for (account, grant) in grants {
        if let Err(error) = target.run(to, &grant) {
            notes.push(format!("account {account}: {error}"));
        }
    }
    Ok(notes)
}

#[cfg(test)]
mod tests {
    use super::asleep;

    #[test]
    fn an_event_does_not_run_before_the_cut_over() {
        let create = "CREATE EVENT `e` ON SCHEDULE EVERY 1 DAY STARTS '2026-01-01' ON COMPLETION NOT PRESERVE ENABLE DO SELECT 'ON COMPLETION PRESERVE ENABLE'";
        assert!(
            asleep(create, "DISABLE ON SLAVE")
                .contains("NOT PRESERVE DISABLE ON SLAVE DO SELECT 'ON COMPLETION PRESERVE ENABLE'")
        );
        let disabled = "CREATE EVENT `e` ON SCHEDULE AT '2026-01-01' ON COMPLETION PRESERVE DISABLE DO SELECT 1";
        assert_eq!(asleep(disabled, "DISABLE"), disabled);
    }
}
