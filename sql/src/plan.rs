//! Plans: what `exec` runs. Immutable once made, shared by sessions, valid for one schema version.
//!
//! ```text
//! Limit
//!   Sort                slots -> slots
//!     Project           sources -> slots   (or slots -> slots above an Aggregate)
//!       NestedLoop      sources: the left row set plus the right one
//!         Scan t (source 0)
//!         Scan u (source 1), keys read source 0
//! ```

use crate::expr::{Aggregate, CompareAs, Expr, WindowCall};
pub use crate::file::{FileFormat, LoadPlan, LoadTarget};
use crate::param::ParamUse;
use std::sync::Arc;
use types::schema::{RoutineDef, TableDef};
use types::statistics::TableStatistics;
use types::{ColumnType, Value, json};

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

/// What a statement runs beside its main tree.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// The number of sources of the row context, over all blocks of the statement.
    pub sources: usize,
    /// By the number in [`crate::expr::Subquery`].
    pub subqueries: Vec<SubqueryPlan>,
    /// The queries of common table expressions that are read in several places, or recursive; see [`Derived::shared`].
    pub stores: Vec<Arc<Node>>,
    /// The tables and views that it names, and those that views name for it.
    pub named: Vec<Named>,
    /// Row locks of single tables, beside what the plan says of all.
    pub locks: Vec<TableLock>,
}

/// A table or a view that a statement names. Whose right it is that counts follows from `through`.
#[derive(Clone, Debug)]
pub struct Named {
    pub table: Arc<TableDef>,
    /// What it is called there.
    pub alias: Box<str>,
    /// The statement changes rows of it.
    pub changes: bool,
    /// The view whose query names it, as a place in the list; `None`: the statement itself.
    pub through: Option<usize>,
}

/// WITH CHECK OPTION: what must be true of a row that is written through a view.
#[derive(Clone, Debug)]
pub struct ViewCheck {
    /// `database.name` of the view that the statement names.
    pub view: String,
    /// Over the new row as source 0, and over `joined` as [`crate::expr::ExprKind::InsertValue`].
    pub condition: Expr,
    /// What it reads of other tables of the view, over the sources of the statement.
    pub joined: Vec<Expr>,
    /// What it runs itself, whose sources are numbered for themselves.
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

/// What a call of a stored function calls, and with what.
#[derive(Clone, Debug)]
pub struct FunctionCall {
    pub function: Arc<RoutineDef>,
    pub args: Vec<Expr>,
    /// A view calls it: whose rights count was settled with the view's.
    pub by_view: bool,
}

/// A stored function, as a call of it is bound.
#[derive(Clone, Debug)]
pub struct StoredFunction {
    pub def: Arc<RoutineDef>,
    pub params: Vec<ColumnType>,
    pub returns: ColumnType,
}

/// What of a subquery's rows is kept.
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

/// What happens when a locking read meets a locked row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWait {
    Wait,
    NoWait,
    SkipLocked,
}

/// Row locks that a query takes on the rows of one table: it is named behind OF, or a block within has the clause.
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
    /// Does it lock what it reads as if to change it (FOR UPDATE)?
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
    /// How it comes about.
    pub made: Made,
    /// Of what is computed: the most characters that its values have, where its type does not tell.
    pub characters: Option<u32>,
    /// Where the column comes from, for the wire's column definition; empty strings for an expression.
    pub database: String,
    /// Of a column whose rows are kept, the derived table's.
    pub table: String,
    pub table_alias: String,
    pub original_name: String,
    /// The view that it is named through, and its name in that view or derived table.
    pub view: String,
    pub through_name: String,
    /// Wire flags: primary key, unique key, multiple key, any place in a key, auto increment.
    pub primary_key: bool,
    pub unique_key: bool,
    pub multiple_key: bool,
    pub part_of_key: bool,
    pub auto_increment: bool,
    pub no_default: bool,
    /// It is set to the present time by itself: when rows are inserted or changed, and the latter.
    pub sets_time: bool,
    pub sets_time_on_update: bool,
}

/// How a column of a result comes about: MySQL's types of what it tells clients, and of a table that is made of the query, depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It is a column of a table.
    Column,
    /// It is one of rows that are kept: of a derived table, of a set operation.
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
        /// Rows of one group come one after the other. Not without keys.
        ordered: bool,
    },
    /// GROUP BY ... WITH ROLLUP over rows that come in the order of the keys. Slots out: the group keys, NULL where they are rolled
    /// up, then the aggregates, then how many of the keys stand.
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
    /// The rows of a recursive common table expression: those of `seed`, then, again and again, those of the steps, whose
    /// [`Access::Work`] scans read the rows of the round before.
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
    /// One for each cell of a row: columns in the order of the text, those of nested parts where these stand.
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

