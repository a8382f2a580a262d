//! Prepared statements of the binary protocol: prepare, execute, long data, cursors.
//!
//! A statement on rows keeps its plan and the schema version it was made for; when the schema changes it is planned again from its
//! text, at its next execution. BEGIN, COMMIT and ROLLBACK, which benchmarks prepare, are recognised once. Everything else is parsed
//! again at each execution.

use super::query::{PLAN_ATTEMPTS_MAX, deprecations};
use super::run::{Destination, Ran};
use super::settings::IDS;
use super::state::{Answer, State};
use super::{Client, Planned, Recipient, without_parameters};
use crate::counters::Command;
use crate::digests::{Phase, Statistics};
use crate::error::{Error, Result};
use crate::plan_cache::{PlanEntry, definition_of};
use crate::record::{After, Name};
use crate::text_log::with_values;
use conditions::Condition;
use exec::{KeptRecords, boxed};
use protocol::{OkPacket, Parameters, PrepareOk, RowFormat, Status, StmtExecute};
use sql::Parsed;
use sql::ast::{CreateTable, Statement};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;
use types::{Value, recycle};

/// The prepared statements of one session.
#[derive(Default)]
pub struct Statements {
    by_id: BTreeMap<u32, PreparedStatement>,
    last_id: u32,
    /// Reused for the values of each execution.
    values: Vec<Value<'static>>,
}

struct PreparedStatement {
    text: Rc<[u8]>,
    /// The variables that its hints set.
    hints: Vec<sql::HintedVariable>,
    /// It may read what the binary log has.
    mentions_gtids: bool,
    parameters: Parameters,
    work: Work,
    /// A long data packet was invalid; the next execution reports it.
    long_data_error: Option<protocol::Error>,
    /// Rows of an open cursor.
    cursor: Option<KeptRecords>,
    /// The statistics of its digest in the current database, and the settings key under which they were found.
    statistics: (Rc<Statistics>, u64),
}

/// How the statement is executed.
enum Work {
    Plan {
        entry: Rc<PlanEntry>,
        bind_key: u64,
        /// The next execution plans again: the plan was for one execution, or was made before values that matter were
        /// known.
        is_passing: bool,
    },
    Begin,
    Commit,
    Rollback,
    /// Parsed at each execution.
    Text,
}

/// The limit of a session's long data, in units of `max_allowed_packet`.
const LONG_DATA_PACKETS_MAX: usize = 4;

impl Statements {
    pub fn clear(&mut self) {
        self.by_id.clear();
    }

    /// COM_STMT_PREPARE
    pub async fn prepare(&mut self, state: &mut State<'_>, client: &mut Client, text: &[u8]) -> Result<()> {
        state.begin_statement();
        state.connection.more_results = false;
        state.clear_warnings();
        let limit = state.worker.shared.globals().get(IDS.max_prepared_stmt_count).as_u64();
        if self.by_id.len() as u64 >= limit {
            return Err(Condition::MaxPreparedStmtCountReached { limit: limit.into() }.into());
        }
        let decoded = match state.session.settings.client {
            Some(charset) => charset.decode_statement(text),
            None => text.into(),
        };
        let text = &*decoded;
        let analysed = analyse(state, text, |parsed| state.plan(parsed));
        if analysed.as_ref().is_err_and(|error| !matches!(error, Error::Sql(sql::Error::Syntax { .. }))) {
            // A statement that fails to prepare counts as a failed statement.
            let statistics = state.statistics_of(text);
            let after = state.record(&statistics, text, true, Name::PREPARE);
            if after.is_kept {
                state.keep_execution(&statistics, text, analysed.as_ref().err());
            }
            if after.is_logged {
                state.log_slow(text, analysed.as_ref().err(), 0);
            }
        }
        let Analysed { work, params: parameters, deprecated } = analysed?;
        state.warn_all(&deprecated);
        if state.session.watched.logs() {
            state.log_prepared("Prepare", text, &[]);
        }
        self.last_id = self.last_id.wrapping_add(1).max(1);
        let statement_id = self.last_id;
        let no_columns = [];
        let columns = match &work {
            Work::Plan { entry, .. } if entry.into.is_none() => entry.prepared.columns(),
            _ => &no_columns,
        };
        let definitions: Vec<_> = columns.iter().map(|column| definition_of(column, state.session.settings.results)).collect();
        PrepareOk {
            statement_id,
            columns: definitions.len() as u16,
            parameters: parameters as u16,
            warnings: state.warning_count(),
        }
        .write(&mut client.output.writer, state.connection.capabilities, &definitions, state.status());
        let statement = PreparedStatement {
            statistics: (state.statistics_of(text), state.session.settings.bind_key),
            text: text.into(),
            mentions_gtids: crate::binary_log::mentions_gtids(text),
            hints: sql::hints(text.trim_ascii_start()),
            parameters: Parameters::new(parameters),
            work,
            long_data_error: None,
            cursor: None,
        };
        self.by_id.insert(statement_id, statement);
        state.info.prepared.set(state.info.prepared.get() + 1);
        Ok(())
    }

