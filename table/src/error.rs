//! Errors of the catalog and of DDL, as data. `server` maps each to its condition.
//!
//! Row operations do not use this enum: they return `txn::Interrupt`, and outcomes that are data (a duplicate is not an
//! error here).

use crate::ddl::ForeignKeyError;
use std::fmt;

/// Why a database did not open or a DDL statement did not run. The number in each comment is MySQL's.
#[derive(Debug)]
pub enum Error {
    /// The engine's own error: I/O, a full disk, a lock wait that timed out (1205), a deadlock (1213).
    Engine(txn::Error),
    /// The catalog holds something that this version cannot read.
    CorruptCatalog { what: String },
    /// 1205: other transactions used the table for longer than the statement wanted to wait.
    LockWaitTimeout,
    /// 1099: the session has locked the table for reading.
    LockedForReading { table: String },
    /// 1317: the statement was killed while it ran.
    Interrupted,
    /// 1007
    DatabaseExists { database: String },
    /// 1008, for DROP DATABASE
    DatabaseMissing { database: String },
    /// 1304
    RoutineExists { kind: &'static str, name: String },
    /// 1305, with the database's name before a dot
    RoutineMissing { kind: &'static str, name: String },
    /// 1537
    EventExists { name: String },
    /// 1539
    EventMissing { name: String },
    /// 1049, for everything else that names a database
    UnknownDatabase { database: String },
    /// 1359
    TriggerExists,
    /// 1360
    TriggerMissing,
    /// 3011: FOLLOWS, PRECEDES
    TriggerUnknown { name: String },
    /// 1435: a table with triggers does not go to another database
    TriggerMoves,
    /// 1050
    TableExists { table: String },
    /// 1051, for DROP TABLE (`database.table`)
    UnknownTable { database: String, table: String },
    /// 1146, for everything else that names a table
    TableMissing { database: String, table: String },
    /// 1347 "'{database}.{table}' is not BASE TABLE"
    NotBaseTable { database: String, table: String },
    /// 1347 "'{database}.{table}' is not VIEW"
    NotView { database: String, table: String },
    /// 1450: RENAME TABLE of a view to another database
    ViewMoves { from: String, to: String },
    /// 1054: ALTER TABLE names a column that is not there.
    UnknownColumn { column: String, table: String },
    /// 1060
    DuplicateColumn { column: String },
    /// 1061
    DuplicateKeyName { index: String },
    /// 1062: `key` is the duplicate's text as MySQL prints it (`1-abc`), `index` is `table.index`.
    DuplicateEntry { key: String, index: String },
    /// As `DuplicateEntry`, where ALTER TABLE numbers the rows.
    DuplicateNumber { key: String, index: String },
    /// 1068
    MultiplePrimaryKeys,
    /// 1071
    KeyTooLong { max_bytes: usize },
    /// 1072
    KeyColumnMissing { column: String },
    /// 1074: CHAR and VARCHAR lengths; `max` in characters.
    ColumnTooLong { column: String, max: u32 },
    /// 1075: more than one AUTO_INCREMENT column, or it is not a key's first column.
    WrongAutoIncrement,
    /// 1063: AUTO_INCREMENT on a type that cannot have it.
    WrongColumnType { column: String },
    /// 1067
    InvalidDefault { column: String },
    /// 1391: a prefix of no characters.
    EmptyPrefix { column: String },
    /// 1089: prefix longer than the column, or on a column that has none.
    WrongPrefix,
    /// 1090: ALTER TABLE drops every column.
    CannotRemoveAllColumns,
    /// 1091: DROP COLUMN / DROP INDEX of something that is not there.
    CannotDrop { name: String },
    /// 1101
    BlobDefault { column: String },
    /// 4028: none that is visible
    NoColumns,
    /// 1117
    TooManyColumns,
    /// 1069
    TooManyKeys { max: usize },
    /// 1070
    TooManyKeyParts { max: usize },
    /// 1118
    RowTooLarge { max_bytes: usize },
    /// 1167: a JSON column cannot be indexed directly (3152).
    JsonAsKey { column: String },
    /// 6134: a vector as a key
    VectorAsKey { column: String },
    /// Why a column, or columns, cannot have a SPATIAL index.
    SpatialKey(SpatialKeyProblem),
    /// 1283
    NotFullText { column: String },
    /// 1214
    PartitionedFullText,
    /// 1178, of a SPATIAL index or a column of geometries.
    PartitionedSpatial,
    /// 1170
    BlobKeyWithoutLength { column: String },
    /// 1171
    NullablePrimaryKey,
    /// 1280
    WrongIndexName { index: String },
    /// 1059
    NameTooLong { name: String },
    /// 1102 / 1103 / 1166: an empty name or one that ends in a space.
    WrongName { what: NameOf, name: String },
    /// A value of the copied table does not fit the new column (1264, 1265, 1366, 1406 ...). `row` counts from 1.
    Conversion { problem: types::convert::Problem, column: String, row: u64 },
    /// What a foreign key forbids.
    ForeignKey(Box<ForeignKeyError>),
    /// 1138: NULL in a column that becomes NOT NULL.
    InvalidNull,
    /// 1467: the numbers of the AUTO_INCREMENT column do not suffice for the rows.
    AutoIncrementUsedUp,
    /// 3822
    DuplicateCheck { name: String },
    /// 3821
    CheckMissing { name: String },
    /// 3959: a CHECK reads the column.
    ReadByCheck { column: String, name: String },
    /// 3108: a generated column reads it.
    ReadByGenerated { column: String },
    /// 3837: a functional key part reads it.
    ReadByIndex { column: String },
    /// 3766: the default of a column reads it.
    ReadByDefault { column: String, table: String },
    /// 3106: what cannot be done with a generated column.
    Generated { what: &'static str },
    /// 3733
    VirtualForeignKey { name: String, column: String },
    /// 3104
    GeneratedForeignKey { clause: String },
    /// 3823
    CheckOnForeignKey { column: String, check: String, key: String },
    /// An error in an expression of the definition, from `Expressions`.
    Expression(Box<dyn std::error::Error + Send + Sync>),
    /// What is wrong with its partitions.
    Partition(types::partition::PartitionError),
    /// 1176
    IndexMissing { index: String, table: String },
    /// 3522: the primary key.
    PrimaryInvisible,
    /// 1845; 1846 where a type changes
    NotInstant { retypes: bool },
    /// 4092: columns have come, gone and moved too often; `table` with its database, as InnoDB names it.
    TooManyRowVersions { table: String },
    /// ALTER TABLE can only be done by copying the rows.
    NotInPlace { instant: bool },
    /// 1846: LOCK = NONE is not possible.
    NeedsLock { why: &'static str },
    /// 1799: too many rows changed while the table was read.
    OnlineLogTooBig { index: String },
    /// 1235 or 1846: what this version does not do yet; `what` names it.
    NotSupported { what: &'static str },
    /// 1235: an index has several multi-valued parts
    SeveralMultiValuedParts,
}

/// Why there is no SPATIAL index, or only one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpatialKeyProblem {
    /// 1687
    NoGeometry,
    /// 1252
    Nullable,
    /// 1070
    SeveralColumns,
    /// 3728: PRIMARY or UNIQUE over a geometry.
    Unique,
    /// 3644: the column's SRID is changed.
    SridChanged { column: String },
}

/// What a name names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameOf {
    Database,
    Table,
    Column,
}

pub type Result<T> = std::result::Result<T, Error>;

impl From<types::partition::PartitionError> for Error {
    fn from(error: types::partition::PartitionError) -> Self {
        Error::Partition(error)
    }
}

impl From<txn::Error> for Error {
    fn from(error: txn::Error) -> Self {
        match error {
            txn::Error::LockWaitTimeout => Error::LockWaitTimeout,
            txn::Error::Interrupted => Error::Interrupted,
            other => Error::Engine(other),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Engine(error) => write!(f, "{error:?}"),
            Error::CorruptCatalog { what } => write!(f, "the catalog is damaged: {what}"),
            other => write!(f, "{other:?}"),
        }
    }
}

impl std::error::Error for Error {}
