//! The locks of a session from LOCK TABLES and FLUSH TABLES WITH READ LOCK, and what the session may do under them.
//! `lock_statements` takes and releases them.
//!
//! A WRITE lock is the right to change the definition and the exclusive metadata lock; a READ lock is a share that
//! blocks writers (`table::mdl`). Locking a view also locks its tables. Locking a table for writing also locks its
//! children and parents by foreign keys, for the use that a write would make of them.
//!
//! L1: after LOCK TABLES a statement may name only locked tables, each lock once, and change only tables locked for
//!     writing (1100, 1099). Tables that functions and triggers use are locked as by any statement. After FLUSH TABLES
//!     WITH READ LOCK it changes nothing (1223).
//! L2: a locked table is not locked again: the session would wait for itself.

use crate::error::{Error, Result};
use crate::plan_cache::PlanEntry;
use conditions::Condition;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use table::mdl::{ClaimGuard, DefinitionGuard, ExclusiveGuard, ReadLockGuard};
use table::{Database, Table, TableUse};
use types::schema::{ReferenceAction, TableDef, TableId};

/// Everything that a session has locked. A copy keeps the locks.
#[derive(Clone, Default)]
pub struct SessionLocks {
    /// LOCK TABLES
    pub named: Option<Rc<NamedLocks>>,
    /// FLUSH TABLES WITH READ LOCK
    pub global: Option<Rc<GlobalLock>>,
    /// LOCK INSTANCE FOR BACKUP
    pub backup: Option<Rc<NoDefinitions>>,
}

/// The locks of LOCK TABLES.
pub struct NamedLocks {
    names: Vec<NamedLock>,
    tables: LockedTables,
}

/// All tables are locked for reading, and definitions are stopped.
pub struct GlobalLock {
    tables: LockedTables,
    _no_definitions: NoDefinitions,
}

/// Definitions are stopped.
pub struct NoDefinitions {
    _lock: ReadLockGuard,
    claim: ClaimGuard,
}

/// A name under which an object is locked.
struct NamedLock {
    table: TableId,
    /// `None`: its own name, also after RENAME TABLE.
    alias: Option<Box<str>>,
    used: TableUse,
}

/// In the order of their ids.
pub struct LockedTables(Vec<LockedTable>);

pub struct LockedTable {
    pub table: TableId,
    pub guard: TableGuard,
    pub _claim: ClaimGuard,
}

/// The lock that excludes others. Fields drop in order: users are let in before definitions.
pub enum TableGuard {
    Read { _lock: ReadLockGuard },
    Write { _alone: ExclusiveGuard, _definition: DefinitionGuard },
}

/// The locks to take.
#[derive(Default)]
pub struct Wanted {
    names: Vec<NamedLock>,
    /// In locking order.
    pub tables: BTreeMap<TableId, (Arc<Table>, TableUse)>,
}

impl SessionLocks {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.named.is_none() && self.global.is_none()
    }

    /// May a statement use the tables that it names? (L1)
    ///
    /// # Errors
    /// 1100, 1099, 1223
    pub fn check(&self, plan: &PlanEntry) -> Result<()> {
        if let Some(named) = &self.named {
            named.check(plan)?;
        }
        let changes = plan.prepared.tables().iter().zip(plan.prepared.table_uses()).any(|(table, used)| {
            *used == TableUse::Writes && !table.id().is_temporary() //
        });
        match &self.global {
            Some(_) if changes => Err(Condition::CantUpdateWithReadLock.into()),
            _ => Ok(()),
        }
    }

    /// Is a table locked for this use? `false`: it is not locked. (L2)
    ///
    /// # Errors
    /// 1099, 1223: it is locked for reading only.
    pub fn cover(&self, table: &Table, used: TableUse) -> Result<bool> {
        let locked = |tables: &LockedTables| tables.of(table.id());
        match (
            self.named.as_ref().and_then(|named| locked(&named.tables)),
            self.global.as_ref().and_then(|all| locked(&all.tables)),
        ) {
            (None, None) => Ok(false),
            (_, Some(_)) if used == TableUse::Writes => Err(Condition::CantUpdateWithReadLock.into()),
            (Some(TableUse::Reads), _) if used == TableUse::Writes => Err(Error::LockedForReading(table.def().name.clone())),
            _ => Ok(true),
        }
    }

    /// May a maintenance statement use this table?
    ///
    /// # Errors
    /// 1100, 1099, 1223
    pub fn check_table(&self, table: Option<TableId>, name: &str, used: TableUse) -> Result<()> {
        if self.global.is_some() && used == TableUse::Writes {
            return Err(Condition::CantUpdateWithReadLock.into());
        }
        let Some(named) = &self.named else { return Ok(()) };
        match table.and_then(|id| named.tables.of(id)) {
            Some(locked) if locked >= used => Ok(()),
            Some(_) => Err(Error::LockedForReading(name.to_owned())),
            None => Err(Condition::TableNotLocked { table: name.into() }.into()),
        }
    }
}

impl fmt::Debug for SessionLocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionLocks").field("named", &self.named.is_some()).field("global", &self.global.is_some()).finish()
    }
}

