//! The state of one aggregate function for one group.
//!
//! A DISTINCT aggregate, GROUP_CONCAT and the JSON aggregates *gather*: their state grows with the rows. A row's [`Part`] in a gathering
//! aggregate is made first and added afterwards, so that it can be deferred in between (`super::deferred`).
//!
//! A1: `add` evaluates all its arguments before it changes anything, so a pause leaves the accumulator as it was.

use super::numbers;
use crate::hash::ByteSet;
use crate::pause::Step;
use expr::function::Collected;
use expr::keys::{self, KeyKind};
use expr::packed::{self, Packer};
use expr::{Aggregate, AggregateFunction, ArithmeticOp, Class, Env, Error, Evaluated, Expr, class, coerce};
use std::borrow::Cow;
use types::json::Json;
use types::row::number::ShortNumber;
use types::{Decimal, TypeKind, Value};

/// The state of one aggregate of one group.
pub(crate) struct Accumulator {
    state: State,
    /// For a DISTINCT aggregate: the arguments seen.
    distinct: Option<Box<ByteSet>>,
}

enum State {
    Count(i64),
    /// Also AVG; integers add up exactly.
    Integers {
        sum: i128,
        count: u64,
    },
    Decimals {
        sum: Decimal,
        count: u64,
        /// What is still to be added: digits, and how many of them stand behind the point.
        short: Option<(i128, u8)>,
    },
    Doubles {
        sum: f64,
        count: u64,
    },
    /// MIN, MAX, ANY_VALUE
    Best(Option<Value<'static>>),
    Bits(u64),
    /// BIT_AND, BIT_OR and BIT_XOR over binary strings, before the first one.
    BitString(Option<Vec<u8>>),
    /// Welford's running mean and sum of squared differences.
    Variance {
        count: u64,
        mean: f64,
        squares: f64,
    },
    Concat(Box<Concat>),
    /// The document so far, and whether there were rows.
    Json(Json, bool),
    Collected(Box<Collected>),
}

#[derive(Default)]
struct Concat {
    /// The text so far, when no ORDER BY asks for another order.
    text: Vec<u8>,
    any: bool,
    /// (sort key, text). Entries beyond group_concat_max_len are dropped from time to time.
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    /// The size of the entries, its maximum so far, and the size at which entries are dropped next.
    entries_bytes: usize,
    entries_bytes_most: usize,
    prune_bytes: usize,
    /// Entries so far.
    count: u64,
    cut: bool,
    /// The number of values, up to the one that was cut.
    appended: u64,
}

/// The contribution of one row to an aggregate that gathers.
#[derive(Default)]
pub(crate) struct Part {
    /// For DISTINCT: rows with equal keys count once.
    pub key: Vec<u8>,
    /// The sort key of ORDER BY.
    pub order: Vec<u8>,
    /// The text of GROUP_CONCAT, or the packed value.
    pub value: Vec<u8>,
}

/// Does the aggregate's state grow with its rows?
pub(crate) fn gathers(plan: &Aggregate) -> bool {
    use AggregateFunction::{GroupConcat, JsonArrayAgg, JsonObjectAgg, StCollect};
    plan.distinct || matches!(plan.function, GroupConcat | JsonArrayAgg | JsonObjectAgg | StCollect)
}

impl Accumulator {
    pub fn new(plan: &Aggregate) -> Self {
        let state = match plan.function {
            AggregateFunction::Count => State::Count(0),
            AggregateFunction::Sum | AggregateFunction::Avg => match plan.args.first().map(|a| class(&a.ty)) {
                Some(Class::Integer) => State::Integers { sum: 0, count: 0 },
                Some(Class::Decimal | Class::Date | Class::DateTime | Class::Time) => {
                    State::Decimals { sum: Decimal::ZERO, count: 0, short: None }
                }
                _ => State::Doubles { sum: 0.0, count: 0 },
            },
            AggregateFunction::Min | AggregateFunction::Max | AggregateFunction::AnyValue => State::Best(None),
            AggregateFunction::BitAnd | AggregateFunction::BitOr | AggregateFunction::BitXor if plan.ty.is_binary_string() => {
                State::BitString(None)
            }
            AggregateFunction::StCollect => State::Collected(Box::default()),
            AggregateFunction::JsonArrayAgg => State::Json(Json::Array(Vec::new()), false),
            AggregateFunction::JsonObjectAgg => State::Json(Json::Object(Vec::new()), false),
            AggregateFunction::BitAnd => State::Bits(u64::MAX),
            AggregateFunction::BitOr | AggregateFunction::BitXor => State::Bits(0),
            AggregateFunction::StdDevPop
            | AggregateFunction::StdDevSamp
            | AggregateFunction::VarPop
            | AggregateFunction::VarSamp => State::Variance { count: 0, mean: 0.0, squares: 0.0 },
            AggregateFunction::GroupConcat => State::Concat(Box::default()),
        };
        Self { state, distinct: plan.distinct.then(Box::default) }
    }

