//! Documents in MySQL's binary form, read: the way back of `json`.
//!
//! Nothing here trusts the bytes: what does not fit is no document, and what the bytes do not have reserves no memory.

use super::*;
use crate::read::Rest;
use crate::row::read::{read_decimal, time_of_packed};
use types::DateTime;

/// Reads a document in MySQL's binary form. (Its depth is bounded by `types::json::DEPTH_MAX`.)
///
/// # Errors
/// `None`: it is no document.
pub fn read(bytes: &[u8]) -> Option<Json> {
    let (kind, value) = bytes.split_first()?;
    // Each value is read once: what is read more than once can make a small document large.
    let mut budget = bytes.len().saturating_mul(2) + 16;
    read_value(*kind, value, 1, &mut budget)
}

fn read_value(kind: u8, bytes: &[u8], depth: usize, budget: &mut usize) -> Option<Json> {
    *budget = budget.checked_sub(1)?;
    let small = || bytes.first_chunk::<2>().copied();
    Some(match kind {
        SMALL_OBJECT | LARGE_OBJECT | SMALL_ARRAY | LARGE_ARRAY => return read_container(kind, bytes, depth, budget),
        LITERAL => match bytes.first()? {
            0 => Json::Null,
            1 => Json::Bool(true),
            2 => Json::Bool(false),
            _ => return None,
        },
        INT16 => Json::Int(i64::from(i16::from_le_bytes(small()?))),
        UINT16 => Json::UInt(u64::from(u16::from_le_bytes(small()?))),
        INT32 => Json::Int(i64::from(i32::from_le_bytes(*bytes.first_chunk()?))),
        UINT32 => Json::UInt(u64::from(u32::from_le_bytes(*bytes.first_chunk()?))),
        INT64 => Json::Int(i64::from_le_bytes(*bytes.first_chunk()?)),
        UINT64 => Json::UInt(u64::from_le_bytes(*bytes.first_chunk()?)),
        DOUBLE => Json::Double(f64::from_le_bytes(*bytes.first_chunk()?)),
        STRING => Json::String(std::str::from_utf8(counted(bytes, budget)?).ok()?.to_owned()),
        OPAQUE => {
            let (kind, rest) = bytes.split_first()?;
            let value = counted(rest, budget)?;
            let packed = || value.first_chunk().map(|bytes| i64::from_le_bytes(*bytes));
            match *kind {
                TYPE_DECIMAL => {
                    let [precision, scale, digits @ ..] = value else { return None };
                    Json::Decimal(read_decimal(&mut Rest(digits), *precision, *scale).ok()?)
                }
                TYPE_DATE => Json::Date(DateTime::unpack(u64::try_from(packed()?).ok()?)?.date),
                // TIMESTAMP, DATETIME
                7 | TYPE_DATETIME => Json::DateTime(DateTime::unpack(u64::try_from(packed()?).ok()?)?),
                TYPE_TIME => Json::Time(time_of_packed(packed()?).ok()?),
                kind => Json::Opaque(kind, value.to_vec()),
            }
        }
        _ => return None,
    })
}

/// Bytes with a length of seven bits a byte before them.
fn counted<'a>(bytes: &'a [u8], budget: &mut usize) -> Option<&'a [u8]> {
    let mut length = 0usize;
    for (at, byte) in bytes.iter().take(5).enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            *budget = budget.checked_sub(length)?;
            return bytes.get(at + 1..(at + 1).checked_add(length)?);
        }
    }
    None
}

fn read_container(kind: u8, bytes: &[u8], depth: usize, budget: &mut usize) -> Option<Json> {
    if depth > types::json::DEPTH_MAX {
        return None;
    }
    let (is_large, is_object) = (matches!(kind, LARGE_OBJECT | LARGE_ARRAY), matches!(kind, SMALL_OBJECT | LARGE_OBJECT));
    let width = if is_large { 4 } else { 2 };
    let number = |at: usize, width: usize| -> Option<usize> {
        Some(bytes.get(at..at.checked_add(width)?)?.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    let (count, size) = (number(0, width)?, number(width, width)?);
    let bytes = bytes.get(..size)?;
    let keys_at = 2 * width;
    let values_at = keys_at + if is_object { count.checked_mul(width + 2)? } else { 0 };
    // The tables must be there, which also bounds the count.
    bytes.get(..values_at.checked_add(count.checked_mul(width + 1)?)?)?;
    let mut value = |index: usize| -> Option<Json> {
        let at = values_at + index * (width + 1);
        let kind = bytes[at];
        let is_inline = matches!(kind, LITERAL | INT16 | UINT16) || (is_large && matches!(kind, INT32 | UINT32));
        let from = if is_inline { at + 1 } else { number(at + 1, width)? };
        read_value(kind, bytes.get(from..)?, depth + 1, budget)
    };
    if !is_object {
        return (0..count).map(value).collect::<Option<Vec<Json>>>().map(Json::Array);
    }
    let mut members = Vec::with_capacity(count);
    for index in 0..count {
        let at = keys_at + index * (width + 2);
        let (from, length) = (number(at, width)?, number(at + width, 2)?);
        let name = std::str::from_utf8(bytes.get(from..from.checked_add(length)?)?).ok()?;
        members.push((name.to_owned(), value(index)?));
    }
    Some(Json::object(members))
}
