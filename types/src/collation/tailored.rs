//! Collations of one language: what they change of UCA 4.0.0 or 9.0.0.
//!
//! A tailoring is some characters with weights of their own, sequences of characters that are one letter (contractions), and ranges of primary
//! weights that move as a whole (scripts that come before others). `tailored.bin` holds them; `types/tools/tailorings.py` makes it from what MySQL's
//! WEIGHT_STRING answers for every character and for many sequences, and describes its format. Here it is read in place.
//!
//! T1: a weight that is emitted is never zero.
//! T2: `TailoredUca` emits for a text what it emits for its parts, except where a part begins inside of a contraction. So texts that begin alike are
//!     compared from their first character, not from the first one that differs.

use super::weights::{CharWeights, LEVELS, OldUca, decode_char, uca_weights};

const DATA: &[u8] = include_bytes!("tailored.bin");

/// The number of each tailoring's collation, of those with all levels, and where it begins in `tailored.bin`.
#[rustfmt::skip]
const STARTS: [(u16, usize); 52] = [
    (225, 0), (226, 472), (227, 888), (228, 1_264), (229, 1584), (230, 2000), (231, 2384), (232, 2672), (233, 3_032), (234, 3400),
    (235, 3_794), (236, 4232), (237, 4626), (238, 5036), (239, 5440), (240, 5744), (241, 6814), (242, 7182), (243, 7510),
    (244, 8392), (245, 8730), (247, 9364), (279, 10108), (280, 11426), (281, 13178), (282, 14864), (283, 16382), (284, 17476),
    (285, 18788), (286, 20666), (287, 21492), (288, 23686), (289, 25436), (290, 26572), (291, 28498), (292, 30360),
    (293, 31880), (294, 32906), (296, 35436), (297, 36472), (298, 39806), (300, 41414), (304, 49414), (307, 123754),
    (308, 124554), (311, 299718), (313, 301648), (315, 303578), (317, 305186), (319, 306794), (321, 307594), (323, 308420),
];

const HEAD: usize = 8;
const ASCII: usize = 128;
/// An ASCII character with this weight is looked up.
const LOOKED_UP: u16 = 0xffff;
/// The longest contraction.
const CHARS_MAX: usize = 4;
const CONTRACTION_WORDS: usize = 2 * CHARS_MAX + 1;

/// Places are words of `tailored.bin`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Tailoring {
    is_old: bool,
    /// Capital letters come first: the change of the tertiary weights that are not the tailoring's own.
    upper_first: bool,
    levels: usize,
    ascii: usize,
    rules: usize,
    dense: usize,
    codes: usize,
    values: usize,
    contractions: usize,
    pool: usize,
    /// The weights of the dense ranges.
    primaries: usize,
}

const fn word(at: usize) -> u16 {
    u16::from_le_bytes([DATA[2 * at], DATA[2 * at + 1]])
}

fn code_at(at: usize) -> u32 {
    u32::from(word(at)) | u32::from(word(at + 1)) << 16
}

static TAILORINGS: [Tailoring; STARTS.len()] = {
    const EMPTY: Tailoring = Tailoring {
        is_old: false,
        upper_first: false,
        levels: 0,
        ascii: 0,
        rules: 0,
        dense: 0,
        codes: 0,
        values: 0,
        contractions: 0,
        pool: 0,
        primaries: 0,
    };
    let mut all = [EMPTY; STARTS.len()];
    let mut n = 0;
    while n < all.len() {
        let start = STARTS[n].1 / 2;
        let levels = word(start + 1) as usize;
        let tabled = if levels > LEVELS { LEVELS } else { levels };
        let ascii = start + HEAD;
        let rules = ascii + tabled * ASCII;
        let dense = rules + 4 * word(start + 3) as usize;
        let codes = dense + 3 * word(start + 4) as usize;
        let values = codes + 2 * word(start + 5) as usize;
        let contractions = values + word(start + 5) as usize;
        let pool = contractions + CONTRACTION_WORDS * word(start + 6) as usize;
        let primaries = pool + word(start + 7) as usize;
        let (is_old, upper_first) = (word(start) == 0, word(start + 2) == 1);
        all[n] = Tailoring { is_old, upper_first, levels, ascii, rules, dense, codes, values, contractions, pool, primaries };
        n += 1;
    }
    all
};

/// The tailoring of a collation.
pub(super) const fn of(collation: u16) -> Option<&'static Tailoring> {
    // The sets of Unicode have the same collations; those that know one level only have the letters of the others.
    let with_all = match collation {
        101..=124 => collation + 123,
        128..=151 => collation + 96,
        160..=183 => collation + 64,
        192..=215 => collation + 32,
        256..=277 => collation + 23,
        303 | 306 | 310 | 312 | 314 | 316 | 318 | 320 | 322 => collation + 1,
        _ => collation,
    };
    let mut n = 0;
    while n < STARTS.len() {
        if STARTS[n].0 == with_all {
            return Some(&TAILORINGS[n]);
        }
        n += 1;
    }
    None
}

