//! Text between UTF-8, which is all that is stored, and clients that speak `latin1` (which in MySQL is Windows-1252) or `ascii`.

use std::borrow::Cow;

/// What the bytes 0x80 to 0x9f stand for; the five that Windows-1252 leaves out stand for themselves, as in MySQL.
const HIGH_CONTROLS: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}', '\u{2030}',
    '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}',
    '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

/// The encoding of a client's text, where it is not UTF-8 or bytes as they are.
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
            (Narrow::Latin1, 0x80..=0x9f) => HIGH_CONTROLS[usize::from(byte - 0x80)],
            (Narrow::Latin1, _) => byte.into(),
        }
    }

    /// UTF-8 for the client; what it has no byte for becomes `?`, as in MySQL.
    pub fn encode(self, text: &[u8]) -> Cow<'_, [u8]> {
        if text.is_ascii() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(String::from_utf8_lossy(text).chars().map(|character| self.byte(character)).collect())
    }

    fn byte(self, character: char) -> u8 {
        match (self, u32::from(character)) {
            (_, code @ 0..=0x7f) => code as u8,
            (Narrow::Ascii, _) => b'?',
            (Narrow::Latin1, code @ 0xa0..=0xff) => code as u8,
            (Narrow::Latin1, _) => match HIGH_CONTROLS.iter().position(|&known| known == character) {
                Some(position) => 0x80 + position as u8,
                None => b'?',
            },
        }
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
