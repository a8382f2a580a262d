//! Conversion to strings, ENUM, SET and JSON.

use super::text::fitted;
use super::{Problem, StoreContext, Warnings, write_text};
use crate::charset::Charset;
use crate::collation::{self, prefix_bytes, trim};
use crate::geometry::{self, GeometryKind};
use crate::json::{self, Json};
use crate::row::set_names;
use crate::vector;
use crate::{ColumnType, LobSize, TypeKind, Value};
use std::borrow::Cow;

/// Bytes or characters that a string column holds.
enum Limit {
    Characters(usize),
    Bytes(usize),
}

fn lob_bytes(size: LobSize) -> usize {
    match size {
        LobSize::Tiny => u8::MAX as usize,
        LobSize::Regular => u16::MAX as usize,
        LobSize::Medium => 0xff_ffff,
        LobSize::Long => u32::MAX as usize,
    }
}

fn text_of<'v>(value: &'v Value<'_>, from: &ColumnType) -> Cow<'v, [u8]> {
    match value {
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
        value => {
            // A BIT and a YEAR are kept as the numbers that they are.
            let number = ColumnType::unsigned(TypeKind::BigInt);
            let from = if matches!(from.kind, TypeKind::Bit { .. } | TypeKind::Year) { &number } else { from };
            let mut text = Vec::new();
            write_text(value, from, &mut text);
            Cow::Owned(text)
        }
    }
}

/// The text of a DOUBLE or FLOAT, rounded if it would exceed this number of characters.
fn number_text(number: f64, from: &ColumnType, most: usize) -> Cow<'static, [u8]> {
    let mut text = Vec::new();
    write_text(&Value::Double(number), from, &mut text);
    if text.len() > most
        && let Some(fitted) = fitted(number, from.kind == TypeKind::Float, most)
    {
        text = fitted;
    }
    Cow::Owned(text)
}

/// A string stored in a binary column becomes the bytes of its character set; bytes stored in a character column are
/// read in the column's set.
fn in_charset_of<'v>(text: Cow<'v, [u8]>, value: &Value<'_>, from: &ColumnType, to: &ColumnType) -> Cow<'v, [u8]> {
    if !matches!(value, Value::Bytes(_)) || from.kind == TypeKind::Null {
        return text;
    }
    let (own, wanted) = (Charset::of(from.collation), Charset::of(to.collation));
    if own == wanted || text.is_ascii() && own.has_ascii() && wanted.has_ascii() {
        return text;
    }
    match (own, wanted) {
        (_, Charset::Binary) if own.has_own_bytes() => Cow::Owned(own.encode(&text).into_owned()),
        (Charset::Binary, _) if wanted.has_own_bytes() && from.is_binary_string() => {
            // Bytes that are invalid in the set stay invalid.
            wanted.decode(&text).map(|text| Cow::Owned(text.into_owned())).unwrap_or(text)
        }
        _ => text,
    }
}

/// The first `end` bytes.
fn cut(text: Cow<'_, [u8]>, end: usize) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..end]),
        Cow::Owned(mut bytes) => {
            bytes.truncate(end);
            Cow::Owned(bytes)
        }
    }
}

