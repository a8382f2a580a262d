//! CAST and CONVERT: the node's static type is the target.

use crate::class::{Class, class};
use crate::coerce;
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::func::Function;
use crate::function::{char_count, char_offset};
use crate::tree::{Expr, ExprKind};
use conditions::Condition;
use std::borrow::Cow;
use types::charset::Charset;
use types::convert::{self, DocumentAs, Warnings};
use types::json::Json;
use types::{CollationId, ColumnType, Decimal, TypeKind, Value};

/// Casts the argument to the node's type.
pub(crate) fn eval<'a>(env: &Env<'a>, node: &'a Expr, arg: &'a Expr) -> Evaluated<'a> {
    // An integer is read from the text that IF makes of all branches; decimals, doubles and dates are those of the chosen one.
    let arg = match class(&node.ty) {
        Class::String | Class::Json | Class::Null => arg,
        Class::Integer if coerce::is_string(&arg.ty) => arg,
        _ => match env.chosen(arg)? {
            Some(chosen) => chosen,
            None => return Ok(Value::Null),
        },
    };
    let set = Charset::of(node.ty.collation);
    let value = match (&arg.ty.kind, class(&node.ty)) {
        _ if set.is_wide() && is_char_call(arg) => crate::function::wide_characters(env, arg, set.unit_bytes())?,
        (TypeKind::Json, _) => env.eval(arg)?,
        (_, Class::Date | Class::Time | Class::DateTime) => env.moment(arg)?,
        _ => env.eval(arg)?,
    };
    if matches!(value, Value::Null) {
        return Ok(Value::Null);
    }
    if let TypeKind::Geometry { kind, .. } = node.ty.kind {
        return Ok(Value::Bytes(crate::function::spatial::cast::cast(&value, kind)?.into()));
    }
    if coerce::is_document(&arg.ty) && !matches!(class(&node.ty), Class::Json | Class::String) {
        return document(env, value, arg, node);
    }
    if let (true, Value::Bytes(bytes)) = (is_char_call(arg), &value)
        && set != Charset::Binary
        && let Some(text) = characters(env, bytes, &node.ty)
    {
        return Ok(text);
    }
    // 0x41 and b'101' are numbers where one is wanted.
    let number = matches!(class(&node.ty), Class::Integer | Class::Decimal | Class::Double);
    if let (Value::Bytes(bytes), ExprKind::Literal(_)) = (&value, &arg.kind)
        && number
        && coerce::is_bits_literal(&arg.ty)
    {
        return converted(env, Value::UInt(env.number_of_bits(bytes)?), &ColumnType::unsigned(TypeKind::BigInt), node);
    }
    if class(&node.ty) == Class::String {
        return converted(env, crate::function::moved_time_as_text(value, arg), &arg.ty, node);
    }
    if let (Class::Integer, Value::Double(x)) = (class(&node.ty), &value) {
        env.check_bigint(arg, *x)?;
    }
    converted(env, value, &arg.ty, node)
}

fn is_char_call(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Call { function: Function::CHAR, .. })
}

/// CHAR(... USING a set of Unicode): invalid bytes end the text, or make it NULL in strict mode, always with a warning. `None`: it is valid.
fn characters<'a>(env: &Env<'a>, bytes: &[u8], ty: &ColumnType) -> Option<Value<'a>> {
    let set = Charset::of(ty.collation);
    let valid = match std::str::from_utf8(bytes) {
        Err(error) if matches!(set, Charset::Utf8mb4 | Charset::Utf8mb3) => error.valid_up_to(),
        _ if set.is_wide() && set.decode(bytes).is_none() => 0,
        _ => return None,
    };
    let value = types::convert::invalid_text(bytes);
    env.session().warn(Error::InvalidText { charset: coerce::charset_of(ty.collation), value });
    let is_strict = env.session().sql_mode.strict;
    Some(if is_strict { Value::Null } else { Value::Bytes(Cow::Owned(bytes[..valid].to_vec())) })
}