/// What a column has where its path finds nothing, or nothing that fits.
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
    /// SQL_CALC_FOUND_ROWS: rows before and behind are counted, too.
    pub counts_all: bool,
}

/// One table read through one access path.
#[derive(Clone, Debug)]
pub struct Scan {
    pub source: usize,
    pub table: Arc<TableDef>,
    pub alias: String,
    pub access: Access,
    /// What the access path does not already guarantee.
    pub filter: Option<Expr>,
    /// The part of that which reads columns of the index alone: judged on its entries, before the row is read. Beside `filter`.
    pub index_filter: Option<Box<Expr>>,
    /// Columns that anything above reads, by position: the executor may leave the others undecoded.
    pub columns_used: Vec<bool>,
    /// Estimated rows of one pass, behind the filter.
    pub rows: f64,
    /// Estimated rows that one pass reads.
    pub read: f64,
    /// Estimated cost of one pass, where 1 is reading one row in sequence.
    pub cost: f64,
}

impl Scan {
    /// Of JSON_TABLE: what makes its rows.
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
    /// Of an index, some rows of each group of entries whose first columns are equal.
    Leaps(Box<Leaps>),
    /// Rows that several indexes lead to, in the order of the clustered key, each once.
    Merge(Merge),
    /// An information_schema table.
    Virtual,
    /// A derived table or a common table expression.
    Derived(Derived),
    /// In a step of a recursive common table expression: its rows of the round before.
    Work { table: usize },
    /// The predicate is never true.
    Nothing,
}

/// An index read by leaps: loose index scan and skip scan. In index order.
#[derive(Clone, Debug)]
pub struct Leaps {
    pub index: usize,
    /// The part of the index that is read.
    pub ranges: Vec<KeyRange>,
    /// How many columns make a group.
    pub prefix: usize,
    /// Beside the group's first row: the first whose column behind the prefix is not NULL, and the last.
    pub least: bool,
    pub greatest: bool,
    /// Instead, all rows within this range of the columns behind the prefix.
    pub within: Option<KeyRange>,
    pub covering: bool,
}

/// Index merge: the clustered keys that ranges of several indexes lead to, put together and sorted.
#[derive(Clone, Debug)]
pub struct Merge {
    /// The indexes, with their ranges.
    pub parts: Vec<(usize, Vec<KeyRange>)>,
    /// Keys that all parts have, not those that any has.
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
    /// It reads rows of the query around it, so it is run again whenever the scan starts over.
    pub lateral: bool,
    /// The store of a common table expression that is read in several places: the first scan fills it.
    pub shared: Option<usize>,
    /// The columns of other sources that its query reads.
    pub reads: Vec<(usize, usize)>,
    /// Shared row stores inside that depend on the rows around it: emptied before each run.
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
    /// Values read columns of their own row (source 0): as given before them, else the defaults.
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

/// With whose rights something is read or changed: 0 are those of whoever runs the statement, others are numbers of
/// [`BindContext::enter_view`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights(pub u32);

/// What the binder must know of the session. Implemented by `server`.
pub trait BindContext {
    /// With whose rights the view reads, where it is read with those of `outer`: its definer's, or the same with SQL SECURITY INVOKER.
    fn enter_view(&self, _view: &TableDef, outer: Rights) -> crate::error::Result<Rights> {
        Ok(outer)
    }
    /// Which columns of a table of the server UPDATE may set; `None`: it has no settings.
    fn settings(&self, _table: &TableDef) -> Option<&'static [&'static str]> {
        None
    }
    /// CURRENT_USER() of a definer; `None`: the session's.
    fn definer(&self, _rights: Rights) -> Option<String> {
        None
    }
    /// The statement needs this of a table, or of a column of it: refused where the account may not, else noted for whoever runs the plan
    /// later. Without a column: for the table or for some of its columns.
    fn need(&self, _rights: Rights, _table: &TableDef, _action: Action, _of: Part<'_>) -> crate::error::Result<()> {
        Ok(())
    }
    /// A table beside those that UPDATE or DELETE changes, or one of them: refused where nothing of it may be read or updated. What is done
    /// with it is needed later.
    fn touches(&self, _rights: Rights, _table: &TableDef) -> crate::error::Result<()> {
        Ok(())
    }
    /// Several actions at once, on the table or on some columns of it: what is refused is named together.
    fn need_together(&self, rights: Rights, table: &TableDef, actions: &[Action]) -> crate::error::Result<()> {
        actions.iter().try_for_each(|action| self.need(rights, table, *action, Part::Any))
    }
    /// There is no such table: refused as if there were, for who could not read it.
    fn missing(&self, _rights: Rights, _database: &str, _table: &str, _action: Action) -> crate::error::Result<()> {
        Ok(())
    }
    /// A stored function that the statement calls, with somebody's rights; `None`: there is none of the name.
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
    /// What else is known of its rows.
    fn statistics(&self, _table: &TableDef) -> Option<Arc<TableStatistics>> {
        None
    }
    /// About how many entries of an index lie in a range, by a look into the index; `None` where its ends are not known yet, or the index
    /// is not in memory. The range reads no table.
    fn rows_in_range(&self, _table: &TableDef, _index: usize, _range: &KeyRange) -> Option<f64> {
        None
    }
    /// A value as the table's statistics have the column's values; `None` where it is not known yet, is NULL, or is none of the column's.
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
    /// The type of the value that parameter `index` has in the execution the plan is for, where it is known. Without it (at
    /// PREPARE) a parameter takes the type that its place suggests. A plan is good for values of the same types.
    fn param_type(&self, _index: usize) -> Option<ColumnType> {
        None
    }
    /// The value of parameter `index` in an execution whose values the plan is to fit by their types.
    fn param_given(&self, _index: usize) -> Option<&Value<'_>> {
        None
    }
    /// What the plan makes of parameter `index`, which may change while the statement is bound.
    fn note_param(&self, _index: usize, _usage: ParamUse) {}
    fn param_use(&self, _index: usize) -> Option<ParamUse> {
        None
    }
    /// The value of parameter `index` in the execution the plan is for, where it is known.
    fn param_value(&self, _index: usize) -> Option<Value<'static>> {
        None
    }
    /// The type of a variable of the stored program around.
    fn local_type(&self, _slot: usize) -> ColumnType {
        ColumnType::new(types::TypeKind::Null)
    }
    /// The text of an expression that reads no row, no parameter and no variable, and is the same each time; `None`: it is NULL, or it waits.
    fn constant_text(&self, _expr: &Expr) -> Option<Vec<u8>> {
        None
    }
    /// A lifted literal stands in the plan as it is: the plan is for this text alone.
    fn note_literal(&self) {}
    /// The type of a user variable's value; `None` where it has none yet.
    fn user_variable_type(&self, _name: &str) -> Option<ColumnType> {
        None
    }
}

