//! CREATE USER, ALTER USER, DROP USER, RENAME USER, SET PASSWORD, and the statements about roles.
//!
//! Syntax becomes owned data. A job on a thread for definitions hashes passwords, changes a copy of all accounts, and
//! publishes it (`AccountStore::change`). A statement that fails for some accounts names all of these, and changes
//! none.

use super::grant::{self, Written};
use super::show;
use crate::error::{Error, Result};
use crate::session::State;
use crate::show::{Columns, ResultSet, number, result, text};
use accounts::Access;
use accounts::model::{Account, Lifetime, Limits, Name, Requirement};
use accounts::privilege::Privileges;
use accounts::{Accounts, Notes, now_seconds, special};
use accounts::{PASSWORD_BYTES_MAX, Plugin};
use conditions::Condition;
use expr::Level;
use sql::ast::{AccountName, AccountOption, AccountStatement, Authentication, Expiry, Resource, RoleChoice, UserSpec};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use types::schema::{DatabaseDef, Schema, TableDef};

/// Runs a statement about accounts. The caller answers OK, or the generated passwords.
pub async fn run(state: &mut State<'_>, statement: &AccountStatement<'_>) -> Result<Option<ResultSet>> {
    let access = std::rc::Rc::clone(&state.session.access);
    let own = |name: &AccountName<'_>| named(&access, name);
    let list = |names: &[AccountName<'_>]| names.iter().map(own).collect::<Vec<Name>>();
    match *statement {
        AccountStatement::CreateUser { if_not_exists, users, default_roles, options } => {
            manage(&access, Privileges::INSERT)?;
            let (specs, made) = specs(state, users)?;
            refuse_long(&specs, "CREATE USER")?;
            let options = Options::new(options)?;
            let roles = list(default_roles);
            grant::may_grant_roles(state, &access, &roles)?;
            guard(state, &access, &roles)?;
            let names: Vec<Name> = specs.iter().map(|spec| spec.name.clone()).collect();
            keep_definers(state, &access, "CREATE USER", &names)?;
            guard(state, &access, &names)?;
            let policy = Policy::new(state, true);
            let new = New { specs, options, roles, policy };
            let changed = change(state, move |accounts| create(accounts, new, if_not_exists)).await?;
            return Ok(told(state, changed, made));
        }
        AccountStatement::AlterUser { if_exists, users, options } => {
            let (specs, made) = specs(state, users)?;
            let is_own = |spec: &Spec| {
                spec.name == access.name && matches!(spec.secret, Some(Secret::Password { .. } | Secret::DiscardOld))
            };
            let only_own_password = options.is_empty() && specs.iter().all(is_own);
            let administers = access.manages_accounts(Privileges::UPDATE);
            if !only_own_password {
                manage(&access, Privileges::UPDATE)?;
            }
            specs.iter().try_for_each(|spec| may_keep_two(&access, spec))?;
            guard(state, &access, specs.iter().map(|spec| &spec.name))?;
            refuse_long(&specs, "ALTER USER")?;
            let options = Options::new(options)?;
            let policy = Policy::new(state, administers);
            let names: Vec<Name> = specs.iter().map(|spec| spec.name.clone()).collect();
            let changed = change(state, move |accounts| alter(accounts, specs, if_exists, &options, &policy)).await?;
            names.iter().for_each(|name| state.worker.shared.accounts.logins.forget(name));
            if only_own_password || names.contains(&access.name) {
                state.password_changed();
            }
            return Ok(told(state, changed, made));
        }
        AccountStatement::SetPassword(user) => {
            let name = own(&user.name);
            // CREATE USER does not suffice here, unlike for ALTER USER.
            if name != access.name && !access.database("mysql").has(Privileges::UPDATE) {
                return Err(access.database_denied("mysql").into());
            }
            let administers = access.manages_accounts(Privileges::UPDATE);
            guard(state, &access, [&name])?;
            let is_own = name == access.name;
            let (mut specs, made) = specs(state, &[user])?;
            refuse_long(&specs, "SET PASSWORD")?;
            let spec = specs.pop().expect("one for one");
            may_keep_two(&access, &spec)?;
            let policy = Policy::new(state, administers);
            let set = move |accounts: &mut Accounts| {
                if accounts.get(&spec.name).is_none() {
                    return Err(Error::from(Condition::PasswordNoMatch));
                }
                alter(accounts, vec![spec], false, &Options::default(), &policy)
            };
            let changed = change(state, set).await?;
            if is_own {
                state.password_changed();
            }
            return Ok(told(state, changed, made));
        }
        AccountStatement::DropUser { if_exists, names } => {
            manage(&access, Privileges::DELETE)?;
            remove(state, list(names), if_exists, "DROP USER").await?;
        }
        AccountStatement::DropRole { if_exists, names } => {
            if !access.has(Privileges::DROP_ROLE) {
                require(&access, Privileges::CREATE_USER, "CREATE USER, DROP ROLE")?;
            }
            remove(state, list(names), if_exists, DROP_ROLE).await?;
        }
        AccountStatement::RenameUser { pairs } => {
            manage(&access, Privileges::UPDATE)?;
            let pairs: Vec<(Name, Name)> = pairs.iter().map(|(from, to)| (own(from), own(to))).collect();
            let names = || pairs.iter().flat_map(|(from, to)| [from, to]);
            keep_definers(state, &access, "RENAME USER", names())?;
            guard(state, &access, names())?;
            change(state, move |accounts| rename(accounts, &pairs)).await?;
        }
        AccountStatement::CreateRole { if_not_exists, names } => {
            if !access.has(Privileges::CREATE_ROLE) {
                require(&access, Privileges::CREATE_USER, "CREATE USER, CREATE ROLE")?;
            }
            let names = list(names);
            keep_definers(state, &access, "CREATE ROLE", &names)?;
            guard(state, &access, &names)?;
            let changed = change(state, move |accounts| {
                let mut notes = Notes::new();
                let mut failed = Vec::new();
                for name in names {
                    match accounts.get(&name) {
                        Some(_) if if_not_exists => notes.push(exists(&name)),
                        Some(_) => failed.push(name),
                        None => accounts.put(Account::role(name)),
                    }
                }
                fail("CREATE ROLE", &failed, " (User account already exists)")?;
                Ok(notes)
            });
            let changed = changed.await?;
            note(state, changed);
        }
        AccountStatement::SetDefaultRole { roles, users } => {
            let users = list(users);
            if users.iter().any(|user| *user != access.name) {
                manage(&access, Privileges::UPDATE)?;
                guard(state, &access, &users)?;
            }
            let choice = Choice::new(&access, &roles);
            let mandatory = state.worker.mandatory_roles();
            change(state, move |accounts| set_default_roles(accounts, &users, &choice, &mandatory)).await?;
        }
        AccountStatement::SetRole(roles) => {
            let choice = Choice::new(&access, &roles);
            let roles = active_roles(state, &choice)?;
            state.set_roles(roles);
        }
        AccountStatement::Grant { privileges, ref level, to, grant_option, grantor } => {
            grant::grant(state, &access, Written { privileges, level }, to, grant_option, grantor).await?;
        }
        AccountStatement::Revoke { privileges, ref level, from } => {
            let notes = grant::revoke(state, &access, Written { privileges, level }, from).await?;
            warn(state, notes);
        }
        AccountStatement::RevokeAll { from } => {
            let notes = grant::revoke_all(state, &access, from).await?;
            warn(state, notes);
        }
        AccountStatement::GrantProxy { ref on, to, grant_option } => {
            grant::grant_proxy(state, &access, on, to, grant_option).await?;
        }
        AccountStatement::RevokeProxy { ref on, from } => {
            let notes = grant::revoke_proxy(state, &access, on, from).await?;
            warn(state, notes);
        }
        AccountStatement::GrantRoles { roles, to, admin_option } => {
            grant::grant_roles(state, &access, roles, to, admin_option).await?;
        }
        AccountStatement::RevokeRoles { roles, from } => {
            let notes = grant::revoke_roles(state, &access, roles, from).await?;
            warn(state, notes);
        }
    }
    Ok(None)
}

/// An account and the password generated for it.
type Made = (Name, String);

/// Notes the warnings, and returns the generated passwords as a result set.
fn told(state: &State<'_>, notes: Notes, mut made: Vec<Made>) -> Option<ResultSet> {
    made.retain(|(name, _)| !notes.iter().any(|note| *note == exists(name) || *note == missing(name)));
    note(state, notes);
    if made.is_empty() {
        return None;
    }
    let columns = Columns::default().text("user", 32).text("host", 255).text("generated password", 255).number("auth_factor");
    let mut shown = result(columns);
    let row = |(Name { user, host }, password)| vec![text(user), text(host), text(password), number(1u64)];
    shown.rows = made.into_iter().map(row).collect();
    Some(shown)
}

/// 1227: RETAIN CURRENT PASSWORD and DISCARD OLD PASSWORD ask for a privilege also of the own account.
fn may_keep_two(access: &Access, spec: &Spec) -> Result<()> {
    let is_asked = spec.retains || matches!(spec.secret, Some(Secret::DiscardOld));
    if !is_asked || access.manages_accounts(Privileges::UPDATE) || access.has_dynamic("APPLICATION_PASSWORD_ADMIN") {
        Ok(())
    } else {
        Err(special("CREATE USER or APPLICATION_PASSWORD_ADMIN").into())
    }
}

/// The account that a name means.
pub fn named(access: &Access, name: &AccountName<'_>) -> Name {
    match *name {
        AccountName::Current => access.name.clone(),
        AccountName::Named { user, host } => Name::new(user, host),
    }
}

/// 1227
pub fn manage(access: &Access, by_hand: Privileges) -> Result<()> {
    if access.manages_accounts(by_hand) { Ok(()) } else { Err(special("CREATE USER").into()) }
}

/// 1227 if one of the accounts has SYSTEM_USER and this account may not change it.
pub fn guard<'n>(state: &State<'_>, access: &Access, names: impl IntoIterator<Item = &'n Name>) -> Result<()> {
    access.guard(&state.worker.shared.accounts.snapshot(), names).map_err(Error::from)
}

