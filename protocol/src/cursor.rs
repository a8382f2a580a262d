//! Reads the protocol's basic types from one payload.
//!
//! Integers are little-endian; a *length-encoded* integer is one byte below 0xfb, or 0xfc, 0xfd, 0xfe and then 2, 3 or 8 bytes.
//! Every read names the field it is for, so that a short packet tells what was missing and where.
//!
//! Invariant: `offset <= payload.len()`; a failed read leaves the cursor where the field began.

use crate::error::{Error, Result};

/// A position in one payload.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    payload: &'a [u8],
    offset: usize,
    /// What the payload is, for errors.
    packet: &'static str,
}

impl<'a> Cursor<'a> {
    pub fn new(packet: &'static str, payload: &'a [u8]) -> Self {
        Self { payload, offset: 0, packet }
    }

    /// The error for a field that starts here.
    #[cold]
    pub fn malformed(&self, field: &'static str) -> Error {
        Error::Malformed { packet: self.packet, field, offset: self.offset }
    }

    pub fn offset(&self) -> usize {
        self.offset
    }

    pub fn is_empty(&self) -> bool {
        self.offset == self.payload.len()
    }

    pub fn remaining(&self) -> usize {
        self.payload.len() - self.offset
    }

    /// Everything that has not been read, without reading it.
    pub fn peek_rest(&self) -> &'a [u8] {
        &self.payload[self.offset..]
    }

    /// Everything that has not been read.
    pub fn rest(&mut self) -> &'a [u8] {
        let rest = self.peek_rest();
        self.offset = self.payload.len();
        rest
    }

    #[inline]
    pub fn bytes(&mut self, count: usize, field: &'static str) -> Result<&'a [u8]> {
        match self.payload.get(self.offset..).and_then(|rest| rest.get(..count)) {
            Some(bytes) => {
                self.offset += count;
                Ok(bytes)
            }
            None => Err(self.malformed(field)),
        }
    }

    #[inline]
    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N]> {
        match self.payload[self.offset..].first_chunk::<N>() {
            Some(bytes) => {
                self.offset += N;
                Ok(*bytes)
            }
            None => Err(self.malformed(field)),
        }
    }

    #[inline]
    pub fn u8(&mut self, field: &'static str) -> Result<u8> {
        Ok(self.array::<1>(field)?[0])
    }

    #[inline]
    pub fn u16(&mut self, field: &'static str) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array(field)?))
    }

    #[inline]
    pub fn u24(&mut self, field: &'static str) -> Result<u32> {
        let [a, b, c] = self.array(field)?;
        Ok(u32::from_le_bytes([a, b, c, 0]))
    }

    #[inline]
    pub fn u32(&mut self, field: &'static str) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(field)?))
    }

    #[inline]
    pub fn u64(&mut self, field: &'static str) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(field)?))
    }

    /// A length-encoded integer. 0xfb (NULL in rows) and 0xff are errors here.
    #[inline]
    pub fn length_encoded(&mut self, field: &'static str) -> Result<u64> {
        let start = self.offset;
        let value = match self.u8(field)? {
            small @ 0..=0xfa => Ok(u64::from(small)),
            0xfc => self.u16(field).map(u64::from),
            0xfd => self.u24(field).map(u64::from),
            0xfe => self.u64(field),
            _ => Err(self.malformed(field)),
        };
        value.map_err(|_| {
            self.offset = start;
            self.malformed(field)
        })
    }

    /// Bytes behind their length-encoded length.
    #[inline]
    pub fn length_encoded_bytes(&mut self, field: &'static str) -> Result<&'a [u8]> {
        let start = self.offset;
        let length = self.length_encoded(field)?;
        let bytes = match usize::try_from(length) {
            Ok(length) => self.bytes(length, field),
            Err(_) => Err(self.malformed(field)),
        };
        bytes.map_err(|_| {
            self.offset = start;
            self.malformed(field)
        })
    }

    /// Bytes up to a zero byte, which is read too and left out.
    pub fn until_zero(&mut self, field: &'static str) -> Result<&'a [u8]> {
        let rest = self.peek_rest();
        match rest.iter().position(|&byte| byte == 0) {
            Some(end) => {
                self.offset += end + 1;
                Ok(&rest[..end])
            }
            None => Err(self.malformed(field)),
        }
    }

    /// Bytes up to a zero byte or the end of the payload; some clients leave the last zero out.
    pub fn until_zero_or_end(&mut self) -> &'a [u8] {
        match self.until_zero("") {
            Ok(bytes) => bytes,
            Err(_) => self.rest(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_encoded_integers() {
        let check = |bytes: &[u8], expected: Option<u64>| {
            let mut cursor = Cursor::new("test", bytes);
            assert_eq!(cursor.length_encoded("n").ok(), expected, "{bytes:?}");
            assert_eq!(cursor.offset(), if expected.is_some() { bytes.len() } else { 0 });
        };
        check(&[], None);
        check(&[0], Some(0));
        check(&[0xfa], Some(250));
        check(&[0xfb], None);
        check(&[0xfc, 1], None);
        check(&[0xfc, 1, 2], Some(0x201));
        check(&[0xfd, 1, 2, 3], Some(0x30201));
        check(&[0xfe, 1, 0, 0, 0, 0, 0, 0, 0x80], Some(0x8000_0000_0000_0001));
        check(&[0xff], None);
    }

    #[test]
    fn a_short_packet_names_the_field_and_its_place() {
        let mut cursor = Cursor::new("COM_TEST", &[1, 5, b'a']);
        assert_eq!(cursor.u8("first"), Ok(1));
        assert_eq!(cursor.length_encoded_bytes("name"), Err(Error::Malformed { packet: "COM_TEST", field: "name", offset: 1 }));
        assert_eq!(cursor.rest(), &[5, b'a']);
        assert!(cursor.is_empty());
    }

    #[test]
    fn huge_lengths_do_not_overflow() {
        let mut bytes = vec![0xfe];
        bytes.extend([0xff; 8]);
        assert!(Cursor::new("t", &bytes).length_encoded_bytes("x").is_err());
    }
}
