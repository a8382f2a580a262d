//! LOCK TABLES, FLUSH TABLES WITH READ LOCK, LOCK INSTANCE FOR BACKUP, and the statements that end them.
//!
//! L3: all locks or none. A waiting lock blocks others, so the wait is cut into turns, as for definitions
//!     (`table::ddl::locks`).
//! L4: a definition holds a writer's share of `Shared::definitions`; a read lock on it stops all definitions.
//! L5: a session that has locked tables, and whose definition waits for a backup, gives up (1213) if the session of the
//!     backup waits for one of these tables. No other deadlock includes a server-wide lock: every other session that
//!     waits for one holds no tables.

use super::state::State;
use super::table_locks::{GlobalLock, LockedTable, LockedTables, NamedLocks, NoDefinitions, TableGuard, Wanted};
use super::transaction::wait_for;
use crate::error::{Error, Result};
use crate::plan_cache::PlanEntry;
use crate::shared::Shared;
use crate::show;
use conditions::Condition;
use os::time::Instant;
use sql::ast::{LockTable, ObjectName, Statement};
use std::rc::Rc;
use std::sync::Arc;
use table::mdl::{ClaimGuard, Claimed, PAUSE, ShareGuard, TURN};
use table::{Table, TableUse};
use types::schema::{Schema, TableDef, TableId};

const TABLE_WAIT: &str = "Waiting for table metadata lock";
const GLOBAL_WAIT: &str = "Waiting for global read lock";
const BACKUP_WAIT: &str = "Waiting for backup lock";

/// L5: has a session locked the table and waits for the session that locked the instance? A statement of the latter
///     checks this before it waits, because plain statements do not publish their waits.
pub fn is_owner_waiting(shared: &Shared, table: &Table) -> bool {
    let claims = table.mdl().claims();
    let mut owners = claims.iter().filter(|claim| claim.held && claim.what == Claimed::WriteLock);
    owners.any(|owner| shared.definitions.claims().iter().any(|claim| !claim.held && claim.session == owner.session))
}

/// The result of a turn.
enum Turn {
    Locked(LockedTables),
    /// A lock was not available for too long. The guard publishes the wait.
    Failed(Option<ClaimGuard>),
}