    /// Adds the current row. Returns the growth of the accumulator's memory.
    pub fn add<'a>(&mut self, env: &Env<'a>, plan: &'a Aggregate) -> Step<usize> {
        if gathers(plan) {
            let mut part = Part::default();
            if !part.make(env, plan)? {
                return Ok(0);
            }
            let (new, grown) = match &mut self.distinct {
                Some(seen) => {
                    let before = seen.memory_bytes();
                    let new = seen.insert(&part.key);
                    (new, seen.memory_bytes() - before)
                }
                None => (true, 0),
            };
            return Ok(if new { grown + self.take(env, plan, part)? } else { grown });
        }
        let [arg] = plan.args.as_slice() else {
            // COUNT(*)
            if let State::Count(count) = &mut self.state {
                *count += 1;
            }
            return Ok(0);
        };
        if !self.add_number(env, plan.function, arg)? {
            let value = env.eval(arg)?;
            self.take_value(env, plan, value)?;
        }
        Ok(0)
    }

    /// Takes in so many rows, of a COUNT of rows.
    pub fn add_rows(&mut self, rows: u64) {
        let State::Count(count) = &mut self.state else { unreachable!("only a COUNT counts rows") };
        *count += rows as i64;
    }

    /// Adds what another accumulator of the same aggregate and group has. For COUNT, SUM and AVG of exact numbers, MIN and MAX.
    pub fn merge(&mut self, env: &Env<'_>, plan: &Aggregate, mut other: Self) -> Step<()> {
        if let State::Decimals { sum, short, .. } = &mut other.state {
            settle(sum, short)?;
        }
        match (&mut self.state, other.state) {
            (State::Count(count), State::Count(more)) => *count += more,
            (State::Integers { sum, count }, State::Integers { sum: more, count: rows }) => {
                *sum += more;
                *count += rows;
            }
            (State::Decimals { sum, count, .. }, State::Decimals { sum: more, count: rows, .. }) => {
                *sum = sum.add(&more).map_err(|_| out_of_range("DECIMAL"))?;
                *count += rows;
            }
            (State::Best(_), State::Best(None)) => {}
            (State::Best(best), State::Best(Some(value))) => keep_best(env, plan, best, value)?,
            _ => unreachable!("asked for by `is_mergeable` only"),
        }
        Ok(())
    }

    /// Takes back what another accumulator has, whose rows this one has added. For aggregates that are [`is_invertible`].
    pub fn subtract(&mut self, mut other: Self) -> Step<()> {
        for state in [&mut self.state, &mut other.state] {
            if let State::Decimals { sum, short, .. } = state {
                settle(sum, short)?;
            }
        }
        match (&mut self.state, other.state) {
            (State::Count(count), State::Count(gone)) => *count -= gone,
            (State::Integers { sum, count }, State::Integers { sum: gone, count: rows }) => {
                *sum -= gone;
                *count -= rows;
            }
            (State::Decimals { sum, count, .. }, State::Decimals { sum: gone, count: rows, .. }) => {
                *sum = sum.subtract(&gone).map_err(|_| out_of_range("DECIMAL"))?;
                *count -= rows;
            }
            _ => unreachable!("asked for by `is_invertible` only"),
        }
        Ok(())
    }