fn require(access: &Access, privileges: Privileges, named: &str) -> Result<()> {
    if access.has(privileges) { Ok(()) } else { Err(special(named).into()) }
}

/// Changes accounts on a thread for definitions.
pub async fn change<T: Send + 'static>(
    state: &State<'_>,
    change: impl FnOnce(&mut Accounts) -> Result<T> + Send + 'static,
) -> Result<T> {
    let store = Arc::clone(&state.worker.shared.accounts);
    let note = state.definition_note();
    let is_logged = Arc::clone(&state.session.is_gtid_logged);
    let has_secret = {
        let text = state.session.definition.as_bytes();
        sql::without_secrets(text, &state.session.settings.mode) != text
    };
    let done = state.worker.shared.ddl.run(move |database, worker| {
        worker.set_note(note);
        let done = store.change(database, worker, |accounts| {
            let before = has_secret.then(|| accounts.by_name.clone());
            let done = change(accounts)?;
            if let Some(before) = before
                && let Some(note) = worker.take_note()
            {
                worker.set_note(Some(with_hashes(&note, &before, &accounts.by_name)));
            }
            Ok(done)
        });
        is_logged.store(worker.take_note().is_none() && done.is_ok(), Ordering::Relaxed);
        done
    });
    match done.await {
        Some(done) => done,
        None if state.worker.is_stopping() => Err(Error::ShuttingDown),
        None => Err(Error::Internal("the change of accounts failed; see the server's log".to_owned())),
    }
}

