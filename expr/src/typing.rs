//! Static types of expressions, as MySQL infers them.

use crate::class::{Class, class};
use crate::tree::{ArithmeticOp, Expr, ExprKind};
use types::{CollationId, ColumnType, LobSize, TypeKind, Value};

const PRECISION_MAX: u8 = 65;
const SCALE_MAX: u8 = 30;
/// The type of a user variable that was never set. No assigned value has this type.
pub const UNSET: TypeKind = TypeKind::Text(LobSize::Medium);
/// The longest VARCHAR of an expression, in bytes; a longer string is a TEXT.
const VARCHAR_BYTES_MAX: u64 = 65_535;

/// Are the type's integers unsigned? BIT is, without the flag.
pub fn is_unsigned(ty: &ColumnType) -> bool {
    ty.unsigned || matches!(ty.kind, TypeKind::Bit { .. })
}

pub fn is_temporal(ty: &ColumnType) -> bool {
    matches!(class(ty), Class::Date | Class::Time | Class::DateTime)
}

pub fn bigint(unsigned: bool) -> ColumnType {
    ColumnType { unsigned, ..ColumnType::new(TypeKind::BigInt) }
}

/// The type of comparisons and logic: BIGINT(1).
pub fn boolean() -> ColumnType {
    ColumnType { display_width: Some(1), ..ColumnType::new(TypeKind::BigInt) }
}

pub fn double() -> ColumnType {
    ColumnType::new(TypeKind::Double)
}

/// A DOUBLE with a fixed scale, as from `DOUBLE(m,d)` and PI(). `shape`: the digits before and after the point; `None`:
/// no fixed scale.
fn fixed_double(shape: Option<(u32, u32)>) -> ColumnType {
    let Some((whole, decimals)) = shape.filter(|(_, decimals)| *decimals <= SCALE_MAX.into()) else { return double() };
    let width = (whole + decimals).min(u8::MAX.into()) as u8;
    ColumnType { float_decimals: Some(decimals as u8), display_width: Some(width), ..double() }
}

/// The characters before and after the point of an operand of a DOUBLE, from its type; `None`: no fixed scale.
fn fixed_shape(expr: &Expr) -> Option<(u32, u32)> {
    let decimals = match class(&expr.ty) {
        Class::Double => expr.ty.float_decimals?.into(),
        Class::String | Class::Json => return None,
        _ if is_member_number(expr) => return None,
        _ => decimal_shape(expr).1,
    };
    let length = match (&expr.ty.kind, expr.ty.display_width) {
        (TypeKind::Float | TypeKind::Double, Some(width)) => width.into(),
        _ => string_length(&expr.ty) as u32,
    };
    Some((length.saturating_sub(decimals), decimals))
}

/// The DOUBLE of a time or date with a fraction, which shows the digits of the fraction.
fn temporal_double(arg: &Expr) -> ColumnType {
    fixed_double(fixed_shape(arg))
}

/// The shape of a DOUBLE made of several values: the largest number of digits on each side of the point.
fn common_shape<'e>(exprs: impl IntoIterator<Item = &'e Expr>) -> Option<(u32, u32)> {
    let mut shape = (0, 0);
    for expr in exprs {
        let (whole, decimals) = fixed_shape(expr)?;
        shape = (whole.max(shape.0), decimals.max(shape.1));
    }
    Some(shape)
}

/// PI(): six digits are shown.
pub fn pi() -> ColumnType {
    fixed_double(Some((2, 6)))
}

pub fn decimal(precision: u32, scale: u32) -> ColumnType {
    let scale = scale.min(SCALE_MAX.into()) as u8;
    let precision = (precision.min(PRECISION_MAX.into()) as u8).max(scale).max(1);
    ColumnType::new(TypeKind::Decimal { precision, scale })
}

