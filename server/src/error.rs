//! Maps each error to its condition of the catalogue.
//!
//! Every crate describes errors as data. [`Error`] gathers these and the server's own; [`Error::condition`] names the
//! row of the crate `conditions`, which has MySQL's number, SQLSTATE and message.

mod partition;
mod row_expr;
mod view;
mod window;

use crate::variables;
use conditions::Condition;
use expr::Error as Exec;
use sql::{Clause, DefinitionError, Error as Sql, FileError, NameKind, RecursiveError};
use table::ddl::ForeignKeyError;
use table::{Error as Table, NameOf, SpatialKeyProblem};

/// Any error that a client may get.
#[derive(Debug)]
pub enum Error {
    Sql(Sql),
    Exec(Exec),
    Table(Table),
    Variable(variables::Error),
    Protocol(protocol::Error),

    /// 1045
    AccessDenied {
        user: String,
        host: String,
        using_password: bool,
    },
    /// 1044
    DatabaseAccessDenied {
        user: String,
        host: String,
        database: String,
    },
    /// 1046
    NoDatabase,
    /// 1049
    UnknownDatabase(String),
    /// 1053
    ShuttingDown,
    /// 1099
    LockedForReading(String),
    /// 1105
    Internal(String),
    /// 1146
    TableMissing {
        database: String,
        table: String,
    },
    /// 1235
    NotSupported(String),
    /// A condition that nothing needs to tell from others.
    Condition(Box<Condition>),
}

/// The error as a client reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Description {
    pub number: u16,
    pub state: [u8; 5],
    pub message: String,
}

pub type Result<T> = std::result::Result<T, Error>;

macro_rules! wraps {
    ($($source:ty => $variant:ident),*) => {
        $(impl From<$source> for Error {
            fn from(error: $source) -> Self {
                Error::$variant(error)
            }
        })*
    };
}

impl From<Condition> for Error {
    fn from(condition: Condition) -> Self {
        Error::Condition(Box::new(condition))
    }
}

impl From<&Condition> for Description {
    fn from(condition: &Condition) -> Self {
        Self { number: condition.number(), state: condition.sqlstate(), message: condition.to_string() }
    }
}

wraps!(Sql => Sql, Exec => Exec, Table => Table, variables::Error => Variable, protocol::Error => Protocol);

impl From<txn::Error> for Error {
    fn from(error: txn::Error) -> Self {
        Error::Exec(exec::engine_error(error))
    }
}

impl Error {
    /// Number, SQLSTATE and message.
    #[cold]
    pub fn describe(&self) -> Description {
        match self {
            Error::Exec(error) => Self::describe_exec(error),
            other => (&other.condition()).into(),
        }
    }

    /// The error as a warning.
    pub fn to_warning(&self) -> Exec {
        match self {
            Error::Exec(error) => error.clone(),
            other => other.condition().into(),
        }
    }

    /// Its row of the catalogue. For a condition raised by SIGNAL only the message is kept; [`Self::describe`] knows
    /// the rest.
    #[cold]
    pub fn condition(&self) -> Condition {
        match self {
            Error::Sql(error) => sql_error(error),
            Error::Exec(error) => exec_error(error),
            Error::Table(error) => table_error(error),
            Error::Variable(error) => variable_error(error),
            Error::Protocol(error) => protocol_error(error),
            own => own_error(own),
        }
    }

    /// As [`Self::describe`], of a warning.
    pub fn describe_exec(error: &Exec) -> Description {
        if let Exec::Raised(raised) = error {
            return Description { number: raised.number, state: raised.state, message: raised.message.clone() };
        }
        (&exec_error(error)).into()
    }

    /// Must the whole transaction be rolled back?
    pub fn ends_transaction(&self) -> bool {
        matches!(self, Error::Exec(Exec::Deadlock) | Error::Table(Table::Engine(txn::Error::Deadlock)))
    }
}

fn own_error(error: &Error) -> Condition {
    match error {
        Error::Sql(_) | Error::Exec(_) | Error::Table(_) | Error::Variable(_) | Error::Protocol(_) => {
            unreachable!("described by their own functions")
        }
        Error::AccessDenied { user, host, using_password } => Condition::AccessDeniedError {
            user: user.into(),
            host: host.into(),
            using: (if *using_password { "YES" } else { "NO" }).into(),
        },
        Error::DatabaseAccessDenied { user, host, database } => {
            Condition::DbAccessDeniedError { user: user.into(), host: host.into(), database: database.into() }
        }
        Error::NoDatabase => Condition::NoDbError,
        Error::UnknownDatabase(name) => Condition::BadDbError { name: name.into() },
        Error::ShuttingDown => Condition::ServerShutdown,
        Error::Internal(message) => Condition::UnknownError { message: message.into() },
        Error::TableMissing { database, table } => Condition::NoSuchTable { database: database.into(), table: table.into() },
        Error::NotSupported(what) => not_supported(what),
        Error::LockedForReading(table) => locked_for_reading(table),
        Error::Condition(condition) => Condition::clone(condition),
    }
}

fn locked_for_reading(table: &str) -> Condition {
    Condition::TableNotLockedForWrite { table: table.into() }
}

fn not_supported(what: &str) -> Condition {
    Condition::NotSupportedYet { what: what.into() }
}

