//! Answers each command but COM_QUERY and the prepared statements' own.

use super::counted::{counted_as, is_question};
use super::kill::Killer;
use super::login::{self, Claim, Entry, LoggedIn, Offer, Refused};
use super::state::{Answer, Deferred, State};
use super::{Client, Next, Recipient, Service, write_error, write_error_in};
use crate::counters::{Command as Counted, count};
use crate::error::{Error, Result};
use crate::plan_cache::definition_of;
use crate::show::ResultSet;
use accounts::SYSTEM_USER;
use conditions::Condition;
use protocol::{Command, RowFormat};
use reactor::connection::{Input, Lost};
use std::rc::Rc;
use std::time::Duration;

/// COM_CHANGE_USER, kept beyond its packet.
pub struct OwnedChangeUser {
    user: String,
    proof: Vec<u8>,
    database: Option<String>,
    collation: u16,
    plugin: Option<String>,
}

impl OwnedChangeUser {
    pub fn new(change: &protocol::ChangeUser<'_>) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            user: text(change.user),
            proof: change.proof.to_vec(),
            database: change.database.map(text),
            collation: change.collation.unwrap_or(255),
            plugin: change.plugin.map(text),
        }
    }
}

impl Service<'_> {
    /// Answers one command. `Err` only when the client is lost.
    pub(super) async fn command(&mut self, client: &mut Client, command: Command<'_>) -> std::result::Result<Next, Lost> {
        let state = &mut self.state;
        state.info.begin(command.name(), state.worker.core.now());
        count(&state.info.counters.events.queries);
        if is_question(&command) {
            count(&state.info.counters.events.questions);
        }
        if let Some(counted) = counted_as(&command) {
            state.info.counters.note(counted);
        }
        let is_statement = matches!(
            command,
            Command::Query { .. }
                | Command::StmtPrepare { .. }
                | Command::StmtExecute(_)
                | Command::StmtSendLongData { .. }
                | Command::StmtFetch { .. }
        );
        if !is_statement {
            state.log_command(&command);
        }
        let outcome = match command {
            Command::Query { sql, .. } => state.query(&mut Recipient::Client(client), sql).await,
            Command::StmtExecute(execute) => self.statements.execute(state, &mut Recipient::Client(client), &execute).await,
            Command::StmtPrepare { sql } => self.statements.prepare(state, client, sql).await,
            Command::StmtSendLongData { statement_id, parameter, data } => {
                self.statements.send_long_data(state, statement_id, parameter, data);
                return Ok(Next::Continue);
            }
            Command::StmtClose { statement_id } => {
                self.statements.close(state, statement_id);
                return Ok(Next::Continue);
            }
            Command::StmtReset { statement_id } => self.statements.reset(state, client, statement_id),
            Command::StmtFetch { statement_id, rows } => self.statements.fetch(state, client, statement_id, rows).await,
            // SHOW WARNINGS after a ping still shows the previous statement: some drivers ping before every statement.
            Command::Ping | Command::Debug => {
                state.write_ok(&mut Recipient::Client(client), &Answer::default());
                Ok(())
            }
            Command::InitDb { database } => state.init_db(client, database),
            Command::FieldList { table, wildcard } => state.field_list(client, table, wildcard),
            Command::Statistics => state.statistics(client).await,
            Command::ProcessInfo => state.process_info(client).await,
            Command::ProcessKill { connection_id } => state.process_kill(client, connection_id).await,
            Command::ResetConnection => {
                self.reset_connection(client).await;
                Ok(())
            }
            Command::Refresh { .. } => state.refresh_all(&mut Recipient::Client(client)).await,
            Command::Shutdown => state.check_shutdown().map(|()| state.shut_down(&mut Recipient::Client(client))),
            Command::SetOption { option } => state.set_option(client, option),
            Command::RegisterReplica(said) => state.register_replica(client, &said),
            Command::BinlogDump(request) => {
                state.connection.deferred = Some(Deferred::Dump(request.into()));
                return Ok(Next::Continue);
            }
            // The loop handles these two itself.
            Command::Quit | Command::ChangeUser(_) => return Ok(Next::Close),
        };
        self.state.execution.transaction.unpin();
        self.conclude(client, outcome)
    }

    /// Sends the error to the client. `Err` only if the client is lost.
    pub(super) fn conclude(&mut self, client: &mut Client, outcome: Result<()>) -> std::result::Result<Next, Lost> {
        match outcome {
            Ok(()) => {}
            Err(Error::Exec(expr::Error::ClientGone)) => return Err(Lost::Io(std::io::ErrorKind::BrokenPipe.into())),
            Err(Error::Protocol(error)) if error.is_fatal() => return Err(Lost::Protocol(error)),
            Err(error) => {
                self.state.note_error(&error);
                write_error_in(client, &error, self.state.session.settings.results_charset);
            }
        }
        let next = if self.state.connection.closing { Next::Close } else { Next::Continue };
        Ok(next)
    }

    async fn reset_connection(&mut self, client: &mut Client) {
        let worker = Rc::clone(&self.state.worker);
        self.state.execution.transaction.rollback(&worker).await;
        self.state.execution.transaction.branch = None;
        *self.state.execution.transaction.locks_mut() = Default::default();
        self.statements.clear();
        let collation = self.state.session.settings.connection_collation.0;
        let login = LoggedIn {
            capabilities: self.state.connection.capabilities,
            identity: self.state.session.identity.clone(),
            database: None,
            collation,
        };
        let database = self.state.execution.vars.database.clone();
        self.state.reset(&login);
        if let Some(database) = database
            && let Err(error) = self.state.use_database(&database)
        {
            tracing::debug!(?error, "the current database is gone");
        }
        self.state.connection.changes.clear();
        self.state.write_ok(&mut Recipient::Client(client), &Answer::default());
    }

    /// COM_CHANGE_USER: authenticates again and resets the session.
    pub(super) async fn change_user(
        &mut self,
        client: &mut Client,
        input: &mut Input,
        change: OwnedChangeUser,
    ) -> std::result::Result<Next, Lost> {
        let worker = Rc::clone(&self.state.worker);
        let info = Rc::clone(&self.state.info);
        info.begin("Change user", worker.core.now());
        info.counters.note(Counted::AdminCommands);
        self.state.execution.transaction.rollback(&worker).await;
        self.state.execution.transaction.branch = None;
        *self.state.execution.transaction.locks_mut() = Default::default();
        self.statements.clear();
        let deadline = worker.core.now() + Duration::from_secs(10);
        let peer = self.state.connection.peer.clone();
        // The proof in the command belongs to an old nonce, so only an empty one can be right; otherwise the client is
        // asked again.
        let offer = match (protocol::auth::is_empty_proof(&change.proof), change.plugin) {
            (true, Some(plugin)) => Offer::Made { plugin, proof: change.proof, nonce: login::new_nonce() },
            _ => Offer::None,
        };
        let capabilities = self.state.connection.capabilities;
        let claim = Claim {
            user: &change.user,
            peer: &peer,
            offer,
            can_switch: capabilities.has(protocol::Capabilities::PLUGIN_AUTH),
            handles_expired: capabilities.has(protocol::Capabilities::CAN_HANDLE_EXPIRED_PASSWORDS),
        };
        let outcome = login::authenticate(client, input, &info, &worker, claim, deadline).await;
        let welcome = match outcome {
            Ok(Entry { identity, seat }) => {
                let login = LoggedIn { capabilities, identity, database: change.database, collation: change.collation };
                *info.user.borrow_mut() = change.user.clone();
                self.state.reset(&login);
                self.state.connection.seat = Some(seat);
                self.state.welcome(&login)
            }
            Err(Refused::Lost(lost)) => return Err(lost),
            Err(Refused::Error(error)) => Err(error),
        };
        match welcome {
            Ok(()) => {
                self.state.write_ok(&mut Recipient::Client(client), &Answer::default());
                Ok(Next::Continue)
            }
            Err(error) => {
                write_error(client, &error);
                Ok(Next::Close)
            }
        }
    }
}

