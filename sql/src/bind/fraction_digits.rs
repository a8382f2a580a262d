//! Decimals whose fraction has another number of digits (scale) than their type.
//!
//! *Fewer digits.* IF and CASE over several types show each branch with the scale of that branch. Where rows are stored
//! (a derived table, UNION, DISTINCT, MAX and MIN), all values get the scale of the type.
//!
//! *More digits.* AVG of exact numbers divides as `/` does, but its result is not rounded to the scale of its type:
//! whole groups of nine digits stay after the point, the rest is truncated. Expressions (`AVG(n) * 100`), scalar
//! subqueries, and IF and CASE that choose such a value use all digits. The value is rounded where it is shown: as
//! text, in a result column, in a derived table. It is not rounded when a column or a variable is assigned from it.
//!
//! Where a DOUBLE is wanted, the value is the quotient of two doubles and was never a decimal. The exception is an
//! aggregate of a GROUP BY, which MySQL stores as a decimal in a temporary table. MySQL reads groups in order instead,
//! without that table, for an index, ROLLUP or DISTINCT; Heddle does not follow the first of these.
//!
//! V1: an aggregate has the type with all its digits; an expression that reads it has the type that MySQL reports, with
//!     fewer digits.

use super::Binder;
use super::aggregate::AGGREGATE_SLOT;
use super::query::{Bound, BoundSelect};
use super::window::WINDOW_SLOT;
use expr::typing;
use expr::{Aggregate, AggregateFunction, ArithmeticOp, Expr, ExprKind, Function, SubqueryTest};
use types::decimal::{SCALE_MAX, quotient_scale};
use types::{ColumnType, Decimal, TypeKind, Value};

/// Gives an aggregate the type with all its digits; expressions that read it keep their types.
pub(super) fn keep_digits(aggregate: &mut Aggregate, increment: u8) {
    let TypeKind::Decimal { precision, .. } = aggregate.ty.kind else { return };
    if aggregate.function == AggregateFunction::Avg {
        let of_argument = u8::try_from(typing::decimal_shape(&aggregate.args[0]).1).unwrap_or(SCALE_MAX);
        let scale = quotient_scale(of_argument, 0, increment).min(SCALE_MAX);
        aggregate.ty.kind = TypeKind::Decimal { precision, scale };
    }
}

/// Gives the result of IF or CASE the scale of its type.
pub(super) fn filled(expr: &mut Expr) {
    if matches!(expr.kind, ExprKind::Call { function: Function::IF, .. } | ExprKind::Case { .. }) {
        fill(expr);
    }
}

/// Gives the result of IF or CASE, a parameter or a variable the scale of its type.
pub(super) fn filled_value(expr: &mut Expr) {
    let TypeKind::Decimal { scale, .. } = expr.ty.kind else { return };
    match expr.kind {
        // A CAST would clip a number with more digits before the point than the type has to the maximum of the type.
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

/// [`filled`] for all columns of a query.
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
    /// Gives the columns of a query all their digits, for a reader that does not round them.
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

    /// Gives an assigned value all its digits.
    pub(super) fn assigned_with_all_digits(&self, value: &mut Expr) {
        if let Some(ty) = self.exact_type(value, None) {
            value.ty = ty;
        }
    }

    /// An average as DOUBLE: the unrounded sum divided by the number of rows.
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

    /// The type with all digits of an expression, if these are more than its own type has.
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
            ExprKind::Call { function: Function::IF, args } => args[1..].iter().find_map(of)?,
            ExprKind::Case { whens, otherwise } => {
                whens.iter().map(|(_, value)| value).chain(otherwise.as_deref()).find_map(of)?
            }
            _ => return None,
        };
        (scale(&ty)? > own).then_some(ty)
    }
}
