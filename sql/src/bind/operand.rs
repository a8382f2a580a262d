//! Operands: converts an expression where a number, a string or a JSON document is required.

use expr::typing::{self, is_bits_literal};
use expr::{Class, Expr, ExprKind, Function, SubqueryTest, class};
use types::{CollationId, ColumnType, Decimal, TypeKind, Value};

/// Converts a number for a string column: a BIT becomes its number, and a FLOAT or DOUBLE is not rounded to the digits
/// of its type.
pub(super) fn as_stored_text(expr: Expr, to: &ColumnType) -> Expr {
    match expr.ty.kind {
        TypeKind::Bit { .. } if class(to) == Class::String && !matches!(to.kind, TypeKind::Text(_) | TypeKind::Blob(_)) => {
            cast_to(expr, typing::bigint(true))
        }
        TypeKind::Float | TypeKind::Double if matches!(to.kind, TypeKind::VarChar { .. }) => cast_to(expr, typing::double()),
        _ => expr,
    }
}

/// CAST(... AS BINARY(n)) gives n bytes: a shorter value is padded with zero bytes.
pub(super) fn padded(cast: Expr, length: u32) -> Expr {
    let zero = Expr::literal(Value::text(b"\0"), typing::string(1, CollationId::BINARY));
    let ty = cast.ty.clone();
    let args = vec![cast, super::literal::integer(length.into()), zero];
    Expr { kind: ExprKind::Call { function: Function::RPAD, args }, ty, nullable: true }
}

/// A truth value beside a JSON value is JSON's true or false.
pub(super) fn truth_as_document(side: &mut Expr) {
    if side.is_truth_value() {
        let truth = std::mem::replace(side, Expr::literal(Value::Null, ColumnType::new(TypeKind::Null)));
        *side = cast_to(truth, ColumnType::new(TypeKind::Json));
    }
}

/// BETWEEN compares JSON values as strings, and beside numbers as numbers.
pub(super) fn documents_as_values(arg: &mut Expr, bounds: &mut [Expr]) {
    let mut operands: Vec<&mut Expr> = std::iter::once(arg).chain(bounds).collect();
    let is_number = |expr: &&mut Expr| matches!(class(&expr.ty), Class::Integer | Class::Decimal | Class::Double);
    let beside_number = operands.iter().any(is_number);
    for operand in operands.iter_mut().filter(|operand| class(&operand.ty) == Class::Json) {
        let document = std::mem::replace(&mut **operand, Expr::literal(Value::Null, ColumnType::new(TypeKind::Null)));
        let text = ColumnType { collation: CollationId::UTF8MB4_BIN, ..ColumnType::new(TypeKind::Text(types::LobSize::Long)) };
        **operand = cast_to(document, if beside_number { typing::double() } else { text });
    }
}

/// The number of an ENUM or SET: of a column, a program variable or the result of a stored function. Other expressions
/// are strings.
pub(super) fn enum_as_number(expr: &mut Expr) {
    if !matches!(expr.ty.kind, TypeKind::Enum { .. } | TypeKind::Set { .. }) {
        return;
    }
    let kind = match &expr.kind {
        ExprKind::Column { source, column } => ExprKind::ColumnOrdinal { source: *source, column: *column },
        ExprKind::Param(_) => ExprKind::Call { function: Function::MEMBER_NUMBER, args: vec![expr.clone()] },
        ExprKind::Subquery(subquery) if matches!(subquery.test, SubqueryTest::Call { .. }) => {
            ExprKind::Call { function: Function::MEMBER_NUMBER, args: vec![expr.clone()] }
        }
        _ => return,
    };
    *expr = Expr { kind, ty: typing::bigint(true), nullable: expr.nullable };
}

/// An operand of arithmetic: ENUM columns and hexadecimal literals become numbers.
pub(super) fn numeric_operand(mut expr: Expr) -> Expr {
    if let (true, ExprKind::Literal(Value::Bytes(bytes))) = (is_bits_literal(&expr), &expr.kind) {
        return bits_as_integer(bytes).unwrap_or_else(|| cast_to(expr, typing::bigint(true)));
    }
    if matches!(expr.kind, ExprKind::UserVariable(_)) && class(&expr.ty) == Class::Decimal {
        super::fraction_digits::filled_value(&mut expr);
        return expr;
    }
    enum_as_number(&mut expr);
    moved_date_as_number(&mut expr);
    choice_as_number(&mut expr);
    if class(&expr.ty) == Class::Json { cast_to(expr, typing::double()) } else { expr }
}

/// A JSON value as a condition of IF or CASE is a number.
pub(super) fn document_as_number(condition: &mut Expr) {
    if class(&condition.ty) == Class::Json {
        let document = std::mem::replace(condition, Expr::literal(Value::Null, ColumnType::new(TypeKind::Null)));
        *condition = cast_to(document, typing::double());
    }
}

