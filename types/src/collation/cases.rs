//! Letters whose case the collations of older versions of Unicode do not know.
//!
//! UPPER and LOWER follow the collation in MySQL: those of UCA 9.0.0 know the letters of Unicode 9, `_unicode_520_ci` those of 5.2, all others those of 3.2. The ranges
//! are what MySQL 9.7.4 answers: `HEX(UPPER(c COLLATE utf8mb4_general_ci)) <> HEX(UPPER(c COLLATE utf8mb4_0900_ai_ci))`, and the same of LOWER, for every
//! character. Between the letters of a range there is none with a case in the older version.

use super::{Method, method, weights::OldUca};
use crate::CollationId;

#[rustfmt::skip]
static NONE_IN_3_2: &[(u32, u32)] = &[
    (0x180, 0x180), (0x19a, 0x19a), (0x19e, 0x19e), (0x220, 0x220), (0x23a, 0x252), (0x25c, 0x25c), (0x261, 0x261), (0x265, 0x266), (0x26a, 0x26c),
    (0x271, 0x271), (0x27d, 0x27d), (0x287, 0x287), (0x289, 0x289), (0x28c, 0x28c), (0x29d, 0x29e), (0x370, 0x37f), (0x3cf, 0x3cf), (0x3d7, 0x3d9),
    (0x3f3, 0x3ff), (0x48a, 0x48b), (0x4c0, 0x4c0), (0x4c5, 0x4c6), (0x4c9, 0x4ca), (0x4cd, 0x4cf), (0x4f6, 0x4f7), (0x4fa, 0x52f), (0x10a0, 0x1d7d),
    (0x1e9e, 0x1e9e), (0x1efa, 0x1eff), (0x2132, 0x214e), (0x2183, 0x2184), (0x2c00, 0xabbf), (0x10400, 0x1e943),
];

#[rustfmt::skip]
static NONE_IN_5_2: &[(u32, u32)] = &[
    (0x25c, 0x25c), (0x261, 0x261), (0x265, 0x266), (0x26a, 0x26a), (0x26c, 0x26c), (0x287, 0x287), (0x29d, 0x29e), (0x37f, 0x37f), (0x3f3, 0x3f3),
    (0x526, 0x52f), (0x10c7, 0x1c88), (0x2cf2, 0x2cf3), (0x2d27, 0x2d2d), (0xa660, 0xa661), (0xa698, 0xa69b), (0xa78d, 0xabbf), (0x104b0, 0x1e943),
];

/// What a collation knows of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cases {
    unknown: &'static [(u32, u32)],
    /// The capital of `i` has a dot, and the small letter of `I` has none.
    turkish: bool,
}

impl Cases {
    pub fn of(collation: CollationId) -> Self {
        let unknown = match method(collation) {
            Method::Uca900(_) | Method::Tailored(..) | Method::Bytes => &[][..],
            Method::OldUca(OldUca::V520) => NONE_IN_5_2,
            _ => NONE_IN_3_2,
        };
        Self { unknown, turkish: matches!(collation.0, 110 | 137 | 169 | 201 | 233) }
    }

    /// Are the cases of ASCII letters the usual ones?
    pub fn has_usual_ascii(self) -> bool {
        !self.turkish
    }

    /// A character that does not change as Unicode has it, and what it becomes. `None`: it changes as Unicode has it.
    pub fn exception(self, character: char, upper: bool) -> Option<char> {
        if self.turkish {
            match character {
                'i' if upper => return Some('\u{130}'),
                'I' if !upper => return Some('\u{131}'),
                _ => {}
            }
        }
        if self.unknown.is_empty() || character.is_ascii() {
            return None;
        }
        let code = u32::from(character);
        if code == 0x3f2 && upper && self.unknown == NONE_IN_3_2 {
            return Some('\u{3a3}');
        }
        let at = self.unknown.partition_point(|(_, last)| *last < code);
        self.unknown.get(at).filter(|(first, _)| *first <= code).map(|_| character)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_later_versions_stay() {
        let check = |character, upper, collation: &str, expected| {
            let cases = Cases::of(CollationId::by_name(collation).unwrap());
            assert_eq!(cases.exception(character, upper), expected, "{character} {collation}");
        };
        check('\u{3d7}', true, "utf8mb4_general_ci", Some('\u{3d7}'));
        check('\u{3d7}', true, "utf8mb4_unicode_520_ci", None);
        check('\u{3d7}', true, "utf8mb4_0900_ai_ci", None);
        check('\u{3f2}', true, "utf8mb4_bin", Some('\u{3a3}'));
        check('\u{1e943}', true, "utf8mb4_unicode_520_ci", Some('\u{1e943}'));
        check('\u{1e943}', true, "utf8mb4_0900_as_cs", None);
        check('i', true, "utf32_turkish_ci", Some('\u{130}'));
        check('i', true, "utf8mb4_tr_0900_ai_ci", None);
        check('ж', true, "utf8mb4_general_ci", None);
        assert!(NONE_IN_3_2.is_sorted() && NONE_IN_5_2.is_sorted());
    }
}
