//! LOCK TABLES and UNLOCK TABLES: tables that a session has locked, by the names under which it may use them meanwhile.
//!
//! A WRITE lock is the right to change the definition and the metadata lock alone; a READ lock is a share that bars writers
//! (`table::mdl`). With a view its tables are locked, with a table that is written its children and parents by foreign keys, as far as
//! they would be written or read.
//!
//! L1: a statement names only what is locked, each lock once, and changes only what is locked for writing (1100, 1099). What functions
//!     and triggers use besides is held as by any statement.
//! L2: what is locked is not asked for again: the session would wait for itself.
//! L3: all locks or none. Who waits keeps others out, so a wait is cut into turns, as those of definitions are (`table::ddl::locks`).

use super::state::State;
use super::transaction::wait_for;
use crate::error::{Error, Result};
use crate::plan_cache::PlanEntry;
use crate::show;
use sql::ast::LockTable;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use table::mdl::{ClaimGuard, Claimed, DefinitionGuard, ExclusiveGuard, PAUSE, ReadLockGuard, TURN};
use table::{Database, Table, TableUse};
use types::schema::{ReferenceAction, TableDef, TableId};

/// The locks of a session, until dropped.
pub struct TableLocks {
    names: Vec<NamedLock>,
    tables: Vec<LockedTable>,
}

/// A name under which something is locked.
struct NamedLock {
    table: TableId,
    /// `None`: its own name, also after RENAME TABLE.
    alias: Option<Box<str>>,
    used: TableUse,
}

struct LockedTable {
    table: TableId,
    guard: Guard,
    _claim: ClaimGuard,
}

/// What keeps others out. Fields drop in order: users come back before definitions.
enum Guard {
    Read { _lock: ReadLockGuard },
    Write { _alone: ExclusiveGuard, _definition: DefinitionGuard },
}

/// What LOCK TABLES asks for.
#[derive(Default)]
struct Wanted {
    names: Vec<NamedLock>,
    /// In the order in which they are locked.
    tables: BTreeMap<TableId, (Arc<Table>, TableUse)>,
}

/// What comes of a turn.
enum Turn {
    Locked(Vec<LockedTable>),
    /// Somebody was in the way for too long; others are told that it is waited for.
    Failed(#[expect(dead_code, reason = "told of until dropped")] ClaimGuard),
}

impl TableLocks {
    /// May a statement use what it names? (L1)
    ///
    /// # Errors
    /// 1100, 1099
    pub fn check(&self, plan: &PlanEntry) -> Result<()> {
        let prepared = &plan.prepared;
        let (mut taken, mut refused) = (Vec::new(), None);
        for named in prepared.plan().named().flatten().filter(|named| named.through.is_none() && !named.table.id.is_temporary()) {
            let is_free = |(at, lock): &(usize, &NamedLock)| !taken.contains(at) && lock.stands_for(&named.table, &named.alias);
            let Some((at, lock)) = self.names.iter().enumerate().find(is_free) else {
                return Err(Error::TableNotLocked(named.alias.to_string()));
            };
            if (named.changes || prepared.locks_for_change()) && lock.used == TableUse::Reads {
                // Of a view the table is told.
                let table = named.table.view.as_ref().and_then(|_| prepared.changed_tables().next());
                refused = Some(table.map_or(&*named.alias, |table| &table.name));
            }
            taken.push(at);
        }
        refused.map_or(Ok(()), |name| Err(Error::LockedForReading(name.to_owned())))
    }

    /// Does a lock cover this use of a table? `None`: the table is not locked.
    pub fn covers(&self, table: &Table, used: TableUse) -> Option<bool> {
        Some(self.guard_of(table.id())?.used() >= used)
    }

    /// Is the table locked for such a use?
    ///
    /// # Errors
    /// 1100, 1099
    fn check_table(&self, table: Option<TableId>, name: &str, used: TableUse) -> Result<()> {
        match table.and_then(|id| self.guard_of(id)).map(Guard::used) {
            Some(locked) if locked >= used => Ok(()),
            Some(_) => Err(Error::LockedForReading(name.to_owned())),
            None => Err(Error::TableNotLocked(name.to_owned())),
        }
    }

