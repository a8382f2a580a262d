//! `+ - * / DIV % & | ^ << >>` and unary minus. The static type of the node says in which numbers to compute.

use crate::class::{Class, class};
use crate::coerce;
use crate::error::Error;
use crate::eval::{Env, Evaluated, Pause, Step};
use crate::tree::{ArithmeticOp, Expr, ExprKind};
use conditions::Condition;
use types::decimal::DecimalOverflow;
use types::decimal::SCALE_MAX;
use types::{Decimal, Value};

/// Computes a binary operator.
pub fn eval<'a>(env: &Env<'a>, node: &'a Expr, op: ArithmeticOp, left: &'a Expr, right: &'a Expr) -> Evaluated<'a> {
    use ArithmeticOp::{BitAnd, BitOr, BitXor, ShiftLeft, ShiftRight};
    if matches!(op, BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight) {
        if node.ty.is_binary_string() {
            return bit_strings(env, op, left, right);
        }
        return bitwise(env, op, left, right);
    }
    let kind = class(&node.ty);
    if kind == Class::Decimal {
        let Some(x) = env.decimal_operand(left)? else { return Ok(Value::Null) };
        let Some(y) = env.decimal_operand(right)? else { return Ok(Value::Null) };
        return decimals(env, node, op, &x, &y);
    }
    if kind == Class::Double {
        // Both are looked at, also where one is NULL: they may be texts that are no numbers.
        let (x, y) = (double(env, left)?, double(env, right)?);
        return match (x, y) {
            (Some(x), Some(y)) => doubles(env, node, op, x, y),
            _ => Ok(Value::Null),
        };
    }
    let (a, _) = env.operand(left)?;
    if matches!(a, Value::Null) {
        return Ok(Value::Null);
    }
    let (b, _) = env.operand(right)?;
    if matches!(b, Value::Null) {
        return Ok(Value::Null);
    }
    integers(env, node, op, &a, &b)
}

fn double<'a>(env: &Env<'a>, operand: &'a Expr) -> Step<Option<f64>> {
    match env.operand(operand)? {
        (Value::Null, _) => Ok(None),
        (value, chosen) => env.converting(chosen, &value, || env.as_double(&value)).map(Some),
    }
}

/// `-x`: integers that have no negative become 1690.
pub fn negate<'a>(env: &Env<'a>, node: &'a Expr, arg: &'a Expr) -> Evaluated<'a> {
    if class(&node.ty) == Class::Decimal {
        let number = env.decimal_operand(arg)?;
        return Ok(number.map_or(Value::Null, |number| Value::Decimal(coerce::shown(number.negate(), &node.ty))));
    }
    Ok(match (env.number(arg)?, class(&node.ty)) {
        (Value::Null, _) => Value::Null,
        (value, Class::Double) => Value::Double(-env.as_double(&value)?),
        (value, _) => {
            let n = -env.as_integer(&value)?;
            if n < i64::MIN.into() && matches!(arg.kind, ExprKind::Param(_)) {
                // A literal that the plan cache took out: with its sign it is a decimal.
                return Ok(Value::Decimal(Decimal::from_i128(n)));
            }
            integer_result(env, node, n)?
        }
    })
}

/// Bit operations on binary strings: `& | ^` of two of one length, shifts of one.
fn bit_strings<'a>(env: &Env<'a>, op: ArithmeticOp, left: &'a Expr, right: &'a Expr) -> Evaluated<'a> {
    let Some(a) = env.text(left)? else { return Ok(Value::Null) };
    if let ArithmeticOp::ShiftLeft | ArithmeticOp::ShiftRight = op {
        let Some(count) = env.bits(right)? else { return Ok(Value::Null) };
        let shifted = if op == ArithmeticOp::ShiftLeft { shift_left(&a, count) } else { shift_right(&a, count) };
        return Ok(Value::Bytes(shifted.into()));
    }
    let Some(b) = env.text(right)? else { return Ok(Value::Null) };
    let mut out = a.into_owned();
    combine_bits(op, &mut out, &b)?;
    Ok(Value::Bytes(out.into()))
}