    fn find(&mut self, id: u32, given_to: &'static str) -> Result<&mut PreparedStatement> {
        self.by_id.get_mut(&id).ok_or_else(|| {
            Error::from(Condition::UnknownStmtHandler { handler: id.to_string().into(), given_to: given_to.into() })
        })
    }

    /// COM_STMT_EXECUTE
    pub async fn execute(&mut self, state: &mut State<'_>, client: &mut Recipient<'_>, execute: &StmtExecute<'_>) -> Result<()> {
        state.begin_statement();
        state.connection.more_results = false;
        let values = std::mem::take(&mut self.values);
        let statement = self.find(execute.statement_id, "mysqld_stmt_execute")?;
        state.info.set_statement(&statement.text);
        if let Some(error) = statement.long_data_error.take() {
            return Err(Error::Protocol(error));
        }
        statement.cursor = None;
        let log = if statement.mentions_gtids { state.worker.shared.binlog.clone() } else { None };
        if let Some(log) = log {
            Box::pin(state.catch_up(&log)).await?;
        }
        let replaced = if statement.hints.is_empty() { None } else { Some(state.take_hints(&statement.hints)) };
        if state.session.watched.general_log() {
            statement.log_execution(state, execute);
        }
        let outcome = statement.run(state, client, execute, values).await;
        if let Some(replaced) = replaced {
            state.put_back(replaced);
        }
        let after = statement.record(state, outcome.is_err());
        if after.is_any() {
            statement.end_noted(state, client, execute, after, outcome.as_ref().err());
        }
        statement.parameters.forget_long_data();
        self.values = outcome?;
        Ok(())
    }

    /// COM_STMT_SEND_LONG_DATA has no answer. A value may have `max_allowed_packet` bytes, all values of the session
    /// together [`LONG_DATA_PACKETS_MAX`] times as many.
    pub fn send_long_data(&mut self, state: &State<'_>, id: u32, parameter: u16, data: &[u8]) {
        let limit = state.session.settings.packet_bytes_max;
        let kept: usize = self.by_id.values().map(|statement| statement.parameters.long_data_bytes()).sum();
        let Some(statement) = self.by_id.get_mut(&id).filter(|statement| statement.long_data_error.is_none()) else { return };
        // The packet itself was well-formed, so the connection continues.
        let too_large = |what| protocol::Error::ParameterRange { parameter: parameter.into(), what };
        let appended = match limit.saturating_mul(LONG_DATA_PACKETS_MAX).checked_sub(kept) {
            Some(room) if data.len() <= room => statement.parameters.append_long_data(parameter, data, limit),
            _ => Err(too_large("long data of all statements of the session")),
        };
        if let Err(error) = appended {
            // The next execution reports the error and does not need the data.
            statement.parameters.forget_long_data();
            statement.long_data_error = Some(match error {
                protocol::Error::TooLarge { .. } => too_large("long data"),
                other => other,
            });
        }
    }

    /// COM_STMT_CLOSE has no answer.
    pub fn close(&mut self, state: &State<'_>, id: u32) {
        if self.by_id.remove(&id).is_some() {
            state.info.prepared.set(state.info.prepared.get() - 1);
        }
    }

