//! Character sets: stored text is UTF-8 whatever a column's character set is; this module converts it to the bytes of
//! that set.
//!
//! `latin1` is Windows-1252, as in MySQL; the five bytes that it leaves undefined map to themselves.

pub(crate) mod eight_bit;
pub(crate) mod multi_byte;

use crate::CollationId;
use crate::collation::{ALL, CollationInfo};
use std::borrow::Cow;

pub use eight_bit::EightBit;
pub use multi_byte::MultiByte;

/// The characters of the bytes 0x80 to 0x9f in latin1.
const HIGH_CONTROLS: [char; 32] = [
    '\u{20ac}', '\u{81}', '\u{201a}', '\u{192}', '\u{201e}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2c6}', '\u{2030}',
    '\u{160}', '\u{2039}', '\u{152}', '\u{8d}', '\u{17d}', '\u{8f}', '\u{90}', '\u{2018}', '\u{2019}', '\u{201c}', '\u{201d}',
    '\u{2022}', '\u{2013}', '\u{2014}', '\u{2dc}', '\u{2122}', '\u{161}', '\u{203a}', '\u{153}', '\u{9d}', '\u{17e}', '\u{178}',
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Charset {
    Utf8mb4,
    /// UTF-8 of three bytes at most.
    Utf8mb3,
    /// Units of two bytes, the higher one first, one per character: the first plane alone.
    Ucs2,
    /// Units of two bytes, the higher one first.
    Utf16,
    /// Likewise, the lower one first.
    Utf16le,
    /// Units of four bytes, the highest one first.
    Utf32,
    Latin1,
    Ascii,
    /// Another set of one byte per character.
    EightBit(EightBit),
    /// A set of one or several bytes per character.
    MultiByte(MultiByte),
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

    /// The collation of texts whose collation is not named.
    pub fn default_collation(self) -> CollationId {
        let default = ALL.iter().find(|info| info.is_default && Self::of(info.id) == self);
        default.map_or(CollationId::BINARY, |info| info.id)
    }

    /// By its name in lower case.
    pub const fn named(name: &str) -> Option<Self> {
        Some(match name.as_bytes() {
            b"utf8mb4" => Self::Utf8mb4,
            b"utf8mb3" | b"utf8" => Self::Utf8mb3,
            b"ucs2" => Self::Ucs2,
            b"utf16" => Self::Utf16,
            b"utf16le" => Self::Utf16le,
            b"utf32" => Self::Utf32,
            b"latin1" => Self::Latin1,
            b"ascii" => Self::Ascii,
            b"binary" => Self::Binary,
            name => match (EightBit::named(name), MultiByte::named(name)) {
                (Some(set), _) => Self::EightBit(set),
                (None, Some(set)) => Self::MultiByte(set),
                (None, None) => return None,
            },
        })
    }

    /// Does the set have the character?
    pub fn has(self, character: char) -> bool {
        match self {
            Self::Utf8mb4 | Self::Utf16 | Self::Utf16le | Self::Utf32 | Self::Binary => true,
            Self::Utf8mb3 | Self::Ucs2 => character.len_utf8() < 4,
            Self::Latin1 => latin1_byte(character).is_some(),
            Self::Ascii => character.is_ascii(),
            Self::EightBit(set) => set.byte_of(character).is_some(),
            Self::MultiByte(set) => set.has(character.into()),
        }
    }

    /// Are its units wider than a byte? Then no client speaks it.
    pub fn is_wide(self) -> bool {
        self.unit_bytes() > 1
    }

    /// Bytes of a unit, the least that a character has.
    pub fn unit_bytes(self) -> usize {
        match self {
            Self::Ucs2 | Self::Utf16 | Self::Utf16le => 2,
            Self::Utf32 => 4,
            _ => 1,
        }
    }

    /// Bytes of the longest character.
    pub fn char_bytes_max(self) -> usize {
        match self {
            Self::Utf8mb4 | Self::Utf16 | Self::Utf16le | Self::Utf32 => 4,
            Self::Utf8mb3 => 3,
            Self::Ucs2 => 2,
            Self::MultiByte(set) => set.char_bytes_max(),
            Self::Latin1 | Self::Ascii | Self::EightBit(_) | Self::Binary => 1,
        }
    }

    /// Are the bytes of an ASCII string in this set the same?
    pub fn has_ascii(self) -> bool {
        match self {
            Self::EightBit(set) => set.has_ascii(),
            _ => !self.is_wide(),
        }
    }

    /// Bytes of the first character of a text in this set.
    pub fn first_char_bytes(self, text: &[u8]) -> usize {
        let bytes = match self {
            Self::Utf16 if matches!(text, [0xd8..=0xdb, ..]) => 4,
            Self::Utf16le if matches!(text, [_, 0xd8..=0xdb, ..]) => 4,
            Self::MultiByte(set) => set.character(text).map_or(1, |(_, bytes)| bytes),
            Self::Utf8mb4 | Self::Utf8mb3 => crate::collation::prefix_bytes(text, 1),
            _ => self.unit_bytes(),
        };
        bytes.min(text.len())
    }

    /// Do the bytes of texts differ from stored text, which is UTF-8?
    pub fn has_own_bytes(self) -> bool {
        !matches!(self, Self::Utf8mb4 | Self::Utf8mb3 | Self::Binary)
    }

    /// The bytes of a UTF-8 string in this set; characters outside of the set become `?`.
    pub fn encode(self, text: &[u8]) -> Cow<'_, [u8]> {
        if !self.has_own_bytes() || self.has_ascii() && text.is_ascii() {
            return Cow::Borrowed(text);
        }
        let text = String::from_utf8_lossy(text);
        let chars = text.chars();
        Cow::Owned(match self {
            Self::Utf8mb4 | Self::Utf8mb3 | Self::Binary => unreachable!("borrowed above"),
            Self::Utf16 => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
            Self::Utf16le => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
            Self::Ucs2 => chars.flat_map(|c| u16::try_from(u32::from(c)).unwrap_or(b'?'.into()).to_be_bytes()).collect(),
            Self::Utf32 => chars.flat_map(|c| u32::from(c).to_be_bytes()).collect(),
            Self::Latin1 => chars.map(|c| latin1_byte(c).unwrap_or(b'?')).collect(),
            Self::Ascii => chars.map(|c| if c.is_ascii() { c as u8 } else { b'?' }).collect(),
            Self::EightBit(set) => chars.map(|c| set.byte_of(c).unwrap_or(b'?')).collect(),
            Self::MultiByte(set) => set.encode(&text),
        })
    }

    /// Bytes of this set as UTF-8; `None`: they are no text of the set.
    pub fn decode(self, bytes: &[u8]) -> Option<Cow<'_, [u8]>> {
        if self == Self::Binary || self.has_ascii() && bytes.is_ascii() {
            return Some(Cow::Borrowed(bytes));
        }
        let decoded: String = match self {
            Self::Utf8mb4 | Self::Utf8mb3 | Self::Binary => {
                let text = std::str::from_utf8(bytes).ok()?;
                return (self == Self::Utf8mb4 || text.chars().all(|c| self.has(c))).then_some(Cow::Borrowed(bytes));
            }
            Self::Utf16 => char::decode_utf16(units(bytes).map(u16::from_be_bytes)).collect::<Result<_, _>>().ok()?,
            Self::Utf16le => char::decode_utf16(units(bytes).map(u16::from_le_bytes)).collect::<Result<_, _>>().ok()?,
            Self::Ucs2 => units(bytes).map(|unit| char::from_u32(u16::from_be_bytes(unit).into())).collect::<Option<_>>()?,
            Self::Utf32 => units(bytes).map(|unit| char::from_u32(u32::from_be_bytes(unit))).collect::<Option<_>>()?,
            Self::Latin1 => bytes.iter().map(|byte| latin1_char(*byte)).collect(),
            Self::Ascii => return None,
            Self::EightBit(set) => bytes.iter().map(|byte| set.char_of(*byte)).collect(),
            Self::MultiByte(set) => set.decode(bytes)?,
        };
        Some(Cow::Owned(decoded.into_bytes()))
    }

    /// The text of a statement as UTF-8.
    pub fn decode_statement(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::MultiByte(set) if !bytes.is_ascii() => Cow::Owned(set.decode_statement(bytes).into_bytes()),
            _ => self.decode_lossy(bytes),
        }
    }

    /// The bytes of a part of a statement as they were before `decode_statement`.
    pub fn as_sent(self, text: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::MultiByte(set) if !text.is_ascii() => Cow::Owned(set.as_sent(&String::from_utf8_lossy(text))),
            _ => self.encode(text),
        }
    }

    /// Bytes of this set as UTF-8, with `?` for what is no text of the set, or with characters that the set does not have.
    pub fn decode_lossy(self, bytes: &[u8]) -> Cow<'_, [u8]> {
        match (self.decode(bytes), self) {
            (Some(text), _) => text,
            (None, Self::MultiByte(set)) => Cow::Owned(set.decode_kept(bytes).into_bytes()),
            (None, _) => bytes.iter().map(|byte| if byte.is_ascii() { *byte } else { b'?' }).collect(),
        }
    }

    /// A UTF-8 string with characters outside of this set replaced by `?`.
    pub fn narrow(self, text: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
        if matches!(self, Self::Utf8mb4 | Self::Utf16 | Self::Utf16le | Self::Utf32 | Self::Binary) {
            return text;
        }
        if self.has_ascii() && text.is_ascii() {
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

/// UPPER or LOWER of a text of a set with cases of its own; `None`: the letters' cases are Unicode's. Characters outside of the set stay.
pub fn change_case(text: &[u8], collation: CollationId, upper: bool) -> Option<String> {
    match Charset::of(collation) {
        Charset::MultiByte(set) => Some(set.change_case(&String::from_utf8_lossy(text), upper)),
        _ => eight_bit::change_case(text, collation.0, upper),
    }
}

/// Units of `N` bytes; bytes that miss in the first one are zero.
fn units<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
    let (head, rest) = bytes.split_at(bytes.len() % N);
    let first = (!head.is_empty()).then(|| {
        let mut unit = [0; N];
        unit[N - head.len()..].copy_from_slice(head);
        unit
    });
    first.into_iter().chain(rest.chunks_exact(N).map(|unit| unit.try_into().expect("a chunk has N bytes")))
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
        assert_eq!(Charset::Utf16le.encode("A😀".as_bytes()).as_ref(), b"A\0\x3d\xd8\x00\xde");
        assert_eq!(Charset::Utf32.encode("A😀".as_bytes()).as_ref(), b"\0\0\0A\0\x01\xf6\0");
        assert_eq!(Charset::Utf32.decode(b"\x30\x42").as_deref(), Some("あ".as_bytes()));
        assert_eq!(Charset::Ucs2.encode("A😀".as_bytes()).as_ref(), b"\0A\0?");
        assert_eq!(Charset::named("swe7").unwrap().encode("Ä[".as_bytes()).as_ref(), b"[?");
        assert_eq!(Charset::named("swe7").unwrap().decode(b"[").as_deref(), Some("Ä".as_bytes()));
        assert_eq!(Charset::named("koi8r").unwrap().encode("Ж中".as_bytes()).as_ref(), b"\xf6?");
        assert_eq!(Charset::Utf8mb3.narrow("a😀".as_bytes().into()).as_ref(), b"a?");
    }
}
