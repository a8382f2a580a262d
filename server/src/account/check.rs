//! The privileges that each statement needs, checked before it does anything. Statements on rows check theirs while
//! they are bound (`needs`).
//!
//! The match over statements has no catch-all arm, on purpose: a new statement must state its privileges.

use super::needs::is_free;
use crate::error::{Error, Result};
use crate::session::State;
use accounts::Access;
use accounts::model::Name;
use accounts::privilege::Privileges;
use accounts::special;
use conditions::Condition;
use expr::Level;
use sql::ast::{
    Advice, AlterAction, AlterTable, BinaryLogChange, CreateTable, ForeignKey, Maintenance, ObjectName, PartitionAction,
    ReplicaChange, ReplicaStatement, SetItem, Show, Statement, TableOptions, VariableScope, ViewForm,
};
use sql::plan::Action;
use sql::routine::Field;
use types::schema::TableDef;

impl State<'_> {
    /// Refuses a statement for which the account lacks a privilege.
    pub fn check_statement(&self, statement: &Statement<'_>) -> Result<()> {
        let access = &*self.session.access;
        if access.expired && !may_follow_expiry(statement) {
            return access.refuse_expired().map_err(Error::from);
        }
        let database = |name: &str, wanted| of_database(access, name, wanted);
        let table = |name: &ObjectName<'_>, wanted| self.of_table(name, wanted);
        match statement {
            Statement::CreateDatabase(create) => database(create.name, Privileges::CREATE),
            Statement::AlterDatabase { name, .. } => {
                let name = name.or(self.execution.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
                database(name, Privileges::ALTER)
            }
            Statement::DropDatabase { name, .. } => database(name, Privileges::DROP),
            Statement::CreateTable(create) => self.check_create_table(create),
            Statement::DropTable { temporary: true, .. } => Ok(()),
            Statement::DropTable { names, .. } => names.iter().try_for_each(|name| self.of_table_or_own(name, Privileges::DROP)),
            Statement::DropView { names, .. } => names.iter().try_for_each(|name| {
                table(name, Privileges::DROP)?;
                self.view_definer(name)?.map_or(Ok(()), |definer| self.guard_definer(&definer))
            }),
            Statement::Truncate { table: name } => self.of_table_or_own(name, Privileges::DROP),
            Statement::CreateView(create) => {
                table(&create.name, Privileges::CREATE_VIEW)?;
                if matches!(create.form, ViewForm::OrReplace | ViewForm::Alter) {
                    table(&create.name, Privileges::DROP)?;
                }
                let named = create.definer.map(|(user, host)| Name::new(user, host));
                let kept = if create.form == ViewForm::Alter { self.view_definer(&create.name)? } else { None };
                self.check_definer(named.or(kept))
            }
            Statement::CreateRoutine(create) => {
                database(self.database_of(&create.name)?, Privileges::CREATE_ROUTINE)?;
                self.check_definer(create.definer.map(|(user, host)| Name::new(user, host)))
            }
            Statement::AlterRoutine { function, name, .. } | Statement::DropRoutine { function, name, .. } => {
                let database = self.database_of(name)?;
                self.check_routine(database, name.name, *function, Privileges::ALTER_ROUTINE)?;
                let schema = self.schema();
                let definer = schema.routine(*function, database, name.name).map(|def| Name::from_plain(&def.definer));
                definer.map_or(Ok(()), |definer| self.guard_definer(&definer))
            }
            Statement::CreateTrigger(create) => {
                table(&create.table, Privileges::TRIGGER)?;
                self.check_definer(create.definer.map(|(user, host)| Name::new(user, host)))
            }
            Statement::DropTrigger { name, .. } => match self.schema().trigger(self.database_of(name)?, name.name) {
                Some((on, _)) => table(&ObjectName { database: name.database, name: &on.name }, Privileges::TRIGGER),
                None => Ok(()),
            },
            Statement::CreateEvent(create) => {
                let of = self.database_of(&create.name)?;
                self.check_definer(create.definer.map(|(user, host)| Name::new(user, host)))?;
                database(of, Privileges::EVENT)
            }
            Statement::AlterEvent(alter) => {
                let of = self.database_of(&alter.name)?;
                self.check_definer(alter.definer.map(|(user, host)| Name::new(user, host)))?;
                database(of, Privileges::EVENT)?;
                if let Some(name) = &alter.rename {
                    database(self.database_of(name)?, Privileges::EVENT)?;
                }
                self.guard_event(&alter.name)
            }
            Statement::DropEvent { name, .. } => {
                database(self.database_of(name)?, Privileges::EVENT)?;
                self.guard_event(name)
            }
            Statement::CreateIndex(create) => self.of_table_or_own(&create.table, Privileges::INDEX),
            Statement::DropIndex { table: name, .. } => self.of_table_or_own(name, Privileges::INDEX),
            Statement::AlterTable(alter) => self.check_alter_table(alter),
            Statement::RenameTable { pairs } => pairs.iter().try_for_each(|(old, new)| {
                table(old, Privileges::ALTER.with(Privileges::DROP))?;
                table(new, Privileges::CREATE.with(Privileges::INSERT))
            }),
            Statement::Set(items) => items.iter().try_for_each(|item| check_set(access, item)),
            Statement::Use(name) => self.check_use(name),
            Statement::Show(what) => self.check_show(what),
            Statement::Describe { table: name, .. } => self.sees_table(name),
            Statement::Flush { what, tables, read_lock, export } => {
                what.split(',').try_for_each(|what| check_flush(access, what.trim()))?;
                match *what {
                    "TABLES" if *read_lock || *export => tables.iter().try_for_each(|name| {
                        database(self.database_of(name)?, Privileges::LOCK_TABLES)?;
                        self.reads_some(name, Privileges::SELECT)
                    }),
                    "TABLES" => Ok(()),
                    _ => tables.iter().try_for_each(|name| self.sees_table(name)),
                }
            }
            Statement::TableMaintenance { kind, tables, .. } => tables.iter().try_for_each(|name| {
                self.reads_some(name, Privileges::SELECT)?;
                match kind {
                    Maintenance::Check | Maintenance::Checksum => Ok(()),
                    _ => self.reads_some(name, Privileges::INSERT),
                }
            }),
            Statement::LockTables(tables) => tables.iter().try_for_each(|lock| {
                database(self.database_of(&lock.name)?, Privileges::LOCK_TABLES)?;
                self.reads_some(&lock.name, Privileges::SELECT)
            }),
            Statement::LockInstance { .. } | Statement::BackupServer(_) | Statement::CloneLocal { .. } => {
                if access.has_dynamic("BACKUP_ADMIN") { Ok(()) } else { Err(special("BACKUP_ADMIN").into()) }
            }
            Statement::Shutdown => self.check_shutdown(),
            Statement::BinaryLog(BinaryLogChange::Reset(_)) => {
                if access.has(Privileges::RELOAD) {
                    Ok(())
                } else {
                    Err(special("RELOAD").into())
                }
            }
            Statement::Replica(ReplicaStatement { change: ReplicaChange::Reset { .. }, .. }) => {
                if access.has(Privileges::RELOAD) { Ok(()) } else { Err(special("RELOAD").into()) }
            }
            Statement::Replica(_) => {
                let may = access.has(Privileges::SUPER) || access.has_dynamic("REPLICATION_SLAVE_ADMIN");
                if may { Ok(()) } else { Err(special("SUPER or REPLICATION_SLAVE_ADMIN").into()) }
            }
            Statement::BinaryLog(_) => {
                let may = access.has(Privileges::SUPER) || access.has_dynamic("BINLOG_ADMIN");
                if may { Ok(()) } else { Err(special("SUPER or BINLOG_ADMIN").into()) }
            }
            Statement::LoadData(load) if !load.local && !access.has(Privileges::FILE) => {
                self.database_of(&load.table)?;
                Err(access.access_denied().into())
            }
            Statement::Advice(Advice::For { .. }) => Ok(()),
            Statement::ExplainConnection { .. } | Statement::Advice(_) => process(access),
            // Checked later, when the affected objects are known.
            Statement::Account(_) | Statement::Kill { .. } | Statement::Call(_) | Statement::ResetPersist { .. } => Ok(()),
            // Checked while they are bound.
            Statement::Query(_)
            | Statement::Insert(_)
            | Statement::Update(_)
            | Statement::Delete(_)
            | Statement::LoadData(_)
            | Statement::Explain { .. }
            | Statement::Do(_)
            | Statement::Prepare { .. }
            | Statement::Execute { .. } => Ok(()),
            // Free for everybody.
            Statement::Empty
            | Statement::Condition(_)
            | Statement::Unsupported { .. }
            | Statement::Begin { .. }
            | Statement::Commit(_)
            | Statement::Rollback(_)
            | Statement::Savepoint(_)
            | Statement::RollbackTo(_)
            | Statement::ReleaseSavepoint(_)
            | Statement::UnlockTables
            // XA RECOVER has an error of its own.
            | Statement::Xa(_)
            | Statement::Deallocate { .. }
            | Statement::Help(_) => Ok(()),
        }
    }

    fn database_of<'n>(&'n self, name: &ObjectName<'n>) -> Result<&'n str> {
        name.database.or(self.execution.vars.database.as_deref()).ok_or(Error::NoDatabase)
    }

    /// 1142 if a privilege is missing.
    pub fn of_table(&self, name: &ObjectName<'_>, wanted: Privileges) -> Result<()> {
        let database = self.database_of(name)?;
        if is_free(database, name.name, Action::Insert) {
            return Ok(());
        }
        let (whole, _) = self.session.access.table(database, name.name);
        if whole.has(wanted) { Ok(()) } else { Err(self.session.access.table_denied(wanted.without(whole), name.name).into()) }
    }

    /// Like [`Self::of_table`], if a temporary table of the session hides the other one.
    fn of_table_or_own(&self, name: &ObjectName<'_>, wanted: Privileges) -> Result<()> {
        match self.temporary_table(self.database_of(name)?, name.name) {
            Some(_) => Ok(()),
            None => self.of_table(name, wanted),
        }
    }

    /// Checks the TRIGGER privilege on a table, 1142.
    pub fn check_triggers_of(&self, table: &TableDef) -> Result<()> {
        self.of_table(&ObjectName { database: Some(&table.database), name: &table.name }, Privileges::TRIGGER)
    }

    /// Checks that a trigger may read and change the columns of its rows that it names, 1143.
    pub fn check_trigger_fields(&self, table: &TableDef, fields: &[Field], columns: &[usize]) -> Result<()> {
        let access = &self.session.access;
        let (whole, _) = access.table(&table.database, &table.name);
        if whole.has(Privileges::SELECT.with(Privileges::UPDATE)) {
            return Ok(());
        }
        for (field, column) in fields.iter().zip(columns) {
            let column = &*table.columns[*column].name;
            let own = || access.column(&table.database, &table.name, column);
            for (is_needed, wanted) in [(field.reads > 0, Privileges::SELECT), (field.assigned, Privileges::UPDATE)] {
                if is_needed && !whole.has(wanted) && !own().has(wanted) {
                    return Err(access.column_denied(wanted, column, &table.name).into());
                }
            }
        }
        Ok(())
    }

    /// 1370, whether or not the routine exists.
    pub fn check_routine(&self, database: &str, name: &str, function: bool, wanted: Privileges) -> Result<()> {
        let command = if wanted == Privileges::EXECUTE { "execute" } else { "alter routine" };
        if self.session.access.routine(database, name, function).has(wanted) {
            Ok(())
        } else {
            Err(self.session.access.routine_denied(command, database, name).into())
        }
    }

    /// Of the table or of some of its columns.
    fn reads_some(&self, name: &ObjectName<'_>, wanted: Privileges) -> Result<()> {
        let database = self.database_of(name)?;
        if is_free(database, name.name, Action::Select) || self.temporary_table(database, name.name).is_some() {
            return Ok(());
        }
        let (_, some) = self.session.access.table(database, name.name);
        if some.has(wanted) { Ok(()) } else { Err(self.session.access.table_denied(wanted, name.name).into()) }
    }

    /// SHOW COLUMNS and the like: SELECT, or any privilege on the table. An account that may use the database learns
    /// that a table is missing.
    pub fn sees_table(&self, name: &ObjectName<'_>) -> Result<()> {
        let database = self.database_of(name)?;
        let is_missing = || self.session.access.enters_database(database) && self.schema().table(database, name.name).is_none();
        let is_own = || self.temporary_table(database, name.name).is_some();
        if self.session.access.shows_columns(database, name.name) || is_own() || is_missing() {
            Ok(())
        } else {
            Err(self.session.access.table_denied(Privileges::SELECT, name.name).into())
        }
    }

    /// Another definer than oneself.
    fn check_definer(&self, definer: Option<Name>) -> Result<()> {
        let Some(definer) = definer.filter(|name| *name != self.session.access.name) else { return Ok(()) };
        self.session.access.needs_admin("SET_ANY_DEFINER", "SUPER or SET_ANY_DEFINER")?;
        match self.worker.definer(&definer) {
            None => self
                .session
                .access
                .needs_admin("ALLOW_NONEXISTENT_DEFINER", "SUPER or ALLOW_NONEXISTENT_DEFINER")
                .map_err(Error::from),
            Some(_) => self.guard_definer(&definer),
        }
    }

    /// An object whose definer has SYSTEM_USER can only be changed by an account that has it too.
    fn guard_definer(&self, definer: &Name) -> Result<()> {
        let is_guarded = || self.worker.definer(definer).is_some_and(|definer| definer.has_dynamic("SYSTEM_USER"));
        if !self.session.access.has_dynamic("SYSTEM_USER") && is_guarded() { Err(special("SYSTEM_USER").into()) } else { Ok(()) }
    }

    fn guard_event(&self, name: &ObjectName<'_>) -> Result<()> {
        let schema = self.schema();
        let event = schema.event(self.database_of(name)?, name.name);
        event.map_or(Ok(()), |event| self.guard_definer(&Name::from_plain(&event.program.definer)))
    }

    fn view_definer(&self, name: &ObjectName<'_>) -> Result<Option<Name>> {
        let schema = self.schema();
        let view = schema.table(self.database_of(name)?, name.name).and_then(|def| def.view.as_ref());
        Ok(view.map(|view| Name::new(&view.definer_user, &view.definer_host)))
    }

    /// A definer that is not there is worth a note (1449).
    pub fn note_missing_definer(&self, definer: &Name) {
        if self.worker.definer(definer).is_none() {
            self.warn(Level::Note, Condition::NoSuchUser { user: (&definer.user).into(), host: (&definer.host).into() });
        }
    }

    pub fn check_shutdown(&self) -> Result<()> {
        if self.session.access.has(Privileges::SHUTDOWN) { Ok(()) } else { Err(special("SHUTDOWN").into()) }
    }

    pub fn check_reload(&self) -> Result<()> {
        check_flush(&self.session.access, "")
    }

    /// 1044, whether or not the database exists.
    pub fn check_use(&self, name: &str) -> Result<()> {
        if self.session.access.enters_database(name) { Ok(()) } else { Err(self.session.access.database_denied(name).into()) }
    }

    fn check_create_table(&self, create: &CreateTable<'_>) -> Result<()> {
        if create.temporary {
            of_database(&self.session.access, self.database_of(&create.name)?, Privileges::CREATE_TEMPORARY)?;
        } else {
            let rows = if create.query.is_some() { Privileges::INSERT } else { Privileges::NONE };
            self.of_table(&create.name, Privileges::CREATE.with(rows))?;
        }
        if let Some(like) = &create.like {
            self.of_table_or_own(like, Privileges::SELECT)?;
        }
        create.foreign_keys.iter().try_for_each(|key| self.check_parent(&create.name, key))
    }

    /// A foreign key needs REFERENCES on its parent, or on the columns that it names there.
    fn check_parent(&self, child: &ObjectName<'_>, key: &ForeignKey<'_>) -> Result<()> {
        let parent = key.references.table;
        let parent = ObjectName { database: Some(parent.database.map_or_else(|| self.database_of(child), Ok)?), ..parent };
        let database = self.database_of(&parent)?;
        let column = |column: &&str| self.session.access.column(database, parent.name, column).has(Privileges::REFERENCES);
        let whole = self.of_table(&parent, Privileges::REFERENCES);
        if whole.is_err() && !key.references.columns.is_empty() && key.references.columns.iter().all(column) {
            return Ok(());
        }
        whole
            .map_err(|_| self.session.access.table_denied(Privileges::REFERENCES, &format!("{database}.{}", parent.name)))
            .map_err(Error::from)
    }

    fn check_alter_table(&self, alter: &AlterTable<'_>) -> Result<()> {
        if self.temporary_table(self.database_of(&alter.table)?, alter.table.name).is_some() {
            return Ok(());
        }
        let mut wanted = Privileges::ALTER;
        for action in alter.actions {
            match action {
                AlterAction::Partition(PartitionAction::Drop(_)) => wanted = wanted.with(Privileges::DROP),
                // Alone it is the same as TRUNCATE TABLE.
                AlterAction::Partition(PartitionAction::Truncate(_)) => {
                    let is_alone = alter.actions.len() == 1 && alter.options == TableOptions::default();
                    wanted = if is_alone { Privileges::DROP } else { wanted.with(Privileges::DROP) };
                }
                AlterAction::Partition(PartitionAction::Exchange { table, .. }) => {
                    wanted = wanted.with(Privileges::DROP).with(Privileges::INSERT).with(Privileges::CREATE);
                    self.of_table(&alter.table, wanted)?;
                    self.of_table(table, wanted)?;
                }
                _ => {}
            }
            if let AlterAction::RenameTable(new) = action {
                wanted = wanted.with(Privileges::DROP);
                self.of_table(&alter.table, wanted)?;
                let database = new.database.map_or_else(|| self.database_of(&alter.table), Ok)?;
                let new = ObjectName { database: Some(database), ..*new };
                self.of_table(&new, Privileges::CREATE.with(Privileges::INSERT))?;
            }
        }
        self.of_table(&alter.table, wanted)?;
        for action in alter.actions {
            if let AlterAction::AddForeignKey(key) = action {
                self.check_parent(&alter.table, key)?;
            }
        }
        Ok(())
    }

    fn check_show(&self, what: &Show<'_>) -> Result<()> {
        let access = &*self.session.access;
        match what {
            Show::Tables { database, .. } | Show::TableStatus { database, .. } | Show::Triggers { database, .. } => {
                match database.or(self.execution.vars.database.as_deref()) {
                    Some(database) => self.check_use(database),
                    None => Ok(()),
                }
            }
            Show::Events { database, .. } => match database.or(self.execution.vars.database.as_deref()) {
                Some(database) => of_database(access, database, Privileges::EVENT),
                None => Ok(()),
            },
            Show::CreateOther { kind: "EVENT", name } => of_database(access, self.database_of(name)?, Privileges::EVENT),
            Show::Columns { table, .. } | Show::Index { table, .. } => self.sees_table(table),
            Show::CreateTable(name) => {
                let database = self.database_of(name)?;
                if is_free(database, name.name, Action::Select) || self.temporary_table(database, name.name).is_some() {
                    return Ok(());
                }
                let (whole, _) = access.table(database, name.name);
                if !whole.has_any(Privileges::TABLE.without(Privileges::GRANT)) {
                    return Err(access.command_denied("SHOW", name.name).into());
                }
                match self.schema().table(database, name.name) {
                    Some(def) if def.view.is_some() => self.of_table(name, Privileges::SHOW_VIEW),
                    _ => Ok(()),
                }
            }
            Show::CreateDatabase { name, .. } => {
                if access.enters_database(name) {
                    Ok(())
                } else {
                    let (user, host) = (access.user.clone(), access.host.clone());
                    Err(Error::DatabaseAccessDenied { user, host, database: (*name).to_owned() })
                }
            }
            Show::CreateOther { kind: "VIEW", name } => {
                self.of_table(name, Privileges::SELECT)?;
                self.of_table(name, Privileges::SHOW_VIEW)
            }
            // One that the account may not know of is not there.
            Show::CreateOther { kind: "PROCEDURE" | "FUNCTION", .. } => Ok(()),
            Show::CreateOther { kind: "TRIGGER", name } => match self.schema().trigger(self.database_of(name)?, name.name) {
                Some((on, _)) if !access.table(&on.database, &on.name).0.has(Privileges::TRIGGER) => {
                    Err(special("TRIGGER").into())
                }
                _ => Ok(()),
            },
            Show::CreateOther { name, .. } => self.sees_table(name),
            Show::LogEvents(_) if access.has(Privileges::REPLICATION_SLAVE) => Ok(()),
            Show::LogEvents(_) => Err(special("REPLICATION SLAVE").into()),
            Show::EngineStatus { .. } | Show::ServerProfile { .. } | Show::Advice { .. } => process(access),
            Show::Replicas => {
                if access.has(Privileges::REPLICATION_SLAVE) {
                    Ok(())
                } else {
                    Err(special("REPLICATION SLAVE").into())
                }
            }
            Show::BinaryLogStatus | Show::BinaryLogs | Show::ReplicaStatus { .. } => {
                if access.has(Privileges::SUPER) || access.has(Privileges::REPLICATION_CLIENT) {
                    Ok(())
                } else {
                    Err(special("SUPER, REPLICATION CLIENT").into())
                }
            }
            // Checked later, when the account is known.
            Show::CreateUser(_) | Show::Grants { .. } => Ok(()),
            // Free for everybody, or restricted to what the account may see.
            Show::Databases(_)
            | Show::Variables { .. }
            | Show::Status { .. }
            | Show::ProcessList { .. }
            | Show::Warnings { .. }
            | Show::CountWarnings { .. }
            | Show::Engines
            | Show::Charsets(_)
            | Show::Collations(_)
            | Show::Privileges
            | Show::Plugins
            | Show::Routines { .. }
            | Show::OpenTables { .. }
            | Show::Profiles
            | Show::Profile => Ok(()),
        }
    }
}

