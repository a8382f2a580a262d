//! GROUP BY and aggregates: rewrites expressions over sources into expressions over the slots of the Aggregate
//! operator.
//!
//! Slots are the group keys, then the aggregates. A subexpression that equals a group key becomes the slot of that key.
//! Any other column must be functionally dependent on the keys (ONLY_FULL_GROUP_BY, error 1055); without that mode its
//! value comes from any row of the group.

use super::aggregate::AGGREGATE_SLOT;
use super::depend::{Facts, Known};
use super::window::WINDOW_SLOT;
use super::{Binder, qualified};
use crate::error::{Clause, Error, Result};
use expr::typing;
use expr::{Aggregate, AggregateFunction, CompareOp, Expr, ExprKind, Function};
use types::Value;

/// Stands for the number of group keys that are not rolled up, until the block is grouped.
pub(super) const LEVEL_SLOT: usize = (1 << 32) - 1;

/// `ANY_VALUE(value)`, until it is known whether the block is grouped.
pub(super) fn any_value_of(value: Expr) -> Expr {
    let (ty, nullable) = (typing::stored(&value.ty), value.nullable);
    Expr { kind: ExprKind::Call { function: Function::ANY_VALUE, args: vec![value] }, ty, nullable }
}

/// GROUPING() returns one bit per argument.
const GROUPING_ARGS_MAX: usize = 64;

/// Is the expression constant over all rows?
fn reads_nothing(expr: &Expr) -> bool {
    use ExprKind::{AssignVariable, Column, ColumnOrdinal, Slot, Subquery, UserVariable};
    let varies = |e: &Expr| {
        matches!(e.kind, Column { .. } | ColumnOrdinal { .. } | Slot(_) | Subquery(_) | UserVariable(_) | AssignVariable { .. })
    };
    !expr.any(&varies) && !expr::is_volatile(expr)
}

/// Does the expression contain GROUPING()?
pub(super) fn holds_grouping(expr: &Expr) -> bool {
    expr.any(&|e| e.kind == ExprKind::Slot(LEVEL_SLOT))
}

/// The grouping of one block.
#[derive(Clone, Debug)]
pub(crate) struct Grouping {
    pub keys: Vec<Expr>,
    pub aggregates: Vec<Aggregate>,
    /// The columns that depend on the keys.
    known: Known,
    /// The number of aggregates that the statement has. Aggregates after these carry the values of columns.
    written: usize,
    /// ONLY_FULL_GROUP_BY
    strict: bool,
    /// WITH ROLLUP: the slot after the keys holds the number of keys that are not rolled up.
    rollup: bool,
}

impl Binder<'_> {
    /// `GROUPING(a, b)`: one bit per argument, set if the argument is rolled up.
    pub(super) fn grouping_call(&mut self, args: &[crate::ast::Expr<'_>]) -> Result<Expr> {
        use expr::{ArithmeticOp, CompareAs};
        if args.len() > GROUPING_ARGS_MAX {
            return Err(Error::GroupingArguments(args.len()));
        }
        let given = args.iter().map(|arg| self.value(arg)).collect::<Result<Vec<Expr>>>()?;
        // A named column or a subquery may be a constant that is a group key.
        let is_written = |arg: &crate::ast::Expr<'_>| !matches!(arg, crate::ast::Expr::Column(_) | crate::ast::Expr::Subquery(_));
        if args.iter().zip(&given).any(|(arg, value)| is_written(arg) && reads_nothing(value)) {
            return Err(Error::WrongArguments("GROUPING function".into()));
        }
        if self.scope.aggregates.is_none() || self.scope.in_bare_subquery {
            return Err(match self.scope.clause {
                Clause::GroupBy => Error::WrongGroupField("GROUPING function".into()),
                _ => Error::InvalidGroupUse,
            });
        }
        let bigint = expr::typing::bigint(false);
        let mut sum: Option<Expr> = None;
        for (n, arg) in given.into_iter().enumerate() {
            let level = Expr { kind: ExprKind::Slot(LEVEL_SLOT), ty: bigint.clone(), nullable: false };
            let (left, right) = (Box::new(level), Box::new(arg));
            let kind = ExprKind::Compare { op: CompareOp::LessOrEqual, by: CompareAs::Integer, left, right };
            let bit = Expr { kind, ty: bigint.clone(), nullable: false };
            // The first of 64 arguments is the sign bit.
            let weight = Expr::literal(Value::Int(1i64 << (args.len() - 1 - n)), bigint.clone());
            let kind = ExprKind::Arithmetic { op: ArithmeticOp::Multiply, left: Box::new(bit), right: Box::new(weight) };
            let bit = Expr { kind, ty: bigint.clone(), nullable: false };
            sum = Some(match sum {
                None => bit,
                Some(sum) => {
                    let kind = ExprKind::Arithmetic { op: ArithmeticOp::Add, left: Box::new(sum), right: Box::new(bit) };
                    Expr { kind, ty: bigint.clone(), nullable: false }
                }
            });
        }
        self.derivation = super::compare::Derivation::NUMERIC;
        sum.ok_or(Error::InvalidGroupUse)
    }

    pub(super) fn grouping(&self, keys: Vec<Expr>, aggregates: Vec<Aggregate>, facts: &Facts<'_>, rollup: bool) -> Grouping {
        // Columns of outer blocks are the same for all rows of this one.
        let mut known = Known::new((0..self.sources.len()).map(|source| !facts.is_own(source)).collect());
        for key in &keys {
            if let ExprKind::Column { source, column } = key.kind {
                known.add(source, column);
            }
        }
        for (number, source) in self.sources.iter().enumerate() {
            source.constants.iter().for_each(|column| known.add(number, *column));
        }
        // Keys that are rolled up determine nothing.
        if !rollup {
            self.spread(facts, &mut known);
        }
        let written = aggregates.len();
        Grouping { keys, aggregates, known, written, strict: self.mode.only_full_group_by, rollup }
    }
}

