//! What can go wrong while a statement runs, as data: `server` says which condition of the catalogue it is.
//!
//! The same type describes warnings ([`crate::Warning`]): a condition is an error in strict mode and a warning otherwise.

use conditions::Condition;

/// One failed, or noteworthy, condition. The comment names MySQL's error number.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    // evaluation
    /// 1690 `%s value is out of range in '%s'`
    OutOfRange {
        what: &'static str,
        expression: String,
    },
    /// 1365 `Division by 0`
    DivisionByZero,
    /// 1292 `Truncated incorrect %s value: '%s'`
    TruncatedWrongValue {
        what: &'static str,
        value: String,
    },
    /// 1292 `Incorrect %s value: '%s'`, without a column
    WrongValue {
        what: &'static str,
        value: String,
    },
    /// 1210 `Incorrect arguments to %s`
    WrongArguments {
        function: &'static str,
    },
    /// 1411 `Incorrect %s value: '%s' for function %s`
    WrongValueForFunction {
        what: &'static str,
        value: String,
        function: &'static str,
    },
    /// 1441 `Datetime function: %s field overflow`
    DatetimeOverflow {
        what: &'static str,
    },
    /// 1301 `Result of %s() was larger than max_allowed_packet (%d) - truncated`
    ResultTooLarge {
        function: &'static str,
        limit: u64,
    },
    /// 1260 `Row %d was cut by GROUP_CONCAT()`
    CutByGroupConcat {
        row: u64,
    },
    /// 3020 `Invalid argument for logarithm`
    InvalidLogarithm,
    /// 3141 `Invalid JSON text in argument %d to function %s: "%s" at position %d.`
    InvalidJson {
        argument: usize,
        function: &'static str,
        why: String,
        position: usize,
    },
    /// 3143 `Invalid JSON path expression. The error is around character position %d.`
    InvalidJsonPath {
        position: usize,
    },
    /// 1366 `Incorrect string value: '%s' ...`: bytes that are not text of the character set they are used as
    InvalidText {
        charset: &'static str,
        value: String,
    },
    /// 3057 `Incorrect user-level lock name '%s'.`
    WrongLockName {
        name: String,
    },
    /// 3058 `Deadlock found when trying to get user-level lock; ...`
    UserLockDeadlock,
    /// 1298 `Unknown or incorrect time zone: '%s'`
    UnknownTimeZone {
        name: String,
    },
    /// 1241/1242: more than one column or row where one is expected
    SubqueryMoreThanOneRow,

    /// 3636 `Recursive query aborted after %d iterations. ...`
    RecursionTooDeep {
        rounds: u64,
    },

    // rows being written
    /// 3751 `Data truncated for functional index '%s' at row %d`
    IndexDataTruncated {
        index: String,
        row: u64,
    },
    /// 3752 `Value is out of range for functional index '%s' at row %d`
    IndexOutOfRange {
        index: String,
        row: u64,
    },
    /// 1062 `Duplicate entry '%s' for key '%s'`; the key is `table.index`
    DuplicateEntry {
        value: String,
        key: String,
    },
    /// 1451 `Cannot delete or update a parent row: a foreign key constraint fails (%s)`
    RowIsReferenced {
        constraint: String,
    },
    /// 1452 `Cannot add or update a child row: a foreign key constraint fails (%s)`
    NoReferencedRow {
        constraint: String,
    },
    /// 1761 `Foreign key constraint for table '%s', record '%s' would lead to a duplicate entry in table '%s', key '%s'`
    ForeignDuplicate {
        table: String,
        record: String,
        child: String,
        key: String,
    },
    /// 3008 `Foreign key cascade delete/update exceeds max depth of %d.`
    CascadeTooDeep {
        levels: usize,
    },
    /// 1048 `Column '%s' cannot be null`
    ColumnCannotBeNull {
        column: String,
    },
    /// 3819 `Check constraint '%s' is violated.`
    CheckViolated {
        name: String,
    },
    /// 1369: a row is not one of the view that it is written through, as `database.view`.
    ViewCheckFailed {
        view: String,
    },
    /// 1526 and 1748: a row that no partition takes, or that another one takes
    Partition(types::partition::PartitionError),
    /// 1364 `Field '%s' doesn't have a default value`
    NoDefault {
        column: String,
    },
    /// 1264 `Out of range value for column '%s' at row %d`
    ColumnOutOfRange {
        column: String,
        row: u64,
    },
    /// 1406 `Data too long for column '%s' at row %d`
    DataTooLong {
        column: String,
        row: u64,
    },
    /// 1265 `Data truncated for column '%s' at row %d`
    DataTruncated {
        column: String,
        row: u64,
    },
    /// 1366 `Incorrect %s value: '%s' for column '%s' at row %d`
    WrongValueForColumn {
        what: &'static str,
        value: String,
        column: String,
        row: u64,
    },
    /// 1292 `Incorrect %s value: '%s' for column '%s' at row %d` (date, time, datetime)
    WrongTemporalForColumn {
        what: &'static str,
        value: String,
        column: String,
        row: u64,
    },
    /// 3140 `Invalid JSON text: "%s" at position %d in value for column '%s'.`
    /// 3156: a document that is none of the kind
    InvalidDocument {
        what: &'static str,
        column: String,
        row: u64,
    },
    InvalidJsonForColumn {
        why: String,
        position: usize,
        column: String,
    },
    /// 1467 `Failed to read auto-increment value from storage engine`
    AutoIncrementExhausted,
    /// 1118 or 1406: a row or key over the engine's limit
    RowTooLarge {
        bytes: usize,
        limit: usize,
    },
    /// 1071 `Specified key was too long; max key length is %d bytes`
    KeyTooLong {
        bytes: usize,
        limit: usize,
    },

    // the statement as a whole
    /// 1213: the whole transaction must be rolled back by the caller
    Deadlock,
    /// 1205: the statement was rolled back, the transaction goes on
    LockWaitTimeout,
    /// 3572: NOWAIT met a locked row
    NoWait,
    /// 1317: KILL QUERY or KILL CONNECTION
    Interrupted,
    /// 3024: max_execution_time
    QueryTimeout,
    /// 1038: a sort, a hash table or a DISTINCT grew over the statement's memory
    OutOfSortMemory {
        limit: usize,
        setting: &'static str,
    },
    /// 1412: a table, or its index, was made after the transaction's snapshot
    SnapshotTooOld,
    /// 1412: the table changed since the plan was made; plan again
    TableChanged {
        table: String,
    },
    /// 1114: the disk, or the file, is full
    Full {
        table: String,
    },
    /// 1021: no room on the disk for temporary files
    TemporaryDiskFull,
    /// 1114: temporary files take what `heddle_temporary_space_max` allows
    TemporarySpaceFull {
        limit: u64,
    },
    /// 1030: I/O error, corruption; the text names file and page
    Storage(String),
    /// 1235 `This version of Heddle doesn't yet support '%s'`
    NotSupported(String),
    /// The client went away while its result was being sent, so this is never shown.
    ClientGone,
    /// A condition of a crate above (`server`), kept in the same list of warnings.
    Condition(Box<Condition>),
    /// A condition that says all of itself: of SIGNAL, or of a stored program that a statement has called.
    Raised(Box<Raised>),
}

