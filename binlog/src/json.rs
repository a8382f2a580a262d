//! Documents in MySQL's binary form, which rows of the binary log have (MySQL's source, `sql-common/json_binary.h`).
//!
//! ```text
//! document   type u8 | value
//! object     count | bytes | keys: offset, length u16 | values: type u8, offset or the value itself | keys | values
//! array      count | bytes | values: type u8, offset or the value itself | values
//! ```
//! Numbers of a small container have 2 bytes, of a large one 4. A container is small if all of it fits 64 KiB.

mod read;

use crate::row::put_decimal;
pub use read::read;
use types::json::Json;

const SMALL_OBJECT: u8 = 0;
const LARGE_OBJECT: u8 = 1;
const SMALL_ARRAY: u8 = 2;
const LARGE_ARRAY: u8 = 3;
const LITERAL: u8 = 4;
const INT16: u8 = 5;
const UINT16: u8 = 6;
const INT32: u8 = 7;
const UINT32: u8 = 8;
const INT64: u8 = 9;
const UINT64: u8 = 10;
const DOUBLE: u8 = 11;
const STRING: u8 = 12;
const OPAQUE: u8 = 15;

const TYPE_DATE: u8 = 10;
const TYPE_TIME: u8 = 11;
const TYPE_DATETIME: u8 = 12;
const TYPE_DECIMAL: u8 = 246;

/// Appends a document. (Its depth is bounded by `types::json::DEPTH_MAX`.)
pub fn put(out: &mut Vec<u8>, value: &Json) {
    out.push(0);
    let at = out.len() - 1;
    out[at] = put_value(out, value);
}

/// Appends a value without its type, which it returns.
fn put_value(out: &mut Vec<u8>, value: &Json) -> u8 {
    match value {
        Json::Null => literal(out, 0),
        Json::Bool(true) => literal(out, 1),
        Json::Bool(false) => literal(out, 2),
        Json::Int(v) => {
            if let Ok(v) = i16::try_from(*v) {
                out.extend_from_slice(&v.to_le_bytes());
                INT16
            } else if let Ok(v) = i32::try_from(*v) {
                out.extend_from_slice(&v.to_le_bytes());
                INT32
            } else {
                out.extend_from_slice(&v.to_le_bytes());
                INT64
            }
        }
        Json::UInt(v) => {
            if let Ok(v) = u16::try_from(*v) {
                out.extend_from_slice(&v.to_le_bytes());
                UINT16
            } else if let Ok(v) = u32::try_from(*v) {
                out.extend_from_slice(&v.to_le_bytes());
                UINT32
            } else {
                out.extend_from_slice(&v.to_le_bytes());
                UINT64
            }
        }
        Json::Double(v) => {
            out.extend_from_slice(&v.to_le_bytes());
            DOUBLE
        }
        Json::String(text) => {
            put_length(out, text.len());
            out.extend_from_slice(text.as_bytes());
            STRING
        }
        Json::Decimal(v) => {
            let precision = (v.precision().max(u32::from(v.scale())).max(1)) as u8;
            let mut bytes = vec![precision, v.scale()];
            put_decimal(&mut bytes, v, precision, v.scale());
            opaque(out, TYPE_DECIMAL, &bytes)
        }
        Json::Date(date) => opaque(out, TYPE_DATE, &((*date).at_midnight().pack() as i64).to_le_bytes()),
        Json::DateTime(moment) => opaque(out, TYPE_DATETIME, &(moment.pack() as i64).to_le_bytes()),
        Json::Time(time) => opaque(out, TYPE_TIME, &crate::row::packed_time(time.micros).to_le_bytes()),
        Json::Opaque(kind, bytes) => opaque(out, *kind, bytes),
        Json::Array(items) => container(out, Members::Array(items)),
        Json::Object(members) => container(out, Members::Object(members)),
    }
}

fn literal(out: &mut Vec<u8>, which: u8) -> u8 {
    out.push(which);
    LITERAL
}

fn opaque(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) -> u8 {
    out.push(kind);
    put_length(out, bytes.len());
    out.extend_from_slice(bytes);
    OPAQUE
}