    /// Is any of the tables still there?
    pub fn is_alive(&self, database: &Database) -> bool {
        self.tables.iter().any(|locked| database.table(locked.table).is_some())
    }

    fn guard_of(&self, table: TableId) -> Option<&Guard> {
        self.tables.iter().find(|locked| locked.table == table).map(|locked| &locked.guard)
    }
}

impl fmt::Debug for TableLocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableLocks").field("tables", &self.tables.len()).finish_non_exhaustive()
    }
}

impl NamedLock {
    fn stands_for(&self, def: &TableDef, alias: &str) -> bool {
        self.table == def.id && *alias == *self.alias.as_deref().unwrap_or(&def.name)
    }
}

impl Guard {
    fn used(&self) -> TableUse {
        match self {
            Self::Read { .. } => TableUse::Reads,
            Self::Write { .. } => TableUse::Writes,
        }
    }
}

impl Wanted {
    /// A table, and what is used with it.
    fn add(&mut self, database: &Database, table: Arc<Table>, used: TableUse) {
        let def = Arc::clone(table.def());
        let known = self.tables.entry(def.id).or_insert((table, TableUse::Reads));
        let is_new = used == TableUse::Writes && known.1 < used;
        known.1 = known.1.max(used);
        if is_new {
            self.add_keys(database, &def);
        }
    }

    /// What foreign keys read and write where this table is written.
    fn add_keys(&mut self, database: &Database, def: &TableDef) {
        let parents = def.foreign_keys.iter().filter_map(|key| database.table_by_name(&key.parent_database, &key.parent_table));
        for parent in parents.filter(|parent| parent.id() != def.id) {
            self.add_unnamed(database, parent, TableUse::Reads);
        }
        for child in database.children_of(def.id).into_iter().filter(|child| child.id() != def.id) {
            let keys = child.def().foreign_keys.iter().filter(|key| key.is_of(&def.database, &def.name));
            let passes_on = |action: ReferenceAction| action.changes_child();
            let used = match keys.into_iter().any(|key| passes_on(key.on_delete) || passes_on(key.on_update)) {
                true => TableUse::Writes,
                false => TableUse::Reads,
            };
            self.add_unnamed(database, child, used);
        }
    }

    /// A table that is locked for another one's sake can be used, too.
    fn add_unnamed(&mut self, database: &Database, table: Arc<Table>, used: TableUse) {
        let id = table.id();
        if !self.names.iter().any(|lock| lock.table == id && lock.alias.is_none()) {
            self.names.push(NamedLock { table: id, alias: None, used });
        }
        self.add(database, table, used);
    }
}

