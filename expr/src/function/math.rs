//! Numeric functions. Each keeps its argument's kind where MySQL does: integers stay integers, decimals exact.

use crate::coerce;
use crate::error::Error;
use crate::eval::{Env, Evaluated, Pause};
use crate::func::Function;
use crate::tree::Expr;
use types::{TypeKind, Value};

/// Computes one of the numeric functions; the kind of the result is the node's static type.
pub(super) fn call<'a>(env: &Env<'a>, function: Function, node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let value = compute(env, function, node, args)?;
    // Dates are computed as doubles.
    if coerce::kind_of(&node.ty) == coerce::Kind::Double && matches!(value, Value::Int(_) | Value::Decimal(_)) {
        return Ok(Value::Double(env.as_double(&value)?));
    }
    Ok(value)
}

fn compute<'a>(env: &Env<'a>, function: Function, node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    match function {
        Function::Abs => abs(env, node, &args[0]),
        Function::Ceiling | Function::Floor => ceiling_floor(env, node, &args[0], function == Function::Ceiling),
        Function::Round | Function::Truncate => round(env, node, args, function == Function::Truncate),
        Function::Sign => sign(env, &args[0]),
        Function::Sqrt => real(env, node, &args[0], |x| (x >= 0.0).then(|| x.sqrt())),
        Function::Exp => real(env, node, &args[0], |x| Some(x.exp())),
        Function::Ln => logarithm(env, &args[0], f64::ln),
        Function::Log => log(env, args),
        Function::Log2 => logarithm(env, &args[0], f64::log2),
        Function::Log10 => logarithm(env, &args[0], f64::log10),
        Function::Sin => real(env, node, &args[0], |x| Some(x.sin())),
        Function::Cos => real(env, node, &args[0], |x| Some(x.cos())),
        Function::Tan => real(env, node, &args[0], |x| Some(x.tan())),
        Function::Cot => real(env, node, &args[0], |x| Some(1.0 / x.tan())),
        Function::Asin => real(env, node, &args[0], |x| (-1.0..=1.0).contains(&x).then(|| x.asin())),
        Function::Acos => real(env, node, &args[0], |x| (-1.0..=1.0).contains(&x).then(|| x.acos())),
        Function::Atan => atan(env, node, args),
        Function::Degrees => real(env, node, &args[0], |x| Some(x.to_degrees())),
        Function::Radians => real(env, node, &args[0], |x| Some(x.to_radians())),
        Function::Pow => pow(env, node, args),
        Function::Pi => Ok(Value::Double(std::f64::consts::PI)),
        Function::Rand => rand(env, args),
        Function::BitCount if args[0].ty.is_binary_string() && !coerce::is_bits_literal(&args[0].ty) => {
            Ok(env.text(&args[0])?.map_or(Value::Null, |s| Value::Int(s.iter().map(|b| i64::from(b.count_ones())).sum())))
        }
        Function::BitCount => Ok(env.bits(&args[0])?.map_or(Value::Null, |n| Value::Int(i64::from(n.count_ones())))),
        Function::Greatest | Function::Least => super::extreme::call(env, node, args, function == Function::Greatest),
        Function::Interval => interval(env, args),
        _ => unreachable!("{function:?} is not a numeric function"),
    }
}

/// A double result, or 1690 when it is infinite or no number.
fn finite<'a>(env: &Env<'a>, node: &'a Expr, x: f64) -> Evaluated<'a> {
    if x.is_finite() { Ok(Value::Double(x)) } else { Err(out_of_range(env, node, "DOUBLE")) }
}

fn out_of_range(env: &Env<'_>, node: &Expr, what: &'static str) -> Pause {
    Pause::error(Error::OutOfRange { what, expression: env.print(node) })
}

fn real<'a>(env: &Env<'a>, node: &'a Expr, arg: &'a Expr, compute: impl Fn(f64) -> Option<f64>) -> Evaluated<'a> {
    let Some(x) = env.double(arg)? else { return Ok(Value::Null) };
    match compute(x) {
        Some(y) => finite(env, node, y),
        None => Ok(Value::Null),
    }
}

