//! Window functions: calls with OVER, named windows, frames.
//!
//! A call becomes a slot that is numbered later; the scope keeps the call itself. When the block is planned, a Project
//! computes the inputs of the windows. Each distinct partitioning and order adds a Sort with a Window operator above
//! it. The select list then reads the slots of the Window operators.

use super::adopt::{self, Count};
use super::compare::{self, Coercibility, Derivation};
use super::from::SourceKind;
use super::query::read_from_slots;
use super::{Binder, BoundWindow, NamedWindow};
use crate::ast::{self, IntervalUnit};
use crate::error::{Clause, Error, Result, WindowError};
use crate::plan::{Node, SortKey};
use expr::{
    AggregateArguments, AggregateFunction, ArithmeticOp, Class, Expr, ExprKind, Frame, FrameBound, FrameOffsets, Function,
    WindowCall, WindowFunction, WindowOnly, class, typing,
};
use types::{ColumnType, TypeKind, Value};

/// Slots from this number on stand for window functions until the block is planned.
pub(super) const WINDOW_SLOT: usize = 1 << 33;

/// The maximum number of windows of a query; MySQL's limit.
const WINDOWS_MAX: usize = 127;

/// A frame with bound offsets, before they are combined with an order key.
#[derive(Clone, Debug)]
pub(crate) struct BoundFrame {
    range: bool,
    start: BoundOffset,
    end: BoundOffset,
}

#[derive(Clone, Debug)]
enum BoundOffset {
    UnboundedPreceding,
    Preceding(Expr, Option<IntervalUnit>),
    CurrentRow,
    Following(Expr, Option<IntervalUnit>),
    UnboundedFollowing,
}

impl BoundWindow {
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let frame = [&self.call.frame.start, &self.call.frame.end].into_iter().filter_map(|bound| match bound {
            FrameBound::Preceding(expr) | FrameBound::Following(expr) => Some(expr),
            _ => None,
        });
        let inner = match &self.call.function {
            WindowFunction::Aggregate(aggregate) => aggregate.args.as_slice(),
            _ => &[],
        };
        self.partition.iter().chain(self.order.iter().map(|(e, _)| e)).chain(&self.call.args).chain(inner).chain(frame)
    }

    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let frame = [&mut self.call.frame.start, &mut self.call.frame.end].into_iter().filter_map(|bound| match bound {
            FrameBound::Preceding(expr) | FrameBound::Following(expr) => Some(expr),
            _ => None,
        });
        let inner = match &mut self.call.function {
            WindowFunction::Aggregate(aggregate) => aggregate.args.as_mut_slice(),
            _ => &mut [],
        };
        let order = self.order.iter_mut().map(|(e, _)| e);
        self.partition.iter_mut().chain(order).chain(&mut self.call.args).chain(inner).chain(frame)
    }
}

fn wrong<T>(why: WindowError, name: &str) -> Result<T> {
    Err(Error::Window { why, name: shown(name).to_owned() })
}

/// The name of a window, as messages show it.
fn shown(name: &str) -> &str {
    if name.is_empty() { "<unnamed window>" } else { name }
}

