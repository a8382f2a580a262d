//! The state of a session between commands: variables, transaction, diagnostics. Also writes answers without rows.

use super::Client;
use super::info::{OpenTransaction, SessionInfo};
use super::login::LoggedIn;
use super::settings::{self, IDS, Settings};
use super::transaction::Transaction;
use crate::counters::count;
use crate::digests::{Execution, Statistics};
use crate::error::{Error, Result};
use crate::instruments::Watched;
use crate::show::Quotes;
use crate::text_log::Logged;
use crate::variables::{SessionVariables, Setting};
use crate::worker::Worker;
use accounts::{Access, Identity, Name, SYSTEM_USER, Seat};
use conditions::Condition;
use expr::{Level, SessionVars};
use protocol::{Capabilities, OkPacket, StateChange, Status};
use reactor::connection::{Peer, TlsInfo};
use sql::charsets;
use std::rc::Rc;
use types::SqlMode;

/// The session behind a connection.
pub struct State {
    pub worker: Rc<Worker>,
    pub info: Rc<SessionInfo>,
    pub peer: Peer,
    /// The account, and the privileges of the account and its active roles.
    pub identity: Identity,
    pub access: Rc<Access>,
    /// Counts the account's connection, if the account has a limit.
    pub seat: Option<Seat>,
    pub tls: Option<TlsInfo>,
    pub capabilities: Capabilities,
    pub variables: SessionVariables,
    pub settings: Settings,
    pub vars: SessionVars,
    pub transaction: Transaction,
    /// Changes of state that the next OK packet reports.
    pub changes: Vec<Change>,
    /// Another result follows the current one.
    pub more_results: bool,
    /// RESIGNAL kept the conditions below the one that it raised.
    pub is_stacked: bool,
    /// The number of conditions before a statement that reads them.
    pub warned_before: u16,
    /// The rest of a text, beginning with a statement that needs the client's input.
    pub deferred: Option<Box<[u8]>>,
    pub multi_statements: bool,
    /// COMMIT RELEASE: the connection ends after this answer.
    pub closing: bool,
    /// Reused for the literals of each text statement.
    pub values: Vec<types::Value<'static>>,
    /// SET timestamp: the time of NOW() instead of the clock's.
    pub fixed_time_us: Option<i64>,
    /// Statements of PREPARE in SQL.
    pub named: super::named::NamedStatements,
    /// Declared after `transaction`, so that it is dropped later.
    pub temporary: Option<Box<super::temporary::TemporaryTables>>,
    /// The running stored program.
    pub frame: Option<Box<crate::routine::Frame>>,
    /// The enclosing statements, if the program is a function or a trigger.
    pub inside: Vec<Rc<crate::plan_cache::PlanEntry>>,
    /// The client's running statement, and the statistics of its digest once they are known.
    pub execution: Execution,
    pub statistics: Option<Rc<Statistics>>,
    /// What the instruments record of the running statement.
    pub watched: Watched,
    /// Further data for the logs.
    pub logged: Logged,
    /// long_query_time
    pub slow_ticks: u64,
}

/// The identity under which a session acts.
pub struct Acting {
    identity: Identity,
    access: Rc<Access>,
    current_user: String,
    current_role: String,
}

/// A change of session state, for a client that tracks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Variable { name: &'static str, value: String },
    Schema(String),
    Any,
}

/// The parts of an OK packet beside the session's state.
#[derive(Clone, Debug, Default)]
pub struct Answer<'a> {
    pub affected: u64,
    pub last_insert_id: u64,
    pub info: &'a str,
}

/// STATEMENT_DIGEST_TEXT
fn digest_text(statement: &[u8], mode: &SqlMode) -> expr::Result<String> {
    let arena = sql::Arena::new();
    let why = match sql::parse(&arena, statement, mode) {
        Ok(parsed) if matches!(parsed.statement, sql::ast::Statement::Empty) => Condition::EmptyQuery,
        Ok(_) => return Ok(sql::digest_text(statement, mode)),
        Err(error) => crate::error::sql_error(&error),
    };
    Err(Condition::ParseErrorInDigestFn { why: why.into() }.into())
}

