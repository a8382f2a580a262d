//! Numeric functions. Each keeps its argument's kind where MySQL does: integers stay integers, decimals exact.

use super::row::{ANY, Null, Parameters, Places, functions, named};
use super::rules::{self, Typed, Typing};
use crate::class::{Class, class};
use crate::coerce;
use crate::error::Error;
use crate::eval::{Env, Evaluated, Pause};
use crate::tree::{ArithmeticOp, Expr, ExprKind};
use crate::typing;
use types::{CollationId, ColumnType, LobSize, TypeKind, Value};

functions! {
    Math through numeric_result;

    ABS = named(&[("ABS", 1, 1)]).typed(absolute_type).null(Null::AnyArgument).numeric() => |env, node, args| abs(env, node, &args[0]);
    CEILING = named(&[("CEILING", 1, 1), ("CEIL", 1, 1)]).typed(whole_type).null(Null::AnyArgument)
        .parameters(Parameters::Rounded).numeric()
        => |env, node, args| ceiling_floor(env, node, &args[0], true);
    FLOOR = named(&[("FLOOR", 1, 1)]).typed(whole_type).null(Null::AnyArgument).parameters(Parameters::Rounded).numeric()
        => |env, node, args| ceiling_floor(env, node, &args[0], false);
    ROUND = named(&[("ROUND", 1, 2)]).typed(|_, args, _| Ok(rounded_type(args, 1))).null(Null::AnyArgument)
        .parameters(Parameters::Rounded).texts(Places::only(0)).numeric()
        => |env, node, args| round(env, node, args, false);
    TRUNCATE = named(&[("TRUNCATE", 2, 2)]).typed(|_, args, _| Ok(rounded_type(args, 0))).null(Null::AnyArgument)
        .parameters(Parameters::Rounded).numeric()
        => |env, node, args| round(env, node, args, true);
    MOD = named(&[("MOD", 2, 2)]).typed(rules::bigint)
        => |env, node, args| crate::arithmetic::eval(env, node, ArithmeticOp::Modulo, &args[0], &args[1]);
    SIGN = named(&[("SIGN", 1, 1)]).typed(rules::bigint).null(Null::AnyArgument).numeric() => |env, _, args| sign(env, &args[0]);
    SQRT = named(&[("SQRT", 1, 1)]).typed(rules::double).numeric()
        => |env, node, args| real(env, node, &args[0], |x| (x >= 0.0).then(|| x.sqrt()));
    POW = named(&[("POW", 2, 2), ("POWER", 2, 2)]).typed(rules::double).numeric() => pow;
    EXP = named(&[("EXP", 1, 1)]).typed(rules::double).numeric() => |env, node, args| real(env, node, &args[0], |x| Some(x.exp()));
    LN = named(&[("LN", 1, 1)]).typed(rules::double).numeric() => |env, _, args| logarithm(env, &args[0], f64::ln);
    LOG = named(&[("LOG", 1, 2)]).typed(rules::double).numeric() => |env, _, args| log(env, args);
    LOG2 = named(&[("LOG2", 1, 1)]).typed(rules::double).numeric() => |env, _, args| logarithm(env, &args[0], f64::log2);
    LOG10 = named(&[("LOG10", 1, 1)]).typed(rules::double).numeric() => |env, _, args| logarithm(env, &args[0], f64::log10);
    SIN = named(&[("SIN", 1, 1)]).typed(rules::double).numeric() => |env, node, args| real(env, node, &args[0], |x| Some(x.sin()));
    COS = named(&[("COS", 1, 1)]).typed(rules::double).numeric() => |env, node, args| real(env, node, &args[0], |x| Some(x.cos()));
    TAN = named(&[("TAN", 1, 1)]).typed(rules::double).numeric() => |env, node, args| real(env, node, &args[0], |x| Some(x.tan()));
    ASIN = named(&[("ASIN", 1, 1)]).typed(rules::double).numeric()
        => |env, node, args| real(env, node, &args[0], |x| (-1.0..=1.0).contains(&x).then(|| x.asin()));
    ACOS = named(&[("ACOS", 1, 1)]).typed(rules::double).numeric()
        => |env, node, args| real(env, node, &args[0], |x| (-1.0..=1.0).contains(&x).then(|| x.acos()));
    ATAN = named(&[("ATAN", 1, 2), ("ATAN2", 2, 2)]).typed(rules::double).numeric() => atan;
    COT = named(&[("COT", 1, 1)]).typed(rules::double).numeric()
        => |env, node, args| real(env, node, &args[0], |x| Some(1.0 / x.tan()));
    DEGREES = named(&[("DEGREES", 1, 1)]).typed(rules::double).null(Null::AnyArgument).numeric()
        => |env, node, args| real(env, node, &args[0], |x| Some(x.to_degrees()));
    RADIANS = named(&[("RADIANS", 1, 1)]).typed(rules::double).null(Null::AnyArgument).numeric()
        => |env, node, args| real(env, node, &args[0], |x| Some(x.to_radians()));
    PI = named(&[("PI", 0, 0)]).typed(|_, _, _| Ok(typing::pi())).null(Null::Never)
        => |_, _, _| Ok(Value::Double(std::f64::consts::PI));
    RAND = named(&[("RAND", 0, 1)]).typed(rules::double).null(Null::Never).volatile() => |env, _, args| rand(env, args);
    GREATEST = named(&[("GREATEST", 2, ANY)]).typed(extreme_type).null(Null::AnyArgument).parameters(Parameters::Choice(0))
        => |env, node, args| super::extreme::call(env, node, args, true);
    LEAST = named(&[("LEAST", 2, ANY)]).typed(extreme_type).null(Null::AnyArgument).parameters(Parameters::Choice(0))
        => |env, node, args| super::extreme::call(env, node, args, false);
    BIT_COUNT = named(&[("BIT_COUNT", 1, 1)]).typed(rules::bigint).null(Null::AnyArgument).numeric()
        => |env, _, args| bit_count(env, &args[0]);
    INTERVAL = named(&[("INTERVAL", 2, ANY)]).typed(rules::bigint).null(Null::Never).parameters(Parameters::Choice(0))
        .texts(Places::NONE).numbers(Places::ALL).digits(1)
        => |env, _, args| interval(env, args);
}

