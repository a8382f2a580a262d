//! The binary log as sessions see it: what they say of their transactions, its statements and commands.
//!
//! The crate `binlog` renders it from the write-ahead log (`binlog/src/log.rs`); nothing here is on the way of a commit but one look at
//! whether the session has something to say.

mod dump;
mod statement;

use super::{IDS, State};
use crate::error::{Error, Result};
use binlog::BinaryLog;
use binlog::note::{Note, Statement};
use conditions::Condition;
use std::sync::Arc;
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

    /// Waits until all that is durable now is in the binary log.
    pub async fn catch_up(&self, log: &BinaryLog) -> Result<binlog::Status> {
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
        let next = self.session.variables.get(IDS.gtid_next).as_text();
        let gtid = binlog::gtid::Gtid::parse(next).map(|gtid| gtid.to_string());
        let note = Note { is_hidden, gtid, ..Note::default() };
        (!note.is_empty()).then(|| note.to_bytes().into())
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
        let gtid = binlog::gtid::Gtid::parse(variables.get(IDS.gtid_next).as_text()).map(|gtid| gtid.to_string());
        let note = Note { is_hidden, gtid, statement: Some(statement), ..Note::default() };
        Some(note.to_bytes().into())
    }
}