pub(super) fn store_string<'v>(
    value: &'v Value<'_>,
    from: &ColumnType,
    to: &ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'v>, Problem> {
    if to.kind == TypeKind::Json {
        return store_json(value, from).map(Value::Bytes);
    }
    if let TypeKind::Geometry { kind, srid } = to.kind {
        return store_geometry(value, kind, srid).map(Value::Bytes);
    }
    if let TypeKind::Vector { dimensions } = to.kind {
        return store_vector(value, from, dimensions).map(Value::Bytes);
    }
    let text = match (value, &to.kind) {
        (
            Value::Double(number),
            TypeKind::Char { length }
            | TypeKind::VarChar { length }
            | TypeKind::Binary { length }
            | TypeKind::VarBinary { length },
        ) => number_text(*number, from, *length as usize),
        _ => in_charset_of(text_of(value, from), value, from, to),
    };
    let stored = match to.kind {
        TypeKind::Binary { length } => {
            let mut bytes = store_limited(text, Limit::Bytes(length as usize), false, context, warnings)?;
            if bytes.len() < length as usize {
                bytes.to_mut().resize(length as usize, 0);
            }
            bytes
        }
        TypeKind::VarBinary { length } => store_limited(text, Limit::Bytes(length as usize), false, context, warnings)?,
        TypeKind::Blob(size) => store_limited(text, Limit::Bytes(lob_bytes(size)), false, context, warnings)?,
        TypeKind::Char { length } => {
            let text = valid_text(text, to, context, warnings)?;
            // Trailing spaces do not count at all.
            let end = trim(&text).len();
            let kept = store_limited(cut(text, end), Limit::Characters(length as usize), true, context, warnings)?;
            let end = trim(&kept).len();
            cut(kept, end)
        }
        TypeKind::VarChar { length } => {
            let text = valid_text(text, to, context, warnings)?;
            store_limited(text, Limit::Characters(length as usize), true, context, warnings)?
        }
        TypeKind::Text(size) => {
            let text = valid_text(text, to, context, warnings)?;
            store_limited(text, Limit::Bytes(lob_bytes(size)), true, context, warnings)?
        }
        _ => text,
    };
    Ok(Value::Bytes(stored))
}

/// Bytes that are a geometry of the column's kind and reference system.
fn store_geometry<'v>(value: &'v Value<'_>, wanted: GeometryKind, srid: Option<u32>) -> Result<Cow<'v, [u8]>, Problem> {
    let Value::Bytes(bytes) = value else { return Err(Problem::NoGeometry) };
    let Some(kind) = geometry::kind_of(bytes).filter(|_| geometry::is_well_formed(bytes)) else {
        return Err(Problem::NoGeometry);
    };
    if !wanted.takes(kind) {
        return Err(Problem::NoGeometry);
    }
    match (geometry::srid_of(bytes), srid) {
        (Some(found), Some(wanted)) if found != wanted => Err(Problem::WrongSrid { found, wanted }),
        _ => Ok(Cow::Borrowed(bytes)),
    }
}

/// Bytes that are a vector of at most so many numbers.
fn store_vector<'v>(value: &'v Value<'_>, from: &ColumnType, dimensions: u32) -> Result<Cow<'v, [u8]>, Problem> {
    let refused = |kind: &'static str, bytes: usize| Err(Problem::NoVector { kind, bytes });
    let bytes = match value {
        Value::Bytes(bytes) if from.is_binary_string() => bytes,
        Value::Int(_) | Value::UInt(_) | Value::Double(_) => return refused("numeric", 8),
        Value::Decimal(_) => return refused("numeric", 64),
        _ => return refused("string", text_of(value, from).len()),
    };
    if vector::dimensions(bytes).is_none() {
        return refused("string", bytes.len());
    }
    if !vector::is_finite(bytes) {
        return refused("NAN or INF", bytes.len());
    }
    // Never cut, in no mode.
    if bytes.len() > dimensions as usize * vector::NUMBER_BYTES { Err(Problem::TooLong) } else { Ok(Cow::Borrowed(bytes)) }
}

fn store_limited<'v>(
    text: Cow<'v, [u8]>,
    limit: Limit,
    is_text: bool,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Cow<'v, [u8]>, Problem> {
    let mut end = match limit {
        Limit::Characters(most) => prefix_bytes(&text, most),
        Limit::Bytes(most) => text.len().min(most),
    };
    if end == text.len() {
        return Ok(text);
    }
    // Not within a character.
    while is_text && end > 0 && text[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    if is_text && text[end..].iter().all(|&b| b.is_ascii_whitespace() || b == 0x0b) {
        warnings.note(Problem::Truncated);
    } else {
        context.raise_as(|| Problem::TooLong, Problem::Truncated, warnings)?;
    }
    Ok(cut(text, end))
}

