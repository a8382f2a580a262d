//! Errors in a statement, as data. `server` maps each variant to its condition in the catalogue; the comment beside a
//! variant names its MySQL number.

use crate::routine::RoutineError;
use crate::row_expr::RowExprUse;
use conditions::Condition;
use std::fmt;
use types::partition::PartitionError;

pub type Result<T> = std::result::Result<T, Error>;

/// A privilege that the account lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// `SELECT`, `INSERT, CREATE`
    pub command: String,
    pub user: String,
    pub host: String,
    pub table: String,
    /// `None`: with the table at all.
    pub column: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// 1064 "You have an error in your SQL syntax; ... near '{near}' at line {line}"
    Syntax {
        near: String,
        line: u32,
    },
    /// A condition that nothing needs to tell from others.
    Condition(Box<Condition>),
    /// 1436: the statement is nested deeper than the parser follows.
    TooDeep,
    /// 1317 and 3024: it was killed while it was read or planned, or its time was over.
    Stopped(types::work::Stopped),
    /// 1300: a name is not valid UTF-8. `text` is the hex of its first bytes.
    InvalidUtf8 {
        text: String,
    },
    /// 1300: bytes after `_charset` that are invalid in that character set, as hexadecimal digits.
    InvalidText {
        charset: &'static str,
        text: String,
    },
    /// 1235 "This version of MySQL doesn't yet support '{0}'"
    NotSupported(String),
    /// 1117
    TooManyColumns,
    /// 1116
    TooManyTables,
    /// 1390 "Prepared statement contains too many placeholders"
    TooManyParams,
    /// 1059 "Identifier name '{0}' is too long"
    IdentifierTooLong(String),
    /// 1470 "String '{name}' is too long for {what} (should be no longer than {most})"
    AccountNameTooLong {
        name: String,
        what: &'static str,
        most: usize,
    },
    /// 1142 and 1143
    Denied(Box<Denied>),
    Partition(PartitionError),
    /// 1103 "Incorrect table name", 1102 database, 1166 column
    WrongName {
        kind: NameKind,
        name: String,
    },
    /// 1115 "Unknown character set"
    UnknownCharset(String),
    /// 1273 "Unknown collation"
    UnknownCollation(String),
    /// 1253 "COLLATION '{collation}' is not valid for CHARACTER SET '{charset}'"
    CollationMismatch {
        collation: String,
        charset: String,
    },
    /// 1267 "Illegal mix of collations"
    IllegalMix(Box<IllegalMix>),
    /// 3514
    LongBitOperand,
    /// 3995 "Character set '{left}' cannot be used in conjunction with '{right}' in call to {function}."
    CharsetsTogether {
        left: &'static str,
        right: &'static str,
        function: String,
    },
    /// 3854
    NoTextOf {
        bytes: Vec<u8>,
        charset: &'static str,
    },
    /// 1054 "Unknown column '{name}' in '{clause}'"
    UnknownColumn {
        name: String,
        clause: Clause,
    },
    /// 1109 "Unknown table '{table}' in {clause}"
    NoSuchTable {
        table: String,
        /// The whole name.
        column: String,
        clause: Clause,
        /// In a subquery, where the column is the unknown name: 1054.
        nested: bool,
    },
    /// 1052 "Column '{name}' in {clause} is ambiguous"
    AmbiguousColumn {
        name: String,
        clause: Clause,
    },
    /// 1146
    UnknownTable {
        database: String,
        table: String,
    },
    /// 1049
    UnknownDatabase(String),
    /// 1046
    NoDatabase,
    /// 1066 "Not unique table/alias"
    NotUniqueTable(String),
    /// 1051 "Unknown table '{0}'" of `t.*` and multi-table DELETE (1109 for that)
    UnknownTableAll(String),
    /// 1248 "Every derived table must have its own alias"
    DerivedWithoutAlias,
    /// 1353: a column list of another length than the select list
    DerivedColumns,
    /// 1473 "Too high level of nesting for select"
    TooManyLevels(usize),
    /// A common table expression names itself where that is not allowed; see [`RecursiveError`].
    Recursive {
        why: RecursiveError,
        table: String,
    },
    /// 3593 "You cannot use the window function '{0}' in this context.'"
    WindowContext(String),
    /// 3594: the alias of an expression with a window function, where none may stand
    WindowAlias(String),
    /// A window is defined wrongly; see [`WindowError`].
    Window {
        why: WindowError,
        name: String,
    },
    /// 3667 "Every table function must have an alias"
    TableFunctionWithoutAlias,
    /// 1210 of JSON_TABLE's path, and 3143
    JsonPath {
        position: usize,
    },
    /// 3141: a DEFAULT of JSON_TABLE that is not a document
    JsonDefault {
        why: String,
        position: usize,
    },
    /// 3583 "Window '{window}' cannot inherit '{base}' since both contain an ORDER BY clause."
    WindowOrderTwice {
        window: String,
        base: String,
    },
    /// 3602 "Argument #{0} of GROUPING function is not in GROUP BY"
    GroupingArgument(usize),
    /// 3601: GROUPING with this many arguments
    GroupingArguments(usize),
    /// 1109 "Unknown table '{table}' in {clause}" of multi-table DELETE
    UnknownTarget {
        table: String,
        clause: &'static str,
    },
    /// 1706 "Primary key/partition key update is not allowed since the table is updated both as '{0}' and '{1}'."
    UpdatedTwice(String, String),
    /// 1055 (`expression` is the select item's number from 1)
    NotGrouped {
        expression: usize,
        column: String,
        clause: Clause,
    },
    /// 1140: an aggregate without GROUP BY beside a plain column
    MixedGroup {
        expression: usize,
        column: String,
    },
    /// 3105 "The value specified for generated column '{column}' in table '{table}' is not allowed."
    GeneratedValue {
        column: String,
        table: String,
    },
    /// 1111 "Invalid use of group function"
    InvalidGroupUse,
    /// 3029 "Expression #{0} of ORDER BY contains aggregate function and applies to the result of a non-aggregated query"
    AggregateOrder(usize),
    /// 1056 "Can't group on '{0}'"
    WrongGroupField(String),
    /// 3065 "Expression #{n} of ORDER BY clause is not in SELECT list ... DISTINCT"
    OrderNotInDistinct {
        expression: usize,
        column: String,
    },
    /// 3998 "Cannot cast value to TIMESTAMP WITH TIME ZONE."
    NoTimestampWithTimeZone,
    /// 3066 "Expression #{n} of ORDER BY clause is not in SELECT list, contains aggregate function; ... DISTINCT"
    AggregateOrderNotInDistinct {
        expression: usize,
    },
    /// 1582 "Incorrect parameter count in the call to native function '{0}'"
    WrongParamCount(String),
    /// 1305 "FUNCTION {0} does not exist" (database.name)
    UnknownFunction(String),
    /// 1630 "FUNCTION {0} does not exist. Check the 'Function Name Parsing and Resolution' section in the Reference Manual"
    FunctionApart(String),
    /// 1193
    UnknownSystemVariable(String),
    /// 1136 "Column count doesn't match value count at row {0}"
    ColumnCount {
        row: usize,
    },
    /// 1110 "Column '{0}' specified twice"
    ColumnTwice(String),
    /// 1241 "Operand should contain {0} column(s)"
    OperandColumns(usize),
    /// 1222 "The used SELECT statements have a different number of columns"
    SetColumns,
    /// 3953 "Multiple INTO clauses in one query block."
    SecondInto,
    /// 3954 "Misplaced INTO clause, INTO is not allowed inside subqueries, and must be placed at end of UNION clauses."
    MisplacedInto,
    /// 1096 "No tables used"
    NoTables,
    /// 1221 "Incorrect usage of {0} and {1}"
    WrongUsage(&'static str, &'static str),
    /// 1250 "Table '{0}' from one of the SELECTs cannot be used in global ORDER clause"
    GlobalOrder(String),
    /// 1210 "Incorrect arguments to {0}"
    WrongArguments(String),
    /// 1323
    CursorInto,
    /// An error in a stored routine; see [`RoutineError`].
    Routine(RoutineError),
    /// 1064: a variable in LIMIT that is not an integer
    NoInteger {
        name: String,
        near: String,
        line: u32,
    },
    /// 1327 "Undeclared variable: {0}" for LIMIT
    Undeclared(String),
    /// 3579 "Window name '{0}' is not defined"
    UnknownWindow(String),
    /// 1176 "Key '{key}' doesn't exist in table '{table}'"
    UnknownKey {
        key: String,
        table: String,
    },
    /// 1364 "Field '{0}' doesn't have a default value", known when binding: DEFAULT(col)
    NoDefault(String),
    /// 1525 "Incorrect {kind} value: '{value}'" of a date literal, and of a text that is compared with a date
    WrongLiteral {
        kind: &'static str,
        value: String,
    },
    /// 1292 "Incorrect {kind} value: '{value}' for column '{column}' at row 1", or, without a column, "Truncated
    /// incorrect {kind} value: '{value}'": a constant in a strict INSERT, UPDATE or DELETE
    NoDate {
        kind: &'static str,
        value: String,
        column: Option<String>,
    },
    /// 1690 "{kind} value is out of range in '{expression}'"
    OutOfRange {
        kind: &'static str,
        expression: String,
    },
    /// 6432 "Outer reference {0} in window's ORDER BY or PARTITION BY clause not allowed."
    OuterInWindow(String),
    /// 1352 "View's SELECT refers to a temporary table '{0}'"
    ViewOfTemporary(String),
    /// 3568 "Unresolved table name {0} in locking clause."
    UnresolvedLock(String),
    /// 3569 "Table `{0}` appears in multiple locking clauses."
    LockedTwice(String),
    /// 1367 "Illegal {kind} '{value}' value found during parsing"
    IllegalNumber {
        kind: &'static str,
        value: String,
    },
    /// 1288 "The target table {table} of the {statement} is not updatable"
    NotUpdatable {
        table: String,
        statement: &'static str,
    },
    /// 1683 "Invalid performance_schema usage."
    FixedSetting,
    /// 1093 "You can't specify target table '{0}' for update in FROM clause"
    UpdateTableUsed(String),
    /// 1348 "Column '{0}' is not updatable"
    ColumnNotUpdatable(String),
    /// 1234 "Incorrect usage/placement of '{0}'"
    MisplacedOption(&'static str),
    /// 1471 "The target table {0} of the INSERT is not insertable-into"
    NotInsertable(String),
    /// Something about a view; see [`ViewProblem`]. `view` is `database.name`.
    View {
        why: ViewProblem,
        view: String,
    },
    /// A text file cannot be read or written like this; see [`FileError`].
    File(FileError),
    /// A definition is wrong; see [`DefinitionError`].
    Definition(DefinitionError),
}

