//! MySQL's character sets of East Asia, of up to two, three or four bytes per character: their characters, the cases of their letters, and the
//! weights of their collations.
//!
//! The tables are `multi_byte.bin`, which `types/tools/multi_byte.py` makes from MySQL's answers and describes; they are read in place. ASCII is ASCII in all of
//! these sets. A code of the set that has no character is a private character in stored text, U+F0000 plus the code, so that it comes back as it was.
//! Where several codes are one character, stored text has the character, so that one code comes back for all of them.

/// The character of a code without one is this plus the code.
const UNDEFINED: u32 = 0xf_0000;
/// Likewise, of a byte that is no code.
const STRAY: u32 = 0x10_ff00;
const NONE: u16 = 0xffff;

const DATA: &[u8] = include_bytes!("multi_byte.bin");
const SETS_COUNT: usize = 9;
/// The sets, where each begins in `multi_byte.bin`, and its default collation and the `_bin` one.
const STARTS: [(&str, usize, u16, u16); SETS_COUNT] = [
    ("big5", 0, 1, 84),
    ("cp932", 121148, 95, 96),
    ("eucjpms", 200724, 97, 98),
    ("euckr", 296160, 19, 85),
    ("gb18030", 421256, 248, 249),
    ("gb2312", 698838, 24, 86),
    ("gbk", 767482, 28, 87),
    ("sjis", 918754, 13, 88),
    ("ujis", 991674, 12, 91),
];
const GB18030: usize = 4;
const HEAD: usize = 8;
/// The place of U+10000 among the codes of four bytes.
const CODES_OF_FOUR_MAX: u32 = 126 * 10 * 126 * 10;

/// The places are words of `multi_byte.bin`.
#[derive(Debug, PartialEq, Eq)]
struct Set {
    first_trail: u16,
    row_length: usize,
    ascii: usize,
    rows: usize,
    characters: usize,
    /// Rows of weights; 0: there are none.
    weights: usize,
    page_index: usize,
    pages: usize,
    upper: usize,
    lower: usize,
    ranges: usize,
    runs: usize,
    pinyin: usize,
    end: usize,
    /// Bytes of a Japanese EUC: 8F begins a code of three.
    has_three: bool,
    /// Bytes from A1 to DF are half-width kana.
    has_kana: bool,
}

const fn word(at: usize) -> u16 {
    u16::from_le_bytes([DATA[2 * at], DATA[2 * at + 1]])
}

fn long(at: usize) -> u32 {
    u32::from(word(at)) | u32::from(word(at + 1)) << 16
}

static SETS: [Set; SETS_COUNT] = {
    const EMPTY: Set = Set {
        first_trail: 0,
        row_length: 0,
        ascii: 0,
        rows: 0,
        characters: 0,
        weights: 0,
        page_index: 0,
        pages: 0,
        upper: 0,
        lower: 0,
        ranges: 0,
        runs: 0,
        pinyin: 0,
        end: 0,
        has_three: false,
        has_kana: false,
    };
    let mut sets = [EMPTY; SETS_COUNT];
    let mut n = 0;
    while n < SETS_COUNT {
        let start = STARTS[n].1 / 2;
        let row_length = word(start + 1) as usize;
        let ascii = start + HEAD;
        let rows = ascii + 128;
        let characters = rows + 256;
        let mut count = 0;
        let mut i = 0;
        while i < 256 {
            if word(rows + i) != NONE {
                count += 1;
            }
            i += 1;
        }
        let weights = characters + count * row_length;
        let has_weights = word(start + 2) == 1;
        let page_index = if has_weights { weights + count * row_length } else { weights };
        let pages = page_index + 256;
        let upper = pages + 256 * word(start + 3) as usize;
        let lower = upper + 4 * word(start + 4) as usize;
        let ranges = lower + 4 * word(start + 5) as usize;
        let runs = ranges + 6 * word(start + 6) as usize;
        let pinyin = runs + 3 * word(start + 7) as usize;
        sets[n] = Set {
            first_trail: word(start),
            row_length,
            ascii,
            rows,
            characters,
            weights: if has_weights { weights } else { 0 },
            page_index,
            pages,
            upper,
            lower,
            ranges,
            runs,
            pinyin,
            end: if n + 1 < SETS_COUNT { STARTS[n + 1].1 / 2 } else { DATA.len() / 2 },
            has_three: n == 2 || n == 8,
            has_kana: n == 1 || n == 7,
        };
        n += 1;
    }
    sets
};

