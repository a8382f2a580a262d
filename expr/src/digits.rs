//! How many digits an integer expression contributes to a decimal result. `FLOOR(DATEDIFF(a, b) / 365)` is a BIGINT
//! because the quotient has few digits; FLOOR of a quotient of BIGINT columns is a DECIMAL.

use crate::class::{Class, class};
use crate::func::Function as F;
use crate::tree::{ArithmeticOp, Expr, ExprKind, UnaryOp};
use crate::typing::{self, decimal_shape};
use types::{TypeKind, Value};

/// The digits of the longest decimal of MySQL.
const DIGITS_MAX: u32 = 65;
/// The widest computed BIGINT: its digits and a sign.
const WIDTH_MAX: u32 = 21;

/// The digits of an expression that is neither column nor literal, if they are known.
pub fn known_digits(expr: &Expr) -> Option<u32> {
    let digits = match &expr.kind {
        ExprKind::Arithmetic { op, left, right } => of_arithmetic(*op, left, right)?,
        ExprKind::Unary { op: UnaryOp::Negate, arg } => of_integer(arg)?,
        _ if let Some(width) = chosen_width(expr) => width - width.min(sign(expr)),
        ExprKind::AssignVariable { value, .. } => of_integer(value)?,
        ExprKind::Call { function, args } => of_call(*function, args)?,
        _ => return None,
    };
    Some(digits.min(DIGITS_MAX))
}

/// The characters of an integer: its digits and a sign.
pub fn integer_width(expr: &Expr) -> u32 {
    match (&expr.kind, &expr.ty.kind) {
        _ if let Some(width) = chosen_width(expr) => width,
        // MySQL counts a sign before it knows that there is none.
        (ExprKind::Arithmetic { op: ArithmeticOp::Modulo, .. }, _) => known_digits(expr).map_or(WIDTH_MAX, |digits| digits + 1),
        (ExprKind::Literal(Value::Int(n)), _) if expr.ty.display_width.is_none() => {
            n.unsigned_abs().checked_ilog10().unwrap_or(0) + 2
        }
        (ExprKind::Column { .. }, _) => typing::string_length(&expr.ty) as u32,
        (_, TypeKind::BigInt) => match (known_digits(expr), expr.ty.display_width) {
            (Some(digits), _) => digits + sign(expr),
            (None, Some(width)) => width.into(),
            (None, None) => WIDTH_MAX,
        },
        _ => typing::string_length(&expr.ty) as u32,
    }
}

fn of_integer(expr: &Expr) -> Option<u32> {
    match class(&expr.ty) {
        Class::Integer | Class::Null => Some(decimal_shape(expr).0),
        // Dates and times are numbers here.
        _ if typing::is_temporal(&expr.ty) && expr.ty.fsp() == 0 => Some(decimal_shape(expr).0),
        _ => None,
    }
}

fn sign(expr: &Expr) -> u32 {
    u32::from(!typing::is_unsigned(&expr.ty) && expr.ty.kind != TypeKind::Year)
}

/// The width of IF, CASE and the like over integers: that of the widest.
fn chosen_width(expr: &Expr) -> Option<u32> {
    let widest = |mut exprs: std::slice::Iter<'_, Expr>| exprs.try_fold(0, |most, e| Some(most.max(width_of_choice(e)?)));
    match &expr.kind {
        ExprKind::Case { whens, otherwise } => {
            let of_whens = whens.iter().try_fold(0, |most, (_, e)| Some(most.max(width_of_choice(e)?)))?;
            Some(of_whens.max(otherwise.as_deref().map_or(Some(0), width_of_choice)?))
        }
        ExprKind::Call { function: F::IF, args } => widest(args[1..].iter()),
        ExprKind::Call { function: F::IFNULL | F::COALESCE | F::GREATEST | F::LEAST, args } => widest(args.iter()),
        ExprKind::Call { function: F::NULLIF, args } => width_of_choice(&args[0]),
        _ => None,
    }
}

fn width_of_choice(expr: &Expr) -> Option<u32> {
    match class(&expr.ty) {
        Class::Null => Some(0),
        Class::Integer => Some(integer_width(expr)),
        _ => None,
    }
}

fn of_arithmetic(op: ArithmeticOp, left: &Expr, right: &Expr) -> Option<u32> {
    use ArithmeticOp as A;
    match op {
        A::Add | A::Subtract => Some(of_integer(left)?.max(of_integer(right)?) + 1),
        A::Multiply => Some(of_integer(left)? + of_integer(right)?),
        // A divisor below 1 adds digits.
        A::IntDivide => Some((whole_digits(left) + fraction_digits(right)).min(WIDTH_MAX)),
        A::Modulo => Some(of_integer(left)?.max(of_integer(right)?)),
        _ => None,
    }
}

/// Digits before the point of the dividend.
fn whole_digits(expr: &Expr) -> u32 {
    match class(&expr.ty) {
        Class::Integer | Class::Decimal | Class::Date | Class::Time | Class::DateTime => {
            let (precision, scale) = decimal_shape(expr);
            precision.saturating_sub(scale)
        }
        Class::Null => 0,
        Class::Double | Class::String | Class::Json => characters(expr),
    }
}

/// Digits after the point of the divisor.
fn fraction_digits(expr: &Expr) -> u32 {
    match class(&expr.ty) {
        Class::Integer | Class::Null => 0,
        Class::Decimal | Class::Date | Class::Time | Class::DateTime => decimal_shape(expr).1,
        Class::Double => expr.ty.float_decimals.map_or_else(|| characters(expr), u32::from),
        Class::String | Class::Json => characters(expr),
    }
}

fn characters(expr: &Expr) -> u32 {
    u32::try_from(typing::text_length(expr)).unwrap_or(u32::MAX).min(DIGITS_MAX)
}

fn of_call(function: F, args: &[Expr]) -> Option<u32> {
    match function {
        F::ABS => of_integer(&args[0]),
        F::EXTRACT => of_unit(args),
        _ => function.row().digits,
    }
}

/// The digits of EXTRACT by unit.
fn of_unit(args: &[Expr]) -> Option<u32> {
    let ExprKind::Literal(Value::Bytes(unit)) = &args.first()?.kind else { return None };
    match std::str::from_utf8(unit).ok()? {
        "QUARTER" => Some(1),
        "MONTH" | "WEEK" | "DAY" | "MINUTE" | "SECOND" => Some(2),
        "HOUR" => Some(3),
        "YEAR" | "MINUTE_SECOND" => Some(4),
        "HOUR_MINUTE" => Some(5),
        "YEAR_MONTH" | "MICROSECOND" => Some(6),
        "HOUR_SECOND" => Some(7),
        "DAY_HOUR" | "SECOND_MICROSECOND" => Some(8),
        "DAY_MINUTE" | "MINUTE_MICROSECOND" => Some(10),
        "DAY_SECOND" => Some(12),
        "HOUR_MICROSECOND" => Some(13),
        _ => None,
    }
}
