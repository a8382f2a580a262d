//! Visits the parts of an expression.

use crate::tree::{Expr, ExprKind};

impl Expr {
    /// The direct subexpressions.
    pub fn parts(&self) -> Vec<&Expr> {
        children(self)
    }

    /// The direct subexpressions, to be changed.
    pub fn parts_mut(&mut self) -> Vec<&mut Expr> {
        children_mut(self)
    }

    /// Calls `visit` for every column that it reads, as (source, column).
    pub fn each_column(&self, visit: &mut impl FnMut(usize, usize)) {
        if let ExprKind::Column { source, column } | ExprKind::ColumnOrdinal { source, column } = self.kind {
            visit(source, column);
        }
        self.parts().into_iter().for_each(|part| part.each_column(visit));
    }

    /// Is there an expression like this in it, itself included?
    pub fn any(&self, test: &impl Fn(&Expr) -> bool) -> bool {
        test(self) || self.parts().into_iter().any(|part| part.any(test))
    }

    /// Renumbers the sources of columns.
    pub fn map_sources(&mut self, moved: &impl Fn(usize) -> usize) {
        if let ExprKind::Column { source, .. } | ExprKind::ColumnOrdinal { source, .. } = &mut self.kind {
            *source = moved(*source);
        }
        self.parts_mut().into_iter().for_each(|part| part.map_sources(moved));
    }
}

/// The direct subexpressions.
fn children_mut(expr: &mut Expr) -> Vec<&mut Expr> {
    match &mut expr.kind {
        ExprKind::Literal(_)
        | ExprKind::Param(_)
        | ExprKind::Column { .. }
        | ExprKind::ColumnOrdinal { .. }
        | ExprKind::Slot(_)
        | ExprKind::UserVariable(_)
        | ExprKind::InsertValue { .. } => Vec::new(),
        ExprKind::Unary { arg, .. }
        | ExprKind::Not(arg)
        | ExprKind::IsNull { arg, .. }
        | ExprKind::IsTruth { arg, .. }
        | ExprKind::AssignVariable { value: arg, .. }
        | ExprKind::Cast(arg) => vec![arg],
        ExprKind::Compare { left, right, .. } | ExprKind::Arithmetic { left, right, .. } | ExprKind::Xor(left, right) => {
            vec![left, right]
        }
        ExprKind::And(items) | ExprKind::Or(items) | ExprKind::Row(items) => items.iter_mut().collect(),
        ExprKind::In { arg, list, .. } => std::iter::once(&mut **arg).chain(list.iter_mut()).collect(),
        ExprKind::Between { arg, low, high, .. } => vec![arg, low, high],
        ExprKind::Like { arg, pattern, .. } => vec![arg, pattern],
        ExprKind::Case { whens, otherwise } => whens
            .iter_mut()
            .flat_map(|(condition, value)| [condition, value])
            .chain(otherwise.iter_mut().map(|o| &mut **o))
            .collect(),
        ExprKind::Call { args, .. } => args.iter_mut().collect(),
        ExprKind::Partition(call) => call.args.iter_mut().collect(),
        ExprKind::Subquery(subquery) => subquery.args.iter_mut().chain(&mut subquery.left).collect(),
    }
}

/// The direct subexpressions.
fn children(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Literal(_)
        | ExprKind::Param(_)
        | ExprKind::Column { .. }
        | ExprKind::ColumnOrdinal { .. }
        | ExprKind::Slot(_)
        | ExprKind::UserVariable(_)
        | ExprKind::InsertValue { .. } => Vec::new(),
        ExprKind::Unary { arg, .. }
        | ExprKind::Not(arg)
        | ExprKind::IsNull { arg, .. }
        | ExprKind::IsTruth { arg, .. }
        | ExprKind::AssignVariable { value: arg, .. }
        | ExprKind::Cast(arg) => vec![arg],
        ExprKind::Compare { left, right, .. } | ExprKind::Arithmetic { left, right, .. } | ExprKind::Xor(left, right) => {
            vec![left, right]
        }
        ExprKind::And(items) | ExprKind::Or(items) | ExprKind::Row(items) => items.iter().collect(),
        ExprKind::In { arg, list, .. } => std::iter::once(&**arg).chain(list.iter()).collect(),
        ExprKind::Between { arg, low, high, .. } => vec![arg, low, high],
        ExprKind::Like { arg, pattern, .. } => vec![arg, pattern],
        ExprKind::Case { whens, otherwise } => {
            whens.iter().flat_map(|(condition, value)| [condition, value]).chain(otherwise.iter().map(|o| &**o)).collect()
        }
        ExprKind::Call { args, .. } => args.iter().collect(),
        ExprKind::Partition(call) => call.args.iter().collect(),
        ExprKind::Subquery(subquery) => subquery.args.iter().chain(&subquery.left).collect(),
    }
}