/// A string of this many characters: a VARCHAR, or a TEXT if that is too long; binary for the binary collation.
pub fn string(length: u64, collation: CollationId) -> ColumnType {
    let binary = collation == CollationId::BINARY;
    let bytes = length.saturating_mul(bytes_per_char(collation));
    let kind = match (bytes <= VARCHAR_BYTES_MAX, binary) {
        (true, true) => TypeKind::VarBinary { length: length as u32 },
        (true, false) => TypeKind::VarChar { length: length as u32 },
        (false, true) => TypeKind::Blob(lob_size(bytes)),
        (false, false) => TypeKind::Text(lob_size(bytes)),
    };
    ColumnType { collation, ..ColumnType::new(kind) }
}

/// Limits a length in characters to the bytes of MySQL's longest computed string.
pub fn capped(length: u64, collation: CollationId) -> u64 {
    const BYTES_MAX: u64 = 16_777_216;
    length.min(BYTES_MAX / bytes_per_char(collation))
}

fn lob_size(bytes: u64) -> LobSize {
    if bytes <= 16_777_215 { LobSize::Medium } else { LobSize::Long }
}

pub fn bytes_per_char(collation: CollationId) -> u64 {
    collation.info().map_or(4, |info| u64::from(info.char_bytes_max))
}

/// The maximum length in characters of the type's values as strings.
pub fn string_length(ty: &ColumnType) -> u64 {
    let fraction = |fsp: u8| if fsp == 0 { 0 } else { u64::from(fsp) + 1 };
    match &ty.kind {
        TypeKind::Null => 0,
        // Digits, and a sign if the type is signed.
        TypeKind::TinyInt => 3 + u64::from(!ty.unsigned),
        TypeKind::SmallInt => 5 + u64::from(!ty.unsigned),
        TypeKind::MediumInt => 8 + u64::from(!ty.unsigned),
        TypeKind::Int => 10 + u64::from(!ty.unsigned),
        TypeKind::BigInt => ty.display_width.map_or(20, u64::from),
        // A sign, a point, and a zero before the point if all digits are after it.
        TypeKind::Decimal { precision, scale } => {
            u64::from(*precision) + u64::from(!ty.unsigned) + u64::from(*scale > 0) + u64::from(precision == scale)
        }
        TypeKind::Float | TypeKind::Double if ty.float_decimals.is_some() => ty.display_width.map_or(22, u64::from),
        TypeKind::Float => 12,
        TypeKind::Double => 22,
        TypeKind::Char { length }
        | TypeKind::VarChar { length }
        | TypeKind::Binary { length }
        | TypeKind::VarBinary { length } => u64::from(*length),
        // For all sizes but LONGTEXT, the limit that MySQL gives in bytes is used as a number of characters.
        TypeKind::Text(LobSize::Long) => lob_bytes(LobSize::Long) / bytes_per_char(ty.collation),
        TypeKind::Text(size) => lob_bytes(*size),
        TypeKind::Blob(size) => lob_bytes(*size),
        TypeKind::Date => 10,
        TypeKind::Time { fsp } => 10 + fraction(*fsp),
        TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => 19 + fraction(*fsp),
        TypeKind::Year => 4,
        TypeKind::Enum { members } => members.iter().map(|m| m.chars().count() as u64).max().unwrap_or(0),
        TypeKind::Set { members } => members.iter().map(|m| m.chars().count() as u64 + 1).sum::<u64>().saturating_sub(1),
        TypeKind::Bit { length } => u64::from(*length),
        TypeKind::Json => lob_bytes(LobSize::Long) / 4,
        TypeKind::Geometry { .. } => lob_bytes(LobSize::Long),
        TypeKind::Vector { .. } => ty.display_length().into(),
    }
}

