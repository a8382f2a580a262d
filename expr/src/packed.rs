//! Packed rows: several values in one run of bytes, so that sorts, hash tables and projections keep rows in an arena.
//!
//! ```text
//! cell 0 | cell 1 | ... | cell n-1 | strings and decimals
//! cell:    tag (1 byte), 3 unused, length (u32), word (u64)
//!          word: the number itself, or where the bytes begin, counted from the start of the row
//! ```
//!
//! P1: a packed row is self-contained; it may be copied as bytes. It never leaves the process, so native byte order is not an issue.

use std::borrow::Cow;
use types::row::number::ShortNumber;
use types::{Date, DateTime, Decimal, Time, Value};

const CELL_BYTES: usize = 16;
const DECIMAL_PRECISION: u8 = types::decimal::COMPUTED_DIGITS_MAX as u8;

const NULL: u8 = 0;
const INT: u8 = 1;
const UINT: u8 = 2;
const DOUBLE: u8 = 3;
const DECIMAL: u8 = 4;
const BYTES: u8 = 5;
const DATE: u8 = 6;
const TIME: u8 = 7;
const DATETIME: u8 = 8;
/// A decimal of few digits: they are the word, the scale is the length.
const SHORT_DECIMAL: u8 = 9;

/// Appends one packed row to a buffer, cell by cell.
pub struct Packer<'b> {
    out: &'b mut Vec<u8>,
    start: usize,
    next: usize,
}

impl<'b> Packer<'b> {
    /// Begins a row of `columns` cells at the end of `out`; cells that are never pushed are NULL.
    pub fn new(out: &'b mut Vec<u8>, columns: usize) -> Self {
        let start = out.len();
        out.resize(start + columns * CELL_BYTES, 0);
        Self { out, start, next: start }
    }

    pub fn push(&mut self, value: &Value<'_>) {
        match value {
            Value::Null => self.cell(NULL, 0, 0),
            Value::Int(n) => self.cell(INT, 0, *n as u64),
            Value::UInt(n) => self.cell(UINT, 0, *n),
            Value::Double(x) => self.cell(DOUBLE, 0, x.to_bits()),
            Value::Bytes(s) => self.bytes(s),
            Value::Date(d) => self.cell(DATE, 0, u64::from(pack_date(d))),
            Value::Time(t) => self.cell(TIME, 0, t.micros as u64),
            Value::DateTime(d) => self.cell(DATETIME, 0, pack_datetime(d)),
            Value::Decimal(d) => match d.digits_i64() {
                Some(digits) => self.push_short_decimal(digits, d.scale()),
                None => self.long_decimal(d),
            },
        }
    }

    /// A decimal by its digits, and how many of them stand behind the point.
    #[inline]
    pub fn push_short_decimal(&mut self, digits: i64, scale: u8) {
        self.cell(SHORT_DECIMAL, scale.into(), digits as u64);
    }

    #[cold]
    fn long_decimal(&mut self, d: &Decimal) {
        let offset = self.out.len() - self.start;
        self.out.push(d.scale());
        d.encode_ordered(DECIMAL_PRECISION, d.scale(), self.out);
        let length = self.out.len() - self.start - offset;
        self.cell(DECIMAL, length as u32, offset as u64);
    }

    fn bytes(&mut self, s: &[u8]) {
        let offset = self.out.len() - self.start;
        self.out.extend_from_slice(s);
        self.cell(BYTES, s.len() as u32, offset as u64);
    }

    fn cell(&mut self, tag: u8, length: u32, word: u64) {
        let cell = &mut self.out[self.next..self.next + CELL_BYTES];
        cell[0] = tag;
        cell[4..8].copy_from_slice(&length.to_ne_bytes());
        cell[8..16].copy_from_slice(&word.to_ne_bytes());
        self.next += CELL_BYTES;
    }
}