/// 1044
fn of_database(access: &Access, name: &str, wanted: Privileges) -> Result<()> {
    if access.database(name).has(wanted) { Ok(()) } else { Err(access.database_denied(name).into()) }
}

fn process(access: &Access) -> Result<()> {
    if access.has(Privileges::PROCESS) { Ok(()) } else { Err(special("PROCESS").into()) }
}

/// Is the statement allowed before an expired password is changed?
fn may_follow_expiry(statement: &Statement<'_>) -> bool {
    use sql::ast::AccountStatement as A;
    matches!(statement, Statement::Account(A::AlterUser { .. } | A::SetPassword(_)))
}

fn check_flush(access: &Access, what: &str) -> Result<()> {
    let dynamic = match what {
        "PRIVILEGES" => Some("FLUSH_PRIVILEGES"),
        "TABLES" => Some("FLUSH_TABLES"),
        "STATUS" => Some("FLUSH_STATUS"),
        "USER_RESOURCES" => Some("FLUSH_USER_RESOURCES"),
        "OPTIMIZER_COSTS" => Some("FLUSH_OPTIMIZER_COSTS"),
        _ => None,
    };
    match dynamic {
        _ if access.has(Privileges::RELOAD) => Ok(()),
        Some(dynamic) if access.has_dynamic(dynamic) => Ok(()),
        Some(dynamic) => Err(special(&format!("RELOAD or {dynamic}")).into()),
        None => Err(special("RELOAD").into()),
    }
}

