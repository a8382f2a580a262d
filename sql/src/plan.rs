//! Plans, which `exec` runs. A plan is immutable, shared by sessions, and valid for one schema version.
//!
//! ```text
//! Limit
//!   Sort                slots -> slots
//!     Project           sources -> slots   (or slots -> slots above an Aggregate)
//!       NestedLoop      sources: the left row set plus the right one
//!         Scan t (source 0)
//!         Scan u (source 1), keys read source 0
//! ```

pub use crate::file::{FileFormat, LoadPlan, LoadTarget};
use crate::param::ParamUse;
use expr::function::AskedOfArray;
use expr::{Aggregate, CompareAs, Expr, WindowCall};
use std::sync::Arc;
use types::schema::{RoutineDef, TableDef};
use types::statistics::TableStatistics;
use types::{ColumnType, SqlMode, Value, json};

/// A bound and planned statement that touches rows.
#[derive(Clone, Debug)]
pub enum Plan {
    Query(QueryPlan),
    Insert(InsertPlan),
    Update(UpdatePlan),
    Delete(DeletePlan),
    /// UPDATE and DELETE over a join.
    Change(ChangePlan),
}

/// The parts that a statement runs beside its main tree.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The number of sources of the row context, over all blocks of the statement.
    pub sources: usize,
    /// By the number in [`expr::Subquery`].
    pub subqueries: Vec<SubqueryPlan>,
    /// The queries of common table expressions that are read in several places, or recursive; see [`Derived::shared`].
    pub stores: Vec<Arc<Node>>,
    /// The tables and views that the statement names, and those named by its views.
    pub named: Vec<Named>,
    /// Row locks of single tables, beside the plan's lock on all of them.
    pub locks: Vec<TableLock>,
}

/// A table or a view that a statement names. Whose right it is that counts follows from `through`.
#[derive(Clone, Debug)]
pub struct Named {
    pub table: Arc<TableDef>,
    /// Its name there.
    pub alias: Box<str>,
    /// The statement changes its rows.
    pub changes: bool,
    /// The view whose query names it, as a place in the list; `None`: the statement itself.
    pub through: Option<usize>,
}

/// WITH CHECK OPTION: the condition for a row that is written through a view.
#[derive(Clone, Debug)]
pub struct ViewCheck {
    /// `database.name` of the view that the statement names.
    pub view: String,
    /// Over the new row as source 0, and over `joined` as [`expr::ExprKind::InsertValue`].
    pub condition: Expr,
    /// The columns of other tables of the view that it reads, over the sources of the statement.
    pub joined: Vec<Expr>,
    /// Its own subqueries and stores, whose sources are numbered apart from the statement's.
    pub parts: Parts,
}

impl ViewCheck {
    /// Does it read the row alone?
    pub fn is_plain(&self) -> bool {
        self.joined.is_empty() && self.parts.subqueries.is_empty() && self.parts.stores.is_empty()
    }
}

/// A subquery of an expression.
#[derive(Clone, Debug)]
pub struct SubqueryPlan {
    pub root: Node,
    /// The types of its columns.
    pub columns: Vec<ColumnType>,
    /// The source whose current row holds the values that it gets from outside; `None`: it depends on nothing.
    pub args: Option<usize>,
    /// The columns of that source.
    pub args_table: Option<Arc<TableDef>>,
    pub keep: SubqueryKeep,
    /// Each evaluation may give another result.
    pub volatile: bool,
    /// Shared row stores that depend on the arguments: emptied before each run.
    pub resets: Vec<usize>,
    /// It is no query but the call of a stored function, whose value is the one column of the one row.
    pub call: Option<FunctionCall>,
}

/// The function and the arguments of a call of a stored function.
#[derive(Clone, Debug)]
pub struct FunctionCall {
    pub function: Arc<RoutineDef>,
    pub args: Vec<Expr>,
    /// A view calls it, so the call's privileges were checked with the view's.
    pub by_view: bool,
}

/// A stored function, as the binder needs it.
#[derive(Clone, Debug)]
pub struct StoredFunction {
    pub def: Arc<RoutineDef>,
    pub params: Vec<ColumnType>,
    pub returns: ColumnType,
}

