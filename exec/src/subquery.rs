//! Subqueries in expressions.
//!
//! 1. Evaluation computes the subquery's arguments into a packed row, and looks up the kept outcome for that row.
//! 2. If there is none, it notes the arguments and returns [`expr::Pause::Subquery`]. The driver runs the subquery to its end
//!    ([`Run::resolve`]), keeps the outcome, and evaluation of the row starts over. It returns the same if kept rows must be read
//!    from a temporary file; the driver then waits for them.
//! 3. Outcomes are kept for the statement, up to a memory limit for each subquery; outcomes of a volatile subquery are kept for one row.
//!
//! Q1: a subquery runs with the arguments of the paused evaluation; nothing else of the statement runs meanwhile.
//! Q2: the outer row's [`expr::Waits`] are set aside while the subquery runs.

use crate::boxed::boxed;
use crate::context::{Call, LocalFuture};
use crate::hash::ByteMap;
use crate::operator::{Builder, Operator, Registry, Shareable, SourceLock};
use crate::pause::{Pause, Step};
use crate::run::{Run, RunSubqueries};
use crate::source::SourceState;
use crate::spill::key_set::KeySet;
use crate::spill::row_store::RowStore;
use crate::spill::tape::TapeCache;
use crate::temporary::SpillWait;
use expr::keys::{self, KeyKind};
use expr::packed::{self, Packer};
use expr::{CompareAs, CompareOp, Env, Error, Evaluated, Expr, Result, Subquery, SubqueryTest, SubqueryValues, coerce};
use smallvec::SmallVec;
use sql::plan::{FunctionCall, Parts, SubqueryKeep, SubqueryPlan};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use table::Table;
use types::{ColumnType, Value};

/// The memory for outcomes of one subquery; when it is exceeded, all are dropped.
const KEPT_BYTES_MAX: usize = 4 << 20;

/// The subqueries of a statement.
struct Subqueries<'a> {
    outcomes: Rc<Outcomes>,
    /// The operator trees of subqueries that have run, by subquery.
    operators: RefCell<Vec<Option<Box<Operator<'a>>>>>,
    /// The parameters for building the trees.
    builder: Builder<'a>,
}

/// The outcomes of a statement's subqueries.
struct Outcomes {
    known: RefCell<Vec<Known>>,
    /// A block of kept rows that evaluation needs and that is being read.
    wait: RefCell<Option<SpillWait>>,
}

#[derive(Default)]
struct Known {
    /// The arguments of outcomes; their numbers are positions in `outcomes`.
    arguments: ByteMap,
    outcomes: Vec<Outcome>,
    /// The arguments that evaluation looks for.
    wanted: Vec<u8>,
    /// Are problems errors in that evaluation?
    strict: bool,
    bytes: usize,
    /// The memory charged for dropped outcomes.
    released: usize,
}

enum Outcome {
    /// The only row, packed; empty if there was none.
    Row(Vec<u8>),
    Truth(Option<bool>),
    Rows(Box<Rows>),
}

/// All distinct rows of a subquery with which values are compared.
#[derive(Default)]
struct Rows {
    /// Rows as keys, for equality.
    keys: KeySet,
    all: RowList,
    with_null: RowList,
    complete: bool,
}

/// Rows that are compared one by one.
#[derive(Default)]
struct RowList {
    rows: RowStore,
    cache: TapeCache,
    /// If the rows are on a tape: the progress of a comparison, because it is repeated for each block.
    cursor: RefCell<Cursor>,
}

#[derive(Default)]
struct Cursor {
    values: Vec<u8>,
    next: usize,
    unknown: bool,
}

impl SubqueryValues for Outcomes {
    fn value<'a>(&self, env: &Env<'a>, subquery: &'a Subquery) -> Evaluated<'a> {
        self.compute(env, subquery).map_err(|pause| match pause {
            Pause::Evaluation(pause) => pause,
            Pause::Spill(wait) => {
                self.wait.replace(Some(wait));
                expr::Pause::Subquery(subquery.id)
            }
            Pause::Stall(_) | Pause::Share(_) => unreachable!("outcomes are kept outside of the engine"),
        })
    }

    fn forget(&self, id: usize) {
        self.known.borrow_mut()[id].clear();
    }
}

