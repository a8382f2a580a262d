//! Restores accounts and grants from the rows that a dump inserts into the tables of `mysql`.
//!
//! `mysqldump --all-databases` writes these tables like any other: DROP TABLE, CREATE TABLE, INSERT. Here they are
//! views of the accounts, so the rows are translated. Some grant tables come before `user` in a dump: their rows wait
//! here ([`Staged`]) for the account's row in `user`. FLUSH PRIVILEGES applies rows that still wait to existing
//! accounts.
//!
//! R1: an account is created or replaced in one change, with all its waiting rows: nobody sees it with fewer privileges
//!     than the dump gives.
//! R2: an existing account keeps its grants, except those in tables that the dump drops.
//! R3: the number of waiting rows is bounded ([`STAGED_MAX`]).

use super::Accounts;
use super::Notes;
use super::model::*;
use super::password::Plugin;
use super::privilege::{DYNAMIC, Privileges};
use crate::Result;
use conditions::Condition;
use std::collections::{BTreeMap, BTreeSet};
use types::temporal::{Moment, TimeZone, parse_datetime};

/// Rows that may wait for their accounts.
const STAGED_MAX: usize = 1_000_000;

/// A table about accounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GrantTable {
    Columns,
    Databases,
    DefaultRoles,
    Dynamic,
    Passwords,
    Routines,
    Proxies,
    Edges,
    Tables,
    Users,
}

impl GrantTable {
    /// By its name in lower case.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "columns_priv" => Self::Columns,
            "db" => Self::Databases,
            "default_roles" => Self::DefaultRoles,
            "global_grants" => Self::Dynamic,
            "password_history" => Self::Passwords,
            "procs_priv" => Self::Routines,
            "proxies_priv" => Self::Proxies,
            "role_edges" => Self::Edges,
            "tables_priv" => Self::Tables,
            "user" => Self::Users,
            _ => return None,
        })
    }
}

/// A row: by the names of columns in lower case, the names for messages and the values as text.
pub struct GrantRow {
    pub cells: BTreeMap<String, (String, Option<String>)>,
    /// Its number in the statement, for messages.
    pub number: usize,
}

impl GrantRow {
    fn get(&self, column: &str) -> Option<&str> {
        self.cells.get(column)?.1.as_deref()
    }

    /// A column's name as its table has it.
    fn shown<'c>(&'c self, column: &'c str) -> &'c str {
        self.cells.get(column).map_or(column, |(name, _)| name)
    }

    fn text(&self, column: &str) -> String {
        self.get(column).unwrap_or_default().to_owned()
    }

