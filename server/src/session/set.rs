//! SET: variables of the user, of the session, of the server; NAMES; TRANSACTION.
//!
//! All assignments of one SET are checked, and their values computed, before the first takes effect.

use super::settings::{IDS, ISOLATION_LEVELS};
use super::state::{Change, State};
use super::transaction::Characteristics;
use crate::error::{Error, Result};
use crate::text_log::{self, Log};
use crate::variables::persisted::{Entries, Entry, Metadata};
use crate::variables::{self, Scope, Setting, VariableId, companion};
use crate::worker::{Message, Worker};
use accounts::{Access, Identity, SYSTEM_USER, parse_roles};
use conditions::Condition;
use exec::Strictness;
use expr::{Level, UserVariable};
use sql::ast::{Expr, Isolation, SetItem, SetValue, VariableScope};
use sql::charsets::{self, Charset, Collation};
use std::rc::Rc;
use std::sync::Arc;
use types::{ColumnType, Value};

/// A checked assignment.
pub(super) enum Assignment {
    Session(VariableId, Setting),
    Global(VariableId, Setting),
    /// SET PERSIST, which also takes effect at once, and SET PERSIST_ONLY.
    Persist {
        id: VariableId,
        setting: Setting,
        at_once: bool,
    },
    Names {
        set: &'static Charset,
        collation: &'static Collation,
    },
    CharacterSet(&'static Charset),
    NextTransaction(Characteristics),
    User(String, UserVariable),
}

/// A system variable that may be set.
#[derive(Clone, Copy)]
pub struct Settable {
    id: VariableId,
    global: bool,
}

impl State<'_> {
    /// Runs SET, with the parameters of a prepared statement; the caller answers OK.
    pub async fn set(&mut self, items: &[SetItem<'_>], params: &[Value<'_>]) -> Result<()> {
        let mut assignments = Vec::with_capacity(items.len());
        // Queries in the values do not change FOUND_ROWS().
        let found_rows = self.execution.vars.found_rows;
        for item in items {
            let checked = self.check_item(item, params, &mut assignments).await;
            self.execution.vars.found_rows = found_rows;
            checked?;
        }
        self.take_effect(assignments).await
    }

    /// SET of one system variable; `None`: its default. See [`Self::settable`] for `to`.
    pub async fn set_system(&mut self, scope: VariableScope, to: Settable, value: Option<Value<'static>>) -> Result<()> {
        let assignment = self.assignment(scope, to, value)?;
        self.take_effect(vec![assignment]).await
    }

    /// EXPLAIN INTO: the text of the plan.
    ///
    /// # Errors
    /// 3170
    pub fn keep_explained(&mut self, name: &str, mut plan: crate::show::ResultSet) -> Result<()> {
        let value = plan.rows.pop().and_then(|mut row| row.pop()).unwrap_or(Value::Null);
        self.set_user(name, value, ColumnType::new(types::TypeKind::Text(types::LobSize::Long)))
    }

    /// SET of one user variable.
    ///
    /// # Errors
    /// 3170
    pub fn set_user(&mut self, name: &str, value: Value<'static>, ty: ColumnType) -> Result<()> {
        self.execution.vars.set_user_variable(name, UserVariable::new(value, ty))?;
        self.track_change();
        Ok(())
    }

    fn track_change(&mut self) {
        if self.session.settings.track_state && self.connection.changes.is_empty() {
            self.connection.changes.push(Change::Any);
        }
    }