impl Outcomes {
    fn compute<'a>(&self, env: &Env<'a>, subquery: &'a Subquery) -> Step<Value<'a>> {
        let place = self.find(env, subquery)?;
        let truth = match &subquery.test {
            SubqueryTest::Value { .. } | SubqueryTest::Call { .. } => {
                let column = if let SubqueryTest::Value { column } = &subquery.test { *column } else { 0 };
                let known = self.known.borrow();
                return Ok(match &known[subquery.id].outcomes[place] {
                    Outcome::Row(row) if !row.is_empty() => packed::get(row, column).into_owned(),
                    _ => Value::Null,
                });
            }
            SubqueryTest::Exists { negated } | SubqueryTest::Probe { negated } => {
                let known = self.known.borrow();
                let Outcome::Truth(truth) = known[subquery.id].outcomes[place] else {
                    unreachable!("such a subquery keeps a truth")
                };
                truth.map(|t| t != *negated)
            }
            SubqueryTest::Compare { op, by, types, all, negated } => {
                let mut left: SmallVec<[Value<'a>; 2]> = SmallVec::new();
                for expr in &subquery.left {
                    let value = env.eval(expr)?;
                    left.push(env.finish(value, &expr.ty, &expr.ty)?);
                }
                let known = self.known.borrow();
                let Outcome::Rows(rows) = &known[subquery.id].outcomes[place] else {
                    unreachable!("such a subquery keeps its rows")
                };
                let compared = Compared { env, op: *op, by, left: &left, exprs: &subquery.left, types };
                let truth =
                    if *op == CompareOp::Equal && !all { compared.equals_any(rows)? } else { compared.each(&rows.all, *all)? };
                truth.map(|t| t != *negated)
            }
        };
        Ok(truth.map_or(Value::Null, |t| Value::Int(i64::from(t))))
    }

    fn new(count: usize) -> Self {
        let mut known = Vec::new();
        known.resize_with(count, Known::default);
        Self { known: RefCell::new(known), wait: RefCell::default() }
    }

    /// Returns the memory charged for the outcomes that were dropped to make room.
    fn keep(&self, id: usize, outcome: Outcome) -> usize {
        let known = &mut self.known.borrow_mut()[id];
        if known.bytes > KEPT_BYTES_MAX {
            known.clear();
        }
        let wanted = std::mem::take(&mut known.wanted);
        let (place, new) = known.arguments.insert(&wanted);
        known.bytes += wanted.len() + 64 + outcome.bytes();
        if new {
            known.outcomes.push(outcome)
        } else {
            known.outcomes[place] = outcome
        }
        known.wanted = wanted;
        std::mem::take(&mut known.released)
    }

    /// The position of the outcome for the arguments of the current row; a pause if it is unknown.
    fn find(&self, env: &Env<'_>, subquery: &Subquery) -> Step<usize> {
        let all = &self.known;
        if subquery.args.is_empty() {
            let known = &mut all.borrow_mut()[subquery.id];
            if known.outcomes.is_empty() {
                known.wanted.clear();
                known.strict = env.shared.is_strict();
                return Err(expr::Pause::Subquery(subquery.id).into());
            }
            return Ok(0);
        }
        let mut wanted = std::mem::take(&mut all.borrow_mut()[subquery.id].wanted);
        let strict = match subquery.test {
            SubqueryTest::Call { .. } => env.shared.calls_strictly,
            _ => env.shared.is_strict(),
        };
        let packed = env.shared.strictly(strict, || pack(env, &subquery.args, &mut wanted));
        let known = &mut all.borrow_mut()[subquery.id];
        known.wanted = wanted;
        known.strict = env.shared.is_strict();
        packed?;
        known.arguments.find(&known.wanted).ok_or(expr::Pause::Subquery(subquery.id).into())
    }
}

impl Known {
    fn clear(&mut self) {
        self.arguments.clear();
        self.released += self.outcomes.drain(..).map(|outcome| outcome.charged()).sum::<usize>();
        self.bytes = 0;
    }
}

impl Outcome {
    fn bytes(&self) -> usize {
        match self {
            Outcome::Row(row) => row.len(),
            Outcome::Truth(_) => 0,
            Outcome::Rows(rows) => rows.charged(),
        }
    }

    /// The memory charged to [`Run`].
    fn charged(&self) -> usize {
        match self {
            Outcome::Rows(rows) => rows.charged(),
            _ => 0,
        }
    }
}

fn pack(env: &Env<'_>, args: &[Expr], out: &mut Vec<u8>) -> Step<()> {
    out.clear();
    // Arguments may be subqueries themselves, but not this one.
    let mut packer = Packer::new(out, args.len());
    for arg in args {
        // An expression is part of the plan, so it outlives the environment.
        let value = env.eval_short(arg)?;
        packer.push(&value);
    }
    Ok(())
}

/// Values to compare with rows.
struct Compared<'e, 'a> {
    env: &'e Env<'a>,
    op: CompareOp,
    by: &'e [CompareAs],
    left: &'e [Value<'a>],
    exprs: &'e [Expr],
    types: &'e [ColumnType],
}

