//! Expressions of statements that are those of a definition: of an indexed generated column, of a key part.
//!
//! E1: they are equal, literals included. If one of the literals was lifted, the plan is for this text alone.

use crate::plan::BindContext;
use expr::{Expr, ExprKind};
use types::{ColumnType, TypeKind, Value};

/// Is it a TIMESTAMP, whose value depends on the time zone of the session?
pub(crate) fn is_timestamp(expr: &Expr) -> bool {
    matches!(expr.ty.kind, TypeKind::Timestamp { .. })
}

/// Is the expression of a statement that of a definition?
pub(crate) fn is_same(context: &dyn BindContext, expr: &Expr, defined: &Expr) -> bool {
    shape(expr) == shape(defined) && is_same_in(context, expr, defined)
}

/// Of expressions of the same shape.
pub(crate) fn is_same_in(context: &dyn BindContext, expr: &Expr, defined: &Expr) -> bool {
    if expr.any(&|part| matches!(part.kind, ExprKind::Param(index) if context.param_value(index).is_some())) {
        context.note_literal();
    }
    let mut settled = expr.clone();
    settle(context, &mut settled, defined);
    settled == *defined
}

/// Where literals of both expressions are equal, takes over the form of the other's.
fn settle(context: &dyn BindContext, expr: &mut Expr, other: &Expr) {
    let value = match &expr.kind {
        ExprKind::Literal(value) => Some(value.clone()),
        ExprKind::Param(index) => context.param_value(*index),
        _ => None,
    };
    if let (Some(value), ExprKind::Literal(wanted)) = (value, &other.kind)
        && is_same_value(&value, &expr.ty, wanted, &other.ty)
    {
        *expr = other.clone();
        return;
    }
    expr.nullable = other.nullable;
    expr.parts_mut().into_iter().zip(other.parts()).for_each(|(part, other)| settle(context, part, other));
}

/// Are the literals equal? The length of the type is ignored, and so is the collation of a string beside a column.
fn is_same_value(a: &Value<'_>, a_type: &ColumnType, b: &Value<'_>, b_type: &ColumnType) -> bool {
    a == b && a_type.is_binary_string() == b_type.is_binary_string()
}

/// The expression without types and with all literals made equal.
pub(crate) fn shape(expr: &Expr) -> Expr {
    fn strip(expr: &mut Expr) {
        (expr.ty, expr.nullable) = (ColumnType::new(TypeKind::Null), false);
        if matches!(expr.kind, ExprKind::Param(_) | ExprKind::Literal(_)) {
            expr.kind = ExprKind::Literal(Value::Null);
        }
        expr.parts_mut().into_iter().for_each(strip);
    }
    let mut out = expr.clone();
    strip(&mut out);
    out
}