pub(crate) fn sql_error(error: &Sql) -> Condition {
    match error {
        Sql::Syntax { near, line } => Condition::ParseError { near: near.into(), line: line.into() },
        Sql::Stopped(stopped) => exec_error(&expr::Error::from(*stopped)),
        Sql::Condition(condition) => Condition::clone(condition),
        Sql::TooDeep => Condition::StackOverrunNeedMore { why: "the statement is nested too deeply".into() },
        Sql::InvalidUtf8 { text } => Condition::InvalidCharacterString { charset: "utf8mb4".into(), value: text.into() },
        Sql::InvalidText { charset, text } => Condition::InvalidCharacterString { charset: charset.into(), value: text.into() },
        Sql::NotSupported(what) => not_supported(what),
        Sql::Partition(error) => partition::partition_error(error),
        Sql::TooManyColumns => Condition::TooManyFields,
        Sql::TooManyTables => Condition::TooManyTables,
        Sql::TooManyParams => Condition::PsManyParam,
        Sql::IdentifierTooLong(name) => Condition::TooLongIdent { name: shown(name).into() },
        Sql::AccountNameTooLong { name, what, most } => {
            Condition::WrongStringLength { name: name.into(), what: what.into(), most: most.into() }
        }
        Sql::Denied(denied) => access_denied(denied),
        Sql::WrongName { kind, name } => match kind {
            NameKind::Database => Condition::WrongDbName { name: shown(name).into() },
            NameKind::Table => Condition::WrongTableName { name: name.into() },
            NameKind::Column => Condition::WrongColumnName { name: name.into() },
        },
        Sql::UnknownCharset(name) => Condition::UnknownCharacterSet { name: name.into() },
        Sql::UnknownCollation(name) => Condition::UnknownCollation { name: name.into() },
        Sql::CollationMismatch { collation, charset } => {
            Condition::CollationCharsetMismatch { collation: collation.into(), charset: charset.into() }
        }
        Sql::NoTextOf { bytes, charset } => {
            let shown = bytes.iter().take(6).map(|byte| match byte {
                0x20..=0x7E => char::from(*byte).to_string(),
                _ => format!("\\x{byte:02X}"),
            });
            let shown: String = shown.collect();
            let more = if bytes.len() > 6 { "..." } else { "" };
            Condition::CannotConvertString { value: format!("{shown}{more}").into(), from: "binary".into(), to: charset.into() }
        }
        Sql::CharsetsTogether { left, right, function } => {
            Condition::CharacterSetMismatch { left: left.into(), right: right.into(), function: function.into() }
        }
        Sql::LongBitOperand => Condition::InvalidBitwiseAggregateOperandsSize,
        Sql::IllegalMix(mix) => match mix.operands.as_slice() {
            [a, b] => {
                Condition::CantAggregate2Collations { first: a.into(), second: b.into(), operation: (&mix.operation).into() }
            }
            [a, b, c] => Condition::CantAggregate3Collations {
                first: a.into(),
                second: b.into(),
                third: c.into(),
                operation: (&mix.operation).into(),
            },
            _ => Condition::CantAggregateCollations { operation: (&mix.operation).into() },
        },
        Sql::UnknownColumn { name, clause } => Condition::BadFieldError { column: name.into(), clause: clause.name().into() },
        Sql::NoSuchTable { column, clause, nested: true, .. } => {
            Condition::BadFieldError { column: column.into(), clause: clause.name().into() }
        }
        Sql::NoSuchTable { table, clause, .. } => Condition::UnknownTable { table: table.into(), clause: clause.name().into() },
        Sql::AmbiguousColumn { name, clause } => Condition::NonUniqError { column: name.into(), clause: clause.name().into() },
        Sql::UnknownTable { database, table } => Condition::NoSuchTable { database: database.into(), table: table.into() },
        Sql::UnknownDatabase(name) => Condition::BadDbError { name: name.into() },
        Sql::NoDatabase => Condition::NoDbError,
        Sql::NotUniqueTable(name) => Condition::NonUniqTable { table: name.into() },
        Sql::ColumnNotUpdatable(name) => Condition::NonUpdatableColumn { name: name.into() },
        Sql::MisplacedOption(option) => Condition::CantUseOptionHere { option: option.into() },
        Sql::NotInsertable(name) => Condition::NonInsertableTable { name: name.into() },
        Sql::View { why, view } => view::view_error(why, view),
        Sql::UnknownTableAll(name) => Condition::BadTableError { table: name.into() },
        Sql::TableFunctionWithoutAlias => Condition::TfMustHaveAlias,
        Sql::JsonPath { position } => Condition::InvalidJsonPath { position: position.into() },
        Sql::JsonDefault { why, position } => Condition::InvalidJsonTextInParam {
            argument: "1".into(),
            function: "JSON_TABLE".into(),
            why: why.into(),
            position: position.into(),
        },
        Sql::DerivedWithoutAlias => Condition::DerivedMustHaveAlias,
        Sql::DerivedColumns => Condition::ViewWrongList,
        Sql::TooManyLevels(most) => Condition::TooHighLevelOfNestingForSelect { most: most.into() },
        Sql::Recursive { why, table } => recursive(*why, table),
        Sql::WindowContext(name) => Condition::WindowInvalidWindowFuncUse { name: name.into() },
        Sql::WindowAlias(name) => Condition::WindowInvalidWindowFuncAliasUse { name: name.into() },
        Sql::Window { why, name } => window::describe(*why, name),
        Sql::WindowOrderTwice { window, base } => Condition::WindowNoRedefineOrderBy { window: window.into(), base: base.into() },
        Sql::GroupingArguments(count) => Condition::InvalidNoOfArgs { count: count.into() },
        Sql::GroupingArgument(number) => Condition::FieldInGroupingNotGroupBy { number: number.into() },
        Sql::UnknownTarget { table, clause } => Condition::UnknownTable { table: table.into(), clause: clause.into() },
        Sql::UpdatedTwice(first, second) => Condition::MultiUpdateKeyConflict { first: first.into(), second: second.into() },
        Sql::NotGrouped { expression, column, clause } => Condition::WrongFieldWithGroup {
            expression: expression.into(),
            place: place_of(*clause).into(),
            column: column.into(),
        },
        Sql::MixedGroup { expression, column } => {
            Condition::MixOfGroupFuncAndFields { expression: expression.into(), column: column.into() }
        }
        Sql::AggregateOrder(number) => Condition::AggregateOrderNonAggQuery { number: number.into() },
        Sql::GeneratedValue { column, table } => {
            Condition::NonDefaultValueForGeneratedColumn { column: column.into(), table: table.into() }
        }
        Sql::InvalidGroupUse => Condition::InvalidGroupFuncUse,
        Sql::WrongGroupField(name) => Condition::WrongGroupField { name: name.into() },
        Sql::OrderNotInDistinct { expression, column } => {
            Condition::FieldInOrderNotSelect { expression: expression.into(), column: column.into() }
        }
        Sql::NoTimestampWithTimeZone => Condition::InvalidCast,
        Sql::AggregateOrderNotInDistinct { expression } => Condition::AggregateInOrderNotSelect { expression: expression.into() },
        Sql::WrongParamCount(name) => Condition::WrongParamCountToNativeFct { function: name.into() },
        Sql::UnknownFunction(name) => Condition::SpDoesNotExist { kind: "FUNCTION".into(), name: name.into() },
        Sql::FunctionApart(name) => Condition::FuncInexistentNameCollision { name: name.into() },
        Sql::UnknownSystemVariable(name) => Condition::UnknownSystemVariable { name: name.into() },
        Sql::ColumnCount { row } => Condition::WrongValueCountOnRow { row: row.into() },
        Sql::ColumnTwice(name) => Condition::FieldSpecifiedTwice { name: name.into() },
        Sql::OperandColumns(count) => Condition::OperandColumns { count: count.into() },
        Sql::SecondInto => Condition::MultipleIntoClauses,
        Sql::MisplacedInto => Condition::MisplacedInto,
        Sql::SetColumns => Condition::WrongNumberOfColumnsInSelect,
        Sql::NoTables => Condition::NoTablesUsed,
        Sql::WrongUsage(first, second) => Condition::WrongUsage { first: first.into(), second: second.into() },
        Sql::GlobalOrder(table) => Condition::TableNameNotAllowedHere { table: table.into() },
        Sql::WrongArguments(what) => Condition::WrongArguments { what: what.into() },
        Sql::CursorInto => Condition::SpBadCursorSelect,
        Sql::Routine(error) => crate::routine::message(error),
        Sql::NoInteger { name, near, line } => {
            Condition::ParseErrorNonInteger { name: name.into(), near: near.into(), line: line.into() }
        }
        Sql::Undeclared(name) => Condition::SpUndeclaredVar { name: name.into() },
        Sql::UnknownWindow(name) => Condition::WindowNoSuchWindow { name: name.into() },
        Sql::UnknownKey { key, table } => Condition::KeyDoesNotExist { key: key.into(), table: table.into() },
        Sql::NoDefault(name) => Condition::NoDefaultForField { name: name.into() },
        Sql::WrongLiteral { kind, value } => Condition::WrongValue { kind: kind.into(), value: value.into() },
        Sql::NoDate { kind, value, column } => {
            let kind = kind.to_lowercase();
            let (kind, value) = (kind.into(), value.into());
            match column {
                Some(column) => Condition::TruncatedWrongTemporalForField { kind, value, column: column.into(), row: 1.into() },
                None => Condition::TruncatedWrongValue { kind, value },
            }
        }
        Sql::OutOfRange { kind, expression } => Condition::DataOutOfRange { kind: kind.into(), expression: expression.into() },
        Sql::OuterInWindow(name) => Condition::WindowOuterReference { name: name.into() },
        Sql::ViewOfTemporary(table) => Condition::ViewSelectTmptable { table: table.into() },
        Sql::UnresolvedLock(name) => Condition::UnresolvedTableLock { name: name.into() },
        Sql::LockedTwice(table) => Condition::DuplicateTableLock { table: table.into() },
        Sql::IllegalNumber { kind, value } => Condition::IllegalValueForType { kind: kind.into(), value: value.into() },
        Sql::NotUpdatable { table, statement } => {
            Condition::NonUpdatableTable { table: table.into(), statement: statement.into() }
        }
        Sql::FixedSetting => Condition::WrongPerformanceSchemaUsage,
        Sql::UpdateTableUsed(name) => Condition::UpdateTableUsed { name: name.into() },
        Sql::File(error) => file_error(*error),
        Sql::Definition(error) => definition_error(error),
    }
}

