//! The effective privileges of a session: those of its account and of its active roles, combined.
//!
//! Database grants are patterns. For each grantee the most specific matching pattern counts, as in MySQL. A lookup does
//! not allocate.

use super::model::{Account, Name, RoutineGrant};
use super::privilege::{DYNAMIC, Privileges};
use super::{Accounts, SYSTEM_USER, special};
use crate::Result;
use conditions::Condition;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;
use types::schema::{DatabaseDef, RoutineDef, Schema};

/// The privileges of some sessions of a worker, as of one epoch.
#[derive(Debug)]
pub struct Access {
    /// Identifies this set among all of the worker; unique and never zero.
    pub stamp: u64,
    pub epoch: u64,
    /// The account.
    pub name: Name,
    /// User and host as the client has them, for messages.
    pub user: String,
    pub host: String,
    pub using_password: bool,
    pub roles: Vec<Name>,
    pub global: Privileges,
    /// The account may read and change the rows of every table.
    pub reads_all: bool,
    /// The password has expired: nothing but a new one is allowed.
    pub expired: bool,
    dynamic: BTreeMap<String, bool>,
    /// By grantee, most specific first.
    databases: Vec<Vec<(String, Privileges)>>,
    tables: HashMap<String, HashMap<String, OfTable>>,
    /// By database.
    routines: HashMap<String, Vec<RoutineGrant>>,
    /// The part of the schema that the account may see, for the schema version used last.
    visible: RefCell<Option<(u64, Arc<Schema>)>>,
}

#[derive(Debug, Default)]
struct OfTable {
    table: Privileges,
    some_column: Privileges,
    columns: HashMap<String, Privileges>,
}

/// The identity of a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    pub name: Name,
    pub user: String,
    pub host: String,
    pub using_password: bool,
    pub roles: Vec<Name>,
    pub expired: bool,
    /// The applier of a replica: it may do everything.
    pub is_applier: bool,
}

impl Identity {
    /// The identity under which changes of another server are applied.
    pub fn applier() -> Self {
        let name = Name { user: String::new(), host: String::new() };
        let (user, host) = ("system user".to_owned(), String::new());
        Self { name, user, host, using_password: false, roles: Vec::new(), expired: false, is_applier: true }
    }

    /// The identity of the definer of a view or routine, under which its body runs.
    pub fn definer(name: &Name, roles: Vec<Name>) -> Self {
        let (user, host) = (name.user.clone(), name.host.clone());
        Self { name: name.clone(), user, host, using_password: true, roles, expired: false, is_applier: false }
    }
}

/// The sets that sessions of a worker have.
#[derive(Debug, Default)]
pub struct Accesses {
    epoch: u64,
    known: HashMap<Identity, Rc<Access>>,
    /// Definers; `None`: the account does not exist.
    definers: HashMap<Name, Option<Rc<Access>>>,
    last_stamp: u64,
}

impl Accesses {
    /// The set of these roles of the account, as of the snapshot.
    pub fn get(&mut self, accounts: &Accounts, identity: &Identity, mandatory: &[Name]) -> Rc<Access> {
        self.turn(accounts.epoch);
        if let Some(access) = self.known.get(identity) {
            return Rc::clone(access);
        }
        const KNOWN_MAX: usize = 4096;
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.last_stamp += 1;
        let access = Rc::new(Access::new(self.last_stamp, accounts, identity, mandatory));
        self.known.insert(identity.clone(), Rc::clone(&access));
        access
    }

    /// Drops everything from another epoch.
    fn turn(&mut self, epoch: u64) {
        if self.epoch != epoch {
            self.known.clear();
            self.definers.clear();
            self.epoch = epoch;
        }
    }

    /// The privileges of a definer in this epoch, if they are cached; `Some(None)`: the account does not exist.
    pub fn definer(&self, epoch: u64, name: &Name) -> Option<Option<Rc<Access>>> {
        if self.epoch == epoch { self.definers.get(name).cloned() } else { None }
    }

    /// Puts the rights of a definer together. Its default roles are active, or `all_roles`.
    pub fn make_definer(&mut self, accounts: &Accounts, name: &Name, all_roles: bool, mandatory: &[Name]) -> Option<Rc<Access>> {
        self.turn(accounts.epoch);
        let access = accounts.get(name).map(|account| {
            let identity = Identity::definer(name, accounts.roles_at_login(account, all_roles, mandatory));
            self.get(accounts, &identity, mandatory)
        });
        self.definers.insert(name.clone(), access.clone());
        access
    }
}

