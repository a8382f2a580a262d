//! JSON documents as MySQL has them.
//!
//! A document has three forms:
//! - text, as clients write and read it: [`Json::parse`], [`Json::write`];
//! - a tree, [`Json`], on which the functions work;
//! - binary, as rows store it and values carry it: [`Json::to_binary`], [`Json::from_binary`], [`binary::lookup`].
//!
//! J1: an object's members are ordered by the length of their names in bytes, then by bytes; names are unique.
//! J2: a document is nested at most [`DEPTH_MAX`] deep, so code over documents may recurse.
//! J3: the first byte of a binary document is a tag from 0x80 to 0xBF, with which no UTF-8 text begins.

mod binary;
mod order;
mod parse;
mod path;
mod print;
mod schema;
mod table;
#[cfg(test)]
mod tests;

pub use binary::{Damaged, is_binary, lookup, write_text};
pub use parse::ParseError;
pub use path::{Leg, Path, Place};
pub use print::{quote, write_path};
pub use schema::{SchemaError, Violation, validate as validate_schema};
pub use table::{Cell as TableCell, Column as TableColumn, ColumnKind as TableColumnKind, Rows as TableRows, TooManyRows};

use crate::work;
use crate::{ColumnType, Date, DateTime, Decimal, Time, TypeKind, Value};
use std::cmp::Ordering;
use std::collections::HashSet;

/// Work of processing one value, in bytes of a plain copy (`work`).
const VALUE_UNITS: usize = 32;
/// Deepest nesting of arrays and objects.
pub const DEPTH_MAX: usize = 100;

/// One JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Double(f64),
    /// From a DECIMAL; texts have none.
    Decimal(Decimal),
    String(String),
    Date(Date),
    Time(Time),
    DateTime(DateTime),
    /// A binary string: MySQL's number of its original type, and the bytes.
    Opaque(u8, Vec<u8>),
    Array(Vec<Json>),
    /// J1
    Object(Vec<(String, Json)>),
}

/// MySQL's number of BIT, as in [`Json::Opaque`].
pub const TYPE_BIT: u8 = 16;
/// Of VARBINARY.
pub const TYPE_VARBINARY: u8 = 15;
/// Of the BLOBs.
pub const TYPE_BLOB: u8 = 252;

impl Json {
    /// A SQL value that is not a document as a scalar; NULL is JSON's null, comparisons and TRUE are booleans.
    pub fn from_value(value: &Value<'_>, ty: &ColumnType) -> Json {
        match value {
            Value::Null => Json::Null,
            Value::Int(n) => Json::Int(*n),
            Value::UInt(n) => match ty.kind {
                TypeKind::Bit { length } => {
                    let bytes = n.to_be_bytes();
                    Json::Opaque(TYPE_BIT, bytes[8 - usize::from(length.clamp(1, 64)).div_ceil(8)..].to_vec())
                }
                TypeKind::Year => Json::Int(*n as i64),
                // The wrong value.
                TypeKind::Enum { .. } => Json::String(String::new()),
                _ => Json::UInt(*n),
            },
            Value::Double(x) => Json::Double(*x),
            Value::Decimal(d) => Json::Decimal(*d),
            Value::Date(d) => Json::Date(*d),
            Value::Time(t) => Json::Time(*t),
            Value::DateTime(d) => Json::DateTime(*d),
            Value::Bytes(bytes) => match ty.kind {
                TypeKind::Binary { .. } => Json::Opaque(254, bytes.to_vec()),
                TypeKind::VarBinary { .. } => Json::Opaque(TYPE_VARBINARY, bytes.to_vec()),
                TypeKind::Blob(_) => Json::Opaque(TYPE_BLOB, bytes.to_vec()),
                _ => Json::String(String::from_utf8_lossy(bytes).into_owned()),
            },
        }
    }

