//! Index keys: values encoded so that `memcmp` gives the order of the index.
//!
//! A key is its parts one after the other; every part delimits itself.
//!
//! | type | bytes |
//! |---|---|
//! | TINYINT .. BIGINT | own width, big-endian, sign bit flipped where signed |
//! | FLOAT, DOUBLE | 4, 8: IEEE bits, all flipped where negative, else the sign bit |
//! | DECIMAL(p,s) | `Decimal::ordered_bytes(p)` |
//! | DATE, YEAR | 3, 1: as in a row, big-endian |
//! | TIME, DATETIME | 8: `pack`, big-endian |
//! | TIMESTAMP | 8: UTC microseconds, sign bit flipped; zero timestamp all zero |
//! | ENUM, SET, BIT | 2, 8, 8: ordinal or bits, big-endian |
//! | strings | the collation's sort key of the prefix |
//!
//! K1: a nullable part begins with 00 (NULL, nothing follows) or 01. So NULL comes first.
//! K2: a descending part has every byte inverted, its marker included.
//! K3: no encoding of a part is a prefix of another encoding of the same part.

mod range;

pub use range::RangeKey;

use crate::collation::{self, prefix_bytes, sort_key};
use crate::error::{Error, Result};
use crate::row::{self, enum_ordinal, set_bits, year_byte, year_of_byte};
use crate::schema::{IndexColumn, IndexDef, TableDef};
use crate::{ColumnType, Date, DateTime, Decimal, StoredRow, Time, TypeKind, Value};
use std::borrow::Cow;

/// Longest key of an index (1071 beyond it), primary key columns at its end not counted.
pub const KEY_BYTES_MAX: usize = 3072;

const NULL_MARK: u8 = 0;
const VALUE_MARK: u8 = 1;

/// The encoding of the keys of one index. Built once per index definition.
#[derive(Clone, Debug)]
pub struct KeyCodec {
    parts: Box<[KeyPart]>,
}

/// One column of an index.
#[derive(Clone, Debug)]
pub struct KeyPart {
    /// Position in the table's columns.
    pub column: usize,
    /// Of a multi-valued part that of the elements.
    pub ty: ColumnType,
    pub nullable: bool,
    /// Characters (bytes for binary types).
    pub prefix: Option<u32>,
    pub descending: bool,
}

impl KeyCodec {
    pub fn new(table: &TableDef, index: &IndexDef) -> Self {
        Self::from_columns(table, &index.columns)
    }

    pub fn from_columns(table: &TableDef, columns: &[IndexColumn]) -> Self {
        Self { parts: columns.iter().map(|column| KeyPart::new(table, column)).collect() }
    }

    pub fn parts(&self) -> &[KeyPart] {
        &self.parts
    }

    /// Appends the key of a row given by its values, one per column of the table. Answers whether a part is NULL.
    pub fn encode_values(&self, values: &[Value<'_>], out: &mut Vec<u8>) -> Result<bool> {
        let start = out.len();
        let mut has_null = false;
        for part in &self.parts {
            part.encode(&values[part.column], out)?;
            has_null |= values[part.column] == Value::Null;
        }
        check_length(start, out)?;
        Ok(has_null)
    }

    /// Appends the key of a stored row. Answers whether a part is NULL. An external column is an error: see [`Self::encode_with`].
    pub fn encode_row(&self, row: &StoredRow<'_>, out: &mut Vec<u8>) -> Result<bool> {
        self.encode_with(|column| row.get(column), out)
    }

    /// Appends the key of a row whose column `c` is `value(c)`. Answers whether a part is NULL.
    pub fn encode_with<'a>(&self, mut value: impl FnMut(usize) -> Result<Value<'a>>, out: &mut Vec<u8>) -> Result<bool> {
        let start = out.len();
        let mut has_null = false;
        for part in &self.parts {
            let value = value(part.column)?;
            part.encode(&value, out)?;
            has_null |= value == Value::Null;
        }
        check_length(start, out)?;
        Ok(has_null)
    }

