//! Text between UTF-8, which is all that is stored, and clients that speak `latin1` (which in MySQL is Windows-1252) or `ascii`.

use std::borrow::Cow;
use types::charset::{latin1_byte, latin1_char};

/// The encoding of a client's text, if it is neither UTF-8 nor binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Narrow {
    Latin1,
    Ascii,
}

impl Narrow {
    /// Of a character set by its name.
    pub fn of(charset: &str) -> Option<Self> {
        match charset {
            "latin1" => Some(Narrow::Latin1),
            "ascii" => Some(Narrow::Ascii),
            _ => None,
        }
    }

    /// A client's text as UTF-8.
    pub fn decode(self, text: &[u8]) -> Cow<'_, [u8]> {
        if text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let decoded: String = text.iter().map(|&byte| self.character(byte)).collect();
        Cow::Owned(decoded.into_bytes())
    }

    fn character(self, byte: u8) -> char {
        match (self, byte) {
            (_, 0..=0x7f) => byte.into(),
            (Narrow::Ascii, _) => '?',
            (Narrow::Latin1, _) => latin1_char(byte),
        }
    }

    /// Converts UTF-8 for the client; a character without a byte becomes `?`, as in MySQL.
    pub fn encode(self, text: &[u8]) -> Cow<'_, [u8]> {
        if text.is_ascii() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(String::from_utf8_lossy(text).chars().map(|character| self.byte(character)).collect())
    }

    fn byte(self, character: char) -> u8 {
        let byte = match self {
            Narrow::Ascii => character.is_ascii().then_some(character as u8),
            Narrow::Latin1 => latin1_byte(character),
        };
        byte.unwrap_or(b'?')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let bytes: Vec<u8> = (0..=255).collect();
        let utf8 = Narrow::Latin1.decode(&bytes).into_owned();
        assert_eq!(*Narrow::Latin1.encode(&utf8), bytes);
        assert_eq!(&*Narrow::Latin1.decode(b"\x80"), "\u{20ac}".as_bytes());
        assert_eq!(&*Narrow::Latin1.encode("\u{65e5}".as_bytes()), b"?");
        assert_eq!(&*Narrow::Ascii.encode("\u{e9}".as_bytes()), b"?");
    }
}
