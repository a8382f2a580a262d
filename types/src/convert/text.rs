//! Values as text, as MySQL's text protocol prints each type.
//!
//! DOUBLE prints its shortest digits that read back the same, FLOAT six significant digits; both plainly from 1e-15 to below 1e15, else with an
//! exponent (`1e15`, `1.5e-16`). With declared decimals (`DOUBLE(10,2)`) just those digits.

use crate::decimal::SCALE_MAX;
use crate::{ColumnType, Date, DateTime, Decimal, Time, TypeKind, Value};
use std::io::Write;

/// Decimal exponents (of d.ddd) that print without `e`.
const PLAIN_EXPONENTS: std::ops::RangeInclusive<i32> = -15..=14;
const DIGIT_PAIRS: &[u8; 200] = b"0001020304050607080910111213141516171819\
2021222324252627282930313233343536373839\
4041424344454647484950515253545556575859\
6061626364656667686970717273747576777879\
8081828384858687888990919293949596979899";

/// Appends the text of a value of this type. NULL appends nothing. BIT appends its bytes.
pub fn write_text(value: &Value<'_>, ty: &ColumnType, out: &mut Vec<u8>) {
    let start = out.len();
    match value {
        Value::Null => return,
        Value::Int(v) => write_signed(*v, ty, out),
        Value::UInt(v) => write_unsigned(*v, ty, out),
        Value::Double(v) => write_double(*v, ty, out),
        Value::Decimal(v) => write_decimal(v, ty, out),
        Value::Bytes(v) if ty.kind == TypeKind::Json => crate::json::write_text(v, out),
        Value::Bytes(v) => out.extend_from_slice(v),
        Value::Date(v) => write_date(*v, out),
        Value::Time(v) => write_time(*v, fsp_of(ty, v.microsecond()), out),
        Value::DateTime(v) if ty.kind == TypeKind::Date => write_date(v.date, out),
        Value::DateTime(v) => write_datetime(*v, fsp_of(ty, v.micros), out),
    }
    if ty.zerofill {
        zero_fill(start, zerofill_width(ty), out);
    }
}

/// The fraction digits that the type shows; a value of another type shows its own digits.
fn fsp_of(ty: &ColumnType, micros: u32) -> u8 {
    match ty.kind {
        TypeKind::Time { fsp } | TypeKind::DateTime { fsp } | TypeKind::Timestamp { fsp } => fsp,
        _ if micros == 0 => 0,
        _ => 6,
    }
}