    /// Adds the number of an argument; for IF and CASE that of the chosen branch. `false`: the aggregate needs no number.
    fn add_number<'a>(&mut self, env: &Env<'a>, function: AggregateFunction, arg: &'a Expr) -> Step<bool> {
        if let State::Integers { .. } | State::Decimals { .. } = &self.state
            && self.add_short(numbers::short_number(env, arg))
        {
            return Ok(true);
        }
        match &mut self.state {
            State::Integers { sum, count } => {
                if let Some(number) = env.integer(arg)? {
                    *sum += number;
                    *count += 1;
                }
            }
            State::Decimals { sum, count, .. } => {
                if let Some(number) = env.decimal(arg)? {
                    *sum = sum.add(&number).map_err(|_| out_of_range("DECIMAL"))?;
                    *count += 1;
                }
            }
            State::Doubles { sum, count } => {
                if let Some(number) = env.double(arg)? {
                    *sum += number;
                    *count += 1;
                }
            }
            State::Bits(bits) => {
                if let Some(other) = env.bits(arg)? {
                    combine(function, bits, other);
                }
            }
            State::Variance { count, mean, squares } => {
                if let Some(number) = env.double(arg)? {
                    spread(count, mean, squares, number);
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Adds a number to a sum; `false`: it is to be evaluated.
    #[inline]
    fn add_short(&mut self, number: ShortNumber) -> bool {
        let digits = match number {
            ShortNumber::Null => return true,
            ShortNumber::Digits(digits, scale) => (i128::from(digits), scale),
            ShortNumber::Other => return false,
        };
        match (&mut self.state, digits) {
            (State::Integers { sum, count }, (digits, 0)) => {
                *sum += digits;
                *count += 1;
            }
            (State::Decimals { count, short: Some((sum, behind)), .. }, (digits, scale)) if *behind == scale => {
                *sum += digits;
                *count += 1;
            }
            (State::Decimals { count, short: short @ None, .. }, digits) => {
                *short = Some(digits);
                *count += 1;
            }
            _ => return false,
        }
        true
    }

    /// Frees unused memory when no parts follow for now; returns how much.
    pub fn shrink(&mut self) -> usize {
        let Some(seen) = &mut self.distinct else { return 0 };
        let before = seen.memory_bytes();
        seen.shrink();
        before.saturating_sub(seen.memory_bytes())
    }

    /// The parts that were added, if the aggregate must know them.
    pub fn take_seen(&mut self) -> Option<Box<ByteSet>> {
        self.distinct.take()
    }

    /// Adds a part that is not a duplicate. Returns the growth of the accumulator's memory.
    pub fn take(&mut self, env: &Env<'_>, plan: &Aggregate, part: Part) -> Step<usize> {
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::Concat(concat) => return Ok(concat.add(env, plan, part.order, part.value)),
            State::Json(document, any) => {
                *any = true;
                return add_json(document, &part.value);
            }
            State::Collected(collected) => {
                return match packed::get(&part.value, 0) {
                    Value::Bytes(bytes) => Ok(collected.add(&bytes)?),
                    _ => Ok(collected.add(b"")?),
                };
            }
            _ => self.take_value(env, plan, packed::get(&part.value, 0))?,
        }
        Ok(0)
    }

    fn take_value(&mut self, env: &Env<'_>, plan: &Aggregate, value: Value<'_>) -> Step<()> {
        if matches!(value, Value::Null) {
            return Ok(());
        }
        match &mut self.state {
            State::Count(count) => *count += 1,
            State::Integers { sum, count } => {
                *sum += env.as_integer(&value)?;
                *count += 1;
            }
            State::Decimals { sum, count, .. } => {
                let number = env.as_number(value)?;
                let total = sum.add(&env.as_decimal(&number)?);
                *sum = total.map_err(|_| out_of_range("DECIMAL"))?;
                *count += 1;
            }
            State::Doubles { sum, count } => {
                *sum += env.as_double(&value)?;
                *count += 1;
            }
            State::Best(best) => keep_best(env, plan, best, value)?,
            State::Bits(bits) => {
                let other = env.as_bits(&value)?;
                combine(plan.function, bits, other);
            }
            State::BitString(bits) => {
                let bytes = env.as_text(value, &plan.args[0].ty)?;
                match bits {
                    None => *bits = Some(bytes.into_owned()),
                    Some(bits) => expr::arithmetic::combine_bits(bit_operator(plan.function), bits, &bytes)?,
                }
            }
            State::Variance { count, mean, squares } => {
                let number = env.as_double(&value)?;
                spread(count, mean, squares, number);
            }
            State::Concat(_) | State::Json(..) | State::Collected(_) => unreachable!("they are given parts"),
        }
        Ok(())
    }

    /// The aggregate's value.
    pub fn finish<'e>(&'e mut self, env: &Env<'e>, plan: &Aggregate) -> Evaluated<'e> {
        let average = plan.function == AggregateFunction::Avg;
        if let State::Decimals { sum, short, .. } = &mut self.state {
            settle(sum, short)?;
        }
        Ok(match &mut self.state {
            State::Count(count) => Value::Int(*count),
            State::Integers { count: 0, .. } | State::Decimals { count: 0, .. } | State::Doubles { count: 0, .. } => Value::Null,
            State::Integers { sum, count } => exact(env, Decimal::from_i128(*sum), *count, average)?,
            State::Decimals { sum, count, .. } => {
                // A CASE over several types returns some values with fewer digits than its declared type.
                let declared = plan.args.first().map_or(0, |a| coerce::declared_scale(&a.ty));
                let sum = if sum.scale() < declared { sum.rescale(declared).unwrap_or(*sum) } else { *sum };
                exact(env, sum, *count, average)?
            }
            State::Doubles { sum, count } => {
                let result = if average { *sum / *count as f64 } else { *sum };
                // A result out of range is not finite, which no operator accepts; it is shown as 0.
                Value::Double(if result.is_nan() { f64::INFINITY } else { result })
            }
            State::Best(best) => best.as_ref().map_or(Value::Null, expr::eval::borrow),
            State::Bits(bits) => Value::UInt(*bits),
            State::BitString(bits) => Value::Bytes(match bits {
                Some(bits) => Cow::Borrowed(bits.as_slice()),
                // Without rows: all bits are set for AND, none for the others.
                None => {
                    let fill = if plan.function == AggregateFunction::BitAnd { 0xFF } else { 0 };
                    Cow::Owned(vec![fill; empty_bits_length(plan)])
                }
            }),
            State::Variance { count, squares, .. } => variance(plan.function, *count, *squares)?,
            State::Concat(concat) => concat.finish(env, plan)?,
            State::Collected(collected) => collected.finish().map_or(Value::Null, |bytes| Value::Bytes(Cow::Owned(bytes))),
            State::Json(_, false) => Value::Null,
            State::Json(document, true) => {
                if let Json::Object(members) = document {
                    *document = Json::object(std::mem::take(members));
                }
                Value::Bytes(Cow::Owned(document.to_binary()))
            }
        })
    }
}

impl Part {
    /// Evaluates the current row's part; `false`: the argument is NULL, so there is none.
    pub fn make<'a>(&mut self, env: &Env<'a>, plan: &'a Aggregate) -> Step<bool> {
        self.key.clear();
        self.order.clear();
        self.value.clear();
        match plan.function {
            AggregateFunction::JsonArrayAgg | AggregateFunction::JsonObjectAgg => return self.make_json(env, &plan.args),
            AggregateFunction::GroupConcat => {}
            _ => {
                for arg in &plan.args {
                    let value = env.eval(arg)?;
                    if matches!(value, Value::Null) {
                        return Ok(false);
                    }
                    keys::encode(env, KeyKind::of_type(&arg.ty), &value, &arg.ty, &mut self.key)?;
                    if plan.args.len() == 1 && plan.function != AggregateFunction::Count {
                        Packer::new(&mut self.value, 1).push(&value);
                    }
                }
                return Ok(true);
            }
        }
        for arg in &plan.args {
            let value = env.eval(arg)?;
            if matches!(value, Value::Null) {
                return Ok(false);
            }
            if plan.distinct {
                keys::encode(env, KeyKind::of_type(&arg.ty), &value, &arg.ty, &mut self.key)?;
            }
            self.value.extend_from_slice(&env.as_text(value, &arg.ty)?);
        }
        for (expr, descending) in &plan.order {
            let value = env.eval(expr)?;
            keys::encode_ordered(env, KeyKind::of_type(&expr.ty), *descending, &value, &expr.ty, &mut self.order)?;
        }
        Ok(true)
    }

    /// The member's name, if the aggregate makes an object, and the document. NULLs are included.
    fn make_json<'a>(&mut self, env: &Env<'a>, args: &'a [Expr]) -> Step<bool> {
        let (name, item) = match args {
            [name, item] => {
                if name.ty.is_binary_string() && name.ty.collation == types::CollationId::BINARY {
                    return Err(expr::function::binary_json().into());
                }
                let Some(name) = env.text(name)? else { return Err(expr::function::null_member_name().into()) };
                (Some(name), item)
            }
            [item, ..] => (None, item),
            [] => return Ok(false),
        };
        let item = expr::function::json_value(env, item)?.to_binary();
        let mut packer = Packer::new(&mut self.value, 2);
        packer.push(&name.map_or(Value::Null, Value::Bytes));
        packer.push(&Value::Bytes(Cow::Owned(item)));
        Ok(true)
    }
}

