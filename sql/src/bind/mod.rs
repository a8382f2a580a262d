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
mod distinct;
mod dml;
mod expr;
mod extreme;
mod fraction_digits;
mod from;
mod fulltext;
mod function;
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
mod view;
mod view_check;
mod window;

pub(crate) use from::{Source, SourceKind};
pub(crate) use function::is_function;
pub(crate) use group::constant;
pub(crate) use query::Bound;
pub use query::bind_show_filter;
pub(crate) use query::column_name;
pub(crate) use view::{NameNote, Notes, address, bind_view_query, columns_of_view, problem as view_problem};

use crate::ast::Statement;
use crate::error::{Clause, Error, Result};
use crate::parser::Parsed;
use crate::plan::{Action, BindContext, Named, Node, Parts, Plan, Rights, SubqueryPlan};
use ::expr::{Aggregate, Expr, WindowCall};
use compare::Derivation;
use from::JoinedColumn;
use std::sync::Arc;
use types::SqlMode;
use types::schema::{TableDef, TableId};

/// Binds and plans a statement on rows (`StatementInfo::plannable`).
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

/// Binds an expression of a stored program that reads no table; `None`: it has subqueries, so it needs a plan.
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
    match expr {
        crate::ast::Expr::CastArray { arg, target } => binder.cast_array(arg, target),
        _ => binder.value(expr),
    }
}

/// A table that the statement changes.
#[derive(Clone, Debug)]
pub(crate) struct Changed {
    pub table: TableId,
    pub name: String,
    /// The view through which it is changed.
    pub view: Option<TableId>,
    pub read: ReadAs,
}

/// The names under which a subquery must not read the table that its statement changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadAs {
    /// UPDATE, DELETE and LOAD DATA.
    AnyName,
    /// INSERT and REPLACE of values: the table's own name, or its name in the view. Under another name, the subquery
    /// sees the rows inserted so far.
    Name(String),
}

impl ReadAs {
    /// Is a table with this alias the changed one?
    pub fn refuses(&self, alias: &str) -> bool {
        match self {
            Self::AnyName => true,
            Self::Name(name) => name == alias,
        }
    }
}

/// The names that an expression can use.
#[derive(Debug)]
pub(crate) struct Scope {
    /// The sources whose columns can be named, in the order of FROM.
    pub visible: Vec<usize>,
    /// Earlier sources that are not visible: the left sides of enclosing RIGHT JOINs.
    pub hidden: Vec<usize>,
    /// The columns of `*`, in order.
    pub star: Vec<(usize, usize)>,
    /// For each RIGHT JOIN with ON: where it begins in `star`, where its right side begins, and where it ends. Inner
    /// joins first.
    pub right_joins: Vec<[usize; 3]>,
    /// The number of tables that FROM joins, including those of merged queries.
    pub tables: usize,
    /// Columns that USING and NATURAL merged.
    pub joined: Vec<JoinedColumn>,
    pub clause: Clause,
    pub aliases: AliasRule,
    /// The select list, for aliases.
    pub select: Vec<SelectColumn>,
    /// GROUP BY, for HAVING.
    pub group_keys: Vec<Expr>,
    /// WITH ROLLUP: the select items that GROUP BY names by position, with their keys. Equal keys are rolled up one
    /// after the other.
    pub group_places: Vec<(usize, usize)>,
    /// Aggregates found so far; `None` where aggregates are not allowed.
    pub aggregates: Option<Vec<Aggregate>>,
    pub in_aggregate: bool,
    /// A name was resolved to a column of this block.
    pub found_own: bool,
    /// Window function calls found so far; `None` where they are not allowed.
    pub windows: Option<Vec<BoundWindow>>,
    /// Subqueries that may become joins.
    pub correlated: Vec<decorrelate::Correlated>,
    /// The named windows of the block.
    pub window_names: Vec<NamedWindow>,
    /// GROUP BY ... WITH ROLLUP
    pub rollup: bool,
    /// GROUP BY has keys.
    pub has_keys: bool,
    /// The expression is in a subquery without tables, which is replaced by its expression.
    pub in_bare_subquery: bool,
    /// ON DUPLICATE KEY UPDATE: the names of the new row.
    pub insert_row: Option<InsertRow>,
    /// ON DUPLICATE KEY UPDATE: the query that gives the rows, whose columns can be named.
    pub query_row: Option<Box<on_duplicate::QueryRow>>,
    /// The ORDER BY of a view that was merged into the block.
    pub view_order: Vec<(Expr, bool)>,
}

/// When a bare name may resolve to a select item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AliasRule {
    Never,
    /// ORDER BY, GROUP BY expressions: if no column has the name.
    AfterColumns,
    /// HAVING: the select list and the group keys only.
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
    /// Names in the order of the target columns, each with its column.
    pub columns: Vec<(String, usize)>,
}

