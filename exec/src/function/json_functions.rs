//! JSON_...: over texts that hold JSON.

use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::json::{Json, Path};
use sql::expr::Expr;
use sql::func::Function;
use std::borrow::Cow;
use types::{TypeKind, Value};

/// Computes one of the JSON functions.
pub(super) fn call<'a>(env: &Env<'a>, function: Function, args: &'a [Expr]) -> Evaluated<'a> {
    match function {
        Function::JsonExtract => extract(env, args),
        Function::JsonUnquote => unquote(env, &args[0]),
        Function::JsonValid => {
            Ok(env.text(&args[0])?.map_or(Value::Null, |s| Value::Int(Json::parse_valid(&s).is_some().into())))
        }
        Function::JsonObject => object(env, args),
        Function::JsonArray => array(env, args),
        Function::JsonLength => length(env, args),
        Function::JsonType => {
            Ok(document(env, args, 0, "json_type")?
                .map_or(Value::Null, |j| Value::Bytes(Cow::Borrowed(j.type_name().as_bytes()))))
        }
        Function::JsonContains => contains(env, args),
        Function::JsonKeys => keys(env, args),
        _ => unreachable!("{function:?} is not a JSON function"),
    }
}

fn text<'a>(json: &Json) -> Value<'a> {
    Value::Bytes(Cow::Owned(json.to_text()))
}

/// Argument `n` as a JSON document; `None` is NULL.
fn document<'a>(env: &Env<'a>, args: &'a [Expr], n: usize, function: &'static str) -> Step<Option<Json>> {
    let Some(s) = env.text(&args[n])? else { return Ok(None) };
    Ok(Some(Json::parse(&s, n + 1, function)?))
}

fn path<'a>(env: &Env<'a>, arg: &'a Expr) -> Step<Option<Path>> {
    let Some(s) = env.text(arg)? else { return Ok(None) };
    Ok(Some(Path::parse(&s)?))
}

/// What the paths find; one value for one simple path, else an array of all.
fn extract<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(json) = document(env, args, 0, "json_extract")? else { return Ok(Value::Null) };
    let mut found = Vec::new();
    let mut many = args.len() > 2;
    for arg in &args[1..] {
        let Some(path) = path(env, arg)? else { return Ok(Value::Null) };
        many |= path.is_many();
        path.find(&json, &mut found);
    }
    Ok(match (found.as_slice(), many) {
        ([], _) => Value::Null,
        ([one], false) => text(one),
        (all, _) => text(&Json::Array(all.iter().map(|j| (*j).clone()).collect())),
    })
}

fn unquote<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let Some(s) = env.text(arg)? else { return Ok(Value::Null) };
    if s.len() < 2 || s.first() != Some(&b'"') || s.last() != Some(&b'"') {
        return Ok(Value::Bytes(s));
    }
    match Json::parse(&s, 1, "json_unquote")? {
        Json::String(unquoted) => Ok(Value::Bytes(Cow::Owned(unquoted.into_bytes()))),
        _ => Ok(Value::Bytes(s)),
    }
}

/// An argument as a JSON value: JSON stays what it is, everything else becomes a scalar.
fn scalar<'a>(env: &Env<'a>, arg: &'a Expr) -> Step<Json> {
    let value = env.eval(arg)?;
    Ok(match value {
        Value::Null => Json::Null,
        Value::Int(n) if is_boolean(arg) => Json::Bool(n != 0),
        Value::Int(n) => Json::Int(n),
        Value::UInt(n) => i64::try_from(n).map_or(Json::UInt(n), Json::Int),
        Value::Double(x) => Json::Double(x),
        Value::Decimal(d) => Json::Decimal(d),
        Value::Bytes(s) if arg.ty.kind == TypeKind::Json => Json::parse(&s, 1, "json")?,
        Value::DateTime(d) => Json::String(crate::coerce::datetime_text(&d, 6)),
        Value::Time(t) => Json::String(crate::coerce::time_text(&t, 6)),
        other => Json::String(String::from_utf8_lossy(&env.as_text(other, &arg.ty)?).into_owned()),
    })
}

/// Comparisons and logic become JSON's true and false.
fn is_boolean(arg: &Expr) -> bool {
    use sql::expr::ExprKind as K;
    let logical = matches!(
        arg.kind,
        K::Compare { .. } | K::And(_) | K::Or(_) | K::Xor(..) | K::Not(_) | K::IsNull { .. } | K::IsTruth { .. }
    );
    logical || matches!(arg.kind, K::In { .. } | K::Between { .. } | K::Like { .. })
}

fn object<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let mut members = Vec::with_capacity(args.len() / 2);
    for pair in args.chunks_exact(2) {
        let Some(name) = env.text(&pair[0])? else {
            return Err(Error::Other { number: 3158, message: "JSON documents may not contain NULL member names.".into() }.into());
        };
        members.push((String::from_utf8_lossy(&name).into_owned(), scalar(env, &pair[1])?));
    }
    Ok(text(&Json::object(members)))
}

fn array<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let mut items = Vec::with_capacity(args.len());
    for arg in args {
        items.push(scalar(env, arg)?);
    }
    Ok(text(&Json::Array(items)))
}

/// The part of the document that an optional path argument names; `None` is NULL.
fn part<'a>(env: &Env<'a>, args: &'a [Expr], path_argument: usize, function: &'static str) -> Step<Option<Json>> {
    let Some(json) = document(env, args, 0, function)? else { return Ok(None) };
    let Some(arg) = args.get(path_argument) else { return Ok(Some(json)) };
    let Some(path) = path(env, arg)? else { return Ok(None) };
    let mut found = Vec::new();
    path.find(&json, &mut found);
    Ok(found.first().map(|j| (*j).clone()))
}

fn length<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    Ok(part(env, args, 1, "json_length")?.map_or(Value::Null, |j| Value::Int(j.length() as i64)))
}

fn contains<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(candidate) = document(env, args, 1, "json_contains")? else { return Ok(Value::Null) };
    let Some(target) = part(env, args, 2, "json_contains")? else { return Ok(Value::Null) };
    Ok(Value::Int(target.contains(&candidate).into()))
}

fn keys<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    Ok(match part(env, args, 1, "json_keys")? {
        Some(Json::Object(members)) => text(&Json::Array(members.into_iter().map(|(name, _)| Json::String(name)).collect())),
        _ => Value::Null,
    })
}
