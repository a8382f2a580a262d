//! Documents in binary: what JSON columns store. docs/FORMATS.md has the byte table; in short:
//!
//! | tag | value | behind the tag |
//! |---|---|---|
//! | 80 81 82 | null, false, true | |
//! | 83 84 | integer, unsigned integer | varint (zigzag for 83) |
//! | 85 | double | 8 bytes |
//! | 86 87 | decimal, string | varint length, text |
//! | 88 89 8A | date, time, datetime | 4, 8, 11 bytes |
//! | 8B | binary string | type byte, varint length, bytes |
//! | 8C 8D | array, with offsets of 2 or 4 bytes | count u32, offset of each item and of the end, items |
//! | 8E 8F | object, the same | count u32, offset of each name and value and of the end, names and values |
//!
//! Offsets count from the container's tag. A name is its bytes; it ends where its value begins.
//!
//! B1: bytes that no encoder wrote are an error ([`Damaged`]), never a panic.

use super::path::{Leg, Path, Place};
use super::{DEPTH_MAX, Json, VALUE_UNITS, order};
use crate::work;
use crate::{Date, DateTime, Decimal, Time};
use std::borrow::Cow;

const NULL: u8 = 0x80;
const FALSE: u8 = 0x81;
const TRUE: u8 = 0x82;
const INT: u8 = 0x83;
const UINT: u8 = 0x84;
const DOUBLE: u8 = 0x85;
const DECIMAL: u8 = 0x86;
const STRING: u8 = 0x87;
const DATE: u8 = 0x88;
const TIME: u8 = 0x89;
const DATETIME: u8 = 0x8A;
const OPAQUE: u8 = 0x8B;
const ARRAY: u8 = 0x8C;
const OBJECT: u8 = 0x8E;
/// Added to [`ARRAY`] and [`OBJECT`] for offsets of four bytes.
const WIDE: u8 = 1;
/// Tag and count.
const HEAD_BYTES: usize = 5;

/// Bytes that are no document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

type Decoded<T> = Result<T, Damaged>;

/// Is this a binary document, rather than text (J3)?
#[inline]
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|tag| (NULL..0xC0).contains(tag))
}

/// Appends the text of a document that is binary, or a text already.
pub fn write_text(bytes: &[u8], out: &mut Vec<u8>) {
    if !is_binary(bytes) {
        out.extend_from_slice(bytes);
        return;
    }
    match Json::from_binary(bytes) {
        Ok(document) => document.write(out),
        // Pages have checksums, so this is a document of a version that is not this one's.
        Err(Damaged) => out.extend_from_slice(b"null"),
    }
}

impl Json {
    pub fn to_binary(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write_binary(&mut out);
        out
    }

    /// Appends the binary form.
    pub fn write_binary(&self, out: &mut Vec<u8>) {
        work::pass(VALUE_UNITS);
        match self {
            Json::Null => out.push(NULL),
            Json::Bool(false) => out.push(FALSE),
            Json::Bool(true) => out.push(TRUE),
            Json::Int(n) => {
                out.push(INT);
                write_varint((n << 1 ^ n >> 63) as u64, out);
            }
            Json::UInt(n) => {
                out.push(UINT);
                write_varint(*n, out);
            }
            Json::Double(x) => {
                out.push(DOUBLE);
                out.extend_from_slice(&x.to_le_bytes());
            }
            Json::Decimal(d) => {
                let mut text = Vec::new();
                d.write(&mut text);
                out.push(DECIMAL);
                write_bytes(&text, out);
            }
            Json::String(text) => {
                out.push(STRING);
                write_bytes(text.as_bytes(), out);
            }
            Json::Date(d) => {
                out.push(DATE);
                write_date(d, out);
            }
            Json::Time(t) => {
                out.push(TIME);
                out.extend_from_slice(&t.micros.to_le_bytes());
            }
            Json::DateTime(d) => {
                out.push(DATETIME);
                write_date(&d.date, out);
                out.extend_from_slice(&[d.hour, d.minute, d.second]);
                out.extend_from_slice(&d.micros.to_le_bytes());
            }
            Json::Opaque(kind, bytes) => {
                out.extend_from_slice(&[OPAQUE, *kind]);
                write_bytes(bytes, out);
            }
            Json::Array(_) | Json::Object(_) => self.write_container(out),
        }
    }