/// The maximum length in characters of an expression's value as a string. A TIME moved by an interval shows all six
/// fraction digits.
pub fn text_length(expr: &Expr) -> u64 {
    use crate::func::Function as F;
    let is_moved = matches!(
        expr.kind,
        ExprKind::Call { function: F::DATE_ADD | F::DATE_SUB | F::TIMESTAMPADD | F::ADDTIME | F::SUBTIME, .. }
    );
    match (&expr.ty.kind, &expr.kind) {
        (TypeKind::Time { .. }, _) if is_moved => string_length(&ColumnType::new(TypeKind::Time { fsp: 6 })),
        // A computed integer: its digits and a sign.
        (TypeKind::BigInt, kind) if !matches!(kind, ExprKind::Column { .. }) => crate::digits::integer_width(expr).into(),
        // The types of these calls have the sizes of columns.
        (TypeKind::Text(_) | TypeKind::Blob(_), ExprKind::Call { function, args }) => {
            let length = crate::function::rules::length_of_call(*function, args, expr.ty.collation);
            length.or_else(|| crate::function::rules::own_length(*function, args)).unwrap_or_else(|| string_length(&expr.ty))
        }
        (TypeKind::Text(_) | TypeKind::Blob(_), ExprKind::Cast(arg)) => text_length(arg).min(string_length(&expr.ty)),
        _ => string_length(&expr.ty),
    }
}

fn lob_bytes(size: LobSize) -> u64 {
    match size {
        LobSize::Tiny => 255,
        LobSize::Regular => 65_535,
        LobSize::Medium => 16_777_215,
        LobSize::Long => 4_294_967_295,
    }
}

/// The fraction digits of a temporal type.
pub fn fsp(ty: &ColumnType) -> u8 {
    match ty.kind {
        TypeKind::Time { fsp } | TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => fsp,
        // A string may have any fraction.
        TypeKind::Date | TypeKind::Year => 0,
        _ if matches!(class(ty), Class::String | Class::Json) => 6,
        TypeKind::Decimal { scale, .. } => scale.min(6),
        TypeKind::Double | TypeKind::Float => ty.float_decimals.unwrap_or(6).min(6),
        _ => 0,
    }
}

/// The fraction digits of an expression read as a time; a string constant has its written digits.
pub fn fsp_of(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Literal(Value::Bytes(text)) => {
            let Some(point) = text.iter().position(|&b| b == b'.') else { return 0 };
            text[point + 1..].iter().take_while(|b| b.is_ascii_digit()).count().min(6) as u8
        }
        _ => fsp(&expr.ty),
    }
}

/// The fraction digits of an expression read as a datetime; a string that is none counts as six digits.
pub fn datetime_fsp_of(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Literal(Value::Bytes(_)) if is_bits_literal(expr) => 0,
        ExprKind::Literal(Value::Bytes(text)) if types::temporal::parse_datetime(text).is_none() => 6,
        ExprKind::Literal(Value::Bytes(text)) => datetime_digits(text),
        _ => fsp_of(expr),
    }
}

/// The fraction digits of an expression read as a time.
pub fn time_fsp_of(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Literal(Value::Bytes(_)) if is_bits_literal(expr) => 0,
        ExprKind::Literal(Value::Bytes(text)) if !is_like_time(text) => 6,
        _ => fsp_of(expr),
    }
}

/// The fraction digits of a datetime's string: those of its seventh number, or of the second number if the first holds
/// date and time.
fn datetime_digits(text: &[u8]) -> u8 {
    let mut numbers = text.split(|b| !b.is_ascii_digit()).filter(|digits| !digits.is_empty()).map(<[u8]>::len);
    let first = numbers.next().unwrap_or(0);
    let fraction = if first >= 8 { numbers.next() } else { numbers.nth(5) };
    fraction.unwrap_or(0).min(6) as u8
}

/// Does the string begin like a time, with no number that is too large for its part?
fn is_like_time(text: &[u8]) -> bool {
    let head = text.trim_ascii_start();
    let head = head.strip_prefix(b"-").unwrap_or(head);
    if !head.first().is_some_and(|b| b.is_ascii_digit() || matches!(b, b':' | b'.'))
        || types::temporal::parse_time(text).is_none()
    {
        return false;
    }
    let mut numbers = text.split(|b| !b.is_ascii_digit()).filter(|digits| !digits.is_empty()).peekable();
    let fits = |digits: &[u8]| std::str::from_utf8(digits).is_ok_and(|digits| digits.parse::<u32>().is_ok());
    numbers.peek().is_some() && numbers.all(fits)
}

