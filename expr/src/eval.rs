//! Evaluates bound expressions over the current rows.
//!
//! A value borrows from the row, the parameter or the plan where it can, so comparisons of columns and constants allocate nothing.
//! Logic has three values; NULL is [`Value::Null`].
//!
//! V1: evaluation changes nothing but what lies in cells of the session (warnings, random state, `@a := x`) and in [`Waits`]; it may be
//!     repeated for the same row, which is how SLEEP and GET_LOCK wait: they answer with a [`Pause`], the driver waits, and the
//!     repetition finds the outcome in [`Waits`].
//! V2: the depth of an expression is bounded by the parser, so recursion is.

use crate::class::{Class, class};
use crate::coerce::{self, Text};
use crate::error::Error;
use crate::host::Host;
use crate::in_list::InLists;
use crate::packed;
use crate::rows::{Row, Rows};
use crate::session::SessionVars;
use crate::tree::{CompareAs, CompareOp, Expr, ExprKind, PartitionCall, Subquery, UnaryOp};
use crate::user_variables::{Replaced, UserVariable};
use conditions::Condition;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Ordering;
use std::rc::Rc;
use std::time::Duration;
use types::decimal::SCALE_MAX;
use types::{ColumnType, TypeKind, Value, work};

/// Why a step did not finish.
#[derive(Debug)]
pub enum Pause {
    Error(Box<Error>),
    /// Let other sessions run, then call again.
    Yield,
    /// SLEEP: wait, record the outcome in [`Waits`], call again.
    Sleep(Duration),
    /// A subquery's value is not known for the arguments that it was given: run it, then call again.
    Subquery(usize),
    /// A full-text search is not known: carry it out, then call again.
    Search,
    /// GET_LOCK: wait for the lock, record the outcome in [`Waits`], call again.
    GetLock {
        name: String,
        timeout: Option<Duration>,
    },
    /// Wait for transactions of another server, record the outcome in [`Waits`], call again.
    Replication(Box<Awaited>),
}

/// What a function waits for that replication brings.
#[derive(Debug)]
pub struct Awaited {
    pub until: Until,
    /// `None`: for ever.
    pub timeout: Option<Duration>,
}

#[derive(Debug)]
pub enum Until {
    /// WAIT_FOR_EXECUTED_GTID_SET: `gtid_executed` has all of these. The outcome is 0, after the timeout 1.
    Executed {
        set: String,
        /// The GTID that the session itself will commit: waiting for it is error 3173.
        own: Option<Rc<str>>,
    },
    /// SOURCE_POS_WAIT: the applier has reached this place of the source's binary log. The outcome is the number of events that were waited for, after
    /// the timeout -1, NULL where the applier does not run.
    Applied { file: String, position: u64 },
}

impl Pause {
    pub fn error(error: Error) -> Self {
        Pause::Error(Box::new(error))
    }
}

impl From<Error> for Pause {
    fn from(error: Error) -> Self {
        Pause::error(error)
    }
}

impl From<types::work::Stopped> for Pause {
    fn from(stopped: types::work::Stopped) -> Self {
        Pause::error(stopped.into())
    }
}

impl From<types::Error> for Pause {
    fn from(error: types::Error) -> Self {
        Pause::error(coerce::row_error(error))
    }
}

pub type Evaluated<'a> = std::result::Result<Value<'a>, Pause>;
pub type Step<T> = std::result::Result<T, Pause>;

/// What all rows of one execution share.
pub struct Shared<'a> {
    pub session: &'a SessionVars,
    pub params: &'a [Value<'a>],
    pub host: &'a dyn Host,
    /// Truncation and division by zero are errors: a data change in strict mode, without IGNORE; what a variable of a program takes; what a
    /// stored function is called with.
    strict: Cell<bool>,
    /// The arguments of stored functions are computed so.
    pub calls_strictly: bool,
    /// See [`Self::rare`]; most executions never ask for it.
    pub rare: OnceCell<Box<Rare>>,
}

/// The values of a statement's subqueries. Evaluation only reads them: who makes the environment runs the subqueries.
pub trait SubqueryValues {
    /// The value for the current row; [`Pause::Subquery`] when it is not known.
    fn value<'a>(&self, env: &Env<'a>, subquery: &'a Subquery) -> Evaluated<'a>;

    /// Drops the outcomes of volatile subqueries for the previous row.
    fn forget(&self, id: usize);
}

/// What few executions gather.
#[derive(Default)]
pub struct Rare {
    pub waits: Waits,
    pub in_lists: InLists,
    pub patterns: crate::function::Patterns,
    /// `None`: the statement has no subqueries.
    pub subqueries: Option<Rc<dyn SubqueryValues>>,
    pub searches: crate::search::Searches,
    /// RAND(seed): the argument's address, the seed, the generator's state.
    pub seeds: RefCell<Vec<(usize, u32, [u32; 2])>>,
}

