//! SELECT, UNION, VALUES: clauses become operators.
//!
//! ```text
//! Trim  Limit  Sort  Distinct  Project  Filter(HAVING)  Aggregate  <joins, WHERE>
//! ```
//! from the outside in; what a query does not need is left out.

use super::adopt::Count;
use super::aggregate::AGGREGATE_SLOT;
use super::compare::{self, Derivation};
use super::depend::Facts;
use super::extreme::{extreme_need, first_row, not_null, plan_extremes};
use super::group::{Grouping, constant, holds_grouping};
use super::window::WINDOW_SLOT;
use super::{AliasRule, Binder, BoundWindow, LevelKind, Scope, SelectColumn};
use crate::ast::{self, Expr as AstExpr, Literal, OrderItem, Query, QueryBody, Select, SelectItem};
use crate::error::{Clause, Error, NameKind, Result};
use crate::plan::{BindContext, LimitPlan, LockWait, Locking, Node, OutputColumn, QueryPlan, SortKey};
use crate::planner::{FromBlock, JoinTree};
use expr::{Aggregate, Class, Expr, ExprKind, class, typing};
use types::{ColumnType, TypeKind, Value};

/// A planned query: an operator tree whose slots are the columns.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub node: Node,
    pub columns: Vec<OutputColumn>,
    pub derivations: Vec<Derivation>,
}

/// A bound query; a SELECT is not planned yet.
#[derive(Debug)]
pub(crate) enum Bound {
    Select(Box<BoundSelect>),
    Block(Box<Block>),
}

impl Bound {
    /// Columns that are unique together: the group keys, if all are selected, or all columns with DISTINCT.
    pub fn key(&self) -> Option<Vec<usize>> {
        let Bound::Select(select) = self else { return None };
        if select.distinct {
            return Some((0..select.visible).collect());
        }
        let grouping = select.grouping.as_ref().filter(|_| !select.rollup)?;
        let place = |key: usize| select.project[..select.visible].iter().position(|e| e.kind == ExprKind::Slot(key));
        (0..grouping.keys.len()).map(place).collect()
    }

    pub fn columns(&self) -> &[OutputColumn] {
        match self {
            Bound::Select(select) => &select.columns,
            Bound::Block(block) => &block.columns,
        }
    }
}

/// A SELECT whose names are resolved and that is not planned yet.
#[derive(Clone, Debug)]
pub(crate) struct BoundSelect {
    pub tree: Option<JoinTree>,
    /// The conjuncts of WHERE.
    pub filter: Vec<Expr>,
    pub columns: Vec<OutputColumn>,
    pub derivations: Vec<Derivation>,
    /// The select list over sources, or over the slots of the grouping; then sort keys that are not selected.
    pub project: Vec<Expr>,
    /// The number of select items in `project`.
    pub visible: usize,
    pub grouping: Option<Grouping>,
    pub having: Option<Expr>,
    pub windows: Vec<BoundWindow>,
    pub sort: Vec<SortKey>,
    pub limit: Option<LimitPlan>,
    pub distinct: bool,
    pub straight: bool,
    pub rollup: bool,
    pub locking: bool,
    /// The number of entries of `Binder::named` after FROM was bound.
    pub named_in_from: usize,
    /// The number of entries after WHERE was bound.
    pub named_in_where: usize,
}

impl BoundSelect {
    /// Only joins and filters: no grouping, window function, sort or LIMIT.
    pub fn is_plain(&self) -> bool {
        self.is_plain_list() && !self.distinct && !self.locking && !self.straight && self.sort.is_empty() && self.tree.is_some()
    }

    /// Like [`Self::is_plain`], but DISTINCT and ORDER BY are allowed.
    pub fn is_joinable(&self) -> bool {
        self.is_plain_list() && self.tree.is_some() && !self.project.iter().chain(&self.filter).any(expr::is_volatile)
    }

    /// Could the select list be left out without changing the number of rows, except for DISTINCT?
    pub fn is_plain_list(&self) -> bool {
        self.grouping.is_none()
            && self.having.is_none()
            && self.windows.is_empty()
            && self.limit.is_none()
            && !self.project.iter().any(assigns)
    }

    /// Removes the sort keys of a block in which nothing but the order depends on them.
    pub fn take_order(&mut self) -> Vec<(Expr, bool)> {
        if self.sort.is_empty() || self.limit.is_some() || self.distinct || self.aggregates() {
            return Vec::new();
        }
        let key = |key: SortKey| match key.expr.kind {
            ExprKind::Slot(slot) => (self.project[slot].clone(), key.descending),
            _ => (key.expr, key.descending),
        };
        let order = std::mem::take(&mut self.sort).into_iter().map(key).collect();
        self.project.truncate(self.visible);
        order
    }

    /// The same values without duplicates.
    pub fn distinct_values(mut self) -> Self {
        self.project.truncate(self.visible);
        self.sort.clear();
        self.distinct = true;
        self
    }

    /// Adds values after those of the select list.
    pub fn select_more(&mut self, more: Vec<(Expr, Derivation)>) {
        let count = more.len();
        for key in &mut self.sort {
            if let ExprKind::Slot(place) = &mut key.expr.kind
                && *place >= self.visible
            {
                *place += count;
            }
        }
        for (n, (expr, derivation)) in more.into_iter().enumerate() {
            self.columns.push(OutputColumn::new(String::new(), expr.ty.clone(), expr.nullable));
            self.derivations.push(derivation);
            self.project.insert(self.visible + n, expr);
        }
        self.visible += count;
    }