/// A document as a number or a date: another value gives a warning, and zero or NULL.
fn document<'a>(env: &Env<'a>, value: Value<'a>, arg: &'a Expr, node: &'a Expr) -> Evaluated<'a> {
    let document = crate::function::document_of(&value, &arg.ty);
    let wanted = DocumentAs::of(&node.ty).unwrap_or(DocumentAs::DateTime);
    let number = wanted.is_number();
    let is_no_time = |text: &str| wanted == DocumentAs::Time && types::temporal::parse_time(text.as_bytes()).truncated;
    if !wanted.reads(&document) || matches!(&document, Json::String(text) if is_no_time(text)) {
        let error = Error::InvalidDocument { what: wanted.name(), column: name_of(env, arg), row: 1 };
        env.problem(error)?;
        if !number {
            return Ok(Value::Null);
        }
        if let Json::String(text) = &document {
            let x = convert::text_to_f64(text.as_bytes(), &mut Warnings::new());
            return converted(env, Value::Double(x), &ColumnType::new(TypeKind::Double), node);
        }
        return converted(env, Value::Int(0), &ColumnType::new(TypeKind::BigInt), node);
    }
    converted(env, document.into_value(), &ColumnType::new(TypeKind::Text(types::LobSize::Long)), node)
}

/// What MySQL calls an expression that is a document: a column or a function by its name.
#[cold]
fn name_of(env: &Env<'_>, arg: &Expr) -> String {
    let printed = env.print(arg);
    match &arg.kind {
        ExprKind::Cast(_) => "cast_as_json".to_owned(),
        ExprKind::Call { .. } => printed.split('(').next().unwrap_or_default().to_owned(),
        _ => printed.rsplit('.').next().unwrap_or_default().trim_matches('`').to_owned(),
    }
}

/// CAST(... AS JSON): documents stay, texts are parsed, all else is a scalar.
fn json<'a>(value: Value<'a>, from: &ColumnType, node: &Expr) -> Evaluated<'a> {
    if coerce::is_document(from) {
        return Ok(value);
    }
    let document = match &value {
        Value::Bytes(text) if !from.is_binary_string() => crate::function::parse_document(text, 1, "cast_as_json")?,
        other => match &node.kind {
            ExprKind::Cast(arg) => crate::function::document_of_expr(other, arg),
            _ => crate::function::document_of(other, from),
        },
    };
    Ok(Value::Bytes(Cow::Owned(document.to_binary())))
}

/// A value that is not NULL as the node's type.
fn converted<'a>(env: &Env<'a>, value: Value<'a>, from: &ColumnType, node: &'a Expr) -> Evaluated<'a> {
    match class(&node.ty) {
        Class::Integer => integer(env, &value, &node.ty),
        Class::Decimal => decimal(env, &value, node),
        Class::Double => {
            let x = env.as_double(&value)?;
            if node.ty.kind == TypeKind::Float && x.abs() > f32::MAX.into() {
                return Err(
                    Error::OutOfRange { what: "DOUBLE", expression: format!("cast({} as float)", env.print(node)) }.into()
                );
            }
            Ok(Value::Double(if node.ty.kind == TypeKind::Float { f64::from(x as f32) } else { x }))
        }
        Class::Json => {
            let document = json(value, from, node);
            types::work::finish()?;
            document
        }
        Class::String => text(env, value, from, &node.ty),
        Class::Date => {
            let mut warnings = Warnings::new();
            let context = coerce::store_context(env.session(), false);
            if let Some(date) =
                crate::function::month_and_day(&value).filter(|date| date.day <= 31 && !context.dates.no_zero_in_date)
            {
                return Ok(Value::Date(date));
            }
            let date = convert::to_date(&coerce::without_time(value), from, &context, &mut warnings);
            env.report(warnings)?;
            Ok(date.map_or(Value::Null, Value::Date))
        }
        Class::DateTime => {
            let fsp = fsp(&node.ty);
            let truncate = env.session().sql_mode.time_truncate_fractional;
            Ok(env.as_datetime(&value)?.and_then(|d| d.to_fsp(fsp, truncate)).map_or(Value::Null, Value::DateTime))
        }
        Class::Time => {
            let truncate = env.session().sql_mode.time_truncate_fractional;
            Ok(env.as_time(&value)?.map_or(Value::Null, |t| Value::Time(t.to_fsp(fsp(&node.ty), truncate))))
        }
        Class::Null => Ok(value),
    }
}

fn fsp(ty: &ColumnType) -> u8 {
    match ty.kind {
        TypeKind::Time { fsp } | TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => fsp,
        _ => 0,
    }
}

