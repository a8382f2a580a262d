//! Subqueries in expressions.
//!
//! The outer columns that a subquery reads are its *arguments*: columns of a source that exists for it alone. Its plan
//! belongs to the statement; the expression holds the expressions of the arguments over the outer row. A subquery
//! without arguments runs once.
//!
//! - A scalar or row subquery keeps its one row; each column of that row is an expression.
//! - EXISTS keeps whether there is a row.
//! - IN, ANY, ALL without arguments keep all rows. With arguments, the left operand becomes one more argument, and each
//!   row is compared as it arrives.
//! - IN and EXISTS that WHERE requires become semi-joins if the subquery is a plain block: see [`Binder::semi_join`].

use super::adopt::{adopt, adopt_kept, adopt_place};
use super::compare::{self, Coercibility, Derivation};
use super::derived::{column_def, derived_def, outside_reads, stored, table_def};
use super::expr::prepare_operands;
use super::from::{Source, SourceKind};
use super::query::{Block, Bound, BoundSelect, slot};
use super::{Binder, Level, LevelKind, Scope};
use crate::ast::{self, Query};
use crate::error::{Clause, Error, Result};
use crate::plan::{FunctionCall, JoinKind, Node, StoredFunction, SubqueryKeep, SubqueryPlan};
use crate::planner::{JOINED_TABLES_MAX, JoinTree, node_rows, tree_sources};
use crate::routine::RoutineError;
use expr::{Class, CompareAs, CompareOp, Expr, ExprKind, Subquery, SubqueryTest, class, is_volatile, typing};
use std::sync::Arc;
use types::{ColumnType, Value};

/// The maximum nesting of blocks; MySQL's limit.
const NESTING_MAX: usize = 63;

/// The values of a subquery are looked up in the table if the table has more than this many rows per value.
const VALUES_FACTOR: f64 = 5.0;

/// The comparison of IN, ANY and ALL.
#[derive(Clone, Copy)]
struct Test {
    op: CompareOp,
    all: bool,
    negated: bool,
}

