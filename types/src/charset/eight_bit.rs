//! MySQL's character sets of one byte per character: their characters, the cases of their letters, and the weights of their collations.
//!
//! The tables are `eight_bit.bin`, which `types/tools/eight_bit.py` makes from MySQL's answers and describes; they are taken apart when this crate is
//! compiled. In most sets the bytes below 0x80 are ASCII; in swe7 some of them are letters.
//!
//! A byte that has no character in its set is the private character U+10FF00 plus the byte in stored text, so that it comes back as it was.

use crate::charset::Charset;

/// Characters of bytes that have none in their set.
const UNDEFINED: u32 = 0x10_ff00;
const SETS_COUNT: usize = 26;
const SET_BYTES: usize = 1_792;
const ORDER_BYTES: usize = 768;

/// The sets, in the order of `eight_bit.bin`.
const NAMES: [&str; 24] = [
    "armscii8", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852", "cp866", "dec8", "geostd8", "greek", "hebrew", "hp8",
    "keybcs2", "koi8r", "koi8u", "latin1", "latin2", "latin5", "latin7", "macce", "macroman", "swe7", "tis620",
];
const LATIN1: usize = 16;
const SWE7: usize = 22;
/// The records of the cases of cp1250_czech_cs and latin2_czech_cs.
const CASES_OF_CP1250_CZECH: usize = 24;
const CASES_OF_LATIN2_CZECH: usize = 25;

/// The collations that are not `_bin`, and the set of each, in the order of `eight_bit.bin`.
const ORDERS: [(u16, usize); 42] = [
    (2, 17),
    (3, 8),
    (4, 5),
    (5, 16),
    (6, 12),
    (7, 14),
    (8, 16),
    (9, 17),
    (10, 22),
    (14, 2),
    (15, 16),
    (16, 11),
    (18, 23),
    (20, 19),
    (21, 17),
    (22, 15),
    (23, 2),
    (25, 10),
    (26, 1),
    (27, 17),
    (29, 4),
    (30, 18),
    (31, 16),
    (32, 0),
    (34, 1),
    (36, 7),
    (37, 13),
    (38, 20),
    (39, 21),
    (40, 6),
    (41, 19),
    (42, 19),
    (44, 1),
    (48, 16),
    (49, 16),
    (51, 2),
    (52, 2),
    (57, 3),
    (59, 4),
    (92, 9),
    (94, 16),
    (99, 1),
];
/// The `_bin` collations and their sets.
const BINARY_ORDERS: [(u16, usize); 24] = [
    (64, 0),
    (66, 1),
    (50, 2),
    (67, 3),
    (58, 4),
    (80, 5),
    (81, 6),
    (68, 7),
    (69, 8),
    (93, 9),
    (70, 10),
    (71, 11),
    (72, 12),
    (73, 13),
    (74, 14),
    (75, 15),
    (47, 16),
    (77, 17),
    (78, 18),
    (79, 19),
    (43, 20),
    (53, 21),
    (82, 22),
    (89, 23),
];

const DATA: &[u8] = include_bytes!("eight_bit.bin");
const _: () = assert!(DATA.len() == SETS_COUNT * SET_BYTES + ORDERS.len() * ORDER_BYTES);

/// The characters and cases of a set.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Set {
    /// The character of each byte; 0: it has none.
    chars: [u16; 256],
    upper: [u8; 256],
    lower: [u8; 256],
    /// The characters in their order, and the byte of each; 0xffff behind the last one.
    known: [u16; 256],
    bytes: [u8; 256],
}

static SETS: [Set; SETS_COUNT] = {
    const EMPTY: Set = Set { chars: [0; 256], upper: [0; 256], lower: [0; 256], known: [0; 256], bytes: [0; 256] };
    let mut sets = [EMPTY; SETS_COUNT];
    let mut n = 0;
    while n < SETS_COUNT {
        let at = n * SET_BYTES;
        sets[n] = Set {
            chars: words(at),
            upper: bytes(at + 512),
            lower: bytes(at + 768),
            known: words(at + 1024),
            bytes: bytes(at + 1536),
        };
        n += 1;
    }
    sets
};

