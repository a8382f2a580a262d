//! Window functions over rows in the order of their window: partition by partition, and ordered within a partition.
//!
//! 1. The rows of a partition are kept, and the starts of groups of *peers*: rows that are equal in the order.
//! 2. For each row, each function is computed from its frame, a range of the partition's rows.
//! 3. An aggregate continues from the previous row's frame if the frame only grew. If it moved on and the aggregate can take rows back
//!    (`is_invertible`), the rows that left the frame are taken back; otherwise the aggregate starts again.
//!
//! The rows of a partition that do not fit memory are in a temporary file.
//!
//! W1: the row that begins the next partition stays the input's current row until it is kept.
//! W2: results for the current row are kept, so that no function is computed again after a pause.

use super::Operator;
use super::accumulator::{Accumulator, is_invertible};
use super::numbers;
use crate::pause::{Pause, Step};
use crate::run::Run;
use crate::spill::row_store::RowStore;
use crate::spill::tape::{Record, TapeCache, TapeReader};
use conditions::Condition;
use expr::function::interval;
use expr::keys::KeyKind;
use expr::packed::{self, Packer};
use expr::{Aggregate, Env, Error, Expr, FrameBound, WindowCall, WindowFunction, WindowOnly, coerce};
use sql::plan::SortKey;
use std::cmp::Ordering;
use types::temporal::IntervalUnit;
use types::{TypeKind, Value};

pub(crate) struct WindowOperator<'p> {
    input: Operator<'p>,
    columns: usize,
    partition: &'p [Expr],
    order: &'p [SortKey],
    calls: &'p [WindowCall],
    /// The partition's rows.
    rows: RowStore,
    cache: TapeCache,
    groups: Groups,
    key: Vec<u8>,
    partition_key: Vec<u8>,
    order_key: Vec<u8>,
    /// By call.
    running: Vec<Running>,
    results: Vec<Value<'static>>,
    row: Vec<u8>,
    state: State,
}

/// Groups of peers in a partition.
#[derive(Default)]
struct Groups {
    /// The first row of each, packed.
    starts: RowStore,
    reader: TapeReader,
    start: Vec<u8>,
    /// The first row of the second and of the last group.
    second: Option<usize>,
    last: usize,
    /// The group of the current row: its number, its first row, and the row after its last.
    number: usize,
    peers: (usize, usize),
}

impl Groups {
    fn clear(&mut self) {
        self.starts.clear();
        *self = Self { starts: std::mem::take(&mut self.starts), ..Self::default() };
    }

    /// A group begins with this row.
    fn begin(&mut self, row: usize) {
        self.start.clear();
        Packer::new(&mut self.start, 1).push(&Value::UInt(row as u64));
        self.starts.push(&self.start);
        if self.starts.len() == 2 {
            self.second = Some(row);
        }
        self.last = row;
    }

    fn settle(&mut self, run: &mut Run<'_>) -> Step<()> {
        if self.starts.needs_settling() { self.starts.settle(run) } else { Ok(()) }
    }

    /// Moves to the next row of a partition with this number of rows.
    fn move_to(&mut self, row: usize, rows: usize) -> Step<()> {
        if row < self.peers.1 {
            return Ok(());
        }
        let number = if row == 0 { 0 } else { self.number + 1 };
        let behind = if number + 1 == self.starts.len() {
            rows
        } else {
            match packed::get(self.starts.row(&mut self.reader, number + 1)?, 0) {
                Value::UInt(start) => start as usize,
                _ => unreachable!("packed so by `begin`"),
            }
        };
        (self.number, self.peers) = (number, (row, behind));
        Ok(())
    }
}

/// The frame whose rows an aggregate has added.
struct Running {
    accumulator: Option<Accumulator>,
    start: usize,
    end: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The offsets of the frames are checked.
    Begin,
    /// The next input row must be read, or (`true`) has been read but not kept yet.
    Collect(bool),
    /// The partition is complete; `more`: the input's current row is the first of the next one.
    Emit {
        row: usize,
        more: bool,
    },
    Done,
}