impl<'a> Shared<'a> {
    pub fn new(session: &'a SessionVars, params: &'a [Value<'a>], host: &'a dyn Host) -> Self {
        Self { session, params, host, strict: Cell::new(false), calls_strictly: session.sql_mode.strict, rare: OnceCell::new() }
    }

    /// As [`Self::new`], where all is strict, or nothing.
    pub fn change(session: &'a SessionVars, params: &'a [Value<'a>], host: &'a dyn Host, strict: bool) -> Self {
        Self { strict: Cell::new(strict), calls_strictly: strict, ..Self::new(session, params, host) }
    }

    /// The same for rows of another kind.
    pub fn alike(&self) -> Self {
        Self { calls_strictly: self.calls_strictly, ..Self::change(self.session, self.params, self.host, self.is_strict()) }
    }

    #[inline]
    pub fn is_strict(&self) -> bool {
        self.strict.get()
    }

    /// Evaluates with another strictness.
    #[inline]
    pub fn strictly<T>(&self, strict: bool, evaluate: impl FnOnce() -> T) -> T {
        let around = self.set_strict(strict);
        let outcome = evaluate();
        self.set_strict(around);
        outcome
    }

    /// Returns what was so before.
    #[inline]
    pub fn set_strict(&self, strict: bool) -> bool {
        self.strict.replace(strict)
    }

    pub fn rare(&self) -> &Rare {
        self.rare.get_or_init(Box::default)
    }

    /// Says where the values of subqueries are.
    pub fn set_subqueries(&mut self, values: Rc<dyn SubqueryValues>) {
        self.rare = OnceCell::from(Box::new(Rare { subqueries: Some(values), ..Rare::default() }));
    }

    /// A volatile subquery's outcome is good for the current row.
    pub fn note_volatile(&self, id: usize) {
        self.rare().waits.volatile.borrow_mut().push(id);
        self.session.row_dirty.set(true);
    }

    /// What an operator evaluates for one row is done: nothing of it is repeated.
    #[inline]
    pub fn row_done(&self) {
        if self.session.row_dirty.get() {
            self.forget_row();
        }
    }

    #[cold]
    fn forget_row(&self) {
        self.session.row_dirty.set(false);
        self.session.row_warnings.set(0);
        let Some(rare) = self.rare.get() else { return };
        rare.waits.outcomes.borrow_mut().clear();
        rare.waits.next.set(0);
        rare.waits.assigned.borrow_mut().clear();
        let Some(subqueries) = &rare.subqueries else { return };
        rare.waits.volatile.borrow_mut().drain(..).for_each(|id| subqueries.forget(id));
    }

    /// Evaluation of the same row starts over: what it has changed is taken back.
    pub fn restart_row(&self) {
        if let Some(rare) = self.rare.get() {
            rare.waits.restart();
            let mut variables = self.session.assigned_variables.borrow_mut();
            rare.waits.assigned.borrow_mut().restore(&mut variables);
        }
        let warnings = self.session.row_warnings.replace(0);
        if warnings > 0 {
            self.session.warnings.borrow_mut().drop_last(warnings);
        }
    }

    /// The row's expressions ask again for the outcomes of their waits, from the first on.
    pub fn restart_waits(&self) {
        if let Some(rare) = self.rare.get() {
            rare.waits.restart();
        }
    }

    /// Sets the current row's waits aside while other rows are evaluated.
    pub fn set_row_aside(&self) -> RowAside {
        let waits = &self.rare().waits;
        RowAside {
            outcomes: waits.outcomes.take(),
            next: waits.next.replace(0),
            assigned: waits.assigned.take(),
            volatile: waits.volatile.take(),
            warnings: self.session.row_warnings.replace(0),
            dirty: self.session.row_dirty.replace(false),
        }
    }

    pub fn take_row_back(&self, aside: RowAside) {
        self.row_done();
        let waits = &self.rare().waits;
        waits.outcomes.replace(aside.outcomes);
        waits.next.set(aside.next);
        waits.assigned.replace(aside.assigned);
        waits.volatile.replace(aside.volatile);
        self.session.row_warnings.set(aside.warnings);
        self.session.row_dirty.set(aside.dirty);
    }
}

/// See [`Shared::set_row_aside`].
pub struct RowAside {
    outcomes: Vec<Option<i64>>,
    next: usize,
    assigned: Replaced,
    volatile: Vec<usize>,
    warnings: u32,
    dirty: bool,
}

/// The outcomes of waits that the current row's expressions have asked for, in order of evaluation.
#[derive(Debug, Default)]
pub struct Waits {
    outcomes: RefCell<Vec<Option<i64>>>,
    next: Cell<usize>,
    /// User variables that the row has assigned, with what they were.
    assigned: RefCell<Replaced>,
    /// Volatile subqueries that were run for the row.
    volatile: RefCell<Vec<usize>>,
    /// BENCHMARK: rounds done.
    pub rounds: Cell<u64>,
}

impl Waits {
    /// The outcome of the wait that evaluation meets now, when it is over.
    pub fn take(&self) -> Option<Option<i64>> {
        let outcome = self.outcomes.borrow().get(self.next.get()).copied()?;
        self.next.set(self.next.get() + 1);
        Some(outcome)
    }

    /// Records how a wait ended; evaluation of the row starts over.
    pub fn record(&self, session: &SessionVars, outcome: Option<i64>) {
        self.outcomes.borrow_mut().push(outcome);
        session.row_dirty.set(true);
        self.restart();
    }

    /// Does what must happen once in a row, however often evaluation of the row starts over.
    pub fn once(&self, session: &SessionVars, act: impl FnOnce() -> Option<i64>) -> Option<i64> {
        if let Some(outcome) = self.take() {
            return outcome;
        }
        let outcome = act();
        self.outcomes.borrow_mut().push(outcome);
        self.next.set(self.next.get() + 1);
        session.row_dirty.set(true);
        outcome
    }

    /// Evaluation of the same row starts over.
    pub fn restart(&self) {
        self.next.set(0);
    }
}

/// One row context, and what all of them share.
#[derive(Clone, Copy)]
pub struct Env<'a> {
    pub rows: &'a dyn Rows,
    /// A packed row.
    pub slots: &'a [u8],
    /// The row that would have been inserted, for ON DUPLICATE KEY UPDATE.
    pub insert: &'a [Value<'a>],
    /// Columns of source 0 that the statement has set already, as they are stored.
    pub overlay: &'a [(usize, Value<'a>)],
    pub shared: &'a Shared<'a>,
}

