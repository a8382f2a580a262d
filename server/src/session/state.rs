//! The state that statements run on: a connection, its session, and an execution.
//!
//! - [`Connection`]: the client's connection, and the form of its answers.
//! - [`Session`]: the state that outlives a statement: variables, identity, temporary tables.
//! - [`Execution`]: the state that a running statement reads and changes: the transaction, the variables of expressions,
//!   the frame of a stored program.
//!
//! E1: the client's statements share one execution. A function or trigger that a statement calls has an execution of
//!     its own (`programs`), with the statement's connection, session and transaction.
//!
//! Also writes answers without rows.

use super::Recipient;
use super::info::{OpenTransaction, SessionInfo};
use super::login::LoggedIn;
use super::named::NamedStatements;
use super::programs::Enclosing;
use super::settings::{self, IDS, ProgramSettings, Settings};
use super::temporary::TemporaryTables;
use super::transaction::Transaction;
use crate::causes::Causes;
use crate::counters::count;
use crate::digests::{Measured, Phase, Statistics};
use crate::error::{Error, Result};
use crate::instruments::Watched;
use crate::plan_cache::PlanEntry;
use crate::record::{After, Ended, Name};
use crate::routine::Frame;
use crate::show::Quotes;
use crate::text_log::Logged;
use crate::variables::{SessionVariables, Setting};
use crate::waits::LOCKS;
use crate::worker::Worker;
use accounts::{Access, Identity, SYSTEM_USER, Seat};
use conditions::Condition;
use expr::{Level, SessionVars};
use protocol::{Capabilities, OkPacket, StateChange, Status};
use reactor::connection::{Peer, TlsInfo};
use sql::charsets;
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use types::SqlMode;

/// A statement that changes rows and directly follows so many executions of itself is in a loop of the application.
const LOOP_MIN: u32 = 8;

/// Runs statements on a connection, a session and an execution. E1
pub struct State<'s> {
    pub worker: Rc<Worker>,
    pub info: Rc<SessionInfo>,
    pub connection: &'s mut Connection,
    pub session: &'s mut Session,
    pub execution: Execution<'s>,
}

/// The client's connection, without its socket.
pub struct Connection {
    pub peer: Peer,
    pub tls: Option<TlsInfo>,
    /// Counts the account's connection, if the account has a limit.
    pub seat: Option<Seat>,
    pub capabilities: Capabilities,
    pub multi_statements: bool,
    /// Changes of state that the next OK packet reports.
    pub changes: Vec<Change>,
    /// Another result follows the current one.
    pub more_results: bool,
    /// What needs the client's input, and is to be done when the command has let go of it.
    pub deferred: Option<Deferred>,
    /// COMMIT RELEASE: the connection ends after this answer.
    pub closing: bool,
}

/// The state that outlives a statement.
pub struct Session {
    /// The account, and the privileges of the account and its active roles.
    pub identity: Identity,
    pub access: Rc<Access>,
    pub variables: SessionVariables,
    pub settings: Settings,
    /// Counts the computations of `settings`.
    pub refreshed: u32,
    /// long_query_time
    pub slow_ticks: u64,
    /// SET timestamp: the time of NOW() instead of the clock's.
    pub fixed_time_us: Option<i64>,
    /// Statements of PREPARE in SQL.
    pub named: NamedStatements,
    /// Dropped after the transaction, which may use its tables.
    pub temporary: Option<Box<TemporaryTables>>,
    /// Reused for the literals of each text statement.
    pub values: Vec<types::Value<'static>>,
    /// RESIGNAL kept the conditions below the one that it raised.
    pub is_stacked: bool,
    /// The client's running statement, and the statistics of its digest once they are known.
    pub measured: Measured,
    pub statistics: Option<Rc<Statistics>>,
    /// The plan of the running statement, if the plan or the execution is to be kept.
    pub noted_plan: Option<Rc<PlanEntry>>,
    /// What the instruments record of the running statement.
    pub watched: Watched,
    /// The text of the running definition, for the binary log.
    pub definition: Box<str>,
    /// The session applies changes of another server: its number, and when the transaction committed there, in microseconds since 1970.
    pub origin: Option<(u32, u64)>,
    /// The last definition has written the session's `gtid_next` with its change.
    pub is_gtid_logged: Arc<AtomicBool>,
    /// Further data for the logs.
    pub logged: Logged,
    /// Warnings about deprecated forms in the running statement's text, until it raises them.
    pub deprecated: Box<[Condition]>,
    /// The session's counters of sorting when its last statement ended.
    pub sorted: [u64; 3],
    /// The values of its last results, while causes of statements are looked for and there are such values.
    pub causes: Option<Box<Causes>>,
    /// The address of the statistics of the last statement, and how often it ran in a row.
    pub run: (usize, u32),
}