/// An error in a view, or in the use of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViewProblem {
    /// 1356: a table or column that it reads is missing
    Invalid,
    /// 1462: it reads itself
    Recursion,
    /// 1350: its query has INTO
    Into,
    /// 1351: its query has a variable or a parameter
    Variable,
    /// 1368: WITH CHECK OPTION, and no row can be changed through it
    CheckWithoutUpdates,
    /// 1393: columns of several tables are changed
    SeveralTables,
    /// 1394: INSERT into a join without columns
    WithoutColumns,
    /// 1395: DELETE from a join
    DeleteFromJoin,
    /// 1423: a column of its table that gets nothing has no default
    NoDefault,
    /// 1449: its definer is not there
    NoDefiner { user: String, host: String },
    /// 1045: the same, for a user who may not learn about accounts
    NoAccess { user: String, host: String, using_password: bool },
    /// 1443: a subquery reads the table that is changed
    Prevents { statement: &'static str, table: String },
}

/// An error in the format of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileError {
    /// 1083: ENCLOSED BY or ESCAPED BY has more than one byte
    Separator,
    /// 1084: rows of fixed length have a TEXT or BLOB
    Blobs,
    /// 1409: a field of fixed length is assigned to a variable
    FixedVariable,
}

/// How a common table expression names itself wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecursiveError {
    /// 3573
    NoSeed,
    /// 3574
    SeedBehindStep,
    /// 3575
    Aggregation,
    /// 3576
    JoinOrder,
    /// 3577
    SeveralUses,
    /// 4114
    Operand,
}

