//! DISTINCT with ORDER BY: a sort expression must be in the select list, or be determined by the select list.

use super::Binder;
use super::group::Grouping;
use expr::{Expr, ExprKind, Function};

/// Is every column of the expression inside ANY_VALUE()?
pub(super) fn is_vouched_for(expr: &Expr) -> bool {
    match expr.kind {
        ExprKind::Call { function: Function::ANY_VALUE, .. } => true,
        ExprKind::Column { .. } | ExprKind::ColumnOrdinal { .. } | ExprKind::Slot(_) => false,
        _ => expr.parts().into_iter().all(is_vouched_for),
    }
}

/// The part of a sort key that SELECT DISTINCT does not select.
pub(super) enum Unselected {
    Aggregate,
    Column(String),
}

impl Binder<'_> {
    /// The part of a sort key that is neither selected nor equal in all duplicates. An outer column is the same in all
    /// rows.
    pub(super) fn unselected(&self, expr: &Expr, project: &[Expr], grouping: Option<&Grouping>) -> Option<Unselected> {
        if project.contains(expr) {
            return None;
        }
        let (kind, slot) = match (&expr.kind, grouping) {
            (ExprKind::Call { function: Function::ANY_VALUE, .. }, _) => return None,
            (ExprKind::Slot(slot), Some(grouping)) => {
                if grouping.is_any_value(*slot) {
                    return None;
                }
                if grouping.is_aggregate_or_level(*slot) {
                    return Some(Unselected::Aggregate);
                }
                (grouping.value_of(*slot).map_or(&expr.kind, |expr| &expr.kind), true)
            }
            _ => (&expr.kind, matches!(expr.kind, ExprKind::Slot(_))),
        };
        match *kind {
            ExprKind::Column { source, column } | ExprKind::ColumnOrdinal { source, column } => {
                let source = &self.sources[source];
                let is_outer = source.alias.is_empty() || source.table.columns[column].name.starts_with('#');
                (!is_outer).then(|| Unselected::Column(super::qualified(&source.table, &source.alias, column)))
            }
            _ if slot => Some(Unselected::Column(String::new())),
            _ => expr.parts().into_iter().find_map(|part| self.unselected(part, project, grouping)),
        }
    }
}
