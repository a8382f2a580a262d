//! Decorrelation: turns a correlated scalar subquery of aggregates into a join with a grouped derived table.
//!
//! ```text
//! SELECT ... FROM t WHERE t.x > (SELECT AVG(u.x) FROM u WHERE u.a = t.a AND u.y > 5)
//! SELECT ... FROM t LEFT JOIN (SELECT u.a, AVG(u.x) v FROM u WHERE u.y > 5 GROUP BY u.a) d ON d.a = t.a WHERE t.x > d.v
//! ```
//! 1. [`Binder::correlated_aggregate`] notes a candidate while it binds the subquery: the subquery gives one row of
//!    aggregates, and reads the outer row only in equalities of its own WHERE.
//! 2. When the outer block is bound, [`Binder::decorrelate`] compares two costs. Correlated: one run of the subquery
//!    per outer row, or per distinct list of arguments if there are fewer of these. Decorrelated: one run over all
//!    groups, and a hash table of the groups.
//!
//! EXISTS is treated the same if its WHERE has equalities with the outer row and at most one other comparison. Only the
//! minimum or the maximum of a group matters to that comparison: EXISTS (... u.a = t.a AND u.x > t.x) becomes MAX(u.x)
//! > t.x of the group. Without an equality there is one group.
//!
//! G1: the derived table has at most one row per value of the keys, so the join adds no rows. A NULL key matches
//!     nothing, in the subquery as in the join.
//! G2: each key has the type of the expression that it is compared with, and the comparison uses the collation of the
//!     grouping.
//! G3: an outer row without a group gets the value that the aggregates have over no rows: 0 for COUNT, NULL for the
//!     others, and what the select expression makes of these.

use super::depend::Facts;
use super::derived::{column_def, stored, table_def};
use super::from::{Source, SourceKind};
use super::order::limit_rows;
use super::query::{Block, BoundSelect};
use super::subquery::replace_columns;
use super::{Binder, Level};
use crate::error::Result;
use crate::plan::{JoinKind, LimitPlan, Node, OutputColumn, SubqueryKeep};
use crate::planner::{FromBlock, JOINED_TABLES_MAX, JoinTree, estimate, hashes_alike, tree_sources};
use expr::is_volatile;
use expr::typing;
use expr::{Aggregate, AggregateFunction, ArithmeticOp, CompareAs, CompareOp, Expr, ExprKind};
use types::{TypeKind, Value};

/// Storing one row in a hash table and looking it up once.
const KEPT_COST: f64 = 3.0;
/// Starting the operators of a subquery once.
const RUN_COST: f64 = 5.0;

/// A candidate: a subquery that may become a join.
#[derive(Clone, Debug)]
pub(crate) struct Correlated {
    /// Its number in the statement.
    id: usize,
    /// Its query: one row of aggregates.
    select: BoundSelect,
    /// The outer columns that it reads, and the source that stands for them inside.
    args: Vec<Expr>,
    args_source: usize,
    /// The positions of the conjuncts of its filter that read the outer row: its keys.
    conditions: Vec<usize>,
    shape: Shape,
}

/// The value of the subquery in the outer block.
#[derive(Clone, Debug)]
enum Shape {
    /// The value that it selects.
    Value,
    /// EXISTS: is there a group, and do the minimum and maximum of the group satisfy the comparison?
    Exists { negated: bool, compared: Option<Compared> },
}

/// `inner op outer`
#[derive(Clone, Debug)]
struct Compared {
    op: CompareOp,
    by: CompareAs,
    outer: Expr,
}

impl Correlated {
    /// Is there only a comparison with the outer row, and no key?
    pub fn is_lone_bound(&self) -> bool {
        self.conditions.is_empty()
    }
}