/// What the weights of the next characters are.
enum Found {
    /// Weights of the tailoring: the place of their numbers and weights, level by level.
    Own(usize),
    /// One primary weight, and the usual ones of the other levels.
    Primary(u16),
    Root(CharWeights),
}

impl Tailoring {
    /// A character, and the characters behind it, of which a contraction takes some: their bytes are returned too.
    fn find(&self, code: u32, rest: &[u8], level: usize) -> (Found, usize) {
        if let Some((at, bytes)) = self.contraction(code, rest) {
            return (Found::Own(self.pool + usize::from(word(at))), bytes);
        }
        let mut primaries = self.primaries;
        for at in (self.dense..self.codes).step_by(3) {
            let place = code.wrapping_sub(code_at(at)) as usize;
            let count = usize::from(word(at + 2));
            if place < count && word(primaries + place) > 0 {
                return (Found::Primary(word(primaries + place)), 0);
            }
            primaries += count;
        }
        let (mut low, mut high) = (0, self.contractions - self.values);
        while low < high {
            let middle = (low + high) / 2;
            match code_at(self.codes + 2 * middle).cmp(&code) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return (Found::Own(self.pool + usize::from(word(self.values + middle))), 0),
            }
        }
        let root = match level {
            _ if self.is_old => OldUca::V400.weights(code),
            0..LEVELS => uca_weights(code, level),
            _ => CharWeights::Ignorable,
        };
        (Found::Root(root), 0)
    }

    /// The longest contraction that begins with these characters: where its place in the pool stands, and the bytes that it takes of `rest`.
    fn contraction(&self, code: u32, rest: &[u8]) -> Option<(usize, usize)> {
        let count = (self.pool - self.contractions) / CONTRACTION_WORDS;
        let start = |n: usize| self.contractions + n * CONTRACTION_WORDS;
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = (low + high) / 2;
            if code_at(start(middle)) < code { low = middle + 1 } else { high = middle }
        }
        let same = (low..count).map(start).take_while(|at| code_at(*at) == code);
        let taken = |at: usize| {
            let mut bytes = 0;
            for n in 1..CHARS_MAX {
                let wanted = code_at(at + 2 * n);
                if wanted == 0 {
                    break;
                }
                let behind = rest.get(bytes..).filter(|behind| !behind.is_empty())?;
                let (code, length) = decode_char(behind);
                if code != wanted {
                    return None;
                }
                bytes += length;
            }
            Some((at + 2 * CHARS_MAX, bytes))
        };
        same.filter_map(taken).max_by_key(|(_, bytes)| *bytes)
    }

    /// A primary weight of the root, moved: a weight before it, and the weight.
    fn moved(&self, weight: u16) -> (Option<u16>, u16) {
        for at in (self.rules..self.dense).step_by(4) {
            if (word(at)..=word(at + 1)).contains(&weight) {
                return (Some(word(at + 3)).filter(|before| *before > 0), weight.wrapping_add(word(at + 2)));
            }
        }
        (None, weight)
    }

    /// A tertiary weight of the root, where capital letters come first.
    fn cased(weight: u16) -> u16 {
        weight + if matches!(weight, 8..=0xc | 0xe | 0x11 | 0x12 | 0x1d) { 0x100 } else { 0x300 }
    }

    /// Have two characters the same weights on each of the first `levels`?
    pub(crate) fn same(&'static self, a: u32, b: u32, levels: usize) -> bool {
        let (mut x, mut y) = ([0; 4], [0; 4]);
        let (Some(a), Some(b)) = (char::from_u32(a), char::from_u32(b)) else { return false };
        let (a, b) = (a.encode_utf8(&mut x).as_bytes(), b.encode_utf8(&mut y).as_bytes());
        (0..levels).all(|level| TailoredUca::new(a, level, self).eq(TailoredUca::new(b, level, self)))
    }
}

/// The weights of a text on one level, ignorable characters left out.
#[derive(Clone)]
pub(crate) struct TailoredUca<'a> {
    text: &'a [u8],
    level: usize,
    tailoring: &'static Tailoring,
    current: Current,
    /// A weight that a moved one holds back.
    held: Option<u16>,
}

/// The weights of the last character that are still to come.
#[derive(Clone, Copy)]
enum Current {
    Nothing,
    Own { at: usize, left: u16 },
    Root { weights: CharWeights, next: u16 },
}

impl<'a> TailoredUca<'a> {
    pub(crate) fn new(text: &'a [u8], level: usize, tailoring: &'static Tailoring) -> Self {
        Self { text, level, tailoring, current: Current::Nothing, held: None }
    }

