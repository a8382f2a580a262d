//! Statements that are not plans: transactions, SET, SHOW, definitions, administration.

use super::Recipient;
use super::counted::command_of;
use super::state::{Answer, State};
use crate::counters::Command;
use crate::ddl;
use crate::digests::Phase;
use crate::error::{Error, Result};
use crate::shared::Protection;
use crate::show;
use crate::show::ResultSet;
use crate::text_log::Log;
use crate::worker::{Worker, gather};
use conditions::Condition;
use exec::{Strictness, boxed};
use expr::Level;
use protocol::RowFormat;
use sql::ast::{Histogram, Maintenance, ObjectName, Show, Statement, StatementInfo, TransactionEnd};
use std::rc::Rc;
use table::TableUse;
use types::Value;

/// MySQL's maximum number of buckets of a histogram.
const BUCKETS_MAX: u32 = 1024;
const BUCKETS_USUAL: u32 = 100;

impl State<'_> {
    /// Runs a statement that is not about rows of tables, and writes its answer. `given`: the parameters of a prepared statement.
    pub async fn run_other(
        &mut self,
        client: &mut Recipient<'_>,
        statement: &Statement<'_>,
        given: &[Value<'_>],
        format: RowFormat,
    ) -> Result<()> {
        self.begin_other(statement).await?;
        let done = self.run_begun(client, statement, given, format).await;
        if !matches!(statement, Statement::Show(_)) {
            self.end_phase(Phase::Execute);
        }
        done
    }

    /// Counts a statement that begins, or that failed before it began.
    #[cold]
    pub fn note_statement(&self, statement: &Statement<'_>) {
        if let Some(command) = command_of(statement) {
            self.info.counters.note(command);
        }
    }

    /// Checks that the statement may run, and does the work that precedes it.
    pub async fn begin_other(&mut self, statement: &Statement<'_>) -> Result<()> {
        self.note_statement(statement);
        if self.session.watched.logs() && is_administrative(statement) {
            self.note_administrative();
        }
        self.check_statement(statement)?;
        if self.is_inside() {
            self.check_inside(statement)?;
        }
        if let Some(branch) = &self.execution.transaction.branch {
            branch.check_statement(statement)?;
        }
        let info = statement.info();
        if is_protected(statement, &info) && !self.is_of_temporary_tables(statement) {
            self.refuse_protected()?;
        }
        if info.writes {
            self.refuse_spent_gtid()?;
        }
        if let Some(seat) = self.connection.seat.as_ref().filter(|seat| seat.counts()) {
            seat.count(info.writes)?;
        }
        if is_diagnostic(statement) {
            self.execution.warned_before = self.warning_count()
        } else {
            self.clear_warnings()
        }
        if info.implicit_commit && self.execution.transaction.is_open() {
            self.commit_transaction().await?;
        } else if info.implicit_commit && info.writes {
            self.execution.transaction.forget_next();
        }
        if changes_something(statement, &info) && self.execution.transaction.next_is_read_only(&self.session.settings) {
            return Err(Condition::CantExecuteInReadOnlyTransaction.into());
        }
        Ok(())
    }

    /// 1290 if the server is read-only for the account.
    #[inline]
    pub fn refuse_protected(&self) -> Result<()> {
        let option = match self.worker.shared.protection() {
            Protection::None => return Ok(()),
            _ if self.session.identity.is_applier => return Ok(()),
            Protection::ReadOnly if self.session.access.administers_connections() => return Ok(()),
            Protection::ReadOnly => "--read-only",
            Protection::SuperReadOnly => "--super-read-only",
        };
        Err(Error::from(Condition::OptionPreventsStatement { option: option.into() }))
    }

    async fn run_begun(
        &mut self,
        client: &mut Recipient<'_>,
        statement: &Statement<'_>,
        given: &[Value<'_>],
        format: RowFormat,
    ) -> Result<()> {
        let worker = Rc::clone(&self.worker);
        let info = statement.info();
        match statement {
            Statement::Empty => return Err(Condition::EmptyQuery.into()),
            Statement::Unsupported { what } => return Err(Error::NotSupported((*what).to_owned())),

            Statement::Begin { consistent_snapshot, read_only } => {
                return self.begin_transaction(client, *read_only, *consistent_snapshot).await;
            }
            Statement::Commit(end) => return self.commit_as(client, *end).await,
            Statement::Rollback(end) => return self.roll_back_as(client, *end).await,
            Statement::Savepoint(name) => self.set_savepoint(name),
            Statement::RollbackTo(name) => self.execution.transaction.rollback_to_savepoint(&worker, name).await?,
            Statement::ReleaseSavepoint(name) => self.execution.transaction.release_savepoint(name)?,

            Statement::Set(items) => {
                self.set(items, given).await?;
            }
            Statement::Use(name) => {
                self.use_database(name)?;
            }
            Statement::Show(what) => {
                let result = boxed(|| show::show(self, what, given)).await?;
                return self.write_result(client, &result, format).await;
            }
            Statement::Describe { table, column } => {
                let result = show::describe(self, table, *column)?;
                return self.write_result(client, &result, format).await;
            }
            Statement::Explain { format: explain_format, analyze, statement, text, into } => {
                let how = (*explain_format, *analyze);
                let result = Box::pin(show::explain(self, how, statement, text, given)).await?;
                if let Some(name) = into {
                    self.keep_explained(&name.to_lowercase(), result)?;
                } else {
                    return self.write_result(client, &result, format).await;
                }
            }
            Statement::ExplainConnection { .. } => {
                return Err(Error::NotSupported("EXPLAIN FOR CONNECTION".to_owned()));
            }
            Statement::Advice(advice) => {
                let result = Box::pin(crate::advice::run(self, advice, given)).await?;
                return self.write_result(client, &result, format).await;
            }
            Statement::Kill { query, id } => return self.kill_statement(client, *query, id).await,
            Statement::Do(exprs) => {
                for expr in *exprs {
                    self.evaluate_over(expr, given, Strictness::Nowhere).await?;
                }
            }
            Statement::Prepare { name, source } => {
                self.info.counters.note(Command::StmtPrepare);
                return self.prepare_named(client, name, source);
            }
            Statement::Execute { name, using } => {
                self.info.counters.note(Command::StmtExecute);
                return boxed(|| self.execute_named(client, name, using, format)).await;
            }
            Statement::Deallocate { name } => {
                self.info.counters.note(Command::StmtClose);
                return self.deallocate_named(client, name);
            }

            Statement::Flush { tables, read_lock: true, .. } => Box::pin(self.flush_with_read_lock(tables)).await?,
            Statement::Flush { what, tables, export, .. } => {
                self.flush(what, tables, *export)?;
                let logs = flushed_logs(what);
                if !logs.is_empty() {
                    Box::pin(self.reopen_logs(&logs)).await?;
                }
                if what.split(',').any(|what| matches!(what.trim(), "LOGS" | "BINARY LOGS")) {
                    Box::pin(self.flush_binary_log()).await?;
                }
                if what.split(',').any(|what| matches!(what.trim(), "LOGS" | "ERROR LOGS")) {
                    Box::pin(self.reopen_error_log()).await?;
                }
                if what.split(',').any(|what| what.trim() == "PRIVILEGES") {
                    Box::pin(self.flush_privileges()).await?;
                }
            }
            Statement::TableMaintenance { kind, tables, partitions: Some(names), .. }
                if let Some(result) = self.partitions_refused(*kind, tables, names)? =>
            {
                return self.write_result(client, &result, format).await;
            }
            Statement::TableMaintenance { kind, tables, histogram, .. } => {
                let result = Box::pin(self.maintain(*kind, tables, histogram.as_ref())).await?;
                return self.write_result(client, &result, format).await;
            }
            Statement::CreateDatabase(_)
            | Statement::CreateTable(_)
            | Statement::DropTable { .. }
            | Statement::AlterTable(_)
            | Statement::CreateView(_)
            | Statement::DropView { .. }
            | Statement::CreateRoutine(_)
            | Statement::DropRoutine { .. }
            | Statement::CreateTrigger(_)
            | Statement::DropTrigger { .. }
            | Statement::LockTables(_)
                if Box::pin(self.restore_definition(statement)).await? => {}
            Statement::LockTables(tables) => Box::pin(self.lock_tables(tables)).await?,
            Statement::UnlockTables => self.unlock_tables().await?,
            Statement::LockInstance { lock: true } => Box::pin(self.lock_instance()).await?,
            Statement::LockInstance { lock: false } => self.unlock_instance(),
            Statement::BackupServer(what) => return Box::pin(self.back_up(client, what, format)).await,
            Statement::CloneLocal { directory } => return Box::pin(self.clone_local(client, directory)).await,
            Statement::Help(_) => return Err(Error::NotSupported("HELP".to_owned())),
            Statement::ResetPersist { name, if_exists } => self.reset_persist(*name, *if_exists).await?,
            Statement::BinaryLog(change) => Box::pin(self.change_binary_log(change)).await?,
            Statement::Xa(xa) => {
                if let Some(result) = Box::pin(self.run_xa(xa)).await? {
                    return self.write_result(client, &result, format).await;
                }
            }
            Statement::Replica(statement) => Box::pin(crate::replica::run(self, statement)).await?,
            Statement::Shutdown => {
                self.shut_down(client);
                return Ok(());
            }

            Statement::Account(account) => {
                let _share = self.enter_definition(statement).await?;
                let result = Box::pin(crate::account::run(self, account)).await?;
                if info.writes {
                    self.use_up_gtid().await?;
                    self.wait_for_replicas().await;
                }
                if let Some(result) = result {
                    return self.write_result(client, &result, format).await;
                }
            }
            Statement::Call(call) => {
                return boxed(|| crate::routine::call(self, client, call, Default::default(), format)).await;
            }

            Statement::Condition(text) => return Box::pin(crate::routine::alone(self, client, text, format)).await,

            Statement::LoadData(load) => return Box::pin(self.load_data(client, load)).await,
            Statement::Query(_) | Statement::Insert(_) | Statement::Update(_) | Statement::Delete(_) => {
                return Err(Error::Internal("a plannable statement took the wrong way".to_owned()));
            }
            definition => {
                let _share = self.enter_definition(definition).await?;
                let done = boxed(|| ddl::run(self, definition, given)).await;
                self.forget_dropped_locks();
                let done = done?;
                self.use_up_gtid().await?;
                self.wait_for_replicas().await;
                self.execution.vars.row_count = done.affected as i64;
                self.session.measured.affected += done.affected;
                let answer = Answer { affected: done.affected, info: &done.info, ..Answer::default() };
                self.write_ok(client, &answer);
                return Ok(());
            }
        }
        self.execution.vars.row_count = 0;
        self.write_ok(client, &Answer::default());
        Ok(())
    }

    /// BEGIN and START TRANSACTION; commits an open transaction.
    pub async fn begin_transaction(
        &mut self,
        client: &mut Recipient<'_>,
        read_only: Option<bool>,
        consistent_snapshot: bool,
    ) -> Result<()> {
        self.refuse_in_branch()?;
        let worker = Rc::clone(&self.worker);
        if self.execution.transaction.is_open() {
            self.commit_transaction().await?;
        }
        self.execution.transaction.locks_mut().named = None;
        self.execution.transaction.begin(&worker, &self.session.settings, read_only, consistent_snapshot);
        self.execution.vars.row_count = 0;
        self.write_ok(client, &Answer::default());
        Ok(())
    }

    /// Commits the session's transaction.
    ///
    /// # Errors
    /// 1290: it has changed rows, and the server was made read-only meanwhile. It is rolled back.
    pub async fn commit_transaction(&mut self) -> Result<()> {
        let worker = Rc::clone(&self.worker);
        self.refuse_protected_commit(&worker).await?;
        self.execution.transaction.commit(&worker).await;
        Ok(())
    }

    /// [`Self::commit_transaction`], with a given GTID also where nothing was changed.
    ///
    /// # Errors
    /// As there; the GTID cannot be logged.
    pub async fn commit_named(&mut self) -> Result<()> {
        let worker = Rc::clone(&self.worker);
        self.refuse_protected_commit(&worker).await?;
        self.execution.transaction.commit_named(&worker, &self.session.settings).await
    }

    /// Whoever has made the server read-only counts on it that nothing is committed from then on ([`Self::wait_for_commits`]): between this
    /// question and the record of the commit nothing is awaited.
    #[inline]
    async fn refuse_protected_commit(&mut self, worker: &Rc<Worker>) -> Result<()> {
        if self.execution.transaction.has_written()
            && let Err(error) = self.refuse_protected()
            && self.execution.transaction.writes_lasting()
        {
            self.execution.transaction.rollback(worker).await;
            return Err(error);
        }
        Ok(())
    }

    /// The server was made read-only: waits until each worker has finished what it did when that became known, so that every commit is in
    /// the log.
    pub async fn wait_for_commits(&self) {
        gather(&self.worker.shared, |_| ()).await;
    }

    /// COMMIT
    pub async fn commit(&mut self, client: &mut Recipient<'_>) -> Result<()> {
        self.commit_as(client, TransactionEnd::default()).await
    }

    /// ROLLBACK
    pub async fn roll_back(&mut self, client: &mut Recipient<'_>) -> Result<()> {
        self.roll_back_as(client, TransactionEnd::default()).await
    }

    /// SAVEPOINT
    pub fn set_savepoint(&mut self, name: &str) {
        let worker = Rc::clone(&self.worker);
        self.execution.transaction.set_savepoint(&worker, &self.session.settings, name);
    }

    pub async fn commit_as(&mut self, client: &mut Recipient<'_>, end: TransactionEnd) -> Result<()> {
        self.refuse_in_branch()?;
        let characteristics = self.execution.transaction.characteristics();
        self.commit_named().await?;
        self.end_phase(Phase::Commit);
        self.finish_transaction(client, end, characteristics)
    }

    pub async fn roll_back_as(&mut self, client: &mut Recipient<'_>, end: TransactionEnd) -> Result<()> {
        self.refuse_in_branch()?;
        let worker = Rc::clone(&self.worker);
        let characteristics = self.execution.transaction.characteristics();
        self.execution.transaction.rollback(&worker).await;
        self.finish_transaction(client, end, characteristics)
    }

    /// AND CHAIN, RELEASE
    fn finish_transaction(
        &mut self,
        client: &mut Recipient<'_>,
        end: TransactionEnd,
        characteristics: super::transaction::Characteristics,
    ) -> Result<()> {
        let completion = self.session.variables.get(super::IDS.completion_type).as_u64();
        if end.chain.unwrap_or(completion == 1 && end.release != Some(true)) {
            self.execution.transaction.set_next(characteristics)?;
            let worker = Rc::clone(&self.worker);
            self.execution.transaction.begin(&worker, &self.session.settings, characteristics.read_only, false);
        } else if end.release.unwrap_or(completion == 2) {
            self.connection.closing = true;
        }
        self.execution.vars.row_count = 0;
        self.write_ok(client, &Answer::default());
        Ok(())
    }

    async fn kill_statement(&mut self, client: &mut Recipient<'_>, query: bool, id: &sql::ast::Expr<'_>) -> Result<()> {
        let (value, _) = self.evaluate(id).await?;
        let id = match value {
            Value::Int(id) if id >= 0 => id as u64,
            Value::UInt(id) => id,
            Value::Decimal(_) | Value::Double(_) | Value::Int(_) => {
                return Err(Condition::NoSuchThread { id: 0u64.into() }.into());
            }
            _ => return Err(Condition::NoSuchThread { id: 0u64.into() }.into()),
        };
        let how = if query { expr::kill::QUERY } else { expr::kill::CONNECTION };
        self.kill(id, how)?;
        self.write_ok(client, &Answer::default());
        Ok(())
    }

    fn flush(&mut self, what: &str, tables: &[ObjectName<'_>], export: bool) -> Result<()> {
        if export {
            return Err(Error::NotSupported("FLUSH TABLES ... FOR EXPORT".to_owned()));
        }
        if what == "TABLES" {
            self.check_flushed(tables)?;
        }
        if what == "HOSTS" {
            self.worker.shared.accounts.logins.forget_hosts();
        }
        if what == "STATUS" {
            self.worker.counters.take(&self.info.counters);
            self.worker.shared.note_status_flushed();
        }
        tracing::debug!(what, "FLUSH has nothing to do");
        Ok(())
    }

    /// ANALYZE TABLE: computes statistics, or creates or drops histograms.
    async fn analyze(&mut self, tables: &[ObjectName<'_>], histogram: Option<&Histogram<'_>>) -> Result<ResultSet> {
        let op = if histogram.is_some() { "histogram" } else { "analyze" };
        let mut result = show::maintenance_result();
        if histogram.is_some() && tables.len() > 1 {
            result.rows.push(show::texts(&[
                "",
                op,
                "Error",
                "Only one table can be specified while modifying histogram statistics.",
            ]));
            return Ok(result);
        }
        if let Some(buckets) = histogram.and_then(|h| h.buckets)
            && !(1..=u64::from(BUCKETS_MAX)).contains(&buckets)
        {
            return Err(Error::from(Condition::DataOutOfRange {
                kind: "Number of buckets".into(),
                expression: "ANALYZE TABLE".into(),
            }));
        }
        for table in tables {
            let database = table.database.or(self.execution.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
            let name = format!("{database}.{}", table.name);
            let mut line = |kind: &str, text: &str| result.rows.push(show::texts(&[&name, op, kind, text]));
            let Some(def) = self.schema().table(database, table.name).filter(|def| !def.is_virtual).cloned() else {
                line("Error", &format!("Table '{name}' doesn't exist"));
                if histogram.is_none() {
                    line("status", "Operation failed");
                }
                continue;
            };
            if def.id.is_temporary() {
                match histogram {
                    Some(_) => line("Error", "Cannot create histogram statistics for a temporary table."),
                    None => line("status", "OK"),
                }
                continue;
            }
            if def.view.is_some() {
                line("Error", &format!("'{name}' is not BASE TABLE"));
                if histogram.is_none() {
                    line("status", "Operation failed");
                }
                continue;
            }
            if let Err(error) = self.check_locked_table(&def, TableUse::Reads) {
                line("Error", &error.describe().message);
                line("status", "Operation failed");
                continue;
            }
            let Some(histogram) = histogram else {
                ddl::analyze(self, def.id, ddl::Analysis::Statistics).await?;
                line("status", "OK");
                continue;
            };
            let found: Vec<Option<usize>> = histogram.columns.iter().map(|name| def.column_index(name)).collect();
            let usable = found.iter().flatten().copied().filter(|&column| !histogram.update || !is_unique(&def, column));
            let columns: Vec<usize> = usable.collect();
            let analysis = if histogram.update {
                ddl::Analysis::Make(columns.clone(), histogram.buckets.map_or(BUCKETS_USUAL, |n| n as u32))
            } else {
                ddl::Analysis::Drop(columns.clone())
            };
            let done = ddl::analyze(self, def.id, analysis).await?;
            for (name, column) in histogram.columns.iter().zip(found) {
                let place = columns.iter().position(|c| Some(*c) == column);
                let done = place.and_then(|place| done.get(place).copied());
                let column = column.map_or(*name, |column| &def.columns[column].name);
                match (done, histogram.update) {
                    (Some(true), true) => line("status", &format!("Histogram statistics created for column '{column}'.")),
                    (Some(false), true) => line("Error", &format!("The column '{column}' has an unsupported data type.")),
                    (Some(true), false) => line("status", &format!("Histogram statistics removed for column '{column}'.")),
                    (Some(false), false) => line("Error", &format!("No histogram statistics found for column '{column}'.")),
                    (None, _) if def.column_index(name).is_some() => {
                        line("Error", &format!("The column '{column}' is covered by a single-part unique index."));
                    }
                    (None, _) => line("Error", &format!("The column '{column}' does not exist.")),
                }
            }
        }
        Ok(result)
    }

    /// The result of ANALYZE PARTITION and the like for partitions that do not exist.
    fn partitions_refused(&self, kind: Maintenance, tables: &[ObjectName<'_>], names: &[&str]) -> Result<Option<ResultSet>> {
        let [table] = tables else { return Ok(None) };
        let def = self.find_table(table)?;
        let problem = match &def.partitioning {
            None => "Partition management on a not partitioned table is not possible".to_owned(),
            Some(partitioning) if names.iter().any(|name| partitioning.numbers(name).is_none()) => {
                format!("Error in list of partitions to {}.{}", def.database, def.name)
            }
            Some(_) => return Ok(None),
        };
        let op = match kind {
            Maintenance::Analyze => "analyze",
            Maintenance::Check => "check",
            Maintenance::Optimize => "optimize",
            Maintenance::Repair => "repair",
            Maintenance::Checksum => "checksum",
        };
        let name = format!("{}.{}", def.database, def.name);
        let mut result = show::maintenance_result();
        result.rows.push(show::texts(&[&name, op, "Error", &problem]));
        result.rows.push(show::texts(&[&name, op, "status", "Operation failed"]));
        Ok(Some(result))
    }

    /// CHECK, OPTIMIZE, REPAIR TABLE: each table gets its lines. OPTIMIZE rewrites nothing, because free space is
    /// reused in place.
    async fn maintain(
        &mut self,
        kind: Maintenance,
        tables: &[ObjectName<'_>],
        histogram: Option<&Histogram<'_>>,
    ) -> Result<ResultSet> {
        let (op, note) = match kind {
            Maintenance::Analyze => return self.analyze(tables, histogram).await,
            Maintenance::Check => ("check", None),
            Maintenance::Optimize => ("optimize", Some("Table does not support optimize, doing recreate + analyze instead")),
            Maintenance::Repair => ("repair", Some("The storage engine for the table doesn't support repair")),
            Maintenance::Checksum => return self.checksums(tables).await,
        };
        let mut result = show::maintenance_result();
        for table in tables {
            let database = table.database.or(self.execution.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
            let name = format!("{database}.{}", table.name);
            let mut line = |kind: &str, text: &str| result.rows.push(show::texts(&[&name, op, kind, text]));
            let schema = self.schema();
            let def = schema.table(database, table.name);
            if let Some(view) = def.filter(|def| def.view.is_some()) {
                match (kind, show::view_problem(view, &schema)) {
                    (Maintenance::Check, None) => line("status", "OK"),
                    (Maintenance::Check, Some(error)) => {
                        line("Error", &error.describe().message);
                        line("error", "Corrupt");
                    }
                    _ => {
                        line("Error", &format!("'{name}' is not BASE TABLE"));
                        line("status", "Operation failed");
                    }
                }
                continue;
            }
            let Some(def) = def.cloned() else {
                line("Error", &format!("Table '{name}' doesn't exist"));
                line("status", "Operation failed");
                continue;
            };
            let used = if kind == Maintenance::Check { TableUse::Reads } else { TableUse::Writes };
            if let Err(error) = self.check_locked_table(&def, used) {
                line("Error", &error.describe().message);
                line("status", "Operation failed");
                continue;
            }
            if let Some(note) = note {
                line("note", note);
            }
            match kind {
                Maintenance::Check => {
                    let problems = ddl::check(self, def.id).await?;
                    problems.iter().for_each(|problem| line("error", problem));
                    line(
                        if problems.is_empty() { "status" } else { "error" },
                        if problems.is_empty() { "OK" } else { "Corrupt" },
                    );
                }
                Maintenance::Optimize => {
                    if !def.id.is_temporary() {
                        ddl::analyze(self, def.id, ddl::Analysis::Statistics).await?;
                    }
                    line("status", "OK");
                }
                _ => {}
            }
        }
        Ok(result)
    }

    /// CHECKSUM TABLE; NULL for a table that does not exist.
    async fn checksums(&mut self, tables: &[ObjectName<'_>]) -> Result<ResultSet> {
        let mut result = show::checksum_result();
        for table in tables {
            let database = table.database.or(self.execution.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
            let name = format!("{database}.{}", table.name);
            let found = match self.schema().table(database, table.name) {
                Some(def) => self.check_locked_table(def, TableUse::Reads).map(|()| def.id),
                None => Err(Error::TableMissing { database: database.to_owned(), table: table.name.to_owned() }),
            };
            let sum = match found {
                Ok(id) => Value::UInt(ddl::checksum(self, id).await?),
                Err(error) => {
                    self.note(Level::Error, error.to_warning());
                    Value::Null
                }
            };
            result.rows.push(vec![Value::Bytes(name.into_bytes().into()), sum]);
        }
        Ok(result)
    }

    /// The definition of a table, by its name as written.
    pub fn find_table(&self, name: &ObjectName<'_>) -> Result<std::sync::Arc<types::schema::TableDef>> {
        let database = name.database.or(self.execution.vars.database.as_deref()).ok_or(Error::NoDatabase)?;
        let schema = self.schema();
        if let Some(table) = schema.table(database, name.name) {
            return Ok(std::sync::Arc::clone(table));
        }
        if show::is_virtual_database(database) {
            // Its names are not case-sensitive.
            let found = schema.table(&database.to_ascii_lowercase(), &name.name.to_ascii_uppercase());
            if let Some(table) = found {
                return Ok(std::sync::Arc::clone(table));
            }
        }
        if name.database.is_some() && !schema.databases.contains_key(database) {
            return Err(Error::UnknownDatabase(database.to_owned()));
        }
        Err(Error::TableMissing { database: database.to_owned(), table: name.name.to_owned() })
    }
}

/// Does a unique key consist of this column? Then it needs no histogram.
fn is_unique(def: &types::schema::TableDef, column: usize) -> bool {
    use types::schema::IndexKind;
    let alone = |index: &types::schema::IndexDef| index.columns.len() == 1 && index.columns[0].column == column;
    def.indexes.iter().any(|index| matches!(index.kind, IndexKind::Primary | IndexKind::Unique) && alone(index))
}

/// Is it administrative for the slow log, as in MySQL?
fn is_administrative(statement: &Statement<'_>) -> bool {
    match statement {
        Statement::AlterTable(_) | Statement::CreateIndex(_) | Statement::DropIndex { .. } => true,
        Statement::TableMaintenance { kind, .. } => !matches!(kind, Maintenance::Checksum),
        _ => false,
    }
}

/// The logs that FLUSH reopens.
fn flushed_logs(what: &str) -> Vec<Log> {
    let words = |log| match log {
        Log::General => "GENERAL LOGS",
        Log::Slow => "SLOW LOGS",
    };
    let is_flushed = |log: &Log| what.split(',').map(str::trim).any(|what| what == "LOGS" || what == words(*log));
    Log::ALL.into_iter().filter(is_flushed).collect()
}

/// Do `read_only` and `super_read_only` forbid the statement, unless it only concerns temporary tables?
fn is_protected(statement: &Statement<'_>, info: &StatementInfo) -> bool {
    match statement {
        Statement::TableMaintenance { kind, .. } => {
            matches!(kind, Maintenance::Analyze | Maintenance::Optimize | Maintenance::Repair)
        }
        Statement::Begin { read_only, .. } => *read_only == Some(false),
        _ => changes_something(statement, info),
    }
}

/// Does READ ONLY forbid it?
fn changes_something(statement: &Statement<'_>, info: &StatementInfo) -> bool {
    match statement {
        Statement::CreateTable(_) | Statement::DropTable { .. } => true,
        Statement::TableMaintenance { kind, .. } => matches!(kind, Maintenance::Optimize | Maintenance::Repair),
        Statement::LockTables(tables) => tables.iter().any(|table| table.write),
        _ => info.writes,
    }
}

/// Does it keep the diagnostics of the previous statement?
fn is_diagnostic(statement: &Statement<'_>) -> bool {
    matches!(statement, Statement::Show(Show::Warnings { .. } | Show::CountWarnings { .. }) | Statement::Condition(_))
}