impl Binder<'_> {
    /// Returns a scalar subquery that is not planned yet, if it may become a join.
    pub(super) fn correlated_aggregate(&self, select: &BoundSelect, level: &Level) -> Option<Correlated> {
        let grouping = select.grouping.as_ref()?;
        let is_one_row =
            grouping.keys.is_empty() && select.having.is_none() && select.limit.is_none() && select.windows.is_empty();
        if !is_one_row || select.project.len() != 1 || !grouping.aggregates.iter().all(has_value_of_none) {
            return None;
        }
        let aggregated = grouping.aggregates.iter().flat_map(Aggregate::exprs);
        let (args_source, conditions) = self.correlation(select, level, select.project.iter().chain(aggregated))?;
        let are_keys = conditions.iter().all(|n| key_of(&select.filter[*n], args_source).is_some());
        let (select, args) = (select.clone(), level.args.clone());
        are_keys.then_some(Correlated { id: 0, select, args, args_source, conditions, shape: Shape::Value })
    }

    /// Returns an EXISTS that is not planned yet, if it may become a join: its WHERE has equalities with the outer row
    /// and at most one other comparison.
    pub(super) fn correlated_exists(&self, select: &BoundSelect, level: &Level, negated: bool) -> Option<Correlated> {
        if !self.context.switches().subquery_to_derived || !select.is_joinable() {
            return None;
        }
        let (args_source, mut conditions) = self.correlation(select, level, [].iter())?;
        let mut bounds = conditions.extract_if(.., |n| key_of(&select.filter[*n], args_source).is_none());
        let (bound, more) = (bounds.next(), bounds.next());
        drop(bounds);
        if more.is_some() {
            return None;
        }
        let mut select = select.clone();
        let (mut aggregates, mut compared) = (Vec::new(), None);
        if let Some(place) = bound {
            let (inner, found) = bound_of(&select.filter[place], args_source)?;
            let extreme = |function| {
                let (args, ty) = (vec![inner.clone()], inner.ty.clone());
                Aggregate { function, args, distinct: false, order: Vec::new(), separator: Vec::new(), ty, nullable: true }
            };
            aggregates = match found.op {
                CompareOp::Less | CompareOp::LessOrEqual => vec![extreme(AggregateFunction::Min)],
                CompareOp::Greater | CompareOp::GreaterOrEqual => vec![extreme(AggregateFunction::Max)],
                _ => vec![extreme(AggregateFunction::Min), extreme(AggregateFunction::Max)],
            };
            let mut outer = found.outer.clone();
            replace_columns(&mut outer, args_source, &level.args);
            compared = Some(Compared { outer, ..found });
            select.filter.remove(place);
            conditions.iter_mut().filter(|n| **n > place).for_each(|n| *n -= 1);
        }
        let slots = aggregates.iter().enumerate();
        select.project = slots.map(|(n, a)| Expr { kind: ExprKind::Slot(n), ty: a.ty.clone(), nullable: true }).collect();
        select.sort.clear();
        select.distinct = false;
        select.grouping = Some(self.grouping(Vec::new(), aggregates, &Facts::default(), false));
        let shape = Shape::Exists { negated, compared };
        Some(Correlated { id: 0, select, args: level.args.clone(), args_source, conditions, shape })
    }

    /// Finds the source of the subquery's outer columns, and the conjuncts that read it. `None`: something else reads
    /// it, or the subquery is not deterministic.
    fn correlation<'e>(
        &self,
        select: &'e BoundSelect,
        level: &Level,
        selected: impl Iterator<Item = &'e Expr>,
    ) -> Option<(usize, Vec<usize>)> {
        let args_source = level.args_source?;
        if select.locking || !level.resets.is_empty() || level.args.is_empty() {
            return None;
        }
        let acts = |expr: &Expr| {
            is_volatile(expr) || expr.any(&|e| matches!(e.kind, ExprKind::AssignVariable { .. } | ExprKind::UserVariable(_)))
        };
        let (mut inside, mut sources) = (Vec::new(), Vec::new());
        let tree = select.tree.as_ref()?;
        tree.conditions(&mut inside);
        tree_sources(tree, &mut sources);
        inside.extend(selected);
        if inside.into_iter().any(|expr| reads(expr, args_source) || acts(expr)) || select.filter.iter().any(acts) {
            return None;
        }
        if sources.iter().any(|s| self.sources[*s].reads().iter().any(|(read, _)| *read == args_source)) {
            return None;
        }
        let is_column = |arg: &Expr| !arg.any(&|e| matches!(e.kind, ExprKind::Slot(_) | ExprKind::Subquery(_)));
        if !level.args.iter().all(|arg| is_column(arg) && !acts(arg)) {
            return None;
        }
        Some((args_source, (0..select.filter.len()).filter(|n| reads(&select.filter[*n], args_source)).collect()))
    }

    /// Notes a candidate under its number.
    pub(super) fn note_correlated(&mut self, correlated: Option<Correlated>, id: usize) {
        if let Some(correlated) = correlated {
            self.scope.correlated.push(Correlated { id, ..correlated });
        }
    }

    /// Turns each candidate of the block into a join if that is cheaper. `lists`: expressions that are computed for
    /// each row that passes the filter; in a grouped block these are the arguments of aggregates only.
    pub(super) fn decorrelate(
        &mut self,
        tree: &mut Option<JoinTree>,
        filter: &mut [Expr],
        lists: &mut [&mut Expr],
        limit: &Option<LimitPlan>,
    ) -> Result<()> {
        let found = std::mem::take(&mut self.scope.correlated);
        for correlated in found {
            let id = correlated.id;
            let is_it = |e: &Expr| matches!(&e.kind, ExprKind::Subquery(subquery) if subquery.id == id);
            let in_filter = filter.iter().any(|expr| expr.any(&is_it));
            let in_lists = lists.iter().any(|expr| expr.any(&is_it));
            let Some(around) = tree.as_ref().filter(|tree| {
                (in_filter || in_lists) && reads_within(&correlated.args, tree) && tree.tables() < JOINED_TABLES_MAX
            }) else {
                continue;
            };
            let mut runs = self.runs(around, filter, &correlated.args);
            if !in_filter && let Some(limit) = limit_rows(limit) {
                runs = runs.min(limit);
            }
            let cost = runs * (estimate(&self.subqueries[id].root).cost + RUN_COST);
            let Some((on, value)) = self.grouped(correlated, cost)? else { continue };
            filter.iter_mut().for_each(|expr| replace(expr, id, &value));
            lists.iter_mut().for_each(|expr| replace(expr, id, &value));
            self.subqueries[id].root = Node::OneRow;
            self.subqueries[id].keep = SubqueryKeep::Exists;
            let derived = JoinTree::Table(self.sources.len() - 1);
            let around = tree.take().expect("looked at above");
            *tree = Some(JoinTree::Left { left: Box::new(around), right: Box::new(derived), on, kind: JoinKind::Left });
        }
        Ok(())
    }

    /// How many times the subquery would run: once per row of the block, or once per distinct list of its arguments.
    fn runs(&self, tree: &JoinTree, filter: &[Expr], args: &[Expr]) -> f64 {
        let has_subquery = |expr: &Expr| expr.any(&|e| matches!(e.kind, ExprKind::Subquery(_)));
        let filter: Vec<Expr> = filter.iter().filter(|expr| !has_subquery(expr)).cloned().collect();
        let mut block = FromBlock::new(&self.sources, self.context);
        filter.iter().for_each(|expr| block.note_used(expr));
        block.note_used_in_tree(tree);
        let rows = estimate(&block.plan(Some(tree.clone()), filter, None).node).rows;
        let distinct = args.iter().map(|arg| match arg.kind {
            ExprKind::Column { source, column } => block.distinct((source, column)).unwrap_or(rows),
            _ => rows,
        });
        rows.min(distinct.product()).max(1.0)
    }

    /// Adds the grouped subquery as the last source. Returns the join predicates and the value of the subquery. `None`:
    /// it costs more than `cost`.
    fn grouped(&mut self, correlated: Correlated, cost: f64) -> Result<Option<(Vec<Expr>, Expr)>> {
        let Correlated { mut select, args, args_source, conditions, shape, .. } = correlated;
        if conditions.is_empty() && !matches!(shape, Shape::Exists { compared: Some(_), .. }) {
            // The outer columns occur in its select list only, so there are no keys.
            return Ok(None);
        }
        let source = self.sources.len();
        let (mut on, mut rest, mut keys) = (Vec::new(), Vec::new(), Vec::<Expr>::new());
        for (n, mut condition) in std::mem::take(&mut select.filter).into_iter().enumerate() {
            if !conditions.contains(&n) {
                rest.push(condition);
                continue;
            }
            let (key, is_left) = key_of(&condition, args_source).expect("judged when it was noted");
            let key = key.clone();
            let column = keys.iter().position(|known| *known == key).unwrap_or(keys.len());
            let shown = Expr { kind: ExprKind::Column { source, column }, ty: key.ty.clone(), nullable: true };
            if let ExprKind::Compare { left, right, .. } = &mut condition.kind {
                **(if is_left { left } else { right }) = shown;
            }
            replace_columns(&mut condition, args_source, &args);
            on.push(condition);
            if column == keys.len() {
                keys.push(key);
            }
        }
        select.filter = rest;
        let grouping = select.grouping.as_mut().expect("judged when it was noted");
        let of_none = select.project.first().and_then(|value| value_of_none(value, &grouping.aggregates));
        let count = keys.len();
        let mut project: Vec<Expr> =
            keys.iter().enumerate().map(|(n, key)| Expr { kind: ExprKind::Slot(n), ..key.clone() }).collect();
        select.project.iter_mut().for_each(|value| shift_slots(value, count));
        project.append(&mut select.project);
        grouping.keys = keys;
        let columns = project.iter().enumerate();
        select.columns = columns.map(|(n, e)| OutputColumn::new(format!("#{n}"), e.ty.clone(), e.nullable)).collect();
        select.visible = project.len();
        select.derivations = vec![select.derivations[0]; project.len()];
        select.project = project;
        let columns = select.columns.iter().map(|c| column_def(c.name.clone(), c.ty.clone(), c.nullable)).collect();
        let block: Block = self.plan_select(select)?;
        let whole = estimate(&block.node);
        if whole.cost + whole.rows * KEPT_COST >= cost {
            return Ok(None);
        }
        let kind: SourceKind = stored(block, Vec::new(), Some((0..count).collect()));
        let mut derived = Source::new(table_def("<subquery>", columns), "<subquery>", kind);
        derived.nullable = true;
        self.sources.push(derived);
        Ok(Some((on, self.shown(source, count, of_none, shape))))
    }

    /// The value of the subquery, over the columns of a source: `count` keys, then values.
    fn shown(&self, source: usize, count: usize, of_none: Option<Expr>, shape: Shape) -> Expr {
        let table = &self.sources[source].table;
        let column = |column: usize| {
            let ty = table.columns[column].ty.clone();
            Expr { kind: ExprKind::Column { source, column }, ty, nullable: true }
        };
        let truth = |kind| Expr { kind, ty: typing::boolean(), nullable: false };
        let is_null = |negated| truth(ExprKind::IsNull { arg: Box::new(column(0)), negated });
        match (shape, of_none) {
            // An outer row without a group reads NULL from the column.
            (Shape::Value, None) => column(count),
            // G3
            (Shape::Value, Some(of_none)) => {
                let found = column(count);
                let ty = found.ty.clone();
                let kind = ExprKind::Case { whens: vec![(is_null(false), of_none)], otherwise: Some(Box::new(found)) };
                Expr { kind, ty, nullable: true }
            }
            (Shape::Exists { negated, compared: None }, _) => is_null(!negated),
            (Shape::Exists { negated, compared: Some(Compared { op, by, outer }) }, _) => {
                let compare = |n: usize| {
                    let (left, right) = (Box::new(column(count + n)), Box::new(outer.clone()));
                    Expr { nullable: true, ..truth(ExprKind::Compare { op, by, left, right }) }
                };
                let compared = match table.columns.len() - count {
                    1 => compare(0),
                    _ => Expr { nullable: true, ..truth(ExprKind::Or(vec![compare(0), compare(1)])) },
                };
                // Without a group, or with NULL, nothing exists.
                truth(ExprKind::IsTruth { arg: Box::new(compared), truth: true, negated })
            }
        }
    }
}

