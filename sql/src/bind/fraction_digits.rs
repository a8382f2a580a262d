//! Decimals that have other digits than their type.
//!
//! *Fewer.* IF and CASE of several types show each branch with its own digits; where rows are kept (a derived table, UNION, DISTINCT, MAX and MIN) all have
//! those of the type.
//!
//! *More.* AVG of exact numbers divides as `/` does, but what it gives is not rounded to the digits that its type has: groups of nine digits stay behind the
//! point, cut off. Expressions compute with all of them (`AVG(n) * 100`), and so do scalar subqueries, IF and CASE that choose one. What shows it rounds: a
//! text, a result's column, a derived table; but not a column or a variable that takes the value.
//!
//! Where a DOUBLE is wanted it is the quotient of doubles, and no decimal was there before; but for that of a group by keys, which MySQL keeps in a
//! table as the decimal that it is (unless an index, ROLLUP or DISTINCT makes it read the groups in order: the first of these is not followed).
//!
//! V1: an aggregate has the type of all its digits; an expression that reads it has the type that MySQL tells, with fewer digits.

use super::aggregate::AGGREGATE_SLOT;
use super::query::{Bound, BoundSelect};
use super::window::WINDOW_SLOT;
use super::{Binder, typing};
use crate::expr::{Aggregate, ArithmeticOp, Expr, ExprKind, SubqueryTest};
use crate::func::{AggregateFunction, Function};
use types::decimal::{SCALE_MAX, quotient_scale};
use types::{ColumnType, Decimal, TypeKind, Value};

/// Gives an aggregate of a group the type of all its digits; what reads it keeps the type that it had.
pub(super) fn keep_digits(aggregate: &mut Aggregate, increment: u8) {
    let TypeKind::Decimal { precision, .. } = aggregate.ty.kind else { return };
    if aggregate.function == AggregateFunction::Avg {
        let of_argument = u8::try_from(typing::decimal_shape(&aggregate.args[0]).1).unwrap_or(SCALE_MAX);
        let scale = quotient_scale(of_argument, 0, increment).min(SCALE_MAX);
        aggregate.ty.kind = TypeKind::Decimal { precision, scale };
    }
}

/// What is chosen, with the digits that its type has.
pub(super) fn filled(expr: &mut Expr) {
    if matches!(expr.kind, ExprKind::Call { function: Function::If, .. } | ExprKind::Case { .. }) {
        fill(expr);
    }
}

/// What is chosen, a parameter or a variable, with the digits that its type has.
pub(super) fn filled_value(expr: &mut Expr) {
    let TypeKind::Decimal { scale, .. } = expr.ty.kind else { return };
    match expr.kind {
        // Not a CAST: of a number that has more digits before the point than the type, it would make the highest of the type.
        ExprKind::Param(_) | ExprKind::UserVariable(_) => {
            let zero = Decimal::from_parts(0, scale, false);
            let right = Box::new(Expr::literal(Value::Decimal(zero), expr.ty.clone()));
            let (ty, nullable) = (expr.ty.clone(), expr.nullable);
            let left = Box::new(std::mem::replace(expr, super::literal::integer(0)));
            *expr = Expr { kind: ExprKind::Arithmetic { op: ArithmeticOp::Add, left, right }, ty, nullable };
        }
        _ => filled(expr),
    }
}

fn fill(expr: &mut Expr) {
    if let Some(ty) = scale(&expr.ty).map(|_| expr.ty.clone()) {
        let value = std::mem::replace(expr, super::literal::integer(0));
        *expr = super::operand::cast_to(value, ty);
    }
}

/// The same of all columns of a query.
pub(super) fn filled_columns(bound: &mut Bound) {
    if let Bound::Select(select) = bound {
        let visible = select.visible;
        select.project[..visible].iter_mut().for_each(filled);
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

    /// An average where a DOUBLE is wanted: the sum by the number of rows, both as they are.
    pub(super) fn average_as_double(&mut self, expr: &mut Expr) {
        let (ExprKind::Slot(slot @ AGGREGATE_SLOT..WINDOW_SLOT), Some(aggregates)) = (&expr.kind, &mut self.scope.aggregates)
        else {
            return;
        };
        let Some(average) = aggregates.get(slot - AGGREGATE_SLOT).cloned() else { return };
        let is_kept = self.scope.has_keys && !self.scope.rollup && !average.distinct;
        if is_kept || average.function != AggregateFunction::Avg || scale(&average.ty).is_none() {
            return;
        }
        let (of_sum, of_count) = (typing::sum(&average.args[0]), typing::bigint(false));
        let mut read = |function, ty: ColumnType, nullable| {
            let aggregate = Aggregate { function, ty: ty.clone(), nullable, ..average.clone() };
            let place = aggregates.iter().position(|other| *other == aggregate).unwrap_or_else(|| {
                aggregates.push(aggregate);
                aggregates.len() - 1
            });
            Expr { kind: ExprKind::Slot(AGGREGATE_SLOT + place), ty, nullable }
        };
        let sum = read(AggregateFunction::Sum, of_sum, true);
        let count = read(AggregateFunction::Count, of_count, false);
        let left = Box::new(super::operand::cast_to(sum, typing::double()));
        let kind = ExprKind::Arithmetic { op: ArithmeticOp::Divide, left, right: Box::new(count) };
        *expr = Expr { kind, ty: typing::double(), nullable: true };
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
