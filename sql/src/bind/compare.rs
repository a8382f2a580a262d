//! How two expressions are compared, and the collation in which strings of several sources are compared.

use crate::error::{Error, IllegalMix, Result};
use expr::{Class, CompareAs, Expr, ExprKind, class, typing};
use types::charset::Charset;
use types::convert::{Problem, StoreContext, Warnings};
use types::{CollationId, ColumnType, TypeKind, Value};

/// The coercibility of a collation in MySQL: the lower value wins (manual 12.8.4 "Collation Coercibility in
/// Expressions").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Coercibility {
    Explicit,
    Implicit,
    SystemConstant,
    Coercible,
    Numeric,
    Ignorable,
    /// Columns with different collations, none of which wins.
    None,
}

/// A collation and its coercibility.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Derivation {
    pub collation: CollationId,
    pub level: Coercibility,
}

impl Derivation {
    pub const NUMERIC: Self = Self { collation: CollationId::BINARY, level: Coercibility::Numeric };
    pub const IGNORABLE: Self = Self { collation: CollationId::BINARY, level: Coercibility::Ignorable };

    /// The derivation of a value that is not a string: a BIT is bytes, NULL has no collation.
    pub fn of_no_text(ty: &ColumnType) -> Self {
        match ty.kind {
            TypeKind::Bit { .. } => Self { collation: CollationId::BINARY, level: Coercibility::Implicit },
            TypeKind::Null => Self::IGNORABLE,
            _ => Self::NUMERIC,
        }
    }

    fn name(self) -> String {
        let level = match self.level {
            Coercibility::Explicit => "EXPLICIT",
            Coercibility::Implicit => "IMPLICIT",
            Coercibility::SystemConstant => "SYSCONST",
            Coercibility::Coercible => "COERCIBLE",
            Coercibility::Numeric => "NUMERIC",
            Coercibility::Ignorable => "NULL",
            Coercibility::None => "NONE",
        };
        // Numbers have MySQL's `character_set` for non-strings, latin1.
        let collation = if self.level == Coercibility::Numeric { CollationId::LATIN1_SWEDISH_CI } else { self.collation };
        format!("({},{level})", collation.name())
    }

    /// Merges two derivations. `None`: both are explicit and differ, or both are different binary (`_bin`) collations.
    fn merge(self, other: Self) -> Option<Self> {
        if self.level != other.level {
            return Some(if self.level < other.level { self } else { other });
        }
        if self.collation == other.collation || self.level >= Coercibility::Numeric {
            return Some(self);
        }
        if self.collation == CollationId::BINARY || other.collation == CollationId::BINARY {
            return Some(Self { collation: CollationId::BINARY, level: self.level });
        }
        let (a, b) = (Charset::of(self.collation), Charset::of(other.collation));
        if a != b {
            // The character set that is a superset of the other wins.
            let rank = |charset: Charset| match charset {
                Charset::Ascii => 0,
                Charset::Utf8mb3 | Charset::Ucs2 | Charset::Utf16 | Charset::Utf16le => 2,
                Charset::Utf8mb4 | Charset::Utf32 | Charset::Binary => 3,
                _ => 1,
            };
            let is_neither = rank(a) == rank(b) && rank(a) < 3 && self.level <= Coercibility::Implicit;
            return (!is_neither).then_some(if rank(a) >= rank(b) { self } else { other });
        }
        if self.level == Coercibility::Explicit {
            return None;
        }
        let is_bin = |d: Self| d.collation.name().ends_with("_bin");
        match (is_bin(self), is_bin(other)) {
            (true, true) => return None,
            (true, false) => return Some(self),
            (false, true) => return Some(other),
            (false, false) => {}
        }
        let collation = CollationId::by_name(&format!("{}_bin", self.collation.charset())).unwrap_or(self.collation);
        Some(Self { collation, level: Coercibility::None })
    }