/// The part of a subquery's result that is kept.
#[derive(Clone, Debug)]
pub enum SubqueryKeep {
    /// The one row; a second one is error 1242.
    Row,
    /// Whether there is a row.
    Exists,
    /// All rows, to be compared in these ways with values of these types.
    Rows {
        by: Vec<CompareAs>,
        left: Vec<ColumnType>,
    },
    /// Whether the comparison, over the arguments and a row's slots, is true for any row, or for all.
    Any(Expr),
    All(Expr),
}

/// Row locks a query takes on the rows it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locking {
    None,
    /// FOR SHARE / LOCK IN SHARE MODE
    Share,
    /// FOR UPDATE
    Update,
}

/// The reaction of a locking read to a locked row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    Wait,
    NoWait,
    SkipLocked,
}

/// Row locks of a query on one table: the table is named after OF, or an inner block has the clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableLock {
    pub source: usize,
    pub locking: Locking,
    pub wait: LockWait,
}

#[derive(Clone, Debug)]
pub struct QueryPlan {
    pub root: Node,
    pub columns: Vec<OutputColumn>,
    pub parts: Parts,
    pub locking: Locking,
    pub lock_wait: LockWait,
    /// Number of `?` and lifted literals.
    pub params: usize,
}

impl QueryPlan {
    /// Does it take exclusive locks (FOR UPDATE)?
    pub fn locks_for_change(&self) -> bool {
        self.locking == Locking::Update || self.parts.locks.iter().any(|lock| lock.locking == Locking::Update)
    }
}

/// A column of a result set, as the client sees it.
#[derive(Clone, Debug)]
pub struct OutputColumn {
    pub name: String,
    pub ty: ColumnType,
    pub nullable: bool,
    /// The kind of its expression.
    pub made: Made,
    /// Computed columns only: the maximum length in characters, if the type does not determine it.
    pub characters: Option<u32>,
    /// The origin of the column, for the wire's column definition; empty strings for an expression.
    pub database: String,
    /// For a column of a materialized derived table, the name of that table.
    pub table: String,
    pub table_alias: String,
    pub original_name: String,
    /// The view through which it is named, and its name in that view or derived table.
    pub view: String,
    pub through_name: String,
    /// Wire flags: primary key, unique key, multiple key, any place in a key, auto increment.
    pub primary_key: bool,
    pub unique_key: bool,
    pub multiple_key: bool,
    pub part_of_key: bool,
    pub auto_increment: bool,
    pub no_default: bool,
    /// The column gets the current time automatically: on insert or update, and on update.
    pub sets_time: bool,
    pub sets_time_on_update: bool,
}

impl OutputColumn {
    /// A column of no table.
    pub fn new(name: String, ty: ColumnType, nullable: bool) -> Self {
        Self {
            name,
            ty,
            nullable,
            made: Made::Column,
            characters: None,
            database: String::new(),
            table: String::new(),
            table_alias: String::new(),
            original_name: String::new(),
            view: String::new(),
            through_name: String::new(),
            primary_key: false,
            unique_key: false,
            multiple_key: false,
            part_of_key: false,
            auto_increment: false,
            no_default: false,
            sets_time: false,
            sets_time_on_update: false,
        }
    }
}

/// How a result column is computed. MySQL derives the column's metadata, and its type in CREATE TABLE ... SELECT, from
/// this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It is a column of a table.
    Column,
    /// It is a column of materialized rows: of a derived table or a set operation.
    Kept,
    Function,
    /// IF, CASE, COALESCE and the like; `fixed`: of CHAR or BINARY.
    Choice {
        fixed: bool,
    },
    IfNull {
        fixed: bool,
    },
    /// A date or time that was moved, as a text.
    MovedTime,
    Aggregate,
    /// A literal, a subquery, a window function, AND and OR.
    Other,
}

