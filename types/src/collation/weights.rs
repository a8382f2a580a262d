//! Characters and their weights. The tables are made by `tools/collations.py`, which describes their format.

use crate::charset::eight_bit::ByteOrder;

/// Tables of UCA 9.0.0 by level: primary, secondary, tertiary.
static UCA900: [&[u8]; LEVELS] = [include_bytes!("uca900_1.bin"), include_bytes!("uca900_2.bin"), include_bytes!("uca900_3.bin")];
static GENERAL: &[u8] = include_bytes!("general.bin");
/// Table of UCA 4.0.0, the primary weights alone, as MySQL's `unicode_ci` collations have them: like a level of 9.0.0, for 256 pages.
static UCA400: &[u8] = include_bytes!("uca400.bin");
const UCA400_PAGES: usize = UCA_INDEX + 256;
/// The table of UCA 5.2.0, for `unicode_520_ci`; it covers all planes.
static UCA520: &[u8] = include_bytes!("uca520.bin");

/// The tables of one level that MySQL's older collations go by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OldUca {
    V400,
    V520,
}
/// Weights of latin1_swedish_ci for the bytes from 0x80; below it is upper case.
static SWEDISH: [u8; 128] = [
    0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0x8c, 0x8d, 0x8e, 0x8f, 0x90, 0x91, 0x92, 0x93, 0x94,
    0x95, 0x96, 0x97, 0x98, 0x99, 0x9a, 0x9b, 0x9c, 0x9d, 0x9e, 0x9f, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9,
    0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf, 0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe,
    0xbf, 0x41, 0x41, 0x41, 0x41, 0x5c, 0x5b, 0x5c, 0x43, 0x45, 0x45, 0x45, 0x45, 0x49, 0x49, 0x49, 0x49, 0x44, 0x4e, 0x4f, 0x4f,
    0x4f, 0x4f, 0x5d, 0xd7, 0xd8, 0x55, 0x55, 0x55, 0x59, 0x59, 0xde, 0xdf, 0x41, 0x41, 0x41, 0x41, 0x5c, 0x5b, 0x5c, 0x43, 0x45,
    0x45, 0x45, 0x45, 0x49, 0x49, 0x49, 0x49, 0x44, 0x4e, 0x4f, 0x4f, 0x4f, 0x4f, 0x5d, 0xf7, 0xd8, 0x55, 0x55, 0x55, 0x59, 0x59,
    0xde, 0xff,
];

/// Levels of weights: letters, accents, case.
pub(crate) const LEVELS: usize = 3;
const UCA_INDEX: usize = 2;
const UCA_PAGES: usize = UCA_INDEX + 0x1100;
const NO_PAGE: u16 = 0xffff;
const IMPLICIT: u16 = 0xffff;
const EXPANSION: u16 = 0x8000;
/// The character that stands for a byte that is not UTF-8.
const REPLACEMENT: u32 = 0xfffd;

/// Word `i` of a table.
const fn word(table: &[u8], i: usize) -> u16 {
    u16::from_le_bytes([table[2 * i], table[2 * i + 1]])
}

/// The first character and its length in bytes; the text is not empty.
pub(crate) fn decode_char(text: &[u8]) -> (u32, usize) {
    let continuation = |i: usize| text.get(i).filter(|&&b| b & 0xc0 == 0x80).map(|b| u32::from(b & 0x3f));
    let lead = u32::from(text[0]);
    let decoded = match text[0] {
        0..0x80 => Some((lead, 1)),
        0xc2..0xe0 => continuation(1).map(|b| ((lead & 0x1f) << 6 | b, 2)),
        0xe0..0xf0 => three(lead, continuation(1), continuation(2)),
        0xf0..0xf5 => four(lead, continuation(1), continuation(2), continuation(3)),
        _ => None,
    };
    decoded.unwrap_or((REPLACEMENT, 1))
}

fn three(lead: u32, b: Option<u32>, c: Option<u32>) -> Option<(u32, usize)> {
    let code = (lead & 15) << 12 | b? << 6 | c?;
    (code >= 0x800 && !(0xd800..0xe000).contains(&code)).then_some((code, 3))
}

fn four(lead: u32, b: Option<u32>, c: Option<u32>, d: Option<u32>) -> Option<(u32, usize)> {
    let code = (lead & 7) << 18 | b? << 12 | c? << 6 | d?;
    (0x1_0000..0x11_0000).contains(&code).then_some((code, 4))
}

