//! The collations that exist, by number and by name.

use crate::CollationId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PadAttribute {
    PadSpace,
    NoPad,
}

/// A row of `information_schema.COLLATIONS`.
#[derive(Debug)]
pub struct CollationInfo {
    pub id: CollationId,
    pub name: &'static str,
    pub charset: &'static str,
    /// The character set's default.
    pub is_default: bool,
    pub pad: PadAttribute,
    /// `SORTLEN`
    pub sort_length: u8,
    /// Most bytes of a character (`CHARACTER_SETS.MAXLEN`).
    pub char_bytes_max: u8,
}

const fn entry(id: u16, name: &'static str, charset: &'static str, is_default: bool, char_bytes_max: u8) -> CollationInfo {
    let pad = if id == 63 || id >= 255 { PadAttribute::NoPad } else { PadAttribute::PadSpace };
    let sort_length = match id {
        63 | 309 => 1,
        304 => 24,
        255.. => 0,
        2 | 18 => 4,
        31 | 34 | 248 => 2,
        101..=124 | 128..=151 | 160..=183 | 192..=215 | 224..=247 | 250 => 8,
        _ => 1,
    };
    CollationInfo { id: CollationId(id), name, charset, is_default, pad, sort_length, char_bytes_max }
}

/// The place of each collation in `ALL`, by its number, plus one.
static BY_ID: [u16; 512] = {
    let mut places = [0; 512];
    let mut i = 0;
    while i < ALL.len() {
        places[ALL[i].id.0 as usize] = i as u16 + 1;
        i += 1;
    }
    places
};

