//! The character sets and collations that clients may name. Text is stored as UTF-8.

use std::sync::LazyLock;
use types::CollationId;
use types::collation::{CollationInfo, PadAttribute};

/// One line of SHOW CHARACTER SET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset {
    pub name: &'static str,
    pub description: &'static str,
    pub collation: &'static str,
    /// Bytes of the longest character.
    pub max_bytes: u8,
}

/// One line of SHOW COLLATION.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collation {
    pub name: &'static str,
    pub charset: &'static str,
    pub id: u16,
    pub is_default: bool,
    pub sort_length: u8,
    /// `NO PAD`: trailing spaces count.
    pub no_pad: bool,
}

#[rustfmt::skip]
pub static CHARSETS: &[Charset] = &[
    Charset { name: "armscii8", description: "ARMSCII-8 Armenian", collation: "armscii8_general_ci", max_bytes: 1 },
    Charset { name: "ascii", description: "US ASCII", collation: "ascii_general_ci", max_bytes: 1 },
    Charset { name: "big5", description: "Big5 Traditional Chinese", collation: "big5_chinese_ci", max_bytes: 2 },
    Charset { name: "binary", description: "Binary pseudo charset", collation: "binary", max_bytes: 1 },
    Charset { name: "cp1250", description: "Windows Central European", collation: "cp1250_general_ci", max_bytes: 1 },
    Charset { name: "cp1251", description: "Windows Cyrillic", collation: "cp1251_general_ci", max_bytes: 1 },
    Charset { name: "cp1256", description: "Windows Arabic", collation: "cp1256_general_ci", max_bytes: 1 },
    Charset { name: "cp1257", description: "Windows Baltic", collation: "cp1257_general_ci", max_bytes: 1 },
    Charset { name: "cp850", description: "DOS West European", collation: "cp850_general_ci", max_bytes: 1 },
    Charset { name: "cp852", description: "DOS Central European", collation: "cp852_general_ci", max_bytes: 1 },
    Charset { name: "cp866", description: "DOS Russian", collation: "cp866_general_ci", max_bytes: 1 },
    Charset { name: "cp932", description: "SJIS for Windows Japanese", collation: "cp932_japanese_ci", max_bytes: 2 },
    Charset { name: "dec8", description: "DEC West European", collation: "dec8_swedish_ci", max_bytes: 1 },
    Charset { name: "eucjpms", description: "UJIS for Windows Japanese", collation: "eucjpms_japanese_ci", max_bytes: 3 },
    Charset { name: "euckr", description: "EUC-KR Korean", collation: "euckr_korean_ci", max_bytes: 2 },
    Charset { name: "gb18030", description: "China National Standard GB18030", collation: "gb18030_chinese_ci", max_bytes: 4 },
    Charset { name: "gb2312", description: "GB2312 Simplified Chinese", collation: "gb2312_chinese_ci", max_bytes: 2 },
    Charset { name: "gbk", description: "GBK Simplified Chinese", collation: "gbk_chinese_ci", max_bytes: 2 },
    Charset { name: "geostd8", description: "GEOSTD8 Georgian", collation: "geostd8_general_ci", max_bytes: 1 },
    Charset { name: "greek", description: "ISO 8859-7 Greek", collation: "greek_general_ci", max_bytes: 1 },
    Charset { name: "hebrew", description: "ISO 8859-8 Hebrew", collation: "hebrew_general_ci", max_bytes: 1 },
    Charset { name: "hp8", description: "HP West European", collation: "hp8_english_ci", max_bytes: 1 },
    Charset { name: "keybcs2", description: "DOS Kamenicky Czech-Slovak", collation: "keybcs2_general_ci", max_bytes: 1 },
    Charset { name: "koi8r", description: "KOI8-R Relcom Russian", collation: "koi8r_general_ci", max_bytes: 1 },
    Charset { name: "koi8u", description: "KOI8-U Ukrainian", collation: "koi8u_general_ci", max_bytes: 1 },
    Charset { name: "latin1", description: "cp1252 West European", collation: "latin1_swedish_ci", max_bytes: 1 },
    Charset { name: "latin2", description: "ISO 8859-2 Central European", collation: "latin2_general_ci", max_bytes: 1 },
    Charset { name: "latin5", description: "ISO 8859-9 Turkish", collation: "latin5_turkish_ci", max_bytes: 1 },
    Charset { name: "latin7", description: "ISO 8859-13 Baltic", collation: "latin7_general_ci", max_bytes: 1 },
    Charset { name: "macce", description: "Mac Central European", collation: "macce_general_ci", max_bytes: 1 },
    Charset { name: "macroman", description: "Mac West European", collation: "macroman_general_ci", max_bytes: 1 },
    Charset { name: "sjis", description: "Shift-JIS Japanese", collation: "sjis_japanese_ci", max_bytes: 2 },
    Charset { name: "swe7", description: "7bit Swedish", collation: "swe7_swedish_ci", max_bytes: 1 },
    Charset { name: "tis620", description: "TIS620 Thai", collation: "tis620_thai_ci", max_bytes: 1 },
    Charset { name: "ucs2", description: "UCS-2 Unicode", collation: "ucs2_general_ci", max_bytes: 2 },
    Charset { name: "ujis", description: "EUC-JP Japanese", collation: "ujis_japanese_ci", max_bytes: 3 },
    Charset { name: "utf16", description: "UTF-16 Unicode", collation: "utf16_general_ci", max_bytes: 4 },
    Charset { name: "utf16le", description: "UTF-16LE Unicode", collation: "utf16le_general_ci", max_bytes: 4 },
    Charset { name: "utf32", description: "UTF-32 Unicode", collation: "utf32_general_ci", max_bytes: 4 },
    Charset { name: "utf8mb3", description: "UTF-8 Unicode", collation: "utf8mb3_general_ci", max_bytes: 3 },
    Charset { name: "utf8mb4", description: "UTF-8 Unicode", collation: "utf8mb4_0900_ai_ci", max_bytes: 4 },
];