/// ROUND and TRUNCATE to a constant number of digits. `carry`: rounding may add a digit.
fn rounded_type(args: &[Expr], carry: u32) -> ColumnType {
    let digits = match args.get(1).map(|d| &d.kind) {
        None | Some(ExprKind::Literal(Value::Null)) => Some(0),
        Some(ExprKind::Literal(Value::UInt(n))) => Some(i64::try_from(*n).unwrap_or(i64::MAX)),
        Some(ExprKind::Literal(value)) => Some(types::convert::to_i64(value, &mut types::convert::Warnings::new())),
        _ => None,
    };
    match typing::numeric(&args[0]).kind {
        TypeKind::Decimal { precision, scale } => {
            let (precision, scale) = (u32::from(precision), u32::from(scale));
            match digits {
                Some(digits) => {
                    let kept = digits.clamp(0, 30) as u32;
                    let kept = kept.min(scale);
                    typing::decimal(precision - scale + kept + if kept < scale { carry } else { 0 }, kept)
                }
                None => typing::decimal(precision, scale),
            }
        }
        TypeKind::BigInt => typing::bigint(typing::numeric(&args[0]).unsigned),
        _ => typing::double(),
    }
}

/// The type of ABS.
fn absolute_type(_: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    Ok(match typing::numeric(&args[0]) {
        ty if class(&ty) == Class::Decimal => ColumnType { unsigned: typing::is_unsigned(&args[0].ty), ..ty },
        ty => ty,
    })
}

/// The type of CEILING and FLOOR.
fn whole_type(_: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    Ok(match class(&args[0].ty) {
        Class::Decimal => {
            let (precision, scale) = typing::decimal_shape(&args[0]);
            if precision - scale < 18 { typing::bigint(false) } else { typing::decimal(precision - scale + 1, 0) }
        }
        _ => match typing::numeric(&args[0]) {
            ty if class(&ty) == Class::Double => typing::double(),
            ty => ty,
        },
    })
}

/// The type of GREATEST and LEAST: numbers are compared as numbers; if there is a string, all are compared as strings.
fn extreme_type(_: &dyn Typing, args: &[Expr], collation: CollationId) -> Typed {
    let ty = typing::unify(args.iter(), collation);
    if ty.kind == TypeKind::Json {
        // JSON values are compared as strings here.
        return Ok(ColumnType { collation: CollationId::UTF8MB4_BIN, ..ColumnType::new(TypeKind::Text(LobSize::Long)) });
    }
    if matches!(ty.kind, TypeKind::VarChar { .. } | TypeKind::VarBinary { .. }) {
        // Times become strings with the largest number of fraction digits among the arguments.
        let fsp = args.iter().map(|arg| typing::fsp(&arg.ty)).max().unwrap_or(0);
        let length = |arg: &Expr| match arg.ty.kind {
            TypeKind::Time { .. } => typing::string_length(&ColumnType::new(TypeKind::Time { fsp })),
            TypeKind::DateTime { .. } | TypeKind::Timestamp { .. } => {
                typing::string_length(&ColumnType::new(TypeKind::DateTime { fsp }))
            }
            _ => 0,
        };
        let of_times = args.iter().map(length).max().unwrap_or(0);
        return Ok(typing::string(of_times.max(typing::string_length(&ty)), collation));
    }
    Ok(ty)
}

/// Dates are computed as doubles.
fn numeric_result<'a>(env: &Env<'a>, node: &'a Expr, outcome: Evaluated<'a>) -> Evaluated<'a> {
    let value = outcome?;
    if class(&node.ty) == Class::Double && matches!(value, Value::Int(_) | Value::Decimal(_)) {
        return Ok(Value::Double(env.as_double(&value)?));
    }
    Ok(value)
}

fn bit_count<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    if arg.ty.is_binary_string() && !coerce::is_bits_literal(&arg.ty) {
        return Ok(env.text(arg)?.map_or(Value::Null, |s| Value::Int(s.iter().map(|b| i64::from(b.count_ones())).sum())));
    }
    Ok(env.bits(arg)?.map_or(Value::Null, |n| Value::Int(i64::from(n.count_ones()))))
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
