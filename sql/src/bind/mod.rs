//! From a syntax tree to a plan: names become columns, expressions get types, clauses become operators.
//!
//! 1. FROM registers its tables as *sources*, numbered through the whole statement in the order of the text.
//! 2. Expressions are bound bottom up ([`expr`]); each knows its static type; the binder keeps the collation derivation of the one
//!    bound last beside it.
//! 3. With GROUP BY or aggregates, expressions are bound over sources first, and then rewritten over the slots of the Aggregate
//!    operator ([`group`]).
//! 4. The block goes to [`crate::planner`], which orders the joins and chooses access paths.

mod adopt;
mod aggregate;
mod auto_is_null;
mod casts;
mod change;
mod common;
mod compare;
mod computed;
mod decorrelate;
mod depend;
mod derived;
mod digits;
mod distinct;
mod dml;
mod expr;
mod extreme;
mod fraction_digits;
mod from;
mod function;
mod function_names;
mod function_types;
mod group;
mod json_table;
mod literal;
mod load;
mod locking;
mod moments;
mod on_duplicate;
mod operand;
mod order;
mod push;
mod query;
pub(crate) mod result_column;
mod rows;
mod select_list;
mod set_operation;
mod subquery;
#[cfg(test)]
mod tests;
mod typing;
mod view;
mod view_check;
mod window;

pub(crate) use from::{Source, SourceKind};
pub(crate) use function::is_function;
pub(crate) use group::{children, constant};
pub use moments::is_fixed;
pub(crate) use query::Bound;
pub use query::bind_show_filter;
pub(crate) use query::column_name;
pub use typing::kept_type;
pub(crate) use typing::{Class, class};
pub(crate) use view::{NameNote, Notes, address, bind_view_query, columns_of_view, problem as view_problem};

use crate::ast::Statement;
use crate::error::{Clause, Error, Result};
use crate::expr::{Aggregate, Expr, WindowCall};
use crate::parser::Parsed;
use crate::plan::{Action, BindContext, Named, Node, Parts, Plan, Rights, SqlMode, SubqueryPlan};
use compare::Derivation;
use from::JoinedColumn;
use std::sync::Arc;
use types::schema::{TableDef, TableId};

/// Binds and plans a statement that touches rows (`StatementInfo::plannable`).
pub fn plan(parsed: &Parsed<'_>, context: &dyn BindContext) -> Result<Plan> {
    let mut binder = Binder::new(context, parsed.params as usize, parsed.lifted as usize);
    let is_ignoring = match &parsed.statement {
        Statement::Insert(insert) => insert.ignore,
        Statement::Update(update) => update.ignore,
        Statement::Delete(delete) => delete.ignore,
        _ => true,
    };
    binder.is_strict_change = binder.mode.strict && !is_ignoring;
    match &parsed.statement {
        Statement::Query(query) => Ok(Plan::Query(binder.query_plan(query)?)),
        Statement::Insert(insert) => Ok(Plan::Insert(binder.insert(insert)?)),
        Statement::LoadData(load) => Ok(Plan::Insert(binder.load(load)?)),
        Statement::Update(update) => binder.update(update),
        Statement::Delete(delete) => binder.delete(delete),
        _ => Err(Error::NotSupported("planning of this statement".to_owned())),
    }
}

/// Binds expressions that read no table: the values of SET, DO, KILL and the like.
pub fn bind_constant(expr: &crate::ast::Expr<'_>, context: &dyn BindContext) -> Result<Expr> {
    Binder::new(context, 0, 0).expr(expr)
}

/// Binds an expression that reads no table, of a stored program; `None`: it has subqueries, so it needs a plan.
pub fn bind_value(expr: &crate::ast::Expr<'_>, context: &dyn BindContext) -> Result<Option<Expr>> {
    let mut binder = Binder::new(context, 0, 0);
    let bound = binder.value(expr).map_err(|error| match error {
        Error::NoSuchTable { table, column, clause, .. } => Error::NoSuchTable { table, column, clause, nested: false },
        error => error,
    })?;
    let stands_alone = binder.subqueries.is_empty() && binder.stores.is_empty() && binder.sources.is_empty();
    Ok(stands_alone.then_some(bound))
}