impl Compared<'_, '_> {
    /// `left IN (rows)`
    fn equals_any(&self, rows: &Rows) -> Step<Option<bool>> {
        if rows.all.rows.len() == 0 {
            return Ok(Some(false));
        }
        if self.left.iter().any(|value| matches!(value, Value::Null)) {
            return if self.left.len() == 1 { Ok(None) } else { self.each(&rows.all, false) };
        }
        let mut key = Vec::new();
        for ((value, expr), (by, ty)) in self.left.iter().zip(self.exprs).zip(self.by.iter().zip(self.types)) {
            let kind = KeyKind::of_comparison(*by, &expr.ty, ty);
            if kind == KeyKind::Integer && !coerce::is_integer_value(value) {
                return self.each(&rows.all, false);
            }
            keys::encode(self.env, kind, value, &expr.ty, &mut key)?;
        }
        key.push(0);
        if rows.keys.contains(&key)? { Ok(Some(true)) } else { self.each(&rows.with_null, false) }
    }

    /// The comparison with one row after the other.
    fn each(&self, list: &RowList, all: bool) -> Step<Option<bool>> {
        let mut cursor = list.cursor.borrow_mut();
        if list.rows.is_on_tape() {
            let mut values = Vec::new();
            let mut packer = Packer::new(&mut values, self.left.len());
            self.left.iter().for_each(|value| packer.push(value));
            if cursor.values != values {
                *cursor = Cursor { values, ..Cursor::default() };
            }
        } else {
            *cursor = Cursor::default();
        }
        while cursor.next < list.rows.len() {
            match self.row(&list.rows.random(&list.cache, cursor.next)?)? {
                Some(truth) if truth != all => {
                    *cursor = Cursor::default();
                    return Ok(Some(truth));
                }
                Some(_) => {}
                None => cursor.unknown = true,
            }
            cursor.next += 1;
        }
        let unknown = std::mem::take(&mut *cursor).unknown;
        Ok(if unknown { None } else { Some(all) })
    }

    fn row(&self, row: &[u8]) -> Step<Option<bool>> {
        // `<>` of rows is true if any part differs; all other tests need all parts.
        let any = self.op == CompareOp::NotEqual;
        let mut unknown = false;
        for (n, value) in self.left.iter().enumerate() {
            let other = packed::get(row, n);
            let truth = match (value, &other) {
                (Value::Null, Value::Null) if self.op == CompareOp::NullSafeEqual => Some(true),
                (Value::Null, _) | (_, Value::Null) if self.op == CompareOp::NullSafeEqual => Some(false),
                (Value::Null, _) | (_, Value::Null) => None,
                (Value::Bytes(_), _) | (_, Value::Bytes(_)) if self.by[n] == CompareAs::Temporal => {
                    let order = self.env.order_of_dates((value, &self.exprs[n].ty), (&other, &self.types[n]))?;
                    order.map(|order| self.op.holds(order))
                }
                _ => {
                    let order = self.env.compare_values(self.by[n], value, &self.exprs[n].ty, &other, &self.types[n])?;
                    order.map(|order| self.op.holds(order))
                }
            };
            match truth {
                Some(truth) if truth == any => return Ok(Some(any)),
                Some(_) => {}
                None => unknown = true,
            }
        }
        Ok(if unknown { None } else { Some(!any) })
    }
}

/// The rows that a running subquery has returned.
enum Gathering {
    Row(Option<Vec<u8>>),
    Exists(bool),
    Any { found: bool, unknown: bool },
    All { refuted: bool, unknown: bool },
    Rows(Box<Rows>),
}

impl<'a> Run<'a> {
    /// The statement's subqueries and common table expressions, if it has any; `lock`: the row locks that subqueries take.
    #[inline]
    pub fn set_parts(&mut self, parts: &'a Parts, tables: &'a [Option<Arc<Table>>], lock: Option<SourceLock>) {
        self.set_measured_parts(parts, tables, lock, None, None);
    }

