//! Collations: names and numbers, comparison, sort keys, hashes, LIKE.
//!
//! Strings are UTF-8 whatever the collation's character set is called; `binary` compares bytes. Four ways to compare:
//!
//! | way | collations | weights | padding |
//! |---|---|---|---|
//! | bytes | `binary`, `utf8mb4_0900_bin` | the bytes | NO PAD |
//! | padded bytes | `utf8mb4_bin` and the other `_bin` | the bytes | PAD SPACE |
//! | simple | `utf8mb4_general_ci`, `latin1_swedish_ci`, `latin1_bin`, those of the eight-bit sets | one per character: upper case of the base letter; the letters of Sweden; the byte; a table by byte | PAD SPACE |
//! | encoded | `latin1_german2_ci`, those of the multi-byte sets | some bytes per character | PAD SPACE |
//! | levels | `latin2_czech_cs`, `cp1250_czech_cs`, `tis620_thai_ci` | bytes of a whole text | PAD SPACE |
//! | UCA 4.0.0 | `utf8mb4_unicode_ci`, `utf8mb3_unicode_ci`, those of one language (`utf8mb4_swedish_ci` ..., see `tailored`) | DUCET weights of one level, as MySQL's old collations have them | PAD SPACE |
//! | UCA 5.2.0 | `utf8mb4_unicode_520_ci`, `utf8mb3_unicode_520_ci` | likewise, of all planes | PAD SPACE |
//! | UCA 9.0.0 | `utf8mb4_0900_ai_ci`, `_as_ci`, `_as_cs`, those of one language (`utf8mb4_cs_0900_ai_ci` ...) | DUCET weights of one, two, three levels, in Japanese also four; none for ignorable characters | NO PAD |
//!
//! C1: `compare` is equal exactly when the sort keys are, and when the hashes are made from the same weights.
//! C2: a sort key delimits itself, so keys of several columns can be concatenated and compared with `memcmp`. No key is a prefix of another:
//!   - NO PAD bytes: 00 is written 00 FF, the end 00 00;
//!   - UCA weights: two bytes each, big-endian, never zero; each level ends with 00 00;
//!   - UCA 4.0.0 and 5.2.0: two bytes each; the weight of a space is followed by 0001, 0002 or 0003, which mean the same as below, and so does the end;
//!   - PAD SPACE: trailing spaces are cut. A space is followed by 01, 02 or 03: the next character that is not a space is less than
//!     a space, there is none, it is greater. The end is a space with 02. So the end compares as endless spaces do.
//!
//! C3: bytes that are no UTF-8 count as one character U+FFFD each and never panic.

mod ascii;
mod cases;
mod encoded;
mod levels;
mod like;
mod names;
mod tailored;
mod weights;

pub use cases::Cases;
pub use like::{LikePrefix, like, like_prefix};
pub use names::{ALL, CollationInfo, PadAttribute};

use crate::CollationId;
use crate::charset::multi_byte::Order;
use crate::charset::{Charset, MultiByte, eight_bit};
use crate::work::{self, Stopped};
use encoded::{Encoded, EncodedWeights};
use levels::Levels;
use std::cmp::Ordering;
use tailored::{TailoredUca, Tailoring};
use weights::{General, OldUca, Simple, Uca, decode_char};

/// How many weights are compared between two calls of `work::spend`, and how much each counts.
const WEIGHTS_COUNTED: usize = 1024;
const WEIGHT_UNITS: usize = 8;

