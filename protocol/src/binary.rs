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
use crate::text::{put_bits, put_other, put_short};
use types::{ColumnType, Date, DateTime, Time, TypeKind, Value};

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
        TypeKind::Date => put_datetime(out, DateTime { date: to_datetime(value).date, ..DateTime::default() }),
        TypeKind::DateTime { .. } | TypeKind::Timestamp { .. } => put_datetime(out, to_datetime(value)),
        TypeKind::Time { .. } => put_time(out, to_time(value)),
        TypeKind::Bit { length } => put_bit_value(out, value, *length),
        TypeKind::Null
        | TypeKind::Decimal { .. }
        | TypeKind::Binary { .. }
        | TypeKind::VarBinary { .. }
        | TypeKind::Blob(_)
        | TypeKind::Enum { .. }
        | TypeKind::Set { .. }
        | TypeKind::Json => put_string(out, value, ty),
    }
}

#[inline]
fn put_string(out: &mut Vec<u8>, value: &Value<'_>, ty: &ColumnType) {
    match value {
        Value::Bytes(bytes) => put_length_encoded_bytes(out, bytes),
        _ => put_short(out, |out| put_other(out, value, ty)),
    }
}

fn put_bit_value(out: &mut Vec<u8>, value: &Value<'_>, length: u8) {
    match value {
        Value::Bytes(bytes) => put_length_encoded_bytes(out, bytes),
        _ => put_bits(out, to_integer(value), length),
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
    match value {
        Value::Double(number) if *number > i64::MAX as f64 => number.round_ties_even() as u64,
        Value::Double(number) => number.round_ties_even() as i64 as u64,
        Value::Decimal(number) if number.is_negative() => number.to_i64().unwrap_or_else(|end| end) as u64,
        Value::Decimal(number) => number.to_u64().unwrap_or_else(|end| end),
        Value::Bytes(bytes) => convert_to_integer(&Value::Decimal(types::Decimal::parse(bytes).value)),
        Value::Date(date) => date_number(*date),
        Value::DateTime(moment) => {
            date_number(moment.date) * 1_000_000 + clock_number(moment.hour.into(), moment.minute.into(), moment.second.into())
        }
        Value::Time(time) => {
            let seconds = time.micros.unsigned_abs() / 1_000_000;
            let number = clock_number(seconds / 3600, seconds / 60 % 60, seconds % 60) as i64;
            (if time.micros < 0 { -number } else { number }) as u64
        }
        Value::Null | Value::Int(_) | Value::UInt(_) => 0,
    }
}

fn date_number(date: Date) -> u64 {
    u64::from(date.year) * 10_000 + u64::from(date.month) * 100 + u64::from(date.day)
}

fn clock_number(hours: u64, minutes: u64, seconds: u64) -> u64 {
    hours * 10_000 + minutes * 100 + seconds
}

fn to_double(value: &Value<'_>) -> f64 {
    match value {
        Value::Double(number) => *number,
        Value::Int(number) => *number as f64,
        Value::UInt(number) => *number as f64,
        Value::Decimal(number) => number.to_f64(),
        Value::Bytes(bytes) => types::Decimal::parse(bytes).value.to_f64(),
        other => convert_to_integer(other) as i64 as f64,
    }
}

/// Anything that is no date is the zero date.
fn to_datetime(value: &Value<'_>) -> DateTime {
    match value {
        Value::DateTime(moment) => *moment,
        Value::Date(date) => DateTime { date: *date, ..DateTime::default() },
        _ => DateTime::default(),
    }
}

fn to_time(value: &Value<'_>) -> Time {
    match value {
        Value::Time(time) => *time,
        Value::DateTime(moment) => {
            let seconds = (i64::from(moment.hour) * 60 + i64::from(moment.minute)) * 60 + i64::from(moment.second);
            Time { micros: seconds * 1_000_000 + i64::from(moment.micros) }
        }
        _ => Time::default(),
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