/// The state of a running statement or program. E1
pub struct Execution<'s> {
    pub vars: SessionVars,
    /// The number of [`Session::refreshed`] when `vars` was set from the settings.
    pub applied: u32,
    pub transaction: Transaction<'s>,
    /// The number of conditions before a statement that reads them.
    pub warned_before: u16,
    /// The running stored program.
    pub frame: Option<Box<Frame>>,
    /// The statement that called the program, if that is a function or a trigger.
    pub enclosing: Option<&'s Enclosing<'s>>,
}

/// The identity under which a session acts.
pub struct Acting {
    identity: Identity,
    access: Rc<Access>,
    current_user: Rc<str>,
    current_role: Rc<str>,
}

/// Work that reads more of the client than its command.
pub enum Deferred {
    /// The rest of a text, beginning with LOAD DATA LOCAL.
    Text(Box<[u8]>),
    /// A dump of the binary log, whose reader may acknowledge.
    Dump(DumpRequest),
}

/// COM_BINLOG_DUMP and COM_BINLOG_DUMP_GTID, without the command's payload.
pub struct DumpRequest {
    pub flags: u16,
    pub server_id: u32,
    pub file: Box<[u8]>,
    pub position: u64,
    pub gtids: Option<Box<[u8]>>,
}

impl From<protocol::BinlogDump<'_>> for DumpRequest {
    fn from(request: protocol::BinlogDump<'_>) -> Self {
        let protocol::BinlogDump { flags, server_id, file, position, gtids } = request;
        Self { flags, server_id, file: file.into(), position, gtids: gtids.map(Into::into) }
    }
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

impl Connection {
    pub fn new(peer: Peer, capabilities: Capabilities) -> Self {
        Self {
            peer,
            tls: None,
            seat: None,
            capabilities,
            multi_statements: capabilities.has(Capabilities::MULTI_STATEMENTS),
            changes: Vec::new(),
            more_results: false,
            deferred: None,
            closing: false,
        }
    }

    /// COM_RESET_CONNECTION and COM_CHANGE_USER
    fn reset(&mut self, capabilities: Capabilities) {
        let (seat, tls) = (self.seat.take(), self.tls.take());
        *self = Self { seat, tls, ..Self::new(self.peer.clone(), capabilities) };
    }
}

impl Session {
    pub fn new(worker: &Worker, login: &LoggedIn) -> Self {
        let variables = SessionVariables::new(worker.shared.globals());
        let identity = login.identity.clone();
        let access = worker.access(&identity);
        let settings = Settings::new(&variables, None);
        Self {
            identity,
            access,
            variables,
            settings,
            refreshed: 0,
            slow_ticks: u64::MAX,
            origin: None,
            is_gtid_logged: Arc::default(),
            fixed_time_us: None,
            named: NamedStatements::default(),
            temporary: None,
            values: Vec::new(),
            is_stacked: false,
            measured: Measured::default(),
            noted_plan: None,
            statistics: None,
            watched: Watched::default(),
            deprecated: Box::default(),
            definition: Box::default(),
            logged: Logged::default(),
            sorted: [0; 3],
            causes: None,
            run: (0, 0),
        }
    }
}