/// The class of an operand of arithmetic. ENUM and SET are numbers there, but count as strings here.
fn operand_class(expr: &Expr) -> Class {
    if is_member_number(expr) { Class::Double } else { numeric_class(&expr.ty) }
}

/// The class of a value in arithmetic: temporal values are numbers such as 20240131101500.
fn numeric_class(ty: &ColumnType) -> Class {
    match class(ty) {
        Class::Integer => Class::Integer,
        Class::Decimal => Class::Decimal,
        // A bare NULL counts as a string.
        Class::Null | Class::Double | Class::String | Class::Json => Class::Double,
        Class::Date | Class::Time | Class::DateTime => {
            if fsp(ty) == 0 {
                Class::Integer
            } else {
                Class::Decimal
            }
        }
    }
}

/// Precision and scale of a value read as a decimal.
pub fn decimal_shape(expr: &Expr) -> (u32, u32) {
    match (&expr.kind, &expr.ty.kind) {
        (_, TypeKind::Decimal { precision, scale }) => (u32::from(*precision), u32::from(*scale)),
        (ExprKind::Literal(Value::Int(n)), _) => (n.unsigned_abs().checked_ilog10().unwrap_or(0) + 1, 0),
        (ExprKind::Literal(Value::UInt(n)), _) => (n.checked_ilog10().unwrap_or(0) + 1, 0),
        (_, TypeKind::Null) => (1, 0),
        (_, TypeKind::TinyInt) => (3, 0),
        (_, TypeKind::SmallInt) => (5, 0),
        (_, TypeKind::MediumInt) => (8, 0),
        (_, TypeKind::Int) => (10, 0),
        (_, TypeKind::BigInt) if expr.ty.display_width == Some(1) => (1, 0),
        (_, TypeKind::BigInt) if let Some(digits) = crate::digits::known_digits(expr) => (digits, 0),
        (_, TypeKind::BigInt) if let Some(width @ 2..20) = expr.ty.display_width => (u32::from(width) - 1, 0),
        (ExprKind::Column { .. } | ExprKind::Slot(_), TypeKind::BigInt) => (if expr.ty.unsigned { 20 } else { 19 }, 0),
        (_, TypeKind::BigInt) => (if expr.ty.unsigned { 21 } else { 20 }, 0),
        (_, TypeKind::Year) => (4, 0),
        (_, TypeKind::Bit { length }) => ((*length).into(), 0),
        (_, TypeKind::Date) => (8, 0),
        (_, TypeKind::Time { fsp }) => (7 + u32::from(*fsp), u32::from(*fsp)),
        (_, TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp }) => (14 + u32::from(*fsp), u32::from(*fsp)),
        _ => (PRECISION_MAX.into(), SCALE_MAX.into()),
    }
}

/// The type of a stored value: the bytes of a hexadecimal literal are no longer a number (`is_bits_literal`).
pub fn stored(ty: &ColumnType) -> ColumnType {
    ColumnType { unsigned: ty.unsigned && !ty.is_binary_string() && ty.kind != TypeKind::Year, ..ty.clone() }
}

/// The type of a column that stores the values of an expression.
pub fn kept_type(ty: &ColumnType) -> ColumnType {
    if ty.kind == TypeKind::Null {
        return ColumnType { collation: CollationId::BINARY, ..ColumnType::new(TypeKind::VarBinary { length: 0 }) };
    }
    let mut ty = ty.clone();
    let length_max = if ty.collation == CollationId::BINARY { 65_535 } else { 16_383 };
    ty.unsigned &= !matches!(
        ty.kind,
        TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Binary { .. } | TypeKind::VarBinary { .. } | TypeKind::Year
    );
    ty.kind = match ty.kind {
        TypeKind::VarChar { length } if length > length_max => TypeKind::Text(LobSize::Long),
        TypeKind::Char { length } if length > 255 => TypeKind::VarChar { length },
        TypeKind::VarBinary { length } if length > length_max => TypeKind::Blob(LobSize::Long),
        kind => kind,
    };
    ty
}