/// CASE compares a JSON value with a string, or with another JSON value, as strings.
pub(super) fn documents_as_texts(operand: &mut Expr, when: &mut Expr) {
    let is_text_like = |expr: &Expr| matches!(class(&expr.ty), Class::String | Class::Json);
    if !is_text_like(operand) || !is_text_like(when) {
        return;
    }
    for side in [operand, when] {
        if class(&side.ty) == Class::Json {
            let document = std::mem::replace(side, Expr::literal(Value::Null, ColumnType::new(TypeKind::Null)));
            let ty = typing::string(typing::string_length(&document.ty), document.ty.collation);
            *side = cast_to(document, ty);
        }
    }
}

/// `'2024-01-31' + INTERVAL 1 DAY` is a string. As a number it is that of the date, 20240201. The same applies to
/// ADDTIME of a string, and to GREATEST and LEAST of dates and strings.
pub(super) fn moved_date_as_number(expr: &mut Expr) {
    use Function as F;
    let is_text = class(&expr.ty) == Class::String;
    let ExprKind::Call { function, args } = &mut expr.kind else { return };
    if matches!(*function, F::GREATEST | F::LEAST) && args.iter().any(is_only_text) {
        return;
    }
    if is_text && matches!(*function, F::GREATEST | F::LEAST) && args.iter().any(is_clock) && !args.iter().any(is_dated) {
        // Beside times and years all are numbers.
        args.iter_mut().for_each(to_number);
        expr.ty = typing::double();
        return;
    }
    let is_date = match *function {
        F::DATE_ADD | F::DATE_SUB | F::TIMESTAMPADD | F::ADDTIME | F::SUBTIME => true,
        F::GREATEST | F::LEAST => args.iter().any(is_dated),
        _ => false,
    };
    if is_date && is_text {
        expr.ty = typing::double();
    }
}

/// JSON and BINARY make every operand of their comparison a string.
fn is_only_text(expr: &Expr) -> bool {
    matches!(expr.ty.kind, TypeKind::Json | TypeKind::Binary { .. })
}

pub(super) fn is_dated(expr: &Expr) -> bool {
    matches!(class(&expr.ty), Class::Date | Class::DateTime)
}

fn is_clock(expr: &Expr) -> bool {
    class(&expr.ty) == Class::Time || expr.ty.kind == TypeKind::Year
}

/// Makes IF and CASE over strings choose among numbers where a number is required. An ENUM and a hexadecimal literal
/// become numbers.
pub(super) fn choice_as_number(expr: &mut Expr) {
    if class(&expr.ty) != Class::String {
        return;
    }
    match &mut expr.kind {
        ExprKind::Call { function: Function::IF, args } => args[1..].iter_mut().for_each(to_number),
        ExprKind::Case { whens, otherwise } => {
            whens.iter_mut().map(|(_, value)| value).chain(otherwise.as_deref_mut()).for_each(to_number);
        }
        _ => return,
    }
    expr.ty = typing::double();
}

pub(super) fn to_number(expr: &mut Expr) {
    let taken = std::mem::replace(expr, Expr::literal(Value::Null, ColumnType::new(TypeKind::Null)));
    *expr = numeric_operand(taken);
}

/// Like [`numeric_operand`], for functions of one number, for which hexadecimal literals are doubles.
pub(super) fn number_argument(expr: Expr) -> Expr {
    if is_bits_literal(&expr) { cast_to(expr, typing::double()) } else { numeric_operand(expr) }
}

/// Converts a hexadecimal literal to its number; other expressions stay.
pub(super) fn bits_as_number(expr: Expr) -> Expr {
    if is_bits_literal(&expr) { numeric_operand(expr) } else { expr }
}

/// Up to eight bytes as an unsigned number. More are reported at execution.
pub(super) fn bits_as_integer(bytes: &[u8]) -> Option<Expr> {
    let value = bytes.iter().fold(0u64, |sum, byte| (sum << 8) | u64::from(*byte));
    (bytes.len() <= size_of::<u64>()).then(|| Expr::literal(Value::UInt(value), typing::bigint(true)))
}

pub(super) fn cast_to(expr: Expr, ty: ColumnType) -> Expr {
    let nullable = expr.nullable;
    Expr { kind: ExprKind::Cast(Box::new(expr)), ty, nullable }
}

/// `-5` as a literal, including `-9223372036854775808`.
pub(super) fn negated_literal(arg: &Expr) -> Option<Expr> {
    let ExprKind::Literal(value) = &arg.kind else { return None };
    Some(match value {
        // The negation of a negative integer is a DECIMAL.
        Value::Int(n) if *n < 0 => {
            Expr::literal(Value::Decimal(Decimal::from_i64(*n).negate()), typing::decimal(typing::decimal_shape(arg).0, 0))
        }
        Value::Int(n) => Expr::literal(Value::Int(n.checked_neg()?), ColumnType { display_width: None, ..arg.ty.clone() }),
        Value::UInt(n) if *n == 1 << 63 => Expr::literal(Value::Int(i64::MIN), typing::bigint(false)),
        Value::UInt(n) => Expr::literal(Value::Decimal(Decimal::from_u64(*n).negate()), typing::decimal(20, 0)),
        Value::Decimal(d) => Expr::literal(Value::Decimal(d.negate()), arg.ty.clone()),
        Value::Double(x) => Expr::literal(Value::Double(-x), arg.ty.clone()),
        _ => return None,
    })
}