impl Binder<'_> {
    /// Binds `WINDOW w AS (...), ...`; a window may refer to another one.
    pub(super) fn named_windows(&mut self, windows: &[(&str, ast::WindowSpec<'_>)]) -> Result<()> {
        for (n, (name, _)) in windows.iter().enumerate() {
            if windows[..n].iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
                return wrong(WindowError::DefinedTwice, name);
            }
        }
        // Ordered so that a window comes after the one that it refers to.
        let mut left: Vec<&(&str, ast::WindowSpec<'_>)> = windows.iter().collect();
        while !left.is_empty() {
            let waits = |spec: &ast::WindowSpec<'_>| {
                spec.name.is_some_and(|base| left.iter().any(|(name, _)| name.eq_ignore_ascii_case(base)))
            };
            let Some(ready) = left.iter().position(|(_, spec)| !waits(spec)) else {
                return wrong(WindowError::Circular, left[0].0);
            };
            let (name, spec) = left.remove(ready);
            let named = self.window_spec(name, spec)?;
            self.scope.window_names.push(named);
        }
        Ok(())
    }

    fn window_spec(&mut self, name: &str, spec: &ast::WindowSpec<'_>) -> Result<NamedWindow> {
        let base = match spec.name {
            None => None,
            Some(base) => {
                let found = self.scope.window_names.iter().find(|w| w.name.eq_ignore_ascii_case(base));
                Some(found.cloned().ok_or_else(|| Error::UnknownWindow(base.to_owned()))?)
            }
        };
        let windows = self.scope.windows.take();
        let mut partition = Vec::with_capacity(spec.partition_by.len());
        for expr in spec.partition_by {
            if matches!(expr, ast::Expr::Literal(ast::Literal::Int(_))) {
                return wrong(WindowError::Position, name);
            }
            let mut expr = self.in_clause(Clause::FieldList, |b| b.value(expr))?;
            super::operand::enum_as_number(&mut expr);
            partition.push(expr);
        }
        let mut order = Vec::with_capacity(spec.order_by.len());
        for item in spec.order_by {
            if matches!(item.expr, ast::Expr::Literal(ast::Literal::Int(_))) {
                return wrong(WindowError::Position, name);
            }
            let mut expr = self.in_clause(Clause::OrderBy, |b| b.value(&item.expr))?;
            super::operand::enum_as_number(&mut expr);
            order.push((expr, item.descending));
        }
        partition.iter().chain(order.iter().map(|(expr, _)| expr)).try_for_each(|expr| self.refuse_outer(expr))?;
        let frame = spec.frame.map(|frame| self.window_frame(name, frame)).transpose()?;
        self.scope.windows = windows;
        if let Some(base) = base {
            if base.frame.is_some() {
                return wrong(WindowError::BaseHasFrame, &base.name);
            }
            if !partition.is_empty() {
                return wrong(WindowError::ChildPartitions, name);
            }
            if !base.order.is_empty() && !order.is_empty() {
                return Err(Error::WindowOrderTwice { window: shown(name).to_owned(), base: base.name });
            }
            partition = base.partition;
            order = if order.is_empty() { base.order } else { order };
        }
        Ok(NamedWindow { name: name.to_owned(), partition, order, frame })
    }

    /// 6432: a column of an outer block partitions or orders a window. As in MySQL, it may do so within an expression.
    fn refuse_outer(&self, expr: &Expr) -> Result<()> {
        match expr.kind {
            ExprKind::Column { source, column } if matches!(self.sources[source].kind, SourceKind::Arguments) => {
                Err(Error::OuterInWindow(self.name_of_outer(source, column)))
            }
            _ => Ok(()),
        }
    }

    fn name_of_outer(&self, mut source: usize, mut column: usize) -> String {
        let outer = |source: usize, column: usize| {
            let level = self.levels.iter().find(|level| level.args_source == Some(source))?;
            match level.args.get(column)?.kind {
                ExprKind::Column { source, column } => Some((source, column)),
                _ => None,
            }
        };
        while let Some(found) = outer(source, column) {
            (source, column) = found;
        }
        let (table, alias) = (&self.sources[source].table, &self.sources[source].alias);
        format!("{}.{alias}.{}", table.database, table.columns[column].name)
    }

    fn window_frame(&mut self, name: &str, frame: &ast::WindowFrame<'_>) -> Result<BoundFrame> {
        let start = self.frame_bound(name, frame.range, &frame.start)?;
        let end = self.frame_bound(name, frame.range, &frame.end)?;
        if matches!(start, BoundOffset::UnboundedFollowing) {
            return wrong(WindowError::StartsAtEnd, name);
        }
        if matches!(end, BoundOffset::UnboundedPreceding) {
            return wrong(WindowError::EndsAtStart, name);
        }
        let rank = |bound: &BoundOffset| match bound {
            BoundOffset::UnboundedPreceding => 0,
            BoundOffset::Preceding(..) => 1,
            BoundOffset::CurrentRow => 2,
            BoundOffset::Following(..) => 3,
            BoundOffset::UnboundedFollowing => 4,
        };
        if rank(&start) > rank(&end) {
            return wrong(WindowError::FrameBound, name);
        }
        for bound in [&start, &end] {
            let (BoundOffset::Preceding(expr, unit) | BoundOffset::Following(expr, unit)) = bound else { continue };
            if !frame.range && unit.is_some() {
                return wrong(WindowError::IntervalOfRows, name);
            }
            let is_constant = matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_));
            if !is_constant && (!frame.range || expr.any(&|e| matches!(e.kind, ExprKind::Column { .. } | ExprKind::Subquery(_))))
            {
                return wrong(WindowError::NotConstant, name);
            }
            let is_count = match &expr.kind {
                ExprKind::Literal(Value::Int(n)) => *n >= 0,
                ExprKind::Literal(Value::UInt(_)) | ExprKind::Param(_) => true,
                _ => frame.range,
            };
            if !is_count {
                return wrong(WindowError::FrameBound, name);
            }
        }
        Ok(BoundFrame { range: frame.range, start, end })
    }

    fn frame_bound(&mut self, name: &str, range: bool, bound: &ast::FrameBound<'_>) -> Result<BoundOffset> {
        let mut offset = |expr: &ast::Expr<'_>| -> Result<Expr> {
            let mut bound = self.value(expr)?;
            if range {
                adopt::adopt_place(self.context, &mut bound, &typing::bigint(true));
                return Ok(bound);
            }
            match adopt::adopt_count(self.context, &mut bound)? {
                Count::Good => Ok(bound),
                Count::Null | Count::Negative => wrong(WindowError::FrameBound, name),
            }
        };
        Ok(match bound {
            ast::FrameBound::UnboundedPreceding => BoundOffset::UnboundedPreceding,
            ast::FrameBound::UnboundedFollowing => BoundOffset::UnboundedFollowing,
            ast::FrameBound::CurrentRow => BoundOffset::CurrentRow,
            ast::FrameBound::Preceding(expr, unit) => BoundOffset::Preceding(offset(expr)?, *unit),
            ast::FrameBound::Following(expr, unit) => BoundOffset::Following(offset(expr)?, *unit),
        })
    }

    /// Binds a call of a window function: it becomes a slot, and the call is noted in the scope.
    pub(super) fn window_call(&mut self, call: &ast::WindowCall<'_>) -> Result<Expr> {
        if self.scope.windows.is_none() || self.scope.in_aggregate {
            return Err(call.misplaced());
        }
        let window = match call.window {
            ast::WindowSpec { name: Some(base), partition_by: [], order_by: [], frame: None } => {
                let found = self.scope.window_names.iter().find(|w| w.name.eq_ignore_ascii_case(base));
                found.cloned().ok_or_else(|| Error::UnknownWindow(base.to_owned()))?
            }
            ref spec => self.window_spec("", spec)?,
        };
        let windows = self.scope.windows.take();
        let bound = self.window_function(&call.function);
        self.scope.windows = windows;
        let (mut bound, derivation) = bound?;
        bound.frame = self.frame_over(&window, &bound.function)?;
        let (ty, nullable) = (bound.ty.clone(), bound.nullable);
        let bound = BoundWindow { partition: window.partition, order: window.order, call: bound };
        let windows = self.scope.windows.as_mut().expect("put back above");
        if windows.len() >= WINDOWS_MAX && windows.iter().all(|w| w.partition != bound.partition || w.order != bound.order) {
            return Err(Error::NotSupported(format!("more than {WINDOWS_MAX} windows")));
        }
        let slot = windows.iter().position(|w| *w == bound).unwrap_or_else(|| {
            windows.push(bound);
            windows.len() - 1
        });
        self.derivation = derivation;
        Ok(Expr { kind: ExprKind::Slot(WINDOW_SLOT + slot), ty, nullable })
    }

    fn window_function(&mut self, function: &ast::WindowFunction<'_>) -> Result<(WindowCall, Derivation)> {
        let (name, args) = match function {
            ast::WindowFunction::Aggregate(call) => {
                if call.distinct {
                    return Err(Error::NotSupported("<window function>(DISTINCT ..)".to_owned()));
                }
                if call.function == AggregateFunction::GroupConcat {
                    return Err(Error::NotSupported("group_concat as window function".to_owned()));
                }
                let (aggregate, derivation) = self.aggregate_inside(call)?;
                let (ty, nullable) = (aggregate.ty.clone(), aggregate.nullable);
                let function = WindowFunction::Aggregate(aggregate);
                return Ok((WindowCall { function, args: Vec::new(), frame: Frame::whole(), ty, nullable }, derivation));
            }
            ast::WindowFunction::Named { name, args } => (*name, *args),
        };
        let mut derivation = Derivation::IGNORABLE;
        let mut bound = Vec::with_capacity(args.len());
        for (n, arg) in args.iter().enumerate() {
            bound.push(self.value(arg)?);
            if n != 1 {
                derivation = compare::joined(&[derivation, self.derivation], name)?;
            }
        }
        let Some(function) = WindowOnly::named(name) else { return Err(Error::NotSupported(name.to_owned())) };
        let row = function.row();
        if !(row.fewest..=row.most).contains(&args.len()) {
            return Err(Error::Syntax { near: ")".to_owned(), line: 1 });
        }
        if let Some((argument, least)) = row.count
            && let Some(count) = bound.get_mut(argument)
        {
            self.positive_argument(count, row.shown, least)?;
        }
        if let (WindowOnly::Lag | WindowOnly::Lead, [value, _, default]) = (function, bound.as_mut_slice()) {
            self.adopt_choice([value, default].into_iter(), &self.text());
        }
        let (collation, increment) = (self.string_collation(derivation), self.context.div_precision_increment());
        let joined_bytes_max = self.context.group_concat_bytes_max();
        let ty = row.type_of(&AggregateArguments { args: &bound, collation, increment, joined_bytes_max });
        let (nullable, function) = (row.is_nullable(&bound), WindowFunction::Only(function));
        let derivation = match class(&ty) {
            Class::String => Derivation { collation: ty.collation, level: derivation.level.min(Coercibility::Coercible) },
            _ => Derivation::of_no_text(&ty),
        };
        Ok((WindowCall { function, args: bound, frame: Frame::whole(), ty, nullable }, derivation))
    }

    /// Checks that an argument is a constant number, at least `least`.
    fn positive_argument(&self, arg: &mut Expr, function: &str, least: i64) -> Result<()> {
        if adopt::adopt_count(self.context, arg)? != Count::Good && function != "nth_value" {
            return Err(Error::WrongArguments(function.to_owned()));
        }
        let fits = match &arg.kind {
            ExprKind::Literal(Value::Int(n)) => *n >= least,
            ExprKind::Literal(Value::UInt(n)) => i64::try_from(*n).is_ok_and(|n| n >= least),
            // The value is known at execution.
            ExprKind::Param(_) => true,
            ExprKind::UserVariable(_) => matches!(class(&arg.ty), Class::Integer | Class::Null) || typing::is_unset(arg),
            // A variable of a stored program.
            _ => !super::compare::reads_rows(arg) && !matches!(arg.kind, ExprKind::Literal(_) | ExprKind::Arithmetic { .. }),
        };
        if fits { Ok(()) } else { Err(Error::WrongArguments(function.to_owned())) }
    }

    /// The frame of a function over a window.
    fn frame_over(&self, window: &NamedWindow, function: &WindowFunction) -> Result<Frame> {
        let has_frame = match function {
            WindowFunction::Aggregate(_) => true,
            WindowFunction::Only(only) => only.row().reads_frame,
        };
        let Some(frame) = &window.frame else {
            let running = Frame { range: true, end: FrameBound::CurrentRow, ..Frame::whole() };
            return Ok(if has_frame && !window.order.is_empty() { running } else { Frame::whole() });
        };
        let start = self.bound_over(window, frame.range, &frame.start)?;
        let end = self.bound_over(window, frame.range, &frame.end)?;
        let offset = |bound: &BoundOffset| match bound {
            BoundOffset::Preceding(amount, unit) | BoundOffset::Following(amount, unit) if frame.range => {
                Some((amount.clone(), *unit))
            }
            _ => None,
        };
        let amounts: Vec<_> = [&frame.start, &frame.end].into_iter().filter_map(offset).collect();
        let offsets = (!amounts.is_empty()).then(|| Box::new(FrameOffsets { window: shown(&window.name).to_owned(), amounts }));
        Ok(if has_frame { Frame { range: frame.range, start, end, offsets } } else { Frame { offsets, ..Frame::whole() } })
    }

    fn bound_over(&self, window: &NamedWindow, range: bool, bound: &BoundOffset) -> Result<FrameBound> {
        Ok(match bound {
            BoundOffset::UnboundedPreceding => FrameBound::UnboundedPreceding,
            BoundOffset::UnboundedFollowing => FrameBound::UnboundedFollowing,
            BoundOffset::CurrentRow => FrameBound::CurrentRow,
            BoundOffset::Preceding(count, None) if !range => FrameBound::Preceding(count.clone()),
            BoundOffset::Following(count, None) if !range => FrameBound::Following(count.clone()),
            BoundOffset::Preceding(offset, unit) => FrameBound::Preceding(self.key_at(window, offset, *unit, true)?),
            BoundOffset::Following(offset, unit) => FrameBound::Following(self.key_at(window, offset, *unit, false)?),
        })
    }

    /// The order key of the current row, moved by an offset before or after it.
    fn key_at(&self, window: &NamedWindow, offset: &Expr, unit: Option<IntervalUnit>, before: bool) -> Result<Expr> {
        let [(key, descending)] = window.order.as_slice() else {
            return wrong(WindowError::RangeOrder, &window.name);
        };
        let subtract = before != *descending;
        match (class(&key.ty), unit) {
            (Class::Date | Class::DateTime | Class::Time, Some(unit)) => {
                let function = if subtract { Function::DATE_SUB } else { Function::DATE_ADD };
                let name = unit.name();
                let text = Value::Bytes(std::borrow::Cow::Borrowed(name.as_bytes()));
                let unit = Expr::literal(text, typing::string(name.len() as u64, types::CollationId::UTF8MB4_BIN));
                let ty = match class(&key.ty) {
                    Class::Time => ColumnType::new(TypeKind::Time { fsp: 6 }),
                    _ => ColumnType::new(TypeKind::DateTime { fsp: 6 }),
                };
                let date = Expr { kind: ExprKind::Cast(Box::new(key.clone())), ty: ty.clone(), nullable: key.nullable };
                Ok(Expr { kind: ExprKind::Call { function, args: vec![date, offset.clone(), unit] }, ty, nullable: true })
            }
            (Class::Date | Class::DateTime | Class::Time, None) => wrong(WindowError::TemporalOffset, &window.name),
            (Class::Integer | Class::Decimal | Class::Double, None) => {
                let op = if subtract { ArithmeticOp::Subtract } else { ArithmeticOp::Add };
                // A result outside the key's type raises 1690, as any other sum does.
                let left = key.clone();
                let ty = typing::arithmetic(op, &left, offset, false, self.context.div_precision_increment());
                let kind = ExprKind::Arithmetic { op, left: Box::new(left), right: Box::new(offset.clone()) };
                Ok(Expr { kind, ty, nullable: true })
            }
            (Class::Integer | Class::Decimal | Class::Double, Some(_)) => wrong(WindowError::NumericOffset, &window.name),
            _ => wrong(WindowError::RangeOrder, &window.name),
        }
    }
}

