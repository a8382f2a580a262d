//! Replaces an expression by the indexed generated column that stores its value: in predicates, group keys and sort
//! keys.
//!
//! G1: the column is part of an index that the statement may use, and no outer join replaces its row by NULLs.
//! G2: the expressions are equal, literals included. If one of the literals was lifted, the plan is for this text
//!     alone.
//! G3: the column stores the values of the expression unchanged (`key_part::keeps_values`).
//! G4: the expression computes nothing from a TIMESTAMP: its value would depend on the time zone of the session that
//!     wrote the row.

use super::query::BoundSelect;
use super::{Binder, SourceKind};
use crate::key_part::keeps_values;
use crate::plan::{BindContext, JoinKind};
use crate::planner::{JoinTree, tree_sources};
use crate::row_expr::bind_row_expr;
use crate::same_expr::{is_same_in, is_timestamp, shape};
use expr::{Expr, ExprKind};
use types::TypeKind;
use types::schema::TableDef;

/// A generated column of a source and its expression.
struct Computed {
    source: usize,
    column: usize,
    expr: Expr,
    shape: Expr,
}

/// The generated columns that may replace expressions.
struct Substitution<'c> {
    columns: Vec<Computed>,
    context: &'c dyn BindContext,
}

impl Binder<'_> {
    /// Replaces expressions in a whole SELECT.
    pub(super) fn use_computed(&self, select: &mut BoundSelect) {
        let Some(tree) = &mut select.tree else { return };
        let mut own = Vec::new();
        tree_sources(tree, &mut own);
        let Some(substitution) = self.substitution(&own) else { return };
        let absent = substitution.in_tree(tree);
        select.filter.iter_mut().for_each(|condition| substitution.in_condition(condition, &absent));
        if let Some(grouping) = &mut select.grouping {
            grouping.keys.iter_mut().for_each(|key| substitution.replace(key, &absent));
            return;
        }
        for key in &select.sort {
            if let ExprKind::Slot(slot) = key.expr.kind
                && let Some(expr) = select.project.get_mut(slot)
            {
                substitution.replace(expr, &absent);
            }
        }
    }

    /// Replaces expressions in the predicates and sort keys of UPDATE and DELETE.
    pub(super) fn use_computed_in<'e>(&self, tree: &mut JoinTree, filter: &mut [Expr], keys: impl Iterator<Item = &'e mut Expr>) {
        let mut own = Vec::new();
        tree_sources(tree, &mut own);
        let Some(substitution) = self.substitution(&own) else { return };
        let absent = substitution.in_tree(tree);
        filter.iter_mut().for_each(|condition| substitution.in_condition(condition, &absent));
        keys.for_each(|key| substitution.replace(key, &absent));
    }

    fn substitution(&self, sources: &[usize]) -> Option<Substitution<'_>> {
        let mut columns = Vec::new();
        for &source in sources {
            let from = &self.sources[source];
            if from.table.is_virtual || !matches!(from.kind, SourceKind::Table) {
                continue;
            }
            for column in 0..from.table.columns.len() {
                let allowed = (from.indexes.as_deref(), self.context.switches().use_invisible_indexes);
                if is_indexed(&from.table, column, allowed) {
                    self.add_computed(source, column, &mut columns);
                }
            }
        }
        (!columns.is_empty()).then_some(Substitution { columns, context: self.context })
    }

    fn add_computed(&self, source: usize, column: usize, out: &mut Vec<Computed>) {
        let table = &self.sources[source].table;
        let def = &table.columns[column];
        let Some(generated) = &def.generated else { return };
        // This cannot fail: the definition of the table bound it before.
        let Ok(mut expr) = bind_row_expr(&generated.expr.text, table) else { return };
        expr.map_sources(&|_| source);
        let plain = matches!(expr.kind, ExprKind::Column { .. } | ExprKind::Literal(_));
        // G3, G4
        if !plain && keeps_values(&def.ty, &expr.ty) && !expr.any(&is_timestamp) {
            out.extend(unquoted(&expr).map(|inner| Computed::new(source, column, inner)));
            out.push(Computed::new(source, column, expr));
        }
    }
}