/// Variables of the session that only administrators set.
const RESTRICTED: &[&str] = &[
    "binlog_direct_non_transactional_updates",
    "binlog_format",
    "binlog_row_image",
    "binlog_row_value_options",
    "binlog_rows_query_log_events",
    "bulk_insert_buffer_size",
    "character_set_filesystem",
    "collation_server",
    "default_collation_for_utf8mb4",
    "explicit_defaults_for_timestamp",
    "gtid_next",
    "original_commit_timestamp",
    "original_server_version",
    "pseudo_replica_mode",
    "pseudo_slave_mode",
    "pseudo_thread_id",
    "sql_log_bin",
    "sql_log_off",
    "transaction_write_set_extraction",
];

/// Global variables that need more than SYSTEM_VARIABLES_ADMIN.
fn check_variable(access: &Access, name: &str) -> Result<()> {
    if name.eq_ignore_ascii_case("mandatory_roles") && !access.has_dynamic("ROLE_ADMIN") {
        return Err(special("SYSTEM_VARIABLES_ADMIN or SUPER privileges, as well as the ROLE_ADMIN").into());
    }
    if name.eq_ignore_ascii_case("offline_mode") {
        return access
            .needs_admin("CONNECTION_ADMIN", "SYSTEM_VARIABLES_ADMIN plus CONNECTION_ADMIN or SUPER")
            .map_err(Error::from);
    }
    Ok(())
}