    /// The document as a SQL value: scalars by their kind, arrays and objects as text.
    pub fn into_value(self) -> Value<'static> {
        match self {
            Json::Null => Value::Null,
            Json::Bool(truth) => Value::Int(truth.into()),
            Json::Int(n) => Value::Int(n),
            Json::UInt(n) => Value::UInt(n),
            Json::Double(x) => Value::Double(x),
            Json::Decimal(d) => Value::Decimal(d),
            Json::Date(d) => Value::Date(d),
            Json::Time(t) => Value::Time(t),
            Json::DateTime(d) => Value::DateTime(d),
            Json::String(text) => Value::Bytes(text.into_bytes().into()),
            Json::Opaque(_, bytes) => Value::Bytes(bytes.into()),
            container => Value::Bytes(container.to_text().into()),
        }
    }

    /// An object; of equal names the last one wins.
    pub fn object(mut members: Vec<(String, Json)>) -> Json {
        // The sort is stable.
        members.sort_by(|(a, _), (b, _)| order::names(a, b));
        let mut unique: Vec<(String, Json)> = Vec::with_capacity(members.len());
        for member in members {
            match unique.last_mut() {
                Some(last) if last.0 == member.0 => *last = member,
                _ => unique.push(member),
            }
        }
        Json::Object(unique)
    }

    pub fn member(&self, name: &str) -> Option<&Json> {
        let Json::Object(members) = self else { return None };
        let at = members.binary_search_by(|(n, _)| order::names(n, name)).ok()?;
        Some(&members[at].1)
    }

    /// Sets a member of an object; nothing for other values.
    pub fn set_member(&mut self, name: &str, value: Json) {
        let Json::Object(members) = self else { return };
        match members.binary_search_by(|(n, _)| order::names(n, name)) {
            Ok(at) => members[at].1 = value,
            Err(at) => members.insert(at, (name.to_owned(), value)),
        }
    }

    pub fn remove_member(&mut self, name: &str) {
        if let Json::Object(members) = self
            && let Ok(at) = members.binary_search_by(|(n, _)| order::names(n, name))
        {
            members.remove(at);
        }
    }

    /// JSON_TYPE
    pub fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "NULL",
            Json::Bool(_) => "BOOLEAN",
            Json::Int(_) => "INTEGER",
            Json::UInt(_) => "UNSIGNED INTEGER",
            Json::Double(_) => "DOUBLE",
            Json::Decimal(_) => "DECIMAL",
            Json::String(_) => "STRING",
            Json::Date(_) => "DATE",
            Json::Time(_) => "TIME",
            Json::DateTime(_) => "DATETIME",
            Json::Opaque(TYPE_BIT, _) => "BIT",
            Json::Opaque(15 | 249..=254, _) => "BLOB",
            Json::Opaque(..) => "OPAQUE",
            Json::Array(_) => "ARRAY",
            Json::Object(_) => "OBJECT",
        }
    }

    /// JSON_LENGTH
    pub fn length(&self) -> usize {
        match self {
            Json::Array(items) => items.len(),
            Json::Object(members) => members.len(),
            _ => 1,
        }
    }

    /// JSON_DEPTH
    pub fn depth(&self) -> usize {
        1 + match self {
            Json::Array(items) => items.iter().map(Json::depth).max().unwrap_or(0),
            Json::Object(members) => members.iter().map(|(_, value)| value.depth()).max().unwrap_or(0),
            _ => 0,
        }
    }

    pub fn is_scalar(&self) -> bool {
        !matches!(self, Json::Array(_) | Json::Object(_))
    }

    /// About how much memory the tree takes.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Json>()
            + match self {
                Json::String(text) => text.len(),
                Json::Opaque(_, bytes) => bytes.len(),
                Json::Array(items) => items.iter().map(Json::memory_bytes).sum(),
                Json::Object(members) => {
                    members.iter().map(|(name, value)| name.len() + size_of::<String>() + value.memory_bytes()).sum()
                }
                _ => 0,
            }
    }

    /// JSON_CONTAINS
    pub fn contains(&self, candidate: &Json) -> bool {
        match (self, candidate) {
            (Json::Object(_), Json::Object(wanted)) => {
                wanted.iter().all(|(name, value)| self.member(name).is_some_and(|mine| mine.contains(value)))
            }
            (Json::Array(items), Json::Array(wanted)) => {
                let mut scalars = None;
                wanted.iter().all(|value| match value {
                    Json::Array(_) | Json::Object(_) => items.iter().any(|item| item.contains(value)),
                    scalar if items.len() < SCANNED_MAX => items.iter().any(|item| item.contains(scalar)),
                    // The items of a long array are looked up in a set.
                    scalar => scalars.get_or_insert_with(|| scalars_in(items)).contains(&scalar.key()),
                })
            }
            (Json::Array(items), value) => items.iter().any(|item| item.contains(value)),
            (a, b) => work::spend(VALUE_UNITS).is_ok() && (a == b || a.compare(b).is_eq()),
        }
    }

    /// JSON_OVERLAPS: have arrays an item in common, objects a member; does an array hold a scalar?
    pub fn overlaps(&self, other: &Json) -> bool {
        match (self, other) {
            (Json::Array(a), Json::Array(b)) if a.len().min(b.len()) < SCANNED_MAX => {
                a.iter().any(|x| b.iter().any(|y| work::spend(VALUE_UNITS).is_ok() && x.compare(y).is_eq()))
            }
            (Json::Array(a), Json::Array(b)) => {
                let known: HashSet<Vec<u8>> = a.iter().map(Json::key).collect();
                b.iter().any(|item| known.contains(&item.key()))
            }
            (Json::Array(items), value) | (value, Json::Array(items)) => items.iter().any(|item| item.compare(value).is_eq()),
            (Json::Object(a), Json::Object(_)) => {
                a.iter().any(|(name, value)| other.member(name).is_some_and(|theirs| theirs.compare(value).is_eq()))
            }
            (a, b) => a.compare(b).is_eq(),
        }
    }

    /// JSON_MERGE_PRESERVE: arrays one after the other, members of objects merged, all else put into arrays.
    pub fn merge_preserve(self, other: Json) -> Json {
        match (self, other) {
            (Json::Object(mine), Json::Object(theirs)) => {
                Json::Object(merged(mine, theirs, |mine, theirs| match (mine, theirs) {
                    (Some(mine), Some(theirs)) => Some(mine.merge_preserve(theirs)),
                    (mine, theirs) => mine.or(theirs),
                }))
            }
            (a, b) => {
                let mut items = a.into_items();
                items.extend(b.into_items());
                Json::Array(items)
            }
        }
    }

    /// JSON_MERGE_PATCH (RFC 7396).
    pub fn merge_patch(self, patch: Json) -> Json {
        let Json::Object(changes) = patch else { return patch };
        let members = if let Json::Object(members) = self { members } else { Vec::new() };
        Json::Object(merged(members, changes, |old, change| match change {
            None => old,
            Some(Json::Null) => None,
            Some(change) => Some(old.unwrap_or(Json::Null).merge_patch(change)),
        }))
    }

    /// Bytes that are equal for documents that compare as equal.
    pub fn key(&self) -> Vec<u8> {
        let mut key = Vec::new();
        self.sort_key(&mut key);
        work::pass(VALUE_UNITS + key.len());
        key
    }

    /// An array's items; anything else is one.
    pub fn into_items(self) -> Vec<Json> {
        match self {
            Json::Array(items) => items,
            other => vec![other],
        }
    }
}

