//! The part of a session that other sessions may see (its line in the process list), and its kill flag. Read only on
//! the session's own worker; other threads ask by message.

use super::held::HeldTables;
use crate::counters::Counters;
use crate::record::{Name, Record, Running, SessionLine, SumsLine};
use accounts::Access;
use expr::kill;
use os::time::Instant;
use protocol::Attributes;
use reactor::connection::Interruptible;
use reactor::{Core, Readiness, TaskClock};
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use sync::atomic::{AtomicU8, Ordering};
use table::ddl::{Progress, Stage, Work};

/// The maximum length in bytes of a statement in the process list.
const STATEMENT_BYTES_MAX: usize = 16 << 10;
/// Capacity that an idle session keeps for statement text.
const STATEMENT_BYTES_KEPT: usize = 512;
/// The maximum size in bytes of connection attributes: `performance_schema_session_connect_attrs_size`.
const ATTRIBUTE_BYTES_MAX: usize = 512;

/// One session as other sessions see it.
#[derive(Debug)]
pub struct SessionInfo {
    pub id: u32,
    pub user: RefCell<String>,
    /// `user@host` of the account; empty until it is proved.
    pub account: RefCell<String>,
    /// The privileges of the account, as of its latest statement.
    pub access: RefCell<Option<Rc<Access>>>,
    /// With the port, as the process list shows it.
    pub host: String,
    pub database: RefCell<Option<String>>,
    /// The client's connection attributes, by name.
    attributes: RefCell<Arc<[(String, String)]>>,
    /// `Sleep`, `Query`, ...
    pub command: Cell<&'static str>,
    /// When `command` began.
    pub since: Cell<Instant>,
    /// The `State` column.
    pub state: Cell<&'static str>,
    /// The progress of the definition that the command waits for.
    pub definition: RefCell<Option<Arc<Progress>>>,
    /// The open multi-statement transaction, as of the end of its latest statement.
    pub transaction: Cell<Option<OpenTransaction>>,
    /// The default isolation of its transactions.
    pub isolation: Cell<txn::Isolation>,
    pub stopping: Cell<bool>,
    /// The tables that its transaction uses.
    pub held: Rc<HeldTables>,
    /// Its status counters.
    pub counters: Counters,
    /// Prepared statements that are open.
    pub prepared: Cell<u64>,
    statement: RefCell<Vec<u8>>,
    killed: Arc<AtomicU8>,
    waker: Waker,
    /// Where the time of its statements goes.
    pub clock: Rc<TaskClock>,
    /// What it has done.
    pub record: Record,
    socket: OnceCell<Rc<Readiness>>,
}

/// A line of the process list, as sent to another thread.
#[derive(Clone, Debug)]
pub struct ProcessLine {
    pub id: u32,
    pub user: String,
    pub account: String,
    pub host: String,
    pub database: Option<String>,
    pub attributes: Arc<[(String, String)]>,
    pub command: &'static str,
    pub seconds: u64,
    pub state: Cow<'static, str>,
    /// The stage of the definition that it waits for.
    pub stage: Option<Stage>,
    pub info: Option<String>,
    pub transaction: Option<OpenTransaction>,
    /// How long `transaction` is open.
    pub transaction_seconds: u64,
    /// The isolation of the open transaction, or else of the next one.
    pub isolation: txn::Isolation,
}

/// The data about an open transaction that other sessions may see.
#[derive(Clone, Copy, Debug)]
pub struct OpenTransaction {
    pub since: Instant,
    /// Records changed.
    pub changes: u64,
    /// The commit clock of the snapshot that it reads.
    pub snapshot: Option<u64>,
    pub isolation: txn::Isolation,
    pub read_only: bool,
}

impl ProcessLine {
    /// A line for a session whose worker does not answer, from data that is known without the worker.
    pub fn of_silent(id: u32, account: String) -> Self {
        let (user, host) = account.rsplit_once('@').unwrap_or(("unauthenticated user", ""));
        Self {
            id,
            user: user.to_owned(),
            host: host.to_owned(),
            database: None,
            attributes: Arc::default(),
            command: "Query",
            seconds: 0,
            state: Cow::Borrowed("executing"),
            stage: None,
            info: None,
            transaction: None,
            transaction_seconds: 0,
            isolation: txn::Isolation::RepeatableRead,
            account,
        }
    }
}