impl State {
    /// LOCK TABLES. The transaction before is committed already.
    ///
    /// # Errors
    /// 1146, 1066, 1205, 1317: nothing is locked then.
    pub async fn lock_tables(&mut self, tables: &[LockTable<'_>]) -> Result<()> {
        self.transaction.set_locks(None);
        let deadline = Instant::now() + self.settings.metadata_lock_wait;
        loop {
            let wanted = self.wanted(tables)?;
            let waits = match self.take_turn(&wanted, deadline).await? {
                Turn::Locked(locked) => {
                    if self.are_current(&wanted) {
                        let locks = TableLocks { names: wanted.names, tables: locked };
                        self.transaction.set_locks(Some(Rc::new(locks)));
                        return Ok(());
                    }
                    continue;
                }
                waits @ Turn::Failed(_) => waits,
            };
            let now = Instant::now();
            if now >= deadline {
                return Err(Error::Exec(exec::Error::LockWaitTimeout));
            }
            match wait_for(&self.worker, &self.info, std::future::pending::<()>(), PAUSE.min(deadline - now)).await {
                Ok(()) | Err(exec::Error::LockWaitTimeout) => drop(waits),
                Err(error) => return Err(Error::Exec(error)),
            }
        }
    }

    /// UNLOCK TABLES, which commits where something was locked.
    pub async fn unlock_tables(&mut self) {
        if self.transaction.locks().is_some() {
            let worker = Rc::clone(&self.worker);
            self.transaction.commit(&worker).await;
            self.transaction.set_locks(None);
        }
    }

    /// After a definition: whose locked tables are all gone has no locks any more.
    pub fn forget_dropped_locks(&mut self) {
        if self.transaction.locks().is_some_and(|locks| !locks.is_alive(&self.worker.shared.database)) {
            self.transaction.set_locks(None);
        }
    }

    /// L1, of a statement that is not a function's or a trigger's.
    pub fn check_locked(&self, plan: &PlanEntry) -> Result<()> {
        match self.transaction.locks() {
            Some(locks) if !self.is_inside() => locks.check(plan),
            _ => Ok(()),
        }
    }

    /// ANALYZE TABLE and its kin. Temporary tables and the server's own are no matter.
    ///
    /// # Errors
    /// 1100, 1099
    pub fn check_locked_table(&self, def: &TableDef, used: TableUse) -> Result<()> {
        match self.transaction.locks() {
            Some(locks) if !def.id.is_temporary() && !def.is_virtual => locks.check_table(Some(def.id), &def.name, used),
            _ => Ok(()),
        }
    }

    /// Who has locked tables does not hear of others that they are not there.
    pub fn missing_as_locked(&self, error: sql::Error) -> Error {
        match error {
            sql::Error::UnknownTable { table, .. } if self.transaction.locks().is_some() => Error::TableNotLocked(table),
            error => Error::Sql(error),
        }
    }

    fn wanted(&self, tables: &[LockTable<'_>]) -> Result<Wanted> {
        let mut wanted = Wanted::default();
        let schema = self.schema();
        for (at, lock) in tables.iter().enumerate() {
            let name = |lock: &LockTable<'_>| lock.alias.unwrap_or(lock.name.name).to_owned();
            let place =
                |lock: &LockTable<'_>| (name(lock), lock.name.database.or(self.vars.database.as_deref()).map(str::to_owned));
            if tables[..at].iter().any(|other| place(other) == place(lock)) {
                return Err(Error::Sql(sql::Error::NotUniqueTable(name(lock))));
            }
            let def = self.find_table(&lock.name)?;
            if def.is_virtual || def.id.is_temporary() {
                // The server's own tables are locked by nobody, and a temporary one is the session's alone.
                continue;
            }
            let used = if lock.write { TableUse::Writes } else { TableUse::Reads };
            wanted.names.push(NamedLock { table: def.id, alias: lock.alias.map(Into::into), used });
            let mut views = Vec::new();
            self.add_wanted(&schema, &def, used, &mut wanted, &mut views)?;
        }
        Ok(wanted)
    }

    /// A table, or the tables of a view; `views` are those that are around it.
    fn add_wanted(
        &self,
        schema: &types::schema::Schema,
        def: &Arc<TableDef>,
        used: TableUse,
        wanted: &mut Wanted,
        views: &mut Vec<TableId>,
    ) -> Result<()> {
        let database = &self.worker.shared.database;
        let missing = || Error::TableMissing { database: def.database.clone(), table: def.name.clone() };
        let table = database.table(def.id).ok_or_else(missing)?;
        let Some(view) = &def.view else {
            if views.is_empty() {
                wanted.add(database, table, used);
            } else {
                wanted.add_unnamed(database, table, used);
            }
            return Ok(());
        };
        wanted.tables.entry(def.id).or_insert((table, TableUse::Reads));
        views.push(def.id);
        for (database, name) in &view.tables {
            let Some(inner) = schema.table(database, name).filter(|inner| !inner.is_virtual && !views.contains(&inner.id)) else {
                continue;
            };
            self.add_wanted(schema, inner, used, wanted, views)?;
        }
        views.pop();
        Ok(())
    }

    /// L3
    async fn take_turn(&self, wanted: &Wanted, deadline: Instant) -> Result<Turn> {
        let end = deadline.min(Instant::now() + TURN);
        let mut locked = Vec::with_capacity(wanted.tables.len());
        for (table, used) in wanted.tables.values() {
            let what = if *used == TableUse::Writes { Claimed::WriteLock } else { Claimed::ReadLock };
            let claim = table.mdl().claim(self.info.id, what);
            match self.lock_one(table, *used, end).await {
                Ok(Some(guard)) => {
                    claim.hold();
                    locked.push(LockedTable { table: table.id(), guard, _claim: claim });
                }
                Ok(None) | Err(exec::Error::LockWaitTimeout) => return Ok(Turn::Failed(claim)),
                Err(error) => return Err(Error::Exec(error)),
            }
        }
        Ok(Turn::Locked(locked))
    }

    /// `None`: its definition is changing.
    async fn lock_one(&self, table: &Table, used: TableUse, end: Instant) -> exec::Result<Option<Guard>> {
        let (worker, mdl) = (&self.worker, table.mdl());
        let left = end.saturating_duration_since(Instant::now());
        if used == TableUse::Reads {
            let lock = wait_for(worker, &self.info, mdl.acquire_read_lock(worker.index), left).await?;
            return Ok(Some(Guard::Read { _lock: lock }));
        }
        let Some(definition) = mdl.try_definition() else { return Ok(None) };
        let alone = wait_for(worker, &self.info, mdl.acquire_exclusive(), left).await?;
        Ok(Some(Guard::Write { _alone: alone, _definition: definition }))
    }

    /// No table was dropped or replaced before it was locked, and no definition gave one another key or view.
    fn are_current(&self, wanted: &Wanted) -> bool {
        let database = &self.worker.shared.database;
        let is_current = |table: &Arc<Table>| database.table(table.id()).is_some_and(|now| Arc::ptr_eq(&now, table));
        wanted.tables.values().all(|(table, _)| is_current(table))
    }

    /// What a session with locked tables may not: definitions of what it has not locked for writing, and of what cannot be locked.
    ///
    /// # Errors
    /// 1100, 1099, 1192
    pub fn check_definition_locked(&self, statement: &sql::ast::Statement<'_>) -> Result<()> {
        use sql::ast::Statement as S;
        let Some(locks) = self.transaction.locks() else { return Ok(()) };
        let changes = |name: &sql::ast::ObjectName<'_>| {
            let database = name.database.or(self.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
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
            | S::DropEvent { .. } => Err(Error::TablesAreLocked),
            S::CreateTable(create) if !create.temporary => match changes(&create.name) {
                // One that is locked is there, which the statement tells itself.
                Err(Error::LockedForReading(_)) => Ok(()),
                checked => checked,
            },
            S::DropTable { temporary: false, names, .. } => names.iter().try_for_each(changes),
            S::Truncate { table } => changes(table),
            S::CreateIndex(create) => changes(&create.table),
            S::DropIndex { table, .. } => changes(table),
            S::AlterTable(alter) => changes(&alter.table),
            S::RenameTable { pairs } => {
                // A name that an earlier pair has made is of a table that was looked at there.
                let made = |at: usize, name: &sql::ast::ObjectName<'_>| pairs[..at].iter().any(|(_, to)| to.name == name.name);
                pairs.iter().enumerate().filter(|(at, (from, _))| !made(*at, from)).try_for_each(|(_, (from, _))| changes(from))
            }
            S::CreateTrigger(create) => changes(&create.table),
            S::DropTrigger { name, .. } => {
                let database = name.database.or(self.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
                match self.schema().trigger(database, name.name) {
                    Some((table, _)) => locks.check_table(Some(table.id), &table.name, TableUse::Writes),
                    None => Ok(()),
                }
            }
            _ => Ok(()),
        }
    }
}
