//! Character sets: stored text is UTF-8 whatever a column's character set is; this module converts it to the bytes of
//! that set.
//!
//! `latin1` is Windows-1252, as in MySQL; the five bytes that it leaves undefined map to themselves.

use crate::CollationId;
use crate::collation::{ALL, CollationInfo};
use std::borrow::Cow;

/// The characters of the bytes 0x80 to 0x9f in latin1.
const HIGH_CONTROLS: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}', '\u{2030}',
    '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}',
    '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    Utf8mb4,
    /// UTF-8 of three bytes at most.
    Utf8mb3,
    /// Units of two bytes, the higher one first.
    Utf16,
    Latin1,
    Ascii,
    Binary,
}

/// The character set of each collation, by its number. It is read for each stored string.
static BY_COLLATION: [Charset; 512] = {
    let mut sets = [Charset::Binary; 512];
    let mut rest: &[CollationInfo] = ALL;
    while let [info, others @ ..] = rest {
        if let Some(set) = Charset::named(info.charset) {
            sets[info.id.0 as usize] = set;
        }
        rest = others;
    }
    sets
};

impl Charset {
    /// Of a collation.
    pub fn of(collation: CollationId) -> Self {
        BY_COLLATION.get(usize::from(collation.0)).copied().unwrap_or(Self::Binary)
    }

    pub const fn named(name: &str) -> Option<Self> {
        Some(match name.as_bytes() {
            b"utf8mb4" => Self::Utf8mb4,
            b"utf8mb3" | b"utf8" => Self::Utf8mb3,
            b"utf16" => Self::Utf16,
            b"latin1" => Self::Latin1,
            b"ascii" => Self::Ascii,
            b"binary" => Self::Binary,
            _ => return None,
        })
    }

    /// Does the set have the character?
    pub fn has(self, character: char) -> bool {
        match self {
            Self::Utf8mb4 | Self::Utf16 | Self::Binary => true,
            Self::Utf8mb3 => character.len_utf8() < 4,
            Self::Latin1 => latin1_byte(character).is_some(),
            Self::Ascii => character.is_ascii(),
        }
    }

    /// May the bytes of an ASCII string in this set differ from its UTF-8 form?
    pub fn is_wide(self) -> bool {
        self == Self::Utf16
    }

    /// The bytes of a UTF-8 string in this set; characters outside of the set become `?`.
    pub fn encode(self, text: &[u8]) -> Cow<'_, [u8]> {
        if self == Self::Utf16 {
            let units: Vec<u16> = String::from_utf8_lossy(text).encode_utf16().collect();
            return Cow::Owned(units.into_iter().flat_map(u16::to_be_bytes).collect());
        }
        if matches!(self, Self::Utf8mb4 | Self::Utf8mb3 | Self::Binary) || text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let byte = |character| match self {
            Self::Latin1 => latin1_byte(character).unwrap_or(b'?'),
            _ => {
                if character.is_ascii() {
                    character as u8
                } else {
                    b'?'
                }
            }
        };
        Cow::Owned(String::from_utf8_lossy(text).chars().map(byte).collect())
    }

    /// Bytes of this set as UTF-8; `None`: they are no text of the set.
    pub fn decode(self, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
        if self == Self::Utf16 {
            return utf16_text(bytes).map(|text| Cow::Owned(text.into_bytes()));
        }
        if bytes.is_ascii() || self == Self::Binary {
            return Some(Cow::Borrowed(bytes));
        }
        match self {
            Self::Latin1 => {
                let decoded: String = bytes.iter().map(|byte| latin1_char(*byte)).collect();
                Some(Cow::Owned(decoded.into_bytes()))
            }
            Self::Ascii => None,
            _ => {
                let text = std::str::from_utf8(bytes).ok()?;
                (self == Self::Utf8mb4 || text.chars().all(|c| self.has(c))).then_some(Cow::Borrowed(bytes))
            }
        }
    }

    /// A UTF-8 string with characters outside of this set replaced by `?`.
    pub fn narrow(self, text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
        if matches!(self, Self::Utf8mb4 | Self::Utf16 | Self::Binary) || text.is_ascii() {
            return text;
        }
        let lossy = String::from_utf8_lossy(&text);
        if lossy.chars().all(|c| self.has(c)) {
            return text;
        }
        let narrow: String = lossy.chars().map(|c| if self.has(c) { c } else { '?' }).collect();
        Cow::Owned(narrow.into_bytes())
    }
}

/// A text of units of two bytes, before which a missing byte is zero; `None`: half of a character is missing.
fn utf16_text(bytes: &[u8]) -> Option<String> {
    let (first, rest) = bytes.split_at(bytes.len() % 2);
    let first = first.first().map(|byte| u16::from(*byte));
    let rest = rest.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    char::decode_utf16(first.into_iter().chain(rest)).collect::<Result<String, _>>().ok()
}

/// The character of a byte of latin1.
pub fn latin1_char(byte: u8) -> char {
    match byte {
        0x80..=0x9f => HIGH_CONTROLS[usize::from(byte - 0x80)],
        _ => byte.into(),
    }
}

/// The byte of a character in latin1.
pub fn latin1_byte(character: char) -> Option<u8> {
    match u32::from(character) {
        code @ (0..=0x7f | 0xa0..=0xff) => Some(code as u8),
        _ => HIGH_CONTROLS.iter().position(|known| *known == character).map(|n| n as u8 + 0x80),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latin1_comes_back() {
        for byte in 0..=255 {
            assert_eq!(latin1_byte(latin1_char(byte)), Some(byte));
        }
        assert_eq!(Charset::Latin1.encode("é€中".as_bytes()).as_ref(), b"\xe9\x80?");
        assert_eq!(Charset::Latin1.decode(b"\xe9\x80").as_deref(), Some("é€".as_bytes()));
        assert_eq!(Charset::Ascii.decode(b"\xe9"), None);
        assert_eq!(Charset::Utf16.encode("A😀".as_bytes()).as_ref(), b"\0A\xd8\x3d\xde\x00");
        assert_eq!(Charset::Utf16.decode(b"A\x30\x42").as_deref(), Some("Aあ".as_bytes()));
        assert_eq!(Charset::Utf16.decode(b"\xd8\x3d"), None);
        assert_eq!(Charset::Utf8mb3.narrow("a😀".as_bytes().into()).as_ref(), b"a?");
    }
}
