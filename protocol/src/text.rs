//! The text encoding of values in rows: what `SELECT` shows.

use crate::put::{put_length_encoded, put_length_encoded_bytes};
use types::{ColumnType, TypeKind, Value};

/// NULL in a text row.
const NULL: u8 = 0xfb;

/// Appends one value of a text row.
#[inline]
pub(crate) fn put_text(out: &mut Vec<u8>, value: &Value<'_>, ty: &ColumnType) {
    match value {
        Value::Bytes(bytes) if ty.kind != TypeKind::Json => put_length_encoded_bytes(out, bytes),
        Value::Null => out.push(NULL),
        Value::Int(number) if is_plain(ty) => put_integer(out, *number),
        Value::UInt(number) if is_plain(ty) => put_integer(out, *number),
        _ => put_formatted(out, value, ty),
    }
}

/// Does the type show integers as nothing but their digits?
#[inline]
fn is_plain(ty: &ColumnType) -> bool {
    !ty.zerofill && !matches!(ty.kind, TypeKind::Bit { .. } | TypeKind::Year | TypeKind::Enum { .. })
}

#[inline]
fn put_integer(out: &mut Vec<u8>, number: impl itoa::Integer) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number).as_bytes();
    out.push(digits.len() as u8);
    out.extend_from_slice(digits);
}

/// The value's text behind its length, whatever its type. One byte is kept free for the length; few texts need more.
pub(crate) fn put_formatted(out: &mut Vec<u8>, value: &Value<'_>, ty: &ColumnType) {
    let at = out.len();
    out.push(0);
    types::write_text(value, ty, out);
    let length = out.len() - at - 1;
    if length < 251 {
        out[at] = length as u8;
    } else {
        put_long_length(out, at, length);
    }
}

/// Replaces the byte at `at` by a longer length: DOUBLE(255,30) has up to 340 digits.
#[cold]
fn put_long_length(out: &mut Vec<u8>, at: usize, length: usize) {
    let mut encoded = Vec::new();
    put_length_encoded(&mut encoded, length as u64);
    out.splice(at..=at, encoded);
}
