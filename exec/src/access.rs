//! From key expressions to encoded keys: points and ranges of an index.
//!
//! A key value need not be of its column's type: `id < 5.5`, `day = '2024-01-01 10:00'`. It is converted, and the way the converted
//! value compares to the original decides: an equality with a value that the column cannot hold matches nothing, a bound between two
//! values of the column becomes a bound at one of them.

use crate::pause::Step;
use expr::eval::borrow;
use expr::{Class, Env, Expr, class, coerce};
use smallvec::SmallVec;
use sql::plan::{Bound, KeyRange};
use std::borrow::Cow;
use std::cmp::Ordering;
use table::{EncodedRange, Table};
use types::{ColumnType, Decimal, TypeKind, Value};

/// Values of one key: on the stack for usual keys.
pub(crate) type KeyValues<'a> = SmallVec<[Value<'a>; 4]>;

/// Encodes the key of a point access; `false`: no row can match.
#[inline]
pub(crate) fn point_key<'a>(env: &Env<'a>, table: &Table, index: usize, exprs: &'a [Expr], key: &mut Vec<u8>) -> Step<bool> {
    let columns = &table.def().indexes[index].columns;
    let mut values = KeyValues::new();
    for (expr, column) in exprs.iter().zip(columns) {
        let ty = &table.def().columns[column.column].ty;
        match key_value(env, expr, ty)? {
            Some((value, Ordering::Equal)) => values.push(value),
            _ => return Ok(false),
        }
    }
    key.clear();
    Ok(table.encode_point_key(index, &values, key))
}

/// Encodes ranges into `out[..count]`, sorted and without overlaps, and returns `count`.
pub(crate) fn ranges<'a>(
    env: &Env<'a>,
    table: &Table,
    index: usize,
    plans: &'a [KeyRange],
    out: &mut Vec<EncodedRange>,
) -> Step<usize> {
    let mut count = 0;
    for plan in plans {
        if out.len() == count {
            out.push(EncodedRange::default());
        }
        if encode_range(env, table, index, plan, &mut out[count])? {
            count += 1;
        }
    }
    if count > 1 {
        out[..count].sort_unstable_by(|a, b| a.low.cmp(&b.low));
        count = merge(&mut out[..count]);
    }
    Ok(count)
}

/// Joins ranges that touch. The input is sorted by low ends; an empty high end is the end of the tree.
fn merge(ranges: &mut [EncodedRange]) -> usize {
    let mut last = 0;
    for next in 1..ranges.len() {
        let (done, rest) = ranges.split_at_mut(next);
        let (current, candidate) = (&mut done[last], &mut rest[0]);
        if current.high.is_empty() || candidate.low <= current.high {
            let farther = candidate.high.is_empty() || candidate.high > current.high;
            if !current.high.is_empty() && farther {
                std::mem::swap(&mut current.high, &mut candidate.high);
            }
        } else {
            last += 1;
            ranges.swap(last, next);
        }
    }
    last + 1
}

pub(crate) fn encode_range<'a>(
    env: &Env<'a>,
    table: &Table,
    index: usize,
    plan: &'a KeyRange,
    out: &mut EncodedRange,
) -> Step<bool> {
    encode_range_behind(env, table, index, KeyValues::new(), plan, out)
}

/// A range of the columns that follow the first ones; the values of the first ones are known.
pub(crate) fn encode_range_behind<'a>(
    env: &Env<'a>,
    table: &Table,
    index: usize,
    mut prefix: KeyValues<'a>,
    plan: &'a KeyRange,
    out: &mut EncodedRange,
) -> Step<bool> {
    let def = table.def();
    let columns = &def.indexes[index].columns;
    let type_of = |n: usize| &def.columns[columns[n].column].ty;
    let known = prefix.len();
    for (n, expr) in plan.prefix.iter().enumerate() {
        match key_value(env, expr, type_of(known + n))? {
            Some((value, Ordering::Equal)) => prefix.push(value),
            None if plan.null_safe.get(n) == Some(&true) && env.eval(expr)?.is_null() => prefix.push(Value::Null),
            _ => return Ok(false),
        }
    }
    let bounded = prefix.len();
    let mut low = None;
    if let Some((expr, bound)) = &plan.low {
        let Some((value, order)) = key_value(env, expr, type_of(bounded))? else { return Ok(false) };
        let inclusive = match order {
            Ordering::Equal => *bound == Bound::Inclusive,
            // Converted downwards: the value itself is below the bound. Upwards: it is above.
            Ordering::Less => false,
            Ordering::Greater => true,
        };
        low = Some((value, inclusive));
    }
    let mut high = None;
    if let Some((expr, bound)) = &plan.high {
        let Some((value, order)) = key_value(env, expr, type_of(bounded))? else { return Ok(false) };
        let inclusive = match order {
            Ordering::Equal => *bound == Bound::Inclusive,
            Ordering::Less => true,
            Ordering::Greater => false,
        };
        high = Some((value, inclusive));
    }
    let low = low.as_ref().map(|(value, inclusive)| (value, *inclusive));
    let high = high.as_ref().map(|(value, inclusive)| (value, *inclusive));
    Ok(table.encode_range(index, &prefix, low, high, out))
}