/// The note of a statement that has passwords, with one that has their hashes: no file has a password.
fn with_hashes(note: &[u8], before: &BTreeMap<Name, Arc<Account>>, now: &BTreeMap<Name, Arc<Account>>) -> Box<[u8]> {
    let Some(mut said) = binlog::note::Note::parse(note) else { return note.into() };
    let changed = |(name, account): &(&Name, &Arc<Account>)| before.get(*name).is_none_or(|old| old != *account);
    let (made, altered): (Vec<_>, Vec<_>) = now.iter().filter(changed).partition(|(name, _)| !before.contains_key(*name));
    let text = match (made.is_empty(), altered.is_empty()) {
        (false, _) => show::definitions("CREATE USER", made.into_iter().map(|(_, account)| &**account)),
        (true, false) => show::definitions("ALTER USER", altered.into_iter().map(|(_, account)| &**account)),
        // Nothing has changed but what is not shown.
        (true, true) => String::new(),
    };
    if let Some(statement) = &mut said.statement {
        statement.text = text;
    }
    said.to_bytes().into()
}

fn note(state: &State<'_>, notes: Notes) {
    for condition in notes {
        state.warn(Level::Note, condition);
    }
}

fn warn(state: &State<'_>, warnings: Notes) {
    for condition in warnings {
        state.warn(Level::Warning, condition);
    }
}