fn reads(expr: &Expr, of: usize) -> bool {
    expr.any(&|e| matches!(e.kind, ExprKind::Column { source, .. } | ExprKind::ColumnOrdinal { source, .. } if source == of))
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column { .. } | ExprKind::ColumnOrdinal { .. })
}

/// The inner side of an equality with the outer row, and whether it is on the left (G2).
fn key_of(condition: &Expr, args: usize) -> Option<(&Expr, bool)> {
    match &condition.kind {
        ExprKind::Compare { op: CompareOp::Equal, .. } => inner_side(condition, args),
        _ => None,
    }
}

/// The inner side of an inequality with the outer row, and the comparison as seen from that side.
fn bound_of(condition: &Expr, args: usize) -> Option<(Expr, Compared)> {
    let ExprKind::Compare { op, by, left, right } = &condition.kind else { return None };
    let (inner, is_left) = inner_side(condition, args)?;
    if *op == CompareOp::NullSafeEqual || matches!(inner.ty.kind, TypeKind::Enum { .. } | TypeKind::Set { .. }) {
        return None;
    }
    let (op, outer) = if is_left { (*op, right) } else { (op.mirrored(), left) };
    Some((inner.clone(), Compared { op, by: *by, outer: (**outer).clone() }))
}

/// The side of a comparison that does not read the outer row, and whether it is on the left. The other side must read
/// nothing but the outer row (G2).
fn inner_side(condition: &Expr, args: usize) -> Option<(&Expr, bool)> {
    let ExprKind::Compare { by, left, right, .. } = &condition.kind else { return None };
    let has_subquery = |expr: &Expr| expr.any(&|e| matches!(e.kind, ExprKind::Subquery(_)));
    if !hashes_alike(*by, &left.ty, &right.ty) || has_subquery(condition) {
        return None;
    }
    let is_inside = |expr: &Expr| !reads(expr, args) && expr.any(&is_column);
    let is_outside = |expr: &Expr| !expr.any(&|e| is_column(e) && !reads(e, args));
    match (reads(left, args), reads(right, args)) {
        (false, true) if is_inside(left) && is_outside(right) => Some((left, true)),
        (true, false) if is_inside(right) && is_outside(left) => Some((right, false)),
        _ => None,
    }
}

