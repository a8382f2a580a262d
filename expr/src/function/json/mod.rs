//! JSON_...: functions over documents. An argument that must be a document is one by its type, or a text that is parsed.
//!
//! - this file: making documents of values, asking about documents;
//! - `change`: JSON_SET and all that answer a changed document;
//! - `element`: the elements of arrays, for multi-valued indexes;
//! - `search`: JSON_SEARCH, JSON_VALUE, JSON_SCHEMA_VALID.

mod change;
pub(crate) mod element;
mod search;

use crate::class::{Class, class};
use crate::coerce;
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::function::row::{ANY, Null, Places, functions, named, of_grammar};
use crate::function::rules::{self, LONG, Typed, Typing};
use crate::tree::{Expr, ExprKind};
use crate::typing;
use conditions::Condition;
pub use search::scalar_of;
use std::borrow::Cow;
use types::json::{self, DEPTH_MAX, Json, Path};
use types::{CollationId, ColumnType, LobSize, TypeKind, Value, work};

/// Work of looking at a value, in bytes of a plain copy (`types::work`).
const VALUE_UNITS: usize = 64;

functions! {
    Json through super::finished;

    JSON_EXTRACT = named(&[("JSON_EXTRACT", 2, ANY)]).typed(rules::json).texts(Places::NONE) => |env, _, args| extract(env, args);
    JSON_UNQUOTE = named(&[("JSON_UNQUOTE", 1, 1)])
        .typed(|_, args, _| Ok(typing::string(typing::text_length(&args[0]), CollationId::UTF8MB4_BIN))).texts(Places::NONE)
        .length(|args| typing::text_length(&args[0]))
        => |env, _, args| unquote(env, &args[0]);
    JSON_VALID = named(&[("JSON_VALID", 1, 1)]).typed(rules::bigint) => |env, _, args| valid(env, &args[0]);
    JSON_OBJECT = named(&[("JSON_OBJECT", 0, ANY)]).typed(rules::json).texts(Places::NONE) => |env, _, args| object(env, args);
    JSON_ARRAY = named(&[("JSON_ARRAY", 0, ANY)]).typed(rules::json).texts(Places::NONE) => |env, _, args| array(env, args);
    JSON_LENGTH = named(&[("JSON_LENGTH", 1, 2)]).typed(rules::bigint).texts(Places::NONE) => |env, _, args| length(env, args);
    JSON_TYPE = named(&[("JSON_TYPE", 1, 1)]).typed(type_name_type).texts(Places::NONE) => |env, _, args| type_name(env, args);
    JSON_CONTAINS = named(&[("JSON_CONTAINS", 2, 3)]).typed(rules::bigint).texts(Places::NONE) => |env, _, args| contains(env, args);
    JSON_KEYS = named(&[("JSON_KEYS", 1, 2)]).typed(rules::json).texts(Places::NONE) => |env, _, args| keys(env, args);
    JSON_ARRAY_APPEND = named(&[("JSON_ARRAY_APPEND", 3, ANY)]).typed(rules::json).texts(Places::NONE)
        => |env, _, args| change::each_pair(env, args, "json_array_append", change::append);
    JSON_ARRAY_INSERT = named(&[("JSON_ARRAY_INSERT", 3, ANY)]).typed(rules::json).texts(Places::NONE)
        => |env, _, args| change::each_pair(env, args, "json_array_insert", change::insert_item);
    JSON_CONTAINS_PATH = named(&[("JSON_CONTAINS_PATH", 3, ANY)]).typed(rules::bigint).texts(Places::NONE)
        => |env, _, args| search::contains_path(env, args);
    JSON_DEPTH = named(&[("JSON_DEPTH", 1, 1)]).typed(rules::bigint)
        => |env, _, args| Ok(document(env, args, 0, "json_depth")?.map_or(Value::Null, |j| Value::Int(j.depth() as i64)));
    JSON_INSERT = named(&[("JSON_INSERT", 3, ANY)]).typed(rules::json).texts(Places::NONE)
        => |env, _, args| change::each_pair(env, args, "json_insert", |d, path, value| change::put(d, path, value, false, true));
    JSON_MERGE = named(&[("JSON_MERGE", 2, ANY)]).typed(rules::json).texts(Places::NONE) => |env, _, args| change::merge(env, args);
    JSON_MERGE_PATCH = named(&[("JSON_MERGE_PATCH", 2, ANY)]).typed(rules::json).texts(Places::NONE)
        => |env, _, args| change::merge_patch(env, args);
    JSON_MERGE_PRESERVE = named(&[("JSON_MERGE_PRESERVE", 2, ANY)]).typed(rules::json).texts(Places::NONE)
        => |env, _, args| change::merge_preserve(env, args, "json_merge_preserve");
    /// `CAST(document AS type ARRAY)`: the document, and a value of the type.
    CAST_ARRAY = of_grammar("CAST_ARRAY").typed(rules::json) => |env, _, args| element::cast(env, args);
    /// `value MEMBER OF(array)`
    JSON_MEMBER_OF = of_grammar("JSON_MEMBER_OF").typed(rules::boolean) => |env, _, args| member_of(env, args);
    JSON_OVERLAPS = named(&[("JSON_OVERLAPS", 2, 2)]).typed(rules::boolean).null(Null::AnyArgument).texts(Places::NONE)
        => |env, _, args| overlaps(env, args);
    JSON_PRETTY = named(&[("JSON_PRETTY", 1, 1)])
        .typed(|_, _, _| Ok(ColumnType { collation: CollationId::UTF8MB4_BIN, ..ColumnType::new(TypeKind::Text(LobSize::Long)) }))
        .texts(Places::NONE).length(|_| LONG)
        => |env, _, args| pretty(env, args);
    JSON_QUOTE = named(&[("JSON_QUOTE", 1, 1)]).typed(quoted_type).texts(Places::NONE)
        .length(|args| typing::text_length(&args[0]).saturating_mul(6).saturating_add(2))
        => |env, _, args| quote(env, &args[0]);
    JSON_REMOVE = named(&[("JSON_REMOVE", 2, ANY)]).typed(rules::json).texts(Places::NONE) => |env, _, args| change::remove(env, args);
    JSON_REPLACE = named(&[("JSON_REPLACE", 3, ANY)]).typed(rules::json).texts(Places::NONE)
        => |env, _, args| change::each_pair(env, args, "json_replace", |d, path, value| change::put(d, path, value, true, false));
    JSON_SCHEMA_VALIDATION_REPORT = named(&[("JSON_SCHEMA_VALIDATION_REPORT", 2, 2)]).typed(rules::json)
        => |env, _, args| search::schema(env, args, true);
    JSON_SCHEMA_VALID = named(&[("JSON_SCHEMA_VALID", 2, 2)]).typed(rules::boolean).null(Null::AnyArgument)
        => |env, _, args| search::schema(env, args, false);
    JSON_SEARCH = named(&[("JSON_SEARCH", 3, ANY)]).typed(rules::json).texts(Places::NONE) => |env, _, args| search::search(env, args);
    JSON_SET = named(&[("JSON_SET", 3, ANY)]).typed(rules::json).texts(Places::NONE)
        => |env, _, args| change::each_pair(env, args, "json_set", |d, path, value| change::put(d, path, value, true, true));
    JSON_STORAGE_FREE = named(&[("JSON_STORAGE_FREE", 1, 1)]).typed(rules::bigint).note("always 0")
        => |env, _, args| Ok(document(env, args, 0, "json_storage_free")?.map_or(Value::Null, |_| Value::Int(0)));
    JSON_STORAGE_SIZE = named(&[("JSON_STORAGE_SIZE", 1, 1)]).typed(rules::bigint).note("of Heddle's format")
        => |env, _, args| storage_size(env, args);
    /// `JSON_VALUE(document, path RETURNING type ON EMPTY ON ERROR)`: document, path, and two words or values; the type is the node's.
    JSON_VALUE = of_grammar("JSON_VALUE").typed(rules::bigint) => search::value;
}