fn exists(name: &Name) -> Condition {
    Condition::UserAlreadyExists { account: name.quoted().into() }
}

fn missing(name: &Name) -> Condition {
    Condition::UserDoesNotExist { account: name.quoted().into() }
}

/// 1396 if some accounts failed.
fn fail(operation: &str, failed: &[Name], why: &str) -> Result<()> {
    if failed.is_empty() {
        return Ok(());
    }
    let list: Vec<String> = failed.iter().map(|name| format!("{}{why}", name.quoted())).collect();
    Err(Error::from(Condition::CannotUser { operation: operation.into(), users: list.join(",").into() }))
}

/// The new value of a password.
enum Secret {
    Plugin(Plugin),
    Password { plugin: Option<Plugin>, password: Vec<u8> },
    Stored { plugin: Plugin, stored: String },
    DiscardOld,
}

/// An account of CREATE USER or ALTER USER.
struct Spec {
    name: Name,
    secret: Option<Secret>,
    replaces: Option<Vec<u8>>,
    /// The present password stays a second one.
    retains: bool,
}

/// The accounts of the statement, and the passwords generated for them.
fn specs(state: &State<'_>, users: &[UserSpec<'_>]) -> Result<(Vec<Spec>, Vec<Made>)> {
    let mut made = Vec::new();
    let find = |plugin: &str| {
        let unknown = || Error::from(Condition::PluginIsNotLoaded { plugin: plugin.into() });
        Plugin::named(plugin).ok_or_else(unknown)
    };
    let make = |user: &UserSpec<'_>| {
        let name = named(&state.session.access, &user.name);
        let secret = match user.authentication {
            Authentication::Kept => None,
            Authentication::Plugin(plugin) => Some(Secret::Plugin(find(plugin)?)),
            Authentication::Password { plugin, password } => {
                Some(Secret::Password { plugin: plugin.map(find).transpose()?, password: password.to_vec() })
            }
            Authentication::Hash { plugin, hash } => {
                let plugin = find(plugin)?;
                let stored = std::str::from_utf8(hash)
                    .ok()
                    .filter(|stored| plugin.accepts(stored))
                    .ok_or_else(|| Error::from(Condition::PasswordFormat))?;
                Some(Secret::Stored { plugin, stored: stored.to_owned() })
            }
            Authentication::Random { plugin } => {
                let length = state.session.variables.get(crate::variables::known("generated_random_password_length")).as_u64();
                let password = accounts::random_password(length as usize);
                made.push((name.clone(), password.clone()));
                Some(Secret::Password { plugin: plugin.map(find).transpose()?, password: password.into_bytes() })
            }
            Authentication::DiscardOld => Some(Secret::DiscardOld),
        };
        Ok(Spec { name, secret, replaces: user.replaces.map(<[u8]>::to_vec), retains: user.retains })
    };
    let specs = users.iter().map(make).collect::<Result<Vec<_>>>()?;
    Ok((specs, made))
}

/// 1396 for a password that no login would accept.
fn refuse_long(specs: &[Spec], operation: &str) -> Result<()> {
    let is_long =
        |spec: &&Spec| matches!(&spec.secret, Some(Secret::Password { password, .. }) if password.len() > PASSWORD_BYTES_MAX);
    let long: Vec<Name> = specs.iter().filter(is_long).map(|spec| spec.name.clone()).collect();
    fail(operation, &long, "")
}

/// The clauses that apply to all accounts of a statement.
#[derive(Default)]
struct Options {
    requirement: Option<Requirement>,
    limits: Vec<(Resource, u32)>,
    expiry: Option<Expiry>,
    history: Option<Option<u32>>,
    reuse_days: Option<Option<u32>>,
    require_current: Option<Option<bool>>,
    failed_logins: Option<u32>,
    lock_days: Option<i32>,
    lock: Option<bool>,
    attribute: Option<serde_json::Map<String, serde_json::Value>>,
}

