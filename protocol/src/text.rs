//! The text encoding of values in rows: what `SELECT` shows.

use crate::put::put_length_encoded_bytes;
use types::{ColumnType, Date, DateTime, Time, TypeKind, Value};

/// NULL in a text row.
const NULL: u8 = 0xfb;

/// Appends one value of a text row.
#[inline]
pub(crate) fn put_text(out: &mut Vec<u8>, value: &Value<'_>, ty: &ColumnType) {
    match value {
        Value::Bytes(bytes) => put_length_encoded_bytes(out, bytes),
        Value::Null => out.push(NULL),
        Value::Int(number) => put_integer(out, *number, ty),
        Value::UInt(number) => put_integer(out, *number, ty),
        _ => put_short(out, |out| put_other(out, value, ty)),
    }
}

/// An integer, in the form its column asks for.
#[inline]
fn put_integer<I: itoa::Integer + Into<i128>>(out: &mut Vec<u8>, number: I, ty: &ColumnType) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number).as_bytes();
    let width = match ty.kind {
        TypeKind::Bit { length } => return put_bits(out, number.into() as u64, length),
        TypeKind::Year => 4,
        _ if ty.zerofill => ty.display_width.unwrap_or(0),
        _ => 0,
    };
    let zeros = usize::from(width).saturating_sub(digits.len());
    out.push((zeros + digits.len()) as u8);
    out.extend(std::iter::repeat_n(b'0', zeros));
    out.extend_from_slice(digits);
}

/// BIT(n) is sent as its bytes, the highest first.
pub(crate) fn put_bits(out: &mut Vec<u8>, bits: u64, length: u8) {
    let bytes = usize::from(length).clamp(1, 64).div_ceil(8);
    put_length_encoded_bytes(out, &bits.to_be_bytes()[8 - bytes..]);
}

/// Text of fewer than 251 bytes behind its length.
#[inline]
pub(crate) fn put_short(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.push(0);
    fill(out);
    let length = out.len() - at - 1;
    debug_assert!(length < 251);
    out[at] = length as u8;
}

/// The text of anything but NULL and integers of columns with a form of their own.
pub(crate) fn put_other(out: &mut Vec<u8>, value: &Value<'_>, ty: &ColumnType) {
    match value {
        Value::Null => {}
        Value::Int(number) => out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
        Value::UInt(number) => out.extend_from_slice(itoa::Buffer::new().format(*number).as_bytes()),
        Value::Bytes(bytes) => out.extend_from_slice(bytes),
        Value::Decimal(decimal) => decimal.write(out),
        Value::Double(number) => put_double(out, *number, ty),
        Value::Date(date) => put_date(out, *date),
        Value::Time(time) => put_time(out, *time, fraction_digits(ty, (time.micros.unsigned_abs() % 1_000_000) as u32)),
        Value::DateTime(moment) => put_datetime(out, *moment, fraction_digits(ty, moment.micros)),
    }
}

/// Digits of a fraction: the column's, or what the value needs where the column is of another kind.
fn fraction_digits(ty: &ColumnType, micros: u32) -> u8 {
    match ty.kind {
        TypeKind::Time { fsp } | TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => fsp,
        _ if micros != 0 => 6,
        _ => 0,
    }
}

/// The shortest digits that read back as the same number; an exponent outside of 1e-5 to 1e15, as MySQL prints them.
fn put_double(out: &mut Vec<u8>, number: f64, ty: &ColumnType) {
    use std::io::Write;
    let size = number.abs();
    let plain = size == 0.0 || (1e-5..1e15).contains(&size);
    let written = match (&ty.kind, plain) {
        (TypeKind::Float, true) => write!(out, "{}", number as f32),
        (TypeKind::Float, false) => write!(out, "{:e}", number as f32),
        (_, true) => write!(out, "{number}"),
        (_, false) => write!(out, "{number:e}"),
    };
    written.expect("writing to a vector does not fail");
}

fn put_date(out: &mut Vec<u8>, date: Date) {
    put_two_digits(out, (date.year / 100) as u8);
    put_two_digits(out, (date.year % 100) as u8);
    out.push(b'-');
    put_two_digits(out, date.month);
    out.push(b'-');
    put_two_digits(out, date.day);
}

fn put_datetime(out: &mut Vec<u8>, moment: DateTime, fsp: u8) {
    put_date(out, moment.date);
    out.push(b' ');
    put_clock(out, moment.hour, moment.minute, moment.second);
    put_fraction(out, moment.micros, fsp);
}

fn put_time(out: &mut Vec<u8>, time: Time, fsp: u8) {
    let micros = time.micros.unsigned_abs();
    let seconds = micros / 1_000_000;
    let hours = seconds / 3600;
    if time.micros < 0 {
        out.push(b'-');
    }
    if hours >= 100 {
        out.push(b'0' + (hours / 100 % 10) as u8);
    }
    put_clock(out, (hours % 100) as u8, (seconds / 60 % 60) as u8, (seconds % 60) as u8);
    put_fraction(out, (micros % 1_000_000) as u32, fsp);
}

fn put_clock(out: &mut Vec<u8>, hour: u8, minute: u8, second: u8) {
    put_two_digits(out, hour);
    out.push(b':');
    put_two_digits(out, minute);
    out.push(b':');
    put_two_digits(out, second);
}

#[inline]
fn put_two_digits(out: &mut Vec<u8>, number: u8) {
    out.extend_from_slice(&[b'0' + number / 10 % 10, b'0' + number % 10]);
}

fn put_fraction(out: &mut Vec<u8>, micros: u32, fsp: u8) {
    if fsp == 0 {
        return;
    }
    out.push(b'.');
    let mut unit = 100_000;
    for _ in 0..fsp.min(6) {
        out.push(b'0' + (micros / unit % 10) as u8);
        unit /= 10;
    }
}
