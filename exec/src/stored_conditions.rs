//! The first conjuncts of a scan's condition, tested on the bytes of its rows.
//!
//! `l_shipdate >= DATE ? AND l_shipdate < DATE ? + INTERVAL '1' YEAR AND l_quantity < ? AND l_comment LIKE ?` has three tests and a rest. What stands
//! beside the columns is the same for a whole execution, so it is computed once.
//!
//! F1: a test gives the result of evaluating its conjunct, which raises no warning and has no effect. Builds with debug assertions compare
//!     both for each row.
//! F2: conjuncts keep their order: what stands before a conjunct that only evaluation can judge is tested, what stands behind it is evaluated.

use crate::pause::Step;
use crate::run::Run;
use expr::{CompareAs, CompareOp, Env, Expr, ExprKind, in_list};
use types::Value;
use types::row::RowLayout;
use types::row::condition::{Orders, StoredCondition};

/// The row from which on a scan has tests: one of a few rows makes none. With debug assertions it is the first, so that much is compared (F1).
const ROWS_MIN: u32 = if cfg!(debug_assertions) { 1 } else { 16 };

/// The row from which on a scan may test its rows ahead of `judge`. With debug assertions some rows are judged twice before (F1).
const AHEAD_ROWS_MIN: u32 = if cfg!(debug_assertions) { 64 } else { ROWS_MIN };

/// The tests of one scan, once there are any.
#[derive(Default)]
pub(crate) struct StoredConditions<'p> {
    judged: u32,
    made: Option<Made<'p>>,
    /// The tests are made before the row comes.
    is_ahead: bool,
}

struct Made<'p> {
    tests: Box<[StoredCondition]>,
    tested: &'p [Expr],
    rest: &'p [Expr],
}

impl<'p> StoredConditions<'p> {
    /// Is `filter` true of the stored row that `source` has?
    #[inline]
    pub fn judge(&mut self, run: &Run<'p>, source: usize, filter: &'p Expr) -> Step<bool> {
        if self.judged < AHEAD_ROWS_MIN {
            self.judged += 1;
            if self.judged == ROWS_MIN {
                self.made = Made::new(run, source, filter);
            }
        }
        let Some(Made { tests, tested, rest }) = &self.made else { return run.judge(&[], filter) };
        if self.is_ahead {
            return if rest.is_empty() { Ok(true) } else { run.judge_each(rest) };
        }
        let row = run.sources[source].row.row(run.sources[source].stored_table());
        let passes = tests.iter().all(|test| row.meets(test));
        debug_assert_eq!(passes, run.all_true(tested)?, "{tested:?}");
        Ok(passes && (rest.is_empty() || run.judge_each(rest)?))
    }
}

impl StoredConditions<'_> {
    /// The tests that say all of `filter`, if there are such: then a row that meets them needs no evaluation.
    pub fn whole<'p>(&mut self, run: &Run<'p>, source: usize, filter: &'p Expr) -> Option<Box<[StoredCondition]>> {
        Made::new(run, source, filter).filter(|made| made.rest.is_empty()).map(|made| made.tests)
    }

    /// The tests that a row has to meet before `judge` is asked for the rest, where there are enough rows for it.
    #[inline]
    pub fn ahead(&mut self) -> Option<&[StoredCondition]> {
        let made = self.made.as_ref().filter(|_| self.judged >= AHEAD_ROWS_MIN)?;
        self.is_ahead = true;
        Some(&made.tests)
    }
}

impl<'p> Made<'p> {
    /// `None`: evaluation judges all.
    #[cold]
    fn new(run: &Run<'p>, source: usize, filter: &'p Expr) -> Option<Self> {
        let conjuncts = match &filter.kind {
            ExprKind::And(conjuncts) => conjuncts,
            _ => std::slice::from_ref(filter),
        };
        let layout = run.sources[source].stored_table().layout();
        let maker = Maker { env: run.env(&[]), layout, source };
        let mut tests = Vec::new();
        let known = conjuncts.iter().take_while(|conjunct| maker.add(conjunct, &mut tests).is_some()).count();
        let (tested, rest) = conjuncts.split_at(known);
        let warns = run.shared.session.row_dirty.get();
        run.shared.restart_row();
        run.row_done();
        // The test of what warns would say it once; so it is evaluated for each row.
        (known > 0 && !warns).then(|| Self { tests: tests.into(), tested, rest })
    }
}

