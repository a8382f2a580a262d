//! JSON_SCHEMA_VALID: validation by JSON Schema, draft 4. References to other documents are not followed.
//!
//! V1: references are followed a bounded number of times, so a schema that refers to itself ends. Beyond that the whole check ends: parts that
//!     each refer to the schema twice would otherwise be checked 2^64 times.

use super::{Json, VALUE_UNITS, write_path};
use crate::work;
use regex::Regex;
use std::cell::Cell;

/// Why a schema cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaError {
    NotAnObject,
    /// `$ref` to another document.
    RemoteReference,
    /// A chain of references does not end.
    TooDeep,
}

/// The first rule that a document breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Of the schema's part, as a fragment: `#/properties/a`.
    pub schema_location: String,
    /// Of the document's part, as a fragment.
    pub document_location: String,
    pub keyword: &'static str,
}

/// Work of compiling a pattern, in bytes of a plain copy (`work`).
const PATTERN_UNITS: usize = 1 << 13;
/// References that are followed on one way through a schema.
const REFERENCES_MAX: usize = 64;

/// Checks a document; `None`: it is valid.
pub fn validate(schema: &Json, document: &Json) -> Result<Option<Violation>, SchemaError> {
    let Json::Object(_) = schema else { return Err(SchemaError::NotAnObject) };
    if has_remote_reference(schema) {
        return Err(SchemaError::RemoteReference);
    }
    let validator = Validator { root: schema, is_over: Cell::new(false), is_too_deep: Cell::new(false) };
    let violation = validator.check(schema, document, &mut Place { schema: "#".into(), document: "#".into() }, 0).err();
    if validator.is_too_deep.get() { Err(SchemaError::TooDeep) } else { Ok(violation) }
}

fn has_remote_reference(schema: &Json) -> bool {
    match schema {
        Json::Object(members) => members.iter().any(|(name, value)| match value {
            Json::String(target) if name == "$ref" => !target.starts_with('#'),
            value => has_remote_reference(value),
        }),
        Json::Array(items) => items.iter().any(has_remote_reference),
        _ => false,
    }
}

struct Validator<'s> {
    root: &'s Json,
    /// The check was stopped, or is too deep: nothing more is checked.
    is_over: Cell<bool>,
    is_too_deep: Cell<bool>,
}

#[derive(Clone)]
struct Place {
    schema: String,
    document: String,
}

impl Place {
    fn broken(&self, keyword: &'static str) -> Violation {
        Violation { schema_location: self.schema.clone(), document_location: self.document.clone(), keyword }
    }

    fn below(&self, schema: &str, document: &str) -> Place {
        let join = |head: &str, tail: &str| if tail.is_empty() { head.to_owned() } else { format!("{head}/{tail}") };
        Place { schema: join(&self.schema, schema), document: join(&self.document, document) }
    }
}

type Checked = Result<(), Violation>;