    fn write_container(&self, out: &mut Vec<u8>) {
        let mut offsets = Vec::new();
        let mut body = Vec::new();
        let (tag, count) = match self {
            Json::Array(items) => {
                for item in items {
                    offsets.push(body.len());
                    item.write_binary(&mut body);
                }
                (ARRAY, items.len())
            }
            Json::Object(members) => {
                for (name, value) in members {
                    offsets.push(body.len());
                    body.extend_from_slice(name.as_bytes());
                    offsets.push(body.len());
                    value.write_binary(&mut body);
                }
                (OBJECT, members.len())
            }
            _ => return,
        };
        offsets.push(body.len());
        let narrow = HEAD_BYTES + 2 * offsets.len() + body.len() <= usize::from(u16::MAX);
        out.push(if narrow { tag } else { tag + WIDE });
        out.extend_from_slice(&(count as u32).to_le_bytes());
        let table = HEAD_BYTES + offsets.len() * if narrow { 2 } else { 4 };
        for offset in offsets {
            if narrow {
                out.extend_from_slice(&((table + offset) as u16).to_le_bytes());
            } else {
                out.extend_from_slice(&((table + offset) as u32).to_le_bytes());
            }
        }
        work::pass(body.len());
        out.append(&mut body);
    }

    /// Reads a binary document; a text is parsed.
    pub fn from_binary(bytes: &[u8]) -> Decoded<Json> {
        if is_binary(bytes) { decode(bytes, 1) } else { Json::parse(bytes).map_err(|_| Damaged) }
    }
}

fn write_varint(mut n: u64, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn write_date(date: &Date, out: &mut Vec<u8>) {
    out.extend_from_slice(&date.year.to_le_bytes());
    out.extend_from_slice(&[date.month, date.day]);
}

fn read_varint(bytes: &[u8]) -> Decoded<(u64, &[u8])> {
    let mut n = 0u64;
    for (i, byte) in bytes.iter().take(10).enumerate() {
        n |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Ok((n, &bytes[i + 1..]));
        }
    }
    Err(Damaged)
}

fn read_bytes(bytes: &[u8]) -> Decoded<&[u8]> {
    let (length, rest) = read_varint(bytes)?;
    usize::try_from(length).ok().and_then(|length| rest.get(..length)).ok_or(Damaged)
}

fn read_text(bytes: &[u8]) -> Decoded<&str> {
    std::str::from_utf8(read_bytes(bytes)?).map_err(|_| Damaged)
}

fn read_date(bytes: &[u8]) -> Decoded<Date> {
    let &[a, b, month, day, ..] = bytes else { return Err(Damaged) };
    let year = u16::from_le_bytes([a, b]);
    if year > 9999 || month > 12 || day > 31 {
        return Err(Damaged);
    }
    Ok(Date { year, month, day })
}

fn decode(bytes: &[u8], depth: usize) -> Decoded<Json> {
    work::pass(VALUE_UNITS);
    let (&tag, rest) = bytes.split_first().ok_or(Damaged)?;
    Ok(match tag {
        NULL => Json::Null,
        FALSE => Json::Bool(false),
        TRUE => Json::Bool(true),
        INT => {
            let (n, _) = read_varint(rest)?;
            Json::Int((n >> 1) as i64 ^ -((n & 1) as i64))
        }
        UINT => Json::UInt(read_varint(rest)?.0),
        DOUBLE => Json::Double(f64::from_le_bytes(*rest.first_chunk().ok_or(Damaged)?)),
        DECIMAL => Json::Decimal(Decimal::parse_exact(read_text(rest)?).ok_or(Damaged)?),
        STRING => Json::String(read_text(rest)?.to_owned()),
        DATE => Json::Date(read_date(rest)?),
        TIME => Json::Time(Time { micros: i64::from_le_bytes(*rest.first_chunk().ok_or(Damaged)?) }),
        DATETIME => Json::DateTime(read_datetime(rest)?),
        OPAQUE => {
            let (&kind, rest) = rest.split_first().ok_or(Damaged)?;
            Json::Opaque(kind, read_bytes(rest)?.to_vec())
        }
        _ => return decode_container(&Container::open(bytes)?, depth),
    })
}