impl State {
    pub fn new(worker: &Rc<Worker>, info: &Rc<SessionInfo>, peer: Peer, login: &LoggedIn) -> Self {
        let variables = SessionVariables::new(worker.shared.globals());
        let identity = login.identity.clone();
        let user = format!("{}@{}", identity.user, peer.host);
        let mut vars = SessionVars::new(info.id, user, identity.name.plain());
        let access = worker.access(&identity);
        *info.account.borrow_mut() = identity.name.plain();
        *info.access.borrow_mut() = Some(Rc::clone(&access));
        worker.shared.kills.name(info.id, &identity.name.plain(), access.has_dynamic(SYSTEM_USER));
        vars.killed = info.kill_flag();
        vars.digest_text = digest_text;
        let limits = vars.limits();
        worker.core.set_limit(Rc::new(move |now| limits.check(now)));
        vars.work = Rc::clone(&info.counters.work);
        vars.client_found_rows = login.capabilities.has(Capabilities::FOUND_ROWS);
        vars.version = crate::VERSION;
        let settings = Settings::new(&variables, None);
        settings::apply(&variables, &settings, &mut vars);
        let mut state = Self {
            worker: Rc::clone(worker),
            info: Rc::clone(info),
            peer,
            identity,
            access,
            seat: None,
            tls: None,
            capabilities: login.capabilities,
            variables,
            settings,
            vars,
            transaction: Transaction::of_session(info),
            changes: Vec::new(),
            more_results: false,
            is_stacked: false,
            warned_before: 0,
            deferred: None,
            multi_statements: login.capabilities.has(Capabilities::MULTI_STATEMENTS),
            closing: false,
            values: Vec::new(),
            fixed_time_us: None,
            named: Default::default(),
            temporary: None,
            frame: None,
            inside: Vec::new(),
            execution: Execution::default(),
            statistics: None,
            watched: Watched::default(),
            logged: Default::default(),
            slow_ticks: u64::MAX,
        };
        state.name_roles();
        state.refresh();
        state
    }

    /// Recomputes the session's privileges after accounts have changed.
    #[cold]
    fn renew_access(&mut self) {
        self.access = self.worker.access(&self.identity);
        // Other sessions see the session's own account, even while it acts as another one.
        if *self.info.account.borrow() == self.identity.name.plain() {
            *self.info.access.borrow_mut() = Some(Rc::clone(&self.access));
            let is_system = self.access.has_dynamic(SYSTEM_USER);
            self.worker.shared.kills.name(self.info.id, &self.identity.name.plain(), is_system);
        }
        self.name_roles();
    }

    /// Does `offline_mode` exclude this account?
    pub fn is_kept_out(&self) -> bool {
        let is_offline = || self.worker.shared.globals().get(crate::variables::known("offline_mode")).as_bool();
        !self.access.administers_connections() && is_offline()
    }

    /// Sets the active roles.
    pub fn set_roles(&mut self, roles: Vec<Name>) {
        self.identity.roles = roles;
        self.renew_access();
    }

    /// Acts as another account until [`Self::act_again_as`], and returns the previous identity. `None`: it is the same
    /// account.
    ///
    /// # Errors
    /// 1449: the account does not exist.
    pub fn act_as(&mut self, definer: &Name) -> Result<Option<Acting>> {
        if self.access.name == *definer {
            return Ok(None);
        }
        let Some(access) = self.worker.definer(definer) else {
            return Err(Error::from(Condition::NoSuchUser { user: (&definer.user).into(), host: (&definer.host).into() }));
        };
        let identity = std::mem::replace(&mut self.identity, Identity::definer(definer, access.roles.clone()));
        let current_user = std::mem::replace(&mut self.vars.current_user, definer.plain());
        let current_role = std::mem::take(&mut self.vars.current_role);
        let access = std::mem::replace(&mut self.access, access);
        self.name_roles();
        Ok(Some(Acting { identity, access, current_user, current_role }))
    }