/// Weight of a character in the general collations.
pub(crate) fn general_weight(code: u32) -> u16 {
    if code > 0xffff {
        return 0xfffd;
    }
    let page = word(GENERAL, (code >> 8) as usize);
    if page == NO_PAGE { code as u16 } else { word(GENERAL, 256 + usize::from(page) * 256 + (code & 0xff) as usize) }
}

/// The lower case of a character that is a letter in the general collations too, which are of an older Unicode; and of the signs of Ohm, Kelvin
/// and Angstrom, which are none there.
fn lower_weight(code: u32) -> u16 {
    let lower = char::from_u32(code).and_then(|char| char.to_lowercase().next()).map_or(code, u32::from);
    match code {
        0x1_0000.. => 0xfffd,
        0x2126 | 0x212a | 0x212b => lower as u16,
        _ if general_weight(lower) == general_weight(code) => lower as u16,
        _ => code as u16,
    }
}

/// Weights of the general collations of ASCII: upper case.
static GENERAL_ASCII: [u16; 128] = {
    let mut table = [0; 128];
    let mut i = 0;
    while i < 128 {
        table[i] = (i as u8).to_ascii_uppercase() as u16;
        i += 1;
    }
    table
};

/// Which weights a collation with one weight per character has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Simple {
    /// Upper case of the base letter.
    General,
    /// The same, as it was before MySQL 5.1.24: `ß` is no `s`.
    General500,
    /// Lower case.
    Lower,
    Swedish,
    /// The bytes of latin1.
    Latin1,
    /// A weight for each byte of an eight-bit set.
    Bytes(&'static ByteOrder),
}

impl Simple {
    /// The weight of a space.
    #[inline]
    pub(crate) fn space(self) -> u16 {
        match self {
            Self::Bytes(order) => order.of_ascii(b' ').into(),
            _ => 0x20,
        }
    }
}

/// The weights of a text, one per character.
#[derive(Clone)]
pub(crate) struct General<'a> {
    text: &'a [u8],
    table: Simple,
}

impl<'a> General<'a> {
    pub(crate) fn new(text: &'a [u8], table: Simple) -> Self {
        Self { text, table }
    }
}

/// The weight of a character; characters outside of the set have the weight of `?`.
pub(crate) fn simple_weight(code: u32, table: Simple) -> u16 {
    match table {
        Simple::General500 if code == 0xdf => return 0xdf,
        Simple::General | Simple::General500 => return general_weight(code),
        Simple::Lower => return lower_weight(code),
        Simple::Bytes(order) => return order.weight(code).into(),
        _ => {}
    }
    let byte = char::from_u32(code).and_then(crate::charset::latin1_byte).unwrap_or(b'?');
    u16::from(match (table, byte) {
        (Simple::Swedish, 0x80..) => SWEDISH[usize::from(byte - 0x80)],
        (Simple::Swedish, _) => byte.to_ascii_uppercase(),
        _ => byte,
    })
}

impl Iterator for General<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        let first = *self.text.first()?;
        if first < 0x80 {
            self.text = &self.text[1..];
            return Some(match self.table {
                Simple::Latin1 => first.into(),
                Simple::Lower => first.to_ascii_lowercase().into(),
                Simple::Bytes(order) => order.of_ascii(first).into(),
                Simple::General | Simple::General500 | Simple::Swedish => GENERAL_ASCII[usize::from(first)],
            });
        }
        let (code, length) = decode_char(self.text);
        self.text = &self.text[length..];
        Some(simple_weight(code, self.table))
    }
}

/// The weights of one character on one level, none of them zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CharWeights {
    /// No weight at all.
    Ignorable,
    One(u16),
    Two(u16, u16),
    Three(u16, u16, u16),
    /// A run of the level's table: first word and how many.
    Run {
        level: u8,
        first: u32,
        count: u16,
    },
}

pub(crate) fn uca_weights(code: u32, level: usize) -> CharWeights {
    let table = UCA900[level];
    let page = word(table, UCA_INDEX + (code >> 8) as usize);
    if page == NO_PAGE {
        return implicit(code, level);
    }
    let entry = word(table, UCA_PAGES + usize::from(page) * 256 + (code & 0xff) as usize);
    match entry {
        0 => CharWeights::Ignorable,
        IMPLICIT => implicit(code, level),
        EXPANSION.. => {
            let expansions = UCA_PAGES + usize::from(word(table, 0)) * 256;
            let at = expansions + usize::from(entry - EXPANSION);
            CharWeights::Run { level: level as u8, first: at as u32 + 1, count: word(table, at) }
        }
        weight => CharWeights::One(weight),
    }
}

impl OldUca {
    /// Weight of a space.
    pub(crate) fn space(self) -> u16 {
        match self {
            Self::V400 => 0x0209,
            Self::V520 => 0x020a,
        }
    }