    /// COM_STMT_RESET
    pub fn reset(&mut self, state: &mut State<'_>, client: &mut Client, id: u32) -> Result<()> {
        let statement = self.find(id, "mysqld_stmt_reset")?;
        statement.parameters.forget_long_data();
        statement.long_data_error = None;
        statement.cursor = None;
        state.write_ok(&mut Recipient::Client(client), &Answer::default());
        Ok(())
    }

    /// COM_STMT_FETCH
    pub async fn fetch(&mut self, state: &mut State<'_>, client: &mut Client, id: u32, count: u32) -> Result<()> {
        let statement = self.find(id, "mysqld_stmt_fetch")?;
        let Some(rows) = &mut statement.cursor else {
            return Err(Condition::StmtHasNoOpenCursor { statement_id: id.into() }.into());
        };
        let mut left = count;
        while left > 0 && rows.next().await? {
            if os::mutated("lost-fetch") && left == 1 && count > 1 {
                break;
            }
            client.output.writer.packet(|out| out.extend_from_slice(rows.record()));
            left -= 1;
            if client.output.is_full() {
                let sent = client.output.flush(&client.socket, &*state.info).await;
                sent.map_err(|_| Error::Exec(expr::Error::ClientGone))?;
            }
        }
        let is_last = rows.left() == 0;
        if is_last {
            statement.cursor = None;
        }
        let more = if is_last { Status::LAST_ROW_SENT } else { Status::CURSOR_EXISTS };
        let ok = OkPacket { status: state.status().with(more), ..OkPacket::default() };
        protocol::put_rows_end(&mut client.output.writer, state.connection.capabilities, &ok);
        Ok(())
    }
}

impl PreparedStatement {
    #[inline]
    fn record(&mut self, state: &mut State<'_>, failed: bool) -> After {
        if self.statistics.1 != state.session.settings.bind_key {
            self.statistics = (state.statistics_of(&self.text), state.session.settings.bind_key);
        }
        state.record(&self.statistics.0, &self.text, failed, Name::EXECUTE)
    }

    #[cold]
    fn log_execution(&mut self, state: &State<'_>, execute: &StmtExecute<'_>) {
        let mut values = Vec::new();
        // Invalid values are reported by the execution.
        let _ = read_values(&mut self.parameters, state, execute, &mut values);
        state.log_prepared("Execute", &self.text, &values);
    }

    #[cold]
    fn end_noted(
        &mut self,
        state: &mut State<'_>,
        client: &mut Recipient<'_>,
        execute: &StmtExecute<'_>,
        after: After,
        error: Option<&Error>,
    ) {
        let mut values = Vec::new();
        let _ = read_values(&mut self.parameters, state, execute, &mut values);
        let text = with_values(&self.text, &values, &state.session.settings.mode);
        if after.is_kept {
            state.keep_execution(&self.statistics.0, &text, error);
        }
        if after.is_logged {
            let sent = client.client().map_or(0, |client| client.output.uncounted());
            state.log_slow(&text, error, sent);
        }
    }