/// Puts the operators of the window functions above `input`, and makes the select list, over the same input, read their
/// slots.
pub(super) fn over_windows(input: Node, mut windows: Vec<BoundWindow>, project: &mut [Expr]) -> Node {
    let mut below = Vec::new();
    for window in &mut windows {
        window.exprs_mut().for_each(|expr| read_from_slots(expr, &mut below));
    }
    project.iter_mut().for_each(|expr| read_from_slots(expr, &mut below));
    let mut width = below.len();
    let mut node = Node::Project { input: Box::new(input), exprs: below };
    let mut places = vec![0; windows.len()];
    let mut left: Vec<(usize, BoundWindow)> = windows.into_iter().enumerate().collect();
    while let Some((_, first)) = left.first() {
        let (partition, order) = (first.partition.clone(), first.order.clone());
        let (same, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, w)| w.partition == partition && w.order == order);
        left = others;
        let order: Vec<SortKey> = order.into_iter().map(|(expr, descending)| SortKey { expr, descending }).collect();
        let mut keys: Vec<SortKey> = partition.iter().map(|expr| SortKey { expr: expr.clone(), descending: false }).collect();
        keys.extend(order.iter().cloned());
        if !keys.is_empty() {
            node = Node::Sort { input: Box::new(node), keys, limit: None };
        }
        let columns = width;
        let mut calls = Vec::with_capacity(same.len());
        for (n, window) in same {
            places[n] = width;
            width += 1;
            calls.push(window.call);
        }
        node = Node::Window { input: Box::new(node), columns, partition, order, calls };
    }
    project.iter_mut().for_each(|expr| place_windows(expr, &places));
    node
}

fn place_windows(expr: &mut Expr, places: &[usize]) {
    match &mut expr.kind {
        ExprKind::Slot(slot) if *slot >= WINDOW_SLOT => *slot = places[*slot - WINDOW_SLOT],
        _ => expr.parts_mut().into_iter().for_each(|part| place_windows(part, places)),
    }
}