impl Options {
    fn new(options: &[AccountOption<'_>]) -> Result<Self> {
        let mut out = Self::default();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let number = |value: u64, most: u64| u32::try_from(value.min(most)).unwrap_or(u32::MAX);
        for option in options {
            match *option {
                AccountOption::Require(needed) => {
                    out.requirement = Some(Requirement {
                        ssl: needed.ssl,
                        x509: needed.x509,
                        subject: needed.subject.map(text),
                        issuer: needed.issuer.map(text),
                        cipher: needed.cipher.map(text),
                    });
                }
                AccountOption::Limit(resource, value) => out.limits.push((resource, number(value, u32::MAX.into()))),
                AccountOption::Expire(expiry) => out.expiry = Some(expiry),
                AccountOption::History(count) => out.history = Some(count.map(|count| number(count, 65535))),
                AccountOption::ReuseDays(days) => out.reuse_days = Some(days.map(|days| number(days, 65535))),
                AccountOption::RequireCurrent(needed) => out.require_current = Some(needed),
                AccountOption::FailedLogins(count) => out.failed_logins = Some(number(count, 32767)),
                AccountOption::LockDays(days) => out.lock_days = Some(days.map_or(-1, |days| number(days, 32767) as i32)),
                AccountOption::Lock(lock) => out.lock = Some(lock),
                AccountOption::Comment(comment) => {
                    out.attribute = Some([("comment".to_owned(), text(comment).into())].into_iter().collect());
                }
                AccountOption::Attribute(json) => {
                    let object = serde_json::from_slice(json).map_err(|_| Error::from(Condition::InvalidUserAttributeJson))?;
                    out.attribute = Some(object);
                }
            }
        }
        Ok(out)
    }

    fn apply(&self, account: &mut Account) {
        if let Some(requirement) = &self.requirement {
            account.requirement = requirement.clone();
        }
        for (resource, value) in &self.limits {
            let Limits { queries, updates, connections, user_connections } = &mut account.limits;
            *match resource {
                Resource::Queries => queries,
                Resource::Updates => updates,
                Resource::Connections => connections,
                Resource::UserConnections => user_connections,
            } = *value;
        }
        match self.expiry {
            Some(Expiry::Now) => account.expired = true,
            Some(Expiry::Default) => account.lifetime = Lifetime::Default,
            Some(Expiry::Never) => account.lifetime = Lifetime::Never,
            Some(Expiry::Days(days)) => account.lifetime = Lifetime::Days(u32::try_from(days).unwrap_or(u32::MAX)),
            None => {}
        }
        account.history = self.history.unwrap_or(account.history);
        account.reuse_days = self.reuse_days.unwrap_or(account.reuse_days);
        account.require_current = self.require_current.unwrap_or(account.require_current);
        account.failed_logins = self.failed_logins.unwrap_or(account.failed_logins);
        account.lock_days = self.lock_days.unwrap_or(account.lock_days);
        account.locked = self.lock.unwrap_or(account.locked);
        if let Some(more) = &self.attribute {
            let attribute = account.attribute.get_or_insert_default();
            for (key, value) in more {
                if value.is_null() { drop(attribute.remove(key)) } else { drop(attribute.insert(key.clone(), value.clone())) }
            }
        }
    }
}

/// The rules for a new password.
struct Policy {
    /// The account that sets it administers accounts, so the current password is not required.
    administers: bool,
    own: Name,
    require_current: bool,
    history: u64,
    reuse_days: u64,
}

impl Policy {
    fn new(state: &State<'_>, administers: bool) -> Self {
        let globals = state.worker.shared.globals();
        let global = |name| globals.get(crate::variables::known(name));
        Self {
            administers,
            own: state.session.access.name.clone(),
            require_current: global("password_require_current").as_bool(),
            history: global("password_history").as_u64(),
            reuse_days: global("password_reuse_interval").as_u64(),
        }
    }