impl<'s> Execution<'s> {
    /// The execution of the client's statements.
    fn new(worker: &Worker, info: &Rc<SessionInfo>, connection: &Connection, session: &Session) -> Self {
        let identity = &session.identity;
        let user = format!("{}@{}", identity.user, connection.peer.host);
        let mut vars = SessionVars::new(info.id, &user, &identity.name.plain());
        vars.killed = info.kill_flag();
        vars.digest_text = digest_text;
        let limits = vars.limits();
        worker.core.set_limit(Rc::new(move |now| limits.check(now)));
        vars.work = Rc::clone(&info.counters.work);
        vars.client_found_rows = connection.capabilities.has(Capabilities::FOUND_ROWS);
        vars.version = crate::config::VERSION;
        settings::apply(&session.variables, &session.settings, &mut vars);
        let transaction = Transaction::of_session(info);
        Self { vars, applied: session.refreshed, transaction, warned_before: 0, frame: None, enclosing: None }
    }

    /// The running programs, innermost first.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        let enclosing = std::iter::successors(self.enclosing, |enclosing| enclosing.outer);
        let outermost = enclosing.filter_map(|enclosing| enclosing.frame);
        let callers = |frame| std::iter::successors(Some(frame), |frame: &&Frame| frame.caller());
        self.frame.as_deref().into_iter().chain(outermost).flat_map(callers)
    }
}

impl<'s> State<'s> {
    /// The state of a new session.
    pub fn new(worker: &Rc<Worker>, info: &Rc<SessionInfo>, connection: &'s mut Connection, session: &'s mut Session) -> Self {
        let execution = Execution::new(worker, info, connection, session);
        let mut state = Self { worker: Rc::clone(worker), info: Rc::clone(info), connection, session, execution };
        state.note_account();
        state.name_roles();
        state.refresh();
        state
    }

    /// Makes the account and its privileges known to other sessions.
    fn note_account(&self) {
        let Session { identity, access, .. } = &*self.session;
        let name = identity.name.plain();
        *self.info.access.borrow_mut() = Some(Rc::clone(access));
        self.worker.shared.kills.name(self.info.id, &name, access.has_dynamic(SYSTEM_USER));
        *self.info.account.borrow_mut() = name;
    }

    /// Recomputes the session's privileges after accounts have changed.
    #[cold]
    fn renew_access(&mut self) {
        self.session.access = self.worker.access(&self.session.identity);
        // Other sessions see the session's own account, even while it acts as another one.
        if *self.info.account.borrow() == self.session.identity.name.plain() {
            self.note_account();
        }
        self.name_roles();
    }

    /// Does `offline_mode` exclude this account?
    pub fn is_kept_out(&self) -> bool {
        let is_offline = || self.worker.shared.globals().get(crate::variables::known("offline_mode")).as_bool();
        !self.session.access.administers_connections() && is_offline()
    }

    /// Sets the active roles.
    pub fn set_roles(&mut self, roles: Vec<accounts::Name>) {
        self.session.identity.roles = roles;
        self.renew_access();
    }

    /// Acts as another account until [`Self::act_again_as`], and returns the previous identity. `None`: it is the same
    /// account.
    ///
    /// # Errors
    /// 1449: the account does not exist.
    pub fn act_as(&mut self, definer: &accounts::Name) -> Result<Option<Acting>> {
        if self.session.access.name == *definer {
            return Ok(None);
        }
        let Some(access) = self.worker.definer(definer) else {
            return Err(Error::from(Condition::NoSuchUser { user: (&definer.user).into(), host: (&definer.host).into() }));
        };
        let identity = std::mem::replace(&mut self.session.identity, Identity::definer(definer, access.roles.clone()));
        let current_user = std::mem::replace(&mut self.execution.vars.current_user, definer.plain().into());
        let current_role = Rc::clone(&self.execution.vars.current_role);
        let access = std::mem::replace(&mut self.session.access, access);
        self.name_roles();
        Ok(Some(Acting { identity, access, current_user, current_role }))
    }

    /// Ends what [`Self::act_as`] began.
    pub fn act_again_as(&mut self, before: Acting) {
        let Acting { identity, access, current_user, current_role } = before;
        (self.session.identity, self.session.access) = (identity, access);
        (self.execution.vars.current_user, self.execution.vars.current_role) = (current_user, current_role);
    }