fn access_denied(denied: &sql::Denied) -> Condition {
    let sql::Denied { command, user, host, table, column } = denied;
    match column {
        Some(column) => Condition::ColumnAccessDeniedError {
            command: command.into(),
            user: user.into(),
            host: host.into(),
            column: column.into(),
            table: table.into(),
        },
        None => Condition::TableAccessDeniedError {
            command: command.into(),
            user: user.into(),
            host: host.into(),
            table: table.into(),
        },
    }
}

/// The message about the format of a text file.
/// Of 1059, as far as MySQL shows a name.
fn shown(name: &str) -> String {
    name.chars().take(100).collect()
}

/// The clause that 1055 names.
fn place_of(clause: Clause) -> &'static str {
    match clause {
        Clause::OrderBy => "ORDER BY clause",
        Clause::Having => "HAVING clause",
        _ => "SELECT list",
    }
}

fn file_error(why: FileError) -> Condition {
    match why {
        FileError::Separator => Condition::WrongFieldTerminators,
        FileError::Blobs => Condition::BlobsAndNoTerminated,
        FileError::FixedVariable => Condition::LoadFromFixedSizeRowsToVar,
    }
}

/// The message about a common table expression that names itself wrongly.
fn recursive(why: RecursiveError, table: &str) -> Condition {
    match why {
        RecursiveError::NoSeed => Condition::CteRecursiveRequiresUnion { table: table.into() },
        RecursiveError::SeedBehindStep => Condition::CteRecursiveRequiresNonrecursiveFirst { table: table.into() },
        RecursiveError::Aggregation => Condition::CteRecursiveForbidsAggregation { table: table.into() },
        RecursiveError::Operand => Condition::CteRecursiveNotUnion,
        RecursiveError::JoinOrder => Condition::CteRecursiveForbiddenJoinOrder { table: table.into() },
        RecursiveError::SeveralUses => Condition::CteRecursiveRequiresSingleReference { table: table.into() },
    }
}