/// How a collation compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Bytes,
    PaddedBytes,
    /// One weight per character.
    Simple(Simple),
    /// Some bytes per character.
    Encoded(Encoded),
    /// By the weights of a whole text.
    Levels(Levels),
    /// One level, by an old table.
    OldUca(OldUca),
    /// With this number of levels.
    Uca900(u8),
    /// One level of an old table, with what a language changes.
    OldTailored(&'static Tailoring),
    /// Likewise, of UCA 9.0.0, with this number of levels.
    Tailored(&'static Tailoring, u8),
}

/// How each collation compares, by its number. It is read for each comparison.
static METHODS: [Method; 512] = {
    // No code makes a number outside of the list; comparing bytes is the safe choice.
    let mut methods = [Method::Bytes; 512];
    let mut i = 0;
    while i < ALL.len() {
        let number = ALL[i].id.0;
        methods[number as usize] = method_of(number);
        i += 1;
    }
    methods
};

pub(crate) fn method(collation: CollationId) -> Method {
    METHODS.get(usize::from(collation.0)).copied().unwrap_or(Method::Bytes)
}

const fn method_of(number: u16) -> Method {
    match number {
        63 | 309 => Method::Bytes,
        46 | 55 | 61 | 62 | 65 | 83 | 90 => Method::PaddedBytes,
        8 => Method::Simple(Simple::Swedish),
        47 => Method::Simple(Simple::Latin1),
        11 | 33 | 35 | 45 | 54 | 56 | 60 => Method::Simple(Simple::General),
        159 | 223 => Method::Simple(Simple::General500),
        76 => Method::Simple(Simple::Lower),
        101 | 128 | 160 | 192 | 224 => Method::OldUca(OldUca::V400),
        123 | 150 | 182 | 214 | 246 | 250 => Method::OldUca(OldUca::V520),
        255 => Method::Uca900(1),
        305 => Method::Uca900(2),
        278 => Method::Uca900(3),
        _ => match (number, eight_bit::order(number)) {
            (_, None) if MultiByte::of_collation(number).is_some() => match MultiByte::of_collation(number) {
                Some((set, true)) => Method::Encoded(Encoded::MultiByte(set, Order::Bytes)),
                Some((set, false)) => Method::Encoded(Encoded::MultiByte(set, Order::Compared)),
                None => panic!("it was some above"),
            },
            (_, None) => match tailored::of(number) {
                Some(tailoring) if number < 255 => Method::OldTailored(tailoring),
                Some(tailoring) => Method::Tailored(tailoring, levels_of(number)),
                None => panic!("a collation without weights"),
            },
            (2, Some(order)) => Method::Levels(Levels::Latin2Czech(order)),
            (18, Some(order)) => Method::Levels(Levels::Thai(order)),
            (31, Some(order)) => Method::Encoded(Encoded::Expanding(order)),
            (34, Some(order)) => Method::Levels(Levels::Cp1250Czech(order)),
            (_, Some(order)) => Method::Simple(Simple::Bytes(order)),
        },
    }
}

/// The levels of a collation of UCA 9.0.0 for one language.
const fn levels_of(number: u16) -> u8 {
    match number {
        256..=277 => 1,
        304 => 4,
        306.. if number.is_multiple_of(2) && number != 308 => 1,
        _ => 3,
    }
}

impl CollationId {
    /// Information about the collation; `None` for numbers that are not supported.
    pub fn info(self) -> Option<&'static CollationInfo> {
        names::by_id(self)
    }

    /// Finds a collation by its name, in any case.
    pub fn by_name(name: &str) -> Option<Self> {
        names::by_name(name).map(|info| info.id)
    }

    /// The default collation of a character set (`utf8` is `utf8mb3`).
    pub fn of_charset(charset: &str) -> Option<Self> {
        names::default_of(charset).map(|info| info.id)
    }

    pub fn name(self) -> &'static str {
        self.info().map_or("binary", |info| info.name)
    }

    pub fn charset(self) -> &'static str {
        self.info().map_or("binary", |info| info.charset)
    }

    pub fn is_binary(self) -> bool {
        self == Self::BINARY
    }

    /// The collation in which a connection that asks for collation `id` (in its handshake, or `SET NAMES ... COLLATE`)
    /// compares literals: this collation if it is supported, else the default of UTF-8, whose order is nearest to the
    /// other Unicode collations'.
    pub fn for_connection(id: u16) -> Self {
        let wanted = Self(id);
        if wanted.info().is_some() { wanted } else { Self::UTF8MB4_0900_AI_CI }
    }

    /// Trailing spaces do not count in comparisons.
    pub fn pads_space(self) -> bool {
        !matches!(method(self), Method::Bytes | Method::Uca900(_) | Method::Tailored(..))
    }

    /// Are equal strings equal bytes, except for trailing spaces if the collation pads?
    pub fn is_bytewise(self) -> bool {
        matches!(method(self), Method::Bytes | Method::PaddedBytes)
    }
}

