//! Statements of a dump on the tables of `mysql`.
//!
//! The server creates these tables itself. So that a dump of all databases can be restored, DROP TABLE, CREATE TABLE,
//! LOCK TABLES and ALTER TABLE ... KEYS leave them unchanged. Rows for the tables about accounts become accounts
//! (`accounts::restore`); rows for other tables are dropped with a warning that names the table. The statements need
//! the same privileges as in MySQL.

use super::{Recipient, State};
use crate::error::{Error, Result};
use crate::session::Answer;
use crate::text_log::Log;
use accounts::privilege::Privileges;
use accounts::restore::{self, GrantRow, GrantTable};
use conditions::Condition;
use expr::Level;
use sql::ast::{AlterAction, Expr, Insert, InsertSource, Literal, LockTable, ObjectName, Statement};
use std::sync::Arc;

/// MySQL's tables in `mysql` that a dump may contain, except those about accounts.
#[rustfmt::skip]
const OTHERS: &[&str] = &[
    "component", "engine_cost", "func", "general_log", "gtid_executed", "help_category", "help_keyword", "help_relation", "help_topic",
    "innodb_index_stats", "innodb_table_stats", "ndb_binlog_index", "plugin", "replication_asynchronous_connection_failover",
    "replication_asynchronous_connection_failover_managed", "replication_group_configuration_version",
    "replication_group_member_actions", "server_cost", "servers", "slave_master_info", "slave_relay_log_info", "slave_worker_info",
    "slow_log", "time_zone", "time_zone_leap_second", "time_zone_name", "time_zone_transition", "time_zone_transition_type",
];

/// A table of `mysql` in a statement of a dump.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Grants(GrantTable),
    Other,
}

fn known(name: &str) -> Option<Known> {
    let lower = name.to_ascii_lowercase();
    let other = || OTHERS.contains(&lower.as_str()).then_some(Known::Other);
    GrantTable::named(&lower).map(Known::Grants).or_else(other)
}

