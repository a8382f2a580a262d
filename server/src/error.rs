//! The one place where errors get their MySQL number, SQLSTATE and message (MySQL 8.4's texts).
//!
//! Every crate below describes what went wrong as data. [`Error`] gathers those and the server's own; [`Error::describe`] says
//! it to the client.

mod partition;
mod row_expr;
mod state;
mod view;
mod window;

pub use view::no_definer;

use crate::variables;
use exec::Error as Exec;
use sql::{Clause, DefinitionError, Error as Sql, FileError, NameKind, RecursiveError};
use state::sqlstate;
use table::ddl::ForeignKeyError;
use table::{Error as Table, NameOf};
use types::convert::Problem;

/// Anything that a client may be told.
#[derive(Debug)]
pub enum Error {
    Sql(Sql),
    Exec(Exec),
    Table(Table),
    Variable(variables::Error),
    Protocol(protocol::Error),

    /// 1040
    TooManyConnections,
    /// 1043
    BadHandshake,
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
    /// 1047
    UnknownCommand,
    /// 1049
    UnknownDatabase(String),
    /// 1053
    ShuttingDown,
    /// 1065
    EmptyQuery,
    /// 1091, 1305 and the like for objects of kinds that do not exist here: `SAVEPOINT x does not exist`
    DoesNotExist {
        kind: &'static str,
        name: String,
    },
    /// 1094
    UnknownThread(u64),
    /// 1099
    LockedForReading(String),
    /// 1100
    TableNotLocked(String),
    /// 1105
    Internal(String),
    /// 1146
    TableMissing {
        database: String,
        table: String,
    },
    /// 1235
    NotSupported(String),
    /// 1243
    UnknownStatement {
        handler: String,
        given_to: &'static str,
    },
    /// 1295
    NotPreparable,
    /// 1192
    TablesAreLocked,
    /// 1223
    GloballyLocked,
    /// 1210
    WrongArguments(&'static str),
    /// 1251
    AuthenticationPlugin,
    /// 1461
    TooManyStatements {
        limit: u64,
    },
    /// 1568
    TransactionOpen,
    /// 1792
    ReadOnlyTransaction,
    /// 1421
    NoCursor {
        statement_id: u32,
    },
    /// 1690 and other conditions that another statement told already
    Other {
        number: u16,
        message: String,
    },
}

/// What a client reads.
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

wraps!(Sql => Sql, Exec => Exec, Table => Table, variables::Error => Variable, protocol::Error => Protocol);

impl From<txn::Error> for Error {
    fn from(error: txn::Error) -> Self {
        Error::Exec(error.into())
    }
}

impl Error {
    /// Number, SQLSTATE and message.
    #[cold]
    pub fn describe(&self) -> Description {
        let (number, message) = match self {
            Error::Sql(error) => sql_error(error),
            Error::Exec(error) => return Self::describe_exec(error),
            Error::Table(error) => table_error(error),
            Error::Variable(error) => variable_error(error),
            Error::Protocol(error) => protocol_error(error),
            own => own_error(own),
        };
        Description { number, state: *sqlstate(number), message }
    }

    /// As [`Self::describe`], of a warning.
    pub fn describe_exec(error: &Exec) -> Description {
        if let Exec::Raised(raised) = error {
            return Description { number: raised.number, state: raised.state, message: raised.message.clone() };
        }
        let (number, message) = exec_error(error);
        Description { number, state: *sqlstate(number), message }
    }