    /// The derivation of two operands of a comparison; an error if neither wins.
    pub fn combine(self, other: Self, operation: &str) -> Result<Self> {
        compared(&[self, other], operation)
    }
}

/// The derivation of a string built from several operands. If columns with different collations take part, the string
/// has the `_bin` collation and yields to other operands.
pub(crate) fn joined(operands: &[Derivation], operation: &str) -> Result<Derivation> {
    let mut rest = operands.iter();
    let Some(first) = rest.next() else { return Ok(Derivation::IGNORABLE) };
    let mut is_made = false;
    let merge = |together: Derivation, operand: &Derivation| {
        // That `_bin` collation stays beside constants, and beside an operand with the same collation.
        if is_made && (operand.level > Coercibility::Implicit || operand.collation == together.collation) {
            return Some(together);
        }
        let merged = together.merge(*operand)?;
        is_made = merged.level == Coercibility::None && together.level != merged.level && operand.level != merged.level;
        Some(merged)
    };
    rest.try_fold(*first, merge).ok_or_else(|| illegal_mix(operands, operation))
}

/// The derivation of all operands of a comparison; an error if none wins.
pub(crate) fn compared(operands: &[Derivation], operation: &str) -> Result<Derivation> {
    let merge = |together: Derivation, operand: &Derivation| {
        let merged = together.merge(*operand)?;
        let is_lost = merged.level == Coercibility::None && together.level != merged.level;
        (!is_lost).then_some(merged)
    };
    let mut rest = operands.iter();
    let Some(first) = rest.next() else { return Ok(Derivation::IGNORABLE) };
    let together = rest.try_fold(*first, merge).filter(|together| together.level != Coercibility::None);
    together.ok_or_else(|| illegal_mix(operands, operation))
}

/// The derivation of a column of a set operation. MySQL's error names none of the operands.
pub(crate) fn compared_columns(operands: &[Derivation]) -> Result<Derivation> {
    let together = Some(joined(operands, "UNION")?).filter(|together| together.level != Coercibility::None);
    together.ok_or_else(|| illegal_mix(&[], "UNION"))
}

#[cold]
fn illegal_mix(operands: &[Derivation], operation: &str) -> Error {
    let operands = operands.iter().map(|operand| operand.name()).collect();
    Error::IllegalMix(Box::new(IllegalMix { operands, operation: operation.to_owned() }))
}

/// How values of two types are compared; strings by this collation.
pub(crate) fn compare_as(left: &Expr, right: &Expr, collation: CollationId) -> CompareAs {
    use Class as C;
    let (a, b) = (class(&left.ty), class(&right.ty));
    match (a, b) {
        (C::Null, C::Null) => CompareAs::Integer,
        (C::Null, other) | (other, C::Null) => same_class(other, collation),
        (C::Json, _) | (_, C::Json) => CompareAs::Json,
        _ if a == b => same_class(a, collation),
        (C::Date | C::DateTime, C::Date | C::DateTime | C::String | C::Time) => CompareAs::Temporal,
        (C::String | C::Time, C::Date | C::DateTime) => CompareAs::Temporal,
        (C::Time, C::String) => time_with_text(left, right, collation),
        (C::String, C::Time) => time_with_text(right, left, collation),
        // A constant number compared with a temporal value is one: 20240131.
        (C::Date | C::DateTime, _) if is_date_constant(right) => CompareAs::Temporal,
        (_, C::Date | C::DateTime) if is_date_constant(left) => CompareAs::Temporal,
        (C::Time, _) if is_time_constant(right) => CompareAs::Time,
        (_, C::Time) if is_time_constant(left) => CompareAs::Time,
        (C::Double | C::String, _) | (_, C::Double | C::String) => CompareAs::Double,
        (C::Decimal, _) | (_, C::Decimal) => CompareAs::Decimal,
        _ => {
            let fraction = typing::fsp(&left.ty) > 0 || typing::fsp(&right.ty) > 0;
            if fraction { CompareAs::Decimal } else { CompareAs::Integer }
        }
    }
}