/// Does a sort key have one level, so that the keys of strings that begin alike begin alike?
pub fn has_one_level(collation: CollationId) -> bool {
    !matches!(method(collation), Method::Uca900(2..) | Method::Tailored(_, 2..) | Method::Levels(_))
}

/// Orders two strings.
pub fn compare(a: &[u8], b: &[u8], collation: CollationId) -> Ordering {
    match method(collation) {
        Method::Bytes => a.cmp(b),
        Method::PaddedBytes => compare_padded(a, b),
        Method::Simple(table) => compare_simple(a, b, table),
        Method::Encoded(order) => {
            let head = common_head(a, b);
            order_padded(EncodedWeights::new(&a[head..], order), EncodedWeights::new(&b[head..], order), SPACE)
        }
        Method::Levels(levels) => compare_levels(a, b, levels),
        Method::OldUca(old) => compare_old(a, b, old),
        Method::Uca900(levels) => compare_uca(a, b, levels),
        // T2
        Method::OldTailored(tailoring) => {
            order_padded(TailoredUca::new(a, 0, tailoring), TailoredUca::new(b, 0, tailoring), OldUca::V400.space())
        }
        Method::Tailored(tailoring, levels) => (0..usize::from(levels))
            .map(|level| TailoredUca::new(a, level, tailoring).cmp(TailoredUca::new(b, level, tailoring)))
            .find(|&order| order != Ordering::Equal)
            .unwrap_or(Ordering::Equal),
    }
}

/// As [`compare`], for long texts: counts its work, so that it may run only where `work::spend` may.
///
/// # Errors
/// The computation is to end.
pub fn compare_counted(a: &[u8], b: &[u8], collation: CollationId) -> Result<Ordering, Stopped> {
    let method = method(collation);
    if let Method::Levels(_) = method {
        work::spend(2 * WEIGHT_UNITS * a.len().saturating_add(b.len()))?;
    }
    if matches!(method, Method::Bytes | Method::PaddedBytes | Method::Levels(_)) {
        return Ok(compare(a, b, collation));
    }
    let head = if matches!(method, Method::OldTailored(_) | Method::Tailored(..)) { 0 } else { common_head(a, b) };
    let (a, b) = (&a[head..], &b[head..]);
    match method {
        Method::Bytes | Method::PaddedBytes | Method::Levels(_) => unreachable!("compared above"),
        Method::Simple(table) => {
            let (mut a, mut b) = (General::new(a, table), General::new(b, table));
            order_counted(|| a.next(), || b.next(), Some(table.space()))
        }
        Method::Encoded(order) => {
            let (mut a, mut b) = (EncodedWeights::new(a, order), EncodedWeights::new(b, order));
            order_counted(|| a.next(), || b.next(), Some(SPACE))
        }
        Method::OldUca(old) => {
            let (mut a, mut b) = (Uca::old(a, old), Uca::old(b, old));
            order_counted(|| a.next(), || b.next(), Some(old.space()))
        }
        Method::Uca900(levels) => {
            for level in 0..usize::from(levels) {
                let (mut a, mut b) = (Uca::new(a, level), Uca::new(b, level));
                let order = order_counted(|| a.next(), || b.next(), None)?;
                if order != Ordering::Equal {
                    return Ok(order);
                }
            }
            Ok(Ordering::Equal)
        }
        Method::OldTailored(tailoring) => {
            let (mut a, mut b) = (TailoredUca::new(a, 0, tailoring), TailoredUca::new(b, 0, tailoring));
            order_counted(|| a.next(), || b.next(), Some(OldUca::V400.space()))
        }
        Method::Tailored(tailoring, levels) => {
            for level in 0..usize::from(levels) {
                let (mut a, mut b) = (TailoredUca::new(a, level, tailoring), TailoredUca::new(b, level, tailoring));
                let order = order_counted(|| a.next(), || b.next(), None)?;
                if order != Ordering::Equal {
                    return Ok(order);
                }
            }
            Ok(Ordering::Equal)
        }
    }
}