fn definition_error(error: &DefinitionError) -> Condition {
    use DefinitionError as D;
    match error {
        D::DuplicateColumn(name) => Condition::DupFieldName { name: name.into() },
        D::MultiplePrimaryKeys => Condition::MultiplePriKey,
        D::KeyColumnMissing(name) => Condition::KeyColumnDoesNotExist { name: name.into() },
        D::ColumnTooLong { column, max } => Condition::TooBigFieldLength { column: column.into(), max: max.into() },
        D::InvalidDefault(name) => Condition::InvalidDefault { name: name.into() },
        D::BlobDefault(name) => Condition::BlobCantHaveDefault { column: name.into() },
        D::WrongColumnSpecifier(name) => Condition::WrongFieldSpec { name: name.into() },
        D::TooBigScale { column, scale, max } => {
            Condition::TooBigScale { scale: scale.into(), column: column.into(), max: max.into() }
        }
        D::TooBigPrecision { column, precision, max } => {
            Condition::TooBigPrecision { precision: precision.into(), column: column.into(), max: max.into() }
        }
        D::ScaleOverPrecision(name) => Condition::MBiggerThanD { name: name.into() },
        D::YearWidth => Condition::InvalidYearColumnLength,
        D::InvalidSize(name) => Condition::InvalidFieldSize { name: name.into() },
        D::CommentTooLong { of, name, max } => match of {
            sql::CommentOf::Column => Condition::TooLongFieldComment { name: name.into(), max: max.into() },
            sql::CommentOf::Table => Condition::TooLongTableComment { name: name.into(), max: max.into() },
            sql::CommentOf::Index => Condition::TooLongIndexComment { name: name.into(), max: max.into() },
            sql::CommentOf::Partition => Condition::TooLongTablePartitionComment { name: name.into(), max: max.into() },
        },
        D::DisplayWidth { column, max } => Condition::TooBigDisplayWidth { column: column.into(), max: max.into() },
        D::BlobKeyWithoutLength(name) => Condition::BlobKeyWithoutLength { column: name.into() },
        D::WrongPrefix => Condition::WrongSubKey,
        D::KeyTooLong(max) => Condition::TooLongKey { max: max.into() },
        D::PrimaryNullable => Condition::PrimaryCantHaveNull,
        D::NoColumns => Condition::TableMustHaveAVisibleColumn,
        D::CannotDrop(name) => Condition::CantDropFieldOrKey { name: name.into() },
        D::NoSuchColumn { column, table } => Condition::BadFieldError { column: column.into(), clause: table.into() },
        D::DuplicateMember { column, value, kind } => {
            Condition::DuplicatedValueInType { column: column.into(), value: value.into(), kind: kind.into() }
        }
        D::UnknownEngine(name) => Condition::UnknownStorageEngine { name: name.into() },
        D::TooManyKeyParts(max) => Condition::TooManyKeyParts { max: max.into() },
        D::TooManyKeys(max) => Condition::TooManyKeys { max: max.into() },
        D::RowTooLarge => Condition::TooBigRowSize { max: 65535.into() },
        D::UnknownAlgorithm(name) => Condition::UnknownAlterAlgorithm { name: name.into() },
        D::UnknownLock(name) => Condition::UnknownAlterLock { name: name.into() },
        D::KeyPart(problem) => row_expr::key_part_error(*problem),
        D::RowExpr { usage, problem } => row_expr::row_expr_error(usage, problem),
    }
}