/// Is it a binary string that bit operations treat as bits? Hexadecimal literals are numbers.
pub fn is_bit_string(expr: &Expr) -> bool {
    expr.ty.is_binary_string() && !is_bits_literal(expr)
}

/// Is this a bit operation on binary strings? `&`, `|` and `^` need two, one of which may be a literal; shifts need
/// one.
pub fn is_bit_operation(op: ArithmeticOp, left: &Expr, right: &Expr) -> bool {
    use ArithmeticOp as A;
    match op {
        A::BitAnd | A::BitOr | A::BitXor => {
            let binary = |e: &Expr| e.ty.is_binary_string() || e.ty.kind == TypeKind::Null;
            binary(left) && binary(right) && (is_bit_string(left) || is_bit_string(right))
        }
        A::ShiftLeft | A::ShiftRight => is_bit_string(left),
        _ => false,
    }
}

/// The type of bit operations on binary strings.
pub fn bit_string(arg: &Expr) -> ColumnType {
    string(string_length(&arg.ty), CollationId::BINARY)
}

/// The type of an arithmetic operation; `increment` is `div_precision_increment`.
pub fn arithmetic(op: ArithmeticOp, left: &Expr, right: &Expr, signed_subtract: bool, increment: u8) -> ColumnType {
    use ArithmeticOp as A;
    let (a, b) = (operand_class(left), operand_class(right));
    let is_unsigned = |ty: &ColumnType| is_unsigned(ty) || ty.kind == TypeKind::Year;
    let unsigned = is_unsigned(&left.ty) || is_unsigned(&right.ty);
    match op {
        A::BitAnd | A::BitOr | A::BitXor | A::ShiftLeft | A::ShiftRight => return bigint(true),
        A::IntDivide => return bigint(unsigned),
        _ if a == Class::Double || b == Class::Double => {
            let mut shape = common_shape([left, right]);
            if let (A::Divide, Some((_, decimals))) = (op, &mut shape) {
                *decimals += u32::from(increment);
            }
            return fixed_double(shape);
        }
        _ => {}
    }
    let ((p1, s1), (p2, s2)) = (decimal_shape(left), decimal_shape(right));
    let both_unsigned = is_unsigned(&left.ty) && is_unsigned(&right.ty) && !(op == A::Subtract && signed_subtract);
    let decimal = |precision, scale| ColumnType { unsigned: both_unsigned, ..decimal(precision, scale) };
    let integers = a == Class::Integer && b == Class::Integer;
    match op {
        A::Add | A::Multiply if integers => bigint(unsigned),
        A::Subtract if integers => bigint(unsigned && !signed_subtract),
        A::Modulo if integers => bigint(is_unsigned(&left.ty)),
        A::Multiply => decimal(p1 + p2, s1 + s2),
        A::Divide => decimal(p1 + s2 + u32::from(increment), s1 + u32::from(increment)),
        A::Modulo => ColumnType { unsigned: is_unsigned(&left.ty), ..decimal(p1.max(p2), s1.max(s2)) },
        _ => {
            let scale = s1.max(s2);
            decimal((p1 - s1.min(p1)).max(p2 - s2.min(p2)) + scale + 1, scale)
        }
    }
}

/// The type of `-x`.
pub fn negate(arg: &Expr) -> ColumnType {
    match operand_class(arg) {
        _ if is_temporal(&arg.ty) => temporal_double(arg),
        Class::Integer => bigint(false),
        Class::Decimal => {
            let (precision, scale) = decimal_shape(arg);
            decimal(precision, scale)
        }
        _ => fixed_double(fixed_shape(arg)),
    }
}

/// The type of a number computed from this one that keeps its kind: ABS, ROUND and the like.
pub fn numeric(arg: &Expr) -> ColumnType {
    if is_temporal(&arg.ty) {
        return temporal_double(arg);
    }
    match operand_class(arg) {
        Class::Integer => bigint(is_unsigned(&arg.ty) || arg.ty.kind == TypeKind::Year),
        Class::Decimal => {
            let (precision, scale) = decimal_shape(arg);
            decimal(precision, scale)
        }
        _ => fixed_double(fixed_shape(arg)),
    }
}