/// Converts a key expression's value to the column's type, and compares the result with the original. `None`: NULL, or a value the
/// column cannot be compared with.
pub(crate) fn key_value<'a>(env: &Env<'a>, expr: &'a Expr, column: &ColumnType) -> Step<Option<(Value<'a>, Ordering)>> {
    let value = env.eval(expr)?;
    if matches!(value, Value::Null) {
        return Ok(None);
    }
    Ok(match class(column) {
        Class::Integer => integer_key(env, &value, column)?,
        Class::Decimal => decimal_key(env, &value, column)?,
        Class::Double => {
            let x = env.as_double(&value)?;
            let stored = if matches!(column.kind, TypeKind::Float) { f64::from(x as f32) } else { x };
            stored.partial_cmp(&x).map(|order| (Value::Double(stored), order))
        }
        Class::String => text_key(env, value, &expr.ty, column)?,
        Class::Date => env.as_compared_datetime(&value, &expr.ty)?.map(|d| (Value::Date(d.date), d.date.at_midnight().cmp(&d))),
        Class::DateTime => datetime_key(env, &value, &expr.ty, column)?,
        Class::Time => {
            let TypeKind::Time { fsp } = column.kind else { unreachable!("the kind is TIME") };
            env.as_time(&value)?.map(|t| {
                let cut = t.to_fsp(fsp, true);
                (Value::Time(cut), cut.cmp(&t))
            })
        }
        Class::Null | Class::Json => None,
    })
}

fn integer_key<'a>(env: &Env<'a>, value: &Value<'a>, column: &ColumnType) -> Step<Option<(Value<'a>, Ordering)>> {
    let (min, max) = coerce::integer_range(column);
    // No YEAR lies between 0 and 1901.
    let clamp = |n: i128| match n.clamp(min, max) {
        1..=1900 if column.kind == TypeKind::Year => 0,
        held => held,
    };
    let as_column = |n: i128| if coerce::is_unsigned(column) { Value::UInt(n as u64) } else { Value::Int(n as i64) };
    if let Some(n) = coerce::plain_integer(value) {
        let held = clamp(n);
        return Ok(Some((as_column(held), held.cmp(&n))));
    }
    let text = match value {
        Value::Bytes(text) => Some(Decimal::parse(text)).filter(|parsed| parsed.consumed > 0 && !parsed.overflow),
        _ => None,
    };
    if text.as_ref().is_some_and(|_| coerce::exact_number(value).is_none()) {
        // A warning about the value is raised once.
        env.as_double(value)?;
    }
    let exact = match value {
        Value::Decimal(d) => Some(*d),
        _ => text.map(|parsed| parsed.value),
    };
    if let Some(d) = exact {
        let floor = d.floor().ok().and_then(|f| f.to_i64().map(i128::from).or(f.to_u64().map(i128::from)).ok());
        let wide = floor.unwrap_or(if d.is_negative() { i128::MIN } else { i128::MAX });
        let held = clamp(wide);
        return Ok(Some((as_column(held), Decimal::from_i128(held).cmp(&d))));
    }
    let x = env.as_double(value)?;
    let held = clamp(x.floor() as i128);
    Ok((held as f64).partial_cmp(&x).map(|order| (as_column(held), order)))
}

fn decimal_key<'a>(env: &Env<'a>, value: &Value<'a>, column: &ColumnType) -> Step<Option<(Value<'a>, Ordering)>> {
    let TypeKind::Decimal { precision, scale } = column.kind else { unreachable!("the kind is DECIMAL") };
    let d = env.as_decimal(value)?;
    let rounded = d.rescale(scale).ok().filter(|r| r.fits(precision, scale));
    let held = rounded.unwrap_or_else(|| Decimal::max_value(precision, scale, d.is_negative()));
    Ok(Some((Value::Decimal(held), held.cmp(&d))))
}