/// Shorter arrays are searched item by item.
const SCANNED_MAX: usize = 32;

/// The keys of the scalars in these items and in the arrays among them, as JSON_CONTAINS looks for one.
fn scalars_in(items: &[Json]) -> HashSet<Vec<u8>> {
    fn add(items: &[Json], out: &mut HashSet<Vec<u8>>) {
        for item in items {
            match item {
                Json::Array(items) => add(items, out),
                Json::Object(_) => {}
                scalar => drop(out.insert(scalar.key())),
            }
        }
    }
    let mut out = HashSet::new();
    add(items, &mut out);
    out
}

/// The members of two objects in order (J1); `join` decides about a name in the first, the second, or both.
fn merged(
    mine: Vec<(String, Json)>,
    theirs: Vec<(String, Json)>,
    join: impl Fn(Option<Json>, Option<Json>) -> Option<Json>,
) -> Vec<(String, Json)> {
    let mut out = Vec::with_capacity(mine.len().max(theirs.len()));
    let (mut mine, mut theirs) = (mine.into_iter().peekable(), theirs.into_iter().peekable());
    loop {
        let order = match (mine.peek(), theirs.peek()) {
            (None, None) => return out,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((a, _)), Some((b, _))) => order::names(a, b),
        };
        work::pass(VALUE_UNITS);
        let first = if order.is_le() { mine.next() } else { None };
        let second = if order.is_ge() { theirs.next() } else { None };
        let (name, first, second) = match (first, second) {
            (Some((name, first)), second) => (name, Some(first), second.map(|(_, second)| second)),
            (None, Some((name, second))) => (name, None, Some(second)),
            (None, None) => return out,
        };
        if let Some(value) = join(first, second) {
            out.push((name, value));
        }
    }
}