    /// Must the whole transaction be rolled back?
    pub fn ends_transaction(&self) -> bool {
        matches!(self, Error::Exec(Exec::Deadlock) | Error::Table(Table::Engine(txn::Error::Deadlock)))
    }
}

/// A warning's number and message.
pub fn describe_condition(error: &Exec) -> (u16, String) {
    exec_error(error)
}

fn own_error(error: &Error) -> (u16, String) {
    match error {
        Error::Sql(_) | Error::Exec(_) | Error::Table(_) | Error::Variable(_) | Error::Protocol(_) => {
            unreachable!("described by their own functions")
        }
        Error::TooManyConnections => (1040, "Too many connections".into()),
        Error::BadHandshake => (1043, "Bad handshake".into()),
        Error::AccessDenied { user, host, using_password } => (1045, no_access(user, host, *using_password)),
        Error::DatabaseAccessDenied { user, host, database } => {
            (1044, format!("Access denied for user '{user}'@'{host}' to database '{database}'"))
        }
        Error::NoDatabase => (1046, "No database selected".into()),
        Error::UnknownCommand => (1047, "Unknown command".into()),
        Error::UnknownDatabase(name) => (1049, format!("Unknown database '{name}'")),
        Error::ShuttingDown => (1053, "Server shutdown in progress".into()),
        Error::EmptyQuery => (1065, "Query was empty".into()),
        Error::DoesNotExist { kind, name } => (1305, format!("{kind} {name} does not exist")),
        Error::UnknownThread(id) => (1094, format!("Unknown thread id: {id}")),
        Error::Internal(message) => (1105, message.clone()),
        Error::TableMissing { database, table } => (1146, format!("Table '{database}.{table}' doesn't exist")),
        Error::NotSupported(what) => not_supported(what),
        Error::UnknownStatement { handler, given_to } => {
            (1243, format!("Unknown prepared statement handler ({handler}) given to {given_to}"))
        }
        Error::LockedForReading(table) => locked_for_reading(table),
        Error::TableNotLocked(table) => (1100, format!("Table '{table}' was not locked with LOCK TABLES")),
        Error::TablesAreLocked => {
            (1192, "Can't execute the given command because you have active locked tables or an active transaction".into())
        }
        Error::GloballyLocked => (1223, "Can't execute the query because you have a conflicting read lock".into()),
        Error::NotPreparable => (1295, "This command is not supported in the prepared statement protocol yet".into()),
        Error::WrongArguments(what) => (1210, format!("Incorrect arguments to {what}")),
        Error::AuthenticationPlugin => {
            (1251, "Client does not support authentication protocol requested by server; consider upgrading MySQL client".into())
        }
        Error::TooManyStatements { limit } => {
            (1461, format!("Can't create more than max_prepared_stmt_count statements (current value: {limit})"))
        }
        Error::TransactionOpen => {
            (1568, "Transaction characteristics can't be changed while a transaction is in progress".into())
        }
        Error::ReadOnlyTransaction => (1792, "Cannot execute statement in a READ ONLY transaction.".into()),
        Error::NoCursor { statement_id } => (1421, format!("The statement ({statement_id}) has no open cursor.")),
        Error::Other { number, message } => (*number, message.clone()),
    }
}

fn locked_for_reading(table: &str) -> (u16, String) {
    (1099, format!("Table '{table}' was locked with a READ lock and can't be updated"))
}

fn not_supported(what: &str) -> (u16, String) {
    (1235, format!("This version of Heddle doesn't yet support '{what}'"))
}

fn sql_error(error: &Sql) -> (u16, String) {
    match error {
        Sql::Syntax { near, line } => (
            1064,
            format!(
                "You have an error in your SQL syntax; check the manual that corresponds to your MySQL server version for the \
                 right syntax to use near '{near}' at line {line}"
            ),
        ),
        Sql::Stopped(stopped) => exec_error(&exec::Error::from(*stopped)),
        Sql::TooDeep => (1436, "Thread stack overrun: the statement is nested too deeply".into()),
        Sql::InvalidUtf8 { text } => (1300, format!("Invalid utf8mb4 character string: '{text}'")),
        Sql::InvalidText { charset, text } => (1300, format!("Invalid {charset} character string: '{text}'")),
        Sql::NotSupported(what) => not_supported(what),
        Sql::Partition(error) => partition::partition_error(error),
        Sql::TooManyColumns => (1117, "Too many columns".into()),
        Sql::TooManyTables => (1116, "Too many tables; MySQL can only use 61 tables in a join".into()),
        Sql::TooManyParams => (1390, "Prepared statement contains too many placeholders".into()),
        Sql::IdentifierTooLong(name) => (1059, too_long(name)),
        Sql::AccountNameTooLong { name, what, most } => {
            (1470, format!("String '{name}' is too long for {what} (should be no longer than {most})"))
        }
        Sql::Denied(denied) => access_denied(denied),
        Sql::WrongName { kind, name } => match kind {
            NameKind::Database => (1102, format!("Incorrect database name '{name}'")),
            NameKind::Table => (1103, format!("Incorrect table name '{name}'")),
            NameKind::Column => (1166, format!("Incorrect column name '{name}'")),
        },
        Sql::UnknownCharset(name) => (1115, format!("Unknown character set: '{name}'")),
        Sql::UnknownCollation(name) => (1273, format!("Unknown collation: '{name}'")),
        Sql::CollationMismatch { collation, charset } => {
            (1253, format!("COLLATION '{collation}' is not valid for CHARACTER SET '{charset}'"))
        }
        Sql::NoTextOf { bytes, charset } => {
            let shown = bytes.iter().take(6).map(|byte| match byte {
                0x20..=0x7E => char::from(*byte).to_string(),
                _ => format!("\\x{byte:02X}"),
            });
            let shown: String = shown.collect();
            let more = if bytes.len() > 6 { "..." } else { "" };
            (3854, format!("Cannot convert string '{shown}{more}' from binary to {charset}"))
        }
        Sql::CharsetsTogether { left, right, function } => {
            (3995, format!("Character set '{left}' cannot be used in conjunction with '{right}' in call to {function}."))
        }
        Sql::LongBitOperand => (
            3514,
            "Aggregate bitwise functions cannot accept arguments longer than 511 bytes; consider using the SUBSTRING() function"
                .into(),
        ),
        Sql::IllegalMix(mix) => match mix.operands.as_slice() {
            [a, b] => (1267, format!("Illegal mix of collations {a} and {b} for operation '{}'", mix.operation)),
            [a, b, c] => (1270, format!("Illegal mix of collations {a}, {b}, {c} for operation '{}'", mix.operation)),
            _ => (1271, format!("Illegal mix of collations for operation '{}'", mix.operation)),
        },
        Sql::UnknownColumn { name, clause } => (1054, format!("Unknown column '{name}' in '{}'", clause.name())),
        Sql::NoSuchTable { column, clause, nested: true, .. } => {
            (1054, format!("Unknown column '{column}' in '{}'", clause.name()))
        }
        Sql::NoSuchTable { table, clause, .. } => (1109, format!("Unknown table '{table}' in {}", clause.name())),
        Sql::AmbiguousColumn { name, clause } => (1052, format!("Column '{name}' in {} is ambiguous", clause.name())),
        Sql::UnknownTable { database, table } => (1146, format!("Table '{database}.{table}' doesn't exist")),
        Sql::UnknownDatabase(name) => (1049, format!("Unknown database '{name}'")),
        Sql::NoDatabase => (1046, "No database selected".into()),
        Sql::NotUniqueTable(name) => (1066, format!("Not unique table/alias: '{name}'")),
        Sql::ColumnNotUpdatable(name) => (1348, format!("Column '{name}' is not updatable")),
        Sql::MisplacedOption(option) => (1234, format!("Incorrect usage/placement of '{option}'")),
        Sql::NotInsertable(name) => (1471, format!("The target table {name} of the INSERT is not insertable-into")),
        Sql::View { why, view } => view::view_error(why, view),
        Sql::UnknownTableAll(name) => (1051, format!("Unknown table '{name}'")),
        Sql::TableFunctionWithoutAlias => (3667, "Every table function must have an alias".into()),
        Sql::JsonPath { position } => {
            (3143, format!("Invalid JSON path expression. The error is around character position {position}."))
        }
        Sql::JsonDefault { why, position } => {
            (3141, format!("Invalid JSON text in argument 1 to function JSON_TABLE: \"{why}\" at position {position}."))
        }
        Sql::DerivedWithoutAlias => (1248, "Every derived table must have its own alias".into()),
        Sql::DerivedColumns => (
            1353,
            "In definition of view, derived table or common table expression, SELECT list and column names list have different \
             column counts"
                .into(),
        ),
        Sql::TooManyLevels(most) => (1473, format!("Too high level of nesting for select (maximum {most})")),
        Sql::Recursive { why, table } => recursive(*why, table),
        Sql::WindowContext(name) => (3593, format!("You cannot use the window function '{name}' in this context.'")),
        Sql::Window { why, name } => window::describe(*why, name),
        Sql::WindowOrderTwice { window, base } => {
            (3583, format!("Window '{window}' cannot inherit '{base}' since both contain an ORDER BY clause."))
        }
        Sql::GroupingArguments(count) => {
            (3601, format!("Too many arguments for function GROUPING: {count}; maximum allowed is 64."))
        }
        Sql::GroupingArgument(number) => (3602, format!("Argument #{number} of GROUPING function is not in GROUP BY")),
        Sql::UnknownTarget { table, clause } => (1109, format!("Unknown table '{table}' in {clause}")),
        Sql::UpdatedTwice(first, second) => (
            1706,
            format!(
                "Primary key/partition key update is not allowed since the table is updated both as '{first}' and '{second}'."
            ),
        ),
        Sql::NotGrouped { expression, column, clause } => (1055, not_grouped(*expression, column, *clause)),
        Sql::MixedGroup { expression, column } => (
            1140,
            format!(
                "In aggregated query without GROUP BY, expression #{expression} of SELECT list contains nonaggregated column \
                 '{column}'; this is incompatible with sql_mode=only_full_group_by"
            ),
        ),
        Sql::AggregateOrder(number) => (
            3029,
            format!(
                "Expression #{number} of ORDER BY contains aggregate function and applies to the result of a non-aggregated query"
            ),
        ),
        Sql::GeneratedValue { column, table } => {
            (3105, format!("The value specified for generated column '{column}' in table '{table}' is not allowed."))
        }
        Sql::InvalidGroupUse => (1111, "Invalid use of group function".into()),
        Sql::WrongGroupField(name) => (1056, format!("Can't group on '{name}'")),
        Sql::OrderNotInDistinct { expression, column } => (
            3065,
            format!(
                "Expression #{expression} of ORDER BY clause is not in SELECT list, references column '{column}' which is not \
                 in SELECT list; this is incompatible with DISTINCT"
            ),
        ),
        Sql::NoTimestampWithTimeZone => (3998, "Cannot cast value to TIMESTAMP WITH TIME ZONE.".into()),
        Sql::AggregateOrderNotInDistinct { expression } => (
            3066,
            format!(
                "Expression #{expression} of ORDER BY clause is not in SELECT list, contains aggregate function; this is \
                 incompatible with DISTINCT"
            ),
        ),
        Sql::WrongParamCount(name) => (1582, format!("Incorrect parameter count in the call to native function '{name}'")),
        Sql::UnknownFunction(name) => (1305, format!("FUNCTION {name} does not exist")),
        Sql::FunctionApart(name) => (
            1630,
            format!(
                "FUNCTION {name} does not exist. Check the 'Function Name Parsing and Resolution' section in the Reference Manual"
            ),
        ),
        Sql::UnknownSystemVariable(name) => (1193, format!("Unknown system variable '{name}'")),
        Sql::ColumnCount { row } => (1136, format!("Column count doesn't match value count at row {row}")),
        Sql::ColumnTwice(name) => (1110, format!("Column '{name}' specified twice")),
        Sql::OperandColumns(count) => (1241, format!("Operand should contain {count} column(s)")),
        Sql::SecondInto => (3953, "Multiple INTO clauses in one query block.".into()),
        Sql::MisplacedInto => (
            3954,
            "Misplaced INTO clause, INTO is not allowed inside subqueries, and must be placed at end of UNION clauses.".into(),
        ),
        Sql::SetColumns => (1222, "The used SELECT statements have a different number of columns".into()),
        Sql::NoTables => (1096, "No tables used".into()),
        Sql::WrongUsage(first, second) => (1221, format!("Incorrect usage of {first} and {second}")),
        Sql::GlobalOrder(table) => {
            (1250, format!("Table '{table}' from one of the SELECTs cannot be used in global ORDER clause"))
        }
        Sql::WrongArguments(what) => (1210, format!("Incorrect arguments to {what}")),
        Sql::CursorInto => (1323, "Cursor SELECT must not have INTO".into()),
        Sql::Routine(error) => crate::routine::message(error),
        Sql::NoInteger { name, near, line } => {
            (1064, format!("The variable \"{name}\" has a non-integer based type near '{near}' at line {line}"))
        }
        Sql::Undeclared(name) => (1327, format!("Undeclared variable: {name}")),
        Sql::UnknownWindow(name) => (3579, format!("Window name '{name}' is not defined.")),
        Sql::UnknownKey { key, table } => (1176, format!("Key '{key}' doesn't exist in table '{table}'")),
        Sql::NoDefault(name) => (1364, format!("Field '{name}' doesn't have a default value")),
        Sql::WrongLiteral { kind, value } => (1525, format!("Incorrect {kind} value: '{value}'")),
        Sql::NoDate { kind, value, column } => {
            let kind = kind.to_lowercase();
            let text = match column {
                Some(column) => format!("Incorrect {kind} value: '{value}' for column '{column}' at row 1"),
                None => format!("Truncated incorrect {kind} value: '{value}'"),
            };
            (1292, text)
        }
        Sql::OutOfRange { kind, expression } => (1690, format!("{kind} value is out of range in '{expression}'")),
        Sql::IllegalNumber { kind, value } => (1367, format!("Illegal {kind} '{value}' value found during parsing")),
        Sql::NotUpdatable { table, statement } => (1288, format!("The target table {table} of the {statement} is not updatable")),
        Sql::FixedSetting => (1683, "Invalid performance_schema usage.".into()),
        Sql::UpdateTableUsed(name) => (1093, format!("You can't specify target table '{name}' for update in FROM clause")),
        Sql::File(error) => file_error(*error),
        Sql::Definition(error) => definition_error(error),
    }
}

/// 1045
fn no_access(user: &str, host: &str, using_password: bool) -> String {
    let using = if using_password { "YES" } else { "NO" };
    format!("Access denied for user '{user}'@'{host}' (using password: {using})")
}

fn access_denied(denied: &sql::Denied) -> (u16, String) {
    let sql::Denied { command, user, host, table, column } = denied;
    match column {
        Some(column) => {
            (1143, format!("{command} command denied to user '{user}'@'{host}' for column '{column}' in table '{table}'"))
        }
        None => (1142, format!("{command} command denied to user '{user}'@'{host}' for table '{table}'")),
    }
}

/// The message about the format of a text file.
fn file_error(why: FileError) -> (u16, String) {
    let (number, message) = match why {
        FileError::Separator => (1083, "Field separator argument is not what is expected; check the manual"),
        FileError::Blobs => (1084, "You can't use fixed rowlength with BLOBs; please use 'fields terminated by'"),
        FileError::FixedVariable => (1409, "Can't load value from file with fixed size rows to variable"),
    };
    (number, message.to_owned())
}

/// The message about a common table expression that names itself wrongly.
fn recursive(why: RecursiveError, table: &str) -> (u16, String) {
    let block = format!("In recursive query block of Recursive Common Table Expression '{table}', the recursive table must");
    let whole = format!("Recursive Common Table Expression '{table}'");
    match why {
        RecursiveError::NoSeed => (3573, format!("{whole} should contain a UNION")),
        RecursiveError::SeedBehindStep => {
            (3574, format!("{whole} should have one or more non-recursive query blocks followed by one or more recursive ones"))
        }
        RecursiveError::Aggregation => {
            (3575, format!("{whole} can contain neither aggregation nor window functions in recursive query block"))
        }
        RecursiveError::Operand => (4114, "Recursive table reference in EXCEPT or INTERSECT operand is not allowed.".to_owned()),
        RecursiveError::JoinOrder => {
            let places = "in the right argument of a LEFT JOIN, nor be forced to be non-first with join order hints";
            (3576, format!("{block} neither be {places}"))
        }
        RecursiveError::SeveralUses => (3577, format!("{block} be referenced only once, and not in any subquery")),
    }
}

fn not_grouped(expression: usize, column: &str, clause: Clause) -> String {
    let place = match clause {
        Clause::OrderBy => "ORDER BY clause",
        Clause::Having => "HAVING clause",
        _ => "SELECT list",
    };
    format!(
        "Expression #{expression} of {place} is not in GROUP BY clause and contains nonaggregated column '{column}' which is not \
         functionally dependent on columns in GROUP BY clause; this is incompatible with sql_mode=only_full_group_by"
    )
}

const WRONG_PREFIX: &str = "Incorrect prefix key; the used key part isn't a string, the used length is longer than the key part, or \
                            the storage engine doesn't support unique prefix keys";
const WRONG_AUTO_KEY: &str = "Incorrect table definition; there can be only one auto column and it must be defined as a key";
const PRIMARY_NULLABLE: &str = "All parts of a PRIMARY KEY must be NOT NULL; if you need NULL in a key, use UNIQUE instead";
const DROP_ALL_COLUMNS: &str = "You can't delete all columns with ALTER TABLE; use DROP TABLE instead";

fn definition_error(error: &DefinitionError) -> (u16, String) {
    use DefinitionError as D;
    match error {
        D::DuplicateColumn(name) => (1060, format!("Duplicate column name '{name}'")),
        D::MultiplePrimaryKeys => (1068, "Multiple primary key defined".into()),
        D::KeyColumnMissing(name) => (1072, format!("Key column '{name}' doesn't exist in table")),
        D::ColumnTooLong { column, max } => (1074, column_too_long(column, *max)),
        D::InvalidDefault(name) => (1067, format!("Invalid default value for '{name}'")),
        D::BlobDefault(name) => (1101, blob_default(name)),
        D::WrongColumnSpecifier(name) => (1063, format!("Incorrect column specifier for column '{name}'")),
        D::TooBigScale { column, scale, max } => {
            (1425, format!("Too big scale {scale} specified for column '{column}'. Maximum is {max}."))
        }
        D::TooBigPrecision { column, precision, max } => {
            (1426, format!("Too-big precision {precision} specified for '{column}'. Maximum is {max}."))
        }
        D::ScaleOverPrecision(name) => {
            (1427, format!("For float(M,D), double(M,D) or decimal(M,D), M must be >= D (column '{name}')."))
        }
        D::YearWidth => (1818, "Invalid display width. Use YEAR instead.".to_owned()),
        D::InvalidSize(name) => (3013, format!("Invalid size for column '{name}'.")),
        D::CommentTooLong { of, name, max } => match of {
            sql::CommentOf::Column => {
                (1629, format!("The maximum supported character limit for the field, '{name}', has been exceeded (max = {max})"))
            }
            sql::CommentOf::Table => (1628, format!("Comment for table '{name}' is too long (max = {max})")),
            sql::CommentOf::Index => (1688, format!("Comment for index '{name}' is too long (max = {max})")),
            sql::CommentOf::Partition => (1793, format!("Comment for table partition '{name}' is too long (max = {max})")),
        },
        D::DisplayWidth { column, max } => (1439, format!("Display width out of range for column '{column}' (max = {max})")),
        D::BlobKeyWithoutLength(name) => (1170, blob_key(name)),
        D::WrongPrefix => (1089, WRONG_PREFIX.into()),
        D::KeyTooLong(max) => (1071, format!("Specified key was too long; max key length is {max} bytes")),
        D::PrimaryNullable => (1171, PRIMARY_NULLABLE.into()),
        D::NoColumns => (4028, "A table must have at least one visible column.".into()),
        D::CannotDrop(name) => (1091, cannot_drop(name)),
        D::NoSuchColumn { column, table } => (1054, format!("Unknown column '{column}' in '{table}'")),
        D::DuplicateMember { column, value, kind } => {
            (1291, format!("Column '{column}' has duplicated value '{value}' in {kind}"))
        }
        D::UnknownEngine(name) => (1286, format!("Unknown storage engine '{name}'")),
        D::TooManyKeyParts(max) => (1070, format!("Too many key parts specified; max {max} parts allowed")),
        D::TooManyKeys(max) => (1069, format!("Too many keys specified; max {max} keys allowed")),
        D::RowTooLarge => (1118, row_too_large(65535)),
        D::UnknownAlgorithm(name) => (1800, format!("Unknown ALGORITHM '{name}'")),
        D::UnknownLock(name) => (1801, format!("Unknown LOCK type '{name}'")),
        D::KeyPart(problem) => row_expr::key_part_error(*problem),
        D::RowExpr { usage, problem } => row_expr::row_expr_error(usage, problem),
    }
}

fn column_too_long(column: &str, max: impl std::fmt::Display) -> String {
    format!("Column length too big for column '{column}' (max = {max}); use BLOB or TEXT instead")
}

fn blob_default(name: &str) -> String {
    format!("BLOB, TEXT, GEOMETRY or JSON column '{name}' can't have a default value")
}

fn blob_key(name: &str) -> String {
    format!("BLOB/TEXT column '{name}' used in key specification without a key length")
}

fn cannot_drop(name: &str) -> String {
    format!("Can't DROP '{name}'; check that column/key exists")
}

fn row_too_large(max: usize) -> String {
    format!(
        "Row size too large. The maximum row size for the used table type, not counting BLOBs, is {max}. This includes storage \
         overhead, check the manual. You have to change some columns to TEXT or BLOBs"
    )
}

fn exec_error(error: &Exec) -> (u16, String) {
    match error {
        Exec::DigestArgument(why) => {
            let why = why.as_ref().map_or_else(|| own_error(&Error::EmptyQuery), sql_error).1;
            (3676, format!("Could not parse argument to digest function: \"{why}\"."))
        }
        Exec::OutOfRange { what, expression } => (1690, format!("{what} value is out of range in '{expression}'")),
        Exec::Partition(error) => partition::partition_error(error),
        Exec::IndexDataTruncated { index, row } => (3751, format!("Data truncated for functional index '{index}' at row {row}")),
        Exec::IndexOutOfRange { index, row } => {
            (3752, format!("Value is out of range for functional index '{index}' at row {row}"))
        }
        Exec::DivisionByZero => (1365, "Division by 0".into()),
        Exec::TruncatedWrongValue { what, value } => (1292, format!("Truncated incorrect {what} value: '{value}'")),
        Exec::WrongValue { what, value } => (1292, format!("Incorrect {what} value: '{value}'")),
        Exec::WrongArguments { function } => (1210, format!("Incorrect arguments to {function}")),
        Exec::WrongValueForFunction { what, value, function } => {
            (1411, format!("Incorrect {what} value: '{value}' for function {function}"))
        }
        Exec::DatetimeOverflow { what } => (1441, format!("Datetime function: {what} field overflow")),
        Exec::ResultTooLarge { function, limit } => {
            (1301, format!("Result of {function}() was larger than max_allowed_packet ({limit}) - truncated"))
        }
        Exec::CutByGroupConcat { row } => (1260, format!("Row {row} was cut by GROUP_CONCAT()")),
        Exec::InvalidLogarithm => (3020, "Invalid argument for logarithm".into()),
        Exec::InvalidJson { argument, function, why, position } => {
            (3141, format!("Invalid JSON text in argument {argument} to function {function}: \"{why}\" at position {position}."))
        }
        Exec::InvalidJsonPath { position } => {
            (3143, format!("Invalid JSON path expression. The error is around character position {position}."))
        }
        Exec::Regex { why } => (3685, why.clone()),
        Exec::InvalidText { charset, value } => (1300, format!("Invalid {charset} character string: '{value}'")),
        Exec::WrongLockName { name } => (3057, format!("Incorrect user-level lock name '{name}'.")),
        Exec::UserLockDeadlock => (
            3058,
            "Deadlock found when trying to get user-level lock; try rolling back transaction/releasing locks and restarting \
             lock acquisition."
                .into(),
        ),
        Exec::UnknownTimeZone { name } => (1298, format!("Unknown or incorrect time zone: '{name}'")),
        Exec::RecursionTooDeep { rounds } => (
            3636,
            format!(
                "Recursive query aborted after {rounds} iterations. Try increasing @@cte_max_recursion_depth to a larger value."
            ),
        ),
        Exec::SubqueryMoreThanOneRow => (1242, "Subquery returns more than 1 row".into()),
        Exec::DuplicateEntry { value, key } => (1062, format!("Duplicate entry '{value}' for key '{key}'")),
        Exec::RowIsReferenced { constraint } => (1451, foreign_key_fails("Cannot delete or update a parent row", constraint)),
        Exec::NoReferencedRow { constraint } => (1452, foreign_key_fails("Cannot add or update a child row", constraint)),
        Exec::ForeignDuplicate { table, record, child, key } => (
            1761,
            format!(
                "Foreign key constraint for table '{table}', record '{record}' would lead to a duplicate entry in table '{child}', \
                 key '{key}'"
            ),
        ),
        Exec::CascadeTooDeep { levels } => (3008, format!("Foreign key cascade delete/update exceeds max depth of {levels}.")),
        Exec::ColumnCannotBeNull { column } => (1048, format!("Column '{column}' cannot be null")),
        Exec::ViewCheckFailed { view } => (1369, format!("CHECK OPTION failed '{view}'")),
        Exec::CheckViolated { name } => (3819, format!("Check constraint '{name}' is violated.")),
        Exec::NoDefault { column } => (1364, format!("Field '{column}' doesn't have a default value")),
        Exec::ColumnOutOfRange { column, row } => (1264, format!("Out of range value for column '{column}' at row {row}")),
        Exec::DataTooLong { column, row } => (1406, format!("Data too long for column '{column}' at row {row}")),
        Exec::DataTruncated { column, row } => (1265, format!("Data truncated for column '{column}' at row {row}")),
        Exec::WrongValueForColumn { what, value, column, row } => {
            (1366, format!("Incorrect {what} value: '{value}' for column '{column}' at row {row}"))
        }
        Exec::WrongTemporalForColumn { what, value, column, row } => {
            (1292, format!("Incorrect {what} value: '{value}' for column '{column}' at row {row}"))
        }
        Exec::InvalidDocument { what, column, row } => {
            (3156, format!("Invalid JSON value for CAST to {what} from column {column} at row {row}"))
        }
        Exec::InvalidJsonForColumn { why, position, column } => {
            (3140, format!("Invalid JSON text: \"{why}\" at position {position} in value for column '{column}'."))
        }
        Exec::AutoIncrementExhausted => (1467, "Failed to read auto-increment value from storage engine".into()),
        Exec::RowTooLarge { limit, .. } => (1118, row_too_large(*limit)),
        Exec::KeyTooLong { limit, .. } => (1071, format!("Specified key was too long; max key length is {limit} bytes")),
        Exec::Deadlock => (1213, "Deadlock found when trying to get lock; try restarting transaction".into()),
        Exec::LockWaitTimeout => (1205, "Lock wait timeout exceeded; try restarting transaction".into()),
        Exec::NoWait => (3572, "Statement aborted because lock(s) could not be acquired immediately and NOWAIT is set.".into()),
        Exec::Interrupted => (1317, "Query execution was interrupted".into()),
        Exec::QueryTimeout => (3024, "Query execution was interrupted, maximum statement execution time exceeded".into()),
        Exec::OutOfSortMemory { limit, setting } => {
            (1038, format!("Out of sort memory ({limit} bytes), consider increasing {setting}"))
        }
        Exec::TableChanged { .. } | Exec::SnapshotTooOld => {
            (1412, "Table definition has changed, please retry transaction".into())
        }
        Exec::TemporaryDiskFull => {
            let why = "errno: 28 - No space left on device";
            (1021, format!("Disk full (temporary files); waiting for someone to free some space... ({why})"))
        }
        Exec::TemporarySpaceFull { limit } => {
            (1114, format!("The table 'temporary files' is full: heddle_temporary_space_max is {limit}"))
        }
        Exec::Full { table } => (1114, format!("The table '{table}' is full")),
        Exec::Storage(why) => (1030, format!("Got error 168 - '{why}' from storage engine")),
        Exec::NotSupported(what) => not_supported(what),
        Exec::ClientGone => (1159, "Got timeout reading communication packets".into()),
        Exec::Other { number, message } => (*number, message.clone()),
        Exec::Raised(raised) => (raised.number, raised.message.clone()),
    }
}

/// What `table` was told by who judges and computes expressions (`table::ddl::Expressions`).
fn expression_error(error: &(dyn std::error::Error + Send + Sync + 'static)) -> (u16, String) {
    if let Some(error) = error.downcast_ref::<Exec>() {
        return exec_error(error);
    }
    match error.downcast_ref::<Sql>() {
        Some(error) => sql_error(error),
        None => (1105, error.to_string()),
    }
}

fn online_log_too_big(index: &str) -> String {
    format!(
        "Creating index '{index}' required more than 'innodb_online_alter_log_max_size' bytes of modification log. Please try again."
    )
}

fn table_error(error: &Table) -> (u16, String) {
    match error {
        Table::Engine(error) => exec_error(&clone_engine_error(error).into()),
        Table::CorruptCatalog { what } => (1030, format!("Got error 168 - 'the catalog is damaged: {what}' from storage engine")),
        Table::LockedForReading { table } => locked_for_reading(table),
        Table::LockWaitTimeout => (1205, "Lock wait timeout exceeded; try restarting transaction".into()),
        Table::Interrupted => (1317, "Query execution was interrupted".into()),
        Table::DatabaseExists { database } => (1007, format!("Can't create database '{database}'; database exists")),
        Table::RoutineExists { kind, name } => (1304, format!("{kind} {name} already exists")),
        Table::RoutineMissing { kind, name } => (1305, format!("{kind} {name} does not exist")),
        Table::EventExists { name } => (1537, format!("Event '{name}' already exists")),
        Table::EventMissing { name } => (1539, format!("Unknown event '{name}'")),
        Table::TriggerExists => (1359, "Trigger already exists".into()),
        Table::TriggerMissing => (1360, "Trigger does not exist".into()),
        Table::TriggerUnknown { name } => {
            (3011, format!("Referenced trigger '{name}' for the given action time and event type does not exist."))
        }
        Table::TriggerMoves => (1435, "Trigger in wrong schema".into()),
        Table::DatabaseMissing { database } => (1008, format!("Can't drop database '{database}'; database doesn't exist")),
        Table::UnknownDatabase { database } => (1049, format!("Unknown database '{database}'")),
        Table::TableExists { table } => (1050, format!("Table '{table}' already exists")),
        Table::UnknownTable { database, table } => (1051, format!("Unknown table '{database}.{table}'")),
        Table::TableMissing { database, table } => (1146, format!("Table '{database}.{table}' doesn't exist")),
        Table::NotBaseTable { database, table } => (1347, format!("'{database}.{table}' is not BASE TABLE")),
        Table::NotView { database, table } => (1347, format!("'{database}.{table}' is not VIEW")),
        Table::ViewMoves { from, to } => (1450, format!("Changing schema from '{from}' to '{to}' is not allowed.")),
        Table::UnknownColumn { column, table } => (1054, format!("Unknown column '{column}' in '{table}'")),
        Table::DuplicateColumn { column } => (1060, format!("Duplicate column name '{column}'")),
        Table::DuplicateKeyName { index } => (1061, format!("Duplicate key name '{index}'")),
        Table::DuplicateEntry { key, index } => (1062, format!("Duplicate entry '{key}' for key '{index}'")),
        Table::MultiplePrimaryKeys => (1068, "Multiple primary key defined".into()),
        Table::KeyTooLong { max_bytes } => (1071, format!("Specified key was too long; max key length is {max_bytes} bytes")),
        Table::KeyColumnMissing { column } => (1072, format!("Key column '{column}' doesn't exist in table")),
        Table::ColumnTooLong { column, max } => (1074, column_too_long(column, max)),
        Table::WrongAutoIncrement => (1075, WRONG_AUTO_KEY.into()),
        Table::WrongColumnType { column } => (1063, format!("Incorrect column specifier for column '{column}'")),
        Table::InvalidDefault { column } => (1067, format!("Invalid default value for '{column}'")),
        Table::EmptyPrefix { column } => (1391, format!("Key part '{column}' length cannot be 0")),
        Table::WrongPrefix => (1089, WRONG_PREFIX.into()),
        Table::CannotRemoveAllColumns => (1090, DROP_ALL_COLUMNS.into()),
        Table::CannotDrop { name } => (1091, cannot_drop(name)),
        Table::BlobDefault { column } => (1101, blob_default(column)),
        Table::NoColumns => (4028, "A table must have at least one visible column.".into()),
        Table::TooManyColumns => (1117, "Too many columns".into()),
        Table::TooManyKeys { max } => (1069, format!("Too many keys specified; max {max} keys allowed")),
        Table::TooManyKeyParts { max } => (1070, format!("Too many key parts specified; max {max} parts allowed")),
        Table::RowTooLarge { max_bytes } => (1118, row_too_large(*max_bytes)),
        Table::JsonAsKey { column } => {
            (3152, format!("JSON column '{column}' supports indexing only via generated columns on a specified JSON path."))
        }
        Table::BlobKeyWithoutLength { column } => (1170, blob_key(column)),
        Table::NullablePrimaryKey => (1171, PRIMARY_NULLABLE.into()),
        Table::WrongIndexName { index } => (1280, format!("Incorrect index name '{index}'")),
        Table::NameTooLong { name } => (1059, too_long(name)),
        Table::WrongName { what, name } => match what {
            NameOf::Database => (1102, format!("Incorrect database name '{name}'")),
            NameOf::Table => (1103, format!("Incorrect table name '{name}'")),
            NameOf::Column => (1166, format!("Incorrect column name '{name}'")),
        },
        Table::Conversion { problem, column, row } => problem_error(problem, column, *row),
        Table::ForeignKey(error) => foreign_key_error(error),
        Table::InvalidNull => (1138, "Invalid use of NULL value".into()),
        Table::AutoIncrementUsedUp => (1467, "Failed to read auto-increment value from storage engine".into()),
        Table::DuplicateCheck { name } => (3822, format!("Duplicate check constraint name '{name}'.")),
        Table::CheckMissing { name } => (3821, format!("Check constraint '{name}' is not found in the table.")),
        Table::ReadByCheck { column, name } => {
            (3959, format!("Check constraint '{name}' uses column '{column}', hence column cannot be dropped or renamed."))
        }
        Table::ReadByIndex { column } => {
            (3837, format!("Column '{column}' has a functional index dependency and cannot be dropped or renamed."))
        }
        Table::ReadByGenerated { column } => (3108, format!("Column '{column}' has a generated column dependency.")),
        Table::ReadByDefault { column, table } => (
            3766,
            format!(
                "Column '{column}' of table '{table}' has a default value expression dependency and cannot be dropped or renamed."
            ),
        ),
        Table::VirtualForeignKey { name, column } => {
            (3733, format!("Foreign key '{name}' uses virtual column '{column}' which is not supported."))
        }
        Table::GeneratedForeignKey { clause } => {
            (3104, format!("Cannot define foreign key with {clause} clause on a generated column."))
        }
        Table::CheckOnForeignKey { column, check, key } => (
            3823,
            format!(
                "Column '{column}' cannot be used in a check constraint '{check}': needed in a foreign key constraint '{key}' \
                 referential action."
            ),
        ),
        Table::Generated { what } => (3106, format!("'{what}' is not supported for generated columns.")),
        Table::Expression(error) => expression_error(error.as_ref()),
        Table::Partition(error) => partition::partition_error(error),
        Table::IndexMissing { index, table } => (1176, format!("Key '{index}' doesn't exist in table '{table}'")),
        Table::PrimaryInvisible => (3522, "A primary key index cannot be invisible".into()),
        Table::NotInstant { retypes: true } => (
            1846,
            "ALGORITHM=INSTANT is not supported. Reason: Need to rebuild the table to change column type. Try ALGORITHM=COPY/INPLACE."
                .into(),
        ),
        Table::NotInPlace { instant } => {
            let algorithm = if *instant { "INSTANT" } else { "INPLACE" };
            (1845, format!("ALGORITHM={algorithm} is not supported for this operation. Try ALGORITHM=COPY."))
        }
        Table::NotInstant { retypes: false } => (1845, "ALGORITHM=INSTANT is not supported for this operation. Try ALGORITHM=COPY/INPLACE.".into()),
        Table::TooManyRowVersions { table } => (
            4092,
            format!(
                "Maximum row versions reached for table {table}. No more columns can be added or dropped instantly. Please use COPY/INPLACE."
            ),
        ),
        Table::NeedsLock { why } => (1846, format!("LOCK=NONE is not supported. Reason: {why}. Try LOCK=SHARED.")),
        Table::OnlineLogTooBig { index } => (1799, online_log_too_big(index)),
        Table::NotSupported { what } => not_supported(what),
    }
}

fn foreign_key_fails(what: &str, constraint: &str) -> String {
    format!("{what}: a foreign key constraint fails ({constraint})")
}

fn foreign_key_error(error: &ForeignKeyError) -> (u16, String) {
    use ForeignKeyError as F;
    const FAILED: &str = "Failed to add the foreign key constraint.";
    match error {
        F::UnfitParent => (1215, "Cannot add foreign key constraint".into()),
        F::ColumnCount { name } => {
            let name = name.as_deref().unwrap_or("foreign key without name");
            (1239, format!("Incorrect foreign key definition for '{name}': Key reference and table reference don't match"))
        }
        F::NoParentRow { constraint } => (1452, foreign_key_fails("Cannot add or update a child row", constraint)),
        F::IndexNeeded { index } => (1553, format!("Cannot drop index '{index}': needed in a foreign key constraint")),
        F::Truncated { database, child, name } => {
            let names = [database, child, name].map(|name| types::show_create::quoted_name(name));
            let [database, child, name] = names;
            (
                1701,
                format!("Cannot truncate a table referenced in a foreign key constraint ({database}.{child}, CONSTRAINT {name})"),
            )
        }
        F::ParentMissing { table } => (1824, format!("Failed to open the referenced table '{table}'")),
        F::DuplicateName { name } => (1826, format!("Duplicate foreign key constraint name '{name}'")),
        F::ColumnNeeded { column, name } => {
            (1828, format!("Cannot drop column '{column}': needed in a foreign key constraint '{name}'"))
        }
        F::ColumnReferenced { column, name, child } => {
            (1829, format!("Cannot drop column '{column}': needed in a foreign key constraint '{name}' of table '{child}'"))
        }
        F::NotNull { column, name } => {
            (1830, format!("Column '{column}' cannot be NOT NULL: needed in a foreign key constraint '{name}' SET NULL"))
        }
        F::TableReferenced { table, name, child } => {
            (3730, format!("Cannot drop table '{table}' referenced by a foreign key constraint '{name}' on table '{child}'."))
        }
        F::ParentColumnMissing { column, name, parent } => {
            (3734, format!("{FAILED} Missing column '{column}' for constraint '{name}' in the referenced table '{parent}'"))
        }
        F::Incompatible { column, parent_column, name } => (
            3780,
            format!(
                "Referencing column '{column}' and referenced column '{parent_column}' in foreign key constraint '{name}' are \
                 incompatible."
            ),
        ),
        F::ConstraintAmbiguous { name, clause } => {
            let what = "Please use constraint specific";
            (3939, format!("Table has multiple constraints with the name '{name}'. {what} '{clause}' clause."))
        }
        F::NotEnforceable { name } => (
            3941,
            format!(
                "Altering constraint enforcement is not supported for the constraint '{name}'. Enforcement state alter is not \
                 supported for the PRIMARY, UNIQUE and FOREIGN KEY type constraints."
            ),
        ),
        F::ConstraintMissing { name } => (3940, format!("Constraint '{name}' does not exist.")),
        F::NoUniqueKey { name, parent } => {
            (6125, format!("{FAILED} Missing unique key for constraint '{name}' in the referenced table '{parent}'"))
        }
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

/// A value that does not fit its column.
fn problem_error(problem: &Problem, column: &str, row: u64) -> (u16, String) {
    match problem {
        Problem::OutOfRange => (1264, format!("Out of range value for column '{column}' at row {row}")),
        Problem::Truncated => (1265, format!("Data truncated for column '{column}' at row {row}")),
        Problem::TooLong => (1406, format!("Data too long for column '{column}' at row {row}")),
        Problem::Incorrect { what, text } => {
            (1366, format!("Incorrect {what} value: '{text}' for column '{column}' at row {row}"))
        }
        Problem::IncorrectTemporal { what, text } => {
            (1292, format!("Incorrect {what} value: '{text}' for column '{column}' at row {row}"))
        }
        Problem::TruncatedIncorrect { what, text } => (1292, format!("Truncated incorrect {what} value: '{text}'")),
        Problem::TemporalOverflow { what } => (1441, format!("Datetime function: {what} field overflow")),
        Problem::TimestampGap => (1299, format!("Invalid TIMESTAMP value in column '{column}' at row {row}")),
        Problem::InvalidJson { why, position } => {
            (3140, format!("Invalid JSON text: \"{why}\" at position {position} in value for column '{column}'."))
        }
        Problem::DeepJson => (3157, "The JSON document exceeds the maximum depth.".into()),
        Problem::InvalidDocument { what } => {
            (3156, format!("Invalid JSON value for CAST to {what} from column {column} at row {row}"))
        }
        Problem::BinaryJson => (3144, "Cannot create a JSON value from a string with CHARACTER SET 'binary'.".into()),
    }
}

fn variable_error(error: &variables::Error) -> (u16, String) {
    use variables::Error as V;
    match error {
        V::Unknown { name } => (1193, format!("Unknown system variable '{name}'")),
        V::ReadOnly { name } => (1238, format!("Variable '{name}' is a read only variable")),
        V::NotSession { name } => (1238, format!("Variable '{name}' is a GLOBAL variable")),
        V::NotGlobal { name } => (1238, format!("Variable '{name}' is a SESSION variable")),
        V::SetGlobalNeeded { name } => {
            (1229, format!("Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL"))
        }
        V::SetSessionNeeded { name } => {
            (1228, format!("Variable '{name}' is a SESSION variable and can't be used with SET GLOBAL"))
        }
        V::WrongValue { name, value } => (1231, format!("Variable '{name}' can't be set to the value of '{value}'")),
        V::WrongType { name } => (1232, format!("Incorrect argument type to variable '{name}'")),
        V::UnknownCharset { name } => (1115, format!("Unknown character set: '{name}'")),
        V::UnknownCollation { name } => (1273, format!("Unknown collation: '{name}'")),
        V::Refused { name, present } => {
            (1235, format!("This version of Heddle doesn't yet support '{name} with another value than {present}'"))
        }
        V::UnknownTimeZone { name } => (1298, format!("Unknown or incorrect time zone: '{name}'")),
    }
}

fn protocol_error(error: &protocol::Error) -> (u16, String) {
    use protocol::Error as P;
    match error {
        P::Malformed { packet: "login", .. } => (1043, "Bad handshake".into()),
        P::Malformed { .. } => (1835, "Malformed communication packet.".into()),
        P::TooLarge { .. } => (1153, "Got a packet bigger than 'max_allowed_packet' bytes".into()),
        P::OutOfOrder { .. } => (1156, "Got packets out of order".into()),
        P::Uncompress { .. } => (1157, "Couldn't uncompress communication packet".into()),
        P::OldProtocol => own_error(&Error::AuthenticationPlugin),
        P::UnknownCommand { .. } => (1047, "Unknown command".into()),
        P::ParameterRange { what, parameter } => (1292, format!("Incorrect {what} value for parameter {}", parameter + 1)),
        P::ParameterNumber { .. } => (1210, "Incorrect arguments to mysql_stmt_send_long_data".into()),
    }
}

/// Of 1059, as far as MySQL shows a name.
fn too_long(name: &str) -> String {
    format!("Identifier name '{}' is too long", name.chars().take(100).collect::<String>())
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
        check(Error::ReadOnlyTransaction, 1792, b"25006", "Cannot execute statement in a READ ONLY transaction.");
    }
}