impl SessionInfo {
    /// The session that the running task serves.
    pub fn new(id: u32, host: String, core: &Core) -> Self {
        Self {
            id,
            user: RefCell::new("unauthenticated user".to_owned()),
            account: RefCell::default(),
            access: RefCell::default(),
            host,
            database: RefCell::default(),
            attributes: RefCell::default(),
            command: Cell::new("Connect"),
            since: Cell::new(core.now()),
            state: Cell::new("login"),
            definition: RefCell::default(),
            transaction: Cell::new(None),
            isolation: Cell::new(txn::Isolation::RepeatableRead),
            stopping: Cell::new(false),
            held: Rc::default(),
            counters: Counters::default(),
            prepared: Cell::new(0),
            statement: RefCell::default(),
            killed: Arc::new(AtomicU8::new(kill::NONE)),
            waker: core.current_waker(),
            clock: core.current_clock(),
            record: Record::default(),
            socket: OnceCell::new(),
        }
    }

    /// Do the account's privileges satisfy `is`? False before the client is authenticated.
    pub fn may(&self, is: impl FnOnce(&Access) -> bool) -> bool {
        self.access.borrow().as_deref().is_some_and(is)
    }

    /// Wakes the session's task.
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }

    /// Notes the socket of the session's client.
    pub fn set_socket(&self, readiness: Rc<Readiness>) {
        // A session has one socket, so this is set once.
        let _ = self.socket.set(readiness);
    }

    /// Has the client closed its end?
    pub fn is_gone(&self) -> bool {
        self.socket.get().is_some_and(|socket| socket.hung_up.get())
    }

    /// The flag that execution checks.
    pub fn kill_flag(&self) -> Arc<AtomicU8> {
        Arc::clone(&self.killed)
    }

    /// KILL: see `expr::kill` for `how`.
    pub fn kill(&self, how: u8) {
        // Relaxed: the flag carries no data; the wake-up orders it before the session's next poll.
        self.killed.fetch_max(how, Ordering::Relaxed);
        self.waker.wake_by_ref();
    }

    pub fn killed(&self) -> u8 {
        self.killed.load(Ordering::Relaxed)
    }

    /// Keeps the connection's attributes, up to `ATTRIBUTE_BYTES_MAX`.
    pub fn set_attributes(&self, attributes: Attributes<'_>) {
        let mut room = ATTRIBUTE_BYTES_MAX;
        let fits = |(name, value): &(&[u8], &[u8])| {
            let left = room.checked_sub(name.len() + value.len());
            room = left.unwrap_or(0);
            left.is_some()
        };
        let owned = |bytes| String::from_utf8_lossy(bytes).into_owned();
        let kept = attributes.iter().take_while(fits).map(|(name, value)| (owned(name), owned(value)));
        *self.attributes.borrow_mut() = kept.collect();
    }

    /// A command begins.
    pub fn begin(&self, command: &'static str, now: Instant) {
        self.command.set(command);
        self.since.set(now);
        self.state.set("executing");
    }

    /// The text that the process list shows.
    pub fn set_statement(&self, text: &[u8]) {
        let mut statement = self.statement.borrow_mut();
        statement.clear();
        statement.extend_from_slice(&text[..text.len().min(STATEMENT_BYTES_MAX)]);
    }

    /// The command is done.
    pub fn end(&self, now: Instant) {
        self.clock.stop();
        self.command.set("Sleep");
        self.since.set(now);
        self.state.set("");
        let mut statement = self.statement.borrow_mut();
        statement.clear();
        if statement.capacity() > STATEMENT_BYTES_KEPT {
            *statement = Vec::new();
        }
    }

    /// The text of the running statement, as others may see it.
    pub fn statement_text(&self) -> Option<String> {
        let statement = self.statement.borrow();
        (!statement.is_empty()).then(|| {
            let text = sql::without_secrets(&statement, &types::SqlMode::DEFAULT);
            String::from_utf8_lossy(&text).into_owned()
        })
    }

    /// What it does and has done, at tick `now`.
    pub fn events(&self, now: u64) -> SessionLine {
        let name = Name::of(self.counters.noted());
        let running = self.statement_text().map(|text| Running { name, text, database: self.database.borrow().clone() });
        let transaction = self.transaction.get().map(|open| (open.read_only, open.isolation));
        SessionLine { transaction, ..self.record.line(self.id, &self.clock, running, now) }
    }

    /// What it has done, added up.
    pub fn sums(&self) -> SumsLine {
        SumsLine {
            session: Some(self.id),
            user: self.user.borrow().clone(),
            host: self.host_name().to_owned(),
            sums: self.record.sums(&self.clock),
        }
    }

    /// The client's host without the port.
    pub fn host_name(&self) -> &str {
        self.host.rsplit_once(':').map_or(&self.host, |(host, _)| host)
    }

    pub fn line(&self, now: Instant) -> ProcessLine {
        let info = self.statement_text();
        let stage = self.definition.borrow().as_ref().and_then(|progress| progress.stage());
        ProcessLine {
            id: self.id,
            user: self.user.borrow().clone(),
            account: self.account.borrow().clone(),
            host: self.host.clone(),
            database: self.database.borrow().clone(),
            attributes: Arc::clone(&self.attributes.borrow()),
            command: self.command.get(),
            seconds: now.saturating_duration_since(self.since.get()).as_secs(),
            state: stage.map_or(Cow::Borrowed(self.state.get()), describe),
            stage,
            info,
            isolation: self.transaction.get().map_or(self.isolation.get(), |open| open.isolation),
            transaction: self.transaction.get(),
            transaction_seconds: self.transaction.get().map_or(0, |open| now.saturating_duration_since(open.since).as_secs()),
        }
    }
}