#[derive(Clone, Debug)]
pub enum Node {
    /// One empty row: SELECT without FROM.
    OneRow,
    Scan(Scan),
    /// The rows of a scan as they were at a moment.
    AsOf {
        input: Box<Node>,
        /// Seconds since 1970; it reads no row.
        moment: Expr,
    },
    /// For each left row, run `right` (whose keys and filters may read the left sources). A LEFT join emits the left row with
    /// the right sources NULL when nothing matched `on`.
    NestedLoop {
        left: Box<Node>,
        right: Box<Node>,
        kind: JoinKind,
        on: Option<Expr>,
    },
    /// Equality join without a usable index: `right` is read once into a hash table.
    HashJoin {
        left: Box<Node>,
        right: Box<Node>,
        kind: JoinKind,
        left_keys: Vec<Expr>,
        right_keys: Vec<Expr>,
        on: Option<Expr>,
        /// Estimated rows of the result, for one left row.
        partners: f64,
    },
    Filter {
        input: Box<Node>,
        predicate: Expr,
    },
    /// Slots out: the group keys, then the aggregates. Without keys: exactly one row.
    Aggregate {
        input: Box<Node>,
        keys: Vec<Expr>,
        aggregates: Vec<Aggregate>,
        /// The rows of a group are adjacent. False without keys.
        ordered: bool,
    },
    /// GROUP BY ... WITH ROLLUP over rows in the order of the keys. Slots out: the group keys (NULL if rolled up), the
    /// aggregates, then the number of keys that are not rolled up.
    Rollup {
        input: Box<Node>,
        keys: Vec<Expr>,
        aggregates: Vec<Aggregate>,
    },
    /// Window functions of one partitioning and order, over rows that come in that order. Slots out: the first `columns` of the input,
    /// then one per function.
    Window {
        input: Box<Node>,
        columns: usize,
        partition: Vec<Expr>,
        order: Vec<SortKey>,
        calls: Vec<WindowCall>,
    },
    /// Slots out: one per expression.
    Project {
        input: Box<Node>,
        exprs: Vec<Expr>,
    },
    /// Keeps the first of rows whose slots `0..columns` are equal.
    Distinct {
        input: Box<Node>,
        columns: usize,
        /// Equal rows come one after the other.
        ordered: bool,
    },
    /// Slots in and out. With `limit`, only the first `offset + count` rows in order are kept.
    Sort {
        input: Box<Node>,
        keys: Vec<SortKey>,
        limit: Option<LimitPlan>,
    },
    Limit {
        input: Box<Node>,
        limit: LimitPlan,
    },
    /// Cuts the slots down to the first `columns` (sort keys that are not output).
    Trim {
        input: Box<Node>,
        columns: usize,
    },
    /// Rows of literals: VALUES ROW(...), INSERT ... VALUES.
    Values {
        rows: Vec<Vec<Expr>>,
    },
    /// The rows of JSON_TABLE: slots out, one per output.
    JsonTable(Box<JsonTablePlan>),
    /// UNION ALL of inputs with equal slots; UNION is a Distinct above.
    Concat {
        inputs: Vec<Node>,
    },
    /// INTERSECT and EXCEPT: rows of the left input, by whether the right one has them.
    SetOperation {
        left: Box<Node>,
        right: Box<Node>,
        except: bool,
        all: bool,
        columns: usize,
    },
    /// The rows of a recursive common table expression: those of `seed`, then, round after round, those of the steps,
    /// whose [`Access::Work`] scans read the rows of the previous round.
    Recursive {
        /// The store of the rows.
        table: usize,
        seed: Box<Node>,
        steps: Vec<Node>,
        distinct: bool,
        /// Names and types; a text that does not fit is an error.
        columns: Vec<(String, ColumnType)>,
        limit: Option<LimitPlan>,
    },
}

/// JSON_TABLE(document, path COLUMNS (...))
#[derive(Clone, Debug)]
pub struct JsonTablePlan {
    pub document: Expr,
    pub path: json::Path,
    pub columns: Vec<json::TableColumn>,
    /// One per cell of a row. Columns are in the order of the text, and nested columns at the place of their NESTED
    /// PATH.
    pub outputs: Vec<JsonOutput>,
}

/// A column of JSON_TABLE's result.
#[derive(Clone, Debug)]
pub struct JsonOutput {
    pub name: String,
    pub ty: ColumnType,
    pub on_empty: JsonOn,
    pub on_error: JsonOn,
}

/// The value of a column whose path finds nothing, or nothing of its type.
#[derive(Clone, Debug)]
pub enum JsonOn {
    Null,
    Error,
    Default(json::Json),
}

/// Which rows of its sides a join gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JoinKind {
    Inner,
    /// LEFT JOIN
    Left,
    /// Each left row that has a partner, once; the right sources are not read above.
    Semi,
    /// Each left row that has no partner.
    Anti,
}

#[derive(Clone, Debug)]
pub struct SortKey {
    pub expr: Expr,
    pub descending: bool,
}

