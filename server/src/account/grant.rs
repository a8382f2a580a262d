//! GRANT and REVOKE of privileges and roles.
//!
//! The grantor must have the granted privileges, at that level or above, with GRANT OPTION.

use super::statement::{Choice, change, guard, keep_mandatory, manage, named, not_granted};
use crate::error::{Error, Result};
use crate::session::State;
use accounts::Access;
use accounts::model::{Account, DatabaseGrant, Name, ProxyGrant, RoleGrant, RoutineGrant, TableGrant};
use accounts::privilege::{DYNAMIC, Privileges};
use accounts::{Accounts, Notes, SYSTEM_USER, special};
use conditions::Condition;
use sql::ast::{AccountName, GrantLevel, ObjectName, PrivilegeSpec, RevokeFrom, RoleChoice};
use std::sync::Arc;
use types::schema::TableDef;

/// The level of a grant.
#[derive(Clone, Debug)]
enum Level {
    Global,
    Database(String),
    Table { database: String, table: String },
    Routine { database: String, name: String, function: bool },
}

/// The granted or revoked privileges.
#[derive(Clone, Debug, Default)]
struct Set {
    /// At the level itself.
    whole: Privileges,
    /// ALL was written.
    all: bool,
    columns: Vec<(String, Privileges)>,
    dynamic: Vec<String>,
}

impl Set {
    fn everything(&self) -> Privileges {
        self.columns.iter().fold(self.whole, |all, (_, more)| all.with(*more))
    }
}

/// Resolves the names; CURRENT_USER() is the session's own account.
fn list(access: &Access, names: &[AccountName<'_>]) -> Vec<Name> {
    names.iter().map(|name| named(access, name)).collect()
}

/// The privileges of a GRANT or REVOKE, as written, and the level.
#[derive(Clone, Copy)]
pub struct Written<'a> {
    pub privileges: &'a [PrivilegeSpec<'a>],
    pub level: &'a GrantLevel<'a>,
}