/// Binds an expression over the columns of one table, which is source 0.
pub(crate) fn bind_over_row(expr: &crate::ast::Expr<'_>, table: &Arc<TableDef>, context: &dyn BindContext) -> Result<Expr> {
    let mut binder = Binder::new(context, 0, 0);
    binder.add_source(table.clone(), &table.name)?;
    binder.value(expr)
}

/// A table that the statement changes.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    pub table: TableId,
    pub name: String,
    /// The view that it is changed through.
    pub view: Option<TableId>,
    pub read: ReadAs,
}

/// Under what names a subquery must not read the table that its statement changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadAs {
    /// UPDATE, DELETE and LOAD DATA
    AnyName,
    /// INSERT and REPLACE of values, its own name or that in the view: read by another, the table has the rows put in before.
    Name(String),
}

impl ReadAs {
    /// Is a table, read by the alias, the changed one?
    pub fn refuses(&self, alias: &str) -> bool {
        match self {
            Self::AnyName => true,
            Self::Name(name) => name == alias,
        }
    }
}

/// What may be named where an expression stands.
#[derive(Debug)]
pub(crate) struct Scope {
    /// The sources whose columns may be named, in the order of FROM.
    pub visible: Vec<usize>,
    /// Sources before these that do not count here: the left sides of RIGHT JOINs around.
    pub hidden: Vec<usize>,
    /// The columns of `*`, in its order.
    pub star: Vec<(usize, usize)>,
    /// Where in it RIGHT JOINs with ON begin, come to their right side, and end; the inner before the outer.
    pub right_joins: Vec<[usize; 3]>,
    /// How many tables FROM joins, those of merged queries included.
    pub tables: usize,
    /// Columns that USING and NATURAL made one.
    pub joined: Vec<JoinedColumn>,
    pub clause: Clause,
    pub aliases: AliasRule,
    /// The select list, for aliases.
    pub select: Vec<SelectColumn>,
    /// GROUP BY, for HAVING.
    pub group_keys: Vec<Expr>,
    /// WITH ROLLUP: places in the select list with the keys that GROUP BY names by them; equal ones are rolled up one after the other.
    pub group_places: Vec<(usize, usize)>,
    /// Aggregates found so far; `None` where none may stand.
    pub aggregates: Option<Vec<Aggregate>>,
    pub in_aggregate: bool,
    /// A name has meant a column of this block.
    pub found_own: bool,
    /// Window function calls found so far; `None` where none may stand.
    pub windows: Option<Vec<BoundWindow>>,
    /// Subqueries that could be joins.
    pub correlated: Vec<decorrelate::Correlated>,
    /// The named windows of the block.
    pub window_names: Vec<NamedWindow>,
    /// GROUP BY ... WITH ROLLUP
    pub rollup: bool,
    /// GROUP BY has keys.
    pub has_keys: bool,
    /// What is bound stands in a subquery without tables, which is its value.
    pub in_bare_subquery: bool,
    /// ON DUPLICATE KEY UPDATE: the names of the row that would have been inserted.
    pub insert_row: Option<InsertRow>,
    /// ON DUPLICATE KEY UPDATE: the query that gives the rows, whose columns may be named.
    pub query_row: Option<Box<on_duplicate::QueryRow>>,
    /// The order that a view asks for, which became part of the block.
    pub view_order: Vec<(Expr, bool)>,
}

/// When a bare name may mean an entry of the select list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AliasRule {
    Never,
    /// ORDER BY, GROUP BY expressions: where no column has the name.
    AfterColumns,
    /// HAVING: the select list and the group keys, nothing else.
    Having,
}