    /// As [`Self::set_parts`]; `measures`: for EXPLAIN ANALYZE; `sharing`: several workers may read for subqueries.
    #[inline]
    pub fn set_measured_parts(
        &mut self,
        parts: &'a Parts,
        tables: &'a [Option<Arc<Table>>],
        lock: Option<SourceLock>,
        measures: Option<&'a Registry>,
        sharing: Option<Shareable<'a>>,
    ) {
        if !parts.stores.is_empty() {
            self.stores.resize_with(parts.stores.len(), RowStore::default);
            self.parts = parts;
        }
        if !parts.subqueries.is_empty() {
            self.parts = parts;
            let locks = &parts.locks;
            let builder = Builder {
                tables,
                lock,
                locks,
                is_limited: false,
                exclusive: None,
                keeps_order: true,
                measures,
                sharing,
                gathers: false,
            };
            self.set_subqueries(builder, parts.subqueries.len());
        }
    }

    fn set_subqueries(&mut self, builder: Builder<'a>, count: usize) {
        let outcomes = Rc::new(Outcomes::new(count));
        let mut operators = Vec::new();
        operators.resize_with(count, || None);
        self.shared.set_subqueries(outcomes.clone());
        self.subqueries = Some(Rc::new(Subqueries { outcomes, operators: RefCell::new(operators), builder }));
    }
}

impl<'a> RunSubqueries<'a> for Subqueries<'a> {
    fn take_wait(&self) -> Option<SpillWait> {
        self.outcomes.wait.take()
    }

    fn run<'r>(self: Rc<Self>, run: &'r mut Run<'a>, id: usize) -> LocalFuture<'r, Result<()>>
    where
        'a: 'r,
    {
        boxed(move || async move {
            let plan: &'a SubqueryPlan = &run.parts.subqueries[id];
            let outcomes = &*self.outcomes;
            if let Some(function) = &plan.call {
                return outcomes.call_function(run, id, function).await;
            }
            // Without a borrow of it: the subquery may have subqueries.
            let built = self.operators.borrow_mut()[id].take();
            let mut operator = match built {
                Some(mut operator) => {
                    operator.rewind(run);
                    operator
                }
                None => {
                    // Others end at their first rows.
                    let gathers = matches!(plan.keep, SubqueryKeep::Rows { .. });
                    Box::new(Builder { gathers, ..self.builder }.build(&plan.root))
                }
            };
            if let (Some(source), Some(def)) = (plan.args, &plan.args_table) {
                let known = outcomes.known.borrow();
                let source = &mut run.sources[source];
                source.set_copy(SourceState::Packed, &known[id].wanted);
                source.def = Some(def);
            }
            plan.resets.iter().for_each(|store| run.stores[*store].clear());
            // Q2
            let around = run.shared.set_row_aside();
            let strict = outcomes.known.borrow()[id].strict;
            let strict = run.shared.set_strict(strict);
            let outcome = gather(run, plan, &mut operator).await;
            run.shared.set_strict(strict);
            run.shared.take_row_back(around);
            let released = outcomes.keep(id, outcome?);
            run.release(released);
            if plan.volatile {
                run.shared.note_volatile(id);
            }
            self.operators.borrow_mut()[id] = Some(operator);
            Ok(())
        })
    }
}

impl Outcomes {
    /// Calls a stored function with the noted arguments. Its value holds for the current row, or for the statement if it is called once.
    async fn call_function<'a>(&self, run: &mut Run<'a>, id: usize, function: &'a FunctionCall) -> Result<()> {
        let args: Vec<Value<'static>> = {
            let known = self.known.borrow();
            let wanted = &known[id].wanted;
            (0..function.args.len()).map(|n| packed::get(wanted, n).into_owned()).collect()
        };
        let (host, session, strict) = (run.shared.host, run.shared.session, run.shared.calls_strictly);
        let value = host.call(Call { txn: run.txn, session, function, args: &args, strict }).await?;
        let mut row = Vec::new();
        Packer::new(&mut row, 1).push(&value);
        let released = self.keep(id, Outcome::Row(row));
        run.release(released);
        if run.parts.subqueries[id].volatile {
            run.shared.note_volatile(id);
        }
        Ok(())
    }
}

