//! The syntax tree of SELECT and of the statements that change rows.

use super::{ColumnName, DataType, Expr, ObjectName, WindowSpec};

/// A query expression: `[WITH] body [ORDER BY] [LIMIT] [FOR UPDATE]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Query<'a> {
    pub with: Option<With<'a>>,
    pub body: QueryBody<'a>,
    pub order_by: &'a [OrderItem<'a>],
    pub limit: Option<Limit<'a>>,
    pub locking: &'a [LockClause<'a>],
    pub into: Option<SelectInto<'a>>,
}

impl Query<'_> {
    /// SQL_CALC_FOUND_ROWS in its first block.
    pub fn counts_found_rows(&self) -> bool {
        let mut body = &self.body;
        loop {
            body = match body {
                QueryBody::Select(select) => return select.calc_found_rows,
                QueryBody::Query(query) => &query.body,
                QueryBody::SetOperation { first, .. } => first,
                QueryBody::Table(_) | QueryBody::Values(_) => return false,
            };
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct With<'a> {
    pub recursive: bool,
    pub tables: &'a [CommonTable<'a>],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommonTable<'a> {
    pub name: &'a str,
    pub columns: &'a [&'a str],
    pub query: &'a Query<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueryBody<'a> {
    Select(&'a Select<'a>),
    /// In parentheses, with its own ORDER BY and LIMIT.
    Query(&'a Query<'a>),
    /// `first op second op third`, of one precedence, to be read from the left.
    SetOperation {
        first: &'a QueryBody<'a>,
        rest: &'a [SetOperand<'a>],
    },
    /// VALUES ROW(...), ...
    Values(&'a [&'a [Expr<'a>]]),
    /// TABLE t
    Table(ObjectName<'a>),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetOperand<'a> {
    pub op: SetOp,
    pub all: bool,
    pub body: QueryBody<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetOp {
    Union,
    Except,
    Intersect,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Select<'a> {
    pub distinct: bool,
    pub straight_join: bool,
    /// SQL_CALC_FOUND_ROWS
    pub calc_found_rows: bool,
    pub items: &'a [SelectItem<'a>],
    /// The comma list; empty without FROM or with FROM DUAL.
    pub from: &'a [TableRef<'a>],
    pub filter: Option<&'a Expr<'a>>,
    pub group_by: &'a [OrderItem<'a>],
    pub with_rollup: bool,
    pub having: Option<&'a Expr<'a>>,
    pub windows: &'a [(&'a str, WindowSpec<'a>)],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SelectItem<'a> {
    /// `*`
    All,
    /// `t.*`, `d.t.*`
    TableAll(ObjectName<'a>),
    Expr {
        expr: Expr<'a>,
        alias: Option<&'a str>,
        /// The text as written, which names the column if there is no alias.
        text: &'a str,
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OrderItem<'a> {
    pub expr: Expr<'a>,
    pub descending: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit<'a> {
    pub offset: Option<Expr<'a>>,
    pub count: Expr<'a>,
}

/// FOR UPDATE, FOR SHARE, LOCK IN SHARE MODE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LockClause<'a> {
    pub locking: crate::plan::Locking,
    pub wait: crate::plan::LockWait,
    /// OF t, u; empty for all.
    pub of: &'a [ObjectName<'a>],
}

/// A variable of SELECT ... INTO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntoTarget<'a> {
    /// A user variable's name.
    User(&'a str),
    /// A slot of the enclosing stored program.
    Local(u32),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SelectInto<'a> {
    Variables(&'a [IntoTarget<'a>]),
    OutFile(&'a OutFile<'a>),
    /// A path.
    DumpFile(&'a [u8]),
}

/// INTO OUTFILE 'path' [CHARACTER SET ...] [FIELDS ...] [LINES ...]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutFile<'a> {
    pub path: &'a [u8],
    pub charset: Option<&'a str>,
    pub format: FileFormat<'a>,
}

/// FIELDS and LINES: the representation of values and rows in a text file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileFormat<'a> {
    pub fields_terminated: &'a [u8],
    pub enclosed: &'a [u8],
    /// Only texts are enclosed.
    pub optionally: bool,
    pub escaped: &'a [u8],
    pub lines_starting: &'a [u8],
    pub lines_terminated: &'a [u8],
}

impl Default for FileFormat<'_> {
    fn default() -> Self {
        Self {
            fields_terminated: b"\t",
            enclosed: b"",
            optionally: false,
            escaped: b"\\",
            lines_starting: b"",
            lines_terminated: b"\n",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TableRef<'a> {
    Table(&'a TableName<'a>),
    Derived {
        query: &'a Query<'a>,
        alias: &'a str,
        columns: &'a [&'a str],
        lateral: bool,
    },
    JsonTable(&'a JsonTable<'a>),
    Join(&'a Join<'a>),
    /// `(a, b)`: a comma list in parentheses.
    List(&'a [TableRef<'a>]),
}

impl<'a> TableRef<'a> {
    /// Adds the aliases that stored tables have in it, each with the database that the table is named with.
    pub fn aliases(&self, found: &mut Vec<(&'a str, Option<&'a str>)>) {
        match self {
            Self::Table(table) => found.extend(table.alias.map(|alias| (alias, table.name.database))),
            Self::Derived { .. } | Self::JsonTable(_) => {}
            Self::Join(join) => [&join.left, &join.right].iter().for_each(|side| side.aliases(found)),
            Self::List(tables) => tables.iter().for_each(|table| table.aliases(found)),
        }
    }