#[derive(Clone, Debug)]
pub struct LimitPlan {
    pub offset: Option<Expr>,
    pub count: Option<Expr>,
    /// SQL_CALC_FOUND_ROWS: rows that LIMIT skips are counted too.
    pub counts_all: bool,
}

/// One table read through one access path.
#[derive(Clone, Debug)]
pub struct Scan {
    pub source: usize,
    pub table: Arc<TableDef>,
    pub alias: String,
    pub access: Access,
    /// The predicates that the access path does not guarantee.
    pub filter: Option<Expr>,
    /// Index condition pushdown: the part of the predicates that reads only columns of the index. It is evaluated on
    /// index entries, before the row is read, and is not in `filter`.
    pub index_filter: Option<Box<Expr>>,
    /// Columns that anything above reads, by position: the executor may leave the others undecoded.
    pub columns_used: Vec<bool>,
    /// Estimated rows of one pass, after the filter.
    pub rows: f64,
    /// Estimated rows that one pass reads.
    pub read: f64,
    /// Estimated cost of one pass; the unit is one row read in sequence.
    pub cost: f64,
}

impl Scan {
    /// The JSON_TABLE that gives the rows, if it is one.
    pub fn json_table(&self) -> Option<&JsonTablePlan> {
        let Access::Derived(Derived { input: Some(input), .. }) = &self.access else { return None };
        match &**input {
            Node::JsonTable(table) => Some(table),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub enum Access {
    /// At most one row: equality on every column of the primary or of a unique key, none NULL.
    Point { index: usize, key: Vec<Expr> },
    /// Union of key ranges of an index, in index order (reversed when `reverse`). The executor evaluates, sorts and merges the
    /// ranges, so a row comes once. `covering`: every used column is in the index key or the primary key and decodable from it.
    Ranges { index: usize, ranges: Vec<KeyRange>, reverse: bool, covering: bool },
    /// The whole index, in order.
    Full { index: usize, reverse: bool, covering: bool },
    /// Some entries of each group of index entries whose leading columns are equal.
    Leaps(Box<Leaps>),
    /// The rows that several indexes find, in the order of the clustered key, without duplicates.
    Merge(Merge),
    /// The rows that a full-text index finds for a call of MATCH, the best first.
    FullText { index: usize, search: Box<Expr> },
    /// The rows that a spatial index finds for a relation with a constant, in the order of their keys; others may be among them.
    Spatial { index: usize, call: Box<Expr>, constant: Box<Expr> },
    /// The rows that a multi-valued index finds for a condition over the array with a constant, in the order of their keys; others may be
    /// among them. `prefix`: the values of the columns before the array.
    Elements { index: usize, prefix: Box<KeyRange>, asked: AskedOfArray, constant: Box<Expr> },
    /// The rows nearest to a vector by the distance `call` of a column from `constant`, about the nearest first: so many as LIMIT asks for and
    /// more, or all that there are.
    Nearest(Box<Nearest>),
    /// An information_schema table.
    Virtual,
    /// A derived table or a common table expression.
    Derived(Derived),
    /// In a step of a recursive common table expression: its rows of the previous round.
    Work { table: usize },
    /// The predicate is never true.
    Nothing,
}

/// A search in a vector index.
#[derive(Clone, Debug)]
pub struct Nearest {
    pub index: usize,
    /// The call whose values the rows are sorted by.
    pub call: Expr,
    /// The vector that it compares with the column.
    pub constant: Expr,
    /// So many rows are expected to be read before enough of them satisfy the conditions.
    pub candidates: usize,
    /// Of LIMIT.
    pub count: Expr,
    pub offset: Option<Expr>,
}

impl Nearest {
    /// The expressions that are evaluated.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let args: &[Expr] = if let expr::ExprKind::Call { args, .. } = &self.call.kind { args } else { &[] };
        [&self.constant, &self.count].into_iter().chain(&self.offset).chain(args.get(2))
    }
}

/// An index read by leaps: loose index scan and skip scan. In index order.
#[derive(Clone, Debug)]
pub struct Leaps {
    pub index: usize,
    /// The ranges of the index that are read.
    pub ranges: Vec<KeyRange>,
    /// The number of leading columns that form a group.
    pub prefix: usize,
    /// Beside the first row of a group: the first whose column after the prefix is not NULL (`least`), and the last
    /// (`greatest`).
    pub least: bool,
    pub greatest: bool,
    /// Skip scan instead: all rows within this range of the columns after the prefix.
    pub within: Option<KeyRange>,
    pub covering: bool,
}

/// Index merge: the union or intersection of the clustered keys in ranges of several indexes, sorted.
#[derive(Clone, Debug)]
pub struct Merge {
    /// The indexes, with their ranges.
    pub parts: Vec<(usize, Vec<KeyRange>)>,
    /// Intersection instead of union.
    pub intersection: bool,
}

impl Merge {
    /// Does each part have one value for all columns of its index, so that it gives the rows in the order of their keys? MySQL sorts others.
    pub fn is_sorted(&self, table: &TableDef) -> bool {
        let is_whole = |(index, ranges): &(usize, Vec<KeyRange>)| {
            let columns = table.indexes[*index].columns.len();
            *index == 0 || matches!(ranges.as_slice(), [range] if range.prefix.len() == columns)
        };
        self.parts.iter().all(is_whole)
    }
}

/// A query whose rows are read as a table. They are kept in memory and read from there; the source's columns are its slots.
#[derive(Clone, Debug)]
pub struct Derived {
    /// `None`: that of the shared store.
    pub input: Option<Arc<Node>>,
    pub columns: usize,
    /// It reads outer rows, so it runs again whenever the scan restarts.
    pub lateral: bool,
    /// The store of a common table expression that several scans read: the first scan fills it.
    pub shared: Option<usize>,
    /// The columns of other sources that its query reads.
    pub reads: Vec<(usize, usize)>,
    /// Shared row stores inside that depend on outer rows; they are emptied before each run.
    pub resets: Vec<usize>,
}

/// `prefix = ... AND low <(=) next column <(=) high`. A NULL in a value empties the range (`null_prefix` marks columns
/// compared with IS NULL or `<=>`, whose value may be NULL).
#[derive(Clone, Debug)]
pub struct KeyRange {
    pub prefix: Vec<Expr>,
    pub null_safe: Vec<bool>,
    pub low: Option<(Expr, Bound)>,
    pub high: Option<(Expr, Bound)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Inclusive,
    Exclusive,
}

#[derive(Clone, Debug)]
pub struct InsertPlan {
    pub table: Arc<TableDef>,
    /// Target columns in the order of the row source.
    pub columns: Vec<usize>,
    pub source: InsertSource,
    /// Values read columns of their own row (source 0): a column's given value if it comes earlier, else its default.
    pub reads_row: bool,
    /// REPLACE
    pub replace: bool,
    /// INSERT IGNORE
    pub ignore: bool,
    /// ON DUPLICATE KEY UPDATE: the existing row is source 0.
    pub on_duplicate: Vec<Assignment>,
    pub view_check: Option<Box<ViewCheck>>,
    /// PARTITION (p0, p1): rows of other partitions are refused.
    pub partitions: Option<Vec<usize>>,
    /// Of VALUES and of LOAD DATA; a query has its own.
    pub parts: Parts,
    /// Of ON DUPLICATE KEY UPDATE, whose sources are numbered for themselves.
    pub duplicate_parts: Parts,
    pub params: usize,
}

#[derive(Clone, Debug)]
pub enum InsertSource {
    /// `None` is DEFAULT.
    Values(Vec<Vec<Option<Expr>>>),
    Query(Box<QueryPlan>),
    /// LOAD DATA
    File(Box<LoadPlan>),
}

#[derive(Clone, Debug)]
pub struct Assignment {
    pub column: usize,
    /// `None` is DEFAULT.
    pub value: Option<Expr>,
}

#[derive(Clone, Debug)]
pub struct UpdatePlan {
    /// Scan, possibly under Sort/Limit; source 0 is the table. Rows are read with X locks before they are changed.
    pub scan: Scan,
    pub order: Vec<SortKey>,
    pub limit: Option<LimitPlan>,
    pub assignments: Vec<Assignment>,
    /// Assigned columns that the statement does not read.
    pub unread: Vec<usize>,
    pub view_check: Option<Box<ViewCheck>>,
    /// PARTITION (p0, p1): rows do not leave them.
    pub partitions: Option<Vec<usize>>,
    pub ignore: bool,
    pub parts: Parts,
    pub params: usize,
}

#[derive(Clone, Debug)]
pub struct DeletePlan {
    pub scan: Scan,
    pub order: Vec<SortKey>,
    pub limit: Option<LimitPlan>,
    pub ignore: bool,
    pub parts: Parts,
    pub params: usize,
}

/// UPDATE or DELETE over a join: each row of a target that the join gives is changed once.
#[derive(Clone, Debug)]
pub struct ChangePlan {
    /// Rows of sources.
    pub root: Node,
    pub targets: Vec<ChangeTarget>,
    /// UPDATE, not DELETE.
    pub update: bool,
    pub ignore: bool,
    pub parts: Parts,
    pub params: usize,
}

#[derive(Clone, Debug)]
pub struct ChangeTarget {
    pub source: usize,
    pub table: Arc<TableDef>,
    /// Of an UPDATE.
    pub assignments: Vec<Assignment>,
    /// Assigned columns that the statement does not read.
    pub unread: Vec<usize>,
    pub view_check: Option<Box<ViewCheck>>,
    /// PARTITION (p0, p1): rows do not leave them.
    pub partitions: Option<Vec<usize>>,
}

/// Whose privileges apply to a read or a change: 0 is the user who runs the statement, other numbers come from
/// [`BindContext::enter_view`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights(pub u32);

/// The session as the binder sees it. Implemented by `server`.
pub trait BindContext {
    /// The privileges with which a view reads, if it is read with `outer`: its definer's, or `outer` for SQL SECURITY
    /// INVOKER.
    fn enter_view(&self, _view: &TableDef, outer: Rights) -> crate::error::Result<Rights> {
        Ok(outer)
    }
    /// The columns of a table of the server that UPDATE may set; `None`: it has no settings.
    fn settings(&self, _table: &TableDef) -> Option<&'static [&'static str]> {
        None
    }
    /// CURRENT_USER() of a definer; `None`: the session's.
    fn definer(&self, _rights: Rights) -> Option<String> {
        None
    }
    /// Checks a privilege on a table, or on a column of it, and notes it for later sessions that run the plan. Without
    /// a column: on the table or on some of its columns.
    fn need(&self, _rights: Rights, _table: &TableDef, _action: Action, _of: Part<'_>) -> crate::error::Result<()> {
        Ok(())
    }
    /// Checks a table that a multi-table UPDATE or DELETE names: refused if the account can neither read nor update any
    /// of it. The privilege that the statement needs is checked later.
    fn touches(&self, _rights: Rights, _table: &TableDef) -> crate::error::Result<()> {
        Ok(())
    }
    /// Checks several privileges, on the table or on some of its columns; one error names all that are missing.
    fn need_together(&self, rights: Rights, table: &TableDef, actions: &[Action]) -> crate::error::Result<()> {
        actions.iter().try_for_each(|action| self.need(rights, table, *action, Part::Any))
    }
    /// Handles a missing table: a user who could not read it gets the privilege error instead.
    fn missing(&self, _rights: Rights, _database: &str, _table: &str, _action: Action) -> crate::error::Result<()> {
        Ok(())
    }
    /// A stored function that the statement calls, with these privileges; `None`: there is none of this name.
    fn stored_function(&self, _rights: Rights, _database: &str, _name: &str) -> crate::error::Result<Option<StoredFunction>> {
        Ok(None)
    }
    /// The current database, if any.
    fn database(&self) -> Option<&str>;
    fn schema(&self) -> &types::schema::Schema;
    /// `@@name`, `@@global.name`, `@@session.name`: value and type, or `None` when there is no such variable.
    fn system_variable(&self, global: bool, name: &str) -> Option<(Value<'static>, ColumnType)>;
    /// Estimated number of rows of a table.
    fn row_count(&self, table: &TableDef) -> u64;
    /// The table's other statistics.
    fn statistics(&self, _table: &TableDef) -> Option<Arc<TableStatistics>> {
        None
    }
    /// The estimated number of index entries in a range, from an index dive. `None`: its ends are not known yet, or the
    /// index is not in memory. The range reads no table.
    fn rows_in_range(&self, _table: &TableDef, _index: usize, _range: &KeyRange) -> Option<f64> {
        None
    }
    /// A value in the form of the column's statistics. `None`: it is not known yet, is NULL, or is not a value of the
    /// column.
    fn statistics_key(&self, _table: &TableDef, _column: usize, _value: &Expr) -> Option<Vec<u8>> {
        None
    }
    /// The type that a column's definition names.
    fn column_type(&self, _name: &str, _ty: &crate::ast::DataType<'_>) -> crate::error::Result<ColumnType> {
        Err(crate::error::Error::NotSupported("types of columns here".to_owned()))
    }
    /// optimizer_switch
    fn switches(&self) -> Switches {
        Switches::default()
    }
    /// sql_auto_is_null
    fn auto_is_null(&self) -> bool {
        false
    }
    fn sql_mode(&self) -> SqlMode;
    /// collation_connection: of string literals.
    fn connection_collation(&self) -> types::CollationId;
    /// div_precision_increment: digits that a division adds to the fraction.
    fn div_precision_increment(&self) -> u8 {
        4
    }
    /// group_concat_max_len: the longest result of GROUP_CONCAT.
    fn group_concat_bytes_max(&self) -> u64 {
        1024
    }
    /// The type of parameter `index` in the execution that the plan is for, if known. Otherwise (at PREPARE) a
    /// parameter takes a type from its context. A plan serves values of the same types.
    fn param_type(&self, _index: usize) -> Option<ColumnType> {
        None
    }
    /// The value of parameter `index` in an execution; the plan must fit its type.
    fn param_given(&self, _index: usize) -> Option<&Value<'_>> {
        None
    }
    /// Notes the use of parameter `index`, which may change while the statement is bound.
    fn note_param(&self, _index: usize, _usage: ParamUse) {}
    fn param_use(&self, _index: usize) -> Option<ParamUse> {
        None
    }
    /// The value of parameter `index` in the execution that the plan is for, if known.
    fn param_value(&self, _index: usize) -> Option<Value<'static>> {
        None
    }
    /// The type of a variable of the enclosing stored program.
    fn local_type(&self, _slot: usize) -> ColumnType {
        ColumnType::new(types::TypeKind::Null)
    }
    /// The text of a deterministic expression that reads no row, parameter or variable; `None`: it is NULL, or
    /// evaluating it would wait.
    fn constant_text(&self, _expr: &Expr) -> Option<Vec<u8>> {
        None
    }
    /// Notes that a lifted literal is part of the plan: the plan is for this text alone.
    fn note_literal(&self) {}
    /// The type of a user variable's value; `None` if it has none yet.
    fn user_variable_type(&self, _name: &str) -> Option<ColumnType> {
        None
    }
}

