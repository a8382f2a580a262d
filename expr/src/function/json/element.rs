//! `CAST(document AS type ARRAY)`, and what a multi-valued index is asked for by a condition over the same document.

use super::{answer, document_of_expr, read_document};
use crate::class::{Class, class};
use crate::error::Error;
use crate::eval::{Env, Evaluated, Pause, Step};
use crate::tree::Expr;
use conditions::Condition;
use types::element::{ELEMENT_BYTES_MAX, ELEMENTS_MAX, ElementProblem, Sought};
use types::json::Json;
use types::{ColumnType, Value};

/// The different elements of a document, in order, as an array. The second argument is there for its type, that of the elements.
pub(super) fn cast<'a>(env: &Env<'a>, args: &'a [Expr]) -> Evaluated<'a> {
    let (document, element) = (document(env, &args[0])?, &args[1].ty);
    let Some(document) = document else { return Ok(Value::Null) };
    if matches!(document, Json::Object(_)) {
        return Err(Error::from(Condition::NotSupportedByMysql { what: "CAST-ing JSON OBJECT type to array".into() }).into());
    }
    let mut items = Vec::new();
    for item in document.into_items() {
        let value = item.as_element(element).map_err(|problem| Pause::from(told(problem)))?;
        types::work::pass(super::VALUE_UNITS);
        items.push(Json::from_value(&value, element));
    }
    items.sort_by(Json::compare);
    items.dedup_by(|a, b| a.compare(b).is_eq());
    let index = String::new();
    if items.len() > ELEMENTS_MAX {
        let count = (items.len() - ELEMENTS_MAX) as u64;
        return Err(Error::from(Condition::ExceededMvKeysNum { index: index.into(), count: count.into() }).into());
    }
    let bytes: usize = items.iter().map(element_bytes).sum();
    if bytes > ELEMENT_BYTES_MAX {
        let bytes = (bytes - ELEMENT_BYTES_MAX) as u64;
        return Err(Error::from(Condition::ExceededMvKeysSpace { index: index.into(), bytes: bytes.into() }).into());
    }
    answer(env, Json::Array(items))
}

fn document<'a>(env: &Env<'a>, arg: &'a Expr) -> Step<Option<Json>> {
    let value = env.eval(arg)?;
    match class(&arg.ty) {
        _ if value.is_null() => Ok(None),
        Class::String | Class::Json => read_document(&value, &arg.ty, 0, "cast_as_array"),
        _ => Ok(Some(document_of_expr(&value, arg))),
    }
}

fn element_bytes(item: &Json) -> usize {
    match item {
        Json::String(text) => text.len(),
        Json::Opaque(_, bytes) => bytes.len(),
        _ => 8,
    }
}

/// The error for an element; the index is filled in by [`Error::of_index`].
#[cold]
fn told(problem: ElementProblem) -> Error {
    let index = String::new();
    match problem {
        ElementProblem::Container => Error::from(Condition::WrongMviValue { index: index.into() }),
        ElementProblem::Invalid => Error::from(Condition::InvalidJsonValueForFuncIndex { index: index.into() }),
        ElementProblem::OutOfRange => Error::from(Condition::JsonValueOutOfRangeForFuncIndex { index: index.into() }),
        ElementProblem::TooLong => Error::from(Condition::FunctionalIndexDataIsTooLong { index: index.into() }),
        ElementProblem::ValueOutOfRange => Error::IndexOutOfRange { index, row: 0 },
        ElementProblem::Truncated => Error::IndexDataTruncated { index, row: 0 },
    }
}

/// The conditions over an indexed array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedOfArray {
    /// MEMBER OF: it has this element.
    Member,
    /// JSON_CONTAINS: it has all of these.
    All,
    /// JSON_OVERLAPS: it has one of these.
    Any,
}

/// The elements that a condition asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum ElementSearch {
    /// Rows may match whatever elements they have.
    Everything,
    /// Rows match only with one of these.
    Any(Vec<Value<'static>>),
    /// Rows match only with all of these, which are some.
    All(Vec<Value<'static>>),
}

/// What a condition over an indexed document asks for, with `constant` on the other side.
///
/// # Errors
/// The constant has to be waited for. Its errors are left to those who judge the condition.
pub fn search_elements<'a>(env: &Env<'a>, asked: AskedOfArray, constant: &'a Expr, element: &ColumnType) -> Step<ElementSearch> {
    let read = || -> Step<Option<Json>> {
        let value = env.eval(constant)?;
        if value.is_null() {
            return Ok(None);
        }
        match asked {
            AskedOfArray::Member => Ok(Some(document_of_expr(&value, constant))),
            _ => read_document(&value, &constant.ty, 0, "json_contains"),
        }
    };
    let document = match read() {
        Ok(Some(document)) => document,
        // NULL is the result for every row.
        Ok(None) => return Ok(ElementSearch::Any(Vec::new())),
        Err(Pause::Error(_)) => return Ok(ElementSearch::Everything),
        Err(pause) => return Err(pause),
    };
    Ok(match asked {
        AskedOfArray::Member if !document.is_scalar() => ElementSearch::Everything,
        AskedOfArray::Member => any(&[document], element),
        _ if matches!(document, Json::Object(_)) => ElementSearch::Everything,
        AskedOfArray::Any => any(&document.into_items(), element),
        AskedOfArray::All => all(&document.into_items(), element),
    })
}

fn any(items: &[Json], element: &ColumnType) -> ElementSearch {
    let mut values = Vec::new();
    for item in items {
        match item.sought(element) {
            Sought::Value(value) => values.push(value),
            Sought::Nothing => {}
            Sought::Unknown => return ElementSearch::Everything,
        }
    }
    ElementSearch::Any(values)
}

fn all(items: &[Json], element: &ColumnType) -> ElementSearch {
    let mut values = Vec::new();
    for item in items {
        match item.sought(element) {
            Sought::Value(value) => values.push(value),
            Sought::Nothing => return ElementSearch::Any(Vec::new()),
            Sought::Unknown => {}
        }
    }
    // An empty array is contained in every array.
    if values.is_empty() { ElementSearch::Everything } else { ElementSearch::All(values) }
}