const fn bytes(at: usize) -> [u8; 256] {
    let mut all = [0; 256];
    let mut i = 0;
    while i < 256 {
        all[i] = DATA[at + i];
        i += 1;
    }
    all
}

const fn words(at: usize) -> [u16; 256] {
    let mut all = [0; 256];
    let mut i = 0;
    while i < 256 {
        all[i] = u16::from_le_bytes([DATA[at + 2 * i], DATA[at + 2 * i + 1]]);
        i += 1;
    }
    all
}

/// One of the sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EightBit(u8);

impl EightBit {
    pub(crate) const fn named(name: &[u8]) -> Option<Self> {
        let mut n = 0;
        while n < NAMES.len() {
            if same(NAMES[n].as_bytes(), name) {
                return Some(Self(n as u8));
            }
            n += 1;
        }
        None
    }

    fn set(self) -> &'static Set {
        &SETS[usize::from(self.0)]
    }

    /// Are its bytes below 0x80 ASCII?
    pub(crate) const fn has_ascii(self) -> bool {
        self.0 as usize != SWE7
    }

    pub(crate) fn char_of(self, byte: u8) -> char {
        self.set().char_of(byte)
    }

    pub(crate) fn byte_of(self, character: char) -> Option<u8> {
        self.set().byte_of(character.into())
    }
}

pub(super) const fn same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        if a[i] != b[i] {
            return false;
        }
        i += 1;
    }
    true
}

impl Set {
    fn char_of(&self, byte: u8) -> char {
        let code = match self.chars[usize::from(byte)] {
            0 if byte > 0 => UNDEFINED + u32::from(byte),
            code => code.into(),
        };
        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    pub(crate) fn byte_of(&self, code: u32) -> Option<u8> {
        match u16::try_from(code) {
            Ok(code) => self.known.binary_search(&code).ok().filter(|_| code != 0xffff).map(|at| self.bytes[at]),
            Err(_) => {
                u8::try_from(code.wrapping_sub(UNDEFINED)).ok().filter(|&byte| byte > 0 && self.chars[usize::from(byte)] == 0)
            }
        }
    }
}

/// UPPER or LOWER of a text of a collation; `None`: its set is none of these. Characters outside of the set stay.
pub(crate) fn change_case(text: &[u8], collation: u16, upper: bool) -> Option<String> {
    let set = match (collation, Charset::of(crate::CollationId(collation))) {
        (34, _) => &SETS[CASES_OF_CP1250_CZECH],
        (2, _) => &SETS[CASES_OF_LATIN2_CZECH],
        (_, Charset::EightBit(set)) => set.set(),
        (_, Charset::Latin1) => &SETS[LATIN1],
        _ => return None,
    };
    let cases = if upper { &set.upper } else { &set.lower };
    let change = |c: char| set.byte_of(c.into()).map_or(c, |byte| set.char_of(cases[usize::from(byte)]));
    Some(String::from_utf8_lossy(text).chars().map(change).collect())
}

/// The weights of a collation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ByteOrder {
    pub collation: u16,
    set: &'static Set,
    weights: [u8; 256],
    /// The second byte of a weight; 0: it has none.
    second: [u8; 256],
    /// Equal for bytes that are one to LIKE.
    classes: [u8; 256],
    /// The weights of the ASCII characters.
    ascii: [u8; 128],
}

const IDENTITY: [u8; 256] = {
    let mut all = [0; 256];
    let mut i = 0;
    while i < 256 {
        all[i] = i as u8;
        i += 1;
    }
    all
};