fn datetime_key<'a>(
    env: &Env<'a>,
    value: &Value<'a>,
    from: &ColumnType,
    column: &ColumnType,
) -> Step<Option<(Value<'a>, Ordering)>> {
    let Some(d) = env.as_compared_datetime(value, from)? else { return Ok(None) };
    let (fsp, stored_utc) = match column.kind {
        TypeKind::Timestamp { fsp } => (fsp, true),
        TypeKind::DateTime { fsp } => (fsp, false),
        _ => unreachable!("the kind is DATETIME"),
    };
    let cut = d.to_fsp(fsp, true).unwrap_or(d);
    let held = if stored_utc { coerce::timestamp_to_stored(env.session(), cut) } else { Some(cut) };
    // A civil time that no TIMESTAMP has lies outside of the type's range, or in the hour that summer time skips.
    Ok(match held {
        Some(held) => Some((Value::DateTime(held), cut.cmp(&d))),
        None => Some(coerce::nearest_timestamp(env.session(), cut)),
    })
}

fn text_key<'a>(env: &Env<'a>, value: Value<'a>, from: &ColumnType, column: &ColumnType) -> Step<Option<(Value<'a>, Ordering)>> {
    if !matches!(value, Value::Bytes(_)) {
        // Compared as a number: a number above the last member's becomes the last member.
        let most = match &column.kind {
            TypeKind::Enum { members } => Some(members.len() as u64),
            TypeKind::Set { members } => Some(u64::MAX >> (64 - members.len().clamp(1, 64))),
            _ => None,
        };
        if let Some(most) = most {
            return number_key(env, &value, most);
        }
    }
    Ok(match &column.kind {
        TypeKind::Enum { members } => {
            let text = env.as_text(value, from)?;
            let member = |m: &String| coerce::strings_equal(column.collation, m.as_bytes(), &text);
            let ordinal = members.iter().position(member).map(|n| n + 1).or(text.is_empty().then_some(0));
            ordinal.map(|n| (Value::UInt(n as u64), Ordering::Equal))
        }
        TypeKind::Set { .. } => {
            let bits = types::row::set_bits(column, &borrow(&value));
            bits.map(|bits| (Value::UInt(bits), Ordering::Equal))
        }
        _ => {
            let text = env.as_text(value, from)?;
            let text: Cow<'a, [u8]> = text;
            Some((Value::Bytes(text), Ordering::Equal))
        }
    })
}

/// Clamps a number to 0..=`most`, and compares the result with the number.
fn number_key<'a>(env: &Env<'a>, value: &Value<'a>, most: u64) -> Step<Option<(Value<'a>, Ordering)>> {
    if let Some(n) = coerce::plain_integer(value) {
        let held = n.clamp(0, i128::from(most));
        return Ok(Some((Value::UInt(held as u64), held.cmp(&n))));
    }
    let x = env.as_double(value)?;
    let held = (x.floor() as i128).clamp(0, i128::from(most)) as u64;
    Ok((held as f64).partial_cmp(&x).map(|order| (Value::UInt(held), order)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(ranges: &[(&str, &str)], expected: &[(&str, &str)]) {
        let range = |(low, high): &(&str, &str)| EncodedRange { low: low.as_bytes().to_vec(), high: high.as_bytes().to_vec() };
        let mut ranges: Vec<EncodedRange> = ranges.iter().map(range).collect();
        ranges.sort_unstable_by(|a, b| a.low.cmp(&b.low));
        let count = merge(&mut ranges);
        assert_eq!(ranges[..count], expected.iter().map(range).collect::<Vec<_>>());
    }

    #[test]
    fn touching_ranges_become_one() {
        check(&[("a", "c"), ("b", "d")], &[("a", "d")]);
        check(&[("a", "b"), ("b", "c")], &[("a", "c")]);
        check(&[("a", "b"), ("c", "d"), ("b5", "b7")], &[("a", "b"), ("b5", "b7"), ("c", "d")]);
        check(&[("a", ""), ("c", "d")], &[("a", "")]);
        check(&[("a", "z"), ("c", "d"), ("x", "")], &[("a", "")]);
        check(&[("a", "b"), ("a", "b")], &[("a", "b")]);
    }
}