    /// 3892, 3891, 3638
    fn check(&self, account: &Account, spec: &Spec, password: &[u8]) -> Result<()> {
        match &spec.replaces {
            Some(_) if account.name != self.own => {
                return Err(Error::from(Condition::CurrentPasswordNotRequired));
            }
            Some(present) if !account.plugin.is_password(&account.stored, present) => {
                return Err(Error::from(Condition::IncorrectCurrentPassword));
            }
            Some(_) => {}
            None => {
                let needed = account.require_current.unwrap_or(self.require_current);
                if needed && !self.administers {
                    return Err(Error::from(Condition::MissingCurrentPassword));
                }
            }
        }
        let history = account.history.map_or(self.history, u64::from);
        let days = account.reuse_days.map_or(self.reuse_days, u64::from);
        let now = now_seconds();
        for (n, (stored, set)) in account.old_passwords.iter().enumerate() {
            let is_kept = (n as u64) < history || days > 0 && now - set < days as i64 * 24 * 3600;
            if is_kept && !stored.is_empty() && account.plugin.is_password(stored, password) {
                let Name { user, host } = &account.name;
                return Err(Error::from(Condition::CredentialsContradictToHistory { user: user.into(), host: host.into() }));
            }
        }
        Ok(())
    }
}

impl Policy {
    /// Adds the password to the history if the account has one at that time, as in MySQL.
    fn record(&self, account: &mut Account) {
        let history = account.history.map_or(self.history, u64::from);
        let days = account.reuse_days.map_or(self.reuse_days, u64::from);
        if history == 0 && days == 0 {
            account.old_passwords.clear();
        } else if !account.stored.is_empty() {
            account.old_passwords.insert(0, (account.stored.clone(), now_seconds()));
            account.old_passwords.truncate(OLD_PASSWORDS_MAX);
        }
    }
}

/// Passwords that an account's history keeps.
const OLD_PASSWORDS_MAX: usize = 64;

fn set_secret(account: &mut Account, secret: &Secret, retains: bool) -> Result<()> {
    if matches!(secret, Secret::DiscardOld) {
        account.second.clear();
        return Ok(());
    }
    let before = (account.plugin, account.stored.clone());
    match secret {
        Secret::DiscardOld => {}
        Secret::Plugin(plugin) => {
            account.plugin = *plugin;
            account.stored.clear();
        }
        Secret::Password { plugin, password } => {
            account.plugin = plugin.unwrap_or(account.plugin);
            account.stored = account.plugin.store(password);
        }
        Secret::Stored { plugin, stored } => {
            account.plugin = *plugin;
            account.stored.clone_from(stored);
        }
    }
    let has_other_plugin = account.plugin != before.0;
    if retains {
        retain(account, has_other_plugin, before.1)?;
    } else if has_other_plugin || account.stored.is_empty() {
        account.second.clear();
    }
    account.password_changed = now_seconds();
    account.expired = false;
    Ok(())
}

/// RETAIN CURRENT PASSWORD: 3878, 3894, 3895 if there cannot be two passwords.
fn retain(account: &mut Account, has_other_plugin: bool, present: String) -> Result<()> {
    let whose = account.name.quoted();
    let condition = match () {
        () if has_other_plugin => Condition::PasswordCannotBeRetainedOnPluginChange { user: whose.into() },
        () if account.stored.is_empty() => Condition::CurrentPasswordCannotBeRetained { user: whose.into() },
        () if present.is_empty() => Condition::SecondPasswordCannotBeEmpty { whose: whose.into() },
        () => {
            account.second = present;
            return Ok(());
        }
    };
    Err(condition.into())
}

/// The options of CREATE USER.
struct New {
    specs: Vec<Spec>,
    options: Options,
    roles: Vec<Name>,
    policy: Policy,
}

fn create(accounts: &mut Accounts, new: New, if_not_exists: bool) -> Result<Notes> {
    let New { specs, options, roles, policy } = new;
    let mut notes = Notes::new();
    let mut failed = Vec::new();
    for role in &roles {
        if accounts.get(role).is_none() {
            return Err(Condition::UserDoesNotExist { account: role.ticked().into() }.into());
        }
    }
    for spec in specs {
        if accounts.get(&spec.name).is_some() {
            if if_not_exists {
                notes.push(exists(&spec.name))
            } else {
                failed.push(spec.name)
            }
            continue;
        }
        let mut account = Account { name: spec.name, password_changed: now_seconds(), ..Account::default() };
        if let Some(secret) = &spec.secret {
            set_secret(&mut account, secret, false)?;
        }
        options.apply(&mut account);
        policy.record(&mut account);
        account.default_roles = roles.clone();
        account.roles = roles.iter().map(|role| accounts::model::RoleGrant { role: role.clone(), admin: false }).collect();
        accounts.put(account);
    }
    fail("CREATE USER", &failed, " (User account already exists)")?;
    Ok(notes)
}

fn alter(accounts: &mut Accounts, specs: Vec<Spec>, if_exists: bool, options: &Options, policy: &Policy) -> Result<Notes> {
    let mut notes = Notes::new();
    let mut failed = Vec::new();
    for spec in specs {
        let Some(account) = accounts.get(&spec.name) else {
            if if_exists {
                notes.push(missing(&spec.name))
            } else {
                failed.push(spec.name)
            }
            continue;
        };
        let mut account = Account::clone(account);
        if let Some(secret) = &spec.secret {
            if let Secret::Password { password, .. } = secret {
                policy.check(&account, &spec, password)?;
            }
            set_secret(&mut account, secret, spec.retains)?;
            if !matches!(secret, Secret::DiscardOld) {
                policy.record(&mut account);
            }
        }
        options.apply(&mut account);
        accounts.put(account);
    }
    fail("ALTER USER", &failed, " (User account does not exist)")?;
    Ok(notes)
}

/// 3628 for a mandatory role, which is neither dropped nor taken from anybody.
pub fn keep_mandatory<'n>(state: &State<'_>, names: impl IntoIterator<Item = &'n Name>) -> Result<()> {
    let mandatory = state.worker.mandatory_roles();
    let Some(name) = names.into_iter().find(|name| mandatory.contains(name)) else { return Ok(()) };
    Err(Error::from(Condition::MandatoryRole { role: name.ticked().into() }))
}

