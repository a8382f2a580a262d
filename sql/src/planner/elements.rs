//! Access by a multi-valued index: the rows whose array has an element that a condition asks for.
//!
//! N1: the condition is judged on each row that is found; the index only leaves rows out that cannot satisfy it.
//! N2: the columns before the array in the index have each one value.

use super::access::{Candidate, FETCH_COST, SEEK_COST};
use super::{FromBlock, SourceSet};
use crate::key_part::array_part;
use crate::plan::{Access, KeyRange};
use crate::row_expr::bind_row_expr;
use crate::same_expr::{is_same, is_timestamp};
use expr::function::AskedOfArray;
use expr::{Class, Expr, ExprKind, Function as F, class, is_volatile};
use types::ColumnType;
use types::schema::{IndexDef, IndexKind};

/// A condition over an array: the array and the side that says what it has to have.
struct Asked<'e> {
    how: AskedOfArray,
    array: &'e Expr,
    constant: &'e Expr,
}

impl FromBlock<'_> {
    /// The rows that may satisfy one of the conditions, if a multi-valued index over its array can say which these are.
    pub(super) fn rows_of_elements(
        &self,
        source: usize,
        conjuncts: &[&Expr],
        available: &SourceSet,
        total: f64,
    ) -> Option<Candidate> {
        let table = &self.sources[source].table;
        let is_multi = |index: &IndexDef| matches!(index.kind, IndexKind::MultiValued { .. });
        // Most tables have none.
        if !table.indexes.iter().any(is_multi) {
            return None;
        }
        let asked: Vec<Asked<'_>> = conjuncts
            .iter()
            .flat_map(|conjunct| asked_of(conjunct))
            .filter(|asked| is_known(asked.constant, available))
            .collect();
        if asked.is_empty() {
            return None;
        }
        let from = &self.sources[source];
        let mut best: Option<Candidate> = None;
        for (number, index) in table.indexes.iter().enumerate().filter(|(_, index)| is_multi(index)) {
            let is_allowed = (!index.invisible || self.context.switches().use_invisible_indexes)
                && from.indexes.as_ref().is_none_or(|allowed| allowed.contains(&number));
            let Some(place) = index.columns.iter().position(|part| table.columns[part.column].element.is_some()) else {
                continue;
            };
            let Some(generated) = table.columns[index.columns[place].column].generated.as_ref().filter(|_| is_allowed) else {
                continue;
            };
            // This cannot fail: the definition of the table bound it before.
            let Ok(mut expr) = bind_row_expr(&generated.expr.text, table) else { continue };
            expr.map_sources(&|_| source);
            let Some((array, element)) = array_part(&expr) else { continue };
            // The value would depend on the time zone of the session that wrote the row.
            if array.any(&is_timestamp) {
                continue;
            }
            let is_meant =
                |asked: &&Asked<'_>| may_be_sought(asked.constant, element) && is_same(self.context, asked.array, array);
            let Some(asked) = asked.iter().find(is_meant) else { continue };
            let Some((prefix, part)) = self.prefix_of(source, (number, place), conjuncts, available, total) else { continue };
            // Without statistics, a value is expected to have the cube root of the rows.
            let rows = (total.cbrt() * part).max(1.0);
            // As in MySQL, it is preferred even where the table is small.
            let cost = (SEEK_COST + rows * FETCH_COST).min(total / 2.0);
            let (asked, constant) = (asked.how, Box::new(asked.constant.clone()));
            let access = Access::Elements { index: number, prefix: Box::new(prefix), asked, constant };
            let (exact, estimated) = (Vec::new(), Vec::new());
            let found = Candidate { access, rows, cost, exact, estimated, ordered: false, selective: true };
            if best.as_ref().is_none_or(|best| found.rows < best.rows) {
                best = Some(found);
            }
        }
        best
    }

    /// N2: the values of the columns before the array, and the part of the rows that has them.
    fn prefix_of(
        &self,
        source: usize,
        (number, place): (usize, usize),
        conjuncts: &[&Expr],
        available: &SourceSet,
        total: f64,
    ) -> Option<(KeyRange, f64)> {
        let none = KeyRange { prefix: Vec::new(), null_safe: Vec::new(), low: None, high: None };
        if place == 0 {
            return Some((none, 1.0));
        }
        let index = &self.sources[source].table.indexes[number];
        let before = IndexDef { columns: index.columns[..place].to_vec(), kind: IndexKind::Secondary, ..index.clone() };
        let analysis = self.analysis(source, available, total, self.statistics_of(source));
        let mut found = analysis.ranges_of(number, &before, conjuncts)?;
        let is_fixed = |range: &KeyRange| range.prefix.len() == place && range.low.is_none() && range.high.is_none();
        match found.ranges.pop() {
            Some(range) if found.ranges.is_empty() && is_fixed(&range) => Some((range, (found.rows / total.max(1.0)).min(1.0))),
            _ => None,
        }
    }
}

/// The ways to look at a condition as one over an array.
fn asked_of(call: &Expr) -> Vec<Asked<'_>> {
    let ExprKind::Call { function, args } = &call.kind else { return Vec::new() };
    let of = |how, array: usize, constant: usize| Asked { how, array: &args[array], constant: &args[constant] };
    match (*function, args.len()) {
        (F::JSON_MEMBER_OF, 2) => vec![of(AskedOfArray::Member, 1, 0)],
        (F::JSON_CONTAINS, 2) => vec![of(AskedOfArray::All, 0, 1)],
        (F::JSON_OVERLAPS, 2) => vec![of(AskedOfArray::Any, 0, 1), of(AskedOfArray::Any, 1, 0)],
        _ => Vec::new(),
    }
}

/// Can it be known of the type alone that the constant says nothing about the elements? See `types::element`.
fn may_be_sought(constant: &Expr, element: &ColumnType) -> bool {
    let is_text = |ty: &ColumnType| matches!(class(ty), Class::String | Class::Json | Class::Null);
    let is_number = |ty: &ColumnType| matches!(class(ty), Class::Integer | Class::Decimal | Class::Double);
    is_text(&constant.ty) || is_number(&constant.ty) == is_number(element) && !is_text(element)
}

/// Is its value known before the rows of the table are read?
pub(super) fn is_known(expr: &Expr, available: &SourceSet) -> bool {
    use ExprKind as K;
    let varies = |expr: &Expr| match expr.kind {
        K::Column { source, .. } | K::ColumnOrdinal { source, .. } => !available.get(source).copied().unwrap_or(false),
        K::Slot(_) | K::Subquery(_) | K::AssignVariable { .. } | K::InsertValue { .. } | K::Row(_) => true,
        _ => false,
    };
    !is_volatile(expr) && !expr.any(&varies)
}