fn write_signed(value: i64, ty: &ColumnType, out: &mut Vec<u8>) {
    if ty.kind == TypeKind::Year {
        push_pair((value / 100 % 100) as u32, out);
        push_pair((value % 100) as u32, out);
        return;
    }
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

fn write_unsigned(value: u64, ty: &ColumnType, out: &mut Vec<u8>) {
    match ty.kind {
        TypeKind::Bit { length } => {
            out.extend_from_slice(&value.to_be_bytes()[8 - usize::from(length.clamp(1, 64)).div_ceil(8)..])
        }
        TypeKind::Enum { .. } => out.extend_from_slice(ty.member_name(value).unwrap_or_default()),
        // A year that is computed has no leading zeros, as one of a column has.
        _ => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
    }
}

fn write_double(value: f64, ty: &ColumnType, out: &mut Vec<u8>) {
    match (ty.float_decimals, &ty.kind) {
        (Some(decimals), _) => write_fixed(value, decimals, out),
        (None, TypeKind::Float) => write_f32(value as f32, out),
        _ => write_f64(value, out),
    }
}

fn write_decimal(value: &Decimal, ty: &ColumnType, out: &mut Vec<u8>) {
    match ty.kind {
        // Fewer digits stay fewer: IF and CASE show each branch's own.
        TypeKind::Decimal { scale, .. } if scale < value.scale().min(SCALE_MAX) => {
            value.rescale(scale).unwrap_or(*value).write(out)
        }
        _ => value.write(out),
    }
}

/// Width of ZEROFILL.
fn zerofill_width(ty: &ColumnType) -> usize {
    if let Some(width) = ty.display_width {
        return usize::from(width);
    }
    match ty.kind {
        TypeKind::TinyInt => 3,
        TypeKind::SmallInt => 5,
        TypeKind::MediumInt => 8,
        TypeKind::Int => 10,
        TypeKind::BigInt => 20,
        TypeKind::Float => 12,
        TypeKind::Double => 22,
        TypeKind::Decimal { precision, scale } => usize::from(precision) + usize::from(scale > 0),
        _ => 0,
    }
}

fn zero_fill(start: usize, width: usize, out: &mut Vec<u8>) {
    let length = out.len() - start;
    if length < width {
        out.splice(start..start, std::iter::repeat_n(b'0', width - length));
    }
}

fn push_pair(value: u32, out: &mut Vec<u8>) {
    let at = 2 * (value % 100) as usize;
    out.extend_from_slice(&DIGIT_PAIRS[at..at + 2]);
}

/// `YYYY-MM-DD`
pub fn write_date(date: Date, out: &mut Vec<u8>) {
    push_pair(u32::from(date.year / 100), out);
    push_pair(u32::from(date.year % 100), out);
    out.push(b'-');
    push_pair(u32::from(date.month), out);
    out.push(b'-');
    push_pair(u32::from(date.day), out);
}

/// `YYYY-MM-DD HH:MM:SS[.fraction]`
pub fn write_datetime(value: DateTime, fsp: u8, out: &mut Vec<u8>) {
    write_date(value.date, out);
    out.push(b' ');
    write_clock(u32::from(value.hour), value.minute, value.second, out);
    write_fraction(value.micros, fsp, out);
}

/// `[-]HH:MM:SS[.fraction]`; hours may have three digits.
pub fn write_time(value: Time, fsp: u8, out: &mut Vec<u8>) {
    if value.is_negative() {
        out.push(b'-');
    }
    write_clock(value.hours(), value.minute(), value.second(), out);
    write_fraction(value.microsecond(), fsp, out);
}

fn write_clock(hours: u32, minute: u8, second: u8, out: &mut Vec<u8>) {
    if hours >= 100 {
        // Above 838 only in messages about truncated values.
        out.extend_from_slice(itoa::Buffer::new().format(hours / 100).as_bytes());
    }
    push_pair(hours, out);
    out.push(b':');
    push_pair(u32::from(minute), out);
    out.push(b':');
    push_pair(u32::from(second), out);
}

fn write_fraction(micros: u32, fsp: u8, out: &mut Vec<u8>) {
    if fsp == 0 {
        return;
    }
    out.push(b'.');
    let start = out.len();
    push_pair(micros / 10_000, out);
    push_pair(micros / 100, out);
    push_pair(micros, out);
    out.truncate(start + usize::from(fsp.min(6)));
}

/// A DOUBLE: the shortest digits.
pub fn write_f64(value: f64, out: &mut Vec<u8>) {
    if value.is_finite() && value.abs() < 1e15 && value.trunc() == value && value != 0.0 {
        out.extend_from_slice(itoa::Buffer::new().format(value as i64).as_bytes());
        return;
    }
    if !value.is_finite() {
        // No column stores them; a sum beyond the range is shown like this.
        out.push(b'0');
        return;
    }
    write_scientific(ryu::Buffer::new().format_finite(value).as_bytes(), out);
}

/// A DOUBLE as a text that functions and other columns take: 22 characters at most.
pub fn write_short_f64(value: f64, out: &mut Vec<u8>) {
    const LENGTH_MAX: usize = 22;
    let start = out.len();
    write_f64(value, out);
    if out.len() - start <= LENGTH_MAX || !value.is_finite() {
        return;
    }
    out.truncate(start);
    let (digits, exponent) = significant_digits(value, 17);
    let beside = usize::from(value < 0.0) + b".e".len() + itoa::Buffer::new().format(exponent).len();
    let (digits, exponent) = significant_digits(value, digits.len().min(LENGTH_MAX - beside));
    if value < 0.0 {
        out.push(b'-');
    }
    write_exponential(&digits, exponent, out);
}

/// A FLOAT: six significant digits.
pub fn write_f32(value: f32, out: &mut Vec<u8>) {
    let mut buffer = [0u8; 32];
    let mut rest = &mut buffer[..];
    write!(rest, "{:.5e}", f64::from(value)).expect("six digits, sign and exponent fit 32 bytes");
    let left = rest.len();
    let used = buffer.len() - left;
    write_scientific(&buffer[..used], out);
}

/// A number rounded to at most this many characters, as string columns store it: `0.3333`, `1.2e6`. `None` if not even
/// one digit fits.
pub(super) fn fitted(value: f64, is_float: bool, width: usize) -> Option<Vec<u8>> {
    if !value.is_finite() || width == 0 {
        return None;
    }
    let mut text = Vec::new();
    let significant = width.min(if is_float { 6 } else { 17 });
    let (digits, exponent) = significant_digits(value, significant);
    let (count, width) = (digits.len() as i32, width as i32 - i32::from(value < 0.0));
    // Digits before the point; below one, zeros after it.
    let whole = exponent + 1;
    if PLAIN_EXPONENTS.contains(&exponent) && (-2..=width).contains(&whole) {
        let point = i32::from(whole < count && whole < width);
        let shown = width - point - if whole <= 0 { 1 - whole } else { 0 };
        if shown >= whole.max(1) {
            write_fixed(value, (shown - whole).clamp(0, 30) as u8, &mut text);
            if text.contains(&b'.') {
                text.truncate(text.iter().rposition(|&b| b != b'0').map_or(0, |last| last + 1));
                text.truncate(text.strip_suffix(b".").map_or(text.len(), <[u8]>::len));
            }
            if text.len() <= (width + i32::from(value < 0.0)) as usize {
                return Some(text);
            }
            text.clear();
        }
    }
    let mut exponent_text = itoa::Buffer::new();
    let shown = width - 1 - exponent_text.format(exponent).len() as i32 - i32::from(count > 1);
    if shown <= 0 {
        return None;
    }
    let (digits, exponent) = significant_digits(value, (shown as usize).min(significant));
    if value < 0.0 {
        text.push(b'-');
    }
    write_exponential(&digits, exponent, &mut text);
    Some(text)
}

/// The first digits of a number, rounded, without zeros at the end, and the exponent of d.ddd.
fn significant_digits(value: f64, most: usize) -> (Vec<u8>, i32) {
    let mut text = format!("{:e}", value.abs());
    let mantissa = text.find('e').unwrap_or(text.len());
    if mantissa > most + usize::from(most > 1) {
        text = format!("{:.*e}", most - 1, value.abs());
    }
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    digits.truncate(digits.iter().rposition(|&d| d != b'0').map_or(1, |last| last + 1));
    (digits, exponent.parse().unwrap_or(0))
}

/// Rounds to this number of digits after the point.
pub fn write_fixed(value: f64, decimals: u8, out: &mut Vec<u8>) {
    write!(out, "{value:.*}", usize::from(decimals)).expect("a Vec takes everything");
}

/// Reformats a text like `1.25e-7`, `12.5`, `-0.0`.
fn write_scientific(text: &[u8], out: &mut Vec<u8>) {
    let (sign, text) = match text.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let split = text.iter().position(|&b| b == b'e').unwrap_or(text.len());
    let (mantissa, exponent) = text.split_at(split);
    let exponent = exponent.get(1..).and_then(|e| std::str::from_utf8(e).ok()).map_or(0, |e| e.parse().unwrap_or(0));
    let point = mantissa.iter().position(|&b| b == b'.').unwrap_or(mantissa.len());
    let mut digits = [0u8; 32];
    let mut count = 0;
    for &digit in mantissa.iter().filter(|&&b| b != b'.').take(32) {
        digits[count] = digit;
        count += 1;
    }
    let leading = digits[..count].iter().take_while(|&&d| d == b'0').count();
    let exponent = exponent + point as i32 - 1 - leading as i32;
    let digits = &digits[leading..count];
    let digits = &digits[..digits.iter().rposition(|&d| d != b'0').map_or(0, |last| last + 1)];
    if sign {
        out.push(b'-');
    }
    if digits.is_empty() {
        out.push(b'0');
    } else if PLAIN_EXPONENTS.contains(&exponent) || (exponent == 15 && digits.len() > 16) {
        // Digits after the point are shown.
        write_plain(digits, exponent, out);
    } else {
        write_exponential(digits, exponent, out);
    }
}

/// `d.ddde-7`
fn write_exponential(digits: &[u8], exponent: i32, out: &mut Vec<u8>) {
    out.push(digits[0]);
    if digits.len() > 1 {
        out.push(b'.');
        out.extend_from_slice(&digits[1..]);
    }
    out.push(b'e');
    out.extend_from_slice(itoa::Buffer::new().format(exponent).as_bytes());
}

/// d.ddd * 10^exponent without `e`.
fn write_plain(digits: &[u8], exponent: i32, out: &mut Vec<u8>) {
    if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', (-exponent - 1) as usize));
        out.extend_from_slice(digits);
        return;
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        out.extend_from_slice(digits);
        out.extend(std::iter::repeat_n(b'0', whole - digits.len()));
    } else {
        out.extend_from_slice(&digits[..whole]);
        out.push(b'.');
        out.extend_from_slice(&digits[whole..]);
    }
}