/// The order of two sequences of weights. The shorter one continues with `padding`; without it, the shorter one comes
/// first.
fn order_counted<W: Ord + Copy>(
    mut a: impl FnMut() -> Option<W>,
    mut b: impl FnMut() -> Option<W>,
    padding: Option<W>,
) -> Result<Ordering, Stopped> {
    loop {
        work::spend(WEIGHTS_COUNTED * WEIGHT_UNITS)?;
        for _ in 0..WEIGHTS_COUNTED {
            let order = match (a(), b()) {
                (None, None) => return Ok(Ordering::Equal),
                (x, y) => x.or(padding).cmp(&y.or(padding)),
            };
            if order != Ordering::Equal {
                return Ok(order);
            }
        }
    }
}

pub fn equal(a: &[u8], b: &[u8], collation: CollationId) -> bool {
    match method(collation) {
        Method::Bytes => a == b,
        Method::PaddedBytes => trim(a) == trim(b),
        _ => compare(a, b, collation) == Ordering::Equal,
    }
}

/// Appends the sort key (C2).
pub fn sort_key(text: &[u8], collation: CollationId, out: &mut Vec<u8>) {
    match method(collation) {
        Method::Bytes => escaped_bytes(text, out),
        Method::PaddedBytes => padded_bytes_key(trim(text), out),
        Method::Simple(table @ Simple::Bytes(_)) => simple_key::<true>(General::new(trim(text), table), table.space(), out),
        Method::Simple(table) => simple_key::<false>(General::new(trim(text), table), SPACE, out),
        Method::Encoded(order) => simple_key::<true>(EncodedWeights::new(trim(text), order), SPACE, out),
        Method::Levels(levels) => levels_key(text, levels, out),
        Method::OldUca(old) => old_key(Uca::old(text, old), old.space(), out),
        Method::OldTailored(tailoring) => old_key(TailoredUca::new(text, 0, tailoring), OldUca::V400.space(), out),
        Method::Tailored(tailoring, levels) => {
            for level in 0..usize::from(levels) {
                for weight in TailoredUca::new(text, level, tailoring) {
                    out.extend_from_slice(&weight.to_be_bytes());
                }
                out.extend_from_slice(&[0, 0]);
            }
        }
        Method::Uca900(levels) => {
            for level in 0..usize::from(levels) {
                if !weights::push_ascii(text, level, out) {
                    for weight in Uca::new(text, level) {
                        out.extend_from_slice(&weight.to_be_bytes());
                    }
                }
                out.extend_from_slice(&[0, 0]);
            }
        }
    }
}

/// Strings that compare equal have equal hashes. Not for disk: the function may change.
pub fn hash(text: &[u8], collation: CollationId) -> u64 {
    let mut state = Mix(0x243f_6a88_85a3_08d3);
    match method(collation) {
        Method::Bytes => state.bytes(text),
        Method::PaddedBytes => state.bytes(trim(text)),
        Method::Simple(table @ Simple::Bytes(_)) => hash_padded(General::new(text, table), table.space(), &mut state),
        Method::Simple(table) => General::new(trim(text), table).for_each(|weight| state.word(u64::from(weight))),
        Method::Encoded(order) => hash_padded(EncodedWeights::new(text, order), SPACE, &mut state),
        Method::Levels(levels) if levels.is_padded() => {
            hash_padded(levels.weights(text).into_iter().map(u16::from), SPACE, &mut state);
        }
        Method::Levels(levels) => state.bytes(&levels.weights(text)),
        Method::OldUca(old) => hash_padded(Uca::old(text, old), old.space(), &mut state),
        Method::OldTailored(tailoring) => {
            hash_padded(TailoredUca::new(text, 0, tailoring), OldUca::V400.space(), &mut state);
        }
        Method::Tailored(tailoring, levels) => {
            for level in 0..usize::from(levels) {
                TailoredUca::new(text, level, tailoring).for_each(|weight| state.word(u64::from(weight)));
                state.word(0);
            }
        }
        Method::Uca900(levels) => {
            for level in 0..usize::from(levels) {
                Uca::new(text, level).for_each(|weight| state.word(u64::from(weight)));
                state.word(0);
            }
        }
    }
    state.finish()
}