/// What is done with a table's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Select,
    Insert,
    Update,
    Delete,
    /// FOR UPDATE: some right to change rows, or to lock the table, beside that to read.
    Lock,
}

/// Of what an action is needed.
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
    /// The values of an IN subquery become a table that may be read first.
    pub materialization: bool,
    /// Derived tables become part of the block around them.
    pub derived_merge: bool,
    /// Histograms and fan-out of conditions on columns without an index.
    pub condition_fanout_filter: bool,
    /// Correlated aggregates become joins with grouped derived tables, where that is cheaper.
    pub subquery_to_derived: bool,
    /// Rows of groups come in the order of an index that is skipped through.
    pub skip_scan: bool,
    /// Conditions on an index's columns are judged before the row is read.
    pub index_condition_pushdown: bool,
    /// Several indexes for one table: all of it, then the forms.
    pub index_merge_union: bool,
    pub index_merge_sort_union: bool,
    pub index_merge_intersection: bool,
    /// Conditions on derived tables are judged inside.
    pub derived_condition_pushdown: bool,
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
        }
    }
}

/// The parts of sql_mode that parsing and execution depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqlMode {
    pub strict: bool,
    pub ansi_quotes: bool,
    pub pipes_as_concat: bool,
    pub no_backslash_escapes: bool,
    pub only_full_group_by: bool,
    pub no_zero_date: bool,
    pub no_zero_in_date: bool,
    pub error_for_division_by_zero: bool,
    pub no_auto_value_on_zero: bool,
    pub no_unsigned_subtraction: bool,
    pub high_not_precedence: bool,
    pub ignore_space: bool,
    pub real_as_float: bool,
    pub pad_char_to_full_length: bool,
    pub allow_invalid_dates: bool,
    pub time_truncate_fractional: bool,
}

impl SqlMode {
    /// `SET sql_mode = ''`
    pub const NONE: SqlMode = SqlMode {
        strict: false,
        ansi_quotes: false,
        pipes_as_concat: false,
        no_backslash_escapes: false,
        only_full_group_by: false,
        no_zero_date: false,
        no_zero_in_date: false,
        error_for_division_by_zero: false,
        no_auto_value_on_zero: false,
        no_unsigned_subtraction: false,
        high_not_precedence: false,
        ignore_space: false,
        real_as_float: false,
        pad_char_to_full_length: false,
        allow_invalid_dates: false,
        time_truncate_fractional: false,
    };

    /// MySQL 8.4's default.
    pub const DEFAULT: SqlMode = SqlMode {
        strict: true,
        only_full_group_by: true,
        no_zero_date: true,
        no_zero_in_date: true,
        error_for_division_by_zero: true,
        ..SqlMode::NONE
    };
}
