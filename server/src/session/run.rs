//! Runs plans for a client: metadata locks, transaction, rows out, commit.
//!
//! 1. The metadata locks of the plan's tables are taken and its schema version is checked; a stale plan is handed back.
//! 2. A transaction is found or begun.
//! 3. `exec` runs the plan; rows go straight into the output buffer.
//! 4. Outside of a transaction the statement commits, and the answer is written when the commit is durable.
//!
//! A failed statement is undone; after a deadlock the whole transaction is.

use super::context::without_parameters;
use super::cursor_sink::CursorSink;
use super::host::ServerHost;
use super::infile::{InFile, has_exotic_separators};
use super::info::SessionInfo;
use super::outfile::FileTarget;
use super::programs;
use super::query::PLAN_ATTEMPTS_MAX;
use super::state::{Answer, Execution, State};
use super::transaction::Hold;
use super::{Client, Recipient};
use crate::causes::Causes;
use crate::counters::count;
use crate::digests::{Phase, ROWS_PER_TIMED};
use crate::error::{Error, Result};
use crate::plan_cache::{PlanEntry, ResultTarget, definition_of};
use crate::show::{Gathered, ResultSet};
use conditions::Condition;
use exec::load::ByteSource;
use exec::{DmlDone, ExecContext, KeptRecords, KeptRows, NullSink, Prepared, QueryDone, RowSink, Strictness, boxed};
use expr::{Level, UserVariable, kill};
use protocol::{Capabilities, EncodedHead, OkPacket, RowEncoder, RowFormat, Status};
use sql::ast::{LoadData, Statement};
use sql::plan::OutputColumn;
use sql::routine::Place;
use std::future::Future;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};
use table::ddl::{Progress, Work};
use txn::Savepoint;
use types::charset::Charset;
use types::{CollationId, ColumnType, Value};

/// Whether a plan ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    Done,
    /// The schema changed: plan again.
    Stale,
}

