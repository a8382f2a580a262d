//! Which expressions give the same value each time, and which do not.

use crate::tree::{Expr, ExprKind, SubqueryTest};

/// Does the expression give another value each time it is computed?
pub fn is_volatile(expr: &Expr) -> bool {
    let here = match &expr.kind {
        ExprKind::Call { function, .. } => function.row().is_volatile,
        ExprKind::Subquery(subquery) => matches!(subquery.test, SubqueryTest::Call { deterministic: false, .. }),
        _ => false,
    };
    here || expr.parts().into_iter().any(is_volatile)
}

/// Is the value the same in every execution?
pub fn is_fixed(expr: &Expr) -> bool {
    use ExprKind as K;
    let varies = |expr: &Expr| {
        matches!(expr.kind, K::Column { .. } | K::ColumnOrdinal { .. } | K::Slot(_) | K::Param(_) | K::Subquery(_))
            || matches!(expr.kind, K::UserVariable(_) | K::AssignVariable { .. } | K::InsertValue { .. } | K::Row(_))
    };
    !is_volatile(expr) && !expr.any(&varies)
}
