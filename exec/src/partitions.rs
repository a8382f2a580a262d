//! The partitions of a table in which a scan can find rows, as EXPLAIN shows them.
//!
//! 1. The scan's ranges and its filter are *facts* about single columns: a column has one of some values, or is above or below a value.
//! 2. If every column of the partition function has one of few values, the function is computed for all combinations.
//! 3. Otherwise, for RANGE and LIST, bounds of the only (or first) column give bounds of the partitions, if the expression is monotonic.
//! 4. An OR allows the partitions of any branch; facts together allow the partitions that each of them allows.
//!
//! 5. Subpartitions are found in the same way.
//!
//! P1: a partition that is left out has no row of the scan. A superfluous partition is allowed.

use crate::access;
use crate::estimate::Constants;
use expr::{CompareAs, CompareOp, Env, Expr, ExprKind, Function};
use sql::plan::{Access, Bound, KeyRange, Scan};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use table::Table;
use types::Value;
use types::partition::PartitionFunction;

/// The most combinations of values for which the function is computed.
const COMBINATIONS_MAX: usize = 1024;
/// The most numbers between two bounds that are tried one by one.
const WALK_MAX: i128 = 32;

/// A fact about a column.
#[derive(Clone, Copy)]
enum Fact<'e> {
    Equal(usize, &'e Expr),
    Null(usize),
    In(usize, &'e [Expr]),
    /// `true`: the value itself is included.
    Low(usize, &'e Expr, bool),
    High(usize, &'e Expr, bool),
}

/// The values that a column may have.
#[derive(Default)]
struct Known {
    points: Option<Vec<Value<'static>>>,
    low: Option<(Value<'static>, bool)>,
    high: Option<(Value<'static>, bool)>,
}

struct Pruning<'p> {
    constants: &'p Constants<'p>,
    table: &'p Table,
    source: usize,
    /// Partitions, and subpartitions if there are any.
    levels: Vec<Level<'p>>,
}

/// One partition function, and the columns that it reads.
struct Level<'p> {
    function: &'p PartitionFunction,
    args: &'p [Expr],
    columns: Vec<usize>,
}

impl Constants<'_> {
    /// The numbers of the partitions in which the scan can find rows; `None`: the table has none.
    pub fn partitions(&self, table: &Table, scan: &Scan) -> Option<Vec<usize>> {
        let partitioning = table.def().partitioning.as_deref()?;
        let number = crate::dml::bind_partition(table.def()).ok()?;
        let ExprKind::Partition(call) = &number.kind else { return None };
        let (own, others) = call.args.split_at(call.function.own_values());
        let mut levels = vec![Level { function: &call.function, args: own, columns: partitioning.columns_in(table.def())? }];
        if let Some(sub) = call.function.sub() {
            levels.push(Level { function: sub, args: others, columns: sub.definition().columns_in(table.def())? });
        }
        let pruning = Pruning { constants: self, table, source: scan.source, levels };
        let filters = scan.filter.iter().chain(scan.index_filter.as_deref());
        let conditions: Vec<&Expr> = filters.flat_map(conjuncts).collect();
        let allowed =
            &pruning.of_access(&scan.access) & &pruning.of_conjuncts(&conditions, &[], &pruning.facts_of_access(&scan.access));
        Some(allowed.into_iter().collect())
    }
}

fn conjuncts(filter: &Expr) -> Vec<&Expr> {
    match &filter.kind {
        ExprKind::And(parts) => parts.iter().flat_map(conjuncts).collect(),
        _ => vec![filter],
    }
}

impl<'p> Pruning<'p> {
    fn all(&self) -> BTreeSet<usize> {
        (0..self.levels.iter().map(|level| level.function.count()).product()).collect()
    }

    fn of_access(&self, access: &Access) -> BTreeSet<usize> {
        match access {
            Access::Ranges { index, ranges, .. } => self.of_ranges(*index, ranges),
            Access::Merge(merge) => {
                let mut sets = merge.parts.iter().map(|(index, ranges)| self.of_ranges(*index, ranges));
                let first = sets.next().unwrap_or_else(|| self.all());
                sets.fold(first, |all, set| if merge.intersection { &all & &set } else { &all | &set })
            }
            Access::Nothing => BTreeSet::new(),
            _ => self.all(),
        }
    }

    /// The facts about all rows of an access path.
    fn facts_of_access<'e>(&self, access: &'e Access) -> Vec<Fact<'e>> {
        match access {
            Access::Point { index, key } => {
                let parts = &self.table.def().indexes[*index].columns;
                parts.iter().zip(key).map(|(part, value)| Fact::Equal(part.column, value)).collect()
            }
            Access::Ranges { index, ranges, .. } => match ranges.as_slice() {
                [range] => self.facts_of_range(*index, range),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn of_ranges(&self, index: usize, ranges: &[KeyRange]) -> BTreeSet<usize> {
        let of = |range| self.of_facts(&self.facts_of_range(index, range));
        ranges.iter().map(of).fold(BTreeSet::new(), |any, set| &any | &set)
    }

    fn facts_of_range<'e>(&self, index: usize, range: &'e KeyRange) -> Vec<Fact<'e>> {
        let parts = &self.table.def().indexes[index].columns;
        let mut facts = Vec::new();
        for (n, (value, null_safe)) in range.prefix.iter().zip(&range.null_safe).enumerate() {
            // A prefix only says that the column begins like the value.
            if parts[n].prefix.is_some() {
                continue;
            }
            match null_safe {
                false => facts.push(Fact::Equal(parts[n].column, value)),
                true if matches!(value.kind, ExprKind::Literal(Value::Null)) => facts.push(Fact::Null(parts[n].column)),
                true => {}
            }
        }
        if let Some(part) = parts.get(range.prefix.len()).filter(|part| part.prefix.is_none()) {
            facts.extend(range.low.iter().map(|(value, bound)| Fact::Low(part.column, value, *bound == Bound::Inclusive)));
            facts.extend(range.high.iter().map(|(value, bound)| Fact::High(part.column, value, *bound == Bound::Inclusive)));
        }
        facts
    }

    /// The partitions that conditions allow, together with the conditions around them.
    fn of_conjuncts(&self, conditions: &[&Expr], around: &[&Expr], known: &[Fact<'_>]) -> BTreeSet<usize> {
        let all: Vec<&Expr> = conditions.iter().chain(around).copied().collect();
        let facts: Vec<Fact<'_>> = known.iter().copied().chain(all.iter().flat_map(|condition| self.facts(condition))).collect();
        let mut allowed = self.of_facts(&facts);
        for condition in conditions {
            match &condition.kind {
                ExprKind::Or(branches) => {
                    let others: Vec<&Expr> = all.iter().copied().filter(|other| !std::ptr::eq(*other, *condition)).collect();
                    let of = |branch: &Expr| self.of_conjuncts(&conjuncts(branch), &others, known);
                    let any = branches.iter().map(of).fold(BTreeSet::new(), |any, set| &any | &set);
                    allowed = &allowed & &any;
                }
                // PARTITION (p0, p1)
                ExprKind::In { arg, list, negated: false, .. } if matches!(arg.kind, ExprKind::Partition(_)) => {
                    let number = |value: &Expr| match value.kind {
                        ExprKind::Literal(Value::Int(number)) => usize::try_from(number).ok(),
                        _ => None,
                    };
                    allowed = &allowed & &list.iter().filter_map(number).collect();
                }
                _ => {}
            }
        }
        allowed
    }

    /// The scan's column, if the expression is one.
    fn column(&self, expr: &Expr) -> Option<usize> {
        match expr.kind {
            ExprKind::Column { source, column } if source == self.source => Some(column),
            _ => None,
        }
    }

    fn facts<'e>(&self, condition: &'e Expr) -> Vec<Fact<'e>> {
        let comparable = |column: usize, by: CompareAs| match by {
            CompareAs::String(collation) => self.table.def().columns[column].ty.collation == collation,
            CompareAs::Json => false,
            _ => true,
        };
        match &condition.kind {
            ExprKind::Compare { op, by, left, right } => {
                let (column, value, op) = match (self.column(left), self.column(right)) {
                    (Some(column), None) => (column, &**right, *op),
                    (None, Some(column)) => (column, &**left, op.mirrored()),
                    _ => return Vec::new(),
                };
                if !comparable(column, *by) {
                    return Vec::new();
                }
                match op {
                    CompareOp::Equal => vec![Fact::Equal(column, value)],
                    CompareOp::Less | CompareOp::LessOrEqual => {
                        vec![Fact::High(column, value, op == CompareOp::LessOrEqual)]
                    }
                    CompareOp::Greater | CompareOp::GreaterOrEqual => {
                        vec![Fact::Low(column, value, op == CompareOp::GreaterOrEqual)]
                    }
                    CompareOp::NotEqual | CompareOp::NullSafeEqual => Vec::new(),
                }
            }
            ExprKind::In { arg, list, by, negated: false } => match self.column(arg) {
                Some(column) if comparable(column, *by) => vec![Fact::In(column, list)],
                _ => Vec::new(),
            },
            ExprKind::Between { arg, low, high, by, negated: false } => match self.column(arg) {
                Some(column) if comparable(column, *by) => vec![Fact::Low(column, low, true), Fact::High(column, high, true)],
                _ => Vec::new(),
            },
            ExprKind::IsNull { arg, negated: false } => self.column(arg).map(Fact::Null).into_iter().collect(),
            _ => Vec::new(),
        }
    }

    fn of_facts(&self, facts: &[Fact<'_>]) -> BTreeSet<usize> {
        let first = self.of_level(&self.levels[0], facts);
        let Some(sub) = self.levels.get(1) else { return first };
        let numbers = self.of_level(sub, facts);
        first.iter().flat_map(|place| numbers.iter().map(move |number| place * sub.function.count() + number)).collect()
    }

    fn of_level(&self, level: &Level<'_>, facts: &[Fact<'_>]) -> BTreeSet<usize> {
        let known: Vec<Known> = level.columns.iter().map(|&column| self.known(column, facts)).collect();
        let found = if known.iter().all(|known| known.points.is_some()) {
            self.of_points(level, &known)
        } else {
            self.of_bounds(level, &known)
        };
        found.unwrap_or_else(|| (0..level.function.count()).collect())
    }

    /// The facts about one column.
    fn known(&self, column: usize, facts: &[Fact<'_>]) -> Known {
        let mut known = Known::default();
        for fact in facts {
            match fact {
                Fact::Equal(c, value) if *c == column => {
                    if let Some(points) = self.points(column, std::slice::from_ref(*value)) {
                        known.points = Some(points);
                    }
                }
                Fact::In(c, list) if *c == column && known.points.is_none() => known.points = self.points(column, list),
                Fact::Null(c) if *c == column => known.points = Some(vec![Value::Null]),
                Fact::Low(c, value, inclusive) if *c == column => {
                    if let Some(Some((value, order))) = self.value(column, value) {
                        // A value that was rounded down is below the range; one that was rounded up is its first value.
                        let inclusive = order == Ordering::Greater || order == Ordering::Equal && *inclusive;
                        known.low = Some((value, inclusive));
                    }
                }
                Fact::High(c, value, inclusive) if *c == column => {
                    if let Some(Some((value, order))) = self.value(column, value) {
                        // A value that was rounded down is below the bound.
                        known.high = Some((value, *inclusive || order != Ordering::Equal));
                    }
                }
                _ => {}
            }
        }
        if known.points.is_none() {
            known.points = between_numbers(&known);
        }
        known
    }

    /// The column's values that are equal to one of these; `None`: not known.
    fn points(&self, column: usize, list: &[Expr]) -> Option<Vec<Value<'static>>> {
        let mut points = Vec::with_capacity(list.len());
        for value in list {
            // NULL, or a value that the column cannot have, matches no rows.
            if let Some((value, Ordering::Equal)) = self.value(column, value)? {
                points.push(value);
            }
        }
        Some(points)
    }

    /// A constant as a value of the column; `Some(None)`: it equals none.
    fn value(&self, column: usize, value: &Expr) -> Option<Option<(Value<'static>, Ordering)>> {
        let reads = |e: &Expr| {
            matches!(e.kind, ExprKind::Column { .. } | ExprKind::ColumnOrdinal { .. } | ExprKind::Slot(_) | ExprKind::Subquery(_))
        };
        if value.any(&reads) {
            return None;
        }
        let ty = &self.table.def().columns[column].ty;
        self.constants
            .with(value, |env, value| Ok(access::key_value(env, value, ty)?.map(|(value, order)| (value.into_owned(), order))))
    }

    /// The partitions of all combinations of values.
    fn of_points(&self, level: &Level<'_>, known: &[Known]) -> Option<BTreeSet<usize>> {
        let lists: Vec<&Vec<Value<'static>>> = known.iter().filter_map(|known| known.points.as_ref()).collect();
        let combinations = lists.iter().try_fold(1usize, |product, list| product.checked_mul(list.len()))?;
        if combinations > COMBINATIONS_MAX {
            return None;
        }
        let mut allowed = BTreeSet::new();
        for mut n in 0..combinations {
            let mut values = Vec::with_capacity(lists.len());
            for (column, list) in level.columns.iter().zip(&lists) {
                values.push((*column, list[n % list.len()].clone()));
                n /= list.len();
            }
            allowed.extend(self.locate(level, &values)?);
        }
        Some(allowed)
    }

    /// The partition of rows with these values; inner `None`: there is none; outer `None`: it cannot be computed.
    fn locate(&self, level: &Level<'_>, values: &[(usize, Value<'static>)]) -> Option<Option<usize>> {
        let found = match level.function.definition().by.expr() {
            None => {
                let values: Vec<Value<'static>> = values.iter().map(|(_, value)| value.clone()).collect();
                level.function.locate_own(&values)
            }
            Some(_) => level.function.locate_own(&[self.expression(level, values)?]),
        };
        found.ok()
    }

    /// The partitioning expression for values of its columns.
    fn expression(&self, level: &Level<'_>, values: &[(usize, Value<'static>)]) -> Option<Value<'static>> {
        self.constants.over_row(self.table, values, &level.args[0])
    }

    /// The partitions between bounds of the only (or first) column.
    fn of_bounds(&self, level: &Level<'_>, known: &[Known]) -> Option<BTreeSet<usize>> {
        let by = &level.function.definition().by;
        let first = known.first()?;
        let point = || match first.points.as_deref() {
            Some([value]) => Some(value),
            _ => None,
        };
        let bound = |bound: &Option<(Value<'static>, bool)>| bound.clone().or_else(|| Some((point()?.clone(), true)));
        let (low, high) = (bound(&first.low), bound(&first.high));
        if by.expr().is_none() {
            return between(level, &low, &high);
        }
        let [column] = level.columns[..] else { return None };
        if !grows_with_column(&level.args[0]) {
            return None;
        }
        let is_column = matches!(level.args[0].kind, ExprKind::Column { .. });
        // The expression's value at a bound; values beyond a day are at its neighbour or beyond.
        let of = |bound: Option<(Value<'static>, bool)>, step: i64| -> Option<Option<(Value<'static>, bool)>> {
            let Some((value, inclusive)) = bound else { return Some(None) };
            let beside = if inclusive { None } else { neighbour(&value, step) };
            let is_exact = inclusive || beside.is_some();
            let value = self.expression(level, &[(column, beside.unwrap_or(value))])?;
            Some(Some((value, is_exact || !is_column)))
        };
        between(level, &of(low, 1)?, &of(high, -1)?)
    }
}