    async fn take_effect(&mut self, mut assignments: Vec<Assignment>) -> Result<()> {
        if assignments.iter().all(|assignment| matches!(assignment, Assignment::User(..))) {
            // No setting depends on user variables.
            assignments.into_iter().try_for_each(|assignment| self.assign(assignment))?;
            self.track_change();
            return Ok(());
        }
        let begins_autocommit = |assignment: &Assignment| matches!(assignment, Assignment::Session(id, setting) if *id == IDS.autocommit && setting.as_bool());
        if !self.session.settings.autocommit && self.execution.transaction.is_open() && assignments.iter().any(begins_autocommit)
        {
            self.refuse_in_branch()?;
            self.commit_transaction().await?;
        }
        Box::pin(self.open_logs(&global_settings(&assignments))).await?;
        self.persist(&assignments).await?;
        self.take_gtid_purged(&mut assignments).await?;
        let names_next =
            assignments.iter().any(|assignment| matches!(assignment, Assignment::Session(id, _) if *id == IDS.gtid_next));
        let is_protection = |assignment: &Assignment| match assignment {
            Assignment::Global(id, setting) | Assignment::Persist { id, setting, at_once: true } => {
                setting.as_bool() && ["read_only", "super_read_only"].contains(&id.definition().name)
            }
            _ => false,
        };
        let protects = assignments.iter().any(is_protection);
        for assignment in assignments {
            self.assign(assignment)?;
        }
        if protects {
            self.wait_for_commits().await;
        }
        if names_next {
            self.name_next();
        }
        self.refresh();
        self.track_change();
        Ok(())
    }

    /// SET GLOBAL gtid_purged, which changes the binary log.
    async fn take_gtid_purged(&mut self, assignments: &mut Vec<Assignment>) -> Result<()> {
        let is_it = |assignment: &Assignment| matches!(assignment, Assignment::Global(id, _) if *id == IDS.gtid_purged);
        while let Some(at) = assignments.iter().position(is_it) {
            if let Assignment::Global(_, setting) = assignments.remove(at) {
                Box::pin(self.set_gtid_purged(setting.as_text())).await?;
            }
        }
        Ok(())
    }

    /// A value of `gtid_next`.
    fn check_gtid_next(&self, text: &str) -> Result<()> {
        if ["AUTOMATIC", "ANONYMOUS"].iter().any(|word| word.eq_ignore_ascii_case(text)) {
            return Ok(());
        }
        let Some(gtid) = binlog::gtid::Gtid::parse(text) else {
            let (name, value) = ("gtid_next".to_owned(), text.to_owned());
            return Err(variables::Error::WrongValue { name, value }.into());
        };
        let log = self.binary_log()?;
        if self.execution.transaction.is_open() {
            return Err(Condition::CantChangeTxCharacteristics.into());
        }
        if log.wait_rendered(std::time::Duration::from_millis(50)).executed.contains(&gtid) {
            let message = format!("the transaction {gtid} is in gtid_executed already, and cannot be made again");
            return Err(Condition::UnknownError { message: message.into() }.into());
        }
        Ok(())
    }

