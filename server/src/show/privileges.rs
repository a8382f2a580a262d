//! The tables of information_schema about privileges and roles.
//!
//! An account that may read the `mysql` database sees the privileges of all accounts, every other account its own. The
//! tables of roles are about the session's account and its active roles.

use super::build::{optional, text};
use super::grant_tables::set;
use super::source::{Maker, Row, Source};
use crate::account::json_text;
use accounts::model::{Account, Name, RoutineGrant, TableGrant};
use accounts::privilege::Privileges;
use accounts::{Access, Accounts};
use std::sync::Arc;
use types::Value;

#[rustfmt::skip]
pub const MAKERS: &[(&str, Maker)] = &[
    ("ADMINISTRABLE_ROLE_AUTHORIZATIONS", administrable_roles), ("APPLICABLE_ROLES", applicable_roles),
    ("COLUMN_PRIVILEGES", columns), ("ENABLED_ROLES", enabled_roles), ("ROLE_COLUMN_GRANTS", role_columns),
    ("ROLE_ROUTINE_GRANTS", role_routines), ("ROLE_TABLE_GRANTS", role_tables), ("SCHEMA_PRIVILEGES", databases),
    ("TABLE_PRIVILEGES", tables), ("USER_ATTRIBUTES", attributes), ("USER_PRIVILEGES", users),
];

const CATALOG: &str = "def";

fn yes(is: bool) -> Value<'static> {
    text(if is { "YES" } else { "NO" })
}

/// The accounts whose privileges the session may see.
fn told(source: &Source<'_>) -> Vec<Arc<Account>> {
    let snapshot = source.worker.shared.accounts.snapshot();
    let sees =
        |name: &Name| source.access.is_none_or(|access| access.name == *name || access.database("mysql").has(Privileges::SELECT));
    snapshot.by_name.values().filter(|account| sees(&account.name)).cloned().collect()
}

/// Adds a row per privilege: `before`, the privilege's name, and whether it can be granted on.
fn each(rows: &mut Vec<Row>, before: &[Value<'static>], granted: Privileges) {
    let names: Vec<&str> = granted.names().collect();
    let names = if names.is_empty() { vec!["USAGE"] } else { names };
    let option = granted.has(Privileges::GRANT);
    rows.extend(names.into_iter().map(|name| [before, &[text(name), yes(option)]].concat()));
}

fn grantee(account: &Account) -> Value<'static> {
    text(account.name.quoted())
}

fn users(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in told(source) {
        let before = [grantee(&account), text(CATALOG)];
        each(&mut rows, &before, account.global);
        let dynamic = account.dynamic.iter();
        rows.extend(dynamic.map(|(name, option)| [&before[..], &[text(name), yes(*option)]].concat()));
    }
    rows
}

fn databases(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in told(source) {
        for grant in &account.databases {
            each(&mut rows, &[grantee(&account), text(CATALOG), text(&grant.database)], grant.privileges);
        }
    }
    rows
}

fn tables(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in told(source) {
        for grant in &account.tables {
            // COLUMN_PRIVILEGES shows privileges that are granted on columns only.
            if grant.columns.is_empty() || grant.privileges.names().next().is_some() {
                let before = [grantee(&account), text(CATALOG), text(&grant.database), text(&grant.table)];
                each(&mut rows, &before, grant.privileges);
            }
        }
    }
    rows
}

fn columns(source: &Source<'_>) -> Vec<Row> {
    let mut rows = Vec::new();
    for account in told(source) {
        for grant in &account.tables {
            let option = grant.privileges.has(Privileges::GRANT);
            for name in Privileges::COLUMN.names() {
                let bit = Privileges::named(name).unwrap_or_default();
                for (column, _) in grant.columns.iter().filter(|(_, bits)| bits.has(bit)) {
                    let names = [text(&grant.database), text(&grant.table), text(column), text(name), yes(option)];
                    rows.push([&[grantee(&account), text(CATALOG)], &names[..]].concat());
                }
            }
        }
    }
    rows
}

/// ATTRIBUTE and COMMENT
fn attributes(source: &Source<'_>) -> Vec<Row> {
    let sees_all = source.access.is_none_or(|access| access.has(Privileges::CREATE_USER));
    let accounts: Vec<Arc<Account>> =
        if sees_all { source.worker.shared.accounts.snapshot().by_name.values().cloned().collect() } else { told(source) };
    let row = |account: &Arc<Account>| {
        let document = account.attribute.as_ref().map(json_text);
        vec![text(&account.name.user), text(&account.name.host), optional(document)]
    };
    accounts.iter().map(row).collect()
}

/// A role that the session's account has, and the grantee that it comes from.
struct Edge {
    grantee: Name,
    role: Name,
    admin: bool,
}