    /// The level number that identifies the table, and the table.
    fn table(self) -> (u8, &'static [u8]) {
        match self {
            Self::V400 => (LEVEL_400, UCA400),
            Self::V520 => (LEVEL_520, UCA520),
        }
    }

    /// The weights of a character. In 4.0.0 all characters beyond the first plane
    /// share one weight.
    pub(crate) fn weights(self, code: u32) -> CharWeights {
        let pages = match self {
            Self::V400 => {
                if code > 0xffff {
                    return CharWeights::One(0xfffd);
                }
                UCA400_PAGES
            }
            Self::V520 => UCA_PAGES,
        };
        let (level, table) = self.table();
        let page = word(table, UCA_INDEX + (code >> 8) as usize);
        if page == NO_PAGE {
            return implicit400(code);
        }
        match word(table, pages + usize::from(page) * 256 + (code & 0xff) as usize) {
            0 => CharWeights::Ignorable,
            IMPLICIT => implicit400(code),
            entry @ EXPANSION.. => {
                let expansions = pages + usize::from(word(table, 0)) * 256;
                let at = expansions + usize::from(entry - EXPANSION);
                CharWeights::Run { level, first: at as u32 + 1, count: word(table, at) }
            }
            weight => CharWeights::One(weight),
        }
    }
}

fn implicit400(code: u32) -> CharWeights {
    let base = match code {
        0x4e00..=0x9fa5 => 0xfb40,
        _ if COMPATIBILITY_IDEOGRAPHS.contains(&code) => 0xfb40,
        0x3400..=0x4db5 => 0xfb80,
        _ => 0xfbc0,
    };
    CharWeights::Two(base + (code >> 15) as u16, (code & 0x7fff) as u16 | 0x8000)
}

/// The level numbers that identify the tables of UCA 4.0.0 and 5.2.0.
const LEVEL_400: u8 = 3;
const LEVEL_520: u8 = 4;
const COMPATIBILITY_IDEOGRAPHS: [u32; 12] =
    [0xfa0e, 0xfa0f, 0xfa11, 0xfa13, 0xfa14, 0xfa1f, 0xfa21, 0xfa23, 0xfa24, 0xfa27, 0xfa28, 0xfa29];

/// Weights that follow from the code point (UTS #10, 10.1.3), and Hangul syllables, which decompose into letters.
fn implicit(code: u32, level: usize) -> CharWeights {
    // The whole block, syllables that do not exist included, as MySQL has it.
    if let 0xac00..=0xd7af = code {
        return hangul(code, level);
    }
    // The secondary and tertiary weight of the first of two elements; the second has none.
    match level {
        0 => {}
        1 => return CharWeights::One(0x20),
        _ => return CharWeights::One(2),
    }
    let base = match code {
        0x1_7000..0x1_8b00 => return CharWeights::Two(0xfb00, (code - 0x1_7000) as u16 | 0x8000),
        0x4e00..=0x9fd5 => 0xfb40,
        _ if COMPATIBILITY_IDEOGRAPHS.contains(&code) => 0xfb40,
        0x3400..=0x4db5 | 0x2_0000..=0x2_a6d6 | 0x2_a700..=0x2_b734 | 0x2_b740..=0x2_b81d | 0x2_b820..=0x2_cea1 => 0xfb80,
        _ => 0xfbc0,
    };
    CharWeights::Two(base + (code >> 15) as u16, (code & 0x7fff) as u16 | 0x8000)
}

fn hangul(code: u32, level: usize) -> CharWeights {
    let letter = |letter| match uca_weights(letter, level) {
        // MySQL's tertiary weights of the last page of syllables differ by one.
        CharWeights::One(weight) if level == 2 && code >= 0xd700 => weight + 1,
        CharWeights::One(weight) => weight,
        _ => 0,
    };
    let syllable = code - 0xac00;
    let (lead, vowel, tail) = (syllable / 588, syllable % 588 / 28, syllable % 28);
    let (lead, vowel) = (letter(0x1100 + lead), letter(0x1161 + vowel));
    if tail == 0 { CharWeights::Two(lead, vowel) } else { CharWeights::Three(lead, vowel, letter(0x11a7 + tail)) }
}