    /// The offset of part `n`; for the number of parts, the end of the key.
    pub fn offset(&self, key: &[u8], part: usize) -> Result<usize> {
        let mut at = 0;
        for part in &self.parts[..part] {
            at += part.encoded_bytes(key.get(at..).ok_or(TRUNCATED)?)?;
        }
        Ok(at)
    }

    /// Decodes part `n` of a key; only if [`is_reversible`].
    pub fn decode<'k>(&'k self, key: &'k [u8], part: usize) -> Result<Value<'k>> {
        let at = self.offset(key, part)?;
        Ok(self.parts[part].decode(key.get(at..).ok_or(TRUNCATED)?)?.0)
    }
}

fn check_length(start: usize, out: &[u8]) -> Result<()> {
    if out.len() - start > KEY_BYTES_MAX { Err(Error::KeyTooLong { max: KEY_BYTES_MAX }) } else { Ok(()) }
}

const TRUNCATED: Error = Error::Corrupt("key is cut short");
const NO_VALUE: Error = Error::Corrupt("bytes of a key are no value of its type");

impl KeyPart {
    pub fn new(table: &TableDef, index: &IndexColumn) -> Self {
        let column = &table.columns[index.column];
        Self {
            column: index.column,
            ty: column.element.as_deref().unwrap_or(&column.ty).clone(),
            nullable: column.nullable,
            prefix: index.prefix,
            descending: index.descending,
        }
    }

    /// The whole value can be read back from the key.
    pub fn is_reversible(&self) -> bool {
        self.prefix.is_none() && is_reversible(&self.ty)
    }

    /// Appends a value that was converted to the column's type.
    pub fn encode(&self, value: &Value<'_>, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        self.encode_ascending(value, out)?;
        if self.descending {
            out[start..].iter_mut().for_each(|byte| *byte = !*byte);
        }
        Ok(())
    }

    fn encode_ascending(&self, value: &Value<'_>, out: &mut Vec<u8>) -> Result<()> {
        let wrong = Error::WrongKind { column: self.column };
        if self.nullable {
            out.push(if *value == Value::Null { NULL_MARK } else { VALUE_MARK });
        }
        match value {
            Value::Null if self.nullable => Ok(()),
            Value::Null => Err(Error::Null { column: self.column }),
            Value::Bytes(text) if fixed_width(&self.ty).is_none() => {
                sort_key(self.cut(text), self.ty.collation, out);
                Ok(())
            }
            value => encode_fixed(&self.ty, value, out).ok_or(wrong),
        }
    }

