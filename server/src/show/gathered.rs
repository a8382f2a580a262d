//! The data of all workers that the server's tables show.

use crate::digests::{KeptOf, Summary};
use crate::record::{Sessions, SumsLine};
use crate::session::{ProcessLine, UseLine};
use reactor::task_clock::Waits;
use table::usage::TreeUse;

/// The data collected from all workers for one statement.
#[derive(Debug, Default)]
pub struct Gathered {
    pub processes: Vec<ProcessLine>,
    /// SHOW GLOBAL STATUS
    pub global_status: Vec<(&'static str, String)>,
    /// SHOW SESSION STATUS
    pub session_status: Vec<(&'static str, String)>,
    /// SHOW SESSION VARIABLES
    pub variables: Vec<(&'static str, String)>,
    /// Statistics by digest, if a table shows them.
    pub digests: Vec<Summary>,
    /// Executions and plans that are kept, if a table shows them.
    pub kept: Vec<KeptOf>,
    /// The metadata locks of sessions' statements, if a table shows them.
    pub uses: Vec<UseLine>,
    /// The events of sessions, their sums, and all waits, if a table shows them.
    pub sessions: Sessions,
    pub sums: Vec<SumsLine>,
    pub waits: Waits,
    /// The rows of the logs' tables, by `Log`, if the statement reads them.
    pub logs: [Vec<crate::text_log::Row>; 2],
    /// The use of trees on each worker.
    pub tables_used: Vec<(u32, TreeUse)>,
    /// The session that runs the statement.
    pub session: u32,
}