/// How serious a condition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Note,
    Warning,
    Error,
}

/// A condition as a stored program sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Raised {
    pub number: u16,
    pub state: [u8; 5],
    pub message: String,
    pub level: Level,
    /// What SIGNAL set besides.
    pub items: Vec<(conditions::SignalItem, String)>,
}

impl Error {
    /// A CHECK, or a view's, refuses a row, which IGNORE leaves as it is.
    /// An error about the value of a functional key part names its index.
    pub fn of_index(self, index: &str, row: u64) -> Self {
        let index = index.to_owned();
        match self {
            Error::TruncatedWrongValue { .. }
            | Error::WrongValue { .. }
            | Error::DataTruncated { .. }
            | Error::DataTooLong { .. }
            | Error::WrongValueForColumn { .. }
            | Error::WrongTemporalForColumn { .. } => Error::IndexDataTruncated { index, row },
            Error::Condition(condition) if matches!(*condition, Condition::TruncatedWrongValue { .. }) => {
                Error::IndexDataTruncated { index, row }
            }
            Error::IndexDataTruncated { .. } => Error::IndexDataTruncated { index, row },
            Error::ColumnOutOfRange { .. } | Error::IndexOutOfRange { .. } => Error::IndexOutOfRange { index, row },
            Error::Condition(condition) => Error::from(named_index(*condition, &index)),
            other => other,
        }
    }

    pub fn refuses_row(&self) -> bool {
        matches!(self, Error::CheckViolated { .. } | Error::ViewCheckFailed { .. } | Error::Partition(_))
    }
}

/// A condition about a multi-valued index, with its name.
fn named_index(condition: Condition, index: &str) -> Condition {
    let index = index.into();
    match condition {
        Condition::InvalidJsonValueForFuncIndex { .. } => Condition::InvalidJsonValueForFuncIndex { index },
        Condition::JsonValueOutOfRangeForFuncIndex { .. } => Condition::JsonValueOutOfRangeForFuncIndex { index },
        Condition::ExceededMvKeysNum { count, .. } => Condition::ExceededMvKeysNum { index, count },
        Condition::ExceededMvKeysSpace { bytes, .. } => Condition::ExceededMvKeysSpace { index, bytes },
        Condition::FunctionalIndexDataIsTooLong { .. } => Condition::FunctionalIndexDataIsTooLong { index },
        Condition::WrongMviValue { .. } => Condition::WrongMviValue { index },
        other => other,
    }
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self:?}")
    }
}

impl std::error::Error for Error {}

/// The result of an execution step.
pub type Result<T> = std::result::Result<T, Error>;

impl From<Condition> for Error {
    fn from(condition: Condition) -> Self {
        Error::Condition(Box::new(condition))
    }
}

impl From<types::work::Stopped> for Error {
    fn from(stopped: types::work::Stopped) -> Self {
        match stopped {
            types::work::Stopped::Killed => Error::Interrupted,
            types::work::Stopped::TimedOut => Error::QueryTimeout,
        }
    }
}