/// Is it a user variable that was never set? It is a string, but an integer beside numbers.
pub fn is_unset(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::UserVariable(_)) && expr.ty.kind == UNSET
}

/// The common type of several results: CASE, IF, COALESCE, UNION. `collation` is the common collation of its strings.
pub fn unify<'e>(exprs: impl Iterator<Item = &'e Expr> + Clone, collation: CollationId) -> ColumnType {
    let mut others = exprs.clone().filter(|e| !is_unset(e) && e.ty.kind != TypeKind::Null).map(|e| class(&e.ty)).peekable();
    let numbers = [Class::Integer, Class::Decimal, Class::Double];
    let is_number = exprs.clone().any(is_unset) && others.peek().is_some() && others.all(|other| numbers.contains(&other));
    if !is_number {
        return unify_known(exprs, collation);
    }
    let ty = unify_known(exprs.filter(|e| !is_unset(e)), collation);
    match class(&ty) {
        Class::Integer => bigint(is_unsigned(&ty)),
        Class::Decimal => decimal(PRECISION_MAX.into(), SCALE_MAX.into()),
        _ => ty,
    }
}

/// The common type of geometries: their kind, if it is one; `None`: something else is among them.
fn unify_geometries<'e>(exprs: impl Iterator<Item = &'e Expr>) -> Option<ColumnType> {
    let mut common = None;
    for expr in exprs {
        let kind = expr.ty.geometry_kind()?;
        common = Some(if common.is_none_or(|known| known == kind) { kind } else { types::geometry::GeometryKind::Geometry });
    }
    common.map(ColumnType::geometry)
}

fn unify_known<'e>(exprs: impl Iterator<Item = &'e Expr> + Clone, collation: CollationId) -> ColumnType {
    let mut known = exprs.clone().filter(|e| e.ty.kind != TypeKind::Null);
    let Some(first) = known.next() else { return ColumnType::new(TypeKind::Null) };
    let mut ty = first.ty.clone();
    let mut all_same = true;
    for expr in known.clone() {
        if expr.ty.kind != ty.kind || expr.ty.unsigned != ty.unsigned {
            all_same = false;
        }
    }
    if all_same {
        if class(&ty) == Class::String {
            if matches!(ty.kind, TypeKind::Enum { .. } | TypeKind::Set { .. }) {
                return string(string_length(&ty), collation);
            }
            ty.collation = collation;
        }
        if class(&ty) == Class::Integer {
            ty.zerofill = false;
            ty.display_width = ty.display_width.filter(|_| ty.kind == TypeKind::BigInt);
            // A chosen YEAR is shown as a number: 0, not 0000.
            ty.unsigned |= ty.kind == TypeKind::Year;
        }
        ty.unsigned &= class(&ty) != Class::Decimal;
        if class(&ty) == Class::Double {
            let fixed = fixed_double(common_shape(known.chain([first])));
            (ty.float_decimals, ty.display_width) = (fixed.float_decimals, fixed.display_width);
        }
        return ty;
    }
    let known = exprs.filter(|e| e.ty.kind != TypeKind::Null);
    if let Some(ty) = unify_geometries(known.clone()) {
        return ty;
    }
    let mut vectors =
        known.clone().map(|e| if let TypeKind::Vector { dimensions } = e.ty.kind { Some(dimensions) } else { None });
    if let Some(dimensions) = vectors.try_fold(0, |most, dimensions| Some(most.max(dimensions?))) {
        return ColumnType::new(TypeKind::Vector { dimensions });
    }
    let mut bits = known.clone().map(|e| if let TypeKind::Bit { length } = e.ty.kind { Some(length) } else { None });
    if let Some(length) = bits.try_fold(0, |most, length| Some(most.max(length?))) {
        return ColumnType::unsigned(TypeKind::Bit { length });
    }
    if known.clone().all(|e| matches!(e.ty.kind, TypeKind::Timestamp { .. })) {
        return ColumnType::new(TypeKind::Timestamp { fsp: known.map(|e| fsp(&e.ty)).max().unwrap_or(0) });
    }
    let classes: Vec<Class> = known.clone().map(|e| class(&e.ty)).collect();
    let all = |wanted: &[Class]| classes.iter().all(|c| wanted.contains(c));
    if all(&[Class::Integer]) {
        return unify_integers(known);
    }
    if all(&[Class::Integer, Class::Decimal]) {
        let (mut digits, mut scale) = (0, 0);
        for expr in known {
            let (p, s) = decimal_shape(expr);
            digits = digits.max(p.saturating_sub(s));
            scale = scale.max(s);
        }
        return decimal(digits + scale, scale);
    }
    if all(&[Class::Integer, Class::Decimal, Class::Double]) {
        let kind = if stays_float(known.clone().map(|e| &e.ty.kind)) { TypeKind::Float } else { TypeKind::Double };
        return ColumnType { kind, ..fixed_double(common_shape(known)) };
    }
    if all(&[Class::Time]) {
        return ColumnType::new(TypeKind::Time { fsp: known.map(|e| fsp(&e.ty)).max().unwrap_or(0) });
    }
    if all(&[Class::Date, Class::Time, Class::DateTime]) {
        return ColumnType::new(TypeKind::DateTime { fsp: known.map(|e| fsp(&e.ty)).max().unwrap_or(0) });
    }
    let lob = |ty: &ColumnType| match ty.kind {
        TypeKind::Text(size) | TypeKind::Blob(size) => Some(size),
        TypeKind::Json | TypeKind::Geometry { .. } | TypeKind::Vector { .. } => Some(LobSize::Long),
        _ => None,
    };
    if let Some(size) = known.clone().filter_map(|e| lob(&e.ty)).max_by_key(|size| lob_bytes(*size)) {
        let kind = if collation == CollationId::BINARY { TypeKind::Blob(size) } else { TypeKind::Text(size) };
        return ColumnType { collation, ..ColumnType::new(kind) };
    }
    let length = |e: &Expr| if collation == CollationId::BINARY { kept_bytes(e) } else { string_length(&e.ty) };
    string(known.map(length).max().unwrap_or(0), collation)
}

