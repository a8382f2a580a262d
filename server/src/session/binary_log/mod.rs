//! The binary log as sessions see it: what they say of their transactions, its statements and commands.
//!
//! The crate `binlog` renders it from the write-ahead log (`binlog/src/log.rs`); nothing here is on the way of a commit but one look at
//! whether the session has something to say.

mod dump;
mod statement;

use super::transaction::NextName;
use super::{IDS, State};
use crate::error::{Error, Result};
use binlog::BinaryLog;
use binlog::gtid::Gtid;
use binlog::note::{Note, Statement};
use conditions::Condition;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use sync::waits::{self, Cause, Kind};
use types::CollationId;

impl State<'_> {
    /// The binary log.
    ///
    /// # Errors
    /// 1381: it is off.
    pub fn binary_log(&self) -> Result<Arc<BinaryLog>> {
        self.worker.shared.binlog.clone().ok_or_else(|| Condition::NoBinaryLogging.into())
    }

    /// Waits until all that anybody can see now is in the binary log: a commit is seen by others before it is durable.
    pub async fn catch_up(&self, log: &BinaryLog) -> Result<binlog::Status> {
        self.worker.engine.log_stall().await;
        let position = log.catch_up();
        let status = self.until(|waker| log.poll_rendered(position, waker)).await?;
        match &status.failed {
            Some(why) if status.rendered < position => Err(Error::Internal(format!("the binary log stands still: {why}"))),
            _ => Ok(status),
        }
    }

    /// Waits for `poll`; KILL ends the wait.
    pub async fn until<T>(&self, mut poll: impl FnMut(&std::task::Waker) -> Poll<T>) -> Result<T> {
        let info = &self.info;
        std::future::poll_fn(|cx| {
            if let Poll::Ready(value) = poll(cx.waker()) {
                return Poll::Ready(Ok(value));
            }
            if info.killed() != expr::kill::NONE {
                return Poll::Ready(Err(Error::Exec(expr::Error::Interrupted)));
            }
            waits::pending(Cause::of(Kind::File));
            Poll::Pending
        })
        .await
    }

    /// What the session says of its transactions; `None`: nothing.
    pub fn transaction_note(&self) -> Option<Box<[u8]>> {
        self.worker.shared.binlog.as_ref()?;
        let is_hidden = !self.session.variables.get(IDS.sql_log_bin).as_bool();
        let note = Note { is_hidden, gtid: self.next_gtid(), origin: self.session.origin, ..Note::default() };
        (!note.is_empty()).then(|| note.to_bytes().into())
    }

    /// The GTID of the next transaction, if it is given.
    fn next_gtid(&self) -> Option<String> {
        if self.execution.transaction.next_name() != NextName::Given {
            return None;
        }
        Gtid::parse(self.session.variables.get(IDS.gtid_next).as_text()).map(|gtid| gtid.to_string())
    }

    /// `gtid_next` was set.
    pub fn name_next(&mut self) {
        let given = Gtid::parse(self.session.variables.get(IDS.gtid_next).as_text());
        let is_given = given.is_some();
        self.execution.vars.own_gtid = given.map(|gtid| gtid.to_string().into());
        let name = if is_given && self.worker.shared.binlog.is_some() { NextName::Given } else { NextName::Automatic };
        self.execution.transaction.set_next_name(name);
        self.session.is_gtid_logged.store(false, Ordering::Relaxed);
    }

    /// 1837 where `gtid_next` names a transaction that has ended.
    #[inline]
    pub fn refuse_spent_gtid(&self) -> Result<()> {
        if self.execution.transaction.next_name() == NextName::Spent { Err(self.spent_gtid()) } else { Ok(()) }
    }

    #[cold]
    fn spent_gtid(&self) -> Error {
        let gtid = self.session.variables.get(IDS.gtid_next).as_text().to_owned();
        Condition::GtidNextTypeUndefinedGtid { gtid: gtid.into() }.into()
    }

    /// A definition has succeeded: a GTID that no transaction of it has taken is logged alone.
    pub async fn use_up_gtid(&mut self) -> Result<()> {
        if self.execution.transaction.next_name() != NextName::Given {
            return Ok(());
        }
        if self.session.is_gtid_logged.load(Ordering::Relaxed) {
            self.execution.transaction.set_next_name(NextName::Spent);
            self.execution.transaction.set_note(None);
            return Ok(());
        }
        let worker = Rc::clone(&self.worker);
        self.execution.transaction.commit_named(&worker, &self.session.settings).await
    }

    /// A definition is done: semi-synchronous replication waits for replicas.
    pub async fn wait_for_replicas(&self) {
        let semi_sync = &self.worker.shared.semi_sync;
        if semi_sync.is_enabled() && self.session.origin.is_none() {
            Box::pin(semi_sync.wait(&self.worker)).await;
        }
    }

    /// What goes into the log with a definition: its statement, and the settings that it depends on.
    pub fn definition_note(&self) -> Option<Box<[u8]>> {
        self.worker.shared.binlog.as_ref()?;
        let variables = &self.session.variables;
        let is_on = |id| variables.get(id).as_bool();
        let settings = &self.session.settings;
        let database = self.execution.vars.database.as_deref().unwrap_or_default();
        let schema = self.worker.schema();
        let database_collation = schema.databases.get(database).map_or(settings.server_collation, |of| of.collation);
        // OPTION_NO_FOREIGN_KEY_CHECKS, OPTION_AUTO_IS_NULL
        let flags2 = u32::from(!is_on(IDS.foreign_key_checks)) << 26 | u32::from(is_on(IDS.sql_auto_is_null)) << 14;
        let identity = &self.session.access.name;
        let statement = Statement {
            text: self.session.definition.to_string(),
            database: database.to_owned(),
            sql_mode: variables.get(IDS.sql_mode).as_u64(),
            flags2,
            thread_id: self.info.id,
            collations: (
                // The text is in UTF-8, whatever the client's character set was.
                CollationId::UTF8MB4_0900_AI_CI.0,
                settings.connection_collation.0,
                settings.server_collation.0,
                database_collation.0,
            ),
            time_zone: Some(variables.get(IDS.time_zone).as_text().to_owned()),
            time_us: self.execution.vars.statement_start_us.max(0) as u64,
            invoker: Some((identity.user.to_string(), identity.host.to_string())),
            default_utf8mb4: CollationId::UTF8MB4_0900_AI_CI.0,
            explicit_defaults: true,
        };
        let is_hidden = !is_on(IDS.sql_log_bin);
        let note = Note {
            is_hidden,
            gtid: self.next_gtid(),
            origin: self.session.origin,
            statement: Some(statement),
            ..Note::default()
        };
        Some(note.to_bytes().into())
    }
}
