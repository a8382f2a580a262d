//! JSON values as MySQL has them: parsing, printing, paths.
//!
//! An object's members are ordered by the length of their names, then by bytes, and of equal names the last counts. Integers stay
//! integers; numbers with a point or an exponent are doubles. Printing puts a space after `,` and `:`.

use crate::error::Error;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use types::Decimal;

/// One JSON value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Double(f64),
    /// From a DECIMAL argument; texts have none.
    Decimal(Decimal),
    String(String),
    Array(Vec<Json>),
    /// Sorted by (length, bytes) of the names, which are unique.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// Parses a text; the argument's number and the function's name go into the error.
    pub fn parse(text: &[u8], argument: usize, function: &'static str) -> Result<Json, Error> {
        serde_json::from_slice(text).map_err(|error| Error::InvalidJson {
            argument,
            function,
            why: reason(&error),
            position: position(text, &error),
        })
    }

    /// Parses a text, or `None`.
    pub fn parse_valid(text: &[u8]) -> Option<Json> {
        serde_json::from_slice(text).ok()
    }

    pub fn object(mut members: Vec<(String, Json)>) -> Json {
        // Stable: of equal names the last one wins.
        members.sort_by(|(a, _), (b, _)| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
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
        match self {
            Json::Object(members) => members.iter().find(|(n, _)| n == name).map(|(_, value)| value),
            _ => None,
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

    /// JSON_CONTAINS
    pub fn contains(&self, candidate: &Json) -> bool {
        match (self, candidate) {
            (Json::Object(_), Json::Object(wanted)) => {
                wanted.iter().all(|(name, value)| self.member(name).is_some_and(|mine| mine.contains(value)))
            }
            (Json::Array(items), Json::Array(wanted)) => wanted.iter().all(|value| items.iter().any(|item| item.contains(value))),
            (Json::Array(items), value) => items.iter().any(|item| item.contains(value)),
            (a, b) => a.equals(b),
        }
    }

    /// Equality of scalars (numbers by value) and, for the rest, of structure.
    fn equals(&self, other: &Json) -> bool {
        match (self.number(), other.number()) {
            (Some(a), Some(b)) => a == b,
            (None, None) => self == other,
            _ => false,
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Json::Int(n) => Some(*n as f64),
            Json::UInt(n) => Some(*n as f64),
            Json::Double(x) => Some(*x),
            Json::Decimal(d) => Some(d.to_f64()),
            _ => None,
        }
    }

    /// Appends the text as MySQL prints it.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Json::Null => out.extend_from_slice(b"null"),
            Json::Bool(true) => out.extend_from_slice(b"true"),
            Json::Bool(false) => out.extend_from_slice(b"false"),
            Json::Int(n) => out.extend_from_slice(n.to_string().as_bytes()),
            Json::UInt(n) => out.extend_from_slice(n.to_string().as_bytes()),
            Json::Double(x) => write_double(*x, out),
            Json::Decimal(d) => d.write(out),
            Json::String(s) => write_string(s, out),
            Json::Array(items) => {
                out.push(b'[');
                for (n, item) in items.iter().enumerate() {
                    if n > 0 {
                        out.extend_from_slice(b", ");
                    }
                    item.write(out);
                }
                out.push(b']');
            }
            Json::Object(members) => {
                out.push(b'{');
                for (n, (name, value)) in members.iter().enumerate() {
                    if n > 0 {
                        out.extend_from_slice(b", ");
                    }
                    write_string(name, out);
                    out.extend_from_slice(b": ");
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }

    pub fn to_text(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }
}

/// A double keeps a mark of being one: `1.0`, not `1`.
fn write_double(x: f64, out: &mut Vec<u8>) {
    let text = crate::coerce::double_text(x);
    out.extend_from_slice(text.as_bytes());
    if !text.contains(['.', 'e']) {
        out.extend_from_slice(b".0");
    }
}

/// Quoted and escaped as MySQL does.
pub(crate) fn write_string(s: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for b in s.bytes() {
        match b {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x0C => out.extend_from_slice(b"\\f"),
            0..0x20 => out.extend_from_slice(format!("\\u{b:04x}").as_bytes()),
            b => out.push(b),
        }
    }
    out.push(b'"');
}

fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.rfind(" at line").unwrap_or(text.len());
    text[..end].to_string()
}

fn position(text: &[u8], error: &serde_json::Error) -> usize {
    let lines = text.split(|b| *b == b'\n').take(error.line().saturating_sub(1));
    lines.map(|line| line.len() + 1).sum::<usize>() + error.column().saturating_sub(1)
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(i64::try_from(value).map_or(Json::UInt(value), Json::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Double(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_string()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Json::object(members))
    }
}

/// A path: `$`, then legs.
#[derive(Debug)]
pub(crate) struct Path {
    legs: Vec<Leg>,
}

#[derive(Debug)]
enum Leg {
    Member(String),
    AnyMember,
    /// Counted from the start.
    Item(usize),
    /// `last - n`
    FromLast(usize),
    AnyItem,
    /// `m to n`, both from the start or the end.
    Range(Place, Place),
    /// `**`
    Ellipsis,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Start(usize),
    Last(usize),
}

impl Place {
    fn index(self, length: usize) -> Option<usize> {
        match self {
            Place::Start(n) => Some(n),
            Place::Last(n) => length.checked_sub(n + 1),
        }
    }
}

impl Path {
    pub fn parse(text: &[u8]) -> Result<Path, Error> {
        let mut parser = PathParser { text, at: 0 };
        parser.parse().ok_or(Error::InvalidJsonPath { position: parser.at + 1 })
    }

    /// Could the path mean several values?
    pub fn is_many(&self) -> bool {
        self.legs.iter().any(|leg| matches!(leg, Leg::AnyMember | Leg::AnyItem | Leg::Range(..) | Leg::Ellipsis))
    }

    /// Appends what the path means in `value`.
    pub fn find<'j>(&self, value: &'j Json, out: &mut Vec<&'j Json>) {
        find(&self.legs, value, out);
    }
}

fn find<'j>(legs: &[Leg], value: &'j Json, out: &mut Vec<&'j Json>) {
    let Some((leg, rest)) = legs.split_first() else {
        // `**` may reach a value in two ways.
        if !out.iter().any(|found| std::ptr::eq(*found, value)) {
            out.push(value);
        }
        return;
    };
    let items = |value: &'j Json| match value {
        Json::Array(items) => items.as_slice(),
        // A scalar or an object is as an array of itself.
        other => std::slice::from_ref(other),
    };
    match leg {
        Leg::Member(name) => {
            if let Some(member) = value.member(name) {
                find(rest, member, out);
            }
        }
        Leg::AnyMember => {
            if let Json::Object(members) = value {
                members.iter().for_each(|(_, member)| find(rest, member, out));
            }
        }
        Leg::Item(n) => {
            if let Some(item) = items(value).get(*n) {
                find(rest, item, out);
            }
        }
        Leg::FromLast(n) => {
            let items = items(value);
            if let Some(item) = items.len().checked_sub(n + 1).map(|index| &items[index]) {
                find(rest, item, out);
            }
        }
        Leg::AnyItem => {
            if let Json::Array(items) = value {
                items.iter().for_each(|item| find(rest, item, out));
            }
        }
        Leg::Range(from, to) => {
            let items = items(value);
            let from = from.index(items.len()).unwrap_or(0);
            let to = to.index(items.len()).map_or(0, |to| (to + 1).min(items.len()));
            items.get(from..to).unwrap_or(&[]).iter().for_each(|item| find(rest, item, out));
        }
        Leg::Ellipsis => {
            find(rest, value, out);
            match value {
                Json::Array(items) => items.iter().for_each(|item| find(legs, item, out)),
                Json::Object(members) => members.iter().for_each(|(_, member)| find(legs, member, out)),
                _ => {}
            }
        }
    }
}