/// `a = a op b`, byte by byte.
pub fn combine_bits(op: ArithmeticOp, a: &mut [u8], b: &[u8]) -> Result<(), Error> {
    if a.len() != b.len() {
        return Err(unequal_lengths());
    }
    for (a, b) in a.iter_mut().zip(b) {
        match op {
            ArithmeticOp::BitAnd => *a &= b,
            ArithmeticOp::BitOr => *a |= b,
            _ => *a ^= b,
        }
    }
    Ok(())
}

#[cold]
fn unequal_lengths() -> Error {
    Error::from(Condition::InvalidBitwiseOperandsSize)
}

fn shift_left(bytes: &[u8], count: u64) -> Vec<u8> {
    let mut out = vec![0; bytes.len()];
    let (skip, bits) = (usize::try_from(count / 8).unwrap_or(usize::MAX), count % 8);
    for (n, target) in out.iter_mut().enumerate() {
        let byte = |n: usize| n.checked_add(skip).and_then(|n| bytes.get(n)).copied().unwrap_or(0);
        *target = ((u16::from(byte(n)) << 8 | u16::from(byte(n + 1))) << bits >> 8) as u8;
    }
    out
}

fn shift_right(bytes: &[u8], count: u64) -> Vec<u8> {
    let mut out = vec![0; bytes.len()];
    let (skip, bits) = (usize::try_from(count / 8).unwrap_or(usize::MAX), count % 8);
    for (n, target) in out.iter_mut().enumerate() {
        let byte = |back: usize| n.checked_sub(back).map_or(0, |n| bytes[n]);
        let high = skip.checked_add(1).map_or(0, byte);
        *target = ((u16::from(high) << 8 | u16::from(byte(skip))) >> bits) as u8;
    }
    out
}

/// `~x` of a binary string.
pub fn invert_bits<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(bytes) = env.text(arg)? else { return Ok(Value::Null) };
    Ok(Value::Bytes(bytes.iter().map(|b| !b).collect::<Vec<u8>>().into()))
}

fn out_of_range(env: &Env<'_>, node: &Expr, what: &'static str) -> Pause {
    Pause::error(Error::OutOfRange { what, expression: env.print(node) })
}

/// NULL, with the warning or error that the mode asks for.
#[cold]
fn division_by_zero<'a>(env: &Env<'a>) -> Evaluated<'a> {
    if env.session().sql_mode.error_for_division_by_zero {
        env.problem(Error::DivisionByZero)?;
    }
    Ok(Value::Null)
}

fn integer_result<'a>(env: &Env<'a>, node: &'a Expr, n: i128) -> Evaluated<'a> {
    if node.ty.unsigned {
        return u64::try_from(n).map(Value::UInt).map_err(|_| out_of_range(env, node, "BIGINT UNSIGNED"));
    }
    i64::try_from(n).map(Value::Int).map_err(|_| out_of_range(env, node, "BIGINT"))
}

fn integers<'a>(env: &Env<'a>, node: &'a Expr, op: ArithmeticOp, a: &Value<'a>, b: &Value<'a>) -> Evaluated<'a> {
    if op == ArithmeticOp::IntDivide && !(coerce::is_integer_value(a) && coerce::is_integer_value(b)) {
        return divide_to_integer(env, node, a, b);
    }
    let (x, y) = (env.as_integer(a)?, env.as_integer(b)?);
    let result = match op {
        ArithmeticOp::Add => x + y,
        ArithmeticOp::Subtract => x - y,
        ArithmeticOp::Multiply => x * y,
        _ if y == 0 => return division_by_zero(env),
        ArithmeticOp::Modulo => x % y,
        _ => x / y,
    };
    integer_result(env, node, result)
}

