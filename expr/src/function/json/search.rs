//! JSON_CONTAINS_PATH, JSON_SEARCH, JSON_VALUE, JSON_SCHEMA_VALID and its report.

use super::{answer, document, path, read_document};
use crate::class::{Class, class};
use crate::coerce;
use crate::error::Error;
use crate::eval::{Env, Evaluated, Step};
use crate::session::SessionVars;
use crate::tree::Expr;
use conditions::Condition;
use std::collections::HashSet;
use types::convert::{self, Warnings};
use types::json::{self, Json, Path, SchemaError};
use types::{CollationId, ColumnType, TypeKind, Value, work};

/// Work of looking at a value, in bytes of a plain copy (`types::work`).
const VALUE_UNITS: usize = 64;

/// The second argument of JSON_SEARCH and JSON_CONTAINS_PATH: is it `all`? `None` is NULL.
fn all_or_one<'a>(env: &Env<'a>, arg: &'a Expr, function: &str) -> Step<Option<bool>> {
    let Some(word) = env.text(arg)? else { return Ok(None) };
    match &*word {
        word if word.eq_ignore_ascii_case(b"all") => Ok(Some(true)),
        word if word.eq_ignore_ascii_case(b"one") => Ok(Some(false)),
        _ => Err(Error::from(Condition::JsonBadOneOrAllArg { function: function.into() }).into()),
    }
}

pub(super) fn contains_path<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(document) = document(env, args, 0, "json_contains_path")? else { return Ok(Value::Null) };
    let Some(all) = all_or_one(env, &args[1], "json_contains_path")? else { return Ok(Value::Null) };
    for arg in &args[2..] {
        let Some(path) = path(env, arg)? else { return Ok(Value::Null) };
        let mut found = Vec::new();
        path.find(&document, &mut found);
        if found.is_empty() == all {
            return Ok(Value::Int((!all).into()));
        }
    }
    Ok(Value::Int(all.into()))
}

/// Paths of strings, in the order of the document.
struct Finder<'p> {
    pattern: &'p [u8],
    escape: Option<u8>,
    all: bool,
    found: Vec<String>,
    /// Several paths may lead to one value: what has been found.
    known: Option<HashSet<String>>,
}

impl Finder<'_> {
    fn look(&mut self, value: &Json, at: &mut Vec<u8>) {
        if !self.all && !self.found.is_empty() || work::spend(VALUE_UNITS).is_err() {
            return;
        }
        match value {
            Json::String(text) => {
                let matches = types::collation::like(text.as_bytes(), self.pattern, self.escape, CollationId::UTF8MB4_BIN);
                if !matches {
                    return;
                }
                let path = String::from_utf8_lossy(at).into_owned();
                work::pass(path.len());
                if self.known.as_mut().is_none_or(|known| known.insert(path.clone())) {
                    self.found.push(path);
                }
            }
            Json::Array(items) => {
                for (n, item) in items.iter().enumerate() {
                    let length = at.len();
                    at.extend_from_slice(format!("[{n}]").as_bytes());
                    self.look(item, at);
                    at.truncate(length);
                }
            }
            Json::Object(members) => {
                for (name, member) in members {
                    let length = at.len();
                    json::write_path(name, at);
                    self.look(member, at);
                    at.truncate(length);
                }
            }
            _ => {}
        }
    }
}

/// Where each value of a document is that the path finds, with the path to it.
fn places<'j>(document: &'j Json, path: &Path) -> Vec<(Vec<u8>, &'j Json)> {
    let mut found = Vec::new();
    path.find(document, &mut found);
    let mut out = Vec::new();
    let wanted = found.into_iter().map(std::ptr::from_ref).collect();
    locate(document, &mut b"$".to_vec(), &wanted, &mut out);
    out
}

fn locate<'j>(value: &'j Json, at: &mut Vec<u8>, wanted: &HashSet<*const Json>, out: &mut Vec<(Vec<u8>, &'j Json)>) {
    work::pass(VALUE_UNITS);
    if wanted.contains(&std::ptr::from_ref(value)) {
        out.push((at.clone(), value));
    }
    let length = at.len();
    match value {
        Json::Array(items) => {
            for (n, item) in items.iter().enumerate() {
                at.extend_from_slice(format!("[{n}]").as_bytes());
                locate(item, at, wanted, out);
                at.truncate(length);
            }
        }
        Json::Object(members) => {
            for (name, member) in members {
                json::write_path(name, at);
                locate(member, at, wanted, out);
                at.truncate(length);
            }
        }
        _ => {}
    }
}

/// JSON_SEARCH(document, one or all, pattern [, escape [, path ...]])
pub(super) fn search<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let Some(document) = document(env, args, 0, "json_search")? else { return Ok(Value::Null) };
    let Some(all) = all_or_one(env, &args[1], "json_search")? else { return Ok(Value::Null) };
    let Some(pattern) = env.text(&args[2])? else { return Ok(Value::Null) };
    let escape = match args.get(3).map(|arg| env.text(arg)).transpose()?.flatten() {
        None => Some(b'\\'),
        Some(escape) => match &*escape {
            [] => Some(b'\\'),
            [one] => Some(*one),
            _ => return Err(Error::WrongArguments { function: "ESCAPE" }.into()),
        },
    };
    let known = (args.len() > 4).then(HashSet::new);
    let mut finder = Finder { pattern: &pattern, escape, all, found: Vec::new(), known };
    if args.len() <= 4 {
        finder.look(&document, &mut b"$".to_vec());
    }
    for arg in args.get(4..).unwrap_or(&[]) {
        let Some(path) = path(env, arg)? else { return Ok(Value::Null) };
        for (mut at, value) in places(&document, &path) {
            finder.look(value, &mut at);
        }
    }
    let mut found: Vec<Json> = finder.found.into_iter().map(Json::String).collect();
    match found.len() {
        0 => Ok(Value::Null),
        1 => answer(env, found.remove(0)),
        _ => answer(env, Json::Array(found)),
    }
}