struct Maker<'e> {
    env: Env<'e>,
    layout: &'e RowLayout,
    source: usize,
}

impl<'e> Maker<'e> {
    /// Adds the tests that say what `conjunct` says. `None`: there are none, and nothing is added.
    fn add(&self, conjunct: &'e Expr, tests: &mut Vec<StoredCondition>) -> Option<()> {
        match &conjunct.kind {
            ExprKind::Compare { op, by, left, right } => {
                let test = match (self.column(left), self.column(right)) {
                    (Some(left), Some(right)) if is_exact(*by) => self.layout.condition_on_columns(left, orders(*op)?, right)?,
                    (Some(column), None) => self.against(column, *op, *by, right)?,
                    (None, Some(column)) => self.against(column, op.mirrored(), *by, left)?,
                    _ => return None,
                };
                tests.push(test);
            }
            ExprKind::Between { arg, low, high, by, negated: false } => {
                let column = self.column(arg)?;
                let at_least = self.against(column, CompareOp::GreaterOrEqual, *by, low)?;
                let at_most = self.against(column, CompareOp::LessOrEqual, *by, high)?;
                tests.extend([at_least, at_most]);
            }
            _ => return None,
        }
        Some(())
    }

    fn column(&self, expr: &Expr) -> Option<usize> {
        match expr.kind {
            ExprKind::Column { source, column } if source == self.source => Some(column),
            _ => None,
        }
    }

    fn against(&self, column: usize, op: CompareOp, by: CompareAs, constant: &'e Expr) -> Option<StoredCondition> {
        let value = self.constant(by, constant)?;
        self.layout.condition_on_value(column, orders(op)?, &value)
    }

    /// The value that all rows are compared with, of a kind that compares exactly. Errors are for the evaluation to tell.
    fn constant(&self, by: CompareAs, expr: &'e Expr) -> Option<Value<'e>> {
        if !is_exact(by) || !is_same_for_all(expr) {
            return None;
        }
        let value = self.env.eval(expr).ok()?;
        match (by, &value) {
            (CompareAs::Integer | CompareAs::Decimal, Value::Int(_) | Value::UInt(_) | Value::Decimal(_)) => Some(value),
            (CompareAs::Temporal, Value::Date(_) | Value::DateTime(_)) | (CompareAs::Time, Value::Time(_)) => Some(value),
            (CompareAs::Temporal, Value::Bytes(_)) => self.env.as_compared_datetime(&value, &expr.ty).ok()?.map(Value::DateTime),
            _ => None,
        }
    }
}

/// Are values that compare so ordered as the keys of their columns?
fn is_exact(by: CompareAs) -> bool {
    matches!(by, CompareAs::Integer | CompareAs::Decimal | CompareAs::Temporal | CompareAs::Time)
}

/// Has the expression the same value for all rows, and no effect?
fn is_same_for_all(expr: &Expr) -> bool {
    let varies =
        |part: &Expr| matches!(part.kind, ExprKind::UserVariable(_) | ExprKind::AssignVariable { .. } | ExprKind::Row(_));
    in_list::is_fixed(expr) && !expr.any(&varies) && !expr::is_volatile(expr)
}

/// `None` where two NULLs would meet the condition.
fn orders(op: CompareOp) -> Option<Orders> {
    let (less, equal, greater) = match op {
        CompareOp::Equal => (false, true, false),
        CompareOp::NotEqual => (true, false, true),
        CompareOp::Less => (true, false, false),
        CompareOp::LessOrEqual => (true, true, false),
        CompareOp::Greater => (false, false, true),
        CompareOp::GreaterOrEqual => (false, true, true),
        CompareOp::NullSafeEqual => return None,
    };
    Some(Orders { less, equal, greater })
}