/// The destination of a query's rows.
pub enum Destination<'a> {
    Client(RowFormat),
    /// Rows are kept for COM_STMT_FETCH.
    Cursor(&'a mut KeptRecords),
    /// Rows are kept for a cursor of a stored program.
    Rows(&'a mut KeptRows),
}

/// The source or target of a plan's rows beside its tables.
enum Beside<'t, 'a> {
    /// The target of a query's rows.
    To(&'t mut Destination<'a>),
    /// The source of LOAD DATA's rows.
    From(&'t InFile),
}

impl State<'_> {
    /// Runs a plan and writes its answer. After an error the buffer has no part of an answer, unless rows have been
    /// sent already.
    pub fn run_plan(
        &mut self,
        client: &mut Recipient<'_>,
        plan: &Rc<PlanEntry>,
        params: &[Value<'_>],
        to: &mut Destination<'_>,
    ) -> impl Future<Output = Result<Ran>> {
        self.run_beside(client, plan, params, Beside::To(to))
    }

    async fn run_beside(
        &mut self,
        client: &mut Recipient<'_>,
        plan: &Rc<PlanEntry>,
        params: &[Value<'_>],
        beside: Beside<'_, '_>,
    ) -> Result<Ran> {
        let worker = Rc::clone(&self.worker);
        plan.needs.check(&self.session.access, &*self.worker)?;
        self.session.measured.ways = plan.ways;
        self.check_join_rows(plan)?;
        if let Some(seat) = self.connection.seat.as_ref().filter(|seat| seat.counts()) {
            seat.count(plan.writes)?;
        }
        let lasting = self.is_in_transaction();
        if plan.wants_write {
            self.refuse_protected()?;
            self.refuse_spent_gtid()?;
            if self.execution.transaction.next_is_read_only(&self.session.settings) {
                return Err(Condition::CantExecuteInReadOnlyTransaction.into());
            }
        }
        let inside = self.is_inside();
        if inside {
            self.check_changed(plan)?;
        }
        self.check_locked(plan)?;
        let hold = self.execution.transaction.hold(&worker, &self.info, plan, &self.session.settings).await;
        if hold? == Hold::Stale {
            return Ok(Ran::Stale);
        }
        if let Some(command) = plan.command {
            self.info.counters.note(command);
            self.info.counters.note_ways(plan.ways);
        }
        let gathered = if plan.reads.gathered {
            Some(Box::pin(Gathered::collect(self, plan.reads)).await.seen_by(&self.session.access))
        } else {
            None
        };
        let was_open = self.execution.transaction.is_open();
        self.session.measured.is_transaction = !lasting && !plan.prepared.tables().is_empty();
        self.execution.vars.in_transaction = lasting;
        let txn = self.execution.transaction.ensure(&worker, &self.session.settings, lasting);
        if !inside {
            txn.begin_statement(&worker.engine);
        }
        // A query may call functions that write.
        let mark = self.execution.transaction.mark();
        let outcome = match beside {
            Beside::To(to) if plan.is_query() => self.run_query(client, plan, params, to, gathered.as_ref(), lasting).await,
            Beside::To(_) => self.run_change(client, plan, params, gathered.as_ref(), lasting).await,
            // Boxed: rare, and it would make every session larger.
            Beside::From(file) => boxed(|| self.run_load(client, plan, file, gathered.as_ref(), lasting)).await,
        };
        if let Some(txn) = self.execution.transaction.txn() {
            txn.end_statement(&worker.engine);
        }
        self.execution.transaction.mistake_early_release(&worker);
        if lasting {
            self.note_transaction();
        }
        // The statements of a program belong to no digest.
        if !inside && self.execution.frame.is_none() {
            self.count_plan(plan);
        }
        match outcome {
            Ok(()) => {
                // A statement without tables does not begin a transaction.
                if lasting && plan.prepared.tables().is_empty() {
                    if !was_open {
                        self.forget_unused().await;
                    }
                } else if lasting {
                    // MySQL counts the end of each statement in a transaction as well.
                    count(&self.info.counters.events.commits);
                }
                Ok(Ran::Done)
            }
            Err(error) => {
                self.session.measured.deadlocked |= error.ends_transaction();
                if inside && error.ends_transaction() {
                    // The outer statement does it.
                    return Err(error);
                }
                if error.ends_transaction() || !lasting {
                    self.execution.transaction.rollback(&worker).await;
                } else if !os::mutated("half-statement") {
                    count(&self.info.counters.events.rollbacks);
                    self.execution.transaction.undo_to(&worker, mark).await?;
                }
                if lasting {
                    self.note_transaction();
                }
                Err(error)
            }
        }
    }

    /// Counts an execution of the plan, and notes the plan for the digest: at its second execution, and where the
    /// execution may be one of the slowest.
    #[inline]
    fn count_plan(&mut self, plan: &Rc<PlanEntry>) {
        let (measured, counts) = (&self.session.measured, &plan.counts);
        let ran = measured.phase_began.saturating_sub(measured.began);
        let count = counts.count.get() + 1;
        counts.count.set(count);
        counts.ran.set(counts.ran.get() + ran);
        if count == 2 || ran + self.info.clock.off_so_far() > counts.keep_above.get() {
            self.session.noted_plan = Some(Rc::clone(plan));
        }
    }

    /// 1104 where the plan reads more than `max_join_size` allows.
    #[inline]
    fn check_join_rows(&self, plan: &PlanEntry) -> Result<()> {
        let most = self.session.settings.join_rows_max;
        if most.is_infinite() || plan.join_rows() <= most { Ok(()) } else { Err(too_big()) }
    }

    async fn run_query(
        &mut self,
        client: &mut Recipient<'_>,
        plan: &Rc<PlanEntry>,
        params: &[Value<'_>],
        to: &mut Destination<'_>,
        gathered: Option<&Gathered>,
        lasting: bool,
    ) -> Result<()> {
        match &plan.into {
            Some(ResultTarget::Variables(places)) => {
                return self.run_into_variables(client, places, plan, params, gathered, lasting).await;
            }
            Some(ResultTarget::File(target)) => return self.run_into_file(client, target, plan, params, gathered, lasting).await,
            None => {}
        }
        match to {
            Destination::Client(format) => {
                let Some(client) = client.client() else {
                    let done = execute_query(self, plan, params, gathered, &mut NullSink::default()).await?;
                    self.finish_query(&done, lasting).await?;
                    return Ok(());
                };
                let mut sink = ClientSink::new(self, client, plan, *format);
                if sink.is_advised {
                    sink.causes = self.session.causes.take();
                    if let Some(causes) = &mut sink.causes {
                        causes.ask(params);
                    }
                }
                let mark = (sink.client.output.writer.len(), sink.client.output.writer.sequence());
                let done = execute_query(self, plan, params, gathered, &mut sink).await;
                let (drained, encoded) = (sink.drained, sink.encoded);
                if sink.is_advised {
                    self.session.causes = sink.causes.take();
                }
                let done = match done {
                    Ok(done) => done,
                    Err(error) => {
                        sink.encoder.cancel(&mut sink.client.output.writer);
                        if !drained {
                            client.output.writer.truncate(mark.0, mark.1);
                        }
                        return Err(error);
                    }
                };
                self.session.measured.phases.shift(Phase::Execute, Phase::Encode, encoded);
                self.finish_query(&done, lasting).await?;
                self.write_rows_end(client, &done, Status::default());
            }
            Destination::Cursor(rows) => {
                let mut sink = CursorSink::new(plan.prepared.columns().len(), rows);
                let done = execute_query(self, plan, params, gathered, &mut sink).await?;
                self.finish_query(&done, lasting).await?;
                if let Some(client) = client.client() {
                    self.write_cursor_head(client, plan, &done);
                }
            }
            Destination::Rows(rows) => {
                let done = execute_query(self, plan, params, gathered, *rows).await?;
                self.finish_query(&done, lasting).await?;
            }
        }
        Ok(())
    }

    /// Ends the statement's own transaction, and sets the values that the next statement can query.
    async fn finish_query(&mut self, done: &QueryDone, lasting: bool) -> Result<()> {
        self.execution.vars.found_rows = done.found;
        self.execution.vars.row_count = -1;
        self.session.measured.sent += done.rows;
        if !lasting {
            self.commit_transaction().await?;
            self.end_phase(Phase::Commit);
        }
        Ok(())
    }

    fn write_rows_end(&mut self, client: &mut Client, done: &QueryDone, more: Status) {
        let ok = OkPacket {
            last_insert_id: done.last_insert_id,
            status: self.status().with(more),
            warnings: self.own_warning_count(),
            ..OkPacket::default()
        };
        protocol::put_rows_end(&mut client.output.writer, self.connection.capabilities, &ok);
    }

    fn write_cursor_head(&mut self, client: &mut Client, plan: &PlanEntry, done: &QueryDone) {
        let head = plan.head(self.connection.capabilities, self.session.settings.results);
        let status = self.status().with(Status::CURSOR_EXISTS);
        head.write(&mut client.output.writer, self.connection.capabilities, status);
        if self.connection.capabilities.has(Capabilities::DEPRECATE_EOF) {
            self.write_rows_end(client, done, Status::CURSOR_EXISTS);
        }
    }

    async fn run_change(
        &mut self,
        client: &mut Recipient<'_>,
        plan: &Rc<PlanEntry>,
        params: &[Value<'_>],
        gathered: Option<&Gathered>,
        lasting: bool,
    ) -> Result<()> {
        let done = execute_change(self, plan, params, gathered).await?;
        self.finish_change(client, &done, lasting).await
    }

    async fn finish_change(&mut self, client: &mut Recipient<'_>, done: &DmlDone, lasting: bool) -> Result<()> {
        self.execution.vars.row_count = done.affected as i64;
        self.session.measured.affected += done.affected;
        if !lasting {
            self.commit_named().await?;
            self.end_phase(Phase::Commit);
        }
        // The statements of a program do not answer the client.
        let info = if self.execution.frame.is_none() { done.info.to_string() } else { String::new() };
        let answer = Answer { affected: done.affected, last_insert_id: done.last_insert_id, info: &info };
        self.write_ok(client, &answer);
        Ok(())
    }

    /// LOAD DATA: binds the statement, and runs it over its file.
    pub async fn load_data(&mut self, client: &mut Recipient<'_>, load: &LoadData<'_>) -> Result<()> {
        let file = self.in_file(load)?;
        for _ in 0..PLAN_ATTEMPTS_MAX {
            let planned = self.plan(&without_parameters(Statement::LoadData(load)))?;
            if has_exotic_separators(planned.entry.prepared.plan()) {
                self.warn(Level::Warning, Condition::WarnNonAsciiSeparator);
            }
            if self.run_beside(client, &planned.entry, &[], Beside::From(&file)).await? == Ran::Done {
                return Ok(());
            }
            self.clear_warnings();
        }
        Err(Error::Exec(expr::Error::TableChanged { table: String::new() }))
    }

    async fn run_load(
        &mut self,
        client: &mut Recipient<'_>,
        plan: &Rc<PlanEntry>,
        file: &InFile,
        gathered: Option<&Gathered>,
        lasting: bool,
    ) -> Result<()> {
        let progress = Arc::new(Progress::default());
        progress.begin(Work::Load, 0);
        *self.info.definition.borrow_mut() = Some(Arc::clone(&progress));
        let done = self.load_from(client, plan, file, gathered, &progress).await;
        self.info.definition.take();
        self.finish_change(client, &done?, lasting).await?;
        Ok(())
    }

    async fn load_from(
        &mut self,
        client: &mut Recipient<'_>,
        plan: &Rc<PlanEntry>,
        file: &InFile,
        gathered: Option<&Gathered>,
        progress: &Arc<Progress>,
    ) -> Result<DmlDone> {
        if file.local {
            let Some(client) = client.client() else { return Err(Error::Exec(expr::Error::ClientGone)) };
            let mut source = file.ask(client, self, progress);
            let done = execute_load(self, plan, gathered, &mut source, file.charset).await;
            source.finish().await?;
            done
        } else {
            let config = &self.worker.shared.config;
            let database = self.execution.vars.database.as_deref();
            let mut source = file.open(config.secure_file_priv.as_deref(), &config.data_dir, database, progress)?;
            execute_load(self, plan, gathered, &mut source, file.charset).await
        }
    }

    /// SELECT ... INTO @a, @b
    async fn run_into_variables(
        &mut self,
        client: &mut Recipient<'_>,
        places: &[Place],
        plan: &Rc<PlanEntry>,
        params: &[Value<'_>],
        gathered: Option<&Gathered>,
        lasting: bool,
    ) -> Result<()> {
        if places.len() != plan.prepared.columns().len() {
            return Err(Error::Sql(sql::Error::SetColumns));
        }
        let columns = plan.prepared.columns();
        let is_for_program = places.iter().any(|place| matches!(place, Place::Local(_)));
        let kept =
            if is_for_program { self.execution.frame.as_mut().map(|frame| std::mem::take(&mut frame.fetched)) } else { None };
        let mut values = kept.unwrap_or_default();
        values.reserve_exact(places.len());
        let mut sink = FirstRow { places, values, rows: 0, is_open: false };
        let done = match execute_query(self, plan, params, gathered, &mut sink).await {
            Ok(done) => done,
            Err(error) => {
                if let (true, Some(frame)) = (is_for_program && sink.is_open, &mut self.execution.frame) {
                    frame.fetched = sink.until_failure();
                }
                return Err(error);
            }
        };
        match (is_for_program, &mut self.execution.frame) {
            (true, Some(frame)) => frame.fetched = sink.values,
            (true, None) => return Err(Error::Internal("a variable without its program".to_owned())),
            (false, _) => {
                for ((place, value), column) in places.iter().zip(sink.values).zip(columns) {
                    if let Place::User(name) = place {
                        self.execution.vars.set_user_variable(name, UserVariable::new(value, column.ty.clone()))?;
                    }
                }
            }
        }
        if done.rows > 1 {
            return Err(Error::from(Condition::TooManyRows));
        }
        self.finish_query(&done, lasting).await?;
        self.execution.vars.row_count = done.rows as i64;
        if done.rows == 0 {
            self.warn(Level::Warning, Condition::SpFetchNoData);
        }
        self.write_ok(client, &Answer { affected: done.rows, ..Answer::default() });
        Ok(())
    }

    /// SELECT ... INTO OUTFILE, INTO DUMPFILE
    async fn run_into_file(
        &mut self,
        client: &mut Recipient<'_>,
        target: &FileTarget,
        plan: &Rc<PlanEntry>,
        params: &[Value<'_>],
        gathered: Option<&Gathered>,
        lasting: bool,
    ) -> Result<()> {
        let config = &self.worker.shared.config;
        let database = self.execution.vars.database.as_deref();
        let columns = plan.prepared.columns();
        let mut sink = target.open(config.secure_file_priv.as_deref(), &config.data_dir, database, columns)?;
        std::future::poll_fn(|cx| sink.poll_opened(cx)).await?;
        let done = execute_query(self, plan, params, gathered, &mut sink).await?;
        std::future::poll_fn(|cx| sink.poll_finished(cx)).await?;
        self.finish_query(&done, lasting).await?;
        self.execution.vars.row_count = done.rows as i64;
        self.write_ok(client, &Answer { affected: done.rows, ..Answer::default() });
        Ok(())
    }

    /// Do changes of a statement wait for a COMMIT?
    pub fn is_in_transaction(&self) -> bool {
        self.execution.transaction.is_explicit() || !self.session.settings.autocommit || self.is_inside()
    }

    /// Runs a data change without an answer: the rows of CREATE TABLE ... SELECT. `lasting`: in the session's
    /// transaction, else in its own.
    pub async fn run_alone(&mut self, plan: &Rc<PlanEntry>, given: &[Value<'_>], lasting: bool) -> Result<DmlDone> {
        let worker = Rc::clone(&self.worker);
        let gathered = self.begin_inner(plan, lasting).await?;
        let mark = self.execution.transaction.mark();
        let values = self.lend_locals();
        let found_rows = self.execution.vars.found_rows;
        let values_of_plan = if given.is_empty() { values.as_deref().unwrap_or_default() } else { given };
        let done = execute_change(self, plan, values_of_plan, gathered.as_ref()).await;
        self.execution.vars.found_rows = found_rows;
        self.return_locals(values);
        if let (true, Some(txn)) = (lasting, self.execution.transaction.txn()) {
            txn.end_statement(&worker.engine);
        }
        match done {
            Ok(done) if lasting => Ok(done),
            Ok(done) => {
                self.commit_transaction().await?;
                Ok(done)
            }
            Err(error) if lasting && !error.ends_transaction() => {
                self.execution.transaction.undo_to(&worker, mark).await?;
                Err(error)
            }
            Err(error) => {
                self.execution.transaction.rollback(&worker).await;
                Err(error)
            }
        }
    }

    /// Makes a plan and runs it with `attempt`. Repeats this if a definition of its tables was published in between;
    /// nothing has run then.
    pub async fn until_current<T>(&mut self, mut attempt: impl AsyncFnMut(&mut Self) -> Result<T>) -> Result<T> {
        for _ in 1..PLAN_ATTEMPTS_MAX {
            match attempt(self).await {
                Err(Error::Exec(expr::Error::TableChanged { .. })) => {}
                outcome => return outcome,
            }
        }
        attempt(self).await
    }

    /// Prepares the session for a plan that is not a client's statement: takes the metadata locks of its tables and
    /// begins a transaction.
    async fn begin_inner(&mut self, plan: &Rc<PlanEntry>, lasting: bool) -> Result<Option<Gathered>> {
        plan.needs.check(&self.session.access, &*self.worker)?;
        self.check_join_rows(plan)?;
        self.check_locked(plan)?;
        let worker = Rc::clone(&self.worker);
        if self.execution.transaction.hold(&worker, &self.info, plan, &self.session.settings).await? == Hold::Stale {
            return Err(Error::Exec(expr::Error::TableChanged { table: String::new() }));
        }
        let inside = self.is_inside();
        let txn = self.execution.transaction.ensure(&worker, &self.session.settings, lasting);
        if !inside {
            txn.begin_statement(&worker.engine);
        }
        Ok(if plan.reads.gathered {
            Some(Box::pin(Gathered::collect(self, plan.reads)).await.seen_by(&self.session.access))
        } else {
            None
        })
    }

    /// The variables of the enclosing stored program, as the parameters of a plan of the server's own.
    fn lend_locals(&mut self) -> Option<Vec<Value<'static>>> {
        self.execution.frame.as_mut().map(|frame| frame.take_values())
    }

    fn return_locals(&mut self, values: Option<Vec<Value<'static>>>) {
        if let (Some(frame), Some(values)) = (&mut self.execution.frame, values) {
            frame.put_values(values);
        }
    }

    /// Ends what [`Self::begin_inner`] began for a query. Functions that the query calls may have changed rows; these
    /// changes are kept or undone with the query.
    async fn end_inner<T>(&mut self, was_open: bool, mark: Option<Savepoint>, outcome: Result<T>) -> Result<T> {
        let worker = Rc::clone(&self.worker);
        let lasting = self.is_in_transaction();
        if let Some(txn) = self.execution.transaction.txn() {
            txn.end_statement(&worker.engine);
        }
        match &outcome {
            Ok(_) if was_open => {}
            Ok(_) if lasting => self.forget_unused().await,
            Ok(_) => self.commit_transaction().await?,
            // The outer statement does it.
            Err(error) if self.is_inside() && error.ends_transaction() => {}
            Err(error) if error.ends_transaction() || !lasting && !was_open => self.execution.transaction.rollback(&worker).await,
            Err(_) => self.execution.transaction.undo_to(&worker, mark).await?,
        }
        outcome
    }

    /// Ends a transaction that a statement has begun, if neither the statement nor its functions used it.
    async fn forget_unused(&mut self) {
        if !self.execution.transaction.is_explicit() && !self.execution.transaction.is_used() {
            let worker = Rc::clone(&self.worker);
            self.execution.transaction.rollback(&worker).await;
        }
    }

    /// Writes a result set that the server made itself.
    pub async fn write_result(&mut self, client: &mut Recipient<'_>, result: &ResultSet, format: RowFormat) -> Result<()> {
        let rows = result.rows.len() as u64;
        let done = QueryDone { rows, found: rows, last_insert_id: 0 };
        self.end_phase(Phase::Execute);
        if let Some(client) = client.client() {
            self.write_rows(client, result, format).await?;
        }
        self.execution.vars.found_rows = done.found;
        self.execution.vars.row_count = -1;
        self.session.measured.sent += done.rows;
        if let Some(client) = client.client() {
            self.write_rows_end(client, &done, Status::default());
        }
        Ok(())
    }

    /// The columns of a result set whose rows follow.
    pub fn write_head(&self, client: &mut Client, result: &ResultSet) {
        let results = self.session.settings.results;
        let definitions: Vec<_> = result.columns.iter().map(|column| definition_of(column, results)).collect();
        protocol::put_result_head(&mut client.output.writer, self.connection.capabilities, &definitions, self.status());
    }

    /// The end of a result set that was written row by row.
    pub fn end_rows(&mut self, client: &mut Client, rows: u64) {
        let done = QueryDone { rows, found: rows, last_insert_id: 0 };
        self.execution.vars.found_rows = done.found;
        self.execution.vars.row_count = -1;
        self.session.measured.sent += done.rows;
        self.write_rows_end(client, &done, Status::default());
    }

    async fn write_rows(&mut self, client: &mut Client, result: &ResultSet, format: RowFormat) -> Result<()> {
        self.write_head(client, result);
        let mut encoder = RowEncoder::new(format, result.columns.len());
        for row in &result.rows {
            encoder.begin(&mut client.output.writer);
            for (value, column) in row.iter().zip(&result.columns) {
                encoder.value(&mut client.output.writer, value, &column.ty);
            }
            encoder.end(&mut client.output.writer);
            if client.output.is_full() {
                let sent = client.output.flush(&client.socket, &*self.info).await;
                sent.map_err(|_| Error::Exec(expr::Error::ClientGone))?;
            }
        }
        Ok(())
    }

    /// Runs a plan, drops the rows, and returns the measurements of its operators: EXPLAIN ANALYZE.
    pub async fn measure(&mut self, plan: &Rc<PlanEntry>, given: &[Value<'_>]) -> Result<sql::explain::Measures> {
        let was_open = self.execution.transaction.is_open();
        let lasting = self.is_in_transaction();
        let gathered = self.begin_inner(plan, lasting).await?;
        let mark = self.execution.transaction.mark();
        let run = async |context: &mut ExecContext<'_>, prepared: &Prepared| exec::measure(context, prepared).await;
        let values = if given.is_empty() { self.lend_locals() } else { None };
        let outcome = execute(self, plan, values.as_deref().unwrap_or(given), gathered.as_ref(), run).await;
        self.return_locals(values);
        self.end_inner(was_open, mark, outcome).await
    }

    /// The rows of a plan, with the parameters of a prepared statement or, without them, a program's variables.
    pub async fn collect(
        &mut self,
        plan: &Rc<PlanEntry>,
        params: &[Value<'_>],
        strictness: Strictness,
    ) -> Result<Vec<Vec<Value<'static>>>> {
        let was_open = self.execution.transaction.is_open();
        let lasting = self.is_in_transaction();
        let gathered = self.begin_inner(plan, lasting).await?;
        let mark = self.execution.transaction.mark();
        let row_count = self.execution.vars.row_count;
        let mut sink = AllRows { strictness, ..AllRows::default() };
        let values = if params.is_empty() { self.lend_locals() } else { None };
        let outcome = execute_query(self, plan, values.as_deref().unwrap_or(params), gathered.as_ref(), &mut sink).await;
        self.return_locals(values);
        // An expression does not change ROW_COUNT().
        self.execution.vars.row_count = row_count;
        self.end_inner(was_open, mark, outcome).await?;
        Ok(sink.rows)
    }
}

#[cold]
fn too_big() -> Error {
    Error::from(Condition::TooBigSelect)
}

async fn execute_query<S: RowSink>(
    state: &mut State<'_>,
    plan: &Rc<PlanEntry>,
    params: &[Value<'_>],
    gathered: Option<&Gathered>,
    sink: &mut S,
) -> Result<QueryDone> {
    let done =
        execute(state, plan, params, gathered, async |context, prepared| exec::run_query(context, prepared, sink).await).await;
    state.end_phase(Phase::Execute);
    done
}

async fn execute_change(
    state: &mut State<'_>,
    plan: &Rc<PlanEntry>,
    params: &[Value<'_>],
    gathered: Option<&Gathered>,
) -> Result<DmlDone> {
    let done = execute(state, plan, params, gathered, async |context, prepared| exec::run_dml(context, prepared).await).await;
    state.end_phase(Phase::Execute);
    done
}

async fn execute_load(
    state: &mut State<'_>,
    plan: &Rc<PlanEntry>,
    gathered: Option<&Gathered>,
    source: &mut dyn ByteSource,
    charset: Charset,
) -> Result<DmlDone> {
    let run = async |context: &mut ExecContext<'_>, prepared: &Prepared| exec::run_load(context, prepared, source, charset).await;
    let done = execute(state, plan, &[], gathered, run).await;
    state.end_phase(Phase::Execute);
    done
}

/// Lends the session to an execution of the plan, until that ends or is killed.
async fn execute<T>(
    state: &mut State<'_>,
    plan: &Rc<PlanEntry>,
    params: &[Value<'_>],
    gathered: Option<&Gathered>,
    run: impl AsyncFnOnce(&mut ExecContext<'_>, &Prepared) -> expr::Result<T>,
) -> Result<T> {
    if plan.prepared.calls_programs() {
        // Boxed: rare, and it would make every session larger.
        return boxed(|| programs::execute(state, plan, params, gathered, run)).await;
    }
    let State { worker, info, session, execution: Execution { vars, transaction, .. }, .. } = state;
    let access = &session.access;
    let schema = plan.reads.any.then(|| access.visible(&worker.schema()));
    let host = ServerHost { schema: schema.as_deref(), gathered, access: Some(access), ..ServerHost::new(worker) };
    let txn = transaction.txn().expect("the caller made sure of one");
    let mut context =
        ExecContext { worker: &worker.engine, txn, database: &worker.shared.database, session: vars, params, host: &host };
    Ok(until_killed(info, pin!(run(&mut context, &plan.prepared))).await?)
}

/// Drops the execution when the session is killed; the caller undoes what it did.
/// It takes the future pinned, because it would hold a second copy of one that is given by value.
async fn until_killed<T>(info: &SessionInfo, mut run: Pin<&mut impl Future<Output = expr::Result<T>>>) -> expr::Result<T> {
    std::future::poll_fn(|cx| match info.killed() {
        kill::NONE => run.as_mut().poll(cx),
        _ => Poll::Ready(Err(expr::Error::Interrupted)),
    })
    .await
}

/// Encodes rows into the connection's output.
struct ClientSink<'a> {
    client: &'a mut Client,
    info: Rc<SessionInfo>,
    head: Rc<EncodedHead>,
    agreed: Capabilities,
    status: Status,
    encoder: RowEncoder,
    /// The set of the client's results, if its bytes are not UTF-8.
    charset: Option<Charset>,
    /// Part of the answer was sent, so the answer cannot be taken back.
    drained: bool,
    /// Rows so far, and the ticks that they took to encode.
    rows: u32,
    encoded: u64,
    /// When the row began, if it is timed.
    row_began: u64,
    /// Causes of statements are looked for, among these values of results.
    is_advised: bool,
    causes: Option<Box<Causes>>,
    /// The values of the row are noted; the column that is next.
    is_noted: bool,
    column: u16,
}

impl<'a> ClientSink<'a> {
    fn new(state: &State<'_>, client: &'a mut Client, plan: &PlanEntry, format: RowFormat) -> Self {
        Self {
            client,
            info: Rc::clone(&state.info),
            head: plan.head(state.connection.capabilities, state.session.settings.results),
            agreed: state.connection.capabilities,
            status: state.status(),
            encoder: RowEncoder::new(format, plan.prepared.columns().len()),
            charset: state.session.settings.results_charset,
            drained: false,
            rows: 0,
            encoded: 0,
            row_began: 0,
            is_advised: state.session.watched.advised() && state.execution.frame.is_none(),
            causes: None,
            is_noted: false,
            column: 0,
        }
    }

    /// Is the row one of those that are timed?
    #[inline]
    fn is_timed(&self) -> bool {
        self.rows < ROWS_PER_TIMED || self.rows.is_multiple_of(ROWS_PER_TIMED)
    }
}

impl RowSink for ClientSink<'_> {
    fn start(&mut self, _columns: &[OutputColumn]) {
        self.head.write(&mut self.client.output.writer, self.agreed, self.status);
    }

    #[inline]
    fn begin_row(&mut self) {
        if self.is_timed() {
            self.row_began = self.info.clock.ran();
        }
        self.is_noted = self.is_advised && Causes::takes_row(self.rows);
        self.column = 0;
        self.encoder.begin(&mut self.client.output.writer);
    }

    #[inline]
    fn value(&mut self, value: &Value<'_>, ty: &ColumnType) {
        if self.is_noted {
            Causes::note(&mut self.causes, self.rows, self.column, value);
            self.column = self.column.saturating_add(1);
        }
        if let (Some(charset), Value::Bytes(text)) = (self.charset, value)
            && ty.collation != CollationId::BINARY
        {
            let text = Value::Bytes(charset.encode(text));
            return self.encoder.value(&mut self.client.output.writer, &text, ty);
        }
        self.encoder.value(&mut self.client.output.writer, value, ty);
    }

    #[inline]
    fn end_row(&mut self) {
        self.encoder.end(&mut self.client.output.writer);
        if self.is_timed() {
            let ticks = self.info.clock.ran().saturating_sub(self.row_began);
            self.encoded += if self.rows < ROWS_PER_TIMED { ticks } else { ticks * u64::from(ROWS_PER_TIMED) };
        }
        self.rows = self.rows.wrapping_add(1);
    }

    fn cancel_row(&mut self) {
        self.encoder.cancel(&mut self.client.output.writer);
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.client.output.is_full()
    }

    fn poll_drain(&mut self, _cx: &mut Context<'_>) -> Poll<expr::Result<()>> {
        self.drained = true;
        let client = &mut *self.client;
        client.output.poll_flush(&client.socket, &*self.info).map_err(|_| expr::Error::ClientGone)
    }
}

/// Keeps the first row.
struct FirstRow<'a> {
    places: &'a [Place],
    values: Vec<Value<'static>>,
    rows: u64,
    /// Its values are being computed.
    is_open: bool,
}

impl FirstRow<'_> {
    /// The values before the one that failed; a program's variable gets NULL in place of that one.
    fn until_failure(mut self) -> Vec<Value<'static>> {
        if let Some(Place::Local(_)) = self.places.get(self.values.len()) {
            self.values.push(Value::Null);
        }
        self.values
    }
}

impl RowSink for FirstRow<'_> {
    fn start(&mut self, _columns: &[OutputColumn]) {}

    fn begin_row(&mut self) {
        self.values.clear();
        self.is_open = true;
    }

    fn value(&mut self, value: &Value<'_>, _ty: &ColumnType) {
        self.values.push(owned(value));
    }

    fn end_row(&mut self) {
        self.rows += 1;
        self.is_open = false;
    }

    /// The values so far are kept, because an error may end the row.
    fn cancel_row(&mut self) {}

    fn is_full(&self) -> bool {
        false
    }

    fn poll_drain(&mut self, _cx: &mut Context<'_>) -> Poll<expr::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn takes(&self) -> bool {
        self.rows == 0
    }

    /// A second row only shows that there are too many.
    fn rows_max(&self) -> u64 {
        2
    }

    fn is_strict(&self, column: usize) -> bool {
        matches!(self.places.get(column), Some(Place::Local(_)))
    }
}

/// Keeps all rows.
#[derive(Default)]
pub struct AllRows {
    pub rows: Vec<Vec<Value<'static>>>,
    row: Vec<Value<'static>>,
    strictness: Strictness,
}

impl RowSink for AllRows {
    fn start(&mut self, _columns: &[OutputColumn]) {}

    fn begin_row(&mut self) {
        self.row.clear();
    }

    fn value(&mut self, value: &Value<'_>, _ty: &ColumnType) {
        self.row.push(owned(value));
    }

    fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    fn cancel_row(&mut self) {
        self.row.clear();
    }

    fn is_full(&self) -> bool {
        false
    }

    fn poll_drain(&mut self, _cx: &mut Context<'_>) -> Poll<expr::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn strictness(&self) -> Strictness {
        self.strictness
    }
}

/// A copy without borrowed data.
pub fn owned(value: &Value<'_>) -> Value<'static> {
    match value {
        Value::Null => Value::Null,
        Value::Int(value) => Value::Int(*value),
        Value::UInt(value) => Value::UInt(*value),
        Value::Double(value) => Value::Double(*value),
        Value::Decimal(value) => Value::Decimal(*value),
        Value::Bytes(bytes) => Value::Bytes(bytes.to_vec().into()),
        Value::Date(value) => Value::Date(*value),
        Value::Time(value) => Value::Time(*value),
        Value::DateTime(value) => Value::DateTime(*value),
    }
}