fn exec_error(error: &Exec) -> Condition {
    match error {
        Exec::OutOfRange { what, expression } => Condition::DataOutOfRange { kind: what.into(), expression: expression.into() },
        Exec::Partition(error) => partition::partition_error(error),
        Exec::IndexDataTruncated { index, row } => {
            Condition::WarnDataTruncatedFunctionalIndex { index: index.into(), row: row.into() }
        }
        Exec::IndexOutOfRange { index, row } => {
            Condition::WarnDataOutOfRangeFunctionalIndex { index: index.into(), row: row.into() }
        }
        Exec::DivisionByZero => Condition::DivisionByZero,
        Exec::TruncatedWrongValue { what, value } => Condition::TruncatedWrongValue { kind: what.into(), value: value.into() },
        Exec::WrongValue { what, value } => Condition::WrongTemporalValue { kind: what.into(), value: value.into() },
        Exec::WrongArguments { function } => Condition::WrongArguments { what: function.into() },
        Exec::WrongValueForFunction { what, value, function } => {
            Condition::WrongValueForType { what: what.into(), value: value.into(), function: function.into() }
        }
        Exec::DatetimeOverflow { what } => Condition::DatetimeFunctionOverflow { what: what.into() },
        Exec::ResultTooLarge { function, limit } => {
            Condition::WarnAllowedPacketOverflowed { function: function.into(), limit: limit.into() }
        }
        Exec::CutByGroupConcat { row } => Condition::CutValueGroupConcat { row: row.into() },
        Exec::InvalidLogarithm => Condition::InvalidArgumentForLogarithm,
        Exec::InvalidJson { argument, function, why, position } => Condition::InvalidJsonTextInParam {
            argument: argument.into(),
            function: function.into(),
            why: why.into(),
            position: position.into(),
        },
        Exec::InvalidJsonPath { position } => Condition::InvalidJsonPath { position: position.into() },
        Exec::InvalidText { charset, value } => {
            Condition::InvalidCharacterString { charset: charset.into(), value: value.into() }
        }
        Exec::WrongLockName { name } => Condition::UserLockWrongName { name: name.into() },
        Exec::UserLockDeadlock => Condition::UserLockDeadlock,
        Exec::UnknownTimeZone { name } => Condition::UnknownTimeZone { name: name.into() },
        Exec::RecursionTooDeep { rounds } => Condition::CteMaxRecursionDepth { rounds: rounds.into() },
        Exec::SubqueryMoreThanOneRow => Condition::SubqueryNo1Row,
        Exec::DuplicateEntry { value, key } => Condition::DupEntry { value: value.into(), key: key.into() },
        Exec::RowIsReferenced { constraint } => Condition::RowIsReferenced2 { constraint: constraint.into() },
        Exec::NoReferencedRow { constraint } => Condition::NoReferencedRow2 { constraint: constraint.into() },
        Exec::ForeignDuplicate { table, record, child, key } => Condition::ForeignDuplicateKeyWithChildInfo {
            table: table.into(),
            record: record.into(),
            child: child.into(),
            key: key.into(),
        },
        Exec::CascadeTooDeep { levels } => Condition::FkDepthExceeded { levels: levels.into() },
        Exec::ColumnCannotBeNull { column } => Condition::BadNullError { column: column.into() },
        Exec::ViewCheckFailed { view } => Condition::ViewCheckFailed { view: view.into() },
        Exec::CheckViolated { name } => Condition::CheckConstraintViolated { name: name.into() },
        Exec::NoDefault { column } => Condition::NoDefaultForField { name: column.into() },
        Exec::ColumnOutOfRange { column, row } => Condition::WarnDataOutOfRange { column: column.into(), row: row.into() },
        Exec::DataTooLong { column, row } => Condition::DataTooLong { column: column.into(), row: row.into() },
        Exec::DataTruncated { column, row } => Condition::WarnDataTruncated { column: column.into(), row: row.into() },
        Exec::WrongValueForColumn { what, value, column, row } => Condition::TruncatedWrongValueForField {
            kind: what.into(),
            value: value.into(),
            column: column.into(),
            row: row.into(),
        },
        Exec::WrongTemporalForColumn { what, value, column, row } => Condition::TruncatedWrongTemporalForField {
            kind: what.into(),
            value: value.into(),
            column: column.into(),
            row: row.into(),
        },
        Exec::InvalidDocument { what, column, row } => {
            Condition::InvalidJsonValueForCast { kind: what.into(), column: column.into(), row: row.into() }
        }
        Exec::InvalidJsonForColumn { why, position, column } => {
            Condition::InvalidJsonText { why: why.into(), position: position.into(), column: column.into() }
        }
        Exec::AutoIncrementExhausted => Condition::AutoIncrementReadFailed,
        Exec::RowTooLarge { limit, .. } => Condition::TooBigRowSize { max: limit.into() },
        Exec::KeyTooLong { limit, .. } => Condition::TooLongKey { max: limit.into() },
        Exec::Deadlock => Condition::LockDeadlock,
        Exec::LockWaitTimeout => Condition::LockWaitTimeout,
        Exec::NoWait => Condition::LockNowait,
        Exec::Interrupted => Condition::QueryInterrupted,
        Exec::QueryTimeout => Condition::QueryTimeout,
        Exec::OutOfSortMemory { limit, setting } => Condition::OutOfSortMemory { limit: limit.into(), setting: setting.into() },
        Exec::TableChanged { .. } | Exec::SnapshotTooOld => Condition::TableDefChanged,
        Exec::TemporaryDiskFull => Condition::DiskFullNow { place: "temporary files".into() },
        Exec::TemporarySpaceFull { limit } => Condition::TemporarySpaceFull { limit: limit.into() },
        Exec::Full { table } => Condition::RecordFileFull { table: table.into() },
        Exec::Storage(why) => Condition::GetErrno { why: why.into() },
        Exec::NotSupported(what) => not_supported(what),
        Exec::ClientGone => Condition::NetReadInterrupted,
        Exec::Condition(condition) => Condition::clone(condition),
        Exec::Raised(raised) => Condition::UnknownError { message: (&raised.message).into() },
    }
}