/// The same value, borrowing its bytes.
#[inline]
pub fn borrow<'a>(value: &'a Value<'_>) -> Value<'a> {
    match value {
        Value::Int(n) => Value::Int(*n),
        Value::Bytes(s) => Value::Bytes(Cow::Borrowed(s)),
        Value::Null => Value::Null,
        Value::UInt(n) => Value::UInt(*n),
        Value::Double(x) => Value::Double(*x),
        Value::Decimal(d) => Value::Decimal(*d),
        Value::Date(d) => Value::Date(*d),
        Value::Time(t) => Value::Time(*t),
        Value::DateTime(d) => Value::DateTime(*d),
    }
}

#[inline]
fn boolean<'a>(truth: Option<bool>) -> Value<'a> {
    truth.map_or(Value::Null, |t| Value::Int(i64::from(t)))
}

impl<'a> Env<'a> {
    #[inline]
    pub fn session(&self) -> &'a SessionVars {
        self.shared.session
    }

    /// A condition that is an error for a strict data change, and else a warning.
    #[cold]
    pub fn problem(&self, error: Error) -> Step<()> {
        if self.shared.is_strict() {
            return Err(error.into());
        }
        self.session().warn(error);
        Ok(())
    }

    /// The expression as MySQL prints it in messages.
    #[cold]
    pub fn print(&self, expr: &Expr) -> String {
        crate::display::expression(expr, self.rows, self.shared.params)
    }

    /// The value of an expression; its variant is that of the expression's static type, or NULL, but for parameters, which
    /// come as the client sent them.
    pub fn eval(&self, expr: &'a Expr) -> Evaluated<'a> {
        match &expr.kind {
            ExprKind::Column { source, column } => self.column(*source, *column),
            ExprKind::Literal(value) => Ok(borrow(value)),
            ExprKind::Param(n) => Ok(self.shared.params.get(*n).map_or(Value::Null, borrow)),
            ExprKind::Slot(n) => Ok(packed::get(self.slots, *n)),
            ExprKind::Compare { op, by, left, right } => Ok(boolean(self.compare(*op, *by, left, right)?)),
            ExprKind::And(_)
            | ExprKind::Or(_)
            | ExprKind::Xor(..)
            | ExprKind::Not(_)
            | ExprKind::IsTruth { .. }
            | ExprKind::Between { .. }
            | ExprKind::In { .. }
            | ExprKind::Like { .. } => Ok(boolean(self.truth(expr)?)),
            ExprKind::IsNull { arg, negated } => {
                let null = matches!(self.eval(arg)?, Value::Null);
                Ok(boolean(Some(null != *negated)))
            }
            ExprKind::Arithmetic { op, left, right } => crate::arithmetic::eval(self, expr, *op, left, right),
            ExprKind::Unary { op: UnaryOp::Negate, arg } => crate::arithmetic::negate(self, expr, arg),
            ExprKind::Unary { op: UnaryOp::BitNot, arg } if expr.ty.is_binary_string() => {
                crate::arithmetic::invert_bits(self, arg)
            }
            ExprKind::Unary { op: UnaryOp::BitNot, arg } => Ok(self.bits(arg)?.map_or(Value::Null, |n| Value::UInt(!n))),
            ExprKind::Case { whens, otherwise } => self.case(expr, whens, otherwise.as_deref()),
            ExprKind::Cast(arg) => crate::cast::eval(self, expr, arg),
            ExprKind::Call { function, args } => function.implementation()(self, expr, args),
            ExprKind::ColumnOrdinal { source, column } => self.ordinal(*source, *column),
            ExprKind::UserVariable(name) => self.user_variable(name, &expr.ty),
            ExprKind::AssignVariable { name, value } => self.assign_variable(name, value, &expr.ty),
            ExprKind::Partition(call) => self.partition(call),
            ExprKind::InsertValue { column } => Ok(self.insert.get(*column).map_or(Value::Null, borrow)),
            ExprKind::Subquery(subquery) => self.subquery(subquery),
            ExprKind::Row(_) => Err(Error::NotSupported("row constructors here".into()).into()),
        }
    }

    fn subquery(&self, subquery: &'a Subquery) -> Evaluated<'a> {
        match &self.shared.rare().subqueries {
            Some(values) => values.value(self, subquery),
            None => Err(Error::NotSupported("a subquery here".into()).into()),
        }
    }

    /// As [`Self::eval`], for a value that is used at once.
    pub fn eval_short<'s>(&'s self, expr: &'s Expr) -> Evaluated<'s>
    where
        'a: 's,
    {
        let env: Env<'s> = *self;
        env.eval(expr)
    }

    #[inline]
    pub fn column(&self, source: usize, column: usize) -> Evaluated<'a> {
        if let Some(value) = self.overlaid(source, column) {
            return Ok(self.shown(borrow(value), self.rows.column_type(0, column)));
        }
        Ok(match self.rows.value(source, column)? {
            Value::DateTime(utc) if self.rows.is_stored_timestamp(source, column) => {
                Value::DateTime(self.session().time_zone.from_stored(utc))
            }
            value => value,
        })
    }

    /// A stored value as expressions see it: TIMESTAMP in the session's zone.
    #[inline]
    pub fn shown(&self, value: Value<'a>, ty: &ColumnType) -> Value<'a> {
        match value {
            Value::DateTime(utc) if matches!(ty.kind, TypeKind::Timestamp { .. }) => {
                Value::DateTime(self.session().time_zone.from_stored(utc))
            }
            value => value,
        }
    }

    /// What the statement has set a column of source 0 to.
    #[inline]
    fn overlaid(&self, source: usize, column: usize) -> Option<&'a Value<'a>> {
        if self.overlay.is_empty() || source != 0 {
            return None;
        }
        self.overlay.iter().find(|(c, _)| *c == column).map(|(_, value)| value)
    }

    /// The number of a row's partition.
    fn partition(&self, call: &'a PartitionCall) -> Evaluated<'a> {
        let mut values: SmallVec<[Value<'a>; 4]> = SmallVec::with_capacity(call.args.len());
        for arg in &call.args {
            values.push(match arg.kind {
                // As it is stored: whatever the session's time zone.
                ExprKind::Column { source, column } => match self.overlaid(source, column) {
                    Some(value) => borrow(value),
                    None => match self.rows.row(source)? {
                        Row::Stored(row) => row.get(column)?,
                        _ => self.column(source, column)?,
                    },
                },
                _ => self.eval(arg)?,
            });
        }
        let number = call.function.locate(&values).map_err(|error| Error::Storage(format!("{error:?}")))?;
        Ok(number.map_or(Value::Null, |number| Value::Int(number as i64)))
    }

    fn ordinal(&self, source: usize, column: usize) -> Evaluated<'a> {
        if let Some(value) = self.overlaid(source, column) {
            return Ok(coerce::member_number(value, self.rows.column_type(0, column)));
        }
        match self.rows.row(source)? {
            Row::Stored(row) => Ok(row.ordinal(column)?.map_or(Value::Null, Value::UInt)),
            Row::Packed(row, None) => Ok(packed::get(row, column)),
            Row::Packed(row, Some(def)) => Ok(coerce::member_number(&packed::get(row, column), &def.columns[column].ty)),
            Row::Null => Ok(Value::Null),
        }
    }

    /// The value of `@name`; of one that this statement has set, in the type that it was bound with.
    fn user_variable(&self, name: &str, ty: &ColumnType) -> Evaluated<'a> {
        let session = self.session();
        let assigned = session.assigned_variables.borrow();
        if !assigned.is_empty()
            && let Some(variable) = assigned.get(name)
        {
            return Ok(self.conform(borrow(&variable.value), &variable.ty, ty)?.into_owned());
        }
        Ok(session.user_variables.get(name).map_or(Value::Null, |v| borrow(&v.value)))
    }

    fn assign_variable(&self, name: &str, value: &'a Expr, ty: &ColumnType) -> Evaluated<'a> {
        let value = self.eval_as(value, ty)?;
        let variable = UserVariable::new(borrow(&value).into_owned(), ty.clone());
        // Taken back where the row is evaluated once more.
        let mut replaced = self.shared.rare().waits.assigned.borrow_mut();
        let before = self.session().assign_variable(name, variable, replaced.bytes())?;
        replaced.note(name, before);
        self.session().row_dirty.set(true);
        Ok(value)
    }

    /// The value of `expr` in the representation of another static type: of CASE, IF, COALESCE and the like.
    pub fn eval_as(&self, expr: &'a Expr, ty: &ColumnType) -> Evaluated<'a> {
        let mut value = self.eval(expr)?;
        if coerce::is_string(ty) {
            value = crate::function::moved_time_as_text(value, expr);
        }
        self.conform(value, &expr.ty, ty)
    }

    /// As [`Self::eval_as`], decimals with as many digits as the type has: COALESCE, GREATEST.
    pub fn eval_to_scale(&self, expr: &'a Expr, ty: &ColumnType) -> Evaluated<'a> {
        let value = self.eval_as(expr, ty)?;
        Ok(match (&value, &ty.kind) {
            (Value::Decimal(d), TypeKind::Decimal { scale, .. }) => Value::Decimal(d.rescale(*scale).unwrap_or(*d)),
            _ => value,
        })
    }

    /// Converts a value to the representation of type `ty`, where it has another.
    #[inline]
    pub fn conform(&self, value: Value<'a>, from: &ColumnType, ty: &ColumnType) -> Evaluated<'a> {
        let same_form = coerce::is_document(from) == coerce::is_document(ty);
        if coerce::suits(&value, ty) && same_form { Ok(value) } else { self.conform_slow(value, from, ty) }
    }

    /// The value as it leaves a projection: of the type's representation, decimals with the type's digits.
    #[inline]
    pub fn finish(&self, value: Value<'a>, from: &ColumnType, ty: &ColumnType) -> Evaluated<'a> {
        let value = self.conform(value, from, ty)?;
        match (&value, &ty.kind) {
            // Fewer digits stay fewer: CASE and IF show each branch's own.
            // A literal may have more digits than a type can declare.
            (Value::Decimal(d), TypeKind::Decimal { scale, .. }) if d.scale() > *scale && *scale < SCALE_MAX => {
                Ok(Value::Decimal(d.rescale(*scale).unwrap_or(*d)))
            }
            _ => Ok(value),
        }
    }

    fn conform_slow(&self, value: Value<'a>, from: &ColumnType, ty: &ColumnType) -> Evaluated<'a> {
        if matches!(value, Value::Null) {
            return Ok(value);
        }
        if !matches!(class(ty), Class::String | Class::Json) && coerce::is_document(from) {
            let plain = self.plain(value, from);
            return self.conform_slow(plain, &ColumnType::new(TypeKind::Null), ty);
        }
        match class(ty) {
            Class::Json => Ok(Value::Bytes(Cow::Owned(crate::function::document_of(&value, from).to_binary()))),
            Class::Integer => {
                let n = self.as_integer(&value)?;
                Ok(if ty.unsigned {
                    Value::UInt(n.clamp(i64::MIN.into(), u64::MAX.into()) as u64)
                } else {
                    Value::Int(n.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
                })
            }
            Class::Decimal => Ok(Value::Decimal(self.as_decimal(&value)?)),
            Class::Double => Ok(Value::Double(self.as_double(&value)?)),
            Class::String => Ok(Value::Bytes(self.as_text(value, from)?)),
            Class::Date => Ok(self.as_datetime(&value)?.map_or(Value::Null, |d| Value::Date(d.date))),
            Class::DateTime => Ok(self.as_datetime(&value)?.map_or(Value::Null, Value::DateTime)),
            Class::Time => Ok(self.as_time(&value)?.map_or(Value::Null, Value::Time)),
            Class::Null => Ok(value),
        }
    }

    fn case(&self, node: &'a Expr, whens: &'a [(Expr, Expr)], otherwise: Option<&'a Expr>) -> Evaluated<'a> {
        for (condition, value) in whens {
            if self.truth(condition)? == Some(true) {
                return self.eval_as(value, &node.ty);
            }
        }
        otherwise.map_or(Ok(Value::Null), |value| self.eval_as(value, &node.ty))
    }

    /// Is the predicate true (neither false nor NULL)?
    #[inline]
    pub fn is_true(&self, expr: &'a Expr) -> Step<bool> {
        Ok(self.truth(expr)? == Some(true))
    }

    /// The truth of an expression; `None` is NULL.
    pub fn truth(&self, expr: &'a Expr) -> Step<Option<bool>> {
        match &expr.kind {
            ExprKind::Compare { op, by, left, right } => self.compare(*op, *by, left, right),
            ExprKind::And(args) => self.any(args, false).map(|found| found.map(|f| !f)),
            ExprKind::Or(args) => self.any(args, true),
            ExprKind::Not(arg) => Ok(self.truth(arg)?.map(|t| !t)),
            ExprKind::Xor(left, right) => Ok(match (self.truth(left)?, self.truth(right)?) {
                (Some(a), Some(b)) => Some(a != b),
                _ => None,
            }),
            ExprKind::IsTruth { arg, truth, negated } => Ok(Some((self.truth(arg)? == Some(*truth)) != *negated)),
            ExprKind::Between { arg, low, high, by, negated } => {
                let truth = self.between(*by, arg, low, high)?;
                Ok(truth.map(|t| t != *negated))
            }
            ExprKind::In { arg, list, by, negated } => {
                let truth = crate::in_list::contains(self, expr, *by, arg, list)?;
                Ok(truth.map(|t| t != *negated))
            }
            ExprKind::Like { arg, pattern, escape, collation, negated } => {
                let (Some(s), Some(pattern)) = (self.text(arg)?, self.text(pattern)?) else { return Ok(None) };
                let matches = types::collation::like(&s, &pattern, *escape, *collation);
                work::finish()?;
                Ok(Some(matches != *negated))
            }
            _ => {
                let value = self.eval(expr)?;
                if value.is_null() {
                    return Ok(None);
                }
                if let Value::Bytes(document) = &value
                    && coerce::is_document(&expr.ty)
                {
                    return Ok(Some(document_truth(document)));
                }
                if let (Value::Bytes(bits), ExprKind::Literal(_)) = (&value, &expr.kind)
                    && coerce::is_bits_literal(&expr.ty)
                {
                    return Ok(Some(self.number_of_bits(bits)? != 0));
                }
                match expr.ty.kind {
                    types::TypeKind::Enum { .. } => Ok(Some(types::row::enum_ordinal(&expr.ty, &value).is_some_and(|n| n != 0))),
                    types::TypeKind::Set { .. } => Ok(Some(types::row::set_bits(&expr.ty, &value).is_some_and(|bits| bits != 0))),
                    _ => self.converting(expr, &value, || self.value_truth(&value)),
                }
            }
        }
    }

    fn value_truth(&self, value: &Value<'_>) -> Step<Option<bool>> {
        Ok(Some(match value {
            Value::Null => return Ok(None),
            Value::Int(n) => *n != 0,
            Value::UInt(n) => *n != 0,
            Value::Double(x) => *x != 0.0,
            Value::Decimal(d) => !d.is_zero(),
            other => self.as_double(other)? != 0.0,
        }))
    }

    /// Is any argument `wanted`? With `wanted` false: is any argument false, so that the conjunction is.
    fn any(&self, args: &'a [Expr], wanted: bool) -> Step<Option<bool>> {
        let mut unknown = false;
        for arg in args {
            match self.truth(arg)? {
                Some(t) if t == wanted => return Ok(Some(true)),
                Some(_) => {}
                None => unknown = true,
            }
        }
        Ok(if unknown { None } else { Some(false) })
    }

    fn between(&self, by: CompareAs, arg: &'a Expr, low: &'a Expr, high: &'a Expr) -> Step<Option<bool>> {
        let value = self.eval(arg)?;
        let at_least = self.order_among(by, &value, &arg.ty, low)?.map(Ordering::is_ge);
        if at_least == Some(false) {
            return Ok(Some(false));
        }
        let at_most = self.order_among(by, &value, &arg.ty, high)?.map(Ordering::is_le);
        Ok(match (at_least, at_most) {
            (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        })
    }

    /// As `order`, for IN and BETWEEN, where a value that is not a date is the zero date.
    pub fn order_among(&self, by: CompareAs, value: &Value<'a>, ty: &ColumnType, other: &'a Expr) -> Step<Option<Ordering>> {
        if by != CompareAs::Temporal || matches!(value, Value::Null) {
            return self.order(by, value, ty, other);
        }
        let right = self.eval(other)?;
        if matches!(right, Value::Null) {
            return Ok(None);
        }
        self.order_of_dates((value, ty), (&right, &other.ty))
    }

    /// The order of two dates; a value that is not a date is the zero date, but a parameter is NULL.
    pub fn order_of_dates(&self, left: (&Value<'_>, &ColumnType), right: (&Value<'_>, &ColumnType)) -> Step<Option<Ordering>> {
        let mut moments = [types::DateTime::default(); 2];
        for (moment, (value, ty)) in moments.iter_mut().zip([left, right]) {
            *moment = match self.as_compared_datetime(value, ty)? {
                None if coerce::is_unread_date(value, ty) => return Ok(None),
                read => read.unwrap_or_default(),
            };
        }
        Ok(Some(moments[0].cmp(&moments[1])))
    }

    /// Is the value a member of a list with times? What are none are equal, but among constants, where they are 00:00:00.
    pub fn is_among_times(&self, value: &Value<'a>, other: &'a Expr, among_constants: impl Fn() -> bool) -> Step<Option<bool>> {
        let right = self.eval(other)?;
        if matches!(right, Value::Null) {
            return Ok(None);
        }
        let (left, right) = (self.as_time(value)?, self.as_time(&right)?);
        let is_zero = |time: Option<types::Time>| time == Some(types::Time::default());
        Ok(Some(left == right || right.is_none() && is_zero(left) && among_constants()))
    }

    fn order(&self, by: CompareAs, value: &Value<'a>, ty: &ColumnType, other: &'a Expr) -> Step<Option<Ordering>> {
        let right = self.eval(other)?;
        if matches!(value, Value::Null) || matches!(right, Value::Null) {
            return Ok(None);
        }
        self.compare_values(by, value, ty, &right, &other.ty)
    }

    /// Compares two expressions; `None` is NULL.
    pub fn compare(&self, op: CompareOp, by: CompareAs, left: &'a Expr, right: &'a Expr) -> Step<Option<bool>> {
        if let (ExprKind::Row(left), ExprKind::Row(right)) = (&left.kind, &right.kind) {
            return self.compare_rows(op, left, right);
        }
        let a = self.eval(left)?;
        if matches!(a, Value::Null) && op != CompareOp::NullSafeEqual {
            return Ok(None);
        }
        let b = self.eval(right)?;
        let null = (matches!(a, Value::Null), matches!(b, Value::Null));
        if null != (false, false) {
            if by == CompareAs::Double && matches!(a, Value::Bytes(_)) && !matches!(right.kind, ExprKind::Literal(_)) {
                // It is made a number before the other side is found to be NULL.
                self.converting(left, &a, || self.as_double(&a))?;
            }
            return Ok((op == CompareOp::NullSafeEqual).then_some(null == (true, true)));
        }
        let order = match (&left.kind, &right.kind) {
            (ExprKind::Subquery(_), _) if by == CompareAs::Double => {
                self.converting(left, &a, || self.compare_values(by, &a, &left.ty, &b, &right.ty))?
            }
            (_, ExprKind::Subquery(_)) if by == CompareAs::Double => {
                self.converting(right, &b, || self.compare_values(by, &a, &left.ty, &b, &right.ty))?
            }
            _ => self.compare_values(by, &a, &left.ty, &b, &right.ty)?,
        };
        Ok(match order {
            Some(order) => Some(op.holds(order)),
            None if coerce::is_unread_date(&a, &left.ty) || coerce::is_unread_date(&b, &right.ty) => {
                (op == CompareOp::NullSafeEqual).then_some(false)
            }
            None => {
                self.refuse_constant(by, left, &a, &right.ty)?;
                self.refuse_constant(by, right, &b, &left.ty)?;
                match by {
                    // Compared with a date, a text that is not a date is the zero date.
                    CompareAs::Temporal => {
                        let date = |value| coerce::quiet_datetime(self.session(), value).unwrap_or_default();
                        Some(op.holds(date(&a).cmp(&date(&b))))
                    }
                    _ => (op == CompareOp::NullSafeEqual).then_some(false),
                }
            }
        })
    }

    /// A literal that is not a date, compared with a date, is an error (1525); computed constants are checked when the
    /// statement is planned.
    #[cold]
    fn refuse_constant(&self, by: CompareAs, expr: &Expr, value: &Value<'_>, other: &ColumnType) -> Step<()> {
        if let Value::Bytes(text) = value
            && by == CompareAs::Temporal
            && matches!(expr.kind, ExprKind::Param(_) | ExprKind::Literal(_))
            && self.as_datetime(value)?.is_none()
        {
            let kind = if class(other) == Class::DateTime { "DATETIME" } else { "DATE" };
            return Err(
                Error::from(Condition::WrongValue { kind: kind.into(), value: (String::from_utf8_lossy(text)).into() }).into()
            );
        }
        Ok(())
    }

    /// `(a, b) op (c, d)`: the first unequal pair decides.
    fn compare_rows(&self, op: CompareOp, left: &'a [Expr], right: &'a [Expr]) -> Step<Option<bool>> {
        let equality = matches!(op, CompareOp::Equal | CompareOp::NotEqual);
        let mut unknown = false;
        for (left, right) in left.iter().zip(right) {
            let by = coerce::compare_as(&left.ty, &right.ty);
            if op == CompareOp::NullSafeEqual {
                if self.compare(op, by, left, right)? == Some(false) {
                    return Ok(Some(false));
                }
                continue;
            }
            if let (ExprKind::Row(_), ExprKind::Row(_)) = (&left.kind, &right.kind) {
                match self.compare(CompareOp::Equal, by, left, right)? {
                    Some(true) => continue,
                    Some(false) if equality => return Ok(Some(op == CompareOp::NotEqual)),
                    Some(false) => return self.compare(op, by, left, right),
                    None => unknown = true,
                }
                continue;
            }
            let value = self.eval(left)?;
            match self.order(by, &value, &left.ty, right)? {
                Some(Ordering::Equal) => {}
                Some(order) => return Ok(Some(op.holds(order))),
                None if equality => unknown = true,
                None => return Ok(None),
            }
        }
        Ok(if unknown { None } else { Some(op.holds(Ordering::Equal)) })
    }

    /// How two values that are not NULL compare; `None` where one turns out to be no value of the kind (a wrong date).
    #[inline]
    pub fn compare_values(
        &self,
        by: CompareAs,
        a: &Value<'_>,
        a_type: &ColumnType,
        b: &Value<'_>,
        b_type: &ColumnType,
    ) -> Step<Option<Ordering>> {
        match (by, a, b) {
            (CompareAs::Integer, Value::Int(a), Value::Int(b)) => Ok(Some(a.cmp(b))),
            (CompareAs::Integer, Value::UInt(a), Value::UInt(b)) => Ok(Some(a.cmp(b))),
            (CompareAs::String(collation), Value::Bytes(a), Value::Bytes(b)) => {
                Ok(Some(coerce::compare_strings(collation, a, b)?))
            }
            _ => self.compare_mixed(by, a, a_type, b, b_type),
        }
    }

    fn compare_mixed(
        &self,
        by: CompareAs,
        a: &Value<'_>,
        a_type: &ColumnType,
        b: &Value<'_>,
        b_type: &ColumnType,
    ) -> Step<Option<Ordering>> {
        Ok(match by {
            CompareAs::Integer => match (coerce::plain_integer(a), coerce::plain_integer(b)) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                // A parameter has the type that the client sent, not the type that the statement's text suggested.
                _ => {
                    let by = coerce::compare_as_of_values(a, b);
                    return self.compare_mixed(by, a, a_type, b, b_type);
                }
            },
            CompareAs::Decimal => match (a, b) {
                (Value::Double(_) | Value::Bytes(_), _) | (_, Value::Double(_) | Value::Bytes(_)) => {
                    self.order_of_numbers(a, b)?
                }
                _ => Some(self.as_decimal(a)?.cmp(&self.as_decimal(b)?)),
            },
            CompareAs::Json => {
                use crate::function::document_of;
                Some(document_of(a, a_type).compare(&document_of(b, b_type)))
            }
            CompareAs::Double => self.order_of_numbers(a, b)?,
            CompareAs::String(collation) => {
                let (a, b) = (self.as_text(borrow(a), a_type)?, self.as_text(borrow(b), b_type)?);
                Some(coerce::compare_strings(collation, &a, &b)?)
            }
            CompareAs::Temporal if coerce::is_no_date(a) || coerce::is_no_date(b) => {
                self.as_double(a)?.partial_cmp(&self.as_double(b)?)
            }
            CompareAs::Temporal => match (self.as_compared_datetime(a, a_type)?, self.as_compared_datetime(b, b_type)?) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => None,
            },
            CompareAs::Time => match (self.as_time(a)?, self.as_time(b)?) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                _ => None,
            },
        })
    }

    /// Compares as floating-point numbers, but an exact number with a text that is one, too, exactly: `id = '76561198016705746'`.
    fn order_of_numbers(&self, a: &Value<'_>, b: &Value<'_>) -> Step<Option<Ordering>> {
        if let (Value::Bytes(_), other) | (other, Value::Bytes(_)) = (a, b)
            && !matches!(other, Value::Bytes(_) | Value::Double(_))
            && let (Some(a), Some(b)) = (coerce::exact_number(a), coerce::exact_number(b))
        {
            return Ok(Some(a.cmp(&b)));
        }
        Ok(self.as_double(a)?.partial_cmp(&self.as_double(b)?))
    }

    /// The text of an expression's value; `None` is NULL.
    pub fn text(&self, expr: &'a Expr) -> Step<Option<Text<'a>>> {
        match self.eval(expr)? {
            Value::Null => Ok(None),
            Value::Bytes(s) if !coerce::is_document(&expr.ty) => Ok(Some(s)),
            value => {
                if let (Value::Double(x), ExprKind::Column { .. }, None) = (&value, &expr.kind, expr.ty.float_decimals)
                    && expr.ty.kind == types::TypeKind::Double
                {
                    // A column's digits are all shown.
                    return Ok(Some(Cow::Owned(coerce::double_text(*x).into_bytes())));
                }
                let value = crate::function::moved_time_as_text(value, expr);
                Ok(Some(self.as_text(value, &expr.ty)?))
            }
        }
    }

    /// The bytes of an expression's text in its character set, for functions of bytes: LENGTH, HEX, MD5.
    pub fn bytes(&self, expr: &'a Expr) -> Step<Option<Text<'a>>> {
        Ok(self.text(expr)?.map(|text| coerce::encoded(text, &expr.ty)))
    }
}

/// A document is true unless it is the number 0: as a condition it is compared with that, and no other kind of document equals a number.
fn document_truth(document: &[u8]) -> bool {
    use types::json::Json;
    match Json::from_binary(document) {
        Ok(Json::Int(n)) => n != 0,
        Ok(Json::UInt(n)) => n != 0,
        Ok(Json::Double(x)) => x != 0.0,
        Ok(Json::Decimal(d)) => !d.is_zero(),
        _ => true,
    }
}
