//! The entries of a session in the slow query log and in the general log.
//!
//! All of this is cold: a session of a server without logs reads only one word when a statement begins.

use super::IDS;
use super::state::State;
use crate::error::{Error, Result};
use crate::text_log::{self, CannotOpen, Extra, ExtraCounts, Log, Logged, Origin, Timing, with_values};
use crate::variables::{self, Globals, Setting, VariableId};
use conditions::Condition;
use expr::kill;
use protocol::Command;
use types::Value;

impl State<'_> {
    #[cold]
    pub fn begin_logged(&mut self) {
        let (waited_us, counts, samples) = (self.waited_us(), self.extra_counts(), os::profile::taken());
        self.session.logged = Logged { waited_us, counts, samples, ..Logged::default() };
    }

    /// The time that the session has waited for row and table locks.
    fn waited_us(&self) -> u64 {
        self.info.counters.events.metadata_wait_us.get() + self.info.counters.work.lock_wait_us.get()
    }

    /// The session's counters, for `log_slow_extra`.
    fn extra_counts(&self) -> ExtraCounts {
        let (events, work) = (&self.info.counters.events, &self.info.counters.work);
        [
            &events.bytes_received,
            &events.bytes_sent,
            &work.read_first,
            &work.read_last,
            &work.read_key,
            &work.read_next,
            &work.read_prev,
            &work.read_rnd,
            &work.read_rnd_next,
            // Runs of a sort are merged once, at its end.
            &work.sort_scan,
            &work.sort_range,
            &work.sort_rows,
            &work.sort_scan,
            &events.temporary_tables,
            &events.temporary_tables,
        ]
        .map(std::cell::Cell::get)
    }

    /// Notes that MySQL classifies the statement as administrative.
    pub fn note_administrative(&mut self) {
        self.session.logged.is_administrative = true;
    }

    /// Prepares the slow log entry of the statement that ends.
    #[cold]
    pub fn is_for_slow_log(&self, is_slow: bool) -> bool {
        let global = |name| self.worker.shared.globals().get(variables::known(name)).as_bool();
        let is_wanted = is_slow || self.session.measured.ways.no_index > 0;
        self.session.watched.slow_log()
            && is_wanted
            && self.execution.vars.rows_examined.get() >= self.session.variables.get(IDS.min_examined_row_limit).as_u64()
            && self.info.killed() != kill::CONNECTION
            && (!self.session.logged.is_administrative || global("log_slow_admin_statements"))
            && (is_slow || self.admits_unindexed())
    }

    /// `log_throttle_queries_not_using_indexes`
    fn admits_unindexed(&self) -> bool {
        let limit = self.worker.shared.globals().get(variables::known("log_throttle_queries_not_using_indexes")).as_u64();
        self.worker.shared.logs.admits_unindexed(limit, self.taken_us(), self.locked_us())
    }

    /// Microseconds since the statement began.
    fn taken_us(&self) -> u64 {
        let nanos = self.worker.shared.tick_clock.nanos_per_tick();
        (os::ticks().saturating_sub(self.session.measured.began) as f64 * nanos / 1e3) as u64
    }

    /// Microseconds that the statement has waited for locks.
    fn locked_us(&self) -> u64 {
        self.waited_us().saturating_sub(self.session.logged.waited_us)
    }

    /// Writes the statement to the slow log, after [`State::record`] returned true. `sent`: bytes of its answer that no
    /// counter has yet.
    #[cold]
    pub fn log_slow(&mut self, text: &[u8], error: Option<&Error>, sent: u64) {
        let taken_us = self.taken_us();
        let began_us = self.execution.vars.statement_start_us;
        let has_extra = self.worker.shared.globals().get(variables::known("log_slow_extra")).as_bool();
        let timing = Timing {
            began: began_us.div_euclid(1_000_000),
            taken_us,
            lock_us: self.locked_us(),
            sent: self.session.measured.sent,
            examined: self.execution.vars.rows_examined.get(),
            last_insert_id: self.execution.vars.last_insert_id.get(),
            insert_id: self.execution.vars.insert_id.unwrap_or_default(),
            extra: has_extra.then(|| self.extra(error, sent, began_us, taken_us)),
        };
        let executed = self.session.logged.executed.take();
        let text = sql::without_secrets(executed.as_deref().unwrap_or(text), &self.session.settings.mode);
        let address = self.address();
        self.worker.shared.logs.write_slow(&self.origin(&address), &timing, &text);
    }

    fn extra(&self, error: Option<&Error>, sent: u64, began_us: i64, taken_us: u64) -> Extra {
        let errno = error.map_or(0, |error| error.describe().number);
        let (now, before) = (self.extra_counts(), self.session.logged.counts);
        let mut counts: ExtraCounts = std::array::from_fn(|place| now[place].saturating_sub(before[place]));
        counts[1] += sent;
        // No run is merged in several passes, and no table of a statement is made on disk.
        (counts[9], counts[13]) = (0, 0);
        let killed = if self.info.killed() == kill::NONE { 0 } else { errno };
        Extra { errno, killed, counts, began_us, ended_us: began_us.saturating_add_unsigned(taken_us) }
    }

    /// The client's address as text; empty for the unix socket.
    fn address(&self) -> String {
        self.connection.peer.ip.map(|ip| ip.to_string()).unwrap_or_default()
    }

    /// The session as entries name it.
    fn origin<'a>(&'a self, address: &'a str) -> Origin<'a> {
        Origin {
            session: self.info.id,
            account: &self.session.identity.name.user,
            user: &self.session.identity.user,
            host: if self.connection.peer.host == address { "" } else { &self.connection.peer.host },
            address,
            database: self.execution.vars.database.as_deref(),
        }
    }

    /// `log_raw`: the client's text as it came, before it is parsed.
    #[cold]
    pub fn log_raw(&mut self, text: &[u8]) {
        if self.worker.shared.globals().get(variables::known("log_raw")).as_bool() {
            self.session.watched = self.session.watched.without_general_log();
            self.log_general("Query", text);
        }
    }

    /// Notes that a client's statement begins; called once, even if the statement is retried.
    #[inline]
    pub fn log_query(&mut self, text: &[u8]) {
        if self.session.watched.general_log() {
            self.log_statement("Query", text);
        }
    }

    #[cold]
    fn log_statement(&mut self, command: &'static str, text: &[u8]) {
        // Statements of a program are part of the statement that calls it.
        if self.execution.frame.is_none() && !self.is_inside() {
            self.session.watched = self.session.watched.without_general_log();
            self.log_general(command, &sql::without_secrets(text, &self.session.settings.mode));
        }
    }

    /// Writes a line about this session to the general log.
    #[cold]
    pub fn log_general(&self, command: &'static str, argument: &[u8]) {
        if self.session.variables.get(IDS.sql_log_off).as_bool() {
            return;
        }
        let address = self.address();
        self.worker.shared.logs.write_general(&self.origin(&address), command, argument);
    }

    /// Logs that a prepared statement is prepared or executed.
    #[cold]
    pub fn log_prepared(&self, command: &'static str, text: &[u8], values: &[Value<'_>]) {
        // The statement PREPARE or EXECUTE itself was logged already.
        if self.worker.shared.instruments.watched().general_log() {
            let text = with_values(text, values, &self.session.settings.mode);
            if self.worker.shared.globals().get(variables::known("log_raw")).as_bool() {
                self.log_general(command, &text)
            } else {
                self.log_general(command, &sql::without_secrets(&text, &self.session.settings.mode))
            }
        }
    }

    /// Logs the statement that EXECUTE runs.
    #[cold]
    pub fn log_executed(&mut self, text: &[u8], values: &[Value<'_>]) {
        self.log_prepared("Execute", text, values);
        self.session.logged.executed = Some(with_values(text, values, &self.session.settings.mode));
    }

    /// Logs commands other than statements.
    pub fn log_command(&self, command: &Command<'_>) {
        if self.worker.shared.instruments.watched().general_log() {
            self.log_other(command);
        }
    }

    #[cold]
    fn log_other(&self, command: &Command<'_>) {
        let (name, argument): (_, &[u8]) = match command {
            Command::InitDb { database } => ("Init DB", database),
            Command::FieldList { table, .. } => ("Field List", table),
            Command::StmtClose { .. } => ("Close stmt", b""),
            Command::StmtReset { .. } => ("Reset stmt", b""),
            other => (other.name(), b""),
        };
        self.log_general(name, argument);
    }

    /// Logs the result of a client's authentication.
    #[cold]
    pub fn log_connect(&self, database: Option<&str>, refused: Option<&Error>) {
        let way = match () {
            () if self.connection.tls.is_some() => "SSL/TLS",
            () if self.connection.peer.ip.is_none() => "Socket",
            () => "TCP/IP",
        };
        let (user, host, database) = (&self.session.identity.user, &self.connection.peer.host, database.unwrap_or_default());
        self.log_general("Connect", format!("{user}@{host} on {database} using {way}").as_bytes());
        if let Some(error) = refused {
            self.log_general("Connect", error.describe().message.as_bytes());
        }
    }

    /// Opens the logs that new values of global variables require, before these take effect.
    ///
    /// # Errors
    /// 1231 for a path that no log may have, 29 for a file that cannot be opened.
    pub async fn open_logs(&mut self, settings: &[(VariableId, &Setting)]) -> Result<()> {
        let is_about_logs = |name: &str| name == "log_output" || Log::ALL.iter().any(|log| log.variables().contains(&name));
        if !settings.iter().any(|(id, _)| is_about_logs(id.name())) {
            return Ok(());
        }
        let shared = std::sync::Arc::clone(&self.worker.shared);
        let data_dir = &shared.config.data_dir;
        let mut next = Globals::clone(&shared.globals());
        for (id, setting) in settings {
            next.set(*id, (*setting).clone());
        }
        for (id, setting) in settings {
            let is_file = Log::ALL.iter().any(|log| log.variables()[1] == id.name());
            if is_file && !text_log::is_possible(&data_dir.join(setting.as_text()), data_dir) {
                let value = if **setting == Setting::Null { "NULL".to_owned() } else { setting.as_text().to_owned() };
                return Err(variables::Error::WrongValue { name: id.name().to_owned(), value }.into());
            }
        }
        match shared.logs.set_targets(text_log::targets(&next, data_dir)).await {
            Some(Ok(())) => Ok(()),
            Some(Err(refused)) => Err(cannot_open(&refused)),
            None => Err(Error::ShuttingDown),
        }
    }

    /// FLUSH ERROR LOGS
    ///
    /// # Errors
    /// 29 if the file cannot be opened; the old one stays in use.
    pub async fn reopen_error_log(&mut self) -> Result<()> {
        let Some(log) = self.worker.shared.config.error_log.clone() else { return Ok(()) };
        let outcome = std::sync::Arc::new(std::sync::Mutex::new(Ok(())));
        let answer = std::sync::Arc::clone(&outcome);
        let path = log.path.clone();
        let reopened = self.worker.shared.logs.call(move || *answer.lock().expect("nobody panics with it") = (log.reopen)());
        reopened.await.ok_or(Error::ShuttingDown)?;
        let outcome = std::mem::replace(&mut *outcome.lock().expect("nobody panics with it"), Ok(()));
        outcome.map_err(|error| cannot_open(&CannotOpen { log: Log::General, path, error }))
    }

    /// FLUSH LOGS
    pub async fn reopen_logs(&mut self, logs: &[Log]) -> Result<()> {
        match self.worker.shared.logs.reopen(logs).await {
            Some(Ok(())) => Ok(()),
            Some(Err(refused)) => Err(cannot_open(&refused)),
            None => Err(Error::ShuttingDown),
        }
    }
}

fn cannot_open(refused: &CannotOpen) -> Error {
    let (errno, why) = (refused.error.raw_os_error().unwrap_or(0), super::outfile::reason(&refused.error));
    Error::from(Condition::FileMissing { path: refused.path.display().into(), errno: errno.into(), why: why.into() })
}