/// An error in a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowError {
    /// 3580
    Circular,
    /// 3581
    ChildPartitions,
    /// 3582
    BaseHasFrame,
    /// 3584
    StartsAtEnd,
    /// 3585
    EndsAtStart,
    /// 3586
    FrameBound,
    /// 3587
    RangeOrder,
    /// 3588
    TemporalOffset,
    /// 3589
    NumericOffset,
    /// 3596
    IntervalOfRows,
    /// 3590
    NotConstant,
    /// 3591
    DefinedTwice,
    /// 3592
    Position,
}

/// Collations that do not go together, as MySQL's message shows them: `(utf8mb4_bin,EXPLICIT)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IllegalMix {
    pub operands: Vec<String>,
    pub operation: String,
}

/// An error in a CREATE or ALTER TABLE that does not depend on data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DefinitionError {
    /// 1060
    DuplicateColumn(String),
    /// 1068
    MultiplePrimaryKeys,
    /// 1072 "Key column '{0}' doesn't exist in table"
    KeyColumnMissing(String),
    /// 1074 "Column length too big for column '{column}' (max = {max}); use BLOB or TEXT instead"
    ColumnTooLong { column: String, max: u64 },
    /// 1067 "Invalid default value for '{0}'"
    InvalidDefault(String),
    /// 1101 "BLOB, TEXT, GEOMETRY or JSON column '{0}' can't have a default value"
    BlobDefault(String),
    /// 1063 "Incorrect column specifier for column '{0}'"
    WrongColumnSpecifier(String),
    /// 1425 "Too big scale {scale} specified for column '{column}'. Maximum is {max}."
    TooBigScale { column: String, scale: u32, max: u32 },
    /// 1426 "Too-big precision {precision} specified for '{column}'. Maximum is {max}."
    TooBigPrecision { column: String, precision: u32, max: u32 },
    /// 1427 "For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '{0}')."
    ScaleOverPrecision(String),
    /// 1439 "Display width out of range for column '{column}' (max = {max})"
    DisplayWidth { column: String, max: u32 },
    /// 1818 "Invalid display width. Use YEAR instead."
    YearWidth,
    /// 3013 "Invalid size for column '{0}'."
    InvalidSize(String),
    /// 1629, 1628, 1688, 1793: a comment of more than this many characters
    CommentTooLong { of: CommentOf, name: String, max: usize },
    /// 1170 "BLOB/TEXT column '{0}' used in key specification without a key length"
    BlobKeyWithoutLength(String),
    /// 1089 "Incorrect prefix key; ..."
    WrongPrefix,
    /// 1071 "Specified key was too long; max key length is {0} bytes"
    KeyTooLong(u32),
    /// 1171 "All parts of a PRIMARY KEY must be NOT NULL"
    PrimaryNullable,
    /// 4028 "A table must have at least one visible column."
    NoColumns,
    /// 1091 "Can't DROP '{0}'; check that column/key exists"
    CannotDrop(String),
    /// 1054 in 'table name'
    NoSuchColumn { column: String, table: String },
    /// 1291 "Column '{column}' has duplicated value '{value}' in {kind}"
    DuplicateMember { column: String, value: String, kind: &'static str },
    /// 1286 "Unknown storage engine '{0}'"
    UnknownEngine(String),
    /// 1070 "Too many key parts specified; max {0} parts allowed"
    TooManyKeyParts(u32),
    /// 1069 "Too many keys specified; max {0} keys allowed"
    TooManyKeys(u32),
    /// 1118 "Row size too large"
    RowTooLarge,
    /// 1800 "Unknown ALGORITHM '{0}'"
    UnknownAlgorithm(String),
    /// 1801 "Unknown LOCK type '{0}'"
    UnknownLock(String),
    /// 3102 and others: an expression over a row that a definition cannot have
    RowExpr { usage: RowExprUse, problem: RowExprProblem },
    /// A functional key part that cannot be one
    KeyPart(KeyPartProblem),
}