    pub fn aggregates(&self) -> bool {
        self.grouping.is_some() || !self.windows.is_empty()
    }

    pub fn orders(&self) -> bool {
        !self.sort.is_empty() || self.limit.is_some() || self.distinct
    }
}

/// The ORDER BY and LIMIT of a block.
#[derive(Clone, Copy)]
pub(super) struct Tail<'q, 'a> {
    order_by: &'q [OrderItem<'a>],
    limit: Option<&'q ast::Limit<'a>>,
    locking: &'q [ast::LockClause<'a>],
    /// SQL_CALC_FOUND_ROWS applies to this LIMIT.
    counts_all: bool,
}

impl<'q, 'a> Tail<'q, 'a> {
    pub(super) fn of(query: &'q Query<'a>) -> Self {
        Self { order_by: query.order_by, limit: query.limit.as_ref(), locking: query.locking, counts_all: false }
    }

    fn is_empty(&self) -> bool {
        self.order_by.is_empty() && self.limit.is_none()
    }
}

impl Binder<'_> {
    pub(super) fn query_plan(&mut self, query: &Query<'_>) -> Result<QueryPlan> {
        let mut bound = self.bind_query(query)?;
        if let Some(ast::SelectInto::Variables(_)) = query.into {
            self.with_all_digits(&mut bound);
        }
        self.planned_query(query, bound)
    }

    /// Plans the bound query of a statement.
    pub(super) fn planned_query(&mut self, query: &Query<'_>, mut bound: Bound) -> Result<QueryPlan> {
        if let Bound::Select(select) = &mut bound {
            for (column, expr) in select.columns.iter_mut().zip(&select.project) {
                column.ty.zerofill &= is_shown_as_column(expr, select.grouping.as_ref());
            }
        }
        // A clause without OF covers all tables; `table_locks` handles the others.
        let (locking, lock_wait) = match query.locking.last() {
            Some(clause) if clause.of.is_empty() => (clause.locking, clause.wait),
            _ => (Locking::None, LockWait::Wait),
        };
        let block = self.finish(bound)?;
        let parts = self.parts();
        Ok(QueryPlan { root: block.node, columns: block.columns, parts, locking, lock_wait, params: self.param_count() })
    }

    /// A query expression with its own ORDER BY and LIMIT.
    pub(super) fn query(&mut self, query: &Query<'_>) -> Result<Block> {
        let bound = self.bind_query(query)?;
        self.finish(bound)
    }

    /// Like [`Self::query`], but a SELECT stays unplanned.
    pub(super) fn bind_query(&mut self, query: &Query<'_>) -> Result<Bound> {
        let common_tables = self.common_tables.len();
        let tail = self.tail(query);
        if let Some(with) = &query.with {
            self.with(with)?;
        }
        let bound = self.bind_with_tail(&query.body, tail);
        self.common_tables.truncate(common_tables);
        bound
    }

    pub(super) fn tail<'q, 'a>(&mut self, query: &'q Query<'a>) -> Tail<'q, 'a> {
        let tail = Tail::of(query);
        // Parentheses around the whole query do not make a new query.
        if !self.levels.is_empty() || tail.is_empty() && matches!(query.body, QueryBody::Query(_)) {
            return tail;
        }
        let is_outermost = !std::mem::replace(&mut self.saw_outermost, true);
        Tail { counts_all: is_outermost && query.counts_found_rows(), ..tail }
    }

    fn bind_with_tail(&mut self, body: &QueryBody<'_>, tail: Tail<'_, '_>) -> Result<Bound> {
        let bound = self.bind_body_with_tail(body, tail)?;
        if !matches!(body, QueryBody::SetOperation { .. } | QueryBody::Query(_)) || !tail.is_empty() {
            self.union_blocks = None;
        }
        Ok(bound)
    }

    fn bind_body_with_tail(&mut self, body: &QueryBody<'_>, tail: Tail<'_, '_>) -> Result<Bound> {
        match body {
            QueryBody::Select(select) => Ok(Bound::Select(Box::new(self.bind_select(select, tail)?))),
            QueryBody::Table(name) => {
                let name = ast::TableName { name: *name, alias: None, partitions: &[], as_of: None, hints: &[] };
                let from = [ast::TableRef::Table(&name)];
                let items = [SelectItem::All];
                let select = Select { from: &from, items: &items, ..EMPTY_SELECT };
                let bound = self.bind_select(&select, tail)?;
                self.note_table_star(&items[0], name.name.name);
                Ok(Bound::Select(Box::new(bound)))
            }
            QueryBody::Query(query) if tail.is_empty() => self.bind_query(query),
            // Clauses after the parentheses apply to the query itself, as if there were no parentheses.
            QueryBody::Query(query) if query.order_by.is_empty() && query.limit.is_none() && query.locking.is_empty() => {
                let common_tables = self.common_tables.len();
                if let Some(with) = &query.with {
                    self.with(with)?;
                }
                let bound = self.bind_body_with_tail(&query.body, tail);
                self.common_tables.truncate(common_tables);
                bound
            }
            QueryBody::Query(query) => {
                let block = self.query(query)?;
                Ok(Bound::Block(Box::new(self.finish_slots(block, tail)?)))
            }
            QueryBody::Values(rows) => {
                let block = self.values_rows(rows)?;
                Ok(Bound::Block(Box::new(self.finish_slots(block, tail)?)))
            }
            QueryBody::SetOperation { first, rest } => {
                let block = self.set_operation(first, rest)?;
                Ok(Bound::Block(Box::new(self.finish_slots(block, tail)?)))
            }
        }
    }

    pub(super) fn bind_body(&mut self, body: &QueryBody<'_>) -> Result<Bound> {
        self.bind_with_tail(body, Tail { order_by: &[], limit: None, locking: &[], counts_all: false })
    }

    pub(super) fn body(&mut self, body: &QueryBody<'_>) -> Result<Block> {
        let mut bound = self.bind_body(body)?;
        super::fraction_digits::filled_columns(&mut bound);
        self.finish(bound)
    }

    /// Plans a query that is not planned yet.
    pub(super) fn finish(&mut self, bound: Bound) -> Result<Block> {
        match bound {
            Bound::Select(select) => self.plan_select(*select),
            Bound::Block(block) => Ok(*block),
        }
    }

    fn values_rows(&mut self, rows: &[&[AstExpr<'_>]]) -> Result<Block> {
        self.scope = Scope::new(Vec::new(), Clause::FieldList);
        let mut bound = Vec::with_capacity(rows.len());
        for (n, row) in rows.iter().enumerate() {
            if row.len() != rows[0].len() {
                return Err(Error::ColumnCount { row: n + 1 });
            }
            let mut cells = self.values(row)?;
            self.take_unknown_as_text(&mut cells);
            bound.push(cells);
        }
        let (mut columns, mut derivations) = (Vec::new(), Vec::new());
        for n in 0..rows[0].len() {
            let together: Vec<_> = bound.iter().map(|row| self.derivation_of(&row[n])).collect();
            derivations.push(compare::compared_columns(&together)?);
            let cells = bound.iter().map(|row| &row[n]);
            let ty = typing::stored(&typing::unify(cells.clone(), self.string_collation(derivations[n])));
            let nullable = cells.into_iter().any(|e| e.nullable);
            for row in &mut bound {
                convert_to(&mut row[n], &ty);
            }
            columns.push(OutputColumn::new(format!("column_{n}"), ty, nullable));
        }
        Ok(Block { node: Node::Values { rows: bound }, columns, derivations })
    }

    /// ORDER BY and LIMIT of UNION and VALUES, over slots only.
    pub(super) fn finish_slots(&mut self, block: Block, tail: Tail<'_, '_>) -> Result<Block> {
        if tail.is_empty() {
            return Ok(block);
        }
        let select: Vec<SelectColumn> = block
            .columns
            .iter()
            .enumerate()
            .map(|(n, c)| SelectColumn { name: c.name.clone(), expr: slot(n, c), derivation: block.derivations[n] })
            .collect();
        self.scope = Scope::new(Vec::new(), Clause::OrderBy);
        self.scope.select = select;
        let mut keys = Vec::new();
        for item in tail.order_by {
            if let AstExpr::Column(ast::ColumnName { table: Some(table), .. }) = item.expr {
                return Err(Error::GlobalOrder((*table).to_owned()));
            }
            let expr = self.order_expr(&item.expr)?;
            if is_constant(&expr) {
                continue;
            }
            keys.push(SortKey { expr, descending: item.descending });
        }
        let limit = self.tail_limit(tail)?;
        Ok(Block { node: sorted(block.node, keys, limit), ..block })
    }

    fn bind_select(&mut self, select: &Select<'_>, tail: Tail<'_, '_>) -> Result<BoundSelect> {
        // The definition of a view may contain it, without effect.
        let is_outermost = self.levels.iter().all(|level| level.kind == LevelKind::View);
        let is_first = is_outermost && !std::mem::replace(&mut self.saw_block, true);
        if select.calc_found_rows && !is_first {
            return Err(Error::MisplacedOption("SQL_CALC_FOUND_ROWS"));
        }
        if self.notes.is_some() && !is_first {
            names_without_spaces(select.items)?;
        }
        let mut tree = self.bind_from(select.from)?;
        self.table_locks(tail.locking)?;
        let named_in_from = self.named.len();
        let mut filter = match select.filter {
            Some(expr) => self.in_clause(Clause::Where, |b| b.where_clause(expr, &mut tree, tail.locking.is_empty()))?,
            None => Vec::new(),
        };
        self.find_inserted(&mut filter)?;
        let named_in_where = self.named.len();
        self.scope.aggregates = Some(Vec::new());
        self.scope.windows = Some(Vec::new());
        self.scope.rollup = select.with_rollup;
        self.scope.has_keys = !select.group_by.is_empty();
        self.named_windows(select.windows)?;
        let columns = self.select_items(select.items)?;
        let keys = self.group_by(select.group_by)?;
        self.scope.group_keys = keys;
        let mut having = match select.having {
            Some(expr) => {
                self.scope.aliases = AliasRule::Having;
                let windows = self.scope.windows.take();
                let having = self.in_clause(Clause::Having, |b| b.predicate(expr))?;
                self.scope.windows = windows;
                Some(having)
            }
            None => None,
        };
        let plain = keys_and_aggregates(&self.scope) == 0;
        let mut order = self.order_by(tail.order_by)?;
        let is_lone = self.scope.visible.len() == 1 && self.scope.windows.as_ref().is_none_or(Vec::is_empty);
        if order.is_empty() && plain && having.is_none() && !select.distinct && is_lone {
            order = std::mem::take(&mut self.scope.view_order);
        }
        if let Some(place) = order.iter().position(|(key, _)| plain && holds_aggregate(key)) {
            return Err(Error::AggregateOrder(place + 1));
        }
        let limit = self.tail_limit(tail)?;
        self.push_conditions(&tree, &mut filter)?;
        if !self.scope.correlated.is_empty() && tail.locking.is_empty() && !self.keeps_conditions() {
            let over_rows = plain && having.is_none() && self.scope.windows.as_ref().is_none_or(Vec::is_empty);
            let mut select = std::mem::take(&mut self.scope.select);
            let listed = select.iter_mut().map(|c| &mut c.expr).chain(order.iter_mut().map(|(key, _)| key));
            let mut aggregates = self.scope.aggregates.take();
            let aggregated = aggregates.iter_mut().flatten().flat_map(|aggregate| &mut aggregate.args);
            let mut lists: Vec<&mut Expr> = listed.filter(|_| over_rows).chain(aggregated).collect();
            let outcome = self.decorrelate(&mut tree, &mut filter, &mut lists, &limit);
            self.scope.select = select;
            self.scope.aggregates = aggregates;
            outcome?;
        }

        let aggregates = self.scope.aggregates.take().unwrap_or_default();
        let mut windows = self.scope.windows.take().unwrap_or_default();
        let keys = std::mem::take(&mut self.scope.group_keys);
        let mut project: Vec<Expr> = self.scope.select.iter().map(|c| c.expr.clone()).collect();
        let derivations = self.scope.select.iter().map(|c| c.derivation).collect();
        let grouped = !keys.is_empty() || !aggregates.is_empty();
        let one_row = keys.is_empty() && !aggregates.is_empty();
        let rollup = select.with_rollup && !keys.is_empty();
        let mut grouping = grouped.then(|| {
            let simple = tree.as_ref().filter(|_| !rollup).and_then(|tree| super::depend::simplified(tree, &filter));
            let facts = Facts::of(simple.as_ref().or(tree.as_ref()), &filter);
            self.grouping(keys, aggregates, &facts, rollup)
        });
        if one_row {
            order.clear();
        }
        let vouched: Vec<bool> = order.iter().map(|(key, _)| super::distinct::is_vouched_for(key)).collect();
        if let Some(grouping) = &mut grouping {
            self.rewrite_grouped(grouping, &mut project, having.as_mut(), &mut order)?;
            for (n, window) in windows.iter_mut().enumerate() {
                let reads = |e: &Expr| e.kind == ExprKind::Slot(WINDOW_SLOT + n);
                let position = project.iter().position(|expr| expr.any(&reads)).map_or(1, |place| place + 1);
                for expr in window.exprs_mut() {
                    *expr = grouping.rewrite(self, expr, position, Clause::FieldList)?;
                }
            }
        }
        if grouping.is_none() && project.iter().any(holds_grouping) {
            return Err(Error::InvalidGroupUse);
        }
        let visible = project.len();
        let distinct = select.distinct && !one_row;
        let checked = distinct && self.mode.only_full_group_by;
        let sort = self.sort_keys(&mut project, order, checked.then_some(&vouched), grouping.as_ref())?;
        if distinct {
            project[..visible].iter_mut().for_each(super::fraction_digits::filled);
        }
        let (straight, locking) = (select.straight_join, !tail.locking.is_empty());
        let mut columns = columns;
        let may_have_no_rows = grouping.as_ref().is_some_and(|grouping| grouping.keys.is_empty());
        for (column, expr) in columns.iter_mut().zip(&project) {
            column.nullable |= (rollup || may_have_no_rows) && expr.nullable;
        }
        Ok(BoundSelect {
            tree,
            filter,
            columns,
            derivations,
            project,
            visible,
            grouping,
            having,
            windows,
            sort,
            limit,
            distinct,
            straight,
            rollup,
            locking,
            named_in_from,
            named_in_where,
        })
    }

    /// Plans a SELECT.
    pub(super) fn plan_select(&mut self, mut select: BoundSelect) -> Result<Block> {
        let extremes = match &mut select.grouping {
            Some(grouping) if select.filter.is_empty() && !select.locking => self.extreme_rows(grouping, &select.tree),
            _ => None,
        };
        self.use_computed(&mut select);
        let may_need = select.grouping.is_some() || select.distinct || !select.sort.is_empty();
        let needed = if may_need { select.needed(&FromBlock::new(&self.sources, self.context)) } else { None };
        let BoundSelect { tree, mut filter, columns, derivations, mut project, visible, mut grouping, .. } = select;
        let BoundSelect { having, windows, sort, limit, distinct, straight, rollup, locking, .. } = select;
        let grouped = grouping.is_some();
        let changed = self.changed.iter().map(|changed| changed.table).collect();
        let mut block = FromBlock { straight, keeps_rows: locking, changed, ..FromBlock::new(&self.sources, self.context) };
        let over_sources = project.iter().filter(|_| !grouped).chain(having.iter().filter(|_| !grouped));
        for expr in over_sources.chain(grouping.iter().flat_map(grouping_exprs)).chain(&filter) {
            block.note_used(expr);
        }
        windows.iter().filter(|_| !grouped).flat_map(BoundWindow::exprs).for_each(|expr| block.note_used(expr));
        if let Some(tree) = &tree {
            block.note_used_in_tree(tree);
        }
        let extreme = grouping.as_ref().and_then(|g| extreme_need(g, &tree));
        let sorts = extreme.is_none() && needed.as_ref().is_some_and(|needed| needed.sorts);
        let need = extreme.clone().or_else(|| needed.map(|needed| needed.need));
        if let Some(found) = extreme.as_ref().and(grouping.as_ref()).and_then(not_null) {
            filter.push(found);
        }
        let planned = match (&extremes, &grouping) {
            (Some(needs), Some(grouping)) => plan_extremes(&mut block, grouping, needs),
            _ => None,
        };
        if let (None, Some(needs), Some(grouping)) = (&planned, &extremes, &mut grouping) {
            // The aggregates fall back to one scan of the table.
            for (aggregate, need) in grouping.aggregates.iter_mut().zip(needs) {
                aggregate.args[0].kind = ExprKind::Column { source: needs[0].columns[0].0, column: need.columns[0].1 };
                block.note_used(&aggregate.args[0]);
            }
        }
        let mut planned = planned.unwrap_or_else(|| block.plan_for(tree, filter, need.as_ref(), sorts));
        // Rows come in the order of the groups, or in that of ORDER BY.
        let (in_groups, in_order) = (planned.ordered, planned.ordered && sorts && planned.sorted);
        if extreme.is_some() && planned.ordered {
            // The first row in index order has the extreme value.
            planned.node = first_row(planned.node);
        }
        if let Some(grouping) = grouping {
            let Grouping { keys, aggregates, .. } = grouping;
            let ordered = in_groups && !keys.is_empty();
            planned.node = if rollup {
                rolled_up(planned.node, keys, aggregates, ordered)
            } else {
                Node::Aggregate { input: Box::new(planned.node), keys, aggregates, ordered }
            };
        }
        if let Some(predicate) = having {
            planned.node = Node::Filter { input: Box::new(planned.node), predicate };
        }
        if !windows.is_empty() {
            planned.node = super::window::over_windows(planned.node, windows, &mut project);
        }
        if !in_order && !distinct && !sort.is_empty() && project[..visible].iter().any(assigns) {
            let node = assigned_in_order(planned.node, project, visible, sort, limit);
            return Ok(Block { node, columns, derivations });
        }
        let hidden = project.len() > visible;
        let mut node = Node::Project { input: Box::new(planned.node), exprs: project };
        if distinct {
            let ordered = in_groups && need.as_ref().is_some_and(|need| !need.groups.is_empty()) && !grouped;
            node = Node::Distinct { input: Box::new(node), columns: visible, ordered };
        }
        node = sorted(node, if in_order { Vec::new() } else { sort }, limit);
        if hidden {
            node = Node::Trim { input: Box::new(node), columns: visible };
        }
        Ok(Block { node, columns, derivations })
    }

    fn rewrite_grouped(
        &self,
        grouping: &mut Grouping,
        project: &mut [Expr],
        having: Option<&mut Expr>,
        order: &mut [(Expr, bool)],
    ) -> Result<()> {
        grouping.settle_levels()?;
        for (n, expr) in project.iter_mut().enumerate() {
            let key = self.scope.group_places.iter().find(|(place, _)| *place == n);
            *expr = match key {
                Some((_, key)) => grouping.key_slot(*key),
                None => grouping.rewrite(self, expr, n + 1, Clause::FieldList)?,
            };
        }
        if let Some(expr) = having {
            *expr = grouping.rewrite(self, expr, 1, Clause::Having)?;
        }
        for (n, (expr, _)) in order.iter_mut().enumerate() {
            *expr = grouping.rewrite(self, expr, n + 1, Clause::OrderBy)?;
        }
        Ok(())
    }

    fn group_by(&mut self, items: &[OrderItem<'_>]) -> Result<Vec<Expr>> {
        let mut keys: Vec<Expr> = Vec::with_capacity(items.len());
        let (aggregates, windows) = (self.scope.aggregates.take(), self.scope.windows.take());
        let outer = std::mem::replace(&mut self.scope.clause, Clause::GroupBy);
        self.scope.aliases = AliasRule::AfterColumns;
        for item in items {
            if let AstExpr::Column(name) = &item.expr
                && name.table.is_none()
            {
                // The name must be unique in the select list.
                self.find_alias(name.name)?;
            }
            let key = match &item.expr {
                AstExpr::Literal(Literal::Int(position)) => self.positional(*position, Clause::GroupBy)?,
                expr => self.value(expr).or_else(|error| self.selected_instead(expr, error)).map_err(|error| match error {
                    Error::InvalidGroupUse => Error::WrongGroupField(expr.to_string()),
                    error => error,
                })?,
            };
            if holds_grouping(&key) {
                return Err(Error::WrongGroupField("GROUPING function".into()));
            }
            if holds_aggregate(&key) || windows_in(&key) {
                return Err(Error::WrongGroupField(self.name_of(&key, &item.expr)));
            }
            if self.scope.rollup
                && let Some(place) = self.place_of(&key, &item.expr)
            {
                self.scope.group_places.push((place, keys.len()));
            }
            // With ROLLUP, a repeated key is a level of its own.
            if self.scope.rollup || !keys.contains(&key) {
                keys.push(key);
            }
        }
        self.scope.aliases = AliasRule::Never;
        self.scope.clause = outer;
        self.scope.aggregates = aggregates;
        self.scope.windows = windows;
        Ok(keys)
    }

    /// A bare name that several tables have resolves to the one that is selected.
    fn selected_instead(&mut self, written: &AstExpr<'_>, error: Error) -> Result<Expr> {
        match (written, error) {
            (AstExpr::Column(column), error @ Error::AmbiguousColumn { .. }) if column.table.is_none() => {
                self.find_alias(column.name)?.ok_or(error)
            }
            (_, error) => Err(error),
        }
    }

    /// The first select item that GROUP BY names, by position or by name.
    fn place_of(&self, key: &Expr, written: &AstExpr<'_>) -> Option<usize> {
        let name = match written {
            AstExpr::Literal(Literal::Int(position)) => &self.scope.select[*position as usize - 1].name,
            AstExpr::Column(column) if column.table.is_none() => column.name,
            _ => return None,
        };
        self.scope.select.iter().position(|entry| entry.expr == *key && entry.name.eq_ignore_ascii_case(name))
    }

    fn name_of(&self, key: &Expr, written: &AstExpr<'_>) -> String {
        let entry = self.scope.select.iter().find(|s| s.expr == *key);
        entry.map_or_else(|| written.to_string(), |s| s.name.clone())
    }

    /// `GROUP BY 2`, `ORDER BY 1`
    fn positional(&self, position: u64, clause: Clause) -> Result<Expr> {
        let index = usize::try_from(position).ok().and_then(|p| p.checked_sub(1));
        let entry = index.and_then(|i| self.scope.select.get(i));
        entry.map(|s| s.expr.clone()).ok_or_else(|| Error::UnknownColumn { name: position.to_string(), clause })
    }

    fn order_by(&mut self, items: &[OrderItem<'_>]) -> Result<Vec<(Expr, bool)>> {
        let outer = std::mem::replace(&mut self.scope.clause, Clause::OrderBy);
        let mut keys: Vec<(Expr, bool)> = Vec::with_capacity(items.len());
        for item in items {
            let expr = self.order_expr(&item.expr)?;
            // A constant orders nothing, and neither does a key that occurred before.
            if !is_constant(&expr) && !keys.iter().any(|(k, _)| *k == expr) {
                keys.push((expr, item.descending));
            }
        }
        self.scope.clause = outer;
        Ok(keys)
    }

    /// A key of ORDER BY: a position, a select item's name (before a column), or an expression.
    fn order_expr(&mut self, expr: &AstExpr<'_>) -> Result<Expr> {
        self.scope.aliases = AliasRule::AfterColumns;
        let bound = match expr {
            AstExpr::Literal(Literal::Int(position)) => self.positional(*position, Clause::OrderBy)?,
            AstExpr::Column(name) if name.table.is_none() => match self.find_alias(name.name)? {
                Some(found) => found,
                None => self.value(expr)?,
            },
            _ => self.value(expr)?,
        };
        self.scope.aliases = AliasRule::Never;
        Ok(bound)
    }

    /// Sort keys over the projected slots. Keys that are not selected are projected after the select list. `distinct`:
    /// keys must be selected, except inside ANY_VALUE().
    fn sort_keys(
        &self,
        project: &mut Vec<Expr>,
        order: Vec<(Expr, bool)>,
        distinct: Option<&Vec<bool>>,
        grouping: Option<&Grouping>,
    ) -> Result<Vec<SortKey>> {
        // If all group keys are selected, the rows are distinct already.
        let differs = grouping.is_some_and(|grouping| grouping.are_keys_in(project));
        let vouched = distinct.filter(|_| !differs);
        let mut keys = Vec::with_capacity(order.len());
        for (n, (expr, descending)) in order.into_iter().enumerate() {
            let mut sorted_by = expr.clone();
            super::operand::enum_as_number(&mut sorted_by);
            let place = project.iter().position(|p| *p == sorted_by);
            let place = match place {
                Some(place) => place,
                None => {
                    let checked = vouched.is_some_and(|vouched| !vouched[n]);
                    if checked && let Some(unselected) = self.unselected(&expr, project, grouping) {
                        return Err(match unselected {
                            super::distinct::Unselected::Aggregate => Error::AggregateOrderNotInDistinct { expression: n + 1 },
                            super::distinct::Unselected::Column(column) => {
                                Error::OrderNotInDistinct { expression: n + 1, column }
                            }
                        });
                    }
                    project.push(sorted_by.clone());
                    project.len() - 1
                }
            };
            let expr = Expr { kind: ExprKind::Slot(place), ty: sorted_by.ty, nullable: sorted_by.nullable };
            keys.push(SortKey { expr, descending });
        }
        Ok(keys)
    }

    fn tail_limit(&mut self, tail: Tail<'_, '_>) -> Result<Option<LimitPlan>> {
        let counts_all = tail.counts_all;
        let limit = self.limit(tail.limit)?.or(counts_all.then_some(LimitPlan { offset: None, count: None, counts_all }));
        Ok(limit.map(|limit| LimitPlan { counts_all, ..limit }))
    }

    pub(super) fn limit(&mut self, limit: Option<&ast::Limit<'_>>) -> Result<Option<LimitPlan>> {
        let Some(limit) = limit else { return Ok(None) };
        let mut number = |expr: &AstExpr<'_>| -> Result<Expr> {
            let mut bound = self.in_clause(Clause::Limit, |b| b.value(expr))?;
            match super::adopt::adopt_count(self.context, &mut bound)? {
                Count::Negative => Err(Error::OutOfRange { kind: "unsigned integer", expression: "EXECUTE".to_owned() }),
                Count::Good | Count::Null => Ok(bound),
            }
        };
        let offset = limit.offset.as_ref().map(&mut number).transpose()?;
        Ok(Some(LimitPlan { offset, count: Some(number(&limit.count)?), counts_all: false }))
    }
}

/// 1166: the query of a view may not have column names that end with a space, unless the view renames its columns.
pub(super) fn names_without_spaces(items: &[SelectItem<'_>]) -> Result<()> {
    for item in items {
        if let SelectItem::Expr { alias: Some(alias), .. } = item
            && alias.ends_with(' ')
        {
            return Err(Error::WrongName { kind: NameKind::Column, name: (*alias).to_owned() });
        }
    }
    Ok(())
}

/// Binds the WHERE of a SHOW statement: names are columns of the result, and become slots.
pub fn bind_show_filter(
    filter: &AstExpr<'_>,
    columns: &[OutputColumn],
    params: usize,
    context: &dyn BindContext,
) -> Result<Expr> {
    let mut binder = Binder::new(context, params, 0);
    binder.scope.clause = Clause::Where;
    binder.scope.aliases = AliasRule::AfterColumns;
    binder.scope.select = columns
        .iter()
        .enumerate()
        .map(|(n, c)| {
            let expr = slot(n, c);
            let derivation = binder.derivation_of(&expr);
            SelectColumn { name: c.name.clone(), expr, derivation }
        })
        .collect();
    let bound = binder.predicate(filter)?;
    if binder.subqueries.is_empty() {
        Ok(bound)
    } else {
        // Only the shown rows exist; there is nothing else to run a subquery over.
        Err(Error::NotSupported("subqueries and stored functions in the WHERE of SHOW".to_owned()))
    }
}

const EMPTY_SELECT: Select<'static> = Select {
    distinct: false,
    straight_join: false,
    calc_found_rows: false,
    items: &[],
    from: &[],
    filter: None,
    group_by: &[],
    with_rollup: false,
    having: None,
    windows: &[],
};

/// The name of a column without an alias: the column's name, a string literal's text, or else the expression as
/// written.
pub(crate) fn column_name(expr: &AstExpr<'_>, alias: Option<&str>, text: &str) -> String {
    match (alias, expr) {
        (Some(alias), _) => alias.to_owned(),
        (None, AstExpr::Column(name)) => name.name.to_owned(),
        (None, AstExpr::Literal(Literal::Null)) => "NULL".to_owned(),
        // The parser drops a plus sign.
        (None, AstExpr::Unary { op: ast::UnaryOp::Plus, arg })
            if matches!(arg, AstExpr::Column(_) | AstExpr::Literal(Literal::Null)) =>
        {
            column_name(arg, None, text)
        }
        (None, AstExpr::Literal(Literal::String(literal))) => String::from_utf8_lossy(literal.bytes).into_owned(),
        _ => text.to_owned(),
    }
}

pub(super) fn slot(n: usize, column: &OutputColumn) -> Expr {
    Expr { kind: ExprKind::Slot(n), ty: typing::stored(&column.ty), nullable: column.nullable }
}

fn is_constant(expr: &Expr) -> bool {
    constant(expr).is_some() || matches!(expr.kind, ExprKind::Param(_))
}

fn holds_aggregate(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Slot(n) if (AGGREGATE_SLOT..WINDOW_SLOT).contains(&n))
        || expr.parts().into_iter().any(holds_aggregate)
}

pub(super) fn windows_in(expr: &Expr) -> bool {
    expr.any(&|e| matches!(e.kind, ExprKind::Slot(n) if n >= WINDOW_SLOT))
}

fn grouping_exprs(grouping: &Grouping) -> impl Iterator<Item = &Expr> {
    let args = grouping.aggregates.iter().flat_map(|a| a.args.iter().chain(a.order.iter().map(|(e, _)| e)));
    grouping.keys.iter().chain(args)
}

/// Is a value shown like the column that it comes from, with leading zeros? Aggregates over all rows, functions and
/// subqueries are not.
fn is_shown_as_column(expr: &Expr, grouping: Option<&Grouping>) -> bool {
    match &expr.kind {
        ExprKind::Column { .. } | ExprKind::ColumnOrdinal { .. } => true,
        ExprKind::Slot(_) => grouping.is_some_and(|grouping| !grouping.keys.is_empty()),
        _ => false,
    }
}

fn keys_and_aggregates(scope: &Scope) -> usize {
    scope.group_keys.len() + scope.aggregates.as_ref().map_or(0, Vec::len)
}

/// WITH ROLLUP: groups of rows sorted by the keys, with their subtotals.
fn rolled_up(input: Node, keys: Vec<Expr>, mut aggregates: Vec<Aggregate>, ordered: bool) -> Node {
    let sort = (0..keys.len()).zip(&keys).map(|(n, key)| {
        let expr = Expr { kind: ExprKind::Slot(n), ty: key.ty.clone(), nullable: key.nullable };
        SortKey { expr, descending: false }
    });
    let sort: Vec<SortKey> = sort.collect();
    let mut below = keys;
    let keys = sort.iter().map(|key| key.expr.clone()).collect();
    for aggregate in &mut aggregates {
        let order = aggregate.order.iter_mut().map(|(expr, _)| expr);
        aggregate.args.iter_mut().chain(order).for_each(|expr| read_from_slots(expr, &mut below));
    }
    let project = Node::Project { input: Box::new(input), exprs: below };
    let sorted = if ordered { project } else { Node::Sort { input: Box::new(project), keys: sort, limit: None } };
    Node::Rollup { input: Box::new(sorted), keys, aggregates }
}

fn assigns(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::AssignVariable { .. }) || expr.parts().into_iter().any(assigns)
}

