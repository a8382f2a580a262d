//! SHOW GRANTS, SHOW CREATE USER: statements as MySQL prints them.

use super::grant::check_using;
use super::statement::named;
use crate::error::{Error, Result};
use crate::session::State;
use crate::show::{Columns, ResultSet, result, text};
use accounts::model::{Account, Lifetime, Name, ticked};
use accounts::privilege::Privileges;
use conditions::Condition;
use sql::ast::AccountName;

/// SHOW GRANTS [FOR user [USING roles]]
pub fn grants(state: &State<'_>, user: Option<&AccountName<'_>>, using: &[AccountName<'_>]) -> Result<ResultSet> {
    let access = &*state.session.access;
    let accounts = state.worker.shared.accounts.snapshot();
    let name = user.map_or_else(|| access.name.clone(), |user| named(access, user));
    if name != access.name && !access.database("mysql").has(Privileges::SELECT) && !access.roles.contains(&name) {
        return Err(access.table_denied(Privileges::SELECT, "user").into());
    }
    let Some(account) = accounts.get(&name) else {
        let Name { user, host } = &name;
        return Err(Error::from(Condition::NonexistingGrant { user: user.into(), host: host.into() }));
    };
    let mut shown = Account::clone(account);
    let using: Vec<Name> = match user {
        None => access.roles.clone(),
        Some(_) => using.iter().map(|role| named(access, role)).collect(),
    };
    if user.is_some() {
        check_using(&accounts, &name, &using)?;
    }
    let mut next: Vec<Name> = using;
    let mut seen: Vec<Name> = Vec::new();
    while let Some(role) = next.pop() {
        if seen.contains(&role) {
            continue;
        }
        if let Some(role) = accounts.get(&role) {
            merge(&mut shown, role);
            next.extend(role.roles.iter().map(|grant| grant.role.clone()));
        }
        seen.push(role);
    }
    let mut made = result(Columns::default().text(&format!("Grants for {}", name.plain()), 1024));
    made.rows = lines(&shown).into_iter().map(|line| vec![text(line)]).collect();
    Ok(made)
}

/// Adds the privileges of a role to the shown account.
fn merge(shown: &mut Account, role: &Account) {
    shown.global = shown.global.with(role.global);
    for (name, option) in &role.dynamic {
        *shown.dynamic.entry(name.clone()).or_default() |= *option;
    }
    for grant in &role.databases {
        match shown.databases.iter_mut().find(|present| present.database == grant.database) {
            Some(present) => present.privileges = present.privileges.with(grant.privileges),
            None => shown.databases.push(grant.clone()),
        }
    }
    for grant in &role.tables {
        match shown.tables.iter_mut().find(|present| present.database == grant.database && present.table == grant.table) {
            Some(present) => {
                present.privileges = present.privileges.with(grant.privileges);
                for (column, bits) in &grant.columns {
                    let all = present.columns.entry(column.clone()).or_default();
                    *all = all.with(*bits);
                }
            }
            None => shown.tables.push(grant.clone()),
        }
    }
    for grant in &role.routines {
        shown.grant_routine(&grant.database, &grant.name, grant.function, grant.privileges);
    }
}

fn option(granted: bool) -> &'static str {
    if granted { " WITH GRANT OPTION" } else { "" }
}

/// The names; ALL PRIVILEGES if all of the level are set, USAGE if none is.
fn names(privileges: Privileges, all: Option<Privileges>) -> String {
    let bare = privileges.without(Privileges::GRANT);
    if all.is_some_and(|all| bare == all.without(Privileges::GRANT)) {
        return "ALL PRIVILEGES".to_owned();
    }
    if bare.is_empty() {
        return "USAGE".to_owned();
    }
    bare.names().collect::<Vec<_>>().join(", ")
}