    fn optional(&self, column: &str) -> Option<String> {
        self.get(column).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// The account that two columns name.
    fn name(&self, user: &str, host: &str) -> Name {
        Name { user: self.text(user), host: self.text(host).to_ascii_lowercase() }
    }

    /// 1265
    fn truncated(&self, column: &str) -> Condition {
        let column = self.shown(column);
        Condition::WarnDataTruncated { column: column.into(), row: self.number.into() }
    }

    /// 'Y' or 'N'; a missing value is 'N'.
    fn flag(&self, column: &str) -> Result<bool> {
        match self.get(column) {
            None => Ok(false),
            Some(text) if text.eq_ignore_ascii_case("y") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("n") => Ok(false),
            Some(_) => Err(self.truncated(column)),
        }
    }

    /// 1366
    fn number<T: std::str::FromStr>(&self, column: &str) -> Result<Option<T>> {
        let Some(text) = self.get(column) else { return Ok(None) };
        let wrong = || Condition::TruncatedWrongValueForField {
            kind: "integer".into(),
            value: text.into(),
            column: self.shown(column).into(),
            row: self.number.into(),
        };
        text.parse().map(Some).map_err(|_| wrong())
    }

    /// A value of a SET of privileges.
    fn set(&self, column: &str) -> Result<Privileges> {
        let mut all = Privileges::NONE;
        for word in self.get(column).unwrap_or_default().split(',').filter(|word| !word.is_empty()) {
            let word = word.to_ascii_uppercase();
            let named = if word == "GRANT" { Some(Privileges::GRANT) } else { Privileges::named(&word) };
            all = all.with(named.ok_or_else(|| self.truncated(column))?);
        }
        Ok(all)
    }

    /// The privileges of the columns `..._priv`.
    fn flags(&self) -> Result<Privileges> {
        let mut all = Privileges::NONE;
        for (bit, column) in FLAGS.iter().enumerate() {
            if self.flag(column)? {
                all = all.with(Privileges(1 << bit));
            }
        }
        Ok(all)
    }

    /// Seconds since the epoch. 1292
    fn moment(&self, column: &str, zone: &TimeZone) -> Result<i64> {
        let Some(text) = self.get(column).filter(|text| !text.starts_with("0000-00-00")) else { return Ok(0) };
        let wrong = || Condition::TruncatedWrongTemporalForField {
            kind: "datetime".into(),
            value: text.into(),
            column: self.shown(column).into(),
            row: self.number.into(),
        };
        let read = parse_datetime(text.as_bytes()).filter(|read| !read.truncated).ok_or_else(wrong)?;
        match zone.to_utc(read.value) {
            Moment::At(micros) | Moment::Gap(micros) => Ok(micros.div_euclid(1_000_000)),
            Moment::NoDate => Err(wrong()),
        }
    }
}

/// The columns of privileges in `user` and `db`, in the order of the bits.
#[rustfmt::skip]
const FLAGS: [&str; 31] = [
    "select_priv", "insert_priv", "update_priv", "delete_priv", "create_priv", "drop_priv", "reload_priv", "shutdown_priv",
    "process_priv", "file_priv", "grant_priv", "references_priv", "index_priv", "alter_priv", "show_db_priv", "super_priv",
    "create_tmp_table_priv", "lock_tables_priv", "execute_priv", "repl_slave_priv", "repl_client_priv", "create_view_priv",
    "show_view_priv", "create_routine_priv", "alter_routine_priv", "create_user_priv", "event_priv", "trigger_priv",
    "create_tablespace_priv", "create_role_priv", "drop_role_priv",
];

/// The waiting grants of an account: only the fields of grants are set.
type Grants = Account;

/// The waiting grants of the whole server.
#[derive(Default)]
pub struct Staged {
    /// Tables that a dump has dropped: earlier grants in them are removed (R2).
    dropped: BTreeSet<GrantTable>,
    /// The columns in the order of the dump's CREATE TABLE.
    columns: BTreeMap<GrantTable, Vec<String>>,
    grants: BTreeMap<Name, Grants>,
    rows: usize,
}

impl Staged {
    /// DROP TABLE
    pub fn drop_table(&mut self, table: GrantTable) {
        self.dropped.insert(table);
    }

    /// Notes the CREATE TABLE that follows it.
    pub fn create_table(&mut self, table: GrantTable, columns: Vec<String>) {
        if self.dropped.contains(&table) {
            self.columns.insert(table, columns);
        }
    }

    pub fn columns(&self, table: GrantTable) -> Option<&[String]> {
        self.columns.get(&table).map(Vec::as_slice)
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.grants.is_empty() && self.dropped.is_empty()
    }

    /// Takes rows of a table other than `user`: all or none.
    pub fn add(&mut self, table: GrantTable, rows: &[GrantRow], zone: &TimeZone) -> Result<()> {
        if self.rows + rows.len() > STAGED_MAX {
            return Err(Condition::TooManyStagedRows);
        }
        let read = rows.iter().map(|row| read(table, row, zone)).collect::<Result<Vec<_>>>()?;
        self.rows += read.len();
        for grants in read {
            let waiting = self.grants.entry(grants.name.clone()).or_default();
            merge(waiting, grants);
        }
        Ok(())
    }

    /// Creates or replaces the accounts of rows of `user`. Returns what was left out, and why.
    pub fn make(&mut self, accounts: &mut Accounts, rows: &[GrantRow], replaces: bool, zone: &TimeZone) -> Result<Notes> {
        let mut notes = Vec::new();
        let mut made = Vec::new();
        for row in rows {
            let plugin = row.get("plugin").unwrap_or(Plugin::default().name());
            match Plugin::named(plugin) {
                Some(plugin) => made.push(user(row, plugin, zone)?),
                None => {
                    let name = row.name("user", "host").quoted();
                    notes.push(Condition::PluginIsNotLoadedForAccount { plugin: plugin.into(), account: name.into() });
                }
            }
        }
        for mut account in made {
            let waiting = self.grants.get(&account.name).cloned();
            if let Some(before) = accounts.get(&account.name) {
                if !replaces && !self.dropped.contains(&GrantTable::Users) {
                    let Name { user, host } = &account.name;
                    return Err(Condition::DupEntry { value: format!("{host}-{user}").into(), key: "user.PRIMARY".into() });
                }
                let mut kept = Account::clone(before);
                self.clear_dropped(&mut kept);
                merge(&mut account, kept);
            }
            if let Some(waiting) = waiting {
                merge(&mut account, waiting);
            }
            accounts.put(account);
        }
        Ok(notes)
    }