fn integer<'a>(env: &Env<'a>, value: &Value<'a>, ty: &ColumnType) -> Evaluated<'a> {
    let mut warnings = Warnings::new();
    let whole = match value {
        Value::Time(time) if env.session().sql_mode.time_truncate_fractional => Some(Value::Time(time.to_fsp(0, true))),
        Value::DateTime(moment) if env.session().sql_mode.time_truncate_fractional => moment.to_fsp(0, true).map(Value::DateTime),
        _ => None,
    };
    let value = whole.as_ref().unwrap_or(value);
    let result = if ty.unsigned {
        Value::UInt(match value {
            Value::UInt(n) => *n,
            Value::Int(n) => *n as u64,
            Value::Double(x) => x.round_ties_even() as i64 as u64,
            other => convert::to_u64(other, &mut warnings),
        })
    } else {
        Value::Int(match value {
            Value::Int(n) => *n,
            Value::UInt(n) => *n as i64,
            other => convert::to_i64(other, &mut warnings),
        })
    };
    env.report(warnings)?;
    if ty.unsigned && matches!(value, Value::Bytes(text) if text.trim_ascii_start().starts_with(b"-")) && result != Value::UInt(0)
    {
        env.problem(Error::from(Condition::CastedNegativeInteger))?;
    }
    Ok(result)
}

fn decimal<'a>(env: &Env<'a>, value: &Value<'a>, node: &'a Expr) -> Evaluated<'a> {
    let TypeKind::Decimal { precision, scale } = node.ty.kind else { unreachable!("the kind is DECIMAL") };
    let d = env.as_decimal(value)?;
    match d.rescale(scale) {
        Ok(rounded) if rounded.fits(precision, scale) => Ok(Value::Decimal(rounded)),
        _ => {
            // As in MySQL, where only what is selected has a name.
            let column = if env.shared.is_strict() {
                "(null)".to_owned()
            } else {
                format!("cast({} as decimal({precision},{scale}))", env.print(node))
            };
            env.problem(Error::ColumnOutOfRange { column, row: 1 })?;
            Ok(Value::Decimal(Decimal::max_value(precision, scale, d.is_negative())))
        }
    }
}

/// Bytes are no text of the type's set.
#[cold]
fn invalid(env: &Env<'_>, bytes: &[u8], ty: &ColumnType) -> Step<()> {
    let value = types::convert::invalid_text(bytes);
    env.problem(Error::InvalidText { charset: coerce::charset_of(ty.collation), value })
}

fn text<'a>(env: &Env<'a>, value: Value<'a>, from: &ColumnType, ty: &ColumnType) -> Evaluated<'a> {
    let mut text = env.as_text(value, from)?;
    let target = Charset::of(ty.collation);
    if target == Charset::Binary {
        // Characters become the bytes of their set.
        text = coerce::encoded(text, from);
    } else if from.is_binary_string() {
        // Bytes become characters of the set; invalid bytes are an error below.
        if target.has_own_bytes() && !(target.has_ascii() && text.is_ascii()) {
            match target.decode(&text) {
                Some(decoded) => text = Cow::Owned(decoded.into_owned()),
                None => return invalid(env, &text, ty).map(|()| Value::Null),
            }
        }
    } else {
        text = target.narrow(text);
    }
    let binary = ty.collation == CollationId::BINARY;
    // Bytes used as text must be text.
    if !binary && std::str::from_utf8(&text).is_err() {
        invalid(env, &text, ty)?;
        if env.session().sql_mode.strict {
            return Ok(Value::Null);
        }
        let valid = std::str::from_utf8(&text).map_or_else(|error| error.valid_up_to(), str::len);
        text.to_mut().truncate(valid);
    }
    let length = match ty.kind {
        TypeKind::Char { length } | TypeKind::VarChar { length } => length as usize,
        TypeKind::Binary { length } | TypeKind::VarBinary { length } => length as usize,
        _ => return Ok(Value::Bytes(text)),
    };
    // A computed decimal may have more digits than its type declares.
    let is_whole = matches!(from.kind, TypeKind::Decimal { precision, .. } if length > precision.into());
    if !is_whole && text.len() > length && char_count(&text, binary) > length {
        let end = char_offset(&text, length, binary);
        let what = if binary { "BINARY" } else { "CHAR" };
        env.problem(Error::from(Condition::TruncatedWrongValue {
            kind: format!("{what}({length})").into(),
            value: (String::from_utf8_lossy(&text)).into(),
        }))?;
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