    /// Ends what [`Self::act_as`] began.
    pub fn act_again_as(&mut self, before: Acting) {
        let Acting { identity, access, current_user, current_role } = before;
        (self.identity, self.access) = (identity, access);
        (self.vars.current_user, self.vars.current_role) = (current_user, current_role);
    }

    /// The account has a new password.
    pub fn password_changed(&mut self) {
        self.identity.expired = false;
        self.renew_access();
    }

    /// CURRENT_ROLE()
    fn name_roles(&mut self) {
        let mut roles: Vec<String> = self.access.roles.iter().map(Name::ticked).collect();
        roles.sort();
        self.vars.current_role = if roles.is_empty() { "NONE".to_owned() } else { roles.join(",") };
    }

    /// The published schema as far as the account may see it, without temporary tables.
    pub fn visible_schema(&self) -> std::sync::Arc<types::schema::Schema> {
        self.access.visible(&self.worker.schema())
    }

    /// Sets the character set and the database after a login.
    pub fn welcome(&mut self, login: &LoggedIn) -> Result<()> {
        self.use_client_collation(login.collation);
        if self.capabilities.has(Capabilities::INTERACTIVE) {
            let timeout = self.variables.get(IDS.interactive_timeout).clone();
            self.variables.set(IDS.wait_timeout, timeout);
        }
        self.refresh();
        if let Some(database) = &login.database {
            self.use_database(database)?;
        }
        self.changes.clear();
        Ok(())
    }

    /// The collation of the client's first packet sets the three character set variables. An unknown one means the
    /// server's default.
    fn use_client_collation(&mut self, id: u16) {
        let known = charsets::collation_by_id(id);
        let speakable = |set: &str| charsets::charset(set).is_some_and(charsets::is_for_clients);
        let Some(collation) = known.filter(|collation| speakable(collation.charset)) else { return };
        // The packet has room for the low byte only: a client that means utf8mb4 sends one of its collations.
        for id in [IDS.character_set_client, IDS.character_set_connection, IDS.character_set_results] {
            self.variables.set(id, Setting::Text(collation.charset.into()));
        }
        self.variables.set(IDS.collation_connection, Setting::Text(collation.name.into()));
    }

    /// Recomputes everything that depends on variables.
    pub fn refresh(&mut self) {
        self.settings = Settings::new(&self.variables, self.vars.database.as_deref());
        self.settings.bind_key ^= self.temporary_key();
        self.info.isolation.set(self.settings.isolation);
        settings::apply(&self.variables, &self.settings, &mut self.vars);
        let slow_ns = self.variables.get(IDS.long_query_time).as_f64() * 1e9;
        self.slow_ticks = (slow_ns / self.worker.shared.tick_clock.nanos_per_tick()) as u64;
        if let Some(zone) = crate::variables::parse_time_zone(self.variables.get(IDS.time_zone).as_text()) {
            self.vars.time_zone = zone;
        }
    }

    /// COM_RESET_CONNECTION and COM_CHANGE_USER: resets the session. The caller has rolled back.
    pub fn reset(&mut self, login: &LoggedIn) {
        let (worker, info, peer) = (Rc::clone(&self.worker), Rc::clone(&self.info), self.peer.clone());
        worker.shared.user_locks.release_all(info.id);
        worker.counters.take(&info.counters);
        info.prepared.set(0);
        let (seat, tls) = (self.seat.take(), self.tls.take());
        *self = State::new(&worker, &info, peer, login);
        (self.seat, self.tls) = (seat, tls);
    }