/// Adds a name and a document as [`Part::make_json`] packs them.
fn add_json(document: &mut Json, packed: &[u8]) -> Step<usize> {
    let Value::Bytes(item) = packed::get(packed, 1) else { unreachable!("packed as bytes") };
    let item = Json::from_binary(&item).expect("packed as a document");
    let grown = item.memory_bytes();
    Ok(match (document, packed::get(packed, 0)) {
        (Json::Object(members), Value::Bytes(name)) => {
            members.push((String::from_utf8_lossy(&name).into_owned(), item));
            grown + name.len()
        }
        (Json::Array(items), _) => {
            items.push(item);
            grown
        }
        _ => 0,
    })
}

fn combine(function: AggregateFunction, bits: &mut u64, other: u64) {
    match function {
        AggregateFunction::BitAnd => *bits &= other,
        AggregateFunction::BitOr => *bits |= other,
        _ => *bits ^= other,
    }
}

/// One step of Welford's method.
fn spread(count: &mut u64, mean: &mut f64, squares: &mut f64, number: f64) {
    *count += 1;
    let delta = number - *mean;
    *mean += delta / *count as f64;
    *squares += delta * (number - *mean);
}

fn bit_operator(function: AggregateFunction) -> ArithmeticOp {
    match function {
        AggregateFunction::BitAnd => ArithmeticOp::BitAnd,
        AggregateFunction::BitOr => ArithmeticOp::BitOr,
        _ => ArithmeticOp::BitXor,
    }
}