fn logarithm<'a>(env: &Env<'a>, arg: &'a Expr, compute: impl Fn(f64) -> f64) -> Evaluated<'a> {
    let Some(x) = env.double(arg)? else { return Ok(Value::Null) };
    if x <= 0.0 {
        env.problem(Error::InvalidLogarithm)?;
        return Ok(Value::Null);
    }
    Ok(Value::Double(compute(x)))
}

/// LOG(x) and LOG(base, x).
fn log<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let [base, x] = args else { return logarithm(env, &args[0], f64::ln) };
    let (Some(base), Some(x)) = (env.double(base)?, env.double(x)?) else { return Ok(Value::Null) };
    if base <= 0.0 || x <= 0.0 || base == 1.0 {
        env.problem(Error::InvalidLogarithm)?;
        return Ok(Value::Null);
    }
    Ok(Value::Double(x.ln() / base.ln()))
}

fn atan<'a>(env: &Env<'a>, node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let [y, x] = args else { return real(env, node, &args[0], |x| Some(x.atan())) };
    let (Some(y), Some(x)) = (env.double(y)?, env.double(x)?) else { return Ok(Value::Null) };
    Ok(Value::Double(y.atan2(x)))
}

fn pow<'a>(env: &Env<'a>, node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let (Some(x), Some(y)) = (env.double(&args[0])?, env.double(&args[1])?) else { return Ok(Value::Null) };
    finite(env, node, x.powf(y))
}

fn abs<'a>(env: &Env<'a>, node: &'a Expr, arg: &'a Expr) -> Evaluated<'a> {
    Ok(match env.number(arg)? {
        Value::Int(n) => match n.checked_abs() {
            Some(n) => Value::Int(n),
            None => return Err(out_of_range(env, node, "BIGINT")),
        },
        Value::Double(x) => Value::Double(x.abs()),
        Value::Decimal(d) => Value::Decimal(coerce::shown(d.abs(), &node.ty)),
        other => other,
    })
}

fn ceiling_floor<'a>(env: &Env<'a>, node: &'a Expr, arg: &'a Expr, up: bool) -> Evaluated<'a> {
    Ok(match env.number(arg)? {
        Value::Double(x) => Value::Double(if up { x.ceil() } else { x.floor() }),
        Value::Decimal(d) => {
            let whole = if up { d.ceiling() } else { d.floor() };
            let whole = whole.map_err(|_| out_of_range(env, node, "DECIMAL"))?;
            match node.ty.kind {
                TypeKind::Decimal { .. } => Value::Decimal(whole),
                _ => whole.to_i64().map(Value::Int).map_err(|_| out_of_range(env, node, "BIGINT"))?,
            }
        }
        other => other,
    })
}

fn round<'a>(env: &Env<'a>, node: &'a Expr, args: &'a [Expr], truncate: bool) -> Evaluated<'a> {
    const DIGITS_MAX: i128 = 400;
    let digits = match args.get(1) {
        None => 0,
        Some(arg) => match env.integer(arg)? {
            None => return Ok(Value::Null),
            // No number has more digits, on either side of its point.
            Some(n) => n.clamp(-DIGITS_MAX, DIGITS_MAX) as i64,
        },
    };
    let number = env.number(&args[0])?;
    if node.ty.kind == TypeKind::Double && !number.is_null() {
        return Ok(Value::Double(round_double(env.as_double(&number)?, digits, truncate)));
    }
    Ok(match number {
        Value::Double(x) => Value::Double(round_double(x, digits, truncate)),
        Value::Decimal(d) => {
            let scale_max = match node.ty.kind {
                TypeKind::Decimal { scale, .. } => i64::from(scale),
                _ => 0,
            };
            let digits = digits.min(i64::from(d.scale())).min(scale_max.max(0));
            let rounded = if truncate { d.truncate(digits) } else { d.round(digits) };
            let rounded = rounded.map_err(|_| out_of_range(env, node, "DECIMAL"))?;
            match node.ty.kind {
                TypeKind::Decimal { scale, .. } => Value::Decimal(rounded.rescale(scale).unwrap_or(rounded)),
                _ => rounded.to_i64().map(Value::Int).map_err(|_| out_of_range(env, node, "BIGINT"))?,
            }
        }
        Value::Int(n) if digits < 0 => {
            let rounded = round_integer(i128::from(n), digits, truncate);
            Value::Int(i64::try_from(rounded).map_err(|_| out_of_range(env, node, "BIGINT"))?)
        }
        Value::UInt(n) if digits < 0 => {
            let rounded = round_integer(i128::from(n), digits, truncate);
            Value::UInt(u64::try_from(rounded).map_err(|_| out_of_range(env, node, "BIGINT UNSIGNED"))?)
        }
        other => other,
    })
}