/// Do these expressions read only columns of the tree?
fn reads_within(exprs: &[Expr], tree: &JoinTree) -> bool {
    let mut sources = Vec::new();
    tree_sources(tree, &mut sources);
    let is_outside = |e: &Expr| matches!(e.kind, ExprKind::Column { source, .. } | ExprKind::ColumnOrdinal { source, .. } if !sources.contains(&source));
    !exprs.iter().any(|expr| expr.any(&is_outside))
}

/// Is the aggregate's value over no rows known?
fn has_value_of_none(aggregate: &Aggregate) -> bool {
    match aggregate.function {
        AggregateFunction::BitAnd | AggregateFunction::BitOr | AggregateFunction::BitXor => aggregate.ty.kind == TypeKind::BigInt,
        _ => true,
    }
}

fn aggregate_of_none(aggregate: &Aggregate) -> Value<'static> {
    match aggregate.function {
        AggregateFunction::Count => Value::Int(0),
        AggregateFunction::BitAnd => Value::UInt(u64::MAX),
        AggregateFunction::BitOr | AggregateFunction::BitXor => Value::UInt(0),
        _ => Value::Null,
    }
}

/// The value of an expression of aggregates over no rows; `None`: NULL.
fn value_of_none(expr: &Expr, aggregates: &[Aggregate]) -> Option<Expr> {
    if is_null_of_none(expr, aggregates) {
        return None;
    }
    let mut out = expr.clone();
    put_values_of_none(&mut out, aggregates);
    Some(out)
}

