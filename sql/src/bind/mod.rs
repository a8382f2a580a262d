//! From a syntax tree to a plan: names become columns, expressions get types, clauses become operators.
//!
//! 1. FROM registers its tables as *sources*, numbered through the whole statement in the order of the text.
//! 2. Expressions are bound bottom up ([`expr`]); each knows its static type; the binder keeps the collation derivation of the one
//!    bound last beside it.
//! 3. With GROUP BY or aggregates, expressions are bound over sources first, and then rewritten over the slots of the Aggregate
//!    operator ([`group`]).
//! 4. The block goes to [`crate::planner`], which orders the joins and chooses access paths.

mod aggregate;
mod compare;
mod dml;
mod expr;
mod from;
mod function;
mod function_names;
mod function_types;
mod group;
mod literal;
mod query;
#[cfg(test)]
mod tests;
mod typing;

pub(crate) use from::Source;
pub(crate) use group::{children, constant};
pub use query::bind_show_filter;
pub(crate) use typing::{Class, class};

use crate::ast::Statement;
use crate::error::{Clause, Error, Result};
use crate::expr::{Aggregate, Expr};
use crate::parser::Parsed;
use crate::plan::{BindContext, Plan, SqlMode};
use compare::Derivation;
use from::JoinedColumn;
use std::ops::Range;
use types::schema::TableDef;

/// Binds and plans a statement that touches rows (`StatementInfo::plannable`).
pub fn plan(parsed: &Parsed<'_>, context: &dyn BindContext) -> Result<Plan> {
    let mut binder = Binder::new(context, parsed.params as usize, parsed.lifted as usize);
    match &parsed.statement {
        Statement::Query(query) => Ok(Plan::Query(binder.query_plan(query)?)),
        Statement::Insert(insert) => Ok(Plan::Insert(binder.insert(insert)?)),
        Statement::Update(update) => Ok(Plan::Update(binder.update(update)?)),
        Statement::Delete(delete) => Ok(Plan::Delete(binder.delete(delete)?)),
        _ => Err(Error::NotSupported("planning of this statement".to_owned())),
    }
}

/// Binds expressions that read no table: the values of SET, DO, KILL and the like.
pub fn bind_constant(expr: &crate::ast::Expr<'_>, context: &dyn BindContext) -> Result<Expr> {
    Binder::new(context, 0, 0).expr(expr)
}

/// What may be named where an expression stands.
#[derive(Debug)]
pub(crate) struct Scope {
    /// The sources whose columns may be named.
    pub visible: Range<usize>,
    /// Columns that USING and NATURAL made one.
    pub joined: Vec<JoinedColumn>,
    pub clause: Clause,
    pub aliases: AliasRule,
    /// The select list, for aliases.
    pub select: Vec<SelectColumn>,
    /// GROUP BY, for HAVING.
    pub group_keys: Vec<Expr>,
    /// Aggregates found so far; `None` where none may stand.
    pub aggregates: Option<Vec<Aggregate>>,
    pub in_aggregate: bool,
    /// ON DUPLICATE KEY UPDATE: the names of the row that would have been inserted.
    pub insert_row: Option<InsertRow>,
    /// ON DUPLICATE KEY UPDATE: the sources of the query, whose names must not be taken for the target's.
    pub rivals: Vec<Source>,
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

impl Scope {
    fn new(visible: Range<usize>, clause: Clause) -> Self {
        Self {
            visible,
            joined: Vec::new(),
            clause,
            aliases: AliasRule::Never,
            select: Vec::new(),
            group_keys: Vec::new(),
            aggregates: None,
            in_aggregate: false,
            insert_row: None,
            rivals: Vec::new(),
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
    /// The collation of the expression bound last.
    pub derivation: Derivation,
}

impl<'c> Binder<'c> {
    fn new(context: &'c dyn BindContext, params: usize, lifted: usize) -> Self {
        Self {
            context,
            mode: context.sql_mode(),
            params,
            lifted,
            sources: Vec::new(),
            scope: Scope::new(0..0, Clause::FieldList),
            derivation: Derivation::IGNORABLE,
        }
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
    format!("{}.{}.{}", table.database, alias, table.columns[column].name)
}
