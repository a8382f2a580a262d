//! The binary encoding of values in rows of prepared statements. The declared type decides the form:
//!
//! | type | bytes |
//! |---|---|
//! | TINY 1, SHORT and YEAR 2, LONG and INT24 4, LONGLONG 8 | little-endian integer |
//! | FLOAT 4, DOUBLE 8 | IEEE 754 |
//! | DATE, DATETIME, TIMESTAMP | length 0, 4, 7 or 11; year u16, month, day, [hour, minute, second, [microseconds u32]] |
//! | TIME | length 0, 8 or 12; sign, days u32, hour, minute, second, [microseconds u32] |
//! | all others | length-encoded text or bytes |

use crate::put::{put_length_encoded_bytes, put_u16, put_u32, put_u64};
use crate::text::put_formatted;
use types::convert::{round_to_integer, to_datetime, to_f64, to_time};
use types::{ColumnType, Date, DateTime, StoreContext, Time, TypeKind, Value, Warnings};

/// Appends one value of a binary row; not for NULL.
#[inline]
pub(crate) fn put_binary(out: &mut Vec<u8>, value: &Value<'_>, ty: &ColumnType) {
    match &ty.kind {
        TypeKind::Int | TypeKind::MediumInt => put_u32(out, to_integer(value) as u32),
        TypeKind::BigInt => put_u64(out, to_integer(value)),
        TypeKind::Char { .. } | TypeKind::VarChar { .. } | TypeKind::Text(_) => put_string(out, value, ty),
        TypeKind::TinyInt => out.push(to_integer(value) as u8),
        TypeKind::SmallInt | TypeKind::Year => put_u16(out, to_integer(value) as u16),
        TypeKind::Float => put_u32(out, (to_double(value) as f32).to_bits()),
        TypeKind::Double => put_u64(out, to_double(value).to_bits()),
        TypeKind::Date => put_datetime(out, DateTime { date: as_datetime(value, ty).date, ..DateTime::default() }),
        TypeKind::DateTime { .. } | TypeKind::Timestamp { .. } => put_datetime(out, as_datetime(value, ty)),
        TypeKind::Time { .. } => put_time(out, as_time(value, ty)),
        TypeKind::Null
        | TypeKind::Decimal { .. }
        | TypeKind::Binary { .. }
        | TypeKind::VarBinary { .. }
        | TypeKind::Blob(_)
        | TypeKind::Enum { .. }
        | TypeKind::Set { .. }
        | TypeKind::Bit { .. }
        | TypeKind::Json
        | TypeKind::Geometry { .. }
        | TypeKind::Vector { .. } => put_string(out, value, ty),
    }
}

#[inline]
fn put_string(out: &mut Vec<u8>, value: &Value<'_>, ty: &ColumnType) {
    match value {
        Value::Bytes(bytes) if ty.kind != TypeKind::Json => put_length_encoded_bytes(out, bytes),
        _ => put_formatted(out, value, ty),
    }
}

/// The two's complement bits of an integer.
#[inline]
fn to_integer(value: &Value<'_>) -> u64 {
    match value {
        Value::Int(number) => *number as u64,
        Value::UInt(number) => *number,
        _ => convert_to_integer(value),
    }
}

#[cold]
fn convert_to_integer(value: &Value<'_>) -> u64 {
    match round_to_integer(value) {
        negative if negative < 0 => negative.max(i64::MIN.into()) as i64 as u64,
        positive => positive.min(u64::MAX.into()) as u64,
    }
}

#[inline]
fn to_double(value: &Value<'_>) -> f64 {
    match value {
        Value::Double(number) => *number,
        other => to_f64(other, &mut Warnings::new()),
    }
}

/// Anything that is not a date is the zero date.
fn as_datetime(value: &Value<'_>, ty: &ColumnType) -> DateTime {
    match value {
        Value::DateTime(moment) => *moment,
        Value::Date(date) => DateTime { date: *date, ..DateTime::default() },
        other => to_datetime(other, ty, &StoreContext::lax(), &mut Warnings::new()).unwrap_or_default(),
    }
}

fn as_time(value: &Value<'_>, ty: &ColumnType) -> Time {
    match value {
        Value::Time(time) => *time,
        other => to_time(other, ty, &StoreContext::lax(), &mut Warnings::new()).unwrap_or_default(),
    }
}

/// Trailing parts that are zero are left out.
fn put_datetime(out: &mut Vec<u8>, moment: DateTime) {
    let DateTime { date, hour, minute, second, micros } = moment;
    let length = match moment {
        _ if micros != 0 => 11,
        _ if (hour, minute, second) != (0, 0, 0) => 7,
        _ if date != Date::default() => 4,
        _ => 0,
    };
    out.push(length);
    if length >= 4 {
        put_u16(out, date.year);
        out.extend_from_slice(&[date.month, date.day]);
    }
    if length >= 7 {
        out.extend_from_slice(&[hour, minute, second]);
    }
    if length >= 11 {
        put_u32(out, micros);
    }
}

fn put_time(out: &mut Vec<u8>, time: Time) {
    if time.micros == 0 {
        return out.push(0);
    }
    let micros = time.micros.unsigned_abs();
    let fraction = (micros % 1_000_000) as u32;
    let seconds = micros / 1_000_000;
    out.extend_from_slice(&[if fraction == 0 { 8 } else { 12 }, u8::from(time.micros < 0)]);
    put_u32(out, (seconds / 86_400) as u32);
    out.extend_from_slice(&[(seconds / 3600 % 24) as u8, (seconds / 60 % 60) as u8, (seconds % 60) as u8]);
    if fraction != 0 {
        put_u32(out, fraction);
    }
}