/// A block that encloses the one being bound.
#[derive(Debug)]
pub(crate) struct Level {
    pub scope: Scope,
    pub kind: LevelKind,
    /// Subqueries only: the outer columns that it reads, and the source that stands for them.
    pub args: Vec<Expr>,
    pub args_source: Option<usize>,
    /// Shared row stores that depend on outer blocks.
    pub resets: Vec<usize>,
    /// Subqueries only: EXISTS, which does not read the select list.
    pub exists: bool,
}

/// How a block relates to the block that encloses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelKind {
    /// A subquery sees the outer row, through arguments.
    Subquery,
    /// A derived table does not see the tables beside it, but it sees the outer blocks of its block.
    Derived,
    /// It sees the tables before it.
    Lateral,
    /// The query of a view sees no outer names.
    View,
}

/// A call of a window function, with its window.
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
    /// Number of `?`; lifted literals are numbered after them.
    pub params: usize,
    pub lifted: usize,
    pub sources: Vec<Source>,
    pub scope: Scope,
    /// The enclosing blocks, innermost last.
    pub levels: Vec<Level>,
    pub subqueries: Vec<SubqueryPlan>,
    /// The subqueries of materialized derived tables, which read their tables before any change.
    pub read_before: Vec<std::ops::Range<usize>>,
    /// The queries of shared row stores; `None` while one is being bound.
    pub stores: Vec<Option<Arc<Node>>>,
    /// The common table expressions in scope, innermost last.
    pub common_tables: Vec<common::CommonTable>,
    /// The tables that the statement changes, by their names in it.
    pub changed: Vec<Changed>,
    /// The statement that changes them: UPDATE or DELETE.
    pub statement: &'static str,
    /// It changes rows in strict mode, without IGNORE.
    pub is_strict_change: bool,
    /// Tables and views named so far.
    pub named: Vec<Named>,
    /// The views whose queries are being bound, each with its index in `named`; innermost last.
    pub views: Vec<(TableId, usize)>,
    /// The privileges that apply to named tables: those of the innermost enclosing view.
    pub rights: Rights,
    /// The collation of literals, if it is not the session's.
    pub literals: Option<types::CollationId>,
    /// What names resolve to, for the definition of a view.
    pub notes: Option<Box<view::Notes>>,
    /// User variables that LOAD DATA assigns from the fields of each row.
    pub loaded: Vec<String>,
    /// User variables that the statement assigns, in the order of its text.
    pub assigned: Vec<String>,
    /// The privilege that `SET column = value` needs.
    pub assigns: Action,
    /// Set while the FROM of an UPDATE or DELETE is bound, when it is not known yet which tables are only read. The
    /// privilege that a refusal names for a missing table.
    pub changes_from: Option<Action>,
    /// An outer join may replace the part of FROM being bound by NULLs.
    pub on_null_side: bool,
    /// The argument of ANY_VALUE is being bound.
    pub in_any_value: bool,
    /// Predicates with subqueries do not become joins, except inside subqueries.
    pub plain_conditions: bool,
    /// The collation of the expression bound last.
    pub derivation: Derivation,
    /// The derivations of its parts, if it was a row.
    pub row_parts: Vec<Derivation>,
    /// The unplanned blocks of the UNION bound last, if the query is nothing but that UNION.
    pub union_blocks: Option<(Vec<query::BoundSelect>, Vec<bool>)>,
    /// The outermost query and the first block of the statement have been bound: SQL_CALC_FOUND_ROWS applies to these
    /// only.
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

    /// The parts that the statement runs beside its main tree, once everything is bound.
    fn parts(&mut self) -> Parts {
        // A store whose query failed to bind is never named.
        let stores = std::mem::take(&mut self.stores).into_iter().map(|store| store.unwrap_or_else(|| Arc::new(Node::OneRow)));
        Parts {
            sources: self.sources.len(),
            subqueries: std::mem::take(&mut self.subqueries),
            stores: stores.collect(),
            named: std::mem::take(&mut self.named),
            locks: std::mem::take(&mut self.locks),
        }
    }

    /// The collation of strings without one of their own.
    fn literal_collation(&self) -> types::CollationId {
        self.literals.unwrap_or_else(|| self.context.connection_collation())
    }

    fn param_count(&self) -> usize {
        self.params + self.lifted
    }

    /// Binds under the name of another clause.
    fn in_clause<T>(&mut self, clause: Clause, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let outer = std::mem::replace(&mut self.scope.clause, clause);
        let result = bind(self);
        self.scope.clause = outer;
        result
    }
}

/// A column's name as MySQL's messages show it.
pub(crate) fn qualified(table: &TableDef, alias: &str, column: usize) -> String {
    match table.database.as_str() {
        "" => format!("{alias}.{}", table.columns[column].name),
        database => format!("{database}.{alias}.{}", table.columns[column].name),
    }
}