impl<'p> WindowOperator<'p> {
    pub fn new(
        input: Operator<'p>,
        columns: usize,
        partition: &'p [Expr],
        order: &'p [SortKey],
        calls: &'p [WindowCall],
    ) -> Self {
        Self {
            input,
            columns,
            partition,
            order,
            calls,
            rows: RowStore::default(),
            cache: TapeCache::default(),
            groups: Groups::default(),
            key: Vec::new(),
            partition_key: Vec::new(),
            order_key: Vec::new(),
            running: calls.iter().map(|_| Running { accumulator: None, start: 0, end: 0 }).collect(),
            results: Vec::new(),
            row: Vec::new(),
            state: State::Begin,
        }
    }

    pub fn next(&mut self, run: &mut Run<'p>) -> Step<bool> {
        loop {
            match self.state {
                State::Begin => {
                    self.check_offsets(run)?;
                    self.state = State::Collect(false);
                }
                State::Collect(there) => {
                    if self.rows.needs_settling() {
                        self.rows.settle(run)?;
                    }
                    self.groups.settle(run)?;
                    if !there && !self.input.next(run)? {
                        self.state = State::Emit { row: 0, more: false };
                        continue;
                    }
                    self.state = State::Collect(true);
                    if self.keep(run)? {
                        self.state = State::Collect(false);
                    } else {
                        self.state = State::Emit { row: 0, more: true };
                    }
                }
                State::Emit { row, more } if row < self.rows.len() => {
                    if row == 0 {
                        self.rows.wait_written()?;
                    }
                    self.groups.move_to(row, self.rows.len())?;
                    self.compute(run, row)?;
                    self.emit(row)?;
                    self.state = State::Emit { row: row + 1, more };
                    return Ok(true);
                }
                State::Emit { more, .. } => {
                    self.clear();
                    self.state = if more { State::Collect(true) } else { State::Done };
                }
                State::Done => return Ok(false),
            }
        }
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.cache = TapeCache::default();
        self.groups.clear();
        self.results.clear();
        self.running.iter_mut().for_each(|r| *r = Running { accumulator: None, start: 0, end: 0 });
    }

    /// Keeps the input's row; `false`: it belongs to the next partition.
    fn keep(&mut self, run: &mut Run<'p>) -> Step<bool> {
        let slots = self.input.slots();
        let env = run.env(slots);
        self.key.clear();
        for expr in self.partition {
            numbers::encode(&env, KeyKind::of_type(&expr.ty), expr, &mut self.key)?;
        }
        let is_first = self.rows.len() == 0;
        if !is_first && self.key != self.partition_key {
            return Ok(false);
        }
        std::mem::swap(&mut self.key, &mut self.partition_key);
        self.key.clear();
        for key in self.order {
            numbers::encode(&env, KeyKind::of_type(&key.expr.ty), &key.expr, &mut self.key)?;
        }
        if is_first || self.key != self.order_key {
            self.groups.begin(self.rows.len());
            std::mem::swap(&mut self.key, &mut self.order_key);
        }
        self.rows.push(slots);
        run.row_done();
        Ok(true)
    }

    /// Computes the functions of a row that are not computed yet. See W2.
    fn compute(&mut self, run: &mut Run<'p>, row: usize) -> Step<()> {
        run.tick()?;
        while let Some(call) = self.calls.get(self.results.len()) {
            let value = match &call.function {
                WindowFunction::Aggregate(plan) => self.aggregate(run, call, plan, row)?,
                WindowFunction::Only(function) => self.function(run, call, *function, row)?,
            };
            run.row_done();
            self.results.push(value);
        }
        Ok(())
    }

    fn emit(&mut self, row: usize) -> Step<()> {
        let slots = self.rows.random(&self.cache, row)?;
        self.row.clear();
        let mut packer = Packer::new(&mut self.row, self.columns + self.calls.len());
        (0..self.columns).for_each(|n| packer.push(&packed::get(&slots, n)));
        self.results.drain(..).for_each(|value| packer.push(&value));
        Ok(())
    }