/// The GRANT statements that make an account's privileges.
fn lines(account: &Account) -> Vec<String> {
    let to = account.name.ticked();
    let mut lines =
        vec![format!("GRANT {} ON *.* TO {to}{}", names(account.global, None), option(account.global.has(Privileges::GRANT)))];
    for grantable in [false, true] {
        let of: Vec<&str> =
            account.dynamic.iter().filter(|(_, option)| **option == grantable).map(|(name, _)| name.as_str()).collect();
        if !of.is_empty() {
            lines.push(format!("GRANT {} ON *.* TO {to}{}", of.join(","), option(grantable)));
        }
    }
    let mut databases: Vec<_> = account.databases.iter().collect();
    databases.sort_by(|a, b| a.database.cmp(&b.database));
    for grant in databases {
        lines.push(format!(
            "GRANT {} ON {}.* TO {to}{}",
            names(grant.privileges, Some(Privileges::DATABASE)),
            ticked(&grant.database),
            option(grant.privileges.has(Privileges::GRANT))
        ));
    }
    let mut tables: Vec<_> = account.tables.iter().collect();
    tables.sort_by(|a, b| (&a.database, &a.table).cmp(&(&b.database, &b.table)));
    for grant in tables {
        let bare = grant.privileges.without(Privileges::GRANT);
        let mut parts = Vec::new();
        if bare == Privileges::TABLE.without(Privileges::GRANT) {
            parts.push("ALL PRIVILEGES".to_owned());
        } else {
            for name in bare.with(grant.of_columns()).names() {
                let bit = Privileges::named(name).unwrap_or_default();
                if bare.has(bit) {
                    parts.push(name.to_owned());
                }
                let columns: Vec<String> =
                    grant.columns.iter().filter(|(_, bits)| bits.has(bit)).map(|(column, _)| ticked(column)).collect();
                if !columns.is_empty() {
                    parts.push(format!("{name} ({})", columns.join(", ")));
                }
            }
        }
        if parts.is_empty() {
            parts.push("USAGE".to_owned());
        }
        lines.push(format!(
            "GRANT {} ON {}.{} TO {to}{}",
            parts.join(", "),
            ticked(&grant.database),
            ticked(&grant.table),
            option(grant.privileges.has(Privileges::GRANT))
        ));
    }
    let mut routines: Vec<_> = account.routines.iter().collect();
    routines.sort_by(|a, b| (&a.database, &a.name).cmp(&(&b.database, &b.name)));
    for grant in routines {
        lines.push(format!(
            "GRANT {} ON {} {}.{} TO {to}{}",
            names(grant.privileges, None),
            if grant.function { "FUNCTION" } else { "PROCEDURE" },
            ticked(&grant.database),
            ticked(&grant.name),
            option(grant.privileges.has(Privileges::GRANT))
        ));
    }
    for grant in &account.proxies {
        lines.push(format!("GRANT PROXY ON {} TO {to}{}", grant.proxied.ticked(), option(grant.grant_option)));
    }
    for admin in [false, true] {
        let mut roles: Vec<String> =
            account.roles.iter().filter(|grant| grant.admin == admin).map(|grant| grant.role.ticked()).collect();
        roles.sort();
        if !roles.is_empty() {
            lines.push(format!("GRANT {} TO {to}{}", roles.join(","), if admin { " WITH ADMIN OPTION" } else { "" }));
        }
    }
    lines
}

/// SHOW CREATE USER
pub fn create_user(state: &State<'_>, user: &AccountName<'_>) -> Result<ResultSet> {
    let access = &*state.session.access;
    let name = named(access, user);
    let sees_secrets = access.database("mysql").has(Privileges::SELECT);
    if name != access.name && !sees_secrets {
        return Err(access.database_denied("mysql").into());
    }
    let accounts = state.worker.shared.accounts.snapshot();
    let Some(account) = accounts.get(&name) else {
        return Err(Error::from(Condition::CannotUserMissing {
            operation: "SHOW CREATE USER".into(),
            users: name.quoted().into(),
        }));
    };
    let as_hex = state.session.variables.get(crate::variables::known("print_identified_with_as_hex")).as_bool();
    let mut made = result(Columns::default().text(&format!("CREATE USER for {}", name.plain()), 1024));
    made.rows.push(vec![text(definition(account, sees_secrets, as_hex))]);
    Ok(made)
}

/// A text between quotes.
fn quoted(value: &str) -> String {
    let mut out = String::from("'");
    for character in value.chars() {
        match character {
            '\'' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\0' => out.push_str("\\0"),
            '\r' => out.push_str("\\r"),
            '\u{1a}' => out.push_str("\\Z"),
            other => out.push(other),
        }
    }
    out.push('\'');
    out
}

/// One statement that makes or changes these accounts, with the hashes of their passwords, in ASCII. The options are those of the first.
pub fn definitions<'a>(verb: &str, accounts: impl Iterator<Item = &'a Account>) -> String {
    let all: Vec<(String, String)> = accounts.map(|account| parts(account, true, true)).collect();
    let users: Vec<&str> = all.iter().map(|(user, _)| user.as_str()).collect();
    match all.first() {
        Some((_, options)) => format!("{verb} {}{options}", users.join(", ")),
        None => String::new(),
    }
}