/// BIT_AND without binary strings: the length of the type, at most 511 bytes.
fn empty_bits_length(plan: &Aggregate) -> usize {
    match plan.ty.kind {
        TypeKind::Binary { length } | TypeKind::VarBinary { length } => (length as usize).min(511),
        _ => 511,
    }
}

fn out_of_range(what: &'static str) -> Error {
    Error::OutOfRange { what, expression: "sum".into() }
}

fn exact<'a>(env: &Env<'_>, sum: Decimal, count: u64, average: bool) -> Evaluated<'a> {
    if !average {
        return Ok(Value::Decimal(sum));
    }
    let quotient = sum.divide_in_groups(&Decimal::from_u64(count), env.session().div_precision_increment);
    let quotient = quotient.expect("a group with an average has rows").map_err(|_| out_of_range("DECIMAL"))?;
    Ok(Value::Decimal(quotient))
}

fn variance<'a>(function: AggregateFunction, count: u64, squares: f64) -> Evaluated<'a> {
    use AggregateFunction::{StdDevPop, StdDevSamp, VarSamp};
    let sample = matches!(function, StdDevSamp | VarSamp);
    let divisor = if sample { count.saturating_sub(1) } else { count };
    if divisor == 0 {
        return Ok(Value::Null);
    }
    let variance = squares / divisor as f64;
    if !variance.is_finite() {
        return Err(out_of_range("DOUBLE").into());
    }
    Ok(Value::Double(if matches!(function, StdDevPop | StdDevSamp) { variance.sqrt() } else { variance }))
}

/// Adds the digits that are still to be added to a sum.
fn settle(sum: &mut Decimal, short: &mut Option<(i128, u8)>) -> Result<(), Error> {
    let Some((digits, scale)) = short.take() else { return Ok(()) };
    let more = Decimal::from_parts(digits.unsigned_abs(), scale, digits < 0);
    *sum = sum.add(&more).map_err(|_| out_of_range("DECIMAL"))?;
    Ok(())
}

/// Can rows that were added be taken back, so that nothing is left of them? Not from sums of doubles, which are rounded.
pub(crate) fn is_invertible(plan: &Aggregate) -> bool {
    use AggregateFunction::{Avg, Count, Sum};
    is_mergeable(plan) && matches!(plan.function, Count | Sum | Avg)
}