#[derive(Clone, Debug)]
pub(crate) struct SelectColumn {
    pub name: String,
    pub expr: Expr,
    pub derivation: Derivation,
}

/// `AS new(a, b)` of INSERT.
#[derive(Clone, Debug)]
pub(crate) struct InsertRow {
    pub alias: Option<String>,
    /// Names in the order of the target columns, with the column each stands for.
    pub columns: Vec<(String, usize)>,
}

/// A block around the one that is bound.
#[derive(Debug)]
pub(crate) struct Level {
    pub scope: Scope,
    pub kind: LevelKind,
    /// Of a subquery: what it reads from outside, and the source that shows it.
    pub args: Vec<Expr>,
    pub args_source: Option<usize>,
    /// Shared row stores that depend on the blocks around.
    pub resets: Vec<usize>,
    /// Of a subquery: EXISTS asks for its rows alone.
    pub exists: bool,
}

/// What stands between a block and the one around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelKind {
    /// It sees the row around it, as arguments.
    Subquery,
    /// It does not see the tables beside it, but those around them.
    Derived,
    /// It sees the tables before it.
    Lateral,
    /// The query of a view: it sees nothing outside.
    View,
}

/// A call of a window function, and the window it is over.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct BoundWindow {
    pub partition: Vec<Expr>,
    pub order: Vec<(Expr, bool)>,
    pub call: WindowCall,
}

/// `WINDOW w AS (...)`
#[derive(Clone, Debug)]
pub(crate) struct NamedWindow {
    pub name: String,
    pub partition: Vec<Expr>,
    pub order: Vec<(Expr, bool)>,
    pub frame: Option<window::BoundFrame>,
}

impl Scope {
    fn new(visible: Vec<usize>, clause: Clause) -> Self {
        Self {
            visible,
            hidden: Vec::new(),
            star: Vec::new(),
            right_joins: Vec::new(),
            tables: 0,
            joined: Vec::new(),
            clause,
            aliases: AliasRule::Never,
            select: Vec::new(),
            group_keys: Vec::new(),
            group_places: Vec::new(),
            aggregates: None,
            in_aggregate: false,
            found_own: false,
            windows: None,
            correlated: Vec::new(),
            window_names: Vec::new(),
            rollup: false,
            has_keys: false,
            in_bare_subquery: false,
            insert_row: None,
            query_row: None,
            view_order: Vec::new(),
        }
    }
}

