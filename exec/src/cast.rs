//! CAST and CONVERT: the node's static type is the target.

use crate::coerce::{self, Kind};
use crate::error::Error;
use crate::eval::{Env, Evaluated};
use crate::function::{char_count, char_offset};
use sql::expr::Expr;
use std::borrow::Cow;
use types::convert::{self, Warnings};
use types::{CollationId, ColumnType, Decimal, TypeKind, Value};

/// Casts the argument to the node's type.
pub(crate) fn eval<'a>(env: &Env<'a>, node: &'a Expr, arg: &'a Expr) -> Evaluated<'a> {
    let value = env.eval(arg)?;
    if matches!(value, Value::Null) {
        return Ok(Value::Null);
    }
    match coerce::kind_of(&node.ty) {
        Kind::Integer => integer(env, value, &node.ty),
        Kind::Decimal => decimal(env, &value, &node.ty),
        Kind::Double => {
            let x = env.as_double(&value)?;
            Ok(Value::Double(if node.ty.kind == TypeKind::Float { f64::from(x as f32) } else { x }))
        }
        Kind::Text => text(env, value, &arg.ty, &node.ty),
        Kind::Date => {
            let mut warnings = Warnings::new();
            let context = coerce::store_context(env.session(), false);
            let date = convert::to_date(&value, &arg.ty, &context, &mut warnings);
            env.report(warnings)?;
            Ok(date.map_or(Value::Null, Value::Date))
        }
        Kind::DateTime => {
            let fsp = fsp(&node.ty);
            let truncate = env.session().sql_mode.time_truncate_fractional;
            Ok(env.as_datetime(&value)?.and_then(|d| d.to_fsp(fsp, truncate)).map_or(Value::Null, Value::DateTime))
        }
        Kind::Time => {
            let truncate = env.session().sql_mode.time_truncate_fractional;
            Ok(env.as_time(&value)?.map_or(Value::Null, |t| Value::Time(t.to_fsp(fsp(&node.ty), truncate))))
        }
        Kind::Null => Ok(value),
    }
}

fn fsp(ty: &ColumnType) -> u8 {
    match ty.kind {
        TypeKind::Time { fsp } | TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => fsp,
        _ => 0,
    }
}

fn integer<'a>(env: &Env<'a>, value: Value<'a>, ty: &ColumnType) -> Evaluated<'a> {
    let mut warnings = Warnings::new();
    let result = if ty.unsigned {
        Value::UInt(match value {
            Value::UInt(n) => n,
            Value::Int(n) => n as u64,
            ref other => convert::to_u64(other, &mut warnings),
        })
    } else {
        Value::Int(match value {
            Value::Int(n) => n,
            Value::UInt(n) => n as i64,
            ref other => convert::to_i64(other, &mut warnings),
        })
    };
    env.report(warnings)?;
    Ok(result)
}

fn decimal<'a>(env: &Env<'a>, value: &Value<'a>, ty: &ColumnType) -> Evaluated<'a> {
    let TypeKind::Decimal { precision, scale } = ty.kind else { unreachable!("the kind is DECIMAL") };
    let d = env.as_decimal(value)?;
    match d.rescale(scale) {
        Ok(rounded) if rounded.fits(precision, scale) => Ok(Value::Decimal(rounded)),
        _ => {
            env.problem(Error::TruncatedWrongValue { what: "DECIMAL", value: coerce::plain_text(value) })?;
            Ok(Value::Decimal(Decimal::max_value(precision, scale, d.is_negative())))
        }
    }
}

fn text<'a>(env: &Env<'a>, value: Value<'a>, from: &ColumnType, ty: &ColumnType) -> Evaluated<'a> {
    if ty.kind == TypeKind::Json {
        let text = env.as_text(value, from)?;
        // Numbers are JSON as they are; texts must be JSON; other values become strings.
        if coerce::is_string(from) {
            return Ok(Value::Bytes(Cow::Owned(crate::json::Json::parse(&text, 1, "cast_as_json")?.to_text())));
        }
        if coerce::is_numeric(from) {
            return Ok(Value::Bytes(text));
        }
        let mut quoted = Vec::new();
        crate::json::write_string(&String::from_utf8_lossy(&text), &mut quoted);
        return Ok(Value::Bytes(Cow::Owned(quoted)));
    }
    let text = env.as_text(value, from)?;
    let binary = ty.collation == CollationId::BINARY;
    // Bytes used as text must be text.
    if !binary && std::str::from_utf8(&text).is_err() {
        let value = String::from_utf8_lossy(&text).into_owned();
        env.problem(Error::InvalidText { charset: coerce::charset_of(ty.collation), value })?;
        return Ok(Value::Null);
    }
    let length = match ty.kind {
        TypeKind::Char { length } | TypeKind::VarChar { length } => length as usize,
        TypeKind::Binary { length } | TypeKind::VarBinary { length } => length as usize,
        _ => return Ok(Value::Bytes(text)),
    };
    if text.len() > length && char_count(&text, binary) > length {
        let end = char_offset(&text, length, binary);
        let what = if binary { "BINARY" } else { "CHAR" };
        let message = format!("Truncated incorrect {what}({length}) value: '{}'", String::from_utf8_lossy(&text));
        env.session().warn(Error::Other { number: 1292, message });
        let mut text = text.into_owned();
        text.truncate(end);
        return Ok(Value::Bytes(Cow::Owned(text)));
    }
    if matches!(ty.kind, TypeKind::Binary { .. }) && text.len() < length && length <= env.session().packet_bytes_max {
        let mut text = text.into_owned();
        text.resize(length, 0);
        return Ok(Value::Bytes(Cow::Owned(text)));
    }
    Ok(Value::Bytes(text))
}