impl CharWeights {
    /// Weight `i`, from 0.
    pub(super) fn get(self, i: u16) -> Option<u16> {
        match (self, i) {
            (Self::One(w), 0) | (Self::Two(w, _), 0) | (Self::Two(_, w), 1) => Some(w),
            (Self::Three(w, _, _), 0) | (Self::Three(_, w, _), 1) | (Self::Three(_, _, w), 2) => Some(w),
            (Self::Run { level, first, count }, i) if i < count => {
                let table = match level {
                    LEVEL_400 => UCA400,
                    LEVEL_520 => UCA520,
                    _ => UCA900[usize::from(level)],
                };
                Some(word(table, first as usize + usize::from(i)))
            }
            _ => None,
        }
    }

    pub(crate) fn same(self, other: Self) -> bool {
        self == other || (0..9).all(|i| self.get(i) == other.get(i))
    }
}

/// Weights of ASCII by level; zero: ignorable. None has more than one.
static UCA_ASCII: [[u16; 128]; LEVELS] = {
    let mut tables = [[0; 128]; LEVELS];
    let mut level = 0;
    while level < LEVELS {
        let page = word(UCA900[level], UCA_INDEX) as usize;
        let mut i = 0;
        while i < 128 {
            tables[level][i] = word(UCA900[level], UCA_PAGES + page * 256 + i);
            assert!(tables[level][i] < EXPANSION);
            i += 1;
        }
        level += 1;
    }
    tables
};

/// The same as bytes of a sort key.
static UCA_ASCII_BYTES: [[[u8; 2]; 128]; LEVELS] = {
    let mut tables = [[[0; 2]; 128]; LEVELS];
    let mut level = 0;
    while level < LEVELS {
        let mut i = 0;
        while i < 128 {
            tables[level][i] = UCA_ASCII[level][i].to_be_bytes();
            i += 1;
        }
        level += 1;
    }
    tables
};

/// Appends the weights of one level of an ASCII string without ignorable characters, the usual case. `false`: it is
/// another string, and nothing was appended.
pub(crate) fn push_ascii(text: &[u8], level: usize, out: &mut Vec<u8>) -> bool {
    if !text.is_ascii() {
        return false;
    }
    let table = &UCA_ASCII_BYTES[level];
    let start = out.len();
    out.resize(start + 2 * text.len(), 0);
    let mut ignorable = false;
    for (weight, &byte) in out[start..].chunks_exact_mut(2).zip(text) {
        let bytes = table[usize::from(byte & 0x7f)];
        ignorable |= bytes == [0, 0];
        weight.copy_from_slice(&bytes);
    }
    if ignorable {
        out.truncate(start);
    }
    !ignorable
}

/// The order of the first primary weights that differ, if all characters before are ASCII and not ignorable. `None` or `Equal`: weights have
/// to be compared one by one.
pub(crate) fn first_ascii_order(a: &[u8], b: &[u8]) -> Option<std::cmp::Ordering> {
    let table = &UCA_ASCII[0];
    for (&x, &y) in a.iter().zip(b) {
        if (x | y) >= 0x80 {
            return None;
        }
        let (x, y) = (table[usize::from(x & 0x7f)], table[usize::from(y & 0x7f)]);
        if x == 0 || y == 0 {
            return None;
        }
        if x != y {
            return Some(x.cmp(&y));
        }
    }
    Some(std::cmp::Ordering::Equal)
}

/// The weights of a text on one level, ignorable characters left out.
#[derive(Clone)]
pub(crate) struct Uca<'a> {
    text: &'a [u8],
    level: usize,
    old: Option<OldUca>,
    current: CharWeights,
    next: u16,
}

impl<'a> Uca<'a> {
    pub(crate) fn new(text: &'a [u8], level: usize) -> Self {
        Self { text, level, old: None, current: CharWeights::Ignorable, next: 0 }
    }

    /// By an old table.
    pub(crate) fn old(text: &'a [u8], old: OldUca) -> Self {
        Self { old: Some(old), ..Self::new(text, LEVELS) }
    }
}

impl Iterator for Uca<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        loop {
            if self.next > 0 {
                if let Some(weight) = self.current.get(self.next) {
                    self.next += 1;
                    return Some(weight);
                }
                self.next = 0;
            }
            let first = *self.text.first()?;
            if first < 0x80 && self.level < LEVELS {
                self.text = &self.text[1..];
                match UCA_ASCII[self.level][usize::from(first)] {
                    0 => continue,
                    weight => return Some(weight),
                }
            }
            let (code, length) = decode_char(self.text);
            self.text = &self.text[length..];
            let weights = match self.old {
                None => uca_weights(code, self.level),
                Some(old) => old.weights(code),
            };
            match weights {
                CharWeights::Ignorable => {}
                CharWeights::One(weight) => return Some(weight),
                many => {
                    self.current = many;
                    self.next = 1;
                    return many.get(0);
                }
            }
        }
    }
}
