//! Aggregate calls.

use super::adopt::adopt_number;
use super::compare::{self, Coercibility, Derivation};
use super::operand::{cast_to, numeric_operand};
use super::{Binder, LevelKind};
use crate::ast;
use crate::error::{Clause, Error, Result};
use crate::param::ParamKind;
use expr::{Aggregate, AggregateArguments, AggregateFunction as A, Class, Expr, ExprKind, Operand, class, typing};
use std::sync::Arc;
use types::{CollationId, Value};

/// Slots from this number on stand for aggregates until [`super::group`] numbers them.
pub(super) const AGGREGATE_SLOT: usize = 1 << 32;
impl Binder<'_> {
    /// Binds an aggregate call: it becomes a slot, and the aggregate is noted in the scope.
    pub(super) fn aggregate(&mut self, call: &ast::AggregateCall<'_>) -> Result<Expr> {
        if self.scope.aggregates.is_none() || self.scope.in_aggregate {
            if !self.scope.in_aggregate
                && self.scope.clause == Clause::Where
                && let Some(outer) = self.outer_aggregate(call)?
            {
                return Ok(outer);
            }
            return Err(Error::InvalidGroupUse);
        }
        self.scope.in_aggregate = true;
        let marks: Vec<usize> = self.levels.iter().map(|level| level.args.len()).collect();
        let found = std::mem::take(&mut self.scope.found_own);
        let bound = self.aggregate_inside(call);
        self.scope.in_aggregate = false;
        // A column of a merged table may have become a constant.
        let reads_own = std::mem::replace(&mut self.scope.found_own, found);
        let is_outer = || bound.as_ref().is_ok_and(|(aggregate, _)| self.belongs_outside(aggregate));
        if !reads_own && is_outer() && self.is_taken_outside() {
            // The arguments of the aggregate are not arguments of the subquery; the whole aggregate is one.
            for (level, mark) in self.levels.iter_mut().zip(marks) {
                level.args.truncate(mark);
                if let Some(source) = level.args_source {
                    Arc::make_mut(&mut self.sources[source].table).columns.truncate(mark);
                }
            }
            if let Some(outer) = self.outer_aggregate(call)? {
                return Ok(outer);
            }
            return Err(Error::InvalidGroupUse);
        }
        let (mut aggregate, derivation) = bound?;
        self.derivation = derivation;
        let (ty, nullable) = (aggregate.ty.clone(), aggregate.nullable);
        super::fraction_digits::keep_digits(&mut aggregate, self.context.div_precision_increment());
        let aggregates = self.scope.aggregates.as_mut().expect("checked above");
        let slot = match aggregates.iter().position(|a| *a == aggregate) {
            Some(slot) => slot,
            None => {
                aggregates.push(aggregate);
                aggregates.len() - 1
            }
        };
        Ok(Expr { kind: ExprKind::Slot(AGGREGATE_SLOT + slot), ty, nullable })
    }

    /// Binds an aggregate that belongs to an outer block; the subquery gets its value. `None`: there is no outer block.
    fn outer_aggregate(&mut self, call: &ast::AggregateCall<'_>) -> Result<Option<Expr>> {
        self.in_outer_block(|binder, kind| match kind {
            LevelKind::Subquery => binder.aggregate(call).map(Some),
            LevelKind::Derived | LevelKind::Lateral => binder.outer_aggregate(call),
            LevelKind::View => Ok(None),
        })
    }

    /// May the nearest outer block compute the aggregate? In its WHERE clause it may not; then the aggregate stays in
    /// this block.
    fn is_taken_outside(&self) -> bool {
        let block = self.levels.iter().rev().find(|level| !matches!(level.kind, LevelKind::Derived | LevelKind::Lateral));
        block.is_some_and(|level| level.scope.aggregates.is_some() && !level.scope.in_aggregate)
    }

    /// Does the aggregate read columns, but none of this block? Then it belongs to an outer block.
    fn belongs_outside(&self, aggregate: &Aggregate) -> bool {
        let Some(args) = self.levels.iter().rev().find_map(|level| level.args_source) else { return false };
        let of_args = |e: &Expr| matches!(e.kind, ExprKind::Column { source, .. } if source == args);
        let own = |e: &Expr| matches!(e.kind, ExprKind::Column { source, .. } if source != args);
        let read = || aggregate.args.iter().chain(aggregate.order.iter().map(|(expr, _)| expr));
        read().any(|arg| arg.any(&of_args)) && !read().any(|arg| arg.any(&own))
    }

    pub(super) fn aggregate_inside(&mut self, call: &ast::AggregateCall<'_>) -> Result<(Aggregate, Derivation)> {
        let mut args = Vec::with_capacity(call.args.len());
        let mut derivation = Derivation::IGNORABLE;
        for arg in call.args {
            args.push(self.value(arg)?);
            derivation = match args.len() {
                1 => self.derivation,
                _ => compare::joined(&[derivation, self.derivation], "aggregate")?,
            };
        }
        let mut order = Vec::new();
        for item in call.order_by {
            let key = self.value(&item.expr)?;
            // A number is the position of an argument.
            let place = match (&item.expr, &key.kind) {
                (ast::Expr::Literal(_), ExprKind::Literal(Value::Int(n))) => Some(*n),
                _ => None,
            };
            let key = match place {
                None => key,
                Some(n) => {
                    let argument = usize::try_from(n - 1).ok().and_then(|at| args.get(at)).cloned();
                    argument.ok_or_else(|| Error::UnknownColumn { name: n.to_string(), clause: Clause::OrderBy })?
                }
            };
            order.push((key, item.descending));
        }
        let function = call.function;
        let operand = function.row().operand;
        if operand != Operand::Any {
            let wanted = if operand == Operand::Bits { ParamKind::Int } else { ParamKind::Double };
            args.iter_mut().for_each(|arg| adopt_number(self.context, arg, wanted));
            let is_bits = operand == Operand::Bits && typing::is_bit_string(&args[0]);
            args = if is_bits { args } else { args.into_iter().map(numeric_operand).collect() };
            if call.distinct && class(&args[0].ty) == Class::String {
                // DISTINCT applies to the numbers, not to the strings that they are converted from.
                args = args.into_iter().map(|arg| cast_to(arg, typing::double())).collect();
            }
        }
        if args.first().is_some_and(|arg| arg.ty.is_geometry())
            && !matches!(function, A::Count | A::AnyValue | A::GroupConcat | A::JsonArrayAgg | A::JsonObjectAgg | A::StCollect)
        {
            return Err(Error::WrongArguments(function.name().to_lowercase()));
        }
        if !matches!(function, A::Count | A::AnyValue | A::GroupConcat) {
            super::function::no_vectors(&args, || function.name().to_lowercase())?;
        }
        match function {
            A::BitAnd | A::BitOr | A::BitXor if is_long_bit_string(&args[0]) => return Err(Error::LongBitOperand),
            A::Min | A::Max if class(&args[0].ty) == Class::Decimal => super::fraction_digits::filled_value(&mut args[0]),
            A::Min | A::Max if class(&args[0].ty) == Class::String => {
                compare::compared(&[derivation; 2], &function.name().to_lowercase())?;
            }
            _ => {}
        }
        if function == A::GroupConcat && call.distinct && order.is_empty() {
            // The order in which MySQL reads them from the tree that removes duplicates.
            order = args.iter().map(|arg| (arg.clone(), false)).collect();
        }
        let collation = self.string_collation(derivation);
        let increment = self.context.div_precision_increment();
        let joined_bytes_max = self.context.group_concat_bytes_max();
        let ty = function.row().type_of(&AggregateArguments { args: &args, collation, increment, joined_bytes_max });
        let nullable = function.row().is_nullable(&args);
        let derivation = match class(&ty) {
            Class::Json => Derivation { collation: CollationId::UTF8MB4_BIN, level: Coercibility::Implicit },
            Class::String if function == A::GroupConcat && derivation.level > Coercibility::Numeric => {
                Derivation { collation: ty.collation, ..derivation }
            }
            Class::String => Derivation { collation: ty.collation, level: derivation.level.min(Coercibility::Coercible) },
            _ => Derivation::of_no_text(&ty),
        };
        let separator = call.separator.unwrap_or(b",").to_vec();
        Ok((Aggregate { function, args, distinct: call.distinct, order, separator, ty, nullable }, derivation))
    }
}

/// Is it a binary string longer than BIT_AND, BIT_OR and BIT_XOR allow?
fn is_long_bit_string(arg: &Expr) -> bool {
    const BYTES_MAX: u64 = 511;
    typing::is_bit_string(arg) && typing::string_length(&arg.ty) > BYTES_MAX
}