    /// Removes waiting grants after the accounts of `user` were created.
    pub fn forget<'n>(&mut self, names: impl IntoIterator<Item = &'n Name>) {
        for name in names {
            self.grants.remove(name);
        }
        self.rows = self.grants.values().map(weight).sum();
    }

    /// FLUSH PRIVILEGES: applies waiting grants to existing accounts, and names the missing accounts.
    pub fn flush(&self, accounts: &mut Accounts) -> Notes {
        let mut notes = Vec::new();
        for (name, waiting) in &self.grants {
            let Some(before) = accounts.get(name) else {
                notes.push(Condition::UserDoesNotExist { account: name.quoted().into() });
                continue;
            };
            let mut account = Account::clone(before);
            self.clear_dropped(&mut account);
            merge(&mut account, waiting.clone());
            accounts.put(account);
        }
        notes
    }

    fn clear_dropped(&self, account: &mut Account) {
        for table in &self.dropped {
            match table {
                GrantTable::Columns => account.tables.iter_mut().for_each(|grant| grant.columns.clear()),
                GrantTable::Tables => account.tables.iter_mut().for_each(|grant| grant.privileges = Privileges::NONE),
                GrantTable::Databases => account.databases.clear(),
                GrantTable::DefaultRoles => account.default_roles.clear(),
                GrantTable::Dynamic => account.dynamic.clear(),
                GrantTable::Passwords => account.old_passwords.clear(),
                GrantTable::Routines => account.routines.clear(),
                GrantTable::Proxies => account.proxies.clear(),
                GrantTable::Edges => account.roles.clear(),
                GrantTable::Users => {}
            }
        }
        account.tables.retain(|grant| !grant.privileges.is_empty() || !grant.columns.is_empty());
    }
}

/// About how many rows it was.
fn weight(grants: &Grants) -> usize {
    grants.databases.len()
        + grants.tables.iter().map(|grant| 1 + grant.columns.len()).sum::<usize>()
        + grants.routines.len()
        + grants.proxies.len()
        + grants.roles.len()
        + grants.default_roles.len()
        + grants.dynamic.len()
        + grants.old_passwords.len()
}

/// One row of a table other than `user`.
fn read(table: GrantTable, row: &GrantRow, zone: &TimeZone) -> Result<Grants> {
    let mut grants = Grants { name: row.name("user", "host"), ..Grants::default() };
    let database = row.text("db");
    match table {
        GrantTable::Databases => {
            grants.databases.push(DatabaseGrant { database, privileges: row.flags()?.and(Privileges::DATABASE) });
        }
        GrantTable::Tables => {
            let privileges = row.set("table_priv")?.and(Privileges::TABLE);
            grants.tables.push(TableGrant { database, table: row.text("table_name"), privileges, columns: BTreeMap::new() });
        }
        GrantTable::Columns => {
            let columns = [(row.text("column_name"), row.set("column_priv")?.and(Privileges::COLUMN))].into();
            grants.tables.push(TableGrant { database, table: row.text("table_name"), privileges: Privileges::NONE, columns });
        }
        GrantTable::Routines => {
            let function = match row.get("routine_type") {
                Some(kind) if kind.eq_ignore_ascii_case("function") => true,
                Some(kind) if kind.eq_ignore_ascii_case("procedure") => false,
                _ => return Err(row.truncated("routine_type")),
            };
            let privileges = row.set("proc_priv")?.and(Privileges::ROUTINE);
            grants.routines.push(RoutineGrant { database, name: row.text("routine_name"), function, privileges });
        }
        GrantTable::Proxies => {
            let grant_option = row.number::<u8>("with_grant")?.unwrap_or(0) != 0;
            grants.proxies.push(ProxyGrant { proxied: row.name("proxied_user", "proxied_host"), grant_option });
        }
        GrantTable::Edges => {
            grants.name = row.name("to_user", "to_host");
            grants.roles.push(RoleGrant { role: row.name("from_user", "from_host"), admin: row.flag("with_admin_option")? });
        }
        GrantTable::DefaultRoles => grants.default_roles.push(row.name("default_role_user", "default_role_host")),
        GrantTable::Dynamic => {
            let name = row.text("priv").to_ascii_uppercase();
            if !DYNAMIC.contains(&name.as_str()) {
                return Err(Condition::WarnDaPrivilegeNotRegistered { privilege: name.into() });
            }
            grants.dynamic.insert(name, row.flag("with_grant_option")?);
        }
        GrantTable::Passwords => grants.old_passwords.push((row.text("password"), row.moment("password_timestamp", zone)?)),
        GrantTable::Users => {}
    }
    Ok(grants)
}

