//! Appends the protocol's basic types to a byte vector; the counterpart of [`crate::Cursor`].

#[inline]
pub fn put_u16(out: &mut Vec<u8>, value: u16) {
    out.extend_from_slice(&value.to_le_bytes());
}

#[inline]
pub fn put_u24(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes()[..3]);
}

#[inline]
pub fn put_u32(out: &mut Vec<u8>, value: u32) {
    out.extend_from_slice(&value.to_le_bytes());
}

#[inline]
pub fn put_u64(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

/// A length-encoded integer in its shortest form.
#[inline]
pub fn put_length_encoded(out: &mut Vec<u8>, value: u64) {
    if value < 0xfb {
        out.push(value as u8);
    } else {
        put_length_encoded_long(out, value);
    }
}

fn put_length_encoded_long(out: &mut Vec<u8>, value: u64) {
    if value <= 0xffff {
        out.push(0xfc);
        put_u16(out, value as u16);
    } else if value <= 0xff_ffff {
        out.push(0xfd);
        put_u24(out, value as u32);
    } else {
        out.push(0xfe);
        put_u64(out, value);
    }
}

/// Bytes behind their length-encoded length.
#[inline]
pub fn put_length_encoded_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_length_encoded(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Bytes and a zero byte. A zero inside would end the string early for the reader, so the rest is left out.
pub fn put_zero_terminated(out: &mut Vec<u8>, bytes: &[u8]) {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    out.extend_from_slice(&bytes[..end]);
    out.push(0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cursor;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn length_encoded_round_trip(shift in 0u32..64, value: u64, bytes: Vec<u8>) {
            let value = value >> shift;
            let mut out = Vec::new();
            put_length_encoded(&mut out, value);
            put_length_encoded_bytes(&mut out, &bytes);
            let mut cursor = Cursor::new("test", &out);
            prop_assert_eq!(cursor.length_encoded("n"), Ok(value));
            prop_assert_eq!(cursor.length_encoded_bytes("b"), Ok(&bytes[..]));
            prop_assert!(cursor.is_empty());
        }
    }
}