    async fn check_item(&mut self, item: &SetItem<'_>, params: &[Value<'_>], assignments: &mut Vec<Assignment>) -> Result<()> {
        match item {
            SetItem::User { name, value } => {
                let (value, ty) = self.set_value(value, params).await?;
                assignments.push(Assignment::User(name.to_lowercase(), UserVariable::new(value, ty)));
            }
            SetItem::System { scope, name, value } => {
                let to = self.settable(*scope, name)?;
                let value = match value {
                    SetValue::Default => None,
                    SetValue::Expr(expr) => Some(self.set_value(expr, params).await?.0),
                };
                assignments.push(self.assignment(*scope, to, value)?);
            }
            SetItem::Names { charset, collation } => assignments.push(names(*charset, *collation)?),
            SetItem::CharacterSet(name) => assignments.push(Assignment::CharacterSet(find_charset(*name)?)),
            SetItem::Transaction { scope, isolation, read_only } => {
                self.check_transaction(*scope, *isolation, *read_only, assignments)?;
            }
            SetItem::Unsupported(what) => return Err(Error::NotSupported((*what).to_owned())),
        }
        Ok(())
    }

    async fn set_value(&mut self, expr: &Expr<'_>, params: &[Value<'_>]) -> Result<(Value<'static>, ColumnType)> {
        crate::routine::argument(self, expr, params, Strictness::Arguments).await
    }

    /// The variable, if it can be set in this scope.
    pub fn settable(&self, scope: VariableScope, name: &str) -> Result<Settable> {
        let id = variables::find(name).ok_or_else(|| variables::Error::Unknown { name: name.to_owned() })?;
        let definition = id.definition();
        let owned_name = definition.name.to_owned();
        let global = match (scope, definition.scope) {
            (VariableScope::PersistOnly, _) if definition.read_only() => {
                return Err(Error::from(Condition::IncorrectGlobalLocalVar {
                    name: owned_name.into(),
                    kind: "non persistent read only".into(),
                }));
            }
            _ if definition.read_only() => return Err(variables::Error::ReadOnly { name: owned_name }.into()),
            (VariableScope::Global | VariableScope::Persist | VariableScope::PersistOnly, Scope::Session) => {
                return Err(variables::Error::SetSessionNeeded { name: owned_name }.into());
            }
            (VariableScope::Global | VariableScope::Persist | VariableScope::PersistOnly, _) => true,
            (VariableScope::Any | VariableScope::Session, Scope::Global) => {
                return Err(variables::Error::SetGlobalNeeded { name: owned_name }.into());
            }
            (VariableScope::Any | VariableScope::Session, _) => false,
        };
        if id == IDS.autocommit && !global && self.is_inside() {
            return Err(sql::Error::from(sql::routine::RoutineError::AutocommitInside).into());
        }
        if !global && GLOBAL_IN_EFFECT.contains(&definition.name) {
            return Err(Error::from(Condition::VariableIsReadonly { name: owned_name.into() }));
        }
        if id == IDS.event_scheduler && matches!(self.worker.shared.globals().get(id), Setting::Text(_)) {
            return Err(Error::from(Condition::OptionPreventsStatement {
                option: "--event-scheduler=DISABLED or --skip-grant-tables".into(),
            }));
        }
        Ok(Settable { id, global })
    }

    pub(super) fn assignment(&mut self, scope: VariableScope, to: Settable, value: Option<Value<'static>>) -> Result<Assignment> {
        let Settable { id, global } = to;
        let definition = id.definition();
        let setting = match value {
            None if let Some(log) = Log::ALL.into_iter().find(|log| log.variables()[1] == definition.name) => {
                let shared = &self.worker.shared;
                text_log::default_file(log, &shared.config.data_dir, shared.globals().get(IDS.hostname).as_text())
            }
            None => match (global, definition.scope) {
                (true, _) => id.start(),
                (false, Scope::Session) => id.start(),
                (false, _) => self.worker.shared.globals().get(id).clone(),
            },
            Some(value) => {
                let (mut setting, was_moved) = id.check(&value).map_err(|error| explained(error, &value))?;
                if id == IDS.gtid_next {
                    self.check_gtid_next(setting.as_text())?;
                }
                if id.name() == "mandatory_roles" {
                    self.check_mandatory_roles(setting.as_text())?;
                }
                if id == IDS.optimizer_switch {
                    let present = if global {
                        self.worker.shared.globals().get(id).clone()
                    } else {
                        self.session.variables.get(id).clone()
                    };
                    let start = id.start();
                    let merged = variables::optimizer_switch::merged(present.as_text(), start.as_text(), setting.as_text());
                    setting = Setting::Text(merged.map_err(|value| wrong_switch(definition.name, value))?.into());
                }
                if definition.name == "log_output" {
                    setting = Setting::Text(log_output(&setting)?.into());
                }
                let mut was_moved = was_moved;
                if id == IDS.innodb_buffer_pool_size {
                    let wanted = setting.as_u64();
                    let near = self.worker.shared.engine.pool_bytes_near(variables::whole_pool_bytes(wanted));
                    was_moved |= near != wanted;
                    setting = Setting::UInt(near);
                }
                if was_moved {
                    self.warn(
                        Level::Warning,
                        Condition::TruncatedWrongValue { kind: definition.name.into(), value: number_text(&value).into() },
                    );
                }
                setting
            }
        };
        refuse_encryption(definition.name, &setting)?;
        if global {
            id.allow(self.worker.shared.globals().get(id), &setting)?
        } else {
            id.allow(self.session.variables.get(id), &setting)?
        }
        let takes_effect = global && scope != VariableScope::PersistOnly;
        if takes_effect
            && ["read_only", "super_read_only"].contains(&definition.name)
            && (self.execution.transaction.is_explicit()
                || self.execution.transaction.is_open()
                || self.execution.transaction.locks().named.is_some())
        {
            return Err(Error::from(Condition::LockOrActiveTransaction));
        }
        Ok(match scope {
            VariableScope::Persist => Assignment::Persist { id, setting, at_once: true },
            VariableScope::PersistOnly => Assignment::Persist { id, setting, at_once: false },
            _ if global => Assignment::Global(id, setting),
            _ => Assignment::Session(id, setting),
        })
    }

    /// `offline_mode`: ends the sessions of accounts without CONNECTION_ADMIN.
    fn end_others(&self) {
        let is_system = self.session.access.has_dynamic(SYSTEM_USER);
        let own = self.info.id;
        for worker in &self.worker.shared.workers {
            let end = move |worker: &Rc<Worker>| {
                for session in worker.sessions.borrow().values().filter(|session| session.id != own) {
                    let goes =
                        |access: &Access| !access.administers_connections() && (is_system || !access.has_dynamic(SYSTEM_USER));
                    if session.may(goes) {
                        session.kill(expr::kill::CONNECTION);
                    }
                }
            };
            worker.send(Message::Call(Box::new(end)));
        }
    }

    /// 1231, 3880
    fn check_mandatory_roles(&self, text: &str) -> Result<()> {
        let roles = parse_roles(text);
        if roles.iter().any(|role| role.user.is_empty()) {
            let (name, value) = ("mandatory_roles".to_owned(), text.to_owned());
            return Err(variables::Error::WrongValue { name, value }.into());
        }
        self.worker.shared.accounts.snapshot().check_mandatory(&roles).map_err(Error::from)
    }

    fn check_transaction(
        &mut self,
        scope: VariableScope,
        isolation: Option<Isolation>,
        read_only: Option<bool>,
        assignments: &mut Vec<Assignment>,
    ) -> Result<()> {
        let level = isolation.map(|isolation| match isolation {
            Isolation::ReadUncommitted => 0,
            Isolation::ReadCommitted => 1,
            Isolation::RepeatableRead => 2,
            Isolation::Serializable => 3,
        });
        if scope == VariableScope::Any {
            if self.execution.transaction.is_open() {
                return Err(Condition::CantChangeTxCharacteristics.into());
            }
            let isolation = level.map(|level: u64| ISOLATION_LEVELS[level as usize]);
            assignments.push(Assignment::NextTransaction(Characteristics { isolation, read_only }));
            return Ok(());
        }
        let make = |id, setting| match scope {
            VariableScope::Global => Assignment::Global(id, setting),
            _ => Assignment::Session(id, setting),
        };
        assignments.extend(level.map(|level| make(IDS.transaction_isolation, Setting::UInt(level))));
        assignments.extend(read_only.map(|on| make(IDS.transaction_read_only, Setting::Int(i64::from(on)))));
        Ok(())
    }

    pub(super) fn assign(&mut self, assignment: Assignment) -> Result<()> {
        match assignment {
            Assignment::User(name, variable) => {
                self.execution.vars.set_user_variable(&name, variable)?;
            }
            Assignment::NextTransaction(characteristics) => self.execution.transaction.set_next(characteristics)?,
            Assignment::Persist { at_once: false, .. } => {}
            Assignment::Global(id, setting) | Assignment::Persist { id, setting, .. } => {
                if id == IDS.innodb_buffer_pool_size && !self.resize_pool(&setting) {
                    return Ok(());
                }
                self.worker.shared.change_globals(|globals| globals.set_whole(id, setting));
                if id == IDS.event_scheduler {
                    self.worker.shared.events.wake();
                }
                if RENEWS_ACCESS.contains(&id.name()) {
                    self.worker.shared.accounts.renew();
                }
                if id.name() == "offline_mode" && self.worker.shared.globals().get(id).as_bool() {
                    self.end_others();
                }
            }
            Assignment::Names { set, collation } => {
                for id in [IDS.character_set_client, IDS.character_set_results, IDS.character_set_connection] {
                    self.set_session(id, Setting::Text(set.name.into()));
                }
                self.session.variables.set(IDS.collation_connection, Setting::Text(collation.name.into()));
            }
            Assignment::CharacterSet(set) => {
                for id in [IDS.character_set_client, IDS.character_set_results] {
                    self.set_session(id, Setting::Text(set.name.into()));
                }
                let database = self.session.variables.get(IDS.character_set_database).clone();
                let collation = self.session.variables.get(IDS.collation_database).clone();
                self.set_session(IDS.character_set_connection, database);
                self.session.variables.set(IDS.collation_connection, collation);
            }
            Assignment::Session(id, setting) => {
                if !self.set_special(id, &setting) {
                    if let Some((companion, setting)) = companion(id, &setting) {
                        self.session.variables.set(companion, setting);
                    }
                    self.set_session(id, setting);
                }
            }
        }
        Ok(())
    }

    /// `false`: the pool's size is being changed already, and this change is ignored.
    fn resize_pool(&mut self, setting: &Setting) -> bool {
        let resized = self.worker.shared.engine.resize_pool(setting.as_u64());
        if resized.is_err() {
            self.warn(Level::Warning, Condition::BufpoolResizeInprogress);
        }
        resized.is_ok()
    }

    /// Writes persisted variables to the file.
    async fn persist(&mut self, assignments: &[Assignment]) -> Result<()> {
        let Identity { user, host, .. } = &self.session.identity;
        let metadata = Metadata { timestamp: self.worker.wall_clock_us(), user: user.clone(), host: host.clone() };
        let entry = |assignment: &Assignment| match assignment {
            Assignment::Persist { id, setting, .. } => {
                Some((id.name().to_owned(), Entry { value: id.show(setting), metadata: metadata.clone() }))
            }
            _ => None,
        };
        let entries: Vec<(String, Entry)> = assignments.iter().filter_map(entry).collect();
        if entries.is_empty() {
            return Ok(());
        }
        self.change_persisted(move |all| all.extend(entries)).await
    }

    async fn change_persisted(&mut self, change: impl FnOnce(&mut Entries) + Send + 'static) -> Result<()> {
        let persisted = Arc::clone(&self.worker.shared.persisted);
        let path = persisted.path().display().to_string();
        match self.worker.shared.ddl.run(move |_, _| persisted.change(change)).await {
            Some(Ok(())) => Ok(()),
            Some(Err(error)) => {
                let errno = error.raw_os_error().unwrap_or(0);
                Err(Error::from(Condition::ErrorOnWrite { path: path.into(), why: format!("errno: {errno} - {error}").into() }))
            }
            None => Err(Error::ShuttingDown),
        }
    }

    /// RESET PERSIST
    pub async fn reset_persist(&mut self, name: Option<&str>, if_exists: bool) -> Result<()> {
        let check = |access: &Access| access.needs_admin("SYSTEM_VARIABLES_ADMIN", "SUPER or SYSTEM_VARIABLES_ADMIN");
        let Some(name) = name else {
            if !self.worker.shared.persisted.entries().is_empty() {
                check(&self.session.access)?;
                self.change_persisted(Entries::clear).await?;
            }
            return Ok(());
        };
        let name = name.to_ascii_lowercase();
        if !self.worker.shared.persisted.entries().contains_key(&name) {
            if !if_exists {
                return Err(Error::from(Condition::VarDoesNotExist { name: name.into() }));
            }
            self.warn(Level::Warning, Condition::VarDoesNotExist { name: name.into() });
            return Ok(());
        }
        check(&self.session.access)?;
        self.change_persisted(move |all| drop(all.remove(&name))).await
    }

    fn set_session(&mut self, id: VariableId, setting: Setting) {
        let tracked = &self.session.settings.tracked_variables;
        if tracked.iter().any(|name| name == "*" || name == id.name()) {
            self.connection.changes.push(Change::Variable { name: id.name(), value: id.show(&setting) });
        }
        self.session.variables.set(id, setting);
    }

    /// Sets variables whose value is not stored as a variable.
    fn set_special(&mut self, id: VariableId, setting: &Setting) -> bool {
        let ids = &*IDS;
        let number = setting.as_u64();
        match id {
            id if id == ids.last_insert_id || id == ids.identity => self.execution.vars.last_insert_id.set(number),
            id if id == ids.insert_id => self.execution.vars.insert_id = Some(number),
            id if id == ids.rand_seed1 => self.execution.vars.rand.set([number as u32, self.execution.vars.rand.get()[1]]),
            id if id == ids.rand_seed2 => self.execution.vars.rand.set([self.execution.vars.rand.get()[0], number as u32]),
            id if id == ids.timestamp => {
                let micros = match setting {
                    Setting::Double(seconds) if *seconds > 0.0 => Some((*seconds * 1e6) as i64),
                    _ => None,
                };
                self.session.fixed_time_us = micros;
            }
            id if id == ids.pseudo_thread_id => {}
            _ => return false,
        }
        true
    }
}

