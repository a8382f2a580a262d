//! The tables of `mysql` about accounts: the snapshot of accounts in MySQL's columns. They are read-only.
//!
//! The grantor and the time of a grant are not kept: `Grantor` is empty and `Timestamp` zero.

use super::build::{number, optional, text};
use super::cells::datetime;
use super::source::{Maker, Row, Source};
use accounts::model::{Account, DatabaseGrant, Lifetime, Name, ProxyGrant, RoleGrant, RoutineGrant, TableGrant};
use accounts::privilege::Privileges;
use std::sync::Arc;
use types::Value;

#[rustfmt::skip]
pub const MAKERS: &[(&str, Maker)] = &[
    ("columns_priv", columns), ("db", databases), ("default_roles", default_roles), ("global_grants", dynamic),
    ("password_history", passwords), ("procs_priv", routines), ("proxies_priv", proxies), ("role_edges", edges), ("tables_priv", tables), ("user", users),
];

/// All accounts, ordered by host and user as MySQL's keys are.
fn accounts(source: &Source<'_>) -> Vec<Arc<Account>> {
    let snapshot = source.worker.shared.accounts.snapshot();
    let mut accounts: Vec<Arc<Account>> = snapshot.by_name.values().cloned().collect();
    accounts.sort_by(|a, b| (&a.name.host, &a.name.user).cmp(&(&b.name.host, &b.name.user)));
    accounts
}

/// The rows of all accounts; `rows` gives those of one.
fn of_each<I: IntoIterator<Item = Row>>(source: &Source<'_>, rows: impl Fn(&Account) -> I) -> Vec<Row> {
    accounts(source).iter().flat_map(|account| rows(account).into_iter().collect::<Vec<_>>()).collect()
}

fn yes(is: bool) -> Value<'static> {
    text(if is { "Y" } else { "N" })
}

/// Privileges as Y/N columns, in this order.
fn flags<'p>(granted: Privileges, names: impl IntoIterator<Item = &'p str>) -> impl Iterator<Item = Value<'static>> {
    let bits: Vec<Privileges> = names.into_iter().map(|name| Privileges::named(name).unwrap_or_default()).collect();
    bits.into_iter().map(move |bit| yes(!bit.is_empty() && granted.has(bit)))
}

/// Privileges as the value of a SET column.
pub fn set(granted: Privileges) -> Value<'static> {
    text(granted.list().replace(", ", ","))
}

/// Host and user of an account.
fn whose(account: &Account) -> [Value<'static>; 2] {
    [text(&account.name.host), text(&account.name.user)]
}

/// The zero timestamp.
fn never() -> Value<'static> {
    text("0000-00-00 00:00:00")
}

/// The number of privileges in `mysql.user` up to `Create_tablespace_priv`; its columns have the order of the bits.
const OF_USER: u32 = 29;

fn users(source: &Source<'_>) -> Vec<Row> {
    of_each(source, |account| {
        let needed = &account.requirement;
        let kind = match () {
            () if needed.is_none() => "",
            () if needed.ssl => "ANY",
            () if needed.x509 => "X509",
            () => "SPECIFIED",
        };
        let part = |part: &Option<String>| text(part.clone().unwrap_or_default());
        let limits = account.limits;
        let mut row: Row = whose(account).into();
        row.extend((0..OF_USER).map(|bit| yes(account.global.has(Privileges(1 << bit)))));
        row.extend([text(kind), part(&needed.cipher), part(&needed.issuer), part(&needed.subject)]);
        row.extend([limits.queries, limits.updates, limits.connections, limits.user_connections].map(number));
        row.extend([
            text(account.plugin.name()),
            text(&account.stored),
            yes(account.expired),
            match account.password_changed {
                0 => Value::Null,
                seconds => datetime(seconds * 1_000_000),
            },
            match account.lifetime {
                Lifetime::Default => Value::Null,
                Lifetime::Never => number(0u64),
                Lifetime::Days(days) => number(days),
            },
            yes(account.locked),
            yes(account.global.has(Privileges::CREATE_ROLE)),
            yes(account.global.has(Privileges::DROP_ROLE)),
            account.history.map_or(Value::Null, number),
            account.reuse_days.map_or(Value::Null, number),
            account.require_current.map_or(Value::Null, yes),
            optional(attributes(account)),
        ]);
        [row]
    })
}