impl Grouping {
    /// Rewrites an expression of the select list (number `position` from 1), HAVING or ORDER BY.
    pub fn rewrite(&mut self, binder: &Binder<'_>, expr: &Expr, position: usize, clause: Clause) -> Result<Expr> {
        if let Some(key) = self.keys.iter().position(|k| k == expr) {
            return Ok(self.key_slot(key));
        }
        match &expr.kind {
            ExprKind::Slot(slot) if *slot >= WINDOW_SLOT => Ok(expr.clone()),
            ExprKind::Slot(slot) if *slot >= AGGREGATE_SLOT => {
                let mut out = expr.clone();
                out.kind = ExprKind::Slot(self.first_aggregate() + slot - AGGREGATE_SLOT);
                Ok(out)
            }
            ExprKind::Compare { left, right, .. } if left.kind == ExprKind::Slot(LEVEL_SLOT) => self.is_rolled_up(expr, right),
            ExprKind::Call { function: Function::ANY_VALUE, args } => {
                let strict = std::mem::replace(&mut self.strict, false);
                let value = self.rewrite(binder, &args[0], position, clause);
                self.strict = strict;
                value
            }
            ExprKind::Column { source, column } | ExprKind::ColumnOrdinal { source, column } => {
                self.leftover(binder, expr, *source, *column, position, clause)
            }
            _ => {
                let (mut out, mut nullable) = (expr.clone(), false);
                for child in out.parts_mut() {
                    let rewritten = self.rewrite(binder, child, position, clause)?;
                    nullable |= rewritten.nullable;
                    *child = rewritten;
                }
                // A key that is rolled up is NULL, and so are expressions of it.
                out.nullable |= self.rollup && nullable && !is_never_null(expr);
                Ok(out)
            }
        }
    }

    /// Inside an aggregate, GROUPING() sees rows in which no key is rolled up.
    pub fn settle_levels(&mut self) -> Result<()> {
        let mut aggregates = std::mem::take(&mut self.aggregates);
        let args = aggregates.iter_mut().flat_map(|a| a.args.iter_mut().chain(a.order.iter_mut().map(|(expr, _)| expr)));
        let settled = args.into_iter().try_for_each(|expr| self.settle_level(expr));
        self.aggregates = aggregates;
        settled
    }

    fn settle_level(&self, expr: &mut Expr) -> Result<()> {
        match &expr.kind {
            ExprKind::Compare { left, right, .. } if left.kind == ExprKind::Slot(LEVEL_SLOT) => {
                self.is_rolled_up(expr, right)?;
                *expr = super::literal::integer(0);
                Ok(())
            }
            _ => expr.parts_mut().into_iter().try_for_each(|part| self.settle_level(part)),
        }
    }