/// The global values that take effect at once.
fn global_settings(assignments: &[Assignment]) -> Vec<(VariableId, &Setting)> {
    let setting = |assignment| match assignment {
        &Assignment::Global(id, ref setting) | &Assignment::Persist { id, ref setting, at_once: true } => Some((id, setting)),
        _ => None,
    };
    assignments.iter().filter_map(setting).collect()
}

/// Variables that affect the privileges of accounts.
const RENEWS_ACCESS: [&str; 2] = ["activate_all_roles_on_login", "mandatory_roles"];

/// Session variables that are copied from the global ones and cannot be set in a session.
const GLOBAL_IN_EFFECT: [&str; 2] = ["max_allowed_packet", "net_buffer_length"];

/// Refuses encryption: there is no keyring.
fn refuse_encryption(name: &str, setting: &Setting) -> Result<()> {
    match name {
        "default_table_encryption" | "innodb_redo_log_encrypt" | "innodb_undo_log_encrypt" if setting.as_bool() => {
            Err(sql::define::no_master_key().into())
        }
        "binlog_encryption" if setting.as_bool() => Err(Error::from(Condition::RplEncryptionMasterKeyRecoveryFailed)),
        _ => Ok(()),
    }
}

/// A wrong engine name has its own error.
fn explained(error: variables::Error, value: &Value<'_>) -> Error {
    match error {
        variables::Error::WrongValue { name, value: engine }
            if name.ends_with("_storage_engine") && matches!(value, Value::Bytes(_)) =>
        {
            Error::from(Condition::UnknownStorageEngine { name: engine.into() })
        }
        variables::Error::WrongValue { name, value: locale } if name == "lc_time_names" && !value.is_null() => {
            Error::from(Condition::UnknownLocale { name: locale.into() })
        }
        error => error.into(),
    }
}