/// 4006: a definer of views or programs can neither be dropped nor be created again, because that would change the
/// owner of these. With ALLOW_NONEXISTENT_DEFINER it is only a warning (4005).
fn keep_definers<'n>(
    state: &State<'_>,
    access: &Access,
    operation: &str,
    names: impl IntoIterator<Item = &'n Name>,
) -> Result<()> {
    let schema = state.schema();
    for name in names {
        for what in made_by(&schema, &name.plain()) {
            let whose = name.quoted();
            if !access.has_dynamic("ALLOW_NONEXISTENT_DEFINER") {
                return Err(Error::from(Condition::CannotUserReferencedAsDefiner {
                    operation: operation.into(),
                    whose: whose.into(),
                    what: what.into(),
                }));
            }
            state.warn(Level::Warning, Condition::WarnUserReferencedAsDefiner { user: whose.into(), what: what.into() });
        }
    }
    Ok(())
}

/// The kinds of objects that name the account as their definer.
fn made_by<'s>(schema: &'s Schema, definer: &'s str) -> impl Iterator<Item = &'static str> + 's {
    let any = move |is: &dyn Fn(&DatabaseDef) -> bool| schema.databases.values().any(|database| is(database));
    let of_view = move |def: &TableDef| {
        def.view.as_ref().is_some_and(|view| Name::new(&view.definer_user, &view.definer_host).plain() == definer)
    };
    let kinds = [
        (any(&|database| database.routines.values().any(|def| def.definer == definer)), "a stored routine"),
        (any(&|database| database.tables.values().any(|def| of_view(def))), "a view"),
        (any(&|database| database.events.values().any(|def| def.program.definer == definer)), "an event"),
        (
            any(&|database| database.tables.values().flat_map(|def| &def.triggers).any(|def| def.program.definer == definer)),
            "a trigger",
        ),
    ];
    kinds.into_iter().filter_map(|(is, what)| is.then_some(what))
}

/// The statement that wants less than CREATE USER.
const DROP_ROLE: &str = "DROP ROLE";

/// 1227: DROP ROLE alone removes roles, which are locked, and no accounts that somebody logs in with.
fn keep_accounts(access: &Access, accounts: &Accounts, names: &[Name]) -> Result<()> {
    let is_open = |name: &Name| accounts.get(name).is_some_and(|account| !account.locked);
    if names.iter().any(is_open) { require(access, Privileges::CREATE_USER, "CREATE USER") } else { Ok(()) }
}