/// The `State` of a session that waits for a definition.
fn describe(stage: Stage) -> Cow<'static, str> {
    match stage {
        Stage::Waiting => Cow::Borrowed("Waiting for table metadata lock"),
        Stage::Working { work, done, all, passed_ms } => Cow::Owned(told_progress(work, done, all, passed_ms)),
        Stage::CatchingUp { left } => Cow::Owned(format!("altering table: {left} changed rows left")),
    }
}

/// `altering table: 120 of about 1000 rows (12 %, 60 per second, 15 s left)`
fn told_progress(work: Work, done: u64, all: u64, passed_ms: u64) -> String {
    let (verb, unit, each) = match work {
        Work::Alter => ("altering table", "rows", 1),
        Work::Check => ("checking table", "rows and entries", 1),
        Work::Checksum => ("reading table", "rows", 1),
        Work::Analyze => ("analyzing table", "steps", 1),
        Work::Load => ("loading data", "MiB", 1 << 20),
    };
    let (shown, of_all) = (done / each, all / each);
    let rate = done as f64 / (passed_ms.max(1) as f64 / 1e3);
    if all == 0 {
        return format!("{verb}: {shown} {unit} ({:.0} per second)", rate / each as f64);
    }
    let percent = (done as f64 / all as f64 * 100.0).min(100.0);
    // A rate of the first moment says nothing.
    if passed_ms < 100 || done == 0 {
        return format!("{verb}: {shown} of about {of_all} {unit} ({percent:.0} %)");
    }
    let left = (all.saturating_sub(done)) as f64 / rate;
    format!("{verb}: {shown} of about {of_all} {unit} ({percent:.0} %, {:.0} per second, {left:.0} s left)", rate / each as f64)
}

impl Interruptible for SessionInfo {
    /// Ends a wait for the client: only a killed connection, or one that may end because the server stops.
    fn is_interrupted(&self) -> bool {
        self.killed() == kill::CONNECTION || self.stopping.get()
    }
}
