//! The payload of an index entry: how often the word occurs in the row, and where.
//!
//! ```text
//! occurrences: varint    places: varint each, the first as it is, the others as the distance from the one before
//! ```
//!
//! P1: the bytes are bounded. Of a word that occurs very often only the first places are kept; fewer places than occurrences say so.

/// Bytes of places that are kept of a word in a row.
const PLACES_BYTES_MAX: usize = 1024;

/// Appends the payload of a word that stands at these places, which rise.
pub fn encode_places(places: &[u32], out: &mut Vec<u8>) {
    push_varint(places.len() as u32, out);
    let start = out.len();
    let mut last = 0;
    for place in places {
        if out.len() - start > PLACES_BYTES_MAX {
            return;
        }
        push_varint(place - last, out);
        last = *place;
    }
}

/// The occurrences; the places are appended to `places`. `None`: the bytes are damaged.
pub fn decode_places(mut payload: &[u8], mut places: Option<&mut Vec<u32>>) -> Option<u32> {
    let occurrences = take_varint(&mut payload)?;
    if let Some(places) = &mut places {
        let mut last = 0u32;
        while !payload.is_empty() {
            last = last.checked_add(take_varint(&mut payload)?)?;
            places.push(last);
        }
    }
    Some(occurrences)
}

fn push_varint(mut value: u32, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn take_varint(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for shift in (0..32).step_by(7) {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