/// The text without trailing spaces.
pub fn trim(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|&b| b != b' ').map_or(0, |last| last + 1);
    &text[..end]
}

/// Byte length of the first `characters` characters.
pub fn prefix_bytes(text: &[u8], characters: usize) -> usize {
    // Not more characters than bytes: nothing to count.
    if text.len() <= characters {
        return text.len();
    }
    let mut at = 0;
    for _ in 0..characters {
        if at >= text.len() {
            break;
        }
        at += if text[at] < 0x80 { 1 } else { decode_char(&text[at..]).1 };
    }
    at
}

/// Number of characters; a byte that is not UTF-8 counts as one.
pub fn char_count(text: &[u8]) -> usize {
    if text.is_ascii() {
        return text.len();
    }
    let (mut at, mut count) = (0, 0);
    while at < text.len() {
        at += decode_char(&text[at..]).1;
        count += 1;
    }
    count
}

fn compare_padded(a: &[u8], b: &[u8]) -> Ordering {
    let common = a.len().min(b.len());
    match a[..common].cmp(&b[..common]) {
        Ordering::Equal => match a.len().cmp(&b.len()) {
            Ordering::Equal => Ordering::Equal,
            Ordering::Greater => against_spaces(&a[common..]),
            Ordering::Less => against_spaces(&b[common..]).reverse(),
        },
        unequal => unequal,
    }
}

/// The order of a tail against as many spaces.
fn against_spaces(tail: &[u8]) -> Ordering {
    tail.iter().find(|&&b| b != b' ').map_or(Ordering::Equal, |b| b.cmp(&b' '))
}

/// Length of the common head that ends at a character border in both.
fn common_head(a: &[u8], b: &[u8]) -> usize {
    let mut same = 0;
    for (x, y) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        if x != y {
            break;
        }
        same += 8;
    }
    same += a[same..].iter().zip(&b[same..]).take_while(|(x, y)| x == y).count();
    // Back to the lead byte of the character that differs; at most three continuation bytes precede it.
    let starts = |text: &[u8], at: usize| text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let mut back = same;
    while back > 0 && same - back < 4 && !(starts(a, back) && starts(b, back)) {
        back -= 1;
    }
    back
}

fn compare_simple(a: &[u8], b: &[u8], table: Simple) -> Ordering {
    let head = common_head(a, b);
    let (a, b) = (General::new(&a[head..], table), General::new(&b[head..], table));
    match table {
        Simple::Bytes(_) => order_padded(a, b, table.space()),
        _ => order_padded(a, b, SPACE),
    }
}

fn compare_levels(a: &[u8], b: &[u8], levels: Levels) -> Ordering {
    let (a, b) = (levels.weights(a), levels.weights(b));
    if levels.is_padded() { compare_padded(&a, &b) } else { a.cmp(&b) }
}

fn levels_key(text: &[u8], levels: Levels, out: &mut Vec<u8>) {
    let weights = levels.weights(text);
    if levels.is_padded() {
        return padded_bytes_key(trim(&weights), out);
    }
    out.extend_from_slice(&weights);
    out.push(0);
}

fn compare_old(a: &[u8], b: &[u8], old: OldUca) -> Ordering {
    let head = common_head(a, b);
    order_padded(Uca::old(&a[head..], old), Uca::old(&b[head..], old), old.space())
}