/// An action on a table's rows, which needs a privilege.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Select,
    Insert,
    Update,
    Delete,
    /// FOR UPDATE: the privilege to read, and one to change rows or to lock the table.
    Lock,
}

/// The object of a privilege.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The table, or some column of it.
    Any,
    /// The whole table: rows.
    Table,
    Column(usize),
    /// One of all columns: `*`, or INSERT without a list.
    Each(usize),
    /// A name that no column has: unknown only to who may use the whole table.
    Unknown(&'a str),
}

/// The flags of optimizer_switch that planning obeys; all are on by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switches {
    /// IN and EXISTS become joins.
    pub semijoin: bool,
    /// Joins by hash tables. MySQL calls it `block_nested_loop`.
    pub hash_join: bool,
    /// The values of an IN subquery may become a table that is read first.
    pub materialization: bool,
    /// Derived tables may be merged into the outer block.
    pub derived_merge: bool,
    /// Histograms and fan-out of conditions on columns without an index.
    pub condition_fanout_filter: bool,
    /// Correlated aggregates may become joins with grouped derived tables if that is cheaper.
    pub subquery_to_derived: bool,
    /// Rows of groups come in the order of an index that is skipped through.
    pub skip_scan: bool,
    /// Predicates on columns of an index may be evaluated before the row is read.
    pub index_condition_pushdown: bool,
    /// Several indexes for one table: the switch for all, then for each form.
    pub index_merge_union: bool,
    pub index_merge_sort_union: bool,
    pub index_merge_intersection: bool,
    /// Predicates may be pushed into derived tables.
    pub derived_condition_pushdown: bool,
    /// Plans may use invisible indexes. The only switch that is off by default.
    pub use_invisible_indexes: bool,
}

impl Default for Switches {
    fn default() -> Self {
        Self {
            semijoin: true,
            hash_join: true,
            materialization: true,
            derived_merge: true,
            condition_fanout_filter: true,
            subquery_to_derived: true,
            skip_scan: true,
            index_condition_pushdown: true,
            index_merge_union: true,
            index_merge_sort_union: true,
            index_merge_intersection: true,
            derived_condition_pushdown: true,
            use_invisible_indexes: false,
        }
    }
}