/// A select list that assigns variables is evaluated in the order of the result, so that `@n := @n + 1` numbers the
/// rows. Its inputs are sorted first, and the list is evaluated above the sort.
fn assigned_in_order(
    input: Node,
    mut project: Vec<Expr>,
    visible: usize,
    mut sort: Vec<SortKey>,
    limit: Option<LimitPlan>,
) -> Node {
    let keys = sort.iter().map(|key| match key.expr.kind {
        ExprKind::Slot(slot) => project[slot].clone(),
        _ => key.expr.clone(),
    });
    let mut below: Vec<Expr> = keys.collect();
    for (n, key) in sort.iter_mut().enumerate() {
        key.expr.kind = ExprKind::Slot(n);
    }
    project.truncate(visible);
    project.iter_mut().for_each(|expr| read_from_slots(expr, &mut below));
    let sorted = sorted(Node::Project { input: Box::new(input), exprs: below }, sort, limit);
    Node::Project { input: Box::new(sorted), exprs: project }
}

/// Replaces the columns (or keys and aggregates) that an expression reads by slots of the projection `below`.
pub(super) fn read_from_slots(expr: &mut Expr, below: &mut Vec<Expr>) {
    if matches!(expr.kind, ExprKind::Slot(n) if n >= WINDOW_SLOT) {
        return;
    }
    if matches!(expr.kind, ExprKind::Column { .. } | ExprKind::ColumnOrdinal { .. } | ExprKind::Slot(_)) {
        let place = below.iter().position(|e| e == expr).unwrap_or_else(|| {
            below.push(expr.clone());
            below.len() - 1
        });
        expr.kind = ExprKind::Slot(place);
        return;
    }
    expr.parts_mut().into_iter().for_each(|child| read_from_slots(child, below));
}