fn find_charset(name: Option<&[u8]>) -> Result<&'static Charset> {
    let name = String::from_utf8_lossy(name.unwrap_or(b"utf8mb4")).into_owned();
    charsets::charset(&name).ok_or_else(|| variables::Error::UnknownCharset { name }.into())
}

fn names(set: Option<&[u8]>, collation: Option<&[u8]>) -> Result<Assignment> {
    let set = find_charset(set)?;
    if !charsets::is_for_clients(set) {
        let name = "character_set_client".to_owned();
        return Err(variables::Error::WrongValue { name, value: set.name.to_owned() }.into());
    }
    let collation = match collation {
        None => charsets::default_collation(set),
        Some(name) => {
            let name = String::from_utf8_lossy(name).into_owned();
            let found = charsets::collation(&name).ok_or(variables::Error::UnknownCollation { name })?;
            if found.charset != set.name {
                return Err(
                    sql::Error::CollationMismatch { collation: found.name.to_owned(), charset: set.name.to_owned() }.into()
                );
            }
            found
        }
    };
    Ok(Assignment::Names { set, collation })
}

fn number_text(value: &Value<'_>) -> String {
    match value {
        Value::Int(value) => value.to_string(),
        Value::UInt(value) => value.to_string(),
        Value::Double(value) => value.to_string(),
        Value::Decimal(value) => value.to_string(),
        other => format!("{other:?}"),
    }
}

fn wrong_switch(name: &str, value: String) -> variables::Error {
    variables::Error::WrongValue { name: name.to_owned(), value }
}

/// The destinations of `log_output`, in MySQL's order.
fn log_output(setting: &Setting) -> Result<String> {
    let wrong = |value: &str| variables::Error::WrongValue { name: "log_output".to_owned(), value: value.to_owned() };
    let mut places = [("NONE", false), ("FILE", false), ("TABLE", false)];
    for word in setting.as_text().split(',') {
        let place = places.iter_mut().find(|(name, _)| name.eq_ignore_ascii_case(word)).ok_or_else(|| wrong(word))?;
        place.1 = true;
    }
    Ok(places.iter().filter(|(_, is_named)| *is_named).map(|(name, _)| *name).collect::<Vec<_>>().join(","))
}
