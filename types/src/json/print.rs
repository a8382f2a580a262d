//! From documents to text, as MySQL prints them.

use super::{Json, VALUE_UNITS};
use crate::{convert, work};
use base64::Engine;

impl Json {
    /// Appends the text: a space after `,` and `:`, members in their order.
    pub fn write(&self, out: &mut Vec<u8>) {
        work::pass(VALUE_UNITS);
        match self {
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
                    quote(name, out);
                    out.extend_from_slice(b": ");
                    value.write(out);
                }
                out.push(b'}');
            }
            Json::String(text) => quote(text, out),
            Json::Date(_) | Json::Time(_) | Json::DateTime(_) | Json::Opaque(..) => {
                out.push(b'"');
                self.write_unquoted(out);
                out.push(b'"');
            }
            scalar => scalar.write_unquoted(out),
        }
    }

    pub fn to_text(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    /// Appends the text of a scalar without quotes: JSON_UNQUOTE. Arrays and objects print as they are.
    pub fn write_unquoted(&self, out: &mut Vec<u8>) {
        match self {
            Json::Null => out.extend_from_slice(b"null"),
            Json::Bool(true) => out.extend_from_slice(b"true"),
            Json::Bool(false) => out.extend_from_slice(b"false"),
            Json::Int(n) => out.extend_from_slice(itoa::Buffer::new().format(*n).as_bytes()),
            Json::UInt(n) => out.extend_from_slice(itoa::Buffer::new().format(*n).as_bytes()),
            Json::Double(x) => write_double(*x, out),
            Json::Decimal(d) => d.write(out),
            Json::String(text) => out.extend_from_slice(text.as_bytes()),
            Json::Date(d) => convert::write_date(*d, out),
            Json::Time(t) => convert::write_time(*t, 6, out),
            Json::DateTime(d) => convert::write_datetime(*d, 6, out),
            Json::Opaque(kind, bytes) => {
                out.extend_from_slice(format!("base64:type{kind}:").as_bytes());
                out.extend_from_slice(base64::engine::general_purpose::STANDARD.encode(bytes).as_bytes());
            }
            Json::Array(_) | Json::Object(_) => self.write(out),
        }
    }

    /// JSON_PRETTY: one item or member a line, two spaces a level.
    pub fn write_pretty(&self, level: usize, out: &mut Vec<u8>) {
        work::pass(VALUE_UNITS);
        let line = |level: usize, out: &mut Vec<u8>| {
            out.push(b'\n');
            out.resize(out.len() + 2 * level, b' ');
        };
        match self {
            Json::Array(items) if !items.is_empty() => {
                out.push(b'[');
                for (n, item) in items.iter().enumerate() {
                    if n > 0 {
                        out.push(b',');
                    }
                    line(level + 1, out);
                    item.write_pretty(level + 1, out);
                }
                line(level, out);
                out.push(b']');
            }
            Json::Object(members) if !members.is_empty() => {
                out.push(b'{');
                for (n, (name, value)) in members.iter().enumerate() {
                    if n > 0 {
                        out.push(b',');
                    }
                    line(level + 1, out);
                    quote(name, out);
                    out.extend_from_slice(b": ");
                    value.write_pretty(level + 1, out);
                }
                line(level, out);
                out.push(b'}');
            }
            other => other.write(out),
        }
    }
}

/// A double keeps a mark of being one: `1.0`, not `1`.
fn write_double(x: f64, out: &mut Vec<u8>) {
    let start = out.len();
    convert::write_f64(x, out);
    if !out[start..].iter().any(|b| matches!(b, b'.' | b'e')) {
        out.extend_from_slice(b".0");
    }
}

/// Appends a string with quotes, escaped as MySQL does.
pub fn quote(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    for b in text.bytes() {
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

/// Appends a member's name as in a path: without quotes if it is an identifier.
pub fn write_path(name: &str, out: &mut Vec<u8>) {
    out.push(b'.');
    let start = |c: char| c.is_alphabetic() || matches!(c, '_' | '$');
    let mut chars = name.chars();
    let plain = chars.next().is_some_and(start) && chars.all(|c| start(c) || c.is_numeric());
    if plain { out.extend_from_slice(name.as_bytes()) } else { quote(name, out) }
}