/// What JSON_VALUE met.
enum Met<'a> {
    Value(Value<'a>),
    Empty,
    Error(Error),
}

/// JSON_VALUE; the binder says how the arguments are given.
pub(super) fn value<'a>(env: &Env<'a>, node: &'a Expr, args: &'a [Expr]) -> Evaluated<'a> {
    let document = env.eval(&args[0])?;
    if matches!(document, Value::Null) {
        return Ok(Value::Null);
    }
    let Some(path) = path(env, &args[1])? else { return Ok(Value::Null) };
    let met = match read_document(&document, &args[0].ty, 0, "json_value") {
        Ok(Some(document)) => find_value(env, node, &document, &path)?,
        Ok(None) => return Ok(Value::Null),
        Err(crate::eval::Pause::Error(error)) if matches!(*error, Error::InvalidJson { .. }) => Met::Error(*error),
        Err(pause) => return Err(pause),
    };
    let (error, on) = match met {
        Met::Value(value) => return Ok(value),
        Met::Empty => (Error::from(Condition::MissingJsonValue), &args[2..4]),
        Met::Error(error) => {
            if matches!(error, Error::InvalidJson { .. }) && matches!(env.integer(&args[4])?, Some(0)) {
                env.session().warn(error);
                return Ok(Value::Null);
            }
            (error, &args[4..6])
        }
    };
    match env.integer(&on[0])? {
        Some(0) => Ok(Value::Null),
        Some(1) => Err(error.into()),
        _ => env.eval(&on[1]),
    }
}

fn find_value<'a>(env: &Env<'a>, node: &'a Expr, document: &Json, path: &Path) -> Step<Met<'a>> {
    let mut found = Vec::new();
    path.find(document, &mut found);
    let one = match found.as_slice() {
        [] => return Ok(Met::Empty),
        [one] => *one,
        _ => {
            return Ok(Met::Error(Error::from(Condition::MultipleJsonValues)));
        }
    };
    if class(&node.ty) == Class::Json {
        return Ok(Met::Value(answer(env, one.clone())?));
    }
    match one {
        Json::Null => return Ok(Met::Value(Value::Null)),
        Json::Array(_) | Json::Object(_) if class(&node.ty) != Class::String => {
            return Ok(Met::Error(unsuitable(node)));
        }
        _ => {}
    }
    Ok(match scalar_of(env.session(), one, &node.ty) {
        Some(value) => Met::Value(value),
        None => Met::Error(unsuitable(node)),
    })
}

/// A document that is neither array nor null, as a value of this type; `None`: it does not fit.
pub fn scalar_of(session: &SessionVars, document: &Json, ty: &ColumnType) -> Option<Value<'static>> {
    let plain = match class(ty) {
        Class::String => {
            let mut text = Vec::new();
            document.write_unquoted(&mut text);
            Value::Bytes(text.into())
        }
        _ => document.clone().into_value(),
    };
    let from = ColumnType::new(TypeKind::Text(types::LobSize::Long));
    let context = coerce::store_context(session, true);
    Some(convert::store(&plain, &from, ty, &context, &mut Warnings::new()).ok()?.into_owned())
}

#[cold]
fn unsuitable(node: &Expr) -> Error {
    let what = match class(&node.ty) {
        Class::Integer if node.ty.kind == TypeKind::Year => "YEAR",
        Class::Integer if node.ty.unsigned => "UNSIGNED",
        Class::Integer => "SIGNED",
        Class::Decimal => "DECIMAL",
        Class::Double => "DOUBLE",
        Class::Date => "DATE",
        Class::Time => "TIME",
        Class::DateTime => "DATETIME",
        _ => "STRING",
    };
    Error::OutOfRange { what, expression: "json_value".into() }
}

/// JSON_SCHEMA_VALID(schema, document), or the report about it.
pub(super) fn schema<'a>(env: &Env<'a>, args: &'a [Expr], report: bool) -> Evaluated<'a> {
    let name = if report { "json_schema_validation_report" } else { "json_schema_valid" };
    let (schema, document) = (document(env, args, 0, name)?, document(env, args, 1, name)?);
    let (Some(schema), Some(document)) = (schema, document) else { return Ok(Value::Null) };
    let violation = match json::validate_schema(&schema, &document) {
        Ok(violation) => violation,
        Err(SchemaError::NotAnObject) => {
            return Err(Error::from(Condition::InvalidJsonType { name: name.into() }).into());
        }
        Err(SchemaError::TooDeep) => return Err(super::deep_json().into()),
        Err(SchemaError::RemoteReference) => {
            return Err(Error::NotSupported("references in JSON Schema".into()).into());
        }
    };
    if !report {
        return Ok(Value::Int(violation.is_none().into()));
    }
    let text = |s: &str| Json::String(s.to_owned());
    let members = match violation {
        None => vec![("valid".to_owned(), Json::Bool(true))],
        Some(v) => {
            let reason = format!(
                "The JSON document location '{}' failed requirement '{}' at JSON Schema location '{}'",
                v.document_location, v.keyword, v.schema_location
            );
            vec![
                ("valid".to_owned(), Json::Bool(false)),
                ("reason".to_owned(), text(&reason)),
                ("schema-location".to_owned(), text(&v.schema_location)),
                ("document-location".to_owned(), text(&v.document_location)),
                ("schema-failed-keyword".to_owned(), text(v.keyword)),
            ]
        }
    };
    answer(env, Json::object(members))
}