impl State<'_> {
    /// LOCK TABLES. The caller has committed the previous transaction.
    ///
    /// # Errors
    /// 1146, 1066, 1205, 1317 (then nothing is locked), 1223
    pub async fn lock_tables(&mut self, tables: &[LockTable<'_>]) -> Result<()> {
        self.execution.transaction.locks_mut().named = None;
        if self.execution.transaction.locks().global.is_some() && tables.iter().any(|lock| lock.write) {
            return Err(Condition::CantUpdateWithReadLock.into());
        }
        let deadline = Instant::now() + self.session.settings.metadata_lock_wait;
        loop {
            let wanted = self.wanted(tables)?;
            match self.take_turn(&wanted, TABLE_WAIT, deadline).await? {
                Turn::Locked(locked) if self.are_current(&wanted) => {
                    self.execution.transaction.locks_mut().named = Some(Rc::new(NamedLocks::new(wanted, locked)));
                    return Ok(());
                }
                Turn::Locked(_) => {}
                Turn::Failed(told) => self.pause(told, deadline).await?,
            }
        }
    }

    /// FLUSH TABLES a, b WITH READ LOCK
    ///
    /// # Errors
    /// 1192, 1146, 1347, 1205, 1317
    pub async fn flush_with_read_lock(&mut self, names: &[ObjectName<'_>]) -> Result<()> {
        if self.execution.transaction.locks().named.is_some() {
            return Err(Condition::LockOrActiveTransaction.into());
        }
        if names.is_empty() {
            return self.lock_globally().await;
        }
        let schema = self.visible_schema();
        for name in names {
            let database = name.database.or(self.execution.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
            let missing = || Error::TableMissing { database: database.to_owned(), table: name.name.to_owned() };
            let def = schema.table(database, name.name).ok_or_else(missing)?;
            if def.view.is_some() {
                return Err(crate::ddl::not_base_table(def));
            }
        }
        let tables: Vec<LockTable<'_>> = names.iter().map(|name| LockTable { name: *name, alias: None, write: false }).collect();
        self.lock_tables(&tables).await
    }

    /// FLUSH TABLES WITH READ LOCK: first stops definitions, so that the locked tables belong to one schema.
    async fn lock_globally(&mut self) -> Result<()> {
        if self.execution.transaction.locks().global.is_some() {
            return Ok(());
        }
        let deadline = Instant::now() + self.session.settings.metadata_lock_wait;
        loop {
            let end = deadline.min(Instant::now() + TURN);
            let mut told = None;
            if let Some(no_definitions) = self.stop_definitions(Claimed::AllTables, GLOBAL_WAIT, end).await? {
                match self.take_turn(&self.everything(), GLOBAL_WAIT, deadline).await? {
                    Turn::Locked(locked) => {
                        self.execution.transaction.locks_mut().global = Some(Rc::new(GlobalLock::new(no_definitions, locked)));
                        return Ok(());
                    }
                    Turn::Failed(claim) => told = claim,
                }
            }
            self.pause(told, deadline).await?;
        }
    }

    /// LOCK INSTANCE FOR BACKUP
    ///
    /// # Errors
    /// 1205, 1317
    pub async fn lock_instance(&mut self) -> Result<()> {
        let deadline = Instant::now() + self.session.settings.metadata_lock_wait;
        while self.execution.transaction.locks().backup.is_none() {
            let end = deadline.min(Instant::now() + TURN);
            match self.stop_definitions(Claimed::ReadLock, BACKUP_WAIT, end).await? {
                Some(lock) => {
                    lock.hold();
                    self.execution.transaction.locks_mut().backup = Some(Rc::new(lock));
                }
                None => self.pause(None, deadline).await?,
            }
        }
        Ok(())
    }

    /// UNLOCK INSTANCE
    pub fn unlock_instance(&mut self) {
        self.execution.transaction.locks_mut().backup = None;
    }

    /// UNLOCK TABLES; after LOCK TABLES it commits.
    ///
    /// # Errors
    /// As [`Self::commit_transaction`]; the locks are gone.
    pub async fn unlock_tables(&mut self) -> Result<()> {
        let committed = match self.execution.transaction.locks().named {
            Some(_) => self.commit_transaction().await,
            None => Ok(()),
        };
        let locks = self.execution.transaction.locks_mut();
        (locks.named, locks.global) = (None, None);
        committed
    }

    /// After a definition: drops the session's locks if all locked tables are gone.
    pub fn forget_dropped_locks(&mut self) {
        let database = Arc::clone(&self.worker.shared.database);
        self.execution.transaction.locks_mut().named.take_if(|named| !named.is_alive(&database));
    }

    /// L1, for a statement that is not part of a function or a trigger.
    #[inline]
    pub fn check_locked(&self, plan: &PlanEntry) -> Result<()> {
        if let Some(branch) = &self.execution.transaction.branch {
            branch.check_plan(plan.prepared.tables())?;
        }
        let locks = self.execution.transaction.locks();
        if locks.is_empty() || self.is_inside() { Ok(()) } else { locks.check(plan) }
    }

    /// Checks L1 for ANALYZE TABLE and the like. Temporary tables and the server's own tables are exempt.
    ///
    /// # Errors
    /// 1100, 1099, 1223
    pub fn check_locked_table(&self, def: &TableDef, used: TableUse) -> Result<()> {
        if def.id.is_temporary() || def.is_virtual {
            Ok(())
        } else {
            self.execution.transaction.locks().check_table(Some(def.id), &def.name, used)
        }
    }

    /// Refuses FLUSH TABLES for tables that are locked for reading (1099).
    pub fn check_flushed(&self, names: &[ObjectName<'_>]) -> Result<()> {
        let Some(named) = &self.execution.transaction.locks().named else { return Ok(()) };
        let ids: Vec<TableId> = names.iter().filter_map(|name| self.find_table(name).ok()).map(|def| def.id).collect();
        let table = named.some_read(&ids).and_then(|id| self.worker.shared.database.table(id));
        table.map_or(Ok(()), |table| Err(Error::LockedForReading(table.def().name.clone())))
    }

    /// A session that has locked tables gets 1100 instead of 1146 for a missing table.
    pub fn missing_as_locked(&self, error: sql::Error) -> Error {
        match error {
            sql::Error::UnknownTable { table, .. } if self.execution.transaction.locks().named.is_some() => {
                Condition::TableNotLocked { table: table.into() }.into()
            }
            error => Error::Sql(error),
        }
    }

    /// Refuses definitions of tables that the session has not locked for writing, and of objects that cannot be locked.
    ///
    /// # Errors
    /// 1100, 1099, 1192, 1223
    fn check_definition_locked(&self, statement: &Statement<'_>) -> Result<()> {
        use Statement as S;
        let locks = self.execution.transaction.locks();
        if locks.global.is_some() {
            return Err(Condition::CantUpdateWithReadLock.into());
        }
        if locks.named.is_none() {
            return Ok(());
        }
        let changes = |name: &ObjectName<'_>| {
            let database = name.database.or(self.execution.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
            if self.temporary_table(database, name.name).is_some() || show::is_virtual_database(database) {
                return Ok(());
            }
            locks.check_table(self.schema().table(database, name.name).map(|def| def.id), name.name, TableUse::Writes)
        };
        match statement {
            S::CreateDatabase(_)
            | S::AlterDatabase { .. }
            | S::DropDatabase { .. }
            | S::CreateView(_)
            | S::DropView { .. }
            | S::CreateRoutine(_)
            | S::AlterRoutine { .. }
            | S::DropRoutine { .. }
            | S::CreateEvent(_)
            | S::AlterEvent(_)
            | S::DropEvent { .. } => Err(Condition::LockOrActiveTransaction.into()),
            S::CreateTable(create) => match changes(&create.name) {
                // The table exists and is locked; the statement itself reports that.
                Err(Error::LockedForReading(_)) => Ok(()),
                checked => checked,
            },
            S::DropTable { names, .. } => names.iter().try_for_each(changes),
            S::Truncate { table } => changes(table),
            S::CreateIndex(create) => changes(&create.table),
            S::DropIndex { table, .. } => changes(table),
            S::AlterTable(alter) => changes(&alter.table),
            S::RenameTable { pairs } => {
                // A name that an earlier pair created belongs to a table that was checked there.
                let made = |at: usize, name: &ObjectName<'_>| pairs[..at].iter().any(|(_, to)| to.name == name.name);
                pairs.iter().enumerate().filter(|(at, (from, _))| !made(*at, from)).try_for_each(|(_, (from, _))| changes(from))
            }
            S::CreateTrigger(create) => changes(&create.table),
            S::DropTrigger { name, .. } => {
                let database = name.database.or(self.execution.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
                match self.schema().trigger(database, name.name) {
                    Some((table, _)) => locks.check_table(Some(table.id), &table.name, TableUse::Writes),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }

    /// Called before a definition and before a change of accounts: waits for sessions that stop definitions (L4).
    /// `None`: the statement is not affected.
    ///
    /// # Errors
    /// 1100, 1099, 1192, 1223, 1205, 1213, 1317
    pub async fn enter_definition(&self, statement: &Statement<'_>) -> Result<Option<ShareGuard>> {
        if self.is_of_temporary_tables(statement) {
            return Ok(None);
        }
        self.check_definition_locked(statement)?;
        if self.execution.transaction.locks().backup.is_some() {
            return Ok(None);
        }
        let (lock, worker) = (&self.worker.shared.definitions, self.worker.index);
        if let Err(mut wait) = lock.acquire_shared(worker, TableUse::Writes) {
            let _told = lock.claim(self.info.id, Claimed::Share);
            let deadline = Instant::now() + self.session.settings.metadata_lock_wait;
            loop {
                if self.is_waited_for_by_a_backup() {
                    return Err(Error::Exec(expr::Error::Deadlock));
                }
                let left = deadline.saturating_duration_since(Instant::now());
                match wait_for(&self.worker, &self.info, &mut wait, BACKUP_WAIT, left.min(PAUSE)).await {
                    Ok(()) => break,
                    Err(expr::Error::LockWaitTimeout) if left > PAUSE => {}
                    Err(error) => return Err(Error::Exec(error)),
                }
            }
        }
        Ok(Some(lock.guard_shared(worker, TableUse::Writes)))
    }

    /// L5, for a definition that waits.
    fn is_waited_for_by_a_backup(&self) -> bool {
        let Some(named) = &self.execution.transaction.locks().named else { return false };
        let shared = &self.worker.shared;
        let claims = shared.definitions.claims();
        let is_backup = |session| claims.iter().any(|claim| claim.held && claim.session == session);
        let mut tables = named.tables().filter_map(|id| shared.database.table(id));
        tables.any(|table| table.mdl().claims().iter().any(|claim| !claim.held && is_backup(claim.session)))
    }

    pub fn is_of_temporary_tables(&self, statement: &Statement<'_>) -> bool {
        use Statement as S;
        let is_own = |name: &ObjectName<'_>| {
            let database = name.database.or(self.execution.vars.database.as_deref());
            database.is_some_and(|database| self.temporary_table(database, name.name).is_some())
        };
        match statement {
            S::CreateTable(create) => create.temporary,
            S::DropTable { temporary, names, .. } => *temporary || names.iter().all(is_own),
            S::Truncate { table } | S::DropIndex { table, .. } => is_own(table),
            S::CreateIndex(create) => is_own(&create.table),
            S::AlterTable(alter) => is_own(&alter.table),
            _ => false,
        }
    }

    fn wanted(&self, tables: &[LockTable<'_>]) -> Result<Wanted> {
        let mut wanted = Wanted::default();
        let schema = self.schema();
        for (at, lock) in tables.iter().enumerate() {
            let name = |lock: &LockTable<'_>| lock.alias.unwrap_or(lock.name.name).to_owned();
            let place = |lock: &LockTable<'_>| {
                (name(lock), lock.name.database.or(self.execution.vars.database.as_deref()).map(str::to_owned))
            };
            if tables[..at].iter().any(|other| place(other) == place(lock)) {
                return Err(Error::Sql(sql::Error::NotUniqueTable(name(lock))));
            }
            let def = self.find_table(&lock.name)?;
            if def.is_virtual || def.id.is_temporary() {
                // The server's own tables cannot be locked, and a temporary table belongs to one session.
                continue;
            }
            let used = if lock.write { TableUse::Writes } else { TableUse::Reads };
            wanted.name(def.id, lock.alias, used);
            self.add_wanted(&schema, &def, used, &mut wanted, &mut Vec::new())?;
        }
        Ok(wanted)
    }

    /// Adds a table, or a view with its tables; `views` are the enclosing views.
    fn add_wanted(
        &self,
        schema: &Schema,
        def: &TableDef,
        used: TableUse,
        wanted: &mut Wanted,
        views: &mut Vec<TableId>,
    ) -> Result<()> {
        let database = &self.worker.shared.database;
        let missing = || Error::TableMissing { database: def.database.clone(), table: def.name.clone() };
        let table = database.table(def.id).ok_or_else(missing)?;
        let Some(view) = &def.view else {
            if views.is_empty() {
                wanted.add(database, table, used)
            } else {
                wanted.add_unnamed(database, table, used)
            }
            return Ok(());
        };
        wanted.tables.entry(def.id).or_insert((table, TableUse::Reads));
        views.push(def.id);
        for (database, name) in &view.tables {
            let inner = schema.table(database, name);
            if let Some(inner) = inner.filter(|inner| !inner.is_virtual && !views.contains(&inner.id)) {
                self.add_wanted(schema, inner, used, wanted, views)?;
            }
        }
        views.pop();
        Ok(())
    }

    fn everything(&self) -> Wanted {
        let mut wanted = Wanted::default();
        let database = &self.worker.shared.database;
        let schema = database.schema();
        for def in schema.databases.values().flat_map(|database| database.tables.values()) {
            if let Some(table) = database.table(def.id).filter(|_| !def.is_virtual && def.view.is_none()) {
                wanted.tables.insert(def.id, (table, TableUse::Reads));
            }
        }
        wanted
    }

    /// L3
    async fn take_turn(&self, wanted: &Wanted, state: &'static str, deadline: Instant) -> Result<Turn> {
        let end = deadline.min(Instant::now() + TURN);
        let mut locked = Vec::with_capacity(wanted.tables.len());
        for (table, used) in wanted.tables.values() {
            let what = if *used == TableUse::Writes { Claimed::WriteLock } else { Claimed::ReadLock };
            let claim = table.mdl().claim(self.info.id, what);
            match self.lock_one(table, *used, state, end).await {
                Ok(Some(guard)) => {
                    claim.hold();
                    locked.push(LockedTable { table: table.id(), guard, _claim: claim });
                }
                Ok(None) | Err(expr::Error::LockWaitTimeout) => return Ok(Turn::Failed(Some(claim))),
                Err(error) => return Err(Error::Exec(error)),
            }
        }
        Ok(Turn::Locked(LockedTables::new(locked)))
    }

    /// `None`: the table's definition is being changed.
    async fn lock_one(
        &self,
        table: &Table,
        used: TableUse,
        state: &'static str,
        end: Instant,
    ) -> expr::Result<Option<TableGuard>> {
        let (worker, mdl) = (&self.worker, table.mdl());
        let left = end.saturating_duration_since(Instant::now());
        if used == TableUse::Reads {
            let lock = wait_for(worker, &self.info, mdl.acquire_read_lock(worker.index), state, left).await?;
            return Ok(Some(TableGuard::Read { _lock: lock }));
        }
        let Some(definition) = mdl.try_definition() else { return Ok(None) };
        let alone = wait_for(worker, &self.info, mdl.acquire_exclusive(), state, left).await?;
        Ok(Some(TableGuard::Write { _alone: alone, _definition: definition }))
    }

    /// L4. `None`: the time is over.
    async fn stop_definitions(&self, what: Claimed, state: &'static str, end: Instant) -> Result<Option<NoDefinitions>> {
        let definitions = &self.worker.shared.definitions;
        let (claim, lock) = (definitions.claim(self.info.id, what), definitions.acquire_read_lock(self.worker.index));
        match wait_for(&self.worker, &self.info, lock, state, end.saturating_duration_since(Instant::now())).await {
            Ok(guard) => Ok(Some(NoDefinitions::new(guard, claim))),
            Err(expr::Error::LockWaitTimeout) => Ok(None),
            Err(error) => Err(Error::Exec(error)),
        }
    }

    /// Lets other sessions continue; 1205 if the statement's time is over.
    async fn pause(&self, told: Option<ClaimGuard>, deadline: Instant) -> Result<()> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::Exec(expr::Error::LockWaitTimeout));
        }
        let paused = wait_for(&self.worker, &self.info, std::future::pending::<()>(), TABLE_WAIT, PAUSE.min(left)).await;
        drop(told);
        match paused {
            Ok(()) | Err(expr::Error::LockWaitTimeout) => Ok(()),
            Err(error) => Err(Error::Exec(error)),
        }
    }

    /// Were no tables dropped or replaced before they were locked (for example by a definition that added a foreign
    /// key)?
    fn are_current(&self, wanted: &Wanted) -> bool {
        let database = &self.worker.shared.database;
        let is_current = |table: &Arc<Table>| database.table(table.id()).is_some_and(|now| Arc::ptr_eq(&now, table));
        wanted.tables.values().all(|(table, _)| is_current(table))
    }
}
