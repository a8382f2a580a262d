//! Visits the parts of an expression.

use crate::tree::{Expr, ExprKind};
use smallvec::{SmallVec, smallvec};

/// The subexpressions of a node, without an allocation for most nodes.
type Parts<E> = SmallVec<[E; 4]>;

/// Lists the direct subexpressions of a node, by shared or by mutable references: `$reference` makes one, `$each` those of a list.
macro_rules! subexpressions {
    ($kind:expr, $each:ident, $($reference:tt)+) => {
        match $kind {
            ExprKind::Literal(_)
            | ExprKind::Param(_)
            | ExprKind::Column { .. }
            | ExprKind::ColumnOrdinal { .. }
            | ExprKind::Slot(_)
            | ExprKind::UserVariable(_)
            | ExprKind::InsertValue { .. } => SmallVec::new(),
            ExprKind::Unary { arg, .. }
            | ExprKind::Not(arg)
            | ExprKind::IsNull { arg, .. }
            | ExprKind::IsTruth { arg, .. }
            | ExprKind::AssignVariable { value: arg, .. }
            | ExprKind::Cast(arg) => smallvec![$($reference)+ **arg],
            ExprKind::Compare { left, right, .. } | ExprKind::Arithmetic { left, right, .. } | ExprKind::Xor(left, right) => {
                smallvec![$($reference)+ **left, $($reference)+ **right]
            }
            ExprKind::And(items) | ExprKind::Or(items) | ExprKind::Row(items) => items.$each().collect(),
            ExprKind::In { arg, list, .. } => std::iter::once($($reference)+ **arg).chain(list.$each()).collect(),
            ExprKind::Between { arg, low, high, .. } => smallvec![$($reference)+ **arg, $($reference)+ **low, $($reference)+ **high],
            ExprKind::Like { arg, pattern, .. } => smallvec![$($reference)+ **arg, $($reference)+ **pattern],
            ExprKind::Case { whens, otherwise } => {
                let whens = whens.$each().flat_map(|(condition, value)| [condition, value]);
                whens.chain(otherwise.$each().map(|otherwise| $($reference)+ **otherwise)).collect()
            }
            ExprKind::Call { args, .. } => args.$each().collect(),
            ExprKind::Partition(call) => call.args.$each().collect(),
            ExprKind::Subquery(subquery) => subquery.args.$each().chain(subquery.left.$each()).collect(),
        }
    };
}

impl Expr {
    /// The direct subexpressions.
    pub fn parts(&self) -> Parts<&Expr> {
        subexpressions!(&self.kind, iter, &)
    }

    /// The direct subexpressions, to be changed.
    pub fn parts_mut(&mut self) -> Parts<&mut Expr> {
        subexpressions!(&mut self.kind, iter_mut, &mut)
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