impl Access {
    fn new(stamp: u64, accounts: &Accounts, identity: &Identity, mandatory: &[Name]) -> Self {
        let account = accounts.get(&identity.name);
        let mut grantees: Vec<&Arc<Account>> = account.into_iter().collect();
        // A role that was taken away is no longer active, and an account that is gone has none.
        let is_granted = |role: &&Name| account.is_some_and(|a| a.has_role(role).is_some() || mandatory.contains(role));
        let active: Vec<Name> = identity.roles.iter().filter(is_granted).cloned().collect();
        let mut roles: Vec<&Name> = active.iter().collect();
        let mut seen: Vec<&Name> = Vec::new();
        while let Some(role) = roles.pop() {
            if seen.contains(&role) {
                continue;
            }
            seen.push(role);
            if let Some(account) = accounts.get(role) {
                grantees.push(account);
                roles.extend(account.roles.iter().map(|grant| &grant.role));
            }
        }
        let mut access = Self {
            stamp,
            epoch: accounts.epoch,
            name: identity.name.clone(),
            user: identity.user.clone(),
            host: identity.host.clone(),
            using_password: identity.using_password,
            roles: active.clone(),
            global: Privileges::NONE,
            reads_all: false,
            expired: identity.expired,
            dynamic: BTreeMap::new(),
            databases: Vec::new(),
            tables: HashMap::new(),
            routines: HashMap::new(),
            visible: RefCell::default(),
        };
        for account in grantees {
            access.add(account);
        }
        if identity.is_applier {
            access.global = Privileges::GLOBAL;
            access.dynamic = DYNAMIC.iter().map(|name| ((*name).to_owned(), true)).collect();
        }
        access.reads_all = access.global.has(Privileges::ROWS) && !access.expired;
        access
    }

    fn add(&mut self, account: &Account) {
        self.global = self.global.with(account.global);
        for (name, grantable) in &account.dynamic {
            *self.dynamic.entry(name.clone()).or_default() |= *grantable;
        }
        let mut databases: Vec<_> = account.databases.iter().map(|grant| (grant.database.clone(), grant.privileges)).collect();
        let wild_at = |pattern: &str| pattern.find(['%', '_', '\\']).unwrap_or(usize::MAX);
        databases.sort_by_key(|(pattern, _)| std::cmp::Reverse(wild_at(pattern)));
        self.databases.push(databases);
        for grant in &account.tables {
            let tables = self.tables.entry(grant.database.clone()).or_default();
            let of = tables.entry(grant.table.clone()).or_default();
            of.table = of.table.with(grant.privileges);
            of.some_column = of.some_column.with(grant.of_columns());
            for (column, more) in &grant.columns {
                let all = of.columns.entry(column.to_lowercase()).or_default();
                *all = all.with(*more);
            }
        }
        for grant in &account.routines {
            self.routines.entry(grant.database.clone()).or_default().push(grant.clone());
        }
    }

    /// The privileges on every table of the database: the global ones and those on the database.
    pub fn database(&self, database: &str) -> Privileges {
        let mut all = self.global;
        for grants in &self.databases {
            let found = grants.iter().find(|(pattern, _)| pattern == database || matches_database(pattern, database));
            all = found.map_or(all, |(_, more)| all.with(*more));
        }
        all
    }

    /// The global privileges and those on exactly this pattern.
    pub fn exact_database(&self, pattern: &str) -> Privileges {
        let exact = self.databases.iter().flatten().filter(|(known, _)| known == pattern);
        exact.fold(self.global, |all, (_, more)| all.with(*more))
    }

    /// The privileges on a table, including its database's: on the whole table, and on all or some of its columns.
    pub fn table(&self, database: &str, table: &str) -> (Privileges, Privileges) {
        let above = self.database(database);
        match self.tables.get(database).and_then(|tables| tables.get(table)) {
            Some(of) => (above.with(of.table), above.with(of.table).with(of.some_column)),
            None => (above, above),
        }
    }