    fn row_slots(&self, row: usize) -> Step<Record<'_>> {
        self.rows.random(&self.cache, row)
    }

    fn function(&self, run: &Run<'p>, call: &'p WindowCall, function: WindowOnly, row: usize) -> Step<Value<'static>> {
        let rows = self.rows.len();
        let (first_peer, behind_peers) = self.groups.peers;
        let unsigned = |n: usize| Ok(Value::UInt(n as u64));
        match function {
            WindowOnly::RowNumber => unsigned(row + 1),
            WindowOnly::Rank => unsigned(first_peer + 1),
            WindowOnly::DenseRank => unsigned(self.groups.number + 1),
            WindowOnly::PercentRank => Ok(Value::Double(if rows > 1 { first_peer as f64 / (rows - 1) as f64 } else { 0.0 })),
            WindowOnly::CumeDist => Ok(Value::Double(behind_peers as f64 / rows as f64)),
            WindowOnly::Ntile => {
                let slots = self.row_slots(row)?;
                let env = run.env(&slots);
                let buckets = env.integer(&call.args[0])?.filter(|buckets| *buckets > 0);
                let buckets = buckets.ok_or_else(|| wrong_arguments("ntile"))?;
                let buckets = usize::try_from(buckets).unwrap_or(usize::MAX);
                unsigned(bucket(row, rows, buckets) + 1)
            }
            WindowOnly::Lag | WindowOnly::Lead => {
                let slots = self.row_slots(row)?;
                let env = run.env(&slots);
                let distance = match call.args.get(1) {
                    Some(distance) => env.integer(distance)?,
                    None => Some(1),
                };
                let back = function == WindowOnly::Lag;
                let distance = distance.filter(|distance| *distance >= 0);
                let distance = distance.ok_or_else(|| wrong_arguments(if back { "lag" } else { "lead" }))?;
                let distance = usize::try_from(distance).unwrap_or(usize::MAX);
                let other = if back { row.checked_sub(distance) } else { row.checked_add(distance).filter(|r| *r < rows) };
                match (other, call.args.get(2)) {
                    (Some(other), _) => self.value_at(run, call, &call.args[0], other),
                    (None, Some(default)) => self.value_at(run, call, default, row),
                    (None, None) => Ok(Value::Null),
                }
            }
            WindowOnly::FirstValue | WindowOnly::LastValue | WindowOnly::NthValue => {
                let (start, end) = self.frame(run, call, row)?;
                let place = match function {
                    WindowOnly::FirstValue => Some(start),
                    WindowOnly::LastValue => end.checked_sub(1),
                    _ => match run.env(&self.row_slots(row)?).integer(&call.args[1])? {
                        Some(n) if n < 1 => return Err(wrong_arguments("nth_value")),
                        n => n.and_then(|n| usize::try_from(n - 1).ok()).and_then(|n| start.checked_add(n)),
                    },
                };
                match place.filter(|place| (start..end).contains(place)) {
                    Some(place) => self.value_at(run, call, &call.args[0], place),
                    None => Ok(Value::Null),
                }
            }
        }
    }

    fn value_at(&self, run: &Run<'p>, call: &'p WindowCall, expr: &'p Expr, row: usize) -> Step<Value<'static>> {
        let slots = self.row_slots(row)?;
        let env = run.env(&slots);
        let value = env.eval_short(expr)?;
        let value = env.finish(value, &expr.ty, &call.ty)?.into_owned();
        Ok(match (&value, &call.ty.kind) {
            // A default has as many digits as the values.
            (Value::Decimal(number), TypeKind::Decimal { scale, .. }) => {
                Value::Decimal(number.rescale(*scale).unwrap_or(*number))
            }
            _ => value,
        })
    }

    fn aggregate(&mut self, run: &mut Run<'p>, call: &'p WindowCall, plan: &'p Aggregate, row: usize) -> Step<Value<'static>> {
        let (start, end) = self.frame(run, call, row)?;
        let place = self.results.len();
        let running = &mut self.running[place];
        let leaving = start.saturating_sub(running.start);
        let goes_on = running.accumulator.is_some() && running.start <= start && running.end <= end;
        // Taking back more rows than stay costs more than adding these again.
        if !goes_on || leaving > 0 && (!is_invertible(plan) || start + leaving > running.end) {
            *running = Running { accumulator: Some(Accumulator::new(plan)), start, end: start };
        }
        while self.running[place].start < start {
            run.tick()?;
            let slots = self.rows.random(&self.cache, self.running[place].start)?;
            let mut gone = Accumulator::new(plan);
            gone.add(&run.env(&slots), plan)?;
            let running = &mut self.running[place];
            running.accumulator.as_mut().expect("made above").subtract(gone)?;
            running.start += 1;
            run.row_done();
        }
        while self.running[place].end < end {
            run.tick()?;
            let next = self.running[place].end;
            let slots = self.rows.random(&self.cache, next)?;
            let env = run.env(&slots);
            let running = &mut self.running[place];
            let accumulator = running.accumulator.as_mut().expect("made above");
            accumulator.add(&env, plan)?;
            running.end += 1;
            run.row_done();
        }
        let env = run.env(&[]);
        let accumulator = self.running[place].accumulator.as_mut().expect("made above");
        let value = accumulator.finish(&env, plan)?;
        Ok(env.finish(value, &plan.ty, &call.ty)?.into_owned())
    }

    /// The rows of the frame: the first, and the row after the last. The frame is empty if the second is not greater.
    fn frame(&self, run: &Run<'p>, call: &'p WindowCall, row: usize) -> Step<(usize, usize)> {
        let rows = self.rows.len();
        let (first_peer, behind_peers) = self.groups.peers;
        let range = call.frame.range;
        let count = |expr: &'p Expr| -> Step<usize> {
            let n = run.env(&self.row_slots(row)?).integer(expr)?.unwrap_or(0);
            Ok(usize::try_from(n).unwrap_or(usize::MAX))
        };
        let start = match &call.frame.start {
            FrameBound::UnboundedPreceding => 0,
            FrameBound::CurrentRow => {
                if range {
                    first_peer
                } else {
                    row
                }
            }
            FrameBound::Preceding(n) if !range => row.saturating_sub(count(n)?),
            FrameBound::Following(n) if !range => row.saturating_add(count(n)?).min(rows),
            FrameBound::Preceding(key) | FrameBound::Following(key) => self.key_bound(run, key, row, true)?,
            FrameBound::UnboundedFollowing => rows,
        };
        let end = match &call.frame.end {
            FrameBound::UnboundedPreceding => 0,
            FrameBound::CurrentRow => {
                if range {
                    behind_peers
                } else {
                    row + 1
                }
            }
            FrameBound::Preceding(n) if !range => (row + 1).saturating_sub(count(n)?),
            FrameBound::Following(n) if !range => (row + 1).saturating_add(count(n)?).min(rows),
            FrameBound::Preceding(key) | FrameBound::Following(key) => self.key_bound(run, key, row, false)?,
            FrameBound::UnboundedFollowing => rows,
        };
        Ok((start, end.max(start)))
    }

    /// 3586: an offset of RANGE that is NULL or negative. It is the same for all rows, and refused even without rows.
    fn check_offsets(&self, run: &Run<'p>) -> Step<()> {
        for offsets in self.calls.iter().filter_map(|call| call.frame.offsets.as_deref()) {
            let env = run.env(&[]);
            for (amount, unit) in &offsets.amounts {
                if !is_offset(&env, amount, *unit)? {
                    let name = offsets.window.as_str().into();
                    return Err(Pause::error(Error::from(Condition::WindowFrameIllegal { name })));
                }
            }
        }
        Ok(())
    }

    /// The first row at or after the bound, or the first row after it. Rows with a NULL key are each other's frame.
    fn key_bound(&self, run: &Run<'p>, bound: &'p Expr, row: usize, is_start: bool) -> Step<usize> {
        let SortKey { expr: key, descending } = &self.order[0];
        let slots = self.row_slots(row)?;
        let own = run.env(&slots);
        if matches!(own.eval_short(key)?, Value::Null) {
            let (first, behind) = self.groups.peers;
            return Ok(if is_start { first } else { behind });
        }
        let limit = own.eval_short(bound)?;
        if matches!(limit, Value::Null) {
            // Not a date, or out of the type's range: above all keys, as in MySQL.
            let (first, behind) = self.rows_with_key(run, key, *descending)?;
            return Ok(if *descending { first } else { behind });
        }
        let by = coerce::compare_as(&key.ty, &bound.ty);
        let (mut low, mut high) = self.rows_with_key(run, key, *descending)?;
        while low < high {
            let middle = (low + high) / 2;
            let order = compare_key(&run.env(&self.row_slots(middle)?), by, key, &limit, bound)?;
            let order = if *descending { order.reverse() } else { order };
            // Is this row before the position that is searched for?
            let before = if is_start { order.is_lt() } else { order.is_le() };
            if before {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    /// The rows whose key is not NULL: after the NULLs, or before them in descending order.
    fn rows_with_key(&self, run: &Run<'p>, key: &'p Expr, descending: bool) -> Step<(usize, usize)> {
        let rows = self.rows.len();
        let first = if descending { self.groups.last } else { 0 };
        let null = matches!(run.env(&self.row_slots(first)?).eval_short(key)?, Value::Null);
        Ok(match (null, descending) {
            (false, _) => (0, rows),
            (true, true) => (0, first),
            (true, false) => (self.groups.second.unwrap_or(rows), rows),
        })
    }

    pub fn slots(&self) -> &[u8] {
        &self.row
    }

    pub fn rewind(&mut self, run: &mut Run<'p>) {
        self.clear();
        self.state = State::Collect(false);
        self.input.rewind(run);
    }
}

fn compare_key(env: &Env<'_>, by: expr::CompareAs, key: &Expr, limit: &Value<'_>, bound: &Expr) -> Step<Ordering> {
    let value = env.eval_short(key)?;
    Ok(env.compare_values(by, &value, &key.ty, limit, &bound.ty)?.unwrap_or(Ordering::Equal))
}

/// The bucket of a row, from 0. If rows cannot be divided equally, the first buckets have one row more.
fn bucket(row: usize, rows: usize, buckets: usize) -> usize {
    let (small, larger) = (rows / buckets, rows % buckets);
    let in_larger = larger * (small + 1);
    match row {
        row if row < in_larger => row / (small + 1),
        row => larger + (row - in_larger) / small.max(1),
    }
}

/// May this be an offset? NULL and negative values may not.
fn is_offset<'a>(env: &Env<'a>, amount: &'a Expr, unit: Option<IntervalUnit>) -> Step<bool> {
    if matches!(env.eval_short(amount)?, Value::Null) {
        return Ok(false);
    }
    Ok(match unit {
        Some(unit) => interval(env, amount, unit)?.is_none_or(|interval| !interval.is_negative()),
        None => env.double(amount)?.is_some_and(|amount| amount >= 0.0),
    })
}

/// 1210: a value that cannot be a number of rows.
#[cold]
fn wrong_arguments(function: &str) -> Pause {
    Pause::error(Error::from(Condition::WrongArguments { what: function.into() }))
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn buckets_are_even() {
        let of = |rows: usize, buckets: usize| (0..rows).map(|r| bucket(r, rows, buckets)).collect::<Vec<_>>();
        assert_eq!(of(5, 2), [0, 0, 0, 1, 1]);
        assert_eq!(of(2, 5), [0, 1]);
        assert_eq!(of(4, 4), [0, 1, 2, 3]);
    }
}