/// The account of a row of `user`, without data of other tables.
fn user(row: &GrantRow, plugin: Plugin, zone: &TimeZone) -> Result<Account> {
    let stored = row.text("authentication_string");
    // MySQL gives this text to its own locked accounts; no password matches it.
    let is_none = stored.contains("THISISACOMBINATIONOFINVALIDSALTANDPASSWORD");
    if !is_none && !plugin.accepts(&stored) {
        return Err(Condition::PasswordFormat);
    }
    let kind = row.text("ssl_type").to_ascii_uppercase();
    let own = |column| if kind == "SPECIFIED" { row.optional(column) } else { None };
    let requirement = match kind.as_str() {
        "" | "ANY" | "X509" | "SPECIFIED" => Requirement {
            ssl: kind == "ANY",
            x509: kind == "X509",
            subject: own("x509_subject"),
            issuer: own("x509_issuer"),
            cipher: own("ssl_cipher"),
        },
        _ => return Err(row.truncated("ssl_type")),
    };
    let limit = |column| row.number::<u32>(column).map(Option::unwrap_or_default);
    let mut account = Account {
        name: row.name("user", "host"),
        plugin,
        stored,
        locked: row.flag("account_locked")?,
        expired: row.flag("password_expired")?,
        password_changed: row.moment("password_last_changed", zone)?,
        lifetime: match row.number::<u32>("password_lifetime")? {
            None => Lifetime::Default,
            Some(0) => Lifetime::Never,
            Some(days) => Lifetime::Days(days),
        },
        history: row.number("password_reuse_history")?,
        reuse_days: row.number("password_reuse_time")?,
        require_current: match row.get("password_require_current") {
            None => None,
            Some(_) => Some(row.flag("password_require_current")?),
        },
        limits: Limits {
            queries: limit("max_questions")?,
            updates: limit("max_updates")?,
            connections: limit("max_connections")?,
            user_connections: limit("max_user_connections")?,
        },
        requirement,
        global: row.flags()?,
        ..Account::default()
    };
    if let Some(json) = row.get("user_attributes") {
        attributes(&mut account, json)
            .ok_or_else(|| Condition::SystemTableInvalidJson { column: "user.User_attributes".into(), row: row.number.into() })?;
    }
    Ok(account)
}

/// User_attributes
fn attributes(account: &mut Account, json: &str) -> Option<()> {
    let serde_json::Value::Object(mut all) = serde_json::from_str(json).ok()? else { return None };
    if let Some(serde_json::Value::Object(own)) = all.remove("metadata") {
        account.attribute = Some(own);
    }
    if let Some(locking) = all.remove("Password_locking") {
        account.failed_logins = u32::try_from(locking.get("failed_login_attempts")?.as_u64()?).ok()?;
        account.lock_days = i32::try_from(locking.get("password_lock_time_days")?.as_i64()?).ok()?;
    }
    if let Some(second) = all.remove("additional_password") {
        account.second = second.as_str()?.to_owned();
    }
    Some(())
}