/// The length in bytes of a binary column for an expression: the bytes of a string's characters, the digits of a BIT.
pub fn kept_bytes(expr: &Expr) -> u64 {
    match expr.ty.kind {
        TypeKind::Bit { length } => length.into(),
        _ if class(&expr.ty) == Class::String => string_length(&expr.ty) * bytes_per_char(expr.ty.collation),
        _ => string_length(&expr.ty),
    }
}

/// The type of a column that stores values of all: like [`unify`], but a CHAR or BINARY remains one unless a VARCHAR,
/// VARBINARY or JSON is among them.
pub fn stored_together(exprs: &[Expr], collation: CollationId) -> ColumnType {
    use TypeKind as K;
    let ty = stored(&unify(exprs.iter(), collation));
    let ty = match ty.kind {
        K::VarBinary { .. } => string(exprs.iter().map(kept_bytes).max().unwrap_or(0), CollationId::BINARY),
        _ => ty,
    };
    let is_fixed = |kind: &TypeKind| matches!(kind, K::Char { .. } | K::Binary { .. });
    let known = || exprs.iter().map(|e| &e.ty.kind).filter(|kind| **kind != K::Null);
    let stays = known().any(is_fixed) && !known().any(|kind| matches!(kind, K::VarChar { .. } | K::VarBinary { .. } | K::Json));
    let kind = match ty.kind {
        K::VarChar { length } if stays => K::Char { length },
        K::VarBinary { length } if stays => K::Binary { length },
        _ => return ty,
    };
    ColumnType { kind, ..ty }
}

/// The type of a column that also takes the values of a materialized column of NULLs, which counts as a signed number
/// with the maximum of digits.
pub fn beside_kept_nulls(ty: ColumnType) -> ColumnType {
    match ty.kind {
        TypeKind::Decimal { .. } => decimal(PRECISION_MAX.into(), SCALE_MAX.into()),
        TypeKind::BigInt if ty.unsigned => decimal(PRECISION_MAX.into(), SCALE_MAX.into()),
        _ => ty,
    }
}