    /// The next weight of the last character.
    fn pending(&mut self) -> Option<u16> {
        if let Some(weight) = self.held.take() {
            return Some(weight);
        }
        match &mut self.current {
            Current::Nothing => None,
            Current::Own { left: 0, .. } => None,
            Current::Own { at, left } => {
                *at += 1;
                *left -= 1;
                Some(word(*at - 1))
            }
            Current::Root { weights, next } => {
                let weight = weights.get(*next)?;
                *next += 1;
                // The second weight of an implicit pair is a part of the code.
                let is_code = *next == 2 && weights.get(0).is_some_and(|first| first >= 0xfb00);
                match self.level {
                    0 if !is_code => {
                        let (before, weight) = self.tailoring.moved(weight);
                        if before.is_some() {
                            self.held = Some(weight);
                        }
                        Some(before.unwrap_or(weight))
                    }
                    2 if self.tailoring.upper_first => Some(Tailoring::cased(weight)),
                    _ => Some(weight),
                }
            }
        }
    }
}

impl Iterator for TailoredUca<'_> {
    type Item = u16;

    fn next(&mut self) -> Option<u16> {
        loop {
            if let Some(weight) = self.pending() {
                return Some(weight);
            }
            self.current = Current::Nothing;
            let first = *self.text.first()?;
            if first < 0x80 && self.level < LEVELS {
                match word(self.tailoring.ascii + self.level * ASCII + usize::from(first)) {
                    LOOKED_UP => {}
                    0 => {
                        self.text = &self.text[1..];
                        continue;
                    }
                    weight => {
                        self.text = &self.text[1..];
                        return Some(weight);
                    }
                }
            }
            let (code, length) = decode_char(self.text);
            let rest = &self.text[length..];
            let (found, taken) = self.tailoring.find(code, rest, self.level);
            self.text = &rest[taken..];
            self.current = match found {
                Found::Own(mut at) => {
                    for _ in 0..self.level.min(self.tailoring.levels - 1) {
                        at += 1 + usize::from(word(at));
                    }
                    Current::Own { at: at + 1, left: word(at) }
                }
                Found::Primary(primary) => match self.level {
                    0 => return Some(primary),
                    1 => return Some(0x20),
                    2 => return Some(2),
                    _ => Current::Nothing,
                },
                Found::Root(weights) => Current::Root { weights, next: 0 },
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CollationId;
    use crate::collation::{PadAttribute, compare, like};
    use std::cmp::Ordering;

    #[test]
    fn tailorings_are_whole() {
        for tailoring in &TAILORINGS {
            let count = tailoring.contractions - tailoring.values;
            assert!((1..count).all(|n| code_at(tailoring.codes + 2 * (n - 1)) < code_at(tailoring.codes + 2 * n)));
            assert!(matches!((tailoring.is_old, tailoring.levels), (true, 1) | (false, 3 | 4)));
        }
        for number in 0..512 {
            if let (Some(tailoring), Some(info)) = (of(number), CollationId(number).info()) {
                assert_eq!(tailoring.is_old, info.pad == PadAttribute::PadSpace, "{}", info.name);
            }
        }
    }

    #[test]
    fn languages() {
        let check = |name: &str, texts: &[&str]| {
            let collation = CollationId::by_name(name).unwrap();
            for pair in texts.windows(2) {
                assert_eq!(compare(pair[0].as_bytes(), pair[1].as_bytes(), collation), Ordering::Less, "{name} {pair:?}");
            }
        };
        check("utf8mb4_cs_0900_ai_ci", &["c", "cz", "č", "h", "hz", "ch", "i"]);
        check("utf8mb4_czech_ci", &["c", "cz", "č", "h", "hz", "ch", "i"]);
        check("utf8mb4_hu_0900_as_cs", &["cz", "cs", "csa", "ccs", "d", "dz", "dzs", "ddzs", "e"]);
        check("utf8mb4_da_0900_as_cs", &["A", "a", "z", "æ", "Ø", "ø", "Å", "å"]);
        check("utf8mb4_ru_0900_ai_ci", &["1", "я", "a", "z"]);
        check("utf8mb4_zh_0900_as_cs", &["阿", "北京", "上海", "a"]);
        check("utf8mb4_ja_0900_as_cs_ks", &["a", "あ", "ア", "い", "一", "я"]);
        check("utf8mb4_es_trad_0900_ai_ci", &["cz", "ch", "d", "lz", "ll", "m"]);
        let czech = CollationId::by_name("utf8mb4_cs_0900_ai_ci").unwrap();
        assert!(like("Chata".as_bytes(), "ch%".as_bytes(), None, czech));
    }
}