fn definition(account: &Account, sees_secrets: bool, as_hex: bool) -> String {
    let (user, options) = parts(account, sees_secrets, as_hex);
    format!("CREATE USER {user}{options}")
}

/// The account with its password, and its options.
fn parts(account: &Account, sees_secrets: bool, as_hex: bool) -> (String, String) {
    let mut user = format!("{} IDENTIFIED WITH '{}'", account.name.ticked(), account.plugin.name());
    match account.stored.as_str() {
        "" => {}
        _ if !sees_secrets => user.push_str(" AS <secret>"),
        stored if as_hex && !stored.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') => {
            user.push_str(" AS 0x");
            stored.bytes().for_each(|byte| user.push_str(&format!("{byte:02X}")));
        }
        stored => user.push_str(&format!(" AS {}", quoted(stored))),
    }
    let mut out = String::new();
    if !account.default_roles.is_empty() {
        let mut roles: Vec<String> = account.default_roles.iter().map(Name::ticked).collect();
        roles.sort();
        out.push_str(&format!(" DEFAULT ROLE {}", roles.join(",")));
    }
    let needed = &account.requirement;
    out.push_str(match () {
        () if needed.is_none() => " REQUIRE NONE",
        () if needed.ssl => " REQUIRE SSL",
        () if needed.x509 => " REQUIRE X509",
        () => " REQUIRE",
    });
    for (word, value) in [("SUBJECT", &needed.subject), ("ISSUER", &needed.issuer), ("CIPHER", &needed.cipher)] {
        if let Some(value) = value {
            out.push_str(&format!(" {word} {}", quoted(value)));
        }
    }
    let limits = [
        ("QUERIES_PER_HOUR", account.limits.queries),
        ("UPDATES_PER_HOUR", account.limits.updates),
        ("CONNECTIONS_PER_HOUR", account.limits.connections),
        ("USER_CONNECTIONS", account.limits.user_connections),
    ];
    if limits.iter().any(|(_, limit)| *limit > 0) {
        out.push_str(" WITH");
        for (name, limit) in limits.iter().filter(|(_, limit)| *limit > 0) {
            out.push_str(&format!(" MAX_{name} {limit}"));
        }
    }
    out.push_str(&match (account.expired, account.lifetime) {
        (true, _) => " PASSWORD EXPIRE".to_owned(),
        (false, Lifetime::Default) => " PASSWORD EXPIRE DEFAULT".to_owned(),
        (false, Lifetime::Never) => " PASSWORD EXPIRE NEVER".to_owned(),
        (false, Lifetime::Days(days)) => format!(" PASSWORD EXPIRE INTERVAL {days} DAY"),
    });
    out.push_str(if account.locked { " ACCOUNT LOCK" } else { " ACCOUNT UNLOCK" });
    match account.history {
        Some(count) => out.push_str(&format!(" PASSWORD HISTORY {count}")),
        None => out.push_str(" PASSWORD HISTORY DEFAULT"),
    }
    match account.reuse_days {
        Some(days) => out.push_str(&format!(" PASSWORD REUSE INTERVAL {days} DAY")),
        None => out.push_str(" PASSWORD REUSE INTERVAL DEFAULT"),
    }
    out.push_str(match account.require_current {
        None => " PASSWORD REQUIRE CURRENT DEFAULT",
        Some(true) => " PASSWORD REQUIRE CURRENT",
        Some(false) => " PASSWORD REQUIRE CURRENT OPTIONAL",
    });
    if account.failed_logins > 0 {
        out.push_str(&format!(" FAILED_LOGIN_ATTEMPTS {}", account.failed_logins));
    }
    match account.lock_days {
        0 => {}
        -1 => out.push_str(" PASSWORD_LOCK_TIME UNBOUNDED"),
        days => out.push_str(&format!(" PASSWORD_LOCK_TIME {days}")),
    }
    if let Some(attribute) = &account.attribute {
        out.push_str(&format!(" ATTRIBUTE {}", quoted(&json_text(attribute))));
    }
    (user, out)
}

/// A document as MySQL prints it: `{"a": 1, "bb": [1, 2]}`.
pub fn json_text(object: &serde_json::Map<String, serde_json::Value>) -> String {
    let text = serde_json::Value::from(object.clone()).to_string();
    let printed = types::json::Json::parse(text.as_bytes()).map(|json| json.to_text());
    printed.map_or(text, |bytes| String::from_utf8_lossy(&bytes).into_owned())
}