fn array<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let items = args.iter().map(|arg| json_value(env, arg)).collect::<Step<Vec<Json>>>()?;
    answer(env, Json::Array(items))
}

fn type_name<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let document = document(env, args, 0, "json_type")?;
    Ok(document.map_or(Value::Null, |j| Value::Bytes(Cow::Borrowed(j.type_name().as_bytes()))))
}

fn pretty<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(document) = document(env, args, 0, "json_pretty")? else { return Ok(Value::Null) };
    let mut out = Vec::new();
    document.write_pretty(0, &mut out);
    Ok(Value::Bytes(Cow::Owned(out)))
}

fn storage_size<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let document = document(env, args, 0, "json_storage_size")?;
    Ok(document.map_or(Value::Null, |j| Value::Int(j.to_binary().len() as i64)))
}

/// The type of JSON_TYPE.
fn type_name_type(typing: &dyn Typing, _: &[Expr], _: CollationId) -> Typed {
    Ok(ColumnType { collation: CollationId::UTF8MB4_BIN, ..typing::string(17, typing.literal_collation()) })
}

/// The type of JSON_QUOTE.
fn quoted_type(_: &dyn Typing, args: &[Expr], _: CollationId) -> Typed {
    let length = typing::text_length(&args[0]) * 6 + 2;
    Ok(ColumnType { collation: CollationId::UTF8MB4_BIN, ..typing::string(length, CollationId::UTF8MB4_BIN) })
}