impl Computed {
    fn new(source: usize, column: usize, expr: Expr) -> Self {
        Self { source, column, shape: shape(&expr), expr }
    }
}

/// G1
fn is_indexed(table: &TableDef, column: usize, (allowed, sees_all): (Option<&[usize]>, bool)) -> bool {
    let is_shown = |number: &usize| sees_all || !table.indexes[*number].invisible;
    let may_read = |number: &usize| is_shown(number) && allowed.is_none_or(|allowed| allowed.contains(number));
    let has = |number: usize| table.indexes[number].columns.iter().any(|part| part.column == column && part.prefix.is_none());
    table.columns[column].generated.is_some() && (0..table.indexes.len()).filter(may_read).any(has)
}

/// The string of a JSON value that an indexed column stores as CHAR(n), because an index needs a length. The column
/// also serves comparisons of the unlimited string, which cannot be longer than n once it is stored.
fn unquoted(expr: &Expr) -> Option<Expr> {
    let ExprKind::Cast(arg) = &expr.kind else { return None };
    let is_text = matches!(expr.ty.kind, TypeKind::VarChar { .. }) && expr.ty.collation == arg.ty.collation;
    let is_unquoted = matches!(arg.kind, ExprKind::Call { function: expr::Function::JSON_UNQUOTE, .. });
    (is_text && is_unquoted).then(|| (**arg).clone())
}

impl Substitution<'_> {
    /// Rewrites the predicates of joins. Returns the sources that the joins may replace by NULLs.
    fn in_tree(&self, tree: &mut JoinTree) -> Vec<usize> {
        match tree {
            JoinTree::Table(_) => Vec::new(),
            JoinTree::Inner { parts, on, .. } => {
                let absent: Vec<usize> = parts.iter_mut().flat_map(|part| self.in_tree(part)).collect();
                on.iter_mut().for_each(|condition| self.in_condition(condition, &absent));
                absent
            }
            JoinTree::Left { left, right, on, kind } => {
                let mut absent = self.in_tree(left);
                let mut inside = absent.clone();
                inside.extend(self.in_tree(right));
                on.iter_mut().for_each(|condition| self.in_condition(condition, &inside));
                if *kind == JoinKind::Left {
                    tree_sources(right, &mut absent);
                }
                absent
            }
        }
    }

    /// Replaces the operands of a predicate.
    fn in_condition(&self, condition: &mut Expr, absent: &[usize]) {
        match &mut condition.kind {
            ExprKind::Compare { left, right, .. } => {
                self.replace(left, absent);
                self.replace(right, absent);
            }
            ExprKind::In { arg, .. }
            | ExprKind::Between { arg, .. }
            | ExprKind::Like { arg, .. }
            | ExprKind::IsNull { arg, .. } => {
                self.replace(arg, absent);
            }
            ExprKind::And(parts) | ExprKind::Or(parts) => parts.iter_mut().for_each(|part| self.in_condition(part, absent)),
            ExprKind::Not(arg) | ExprKind::IsTruth { arg, .. } => self.in_condition(arg, absent),
            _ => {}
        }
    }

    /// Replaces the expression if it is the expression of a column.
    fn replace(&self, expr: &mut Expr, absent: &[usize]) {
        if matches!(expr.kind, ExprKind::Column { .. } | ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::Slot(_)) {
            return;
        }
        let present = self.columns.iter().filter(|computed| !absent.contains(&computed.source));
        if let Some(found) = present.into_iter().find(|computed| self.is_same(expr, computed)) {
            expr.kind = ExprKind::Column { source: found.source, column: found.column };
        }
    }

    fn is_same(&self, expr: &Expr, computed: &Computed) -> bool {
        shape(expr) == computed.shape && is_same_in(self.context, expr, &computed.expr)
    }
}