/// Adds the grants of `more` to an account.
fn merge(account: &mut Account, more: Account) {
    if account.name == Name::default() {
        account.name = more.name;
    }
    for grant in more.databases {
        match account.databases.iter_mut().find(|own| own.database == grant.database) {
            Some(own) => own.privileges = own.privileges.with(grant.privileges),
            None => account.databases.push(grant),
        }
    }
    for grant in more.tables {
        match account.tables.iter_mut().find(|own| own.database == grant.database && own.table == grant.table) {
            Some(own) => {
                own.privileges = own.privileges.with(grant.privileges);
                for (column, privileges) in grant.columns {
                    let all = own.columns.entry(column).or_default();
                    *all = all.with(privileges);
                }
            }
            None => account.tables.push(grant),
        }
    }
    for grant in more.routines {
        let is_same = |own: &&mut RoutineGrant| own.database == grant.database && own.is_of(&grant.name, grant.function);
        match account.routines.iter_mut().find(is_same) {
            Some(own) => own.privileges = own.privileges.with(grant.privileges),
            None => account.routines.push(grant),
        }
    }
    for grant in more.proxies {
        match account.proxies.iter_mut().find(|own| own.proxied == grant.proxied) {
            Some(own) => own.grant_option |= grant.grant_option,
            None => account.proxies.push(grant),
        }
    }
    for grant in more.roles {
        match account.roles.iter_mut().find(|own| own.role == grant.role) {
            Some(own) => own.admin |= grant.admin,
            None => account.roles.push(grant),
        }
    }
    for role in more.default_roles {
        if !account.default_roles.contains(&role) {
            account.default_roles.push(role);
        }
    }
    for (name, option) in more.dynamic {
        *account.dynamic.entry(name).or_default() |= option;
    }
    for password in more.old_passwords {
        if !account.old_passwords.contains(&password) {
            account.old_passwords.push(password);
        }
    }
    account.old_passwords.sort_by_key(|(_, set)| std::cmp::Reverse(*set));
}

/// The accounts that rows of a table are about.
pub fn named(table: GrantTable, rows: &[GrantRow]) -> Vec<Name> {
    let (user, host) = match table {
        GrantTable::Edges => ("to_user", "to_host"),
        _ => ("user", "host"),
    };
    rows.iter().map(|row| row.name(user, host)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[(&str, &str)]) -> GrantRow {
        let cells =
            cells.iter().map(|(name, value)| ((*name).to_owned(), ((*name).to_owned(), Some((*value).to_owned())))).collect();
        GrantRow { cells, number: 1 }
    }

    #[test]
    fn grants_wait_for_their_account() {
        let mut staged = Staged::default();
        let zone = TimeZone::Utc;
        let grant = row(&[("host", "%"), ("user", "a"), ("db", "shop"), ("select_priv", "Y"), ("shutdown_priv", "Y")]);
        staged.add(GrantTable::Databases, &[grant], &zone).unwrap();
        let mut accounts = Accounts::default();
        assert_eq!(staged.flush(&mut accounts).len(), 1, "the account is not there");
        let user = || row(&[("host", "%"), ("user", "a"), ("plugin", "caching_sha2_password"), ("process_priv", "Y")]);
        staged.make(&mut accounts, &[user()], false, &zone).unwrap();
        let made = accounts.get(&Name::new("a", "%")).unwrap();
        assert_eq!(made.global, Privileges::PROCESS);
        assert_eq!(made.databases[0].privileges, Privileges::SELECT, "SHUTDOWN is no privilege of a database");
        assert!(staged.make(&mut accounts, &[user()], false, &zone).is_err(), "1062");
        staged.drop_table(GrantTable::Users);
        staged.make(&mut accounts, &[user()], false, &zone).unwrap();
    }

    #[test]
    fn malformed_rows_are_refused() {
        let mut staged = Staged::default();
        let refused = |staged: &mut Staged, table, cells: &[(&str, &str)]| {
            staged.add(table, &[row(cells)], &TimeZone::Utc).is_err() && staged.is_empty()
        };
        assert!(refused(&mut staged, GrantTable::Databases, &[("select_priv", "maybe")]));
        assert!(refused(&mut staged, GrantTable::Tables, &[("table_priv", "Select,Fly")]));
        assert!(refused(&mut staged, GrantTable::Routines, &[("routine_type", "LIBRARY")]));
        assert!(refused(&mut staged, GrantTable::Proxies, &[("with_grant", "x")]));
        assert!(refused(&mut staged, GrantTable::Dynamic, &[("priv", "NOPE")]));
        assert!(refused(&mut staged, GrantTable::Passwords, &[("password_timestamp", "yesterday")]));
    }

    #[test]
    fn flags_have_the_order_of_the_bits() {
        for (column, bit) in
            [("grant_priv", Privileges::GRANT), ("execute_priv", Privileges::EXECUTE), ("drop_role_priv", Privileges::DROP_ROLE)]
        {
            assert_eq!(row(&[(column, "Y")]).flags().unwrap(), bit, "{column}");
        }
    }
}