/// `DIV` of numbers that are not both integers: the quotient of decimals, cut off.
fn divide_to_integer<'a>(env: &Env<'a>, node: &'a Expr, a: &Value<'a>, b: &Value<'a>) -> Evaluated<'a> {
    let (x, y) = (env.as_decimal(a)?, env.as_decimal(b)?);
    let what = if node.ty.unsigned { "BIGINT UNSIGNED" } else { "BIGINT" };
    match x.integer_divide(&y) {
        None => division_by_zero(env),
        Some(Err(_)) => Err(out_of_range(env, node, what)),
        Some(Ok(quotient)) => {
            if node.ty.unsigned {
                return quotient.to_u64().map(Value::UInt).map_err(|_| out_of_range(env, node, what));
            }
            quotient.to_i64().map(Value::Int).map_err(|_| out_of_range(env, node, what))
        }
    }
}

fn decimals<'a>(env: &Env<'a>, node: &'a Expr, op: ArithmeticOp, x: &Decimal, y: &Decimal) -> Evaluated<'a> {
    let result = match op {
        ArithmeticOp::Add => x.add(y),
        ArithmeticOp::Subtract if node.ty.unsigned && x < y => return Err(out_of_range(env, node, "DECIMAL UNSIGNED")),
        ArithmeticOp::Subtract => x.subtract(y),
        ArithmeticOp::Multiply => x.multiply(y).map(|product| product.rescale(product.scale().min(SCALE_MAX)).unwrap_or(product)),
        _ => {
            let quotient = match op {
                ArithmeticOp::Divide => quotient(env, node, x, y),
                ArithmeticOp::Modulo => x.modulo(y),
                _ => x.integer_divide(y),
            };
            match quotient {
                None => return division_by_zero(env),
                Some(quotient) => quotient,
            }
        }
    };
    let result = result.map_err(|_| out_of_range(env, node, "DECIMAL"))?;
    Ok(Value::Decimal(coerce::shown(result, &node.ty)))
}

/// `/`: with the digits behind the point that the node is declared with. They are computed of the dividend's own digits, in groups of nine; where
/// it is declared with more, zeros follow.
fn quotient(env: &Env<'_>, node: &Expr, x: &Decimal, y: &Decimal) -> Option<std::result::Result<Decimal, DecimalOverflow>> {
    let increment = env.session().div_precision_increment;
    let declared = coerce::declared_scale(&node.ty);
    if declared <= x.scale().saturating_add(increment) {
        return x.divide(y, increment);
    }
    Some(x.divide_in_groups(y, increment)?.and_then(|quotient| quotient.rescale(declared)))
}

fn doubles<'a>(env: &Env<'a>, node: &'a Expr, op: ArithmeticOp, x: f64, y: f64) -> Evaluated<'a> {
    let result = match op {
        ArithmeticOp::Add => x + y,
        ArithmeticOp::Subtract => x - y,
        ArithmeticOp::Multiply => x * y,
        _ if y == 0.0 => return division_by_zero(env),
        ArithmeticOp::Divide => x / y,
        ArithmeticOp::Modulo => x % y,
        _ => (x / y).trunc(),
    };
    if result.is_finite() { Ok(Value::Double(result)) } else { Err(out_of_range(env, node, "DOUBLE")) }
}

/// Bit operators compute on 64 bits.
fn bitwise<'a>(env: &Env<'a>, op: ArithmeticOp, left: &'a Expr, right: &'a Expr) -> Evaluated<'a> {
    let (Some(a), Some(b)) = (env.bits(left)?, env.bits(right)?) else { return Ok(Value::Null) };
    Ok(Value::UInt(match op {
        ArithmeticOp::BitAnd => a & b,
        ArithmeticOp::BitOr => a | b,
        ArithmeticOp::BitXor => a ^ b,
        ArithmeticOp::ShiftLeft => u32::try_from(b).ok().and_then(|n| a.checked_shl(n)).unwrap_or(0),
        _ => u32::try_from(b).ok().and_then(|n| a.checked_shr(n)).unwrap_or(0),
    }))
}