impl State<'_> {
    fn init_db(&mut self, client: &mut Client, database: &[u8]) -> Result<()> {
        let name = String::from_utf8_lossy(database).into_owned();
        if name.is_empty() {
            return Err(Error::NoDatabase);
        }
        self.clear_warnings();
        self.use_database(&name)?;
        self.write_ok(&mut Recipient::Client(client), &Answer::default());
        Ok(())
    }

    /// COM_FIELD_LIST: definitions with defaults.
    fn field_list(&mut self, client: &mut Client, table: &[u8], wildcard: &[u8]) -> Result<()> {
        let table = String::from_utf8_lossy(table).into_owned();
        let pattern = if wildcard.is_empty() { &b"%"[..] } else { wildcard };
        let database = self.execution.vars.database.as_deref().ok_or(Error::NoDatabase)?.to_owned();
        self.sees_table(&sql::ast::ObjectName { database: Some(&database), name: &table })?;
        let schema = self.schema();
        let def = schema.table(&database, &table).ok_or(Error::TableMissing { database, table })?;
        let named = def.named_columns().map(|(_, column)| column);
        for column in named.filter(|column| crate::show::like(pattern, column.name.as_bytes())) {
            let output = crate::show::output_column(def, column);
            let default = match &column.default {
                types::schema::ColumnDefault::Literal(Some(text)) => Some(text.as_bytes()),
                types::schema::ColumnDefault::CurrentTimestamp => Some(&b"CURRENT_TIMESTAMP"[..]),
                _ => None,
            };
            definition_of(&output, self.session.settings.results).write_with_default(&mut client.output.writer, default);
        }
        let ok = protocol::OkPacket { status: self.status(), ..Default::default() };
        protocol::put_rows_end(&mut client.output.writer, self.connection.capabilities, &ok);
        Ok(())
    }

    async fn statistics(&mut self, client: &mut Client) -> Result<()> {
        let shared = std::sync::Arc::clone(&self.worker.shared);
        let sums = crate::show::counter_sums(&shared).await;
        let (questions, slow) = (sums["Questions"], sums["Slow_queries"]);
        let uptime = shared.started.elapsed().as_secs().max(1);
        let tables: usize = shared.database.schema().databases.values().map(|database| database.tables.len()).sum();
        let text = format!(
            "Uptime: {uptime}  Threads: {}  Questions: {questions}  Slow queries: {slow}  Opens: {tables}  Flush tables: 1  \
             Open tables: {tables}  Queries per second avg: {:.3}",
            shared.sessions(),
            questions as f64 / uptime as f64
        );
        protocol::put_statistics(&mut client.output.writer, &text);
        Ok(())
    }

    async fn process_info(&mut self, client: &mut Client) -> Result<()> {
        let result: ResultSet = crate::show::process_list(self, false).await;
        self.write_result(&mut Recipient::Client(client), &result, RowFormat::Text).await
    }

    async fn process_kill(&mut self, client: &mut Client, id: u32) -> Result<()> {
        self.kill(u64::from(id), expr::kill::CONNECTION)?;
        self.write_ok(&mut Recipient::Client(client), &Answer::default());
        Ok(())
    }

    /// KILL of a session on any worker.
    pub fn kill(&mut self, id: u64, how: u8) -> Result<()> {
        let Ok(short) = u32::try_from(id) else { return Err(Condition::NoSuchThread { id: id.into() }.into()) };
        if short == self.info.id {
            self.info.kill(how);
            return Err(Error::Exec(expr::Error::Interrupted));
        }
        let access = &self.session.access;
        let any = access.administers_connections();
        let killer = Killer { account: &access.name.plain(), any, is_system: access.has_dynamic(SYSTEM_USER) };
        match self.worker.shared.kills.kill(short, how, &killer) {
            Some(true) => Ok(()),
            Some(false) => Err(Error::from(Condition::KillDeniedError { id: id.into() })),
            None => Err(Condition::NoSuchThread { id: id.into() }.into()),
        }
    }

    /// COM_SHUTDOWN and SHUTDOWN
    pub fn shut_down(&mut self, client: &mut Recipient<'_>) {
        tracing::info!(peer = self.connection.peer.address, "a client shuts the server down");
        self.write_ok(client, &Answer::default());
        self.worker.shared.begin_stop();
    }

    fn set_option(&mut self, client: &mut Client, option: u16) -> Result<()> {
        self.connection.multi_statements = match option {
            0 => true,
            1 => false,
            _ => return Err(Condition::UnknownComError.into()),
        };
        let status = self.status();
        if self.connection.capabilities.has(protocol::Capabilities::DEPRECATE_EOF) {
            self.write_ok(&mut Recipient::Client(client), &Answer::default())
        } else {
            protocol::put_eof(&mut client.output.writer, 0, status)
        }
        Ok(())
    }
}