/// One of the sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MultiByte(u8);

/// Which order of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// By the bytes of codes: `_bin`.
    Bytes,
    /// That of the default collation.
    Compared,
    /// What WEIGHT_STRING shows of it.
    Shown,
}

/// The bytes of a code, or of a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    pub bytes: [u8; 4],
    pub length: u8,
}

impl Code {
    pub(crate) const fn one(byte: u8) -> Self {
        Self { bytes: [byte, 0, 0, 0], length: 1 }
    }

    pub(crate) const fn two(code: u16) -> Self {
        let [high, low] = code.to_be_bytes();
        Self { bytes: [high, low, 0, 0], length: 2 }
    }

    const fn four(code: u32) -> Self {
        Self { bytes: code.to_be_bytes(), length: 4 }
    }

    fn as_slice(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl MultiByte {
    pub(crate) const fn named(name: &[u8]) -> Option<Self> {
        let mut n = 0;
        while n < SETS_COUNT {
            if super::eight_bit::same(STARTS[n].0.as_bytes(), name) {
                return Some(Self(n as u8));
            }
            n += 1;
        }
        None
    }

    /// The set of a collation, and whether the collation is the `_bin` one.
    pub(crate) const fn of_collation(collation: u16) -> Option<(Self, bool)> {
        let mut n = 0;
        while n < SETS_COUNT {
            if STARTS[n].2 == collation || STARTS[n].3 == collation {
                return Some((Self(n as u8), STARTS[n].3 == collation));
            }
            n += 1;
        }
        None
    }

    fn set(self) -> &'static Set {
        &SETS[usize::from(self.0)]
    }

    fn is_big5(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn is_gb18030(self) -> bool {
        usize::from(self.0) == GB18030
    }

    pub(crate) fn char_bytes_max(self) -> usize {
        match usize::from(self.0) {
            GB18030 => 4,
            _ if self.set().has_three => 3,
            _ => 2,
        }
    }

    /// Does the set have the character? It does not have bytes that are no code.
    pub(crate) fn has(self, character: u32) -> bool {
        (character < STRAY || self.is_gb18030()) && self.code_of(character).is_some()
    }

    /// The code of a character.
    pub(crate) fn code_of(self, character: u32) -> Option<Code> {
        if character < 0x80 {
            return Some(Code::one(character as u8));
        }
        let set = self.set();
        let code = match character {
            // Codes that are this character have none.
            0xfffd if !self.is_gb18030() => 0,
            ..0x1_0000 => match word(set.page_index + (character >> 8) as usize) {
                NONE => 0,
                page => word(set.pages + 256 * usize::from(page) + (character & 0xff) as usize),
            },
            STRAY.. if !self.is_gb18030() => return (character >= STRAY + 0x80).then_some(Code::one(character as u8)),
            UNDEFINED..0x10_0000 if !self.is_gb18030() => {
                let code = (character - UNDEFINED) as u16;
                // Only codes of the set that have no character.
                return Some(self.bytes_of(code)).filter(|bytes| {
                    self.character(bytes.as_slice()) == Some((UNDEFINED + u32::from(code), bytes.length.into()))
                });
            }
            _ => 0,
        };
        match code {
            0 if self.is_gb18030() => self.place_of(character).map(four_bytes),
            0 => None,
            code => Some(self.bytes_of(code)),
        }
    }

    fn bytes_of(self, code: u16) -> Code {
        match code {
            ..0x100 => Code::one(code as u8),
            _ if self.set().has_three && code & 0x80 == 0 => {
                let [high, low] = code.to_be_bytes();
                Code { bytes: [0x8f, high, low | 0x80, 0], length: 3 }
            }
            _ => Code::two(code),
        }
    }

    /// The place of a character among the codes of four bytes of gb18030.
    fn place_of(self, character: u32) -> Option<u32> {
        let set = self.set();
        let (mut low, mut high) = (0, (set.runs - set.ranges) / 6);
        while low < high {
            let middle = (low + high) / 2;
            let at = set.ranges + 6 * middle;
            if character > long(at + 2) {
                low = middle + 1;
            } else if character < long(at) {
                high = middle;
            } else {
                return Some(long(at + 4) + character - long(at));
            }
        }
        None
    }

    /// The first character of a text and the length of its code. `None`: no code is there.
    pub(crate) fn character(self, text: &[u8]) -> Option<(u32, usize)> {
        let set = self.set();
        let first = *text.first()?;
        if first < 0x80 {
            return Some((first.into(), 1));
        }
        if set.has_kana && (0xa1..=0xdf).contains(&first) {
            return Some((0xff61 + u32::from(first - 0xa1), 1));
        }
        if self.is_gb18030()
            && let &[a @ 0x81..=0xfe, b @ 0x30..=0x39, c @ 0x81..=0xfe, d @ 0x30..=0x39, ..] = text
        {
            let place = ((u32::from(a - 0x81) * 10 + u32::from(b - 0x30)) * 126 + u32::from(c - 0x81)) * 10 + u32::from(d - 0x30);
            return self.at_place(place).map(|character| (character, 4));
        }
        let (row, trail, length) = match (first, text) {
            (0x8f, &[_, second @ 0x80..=0xff, third, ..]) if set.has_three => (128 + usize::from(second - 0x80), third, 3),
            (_, &[_, second, ..]) => (usize::from(first - 0x80), second, 2),
            _ => return None,
        };
        let row = word(set.rows + row);
        let column = usize::from(u16::from(trail).checked_sub(set.first_trail)?);
        if row == NONE || column >= set.row_length {
            return None;
        }
        match word(set.characters + usize::from(row) * set.row_length + column) {
            NONE => None,
            0 => {
                let folded =
                    if length == 3 { u16::from_be_bytes([text[1], trail & 0x7f]) } else { u16::from_be_bytes([first, trail]) };
                Some((UNDEFINED + u32::from(folded), length))
            }
            character => Some((character.into(), length)),
        }
    }

    fn at_place(self, place: u32) -> Option<u32> {
        let set = self.set();
        let mut ranges = (set.ranges..set.runs).step_by(6);
        let at = ranges.find(|at| {
            let start = long(at + 4);
            (start..=start + long(at + 2) - long(*at)).contains(&place)
        })?;
        Some(long(at) + place - long(at + 4))
    }

    pub(crate) fn encode(self, text: &str) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(text.len());
        for character in text.chars() {
            bytes.extend_from_slice(self.code_of(character.into()).unwrap_or(Code::one(b'?')).as_slice());
        }
        bytes
    }

    pub(crate) fn decode(self, mut bytes: &[u8]) -> Option<String> {
        let mut text = String::with_capacity(bytes.len() * 2);
        while !bytes.is_empty() {
            let (character, length) = self.character(bytes)?;
            text.push(char::from_u32(character)?);
            bytes = &bytes[length..];
        }
        Some(text)
    }

    /// As `decode`; bytes that are no code are kept, as in a statement.
    pub(crate) fn decode_kept(self, mut bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len() * 2);
        while let Some(&first) = bytes.first() {
            let stray = if self.is_gb18030() { u32::from(b'?') } else { STRAY + u32::from(first) };
            let (character, length) = self.character(bytes).unwrap_or((stray, 1));
            text.push(char::from_u32(character).unwrap_or('?'));
            bytes = &bytes[length..];
        }
        text
    }