/// The order of two sequences of weights, the shorter one padded with the weight of a space.
#[inline(always)]
fn order_padded(mut a: impl Iterator<Item = u16>, mut b: impl Iterator<Item = u16>, space: u16) -> Ordering {
    loop {
        let order = match (a.next(), b.next()) {
            (None, None) => return Ordering::Equal,
            (Some(x), Some(y)) => x.cmp(&y),
            (Some(x), None) => x.cmp(&space),
            (None, Some(y)) => space.cmp(&y),
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

fn old_key(mut weights: impl Iterator<Item = u16> + Clone, space: u16, out: &mut Vec<u8>) {
    while let Some(weight) = weights.next() {
        if weight != space {
            out.extend_from_slice(&weight.to_be_bytes());
            continue;
        }
        let Some(next) = weights.clone().find(|w| *w != space) else { break };
        out.extend_from_slice(&space.to_be_bytes());
        out.extend_from_slice(&[0, if next < space { SPACE_THEN_LESS } else { SPACE_THEN_GREATER }]);
    }
    out.extend_from_slice(&space.to_be_bytes());
    out.extend_from_slice(&[0, SPACE_THEN_END]);
}

/// Trailing weights of a space do not count.
fn hash_padded(weights: impl Iterator<Item = u16>, space: u16, state: &mut Mix) {
    let mut spaces = 0u64;
    for weight in weights {
        if weight == space {
            spaces += 1;
            continue;
        }
        (0..std::mem::take(&mut spaces)).for_each(|_| state.word(space.into()));
        state.word(weight.into());
    }
}

fn compare_uca(a: &[u8], b: &[u8], levels: u8) -> Ordering {
    let head = common_head(a, b);
    let (a, b) = (&a[head..], &b[head..]);
    if let Some(order) = weights::first_ascii_order(a, b)
        && order != Ordering::Equal
    {
        return order;
    }
    let mut orders = (0..usize::from(levels)).map(|level| Uca::new(a, level).cmp(Uca::new(b, level)));
    orders.find(|&order| order != Ordering::Equal).unwrap_or(Ordering::Equal)
}

fn escaped_bytes(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    while let Some(zero) = memchr::memchr(0, rest) {
        out.extend_from_slice(&rest[..=zero]);
        out.push(0xff);
        rest = &rest[zero + 1..];
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&[0, 0]);
}

/// The weight of a space, except in UCA.
const SPACE: u16 = 0x20;
const SPACE_THEN_LESS: u8 = 1;
const SPACE_THEN_END: u8 = 2;
const SPACE_THEN_GREATER: u8 = 3;

fn padded_bytes_key(trimmed: &[u8], out: &mut Vec<u8>) {
    let mut rest = trimmed;
    while let Some(space) = memchr::memchr(b' ', rest) {
        out.extend_from_slice(&rest[..=space]);
        rest = &rest[space + 1..];
        out.push(if against_spaces(rest) == Ordering::Less { SPACE_THEN_LESS } else { SPACE_THEN_GREATER });
    }
    out.extend_from_slice(rest);
    out.extend_from_slice(&[b' ', SPACE_THEN_END]);
}

/// Weights as UTF-8, which orders like the weights: one byte for ASCII. A space weighs less than 0x80.
#[inline(always)]
fn simple_key<const BYTES: bool>(mut weights: impl Iterator<Item = u16> + Clone, space: u16, out: &mut Vec<u8>) {
    while let Some(weight) = weights.next() {
        match weight {
            _ if weight == space => {
                let next = weights.clone().find(|&w| w != space);
                // In some collations of bytes characters that are no spaces have its weight.
                if BYTES && next.is_none() {
                    break;
                }
                let less = next.is_some_and(|w| w < space);
                out.extend_from_slice(&[space as u8, if less { SPACE_THEN_LESS } else { SPACE_THEN_GREATER }]);
            }
            0..0x80 => out.push(weight as u8),
            0x80..0x800 => out.extend_from_slice(&[0xc0 | (weight >> 6) as u8, 0x80 | (weight & 0x3f) as u8]),
            _ => out.extend_from_slice(&[
                0xe0 | (weight >> 12) as u8,
                0x80 | (weight >> 6 & 0x3f) as u8,
                0x80 | (weight & 0x3f) as u8,
            ]),
        }
    }
    out.extend_from_slice(&[space as u8, SPACE_THEN_END]);
}

/// Decodes a bytewise sort key (`is_bytewise`): returns the string (without trailing spaces if the collation pads), and
/// where the key ends. `None`: it is no such key.
pub(crate) fn decode_bytes_key(key: &[u8], collation: CollationId) -> Option<(std::borrow::Cow<'_, [u8]>, usize)> {
    let (mark, end) = if collation.pads_space() { (b' ', SPACE_THEN_END) } else { (0, 0) };
    let first = memchr::memchr(mark, key)?;
    if *key.get(first + 1)? == end {
        return Some((std::borrow::Cow::Borrowed(&key[..first]), first + 2));
    }
    let mut text = Vec::new();
    let mut at = 0;
    loop {
        let next = at + memchr::memchr(mark, &key[at..])?;
        text.extend_from_slice(&key[at..next]);
        at = next + 2;
        if *key.get(next + 1)? == end {
            return Some((std::borrow::Cow::Owned(text), at));
        }
        text.push(mark);
    }
}

/// The end of the sort key at the beginning of some bytes.
pub fn sort_key_end(key: &[u8], collation: CollationId) -> Option<usize> {
    match method(collation) {
        Method::Uca900(levels) | Method::Tailored(_, levels) => {
            let mut ends = key.chunks_exact(2).enumerate().filter(|(_, pair)| pair == &[0, 0]);
            ends.nth(usize::from(levels) - 1).map(|(i, _)| 2 * i + 2)
        }
        Method::Bytes => marker_end(key, 0, 0),
        Method::Levels(levels) if !levels.is_padded() => memchr::memchr(0, key).map(|end| end + 1),
        Method::Levels(_) => marker_end(key, b' ', SPACE_THEN_END),
        Method::Simple(table) => marker_end(key, table.space() as u8, SPACE_THEN_END),
        Method::PaddedBytes | Method::Encoded(_) => marker_end(key, b' ', SPACE_THEN_END),
        Method::OldUca(old) => old_key_end(key, old.space()),
        Method::OldTailored(_) => old_key_end(key, OldUca::V400.space()),
    }
}

/// Do texts that begin alike sort side by side, so that the sort keys of all texts that begin with some text are between its own and that of it
/// with a high character behind? Not where two characters may be one letter.
pub fn has_prefix_ranges(collation: CollationId) -> bool {
    !matches!(method(collation), Method::Levels(_) | Method::OldTailored(_) | Method::Tailored(..))
}

/// Appends the bytes with which the sort keys of all strings begin that begin with `text`: its weights of the first level, without an end.
pub fn sort_key_start(text: &[u8], collation: CollationId, out: &mut Vec<u8>) {
    let end_bytes = match method(collation) {
        Method::Uca900(_) => {
            Uca::new(text, 0).for_each(|weight| out.extend_from_slice(&weight.to_be_bytes()));
            return;
        }
        // Of a text that begins so, the weights may begin otherwise.
        Method::Levels(_) | Method::OldTailored(_) | Method::Tailored(..) => return,
        Method::Bytes | Method::PaddedBytes | Method::Simple(_) | Method::Encoded(_) => 2,
        Method::OldUca(_) => 4,
    };
    sort_key(text, collation, out);
    out.truncate(out.len() - end_bytes);
}

fn old_key_end(key: &[u8], space: u16) -> Option<usize> {
    let mut at = 0;
    loop {
        let weight = key.get(at..at + 2)?;
        at += 2;
        if weight == space.to_be_bytes() {
            let mark = key.get(at..at + 2)?;
            at += 2;
            if mark == [0, SPACE_THEN_END] {
                return Some(at);
            }
        }
    }
}

fn marker_end(key: &[u8], mark: u8, end: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        let next = at + memchr::memchr(mark, &key[at..])?;
        at = next + 2;
        if *key.get(next + 1)? == end {
            return Some(at);
        }
    }
}

/// Appends the result of WEIGHT_STRING for a string, or for its first `characters`, padded with spaces if the collation
/// pads.
pub fn weight_string(text: &[u8], collation: CollationId, characters: Option<usize>, out: &mut Vec<u8>) {
    let end = characters.map_or(text.len(), |n| if collation.is_binary() { n.min(text.len()) } else { prefix_bytes(text, n) });
    let text = &text[..end];
    let missing = characters.map_or(0, |n| n - n.min(if collation.is_binary() { text.len() } else { char_count(text) }));
    match method(collation) {
        Method::Uca900(levels) => {
            for level in 0..usize::from(levels) {
                if level > 0 {
                    out.extend_from_slice(&[0, 0]);
                }
                Uca::new(text, level).for_each(|weight| out.extend_from_slice(&weight.to_be_bytes()));
            }
        }
        Method::Tailored(tailoring, levels) => {
            for level in 0..usize::from(levels) {
                // The last level of Japanese has weights of kana alone, and is left out without them.
                let mut weights = TailoredUca::new(text, level, tailoring).peekable();
                if level > 0 && (level < 3 || weights.peek().is_some()) {
                    out.extend_from_slice(&[0, 0]);
                }
                weights.for_each(|weight| out.extend_from_slice(&weight.to_be_bytes()));
            }
        }
        Method::OldTailored(tailoring) => {
            TailoredUca::new(text, 0, tailoring).for_each(|weight| out.extend_from_slice(&weight.to_be_bytes()));
            (0..missing).for_each(|_| out.extend_from_slice(&OldUca::V400.space().to_be_bytes()));
        }
        Method::Simple(table @ (Simple::General | Simple::General500 | Simple::Lower)) if collation.charset() != "ascii" => {
            General::new(text, table).for_each(|weight| out.extend_from_slice(&weight.to_be_bytes()));
            (0..missing).for_each(|_| out.extend_from_slice(&[0, b' ']));
        }
        Method::Simple(table) => {
            out.extend(General::new(text, table).map(|weight| weight as u8));
            out.resize(out.len() + missing, b' ');
        }
        Method::Levels(levels) => {
            let padded = [text, &vec![b' '; missing]].concat();
            out.extend(levels.weight_string(&padded));
        }
        Method::Encoded(order) => {
            out.extend(EncodedWeights::new(text, order.shown()).map(|weight| weight as u8));
            out.resize(out.len() + missing, b' ');
        }
        Method::OldUca(old) => {
            Uca::old(text, old).for_each(|weight| out.extend_from_slice(&weight.to_be_bytes()));
            (0..missing).for_each(|_| out.extend_from_slice(&old.space().to_be_bytes()));
        }
        Method::PaddedBytes if collation.charset() == "ascii" => {
            out.extend_from_slice(text);
            out.resize(out.len() + missing, b' ');
        }
        Method::Bytes => {
            out.extend_from_slice(text);
            // Binary strings are filled up with zero bytes.
            if collation.is_binary() {
                out.resize(out.len() + missing, 0);
            }
        }
        Method::PaddedBytes => {
            // Two bytes hold the characters of the first plane.
            let from = if matches!(Charset::of(collation), Charset::Utf8mb3 | Charset::Ucs2) { 2 } else { 1 };
            let mut rest = text;
            while !rest.is_empty() {
                let (code, length) = decode_char(rest);
                out.extend_from_slice(&code.to_be_bytes()[from..]);
                rest = &rest[length..];
            }
            (0..missing).for_each(|_| out.extend_from_slice(&u32::from(b' ').to_be_bytes()[from..]));
        }
    }
}

/// A small multiply-and-fold hash.
struct Mix(u64);

impl Mix {
    fn word(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product as u64) ^ (product >> 64) as u64;
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.word(u64::from_le_bytes(chunk.try_into().expect("8 bytes")));
        }
        let mut last = [0; 8];
        last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        self.word(u64::from_le_bytes(last));
        self.word(bytes.len() as u64);
    }

    fn finish(mut self) -> u64 {
        self.word(0x1319_8a2e_0370_7344);
        self.0
    }
}

#[cfg(test)]
mod tests;