impl State<'_> {
    fn system_table(&self, name: &ObjectName<'_>) -> Option<Known> {
        let database = name.database.or(self.execution.vars.database.as_deref())?;
        match () {
            () if database.eq_ignore_ascii_case("mysql") => known(name.name),
            () if database.eq_ignore_ascii_case("sys") && name.name.eq_ignore_ascii_case("sys_config") => Some(Known::Other),
            () => None,
        }
    }

    /// Is it an INSERT of a dump into a table of `mysql`?
    pub fn inserts_into_system_table(&self, statement: &Statement<'_>) -> bool {
        let Statement::Insert(insert) = statement else { return false };
        matches!(insert.source, InsertSource::Values(_)) && self.system_table(&insert.table).is_some()
    }

    /// Runs a definition of a dump that concerns only tables of `mysql`; `false`: it is another statement.
    pub async fn restore_definition(&mut self, statement: &Statement<'_>) -> Result<bool> {
        match statement {
            Statement::CreateDatabase(create)
                if create.if_not_exists && ["mysql", "sys"].contains(&create.name.to_ascii_lowercase().as_str()) =>
            {
                self.warn(Level::Note, Condition::DbCreateExists { database: create.name.into() });
            }
            _ if let Some(name) = self.defines_in_sys(statement) => {
                self.warn(Level::Warning, Condition::SysObjectKept { name: name.into() });
            }
            Statement::DropTable { names, temporary: false, if_exists: true }
                if names.iter().all(|name| self.system_table(name).is_some()) =>
            {
                for name in *names {
                    if let Some(Known::Grants(table)) = self.system_table(name) {
                        self.worker.shared.accounts.staged.lock().drop_table(table);
                    }
                    self.note_kept(name);
                }
            }
            Statement::CreateTable(create) if !create.temporary && create.query.is_none() && create.like.is_none() => {
                match self.system_table(&create.name) {
                    None => return Ok(false),
                    Some(Known::Other) => {}
                    Some(Known::Grants(table)) => {
                        let columns = create.columns.iter().map(|column| column.name.to_owned()).collect();
                        self.worker.shared.accounts.staged.lock().create_table(table, columns);
                    }
                }
                self.note_kept(&create.name);
            }
            Statement::AlterTable(alter)
                if self.system_table(&alter.table).is_some()
                    && !alter.actions.is_empty()
                    && alter.actions.iter().all(|action| matches!(action, AlterAction::Keys { .. })) => {}
            Statement::LockTables(locks) if locks.iter().any(|lock| self.system_table(&lock.name).is_some()) => {
                let others: Vec<LockTable<'_>> =
                    locks.iter().filter(|lock| self.system_table(&lock.name).is_none()).copied().collect();
                if others.is_empty() { self.unlock_tables().await? } else { Box::pin(self.lock_tables(&others)).await? }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Definitions in `sys`, which some programs dump: the server has its own.
    fn defines_in_sys<'s>(&self, statement: &Statement<'s>) -> Option<&'s str> {
        let name = match *statement {
            Statement::CreateTable(create) if !create.temporary => create.name,
            Statement::CreateView(create) => create.name,
            Statement::CreateRoutine(create) => create.name,
            Statement::CreateTrigger(create) => create.name,
            Statement::DropRoutine { name, if_exists: true, .. } | Statement::DropTrigger { name, if_exists: true } => name,
            Statement::DropView { names: &[name], if_exists: true } => name,
            Statement::DropTable { names: &[name], if_exists: true, temporary: false } => name,
            _ => return None,
        };
        let database = name.database.or(self.execution.vars.database.as_deref())?;
        database.eq_ignore_ascii_case("sys").then_some(name.name)
    }

    fn note_kept(&self, name: &ObjectName<'_>) {
        self.warn(Level::Note, Condition::SystemTableKept { table: self.full_name(name).into() });
    }

    fn full_name(&self, name: &ObjectName<'_>) -> String {
        format!("{}.{}", name.database.or(self.execution.vars.database.as_deref()).unwrap_or_default(), name.name)
    }

    /// INSERT and REPLACE of a dump.
    pub async fn restore_rows(&mut self, client: &mut Recipient<'_>, statement: &Statement<'_>) -> Result<()> {
        self.begin_other(statement).await?;
        let Statement::Insert(insert) = statement else { return Ok(()) };
        let InsertSource::Values(rows) = insert.source else { return Ok(()) };
        let wanted = if insert.replace { Privileges::INSERT.with(Privileges::DELETE) } else { Privileges::INSERT };
        self.of_table(&insert.table, wanted)?;
        let _share = self.enter_definition(statement).await?;
        match self.system_table(&insert.table) {
            Some(Known::Grants(table)) => self.restore_grants(insert, table, rows).await?,
            _ => {
                self.warn(
                    Level::Warning,
                    Condition::SystemTableRowsLeftOut { rows: rows.len().into(), table: self.full_name(&insert.table).into() },
                );
            }
        }
        self.execution.vars.row_count = rows.len() as i64;
        self.session.measured.affected += rows.len() as u64;
        self.write_ok(client, &Answer { affected: rows.len() as u64, ..Answer::default() });
        Ok(())
    }

    async fn restore_grants(&mut self, insert: &Insert<'_>, table: GrantTable, rows: &[&[Expr<'_>]]) -> Result<()> {
        let rows = self.grant_rows(insert, table, rows)?;
        let zone = self.execution.vars.time_zone.clone();
        let store = Arc::clone(&self.worker.shared.accounts);
        let names = restore::named(table, &rows);
        self.session.access.guard(&store.snapshot(), &names)?;
        if table != GrantTable::Users {
            return store.staged.lock().add(table, &rows, &zone).map_err(Error::from);
        }
        let replaces = insert.replace;
        let notes = crate::account::change(self, move |accounts| {
            store.staged.lock().make(accounts, &rows, replaces, &zone).map_err(Error::from)
        });
        for condition in notes.await? {
            self.warn(Level::Warning, condition);
        }
        let store = &self.worker.shared.accounts;
        store.staged.lock().forget(&names);
        names.iter().for_each(|name| store.logins.forget(name));
        Ok(())
    }

    /// The rows with the names of their columns: those of the statement, of the dump's table, or of this server's
    /// table.
    fn grant_rows(&self, insert: &Insert<'_>, table: GrantTable, rows: &[&[Expr<'_>]]) -> Result<Vec<GrantRow>> {
        let schema = self.schema();
        let own = schema.table("mysql", &insert.table.name.to_ascii_lowercase()).map_or(&[][..], |def| &def.columns);
        let of_dump = self.worker.shared.accounts.staged.lock().columns(table).map(<[String]>::to_vec);
        let columns: Vec<String> = match insert.columns {
            Some(named) => named.iter().map(|column| column.name.to_owned()).collect(),
            None => of_dump.unwrap_or_else(|| own.iter().map(|column| column.name.clone()).collect()),
        };
        if insert.columns.is_some() {
            let is_own = |name: &&String| own.iter().any(|column| column.name.eq_ignore_ascii_case(name));
            if let Some(unknown) = columns.iter().find(|name| !is_own(name)) {
                return Err(Error::from(Condition::BadFieldError { column: unknown.into(), clause: "field list".into() }));
            }
        }
        let mut out = Vec::with_capacity(rows.len());
        for (position, row) in rows.iter().enumerate() {
            if row.len() != columns.len() {
                return Err(Error::Sql(sql::Error::ColumnCount { row: position + 1 }));
            }
            let cell = |(name, expr): (&String, &Expr<'_>)| {
                Ok((name.to_ascii_lowercase(), (name.clone(), constant(insert.table.name, expr)?)))
            };
            let cells = columns.iter().zip(*row).map(cell).collect::<Result<_>>()?;
            out.push(GrantRow { cells, number: position + 1 });
        }
        Ok(out)
    }

    /// COM_REFRESH
    pub async fn refresh_all(&mut self, client: &mut Recipient<'_>) -> Result<()> {
        self.check_reload()?;
        self.flush_privileges().await?;
        self.reopen_logs(&Log::ALL).await?;
        self.write_ok(client, &Answer::default());
        Ok(())
    }

    /// FLUSH PRIVILEGES: applies a dump's grants to accounts that the dump did not contain.
    pub async fn flush_privileges(&mut self) -> Result<()> {
        let store = Arc::clone(&self.worker.shared.accounts);
        if store.staged.lock().is_empty() {
            return Ok(());
        }
        let notes = crate::account::change(self, move |accounts| {
            let mut staged = store.staged.lock();
            let notes = staged.flush(accounts);
            *staged = Default::default();
            Ok(notes)
        });
        for condition in notes.await? {
            self.warn(Level::Warning, condition);
        }
        Ok(())
    }
}

/// A constant as text. A dump contains only constants.
fn constant(table: &str, expr: &Expr<'_>) -> Result<Option<String>> {
    let not_utf8 = || Error::from(Condition::SystemTableWrongString { table: table.into() });
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).map_err(|_| not_utf8());
    match expr {
        Expr::Literal(Literal::Null) => Ok(None),
        Expr::Literal(Literal::Bool(is)) => Ok(Some(u8::from(*is).to_string())),
        Expr::Literal(Literal::Int(number)) => Ok(Some(number.to_string())),
        Expr::Literal(Literal::String(literal)) => text(literal.bytes).map(Some),
        Expr::Literal(Literal::Bits(bytes)) => text(bytes).map(Some),
        _ => Err(Error::NotSupported(format!("INSERT of anything but constants into mysql.{table}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_of_mysql_is_known() {
        for name in crate::show::virtual_tables_of("mysql") {
            assert!(known(name).is_some(), "{name}");
        }
    }
}