    /// USE
    pub fn use_database(&mut self, name: &str) -> Result<()> {
        self.check_use(name)?;
        let schema = self.schema();
        let name = crate::show::virtual_database(name).unwrap_or(name);
        let Some(database) = schema.databases.get(name) else {
            return Err(Error::UnknownDatabase(name.to_owned()));
        };
        self.vars.database = Some(name.to_owned());
        *self.info.database.borrow_mut() = Some(name.to_owned());
        if let Some(collation) = charsets::collation_by_id(database.collation.0) {
            self.variables.set(IDS.character_set_database, Setting::Text(collation.charset.into()));
            self.variables.set(IDS.collation_database, Setting::Text(collation.name.into()));
        }
        self.refresh();
        if self.settings.track_schema {
            self.changes.push(Change::Schema(name.to_owned()));
        }
        Ok(())
    }

    /// Unsets the current database after it was dropped.
    pub fn forget_database(&mut self, dropped: &str) {
        if self.vars.database.as_deref() == Some(dropped) {
            self.vars.database = None;
            *self.info.database.borrow_mut() = None;
            self.refresh();
        }
    }

    /// The status bits of an OK or EOF packet.
    pub fn status(&self) -> Status {
        let mut status = Status::default();
        status.set(Status::AUTOCOMMIT, self.settings.autocommit);
        status.set(Status::IN_TRANSACTION, self.transaction.is_open());
        status.set(Status::IN_TRANSACTION_READ_ONLY, self.transaction.is_open() && self.transaction.is_read_only());
        status.set(Status::NO_BACKSLASH_ESCAPES, self.settings.mode.no_backslash_escapes);
        status.set(Status::MORE_RESULTS, self.more_results);
        status
    }

    pub fn warning_count(&self) -> u16 {
        u16::try_from(self.vars.warnings.borrow().count()).unwrap_or(u16::MAX)
    }

    /// Clears the diagnostics of the previous statement.
    pub fn clear_warnings(&mut self) {
        self.vars.warnings.get_mut().clear();
        self.warned_before = 0;
    }

    /// The number of conditions that the statement itself raised, for its answer.
    pub fn own_warning_count(&self) -> u16 {
        self.warning_count().saturating_sub(self.warned_before)
    }

    /// How the session's `sql_mode` wants statements of SHOW CREATE.
    pub fn quotes(&self) -> Quotes {
        /// `sql_mode` has ANSI itself, not only what it stands for.
        const ANSI_BIT: u32 = 18;
        let bits = self.variables.get(IDS.sql_mode).as_u64();
        Quotes { double: self.settings.mode.ansi_quotes, ansi: bits & (1 << ANSI_BIT) != 0 }
    }

    pub fn warn(&self, level: Level, condition: Condition) {
        self.note(level, condition.into());
    }

    /// Adds a condition to the diagnostics.
    pub fn note(&self, level: Level, condition: expr::Error) {
        if level == Level::Note && !self.settings.sql_notes {
            return;
        }
        self.vars.warnings.borrow_mut().push(level, condition);
    }

    /// Publishes the open transaction to other sessions.
    pub fn note_transaction(&mut self) {
        let open = self.transaction.is_open().then(|| {
            let since = self.info.transaction.get().map_or_else(|| self.worker.core.now(), |open| open.since);
            let txn = self.transaction.txn();
            let (changes, snapshot) = txn.map_or((0, None), |txn| (txn.changes(), txn.snapshot_time()));
            let isolation = self.transaction.characteristics().isolation.unwrap_or(self.settings.isolation);
            OpenTransaction { since, changes, snapshot, isolation, read_only: self.transaction.is_read_only() }
        });
        self.info.transaction.set(open);
    }