/// Is the aggregate the same whatever the order of its rows, to the last bit, and can accumulators of it be merged? A sum of doubles
/// depends on the order; of several texts that are equal the first one is the least.
pub(crate) fn is_mergeable(plan: &Aggregate) -> bool {
    let arg = plan.args.first().map(|arg| class(&arg.ty));
    !plan.distinct
        && match plan.function {
            AggregateFunction::Count => true,
            AggregateFunction::Sum | AggregateFunction::Avg => matches!(arg, Some(Class::Integer | Class::Decimal)),
            AggregateFunction::Min | AggregateFunction::Max => {
                matches!(arg, Some(Class::Integer | Class::Decimal | Class::Date | Class::DateTime | Class::Time))
            }
            _ => false,
        }
}

fn keep_best(env: &Env<'_>, plan: &Aggregate, best: &mut Option<Value<'static>>, value: Value<'_>) -> Step<()> {
    let ty = &plan.args[0].ty;
    let better = match best {
        None => true,
        Some(_) if plan.function == AggregateFunction::AnyValue => false,
        Some(best) => {
            let order = env.compare_values(coerce::compare_as_of(ty), &value, ty, best, ty)?;
            match plan.function {
                AggregateFunction::Max => order.is_some_and(|o| o.is_gt()),
                _ => order.is_some_and(|o| o.is_lt()),
            }
        }
    };
    if !better {
        return Ok(());
    }
    match (best.as_mut(), &value) {
        // Reuses the buffer of the previous value.
        (Some(Value::Bytes(Cow::Owned(buffer))), Value::Bytes(s)) => {
            buffer.clear();
            buffer.extend_from_slice(s);
        }
        _ => *best = Some(value.into_owned()),
    }
    Ok(())
}

/// Entries of an ordered GROUP_CONCAT are dropped only above this size.
const PRUNE_BYTES_MIN: usize = 4 << 10;

impl Concat {
    fn add(&mut self, env: &Env<'_>, plan: &Aggregate, mut order: Vec<u8>, text: Vec<u8>) -> usize {
        let limit = env.session().group_concat_bytes_max;
        if !plan.order.is_empty() {
            // MySQL shows the later one of equal rows first.
            order.extend_from_slice(&(!self.count).to_be_bytes());
            self.count += 1;
            self.entries_bytes += entry_bytes(&order, &text);
            self.entries.push((order, text));
            let most = self.entries_bytes_most.max(self.entries_bytes);
            if self.entries_bytes > self.prune_bytes.max(PRUNE_BYTES_MIN) {
                self.prune(plan.separator.len(), limit);
            }
            return most - std::mem::replace(&mut self.entries_bytes_most, most);
        }
        if self.cut {
            return 0;
        }
        let before = self.text.capacity();
        self.append(&plan.separator, &text, limit);
        self.text.capacity() - before
    }

    /// Drops the entries after the one that reaches the limit.
    fn prune(&mut self, separator_bytes: usize, limit: usize) {
        self.entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let mut shown = 0;
        let mut kept_bytes = 0;
        let kept = self.entries.iter().take_while(|(order, text)| {
            let more = shown <= limit.saturating_add(separator_bytes);
            shown += text.len() + separator_bytes;
            kept_bytes += if more { entry_bytes(order, text) } else { 0 };
            more
        });
        let kept = kept.count();
        self.entries.truncate(kept);
        self.entries_bytes = kept_bytes;
        self.prune_bytes = kept_bytes.saturating_mul(2);
    }

    fn append(&mut self, separator: &[u8], text: &[u8], limit: usize) {
        self.appended += 1;
        if std::mem::replace(&mut self.any, true) {
            self.text.extend_from_slice(separator);
        }
        self.text.extend_from_slice(text);
        if self.text.len() > limit {
            // Not in the middle of a character.
            let mut end = limit;
            while end > 0 && self.text[end] & 0xC0 == 0x80 {
                end -= 1;
            }
            self.text.truncate(end);
            self.cut = true;
        }
    }

    fn finish<'e>(&'e mut self, env: &Env<'_>, plan: &Aggregate) -> Evaluated<'e> {
        let limit = env.session().group_concat_bytes_max;
        let mut entries = std::mem::take(&mut self.entries);
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        for (_, text) in &entries {
            if !self.cut {
                self.append(&plan.separator, text, limit);
            }
        }
        if self.cut {
            env.problem(Error::CutByGroupConcat { row: self.appended })?;
        }
        Ok(if self.any { Value::Bytes(Cow::Borrowed(&self.text)) } else { Value::Null })
    }
}

fn entry_bytes(order: &[u8], text: &[u8]) -> usize {
    order.len() + text.len() + size_of::<(Vec<u8>, Vec<u8>)>()
}
