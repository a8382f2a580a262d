//! One database or one table of a restored server, brought to a running one under a name that is free there.
//!
//! 1. At the target the database `heddle_restore_unfinished` is made; tables and their rows are copied into it, and compared.
//! 2. One RENAME TABLE gives all tables their names: they are there as wholes, or not at all.
//! 3. Of a database: views, routines, triggers, and events, which do not run. Of a table neither triggers nor foreign keys: rows of the past may
//!    contradict the present ones. What is left out is told.
//!
//! G1: nothing that exists at the target is changed; a name that is taken is refused before anything is copied, and RENAME TABLE refuses it again.
//! G2: after an error nothing is left. After a crash of this program `heddle_restore_unfinished` may be, which the next call removes, or, within
//!     step 3, a database whose tables are whole and whose views and programs are not.
//! G3: what is written goes into the target's binary log, as its replicas need it.

use crate::definitions::{self, Databases};
use crate::end::{End, quoted, text};
use crate::error::{Error, Result};
use crate::flags::{Flags, Step};
use crate::journal::{Journal, Phase};
use crate::parts::Move;
use crate::progress::{Progress, count};
use crate::tables::{self, Table};
use crate::{copy, verify};
use mysql::Conn;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Where tables are until they are whole. In `tables::OWN_DATABASES`, too.
const UNFINISHED: &str = "heddle_restore_unfinished";

/// What is brought where.
#[derive(Clone, Debug)]
pub struct Request {
    /// mysql://USER[:PASSWORD]@HOST[:PORT]
    pub server: String,
    /// Where the address has none.
    pub password: Option<String>,
    pub tls: client::Tls,
    pub what: What,
    pub threads: u32,
    /// Rows are compared when they are there.
    pub verify: bool,
    /// A directory for a file of this program.
    pub scratch: PathBuf,
    /// Set by somebody who wants it to end.
    pub stop: Arc<AtomicBool>,
}

/// A database or a table, and the name that it gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    Database { name: String, into: String },
    Table { from: Name, into: Name },
}

/// A table's name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    pub database: String,
    pub table: String,
}

impl Name {
    /// Reads `shop.orders`; a part with a dot stands in backticks.
    ///
    /// # Errors
    /// A text that is no such name.
    pub fn parse(name: &str) -> Result<Self> {
        let wrong = || Error(format!("'{name}' is no name of a table: write DATABASE.TABLE"));
        let part = |text: &str| -> Option<(String, String)> {
            let Some(inner) = text.strip_prefix('`') else {
                let end = text.find('.').unwrap_or(text.len());
                return Some((text[..end].to_owned(), text[end..].to_owned()));
            };
            let end = inner.find('`')?;
            Some((inner[..end].to_owned(), inner[end + 1..].to_owned()))
        };
        let (database, rest) = part(name).ok_or_else(wrong)?;
        let (table, rest) = rest.strip_prefix('.').and_then(part).ok_or_else(wrong)?;
        if database.is_empty() || table.is_empty() || !rest.is_empty() {
            return Err(wrong());
        }
        Ok(Self { database, table })
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.database, self.table)
    }
}

impl Request {
    fn target(&self) -> Result<End> {
        End::parse_server(&self.server, self.password.clone(), &self.tls)
    }
}

impl What {
    fn database(&self) -> &str {
        match self {
            Self::Database { name, .. } => name,
            Self::Table { from, .. } => &from.database,
        }
    }
}

/// Is the name free at the server? To be asked before a backup is read.
///
/// # Errors
/// It is not (G1); the server's.
pub fn check_free(request: &Request) -> Result<()> {
    let target = request.target()?;
    free(&target, &mut target.connect()?, &request.what)
}

fn free(target: &End, conn: &mut Conn, what: &What) -> Result<()> {
    let database = match what {
        What::Database { into, .. } => into,
        What::Table { into, .. } => &into.database,
    };
    let query = format!("SELECT COUNT(*) FROM information_schema.schemata WHERE schema_name = {}", text(database));
    let has_database = target.first::<u64>(conn, &query)? > 0;
    match what {
        What::Database { .. } if has_database => Err(Error(format!("{} has a database {database} already", target.name()))),
        What::Database { .. } => Ok(()),
        What::Table { .. } if !has_database => Err(Error(format!("{} has no database {database}", target.name()))),
        What::Table { into, .. } => {
            let query = format!(
                "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = {} AND table_name = {}",
                text(database),
                text(&into.table)
            );
            match target.first::<u64>(conn, &query)? {
                0 => Ok(()),
                _ => Err(Error(format!("{} has a table {into} already", target.name()))),
            }
        }
    }
}

