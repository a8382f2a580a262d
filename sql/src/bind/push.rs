//! Predicate pushdown into materialized derived tables. The derived table makes fewer rows, and its tables can use the
//! predicates for their access paths.
//!
//! ```text
//! SELECT * FROM (SELECT a, SUM(b) s FROM t GROUP BY a) d WHERE a = 5 AND s > 9
//! SELECT * FROM (SELECT a, SUM(b) s FROM t WHERE a = 5 GROUP BY a HAVING s > 9) d
//! ```
//! A predicate on group keys goes to WHERE, one on aggregates to HAVING. A predicate on a UNION goes to each block.
//!
//! D1: the predicate treats equal values alike: it compares strings by the collation of the column. So it keeps or
//!     drops all rows of a group, and all duplicates of a DISTINCT, together.
//! D2: a predicate is not pushed below LIMIT, window functions or ROLLUP; nor into a table that several scans share or
//!     that is the nullable side of an outer join; nor if it is not deterministic.
//! D3: nothing is pushed in a statement that assigns user variables: the variables would show which rows were made.

use super::from::{Source, SourceKind};
use super::query::{Bound, BoundSelect, convert_to};
use super::subquery::replace_columns;
use super::{Binder, derived::stored};
use crate::error::Result;
use crate::planner::JoinTree;
use expr::{Class, CompareAs, Expr, ExprKind, class, is_volatile};

/// The query of a derived table before it was planned.
#[derive(Clone, Debug)]
pub(crate) struct Pushable {
    /// The query, or the blocks of a UNION.
    selects: Vec<BoundSelect>,
    /// UNION only: for each UNION between two blocks, whether it is ALL.
    alls: Option<Vec<bool>>,
}

impl Binder<'_> {
    /// A copy of a query into which predicates may be pushed; called before the query is planned.
    pub(super) fn pushable(&mut self, bound: &Bound) -> Option<Box<Pushable>> {
        let union = self.union_blocks.take();
        if !self.context.switches().derived_condition_pushdown || !self.assigned.is_empty() {
            return None;
        }
        match bound {
            Bound::Select(select) if may_take(select) => {
                Some(Box::new(Pushable { selects: vec![(**select).clone()], alls: None }))
            }
            Bound::Select(_) => None,
            Bound::Block(_) => union.map(|(selects, alls)| Box::new(Pushable { selects, alls: Some(alls) })),
        }
    }

    /// Pushes predicates into derived tables, and plans these again.
    pub(super) fn push_conditions(&mut self, tree: &Option<JoinTree>, filter: &mut Vec<Expr>) -> Result<()> {
        let Some(tree) = tree else { return Ok(()) };
        if filter.is_empty() || !self.assigned.is_empty() {
            return Ok(());
        }
        let mut sources = Vec::new();
        inner_sources(tree, &mut sources);
        for source in sources {
            let from = &self.sources[source];
            if from.nullable || !from.reads().is_empty() {
                continue;
            }
            let Some(mut inside) = self.sources[source].pushable.take() else { continue };
            let taken: Vec<Expr> =
                filter.extract_if(.., |condition| is_about(condition, source) && inside.takes(condition, source)).collect();
            if taken.is_empty() {
                self.sources[source].pushable = Some(inside);
                continue;
            }
            inside.push(&taken, &self.sources[source], source);
            self.plan_again(source, *inside)?;
        }
        Ok(())
    }

    fn plan_again(&mut self, source: usize, inside: Pushable) -> Result<()> {
        let mut planned = |select: BoundSelect| {
            let mut select = select;
            let tree = select.tree.clone();
            self.push_conditions(&tree, &mut select.filter)?;
            self.plan_select(select)
        };
        let mut blocks = inside.selects.into_iter().map(&mut planned).collect::<Result<Vec<_>>>()?;
        let block = match inside.alls {
            Some(alls) => self.union(blocks, &alls)?,
            None => blocks.pop().expect("one query is one block"),
        };
        let SourceKind::Derived { key, .. } = &self.sources[source].kind else { unreachable!("only those are pushable") };
        let kind = stored(block, Vec::new(), key.clone());
        self.sources[source].kind = kind;
        Ok(())
    }
}

impl Pushable {
    /// Can the predicate be evaluated inside?
    fn takes(&self, condition: &Expr, source: usize) -> bool {
        let mut columns = Vec::new();
        condition.each_column(&mut |of, column| columns.extend((of == source).then_some(column)));
        let acts =
            |e: &Expr| matches!(e.kind, ExprKind::Subquery(_) | ExprKind::AssignVariable { .. } | ExprKind::UserVariable(_));
        let is_plain = |select: &BoundSelect| {
            columns.iter().all(|column| !is_volatile(&select.project[*column]) && !select.project[*column].any(&acts))
        };
        self.selects.iter().all(is_plain)
    }