/// Cell `index` of a packed row.
#[inline]
pub fn get(row: &[u8], index: usize) -> Value<'_> {
    let cell: &[u8; CELL_BYTES] = row[index * CELL_BYTES..].first_chunk().expect("a packed row has all cells of its plan");
    let word = u64::from_ne_bytes(*cell.last_chunk().expect("a cell is longer than a word"));
    let length = || u32::from_ne_bytes([cell[4], cell[5], cell[6], cell[7]]) as usize;
    match cell[0] {
        NULL => Value::Null,
        INT => Value::Int(word as i64),
        UINT => Value::UInt(word),
        DOUBLE => Value::Double(f64::from_bits(word)),
        BYTES => Value::Bytes(Cow::Borrowed(&row[word as usize..word as usize + length()])),
        DATE => Value::Date(unpack_date(word as u32)),
        TIME => Value::Time(Time { micros: word as i64 }),
        DATETIME => Value::DateTime(unpack_datetime(word)),
        SHORT_DECIMAL => {
            let digits = word as i64;
            Value::Decimal(Decimal::from_parts(digits.unsigned_abs().into(), length() as u8, digits < 0))
        }
        DECIMAL => Value::Decimal(unpack_decimal(&row[word as usize..word as usize + length()])),
        tag => unreachable!("cell tag {tag}"),
    }
}

/// The number of cell `index`, if it is one that fits.
#[inline]
pub fn short_number(row: &[u8], index: usize) -> ShortNumber {
    let cell: &[u8; CELL_BYTES] = row[index * CELL_BYTES..].first_chunk().expect("a packed row has all cells of its plan");
    let word = u64::from_ne_bytes(*cell.last_chunk().expect("a cell is longer than a word"));
    match cell[0] {
        NULL => ShortNumber::Null,
        INT => ShortNumber::Digits(word as i64, 0),
        SHORT_DECIMAL => ShortNumber::Digits(word as i64, u32::from_ne_bytes([cell[4], cell[5], cell[6], cell[7]]) as u8),
        _ => ShortNumber::Other,
    }
}

fn unpack_decimal(bytes: &[u8]) -> Decimal {
    Decimal::decode_ordered(&bytes[1..], DECIMAL_PRECISION, bytes[0]).expect("written by `push`")
}

fn pack_date(d: &Date) -> u32 {
    u32::from(d.year) << 16 | u32::from(d.month) << 8 | u32::from(d.day)
}

fn unpack_date(bits: u32) -> Date {
    Date { year: (bits >> 16) as u16, month: (bits >> 8) as u8, day: bits as u8 }
}

/// year 14 bits, month 4, day 5, hour 5, minute 6, second 6, microsecond 20.
fn pack_datetime(d: &DateTime) -> u64 {
    let date = u64::from(d.date.year) << 9 | u64::from(d.date.month) << 5 | u64::from(d.date.day);
    let time = u64::from(d.hour) << 12 | u64::from(d.minute) << 6 | u64::from(d.second);
    (date << 17 | time) << 20 | u64::from(d.micros)
}

fn unpack_datetime(bits: u64) -> DateTime {
    let micros = (bits & 0xF_FFFF) as u32;
    let time = bits >> 20;
    let date = time >> 17;
    DateTime {
        date: Date { year: (date >> 9) as u16, month: (date >> 5 & 15) as u8, day: (date & 31) as u8 },
        hour: (time >> 12 & 31) as u8,
        minute: (time >> 6 & 63) as u8,
        second: (time & 63) as u8,
        micros,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_comes_back() {
        let date = Date { year: 9999, month: 12, day: 31 };
        let values = [
            Value::Null,
            Value::Int(i64::MIN),
            Value::UInt(u64::MAX),
            Value::Double(-0.5),
            Value::Decimal(Decimal::parse_exact("-123456789012345678901234567890.12345").expect("a number")),
            Value::Decimal(Decimal::parse_exact("-12345.60").expect("a number")),
            Value::Decimal(Decimal::parse_exact("9223372036854775807").expect("a number")),
            Value::Decimal(Decimal::parse_exact("9223372036854775808").expect("a number")),
            Value::Bytes(Cow::Borrowed(b"text")),
            Value::Bytes(Cow::Borrowed(b"")),
            Value::Date(date),
            Value::Time(Time { micros: -5 }),
            Value::DateTime(DateTime { date, hour: 23, minute: 59, second: 59, micros: 999_999 }),
        ];
        let mut out = b"other rows".to_vec();
        let mut packer = Packer::new(&mut out, values.len() + 1);
        values.iter().for_each(|v| packer.push(v));
        let row = &out[10..];
        for (n, value) in values.iter().enumerate() {
            assert_eq!(get(row, n), *value);
        }
        assert_eq!(get(row, values.len()), Value::Null);
    }
}