/// Is it a parameter, or a literal number that is a date?
pub(crate) fn is_date_constant(expr: &Expr) -> bool {
    let number = match &expr.kind {
        ExprKind::Param(_) => return true,
        ExprKind::Literal(Value::Int(n)) => n.to_string(),
        ExprKind::Literal(Value::UInt(n)) => n.to_string(),
        ExprKind::Literal(_) => {
            return is_constant(expr) && !matches!(&expr.kind, ExprKind::Literal(Value::Decimal(_) | Value::Double(_)));
        }
        _ => return false,
    };
    // Zero is the zero date.
    number == "0" || super::literal::datetime_constant(number.as_bytes()).is_some()
}

/// The number after 838:59:59, the largest TIME.
const NUMBER_OF_TIME_END: f64 = 8_385_960.0;

/// Is it a parameter, or a literal number that is a time with digits of hours, minutes and seconds?
fn is_time_constant(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Literal(Value::Int(n)) => super::literal::time_constant(n.to_string().as_bytes()).is_some(),
        ExprKind::Literal(Value::UInt(n)) => super::literal::time_constant(n.to_string().as_bytes()).is_some(),
        ExprKind::Literal(Value::Decimal(d)) => super::literal::time_constant(d.to_string().as_bytes()).is_some(),
        // Beyond the range of TIME it stays a number.
        ExprKind::Literal(Value::Double(x)) => x.abs() < NUMBER_OF_TIME_END,
        _ => is_constant(expr),
    }
}

/// A TIME column is compared with a constant string as times. Everything else is compared as strings, where `10:00`
/// differs from `10:00:00`. So is a string that is not a time; constants that are times were converted before.
fn time_with_text(time: &Expr, text: &Expr, collation: CollationId) -> CompareAs {
    let is_column = matches!(time.kind, ExprKind::Column { .. });
    let is_text = matches!(text.kind, ExprKind::Literal(_)) || reads_rows(text);
    if is_column && !is_text { CompareAs::Time } else { CompareAs::String(collation) }
}

pub(super) fn reads_rows(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Column { .. } | ExprKind::ColumnOrdinal { .. } | ExprKind::Slot(_))
        || expr.parts().into_iter().any(reads_rows)
}

fn same_class(class: Class, collation: CollationId) -> CompareAs {
    match class {
        Class::Null | Class::Integer => CompareAs::Integer,
        Class::Decimal => CompareAs::Decimal,
        Class::Double => CompareAs::Double,
        Class::String => CompareAs::String(collation),
        Class::Date | Class::DateTime => CompareAs::Temporal,
        Class::Time => CompareAs::Time,
        Class::Json => CompareAs::Json,
    }
}

pub(crate) fn is_constant(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_))
}

/// Converts constants in a comparison, so that it is exact and an index can serve it. Beside an integer, YEAR or BIT, a
/// string constant that is exactly an integer becomes an integer. Dates and times are converted likewise. Beside a
/// number, a hexadecimal literal becomes a number.
pub(crate) fn convert_constants(left: &mut Expr, right: &mut Expr) {
    convert_constant(left, right);
    convert_constant(right, left);
}

pub(crate) fn convert_constant(constant: &mut Expr, other: &Expr) {
    let ExprKind::Literal(Value::Bytes(bytes)) = &constant.kind else { return };
    let other_class = class(&other.ty);
    if expr::typing::is_bits_literal(constant) {
        if matches!(other_class, Class::Integer | Class::Decimal | Class::Double) {
            *constant = super::operand::numeric_operand(constant.clone());
        }
        return;
    }
    if is_constant(other) {
        return;
    }
    let temporal = match other_class {
        Class::Date | Class::DateTime => super::literal::datetime_constant(bytes),
        Class::Time if matches!(other.kind, ExprKind::Column { .. }) => super::literal::time_constant(bytes),
        _ => None,
    };
    if let Some(literal) = temporal {
        *constant = literal;
        return;
    }
    if other_class != Class::Integer {
        return;
    }
    if let Some(value) = exact_integer(bytes) {
        let ty = ColumnType { unsigned: matches!(value, Value::UInt(_)), ..ColumnType::new(TypeKind::BigInt) };
        *constant = Expr::literal(value, ty);
    }
}