/// A document as a value of a JSON type.
fn answer<'a>(env: &Env<'a>, document: Json) -> Evaluated<'a> {
    if document.depth() > DEPTH_MAX {
        return Err(deep_json().into());
    }
    let binary = document.to_binary();
    if binary.len() > env.session().packet_bytes_max {
        return Err(Error::from(Condition::WarnAllowedPacketOverflowed {
            function: "json_binary::serialize".into(),
            limit: env.session().packet_bytes_max.into(),
        })
        .into());
    }
    Ok(Value::Bytes(Cow::Owned(binary)))
}

#[cold]
pub fn deep_json() -> Error {
    Error::from(Condition::JsonDocumentTooDeep)
}

#[cold]
pub fn binary_json() -> Error {
    Error::from(Condition::InvalidJsonCharset)
}

#[cold]
pub fn null_member_name() -> Error {
    Error::from(Condition::JsonDocumentNullKey)
}

/// Parses a text that a function got as argument `argument`.
pub(crate) fn parse_document(text: &[u8], argument: usize, function: &'static str) -> Result<Json, Error> {
    let parsed = Json::parse(text);
    work::finish()?;
    parsed.map_err(|error| match error.why {
        Some(why) => Error::InvalidJson { argument, function, why: why.into(), position: error.position },
        None => deep_json(),
    })
}

/// A value of this type as a document: documents as they are, all else as scalars.
pub(crate) fn document_of(value: &Value<'_>, ty: &ColumnType) -> Json {
    match value {
        Value::Bytes(bytes) if coerce::is_document(ty) => Json::from_binary(bytes).unwrap_or(Json::Null),
        Value::Bytes(bytes) if ty.is_geometry() => types::geometry::as_document(bytes),
        value => Json::from_value(value, ty),
    }
}

/// As [`document_of`], of an expression's value: comparisons and logic are true and false.
pub(crate) fn document_of_expr(value: &Value<'_>, expr: &Expr) -> Json {
    match value {
        Value::Int(n) if expr.is_truth_value() => Json::Bool(*n != 0),
        Value::Bytes(bytes)
            if let TypeKind::Blob(size) = expr.ty.kind
                && !matches!(expr.kind, ExprKind::Column { .. }) =>
        {
            Json::Opaque(type_of_blob(size), bytes.to_vec())
        }
        value => document_of(value, &expr.ty),
    }
}

/// MySQL's number of a computed BLOB; columns have but one.
fn type_of_blob(size: LobSize) -> u8 {
    match size {
        LobSize::Tiny => 249,
        LobSize::Medium => 250,
        LobSize::Long => 251,
        LobSize::Regular => types::json::TYPE_BLOB,
    }
}

/// An argument as a JSON value: documents as they are, all else as scalars.
pub fn json_value<'a>(env: &Env<'a>, arg: &'a Expr) -> Step<Json> {
    let value = env.eval(arg)?;
    Ok(document_of_expr(&value, arg))
}

/// Argument `n` as a document; `None` is NULL.
fn document<'a>(env: &Env<'a>, args: &'a [Expr], n: usize, function: &'static str) -> Step<Option<Json>> {
    let arg = &args[n];
    let value = env.eval(arg)?;
    read_document(&value, &arg.ty, n, function)
}

