//! Notes: what a session says of a transaction in the write-ahead log, for the binary log.
//!
//! An ordinary transaction has none. A definition has its statement; other transactions have one only where a setting of their session
//! differs from the default (`sql_log_bin`, `gtid_next`, `binlog_rows_query_log_events`).

use crate::event::QueryContext;
use serde::{Deserialize, Serialize};

/// A definition.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Statement {
    /// As the user wrote it, in UTF-8; empty: CREATE TABLE with the definition that the transaction writes.
    pub text: String,
    /// The default database.
    pub database: String,
    pub sql_mode: u64,
    pub flags2: u32,
    pub thread_id: u32,
    /// Collations: client, connection, server, database.
    pub collations: (u16, u16, u16, u16),
    pub time_zone: Option<String>,
    /// The statement's time in microseconds since 1970.
    pub time_us: u64,
    pub invoker: Option<(String, String)>,
    pub default_utf8mb4: u16,
    pub explicit_defaults: bool,
}

/// All that can be said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Note {
    /// `sql_log_bin` is off: the transaction is not in the stream.
    pub is_hidden: bool,
    /// `gtid_next`
    pub gtid: Option<String>,
    pub statement: Option<Statement>,
    /// The server where the transaction was made, if it is another one: its number, and when it committed there, in microseconds.
    pub origin: Option<(u32, u64)>,
    /// The texts of the statements that changed rows.
    pub rows_query: Vec<String>,
}

impl Note {
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain data always serializes")
    }

    /// # Errors
    /// `None`: it is no note, or one of a later version.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// Is there nothing to say?
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Statement {
    /// The settings for its QUERY event; `xid`: the number of its commit.
    pub fn context(&self, xid: u64) -> QueryContext {
        let (client, connection, server, database) = self.collations;
        QueryContext {
            thread_id: self.thread_id,
            flags2: self.flags2,
            sql_mode: self.sql_mode,
            collations: (client, connection, server),
            database_collation: (database != 0).then_some(database),
            time_zone: self.time_zone.clone(),
            explicit_defaults: self.explicit_defaults,
            ddl_xid: Some(xid),
            default_utf8mb4: (self.default_utf8mb4 != 0).then_some(self.default_utf8mb4),
            invoker: self.invoker.clone(),
            ..QueryContext::default()
        }
    }
}
