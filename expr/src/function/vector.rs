//! Functions of vectors: MySQL's, and beside them those that MariaDB has under other names.

use super::row::{Places, functions, named};
use super::rules::{self, LONG, Typed, Typing};
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::func::Function;
use crate::tree::{Expr, ExprKind};
use crate::{Class, class};
use conditions::Condition;
use std::borrow::Cow;
use types::vector::{self, Metric};
use types::{CollationId, ColumnType, LobSize, TypeKind, Value};

functions! {
    Vector;

    TO_VECTOR = named(&[("TO_VECTOR", 1, 1), ("STRING_TO_VECTOR", 1, 1), ("VEC_FROMTEXT", 1, 1)]).typed(vector_type).texts(Places::NONE)
        => |env, _, args| to_vector(env, &args[0]);
    FROM_VECTOR = named(&[("FROM_VECTOR", 1, 1), ("VECTOR_TO_STRING", 1, 1)]).typed(text_type).texts(Places::NONE).length(|_| LONG / 4)
        => |env, _, args| Ok(operand(env, &args[0], "from_vector")?.map_or(Value::Null, |bytes| owned(vector::text(&bytes))));
    VEC_TOTEXT = named(&[("VEC_TOTEXT", 1, 1)]).typed(text_type).texts(Places::NONE).length(|_| LONG / 4)
        => |env, _, args| Ok(operand(env, &args[0], "vec_totext")?.map_or(Value::Null, |bytes| owned(vector::short_text(&bytes))));
    VECTOR_DIM = named(&[("VECTOR_DIM", 1, 1)]).typed(rules::bigint).null(super::row::Null::AnyArgument).texts(Places::NONE).digits(10)
        => |env, _, args| dimensions(env, &args[0]);
    DISTANCE = named(&[("DISTANCE", 3, 3), ("VECTOR_DISTANCE", 3, 3)]).typed(rules::double).texts(Places::NONE)
        .note("also of vectors that are no columns; DOT is the dot product")
        => |env, _, args| distance(env, args);
    VEC_DISTANCE_EUCLIDEAN = named(&[("VEC_DISTANCE_EUCLIDEAN", 2, 2)]).typed(rules::double).texts(Places::NONE)
        => |env, node, args| apart(env, node, args, Metric::Euclidean);
    VEC_DISTANCE_COSINE = named(&[("VEC_DISTANCE_COSINE", 2, 2)]).typed(rules::double).texts(Places::NONE)
        => |env, node, args| apart(env, node, args, Metric::Cosine);
}

/// Functions that take vectors for arguments; to others a vector is a wrong argument (1210), as in MySQL.
const TAKERS: &[Function] = &[
    Function::TO_VECTOR,
    Function::FROM_VECTOR,
    Function::VEC_TOTEXT,
    Function::VECTOR_DIM,
    Function::DISTANCE,
    Function::VEC_DISTANCE_EUCLIDEAN,
    Function::VEC_DISTANCE_COSINE,
    Function::HEX,
    Function::TO_BASE64,
    Function::LENGTH,
    Function::CHAR_LENGTH,
    Function::BIT_LENGTH,
    Function::MD5,
    Function::SHA1,
    Function::SHA2,
    Function::CRC32,
    Function::COMPRESS,
    Function::AES_ENCRYPT,
    Function::ASCII,
    Function::ORD,
    Function::ISNULL,
    Function::IF,
    Function::IFNULL,
    Function::COALESCE,
    Function::NULLIF,
    Function::ANY_VALUE,
    Function::COERCIBILITY,
    Function::CHARSET,
    Function::COLLATION,
];

/// Does the function take vectors for arguments?
pub fn takes_vectors(function: Function) -> bool {
    TAKERS.contains(&function)
}

fn owned<'a>(text: String) -> Value<'a> {
    Value::Bytes(Cow::Owned(text.into_bytes()))
}