/// An error of the implementation of `table::ddl::Expressions`.
fn expression_error(error: &(dyn std::error::Error + Send + Sync + 'static)) -> Condition {
    if let Some(error) = error.downcast_ref::<Exec>() {
        return exec_error(error);
    }
    match error.downcast_ref::<Sql>() {
        Some(error) => sql_error(error),
        None => Condition::UnknownError { message: error.into() },
    }
}

fn table_error(error: &Table) -> Condition {
    match error {
        Table::Engine(error) => exec_error(&exec::engine_error(clone_engine_error(error))),
        Table::CorruptCatalog { what } => Condition::GetErrno { why: format!("the catalog is damaged: {what}").into() },
        Table::LockedForReading { table } => locked_for_reading(table),
        Table::LockWaitTimeout => Condition::LockWaitTimeout,
        Table::Interrupted => Condition::QueryInterrupted,
        Table::DatabaseExists { database } => Condition::DbCreateExists { database: database.into() },
        Table::RoutineExists { kind, name } => Condition::SpAlreadyExists { kind: kind.into(), name: name.into() },
        Table::RoutineMissing { kind, name } => Condition::SpDoesNotExist { kind: kind.into(), name: name.into() },
        Table::EventExists { name } => Condition::EventAlreadyExists { name: name.into() },
        Table::EventMissing { name } => Condition::EventDoesNotExist { name: name.into() },
        Table::TriggerExists => Condition::TrgAlreadyExists,
        Table::TriggerMissing => Condition::TrgDoesNotExist,
        Table::TriggerUnknown { name } => Condition::ReferencedTrgDoesNotExist { name: name.into() },
        Table::TriggerMoves => Condition::TrgInWrongSchema,
        Table::DatabaseMissing { database } => Condition::DbDropExists { database: database.into() },
        Table::UnknownDatabase { database } => Condition::BadDbError { name: database.into() },
        Table::TableExists { table } => Condition::TableExistsError { table: table.into() },
        Table::UnknownTable { database, table } => Condition::BadTableError { table: format!("{database}.{table}").into() },
        Table::TableMissing { database, table } => Condition::NoSuchTable { database: database.into(), table: table.into() },
        Table::NotBaseTable { database, table } => {
            Condition::WrongObject { database: database.into(), name: table.into(), kind: "BASE TABLE".into() }
        }
        Table::NotView { database, table } => {
            Condition::WrongObject { database: database.into(), name: table.into(), kind: "VIEW".into() }
        }
        Table::ViewMoves { from, to } => Condition::ForbidSchemaChange { from: from.into(), to: to.into() },
        Table::UnknownColumn { column, table } => Condition::BadFieldError { column: column.into(), clause: table.into() },
        Table::DuplicateColumn { column } => Condition::DupFieldName { name: column.into() },
        Table::DuplicateKeyName { index } => Condition::DupKeyName { index: index.into() },
        Table::DuplicateEntry { key, index } => Condition::DupEntry { value: key.into(), key: index.into() },
        Table::DuplicateNumber { key, index } => Condition::DupEntryAutoincrement { value: key.into(), key: index.into() },
        Table::MultiplePrimaryKeys => Condition::MultiplePriKey,
        Table::KeyTooLong { max_bytes } => Condition::TooLongKey { max: max_bytes.into() },
        Table::KeyColumnMissing { column } => Condition::KeyColumnDoesNotExist { name: column.into() },
        Table::ColumnTooLong { column, max } => Condition::TooBigFieldLength { column: column.into(), max: max.into() },
        Table::WrongAutoIncrement => Condition::WrongAutoKey,
        Table::WrongColumnType { column } => Condition::WrongFieldSpec { name: column.into() },
        Table::InvalidDefault { column } => Condition::InvalidDefault { name: column.into() },
        Table::EmptyPrefix { column } => Condition::KeyPart0 { column: column.into() },
        Table::WrongPrefix => Condition::WrongSubKey,
        Table::CannotRemoveAllColumns => Condition::CantRemoveAllFields,
        Table::CannotDrop { name } => Condition::CantDropFieldOrKey { name: name.into() },
        Table::BlobDefault { column } => Condition::BlobCantHaveDefault { column: column.into() },
        Table::NoColumns => Condition::TableMustHaveAVisibleColumn,
        Table::TooManyColumns => Condition::TooManyFields,
        Table::TooManyKeys { max } => Condition::TooManyKeys { max: max.into() },
        Table::TooManyKeyParts { max } => Condition::TooManyKeyParts { max: max.into() },
        Table::RowTooLarge { max_bytes } => Condition::TooBigRowSize { max: max_bytes.into() },
        Table::NotFullText { column } => Condition::BadFulltextColumn { column: column.into() },
        Table::SpatialKey(problem) => match problem {
            SpatialKeyProblem::NoGeometry => Condition::SpatialMustHaveGeomCol,
            SpatialKeyProblem::Nullable => Condition::SpatialCantHaveNull,
            SpatialKeyProblem::SeveralColumns => Condition::TooManyKeyParts { max: 1.into() },
            SpatialKeyProblem::Unique => Condition::SpatialUniqueIndex,
            SpatialKeyProblem::SridChanged { column } => Condition::CannotAlterSridDueToIndex { column: column.into() },
        },
        Table::PartitionedSpatial => Condition::CheckNotImplemented { what: "GEOMETRY".into() },
        Table::PartitionedFullText => Condition::TableCannotHandleFulltext,
        Table::JsonAsKey { column } => Condition::JsonUsedAsKey { column: column.into() },
        Table::BlobKeyWithoutLength { column } => Condition::BlobKeyWithoutLength { column: column.into() },
        Table::NullablePrimaryKey => Condition::PrimaryCantHaveNull,
        Table::WrongIndexName { index } => Condition::WrongNameForIndex { index: index.into() },
        Table::NameTooLong { name } => Condition::TooLongIdent { name: shown(name).into() },
        Table::WrongName { what, name } => match what {
            NameOf::Database => Condition::WrongDbName { name: name.into() },
            NameOf::Table => Condition::WrongTableName { name: name.into() },
            NameOf::Column => Condition::WrongColumnName { name: name.into() },
        },
        Table::Conversion { problem, column, row } => problem.condition(column, *row),
        Table::ForeignKey(error) => foreign_key_error(error),
        Table::InvalidNull => Condition::InvalidUseOfNull,
        Table::AutoIncrementUsedUp => Condition::AutoIncrementReadFailed,
        Table::DuplicateCheck { name } => Condition::CheckConstraintDupName { name: name.into() },
        Table::CheckMissing { name } => Condition::CheckConstraintNotFound { name: name.into() },
        Table::ReadByCheck { column, name } => Condition::DependentByCheckConstraint { name: name.into(), column: column.into() },
        Table::ReadByIndex { column } => Condition::DependentByFunctionalIndex { column: column.into() },
        Table::ReadByGenerated { column } => Condition::DependentByGeneratedColumn { column: column.into() },
        Table::ReadByDefault { column, table } => {
            Condition::DependentByDefaultGeneratedValue { column: column.into(), table: table.into() }
        }
        Table::VirtualForeignKey { name, column } => {
            Condition::FkCannotUseVirtualColumn { name: name.into(), column: column.into() }
        }
        Table::GeneratedForeignKey { clause } => Condition::WrongFkOptionForGeneratedColumn { clause: clause.into() },
        Table::CheckOnForeignKey { column, check, key } => Condition::CheckConstraintClauseUsingFkReferActionColumn {
            column: column.into(),
            check: check.into(),
            key: key.into(),
        },
        Table::Generated { what } => Condition::UnsupportedActionOnGeneratedColumn { what: what.into() },
        Table::Expression(error) => expression_error(error.as_ref()),
        Table::Partition(error) => partition::partition_error(error),
        Table::IndexMissing { index, table } => Condition::KeyDoesNotExist { key: index.into(), table: table.into() },
        Table::PrimaryInvisible => Condition::PkIndexCantBeInvisible,
        Table::NotInstant { retypes: true } => Condition::AlterOperationNotSupportedReason {
            operation: "ALGORITHM=INSTANT".into(),
            why: "Need to rebuild the table to change column type".into(),
            alternative: "ALGORITHM=COPY/INPLACE".into(),
        },
        Table::NotInPlace { instant } => {
            let algorithm = if *instant { "INSTANT" } else { "INPLACE" };
            Condition::AlterOperationNotSupported {
                operation: format!("ALGORITHM={algorithm}").into(),
                alternative: "ALGORITHM=COPY".into(),
            }
        }
        Table::NotInstant { retypes: false } => Condition::AlterOperationNotSupported {
            operation: "ALGORITHM=INSTANT".into(),
            alternative: "ALGORITHM=COPY/INPLACE".into(),
        },
        Table::TooManyRowVersions { table } => Condition::InnodbMaxRowVersion { table: table.into() },
        Table::NeedsLock { why } => Condition::AlterOperationNotSupportedReason {
            operation: "LOCK=NONE".into(),
            why: why.into(),
            alternative: "LOCK=SHARED".into(),
        },
        Table::OnlineLogTooBig { index } => Condition::InnodbOnlineLogTooBig { index: index.into() },
        Table::NotSupported { what } => not_supported(what),
        Table::VectorAsKey { column } => Condition::NonScalarUsedAsKey { column: column.into() },
        Table::SeveralMultiValuedParts => {
            Condition::NotSupportedByMysql { what: "more than one multi-valued key part per index".into() }
        }
    }
}

fn foreign_key_error(error: &ForeignKeyError) -> Condition {
    use ForeignKeyError as F;
    match error {
        F::UnfitParent => Condition::CannotAddForeign,
        F::ColumnCount { name } => {
            let name = name.as_deref().unwrap_or("foreign key without name");
            Condition::WrongFkDef { name: name.into() }
        }
        F::NoParentRow { constraint } => Condition::NoReferencedRow2 { constraint: constraint.into() },
        F::IndexNeeded { index } => Condition::DropIndexFk { index: index.into() },
        F::Truncated { database, child, name } => {
            let names = [database, child, name].map(|name| types::show_create::quoted_name(name));
            let [database, child, name] = names;
            Condition::TruncateIllegalFk { database: database.into(), child: child.into(), name: name.into() }
        }
        F::ParentMissing { table } => Condition::FkCannotOpenParent { table: table.into() },
        F::DuplicateName { name } => Condition::FkDupName { name: name.into() },
        F::ColumnNeeded { column, name } => Condition::FkColumnCannotDrop { column: column.into(), name: name.into() },
        F::ColumnReferenced { column, name, child } => {
            Condition::FkColumnCannotDropChild { column: column.into(), name: name.into(), child: child.into() }
        }
        F::NotNull { column, name } => Condition::FkColumnNotNull { column: column.into(), name: name.into() },
        F::TableReferenced { table, name, child } => {
            Condition::FkCannotDropParent { table: table.into(), name: name.into(), child: child.into() }
        }
        F::ParentColumnMissing { column, name, parent } => {
            Condition::FkNoColumnParent { column: column.into(), name: name.into(), parent: parent.into() }
        }
        F::Incompatible { column, parent_column, name } => {
            Condition::FkIncompatibleColumns { column: column.into(), parent_column: parent_column.into(), name: name.into() }
        }
        F::ConstraintAmbiguous { name, clause } => {
            Condition::MultipleConstraintsWithSameName { name: name.into(), clause: clause.into() }
        }
        F::NotEnforceable { name } => Condition::AlterConstraintEnforcementNotSupported { name: name.into() },
        F::ConstraintMissing { name } => Condition::ConstraintNotFound { name: name.into() },
        F::NoUniqueKey { name, parent } => Condition::FkNoUniqueIndexParent { name: name.into(), parent: parent.into() },
    }
}

fn clone_engine_error(error: &txn::Error) -> txn::Error {
    match error {
        txn::Error::Deadlock => txn::Error::Deadlock,
        txn::Error::LockWaitTimeout => txn::Error::LockWaitTimeout,
        txn::Error::WouldBlock => txn::Error::WouldBlock,
        txn::Error::Interrupted => txn::Error::Interrupted,
        txn::Error::Storage(why) => txn::Error::Storage(why.clone()),
        txn::Error::Full => txn::Error::Full,
        txn::Error::SnapshotTooOld => txn::Error::SnapshotTooOld,
        txn::Error::TooLarge { bytes } => txn::Error::TooLarge { bytes: *bytes },
    }
}

fn variable_error(error: &variables::Error) -> Condition {
    use variables::Error as V;
    match error {
        V::Unknown { name } => Condition::UnknownSystemVariable { name: name.into() },
        V::ReadOnly { name } => Condition::IncorrectGlobalLocalVar { name: name.into(), kind: "read only".into() },
        V::NotSession { name } => Condition::IncorrectGlobalLocalVar { name: name.into(), kind: "GLOBAL".into() },
        V::NotGlobal { name } => Condition::IncorrectGlobalLocalVar { name: name.into(), kind: "SESSION".into() },
        V::SetGlobalNeeded { name } => Condition::GlobalVariable { name: name.into() },
        V::SetSessionNeeded { name } => Condition::LocalVariable { name: name.into() },
        V::WrongValue { name, value } => Condition::WrongValueForVar { name: name.into(), value: value.into() },
        V::WrongType { name } => Condition::WrongTypeForVar { name: name.into() },
        V::UnknownCharset { name } => Condition::UnknownCharacterSet { name: name.into() },
        V::UnknownCollation { name } => Condition::UnknownCollation { name: name.into() },
        V::Refused { name, present } => {
            Condition::NotSupportedYet { what: format!("{name} with another value than {present}").into() }
        }
        V::UnknownTimeZone { name } => Condition::UnknownTimeZone { name: name.into() },
    }
}

fn protocol_error(error: &protocol::Error) -> Condition {
    use protocol::Error as P;
    match error {
        P::Malformed { packet: "login", .. } => Condition::HandshakeError,
        P::Malformed { .. } => Condition::MalformedPacket,
        P::TooLarge { .. } => Condition::NetPacketTooLarge,
        P::OutOfOrder { .. } => Condition::NetPacketsOutOfOrder,
        P::Uncompress { .. } => Condition::NetUncompressError,
        P::OldProtocol => Condition::NotSupportedAuthMode,
        P::UnknownCommand { .. } => Condition::UnknownComError,
        P::ParameterRange { what, parameter } => {
            Condition::WrongParameterValue { kind: what.into(), parameter: (parameter + 1).into() }
        }
        P::ParameterNumber { .. } => Condition::WrongArguments { what: "mysql_stmt_send_long_data".into() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(error: impl Into<Error>, number: u16, state: &[u8; 5], message: &str) {
        let found = error.into().describe();
        assert_eq!((found.number, &found.state, found.message.as_str()), (number, state, message));
    }

    #[test]
    fn mysqls_words() {
        check(
            Sql::Syntax { near: "SELEC 1".into(), line: 1 },
            1064,
            b"42000",
            "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the right \
             syntax to use near 'SELEC 1' at line 1",
        );
        check(
            Exec::DuplicateEntry { value: "1".into(), key: "t.PRIMARY".into() },
            1062,
            b"23000",
            "Duplicate entry '1' for key 't.PRIMARY'",
        );
        check(txn::Error::Deadlock, 1213, b"40001", "Deadlock found when trying to get lock; try restarting transaction");
        check(
            Error::AccessDenied { user: "eve".into(), host: "10.0.0.1".into(), using_password: true },
            1045,
            b"28000",
            "Access denied for user 'eve'@'10.0.0.1' (using password: YES)",
        );
        check(Sql::UnknownTable { database: "d".into(), table: "t".into() }, 1146, b"42S02", "Table 'd.t' doesn't exist");
        check(
            Condition::CantExecuteInReadOnlyTransaction,
            1792,
            b"25006",
            "Cannot execute statement in a READ ONLY transaction.",
        );
    }
}
