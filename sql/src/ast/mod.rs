//! The syntax tree: the statement as written, before any name is resolved.
//!
//! Every node lives in an [`crate::arena::Arena`] or in the statement's own text, and is `Copy`. Names are UTF-8;
//! string literals are bytes. `parser::HEIGHT_MAX` bounds the height of the tree, so recursion over it is safe. Chains
//! of AND, of OR and of set operations are flat lists, because programs generate long ones.

mod account;
mod ddl;
mod event;
mod expr;
mod partition;
mod print;
mod query;
mod routine;
mod session;
mod xa;

pub use account::*;
pub use ddl::*;
pub use event::*;
pub use expr::*;
pub use partition::*;
pub use query::*;
pub use routine::*;
pub use session::*;
pub use xa::*;

/// `name` or `database.name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ObjectName<'a> {
    pub database: Option<&'a str>,
    pub name: &'a str,
}

/// One statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Statement<'a> {
    /// Only spaces and comments; MySQL answers 1065 "Query was empty" (or OK after a comment that it skipped).
    Empty,
    Query(&'a Query<'a>),
    Insert(&'a Insert<'a>),
    Update(&'a Update<'a>),
    Delete(&'a Delete<'a>),
    LoadData(&'a LoadData<'a>),

    CreateDatabase(CreateDatabase<'a>),
    AlterDatabase {
        /// `None`: the current one.
        name: Option<&'a str>,
        options: DatabaseOptions<'a>,
    },
    DropDatabase {
        name: &'a str,
        if_exists: bool,
    },
    CreateTable(&'a CreateTable<'a>),
    DropTable {
        names: &'a [ObjectName<'a>],
        if_exists: bool,
        temporary: bool,
    },
    /// CREATE VIEW, ALTER VIEW
    CreateView(&'a CreateView<'a>),
    DropView {
        names: &'a [ObjectName<'a>],
        if_exists: bool,
    },
    Truncate {
        table: ObjectName<'a>,
    },
    CreateIndex(&'a CreateIndex<'a>),
    DropIndex {
        name: &'a str,
        table: ObjectName<'a>,
        how: AlterHow,
    },
    AlterTable(&'a AlterTable<'a>),
    RenameTable {
        pairs: &'a [(ObjectName<'a>, ObjectName<'a>)],
    },

    CreateRoutine(&'a CreateRoutine<'a>),
    AlterRoutine {
        function: bool,
        name: ObjectName<'a>,
        characteristics: Characteristics<'a>,
    },
    DropRoutine {
        function: bool,
        name: ObjectName<'a>,
        if_exists: bool,
    },
    CreateTrigger(&'a CreateTrigger<'a>),
    DropTrigger {
        name: ObjectName<'a>,
        if_exists: bool,
    },
    CreateEvent(&'a CreateEvent<'a>),
    AlterEvent(&'a AlterEvent<'a>),
    DropEvent {
        name: ObjectName<'a>,
        if_exists: bool,
    },
    /// SIGNAL, RESIGNAL, GET DIAGNOSTICS outside of a stored program: the text, which is run as a program of one
    /// instruction.
    Condition(&'a str),
    Call(&'a CallProcedure<'a>),

    /// BEGIN, START TRANSACTION
    Begin {
        consistent_snapshot: bool,
        /// READ ONLY, READ WRITE; `None` is the session's default.
        read_only: Option<bool>,
    },
    Commit(TransactionEnd),
    Rollback(TransactionEnd),
    Savepoint(&'a str),
    RollbackTo(&'a str),
    ReleaseSavepoint(&'a str),

    Set(&'a [SetItem<'a>]),
    Use(&'a str),
    Show(Show<'a>),
    /// DESCRIBE t, DESC t col, EXPLAIN t
    Describe {
        table: ObjectName<'a>,
        /// A column name or a LIKE pattern.
        column: Option<&'a str>,
    },
    Explain {
        format: ExplainFormat,
        analyze: bool,
        statement: &'a Statement<'a>,
        /// The text of the statement.
        text: &'a [u8],
        /// INTO @name: the plan becomes the variable's value.
        into: Option<&'a str>,
    },
    /// EXPLAIN FOR CONNECTION
    ExplainConnection {
        id: u64,
    },
    Kill {
        /// KILL QUERY: the statement, not the connection.
        query: bool,
        id: Expr<'a>,
    },
    Flush {
        /// Upper case, as written: `TABLES`, `PRIVILEGES`, `STATUS`, `LOGS`.
        what: &'a str,
        tables: &'a [ObjectName<'a>],
        /// FLUSH TABLES ... WITH READ LOCK
        read_lock: bool,
        /// FLUSH TABLES ... FOR EXPORT
        export: bool,
    },
    TableMaintenance {
        kind: Maintenance,
        tables: &'a [ObjectName<'a>],
        /// Of ANALYZE TABLE.
        histogram: Option<Histogram<'a>>,
        /// ALTER TABLE ... ANALYZE PARTITION and the like: the names, none for ALL.
        partitions: Option<&'a [&'a str]>,
    },
    LockTables(&'a [LockTable<'a>]),
    UnlockTables,
    /// LOCK INSTANCE FOR BACKUP and its release.
    LockInstance {
        lock: bool,
    },
    BackupServer(BackupServer),
    /// ADVISE FOR, MEASURE ADVICE and the like: statements of Heddle's own.
    Advice(Advice<'a>),
    /// CLONE LOCAL DATA DIRECTORY = '...'
    CloneLocal {
        directory: &'a [u8],
    },
    Prepare {
        name: &'a str,
        source: PrepareSource<'a>,
    },
    Execute {
        name: &'a str,
        /// Names of user variables.
        using: &'a [&'a str],
    },
    Deallocate {
        name: &'a str,
    },
    Do(&'a [Expr<'a>]),
    Help(&'a [u8]),
    /// RESET PERSIST: of one variable, or of all.
    ResetPersist {
        name: Option<&'a str>,
        if_exists: bool,
    },
    /// PURGE BINARY LOGS, RESET BINARY LOGS AND GTIDS
    BinaryLog(&'a BinaryLogChange<'a>),
    /// XA START and the like.
    Xa(Xa<'a>),
    /// CHANGE REPLICATION SOURCE TO, START REPLICA and the like.
    Replica(&'a ReplicaStatement<'a>),
    /// Stops the server.
    Shutdown,
    /// CREATE USER, GRANT, SET ROLE and the like.
    Account(&'a AccountStatement<'a>),
    /// A statement of MySQL's that Heddle does not have yet; the server answers 1235 with this name.
    Unsupported {
        what: &'static str,
    },
}

/// A statement to the query doctor. A finding is named by its id.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Advice<'a> {
    /// `ADVISE FOR statement`: what there is to say about one statement.
    For { statement: &'a Statement<'a>, text: &'a [u8] },
    /// `MEASURE ADVICE 'id'`: makes the index, invisible, and runs the statements with and without it.
    Measure(&'a [u8]),
    /// `APPLY ADVICE 'id'`: makes the index visible, and watches whether it helps.
    Apply(&'a [u8]),
    /// `REVERT ADVICE 'id'`: drops the index again.
    Revert(&'a [u8]),
}

/// `BACKUP SERVER [SINCE epoch] [FOLLOW]`: the data directory as rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BackupServer {
    /// Only pages that were changed since the backup that began at this epoch.
    pub since: Option<u64>,
    /// The log goes on as it grows.
    pub follow: bool,
}

/// The effects of a statement on transactions and data, derived from its syntax alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct StatementInfo {
    /// Commits the open transaction before it runs.
    pub implicit_commit: bool,
    /// Changes rows, tables or databases: not allowed in a READ ONLY transaction (1792).
    pub writes: bool,
    /// Returns a result set when it succeeds.
    pub returns_rows: bool,
    /// SELECT, INSERT, UPDATE, DELETE, REPLACE: statements for the binder and the planner.
    pub plannable: bool,
}

impl Statement<'_> {
    /// Classifies the statement without resolving any name.
    pub fn info(&self) -> StatementInfo {
        use Statement as S;
        let ddl = StatementInfo { implicit_commit: true, writes: true, ..Default::default() };
        let rows = StatementInfo { returns_rows: true, ..Default::default() };
        match self {
            S::Query(query) => {
                StatementInfo { returns_rows: query.into.is_none(), plannable: true, writes: false, implicit_commit: false }
            }
            S::Insert(_) | S::Update(_) | S::Delete(_) => StatementInfo { writes: true, plannable: true, ..Default::default() },
            S::LoadData(_) => StatementInfo { writes: true, ..Default::default() },
            S::CreateTable(create) if create.temporary => StatementInfo { writes: false, ..Default::default() },
            S::DropTable { temporary: true, .. } => StatementInfo::default(),
            S::CreateDatabase(_)
            | S::AlterDatabase { .. }
            | S::DropDatabase { .. }
            | S::CreateTable(_)
            | S::DropTable { .. }
            | S::CreateView(_)
            | S::DropView { .. }
            | S::Truncate { .. }
            | S::CreateIndex(_)
            | S::DropIndex { .. }
            | S::AlterTable(_)
            | S::RenameTable { .. }
            | S::CreateRoutine(_)
            | S::AlterRoutine { .. }
            | S::DropRoutine { .. }
            | S::CreateTrigger(_)
            | S::DropTrigger { .. }
            | S::CreateEvent(_)
            | S::AlterEvent(_)
            | S::DropEvent { .. } => ddl,
            S::Account(AccountStatement::SetRole(_)) => StatementInfo::default(),
            S::Account(_) => ddl,
            S::TableMaintenance { .. } => StatementInfo { implicit_commit: true, returns_rows: true, ..Default::default() },
            S::Flush { .. } | S::LockTables(_) | S::Begin { .. } => StatementInfo { implicit_commit: true, ..Default::default() },
            S::Advice(Advice::For { .. }) => rows,
            S::Advice(_) => StatementInfo { implicit_commit: true, writes: true, returns_rows: true, plannable: false },
            S::Show(_) | S::Describe { .. } | S::Explain { .. } | S::ExplainConnection { .. } | S::Help(_) => rows,
            _ => StatementInfo::default(),
        }
    }
}
