//! Numbers of columns and slots that fit 64 bits, without a value in between: what sums add up and keys are made of.
//!
//! N1: where a number is answered, evaluation gives the same number, says nothing and waits for nothing.

use expr::keys::{self, KeyKind};
use expr::packed::{self, Packer};
use expr::{Env, Expr, ExprKind, Row, Step};
use types::row::number::ShortNumber;
use types::{TypeKind, Value};

/// The number of an expression that is a column or a slot.
#[inline]
pub(crate) fn short_number(env: &Env<'_>, expr: &Expr) -> ShortNumber {
    match expr.kind {
        ExprKind::Column { source, column } if env.overlay.is_empty() => match env.rows.row(source) {
            Ok(Row::Stored(row)) => row.short_number(column),
            Ok(Row::Packed(bytes, None)) => packed::short_number(bytes, column),
            Ok(Row::Null) => ShortNumber::Null,
            // Evaluation reads members of ENUM and SET, and reports rows that cannot be read.
            Ok(Row::Packed(..)) | Err(_) => ShortNumber::Other,
        },
        ExprKind::Slot(slot) => packed::short_number(env.slots, slot),
        _ => ShortNumber::Other,
    }
}

/// Appends the number as it leaves a projection, if it is one of the expression's type; `false`: it is to be evaluated.
#[inline]
pub(crate) fn push(env: &Env<'_>, expr: &Expr, packer: &mut Packer<'_>) -> bool {
    match (&expr.ty.kind, short_number(env, expr)) {
        (TypeKind::Decimal { scale, .. }, ShortNumber::Digits(digits, own)) if *scale == own => {
            packer.push_short_decimal(digits, own);
        }
        (
            TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt,
            ShortNumber::Digits(digits, 0),
        ) if !expr.ty.unsigned => packer.push(&Value::Int(digits)),
        _ => return false,
    }
    true
}

/// As [`keys::encode`] of the expression's value.
#[inline]
pub(crate) fn encode<'a>(env: &Env<'a>, kind: KeyKind, expr: &'a Expr, out: &mut Vec<u8>) -> Step<()> {
    match (kind, short_number(env, expr)) {
        (KeyKind::Integer, ShortNumber::Digits(digits, 0)) => keys::encode_digits(digits, out),
        (KeyKind::Decimal(wanted), ShortNumber::Digits(digits, scale)) if scale == wanted => keys::encode_digits(digits, out),
        _ => {
            let value = env.eval(expr)?;
            keys::encode(env, kind, &value, &expr.ty, out)?;
        }
    }
    Ok(())
}

/// As [`keys::encode_ordered`] of the expression's value.
#[inline]
pub(crate) fn encode_ordered<'a>(env: &Env<'a>, kind: KeyKind, descending: bool, expr: &'a Expr, out: &mut Vec<u8>) -> Step<()> {
    if !matches!(kind, KeyKind::Integer | KeyKind::Decimal(_)) {
        let value = env.eval(expr)?;
        return keys::encode_ordered(env, kind, descending, &value, &expr.ty, out);
    }
    let start = out.len();
    encode(env, kind, expr, out)?;
    if descending {
        out[start..].iter_mut().for_each(|b| *b = !*b);
    }
    Ok(())
}