impl Binder<'_> {
    /// Binds something in a block of its own, and returns the outer references that were found.
    pub(super) fn nested<T>(&mut self, kind: LevelKind, bind: impl FnOnce(&mut Self) -> Result<T>) -> Result<(T, Level)> {
        if self.levels.len() >= NESTING_MAX {
            return Err(Error::TooManyLevels(NESTING_MAX));
        }
        let scope = std::mem::replace(&mut self.scope, Scope::new(Vec::new(), Clause::FieldList));
        self.levels.push(Level { scope, kind, args: Vec::new(), args_source: None, resets: Vec::new(), exists: false });
        let result = bind(self);
        let mut level = self.levels.pop().expect("pushed above");
        std::mem::swap(&mut self.scope, &mut level.scope);
        Ok((result?, level))
    }

    /// The column of the subquery's arguments for an outer expression.
    pub(super) fn argument(&mut self, level: &mut Level, expr: Expr) -> Expr {
        let source = *level.args_source.get_or_insert_with(|| {
            self.sources.push(Source::new(table_def("", Vec::new()), "", SourceKind::Arguments));
            self.sources.len() - 1
        });
        let (ty, nullable) = (expr.ty.clone(), expr.nullable);
        let column = level.args.iter().position(|arg| *arg == expr).unwrap_or_else(|| {
            let def = Arc::make_mut(&mut self.sources[source].table);
            def.columns.push(column_def(format!("#{}", level.args.len() + 1), ty.clone(), nullable));
            level.args.push(expr);
            level.args.len() - 1
        });
        Expr { kind: ExprKind::Column { source, column }, ty, nullable }
    }

    fn add_subquery(&mut self, block: Block, level: &Level, keep: SubqueryKeep) -> usize {
        let mut plan = SubqueryPlan {
            root: block.node,
            columns: block.columns.into_iter().map(|c| c.ty).collect(),
            args: level.args_source,
            args_table: level.args_source.map(|source| self.sources[source].table.clone()),
            keep,
            volatile: false,
            resets: level.resets.clone(),
            call: None,
        };
        let mut volatile = false;
        let changes = |e: &Expr| match &e.kind {
            ExprKind::UserVariable(_) | ExprKind::AssignVariable { .. } => true,
            ExprKind::Subquery(inner) => self.subqueries[inner.id].volatile,
            _ => false,
        };
        plan.walk_exprs(&mut |expr| volatile |= is_volatile(expr) || expr.any(&changes));
        // A common table expression of an outer block has other rows when that block runs again.
        let reads_outside = outside_reads(&plan.root).iter().any(|(source, _)| Some(*source) != plan.args);
        volatile |= reads_outside;
        plan.volatile = volatile;
        self.subqueries.push(plan);
        self.subqueries.len() - 1
    }

    /// `(SELECT ...)`: one value, or a row of several.
    pub(super) fn scalar_subquery(&mut self, query: &Query<'_>) -> Result<Expr> {
        let (mut bound, level) = self.nested(LevelKind::Subquery, |b| b.bind_query(query))?;
        let columns = bound.columns().to_vec();
        self.with_all_digits(&mut bound);
        let correlated = match &bound {
            Bound::Select(select) if self.context.switches().subquery_to_derived => self.correlated_aggregate(select, &level),
            _ => None,
        };
        let block = self.finish(bound)?;
        let derivation = block.derivations[0];
        let id = self.add_subquery(block, &level, SubqueryKeep::Row);
        self.note_correlated(correlated, id);
        let value = |n: usize, ty: &ColumnType| {
            let test = SubqueryTest::Value { column: n };
            let subquery = Subquery { id, test, args: level.args.clone(), left: Vec::new() };
            Expr { kind: ExprKind::Subquery(Box::new(subquery)), ty: ty.clone(), nullable: true }
        };
        self.derivation = derivation;
        if let [column] = columns.as_slice() {
            return Ok(value(0, &column.ty));
        }
        let parts = columns.iter().enumerate().map(|(n, c)| value(n, &c.ty)).collect();
        Ok(Expr { kind: ExprKind::Row(parts), ty: typing::boolean(), nullable: false })
    }

    /// A call of a stored function: a subquery whose arguments are those of the call. Its value may differ from row to
    /// row.
    pub(super) fn stored_call(&mut self, function: StoredFunction, args: &[ast::Expr<'_>]) -> Result<Expr> {
        let StoredFunction { def, params, returns } = function;
        if params.len() != args.len() {
            let name = format!("{}.{}", def.database, def.name);
            return Err(RoutineError::ArgumentCount { name, expected: params.len(), got: args.len() }.into());
        }
        let mut bound = Vec::with_capacity(args.len());
        for (arg, ty) in args.iter().zip(&params) {
            let mut arg = self.value(arg)?;
            adopt_place(self.context, &mut arg, ty);
            bound.push(arg);
        }
        // A deterministic function in a predicate that reads no row is called once.
        let once = def.deterministic && matches!(self.scope.clause, Clause::Where | Clause::On) && !bound.iter().any(varies);
        // Each occurrence is a call of its own, but GROUP BY, HAVING and ORDER BY recognise a selected call.
        let by_view = self.rights != crate::plan::Rights::default();
        let is_this = |call: &FunctionCall| Arc::ptr_eq(&call.function, &def) && call.args == bound && call.by_view == by_view;
        let is_it = |plan: &SubqueryPlan| plan.volatile != once && plan.call.as_ref().is_some_and(is_this);
        let test = SubqueryTest::Call { name: def.name.as_str().into(), deterministic: def.deterministic };
        let names_again = self.scope.has_keys || matches!(self.scope.clause, Clause::GroupBy | Clause::Having | Clause::OrderBy);
        let known = if def.deterministic && names_again { self.subqueries.iter().position(is_it) } else { None };
        let args = bound.clone();
        let plan = SubqueryPlan {
            root: Node::OneRow,
            columns: vec![returns.clone()],
            args: None,
            args_table: None,
            keep: SubqueryKeep::Row,
            volatile: !once,
            resets: Vec::new(),
            call: Some(FunctionCall { function: def, args, by_view }),
        };
        let id = known.unwrap_or(self.subqueries.len());
        if known.is_none() {
            self.subqueries.push(plan);
        }
        self.derivation = match class(&returns) {
            Class::String | Class::Json => Derivation { collation: returns.collation, level: Coercibility::Coercible },
            _ => Derivation::NUMERIC,
        };
        let subquery = Subquery { id, test, args: bound, left: Vec::new() };
        Ok(Expr { kind: ExprKind::Subquery(Box::new(subquery)), ty: returns, nullable: true })
    }

    /// `EXISTS (SELECT ...)`
    pub(super) fn exists(&mut self, query: &Query<'_>, negated: bool) -> Result<Expr> {
        let (bound, level) = self.bind_subquery(query, true)?;
        self.exists_of(bound, level, negated)
    }

    fn bind_subquery(&mut self, query: &Query<'_>, exists: bool) -> Result<(Bound, Level)> {
        self.nested(LevelKind::Subquery, |b| {
            b.levels.iter_mut().last().into_iter().for_each(|level| level.exists = exists);
            b.bind_query(query)
        })
    }

    fn exists_of(&mut self, mut bound: Bound, level: Level, negated: bool) -> Result<Expr> {
        let correlated = match &bound {
            Bound::Select(select) => self.correlated_exists(select, &level, negated),
            Bound::Block(_) => None,
        };
        if let Bound::Select(select) = &mut bound {
            select.select_nothing();
        }
        let block = self.finish(bound)?;
        let id = self.add_subquery(block, &level, SubqueryKeep::Exists);
        self.note_correlated(correlated, id);
        let subquery = Subquery { id, test: SubqueryTest::Exists { negated }, args: level.args, left: Vec::new() };
        Ok(self.boolean(ExprKind::Subquery(Box::new(subquery)), false))
    }

    /// `x IN (SELECT ...)`
    pub(super) fn in_subquery(&mut self, arg: &ast::Expr<'_>, query: &Query<'_>, negated: bool) -> Result<Expr> {
        let left = self.left_operand(arg)?;
        let (bound, level) = self.nested(LevelKind::Subquery, |b| b.bind_query(query))?;
        self.compared_subquery(left, bound, level, Test { op: CompareOp::Equal, all: false, negated })
    }

    /// `x op ANY (SELECT ...)`
    pub(super) fn quantified(&mut self, op: CompareOp, all: bool, arg: &ast::Expr<'_>, query: &Query<'_>) -> Result<Expr> {
        let test = match (op, all) {
            // Another notation of NOT IN.
            (CompareOp::NotEqual, true) => Test { op: CompareOp::Equal, all: false, negated: true },
            _ => Test { op, all, negated: false },
        };
        let left = self.left_operand(arg)?;
        let (bound, level) = self.nested(LevelKind::Subquery, |b| b.bind_query(query))?;
        self.compared_subquery(left, bound, level, test)
    }

    /// The left side of IN, ANY, ALL: its parts with their collations.
    fn left_operand(&mut self, arg: &ast::Expr<'_>) -> Result<Vec<(Expr, Derivation)>> {
        let left = self.expr(arg)?;
        let derivation = self.derivation;
        Ok(match left.kind {
            ExprKind::Row(parts) => {
                parts.into_iter().map(|part| (self.derivation_of(&part), part)).map(|(d, p)| (p, d)).collect()
            }
            _ => vec![(left, derivation)],
        })
    }

    fn compared_subquery(&mut self, left: Vec<(Expr, Derivation)>, bound: Bound, mut level: Level, test: Test) -> Result<Expr> {
        if left.len() > 1 && !matches!(test.op, CompareOp::Equal | CompareOp::NotEqual) {
            return Err(Error::OperandColumns(1));
        }
        if bound.columns().len() != left.len() {
            return Err(Error::OperandColumns(left.len()));
        }
        let block = self.finish(bound)?;
        let mut pairs = Vec::with_capacity(left.len());
        for (n, (mut arg, derivation)) in left.into_iter().enumerate() {
            // A hexadecimal literal in the list is compared as one.
            let mut right = Expr { ty: block.columns[n].ty.clone(), ..slot(n, &block.columns[n]) };
            let derivation = derivation.combine(block.derivations[n], test.op.sign())?;
            adopt_kept(self.context, &mut arg, &right.ty);
            prepare_operands(self.context, &mut arg, &mut right);
            adopt(self.context, &mut arg, &right.ty);
            if arg.ty.kind == types::TypeKind::Year {
                compare::year_as_date(&mut arg, &mut right);
            }
            let by = compare::compare_as(&arg, &right, derivation.collation);
            pairs.push((arg, right, by));
        }
        let nullable = pairs.iter().any(|(a, b, _)| a.nullable || b.nullable);
        if level.args.is_empty() || pairs.iter().any(|(arg, _, _)| is_volatile(arg)) {
            let by: Vec<CompareAs> = pairs.iter().map(|(_, _, by)| *by).collect();
            let types = pairs.iter().map(|(_, right, _)| right.ty.clone()).collect();
            let left: Vec<Expr> = pairs.into_iter().map(|(arg, _, _)| arg).collect();
            let left_types = left.iter().map(|arg| arg.ty.clone()).collect();
            let id = self.add_subquery(block, &level, SubqueryKeep::Rows { by: by.clone(), left: left_types });
            let test = SubqueryTest::Compare { op: test.op, by, types, all: test.all, negated: test.negated };
            let subquery = Subquery { id, test, args: level.args, left };
            return Ok(self.boolean(ExprKind::Subquery(Box::new(subquery)), nullable));
        }
        let mut compared = Vec::with_capacity(pairs.len());
        for (arg, right, by) in pairs {
            let left = self.argument(&mut level, arg);
            let kind = ExprKind::Compare { op: test.op, by, left: Box::new(left), right: Box::new(right) };
            compared.push(self.boolean(kind, nullable));
        }
        let any_part = test.op == CompareOp::NotEqual;
        let comparison = match compared.len() {
            1 => compared.pop().expect("one comparison"),
            _ if any_part => self.boolean(ExprKind::Or(compared), nullable),
            _ => self.boolean(ExprKind::And(compared), nullable),
        };
        let keep = if test.all { SubqueryKeep::All(comparison) } else { SubqueryKeep::Any(comparison) };
        let id = self.add_subquery(block, &level, keep);
        let test = SubqueryTest::Probe { negated: test.negated };
        let subquery = Subquery { id, test, args: level.args, left: Vec::new() };
        Ok(self.boolean(ExprKind::Subquery(Box::new(subquery)), nullable))
    }

    /// Binds the predicates of WHERE; IN and EXISTS become semi-joins where that is equivalent.
    pub(super) fn where_clause(
        &mut self,
        filter: &ast::Expr<'_>,
        tree: &mut Option<JoinTree>,
        may_join: bool,
    ) -> Result<Vec<Expr>> {
        let mut conditions = Vec::new();
        if let ast::Expr::And(parts) = filter {
            for part in *parts {
                conditions.extend(self.where_clause(part, tree, may_join)?);
            }
            return Ok(conditions);
        }
        if may_join
            && !self.keeps_conditions()
            && tree.is_some()
            && let Some((arg, query, anti)) = joinable(filter)
        {
            conditions.extend(self.subquery_condition(arg, query, anti, tree)?);
            return Ok(conditions);
        }
        let parts = super::from::conjuncts(self.predicate(filter)?);
        conditions.extend(parts.into_iter().map(|part| self.finding_zero_dates(part)));
        Ok(conditions)
    }

    /// Binds `x IN (query)` (or EXISTS without x), or its negation, as a conjunct of WHERE: a join with the query's
    /// tables if the query is a plain block, else a predicate.
    fn subquery_condition(
        &mut self,
        arg: Option<&ast::Expr<'_>>,
        query: &Query<'_>,
        anti: bool,
        tree: &mut Option<JoinTree>,
    ) -> Result<Option<Expr>> {
        let left = arg.map(|arg| self.left_operand(arg)).transpose()?;
        let (bound, level) = self.bind_subquery(query, left.is_none())?;
        let is_lone_bound = |select: &BoundSelect| {
            left.is_none() && self.correlated_exists(select, &level, anti).is_some_and(|correlated| correlated.is_lone_bound())
        };
        match bound {
            Bound::Select(select)
                if self.may_join(left.as_deref(), &select, &level, anti)
                    && has_room(tree.as_ref(), &select)
                    && !is_lone_bound(&select) =>
            {
                self.refuse_changed(&select)?;
                self.join_subquery(left.unwrap_or_default(), *select, &level, anti, tree)?;
                Ok(None)
            }
            bound => Ok(Some(match left {
                Some(left) => {
                    self.compared_subquery(left, bound, level, Test { op: CompareOp::Equal, all: false, negated: anti })?
                }
                None => self.exists_of(bound, level, anti)?,
            })),
        }
    }

    /// Is a join with the block's tables equivalent to the subquery?
    fn may_join(&self, left: Option<&[(Expr, Derivation)]>, select: &BoundSelect, level: &Level, anti: bool) -> bool {
        if !self.context.switches().semijoin {
            return false;
        }
        let has_subquery = |expr: &Expr| is_volatile(expr) || expr.any(&|e| matches!(e.kind, ExprKind::Subquery(_)));
        if !select.is_joinable() || !level.resets.is_empty() || level.args.iter().any(has_subquery) {
            return false;
        }
        match left {
            None if level.args.is_empty() => return false,
            None => {}
            Some(left) => {
                let nullable = left.iter().map(|(part, _)| part).chain(&select.project).any(|part| part.nullable);
                let refused = left.iter().any(|(part, _)| has_subquery(part)) || anti && nullable;
                if left.len() != select.project.len() || refused {
                    return false;
                }
            }
        }
        // A derived table inside would need the arguments as well.
        let mut sources = Vec::new();
        if let Some(tree) = &select.tree {
            tree_sources(tree, &mut sources);
        }
        let reads_args = |s: &usize| self.sources[*s].reads().iter().any(|(source, _)| Some(*source) == level.args_source);
        !sources.iter().any(reads_args)
    }

    /// 1093: the block reads a table that the statement changes.
    fn refuse_changed(&self, select: &BoundSelect) -> Result<()> {
        // A derived table that reads the changed table is never merged: it reads the table before the change.
        if self.levels.iter().any(|level| matches!(level.kind, LevelKind::Derived)) {
            return Ok(());
        }
        let mut sources = Vec::new();
        if let Some(tree) = &select.tree {
            tree_sources(tree, &mut sources);
        }
        let tables = sources.into_iter().map(|s| &self.sources[s]).filter(|s| matches!(s.kind, SourceKind::Table));
        for table in tables {
            if let Some(changed) = self.changed_source(table) {
                return Err(self.target_read(changed, None));
            }
        }
        Ok(())
    }

    /// `x IN (query)`, if the query returns few rows and an index finds x: joins the query's distinct values as a
    /// table, which can then be read first.
    fn join_values(
        &mut self,
        left: &[(Expr, Derivation)],
        select: &BoundSelect,
        level: &Level,
        tree: &mut Option<JoinTree>,
    ) -> Result<bool> {
        let [(arg, derivation)] = left else { return Ok(false) };
        let ExprKind::Column { source, column } = arg.kind else { return Ok(false) };
        let from = &self.sources[source];
        let leads = |index: &types::schema::IndexDef| {
            index.kind.is_ordered() && index.columns.first().is_some_and(|c| c.column == column && c.prefix.is_none())
        };
        let indexed = matches!(from.kind, SourceKind::Table) && from.table.indexes.iter().any(leads);
        if !level.args.is_empty() || !indexed || !is_one_kind(arg, &select.project[0]) {
            return Ok(false);
        }
        let rows = self.context.row_count(&from.table) as f64;
        let derivation = derivation.combine(select.derivations[0], "=")?;
        let block = self.plan_select(select.clone().distinct_values())?;
        if node_rows(&block.node) * VALUES_FACTOR > rows {
            return Ok(false);
        }
        let names = ["value".to_owned()];
        let def = derived_def("<subquery>", &names, &block);
        let source = Source::new(def, "<subquery>", stored(block, Vec::new(), Some(vec![0])));
        self.sources.push(source);
        let values = self.sources.len() - 1;
        let right = self.column(values, 0);
        let on = vec![self.comparison(CompareOp::Equal, arg.clone(), right, derivation)?];
        let outer = tree.take().expect("checked by the caller");
        *tree = Some(JoinTree::Inner { parts: vec![outer, JoinTree::Table(values)], on, straight: false });
        Ok(true)
    }

    fn join_subquery(
        &mut self,
        left: Vec<(Expr, Derivation)>,
        mut select: BoundSelect,
        level: &Level,
        anti: bool,
        tree: &mut Option<JoinTree>,
    ) -> Result<()> {
        if !anti && self.context.switches().materialization && self.join_values(&left, &select, level, tree)? {
            return Ok(());
        }
        let mut right_tree = select.tree.take().expect("a joinable block has tables");
        let mut on = std::mem::take(&mut select.filter);
        if let Some(args) = level.args_source {
            let replace = |expr: &mut Expr| replace_columns(expr, args, &level.args);
            right_tree.for_each_condition(&replace);
            on.iter_mut().chain(&mut select.project).for_each(replace);
        }
        for (n, (part, derivation)) in left.into_iter().enumerate() {
            let derivation = derivation.combine(select.derivations[n], "=")?;
            on.push(self.comparison(CompareOp::Equal, part, select.project[n].clone(), derivation)?);
        }
        let kind = if anti { JoinKind::Anti } else { JoinKind::Semi };
        let left = Box::new(tree.take().expect("checked by the caller"));
        *tree = Some(JoinTree::Left { left, right: Box::new(right_tree), on, kind });
        Ok(())
    }
}