static BYTE_ORDERS: [ByteOrder; ORDERS.len() + BINARY_ORDERS.len()] = {
    const EMPTY: ByteOrder =
        ByteOrder { collation: 0, set: &SETS[0], weights: IDENTITY, second: [0; 256], classes: IDENTITY, ascii: [0; 128] };
    let mut orders = [EMPTY; ORDERS.len() + BINARY_ORDERS.len()];
    let mut n = 0;
    while n < orders.len() {
        let set;
        if n < ORDERS.len() {
            let at = SETS_COUNT * SET_BYTES + n * ORDER_BYTES;
            (orders[n].collation, set) = ORDERS[n];
            orders[n].weights = bytes(at);
            orders[n].second = bytes(at + 256);
            orders[n].classes = bytes(at + 512);
        } else {
            (orders[n].collation, set) = BINARY_ORDERS[n - ORDERS.len()];
        }
        orders[n].set = &SETS[set];
        let mut code = 0;
        while code < 128 {
            orders[n].ascii[code] = orders[n].weights[ascii_byte(set, code as u16) as usize];
            code += 1;
        }
        n += 1;
    }
    orders
};

/// The byte of an ASCII character in a set, `?` for those that it does not have.
const fn ascii_byte(set: usize, code: u16) -> u8 {
    if set != SWE7 {
        return code as u8;
    }
    let mut i = 0;
    while i < 256 {
        if SETS[set].known[i] == code {
            return SETS[set].bytes[i];
        }
        i += 1;
    }
    b'?'
}

/// The weights of a collation with one for each byte, and of the special ones the classes of LIKE.
pub(crate) const fn order(collation: u16) -> Option<&'static ByteOrder> {
    let mut n = 0;
    while n < BYTE_ORDERS.len() {
        if BYTE_ORDERS[n].collation == collation {
            return Some(&BYTE_ORDERS[n]);
        }
        n += 1;
    }
    None
}

impl ByteOrder {
    pub(crate) fn of_ascii(&self, byte: u8) -> u8 {
        self.ascii[usize::from(byte & 0x7f)]
    }

    /// The byte of a character; those outside of the set are `?`.
    pub(crate) fn byte_of(&self, code: u32) -> u8 {
        self.set.byte_of(code).unwrap_or(b'?')
    }

    pub(crate) fn weight(&self, code: u32) -> u8 {
        self.weights[usize::from(self.byte_of(code))]
    }

    /// The second byte of a character's weight.
    pub(crate) fn second(&self, code: u32) -> Option<u8> {
        Some(self.second[usize::from(self.byte_of(code))]).filter(|weight| *weight > 0)
    }

    /// The characters of one class are one to LIKE.
    pub(crate) fn class(&self, code: u32) -> u8 {
        self.classes[usize::from(self.byte_of(code))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        for (n, set) in SETS.iter().enumerate() {
            assert!(set.known.is_sorted(), "{n}");
            for byte in 0..=255u8 {
                let char = set.char_of(byte);
                // Six bytes of armscii8 are other names of ASCII characters.
                let is_other_name = n == 0 && char.is_ascii() && byte >= 0x80;
                assert_eq!(set.byte_of(char.into()), Some(if is_other_name { char as u8 } else { byte }), "{n} {byte:x}");
            }
            let ascii = (0..128).all(|byte| set.char_of(byte) == char::from(byte));
            assert_eq!(ascii, n != SWE7, "{n}");
        }
        let set = EightBit::named(b"cp1257").unwrap();
        assert_eq!((set.char_of(0xe0), set.byte_of('ą'), set.byte_of('ж')), ('ą', Some(0xe0), None));
        assert_eq!(set.byte_of(set.char_of(0x81)), Some(0x81));
        assert_eq!(set.byte_of('\u{10ffe0}'), None);
    }

    #[test]
    fn cases() {
        let upper = |text: &str, collation| change_case(text.as_bytes(), collation, true);
        assert_eq!(upper("žluť", 9).as_deref(), Some("ŽLUŤ"));
        // As MySQL.
        assert_eq!(upper("i", 30).as_deref(), Some("İ"));
        assert_eq!(upper("t", 57).as_deref(), Some("t"));
        assert_eq!(change_case("[".as_bytes(), 45, true), None);
    }
}