/// The smallest number that is a date with a time. Numbers between the last date, 99991231, and this one are neither.
const MOMENT_MIN: i64 = 101_000_000;

/// Converts a constant as storing it in the column would: a number becomes a year beside a YEAR column; a number with a
/// fraction is rounded beside a DATE or TIME column, a string beside a TIME column. A constant that the column would
/// refuse stays.
pub(crate) fn keep_as_column(constant: &mut Expr, other: &Expr) {
    let ExprKind::Literal(value) = &constant.kind else { return };
    if !matches!(other.kind, ExprKind::Column { .. }) || expr::typing::is_bits_literal(constant) {
        return;
    }
    let has_fraction = matches!(value, Value::Decimal(_) | Value::Double(_));
    let ty = match other.ty.kind {
        TypeKind::Year if has_fraction || matches!(value, Value::Bytes(_)) => other.ty.clone(),
        // The session's time zone applies, not UTC, in which the column is stored.
        TypeKind::Timestamp { fsp } if has_fraction => ColumnType::new(TypeKind::DateTime { fsp }),
        TypeKind::Date | TypeKind::DateTime { .. } if has_fraction => other.ty.clone(),
        // A date with a time.
        TypeKind::Date if matches!(value, Value::Int(n) if *n >= MOMENT_MIN) => other.ty.clone(),
        TypeKind::Time { .. } if has_fraction || matches!(value, Value::Bytes(text) if !text.trim_ascii().is_empty()) => {
            other.ty.clone()
        }
        _ => return,
    };
    let mut warnings = Warnings::new();
    let Ok(kept) = types::convert::store(value, &constant.ty, &ty, &StoreContext::lax(), &mut warnings) else { return };
    let is_time = matches!(ty.kind, TypeKind::Time { .. });
    let is_kept = |problem: &Problem| !is_time && matches!(problem, Problem::Truncated | Problem::TruncatedIncorrect { .. });
    if warnings.iter().any(|(_, problem)| !is_kept(problem)) {
        return;
    }
    *constant = match kept {
        Value::Int(year) => super::literal::integer(year.unsigned_abs()),
        kept => Expr::literal(kept.into_owned(), ty),
    };
}

/// Beside a YEAR column, a number of one or two digits is a year from 1970 to 2069 (0 stays 0), and a date is its year.
pub(crate) fn convert_year(constant: &mut Expr, other: &Expr) {
    if other.ty.kind != TypeKind::Year || !matches!(other.kind, ExprKind::Column { .. }) {
        return;
    }
    if is_computed_moment(constant) {
        let kind = ExprKind::Call { function: expr::Function::YEAR, args: vec![constant.clone()] };
        *constant = Expr { kind, ty: typing::bigint(false), nullable: true };
        return;
    }
    match &mut constant.kind {
        ExprKind::Literal(Value::Int(n @ 1..=69)) => *n += 2000,
        ExprKind::Literal(Value::Int(n @ 70..=99)) => *n += 1900,
        ExprKind::Literal(Value::Date(date)) => *constant = super::literal::integer(date.year.into()),
        ExprKind::Literal(Value::DateTime(moment)) => *constant = super::literal::integer(moment.date.year.into()),
        ExprKind::Param(_) if class(&constant.ty) == Class::Integer => *constant = full_year(constant.clone()),
        _ => {}
    }
}