/// Every supported collation, in the order of names.
pub static ALL: &[CollationInfo] = &[
    entry(64, "armscii8_bin", "armscii8", false, 1),
    entry(32, "armscii8_general_ci", "armscii8", true, 1),
    entry(65, "ascii_bin", "ascii", false, 1),
    entry(11, "ascii_general_ci", "ascii", true, 1),
    entry(63, "binary", "binary", true, 1),
    entry(66, "cp1250_bin", "cp1250", false, 1),
    entry(44, "cp1250_croatian_ci", "cp1250", false, 1),
    entry(34, "cp1250_czech_cs", "cp1250", false, 1),
    entry(26, "cp1250_general_ci", "cp1250", true, 1),
    entry(99, "cp1250_polish_ci", "cp1250", false, 1),
    entry(50, "cp1251_bin", "cp1251", false, 1),
    entry(14, "cp1251_bulgarian_ci", "cp1251", false, 1),
    entry(51, "cp1251_general_ci", "cp1251", true, 1),
    entry(52, "cp1251_general_cs", "cp1251", false, 1),
    entry(23, "cp1251_ukrainian_ci", "cp1251", false, 1),
    entry(67, "cp1256_bin", "cp1256", false, 1),
    entry(57, "cp1256_general_ci", "cp1256", true, 1),
    entry(58, "cp1257_bin", "cp1257", false, 1),
    entry(59, "cp1257_general_ci", "cp1257", true, 1),
    entry(29, "cp1257_lithuanian_ci", "cp1257", false, 1),
    entry(80, "cp850_bin", "cp850", false, 1),
    entry(4, "cp850_general_ci", "cp850", true, 1),
    entry(81, "cp852_bin", "cp852", false, 1),
    entry(40, "cp852_general_ci", "cp852", true, 1),
    entry(68, "cp866_bin", "cp866", false, 1),
    entry(36, "cp866_general_ci", "cp866", true, 1),
    entry(69, "dec8_bin", "dec8", false, 1),
    entry(3, "dec8_swedish_ci", "dec8", true, 1),
    entry(93, "geostd8_bin", "geostd8", false, 1),
    entry(92, "geostd8_general_ci", "geostd8", true, 1),
    entry(70, "greek_bin", "greek", false, 1),
    entry(25, "greek_general_ci", "greek", true, 1),
    entry(71, "hebrew_bin", "hebrew", false, 1),
    entry(16, "hebrew_general_ci", "hebrew", true, 1),
    entry(72, "hp8_bin", "hp8", false, 1),
    entry(6, "hp8_english_ci", "hp8", true, 1),
    entry(73, "keybcs2_bin", "keybcs2", false, 1),
    entry(37, "keybcs2_general_ci", "keybcs2", true, 1),
    entry(74, "koi8r_bin", "koi8r", false, 1),
    entry(7, "koi8r_general_ci", "koi8r", true, 1),
    entry(75, "koi8u_bin", "koi8u", false, 1),
    entry(22, "koi8u_general_ci", "koi8u", true, 1),
    entry(47, "latin1_bin", "latin1", false, 1),
    entry(15, "latin1_danish_ci", "latin1", false, 1),
    entry(48, "latin1_general_ci", "latin1", false, 1),
    entry(49, "latin1_general_cs", "latin1", false, 1),
    entry(5, "latin1_german1_ci", "latin1", false, 1),
    entry(31, "latin1_german2_ci", "latin1", false, 1),
    entry(94, "latin1_spanish_ci", "latin1", false, 1),
    entry(8, "latin1_swedish_ci", "latin1", true, 1),
    entry(77, "latin2_bin", "latin2", false, 1),
    entry(27, "latin2_croatian_ci", "latin2", false, 1),
    entry(2, "latin2_czech_cs", "latin2", false, 1),
    entry(9, "latin2_general_ci", "latin2", true, 1),
    entry(21, "latin2_hungarian_ci", "latin2", false, 1),
    entry(78, "latin5_bin", "latin5", false, 1),
    entry(30, "latin5_turkish_ci", "latin5", true, 1),
    entry(79, "latin7_bin", "latin7", false, 1),
    entry(20, "latin7_estonian_cs", "latin7", false, 1),
    entry(41, "latin7_general_ci", "latin7", true, 1),
    entry(42, "latin7_general_cs", "latin7", false, 1),
    entry(43, "macce_bin", "macce", false, 1),
    entry(38, "macce_general_ci", "macce", true, 1),
    entry(53, "macroman_bin", "macroman", false, 1),
    entry(39, "macroman_general_ci", "macroman", true, 1),
    entry(82, "swe7_bin", "swe7", false, 1),
    entry(10, "swe7_swedish_ci", "swe7", true, 1),
    entry(89, "tis620_bin", "tis620", false, 1),
    entry(18, "tis620_thai_ci", "tis620", true, 1),
    entry(55, "utf16_bin", "utf16", false, 4),
    entry(54, "utf16_general_ci", "utf16", true, 4),
    entry(83, "utf8mb3_bin", "utf8mb3", false, 3),
    entry(33, "utf8mb3_general_ci", "utf8mb3", true, 3),
    entry(76, "utf8mb3_tolower_ci", "utf8mb3", false, 3),
    entry(214, "utf8mb3_unicode_520_ci", "utf8mb3", false, 3),
    entry(192, "utf8mb3_unicode_ci", "utf8mb3", false, 3),
    entry(255, "utf8mb4_0900_ai_ci", "utf8mb4", true, 4),
    entry(305, "utf8mb4_0900_as_ci", "utf8mb4", false, 4),
    entry(278, "utf8mb4_0900_as_cs", "utf8mb4", false, 4),
    entry(309, "utf8mb4_0900_bin", "utf8mb4", false, 4),
    entry(46, "utf8mb4_bin", "utf8mb4", false, 4),
    entry(241, "utf8mb4_esperanto_ci", "utf8mb4", false, 4),
    entry(230, "utf8mb4_estonian_ci", "utf8mb4", false, 4),
    entry(45, "utf8mb4_general_ci", "utf8mb4", false, 4),
    entry(244, "utf8mb4_german2_ci", "utf8mb4", false, 4),
    entry(225, "utf8mb4_icelandic_ci", "utf8mb4", false, 4),
    entry(226, "utf8mb4_latvian_ci", "utf8mb4", false, 4),
    entry(229, "utf8mb4_polish_ci", "utf8mb4", false, 4),
    entry(227, "utf8mb4_romanian_ci", "utf8mb4", false, 4),
    entry(228, "utf8mb4_slovenian_ci", "utf8mb4", false, 4),
    entry(231, "utf8mb4_spanish_ci", "utf8mb4", false, 4),
    entry(232, "utf8mb4_swedish_ci", "utf8mb4", false, 4),
    entry(233, "utf8mb4_turkish_ci", "utf8mb4", false, 4),
    entry(246, "utf8mb4_unicode_520_ci", "utf8mb4", false, 4),
    entry(224, "utf8mb4_unicode_ci", "utf8mb4", false, 4),
];

pub(super) fn by_id(id: CollationId) -> Option<&'static CollationInfo> {
    let place = *BY_ID.get(usize::from(id.0))?;
    ALL.get(usize::from(place).checked_sub(1)?)
}

pub(super) fn by_name(name: &str) -> Option<&'static CollationInfo> {
    let matches = |info: &&CollationInfo| {
        // `utf8_bin` is an old name of `utf8mb3_bin`.
        let alias = info
            .name
            .strip_prefix("utf8mb3_")
            .zip(name.get(..5))
            .is_some_and(|(tail, head)| head.eq_ignore_ascii_case("utf8_") && name[5..].eq_ignore_ascii_case(tail));
        info.name.eq_ignore_ascii_case(name) || alias
    };
    ALL.iter().find(matches)
}

pub(super) fn default_of(charset: &str) -> Option<&'static CollationInfo> {
    let charset = if charset.eq_ignore_ascii_case("utf8") { "utf8mb3" } else { charset };
    ALL.iter().find(|info| info.is_default && info.charset.eq_ignore_ascii_case(charset))
}