    /// The part of a string that the index holds.
    fn cut<'a>(&self, text: &'a [u8]) -> &'a [u8] {
        let Some(prefix) = self.prefix else { return text };
        let prefix = prefix as usize;
        if self.ty.collation.is_binary() { &text[..text.len().min(prefix)] } else { &text[..prefix_bytes(text, prefix)] }
    }

    /// The bytes of the part in every key; `None` if they vary.
    pub fn fixed_bytes(&self) -> Option<usize> {
        fixed_width(&self.ty).filter(|_| !self.nullable)
    }

    /// Bytes that the part takes at the front of `key`.
    pub fn encoded_bytes(&self, key: &[u8]) -> Result<usize> {
        if self.descending && fixed_width(&self.ty).is_none() {
            let inverted: Vec<u8> = key.iter().map(|byte| !byte).collect();
            return self.ascending_bytes(&inverted);
        }
        self.ascending_bytes(key)
    }

    /// Of a key part whose strings are not inverted; the marker may be.
    fn ascending_bytes(&self, key: &[u8]) -> Result<usize> {
        let mut at = 0;
        if self.nullable {
            let mark = *key.first().ok_or(TRUNCATED)?;
            let mark = if self.descending && fixed_width(&self.ty).is_some() { !mark } else { mark };
            match mark {
                NULL_MARK => return Ok(1),
                VALUE_MARK => at = 1,
                _ => return Err(NO_VALUE),
            }
        }
        let length = match fixed_width(&self.ty) {
            Some(width) => width,
            None => collation::sort_key_end(&key[at..], self.ty.collation).ok_or(TRUNCATED)?,
        };
        if at + length > key.len() { Err(TRUNCATED) } else { Ok(at + length) }
    }

    /// Decodes the value at the front of `key`, and returns its length in bytes. Only if [`Self::is_reversible`].
    pub fn decode<'k>(&'k self, key: &'k [u8]) -> Result<(Value<'k>, usize)> {
        if !self.descending {
            return self.decode_ascending(key);
        }
        let inverted: Vec<u8> = key.iter().map(|byte| !byte).collect();
        let ascending = Self { descending: false, ..self.clone() };
        let (value, length) = ascending.decode_ascending(&inverted)?;
        let value = match value {
            Value::Bytes(bytes) if matches!(self.ty.kind, TypeKind::Enum { .. }) => {
                let ordinal = enum_ordinal(&self.ty, &Value::Bytes(bytes)).ok_or(NO_VALUE)?;
                Value::Bytes(Cow::Borrowed(self.ty.member_name(u64::from(ordinal)).ok_or(NO_VALUE)?))
            }
            value => value.into_owned(),
        };
        Ok((value, length))
    }

    fn decode_ascending<'k>(&'k self, key: &'k [u8]) -> Result<(Value<'k>, usize)> {
        let length = self.ascending_bytes(key)?;
        let mut bytes = &key[..length];
        if self.nullable {
            if bytes[0] == NULL_MARK {
                return Ok((Value::Null, 1));
            }
            bytes = &bytes[1..];
        }
        if fixed_width(&self.ty).is_some() {
            return Ok((decode_fixed(&self.ty, bytes).ok_or(NO_VALUE)?, length));
        }
        if !self.ty.collation.is_bytewise() {
            return Err(Error::WrongKind { column: self.column });
        }
        let (text, _) = collation::decode_bytes_key(bytes, self.ty.collation).ok_or(NO_VALUE)?;
        Ok((Value::Bytes(text), length))
    }
}

/// Whether a value of this type can be read back from its key (an index on it may cover a query).
pub fn is_reversible(ty: &ColumnType) -> bool {
    match ty.kind {
        // -0 is stored as 0.
        TypeKind::Float | TypeKind::Double => false,
        TypeKind::Null => false,
        // CHAR has no trailing spaces to lose.
        TypeKind::Char { .. } => ty.collation.is_bytewise(),
        TypeKind::VarChar { .. } | TypeKind::Text(_) | TypeKind::Json => ty.collation.is_bytewise() && !ty.collation.pads_space(),
        _ => true,
    }
}

/// The smallest byte string greater than every one that begins with `bytes`; `None` when all bytes are FF.
pub fn prefix_successor(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut successor = bytes.to_vec();
    make_prefix_successor(&mut successor, 0).then_some(successor)
}

/// [`prefix_successor`] in place, of `bytes[start..]`; `false` (and nothing usable) when all bytes are FF.
pub fn make_prefix_successor(bytes: &mut Vec<u8>, start: usize) -> bool {
    while bytes.len() > start {
        let last = bytes.len() - 1;
        if bytes[last] < 0xff {
            bytes[last] += 1;
            return true;
        }
        bytes.pop();
    }
    false
}

/// Encoded width of types that are not strings.
fn fixed_width(ty: &ColumnType) -> Option<usize> {
    Some(match ty.kind {
        TypeKind::TinyInt | TypeKind::Year => 1,
        TypeKind::SmallInt | TypeKind::Enum { .. } => 2,
        TypeKind::MediumInt | TypeKind::Date => 3,
        TypeKind::Int | TypeKind::Float => 4,
        TypeKind::BigInt | TypeKind::Double | TypeKind::Set { .. } | TypeKind::Bit { .. } => 8,
        TypeKind::Time { .. } | TypeKind::DateTime { .. } | TypeKind::Timestamp { .. } => 8,
        TypeKind::Decimal { precision, .. } => Decimal::ordered_bytes(precision),
        _ => return None,
    })
}

/// Appends the low `width` bytes, big-endian.
fn push_be(value: u64, width: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&value.to_be_bytes()[8 - width..]);
}