/// Rounds to tens, hundreds ... (`digits` is negative), half away from zero.
fn round_integer(n: i128, digits: i64, truncate: bool) -> i128 {
    let Some(unit) = u32::try_from(digits.unsigned_abs()).ok().and_then(|d| 10i128.checked_pow(d)) else { return 0 };
    let cut = n / unit * unit;
    if truncate || (n - cut).abs() * 2 < unit { cut } else { cut + unit * n.signum() }
}

/// ROUND and TRUNCATE of a double: half to even at no digits (as `rint` does), scaled by a power of ten otherwise.
pub(super) fn round_double(x: f64, digits: i64, truncate: bool) -> f64 {
    let power = 10f64.powi(digits.unsigned_abs().min(400) as i32);
    if !x.is_finite() {
        return x;
    }
    if digits < 0 && !power.is_finite() {
        return 0.0;
    }
    let scaled = if digits < 0 { x / power } else { x * power };
    if digits >= 0 && !scaled.is_finite() {
        return x;
    }
    let whole = if truncate { scaled.trunc() } else { scaled.round_ties_even() };
    if digits < 0 { whole * power } else { whole / power }
}

fn sign<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let ordering = |negative: bool, zero: bool| match (negative, zero) {
        (_, true) => 0,
        (true, _) => -1,
        _ => 1,
    };
    Ok(match env.number(arg)? {
        Value::Int(n) => Value::Int(n.signum()),
        Value::UInt(n) => Value::Int(i64::from(n > 0)),
        Value::Double(x) => Value::Int(ordering(x < 0.0, x == 0.0)),
        Value::Decimal(d) => Value::Int(ordering(d.is_negative(), d.is_zero())),
        _ => Value::Null,
    })
}

/// MySQL's generator, so that RAND(seed) gives the sequence applications know.
fn rand<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    const MODULUS: u32 = 0x3FFF_FFFF;
    let step = |[a, b]: [u32; 2]| {
        let a = ((u64::from(a) * 3 + u64::from(b)) % u64::from(MODULUS)) as u32;
        let b = ((u64::from(a) + u64::from(b) + 33) % u64::from(MODULUS)) as u32;
        [a, b]
    };
    let value = |[a, _]: [u32; 2]| Value::Double(f64::from(a) / f64::from(MODULUS));
    let Some(arg) = args.first() else {
        let seeds = env.session().rand.get();
        let next = step([seeds[0] % MODULUS, seeds[1] % MODULUS]);
        env.session().rand.set(next);
        return Ok(value(next));
    };
    // RAND(seed): one sequence for each execution where the seed is constant; it starts over for a seed that changes.
    let seed = env.integer(arg)?.unwrap_or(0) as u32;
    let mut states = env.shared.rare().seeds.borrow_mut();
    let node = std::ptr::from_ref(arg) as usize;
    let at = match states.iter().position(|(n, s, _)| *n == node && *s == seed) {
        Some(at) => at,
        None => {
            states.retain(|(n, ..)| *n != node);
            let first = u64::from(seed.wrapping_mul(0x10001).wrapping_add(55_555_555)) % u64::from(MODULUS);
            let second = u64::from(seed.wrapping_mul(0x1000_0001)) % u64::from(MODULUS);
            states.push((node, seed, [first as u32, second as u32]));
            states.len() - 1
        }
    };
    let next = step(states[at].2);
    states[at].2 = next;
    Ok(value(next))
}

/// INTERVAL(n, n1, n2 ...): how many of the ascending bounds are at most n; -1 for NULL.
fn interval<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(n) = env.double(&args[0])? else { return Ok(Value::Int(-1)) };
    let mut count = 0;
    for bound in &args[1..] {
        if env.double(bound)?.is_some_and(|bound| bound > n) {
            break;
        }
        count += 1;
    }
    Ok(Value::Int(count))
}