/// The first bytes that are no text, in hexadecimal, as messages show them.
#[cold]
pub fn invalid_text(bytes: &[u8]) -> String {
    let at = invalid_utf8(bytes).or_else(|| bytes.iter().position(|b| !b.is_ascii())).unwrap_or(0);
    bytes[at..].iter().take(6).map(|byte| format!("{byte:02X}")).collect()
}

/// The position of the first byte that is not valid UTF-8; `None`: all is valid.
pub fn invalid_utf8(text: &[u8]) -> Option<usize> {
    std::str::from_utf8(text).err().map(|error| error.valid_up_to())
}

fn valid_text<'v>(
    text: Cow<'v, [u8]>,
    to: &ColumnType,
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Cow<'v, [u8]>, Problem> {
    let charset = Charset::of(to.collation);
    if text.is_ascii() && (charset.has_ascii() || charset.is_wide()) {
        return Ok(text);
    }
    let invalid = match charset {
        Charset::Ascii => text.iter().position(|b| !b.is_ascii()),
        Charset::Utf8mb3 | Charset::Ucs2 => invalid_utf8(&text).or_else(|| text.iter().position(|&b| b >= 0xf0)),
        Charset::Utf8mb4 | Charset::Utf16 | Charset::Utf16le | Charset::Utf32 | Charset::Binary => invalid_utf8(&text),
        _ => invalid_utf8(&text).or_else(|| first_outside(&text, charset)),
    };
    let Some(at) = invalid else { return Ok(text) };
    context.raise(Problem::Incorrect { what: "string", text: bad_bytes(&text[at..]) }, warnings)?;
    // A character outside of the set becomes a question mark; an invalid byte ends the string.
    match std::str::from_utf8(&text) {
        Ok(_) => Ok(Cow::Owned(charset.narrow(text).into_owned())),
        Err(_) => Ok(cut(text, at)),
    }
}

/// The first character that the set does not have; the text is UTF-8.
fn first_outside(text: &[u8], charset: Charset) -> Option<usize> {
    std::str::from_utf8(text).ok()?.char_indices().find(|(_, c)| !charset.has(*c)).map(|(at, _)| at)
}

/// At most six bytes, as `\xNN` if they are not ASCII.
fn bad_bytes(bytes: &[u8]) -> Box<str> {
    let mut out = String::new();
    for &byte in bytes.iter().take(6) {
        if (0x20..0x7f).contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("\\x{byte:02X}"));
        }
    }
    if bytes.len() > 6 {
        out.push_str("...");
    }
    out.into()
}

pub(super) fn store_enum<'v>(
    value: &'v Value<'_>,
    from: &ColumnType,
    to: &'v ColumnType,
    members: &'v [String],
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'v>, Problem> {
    let by_number = |number: u64| usize::try_from(number).ok().filter(|&n| n >= 1 && n <= members.len());
    let found = match value {
        Value::Bytes(name) => member_position(trim(name), members, to)
            .map(|position| position + 1)
            .or_else(|| whole_number(trim(name), ENUM_NUMBER_BYTES).and_then(by_number)),
        Value::Int(v) => u64::try_from(*v).ok().and_then(by_number),
        Value::UInt(v) => by_number(*v),
        Value::Double(v) => by_number(*v as u64),
        Value::Decimal(v) => v.truncate(0).ok().and_then(|v| v.to_u64().ok()).and_then(by_number),
        value => member_position(&text_of(value, from), members, to).map(|position| position + 1),
    };
    match found {
        Some(ordinal) => Ok(Value::text(members[ordinal - 1].as_bytes())),
        None => {
            // The wrong value of another ENUM is one here, too, and nothing new; so is its number, written as a text.
            let is_zero = matches!(value, Value::Bytes(name) if whole_number(trim(name), ENUM_NUMBER_BYTES) == Some(0));
            if !is_zero && crate::row::enum_ordinal(from, value) != Some(0) {
                context.raise(Problem::Truncated, warnings)?;
            }
            Ok(crate::row::enum_value(to, 0).expect("0 is the wrong value of every ENUM"))
        }
    }
}