    /// A statement as UTF-8. In strings behind an introducer (`_binary'...'`) bytes are data: they are kept so that `as_sent` makes the same of them. Elsewhere
    /// a byte that is no code is kept so that `encode` makes the same of it; the set does not have it (`has`).
    pub(crate) fn decode_statement(self, bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len() * 2);
        let mut at = 0;
        // The quote of the string that is being read, and whether it is data.
        let mut string: Option<(u8, bool)> = None;
        while let Some(&first) = bytes.get(at) {
            if first < 0x80 {
                text.push(char::from(first));
                at += 1;
                match string {
                    None if matches!(first, b'\'' | b'"') => string = Some((first, is_introduced(&bytes[..at - 1]))),
                    Some((quote, _)) if first == quote => string = None,
                    Some((_, true)) if first == b'\\' => {
                        // What is escaped may be a quote.
                        if let Some(&escaped) = bytes.get(at).filter(|byte| byte.is_ascii()) {
                            text.push(char::from(escaped));
                            at += 1;
                        }
                    }
                    Some((_, false)) if first == b'\\' && bytes.get(at).is_some_and(u8::is_ascii) => {
                        text.push(char::from(bytes[at]));
                        at += 1;
                    }
                    _ => {}
                }
                continue;
            }
            let is_data = matches!(string, Some((_, true)));
            let (character, length) = match self.character(&bytes[at..]) {
                // Another code may be the character's own one.
                Some((character, length)) if is_data && !self.is_own(character, &bytes[at..at + length]) => {
                    (self.as_undefined(&bytes[at..at + length]).unwrap_or(character), length)
                }
                Some(found) => found,
                // gb18030 has all characters, so there only data can be told.
                None if is_data || !self.is_gb18030() => (STRAY + u32::from(first), 1),
                None => (u32::from(b'?'), 1),
            };
            text.push(char::from_u32(character).unwrap_or('?'));
            at += length;
        }
        text
    }

    fn is_own(self, character: u32, code: &[u8]) -> bool {
        self.code_of(character).is_some_and(|own| own.as_slice() == code)
    }

    /// Stray bytes, one by one, would be longer; a code of two bytes is one character that is encoded as it is.
    fn as_undefined(self, code: &[u8]) -> Option<u32> {
        match code {
            &[high, low] => Some(DATA_CODE + u32::from(u16::from_be_bytes([high, low]))),
            _ => None,
        }
    }

    /// The bytes of a text as the client sent them: also codes that are not their character's own.
    pub(crate) fn as_sent(self, text: &str) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(text.len());
        for character in text.chars() {
            match u32::from(character) {
                code @ DATA_CODE.. if code < DATA_CODE + 0x1_0000 && !self.is_gb18030() => {
                    bytes.extend_from_slice(Code::two((code - DATA_CODE) as u16).as_slice());
                }
                code if self.is_gb18030() && code > STRAY + 0x7f => bytes.push(code as u8),
                code => bytes.extend_from_slice(self.code_of(code).unwrap_or(Code::one(b'?')).as_slice()),
            }
        }
        bytes
    }

    pub(crate) fn change_case(self, text: &str, upper: bool) -> String {
        let change = |c: char| match c {
            'a'..='z' if upper => c.to_ascii_uppercase(),
            'A'..='Z' if !upper => c.to_ascii_lowercase(),
            c if c.is_ascii() => c,
            c => char::from_u32(self.cased(c.into(), upper)).unwrap_or(c),
        };
        text.chars().map(change).collect()
    }

    fn cased(self, character: u32, upper: bool) -> u32 {
        let set = self.set();
        let (from, to) = if upper { (set.upper, set.lower) } else { (set.lower, set.ranges) };
        let (mut low, mut high) = (0, (to - from) / 4);
        while low < high {
            let middle = (low + high) / 2;
            match long(from + 4 * middle).cmp(&character) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return long(from + 4 * middle + 2),
            }
        }
        character
    }

    /// The weight of a character.
    pub(crate) fn weight(self, character: u32, order: Order) -> Code {
        let set = self.set();
        if order == Order::Bytes {
            return self.code_of(character).unwrap_or(Code::one(b'?'));
        }
        if self.is_gb18030() && character >= 0x80 {
            return self.gb18030_weight(character);
        }
        let code = self.code_of(character).unwrap_or(Code::one(b'?'));
        match code.bytes {
            [byte @ ..0x80, ..] => Code::one(word(set.ascii + usize::from(byte)) as u8),
            // MySQL compares by the codes of big5, and shows strokes.
            [high, low, ..] if set.weights > 0 && (order == Order::Shown || !self.is_big5()) => {
                let row = word(set.rows + usize::from(high - 0x80));
                let column = usize::from(u16::from(low).saturating_sub(set.first_trail));
                if row == NONE || column >= set.row_length {
                    return code;
                }
                Code::two(word(set.weights + usize::from(row) * set.row_length + column))
            }
            _ => code,
        }
    }

    /// By pinyin; other characters by the code of their upper case.
    fn gb18030_weight(self, character: u32) -> Code {
        let set = self.set();
        let mut weights = set.pinyin;
        for run in (set.runs..set.pinyin).step_by(3) {
            let place = character.wrapping_sub(long(run)) as usize;
            let count = usize::from(word(run + 2));
            if place < count && word(weights + place) > 0 {
                return Code::four(0xffa0_0000 | u32::from(word(weights + place)));
            }
            weights += count;
        }
        let upper = self.cased(character, true);
        match self.code_of(upper) {
            Some(code) if code.length < 4 => code,
            _ => Code::four(0xff00_0000 + self.place_of(upper).unwrap_or(0)),
        }
    }
}

