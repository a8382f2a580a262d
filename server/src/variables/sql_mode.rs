//! `sql_mode`: the names, MySQL's bits, and the modes that binding and execution read.

use types::SqlMode;
use types::charset::Charset;

/// Name and bit; the order is that of MySQL's output.
const MODES: &[(&str, u32)] = &[
    ("REAL_AS_FLOAT", 0),
    ("PIPES_AS_CONCAT", 1),
    ("ANSI_QUOTES", 2),
    ("IGNORE_SPACE", 3),
    ("ONLY_FULL_GROUP_BY", 5),
    ("NO_UNSIGNED_SUBTRACTION", 6),
    ("NO_DIR_IN_CREATE", 7),
    ("ANSI", 18),
    ("NO_AUTO_VALUE_ON_ZERO", 19),
    ("NO_BACKSLASH_ESCAPES", 20),
    ("STRICT_TRANS_TABLES", 21),
    ("STRICT_ALL_TABLES", 22),
    ("NO_ZERO_IN_DATE", 23),
    ("NO_ZERO_DATE", 24),
    ("ALLOW_INVALID_DATES", 25),
    ("ERROR_FOR_DIVISION_BY_ZERO", 26),
    ("TRADITIONAL", 27),
    ("HIGH_NOT_PRECEDENCE", 29),
    ("NO_ENGINE_SUBSTITUTION", 30),
    ("PAD_CHAR_TO_FULL_LENGTH", 31),
    ("TIME_TRUNCATE_FRACTIONAL", 32),
];

const ANSI: u64 = 1 << 18;
const ANSI_PARTS: u64 = 0b10_1111;
const TRADITIONAL: u64 = 1 << 27;
const TRADITIONAL_PARTS: u64 = 1 << 21 | 1 << 22 | 1 << 23 | 1 << 24 | 1 << 26 | 1 << 30;

/// Modes that MySQL had once and that clients still write: they have no effect.
const FORMER: [&str; 3] = ["NO_FIELD_OPTIONS", "NO_KEY_OPTIONS", "NO_TABLE_OPTIONS"];

/// Reads a comma-separated list of modes; the error is the word that is none.
pub fn parse_bits(text: &str) -> Result<u64, &str> {
    let mut bits = 0;
    for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        if FORMER.iter().any(|name| name.eq_ignore_ascii_case(word)) {
            continue;
        }
        let (_, bit) = MODES.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).ok_or(word)?;
        bits |= 1 << bit;
    }
    Ok(expand(bits))
}

/// Adds the parts of the combined modes.
pub fn expand(bits: u64) -> u64 {
    let ansi = if bits & ANSI != 0 { ANSI_PARTS } else { 0 };
    let traditional = if bits & TRADITIONAL != 0 { TRADITIONAL_PARTS } else { 0 };
    bits | ansi | traditional
}

/// Has the number only bits that mean something?
pub fn is_valid(bits: u64) -> bool {
    bits & !MODES.iter().fold(0, |all, (_, bit)| all | 1 << bit) == 0
}

pub fn bits_to_text(bits: u64) -> String {
    let names: Vec<_> = MODES.iter().filter(|(_, bit)| bits & (1 << bit) != 0).map(|(name, _)| *name).collect();
    names.join(",")
}

pub fn bits_to_mode(bits: u64) -> SqlMode {
    let has = |bit: u32| bits & (1 << bit) != 0;
    SqlMode {
        strict: has(21) || has(22),
        ansi_quotes: has(2),
        pipes_as_concat: has(1),
        no_backslash_escapes: has(20),
        only_full_group_by: has(5),
        no_zero_date: has(24),
        no_zero_in_date: has(23),
        error_for_division_by_zero: has(26),
        no_auto_value_on_zero: has(19),
        no_unsigned_subtraction: has(6),
        high_not_precedence: has(29),
        ignore_space: has(3),
        real_as_float: has(0),
        pad_char_to_full_length: has(31),
        allow_invalid_dates: has(25),
        time_truncate_fractional: has(32),
        client: Charset::Utf8mb4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combined_modes_expand() {
        assert_eq!(
            bits_to_text(parse_bits("traditional").unwrap()),
            "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,TRADITIONAL,\
             NO_ENGINE_SUBSTITUTION"
        );
        assert!(bits_to_mode(parse_bits("ANSI").unwrap()).ansi_quotes);
        assert_eq!(parse_bits("ANSI,bad"), Err("bad"));
        assert_eq!(parse_bits("no_key_options,ANSI_QUOTES"), Ok(4));
        assert!(!is_valid(1 << 40));
    }
}