    async fn run(
        &mut self,
        state: &mut State<'_>,
        client: &mut Recipient<'_>,
        execute: &StmtExecute<'_>,
        values: Vec<Value<'static>>,
    ) -> Result<Vec<Value<'static>>> {
        match &self.work {
            Work::Plan { .. } => self.run_plan(state, client, execute, values).await,
            Work::Begin => {
                state.clear_warnings();
                state.info.counters.note(Command::Begin);
                state.begin_transaction(client, None, false).await?;
                Ok(values)
            }
            Work::Commit => {
                state.clear_warnings();
                state.info.counters.note(Command::Commit);
                state.commit(client).await?;
                Ok(values)
            }
            Work::Rollback => {
                state.clear_warnings();
                state.info.counters.note(Command::Rollback);
                state.roll_back(client).await?;
                Ok(values)
            }
            Work::Text => {
                let text = Rc::clone(&self.text);
                let arena = state.worker.arena();
                let parsed = sql::parse(&arena, &text, &state.session.settings.mode)?;
                if let Statement::Call(call) = &parsed.statement {
                    let mut bound = recycle(values);
                    read_values(&mut self.parameters, state, execute, &mut bound)?;
                    state.clear_warnings();
                    state.info.counters.note(Command::CallProcedure);
                    let given = crate::routine::Given { values: &bound, names: &[] };
                    boxed(|| crate::routine::call(state, client, call, given, RowFormat::Binary)).await?;
                    return Ok(recycle(bound));
                }
                state.note_definition(&parsed.statement, &text);
                if self.parameters.count() > 0 {
                    let mut bound = recycle(values);
                    read_values(&mut self.parameters, state, execute, &mut bound)?;
                    boxed(|| state.run_other(client, &parsed.statement, &bound, RowFormat::Binary)).await?;
                    return Ok(recycle(bound));
                }
                state.run_statement(client, &parsed.statement, RowFormat::Binary).await?;
                Ok(values)
            }
        }
    }

    async fn run_plan(
        &mut self,
        state: &mut State<'_>,
        client: &mut Recipient<'_>,
        execute: &StmtExecute<'_>,
        values: Vec<Value<'static>>,
    ) -> Result<Vec<Value<'static>>> {
        let wants_cursor = execute.wants_cursor();
        let mut attempts = 0;
        state.clear_warnings();
        let bound = {
            let mut bound = recycle(values);
            read_values(&mut self.parameters, state, execute, &mut bound)?;
            bound
        };
        state.end_phase(Phase::Decode);
        if !self.work.serves(state, &bound) {
            if !matches!(self.work, Work::Plan { is_passing: true, .. }) {
                state.info.counters.note(Command::StmtReprepare);
            }
            self.work = self.work.again(state, &self.text, &bound)?;
            state.end_phase(Phase::Plan);
        }
        loop {
            let Work::Plan { entry, .. } = &self.work else {
                return Err(Error::Internal("a prepared statement lost its plan".to_owned()));
            };
            let entry = Rc::clone(entry);
            // Only for a cursor: the memory for kept rows is shared.
            let mut rows = (wants_cursor && entry.is_query()).then(|| state.keep_rows());
            let mut to = match &mut rows {
                Some(rows) => Destination::Cursor(rows),
                None => Destination::Client(RowFormat::Binary),
            };
            match state.run_plan(client, &entry, &bound, &mut to).await? {
                Ran::Done => {
                    let values = recycle(bound);
                    if rows.is_some() {
                        self.cursor = rows;
                    }
                    return Ok(values);
                }
                Ran::Stale if attempts < PLAN_ATTEMPTS_MAX => {
                    attempts += 1;
                    state.info.counters.note(Command::StmtReprepare);
                    self.work = self.work.again(state, &self.text, &bound)?;
                    state.end_phase(Phase::Plan);
                }
                Ran::Stale => return Err(Error::Exec(expr::Error::TableChanged { table: String::new() })),
            }
        }
    }
}

impl Work {
    /// Is the plan for this schema, these settings and parameters of these types, and is it not for one execution only?
    fn serves(&self, state: &State<'_>, values: &[Value<'_>]) -> bool {
        let Work::Plan { entry, bind_key, is_passing } = self else { return true };
        let version = state.worker.shared.database.schema_version();
        let is_current = entry.schema_version == version || os::mutated("stale-plan");
        let holds = is_current && *bind_key == state.session.settings.bind_key && !is_passing;
        holds && entry.params.serve(values)
    }

    /// Plans the statement again for these values.
    #[cold]
    fn again(&self, state: &State<'_>, text: &[u8], values: &[Value<'_>]) -> Result<Work> {
        let Analysed { work, params: parameters, .. } = analyse(state, text, |parsed| match self {
            Work::Plan { entry, is_passing: false, .. } => state.plan_anew(parsed, values, entry),
            _ => state.plan_given(parsed, values),
        })?;
        if parameters != values.len() {
            return Err(Error::Internal("a prepared statement changed its parameters".to_owned()));
        }
        Ok(work)
    }
}

/// Decodes the values of one execution.
fn read_values<'v>(
    parameters: &'v mut Parameters,
    state: &State<'_>,
    execute: &StmtExecute<'v>,
    out: &mut Vec<Value<'v>>,
) -> Result<()> {
    let client = state.session.settings.client;
    let values = parameters.bind(execute, state.connection.capabilities)?;
    let types = values.types();
    for (position, value) in values.enumerate() {
        let value = value?;
        let is_binary = || types.get(position).is_some_and(|ty| ty.is_binary());
        out.push(match (client, value) {
            (Some(charset), Value::Bytes(text)) if !is_binary() => match charset.decode_lossy(&text) {
                Cow::Borrowed(_) => Value::Bytes(text),
                Cow::Owned(decoded) => Value::Bytes(decoded.into()),
            },
            (_, value) => value,
        });
    }
    Ok(())
}