/// The object of a comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommentOf {
    Column,
    Table,
    Index,
    Partition,
}

/// Why a functional key part cannot be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyPartProblem {
    /// 3753: a document
    Json,
    /// 3756: of the primary key
    Primary,
    /// 3757: a TEXT or BLOB
    Lob,
    /// 3759
    FullText,
    /// 3760
    Spatial,
    /// 3761: NULL alone
    Null,
    /// 3762: a column
    Column,
}

/// An error in an expression over a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowExprProblem {
    /// A function, by its name, whose value is not the row's alone.
    Function(String),
    /// A subquery or another construct without a name.
    Unnamed,
    Variable,
    RowValue,
    /// DEFAULT(c) in a default
    DefaultFunction,
    /// A CHECK that is not a condition
    NotBoolean,
    UnknownColumn(String),
    /// It reads an AUTO_INCREMENT column.
    AutoIncrement,
    /// It reads a column whose value is computed after it.
    NotPrior,
    /// A CHECK beside a column that reads another one
    OtherColumn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameKind {
    Database,
    Table,
    Column,
}

/// The part of a statement that an error names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause {
    FieldList,
    Where,
    On,
    GroupBy,
    Having,
    OrderBy,
    /// INSERT ... VALUES and the SELECT list of INSERT ... SELECT
    InsertList,
    From,
    Limit,
    /// The document of JSON_TABLE
    TableFunction,
}