/// Every collation, in the order of names.
pub static COLLATIONS: LazyLock<Vec<Collation>> = LazyLock::new(|| types::collation::ALL.iter().map(line).collect());

fn line(info: &CollationInfo) -> Collation {
    Collation {
        name: info.name,
        charset: info.charset,
        id: info.id.0,
        is_default: info.is_default,
        sort_length: info.sort_length,
        no_pad: info.pad == PadAttribute::NoPad,
    }
}

/// Finds a character set; `utf8` is `utf8mb3`, as in MySQL.
pub fn charset(name: &str) -> Option<&'static Charset> {
    let name = if name.eq_ignore_ascii_case("utf8") { "utf8mb3" } else { name };
    CHARSETS.iter().find(|charset| charset.name.eq_ignore_ascii_case(name))
}

/// Like `charset`, for files and clients: raises 1115 if there is none.
pub fn for_clients(name: &str) -> crate::Result<&'static Charset> {
    charset(name).filter(|set| is_for_clients(set)).ok_or_else(|| crate::Error::UnknownCharset(name.to_owned()))
}

/// May clients use it? Not if it encodes an ASCII character in several bytes.
pub fn is_for_clients(charset: &Charset) -> bool {
    types::charset::Charset::named(charset.name).is_some_and(|set| !set.is_wide())
}

/// Finds a collation; `utf8_bin` is `utf8mb3_bin`, and so are the others of the old name.
pub fn collation(name: &str) -> Option<&'static Collation> {
    collation_by_id(CollationId::by_name(name)?.0)
}

pub fn collation_by_id(id: u16) -> Option<&'static Collation> {
    COLLATIONS.iter().find(|collation| collation.id == id)
}

/// The default collation of a character set.
pub fn default_collation(charset: &Charset) -> &'static Collation {
    collation(charset.collation).expect("the tables agree (tested)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_charset_has_one_default_collation() {
        for set in CHARSETS {
            let defaults: Vec<_> = COLLATIONS.iter().filter(|c| c.charset == set.name && c.is_default).collect();
            assert_eq!(defaults.len(), 1, "{}", set.name);
            assert_eq!(default_collation(set), defaults[0]);
        }
        assert!(COLLATIONS.iter().all(|c| charset(c.charset).is_some()));
        assert_eq!(charset("UTF8").unwrap().name, "utf8mb3");
    }
}