/// This plus a code is a code that is data in a statement, where its character has another one. No text of these sets has such characters.
const DATA_CODE: u32 = 0xe_0000;

fn four_bytes(place: u32) -> Code {
    debug_assert!(place < CODES_OF_FOUR_MAX, "a code has four bytes");
    let digit = |n: u32| 0x30 + (n % 10) as u8;
    let lead = |n: u32| 0x81 + (n % 126) as u8;
    Code { bytes: [lead(place / 12_600), digit(place / 1_260), lead(place / 10), digit(place)], length: 4 }
}

/// Ends the text with a name of a character set behind an underscore?
fn is_introduced(before: &[u8]) -> bool {
    let end = before.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |last| last + 1);
    let name = before[..end].iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    name > 0 && end > name && before[end - name - 1] == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str) -> MultiByte {
        MultiByte::named(name.as_bytes()).unwrap()
    }

    #[test]
    fn tables_are_whole() {
        for set in &SETS {
            let runs = (set.runs..set.pinyin).step_by(3);
            let pinyin: usize = runs.map(|run| usize::from(word(run + 2))).sum();
            assert_eq!(set.pinyin + pinyin, set.end);
        }
    }

    #[test]
    fn codes_come_back() {
        for (name, ..) in STARTS {
            let set = set(name);
            let (mut codes, mut others) = (0, 0);
            for code in 0x8000..=0xffffu16 {
                let bytes = code.to_be_bytes();
                let Some((character, 2)) = set.character(&bytes) else { continue };
                codes += 1;
                let own = set.code_of(character).unwrap();
                assert_eq!(set.character(own.as_slice()), Some((character, own.length.into())), "{name} {code:x}");
                others += usize::from(own.as_slice() != bytes);
            }
            assert!(codes > 8000 && others < 400, "{name} {codes} {others}");
            // MySQL has one way for this one of cp932.
            for character in (0..0x11_0000).filter(|c| char::from_u32(*c).is_some() && *c != 0x6661) {
                match set.code_of(character) {
                    Some(own) if own.length > 1 => {
                        assert_eq!(set.character(own.as_slice()), Some((character, own.length.into())), "{name} {character:x}")
                    }
                    Some(_) => {}
                    None => assert!(!set.is_gb18030(), "{character:x}"),
                }
            }
        }
    }

    #[test]
    fn texts() {
        assert_eq!(set("sjis").encode("表ア"), b"\x95\x5c\x83\x41");
        assert_eq!(set("ujis").encode("丂表"), b"\x8f\xb0\xa1\xc9\xbd");
        assert_eq!(set("gb18030").encode("é😀"), b"\xa8\xa6\x94\x39\xfc\x36");
        assert_eq!(set("gb18030").decode(b"\x94\x39\xfc\x36").as_deref(), Some("😀"));
        assert_eq!(set("euckr").decode(b"\xb0\xa1\xff"), None);
        assert_eq!(set("big5").change_case("ａbc", true), "ＡBC");
        let sjis = set("sjis");
        assert_eq!(
            sjis.decode_statement(b"select '\x95\x5c', _binary'\x95\x5c\xff\x81'"),
            "select '表', _binary'表\u{10ffff}\u{10ff81}'"
        );
        let cp932 = set("cp932");
        let statement = cp932.decode_statement(b"select '\x87\x90' _binary'\x87\x90\\'\x81'");
        assert_eq!(statement, "select '≒' _binary'\u{e8790}\\'\u{10ff81}'");
        assert_eq!(cp932.as_sent("\u{e8790}'\u{10ff81}"), b"\x87\x90'\x81");
        assert_eq!(cp932.decode_statement(b"'\xff'"), "'\u{10ffff}'");
        assert_eq!((cp932.encode("\u{10ffff}"), cp932.has(0x10_ffff), cp932.has(0x2252)), (vec![0xff], false, true));
        let data: Vec<u8> = (0x80..=0xff).collect();
        let statement = [b"_binary'", &data[..], b"'"].concat();
        assert!(STARTS.iter().all(|(name, ..)| set(name).as_sent(&set(name).decode_statement(&statement)) == statement));
        let gb18030 = set("gb18030");
        assert_eq!(gb18030.decode_statement(b"'\xff' _binary'\xff'"), "'?' _binary'\u{10ffff}'");
        assert_eq!((gb18030.as_sent("\u{10ffff}"), gb18030.has(0x10_ffff)), (vec![0xff], true));
    }
}