fn check_set(access: &Access, item: &SetItem<'_>) -> Result<()> {
    let (scope, name) = match item {
        SetItem::System { scope, name, .. } => (*scope, *name),
        SetItem::Transaction { scope, .. } => (*scope, ""),
        SetItem::User { .. } | SetItem::Names { .. } | SetItem::CharacterSet(_) | SetItem::Unsupported(_) => return Ok(()),
    };
    match scope {
        VariableScope::PersistOnly if crate::variables::find(name).is_some() => {
            let both = ["SYSTEM_VARIABLES_ADMIN", "PERSIST_RO_VARIABLES_ADMIN"];
            if both.iter().all(|name| access.has_dynamic(name)) {
                return check_variable(access, name);
            }
            Err(Error::from(Condition::PersistOnlyAccessDenied))
        }
        VariableScope::Global | VariableScope::Persist | VariableScope::PersistOnly => {
            let id = crate::variables::find(name);
            if id.is_none() && !name.is_empty() {
                // SET itself reports it as unknown.
                return Ok(());
            }
            access.needs_admin("SYSTEM_VARIABLES_ADMIN", "SUPER or SYSTEM_VARIABLES_ADMIN")?;
            check_variable(access, name)
        }
        VariableScope::Any | VariableScope::Session if RESTRICTED.iter().any(|known| known.eq_ignore_ascii_case(name)) => {
            if access.has_dynamic("SESSION_VARIABLES_ADMIN") {
                return Ok(());
            }
            access
                .needs_admin("SYSTEM_VARIABLES_ADMIN", "SUPER, SYSTEM_VARIABLES_ADMIN or SESSION_VARIABLES_ADMIN")
                .map_err(Error::from)
        }
        VariableScope::Any | VariableScope::Session => Ok(()),
    }
}