/// Is there room in the block's join for the subquery's tables?
fn has_room(tree: Option<&JoinTree>, select: &BoundSelect) -> bool {
    let tables = |tree: Option<&JoinTree>| tree.map_or(0, JoinTree::tables);
    tables(tree) + tables(select.tree.as_ref()) <= JOINED_TABLES_MAX
}

/// May the value of the expression differ from row to row?
fn varies(expr: &Expr) -> bool {
    use ExprKind as K;
    let here = |e: &Expr| {
        matches!(e.kind, K::Column { .. } | K::ColumnOrdinal { .. } | K::Slot(_) | K::Subquery(_) | K::InsertValue { .. })
            || matches!(e.kind, K::UserVariable(_) | K::AssignVariable { .. })
    };
    is_volatile(expr) || expr.any(&here)
}

/// Are values of both types equal exactly if their representations are?
fn is_one_kind(a: &Expr, b: &Expr) -> bool {
    match (class(&a.ty), class(&b.ty)) {
        (Class::Integer, Class::Integer) => true,
        (Class::String, Class::String) => a.ty.collation == b.ty.collation,
        (Class::Date | Class::DateTime | Class::Time, _) => a.ty.kind == b.ty.kind,
        _ => false,
    }
}

/// IN and EXISTS, negated or not: the left operand, the query, and whether it is negated.
pub(super) fn joinable<'e, 'a>(filter: &'e ast::Expr<'a>) -> Option<(Option<&'e ast::Expr<'a>>, &'e Query<'a>, bool)> {
    match filter {
        ast::Expr::Exists(query) => Some((None, query, false)),
        ast::Expr::InSubquery { arg, query, negated } => Some((Some(arg), query, *negated)),
        ast::Expr::Not(inner) | ast::Expr::Unary { op: ast::UnaryOp::Not, arg: inner } => match inner {
            ast::Expr::Exists(query) => Some((None, query, true)),
            ast::Expr::InSubquery { arg, query, negated: false } => Some((Some(arg), query, true)),
            _ => None,
        },
        _ => None,
    }
}

/// Replaces the columns of a source by expressions.
pub(super) fn replace_columns(expr: &mut Expr, of: usize, exprs: &[Expr]) {
    match expr.kind {
        ExprKind::Column { source, column } if source == of => *expr = exprs[column].clone(),
        ExprKind::ColumnOrdinal { source, column } if source == of => {
            *expr = exprs[column].clone();
            super::operand::enum_as_number(expr);
        }
        _ => expr.parts_mut().into_iter().for_each(|part| replace_columns(part, of, exprs)),
    }
}

impl BoundSelect {
    /// EXISTS ignores the select list.
    fn select_nothing(&mut self) {
        if self.is_plain_list() {
            self.project = vec![Expr::literal(Value::Int(1), typing::bigint(false))];
            self.columns.truncate(1);
            self.derivations = vec![Derivation::NUMERIC];
            self.columns[0].ty = typing::bigint(false);
            self.sort.clear();
            self.visible = 1;
        }
    }
}