fn is_null_of_none(expr: &Expr, aggregates: &[Aggregate]) -> bool {
    let is_null = |part: &Expr| is_null_of_none(part, aggregates);
    match &expr.kind {
        ExprKind::Slot(n) => aggregate_of_none(&aggregates[*n]) == Value::Null,
        ExprKind::Unary { arg, .. } | ExprKind::Cast(arg) => is_null(arg),
        ExprKind::Arithmetic {
            op: ArithmeticOp::Add | ArithmeticOp::Subtract | ArithmeticOp::Multiply | ArithmeticOp::Divide,
            left,
            right,
        } => is_null(left) || is_null(right),
        _ => false,
    }
}

fn put_values_of_none(expr: &mut Expr, aggregates: &[Aggregate]) {
    if let ExprKind::Slot(n) = expr.kind {
        expr.kind = ExprKind::Literal(aggregate_of_none(&aggregates[n]));
    }
    expr.parts_mut().into_iter().for_each(|part| put_values_of_none(part, aggregates));
}

/// Shifts the slots of aggregates behind those of the keys.
fn shift_slots(expr: &mut Expr, by: usize) {
    if let ExprKind::Slot(n) = &mut expr.kind {
        *n += by;
    }
    expr.parts_mut().into_iter().for_each(|part| shift_slots(part, by));
}

/// Replaces a subquery by a value.
fn replace(expr: &mut Expr, id: usize, value: &Expr) {
    if matches!(&expr.kind, ExprKind::Subquery(subquery) if subquery.id == id) {
        *expr = value.clone();
        return;
    }
    expr.parts_mut().into_iter().for_each(|part| replace(part, id, value));
}