impl Validator<'_> {
    fn check(&self, schema: &Json, value: &Json, place: &mut Place, references: usize) -> Checked {
        // A schema may ask for the same again and again, through references.
        if self.is_over.get() || work::spend(VALUE_UNITS + place.schema.len() + place.document.len()).is_err() {
            self.is_over.set(true);
            return Err(place.broken(""));
        }
        if let Some(Json::String(target)) = schema.member("$ref") {
            if references == REFERENCES_MAX {
                self.is_over.set(true);
                self.is_too_deep.set(true);
                return Err(place.broken(""));
            }
            let target = self.resolve(target);
            return target.map_or(Ok(()), |target| self.check(target, value, place, references + 1));
        }
        self.check_any(schema, value, place, references)?;
        match value {
            Json::Object(members) => self.check_object(schema, value, members, place, references),
            Json::Array(items) => self.check_array(schema, items, place, references),
            Json::String(text) => check_string(schema, text, place),
            _ => check_number(schema, value, place),
        }
    }

    /// `#`, `#/definitions/a`
    fn resolve(&self, target: &str) -> Option<&Json> {
        let mut at = self.root;
        for step in target.strip_prefix('#')?.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            at = match at {
                Json::Array(items) => items.get(step.parse::<usize>().ok()?)?,
                object => object.member(&step)?,
            };
        }
        Some(at)
    }

    /// The rules for values of every type.
    fn check_any(&self, schema: &Json, value: &Json, place: &mut Place, references: usize) -> Checked {
        if let Some(Json::Array(allowed)) = schema.member("enum")
            && !allowed.iter().any(|item| item.compare(value).is_eq())
        {
            return Err(place.broken("enum"));
        }
        let valid = |part: &Json| self.check(part, value, &mut place.clone(), references).is_ok();
        if let Some(Json::Array(parts)) = schema.member("allOf")
            && !parts.iter().all(valid)
        {
            return Err(place.broken("allOf"));
        }
        if let Some(Json::Array(parts)) = schema.member("anyOf")
            && !parts.iter().any(valid)
        {
            return Err(place.broken("anyOf"));
        }
        if let Some(Json::Array(parts)) = schema.member("oneOf")
            && parts.iter().filter(|part| valid(part)).count() != 1
        {
            return Err(place.broken("oneOf"));
        }
        if let Some(part) = schema.member("not")
            && valid(part)
        {
            return Err(place.broken("not"));
        }
        let named = |name: &Json| matches!(name, Json::String(name) if is_type(value, name));
        let typed = match schema.member("type") {
            Some(Json::Array(names)) => names.iter().any(named),
            Some(name @ Json::String(_)) => named(name),
            _ => true,
        };
        if typed { Ok(()) } else { Err(place.broken("type")) }
    }

    fn check_object(
        &self,
        schema: &Json,
        value: &Json,
        members: &[(String, Json)],
        place: &mut Place,
        references: usize,
    ) -> Checked {
        if let Some(Json::Array(names)) = schema.member("required") {
            let there = |name: &Json| matches!(name, Json::String(name) if value.member(name).is_some());
            if !names.iter().all(there) {
                return Err(place.broken("required"));
            }
        }
        check_count(schema, "minProperties", "maxProperties", members.len(), place)?;
        if let Some(Json::Object(dependencies)) = schema.member("dependencies") {
            for (name, wanted) in dependencies.iter().filter(|(name, _)| value.member(name).is_some()) {
                let met = match wanted {
                    Json::Array(names) => names.iter().all(|n| matches!(n, Json::String(n) if value.member(n).is_some())),
                    part => self.check(part, value, &mut place.below(&format!("dependencies/{name}"), ""), references).is_ok(),
                };
                if !met {
                    return Err(place.broken("dependencies"));
                }
            }
        }
        let patterns: Vec<(Option<Regex>, &Json, &str)> = match schema.member("patternProperties") {
            Some(Json::Object(parts)) => parts.iter().map(|(p, part)| (pattern(p), part, p.as_str())).collect(),
            _ => Vec::new(),
        };
        for (name, member) in members {
            let mut known = false;
            if let Some(part) = schema.member("properties").and_then(|parts| parts.member(name)) {
                known = true;
                self.check(part, member, &mut place.below(&format!("properties/{name}"), name), references)?;
            }
            for (regex, part, text) in &patterns {
                if regex.as_ref().is_some_and(|regex| regex.is_match(name)) {
                    known = true;
                    self.check(part, member, &mut place.below(&format!("patternProperties/{text}"), name), references)?;
                }
            }
            match schema.member("additionalProperties") {
                Some(Json::Bool(false)) if !known => return Err(place.broken("additionalProperties")),
                Some(part @ Json::Object(_)) if !known => {
                    self.check(part, member, &mut place.below("additionalProperties", name), references)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_array(&self, schema: &Json, items: &[Json], place: &mut Place, references: usize) -> Checked {
        check_count(schema, "minItems", "maxItems", items.len(), place)?;
        if schema.member("uniqueItems") == Some(&Json::Bool(true)) {
            let mut keys: Vec<Vec<u8>> = items
                .iter()
                .map(|item| {
                    let mut key = Vec::new();
                    item.sort_key(&mut key);
                    key
                })
                .collect();
            keys.sort_unstable();
            if keys.windows(2).any(|pair| pair[0] == pair[1]) {
                return Err(place.broken("uniqueItems"));
            }
        }
        let parts = schema.member("items");
        for (n, item) in items.iter().enumerate() {
            let at = n.to_string();
            let part = match parts {
                Some(part @ Json::Object(_)) => Some((part, "items".to_owned())),
                Some(Json::Array(parts)) => match (parts.get(n), schema.member("additionalItems")) {
                    (Some(part), _) => Some((part, format!("items/{n}"))),
                    (None, Some(Json::Bool(false))) => return Err(place.broken("additionalItems")),
                    (None, Some(part @ Json::Object(_))) => Some((part, "additionalItems".to_owned())),
                    _ => None,
                },
                _ => None,
            };
            if let Some((part, name)) = part {
                self.check(part, item, &mut place.below(&name, &at), references)?;
            }
        }
        Ok(())
    }
}

fn is_type(value: &Json, name: &str) -> bool {
    match name {
        "null" => *value == Json::Null,
        "boolean" => matches!(value, Json::Bool(_)),
        "integer" => matches!(value, Json::Int(_) | Json::UInt(_)),
        "number" => matches!(value, Json::Int(_) | Json::UInt(_) | Json::Double(_) | Json::Decimal(_)),
        "string" => !matches!(value, Json::Null | Json::Bool(_) | Json::Array(_) | Json::Object(_)) && !is_type(value, "number"),
        "array" => matches!(value, Json::Array(_)),
        "object" => matches!(value, Json::Object(_)),
        _ => false,
    }
}

fn number(value: Option<&Json>) -> Option<f64> {
    Some(match value? {
        Json::Int(n) => *n as f64,
        Json::UInt(n) => *n as f64,
        Json::Double(x) => *x,
        Json::Decimal(d) => d.to_f64(),
        _ => return None,
    })
}

fn check_count(schema: &Json, least: &'static str, most: &'static str, count: usize, place: &Place) -> Checked {
    let count = count as f64;
    if number(schema.member(least)).is_some_and(|least| count < least) {
        return Err(place.broken(least));
    }
    if number(schema.member(most)).is_some_and(|most| count > most) { Err(place.broken(most)) } else { Ok(()) }
}

/// Compiled with a bound; a pattern that is none matches everything, as MySQL has it.
fn pattern(text: &str) -> Option<Regex> {
    work::pass(PATTERN_UNITS);
    regex::RegexBuilder::new(text).size_limit(1 << 20).build().ok()
}

fn check_string(schema: &Json, text: &str, place: &Place) -> Checked {
    work::pass(text.len());
    check_count(schema, "minLength", "maxLength", text.chars().count(), place)?;
    match schema.member("pattern") {
        Some(Json::String(wanted)) if pattern(wanted).is_some_and(|regex| !regex.is_match(text)) => Err(place.broken("pattern")),
        _ => Ok(()),
    }
}

fn check_number(schema: &Json, value: &Json, place: &Place) -> Checked {
    let Some(x) = number(Some(value)) else { return Ok(()) };
    let exclusive = |name| schema.member(name) == Some(&Json::Bool(true));
    if let Some(least) = schema.member("minimum").filter(|least| number(Some(least)).is_some()) {
        let order = value.compare(least);
        if order.is_lt() || order.is_eq() && exclusive("exclusiveMinimum") {
            return Err(place.broken("minimum"));
        }
    }
    if let Some(most) = schema.member("maximum").filter(|most| number(Some(most)).is_some()) {
        let order = value.compare(most);
        if order.is_gt() || order.is_eq() && exclusive("exclusiveMaximum") {
            return Err(place.broken("maximum"));
        }
    }
    match number(schema.member("multipleOf")) {
        Some(step) if step > 0.0 && (x / step).fract().abs() > 1e-9 => Err(place.broken("multipleOf")),
        _ => Ok(()),
    }
}

impl Violation {
    /// As a path of SQL: `$.a[0]`.
    pub fn document_path(&self) -> String {
        let mut out = b"$".to_vec();
        for step in self.document_location.split('/').skip(1) {
            write_path(step, &mut out);
        }
        String::from_utf8(out).expect("names are UTF-8")
    }
}