/// Sort and Limit above a node; one operator for both if not all rows are counted.
fn sorted(node: Node, keys: Vec<SortKey>, limit: Option<LimitPlan>) -> Node {
    match (keys.is_empty(), limit) {
        (true, None) => node,
        (true, Some(limit)) => Node::Limit { input: Box::new(node), limit },
        (false, None) => Node::Sort { input: Box::new(node), keys, limit: None },
        (false, Some(limit)) => {
            let sort = Node::Sort { input: Box::new(node), keys, limit: Some(limit.clone()).filter(|limit| !limit.counts_all) };
            Node::Limit { input: Box::new(sort), limit }
        }
    }
}

fn converts_nothing(columns: &[OutputColumn], types: &[ColumnType]) -> bool {
    columns.iter().zip(types).all(|(column, ty)| same_representation(&column.ty, ty))
}

/// Do both types represent a value alike?
fn same_representation(from: &ColumnType, to: &ColumnType) -> bool {
    if from == to {
        return true;
    }
    match (class(from), class(to)) {
        (Class::Null, _) => true,
        (Class::Integer, Class::Integer) => from.unsigned == to.unsigned && from.kind != TypeKind::Year,
        // ENUM and SET values are compared by number, which other strings do not have.
        (Class::String, Class::String) if matches!(from.kind, TypeKind::Enum { .. } | TypeKind::Set { .. }) => false,
        (Class::String, Class::String) => {
            from.collation == to.collation && (from.kind == to.kind || !matches!(to.kind, TypeKind::Binary { .. }))
        }
        (Class::Double, Class::Double) => from.kind == to.kind,
        _ => false,
    }
}

pub(super) fn convert_to(expr: &mut Expr, ty: &ColumnType) {
    if same_representation(&expr.ty, ty) {
        return;
    }
    let nullable = expr.nullable;
    let inner = std::mem::replace(expr, Expr::literal(Value::Null, ColumnType::new(TypeKind::Null)));
    *expr = Expr { kind: ExprKind::Cast(Box::new(inner)), ty: ty.clone(), nullable };
}

/// The node with its slots converted to these types.
pub(super) fn converted(node: Node, columns: &[OutputColumn], types: &[ColumnType]) -> Node {
    if converts_nothing(columns, types) {
        return node;
    }
    let exprs = columns.iter().enumerate().map(|(n, column)| {
        let mut expr = super::operand::as_stored_text(slot(n, column), &types[n]);
        convert_to(&mut expr, &types[n]);
        expr
    });
    let exprs = exprs.collect();
    Node::Project { input: Box::new(node), exprs }
}
