//! Access by a SPATIAL index: the rows whose boxes meet that of a constant geometry.

use super::FromBlock;
use super::access::{Candidate, FETCH_COST, SEEK_COST};
use crate::plan::Access;
use expr::{Expr, ExprKind, Function as F, is_volatile};
use types::TypeKind;
use types::schema::IndexKind;

/// The part of the rows that a search is expected to find.
const PART_FOUND: f64 = 0.02;
/// The relations that only geometries have whose boxes meet.
const RELATIONS: &[F] = &[
    F::MBRCONTAINS,
    F::MBRCOVEREDBY,
    F::MBRCOVERS,
    F::MBREQUALS,
    F::MBRINTERSECTS,
    F::MBROVERLAPS,
    F::MBRTOUCHES,
    F::MBRWITHIN,
    F::ST_CONTAINS,
    F::ST_CROSSES,
    F::ST_EQUALS,
    F::ST_INTERSECTS,
    F::ST_OVERLAPS,
    F::ST_TOUCHES,
    F::ST_WITHIN,
];

impl FromBlock<'_> {
    /// The rows that may meet the constant of a relation, if one of the conditions is one over a column with a SPATIAL index.
    pub(super) fn met_rows(&self, source: usize, conjuncts: &[&Expr], total: f64) -> Option<Candidate> {
        let table = &*self.sources[source].table;
        // Most tables have none.
        if !table.indexes.iter().any(|index| index.kind == IndexKind::Spatial) {
            return None;
        }
        let from = &self.sources[source];
        let is_allowed = |number: usize| {
            let index = &table.indexes[number];
            (!index.invisible || self.context.switches().use_invisible_indexes)
                && from.indexes.as_ref().is_none_or(|allowed| allowed.contains(&number))
        };
        // As in MySQL, only if all geometries of the column have one reference system.
        let index_of = |column: usize| {
            let has_system = matches!(table.columns[column].ty.kind, TypeKind::Geometry { srid: Some(_), .. });
            let of_column = |(number, index): (usize, &types::schema::IndexDef)| {
                let is_it = index.kind == IndexKind::Spatial && index.columns.iter().any(|part| part.column == column);
                (is_it && is_allowed(number)).then_some(number)
            };
            if has_system { table.indexes.iter().enumerate().find_map(of_column) } else { None }
        };
        let found = conjuncts.iter().find_map(|conjunct| {
            let (column, constant) = relation_of(conjunct, source)?;
            Some((index_of(column)?, *conjunct, constant))
        });
        let (index, call, constant) = found?;
        let rows = (total * PART_FOUND).max(1.0);
        let cost = (SEEK_COST + rows * FETCH_COST).min(total / 2.0);
        let access = Access::Spatial { index, call: Box::new(call.clone()), constant: Box::new(constant.clone()) };
        let (exact, estimated) = (Vec::new(), Vec::new());
        Some(Candidate { access, rows, cost, exact, estimated, ordered: false, selective: true })
    }
}

/// The column of this source and the constant that a condition relates.
fn relation_of(conjunct: &Expr, source: usize) -> Option<(usize, &Expr)> {
    let ExprKind::Call { function, args } = &conjunct.kind else { return None };
    let [left, right] = &args[..] else { return None };
    if !RELATIONS.contains(function) {
        return None;
    }
    let column_of = |expr: &Expr| match expr.kind {
        ExprKind::Column { source: of, column } if of == source => Some(column),
        _ => None,
    };
    match (column_of(left), column_of(right)) {
        (Some(column), None) if is_known(right) => Some((column, right)),
        (None, Some(column)) if is_known(left) => Some((column, left)),
        _ => None,
    }
}

/// Is its value the same for all rows, and known when the scan begins?
fn is_known(expr: &Expr) -> bool {
    use ExprKind as K;
    let varies = |expr: &Expr| {
        matches!(expr.kind, K::Column { .. } | K::ColumnOrdinal { .. } | K::Slot(_) | K::Subquery(_) | K::AssignVariable { .. })
            || matches!(expr.kind, K::InsertValue { .. } | K::Row(_))
    };
    !is_volatile(expr) && !expr.any(&varies)
}
