//! The stored form of an account or role: one JSON document in the catalog.

use super::password::Plugin;
use super::privilege::Privileges;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// User and host of an account; the host is lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Name {
    pub user: String,
    pub host: String,
}

impl Name {
    pub fn new(user: &str, host: &str) -> Self {
        Self { user: user.to_owned(), host: host.to_owned() }
    }

    /// The name of its record in the catalog.
    pub fn record(&self) -> Vec<u8> {
        [self.user.as_bytes(), &[0], self.host.as_bytes()].concat()
    }

    /// `'user'@'host'`, as messages have it.
    pub fn quoted(&self) -> String {
        format!("'{}'@'{}'", self.user, self.host)
    }

    /// `` `user`@`host` ``, as statements have it.
    pub fn ticked(&self) -> String {
        format!("{}@{}", ticked(&self.user), ticked(&self.host))
    }

    /// From `user@host`.
    pub fn from_plain(text: &str) -> Self {
        let (user, host) = text.rsplit_once('@').unwrap_or((text, "%"));
        Self::new(user, host)
    }

    /// `user@host`
    pub fn plain(&self) -> String {
        format!("{}@{}", self.user, self.host)
    }
}

/// A name between backticks.
pub fn ticked(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// PASSWORD EXPIRE
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Lifetime {
    #[default]
    Default,
    Never,
    Days(u32),
}

/// REQUIRE
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Requirement {
    pub ssl: bool,
    pub x509: bool,
    pub subject: Option<String>,
    pub issuer: Option<String>,
    pub cipher: Option<String>,
}

impl Requirement {
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// WITH MAX_...
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    pub queries: u32,
    pub updates: u32,
    pub connections: u32,
    pub user_connections: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoleGrant {
    pub role: Name,
    pub admin: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseGrant {
    /// A pattern with `%`, `_` and `\`.
    pub database: String,
    pub privileges: Privileges,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableGrant {
    pub database: String,
    pub table: String,
    pub privileges: Privileges,
    pub columns: BTreeMap<String, Privileges>,
}

impl TableGrant {
    /// The privileges on at least one column.
    pub fn of_columns(&self) -> Privileges {
        self.columns.values().fold(Privileges::NONE, |all, more| all.with(*more))
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutineGrant {
    pub database: String,
    pub name: String,
    pub function: bool,
    pub privileges: Privileges,
}

impl RoutineGrant {
    /// Names of routines are compared without regard to case.
    pub fn is_of(&self, name: &str, function: bool) -> bool {
        self.function == function && self.name.to_lowercase() == name.to_lowercase()
    }
}

/// GRANT PROXY: may act as another account, if a plugin says so. The proxy of the anonymous account applies to
/// everybody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyGrant {
    pub proxied: Name,
    pub grant_option: bool,
}

/// An account or a role.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Account {
    pub name: Name,
    pub plugin: Plugin,
    /// The plugin's stored form of the password; empty: no password.
    pub stored: String,
    /// The stored form of the previous password, which is accepted too (RETAIN CURRENT PASSWORD); empty: none.
    pub second: String,
    pub locked: bool,
    pub expired: bool,
    /// Seconds since the epoch.
    pub password_changed: i64,
    pub lifetime: Lifetime,
    pub history: Option<u32>,
    pub reuse_days: Option<u32>,
    pub require_current: Option<bool>,
    pub failed_logins: u32,
    /// -1: until it is unlocked.
    pub lock_days: i32,
    pub limits: Limits,
    pub requirement: Requirement,
    /// ATTRIBUTE and COMMENT: a JSON object.
    pub attribute: Option<serde_json::Map<String, serde_json::Value>>,
    pub default_roles: Vec<Name>,
    pub roles: Vec<RoleGrant>,
    pub global: Privileges,
    /// With whether they may be granted on.
    pub dynamic: BTreeMap<String, bool>,
    pub databases: Vec<DatabaseGrant>,
    pub tables: Vec<TableGrant>,
    pub routines: Vec<RoutineGrant>,
    pub proxies: Vec<ProxyGrant>,
    /// The history: passwords, newest first, and when each was set.
    pub old_passwords: Vec<(String, i64)>,
}

impl Account {
    /// Adds privileges on a routine.
    pub fn grant_routine(&mut self, database: &str, name: &str, function: bool, privileges: Privileges) {
        let is = |grant: &&mut RoutineGrant| grant.database == database && grant.is_of(name, function);
        match self.routines.iter_mut().find(is) {
            Some(present) => present.privileges = present.privileges.with(privileges),
            None => {
                let (database, name) = (database.to_owned(), name.to_lowercase());
                self.routines.push(RoutineGrant { database, name, function, privileges });
            }
        }
    }

    /// May everything, and give everything on.
    pub fn superuser(name: Name) -> Self {
        let dynamic = super::privilege::DYNAMIC.iter().map(|name| ((*name).to_owned(), true)).collect();
        let proxies = vec![ProxyGrant { proxied: Name::default(), grant_option: true }];
        Self { name, global: Privileges::GLOBAL, dynamic, proxies, ..Self::default() }
    }

    pub fn role(name: Name) -> Self {
        Self { name, locked: true, expired: true, ..Self::default() }
    }

    /// The stored forms of the accepted passwords, the current one first.
    pub fn passwords(&self) -> impl Iterator<Item = &str> {
        let second = Some(self.second.as_str()).filter(|second| !second.is_empty());
        std::iter::once(self.stored.as_str()).chain(second)
    }

    pub fn has_role(&self, role: &Name) -> Option<&RoleGrant> {
        self.roles.iter().find(|grant| grant.role == *role)
    }
}