/// Brings it. `socket`: of the server that has it, which nobody else uses. Gives lines for the person who asked.
///
/// # Errors
/// The servers'; a name that is taken, or that the restored server does not have; rows that differ; an interruption.
pub fn bring(request: &Request, socket: &std::path::Path) -> Result<String> {
    let flags = Flags {
        step: Step::Run,
        from: String::new(),
        to: request.server.clone(),
        journal: request.scratch.join("copy.json"),
        threads: request.threads,
        tls: request.tls.clone(),
        source_address: None,
        target_address: None,
        no_verify: !request.verify,
        no_instance_lock: true,
        no_way_back: true,
        patience: 0,
    };
    let of = Move {
        flags: &flags,
        source: End::private(socket),
        target: request.target()?,
        progress: Progress::new(),
        stop: Arc::clone(&request.stop),
    };
    // Held until its connection ends: two of these would remove each other's tables.
    let mut guard = of.target.connect()?;
    if of.target.first::<Option<u64>>(&mut guard, "SELECT GET_LOCK('heddle restore', 0)")? != Some(1) {
        return Err(Error(format!("another 'heddle restore' works at {}", of.target.name())));
    }
    free(&of.target, &mut guard, &request.what)?;
    let mut is_made = false;
    let done = bring_to(&of, &request.what, &mut is_made);
    // G2
    let mut clean = vec![UNFINISHED];
    if let (Err(_), true, What::Database { into, .. }) = (&done, is_made, &request.what) {
        clean.push(into);
    }
    let cleaned = of.target.connect().and_then(|mut conn| {
        clean.iter().try_for_each(|name| of.target.run(&mut conn, &format!("DROP DATABASE IF EXISTS {}", quoted(name))))
    });
    match (done, cleaned) {
        (Ok(told), Ok(())) => Ok(told),
        (Err(error), Ok(())) => Err(error),
        (Ok(_), Err(why)) => Err(Error(format!("everything is there, but {UNFINISHED} stays: {why}"))),
        (Err(error), Err(why)) => Err(Error(format!("{error}; and {} stays: {why}", clean.join(" and ")))),
    }
}

/// `is_made`: the wanted database exists, and is ours.
fn bring_to(of: &Move<'_>, what: &What, is_made: &mut bool) -> Result<String> {
    let (mut from, mut to) = (of.source.connect()?, of.target.connect()?);
    let database = what.database();
    let query = format!(
        "SELECT default_character_set_name, default_collation_name FROM information_schema.schemata WHERE schema_name = {}",
        text(database)
    );
    let Some((set, collation)) = of.source.rows::<(String, String)>(&mut from, &query)?.into_iter().next() else {
        return Err(Error(format!("the backup has no database {database} at that moment")));
    };
    let make = |name: &str| format!("CREATE DATABASE {} CHARACTER SET {set} COLLATE {collation}", quoted(name));
    let tables = wanted(of, &mut from, what)?;
    let mut notes = Vec::new();
    if let What::Table { from: name, into } = what {
        leave_out(&of.source, &mut from, name, into, &mut notes)?;
    }
    of.target.run(&mut to, &format!("DROP DATABASE IF EXISTS {UNFINISHED}"))?;
    of.target.run(&mut to, &make(UNFINISHED))?;
    for table in &tables {
        let create = definitions::table_text(&of.source, &mut from, table)?;
        of.target.run(&mut to, &format!("USE {UNFINISHED}"))?;
        of.target.run(&mut to, &create)?;
    }
    let mut journal = Journal::new(&of.flags.journal, String::new(), String::new());
    journal.tables = tables.iter().map(|table| copy::slices(of, table)).collect::<Result<_>>()?;
    journal.phase = Phase::Copying;
    copy::run(of, &mut journal, &tables)?;
    let compared =
        if of.flags.no_verify { "rows were not compared\n".to_owned() } else { verify::run_over(of, &tables)?.outcome()? };
    of.check_stop()?;
    if let What::Database { into, .. } = what {
        of.target.run(&mut to, &make(into))?;
        *is_made = true;
    }
    rename(of, &mut to, what, &tables)?;
    if let What::Database { name, into } = what {
        make_programs(of, &mut from, &mut to, name, into, &mut notes)?;
    }
    let rows: u64 = journal.tables.iter().flat_map(|table| &table.slices).map(|slice| slice.rows).sum();
    let brought = match what {
        What::Database { name, into } => format!("database {name} is at {} as {into}", of.target.name()),
        What::Table { from, into } => format!("table {from} is at {} as {into}", of.target.name()),
    };
    let mut told = format!("{brought}: {} tables, {} rows\n{compared}", tables.len(), count(rows));
    notes.iter().for_each(|note| told.push_str(&format!("{note}\n")));
    Ok(told)
}