fn member_position(name: &[u8], members: &[String], to: &ColumnType) -> Option<usize> {
    members.iter().position(|member| collation::equal(member.as_bytes(), name, to.collation))
}

/// The longest texts that may be the number of a member, or the bits of several.
const ENUM_NUMBER_BYTES: usize = 5;
const SET_NUMBER_BYTES: usize = 21;

/// The number, if the string is nothing but a number of at most this many bytes.
fn whole_number(text: &[u8], bytes_max: usize) -> Option<u64> {
    let number = text.trim_ascii_start();
    let digits = number.strip_prefix(b"+").unwrap_or(number);
    let is_number = text.len() <= bytes_max && !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
    is_number.then(|| std::str::from_utf8(digits).ok()?.parse().ok()).flatten()
}

pub(super) fn store_set<'v>(
    value: &'v Value<'_>,
    from: &ColumnType,
    to: &'v ColumnType,
    members: &'v [String],
    context: &StoreContext<'_>,
    warnings: &mut Warnings,
) -> Result<Value<'v>, Problem> {
    let all = if members.len() >= 64 { u64::MAX } else { (1 << members.len()) - 1 };
    let by_number = |bits: u64| (bits & all, bits & !all == 0);
    let (bits, clean) = match value {
        Value::Int(v) => by_number(*v as u64),
        Value::UInt(v) => by_number(*v),
        Value::Double(v) => by_number(*v as u64),
        Value::Decimal(v) => by_number(v.truncate(0).ok().and_then(|v| v.to_u64().ok()).unwrap_or(u64::MAX)),
        value => {
            let text = text_of(value, from);
            match named_bits(trim(&text), members, to) {
                (bits, true) => (bits, true),
                // A number that is too large, given as a string, is not a member.
                named => whole_number(&text, SET_NUMBER_BYTES)
                    .map_or(named, |bits| if bits & !all == 0 { (bits, true) } else { (0, false) }),
            }
        }
    };
    if !clean {
        context.raise(Problem::Truncated, warnings)?;
    }
    Ok(Value::Bytes(set_names(to, bits).unwrap_or_default()))
}

/// The bits of the names that exist, and whether all do.
fn named_bits(text: &[u8], members: &[String], to: &ColumnType) -> (u64, bool) {
    if text.is_empty() {
        return (0, true);
    }
    let (mut bits, mut clean) = (0, true);
    for name in text.split(|&b| b == b',') {
        match member_position(name, members, to) {
            Some(position) => bits |= 1 << position,
            None => clean = false,
        }
    }
    (bits, clean)
}

/// A value as a document: texts are parsed.
fn store_json<'v>(value: &'v Value<'_>, from: &ColumnType) -> Result<Cow<'v, [u8]>, Problem> {
    let document = match value {
        Value::Bytes(bytes) if from.kind == TypeKind::Json && json::is_binary(bytes) => return Ok(Cow::Borrowed(bytes)),
        Value::Bytes(_) if from.is_binary_string() => return Err(Problem::BinaryJson),
        Value::Bytes(text) => Json::parse(text).map_err(|error| match error.why {
            Some(why) => Problem::InvalidJson { why, position: error.position },
            None => Problem::DeepJson,
        })?,
        // A number or a date needs a CAST.
        _ => return Err(Problem::InvalidJson { why: "not a JSON text, may need CAST", position: 0 }),
    };
    Ok(Cow::Owned(document.to_binary()))
}

pub fn is_valid_json(text: &[u8]) -> bool {
    Json::parse(text).is_ok()
}
