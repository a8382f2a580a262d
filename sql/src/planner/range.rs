//! Range analysis: derives key ranges of one index from the conjuncts.
//!
//! Columns of the index are taken in order. A column with an equality (or IS NULL, `<=>`) extends the common prefix of
//! the ranges. An IN list multiplies the ranges. The first column with an inequality ends them. If no simple conjunct
//! applies, a conjunct that is an OR is tried: each of its branches, together with the simple conjuncts, must give
//! ranges.
//!
//! R1: a row that satisfies the conjuncts lies in one of the ranges.
//! R2: a conjunct in `exact` is true for every row in the ranges, so no filter has to repeat it.

use super::FromBlock;
use crate::bind::constant;
use crate::plan::{Bound, KeyRange};
use expr::{Class, CompareAs, CompareOp, Expr, ExprKind, class};
use std::cell::Cell;
use std::sync::Arc;
use types::schema::{IndexDef, TableDef};
use types::statistics::TableStatistics;
use types::{CollationId, ColumnType, TypeKind, Value};

/// Most ranges of one access path; an index column that would give more is left to the filter.
const RANGES_MAX: usize = 16_384;
/// Most ranges that several columns' lists are multiplied to.
const PRODUCT_MAX: usize = 512;
/// OR within OR is followed this deep.
const OR_DEPTH_MAX: usize = 3;
/// Conjuncts looked at in branches for one index, before its ranges are given up: each branch of an OR is looked at together with all the other
/// conjuncts, so many ORs that are ANDed cost their square.
const LOOKS_MAX: usize = 200_000;

/// The use of an index for the conjuncts.
#[derive(Clone, Debug)]
pub(super) struct IndexRanges {
    pub ranges: Vec<KeyRange>,
    /// The number of leading index columns that have a single value over all ranges.
    pub fixed: usize,
    /// Every range fixes all columns of the index by plain equality.
    pub all_columns: bool,
    /// Rows that the ranges are expected to hold, for an index that is not unique.
    pub rows: f64,
    /// Positions of conjuncts that need no filter.
    pub exact: Vec<usize>,
}

/// One table's view of a list of conjuncts.
pub(super) struct Analysis<'a> {
    pub table: &'a TableDef,
    pub source: usize,
    /// Sources whose current row is known when this one is read.
    pub available: &'a [bool],
    /// Estimated rows of the table.
    pub total: f64,
    /// Conjuncts that may still be looked at in branches of ORs.
    pub budget: Cell<usize>,
    /// The block, whose context has the table's statistics.
    pub block: &'a FromBlock<'a>,
    pub statistics: Option<Arc<TableStatistics>>,
    /// The number of the index that is looked at.
    pub index: Cell<usize>,
}

