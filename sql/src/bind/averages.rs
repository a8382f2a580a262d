//! Averages have more digits than they show.
//!
//! AVG of exact numbers divides as `/` does, but what it gives is not rounded to the digits that its type has: groups of nine digits stay behind the
//! point, cut off. Expressions compute with all of them (`AVG(n) * 100`), and so do scalar subqueries, IF and CASE that choose one. What shows it rounds: a
//! text, a result's column, a derived table; but not a column or a variable that takes the value.
//!
//! V1: an aggregate has the type of all its digits; an expression that reads it has the type that MySQL tells, with fewer digits.

use super::query::{Bound, BoundSelect};
use super::{Binder, typing};
use crate::expr::{Aggregate, Expr, ExprKind, SubqueryTest};
use crate::func::{AggregateFunction, Function};
use types::decimal::{SCALE_MAX, quotient_scale};
use types::{ColumnType, TypeKind};

/// Gives an aggregate of a group the type of all its digits; what reads it keeps the type that it had.
pub(super) fn keep_digits(aggregate: &mut Aggregate, increment: u8) {
    let TypeKind::Decimal { precision, .. } = aggregate.ty.kind else { return };
    if aggregate.function == AggregateFunction::Avg {
        let of_argument = u8::try_from(typing::decimal_shape(&aggregate.args[0]).1).unwrap_or(SCALE_MAX);
        let scale = quotient_scale(of_argument, 0, increment).min(SCALE_MAX);
        aggregate.ty.kind = TypeKind::Decimal { precision, scale };
    }
}

fn scale(ty: &ColumnType) -> Option<u8> {
    match ty.kind {
        TypeKind::Decimal { scale, .. } => Some(scale),
        _ => None,
    }
}

impl Binder<'_> {
    /// Lets the columns of a query have all digits, for what takes its values as they are.
    pub(super) fn with_all_digits(&self, bound: &mut Bound) {
        let Bound::Select(select) = bound else { return };
        let visible = select.visible;
        for n in 0..visible {
            if let Some(ty) = self.exact_type(&select.project[n], Some(select)) {
                select.project[n].ty = ty.clone();
                select.columns[n].ty = ty;
            }
        }
    }

    /// Lets a value that is assigned have all digits.
    pub(super) fn assigned_with_all_digits(&self, value: &mut Expr) {
        if let Some(ty) = self.exact_type(value, None) {
            value.ty = ty;
        }
    }

    /// The type of all the digits that an expression has, where they are more than its own type has.
    fn exact_type(&self, expr: &Expr, select: Option<&BoundSelect>) -> Option<ColumnType> {
        let own = scale(&expr.ty)?;
        let of = |part: &Expr| self.exact_type(part, select);
        let ty = match &expr.kind {
            ExprKind::Slot(slot) => {
                let grouping = select?.grouping.as_ref()?;
                grouping.aggregates.get(slot.checked_sub(grouping.first_aggregate())?)?.ty.clone()
            }
            ExprKind::Subquery(subquery) => match subquery.test {
                SubqueryTest::Value { column } => self.subqueries.get(subquery.id)?.columns.get(column)?.clone(),
                _ => return None,
            },
            ExprKind::Call { function: Function::If, args } => args[1..].iter().find_map(of)?,
            ExprKind::Case { whens, otherwise } => {
                whens.iter().map(|(_, value)| value).chain(otherwise.as_deref()).find_map(of)?
            }
            _ => return None,
        };
        (scale(&ty)? > own).then_some(ty)
    }
}