    /// Writes the answer of a statement without rows.
    pub fn write_ok(&mut self, client: &mut Client, answer: &Answer<'_>) {
        let status = self.status();
        let warnings = self.own_warning_count();
        self.note_transaction();
        // The statements of a stored program do not answer the client.
        if self.frame.is_some() {
            return;
        }
        let mut packet = OkPacket {
            affected_rows: answer.affected,
            last_insert_id: answer.last_insert_id,
            status,
            warnings,
            info: answer.info,
            changes: &[],
        };
        if self.changes.is_empty() {
            return packet.write(&mut client.output.writer, self.capabilities);
        }
        let owned = std::mem::take(&mut self.changes);
        let changes: Vec<_> = owned
            .iter()
            .map(|change| match change {
                Change::Variable { name, value } => StateChange::SystemVariable { name, value },
                Change::Schema(name) => StateChange::Schema(name),
                Change::Any => StateChange::Any,
            })
            .collect();
        packet.changes = &changes;
        packet.write(&mut client.output.writer, self.capabilities);
    }

    /// Begins a statement: sets its time, and resets the state of the previous one.
    pub fn begin_statement(&mut self) {
        self.execution = Execution { began: os::ticks(), ..Execution::default() };
        self.watched = self.worker.shared.instruments.watched();
        if self.watched.logs() {
            self.begin_logged();
        }
        self.vars.rows_examined.set(0);
        self.begin_inner_statement();
        if self.info.killed() != expr::kill::NONE {
            self.vars.clear_kill_query();
        }
    }

    /// Begins a statement of a stored program: it has its own time, but KILL QUERY ends the whole program.
    pub fn begin_inner_statement(&mut self) {
        // A program inside a statement is part of it and shares its time.
        if !self.is_inside() {
            self.vars.deadline.set(None);
            self.vars.statement_start_us = self.fixed_time_us.unwrap_or_else(|| self.worker.wall_clock_us());
        }
        if self.worker.shared.accounts.epoch() != self.access.epoch {
            self.renew_access();
        }
    }

    /// A store for the rows of a cursor.
    pub fn keep_rows(&self) -> exec::KeptRecords {
        self.worker.shared.temporary.keep(self.settings.cursor_bytes_max)
    }

    /// The statistics of the first statement of `text`.
    #[cold]
    pub fn statistics_of(&self, text: &[u8]) -> Rc<Statistics> {
        self.statistics_of_parsed(text, sql::Repeated::default())
    }

    /// Like `statistics_of`, if the parser knows the repeated rows.
    #[cold]
    pub fn statistics_of_parsed(&self, text: &[u8], repeated: sql::Repeated) -> Rc<Statistics> {
        self.worker.digests.find(self.vars.database.as_deref(), text, &self.settings.mode, repeated)
    }

    /// Ends the statement that `begin_statement` began. Returns whether it belongs in the slow log
    /// ([`State::log_slow`]).
    #[inline]
    #[must_use]
    pub fn record(&mut self, statistics: &Statistics, text: &[u8], failed: bool) -> bool {
        let now = os::ticks();
        let is_slow = now.saturating_sub(self.execution.began) >= self.slow_ticks;
        if is_slow {
            count(&self.info.counters.events.slow_queries);
        }
        let is_logged = (is_slow || self.watched.unindexed()) && self.is_for_slow_log(is_slow);
        if !self.watched.digests() {
            return is_logged;
        }
        self.execution.examined = self.vars.rows_examined.get();
        self.execution.warnings = self.vars.warnings.get_mut().count();
        self.execution.failed = failed;
        statistics.record(&self.execution, now, text, &self.worker.shared.tick_clock);
        is_logged
    }

    /// Makes the error of a statement its diagnostics.
    pub fn note_error(&mut self, error: &Error) {
        if !std::mem::take(&mut self.is_stacked) {
            self.clear_warnings();
        }
        self.note_inner_error(error);
    }

    /// Adds the error of a program's statement to the diagnostics.
    pub fn note_inner_error(&mut self, error: &Error) {
        self.note(Level::Error, error.to_warning());
        self.vars.row_count = -1;
    }
}
