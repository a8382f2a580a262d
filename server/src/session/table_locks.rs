//! What a session has locked by LOCK TABLES and FLUSH TABLES WITH READ LOCK, and what it may do meanwhile. `lock_statements` gets and
//! gives back.
//!
//! A WRITE lock is the right to change the definition and the metadata lock alone; a READ lock is a share that bars writers
//! (`table::mdl`). With a view its tables are locked, with a table that is written its children and parents by foreign keys, as far as
//! they would be written or read.
//!
//! L1: after LOCK TABLES a statement names only what is locked, each lock once, and changes only what is locked for writing (1100, 1099).
//!     What functions and triggers use besides is held as by any statement. After FLUSH TABLES WITH READ LOCK it changes nothing (1223).
//! L2: what is locked is not asked for again: the session would wait for itself.

use crate::error::{Error, Result};
use crate::plan_cache::PlanEntry;
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;
use table::mdl::{ClaimGuard, DefinitionGuard, ExclusiveGuard, ReadLockGuard};
use table::{Database, Table, TableUse};
use types::schema::{ReferenceAction, TableDef, TableId};

/// All that a session has locked. Copies of it keep it locked.
#[derive(Clone, Default)]
pub struct SessionLocks {
    /// LOCK TABLES
    pub named: Option<Rc<NamedLocks>>,
    /// FLUSH TABLES WITH READ LOCK
    pub global: Option<Rc<GlobalLock>>,
    /// LOCK INSTANCE FOR BACKUP
    pub backup: Option<Rc<NoDefinitions>>,
}

/// What LOCK TABLES has locked.
pub struct NamedLocks {
    names: Vec<NamedLock>,
    tables: LockedTables,
}

/// All tables, locked for reading, while there are no definitions.
pub struct GlobalLock {
    tables: LockedTables,
    _no_definitions: NoDefinitions,
}

/// No definition begins.
pub struct NoDefinitions {
    _lock: ReadLockGuard,
    claim: ClaimGuard,
}

/// A name under which something is locked.
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

/// What keeps others out. Fields drop in order: users come back before definitions.
pub enum TableGuard {
    Read { _lock: ReadLockGuard },
    Write { _alone: ExclusiveGuard, _definition: DefinitionGuard },
}

/// What is to be locked.
#[derive(Default)]
pub struct Wanted {
    names: Vec<NamedLock>,
    /// In the order in which they are locked.
    pub tables: BTreeMap<TableId, (Arc<Table>, TableUse)>,
}

impl SessionLocks {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.named.is_none() && self.global.is_none()
    }

    /// May a statement use what it names? (L1)
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
            Some(_) if changes => Err(Error::GloballyLocked),
            _ => Ok(()),
        }
    }

    /// Is a table locked for this use? `false`: it is not locked. (L2)
    ///
    /// # Errors
    /// 1099, 1223: it is locked for reading alone.
    pub fn cover(&self, table: &Table, used: TableUse) -> Result<bool> {
        let locked = |tables: &LockedTables| tables.of(table.id());
        match (
            self.named.as_ref().and_then(|named| locked(&named.tables)),
            self.global.as_ref().and_then(|all| locked(&all.tables)),
        ) {
            (None, None) => Ok(false),
            (_, Some(_)) if used == TableUse::Writes => Err(Error::GloballyLocked),
            (Some(TableUse::Reads), _) if used == TableUse::Writes => Err(Error::LockedForReading(table.def().name.clone())),
            _ => Ok(true),
        }
    }

    /// May somebody who looks after tables use this one?
    ///
    /// # Errors
    /// 1100, 1099, 1223
    pub fn check_table(&self, table: Option<TableId>, name: &str, used: TableUse) -> Result<()> {
        if self.global.is_some() && used == TableUse::Writes {
            return Err(Error::GloballyLocked);
        }
        let Some(named) = &self.named else { return Ok(()) };
        match table.and_then(|id| named.tables.of(id)) {
            Some(locked) if locked >= used => Ok(()),
            Some(_) => Err(Error::LockedForReading(name.to_owned())),
            None => Err(Error::TableNotLocked(name.to_owned())),
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

    /// The tables.
    pub fn tables(&self) -> impl Iterator<Item = TableId> {
        self.tables.0.iter().map(|locked| locked.table)
    }

    /// Is any of the tables still there?
    pub fn is_alive(&self, database: &Database) -> bool {
        self.tables.0.iter().any(|locked| database.table(locked.table).is_some())
    }

    /// Some table that is locked for reading, among these or all.
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

    /// Others are told that it is held, for good; before it may be given back soon.
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
    /// A table or view by a name, and nothing of what is used with it.
    pub fn name(&mut self, table: TableId, alias: Option<&str>, used: TableUse) {
        self.names.push(NamedLock { table, alias: alias.map(Into::into), used });
    }

    /// A table, and what is used with it.
    pub fn add(&mut self, database: &Database, table: Arc<Table>, used: TableUse) {
        let def = Arc::clone(table.def());
        let known = self.tables.entry(def.id).or_insert((table, TableUse::Reads));
        let is_new = used == TableUse::Writes && known.1 < used;
        known.1 = known.1.max(used);
        if is_new {
            self.add_keys(database, &def);
        }
    }

    /// A table that is locked for another one's sake can be used, too.
    pub fn add_unnamed(&mut self, database: &Database, table: Arc<Table>, used: TableUse) {
        let id = table.id();
        if !self.names.iter().any(|lock| lock.table == id && lock.alias.is_none()) {
            self.name(id, None, used);
        }
        self.add(database, table, used);
    }

    /// What foreign keys read and write where this table is written.
    fn add_keys(&mut self, database: &Database, def: &TableDef) {
        let parents = def.foreign_keys.iter().filter_map(|key| database.table_by_name(&key.parent_database, &key.parent_table));
        for parent in parents.filter(|parent| parent.id() != def.id) {
            self.add_unnamed(database, parent, TableUse::Reads);
        }
        for child in database.children_of(def.id).into_iter().filter(|child| child.id() != def.id) {
            let mut keys = child.def().foreign_keys.iter().filter(|key| key.is_of(&def.database, &def.name));
            let passes_on = |action: ReferenceAction| action.changes_child();
            let used = match keys.any(|key| passes_on(key.on_delete) || passes_on(key.on_update)) {
                true => TableUse::Writes,
                false => TableUse::Reads,
            };
            self.add_unnamed(database, child, used);
        }
    }
}