/// User_attributes
fn attributes(account: &Account) -> Option<String> {
    let mut all = serde_json::Map::new();
    if let Some(own) = &account.attribute {
        all.insert("metadata".to_owned(), own.clone().into());
    }
    if account.failed_logins > 0 || account.lock_days != 0 {
        let locking = serde_json::json!({
            "failed_login_attempts": account.failed_logins, "password_lock_time_days": account.lock_days,
        });
        all.insert("Password_locking".to_owned(), locking);
    }
    if !account.second.is_empty() {
        all.insert("additional_password".to_owned(), account.second.clone().into());
    }
    (!all.is_empty()).then(|| serde_json::Value::from(all).to_string())
}

#[rustfmt::skip]
const OF_DATABASE: [&str; 19] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "GRANT OPTION", "REFERENCES", "INDEX", "ALTER", "CREATE TEMPORARY TABLES",
    "LOCK TABLES", "CREATE VIEW", "SHOW VIEW", "CREATE ROUTINE", "ALTER ROUTINE", "EXECUTE", "EVENT", "TRIGGER",
];

fn databases(source: &Source<'_>) -> Vec<Row> {
    of_each(source, |account| {
        let [host, user] = whose(account);
        let row = move |grant: &DatabaseGrant| {
            let mut row = vec![host.clone(), text(&grant.database), user.clone()];
            row.extend(flags(grant.privileges, OF_DATABASE));
            row
        };
        account.databases.iter().map(row).collect::<Vec<_>>()
    })
}

fn tables(source: &Source<'_>) -> Vec<Row> {
    of_each(source, |account| {
        let row = |grant: &TableGrant| {
            let [host, user] = whose(account);
            let (whole, columns) = (set(grant.privileges), set(grant.of_columns()));
            vec![host, text(&grant.database), user, text(&grant.table), text(""), never(), whole, columns]
        };
        account.tables.iter().map(row).collect::<Vec<_>>()
    })
}

fn columns(source: &Source<'_>) -> Vec<Row> {
    of_each(source, |account| {
        let mut rows = Vec::new();
        for grant in &account.tables {
            for (column, privileges) in &grant.columns {
                let [host, user] = whose(account);
                let (database, table) = (text(&grant.database), text(&grant.table));
                rows.push(vec![host, database, user, table, text(column), never(), set(*privileges)]);
            }
        }
        rows
    })
}

fn routines(source: &Source<'_>) -> Vec<Row> {
    of_each(source, |account| {
        let row = |grant: &RoutineGrant| {
            let [host, user] = whose(account);
            let kind = text(if grant.function { "FUNCTION" } else { "PROCEDURE" });
            vec![host, text(&grant.database), user, text(&grant.name), kind, text(""), set(grant.privileges), never()]
        };
        account.routines.iter().map(row).collect::<Vec<_>>()
    })
}

/// The edges from roles to accounts.
fn edges(source: &Source<'_>) -> Vec<Row> {
    of_each(source, |account| {
        let row = |grant: &RoleGrant| {
            let [host, user] = whose(account);
            vec![text(&grant.role.host), text(&grant.role.user), host, user, yes(grant.admin)]
        };
        account.roles.iter().map(row).collect::<Vec<_>>()
    })
}

fn proxies(source: &Source<'_>) -> Vec<Row> {
    of_each(source, |account| {
        let row = |grant: &ProxyGrant| {
            let [host, user] = whose(account);
            let proxied = [text(&grant.proxied.host), text(&grant.proxied.user)];
            [vec![host, user], proxied.into(), vec![number(u64::from(grant.grant_option)), text(""), never()]].concat()
        };
        account.proxies.iter().map(row).collect::<Vec<_>>()
    })
}

fn default_roles(source: &Source<'_>) -> Vec<Row> {
    of_each(source, |account| {
        let row = |role: &Name| {
            let [host, user] = whose(account);
            vec![host, user, text(&role.host), text(&role.user)]
        };
        account.default_roles.iter().map(row).collect::<Vec<_>>()
    })
}

fn dynamic(source: &Source<'_>) -> Vec<Row> {
    of_each(source, |account| {
        let row = |(name, option): (&String, &bool)| {
            let [host, user] = whose(account);
            vec![user, host, text(name), yes(*option)]
        };
        account.dynamic.iter().map(row).collect::<Vec<_>>()
    })
}

fn passwords(source: &Source<'_>) -> Vec<Row> {
    of_each(source, |account| {
        let row = |(stored, set): &(String, i64)| {
            let [host, user] = whose(account);
            vec![host, user, datetime(set * 1_000_000), text(stored)]
        };
        account.old_passwords.iter().map(row).collect::<Vec<_>>()
    })
}