async fn remove(state: &mut State<'_>, names: Vec<Name>, if_exists: bool, operation: &'static str) -> Result<()> {
    let access = std::rc::Rc::clone(&state.session.access);
    keep_mandatory(state, &names)?;
    keep_definers(state, &access, operation, &names)?;
    guard(state, &access, &names)?;
    if operation == DROP_ROLE {
        keep_accounts(&access, &state.worker.shared.accounts.snapshot(), &names)?;
    }
    let gone = names.clone();
    let notes = change(state, move |accounts| {
        let mut notes = Notes::new();
        let mut failed = Vec::new();
        for name in names {
            match accounts.by_name.remove(&name) {
                Some(_) => accounts.forget_role(&name, None),
                None if if_exists => notes.push(missing(&name)),
                None => failed.push(name),
            }
        }
        fail(operation, &failed, " (User account does not exist)")?;
        Ok(notes)
    });
    let notes = notes.await?;
    gone.iter().for_each(|name| state.worker.shared.accounts.logins.forget(name));
    note(state, notes);
    Ok(())
}

fn rename(accounts: &mut Accounts, pairs: &[(Name, Name)]) -> Result<()> {
    let mut failed = Vec::new();
    for (from, to) in pairs {
        if accounts.by_name.values().any(|account| account.has_role(from).is_some()) {
            return Err(Condition::RenameRole.into());
        }
        if accounts.get(to).is_some() {
            failed.push(from.clone());
            continue;
        }
        let Some(account) = accounts.by_name.remove(from) else {
            failed.push(from.clone());
            continue;
        };
        accounts.put(Account { name: to.clone(), ..Account::clone(&account) });
        accounts.forget_role(from, Some(to));
    }
    fail("RENAME USER", &failed, "")
}

/// Which roles are meant.
pub enum Choice {
    None,
    Default,
    All,
    AllExcept(Vec<Name>),
    These(Vec<Name>),
}

impl Choice {
    pub fn new(access: &Access, choice: &RoleChoice<'_>) -> Self {
        let list = |names: &[AccountName<'_>]| names.iter().map(|name| named(access, name)).collect();
        match *choice {
            RoleChoice::None => Choice::None,
            RoleChoice::Default => Choice::Default,
            RoleChoice::All => Choice::All,
            RoleChoice::AllExcept(names) => Choice::AllExcept(list(names)),
            RoleChoice::These(names) => Choice::These(list(names)),
        }
    }
}

/// 3530
pub fn not_granted(role: &Name, to: &Name) -> Error {
    Error::from(Condition::RoleNotGranted { role: role.ticked().into(), account: to.ticked().into() })
}

fn set_default_roles(accounts: &mut Accounts, users: &[Name], choice: &Choice, mandatory: &[Name]) -> Result<()> {
    for user in users {
        let known = accounts.get(user).cloned();
        let granted = known.as_ref().map_or_else(Vec::new, |account| accounts.granted_roles(account, mandatory));
        let roles = match choice {
            Choice::All => granted,
            Choice::These(roles) => {
                if let Some(role) = roles.iter().find(|role| !granted.contains(role)) {
                    return Err(not_granted(role, user));
                }
                roles.clone()
            }
            Choice::None | Choice::Default | Choice::AllExcept(_) => Vec::new(),
        };
        let Some(account) = known else {
            // As in MySQL: an account that does not exist has no default roles.
            if matches!(choice, Choice::None) {
                continue;
            }
            return Err(grant::unknown_id(user));
        };
        accounts.put(Account { default_roles: roles, ..Account::clone(&account) });
    }
    Ok(())
}

/// The roles that SET ROLE activates.
fn active_roles(state: &State<'_>, choice: &Choice) -> Result<Vec<Name>> {
    let accounts = state.worker.shared.accounts.snapshot();
    let name = &state.session.access.name;
    let Some(account) = accounts.get(name) else { return Ok(Vec::new()) };
    let mandatory = state.worker.mandatory_roles();
    let granted = accounts.granted_roles(account, &mandatory);
    Ok(match choice {
        Choice::None => Vec::new(),
        Choice::Default => accounts.roles_at_login(account, false, &mandatory),
        Choice::All => granted,
        Choice::AllExcept(roles) => granted.into_iter().filter(|role| !roles.contains(role)).collect(),
        Choice::These(roles) => {
            if let Some(role) = roles.iter().find(|role| !granted.contains(role)) {
                return Err(not_granted(role, name));
            }
            roles.clone()
        }
    })
}
