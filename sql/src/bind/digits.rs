//! How many digits an integer expression has where it is part of a decimal: `FLOOR(DATEDIFF(a, b) / 365)` is a BIGINT, since the quotient has few
//! digits, where that of a BIGINT column is a DECIMAL.

use super::typing::{Class, class, decimal_shape};
use crate::expr::{ArithmeticOp, Expr, ExprKind, UnaryOp};
use crate::func::Function as F;
use types::{TypeKind, Value};

/// What has more digits is a BIGINT like any other.
const DIGITS_MAX: u32 = 18;

/// Digits of what is no column and no literal, where they are known to be fewer than those of a BIGINT.
pub(crate) fn known_digits(expr: &Expr) -> Option<u32> {
    let digits = match &expr.kind {
        ExprKind::Arithmetic { op, left, right } => of_arithmetic(*op, left, right)?,
        ExprKind::Unary { op: UnaryOp::Negate, arg } => of_integer(arg)?,
        ExprKind::Case { whens, otherwise } => most(whens.iter().map(|(_, value)| value).chain(otherwise.as_deref()))?,
        ExprKind::Call { function, args } => of_call(*function, args)?,
        _ => return None,
    };
    (digits <= DIGITS_MAX).then_some(digits)
}

/// Does a table or view that is made of a query keep this BIGINT as INT? It does where all values are below nine digits.
pub(crate) fn is_short(expr: &Expr) -> bool {
    const WIDTH_MAX: u32 = 9;
    match &expr.kind {
        _ if expr.ty.kind != TypeKind::BigInt => false,
        ExprKind::Column { .. } | ExprKind::ColumnOrdinal { .. } | ExprKind::Slot(_) | ExprKind::Subquery(_) => false,
        ExprKind::Call { function: F::IfNull | F::PeriodAdd, .. } => false,
        ExprKind::Literal(Value::Int(n)) => n.unsigned_abs().checked_ilog10().unwrap_or(0) + 2 <= WIDTH_MAX,
        _ => {
            let sign = u32::from(!expr.ty.unsigned);
            let width = known_digits(expr).map(|digits| digits + sign).or(expr.ty.display_width.map(u32::from));
            width.is_some_and(|width| width <= WIDTH_MAX)
        }
    }
}

/// Is it a function of INT? A table that is made of a query keeps it as one, however many digits it has.
pub(crate) fn is_int_function(expr: &Expr) -> bool {
    let ExprKind::Call { function, .. } = &expr.kind else { return false };
    match function {
        F::IfNull | F::PeriodAdd => false,
        F::Benchmark | F::RegexpLike => true,
        function => !is_choice(*function) && known_digits(expr).is_some_and(|digits| digits <= 10),
    }
}

/// Functions that give one of their arguments.
fn is_choice(function: F) -> bool {
    matches!(function, F::If | F::Coalesce | F::Greatest | F::Least | F::Abs | F::NullIf)
}

fn of_integer(expr: &Expr) -> Option<u32> {
    matches!(class(&expr.ty), Class::Integer | Class::Null).then(|| decimal_shape(expr).0)
}

fn most<'e>(mut exprs: impl Iterator<Item = &'e Expr>) -> Option<u32> {
    exprs.try_fold(0, |most, expr| Some(most.max(of_integer(expr)?)))
}

fn of_arithmetic(op: ArithmeticOp, left: &Expr, right: &Expr) -> Option<u32> {
    use ArithmeticOp as A;
    let (a, b) = (of_integer(left)?, of_integer(right)?);
    match op {
        A::Add | A::Subtract => Some(a.max(b) + 1),
        A::Multiply => Some(a + b),
        A::IntDivide => Some(a),
        A::Modulo => Some(a.max(b)),
        _ => None,
    }
}

fn of_call(function: F, args: &[Expr]) -> Option<u32> {
    match function {
        F::If => most(args[1..].iter()),
        F::IfNull | F::Coalesce | F::Greatest | F::Least => most(args.iter()),
        F::Abs | F::NullIf => of_integer(&args[0]),
        F::DayOfWeek | F::Weekday | F::Quarter | F::StrCmp => Some(1),
        F::Month | F::Day | F::Week | F::WeekOfYear | F::Minute | F::Second | F::Interval => Some(2),
        F::DayOfYear | F::Hour | F::Ascii => Some(3),
        F::YearWeek => Some(6),
        F::ToDays => Some(7),
        F::DateDiff => Some(8),
        F::TimeToSec => Some(9),
        F::Length | F::CharLength | F::BitLength | F::Locate | F::Instr | F::FindInSet | F::Field => Some(10),
        F::Crc32 | F::UncompressedLength => Some(10),
        F::Extract => of_unit(args),
        _ => None,
    }
}

/// What EXTRACT gives of a unit.
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