impl Clause {
    /// As MySQL's messages name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FieldList | Self::InsertList => "field list",
            Self::Where => "where clause",
            Self::On => "on clause",
            Self::GroupBy => "group statement",
            Self::Having => "having clause",
            Self::OrderBy => "order clause",
            Self::From => "from clause",
            Self::Limit => "limit clause",
            Self::TableFunction => "a table function argument",
        }
    }
}

impl From<types::work::Stopped> for Error {
    fn from(stopped: types::work::Stopped) -> Self {
        Self::Stopped(stopped)
    }
}

impl Error {
    /// Of `CAST(x AS type ARRAY)` anywhere else than as a whole key part.
    #[cold]
    pub(crate) fn misplaced_array() -> Self {
        let what = "Use of CAST( .. AS .. ARRAY) outside of functional index in CREATE(non-SELECT)/ALTER TABLE or in general expressions";
        Condition::NotSupportedByMysql { what: what.into() }.into()
    }
}

impl From<Condition> for Error {
    fn from(condition: Condition) -> Self {
        Error::Condition(Box::new(condition))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { near, line } => write!(f, "syntax error near '{near}' at line {line}"),
            Self::NotSupported(what) => write!(f, "not supported: {what}"),
            Self::UnknownColumn { name, clause } => write!(f, "unknown column '{name}' in '{}'", clause.name()),
            Self::AmbiguousColumn { name, clause } => write!(f, "column '{name}' in {} is ambiguous", clause.name()),
            other => write!(f, "{other:?}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<DefinitionError> for Error {
    fn from(error: DefinitionError) -> Self {
        Self::Definition(error)
    }
}

impl From<PartitionError> for Error {
    fn from(error: PartitionError) -> Self {
        Error::Partition(error)
    }
}

impl From<RoutineError> for Error {
    fn from(error: RoutineError) -> Self {
        Error::Routine(error)
    }
}