pub fn read_document(value: &Value<'_>, ty: &ColumnType, n: usize, function: &'static str) -> Step<Option<Json>> {
    match value {
        Value::Null if matches!(class(ty), Class::String | Class::Json | Class::Null) => Ok(None),
        Value::Bytes(_) if coerce::is_document(ty) => Ok(Some(document_of(value, ty))),
        Value::Bytes(_) if ty.is_binary_string() => Err(binary_json().into()),
        Value::Bytes(text) => Ok(Some(parse_document(text, n + 1, function)?)),
        _ => Err(Error::from(Condition::InvalidTypeForJson { argument: (n + 1).into(), function: function.into() }).into()),
    }
}

/// An argument as a path; `None` is NULL.
fn path<'a>(env: &Env<'a>, arg: &'a Expr) -> Step<Option<Path>> {
    let Some(text) = env.text(arg)? else { return Ok(None) };
    Ok(Some(Path::parse(&text).map_err(|position| Error::InvalidJsonPath { position })?))
}

/// A path that means one value at most.
fn single_path<'a>(env: &Env<'a>, arg: &'a Expr) -> Step<Option<Path>> {
    match path(env, arg)? {
        Some(path) if path.is_many() => Err(Error::from(Condition::InvalidJsonPathWildcard).into()),
        path => Ok(path),
    }
}

/// What the paths find; one value for one simple path, else an array of all.
fn extract<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let value = env.eval(&args[0])?;
    if let ([_, only], Value::Bytes(bytes)) = (args, &value)
        && coerce::is_document(&args[0].ty)
        && json::is_binary(bytes)
    {
        let Some(path) = path(env, only)? else { return Ok(Value::Null) };
        // One value of a stored document is found in place.
        if !path.is_many() {
            let found = json::lookup(bytes, &path).unwrap_or(None);
            return Ok(found.map_or(Value::Null, |part| Value::Bytes(Cow::Owned(part.into_owned()))));
        }
    }
    let Some(document) = read_document(&value, &args[0].ty, 0, "json_extract")? else { return Ok(Value::Null) };
    let mut found = Vec::new();
    let mut many = args.len() > 2;
    for arg in &args[1..] {
        let Some(path) = path(env, arg)? else { return Ok(Value::Null) };
        many |= path.is_many();
        let mut here = Vec::new();
        path.find(&document, &mut here);
        work::finish()?;
        found.append(&mut here);
    }
    match (found.as_slice(), many) {
        ([], _) => Ok(Value::Null),
        ([one], false) => answer(env, (*one).clone()),
        (all, _) => answer(env, Json::Array(all.iter().map(|j| (*j).clone()).collect())),
    }
}

/// A scalar's text without quotes; texts that are no JSON string stay.
fn unquote<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let value = env.eval(arg)?;
    if coerce::is_document(&arg.ty) && !matches!(value, Value::Null) {
        let mut out = Vec::new();
        document_of(&value, &arg.ty).write_unquoted(&mut out);
        return Ok(Value::Bytes(Cow::Owned(out)));
    }
    let text = match value {
        Value::Null => return Ok(Value::Null),
        Value::Bytes(_) if arg.ty.is_binary_string() => return Err(binary_json().into()),
        Value::Bytes(text) => text,
        _ => return Err(wrong_type(1, "json_unquote")),
    };
    if text.len() < 2 || text.first() != Some(&b'"') || text.last() != Some(&b'"') {
        return Ok(Value::Bytes(text));
    }
    match parse_document(&text, 1, "json_unquote")? {
        Json::String(unquoted) => Ok(Value::Bytes(Cow::Owned(unquoted.into_bytes()))),
        _ => Ok(Value::Bytes(text)),
    }
}

#[cold]
fn wrong_type(argument: usize, function: &str) -> crate::eval::Pause {
    Error::from(Condition::IncorrectType { argument: argument.into(), function: function.into() }).into()
}

fn quote<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    let text = match env.eval(arg)? {
        Value::Null => return Ok(Value::Null),
        Value::Bytes(text) => text,
        _ => return Err(wrong_type(1, "json_quote")),
    };
    if coerce::is_document(&arg.ty) {
        return Err(wrong_type(1, "json_quote"));
    }
    if arg.ty.is_binary_string() {
        return Err(binary_json().into());
    }
    let mut out = Vec::with_capacity(text.len() + 2);
    json::quote(&String::from_utf8_lossy(&text), &mut out);
    Ok(Value::Bytes(Cow::Owned(out)))
}