    /// The account has a new password.
    pub fn password_changed(&mut self) {
        self.session.identity.expired = false;
        self.renew_access();
    }

    /// CURRENT_ROLE()
    fn name_roles(&mut self) {
        let mut roles: Vec<String> = self.session.access.roles.iter().map(accounts::Name::ticked).collect();
        roles.sort();
        self.execution.vars.current_role = if roles.is_empty() { "NONE".into() } else { roles.join(",").into() };
    }

    /// The published schema as far as the account may see it, without temporary tables.
    pub fn visible_schema(&self) -> std::sync::Arc<types::schema::Schema> {
        self.session.access.visible(&self.worker.schema())
    }

    /// Sets the character set and the database after a login.
    pub fn welcome(&mut self, login: &LoggedIn) -> Result<()> {
        self.use_client_collation(login.collation);
        if self.connection.capabilities.has(Capabilities::INTERACTIVE) {
            let timeout = self.session.variables.get(IDS.interactive_timeout).clone();
            self.session.variables.set(IDS.wait_timeout, timeout);
        }
        self.refresh();
        if let Some(database) = &login.database {
            self.use_database(database)?;
        }
        self.connection.changes.clear();
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
            self.session.variables.set(id, Setting::Text(collation.charset.into()));
        }
        self.session.variables.set(IDS.collation_connection, Setting::Text(collation.name.into()));
    }

    /// Recomputes everything that depends on variables.
    pub fn refresh(&mut self) {
        self.session.refreshed = self.session.refreshed.wrapping_add(1);
        self.session.settings = Settings::new(&self.session.variables, self.execution.vars.database.as_deref());
        self.session.settings.bind_key ^= self.temporary_key();
        let note = self.transaction_note();
        self.execution.transaction.set_note(note);
        self.info.isolation.set(self.session.settings.isolation);
        let slow_ns = self.session.variables.get(IDS.long_query_time).as_f64() * 1e9;
        self.session.slow_ticks = (slow_ns / self.worker.shared.tick_clock.nanos_per_tick()) as u64;
        self.apply_settings();
    }

    /// Gives the session and the execution the settings of a program, or its caller's again. The caller sets the
    /// variables that belong to them, and the database.
    pub fn exchange_settings(&mut self, own: ProgramSettings) {
        self.session.settings.set_program(own);
        (self.execution.vars.sql_mode, self.execution.vars.collation) = (own.mode, own.connection_collation);
    }

    /// Gives the execution the session's settings, if they have changed.
    #[inline]
    pub fn apply_settings(&mut self) {
        if self.execution.applied != self.session.refreshed {
            self.apply_changed_settings();
        }
    }

    #[cold]
    fn apply_changed_settings(&mut self) {
        let vars = &mut self.execution.vars;
        settings::apply(&self.session.variables, &self.session.settings, vars);
        if let Some(zone) = crate::variables::parse_time_zone(self.session.variables.get(IDS.time_zone).as_text()) {
            vars.time_zone = zone;
        }
        self.execution.applied = self.session.refreshed;
    }

    /// COM_RESET_CONNECTION and COM_CHANGE_USER: resets the session. The caller has rolled back.
    pub fn reset(&mut self, login: &LoggedIn) {
        self.worker.shared.user_locks.release_all(self.info.id);
        self.worker.counters.take(&self.info.counters);
        self.info.prepared.set(0);
        self.connection.reset(login.capabilities);
        *self.session = Session::new(&self.worker, login);
        self.execution = Execution::new(&self.worker, &self.info, self.connection, self.session);
        self.note_account();
        self.name_roles();
        self.refresh();
    }

    /// USE
    pub fn use_database(&mut self, name: &str) -> Result<()> {
        self.check_use(name)?;
        let schema = self.schema();
        let name = crate::show::virtual_database(name).unwrap_or(name);
        let Some(database) = schema.databases.get(name) else {
            return Err(Error::UnknownDatabase(name.to_owned()));
        };
        self.execution.vars.database = Some(name.into());
        *self.info.database.borrow_mut() = Some(name.to_owned());
        if let Some(collation) = charsets::collation_by_id(database.collation.0) {
            self.session.variables.set(IDS.character_set_database, Setting::Text(collation.charset.into()));
            self.session.variables.set(IDS.collation_database, Setting::Text(collation.name.into()));
        }
        self.refresh();
        if self.session.settings.track_schema {
            self.connection.changes.push(Change::Schema(name.to_owned()));
        }
        Ok(())
    }

    /// Unsets the current database after it was dropped.
    pub fn forget_database(&mut self, dropped: &str) {
        if self.execution.vars.database.as_deref() == Some(dropped) {
            self.execution.vars.database = None;
            *self.info.database.borrow_mut() = None;
            self.refresh();
        }
    }

    /// The status bits of an OK or EOF packet.
    pub fn status(&self) -> Status {
        let mut status = Status::default();
        status.set(Status::AUTOCOMMIT, self.session.settings.autocommit);
        status.set(Status::IN_TRANSACTION, self.execution.transaction.is_open());
        status.set(
            Status::IN_TRANSACTION_READ_ONLY,
            self.execution.transaction.is_open() && self.execution.transaction.is_read_only(),
        );
        status.set(Status::NO_BACKSLASH_ESCAPES, self.session.settings.mode.no_backslash_escapes);
        status.set(Status::MORE_RESULTS, self.connection.more_results);
        status
    }

    pub fn warning_count(&self) -> u16 {
        u16::try_from(self.execution.vars.warnings.borrow().count()).unwrap_or(u16::MAX)
    }

    /// Clears the diagnostics of the previous statement.
    pub fn clear_warnings(&mut self) {
        self.execution.vars.warnings.get_mut().clear();
        self.execution.warned_before = 0;
        if !self.session.deprecated.is_empty() {
            let deprecated = std::mem::take(&mut self.session.deprecated);
            self.warn_all(&deprecated);
        }
    }

    /// Raises warnings.
    #[cold]
    pub fn warn_all(&self, conditions: &[Condition]) {
        conditions.iter().for_each(|condition| self.warn(Level::Warning, condition.clone()));
    }

    /// The number of conditions that the statement itself raised, for its answer.
    pub fn own_warning_count(&self) -> u16 {
        self.warning_count().saturating_sub(self.execution.warned_before)
    }

    /// How the session's `sql_mode` wants statements of SHOW CREATE.
    pub fn quotes(&self) -> Quotes {
        /// `sql_mode` has ANSI itself, not only what it stands for.
        const ANSI_BIT: u32 = 18;
        let bits = self.session.variables.get(IDS.sql_mode).as_u64();
        Quotes { double: self.session.settings.mode.ansi_quotes, ansi: bits & (1 << ANSI_BIT) != 0 }
    }

    pub fn warn(&self, level: Level, condition: Condition) {
        self.note(level, condition.into());
    }

    /// Adds a condition to the diagnostics.
    pub fn note(&self, level: Level, condition: expr::Error) {
        if level == Level::Note && !self.session.settings.sql_notes {
            return;
        }
        self.execution.vars.warnings.borrow_mut().push(level, condition);
    }

    /// Publishes the open transaction to other sessions.
    pub fn note_transaction(&mut self) {
        let open = self.execution.transaction.is_open().then(|| {
            let since = self.info.transaction.get().map_or_else(|| self.worker.core.now(), |open| open.since);
            let txn = self.execution.transaction.txn();
            let (changes, snapshot) = txn.map_or((0, None), |txn| (txn.changes(), txn.snapshot_time()));
            let isolation = self.execution.transaction.characteristics().isolation.unwrap_or(self.session.settings.isolation);
            OpenTransaction { since, changes, snapshot, isolation, read_only: self.execution.transaction.is_read_only() }
        });
        if self.info.record.note_transaction(open.is_some()) {
            self.record_transaction(open.is_some());
        }
        self.info.transaction.set(open);
    }

    /// A multi-statement transaction has begun or ended.
    #[cold]
    fn record_transaction(&mut self, is_open: bool) {
        let record = &self.info.record;
        match self.info.transaction.get() {
            _ if is_open => record.begin_transaction(),
            Some(before) => {
                record.end_transaction(self.execution.transaction.is_committed(), before.read_only, before.isolation, false);
            }
            None => {}
        }
    }

    /// Writes the answer of a statement without rows.
    pub fn write_ok(&mut self, client: &mut Recipient<'_>, answer: &Answer<'_>) {
        let status = self.status();
        let warnings = self.own_warning_count();
        self.note_transaction();
        self.session.measured.is_ok = true;
        // The statements of a stored program do not answer the client.
        let Some(client) = client.client().filter(|_| self.execution.frame.is_none()) else { return };
        let mut packet = OkPacket {
            affected_rows: answer.affected,
            last_insert_id: answer.last_insert_id,
            status,
            warnings,
            info: answer.info,
            changes: &[],
        };
        if self.connection.changes.is_empty() {
            return packet.write(&mut client.output.writer, self.connection.capabilities);
        }
        let owned = std::mem::take(&mut self.connection.changes);
        let changes: Vec<_> = owned
            .iter()
            .map(|change| match change {
                Change::Variable { name, value } => StateChange::SystemVariable { name, value },
                Change::Schema(name) => StateChange::Schema(name),
                Change::Any => StateChange::Any,
            })
            .collect();
        packet.changes = &changes;
        packet.write(&mut client.output.writer, self.connection.capabilities);
    }

    /// Begins a statement: sets its time, and resets the state of the previous one.
    pub fn begin_statement(&mut self) {
        let now = os::ticks();
        self.session.measured = Measured::begin(now);
        self.info.clock.begin(now);
        self.info.record.begin();
        if self.session.noted_plan.is_some() {
            self.session.noted_plan = None;
        }
        self.info.counters.forget_noted();
        self.session.watched = self.worker.shared.instruments.watched();
        if self.session.watched.notes_beginning() {
            self.begin_logged();
        }
        self.execution.vars.rows_examined.set(0);
        self.begin_inner_statement();
        if self.info.killed() != expr::kill::NONE && !os::mutated("forgotten-kill") {
            self.execution.vars.clear_kill_query();
        }
    }

    /// A phase of the statement ends.
    #[inline]
    pub fn end_phase(&mut self, phase: Phase) {
        self.session.measured.end_phase(phase, self.info.clock.ran());
    }

    /// Begins a statement of a stored program: it has its own time, but KILL QUERY ends the whole program.
    pub fn begin_inner_statement(&mut self) {
        // A program inside a statement is part of it and shares its time.
        if !self.is_inside() {
            self.execution.vars.deadline.set(None);
            self.execution.vars.statement_start_us = self.session.fixed_time_us.unwrap_or_else(|| self.worker.wall_clock_us());
        }
        if self.worker.shared.accounts.epoch() != self.session.access.epoch && !os::mutated("stale-privilege") {
            self.renew_access();
        }
    }

    /// A store for the rows of a cursor.
    pub fn keep_rows(&self) -> exec::KeptRecords {
        self.worker.shared.temporary.keep(self.session.settings.cursor_bytes_max)
    }

    /// The statistics of the first statement of `text`.
    #[cold]
    pub fn statistics_of(&self, text: &[u8]) -> Rc<Statistics> {
        self.statistics_of_parsed(text, sql::Repeated::default())
    }

    /// Like `statistics_of`, if the parser knows the repeated rows.
    #[cold]
    pub fn statistics_of_parsed(&self, text: &[u8], repeated: sql::Repeated) -> Rc<Statistics> {
        self.worker.digests.find(self.execution.vars.database.as_deref(), text, &self.session.settings.mode, repeated)
    }

    /// Ends the statement that `begin_statement` began. Returns what is left to do with its text.
    #[inline]
    pub fn record(&mut self, statistics: &Rc<Statistics>, text: &[u8], failed: bool, name: Name) -> After {
        let now = os::ticks();
        let waited = self.info.clock.end(self.worker.core.waits());
        let is_slow = now.saturating_sub(self.session.measured.began) >= self.session.slow_ticks;
        if is_slow {
            count(&self.info.counters.events.slow_queries);
        }
        let is_logged = (is_slow || self.session.watched.unindexed()) && self.is_for_slow_log(is_slow);
        self.session.measured.examined = self.execution.vars.rows_examined.get();
        self.session.measured.warnings = self.execution.vars.warnings.get_mut().count();
        self.session.measured.failed = failed;
        self.session.measured.end_phases(now.saturating_sub(waited));
        let sorted = self.info.counters.sorted();
        if sorted != self.session.sorted {
            self.note_sorts(sorted);
        }
        let locked = self.info.clock.ticks_so_far(LOCKS);
        if self.session.watched.profiled() {
            self.label_samples(statistics, now);
        }
        if !self.session.watched.all_statements() && !self.worker.shared.instruments.enables(name.text()) {
            return After { is_logged, is_kept: false };
        }
        let measured = &self.session.measured;
        let ended = Ended { name, text, statistics: Some(statistics), measured, ended: now, waited, locked, program: None };
        if measured.is_transaction {
            let is_read_only = self.session.settings.read_only;
            self.info.record.note_own_transaction(now.saturating_sub(measured.began), !is_read_only);
        }
        self.info.record.end(&ended, self.session.watched.history());
        if self.session.watched.history_long() {
            self.worker.past.keep(self.info.id, &self.info.record);
        }
        if !self.session.watched.digests() {
            return After { is_logged, is_kept: false };
        }
        self.worker.digests.record(statistics, &self.session.measured, now, text, &self.worker.shared.tick_clock);
        if waited > 0 {
            statistics.record_waits(waited, &self.info.clock);
        }
        if self.session.watched.advised() {
            self.note_cause(statistics, failed);
        }
        let is_kept = statistics.wants_to_keep();
        if self.session.noted_plan.is_some() && !is_kept {
            self.note_plan(statistics, now, false);
        }
        After { is_logged, is_kept }
    }

    /// Notes what the statement has to do with the ones before it.
    #[inline]
    fn note_cause(&mut self, statistics: &Rc<Statistics>, failed: bool) {
        let (address, session) = (Rc::as_ptr(statistics).addr(), &mut *self.session);
        if session.run.0 != address {
            session.run = (address, 0);
        } else if session.measured.affected > 0 {
            session.run.1 = session.run.1.saturating_add(1);
            match session.run.1.cmp(&LOOP_MIN) {
                Ordering::Less => {}
                Ordering::Equal => statistics.note_run(LOOP_MIN.into(), session.measured.is_transaction),
                Ordering::Greater => statistics.note_run(1, session.measured.is_transaction),
            }
        }
        if failed && session.measured.deadlocked {
            statistics.note_deadlock();
        }
        if let Some(causes) = &mut session.causes {
            causes.end(statistics, failed);
        }
    }

    /// Notes what the statement has sorted: `now` are the session's counters.
    #[cold]
    fn note_sorts(&mut self, now: [u64; 3]) {
        let before = std::mem::replace(&mut self.session.sorted, now);
        let [ranges, scans, rows] = std::array::from_fn(|n| now[n].saturating_sub(before[n]));
        let measured = &mut self.session.measured;
        (measured.sort_ranges, measured.sort_scans, measured.sort_rows) = (ranges, scans, rows);
    }

    /// Makes the error of a statement its diagnostics.
    pub fn note_error(&mut self, error: &Error) {
        if !std::mem::take(&mut self.session.is_stacked) {
            self.clear_warnings();
        }
        self.note_inner_error(error);
        let told = error.describe();
        let is_kept = self.session.watched.history();
        self.info.record.note_error(told.number, told.state, &told.message, self.worker.wall_clock_us(), is_kept);
    }

    /// Adds the error of a program's statement to the diagnostics.
    pub fn note_inner_error(&mut self, error: &Error) {
        self.note(Level::Error, error.to_warning());
        self.execution.vars.row_count = -1;
    }
}