impl NamedLocks {
    pub fn new(wanted: Wanted, tables: LockedTables) -> Self {
        Self { names: wanted.names, tables }
    }

    fn check(&self, plan: &PlanEntry) -> Result<()> {
        let prepared = &plan.prepared;
        let (mut taken, mut refused) = (Vec::new(), None);
        for named in prepared.plan().named().flatten().filter(|named| named.through.is_none() && !named.table.id.is_temporary()) {
            let is_free = |(at, lock): &(usize, &NamedLock)| !taken.contains(at) && lock.stands_for(&named.table, &named.alias);
            let Some((at, lock)) = self.names.iter().enumerate().find(is_free) else {
                return Err(Condition::TableNotLocked { table: (&*named.alias).into() }.into());
            };
            if (named.changes || prepared.locks_for_change()) && lock.used == TableUse::Reads {
                // The error for a view names the table.
                let table = named.table.view.as_ref().and_then(|_| prepared.changed_tables().next());
                refused = Some(table.map_or(&*named.alias, |table| &table.name));
            }
            taken.push(at);
        }
        refused.map_or(Ok(()), |name| Err(Error::LockedForReading(name.to_owned())))
    }

    /// The tables.
    pub fn tables(&self) -> impl Iterator<Item = TableId> {
        self.tables.0.iter().map(|locked| locked.table)
    }

    /// Does any of the tables still exist?
    pub fn is_alive(&self, database: &Database) -> bool {
        self.tables.0.iter().any(|locked| database.table(locked.table).is_some())
    }

    /// A table that is locked for reading, among these or all.
    pub fn some_read(&self, among: &[TableId]) -> Option<TableId> {
        let is_read = |locked: &&LockedTable| locked.guard.used() == TableUse::Reads;
        let is_meant = |locked: &&LockedTable| among.is_empty() || among.contains(&locked.table);
        self.tables.0.iter().filter(is_read).find(is_meant).map(|locked| locked.table)
    }
}

impl GlobalLock {
    pub fn new(no_definitions: NoDefinitions, tables: LockedTables) -> Self {
        no_definitions.hold();
        Self { tables, _no_definitions: no_definitions }
    }
}

impl NoDefinitions {
    pub fn new(lock: ReadLockGuard, claim: ClaimGuard) -> Self {
        Self { _lock: lock, claim }
    }

    /// Publishes the lock as held. Before this, it may be released soon.
    pub fn hold(&self) {
        self.claim.hold();
    }
}

impl NamedLock {
    fn stands_for(&self, def: &TableDef, alias: &str) -> bool {
        self.table == def.id && *alias == *self.alias.as_deref().unwrap_or(&def.name)
    }
}

impl LockedTables {
    pub fn new(tables: Vec<LockedTable>) -> Self {
        debug_assert!(tables.is_sorted_by_key(|locked| locked.table), "locked in this order");
        Self(tables)
    }

    fn of(&self, table: TableId) -> Option<TableUse> {
        let at = self.0.binary_search_by_key(&table, |locked| locked.table).ok()?;
        Some(self.0[at].guard.used())
    }
}

impl TableGuard {
    fn used(&self) -> TableUse {
        match self {
            Self::Read { .. } => TableUse::Reads,
            Self::Write { .. } => TableUse::Writes,
        }
    }
}

impl Wanted {
    /// Adds a table or view under a name, without the tables that it uses.
    pub fn name(&mut self, table: TableId, alias: Option<&str>, used: TableUse) {
        self.names.push(NamedLock { table, alias: alias.map(Into::into), used });
    }

    /// Adds a table with the tables that it uses.
    pub fn add(&mut self, database: &Database, table: Arc<Table>, used: TableUse) {
        let def = Arc::clone(table.def());
        let known = self.tables.entry(def.id).or_insert((table, TableUse::Reads));
        let is_new = used == TableUse::Writes && known.1 < used;
        known.1 = known.1.max(used);
        if is_new {
            self.add_keys(database, &def);
        }
    }

    /// Adds a table that is locked because of another one; the session can use it too.
    pub fn add_unnamed(&mut self, database: &Database, table: Arc<Table>, used: TableUse) {
        let id = table.id();
        if !self.names.iter().any(|lock| lock.table == id && lock.alias.is_none()) {
            self.name(id, None, used);
        }
        self.add(database, table, used);
    }

    /// Adds the tables that foreign keys read or write when this table is written.
    fn add_keys(&mut self, database: &Database, def: &TableDef) {
        let parents = def.foreign_keys.iter().filter_map(|key| database.table_by_name(&key.parent_database, &key.parent_table));
        for parent in parents.filter(|parent| parent.id() != def.id) {
            self.add_unnamed(database, parent, TableUse::Reads);
        }
        for child in database.children_of(def.id).into_iter().filter(|child| child.id() != def.id) {
            let mut keys = child.def().foreign_keys.iter().filter(|key| key.is_of(&def.database, &def.name));
            let passes_on = |action: ReferenceAction| action.changes_child();
            let used = if keys.any(|key| passes_on(key.on_delete) || passes_on(key.on_update)) {
                TableUse::Writes
            } else {
                TableUse::Reads
            };
            self.add_unnamed(database, child, used);
        }
    }
}