/// A YEAR compared with a date is the beginning of its year, before all of its days: YYYY-00-00.
pub(crate) fn year_as_date(left: &mut Expr, right: &mut Expr) {
    let is_date = |expr: &Expr| matches!(class(&expr.ty), Class::Date | Class::DateTime);
    let (year, date) = match (&left.ty.kind, &right.ty.kind) {
        (TypeKind::Year, _) if is_date(right) => (left, right),
        (_, TypeKind::Year) if is_date(left) => (right, left),
        _ => return,
    };
    let digits = if class(&date.ty) == Class::Date { 10_000 } else { 10_000_000_000 };
    let nullable = year.nullable;
    let number = std::mem::replace(year, super::literal::integer(digits));
    let days = Box::new(super::literal::integer(digits));
    let kind = ExprKind::Arithmetic { op: expr::ArithmeticOp::Multiply, left: Box::new(number), right: days };
    *year = Expr { kind, ty: typing::bigint(false), nullable };
}

/// Beside a TIME column, a date with a time is reduced to its time.
pub(crate) fn convert_moment(constant: &mut Expr, other: &Expr) {
    if class(&other.ty) != Class::Time || !matches!(other.kind, ExprKind::Column { .. }) {
        return;
    }
    let time = match &constant.kind {
        ExprKind::Literal(Value::Date(_)) => types::Time::default(),
        ExprKind::Literal(Value::DateTime(moment)) => moment.time(),
        _ if is_computed_moment(constant) => {
            let ty = ColumnType::new(TypeKind::Time { fsp: typing::fsp(&constant.ty) });
            *constant = super::operand::cast_to(constant.clone(), ty);
            return;
        }
        _ => return,
    };
    *constant = Expr::literal(Value::Time(time), ColumnType::new(TypeKind::Time { fsp: typing::fsp(&constant.ty) }));
}

/// Is it a date, with or without a time, that an expression computes without reading rows?
fn is_computed_moment(expr: &Expr) -> bool {
    let is_plain = !matches!(expr.kind, ExprKind::Literal(_) | ExprKind::Param(_) | ExprKind::UserVariable(_));
    is_plain && matches!(class(&expr.ty), Class::Date | Class::DateTime) && !reads_rows(expr) && !has_subquery(expr)
}

fn has_subquery(expr: &Expr) -> bool {
    expr.any(&|e| matches!(e.kind, ExprKind::Subquery(_) | ExprKind::AssignVariable { .. }))
}

/// The year of a parameter, with four digits.
fn full_year(year: Expr) -> Expr {
    use expr::ArithmeticOp;
    let number = super::literal::integer;
    let boxed = |expr: &Expr| Box::new(expr.clone());
    let when = |first, last, century| {
        let (low, high) = (Box::new(number(first)), Box::new(number(last)));
        let kind = ExprKind::Between { arg: boxed(&year), low, high, by: CompareAs::Integer, negated: false };
        let sum = ExprKind::Arithmetic { op: ArithmeticOp::Add, left: boxed(&year), right: Box::new(number(century)) };
        let ty = typing::bigint(false);
        (Expr { kind, ty: ty.clone(), nullable: year.nullable }, Expr { kind: sum, ty, nullable: year.nullable })
    };
    let (ty, nullable) = (typing::bigint(false), year.nullable);
    let whens = vec![when(1, 69, 2000), when(70, 99, 1900)];
    Expr { kind: ExprKind::Case { whens, otherwise: Some(Box::new(year)) }, ty, nullable }
}

/// The integer in `' 12 '` or `-3`; `None` if there is any other character.
fn exact_integer(bytes: &[u8]) -> Option<Value<'static>> {
    let text = std::str::from_utf8(bytes).ok()?.trim_ascii();
    if let Ok(value) = text.parse::<i64>() {
        return Some(Value::Int(value));
    }
    text.parse::<u64>().ok().map(Value::UInt)
}
