//! The syntax tree of transaction statements, SET, SHOW and the other statements about the session or the server.

use super::{AccountName, Expr, ObjectName, VariableScope};

/// COMMIT and ROLLBACK `[AND [NO] CHAIN] [[NO] RELEASE]`; `None` is completion_type's business.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct TransactionEnd {
    pub chain: Option<bool>,
    pub release: Option<bool>,
}

/// One assignment of SET.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetItem<'a> {
    User {
        name: &'a str,
        value: Expr<'a>,
    },
    System {
        scope: VariableScope,
        name: &'a str,
        value: SetValue<'a>,
    },
    /// NAMES x [COLLATE y]; `None` is DEFAULT.
    Names {
        charset: Option<&'a [u8]>,
        collation: Option<&'a [u8]>,
    },
    /// CHARACTER SET x; `None` is DEFAULT.
    CharacterSet(Option<&'a [u8]>),
    Transaction {
        /// `Any`: the next transaction only.
        scope: VariableScope,
        isolation: Option<Isolation>,
        read_only: Option<bool>,
    },
    /// SET RESOURCE GROUP: 1235 with this name.
    Unsupported(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SetValue<'a> {
    Default,
    /// A bare word (`ON`, `utf8mb4`, `READ_COMMITTED`) is given as a string literal.
    Expr(Expr<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isolation {
    ReadUncommitted,
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// The tail of SHOW.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShowFilter<'a> {
    None,
    Like(&'a [u8]),
    /// An expression over the result's column names.
    Where(&'a Expr<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Show<'a> {
    Databases(ShowFilter<'a>),
    Tables {
        full: bool,
        extended: bool,
        database: Option<&'a str>,
        filter: ShowFilter<'a>,
    },
    TableStatus {
        database: Option<&'a str>,
        filter: ShowFilter<'a>,
    },
    Columns {
        full: bool,
        extended: bool,
        table: ObjectName<'a>,
        filter: ShowFilter<'a>,
    },
    Index {
        table: ObjectName<'a>,
        filter: ShowFilter<'a>,
    },
    CreateTable(ObjectName<'a>),
    CreateDatabase {
        name: &'a str,
        if_not_exists: bool,
    },
    /// SHOW CREATE VIEW | PROCEDURE | FUNCTION | TRIGGER | EVENT, the kind in capitals.
    CreateOther {
        kind: &'static str,
        name: ObjectName<'a>,
    },
    CreateUser(AccountName<'a>),
    Variables {
        global: bool,
        filter: ShowFilter<'a>,
    },
    Status {
        global: bool,
        filter: ShowFilter<'a>,
    },
    ProcessList {
        full: bool,
    },
    /// SHOW WARNINGS LIMIT offset, count
    Warnings {
        errors_only: bool,
        offset: u64,
        count: Option<u64>,
    },
    /// SHOW COUNT(*) WARNINGS | ERRORS
    CountWarnings {
        errors_only: bool,
    },
    Engines,
    EngineStatus {
        /// `InnoDB` or ALL
        engine: &'a str,
        /// STATUS, MUTEX, LOGS
        what: &'a str,
    },
    Charsets(ShowFilter<'a>),
    Collations(ShowFilter<'a>),
    Grants {
        /// `None`: the current user, with the roles that are active.
        user: Option<AccountName<'a>>,
        /// USING
        roles: &'a [AccountName<'a>],
    },
    Privileges,
    Plugins,
    Triggers {
        full: bool,
        database: Option<&'a str>,
        filter: ShowFilter<'a>,
    },
    Events {
        database: Option<&'a str>,
        filter: ShowFilter<'a>,
    },
    /// SHOW PROCEDURE STATUS, SHOW FUNCTION STATUS
    Routines {
        functions: bool,
        filter: ShowFilter<'a>,
    },
    OpenTables {
        database: Option<&'a str>,
        filter: ShowFilter<'a>,
    },
    /// SHOW BINARY LOG STATUS, SHOW MASTER STATUS
    BinaryLogStatus,
    BinaryLogs,
    /// SHOW SERVER PROFILE FOR seconds SECONDS AT hertz HERTZ, a statement of Heddle's own.
    ServerProfile {
        seconds: u64,
        hertz: u64,
    },
    /// SHOW ADVICE [FOR TABLE t] [LIKE 'kind' | WHERE ...], a statement of Heddle's own.
    Advice {
        table: Option<ObjectName<'a>>,
        filter: ShowFilter<'a>,
    },
    ReplicaStatus {
        channel: Option<&'a [u8]>,
    },
    /// SHOW BINLOG EVENTS; `None`: SHOW RELAYLOG EVENTS
    LogEvents(Option<BinaryLogEvents<'a>>),
    Replicas,
    Profiles,
    Profile,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainFormat {
    /// The format that `explain_format` names.
    Chosen,
    /// The table of 12 columns.
    Traditional,
    Tree,
    Json,
}

/// ANALYZE TABLE ... UPDATE HISTOGRAM ON, DROP HISTOGRAM ON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Histogram<'a> {
    pub update: bool,
    pub columns: &'a [&'a str],
    pub buckets: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintenance {
    Analyze,
    Check,
    Checksum,
    Optimize,
    Repair,
}

impl Maintenance {
    /// CHECK TABLE
    pub fn is_check(self) -> bool {
        self == Self::Check
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockTable<'a> {
    pub name: ObjectName<'a>,
    pub alias: Option<&'a str>,
    /// WRITE, not READ.
    pub write: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PrepareSource<'a> {
    Text(&'a [u8]),
    /// A user variable's name.
    Variable(&'a str),
}

/// SHOW BINLOG EVENTS
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BinaryLogEvents<'a> {
    /// IN
    pub file: Option<&'a [u8]>,
    /// FROM
    pub position: Option<u64>,
    /// LIMIT
    pub offset: Option<u64>,
    pub count: Option<u64>,
}

/// Changes of the binary log's files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BinaryLogChange<'a> {
    /// PURGE BINARY LOGS TO
    PurgeTo(&'a [u8]),
    /// PURGE BINARY LOGS BEFORE
    PurgeBefore(Expr<'a>),
    /// RESET BINARY LOGS AND GTIDS [TO n]
    Reset(Option<u64>),
}

/// The threads of a replica that a statement is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplicaThreads {
    /// IO_THREAD: the receiver.
    pub receiver: bool,
    /// SQL_THREAD: the applier.
    pub applier: bool,
}

/// An option of CHANGE REPLICATION SOURCE TO.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplicaOption<'a> {
    /// As it was written.
    pub name: &'a str,
    pub value: ReplicaValue<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReplicaValue<'a> {
    Number(u64),
    /// A number with a point.
    Decimal(f64),
    Text(&'a [u8]),
    /// NULL, OFF, STREAM and the like.
    Word(&'a str),
    /// A list of numbers.
    Numbers(&'a [u64]),
}

/// The statements about the server as a replica of another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReplicaChange<'a> {
    /// CHANGE REPLICATION SOURCE TO
    Source(&'a [ReplicaOption<'a>]),
    /// START REPLICA; `other`: a clause such as UNTIL or USER.
    Start(ReplicaThreads, Option<&'static str>),
    /// STOP REPLICA
    Stop(ReplicaThreads),
    /// RESET REPLICA [ALL]
    Reset { all: bool },
}

/// One of them, with its FOR CHANNEL.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReplicaStatement<'a> {
    pub change: ReplicaChange<'a>,
    pub channel: Option<&'a [u8]>,
}