/// Seven bits a byte, the lowest first; the top bit says that more follow.
fn put_length(out: &mut Vec<u8>, mut length: usize) {
    while length > 0x7f {
        out.push(length as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

#[derive(Clone, Copy)]
enum Members<'a> {
    Array(&'a [Json]),
    Object(&'a [(String, Json)]),
}

impl Members<'_> {
    fn count(&self) -> usize {
        match self {
            Self::Array(items) => items.len(),
            Self::Object(members) => members.len(),
        }
    }

    fn value(&self, index: usize) -> &Json {
        match self {
            Self::Array(items) => &items[index],
            Self::Object(members) => &members[index].1,
        }
    }
}

fn container(out: &mut Vec<u8>, members: Members<'_>) -> u8 {
    let start = out.len();
    if !try_container(out, members, false) {
        out.truncate(start);
        try_container(out, members, true);
        return if matches!(members, Members::Array(_)) { LARGE_ARRAY } else { LARGE_OBJECT };
    }
    if matches!(members, Members::Array(_)) { SMALL_ARRAY } else { SMALL_OBJECT }
}

/// `false`: it is too large for a small container.
fn try_container(out: &mut Vec<u8>, members: Members<'_>, large: bool) -> bool {
    let start = out.len();
    let width = if large { 4 } else { 2 };
    let put =
        |out: &mut [u8], at: usize, value: usize| out[at..at + width].copy_from_slice(&(value as u32).to_le_bytes()[..width]);
    let fits = |value: usize| large || value <= 0xffff;
    if !fits(members.count()) {
        return false;
    }
    let keys_at = start + 2 * width;
    let values_at = keys_at + if let Members::Object(_) = members { members.count() * (width + 2) } else { 0 };
    out.resize(values_at + members.count() * (width + 1), 0);
    put(out, start, members.count());
    if let Members::Object(named) = members {
        for (index, (name, _)) in named.iter().enumerate() {
            let offset = out.len() - start;
            if !fits(offset) {
                return false;
            }
            let entry = keys_at + index * (width + 2);
            put(out, entry, offset);
            out[entry + width..entry + width + 2].copy_from_slice(&(name.len() as u16).to_le_bytes());
            out.extend_from_slice(name.as_bytes());
        }
    }
    for index in 0..members.count() {
        let (entry, offset) = (values_at + index * (width + 1), out.len() - start);
        let value = members.value(index);
        let kind = put_value(out, value);
        out[entry] = kind;
        let is_inline = matches!(kind, LITERAL | INT16 | UINT16) || (large && matches!(kind, INT32 | UINT32));
        if is_inline {
            let bytes: Vec<u8> = out.drain(start + offset..).collect();
            out[entry + 1..entry + 1 + bytes.len()].copy_from_slice(&bytes);
            // A negative number fills its place.
            if kind == INT16 && large && bytes[1] & 0x80 != 0 {
                out[entry + 3..entry + 5].copy_from_slice(&[0xff, 0xff]);
            }
        } else if fits(offset) {
            put(out, entry + 1, offset);
        } else {
            return false;
        }
    }
    let bytes = out.len() - start;
    if !fits(bytes) {
        return false;
    }
    put(out, start + width, bytes);
    true
}

/// Appends a stored document, in either of the forms that a column may have.
///
/// # Errors
/// `None`: it is no document.
pub fn put_stored(out: &mut Vec<u8>, stored: &[u8]) -> Option<()> {
    let value = if types::json::is_binary(stored) { Json::from_binary(stored).ok()? } else { Json::parse(stored).ok()? };
    put(out, &value);
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use types::Decimal;

    fn binary(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        put_stored(&mut out, text.as_bytes()).expect("a document");
        out
    }

    #[test]
    fn documents_have_mysqls_form() {
        let check = |text: &str, expected: &[u8]| assert_eq!(binary(text), expected, "{text}");
        check("null", &[4, 0]);
        check("true", &[4, 1]);
        check("false", &[4, 2]);
        check("7", &[5, 7, 0]);
        check("-2", &[5, 0xfe, 0xff]);
        check("70000", &[7, 0x70, 0x11, 1, 0]);
        check("\"ab\"", &[12, 2, b'a', b'b']);
        check("[]", &[2, 0, 0, 4, 0]);
        check("{}", &[0, 0, 0, 4, 0]);
        check("[1, null]", &[2, 2, 0, 10, 0, 5, 1, 0, 4, 0, 0]);
        check("{\"a\": \"x\"}", &[0, 1, 0, 14, 0, 11, 0, 1, 0, 12, 12, 0, b'a', 1, b'x']);
    }

    #[test]
    fn large_documents_take_four_bytes() {
        let text = format!("[\"{}\", -1, 70000]", "x".repeat(70_000));
        let bytes = binary(&text);
        assert_eq!(bytes[0], LARGE_ARRAY);
        assert_eq!(&bytes[1..5], &[3, 0, 0, 0]);
        assert_eq!(u32::from_le_bytes(bytes[5..9].try_into().unwrap()) as usize, bytes.len() - 1);
        assert_eq!(&bytes[14..19], &[INT16, 0xff, 0xff, 0xff, 0xff]);
        assert_eq!(&bytes[19..24], &[INT32, 0x70, 0x11, 1, 0]);
    }

    #[test]
    fn long_strings_have_long_lengths() {
        let bytes = binary(&format!("\"{}\"", "y".repeat(300)));
        assert_eq!(&bytes[..3], &[STRING, 0xac, 2]);
    }

    #[test]
    fn decimals_are_opaque() {
        let mut out = Vec::new();
        put(&mut out, &Json::Decimal(Decimal::parse_exact("1.5").unwrap()));
        assert_eq!(out, [OPAQUE, TYPE_DECIMAL, 4, 2, 1, 0x81, 5]);
    }
}
