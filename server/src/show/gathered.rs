//! The data of all workers that the server's tables show.

use crate::digests::Summary;
use crate::session::{ProcessLine, UseLine};

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
    /// The metadata locks of sessions' statements, if a table shows them.
    pub uses: Vec<UseLine>,
    /// The session that runs the statement.
    pub session: u32,
}
