//! Collations of eight-bit sets that do not weigh characters one by one: the Czech ones and the Thai one.
//!
//! The weight string of a whole text is made, and weight strings are compared. The rules are read from the answers of MySQL's WEIGHT_STRING:
//!
//! - `latin2_czech_cs`: four levels. The first two are written word by word (both of a word, then the next word), the others for the whole text.
//!   02 is between words, 01 behind a level, 00 at the end. Trailing spaces do not count; several spaces count once, except on the last level.
//! - `cp1250_czech_cs`: two levels, each of the whole text. All weights of the first are greater than those of the second, so nothing
//!   separates them. Trailing spaces do not count.
//! - `tis620_thai_ci`: a leading vowel changes places with the consonant behind it, and a tone mark moves to the end, where its weight
//!   tells how many consonants precede it. Then bytes are compared, the shorter text padded with spaces.
//!
//! `ch` is a letter of its own in the Czech ones. Their tables are `czech.bin`, made by `types/tools/eight_bit.py`.

use super::trim;
use super::weights::decode_char;
use crate::charset::eight_bit::ByteOrder;

const CZECH: &[u8; 4 * 256 + 12 + 2 * 256 + 6] = include_bytes!("../charset/czech.bin");
/// Where the letters `ch`, `Ch`, `CH` and the tables of cp1250 begin.
const LATIN2_LETTERS: usize = 4 * 256;
const CP1250: usize = LATIN2_LETTERS + 12;
const CP1250_LETTERS: usize = CP1250 + 2 * 256;
const LETTERS: [&[u8; 2]; 3] = [b"ch", b"Ch", b"CH"];

const LEVEL_END: u8 = 1;
const WORD_END: u8 = 2;