fn vector_type(_: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(ColumnType::new(TypeKind::Vector { dimensions: vector::DIMENSIONS_MAX }))
}

fn text_type(typing: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(ColumnType { collation: typing.literal_collation(), ..ColumnType::new(TypeKind::Text(LobSize::Long)) })
}

#[cold]
fn wrong_arguments(function: &str) -> crate::eval::Pause {
    Error::from(Condition::WrongArguments { what: function.into() }).into()
}

/// 6138 for a text that is no vector.
fn to_vector<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    if !matches!(class(&arg.ty), Class::String | Class::Null) {
        return Err(wrong_arguments("to_vector"));
    }
    let Some(text) = env.text(arg)? else { return Ok(Value::Null) };
    match vector::parse(&text) {
        Some(bytes) => Ok(Value::Bytes(Cow::Owned(bytes))),
        None => {
            let text = String::from_utf8_lossy(&text).into_owned();
            Err(Error::from(Condition::ToVectorConversion { text: text.into() }).into())
        }
    }
}

/// An argument that is a vector: a binary string of its size. `None` is NULL.
fn operand<'a>(env: &Env<'a>, arg: &'a Expr, function: &str) -> Step<Option<Cow<'a, [u8]>>> {
    let is_variable = matches!(arg.kind, ExprKind::UserVariable(_) | ExprKind::Param(_));
    match env.eval(arg)? {
        Value::Null => Ok(None),
        Value::Bytes(bytes)
            if (arg.ty.is_binary_string() || is_variable && class(&arg.ty) == Class::String)
                && vector::dimensions(&bytes).is_some() =>
        {
            Ok(Some(bytes))
        }
        _ => Err(wrong_arguments(function)),
    }
}

fn dimensions<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let bytes = operand(env, arg, "vector_dim")?;
    Ok(bytes.and_then(|bytes| vector::dimensions(&bytes)).map_or(Value::Null, |count| Value::Int(count.into())))
}

/// DISTANCE(a, b, metric): vectors of other lengths, and unknown metrics, are wrong arguments.
fn distance<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (a, b) = (operand(env, &args[0], "distance")?, operand(env, &args[1], "distance")?);
    let Some(name) = env.text(&args[2])? else { return Ok(Value::Null) };
    let metric = Metric::named(&name).ok_or_else(|| wrong_arguments("distance"))?;
    let (Some(a), Some(b)) = (a, b) else { return Ok(Value::Null) };
    if a.len() != b.len() {
        return Err(wrong_arguments("distance"));
    }
    Ok(metric.distance(&a, &b).map_or(Value::Null, Value::Double))
}

/// By what distance a call compares its vectors; `None`: by none that is known.
///
/// # Errors
/// Those of the argument that names it.
pub fn distance_of_call<'a>(env: &Env<'a>, call: &'a Expr) -> Step<Option<Metric>> {
    let ExprKind::Call { function, args } = &call.kind else { return Ok(None) };
    match (*function, args.get(2)) {
        (Function::VEC_DISTANCE_EUCLIDEAN, _) => Ok(Some(Metric::Euclidean)),
        (Function::VEC_DISTANCE_COSINE, _) => Ok(Some(Metric::Cosine)),
        (Function::DISTANCE, Some(name)) => Ok(env.text(name)?.and_then(|name| Metric::named(&name))),
        _ => Ok(None),
    }
}

/// MariaDB's: vectors of other lengths have no distance.
fn apart<'a>(env: &Env<'a>, node: &Expr, args: &'a [Expr], metric: Metric) -> Evaluated<'a> {
    let name = match &node.kind {
        ExprKind::Call { function, .. } => function.row().name.to_ascii_lowercase(),
        _ => String::new(),
    };
    let (Some(a), Some(b)) = (operand(env, &args[0], &name)?, operand(env, &args[1], &name)?) else { return Ok(Value::Null) };
    Ok(metric.distance(&a, &b).map_or(Value::Null, Value::Double))
}