/// A parsed statement that is ready to be prepared.
struct Analysed {
    work: Work,
    /// The number of parameters.
    params: usize,
    /// The warnings about deprecated forms in its text.
    deprecated: Box<[Condition]>,
}

/// Parses a statement, and plans it with `plan` if it is about rows.
fn analyse(state: &State<'_>, text: &[u8], plan: impl FnOnce(&Parsed<'_>) -> Result<Planned>) -> Result<Analysed> {
    let arena = state.worker.arena();
    let parsed = sql::parse(&arena, text, &state.session.settings.mode)?;
    let rest = &text[parsed.end..];
    if !sql::is_blank(rest, &state.session.settings.mode) {
        let near = String::from_utf8_lossy(rest).trim().chars().take(80).collect();
        return Err(Error::Sql(sql::Error::Syntax { near, line: 1 }));
    }
    let plain_end = sql::ast::TransactionEnd::default();
    let work = match &parsed.statement {
        statement if statement.info().plannable && !(parsed.params == 0 && state.inserts_into_system_table(statement)) => {
            let planned = plan(&parsed)?;
            let is_passing = planned.is_volatile() || planned.is_blind;
            Work::Plan { entry: planned.entry, bind_key: state.session.settings.bind_key, is_passing }
        }
        Statement::Begin { consistent_snapshot: false, read_only: None } => Work::Begin,
        Statement::Commit(end) if *end == plain_end => Work::Commit,
        Statement::Rollback(end) if *end == plain_end => Work::Rollback,
        Statement::Empty => return Err(Condition::EmptyQuery.into()),
        Statement::Unsupported { what } => return Err(Error::NotSupported((*what).to_owned())),
        _ => {
            check_other(state, &parsed)?;
            Work::Text
        }
    };
    Ok(Analysed { work, params: parsed.params as usize, deprecated: deprecations(&parsed) })
}

/// Checks a statement that is not about rows of tables when it is prepared: its kind, its parameters and, as far as MySQL does, its tables.
pub fn check_other(state: &State, parsed: &Parsed<'_>) -> Result<()> {
    match &parsed.statement {
        statement if !is_preparable(statement) => Err(Condition::UnsupportedPs.into()),
        Statement::Call(call) => crate::routine::check_call(state, call, parsed.params),
        Statement::CreateView(view) => Ok(sql::check_view(view)?),
        Statement::CreateTable(CreateTable { query: Some(query), .. }) => {
            state.check_statement(&parsed.statement)?;
            let query = Parsed { params: parsed.params, ..without_parameters(Statement::Query(query)) };
            state.plan(&query).map(drop)
        }
        // SHOW with parameters is refused when it runs.
        Statement::Set(_) | Statement::Do(_) | Statement::Explain { .. } | Statement::Show(_) => Ok(()),
        _ if parsed.params > 0 => Err(Error::NotSupported("parameters in this kind of statement".to_owned())),
        _ => Ok(()),
    }
}

fn is_preparable(statement: &Statement<'_>) -> bool {
    !matches!(
        statement,
        Statement::LoadData(_)
            | Statement::Prepare { .. }
            | Statement::Execute { .. }
            | Statement::Deallocate { .. }
            | Statement::LockTables(_)
            | Statement::UnlockTables
            | Statement::Use(_)
            | Statement::Shutdown
            | Statement::Replica(_)
            | Statement::BackupServer(_)
            | Statement::CloneLocal { .. }
            | Statement::Advice(_)
            | Statement::Xa(_)
            | Statement::Condition(_)
            | Statement::CreateRoutine(_)
            | Statement::AlterRoutine { .. }
            | Statement::DropRoutine { .. }
            | Statement::CreateTrigger(_)
            | Statement::DropTrigger { .. }
            | Statement::Help(_)
    )
}