    /// How many tables are joined in it.
    pub fn tables(&self) -> usize {
        match self {
            Self::Table(_) | Self::Derived { .. } | Self::JsonTable(_) => 1,
            Self::Join(join) => join.left.tables() + join.right.tables(),
            Self::List(tables) => tables.iter().map(Self::tables).sum(),
        }
    }
}

/// `JSON_TABLE(document, path COLUMNS (...)) AS alias`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JsonTable<'a> {
    pub document: Expr<'a>,
    pub path: &'a [u8],
    pub columns: &'a [JsonColumn<'a>],
    pub alias: &'a str,
}

/// A column of JSON_TABLE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JsonColumn<'a> {
    /// `name FOR ORDINALITY`
    Ordinality(&'a str),
    Value(&'a JsonValueColumn<'a>),
    /// `NESTED PATH path COLUMNS (...)`
    Nested {
        path: &'a [u8],
        columns: &'a [JsonColumn<'a>],
    },
}

/// `name type [EXISTS] PATH path [x ON EMPTY] [x ON ERROR]`
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JsonValueColumn<'a> {
    pub name: &'a str,
    pub ty: DataType<'a>,
    pub exists: bool,
    pub path: &'a [u8],
    pub on_empty: JsonColumnOn<'a>,
    pub on_error: JsonColumnOn<'a>,
}

/// The value of a JSON_TABLE column if its path finds nothing, or nothing of its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JsonColumnOn<'a> {
    /// No clause is written: NULL.
    Unsaid,
    Null,
    Error,
    /// The text of a document.
    Default(&'a [u8]),
}

/// A table in FROM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableName<'a> {
    pub name: ObjectName<'a>,
    pub alias: Option<&'a str>,
    /// PARTITION (p0, p1)
    pub partitions: &'a [&'a str],
    /// AS OF TIMESTAMP: the seconds since 1970 of the moment.
    pub as_of: Option<Expr<'a>>,
    pub hints: &'a [IndexHint<'a>],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexHint<'a> {
    pub kind: IndexHintKind,
    pub scope: IndexHintScope,
    pub indexes: &'a [&'a str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexHintKind {
    Use,
    Force,
    Ignore,
}

/// FOR JOIN, FOR ORDER BY, FOR GROUP BY
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexHintScope {
    All,
    Join,
    OrderBy,
    GroupBy,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Join<'a> {
    pub kind: JoinKind,
    pub left: TableRef<'a>,
    pub right: TableRef<'a>,
    pub condition: JoinCondition<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    /// INNER JOIN, CROSS JOIN, JOIN: the same in MySQL.
    Inner,
    Straight,
    Left,
    Right,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum JoinCondition<'a> {
    None,
    On(&'a Expr<'a>),
    Using(&'a [&'a str]),
    Natural,
}

/// INSERT and REPLACE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Insert<'a> {
    pub replace: bool,
    pub ignore: bool,
    pub table: ObjectName<'a>,
    pub partitions: &'a [&'a str],
    /// `None`: all columns in the table's order.
    pub columns: Option<&'a [ColumnName<'a>]>,
    pub source: InsertSource<'a>,
    /// `AS new` or `AS new (a, b)`
    pub row_alias: Option<RowAlias<'a>>,
    pub on_duplicate: &'a [Assignment<'a>],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InsertSource<'a> {
    /// `VALUES (...), (...)`; a value may be `Expr::Default(None)`. An empty row means all defaults.
    Values(&'a [&'a [Expr<'a>]]),
    /// `SET a = 1, b = 2`
    Set(&'a [Assignment<'a>]),
    Query(&'a Query<'a>),
}

/// LOAD DATA
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadData<'a> {
    /// The client has the file.
    pub local: bool,
    pub path: &'a [u8],
    /// REPLACE or IGNORE; `Refuse` if neither was written.
    pub duplicates: Duplicates,
    pub table: ObjectName<'a>,
    pub partitions: &'a [&'a str],
    pub charset: Option<&'a str>,
    pub format: FileFormat<'a>,
    /// IGNORE n LINES
    pub lines_skipped: u64,
    /// Empty: all columns in the table's order.
    pub targets: &'a [LoadTarget<'a>],
    pub assignments: &'a [Assignment<'a>],
}

/// The treatment of a row with a duplicate key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duplicates {
    Refuse,
    Ignore,
    Replace,
}

/// The target of a field of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadTarget<'a> {
    Column(ColumnName<'a>),
    Variable(&'a str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowAlias<'a> {
    pub name: &'a str,
    pub columns: &'a [&'a str],
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Assignment<'a> {
    pub column: ColumnName<'a>,
    pub value: Expr<'a>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Update<'a> {
    pub with: Option<With<'a>>,
    pub ignore: bool,
    /// More than one entry, or a join, is a multi-table update.
    pub tables: &'a [TableRef<'a>],
    pub assignments: &'a [Assignment<'a>],
    pub filter: Option<&'a Expr<'a>>,
    pub order_by: &'a [OrderItem<'a>],
    pub limit: Option<Limit<'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Delete<'a> {
    pub with: Option<With<'a>>,
    pub ignore: bool,
    /// Multi-table: the tables to delete from. Empty in the single-table form.
    pub targets: &'a [ObjectName<'a>],
    pub from: &'a [TableRef<'a>],
    pub filter: Option<&'a Expr<'a>>,
    pub order_by: &'a [OrderItem<'a>],
    pub limit: Option<Limit<'a>>,
}