fn read_datetime(bytes: &[u8]) -> Decoded<DateTime> {
    let date = read_date(bytes)?;
    let &[hour, minute, second, a, b, c, d, ..] = &bytes[4..] else { return Err(Damaged) };
    let micros = u32::from_le_bytes([a, b, c, d]);
    if hour > 23 || minute > 59 || second > 59 || micros > 999_999 {
        return Err(Damaged);
    }
    Ok(DateTime { date, hour, minute, second, micros })
}

fn decode_container(container: &Container<'_>, depth: usize) -> Decoded<Json> {
    if depth > DEPTH_MAX {
        return Err(Damaged);
    }
    if !container.object {
        let items = (0..container.count).map(|n| decode(container.value(n)?, depth + 1));
        return items.collect::<Decoded<Vec<Json>>>().map(Json::Array);
    }
    let members = (0..container.count).map(|n| Ok((container.name(n)?.to_owned(), decode(container.value(n)?, depth + 1)?)));
    members.collect::<Decoded<Vec<(String, Json)>>>().map(Json::Object)
}

/// An array or object in place.
struct Container<'b> {
    bytes: &'b [u8],
    object: bool,
    wide: bool,
    count: usize,
}

impl<'b> Container<'b> {
    fn open(bytes: &'b [u8]) -> Decoded<Self> {
        let (&tag, rest) = bytes.split_first().ok_or(Damaged)?;
        if !(ARRAY..=OBJECT + WIDE).contains(&tag) {
            return Err(Damaged);
        }
        let count = u32::from_le_bytes(*rest.first_chunk().ok_or(Damaged)?) as usize;
        let container = Self { bytes, object: tag >= OBJECT, wide: tag & WIDE == 1, count };
        // The table must be there, which also bounds the count.
        container.offset(if container.object { 2 * count } else { count })?;
        Ok(container)
    }

    fn offset(&self, n: usize) -> Decoded<usize> {
        let width = if self.wide { 4 } else { 2 };
        let at = HEAD_BYTES + n * width;
        let bytes = self.bytes.get(at..at + width).ok_or(Damaged)?;
        Ok(bytes.iter().rev().fold(0, |offset, byte| offset << 8 | usize::from(*byte)))
    }

    fn part(&self, n: usize) -> Decoded<&'b [u8]> {
        self.bytes.get(self.offset(n)?..self.offset(n + 1)?).ok_or(Damaged)
    }

    fn value(&self, n: usize) -> Decoded<&'b [u8]> {
        self.part(if self.object { 2 * n + 1 } else { n })
    }

    fn name(&self, n: usize) -> Decoded<&'b str> {
        std::str::from_utf8(self.part(2 * n)?).map_err(|_| Damaged)
    }

    /// The value of a member, by binary search (J1).
    fn member(&self, name: &str) -> Decoded<Option<&'b [u8]>> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = (low + high) / 2;
            match order::names(self.name(middle)?, name) {
                std::cmp::Ordering::Equal => return self.value(middle).map(Some),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Ok(None)
    }
}

/// The part of a binary document that a path without wildcards means, without decoding the document. A part that is the whole
/// document is borrowed.
pub fn lookup<'b>(document: &'b [u8], path: &Path) -> Decoded<Option<Cow<'b, [u8]>>> {
    let mut at = document;
    for leg in path.legs() {
        let container =
            at.first().is_some_and(|tag| (ARRAY..=OBJECT + WIDE).contains(tag)).then(|| Container::open(at)).transpose()?;
        let next = match (leg, container) {
            (Leg::Member(name), Some(object)) if object.object => object.member(name)?,
            (Leg::Item(place), Some(array)) if !array.object => match place.index(array.count) {
                Some(n) if n < array.count => Some(array.value(n)?),
                _ => None,
            },
            // Anything else is as an array of itself.
            (Leg::Item(Place::Start(0) | Place::Last(0)), _) => Some(at),
            _ => None,
        };
        match next {
            Some(next) => at = next,
            None => return Ok(None),
        }
    }
    Ok(Some(Cow::Borrowed(at)))
}