/// Is a FLOAT among these and the common type? It is also if a BIGINT follows it.
fn stays_float<'k>(kinds: impl Iterator<Item = &'k TypeKind> + Clone) -> bool {
    let mut before_float = kinds.clone().take_while(|kind| **kind != TypeKind::Float);
    before_float.all(is_in_float) && kinds.clone().all(|kind| is_in_float(kind) || *kind == TypeKind::BigInt)
}

/// Does a FLOAT remain one beside this type? INT, BIGINT, DECIMAL and DOUBLE make it a DOUBLE.
fn is_in_float(kind: &TypeKind) -> bool {
    use TypeKind as K;
    matches!(kind, K::Float | K::TinyInt | K::SmallInt | K::MediumInt | K::Year)
}

fn unify_integers<'e>(exprs: impl Iterator<Item = &'e Expr> + Clone) -> ColumnType {
    let rank = |ty: &ColumnType| match ty.kind {
        TypeKind::TinyInt => 0,
        TypeKind::SmallInt | TypeKind::Year => 1,
        TypeKind::MediumInt => 2,
        TypeKind::Int => 3,
        _ => 4,
    };
    let widest = exprs.clone().map(|e| rank(&e.ty)).max().unwrap_or(4);
    let unsigned = exprs.clone().any(|e| is_unsigned(&e.ty));
    let signed = exprs.clone().any(|e| !is_unsigned(&e.ty) && e.ty.kind != TypeKind::Year);
    if unsigned && signed {
        // A signed type that holds both is one step wider; for BIGINT UNSIGNED it is DECIMAL.
        let unsigned_rank = exprs.clone().filter(|e| is_unsigned(&e.ty)).map(|e| rank(&e.ty)).max().unwrap_or(0);
        if unsigned_rank == 4 {
            return decimal(20, 0);
        }
        return ColumnType::new(integer_kind(widest.max(unsigned_rank + 1)));
    }
    // Literals and truth values keep their written width.
    let width = exprs.clone().map(|e| e.ty.display_width).try_fold(0, |most, width| Some(most.max(width?)));
    let display_width = width.filter(|_| widest == 4 && exprs.clone().all(|e| e.ty.kind == TypeKind::BigInt));
    ColumnType { unsigned: unsigned && !signed, display_width, ..ColumnType::new(integer_kind(widest)) }
}

fn integer_kind(rank: u8) -> TypeKind {
    match rank {
        0 => TypeKind::TinyInt,
        1 => TypeKind::SmallInt,
        2 => TypeKind::MediumInt,
        3 => TypeKind::Int,
        _ => TypeKind::BigInt,
    }
}

/// The type of SUM.
pub fn sum(arg: &Expr) -> ColumnType {
    match operand_class(arg) {
        Class::Integer | Class::Decimal => {
            let (precision, scale) = decimal_shape(arg);
            decimal(precision + 22, scale)
        }
        _ => fixed_double(fixed_shape(arg)),
    }
}

/// The type of AVG.
pub fn average(arg: &Expr, increment: u8) -> ColumnType {
    match operand_class(arg) {
        Class::Integer | Class::Decimal => {
            let (precision, scale) = decimal_shape(arg);
            decimal(precision + u32::from(increment), scale + u32::from(increment))
        }
        _ => fixed_double(fixed_shape(arg).map(|(whole, decimals)| (whole, decimals + u32::from(increment)))),
    }
}

/// Is it the number of an ENUM's member or the bits of a SET?
pub fn is_member_number(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::ColumnOrdinal { .. } | ExprKind::Call { function: crate::func::Function::MEMBER_NUMBER, .. })
}

/// A literal `0x..`, `b'..'`: bytes that are a number in numeric context.
pub fn is_bits_literal(expr: &Expr) -> bool {
    expr.ty.unsigned && matches!(expr.kind, ExprKind::Literal(Value::Bytes(_)))
}
