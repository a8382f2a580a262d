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
    let no_pad = matches!(id, 63 | 255 | 278 | 305 | 309);
    let pad = if no_pad { PadAttribute::NoPad } else { PadAttribute::PadSpace };
    let sort_length = match id {
        255 | 278 | 305 => 0,
        192 | 214 | 224..=233 | 241 | 244 | 246 => 8,
        _ => 1,
    };
    CollationInfo { id: CollationId(id), name, charset, is_default, pad, sort_length, char_bytes_max }
}

/// Every supported collation, in the order of names.
pub static ALL: &[CollationInfo] = &[
    entry(65, "ascii_bin", "ascii", false, 1),
    entry(11, "ascii_general_ci", "ascii", true, 1),
    entry(63, "binary", "binary", true, 1),
    entry(47, "latin1_bin", "latin1", false, 1),
    entry(48, "latin1_general_ci", "latin1", false, 1),
    entry(49, "latin1_general_cs", "latin1", false, 1),
    entry(8, "latin1_swedish_ci", "latin1", true, 1),
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
    ALL.iter().find(|info| info.id == id)
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