    /// The slot of the first aggregate.
    pub fn first_aggregate(&self) -> usize {
        self.keys.len() + usize::from(self.rollup)
    }

    /// Is the slot an aggregate of the statement, or the level that GROUPING() reads?
    pub fn is_aggregate_or_level(&self, slot: usize) -> bool {
        (self.keys.len()..self.first_aggregate() + self.written).contains(&slot)
    }

    pub fn is_any_value(&self, slot: usize) -> bool {
        let aggregate = slot.checked_sub(self.first_aggregate()).and_then(|number| self.aggregates.get(number));
        aggregate.is_some_and(|aggregate| aggregate.function == AggregateFunction::AnyValue)
    }

    /// Are all keys selected, without ROLLUP?
    pub fn are_keys_in(&self, project: &[Expr]) -> bool {
        !self.rollup && (0..self.keys.len()).all(|key| project.iter().any(|expr| expr.kind == ExprKind::Slot(key)))
    }

    /// The expression of a slot: the key, or the column whose value it carries.
    pub fn value_of(&self, slot: usize) -> Option<&Expr> {
        self.keys.get(slot).or_else(|| self.aggregates.get(slot.checked_sub(self.first_aggregate())?)?.args.first())
    }

    /// The key with this number.
    pub fn key_slot(&self, key: usize) -> Expr {
        let expr = &self.keys[key];
        Expr { kind: ExprKind::Slot(key), ty: typing::stored(&expr.ty), nullable: expr.nullable || self.rollup }
    }

    /// `GROUPING(key)`: is the key rolled up?
    fn is_rolled_up(&self, expr: &Expr, arg: &Expr) -> Result<Expr> {
        let Some(key) = self.keys.iter().position(|k| k == arg) else {
            return Err(Error::GroupingArgument(1));
        };
        if !self.rollup {
            return Ok(super::literal::integer(0));
        }
        let mut out = expr.clone();
        if let ExprKind::Compare { left, right, .. } = &mut out.kind {
            left.kind = ExprKind::Slot(self.keys.len());
            **right = super::literal::integer(key as u64);
        }
        Ok(out)
    }

    /// Rewrites a column that is not a key.
    fn leftover(
        &mut self,
        binder: &Binder<'_>,
        expr: &Expr,
        source: usize,
        column: usize,
        position: usize,
        clause: Clause,
    ) -> Result<Expr> {
        // The number of an ENUM key comes from any row of its group.
        let is_key =
            self.keys.iter().any(|k| matches!(k.kind, ExprKind::Column { source: s, column: c } if (s, c) == (source, column)));
        let depends = is_key || self.known.has(source, column);
        if self.strict && !depends {
            let from = &binder.sources[source];
            let column = qualified(&from.table, &from.alias, column);
            return Err(if self.keys.is_empty() {
                Error::MixedGroup { expression: position, column }
            } else {
                Error::NotGrouped { expression: position, column, clause }
            });
        }
        let aggregate = Aggregate {
            function: AggregateFunction::AnyValue,
            args: vec![expr.clone()],
            distinct: false,
            order: Vec::new(),
            separator: Vec::new(),
            ty: expr.ty.clone(),
            nullable: expr.nullable || self.keys.is_empty(),
        };
        let slot = match self.aggregates.iter().position(|a| *a == aggregate) {
            Some(slot) => slot,
            None => {
                self.aggregates.push(aggregate);
                self.aggregates.len() - 1
            }
        };
        let nullable = expr.nullable || self.keys.is_empty();
        let slot = self.first_aggregate() + slot;
        Ok(Expr { kind: ExprKind::Slot(slot), ty: expr.ty.clone(), nullable })
    }
}

/// Is the expression never NULL, even if its operands are?
fn is_never_null(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::IsNull { .. } | ExprKind::IsTruth { .. } => true,
        ExprKind::Compare { op, .. } => *op == CompareOp::NullSafeEqual,
        ExprKind::Call { function: Function::IFNULL | Function::COALESCE, args } => {
            !expr.nullable && args.last().is_some_and(|arg| !arg.nullable)
        }
        _ => false,
    }
}

/// The value of a constant expression; `None` for others.
pub(crate) fn constant(expr: &Expr) -> Option<&Value<'static>> {
    match &expr.kind {
        ExprKind::Literal(value) => Some(value),
        _ => None,
    }
}