/// A condition on one column.
enum Condition<'e> {
    Equal(&'e Expr),
    NullSafeEqual(&'e Expr),
    IsNull,
    In(&'e [Expr]),
    Low(&'e Expr, Bound),
    High(&'e Expr, Bound),
    Between(&'e Expr, &'e Expr),
    /// LIKE 'abc%'
    Prefix(Expr, Expr),
}

/// The best of each kind for one column, with the positions of the conjuncts.
#[derive(Default)]
struct ColumnConditions<'e> {
    equal: Option<(usize, Condition<'e>, bool)>,
    list: Option<(usize, &'e [Expr], bool)>,
    low: Option<(usize, Expr, Bound, bool)>,
    high: Option<(usize, Expr, Bound, bool)>,
}

impl<'a> Analysis<'a> {
    /// Ranges of an index for these conjuncts; `None` when they say nothing about its first column.
    pub fn ranges(&self, number: usize, conjuncts: &[&Expr]) -> Option<IndexRanges> {
        self.budget.set(LOOKS_MAX);
        self.index.set(number);
        let index = &self.table.indexes[number];
        self.ranges_at(index, conjuncts, 0)
    }

    /// As [`Self::ranges`], of columns that are not the first ones of the index.
    pub fn ranges_of(&self, number: usize, behind: &IndexDef, conjuncts: &[&Expr]) -> Option<IndexRanges> {
        self.budget.set(LOOKS_MAX);
        self.index.set(number);
        self.ranges_at(behind, conjuncts, 0)
    }

    fn ranges_at(&self, index: &IndexDef, conjuncts: &[&Expr], depth: usize) -> Option<IndexRanges> {
        let mut out = IndexRanges {
            ranges: vec![KeyRange { prefix: Vec::new(), null_safe: Vec::new(), low: None, high: None }],
            fixed: 0,
            all_columns: true,
            rows: self.total,
            exact: Vec::new(),
        };
        let mut plain = true;
        for (place, part) in index.columns.iter().enumerate() {
            let found = self.column_conditions(part.column, conjuncts);
            let cut = part.prefix.is_some();
            if let Some((position, condition, exact)) = found.equal {
                let (value, null_safe) = match condition {
                    Condition::Equal(value) => (value.clone(), false),
                    Condition::NullSafeEqual(value) => (value.clone(), true),
                    _ => (null(), true),
                };
                plain &= !null_safe;
                for range in &mut out.ranges {
                    range.prefix.push(value.clone());
                    range.null_safe.push(null_safe);
                }
                if out.fixed == place {
                    out.fixed += 1;
                }
                out.note(position, exact && !cut);
                out.rows = self.equal_rows(place, out.rows);
                continue;
            }
            if let Some((position, list, exact)) = found.list {
                let limit = if out.ranges.len() == 1 { RANGES_MAX } else { PRODUCT_MAX };
                if out.ranges.len() * list.len() <= limit {
                    out.multiply(list);
                    out.note(position, exact && !cut);
                    out.rows = (list.len() as f64 * self.equal_rows(place, out.rows)).min(out.rows);
                    continue;
                }
            }
            out.all_columns = false;
            if found.low.is_some() || found.high.is_some() {
                let part = self.bounded_part(part.column, &found);
                out.bound(found.low, found.high, cut, part);
                return Some(out);
            }
            if (place == 0 || out.ranges[0].prefix.len() == place)
                && let Some(expanded) = self.or_ranges(index, conjuncts, depth, place)
            {
                return Some(expanded);
            }
            return (place > 0).then_some(out);
        }
        out.all_columns &= plain;
        (!index.columns.is_empty()).then_some(out)
    }

    /// Handles a conjunct that is an OR: the union of the ranges of its branches. `place` is the number of columns that
    /// simple conjuncts restrict already; each branch must restrict more.
    fn or_ranges(&self, index: &IndexDef, conjuncts: &[&Expr], depth: usize, place: usize) -> Option<IndexRanges> {
        if depth >= OR_DEPTH_MAX {
            return None;
        }
        for (position, conjunct) in conjuncts.iter().enumerate() {
            let ExprKind::Or(branches) = &conjunct.kind else { continue };
            if self.budget.get() == 0 {
                return None;
            }
            let mut union = IndexRanges { ranges: Vec::new(), fixed: 0, all_columns: true, rows: 0.0, exact: Vec::new() };
            let mut others: Vec<&Expr> = conjuncts.to_vec();
            others.remove(position);
            let mut exact = true;
            let fits = branches.iter().all(|branch| {
                let parts: Vec<&Expr> = match &branch.kind {
                    ExprKind::And(parts) => parts.iter().collect(),
                    _ => vec![branch],
                };
                let own = parts.len();
                let mut all = parts;
                all.extend(others.iter().copied());
                self.budget.set(self.budget.get().saturating_sub(all.len()));
                if self.budget.get() == 0 {
                    return false;
                }
                let Some(found) = self.ranges_at(index, &all, depth + 1) else { return false };
                let better = found.ranges.iter().all(|r| r.prefix.len() > place || r.low.is_some() || r.high.is_some());
                exact &= (0..own).all(|n| found.exact.contains(&n));
                union.rows += found.rows;
                union.all_columns &= found.all_columns;
                union.ranges.extend(found.ranges);
                better && union.ranges.len() <= RANGES_MAX
            });
            if fits {
                if exact {
                    union.exact.push(position);
                }
                union.rows = union.rows.min(self.total);
                return Some(union);
            }
        }
        None
    }

    /// The part of the rows between the bounds of a column.
    fn bounded_part(&self, column: usize, found: &ColumnConditions<'_>) -> f64 {
        let edge = |end: &Option<(usize, Expr, Bound, bool)>| {
            end.as_ref().map(|(_, value, bound, _)| (value.clone(), *bound == Bound::Inclusive))
        };
        let (low, high) = (edge(&found.low), edge(&found.high));
        let low = low.as_ref().map(|(value, inclusive)| (value, *inclusive));
        let high = high.as_ref().map(|(value, inclusive)| (value, *inclusive));
        let usual = if low.is_some() && high.is_some() { 0.05 } else { 0.15 };
        self.block.between((self.source, column), low, high).unwrap_or(usual)
    }

    /// The rows with one value in the index column at `place`, out of `rows` with given values in the columns before
    /// it. Without statistics, a group is expected to hold the cube root of the table's rows.
    fn equal_rows(&self, place: usize, rows: f64) -> f64 {
        let distinct = |columns| self.statistics.as_ref().and_then(|s| s.distinct_prefix(self.index.get(), columns));
        if let Some(with) = distinct(place + 1) {
            let before = if place == 0 { 1.0 } else { distinct(place).unwrap_or(1.0) };
            return rows * (before.max(1.0) / with.max(1.0)).min(1.0);
        }
        if place == 0 { self.total.cbrt().min(rows) } else { (rows * 0.1).max(1.0) }
    }

    fn column_conditions<'e>(&self, column: usize, conjuncts: &[&'e Expr]) -> ColumnConditions<'e> {
        let mut found = ColumnConditions::default();
        for (position, conjunct) in conjuncts.iter().enumerate() {
            let Some((condition, exact)) = self.condition(column, conjunct) else { continue };
            match condition {
                Condition::Equal(_) | Condition::NullSafeEqual(_) | Condition::IsNull => {
                    if found.equal.is_none() {
                        found.equal = Some((position, condition, exact));
                    }
                }
                Condition::In(list) => {
                    if found.list.as_ref().is_none_or(|(_, best, _)| list.len() < best.len()) {
                        found.list = Some((position, list, exact));
                    }
                }
                Condition::Low(value, bound) => {
                    if found.low.is_none() {
                        found.low = Some((position, value.clone(), bound, exact));
                    }
                }
                Condition::High(value, bound) => {
                    if found.high.is_none() {
                        found.high = Some((position, value.clone(), bound, exact));
                    }
                }
                Condition::Between(low, high) => {
                    // One position for two bounds: dropped from the filter only when both are used.
                    if found.low.is_none() && found.high.is_none() {
                        found.low = Some((position, low.clone(), Bound::Inclusive, exact));
                        found.high = Some((position, high.clone(), Bound::Inclusive, exact));
                    }
                }
                Condition::Prefix(low, high) => {
                    if found.low.is_none() && found.high.is_none() {
                        found.low = Some((position, low, Bound::Inclusive, false));
                        found.high = Some((position, high, Bound::Inclusive, false));
                    }
                }
            }
        }
        found
    }

    /// The restriction that a conjunct puts on a column, and whether a range expresses all of the conjunct.
    fn condition<'e>(&self, column: usize, conjunct: &'e Expr) -> Option<(Condition<'e>, bool)> {
        let ty = &self.table.columns[column].ty;
        match &conjunct.kind {
            ExprKind::Compare { op, by, left, right } => {
                let (value, op) = if self.is_column(left, column) && self.is_known(right) {
                    (right, *op)
                } else if self.is_column(right, column) && self.is_known(left) {
                    (left, op.mirrored())
                } else {
                    return None;
                };
                let equality = op == CompareOp::Equal || op == CompareOp::NullSafeEqual;
                if !equality && may_be_no_date(ty, value) {
                    return None;
                }
                let exact = usable(ty, *by, &value.ty, equality)?;
                let condition = match op {
                    CompareOp::Equal => Condition::Equal(value),
                    CompareOp::NullSafeEqual => Condition::NullSafeEqual(value),
                    CompareOp::Less => Condition::High(value, Bound::Exclusive),
                    CompareOp::LessOrEqual => Condition::High(value, Bound::Inclusive),
                    CompareOp::Greater => Condition::Low(value, Bound::Exclusive),
                    CompareOp::GreaterOrEqual => Condition::Low(value, Bound::Inclusive),
                    CompareOp::NotEqual => return None,
                };
                Some((condition, exact))
            }
            ExprKind::In { arg, list, by, negated: false } => {
                if !self.is_column(arg, column) || !list.iter().all(|value| self.is_known(value)) {
                    return None;
                }
                let mut exact = true;
                for value in list {
                    exact &= usable(ty, *by, &value.ty, true)?;
                }
                Some((Condition::In(list), exact))
            }
            ExprKind::Between { arg, low, high, by, negated: false } => {
                if !self.is_column(arg, column) || !self.is_known(low) || !self.is_known(high) {
                    return None;
                }
                if may_be_no_date(ty, low) || may_be_no_date(ty, high) {
                    return None;
                }
                let exact = usable(ty, *by, &low.ty, false)? & usable(ty, *by, &high.ty, false)?;
                Some((Condition::Between(low, high), exact))
            }
            ExprKind::IsNull { arg, negated: false } => self.is_column(arg, column).then_some((Condition::IsNull, true)),
            ExprKind::Like { arg, pattern, escape, collation, negated: false } => {
                if !self.is_column(arg, column) || ty.collation != *collation {
                    return None;
                }
                let (low, high) = like_bounds(pattern, *escape, ty)?;
                Some((Condition::Prefix(low, high), false))
            }
            _ => None,
        }
    }

    fn is_column(&self, expr: &Expr, column: usize) -> bool {
        match expr.kind {
            ExprKind::Column { source, column: c } | ExprKind::ColumnOrdinal { source, column: c } => {
                source == self.source && c == column
            }
            _ => false,
        }
    }

    /// Can the expression be computed before this table is read?
    fn is_known(&self, expr: &Expr) -> bool {
        let mut sources = vec![false; self.available.len()];
        super::sources_of(expr, &mut sources);
        sources.iter().zip(self.available).all(|(used, known)| !used || *known) && !expr::is_volatile(expr)
    }
}

impl IndexRanges {
    fn note(&mut self, position: usize, exact: bool) {
        if exact {
            self.exact.push(position);
        }
    }

    /// One more prefix column with each of these values.
    fn multiply(&mut self, list: &[Expr]) {
        let mut ranges = Vec::with_capacity(self.ranges.len() * list.len());
        for range in &self.ranges {
            for value in list {
                let mut next = range.clone();
                next.prefix.push(value.clone());
                next.null_safe.push(false);
                ranges.push(next);
            }
        }
        self.ranges = ranges;
    }

    /// A range of the column after the prefix.
    fn bound(&mut self, low: Option<(usize, Expr, Bound, bool)>, high: Option<(usize, Expr, Bound, bool)>, cut: bool, part: f64) {
        self.rows *= part;
        for (position, _, _, exact) in low.iter().chain(&high) {
            if *exact && !cut && !self.exact.contains(position) {
                self.exact.push(*position);
            }
        }
        // A prefix index holds the beginnings of values: a bound may cut off values that begin like it.
        let keep = |bound: Bound| if cut { Bound::Inclusive } else { bound };
        for range in &mut self.ranges {
            range.low = low.as_ref().map(|(_, value, bound, _)| (value.clone(), keep(*bound)));
            range.high = high.as_ref().map(|(_, value, bound, _)| (value.clone(), keep(*bound)));
        }
    }
}

fn null() -> Expr {
    Expr::literal(Value::Null, ColumnType::new(TypeKind::Null))
}

/// Can an index on a column of this type serve a comparison of this kind? `Some(true)`: the ranges are exact;
/// `Some(false)`: the ranges contain all matching rows, but a filter must check them.
fn usable(column: &ColumnType, by: CompareAs, value: &ColumnType, equality: bool) -> Option<bool> {
    match &column.kind {
        // Keys are ordinals: equality alone, and numbers.
        TypeKind::Enum { .. } => match by {
            CompareAs::String(collation) => {
                (equality && collation == column.collation && class(value) == Class::String).then_some(false)
            }
            CompareAs::Integer => Some(false),
            _ => None,
        },
        TypeKind::Set { .. } => (by == CompareAs::Integer).then_some(false),
        TypeKind::Json => None,
        _ => match (class(column), by) {
            (Class::Integer, CompareAs::Integer) => Some(true),
            (Class::Integer, CompareAs::Decimal) => Some(true),
            // `id = '5'` as a parameter: the number in the string.
            (Class::Integer, CompareAs::Double) => Some(false),
            (Class::Decimal, CompareAs::Decimal | CompareAs::Integer) => Some(true),
            (Class::Decimal, CompareAs::Double) => Some(false),
            (Class::Double, CompareAs::Double) => Some(matches!(column.kind, TypeKind::Double)),
            (Class::String, CompareAs::String(collation)) => {
                (collation == column.collation && class(value) == Class::String).then_some(true)
            }
            (Class::Date | Class::DateTime, CompareAs::Temporal) => Some(matches!(class(value), Class::Date | Class::DateTime)),
            (Class::Time, CompareAs::Time) => Some(class(value) == Class::Time),
            _ => None,
        },
    }
}

/// Is it a string from rows, beside a column of dates or times? A string that is not a date is compared as one, but cannot
/// bound a range.
fn may_be_no_date(column: &ColumnType, value: &Expr) -> bool {
    matches!(class(column), Class::Date | Class::DateTime | Class::Time)
        && class(&value.ty) == Class::String
        && value.any(&|e| matches!(e.kind, ExprKind::Column { .. } | ExprKind::Subquery(_)))
}

/// The first and the last text that begin with a pattern's literal head. Only collations without padding: with it, texts that end in
/// control characters sort before the head itself.
fn like_bounds(pattern: &Expr, escape: Option<u8>, column: &ColumnType) -> Option<(Expr, Expr)> {
    let Some(Value::Bytes(text)) = constant(pattern) else { return None };
    if class(column) != Class::String || column.collation.pads_space() || !types::collation::has_prefix_ranges(column.collation) {
        return None;
    }
    let prefix = types::collation::like_prefix(text, escape).prefix;
    if prefix.is_empty() {
        return None;
    }
    let low = Expr::literal(Value::Bytes(prefix.clone().into()), pattern.ty.clone());
    let mut last = prefix;
    if column.collation == CollationId::BINARY {
        last.extend([0xff; 16]);
    } else {
        // The character with the highest weight.
        (0..16).for_each(|_| last.extend("\u{10FFFF}".as_bytes()));
    }
    Some((low, Expr::literal(Value::Bytes(last.into()), pattern.ty.clone())))
}