/// GRANT privileges ON level. `grantor`: of AS user [WITH ROLE ...].
pub async fn grant(
    state: &mut State<'_>,
    access: &Access,
    written: Written<'_>,
    to: &[AccountName<'_>],
    grant_option: bool,
    grantor: Option<(AccountName<'_>, RoleChoice<'_>)>,
) -> Result<()> {
    let level = level_of(state, written.level)?;
    let mut set = set_of(written.privileges, &level)?;
    if grant_option {
        set.whole = set.whole.with(Privileges::GRANT);
    }
    may_grant(access, &level, &set)?;
    if let Some((grantor, roles)) = grantor {
        check_grantor(state, &named(access, &grantor), &Choice::new(access, &roles), &level)?;
    }
    complete(state, &level, &mut set, true)?;
    let to = list(access, to);
    guard(state, access, &to)?;
    if set.dynamic.iter().any(|name| name == SYSTEM_USER) {
        refuse_mandatory(state, &to)?;
    }
    change(state, move |accounts| to.iter().try_for_each(|name| add(accounts, name, &level, &set))).await
}

/// REVOKE privileges ON level; returns the warnings, like the others of REVOKE.
pub async fn revoke(state: &mut State<'_>, access: &Access, written: Written<'_>, from: RevokeFrom<'_>) -> Result<Notes> {
    let level = level_of(state, written.level)?;
    let (known, notes) = registered(written.privileges, &level);
    let mut set = set_of(&known, &level)?;
    may_grant(access, &level, &set)?;
    complete(state, &level, &mut set, false)?;
    let from = Revokees::new(state, access, from)?;
    let original = state.session.variables.get(crate::variables::known("original_server_version")).as_u64();
    let lacking = Lacking { if_exists: from.if_exists, is_older: original < ALL_MUST_BE_GRANTED };
    let take = move |accounts: &mut Accounts| from.each(accounts, |accounts, name| remove(accounts, name, &level, &set, lacking));
    Ok([notes, change(state, take).await?].concat())
}

/// REVOKE ALL PRIVILEGES, GRANT OPTION
pub async fn revoke_all(state: &mut State<'_>, access: &Access, from: RevokeFrom<'_>) -> Result<Notes> {
    manage(access, Privileges::UPDATE)?;
    let from = Revokees::new(state, access, from)?;
    change(state, move |accounts| from.each(accounts, |accounts, name| remove_all(accounts, name).map(|()| Notes::new()))).await
}

/// GRANT PROXY ON account
pub async fn grant_proxy(
    state: &mut State<'_>,
    access: &Access,
    on: &AccountName<'_>,
    to: &[AccountName<'_>],
    grant_option: bool,
) -> Result<()> {
    let (proxied, to) = (named(access, on), list(access, to));
    may_grant_proxy(state, access, &proxied)?;
    guard(state, access, to.iter().chain([&proxied]))?;
    let grant = ProxyGrant { proxied, grant_option };
    change(state, move |accounts| to.iter().try_for_each(|name| add_proxy(accounts, name, &grant))).await
}

/// REVOKE PROXY ON account
pub async fn revoke_proxy(state: &mut State<'_>, access: &Access, on: &AccountName<'_>, from: RevokeFrom<'_>) -> Result<Notes> {
    let proxied = named(access, on);
    may_grant_proxy(state, access, &proxied)?;
    guard(state, access, [&proxied])?;
    let from = Revokees::new(state, access, from)?;
    let take = move |accounts: &mut Accounts, name: &Name| remove_proxy(accounts, name, &proxied).map(|()| Notes::new());
    change(state, move |accounts| from.each(accounts, take)).await
}

/// GRANT roles
pub async fn grant_roles(
    state: &mut State<'_>,
    access: &Access,
    roles: &[AccountName<'_>],
    to: &[AccountName<'_>],
    admin_option: bool,
) -> Result<()> {
    let (roles, to) = (list(access, roles), list(access, to));
    may_grant_roles(state, access, &roles)?;
    to.iter().try_for_each(|name| known(state, name))?;
    guard(state, access, roles.iter().chain(&to))?;
    let mandatory = state.worker.mandatory_roles();
    change(state, move |accounts| add_roles(accounts, &roles, &to, admin_option, &mandatory)).await
}

/// REVOKE roles
pub async fn revoke_roles(
    state: &mut State<'_>,
    access: &Access,
    roles: &[AccountName<'_>],
    from: RevokeFrom<'_>,
) -> Result<Notes> {
    let roles = list(access, roles);
    may_grant_roles(state, access, &roles)?;
    keep_mandatory(state, &roles)?;
    if !from.ignore_unknown {
        from.names.iter().try_for_each(|name| known(state, &named(access, name)))?;
    }
    guard(state, access, &roles)?;
    let from = Revokees::new(state, access, from)?;
    change(state, move |accounts| from.each_role(accounts, &roles)).await
}

/// From this version on, REVOKE refuses privileges that are not granted although others are.
const ALL_MUST_BE_GRANTED: u64 = 80_300;

/// What is made of privileges that are to be taken but are not granted, where others are.
#[derive(Clone, Copy, Debug)]
struct Lacking {
    if_exists: bool,
    /// The statement comes from an older version (`original_server_version`).
    is_older: bool,
}

impl Lacking {
    fn found(self, notes: &mut Notes, condition: Condition) -> Result<()> {
        if self.is_older { Ok(()) } else { self.wholly(notes, condition) }
    }

    /// There is no privilege at all of what is named.
    fn wholly(self, notes: &mut Notes, condition: Condition) -> Result<()> {
        if !self.if_exists {
            return Err(Error::from(condition));
        }
        notes.push(condition);
        Ok(())
    }
}

/// The accounts of a REVOKE, and the errors that it ignores.
struct Revokees {
    names: Vec<Name>,
    if_exists: bool,
    ignore_unknown: bool,
}

impl Revokees {
    fn new(state: &State<'_>, access: &Access, from: RevokeFrom<'_>) -> Result<Self> {
        let names: Vec<Name> = from.names.iter().map(|name| named(access, name)).collect();
        guard(state, access, &names)?;
        Ok(Self { names, if_exists: from.if_exists, ignore_unknown: from.ignore_unknown })
    }

    /// Revokes from each account; returns the warnings.
    fn each(&self, accounts: &mut Accounts, take: impl Fn(&mut Accounts, &Name) -> Result<Notes>) -> Result<Notes> {
        let mut notes = Notes::new();
        for name in &self.names {
            let is_known = accounts.get(name).is_some();
            if self.ignore_unknown && !is_known {
                notes.push(unknown_user(name));
                continue;
            }
            match take(accounts, name) {
                Err(Error::Condition(condition)) if self.if_exists && is_known && is_no_grant(&condition) => {
                    notes.push(*condition);
                }
                taken => notes.extend(taken?),
            }
        }
        Ok(notes)
    }

    /// Revokes roles from each account; returns the warnings.
    fn each_role(&self, accounts: &mut Accounts, roles: &[Name]) -> Result<Notes> {
        let mut notes = Notes::new();
        for name in &self.names {
            let Some(account) = accounts.get(name) else {
                if self.ignore_unknown {
                    notes.push(unknown_user(name))
                } else {
                    return Err(unknown_id(name));
                }
                continue;
            };
            let mut account = Account::clone(account);
            for role in roles {
                match unknown_id(role) {
                    _ if accounts.get(role).is_some() => {
                        account.roles.retain(|grant| grant.role != *role);
                        account.default_roles.retain(|name| name != role);
                    }
                    Error::Condition(condition) if self.if_exists => notes.push(*condition),
                    error => return Err(error),
                }
            }
            accounts.put(account);
        }
        Ok(notes)
    }
}

/// Does the condition say that there is no such grant?
fn is_no_grant(condition: &Condition) -> bool {
    use Condition as C;
    matches!(condition, C::NonexistingGrant { .. } | C::NonexistingTableGrant { .. } | C::NonexistingProcGrant { .. })
}

/// 3162, as REVOKE says it.
fn unknown_user(name: &Name) -> Condition {
    Condition::UserDoesNotExist { account: (&name.user).into() }
}

/// The privileges that there are; the others are warned of (3929).
fn registered<'a>(privileges: &[PrivilegeSpec<'a>], level: &Level) -> (Vec<PrivilegeSpec<'a>>, Notes) {
    let is_there = |spec: &PrivilegeSpec<'_>| {
        let is_static = matches!(spec.name, "ALL" | "USAGE") || Privileges::named(spec.name).is_some();
        is_static || DYNAMIC.contains(&spec.name) || !matches!(level, Level::Global) || !spec.columns.is_empty()
    };
    let (known, unknown): (Vec<_>, Vec<_>) = privileges.iter().copied().partition(is_there);
    let note = |spec: PrivilegeSpec<'_>| Condition::WarnDaPrivilegeNotRegistered { privilege: spec.name.into() };
    (known, unknown.into_iter().map(note).collect())
}

/// GRANT ... AS: 3835, 3836. The named account and roles only matter for partial revokes, which do not exist here.
fn check_grantor(state: &State<'_>, grantor: &Name, roles: &Choice, level: &Level) -> Result<()> {
    if !matches!(level, Level::Global) {
        return Err(Error::from(Condition::UnsupportedUseOfGrantAs));
    }
    let accounts = state.worker.shared.accounts.snapshot();
    let has = |account: &Account, roles: &[Name]| {
        let granted = accounts.granted_roles(account, &state.worker.mandatory_roles());
        roles.iter().all(|role| granted.contains(role))
    };
    let is_valid = accounts.get(grantor).is_some_and(|account| match roles {
        Choice::These(roles) | Choice::AllExcept(roles) => has(account, roles),
        Choice::None | Choice::Default | Choice::All => true,
    });
    if is_valid { Ok(()) } else { Err(Error::from(Condition::UnknownAuthIdForGrantAs)) }
}

/// 3523 if the account does not exist.
fn known(state: &State<'_>, name: &Name) -> Result<()> {
    match state.worker.shared.accounts.snapshot().get(name) {
        Some(_) => Ok(()),
        None => Err(unknown_id(name)),
    }
}

/// 3523
pub fn unknown_id(name: &Name) -> Error {
    Error::from(Condition::UnknownAuthId { account: name.ticked().into() })
}

fn current(state: &State<'_>, database: Option<&str>) -> Result<String> {
    database.or(state.execution.vars.database.as_deref()).map(str::to_owned).ok_or(Error::NoDatabase)
}

fn level_of(state: &State<'_>, level: &GrantLevel<'_>) -> Result<Level> {
    Ok(match *level {
        GrantLevel::Global => Level::Global,
        GrantLevel::Database(database) => Level::Database(current(state, database)?),
        GrantLevel::Table(ObjectName { database, name }) => {
            Level::Table { database: current(state, database)?, table: name.to_owned() }
        }
        GrantLevel::Routine { function, name } => {
            Level::Routine { database: current(state, name.database)?, name: name.name.to_owned(), function }
        }
    })
}

/// The privileges that exist at a level.
fn known_at(level: &Level) -> Privileges {
    match level {
        Level::Global => Privileges::GLOBAL,
        Level::Database(_) => Privileges::DATABASE,
        Level::Table { .. } => Privileges::TABLE,
        Level::Routine { .. } => Privileges::ROUTINE,
    }
}

fn illegal() -> Error {
    Error::from(Condition::IllegalGrantForTable)
}

fn set_of(privileges: &[PrivilegeSpec<'_>], level: &Level) -> Result<Set> {
    let mut set = Set::default();
    let syntax = |near: &str| Error::Sql(sql::Error::Syntax { near: near.to_owned(), line: 1 });
    for PrivilegeSpec { name, columns } in privileges {
        if *name == "ALL" {
            if !columns.is_empty() {
                return Err(syntax(name));
            }
            set.all = true;
            set.whole = set.whole.with(known_at(level).without(Privileges::GRANT));
            continue;
        }
        if *name == "USAGE" {
            continue;
        }
        let Some(bit) = Privileges::named(name) else {
            if !DYNAMIC.contains(name) {
                return Err(Error::from(Condition::SyntaxError));
            }
            if !matches!(level, Level::Global) {
                return Err(Error::from(Condition::IllegalPrivilegeLevel { name: name.into() }));
            }
            set.dynamic.push((*name).to_owned());
            continue;
        };
        if !columns.is_empty() {
            if !Privileges::COLUMN.has(bit) {
                return Err(syntax(name));
            }
            if !matches!(level, Level::Table { .. }) {
                return Err(illegal());
            }
            for column in *columns {
                match set.columns.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(column)) {
                    Some((_, bits)) => *bits = bits.with(bit),
                    None => set.columns.push(((*column).to_owned(), bit)),
                }
            }
            continue;
        }
        if !known_at(level).has(bit) {
            return Err(match level {
                Level::Database(_) => Error::Sql(sql::Error::WrongUsage("DB GRANT", "GLOBAL PRIVILEGES")),
                _ => illegal(),
            });
        }
        set.whole = set.whole.with(bit);
    }
    if set.all && matches!(level, Level::Global) {
        set.dynamic = DYNAMIC.iter().map(|name| (*name).to_owned()).collect();
    }
    Ok(set)
}

/// Refuses privileges that the account lacks, or has without GRANT OPTION.
fn may_grant(access: &Access, level: &Level, set: &Set) -> Result<()> {
    let needed = set.everything().with(Privileges::GRANT);
    match level {
        Level::Global => {
            if (!set.whole.is_empty() || set.dynamic.is_empty()) && !access.has(needed) {
                return Err(access.access_denied().into());
            }
            // In MySQL, an account that may write the tables of `mysql` could do this by hand.
            let by_hand = access.database("mysql").has(Privileges::UPDATE);
            match set.dynamic.iter().find(|name| !by_hand && !access.may_grant_dynamic(name)) {
                Some(_) if set.all => Err(access.access_denied().into()),
                Some(_) => Err(special("GRANT OPTION").into()),
                None => Ok(()),
            }
        }
        Level::Database(database) => {
            if pattern_privileges(access, database).has(needed) {
                Ok(())
            } else {
                Err(access.database_denied(database).into())
            }
        }
        Level::Table { database, table } => {
            let (whole, some) = access.table(database, table);
            let wanted = set.whole.with(Privileges::GRANT);
            let of_column = |column: &str| whole.with(access.column(database, table, column));
            if whole.has(wanted) && set.columns.iter().all(|(column, bits)| of_column(column).has(*bits)) {
                return Ok(());
            }
            let missing = set.everything().with(wanted).without(some);
            let missing = if missing.is_empty() { Privileges::GRANT } else { missing };
            Err(access.table_denied(missing, table).into())
        }
        Level::Routine { database, name, function } => {
            if access.routine(database, name, *function).has(needed) {
                Ok(())
            } else {
                Err(access.routine_denied("grant", database, name).into())
            }
        }
    }
}

/// The account's privileges on all databases that a pattern matches: a pattern wider than its own grants gives none.
fn pattern_privileges(access: &Access, pattern: &str) -> Privileges {
    if pattern.contains(['%', '_']) { access.exact_database(pattern) } else { access.database(&pattern.replace('\\', "")) }
}

/// Checks that the table and its columns exist, and expands ALL to the privileges of the level. 1146, 1054, 1305
fn complete(state: &State<'_>, level: &Level, set: &mut Set, granting: bool) -> Result<()> {
    match level {
        Level::Table { database, table } => {
            let schema = state.schema();
            let found: Option<&Arc<TableDef>> = schema.table(database, table);
            match found {
                Some(def) => {
                    for (column, _) in &mut set.columns {
                        let index = def.column_index(column).ok_or_else(|| {
                            Error::from(Condition::BadFieldError { column: column.into(), clause: table.into() })
                        })?;
                        column.clone_from(&def.columns[index].name);
                    }
                }
                None if granting && !set.everything().has(Privileges::CREATE) => {
                    return Err(Error::TableMissing { database: database.clone(), table: table.clone() });
                }
                None => {}
            }
        }
        Level::Routine { database, name, function } if state.schema().routine(*function, database, name).is_some() => {}
        Level::Routine { name, function, .. } if granting => {
            let kind = if *function { "FUNCTION" } else { "PROCEDURE" };
            return Err(Condition::SpDoesNotExist { kind: kind.into(), name: name.clone().into() }.into());
        }
        Level::Global | Level::Database(_) | Level::Routine { .. } => {}
    }
    Ok(())
}

/// 1410
fn no_user_to_grant() -> Error {
    Error::from(Condition::CantCreateUserWithGrant)
}

fn add(accounts: &mut Accounts, name: &Name, level: &Level, set: &Set) -> Result<()> {
    let account = accounts.get(name).ok_or_else(no_user_to_grant)?;
    let mut account = Account::clone(account);
    match level {
        Level::Global => {
            let option = set.whole.has(Privileges::GRANT);
            // Beside dynamic privileges, the option is theirs.
            let of_static = !set.whole.without(Privileges::GRANT).is_empty() || set.dynamic.is_empty();
            account.global = account.global.with(if of_static { set.whole } else { set.whole.without(Privileges::GRANT) });
            for dynamic in &set.dynamic {
                *account.dynamic.entry(dynamic.clone()).or_default() |= option;
            }
        }
        Level::Database(database) => match account.databases.iter_mut().find(|grant| grant.database == *database) {
            Some(present) => present.privileges = present.privileges.with(set.whole),
            None if set.whole.is_empty() => {}
            None => account.databases.push(DatabaseGrant { database: database.clone(), privileges: set.whole }),
        },
        Level::Table { database, table } => {
            let at = account.tables.iter().position(|grant| grant.database == *database && grant.table == *table);
            let at = at.unwrap_or_else(|| {
                let (database, table) = (database.clone(), table.clone());
                account.tables.push(TableGrant { database, table, privileges: Privileges::NONE, columns: Default::default() });
                account.tables.len() - 1
            });
            let present = &mut account.tables[at];
            present.privileges = present.privileges.with(set.whole);
            for (column, more) in &set.columns {
                let bits = present.columns.entry(column.clone()).or_default();
                *bits = bits.with(*more);
            }
        }
        Level::Routine { database, name, function } => {
            account.grant_routine(database, name, *function, set.whole);
        }
    }
    tidy(&mut account);
    accounts.put(account);
    Ok(())
}

/// The creator of a routine may run, change and drop it (`automatic_sp_privileges`).
pub async fn grant_to_maker(state: &mut State<'_>, database: &str, name: &str, function: bool) -> Result<()> {
    let given = Privileges::EXECUTE.with(Privileges::ALTER_ROUTINE);
    if !is_automatic(state) || state.session.access.routine(database, name, function).has(given) {
        return Ok(());
    }
    let (maker, database, name) = (state.session.access.name.clone(), database.to_owned(), name.to_owned());
    change(state, move |accounts| {
        if let Some(account) = accounts.get(&maker) {
            let mut account = Account::clone(account);
            account.grant_routine(&database, &name, function, given);
            accounts.put(account);
        }
        Ok(())
    })
    .await
}

/// Removes the grants on a dropped routine (`automatic_sp_privileges`).
pub async fn forget_routine(state: &mut State<'_>, database: &str, name: &str, function: bool) -> Result<()> {
    let (database, name) = (database.to_owned(), name.to_owned());
    let is = move |grant: &RoutineGrant| grant.database == database && grant.is_of(&name, function);
    let snapshot = state.worker.shared.accounts.snapshot();
    if !is_automatic(state) || !snapshot.by_name.values().any(|account| account.routines.iter().any(&is)) {
        return Ok(());
    }
    change(state, move |accounts| {
        for account in accounts.by_name.values_mut().filter(|account| account.routines.iter().any(&is)) {
            Arc::make_mut(account).routines.retain(|grant| !is(grant));
        }
        Ok(())
    })
    .await
}

fn is_automatic(state: &State<'_>) -> bool {
    state.worker.shared.globals().get(crate::variables::known("automatic_sp_privileges")).as_bool()
}

/// Takes grants of nothing out.
fn tidy(account: &mut Account) {
    account.databases.retain(|grant| !grant.privileges.is_empty());
    for grant in &mut account.tables {
        grant.columns.retain(|_, bits| !bits.is_empty());
    }
    account.tables.retain(|grant| !grant.privileges.is_empty() || !grant.columns.is_empty());
    account.routines.retain(|grant| !grant.privileges.is_empty());
}

/// 1141, 1147, 1403
fn no_grant(name: &Name, level: &Level) -> Condition {
    let (user, host) = ((&name.user).into(), (&name.host).into());
    match level {
        Level::Table { table, .. } => Condition::NonexistingTableGrant { user, host, table: table.into() },
        Level::Routine { name: routine, .. } => Condition::NonexistingProcGrant { user, host, routine: routine.into() },
        Level::Global | Level::Database(_) => Condition::NonexistingGrant { user, host },
    }
}

/// Takes privileges from an account; what is there to warn of.
fn remove(accounts: &mut Accounts, name: &Name, level: &Level, set: &Set, lacking: Lacking) -> Result<Notes> {
    let none = || Error::from(no_grant(name, level));
    let mut notes = Notes::new();
    let account = accounts.get(name).ok_or_else(none)?;
    let mut account = Account::clone(account);
    match level {
        Level::Global => {
            let whole = if set.all { set.whole.with(Privileges::GRANT) } else { set.whole };
            account.global = account.global.without(whole);
            account.dynamic.retain(|dynamic, _| !set.dynamic.contains(dynamic));
            if set.whole.has(Privileges::GRANT) {
                account.dynamic.values_mut().for_each(|option| *option = false);
            }
        }
        Level::Database(database) => {
            let found = account.databases.iter_mut().find(|grant| grant.database == *database);
            let Some(present) = found else {
                // USAGE is not a privilege of a database.
                return if set.whole.is_empty() { Ok(notes) } else { Err(none()) };
            };
            if !set.all && !present.privileges.has(set.whole) {
                lacking.found(&mut notes, no_grant(name, level))?;
            }
            present.privileges = present.privileges.without(if set.all { Privileges::DATABASE } else { set.whole });
        }
        Level::Table { database, table } => {
            let found = account.tables.iter_mut().find(|grant| grant.database == *database && grant.table == *table);
            let present = found.ok_or_else(none)?;
            let granted = present.columns.values().fold(present.privileges, |all, of_column| all.with(*of_column));
            if !set.all && !granted.has(set.whole) {
                lacking.found(&mut notes, no_grant(name, level))?;
            }
            for (column, less) in &set.columns {
                let Some((_, bits)) = present.columns.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(column)) else {
                    lacking.wholly(&mut notes, no_grant(name, level))?;
                    continue;
                };
                if !bits.has(*less) {
                    lacking.found(&mut notes, no_grant(name, level))?;
                }
                *bits = bits.without(*less);
            }
            present.privileges = present.privileges.without(if set.all { Privileges::TABLE } else { set.whole });
            // Revoking from the table revokes from its columns too.
            present.columns.values_mut().for_each(|bits| *bits = bits.without(set.whole));
        }
        Level::Routine { database, name: routine, function } => {
            let is = |grant: &&mut RoutineGrant| grant.database == *database && grant.is_of(routine, *function);
            let present = account.routines.iter_mut().find(is).ok_or_else(none)?;
            if !set.all && !present.privileges.has(set.whole) {
                lacking.found(&mut notes, no_grant(name, level))?;
            }
            present.privileges = present.privileges.without(if set.all { Privileges::ROUTINE } else { set.whole });
        }
    }
    tidy(&mut account);
    accounts.put(account);
    Ok(notes)
}

fn remove_all(accounts: &mut Accounts, name: &Name) -> Result<()> {
    let Some(account) = accounts.get(name) else {
        return Err(Error::from(Condition::RevokeGrants));
    };
    let mut account = Account::clone(account);
    account.global = Privileges::NONE;
    account.dynamic.clear();
    account.databases.clear();
    account.tables.clear();
    account.routines.clear();
    accounts.put(account);
    Ok(())
}

/// 1698: granting or revoking PROXY on an account needs to be that account, or to have PROXY on it with GRANT OPTION.
fn may_grant_proxy(state: &State<'_>, access: &Access, proxied: &Name) -> Result<()> {
    let accounts = state.worker.shared.accounts.snapshot();
    let is_of = |grant: &ProxyGrant| grant.grant_option && (grant.proxied == Name::default() || grant.proxied == *proxied);
    let may = *proxied == access.name || accounts.get(&access.name).is_some_and(|own| own.proxies.iter().any(is_of));
    let (user, host) = (&access.user, &access.host);
    if may { Ok(()) } else { Err(Error::from(Condition::AccessDeniedNoPasswordError { user: user.into(), host: host.into() })) }
}

fn add_proxy(accounts: &mut Accounts, name: &Name, grant: &ProxyGrant) -> Result<()> {
    let account = accounts.get(name).ok_or_else(no_user_to_grant)?;
    let mut account = Account::clone(account);
    match account.proxies.iter_mut().find(|present| present.proxied == grant.proxied) {
        Some(present) => present.grant_option = grant.grant_option,
        None => account.proxies.push(grant.clone()),
    }
    accounts.put(account);
    Ok(())
}

fn remove_proxy(accounts: &mut Accounts, name: &Name, proxied: &Name) -> Result<()> {
    let account = accounts.get(name).ok_or_else(|| no_grant(name, &Level::Global))?;
    let mut account = Account::clone(account);
    let count = account.proxies.len();
    account.proxies.retain(|present| present.proxied != *proxied);
    if account.proxies.len() == count {
        return Err(no_grant(name, &Level::Global).into());
    }
    accounts.put(account);
    Ok(())
}

/// ROLE_ADMIN, or every role WITH ADMIN OPTION. Whether a role has SYSTEM_USER is checked separately.
pub fn may_grant_roles(state: &State<'_>, access: &Access, roles: &[Name]) -> Result<()> {
    if access.has_dynamic("ROLE_ADMIN") || access.has(Privileges::SUPER) {
        return Ok(());
    }
    let accounts = state.worker.shared.accounts.snapshot();
    let admin =
        |role: &Name| accounts.get(&access.name).and_then(|account| account.has_role(role)).is_some_and(|grant| grant.admin);
    if roles.iter().all(admin) {
        return Ok(());
    }
    Err(special("WITH ADMIN, ROLE_ADMIN, SUPER").into())
}

/// 3897: a mandatory role must not have SYSTEM_USER.
fn refuse_mandatory(state: &State<'_>, to: &[Name]) -> Result<()> {
    let mandatory = state.worker.mandatory_roles();
    let Some(name) = to.iter().find(|name| mandatory.contains(name)) else { return Ok(()) };
    Err(Error::from(Condition::CannotGrantSystemPrivToMandatoryRole { account: name.ticked().into() }))
}

/// A mandatory role is granted to everybody, so it can have no role.
fn add_roles(accounts: &mut Accounts, roles: &[Name], to: &[Name], admin: bool, mandatory: &[Name]) -> Result<()> {
    for name in to {
        let account = accounts.get(name).ok_or_else(|| unknown_id(name))?;
        let mut account = Account::clone(account);
        for role in roles {
            if accounts.get(role).is_none() {
                return Err(unknown_id(role));
            }
            if role == name || accounts.is_granted(role, name) || mandatory.contains(name) {
                return Err(Error::from(Condition::RoleGrantedToItself {
                    account: name.ticked().into(),
                    role: role.ticked().into(),
                }));
            }
            match account.roles.iter_mut().find(|grant| grant.role == *role) {
                Some(present) => present.admin |= admin,
                None => account.roles.push(RoleGrant { role: role.clone(), admin }),
            }
        }
        accounts.put(account);
    }
    Ok(())
}

/// 3530 if SHOW GRANTS ... USING names a role that was not granted to the account.
pub fn check_using(accounts: &Accounts, name: &Name, roles: &[Name]) -> Result<()> {
    let has = |role: &Name| accounts.get(name).is_some_and(|account| account.has_role(role).is_some());
    match roles.iter().find(|role| !has(role)) {
        Some(role) => Err(not_granted(role, name)),
        None => Ok(()),
    }
}