/// The tables that are brought, with their place at the target.
fn wanted(of: &Move<'_>, from: &mut Conn, what: &What) -> Result<Vec<Table>> {
    let all = tables::read(&of.source)?;
    let is_wanted = |table: &Table| match what {
        What::Database { name, .. } => table.database == *name,
        What::Table { from, .. } => table.database == from.database && table.name == from.table,
    };
    let tables: Vec<Table> =
        all.into_iter().filter(is_wanted).map(|table| Table { database_there: UNFINISHED.to_owned(), ..table }).collect();
    if let (What::Table { from: name, .. }, true) = (what, tables.is_empty()) {
        let query = format!("SELECT table_name FROM information_schema.tables WHERE table_schema = {}", text(&name.database));
        let names: Vec<String> = of.source.rows(from, &query)?;
        let is_view = names.contains(&name.table);
        let what = if is_view { "is no table with rows of its own" } else { "is not in the backup at that moment" };
        return Err(Error(format!("{name} {what}")));
    }
    Ok(tables)
}

/// Takes the foreign keys off a table of the restored server, and tells of them and of its triggers.
fn leave_out(source: &End, conn: &mut Conn, name: &Name, into: &Name, notes: &mut Vec<String>) -> Result<()> {
    let place = |schema: &str, table: &str| format!("{schema} = {} AND {table} = {}", text(&name.database), text(&name.table));
    let query = format!(
        "SELECT constraint_name FROM information_schema.table_constraints WHERE {} AND constraint_type = 'FOREIGN KEY' ORDER BY 1",
        place("table_schema", "table_name")
    );
    let table = format!("{}.{}", quoted(&name.database), quoted(&name.table));
    for key in source.rows::<String>(conn, &query)? {
        source.run(conn, &format!("ALTER TABLE {table} DROP FOREIGN KEY {}", quoted(&key)))?;
        notes.push(format!("{into} has no foreign key {key}: its rows may contradict those of the present"));
    }
    let query = format!(
        "SELECT trigger_name FROM information_schema.triggers WHERE {} ORDER BY 1",
        place("event_object_schema", "event_object_table")
    );
    for trigger in source.rows::<String>(conn, &query)? {
        notes.push(format!("{into} has no trigger {trigger}"));
    }
    Ok(())
}

/// Step 2.
fn rename(of: &Move<'_>, to: &mut Conn, what: &What, tables: &[Table]) -> Result<()> {
    let new = |table: &Table| match what {
        What::Database { into, .. } => format!("{}.{}", quoted(into), quoted(&table.name)),
        What::Table { into, .. } => format!("{}.{}", quoted(&into.database), quoted(&into.table)),
    };
    if tables.is_empty() {
        return Ok(());
    }
    let renames: Vec<String> = tables.iter().map(|table| format!("{} TO {}", table.quoted_there(), new(table))).collect();
    of.target.run(to, &format!("RENAME TABLE {}", renames.join(", ")))
}

/// Step 3. Their texts name other tables as they did; those without a database mean the new one.
fn make_programs(of: &Move<'_>, from: &mut Conn, to: &mut Conn, name: &str, into: &str, notes: &mut Vec<String>) -> Result<()> {
    let (source, target) = (&of.source, &of.target);
    let which = Databases::One { name: name.to_owned(), there: into.to_owned() };
    definitions::routines(source, from, target, to, &which)?;
    definitions::views(source, from, target, to, &which)?;
    // The text of SHOW CREATE TRIGGER may name the table with its old database, so each is put together anew.
    let query = format!(
        "SELECT trigger_name, definer, action_timing, event_manipulation, event_object_table, action_statement \
         FROM information_schema.triggers WHERE trigger_schema = {} ORDER BY event_object_table, action_timing, event_manipulation, action_order",
        text(name)
    );
    type Trigger = (String, String, String, String, String, String);
    for (trigger, definer, timing, event, table, body) in source.rows::<Trigger>(from, &query)? {
        let row = definitions::show(source, from, "TRIGGER", name, &trigger)?;
        let (user, host) = definer.rsplit_once('@').unwrap_or((&definer, "%"));
        let create = format!(
            "CREATE DEFINER = {}@{} TRIGGER {} {timing} {event} ON {} FOR EACH ROW {body}",
            text(user),
            text(host),
            quoted(&trigger),
            quoted(&table)
        );
        let drop = format!("DROP TRIGGER IF EXISTS {}", quoted(&trigger));
        definitions::make_program(target, to, into, &drop, &create, &row)?;
    }
    let running = definitions::events(source, from, target, to, &which, "DISABLE")?;
    notes.extend(running.iter().map(|(_, event)| format!("event {into}.{event} does not run: ALTER EVENT ... ENABLE")));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Name;

    #[test]
    fn names_of_tables() {
        let name = |text: &str| Name::parse(text).map(|name| (name.database, name.table));
        let ok = |database: &str, table: &str| Ok((database.to_owned(), table.to_owned()));
        assert_eq!(name("shop.orders"), ok("shop", "orders"));
        assert_eq!(name("`a.b`.`c.d`"), ok("a.b", "c.d"));
        assert_eq!(name("`a.b`.c"), ok("a.b", "c"));
        for wrong in ["shop", "shop.", ".orders", "a.b.c", "`a.b", "`a`b.c", ""] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
    }
}