    fn push(&mut self, conditions: &[Expr], from: &Source, source: usize) {
        for select in &mut self.selects {
            // The columns of a UNION have a common type, to which the blocks' values were converted.
            let mut values = select.project[..select.visible].to_vec();
            for (value, column) in values.iter_mut().zip(&from.table.columns) {
                convert_to(value, &column.ty);
            }
            for condition in conditions {
                select.take_condition(condition, source, &values);
            }
        }
    }
}

impl BoundSelect {
    /// Adds a predicate over the columns of the derived table. `values` are the expressions of these columns.
    fn take_condition(&mut self, condition: &Expr, source: usize, values: &[Expr]) {
        let mut inside = condition.clone();
        replace_columns(&mut inside, source, values);
        let Some(grouping) = &self.grouping else {
            self.filter.push(inside);
            return;
        };
        let mut over_keys = inside.clone();
        if put_keys(&mut over_keys, &grouping.keys) {
            self.filter.push(over_keys);
            return;
        }
        self.having = Some(match self.having.take() {
            None => inside,
            Some(having) => {
                let (ty, nullable) = (inside.ty.clone(), having.nullable || inside.nullable);
                Expr { kind: ExprKind::And(vec![having, inside]), ty, nullable }
            }
        });
    }
}

/// D2
fn may_take(select: &BoundSelect) -> bool {
    select.limit.is_none() && select.windows.is_empty() && !select.rollup && !select.locking && select.tree.is_some()
}

/// Can all blocks of a UNION take predicates?
pub(super) fn all_take(bound: &[Bound]) -> Option<Vec<BoundSelect>> {
    let select = |bound: &Bound| match bound {
        Bound::Select(select) if may_take(select) => Some((**select).clone()),
        _ => None,
    };
    bound.iter().map(select).collect()
}

/// The tables above which there is no outer, semi- or anti-join.
fn inner_sources(tree: &JoinTree, out: &mut Vec<usize>) {
    match tree {
        JoinTree::Table(source) => out.push(*source),
        JoinTree::Inner { parts, .. } => parts.iter().for_each(|part| inner_sources(part, out)),
        JoinTree::Left { left, .. } => inner_sources(left, out),
    }
}

/// Does the predicate read this source alone, and treat equal values alike (D1)?
fn is_about(condition: &Expr, source: usize) -> bool {
    let mut any = false;
    let of_source = |e: &Expr| matches!(e.kind, ExprKind::Column { source: s, .. } if s == source);
    let other = |e: &Expr| match e.kind {
        ExprKind::Column { source: s, .. } => s != source,
        ExprKind::ColumnOrdinal { .. } | ExprKind::Subquery(_) | ExprKind::AssignVariable { .. } => true,
        ExprKind::UserVariable(_) | ExprKind::Slot(_) => true,
        _ => false,
    };
    any |= condition.any(&of_source);
    any && !condition.any(&other) && !is_volatile(condition) && sees_equals_alike(condition)
}

fn sees_equals_alike(expr: &Expr) -> bool {
    let by = match &expr.kind {
        ExprKind::Column { .. } => return !is_text(expr),
        ExprKind::Compare { by, .. } | ExprKind::In { by, .. } | ExprKind::Between { by, .. } => Some(*by),
        ExprKind::IsNull { .. } => None,
        _ => return expr.parts().into_iter().all(sees_equals_alike),
    };
    let part_is_fine = |part: &Expr| match (&part.kind, by) {
        (ExprKind::Column { .. }, Some(CompareAs::String(collation))) => !is_text(part) || part.ty.collation == collation,
        (ExprKind::Column { .. }, None) => true,
        _ => sees_equals_alike(part),
    };
    expr.parts().into_iter().all(part_is_fine)
}

fn is_text(expr: &Expr) -> bool {
    matches!(class(&expr.ty), Class::String | Class::Json | Class::Double)
}

/// Replaces slots of group keys by the keys; `false`: there are other slots.
fn put_keys(expr: &mut Expr, keys: &[Expr]) -> bool {
    if let ExprKind::Slot(slot) = expr.kind {
        let Some(key) = keys.get(slot) else { return false };
        *expr = key.clone();
        return true;
    }
    expr.parts_mut().into_iter().all(|part| put_keys(part, keys))
}