    /// The privileges on a column alone, without the table's.
    pub fn column(&self, database: &str, table: &str, column: &str) -> Privileges {
        let Some(of) = self.tables.get(database).and_then(|tables| tables.get(table)) else { return Privileges::NONE };
        if let Some(found) = of.columns.get(column) {
            return *found;
        }
        let same = |(name, _): &(&String, &Privileges)| name.eq_ignore_ascii_case(column);
        of.columns.iter().find(same).map_or(Privileges::NONE, |(_, found)| *found)
    }

    pub fn has(&self, privileges: Privileges) -> bool {
        self.global.has(privileges)
    }

    /// A dynamic privilege; SUPER implies the administrative ones.
    pub fn has_dynamic(&self, name: &str) -> bool {
        self.dynamic.contains_key(name)
    }

    pub fn may_grant_dynamic(&self, name: &str) -> bool {
        self.dynamic.get(name).copied().unwrap_or(false)
    }

    /// SUPER or a dynamic privilege; 1227 names them as given.
    pub fn needs_admin(&self, dynamic: &str, named: &str) -> Result<()> {
        if self.has(Privileges::SUPER) || self.has_dynamic(dynamic) { Ok(()) } else { Err(special(named)) }
    }

    /// Accounts with SYSTEM_USER are changed by their kind alone.
    pub fn guard<'n>(&self, accounts: &Accounts, names: impl IntoIterator<Item = &'n Name>) -> Result<()> {
        if self.has_dynamic(SYSTEM_USER) {
            return Ok(());
        }
        let is_system = |name: &Name| {
            *name != self.name && accounts.get(name).is_some_and(|account| account.dynamic.contains_key(SYSTEM_USER))
        };
        if names.into_iter().any(is_system) { Err(special(SYSTEM_USER)) } else { Ok(()) }
    }

    /// May it manage accounts? CREATE USER, or the privilege on the tables of `mysql` with which one could do so by
    /// hand in MySQL.
    pub fn manages_accounts(&self, by_hand: Privileges) -> bool {
        self.has(Privileges::CREATE_USER) || self.database("mysql").has(by_hand)
    }

    /// KILL for others, one more connection than there may be.
    pub fn administers_connections(&self) -> bool {
        self.has(Privileges::SUPER) || self.has_dynamic("CONNECTION_ADMIN")
    }

    /// May the account learn that the database exists?
    pub fn sees_database(&self, database: &str) -> bool {
        is_open_database(database)
            || self.has(Privileges::SHOW_DATABASES)
            || !self.database(database).and(Privileges::DATABASE.without(Privileges::GRANT)).is_empty()
            || self.tables.contains_key(database)
            || self.routines.contains_key(database)
    }

    /// May the account use it (USE)?
    pub fn enters_database(&self, database: &str) -> bool {
        is_open_database(database)
            || !self.database(database).and(Privileges::DATABASE.without(Privileges::GRANT)).is_empty()
            || self.tables.contains_key(database)
            || self.routines.contains_key(database)
    }

    /// May the account learn that the table exists?
    pub fn sees_table(&self, database: &str, table: &str) -> bool {
        is_open_database(database) || self.table(database, table).1.has_any(Privileges::TABLE)
    }

    /// May the account have the table's columns and indexes shown?
    pub fn shows_columns(&self, database: &str, table: &str) -> bool {
        let has_own = || self.tables.get(database).is_some_and(|tables| tables.contains_key(table));
        is_open_database(database) || self.database(database).has(Privileges::SELECT) || has_own()
    }

    /// May the account learn that the column exists?
    pub fn sees_column(&self, database: &str, table: &str, column: &str) -> bool {
        is_open_database(database)
            || self.table(database, table).0.has_any(Privileges::COLUMN)
            || !self.column(database, table, column).is_empty()
    }

    /// May the account see how the view is defined?
    pub fn shows_view(&self, database: &str, view: &str) -> bool {
        is_open_database(database) || self.table(database, view).0.has(Privileges::SELECT.with(Privileges::SHOW_VIEW))
    }

    /// The privileges on a routine, including its database's.
    pub fn routine(&self, database: &str, name: &str, function: bool) -> Privileges {
        let above = self.database(database);
        let own = self.routines.get(database).into_iter().flatten().filter(|grant| grant.is_of(name, function));
        own.fold(above, |all, grant| all.with(grant.privileges))
    }

    /// May the account learn that the routine exists?
    pub fn sees_routine(&self, def: &RoutineDef) -> bool {
        let some = Privileges::EXECUTE.with(Privileges::CREATE_ROUTINE).with(Privileges::ALTER_ROUTINE);
        self.routine(&def.database, &def.name, def.is_function()).has_any(some) || self.shows_routine(def)
    }

    /// May the account see the body of the routine?
    pub fn shows_routine(&self, def: &RoutineDef) -> bool {
        self.has(Privileges::SELECT) || self.has_dynamic("SHOW_ROUTINE") || def.definer == self.name.plain()
    }

    /// Sees all that there is.
    pub fn sees_all(&self) -> bool {
        self.reads_all && self.has(Privileges::SHOW_DATABASES)
    }

    /// The schema without the objects that the account may not see.
    pub fn visible(&self, schema: &Arc<Schema>) -> Arc<Schema> {
        if self.sees_all() {
            return Arc::clone(schema);
        }
        let mut kept = self.visible.borrow_mut();
        if let Some((version, visible)) = &*kept
            && *version == schema.version
        {
            return Arc::clone(visible);
        }
        let databases = schema.databases.iter().filter(|(name, _)| self.sees_database(name)).map(|(name, database)| {
            let tables = database.tables.iter().filter(|(table, _)| self.sees_table(name, table));
            let tables = tables.map(|(table, def)| (table.clone(), Arc::clone(def))).collect();
            let routines = database.routines.iter().filter(|(_, def)| self.sees_routine(def));
            let routines = routines.map(|(key, def)| (key.clone(), Arc::clone(def))).collect();
            (name.clone(), Arc::new(DatabaseDef { tables, routines, ..DatabaseDef::clone(database) }))
        });
        let visible = Arc::new(Schema { version: schema.version, databases: databases.collect() });
        *kept = Some((schema.version, Arc::clone(&visible)));
        visible
    }

    /// 1820
    pub fn refuse_expired(&self) -> Result<()> {
        if !self.expired {
            return Ok(());
        }
        Err(Condition::MustChangePassword)
    }

    /// 1142
    pub fn table_denied(&self, privileges: Privileges, table: &str) -> Condition {
        self.command_denied(&privileges.list(), table)
    }

    /// 1143
    pub fn column_denied(&self, privileges: Privileges, column: &str, table: &str) -> Condition {
        Condition::ColumnAccessDeniedError {
            command: privileges.list().into(),
            user: (&self.user).into(),
            host: (&self.host).into(),
            column: column.into(),
            table: table.into(),
        }
    }

    /// 1142, for whatever command.
    pub fn command_denied(&self, command: &str, table: &str) -> Condition {
        Condition::TableAccessDeniedError {
            command: command.into(),
            user: (&self.user).into(),
            host: (&self.host).into(),
            table: table.into(),
        }
    }

    /// 1370
    pub fn routine_denied(&self, command: &str, database: &str, routine: &str) -> Condition {
        Condition::ProcAccessDeniedError {
            command: command.into(),
            user: (&self.name.user).into(),
            host: (&self.name.host).into(),
            routine: format!("{database}.{routine}").into(),
        }
    }

    /// Refuses to call a stored function: 1370.
    pub fn calls_function(&self, database: &str, name: &str) -> Result<()> {
        if self.routine(database, name, true).has(Privileges::EXECUTE) {
            Ok(())
        } else {
            Err(self.routine_denied("execute", database, name))
        }
    }

    /// 1044
    pub fn database_denied(&self, database: &str) -> Condition {
        let Name { user, host } = &self.name;
        Condition::DbAccessDeniedError { user: user.into(), host: host.into(), database: database.into() }
    }

    /// 1045
    pub fn access_denied(&self) -> Condition {
        let Name { user, host } = &self.name;
        let using = if self.using_password { "YES" } else { "NO" };
        Condition::AccessDeniedError { user: user.into(), host: host.into(), using: using.into() }
    }
}

/// Databases whose table names everybody sees; reading them may still need privileges.
fn is_open_database(database: &str) -> bool {
    database.eq_ignore_ascii_case("information_schema") || database.eq_ignore_ascii_case("performance_schema")
}

/// The pattern of a database grant: `%`, `_` and `\`, with regard to case.
pub fn matches_database(pattern: &str, database: &str) -> bool {
    if !pattern.contains(['%', '_', '\\']) {
        return pattern == database;
    }
    types::collation::like(database.as_bytes(), pattern.as_bytes(), Some(b'\\'), types::CollationId::UTF8MB4_BIN)
}