/// Runs a subquery to its end, or until more rows change nothing.
async fn gather<'a>(run: &mut Run<'a>, plan: &'a SubqueryPlan, operator: &mut Operator<'a>) -> Result<Outcome> {
    let mut gathering = match &plan.keep {
        SubqueryKeep::Row => Gathering::Row(None),
        SubqueryKeep::Exists => Gathering::Exists(false),
        SubqueryKeep::Any(_) => Gathering::Any { found: false, unknown: false },
        SubqueryKeep::All(_) => Gathering::All { refuted: false, unknown: false },
        SubqueryKeep::Rows { .. } => Gathering::Rows(Box::default()),
    };
    loop {
        match operator.next(run) {
            Ok(true) => {}
            Ok(false) => break,
            Err(pause) => {
                run.resolve(pause).await?;
                continue;
            }
        }
        let done = loop {
            match gathering.take(plan, operator.slots(), run) {
                Ok(done) => break done,
                Err(pause) => run.resolve(pause).await?,
            }
        };
        run.row_done();
        if done {
            break;
        }
        while let Err(pause) = gathering.settle(run) {
            run.resolve(pause).await?;
        }
    }
    if let Gathering::Rows(rows) = &mut gathering {
        rows.complete = true;
    }
    while let Err(pause) = gathering.settle(run) {
        run.resolve(pause).await?;
    }
    Ok(gathering.outcome())
}

impl Gathering {
    /// Adds a row; `true`: no more rows are needed.
    fn take<'a>(&mut self, plan: &'a SubqueryPlan, slots: &[u8], run: &mut Run<'a>) -> Step<bool> {
        match self {
            Gathering::Row(Some(_)) => return Err(Error::SubqueryMoreThanOneRow.into()),
            Gathering::Row(row) => *row = Some(copied(slots, plan.columns.len())),
            Gathering::Exists(found) => {
                *found = true;
                return Ok(true);
            }
            Gathering::Any { found, unknown } => {
                let SubqueryKeep::Any(test) = &plan.keep else { unreachable!("made from it") };
                match run.env(slots).truth(test)? {
                    Some(truth) => *found = truth,
                    None => *unknown = true,
                }
                return Ok(*found);
            }
            Gathering::All { refuted, unknown } => {
                let SubqueryKeep::All(test) = &plan.keep else { unreachable!("made from it") };
                match run.env(slots).truth(test)? {
                    Some(truth) => *refuted = !truth,
                    None => *unknown = true,
                }
                return Ok(*refuted);
            }
            Gathering::Rows(rows) => {
                let SubqueryKeep::Rows { by, left } = &plan.keep else { unreachable!("made from it") };
                rows.add(&run.env(slots), slots, &plan.columns, by, left)?;
            }
        }
        Ok(false)
    }

    /// Makes room for further rows.
    fn settle(&mut self, run: &mut Run<'_>) -> Step<()> {
        match self {
            Gathering::Rows(rows) => rows.settle(run),
            _ => Ok(()),
        }
    }

    fn outcome(self) -> Outcome {
        match self {
            Gathering::Row(row) => Outcome::Row(row.unwrap_or_default()),
            Gathering::Exists(found) => Outcome::Truth(Some(found)),
            Gathering::Any { found: true, .. } => Outcome::Truth(Some(true)),
            Gathering::Any { unknown, .. } => Outcome::Truth(if unknown { None } else { Some(false) }),
            Gathering::All { refuted: true, .. } => Outcome::Truth(Some(false)),
            Gathering::All { unknown, .. } => Outcome::Truth(if unknown { None } else { Some(true) }),
            Gathering::Rows(rows) => Outcome::Rows(rows),
        }
    }
}

fn copied(slots: &[u8], columns: usize) -> Vec<u8> {
    let mut row = Vec::new();
    let mut packer = Packer::new(&mut row, columns);
    (0..columns).for_each(|n| packer.push(&packed::get(slots, n)));
    row
}

impl Rows {
    fn add(&mut self, env: &Env<'_>, slots: &[u8], types: &[ColumnType], by: &[CompareAs], left: &[ColumnType]) -> Step<()> {
        let mut key = Vec::new();
        let mut has_null = false;
        for (n, ty) in types.iter().enumerate() {
            let value = packed::get(slots, n);
            has_null |= matches!(value, Value::Null);
            keys::encode(env, KeyKind::of_comparison(by[n], &left[n], ty), &value, ty, &mut key)?;
        }
        // A value that the key kind cannot hold is encoded as NULL, although it is not NULL.
        key.push(u8::from(has_null));
        if self.keys.add(&key) {
            self.all.rows.push(slots);
            if has_null {
                self.with_null.rows.push(slots);
            }
        }
        Ok(())
    }

    fn settle(&mut self, run: &mut Run<'_>) -> Step<()> {
        self.keys.settle(run)?;
        for RowList { rows, .. } in [&mut self.all, &mut self.with_null] {
            if rows.needs_settling() {
                rows.settle(run)?;
            }
            if self.complete {
                rows.wait_written()?;
            }
        }
        Ok(())
    }

    fn charged(&self) -> usize {
        self.keys.charged() + self.all.rows.charged() + self.with_null.rows.charged()
    }
}