fn valid<'a>(env: &Env<'a>, arg: &'a Expr) -> Evaluated<'a> {
    // Only texts and documents are looked at; a NULL of any other type is not a document either.
    if !matches!(class(&arg.ty), Class::String | Class::Json | Class::Null) {
        return Ok(Value::Int(0));
    }
    Ok(match env.eval(arg)? {
        Value::Null => Value::Null,
        Value::Bytes(_) if coerce::is_document(&arg.ty) => Value::Int(1),
        Value::Bytes(_) if arg.ty.is_binary_string() => Value::Int(0),
        Value::Bytes(text) => Value::Int(Json::parse(&text).is_ok().into()),
        _ => Value::Int(0),
    })
}

fn object<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    if !args.len().is_multiple_of(2) {
        return Err(Error::from(Condition::WrongParamCountToNativeFct { function: "json_object".into() }).into());
    }
    let mut members = Vec::with_capacity(args.len() / 2);
    for pair in args.chunks_exact(2) {
        if pair[0].ty.is_binary_string() && pair[0].ty.collation == CollationId::BINARY {
            return Err(binary_json().into());
        }
        let Some(name) = env.text(&pair[0])? else { return Err(null_member_name().into()) };
        members.push((String::from_utf8_lossy(&name).into_owned(), json_value(env, &pair[1])?));
    }
    answer(env, Json::object(members))
}

/// The part of the document that an optional path argument names; `None` is NULL.
fn part<'a>(env: &Env<'a>, args: &'a [Expr], path_argument: usize, function: &'static str) -> Step<Option<Json>> {
    let Some(document) = document(env, args, 0, function)? else { return Ok(None) };
    let Some(arg) = args.get(path_argument) else { return Ok(Some(document)) };
    let Some(path) = single_path(env, arg)? else { return Ok(None) };
    Ok(path.find_one(&document).cloned())
}

/// Several values that a path finds count as an array of them.
fn length<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(document) = document(env, args, 0, "json_length")? else { return Ok(Value::Null) };
    let Some(arg) = args.get(1) else { return Ok(Value::Int(document.length() as i64)) };
    let Some(path) = path(env, arg)? else { return Ok(Value::Null) };
    let mut found = Vec::new();
    path.find(&document, &mut found);
    Ok(match found.as_slice() {
        [] => Value::Null,
        [one] if !path.is_many() => Value::Int(one.length() as i64),
        all => Value::Int(all.len() as i64),
    })
}

fn contains<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(target) = document(env, args, 0, "json_contains")? else { return Ok(Value::Null) };
    let Some(candidate) = document(env, args, 1, "json_contains")? else { return Ok(Value::Null) };
    let Some(arg) = args.get(2) else { return Ok(Value::Int(target.contains(&candidate).into())) };
    let Some(path) = single_path(env, arg)? else { return Ok(Value::Null) };
    Ok(path.find_one(&target).map_or(Value::Null, |part| Value::Int(part.contains(&candidate).into())))
}

fn keys<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    match part(env, args, 1, "json_keys")? {
        Some(Json::Object(members)) => {
            answer(env, Json::Array(members.into_iter().map(|(name, _)| Json::String(name)).collect()))
        }
        _ => Ok(Value::Null),
    }
}

fn member_of<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let value = env.eval(&args[0])?;
    let array = document(env, args, 1, "member of")?;
    let (false, Some(array)) = (matches!(value, Value::Null), array) else { return Ok(Value::Null) };
    let value = document_of_expr(&value, &args[0]);
    let found = match &array {
        Json::Array(items) => items.iter().any(|item| {
            work::pass(VALUE_UNITS);
            item.compare(&value).is_eq()
        }),
        other => other.compare(&value).is_eq(),
    };
    Ok(Value::Int(found.into()))
}

fn overlaps<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (a, b) = (document(env, args, 0, "json_overlaps")?, document(env, args, 1, "json_overlaps")?);
    let (Some(a), Some(b)) = (a, b) else { return Ok(Value::Null) };
    Ok(Value::Int(a.overlaps(&b).into()))
}