/// The roles of an account and, recursively, of its roles; each edge once.
fn edges(accounts: &Accounts, name: &Name, mandatory: &[Name]) -> Vec<Edge> {
    let mut found: Vec<Edge> = Vec::new();
    let mut seen: Vec<Name> = Vec::new();
    let mut next = vec![name.clone()];
    while let Some(grantee) = next.pop() {
        if seen.contains(&grantee) {
            continue;
        }
        seen.push(grantee.clone());
        let Some(account) = accounts.get(&grantee) else { continue };
        let own = account.roles.iter().map(|grant| (grant.role.clone(), grant.admin));
        let given = mandatory.iter().filter(|role| grantee == *name && account.has_role(role).is_none());
        for (role, admin) in own.chain(given.map(|role| (role.clone(), false))) {
            next.push(role.clone());
            found.push(Edge { grantee: grantee.clone(), role, admin });
        }
    }
    found
}

/// The rows of APPLICABLE_ROLES.
fn roles(source: &Source<'_>, kept: impl Fn(&Edge) -> bool) -> Vec<Row> {
    let Some(access) = source.access else { return Vec::new() };
    let accounts = source.worker.shared.accounts.snapshot();
    let mandatory = source.worker.mandatory_roles();
    let is_default = |role: &Name| accounts.get(&access.name).is_some_and(|account| account.default_roles.contains(role));
    let row = |edge: &Edge| {
        let Edge { grantee, role, admin } = edge;
        let mut row: Row = [&access.name, grantee, role].iter().flat_map(|name| [text(&name.user), text(&name.host)]).collect();
        row.extend([yes(*admin), yes(is_default(role)), yes(mandatory.contains(role))]);
        row
    };
    edges(&accounts, &access.name, &mandatory).iter().filter(|edge| kept(edge)).map(row).collect()
}

fn applicable_roles(source: &Source<'_>) -> Vec<Row> {
    roles(source, |_| true)
}

fn administrable_roles(source: &Source<'_>) -> Vec<Row> {
    roles(source, |edge| edge.admin)
}

fn enabled_roles(source: &Source<'_>) -> Vec<Row> {
    let Some(access) = source.access else { return Vec::new() };
    let accounts = source.worker.shared.accounts.snapshot();
    let mandatory = source.worker.mandatory_roles();
    let is_default = |role: &Name| accounts.get(&access.name).is_some_and(|account| account.default_roles.contains(role));
    let row = |role: &Name| vec![text(&role.user), text(&role.host), yes(is_default(role)), yes(mandatory.contains(role))];
    access.roles.iter().map(row).collect()
}

/// The active roles, and the roles granted to them.
fn active(access: &Access, accounts: &Accounts) -> Vec<Arc<Account>> {
    let mut names: Vec<Name> = access.roles.clone();
    for role in &access.roles {
        for edge in edges(accounts, role, &[]) {
            if !names.contains(&edge.role) {
                names.push(edge.role);
            }
        }
    }
    names.iter().filter_map(|name| accounts.get(name).cloned()).collect()
}

/// The rows of each active role, after grantor and grantee.
fn of_roles(source: &Source<'_>, rows: impl Fn(&Account) -> Vec<Row>) -> Vec<Row> {
    let Some(access) = source.access else { return Vec::new() };
    let accounts = source.worker.shared.accounts.snapshot();
    let mut all = Vec::new();
    for role in active(access, &accounts) {
        // The grantor is not kept.
        let before = [Value::Null, Value::Null, text(&role.name.user), text(&role.name.host), text(CATALOG)];
        all.extend(rows(&role).into_iter().map(|row| [&before[..], &row].concat()));
    }
    all
}

fn role_tables(source: &Source<'_>) -> Vec<Row> {
    of_roles(source, |role| {
        let row = |grant: &TableGrant| {
            let option = yes(grant.privileges.has(Privileges::GRANT));
            vec![text(&grant.database), text(&grant.table), set(grant.privileges), option]
        };
        role.tables.iter().filter(|grant| !grant.privileges.is_empty()).map(row).collect()
    })
}

fn role_columns(source: &Source<'_>) -> Vec<Row> {
    of_roles(source, |role| {
        let mut rows = Vec::new();
        for grant in &role.tables {
            let option = yes(grant.privileges.has(Privileges::GRANT));
            for (column, bits) in &grant.columns {
                rows.push(vec![text(&grant.database), text(&grant.table), text(column), set(*bits), option.clone()]);
            }
        }
        rows
    })
}

fn role_routines(source: &Source<'_>) -> Vec<Row> {
    of_roles(source, |role| {
        let row = |grant: &RoutineGrant| {
            let (database, name) = (text(&grant.database), text(&grant.name));
            let option = yes(grant.privileges.has(Privileges::GRANT));
            vec![database.clone(), name.clone(), text(CATALOG), database, name, set(grant.privileges), option]
        };
        role.routines.iter().map(row).collect()
    })
}