fn read_be(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

fn encode_fixed(ty: &ColumnType, value: &Value<'_>, out: &mut Vec<u8>) -> Option<()> {
    let width = fixed_width(ty)?;
    let bits = match (&ty.kind, value) {
        (
            TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt,
            Value::Int(_) | Value::UInt(_),
        ) => {
            let bits = match value {
                Value::Int(v) => *v as u64,
                Value::UInt(v) => *v,
                _ => return None,
            };
            if ty.unsigned { bits } else { bits ^ 1 << (8 * width - 1) }
        }
        (TypeKind::Float, Value::Double(v)) => u64::from(ordered_f32(*v as f32)),
        (TypeKind::Double, Value::Double(v)) => ordered_f64(*v),
        (TypeKind::Decimal { precision, scale }, Value::Decimal(v)) => {
            v.encode_ordered(*precision, *scale, out);
            return Some(());
        }
        (TypeKind::Date, Value::Date(v)) => u64::from(v.pack()),
        (TypeKind::Time { .. }, Value::Time(v)) => v.pack(),
        (TypeKind::DateTime { .. }, Value::DateTime(v)) => v.pack(),
        (TypeKind::Timestamp { .. }, Value::DateTime(v)) if v.is_zero() => 0,
        (TypeKind::Timestamp { .. }, Value::DateTime(v)) => v.to_utc_micros()? as u64 ^ 1 << 63,
        (TypeKind::Year, Value::Int(v)) => u64::from(year_byte(*v)?),
        (TypeKind::Year, Value::UInt(v)) => u64::from(year_byte(i64::try_from(*v).ok()?)?),
        (TypeKind::Enum { .. }, value) => u64::from(enum_ordinal(ty, value)?),
        (TypeKind::Set { .. }, value) => set_bits(ty, value)?,
        (TypeKind::Bit { .. }, Value::UInt(v)) => *v,
        _ => return None,
    };
    push_be(bits, width, out);
    Some(())
}

fn decode_fixed<'k>(ty: &'k ColumnType, bytes: &'k [u8]) -> Option<Value<'k>> {
    let bits = if bytes.len() <= 8 { read_be(bytes) } else { 0 };
    Some(match &ty.kind {
        TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::MediumInt | TypeKind::Int | TypeKind::BigInt => {
            let shift = 64 - 8 * bytes.len() as u32;
            if ty.unsigned { Value::UInt(bits) } else { Value::Int(((bits << shift) ^ 1 << 63) as i64 >> shift) }
        }
        TypeKind::Float => Value::Double(f64::from(read_f32(bits as u32))),
        TypeKind::Double => Value::Double(read_f64(bits)),
        TypeKind::Decimal { precision, scale } => Value::Decimal(Decimal::decode_ordered(bytes, *precision, *scale)?),
        TypeKind::Date => Value::Date(Date::unpack(bits as u32)?),
        TypeKind::Time { .. } => Value::Time(Time::unpack(bits)?),
        TypeKind::DateTime { .. } => Value::DateTime(DateTime::unpack(bits)?),
        TypeKind::Timestamp { .. } if bits == 0 => Value::DateTime(DateTime::ZERO),
        TypeKind::Timestamp { .. } => Value::DateTime(DateTime::from_utc_micros((bits ^ 1 << 63) as i64)?),
        TypeKind::Year => Value::Int(year_of_byte(bits as u8)),
        TypeKind::Enum { .. } => row::enum_value(ty, bits)?,
        TypeKind::Set { .. } => Value::Bytes(row::set_names(ty, bits)?),
        TypeKind::Bit { .. } => Value::UInt(bits),
        _ => return None,
    })
}

fn ordered_f64(value: f64) -> u64 {
    // 0.0 and -0.0 are one key.
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits ^ 1 << 63 }
}

fn read_f64(bits: u64) -> f64 {
    f64::from_bits(if bits >> 63 == 1 { bits ^ 1 << 63 } else { !bits })
}

fn ordered_f32(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits();
    if bits >> 31 == 1 { !bits } else { bits ^ 1 << 31 }
}

fn read_f32(bits: u32) -> f32 {
    f32::from_bits(if bits >> 31 == 1 { bits ^ 1 << 31 } else { !bits })
}

#[cfg(test)]
mod tests;