pub(crate) struct Binder<'c> {
    pub context: &'c dyn BindContext,
    pub mode: SqlMode,
    /// Number of `?`; lifted literals are counted behind them.
    pub params: usize,
    pub lifted: usize,
    pub sources: Vec<Source>,
    pub scope: Scope,
    /// The blocks around, innermost last.
    pub levels: Vec<Level>,
    pub subqueries: Vec<SubqueryPlan>,
    /// Those of derived tables whose rows are kept: they have read what they read before anything is changed.
    pub read_before: Vec<std::ops::Range<usize>>,
    /// The queries of shared row stores; `None` while one is being bound.
    pub stores: Vec<Option<Arc<Node>>>,
    /// The common table expressions in sight, innermost last.
    pub common_tables: Vec<common::CommonTable>,
    /// The tables that the statement changes, by the names it gives them.
    pub changed: Vec<Changed>,
    /// UPDATE, DELETE: which statement changes them.
    pub statement: &'static str,
    /// It changes rows in strict mode, without IGNORE.
    pub is_strict_change: bool,
    /// Tables and views that were named so far.
    pub named: Vec<Named>,
    /// The views whose queries are being bound, outermost last but one; each with its place in `named`.
    pub views: Vec<(TableId, usize)>,
    /// With whose rights what is named is read: those of the innermost view around.
    pub rights: Rights,
    /// The collation of literals, where it is not the session's.
    pub literals: Option<types::CollationId>,
    /// What names mean, for the definition of a view.
    pub notes: Option<Box<view::Notes>>,
    /// User variables that LOAD DATA gives the fields of each row.
    pub loaded: Vec<String>,
    /// User variables that the statement assigns, in the order of its text.
    pub assigned: Vec<String>,
    /// What `SET column = value` needs of the column.
    pub assigns: Action,
    /// The FROM being bound is of an UPDATE or DELETE: which of its tables are read is not known yet. What is refused of a table that is not
    /// there.
    pub changes_from: Option<Action>,
    /// What is bound of FROM may be left out by an outer join.
    pub on_null_side: bool,
    /// An argument of ANY_VALUE is bound.
    pub in_any_value: bool,
    /// Conditions with subqueries stay what they are, and become no joins, but those within subqueries.
    pub plain_conditions: bool,
    /// The collation of the expression bound last.
    pub derivation: Derivation,
    /// Those of its parts, if it was a row.
    pub row_parts: Vec<Derivation>,
    /// The blocks of the UNION that was bound last, where that is all there is to the query, before they were planned.
    pub union_blocks: Option<(Vec<query::BoundSelect>, Vec<bool>)>,
    /// The outermost query and the first block of the statement have been met: what SQL_CALC_FOUND_ROWS concerns, and where it may stand.
    pub saw_outermost: bool,
    pub saw_block: bool,
    /// Row locks of single tables.
    pub locks: Vec<crate::plan::TableLock>,
}

impl<'c> Binder<'c> {
    fn new(context: &'c dyn BindContext, params: usize, lifted: usize) -> Self {
        Self {
            context,
            mode: context.sql_mode(),
            params,
            lifted,
            sources: Vec::new(),
            scope: Scope::new(Vec::new(), Clause::FieldList),
            levels: Vec::new(),
            subqueries: Vec::new(),
            stores: Vec::new(),
            common_tables: Vec::new(),
            read_before: Vec::new(),
            changed: Vec::new(),
            statement: "",
            is_strict_change: false,
            named: Vec::new(),
            views: Vec::new(),
            rights: Rights::default(),
            literals: None,
            notes: None,
            loaded: Vec::new(),
            assigned: Vec::new(),
            assigns: Action::Update,
            changes_from: None,
            on_null_side: false,
            in_any_value: false,
            plain_conditions: false,
            derivation: Derivation::IGNORABLE,
            row_parts: Vec::new(),
            union_blocks: None,
            saw_outermost: false,
            saw_block: false,
            locks: Vec::new(),
        }
    }

    /// What the statement runs beside its main tree, once all is bound.
    fn parts(&mut self) -> Parts {
        // One whose query could not be bound is named nowhere.
        let stores = std::mem::take(&mut self.stores).into_iter().map(|store| store.unwrap_or_else(|| Arc::new(Node::OneRow)));
        Parts {
            sources: self.sources.len(),
            subqueries: std::mem::take(&mut self.subqueries),
            stores: stores.collect(),
            named: std::mem::take(&mut self.named),
            locks: std::mem::take(&mut self.locks),
        }
    }

    /// The collation of texts that say nothing about theirs.
    fn literal_collation(&self) -> types::CollationId {
        self.literals.unwrap_or_else(|| self.context.connection_collation())
    }

    fn param_count(&self) -> usize {
        self.params + self.lifted
    }

    /// Binds under another clause's name.
    fn in_clause<T>(&mut self, clause: Clause, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = std::mem::replace(&mut self.scope.clause, clause);
        let result = bind(self);
        self.scope.clause = outer;
        result
    }
}

/// A column of a table as MySQL's messages name it.
pub(crate) fn qualified(table: &TableDef, alias: &str, column: usize) -> String {
    match table.database.as_str() {
        "" => format!("{alias}.{}", table.columns[column].name),
        database => format!("{database}.{alias}.{}", table.columns[column].name),
    }
}