/// The partitions between bounds.
fn between(
    level: &Level<'_>,
    low: &Option<(Value<'static>, bool)>,
    high: &Option<(Value<'static>, bool)>,
) -> Option<BTreeSet<usize>> {
    let low = low.as_ref().map(|(value, inclusive)| (value, *inclusive));
    let high = high.as_ref().map(|(value, inclusive)| (value, *inclusive));
    Some(level.function.between(low, high).ok()?.into_iter().collect())
}

/// Does the expression never decrease when its column increases?
fn grows_with_column(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column { .. } => true,
        ExprKind::Call { function, args } => {
            let grows = matches!(*function, Function::YEAR | Function::TO_DAYS | Function::TO_SECONDS | Function::UNIX_TIMESTAMP);
            grows && matches!(args.as_slice(), [Expr { kind: ExprKind::Column { .. }, .. }])
        }
        _ => false,
    }
}

/// The next or previous day or microsecond.
fn neighbour(value: &Value<'static>, step: i64) -> Option<Value<'static>> {
    match value {
        Value::Date(date) => {
            let days = date.day_number()?.checked_add(step)?;
            types::Date::from_day_number(days).map(Value::Date)
        }
        Value::DateTime(time) => types::DateTime::from_utc_micros(time.to_utc_micros()?.checked_add(step)?).map(Value::DateTime),
        _ => None,
    }
}

/// The integers between two bounds, if there are few.
fn between_numbers(known: &Known) -> Option<Vec<Value<'static>>> {
    let number = |value: &Value<'static>| match value {
        Value::Int(number) => Some(i128::from(*number)),
        Value::UInt(number) => Some(i128::from(*number)),
        _ => None,
    };
    let (low, low_too) = known.low.as_ref()?;
    let (high, high_too) = known.high.as_ref()?;
    let (from, to) = (number(low)? + i128::from(!low_too), number(high)? - i128::from(!high_too));
    let make = |number: i128| match low {
        Value::UInt(_) => Value::UInt(number as u64),
        _ => Value::Int(number as i64),
    };
    (to - from < WALK_MAX).then(|| (from..=to).map(make).collect())
}

impl Constants<'_> {
    /// The value of an expression over a row with these column values.
    fn over_row(&self, table: &Table, values: &[(usize, Value<'static>)], expr: &Expr) -> Option<Value<'static>> {
        use crate::source::Source;
        let shared = crate::shared::Shared::new(self.session, self.params, &crate::wait::NoHost);
        let source = Source { table: Some(table), ..Source::default() };
        let env = Env { rows: &source, slots: &[], insert: &[], overlay: values, shared: &shared };
        let value = env.eval(expr).ok().map(Value::into_owned);
        shared.restart_row();
        value
    }
}