struct PathParser<'t> {
    text: &'t [u8],
    at: usize,
}

impl PathParser<'_> {
    fn parse(&mut self) -> Option<Path> {
        self.skip_space();
        self.expect(b'$')?;
        let mut legs = Vec::new();
        loop {
            self.skip_space();
            match self.text.get(self.at) {
                None => break,
                Some(b'.') => {
                    self.at += 1;
                    legs.push(self.member()?);
                }
                Some(b'[') => {
                    self.at += 1;
                    legs.push(self.item()?);
                }
                Some(b'*') if self.text.get(self.at + 1) == Some(&b'*') => {
                    self.at += 2;
                    legs.push(Leg::Ellipsis);
                }
                Some(_) => return None,
            }
        }
        // `**` may not be last.
        if matches!(legs.last(), Some(Leg::Ellipsis)) { None } else { Some(Path { legs }) }
    }

    fn skip_space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn expect(&mut self, b: u8) -> Option<()> {
        (self.text.get(self.at) == Some(&b)).then(|| self.at += 1)
    }

    fn member(&mut self) -> Option<Leg> {
        self.skip_space();
        match self.text.get(self.at)? {
            b'*' => {
                self.at += 1;
                Some(Leg::AnyMember)
            }
            b'"' => {
                let mut stream = serde_json::Deserializer::from_slice(&self.text[self.at..]).into_iter::<String>();
                let name = stream.next()?.ok()?;
                self.at += stream.byte_offset();
                Some(Leg::Member(name))
            }
            _ => {
                let start = self.at;
                let part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$') || *b >= 0x80;
                while self.text.get(self.at).is_some_and(part) {
                    self.at += 1;
                }
                let name = std::str::from_utf8(&self.text[start..self.at]).ok()?;
                let valid = !name.is_empty() && !name.as_bytes()[0].is_ascii_digit();
                valid.then(|| Leg::Member(name.to_string()))
            }
        }
    }

    fn item(&mut self) -> Option<Leg> {
        self.skip_space();
        let leg = if self.text.get(self.at) == Some(&b'*') {
            self.at += 1;
            Leg::AnyItem
        } else {
            let from = self.place()?;
            self.skip_space();
            if self.text[self.at..].starts_with(b"to") {
                self.at += 2;
                self.skip_space();
                Leg::Range(from, self.place()?)
            } else {
                match from {
                    Place::Start(n) => Leg::Item(n),
                    Place::Last(n) => Leg::FromLast(n),
                }
            }
        };
        self.skip_space();
        self.expect(b']')?;
        Some(leg)
    }

    fn place(&mut self) -> Option<Place> {
        if !self.text[self.at..].starts_with(b"last") {
            return self.number().map(Place::Start);
        }
        self.at += 4;
        self.skip_space();
        if self.expect(b'-').is_none() {
            return Some(Place::Last(0));
        }
        self.skip_space();
        self.number().map(Place::Last)
    }

    fn number(&mut self) -> Option<usize> {
        let start = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        std::str::from_utf8(&self.text[start..self.at]).ok()?.parse::<u32>().ok().map(|n| n as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse_valid(text.as_bytes()).expect("valid JSON")
    }

    #[test]
    fn prints_as_mysql() {
        let check = |text: &str, expected: &str| assert_eq!(json(text).to_text(), expected.as_bytes());
        check(r#"{"bb":1,"a":[1,2.0,"x\n"],"a":null}"#, r#"{"a": null, "bb": 1}"#);
        check(r#"[1,-1,18446744073709551615,1.5,true,false,null]"#, "[1, -1, 18446744073709551615, 1.5, true, false, null]");
        check(r#""\u00e4\u0001""#, "\"ä\\u0001\"");
    }

    #[test]
    fn paths() {
        let value = json(r#"{"a": [1, {"b": 2}, 3], "b": {"c d": 4}}"#);
        let check = |path: &str, expected: &[&str]| {
            let mut found = Vec::new();
            Path::parse(path.as_bytes()).expect(path).find(&value, &mut found);
            let found: Vec<String> = found.iter().map(|j| String::from_utf8(j.to_text()).expect("text")).collect();
            assert_eq!(found, expected, "{path}");
        };
        check("$.a[0]", &["1"]);
        check("$.a[last]", &["3"]);
        check("$.a[last-1].b", &["2"]);
        check("$.a[1 to 2]", &["{\"b\": 2}", "3"]);
        check("$.b.\"c d\"", &["4"]);
        check("$**.b", &["{\"c d\": 4}", "2"]);
        check("$.a[*]", &["1", "{\"b\": 2}", "3"]);
        check("$.x", &[]);
        assert!(Path::parse(b"$.").is_err());
        assert!(Path::parse(b"$**").is_err());
        assert!(Path::parse(b"a").is_err());
    }
}