/// Which of them, with the set's bytes and classes in LIKE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Levels {
    Latin2Czech(&'static ByteOrder),
    Cp1250Czech(&'static ByteOrder),
    Thai(&'static ByteOrder),
}

impl Levels {
    pub(crate) fn order(self) -> &'static ByteOrder {
        match self {
            Self::Latin2Czech(order) | Self::Cp1250Czech(order) | Self::Thai(order) => order,
        }
    }

    fn bytes(self, mut text: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(text.len());
        while !text.is_empty() {
            let (code, length) = decode_char(text);
            bytes.push(self.order().byte_of(code));
            text = &text[length..];
        }
        bytes
    }

    /// What is compared: bytes, the shorter ones padded with spaces in Thai; never zero at an end in Czech.
    pub(crate) fn weights(self, text: &[u8]) -> Vec<u8> {
        match self {
            Self::Latin2Czech(_) => latin2_czech(&self.bytes(text)),
            Self::Cp1250Czech(_) => cp1250_czech(&self.bytes(trim(text))),
            Self::Thai(_) => thai(self.bytes(text)),
        }
    }

    /// The result of WEIGHT_STRING, which keeps trailing spaces where the comparison does not.
    pub(crate) fn weight_string(self, text: &[u8]) -> Vec<u8> {
        match self {
            Self::Latin2Czech(_) => [self.weights(text), vec![0]].concat(),
            Self::Cp1250Czech(_) => cp1250_czech(&self.bytes(text)),
            Self::Thai(_) => {
                let mut bytes = self.bytes(text);
                // MySQL does not see behind a zero.
                if let Some(zero) = memchr::memchr(0, &bytes) {
                    bytes[zero..].fill(b' ');
                }
                thai(bytes)
            }
        }
    }

    /// Are weights padded with spaces?
    pub(crate) fn is_padded(self) -> bool {
        matches!(self, Self::Thai(_))
    }
}

/// The place of a letter of two characters among `LETTERS`.
fn letter(text: &[u8]) -> Option<usize> {
    let head = text.first_chunk::<2>()?;
    LETTERS.iter().position(|letter| *letter == head)
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn latin2_czech(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().rposition(|byte| !is_space(*byte)).map_or(0, |last| last + 1);
    let text = &bytes[..end];
    let mut out = Vec::with_capacity(4 * text.len() + 4);
    let mut rest = text;
    loop {
        let word_end = rest.iter().position(|byte| is_space(*byte));
        let (word, behind) = rest.split_at(word_end.unwrap_or(rest.len()));
        for level in 0..2 {
            latin2_level(word, level, &mut out);
            out.push(if word_end.is_some() { WORD_END } else { LEVEL_END });
        }
        if word_end.is_none() {
            break;
        }
        rest = &behind[behind.iter().take_while(|byte| is_space(**byte)).count()..];
    }
    latin2_level(text, 2, &mut out);
    out.push(LEVEL_END);
    latin2_level(text, 3, &mut out);
    out
}

fn latin2_level(mut text: &[u8], level: usize, out: &mut Vec<u8>) {
    while let Some(&byte) = text.first() {
        if let Some(n) = letter(text) {
            out.push(CZECH[LATIN2_LETTERS + 4 * n + level]);
            text = &text[2..];
        } else if is_space(byte) {
            out.push(WORD_END);
            let spaces = if level < 3 { text.iter().take_while(|byte| is_space(**byte)).count() } else { 1 };
            text = &text[spaces..];
        } else {
            out.extend(Some(CZECH[256 * level + usize::from(byte)]).filter(|weight| *weight > 0));
            text = &text[1..];
        }
    }
}

fn cp1250_czech(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * bytes.len());
    for level in 0..2 {
        let mut text = bytes;
        while let Some(&byte) = text.first() {
            let found = letter(text);
            out.push(match found {
                Some(n) => CZECH[CP1250_LETTERS + 2 * n + level],
                None => CZECH[CP1250 + 256 * level + usize::from(byte)],
            });
            text = &text[if found.is_some() { 2 } else { 1 }..];
        }
    }
    out
}

fn is_consonant(byte: u8) -> bool {
    matches!(byte, 0xa1..=0xce)
}

/// The weight of a tone mark, without the consonants.
fn tone(byte: u8) -> Option<u8> {
    match byte {
        0xec => Some(1),
        0xe7..=0xeb => Some(byte - 0xe7 + 2),
        _ => None,
    }
}

fn thai(mut text: Vec<u8>) -> Vec<u8> {
    /// What a consonant takes off the weights of the tone marks behind it.
    const STEP: u8 = 8;
    let end = text.len();
    let (mut at, mut left, mut bias) = (0, end, 0u8.wrapping_sub(STEP));
    while left > 0 {
        let byte = text[at];
        if byte < 0x80 {
            bias = bias.wrapping_sub(STEP);
            text[at] = byte.to_ascii_lowercase();
        } else {
            if is_consonant(byte) {
                bias = bias.wrapping_sub(STEP);
            }
            if let (0xe0..=0xe4, true) = (byte, left > 1)
                && is_consonant(text[at + 1])
            {
                text.swap(at, at + 1);
                at += 2;
                left -= 2;
                continue;
            }
            if let Some(tone) = tone(byte) {
                // Behind several tone marks one takes the place of another at the end.
                text.copy_within(at + 1..at + left, at);
                text[end - 1] = bias.wrapping_add(tone);
                left -= 1;
                continue;
            }
        }
        at += 1;
        left -= 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::CollationId;
    use crate::collation::{Method, method};

    #[test]
    fn weight_strings_are_mysqls() {
        let check = |text: &str, collation: u16, expected: &str| {
            let Method::Levels(levels) = method(CollationId(collation)) else { panic!("no levels") };
            let weights = levels.weight_string(text.as_bytes());
            let digits: String = weights.iter().map(|byte| format!("{byte:02X}")).collect();
            assert_eq!(digits, expected, "{text:?}");
        };
        check("abcč ch x", 2, "030405060203090A0B020C0219021F013F01030F1113022F027C01030F1113022F027C00");
        check("a  b ", 2, "030203020401090103020F010302020F00");
        check("cH CH", 2, "050B020A18020C01190111 2E02310111 2E023100".replace(' ', "").as_str());
        check("", 2, "01010100");
        check("abcč ch x", 34, "A4A5A6A782AD82C00202020201030102");
        check("a  ", 34, "A48282020101");
        check("เa เก ก้ก", 18, "E06120A1E020A1A1DC");
        check("ก์ ก่ข", 18, "A120A1A2A2E3");
        check("a\0b", 18, "612020");
    }
}
